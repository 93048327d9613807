"""Summaries of posterior partitions against brute force, scikit-learn and both kinds of ArviZ."""

import sys
from itertools import combinations, product
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.metrics import adjusted_rand_score, mutual_info_score, rand_score

from sklearn_subanneal.posterior import (
    binder_loss,
    co_clustering,
    expected_loss,
    log_mean_exp,
    losses,
    point_partition,
    relabel,
    representative_draw,
    scalar_draws,
    to_arviz,
    variation_of_information,
)
from sklearn_subanneal.posterior.labels import encode_labels
from sklearn_subanneal.posterior.losses import adjusted_rand
from sklearn_subanneal.posterior.point_estimate import typical_draw
from sklearn_subanneal.posterior.similarity import consensus_confidence


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def entropy(labels):
    return mutual_info_score(labels, labels)


def noisy_copies(truth, n_chains, n_draws, noise, rng):
    """Draws of a partition, each with a share of random labels and with its own names of clusters."""
    n_clusters = truth.max() + 1
    wrong = rng.random((n_chains, n_draws, len(truth))) < noise
    draws = np.where(wrong, rng.integers(n_clusters, size=wrong.shape), truth)
    for draw in draws.reshape(-1, len(truth)):
        draw[:] = rng.permutation(n_clusters)[draw]
    return draws.astype(np.int32)


# Distances of partitions


@pytest.mark.parametrize("kinds", [(3, 4), (1, 5), (60, 60), (1, 1)])
def test_losses_agree_with_scikit_learn(rng, kinds):
    a, b = (rng.integers(kind, size=200) for kind in kinds)
    expected = entropy(a) + entropy(b) - 2 * mutual_info_score(a, b)
    assert variation_of_information(a, b) == pytest.approx(expected, abs=1e-12)
    assert binder_loss(a, b) == pytest.approx(1 - rand_score(a, b), abs=1e-14)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64])
def test_labels_of_narrow_types_are_compared_like_others(rng, dtype):
    # Pairs of labels are more than the type can number; and not all labels are used.
    a, b = (2 * rng.integers(60, size=500) for _ in range(2))
    narrow = a.astype(dtype), b.astype(dtype)
    assert variation_of_information(*narrow) == variation_of_information(a, b)
    assert adjusted_rand(*map(encode_labels, narrow)) == adjusted_rand(encode_labels(a), encode_labels(b))
    assert encode_labels(narrow[0]).values.dtype == dtype
    np.testing.assert_array_equal(relabel(narrow[0]), relabel(a))
    draws = np.array([narrow, narrow[::-1]])
    assert representative_draw(draws) == representative_draw(draws.astype(np.int64))
    np.testing.assert_array_equal(point_partition(draws), point_partition(draws.astype(np.int64)))


def test_binder_loss_counts_pairs(rng):
    a, b = rng.integers(3, size=(2, 12))
    pairs = list(combinations(range(12), 2))
    disagreements = sum((a[i] == a[j]) != (b[i] == b[j]) for i, j in pairs)
    assert binder_loss(a, b) == disagreements / len(pairs)


def test_losses_are_metrics_on_partitions(rng):
    for loss in (variation_of_information, binder_loss):
        for _ in range(30):
            a, b, c = rng.integers(4, size=(3, 15))
            assert loss(a, b) == pytest.approx(loss(b, a), abs=1e-14)
            assert loss(a, rng.permutation(4)[a]) == pytest.approx(0.0, abs=1e-12)
            assert loss(a, c) <= loss(a, b) + loss(b, c) + 1e-12


def test_extremes_of_losses():
    apart, together = np.arange(8), np.zeros(8, dtype=int)
    assert variation_of_information(apart, together) == pytest.approx(np.log(8))
    assert binder_loss(apart, together) == 1.0
    assert variation_of_information([3], [4]) == binder_loss([3], [4]) == 0.0


def test_losses_take_any_labels():
    assert binder_loss(["x", "y", "x"], [-5, 10**12, -5]) == 0.0
    assert variation_of_information(np.array([2, 9, 2], dtype=np.uint8), [1.5, 2.5, 1.5]) == 0.0


def test_sparse_and_dense_contingency_agree(rng, monkeypatch):
    a, b = rng.integers(50, size=(2, 300))
    dense = variation_of_information(a, b), binder_loss(a, b)
    monkeypatch.setattr(losses, "_ALWAYS_DENSE", 0)
    monkeypatch.setattr(losses, "_DENSE_CELLS_PER_ROW", 0)
    assert (variation_of_information(a, b), binder_loss(a, b)) == pytest.approx(dense, abs=1e-13)


