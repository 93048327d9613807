"""CovarianceChoice, the covariance of the reals of a mixture within its clusters: given, or found by trial; a mixin."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal import partitions
from sklearn_subanneal.annealing.runner import CancelFlag, ChainContext, run_chains
from sklearn_subanneal.annealing.schedules import resolve_schedule
from sklearn_subanneal.annealing.spec import run_spec
from sklearn_subanneal.columns.gaussian import Gaussian
from sklearn_subanneal.columns.joint_real import affordable_covariance
from sklearn_subanneal.columns.real import Real
from sklearn_subanneal.mixtures.mixture_chain import MixtureSpec
from sklearn_subanneal.mixtures.predictive import ensemble_of_mixtures

AUTO = "auto"
# A trial has at most so many rows of the table, of which this share is held out. Smaller tables have no trial.
TRIAL_ROWS, HELD_OUT, LEAST_ROWS = 1500, 0.25, 20
# Its chains: sweeps at most before the draws, the number of these, and their share of a time limit.
TRIAL_SWEEPS, TRIAL_DRAWS, TRIAL_TIME = 20, 5, 0.1


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
        """By how much a short chain with full covariance predicts held-out rows better than one without, per row.

        The rows, and the random numbers of the chains, depend on nothing but the number of rows, so that fits to one
        table have the same covariance type, whatever their ``random_state``.
        """
        generator, full_generator, rows_generator = np.random.default_rng(0).spawn(3)
        rows = rows_generator.permutation(len(arrays[0]))[:TRIAL_ROWS]
        held_out, training = np.split(rows, [int(HELD_OUT * len(rows))])
        seen = [array[training] for array in arrays]
        specs = [
            MixtureSpec(
                n_rows=len(training),
                models=self._models_with(covariance_type, table, seen),
                arrays=seen,
                partition=partitions.resolve_partition(self.partition),
                moves=self._default_moves,
                learn=self.learn_hyperparameters,
                schedule=resolve_schedule("anneal"),
                n_draws=TRIAL_DRAWS,
                max_sweeps=TRIAL_SWEEPS,
                time_limit=None if self.time_limit is None else TRIAL_TIME * self.time_limit,
                generator=own,
            )
            for covariance_type, own in (("diag", generator), ("full", full_generator))
        ]
        cancel = CancelFlag()
        results = run_chains(run_spec, specs, [ChainContext(cancel) for _ in specs], self.n_jobs)
        diag, full = (
            ensemble_of_mixtures(spec.models, result.draws).score([array[held_out] for array in arrays])
            for spec, result in zip(specs, results, strict=True)
        )
        # A row of density 0 under both says nothing.
        with np.errstate(invalid="ignore"):
            return float(np.mean(np.nan_to_num(full - diag, nan=0.0)))
