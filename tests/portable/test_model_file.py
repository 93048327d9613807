"""Saved models: bits of what is loaded, damage, hostile files, and what the format does not hold."""

from __future__ import annotations

import io
import json
import os
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from support.file_mutations import changed_bytes, members, mutated, packed
from support.tiers import quick_only

import sklearn_subanneal
from sklearn_subanneal import (
    BayesianImputer,
    CrossCat,
    CrossCatClassifier,
    CrossCatDetector,
    CrossCatRegressor,
    SubsampleAnnealedDPMM,
    TemperedGaussianProcessRegressor,
    TraceMonitor,
    TreeGuidedNRMM,
    VariationalTemperingFMM,
    VariationalTemperingLDA,
    load,
    save,
)
from sklearn_subanneal.annealing import SubsampleAnneal
from sklearn_subanneal.portable import model_file
from sklearn_subanneal.portable.classes import class_of
from sklearn_subanneal.portable.decoding import Decoder
from sklearn_subanneal.portable.encoding import NotPortable
from sklearn_subanneal.tables.growing_columns import GrowingColumns
from sklearn_subanneal.tempering.levels import Point

RNG = np.random.default_rng(0)
X = np.where(np.arange(60)[:, None] < 30, 5.0, 0.0) + RNG.normal(size=(60, 3))
FRAME = pd.DataFrame(X, columns=list("abc")).mask(RNG.random((60, 3)) < 0.1)
FRAME["kind"] = np.where(X[:, 0] > 2.0, "u", "v")
FRAME["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(99, size=60), "D")
DOCUMENTS = sparse.csr_matrix(RNG.poisson(1.0, (60, 20)).astype(float))
SHORT = {"schedule": SubsampleAnneal(passes=4), "n_chains": 2, "n_draws": 2, "max_sweeps": 5, "random_state": 0}

# Of each part of the package.
SOME = "mixture", "hierarchy", "documents", "detector", "topics", "factorial", "Gaussian process"
MODELS = {
    "CrossCat": (CrossCat(**SHORT), FRAME, "score_samples impute surprisal predict_views"),
    "CrossCat, diagonal": (CrossCat(covariance_type="diag", **SHORT), FRAME, "score_samples impute novelty"),
    "mixture": (SubsampleAnnealedDPMM(partition="nggp", **SHORT), FRAME, "score_samples predict_proba"),
    "mixture, full": (SubsampleAnnealedDPMM(covariance_type="full", **SHORT), X, "score_samples predict"),
    "tree-guided": (TreeGuidedNRMM(**SHORT), X, "score_samples"),
    "hierarchy": (TreeGuidedNRMM(moves=["incremental-hierarchy"], **SHORT), X, "predict"),
    "documents": (TreeGuidedNRMM(feature_types="bag-of-words", **SHORT), DOCUMENTS, "score_samples predict"),
    "classifier": (CrossCatClassifier(CrossCat(**SHORT)), FRAME, "predict_proba"),
    "regressor": (CrossCatRegressor(CrossCat(**SHORT)), FRAME, "predict predict_interval"),
    "detector": (CrossCatDetector(CrossCat(**SHORT)), FRAME, "score_samples p_values"),
    "imputer": (BayesianImputer(CrossCat(**SHORT), random_state=0), FRAME, "transform sample_imputations"),
    "topics": (VariationalTemperingLDA(3, max_iter=2, random_state=0), DOCUMENTS, "transform score"),
    "factorial": (VariationalTemperingFMM(2, max_iter=5, random_state=0), X, "transform"),
    "Gaussian process": (
        TemperedGaussianProcessRegressor(n_chains=2, n_draws=5, n_warmup=5, random_state=0),
        X[:20, :2],
        "predict",
    ),
}


def target(name):
    return {"classifier": FRAME["kind"], "regressor": X[:, 1], "Gaussian process": X[:20, 1]}.get(name)


@pytest.fixture(scope="module")
def fitted():
    made = {}

    def fit(name):
        if name not in made:
            model, data, _ = MODELS[name]
            made[name] = model.fit(data, target(name))
        return made[name]

    return fit


def equal(one, other):
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, pd.DataFrame):
        return one.equals(other)
    return np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind == "f")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_models_are_the_same_bit_for_bit(name, fitted, tmp_path):
    model, (_, data, methods) = fitted(name), MODELS[name]
    save(model, tmp_path / "model.npz")
    loaded = load(tmp_path / "model.npz")
    assert type(loaded) is type(model)
    assert repr(loaded) == repr(model)
    assert vars(loaded).keys() == vars(model).keys()
    for method in methods.split():
        assert equal(getattr(model, method)(data), getattr(loaded, method)(data)), method
    # No larger than a pickle, but for the frame of a small file.
    assert os.path.getsize(tmp_path / "model.npz") < 1.2 * len(pickle.dumps(model))
    # A model that was loaded is saved to an equal file.
    save(loaded, tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "model.npz").read_bytes()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", quick_only(MODELS, *SOME))
