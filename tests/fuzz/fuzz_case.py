"""A case of the campaign: an estimator, a table, parameters and calls of methods, all of them from one number."""

from __future__ import annotations

import traceback
from dataclasses import dataclass, field

import numpy as np
from definitions import departure
from fuzzed_models import (
    NAMES,
    OUTER,
    QUICK,
    WEIGHTS,
    arguments,
    class_of,
    density,
    hostile_params,
    make,
    methods,
    tempered_model,
)
from hostile_tables import HostileTable, hostile_table
from hostile_values import anything, chosen, described, suitable
from verdict import origin, refusal

# A change of the generator changes what the numbers of cases stand for: they are kept no longer than it.
SALT = 20_240
# By these scikit-learn tears down callbacks after a failed fit as well.
TEAR_DOWN = {"_callback_fit_ctx", "_skl_callbacks_to_teardown"}
PLAIN_TABLES = (
    ("two groups", "normal", "gaps"),
    ("two groups", "few levels"),
    ("counts", "bits", "skewed"),
    ("atom and rest", "normal"),
)


@dataclass
class Finding:
    """What went wrong in a case: the kind, the step, the place in the package and the message."""

    kind: str
    step: str
    place: str = ""
    message: str = ""
    trace: str = field(default="", repr=False)

    @property
    def group(self) -> str:
        """Findings of one cause have mostly one group."""
        return f"{self.kind} | {self.step.partition('(')[0]} | {self.place}"


def has_empty_column(estimator) -> bool:
    """Whether `fit` saw no value of a column."""
    models = [getattr(estimator, name, None) for name in ("crosscat_", "estimator_")]
    columns = [one for model in (estimator, *models) for one in getattr(getattr(model, "_table", None), "columns", ())]
    return any(column.is_empty for column in columns)


