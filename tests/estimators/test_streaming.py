"""partial_fit of SubsampleAnnealedDPMM: rows in chunks, densities of rows to come, memory, errors."""

from __future__ import annotations

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import check_fit_score_takes_y
from support.tables import blobs, with_gaps
from support.tiers import quick_only

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal.annealing import SubsampleAnneal
from sklearn_subanneal.mixtures.stacking import chain_weights_of_mixtures
from sklearn_subanneal.partitions import CRP, NIG
from sklearn_subanneal.portable import load, save
from sklearn_subanneal.shards import ShardedTable

N_GROUPS = 4


def mixed_table(n_rows, seed=0):
    """Four groups in columns of all types, with gaps."""
    rng = np.random.default_rng(seed)
    group = rng.integers(N_GROUPS, size=n_rows)
    frame = pd.DataFrame(5.0 * group[:, None] + rng.normal(size=(n_rows, 3)), columns=["a", "b", "c"])
    frame["skewed"] = np.exp(0.3 * group + 0.2 * rng.normal(size=n_rows))
    frame["spiked"] = np.where(rng.random(n_rows) < 0.4, 0.0, 2.0 + group + rng.normal(size=n_rows))
    frame["angle"] = np.mod(group + 0.2 * rng.normal(size=n_rows), 2 * np.pi)
    frame["count"] = rng.poisson(3.0 + 4.0 * group).astype(float)
    frame["grade"] = np.clip(group + rng.integers(-1, 2, size=n_rows), 0, 4).astype(float)
    frame["name"] = np.array(["red", "green", "blue"], object)[np.minimum(group, rng.integers(3, size=n_rows))]
    frame["flag"] = rng.random(n_rows) < 0.2 + 0.15 * group
    for column in frame.columns[:-1]:
        frame.loc[rng.random(n_rows) < 0.08, column] = None
    return frame, group


TYPES = {
    "skewed": "skewed",
    "spiked": "semicontinuous",
    "angle": "cyclic",
    "count": "count",
    "grade": "ordinal",
    "a": "real",
    "b": "real",
    "c": "real",
}


def model(**settings):
    return SubsampleAnnealedDPMM(**{"n_chains": 2, "max_sweeps": 5, "random_state": 0} | settings)


def in_chunks(estimator, X, size):
    for at in range(0, len(X), size):
        estimator.partial_fit(X[at : at + size])
    return estimator


@pytest.mark.parametrize(
    ("n_chains", "covariance_type"),
    quick_only([(1, "diag"), (1, "full"), (3, "diag"), (3, "full")], (1, "diag"), (3, "full")),
)
def test_evidence_is_the_density_of_the_rows_to_come(covariance_type, n_chains):
    """Before a row enters, the model gives it the density by which the evidence then grows."""
    frame, _ = mixed_table(360)
    estimator = model(n_chains=n_chains, covariance_type=covariance_type, feature_types=TYPES, schedule="sequential")
    estimator.partial_fit(frame[:330])
    for row in range(330, 360):
        before, expected = estimator.log_evidence_, estimator.score_samples(frame[row : row + 1])
        estimator.partial_fit(frame[row : row + 1])
        assert_allclose(estimator.log_evidence_ - before, expected[0], atol=2e-3, rtol=1e-4)
    assert estimator.n_samples_seen_ == 360


@pytest.mark.parametrize("window", [100, pytest.param(10_000, marks=pytest.mark.slow)])
def test_chunks_do_not_matter_to_a_sequential_start(window):
    """The same bits however the rows are cut into chunks."""
    frame, _ = mixed_table(1000)
    started = model(window=window, feature_types=TYPES, schedule="sequential").partial_fit(frame[:200])
    small, large = (in_chunks(pickle.loads(pickle.dumps(started)), frame[200:], size) for size in (73, 800))
    assert small.log_evidence_ == large.log_evidence_
    assert_array_equal(small.log_joint_, large.log_joint_)
    assert_array_equal(small.score_samples(frame), large.score_samples(frame))
    assert_array_equal(small.posterior_labels_[:, :, -70:], large.posterior_labels_[:, :, -70:])


def test_after_the_window_chunks_do_not_matter():
    X = with_gaps(blobs(1500, 3))
    started = in_chunks(model(window=300), X[:600], 100)
    small, large = (in_chunks(pickle.loads(pickle.dumps(started)), X[600:], size) for size in (90, 900))
    assert small.log_evidence_ == large.log_evidence_
    assert_array_equal(small.score_samples(X), large.score_samples(X))


