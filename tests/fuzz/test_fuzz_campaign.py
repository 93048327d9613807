"""A hundred hostile cases, and that the campaign sees what it is to find."""

from __future__ import annotations

import json
import os
import sys

import numpy as np
import pandas as pd
import pytest
from definitions import departure
from fuzz_campaign import campaign
from fuzz_case import FuzzCase
from fuzzed_models import LEFT_OUT, NAMES, TABLES, class_of, parameters
from hostile_values import suitable
from verdict import is_finite, refusal

from sklearn_subanneal import CrossCat
from sklearn_subanneal.estimators._reasons import CellReason
from sklearn_subanneal.tables.row_indices import row_indices

pytest.importorskip("resource", reason="limits of CPU time and memory are those of POSIX")
NAN = np.nan


def test_a_hundred_cases():
    """No case ends in a signal, a hang, another exception or a number that is not finite."""
    result = campaign(0, 100)
    assert result.n_cases == 100
    assert not result.findings, result.report()
    # Neither is all refused, nor all admitted.
    assert result.outcomes["answer"] > 100 and result.outcomes["refusal"] > 100


@pytest.mark.slow
def test_some_thousand_cases():
    result = campaign(100, 3150)
    assert not result.findings, result.report()


@pytest.mark.parametrize("number", [3, 17])
def test_a_case_is_a_function_of_its_number(number):
    steps = [[], []]
    cases = [FuzzCase(number, own.append).run() for own in steps]
    assert cases[0].outcomes == cases[1].outcomes
    # Objects without a repr of their own show where they are in memory.
    assert [step.partition(" at 0x")[0] for step in steps[0]] == [step.partition(" at 0x")[0] for step in steps[1]]


def test_values_are_known_for_all_parameters():
    """A new parameter of a public method, or of a constructor, belongs in ``hostile_values``."""
    rng, unknown = np.random.default_rng(0), set()
    for name in NAMES:
        cls = class_of(name)
        public = [method for method in dir(cls) if not method.startswith("_") and method not in LEFT_OUT]
        functions = [cls, *(own for own in (getattr(cls, method) for method in public) if callable(own))]
        for parameter in {p for function in functions for p in parameters(function)}:
            if parameter not in (*TABLES, "estimator", "model"):
                try:
                    suitable(rng, parameter, 12)
                except KeyError:
                    unknown.add(parameter)
    assert not unknown


# --- What is found ----------------------------------------------------------------------------------------------------

WORKER = """
import json, os, signal, sys, time
first, stop = map(int, sys.argv[1:])
for number in range(first, stop):
    print(json.dumps({"step": f"step of {number}"}), flush=True)
    if number == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    if number == 2:
        os.kill(os.getpid(), signal.SIGXCPU)
    if number == 3:
        sys.exit("out of memory")
    print(json.dumps({"outcomes": ["answer"], "findings": []}), flush=True)
"""


@pytest.mark.skipif("SUBANNEAL_SANITIZED" in os.environ, reason="a sanitizer makes other signals of it")
def test_workers_that_end(tmp_path):
    """The step of a signal, a hang or an exit is found, and the next case is run."""
    with open(tmp_path / "told", "w+") as told:
        result = campaign(0, 5, told, lambda first, stop: [sys.executable, "-c", WORKER, str(first), str(stop)])
        told.seek(0)
        kept = [json.loads(line) for line in told]
    found = [(number, finding.kind, finding.step) for number, finding in result.findings]
    assert found == [(1, "signal SIGSEGV", "step of 1"), (2, "hang", "step of 2"), (3, "exit code 1", "step of 3")]
    assert result.n_cases == 5 and result.outcomes == {"answer": 2, "finding": 3}
    assert [line["case"] for line in kept] == [1, 2, 3] and "out of memory" in result.findings[-1][1].message


def raised(function):
    try:
        function()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def test_refusals():
    model = CrossCat(n_chains=1, n_draws=1, random_state=0).fit(np.eye(3))
    # Of NumPy, out of the middle of the package; of the package, by Python; of the package on purpose; of scikit-learn.
    assert refusal(raised(lambda: model._table.decode(["a"]))) == "exception IndexError"
    assert refusal(raised(lambda: row_indices("rows", [0], None))) == "bare TypeError"
    assert refusal(raised(lambda: row_indices("rows", [9], 3))) == ""
    assert refusal(raised(lambda: model.predict([[np.inf] * 3]))) == ""
    assert refusal(raised(lambda: CrossCat().predict(np.eye(3)))) == ""
    assert refusal(raised(lambda: 1 / 0)) == "exception ZeroDivisionError"


@pytest.mark.parametrize(
    ("method", "answer", "given", "expected"),
    [
        ("predict", np.array([0.0, NAN]), {}, "non-finite"),
        ("sample", pd.DataFrame({"a": pd.array([1, None], "Int64")}), {}, "non-finite"),
        ("sample", pd.DataFrame({"a": pd.array([1, None], "Int64")}), {"keep_missing": True}, ""),
        ("predict_proba", np.array([[0.5, 0.4]]), {}, "probabilities"),
        ("predict_proba", np.array([[1.5, -0.5]]), {}, "probabilities"),
        ("p_values", np.array([1.5]), {}, "no share"),
        ("predict_interval", np.array([[1.0, 0.0]]), {}, "interval"),
        ("predict_quantiles", np.array([[1.0, 0.0]] * 2), {"quantiles": [0.1, 0.9]}, "quantiles fall"),
        ("predict_quantiles", np.array([[1.0, 0.0]] * 2), {"quantiles": [0.9, 0.1]}, ""),
        ("predict", np.zeros(3), {}, "3 rows of 2"),
        ("reasons", [CellReason(0, "x0", 0.5, 1.0, 0.0, 2.0, np.inf, np.inf)], {}, ""),
        ("reasons", [CellReason(0, "x0", 0.5, 1.0, -np.inf, 2.0, np.inf, np.inf)], {}, "non-finite"),
        ("reasons", [CellReason(0, "x0", 0.5, 1.0, 0.0, 2.0, -np.inf, 0.0)], {}, "non-finite"),
        ("hyperparameters_", {"columns": {"x0": {"sigma2": np.inf}}}, {}, ""),
        ("hyperparameters_", {"columns": {"x0": {"sigma2": NAN}}}, {}, "not a number"),
    ],
)
def test_departures_from_definitions(method, answer, given, expected):
    assert departure(method, answer, given, 2, False) == expected


def test_cells_of_a_column_without_values_stay_missing():
    gap = pd.DataFrame({"a": [1.0, NAN]})
    assert departure("impute", gap, {}, 2, False) == "non-finite"
    assert departure("impute", gap, {}, 2, False, empty=True) == ""
    assert departure("predict", np.array([1.0, NAN]), {}, 2, False, empty=True) == "non-finite"


def test_numbers_within_objects_are_seen():
    assert is_finite([{"a": (1, None, "b")}, np.array([1, "x"], object)])
    assert not is_finite([{"a": (1.0, np.inf)}])
    assert not is_finite(np.array(["NaT"], "M8[D]"))
