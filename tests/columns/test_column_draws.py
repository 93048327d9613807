"""Draws of columns: values against their own densities, and hyperparameters against exact conditionals."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import reference
from oracles.enumeration import product_grid
from oracles.reference_chain import effective_draws, noise_floor, total_variation
from scipy import stats
from scipy.integrate import cumulative_trapezoid
from scipy.special import logsumexp
from support.column_examples import BY_NAME, EXAMPLES
from support.tiers import quick_only

from sklearn_subanneal.columns._bag_data import BagOfWordsData
from sklearn_subanneal.columns._bag_of_words import BagOfWordsStatistics
from sklearn_subanneal.columns._categorical import CategoricalData, CategoricalStatistics
from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics

LABELS = np.array([0] * 12 + [1] * 5 + [2] + [-1] * 30)
N_CLUSTERS = 3

# How long a bag is must be known to draw one: it has a test of its own.
CELLS = [example for example in EXAMPLES if example.kind != "bag-of-words"]
examples = pytest.mark.parametrize("example", CELLS, ids=[example.name for example in CELLS])


def filled(example, **kwargs):
    statistics = example.statistics(**kwargs)
    statistics.rebuild(LABELS)
    return statistics


# --- Values -----------------------------------------------------------------------------------------------------


def draw(statistics, k, value, n_draws, rng):
    """Draws of the missing cells of one value from slot k, (n_draws, width)."""
    return statistics.draws(np.full(n_draws, k, np.int32), np.tile(value, (n_draws, 1)), rng)


def distribution(example, statistics, k, value, coordinate, draws, rng):
    """The probability integral transform of draws of one coordinate given ``value``: uniform, if all is right."""
    if example.kind == "cyclic":
        line = np.linspace(0.0, 2.0 * np.pi, 20_001)
    elif example.kind in ("real", "gaussian", "semicontinuous"):
        # Aside of 0, which may be an atom.
        line = np.sinh(np.linspace(-14, 14, 20_001)) + 1e-9 * (example.kind == "semicontinuous")
    else:
        line = np.arange(max(draws.max() + 2, 60))
    points = np.tile(value, (len(line), 1))
    points[:, coordinate] = line
    log_density = statistics.log_densities(points, k + 1)[:, k]
    # Where the point has other cells, the density of all is that of this one given them, up to a factor.
    log_density -= statistics.log_densities(value[None], k + 1)[0, k]
    if example.kind == "cyclic":
        mass = cumulative_trapezoid(np.exp(log_density), line, initial=0.0)
        assert_allclose(mass[-1], 1.0, atol=1e-6)
        assert np.all((draws >= 0.0) & (draws < 2.0 * np.pi))
        return np.interp(draws, line, mass)
    if example.kind in ("real", "gaussian", "semicontinuous"):
        density = np.exp(log_density) * np.cosh(np.arcsinh(line))
        mass = np.append(0.0, np.cumsum(density[1:] + density[:-1]) / 2 * 28 / 20_000)
        atoms, shares = atoms_of(example, statistics, k)
        assert_allclose(mass[-1] + shares.sum(), 1.0, atol=2e-3)
        below, at = draws[:, None] > atoms, draws[:, None] == atoms
        return np.interp(draws, line, mass) + below @ shares + rng.random(len(draws)) * (at @ shares)
    mass = np.append(0.0, np.cumsum(np.exp(log_density)))
    assert mass[-1] > 0.99
    index = draws.astype(int)
    assert np.array_equal(index, draws)
    return mass[index] + rng.random(len(draws)) * (mass[index + 1] - mass[index])


def atoms_of(example, statistics, k):
    """The atoms of a column, and their probabilities in slot k."""
    atoms = np.array(example.params.get("atoms", []))
    return atoms, np.exp(statistics.log_densities(atoms[:, None], k + 1)[:, k])


@examples
@pytest.mark.parametrize("k", [0, 1, N_CLUSTERS], ids=["large", "small", "empty"])
def test_draws_have_their_density(example, k):
    statistics, rng, n_draws = filled(example), np.random.default_rng(k), 4000
    nothing = np.full(example.width, np.nan)
    values = draw(statistics, k, nothing, n_draws, rng)
    for j in range(example.width):
        transformed = distribution(example, statistics, k, nothing, j, values[:, j], rng)
        assert stats.kstest(transformed, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("name", ["gaussian", "gaussian-covariance"])
def test_draws_are_conditional_on_observed_cells(name):
    example = BY_NAME[name]
    statistics, rng = filled(example), np.random.default_rng(3)
    for j in range(example.width):
        for others in (-1.5, 0.3):
            value = np.full(example.width, others)
            value[j] = np.nan
            values = draw(statistics, 1, value, 3000, rng)
            assert np.all(np.delete(values, j, axis=1) == others)
            transformed = distribution(example, statistics, 1, value, j, values[:, j], rng)
            assert stats.kstest(transformed, "uniform").pvalue > 1e-3


def test_cells_drawn_together_are_dependent():
    example = BY_NAME["gaussian-covariance"]
    statistics, n_draws = filled(example), 4000
    values = draw(statistics, 1, np.array([0.4, np.nan, np.nan]), n_draws, np.random.default_rng(4))
    # The density of the drawn pair at the draws themselves, against pairs drawn one cell after the other.
    one_by_one = np.column_stack([values[:, 0], values[:, 1], np.full(n_draws, np.nan)])
    statistics.draws(np.ones(n_draws, np.int32), one_by_one, np.random.default_rng(5))
    densities = [statistics.log_densities(v, 2)[:, 1] for v in (values, one_by_one)]
    assert stats.ks_2samp(*densities).pvalue > 1e-3


@pytest.mark.parametrize("k", [0, 1, N_CLUSTERS], ids=["large", "small", "empty"])
def test_bags_have_their_density(k):
    example = BY_NAME["bag-of-words"]
    statistics, n_draws = filled(example), 6000
    bags = statistics.draw_bags(np.full(n_draws, k, np.int32), np.full(n_draws, 2, np.int32), np.random.default_rng(k))
    pairs, counts = np.unique(bags.toarray(), axis=0, return_counts=True)
    assert (pairs.sum(axis=1) == 2).all()
    # Two different words could stand in either order.
    support = np.array([np.eye(7)[i] + np.eye(7)[j] for i in range(7) for j in range(i + 1)])
    orders = np.where(support.max(axis=1) == 2, 1, 2)
    law = dict(zip(map(tuple, support), orders * np.exp(statistics.log_densities(support, k + 1)[:, k]), strict=True))
    assert sum(law.values()) == pytest.approx(1.0)
    seen = dict(zip(map(tuple, pairs), counts, strict=True))
    assert total_variation(law, seen) <= 1.5 * noise_floor(law, n_draws, rng=np.random.default_rng(0))


@examples
def test_a_complete_value_is_left_alone(example):
    statistics = filled(example)
    value = np.nan_to_num(example.new_values[:1])
    rng = np.random.default_rng(6)
    before = rng.bit_generator.state
    assert np.array_equal(statistics.draws(np.zeros(1, np.int32), value.copy(), rng), value)
    assert rng.bit_generator.state == before


@examples
def test_conditional_moments(example):
    statistics = filled(example)
    if example.kind in ("categorical", "boolean", "ordinal"):
        support = np.arange(statistics.probabilities(1).shape[1], dtype=float)[:, None]
        exact = np.exp(statistics.log_densities(support, N_CLUSTERS + 1)).T
        assert_allclose(statistics.probabilities(N_CLUSTERS + 1), exact, rtol=1e-12)
        return
    if example.kind == "cyclic":
        line = np.arange(20_000)[:, None] * (2.0 * np.pi / 20_000)
        density = np.exp(statistics.log_densities(line, N_CLUSTERS + 1)) * (2.0 * np.pi / 20_000)
        vectors = np.exp(1j * line[:, 0]) @ density
        mean, variance = statistics.conditional_moments(np.full((2, 1), np.nan), N_CLUSTERS + 1)
        assert mean.shape == variance.shape == (2, N_CLUSTERS + 1, 1)
        assert_allclose(mean[1, :, 0], np.angle(vectors) % (2.0 * np.pi), rtol=1e-9)
        assert_allclose(variance[1, :, 0], 1.0 - np.abs(vectors), rtol=1e-9, atol=1e-12)
        return
    line = np.concatenate([-np.geomspace(1e9, 1e-6, 60_001), np.geomspace(1e-6, 1e9, 60_001)])
    values = np.vstack([np.full(example.width, np.nan), np.full(example.width, 0.7)])
    values[1, 0] = np.nan
    mean, variance = statistics.conditional_moments(values, 2)
    for row, k in [(0, 0), (0, 1), (1, 0), (1, 1)]:
        for j in np.flatnonzero(np.isnan(values[row])):
            if example.kind == "count":
                points = np.arange(3000, dtype=float)[:, None]
                weights = np.exp(statistics.log_densities(points, k + 1)[:, k])
            else:
                points = np.tile(values[row], (len(line), 1))
                points[:, j] = line
                weights = np.exp(statistics.log_densities(points, k + 1)[:, k]) * np.gradient(line)
            atoms, shares = atoms_of(example, statistics, k)
            weights *= (1.0 - shares.sum()) / weights.sum()
            x, weights = np.append(points[:, j], atoms), np.append(weights, shares)
            assert_allclose(mean[row, k, j], weights @ x, rtol=1e-4, atol=1e-4)
            assert_allclose(variance[row, k, j], weights @ (x - weights @ x) ** 2, rtol=1e-3)
    seen = ~np.isnan(values[1])
    if example.width > 1:
        assert np.all(mean[1][:, seen] == 0.7) and np.all(variance[1][:, seen] == 0.0)


def test_mixed_moments_are_those_of_the_clusters():
    statistics = filled(BY_NAME["gaussian-covariance"])
    values = np.array([[0.4, np.nan, np.nan], [np.nan, -0.2, 0.3], [0.1, 0.5, 0.2], [np.nan] * 3])
    weights = np.array([[0.2, 0.8, 0.0], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.3, 0.3, 0.4]])
    mean, variance = statistics.conditional_moments(values, 3)
    first, second = statistics.mixed_moments(values, weights)
    assert_allclose(first, np.einsum("nk,nkj->nj", weights, mean), rtol=1e-12)
    assert_allclose(second, np.einsum("nk,nkj->nj", weights, variance + mean**2), rtol=1e-12)


@pytest.mark.parametrize("name", ["real", "gaussian"])
def test_moments_of_a_heavy_tail_are_bounded(name):
    example = BY_NAME[name]
    statistics = example.statistics()
    statistics.parameters = {**statistics.parameters, "nu": example.width - 1 + 0.5}
    _, variance = statistics.conditional_moments(np.full((1, example.width), np.nan), 1)
    assert np.isfinite(variance).all() and np.all(variance > 0)


# --- Hyperparameters --------------------------------------------------------------------------------------------

LEARNED = [
    ("real-missing", ("mu",)),
    ("real-missing", ("kappa",)),
    ("real-missing", ("sigma2",)),
    ("real-missing", ("nu",)),
    ("real", ("mu", "kappa", "sigma2", "nu")),
    ("categorical-missing", ("alpha",)),
    ("categorical-unseen", ("alpha",)),
    ("boolean-missing", ("alpha", "beta")),
    ("count-missing", ("shape",)),
    ("count-missing", ("rate",)),
    ("count", ("shape", "rate")),
    ("count-dispersed", ("shape",)),
    ("count-dispersed", ("rate",)),
    ("count-dispersed", ("dispersion",)),
    ("count-dispersed", ("shape", "rate", "dispersion")),
    ("cyclic-missing", ("mu",)),
    ("cyclic-missing", ("kappa",)),
    ("cyclic-missing", ("r",)),
    ("cyclic", ("mu", "kappa", "r")),
    ("semicontinuous-missing", ("alpha",)),
    ("semicontinuous", ("alpha", "mu", "kappa")),
    ("ordinal-missing", ("location",)),
    ("ordinal-missing", ("spread",)),
    ("ordinal-missing", ("free",)),
    ("ordinal-missing", ("mass",)),
    ("ordinal", ("location", "spread", "free", "mass", "cuts")),
    ("gaussian", ("mu",)),
    ("gaussian", ("kappa",)),
    ("gaussian", ("sigma2",)),
    ("gaussian", ("nu",)),
    ("gaussian-missing", ("mu", "kappa", "sigma2", "nu")),
]


def exact_law(example, names, labels, power):
    """Probabilities over the product of the grids, and the grids' axes."""
    grid, axes = product_grid(example.kind, {name: example.grids[name] for name in names})
    n_grid = len(next(iter(grid.values())))
    params = {
        name: grid.get(name, np.broadcast_to(np.asarray(value, float), (n_grid, *np.shape(value))))
        for name, value in example.params.items()
    }
    logs = sum(
        power * reference.log_marginal(example.kind, example.counted[labels == k], params) for k in range(N_CLUSTERS)
    )
    return dict(enumerate(np.exp(logs - logsumexp(logs)))), [length for _, length in axes]