@pytest.mark.parametrize("settings", [{}, {"covariance_type": "full"}, {"partition": "dp"}])
def test_clusters_of_all_chunks_are_found(settings):
    X = with_gaps(blobs(900, 3), 0.05)
    estimator = in_chunks(model(window=200, **settings), X, 50)
    assert estimator.n_clusters_ == 3
    assert adjusted_rand_score(np.arange(900) % 3, estimator.predict(X)) > 0.98
    assert_array_equal(estimator.labels_, estimator.predict(X[-50:]))
    assert_array_equal(estimator.posterior_rows_, np.arange(650, 900))
    assert estimator.posterior_labels_.shape == (2, 1, 250)
    assert estimator.predict_proba(X).shape == (900, 3)
    assert estimator.sample(5, random_state=0).shape == (5, 3)
    assert estimator.sample(5, random_state=0, keep_missing=True).shape == (5, 3)
    assert not np.isnan(estimator.impute(X)).any()
    assert estimator.co_clustering([650, 899]).shape == (2, 2)
    assert estimator.trace_["n_assigned"].max() == 900
    assert_allclose(estimator.chain_weights_.sum(), 1.0)
    assert all(draw.sizes.sum() == 900 for draw in estimator._flat_draws())


@pytest.mark.slow
def test_as_good_as_a_fit_of_all_rows():
    (frame, _), (new, _) = mixed_table(4000), mixed_table(1000, 9)
    whole = model(feature_types=TYPES).fit(frame)
    streamed = in_chunks(model(feature_types=TYPES, window=1000), frame, 200)
    assert abs(streamed.score(new) - whole.score(new)) < 0.02


def test_clusters_that_are_gone_count():
    """None of the latest rows is in the first of three groups."""
    X, group = blobs(3000, 3), np.arange(3000) % 3
    chosen = (np.arange(3000) < 900) | (group > 0)
    estimator = in_chunks(model(window=200), X[chosen], 100)
    assert estimator.n_clusters_ == 3
    assert adjusted_rand_score(group, estimator.predict(X)) > 0.99


