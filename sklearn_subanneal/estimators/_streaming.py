"""Streaming, the rows that come in chunks, by sequential Monte Carlo: what partial_fit of two estimators shares."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace

import numpy as np

from sklearn_subanneal.annealing import subsampling
from sklearn_subanneal.annealing.chain_result import ChainResult, ChainState
from sklearn_subanneal.annealing.runner import CancelFlag, ChainContext, run_chains, spawn_generators
from sklearn_subanneal.annealing.schedules import SequentialGibbs, resolve_schedule
from sklearn_subanneal.annealing.spec import run_spec
from sklearn_subanneal.estimators._enough_chains import most_chains
from sklearn_subanneal.estimators._evidence import as_evidence
from sklearn_subanneal.estimators._failure import unchanged_on_failure
from sklearn_subanneal.estimators._settled_parameters import OF_MODELS, SettledParameters
from sklearn_subanneal.mixtures.particle import ParticleMaker
from sklearn_subanneal.mixtures.stream import Stream
from sklearn_subanneal.shards import ShardedTable
from sklearn_subanneal.tables.row_copies import RowCopies
from sklearn_subanneal.tables.row_weights import checked_weights

# Latest rows whose clusters in each particle are kept for the point estimate of the clusters.
MOST_LATEST = 1000
# Rows of the smallest clusters that count though none of the latest rows is in them: smaller ones may be in one draw
# alone. A fit of the rows would merge most of those, and have some of the others.
FEWEST_GONE = 3
# While all rows are kept, they are annealed anew as soon as there are so many times as many.
MORE_ROWS = 2
# As many chains as there are become particles.
SETTLED = (*OF_MODELS, "n_chains")
# Those by which the particles learn; a fit may be followed by particles that learn in another way.
OF_PARTICLES = ("learn_hyperparameters", "learn_from")
# Attributes that a fit has not.
OF_STREAMS = ("log_evidence_", "n_samples_seen_", "posterior_rows_")


class Streaming(SettledParameters):
    """``partial_fit``, after which all questions can be asked that a fit answers.

    It reads what ``MCMCEstimator`` has: ``_read_weighted(X, weights, read)``, ``_bind(table, arrays)``,
    ``_template(...)``, ``_of_chain(...)``, ``_chosen_schedule(models, n_rows)``, ``_keep(...)``, ``_summarize(arrays)``
    and ``_judge_convergence()``; and ``_read_start(X)`` of ``ShardedFit``. A subclass has ``partial_fit``, and says
    what its particles are.
    """

    # Number of rows from which on hyperparameters are redrawn, if ``learn_from`` does not say.
    _stream_learns_from: int

    _stream: Stream | None = None
    # Of the last fit: its chains with their last draws alone.
    _ends: Sequence[ChainResult] = ()

    def _keep(self, table, models, arrays, results, copies):
        super()._keep(table, models, arrays, results, copies)
        self._stream = None
        self._ends = [replace(own, draws=own.draws[-1:], labels=[], trace=own.trace[:0]) for own in results]
        self._given = self._copied(SETTLED)
        for name in OF_STREAMS:
            vars(self).pop(name, None)

    def _weights_of_chains(self, arrays):
        return super()._weights_of_chains(arrays) if self._stream is None else self._stream.weights

    def _partial_fit(self, X, sample_weight):
        """Check all that does not suit a stream, then go on with the rows of X; the estimator."""
        if isinstance(X, ShardedTable):
            raise ValueError("partial_fit takes the rows themselves, not a ShardedTable; give that to fit")
        self._refuse_classes()
        self._refuse_changes()
        with unchanged_on_failure(self):
            return self._receive(X, checked_weights(X, sample_weight))

    def _particle_maker(self) -> ParticleMaker:
        raise TypeError(f"{type(self).__name__} must say what its particles are")

    def _n_rows_of(self, draw) -> int:
        """Number of the rows of a draw."""
        raise TypeError(f"{type(self).__name__} must say how many rows a draw has")

    def _choose_again(self, table, arrays) -> None:
        """What the first rows decided, and more rows may decide in another way, with this table."""

    def _label_rows(self, arrays) -> None:
        """Set the labels of these rows by the representative draw; number clusters that no late row has."""
        raise TypeError(f"{type(self).__name__} must say which labels its rows have")

    def _receive(self, X, weights):
        given, fixed = dict(self._given), {*SETTLED, *OF_PARTICLES}
        if self._results is None:
            table, rows, arrays = self._read_weighted(X, weights, self._read_start)
            stream, rows, results = self._begun(table, rows)
            if not stream.n_annealed:
                fixed.add("schedule")
        else:
            table, arrays = self._table, self._table.encode(self, X, as_evidence(self.unseen))
            rows = arrays if weights is None else [array[RowCopies(weights).rows] for array in arrays]
            stream, rows, results = self._continued(table, rows)
        latest = self._keep_latest(table, stream.models, rows, results)
        self._stream, self._ends, self._fitted_identity = stream, (), None
        self._given = self._copied(fixed) | given
        self._summarize(latest)
        self._label_rows(arrays)
        self.posterior_rows_ = np.arange(stream.n_rows - len(latest[0]), stream.n_rows)
        self.n_samples_seen_, self.log_evidence_ = stream.n_rows, stream.present_log_evidence
        self._judge_convergence()
        return self

    def _keep_latest(self, table, models, rows, results):
        """Keep the results of chains or particles over these rows; the typed columns of the latest rows."""
        latest = [array[np.arange(max(len(array) - MOST_LATEST, 0), len(array))] for array in rows]
        self._keep(table, models, latest, results, RowCopies())
        return latest

    def _begun(self, table, rows):
        """The stream after its first rows, these rows, and the particles as results of chains."""
        generators, models = (
            spawn_generators(self.random_state, most_chains(self.n_chains) + 1),
            self._bind(table, rows),
        )
        if not isinstance(resolve_schedule(self._chosen_schedule(models, len(rows[0]))), SequentialGibbs):
            return self._annealed(table, models, rows, generators)
        # The template has the checks of the parameters.
        self._template(table, models, rows, subsampling.resolve_subsampling(self.subsampling))
        stream = Stream.from_prior(models, self._particle_maker(), rows, generators, **self._settings())
        return self._entered(stream, rows)

    def _continued(self, table, rows):
        """As ``_begun``, after further rows."""
        stream = self._stream
        if stream is None and not self._ends:
            raise ValueError(
                "this model is distilled: it has too few draws to learn from further rows. Call partial_fit on the "
                "model that it was distilled from, then distill again"
            )
        if stream is None:
            stream = Stream.from_chains(
                self._models,
                self._particle_maker(),
                [array[:0] for array in rows],
                self._ends,
                [*map(_generator_of, self._ends), spawn_generators(self.random_state, len(self._ends) + 1)[-1]],
                n_rows=self._n_rows_of(self._ends[0].draws[0]),
                weights=self.chain_weights_,
                **self._settings(),
            )
        elif stream.n_annealed and len(stream.arrays[0]) == stream.n_rows < self.window:
            n_head = min(len(rows[0]), self.window - stream.n_rows)
            if stream.n_rows + n_head >= min(self.window, MORE_ROWS * stream.n_annealed):
                every = stream.at_hand([array[:n_head] for array in rows])
                self._choose_again(table, every)
                begun = self._annealed(table, self._bind(table, every), every, deepcopy(stream.generators))
                if n_head == len(rows[0]):
                    return begun
                stream, rows = begun[0], [array[n_head:] for array in rows]
        models = with_state(stream.models, rows)
        return self._entered(replace(stream, models=models, window=self.window), rows)

    def _settings(self) -> dict:
        learn_from = self._stream_learns_from if self.learn_from is None else self.learn_from
        return {"window": self.window, "learn": self.learn_hyperparameters, "learn_from": learn_from}

    def _annealed(self, table, models, rows, generators):
        """As ``_begun``, by chains that are annealed."""
        template = self._template(table, models, rows, subsampling.resolve_subsampling(self.subsampling))
        priors = {
            name: getattr(template, name).for_streams()
            for name in ("partition", "row_partition", "column_partition")
            if hasattr(template, name)
        }
        template = replace(template, n_draws=1, thin=1, **priors)
        specs = [
            replace(self._of_chain(template, number), generator=own, number=number)
            for number, own in enumerate(generators[:-1])
        ]
        cancel = CancelFlag()
        results = run_chains(run_spec, specs, [ChainContext(cancel) for _ in specs], self.n_jobs)
        late = [replace(own, labels=[labels[..., -MOST_LATEST:] for labels in own.labels]) for own in results]
        # Particles begin with the weights that the chains of a fit have: one that has failed counts for nothing.
        self._summarize(self._keep_latest(table, models, rows, late))
        stream = Stream.from_chains(
            models,
            self._particle_maker(),
            rows,
            results,
            [*(_generator_of(own) for own in results), generators[-1]],
            n_rows=len(rows[0]),
            weights=self.chain_weights_,
            n_annealed=len(rows[0]),
            **self._settings(),
        )
        return stream, rows, late

    def _entered(self, stream: Stream, rows):
        """The stream after these rows, the rows at hand, and the particles as results of chains."""
        after, particles, trace = stream.after(rows, self.n_jobs)
        n_rows = particles[0].n_rows
        results = [
            _result(
                particle.draw(after.units),
                particle.labels(max(n_rows - MOST_LATEST, 0), n_rows),
                trace[trace["chain"] == number],
                after.n_rounds,
            )
            for number, particle in enumerate(particles)
        ]
        return after, stream.at_hand(rows), results


def with_gone(groups: np.ndarray, sizes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The number of each cluster of a draw of a stream, also of those that none of the latest rows is in.

    They have at least a thousandth of all rows, so that 1,000 rows would be expected to have one of them: however few
    of the latest rows are at hand.

    Parameters
    ----------
    groups, sizes, labels : ndarray of int
        As of :func:`with_absent`.
    """
    return with_absent(groups, sizes, labels, max(sizes.sum() / MOST_LATEST, FEWEST_GONE))


