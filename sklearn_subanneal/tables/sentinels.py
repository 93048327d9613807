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

    They consist of nines (-9, 99, -99.9, 9999, ...) or are limits of integers, are the least or the largest number of
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
        group = next((group for group in _groups(distinct) if _is_apart(group, distinct, counts)), None)
        if group is None:
            break
        found += distinct[group].tolist()
        distinct, counts = np.delete(distinct, group), np.delete(counts, group)
    return sorted(found)


def _groups(distinct: np.ndarray):
    """Places of the numbers that may stand for missing cells: a candidate, with the reasons beside it and without."""
    for at, step in ((0, 1), (len(distinct) - 1, -1)):
        if not _is_candidate(distinct[at]):
            continue
        beside = [at + step * k for k in range(1, MOST_REASONS) if 0 <= at + step * k < len(distinct)]
        beside = [place for place in beside if abs(distinct[place] - distinct[at]) in range(1, MOST_REASONS)]
        # All of the neighbours, then the candidate alone.
        if beside:
            yield [at, *beside]
        yield [at]


def _is_apart(group: list[int], distinct: np.ndarray, counts: np.ndarray) -> bool:
    others = np.delete(distinct, group)
    if len(others) < FEWEST_OTHERS:
        return False
    nearest = min(distinct[group], key=lambda number: np.abs(others - number).min())
    return _is_far(float(nearest), int(counts[group].sum()), others)


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
    return bool(re.fullmatch(r"-9+(\.9+)?|99+(\.9+)?", np.format_float_positional(number, trim="-")))


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
