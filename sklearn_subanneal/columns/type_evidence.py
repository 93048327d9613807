"""The evidence of one column for each type: log probabilities of the cells, comparable between types.

A density of cells that repeat has no bound, and cannot be compared with a probability. Rounded cells are therefore
spread evenly over their interval of rounding, and their mean log density there, plus the log of its width, is a lower
bound of the log probability of the interval (Jensen's inequality): at most 0, and close where the density changes
little within the interval.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.special import gammaln, logsumexp

from sklearn_subanneal.columns.atoms import find_atoms
from sklearn_subanneal.columns.number_values import NumberValues
from sklearn_subanneal.columns.ordinal_shapes import shapes_between
from sklearn_subanneal.columns.transform_choice import transform_evidence
from sklearn_subanneal.columns.transforms import IDENTITY, Transform

# Evidence of reals takes so many of the cells, evenly spaced in their order: more would cost time only.
MOST_CELLS = 2000
# Prior probability that the frequencies of an ordinal column follow no shape.
FREE = 0.1
# Shapes of the negative binomial distribution of counts, and means as multiples of the mean of the cells.
COUNT_SHAPES = np.geomspace(0.02, 100.0, 25)
COUNT_MEANS = np.geomspace(0.5, 2.0, 15)
# Of two normals: steps of the EM algorithm, and their least standard deviation, that of the cells being 1.
EM_STEPS, LEAST_SPREAD = 40, 0.05


class TypeEvidence:
    """Log evidence of the numbers of a column under each type, as if all rows were one cluster.

    Two types stand for the mixtures that they are part of: a count is negative binomial (a gamma mixture of Poisson
    distributions), and the part of a semicontinuous column that is not atoms may be transformed.

    Parameters
    ----------
    numbers : NumberValues
        The column.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.columns.number_values import NumberValues
    >>> from sklearn_subanneal.columns.type_evidence import TypeEvidence
    >>> visits = np.random.default_rng(0).poisson(2.0, 300).astype(float)
    >>> evidence = TypeEvidence(NumberValues.of(visits))
    >>> bool(evidence.count > evidence.real)
    True
    """

    def __init__(self, numbers: NumberValues):
        self.numbers = numbers

    @cached_property
    def equal(self) -> float:
        """Of categories that are equally probable."""
        return -self.numbers.n_cells * np.log(len(self.numbers.values)) - self._log_choices

    @cached_property
    def categorical(self) -> float:
        """Of categories with a uniform prior of their probabilities."""
        return _log_dirichlet(self.numbers.counts) - self._log_choices

    @cached_property
    def shapes(self) -> float:
        """Of ordered levels whose frequencies are those of a normal variable between cut points."""
        n_levels = len(self.numbers.values)
        probabilities = shapes_between(tuple((np.arange(n_levels - 1) + 0.5).tolist())).probabilities
        logs = (np.log(probabilities) @ self.numbers.counts).ravel()
        return float(logsumexp(logs) - np.log(len(logs))) - self._log_choices

    @cached_property
    def ordinal(self) -> float:
        """Of ordered levels, whose frequencies may have no shape."""
        return float(np.logaddexp(np.log1p(-FREE) + self.shapes, np.log(FREE) + self.categorical))

    @cached_property
    def count(self) -> float:
        """Of negative binomial counts."""
        x, counts, n = self.numbers.values, self.numbers.counts, self.numbers.n_cells
        shape = COUNT_SHAPES[:, None]
        mean = COUNT_MEANS * max(x @ counts / n, 1.0 / n)
        total = x @ counts
        # Gamma(x + shape) / (Gamma(shape) x!) (shape / (shape + mean))^shape (mean / (shape + mean))^x
        coefficients = (gammaln(x + shape) - gammaln(x + 1.0)) @ counts - n * gammaln(COUNT_SHAPES)
        logs = (
            coefficients[:, None] - n * shape * np.log1p(mean / shape) + total * (np.log(mean) - np.log(shape + mean))
        )
        return float(logsumexp(logs) - np.log(logs.size))

    @cached_property
    def real(self) -> float:
        """Of one normal."""
        return self._plain_and_skewed[0]

    @cached_property
    def skewed(self) -> float:
        """Of one normal after the best transformation."""
        return self._plain_and_skewed[1]

    @cached_property
    def two_normals(self) -> float:
        """Of a mixture of two normals, by the Bayesian information criterion."""
        return self._of_two_normals(IDENTITY)

    @cached_property
    def two_skewed(self) -> float:
        """The same after the transformation that is best for one normal."""
        found = transform_evidence(self._spread)
        return self._of_two_normals(next(transform for transform, _ in found if transform != IDENTITY))

    @cached_property
    def atoms(self) -> np.ndarray:
        """Values that many cells have, while most others hardly repeat."""
        # The rows of missing cells count, as when the column is bound.
        return find_atoms(np.append(self.numbers.cells(), np.full(self.numbers.n_missing, np.nan)))

    @cached_property
    def semicontinuous(self) -> float:
        """Of atoms and, for the rest, one normal, transformed or not."""
        numbers, is_atom = self.numbers, np.isin(self.numbers.values, self.atoms)
        rest = NumberValues(numbers.values[~is_atom], numbers.counts[~is_atom], numbers.step)
        if not is_atom.any() or len(rest.values) < 2:
            return -np.inf
        shares = _log_dirichlet(np.append(numbers.counts[is_atom], rest.n_cells))
        return shares - is_atom.sum() * np.log(len(numbers.values)) + max(self._of_reals(rest))

    @cached_property
    def _plain_and_skewed(self) -> tuple[float, float]:
        return self._of_reals(self.numbers)

    @property
    def _log_choices(self) -> float:
        """Log number of sets of so many values between the least and the largest."""
        n_values, n_places = len(self.numbers.values), self.numbers.n_places
        if not np.isfinite(n_places):
            return np.inf
        return float(gammaln(n_places + 1.0) - gammaln(n_values + 1.0) - gammaln(n_places - n_values + 1.0))

    @property
    def _unit(self) -> float:
        """A power of two near the largest value, which costs no accuracy and keeps squares from overflow."""
        return float(np.ldexp(1.0, np.frexp(np.abs(self.numbers.values).max())[1] - 1))

    @cached_property
    def _spread(self) -> np.ndarray:
        return spread_cells(self.numbers) / self._unit

    def _of_two_normals(self, transform: Transform) -> float:
        cells = self._spread
        values, n = transform.forward(cells), len(cells)
        log_jacobian = np.sum(transform.log_slope(values) + np.zeros(n))
        log_likelihood = _two_normals(values) + log_jacobian + n * np.log(self.numbers.resolution / self._unit)
        return self.numbers.n_cells / n * (log_likelihood - 2.5 * np.log(n))

    def _of_reals(self, numbers: NumberValues) -> tuple[float, float]:
        """Of cells without transformation, and with the best one."""
        if len(numbers.values) < 2:
            return -np.inf, -np.inf
        cells = spread_cells(numbers) / self._unit
        # Cells that are left out count like those that are taken.
        times = numbers.n_cells / len(cells)
        log_width = len(cells) * np.log(self.numbers.resolution / self._unit)
        found = {transform.name: times * (log + log_width) for transform, log in transform_evidence(cells)}
        return found.pop("identity"), max(found.values())


def spread_cells(numbers: NumberValues) -> np.ndarray:
    """The cells, at most ``MOST_CELLS``, equal ones spread evenly over the interval of rounding.

    Cells that are at least 0 are spread upwards, as if they were rounded down, so that they remain positive.
    """
    cells = numbers.cells(MOST_CELLS)
    if np.unique(cells).size == len(cells):
        return cells
    values, counts = np.unique(cells, return_counts=True)
    within = np.arange(len(cells)) - np.repeat(np.cumsum(counts) - counts, counts)
    fraction = (within + 0.5) / np.repeat(counts, counts)
    return cells + numbers.resolution * (fraction if values[0] >= 0.0 else fraction - 0.5)


def _two_normals(cells: np.ndarray) -> float:
    """Largest log likelihood of a mixture of two normals, by EM from three splits of the sorted cells."""
    scale, n = cells.std(), len(cells)
    z = (np.sort(cells) - cells.mean()) / scale
    best = -np.inf
    for share in (0.25, 0.5, 0.75):
        first = np.arange(n) < share * n
        weights = np.array([first, ~first], dtype=np.float64)
        for _ in range(EM_STEPS):
            sizes = weights.sum(axis=1) + 1e-9
            means = weights @ z / sizes
            spreads = np.maximum((weights * (z - means[:, None]) ** 2).sum(axis=1) / sizes, LEAST_SPREAD**2)
            logs = np.log(sizes / n)[:, None] - 0.5 * (
                (z - means[:, None]) ** 2 / spreads[:, None] + np.log(2.0 * np.pi * spreads)[:, None]
            )
            total = np.logaddexp(*logs)
            weights = np.exp(logs - total)
        best = max(best, float(total.sum()))
    return best - n * np.log(scale)


def _log_dirichlet(counts: np.ndarray) -> float:
    """Log probability of the cells in their order, given a uniform prior of the probabilities."""
    return float(gammaln(len(counts)) - gammaln(len(counts) + counts.sum()) + gammaln(counts + 1.0).sum())