def test_binder_loss_is_exact_for_a_million_rows(rng):
    a = rng.integers(300, size=1_000_000)
    b = a.copy()
    b[0] = (a[0] + 1) % 300
    moved = np.sum(a == a[0]) - 1 + np.sum(a == b[0])
    assert binder_loss(a, b) == moved / (1_000_000 * 999_999 // 2)


@pytest.mark.parametrize("loss", ["vi", "binder"])
def test_expected_loss_is_the_mean_over_draws(rng, loss):
    function = {"vi": variation_of_information, "binder": binder_loss}[loss]
    candidates, draws = rng.integers(3, size=(4, 20)), rng.integers(4, size=(2, 5, 20))
    expected = [np.mean([function(candidate, draw) for draw in draws.reshape(-1, 20)]) for candidate in candidates]
    np.testing.assert_allclose(expected_loss(candidates, draws, loss), expected, atol=1e-13)
    np.testing.assert_allclose(expected_loss(candidates, draws, function), expected, atol=1e-13)


# Point estimates


@pytest.mark.parametrize("loss", ["vi", "binder"])
def test_representative_draw_is_the_best_of_all(rng, loss):
    draws = noisy_copies(np.repeat([0, 1, 2], 10), 3, 7, 0.2, rng)
    chain, draw = representative_draw(draws, loss, n_candidates=21, n_references=21)
    flat = draws.reshape(21, -1)
    assert chain * 7 + draw == expected_loss(flat, flat, loss).argmin()


def test_representative_draw_finds_the_clean_one(rng):
    truth = np.repeat([0, 1, 2], 30)
    draws = noisy_copies(truth, 2, 10, 0.3, rng)
    draws[1, 4] = 2 - truth
    assert representative_draw(draws) == (1, 4)
    # Of draws that differ so much, the variation of information prefers a single cluster.
    np.testing.assert_array_equal(point_partition(draws, "binder", order="appearance"), truth)
    assert expected_loss([np.zeros(90, int)], draws)[0] < expected_loss([truth], draws)[0]
    assert point_partition(draws).max() == 0


def test_candidates_are_spread_over_all_chains(rng):
    draws = rng.integers(3, size=(4, 25, 12))
    seen = set()

    def loss(candidate, draw):
        seen.add(candidate.tobytes())
        return 0.0

    assert representative_draw(draws, loss, n_candidates=4, n_references=1) == (0, 12)
    assert seen == {draws[chain, 12].tobytes() for chain in range(4)}


def test_relabel(rng):
    labels = np.array([5, 2, 2, 9, 9, 9, 5])
    np.testing.assert_array_equal(relabel(labels), [1, 2, 2, 0, 0, 0, 1])
    np.testing.assert_array_equal(relabel(labels, order="appearance"), [0, 1, 1, 2, 2, 2, 0])
    labels = rng.integers(40, size=500)
    new = relabel(labels)
    assert binder_loss(labels, new) == 0.0
    assert (np.diff(np.bincount(new)) <= 0).all() and new.dtype == np.int64


# Co-clustering


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float64])
def test_co_clustering_against_brute_force(rng, dtype, monkeypatch):
    monkeypatch.setattr("sklearn_subanneal.posterior.similarity._BLOCK_ELEMENTS", 40)
    labels = rng.integers(3, size=(3, 100, 13)).astype(dtype)
    expected = np.empty((13, 13))
    for i, j in product(range(13), repeat=2):
        expected[i, j] = np.mean(labels[..., i] == labels[..., j])
    np.testing.assert_allclose(co_clustering(labels), expected, atol=1e-15)
    rows = [7, 2, 11]
    np.testing.assert_allclose(co_clustering(labels, rows=rows), expected[np.ix_(rows, rows)], atol=1e-15)
    mask = np.isin(np.arange(13), rows)
    np.testing.assert_allclose(co_clustering(labels, rows=mask), expected[np.ix_(mask, mask)], atol=1e-15)


def test_co_clustering_keeps_wide_labels_apart():
    labels = np.array([[0, 1 << 16, 0, (1 << 16) + 1]])
    np.testing.assert_array_equal(co_clustering(labels)[0], [1, 0, 1, 0])


def test_co_clustering_refuses_too_many_rows():
    with pytest.raises(ValueError, match=r"max_rows=5000.*Pass rows="):
        co_clustering(np.zeros((2, 5001), dtype=int))
    assert co_clustering(np.zeros((2, 5001), dtype=int), rows=np.arange(4)).shape == (4, 4)


# Summaries of draws of several views


def test_confidence_of_rows_alone():
    draws = [np.array([[0, 1, 1, 2]]), np.array([[0, 0, 1, 2]])]
    confidence = consensus_confidence([[0, 1, 1, 2]], [0], draws, [[0], [0]])
    np.testing.assert_array_equal(confidence.ravel(), [0.5, 0.5, 0.5, 1.0])


def test_the_typical_draw_is_typical_in_all_views():
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=(2, 3000))
    draws = [truth.copy() for _ in range(5)]
    draws[0][1, rng.random(3000) < 0.1] = 3  # exact in view 0, and alone with its error in view 1
    draws[3] = rng.permutation(3)[truth]
    for draw in draws[1::3]:
        draw[0, :30] = 4
    assert typical_draw(draws) in (2, 3)
    assert typical_draw(draws[:1]) == 0
    losses = [sum(np.mean([variation_of_information(a[v], b[v]) for b in draws]) for v in (0, 1)) for a in draws]
    assert np.argmin(losses) in (2, 3)


