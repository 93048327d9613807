"""Prevalence of topics: their mean proportions in groups of documents, or in periods of time."""

from __future__ import annotations

from typing import NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from sklearn_subanneal.tables.cells import Cells, object_cells, pandas_cells, polars_cells
from sklearn_subanneal.tables.dates import parse_datetimes
from sklearn_subanneal.tables.value_order import sorted_values, values_array

#: Periods of dates, from the shortest to the longest.
PERIODS = ("day", "week", "month", "quarter", "year")
# Of dates, the shortest period is taken with at most so many periods, and so many documents in each on average.
MOST_PERIODS, FEWEST_DOCUMENTS = 40, 10
# Days from the Monday before 1970 to its first day, a Thursday.
_MONDAY = 3


class Prevalence(NamedTuple):
    """Mean proportions of topics in groups of documents.

    Attributes
    ----------
    groups : ndarray of shape (n_groups,)
        Labels in their order, numbers, or the first days of periods (datetime64[D]), all from the first to the last.
    n_documents : ndarray of int, shape (n_groups,)
    means : ndarray of float64, shape (n_groups, n_topics)
        NaN in periods without documents.
    standard_errors : ndarray of float64, shape (n_groups, n_topics)
        Of the means; NaN in groups of fewer than two documents.
    period : str or None
        The period of dates.
    """

    groups: NDArray
    n_documents: NDArray
    means: NDArray
    standard_errors: NDArray
    period: str | None

    @property
    def is_continuous(self) -> bool:
        """Whether groups are numbers or periods, which have distances, and not labels."""
        return self.groups.dtype.kind in "iufM"


