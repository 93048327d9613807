"""Columns that a table may have and few tests think of: constant, empty, huge, denormal, of objects, of every dtype."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl

NAN, INF = np.nan, np.inf
DAY = np.datetime64("2020-02-29")


def _with(values, cell, rng):
    """Values of which one is replaced."""
    values = np.array(values, float)
    if len(values):
        values[rng.integers(len(values))] = cell
    return values


def _cycle(values, n):
    """The first n of values that are repeated as often as needed."""
    return [values[i % len(values)] for i in range(n)]


def _objects(values, n):
    column = np.empty(n, object)
    column[:] = _cycle(values, n)
    return column


# Functions of a random generator and the number of rows: numbers that any array can hold.
NUMBERS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "two groups": lambda rng, n: rng.normal(size=n) + 8.0 * rng.integers(2, size=n),
    "few levels": lambda rng, n: rng.integers(3, size=n).astype(float),
    "counts": lambda rng, n: rng.poisson(3.0, n).astype(float),
    "bits": lambda rng, n: rng.integers(2, size=n).astype(float),
    "gaps": lambda rng, n: np.where(rng.random(n) < 0.5, NAN, rng.normal(size=n)),
    "constant": lambda rng, n: np.full(n, 0.1),
    "zeros": lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, -0.0),
    "empty": lambda rng, n: np.full(n, NAN),
    "one value": lambda rng, n: _with(np.full(n, NAN), 7.0, rng),
    "one outlier": lambda rng, n: _with(rng.normal(size=n), 1e300, rng),
    "huge": lambda rng, n: 1e300 * rng.normal(size=n),
    "largest": lambda rng, n: np.where(rng.random(n) < 0.5, 1.0, -1.0) * np.finfo(float).max,
    "constant and huge": lambda rng, n: np.full(n, 1.7e308),
    "scaled float32": lambda rng, n: (1e38 * rng.normal(size=n).clip(-3, 3)).astype(np.float32).astype(float),
    "tiny": lambda rng, n: 1e-300 * rng.normal(size=n),
    "denormal": lambda rng, n: 5e-324 * rng.integers(4, size=n),
    "all scales": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.uniform(-300, 300, n),
    "narrow": lambda rng, n: np.nextafter(1.0, np.where(rng.random(n) < 0.5, 2.0, 0.0)),
    "far and narrow": lambda rng, n: 1e15 + rng.integers(2, size=n),
    "heavy tails": lambda rng, n: rng.standard_cauchy(n) ** 3,
    "large counts": lambda rng, n: np.floor(2.0**31 * rng.random(n)),
    "counts beyond int64": lambda rng, n: np.floor(2.0**70 * rng.random(n)),
    "negative counts": lambda rng, n: -rng.poisson(3.0, n).astype(float),
    "atom and rest": lambda rng, n: np.where(rng.random(n) < 0.6, 0.0, rng.lognormal(size=n)),
    "skewed": lambda rng, n: rng.lognormal(0.0, 3.0, n),
    "sequence": lambda rng, n: np.arange(n, dtype=float),
    "an infinity": lambda rng, n: _with(rng.normal(size=n), INF, rng),
    "a negative infinity": lambda rng, n: _with(rng.normal(size=n), -INF, rng),
}
# Also of Python objects, which object arrays and both kinds of frames can hold.
OBJECTS = {
    "words": lambda rng, n: _objects(["red", "green", "blue"], n),
    "a word and numbers": lambda rng, n: _objects([1, "two", 3.0], n),
    "numerals": lambda rng, n: _objects(["1.5", "2", "-3e2"], n),
    "odd numerals": lambda rng, n: _objects(["1,234", "1e999", "nan", "inf", " 7 ", "0x1f", "1_000"], n),
    "numerals of other people": lambda rng, n: _objects(["1.200,50 €", "(3,5)", "<0,5", "1,2 Mio", "-", "9" * 400], n),
    "clock times": lambda rng, n: _objects(["08:15", "26:15:00", "2 PM", "1h 20m", "PT90M", "99999:59", "n/a"], n),
    "months": lambda rng, n: _objects(["Q1 2021", "2021-03", "4. März 2021", "9999-12", "0000-01"], n),
    "empty words": lambda rng, n: _objects(["", " ", "\0", "\n"], n),
    "words of any script": lambda rng, n: _objects(["é", "e\u0301", "\U0001f600", "x" * 5000, "{}", "%s"], n),
    "half a character": lambda rng, n: _objects(["\ud800", "a"], n),
    "Nones": lambda rng, n: _objects([None], n),
    "None and numbers": lambda rng, n: _objects([None, 1.0, 2], n),
    "truths and None": lambda rng, n: _objects([True, False, None], n),
    "integers beyond floats": lambda rng, n: _objects([10**400, 1, 2], n),
    "integers beyond int64": lambda rng, n: _objects([2**64, 1, 2], n),
    "decimals": lambda rng, n: _objects([Decimal("1.1"), Decimal("NaN"), Decimal("1e400")], n),
    "fractions": lambda rng, n: _objects([Fraction(1, 3), Fraction(10**400, 3)], n),
    "complex numbers": lambda rng, n: _objects([1j, 2.0], n),
    "bytes": lambda rng, n: _objects([b"a", b"\xff"], n),
    "lists": lambda rng, n: _objects([[1], [2, 3]], n),
    "tuples": lambda rng, n: _objects([(1, 2), (1, [2])], n),
    "dicts": lambda rng, n: _objects([{}, {"a": 1}], n),
    "arrays": lambda rng, n: _objects([np.zeros(2), np.zeros((0, 3))], n),
    "days": lambda rng, n: _objects([datetime.date(2020, 2, 29), datetime.date(1, 1, 1), None], n),
    "moments": lambda rng, n: _objects([datetime.datetime.max, datetime.datetime(2020, 1, 1), pd.NaT], n),
    "times": lambda rng, n: _objects([datetime.time(1, 2), datetime.time(3)], n),
    "mixed zones": lambda rng, n: _objects(
        [datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)], n
    ),
    "numpy scalars": lambda rng, n: _objects([np.float32(1), np.int8(2), np.str_("a"), np.datetime64("NaT")], n),
    "missing of all kinds": lambda rng, n: _objects([None, NAN, pd.NA, pd.NaT, "a"], n),
    "classes": lambda rng, n: _objects([int, str, len], n),
}


def _dates(n):
    return DAY + np.arange(n).astype("m8[D]")


# Also in the dtypes of pandas.
PANDAS = {
    "category": lambda rng, n: pd.Categorical(_cycle(["a", "b"], n), categories=["a", "b", "never"]),
    "category of numbers": lambda rng, n: pd.Categorical(_cycle([1.5, 2.5], n)),
    "empty category": lambda rng, n: pd.Categorical([None] * n, categories=["a"]),
    "ordered category": lambda rng, n: pd.Categorical(_cycle(["lo", "hi"], n), ["lo", "mid", "hi"], ordered=True),
    "ordered numbers": lambda rng, n: pd.Categorical(_cycle([3, 1], n), [3, 1, 2], ordered=True),
    "nullable integers": lambda rng, n: pd.array(_cycle([1, None, 2**62], n), "Int64"),
    "nullable bytes": lambda rng, n: pd.array(_cycle([1, None, 255], n), "UInt8"),
    "nullable floats": lambda rng, n: pd.array(_cycle([1.5, None], n), "Float32"),
    "nullable truths": lambda rng, n: pd.array(_cycle([True, None, False], n), "boolean"),
    "nothing nullable": lambda rng, n: pd.array([None] * n, "Int64"),
    "strings": lambda rng, n: pd.array(_cycle(["a", None, ""], n), "string"),
    "dates": lambda rng, n: _dates(n).astype("M8[s]"),
    "dates and gaps": lambda rng, n: pd.to_datetime(_cycle(["2020-01-01", None], n)),
    "nanoseconds": lambda rng, n: pd.to_datetime(_cycle(["1677-09-22", "2262-04-11"], n)).astype("M8[ns]"),
    "far dates": lambda rng, n: np.array(_cycle(["-20000-01-01", "30000-01-01"], n), "M8[s]"),
    "farthest dates": lambda rng, n: pd.array(np.array(_cycle([2**62, -(2**62)], n), "i8").view("M8[s]")),
    "zoned dates": lambda rng, n: pd.to_datetime(_dates(n).astype("M8[s]")).tz_localize("Europe/Paris"),
    "durations": lambda rng, n: np.arange(n).astype("m8[s]"),
    "periods": lambda rng, n: pd.period_range("2020-01", periods=n, freq="M"),
    "intervals": lambda rng, n: pd.interval_range(0, n) if n else pd.IntervalIndex([]),
    "sparse numbers": lambda rng, n: pd.arrays.SparseArray(np.arange(n) % 2 * 1.0),
    "half floats": lambda rng, n: (65504.0 * rng.random(n)).astype(np.float16),
    "single floats": lambda rng, n: (3e38 * rng.random(n)).astype(np.float32),
    "small integers": lambda rng, n: rng.integers(-128, 128, n).astype(np.int8),
    "large integers": lambda rng, n: rng.integers(2**63 - 5, 2**63, n, dtype=np.uint64),
    "truths": lambda rng, n: rng.random(n) < 0.5,
    "complex dtype": lambda rng, n: np.full(n, 1j),
}
# And of polars.
POLARS = {
    "null": lambda rng, n: pl.Series([None] * n, dtype=pl.Null),
    "strings": lambda rng, n: pl.Series(_cycle(["a", None, ""], n), dtype=pl.String),
    "categorical": lambda rng, n: pl.Series(_cycle(["a", "b", None], n), dtype=pl.Categorical),
    "enum": lambda rng, n: pl.Series(_cycle(["a", "b"], n), dtype=pl.Enum(["b", "a", "never"])),
    "decimals": lambda rng, n: pl.Series(_cycle([Decimal("1.10"), None], n), dtype=pl.Decimal(10, 2)),
    "days": lambda rng, n: pl.Series(_cycle([datetime.date(2020, 2, 29), None], n), dtype=pl.Date),
    "moments": lambda rng, n: pl.Series(_cycle([datetime.datetime(2020, 2, 29)], n), dtype=pl.Datetime("us", "UTC")),
    "durations": lambda rng, n: pl.Series([datetime.timedelta(1)] * n, dtype=pl.Duration),
    "times": lambda rng, n: pl.Series([datetime.time(1)] * n, dtype=pl.Time),
    "lists": lambda rng, n: pl.Series([[1.0]] * n, dtype=pl.List(pl.Float64)),
    "structs": lambda rng, n: pl.Series([{"a": 1}] * n, dtype=pl.Struct({"a": pl.Int64})),
    "binary": lambda rng, n: pl.Series([b"a"] * n, dtype=pl.Binary),
    "objects": lambda rng, n: pl.Series([Fraction(1, 3)] * n, dtype=pl.Object),
    "integers": lambda rng, n: pl.Series(_cycle([1, None, 2**40], n), dtype=pl.Int64),
    "bytes": lambda rng, n: pl.Series(_cycle([0, 255], n), dtype=pl.UInt8),
    "wide integers": lambda rng, n: pl.Series(_cycle([0, 2**100], n), dtype=pl.Int128),
    "single floats": lambda rng, n: pl.Series(_cycle([3e38, NAN, None], n), dtype=pl.Float32),
    "truths": lambda rng, n: pl.Series(_cycle([True, None], n), dtype=pl.Boolean),
}
# As often as all the rest together: otherwise nearly every table would be refused.
PLAIN = ("normal", "two groups", "few levels", "counts", "bits", "gaps", "atom and rest", "skewed")


def pick(rng, *pools: dict):
    """The name and the function of a column, half of the time a plain one."""
    if rng.random() < 0.5:
        name = PLAIN[rng.integers(len(PLAIN))]
        return name, NUMBERS[name]
    pool = {f"{k}{name}": make for k, pool in enumerate(pools) for name, make in pool.items()}
    name = list(pool)[rng.integers(len(pool))]
    return name[1:], pool[name]
