"""Parameters that are changed between calls of partial_fit: those that would be ignored are refused."""

from __future__ import annotations

import pickle

import pytest
from numpy.testing import assert_array_equal
from support.tables import blobs

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal.annealing import StratifiedSubsampling
from sklearn_subanneal.partitions import CRP, PitmanYor
from sklearn_subanneal.portable import load, save
from sklearn_subanneal.shards import ShardedTable

X = blobs(240)
BRIEF = {"n_chains": 2, "n_draws": 2, "max_sweeps": 2, "covariance_type": "diag", "random_state": 0}


def mixture(**settings):
    return SubsampleAnnealedDPMM(**BRIEF | settings)


REFUSED = [
    (mixture(), {"partition": "dp"}, r"partition was 'pitman-yor' when .*, and is 'dp': set it back, or begin anew"),
    (mixture(), {"n_chains": 3}, "n_chains was 2"),
    (mixture(), {"covariance_type": "full"}, "covariance_type was 'diag'"),
    (mixture(), {"feature_types": ["real", "skewed"]}, "feature_types was 'auto'"),
    (mixture(), {"feature_params": {"real": {"nu": 3.0}}}, "feature_params was None"),
    (mixture(), {"feature_grids": {"real": {"nu": [3.0]}}}, "feature_grids was None"),
    (mixture(), {"grids": "fixed"}, "grids was 'data'"),
    (mixture(), {"missing_indicator": ["x0"]}, "missing_indicator was None"),
    (
        mixture(partition=CRP()),
        {"partition__concentration": 2.0},
        r"partition was CRP\(\) .* is CRP\(concentration=2.0\)",
    ),
    (CrossCat(**BRIEF), {"row_partition": "dp"}, "row_partition was 'pitman-yor'"),
    (CrossCat(**BRIEF), {"column_partition": CRP()}, "column_partition was 'pitman-yor'"),
]
OF_PARTICLES = [
    (mixture(), {"learn_hyperparameters": False}, "learn_hyperparameters was True"),
    (CrossCat(**BRIEF), {"learn_from": 20}, "learn_from was None"),
    (mixture(schedule="sequential"), {"schedule": "anneal"}, "schedule was 'sequential'"),
]
ACCEPTED = [
    {"window": 60, "n_jobs": 2, "random_state": 5, "unseen": "missing", "sparse_output": True},
    {
        "moves": ["gibbs"],
        "schedule": "prior",
        "effort": 0.5,
        "max_sweeps": 1,
        "time_limit": 9.0,
        "subsampling": "random",
    },
    {"n_draws": 3, "thin": 2, "warm_start": True},
]


def changed(estimator, begin, settings):
    """An estimator that has learned rows, with parameters that are others since."""
    begun = begin(pickle.loads(pickle.dumps(estimator)))
    return begun, pickle.loads(pickle.dumps(begun)).set_params(**settings)


def streamed(estimator):
    return estimator.partial_fit(X[:100])


@pytest.mark.parametrize("begin", [streamed, lambda own: own.fit(X[:100])], ids=["stream", "fit"])
@pytest.mark.parametrize(("estimator", "settings", "message"), REFUSED)
def test_the_model_stays(estimator, begin, settings, message):
    begun, other = changed(estimator, begin, settings)
    if "partition__concentration" in settings:
        # The object itself is changed.
        other = begun.set_params(**settings)
        begun = pickle.loads(pickle.dumps(other)).set_params(partition=CRP())
    before = dict(vars(other))
    with pytest.raises(ValueError, match=message):
        other.partial_fit(X[100:130])
    assert vars(other) == before
    other.set_params(**begun.get_params(deep=False)).partial_fit(X[100:130])
    assert_array_equal(other.log_joint_, begun.partial_fit(X[100:130]).log_joint_)
    # A fit starts anew.
    if settings.get("covariance_type") != "full":
        assert other.set_params(**settings).fit(X[:60]).partial_fit(X[60:70]).n_samples_seen_ == 70


@pytest.mark.parametrize(("estimator", "settings", "message"), OF_PARTICLES)
def test_particles_learn_as_they_began(estimator, settings, message):
    _, other = changed(estimator, streamed, settings)
    with pytest.raises(ValueError, match=message):
        other.partial_fit(X[100:130])
    # Those that begin after a fit may learn in another way than its chains.
    _, other = changed(estimator, lambda own: own.fit(X[:100]), settings)
    assert other.partial_fit(X[100:130]).n_samples_seen_ == 130
    if "schedule" not in settings:
        with pytest.raises(ValueError, match=f"{next(iter(settings))} was"):
            other.set_params(**estimator.get_params(deep=False)).partial_fit(X[130:140])


@pytest.mark.parametrize("settings", ACCEPTED)
def test_what_says_how_rows_are_moved_may_change(settings):
    for begin in (streamed, lambda own: own.fit(X[:100])):
        _, other = changed(mixture(), begin, settings)
        assert other.partial_fit(X[100:200]).partial_fit(X[200:]).n_samples_seen_ == 240


def test_what_auto_has_chosen_is_no_change():
    estimator = SubsampleAnnealedDPMM(max_sweeps=2, random_state=0).partial_fit(X[:60])
    estimator.set_params(n_chains=4, covariance_type=estimator.covariance_type_)
    assert estimator.partial_fit(X[60:200]).n_samples_seen_ == 200
    assert estimator.set_params(n_chains="auto").partial_fit(X[200:]).n_chains_ == 4
    with pytest.raises(ValueError, match=r"n_chains was 'auto' when .*, and is 2"):
        estimator.set_params(n_chains=2).partial_fit(X[:2])


def test_equal_objects_are_no_change(tmp_path):
    estimator = mixture(partition=PitmanYor(discount=0.2), subsampling=StratifiedSubsampling(column=0)).partial_fit(
        X[:50]
    )
    estimator.set_params(partition=PitmanYor(discount=0.2)).partial_fit(X[50:60])
    save(estimator, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.partial_fit(X[60:90]).log_evidence_ == estimator.partial_fit(X[60:90]).log_evidence_
    with pytest.raises(ValueError, match=r"partition was PitmanYor\(discount=0.2\)"):
        again.set_params(partition="pitman-yor").partial_fit(X[:1])


def test_after_a_fit_to_shards():
    estimator = mixture().fit(ShardedTable(X, n_start_rows=100)).set_params(n_chains=1)
    with pytest.raises(ValueError, match="n_chains was 2"):
        estimator.partial_fit(X[:1])
    assert estimator.set_params(n_chains=2).partial_fit(X[:1]).n_samples_seen_ == 241
