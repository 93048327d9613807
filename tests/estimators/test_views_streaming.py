"""partial_fit of CrossCat: rows in chunks, views, densities of rows to come, memory, errors."""

from __future__ import annotations

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

from sklearn_subanneal import CrossCat
from sklearn_subanneal.datasets import make_planted_views
from sklearn_subanneal.partitions import CRP, NGGP
from sklearn_subanneal.portable import load, save
from sklearn_subanneal.shards import ShardedTable

N_CLUSTERS = (3, 4)


def planted(n_rows, n_columns=8, seed=0, missing=0.05):
    return make_planted_views(n_rows, n_columns, N_CLUSTERS, missing=missing, random_state=seed)


def mixed_table(n_rows, seed=0):
    """Columns of all types in two views, with gaps."""
    rng = np.random.default_rng(seed)
    one, other = rng.integers(4, size=(2, n_rows))
    frame = pd.DataFrame(5.0 * one[:, None] + rng.normal(size=(n_rows, 2)), columns=["a", "b"])
    frame["skewed"] = np.exp(0.3 * one + 0.2 * rng.normal(size=n_rows))
    frame["spiked"] = np.where(rng.random(n_rows) < 0.4, 0.0, 2.0 + one + rng.normal(size=n_rows))
    frame["angle"] = np.mod(other + 0.2 * rng.normal(size=n_rows), 2 * np.pi)
    frame["count"] = rng.poisson(3.0 + 4.0 * other).astype(float)
    frame["grade"] = np.clip(other + rng.integers(-1, 2, size=n_rows), 0, 4).astype(float)
    frame["name"] = np.array(["red", "green", "blue"], object)[np.minimum(other, rng.integers(3, size=n_rows))]
    frame["flag"] = rng.random(n_rows) < 0.2 + 0.15 * one
    for column in frame.columns[:-1]:
        frame.loc[rng.random(n_rows) < 0.08, column] = None
    return frame


TYPES = dict(zip("a b skewed spiked angle count grade".split(),
                 "real real skewed semicontinuous cyclic count ordinal".split(), strict=True))  # fmt: skip


def model(**settings):
    return CrossCat(**{"n_chains": 2, "max_sweeps": 5, "random_state": 0} | settings)


def in_chunks(estimator, X, size):
    for at in range(0, len(X), size):
        estimator.partial_fit(X[at : at + size])
    return estimator


def test_views_and_clusters_of_all_chunks_are_found():
    views = planted(1500)
    X, types = views.data, views.feature_types
    estimator = in_chunks(model(window=400, feature_types=types), X, 100)
    assert adjusted_rand_score(views.column_labels, estimator.column_labels_) == 1.0
    assert estimator.n_samples_seen_ == 1500
    assert estimator.view_labels_.shape == (100, 2)
    assert_array_equal(estimator.view_labels_, estimator.predict_views(X[-100:]))
    assert_array_equal(estimator.labels_, estimator.predict(X[-100:]))
    assert_array_equal(estimator.posterior_rows_, np.arange(1000, 1500))
    assert estimator.posterior_labels_.shape == (2, 1, 500)
    assert estimator.posterior_column_labels_.shape == (2, 1, 8)
    assert estimator.view_confidence_.shape == (500, 2)
    assert estimator.dependence_.shape == (8, 8)
    assert not np.isnan(estimator.impute(X[:20])).any()
    assert estimator.sample(5, random_state=0).shape == (5, 8)
    assert estimator.row_similarity([1000, 1499]).shape == (2, 2)
    evidence = np.where(np.arange(8) < 2, X[:5], np.nan)
    assert estimator.score_samples(np.where(np.arange(8) < 2, np.nan, X[:5]), given=evidence).shape == (5,)
    assert estimator.trace_["n_assigned"].max() == 1500
    assert_allclose(estimator.chain_weights_.sum(), 1.0)
    assert all(view.sizes.sum() == 1500 for draw in estimator._flat_draws() for view in draw.views)


def test_evidence_is_the_density_of_the_rows_to_come():
    """Before a row enters, the model gives it the density by which the evidence then grows."""
    frame = mixed_table(230)
    estimator = model(feature_types=TYPES, schedule="sequential").partial_fit(frame[:220])
    for row in range(220, 230):
        before, expected = estimator.log_evidence_, estimator.score_samples(frame[row : row + 1])
        estimator.partial_fit(frame[row : row + 1])
        assert_allclose(estimator.log_evidence_ - before, expected[0], atol=2e-3, rtol=1e-4)


