"""Trees that grow row by row: against plain Python, against the sums that their potentials are, and as exports."""

from __future__ import annotations

import itertools
from math import log

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles.reference import log_marginal
from oracles.reference_trees import Weight, consistent_partitions, distance, ibhc, insert, join, leaf, shape
from scipy.cluster import hierarchy as scipy_hierarchy
from scipy.special import logsumexp
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from support.blobs import blobs, gaussian
from support.column_examples import BY_NAME, EXAMPLES

from sklearn_subanneal.partitions import CRP, PitmanYor
from sklearn_subanneal.plotting import DendrogramDisplay
from sklearn_subanneal.trees._ibhc import IBHC
from sklearn_subanneal.trees.hierarchy import Hierarchy

examples = pytest.mark.parametrize("example", EXAMPLES, ids=[example.name for example in EXAMPLES])
# A mixed table: two columns that are explained by the same trees.
PAIR = [BY_NAME["real-missing"], BY_NAME["categorical"]]


def weight_of(columns, prior):
    def log_marginal(rows):
        return sum(column.log_marginal(rows) for column in columns)

    return Weight(log_marginal, prior.offset, log(prior.new_base + prior.new_slope))


def forest_of(columns, prior, rows, **kwargs):
    forest = IBHC([column.statistics() for column in columns], columns[0].n_rows, prior, **kwargs)
    forest.insert_rows(np.asarray(rows, np.int32))
    return forest


def shapes(tree: Hierarchy):
    """The clusters of a hierarchy as nested pairs of rows."""
    nodes = tree.rows.tolist()
    n_merges = len(tree.rows) - tree.n_clusters
    roots = set(range(len(tree.rows) + n_merges))
    for a, b in tree.children[:n_merges].tolist():
        nodes.append((nodes[a], nodes[b]))
        roots -= {a, b}
    return {nodes[root] for root in roots}


# --- Against the reference --------------------------------------------------------------------------------------


@examples
@pytest.mark.parametrize(
    "prior",
    [pytest.param(CRP(0.7).bind(), marks=pytest.mark.slow), PitmanYor(1.5, 0.3).bind()],
    ids=["crp", "pitman-yor"],
)
def test_ibhc_is_that_of_the_reference(example, prior):
    rows = np.random.default_rng(4).permutation(example.n_rows)[:30]
    forest = forest_of([example], prior, rows)
    exact = ibhc(weight_of([example], prior), rows.tolist())
    assert shapes(forest.hierarchy()) == {shape(tree) for tree in exact}
    assert_allclose(forest.log_joint, sum(tree.log_h for tree in exact), rtol=1e-9)
    assert_allclose(forest.log_potential, sum(tree.log_phi for tree in exact), rtol=1e-9)


@examples
@pytest.mark.parametrize("n_groups", [4, pytest.param(15, marks=pytest.mark.slow)])
def test_groups_are_trees_of_their_own(example, n_groups):
    # Rows of groups are inserted one after the other and never cut off; then the nearest trees are joined.
    rng, prior = np.random.default_rng(5), CRP(0.7).bind()
    rows, groups = (
        rng.permutation(example.n_rows)[:24],
        np.append(np.arange(n_groups), rng.integers(n_groups, size=24))[:24],
    )
    forest = IBHC([example.statistics()], example.n_rows, prior)
    forest.insert_groups(rows.astype(np.int32), groups.astype(np.int32))
    weight, trees = weight_of([example], prior), []
    for group in range(n_groups):
        own = rows[groups == group].tolist()
        tree = leaf(weight, own[0])
        for row in own[1:]:
            tree = insert(weight, tree, leaf(weight, row))
        trees.append(tree)
    found = forest.hierarchy()
    assert shapes(found) == {shape(tree) for tree in trees}
    assert found.n_clusters == n_groups
    for log_d in found.log_d[1 - n_groups :]:
        pairs = [(distance(weight, a, b), a, b) for a, b in itertools.combinations(trees, 2)]
        nearest, a, b = min(pairs, key=lambda pair: pair[0])
        assert_allclose(log_d, nearest, rtol=1e-7, atol=1e-7)
        trees = [tree for tree in trees if tree not in (a, b)] + [join(weight, a, b)]


def test_ibhc_cuts_trees_as_the_reference_does():
    # Blobs that touch: what is one cluster at first comes apart later.
    X, _ = blobs(120, n_blobs=9, seed=3)
    X *= 0.45
    column, prior = gaussian(X), CRP(1.0).bind()
    weight = weight_of([_Marginal(X)], prior)
    forest = IBHC([column], len(X), prior)
    forest.insert_rows(np.arange(len(X), dtype=np.int32))
    assert forest.n_reinserted > 0
    assert shapes(forest.hierarchy()) == {shape(tree) for tree in ibhc(weight, range(len(X)))}
    shallow = IBHC([column], len(X), prior)
    shallow.max_depth = 3
    shallow.insert_rows(np.arange(len(X), dtype=np.int32))
    assert shapes(shallow.hierarchy()) == {shape(tree) for tree in ibhc(weight, range(len(X)), max_depth=3)}
    assert shapes(shallow.hierarchy()) != shapes(forest.hierarchy())


