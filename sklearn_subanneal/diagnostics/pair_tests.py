"""pairwise_tests: tests of independence of all pairs of columns at once, which know nothing of any model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse, special, stats

# Levels with fewer rows are taken together.
LEAST_IN_LEVEL = 5
CHI_SQUARE, KRUSKAL, SPEARMAN = "chi-square", "Kruskal-Wallis", "rank correlation"


class DependenceWarning(UserWarning):
    """Columns that the model takes as independent are not, by a simple test."""


@dataclass(frozen=True, eq=False)
class PairTests:
    """Tests of independence of each two of some columns.

    Attributes
    ----------
    p_values : ndarray of shape (n_columns, n_columns)
        Symmetric; 1 where there is nothing to test, and on the diagonal.
    correlations : ndarray of shape (n_columns, n_columns)
        Spearman's rank correlation; nan where a column is categorical.
    is_categorical : ndarray of bool, shape (n_columns,)
    strengths : ndarray of shape (n_columns, n_columns)
        How strong each dependence is, from 0 to 1 on the scale of a correlation, less what chance would add: of two
        orders, the correlation of two normal variables with the same rank correlation; of two sets of categories,
        sqrt(1 - exp(-2 I)) with their mutual information I; of an order and categories, the correlation ratio of the
        ranks.
    """

    p_values: np.ndarray
    correlations: np.ndarray
    is_categorical: np.ndarray
    strengths: np.ndarray

    def name(self, i: int, j: int) -> str:
        """The test of two columns: "chi-square", "Kruskal-Wallis" or "rank correlation"."""
        return (SPEARMAN, KRUSKAL, CHI_SQUARE)[int(self.is_categorical[i]) + int(self.is_categorical[j])]


def pairwise_tests(columns: Sequence[np.ndarray], is_categorical: Sequence[bool]) -> PairTests:
    """Test all pairs of columns, each in the rows in which both are observed.

    Two orders are compared by Spearman's rank correlation, two sets of categories by a chi-square test (with Yates'
    correction of tables of two times two), an order and categories by the test of Kruskal and Wallis. Ranks are those
    among all observed cells of a column: where no cell is missing, the p-values are the usual ones, and elsewhere they
    are those of the same statistics of other scores, which were chosen without a look at the other column.

    The distributions that give the p-values are those of many rows, and far too small where a column hardly varies: if
    one cell of a thousand differs, and it is in the same row of two columns, then chance does this once in a thousand
    times. Hence no p-value is less than 1 / (number of distinct orders of the cells of either column), which is a bound
    of the exact one.

    Parameters
    ----------
    columns : sequence of ndarray of float, shape (n_rows,)
        Numbers, or codes of categories; NaN where missing.
    is_categorical : sequence of bool
        Of each column.

    Returns
    -------
    PairTests

    References
    ----------
    E. L. Lehmann (1975), Nonparametrics: Statistical Methods Based on Ranks, sections 5.2 and 7.3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.diagnostics.pair_tests import pairwise_tests
    >>> x = np.arange(20.0)
    >>> found = pairwise_tests([x, x**3, x % 2], [False, False, True])
    >>> found.name(0, 1), bool(found.p_values[0, 1] < 1e-10), round(float(found.p_values[0, 2]), 2)
    ('rank correlation', True, 0.71)
    """
    kinds = np.asarray(is_categorical, bool)
    numbers, categories = np.flatnonzero(~kinds), np.flatnonzero(kinds)
    p_values = np.ones((len(columns), len(columns)))
    correlations, strengths = np.full(p_values.shape, np.nan), np.zeros(p_values.shape)
    scores = [_scores(columns[j]) for j in numbers]
    codes = {j: _codes(columns[j]) for j in categories}
    if len(numbers):
        ranks, seen = (np.array([own[k] for own in scores]) for k in (0, 1))
        block = np.ix_(numbers, numbers)
        correlations[block], p_values[block] = _spearman(ranks, seen)
        strengths[block] = 2.0 * np.sin(np.pi / 6.0 * np.abs(correlations[block]))
        for j in categories:
            p_values[j, numbers], strengths[j, numbers] = _kruskal(codes[j], ranks, seen)
            p_values[numbers, j], strengths[numbers, j] = p_values[j, numbers], strengths[j, numbers]
    for at, i in enumerate(categories):
        for j in categories[at + 1 :]:
            p_values[i, j], strengths[i, j] = _chi_square(codes[i], codes[j])
            p_values[j, i], strengths[j, i] = p_values[i, j], strengths[i, j]
    orders = np.array([_log_orders(column) for column in columns])
    p_values = np.maximum(p_values, np.exp(-np.minimum(orders[:, None], orders)))
    np.fill_diagonal(p_values, 1.0)
    return PairTests(p_values, correlations, kinds, strengths)


def _scores(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centred ranks of the observed cells, scaled to variance 1, and which are observed; 0 where missing."""
    seen = ~np.isnan(column)
    ranks = np.zeros(len(column))
    if seen.any():
        own = stats.rankdata(column[seen])
        own -= own.mean()
        deviation = own.std()
        ranks[seen] = own / deviation if deviation > 0.0 else own
    return ranks, seen.astype(float)


