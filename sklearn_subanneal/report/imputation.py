"""Imputation of the missing cells of a table, with the uncertainty of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from sklearn.frozen import FrozenEstimator

from sklearn_subanneal.estimators import BayesianImputer
from sklearn_subanneal.report.number_digits import rounded_numbers

if TYPE_CHECKING:
    import pandas as pd

    from sklearn_subanneal.estimators import CrossCat

# Larger numbers are no int64.
MOST_OF_INTEGERS = 2.0**63
NOTHING: Mapping[str, float] = MappingProxyType({})


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


def impute_missing(
    model: CrossCat,
    frame: pd.DataFrame,
    X: pd.DataFrame,
    refine: bool = False,
    ranges: Mapping[str, float] = NOTHING,
) -> Imputation:
    """Impute the missing cells of the modelled columns.

    Parameters
    ----------
    model : CrossCat
    frame : DataFrame
        All columns of the table.
    X : DataFrame
        Those that are modelled.
    refine : bool, default=False
        Whether to impute as :class:`~sklearn_subanneal.BayesianImputer`: X must be the table to which the model was
        fitted. It takes up to as long as the fit.
    ranges : mapping of str to float
        As of :func:`completed_table`.

    Returns
    -------
    Imputation
    """
    import pandas as pd

    imputer = BayesianImputer(FrozenEstimator(model)).fit(X) if refine and X.isna().any(axis=None) else model
    values, uncertainty = imputer.impute(X, return_uncertainty=True)
    table = completed_table(frame, X, values, ranges)
    return Imputation(table, values, pd.DataFrame(uncertainty, X.index, X.columns), X.isna().to_numpy())


def completed_table(
    frame: pd.DataFrame, X: pd.DataFrame, values: pd.DataFrame, ranges: Mapping[str, float] = NOTHING
) -> pd.DataFrame:
    """A table with its missing cells imputed; observed cells are unchanged.

    Parameters
    ----------
    frame : DataFrame
        All columns of the table.
    X : DataFrame
        Those that are modelled.
    values : DataFrame
        The same columns, complete.
    ranges : mapping of str to float
        How far the numbers of columns are apart, by which imputed ones have digits; of other columns the observed
        cells say it.
    """
    missing, table = X.isna().to_numpy(), frame.copy()
    for j in np.flatnonzero(missing.any(axis=0)):
        table[X.columns[j]] = _completed(X.iloc[:, j], values.iloc[:, j], missing[:, j], ranges)
    return table


def _completed(series: pd.Series, values: pd.Series, missing: np.ndarray, ranges: Mapping[str, float]) -> pd.Series:
    """A column with its missing cells imputed: numbers to some digits, whole ones without decimals."""
    if series.dtype.kind == "M":
        # As objects, days would be written with the time of midnight.
        return series.mask(missing, _in_zone_of(series, values).astype(series.dtype).set_axis(series.index))
    cells = np.array(series, object)
    if series.dtype.kind in "iuf":
        seen, guessed = _numbers(series[~missing]), values[missing].to_numpy(np.float64)
        rounded = rounded_numbers(guessed, ranges.get(series.name, np.ptp(seen) if len(seen) else 0.0))
        # One of the observed numbers, which a column may have again and again, is not another one.
        guessed = np.where(np.isin(guessed, seen), guessed, rounded)
        whole = _are_whole(seen)
        cells[~missing] = _with_integers(seen, whole)
        cells[missing] = _with_integers(guessed, _are_whole(guessed) & whole.all())
    else:
        cells[missing] = values[missing].to_numpy(object)
    return type(series)(cells, series.index, dtype=object)


def _in_zone_of(series: pd.Series, values: pd.Series) -> pd.Series:
    """Dates of a model with a time zone where those of the table have one; without one, it takes them for UTC."""
    has_zone, is_wanted = (getattr(own.dtype, "tz", None) is not None for own in (values, series))
    if is_wanted and not has_zone:
        return values.dt.tz_localize("UTC")
    return values.dt.tz_convert("UTC").dt.tz_localize(None) if has_zone and not is_wanted else values


def _numbers(series: pd.Series) -> np.ndarray:
    """Numbers without missing ones; before version 3 of pandas those of its own dtypes would be objects."""
    return series.to_numpy(getattr(series.dtype, "numpy_dtype", series.dtype))


def _are_whole(numbers: np.ndarray) -> np.ndarray:
    return (numbers == np.floor(numbers)) & (np.abs(numbers) < MOST_OF_INTEGERS)


def _with_integers(numbers: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Numbers as objects of Python, some of them as integers."""
    out = numbers.astype(object)
    out[whole] = numbers[whole].astype(np.int64).astype(object)
    return out
