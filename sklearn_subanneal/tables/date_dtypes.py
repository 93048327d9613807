"""Dates of pandas and polars as datetime64[us], and back in the dtype that they had."""

from __future__ import annotations

import numpy as np

# Nanoseconds in 64 bits end in these years.
FIRST_NANO, LAST_NANO = np.datetime64("1678-01-01", "us"), np.datetime64("2261-12-31", "us")
# Python has these years, whatever the time zone.
FIRST_DAY, LAST_DAY = np.datetime64("0001-01-02", "us"), np.datetime64("9999-12-30", "us")


def pandas_dates(series) -> np.ndarray:
    """A pandas Series of dates as datetime64[us] in UTC; nanoseconds are cut off."""
    if str(series.dtype).startswith("date") and "[pyarrow]" in str(series.dtype):
        # Days of Arrow have no methods of times.
        series = series.astype("timestamp[us][pyarrow]")
    if getattr(series.dt, "tz", None) is not None:
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    return series.to_numpy().astype("M8[us]")


def polars_dates(series) -> tuple[str, np.ndarray]:
    """A polars Series of dates: the name of its dtype, and its cells as datetime64[us] in UTC."""
    import polars as pl

    dtype, zone = series.dtype, getattr(series.dtype, "time_zone", None)
    label = "Date" if dtype == pl.Date else f"datetime64[{dtype.time_unit}" + (f", {zone}]" if zone else "]")
    if zone:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return label, series.cast(pl.Datetime("us")).to_numpy()


def with_pandas_dtype(dates: np.ndarray, dtype: str):
    """A pandas Series of dates of this dtype, or datetime64[us] if that is no dtype of dates.

    Dates beyond the range of nanoseconds become the first or last days in it.
    """
    import pandas as pd

    is_date = dtype.startswith(("datetime64", "timestamp", "date"))
    series = pd.Series(_within(dates, dtype))
    if _has_zone(dtype):
        series = series.dt.tz_localize("UTC")
    return series.astype(dtype) if is_date else series


def with_polars_dtype(dates: np.ndarray, dtype: str):
    """The same for polars."""
    import polars as pl

    if dtype == "Date":
        return pl.Series(dates).cast(pl.Date)
    unit, _, zone = dtype[len("datetime64[") : -1].partition(", ") if dtype.startswith("datetime64") else ("us", "", "")
    series = pl.Series(_within(dates, dtype)).cast(pl.Datetime(unit))
    return series.dt.replace_time_zone("UTC").dt.convert_time_zone(zone) if zone else series


def with_zone(dates: np.ndarray, dtype: str, container: str) -> np.ndarray:
    """Dates in UTC as objects in the time zone of a dtype, those of the container; as they are if it has none.

    What is before or after the years of Python is at their ends.

    Parameters
    ----------
    dates : ndarray of datetime64[us]
    dtype : str
    container : {"array", "pandas", "polars"}

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tables.date_dtypes import with_zone
    >>> with_zone(np.array(["2020-07-01T10:00"], "M8[us]"), "datetime64[us, Europe/Berlin]", "pandas")
    array([Timestamp('2020-07-01 12:00:00+0200', tz='Europe/Berlin')],
          dtype=object)
    """
    if not _has_zone(dtype):
        return dates
    write = with_polars_dtype if container == "polars" else with_pandas_dtype
    return np.array(write(_clipped(dates, FIRST_DAY, LAST_DAY), dtype).to_list(), dtype=object)


def _has_zone(dtype: str) -> bool:
    return dtype.startswith(("datetime64", "timestamp")) and "," in dtype


def _within(dates: np.ndarray, dtype: str) -> np.ndarray:
    return _clipped(dates, FIRST_NANO, LAST_NANO) if "[ns" in dtype else dates


def _clipped(dates, first, last):
    # NaT remains: as an integer it is the smallest.
    return np.where(np.isnat(dates), dates, np.clip(dates, first, last))
