"""The elementary functions and the variates of ``_core`` against extended precision and exact distributions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from sklearn_subanneal._core import _special

FUNCTIONS32 = {"log": _special.log_float, "log1p": _special.log1p_float, "exp": _special.exp_float}
# Of the true functions, good to 1e-18 where numpy's long double has 64 bits of mantissa.
EXTENDED = np.finfo(np.longdouble).nmant >= 63
extended = pytest.mark.skipif(not EXTENDED, reason="long double is no wider than double here")


def ulps(values, truth, dtype):
    """Errors in units of the last place of the true values."""
    return np.abs(values - truth) / np.spacing(np.abs(truth).astype(dtype))


def log_gamma_extended(x):
    """log Gamma by Stirling's series at x + 24, in long double."""
    x = np.asarray(x, np.longdouble)
    z = x + 24
    ratios = [(1, 12), (-1, 360), (1, 1260), (-1, 1680), (1, 1188), (-691, 360360), (1, 156)]
    series = sum(np.longdouble(p) / q / z ** (2 * i + 1) for i, (p, q) in enumerate(ratios))
    half_log_two_pi = np.log(np.longdouble(8) * np.arctan(np.longdouble(1))) / 2
    return (z - np.longdouble(0.5)) * np.log(z) - z + half_log_two_pi + series - sum(np.log(x + i) for i in range(24))


def arguments32(name, rng):
    if name == "log":
        x = [np.exp(rng.uniform(-87, 88, 100_000)), rng.uniform(0.5, 2.0, 100_000), np.nextafter(np.float32(1), [0, 2])]
    elif name == "log1p":
        x = [
            rng.uniform(-0.49999, 4, 100_000),
            np.exp(rng.uniform(-80, 87, 100_000)),
            -np.exp(rng.uniform(-80, -1, 9999)),
        ]
    else:
        x = [-rng.uniform(0, 87, 200_000), -np.exp(rng.uniform(-20, 4, 10_000)), [0.0, -87.0]]
    return np.concatenate(x).astype(np.float32)


@pytest.mark.parametrize(("name", "bound"), [("log", 1.0), ("log1p", 2.0), ("exp", 1.5)])
def test_float32_functions(name, bound):
    x = arguments32(name, np.random.default_rng(0))
    truth = getattr(np, name)(x.astype(np.float64))
    assert ulps(FUNCTIONS32[name](x).astype(np.float64), truth, np.float32).max() <= bound


def test_float32_functions_where_they_are_exact():
    assert _special.log_float(np.array([1.0], np.float32)) == 0.0
    assert _special.log1p_float(np.array([0.0], np.float32)) == 0.0
    assert _special.exp_float(np.array([0.0], np.float32)) == 1.0


def test_exp_float_is_held_at_its_floor():
    low = _special.exp_float(np.array([-87.0, -88.0, -1e30], np.float32))
    assert low[0] > np.finfo(np.float32).tiny
    assert (low == low[0]).all()


@extended
@pytest.mark.parametrize(
    ("name", "draw"),
    [
        ("log", lambda rng: np.exp(rng.uniform(-700, 700, 100_000))),
        ("log", lambda rng: rng.uniform(0.5, 2.0, 100_000)),
        ("exp", lambda rng: rng.uniform(-700, 699.99, 100_000)),
        ("exp", lambda rng: rng.normal(0, 1, 100_000)),
    ],
)
def test_float64_functions(name, draw):
    x = draw(np.random.default_rng(1))
    assert ulps(_special.evaluate(name, x), getattr(np, name)(x.astype(np.longdouble)), np.float64).max() <= 2.0


def test_exp_double_flushes_what_is_too_small():
    assert _special.evaluate("exp", np.array([-700.5, -1e300, -np.inf])).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("span", [(-690.0, -30.0), (-30.0, 30.0), (30.0, 1e6)])
def test_softplus(span):
    x = np.random.default_rng(4).uniform(*span, 20_000)
    np.testing.assert_allclose(_special.evaluate("softplus", x), np.logaddexp(0.0, x), rtol=2e-15)


@extended
@pytest.mark.parametrize("span", [(-600, -2), (-2, 2.3), (2.3, 5), (5, 10), (10, 30)])
def test_log_gamma(span):
    x = np.exp(np.random.default_rng(2).uniform(*span, 50_000))
    truth = log_gamma_extended(x)
    assert np.all(np.abs(_special.evaluate("log_gamma", x) - truth) <= 2e-14 + 7e-16 * np.abs(truth))


def test_log_gamma_at_known_points():
    x = np.array([0.5, 1.0, 2.0, 5.0, 171.0])
    known = [0.5 * np.log(np.pi), 0.0, 0.0, np.log(24.0), np.log(np.arange(1, 171, dtype=float)).sum()]
    np.testing.assert_allclose(_special.evaluate("log_gamma", x), known, rtol=3e-15, atol=2e-14)


@extended
def test_gamma_ratio():
    nu = np.exp(np.random.default_rng(3).uniform(np.log(32), np.log(1e6), 50_000))
    truth = log_gamma_extended((nu + 1) / 2) - log_gamma_extended(nu / 2)
    assert np.abs(_special.evaluate("gamma_ratio", nu) - truth).max() <= 2e-10


