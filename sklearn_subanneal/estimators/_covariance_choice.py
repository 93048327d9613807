"""CovarianceChoice, the covariance of the reals of a mixture within its clusters: given, or found by trial; a mixin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sklearn_subanneal import partitions
from sklearn_subanneal.annealing.runner import CancelFlag, ChainContext, run_chains
from sklearn_subanneal.annealing.schedules import resolve_schedule
from sklearn_subanneal.annealing.spec import run_spec
from sklearn_subanneal.columns.gaussian import Gaussian
from sklearn_subanneal.columns.joint_real import affordable_covariance
from sklearn_subanneal.columns.real import Real
from sklearn_subanneal.columns.tied_values import TiedValues, spread_ties
from sklearn_subanneal.columns.transforms import IDENTITY
from sklearn_subanneal.mixtures.mixture_chain import MixtureSpec
from sklearn_subanneal.mixtures.predictive import ensemble_of_mixtures

AUTO = "auto"
# A trial has at most so many rows of the table, of which this share is held out; where these are all rows of the table,
# twice, different ones. Smaller tables than the least have no trial.
TRIAL_ROWS, HELD_OUT, LEAST_ROWS = 1500, 0.25, 20
# Its chains: sweeps at most before the draws, the number of these, and the share of a time limit that all of them have.
TRIAL_SWEEPS, TRIAL_DRAWS, TRIAL_TIME = 100, 5, 0.2


class CovarianceChoice:
    """The parameter ``covariance_type``, and what "auto" stands for in a table.

    It reads ``_models_with(covariance_type, table, arrays)``, ``_default_moves`` and the parameters of the estimator.
    """

    def _choose_covariance(self, table, arrays, n_rows: int) -> str:
        """The covariance type for a table of so many rows, of which these are all or a sample."""
        if self.covariance_type != AUTO:
            return self.covariance_type
        if self.warm_start and self._fitted_identity is not None:
            return self.covariance_type_
        names = {part.name for part in table.parts if part.kind == Real.kind}
        given = {*(self.feature_params or {}), *(self.feature_grids or {})}
        if Gaussian.kind in given - names:
            return "full"
        if given & {Real.kind, *names} or len(names) < 2 or len(arrays[0]) < LEAST_ROWS:
            return "diag"
        if affordable_covariance(n_rows, [Real.kind] * len(names)) == "diag":
            return "diag"
        return "full" if self._gain_of_full(table, arrays) > 0.0 else "diag"

    def _gain_of_full(self, table, arrays) -> float:
        """By how much short chains with full covariance predict held-out rows better than ones without, per row.

        The rows, and the random numbers of the chains, depend on nothing but the number of rows, so that fits to one
        table have the same covariance type, whatever their ``random_state``. Where values of reals repeat, cells are
        jittered: clusters of single values would else decide, which have any density, and predict nothing.
        """
        shuffler, jitter, *generators = np.random.default_rng(0).spawn(6)
        arrays = [
            without_ties(array, jitter) if part.kind == Real.kind else array
            for part, array in zip(table.parts, arrays, strict=True)
        ]
        rows = shuffler.permutation(len(arrays[0]))[:TRIAL_ROWS]
        n_held_out = int(HELD_OUT * len(rows))
        specs, held_out = [], []
        for division in range(1 if len(rows) == TRIAL_ROWS else 2):
            own = np.roll(rows, -division * n_held_out)
            held_out.append([array[own[:n_held_out]] for array in arrays])
            seen = [array[own[n_held_out:]] for array in arrays]
            specs += [self._trial(name, table, seen, generators.pop()) for name in ("diag", "full")]
        if self.time_limit is not None:
            specs = [replace(spec, time_limit=TRIAL_TIME * self.time_limit / len(specs)) for spec in specs]
        cancel = CancelFlag()
        results = run_chains(run_spec, specs, [ChainContext(cancel) for _ in specs], self.n_jobs)
        scores = [
            ensemble_of_mixtures(spec.models, result.draws).score(held_out[i // 2])
            for i, (spec, result) in enumerate(zip(specs, results, strict=True))
        ]
        diag, full = np.concatenate(scores[::2]), np.concatenate(scores[1::2])
        # A row of density 0 under both says nothing.
        with np.errstate(invalid="ignore"):
            return float(np.mean(np.nan_to_num(full - diag, nan=0.0)))

    def _trial(self, covariance_type, table, arrays, generator) -> MixtureSpec:
        """A short chain, with this covariance."""
        return MixtureSpec(
            n_rows=len(arrays[0]),
            models=self._models_with(covariance_type, table, arrays),
            arrays=arrays,
            partition=partitions.resolve_partition(self.partition),
            moves=self._default_moves,
            learn=self.learn_hyperparameters,
            schedule=resolve_schedule("anneal"),
            n_draws=TRIAL_DRAWS,
            max_sweeps=TRIAL_SWEEPS,
            generator=generator,
        )


def without_ties(cells: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Cells of a real column of which values that repeat are about as dense as the others: see :class:`TiedValues`."""
    transform = spread_ties(IDENTITY, cells)
    return transform.jittered(transform.forward(cells), generator) if isinstance(transform, TiedValues) else cells
