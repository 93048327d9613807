"""How strings spell numbers, durations and times of day; sentinels and texts of missing cells."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sklearn_subanneal import CrossCat
from sklearn_subanneal.tables.cells import object_cells
from sklearn_subanneal.tables.clock_times import parse_duration, parse_time_of_day
from sklearn_subanneal.tables.missing_texts import is_missing_word, missing_texts
from sklearn_subanneal.tables.number_signs import common_kind, several_signs
from sklearn_subanneal.tables.numerals import decimal_mark, parse_number
from sklearn_subanneal.tables.sentinels import date_sentinels, number_sentinels
from sklearn_subanneal.tables.spelling import find_spelling, spelled_cells, unit_of


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3,5", 3.5), ("1.200", 1200.0), ("1.200,50 €", 1200.5), ("-0,25", -0.25), ("1 234,5", 1234.5),
        ("12,5 %", 12.5),
        ("(1.200,5)", -1200.5), ("1\u202f234\u202f567", 1234567.0), ("1'234,5", 1234.5), ("1,5e3", 1500.0), (",5", 0.5),
        ("1.20", None), ("1,2,3", None), ("01067", None), ("1.2.3", None), ("(1", None), ("-(3)", None), ("", None),
    ],
)  # fmt: skip
def test_decimal_commas(text, number):
    assert parse_number(text, ",") == number


def test_ranges_are_no_bounds_of_numbers():
    """A laboratory's "<0.5" is nearly a number; of "<38" and ">38" nothing would be left."""
    ranges = object_cells("age", "object", ["<38", ">38"] * 20 + ["40"])
    assert find_spelling(ranges) is None
    lead = find_spelling(object_cells("lead", "object", ["1.2", "<0.5", "3", "4.1"] * 10))
    assert lead.has_bounds and lead.read("<0.5") == 0.5


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("(1,200)", -1200.0), ("\u22123.5", -3.5), ("$ -3", -3.0), ("CHF 1'200.50", 1200.5), ("1 234.5", 1234.5),
        ("US$4", 4.0), ("1,23,456", None), ("3.5-", -3.5), ("-3.5-", None), ("3-", None), ("--3", None), ("+(3)", None),
    ],
)  # fmt: skip
def test_signs(text, number):
    assert parse_number(text) == number


@pytest.mark.parametrize(
    ("texts", "mark"),
    [
        (["1,5", "x"], ","), (["1.5"], "."), (["1,234"], None), (["1.234"], None), (["1,234", "1,5"], ","),
        (["1.234,5"], ","), (["1,234.5"], "."), (["1,234,567"], "."), (["0,123"], ","), (["1234,567"], ","),
        (["a,b"], None), (["1,5", "2.5"], None), (["1e5", "1.5e5"], "."),
    ],
)  # fmt: skip
def test_the_mark_before_decimals(texts, mark):
    assert decimal_mark(texts) == mark


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1:02:03", 3723.0), ("26:15", 94500.0), ("-0:30", -1800.0), ("2 days 03:00:00", 183600.0), ("1h20m", 4800.0),
        ("1 hour and 5 minutes", 3900.0), ("90 min", 5400.0), ("1.5 hours", 5400.0), ("P1DT2H", 93600.0),
        ("PT30S", 30.0), ("PT0S", 0.0), ("P0DT0H", 0.0), ("0 min", 0.0),
        ("0:00:01.5", 1.5), ("1988:1", None), ("1:5:30", None),
        ("3 m", None), ("1:75", None), ("2 PM", None), ("P", None), ("PT", None), ("soon", None),
        ("1:02:03 PM", None), ("", None),
    ],
)  # fmt: skip
def test_durations(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "by_point", "by_comma"),
    [
        ("1,250 min", 75_000.0, 75.0), ("1.250 min", 75.0, 75_000.0), ("1,5 hours", 5400.0, 5400.0),
        ("1.5 hours", 5400.0, 5400.0), ("2h 1,200s", 8400.0, 7201.2), ("1.200,5 min", 72_030.0, 72_030.0),
        ("0,250 min", 15.0, 15.0), ("1,200,300 sec", 1_200_300.0, 1_200_300.0), ("05 min", 300.0, 300.0),
        ("1,2,3 min", None, None),
    ],
)  # fmt: skip
def test_marks_between_the_thousands_of_durations(text, by_point, by_comma):
    assert parse_duration(text) == by_point and parse_duration(text, ",") == by_comma


