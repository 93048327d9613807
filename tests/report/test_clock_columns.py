"""Times of day in the tables of results: observed ones as they were, imputed ones to minutes or seconds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal.report.clock_columns import with_clock_times
from sklearn_subanneal.tables.clock_times import parse_duration, parse_time_of_day
from sklearn_subanneal.tables.spelling import DURATION, TIME_OF_DAY

OBSERVED = {
    "minutes": (["07:30", "23:59", None], "09:15"),
    "seconds": (["07:30:05", "23:59:59", None], "09:15:13"),
    "fractions": (["08:15:30.25", "23:59:59.75", "00:00:00.00", None], "09:15:13.00"),
    "fractions of whole minutes": (["08:15:00.3", None], "09:15:13.0"),
    "nanoseconds": (["08:15:30.123456789", "23:59:59.999999999", None], "09:15:13.000000000"),
}


@pytest.mark.parametrize("case", OBSERVED)
def test_observed_times_of_day_stay(case):
    texts, imputed = OBSERVED[case]
    hours = pd.DataFrame({"start": [np.nan if text is None else parse_time_of_day(text) for text in texts]})
    table = with_clock_times(hours.fillna(9.0 + 912.6 / 3600.0), {"start": TIME_OF_DAY}, hours)
    assert table["start"].tolist() == [imputed if text is None else text for text in texts]


def test_durations_with_fractions_stay_seconds():
    seconds = pd.DataFrame({"time": [parse_duration("1:02:03.5"), 60.0]})
    assert with_clock_times(seconds, {"time": DURATION}, seconds)["time"].tolist() == [3723.5, 60.0]
    seconds = pd.DataFrame({"time": [parse_duration("1:02:03"), np.nan]})
    assert with_clock_times(seconds.fillna(61.7), {"time": DURATION}, seconds)["time"].tolist() == [
        "01:02:03",
        "00:01:02",
    ]