class FuzzCase:
    """One case.

    Parameters
    ----------
    number : int
        All that is random follows from it.
    announce : callable
        Called with the description of each step before it.

    Attributes
    ----------
    findings : list of Finding
    outcomes : list of str
        "answer", "refusal" or "finding", one for each step.
    """

    def __init__(self, number: int, announce=lambda step: None):
        self.rng = np.random.default_rng([SALT, number])
        self.announce = announce
        self.findings: list[Finding] = []
        self.outcomes: list[str] = []
        self.weighted = self.indicated = self.empty = False

    def run(self) -> FuzzCase:
        rng = self.rng
        self.name = str(rng.choice(NAMES, p=np.array(WEIGHTS) / sum(WEIGHTS)))
        # Whether the table, the parameters or the arguments are hostile: of a fit with all three nothing is left.
        hostile = str(rng.choice(["table", "parameters", "arguments"], p=[0.45, 0.25, 0.3]))
        share = 0.35 if hostile == "arguments" else 0.08
        n_hostile = int(rng.integers(1, 3)) if hostile == "parameters" else int(rng.random() < 0.15)
        if self.name == "sample":
            return self.draw(n_hostile)
        params = hostile_params(rng, self.name, n_hostile)
        about = ", ".join(f"{key}={described(value)}" for key, value in params.items())
        if self.name in OUTER:
            inner = hostile_params(rng, "CrossCat", n_hostile)
            about += "; CrossCat: " + ", ".join(f"{key}={described(value)}" for key, value in inner.items())
            try:
                params["estimator"] = make("CrossCat", inner)
            except TypeError:
                return self
        estimator = make(self.name, params)
        self.indicated = params.get("missing_indicator") is not None
        if self.name == "ParallelTempering":
            return self.sample(estimator, about, share)
        self.table = hostile_table(rng) if hostile == "table" else self.plain_table()
        if self.fit(estimator, about, share):
            names = methods(self.name)
            for _ in range(4):
                self.call(estimator, str(rng.choice(names)), share)
        return self

    def plain_table(self) -> HostileTable:
        rng = self.rng
        if self.name == "VariationalTemperingLDA":
            return HostileTable("counts", rng.poisson(2.0, (12, 5)).astype(float), 12)
        from hostile_columns import NUMBERS

        kinds = chosen(rng, PLAIN_TABLES)
        X = np.column_stack([NUMBERS[kind](rng, 12) for kind in kinds])
        if self.name in ("VariationalTemperingFMM", "TemperedGaussianProcessRegressor"):
            X = np.nan_to_num(X)
        return HostileTable(f"array of 12 rows: {', '.join(kinds)}", X, 12)

    def other_table(self, rng):
        """A table for a method: that of fit, some of its rows, or another, mostly of as many columns."""
        kind = rng.random()
        if kind < 0.45:
            return self.table.X
        if kind < 0.6 and hasattr(self.table.X, "__getitem__"):
            try:
                return self.table.X[: int(rng.integers(0, 3))]
            except Exception:
                return self.table.X
        shape = getattr(self.table.X, "shape", ())
        n_columns = shape[1] if len(shape) == 2 and rng.random() < 0.8 else None
        return hostile_table(rng, n_columns).X

    def fit(self, estimator, about: str, share: float) -> bool:
        """Fit; whether there is a model for questions."""
        rng, method = self.rng, "fit"
        others = [one for one in ("fit_predict", "fit_transform", "partial_fit") if hasattr(estimator, one)]
        if others and rng.random() < 0.2:
            method = chosen(rng, others)
        function = getattr(estimator, method)
        given = {"X": self.table.X}
        known = {"y", "sample_weight", "strata"} & set(_parameters_of(function))
        for name in sorted(known):
            if name == "y" and not self.is_supervised:
                continue
            if name == "y" or rng.random() < 0.12:
                is_anything = rng.random() < 0.1 + share / 2
                given[name] = anything(rng, name) if is_anything else self.target(rng, name)
        self.weighted = "sample_weight" in given
        before = set(vars(estimator))
        step = f"{self.name}({about}).{method}({self.table.about}{_listed(given, 'X')})"
        if not (fitted := self.attempt(step, lambda: function(**given)))[0]:
            left = set(vars(estimator)) - before - TEAR_DOWN
            if left:
                self.found(Finding("attributes left", f"{method}(", "", f"{step}: {sorted(left)}"))
            return False
        answer = None if fitted[1] is estimator else fitted[1]
        self.empty = has_empty_column(estimator)
        self.judge(step, method, answer, given, None)
        for name in sorted(vars(estimator)):
            if name.endswith("_") and not name.startswith("_"):
                if wrong := departure(name, getattr(estimator, name), {}, None, self.weighted):
                    self.found(Finding(wrong, f"{name}(", "", f"{name} after {step}"))
        return True

    @property
    def is_supervised(self) -> bool:
        return self.name in ("CrossCatClassifier", "CrossCatRegressor", "TemperedGaussianProcessRegressor")

    def target(self, rng, name):
        n = self.table.n_rows
        if name == "y" and rng.random() < 0.6:
            return np.arange(n) % 2 if self.name == "CrossCatClassifier" else rng.normal(size=n)
        return suitable(rng, name, n)

    def call(self, estimator, method: str, share: float) -> None:
        """Call a method, or read a property."""
        if not hasattr(type(estimator), method) or isinstance(getattr(type(estimator), method), property):
            step, given = f"{self.name}.{method}", {}
            done, answer = self.attempt(step, lambda: getattr(estimator, method))
        elif not hasattr(estimator, method):
            # A method that this model does not have, as scikit-learn's ``available_if`` says.
            return
        else:
            function = getattr(estimator, method)
            given = arguments(self.rng, function, self.other_table, self.table.n_rows, share)
            step = f"{self.name}.{method}({_listed(given)})"
            done, answer = self.attempt(step, lambda: function(**given))
        if done:
            shape = getattr(given.get("X"), "shape", ())
            self.judge(step, method, answer, given, shape[0] if shape else None)

    def sample(self, sampler, about: str, share: float) -> FuzzCase:
        """The case of a sampler, which has a model instead of a table."""
        self.table = HostileTable("", np.zeros((3, 2)), 3)
        given = arguments(self.rng, sampler.sample, self.other_table, 3, share) if share > 0.2 else {"n_draws": 3}
        given = {"n_draws": 3, "n_chains": 1, "random_state": 0} | given
        if "model" not in given:
            given["model"] = tempered_model(self.rng)
        step = f"{self.name}({about}).sample({_listed(given)})"
        done, answer = self.attempt(step, lambda: sampler.sample(**given))
        if done and departure("sample", answer.draws, {}, None, False):
            self.found(Finding("non-finite", "sample(", "", step))
        return self

    def draw(self, n_hostile: int) -> FuzzCase:
        """The case of ``tempering.sample``, which has a density instead of a table."""
        given = QUICK["sample"] | density(self.rng) | hostile_params(self.rng, self.name, n_hostile)
        step = f"sample({_listed(given)})"
        done, answer = self.attempt(step, lambda: class_of(self.name)(**given))
        if done:
            for name in ("draws", "log_density", "step_sizes", "inverse_temperatures"):
                if departure("sample", getattr(answer, name), {}, None, False):
                    self.found(Finding("non-finite", "sample(", name, step))
        return self

    def attempt(self, step: str, function):
        """Whether a step gives an answer, and the answer; what else it does is noted."""
        self.announce(step)
        try:
            answer = function()
        except Exception as error:
            if kind := refusal(error):
                trace = "".join(traceback.format_exception(error))
                self.found(Finding(kind, step, origin(error), f"{type(error).__name__}: {str(error)[:300]}", trace))
            self.outcomes.append("finding" if kind else "refusal")
            return False, None
        self.outcomes.append("answer")
        return True, answer

    def judge(self, step, method, answer, given, n_rows) -> None:
        """Note if an answer is not within its definition."""
        try:
            wrong = departure(method, answer, given, n_rows, self.weighted, self.indicated, self.empty)
        except Exception as error:
            wrong = f"judgement failed by {type(error).__name__}: {error}"
        if wrong:
            self.found(Finding(wrong, f"{self.name}.{method}(", "", step, described(answer)))

    def found(self, finding: Finding) -> None:
        self.findings.append(finding)


def _parameters_of(function):
    import inspect

    return inspect.signature(function).parameters


def _listed(given: dict, *known: str) -> str:
    text = ", ".join(f"{name}={described(value)}" for name, value in given.items() if name not in known)
    return f", {text}" if text and known else text


__all__ = ["Finding", "FuzzCase", "class_of"]