def test_durations_of_a_column_have_one_mark():
    """A comma between thousands had been one before decimals, cell by cell."""
    minutes = ["1,465 min", "250 min", "281 min", "1,301 min", "795 min"]
    found = find_spelling(cells(minutes))
    assert spelled_cells(cells(minutes), found).values.tolist() == [87_900.0, 15_000.0, 16_860.0, 78_060.0, 47_700.0]
    hours = cells(["1,250 hours", "2,5 hours", "12 hours"])
    german = find_spelling(hours)
    assert german.words == "durations, in seconds with decimal commas"
    assert spelled_cells(hours, german).values.tolist() == [4500.0, 9000.0, 43_200.0]
    # Where the cells show no mark, that of the file counts; clocks have none.
    assert find_spelling(cells(minutes), ",").read("1,465 min") == pytest.approx(87.9)
    assert find_spelling(cells(["26:15:00", "1 h, 20 min"]), ",").words == "durations, in seconds"


@pytest.mark.parametrize(
    ("text", "hours"),
    [("00:00", 0.0), ("23:30", 23.5), ("12:15 am", 0.25), ("12 PM", 12.0), ("9:45:36 p.m.", 21.76), ("24:00", None),
     ("13:00 PM", None), ("7:5", None), ("2 days 07:00", None), ("noon", None)],
)  # fmt: skip
def test_times_of_day(text, hours):
    assert parse_time_of_day(text) == (hours if hours is None else pytest.approx(hours))


def cells(texts, name="x"):
    return object_cells(name, "object", texts)


def test_spellings_of_columns():
    assert find_spelling(cells(["red", "blue"])) is None
    assert find_spelling(cells(["12:30", "08:15"])).meaning == "time of day"
    assert find_spelling(cells(["7:30", "9:15"])).meaning == "duration"
    assert find_spelling(cells(["12:30", "08:15"], "duration of stay")).meaning == "duration"
    assert find_spelling(cells(["02:07:00", "08:15:10"], "Talk Time")).meaning == "duration"
    assert find_spelling(cells(["02:07:00", "08:15:10"], "lapse")).meaning == "time of day"
    # All within the hour after midnight.
    assert find_spelling(cells(["00:02:07", "00:15:10"])).meaning == "duration"
    assert find_spelling(cells(["00:02:07", "01:15:10"])).meaning == "time of day"
    assert find_spelling(cells(["5 m", "7 m", "12 m"])).unit == "m"
    assert find_spelling(cells(["1,234", "2,345"])).decimal == "."
    german = find_spelling(cells(["1,234", "2,345"]), decimal=",")
    np.testing.assert_allclose(spelled_cells(cells(["1,234", "2,345"]), german).values, [1.234, 2.345])
    bounds = find_spelling(cells(["<0.5", "1.5", "0.7"]))
    np.testing.assert_allclose(spelled_cells(cells(["<0.5", "1.5"]), bounds).values, [0.5, 1.5])
    assert "bounds" in bounds.words
    scales = find_spelling(cells(["€1.2M", "900k", "1,100 k"]))
    np.testing.assert_allclose(spelled_cells(cells(["€1.2M", "900k", "3"]), scales).values, [1.2e6, 9e5, 3.0])
    assert spelled_cells(cells(["90+", "12"]), find_spelling(cells(["90+", "12", "15"]))).values.tolist() == [
        90.0,
        12.0,
    ]


@pytest.mark.parametrize(
    ("texts", "sign"),
    [
        (["$12.50", "US$3", "4 USD", "5"], ""), (["$12.50", "CAD 3"], ""), (["¥5", "5 CNY"], ""),
        (["5 kr", "5 SEK"], ""),
        (["$12.50", "€11.90", "$3"], "USD"), (["5 GBP", "6 EUR", "£7"], "GBP"), (["5 %", "$3", "6 %"], ""),
        (["43%", "0.51", "60%", "0.2"], "none"), (["43%", "0", "1"], ""), (["43%", "51", "0.5"], ""),
        (["0.4%", "0.5"], ""),
        (["43%", "n/a", "51%"], ""),
    ],
)  # fmt: skip
def test_signs_of_several_kinds(texts, sign):
    assert common_kind(texts, [1] * len(texts)) == sign


