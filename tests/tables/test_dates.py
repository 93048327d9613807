"""Spellings of dates and times, and strings that look like dates and are none."""

import datetime

import numpy as np
import pytest

from sklearn_subanneal.tables.dates import date_spelling, parse_datetimes
from sklearn_subanneal.tables.numbered_dates import numbered_dates

pd = pytest.importorskip("pandas")

SPELLINGS = {
    "2021-03-04": "2021-03-04",
    " 2021-3-4 ": "2021-03-04",
    "2021/03/04": "2021-03-04",
    "2021.03.04": "2021-03-04",
    "20210304": "2021-03-04",
    "20210304T140509Z": None,
    "2021-03-04T14:05": "2021-03-04T14:05",
    "2021-03-04 14:05:09": "2021-03-04T14:05:09",
    "2021-03-04 14:05:09.25": "2021-03-04T14:05:09.25",
    "2021-03-04 14:05:09,123456789": "2021-03-04T14:05:09.123456",
    "2021-03-04T14:05:09Z": "2021-03-04T14:05:09",
    "2021-03-04T01:05:09+02:00": "2021-03-03T23:05:09",
    "2021-03-04 23:05 -0330": "2021-03-05T02:35",
    "2021-03-04 23:05 UTC": "2021-03-04T23:05",
    "24/03/2021": "2021-03-24",
    "03/24/2021": "2021-03-24",
    "3/24/21 2:05 PM": "2021-03-24T14:05",
    "3/24/21, 12:05 am": "2021-03-24T00:05",
    "24-03-69": "1969-03-24",
    "04.03.2021 14:05": "2021-03-04T14:05",
    "03/03/2021": "2021-03-03",
    "4 Mar 2021": "2021-03-04",
    "4th march 2021": "2021-03-04",
    "04-MAR-21": "2021-03-04",
    "4 Sept. 2021": "2021-09-04",
    "Thu, 04 Mar 2021 14:05:09 GMT": "2021-03-04T14:05:09",
    "Mar 4, 2021": "2021-03-04",
    "Thursday, March 4, 2021": "2021-03-04",
    "March 4 2021 14:05": "2021-03-04T14:05",
    "29 Feb 2020": "2020-02-29",
    "29 Feb 2021": None,
    "2021-02-30": None,
    "2021-03-04 24:00": None,
    "3/24/21 13:05 PM": None,
    "2021-03/04": None,
    "2021": None,
    "2021-03": "2021-03-01",
    "03/2021": "2021-03-01",
    "Mar 2021": "2021-03-01",
    "Q2 2021": "2021-04-01",
    "2021-Q4": "2021-10-01",
    "2021-13": None,
    "04.03.21": "2021-03-04",
    "1.2.10": None,
    "12345678": None,
    "20211304": None,
    "20210304 14:05x": None,
    "10:30": None,
    "4 Mai 2021": "2021-05-04",
    "4. März 2021": "2021-03-04",
    "4 de marzo de 2021": "2021-03-04",
    "15 décembre 2021": "2021-12-15",
    "4 Marching 2021": None,
    "may": None,
    "": None,
}


@pytest.mark.parametrize("text", SPELLINGS)
def test_one_spelling(text):
    dates = parse_datetimes([text, None])
    if SPELLINGS[text] is None:
        assert dates is None
    else:
        assert dates.dtype == "datetime64[us]"
        assert dates[0] == np.datetime64(SPELLINGS[text])
        assert np.isnat(dates[1])


def test_values_together_decide_day_or_month():
    assert parse_datetimes(["04/03/2021", "28/02/2021"])[0] == np.datetime64("2021-03-04")
    assert parse_datetimes(["04/03/2021", "02/28/2021"])[0] == np.datetime64("2021-04-03")
    assert parse_datetimes(["28/02/2021", "02/28/2021"]) is None
    with pytest.raises(ValueError, match=r"'when' can be read day first and month first.*dayfirst"):
        parse_datetimes(["04/03/2021", "01/02/2021"], name="when")


