"""Missing cells of the training table: their posterior means are those of the values that the chains sample."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from sklearn_subanneal import CrossCat
from sklearn_subanneal.diagnostics import effective_sample_size
from sklearn_subanneal.mixtures.distinct_rows import DistinctRows
from sklearn_subanneal.mixtures.missing_cells import draw_within
from sklearn_subanneal.partitions import CRP
from sklearn_subanneal.views.seen_rows import SeenRows
from sklearn_subanneal.views.views_predictive import ensemble_of_views, left_out


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9, 2)) @ [[1.0, 0.8], [0.0, 0.6]]
    X[0], X[1, 1], X[2, 0] = [2.5, np.nan], np.nan, np.nan
    # Clusters of single rows are frequent, and their means are spread widely: a filled cell holds on to its value.
    model = CrossCat(
        CRP(2.0),
        covariance_type="full",
        feature_types=["real", "real"],
        feature_params={"real": {"kappa": 0.1, "nu": 9.0}},
        column_start="together",
        learn_hyperparameters=False,
        n_chains=2,
        # Draws are nearly independent: to leave out sweeps between them would only take time.
        n_draws=1000,
        thin=1,
        random_state=0,
    ).fit(X)
    return model, X


def sampled(model):
    """Values (n_chains, n_draws, n_missing) of the missing cells in the draws, in the units of the data."""
    filled = np.array([[draw.filled for draw in chain] for chain in model._draws])
    columns = [1, 1, 0]
    values = [model._models[j].restore(filled[:, :, i].reshape(-1, 1)) for i, j in enumerate(columns)]
    return np.stack([own.reshape(filled.shape[:2]) for own in values], axis=2)


def test_imputations_are_the_means_of_the_sampled_values(fitted):
    model, X = fitted
    values, found = sampled(model), model.impute(X)[np.isnan(X)]
    error = values.std(axis=(0, 1)) / np.sqrt(effective_sample_size(values, kind="mean"))
    assert (np.abs(found - values.mean(axis=(0, 1))) < 4.0 * error).all()
    # Each row is left out of its clusters: the first three are those with missing cells.
    arrays = [array[:3] for array in model.typed_columns(X)]
    seen = model._seen_rows(model.typed_columns(X)).take(np.arange(3))
    filled, _ = left_out(model._models, model._flat_draws(), seen, arrays).impute(arrays, seen=True)
    np.testing.assert_allclose(np.column_stack(filled)[np.isnan(X[:3])], found, rtol=1e-9)


def test_single_draws_differ_less_than_if_rows_were_not_left_out(fitted):
    """A row that is alone in a cluster would confirm the value that was sampled for its missing cell."""
    model, X = fitted
    arrays, gaps = model.typed_columns(X), np.isnan(X)
    seen, own = model._seen_rows(arrays), []
    for i in range(0, 2000, 10):
        draw = [model._flat_draws()[i]]
        rows = SeenRows([seen.labels[i]], seen.joint, seen.cells, seen.places)
        averages = left_out(model._models, draw, rows, arrays), ensemble_of_views(model._models, draw)
        own.append([np.column_stack(average.impute(arrays, seen=True)[0])[gaps] for average in averages])
    left, kept = np.std(own, axis=0)
    assert (left < 0.9 * kept).all()


def test_uncertainties_are_the_deviations_of_the_sampled_values(fitted):
    model, X = fitted
    _, spreads = model.impute(X, return_uncertainty=True)
    np.testing.assert_allclose(spreads[np.isnan(X)], sampled(model).std(axis=(0, 1)), rtol=0.1)


def test_rows_of_weight_zero_are_imputed_as_new_ones():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 2)) + 4.0 * rng.integers(0, 2, (40, 1))
    X[::5, 0] = np.nan
    weights = np.ones(40, int)
    weights[[0, 1, 10]] = 0
    model = CrossCat(covariance_type="full", n_chains=1, n_draws=4, random_state=0).fit(X, sample_weight=weights)
    whole, absent = model.impute(X), [0, 10]
    np.testing.assert_allclose(whole[absent, 0], model.impute(X[absent])[:, 0], rtol=1e-9)
    assert not np.isnan(whole).any()


@pytest.fixture(scope="module")
def with_atoms():
    """A column of reals and zeros, some of them missing, in one block with another column."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=60) + 4.0 * rng.integers(0, 2, 60)
    amounts = np.where(x > 2.0, 0.0, 3.0 + x + 0.1 * rng.normal(size=60))
    amounts[::4] = np.nan
    X = np.column_stack([x, amounts])
    model = CrossCat(
        covariance_type="full",
        feature_types=["real", "semicontinuous"],
        column_start="together",
        n_chains=2,
        n_draws=4,
        random_state=0,
    )
    return model.fit(X), X


