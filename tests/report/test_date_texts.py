"""Dates in text: their time zones, years of two digits, and what looks like dates and is none."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sklearn_subanneal.report import read_source

N_ROWS = 40
CLOCKS = [f"2021-{1 + row % 12:02d}-{1 + row % 28:02d}T02:30:00" for row in range(N_ROWS)]
AMOUNT = [f"{number:.2f}" for number in np.random.default_rng(0).normal(5.0, 2.0, N_ROWS)]


def described(tmp_path, name, cells):
    """A column as it is read from a file, and what is said of it."""
    pd.DataFrame({name: cells, "amount": AMOUNT}).to_csv(tmp_path / "t.csv", index=False)
    source = read_source(tmp_path / "t.csv")
    column = source.columns[0]
    return source.frame[name], column.kind, column.reason


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
