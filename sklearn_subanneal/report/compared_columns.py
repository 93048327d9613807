"""compared_columns: what the columns of a file are beside one another, as estimators see it: functions, other types."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sklearn.base import BaseEstimator

from sklearn_subanneal.columns.binding import TYPES
from sklearn_subanneal.columns.derived_columns import modelled_once
from sklearn_subanneal.columns.joint_real import affordable_covariance
from sklearn_subanneal.columns.joint_types import revised_types
from sklearn_subanneal.columns.type_choice import choose_type
from sklearn_subanneal.report.column_types import ColumnDescription
from sklearn_subanneal.tables.chosen_type import AUTO
from sklearn_subanneal.tables.schema import read_table

if TYPE_CHECKING:
    import pandas as pd


def compared_columns(columns: Sequence[ColumnDescription], frame: pd.DataFrame) -> list[ColumnDescription]:
    """The descriptions of columns whose types were chosen one by one, with what their comparison says of them.

    Parameters
    ----------
    columns : sequence of ColumnDescription
    frame : pandas.DataFrame
        The table as it is modelled.

    Returns
    -------
    columns : list of ColumnDescription
        A function of another column says so. With full covariance, a column may be real since it depends linearly on
        others.
    """
    modelled = [column for column in columns if column.is_modelled]
    if not any(column.is_chosen for column in modelled) or len(modelled) < 2:
        return list(columns)
    kinds = [AUTO if column.is_chosen else column.kind for column in modelled]
    with warnings.catch_warnings():
        # What should be dropped has been set aside.
        warnings.simplefilter("ignore", UserWarning)
        X = frame[[column.name for column in modelled]]
        table, arrays = read_table(BaseEstimator(), X, kinds, types=TYPES, choose=choose_type)
    table, _ = modelled_once(table, arrays, _revised)
    found = {own.name: own for own in table.columns}
    out = []
    for column in columns:
        own = found.get(column.name)
        if own is not None and column.is_chosen and (own.derivation is not None or own.kind != column.kind):
            column = replace(column, kind=own.kind, reason=own.reason, is_function=own.derivation is not None)
        out.append(column)
    return out


def _revised(table, arrays):
    if affordable_covariance(len(arrays[0]), [part.kind for part in table.parts]) == "diag":
        return table, arrays
    return revised_types(table, arrays)