def test_chunks_do_not_matter():
    """The same bits however the rows are cut into chunks, also where the window is full."""
    frame = mixed_table(500)
    started = in_chunks(model(window=100, feature_types=TYPES), frame[:200], 100)
    small, large = (in_chunks(pickle.loads(pickle.dumps(started)), frame[200:], size) for size in (70, 300))
    assert small.log_evidence_ == large.log_evidence_
    assert_array_equal(small.log_joint_, large.log_joint_)
    assert_array_equal(small.posterior_column_labels_, large.posterior_column_labels_)
    assert_array_equal(small.score_samples(frame), large.score_samples(frame))


def test_columns_change_their_view_by_rows_that_are_gone():
    """Two columns are put into the wrong views; few of the rows are still at hand."""
    views = planted(1200, missing=0.0)
    estimator = in_chunks(model(window=100, n_chains=1, feature_types=views.feature_types), views.data[:1000], 500)
    estimator = pickle.loads(pickle.dumps(estimator))
    (state,) = estimator._stream.states
    labels = state.column_labels
    assert adjusted_rand_score(views.column_labels, labels) == 1.0
    labels[[0, 1]] = labels[[1, 0]]
    estimator.partial_fit(views.data[1000:])
    assert adjusted_rand_score(views.column_labels, estimator.column_labels_) == 1.0


@pytest.mark.slow
def test_as_good_as_a_fit_of_all_rows():
    views, new = planted(20_000, 12, missing=0.0), 1000
    X, types = views.data[:-new], views.feature_types
    streamed = in_chunks(model(window=2000, feature_types=types), X, 500)
    whole = model(covariance_type="diag", feature_types=types).fit(X)
    assert adjusted_rand_score(views.column_labels, streamed.column_labels_) == 1.0
    assert abs(streamed.score(views.data[-new:]) - whole.score(views.data[-new:])) < 0.05


def test_clusters_that_are_gone_count():
    """None of the latest rows is in one of the clusters of each view."""
    rng = np.random.default_rng(0)
    one, other = rng.integers(3, size=(2, 2000, 1))
    X = np.hstack([9 * one + rng.normal(size=(2000, 2)), 9 * other + rng.normal(size=(2000, 2))])
    last = np.arange(2000) >= 900
    X = X[~last | ((one > 0) & (other > 0))[:, 0]]
    estimator = in_chunks(model(window=200), X, 100)
    assert estimator.n_clusters_ == 3
    assert estimator._n_groups == [3, 3]


def test_fit_goes_on_with_its_views():
    views = planted(900)
    X, types = views.data, views.feature_types
    estimator = model(covariance_type="diag", feature_types=types).fit(X[:600])
    ends = [result.draws[-1] for result in estimator._results]
    in_chunks(estimator, X[600:], 100)
    assert estimator.n_samples_seen_ == 900
    assert_array_equal(estimator.posterior_column_labels_[:, 0], [end.column_labels for end in ends])
    assert all(view.sizes.sum() == 900 for draw in estimator._flat_draws() for view in draw.views)
    whole = model(covariance_type="diag", feature_types=types).fit(X)
    assert abs(estimator.score(X) - whole.score(X)) < 0.1


def test_fit_to_shards_goes_on():
    views = planted(1200)
    X = views.data
    estimator = model(n_draws=2, feature_types=views.feature_types).fit(ShardedTable(X[:900], n_start_rows=400))
    estimator.partial_fit(X[900:])
    assert estimator.n_samples_seen_ == 1200
    assert all(view.sizes.sum() == 1200 for draw in estimator._flat_draws() for view in draw.views)


def test_fit_starts_anew():
    views = planted(200)
    settings = {"covariance_type": "diag", "feature_types": views.feature_types, "n_draws": 2}
    estimator = in_chunks(model(**settings), views.data, 100)
    assert_array_equal(estimator.fit(views.data).log_joint_, model(**settings).fit(views.data).log_joint_)
    assert not hasattr(estimator, "n_samples_seen_")
    assert not hasattr(estimator, "log_evidence_")
    assert estimator.view_confidence_.shape == (200, estimator.n_views_)


def test_memory_is_bounded():
    """What is kept of 2,000 rows is as large as what is kept of 1,000."""
    views = planted(2000)
    sizes, estimator = [], model(window=300, feature_types=views.feature_types)
    for half in np.split(views.data, 2):
        in_chunks(estimator, half, 100)
        assert {len(array) for array in estimator._stream.arrays} == {300}
        assert all(len(view.labels) == 300 for state in estimator._stream.states for view in state.views)
        sizes.append(len(pickle.dumps(estimator)))
    assert sizes[1] < 1.1 * sizes[0]


