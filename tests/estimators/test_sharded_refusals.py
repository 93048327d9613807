"""What a table in shards is not for: parameters that do not suit it, and methods and estimators that take none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support.tables import blobs

from sklearn_subanneal import (
    BayesianImputer,
    CrossCat,
    CrossCatClassifier,
    CrossCatDetector,
    CrossCatRegressor,
    SubsampleAnnealedDPMM,
    TreeGuidedNRMM,
)
from sklearn_subanneal.annealing import StratifiedSubsampling
from sklearn_subanneal.shards import ShardedTable

BRIEF = {"n_chains": 1, "n_draws": 1, "max_sweeps": 0, "schedule": "prior", "random_state": 0}
X = blobs(300)
REMEDY = r"X must be an array or a DataFrame, got .* of type ShardedTable: .*sklearn_subanneal.shards.predict_shards"


def no_fit(model, X, *arguments):
    assert not isinstance(X, ShardedTable)


@pytest.mark.parametrize("make", [SubsampleAnnealedDPMM, TreeGuidedNRMM])
def test_moves_that_grow_trees(make):
    """The fit had failed at its very end."""
    model = make(partition="pitman-yor", moves=["incremental-hierarchy"], **BRIEF)
    with pytest.raises((ValueError, KeyError)) as caught:
        model.fit(ShardedTable(X))
    assert "moves=['incremental-hierarchy'] does not suit a ShardedTable" in str(caught.value)
    assert "leave the move out" in str(caught.value)


@pytest.mark.parametrize("make", [SubsampleAnnealedDPMM, CrossCat])
def test_strata_are_those_of_a_column(make):
    labels = np.arange(300) % 3
    given = BRIEF | {"schedule": "anneal"}
    with pytest.raises(
        ValueError, match=r"labels of StratifiedSubsampling do not suit a ShardedTable.*\(column=\.\.\.\)"
    ):
        make(subsampling=StratifiedSubsampling(labels=labels), **given).fit(ShardedTable(X, n_start_rows=100))
    shards = ShardedTable(pd.DataFrame(X, columns=["x", "y"]).assign(group=labels), n_start_rows=100)
    assert make(subsampling=StratifiedSubsampling(column="group"), **given).fit(shards).labels_.shape == (300,)


@pytest.mark.parametrize("make", [SubsampleAnnealedDPMM, CrossCat])
def test_methods_name_the_remedy(make, monkeypatch):
    model, shards = make(**BRIEF).fit(X), ShardedTable(X)
    for method in ("predict", "predict_proba", "score", "score_samples", "transform", "impute", "distill"):
        with pytest.raises(ValueError, match=REMEDY):
            getattr(model, method)(shards)
    assert model.fit_predict(shards).shape == (300,)
    expected = model.fit(X).transform(X)
    np.testing.assert_array_equal(model.fit_transform(X), expected)
    np.testing.assert_array_equal(model.set_output(transform="pandas").fit_transform(X), expected)
    # Before the fit, which may take hours.
    monkeypatch.setattr(make, "fit", no_fit)
    with pytest.raises(ValueError, match=REMEDY):
        model.fit_transform(shards)


@pytest.mark.parametrize(
    "estimator", [BayesianImputer(), CrossCatDetector(), CrossCatClassifier(), CrossCatRegressor()]
)
def test_estimators_with_a_model_inside(estimator, monkeypatch):
    monkeypatch.setattr(CrossCat, "fit", no_fit)
    y = [np.arange(300) % 3] if isinstance(estimator, CrossCatClassifier | CrossCatRegressor) else []
    with pytest.raises(ValueError, match=REMEDY):
        estimator.fit(ShardedTable(X), *y)
