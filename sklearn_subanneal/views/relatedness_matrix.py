"""relatedness_matrix: the relatedness of all pairs of columns of a cross-categorization, from the same samples."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln, rel_entr

from sklearn_subanneal._core.log_space import log_sum_exp
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.ensemble import chunks
from sklearn_subanneal.mixtures.parts import Part
from sklearn_subanneal.mixtures.predictive import Predictive, restricted
from sklearn_subanneal.views.draws import ViewsDraw
from sklearn_subanneal.views.information import LEAST_SAMPLES, MOST_LOG_RATIO, excess

# The square of a correlation within a cluster is at most 1 minus this.
LEAST_RESIDUE = 1e-12


def relatedness_matrix(
    models: list[ColumnModel],
    draws: list[ViewsDraw],
    columns: np.ndarray,
    *,
    n_samples: int,
    generator: np.random.Generator,
) -> np.ndarray:
    """Relatedness of all pairs of columns, (n_columns, n_columns), from the same samples; 1 on the diagonal.

    As :func:`~sklearn_subanneal.views.information.mutual_information` of each pair, without evidence; `n_samples` are
    spread over all draws.
    """
    information = np.zeros((len(columns), len(columns)))
    n_each = max(math.ceil(n_samples / len(draws)), LEAST_SAMPLES)
    for draw in draws:
        for view, mixture in enumerate(draw.views):
            members = draw.members(view)
            at = np.flatnonzero(draw.column_labels[columns] == view)
            if len(at) > 1:
                # The members of a view are in the order of the table, the columns in the caller's.
                at = at[np.argsort(columns[at])]
                predictive = restricted(models, mixture, members, columns[at])
                discrete = np.array([models[j].discrete for j in columns[at]])
                own = _pairwise_information(predictive, discrete, n_each, generator)
                information[np.ix_(at, at)] += draw.weight * own
    # For the rival density, which of the two columns is of which sample matters.
    information = 0.5 * (information + information.T)
    related = np.sqrt(-np.expm1(-2.0 * np.maximum(information / sum(draw.weight for draw in draws), 0.0)))
    np.fill_diagonal(related, 1.0)
    return related


class _BlockPairs:
    """All pairs of the columns of a block: in a cluster, two of them have a bivariate t."""

    def __init__(self, part: Part, members: list[int], log_weights: np.ndarray):
        self.places = np.array([members.index(m) for m in part.members])
        self.log_weights = log_weights
        location, scale, self.free = part.statistics.predictive(len(log_weights))
        self.location, self.deviation = location.T, np.sqrt(np.diagonal(scale, axis1=1, axis2=2)).T
        self.correlation = scale / (self.deviation.T[:, :, None] * self.deviation.T[:, None, :])
        for correlation in self.correlation:
            np.fill_diagonal(correlation, 0.0)

    def standardised(self, values: np.ndarray) -> np.ndarray:
        """Deviations (n_rows, n_columns, n_clusters) from the locations, in units of the scales."""
        return (values[:, :, None] - self.location) / self.deviation

    def log_densities(self, deviations: np.ndarray) -> np.ndarray:
        """Log density of each column alone, (n_rows, n_columns, n_clusters)."""
        free = self.free
        constant = gammaln(0.5 * (free + 1.0)) - gammaln(0.5 * free) - 0.5 * np.log(np.pi * free)
        return constant - np.log(self.deviation) - 0.5 * (free + 1.0) * np.log1p(deviations**2 / free)

    def mean_excess(self, left: tuple[np.ndarray, np.ndarray], right: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Mean over rows of the excess of each pair, a column of `left` and a column of `right`.

        Either has log p(x_j | cluster) / p(x_j), and the deviations, each (n_rows, n_columns, n_clusters).
        """
        ratio = 0.0
        for k, (log_weight, free) in enumerate(zip(self.log_weights, self.free, strict=True)):
            (of_x, x), (of_y, y) = ((logs[..., k], deviations[..., k]) for logs, deviations in (left, right))
            x, y, r = x[:, :, None], y[:, None, :], self.correlation[k]
            residue = np.maximum(1.0 - r**2, LEAST_RESIDUE)
            constant = gammaln(0.5 * free + 1.0) + gammaln(0.5 * free) - 2.0 * gammaln(0.5 * (free + 1.0))
            log_ratio = log_weight + of_x[:, :, None] + of_y[:, None, :] + constant - 0.5 * np.log(residue)
            # The density of the pair over the product of those of its columns.
            log_ratio += 0.5 * (free + 1.0) * (np.log1p(x**2 / free) + np.log1p(y**2 / free))
            log_ratio -= (0.5 * free + 1.0) * np.log1p((x**2 + y**2 - 2.0 * r * x * y) / (residue * free))
            ratio = ratio + np.exp(np.minimum(log_ratio, MOST_LOG_RATIO))
        return excess(ratio).mean(axis=0)


