"""find_contradictions: pairs of columns in separate views that a simple test finds dependent."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    import pandas as pd

    from sklearn_subanneal.estimators import CrossCat

# Largest p-value, times the number of pairs, at which a pair is reported, and the share of draws in one view from which
# on it is not.
LEVEL, LEAST_SHARE = 1e-3, 0.5
MOST_ROWS, LEAST_IN_LEVEL = 10_000, 5
CATEGORICAL, ORDERED = {"categorical", "boolean"}, {"real", "skewed", "semicontinuous", "count", "ordinal"}


@dataclass(frozen=True)
class Contradiction:
    """Two columns that are dependent by a test, and in separate views in most draws.

    Attributes
    ----------
    one, other : str
    test : str
        "rank correlation", "chi-square" or "Kruskal-Wallis".
    p_value : float
        Times the number of pairs (Bonferroni).
    share : float
        Share of the draws in which they are in one view.
    """

    one: str
    other: str
    test: str
    p_value: float
    share: float


@dataclass(frozen=True)
class Contradictions:
    """What tests say of the columns that the model takes as independent.

    Attributes
    ----------
    pairs : list of Contradiction
        The smallest p-values first.
    n_tested : int
        Number of pairs that were tested.
    """

    pairs: list[Contradiction]
    n_tested: int


def find_contradictions(model: CrossCat, X: pd.DataFrame, most_columns: int) -> Contradictions:
    """Test the pairs of columns that are in separate views in most draws.

    Two orders are compared by Spearman's rank correlation, two sets of categories by a chi-square test, an order and
    categories by the test of Kruskal and Wallis, in rows in which both are observed (at most 10,000, evenly spaced).
    Cyclic columns are not tested.

    Parameters
    ----------
    model : CrossCat
    X : pandas.DataFrame
        The table that it was fitted to.
    most_columns : int
        Only so many columns are tested, the first of the table.
    """
    names, dependence = list(model.feature_types_), model.dependence_
    columns, kinds = testable_columns(model, X)
    tested = [j for j, kind in enumerate(kinds) if kind in CATEGORICAL | ORDERED][:most_columns]
    pairs = [(i, j) for i, j in combinations(tested, 2) if dependence[i, j] < LEAST_SHARE]
    found = []
    for i, j in pairs:
        test, p_value = dependence_test(columns[i], columns[j], kinds[i] in CATEGORICAL, kinds[j] in CATEGORICAL)
        if p_value * len(pairs) < LEVEL:
            found.append(Contradiction(names[i], names[j], test, p_value * len(pairs), float(dependence[i, j])))
    return Contradictions(sorted(found, key=lambda pair: pair.p_value), len(pairs))


def testable_columns(model: CrossCat, X: pd.DataFrame) -> tuple[list[np.ndarray], list[str]]:
    """The columns of a table as numbers or codes, NaN where missing, in at most 10,000 evenly spaced rows; their types.

    Of a column of several parts, the first. Columns of other types than ``CATEGORICAL`` and ``ORDERED`` are not tested.
    """
    step = -(-len(X) // MOST_ROWS)
    cells, kinds = model.typed_columns(X), list(model.part_types_.values())
    parts = np.unique(model.part_columns_, return_index=True)[1]
    return [_observed(cells[p][::step]) for p in parts], [kinds[p] for p in parts]


def dependence_test(
    one: np.ndarray, other: np.ndarray, one_is_categorical: bool, other_is_categorical: bool
) -> tuple[str, float]:
    """Name and p-value of a test of independence; 1 where there is nothing to test.

    Parameters
    ----------
    one, other : ndarray of float, shape (n_rows,)
        Numbers or codes, NaN where missing.
    one_is_categorical, other_is_categorical : bool

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.report.contradictions import dependence_test
    >>> x = np.arange(20.0)
    >>> test, p_value = dependence_test(x, x**3, False, False)
    >>> test, bool(p_value < 1e-10)
    ('rank correlation', True)
    """
    both = ~(np.isnan(one) | np.isnan(other))
    one, other = one[both], other[both]
    if one_is_categorical and other_is_categorical:
        name, p_value = "chi-square", _chi_square(_common_levels(one), _common_levels(other))
    elif one_is_categorical or other_is_categorical:
        levels, values = (one, other) if one_is_categorical else (other, one)
        name, p_value = "Kruskal-Wallis", _kruskal(_common_levels(levels), values)
    else:
        name, p_value = "rank correlation", _spearman(one, other)
    return name, float(p_value)


def _observed(cells: np.ndarray) -> np.ndarray:
    """Cells as floats, NaN where missing."""
    return cells if cells.dtype.kind == "f" else np.where(cells < 0, np.nan, cells)


def _common_levels(codes: np.ndarray) -> np.ndarray:
    """Codes from 0, levels that hardly occur taken together as the last."""
    _, codes, counts = np.unique(codes, return_inverse=True, return_counts=True)
    return np.unique(np.where(counts[codes] < LEAST_IN_LEVEL, len(counts), codes), return_inverse=True)[1]


def _varies(values: np.ndarray) -> bool:
    return len(values) > 2 and (values != values[0]).any()


def _spearman(one: np.ndarray, other: np.ndarray) -> float:
    return stats.spearmanr(one, other).pvalue if _varies(one) and _varies(other) else 1.0


def _kruskal(levels: np.ndarray, values: np.ndarray) -> float:
    if not (_varies(levels) and _varies(values)):
        return 1.0
    return stats.kruskal(*(values[levels == level] for level in range(levels.max() + 1))).pvalue


def _chi_square(one: np.ndarray, other: np.ndarray) -> float:
    if not (_varies(one) and _varies(other)):
        return 1.0
    table = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(table, (one, other), 1.0)
    return stats.chi2_contingency(table).pvalue
