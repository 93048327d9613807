"""Levels of refreshed subsets by enumeration: x ~ N(theta, 1) and theta ~ N(0, v), where every integral is known."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logsumexp
from scipy.stats import norm


@dataclass(frozen=True)
class SubsetLevels:
    """All subsets of a few rows.

    Attributes
    ----------
    x : ndarray of shape (n_rows,)
    variance : float
        Of the prior.
    sizes : tuple of int
        Of the levels' subsets, all rows first.
    is_nested : bool
    states : list of tuple of frozenset
        The subsets of all levels, each as probable as another a priori.
    probabilities : ndarray of shape (n_states,)
        Of the states, where subsets are refreshed: in proportion to the product of the evidences of the levels.
    """

    x: NDArray
    variance: float
    sizes: tuple[int, ...]
    is_nested: bool
    states: list = field(init=False)
    probabilities: NDArray = field(init=False)

    def __post_init__(self):
        every = [list(map(frozenset, itertools.combinations(range(len(self.x)), size))) for size in self.sizes]
        states = itertools.product(*every)
        if self.is_nested:
            states = (state for state in states if all(low <= high for high, low in itertools.pairwise(state)))
        object.__setattr__(self, "states", list(states))
        logs = np.array([sum(map(self.log_evidence, state[1:])) for state in self.states])
        object.__setattr__(self, "probabilities", np.exp(logs - logsumexp(logs)))

    def log_evidence(self, subset: frozenset) -> float:
        """Log of the integral of prior times likelihood of these rows."""
        x = self.x[sorted(subset)]
        n, total = len(x), x.sum()
        scale = 1.0 + n * self.variance
        return float(-0.5 * (n * np.log(2.0 * np.pi) + np.log(scale) + x @ x - self.variance * total**2 / scale))

    def posterior(self, subset: frozenset) -> tuple[float, float]:
        """Mean and variance of theta given these rows."""
        variance = 1.0 / (1.0 / self.variance + len(subset))
        return variance * self.x[sorted(subset)].sum(), variance

    def moments(self, m: int) -> tuple[float, float]:
        """Mean and variance of the points of level ``m``."""
        means, variances = np.array([self.posterior(state[m]) for state in self.states]).T
        mean = self.probabilities @ means
        return float(mean), float(self.probabilities @ (variances + means**2) - mean**2)

    def log_averaged_evidence(self, m: int) -> float:
        """Log of the mean evidence of the subsets of level ``m``, each as probable as another."""
        logs = [
            self.log_evidence(frozenset(rows)) for rows in itertools.combinations(range(len(self.x)), self.sizes[m])
        ]
        return float(logsumexp(logs) - np.log(len(logs)))

    def log_density(self, theta: NDArray, subset: frozenset) -> NDArray:
        """Log of prior times likelihood of these rows."""
        likelihoods = norm.logpdf(self.x[sorted(subset), None], theta)
        return norm.logpdf(theta, scale=np.sqrt(self.variance)) + likelihoods.sum(axis=0)

    def pooled_stones(self) -> tuple[float, float, float]:
        """What stones of all subsets together say of the log evidence: from below, from above, and by the bridge."""
        theta, logs = np.linspace(-12.0, 12.0, 4001), np.log(self.probabilities)
        width, out = theta[1] - theta[0], np.zeros(3)
        for m in range(1, len(self.sizes)):
            gains = np.array([self.log_evidence(state[m - 1]) - self.log_evidence(state[m]) for state in self.states])
            ratios, at_lower, at_upper = [], [], []
            for state, probability in zip(self.states, self.probabilities, strict=True):
                high, low = (self.log_density(theta, subset) for subset in state[m - 1 : m + 1])
                ratios.append(high - low)
                at_lower.append(probability * width * np.exp(low - self.log_evidence(state[m])))
                at_upper.append(probability * width * np.exp(high - self.log_evidence(state[m - 1])))
            ratios, at_lower, at_upper = map(np.array, (ratios, at_lower, at_upper))

            def difference(c, ratios=ratios, at_lower=at_lower, at_upper=at_upper):
                return (expit(ratios - c) * at_lower).sum() - (expit(c - ratios) * at_upper).sum()

            out += logsumexp(logs + gains), -logsumexp(logs - gains), brentq(difference, -50.0, 50.0)
        return tuple(out)
