"""Datetime: columns of dates and times, modelled by a trend and by the cyclic parts that vary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sklearn_subanneal.tables.cell_type import CellType
from sklearn_subanneal.tables.cells import Cells
from sklearn_subanneal.tables.column import Column
from sklearn_subanneal.tables.dates import comes_day_first, parse_datetimes

DAY = 86_400_000_000  # microseconds
# Units of which all dates of a column may be multiples, the coarsest first: years, months, days, hours, ...
UNITS = ("Y", "M", "D", "h", "m", "s", "ms", "us")
TIME, WEEK, YEAR = "time of day", "day of the week", "day of the year"
# Days of each period.
PERIODS = {TIME: 1.0, WEEK: 7.0, YEAR: 365.25}
# The 366 days of a leap year on which its months begin: dates have the same place in every year.
MONTH_STARTS = np.array([0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335])
# Days since 1970 of 0001-01-01 and 9999-12-31.
FIRST_DAY, LAST_DAY = -719_162, 2_932_896
# Up to so many days from 1970, float64 days have microseconds; beyond, milliseconds.
MOST_PRECISE_DAY = 65_536


@dataclass(frozen=True, eq=False)
class Datetime:
    """A column of dates and times: how it is read, separated into its parts, and put together.

    The class is the :class:`CellType` of such columns, and an object the :class:`Split` of one of them. The parts are

    - the trend, "real": days since the beginning of 1970;
    - the time of day, "cyclic", in days from midnight;
    - the day of the week, "cyclic", in weeks from Monday: 0, 1/7, ..., 6/7;
    - the day of the year, "cyclic", in years from January 1: n/366, counted as in a leap year, so that a date has the
      same place in every year.

    A cyclic part is modelled if the training data span two of its periods (2 days, 14 days, 730 days), hold two values
    of it, and are not all rounded to a coarser unit: dates without a time have no time of day, and first days of months
    no day of the week.

    Periods are 1, so that the density of a cyclic part is relative to the uniform distribution. The density of a
    date-time is the product of those of its parts: one per day if the cyclic parts are uniform, and not exactly
    normalised otherwise, since the parts are functions of one another.

    Attributes
    ----------
    parts : tuple of Column
        Trend and cyclic parts.
    params : dict of str to dict
        The periods of the cyclic parts.
    unit : str
        The coarsest of ``UNITS`` of which all training data are multiples.
    time_of_day : float or None
        The time of day that all dates have, in days; 0 for dates without a time.
    day_of_week : int or None
        The day of the week that all dates have, from Monday, 0.
    day_first : bool or None
        Which of two numbers is the day in the strings of the training data.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.columns.binding import TYPES
    >>> from sklearn_subanneal.tables.cells import Cells
    >>> from sklearn_subanneal.tables.datetimes import Datetime
    >>> dates = Cells("t", "datetime64[us]", np.array(["2021-03-04", "2021-03-20", "NaT"], dtype="datetime64[us]"))
    >>> split = Datetime.split(dates, TYPES)
    >>> [part.name for part in split.parts]
    ['t (trend)', 't (day of the week)']
    >>> split.separate(dates)
    [array([18690., 18706.,    nan]), array([0.42857143, 0.71428571,        nan])]

    A date that a model has made, the Saturday nearest to a Thursday:

    >>> split.join([np.array([18690.0]), np.array([5 / 7])], np.array([True]), None).astype("datetime64[D]")
    array(['2021-03-06'], dtype='datetime64[D]')
    """

    kind: ClassVar[str] = "datetime"
    declared: ClassVar[bool] = True
    dtype: ClassVar[type] = np.float64
    largest: ClassVar[int | None] = None
    remedy: ClassVar[str] = "convert the column to dates, for example by pandas.to_datetime"
    categories: ClassVar[tuple | None] = None
    coded: ClassVar[bool] = False
    ordered: ClassVar[bool] = False

    parts: tuple[Column, ...]
    params: dict[str, dict]
    unit: str
    time_of_day: float | None
    day_of_week: int | None
    day_first: bool | None

    @classmethod
    def split(cls, cells: Cells, types: Mapping[str, CellType]) -> Datetime:
        """The split of a column by its training data.

        Parameters
        ----------
        cells : Cells
            A column with at least one date.
        types : mapping of str to CellType
            The types of the parts are "real" and "cyclic".
        """
        day_first = None if cells.codes is None else comes_day_first(cells.values, cells.name)
        dates = read_datetimes(cells, day_first)
        dates = np.unique(dates[~np.isnat(dates)])
        unit = next(unit for unit in UNITS if (dates.astype(f"M8[{unit}]") == dates).all())
        _, phases = _separated(dates)
        fineness = {part: UNITS.index(unit) for part, unit in ((TIME, "h"), (WEEK, "D"), (YEAR, "M"))}
        span = (dates[-1] - dates[0]).astype(np.int64) / DAY
        found = [
            part
            for part, phase in phases.items()
            if UNITS.index(unit) >= fineness[part] and span >= 2 * int(PERIODS[part]) and np.ptp(phase) > 0.0
        ]
        names = {part: f"{cells.name} ({part})" for part in found}
        cyclic = [Column(name, types["cyclic"]) for name in names.values()]
        time, week = phases[TIME], np.rint(7.0 * phases[WEEK])
        recurs = span >= 2 * PERIODS[WEEK] and UNITS.index(unit) >= fineness[WEEK]
        return cls(
            (Column(f"{cells.name} (trend)", types["real"]), *cyclic),
            {name: {"period": 1.0} for name in names.values()},
            unit,
            float(time[0]) if np.ptp(time) == 0.0 else None,
            int(week[0]) if recurs and np.ptp(week) == 0.0 else None,
            day_first,
        )

    def separate(self, cells: Cells, unknown: list | None = None) -> list[np.ndarray]:
        """The parts of each date, NaN where it is missing."""
        trend, phases = _separated(read_datetimes(cells, self.day_first, unknown))
        return [trend, *(phases[part] for part in self._cycles)]

    def assigned(self, given: dict) -> dict[str, dict]:
        name = self.parts[0].name.removesuffix(" (trend)")
        raise ValueError(
            f"feature_params or feature_grids has the key {name!r} or 'datetime', but column {name!r} is modelled "
            f"by its parts: use the keys {', '.join(repr(part.name) for part in self.parts)}."
        )

    def completed(self, filled, spreads, predict):
        return filled, spreads

    def join(self, arrays, made, spreads) -> np.ndarray:
        """Dates from their parts, datetime64[us].

        A date that a model has made is the nearest one to its trend that agrees with the day of the year, then the
        nearest to that with the day of the week, then with the time of day; it is rounded to the unit of the training
        data, and lies in the years 1 to 9999. A predicted cyclic part is heeded only if it is known better than the
        trend.
        """
        trend = np.where(made, np.clip(arrays[0], FIRST_DAY + 366, LAST_DAY - 366), arrays[0])
        phases = dict(zip(self._cycles, arrays[1:], strict=False))
        dates = _from_days(trend)
        rows = np.flatnonzero(made)
        if rows.size:
            phases = {part: phase[rows] for part, phase in phases.items()}
            if spreads is not None:
                for part, spread in zip(self._cycles, spreads[1:], strict=False):
                    phases[part] = np.where(spread[rows] * PERIODS[part] < spreads[0][rows], phases[part], np.nan)
            dates[rows] = self._composed(trend[rows], phases)
        return dates

    @property
    def _cycles(self) -> list[str]:
        return [part.name.rpartition(" (")[2][:-1] for part in self.parts[1:]]

    def _composed(self, trend, phases):
        """Dates near the trend with these phases, NaN where a phase does not matter."""
        time = phases.get(TIME, np.full(len(trend), np.nan if self.time_of_day is None else self.time_of_day))
        known = ~np.isnan(time)
        day = np.where(known, np.rint(trend - np.where(known, time, 0.0)), np.floor(trend))
        time = np.where(known, time, trend - day)
        if YEAR in phases:
            day = np.where(np.isnan(phases[YEAR]), day, _nearest_of_year(day, phases[YEAR]))
        week = phases.get(WEEK)
        if week is None and self.day_of_week is not None:
            week = np.full(len(trend), self.day_of_week / 7.0)
        if week is not None:
            shift = (np.rint(7.0 * week) - (day + 3.0) + 3.0) % 7.0 - 3.0
            day = day + np.where(np.isnan(week), 0.0, shift)
        return _rounded(_from_days(day) + np.rint(time * DAY).astype("m8[us]"), self.unit)


def read_datetimes(cells: Cells, day_first: bool | None = None, unknown: list | None = None) -> np.ndarray:
    """The cells of a column as datetime64[us], NaT where missing.

    Strings that are no dates are missing and added to ``unknown``.

    Parameters
    ----------
    cells : Cells
        Dates, or strings of the spellings of :func:`sklearn_subanneal.tables.dates.parse_datetimes`.
    day_first : bool or None, default=None
        See there.

    Raises
    ------
    ValueError
        If they are not dates, and no strings, or there is no ``unknown``.
    """
    if cells.codes is None:
        if cells.values.dtype.kind == "M":
            return cells.values
        if cells.gaps().all():
            return np.full(len(cells.values), "NaT", "M8[us]")
        value = cells.values[~cells.gaps()][0].item()
    else:
        dates = parse_datetimes(cells.values, cells.name, day_first) if len(cells.values) else np.empty(0, "M8[us]")
        if dates is not None:
            return np.append(dates, np.array("NaT", dates.dtype))[cells.codes]
        orders = (True, False) if day_first is None else (day_first,)
        is_wrong = [all(parse_datetimes([v], cells.name, order) is None for order in orders) for v in cells.values]
        wrong = [v for v, is_none in zip(cells.values, is_wrong, strict=True) if is_none]
        if unknown is not None and wrong and all(isinstance(v, str) for v in wrong):
            unknown += wrong
            values = np.array(cells.values, dtype=object)
            values[is_wrong] = None
            dates = parse_datetimes(values, cells.name, day_first)
            dates = np.full(len(values), "NaT", "M8[us]") if dates is None else dates
            return np.append(dates, np.array("NaT", dates.dtype))[cells.codes]
        value = wrong[0] if wrong else cells.values[0]
    raise ValueError(
        f"Column {cells.name!r} must be datetime but holds {value!r} (type {type(value).__name__}): {Datetime.remedy}."
    )


def _separated(dates: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Days since 1970, and the phase of each cycle in [0, 1); NaN where missing."""
    gaps = np.isnat(dates)
    micros = np.where(gaps, 0, dates.astype(np.int64))
    day, rest = micros // DAY, micros % DAY
    months = day.astype("M8[D]").astype("M8[M]")
    place = MONTH_STARTS[months.astype(np.int64) % 12] + (day - months.astype("M8[D]").astype(np.int64))
    phases = {TIME: rest / DAY, WEEK: (day + 3) % 7 / 7.0, YEAR: place / 366.0}
    return np.where(gaps, np.nan, micros / DAY), {part: np.where(gaps, np.nan, x) for part, x in phases.items()}


