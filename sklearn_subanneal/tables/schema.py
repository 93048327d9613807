"""Table, the schema of a table: reading arrays and DataFrames into typed columns, and writing typed columns back."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sklearn_subanneal.tables.cell_type import CellType
from sklearn_subanneal.tables.cells import Cells, is_missing
from sklearn_subanneal.tables.chosen_type import FROM_DTYPE, ChosenType, declared_types
from sklearn_subanneal.tables.column import Column, refuse_equal_names
from sklearn_subanneal.tables.derived_cells import derived_cells, nothing_like, united_cells
from sklearn_subanneal.tables.empty_columns import cells_as_given, gaps_of
from sklearn_subanneal.tables.missing_indicators import indicated_columns
from sklearn_subanneal.tables.series import pandas_series, polars_series
from sklearn_subanneal.tables.spelling import spelled_cells
from sklearn_subanneal.tables.table_cells import feature_names, read_cells
from sklearn_subanneal.tables.typed_column import typed_column


@dataclass(frozen=True, eq=False)
class Table:
    """The schema of a data set: its columns and its container, without the data.

    Attributes
    ----------
    columns : list of Column
        One for each feature.
    container : {"array", "pandas", "polars"}
        Type of the data that `fit` received.
    labels : list
        The column labels of the container, which pandas allows to be other than strings.
    """

    columns: list[Column]
    container: str
    labels: list

    @property
    def kinds(self) -> list[str]:
        """The kind of each column."""
        return [column.kind for column in self.columns]

    @property
    def names(self) -> list[str]:
        """The name of each column."""
        return [column.name for column in self.columns]

    @property
    def reasons(self) -> dict[str, str]:
        """Why each column has its type, by name."""
        return {column.name: column.reason for column in self.columns}

    @property
    def parts(self) -> list[Column]:
        """The modelled columns: the parts of the first column, those of the second, ..."""
        return [part for column in self.columns for part in column.parts]

    @property
    def places(self) -> list[list[int]]:
        """Where the parts of each column are among all parts; a function of another column shares its parts."""
        ends = np.cumsum([len(column.parts) for column in self.columns]).tolist()
        own = [list(range(end - len(column.parts), end)) for column, end in zip(self.columns, ends, strict=True)]
        of_source = {
            j: own[column.derivation.source][: len(self.modelled(j).own_parts)]
            for j, column in enumerate(self.columns)
            if column.derivation is not None
        }
        return [of_source.get(j, []) + places for j, places in enumerate(own)]

    def modelled(self, j: int) -> Column:
        """The column by which column j is modelled: itself, or the one of which it is a function."""
        derivation = self.columns[j].derivation
        return self.columns[j if derivation is None else derivation.source]

    def encode(self, estimator, X, unseen: str = "missing", without: int | None = None) -> list[np.ndarray]:
        """Type the cells of new data.

        Parameters
        ----------
        estimator : estimator
            The estimator whose `fit` read the table; names and number of features are checked against it.
        X : array-like or DataFrame of shape (n_samples, n_features)
            New data, not necessarily in the container that `fit` was given.
        unseen : {"missing", "novel", "error"}, default="missing"
            How a category is treated that `fit` did not see: as a missing cell, as a value of its own, or as an error.
        without : int or None, default=None
            A column whose cells are taken for missing.

        Returns
        -------
        arrays : list of ndarray of shape (n_samples,)
            Of each part, as of :func:`read_table`. With "novel", a category that `fit` did not see has the code
            n_categories.

        Raises
        ------
        ValueError
            If X does not fit the schema, holds infinity, or holds an unseen category and `unseen` is "error".

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.base import BaseEstimator
        >>> from sklearn_subanneal.columns.binding import KINDS
        >>> from sklearn_subanneal.tables.schema import read_table
        >>> estimator = BaseEstimator()
        >>> table, _ = read_table(estimator, [[0.5, 7], [1.5, 9]], ["real", "categorical"], types=KINDS)
        >>> table.encode(estimator, [[np.nan, 9], [0, 8]])
        [array([nan,  0.]), array([ 1, -1], dtype=int8)]
        >>> table.encode(estimator, [[np.nan, 9], [0, 8]], unseen="novel")
        [array([nan,  0.]), array([1, 2], dtype=int8)]
        """
        if unseen not in ("missing", "novel", "error"):
            raise ValueError(f'unseen must be "missing", "novel" or "error", got {unseen!r}.')
        typed, strangers, _ = self._typed(estimator, X, unseen)
        if without is not None:
            typed[without] = [nothing_like(part) for part in typed[without]]
        arrays, contradictions = united_cells(self.columns, typed)
        if contradictions and unseen != "error":
            listed = "; ".join(text for text, _ in contradictions.values())
            warnings.warn(
                f"X contradicts functions that columns were of one another in fit: {listed}. Such "
                "cells of the first column count as missing. To have them modelled, declare its type in feature_types.",
                UserWarning,
                stacklevel=4,
            )
        if contradictions and unseen == "error":
            listed = "; ".join(text for text, _ in contradictions.values())
            raise ValueError(f"X contradicts functions that columns were of one another in fit: {listed}. Correct it.")
        if strangers and unseen == "error":
            raise ValueError(
                f"X holds values that fit did not see: {'; '.join(strangers)}. "
                'Fit on data that hold them, declare them as levels of a categorical dtype, or set unseen="novel" or '
                '"missing".'
            )
        return arrays

    def gaps(self, estimator, X, unseen: str = "missing") -> np.ndarray:
        """Which cells of X are missing, (n_samples, n_features), with the parameters of :meth:`encode`."""
        typed = self._typed(estimator, X, unseen)[0]
        return np.column_stack([gaps_of(column, j, typed[j][0], X) for j, column in enumerate(self.columns)])

    def impossible(self, estimator, X) -> np.ndarray:
        """Which cells of X no such column can hold, or contradict another column, bool (n_samples, n_features)."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            typed, _, found = self._typed(estimator, X, "novel")
        out = np.zeros((len(typed[0][0]), len(self.columns)), bool)
        for j, wrong in found.items():
            out[:, j] = wrong
        for j, (_, wrong) in united_cells(self.columns, list(typed))[1].items():
            source = self.columns[j].derivation.source
            out[:, j] |= wrong
            out[:, source] |= wrong & ~is_missing(typed[source][0])
        return out

    def _typed(self, estimator, X, unseen) -> tuple[list[list[np.ndarray]], list[str], dict[int, np.ndarray]]:
        """The typed cells of X column by column, what ``fit`` did not see, and which cells no such column can have."""
        _, _, cells = read_cells(estimator, X, self.names, objects=self.container != "array")
        typed, strangers, impossible = [], [], {}
        for j, (column, cell) in enumerate(zip(self.columns, cells, strict=True)):
            parts, unknown = column.encode(cell, reserved=unseen == "novel")
            if unknown:
                listed = ", ".join(map(repr, unknown[:5])) + (", ..." if len(unknown) > 5 else "")
                strangers.append(f"{listed} in column {column.name!r}")
                if not column.type.coded:
                    read = cell if column.spelling is None else spelled_cells(cell, column.spelling, [])
                    impossible[j] = cell.among(unknown) | read.among(unknown)
                if not column.type.coded and unseen != "error":
                    warnings.warn(
                        f"Column {column.name!r} was {column.kind} in fit, but holds {listed}: these cells count as "
                        "missing. To have them modelled, declare another type in feature_types.",
                        UserWarning,
                        stacklevel=5,
                    )
            typed.append(parts)
        return typed, strangers, impossible

    def decode(
        self,
        arrays: Sequence[np.ndarray],
        like=None,
        made: np.ndarray | None = None,
        spreads: Sequence[np.ndarray] | None = None,
    ):
        """Put typed arrays back into the container that `fit` was given.

        Missing cells come back as NaN, NA or null, and columns in the dtype they had where it can hold the values:
        integers modelled as real are floating, and in pandas integers with missing cells are floating too,
        and booleans with missing cells nullable. Dates that were strings or objects come back as dates.

        Parameters
        ----------
        arrays : sequence of ndarray of shape (n_samples,)
            One typed array for each part.
        like : array-like or DataFrame of n_samples rows, default=None
            If this and the result are of pandas, the result has its row labels.
        made, spreads
            Which cells of the parts a model has made, and their uncertainty; see :meth:`Column.decode`.

        Returns
        -------
        X : ndarray of float64, pandas.DataFrame or polars.DataFrame of shape (n_samples, n_features)
            The table.

        Examples
        --------
        >>> from sklearn.base import BaseEstimator
        >>> from sklearn_subanneal.columns.binding import KINDS
        >>> from sklearn_subanneal.tables.schema import read_table
        >>> table, arrays = read_table(BaseEstimator(), [[0.5, 7], [1.5, 9]], ["real", "categorical"], types=KINDS)
        >>> table.decode(arrays)
        array([[0.5, 7. ],
               [1.5, 9. ]])
        """
        typed, given = [], {}
        for j, (column, at) in enumerate(zip(self.columns, self.places, strict=True)):
            if column.is_empty:
                given[j] = cells_as_given(column, j, len(arrays[0]), self.container, like)
            parts, own = [arrays[p] for p in at], None if made is None else made[:, at]
            deviations = None if spreads is None else [spreads[p] for p in at]
            if column.derivation is not None:
                is_made = np.broadcast_to(False if own is None else own[:, 0], len(parts[0]))
                source = self.modelled(j).joined(parts, is_made, deviations)
                parts = [derived_cells(column, j, source, like), parts[-1]]
                own = None if own is None else own[:, [0, -1]]
            typed.append(column.decode(parts, own, deviations))
        if self.container == "pandas":
            import pandas as pd

            frame = pd.DataFrame(dict(enumerate(self._written(pandas_series, typed, given))))
            frame.columns = self.labels
            return frame.set_axis(like.index) if hasattr(like, "iloc") else frame
        if self.container == "polars":
            import polars as pl

            return pl.DataFrame(self._written(polars_series, typed, given))
        return np.column_stack(self._written(_numbers, typed, given))

    def _written(self, write, typed, given) -> list:
        """The typed columns as ``write`` gives them, but those that are given."""
        pairs = enumerate(zip(self.columns, typed, strict=True))
        return [given[j] if j in given else write(column, array) for j, (column, array) in pairs]


