"""with_functions: which columns of a file are functions of others, so that the model has them once."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sklearn.base import BaseEstimator

from sklearn_subanneal.columns.binding import TYPES
from sklearn_subanneal.columns.derived_columns import modelled_once
from sklearn_subanneal.columns.type_choice import choose_type
from sklearn_subanneal.report.column_types import ColumnDescription
from sklearn_subanneal.tables.chosen_type import AUTO
from sklearn_subanneal.tables.schema import read_table

if TYPE_CHECKING:
    import pandas as pd


def with_functions(columns: Sequence[ColumnDescription], frame: pd.DataFrame) -> list[ColumnDescription]:
    """The descriptions of columns, which say of functions of other columns that they are.

    Parameters
    ----------
    columns : sequence of ColumnDescription
    frame : pandas.DataFrame
        The table as it is modelled.
    """
    modelled = [column for column in columns if column.is_modelled]
    if sum(column.is_chosen for column in modelled) == 0 or len(modelled) < 2:
        return list(columns)
    kinds = [AUTO if column.is_chosen else column.kind for column in modelled]
    X = frame[[column.name for column in modelled]]
    with warnings.catch_warnings():
        # What should be dropped has been.
        warnings.simplefilter("ignore", UserWarning)
        read = read_table(BaseEstimator(), X, kinds, types=TYPES, choose=choose_type)
    table, _ = modelled_once(*read, lambda *own: own)
    found = {own.name: own for own in table.columns if own.derivation is not None}
    return [
        replace(column, kind=found[column.name].kind, reason=found[column.name].reason, is_function=True)
        if column.name in found
        else column
        for column in columns
    ]
