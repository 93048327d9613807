"""Geweke's joint-distribution test of normalized random measures, and what chains learn of mass and sigma."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from oracles import reference
from oracles.enumeration import fixed_mixture, log_eppf, partitions
from oracles.reference_nrmm import line_of_log_u, log_density_of_log_u
from scipy import stats
from scipy.special import logsumexp

from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics
from sklearn_subanneal.diagnostics import geweke_test
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.mixtures._slice import SliceKernel
from sklearn_subanneal.mixtures._split_merge import SplitMergeKernel
from sklearn_subanneal.partitions import NGGP
from sklearn_subanneal.partitions._nggp import NGGPPrior
from sklearn_subanneal.trees._tree_guided import TreeGuidedKernel

N_ROWS = 5
PARAMS = {"mu": np.array([0.2, -0.3]), "kappa": 0.5, "psi": np.array([[1.0, 0.3], [0.3, 0.8]]), "nu": 5.0}
MASS_PRIOR, SIGMA_PRIOR = (2.0, 1.5), (1.5, 2.0)
STATES = [np.array(state) for state in partitions(N_ROWS)]
ROWS = np.arange(N_ROWS, dtype=np.int32)


@dataclass(frozen=True)
class Joint:
    """Everything that the joint distribution is of."""

    labels: np.ndarray
    mass: float
    sigma: float
    log_u: float
    cells: np.ndarray


def draw_prior(rng):
    """An independent draw: hyperpriors, a partition, u given it, the cells."""
    mass, sigma = rng.gamma(MASS_PRIOR[0], 1 / MASS_PRIOR[1]), rng.beta(*SIGMA_PRIOR)
    prior, known, law = NGGPPrior(mass, sigma), {}, np.empty(len(STATES))
    for i, state in enumerate(STATES):
        sizes = tuple(sorted(np.bincount(state)))
        if sizes not in known:
            known[sizes] = prior.log_eppf(np.array(sizes, np.int32))
        law[i] = np.exp(known[sizes])
    labels = STATES[rng.choice(len(STATES), p=law / law.sum())]
    n_clusters = labels.max() + 1
    v = line_of_log_u(N_ROWS, n_clusters, mass, sigma, 4001)
    logs = log_density_of_log_u(v, N_ROWS, n_clusters, mass, sigma)
    cumulative = np.cumsum(np.exp(logs - logs.max()))
    log_u = np.interp(rng.random() * cumulative[-1], cumulative, v)
    cells = np.empty((N_ROWS, 2))
    for k in range(n_clusters):
        cells[labels == k] = reference.draw_from_prior("gaussian", PARAMS, int(np.sum(labels == k)), rng)[1]
    return Joint(labels, mass, sigma, log_u, cells)


def mixture_of(state):
    mixture = Mixture([GaussianStatistics(GaussianData(state.cells), PARAMS)], prior_of(state), N_ROWS)
    mixture.relabel(state.labels)
    mixture.rebuild()
    return mixture


def prior_of(state):
    prior = NGGP(mass_prior=MASS_PRIOR, sigma_prior=SIGMA_PRIOR).bind()
    prior.parameters = {"mass": state.mass, "sigma": state.sigma, "log_u": state.log_u}
    return prior


def gibbs(mixture, rng):
    churn(mixture, ROWS, ROWS, 1.0, rng)


def slices(mixture, rng):
    SliceKernel(mixture.columns, N_ROWS).sweep(mixture, 1.0, rng)


def split_merge(mixture, rng):
    SplitMergeKernel(mixture.columns, N_ROWS, n_scans=1).propose(mixture, 4, 1.0, rng)


def tree_guided(mixture, rng):
    TreeGuidedKernel(mixture.columns, N_ROWS).propose(mixture, 4, 1.0, rng)


def transition(move):
    """Move the rows, learn the parameters of the process, and draw new cells."""

    def sweep(state, rng):
        mixture = mixture_of(state)
        move(mixture, rng)
        mixture.learn(rng)
        labels, cells = mixture.labels, np.zeros((N_ROWS, 2))
        statistics = GaussianStatistics(GaussianData(cells), PARAMS)
        for row, k in enumerate(labels):
            cells[row] = statistics.draws(np.array([k], np.int32), np.full((1, 2), np.nan), rng)[0]
            statistics = GaussianStatistics(GaussianData(cells), PARAMS)
            statistics.rebuild(np.where(np.arange(N_ROWS) <= row, labels, -1))
        return Joint(labels, mixture.prior.mass, mixture.prior.sigma, mixture.prior.log_u, cells)

    return sweep


def statistics(state):
    """Bounded functions of everything."""
    sizes, x, u = np.bincount(state.labels), np.arctan(state.cells), np.tanh(state.log_u / 8)
    return {
        "n_clusters": len(sizes),
        "pairs": np.sum(sizes**2),
        "log mass": np.log(state.mass),
        "sigma": state.sigma,
        "u": u,
        "mass sigma": np.log(state.mass) * state.sigma,
        "u sigma": u * state.sigma,
        "u mass": u * np.log(state.mass),
        "u n_clusters": u * len(sizes),
        "sigma n_clusters": state.sigma * len(sizes),
        "mean": x.mean(),
        "square": (x**2).mean(),
        "square n_clusters": (x**2).mean() * len(sizes),
    }


def run(sweep, n_independent, n_successive, seed=0):
    return geweke_test(
        draw_prior,
        sweep,
        statistics,
        n_independent=n_independent,
        n_successive=n_successive,
        n_chains=16,
        random_state=seed,
    )


MOVES = [gibbs, slices, split_merge, tree_guided]


@pytest.mark.slow
def test_geweke():
    result = run(transition(gibbs), 800, 50)
    assert result.passed(0.01), str(result)


@pytest.mark.slow
@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.__name__)
def test_geweke_long(move):
    result = run(transition(move), 10_000, 1500, seed=1)
    assert result.passed(0.01), str(result)


@pytest.mark.slow
def test_a_u_that_stays_is_found():
    right = transition(gibbs)

    def wrong(state, rng):
        return replace(right(replace(state, log_u=0.0), rng), log_u=0.0)

    assert not run(wrong, 600, 40).passed(0.01)


# --- Mass and sigma, learned ----------------------------------------------------------------------------------------


def exact_moments(x, mass_prior, sigma_prior):
    """E[mass], E[sigma], E[clusters] given the cells: all partitions, quadrature over mass and sigma."""
    masses, sigmas = np.exp(np.linspace(-8.0, 3.5, 61)), (np.arange(40) + 0.5) / 40
    density = stats.gamma(mass_prior[0], scale=1 / mass_prior[1]).logpdf(masses)[:, None] + np.log(masses)[:, None]
    density = density + stats.beta(*sigma_prior).logpdf(sigmas)
    mixture = fixed_mixture([("gaussian", x, PARAMS)], 1.0)
    log_likelihood = mixture.log_joint() - [float(log_eppf(np.bincount(state), 1.0)) for state in mixture.states]
    kinds = [tuple(sorted(np.bincount(state))) for state in mixture.states]
    evidence = {kind: logsumexp([own for own, k in zip(log_likelihood, kinds, strict=True) if k == kind])
                for kind in set(kinds)}  # fmt: skip
    logs = np.array([
        [[NGGPPrior(m, s).log_eppf(np.array(kind, np.int32)) + own for kind, own in evidence.items()] for s in sigmas]
        for m in masses
    ])  # fmt: skip
    weights = np.exp(logs + density[..., None] - (logs + density[..., None]).max())
    weights /= weights.sum()
    n_clusters = np.array([len(kind) for kind in evidence])
    return [
        np.einsum("msk,m->", weights, masses),
        np.einsum("msk,s->", weights, sigmas),
        np.einsum("msk,k->", weights, n_clusters),
    ]


@pytest.mark.parametrize(
    ("move", "n_draws"),
    [(gibbs, 3000), *(pytest.param(move, 60_000, marks=pytest.mark.slow) for move in MOVES)],
    ids=["gibbs", *(f"{move.__name__}-long" for move in MOVES)],
)
def test_mass_and_sigma_are_learned_exactly(move, n_draws):
    x = np.array([[0.3, 0.1], [0.1, -0.9], [1.9, 0.1], [2.1, 0.2], [2.4, 1.0]])
    rng = np.random.default_rng(0)
    mixture, draws = mixture_of(Joint(np.zeros(N_ROWS, np.int32), 1.0, 0.5, 0.0, x)), np.empty((n_draws, 3))
    for t in range(n_draws):
        move(mixture, rng)
        mixture.learn(rng)
        draws[t] = mixture.prior.mass, mixture.prior.sigma, mixture.n_clusters
    batches = draws.reshape(40, -1, 3).mean(axis=1)
    error = batches.std(axis=0, ddof=1) / np.sqrt(40)
    exact = exact_moments(x, MASS_PRIOR, SIGMA_PRIOR)
    assert (np.abs(draws.mean(axis=0) - exact) < 4 * error).all(), (draws.mean(axis=0), exact, error)
    assert (error < 0.04 * np.array(exact)).all()
