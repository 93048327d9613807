"""Stream, sequential Monte Carlo for a model of rows that come in chunks: weighted particles, and the latest rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from operator import methodcaller

import numpy as np

from sklearn_subanneal._core.log_space import log_mean_exp
from sklearn_subanneal._core.workers import n_workers
from sklearn_subanneal.annealing import clock
from sklearn_subanneal.annealing.chain_result import ChainResult
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.particle import Particle, ParticleMaker, ParticleState
from sklearn_subanneal.tables.documents import joined

# Between two rounds of moves so many rows enter: this share of the rows so far, and of the window at most that one. A
# row is moved in about ten rounds before it leaves the window.
ROWS_SHARE, WINDOW_SHARE = 1 / 8, 1 / 10
# Cells further from the center than this many standard units, which are those of the first rows: squares of them, in
# the precision of the kernels, would drown the other cells of a cluster.
FARTHEST_CELL = 1e6
# Of a particle relative to the best one, where weights are reported: their logarithms are finite.
LEAST_WEIGHT = 1e-300


@dataclass(frozen=True)
class Stream:
    """A model of rows that come in chunks: weighted particles, and the latest rows.

    The particles are weighted by their predictive densities of the rows (sequential Monte Carlo). Between two rounds
    each row in turn is drawn its cluster by its exact conditional distribution given the rows before it, and the weight
    of the particle is multiplied by the density that it predicted for the row. In a round the particles are drawn anew
    by their weights, if the effective sample size is less than half of their number, and then each makes moves that
    leave its posterior invariant: of the rows in the window, and of the hyperparameters (resample-move). Rounds come at
    fixed numbers of rows, wherever a chunk ends.

    Attributes
    ----------
    models : list of ColumnModel
    maker : ParticleMaker
        What a particle is: a mixture, or something else of the same methods.
    window : int
        Rows that are kept, the latest ones.
    learn : bool
        Whether hyperparameters are redrawn.
    learn_from : int
        Number of rows from which on they are.
    arrays : list of ndarray
        Typed columns of the rows that are kept.
    states : list of ParticleState
    generators : list of numpy.random.Generator
        One for each particle, and a last one that draws particles anew.
    log_weights : ndarray of shape (n_particles,)
        Log densities that the particles predicted for the rows since they were last drawn anew.
    log_evidence : float
        The estimate of the log evidence when they were.
    units : float
        log |dz / dx| of all rows.
    n_rows : int
        Rows so far.
    next_round : int
        Number of rows at which it will be.
    n_rounds : int
        Rounds so far.
    n_annealed : int
        Rows of chains that were annealed, if it began with these and their rows.

    References
    ----------
    W. R. Gilks, C. Berzuini (2001), Following a moving target: Monte Carlo inference for dynamic Bayesian models,
    Journal of the Royal Statistical Society B 63, 127-146. doi:10.1111/1467-9868.00280

    P. Fearnhead (2004), Particle filters for mixture models with an unknown number of components, Statistics and
    Computing 14, 11-21. doi:10.1023/B:STCO.0000009418.04621.cd
    """

    models: list[ColumnModel]
    maker: ParticleMaker
    window: int
    learn: bool
    learn_from: int
    arrays: list
    states: list[ParticleState]
    generators: list[np.random.Generator]
    log_weights: np.ndarray
    log_evidence: float = 0.0
    units: float = 0.0
    n_rows: int = 0
    next_round: int = 1
    n_rounds: int = 0
    n_annealed: int = 0

    @classmethod
    def from_prior(
        cls,
        models: Sequence[ColumnModel],
        maker: ParticleMaker,
        arrays: Sequence,
        generators: Sequence[np.random.Generator],
        **settings,
    ) -> Stream:
        """A stream before its first row, with hyperparameters from their prior.

        Parameters
        ----------
        models : sequence of ColumnModel
        maker : ParticleMaker
        arrays : sequence of ndarray
            Typed columns of any rows.
        generators : sequence of numpy.random.Generator
        settings : dict
            ``window``, ``learn`` and ``learn_from``.
        """
        generators = deepcopy(list(generators))
        states = [maker.from_prior(models, generator) for generator in generators[:-1]]
        none = [array[:0] for array in arrays]
        return cls(list(models), maker, arrays=none, **_of_states(states, generators), **settings)

    @classmethod
    def from_chains(
        cls,
        models: Sequence[ColumnModel],
        maker: ParticleMaker,
        arrays: Sequence,
        results: Sequence[ChainResult],
        generators: Sequence[np.random.Generator],
        n_rows: int,
        weights: np.ndarray | None = None,
        **settings,
    ) -> Stream:
        """A stream that goes on from the last draws of chains.

        Parameters
        ----------
        models : sequence of ColumnModel
        maker : ParticleMaker
        arrays : sequence of ndarray
            Typed columns of the rows of the chains; or of none of them, if they are not at hand.
        results : sequence of ChainResult
        generators : sequence of numpy.random.Generator
        n_rows : int
            Rows of the chains.
        weights : ndarray of shape (n_chains,), or None
            How much each chain counts; None: equally.
        settings : dict
            ``window``, ``learn`` and ``learn_from``; perhaps ``n_annealed``.
        """
        first = max(len(arrays[0]) - settings["window"], 0)
        states = [maker.from_chain(models, result, arrays, first) for result in results]
        arrays = [array[first:] for array in arrays]
        stream = cls(list(models), maker, arrays=arrays, **_of_states(states, generators), **settings)
        if weights is not None:
            # Of mean 1: the evidence is that of the rows to come.
            stream = replace(stream, log_weights=np.log(np.maximum(weights * len(weights), LEAST_WEIGHT)))
        particle = stream._particles([model.data(arrays) for model in stream.models], stream.generators)[0]
        units = results[0].draws[-1].log_joint - particle.log_joint()
        return replace(stream, units=units, n_rows=n_rows, next_round=stream._round_after(n_rows))

    @property
    def weights(self) -> np.ndarray:
        """Weights of the particles, positive; their sum is 1."""
        weights = np.maximum(np.exp(self.log_weights - self.log_weights.max()), LEAST_WEIGHT)
        return weights / weights.sum()

    @property
    def present_log_evidence(self) -> float:
        """Log of the estimate of the density of all rows that have come, given those of the chains, if any."""
        return self.log_evidence + float(log_mean_exp(self.log_weights))

    def at_hand(self, arrays: Sequence) -> list:
        """Typed columns of the rows that are kept, and of further ones after them."""
        return [joined(*pair) for pair in zip(self.arrays, arrays, strict=True)]

    def after(self, arrays: Sequence, n_jobs: int | None = None) -> tuple[Stream, list[Particle], np.ndarray]:
        """The stream after further rows.

        Parameters
        ----------
        arrays : sequence of ndarray
            Typed columns of the rows.
        n_jobs : int or None, default=None
            Particles that are moved at once.

        Returns
        -------
        stream : Stream
        particles : list of Particle
            Over the rows that were at hand and the new ones.
        trace : structured ndarray
            A record for each particle and round, and for each particle at the end.

        Raises
        ------
        ValueError
            If a real is further from the first rows than the kernels can compute.
        """
        generators, n_old = deepcopy(self.generators), len(self.arrays[0])
        every = self.at_hand(arrays)
        log_slopes = _log_slopes(self.models, arrays)
        particles = self._particles([model.data(every) for model in self.models], generators)
        log_weights, log_evidence = self.log_weights.copy(), self.log_evidence
        n_rows, next_round, n_rounds, end, trace = self.n_rows, self.next_round, self.n_rounds, n_old, []
        began = clock.now()
        units = _running(self.units, sum(model.units(arrays) for model in self.models) + np.zeros(len(arrays[0])))
        with _mapping(n_jobs) as run:
            while end < len(every[0]):
                start, end = end, min(len(every[0]), end + next_round - n_rows)
                n_rows += end - start
                slopes = log_slopes[start - n_old : end - n_old]
                found = list(run(methodcaller("enter", start, end), particles))
                log_weights[:] = [
                    _running(own, densities + slopes)[-1] for own, densities in zip(log_weights, found, strict=True)
                ]
                moved = [{}] * len(particles)
                if n_rows == next_round:
                    if _effective_size(log_weights) < len(particles) / 2:
                        log_evidence += float(log_mean_exp(log_weights))
                        _draw_anew(particles, log_weights, generators[-1])
                        log_weights[:] = 0.0
                    first, learn = max(end - self.window, 0), self.learn and n_rows >= self.learn_from
                    moved = list(run(methodcaller("move", first, end, learn), particles))
                    next_round, n_rounds = self._round_after(n_rows), n_rounds + 1
                if moved[0] or end == len(every[0]):
                    common = {"sweep": n_rounds, "seconds": clock.now() - began, "n_assigned": n_rows}
                    trace += [
                        self._record(particle, units[end - n_old - 1], {"chain": number} | common | own)
                        for number, (particle, own) in enumerate(zip(particles, moved, strict=True))
                    ]
        first = max(len(every[0]) - self.window, 0)
        stream = replace(
            self,
            arrays=[array[np.arange(first, len(every[0]))] for array in every],
            states=[particle.state(first) for particle in particles],
            generators=generators,
            log_weights=log_weights,
            log_evidence=log_evidence,
            units=float(units[-1]),
            n_rows=n_rows,
            next_round=next_round,
            n_rounds=n_rounds,
        )
        return stream, particles, np.array(trace, self.maker.TRACE)

    def _particles(self, cells: Sequence, generators: Sequence[np.random.Generator]) -> list[Particle]:
        return [
            self.maker.particle(self.models, cells, state, generator)
            for state, generator in zip(self.states, generators, strict=False)
        ]

    def _record(self, particle: Particle, units: float, fields: dict) -> tuple:
        """One record of the trace."""
        names = self.maker.TRACE.names
        record = dict.fromkeys(names, 0) | particle.record() | fields
        record["progress"] = record["inverse_temperature"] = 1.0
        record["log_joint"] += units
        return tuple(record[name] for name in names)

    def _round_after(self, n_rows: int) -> int:
        """The number of rows at the next round; it depends on nothing else."""
        return n_rows + max(min(int(n_rows * ROWS_SHARE), int(self.window * WINDOW_SHARE)), 1)


def _of_states(states: list[ParticleState], generators: Sequence[np.random.Generator]) -> dict:
    """Fields of a stream with these particles, which have equal weights."""
    return {"states": states, "generators": list(generators), "log_weights": np.zeros(len(states))}


def _log_slopes(models: Sequence[ColumnModel], arrays: Sequence) -> np.ndarray:
    """log |dz / dx| of the observed cells of each row, which are checked to be in reach."""
    out = np.zeros(len(arrays[0]))
    for model in models:
        values = model.values(arrays)
        is_real = model.largest is None and isinstance(values, np.ndarray)
        if is_real and np.nanmax(np.abs(values), initial=0.0) > FARTHEST_CELL:
            row, at = np.unravel_index(np.nanargmax(np.abs(values)), values.shape)
            raise ValueError(
                f"column {model.sources[at]} ({model.name!r}) has {arrays[model.sources[at]][row].item()!r}, more than "
                f"{FARTHEST_CELL:g} standard deviations of the first rows from these: leave the row out, rescale the "
                "column, or begin with rows that are like those to come"
            )
        out += model.log_jacobian(values)
    return out


def _running(start: float, terms: np.ndarray) -> np.ndarray:
    """Sums of ``start`` and the first terms, added one by one: the bits do not depend on how rows come in chunks."""
    return np.cumsum(np.append(start, terms))[1:]


def _effective_size(log_weights: np.ndarray) -> float:
    """Kish's effective number of particles."""
    weights = np.exp(log_weights - log_weights.max())
    return float(weights.sum() ** 2 / (weights**2).sum())


def _draw_anew(particles: list[Particle], log_weights: np.ndarray, generator: np.random.Generator) -> None:
    """Systematic resampling: particles become copies of others, each with its own random numbers to come."""
    weights = np.exp(log_weights - log_weights.max())
    ends = np.cumsum(weights / weights.sum())
    points = (np.arange(len(particles)) + generator.random()) / len(particles)
    counts = np.bincount(np.minimum(np.searchsorted(ends, points, "right"), len(particles) - 1), minlength=len(ends))
    gone = iter(np.flatnonzero(counts == 0))
    for number in np.flatnonzero(counts > 1):
        state = particles[number].state()
        for _ in range(counts[number] - 1):
            particles[next(gone)].load(state)


@contextmanager
def _mapping(n_jobs: int | None) -> Iterator[Callable]:
    """``map`` over the particles, by threads if there are several."""
    n_threads = n_workers(n_jobs)
    if n_threads == 1:
        yield map
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield pool.map