def test_several_currencies_are_no_column_of_numbers():
    euros, dollars = [f"€{n}.50" for n in range(40)], [f"${n}.25" for n in range(40)]
    assert find_spelling(cells([*euros, *dollars])) is None
    # But if the user says that they are numbers.
    assert find_spelling(cells([*euros, *dollars]), meaning="number").read("$3") == 3.0
    # A slip costs its cell.
    found = find_spelling(cells([*euros, "$7"]))
    assert found.marks == ("$7",) and found.read("EUR 5") == found.read("5") == 5.0 and found.read("US$5") is None
    assert find_spelling(cells([*euros, *[f"{n}" for n in range(9)]])).sign == ""
    # 43 % is 0.43.
    shares, percents = [f"0.{n}" for n in range(10, 50)], [f"{n}%" for n in range(10, 50)]
    assert find_spelling(cells([*shares, *percents])) is None
    assert find_spelling(cells([*shares, "43%"])).marks == ("43%",)
    assert find_spelling(cells([*percents, "0.43"])).read("0.43") == 0.43
    assert several_signs(["$12.50", "€11.90", "¥1850", "8.20 GBP", "1.5%"]) == ["$", "€", "¥", "GBP", "%"]
    assert several_signs(["43%", "0.51"]) == ["%", "none"] and several_signs(["$5", "a €6"]) == []


def test_kelvins_are_no_thousands():
    kelvins = ["293.1 K", "288.4 K", "301.9 K", "unknown"]
    found = find_spelling(cells([*kelvins, *(f"{n}.5 K" for n in range(280, 300))]))
    assert found.unit == "K" and not found.has_scales and found.read("293.1 K") == 293.1
    # Of amounts, some are below a thousand, or without decimals.
    for other in ("900", "2 K", "2.5K"):
        assert find_spelling(cells([*kelvins[:3], other])).read("1.2 K") == 1200.0


def test_of_units_that_are_as_frequent_the_first_is_taken():
    """It had been another one from run to run."""
    units = ["kg", "lb", "st", "oz", "g2", "mg"]
    for first in range(len(units)):
        assert unit_of([f"{own} {unit}" for own, unit in enumerate(units[first:] + units[:first])]) == units[first]


def test_few_marks_are_missing_cells():
    numbers = [str(number / 7) for number in range(40)]
    marked = find_spelling(cells([*numbers, *["-"] * 30, *["unknown"] * 5]))
    assert set(marked.marks) == {"-", "unknown"}
    # Codes, and more words than numbers, are no marks.
    assert find_spelling(cells([*numbers, *["A 12"] * 20])) is None
    assert find_spelling(cells([*numbers, *["-"] * 60])) is None
    assert find_spelling(cells([*numbers, *"abcd" * 5])) is None


def test_codes_with_leading_zeros_are_no_marks():
    """One code of a column is enough: the others are codes as well, and not numbers beside it."""
    postcodes = [str(10_115 + 351 * number) for number in range(192)]
    assert find_spelling(cells([*postcodes, *["07311"] * 8])) is None
    # Among amounts of other lengths it is a slip, which costs its cell and not the column.
    amounts = [str(number) for number in range(7, 200)]
    found = find_spelling(cells([*amounts, "0123"]))
    assert found is not None and found.marks == ("0123",)
    assert find_spelling(cells([*postcodes, *["0.5"] * 8, "0"])).marks == ()
    # Unless the user says that they are numbers, or others are durations.
    assert find_spelling(cells([*postcodes, *["07311"] * 8]), meaning="number").marks == ("07311",)
    assert find_spelling(cells([*["2:15:00", "26:15:00"] * 40, "00"])).meaning == "duration"


