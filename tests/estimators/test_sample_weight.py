"""Weights of rows: a row of weight w is w equal rows, by enumeration and bit for bit, and one of weight 0 is none."""

from __future__ import annotations

import itertools
import pickle
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from oracles.enumeration import canonical, fixed_mixture
from oracles.reference_chain import effective_draws, noise_floor, total_variation
from oracles.views_enumeration import fixed_views
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.tiers import quick_only

from sklearn_subanneal import (
    Checkpoint,
    CrossCat,
    CrossCatClassifier,
    CrossCatRegressor,
    SubsampleAnnealedDPMM,
    TreeGuidedNRMM,
)
from sklearn_subanneal.annealing import SequentialGibbs, StratifiedSubsampling
from sklearn_subanneal.diagnostics import summary
from sklearn_subanneal.partitions import CRP, NGGP

NAN = np.nan
BRIEF = {"schedule": SequentialGibbs(passes=2), "n_chains": 2, "n_draws": 3, "max_sweeps": 5, "random_state": 0}
JOINT = CrossCat(**BRIEF)
WEIGHTS = np.random.default_rng(0).integers(0, 4, 24)
N_ROWS = int(WEIGHTS.sum())
ORDER = np.random.default_rng(1).permutation(24)


def numbers():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(24, 4)) + 6 * (np.arange(24) % 3)[:, None]
    X[rng.random(X.shape) < 0.1] = NAN
    return X


def frame():
    X, rng = numbers(), np.random.default_rng(3)
    colour = np.array(["red", "green", "blue"])[np.arange(24) % 3]
    # Two categories that only rows of weight 0 have.
    colour[np.flatnonzero(WEIGHTS == 0)[:2]] = "grey", "black"
    return pd.DataFrame(
        {"a": X[:, 0], "colour": colour, "n": rng.poisson(4.0, 24), "b": X[:, 3], "flag": rng.random(24) < 0.5}
    )


def repeated(X):
    rows = np.repeat(np.arange(24), WEIGHTS)
    return X[rows] if isinstance(X, np.ndarray | pl.DataFrame) or sparse.issparse(X) else X.iloc[rows]


def firsts(values):
    """Of values of the repeated rows, (..., N_ROWS), those of the first copy of each row of positive weight."""
    return values[..., (np.cumsum(WEIGHTS) - WEIGHTS)[WEIGHTS > 0]]


def assert_same_draws(one, other):
    assert_array_equal(one.log_joint_, other.log_joint_)
    for name, values in one.hyperparameters_.items():
        if name != "columns":
            assert_array_equal(values, other.hyperparameters_[name])


# --- Exactness ------------------------------------------------------------------------------------------------------

FEW = np.array([[0.2, 0, 3], [-1.1, 1, 0], [9.0, 1, 9], [1.4, 1, 1]])
FEW_WEIGHTS = [2, 1, 0, 2]
N_DRAWS = 500
REAL, FLAG, COUNT = (
    {"mu": 0.3, "kappa": 0.7, "sigma2": 0.4, "nu": 2.5},
    {"alpha": 0.3, "beta": 0.6},
    {"shape": 1.7, "rate": 0.6},
)
FIXED = {
    "feature_types": ["real", "boolean", "count"],
    "feature_params": {"real": REAL, "boolean": FLAG, "count": COUNT},
    "learn_hyperparameters": False,
    "schedule": SequentialGibbs(passes=2),
    "thin": 1,
    "random_state": 1,
}


def few_columns():
    copies = np.repeat(FEW, FEW_WEIGHTS, axis=0)
    return [("real", copies[:, 0], REAL), ("boolean", copies[:, 1].astype(int), FLAG), ("count", copies[:, 2], COUNT)]


def check_law(law, states):
    places = {state: i for i, state in enumerate(law)}
    assert set(states) <= set(places)
    codes = np.array([places[state] for state in states]).reshape(4, -1)
    n_effective = effective_draws(codes)
    assert n_effective > 0.3 * codes.size
    assert total_variation(law, Counter(states)) < 1.5 * noise_floor(law, n_effective, rng=np.random.default_rng(0))


def test_the_posterior_is_that_of_copies():
    # Of each draw: the partition of the three rows, and the number of the clusters of their five copies.
    law = Counter()
    for state, probability in fixed_mixture(few_columns(), 1.2).posterior().items():
        law[canonical([state[0], state[2], state[3]]), max(state) + 1] += probability
    model = SubsampleAnnealedDPMM(CRP(1.2), n_chains=4, n_draws=N_DRAWS, **FIXED).fit(FEW, sample_weight=FEW_WEIGHTS)
    labels = model.posterior_labels_[:, :, [0, 1, 3]].reshape(-1, 3)
    sizes = model.trace_["n_clusters"].reshape(4, -1)[:, -N_DRAWS:].ravel()
    check_law(dict(law), [(canonical(own), int(k)) for own, k in zip(labels, sizes, strict=True)])


