"""Checks of the parameters of priors of a partition: numbers that are fixed or learned, grids, hyperpriors."""

from __future__ import annotations

from numbers import Real

import numpy as np

from sklearn_subanneal._core.arguments import shortened
from sklearn_subanneal.partitions._nggp import HIGHEST, LOWEST

# A concentration is a number of rows. Of a larger one, differences of log gamma functions have no digits left.
MOST_ROWS = 1e10
# The value of a parameter that is inferred; None means the default, which is this.
LEARN = "learn"


def is_learned(value) -> bool:
    return value is None or (isinstance(value, str) and value == LEARN)


def start_value(name, value, start):
    """The value a parameter of the Pitman-Yor process starts with, which is its value if it is fixed."""
    if not is_learned(value):
        return float(value)
    if isinstance(start, bool) or not isinstance(start, Real) or start != start:
        raise ValueError(f"{name}_start must be a number, got {start!r}")
    _refuse_large(f"{name}_start", start, start)
    return float(start)


def number_or_start(name, value, start, most):
    """The value a parameter between 0 and ``most`` starts with, which is its value if it is fixed."""
    learned = is_learned(value)
    given = start if learned else value
    wanted = None
    if isinstance(given, bool) or not isinstance(given, Real) or not 0.0 < given < most:
        wanted = "a positive number" if most == np.inf else f"a number above 0 and below {most:g}"
    elif not LOWEST <= given <= HIGHEST:
        wanted = f"a number from {LOWEST:g} to " + (f"{HIGHEST:g}" if most == np.inf else f"below {most:g}")
    if wanted and learned:
        raise ValueError(f"{name}_start must be {wanted}, got {given!r}")
    if wanted:
        raise ValueError(f'{name} must be {wanted}, or "learn"; got {given!r}')
    return float(given)


def check_hyperprior(name, values, law, highest):
    """Refuse a hyperprior most of which lies where the parameter can't be."""
    if law.cdf(highest) - law.cdf(LOWEST) < 0.5:
        raise ValueError(
            f"{name}={values!r} has more than half of its probability outside of the range of the parameter, "
            f"{LOWEST:g} to {highest:g}; choose other parameters"
        )


def two_positive(name, values):
    """The two parameters of a hyperprior."""
    try:
        first, second = (float(value) for value in values)
    except (TypeError, ValueError):
        first = second = np.nan
    if not (0.0 < first < np.inf and 0.0 < second < np.inf):
        raise ValueError(f"{name} must be two positive numbers, got {values!r}")
    return first, second


def grid_axis(name, value, grid, default, allowed):
    """The values that a parameter may take: one if it is fixed, its grid if it is learned."""
    learned = is_learned(value)
    if not learned and (isinstance(value, bool) or not isinstance(value, Real)):
        raise ValueError(f'{name} must be a number or "learn", got {value!r}')
    if not learned:
        _refuse_large(name, value, value)
        values = np.array([float(value)])
    else:
        try:
            values = np.asarray(default if grid is None else grid, dtype=np.float64).ravel()
        except (TypeError, ValueError, OverflowError):
            values = np.empty(0)
    if not len(values) or not np.isfinite(values).all() or not allowed(values).all():
        bounds = "0 <= discount < 1" if name == "discount" else "concentration > -discount"
        raise ValueError(f"{name} must satisfy {bounds}; got {grid if learned else value!r}")
    _refuse_large(name, values.max(), grid)
    return values


def _refuse_large(name, largest, given):
    if abs(largest) > MOST_ROWS:
        raise ValueError(f"{name} must be at most {MOST_ROWS:g}, more than a table has rows; got {shortened(given)}")
