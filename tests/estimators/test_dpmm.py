"""The estimator as its users meet it: labels, and tables of all kinds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from support.tables import NAN, blobs, with_gaps

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.annealing import Accelerating, StratifiedSubsampling
from sklearn_subanneal.partitions import CRP

# --- Labels ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("covariance_type", ["diag", "full"])
def test_labels_predictions_and_probabilities_agree(covariance_type):
    X = with_gaps(blobs(90))
    model = SubsampleAnnealedDPMM(covariance_type=covariance_type, random_state=0)
    labels = model.fit_predict(X)
    assert labels is model.labels_
    assert labels.dtype == np.int64
    np.testing.assert_array_equal(labels, model.predict(X))
    np.testing.assert_array_equal(np.unique(labels), np.arange(model.n_clusters_))
    sizes = np.bincount(labels)
    assert adjusted_rand_score(np.arange(90)[sizes[labels] > 5] % 3, labels[sizes[labels] > 5]) > 0.85
    new = with_gaps(blobs(30, seed=3), 0.3)
    p = model.predict_proba(new)
    assert p.shape == (30, model.n_clusters_)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(p.argmax(axis=1), model.predict(new))
    np.testing.assert_array_equal(model.predict(new[::-1])[::-1], model.predict(new))


def test_clusters_nearest_to_no_row_are_dropped():
    X = blobs(60, gap=1.0)
    model = SubsampleAnnealedDPMM(CRP(20.0), learn_hyperparameters=False, n_chains=2, n_draws=5, random_state=0).fit(X)
    assert model.n_clusters_ < len(model._representative.sizes)
    np.testing.assert_array_equal(np.unique(model.labels_), np.arange(model.n_clusters_))
    p = model.predict_proba(X)
    assert p.shape == (60, model.n_clusters_)
    np.testing.assert_array_equal(p.argmax(axis=1), model.labels_)


@pytest.mark.parametrize(("n_columns", "n_informative", "spread"), [(40, 8, 0.2), (150, 150, 0.7), (600, 60, 0.7)])
def test_clusters_of_many_columns_are_found(n_columns, n_informative, spread):
    """Most columns say nothing of the clusters, or all say a little: no row needs a cluster of its own."""
    rng, groups = np.random.default_rng(0), np.arange(300) % 6
    X = rng.normal(size=(300, n_columns))
    X[:, :n_informative] = rng.normal(size=(6, n_informative))[groups] + spread * X[:, :n_informative]
    given = {"covariance_type": "diag", "n_chains": 2, "n_draws": 2, "thin": 1, "random_state": 0}
    assert adjusted_rand_score(groups, SubsampleAnnealedDPMM(**given).fit(X).labels_) > 0.95


def test_the_largest_cluster_is_the_first():
    X = np.concatenate([np.zeros((10, 1)), np.full((40, 1), 50.0), np.full((20, 1), -50.0)])
    X += np.random.default_rng(0).normal(size=X.shape)
    model = SubsampleAnnealedDPMM(random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, np.repeat([2, 0, 1], [10, 40, 20]))


def test_what_fit_leaves():
    X = blobs(45)
    model = SubsampleAnnealedDPMM(n_chains=3, n_draws=4, thin=2, random_state=0).fit(X)
    labels = model.posterior_labels_
    assert labels.shape == (3, 4, 45)
    assert labels.dtype.kind == "i"
    assert model.log_joint_.shape == (3, 4)
    for draw in labels.reshape(12, 45):
        np.testing.assert_array_equal(np.unique(draw), np.arange(draw.max() + 1))
    trace = model.trace_
    assert set(trace["chain"]) == {0, 1, 2}
    for chain in range(3):
        own = trace[trace["chain"] == chain]
        np.testing.assert_array_equal(own["sweep"], np.arange(len(own)))
        assert (np.diff(own["seconds"]) >= 0).all()
        assert (np.diff(own["progress"]) >= 0).all()
        full = own[own["progress"] == 1]
        assert (full["n_assigned"] == 45).all()
        # Every second sweep after the annealing is a draw.
        np.testing.assert_array_equal(full["log_joint"][-8:][1::2], model.log_joint_[chain])
        np.testing.assert_array_equal(full["n_clusters"][-8:][1::2], labels[chain].max(axis=1) + 1)
        np.testing.assert_array_equal(full["concentration"][-8:][1::2], model.hyperparameters_["concentration"][chain])
    similarity = model.co_clustering()
    assert similarity.shape == (45, 45)
    wanted = np.tensordot(model.chain_weights_, np.mean(labels[..., None] == labels[..., None, :], axis=1), axes=1)
    np.testing.assert_allclose(similarity, wanted, rtol=1e-6)
    np.testing.assert_allclose(model.co_clustering([3, 7]), similarity[np.ix_([3, 7], [3, 7])], rtol=1e-6)
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize(
    ("schedule", "subsampling"),
    [
        pytest.param(schedule, rows, marks=() if schedule == "anneal" or rows == "cyclic" else pytest.mark.slow)
        for schedule in ("anneal", "accelerating", "sequential", "prior", "energy")
        for rows in ("cyclic", "random", StratifiedSubsampling(column=0, n_bins=3))
    ],
)
def test_every_schedule_finds_plain_groups(schedule, subsampling):
    X = blobs(120, 4, gap=10.0)
    model = SubsampleAnnealedDPMM(schedule=schedule, subsampling=subsampling, n_chains=2, random_state=0).fit(X)
    assert adjusted_rand_score(np.arange(120) % 3, model.labels_) > 0.9


def test_counts_are_stratified_by_their_quantiles():
    X = np.column_stack([blobs(60), np.arange(60)])
    chooser = StratifiedSubsampling(column=2, n_bins=4)
    model = SubsampleAnnealedDPMM(feature_types={2: "count"}, subsampling=chooser, n_chains=1, n_draws=1).fit(X)
    assert len(model._results[0].state.window["sizes"]) == 4


# --- Tables ---------------------------------------------------------------------------------------------------------

TYPES = {"visits": "count"}


def frame(package, n_rows=60):
    rng = np.random.default_rng(2)
    group = np.arange(n_rows) % 3
    cells = {
        "size": (rng.normal(size=n_rows) + 6 * group).tolist(),
        "colour": [["red", "green", "blue"][k] for k in group],
        "sold": (group > 0).tolist(),
        "visits": rng.poisson(2 + 5 * group).tolist(),
    }
    for column in cells.values():
        column[rng.integers(n_rows)] = None
    if package == "polars":
        return pytest.importorskip("polars").DataFrame(cells)
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(cells)
    return table.astype({"colour": "category", "sold": "boolean", "visits": "Int64"})


@pytest.mark.parametrize("package", ["pandas", "polars"])
@pytest.mark.parametrize("covariance_type", ["diag", "full"])
def test_mixed_tables(package, covariance_type):
    table = frame(package)
    model = SubsampleAnnealedDPMM(covariance_type=covariance_type, feature_types=TYPES, random_state=0).fit(table)
    assert model.feature_names_in_.tolist() == ["size", "colour", "sold", "visits"]
    assert adjusted_rand_score(np.arange(60) % 3, model.labels_) > 0.8
    shown = {"size" if covariance_type == "diag" else "gaussian", "colour", "sold", "visits"}
    assert set(model.hyperparameters_["columns"]) == shown
    assert model.hyperparameters_["columns"]["colour"]["alpha"].shape == (model.n_chains_, 10, 3)
    rows = model.sample(200, random_state=0)
    filled, spread = model.impute(table, return_uncertainty=True)
    for out, n_rows in ((rows, 200), (filled, 60)):
        assert type(out) is type(table)
        assert out.shape == (n_rows, 4)
        assert list(out.columns) == list(table.columns)
        assert out["size"].dtype == table["size"].dtype
        assert out["visits"].dtype == table["visits"].dtype
        assert set(out["colour"]) == {"red", "green", "blue"}
    np.testing.assert_array_equal(spread > 0, np.array([[v is None or v != v for v in row] for row in cells(table)]))
    assert not any(v is None or v != v for row in cells(filled) for v in row)
    # The new rows can be scored, and none of them is far out.
    assert np.isfinite(model.score_samples(rows)).all()
    np.testing.assert_array_equal(model.predict(table), model.labels_)


def cells(table):
    missing = getattr(table, "isna", None)
    if missing is None:
        return table.rows()
    return table.astype(object).mask(table.isna(), None).to_numpy().tolist()


def test_pandas_polars_and_arrays_are_one():
    types = {"size": "real", "colour": "categorical", "sold": "boolean", "visits": "count"}
    tables = [frame("pandas"), frame("polars")]
    fits = [SubsampleAnnealedDPMM(feature_types=types, n_chains=2, n_draws=3, random_state=0).fit(t) for t in tables]
    np.testing.assert_array_equal(*(fit.posterior_labels_ for fit in fits))
    np.testing.assert_array_equal(*(fit.score_samples(t) for fit, t in zip(fits, tables, strict=True)))
    X = np.array([[{"blue": 0, "green": 1, "red": 2}.get(v, NAN if v is None else v) for v in row]
                  for row in cells(tables[0])], float)  # fmt: skip
    plain = clone(fits[0]).set_params(feature_types=list(types.values())).fit(X)
    np.testing.assert_array_equal(plain.posterior_labels_, fits[0].posterior_labels_)
    np.testing.assert_array_equal(plain.score_samples(X), fits[0].score_samples(tables[0]))


def test_dtypes_say_what_columns_are():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": [1, 2, 5], "b": [True, False, True], "c": ["u", "v", "u"], "d": [0.5, None, 1.0]})
    model = SubsampleAnnealedDPMM(n_chains=1, n_draws=1).fit(table)
    assert [m.kind for m in model._models] == ["real", "boolean", "categorical", "real"]
    model = SubsampleAnnealedDPMM(n_chains=1, n_draws=1, feature_types={"a": "categorical", 1: "real"}).fit(table)
    assert [m.kind for m in model._models] == ["categorical", "real", "categorical", "real"]


def test_unseen_categories_are_rare_and_tell_nothing():
    pandas = pytest.importorskip("pandas")
    table = frame("pandas")
    new = table.iloc[:4].astype({"colour": object})
    new.loc[0, "colour"] = "violet"
    gone = new.copy()
    gone.loc[0, "colour"] = None
    short = {"feature_types": TYPES, "n_chains": 2, "n_draws": 2, "random_state": 0}
    model = SubsampleAnnealedDPMM(**short).fit(table)
    assert (model.score_samples(new) < model.score_samples(gone) - 1.0).tolist() == [True, False, False, False]
    np.testing.assert_array_equal(model.predict(new), model.predict(gone))
    filled = model.impute(gone)
    assert filled.loc[0, "colour"] in ("red", "green", "blue")
    # But it is no missing cell, and stays.
    assert model.impute(new)["colour"].tolist() == ["violet", *filled["colour"][1:]]
    strict = SubsampleAnnealedDPMM(unseen="error", **short).fit(table)
    for method in ("score_samples", "predict", "predict_proba", "impute"):
        with pytest.raises(ValueError, match="'violet' in column 'colour'"):
            getattr(strict, method)(new)
    pandas.testing.assert_index_equal(model.impute(new).index, new.index)


def test_missing_rows_and_columns_of_new_data():
    model = SubsampleAnnealedDPMM(n_chains=2, n_draws=2, random_state=0).fit(with_gaps(blobs(60)))
    nothing = np.full((2, 2), NAN)
    np.testing.assert_allclose(model.score_samples(nothing), 0, atol=1e-12)
    assert (model.predict(nothing) == 0).all()  # the largest cluster
    filled = model.impute(nothing)
    assert np.isfinite(filled).all()


def test_the_default_schedule_is_short_and_goes_on_while_it_gains(monkeypatch):
    X = blobs(90, 3)
    monkeypatch.setattr("sklearn_subanneal.annealing.chain.may_rise", lambda trace, n_rows: True)
    model = SubsampleAnnealedDPMM(n_chains=1, n_draws=2, random_state=0).fit(X)
    assert repr(model.schedule_) == repr(Accelerating(20, 3000))
    given = SubsampleAnnealedDPMM(schedule=model.schedule_, n_chains=1, n_draws=2, random_state=0).fit(X)
    chosen = SubsampleAnnealedDPMM(max_sweeps=30, n_chains=1, n_draws=2, random_state=0).fit(X)
    # One chain, seen after 250 sweeps, after as many as its schedule has work for, and after those that are asked for.
    assert model.n_sweeps_[0] - chosen.n_sweeps_[0] == 220
    most = -(-model.schedule_.n_assignments(90) // 90)
    assert model.n_sweeps_[0] - given.n_sweeps_[0] == 250 - most
    documents = np.random.default_rng(0).integers(0, 3, (40, 6))
    bags = SubsampleAnnealedDPMM(feature_types="bag-of-words", n_chains=1, n_draws=1, random_state=0).fit(documents)
    assert repr(bags.schedule_) == "SubsampleAnneal()"
