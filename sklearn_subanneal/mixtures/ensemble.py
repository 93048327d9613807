"""Ensemble, the posterior predictive averaged over draws: densities, samples, expectations and imputations of rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from copy import copy
from dataclasses import replace
from functools import cached_property

import numpy as np
from scipy.special import softmax

from sklearn_subanneal._core.log_space import log_mean_exp, log_sum_exp
from sklearn_subanneal.columns.cell_ranges import limited_moments
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.distinct_rows import DistinctRows
from sklearn_subanneal.tables.cells import is_missing

# Rows times clusters held at once in one float64 array: 1 MB, which stays in the cache from column to column.
CELLS_PER_CHUNK = 131_072
# The same where much is done for each chunk in Python.
MOMENTS_PER_CHUNK = 4 * CELLS_PER_CHUNK


def chunks(n_rows: int, n_clusters: int, most: int = CELLS_PER_CHUNK) -> Iterator[slice]:
    """Slices of the rows that keep arrays of (rows, clusters) small."""
    step = max(most // max(n_clusters, 1), 1)
    return (slice(at, min(at + step, n_rows)) for at in range(0, n_rows, step))


class Ensemble:
    """The average over draws of products of independent mixtures over disjoint groups of columns.

    Parameters
    ----------
    models : list of ColumnModel
        Models of all columns.
    products : list of list of Predictive
        The factors of each draw; their ``members`` are a partition of the models.
    weights : ndarray of shape (n_draws,) or None, default=None
        Positive weights of the draws, in any unit; None: all are equal.
    left_out : bool, default=False
        Whether the rows are training rows, each judged by the others: the factors are then ``LeaveOneOut``.
    """

    def __init__(self, models: list[ColumnModel], products: list, weights: np.ndarray | None = None, left_out=False):
        self.models, self.products, self.left_out = models, products, left_out
        # Their mean is 1.
        self.log_weights = np.zeros(len(products)) if weights is None else np.log(weights / np.mean(weights))
        self.most_clusters = max(factor.n_clusters + 1 for factors in products for factor in factors)
        self.widest = max(len(part.members) for factors in products for factor in factors for part in factor.parts)
        self.most_terms = max(sum(factor.n_clusters + 1 for factor in factors) for factors in products)

    def with_weights(self, weights: np.ndarray) -> Ensemble:
        """The same draws with other weights."""
        out = copy(self)
        out.log_weights = np.log(weights / np.mean(weights))
        return out

    def model_at(self, place: int) -> tuple[int, ColumnModel]:
        """The model of the column at a place, and its index."""
        return next((m, model) for m, model in enumerate(self.models) if place in model.sources)

    def cells(
        self, arrays: list[np.ndarray], n_terms: int, rows: np.ndarray | None = None, most: int = CELLS_PER_CHUNK
    ) -> Iterator[tuple[slice, DistinctRows]]:
        """Slices of the rows, with their cells, such that arrays of (rows, n_terms) have at most so many cells.

        ``rows`` are their positions in the table that the ensemble knows; None: the first ones.
        """
        rows = np.arange(len(arrays[0])) if rows is None else rows
        for part in chunks(len(rows), n_terms, most):
            yield part, DistinctRows.of(self.models, [a[part] for a in arrays], rows[part])

    def log_densities(self, cells: DistinctRows) -> np.ndarray:
        """Log density of each row in each draw, (n_draws, n_rows), in standard units; n_rows is 1 if rows are equal."""
        logs = [sum((factor.log_density(cells) for factor in own), np.zeros(1)) for own in self.products]
        return np.array(np.broadcast_arrays(*logs))

    def log_jacobians(self, cells: DistinctRows) -> list[np.ndarray | float]:
        """log |dz / dx| of the observed cells of each model, for each row or one for all."""
        ways = [model.left_out_log_jacobian if self.left_out else model.log_jacobian for model in self.models]
        jacobians = [way(values) for way, values in zip(ways, cells.values, strict=True)]
        return [cells.spread(m, part) if np.ndim(part) else part for m, part in enumerate(jacobians)]

    def score(self, arrays: list[np.ndarray]) -> np.ndarray:
        """Log density of each row, averaged over draws, in the units of the data; missing cells are marginalised."""
        out = np.empty(len(arrays[0]))
        for rows, cells in self.cells(arrays, self.most_clusters):
            weighted = self.log_densities(cells) + self.log_weights[:, None]
            out[rows] = log_mean_exp(weighted, axis=0) + sum(self.log_jacobians(cells))
        return out

    def least_score(self, arrays: list[np.ndarray]) -> np.ndarray:
        """Log harmonic mean over draws of the density of each row, in the units of the data.

        Draws in which a row is improbable count most. If the draws are those of the posterior given the row, and each
        gives its density without the row, this is its log density given the other rows alone.
        """
        out = np.empty(len(arrays[0]))
        for rows, cells in self.cells(arrays, self.most_clusters):
            inverse = self.log_weights[:, None] - self.log_densities(cells)
            out[rows] = sum(self.log_jacobians(cells)) - log_mean_exp(inverse, axis=0)
        return out

    def score_masses(self, arrays: list[np.ndarray]) -> np.ndarray:
        """The part of :meth:`score` that is a log probability: atoms, categories and counts apart from densities.

        It is the log probability of all categories and counts of a row, and for the cells of its semicontinuous columns
        of being the atom that they are or one of the rest. What is left of the score is the log density of the real
        cells given all that, in the units of the data.
        """
        out = np.empty(len(arrays[0]))
        for rows, cells in self.cells(arrays, self.most_clusters):
            logs = [sum(self._log_mass(factor, cells) for factor in factors) for factors in self.products]
            out[rows] = log_mean_exp(np.array(logs) + self.log_weights[:, None], axis=0)
        return out

    def _log_mass(self, factor, cells: DistinctRows) -> np.ndarray:
        log_joint = factor.log_shares(cells)
        for part in factor.parts:
            if not part.is_block:
                (m,) = part.members
                masses = self.models[m].log_masses(part.statistics, cells.values[m], factor.n_clusters + 1)
                log_joint = log_joint + cells.spread(m, masses)
        return log_sum_exp(log_joint)

    def evidence(self, given: list[np.ndarray] | None) -> tuple[DistinctRows, np.ndarray]:
        """The observed cells of one row, of whose other cells is known that they have known categories.

        Parameters
        ----------
        given : list of ndarray of shape (1,), or None
            Typed columns; None: nothing is observed.

        Returns
        -------
        cells : DistinctRows
        shares : ndarray of shape (n_draws,)
            Of the draws, by their weights and the densities that they give to these cells.
        """
        if given is None:
            return self._nothing, softmax(self._log_nothing.sum(axis=1) + self.log_weights)
        cells = self._admissible(DistinctRows.of(self.models, given))
        observed = {m for m, model in enumerate(self.models) if not missing([given[j] for j in model.sources]).all()}
        logs = self._log_nothing.copy()
        for draw, factors in enumerate(self.products):
            for number, factor in enumerate(factors):
                if not observed.isdisjoint(factor.members):
                    logs[draw, number] = factor.log_marginal(cells)[0]
        return cells, softmax(logs.sum(axis=1) + self.log_weights)

    def _admissible(self, cells):
        values = [model.admissible(own) for model, own in zip(self.models, cells.values, strict=True)]
        return replace(cells, values=values)

    @cached_property
    def _nothing(self):
        """A row of which nothing is observed."""
        values = [np.full((1, len(model.sources)), np.nan) for model in self.models]
        return self._admissible(DistinctRows(1, values, [None] * len(values)))

    @cached_property
    def _log_nothing(self):
        """Log density of that row in each factor of each draw, (n_draws, most_factors); 0 where there is none."""
        out = np.zeros((len(self.products), max(map(len, self.products))))
        for draw, factors in enumerate(self.products):
            out[draw, : len(factors)] = [factor.log_marginal(self._nothing)[0] for factor in factors]
        return out

    def sample(
        self, n_rows: int, generator: np.random.Generator, given: list[np.ndarray] | None = None
    ) -> list[np.ndarray]:
        """Rows drawn from the predictive: a draw, a cluster (or a new one) in each factor, the cells.

        A sampled category is one that `fit` has seen or that was declared: this is evidence too, by which draws and
        clusters count.

        Parameters
        ----------
        n_rows : int
        generator : numpy.random.Generator
        given : list of ndarray of shape (1,), or None
            Typed columns of one row, whose observed cells all rows have. Draws and clusters count by the density that
            they give to them.

        Returns
        -------
        arrays : list of ndarray of shape (n_rows,)
            Typed columns.
        """
        evidence, shares = self.evidence(given)
        values = [np.repeat(cells, n_rows, axis=0) for cells in evidence.values]
        chosen = generator.choice(len(self.products), n_rows, p=shares)
        for index in np.unique(chosen):
            rows = np.flatnonzero(chosen == index)
            for factor in self.products[index]:
                shares = softmax(factor.log_joint(evidence)[0])
                clusters = generator.choice(len(shares), len(rows), p=shares).astype(np.int32)
                for part in factor.parts:
                    drawn = part.side_by_side({m: values[m][rows] for m in part.members})
                    part.statistics.draws(clusters, drawn, generator)
                    for m, own in zip(part.members, np.hsplit(drawn, len(part.members)), strict=True):
                        values[m][rows] = own
        out: list = [None] * sum(len(model.sources) for model in self.models)
        for model, cells in zip(self.models, values, strict=True):
            for j, column in zip(model.sources, model.typed(cells), strict=True):
                out[j] = column
        if given is not None:
            # Standard units and back is not the identity in the last bit.
            for j in np.flatnonzero(~missing(given)[0]):
                out[j][:] = given[j][0]
        return out

    def expectations(
        self, cells: DistinctRows, targets, seen: bool = False, far: bool | None = None
    ) -> dict[int, tuple[np.ndarray, np.ndarray | None]]:
        """Expectations of some models given the observed cells of each row.

        The weight of a draw is multiplied by the density that it gives to all observed cells of the row, and that of a
        cluster is the density that it gives to those of its mixture: this is the conditional of the density that
        :meth:`score` reports.

        Parameters
        ----------
        cells : DistinctRows
        targets : collection of int
            Indices of the models. Their own observed cells count as evidence.
        seen : bool, default=False
            Whether these are the training rows: the draws are conditioned on them already, and keep their weights.
        far : bool or None, default=None
            Limits of the means of each draw, see :meth:`ColumnModel.limits_of_means`; None: none.

        Returns
        -------
        expectations : dict of int to (ndarray of shape (n_rows, n_values), ndarray of that shape or None)
            For each target the result of :meth:`ColumnModel.expectations`: the probabilities of its categories, and
            None; or its first and second moments, in standard units.
        """
        total = np.full(1, -np.inf)
        first, second = dict.fromkeys(targets, 0.0), dict.fromkeys(targets, 0.0)
        for factors, log_weight in zip(self.products, self.log_weights, strict=True):
            # Of seen rows, other factors say nothing.
            factors = [factor for factor in factors if not seen or not first.keys().isdisjoint(factor.members)]
            joints = [factor.log_joint(cells) for factor in factors]
            log_marginals = [log_sum_exp(joint) for joint in joints]
            log_density = log_weight + (0.0 if seen else sum(log_marginals))
            before, total = total, np.logaddexp(total, log_density)
            kept, share = np.exp(before - total)[:, None], np.exp(log_density - total)
            for factor, joint, log_marginal in zip(factors, joints, log_marginals, strict=True):
                wanted = [part for part in factor.parts if not first.keys().isdisjoint(part.members)]
                if not wanted:
                    continue
                weights = np.exp(joint - log_marginal[:, None]) * share[:, None]
                for part in wanted:
                    found = factor.expectations(self.models, part, cells, weights)
                    for m in (m for m in part.members if m in first):
                        ends = None if far is None else self.models[m].limits_of_means(far)
                        one, two = limited_moments(*found[m], share[:, None], ends)
                        first[m] = kept * first[m] + one
                        second[m] = None if two is None else kept * second[m] + two
        return {m: (first[m], second[m]) for m in first}

    def predict(
        self,
        arrays: list[np.ndarray],
        target: int,
        seen: bool = False,
        far: bool | None = None,
        rows: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """One column given the observed cells of each row, its own among them.

        Parameters
        ----------
        arrays : list of ndarray of shape (n_rows,)
        target : int
            Its place.
        seen, far
            See :meth:`expectations`.
        rows : ndarray of int, shape (n_rows,), or None
            See :meth:`cells`.

        Returns
        -------
        mean, deviation : ndarray of shape (n_rows,)
            Mean of a real or a count, in the units of the data; median of a skewed column.
        probabilities, uncertainty : ndarray of shape (n_rows, n_categories) and (n_rows,)
            Of a category, given that it is not unseen; the uncertainty is the probability that it is another one.
        """
        m, model = self.model_at(target)
        n_rows, n_values = len(arrays[0]), model.n_values or 1
        value, spread = np.empty((n_rows, n_values)), np.empty(n_rows)
        for part, cells in self.cells(arrays, self.most_terms + n_values, rows):
            one, two = self.expectations(cells, [m], seen, far)[m]
            own, (mode_or_mean, deviation) = [model.sources.index(target)], model.summary(one, two)
            value[part] = model.probabilities(one) if model.discrete else mode_or_mean[:, own]
            spread[part] = deviation[:, own[0]]
        return (value if model.discrete else value[:, 0]), spread

    def impute(
        self,
        arrays: list[np.ndarray],
        seen: bool = False,
        columns: Collection[int] | None = None,
        predicted: dict[int, np.ndarray] | None = None,
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The missing cells of each row given its observed ones, and their uncertainty.

        Reals: posterior mean and standard deviation; skewed ones: median and half the distance between the quantiles
        0.159 and 0.841; an atom of a semicontinuous column in place of the mean if it is almost sure. Of few numbers,
        the nearest. Counts: mean, rounded, and standard deviation. Ordinals: the median level, categories: the most
        probable one, and the probability that it is another. Observed cells stay, with uncertainty 0. The means of each
        draw are in the range of the training cells. For ``seen`` see :meth:`expectations`; only ``columns`` are filled.
        ``predicted`` takes, where they are filled, the probabilities of some discrete columns, (n_rows, n_categories),
        and of others, (n_rows, 1), what would be rounded.

        Returns
        -------
        filled, uncertainty : lists of ndarray of shape (n_rows,)
        """
        filled = [np.array(a) for a in arrays]
        uncertainty = [np.zeros(len(arrays[0])) for _ in arrays]
        gaps = missing(arrays)
        if columns is not None:
            gaps[:, [j for j in range(len(arrays)) if j not in columns]] = False
        holes = np.flatnonzero(gaps.any(axis=1))
        if not len(holes):
            return filled, uncertainty
        # Densities in all clusters are held at once, or the moments of all columns of a model in those of one factor.
        most = max(self.most_terms, self.most_clusters * max(len(model.sources) for model in self.models))
        for part, cells in self.cells([a[holes] for a in arrays], most, holes, MOMENTS_PER_CHUNK):
            rows = holes[part]
            targets = [m for m, model in enumerate(self.models) if gaps[np.ix_(rows, model.sources)].any()]
            for m, (one, two) in self.expectations(cells, targets, seen, far=False).items():
                model = self.models[m]
                value, spread = model.summary(one, two)
                if predicted and model.sources[0] in predicted:
                    predicted[model.sources[0]][rows] = model.probabilities(one) if model.discrete else value
                value = model.imputed(value, one)
                for i, j in enumerate(model.sources):
                    at = gaps[rows, j]
                    filled[j][rows[at]] = np.broadcast_to(value, (len(rows), value.shape[1]))[at, i]
                    uncertainty[j][rows[at]] = np.broadcast_to(spread, (len(rows), spread.shape[1]))[at, i]
        return filled, uncertainty


def missing(arrays: list[np.ndarray]) -> np.ndarray:
    """Which cells of typed columns are missing, bool (n_rows, n_columns)."""
    return np.column_stack([is_missing(a) for a in arrays])
