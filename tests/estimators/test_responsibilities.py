"""Mixtures as transformers: responsibilities, their names, pipelines and containers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM, TreeGuidedNRMM
from sklearn_subanneal.annealing import SubsampleAnneal

BRIEF = {"schedule": SubsampleAnneal(passes=10), "n_chains": 1, "n_draws": 3, "random_state": 0}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    one, other = rng.integers(3, size=(2, 240, 1))
    X = np.hstack([9.0 * one + rng.normal(size=(240, 2)), 9.0 * other + rng.normal(size=(240, 2))])
    return X, one.ravel(), other.ravel()


def test_a_mixture_gives_its_probabilities(table):
    X, *_ = table
    for model in (SubsampleAnnealedDPMM(**BRIEF), TreeGuidedNRMM(**BRIEF)):
        Z = model.fit_transform(X)
        np.testing.assert_array_equal(Z, model.predict_proba(X))
        np.testing.assert_allclose(Z.sum(axis=1), 1.0)
        assert model.get_feature_names_out().tolist() == [f"cluster{k}" for k in range(model.n_clusters_)]


def test_views_stand_side_by_side(table):
    X, *_ = table
    model = CrossCat(**BRIEF).fit(X)
    assert model.n_views_ == 2
    Z, names = model.transform(X), model.get_feature_names_out()
    assert Z.shape[1] == len(names) == sum(model.view_labels_.max(axis=0) + 1)
    first = np.array([name.startswith("view0_") for name in names])
    np.testing.assert_array_equal(Z[:, first], model.predict_proba(X))
    np.testing.assert_allclose(Z[:, ~first].sum(axis=1), 1.0)
    np.testing.assert_array_equal(Z[:, ~first].argmax(axis=1), model.predict_views(X)[:, 1])


def test_before_a_classifier_and_in_frames(table):
    X, one, other = table
    pipeline = make_pipeline(CrossCat(**BRIEF), LogisticRegression())
    assert cross_val_score(pipeline, X, 3 * one + other, cv=3).mean() > 0.9
    frame = pd.DataFrame(X, columns=list("abcd"))
    chosen = ColumnTransformer([("two", SubsampleAnnealedDPMM(**BRIEF), ["a", "b"])]).set_output(transform="pandas")
    out = chosen.fit_transform(frame)
    assert out.columns[0] == "two__cluster0"
    assert len(out) == 240
