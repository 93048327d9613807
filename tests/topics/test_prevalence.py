"""Prevalence of topics in groups and periods, against means and errors in plain Python, and periods of pandas."""

from __future__ import annotations

import datetime
import statistics
from math import isnan, sqrt

import numpy as np
import pytest

from sklearn_subanneal.topics import topic_prevalence

RNG = np.random.default_rng(0)
SHARES = RNG.dirichlet(np.full(3, 0.5), 400)
DATES = np.datetime64("2018-02-10") + RNG.integers(0, 900, 400)
LABELS = RNG.choice(["low", "middle", "high"], 400)


def check_means(found, group_of):
    """Means, errors and sizes of `found` are those of documents by the group that `group_of` has for each."""
    for g, group in enumerate(found.groups):
        rows = [i for i, own in enumerate(group_of) if own == group]
        assert found.n_documents[g] == len(rows)
        for k in range(3):
            values = [SHARES[i, k] for i in rows]
            if values:
                assert found.means[g, k] == pytest.approx(statistics.mean(values), rel=1e-12)
            else:
                assert isnan(found.means[g, k])
            if len(values) > 1:
                assert found.standard_errors[g, k] == pytest.approx(
                    statistics.stdev(values) / sqrt(len(values)), rel=1e-9
                )
            else:
                assert isnan(found.standard_errors[g, k])
    assert found.n_documents.sum() == len(group_of)


def test_labels_are_sorted():
    found = topic_prevalence(SHARES, LABELS)
    assert found.groups.tolist() == ["high", "low", "middle"]
    assert found.period is None and not found.is_continuous
    check_means(found, LABELS)


def test_a_group_of_one_document_has_no_standard_error():
    labels = LABELS.astype(object)
    labels[7] = "one"
    found = topic_prevalence(SHARES, labels.tolist())
    assert found.groups.tolist() == ["high", "low", "middle", "one"]
    check_means(found, labels)


def test_numbers_are_in_their_order():
    years = DATES.astype("datetime64[Y]").astype(int) + 1970
    found = topic_prevalence(SHARES, years)
    assert found.groups.tolist() == sorted(set(years.tolist())) and found.is_continuous
    check_means(found, years)
    booleans = topic_prevalence(SHARES, years > 2018)
    assert booleans.groups.tolist() == [False, True] and not booleans.is_continuous
    check_means(booleans, years > 2018)


@pytest.mark.parametrize(
    "period, alias", [("day", "D"), ("week", "W-SUN"), ("month", "M"), ("quarter", "Q"), ("year", "Y")]
)
def test_periods_are_those_of_pandas(period, alias):
    pd = pytest.importorskip("pandas")
    # Days before 1970 have negative numbers.
    dates = np.datetime64("1969-05-20") + np.random.default_rng(1).integers(0, 500, 400)
    found = topic_prevalence(SHARES, dates, period=period)
    periods = pd.Series(dates).dt.to_period(alias)
    whole = pd.period_range(periods.min(), periods.max())
    assert found.groups.tolist() == [start.date() for start in whole.start_time]
    assert found.period == period and found.is_continuous
    check_means(found, [start.date() for start in periods.dt.start_time])


def test_kinds_of_dates_are_equal():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    expected = topic_prevalence(SHARES, DATES)
    kinds = [
        DATES.astype("datetime64[ns]") + np.timedelta64(5, "h"),
        DATES.tolist(),
        [datetime.datetime.combine(day, datetime.time(23, 59)) for day in DATES.tolist()],
        np.datetime_as_string(DATES),
        pd.Series(DATES, index=np.arange(400)[::-1]),
        pd.to_datetime(pd.Series(DATES)).dt.tz_localize("UTC"),
        pd.DatetimeIndex(DATES),
        pl.Series(DATES),
    ]
    for dates in kinds:
        found = topic_prevalence(SHARES, dates)
        assert found.period == expected.period == "month"
        np.testing.assert_array_equal(found.groups, expected.groups)
        np.testing.assert_array_equal(found.means, expected.means)


@pytest.mark.parametrize(
    "days, n, expected",
    [(30, 400, "day"), (30, 100, "week"), (200, 400, "week"), (900, 400, "month"), (9000, 200, "year")],
)
def test_period_that_is_chosen(days, n, expected):
    rng = np.random.default_rng(2)
    dates = np.datetime64("2010-01-01") + rng.integers(0, days, n)
    assert topic_prevalence(SHARES[:n], dates).period == expected


