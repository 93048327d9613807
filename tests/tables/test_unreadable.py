"""Data that NumPy can't read are refused by column and cell; rows of a table are asked for by index or mask."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from sklearn_subanneal.tables.row_indices import row_indices
from sklearn_subanneal.tables.unreadable import read_array, refuse_unreadable, within

REFUSED = {
    "a word": ([["1.5"], ["two"]], ValueError, r"X holds 'two', which is no number .*: convert the cells"),
    "a dict": (np.array([[{}], [1]], object), TypeError, r"X holds \{\}.*string or a real number, not 'dict'"),
    "a large integer": (np.array([[1], [10**400]], object), ValueError, r"X holds 10{9}.*too large"),
    "rows of two lengths": ([[1, 2], [3]], ValueError, r"X must be an array with rows of equal length, got \[\[1, 2"),
    "no table": ({"a": [1]}, ValueError, r"X must be an array or a DataFrame, got \{'a': \[1\]\} of type dict"),
    "a complex number": (1j, ValueError, r"X must be an array or a DataFrame, got 1j of type complex"),
    "complex numbers": ([[1j]], ValueError, r"Complex data not supported: X has dtype complex128"),
    "empty categories": (pd.DataFrame({"b": pd.Categorical([None], ["a"])}), ValueError, r"Column 'b' of X holds 'a'"),
    "dates": (np.array([["2020-01-01"]], "M8[D]"), ValueError, r"X has dtype datetime64\[D\], dates"),
    "records": (np.zeros(2, [("a", float)]), ValueError, r"X has dtype .*records"),
    "a column of words": (pd.DataFrame({"a": [1.0], "b": ["x"]}), ValueError, r"Column 'b' of X holds 'x'"),
    "a column of dates": (pl.DataFrame({"b": [datetime.date(2020, 1, 1)]}), ValueError, r"Column 'b' of X holds dates"),
    "wide integers": (pl.DataFrame({"b": [2**100]}, {"b": pl.Int128}), ValueError, r"Column 'b' of X has dtype Int128"),
    "no periods": (pd.DataFrame({"b": pd.PeriodIndex([], freq="D")}), ValueError, r"Column 'b' of X has dtype period"),
    "structs": (pl.DataFrame({"b": [{"a": 1, "c": 2}]}), ValueError, r"Column 'b' of X .*: convert"),
    "sparse columns": (
        pd.DataFrame({"b": pd.arrays.SparseArray([0.0], fill_value=np.nan)}),
        ValueError,
        r"Column 'b' of X is sparse with a fill value other than 0",
    ),
    "equal names": (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, r"X has two columns of the name 'a'"),
    "no columns": (pd.DataFrame(index=[0, 1]), ValueError, r"0 feature\(s\) in X.* minimum of 1 is required"),
}


@pytest.mark.parametrize(("X", "kind", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(X, kind, message):
    with pytest.raises(kind, match=f"(?s){message}"):
        refuse_unreadable(X)


def test_a_column_of_words_of_arrow_is_refused():
    X = pytest.importorskip("pyarrow").table({"a": [1.0], "b": ["x"]})
    with pytest.raises((ValueError, TypeError, AttributeError)) as refused:
        refuse_unreadable(X)
    assert "Column 'b' of X holds 'x'" in str(refused.value)
    refuse_unreadable(X.select(["a"]))


def test_what_is_left_to_the_checks_of_scikit_learn():
    for X in (
        np.array([[np.inf]]),
        np.empty((0, 2)),
        np.zeros(3),
        [[None, 1.0]],
        np.array([["1.5"]]),
        sparse.csr_array(np.eye(2)),
        pd.DataFrame({"a": pd.array([1, None], "Int64"), "b": pd.array([True, False], "boolean")}),
        pd.DataFrame({"a": pd.Categorical([1.5, 2.5])}),
        pl.DataFrame({"a": [1, None]}),
        None,
    ):
        refuse_unreadable(X)


def test_another_remedy_and_name():
    with pytest.raises(ValueError, match=r"y holds 'a', which is no number \(.*\): use a classifier\."):
        refuse_unreadable(["a", "b"], "y", "use a classifier")


def test_arrays_are_read():
    assert read_array([[1, 2]]).shape == (1, 2)
    given = np.zeros((2, 2))
    assert read_array(given) is given
    assert read_array([["a", 1]], objects=True).dtype == object
    with pytest.raises(TypeError, match=r"X holds <NA>.*NaN where one is missing, or pass a DataFrame"):
        read_array(np.array([[pd.NA, 1.0]], object))


def test_cells_too_large():
    assert within("X", np.array([1e30, -1e30]), 1e30).size == 2
    for value in (2e30, -2e30):
        with pytest.raises(ValueError, match=r"X must have no cells beyond 1e\+30, .* got 2e\+30; rescale it"):
            within("X", np.array([0.0, value]), 1e30)


@pytest.mark.parametrize(
    "rows", [3, -1, [0, 3], [-1], 0.5, [0.5], "a", None, [[0]], [True], [[0], [1, 2]], {0}, 10**400]
)
def test_rows_that_are_none(rows):
    with pytest.raises(
        ValueError, match=r"rows must be indices from 0 to 2 of rows of X, or a mask of shape \(3,\), got "
    ):
        row_indices("rows", rows, 3, "X")


def test_rows():
    assert row_indices("rows", 2, 3).tolist() == [2]
    assert row_indices("rows", [], 3).tolist() == []
    assert row_indices("rows", np.array([True, False, True]), 3).tolist() == [0, 2]
    assert row_indices("rows", range(2), 3).tolist() == [0, 1]
