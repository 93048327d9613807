"""Prior distributions of a partition, as parameter objects that scikit-learn can clone and search."""

from __future__ import annotations

from numbers import Real

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator

from sklearn_subanneal.partitions._gibbs_type import PartitionPrior, PitmanYorPrior
from sklearn_subanneal.partitions._nggp import HIGHEST, LOWEST, NGGPPrior

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


class NGGP(BaseEstimator):
    """The partition of a normalized generalized gamma process.

    Given an auxiliary variable u, which is part of a chain's state, a row joins a cluster of n_k rows with probability
    proportional to n_k - sigma, and a new cluster with probability proportional to mass * sigma * (1 + u)**sigma. The
    number of clusters grows as a power of the number of rows, and sizes are less unequal than for a Dirichlet process.

    Parameters
    ----------
    mass : float or None, default=None
        alpha, from 1e-100 to 1e100, in the Levy intensity
        alpha sigma / Gamma(1 - sigma) w**(-1 - sigma) exp(-w). None: learned.
    sigma : float or None, default=None
        From 1e-100 to below 1. None: learned. As sigma tends to 0 with mass * sigma fixed, this number becomes the
        concentration of a :class:`CRP`; with the mass fixed all rows come to be in one cluster.
    mass_prior : tuple of two floats, default=(1.0, 1.0)
        Shape and rate of the gamma prior of the mass, where it is learned.
    sigma_prior : tuple of two floats, default=(1.5, 1.5)
        Parameters of the beta prior of sigma, where it is learned.

    References
    ----------
    A. Lijoi, R. H. Mena, I. Pruenster (2007), Controlling the reinforcement in Bayesian non-parametric mixture models,
    Journal of the Royal Statistical Society B 69, 715-740. doi:10.1111/j.1467-9868.2007.00609.x

    S. Favaro, Y. W. Teh (2013), MCMC for normalized random measure mixture models, Statistical Science 28, 335-359.
    doi:10.1214/13-STS422

    Examples
    --------
    >>> from sklearn_subanneal.partitions import NGGP
    >>> NGGP(sigma=0.25)
    NGGP(sigma=0.25)
    """

    def __init__(
        self,
        mass: float | None = None,
        sigma: float | None = None,
        *,
        mass_prior: tuple[float, float] = (1.0, 1.0),
        sigma_prior: tuple[float, float] = (1.5, 1.5),
    ):
        self.mass = mass
        self.sigma = sigma
        self.mass_prior = mass_prior
        self.sigma_prior = sigma_prior

    def bind(self, learn: bool = True) -> PartitionPrior:
        """The prior as a chain uses it; nothing is learned where ``learn`` is False, but for u."""
        mass, mass_prior = _number("mass", self.mass, 1.0, np.inf), _pair("mass_prior", self.mass_prior)
        sigma, sigma_prior = _number("sigma", self.sigma, 0.5, 1.0), _pair("sigma_prior", self.sigma_prior)
        if learn and self.mass is None:
            law = stats.gamma(mass_prior[0], scale=1.0 / mass_prior[1])
            _check_hyperprior("mass_prior", self.mass_prior, law, HIGHEST)
        if learn and self.sigma is None:
            _check_hyperprior("sigma_prior", self.sigma_prior, stats.beta(*sigma_prior), np.nextafter(1.0, 0.0))
        return NGGPPrior(
            mass,
            sigma,
            mass_prior if learn and self.mass is None else None,
            sigma_prior if learn and self.sigma is None else None,
        )


class NIG(BaseEstimator):
    """The partition of a normalized inverse Gaussian process: :class:`NGGP` with sigma = 1/2.

    Parameters
    ----------
    mass : float or None, default=None
        alpha, from 1e-100 to 1e100. None: learned.
    mass_prior : tuple of two floats, default=(1.0, 1.0)
        Shape and rate of the gamma prior of the mass, where it is learned.

    References
    ----------
    A. Lijoi, R. H. Mena, I. Pruenster (2005), Hierarchical mixture modeling with normalized inverse-Gaussian priors,
    Journal of the American Statistical Association 100, 1278-1291. doi:10.1198/016214505000000132

    Examples
    --------
    >>> from sklearn_subanneal.partitions import NIG
    >>> NIG(mass=2.0)
    NIG(mass=2.0)
    """

    def __init__(self, mass: float | None = None, *, mass_prior: tuple[float, float] = (1.0, 1.0)):
        self.mass = mass
        self.mass_prior = mass_prior

    def bind(self, learn: bool = True) -> PartitionPrior:
        """The prior as a chain uses it; nothing is learned where ``learn`` is False, but for u."""
        return NGGP(self.mass, 0.5, mass_prior=self.mass_prior).bind(learn)


def _number(name, value, default, most):
    """A parameter between 0 and ``most``, or its start where it is learned."""
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < value < most:
        wanted = "a positive number" if most == np.inf else f"a number above 0 and below {most:g}"
        raise ValueError(f"{name} must be {wanted}, or None to learn it; got {value!r}")
    if not LOWEST <= value <= HIGHEST:
        upper = f"{HIGHEST:g}" if most == np.inf else f"below {most:g}"
        raise ValueError(f"{name} must be a number from {LOWEST:g} to {upper}, or None to learn it; got {value!r}")
    return float(value)


def _check_hyperprior(name, values, law, highest):
    """Refuse a hyperprior most of which lies where the parameter can't be."""
    if law.cdf(highest) - law.cdf(LOWEST) < 0.5:
        raise ValueError(
            f"{name}={values!r} has more than half of its probability outside of the range of the parameter, "
            f"{LOWEST:g} to {highest:g}; choose other parameters"
        )


def _pair(name, values):
    """The two parameters of a hyperprior."""
    try:
        first, second = (float(value) for value in values)
    except (TypeError, ValueError):
        first = second = np.nan
    if not (0.0 < first < np.inf and 0.0 < second < np.inf):
        raise ValueError(f"{name} must be two positive numbers, got {values!r}")
    return first, second


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
