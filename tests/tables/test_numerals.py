"""Strings that spell numbers: which are read, and columns of them in fit and in new data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator

from sklearn_subanneal.columns import choose_type
from sklearn_subanneal.columns.binding import TYPES
from sklearn_subanneal.tables.numerals import parse_number
from sklearn_subanneal.tables.schema import read_table


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3.5", 3.5), ("-3", -3.0), ("+3.", 3.0), (".5", 0.5), (" 7 ", 7.0),
        ("1e-3", 0.001), ("0", 0.0), ("0.25", 0.25),
        ("1,200", 1200.0), ("12,345,678.9", 12345678.9), ("12 %", 12.0), ("12%", 12.0), ("$4.99", 4.99), ("4 €", 4.0),
        ("-$1,000", -1000.0), ("1200", 1200.0),
    ],
)  # fmt: skip
def test_numbers_are_read(text, number):
    assert parse_number(text) == number


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-",
        "01067",
        "1,20",
        "1,2000",
        "1.2.3",
        "1 2",
        "A1",
        "12 kg",
        "1/2",
        "nan",
        "inf",
        "1e999",
        "1_000",
        "0x1",
        "٣",
    ],
)
def test_other_strings_are_not(text):
    assert parse_number(text) is None


def frame(package):
    rng = np.random.default_rng(0)
    texts = [f"{value:,.2f}" for value in rng.normal(5000.0, 900.0, 60)]
    texts[3], texts[7] = None, "n/a"
    return package.DataFrame({"price": texts}), texts


@pytest.mark.parametrize("package", [pd, pl])
def test_a_column_of_them_is_a_column_of_numbers(package):
    X, texts = frame(package)
    estimator = BaseEstimator()
    table, (prices,) = read_table(estimator, X, "auto", types=TYPES, choose=choose_type)
    assert table.kinds == ["real"] and np.flatnonzero(np.isnan(prices)).tolist() == [3, 7]
    assert prices[0] == float(texts[0].replace(",", ""))
    back = table.decode([prices])
    assert isinstance(back, package.DataFrame) and str(back["price"].dtype).lower() == "float64"
    # What comes back can be read again, as can new strings; other strings than those of fit are missing, or refused.
    for new in (back, X):
        np.testing.assert_array_equal(table.encode(estimator, new)[0], prices)
    new = package.DataFrame({"price": ["1,000", "much"]})
    with pytest.warns(
        UserWarning, match="Column 'price' was real in fit, but holds 'much': these cells count as missing"
    ):
        np.testing.assert_array_equal(table.encode(estimator, new)[0], [1000.0, np.nan])
    with pytest.raises(ValueError, match="values that fit did not see: 'much' in column 'price'"):
        table.encode(estimator, new, unseen="error")