@pytest.mark.slow
def test_clusters_that_appear_later():
    """Rows of one group after those of another, near to it: by then these have left the window."""
    rng = np.random.default_rng(0)
    early, late = rng.normal(size=(1500, 2)), rng.normal(size=(1500, 2)) + [2.6, 0.0]
    rows = np.concatenate([early, late])
    estimators = [model(window=500, covariance_type="full").set_params(random_state=seed) for seed in range(3)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Labels of two clusters that overlap differ.
        whole = model(covariance_type="full").fit(rows)
    new = np.concatenate([rng.normal(size=(1000, 2)), rng.normal(size=(1000, 2)) + [2.6, 0.0]])
    scores = [in_chunks(estimator, rows, 100).score(new) for estimator in estimators]
    assert np.mean(scores) > whole.score(new) - 0.02


@pytest.mark.parametrize("covariance_type", [pytest.param("diag", marks=pytest.mark.slow), "full"])
def test_fit_goes_on(covariance_type):
    X = with_gaps(blobs(900, 3), 0.05)
    estimator = model(covariance_type=covariance_type).fit(X[:600])
    joint = estimator.log_joint_[:, -1]
    expected = np.log(np.mean([np.exp(clone(estimator).fit(X[:600]).score_samples(X[600:601]))]))
    ends = [result.draws[-1] for result in estimator._results]
    estimator.partial_fit(X[600:601])
    assert [draw.sizes.sum() for draw in estimator._flat_draws()] == [end.sizes.sum() + 1 for end in ends]
    # Densities of the last draws are near those of all draws.
    assert_allclose(estimator.log_evidence_, expected, atol=0.3)
    assert_allclose(estimator.log_joint_[:, 0] - joint, estimator.log_evidence_, atol=6.0)
    in_chunks(estimator, X[601:], 100)
    assert estimator.n_samples_seen_ == 900
    assert adjusted_rand_score(np.arange(900) % 3, estimator.predict(X)) > 0.98


@pytest.mark.parametrize("window", [10_000, 150])
def test_first_annealed_chains_are_weighted_as_those_of_a_fit(window):
    X = blobs(200, gap=3.0)
    found = model(n_chains=3, max_sweeps=1, window=window).partial_fit(X)
    arrays = found._encode(X)
    expected = chain_weights_of_mixtures(
        found._models, found._draws, found.posterior_labels_, arrays, np.ones(len(X), int)
    )
    assert np.ptp(expected) > 1e-3
    assert_allclose(found.chain_weights_, expected, rtol=1e-6)


def refusal(estimator, chunks) -> str:
    """Why a stream is refused, if it is."""
    try:
        for rows in chunks:
            estimator.partial_fit(rows)
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("kind", [SubsampleAnnealedDPMM, CrossCat])
def test_first_rows_that_are_all_the_same(kind):
    """The number that they have, for which the column has its type, may be one of many later."""
    rng, settings = np.random.default_rng(0), {"n_chains": 2, "max_sweeps": 5, "random_state": 0}
    levels = kind(covariance_type="diag", **settings)
    assert refusal(levels, [np.full((50, 1), 20.0), np.full((50, 1), 21.5)]) == ""
    assert levels.n_samples_seen_ == 100 and levels._models[0].atoms.tolist() == [20.0]
    # Atoms that the rows have are theirs.
    assert refusal(levels, [rng.normal(size=(150, 1))]) == ""
    assert levels._models[0].atoms.tolist() == [20.0, 21.5]
    gaps = kind(covariance_type="diag", **settings)
    assert refusal(gaps, [np.r_[[np.nan] * 9, 1.0][:, None], rng.normal(size=(30, 1))]) == ""
    assert gaps._models[0].atoms.tolist() == [1.0]


def test_first_row_alone(tmp_path):
    X = np.random.default_rng(0).normal(size=(44, 3)) + [0.0, 5.0, 50.0]
    estimator = model(feature_types={1: "real", 2: "real"})
    assert refusal(estimator, np.split(X[:20], 20)) == ""
    save(estimator, tmp_path / "model")
    # Now the covariance is chosen by trial.
    loaded = load(tmp_path / "model")
    assert refusal(loaded, [X[20:]]) == ""
    assert loaded.n_samples_seen_ == 44 and loaded._models[0].atoms.tolist() == [X[0, 0]]
    given = model(feature_params={"x0": {"atoms": 7.0}})
    assert refusal(given, [X[:1], X[1:]]) == "" and given._models[0].atoms.tolist() == [7.0]


def test_fit_to_shards_goes_on():
    X = with_gaps(blobs(2000, 3), 0.05)
    for covariance_type in ("diag", "full"):
        estimator = model(covariance_type=covariance_type, n_draws=2)
        estimator.fit(ShardedTable(X[:1500], n_start_rows=500)).partial_fit(X[1500:])
        whole = model(covariance_type=covariance_type, n_draws=2).fit(X)
        assert estimator.n_samples_seen_ == 2000
        assert abs(estimator.score(X) - whole.score(X)) < 0.01


def test_fit_to_shards_goes_on_with_columns_of_all_types():
    frame, _ = mixed_table(600)
    estimator = model(feature_types=TYPES, n_draws=2).fit(ShardedTable(frame[:500], n_start_rows=300))
    before = estimator.score_samples(frame[500:501])[0]
    estimator.partial_fit(frame[500:501])
    # Densities of the last draws are near those of all draws.
    assert_allclose(estimator.log_evidence_, before, atol=1.0)
    assert estimator.partial_fit(frame[501:]).n_samples_seen_ == 600


def test_fit_starts_anew():
    X = blobs(300)
    estimator = in_chunks(model(warm_start=True), X, 100)
    assert_array_equal(estimator.fit(X).log_joint_, model().fit(X).log_joint_)
    assert not hasattr(estimator, "n_samples_seen_")
    assert not hasattr(estimator, "log_evidence_")
    assert not hasattr(estimator, "posterior_rows_")


def test_fit_to_shards_is_not_continued():
    """Chains of a table in shards are none that a warm start could continue."""
    X = blobs(300)
    estimator = model(warm_start=False, n_draws=2, max_sweeps=2).fit(ShardedTable(X, n_start_rows=100))
    expected = model(n_draws=2, max_sweeps=2).fit(X).log_joint_
    assert_array_equal(estimator.set_params(warm_start=True).fit(X).log_joint_, expected)


def test_memory_is_bounded():
    """What is kept of 3,000 rows is as large as what is kept of 1,500."""
    X = with_gaps(blobs(3000, 3))
    sizes = []
    estimator = model(window=400, covariance_type="full")
    for half in np.split(X, 2):
        in_chunks(estimator, half, 100)
        assert {len(array) for array in estimator._stream.arrays} == {400}
        assert all(len(state.labels) == 400 for state in estimator._stream.states)
        sizes.append(len(pickle.dumps(estimator)))
    assert sizes[1] < 1.1 * sizes[0]


def test_weights_are_repeated_rows():
    X, weights = blobs(300), np.arange(300) % 3
    weighted = model(schedule="sequential").partial_fit(X[:99], sample_weight=weights[:99])
    weighted.partial_fit(X[99:], sample_weight=weights[99:])
    repeated = model(schedule="sequential").partial_fit(np.repeat(X[:99], weights[:99], axis=0))
    repeated.partial_fit(np.repeat(X[99:], weights[99:], axis=0))
    assert weighted.n_samples_seen_ == weights.sum()
    assert weighted.log_evidence_ == repeated.log_evidence_
    assert len(weighted.labels_) == 201


def test_threads_and_files(tmp_path):
    X = with_gaps(blobs(400, 3), 0.05)
    one, two = (in_chunks(model(n_jobs=n_jobs, covariance_type="full"), X[:300], 100) for n_jobs in (1, 2))
    assert one.log_evidence_ == two.log_evidence_
    save(one, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.partial_fit(X[300:]).log_evidence_ == one.partial_fit(X[300:]).log_evidence_


def test_documents():
    words = [["red", "green", "blue"], ["one", "two", "three"]]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words[i % 2], 12)) for i in range(200)]
    X = CountVectorizer().fit_transform(texts)
    estimator = model(feature_types="bag-of-words", window=60)
    for at in range(0, 200, 40):
        estimator.partial_fit(X[at : at + 40])
    assert adjusted_rand_score(np.arange(200) % 2, estimator.predict(X)) == 1.0
    assert estimator.sample(3, random_state=0).shape == (3, 6)


