"""What the bound would be without one of the components."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import entr

from sklearn_subanneal.factorial.activation_statistics import ActivationStatistics
from sklearn_subanneal.factorial.component_factors import Components
from sklearn_subanneal.factorial.factorial_settings import FactorialSettings


def removal_gains(
    settings: FactorialSettings, components: Components, statistics: ActivationStatistics, activations: np.ndarray
) -> np.ndarray:
    """The bound without each component, after an update of the others, minus the bound after an update of all.

    The activations of the others stay as they are, so that a removal gains at least so much.

    Parameters
    ----------
    settings : FactorialSettings
    components : Components
    statistics : ActivationStatistics
        Of the activations.
    activations : ndarray of shape (n_components, n)

    Returns
    -------
    gains : ndarray of shape (n_components,)
        In nats; not negative for a component that explains no more than chance.
    """

    def bound_with(kept, entropy):
        left = replace(components, means=components.means[kept].copy(), variances=components.variances[kept].copy())
        pairs = statistics.pairs[np.ix_(kept, kept)]
        rest = replace(statistics, sums=statistics.sums[kept], pairs=pairs, entropy=entropy)
        settings.improve(left, rest, 1.0)
        return left.bound(rest)

    everyone = np.arange(len(activations))
    if len(everyone) == 1:
        return np.full(1, -np.inf)
    entropies = (entr(activations) + entr(1.0 - activations)).sum(axis=1, dtype=np.float64)
    without = [bound_with(np.delete(everyone, k), statistics.entropy - entropies[k]) for k in everyone]
    return np.array(without) - bound_with(everyone, statistics.entropy)


def dead_components(
    settings: FactorialSettings, components: Components, statistics: ActivationStatistics, activations: np.ndarray
) -> np.ndarray:
    """Components without which the bound is not lower, as sorted numbers; arguments as of :func:`removal_gains`."""
    return np.flatnonzero(removal_gains(settings, components, statistics, activations) >= 0.0)
