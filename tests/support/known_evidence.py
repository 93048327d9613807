"""Targets whose log evidence is known, by formula or by quadrature."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats
from scipy.integrate import quad
from scipy.special import betaln, gammaln, logsumexp

from sklearn_subanneal.tempering import GaussianMean

RNG = np.random.default_rng(7)
NORMALS = RNG.normal(1.0, 2.0, 12)
COUNTS = np.array([3, 5, 2, 4])
DESIGN = RNG.normal(size=(25, 4))
RESPONSES = DESIGN @ [1.0, -2.0, 0.5, 0.0] + RNG.normal(size=25)
CAUCHY = np.array([-3.0, 0.5, 4.0])


@dataclass(frozen=True)
class KnownEvidence:
    """A target, the arguments of ``sample`` for it, and its log evidence."""

    target: Any
    log_evidence: float
    arguments: dict = field(default_factory=dict)


def two_modes(n_parameters: int, separation: float, weight: float = 0.3):
    """Log density of two unit normals, the lighter one below; vectorized."""
    constant = -0.5 * n_parameters * np.log(2.0 * np.pi)

    def log_density(x):
        rest = (x[..., 1:] ** 2).sum(axis=-1)
        low, high = (x[..., 0] + separation / 2.0) ** 2, (x[..., 0] - separation / 2.0) ** 2
        return constant - 0.5 * rest + np.logaddexp(np.log(weight) - 0.5 * low, np.log1p(-weight) - 0.5 * high)

    return log_density


def banana(x):
    """A normal bent along a parabola."""
    first = stats.norm.logpdf(x[..., 0], 0.0, 10.0)
    return first + stats.norm.logpdf(x[..., 1], 0.03 * (x[..., 0] ** 2 - 100.0), 1.0)


def funnel(x):
    """Neal's funnel: the width of all others is that of the first, exponentiated."""
    rest = stats.norm.logpdf(x[..., 1:], 0.0, np.exp(0.5 * np.clip(x[..., :1], -200.0, 200.0))).sum(axis=-1)
    return stats.norm.logpdf(x[..., 0], 0.0, 2.0) + rest


def correlated(n_parameters: int, correlation: float):
    """Log density of a normal with equal correlations, and means of 3."""
    normal = stats.multivariate_normal(
        np.full(n_parameters, 3.0), np.eye(n_parameters) * (1.0 - correlation) + correlation
    )
    return lambda x: normal.logpdf(x).reshape(x.shape[:-1])


def normal_mean():
    model = GaussianMean(NORMALS.reshape(-1, 3), np.eye(3) + 0.5, prior_variance=4.0)
    n, d = model.X.shape
    covariance = np.kron(np.eye(n), model.covariance) + 4.0 * np.kron(np.ones((n, n)), np.eye(d))
    return KnownEvidence(model, float(stats.multivariate_normal.logpdf(model.X.ravel(), cov=covariance)))


def gamma_poisson():
    n, total = len(COUNTS), COUNTS.sum()
    exact = gammaln(2.0 + total) - gammaln(2.0) + 2.0 * np.log(0.5) - (2.0 + total) * np.log(n + 0.5)

    def log_likelihood(rate):
        return stats.poisson.logpmf(COUNTS, rate[:, None]).sum(axis=1)

    return KnownEvidence(
        log_likelihood,
        float(exact - gammaln(COUNTS + 1.0).sum()),
        {"prior": {"rate": stats.gamma(2.0, scale=2.0)}, "vectorized": True},
    )


def beta_binomial():
    exact = betaln(0.5 + 3, 0.5 + 17) - betaln(0.5, 0.5)
    return KnownEvidence(
        lambda p: 3 * np.log(p) + 17 * np.log1p(-p),
        float(exact),
        {"prior": {"p": stats.beta(0.5, 0.5)}, "vectorized": True},
    )


def dirichlet_multinomial():
    counts, alpha = np.array([4, 1, 7]), np.array([1.0, 0.5, 2.0])
    constant = gammaln(alpha.sum()) - gammaln(alpha).sum()
    exact = constant + gammaln(alpha + counts).sum() - gammaln((alpha + counts).sum())

    def log_prior(w):
        return constant + ((alpha - 1.0) * np.log(w)).sum(axis=1)

    return KnownEvidence(
        (log_prior, lambda w: (counts * np.log(w)).sum(axis=1)),
        float(exact),
        {"parameters": {"w": ("simplex", 3)}, "vectorized": True},
    )


