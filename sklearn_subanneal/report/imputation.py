"""Imputation of the missing cells of a table, with the uncertainty of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal.report.source import Source

if TYPE_CHECKING:
    import pandas as pd

    from sklearn_subanneal.estimators import CrossCat


@dataclass(frozen=True, eq=False)
class Imputation:
    """A table with its missing cells imputed.

    Attributes
    ----------
    table : pandas.DataFrame
        All columns of the file; observed cells are unchanged.
    values : pandas.DataFrame
        The modelled columns, complete.
    uncertainty : pandas.DataFrame
        For the modelled columns: the posterior standard deviation of a number, the probability that a category is
        wrong; 0 for observed cells.
    missing : ndarray of bool, shape (n_rows, n_modelled)
        Which cells of the modelled columns are missing.
    """

    table: pd.DataFrame
    values: pd.DataFrame
    uncertainty: pd.DataFrame
    missing: np.ndarray


def impute_missing(model: CrossCat, source: Source) -> Imputation:
    """Impute the missing cells of the modelled columns.

    Parameters
    ----------
    model : CrossCat
        Fitted to the table.
    source : Source

    Returns
    -------
    Imputation
    """
    import pandas as pd

    X = source.X
    missing = X.isna().to_numpy()
    values, uncertainty = model.impute(X, return_uncertainty=True)
    table = source.frame.copy()
    for j in np.flatnonzero(missing.any(axis=0)):
        table[X.columns[j]] = _completed(X.iloc[:, j], values.iloc[:, j], missing[:, j])
    return Imputation(table, values, pd.DataFrame(uncertainty, X.index, X.columns), missing)


def _completed(series: pd.Series, values: pd.Series, missing: np.ndarray) -> pd.Series:
    """A column with its missing cells imputed: numbers to six digits, whole ones without decimals."""
    is_number = series.dtype.kind in "iuf"
    seen = [int(value) if is_number and value == int(value) else value for value in series[~missing]]
    guessed = [float(f"{value:.6g}") if is_number else value for value in values[missing]]
    if is_number and all(isinstance(value, int) for value in seen):
        guessed = [int(value) if value == int(value) else value for value in guessed]
    cells = np.empty(len(series), dtype=object)
    cells[~missing] = seen
    cells[missing] = guessed
    return type(series)(cells, series.index, dtype=object)