def test_spellings_may_be_mixed_but_for_eight_digits():
    dates = parse_datetimes(["2021-03-04", "Mar 5, 2021"])
    assert dates.astype("datetime64[D]").astype(str).tolist() == ["2021-03-04", "2021-03-05"]
    assert parse_datetimes(["2021-03-04", "20210305"]) is None


def test_one_zone_or_none():
    with pytest.raises(ValueError, match="time zone in some rows and none in others"):
        parse_datetimes(["2021-03-04T10:00Z", "2021-03-04T10:00"])


@pytest.mark.parametrize(
    "value",
    [
        datetime.datetime(2021, 3, 4),
        datetime.date(2021, 3, 4),
        np.datetime64("2021-03-04"),
        np.datetime64("2021-03-04", "ns"),
        pd.Timestamp("2021-03-04"),
        pd.Timestamp("2021-03-04T02:00:00.000000001+02:00"),
        datetime.datetime(2021, 3, 3, 19, tzinfo=datetime.timezone(-datetime.timedelta(hours=5))),
    ],
    ids=repr,
)
def test_objects(value):
    dates = parse_datetimes([value, None, float("nan"), pd.NaT, pd.NA, np.datetime64("NaT")])
    assert dates[0] == np.datetime64("2021-03-04T00:00:00")
    assert np.isnat(dates[1:]).all()


def test_arrays():
    days = np.array(["2021-03-04", "NaT"], dtype="datetime64[D]")
    for values in (days, days.astype("datetime64[ns]"), days.astype(object), pd.Series(days).astype(str)):
        dates = parse_datetimes(values if not isinstance(values, pd.Series) else values.replace("NaT", None))
        np.testing.assert_array_equal(dates, days.astype("datetime64[us]"))


@pytest.mark.parametrize("values", [[1, 2], [None, None], ["2021-03-04", 5], [20210304], [True], [b"2021-03-04"], []])
def test_values_that_are_no_dates(values):
    assert parse_datetimes(values) is None
    assert parse_datetimes(np.array(values, dtype=object)) is None


def test_leap_day_and_years_of_few_digits():
    dates = parse_datetimes(["29/02/2000", "28-02-68", "28-02-69"])
    assert dates.astype("datetime64[D]").astype(str).tolist() == ["2000-02-29", "2068-02-28", "1969-02-28"]


@pytest.mark.parametrize(
    ("texts", "are_seasons"),
    [
        (["2000-01", "2001-02", "2011-12"], True), (["2000/01", "2001/02"], True), (["2000-01"], False),
        (["2000-01", "2001-02", "2011-11"], False), (["2000-01", "2001-02", "2001-02-03"], False),
        (["2000-01", "2001-02", "03/2002"], False), (["01/2000", "02/2001"], False), (["2000-Q1", "2001-Q2"], False),
    ],
)  # fmt: skip
def test_seasons(texts, are_seasons):
    assert date_spelling(texts).are_seasons == are_seasons
    assert parse_datetimes(texts) is not None or len({len(text) for text in texts}) > 1


@pytest.mark.parametrize(
    ("name", "are_days", "are_seconds"),
    [
        ("date", True, True), ("birthdate", True, True), ("DateOfBirth", True, True), ("dateadded", True, True),
        ("last_update", True, True), ("Geburtsdatum", True, True), ("fecha_nac", True, True),
        ("start day", True, False),
        ("created_at", False, True), ("eventtimeutc", False, True), ("TimeStamp2", False, True), ("Daten", True, True),
        ("date.naissance", True, True), ("datenaissance", True, True), ("ts", False, True),
        ("candidate_votes", False, False), ("candidateVotes", False, False), ("Mandate", False, False),
        ("Datenmenge", False, False), ("sentiment", False, False), ("centimeters", False, False),
        ("Monday", False, False),
        ("exudate", False, False), ("income", False, False), ("candidate_birthdate", True, True),
    ],
)  # fmt: skip
def test_names_of_columns_of_dates(name, are_days, are_seconds):
    assert (numbered_dates(np.array([41275.0, 22871.0]), name) is not None) == are_days
    assert (numbered_dates(np.array([1.6e9, 1.7e9]), name) is not None) == are_seconds
