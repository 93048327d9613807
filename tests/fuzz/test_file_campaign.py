"""A hundred changed files of models and some of tables; and that the campaign sees what it is to find."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from file_campaign import run
from file_case import FORBIDDEN, FileCase

from sklearn_subanneal.columns._bag_of_words import BagOfWordsStatistics
from sklearn_subanneal.columns._mvnormal import GaussianStatistics
from sklearn_subanneal.columns._normal import NormalData, NormalStatistics
from sklearn_subanneal.report import read_source

pytest.importorskip("resource", reason="limits of CPU time and memory are those of POSIX")
CASES = [("model", 100), ("table", 12)]
# A table takes as long as fifty models; `make fuzz-files` has as many as one likes.
CASES += [pytest.param(*case, marks=pytest.mark.slow) for case in [("model", 10_000), ("table", 2000)]]


@pytest.mark.parametrize(("kind", "n_cases"), CASES)
def test_changed_files(kind, n_cases):
    result = run(kind, 0, n_cases)
    assert result.n_cases == n_cases
    assert not result.findings, result.report()
    # Neither is all refused, nor all read.
    assert result.outcomes["answer"] > n_cases / 5 and result.outcomes["refusal"] > n_cases / 5


def test_exceptions_that_are_no_words_are_found():
    case = FileCase(0)
    assert case.attempt("divide(", lambda: 1 / 0) == (False, None)
    assert case.attempt("read(", lambda: read_source("absent.csv")) == (False, None)
    assert [finding.kind for finding in case.findings] == ["exception ZeroDivisionError", "exception FileNotFoundError"]
    assert case.attempt("answer(", lambda: 7) == (True, 7)


@pytest.mark.skipif("SUBANNEAL_SANITIZED" in os.environ, reason="a sanitizer is loaded into the process before it")
def test_code_that_is_run_ends_the_process(tmp_path):
    code = "import sys, os; from file_case import forbid; sys.addaudithook(forbid); os.system('true')"
    # Not in the source folder, whose package is not compiled.
    command, paths = [sys.executable, "-c", code], {"PYTHONPATH": ":".join(sys.path)}
    ended = subprocess.run(command, env=paths, capture_output=True, cwd=tmp_path)
    assert ended.returncode == 71 and b"forbidden event os.system" in ended.stderr
    assert "pickle.find_class" in FORBIDDEN


REAL = {"mu": 0.0, "kappa": 1.0, "sigma2": 1.0, "nu": 2.0}
BLOCK = {"mu": np.zeros(2), "kappa": 1.0, "psi": np.eye(2), "nu": 3.0}
SUMS = {"count": [1], "total": np.zeros((1, 2)), "square": np.eye(2)[None], "total_rest": 0.0, "square_rest": 0.0}
BAG = {"beta": 0.5, "n_words": 3}
STATES = {
    "negative count": (NormalStatistics, REAL, {"count": [-5.0], "total": [0.0], "square": [0.0]}),
    "no count": (NormalStatistics, REAL, {"count": [np.nan], "total": [0.0], "square": [0.0]}),
    "rows of a block": (GaussianStatistics, BLOCK, SUMS | {"count": [-1]}),
    "too many rows": (GaussianStatistics, BLOCK, SUMS | {"count": [2**31 - 1]}),
    "unknown word": (BagOfWordsStatistics, BAG, {"start": [0, 1], "word": [3], "times": [1]}),
    "negative times": (BagOfWordsStatistics, BAG, {"start": [0, 1], "word": [0], "times": [-1]}),
    "missing words": (BagOfWordsStatistics, BAG, {"start": [0, 9], "word": [0], "times": [1]}),
}  # fmt: skip


@pytest.mark.parametrize(("kernel", "parameters", "state"), STATES.values(), ids=STATES)
def test_stored_states_that_kernels_cannot_have(kernel, parameters, state):
    """Kernels do not check indices: such states read and wrote outside of arrays."""
    with pytest.raises(ValueError, match=r"stored state.*fit the model anew"):
        kernel(None, parameters).set_state(state | {"parameters": parameters})


def test_parameters_of_another_shape():
    with pytest.raises(ValueError, match="stored state"):
        GaussianStatistics(None, BLOCK).set_state(SUMS | {"parameters": BLOCK | {"psi": np.eye(1)}})


@pytest.mark.parametrize("slot", [-1, 10_000])
def test_slots_that_are_not_there(slot):
    statistics = NormalStatistics(NormalData(np.zeros(3)), REAL)
    with pytest.raises(ValueError, match="stored state"):
        statistics.leave_one_out(np.zeros(1, np.int32), np.array([slot], np.int32))
    with pytest.raises(ValueError, match="stored state"):
        statistics.draws(np.array([slot], np.int32), np.full((1, 1), np.nan), np.random.default_rng(0))
