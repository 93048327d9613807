"""Columns of blocks by themselves: their marginal statistics say what the whole block says of rows without the rest."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_subanneal import CrossCat
from sklearn_subanneal._core.log_space import log_mean_exp
from sklearn_subanneal.annealing import SubsampleAnneal
from sklearn_subanneal.mixtures.distinct_rows import DistinctRows
from sklearn_subanneal.views.lone_columns import score_lone_columns
from sklearn_subanneal.views.views_predictive import left_out, without


@pytest.mark.parametrize("group", [[0], [0, 2], [1, 3]])
def test_columns_of_blocks(group):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 3)) + 4.0 * (np.arange(60) % 2)[:, None]
    X = np.column_stack([x, np.arange(60) % 3])
    X[[3, 8], [0, 2]] = np.nan
    model = CrossCat(
        covariance_type="full",
        feature_types={3: "categorical"},
        schedule=SubsampleAnneal(passes=5),
        n_chains=1,
        n_draws=3,
        random_state=0,
    ).fit(X)
    arrays, draws = model._encode(X, scored=True), model._flat_draws()
    assert any(m.joint for m in model._models)
    others = without(arrays, set(range(4)) - set(group))
    seen = model._seen_rows(arrays)
    found = score_lone_columns(model._models, draws, arrays, [group], seen)[:, 0]
    np.testing.assert_allclose(found, left_out(model._models, draws, seen, others).score(others), atol=1e-6)
    found = score_lone_columns(model._models, draws, arrays, [group])[:, 0]
    np.testing.assert_allclose(found, -model.novelty(X, columns=group, seen=False), atol=1e-6)


def test_tied_cells_are_left_out_of_the_density_of_their_ties():
    """Where numbers repeat, those around a cell say how dense they are there, but not the cell itself."""
    rng = np.random.default_rng(1)
    tied = np.where(rng.random(120) < 0.6, 10.0 * rng.integers(4, size=120), 30.0 * rng.random(120))
    X = np.column_stack([tied, tied + rng.normal(size=120)])
    settings = {"covariance_type": "full", "feature_types": ["real", "real"], "n_chains": 1, "n_draws": 3}
    model = CrossCat(schedule=SubsampleAnneal(passes=5), random_state=0, **settings).fit(X)
    arrays, draws = model._encode(X, scored=True), model._flat_draws()
    values = model._models[0].values(arrays)
    assert not np.allclose(model._models[0].left_out_log_jacobian(values), model._models[0].log_jacobian(values))
    others, seen = without(arrays, [1]), model._seen_rows(arrays)
    found = score_lone_columns(model._models, draws, arrays, [[0]], seen)[:, 0]
    np.testing.assert_allclose(found, left_out(model._models, draws, seen, others).score(others), atol=1e-6)
    average, cells = left_out(model._models, draws, seen, arrays), DistinctRows.of(model._models, arrays)
    own = sum(one.left_out_log_jacobian(one.values(arrays)) for one in model._models)
    weighted = average.log_densities(cells) + average.log_weights[:, None]
    np.testing.assert_allclose(average.score(arrays), log_mean_exp(weighted, axis=0) + own, atol=1e-6)