def regression():
    exact = stats.multivariate_normal.logpdf(RESPONSES, cov=np.eye(25) + 9.0 * DESIGN @ DESIGN.T)
    return KnownEvidence(
        lambda b: stats.norm.logpdf(RESPONSES, b @ DESIGN.T).sum(axis=1),
        float(exact),
        {"prior": (0.0, 3.0), "n_parameters": 4, "vectorized": True},
    )


def normal_of_unknown_variance():
    """mean | precision ~ N(0, 1 / precision), precision ~ Gamma(2, 3)."""
    x, n = NORMALS, len(NORMALS)
    shape, rate = 2.0 + n / 2.0, 3.0 + 0.5 * ((x**2).sum() - x.sum() ** 2 / (n + 1.0))
    exact = 2.0 * np.log(3.0) - gammaln(2.0) + gammaln(shape) - shape * np.log(rate) - 0.5 * np.log(n + 1.0)

    def log_density(mean, precision):
        prior = stats.gamma.logpdf(precision, 2.0, scale=1 / 3.0) + stats.norm.logpdf(mean, 0.0, precision**-0.5)
        return prior + stats.norm.logpdf(x, mean[:, None], precision[:, None] ** -0.5).sum(axis=1)

    return KnownEvidence(
        log_density,
        float(exact - 0.5 * n * np.log(2.0 * np.pi)),
        {
            "parameters": {"mean": "real", "precision": "positive"},
            "initial": {"mean": 0.0, "precision": 1.0},
            "vectorized": True,
        },
    )


def cauchy_location():
    def log_likelihood(x):
        return stats.cauchy.logpdf(CAUCHY, np.asarray(x).reshape(-1, 1)).sum(axis=1)

    def integrand(x):
        return float(np.exp(log_likelihood(x)[0] + stats.norm.logpdf(x, 0.0, 10.0)))

    exact = np.log(quad(integrand, -60.0, 60.0, points=[-3.0, 0.5, 4.0], limit=200)[0])
    return KnownEvidence(log_likelihood, float(exact), {"prior": (0.0, 10.0), "n_parameters": 1, "vectorized": True})


def shells():
    """Two thin rings in the plane, far apart; the prior is even enough over them to be a constant."""

    def log_likelihood(x):
        radii = [np.hypot(x[:, 0] - center, x[:, 1]) for center in (-3.5, 3.5)]
        return logsumexp([stats.norm.logpdf(radius, 2.0, 0.1) for radius in radii], axis=0)

    area = quad(lambda r: 2.0 * np.pi * r * stats.norm.pdf(r, 2.0, 0.1), 1.0, 3.0)[0]
    uniform = stats.uniform(-6.0, 12.0)
    return KnownEvidence(
        lambda x, y: log_likelihood(np.column_stack([x, y])),
        float(np.log(2.0 * area / 144.0)),
        {"prior": {"x": uniform, "y": uniform}, "vectorized": True},
    )


def normalised(log_density, **arguments):
    return KnownEvidence(log_density, 0.0, {"vectorized": True} | arguments)


TARGETS = {
    "normal mean": normal_mean,
    "gamma-Poisson": gamma_poisson,
    "beta-binomial": beta_binomial,
    "Dirichlet-multinomial": dirichlet_multinomial,
    "regression": regression,
    "normal of unknown variance": normal_of_unknown_variance,
    "Cauchy location": cauchy_location,
    "shells": shells,
    "two modes": lambda: normalised(two_modes(5, 15.0), reference=(0.0, 15.0), n_parameters=5),
    "banana": lambda: normalised(banana, reference=(0.0, 20.0), n_parameters=2),
    "funnel": lambda: normalised(funnel, reference=(0.0, [3.0, 8.0, 8.0, 8.0]), n_parameters=4),
    "correlated normal": lambda: normalised(correlated(8, 0.9), initial=np.zeros(8)),
}
