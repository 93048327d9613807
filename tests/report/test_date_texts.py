"""Dates in text: their time zones, years of two digits, and what looks like dates and is none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal.files.reading_options import ReadingOptions
from sklearn_subanneal.report import read_source
from sklearn_subanneal.report.column_hints import ColumnHints
from sklearn_subanneal.report.column_values import read_values
from sklearn_subanneal.report.imputation import completed_table

N_ROWS = 40
CLOCKS = [f"2021-{1 + row % 12:02d}-{1 + row % 28:02d}T02:30:00" for row in range(N_ROWS)]
AMOUNT = [f"{number:.2f}" for number in np.random.default_rng(0).normal(5.0, 2.0, N_ROWS)]


def described(tmp_path, name, cells):
    """A column as it is read from a file, and what is said of it."""
    pd.DataFrame({name: cells, "amount": AMOUNT}).to_csv(tmp_path / "t.csv", index=False)
    source = read_source(tmp_path / "t.csv")
    column = source.columns[0]
    return source.frame[name], column.kind, column.reason


class LearnedDates(NamedTuple):
    """What is read by a column that a model has."""

    series: pd.Series
    unreadable: dict[str, int]
    remark: str = ""


def read(texts, dtype):
    """Texts of a new table, as dates of a column that a model has."""
    dates = pd.Series(pd.to_datetime(pd.Series(texts), utc=True).dt.tz_localize(None))
    column = SimpleNamespace(read=lambda own: LearnedDates(dates, {}), column=SimpleNamespace(dtype=dtype))
    return read_values(pd.Series(texts, name="when"), ReadingOptions(), None, ColumnHints(learned=column)).series


@pytest.mark.parametrize(("offset", "zone"), [("+05:30", "UTC+05:30"), ("-0300", "UTC-03:00"), ("Z", "UTC")])
def test_the_time_zone_is_kept(offset, zone, tmp_path):
    series, kind, reason = described(tmp_path, "when", [*[f"{clock}{offset}" for clock in CLOCKS[:-1]], ""])
    assert kind == "datetime" and reason == f"all texts are dates in the time zone {zone}"
    # What was observed is written as it was.
    end = f"{zone.removeprefix('UTC') or '+00:00'}"
    filled = completed_table(series.to_frame(), series.to_frame(), series.fillna(series[0]).to_frame())
    written = filled["when"].astype(str).tolist()
    assert written[:-1] == [clock.replace("T", " ") + end for clock in CLOCKS[:-1]]


def test_several_time_zones_are_told(tmp_path):
    series, kind, reason = described(tmp_path, "when", [*[f"{clock}+01:00" for clock in CLOCKS[1:]], f"{CLOCKS[0]}Z"])
    assert kind == "datetime" and reason == "all texts are dates of 2 time zones, in UTC"
    assert str(series[0]) == "2021-02-02 01:30:00+00:00" and str(series.iloc[-1]) == "2021-01-01 02:30:00+00:00"


def test_time_zones_of_new_tables():
    zoned, plain = "datetime64[us, UTC+05:30]", "datetime64[us]"
    assert str(read(["2021-03-01T02:30:00-03:00", None], zoned)[0]) == "2021-03-01 02:30:00-03:00"
    assert str(read(["2021-03-01T02:30:00-03:00", None], plain)[0]) == "2021-03-01 02:30:00-03:00"
    assert str(read(["2021-03-01T02:30:00", None], zoned)[0]) == "2021-03-01 02:30:00+05:30"
    assert str(read(["2021-03-01T02:30:00", None], plain)[0]) == "2021-03-01 02:30:00"
    # An hour that is left out, and one that is twice.
    berlin = read(["2021-03-28T02:30:00", "2021-10-31T02:30:00", None], "datetime64[ns, Europe/Berlin]")
    assert list(map(str, berlin[:2])) == ["2021-03-28 03:00:00+02:00", "2021-10-31 02:30:00+02:00"]


@pytest.mark.parametrize("observed", ["2021-03-01 02:30:00", "2021-03-01 02:30:00-03:00"])
@pytest.mark.parametrize("made", ["2021-03-01 10:00:00", "2021-03-01 12:00:00+02:00"])
def test_dates_of_a_model_with_and_without_a_zone(observed, made):
    X = pd.DataFrame({"when": pd.Series(pd.to_datetime([observed, None]))})
    values = pd.DataFrame({"when": pd.Series(pd.to_datetime([made, made]))})
    table = completed_table(X, X, values)
    assert str(table["when"][0]) == observed
    assert str(table["when"][1]) == (
        "2021-03-01 07:00:00-03:00" if observed.endswith("-03:00") else "2021-03-01 10:00:00"
    )


def test_years_of_two_digits_are_told(tmp_path):
    days = pd.date_range("1935-03-01", periods=N_ROWS, freq="380D")
    _, kind, reason = described(tmp_path, "birth", days.strftime("%d.%m.%y"))
    assert kind == "datetime" and reason == "all texts are dates, years of two digits read as 1969 to 2068"
    assert described(tmp_path, "birth", days.strftime("%d.%m.%Y"))[2] == "all texts are dates"


def test_seasons_are_no_months(tmp_path):
    seasons = [f"{2000 + row % 12}-{(2001 + row % 12) % 100:02d}" for row in range(N_ROWS)]
    series, kind, reason = described(tmp_path, "season", seasons)
    assert kind == "categorical" and series.tolist() == seasons and "seasons from one year to the next" in reason
    _, kind, _ = described(tmp_path, "month", ["2000-02", *seasons[1:]])
    assert kind == "datetime"


def test_candidates_have_no_dates(tmp_path):
    votes = (16_000 + np.random.default_rng(1).choice(25_000, N_ROWS, replace=False)).astype(str)
    series, kind, _ = described(tmp_path, "candidate_votes", votes)
    assert kind != "datetime" and series.astype(str).tolist() == votes.tolist()
    assert described(tmp_path, "birthdate", votes)[1] == "datetime"
