"""A fit that fails, by a fault in its chains or passes or by refused input, leaves an estimator as it was."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support.scale_models import ALL, SUPERVISED, TOPICS, fitted

from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.factorial.ascent import Ascent
from sklearn_subanneal.variational import TemperedLearner

# By these scikit-learn tears callbacks down, after a failed fit as well.
TEAR_DOWN = {"_callback_fit_ctx", "_skl_callbacks_to_teardown"}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 2))
COUNTS = RNG.poisson(2.0, (20, 6)).astype(float)
FITS = [
    (name, method)
    for name, make in ALL.items()
    for method in ("fit", "partial_fit", "fit_predict", "fit_transform")
    if hasattr(make(), method)
]

# What a fit does again and again, of one estimator or another.
STEPS = [(ChainContext, "check"), (TemperedLearner, "learn"), (Ascent, "climb")]

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def table_of(name):
    return COUNTS if name in TOPICS else X


def call(model, name, method, table, y=None):
    if name in SUPERVISED:
        y = np.arange(len(X)) % 2 if y is None else y
        return getattr(model, method)(table, y)
    return getattr(model, method)(table)


def attributes(model):
    return {name: value for name, value in vars(model).items() if name not in TEAR_DOWN}


def assert_unchanged(model, before):
    now = attributes(model)
    assert now.keys() == before.keys()
    assert all(now[name] is value for name, value in before.items())


def broken_at(number, function):
    """The function, which raises an error when it is called for so many times."""
    calls = []

    def call(*args, **kwargs):
        calls.append(None)
        if len(calls) >= number:
            raise RuntimeError("the fault")
        return function(*args, **kwargs)

    return call


# Of ``partial_fit``, and of three passes over a corpus, there are fewer steps.
NUMBERS = [(*fit, number) for fit in FITS for number in (1, 2, 4) if number == 1 or fit[1] != "partial_fit"]


@pytest.mark.parametrize(
    ("name", "method", "number"), [case for case in NUMBERS if (case[0], case[2]) != ("topics", 4)]
)
def test_faults_on_the_way(name, method, number, monkeypatch):
    model = ALL[name]()
    before = attributes(model)
    for owner, step in STEPS:
        monkeypatch.setattr(owner, step, broken_at(number, getattr(owner, step)))
    with pytest.raises(RuntimeError, match="the fault"):
        call(model, name, method, table_of(name))
    assert_unchanged(model, before)


@pytest.mark.parametrize("name", ALL)
def test_faults_after_the_last_pass(name, monkeypatch):
    """Attributes are set one after the other: none of the first ones stays."""
    model = ALL[name]()
    before = attributes(model)
    cls, number = type(model), [0]
    own = cls.__setattr__

    def set_attribute(self, key, value):
        number[0] += key.endswith("_")
        if number[0] == 2:
            raise RuntimeError("the fault")
        own(self, key, value)

    monkeypatch.setattr(cls, "__setattr__", set_attribute)
    try:
        call(model, name, "fit", table_of(name))
    except RuntimeError:
        assert_unchanged(model, before)
    else:
        # Some set all attributes at once, after everything that can fail.
        assert number[0] < 2


def refused(name):
    """Tables and targets that the estimator refuses, and parameters with them."""
    table = table_of(name)
    yield np.where(np.arange(2 * len(table)).reshape(-1, 2)[:, :1] == 6, np.inf, table), None, {}
    yield np.array([["a", "b"]] * 20), None, {}
    yield table[:0], None, {}
    yield pd.DataFrame(table[:, [0, 0]], columns=["a", "a"]), None, {}
    yield [[10**400, 1]] * 20, None, {}
    yield table[:, 0], None, {}
    if name in SUPERVISED:
        yield table, np.arange(3), {}
    yield table, None, {"random_state": "no"}


@pytest.mark.parametrize(("name", "method"), FITS)
def test_refused_input(name, method):
    """Neither does a first fit leave anything behind, nor does a later one change the model."""
    of_before = fitted(name, table_of(name))
    kept = attributes(of_before)
    for table, y, params in refused(name):
        for model, before in ((ALL[name](), None), (of_before, kept)):
            if not hasattr(model, method):
                # Full covariance, which the fit chose, has no ``partial_fit``.
                continue
            if params and before and method == "partial_fit":
                # No number is drawn any more.
                continue
            own = model.get_params(deep=False)
            model.set_params(**params)
            if before is None:
                before = attributes(model)
            before = before | params
            with pytest.raises((ValueError, TypeError)):
                call(model, name, method, table, y)
            assert_unchanged(model, before)
            model.set_params(**{key: own[key] for key in params})


@pytest.mark.parametrize("name", ALL)
def test_fits_of_one_row(name):
    table = table_of(name)[:1]
    model = ALL[name]()
    y = [np.arange(1)] if name in SUPERVISED else []
    assert model.fit(table, *y) is model
    answer = model.predict(table) if hasattr(model, "predict") else model.transform(table)
    assert len(answer) == 1