def codes_of(example, names, history, lengths):
    """Place of each state of the hyperparameters in the product of the grids."""
    digits = []
    for name in names:
        values = np.array([example.reference_params(state)[name] for state in history])
        lines = example.grids[name] if values.ndim == 2 else [example.grids[name]]
        for line, column in zip(lines, values.reshape(len(history), -1).T, strict=True):
            digits.append(np.searchsorted(line, column - 1e-9))
    return np.ravel_multi_index(digits, lengths)


@pytest.mark.parametrize("power", quick_only([1.0, 0.4], 0.4))
@pytest.mark.parametrize(("name", "names"), LEARNED, ids=[f"{name}-{'-'.join(names)}" for name, names in LEARNED])
def test_hyperparameters_follow_their_conditional(name, names, power):
    example, rng = BY_NAME[name], np.random.default_rng(7)
    statistics = filled(example, learn=names)
    history = []
    for _ in range(12_000):
        statistics.learn(N_CLUSTERS, rng, power)
        history.append(statistics.parameters)
    law, lengths = exact_law(example, names, LABELS, power)
    codes = codes_of(example, names, history, lengths)
    counts = dict(enumerate(np.bincount(codes, minlength=len(law))))
    floor = noise_floor(law, effective_draws(codes), 0.999, n_replicates=4000, rng=rng)
    assert total_variation(law, counts) <= 1.2 * floor
    # The cached coefficients are those of the last draw.
    params = example.reference_params(statistics.parameters)
    exact = [example.log_marginal(np.flatnonzero(LABELS == k), params) for k in range(N_CLUSTERS)]
    assert_allclose(statistics.log_marginals(N_CLUSTERS), exact, rtol=1e-10, atol=1e-9)
    row = np.flatnonzero((LABELS < 0) & ~example.missing)[0]
    exact = [example.log_predictive(example.scored[row], np.flatnonzero(LABELS == k), params) for k in range(4)]
    assert_allclose(statistics.scores(row, 4), exact, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("power", [1.0, 0.4])
def test_the_beta_of_bags_follows_its_conditional(power):
    example, betas, rng, n_draws = BY_NAME["bag-of-words"], [0.3, 0.6, 0.9, 1.3], np.random.default_rng(7), 4000
    statistics = BagOfWordsStatistics(BagOfWordsData(example.cells), {"beta": 9.0, "n_words": 7}, {"beta": betas})
    statistics.rebuild(LABELS)
    logs = np.array(
        [sum(example.log_marginal(np.flatnonzero(LABELS == k), {"beta": b}) for k in range(N_CLUSTERS)) for b in betas]
    )
    law = dict(zip(betas, np.exp(power * logs - logsumexp(power * logs)), strict=True))
    counts = dict.fromkeys(betas, 0)
    for _ in range(n_draws):
        statistics.learn(N_CLUSTERS, rng, power)
        counts[statistics.parameters["beta"]] += 1
    assert max(law.values()) < 0.95
    assert total_variation(law, counts) <= 1.2 * noise_floor(law, n_draws, 0.999, rng=rng)
    # The cached coefficients are those of the last draw.
    params = {"beta": statistics.parameters["beta"]}
    exact = [example.log_marginal(np.flatnonzero(LABELS == k), params) for k in range(N_CLUSTERS)]
    assert_allclose(statistics.log_marginals(N_CLUSTERS), exact, rtol=1e-10)
    exact = [example.log_predictive(example.scored[20], np.flatnonzero(LABELS == k), params) for k in range(4)]
    assert_allclose(statistics.scores(20, 4), exact, rtol=2e-6)


@examples
def test_without_grids_nothing_is_learned(example):
    statistics = filled(example)
    marginals = statistics.log_marginals(N_CLUSTERS)
    statistics.learn(N_CLUSTERS, np.random.default_rng(8))
    assert np.array_equal(statistics.log_marginals(N_CLUSTERS), marginals)
    for name, value in example.kernel_parameters().items():
        assert np.array_equal(statistics.parameters[name], value)


@pytest.mark.parametrize("name", sorted({name for name, _ in LEARNED}))
def test_without_cells_the_prior_is_uniform(name):
    example, rng = BY_NAME[name], np.random.default_rng(9)
    statistics = example.statistics(learn=True)
    names = tuple(example.grids)
    history = []
    for _ in range(4000):
        statistics.learn(0, rng)
        history.append(statistics.parameters)
    law, lengths = exact_law(example, names, np.full(example.n_rows, -1), 1.0)
    codes = codes_of(example, names, history, lengths)
    assert_allclose(list(law.values()), 1 / len(law))
    floor = noise_floor(law, len(codes), 0.999, rng=rng)
    assert total_variation(law, dict(enumerate(np.bincount(codes)))) <= 1.2 * floor


def test_many_categories_have_their_alphas_redrawn_in_turns():
    n_categories, rng = 20, np.random.default_rng(10)
    data = CategoricalData(rng.integers(n_categories, size=60).astype(np.int8))
    grids = {"alpha": np.tile([0.2, 0.9, 3.0], (n_categories, 1))}
    statistics = CategoricalStatistics(data, {"alpha": np.full(n_categories, 0.5)}, grids)
    statistics.rebuild(np.zeros(60, int))
    statistics.learn(1, rng)
    assert np.flatnonzero(statistics.parameters["alpha"] == 0.5).tolist() == [16, 17, 18, 19]
    statistics.learn(1, rng)
    assert not (statistics.parameters["alpha"] == 0.5).any()


def test_variances_given_many_clusters_are_exact():
    # Each variance is drawn given the last: what is kept of every cluster must follow it.
    labels, rng, n_draws = np.repeat(np.arange(6), 2), np.random.default_rng(11), 30_000
    cells = rng.normal(size=(12, 2)) @ np.array([[0.5, 0.4], [0.0, 0.2]])
    lines = [[0.02, 0.3], [0.02, 0.2]]
    params = {"mu": np.zeros(2), "kappa": 0.8, "sigma2": np.array([0.3, 0.2]), "nu": 4.0}
    statistics = GaussianStatistics(GaussianData(cells), reference.natural_block(params), {"sigma2": np.array(lines)})
    statistics.rebuild(labels)
    grid, _ = product_grid("gaussian", {"sigma2": lines})
    tiled = {name: np.broadcast_to(np.asarray(value), (4, *np.shape(value))) for name, value in params.items()} | grid
    logs = sum(reference.log_marginal("gaussian", cells[labels == k], tiled) for k in range(6))
    law = dict(enumerate(np.exp(logs - logsumexp(logs))))
    codes = np.empty(n_draws, int)
    for i in range(n_draws):
        statistics.learn(6, rng)
        sigma2 = np.diag(statistics.parameters["psi"]) / 3.0
        places = [np.argmin(np.abs(np.subtract(line, value))) for line, value in zip(lines, sigma2, strict=True)]
        codes[i] = np.ravel_multi_index(places, (2, 2))
    floor = noise_floor(law, effective_draws(codes), 0.999, rng=rng)
    assert total_variation(law, dict(enumerate(np.bincount(codes, minlength=4)))) <= 1.2 * floor