def with_absent(groups: np.ndarray, sizes: np.ndarray, labels: np.ndarray, least: float) -> np.ndarray:
    """The number of each cluster of a draw, also of the larger ones without known rows.

    Parameters
    ----------
    groups : ndarray of int, shape (n_clusters,)
        Numbers; -1: no known row has the cluster.
    sizes : ndarray of int, shape (n_clusters,)
    labels : ndarray of int
        Clusters of the known rows in the draw: the late ones of a stream, or some of a table in shards.
    least : float
        Rows that a cluster without known ones has.
    """
    counts = np.bincount(labels, minlength=len(sizes))
    absent = np.flatnonzero((groups < 0) & (counts == 0) & (sizes >= least))
    out = groups.copy()
    out[absent[np.argsort(-sizes[absent], kind="stable")]] = int(groups.max()) + 1 + np.arange(len(absent))
    return out


def with_state(models: list, rows: list) -> list:
    """The models, of which those are marked that have missing cells as state in these rows."""
    return [
        replace(model, stateful=True)
        if model.kind == "gaussian" and not model.stateful and np.isnan(model.values(rows)).any()
        else model
        for model in models
    ]


def _generator_of(result: ChainResult) -> np.random.Generator:
    """The random numbers of a chain after its end, in whatever process it was run."""
    generator = np.random.Generator(np.random.PCG64())
    generator.bit_generator.state = result.state.generator
    return generator


def _result(draw, labels: np.ndarray, trace: np.ndarray, n_sweeps: int) -> ChainResult:
    """A particle as the result of a chain that is not continued."""
    state = ChainState(
        generator={},
        order=np.zeros(0, np.int32),
        window={},
        model={},
        annealed=True,
        leg=0,
        done=0,
        progress=1.0,
        best=None,
        n_sweeps=n_sweeps,
        n_burn_in=0,
        n_planned=0,
        arrived=True,
        sweeps_since_draw=0,
        seconds=float(trace["seconds"].max(initial=0.0)),
        seconds_of_run=0.0,
    )
    return ChainResult([draw], [labels], trace, state)
