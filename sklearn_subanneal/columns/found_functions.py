"""found_functions: which columns of a table are one-to-one functions of other columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln
from scipy.stats import rankdata, skew

from sklearn_subanneal.tables.cells import is_missing
from sklearn_subanneal.tables.column import Column
from sklearn_subanneal.tables.derivation import SHAPES, FunctionOfCodes, FunctionOfNumbers

# Rows with both cells that a function needs.
FEWEST_ROWS = 20
# The largest deviation from a function, in standard deviations, and what rounding may explain. Numbers have at most so
# many decimals, half of the last of which is lost by rounding, and a quarter by the coefficients.
LEAST_DEVIATION, MOST_DEVIATION, MOST_DECIMALS, LOST = 1e-4, 0.02, 8, 0.75
# Coefficients with so many digits are taken if the largest deviation is at most so many times as large, plus this.
N_DIGITS, AS_GOOD, NEGLIGIBLE = (3, 6), 1.3, 1e-6
# By rounding, a function may give two numbers the same value, in this share of them.
MOST_TIES = 0.05
# The log of the number of distinct orders of the rows that the cells of two columns must have.
LEAST_LOG_ORDERS = 20.0
# Rows by whose ranks pairs are chosen, and the rank correlation that these need with and without missing cells.
MOST_ROWS, LEAST_CORRELATION, LEAST_WITH_GAPS = 500, 0.999, 0.95
# Errors of floating point, relative to the largest number: of numbers in single precision, too.
RELATIVE = 1e-7
# Columns compared with all others at once.
N_AT_ONCE = 256
# The first column whose skewness is by less than this above the smallest is the source of the others.
SKEWNESS = 0.5


@dataclass(frozen=True, eq=False)
class FoundFunction:
    """How a column is a function of another.

    Attributes
    ----------
    source : int
        Index of the other column.
    cells : ndarray of shape (n_rows,)
        Typed cells of the column: numbers, or codes if the source has codes.
    numbers : FunctionOfNumbers or None
        Of the numbers of the source, if both have numbers.
    codes : FunctionOfCodes or None
        Of the codes of the source, if it has codes.
    values : ndarray or None
        What the codes of the column stand for, if its own type had none.
    """

    source: int
    cells: np.ndarray
    numbers: FunctionOfNumbers | None = None
    codes: FunctionOfCodes | None = None
    values: np.ndarray | None = None

    @property
    def may_revise(self) -> bool:
        """Whether the source may become real in place of categories."""
        return self.numbers is not None

    def function(self, source: Column) -> FunctionOfNumbers | FunctionOfCodes:
        """The function, by how the source is modelled."""
        if source.categories is not None:
            return self.codes
        return replace(self.numbers, is_count=source.type.largest is not None)


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A column that may be a function of others, or they of it.

    Attributes
    ----------
    number : int
    cells : ndarray
        Typed.
    numbers : ndarray of float64 or None
        The cells as numbers, NaN where missing; None if they are texts, or true and false.
    is_coded : bool
    is_declared : bool
        It is modelled then, and may be the source of others alone.
    """

    number: int
    cells: np.ndarray
    numbers: np.ndarray | None
    is_coded: bool
    is_declared: bool


