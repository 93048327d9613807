"""Column: one feature of a table as `fit` saw it, and the modelled columns that stand for it, its parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sklearn_subanneal.tables.cell_type import CellType
from sklearn_subanneal.tables.cells import Cells, encoded
from sklearn_subanneal.tables.derivation import Derivation
from sklearn_subanneal.tables.spelling import Spelling, spelled_cells

# Integer cells that say whether another cell is missing.
PRESENT, ABSENT, UNKNOWN = 0, 1, -1

Predict = Callable[[int, dict[int, np.ndarray]], tuple[np.ndarray, np.ndarray]]


class Split(Protocol):
    """How a column of the user's table is modelled by several columns.

    The attribute ``split`` of a :class:`CellType` makes one from the training data.

    Attributes
    ----------
    parts : tuple of Column
        The modelled columns. The first is that by which the uncertainty of a cell is measured.
    params : dict of str to dict
        Hyperparameters that the split determines, by the names of parts, as ``feature_params`` has them.
    """

    parts: tuple[Column, ...]
    params: dict[str, dict]

    def separate(self, cells: Cells, unknown: list | None = None) -> list[np.ndarray]:
        """The typed cells of each part; a missing cell is missing in all of them.

        Strings that are no cells of the column are missing and added to ``unknown``; without, they are an error.
        """

    def assigned(self, given: dict) -> dict[str, dict]:
        """Hyperparameters or grids that the user gives for the column, by the names of the parts.

        Raises
        ------
        ValueError
            If they are no hyperparameters of the column.
        """

    def completed(
        self, filled: list[np.ndarray], spreads: list[np.ndarray], predict: Predict
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Predictions of the parts of some cells, and their uncertainty, that suit one another.

        Parameters
        ----------
        filled, spreads : list of ndarray of shape (n_rows,)
            Typed cells of the parts and their uncertainty, each part predicted for itself.
        predict : callable
            ``predict(part, known)`` is the prediction of a part as of ``Ensemble.predict``, given the typed cells
            ``known[other]`` of other parts.

        Returns
        -------
        filled, spreads : list of ndarray of shape (n_rows,)
            The uncertainty of the first part is that of the cell.
        """

    def join(self, arrays: list[np.ndarray], made: np.ndarray, spreads: list[np.ndarray] | None) -> np.ndarray:
        """The cells of the column from those of its parts.

        Parameters
        ----------
        arrays : list of ndarray of shape (n_rows,)
            Typed cells of the parts.
        made : ndarray of bool, shape (n_rows,)
            Cells whose parts were drawn or predicted by a model, each part for itself: they need not agree. Those of
            the other cells are as ``separate`` gave them, and the cell must be the one that was given.
        spreads : list of ndarray of shape (n_rows,), or None
            Uncertainty of the parts where they were predicted.
        """


