"""find_contradictions: pairs of columns in separate views that a simple test finds dependent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal.columns.atom_split import AtomSplit
from sklearn_subanneal.report.pair_tests import PairTests, pairwise_tests

if TYPE_CHECKING:
    import pandas as pd

    from sklearn_subanneal.estimators import CrossCat

# Largest p-value, times the number of pairs, at which a pair is reported, and the share of draws in one view from which
# on it is not.
LEVEL, LEAST_SHARE = 1e-3, 0.5
MOST_ROWS = 10_000
ORDERED = {"real", "skewed", "semicontinuous", "count", "ordinal"}
# Angles have no order: they are tested as so many categories of equally many cells.
N_SECTORS = 8


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
        Number of pairs that the model keeps apart, all of which were tested.
    tests : PairTests
        The tests of all pairs, of those in one view too.
    """

    pairs: list[Contradiction]
    n_tested: int
    tests: PairTests


def find_contradictions(model: CrossCat, X: pd.DataFrame) -> Contradictions:
    """Test the pairs of columns that are in separate views in most draws, or in those of the representative draw.

    The tests are those of :func:`~sklearn_subanneal.report.pair_tests.pairwise_tests`, in at most 10,000 evenly spaced
    rows. Cyclic columns are tested as eight categories, semicontinuous ones by all of their numbers, and other columns
    of several parts by the first part.

    Parameters
    ----------
    model : CrossCat
    X : pandas.DataFrame
        The table that it was fitted to.
    """
    names, dependence = list(model.feature_types_), model.dependence_
    together = _in_one_view(model) & (dependence >= LEAST_SHARE)
    pairs = [(i, j) for i, j in zip(*np.triu_indices(len(names), k=1), strict=True) if not together[i, j]]
    tests = pairwise_tests(*testable_columns(model, X))
    corrected = tests.p_values * len(pairs)
    found = [
        Contradiction(names[i], names[j], tests.name(i, j), float(corrected[i, j]), float(dependence[i, j]))
        for i, j in pairs
        if corrected[i, j] < LEVEL
    ]
    return Contradictions(sorted(found, key=lambda pair: pair.p_value), len(pairs), tests)


def testable_columns(model: CrossCat, X: pd.DataFrame) -> tuple[list[np.ndarray], list[bool]]:
    """The columns of a table as numbers or codes, NaN where missing, in at most 10,000 evenly spaced rows; and which of
    them are categories.
    """
    step = -(-len(X) // MOST_ROWS)
    cells, kinds = model.typed_columns(X.iloc[::step]), list(model.part_types_.values())
    columns, is_categorical = [], []
    for column, places in zip(model._table.columns, model._table.places, strict=True):
        own, kind = cells[places[0]], kinds[places[0]]
        if isinstance(column.split, AtomSplit):
            # Which cells are atoms says less than their numbers.
            own, kind = column.split.join([cells[p] for p in places], None, None), "semicontinuous"
        columns.append(_sectors(own) if kind == "cyclic" else _observed(own))
        is_categorical.append(kind not in ORDERED)
    return columns, is_categorical


def _in_one_view(model: CrossCat) -> np.ndarray:
    """Which columns share a view of the representative draw, by any of their parts."""
    is_in = np.zeros((len(model.feature_types_), model.n_views_), bool)
    is_in[model.part_columns_, model.column_labels_] = True
    return is_in.astype(int) @ is_in.T > 0


def _observed(cells: np.ndarray) -> np.ndarray:
    """Cells as floats, NaN where missing."""
    return cells if cells.dtype.kind == "f" else np.where(cells < 0, np.nan, cells)


def _sectors(angles: np.ndarray) -> np.ndarray:
    """Codes of parts of the circle with equally many cells, NaN where missing."""
    seen = ~np.isnan(angles)
    if not seen.any():
        return angles
    edges = np.quantile(angles[seen], np.arange(1, N_SECTORS) / N_SECTORS)
    return np.where(seen, np.searchsorted(edges, angles, side="right"), np.nan)
