"""find_distributions: how the cells of each column are distributed in each group of rows of its view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal.report.clusters import ViewSummary
from sklearn_subanneal.report.column_types import brief
from sklearn_subanneal.report.declared_type import CYCLIC
from sklearn_subanneal.report.number_digits import DIGITS_SHOWN, decimals_of
from sklearn_subanneal.report.source import Source
from sklearn_subanneal.report.text_levels import levels_of

if TYPE_CHECKING:
    import pandas as pd

    from sklearn_subanneal.estimators import CrossCat

# Groups of a view that are shown one by one, categories of a column, and intervals of numbers.
MOST_GROUPS, MOST_CATEGORIES, MOST_BINS = 5, 5, 24
# Of more rows, evenly spaced ones are counted.
MOST_ROWS = 20_000
# The outer intervals have what lies beyond these shares of the cells, so that one extreme cell does not fill the axis.
TAIL = 0.005
# A skewed column whose largest number is so many medians has an axis that is compressed.
FAR = 10.0
# Moments of so few days have times of day, those within so many hours seconds.
FEW_DAYS, SHORT = 3, 1
NUMBERS = {"real", "skewed", "semicontinuous", "count", "cyclic", "ordinal"}
OTHERS, ALL = "others", "all rows"


@dataclass(frozen=True)
class GroupCells:
    """The cells of a column in one group of rows.

    Attributes
    ----------
    name : str
        Number of the cluster, "others" for the smaller ones together, or "all rows".
    n_rows, n_missing : int
    shares : ndarray of shape (n_bins,) or (n_categories,)
        Of the observed cells.
    quartiles : tuple of str
        Of a column of numbers: the lower quartile, median and upper quartile; else empty, also of a cyclic one, whose
        quartiles would depend on where the period begins.
    """

    name: str
    n_rows: int
    n_missing: int
    shares: np.ndarray
    quartiles: tuple[str, ...] = ()


@dataclass(frozen=True)
class Distribution:
    """A column by the groups of rows of its view.

    Attributes
    ----------
    name, kind : str
        Of the column.
    view : int
        Number of the view.
    groups : list of GroupCells
        All rows first; the groups follow if the view has several columns and several groups.
    categories : list of str
        The most frequent ones, and "other values" if there are more; empty for numbers.
    ticks : list of (position, text)
        Of the axis of numbers, positions in [0, 1].
    is_compressed : bool
        Whether large numbers are closer to one another on the axis, as logarithms are.
    """

    name: str
    kind: str
    view: int
    groups: list[GroupCells]
    categories: list[str]
    ticks: list[tuple[float, str]]
    is_compressed: bool = False


def find_distributions(model: CrossCat, source: Source, views: list[ViewSummary]) -> list[Distribution]:
    """The distribution of each modelled column, in the order of the table, in at most 20,000 evenly spaced rows.

    Parameters
    ----------
    model : CrossCat
        Fitted to the table.
    source : Source
    views : list of ViewSummary
        Of this model.
    """
    step = -(-len(source.frame) // MOST_ROWS)
    views_of_columns = model.column_labels_[model.first_parts_]
    masks = {view.number: _groups(view, step) for view in views}
    frame = source.frame.iloc[::step]
    return [
        _distribution(frame[name], kind, int(views_of_columns[j]), masks[int(views_of_columns[j])])
        for j, (name, kind) in enumerate(source.feature_types.items())
    ]


def _groups(view: ViewSummary, step: int) -> list[tuple[str, np.ndarray]]:
    """Names and rows of all rows together, and of the largest clusters of a view."""
    labels = view.labels[::step]
    out = [(ALL, np.ones(len(labels), bool))]
    if not view.clusters or view.n_clusters < 2:
        return out
    shown = view.clusters[:MOST_GROUPS]
    out += [(str(cluster.number), labels == cluster.number) for cluster in shown]
    rest = ~np.isin(labels, [cluster.number for cluster in shown])
    return [*out, (OTHERS, rest)] if rest.any() else out


def _distribution(series: pd.Series, kind: str, view: int, masks) -> Distribution:
    seen = series.notna().to_numpy()
    if kind == "datetime":
        return _of_numbers(series.name, kind, view, masks, _seconds(series))
    if kind in NUMBERS and series.dtype.kind in "iuf":
        return _of_numbers(series.name, kind, view, masks, series.to_numpy(np.float64, na_value=np.nan))
    if not seen.any():
        return _empty(series.name, kind, view, masks, seen)
    codes, categories = series.factorize()
    names, counts = list(map(brief, categories)), np.bincount(codes[seen], minlength=len(categories))
    # Grades and yes or no keep their order, other categories are sorted by frequency.
    if levels := levels_of(series):
        order = np.argsort([levels.index(value) for value in categories])
    else:
        order = np.argsort(names) if kind in ("boolean", "ordinal") else np.argsort(-counts, kind="stable")
    n_shown = len(order) if len(order) <= MOST_CATEGORIES + 1 else MOST_CATEGORIES
    rank = np.empty(len(order), int)
    rank[order] = np.minimum(np.arange(len(order)), n_shown)
    shown = [names[k] for k in order[:n_shown]]
    if len(order) > n_shown:
        shown.append(f"{len(order) - n_shown:,} other values")
    place = np.where(seen, rank[codes], 0)
    groups = [_counted(name, rows, seen, place, len(shown)) for name, rows in masks]
    return Distribution(str(series.name), kind, view, groups, shown, [])


def _of_numbers(name, kind: str, view: int, masks, values: np.ndarray) -> Distribution:
    seen = np.isfinite(values)
    if not seen.any():
        return _empty(name, kind, view, masks, seen)
    observed = values[seen]
    distinct, median = np.unique(observed), np.median(observed)
    is_compressed = kind == "skewed" and distinct[0] >= 0.0 and distinct[-1] > FAR * median > 0.0
    if kind in ("count", "ordinal") and len(distinct) <= MOST_BINS:
        # An interval for each value.
        n_bins = len(distinct)
        place = np.searchsorted(distinct, np.where(seen, values, distinct[0]))
        ticks = [((k + 0.5) / n_bins, distinct[k]) for k in _some(n_bins)]
    else:
        moved = np.log1p(values / median) if is_compressed else values
        n_bins, tail = MOST_BINS, TAIL if len(distinct) > MOST_BINS else 0.0
        low, high = np.quantile(moved[seen], [tail, 1.0 - tail])
        if not high > low:
            low, high = moved[seen].min(), moved[seen].max()
        width = (high - low) or 1.0
        place = np.where(seen, np.clip((np.where(seen, moved, low) - low) / width * n_bins, 0, n_bins - 1), 0)
        at = [(position, low + width * position) for position in (0.0, 0.5, 1.0)]
        ticks = [(position, np.expm1(number) * median if is_compressed else number) for position, number in at]
    span = ticks[-1][1] - ticks[0][1]
    as_text = _moment_text(observed) if kind == "datetime" else partial(_number_text, decimals_of(span, DIGITS_SHOWN))
    groups = [
        _counted(group, rows, seen, place.astype(int), n_bins, _quartiles(values[rows & seen], kind, as_text))
        for group, rows in masks
    ]
    ticks = [(position, as_text(number)) for position, number in ticks]
    return Distribution(str(name), kind, view, groups, [], ticks, is_compressed)


def _empty(name, kind: str, view: int, masks, seen: np.ndarray) -> Distribution:
    """Of a column that has no cell in the rows that are counted, since few of its cells are observed."""
    nowhere, nothing = np.zeros(len(seen), int), _quartiles(np.empty(0), kind, brief)
    groups = [_counted(group, rows, seen, nowhere, 1, nothing) for group, rows in masks]
    return Distribution(str(name), kind, view, groups, [], [])


def _counted(name, rows, seen, place, n_places, quartiles=()) -> GroupCells:
    counts = np.bincount(place[rows & seen], minlength=n_places)
    return GroupCells(name, int(rows.sum()), int((rows & ~seen).sum()), counts / max(counts.sum(), 1), quartiles)


def _quartiles(values: np.ndarray, kind: str, as_text) -> tuple[str, ...]:
    if kind == CYCLIC:
        return ()
    return tuple(map(as_text, np.quantile(values, [0.25, 0.5, 0.75]))) if len(values) else ("", "", "")


def _some(n: int) -> list[int]:
    """Indices of at most six of so many values, the first and the last among them."""
    return sorted(set(np.linspace(0, n - 1, min(n, 6)).round().astype(int).tolist()))


def _seconds(series: pd.Series) -> np.ndarray:
    """Times as seconds since 1970 on the clocks of their zone, NaN where missing."""
    import pandas as pd

    if getattr(series.dtype, "tz", None) is not None:
        series = series.dt.tz_localize(None)
    times = pd.to_datetime(series, errors="coerce", utc=True)
    return (times - pd.Timestamp(0, tz="UTC")).dt.total_seconds().to_numpy()


def _number_text(decimals: int, number: float) -> str:
    """A number with three digits of its own, and at least so many decimals; whole digits stay."""
    return brief(round(float(number), max(decimals, decimals_of(number, DIGITS_SHOWN), 0)), decimals)


def _moment_text(seconds: np.ndarray) -> Callable[[float], str]:
    """How moments are written: by their day, or if all are of one day, or of few, also by their time."""
    import pandas as pd

    first, last = (pd.Timestamp(end, unit="s") for end in (seconds.min(), seconds.max()))
    is_short = last - first < pd.Timedelta(hours=SHORT)
    if first.date() == last.date():
        pattern = "%H:%M:%S" if is_short else "%H:%M"
    else:
        pattern = "%m-%d %H:%M" if last - first < pd.Timedelta(days=FEW_DAYS) else "%Y-%m-%d"
    return lambda moment: pd.Timestamp(round(float(moment)), unit="s").strftime(pattern)