def _codes(column: np.ndarray) -> np.ndarray:
    """Codes 0, 1, ... of the categories, -1 where missing."""
    codes = np.full(len(column), -1)
    seen = ~np.isnan(column)
    codes[seen] = np.unique(column[seen], return_inverse=True)[1]
    return codes


def _log_orders(column: np.ndarray) -> float:
    """Logarithm of the number of distinct orders of the observed cells."""
    counts = np.unique(column[~np.isnan(column)], return_counts=True)[1]
    return float(special.gammaln(counts.sum() + 1.0) - special.gammaln(counts + 1.0).sum())


def _spearman(ranks: np.ndarray, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Correlations of all pairs, and their p-values."""
    n, sums, squares = seen @ seen.T, ranks @ seen.T, ranks**2 @ seen.T
    with np.errstate(all="ignore"):
        spread = (n * squares - sums**2) * (n * squares.T - sums.T**2)
        r = (n * (ranks @ ranks.T) - sums * sums.T) / np.sqrt(spread)
        r = np.clip(np.where((n > 2) & (spread > 1e-9 * n**4), r, 0.0), -1.0, 1.0)
        t = np.abs(r) * np.sqrt(np.maximum(n - 2.0, 1.0) / ((1.0 - r) * (1.0 + r)))
        return r, 2.0 * special.stdtr(np.maximum(n - 2.0, 1.0), -t)


def _kruskal(codes: np.ndarray, ranks: np.ndarray, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of categories and each column of ranks: the p-values and the correlation ratios."""
    rows = np.flatnonzero(codes >= 0)
    if not len(rows):
        return np.ones(len(ranks)), np.zeros(len(ranks))
    shape = (codes.max() + 1, len(codes))
    levels = sparse.csr_array((np.ones(len(rows)), (codes[rows], rows)), shape)
    # A row for each level, a column for each column of ranks.
    n, sums, total = levels @ seen.T, levels @ ranks.T, (ranks[:, rows] ** 2).sum(axis=1)
    is_rare = n < LEAST_IN_LEVEL
    n, sums = (np.vstack([np.where(is_rare, 0.0, own), np.where(is_rare, own, 0.0).sum(axis=0)]) for own in (n, sums))
    n_rows, mean = n.sum(axis=0), sums.sum(axis=0)
    with np.errstate(all="ignore"):
        about = mean**2 / n_rows
        between = np.where(n > 0, sums**2 / n, 0.0).sum(axis=0) - about
        statistic = (n_rows - 1.0) * between / (total - about)
        degrees = (n > 0).sum(axis=0) - 1
        is_tested = (n_rows > 2) & (degrees > 0) & (total - about > 1e-9 * n_rows)
        ratio = np.where(is_tested, (statistic - degrees) / (n_rows - 1.0), 0.0)
        p_values = np.where(is_tested, stats.chi2.sf(statistic, np.maximum(degrees, 1)), 1.0)
        return p_values, np.sqrt(np.clip(ratio, 0.0, 1.0))


def _chi_square(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """The p-value, and the mutual information on the scale of a correlation."""
    both = (one >= 0) & (other >= 0)
    if both.sum() <= 2:
        return 1.0, 0.0
    n_levels = other.max() + 1
    table = np.bincount(one[both] * n_levels + other[both], minlength=(one.max() + 1) * n_levels)
    table = _common(_common(table.reshape(-1, n_levels).astype(float)).T)
    if min(table.shape) < 2:
        return 1.0, 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    difference = np.abs(table - expected)
    if table.shape == (2, 2):
        difference -= np.minimum(0.5, difference)
    degrees = (table.shape[0] - 1) * (table.shape[1] - 1)
    information = (special.xlogy(table, table / expected).sum() - 0.5 * degrees) / table.sum()
    strength = float(np.sqrt(-np.expm1(-2.0 * max(information, 0.0))))
    return float(stats.chi2.sf((difference**2 / expected).sum(), degrees)), strength


def _common(table: np.ndarray) -> np.ndarray:
    """A table without empty rows, its rows of few cells added up as the last one."""
    sums = table.sum(axis=1)
    is_rare = sums < LEAST_IN_LEVEL
    table = np.vstack([table[~is_rare], table[is_rare].sum(axis=0)])
    return table[table.sum(axis=1) > 0.0]
