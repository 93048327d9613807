"""Types: what type checkers see of the package, which says by py.typed that it has them."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
import types
from importlib.metadata import files
from pathlib import Path

import pytest

import sklearn_subanneal

PACKAGES = [
    sklearn_subanneal,
    *(module for name in dir(sklearn_subanneal) if inspect.ismodule(module := getattr(sklearn_subanneal, name))),
    importlib.import_module("sklearn_subanneal.shards"),
]
PUBLIC = [(name, getattr(package, name)) for package in PACKAGES for name in getattr(package, "__all__", [])]
CLASSES = [public for _, public in PUBLIC if isinstance(public, type)]
ESTIMATORS = [public for public in CLASSES if public.__name__ in sklearn_subanneal.__all__ and hasattr(public, "fit")]
# A program of a user. Answers in the container of the table, as those of `impute`, are of any type.
PROGRAM = """
import numpy as np
from typing import assert_type
from sklearn_subanneal import (
    BayesianImputer, Checkpoint, CrossCat, CrossCatClassifier, CrossCatDetector, SubsampleAnnealedDPMM,
    TemperedGaussianProcessRegressor, TraceMonitor, TreeGuidedNRMM, VariationalTemperingFMM, VariationalTemperingLDA,
    load, save,
)
from sklearn_subanneal.datasets import load_hospitals
from sklearn_subanneal.partitions import PitmanYor
from sklearn_subanneal.shards import ShardedTable

X = load_hospitals(as_frame=False).data
mixture = SubsampleAnnealedDPMM(PitmanYor(1.0)).set_callbacks(TraceMonitor(), Checkpoint("folder"))
model = SubsampleAnnealedDPMM(PitmanYor(1.0), n_chains=2, random_state=0)
assert_type(model.fit(X), SubsampleAnnealedDPMM)
labels: np.ndarray = model.fit(X).predict(X)
number: int = model.n_clusters_ + len(model.fit_predict(X)) + len(model.weights_)
score: float = model.score(X) + float(model.score_samples(X).sum())
assert_type(TreeGuidedNRMM().partial_fit(X), TreeGuidedNRMM)
assert_type(CrossCat().fit(X).dependence_, np.ndarray)
assert_type(CrossCat().fit(ShardedTable(X)), CrossCat)
assert_type(CrossCatClassifier(CrossCat()).fit(X, labels).predict_proba(X), np.ndarray)
assert_type(CrossCatDetector(contamination=0.05).fit(X).predict(X), np.ndarray)
assert_type(BayesianImputer(random_state=0).fit(X), BayesianImputer)
assert_type(VariationalTemperingLDA(n_components=5).fit(X).transform(X), np.ndarray)
assert_type(VariationalTemperingFMM().fit(X), VariationalTemperingFMM)
assert_type(TemperedGaussianProcessRegressor().fit(X, X[:, 0]), TemperedGaussianProcessRegressor)
filled = BayesianImputer().fit(X).transform(X)
save(model, "model")
print(load("model"), filled, number, score, mixture)
model.plot()
SubsampleAnnealedDPMM(n_chain=2)
labels = model.score(X)
"""


def untyped(function) -> bool:
    """Whether a function of the package has no annotation at all: calls of it are errors for strict type checkers."""
    function = inspect.unwrap(function)
    own = isinstance(function, types.FunctionType) and function.__module__.startswith("sklearn_subanneal")
    return own and not function.__annotations__


def methods(cls: type):
    """Public methods, properties and the constructor."""
    for name in dir(cls):
        if not name.startswith("_") or name == "__init__":
            method = inspect.getattr_static(cls, name)
            method = method.fget if isinstance(method, property) else getattr(method, "__func__", method)
            if callable(method):
                yield name, method


def test_the_package_has_its_types():
    assert (Path(sklearn_subanneal.__file__).parent / "py.typed").is_file()


def test_public_functions_are_typed():
    functions = {name: public for name, public in PUBLIC if isinstance(public, types.FunctionType)}
    assert len(functions) > 20
    assert [name for name, function in functions.items() if untyped(function)] == []
    assert [cls.__name__ for cls in CLASSES if untyped(cls.__init__)] == []

    def bare(value):
        return value

    bare.__module__ = "sklearn_subanneal.module"
    assert untyped(bare)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_methods_of_estimators_are_typed(estimator):
    found = dict(methods(estimator))
    assert [name for name, method in found.items() if untyped(method)] == []
    for name in {"fit", "partial_fit", "fit_chunks"} & found.keys():
        # Scikit-learn's decorators hide it, unless they are those of the package.
        assert inspect.unwrap(found[name]).__annotations__["return"] == "Self"


def test_public_names_are_not_compiled():
    """Compiled modules have no types; nothing public is one of theirs, or is derived from one."""
    compiled = {
        f"{public.__name__} is a {base.__module__}.{base.__name__}"
        for public in CLASSES
        for base in public.__mro__
        if base.__module__.startswith("sklearn_subanneal.")
        and not getattr(sys.modules[base.__module__], "__file__", "").endswith(".py")
    }
    assert compiled == set()


@pytest.mark.slow
def test_a_strict_type_checker_accepts_programs(tmp_path):
    pytest.importorskip("mypy")
    if not any(str(path).endswith("py.typed") for path in files("sklearn_subanneal") or []):
        pytest.skip("needs the installed package")
    (tmp_path / "program.py").write_text(PROGRAM)
    ended = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "program.py"], cwd=tmp_path, capture_output=True, text=True
    )
    errors = [line for line in ended.stdout.splitlines() if ": error:" in line]
    # The last two lines are wrong, to see that there are types.
    assert len(errors) == 2, ended.stdout
    assert 'argument "n_chain" for "SubsampleAnnealedDPMM"' in errors[0] and "expression has type" in errors[1]