def test_weights_are_repeated_rows():
    views, weights = planted(200), np.arange(200) % 3
    X, settings = views.data, {"schedule": "sequential", "feature_types": views.feature_types}
    weighted = model(**settings).partial_fit(X[:99], sample_weight=weights[:99])
    weighted.partial_fit(X[99:], sample_weight=weights[99:])
    repeated = model(**settings).partial_fit(np.repeat(X[:99], weights[:99], axis=0))
    repeated.partial_fit(np.repeat(X[99:], weights[99:], axis=0))
    assert weighted.n_samples_seen_ == weights.sum()
    assert weighted.log_evidence_ == repeated.log_evidence_
    assert len(weighted.labels_) == 101


def test_threads_and_files(tmp_path):
    views = planted(400)
    X, types = views.data, views.feature_types
    one, two = (in_chunks(model(n_jobs=n_jobs, feature_types=types, window=150), X[:300], 100) for n_jobs in (1, 2))
    assert one.log_evidence_ == two.log_evidence_
    save(one, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.partial_fit(X[300:]).log_evidence_ == one.partial_fit(X[300:]).log_evidence_


def test_unseen_categories():
    frame = mixed_table(200)
    strange = frame[:3].assign(name="violet")
    estimator = model(feature_types=TYPES, n_chains=1).partial_fit(frame)
    estimator.partial_fit(strange)
    assert np.isfinite(estimator.log_evidence_)
    strict = model(feature_types=TYPES, n_chains=1, unseen="error").partial_fit(frame)
    with pytest.raises(ValueError, match="violet"):
        strict.partial_fit(strange)
    assert strict.n_samples_seen_ == 200


def test_full_covariance_is_refused():
    views = planted(200)
    X, types = views.data, views.feature_types
    full = model(covariance_type="full", feature_types=types)
    assert not hasattr(full, "partial_fit")
    with pytest.raises(AttributeError, match="no attribute 'partial_fit'") as caught:
        full.partial_fit(X)
    assert re.search(
        r"covariance_type='full' does not suit partial_fit.*'diag', or 'auto'", str(caught.value.__cause__)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = model(feature_types=types, n_draws=1, max_sweeps=1).fit(X)
    assert estimator.covariance_type_ == "full"
    with pytest.raises(AttributeError) as caught:
        estimator.partial_fit(X)
    assert "covariance_type='auto' became 'full' in the last fit" in str(caught.value.__cause__)
    assert model(feature_types=types).partial_fit(X).covariance_type_ == "diag"


@pytest.mark.parametrize(
    ("settings", "X", "message"),
    [
        ({"row_partition": NGGP()}, planted(50).data, "row_partition must have predictive probabilities"),
        ({"window": 0}, planted(50).data, "'window' parameter"),
        ({}, ShardedTable(planted(50).data), "not a ShardedTable"),
        (
            {"column_partition": CRP(concentration=1e6), "schedule": "sequential"},
            planted(50, 30).data,
            "hardly ever at most 20 views of 30 columns",
        ),
        ({"row_partition": CRP}, planted(50).data, "row_partition must be an object, got the class CRP"),
    ],
)
def test_errors(settings, X, message):
    with pytest.raises(ValueError, match=message):
        model(**settings).partial_fit(X)


def test_failed_calls_change_nothing():
    views = planted(300)
    estimator = in_chunks(model(feature_types=views.feature_types), views.data[:200], 100)
    before, strange = estimator.log_evidence_, views.data[200:].copy()
    strange[3, 0] = 1e30
    twin = pickle.loads(pickle.dumps(estimator))
    with pytest.raises(ValueError, match=r"column 0 .* has .*1e\+30"):
        estimator.partial_fit(strange)
    assert estimator.log_evidence_ == before
    assert estimator.partial_fit(views.data[200:]).log_evidence_ == twin.partial_fit(views.data[200:]).log_evidence_


def test_one_column_and_fixed_hyperparameters():
    """With nothing to learn, partitions stay as they are given; a single column has a single view."""
    priors = {"row_partition": CRP(concentration=0.5), "column_partition": CRP(concentration=0.7)}
    X = planted(200).data
    estimator = in_chunks(model(learn_hyperparameters=False, **priors), X[:, :1], 50)
    assert estimator.hyperparameters_["concentration"].tolist() == [[[0.5]], [[0.5]]]
    assert estimator.hyperparameters_["column_concentration"].tolist() == [[0.7], [0.7]]
    assert estimator.n_views_ == 1


def test_confidence_after_a_fit_in_shards_is_that_of_the_kept_rows(monkeypatch):
    monkeypatch.setattr("sklearn_subanneal.estimators._sharded_fit.MOST_KEPT", 50)
    views = planted(300)
    estimator = model(n_draws=2, feature_types=views.feature_types).fit(ShardedTable(views.data, n_start_rows=200))
    assert estimator.view_labels_.shape == (300, estimator.n_views_)
    assert estimator.view_confidence_.shape == (50, estimator.n_views_)
    assert_array_equal(estimator._kept_view_labels, estimator.view_labels_[estimator.posterior_rows_])
