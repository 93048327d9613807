"""Whether the fit of a factorial mixture has converged and needs all of its components; warnings if not."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sklearn_subanneal.factorial.activation_statistics import ActivationStatistics
from sklearn_subanneal.factorial.component_factors import LEAST_NOISE
from sklearn_subanneal.factorial.component_removal import dead_components
from sklearn_subanneal.factorial.doubled_components import doubled_components
from sklearn_subanneal.factorial.factorial_fit import FactorialFit
from sklearn_subanneal.factorial.factorial_settings import FactorialSettings

# Columns are far from 0 if their variance is less than this share of their mean square.
FAR = 0.01


def has_converged(X: np.ndarray, settings: FactorialSettings, fitted: FactorialFit, max_iter: int) -> bool:
    """Whether the bound has settled, no component is dead, and no two are doubled; warns otherwise."""
    if not fitted.settled and len(fitted.trace) >= max_iter:
        _warn(f"max_iter={max_iter} passes were made before one gained less than tol; increase max_iter")
    statistics = ActivationStatistics.of(X, fitted.activations)
    n_dead = len(dead_components(settings, fitted.components, statistics, fitted.activations))
    n_doubled = len(doubled_components(X, fitted))
    if n_dead or n_doubled:
        _warn(
            f"Of {len(fitted.activations)} components, {n_dead} are dead (the bound would not be lower without one of "
            f"them) and {n_doubled} doubled (a single one could do the work of two). The rows may be sums of fewer "
            "components: a smaller n_components. Or another fit finds more of them, of which the best is kept: a "
            "larger n_init"
        )
    at_floor = _noise_is_hidden(X, settings, fitted)
    if at_floor:
        _warn(
            "noise_variance_ ended at its least value, a millionth of the mean square of X, whose columns are far "
            "from 0 compared with how they vary: subtract their means first, as by StandardScaler(with_std=False)"
        )
    return fitted.settled and n_dead == 0 and n_doubled == 0 and not at_floor


def _noise_is_hidden(X, settings, fitted) -> bool:
    """Whether the learned noise is the least possible, by columns that are far from 0."""
    square = float(np.mean(np.square(X)))
    is_least = (
        settings.noise_variance is None and fitted.components.noise_variance <= (1.0 + 1e-6) * LEAST_NOISE * square
    )
    return is_least and float(X.var(axis=0).mean()) < FAR * square


def _warn(message: str) -> None:
    warnings.warn(message, ConvergenceWarning, stacklevel=5)
