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
from sklearn_subanneal.mixtures.held_out import HeldOut, log_gain
from sklearn_subanneal.mixtures.mixture_chain import MixtureSpec

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
        table have the same covariance type, whatever their ``random_state``.
        """
        shuffler, *generators = np.random.default_rng(0).spawn(5)
        rows = shuffler.permutation(len(arrays[0]))[:TRIAL_ROWS]
        arrays, n_held_out = [array[rows] for array in arrays], int(HELD_OUT * len(rows))
        # Bound to the rows that are held out, too: a model may refuse cells that it has not seen.
        models = {name: self._models_with(name, table, arrays) for name in ("full", "diag")}
        specs, held_out = [], []
        for division in range(1 if len(rows) == TRIAL_ROWS else 2):
            own = [np.roll(array, -division * n_held_out) for array in arrays]
            seen = [array[n_held_out:] for array in own]
            held_out += 2 * [[array[:n_held_out] for array in own]]
            specs += [self._trial(bound, seen, generators.pop()) for bound in models.values()]
        if self.time_limit is not None:
            specs = [replace(spec, time_limit=TRIAL_TIME * self.time_limit / len(specs)) for spec in specs]
        cancel = CancelFlag()
        results = run_chains(run_spec, specs, [ChainContext(cancel) for _ in specs], self.n_jobs)
        reals = [j for j, part in enumerate(table.parts) if part.kind == Real.kind]
        found = [
            HeldOut.of(spec.models, result.draws, cells, reals)
            for spec, result, cells in zip(specs, results, held_out, strict=True)
        ]
        return log_gain(found[::2], found[1::2])

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
