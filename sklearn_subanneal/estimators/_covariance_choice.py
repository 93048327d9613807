"""CovarianceChoice, the covariance of the reals of a mixture within its clusters: given, or found by trial; a mixin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import cycle

import numpy as np

from sklearn_subanneal import partitions
from sklearn_subanneal.annealing.chain_result import ChainResult
from sklearn_subanneal.annealing.runner import CancelFlag, ChainContext, run_chains
from sklearn_subanneal.annealing.saved_fit import digest, saved_digest
from sklearn_subanneal.annealing.schedules import resolve_schedule
from sklearn_subanneal.annealing.spec import run_spec
from sklearn_subanneal.columns.atom_split import split_atoms
from sklearn_subanneal.columns.gaussian import Gaussian
from sklearn_subanneal.columns.joint_real import JOINT, WIDE_BLOCK, affordable_covariance
from sklearn_subanneal.columns.joint_types import revised_types
from sklearn_subanneal.columns.number_values import NumberValues
from sklearn_subanneal.columns.real import Real
from sklearn_subanneal.mixtures.held_out import HeldOut, log_gain
from sklearn_subanneal.mixtures.mixture_chain import MixtureSpec
from sklearn_subanneal.tables.cells import is_missing
from sklearn_subanneal.tables.column import grids_of_parts
from sklearn_subanneal.tables.row_copies import RowCopies

AUTO, NAMED = "auto", ("full", "diag")
# A trial has at most so many rows of the table, of which this share is held out; where these are all rows of the table,
# twice, different ones. Smaller tables than the least have no trial.
TRIAL_ROWS, HELD_OUT, LEAST_ROWS = 1500, 0.25, 20
# Its chains: sweeps at most before the draws, the number of these, and the share of a time limit that all of them have.
TRIAL_SWEEPS, TRIAL_DRAWS, TRIAL_TIME = 100, 5, 0.2
# Single chains decide if the gain is so clear, in nats a row, or none of their draws has so many clusters, and in large
# tables and wide blocks. Else there are so many more of each type: chains with many clusters disagree, fits average
# over them, and full covariance gains most by this.
CLEAR, MANY_CLUSTERS, MORE_CHAINS = 10.0, 10, 3

# The gains of the last trials, by a hash of what they depend on: a search over parameters fits the same tables again.
_GAINS: dict[str, float] = {}
MOST_GAINS = 256


class CovarianceChoice:
    """The parameter ``covariance_type``, what "auto" stands for in a table, and the types of columns that suit it.

    It reads ``_models_with(covariance_type, table, arrays)``, ``_default_moves`` and the parameters of the estimator.
    """

    def _with_covariance(self, table, arrays, n_rows: int | None):
        """The schema and the typed columns as they are modelled; it sets ``covariance_type_``.

        Parameters
        ----------
        table : Table
            As read.
        arrays : list of ndarray
            Its typed columns.
        n_rows : int or None
            Number of rows of the whole table, of which these are a sample; None: these are all.
        """
        n_rows = n_rows or len(arrays[0])
        given = self.covariance_type
        if given == AUTO and self.warm_start and self._fitted_identity is not None:
            given = self.covariance_type_
        if given == AUTO and self.time_limit is not None:
            # A trial within a time limit may end otherwise each time: what was interrupted goes on as it began.
            given = {digest(name): name for name in NAMED}.get(saved_digest(self, "covariance_type"), AUTO)
        tables = {"diag": (table, arrays)}
        if given == "full" or (given == AUTO and self._may_be_full(table, n_rows)):
            tables["full"] = split_atoms(*revised_types(table, arrays), self.feature_params or {})
        if given == AUTO:
            given = self._choose_covariance(tables, n_rows) if "full" in tables else "diag"
        self.covariance_type_ = given
        return tables[given]

    def _may_be_full(self, table, n_rows: int) -> bool:
        """Whether "auto" may stand for "full" in a table of so many rows, as far as can be seen before it is typed."""
        is_given = Gaussian.kind in {*(self.feature_params or ()), *(self.feature_grids or ())}
        return is_given or affordable_covariance(n_rows, [part.kind for part in table.parts]) == "full"

    def _choose_covariance_again(self, table, arrays) -> None:
        """What "auto" stands for with these rows, the types of whose columns stay."""
        if self.covariance_type == AUTO:
            self.covariance_type_ = self._choose_covariance(dict.fromkeys(NAMED, (table, arrays)), len(arrays[0]))

    def _choose_covariance(self, tables: dict, n_rows: int) -> str:
        """The covariance type for a table of so many rows, whose schema and typed columns with each type are given."""
        table, arrays = tables["full"]
        names = {part.name for part in table.parts if part.kind in JOINT}
        params = grids_of_parts(table.columns, self.feature_params)
        given = {*params, *grids_of_parts(table.columns, self.feature_grids)}
        if Gaussian.kind in given - names:
            return "full"
        if any(not _is_transform(params.get(key)) for key in given & {*JOINT, *names}):
            return "diag"
        if len(names) < 2 or len(arrays[0]) < LEAST_ROWS:
            return "diag"
        if affordable_covariance(n_rows, [Real.kind] * len(names)) == "diag":
            return "diag"
        return "full" if self._gain_of_full(tables) > 0.0 else "diag"

    def _gain_of_full(self, tables: dict) -> float:
        """By how much short chains with full covariance predict held-out rows better than ones without, per row.

        The rows, and the random numbers of the chains, depend on nothing but the number of rows, so that fits to one
        table have the same covariance type, whatever their ``random_state``.
        """
        shuffler, *generators = np.random.default_rng(0).spawn(5)
        _, arrays = tables["diag"]
        rows = np.arange(len(arrays[0]))[RowCopies.of(arrays).rows]
        rows = _trial_rows(rows[shuffler.permutation(len(rows))], tables)
        tables = {name: (table, [array[rows] for array in arrays]) for name, (table, arrays) in tables.items()}
        n_held_out, reals = int(HELD_OUT * len(rows)), {name: _reals_of_both(tables, name) for name in NAMED}
        # Bound to the rows that are held out, too: a model may refuse cells that it has not seen.
        models = {name: self._models_with(name, *tables[name]) for name in NAMED}
        specs, held_out = [], []
        for division in range(1 if len(rows) >= TRIAL_ROWS else 2):
            for name in NAMED:
                own = [np.roll(array, -division * n_held_out) for array in tables[name][1]]
                held_out.append([array[:n_held_out] for array in own])
                specs.append(self._trial(models[name], [array[n_held_out:] for array in own], generators.pop()))
        steps = _log_steps(tables)

        def run() -> float:
            return self._gain_of_trials(specs, held_out, models, reals, steps)

        if self.time_limit is not None:
            # It may end chains early, elsewhere each time.
            return run()
        cells = [(spec.arrays, own) for spec, own in zip(specs, held_out, strict=True)]
        given = (type(self).__name__, digest(self.partition), self.learn_hyperparameters)
        return _remembered((given, models, cells, reals, steps), run)

    def _gain_of_trials(self, specs, held_out, models, reals, steps) -> float:
        """The gain by chains of both types in turn, each with the cells of its held-out rows; more, unless it is clear.

        The last three are by covariance type: the models of the columns, the places of the columns that are real with
        both, and those whose densities are to become probabilities, with their logarithmic steps.
        """
        draws: list[list] = [[] for _ in specs]

        def gain(specs):
            for own, result in zip(cycle(draws), self._run_trials(specs), strict=False):
                own += result.draws
            found = [
                HeldOut.of(models[name], own, cells, reals[name])
                for name, own, cells in zip(cycle(NAMED), draws, held_out, strict=False)
            ]
            full = [
                replace(own, log_densities=own.log_densities + _log_units(cells, steps))
                for own, cells in zip(found[::2], held_out[::2], strict=True)
            ]
            return log_gain(full, found[1::2])

        first = gain(specs)
        n_clusters = max(len(draw.sizes) for own in draws for draw in own)
        is_costly = len(specs) == 2 or len(reals["full"]) > WIDE_BLOCK or self.time_limit is not None
        if is_costly or abs(first) >= CLEAR or n_clusters < MANY_CLUSTERS:
            return first
        others = [replace(spec, generator=own) for spec in specs for own in spec.generator.spawn(MORE_CHAINS)]
        return gain([own for number in range(MORE_CHAINS) for own in others[number::MORE_CHAINS]])

    def _run_trials(self, specs: list[MixtureSpec]) -> list[ChainResult]:
        """The chains of a trial, within a share of the time limit."""
        if self.time_limit is not None:
            specs = [replace(spec, time_limit=TRIAL_TIME * self.time_limit / len(specs)) for spec in specs]
        cancel = CancelFlag()
        return run_chains(run_spec, specs, [ChainContext(cancel) for _ in specs], self.n_jobs)

    def _trial(self, models, arrays, generator) -> MixtureSpec:
        """A short chain."""
        return MixtureSpec(
            n_rows=len(arrays[0]),
            models=models,
            arrays=arrays,
            partition=partitions.resolve_partition(self.partition),
            moves=self._default_moves,
            learn=self.learn_hyperparameters,
            schedule=resolve_schedule("anneal"),
            n_draws=TRIAL_DRAWS,
            max_sweeps=TRIAL_SWEEPS,
            generator=generator,
        )


def _trial_rows(shuffled: np.ndarray, tables: dict) -> np.ndarray:
    """The first rows, and one more with a cell of each column that has none in them."""
    rows = shuffled[:TRIAL_ROWS]
    for cells in (cells for _, arrays in tables.values() for cells in arrays):
        if is_missing(cells[rows]).all():
            rows = np.append(rows, shuffled[~is_missing(cells[shuffled])][:1])
    return rows


def _remembered(depends_on: tuple, gain: Callable[[], float]) -> float:
    """The gain of a trial, which is run if none of the last ones depended on the same."""
    key = digest(depends_on)
    # Fits in other threads remember, and forget, at the same time.
    found = _GAINS.get(key)
    if found is None:
        found = gain()
        for oldest in list(_GAINS)[: max(len(_GAINS) - MOST_GAINS + 1, 0)]:
            _GAINS.pop(oldest, None)
        _GAINS[key] = found
    return found


def _is_transform(given) -> bool:
    """Whether these hyperparameters are but the transformation of a column, which either covariance type has."""
    return isinstance(given, dict) and set(given) == {"transform"}


def _reals_of_both(tables: dict, name: str) -> list[int]:
    """Places of the columns that are real or skewed with either covariance type, in the table of one."""
    both = set.intersection(
        *({part.name for part in table.parts if part.kind in JOINT} for table, _ in tables.values())
    )
    return [j for j, part in enumerate(tables[name][0].parts) if part.name in both]


def _log_steps(tables: dict) -> dict[int, float]:
    """Of the columns that are real with full covariance alone, the logarithm of the step of their values, by place."""
    discrete = {part.name for part in tables["diag"][0].parts if part.type.largest is not None}
    full, arrays = tables["full"]
    return {
        j: np.log(NumberValues.of(array).resolution)
        for j, (array, part) in enumerate(zip(arrays, full.parts, strict=True))
        if part.kind in JOINT and part.name in discrete
    }


def _log_units(arrays: list[np.ndarray], log_steps: dict[int, float]) -> np.ndarray:
    """What turns the log densities of rows into log probabilities where cells have such steps."""
    return sum((np.where(np.isnan(arrays[j]), 0.0, own) for j, own in log_steps.items()), np.zeros(len(arrays[0])))
