"""Tied values: an increasing function with the right slope, evenly spread cells, and no stretch that is chance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from sklearn_subanneal.columns.tied_values import FEWEST, TiedValues, spread_ties
from sklearn_subanneal.columns.transforms import IDENTITY, Logarithm, YeoJohnson

RNG = np.random.default_rng(0)
GRADES = RNG.choice([0.0, 1.0, 2.0, 5.0], size=200, p=[0.5, 0.2, 0.2, 0.1])
# Prices: a few are common, with rare ones close to them.
PRICES = RNG.permutation(
    np.concatenate([RNG.lognormal(3.0, 1.0, 300), np.repeat([7.75, 7.9, 8.05, 13.0, 26.0], 50), [7.74, 8.06, 12.99]])
)
BASES = {"identity": IDENTITY, "log": Logarithm(), "yeo-johnson": YeoJohnson(0.5, 10.0, 5.0)}


def jittered(transform, cells, seed=0):
    return transform.jittered(transform.forward(cells), np.random.default_rng(seed))


@pytest.mark.parametrize("name", BASES)
def test_a_density_of_images_is_one_of_cells(name):
    """The slope is the derivative, and the density of a normal of images has the integral 1."""
    transform = spread_ties(BASES[name], PRICES)
    assert isinstance(transform, TiedValues) and (transform.images != transform.knots).any()
    x = np.unique(np.concatenate([np.geomspace(1e-6, 1e7, 100_001), np.linspace(7.0, 27.0, 100_001)]))
    images = transform.forward(x)
    middles = 0.5 * (x[1:] + x[:-1])
    log_slope = transform.log_slope(transform.forward(middles))
    with np.errstate(divide="ignore"):
        numerical = np.log(np.diff(images) / np.diff(x))
    # Steps in which a knot lies have no one slope, and in the interval of a value it is that of the whole interval.
    at = np.searchsorted(transform.base.forward(x), transform.knots)
    inside = [np.arange(*ends) for ends in zip(at[transform.starts] - 1, at[transform.starts + 2] + 1, strict=True)]
    smooth = np.setdiff1d(np.flatnonzero((middles > 1.0) & (middles < 100.0)), np.concatenate([at - 1, *inside]))
    np.testing.assert_allclose(log_slope[smooth], numerical[smooth], atol=1e-3)
    center, scale = np.mean(images), 2.0 * np.std(transform.forward(PRICES))
    mass = np.sum(norm.pdf(transform.forward(middles), center, scale) * np.exp(log_slope) * np.diff(x))
    ends = norm.cdf(images[[0, -1]], center, scale)
    assert abs(mass - np.diff(ends)[0]) < 1e-4


@pytest.mark.parametrize("name", BASES)
def test_the_inverse_is_one(name):
    transform = spread_ties(BASES[name], PRICES)
    x = np.concatenate([PRICES, RNG.uniform(0.1, 300.0, 1000)])
    np.testing.assert_allclose(transform.inverse(transform.forward(x)), x, rtol=1e-9)
    assert transform.lowest == BASES[name].lowest


def test_images_ascend_and_ends_stay():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        few, digits = rng.integers(2, 40), rng.integers(0, 3)
        values = rng.normal(size=few).round(digits) * 10.0 ** rng.integers(-3, 4)
        cells = np.concatenate([rng.choice(values, rng.integers(10, 300)), rng.normal(size=rng.integers(0, 60))])
        transform = spread_ties(IDENTITY, cells)
        if isinstance(transform, TiedValues):
            assert (np.diff(transform.knots) > 0.0).all() and (np.diff(transform.images) > 0.0).all()
            np.testing.assert_array_equal(transform.images[[0, -1]], transform.knots[[0, -1]])
            np.testing.assert_allclose(transform.knots[transform.starts + 1], transform.tied, atol=1e-5 * np.ptp(cells))


def test_common_values_are_no_longer_far_denser_than_others():
    """Cells of 8.05 had a range of .02 that others would have had to share; and no cell moves further than its span."""
    transform = spread_ties(IDENTITY, PRICES)
    start = transform.starts[list(transform.tied).index(8.05)]
    before, after = (ends[start + 2] - ends[start] for ends in (transform.knots, transform.images))
    low, high = np.quantile(PRICES, [0.1, 0.9])
    span = 0.05 * (high - low) / 0.8
    assert before < 0.02 * span and 0.2 * span < after <= span
    assert np.abs(transform.forward(PRICES) - PRICES).max() <= span


def test_rounding_is_not_stretched():
    """Some integers are more frequent than their neighbours by chance: new cells would not follow."""
    transform = spread_ties(IDENTITY, RNG.normal(0.0, 15.0, 500).round())
    assert len(transform.tied) > 20
    np.testing.assert_array_equal(transform.images, transform.knots)


def test_stretches_predict_cells_that_were_not_seen():
    """Where values are tied, the density of new cells grows by the slope; where they are rounded, it does not fall."""
    for draw, least in ((lambda n: RNG.choice(PRICES, n), 0.2), (lambda n: RNG.normal(0.0, 15.0, n).round(), 0.0)):
        transform = spread_ties(IDENTITY, draw(500))
        new = draw(2000)
        assert np.mean(transform.log_slope(transform.forward(new))) >= least


@pytest.mark.parametrize("seed", [0, 3, 5])
def test_slopes_without_a_cell_are_those_of_a_column_that_has_not_got_it(seed):
    """On average over cells: without one, other spans change a little, too."""
    rng = np.random.default_rng(seed)
    cells = np.concatenate([rng.integers(10, size=60), 100.0 + rng.integers(10, size=60), rng.normal(50.0, 5.0, 30)])
    transform = spread_ties(IDENTITY, cells)
    assert (transform.images != transform.knots).any()
    images = transform.forward(cells)
    with_it, losses = transform.log_slope(images), transform.left_out_loss(images)
    without_it = np.empty(len(cells))
    for row, cell in enumerate(cells):
        others = spread_ties(IDENTITY, np.delete(cells, row))
        without_it[row] = others.log_slope(others.forward(np.array([cell])))[0]
    assert losses.mean() < -0.08
    assert (with_it + losses).mean() == pytest.approx(without_it.mean(), abs=0.03)
    assert with_it.mean() > without_it.mean() + 0.06


def test_a_column_that_is_not_stretched_loses_nothing():
    transform = spread_ties(IDENTITY, np.repeat(np.arange(40.0), 6))
    np.testing.assert_array_equal(transform.left_out_loss(transform.images), 0.0)


def test_each_cell_is_nearest_to_its_own_value():
    transform = spread_ties(IDENTITY, GRADES)
    values, spread = np.unique(GRADES), transform.inverse(jittered(transform, GRADES))
    np.testing.assert_array_equal(values[np.abs(spread[:, None] - values).argmin(axis=1)], GRADES)
    assert len(np.unique(spread)) == 200


@pytest.mark.parametrize("cells", [GRADES, PRICES], ids=["grades", "prices"])
def test_cells_are_spaced_evenly_over_the_image_of_the_interval(cells):
    transform = spread_ties(IDENTITY, cells)
    out = jittered(transform, cells)
    for start, value in zip(transform.starts, transform.tied, strict=True):
        spread, (low, high) = np.sort(out[cells == value]), transform.images[[start, start + 2]]
        n = len(spread)
        assert n >= FEWEST
        np.testing.assert_allclose(spread, low + (np.arange(n) + 0.5) / n * (high - low))
    rare = ~np.isin(cells, transform.tied)
    np.testing.assert_array_equal(out[rare], transform.forward(cells[rare]))


def test_draws_in_the_image_of_an_interval_are_the_value():
    transform = spread_ties(Logarithm(), PRICES)
    out = jittered(transform, PRICES)
    snapped = transform.snapped(out, transform.inverse(out))
    tied = np.isin(PRICES, transform.tied)
    np.testing.assert_array_equal(snapped[tied], PRICES[tied])
    np.testing.assert_allclose(snapped, PRICES)
    np.testing.assert_array_equal(transform.snapped(np.array([-9.0, 99.0]), np.array([1.0, 2.0])), [1.0, 2.0])


def test_the_order_does_not_follow_the_rows():
    cells = np.repeat([0.0, 1.0], 500)
    spread = jittered(spread_ties(IDENTITY, cells), cells)[:500]
    assert abs(np.corrcoef(spread, np.arange(500))[0, 1]) < 0.15


def test_distinct_and_rare_values_and_gaps_stay():
    assert spread_ties(IDENTITY, RNG.normal(size=200)) is IDENTITY
    for cells in (np.full(5, 3.0), np.full(5, np.nan), np.empty(0), np.repeat([1.0, 2.0, 3.0], 4)):
        assert spread_ties(IDENTITY, cells) is IDENTITY
    cells = np.append(GRADES[:100], [7.25, 7.25, 7.25, 7.25, np.nan])
    transform = spread_ties(IDENTITY, cells)
    np.testing.assert_array_equal(jittered(transform, cells)[-5:], transform.forward(cells[-5:]))


def test_numbers_that_differ_by_rounding_are_one_value():
    cells = np.concatenate([np.repeat([0.3, 0.1 + 0.2], 20), RNG.normal(size=60)])
    transform = spread_ties(IDENTITY, cells)
    assert len(transform.tied) == 1 and np.isfinite(transform.log_slope(transform.forward(cells))).all()


def test_the_density_at_a_value_is_the_probability_of_its_image_spread_over_its_interval():
    transform = spread_ties(IDENTITY, PRICES)
    starts = transform.starts
    lengths = (ends[starts + 2] - ends[starts] for ends in (transform.images, transform.knots))
    images = transform.forward(transform.tied)
    np.testing.assert_allclose(transform.log_slope(images), np.log(np.divide(*lengths)))
    np.testing.assert_allclose(images, 0.5 * (transform.images[starts] + transform.images[starts + 2]))


@pytest.mark.parametrize("values", [[0.0, 1.0, 10.0], [0.0, 9.0, 10.0]])
def test_jittered_cells_have_their_value_as_mean(values):
    """Also where a value is much nearer to the one neighbour than to the other, stretched or not."""
    cells = np.repeat(values, 40)
    transform = spread_ties(IDENTITY, cells)
    spread = jittered(transform, cells)
    for value in values:
        assert abs(np.mean(spread[cells == value]) - transform.forward(value)) < 1e-9


def test_the_common_one_of_equal_numbers_is_the_value():
    cells = np.concatenate([[8.05 - 1e-15], np.full(100, 8.05), RNG.normal(10.0, 2.0, 100)])
    assert 8.05 in spread_ties(IDENTITY, cells).tied


def test_distinct_cells_of_a_long_column_are_not_tied():
    assert spread_ties(IDENTITY, RNG.normal(size=1_000_000)) is IDENTITY


@pytest.mark.parametrize(
    "cells",
    [
        np.repeat([0.3, 0.1 + 0.2, 5.0], [200, 100, 20]),
        np.append(np.repeat([1.0, 1.0 + 2.3e-16], [100, 5]), [2.0] * 8),
        1e9 + 1e-5 * RNG.integers(0, 20, 300),
        1e-322 * RNG.integers(0, 5, 100),
        np.concatenate([np.zeros(850), RNG.uniform(1.0, 1000.0, 149).round(), [1e9]]),
    ],
    ids=["rounding", "ulp", "offset", "tiny", "zeros and one far away"],
)
def test_hostile_columns(cells):
    transform = spread_ties(IDENTITY, cells)
    assert np.isfinite(transform.forward(cells)).all()
    assert np.isfinite(transform.log_slope(transform.forward(cells)) + np.zeros(len(cells))).all()