@pytest.mark.parametrize("span", [(-30.0, 2.9), (2.9, 3.1), (3.1, 700.0)])
def test_bessel(span):
    x = np.exp(np.random.default_rng(11).uniform(*span, 50_000))
    # Of I0 itself the error is relative.
    assert np.abs(_special.evaluate("log_bessel_scaled", x) - np.log(special.i0e(x))).max() <= 1e-14
    exact = np.log(special.i0e(x)) + x
    assert np.all(np.abs(_special.evaluate("log_bessel", x) - exact) <= 2e-15 + 4e-16 * exact)


def test_bessel_at_its_ends():
    x = np.array([0.0, 5e-324, 1e-160, 20.0, np.nextafter(20.0, 0.0), 1e300])
    exact = np.array([0.0, 0.0, 0.0, *np.log(special.i0e(x[3:5])), -0.5 * np.log(2 * np.pi * 1e300)])
    np.testing.assert_allclose(_special.evaluate("log_bessel_scaled", x), exact, rtol=1e-15, atol=1e-159)


@extended
def test_angles():
    angles = np.random.default_rng(12).uniform(-7.0, 7.0, 50_000)
    angles = np.concatenate([angles, np.arange(-8, 9) * (np.pi / 4), [5e-324, -5e-324]])
    vectors = _special.unit_vectors(angles)
    exact = np.column_stack([f(angles.astype(np.longdouble)) for f in (np.cos, np.sin)])
    assert np.abs(vectors - exact).max() <= 1.2e-15
    scale = np.exp(np.random.default_rng(13).uniform(-200, 200, len(angles)))
    found = _special.directions(vectors * scale[:, None])
    assert np.all((found >= 0.0) & (found < 2 * np.pi))
    assert np.abs((found - angles + np.pi) % (2 * np.pi) - np.pi).max() <= 3e-15


def test_directions_on_the_axes():
    axes = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 3.0], [-1.0, 0.0], [0.0, -1.0], [1.0, -1e-300], [-0.0, 0.0]])
    quarters = _special.directions(axes) / (np.pi / 2)
    np.testing.assert_allclose(quarters, [0.0, 0.0, 1.0, 2.0, 3.0, 0.0, 0.0], atol=1e-15)


# --- Variates ---------------------------------------------------------------------------------------------------

N_DRAWS = 40_000


def test_normal_variates():
    draws = _special.variates("normal", 2.0, N_DRAWS, np.random.default_rng(4))
    assert stats.kstest(draws, stats.norm(scale=2.0).cdf).pvalue > 1e-3
    # One of each pair is dropped: neighbours must not know of one another.
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 4 / np.sqrt(N_DRAWS)
    assert abs(np.corrcoef(draws[:-1] ** 2, draws[1:] ** 2)[0, 1]) < 4 / np.sqrt(N_DRAWS)


@pytest.mark.parametrize("shape", [1e-3, 0.05, 0.3, 0.999, 1.0, 2.5, 40.0, 1e5])
def test_log_gamma_variates(shape):
    draws = _special.variates("log_gamma", shape, N_DRAWS, np.random.default_rng(5))
    assert np.isfinite(draws).all()
    assert stats.kstest(draws, stats.loggamma(shape).cdf).pvalue > 1e-3


@pytest.mark.parametrize("mean", [0.02, 1.0, 9.99, 10.0, 30.0, 400.0, 1e6])
def test_poisson_variates(mean):
    rng = np.random.default_rng(6)
    draws = _special.variates("poisson", mean, N_DRAWS, rng)
    assert np.array_equal(draws, np.floor(draws)) and draws.min() >= 0
    # A uniform between the two values of the distribution function makes a continuous test of a discrete law.
    law = stats.poisson(mean)
    below = law.cdf(draws - 1)
    assert stats.kstest(below + rng.random(N_DRAWS) * (law.cdf(draws) - below), "uniform").pvalue > 1e-3


def test_poisson_of_mean_zero():
    assert not _special.variates("poisson", 0.0, 100, np.random.default_rng(7)).any()


@pytest.mark.parametrize("concentration", [0.0, 0.1, 0.69, 0.7, 2.0, 30.0, 1e4, 1e10])
def test_von_mises_variates(concentration):
    draws = _special.variates("von_mises", concentration, N_DRAWS, np.random.default_rng(9))
    assert np.abs(draws).max() <= np.pi
    # SciPy has no concentration 0, nor accurate ones that are as high.
    law = stats.vonmises(concentration) if 0 < concentration < 1e6 else stats.norm(scale=1e-5)
    law = law if concentration else stats.uniform(-np.pi, 2 * np.pi)
    assert stats.kstest(draws, law.cdf).pvalue > 1e-3


@pytest.mark.parametrize("concentration", [0.3, 0.7, 1.5, 6.0, 200.0])
def test_von_mises_variates_have_the_exact_mean_cosine(concentration):
    """The constants of the proposal and of its acceptance belong together: either alone bends the law a little."""
    n = 400_000
    cosine = np.cos(_special.variates("von_mises", concentration, n, np.random.default_rng(10)))
    # E cos z = I1 / I0 = a, and E cos^2 z = 1 - a / concentration. 4.5 standard errors: seven in a million go beyond.
    mean = special.i1e(concentration) / special.i0e(concentration)
    variance = 1.0 - mean / concentration - mean**2
    assert abs(cosine.mean() - mean) < 4.5 * np.sqrt(variance / n)


def test_variates_depend_on_nothing_but_the_bits():
    for name in ("normal", "log_gamma", "poisson", "von_mises"):
        one, two = (_special.variates(name, 3.0, 50, np.random.default_rng(8)) for _ in range(2))
        assert np.array_equal(one, two)