@pytest.mark.slow
def test_the_posterior_of_views_is_that_of_copies():
    law = Counter()
    for (columns, rows), probability in fixed_views(few_columns(), (1.2, 0.0), (0.8, 0.0)).law().items():
        law[columns, canonical([rows[0], rows[2], rows[3]])] += probability
    model = CrossCat(CRP(1.2), CRP(0.8), n_chains=4, n_draws=N_DRAWS // 2, **FIXED | {"thin": 2})
    model.fit(FEW, sample_weight=FEW_WEIGHTS)
    columns = model.posterior_column_labels_.reshape(-1, 3)
    rows = [draw for chain in model._row_labels for draw in chain]
    states = [(canonical(own), canonical(labels[own[0], [0, 1, 3]])) for own, labels in zip(columns, rows, strict=True)]
    check_law(dict(law), states)


# --- Bits -----------------------------------------------------------------------------------------------------------


WEIGHTED = {
    "diag": SubsampleAnnealedDPMM(**BRIEF),
    "full": SubsampleAnnealedDPMM(covariance_type="full", **BRIEF),
    "stratified": TreeGuidedNRMM(subsampling=StratifiedSubsampling(column=0), **BRIEF),
    "views": CrossCat(**BRIEF),
}
KINDS = ["array", "list", "pandas", "polars"]
# All models with rows in another order, and all kinds of tables.
SOME = [(name, "array", True) for name in WEIGHTED] + [("views", kind, False) for kind in KINDS]


@pytest.mark.parametrize(
    ("name", "kind", "shuffled"), quick_only(itertools.product(WEIGHTED, KINDS, [False, True]), *SOME)
)
def test_weights_are_copies(name, kind, shuffled):
    model = WEIGHTED[name]
    X = numbers() if kind in ("array", "list") else frame()
    X = pl.DataFrame(X.to_dict("list")) if kind == "polars" else X
    order = ORDER if shuffled else np.arange(24)
    given = X[order] if kind in ("array", "list", "polars") else X.iloc[order]
    weighted = clone(model).fit(given.tolist() if kind == "list" else given, sample_weight=WEIGHTS[order])
    copied = clone(model).fit(repeated(X))
    assert_same_draws(weighted, copied)
    back = np.argsort(order)
    present = np.flatnonzero(WEIGHTS)
    assert weighted.posterior_labels_.shape == (2, 3, 24)
    assert_array_equal(weighted.posterior_labels_[..., back][..., present], firsts(copied.posterior_labels_))
    assert_array_equal(weighted.labels_[back][present], firsts(copied.labels_))
    assert_array_equal(weighted.labels_, weighted.predict(given))
    assert weighted.n_clusters_ == copied.n_clusters_
    assert weighted.posterior_labels_.min() >= 0
    new = repeated(X)[:7]
    assert_array_equal(weighted.score_samples(new), copied.score_samples(new))
    assert_array_equal(weighted.predict_proba(new), copied.predict_proba(new))
    if kind == "array":
        assert_array_equal(weighted.sample(5, random_state=0), copied.sample(5, random_state=0))
    together = weighted.co_clustering(back[present])
    rows = np.repeat(np.arange(24), WEIGHTS)
    assert_array_equal(together, copied.co_clustering(np.searchsorted(rows, present)))


def test_documents():
    X = sparse.csr_array(
        np.random.default_rng(4).poisson(1.0, (24, 8)) * (1 + 3 * np.eye(3, 8)[np.arange(24) % 3].astype(int))
    )
    model = SubsampleAnnealedDPMM(feature_types="bag-of-words", **BRIEF)
    order = ORDER
    weighted, copied = clone(model).fit(X[order], sample_weight=WEIGHTS[order]), clone(model).fit(repeated(X))
    assert_same_draws(weighted, copied)
    assert_array_equal(weighted.sample(6, random_state=0).toarray(), copied.sample(6, random_state=0).toarray())
    for format in ("coo", "csc"):
        assert_same_draws(clone(model).fit(X.asformat(format), sample_weight=WEIGHTS), copied)


def test_queries_about_training_rows():
    X = numbers()
    weighted, copied = clone(JOINT).fit(X, sample_weight=WEIGHTS), clone(JOINT).fit(repeated(X))
    present, absent = np.flatnonzero(WEIGHTS), np.flatnonzero(WEIGHTS == 0)
    rows = np.flatnonzero(np.diff(np.repeat(np.arange(24), WEIGHTS), prepend=-1))
    assert_array_equal(weighted.view_confidence_[present], copied.view_confidence_[rows])
    assert np.isnan(weighted.view_confidence_[absent]).all()
    assert_array_equal(weighted.view_labels_, weighted.predict_views(X))
    assert_array_equal(weighted.row_similarity(present), copied.row_similarity(rows))
    for ask in ("surprisal", "novelty"):
        one, other = (getattr(model, ask)(own, seen=True) for model, own in ((weighted, X), (copied, repeated(X))))
        np.testing.assert_allclose(one[present], other[rows], rtol=1e-12)
        # A row of weight 0 is new.
        assert_array_equal(one[absent], getattr(weighted, ask)(X[absent]))
    with pytest.raises(ValueError, match="the very table that fit was given"):
        weighted.novelty(repeated(X), seen=True)


def test_weights_of_one_or_none_change_nothing():
    X = numbers()
    plain = clone(JOINT).fit(X)
    for weights in (np.ones(24), [1] * 24, np.ones(24, bool), pd.Series(np.ones(24), np.arange(24, 48))):
        assert_same_draws(plain, clone(JOINT).fit(X, sample_weight=weights))
    kept = WEIGHTS > 0
    assert_same_draws(clone(JOINT).fit(X, None, kept), clone(JOINT).fit(X[kept]))
    # The order of rows that are all different is kept.
    assert not np.array_equal(plain.log_joint_, clone(JOINT).fit(X[::-1]).log_joint_)


def test_categories_of_rows_that_are_left_out_are_unseen():
    X = frame()
    model = CrossCat(**BRIEF).fit(X, sample_weight=WEIGHTS)
    assert model.column_categories("colour").tolist() == ["blue", "green", "red"]
    with pytest.raises(ValueError, match="values that fit did not see"):
        CrossCat(unseen="error", **BRIEF).fit(X, sample_weight=WEIGHTS)


def test_fit_predict():
    X = numbers()
    model = SubsampleAnnealedDPMM(**BRIEF)
    assert_array_equal(model.fit_predict(X, sample_weight=WEIGHTS), model.fit(X, None, WEIGHTS).labels_)


def test_strata_by_labels():
    X, strata = numbers(), np.arange(24) % 2
    one = clone(JOINT).set_params(subsampling=StratifiedSubsampling(labels=strata)).fit(X, sample_weight=WEIGHTS)
    other = clone(JOINT).set_params(subsampling=StratifiedSubsampling(labels=np.repeat(strata, WEIGHTS)))
    assert_same_draws(one, other.fit(repeated(X)))
    with pytest.raises(ValueError, match="one entry for each of the 24 rows"):
        other.fit(X, sample_weight=WEIGHTS)


@pytest.mark.parametrize("kind", ["array", "pandas"])
@pytest.mark.parametrize("model", [CrossCatClassifier(JOINT), CrossCatRegressor(JOINT)])
def test_supervised(model, kind):
    X = numbers() if kind == "array" else frame()
    y = np.array([2, 5, 7])[np.arange(24) % 3]
    # A class that only rows of weight 0 have.
    y[np.flatnonzero(WEIGHTS == 0)[0]] = 11
    order = ORDER
    given = X[order] if kind == "array" else X.iloc[order]
    weighted = clone(model).fit(given, y[order], sample_weight=WEIGHTS[order])
    copied = clone(model).fit(repeated(X), np.repeat(y, WEIGHTS))
    assert_array_equal(weighted.predict(X), copied.predict(X))
    if hasattr(model, "predict_proba"):
        assert_array_equal(weighted.classes_, [2, 5, 7])
        assert_array_equal(weighted.predict_proba(X), copied.predict_proba(X))
    assert weighted.crosscat_.posterior_labels_.shape[-1] == np.count_nonzero(WEIGHTS)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clone(model).fit(X, y[:-1], sample_weight=WEIGHTS)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", [JOINT, SubsampleAnnealedDPMM(**BRIEF)], ids=["views", "mixture"])
def test_copies_do_not_judge_the_chains(model):
    """Chains had been judged by how well the copies of a row predict it: the best were those with the most clusters."""
    X = np.random.default_rng(5).normal(size=(60, 3)) + 4.0 * (np.arange(60) % 2)[:, None]
    model = clone(model).set_params(covariance_type="diag")
    assert_array_equal(clone(model).fit(X, sample_weight=np.full(60, 3)).chain_weights_, [0.5, 0.5])
    # Of rounded records, equal rows are several that agree.
    records, counts = np.unique(np.round(X[:, :2]), axis=0, return_counts=True)
    assert (clone(model).fit(records, sample_weight=4 * counts).chain_weights_ != 0.5).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("weights", [np.full(200, 5), 1 + 4 * (np.arange(200) % 2)], ids=["equal", "some"])
def test_intervals_of_rows_with_weights_cover_new_targets(weights):
    """Levels of intervals are learned from rows that are predicted by the others, not by their own copies."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(700, 3))
    y = 2.0 * X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=700)
    inner = CrossCat(n_chains=1, n_draws=3, thin=1)
    model = CrossCatRegressor(inner, random_state=0).fit(X[:200], y[:200], sample_weight=weights)
    low, high = model.predict_interval(X[200:]).T
    assert 0.8 < np.mean((low < y[200:]) & (y[200:] < high)) <= 1.0
    if weights[0] == 5:
        # With no row without copies, the levels are those of the posterior.
        np.testing.assert_allclose(np.column_stack([low, high]), model.predict_quantiles(X[200:], [0.05, 0.95]))


# --- Trees ----------------------------------------------------------------------------------------------------------


def test_trees_have_a_leaf_for_each_copy():
    X = numbers()
    model = TreeGuidedNRMM(moves=["incremental-hierarchy"], n_chains=1, random_state=0)
    weighted, copied = clone(model).fit(X, sample_weight=WEIGHTS), clone(model).fit(repeated(X))
    assert_array_equal(weighted.hierarchy_.rows, np.repeat(np.arange(24), WEIGHTS))
    assert_array_equal(copied.hierarchy_.rows, np.arange(N_ROWS))
    assert_array_equal(weighted.hierarchy_.linkage(), copied.hierarchy_.linkage())
    # The clusters of the trees are those of the labels, leaf by leaf.
    (draw,) = copied.posterior_labels_[0]
    assert canonical(copied.hierarchy_.labels) == canonical(draw)


@pytest.mark.parametrize("moves", ["default", ["incremental-hierarchy"]])
@pytest.mark.parametrize("partition", [NGGP(1.0, 0.5), "nggp"])
def test_rows_with_weights_are_inserted(moves, partition):
    X = numbers()
    parts, weights = np.split(X, 3), np.split(WEIGHTS, 3)
    copies = [np.repeat(*part, axis=0) for part in zip(parts, weights, strict=True)]
    model = TreeGuidedNRMM(partition, moves=moves, **BRIEF)
    weighted = clone(model).partial_fit(parts[0], sample_weight=weights[0])
    copied = clone(model).partial_fit(copies[0])
    for part, own, copy in zip(parts[1:], weights[1:], copies[1:], strict=True):
        weighted.partial_fit(part, sample_weight=own)
        copied.partial_fit(copy)
    assert_same_draws(weighted, copied)
    assert weighted.labels_.shape == (24,)
    assert_array_equal(weighted.hierarchy_.rows, np.repeat(np.arange(24), WEIGHTS))
    assert_array_equal(weighted.hierarchy_.children, copied.hierarchy_.children)
    # After a fit, and without weights after rows that had some.
    weighted = clone(model).fit(parts[0], sample_weight=weights[0]).partial_fit(X[8:])
    copied = clone(model).fit(copies[0]).partial_fit(X[8:])
    assert_same_draws(weighted, copied)
    assert_array_equal(weighted.hierarchy_.children, copied.hierarchy_.children)


# --- Continued fits -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [SubsampleAnnealedDPMM(**BRIEF), JOINT])
def test_warm_start(model):
    X = numbers()
    model = clone(model).set_params(warm_start=True).fit(X, sample_weight=WEIGHTS)
    model = pickle.loads(pickle.dumps(model)).set_params(n_draws=5).fit(X, sample_weight=WEIGHTS)
    whole = clone(model).set_params(warm_start=False).fit(X, sample_weight=WEIGHTS)
    assert_same_draws(model, whole)
    assert_array_equal(model.posterior_labels_, whole.posterior_labels_)
    for weights in (None, np.roll(WEIGHTS, 1)):
        with pytest.raises(ValueError, match="but sample_weight changed since"):
            model.fit(X, sample_weight=weights)


def test_checkpoints(tmp_path):
    X, model = numbers(), clone(JOINT).set_callbacks(Checkpoint(tmp_path))
    first = model.fit(X, sample_weight=WEIGHTS).log_joint_
    assert_array_equal(model.fit(X, sample_weight=WEIGHTS).log_joint_, first)
    with pytest.raises(ValueError, match="differs in sample_weight"):
        model.fit(X)


# --- Errors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.full(24, 0.5), r"integers from 0, got 0\.5 for row 0: .* scale the weights .* and round them"),
        ([-1, *[1] * 23], r"integers from 0, got -1\.0 for row 0: .* drop this row"),
        (np.full(24, NAN), "sample_weight contains NaN"),
        (np.full(24, np.inf), "sample_weight contains infinity"),
        (np.zeros(24), "sample_weight is zero for all rows"),
        (np.ones((24, 1)), r"shape \(n_samples,\), got \(24, 1\)"),
        (np.ones(23), r"inconsistent numbers of samples: \[24, 23\]"),
        (2.0, "one weight for each row of X, got 2.0"),
        (np.full(24, 10**6), "has the sum 24000000, .* Divide the weights by a common factor"),
        (["a"] * 24, "could not convert string"),
    ],
)
@pytest.mark.parametrize("model", [SubsampleAnnealedDPMM(), CrossCat(), TreeGuidedNRMM(), CrossCatRegressor()])
def test_wrong_weights(model, weights, message):
    X = np.zeros((24, 2))
    with pytest.raises(ValueError, match=message):
        clone(model).fit(X, X[:, 0], sample_weight=weights)
    if hasattr(model, "partial_fit"):
        with pytest.raises(ValueError, match=message):
            clone(model).partial_fit(X, sample_weight=weights)


def test_a_failed_fit_leaves_the_model():
    X = numbers()
    model = SubsampleAnnealedDPMM(**BRIEF).fit(X)
    before = model.labels_
    with pytest.raises(ValueError, match="integers"):
        model.fit(X[:12], sample_weight=np.full(12, 0.5))
    assert model.labels_ is before


# --- Routing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [SubsampleAnnealedDPMM(**BRIEF), JOINT, pytest.param(TreeGuidedNRMM(**BRIEF), marks=pytest.mark.slow)],
)
def test_routing_of_densities(model):
    X = np.nan_to_num(numbers())
    with config_context(enable_metadata_routing=True):
        requesting = clone(model).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), requesting)
        direct = clone(model).fit(StandardScaler().fit_transform(X), sample_weight=WEIGHTS)
        assert_same_draws(pipeline.fit(X, sample_weight=WEIGHTS)[-1], direct)
        one, none = (
            cross_validate(own, X, cv=2, params=params)["test_score"]
            for own, params in ((requesting, {"sample_weight": WEIGHTS}), (model, {}))
        )
        half = clone(model).fit(X[12:], sample_weight=WEIGHTS[12:])
        assert one[0] == half.score(X[:12])
        assert not np.array_equal(one, none)
        search = GridSearchCV(requesting, {"n_draws": [1, 2]}, cv=2).fit(X, sample_weight=WEIGHTS)
        assert_same_draws(search.best_estimator_, clone(model).set_params(**search.best_params_).fit(X, None, WEIGHTS))


@pytest.mark.parametrize("model", [CrossCatClassifier(JOINT), CrossCatRegressor(JOINT)])
def test_routing_of_predictions(model):
    X, y = numbers(), np.arange(24) % 3
    with config_context(enable_metadata_routing=True):
        requesting = clone(model).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        scores = cross_validate(requesting, X, y, cv=2, params={"sample_weight": WEIGHTS}, return_indices=True)
        train, test = (scores["indices"][part][0] for part in ("train", "test"))
        fitted = clone(model).fit(X[train], y[train], sample_weight=WEIGHTS[train])
        assert scores["test_score"][0] == fitted.score(X[test], y[test], sample_weight=WEIGHTS[test])


@pytest.mark.parametrize("make", [SubsampleAnnealedDPMM, CrossCat])
def test_convergence_is_that_of_the_rows_that_the_chains_saw(make):
    model, X = make(covariance_type="diag", **BRIEF), numbers()
    one, other = clone(model).fit(X, sample_weight=WEIGHTS), clone(model).fit(repeated(X))
    assert_same_draws(one, other)
    assert repr(one.convergence_) == repr(other.convergence_)
    expected = summary(other)
    for name, values in summary(one).items():
        assert_array_equal(values, expected[name])
    # Each of 24 different rows stands for 30.
    grid = np.repeat(np.arange(24.0)[:, None], 2, axis=1)
    given = {"covariance_type": "diag", "feature_types": ["categorical"] * 2, **BRIEF}
    assert make(**given).fit(grid, sample_weight=np.full(24, 30)).convergence_.alone < 0.1
