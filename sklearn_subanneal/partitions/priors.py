"""Prior distributions of a partition, as parameter objects that scikit-learn can clone and search."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_subanneal.partitions._gibbs_type import PartitionPrior, PitmanYorPrior

# Wide enough that the ends carry no mass on tables of 10 to 10^6 rows.
CONCENTRATION_GRID = np.geomspace(0.05, 200.0, 12)
DISCOUNT_GRID = np.linspace(0.0, 0.5, 6)


class PitmanYor(BaseEstimator):
    """The Pitman-Yor process, a prior whose number of clusters grows as a power of the number of rows.

    A row joins a cluster of n_k rows with probability proportional to n_k - discount, and a new cluster with
    probability proportional to concentration + discount * n_clusters.

    Parameters
    ----------
    concentration : float or None, default=None
        alpha > -discount. None: learned on ``concentration_grid``.
    discount : float or None, default=None
        0 <= d < 1; 0 is the Dirichlet process. None: learned on ``discount_grid``.
    concentration_grid, discount_grid : array-like or None, default=None
        Values with equal prior probability; None takes 12 values from 0.05 to 200, and 0, 0.1, ..., 0.5.

    References
    ----------
    J. Pitman, M. Yor (1997), The two-parameter Poisson-Dirichlet distribution, Annals of Probability 25, 855-900.

    Examples
    --------
    >>> from sklearn_subanneal.partitions import PitmanYor
    >>> PitmanYor(discount=0.25)
    PitmanYor(discount=0.25)
    """

    def __init__(
        self,
        concentration: float | None = None,
        discount: float | None = None,
        *,
        concentration_grid=None,
        discount_grid=None,
    ):
        self.concentration = concentration
        self.discount = discount
        self.concentration_grid = concentration_grid
        self.discount_grid = discount_grid

    def bind(self, learn: bool = True) -> PartitionPrior:
        """The prior as a chain uses it; nothing is learned where ``learn`` is False."""
        discounts = _axis("discount", self.discount, self.discount_grid, DISCOUNT_GRID, lambda d: (d >= 0) & (d < 1))
        lowest = -float(discounts.min())
        concentrations = _axis(
            "concentration", self.concentration, self.concentration_grid, CONCENTRATION_GRID, lambda a: a > lowest
        )
        start = {
            "concentration": 1.0 if self.concentration is None else float(self.concentration),
            "discount": 0.0 if self.discount is None else float(self.discount),
        }
        if not learn or (len(discounts) == 1 and len(concentrations) == 1):
            return PitmanYorPrior(**start)
        return PitmanYorPrior(**start, grid_concentration=concentrations, grid_discount=discounts)


class CRP(BaseEstimator):
    """The Chinese restaurant process: the partition of a Dirichlet process.

    Parameters
    ----------
    concentration : float or None, default=None
        alpha > 0. None: learned on ``concentration_grid``.
    concentration_grid : array-like or None, default=None
        Values with equal prior probability; None takes 12 values from 0.05 to 200.

    Examples
    --------
    >>> from sklearn_subanneal.partitions import CRP
    >>> CRP(concentration=1.0)
    CRP(concentration=1.0)
    """

    def __init__(self, concentration: float | None = None, *, concentration_grid=None):
        self.concentration = concentration
        self.concentration_grid = concentration_grid

    def bind(self, learn: bool = True) -> PartitionPrior:
        """The prior as a chain uses it; nothing is learned where ``learn`` is False."""
        return PitmanYor(self.concentration, 0.0, concentration_grid=self.concentration_grid).bind(learn)


def _axis(name, value, grid, default, allowed):
    """The values that a parameter may take: one if it is fixed, its grid if it is learned."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, Real)):
        raise ValueError(f"{name} must be a number or None, got {value!r}")
    if value is not None:
        values = np.array([float(value)])
    else:
        values = np.asarray(default if grid is None else grid, dtype=np.float64).ravel()
    if not len(values) or not np.isfinite(values).all() or not allowed(values).all():
        bounds = "0 <= discount < 1" if name == "discount" else "concentration > -discount"
        raise ValueError(f"{name} must satisfy {bounds}; got {value if value is not None else grid!r}")
    return values
