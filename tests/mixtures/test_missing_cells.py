"""Missing cells: of one column, drawn together as from an urn; of new rows, by the conditional of the density."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from support.view_draws import make_draw

from sklearn_subanneal.columns.binding import bind_columns
from sklearn_subanneal.mixtures.missing_cells import drawn_in_turn, filled_by_draws, spread_draws
from sklearn_subanneal.views.views_predictive import ensemble_of_views

LABELS = np.array([0, 0, 1, 1, 1, 0, 2, 1], np.int32)
CELLS = {
    "real": np.array([0.3, -1.2, 2.0, np.nan, np.nan, 0.1, np.nan, 1.1]),
    "categorical": np.array([0, 1, 2, -1, -1, 1, -1, 2], np.int8),
    "boolean": np.array([0, 1, 1, -1, -1, 1, -1, 1], np.int8),
    "count": np.array([0, 3, 2, -1, -1, 1, -1, 9], np.int32),
    "ordinal": np.array([0, 1, 2, -1, -1, 1, -1, 2], np.int8),
    "cyclic": np.array([0.3, 1.2, 2.0, np.nan, np.nan, 0.1, np.nan, 1.1]),
    "semicontinuous": np.array([0.0, 0.0, 2.0, np.nan, np.nan, 0.0, np.nan, 1.1]),
    "skewed": np.array([0.2, 0.7, 2.0, np.nan, np.nan, 0.1, np.nan, 9.0]),
}


def model_of(kind, **params):
    cells = CELLS[kind]
    (model,) = bind_columns(["x"], [kind], [3], [cells], feature_params={kind: params} if params else None, learn=False)
    return model, cells


@pytest.mark.parametrize("kind", CELLS)
def test_drawn_cells_join_the_statistics_of_their_clusters(kind):
    model, cells = model_of(kind, **({"atoms": [0.0]} if kind == "semicontinuous" else {}))
    statistics = model.statistics(model.data([cells]))
    statistics.rebuild(LABELS)
    gaps = np.isnan(cells) if cells.dtype.kind == "f" else cells < 0
    drawn = drawn_in_turn(model, statistics, 3, LABELS[gaps], np.random.default_rng(0))
    complete = cells.copy()
    complete[gaps] = drawn
    expected = model.statistics(model.data([complete]))
    expected.rebuild(LABELS)
    found, expected = statistics.get_state(3), expected.get_state(3)
    for name in expected.keys() - {"parameters"}:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-5, atol=1e-6, err_msg=name)


def test_two_cells_of_one_cluster_have_the_joint_probabilities_of_an_urn():
    model, cells = model_of("categorical", alpha=0.5)
    rng, n = np.random.default_rng(1), 3000
    found = np.zeros((3, 3))
    for _ in range(n):
        statistics = model.statistics(model.data([cells]))
        statistics.rebuild(LABELS)
        found[tuple(drawn_in_turn(model, statistics, 3, np.array([1, 1], np.int32), rng))] += 1
    weights = 0.5 + np.array([0, 0, 2])
    exact = weights[:, None] * (weights + np.eye(3)) / (weights.sum() * (weights.sum() + 1.0))
    np.testing.assert_allclose(exact.sum(), 1.0)
    error = np.sqrt(exact * (1.0 - exact) / n)
    assert (np.abs(found / n - exact) < 4.0 * error).all()


def test_reals_of_one_cluster_share_what_is_not_known_of_its_mean():
    model, cells = model_of("real", mu=0.0, kappa=0.5, sigma2=1.0, nu=20.0)
    rng, pairs = np.random.default_rng(2), []
    for _ in range(2000):
        statistics = model.statistics(model.data([cells]))
        statistics.rebuild(LABELS)
        pairs.append(drawn_in_turn(model, statistics, 3, np.array([2, 2], np.int32), rng))
    # The cluster is empty, so that its mean has the variance sigma2 / kappa.
    correlation = np.corrcoef(np.array(pairs).T)[0, 1]
    assert correlation == pytest.approx(1.0 / 1.5, abs=4.0 * (1.0 - 1.0 / 2.25) / np.sqrt(2000))


def within(model, low, high):
    return replace(model, drawn_between=np.array([[low], [high]]))


@pytest.mark.parametrize("kind", ["real", "skewed", "semicontinuous"])
def test_cells_beyond_the_limits_have_no_part_in_their_clusters(kind):
    """A cluster without cells whose first draws are beyond them would stay there, and end as one value at the limit."""
    model, cells = model_of(kind, **({"atoms": [0.0]} if kind == "semicontinuous" else {}))
    low, high = 0.15, 0.6
    labels = np.repeat([2, 0], [8, 4]).astype(np.int32)
    for seed in range(20):
        statistics = model.statistics(model.data([cells]))
        statistics.rebuild(LABELS)
        drawn = drawn_in_turn(within(model, low, high), statistics, 3, labels, np.random.default_rng(seed))
        assert len(set(drawn)) == len(drawn) and ((drawn > low) & (drawn < high)).all()
        complete = model.statistics(model.data([np.append(cells, drawn)]))
        complete.rebuild(np.append(LABELS, labels))
        for name, expected in complete.get_state(3).items():
            if name != "parameters":
                np.testing.assert_allclose(statistics.get_state(3)[name], expected, rtol=1e-5, atol=1e-5, err_msg=name)


def test_limited_cells_of_one_cluster_have_the_probabilities_of_an_urn():
    model, cells = model_of("real", mu=0.0, kappa=0.5, sigma2=1.0, nu=20.0)
    rng, n, shares = np.random.default_rng(4), 500, []
    for _ in range(n):
        statistics = model.statistics(model.data([cells]))
        statistics.rebuild(LABELS)
        x, y = drawn_in_turn(within(model, 0.5, 3.0), statistics, 3, np.array([2, 2], np.int32), rng)
        # Of a normal with mean 0, or given x, whose precision is kappa; and variance sigma2.
        own = []
        for value, mean, kappa, free, spread in (
            (x, 0.0, 0.5, 20.0, 20.0),
            (y, x / 1.5, 1.5, 21.0, 20.0 + x * x / 3.0),
        ):
            law = stats.t(free, mean, np.sqrt(spread * (1.0 + 1.0 / kappa) / free))
            own.append((law.cdf(value) - law.cdf(0.5)) / (law.cdf(3.0) - law.cdf(0.5)))
        shares.append(own)
    for own in np.transpose(shares):
        assert stats.kstest(own, "uniform").pvalue > 1e-3


def test_limits_leave_atoms_and_the_rest_as_probable_as_they_are_between_them():
    model, cells = model_of("semicontinuous", atoms=[0.0, 5.0])
    statistics = model.statistics(model.data([cells]))
    statistics.rebuild(LABELS)
    n, limited = 20_000, within(model, -0.5, 1.0)
    drawn = limited.typed(limited.draws_between(statistics, np.full(n, 2, np.int32), np.random.default_rng(5)))[0]
    free = model.typed(
        statistics.draws(np.full(5 * n, 2, np.int32), np.full((5 * n, 1), np.nan), np.random.default_rng(6))
    )[0]
    free = free[(free >= -0.5) & (free <= 1.0)]
    assert ((drawn >= -0.5) & (drawn <= 1.0)).all()
    share = np.mean(free == 0.0)
    assert 0.1 < share < 0.9 and np.mean(drawn == 0.0) == pytest.approx(share, abs=4.0 * np.sqrt(0.5 / n))
    assert stats.ks_2samp(drawn[drawn != 0.0], free[free != 0.0]).pvalue > 1e-3
    # A column with one value, which is none of its atoms.
    only = within(model, 7.0, 7.0)
    found = only.typed(only.draws_between(statistics, np.zeros(3, np.int32), np.random.default_rng(7)))[0]
    np.testing.assert_allclose(found, 7.0)


def table():
    arrays = [
        np.array([0.3, -1.2, 2.0, 3.5, 2.7, 0.1, 9.0, 1.1]),
        np.array([0, 1, 2, 2, 0, 1, 0, 2], np.int8),
        np.array([0, 0, 1, 1, 1, 0, 1, 1], np.int8),
    ]
    kinds = ["real", "categorical", "boolean"]
    models = bind_columns(["x", "y", "z"], kinds, [0, 3, 2], arrays, learn=False)
    other = np.array([0, 1, 0, 1, 0, 1, 0, 1])
    draws = [
        make_draw(models, arrays, [0, 0, 0], [LABELS]),
        make_draw(models, arrays, [0, 0, 1], [LABELS, other]),
    ]
    return models, draws, arrays


def test_a_new_row_is_filled_by_the_conditional_of_the_density():
    models, draws, _ = table()
    average, n = ensemble_of_views(models, draws), 40_000
    rows = [np.full(n, 2.2), np.full(n, -1, np.int8), np.full(n, -1, np.int8)]
    filled = filled_by_draws(average, rows, np.random.default_rng(3))
    np.testing.assert_array_equal(filled[0], rows[0])
    y, z = (column.ravel() for column in np.indices((3, 2)))
    logs = average.score([np.full(6, 2.2), y.astype(np.int8), z.astype(np.int8)])
    exact = np.exp(logs - logs.max())
    exact /= exact.sum()
    found = np.bincount(2 * filled[1] + filled[2], minlength=6) / n
    assert (np.abs(found - exact) < 4.0 * np.sqrt(exact * (1.0 - exact) / n)).all()


def test_reals_of_a_new_row_have_the_conditional_mean_and_variance():
    models, draws, _ = table()
    average, n = ensemble_of_views(models, draws), 40_000
    rows = [np.full(n, np.nan), np.full(n, 2, np.int8), np.full(n, 1, np.int8)]
    filled = filled_by_draws(average, rows, np.random.default_rng(4))[0]
    grid = np.linspace(-60.0, 60.0, 60_001)
    cells = [np.full(len(grid), own[0], own.dtype) for own in rows[1:]]
    density = np.exp(average.score([grid, *cells]))
    share = np.cumsum(density) / density.sum()
    for value in (0.0, 1.5, 2.5, 4.0):
        exact = np.interp(value, grid, share)
        assert np.mean(filled <= value) == pytest.approx(exact, abs=4.0 * np.sqrt(exact * (1.0 - exact) / n))


def test_rows_of_different_cells_are_filled_each_by_its_own():
    models, draws, arrays = table()
    average = ensemble_of_views(models, draws)
    holes = [array.copy() for array in arrays]
    holes[1][::2] = -1
    holes[0][1::3] = np.nan
    filled = filled_by_draws(average, holes, np.random.default_rng(5))
    for own, hole in zip(filled, holes, strict=True):
        observed = ~np.isnan(hole) if hole.dtype.kind == "f" else hole >= 0
        np.testing.assert_array_equal(own[observed], hole[observed])
        assert own.dtype == hole.dtype
        assert not np.isnan(own).any()
        assert own.dtype.kind == "f" or (own >= 0).all()


def test_draws_are_spread_by_their_weights():
    rng = np.random.default_rng(6)
    some = spread_draws(np.array([2.0, 1.0, 0.0, 1.0]), 8, rng)
    np.testing.assert_array_equal(np.bincount(some, minlength=4), [4, 2, 0, 2])
    np.testing.assert_array_equal(np.sort(spread_draws(np.ones(10), 10, rng)), np.arange(10))
    assert len(set(spread_draws(np.ones(40), 20, rng))) == 20
