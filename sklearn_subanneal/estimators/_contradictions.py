"""Pairs of columns in separate views that a simple test finds dependent: contradictions, and a warning of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sklearn_subanneal.columns.atom_split import AtomSplit
from sklearn_subanneal.diagnostics.pair_tests import DependenceWarning, PairTests, pairwise_tests

# Largest p-value, times the number of pairs, at which a pair is reported, and the share of draws in one view from which
# on it is not.
LEVEL, LEAST_SHARE = 1e-3, 0.5
MOST_ROWS = 10_000
# The warning of a fit: its p-value, number of rows, and pairs that it names. Tables of more columns of categories, all
# pairs of which have a test of their own, are not tested.
WARNING_LEVEL, WARNING_ROWS, MOST_NAMED, MOST_CATEGORICAL = 1e-10, 2000, 3, 150
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


class ContradictionQueries:
    """What the model takes as independent, and a simple test does not.

    A mixin for an estimator whose draws are those of views. It reads ``_table``, ``_copies``, ``_typed(arrays)``,
    ``_encode(X)``, ``dependence_`` and the fitted labels of columns.
    """

    def contradictions(self, X) -> list[Contradiction]:
        """Pairs of columns in separate views that a simple test finds dependent.

        A column is in one view only, with the columns that it goes with best. Of columns of other views it is
        independent in a draw, also where it depends on them less strongly: the model has nothing to say about such a
        pair. (Columns that are functions of one another, such as a price and its logarithm, keep others away: leave one
        of them out.) The dependence of a few columns can be learned from a fit of these alone.

        The pairs are those in separate views in most draws, or in the representative draw. They are compared in at most
        10,000 evenly spaced rows: two orders by Spearman's rank correlation, two sets of categories by a chi-square
        test, an order and categories by the test of Kruskal and Wallis. Cyclic columns are tested as eight categories,
        semicontinuous ones by all of their numbers, and other columns of several parts by the first part. Of columns
        that are functions of one another, the one that is modelled is tested, and categories beside it if it has an
        order.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            The table that it was fitted to, or another.

        Returns
        -------
        contradictions : list of Contradiction
            The names ``one`` and ``other``, the ``test``, its ``p_value`` times the number of pairs, and the ``share``
            of the draws in one view; the smallest p-values first, all below 0.001.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat
        >>> x = np.random.default_rng(0).normal(size=(60, 2))
        >>> model = CrossCat(n_chains=2, random_state=0).fit(np.column_stack([x, x[:, 0] + x[:, 1]]))
        >>> model.contradictions(np.column_stack([x, x[:, 0] + x[:, 1]]))
        []
        """
        return find_contradictions(self, X).pairs

    def _warn_of_contradictions(self, arrays, stacklevel: int) -> None:
        """Issue a ``DependenceWarning`` if the typed training columns contradict the model beyond any doubt."""
        n_categorical = sum(kind not in ORDERED for kind in self.feature_types_.values())
        if len(self.feature_types_) < 2 or n_categorical > MOST_CATEGORICAL:
            return
        modelled = [array[self._copies.rows] for array in arrays]
        pairs = _compared(self, self._typed(modelled), WARNING_ROWS).pairs
        sure = [pair for pair in pairs if pair.p_value < WARNING_LEVEL and pair.share < LEAST_SHARE]
        if sure:
            named = [f"{pair.one!r} and {pair.other!r} ({pair.test})" for pair in sure[:MOST_NAMED]]
            what = "a pair of columns" if len(sure) == 1 else f"{len(sure):,} pairs of columns"
            warnings.warn(
                f"The model takes {what} as independent that a test finds dependent beyond doubt: {'; '.join(named)}"
                f"{'; ...' if len(sure) > MOST_NAMED else ''}. A column is in one view, with those that it goes with "
                "best. For these pairs rely on the table itself, and not on the model; contradictions(X) lists them.",
                DependenceWarning,
                stacklevel=stacklevel + 1,
            )


def find_contradictions(model, X) -> Contradictions:
    """Test the pairs of columns that :meth:`CrossCat.contradictions` describes, and keep the tests of all pairs.

    Parameters
    ----------
    model : CrossCat
    X : array-like or DataFrame of shape (n_samples, n_features)
    """
    if hasattr(X, "iloc"):
        # Not all rows of a long frame are typed.
        X = X.iloc[:: max(-(-len(X) // MOST_ROWS), 1)]
    return _compared(model, model.typed_columns(X), MOST_ROWS)


def _compared(model, cells: Sequence[np.ndarray], most_rows: int) -> Contradictions:
    names, dependence = list(model.feature_types_), model.dependence_
    together = _in_one_view(model) & (dependence >= LEAST_SHARE)
    own = np.array(_tested_by_themselves(model))
    # Of thousands of columns there are millions of pairs.
    compared = np.triu(own[:, None] & own & ~together, k=1)
    n_pairs = int(np.count_nonzero(compared))
    tests = pairwise_tests(*_testable_columns(model, cells, most_rows))
    corrected = tests.p_values * n_pairs
    found = [
        Contradiction(names[i], names[j], tests.name(i, j), float(corrected[i, j]), float(dependence[i, j]))
        for i, j in np.argwhere(compared & (corrected < LEVEL)).tolist()
    ]
    return Contradictions(sorted(found, key=lambda pair: pair.p_value), n_pairs, tests)


def _tested_by_themselves(model) -> list[bool]:
    """Of columns that are functions of one another, the one that is modelled, and categories where that has an order.

    By ranks, income may be independent of the years of education, though it depends on their names.
    """
    kinds, columns = list(model.feature_types_.values()), model._table.columns
    return [
        column.derivation is None or (kind not in ORDERED and kinds[column.derivation.source] in ORDERED)
        for kind, column in zip(kinds, columns, strict=True)
    ]


def _testable_columns(model, cells, most_rows) -> tuple[list[np.ndarray], list[bool]]:
    """The columns as numbers or codes, NaN where missing, in some rows; and which of them are categories."""
    step = max(-(-len(cells[0]) // most_rows), 1)
    cells, kinds = [own[::step] for own in cells], list(model.part_types_.values())
    columns, is_categorical = [], []
    for j, places in enumerate(model._table.places):
        column = model._table.modelled(j)
        own, kind = cells[places[0]], kinds[places[0]]
        if isinstance(column.split, AtomSplit):
            # Which cells are atoms says less than their numbers.
            own, kind = column.split.join([cells[p] for p in places], None, None), "semicontinuous"
        columns.append(_sectors(own) if kind == "cyclic" else _observed(own))
        if model._table.columns[j].derivation is not None:
            # The codes are those of the column that is modelled.
            kind = model.feature_types_[model._table.columns[j].name]
        is_categorical.append(kind not in ORDERED)
    return columns, is_categorical


def _in_one_view(model) -> np.ndarray:
    """Which columns share a view of the representative draw, by any of their parts, or by their source."""
    is_in = np.zeros((len(model.feature_types_), model.n_views_), bool)
    is_in[model.part_columns_, model.column_labels_] = True
    for j, column in enumerate(model._table.columns):
        if column.derivation is not None:
            is_in[j] = is_in[column.derivation.source]
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
