"""Probabilities of intervals: against sums and integrals of the densities, and scipy's multivariate t."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats

from sklearn_subanneal.columns.binding import bind_columns
from sklearn_subanneal.columns.intervals import Interval
from sklearn_subanneal.columns.t_boxes import t_box_probabilities, t_interval_probabilities

N_CLUSTERS = 4


def fitted(kind, cells, **params):
    """The model of a column, and its statistics with the rows in three clusters; the last slot is empty."""
    given = {kind: params} if params else None
    (model,) = bind_columns(["x"], [kind], [0], [cells], covariance_type="diag", feature_params=given)
    statistics = model.statistics(model.data([cells]))
    statistics.rebuild(np.arange(len(cells), dtype=np.int32) % 3)
    return model, statistics


def density(model, statistics, values):
    """Densities (n_values, n_clusters) of cells, in the units of the data."""
    own = model.values([np.asarray(values)])
    logs = statistics.log_densities(own, N_CLUSTERS)
    return np.exp(logs + np.reshape(model.log_jacobian(own), (-1, 1)))


RNG = np.random.default_rng(0)
REALS = {
    "real": (5.0 + 3.0 * RNG.normal(size=60), {}, 5.0, (-7.0, 30.0)),
    "skewed": (np.exp(RNG.normal(size=60)), {"transform": "log"}, 1.0, (1e-3, 400.0)),
    "yeo-johnson": (RNG.normal(size=60) ** 3, {"transform": "yeo-johnson"}, -0.3, (-40.0, 40.0)),
    "cyclic": (RNG.normal(22.0, 3.0, size=60) % 24.0, {"period": 24.0}, 21.0, (0.0, 24.0)),
    "cyclic, concentrated": (RNG.normal(12.0, 0.05, size=60), {"period": 24.0}, 12.02, (11.0, 13.0)),
}


@pytest.mark.parametrize("name", REALS)
def test_reals_against_integrals_of_the_density(name):
    cells, params, middle, ends = REALS[name]
    kind = name.partition(",")[0].replace("yeo-johnson", "skewed")
    model, statistics = fitted(kind, cells, **params)
    for low, high in [(middle, middle + 1.0), (ends[0], middle), (middle, ends[1])]:
        found = model.interval_probabilities(statistics, [Interval(low, high)], N_CLUSTERS)[0]
        grid = np.linspace(low, high, 200_001)
        grid[-1] = np.nextafter(high, low)
        expected = integrate.simpson(density(model, statistics, grid), x=grid, axis=0)
        np.testing.assert_allclose(found, expected, atol=2e-6)


@pytest.mark.parametrize("name", REALS)
def test_the_whole_line_is_sure_and_points_are_impossible(name):
    cells, params, middle, _ = REALS[name]
    model, statistics = fitted(name.partition(",")[0].replace("yeo-johnson", "skewed"), cells, **params)
    parts = Interval(high=middle), Interval(middle, middle, True, True), Interval(low=middle)
    below, point, above = (model.interval_probabilities(statistics, [part], N_CLUSTERS)[0] for part in parts)
    np.testing.assert_allclose(below + above, 1.0, atol=1e-12)
    np.testing.assert_allclose(point, 0.0, atol=1e-15)


@pytest.mark.parametrize(
    "ends", [(2.0, 5.0), (1.7, 5.2), (3.0, 3.0), (3.2, 3.4), (-np.inf, 4.0), (4.0, np.inf)], ids=str
)
@pytest.mark.parametrize("has_low", [True, False])
@pytest.mark.parametrize("has_high", [True, False])
def test_numbers_that_are_rounded_into_an_interval(ends, has_low, has_high):
    interval, numbers = Interval(*ends, has_low, has_high), np.linspace(-1.02, 7.03, 4000)
    wanted = interval.contains(np.rint(numbers))
    np.testing.assert_array_equal(interval.before_rounding().contains(numbers), wanted)


@pytest.mark.parametrize(("kind", "params"), [("real", {}), ("skewed", {"transform": "log"})])
def test_whole_numbers_have_the_probability_of_what_is_rounded_to_them(kind, params):
    model, statistics = fitted(kind, np.rint(np.exp(np.random.default_rng(1).normal(2.0, 0.5, size=60))), **params)
    intervals = [Interval(point, point, True, True) for point in (5.0, 6.0, 7.0)]
    found = model.interval_probabilities(statistics, [*intervals, Interval(5.0, 7.0, True, True)], N_CLUSTERS)
    grid = np.linspace(4.5, 7.5, 30_001)
    expected = integrate.simpson(density(model, statistics, grid), x=grid, axis=0)
    np.testing.assert_allclose(found[:3].sum(axis=0), expected, atol=1e-8)
    np.testing.assert_allclose(found[3], expected, atol=1e-8)


# Cells, the period, and the whole numbers of the column's range.
WHOLE = {
    "weekdays": (np.repeat(np.arange(7.0), [1, 2, 3, 5, 20, 20, 9]), 7.0, np.arange(7.0)),
    "months": (np.repeat(np.arange(1.0, 13.0), [8, 6, 3, 2, 1, 1, 2, 3, 4, 8, 10, 12]), 12.0, np.arange(1.0, 13.0)),
    "around 0": (np.rint(RNG.normal(-1.0, 4.0, 60).clip(-12, 12)), 24.0, np.arange(-12.0, 12.0)),
    "days of years": (RNG.integers(0, 366, 60).astype(float), 365.25, np.arange(366.0)),
    "radians": (RNG.integers(-3, 4, 60).astype(float), 7.2, np.arange(-3.0, 4.0)),
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_on_a_circle_have_the_probability_of_what_is_rounded_to_them(name):
    """Those at the ends of the range are rounded to from both sides: 23.7 of 24 hours is 0, and 0.3 of 12 months 12."""
    cells, period, numbers = WHOLE[name]
    model, statistics = fitted("cyclic", cells, period=period)
    angles = (np.arange(40_000) + 0.5) * (2.0 * np.pi / 40_000)
    (drawn,) = model.typed(angles[:, None])
    np.testing.assert_array_equal(np.unique(drawn), numbers)
    np.testing.assert_array_equal(model.imputed(model.restore(angles[:, None]), None)[:, 0], drawn)

    def distance(one, other):
        return np.abs((one - other + 0.5 * period) % period - 0.5 * period)

    exact = (model.center + angles * period / (2.0 * np.pi))[::20]
    nearest = distance(exact[:, None], numbers).min(axis=1)
    np.testing.assert_allclose(distance(exact, drawn[::20]), nearest, atol=1e-9)
    masses = np.exp(statistics.log_densities(angles[:, None], N_CLUSTERS)) * (2.0 * np.pi / 40_000)
    middle = float(numbers[len(numbers) // 2])
    events = [Interval(one, one, True, True) for one in (*numbers[:3], middle, *numbers[-3:])]
    events += [Interval(high=middle), Interval(middle, np.inf, True), Interval(numbers[0] - 0.4, numbers[0] + 0.7)]
    found = model.interval_probabilities(statistics, events, N_CLUSTERS)
    expected = np.array([masses[event.contains(drawn)].sum(axis=0) for event in events])
    np.testing.assert_allclose(found, expected, atol=1e-3)
    np.testing.assert_allclose(found[7] + found[8], 1.0, atol=1e-9)
    nothing = Interval(middle + 0.2, middle + 0.8), Interval(numbers[-1], 1e3)
    np.testing.assert_allclose(model.interval_probabilities(statistics, nothing, N_CLUSTERS), 0.0, atol=1e-12)


def test_other_cyclic_cells_are_not_rounded():
    for cells, period in ((np.array([0.5, 1.0, 22.0]), 24.0), (np.array([0.0, 5.0, 9.0]), 2.5)):
        model, _ = fitted("cyclic", np.tile(cells, 20), period=period)
        assert model.whole == (False,) and model.typed(np.full((1, 1), 0.4))[0] % 1.0 > 0.0


def test_below_the_domain_of_a_logarithm():
    model, statistics = fitted("skewed", np.exp(RNG.normal(size=60)), transform="log")
    below, whole = (Interval(-3.0, 0.0, True, True), Interval(low=-3.0))
    assert not model.interval_probabilities(statistics, [below], N_CLUSTERS)[0].any()
    np.testing.assert_allclose(model.interval_probabilities(statistics, [whole], N_CLUSTERS)[0], 1.0)


@pytest.mark.parametrize(
    ("interval", "included"),
    [
        (Interval(high=2.0), [0, 1]),
        (Interval(high=2.0, has_high=True), [0, 1, 2]),
        (Interval(1.0, 4.0), [2, 3]),
        (Interval(1.0, 4.0, True, True), [1, 2, 3, 4]),
        (Interval(0.5, 3.5, True, True), [1, 2, 3]),
        (Interval(2.0, 2.0, True, True), [2]),
        (Interval(2.5, 2.5, True, True), []),
        (Interval(-4.0, 0.0, True, False), []),
        (Interval(low=3.0), range(4, 4000)),
    ],
    ids=str,
)
def test_counts_against_sums(interval, included):
    model, statistics = fitted("count", RNG.poisson(3.0, 60).astype(np.int32))
    found = model.interval_probabilities(statistics, [interval], N_CLUSTERS)[0]
    expected = density(model, statistics, np.array(included, np.int32)).sum(axis=0) if len(included) else 0.0
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("limits", [(-3.0, 6.0), (2.0, 4.0), (40.0, 47.0)], ids=str)
@pytest.mark.parametrize("dispersion", [0.0, 0.25])
def test_counts_between_limits_have_the_probabilities_of_the_part(dispersion, limits):
    """Of those beyond 40, hardly any count is among twenty."""
    cells = np.random.default_rng(0).poisson(3.0, 60).astype(np.int32)
    model, statistics = fitted("count", cells, dispersion=dispersion)
    model, n = replace(model, drawn_between=np.array(limits)[:, None]), 3000
    possible = np.arange(max(limits[0], 0.0), limits[1] + 1.0)
    masses = density(model, statistics, possible.astype(np.int32))[:, 1]
    drawn = model.draws_between(statistics, np.ones(n, np.int32), np.random.default_rng(1))[:, 0]
    seen = np.array([np.count_nonzero(drawn == one) for one in possible])
    assert seen.sum() == n
    assert stats.chisquare(seen, n * masses / masses.sum()).pvalue > 1e-3


def test_counts_between_limits_that_are_far_away_are_the_nearest():
    model, statistics = fitted("count", np.full(60, 3, np.int32) + np.arange(60, dtype=np.int32) % 2, dispersion=0.0)
    model = replace(model, drawn_between=np.array([[100_000.0], [100_010.0]]))
    generator = np.random.default_rng(0)
    assert (model.draws_between(statistics, np.zeros(3, np.int32), generator) == 100_000.0).all()
    model, statistics = fitted("count", np.full(60, 90_000, np.int32), shape=1.0, rate=1e-5, dispersion=0.0)
    model = replace(model, drawn_between=np.array([[-9.0], [10.0]]))
    assert (model.draws_between(statistics, np.zeros(3, np.int32), generator) == 10.0).all()


@pytest.mark.parametrize("dispersion", [0.25, 2.0])
def test_dispersed_counts_against_sums(dispersion):
    model, statistics = fitted("count", RNG.poisson(3.0, 60).astype(np.int32), dispersion=dispersion)
    masses = density(model, statistics, np.arange(300_000, dtype=np.int32))
    within = [(Interval(high=0.0, has_high=True), slice(0, 1)), (Interval(1.5, 40.0), slice(2, 40))]
    within += [(Interval(700.0, 8192.0, True, True), slice(700, 8193)), (Interval(-3.0, 0.0), slice(0, 0))]
    # Too many to sum all of them.
    within += [(Interval(5.0, 299_999.0), slice(6, 299_999)), (Interval(120.0, 250_000.0), slice(121, 250_000))]
    for interval, included in within:
        found = model.interval_probabilities(statistics, [interval], N_CLUSTERS)[0]
        np.testing.assert_allclose(found, masses[included].sum(axis=0), rtol=1e-8, atol=1e-15)
    # An end without a limit has the rest; several intervals at once are those one by one.
    parts = [Interval(low=11.0), Interval(high=11.0, has_high=True), Interval(2.0, 5.0)]
    found = model.interval_probabilities(statistics, parts, N_CLUSTERS)
    np.testing.assert_allclose(found[0] + found[1], 1.0, atol=1e-12)
    alone = [model.interval_probabilities(statistics, [part], N_CLUSTERS)[0] for part in parts]
    np.testing.assert_allclose(found, alone, rtol=1e-12)


@pytest.mark.parametrize("dispersion", [1e-6, 1e-4])
def test_large_counts_with_a_narrow_peak_against_sums(dispersion):
    # Nodes that are spread over all counts would miss the peak.
    cells = np.random.default_rng(0).poisson(1e6, 60).astype(np.int32)
    model, statistics = fitted("count", cells, dispersion=dispersion)
    values = np.arange(900_000, 1_100_001, dtype=np.int32)
    # Of the clusters with rows; before it knows any, the peak is wide.
    masses = density(model, statistics, values)[:, :3]
    np.testing.assert_allclose(masses.sum(axis=0), 1.0, atol=1e-5)
    ends = [1e6, 1.002e6, 1e7, 1e30, 1e300]
    found = model.interval_probabilities(statistics, [Interval(high=end) for end in ends], N_CLUSTERS)[:, :3]
    expected = [masses[values < end].sum(axis=0) for end in ends]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    between = model.interval_probabilities(statistics, [Interval(0.999e6, 1e6), Interval(low=1e6)], N_CLUSTERS)[:, :3]
    expected = [masses[(values > 0.999e6) & (values < 1e6)].sum(axis=0), masses[values > 1e6].sum(axis=0)]
    np.testing.assert_allclose(between, expected, atol=1e-5)


def test_the_widest_counts_are_sure_below_a_huge_end():
    for params in ({"shape": 1e-12, "rate": 1e-12, "dispersion": 1e12}, {"shape": 0.01, "rate": 1e-3}):
        model, statistics = fitted("count", RNG.poisson(3.0, 60).astype(np.int32), **params)
        found = model.interval_probabilities(statistics, [Interval(high=1e300)], N_CLUSTERS)
        np.testing.assert_allclose(found, 1.0, atol=1e-6)
        found = model.interval_probabilities(statistics, [Interval(1e20, 1e300), Interval(low=1e200)], N_CLUSTERS)
        np.testing.assert_allclose(found, 0.0, atol=1e-6)


def test_semicontinuous_has_its_atoms():
    cells = np.where(RNG.random(60) < 0.4, 0.0, 2.0 + RNG.normal(size=60))
    model, statistics = fitted("semicontinuous", cells, atoms=[0.0, 9.0])
    atoms = density(model, statistics, [0.0, 9.0])
    grid = np.linspace(-5.0, 12.0, 200_000)
    rest = density(model, statistics, grid)
    for interval in (Interval(0.0, 9.0), Interval(0.0, 9.0, True, True), Interval(-1.0, 3.0), Interval(8.0, 10.0)):
        at = (grid > interval.low) & (grid < interval.high)
        expected = interval.contains([0.0, 9.0]) @ atoms + integrate.trapezoid(rest[at], x=grid[at], axis=0)
        found = model.interval_probabilities(statistics, [interval], N_CLUSTERS)[0]
        np.testing.assert_allclose(found, expected, atol=2e-4)
    np.testing.assert_allclose(model.interval_probabilities(statistics, [Interval()], N_CLUSTERS)[0], 1.0)


def test_upper_tails_are_not_lost():
    lower = t_interval_probabilities(0.0, 1.0, 100.0, -30.0, -25.0)
    assert 0.0 < lower < 1e-30
    assert t_interval_probabilities(0.0, 1.0, 100.0, 25.0, 30.0) == lower


@pytest.mark.parametrize("correlation", [-0.99, 0.0, 0.6, 0.99])
@pytest.mark.parametrize("free", [0.7, 4.0, 300.0])
def test_boxes_of_two_coordinates(correlation, free):
    """Against an integral over the first coordinate of the conditional probability of the second."""
    low, high = np.array([0.2, -0.5]), np.array([1.5, 0.8])

    def integrand(x):
        spread = np.sqrt((free + x * x) / (free + 1.0) * (1.0 - correlation**2))
        ends = (high[1] - correlation * x) / spread, (low[1] - correlation * x) / spread
        return stats.t.pdf(x, free) * np.subtract(*stats.t.cdf(ends, free + 1.0))

    expected = sum(integrate.quad(integrand, a, a + 0.1, epsabs=1e-13)[0] for a in np.arange(0.2, 1.45, 0.1))
    scale, center = np.array([[1.0, correlation], [correlation, 1.0]]), np.array([2.0, -1.0])
    units = np.array([3.0, 0.5])
    found = t_box_probabilities(
        center[None],
        (scale * np.outer(units, units))[None],
        np.array([free]),
        center + units * low,
        center + units * high,
    )
    assert found[0] == pytest.approx(expected, abs=1e-8)


def test_boxes_of_four_coordinates():
    rng = np.random.default_rng(2)
    root = rng.normal(size=(2, 4, 4))
    scale, free = root @ root.transpose(0, 2, 1), np.array([3.0, 40.0])
    location, low, high = (
        rng.normal(size=(2, 4)),
        np.array([-1.0, -np.inf, -2.0, 0.0]),
        np.array([np.inf, 1.0, 2.0, 3.0]),
    )
    found = t_box_probabilities(location, scale, free, low, high)
    for i in range(2):
        expected = stats.multivariate_t.cdf(
            high, location[i], scale[i], free[i], lower_limit=low, maxpts=400_000, random_state=0
        )
        assert found[i] == pytest.approx(expected, abs=3e-4)
    whole = np.full(4, np.inf)
    np.testing.assert_allclose(t_box_probabilities(location, scale, free, -whole, whole), 1.0, rtol=1e-12)
