"""Trees of components that overlap: merges, groups and heights."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import dendrogram, is_valid_linkage

from sklearn_subanneal.posterior import ComponentTree


def random_overlaps(rng, n):
    overlaps = rng.dirichlet(np.full(n, 0.3), n) + 3.0 * np.eye(n)
    return overlaps / overlaps.sum(axis=1, keepdims=True), rng.dirichlet(np.ones(n))


def test_merges_are_those_of_the_definition():
    """Of groups: the probability that a row drawn from one belongs to another, from all components anew each time."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        overlaps, weights = random_overlaps(rng, 7)
        tree = ComponentTree.of(overlaps, weights)
        groups = {k: [k] for k in range(7)}
        for step in range(6):

            def share(a, b, groups=groups, overlaps=overlaps, weights=weights):
                own = weights[groups[a]] / weights[groups[a]].sum()
                return own @ overlaps[np.ix_(groups[a], groups[b])].sum(axis=1)

            pairs = [(a, b) for a in groups for b in groups if a != b]
            best = max(pairs, key=lambda pair: share(*pair))
            assert set(tree.merges[step]) == set(best)
            assert tree.overlaps[step] == pytest.approx(share(*best))
            groups[7 + step] = groups.pop(best[0]) + groups.pop(best[1])


def test_merges_of_the_consensus_are_those_of_the_definition():
    """The mean over pairs of rows of the share of draws that have them together, from all rows anew each time."""
    rng = np.random.default_rng(4)
    for _ in range(10):
        labels = rng.permutation(np.r_[np.arange(6), rng.integers(6, size=24)])
        draws, weights = rng.integers(3, size=(4, 30)), rng.dirichlet(np.ones(4))
        counts = rng.integers(1, 4, size=30)
        tree = ComponentTree.consensus(labels, draws, 5.0 * weights, counts)
        labels, draws = np.repeat(labels, counts), np.repeat(draws, counts, axis=1)
        together = np.tensordot(weights, draws[:, :, None] == draws[:, None, :], 1)
        np.testing.assert_allclose(tree.weights, np.bincount(labels) / len(labels))
        groups = {k: labels == k for k in range(6)}
        for step in range(5):
            shares = {(a, b): together[groups[a]][:, groups[b]].mean() for a in groups for b in groups if a < b}
            best = max(shares, key=shares.get)
            assert set(tree.merges[step]) == set(best)
            assert tree.overlaps[step] == pytest.approx(shares[best])
            groups[6 + step] = groups.pop(best[0]) | groups.pop(best[1])


def test_groups_by_overlap_and_by_number():
    rng = np.random.default_rng(1)
    tree = ComponentTree.of(*random_overlaps(rng, 9))
    for n in range(1, 10):
        groups = tree.groups(n_groups=n)
        assert groups.max() + 1 == len(np.unique(groups)) == n
        sizes = np.bincount(groups, tree.weights)
        assert (np.diff(sizes) <= 0.0).all()
    # Merging ends before the first overlap that is too small, whatever follows.
    first = int(np.argmax(tree.overlaps < 0.2)) if (tree.overlaps < 0.2).any() else 8
    np.testing.assert_array_equal(tree.groups(min_overlap=0.2), tree.groups(n_groups=9 - first))
    assert tree.groups(min_overlap=1e-12).max() == 0
    with pytest.raises(ValueError, match="n_groups must be from 1 to 9"):
        tree.groups(n_groups=10)


def test_linkage_is_one_of_scipy():
    tree = ComponentTree.of(*random_overlaps(np.random.default_rng(2), 8))
    linkage = tree.linkage()
    assert is_valid_linkage(linkage)
    assert linkage[-1, 3] == 8
    assert len(dendrogram(linkage, no_plot=True)["leaves"]) == 8
    one = ComponentTree.of([[1.0]], [1.0])
    assert one.groups().tolist() == [0]
    assert one.linkage().shape == (0, 4)
