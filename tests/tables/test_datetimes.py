"""Columns of dates: their parts, and dates put together from parts."""

import datetime
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator

from sklearn_subanneal.columns.binding import TYPES
from sklearn_subanneal.columns.type_choice import choose_type
from sklearn_subanneal.tables.column import params_of_parts
from sklearn_subanneal.tables.schema import read_table

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

TREND, TIME, WEEK, YEAR = "t (trend)", "t (time of day)", "t (day of the week)", "t (day of the year)"
MINUTES = pd.date_range("2020-01-01", "2022-12-31", periods=500).round("min")


def read(dates, **settings):
    """The table whose only column has these dates, and the estimator that reads it."""
    estimator = BaseEstimator()
    frame = dates if hasattr(dates, "columns") else pd.DataFrame({"t": dates})
    table, arrays = read_table(estimator, frame, types=TYPES, **settings)
    return estimator, table, arrays


def made(table, parts, spreads=None):
    """The dates that parts, given as numbers, make."""
    arrays = [np.atleast_1d(np.asarray(part, dtype=float)) for part in parts]
    spreads = None if spreads is None else [np.full(len(arrays[0]), spread) for spread in spreads]
    frame = table.decode(arrays, made=np.ones((1, len(arrays)), bool), spreads=spreads)
    return frame["t"].to_numpy().astype("M8[us]")


def days(text):
    return (np.datetime64(text, "us") - np.datetime64("1970-01-01", "us")) / np.timedelta64(1, "D")


@pytest.mark.parametrize(
    ("dates", "parts"),
    [
        (MINUTES, [TREND, TIME, WEEK, YEAR]),
        (MINUTES.normalize(), [TREND, WEEK, YEAR]),
        # All at the same time of day.
        (MINUTES.normalize() + pd.Timedelta("9h"), [TREND, WEEK, YEAR]),
        # Less than two years, two weeks, two days.
        (pd.date_range("2020-01-01", "2021-12-30", periods=99), [TREND, TIME, WEEK]),
        (pd.date_range("2020-01-01", "2020-01-14", periods=99), [TREND, TIME]),
        (pd.date_range("2020-01-01", "2020-01-02", periods=99), [TREND]),
        # Months, years, weeks.
        (pd.date_range("2015-01-01", periods=60, freq="MS"), [TREND, YEAR]),
        (pd.date_range("1990-01-01", periods=30, freq="YS"), [TREND]),
        (pd.date_range("2020-01-01", periods=150, freq="7D"), [TREND, YEAR]),
        (pd.to_datetime(["2021-03-04"]), [TREND]),
        (pd.to_datetime(["2021-03-04", None, "2021-03-04"]), [TREND]),
    ],
    ids=str,
)
def test_parts_are_those_that_recur_and_vary(dates, parts):
    _, table, arrays = read(dates)
    assert table.kinds == ["datetime"] and table.names == ["t"]
    assert [part.name for part in table.parts] == parts
    assert [part.kind for part in table.parts] == ["real"] + ["cyclic"] * (len(parts) - 1)
    assert len(arrays) == len(parts) and table.places == [list(range(len(parts)))]
    assert params_of_parts(table.columns, None) == {name: {"period": 1.0} for name in parts[1:]}


def test_values_of_the_parts():
    dates = pd.to_datetime(["2019-01-07 00:00", "2020-02-29 12:00", "2021-03-01 06:00", "2021-12-31 18:00", None])
    _, _, (trend, time, week, year) = read(dates)
    assert_array_equal(trend, [17903.0, 18321.5, 18687.25, 18992.75, np.nan])
    assert_array_equal(time, [0.0, 0.5, 0.25, 0.75, np.nan])
    assert_array_equal(week, np.array([0.0, 5.0, 0.0, 4.0, np.nan]) / 7.0)
    # March 1 has the place of leap years in all years.
    assert_array_equal(year, np.array([6.0, 59.0, 60.0, 365.0, np.nan]) / 366.0)


