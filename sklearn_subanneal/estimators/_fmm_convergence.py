"""Whether a fitted factorial mixture needs all of its components; a warning if not."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sklearn_subanneal.factorial.component_removal import dead_components
from sklearn_subanneal.factorial.doubled_components import doubled_components
from sklearn_subanneal.factorial.factorial_fit import FactorialFit
from sklearn_subanneal.factorial.factorial_settings import FactorialSettings
from sklearn_subanneal.factorial.activation_statistics import ActivationStatistics


def all_needed(X: np.ndarray, settings: FactorialSettings, fitted: FactorialFit) -> bool:
    """Whether no component is dead, and no two are doubled; warns otherwise."""
    statistics = ActivationStatistics.of(X, fitted.activations)
    n_dead = len(dead_components(settings, fitted.components, statistics, fitted.activations))
    n_doubled = len(doubled_components(X, fitted))
    if n_dead or n_doubled:
        warnings.warn(
            f"Of {len(fitted.activations)} components, {n_dead} are dead (the bound would not be lower without one of "
            f"them) and {n_doubled} doubled (a single one could do the work of two). The rows may be sums of fewer "
            "components: a smaller n_components. Or another fit finds more of them, of which the best is kept: a "
            "larger n_init",
            ConvergenceWarning,
            stacklevel=4,
        )
    return n_dead == 0 and n_doubled == 0
