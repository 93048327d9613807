"""Normalized random measures in plain NumPy: the laws of the partition, of u, and of mass and sigma."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from oracles.enumeration import Partition, blocks, fixed_mixture
from oracles.enumeration import log_eppf as log_eppf_pitman_yor
from oracles.reference import Column
from scipy.special import gammaln, logsumexp

ORACLES = json.loads((Path(__file__).parent / "oracles_nrmm.json").read_text())


def log_density_of_log_u(v: np.ndarray, n: int, n_clusters: int, mass: float, sigma: float) -> np.ndarray:
    """Log density of v = log u given the partition, up to a constant.

    Examples
    --------
    >>> float(log_density_of_log_u(0.0, 1, 1, mass=1.0, sigma=0.5).round(3))  # 1 - sqrt(2) - log(2) / 2
    -0.761
    """
    softplus = np.logaddexp(0.0, v)
    with np.errstate(over="ignore"):
        return n * (v - softplus) + n_clusters * sigma * softplus - mass * np.expm1(sigma * softplus)


def line_of_log_u(n: int, n_clusters: int, mass: float, sigma: float, n_points: int = 20_001) -> np.ndarray:
    """Equally spaced v beyond whose ends there is nothing."""
    most = max(np.log(n_clusters / mass + 40.0 / mass) / sigma, 0.0) + 40.0
    return np.linspace(-60.0, most + np.log(n), n_points)


def log_eppf(sizes: Sequence[int], mass: float, sigma: float) -> float:
    """Log probability of one partition with these cluster sizes, u integrated out by the trapezoidal rule.

    Examples
    --------
    >>> round(log_eppf([2], mass=1.0, sigma=0.5), 10), round(log_eppf([1, 1], mass=1.0, sigma=0.5), 10)
    (-1.2100791396, -0.3540693146)
    """
    sizes = np.asarray(sizes)
    v = line_of_log_u(sizes.sum(), len(sizes), mass, sigma)
    integral = logsumexp(log_density_of_log_u(v, sizes.sum(), len(sizes), mass, sigma)) + np.log(v[1] - v[0])
    factors = len(sizes) * np.log(mass * sigma) + np.sum(gammaln(sizes - sigma) - gammaln(1.0 - sigma))
    return float(factors - gammaln(sizes.sum()) + integral)


def posterior(columns: Sequence[Column], mass: float, sigma: float) -> dict[Partition, float]:
    """Probability of every partition of the rows; sigma = 0 is the Dirichlet process of that concentration."""
    mixture = fixed_mixture(columns, 1.0)
    joint = mixture.log_joint()
    if sigma == 0.0:
        joint = fixed_mixture(columns, mass).log_joint()
    else:
        known: dict[tuple[int, ...], float] = {}
        for i, state in enumerate(mixture.states):
            sizes = tuple(sorted(len(block) for block in blocks(state)))
            if sizes not in known:
                known[sizes] = log_eppf(sizes, mass, sigma) - float(log_eppf_pitman_yor(sizes, 1.0))
            joint[i] += known[sizes]
    return dict(zip(mixture.states, np.exp(joint - logsumexp(joint)).tolist(), strict=True))