def test_skops_asks_for_the_classes_of_the_package(name, fitted):
    skops_io = pytest.importorskip("skops.io")
    model, (_, data, methods) = fitted(name), MODELS[name]
    stored = skops_io.dumps(model)
    asked_for = skops_io.get_untrusted_types(data=stored)
    assert type(model).__module__ + "." + type(model).__name__ in asked_for
    # Of the sparse arrays, skops trusts the older class alone.
    others = {kind for kind in asked_for if not kind.startswith("sklearn_subanneal.")}
    assert others == ({"scipy.sparse._csr.csr_array"} if name == "documents" else set())
    loaded = skops_io.loads(stored, trusted=asked_for)
    for method in methods.split():
        assert equal(getattr(model, method)(data), getattr(loaded, method)(data)), method


def test_all_estimators_are_tested():
    public = {name for name in sklearn_subanneal.__all__ if hasattr(getattr(sklearn_subanneal, name), "fit")}
    assert public == {type(model).__name__ for model, *_ in MODELS.values()}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fits_go_on(tmp_path):
    model = SubsampleAnnealedDPMM(warm_start=True, **SHORT).fit(X)
    save(model, tmp_path / "model.npz")
    loaded = load(tmp_path / "model.npz")
    for one in (model, loaded):
        one.set_params(n_draws=5).fit(X)
    np.testing.assert_array_equal(loaded.posterior_labels_, model.posterior_labels_)
    topics = VariationalTemperingLDA(3, random_state=0).partial_fit(DOCUMENTS[:30])
    save(topics, tmp_path / "topics.npz")
    again = load(tmp_path / "topics.npz")
    for one in (topics, again):
        one.partial_fit(DOCUMENTS[30:])
    np.testing.assert_array_equal(again.components_, topics.components_)


