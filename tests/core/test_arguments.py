"""Checks of arguments name them, their value and what they may be."""

from fractions import Fraction

import numpy as np
import pytest

from sklearn_subanneal._core.arguments import checked_flag, checked_integer, checked_real, shortened
from sklearn_subanneal._core.random_states import checked_random_state


@pytest.mark.parametrize("value", [True, 1.0, "1", None, [1], 0, -1, np.float64(2)])
def test_what_is_no_positive_integer(value):
    with pytest.raises(ValueError, match=r"n_words must be an integer of at least 1, got "):
        checked_integer("n_words", value)


def test_integers():
    assert checked_integer("n", np.int8(3)) == 3
    assert type(checked_integer("n", np.int8(3))) is int
    assert checked_integer("n", 0, least=0) == 0
    with pytest.raises(ValueError, match=r"n must be None or an integer from 1 to 2147483647, got 10{15,}"):
        checked_integer("n", 10**400, otherwise="None or ")


def test_reals():
    checked_real("passes", Fraction(3, 2), 1, 10)
    for value in (0, np.nan, "2", None):
        with pytest.raises(ValueError, match=r"passes must be a number of at least 1, got "):
            checked_real("passes", value, 1, 10)
    with pytest.raises(ValueError, match=r"passes must be a number from 1 to 10, got 1000"):
        checked_real("passes", 10**400, 1, 10)


def test_flags():
    assert checked_flag("seen", np.bool_(True)) is True
    assert checked_flag("seen", 0) is False
    for value in ("no", None, 2, np.array([True, False]), 0.0):
        with pytest.raises(ValueError, match=r"seen must be True or False, got "):
            checked_flag("seen", value)


def test_values_are_shortened():
    assert shortened("a" * 1000).count("a") < 40
    assert shortened(10**5000) == "an integer of 16610 bits"
    assert "\n" not in shortened(np.eye(9))


@pytest.mark.parametrize("seed", [-1, 2**32, 10**400])
def test_seeds_out_of_range(seed):
    with pytest.raises(ValueError, match=r"random_state must be a seed from 0 to 4294967295, got "):
        checked_random_state(seed)