class _Marginal:
    def __init__(self, X):
        self.X = X

    def log_marginal(self, rows):
        width = self.X.shape[1]
        params = {"mu": np.zeros(width), "kappa": 0.1, "psi": np.eye(width), "nu": 5.0}
        return log_marginal("gaussian", self.X[rows], params)


@pytest.mark.parametrize("columns", [[example] for example in EXAMPLES] + [PAIR], ids=lambda c: c[0].name)
def test_potential_is_the_sum_over_the_partitions_that_cut_the_tree(columns):
    prior = PitmanYor(0.9, 0.25).bind()
    weight = weight_of(columns, prior)
    halves = []
    for rows in (range(5), range(40, 44)):
        tree = leaf(weight, rows[0])
        for row in rows[1:]:
            tree = insert(weight, tree, leaf(weight, row))
        halves.append(tree)
    tree = join(weight, *halves)
    cuts = list(consistent_partitions(tree))
    total = logsumexp([sum(weight(block) for block in cut) for cut in cuts])
    assert len(cuts) > 20 and len({frozenset(cut) for cut in cuts}) == len(cuts)
    assert_allclose(tree.log_phi, total, rtol=1e-12)
    # The kernel, grown from the tree's shape.
    forest = IBHC([column.statistics() for column in columns], columns[0].n_rows, prior, _hierarchy(tree))
    assert_allclose(forest.log_potential, total, rtol=1e-10)


def _hierarchy(tree):
    """A tree of the reference as arrays."""
    rows = sorted(tree.rows)
    number = {frozenset([row]): i for i, row in enumerate(rows)}
    inner = sorted(tree.nodes(), key=lambda node: len(node.rows))
    for i, node in enumerate(inner):
        number[node.rows] = len(rows) + i
    children = [[number[child.rows] for child in node.children] for node in inner]
    return Hierarchy(np.array(rows, np.int32), np.array(children), np.array([node.log_d for node in inner]), 1)


# --- Determinism ------------------------------------------------------------------------------------------------


def test_chunks_make_the_same_forest_as_all_rows_at_once():
    X, _ = blobs(400)
    once, prior = IBHC([gaussian(X)], len(X), CRP(1.0).bind()), CRP(1.0).bind()
    once.insert_rows(np.arange(len(X), dtype=np.int32))
    state = None
    for stop in (1, 2, 57, 300, 400):
        # Each time from arrays, over data that have grown.
        forest = IBHC([gaussian(X[:stop])], stop, prior, state)
        forest.insert_rows(np.arange(0 if state is None else len(state.rows), stop, dtype=np.int32))
        state = forest.hierarchy()
        assert_array_equal(state.labels, forest.labels)
        assert len(np.unique(state.labels)) == state.n_clusters
    assert_array_equal(state.children, once.hierarchy().children)
    assert_allclose(state.log_d, once.hierarchy().log_d, rtol=1e-6, atol=1e-8)


def test_duplicated_rows_are_deterministic():
    distinct, _ = blobs(12, seed=5)
    X = np.repeat(distinct, 10, axis=0)
    forests = []
    for _ in range(2):
        forests.append(IBHC([gaussian(X)], len(X), CRP(1.0).bind()))
        forests[-1].insert_rows(np.arange(len(X), dtype=np.int32))
    one, two = (forest.hierarchy() for forest in forests)
    assert_array_equal(one.children, two.children)
    assert_array_equal(one.log_d, two.log_d)
    assert all(len(set(one.labels[10 * i : 10 * i + 10])) == 1 for i in range(12))


def test_all_rows_alike():
    forest = IBHC([gaussian(np.zeros((50, 2)))], 50, CRP(1.0).bind())
    forest.insert_rows(np.arange(50, dtype=np.int32))
    assert forest.n_roots == 1 and forest.hierarchy().sizes[-1] == 50


def test_a_row_enters_once():
    forest = IBHC([gaussian(np.zeros((3, 2)))], 3, CRP(1.0).bind())
    forest.insert_rows(np.array([1], np.int32))
    with pytest.raises(ValueError, match="row 1 is in the forest already"):
        forest.insert_rows(np.array([1], np.int32))
    with pytest.raises(ValueError, match="row 3"):
        forest.insert_rows(np.array([3], np.int32))


