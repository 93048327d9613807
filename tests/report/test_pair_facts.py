"""Phrases on two columns of which one is cyclic: none depends on where the period begins."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal.report.column_types import ColumnDescription
from sklearn_subanneal.report.key_findings import pair_findings
from sklearn_subanneal.report.pair_facts import pair_fact

SHIFT = pd.Series(np.repeat(["night", "day"], 40), name="shift")
# Around midnight, and around 9:30.
START = pd.Series([*np.tile([23.0, 23.5, 0.0, 0.5, 1.0, 1.5], 7)[:40], *np.tile([9.0, 10.0], 20)], name="start")


def cycle(name, period, meaning=""):
    return {name: ColumnDescription(name, "cyclic", "", 0, 3, "", period=period, meaning=meaning)}


OF_DAY = cycle("start", 24.0, "time of day")


def test_times_of_day_have_a_mean_on_the_clock():
    night = np.angle(np.exp(1j * START[:40] * np.pi / 12.0).mean()) * 12.0 / np.pi
    assert 0.0 < night < 0.5
    wanted = f": the mean of start is 00:{round(60 * night):02d} where shift is night, 09:30 where it is day"
    found = pair_fact(SHIFT, START, np.nan, OF_DAY)
    assert found == pair_fact(START, SHIFT, np.nan, OF_DAY) == wanted
    # Rank correlations do depend on it.
    assert "correlation" not in pair_fact(SHIFT.map(len), START, 0.9, OF_DAY)
    # Times of day that are levels are written as such.
    two = pd.Series(np.repeat([9.5, 14.0], 40), name="start")
    assert pair_fact(two, SHIFT, np.nan, OF_DAY).endswith("of rows where start is 09:30, 0% where it is 14:00")


@pytest.mark.parametrize(
    ("period", "values", "mean"),
    [
        (360.0, [350.0, 0.0, 10.0], "0 "), (360.0, [350.0, 345.0, 355.0], "350"), (360.0, [-20.0, 0.0, -10.0], "-10"),
        (12.0, [12.0, 11.0, 1.0], "12"), (2 * np.pi, [3.0, 3.1, -3.1], "3.094"),
    ],
)  # fmt: skip
def test_means_are_in_the_turn_of_the_values(period, values, mean):
    quarter = period / 4.0
    angles = pd.Series([*values * 6, *[quarter] * 18], name="angle")
    side = pd.Series(np.repeat(["a", "b"], 18), name="side")
    found = pair_fact(side, angles, np.nan, cycle("angle", period))
    assert found.startswith(f": the mean of angle is {mean}") and found.endswith(" where it is b")


def test_values_around_the_circle_have_no_mean():
    spread = pd.Series([*np.arange(0.0, 24.0, 0.6), *START[40:]], name="start")
    assert pair_fact(SHIFT, spread, np.nan, OF_DAY) == ""


def test_numbers_of_many_values_are_no_levels():
    """Neither column has few values, so that two of them say nothing of the others."""
    load = pd.Series(np.linspace(50.0, 70.0, 80).round(1), name="load")
    times = START + np.linspace(0.0, 0.4, 80)
    assert pair_fact(load, times, np.nan, OF_DAY) == pair_fact(times, load, np.nan, OF_DAY) == ""
    few = load.round(-1)
    assert "the mean of start is" in pair_fact(few, times, np.nan, OF_DAY)


def test_findings_of_a_report_know_what_is_cyclic(monkeypatch):
    frame = pd.DataFrame({"shift": SHIFT, "start": START})
    source = SimpleNamespace(
        frame=frame, modelled=[*OF_DAY.values(), SimpleNamespace(name="shift", kind="categorical")]
    )
    tests = SimpleNamespace(correlations=np.full((2, 2), np.nan), p_values=np.zeros((2, 2)))
    model = SimpleNamespace(feature_types_={"shift": "categorical", "start": "cyclic"})
    monkeypatch.setattr("sklearn_subanneal.report.key_findings.chain_shares", lambda *given: np.ones(2))
    pair = SimpleNamespace(one="shift", other="start", relatedness=0.9, share=1.0)
    (found,) = pair_findings(model, source, [pair], SimpleNamespace(tests=tests))
    assert "the mean of start is 00:" in found.text and found.strength == "certain"
