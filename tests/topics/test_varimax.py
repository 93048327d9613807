"""Shares of documents in groups: the rotation is that of the varimax criterion, and axes are topics, not mixtures."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from support.topic_corpora import mixed_topics

from sklearn_subanneal.topics.measures import affinities
from sklearn_subanneal.topics.principal_components import PrincipalComponents
from sklearn_subanneal.topics.varimax import varimax_rotation, varimax_shares


def criterion(loadings):
    """Sum over the axes of the variance of the squared loadings (Kaiser 1958)."""
    return (loadings**2).var(axis=0).sum()


def shares_of_documents(documents, n_groups):
    """Those of the components of the square roots of counts."""
    return varimax_shares(PrincipalComponents.of(documents.sqrt(), n_groups).documents, n_groups, 3.0)


def test_rotation_in_a_plane_is_the_best_of_all_angles():
    rng = np.random.default_rng(0)
    sources = rng.standard_normal((400, 2)) * (rng.random((400, 2)) < 0.2)
    angle = 0.6
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    loadings = sources @ turn
    rotation = varimax_rotation(loadings)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(2), atol=1e-12)
    angles = np.linspace(0.0, np.pi, 2001)
    every = [criterion(loadings @ [[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) for a in angles]
    assert criterion(loadings @ rotation) == pytest.approx(max(every), rel=1e-5)


def test_axes_are_topics_where_documents_are_mixtures():
    # Each document has several topics, and no two documents are alike.
    X, truth = mixed_topics(12, 900, 300)
    words = np.asarray(sparse.csr_matrix(shares_of_documents(X, 12)).T @ X.toarray())
    found = affinities(truth, words / words.sum(axis=1, keepdims=True))
    assert sorted(found.argmax(axis=1)) == list(range(12))
    assert (found.argmax(axis=0) == np.argsort(found.argmax(axis=1))).all()


def test_shares_are_shares_and_the_same_for_any_order_of_documents():
    X, _ = mixed_topics(6, 200, 100)
    shares = shares_of_documents(X, 6)
    assert shares.shape == (200, 6) and shares.dtype == np.float32
    assert (shares >= 0.0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-5)
    np.testing.assert_array_equal(shares, shares_of_documents(X, 6))
    order = np.random.default_rng(0).permutation(200)
    other = shares_of_documents(X[order], 6)
    like = (shares[order].T @ other) / np.linalg.norm(other, axis=0)
    columns = like.argmax(axis=1)
    assert sorted(columns) == list(range(6))
    np.testing.assert_allclose(other[:, columns], shares[order], atol=0.02)


@pytest.mark.parametrize("documents", [np.zeros((4, 3)), np.ones((1, 3)), np.ones((5, 1)), np.eye(6), np.ones((9, 7))])
def test_few_components(documents):
    shares = shares_of_documents(sparse.csr_matrix(documents.astype(np.float32)), 6)
    assert shares.shape == (len(documents), 6)
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-5)
    if len(np.unique(documents, axis=0)) == 1 and documents.any():
        # All are in one group, and the others are empty.
        assert np.count_nonzero(shares.sum(axis=0)) == 1
