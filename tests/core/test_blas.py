"""The limit on the threads of BLAS: as long as any chain runs, and no longer."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sklearn_subanneal._core.blas import one_blas_thread
from sklearn_subanneal.annealing.runner import CancelFlag, run_chains


def n_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(limits=2, user_api="blas"):
        if n_threads() != {2}:
            pytest.skip("this BLAS has no threads")
        yield


def test_the_number_is_limited_and_restored():
    with one_blas_thread():
        assert n_threads() == {1}
    assert n_threads() == {2}


def test_an_error_restores_the_number():
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        _ = 1 / 0
    assert n_threads() == {2}


def test_the_end_of_one_chain_does_not_end_the_limit_of_another():
    both_run = threading.Barrier(2)

    def chain(argument, context):
        both_run.wait(60)
        if argument == "short":
            return n_threads()
        # Long enough for the other chain to end; if it is not, the test passes.
        time.sleep(0.3)
        return n_threads()

    contexts = [SimpleNamespace(cancel=CancelFlag()) for _ in range(2)]
    assert run_chains(chain, ["short", "long"], contexts, n_jobs=2) == [{1}, {1}]
    assert n_threads() == {2}
