"""Hostile tables: hostile columns in arrays, lists and frames of every kind, and things that are no table at all."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass

import hostile_columns
import numpy as np
import pandas as pd
import polars as pl
from hostile_columns import NUMBERS, OBJECTS, PANDAS, POLARS
from scipy import sparse

DTYPES = ["f2", "f4", "i1", "u1", "i8", "u8", "?", "f8", ">f8", "g", "c16", "S3", "U3", "O"]


@dataclass
class HostileTable:
    """A table and what it is.

    Attributes
    ----------
    about : str
    X : object
    n_rows : int
    """

    about: str
    X: object
    n_rows: int


def hostile_table(rng, n_columns: int | None = None, like: HostileTable | None = None) -> HostileTable:
    """A table, in half of the cases plain in all but its columns; ``like`` suggests the number of its columns."""
    n_rows = int(rng.choice([0, 1, 2, 3, 7, 12, 20], p=[0.03, 0.07, 0.1, 0.1, 0.2, 0.25, 0.25]))
    if n_columns is None:
        n_columns = int(rng.choice([0, 1, 2, 3, 4], p=[0.02, 0.18, 0.3, 0.3, 0.2]))
    kind = str(rng.choice(list(KINDS), p=[weight / sum(WEIGHTS) for weight in WEIGHTS]))
    with np.errstate(all="ignore"):
        about, X = KINDS[kind](rng, n_rows, n_columns)
    return HostileTable(f"{kind} of {n_rows} rows: {about}", X, n_rows)


def numbers(rng, n_rows, n_columns):
    """Names of columns of numbers, and an array of them."""
    chosen = [hostile_columns.pick(rng, NUMBERS) for _ in range(n_columns)]
    X = np.empty((n_rows, n_columns))
    for j, (_, make) in enumerate(chosen):
        X[:, j] = make(rng, n_rows)
    if n_columns > 1 and rng.random() < 0.1:
        X[:, 1] = X[:, 0]
    return ", ".join(name for name, _ in chosen), X


def _layout(rng, n_rows, n_columns):
    about, X = numbers(rng, n_rows, n_columns)
    layout = str(rng.choice(["fortran", "every second", "backwards", "read-only", "memory-mapped", "shared row"]))
    if layout == "fortran":
        X = np.asfortranarray(X)
    elif layout == "every second":
        X = np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2]
    elif layout == "backwards":
        X = X[::-1, ::-1]
    elif layout == "shared row":
        X = np.broadcast_to(X[:1], X.shape)
    elif layout == "read-only" or not X.size:
        X.flags.writeable = False
    else:
        with tempfile.TemporaryFile() as file:
            mapped = np.memmap(file, X.dtype, "w+", shape=X.shape)
        mapped[:] = X
        mapped.flags.writeable = False
        X = mapped
    return f"{layout}, {about}", X


def _dtype(rng, n_rows, n_columns):
    about, X = numbers(rng, n_rows, n_columns)
    dtype = DTYPES[rng.integers(len(DTYPES))]
    return f"{dtype}, {about}", X.astype(dtype)


def _objects(rng, n_rows, n_columns):
    chosen = [hostile_columns.pick(rng, NUMBERS, OBJECTS) for _ in range(n_columns)]
    X = np.empty((n_rows, n_columns), object)
    for j, (_, make) in enumerate(chosen):
        X[:, j] = make(rng, n_rows)
    return ", ".join(name for name, _ in chosen), X if rng.random() < 0.7 else X.tolist()


def _names(rng, n_columns):
    names = [f"column {chr(97 + j)}" for j in range(n_columns)]
    odd = rng.random()
    if odd < 0.04 and n_columns > 1:
        names[1] = names[0]
    elif odd < 0.08 and n_columns:
        names[0] = 0
    elif odd < 0.10 and n_columns:
        names[0] = ("a", 1)
    elif odd < 0.12 and n_columns:
        names[0] = ""
    elif odd < 0.14 and n_columns:
        names[0] = None
    elif odd < 0.16:
        names = list(range(n_columns))
    elif odd < 0.18 and n_columns:
        names[0] = "column a (missing)" if n_columns == 1 else "column b (missing)"
    return names


def _series(values) -> pd.Series:
    try:
        return pd.Series(values)
    except UnicodeEncodeError:
        # With pyarrow pandas makes strings of objects, and half a character cannot be one.
        return pd.Series(values, dtype=object)


def _pandas(rng, n_rows, n_columns):
    chosen = [hostile_columns.pick(rng, NUMBERS, OBJECTS, PANDAS, PANDAS) for _ in range(n_columns)]
    series = [_series(make(rng, n_rows)).reset_index(drop=True) for _, make in chosen]
    frame = pd.concat(series, axis=1) if series else pd.DataFrame(index=range(n_rows))
    frame.columns = _names(rng, n_columns)
    if rng.random() < 0.1:
        frame.index = np.zeros(n_rows, int)
    if rng.random() < 0.03 and n_columns:
        frame.columns = pd.MultiIndex.from_product([["top"], range(n_columns)])
    return ", ".join(name for name, _ in chosen) + f"; names {list(frame.columns)}", frame


def _polars(rng, n_rows, n_columns):
    chosen = [hostile_columns.pick(rng, NUMBERS, POLARS, POLARS) for _ in range(n_columns)]
    frame = pl.DataFrame({f"column {chr(97 + j)}": make(rng, n_rows) for j, (_, make) in enumerate(chosen)})
    return ", ".join(name for name, _ in chosen), frame.lazy() if rng.random() < 0.05 else frame


def _sparse(rng, n_rows, n_columns):
    about, X = numbers(rng, n_rows, n_columns)
    form = str(rng.choice(["csr", "csc", "coo", "lil"]))
    return f"{form}, {about}", sparse.coo_array(X).asformat(form)


def _counts(rng, n_rows, n_columns):
    X = rng.poisson(1.0, (n_rows, n_columns)).astype(float)
    kind = str(rng.choice(["counts", "sparse", "int32", "empty documents", "fractions", "sparse with zeros", "large"]))
    if kind == "empty documents":
        X[::2] = 0.0
    elif kind == "fractions":
        X *= 0.3
    elif kind == "large":
        X *= 10.0 ** rng.integers(5, 300)
    elif kind == "int32":
        X = X.astype(np.int32)
    if kind.startswith("sparse"):
        X = sparse.csr_array(X)
    if kind == "sparse with zeros" and X.nnz:
        X.data[0] = 0.0
    return kind, X


def _no_table(rng, n_rows, n_columns):
    X = rng.normal(size=(n_rows, n_columns))
    pool = {
        "None": None,
        "a word": "table",
        "a number": 3.0,
        "one dimension": X[:, 0] if n_columns else np.zeros(n_rows),
        "three dimensions": X[:, :, None],
        "no dimension": np.array(1.0),
        "ragged": [[1.0, 2.0], [3.0]],
        "a dict": {"a": [1.0, 2.0]},
        "a set": {1.0, 2.0},
        "a generator": (row for row in X.tolist()),
        "a series": pd.Series(np.zeros(n_rows), name="a"),
        "a polars series": pl.Series("a", np.zeros(n_rows)),
        "a structured array": np.zeros(n_rows, [("a", float), ("b", int)]),
        "a masked array": np.ma.masked_array(X, X > 0),
        "a matrix": np.asmatrix(X),
        "documents": ["the cat sat", "on the mat"] * 3,
        "documents in a column": np.array([["the cat sat"], ["on the mat"]] * 3),
        "days": np.full((n_rows, 2), "2020-01-01", "M8[D]"),
        "durations": np.full((n_rows, 2), 1, "m8[s]"),
        "lists of lists of lists": [[[1.0], [2.0]]],
        "an estimator": object(),
        "a class": pd.DataFrame,
        "bytes": b"12",
        "a range": range(5),
    }
    name = list(pool)[rng.integers(len(pool))]
    return name, pool[name]


KINDS = {
    "array": numbers,
    "array by layout": _layout,
    "array by dtype": _dtype,
    "object array": _objects,
    "pandas": _pandas,
    "polars": _polars,
    "sparse": _sparse,
    "counts": _counts,
    "no table": _no_table,
}
WEIGHTS = (30, 8, 8, 6, 26, 12, 2, 3, 5)