def topic_prevalence(proportions: ArrayLike, groups: ArrayLike, *, period: str | None = None) -> Prevalence:
    """Mean proportion of each topic in each group of documents, or in each period, with standard errors.

    Every document counts the same, whatever its length. The standard error of a mean is the standard deviation of the
    group's proportions (with n - 1 in the denominator) over the square root of its n documents. It says how
    far the mean of other documents of this kind may be, and takes proportions and topics as known.

    Parameters
    ----------
    proportions : array-like of shape (n_documents, n_topics)
        Topic proportions, as of ``transform``.
    groups : array-like or Series of shape (n_documents,)
        The group of each document: labels, numbers such as years, or dates (datetimes, or strings that spell dates),
        which are grouped by periods, those with a time zone by the clock of their zone. The order of the labels is that
        of a categorical dtype, or else sorted.
    period : {"day", "week", "month", "quarter", "year"} or None, default=None
        The period of dates; weeks begin on Mondays. None: the shortest with at most 40 periods and on average 10
        documents in each, or else years.

    Returns
    -------
    prevalence : Prevalence
        With ``groups``, ``n_documents``, ``means``, ``standard_errors`` and ``period``.

    Raises
    ------
    ValueError
        If there is not one group for each document, one is missing, all documents are in one group or each in its own,
        or ``period`` is unknown, or given and groups are no dates.

    Examples
    --------
    >>> from sklearn_subanneal.topics import topic_prevalence
    >>> found = topic_prevalence([[0.9, 0.1], [0.7, 0.3], [0.2, 0.8]], ["new", "new", "old"])
    >>> found.groups.tolist(), found.n_documents.tolist()
    (['new', 'old'], [2, 1])
    >>> found.means.round(2), found.standard_errors.round(2)
    (array([[0.8, 0.2],
           [0.2, 0.8]]), array([[0.1, 0.1],
           [nan, nan]]))
    """
    proportions = np.asarray(proportions, dtype=np.float64)
    if proportions.ndim != 2 or not np.isfinite(proportions).all():
        raise ValueError(
            f"proportions must be finite, of shape (n_documents, n_topics), got {proportions.shape}; pass those of "
            "transform"
        )
    codes, groups, period = _codes(_cells(groups, len(proportions)), period)
    n_documents = np.bincount(codes, minlength=len(groups))
    _check_sizes(n_documents, groups, period)
    members = sparse.csr_matrix((np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(len(groups), len(codes)))
    with np.errstate(invalid="ignore", divide="ignore"):
        means = members @ proportions / n_documents[:, None]
        squares = members @ (proportions - means[codes]) ** 2
        fewer = np.where(n_documents > 1, n_documents - 1, np.nan)[:, None]
        standard_errors = np.sqrt(squares / fewer / n_documents[:, None])
    return Prevalence(groups, n_documents, means, standard_errors, period)


def _cells(groups, n_documents) -> Cells:
    """The group of each document as read; none is missing."""
    if nw.dependencies.is_pandas_series(groups):
        cells = pandas_cells("groups", _by_own_clock(groups))
    elif nw.dependencies.is_polars_series(groups):
        cells = polars_cells("groups", _by_own_clock(groups))
    else:
        groups = groups if isinstance(groups, np.ndarray) else np.array(list(groups), dtype=object)
        # Strings of numpy have a dtype of their own, which Python's do not.
        known = groups.ndim == 1 and groups.dtype.kind in "biufM"
        cells = Cells("groups", "", groups) if known else object_cells("groups", "", groups.tolist())
    missing = cells.gaps()
    if len(missing) != n_documents:
        raise ValueError(
            f"groups must have a label or date for each of {n_documents} documents, got {len(missing)}; select those "
            "of the documents"
        )
    if missing.any():
        raise ValueError(
            f"groups must not be missing, {missing.sum()} of {n_documents} are, the first of document "
            f"{missing.argmax()}; leave these documents out, or give them a label of their own"
        )
    return cells


def _by_own_clock(series):
    """A Series of dates with a time zone without it, at the same time of day; others as they are."""
    if nw.dependencies.is_polars_series(series):
        return series.dt.replace_time_zone(None) if getattr(series.dtype, "time_zone", None) else series
    zone = getattr(getattr(series, "dt", None), "tz", None)
    return series if zone is None else series.dt.tz_localize(None)


def _codes(cells: Cells, period) -> tuple[NDArray, NDArray, str | None]:
    """The number of each document's group, the groups in their order, and the period of dates."""
    if period is not None and period not in PERIODS:
        raise ValueError(f"period must be one of {list(PERIODS)} or None, got {period!r}")
    dates = _dates(cells)
    if dates is not None:
        return _by_period(dates, period)
    if period is not None:
        raise ValueError(
            f"period must be None if groups are no dates, got {period!r}; convert them by pandas.to_datetime"
        )
    values, codes = cells.factored()
    occurring = set(values)
    # The order that a dtype declares; categories that do not occur are left out.
    order = sorted_values("groups", values).tolist() if cells.levels is None else list(cells.levels)
    place = {value: number for number, value in enumerate(value for value in order if value in occurring)}
    return np.array([place[value] for value in values])[codes], values_array(list(place)), None


def _dates(cells: Cells) -> NDArray | None:
    if cells.codes is None:
        return cells.values.astype("datetime64[D]") if cells.values.dtype.kind == "M" else None
    dates = parse_datetimes(cells.values, "groups", local=True)
    return None if dates is None else dates[cells.codes].astype("datetime64[D]")


def _by_period(dates, period) -> tuple[NDArray, NDArray, str]:
    tried = [period] if period is not None else PERIODS
    for period in tried:
        numbers = _numbers(dates, period)
        first, last = numbers.min(), numbers.max()
        n_occupied = len(np.unique(numbers))
        if last - first < MOST_PERIODS and len(dates) >= FEWEST_DOCUMENTS * n_occupied:
            break
    return (numbers - first).astype(np.intp), _starts(np.arange(first, last + 1), period), period


def _numbers(dates, period) -> NDArray:
    """The number of the period in which each day is."""
    if period == "day":
        return dates.astype(np.int64)
    if period == "week":
        return (dates.astype(np.int64) + _MONDAY) // 7
    if period == "year":
        return dates.astype("datetime64[Y]").astype(np.int64)
    months = dates.astype("datetime64[M]").astype(np.int64)
    return months if period == "month" else months // 3


def _starts(numbers, period) -> NDArray:
    """The first days of periods of these numbers."""
    if period == "week":
        numbers = numbers * 7 - _MONDAY
    unit, length = {"month": ("M", 1), "quarter": ("M", 3), "year": ("Y", 1)}.get(period, ("D", 1))
    return (numbers * length).astype(f"datetime64[{unit}]").astype("datetime64[D]")


def _check_sizes(n_documents, groups, period) -> None:
    n, n_occupied = n_documents.sum(), (n_documents > 0).sum()
    if n_occupied == 1:
        only = f"the {period} from {groups[0]} on" if period else repr(groups.tolist()[0])
        remedy = "a shorter period" if period not in (None, "day") else "labels that differ, or no groups"
        raise ValueError(f"groups must be at least two, but all {n} documents are in {only}; give {remedy}")
    if n_occupied == n:
        remedy = "a longer period" if period not in (None, "year") else "groups of several documents"
        kind = f"periods of a {period}" if period else "distinct values"
        raise ValueError(
            f"groups must have several documents for a standard error, but {n} documents have {n} {kind}; give {remedy}"
        )