@np.errstate(all="ignore")
def found_functions(
    columns: Sequence[Column], arrays: Sequence[np.ndarray], kept: Collection[int] = ()
) -> dict[int, FoundFunction]:
    """The columns that are one-to-one functions of other columns.

    A number is one if it is a linear function of the other number, or of its logarithm (also of 1 + x), square, square
    root or reciprocal, or the inverse of such a function, in all rows with both, up to rounding; a category if it goes
    with one category of the other column, and both are missing in the same rows. It must not be by chance: the rows
    have to have at least exp(20) times the square of the number of columns distinct orders. Columns whose type was
    declared are no functions of others, but others may be of them; dates and angles are left alone.

    Parameters
    ----------
    columns : sequence of Column
        As read, not split.
    arrays : sequence of ndarray of shape (n_rows,)
        The typed cells of each.
    kept : collection of int, default=()
        Columns that are no functions of others, as if their type were declared.

    Returns
    -------
    found : dict of int to FoundFunction
        By column; no source is among them. Of numbers that are functions of one another, the source is the first of
        those with the least skewness, or its logarithm; of categories the first ordinal column, else the first. Columns
        whose types were declared come first.
    """
    candidates = [
        _Candidate(j, arrays[j], *_of(column, arrays[j]), not column.inferred or j in kept)
        for j, column in enumerate(columns)
        if column.split is None and column.kind != "cyclic"
    ]
    least = LEAST_LOG_ORDERS + 2.0 * np.log(max(len(candidates), 2))
    found: dict[int, FoundFunction] = {}
    numbers = [one for one in candidates if one.numbers is not None]
    pairs = [(i, j) for i, j in _pairs_of_numbers(numbers) if _function_of_numbers(numbers[i], numbers[j], least)]
    for group in _groups(numbers, pairs):
        source = _source(group, least)
        for other in group:
            if other is source or other.is_declared:
                continue
            if (how := _function_of_numbers(source, other, least)) is not None:
                found[other.number] = how
    taken = set(found) | {how.source for how in found.values()}
    coded = [one for one in candidates if one.is_coded and one.number not in taken]
    for group in _groups_of_codes(coded):
        source = min(group, key=lambda one: (not one.is_declared, not columns[one.number].type.ordered, one.number))
        for other in group:
            if other is source or other.is_declared:
                continue
            if (order := _order(source.cells, other.cells, least)) is not None:
                found[other.number] = FoundFunction(source.number, other.cells, codes=FunctionOfCodes(order))
    return found


def _source(group: Sequence[_Candidate], least: float) -> _Candidate:
    """Of columns that are functions of one another, the one that is modelled."""
    sources = [one for one in group if one.is_declared] or group
    sizes = np.array([abs(skew(one.numbers / np.nanmax(np.abs(one.numbers)), nan_policy="omit")) for one in sources])
    source = sources[int(np.argmax(sizes <= sizes.min() + SKEWNESS))]
    for one in sources:
        # A model of reals says nothing of where a logarithm ends, which its exponential knows.
        how = _function_of_numbers(source, one, least) if one is not source else None
        if how is not None and how.numbers.shape in ("log", "log1p") and not how.numbers.is_inverse:
            return one
    return source


def _of(column: Column, cells: np.ndarray) -> tuple[np.ndarray | None, bool]:
    """The cells of a column as numbers, and whether they are codes."""
    if column.categories is None:
        return (cells if cells.dtype.kind == "f" else np.where(cells < 0, np.nan, cells)), False
    if column.categories.dtype.kind not in "iuf":
        return None, True
    return np.where(cells < 0, np.nan, column.categories[cells].astype(float)), True


def _pairs_of_numbers(candidates: Sequence[_Candidate]) -> list[tuple[int, int]]:
    """Pairs that rise or fall together in some of the rows."""
    if len(candidates) < 2:
        return []
    rows = np.linspace(0, len(candidates[0].cells) - 1, min(len(candidates[0].cells), MOST_ROWS)).astype(int)
    cells = np.column_stack([one.numbers[rows] for one in candidates])
    ranks = rankdata(cells, axis=0, nan_policy="omit")
    present = (~np.isnan(ranks)).astype(float)
    centred = np.nan_to_num(ranks - (present.sum(axis=0) + 1.0) / 2)
    pairs = []
    for first in range(0, len(candidates), N_AT_ONCE):
        own = slice(first, first + N_AT_ONCE)
        both = present[:, own].T @ present
        scale = np.sqrt((centred[:, own] ** 2).T @ present * (present[:, own].T @ centred**2))
        size = np.abs(np.divide(centred[:, own].T @ centred, scale, out=np.zeros_like(scale), where=scale > 0))
        least = np.where(both == len(rows), LEAST_CORRELATION, LEAST_WITH_GAPS)
        pairs += [(i + first, j) for i, j in np.argwhere(size >= least).tolist() if i + first < j]
    return [(i, j) for i, j in pairs if _is_monotone(cells[:, i], cells[:, j])]