def _numbers(column: Column, array: np.ndarray) -> np.ndarray:
    """A typed column as floats, NaN where missing."""
    numbers = np.array(array if column.categories is None else column.categories[array], dtype=np.float64)
    numbers[is_missing(array)] = np.nan
    return numbers


def read_table(
    estimator,
    X,
    feature_types=FROM_DTYPE,
    *,
    types: Mapping[str, CellType],
    choose: Callable[[Cells], ChosenType] | None = None,
    missing_indicator=None,
    keep_empty: bool = False,
) -> tuple[Table, list[np.ndarray]]:
    """Learn the schema of the data given to `fit`, and type their cells.

    NaN, None, NA, NaT and null are missing. Sets ``n_features_in_`` and, where all column names are strings,
    ``feature_names_in_``, in scikit-learn's way.

    Parameters
    ----------
    estimator : estimator
        The estimator that is being fitted.
    X : array-like or DataFrame (pandas, polars) of shape (n_samples, n_features)
        The data. Arrays must be numeric; DataFrames may hold strings, categories, booleans and numbers.
    feature_types : {"from_dtype", "auto"}, sequence of str of length n_features, or dict, default="from_dtype"
        "from_dtype" makes numbers "real", booleans "boolean", strings and categories "categorical", dates "datetime".
        "auto" has each type chosen by ``choose``. A sequence has one of "real", "categorical", "boolean", "count",
        "cyclic", "ordinal", ... (the keys of ``types`` that may be declared), "auto" or "from_dtype" for each feature;
        a dict goes from a name or an index (the name wins) to one of them, and the features it does not mention have
        the rule that is the default of estimators (without ``choose``, "from_dtype"). The levels of an ordinal column
        are those that its ordered dtype declares, or the numbers that occur.
    types : mapping of str to CellType
        The types of columns that there are.
    choose : callable, Cells -> ChosenType, or None
        The choice of "auto"; None: that may not be given.
    missing_indicator : default=None
        The columns that have an indicator of missing cells; see
        :func:`~sklearn_subanneal.tables.missing_indicators.indicated_columns`.
    keep_empty : bool, default=False
        Whether columns without a value are kept, and not refused.

    Returns
    -------
    table : Table
        The schema.
    arrays : list of ndarray of shape (n_samples,)
        For each feature, or each of its parts, contiguous: float64 with NaN for missing if real (possibly a read-only
        view of X); codes, with -1 for missing, of the smallest of int8, int16 and int32 if categorical, ordinal or
        boolean; int32 with -1 for missing if count; float64 if cyclic, semicontinuous or skewed.

    Raises
    ------
    ValueError
        If X is not a table that scikit-learn accepts, holds infinity, has a column with values that its type does not
        admit or, unless ``keep_empty``, without any value, or if `feature_types` does not fit X.
    TypeError
        If a column holds unhashable objects, or an array cells that are neither string nor number.

    Warns
    -----
    UserWarning
        If ``choose`` has advice, such as that a column of names should be dropped.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.base import BaseEstimator
    >>> from sklearn_subanneal.columns.binding import KINDS
    >>> from sklearn_subanneal.tables.schema import read_table
    >>> X = pd.DataFrame({"size": [1.5, None], "colour": ["red", "blue"], "visits": [3, 0]})
    >>> table, arrays = read_table(BaseEstimator(), X, {"visits": "count"}, types=KINDS)
    >>> table.kinds
    ['real', 'categorical', 'count']
    >>> arrays
    [array([1.5, nan]), array([1, 0], dtype=int8), array([3, 0], dtype=int32)]
    """
    container, labels, cells = read_cells(estimator, X)
    names = feature_names(estimator)
    columns, arrays, gaps = [], [], []
    declared = declared_types(feature_types, names, [kind for kind, model in types.items() if model.declared], choose)
    for given, cell in zip(declared, cells, strict=True):
        column, parts, missing = typed_column(given, cell, types, choose)
        if column.is_empty and not keep_empty:
            raise ValueError(
                f"Column {column.name!r} has no value, all its cells are missing: drop it, or fit on more rows."
            )
        columns.append(column)
        arrays.append(parts)
        gaps.append(None if missing_indicator is None else missing)
    for j in indicated_columns(missing_indicator, names, gaps):
        boolean = types["boolean"]
        indicator = Column(f"{names[j]} (missing)", boolean, np.array(boolean.categories), "bool")
        columns[j] = replace(columns[j], indicator=indicator)
        arrays[j].append(gaps[j].astype(boolean.dtype))
    refuse_equal_names(columns)
    return Table(columns, container, labels), [part for parts in arrays for part in parts]
