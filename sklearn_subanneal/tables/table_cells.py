"""read_cells: the columns of an array or a DataFrame, read one by one; their names."""

from __future__ import annotations

from collections.abc import Iterator

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from sklearn_subanneal.tables.cells import Cells, array_cells, object_cells, pandas_cells, polars_cells, unsupported
from sklearn_subanneal.tables.unreadable import read_array, refuse_equal_labels


def feature_names(estimator) -> list[str]:
    """The names of the columns of the data that an estimator was given, "x0", "x1", ... where they have none."""
    if hasattr(estimator, "feature_names_in_"):
        return estimator.feature_names_in_.tolist()
    return [f"x{j}" for j in range(estimator.n_features_in_)]


def read_cells(estimator, X, names=None, objects=False) -> tuple[str, list, Iterator[Cells]]:
    """Validate X, and give its container, its column labels and its columns one by one.

    `names` are the columns' names after `fit` and None in it; `objects` admits strings in arrays.
    """
    X, reset = nw.to_native(X, pass_through=True), names is None
    if nw.dependencies.is_into_dataframe(X):
        refuse_equal_labels(X)
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        check_array(np.broadcast_to(False, X.shape), dtype=None, ensure_all_finite=False, estimator=estimator)
        if nw.from_native(X).implementation.is_polars():
            container, labels, read, columns = "polars", X.columns, polars_cells, X.iter_columns()
        else:
            X = nw.from_native(X).to_pandas()
            container, labels, read = "pandas", X.columns.tolist(), pandas_cells
            columns = (X.iloc[:, j] for j in range(X.shape[1]))
        cells = map(read, names or feature_names(estimator), columns)
        return container, labels, _finite(cells)
    X = read_array(X, objects)
    if objects and isinstance(X, np.ndarray) and X.dtype.kind in "OU":
        X = validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=False)
        cells = (object_cells(name, "object", column) for name, column in zip(names, X.T.tolist(), strict=True))
        return "array", names, _finite(cells)
    X = validate_data(estimator, X, reset=reset, dtype="numeric", ensure_all_finite=False)
    names = names or feature_names(estimator)
    if X.dtype.kind not in "biuf":
        raise unsupported(names[0], X.dtype)
    return "array", names, _finite(map(array_cells, names, X.T))


def column_cells(X, j: int, name: str) -> Cells:
    """One column of a table that :func:`read_cells` has accepted."""
    X = nw.to_native(X, pass_through=True)
    if nw.dependencies.is_into_dataframe(X):
        frame = nw.from_native(X)
        if frame.implementation.is_polars():
            return polars_cells(name, X.to_series(j))
        return pandas_cells(name, frame.to_pandas().iloc[:, j])
    X = read_array(X, True)
    if isinstance(X, np.ndarray) and X.dtype.kind in "OU":
        return object_cells(name, "object", X[:, j].tolist())
    return array_cells(name, np.asarray(X)[:, j])


def _finite(cells: Iterator[Cells]) -> Iterator[Cells]:
    """Refuse infinity, in scikit-learn's words and with the column."""
    for cell in cells:
        if np.isinf(cell.floats()).any():
            raise ValueError(
                f"Input X contains infinity or a value too large for dtype('float64'), in column {cell.name!r}: "
                "correct such cells, or leave them empty (NaN)."
            )
        yield cell
