"""Verdicts: whether an answer is finite and within its definition, and whether a refusal says what to do."""

from __future__ import annotations

import dis
import linecache
import re
import traceback
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from sklearn.exceptions import NotFittedError

import sklearn_subanneal

PACKAGE = str(Path(sklearn_subanneal.__file__).parent)
# Checks of scikit-learn and narwhals word their messages with as much care.
CAREFUL = ("sklearn/utils", "sklearn/metrics", "sklearn/base.py", "sklearn/callback", "sklearn/_config.py")
# What a message has to name, unless it is scikit-learn's: a parameter in the way it is written, a column, or the data.
SUBJECT = re.compile(
    r"\b(columns?|features?|sample(_weight|s|\(s\))?|rows?|X|y|cells|array|data|Data|table|estimator|model|documents?)\b"
    r"|\bevent\b|\bmoves\b|\b[a-z]+_[a-z_]+\b|\b[A-Z][A-Za-z]+\(|'[^']+'|\b[a-z]+ (must|has|names|needs|is|holds)\b",
    re.IGNORECASE,
)
REMEDY = re.compile(
    r"\b(must|should|pass|give|use|drop|declare|convert|set|name|choose|fit|call|reshape|raise|lower|leave|write|need"
    r"|needs|required|expected|expecting|instead|supported|provide|take|change|compare|keep|rename|derive|make|map"
    r"|scale|change|admitted|neither|one of|it has|such as|divide|are '"
    r"|Columns are|Categories are|install|remove|add|shorten|ask|requires|correct|mark)\b",
    re.IGNORECASE,
)
OUTSIDE = "outside of the package"


def is_finite(value, missing: bool = False, depth: int = 0) -> bool:
    """Whether all numbers in a value are finite; NaN passes where cells may be missing."""
    if depth > 8 or value is None or isinstance(value, str | bytes | bool | int):
        return True
    if isinstance(value, float | np.floating):
        return bool(np.isfinite(value)) or (missing and bool(np.isnan(value)))
    if sparse.issparse(value):
        return is_finite(value.tocsr().data, missing)
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "O":
            return all(is_finite(cell, missing, depth + 1) for cell in value.ravel().tolist())
        if value.dtype.kind in "fc":
            return not np.isinf(value).any() and (missing or not np.isnan(value).any())
        return value.dtype.kind not in "mM" or missing or not np.isnat(value).any()
    if isinstance(value, pd.DataFrame):
        return all(is_finite(value.iloc[:, j], missing) for j in range(value.shape[1]))
    if isinstance(value, pd.Series):
        return (missing or not value.isna().any()) and is_finite(value.dropna().to_numpy(), missing)
    if isinstance(value, pl.DataFrame):
        return all(is_finite(column, missing) for column in value.iter_columns())
    if isinstance(value, pl.Series):
        # Dates of polars may be beyond those of Python.
        cells = value.drop_nulls().to_physical().to_list()
        return (missing or not value.null_count()) and is_finite(cells, missing, depth + 1)
    if isinstance(value, dict):
        return all(is_finite(item, missing, depth + 1) for item in value.values())
    if isinstance(value, list | tuple | set):
        return all(is_finite(item, missing, depth + 1) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return all(is_finite(getattr(value, field.name), missing, depth + 1) for field in fields(value))
    return True


def refusal(error: BaseException) -> str:
    """What is wrong with an exception that a user sees; an empty string if it is as it should be."""
    kind = type(error).__name__
    if isinstance(error, ValueError | TypeError | OverflowError) and origin(error) == OUTSIDE:
        # A method that an estimator has of scikit-learn, such as score, which never came to the package.
        return ""
    if not isinstance(error, ValueError | TypeError | NotFittedError):
        return f"exception {kind}"
    if not (careful := _is_raised_with_care(error)):
        return f"bare {kind}"
    if careful == "package" and not (SUBJECT.search(str(error)) and REMEDY.search(str(error))):
        return f"unclear {kind}"
    return ""


def origin(error: BaseException) -> str:
    """The innermost line of the package that an exception passed."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _of_package(frame.filename)]
    if not frames:
        return OUTSIDE
    frame = frames[-1]
    return f"{frame.filename.rpartition('sklearn_subanneal/')[2]}:{frame.lineno} {frame.name}"


def _of_package(filename: str) -> bool:
    return filename.startswith((PACKAGE, "sklearn_subanneal"))


def _is_raised_with_care(error) -> str:
    """Whether an exception comes from a `raise` of the package, or from scikit-learn's checks; and which."""
    tb = error.__traceback__
    while tb.tb_next is not None:
        tb = tb.tb_next
    code, at = tb.tb_frame.f_code, tb.tb_lineno
    if any(part in code.co_filename for part in CAREFUL):
        return "scikit-learn" if _raises(code, tb.tb_lasti) else ""
    if not _of_package(code.co_filename):
        return ""
    if not code.co_filename.endswith(".py"):
        path = Path(PACKAGE).parent / code.co_filename
        return "package" if "raise" in linecache.getline(str(path), at) else ""
    return "package" if _raises(code, tb.tb_lasti) else ""


def _raises(code, lasti: int) -> bool:
    return dis.opname[code.co_code[lasti]] == "RAISE_VARARGS"
