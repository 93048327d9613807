"""Factorial mixtures against loops, brute force and quadrature; bounds that never fall."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import logsumexp

from sklearn_subanneal.factorial.activation_statistics import ActivationStatistics, row_entropies
from sklearn_subanneal.factorial.component_factors import Components
from sklearn_subanneal.factorial.factorial_fit import FactorialRun, fit_factorial, random_activations
from sklearn_subanneal.factorial.factorial_settings import FactorialSettings
from sklearn_subanneal.factorial.factorial_stream import FactorialStream
from sklearn_subanneal.variational import (
    ConstantStep,
    FixedTemperature,
    GlobalTemperature,
    LinearCooling,
    PassFraction,
    RobbinsMonro,
    ScheduledTemperature,
    exponential_temperatures,
)

N, K, D = 12, 3, 4


def example(dtype=np.float64, n=N, n_components=K, n_features=D, seed=0):
    """Rows, activations, components with all parameters different from each other."""
    rng = np.random.default_rng(seed)
    components = Components(
        rng.normal(size=(n_components, n_features)), rng.uniform(0.1, 0.5, n_components), 0.23, 0.7, 1.9
    )
    return rng.normal(size=(n, n_features)).astype(dtype), rng.random((n_components, n)).astype(dtype), components


# --- Against plain loops ------------------------------------------------------------------------------------------


def loop_activate(X, activations, c, rho):
    """One sweep of q(z): the formula of one probability at a time."""
    nu = activations.T.copy()
    logit = np.log(c.activation_probability / (1 - c.activation_probability))
    for n in range(len(X)):
        for k in range(nu.shape[1]):
            rest = X[n] - sum(nu[n, j] * c.means[j] for j in range(nu.shape[1]) if j != k)
            square = c.means[k] @ c.means[k] + X.shape[1] * c.variances[k]
            score = rho * (logit - square / (2 * c.noise_variance) + c.means[k] @ rest / c.noise_variance)
            nu[n, k] = 1 / (1 + np.exp(-score))
    return nu.T


def loop_update(X, activations, c, rho):
    """One cycle through q(mu)."""
    nu, means, variances = activations.T, c.means.copy(), np.empty(len(c.means))
    for k in range(len(means)):
        variances[k] = 1 / (1 / c.component_variance + rho * nu[:, k].sum() / c.noise_variance)
        total = np.zeros(X.shape[1])
        for n in range(len(X)):
            rest = X[n] - sum(nu[n, j] * means[j] for j in range(len(means)) if j != k)
            total += nu[n, k] * rest
        means[k] = variances[k] * rho / c.noise_variance * total
    return means, variances


def loop_bound(X, activations, c, rho):
    """The annealed bound, by enumeration of all z of a row and closed expectations over mu."""
    energy = entropy = 0.0
    p = c.activation_probability
    for n in range(len(X)):
        for z in product((0, 1), repeat=len(c.means)):
            z = np.array(z)
            q = np.prod(np.where(z, activations[:, n], 1 - activations[:, n]))
            rest = X[n] - z @ c.means
            square = rest @ rest + X.shape[1] * (z * c.variances).sum()
            log_joint = -0.5 * X.shape[1] * np.log(2 * np.pi * c.noise_variance) - 0.5 * square / c.noise_variance
            log_joint += (z * np.log(p) + (1 - z) * np.log(1 - p)).sum()
            energy += q * log_joint
            entropy -= q * np.log(q)
    divergence = 0.0
    for k in range(len(c.means)):
        for d in range(X.shape[1]):
            ratio = c.variances[k] / c.component_variance
            divergence += 0.5 * (ratio + c.means[k, d] ** 2 / c.component_variance - 1 - np.log(ratio))
    return rho * energy + entropy - divergence


@pytest.mark.parametrize("rho", [1.0, 0.37])
def test_updates_equal_the_loops(rho):
    X, q, c = example()
    np.testing.assert_allclose(c.activate(X, q, rho), loop_activate(X, q, c, rho), rtol=1e-10)
    twice = loop_activate(X, loop_activate(X, q, c, rho), c, rho)
    np.testing.assert_allclose(c.activate(X, q, rho, 2), twice, rtol=1e-10)
    means, variances = loop_update(X, q, c, rho)
    c.update(ActivationStatistics.of(X, q), rho, cyclic=True)
    np.testing.assert_allclose(c.means, means, rtol=1e-10)
    np.testing.assert_allclose(c.variances, variances, rtol=1e-10)


@pytest.mark.parametrize("loops", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["cyclic", "loops"])
@pytest.mark.parametrize("rho", [1.0, 0.37])
def test_joint_update_is_where_the_cyclic_one_ends(rho, loops):
    X, q, c = example()
    for _ in range(2000):
        if loops:
            c.means, c.variances = loop_update(X, q, c, rho)
        else:
            c.update(ActivationStatistics.of(X, q), rho, cyclic=True)
    _, _, joint = example()
    joint.update(ActivationStatistics.of(X, q), rho)
    np.testing.assert_allclose(joint.means, c.means, rtol=1e-8)
    np.testing.assert_allclose(joint.variances, c.variances, rtol=1e-12)


@pytest.mark.parametrize("rho", [1.0, 0.37])
@pytest.mark.parametrize("n_components", [1, 3])
def test_bound_equals_the_sum_over_all_states(rho, n_components):
    X, q, c = example(n_components=n_components)
    statistics = ActivationStatistics.of(X, q)
    assert c.bound(statistics, rho) == pytest.approx(loop_bound(X, q, c, rho), rel=1e-11)
    rows = c.row_bounds(X, q)
    assert rows.sum() - c.divergence() == pytest.approx(c.bound(statistics), rel=1e-11)
    assert row_entropies(q).sum() == pytest.approx(statistics.entropy)


def test_float32_agrees_with_float64():
    X, q, c = example(n=500)
    single, q32 = X.astype(np.float32), q.astype(np.float32)
    activated = c.activate(single, q32, 0.5, 3)
    assert activated.dtype == np.float32
    np.testing.assert_allclose(activated, c.activate(X, q, 0.5, 3), atol=2e-6)
    np.testing.assert_allclose(
        c.bound(ActivationStatistics.of(single, q32)), c.bound(ActivationStatistics.of(X, q)), rtol=1e-6
    )


def test_sums_of_float32_far_from_zero():
    """The squared error is a small difference of them: here it would be off by more than a tenth."""
    rng = np.random.default_rng(0)
    X = (290.0 + rng.normal(size=(50_000, 4))).astype(np.float32)
    q = rng.random((2, 50_000)).astype(np.float32)
    q[0] = 1.0
    found, exact = (ActivationStatistics.of(X.astype(t), q.astype(t)) for t in (np.float32, np.float64))
    np.testing.assert_allclose(found.sums, exact.sums, rtol=1e-12)
    np.testing.assert_allclose(found.pairs, exact.pairs, rtol=1e-12)
    np.testing.assert_allclose(found.pairs[0, 1], q[1].sum(dtype=np.float64), rtol=1e-12)


def test_entropy_of_certain_rows():
    q = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.5]])
    np.testing.assert_allclose(row_entropies(q), [0.0, 0.0, np.log(2.0)])


# --- Against brute force ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_features", [1, 2])
@pytest.mark.parametrize("n_components", [1, 3])
def test_partition_function_by_quadrature(n_components, n_features):
    """The integral of p(x, z | mu)^(1/T) over x and the sum over z; features are independent given z."""
    rng = np.random.default_rng(1)
    c = Components(rng.normal(size=(n_components, n_features)), np.ones(n_components), 0.3, 0.2, 1.0)
    temperatures = np.array([1.0, 1.7, 6.0])
    expected = []
    for t in temperatures:
        total = 0.0
        for z in product((0, 1), repeat=n_components):
            weight = np.prod([0.3 if active else 0.7 for active in z]) ** (1 / t)
            for d in range(n_features):
                mean = np.array(z) @ c.means[:, d]

                def density(x, mean=mean, t=t):
                    return (np.exp(-((x - mean) ** 2) / 0.4) / np.sqrt(2 * np.pi * 0.2)) ** (1 / t)

                weight *= quad(density, mean - 30, mean + 30, points=[mean], limit=200)[0]
            total += weight
        expected.append(np.log(total))
    np.testing.assert_allclose(c.log_partition(temperatures), expected, atol=1e-7)


def test_temperature_by_brute_force():
    """q(y) is proportional to exp(E log p(X, Z)^(1/T) / C(T)^N), with E over all states of z."""
    X, q, c = example()
    temperatures = exponential_temperatures(3.0, 9)
    statistics = ActivationStatistics.of(X, q)
    energy = loop_bound(X, q, c, 1.0) - loop_bound(X, q, c, 0.0)
    assert c.energy(statistics) == pytest.approx(energy)
    tempering = GlobalTemperature(temperatures, c.log_partition(temperatures), N)
    tempering.update(0.0, c.energy(statistics) / N)
    log_weights = energy / temperatures - N * c.log_partition(temperatures)
    np.testing.assert_allclose(tempering.probabilities, np.exp(log_weights - logsumexp(log_weights)))


def test_bound_is_below_the_evidence():
    """One component in one dimension, two rows: the evidence is a sum over z of Gaussian integrals."""
    X = np.array([[1.4], [0.1]])
    c = Components(np.ones((1, 1)), np.ones(1), 0.4, 0.3, 2.0)
    evidence = []
    for z in product((0, 1), repeat=2):
        z = np.array(z)
        covariance = 0.3 * np.eye(2) + 2.0 * np.outer(z, z)
        x = X[:, 0]
        log_normal = -0.5 * (x @ np.linalg.solve(covariance, x) + np.linalg.slogdet(2 * np.pi * covariance)[1])
        evidence.append(log_normal + z.sum() * np.log(0.4) + (2 - z.sum()) * np.log(0.6))
    q = np.full((1, 2), 0.5)
    for _ in range(100):
        c.update(ActivationStatistics.of(X, q), 1.0)
        q = c.activate(X, q)
    bound = c.bound(ActivationStatistics.of(X, q))
    assert logsumexp(evidence) - 0.5 < bound < logsumexp(evidence)


def test_row_bounds_are_below_the_density():
    X, _, c = example(n=40)
    c.variances[:] = 1e-12
    states = np.array(list(product((0, 1), repeat=K)))
    prior = states.sum(1) * np.log(0.23) + (K - states.sum(1)) * np.log(0.77)
    squares = ((X[:, None] - states @ c.means) ** 2).sum(-1)
    exact = logsumexp(prior - 0.5 * squares / 0.7 - 0.5 * D * np.log(2 * np.pi * 0.7), axis=1)
    bounds = c.row_bounds(X, c.infer(X))
    assert (bounds <= exact + 1e-9).all()
    assert (exact - bounds).mean() < 0.2


# --- Ascent -------------------------------------------------------------------------------------------------------


def planted(n=400, seed=0, noise=0.05, dtype=np.float64):
    rng = np.random.default_rng(seed)
    components = np.kron(np.eye(4), [[1.0, 1.0, 0.0]]) * rng.uniform(0.7, 1.2, (4, 1))
    active = rng.random((n, 4)) < 0.3
    X = active @ components + np.sqrt(noise) * rng.normal(size=(n, 12))
    return X.astype(dtype), components, active


@pytest.mark.parametrize("rho", [1.0, 0.5, 0.2])
@pytest.mark.parametrize("cyclic", [False, True])
@pytest.mark.parametrize("learned", [False, True])
def test_bound_never_falls_at_a_fixed_temperature(rho, cyclic, learned):
    """Not after any single update; also not when parameters are learned."""
    X, _, _ = planted()
    settings = FactorialSettings(4, cyclic=cyclic) if learned else FactorialSettings(4, 0.3, 0.1, 0.5, cyclic)
    q = random_activations(4, len(X), X.dtype, np.random.default_rng(3))
    c, statistics = settings.start(X, q)
    last = c.bound(statistics, rho)
    rises = []
    for _ in range(40):
        c.update(statistics, rho, cyclic)
        rises.append(c.bound(statistics, rho) - last)
        last += rises[-1]
        c.learn(statistics, noise=learned, activation=learned)
        rises.append(c.bound(statistics, rho) - last)
        last += rises[-1]
        q = c.activate(X, q, rho)
        statistics = ActivationStatistics.of(X, q)
        rises.append(c.bound(statistics, rho) - last)
        last += rises[-1]
    assert min(rises) > -1e-8 * abs(last)
    assert max(rises) > 1.0


@pytest.mark.parametrize("step", [None, 0.3])
def test_tempered_bound_never_falls(step):
    """Equation 5, under the updates of q(y), q(mu) and q(z); steps of q(y) towards its optimum raise it, too."""
    X, _, _ = planted()
    grid = exponential_temperatures(6.0, 40)
    q = random_activations(4, len(X), X.dtype, np.random.default_rng(3))

    def make(components, n_rows):
        temperature = GlobalTemperature(grid, components.log_partition(grid), n_rows)
        temperature.heat()
        return temperature

    run = FactorialRun(X, q, FactorialSettings(4, 0.3, 0.05, 0.5), make)
    run.temperature.update(0.0, run.components.energy(run.statistics) / len(X), step)
    bounds, rhos = [run.tempered_bound()], []
    for _ in range(60):
        run.temperature.update(0.0, run.components.energy(run.statistics) / len(X), step)
        bounds.append(run.tempered_bound())
        rhos.append(run.temperature.inverse_temperature)
        run.components.update(run.statistics, rhos[-1])
        bounds.append(run.tempered_bound())
        q = run.components.activate(X, q, rhos[-1])
        run.statistics = ActivationStatistics.of(X, q)
        bounds.append(run.tempered_bound())
    rest = 1e-4 if rhos[-1] == 1.0 else 0.0  # the decrease when q(y) is set to T = 1
    assert np.diff(bounds).min() > -1e-8 * abs(bounds[-1]) - rest
    assert rhos[0] < 0.7 < rhos[-1]


def test_learned_parameters_are_optimal():
    X, q, c = example()
    statistics = ActivationStatistics.of(X, q)
    c.learn(statistics, noise=True, activation=True)
    best = c.bound(statistics, 0.6)
    for name in ("noise_variance", "activation_probability"):
        there = getattr(c, name)
        for factor in (0.9, 1.1):
            setattr(c, name, factor * there)
            assert c.bound(statistics, 0.6) < best
        setattr(c, name, there)


def test_rows_that_are_still_are_left_alone():
    """The same rows give the same probabilities in any company, and those of many sweeps."""
    X, _, _ = planted(n=300)
    c = fit_factorial(
        X, FactorialSettings(4), lambda c, n: FixedTemperature(), np.random.default_rng(0), max_iter=20, tol=0.0
    ).components
    together = c.infer(X)
    apart = np.hstack([c.infer(X[n : n + 1]) for n in range(0, 300, 7)])
    np.testing.assert_allclose(together[:, ::7], apart, atol=1e-9)
    start = np.full((4, 300), 0.4)
    np.testing.assert_allclose(c.activate(X, start, 1.0, 500, 1e-9), c.activate(X, start, 1.0, 500), atol=1e-7)
    assert (start == 0.4).all()


def test_blend_is_a_weighted_mean_for_all_rows():
    X, q, _ = example()
    whole, part = ActivationStatistics.of(X, q), ActivationStatistics.of(X[:3], q[:, :3])
    mixed = whole.blend(part, 0.25, 100)
    assert mixed.n_rows == 100
    np.testing.assert_allclose(mixed.sums, 0.75 * 100 / N * whole.sums + 0.25 * 100 / 3 * part.sums)
    np.testing.assert_allclose(mixed.pairs, 0.75 * 100 / N * whole.pairs + 0.25 * 100 / 3 * part.pairs)
    assert mixed.square == pytest.approx(0.75 * 100 / N * whole.square + 0.25 * 100 / 3 * part.square)


def test_a_minibatch_of_all_rows_with_a_whole_step_is_a_batch():
    """Two ways through the fit, of which one permutes rows: from the second iteration on they only differ in order."""
    X, _, _ = planted()

    def fit(**more):
        settings, generator = FactorialSettings(4, 0.3, 0.1, 0.5), np.random.default_rng(0)
        return fit_factorial(
            X, settings, lambda c, n: FixedTemperature(), generator, max_iter=200, tol=0.0, **more
        ).bound

    assert fit() == pytest.approx(fit(batch_size=len(X) - 1, step_size=PassFraction(50.0, 50.0)), rel=0.02)
    assert fit(batch_size=len(X), step_size=ConstantStep()) == fit()


def test_stream_improves_on_its_first_rows():
    X, truth, _ = planted(n=4000, noise=0.15)
    settings, generator = FactorialSettings(4), np.random.default_rng(0)
    fitted = fit_factorial(
        X[:100], settings, lambda c, n: ScheduledTemperature(LinearCooling(3.0)), generator, max_iter=200, tol=1e-5
    )
    before = fitted.components.means.copy()
    stream = FactorialStream(settings, fitted.components, fitted.statistics)
    for first in range(100, 3000, 100):
        stream, bound = stream.after(X[first : first + 100], RobbinsMonro(1.0, 0.7))
    assert bound == stream.components.bound(stream.statistics)
    np.testing.assert_array_equal(fitted.components.means, before)
    assert stream.statistics.n_rows == 3000

    def error(means):
        return sum(((means - component) ** 2).sum(axis=1).min() for component in truth)

    assert error(stream.components.means) < 0.5 * error(before)
    assert stream.components.noise_variance == pytest.approx(0.15, rel=0.05)


def test_components_are_those_of_temperature_one_whatever_ended_the_fit():
    X, _, _ = planted()
    fitted = fit_factorial(
        X,
        FactorialSettings(4, 0.3, 0.1, 0.5),
        lambda c, n: ScheduledTemperature(LinearCooling(10.0)),
        np.random.default_rng(0),
        max_iter=100,
        tol=0.0,
        tell=lambda record, components: record["sweep"] == 3,
    )
    assert len(fitted.trace) == 4
    assert fitted.trace["inverse_temperature"][-1] < 0.2
    means = fitted.components.means.copy()
    fitted.components.update(fitted.statistics, 1.0)
    np.testing.assert_allclose(fitted.components.means, means)
    assert fitted.bound == fitted.components.bound(fitted.statistics)
