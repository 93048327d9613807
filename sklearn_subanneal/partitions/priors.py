"""Priors of a partition as parameter objects for scikit-learn (CRP, PitmanYor, NGGP, NIG), and their names."""

from __future__ import annotations

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator, clone

from sklearn_subanneal._core.rounding import geometric_grid
from sklearn_subanneal.partitions._gibbs_type import PartitionPrior, PitmanYorPrior
from sklearn_subanneal.partitions._nggp import HIGHEST, NGGPPrior
from sklearn_subanneal.partitions.prior_parameters import (
    LEARN,
    check_hyperprior,
    grid_axis,
    is_learned,
    number_or_start,
    start_value,
    two_positive,
)

# Wide enough that the ends carry no mass on tables of 10 to 10^6 rows.
CONCENTRATION_GRID = geometric_grid(0.05, 200.0, 12)
DISCOUNT_GRID = np.linspace(0.0, 0.5, 6)


class Partition(BaseEstimator):
    """Base class of the priors of a partition: a set of parameters, from which :meth:`bind` makes the prior of a chain.

    A parameter is a number, or ``"learn"`` (or None) to infer it; parameters named ``..._start`` are initial values.
    """

    def bind(self, learn: bool = True) -> PartitionPrior:
        """The prior of one chain.

        Parameters
        ----------
        learn : bool, default=True
            Whether parameters are inferred; if not, those to be learned stay at their start.

        Raises
        ------
        ValueError
            If a parameter is invalid.
        """
        raise TypeError(f"{type(self).__name__} must say how it is bound")

    def for_streams(self) -> Partition:
        """The prior for rows in the order of time: later ones may be of clusters that none before shows.

        By default it is the same. Where few clusters are preferred, late ones would be found late.
        """
        return self


class PitmanYor(Partition):
    """The Pitman-Yor process, a prior whose number of clusters grows as a power of the number of rows.

    A row joins a cluster of n_k rows with probability proportional to n_k - discount, and a new cluster with
    probability proportional to concentration + discount * n_clusters.

    Parameters
    ----------
    concentration : float or "learn", default="learn"
        alpha > -discount, or learned on ``concentration_grid``.
    discount : float or "learn", default="learn"
        0 <= d < 1, or learned on ``discount_grid``; 0 is the Dirichlet process.
    concentration_grid, discount_grid : array-like or None, default=None
        Values with equal prior probability. None takes 0, 0.1, ..., 0.5 for the discount, and for the concentration 12
        values from 0.05 to 200 with probabilities proportional to 1 / (1 + alpha).
    concentration_start : float, default=1.0
        Where a chain starts if the concentration is learned; it need not be on the grid.
    discount_start : float, default=0.0
        Where a chain starts if the discount is learned.

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
        concentration: float | str = LEARN,
        discount: float | str = LEARN,
        *,
        concentration_grid=None,
        discount_grid=None,
        concentration_start: float = 1.0,
        discount_start: float = 0.0,
    ):
        self.concentration = concentration
        self.discount = discount
        self.concentration_grid = concentration_grid
        self.discount_grid = discount_grid
        self.concentration_start = concentration_start
        self.discount_start = discount_start

    def bind(self, learn: bool = True) -> PartitionPrior:
        discounts = grid_axis(
            "discount", self.discount, self.discount_grid, DISCOUNT_GRID, lambda d: (d >= 0) & (d < 1)
        )
        lowest = -float(discounts.min())
        concentrations = grid_axis(
            "concentration", self.concentration, self.concentration_grid, CONCENTRATION_GRID, lambda a: a > lowest
        )
        start = {
            "concentration": start_value("concentration", self.concentration, self.concentration_start),
            "discount": start_value("discount", self.discount, self.discount_start),
        }
        if not 0.0 <= start["discount"] < 1.0:
            raise ValueError(f"discount_start must satisfy 0 <= discount < 1; got {self.discount_start!r}")
        if start["concentration"] <= -start["discount"]:
            raise ValueError(
                f"concentration > -discount must hold, but a chain would start with concentration "
                f"{start['concentration']:g} and discount {start['discount']:g}; change concentration_start or "
                "discount_start"
            )
        if not learn or (len(discounts) == 1 and len(concentrations) == 1):
            return PitmanYorPrior(**start)
        # Where nothing says how many clusters there are, in columns of noise, say, few are the better answer.
        weights = 1.0 / (1.0 + concentrations) if self.concentration_grid is None else None
        return PitmanYorPrior(
            **start, grid_concentration=concentrations, grid_discount=discounts, concentration_weights=weights
        )

    def for_streams(self) -> Partition:
        return _with_even_grid(self)


class CRP(Partition):
    """The Chinese restaurant process: the partition of a Dirichlet process.

    Parameters
    ----------
    concentration : float or "learn", default="learn"
        alpha > 0, or learned on ``concentration_grid``.
    concentration_grid : array-like or None, default=None
        Values with equal prior probability. None takes 12 values from 0.05 to 200 with probabilities proportional to
        1 / (1 + alpha).
    concentration_start : float, default=1.0
        Where a chain starts if the concentration is learned.

    Examples
    --------
    >>> from sklearn_subanneal.partitions import CRP
    >>> CRP(concentration=1.0)
    CRP(concentration=1.0)
    """

    def __init__(
        self, concentration: float | str = LEARN, *, concentration_grid=None, concentration_start: float = 1.0
    ):
        self.concentration = concentration
        self.concentration_grid = concentration_grid
        self.concentration_start = concentration_start

    def bind(self, learn: bool = True) -> PartitionPrior:
        return PitmanYor(
            self.concentration,
            0.0,
            concentration_grid=self.concentration_grid,
            concentration_start=self.concentration_start,
        ).bind(learn)

    def for_streams(self) -> Partition:
        return _with_even_grid(self)


def _with_even_grid(partition):
    """The prior with the values of its default grid as a given one, whose probabilities are equal."""
    if partition.concentration_grid is not None or not is_learned(partition.concentration):
        return partition
    return clone(partition).set_params(concentration_grid=CONCENTRATION_GRID)


class NGGP(Partition):
    """The partition of a normalized generalized gamma process.

    Given an auxiliary variable u, which is part of a chain's state, a row joins a cluster of n_k rows with probability
    proportional to n_k - sigma, and a new cluster with probability proportional to mass * sigma * (1 + u)**sigma. The
    number of clusters grows as a power of the number of rows.

    Parameters
    ----------
    mass : float or "learn", default="learn"
        alpha, from 1e-100 to 1e100, in the Levy intensity
        alpha sigma / Gamma(1 - sigma) w**(-1 - sigma) exp(-w).
    sigma : float or "learn", default="learn"
        0 < sigma < 1. In the limit sigma = 0 with mass * sigma fixed, this is a :class:`CRP` with that product as its
        concentration; with the mass fixed, all rows are in one cluster.
    mass_prior : tuple of two floats, default=(1.0, 1.0)
        Shape and rate of the gamma prior of the mass, where it is learned.
    sigma_prior : tuple of two floats, default=(1.5, 1.5)
        Parameters of the beta prior of sigma, where it is learned.
    mass_start : float, default=1.0
        Where a chain starts if the mass is learned.
    sigma_start : float, default=0.5
        Where a chain starts if sigma is learned.

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
        mass: float | str = LEARN,
        sigma: float | str = LEARN,
        *,
        mass_prior: tuple[float, float] = (1.0, 1.0),
        sigma_prior: tuple[float, float] = (1.5, 1.5),
        mass_start: float = 1.0,
        sigma_start: float = 0.5,
    ):
        self.mass = mass
        self.sigma = sigma
        self.mass_prior = mass_prior
        self.sigma_prior = sigma_prior
        self.mass_start = mass_start
        self.sigma_start = sigma_start

    def bind(self, learn: bool = True) -> PartitionPrior:
        # The auxiliary variable u is redrawn whether or not parameters are learned.
        mass, mass_prior = (
            number_or_start("mass", self.mass, self.mass_start, np.inf),
            two_positive("mass_prior", self.mass_prior),
        )
        sigma, sigma_prior = (
            number_or_start("sigma", self.sigma, self.sigma_start, 1.0),
            two_positive("sigma_prior", self.sigma_prior),
        )
        if learn and is_learned(self.mass):
            law = stats.gamma(mass_prior[0], scale=1.0 / mass_prior[1])
            check_hyperprior("mass_prior", self.mass_prior, law, HIGHEST)
        if learn and is_learned(self.sigma):
            check_hyperprior("sigma_prior", self.sigma_prior, stats.beta(*sigma_prior), np.nextafter(1.0, 0.0))
        return NGGPPrior(
            mass,
            sigma,
            mass_prior if learn and is_learned(self.mass) else None,
            sigma_prior if learn and is_learned(self.sigma) else None,
        )