@pytest.mark.parametrize("package", [pd, pl])
def test_frames_with_decimal_commas(package):
    rng = np.random.default_rng(0)
    values = rng.normal(20.0, 5.0, 80).round(2)
    X = package.DataFrame(
        {"x": [f"{value:.2f}".replace(".", ",") for value in values], "y": values + rng.normal(size=80)}
    )
    model = CrossCat(n_chains=1, n_draws=1, random_state=0).fit(X)
    assert model.feature_types_["x"] == "real"
    assert "decimal commas" in model.feature_type_reasons_["x"]
    new = package.DataFrame({"x": ["20,5", None], "y": [20.5, 11.0]})
    filled = model.impute(new)["x"].to_list()
    assert filled[0] == 20.5 and 0.0 < filled[1] < 40.0
    strange = package.DataFrame({"x": ["20,5", "20.5.1"], "y": [20.5, 11.0]})
    gaps = package.DataFrame({"x": ["20,5", None], "y": [20.5, 11.0]})
    with pytest.warns(UserWarning, match=r"Column 'x' was real in fit, but holds '20\.5\.1': these cells count"):
        scores = model.score_samples(strange)
    np.testing.assert_array_equal(scores, model.score_samples(gaps))


@pytest.mark.parametrize(
    ("others", "sentinels", "found"),
    [
        ([1.5, 2.5, 3.5, 4.5], [-999.0, -999.0], [-999.0]),
        ([1.0, 2.0, 3.0, 4.0, 5.0], [99.0, 99.0, 98.0, 97.0], [97.0, 98.0, 99.0]),
        ([18.0, 40.0, 70.0, 85.0], [99.0, 99.0], []),
        ([-30.0, -10.0, 5.0, 40.0], [-99.0, -99.0], [-99.0]),
        ([-30.0, -10.0, 5.0, 40.0], [-9.0, -9.0], []),
        ([-30.5, -10.5, 5.0, 20.0], [-99.9, -99.9], [-99.9]),
        ([0.0, 3.0, 7.0, 50.0], [-9.0, -9.0], [-9.0]),
        ([99.0, 199.0, 299.0, 349.0], [9999.0, 9999.0], []),
        ([100.0, 210.0, 320.0, 430.0], [9999.0], [9999.0]),
        ([100.0, 210.0, 320.0, 430.0], [999.0], []),
        ([0.1, 0.5, 0.7, 0.8], [-2147483648.0, -2147483648.0], [-2147483648.0]),
        ([0.1, 0.5, 0.7, 0.8], [42.0, 42.0], []),
        ([5.0, 6.0], [99.0, 99.0], []),
        ([1.0, 2.0, 3.0, 4.0], [-999.0, -999.0, -99.0, -99.0], [-999.0, -99.0]),
    ],
)
def test_sentinels(others, sentinels, found):
    assert number_sentinels(np.array([*others * 3, *sentinels])) == found


def test_sentinels_of_dates():
    days = np.datetime64("2020-01-01") + np.arange(0, 300, 10)
    marked = np.concatenate([days, np.repeat(np.datetime64("1900-01-01"), 3), [np.datetime64("9999-12-31")]])
    assert date_sentinels(marked) == [np.datetime64("1900-01-01"), np.datetime64("9999-12-31")]
    birthdays = np.datetime64("1890-01-01") + np.arange(0, 20_000, 365)
    assert date_sentinels(np.append(birthdays, [np.datetime64("1970-01-01")] * 2)) == []


def test_texts_of_missing_cells():
    assert missing_texts(["N/A", "-", "none", "red", "#DIV/0!"]) == {"N/A", "-", "#DIV/0!"}
    assert missing_texts(["N/A", "red", "gone"], further=["gone"], keep=["N/A"]) == {"gone"}
    codes = "DE FR US GB ES IT PL SE".split()
    assert missing_texts([*codes, "NA", "n/a"]) == {"n/a"}
    assert missing_texts([*codes[:3], "NA"]) == {"NA"}
    # Sodium, names, ratings and the number zero.
    assert missing_texts(["Na", "Nan", "Null", "*", "none", "None", "x", "unknown"]) == set()
    assert is_missing_word("Unknown") and is_missing_word("nan") and not is_missing_word("none")
    assert is_missing_word("None", of_dates=True)