def test_a_supposed_cell_is_in_no_cluster(with_atoms):
    """If a missing cell is supposed to be no atom, only the other cells of the row are taken out of its cluster."""
    model, X = with_atoms
    arrays, draws = model.typed_columns(X), model._flat_draws()
    seen = model._seen_rows(arrays)
    gaps = np.flatnonzero(np.isnan(X[:, 1]))
    supposed = [np.array(array) for array in arrays]
    supposed[1][gaps] = 0
    average, plain = left_out(model._models, draws, seen, arrays), ensemble_of_views(model._models, draws)
    cells, more = (DistinctRows.of(model._models, [a[gaps] for a in own], gaps) for own in (arrays, supposed))
    n_checked = 0
    for factors, others in zip(average.products, plain.products, strict=True):
        for factor, other in zip(factors, others, strict=True):
            for part, density, places in other.scored(more):
                if part.members == [1]:
                    expected = factor.log_joint(cells) + (density if places is None else density[places])
                    np.testing.assert_allclose(factor.log_joint(more), expected, rtol=1e-9)
                    n_checked += 1
    assert n_checked == len(draws)


def test_cells_with_atoms_are_imputed_by_the_other_rows(with_atoms):
    model, X = with_atoms
    arrays = model.typed_columns(X)
    gaps = np.flatnonzero(np.isnan(X[:, 1]))
    average = left_out(model._models, model._flat_draws(), model._seen_rows(arrays), arrays)
    shares, _ = average.predict([a[gaps] for a in arrays], 1, seen=True, rows=gaps)
    supposed = [a[gaps] for a in arrays]
    supposed[1] = np.zeros(len(gaps), supposed[1].dtype)
    mean, _ = average.predict(supposed, 2, seen=True, far=False, rows=gaps)
    expected = np.where(shares[:, 1] >= 0.9, 0.0, shares[:, 0] * mean)
    np.testing.assert_allclose(model.impute(X)[gaps, 1], expected, rtol=1e-9)
    # The same rows, one by one.
    alone = [average.predict([a[[i]] for a in arrays], 2, seen=True, rows=np.array([i]))[0][0] for i in gaps]
    np.testing.assert_allclose(average.predict([a[gaps] for a in arrays], 2, seen=True, rows=gaps)[0], alone, rtol=1e-9)


def unlimited(model):
    """A copy whose drawn cells may be anywhere."""
    out = copy(model)
    out._models = [replace(own, low=-np.inf, high=np.inf) for own in model._models]
    return out


def test_drawn_cells_of_training_rows_are_within_the_range_of_the_others(fitted):
    model, X = fitted
    gaps = np.isnan(X)
    drawn, free = (
        np.array([table[gaps] for table in own.sample_imputations(X, 300, random_state=0)])
        for own in (model, unlimited(model))
    )
    low, high = (end(X, axis=0)[np.nonzero(gaps)[1]] for end in (np.nanmin, np.nanmax))
    assert ((drawn >= low - 1e-9) & (drawn <= high + 1e-9)).all()
    assert ((free < low) | (free > high)).mean() > 0.01


def test_new_rows_are_within_the_range_too(fitted):
    model, X = fitted
    few = copy(model)
    few._draws = [chain[::100] for chain in model._draws]
    low, high = np.nanmin(X[:, 1]), np.nanmax(X[:, 1])
    rows = np.tile([2.5, np.nan], (4000, 1))
    drawn, free = (own.sample_imputations(rows, 1, random_state=0)[0][:, 1] for own in (few, unlimited(few)))
    assert low - 1e-9 <= drawn.min() < drawn.max() <= high + 1e-9
    assert 0.1 < np.mean((free < low) | (free > high)) < 0.8


def test_cells_beyond_the_range_are_drawn_again():
    rng, n = np.random.default_rng(0), 20_000
    limits, asked = np.array([[-1.0, -1.0], [2.0, 2.0]]), np.tile([True, False], (n, 1))
    values = rng.standard_t(3, size=(n, 2))
    others = values[:, 1].copy()
    left = draw_within(
        values, asked, limits, lambda rows: np.column_stack([rng.standard_t(3, len(rows)), others[rows]])
    )
    assert not left.size
    inside = stats.t(3).cdf([-1.0, 2.0])
    law = stats.uniform(inside[0], np.diff(inside)[0])
    assert stats.kstest(stats.t(3).cdf(values[:, 0]), law.cdf).pvalue > 1e-3
    np.testing.assert_array_equal(values[:, 1], others)


def test_rows_that_are_never_within_the_range_are_left_over():
    limits, tries = np.array([[-1.0, 0.0], [1.0, 2.0]]), []
    start, asked = (
        np.array([[5.0, 9.0], [0.5, -3.0], [0.5, 1.0]]),
        np.array([[True, False], [False, True], [True, True]]),
    )

    def again(rows):
        tries.append(rows.tolist())
        return start[rows]

    values = start.copy()
    np.testing.assert_array_equal(draw_within(values, asked, limits, again), [0, 1])
    np.testing.assert_array_equal(values, start)
    assert tries == [[0, 1]] * 20


