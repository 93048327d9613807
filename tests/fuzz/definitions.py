"""Definitions of answers: probabilities add up to 1, quantiles rise, imputed tables have no gaps, rows are as many."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from verdict import is_finite

PROBABILITIES = ("predict_proba", "predict_column_proba")
SHARES = "co_clustering row_similarity dependence_ relatedness_matrix p_values probability view_confidence_".split()
# Answers with one row for each row of X.
OF_ROWS = (
    "predict predict_proba predict_column predict_column_proba predict_views predict_interval predict_quantiles "
    "transform score_samples decision_function p_values surprisal novelty impute sample_y inverse_transform "
    "log_predictive_density conditional_quantiles"
).split()
# Answers that have cells of the table.
WITH_CELLS = ("sample", "sample_imputations", "impute", "transform", "fit_transform")
TOLERANCE = 1e-6
# R-hat of few draws and the evidence of a ladder that does not end at 0 are NaN by definition; objects say so in words.
# Variances of columns in squares of their units, and log densities of targets however far away, may be infinite.
UNBOUNDED = ("hyperparameters_", "log_predictive_density", "log_marginal_likelihood")
UNDEFINED_IF_FEW = ("convergence_", "result_")
# NaN for columns whose type has no mean; covariances of huge cells are beyond the range of floating point, too.
OF_SOME_COLUMNS = ("means_", "covariances_")


def departure(
    method: str,
    answer,
    given: dict,
    n_rows: int | None,
    weighted: bool,
    indicated: bool = False,
    empty: bool = False,
) -> str:
    """How an answer is not within the definition of its method; an empty string if it is.

    Parameters
    ----------
    method : str
    answer : object
    given : dict
        The arguments.
    n_rows : int or None
        Rows of X, where known.
    weighted : bool
        Whether rows of the training table may have weight 0, for which some attributes are NaN.
    indicated : bool
        Whether columns may have missing indicators, so that cells are drawn that are missing.
    empty : bool
        Whether a column had no value in ``fit``: none of its cells is filled then.
    """
    gaps = bool(given.get("keep_missing")) or (indicated and method == "sample")
    gaps |= weighted and method == "view_confidence_"
    gaps |= empty and method in WITH_CELLS
    gaps |= method in UNDEFINED_IF_FEW + OF_SOME_COLUMNS
    # Surprisal is NaN where a cell is missing, and so is the value of such a cell.
    gaps |= method in ("surprisal", "reasons")
    if method == "score" and "y" in given:
        # Of scikit-learn, which takes squares.
        return ""
    if method == "reasons":
        # Of a cell that its column can't have, which is infinitely surprising.
        answer = [
            reason._replace(surprisal=0.0, excess=0.0) if reason.surprisal == np.inf else reason for reason in answer
        ]
    if method in UNBOUNDED:
        return "not a number" if _any_nan(answer) else ""
    if method != "covariances_" and not is_finite(answer, missing=gaps):
        return "non-finite"
    if method in PROBABILITIES and not all(map(_adds_up, answer if isinstance(answer, list) else [answer])):
        return "probabilities"
    if method in SHARES and not _within_0_1(np.asarray(answer, float)):
        return "no share"
    if method == "mutual_information" and answer.value < 0.0:
        return "negative information"
    if method == "relatedness" and not 0.0 <= answer.value <= 1.0 + TOLERANCE:
        return "no share"
    if method == "predict_interval" and (np.diff(np.asarray(answer, float), axis=-1) < 0.0).any():
        return "interval"
    if method in ("predict_quantiles", "conditional_quantiles") and _falls(answer, given):
        return "quantiles fall"
    if n_rows is not None and method in OF_ROWS and (found := _length(answer)) not in (None, n_rows):
        return f"{found} rows of {n_rows}"
    return ""


def _adds_up(probabilities) -> bool:
    array = probabilities.toarray() if sparse.issparse(probabilities) else np.asarray(probabilities, float)
    return bool((array >= 0.0).all() and (abs(array.sum(axis=-1) - 1.0) < TOLERANCE).all())


def _within_0_1(array) -> bool:
    array = array[~np.isnan(array)]
    return bool(((array >= 0.0) & (array <= 1.0 + TOLERANCE)).all())


def _falls(answer, given) -> bool:
    levels = np.asarray(given.get("quantiles", (0.05, 0.5, 0.95)), float)
    rows = np.atleast_2d(np.asarray(answer, float))
    return bool((np.diff(rows[..., np.argsort(levels)], axis=-1) < 0.0).any())


def _any_nan(answer) -> bool:
    if isinstance(answer, dict):
        return any(map(_any_nan, answer.values()))
    return bool(np.isnan(np.asarray(answer, float)).any())


def _length(answer):
    if isinstance(answer, np.ndarray | pd.DataFrame | pl.DataFrame) or sparse.issparse(answer):
        return answer.shape[0] if answer.shape else None
    return None