REQUESTING = {
    "model": lambda: CrossCat(**SHORT).set_fit_request(sample_weight="counts", strata=False),
    "classifier": lambda: (
        CrossCatClassifier(CrossCat(**SHORT)).set_fit_request(sample_weight=True).set_score_request(sample_weight="w")
    ),
    "inner model": lambda: BayesianImputer(CrossCat(**SHORT).set_fit_request(sample_weight=True)),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", REQUESTING)
def test_requests_of_metadata_are_kept(name, tmp_path):
    with sklearn.config_context(enable_metadata_routing=True):
        model = REQUESTING[name]().fit(FRAME, FRAME["kind"])
        wanted = repr(model.get_metadata_routing())
    # Routing need not be enabled to save and to load.
    save(model, tmp_path / "model.npz")
    loaded = load(tmp_path / "model.npz")
    with sklearn.config_context(enable_metadata_routing=True):
        assert repr(loaded.get_metadata_routing()) == repr(clone(loaded).get_metadata_routing()) == wanted
    inner = (own.estimator if name == "inner model" else own for own in (model, loaded))
    one, other = (own._metadata_request for own in inner)
    assert repr(one) == repr(other) and "sample_weight" in repr(one)
    save(loaded, tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "model.npz").read_bytes()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("outer", [BayesianImputer, CrossCatDetector])
def test_frozen_models_are_saved(outer, fitted, tmp_path):
    model = outer(FrozenEstimator(fitted("CrossCat")), random_state=0).fit(FRAME)
    save(model, tmp_path / "model.npz")
    loaded = load(tmp_path / "model.npz")
    assert type(loaded.estimator) is FrozenEstimator and repr(loaded) == repr(model)
    method = "transform" if outer is BayesianImputer else "score_samples"
    assert equal(getattr(loaded, method)(FRAME), getattr(model, method)(FRAME))
    inner = loaded.estimator_ if outer is BayesianImputer else loaded.crosscat_
    # It is one model, in the file as well.
    assert inner is loaded.estimator.estimator
    save(loaded, tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "model.npz").read_bytes()
    assert class_of("sklearn.frozen.FrozenEstimator") is FrozenEstimator


def test_requests_that_are_none_are_refused():
    for hostile in ({"owner": {"a": True}}, {"__class__": {"a": True}}, {"fit": {"a": "os.system()"}}, {"fit": 3}, 3):
        state = {"_metadata_request": {"dict": hostile} if isinstance(hostile, dict) else hostile}
        decoder = Decoder([{"class": "estimators.crosscat.CrossCat", "state": state}], [])
        with pytest.raises((ValueError, TypeError, KeyError, AttributeError, StopIteration)):
            decoder.decode({"object": 0})


def test_files_hold_what_pickles_hold(tmp_path):
    topics = VariationalTemperingLDA(3, init="random", max_iter=2, random_state=0).fit(DOCUMENTS)
    save(topics, tmp_path / "model.npz")
    before = (tmp_path / "model.npz").read_bytes()
    assert topics.components_.size and topics.topic_word_.size
    save(topics, tmp_path / "model.npz")
    # Arrays that are computed when they are asked for, and kept.
    assert (tmp_path / "model.npz").read_bytes() == before
    assert not load(tmp_path / "model.npz").components_.flags.writeable


def test_files_hold_no_room_for_further_rows():
    table = GrowingColumns.of([np.arange(50.0)]).extended([np.arange(5.0)])
    assert len(table.buffers[0]) == 100
    stream = io.BytesIO()
    model_file.write(table, stream)
    stream.seek(0)
    assert [len(column) for key, column in np.load(stream).items() if key.startswith("array")] == [55]
    found = model_file.read(stream, "stream")
    np.testing.assert_array_equal(found.arrays[0], table.arrays[0])
    # The rows of the file are its own.
    np.testing.assert_array_equal(found.extended([np.ones(1)]).arrays[0][-2:], [4.0, 1.0])


def test_attributes_in_slots_are_refused():
    with pytest.raises(NotPortable, match="model is a Point, whose state"):
        model_file.write(Point(np.zeros(2), 0.0, 0.0), io.BytesIO())


def test_numbers_and_containers_of_all_kinds(tmp_path):
    shared = np.arange(6.0).reshape(2, 3)
    values = {
        "numbers": [1, -(10**30), 1.5, -0.0, np.inf, -np.inf, np.float32(0.1), np.int8(3), True, None, np.bool_(True)],
        "texts": ["", "\u00fc\n\0", b"\x00\xff", np.str_("a")],
        "containers": [
            (),
            (1, (2.0,)),
            {},
            {1: "a", (2, 3): "b"},
            {"array": 1},
            {3, 1},
            frozenset("ab"),
            slice(1, None),
        ],
        "arrays": [shared, np.asfortranarray(shared), shared[:, ::2], np.zeros((0, 3)), np.array(3.0)],
        "dtypes": [
            np.array(["2024-01-01", "NaT"], "M8[D]"),
            np.array(["ab", "c"]),
            np.array([1 + 2j]),
            np.dtype("<i2"),
        ],
        "objects": np.array(["a", None, 1.5, (1, 2)], object),
        "records": np.array([(1, 2.5)], dtype=[("n", "i4"), ("x", "f8")]),
        "rows": [sparse.csr_matrix(shared), sparse.csr_array(shared)],
        "classes": [SubsampleAnneal, SubsampleAnneal(passes=3)],
        "twice": [shared, shared],
    }
    stream = io.BytesIO()
    model_file.write(values, stream)
    found = model_file.read(stream, "stream")
    assert found.keys() == values.keys()
    for name in ("numbers", "texts", "containers"):
        assert repr(found[name]) == repr(values[name]), name
        assert [type(item) for item in found[name]][:4] == [type(item) for item in values[name]][:4]
    for one, other in zip(found["arrays"] + found["dtypes"][:3], values["arrays"] + values["dtypes"][:3], strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
        assert one.flags.writeable
    assert found["arrays"][1].flags.f_contiguous
    assert found["dtypes"][3] == np.dtype("<i2")
    assert found["objects"].tolist() == values["objects"].tolist()
    assert found["records"].tolist() == [(1, 2.5)]
    for one, other in zip(found["rows"], values["rows"], strict=True):
        assert type(one) is type(other)
        assert (one != other).nnz == 0
    assert found["classes"][0] is SubsampleAnneal
    assert found["classes"][1].passes == 3
    assert found["twice"][0] is found["twice"][1]


def test_generators_go_on():
    generators = [np.random.default_rng(3), np.random.RandomState(4), np.random.Generator(np.random.Philox(5))]
    for one in generators:
        one.random(7)
    stream = io.BytesIO()
    model_file.write(generators, stream)
    for one, other in zip(model_file.read(stream, "stream"), generators, strict=True):
        np.testing.assert_array_equal(one.random(5), other.random(5))


def test_other_objects_are_refused(tmp_path):
    model = CrossCat(feature_params={"a": pd.Series([1.0])})
    with pytest.raises(TypeError, match=r"model\.feature_params\['a'\] .*pandas.*joblib\.dump"):
        save(model, tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())
    with pytest.raises(TypeError, match="LinearRegression"):
        save(LinearRegression(), tmp_path / "model.npz")
    save(CrossCat().set_callbacks(TraceMonitor()), tmp_path / "model.npz")
    assert load(tmp_path / "model.npz").get_params() == CrossCat().get_params()
    intervals = pd.DataFrame({"a": pd.cut(X[:, 0], 3), "b": X[:, 1]})
    fitted = SubsampleAnnealedDPMM(n_chains=1, n_draws=1, random_state=0).fit(intervals)
    with pytest.raises(TypeError, match=r"categories .*Convert the column to strings before fit, by astype\(str\)"):
        save(fitted, tmp_path / "intervals.npz")


@pytest.mark.parametrize(
    "name",
    ["os.system", "sklearn.frozen.available_if", "sklearn.pipeline.Pipeline", "sklearn.frozen._frozen.FrozenEstimator",
     "builtins.eval", "estimators.crosscat.np", "report.cli.main", "__main__.main", "estimators",
     "annealing.clock.now", "estimators.crosscat..CrossCat", "estimators.os.path", "annealing.checkpoint.Path", "a.b",
     "", None, 3],
)  # fmt: skip
def test_only_classes_of_the_package_are_found(name):
    with pytest.raises(ValueError, match="there is no class"):
        class_of(name)


# --- Damage ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def content(fitted):
    stream = io.BytesIO()
    model_file.write(fitted("mixture"), stream)
    return stream.getvalue()


def read_or_refused(content):
    try:
        model_file.read(io.BytesIO(content), "the file")
    except ValueError as error:
        assert str(error).startswith("the file ")
        return False
    return True


def test_damaged_files_are_refused(content, tmp_path):
    (tmp_path / "model.npz").write_bytes(content[:-50])
    with pytest.raises(ValueError, match=r"model\.npz is no model of sklearn_subanneal, or damaged"):
        load(tmp_path / "model.npz")
    (tmp_path / "table.npz").write_bytes(b"")
    with pytest.raises(ValueError, match="is no model"):
        load(tmp_path / "table.npz")
    np.savez(tmp_path / "table.npz", x=X)
    with pytest.raises(ValueError, match=r"table\.npz"):
        load(tmp_path / "table.npz")
    with pytest.raises(ValueError, match="is damaged, its content is not what was written: take a copy"):
        parts = members(content)
        parts["array0.npy"] = parts["array0.npy"][:-1] + b"x"
        model_file.read(io.BytesIO(packed(parts, signed=False)), "file")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.npz")
    with pytest.raises(ValueError, match="more than max_bytes=1000"):
        (tmp_path / "model.npz").write_bytes(content)
        load(tmp_path / "model.npz", max_bytes=1000)


def test_later_formats_say_which_version_wrote_them(content):
    parts = members(content)
    document = json.loads(parts["model.json"]) | {"format": 9, "sklearn_subanneal": "7.0"}
    parts["model.json"] = json.dumps(document).encode()
    with pytest.raises(ValueError, match=r"format 9, written by sklearn_subanneal '7\.0'.*install a later one"):
        model_file.read(io.BytesIO(packed(parts)), "the file")


def ran(monkeypatch):
    """A list to which each call of a function that could run code is added."""
    calls = []
    for module, name in ((os, "system"), (pickle, "loads"), (pickle, "load")):
        monkeypatch.setattr(module, name, lambda *args, name=name: calls.append(name))
    return calls


@pytest.mark.parametrize("n", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_mutated_files_run_no_code(content, n, monkeypatch):
    calls, rng = ran(monkeypatch), np.random.default_rng(n)
    parts, n_read = members(content), 0
    document = json.loads(parts["model.json"])
    for i in range(n):
        if i % 2:
            n_read += read_or_refused(changed_bytes(content, rng))
        else:
            # By somebody who knows the digest.
            other = json.dumps(mutated(document, rng)).encode()
            n_read += read_or_refused(packed(parts | {"model.json": other}))
    assert not calls
    assert 0 < n_read < n