SEEN = [
    "2020-02-29 23:59:59.999999",
    "2021-12-31 23:59:59.999999",
    "1969-12-31 23:59:59.999999",
    "1800-03-01 00:00:00.000001",
    "2148-01-01 12:34:56.789012",
    "2024-02-29",
    "2023-03-01 12:00",
]


@pytest.mark.parametrize(
    "dtype", ["datetime64[us]", "datetime64[s]", "datetime64[ns]", "datetime64[us, Europe/Berlin]", "object", "string"]
)
def test_round_trip_of_pandas(dtype):
    series = pd.Series(np.array([*SEEN, "NaT"], "M8[us]"))
    if dtype == "object":
        series = pd.Series([None if value is pd.NaT else value.to_pydatetime() for value in series], dtype=object)
    elif dtype == "string":
        series = series.astype(str).where(series.notna(), None)
    elif "," in dtype:
        series = series.dt.tz_localize("UTC").astype(dtype)
    else:
        series = series.astype(dtype)
    frame = pd.DataFrame({"t": series})
    estimator, table, arrays = read(frame, feature_types={"t": "datetime"})
    back = table.decode(arrays, like=frame)["t"]
    expected = pd.to_datetime(series, format="ISO8601") if dtype in ("object", "string") else series
    pd.testing.assert_series_equal(back, expected.astype(back.dtype), check_names=False)
    assert dtype in ("object", "string") or back.dtype == series.dtype
    for one, other in zip(arrays, table.encode(estimator, frame), strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize(
    "dtype",
    [pl.Date, pl.Datetime("ms"), pl.Datetime("us"), pl.Datetime("ns"), pl.Datetime("us", "Europe/Berlin"), pl.Object],
    ids=str,
)
def test_round_trip_of_polars(dtype):
    values = [*(datetime.datetime.fromisoformat(text) for text in SEEN), None]
    if dtype == pl.Object:
        series = pl.Series("t", values, dtype=pl.Object)
    elif getattr(dtype, "time_zone", None):
        series = pl.Series("t", values).dt.replace_time_zone("UTC").dt.convert_time_zone(dtype.time_zone)
    else:
        series = pl.Series("t", values).cast(dtype)
    _, table, arrays = read(series.to_frame())
    assert table.kinds == ["datetime"]
    back = table.decode(arrays)["t"]
    assert back.to_list() == series.to_list()
    assert dtype == pl.Object or back.dtype == dtype


def test_dates_far_from_now_come_back_to_the_millisecond():
    dates = pd.Series(np.array(["0001-01-01T00:00:00.001", "9999-12-31T23:59:59.999"], "M8[us]"))
    _, table, arrays = read(dates)
    assert_array_equal(table.decode(arrays)["t"].to_numpy(), dates.to_numpy())


def test_new_dates_beyond_the_training_data_come_back():
    estimator, table, _ = read(MINUTES)
    new = pd.DataFrame({"t": np.array(["1950-06-07T08:09:10.111213", "2050-01-01", "NaT"], "M8[us]")})
    pd.testing.assert_frame_equal(table.decode(table.encode(estimator, new)), new.astype(str(MINUTES.dtype)))


def test_new_strings_are_read_in_the_order_of_the_training_data():
    estimator, table, _ = read(pd.Series(["28/02/2021", "01/02/2021"]), feature_types=["datetime"])
    new = pd.DataFrame({"t": ["03/04/2021"]})
    assert table.encode(estimator, new)[0][0] == days("2021-04-03")
    with pytest.raises(ValueError, match=r"'t' must be datetime but holds '02/28/2021'"):
        table.encode(estimator, pd.DataFrame({"t": ["02/28/2021"]}))
    with pytest.raises(ValueError, match="day first and month first"):
        read(pd.Series(["03/02/2021", "01/02/2021"]), feature_types=["datetime"])


def test_new_strings_that_are_no_dates_are_missing_where_the_type_was_inferred():
    """In all parts; where it was declared, they are refused, as are cells of another type."""
    strings = pd.Series(MINUTES.strftime("%Y-%m-%d %H:%M"))
    estimator, table, _ = read(strings, feature_types="auto", choose=choose_type)
    assert table.kinds == ["datetime"] and len(table.parts) > 1
    new = pd.DataFrame({"t": [strings[5], "soon", None, "2021-13-45"]})
    with pytest.warns(UserWarning, match="Column 't' was datetime in fit, but holds .*'soon'.*: these cells count as"):
        found = table.encode(estimator, new)
    expected = table.encode(estimator, new.assign(t=[strings[5], None, None, None]))
    for one, other in zip(found, expected, strict=True):
        assert_array_equal(one, other)
    with pytest.warns(UserWarning, match="holds 'soon'"):
        assert all(np.isnan(cells).all() for cells in table.encode(estimator, pd.DataFrame({"t": ["soon"]})))
    with pytest.raises(ValueError, match="values that fit did not see: 'soon' in column 't'"):
        table.encode(estimator, pd.DataFrame({"t": ["soon"]}), unseen="error")
    estimator, table, _ = read(strings, feature_types=["datetime"])
    with pytest.raises(ValueError, match="'t' must be datetime but holds 'soon'"):
        table.encode(estimator, new)


def test_made_dates_agree_with_their_parts():
    _, table, _ = read(MINUTES)
    # A Wednesday. The nearest June 20, of which the nearest Monday, at 06:30.
    trend = days("2021-06-16 12:00")
    parts = [trend, 6.5 / 24, 0.0, 171 / 366]
    assert made(table, parts)[0] == np.datetime64("2021-06-21T06:30")
    # The nearest in the year before.
    assert made(table, [days("2021-01-03"), 0.5, 4 / 7, 364 / 366])[0] == np.datetime64("2021-01-01T12:00")
    # Rounded to the minute of the training data.
    assert made(table, [trend, 0.50001, 2 / 7, 167 / 366])[0] == np.datetime64("2021-06-16T12:00")


def test_parts_known_less_well_than_the_trend_are_not_heeded():
    _, table, _ = read(MINUTES)
    parts = [days("2021-06-16 12:00"), 0.25, 0.0, 0.0]
    assert made(table, parts, [10.0, 0.1, 0.2, 0.1])[0] == np.datetime64("2021-06-14T06:00")
    assert made(table, parts, [1.0, 0.1, 0.2, 0.1])[0] == np.datetime64("2021-06-16T06:00")
    assert made(table, parts, [0.01, 0.1, 0.2, 0.1])[0] == np.datetime64("2021-06-16T12:00")


def test_parts_that_agree_are_unchanged():
    _, table, arrays = read(MINUTES)
    assert_array_equal(made(table, arrays), MINUTES.to_numpy().astype("M8[us]"))


def test_made_february_29_is_in_leap_years_only():
    _, table, _ = read(MINUTES.normalize())
    made_of = [made(table, [days(day), week / 7, 59 / 366])[0] for day, week in (("2024-03-02", 3), ("2023-03-02", 2))]
    assert made_of == [np.datetime64("2024-02-29"), np.datetime64("2023-03-01")]


@pytest.mark.parametrize(
    ("dates", "parts", "date"),
    [
        (MINUTES.normalize() + pd.Timedelta("9h"), (days("2021-06-16 20:00"), 2 / 7, 167 / 366), "2021-06-16T09:00"),
        (pd.date_range("2020-01-01", "2020-01-02", periods=25), (days("2020-01-01 05:10"),), "2020-01-01T05:00"),
        (pd.date_range("2015-01-01", periods=60, freq="MS"), (days("2017-03-20"), 95 / 366), "2017-04-01"),
        (pd.date_range("1990-01-01", periods=30, freq="YS"), (days("2017-03-20"),), "2017-01-01"),
        # Wednesdays.
        (pd.date_range("2020-01-01", periods=15, freq="7D"), (days("2021-06-19"),), "2021-06-16"),
    ],
    ids=["at nine", "few days", "months", "years", "weeks"],
)
def test_made_dates_are_as_those_of_the_training_data(dates, parts, date):
    _, table, _ = read(dates)
    assert made(table, parts)[0] == np.datetime64(date)


@pytest.mark.parametrize("trend", [-1e300, -1e7, 1e7, 1e300])
@pytest.mark.parametrize("dtype", ["datetime64[us]", "datetime64[ns]"])
def test_absurd_trends_make_dates(trend, dtype):
    _, table, _ = read(MINUTES.astype(dtype))
    date = made(table, [trend, 0.5, 0.5, 0.99])[0]
    assert np.datetime64("0001-01-01") <= date <= np.datetime64("9999-12-31")


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ([1.0, 2.0], r"'t' must be datetime but holds 1.0 \(type float\): convert the column to dates"),
        ([1, 2], "'t' must be datetime but holds 1 "),
        (["2021-03-04", "soon"], "'t' must be datetime but holds 'soon'"),
        ([True, False], "'t' must be datetime but holds True"),
        (pd.to_datetime([None, None]), "'t' has no value"),
    ],
)
def test_values_that_are_no_dates(values, match):
    with pytest.raises(ValueError, match=match):
        read(pd.Series(values), feature_types=["datetime"])


