"""Sentinels: numbers and dates that stand for missing cells, such as -999, 9999 and 1900-01-01."""

from __future__ import annotations

import re

import numpy as np

# Limits of integers of computers, and the number by which netCDF marks missing cells.
_LIMITS = (-32768.0, 32767.0, 65535.0, -2147483648.0, 2147483647.0, 9.969209968386869e36, -9223372036854775808.0)
_DATES = ("9999-12-31", "1900-01-01", "1899-12-30", "1899-12-31", "1970-01-01", "1111-11-11")
# A number is a sentinel if it is farther from the others than they from one another. A negative one among others that
# are not may be nearer. Where many numbers end in 99, as prices do, none is a sentinel.
LEAST_NEGATIVE_GAP, MANY_ENDS = 0.5, 0.1
# It occurs at least so often, or is farther away by so many times.
LEAST_COUNT, FAR = 2, 5.0
# Of fewer other numbers nothing can be told.
FEWEST_OTHERS = 3
# Beside 99, 98 and 97 are further reasons for which a cell is missing.
MOST_REASONS = 3


def number_sentinels(values: np.ndarray) -> list[float]:
    """The numbers of a column that stand for missing cells.

    They consist of nines (-9, 99, -999, 9999, ...) or are limits of integers, are the least or the largest number of
    the column, lie far from all others, and are repeated. With 99 go 98 and 97, where they are as far.

    Parameters
    ----------
    values : ndarray of float of shape (n_values,)
        Without NaN.

    Returns
    -------
    sentinels : list of float
        Sorted.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tables.sentinels import number_sentinels
    >>> number_sentinels(np.array([3.5, 2.0, -999.0, 4.1, -999.0]))
    [-999.0]
    >>> number_sentinels(np.array([18.0, 33.0, 60.0, 99.0, 99.0]))  # may be an age
    []
    """
    distinct, counts = np.unique(values, return_counts=True)
    found: list[float] = []
    while len(distinct) > FEWEST_OTHERS:
        for at in (0, -1):
            others = np.delete(distinct, at)
            if _is_candidate(distinct[at]) and _is_far(distinct[at], int(counts[at]), others):
                break
        else:
            break
        sentinel = distinct[at]
        found.append(float(sentinel))
        distinct, counts = others, np.delete(counts, at)
        if at == -1:
            while len(distinct) > FEWEST_OTHERS and sentinel - MOST_REASONS < distinct[-1] < sentinel:
                if not _is_far(distinct[-1], LEAST_COUNT, distinct[:-1]):
                    break
                found.append(float(distinct[-1]))
                distinct, counts = distinct[:-1], counts[:-1]
    return sorted(found)


def date_sentinels(dates: np.ndarray) -> list[np.datetime64]:
    """The dates of a column that stand for missing cells: 1900-01-01, 9999-12-31 and the like, far from all others.

    Parameters
    ----------
    dates : ndarray of datetime64 of shape (n_values,)
        Without NaT.
    """
    distinct, counts = np.unique(dates.astype("M8[D]"), return_counts=True)
    found = []
    for text in _DATES:
        at = np.flatnonzero(distinct == np.datetime64(text))
        others = np.delete(distinct, at)
        if not at.size or len(others) < FEWEST_OTHERS:
            continue
        number, rest = float(distinct[at[0]].astype(np.int64)), others.astype(np.int64).astype(float)
        if (number < rest[0] or number > rest[-1]) and _is_far(number, int(counts[at[0]]), rest, 1.0):
            found.append(np.datetime64(text))
            distinct, counts = others, np.delete(counts, at)
    return sorted(found)


def _is_candidate(number: float) -> bool:
    if number in _LIMITS:
        return True
    return number == np.floor(number) and bool(re.fullmatch(r"-9+|99+", f"{number:.0f}"))


def _is_far(number: float, count: int, others: np.ndarray, least: float | None = None) -> bool:
    gap, span = np.abs(others - number).min(), others[-1] - others[0]
    if least is None:
        least = 1.0
        if number < 0.0 <= others[0]:
            least = 0.0
        elif number < 0.0:
            least = LEAST_NEGATIVE_GAP
        elif np.mean(others % 100.0 == 99.0) >= MANY_ENDS:
            return False
    return bool(gap > least * span) and (count >= LEAST_COUNT or bool(gap > FAR * span))
