"""Mixtures as transformers: responsibilities, their names, pipelines and containers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM, TreeGuidedNRMM
from sklearn_subanneal.annealing import SubsampleAnneal

BRIEF = {"schedule": SubsampleAnneal(passes=10), "n_chains": 1, "n_draws": 3, "max_sweeps": 5, "random_state": 0}


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


@pytest.mark.parametrize(
    "model",
    [SubsampleAnnealedDPMM(**BRIEF), pytest.param(TreeGuidedNRMM(**BRIEF), marks=pytest.mark.slow), CrossCat(**BRIEF)],
)
def test_sparse_output_leaves_small_probabilities_out(table, model):
    X = np.vstack([table[0], table[0] + 4.0])
    dense = model.fit(X).transform(X)
    found = clone(model).set_params(sparse_output=True).fit(X).transform(X)
    assert isinstance(found, sparse.csr_array) and found.dtype == np.float64 and found.shape == dense.shape
    np.testing.assert_array_equal(found.toarray(), np.where(dense < 1e-6, 0.0, dense))
    assert ((dense > 0.0) & (dense < 1e-6)).any() and found.nnz == (dense >= 1e-6).sum()
    # In parts of a few rows, it is the same.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sklearn_subanneal.mixtures.ensemble.CELLS_PER_CHUNK", 100)
        parts = model.set_params(sparse_output=True).transform(X)
    np.testing.assert_array_equal(parts.toarray(), found.toarray())
    assert model.set_params(sparse_output=False).transform(X).__class__ is np.ndarray


def test_sparse_output_of_documents():
    words = np.kron(np.eye(2, dtype=int), np.full((30, 5), 3))
    model = SubsampleAnnealedDPMM(feature_types="bag-of-words", sparse_output=True, **BRIEF)
    found = model.fit_transform(sparse.csr_array(words))
    np.testing.assert_array_equal(found.toarray().argmax(axis=1), model.labels_)


def test_sparse_output_in_pipelines(table):
    X, one, other = table
    model = CrossCat(sparse_output=True, **BRIEF)
    assert cross_val_score(make_pipeline(model, LogisticRegression()), X, 3 * one + other, cv=3).mean() > 0.9
    beside = ColumnTransformer([("clusters", model, [0, 1, 2, 3]), ("first", "passthrough", [0])], sparse_threshold=1.0)
    found = beside.fit_transform(X)
    assert sparse.issparse(found) and found.shape == (240, len(beside.get_feature_names_out()))
    np.testing.assert_array_equal(found.toarray()[:, -1], X[:, 0])
    with pytest.raises(ValueError, match="sparse matrix"):
        clone(model).set_output(transform="pandas").fit_transform(X)
    with pytest.raises(ValueError, match="'sparse_output' parameter"):
        CrossCat(sparse_output="csr").fit(X)


def test_sparse_output_is_no_other_model(table):
    """Chains are continued with it."""
    X = table[0]
    model = CrossCat(warm_start=True, **BRIEF).fit(X)
    assert model.set_params(sparse_output=True, n_draws=4).fit(X).log_joint_.shape == (1, 4)
