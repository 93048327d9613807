"""Ranks of training cells in their predictive distributions given the other rows, and intervals calibrated by them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from sklearn_subanneal import CrossCat, CrossCatRegressor
from sklearn_subanneal.mixtures.distinct_rows import DistinctRows
from sklearn_subanneal.views.left_out_ranks import left_out_ranks
from sklearn_subanneal.views.views_predictive import left_out, score_seen_rows, without


@pytest.fixture(scope="module", params=["full", "diag"])
def fitted(request):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 90)
    x = 4.0 * group + rng.normal(size=90)
    X = np.column_stack([x, group, 0.5 * x + rng.normal(size=90)])
    X[::7, 0] = np.nan
    model = CrossCat(
        covariance_type=request.param, feature_types=["real", "boolean", "real"], n_chains=2, n_draws=3, random_state=0
    ).fit(X)
    return model, model.typed_columns(X)


def test_the_t_distributions_are_the_ratio_of_the_left_out_densities(fitted):
    model, arrays = fitted
    models, asked, seen = model._models, without(arrays, [2]), model._seen_rows(arrays)
    whole, rest = (left_out(models, model._flat_draws(), seen, cells) for cells in (arrays, asked))
    cells, some = (DistinctRows.of(models, own) for own in (arrays, asked))
    truth = cells.spread(2, cells.values[2][:, 0])[:, None]
    for known, other in zip(whole.products, rest.products, strict=True):
        ((one, two),) = ((f, g) for f, g in zip(known, other, strict=True) if 2 in f.members)
        location, scale, free = one.t_of_member(2, some)
        with np.errstate(invalid="ignore"):
            wanted = one.log_joint(cells) - two.log_joint(some)
        own = np.isfinite(wanted)
        np.testing.assert_allclose(stats.t.logpdf(truth, free, location, scale)[own], wanted[own], atol=2e-4)


@pytest.mark.parametrize("unknown", [[], [0]])
def test_ranks_weight_draws_as_the_left_out_densities_do(fitted, unknown):
    """Each draw by p(other cells) / p(row) times its own weight; equal draws count as one with their sum."""
    model, arrays = fitted
    draws, seen = model._flat_draws(), model._seen_rows(arrays)
    one, two = draws[0], draws[3]
    labels = [seen.labels[0], seen.labels[3]]

    def of(chosen, weights):
        own = type(seen)([labels[i] for i in chosen], seen.joint, seen.cells, seen.places)
        picked = [replace((one, two)[i], weight=weight) for i, weight in zip(chosen, weights, strict=True)]
        return left_out_ranks(model._models, picked, own, arrays, 2, unknown), picked, own

    first, second = of([0], [1.0])[0], of([1], [1.0])[0]
    both, _, _ = of([0, 1], [0.5, 1.5])
    ratio = []
    for i, weight in ((0, 0.5), (1, 1.5)):
        _, picked, own = of([i], [1.0])
        whole = score_seen_rows(model._models, picked, own, arrays, arrays)
        rest = score_seen_rows(model._models, picked, own, arrays, without(arrays, [2, *unknown]))
        ratio.append(weight * np.exp(rest - whole))
    np.testing.assert_allclose(both, (ratio[0] * first + ratio[1] * second) / sum(ratio), atol=1e-5)
    np.testing.assert_allclose(of([0, 0, 1], [0.25, 0.25, 1.5])[0], both, atol=1e-9)


def test_ranks_are_uniform_where_the_model_is_right():
    rng = np.random.default_rng(1)
    x = rng.normal(size=400)
    y = x + rng.normal(size=400)
    model = CrossCat(feature_types="from_dtype", n_chains=1, n_draws=5, random_state=0).fit(np.column_stack([x, y]))
    arrays = model.typed_columns(np.column_stack([x, y]))
    ranks = left_out_ranks(model._models, model._flat_draws(), model._seen_rows(arrays), arrays, 1)
    assert stats.kstest(ranks, "uniform").pvalue > 0.01


@pytest.mark.slow
def test_intervals_cover_as_many_new_targets_as_they_should():
    """Without noise, what is left in a cluster is the curvature of the function: plain quantiles are too wide."""
    shares = {0.5: [], 0.9: []}
    for seed in range(10):
        X = np.random.default_rng(2 + seed).uniform(-1.0, 1.0, (1500, 2))
        y = X[:, 0] * X[:, 1]
        model = CrossCatRegressor(CrossCat(n_chains=2), random_state=seed).fit(X[:500], y[:500])
        for coverage, found in shares.items():
            low, high = model.predict_interval(X[500:], coverage).T
            found.append(np.mean((low < y[500:]) & (y[500:] < high)))
    for coverage, found in shares.items():
        # Three standard errors of the mean of ten fits, whose shares have a standard deviation of 0.04.
        assert np.mean(found) == pytest.approx(coverage, abs=0.04)