# Averages of densities


def test_log_mean_exp(rng):
    values = rng.normal(scale=300, size=(3, 4, 5))
    expected = logsumexp(values, axis=(0, 1)) - np.log(12)
    np.testing.assert_allclose(log_mean_exp(values, axis=(0, 1)), expected, rtol=1e-14)
    assert log_mean_exp([0.0, 0.0]) == 0.0
    assert log_mean_exp([-np.inf, -np.inf]) == -np.inf
    assert log_mean_exp([-np.inf, 0.0]) == pytest.approx(-np.log(2))
    assert np.isnan(log_mean_exp([np.nan, 0.0]))


# Draws by name and ArviZ


@pytest.fixture
def fitted(rng):
    shape = (2, 6)
    return SimpleNamespace(
        posterior_labels_=rng.integers(3, size=(*shape, 10)),
        log_joint_=rng.normal(size=shape),
        hyperparameters_={
            "concentration": rng.gamma(1.0, size=shape),
            "discount": np.zeros(shape),
            "columns": {"age": {"mu": rng.normal(size=shape), "alpha": rng.gamma(1.0, size=(*shape, 4))}},
        },
    )


NAMES = {"n_clusters", "log_joint", "concentration", "discount", "age.mu"}


def test_scalar_draws(fitted):
    draws = scalar_draws(fitted)
    assert set(draws) == NAMES
    counts = [[len(set(labels)) for labels in chain] for chain in fitted.posterior_labels_.tolist()]
    np.testing.assert_array_equal(draws["n_clusters"], counts)
    assert draws["age.mu"] is fitted.hyperparameters_["columns"]["age"]["mu"]
    assert set(scalar_draws(fitted, columns=False)) == NAMES - {"age.mu"}


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_to_arviz_with_the_version_installed(fitted):
    pytest.importorskip("arviz")
    posterior = to_arviz(fitted).posterior
    assert set(posterior.data_vars) == NAMES
    assert posterior["age.mu"].dims == ("chain", "draw")
    np.testing.assert_array_equal(posterior["concentration"], fitted.hyperparameters_["concentration"])


@pytest.mark.parametrize("version, nested", [("0.23.4", False), ("1.3.0", True), ("10.0.0", True)])
def test_to_arviz_speaks_both_dialects(fitted, monkeypatch, version, nested):
    fake = ModuleType("arviz")
    fake.__version__ = version
    fake.from_dict = lambda *args, **kwargs: (args, kwargs)
    monkeypatch.setitem(sys.modules, "arviz", fake)
    args, kwargs = to_arviz(fitted)
    posterior = args[0]["posterior"] if nested else kwargs["posterior"]
    assert set(posterior) == NAMES
    assert (len(args), len(kwargs)) == ((1, 0) if nested else (0, 1))


def test_to_arviz_without_arviz(fitted, monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match="pip install arviz"):
        to_arviz(fitted)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: binder_loss([0, 1], [0]), "same rows"),
        (lambda: binder_loss([[0, 1]], [[0, 1]]), r"shape \(n_samples,\)"),
        (lambda: expected_loss([0, 1], [[0, 1]]), r"wrap one as \[labels\]"),
        (lambda: expected_loss([[0, 1]], [[0, 1]], loss="rand"), "loss must be one of"),
        (lambda: representative_draw([[0, 1]]), "n_chains, n_draws, n_samples"),
        (lambda: representative_draw([[[0, 1]]], n_candidates=0), "n_candidates must be at least 1, got 0"),
        (lambda: relabel([0, 1], order="name"), "order must be"),
        (lambda: log_mean_exp([]), "must not be empty"),
        (lambda: co_clustering([0, 1]), r"shape \(..., n_samples\)"),
        (lambda: scalar_draws(SimpleNamespace()), "fit it first"),
    ],
)
def test_errors_name_the_parameter(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("n_clusters", [(1, 1), (1, 4), (3, 5), (60, 60), (60, 2)])
def test_adjusted_rand_is_that_of_scikit_learn(n_clusters):
    rng = np.random.default_rng(0)
    for n_rows in (2, 7, 60):
        for _ in range(5):
            a, b = (rng.integers(n, size=n_rows) for n in n_clusters)
            expected = adjusted_rand_score(a, b)
            assert adjusted_rand(encode_labels(a), encode_labels(b)) == pytest.approx(expected, abs=1e-12)
    singletons = np.arange(9)
    assert adjusted_rand(encode_labels(singletons), encode_labels(singletons[::-1])) == 1.0
    assert adjusted_rand(encode_labels(singletons[:1]), encode_labels(singletons[:1])) == 1.0
