"""Chosen types revised for full covariance: a column stays or becomes real if it depends linearly on other columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sklearn_subanneal.columns.number_values import NumberValues
from sklearn_subanneal.columns.real import Real
from sklearn_subanneal.columns.skewed import Skewed
from sklearn_subanneal.columns.transform_choice import choose_transform
from sklearn_subanneal.columns.transforms import IDENTITY, Transform
from sklearn_subanneal.columns.type_evidence import TypeEvidence
from sklearn_subanneal.columns.units import standard_units
from sklearn_subanneal.tables.cells import is_missing
from sklearn_subanneal.tables.schema import Table

# A revision of real to skewed, or of count to real, needs so many nats for each cell, as the first choice.
LEAST_GAIN = 0.1
# A regression within groups of rows must gain so many nats for each cell over the means of the groups, of which there
# are this many rows or more on average.
LEAST_GROUP_GAIN, FEWEST_OF_GROUP = 0.1, 5
# Fewer levels than this are not spread over the reals.
FEWEST_LEVELS = 8
# Few levels are graded if the straight line explains so much of what their means explain of the other columns, and, of
# ordinal columns, if it explains so much of the variance of one.
LEAST_LINEAR_SHARE, LEAST_VARIANCE_SHARE = 0.8, 0.5
# The regressions take at most so many rows, evenly spaced.
MOST_ROWS = 2000
# Rounds in which missing cells of the other columns are filled.
FILL_ROUNDS = 5
# So many products of two cells of a row may be formed for all ordinal columns: two or three seconds.
MOST_PRODUCTS = 1e10
# Rounds in which the columns are decided one after the other, each given the others as they are.
MOST_ROUNDS = 5


def revised_types(table: Table, arrays: list[np.ndarray]) -> tuple[Table, list[np.ndarray]]:
    """Make columns real whose chosen type would hide a linear dependence.

    The type of a column was chosen by its own values. A block of reals also has its correlations with other columns,
    which a transformation may destroy (a sum of columns is no sum of their logarithms), and which a count or an ordinal
    column does not have. The log density of a real column is therefore that of a linear regression on the other real
    and skewed columns. A skewed column stays skewed only if the regression of the transformed cells, with the Jacobian
    (Box and Cox, 1964), has more evidence by 0.1 nats for each cell. A count becomes real if that has more evidence by
    0.1 nats for each cell than its own distribution, by the BIC, and an ordinal column of at least eight levels if it
    has any more, and the other columns have a share in it by the BIC. Such a column also becomes real if its regression
    within the groups that a categorical or boolean column makes, as the years of a panel within its firms, has more
    evidence, by the BIC, than its own distribution, and by 0.1 nats for each cell than the means of the groups. In wide
    tables, only the columns of most categories are tried, or none, and missing cells of regressors stay at the mean.
    Equally frequent integers, taken for classes, become real if the other columns follow a straight line in them: if it
    explains four fifths of what the means of the classes explain (log likelihood ratios less the penalty of the BIC).
    So does an ordinal column of fewer levels if the line also explains half of the variance of another column.

    Parameters
    ----------
    table : Table
        As read, not split.
    arrays : list of ndarray of shape (n_rows,)
        Its typed columns.

    Returns
    -------
    table : Table
    arrays : list of ndarray of shape (n_rows,)

    References
    ----------
    G. E. P. Box, D. R. Cox (1964), An analysis of transformations, Journal of the Royal Statistical Society B 26,
    211-252 (section 3: the likelihood of a transformation given a linear model).
    """
    first = [at[0] for at in table.places]
    found = {j: numbers for j, c in enumerate(table.columns) if (numbers := _numbers(c, arrays[first[j]])) is not None}
    rows = spread_rows(len(arrays[0]))
    # Of a column of which nearly all cells are missing, these rows may have none.
    sampled = {j: cells for j, numbers in found.items() if _n_levels(cells := numbers[rows]) > 1}
    few = {j for j in sampled if _has_few_levels(table.columns[j], found[j])}
    others = [x for j, x in sampled.items() if j not in few]
    least = {"categorical": 0.0, "ordinal": LEAST_VARIANCE_SHARE}
    graded = {j for j in few if _are_graded(sampled[j], others, least[table.columns[j].kind])}
    for j in few - graded:
        del sampled[j]
    chosen = [j for j in sampled if j not in graded and table.columns[j].revisable]
    groups = [
        arrays[at][rows] for at, c in zip(first, table.columns, strict=True) if c.kind in ("categorical", "boolean")
    ]
    linear = _linear_columns(sampled, table, chosen, groups) if chosen and len(sampled) > 1 else []
    real = sorted(graded.union(linear))
    columns, out = list(table.columns), list(arrays)
    for j in real:
        own = columns[j]
        reason = f"{own.reason}; real nevertheless, since it depends linearly on other columns"
        columns[j] = replace(own, type=Real, categories=None, reason=reason, revisable=False)
        out[first[j]] = found[j]
    return replace(table, columns=columns), out


def spread_rows(n_rows: int) -> np.ndarray:
    """The rows that regressions take, at most 2,000, evenly spaced."""
    return np.linspace(0, n_rows - 1, min(n_rows, MOST_ROWS)).astype(int)


def transform_of(cells: np.ndarray, kind: str) -> Transform:
    """The transformation of a real or skewed column."""
    return choose_transform(cells) if kind == Skewed.kind else IDENTITY


def regressor(cells: np.ndarray, kind: str) -> np.ndarray:
    """A real or skewed column as regressions take it: transformed and standardised, with missing cells at the mean."""
    if np.isnan(cells).all():
        return np.zeros(len(cells))
    return np.nan_to_num(_standardised(transform_of(cells, kind).forward(cells)))


def _numbers(column, cells):
    """The cells of a column that is or may be real, as float64; None of others."""
    if column.kind in ("real", "skewed"):
        return cells
    if not column.revisable:
        return None
    if column.kind != "count" and column.categories.dtype.kind not in "iuf":
        return None
    numbers = np.where(cells < 0, np.nan, cells if column.kind == "count" else column.categories[cells])
    return None if column.kind == "count" and _n_levels(numbers) < FEWEST_LEVELS else numbers


def _n_levels(numbers):
    return len(np.unique(numbers[~np.isnan(numbers)]))


def _has_few_levels(column, numbers):
    return column.kind == "categorical" or (column.kind == "ordinal" and _n_levels(numbers) < FEWEST_LEVELS)


def _are_graded(levels, others, least_share):
    """Whether other columns follow a straight line in the levels, one of them with this share of its variance."""
    of_line = of_means = largest = 0.0
    for y in others:
        seen = ~np.isnan(levels + y)
        values, place = np.unique(levels[seen], return_inverse=True)
        n = len(place)
        # The means of so few cells explain all of them.
        if n <= len(values):
            continue
        y = _standardised(y[seen])
        sizes = np.bincount(place)
        explained = sizes @ (np.bincount(place, y) / sizes) ** 2 / n, np.mean(y * _standardised(levels[seen])) ** 2
        largest = max(largest, explained[1])
        means, line = (-0.5 * n * np.log1p(-min(share, 1.0 - 1e-9)) for share in explained)
        of_means += max(0.0, means - 0.5 * (len(sizes) - 1) * np.log(n))
        of_line += max(0.0, line - 0.5 * np.log(n))
    return of_line > 0.0 and largest >= least_share and of_line >= LEAST_LINEAR_SHARE * of_means


def _linear_columns(cells, table, chosen, groups):
    """The chosen columns of which real has more evidence than their type, given the other columns as they are.

    ``groups`` are the typed cells of columns of categories.
    """
    kinds = {j: table.columns[j].kind for j in chosen}
    transforms = {j: choose_transform(cells[j]) for j in chosen if kinds[j] == "skewed"}
    alone = {j: _evidence(cells[j], kinds[j]) for j in chosen if kinds[j] != "skewed"}
    # All are real at first, so that columns that are sums of one another find their partners.
    place = {j: i for i, j in enumerate(cells)}
    columns = np.column_stack([_standardised(x) for x in cells.values()])
    real, used = set(chosen), np.ones(len(place), bool)
    groups, is_filled = _affordable(groups, columns, list(kinds.values()).count("ordinal"))
    for _ in range(MOST_ROUNDS):
        before = set(real)
        for j in chosen:
            used[place[j]] = False
            others, x = columns[:, used], cells[j]
            if kinds[j] == "ordinal":
                keeps = not _are_linear_levels(x, alone[j], others if is_filled else np.nan_to_num(others), groups)
            else:
                others, n = np.nan_to_num(others), np.count_nonzero(~np.isnan(x))
                # Both regressions of a skewed column have the same coefficients, a count's own distribution has none.
                if j in transforms:
                    own = regression_log_density(x, transforms[j], others)
                else:
                    own = alone[j] + coefficient_penalty(others, n)
                gain = (own - regression_log_density(x, IDENTITY, others)) / n
                # Counts are no reals unless that is clearly better.
                keeps = gain > LEAST_GAIN if j in transforms else gain > -LEAST_GAIN
            real = real - {j} if keeps else real | {j}
            used[place[j]] = j in transforms or not keeps
            if j in transforms:
                columns[:, place[j]] = _standardised(transforms[j].forward(x) if keeps else x)
        if real == before:
            break
    return sorted(real)


def _affordable(groups, columns, n_levels):
    """Those of most categories, as many as there is time for, and whether there is time to fill missing cells."""
    products = MOST_ROUNDS * n_levels * columns.shape[0] * columns.shape[1] ** 2
    if np.isnan(columns).any():
        products *= 1 + FILL_ROUNDS
    n_regressions = int(MOST_PRODUCTS / max(products, 1))
    sizes = [len(np.unique(codes)) for codes in groups]
    # Names of single rows are no groups.
    able = [i for i, size in enumerate(sizes) if FEWEST_OF_GROUP * size <= len(columns)]
    able = sorted(able, key=lambda i: -sizes[i])[: max(n_regressions - 1, 0)]
    return [groups[i] for i in able], n_regressions > 0


def _are_linear_levels(levels, own, others, groups):
    """Whether a regression has more evidence than the levels' own distribution, in all rows or within groups."""
    n, none = np.count_nonzero(~np.isnan(levels)), others[:, :0]
    line = regression_log_density(levels, IDENTITY, _filled(others))
    gain = line - regression_log_density(levels, IDENTITY, none)
    if line > own and gain > coefficient_penalty(others, n):
        return True
    for codes in groups:
        rows = np.flatnonzero(~is_missing(codes) & ~np.isnan(levels))
        found, place = np.unique(codes[rows], return_inverse=True)
        if len(found) < 2 or len(rows) < FEWEST_OF_GROUP * len(found):
            continue
        x = _deviations(levels[rows], place)
        y = [_standardised(_deviations(other[rows], place)) for other in others.T]
        line = regression_log_density(x, IDENTITY, _filled(np.column_stack([none[rows], *y])))
        line -= coefficient_penalty(others, len(rows))
        gain = line - regression_log_density(x, IDENTITY, none[rows])
        if line - 0.5 * len(found) * np.log(len(rows)) > own * len(rows) / n and gain > LEAST_GROUP_GAIN * len(rows):
            return True
    return False