def test_labels_of_frames():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    levels = ["low", "never", "middle", "high"]
    kinds = [pd.Series(pd.Categorical(LABELS, levels)), pl.Series(LABELS, dtype=pl.Enum(levels))]
    for labels in kinds:
        found = topic_prevalence(SHARES, labels)
        assert found.groups.tolist() == ["low", "middle", "high"]
        check_means(found, LABELS)
    for labels in (pd.Series(LABELS, index=np.arange(400)[::-1]), pl.Series(LABELS)):
        check_means(topic_prevalence(SHARES, labels), LABELS)


def test_one_topic():
    found = topic_prevalence(np.ones((4, 1)), list("aabb"))
    assert found.means.tolist() == [[1.0], [1.0]] and found.standard_errors.tolist() == [[0.0], [0.0]]


def with_gap(values, gap):
    values = values.astype(object)
    values[[5, 9]] = gap
    return values


@pytest.mark.parametrize(
    "groups, period, message",
    [
        (LABELS[:7], None, "label or date for each of 400 documents, got 7; select"),
        (with_gap(LABELS, None), None, "groups must not be missing, 2 of 400 are, the first of document 5; leave"),
        (with_gap(DATES, np.datetime64("NaT")), None, "groups must not be missing, 2 of 400"),
        (np.where(np.arange(400) == 5, np.datetime64("NaT"), DATES), None, "1 of 400 are, the first of document 5"),
        (np.where(np.arange(400) == 5, np.nan, 1.0), None, "groups must not be missing, 1 of 400"),
        (["all"] * 400, None, "at least two, but all 400 documents are in 'all'; give labels that differ"),
        (np.full(400, np.datetime64("2020-05-17")), None, "in the day from 2020-05-17 on; give labels that differ"),
        (np.full(400, np.datetime64("2020-05-17")), "year", "in the year from 2020-01-01 on; give a shorter period"),
        (SHARES[:, 0], None, "400 documents have 400 distinct values; give groups of several documents"),
        (np.datetime64("2020-01-01") + np.arange(400), "day", "400 periods of a day; give a longer period"),
        (DATES, "decade", r"period must be one of \['day', .* got 'decade'"),
        (LABELS, "year", "period must be None if groups are no dates, got 'year'; convert them"),
        (with_gap(LABELS, ("a", [])), None, "not hashable"),
    ],
)
def test_wrong_groups(groups, period, message):
    with pytest.raises((ValueError, TypeError), match=message):
        topic_prevalence(SHARES, groups, period=period)


def test_too_few_documents():
    with pytest.raises(ValueError, match="2 documents have 2 distinct values; give groups of several documents"):
        topic_prevalence(SHARES[:2], ["a", "b"])
    with pytest.raises(ValueError, match="all 1 documents are in 'a'"):
        topic_prevalence(SHARES[:1], ["a"])
    with pytest.raises(ValueError, match="proportions must be finite, of shape"):
        topic_prevalence(SHARES[:, 0], LABELS)


@pytest.mark.parametrize("form", ["pandas", "arrow", "polars", "strings", "objects"])
def test_days_are_those_of_the_time_zone(form):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    mornings = [datetime.datetime(2024, 1, day, 9) for day in range(1, 11)]
    times = [time + datetime.timedelta(hours=hours) for time in mornings for hours in (0.0, 11.5)]
    zoned = pd.Series(times).dt.tz_localize("America/New_York")
    groups = {
        "pandas": lambda: zoned,
        "arrow": lambda: zoned.astype("timestamp[us, tz=America/New_York][pyarrow]"),
        "polars": lambda: pl.Series(times).dt.replace_time_zone("America/New_York"),
        "strings": lambda: [time.isoformat() for time in zoned],
        "objects": lambda: zoned.tolist(),
    }[form]()
    found = topic_prevalence(np.tile([[0.9, 0.1], [0.1, 0.9]], (10, 1)), groups, period="day")
    assert found.groups.tolist() == [time.date() for time in mornings]
    assert found.n_documents.tolist() == [2] * 10
    np.testing.assert_allclose(found.means, 0.5)