def test_arrays_of_dates_are_refused_with_a_remedy():
    for X in (np.array([["2020-01-01"]], "M8[D]"), np.array([[1.0]])):
        with pytest.raises(ValueError, match=r"DataFrame|convert the column to dates"):
            read_table(BaseEstimator(), X, "from_dtype" if X.dtype.kind == "M" else ["datetime"], types=TYPES)


def test_dates_may_be_categories_but_not_numbers():
    _, table, (codes,) = read(pd.to_datetime(["2021-03-04", "2020-01-01", None]), feature_types=["categorical"])
    assert codes.tolist() == [1, 0, -1]
    assert_array_equal(table.decode([codes])["t"], pd.to_datetime(["2021-03-04", "2020-01-01", None]))
    with pytest.raises(ValueError, match="'t' must be cyclic but holds dates"):
        read(MINUTES, feature_types=["cyclic"])


def test_names_of_parts_are_reserved():
    frame = pd.DataFrame({"t": MINUTES, TREND: 1.0})
    with pytest.raises(ValueError, match=r"'t' has a part 't \(trend\)'.*rename"):
        read(frame)


@pytest.mark.parametrize(
    ("params", "match"),
    [
        (
            {"t": {"mu": 1.0}},
            r"key 't' or 'datetime', but column 't' is modelled by its parts: use the keys 't \(trend\)'",
        ),
        ({"datetime": {}}, "or 'datetime', but column 't' is modelled"),
        ({TIME: {"period": 24.0}}, r"'t \(time of day\)'\] has 'period', which the column 't' determines"),
    ],
)
def test_hyperparameters_of_columns_with_parts(params, match):
    _, table, _ = read(MINUTES)
    with pytest.raises(ValueError, match=match):
        params_of_parts(table.columns, params)
    own = params_of_parts(table.columns, {TIME: {"r": 2.0}, TREND: {"mu": 18000.0}, "cyclic": {"period": 5.0}})
    assert own[TIME] == {"r": 2.0, "period": 1.0} and own[TREND] == {"mu": 18000.0}


def test_tables_with_dates_can_be_pickled():
    estimator, table, arrays = read(MINUTES)
    table = pickle.loads(pickle.dumps(table))
    assert_array_equal(table.encode(estimator, pd.DataFrame({"t": MINUTES})), arrays)


def test_new_rows_may_be_lists_of_objects():
    estimator, table, _ = read(pd.DataFrame({"t": MINUTES, "x": 1.0}))
    new = [
        [datetime.date(2021, 3, 4), 1.0],
        ["2021-03-04 12:00", None],
        [np.datetime64("2021-03-05"), 2.0],
        [None, 3.0],
    ]
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        trend = table.encode(estimator, new)[0]
    assert_array_equal(trend, [days("2021-03-04"), days("2021-03-04T12:00"), days("2021-03-05"), np.nan])
