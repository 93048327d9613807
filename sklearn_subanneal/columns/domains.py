"""Which numbers the models of columns have a density for: a logarithm takes those above a limit alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.tables.schema import Table


def with_domains(table: Table, models: Sequence[ColumnModel]) -> Table:
    """The table, whose columns know the least number that they may hold.

    A column of amounts that was above 0 in ``fit`` is modelled by its logarithm. Where new rows hold a 0, it counts as
    missing if the type was inferred.

    Parameters
    ----------
    table : Table
    models : sequence of ColumnModel
        Of its parts.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.base import BaseEstimator
    >>> from sklearn_subanneal.columns.binding import KINDS, bind_table
    >>> from sklearn_subanneal.columns.domains import with_domains
    >>> from sklearn_subanneal.tables.schema import read_table
    >>> table, arrays = read_table(BaseEstimator(), [[1.0], [2.5], [70.0]], ["skewed"], types=KINDS)
    >>> float(with_domains(table, bind_table(table, arrays)).columns[0].lowest)
    0.0
    """
    if not table.columns:
        # Documents.
        return table
    own = {}
    for model in models:
        lowest = np.broadcast_to(model.transform.lowest, len(model.sources))
        points = tuple(getattr(model, "atoms", ()))
        own |= {part: {"lowest": float(low), "points": points} for part, low in zip(model.sources, lowest, strict=True)}
    columns = []
    for column, places in zip(table.columns, table.places, strict=True):
        if column.derivation is not None:
            columns.append(column)
        elif column.split is None:
            columns.append(replace(column, **own[places[0]]))
        else:
            parts = tuple(replace(part, **own[p]) for part, p in zip(column.split.parts, places, strict=False))
            columns.append(replace(column, split=replace(column.split, parts=parts)))
    return replace(table, columns=columns)
