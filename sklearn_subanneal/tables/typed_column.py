"""typed_column: one column of training data with its type, and its typed cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from sklearn_subanneal.tables.cell_type import CellType
from sklearn_subanneal.tables.cells import Cells, encoded
from sklearn_subanneal.tables.chosen_type import AUTO, ChosenType, typed_by
from sklearn_subanneal.tables.column import Column
from sklearn_subanneal.tables.empty_columns import empty_column
from sklearn_subanneal.tables.ordinal_levels import ordered_levels
from sklearn_subanneal.tables.spelling import spelled_cells


def typed_column(
    given: str, cells: Cells, types: Mapping[str, CellType], choose: Callable[[Cells], ChosenType] | None
) -> tuple[Column, list[np.ndarray], np.ndarray]:
    """The column, the typed cells of its parts but the indicator, and which cells are missing.

    Parameters
    ----------
    given : str
        Its type, or the rule by which it is chosen.
    cells : Cells
    types, choose
        As of :func:`~sklearn_subanneal.tables.schema.read_table`.
    """
    chosen = typed_by(given, cells, choose)
    cells = cells if chosen.spelling is None else spelled_cells(cells, chosen.spelling)
    model, missing = types[chosen.kind], cells.gaps()
    if missing.all():
        return *empty_column(cells, types), missing
    column = Column(cells.name, model, None, cells.dtype, cells.levels, cells.ordered, reason=chosen.reason)
    column = replace(column, spelling=chosen.spelling, revisable=chosen.revisable, inferred=given == AUTO)
    if model.split is not None:
        column = replace(column, split=model.split(cells, types))
        return column, column.encode(cells)[0], missing
    if model.coded:
        codes, categories, _ = encoded(cells, ordered_levels(cells) if model.ordered else None)
        return replace(column, categories=categories), [codes], missing
    categories = None if model.categories is None else np.array(model.categories)
    return replace(column, categories=categories), [cells.numbers(model)], missing