def _groups(candidates: Sequence[_Candidate], pairs: Sequence[tuple[int, int]]) -> list[list[_Candidate]]:
    """Columns with all that they are paired with, the largest groups first, each column in at most one of them."""
    near: dict[int, set[int]] = {}
    for i, j in pairs:
        near.setdefault(i, {i}).add(j)
        near.setdefault(j, {j}).add(i)
    taken: set[int] = set()
    groups = []
    for i in sorted(near, key=lambda i: (-len(near[i]), i)):
        group = sorted(near[i] - taken)
        if i not in taken and len(group) > 1:
            groups.append([candidates[j] for j in group])
            taken |= near[i]
    return groups


def _function_of_numbers(source: _Candidate, other: _Candidate, least: float) -> FoundFunction | None:
    rows = np.flatnonzero(~np.isnan(source.numbers) & ~np.isnan(other.numbers))
    x, y = source.numbers[rows], other.numbers[rows]
    if len(rows) < FEWEST_ROWS or not _is_monotone(x, y) or _log_orders(x) < least or not _are_one_to_one(x, y):
        return None
    if (function := _best_shape(x, y)) is None or not _has_all(function, source.numbers, other.numbers):
        return None
    function = replace(function, points=np.unique(source.numbers[~np.isnan(source.numbers)]))
    if not source.is_coded:
        return FoundFunction(source.number, other.numbers, numbers=function)
    # The other column has as many values, and gets codes as well.
    codes, values, cells = other.cells[rows], None, other.cells
    if not other.is_coded:
        values, codes = np.unique(y, return_inverse=True)
        cells = np.full(len(other.cells), -1, source.cells.dtype)
        cells[rows] = codes
        # Values that never occur beside one of the source have no code.
        if np.count_nonzero(~np.isnan(other.numbers)) > len(rows):
            return None
    order = _order(source.cells[rows], codes, least)
    if order is None or len(order) <= source.cells.max():
        return None
    return FoundFunction(source.number, cells, function, FunctionOfCodes(order, function.words), values)


def _has_all(function: FunctionOfNumbers, x: np.ndarray, y: np.ndarray) -> bool:
    """Whether each number has a partner, also where this is missing: the logarithm of an income of 0 always is."""
    alone, other_alone = x[~np.isnan(x) & np.isnan(y)], y[np.isnan(x) & ~np.isnan(y)]
    is_known = function.agrees(alone, function.forward(alone))
    return bool(is_known.all() and function.agrees(function.backward(other_alone), other_alone).all())


def _best_shape(x: np.ndarray, y: np.ndarray) -> FunctionOfNumbers | None:
    """The function of numbers x that is nearest to y, if only rounding keeps it from being y."""
    best, least = None, np.inf
    for is_inverse, (of, to) in enumerate([(x, y), (y, x)]):
        spread = _spread(to)
        for shape, how in SHAPES.items():
            if of.min() < how.lowest:
                continue
            z, after = how.forward(of), how.forward(of + _unit(of))
            if not (np.isfinite(z).all() and np.isfinite(after).all() and z.max() > z.min()):
                continue
            slope, intercept = _coefficients(z, to)
            rounding = LOST * (_unit(to) + np.abs(slope * (after - z)))
            off = np.abs(intercept + slope * z - to)
            allowed = np.clip(rounding, LEAST_DEVIATION * spread, MOST_DEVIATION * spread)
            if (off <= allowed).all() and (size := float(off.max() / spread)) < least:
                least = size
                best = FunctionOfNumbers(
                    shape,
                    intercept,
                    slope,
                    mean=float(y.mean()),
                    spread=_spread(y),
                    tolerance=0.0,
                    low=float(x.min()),
                    high=float(x.max()),
                    is_whole=np.array_equal(x, np.rint(x)),
                    is_inverse=bool(is_inverse),
                )
    if best is None:
        return None
    return replace(best, tolerance=float(np.abs(best.forward(x) - y).max()))