def test_first_missing_cells_of_a_block_come_late():
    X = blobs(300, 3)
    estimator = model(covariance_type="full").partial_fit(X[:200])
    estimator.partial_fit(with_gaps(X[200:], 0.2))
    assert estimator._models[0].stateful
    assert adjusted_rand_score(np.arange(300) % 3, estimator.predict(X)) == 1.0


def test_unseen_categories():
    frame, _ = mixed_table(300)
    strange = frame[:3].assign(name="violet")
    estimator = model(feature_types=TYPES).partial_fit(frame)
    estimator.partial_fit(strange)
    assert np.isfinite(estimator.log_evidence_)
    strict = model(feature_types=TYPES, unseen="error").partial_fit(frame)
    with pytest.raises(ValueError, match="violet"):
        strict.partial_fit(strange)
    assert strict.n_samples_seen_ == 300


def test_failed_calls_change_nothing():
    X = blobs(300)
    estimator = in_chunks(model(), X[:200], 100)
    before, twin = estimator.log_evidence_, pickle.loads(pickle.dumps(estimator))
    with pytest.raises(ValueError, match=r"column 1 .* has 1e\+30, more than"):
        estimator.partial_fit([[0.0, 1e30]])
    with pytest.raises(ValueError, match="features"):
        estimator.partial_fit(X[:, :1])
    assert estimator.log_evidence_ == before
    assert estimator.partial_fit(X[200:]).log_evidence_ == twin.partial_fit(X[200:]).log_evidence_


@pytest.mark.parametrize(
    ("settings", "X", "message"),
    [
        ({"partition": "ngpp"}, blobs(), "'partition' parameter"),
        ({"moves": ["incremental"]}, blobs(), "moves .*'incremental'"),
        ({"window": 0}, blobs(), "'window' parameter"),
        ({}, ShardedTable(blobs()), "not a ShardedTable"),
    ],
)
def test_errors(settings, X, message):
    with pytest.raises(ValueError, match=message):
        model(**settings).partial_fit(X)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"partition": "nggp"}, "partition='nggp' does not suit partial_fit"),
        ({"partition": NIG(1.0)}, r"partition=NIG\(.*\) does not suit partial_fit"),
        ({"moves": ["incremental-hierarchy"]}, "grows no trees"),
    ],
)
def test_without_streams(settings, reason):
    """Where it does not suit there is no such method, as checks of scikit-learn ask."""
    estimator = model(**settings)
    assert hasattr(model(), "partial_fit") and not hasattr(estimator, "partial_fit")
    with pytest.raises(AttributeError, match="no attribute 'partial_fit'") as caught:
        estimator.partial_fit(blobs())
    assert re.search(reason, str(caught.value.__cause__))
    check_fit_score_takes_y(type(estimator).__name__, estimator)


def test_window_of_fixed_hyperparameters_and_partition():
    """With nothing to learn, the partition and the columns stay as they are given."""
    settings = {"learn_hyperparameters": False, "partition": CRP(concentration=0.5)}
    estimator = in_chunks(model(**settings), blobs(300), 60)
    assert estimator.hyperparameters_["concentration"].tolist() == [[0.5], [0.5]]


def test_classes_are_no_objects():
    with pytest.raises(ValueError, match="schedule must be an object, got the class SubsampleAnneal"):
        SubsampleAnnealedDPMM(schedule=SubsampleAnneal).partial_fit(blobs())


@pytest.mark.parametrize("make", [SubsampleAnnealedDPMM, CrossCat])
def test_a_distilled_model_learns_from_no_further_rows(make):
    X = np.random.default_rng(0).normal(size=(60, 2))
    given = {"covariance_type": "diag", "n_chains": 2, "random_state": 0}
    for model in (make(**given).fit(X), make(**given).partial_fit(X)):
        distilled = model.distill(max_loss=1.0)
        with pytest.raises(ValueError, match=r"this model is distilled.*Call partial_fit on the model"):
            distilled.partial_fit(X)
        model.partial_fit(X)
        assert distilled.fit(X).partial_fit(X).log_joint_.shape == (2, 1)
