"""Continuation: the chains that a fit continues, either of the previous fit (warm start) or saved by a checkpoint."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_subanneal.annealing.chain_result import ChainResult
from sklearn_subanneal.annealing.saved_fit import SavedFit, digest

# Parameters that may change between fits under ``warm_start``: they determine the length of chains, not their model.
CHANGEABLE = {
    "schedule",
    "effort",
    "n_draws",
    "thin",
    "max_sweeps",
    "time_limit",
    "warm_start",
    "unseen",
    "window",
    "n_jobs",
    "sparse_output",
    "random_state",
}
# Those of them that must not change if a chain was interrupted, for example during the schedule.
FIXED_UNDER_WAY = ("schedule", "effort", "thin", "max_sweeps", "time_limit", "random_state")


def table_digest(names: Sequence, arrays: Sequence[np.ndarray]) -> str:
    """A digest of a table: the names of its columns, whatever else there is to know of them, and its cells."""
    return digest([list(names), arrays])


class Continuation:
    """The chains that a fit of an estimator continues.

    Parameters
    ----------
    estimator : estimator
        An estimator with the parameters ``n_draws`` and ``warm_start``, and those named in this module.
    names : sequence
        Names of the columns of the table, or tuples that begin with them.
    arrays : sequence of ndarray
        The table.
    results : list of ChainResult or None
        Results of the last fit; None before the first.
    fitted_identity : dict or None
        The ``identity`` of that fit.
    resolved : dict or None
        Values that take the place of the estimator's parameters: those whose default depends on ``n_draws``; and
        arguments of the fit, by name.

    Attributes
    ----------
    identity : dict of str to str
        Digests of all that chains must have in common with those that they continue: parameters and table.
    saved_identity : dict of str to str, or None
        The same for chains that were interrupted and are on disk; None where no checkpoint is set.

    Raises
    ------
    ValueError
        If the chains to continue are those of another table or another model, or have more draws than requested.

    Warns
    -----
    UserWarning
        If warm start has nothing to do.
    """

    def __init__(self, estimator: BaseEstimator, names, arrays, results=None, fitted_identity=None, resolved=None):
        parameters = estimator.get_params(deep=False) | (resolved or {})
        self.n_draws = parameters["n_draws"]
        self.identity = {name: digest(value) for name, value in parameters.items() if name not in CHANGEABLE}
        self.identity["X"] = table_digest(names, arrays)
        # Without an identity they are no chains of a fit to one table, and are not continued.
        self._results = results if parameters.get("warm_start") and fitted_identity is not None else None
        if self._results is not None:
            self._check_results(fitted_identity)
        under_way = {name: digest(parameters[name]) for name in FIXED_UNDER_WAY if name in parameters}
        self._saved = SavedFit.of(estimator, lambda: self.identity | under_way)
        self._saved.check_draws(self.n_draws)
        self.saved_identity = self._saved.identity

    def chain(self, number: int) -> tuple[ChainResult | None, bool]:
        """The result that the chain with this number continues, or None, and whether it has ended already."""
        if number in self._saved.chains:
            return self._saved.result(number, self.n_draws)
        earlier = self._results or []
        return (earlier[number] if number < len(earlier) else None), False

    def _check_results(self, fitted_identity):
        if changed := [name for name, value in self.identity.items() if value != fitted_identity.get(name)]:
            raise ValueError(
                f"warm_start=True continues the chains of the last fit, but {', '.join(changed)} changed since; "
                "set warm_start=False to start anew"
            )
        n_draws = len(self._results[0].draws)
        if self.n_draws < n_draws:
            raise ValueError(
                f"n_draws={self.n_draws} must be at least the {n_draws} draws that there are, since warm_start=True; "
                "raise it, or set warm_start=False to start anew"
            )
        if self.n_draws == n_draws:
            warnings.warn("Continuing chains without raising n_draws makes no new draws.", stacklevel=7)