@dataclass(frozen=True, eq=False)
class Column:
    """One feature as `fit` saw it, or one of its parts.

    Attributes
    ----------
    name : str
        The feature name; "x0", "x1", ... where the data have none.
    type : CellType
        The type of its cells.
    categories : ndarray of shape (n_categories,) or None
        The sorted values of a categorical column, those included that its dtype declares and that do not occur; the
        levels of an ordinal one in their order;
        ``array([False, True])`` for a boolean one.
    dtype : str
        Name of the dtype of the column given to `fit`.
    levels : tuple or None
        All values that a pandas or polars categorical dtype declares, in its own order.
    ordered : bool
        Whether the dtype calls its levels ordered.
    split : Split or None
        How it is modelled by several columns; None: by itself.
    indicator : Column or None
        The boolean column, modelled as well, that says which of its cells are missing.
    reason : str
        Why it has this type.
    revisable : bool
        Whether the values of other columns may show that "real" suits better than the type chosen.
    inferred : bool
        Whether the values chose the type, so that later ones may not suit it.
    lowest : float
        Numbers must be above this, or be among ``points``: the model of the column has no density below.
    points : tuple of float
    spelling : Spelling or None
        If its cells are strings that spell numbers, how they do.
    derivation : Derivation or None
        If it is a function of another column, how: it has no parts then but its indicator.
    is_empty : bool
        Whether no cell had a value: then all of its cells count as missing, in further rows, too.
    """

    name: str
    type: CellType
    categories: np.ndarray | None = None
    dtype: str = "float64"
    levels: tuple | None = None
    ordered: bool = False
    split: Split | None = None
    indicator: Column | None = None
    reason: str = ""
    revisable: bool = False
    inferred: bool = False
    lowest: float = -np.inf
    points: tuple = ()
    spelling: Spelling | None = None
    derivation: Derivation | None = None
    is_empty: bool = False

    @property
    def kind(self) -> str:
        """The name of the type."""
        return self.type.kind

    @property
    def own_parts(self) -> tuple[Column, ...]:
        """The modelled columns that have the values of this one; none if another one has."""
        if self.derivation is not None:
            return ()
        return (self,) if self.split is None else self.split.parts

    @property
    def parts(self) -> tuple[Column, ...]:
        """The modelled columns that stand for this one; the indicator is the last of them."""
        return self.own_parts if self.indicator is None else (*self.own_parts, self.indicator)

    def encode(self, cells: Cells, *, reserved: bool = False) -> tuple[list[np.ndarray], list]:
        """Typed cells of each part, and the values that are no category of the column, or that an inferred type lacks.

        Of a column that is a function of another one: its own typed cells, and the indicator's.

        Parameters
        ----------
        cells : Cells
        reserved : bool, default=False
            Whether such a category has the code n_categories, and not that of a missing cell.
        """
        unknown: list = []
        if self.is_empty:
            cells = Cells(self.name, self.dtype, [], np.full(len(cells.gaps()), -1))
        if self.spelling is not None:
            cells = spelled_cells(cells, self.spelling, unknown if self.inferred else None)
        if self.split is not None:
            arrays = self.split.separate(cells, unknown if self.inferred else None)
        elif self.type.coded:
            codes, _, unknown = encoded(cells, self.categories, reserved=reserved and not self.type.ordered)
            arrays = [codes]
        else:
            arrays = [cells.numbers(self.type, unknown if self.inferred else None)]
        if self.inferred:
            arrays, wrong = self.within_domain(arrays)
            unknown += wrong
        if self.indicator is not None:
            arrays.append(cells.gaps().astype(np.int8))
        return arrays, unknown

    def within_domain(self, arrays: list[np.ndarray]) -> tuple[list[np.ndarray], list]:
        """The cells of the parts, those missing for which a part has no density, and the numbers that these were."""
        own = (self,) if self.split is None else self.split.parts
        for part, array in zip(own, arrays, strict=True):
            if part.lowest > -np.inf and (wrong := (array <= part.lowest) & ~np.isin(array, part.points)).any():
                nothing = [np.array(np.nan if other.dtype.kind == "f" else -1, other.dtype) for other in arrays]
                arrays = [np.where(wrong, *pair) for pair in zip(nothing, arrays, strict=True)]
                return arrays, np.unique(array[wrong]).tolist()
        return arrays, []

    def decode(
        self, arrays: list[np.ndarray], made: np.ndarray | None = None, spreads: list[np.ndarray] | None = None
    ) -> np.ndarray:
        """The typed cells of the column from those of its parts.

        Parameters
        ----------
        arrays : list of ndarray of shape (n_rows,)
            Of each part.
        made : ndarray of bool, shape (n_rows or 1, n_parts), or None
            Cells of the parts that were drawn or predicted by a model. Where the indicator was drawn, and is true, the
            cell is missing. None: no cell was.
        spreads : list of ndarray of shape (n_rows,), or None
            Uncertainty of the parts.
        """
        n_rows = len(arrays[0])
        made = np.zeros((1, len(arrays)), bool) if made is None else made
        made = np.broadcast_to(made, (n_rows, len(arrays)))
        cells = self.joined(arrays, made[:, 0], spreads)
        if self.indicator is None or not made[:, -1].any():
            return cells
        nothing = {"f": np.nan, "M": "NaT"}.get(cells.dtype.kind, -1)
        return np.where(made[:, -1] & (arrays[-1] == ABSENT), np.array(nothing, cells.dtype), cells)

    def joined(self, arrays: list[np.ndarray], made: np.ndarray, spreads: list[np.ndarray] | None) -> np.ndarray:
        """The typed cells of the column from those of its parts, whatever its indicator says.

        Parameters
        ----------
        arrays, spreads
            As of :meth:`decode`.
        made : ndarray of bool, shape (n_rows,)
            Whether the first part was drawn or predicted.
        """
        return arrays[0] if self.split is None else self.split.join(arrays, made, spreads)


def params_of_parts(columns: Sequence[Column], given: Mapping[str, dict] | None) -> dict[str, dict]:
    """``feature_params`` for the parts of columns: those of the user, and those that splits determine.

    Raises
    ------
    ValueError
        If the user gives a hyperparameter that a split determines, or that the split does not assign to a part.
    """
    params = grids_of_parts(columns, given)
    for column in columns:
        if column.split is None:
            continue
        for name, fixed in column.split.params.items():
            own = params.get(name, {})
            if common := set(own) & set(fixed):
                raise ValueError(
                    f"feature_params[{name!r}] has {common.pop()!r}, which the column {column.name!r} determines: "
                    "remove it."
                )
            params[name] = {**own, **fixed}
    return params


def grids_of_parts(columns: Sequence[Column], given: Mapping[str, dict] | None) -> dict[str, dict]:
    """``feature_params`` or ``feature_grids`` with the entries for columns, or their types, assigned to their parts."""
    given = given or {}
    out, whole = dict(given), {column.kind for column in columns if column.split is None}
    for column in columns:
        if column.split is None or not (asked := {column.name, column.kind} & given.keys()):
            continue
        for key in asked:
            if not isinstance(given[key], dict):
                raise ValueError(
                    f"feature_params or feature_grids must have dicts as values, got {given[key]!r} for {key!r}"
                )
        own = {**given.get(column.kind, {}), **out.pop(column.name, {})}
        for name, values in column.split.assigned(own).items():
            if values:
                out[name] = {**values, **out.get(name, {})}
    for kind in {column.kind for column in columns if column.split is not None} - whole:
        out.pop(kind, None)
    return out


def refuse_equal_names(columns: Sequence[Column]):
    """Raise ValueError if a part has the name of another column or part."""
    names = {column.name for column in columns}
    for column in columns:
        for part in column.parts:
            if part is column:
                continue
            if part.name in names:
                raise ValueError(
                    f"Column {column.name!r} has a part {part.name!r}, and another column has that name: rename it."
                )
            names.add(part.name)
