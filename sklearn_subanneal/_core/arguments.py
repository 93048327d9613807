"""Checks of arguments: numbers and flags."""

from __future__ import annotations

import reprlib
from numbers import Integral, Real

import numpy as np

# More draws, samples or rows than a 32-bit integer counts are a slip of the pen.
LARGEST = 2**31 - 1


def checked_integer(name: str, value, least: int = 1, most: int = LARGEST, otherwise: str = "") -> int:
    """A whole number within bounds.

    Parameters
    ----------
    name : str
        Of the argument, for the message.
    value : object
    least, most : int
        Bounds, both included.
    otherwise : str
        What else the argument may be, such as "None or ".

    Raises
    ------
    ValueError
        If it is no integer, or not within the bounds.

    Examples
    --------
    >>> from sklearn_subanneal._core.arguments import checked_integer
    >>> checked_integer("n_samples", 3)
    3
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be {otherwise}an integer of at least {least}, got {shortened(value)}")
    if value > most:
        raise ValueError(f"{name} must be {otherwise}an integer from {least} to {most}, got {shortened(value)}")
    return int(value)


def checked_real(name: str, value, least: float, most: float) -> None:
    """Raise ValueError unless a number is within bounds, both included."""
    if not isinstance(value, Real) or not value >= least:
        raise ValueError(f"{name} must be a number of at least {least:g}, got {shortened(value)}")
    if value > most:
        raise ValueError(f"{name} must be a number from {least:g} to {most:g}, got {shortened(value)}")


def checked_flag(name: str, value) -> bool:
    """True or False; integers 0 and 1 and NumPy's booleans count as such.

    Raises
    ------
    ValueError
        If it is something else, whose truth would be a guess.

    Examples
    --------
    >>> from sklearn_subanneal._core.arguments import checked_flag
    >>> checked_flag("keep_missing", 1)
    True
    """
    if isinstance(value, bool | np.bool_) or (isinstance(value, Integral) and value in (0, 1)):
        return bool(value)
    raise ValueError(f"{name} must be True or False, got {shortened(value)}")


def shortened(value) -> str:
    """A value in at most a hundred characters."""
    try:
        text = reprlib.repr(value)
    except ValueError:
        # Python does not write integers of more than a few thousand digits.
        return f"an integer of {value.bit_length()} bits"
    text = " ".join(text.split())
    return text if len(text) <= 100 else f"{text[:97]}..."