def test_blobs_are_found():
    labels = np.random.default_rng(2).integers(0, 6, 2000)
    X = np.random.default_rng(3).normal(size=(2000, 2)) + 9.0 * np.column_stack([labels % 3, labels // 3])
    forest = IBHC([gaussian(X)], len(X), CRP(1.0).bind())
    forest.insert_rows(np.arange(len(X), dtype=np.int32))
    # Greedy: early rows may found a cluster too many, and rows far out clusters of their own.
    assert adjusted_rand_score(labels, forest.labels) > 0.9


# --- Exports ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tree():
    X, _ = blobs(40, seed=6)
    forest = IBHC([gaussian(X)], len(X), CRP(1.0).bind())
    forest.insert_rows(np.arange(len(X), dtype=np.int32))
    return forest.hierarchy()


def test_linkage_is_valid_and_cuts_into_the_clusters(tree):
    linkage = tree.linkage()
    assert scipy_hierarchy.is_valid_linkage(linkage) and scipy_hierarchy.is_monotonic(linkage)
    assert (tree.log_d[: len(tree.rows) - tree.n_clusters] <= 0).all()
    cut = scipy_hierarchy.fcluster(linkage, log(2.0), "distance")
    assert len(np.unique(cut)) == tree.n_clusters
    assert len(np.unique(cut * 1000 + tree.labels)) == tree.n_clusters


def test_newick_has_all_leaves_and_the_heights(tree):
    text = tree.newick(precision=9)
    assert text.count("(") == len(tree.rows) - 1 == text.count(",")
    # Lengths from the root to each leaf: read from the right, where a subtree's own length comes first.
    depth, depths, lengths = 0.0, {}, [0.0]
    for token in reversed(text[:-1].replace("(", " ( ").replace(")", " ) ").replace(",", " ").split()):
        if token == "(":
            depth -= lengths.pop()
        elif token.startswith(":"):
            lengths.append(float(token[1:]))
            depth += lengths[-1]
        elif token != ")":
            name, length = token.split(":")
            depths[int(name)] = depth + float(length)
    assert sorted(depths) == tree.rows.tolist()
    assert_allclose(list(depths.values()), tree.heights[-1], rtol=1e-6)


def test_names_in_newick(tree):
    with pytest.raises(ValueError, match="names has 2 entries, but the tree has 40 leaves"):
        tree.newick(["a", "b"])
    assert "'row (3)'" in tree.newick([f"row ({i})" for i in range(40)])


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("", "''"),
        ("a_b", "'a_b'"),
        ("a b", "'a b'"),
        ("a\tb", "'a\tb'"),
        ("a\nb", "'a\nb'"),
        ("a\n", "'a\n'"),
        ("a\u00a0b", "'a\u00a0b'"),
        ("it's", "'it''s'"),
        ("'", "''''"),
        *((f"a{mark}b", f"'a{mark}b'") for mark in "()[]{}:;,"),
        *((name, name) for name in ("a", "-1.5", "a/b", "a|b", 'a"b', "Ä", "a.b#c")),
    ],
)
def test_names_with_marks_are_quoted(name, written):
    pair = Hierarchy(np.arange(2), np.array([[0, 1]]), np.array([0.0]), n_clusters=1)
    assert pair.newick([name, "other"]) == f"({written}:0.6931,other:0.6931);"


def test_trees_of_none_and_one():
    column = gaussian(np.zeros((2, 2)))
    forest = IBHC([column], 2, CRP(1.0).bind())
    assert forest.hierarchy().newick() == ";" and forest.labels.tolist() == [-1, -1]
    forest.insert_rows(np.array([1], np.int32))
    assert forest.hierarchy().newick() == "1;" and forest.labels.tolist() == [-1, 0]
    with pytest.raises(ValueError, match="at least 2 rows, got 1"):
        forest.hierarchy().linkage()


def test_dendrogram(tree):
    display = DendrogramDisplay.from_hierarchy(tree)
    assert sorted(display.order_) == tree.rows.tolist()
    # Clusters hang together, and each has a colour of its own.
    labels = tree.labels[np.searchsorted(tree.rows, display.order_)]
    assert np.count_nonzero(np.diff(labels)) == tree.n_clusters - 1
    assert len({tuple(lines.get_color()[0]) for lines in display.ax_.collections}) == 1 + np.count_nonzero(
        np.bincount(tree.labels) > 1
    )
    top = DendrogramDisplay.from_hierarchy(tree, max_leaves=5)
    assert sum(len(lines.get_segments()) for lines in top.ax_.collections) == 4
    plt.close("all")


def test_dendrogram_of_an_estimator_without_trees():
    with pytest.raises(ValueError, match=r"must have hierarchy_.*incremental-hierarchy"):
        DendrogramDisplay.from_estimator(KMeans(2, n_init=1).fit(np.arange(4.0)[:, None]))