@pytest.fixture(scope="module", params=["full", "diag"])
def with_empty_clusters(request):
    """Six narrow clusters, of which all but two have not one cell of the last column."""
    rng, n = np.random.default_rng(0), 150
    groups = np.arange(n) % 6
    X = np.array([[0, 9], [9, 0], [-9, 0], [0, -9], [9, 9], [-9, -9]])[groups] + 0.3 * rng.normal(size=(n, 2))
    X = np.column_stack([X, np.where(groups == 0, -2.0, 2.0) + 0.1 * rng.normal(size=n)])
    X[groups > 1, 2] = np.nan
    settings = {"n_chains": 1, "n_draws": 25, "effort": 0.2, "column_start": "together", "random_state": 0}
    model = CrossCat(covariance_type=request.param, feature_types=["real"] * 3, **settings).fit(X)
    return model, X, groups


def test_clusters_without_cells_are_not_put_at_the_end_of_the_range(with_empty_clusters):
    model, X, groups = with_empty_clusters
    low, high = np.nanmin(X[:, 2]), np.nanmax(X[:, 2])
    if model.covariance_type == "diag":
        low, high = 2.0 * low - high, 2.0 * high - low
    tables = np.array([table[:, 2] for table in model.sample_imputations(X, 60, random_state=1)])
    drawn = np.array([tables[:, groups == k] for k in range(2, 6)])
    assert ((drawn > low + 1e-9) & (drawn < high - 1e-9)).all()
    assert len(np.unique(drawn)) == drawn.size
    assert (drawn.std(axis=2) > 0.01).all()
    # They are anywhere in the range, and not side by side where it ends.
    means = (drawn.mean(axis=2) - low) / (high - low)
    assert np.mean((means < 0.1) | (means > 0.9)) < 0.35


def test_new_rows_of_clusters_without_cells_are_not_at_the_end_of_the_range(with_empty_clusters):
    model, X, groups = with_empty_clusters
    low, high = np.nanmin(X[:, 2]), np.nanmax(X[:, 2])
    if model.covariance_type == "diag":
        low, high = 2.0 * low - high, 2.0 * high - low
    rows = X[groups > 1] + [1e-3, 0.0, 0.0]
    drawn = np.array([table[:, 2] for table in model.sample_imputations(rows, 20, random_state=1)])
    shares = (drawn - low) / (high - low)
    assert (np.minimum(shares, 1.0 - shares) > 1e-9).all()
    assert np.mean((shares < 0.02) | (shares > 0.98)) < 0.2


def test_new_rows_far_from_all_training_rows_are_not_at_the_end_of_the_range():
    x = np.random.default_rng(3).normal(size=60)
    X = np.column_stack([x, 2.0 * x + 0.1 * np.random.default_rng(4).normal(size=60)])
    settings = {"n_chains": 1, "n_draws": 3, "effort": 0.2, "column_start": "together", "random_state": 0}
    # A row that is not one of the cluster's is improbable, and its other cell is predicted to be 10.
    model = CrossCat(CRP(1e-30), covariance_type="full", learn_hyperparameters=False, **settings).fit(X)
    drawn = model.sample_imputations(np.tile([5.0, np.nan], (100, 1)), 1, random_state=1)[0][:, 1]
    assert len(np.unique(drawn)) == 100 and X[:, 1].min() < drawn.min() < drawn.max() < X[:, 1].max() - 1e-9


@pytest.mark.slow
def test_multiple_imputations_have_the_law_of_the_sampled_values(fitted):
    model, X = unlimited(fitted[0]), fitted[1]
    values, gaps = sampled(model), np.isnan(X)
    drawn = np.array([table[gaps] for table in model.sample_imputations(X, 4000, random_state=0)])
    n = effective_sample_size(values, kind="mean")
    for function in (np.abs, np.sign, lambda x: np.minimum(x, 3.0)):
        sampled_ones, ours = function(values), function(drawn)
        error = np.sqrt(sampled_ones.var(axis=(0, 1)) * 2.0 / n)
        assert (np.abs(ours.mean(axis=0) - sampled_ones.mean(axis=(0, 1))) < 4.0 * error).all()
    # The missing cells of different rows are drawn together.
    for i, j in ((0, 1), (0, 2), (1, 2)):
        exact = np.mean(np.sign(values[..., i] * values[..., j]))
        found = np.mean(np.sign(drawn[:, i] * drawn[:, j]))
        assert found == pytest.approx(exact, abs=4.0 * np.sqrt(2.0 / n.min()))


def test_one_draw_gives_many_imputations(fitted):
    """A Gibbs sweep of the missing cells each: if a block misses one cell, independent draws."""
    _, X = fitted
    X = X.copy()
    X[1:3] = [[0.1, -0.2], [0.4, 0.3]]
    one = CrossCat(
        CRP(1e-6),
        covariance_type="full",
        feature_types=["real", "real"],
        feature_params={"real": {"kappa": 0.1, "nu": 9.0}},
        column_start="together",
        learn_hyperparameters=False,
        n_chains=1,
        n_draws=1,
        random_state=0,
    ).fit(X)
    assert one.n_views_ == one.n_clusters_ == 1
    drawn = np.array([table[0, 1] for table in unlimited(one).sample_imputations(X, 4000, random_state=1)])
    filled, spread = one.impute(X, return_uncertainty=True)
    assert drawn.mean() == pytest.approx(filled[0, 1], abs=4.0 * drawn.std() / np.sqrt(4000))
    assert drawn.std() == pytest.approx(spread[0, 1], rel=0.1)