def _pairwise_information(predictive: Predictive, discrete, n_samples: int, generator) -> np.ndarray:
    """Mutual information of all pairs of columns of one view of one draw, once symmetrised; not on the diagonal."""
    weights = np.exp(predictive.log_weights)
    n_columns, half = len(discrete), n_samples // 2
    out = np.zeros((n_columns, n_columns))
    block = next((part for part in predictive.parts if part.is_block), None)
    pairs = None if block is None else _BlockPairs(block, predictive.members, predictive.log_weights)
    if not discrete.all():
        for rows in chunks(half, n_columns * max(n_columns, len(weights))):
            n_rows = rows.stop - rows.start
            (here, of_here), (there, of_there) = (
                _shares(predictive, pairs, weights, n_rows, generator) for _ in range(2)
            )
            # Columns of one sampled row follow their joint density; of two rows, the product of their densities.
            joint, rival = _mean_excess(weights, here, here), _mean_excess(weights, here, there)
            if pairs is not None:
                at = np.ix_(pairs.places, pairs.places)
                joint[at], rival[at] = pairs.mean_excess(of_here, of_here), pairs.mean_excess(of_here, of_there)
            out += 0.5 * (joint + rival) * (n_rows / half)
    if discrete.sum() > 1:
        tables = [
            part.statistics.probabilities(len(weights))
            for part in predictive.parts
            if not part.is_block and discrete[predictive.members.index(part.members[0])]
        ]
        starts = np.cumsum([0] + [table.shape[1] for table in tables[:-1]])
        stacked = np.hstack(tables)
        marginal = weights @ stacked
        terms = rel_entr((stacked * weights[:, None]).T @ stacked, np.outer(marginal, marginal))
        sums = np.add.reduceat(np.add.reduceat(terms, starts, axis=0), starts, axis=1)
        out[np.ix_(discrete, discrete)] = sums
    return out


def _shares(predictive: Predictive, pairs: _BlockPairs | None, weights, n_rows: int, generator):
    """p(x_j | cluster) / p(x_j) of each column of sampled rows, (n_rows, n_columns, n_clusters + 1).

    With the same of the block, as :meth:`_BlockPairs.mean_excess` takes it, or None.
    """
    slots = generator.choice(len(weights), size=n_rows, p=weights).astype(np.int32)
    out = np.empty((n_rows, len(predictive.members), len(weights)))
    for part in predictive.parts:
        cells = part.statistics.draws(slots, np.full((n_rows, len(part.members)), np.nan), generator)
        if part.is_block:
            deviations = pairs.standardised(cells)
            out[:, pairs.places] = pairs.log_densities(deviations)
        else:
            out[:, predictive.members.index(part.members[0])] = part.statistics.log_densities(cells, len(weights))
    out -= log_sum_exp((out + predictive.log_weights).reshape(-1, len(weights))).reshape(n_rows, -1, 1)
    of_block = None if pairs is None else (out[:, pairs.places], deviations)
    return np.exp(out, out=out), of_block


def _mean_excess(weights, left, right) -> np.ndarray:
    """Mean over rows of the excess of each pair, a column of `left` and a column of `right`."""
    return excess((left * weights) @ right.transpose(0, 2, 1)).mean(axis=0)