def _spread(values: np.ndarray) -> float:
    """A standard deviation, as the median absolute deviation says it if that is less."""
    half, size = 1.4826 * float(np.median(np.abs(values - np.median(values)))), float(np.abs(values).max()) or 1.0
    deviation = size * float((values / size).std())
    return min(half, deviation) if half > 0.0 else deviation


def _coefficients(z: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Slope and intercept of y by z: 1 and 0, or those of a regression, of few digits, and no intercept, if as good."""
    centred, other = z - z.mean(), y - y.mean()
    # Squares of large numbers overflow.
    sizes = np.abs(centred).max(), np.abs(other).max()
    scaled = centred / sizes[0]
    slope = float((scaled * (other / sizes[1])).sum() / (scaled**2).sum()) * (sizes[1] / sizes[0])
    candidates = [(1.0, 0.0)]
    for n_digits in N_DIGITS:
        own = float(f"{slope:.{n_digits}g}")
        candidates += [(own, 0.0), (own, float(f"{y.mean() - own * z.mean():.{n_digits}g}"))]
    candidates += [(slope, 0.0), (slope, float(y.mean() - slope * z.mean()))]
    off = np.array([np.abs(intercept + one * z - y).max() for one, intercept in candidates])
    return candidates[int(np.argmax(off <= AS_GOOD * off[-1] + NEGLIGIBLE * _spread(y)))]


def _unit(values: np.ndarray) -> float:
    """The unit to which numbers are rounded, 1, 0.1, 0.01, ...; 0 if they are not."""
    for n_decimals in range(MOST_DECIMALS):
        if np.allclose(np.round(values, n_decimals), values, rtol=1e-12, atol=0.0):
            return 10.0**-n_decimals
    return 0.0


def _is_monotone(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether y rises or falls with x, but for errors of floating point: rounded numbers do, too."""
    both = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[both], y[both]
    least = -RELATIVE * np.abs(y).max(initial=0.0)
    return any((np.diff(own[np.lexsort((own, x))]) >= least).all() for own in (y, -y))


def _are_one_to_one(x: np.ndarray, y: np.ndarray) -> bool:
    n_pairs = len(np.unique(np.column_stack([x, y]), axis=0))
    fewest = min(len(np.unique(x)), len(np.unique(y)))
    are_whole = np.array_equal(x, np.rint(x)) and np.array_equal(y, np.rint(y))
    # Whole numbers are not rounded ones: classes numbered within schools are more than schools.
    return fewest > 1 and n_pairs <= fewest * (1.0 if are_whole else 1.0 + MOST_TIES)


def _log_orders(values: np.ndarray) -> float:
    """Log of the number of distinct orders of the values."""
    counts = np.unique(values, return_counts=True)[1]
    return float(gammaln(len(values) + 1.0) - gammaln(counts + 1.0).sum())


def _groups_of_codes(candidates: Sequence[_Candidate]) -> list[list[_Candidate]]:
    """Columns whose codes, numbered in the order of their first rows, and whose missing cells are the same."""
    groups: dict[bytes, list[_Candidate]] = {}
    for one in candidates:
        _, first, places = np.unique(one.cells, return_index=True, return_inverse=True)
        numbered = np.argsort(np.argsort(first))[places]
        key = np.where(is_missing(one.cells), -1, numbered).astype(np.int32).tobytes()
        groups.setdefault(key, []).append(one)
    return [group for group in groups.values() if len(group) > 1]


def _order(cells: np.ndarray, codes: np.ndarray, least: float) -> np.ndarray | None:
    """The code of a column for each code of its source, None if that is no function or may be by chance."""
    known = ~is_missing(cells) & ~is_missing(codes)
    cells, codes = cells[known], codes[known]
    if len(cells) < FEWEST_ROWS or _log_orders(cells) < least:
        return None
    values, first = np.unique(cells, return_index=True)
    order = codes[first].astype(int)
    # Categories that a dtype declares and that do not occur have no partner.
    is_whole = len(values) == values[-1] + 1 and np.array_equal(np.sort(order), np.arange(len(values)))
    return order if is_whole and len(values) > 1 and np.array_equal(order[cells], codes) else None
