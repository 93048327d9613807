"""Weights and strata of rows, given to `fit`: by scikit-learn's routing, and on to the model inside an estimator."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.tiers import quick_only

from sklearn_subanneal import (
    BayesianImputer,
    CrossCat,
    CrossCatClassifier,
    CrossCatDetector,
    CrossCatRegressor,
    SubsampleAnnealedDPMM,
    TreeGuidedNRMM,
)
from sklearn_subanneal.annealing import RandomSubsampling, StratifiedSubsampling, SubsampleAnneal
from sklearn_subanneal.annealing.subsampling import TableOrder

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

BRIEF = {"schedule": SubsampleAnneal(passes=4), "max_sweeps": 2, "n_chains": 1, "n_draws": 2, "random_state": 0}
INNER = CrossCat(**BRIEF)
N_ROWS = 40
STRATA = np.array(["rare", "usual"])[(np.arange(N_ROWS) % 5 > 0).astype(int)]
WEIGHTS = np.arange(N_ROWS) % 4
BALANCED = StratifiedSubsampling(balance=0.5)
MIXTURES = [SubsampleAnnealedDPMM(**BRIEF), TreeGuidedNRMM(**BRIEF), INNER]
AROUND = [CrossCatClassifier(INNER), CrossCatRegressor(INNER), CrossCatDetector(INNER), BayesianImputer(INNER)]


def named(estimators):
    return {"argvalues": estimators, "ids": lambda estimator: type(estimator).__name__}


def table():
    rng = np.random.default_rng(0)
    return rng.normal(size=(N_ROWS, 3)) + 3.0 * (np.arange(N_ROWS) % 2)[:, None], np.arange(N_ROWS) % 2


def model_inside(estimator):
    return getattr(estimator, "crosscat_", getattr(estimator, "estimator_", estimator))


# --- Strata ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", **named(MIXTURES))
@pytest.mark.parametrize("subsampling", quick_only(["cyclic", "random", BALANCED], "cyclic", BALANCED), ids=str)
def test_strata_of_fit_are_the_labels_of_the_constructor(model, subsampling):
    X, _ = table()
    resolved = {"cyclic": StratifiedSubsampling(), "random": StratifiedSubsampling(churn="random")}
    labelled = clone(resolved.get(subsampling, subsampling)) if isinstance(subsampling, str) else clone(subsampling)
    labelled.set_params(labels=STRATA)
    for weights in (None, WEIGHTS):
        given = clone(model).set_params(subsampling=subsampling).fit(X, sample_weight=weights, strata=STRATA)
        other = clone(model).set_params(subsampling=labelled).fit(X, sample_weight=weights)
        assert_array_equal(given.trace_["log_joint"], other.trace_["log_joint"])
        assert len(given.trace_) != len(plain := clone(model).fit(X, sample_weight=weights).trace_) or np.any(
            given.trace_["log_joint"] != plain["log_joint"]
        )
    assert_array_equal(given.fit_predict(X, strata=STRATA), given.fit(X, strata=STRATA).labels_)


@pytest.mark.parametrize("estimator", **named(AROUND))
def test_strata_and_weights_reach_the_model_inside(estimator):
    X, y = table()
    given = clone(estimator).fit(X, y, sample_weight=WEIGHTS, strata=STRATA)
    labelled = clone(INNER).set_params(subsampling=StratifiedSubsampling(labels=np.repeat(STRATA, WEIGHTS)))
    copied = clone(estimator).set_params(estimator=labelled).fit(np.repeat(X, WEIGHTS, axis=0), np.repeat(y, WEIGHTS))
    without = clone(estimator).fit(X, y, sample_weight=WEIGHTS)
    traces = [model_inside(fitted).trace_["log_joint"].tolist() for fitted in (given, copied, without)]
    assert traces[0] == traces[1] != traces[2]


@pytest.mark.parametrize("estimator", **named(AROUND))
def test_labels_of_the_model_inside_are_those_of_the_table_with_rows_of_weight_0(estimator):
    X, y = table()
    labelled = clone(estimator).set_params(estimator=stratified(labels=STRATA))
    assert trace_or_error(labelled, X, y) == trace_or_error(clone(estimator), X, y, STRATA)


@pytest.mark.parametrize("estimator", **named(AROUND))
def test_the_column_of_the_strata_is_one_of_x(estimator):
    """Also where columns before it are functions of others, or it is one itself, and are none of the joint table."""
    X, y = table()
    amount = np.exp(X[:, 0])
    X = pd.DataFrame({"amount": amount, "cents": 100.0 * amount, "group": STRATA, "size": X[:, 1]})
    found = {
        column: trace_or_error(clone(estimator).set_params(estimator=stratified(column=column)), X, y)
        for column in (0, 1, 2, "amount", "cents", "group")
    }
    assert found[2] == found["group"] == trace_or_error(clone(estimator), X, y, STRATA)
    assert found[0] == found["amount"] == found[1] == found["cents"] != found[2]


def test_the_column_of_the_strata_may_be_the_target():
    X, y = table()
    X = np.column_stack([X[:, 0], 2.0 * X[:, 0] + 1.0, X[:, 1]])
    by_number = clone(AROUND[0]).set_params(estimator=stratified(column=3))
    assert trace_or_error(by_number, X, y) == trace_or_error(clone(AROUND[0]), X, y, y)


def stratified(**how):
    return clone(INNER).set_params(subsampling=StratifiedSubsampling(**how))


def trace_or_error(estimator, X, y, strata=None):
    """The log joint densities of the chain inside after a fit with weights, or what is wrong."""
    try:
        return model_inside(estimator.fit(X, y, sample_weight=WEIGHTS, strata=strata)).trace_["log_joint"].tolist()
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("model", **named([INNER, CrossCatRegressor(INNER), CrossCatDetector(INNER)]))
def test_wrong_strata(model):
    X, y = table()
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[40, 39\]"):
        clone(model).fit(X, y, strata=STRATA[:-1])
    with pytest.raises(ValueError, match=r"strata must have shape \(n_samples,\), got \(40, 1\)"):
        clone(model).fit(X, y, strata=STRATA[:, None])
    inner = "subsampling" if model is INNER else "estimator__subsampling"
    for other in (StratifiedSubsampling(column=0), StratifiedSubsampling(labels=STRATA)):
        with pytest.raises(ValueError, match="strata were given to fit, but StratifiedSubsampling has"):
            clone(model).set_params(**{inner: other}).fit(X, y, strata=STRATA)
    with pytest.raises(ValueError, match="either column= or labels=, or strata= in fit"):
        clone(model).set_params(**{inner: StratifiedSubsampling()}).fit(X, y)
    with pytest.raises(ValueError, match=r"strata need subsampling=.* got TableOrder"):
        clone(model).set_params(**{inner: TableOrder()}).fit(X, y, strata=STRATA)


def test_warm_start_needs_the_same_strata():
    X, _ = table()
    model = clone(INNER).set_params(warm_start=True).fit(X, strata=STRATA)
    with pytest.raises(ValueError, match="but strata changed since"):
        model.set_params(n_draws=3).fit(X)
    assert model.fit(X, strata=STRATA).log_joint_.shape == (1, 3)


def test_random_churn_within_strata():
    assert RandomSubsampling().with_strata(STRATA).cyclic is False


# --- Weights of detectors and imputers ------------------------------------------------------------------------------


def test_a_detector_counts_rows_by_their_weights():
    """Quantiles of training rows are those of the table in which rows are repeated; rows of weight 0 are new."""
    X, _ = table()
    X[7] = 30.0
    weighted = clone(AROUND[2]).fit(X, sample_weight=WEIGHTS)
    copied = clone(AROUND[2]).fit(np.repeat(X, WEIGHTS, axis=0))
    assert_array_equal(weighted.training_scores_, copied.training_scores_[(np.cumsum(WEIGHTS) - WEIGHTS)[WEIGHTS > 0]])
    for ask in ("score_samples", "predict", "p_values"):
        assert_array_equal(getattr(weighted, ask)(X), getattr(copied, ask)(X))
    assert weighted.drift(X + 1.0) == copied.drift(X + 1.0)
    assert_array_equal(weighted.fit_predict(X, None, WEIGHTS), copied.predict(X))


def test_an_imputer_leaves_rows_of_weight_0_out():
    X, _ = table()
    X[4, 0] = X[5, 1] = np.nan
    weighted = clone(AROUND[3]).set_params(add_indicator=True).fit(X, sample_weight=WEIGHTS)
    copied = clone(AROUND[3]).set_params(add_indicator=True).fit(np.repeat(X, WEIGHTS, axis=0))
    assert_array_equal(weighted.indicated_, [1])
    assert_array_equal(copied.indicated_, [1])
    assert_array_equal(weighted.estimator_.log_joint_, copied.estimator_.log_joint_)


@pytest.mark.parametrize("covariance_type", ["diag", "full"])
def test_weights_of_a_frozen_model_count(covariance_type):
    """As if the detector had fitted it with them; rows that are in no draw cannot be left out of it."""
    X, _ = table()
    weights = 1 + WEIGHTS
    X[4, 0] = np.nan
    unfitted = CrossCat(**BRIEF, covariance_type=covariance_type)
    frozen = FrozenEstimator(clone(unfitted).fit(X, sample_weight=weights))
    weighted = CrossCatDetector(unfitted, random_state=0).fit(X, sample_weight=weights)
    taken = CrossCatDetector(frozen, random_state=0).fit(X)
    assert taken.offset_ == weighted.offset_
    assert_array_equal(taken.large_surprisal_, weighted.large_surprisal_)
    assert_array_equal(taken.p_values(X + 1.0), weighted.p_values(X + 1.0))
    assert taken.drift(X + 1.0) == weighted.drift(X + 1.0)
    weights[4] = 0
    frozen = FrozenEstimator(clone(unfitted).fit(X, sample_weight=weights))
    with pytest.raises(ValueError, match="fitted with sample_weight=0 for 1 rows, which its draws do not have"):
        CrossCatDetector(frozen).fit(X)
    assert not BayesianImputer(frozen, add_indicator=True).fit(X).indicated_.size


# --- Routing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", **named(quick_only([*MIXTURES, *AROUND[:3]], MIXTURES[0], INNER, *AROUND[:2])))
def test_cross_validation_routes_the_rows_of_each_fold(estimator):
    X, y = table()
    with config_context(enable_metadata_routing=True):
        asking = clone(estimator).set_fit_request(sample_weight=True, strata=True)
        if hasattr(asking, "set_score_request"):
            asking.set_score_request(sample_weight=False)
        scoring = (lambda model, X, y: model.score_samples(X).mean()) if not hasattr(asking, "score") else None
        params = {"sample_weight": WEIGHTS, "strata": STRATA}
        found = cross_validate(
            asking, X, y, cv=2, params=params, scoring=scoring, return_indices=True, return_estimator=True
        )
        for i, fitted in enumerate(found["estimator"]):
            rows = found["indices"]["train"][i]
            direct = clone(estimator).fit(X[rows], y[rows], sample_weight=WEIGHTS[rows], strata=STRATA[rows])
            assert_array_equal(model_inside(fitted).log_joint_, model_inside(direct).log_joint_)
        search = GridSearchCV(
            asking, {"random_state": [1]}, cv=2, scoring=scoring or (lambda model, X, y: model.score(X, y))
        ).fit(X, y, **params)
        direct = clone(estimator).set_params(random_state=1).fit(X, y, **params)
        assert_array_equal(model_inside(search.best_estimator_).log_joint_, model_inside(direct).log_joint_)


def test_pipelines_route_to_each_step():
    X, y = table()
    X[4, 0] = np.nan
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(
            BayesianImputer(INNER).set_fit_request(sample_weight=True, strata=False),
            StandardScaler().set_fit_request(sample_weight=False),
            CrossCatClassifier(INNER).set_fit_request(sample_weight=False, strata=True),
        ).fit(X, y, sample_weight=WEIGHTS, strata=STRATA)
    filled = BayesianImputer(INNER).fit(X, sample_weight=WEIGHTS).transform(X)
    scaled = StandardScaler().fit_transform(filled)
    direct = CrossCatClassifier(INNER).fit(scaled, y, strata=STRATA)
    assert_array_equal(pipeline.predict_proba(X), direct.predict_proba(scaled))
    with config_context(enable_metadata_routing=True):
        with pytest.raises(ValueError, match=r"strata.* not explicitly set as requested or not"):
            make_pipeline(CrossCatClassifier(INNER)).fit(X, y, strata=STRATA)
