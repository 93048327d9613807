"""What NumPy can't read as numbers, told by column and cell before scikit-learn's checks convert the data."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from sklearn_subanneal._core.arguments import shortened

# What converting an object may raise; polars has classes of its own for types that NumPy does not have.
FAILURES = (ValueError, TypeError, OverflowError)
REMEDY = "convert the cells to numbers, with NaN where one is missing"


def refuse_unreadable(X, name: str = "X", remedy: str = REMEDY) -> None:
    """Refuse data that can't be converted to an array of floating-point numbers, and say where.

    Shapes, infinity and missing cells are left to scikit-learn, whose messages name them.

    Parameters
    ----------
    X : object
        An array, a sparse matrix, a DataFrame, or anything that NumPy makes an array of.
    name : str
        Of the parameter, for the message.
    remedy : str
        What the user can do.

    Raises
    ------
    ValueError
        If it is no table, has rows of unequal length, equal names, or a cell or column that is no number.
    TypeError
        As of Python, if a cell is of a type that no number can be.

    Examples
    --------
    >>> from sklearn_subanneal.tables.unreadable import refuse_unreadable
    >>> try:
    ...     refuse_unreadable([["1.5"], ["two"]])
    ... except ValueError as error:
    ...     print(str(error).partition(" (")[0])
    X holds 'two', which is no number
    """
    X = nw.to_native(X, pass_through=True)
    if X is None or sparse.issparse(X):
        return
    if nw.dependencies.is_into_dataframe(X):
        refuse_equal_labels(X, name)
        if not len(X.columns):
            raise ValueError(f"Found array with 0 feature(s) in {name} while a minimum of 1 is required; add a column.")
        for column in nw.from_native(X).iter_columns():
            _refuse_column(column, name, remedy)
        return
    array = as_array(X, name)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} has dtype {array.dtype}; {remedy}.")
    if array.dtype.kind in "mMV":
        raise ValueError(f"{name} has dtype {array.dtype}, dates, durations or records: {remedy}.")
    if array.dtype.kind in "OUS":
        _refuse_cells(array, f"{name} holds", remedy)


def as_array(X, name: str = "X", dtype=None) -> np.ndarray:
    """An array of what is given, of at least one dimension.

    Raises
    ------
    ValueError
        If it has rows of unequal length, or is no sequence.
    """
    try:
        array = X if isinstance(X, np.ndarray) else np.asarray(X, dtype)
    except FAILURES as error:
        raise ValueError(
            f"{name} must be an array with rows of equal length, got {shortened(X)} ({error}): give each row as many "
            "cells as the others"
        ) from error
    if array.ndim == 0 and array.dtype.kind not in "biuf":
        raise no_array(X, name)
    return array


def no_array(X, name: str = "X") -> ValueError:
    """What to raise where an array or a DataFrame is wanted; classes of tables that are neither have a ``REMEDY``."""
    remedy = getattr(type(X), "REMEDY", "convert it")
    return ValueError(
        f"{name} must be an array or a DataFrame, got {shortened(X)} of type {type(X).__name__}: {remedy}"
    )


def read_array(X, objects: bool = False):
    """The data of a table that is no DataFrame, after the same checks; lists as arrays.

    Parameters
    ----------
    X : object
    objects : bool, default=False
        Whether cells may be strings and other objects.
    """
    if sparse.issparse(X):
        return X
    is_list = isinstance(X, list | tuple)
    array = as_array(X, dtype=object if objects and is_list else None)
    if array.dtype.kind == "O" and not objects:
        _refuse_cells(array, "X holds", f"{REMEDY}, or pass a DataFrame, whose columns may hold words and dates")
    return array if is_list else X


def within(name: str, values: np.ndarray, most: float) -> np.ndarray:
    """The values, none of them beyond ``most``, where squares leave the range of floating point; else ValueError."""
    if (largest := max(values.max(), -values.min())) > most:
        raise ValueError(
            f"{name} must have no cells beyond {most:g}, whose squares are too large, got {largest:g}; rescale it"
        )
    return values


def refuse_equal_labels(X, name: str = "X") -> None:
    """Raise ValueError if two columns of a DataFrame have one name, by which they could not be told apart."""
    seen = set()
    # The columns of a table of Arrow are its data.
    for label in X.column_names if nw.dependencies.is_pyarrow_table(X) else X.columns:
        if label in seen:
            raise ValueError(f"{name} has two columns of the name {label!r}: rename one of them, or drop it.")
        seen.add(label)


def _refuse_column(column, name, remedy):
    dtype = column.dtype
    if dtype == nw.Boolean or (dtype.is_numeric() and dtype not in (nw.Int128, nw.UInt128)):
        return
    # Scikit-learn makes a sparse matrix of such columns, in which what is not stored is 0.
    if getattr(getattr(column.to_native(), "dtype", None), "fill_value", 0) != 0:
        raise ValueError(f"Column {column.name!r} of {name} is sparse with a fill value other than 0: make it dense.")
    if dtype.is_temporal():
        raise ValueError(f"Column {column.name!r} of {name} holds dates or times ({dtype}): {remedy}.")
    # Of any class: those of polars are none of Python's.
    try:
        is_category = dtype in (nw.Categorical, nw.Enum)
        cells = np.asarray((column.cat.get_categories() if is_category else column).to_numpy())
    except Exception as error:
        raise ValueError(f"Column {column.name!r} of {name} has dtype {dtype}, {error}: {remedy}.") from error
    if cells.ndim != 1:
        raise ValueError(f"Column {column.name!r} of {name} has dtype {dtype}, several values in a cell: {remedy}.")
    if not len(cells) and dtype == nw.Unknown:
        # Of pandas' own types, as periods: without a cell, only the type tells that there is no number.
        raise ValueError(f"Column {column.name!r} of {name} has dtype {column.to_native().dtype}: {remedy}.")
    if cells.dtype.kind not in "biuf":
        _refuse_cells(cells.astype(object), f"Column {column.name!r} of {name} holds", remedy)


def _refuse_cells(array, subject, remedy):
    try:
        array.astype(np.float64)
    except FAILURES as error:
        bad = next((cell for cell in array.ravel().tolist() if not _is_number(cell)), array)
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{subject} {shortened(bad)}, which is no number ({error}): {remedy}.") from error


def _is_number(cell) -> bool:
    try:
        np.array([cell], object).astype(np.float64)
    except FAILURES:
        return False
    return True