def _from_days(days: np.ndarray) -> np.ndarray:
    """Dates from days since 1970, to the microsecond, far from 1970 to the millisecond."""
    gaps = np.isnan(days)
    days = np.where(gaps, 0.0, days)
    whole = np.floor(days)
    # The difference is exact.
    micros = np.rint((days - whole) * DAY)
    micros = np.where(np.abs(days) < MOST_PRECISE_DAY, micros, 1000.0 * np.rint(micros / 1000.0))
    dates = (whole.astype(np.int64) * DAY + micros.astype(np.int64)).astype("M8[us]")
    dates[gaps] = np.array("NaT", dates.dtype)
    return dates


def _nearest_of_year(day: np.ndarray, phase: np.ndarray) -> np.ndarray:
    """The day nearest to ``day`` that has a place in its year; for February 29 it may be March 1."""
    place = np.rint(np.where(np.isnan(phase), 0.0, phase) * 366.0).astype(np.int64) % 366
    month = np.searchsorted(MONTH_STARTS, place, side="right") - 1
    year = day.astype(np.int64).astype("M8[D]").astype("M8[Y]").astype(np.int64)
    candidates = np.array(
        [
            (12 * (year + k) + month).astype("M8[M]").astype("M8[D]").astype(np.int64) + place - MONTH_STARTS[month]
            for k in (-1, 0, 1)
        ]
    )
    return np.take_along_axis(candidates, np.abs(candidates - day).argmin(axis=0)[None], 0)[0].astype(np.float64)


def _rounded(dates: np.ndarray, unit: str) -> np.ndarray:
    """The nearest multiples of a unit."""
    below = dates.astype(f"M8[{unit}]")
    low, high = below.astype("M8[us]"), (below + np.timedelta64(1, unit)).astype("M8[us]")
    return np.where(high - dates <= dates - low, high, low)
