"""Integers beyond 2^53 in columns of reals: which they are, and that they are put back as they were."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sklearn_subanneal.columns.binding import KINDS
from sklearn_subanneal.tables.cells import object_cells, pandas_cells, polars_cells
from sklearn_subanneal.tables.column import Column
from sklearn_subanneal.tables.long_integers import LongIntegers, long_cells, may_be_long

LONG = 2**53 + 1
MOST = 2**63 - 1


def column(dtype, kind="real", **given):
    return Column("id", KINDS[kind], dtype=dtype, **given)


def test_which_they_are():
    assert long_cells(pandas_cells("id", pd.Series([2**53, LONG, -LONG, 3]))).tolist() == [False, True, True, False]
    assert long_cells(pandas_cells("id", pd.Series([LONG, None], dtype="Int64"))).tolist() == [True, False]
    assert long_cells(polars_cells("id", pl.Series([2**64 - 1, None], dtype=pl.UInt64))).tolist() == [True, False]
    assert long_cells(object_cells("id", "object", [None, LONG, 1e300, "x", True])).tolist() == [
        False,
        True,
        *[False] * 3,
    ]
    assert not long_cells(pandas_cells("id", pd.Series([1e300, 2.0]))).any()


def test_columns_that_may_have_some():
    assert all(may_be_long(column(dtype)) for dtype in ("int64", "UInt64", "int64[pyarrow]", "object"))
    assert not any(may_be_long(column(dtype)) for dtype in ("float64", "Float64", "int32", "str", "Object"))
    # Codes are exact.
    assert not may_be_long(column("int64", "categorical")) and not may_be_long(column("int64", "count"))
    assert not may_be_long(column("int64", is_empty=True))


@pytest.mark.parametrize("dtype", ["int64", "Int64", "int64[pyarrow]", "object"])
def test_filled_cells_are_whole_numbers_in_the_range(dtype):
    cells = object_cells("id", "object", [LONG, None, None, MOST, None, 7])
    filled = pd.Series([float(LONG), 1e19, 2.25, float(MOST), -1e19, 7.0], index=list("abcdef"))
    out = LongIntegers.of(column(dtype), cells).in_pandas(filled)
    assert out.dtype == dtype and out.index.equals(filled.index)
    if dtype == "object":
        assert out.tolist() == [LONG, 10**19, 2.25, MOST, -(10**19), 7]
    else:
        assert out.tolist() == [LONG, int(np.nextafter(2.0**63, 0.0)), 2, MOST, -(2**63), 7]


def test_filled_cells_of_polars():
    cells = polars_cells("id", pl.Series([LONG, None, None, 2**64 - 1], dtype=pl.UInt64))
    out = LongIntegers.of(column("UInt64"), cells).in_polars(pl.Series("id", [float(LONG), -5.0, None, 2.0**64]))
    assert out.dtype == pl.UInt64 and out.name == "id" and out.to_list() == [LONG, 0, None, 2**64 - 1]


def test_cells_that_are_still_missing():
    cells, filled = object_cells("id", "object", [LONG, None]), pd.Series([float(LONG), np.nan])
    out = LongIntegers.of(column("Int64"), cells).in_pandas(filled)
    assert out.dtype == "Int64" and out[0] == LONG and out[1] is pd.NA
    # There is no place for them among integers of NumPy.
    assert LongIntegers.of(column("int64"), cells).in_pandas(filled).equals(filled)


def test_cells_that_the_dtype_cannot_hold():
    assert LongIntegers.of(column("int64"), object_cells("id", "object", [2**64 - 1, 3])) is None
    assert LongIntegers.of(column("uint64"), pandas_cells("id", pd.Series([LONG, -LONG]))) is None
    # Rounded, 2.5 would be another number.
    assert LongIntegers.of(column("int64"), object_cells("id", "object", [LONG, 2.5])) is None
    assert LongIntegers.of(column("object"), object_cells("id", "object", [LONG, 2.5])).values.tolist() == [LONG]