class NIG(Partition):
    """The partition of a normalized inverse Gaussian process: :class:`NGGP` with sigma = 1/2.

    Parameters
    ----------
    mass : float or "learn", default="learn"
        alpha, from 1e-100 to 1e100.
    mass_prior : tuple of two floats, default=(1.0, 1.0)
        Shape and rate of the gamma prior of the mass, where it is learned.
    mass_start : float, default=1.0
        Where a chain starts if the mass is learned.

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

    def __init__(
        self, mass: float | str = LEARN, *, mass_prior: tuple[float, float] = (1.0, 1.0), mass_start: float = 1.0
    ):
        self.mass = mass
        self.mass_prior = mass_prior
        self.mass_start = mass_start

    def bind(self, learn: bool = True) -> PartitionPrior:
        return NGGP(self.mass, 0.5, mass_prior=self.mass_prior, mass_start=self.mass_start).bind(learn)


NAMED = {"dp": CRP, "pitman-yor": PitmanYor, "nggp": NGGP, "nig": NIG}


def resolve_partition(partition: str | Partition, parameter: str = "partition") -> Partition:
    """The prior that a name stands for; objects are returned unchanged.

    Parameters
    ----------
    partition : {"dp", "pitman-yor", "nggp", "nig"} or Partition
        A name stands for the prior with its default parameters.
    parameter : str, default="partition"
        Name of the estimator's parameter, for the error.

    Raises
    ------
    ValueError
        If it is neither a known name nor a prior.

    Examples
    --------
    >>> from sklearn_subanneal.partitions import resolve_partition
    >>> resolve_partition("nig")
    NIG()
    """
    if isinstance(partition, str) and partition in NAMED:
        return NAMED[partition]()
    if isinstance(partition, Partition):
        return partition
    hint = f"; write {partition.__name__}()" if isinstance(partition, type) and issubclass(partition, Partition) else ""
    raise ValueError(f"{parameter} must be one of {sorted(NAMED)} or an object such as CRP(), got {partition!r}{hint}")