def _deviations(x, place):
    """From the means of groups; ``place`` is the number of the group of each row."""
    seen = ~np.isnan(x)
    sizes = np.bincount(place[seen], minlength=place.max() + 1)
    return x - (np.bincount(place[seen], x[seen], minlength=len(sizes)) / np.maximum(sizes, 1))[place]


def _filled(columns):
    """Standardised columns, missing cells at about their means given the others, by a normal distribution."""
    out, missing, n_columns = np.nan_to_num(columns), np.isnan(columns), columns.shape[1]
    gaps = np.flatnonzero(missing.any(axis=0))
    for _ in range(FILL_ROUNDS if gaps.size else 0):
        precision = np.linalg.inv(out.T @ out + n_columns * np.eye(n_columns))
        for j in gaps:
            rows = missing[:, j]
            out[rows, j] -= out[rows] @ precision[:, j] / precision[j, j]
    return out


def _evidence(cells, kind):
    """Log evidence of integers, with the density of reals in units of their step."""
    numbers = NumberValues.of(cells)
    evidence = TypeEvidence(numbers)
    return (evidence.count if kind == "count" else evidence.ordinal) - numbers.n_cells * np.log(numbers.step)


def regression_log_density(cells: np.ndarray, transform: Transform, others: np.ndarray) -> float:
    """Log density of the cells by a linear regression of the transformed ones, with a standard normal prior."""
    seen = ~np.isnan(cells)
    y = transform.forward(cells[seen])
    log_jacobian = np.sum(transform.log_slope(y) + np.zeros(len(y)))
    center, scale = (of[0] for of in standard_units(y[:, None], True, "data"))
    y = (y - center) / scale
    X = others[seen]
    weights = np.linalg.solve(X.T @ X + np.eye(X.shape[1]), X.T @ y)
    square = ((y - X @ weights) ** 2).sum() + weights @ weights
    n = len(y)
    return log_jacobian - n * np.log(scale) - 0.5 * n * (np.log(2.0 * np.pi * max(square / n, 1e-12)) + 1.0)


def coefficient_penalty(regressors: np.ndarray, n_cells: int) -> float:
    """Of the BIC, for the coefficients of a regression of so many cells."""
    return 0.5 * regressors.shape[1] * np.log(n_cells)


def _standardised(x):
    """In standard deviations; missing cells stay so."""
    if np.isnan(x).all():
        return x
    center, scale = standard_units(x[:, None], True, "data")
    return (x - center[0]) / scale[0]
