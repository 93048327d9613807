"""Tempered transitions as the paper prints them: each error is seen by the tests of moments, and none without them."""

from __future__ import annotations

import doctest
import sys
from pathlib import Path

import numpy as np
import pytest
from support.tempered_means import LADDER, moments, one_dimension, random_walk, sampled

PRINTED = Path(__file__).resolve().parents[2] / "benchmarks" / "reproduction"
if not PRINTED.exists():
    pytest.skip("the benchmarks are not beside the tests", allow_module_level=True)
sys.path.insert(0, str(PRINTED))

import printed_transitions  # noqa: E402
from printed_transitions import ERRORS, PrintedTransitions  # noqa: E402


class NewSubsets(PrintedTransitions):
    """Other subsets on the way up."""

    def _up(self, replicas, point):
        replicas.redraw_subsets()
        last = len(replicas.levels) - 1
        return super()._up(replicas, replicas.levels[last].point(point.theta))


def printed(errors, kind=PrintedTransitions):
    return kind(errors=errors, inner=random_walk(0.25), inverse_temperatures=LADDER)


@pytest.mark.parametrize(
    ("sampler", "n_draws"),
    [
        pytest.param(printed(("kernels",)), 8000, marks=pytest.mark.slow),
        pytest.param(printed((), NewSubsets), 8000, marks=pytest.mark.slow),
        (printed(("sum",)), 500),
    ],
)
def test_errors_show(sampler, n_draws):
    """What the tests of moments say of the samplers of the package they do not say of these."""
    model = one_dimension()
    assert np.abs(moments(sampled(sampler, model, n_draws), model)).max() > 5.0


@pytest.mark.slow
def test_a_transition_without_the_errors():
    model = one_dimension()
    assert np.abs(moments(sampled(printed(()), model, 8000), model)).max() < 4.0


@pytest.mark.parametrize("errors", [("point",), ERRORS])
def test_to_the_letter_a_chain_never_moves(errors):
    result = sampled(printed(errors), one_dimension(), 50)
    assert (result.transition_rate > 0.1).all() and not np.ptp(result.draws, axis=1).any()


def test_the_wrong_kernels_are_accepted_too_often():
    """By the lengths of the steps alone: with the right kernels a move and its reverse are of one level."""
    model = one_dimension(64)
    right, wrong = (sampled(printed(errors), model, 400).transition_rate.mean() for errors in ((), ("kernels",)))
    assert wrong > 1.2 * right


def test_unknown_errors():
    with pytest.raises(ValueError, match="errors must be some of"):
        sampled(printed(("typo",)), one_dimension(), 5)


def test_example():
    assert doctest.testmod(printed_transitions, raise_on_error=True).attempted
