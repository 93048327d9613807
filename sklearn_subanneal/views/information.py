"""Mutual information between columns, estimated from the draws, with its Monte Carlo error.

In one draw the views are independent, so that I(a; b | c) is a sum over the views that hold columns of both a and b,
each a finite mixture in which columns are independent given the cluster.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import NamedTuple

import numpy as np
from scipy.special import rel_entr, xlogy

from sklearn_subanneal._core.log_space import log_sum_exp
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.ensemble import chunks
from sklearn_subanneal.mixtures.mixture_chain import Draw
from sklearn_subanneal.mixtures.predictive import Predictive
from sklearn_subanneal.views.draws import ViewsDraw

# A table of so many cells, times clusters, is summed exactly: some milliseconds.
MOST_CELLS_SUMMED = 1 << 20
# So many samples a draw, at the least: half of them on each side of the comparison, which gives a variance.
LEAST_SAMPLES = 20
# Its exponential is finite, and no information is as large.
MOST_LOG_RATIO = 700.0


class Estimate(NamedTuple):
    """A value and its Monte Carlo standard error.

    Attributes
    ----------
    value : float
    standard_error : float
        0 where the value is exact.
    """

    value: float
    standard_error: float


def mutual_information(
    models: list[ColumnModel],
    draws: list[ViewsDraw],
    a: Sequence[int],
    b: Sequence[int],
    given: Sequence[int] = (),
    evidence: Mapping[int, np.ndarray] | None = None,
    *,
    n_samples: int,
    generator: np.random.Generator,
) -> Estimate:
    """Conditional mutual information I(a; b | given, evidence) in nats, averaged over draws.

    Views that hold no column of a, or none of b, contribute exactly 0. Where the columns concerned of a view are
    discrete (categorical, ordinal or boolean), and few, the sum is exact. Elsewhere the integral is sampled, half from
    the joint density p of a, b and c, half from its rival p' = p(c) p(a | c) p(b | c). With r = p / p' each sample
    counts

        2 (1 - r + r log r) / (1 + r),

    which is importance sampling from (p + p') / 2 with a control variate of mean 0 added, 2 (1 - r) / (1 + r). No
    sample counts less than 0, none of a vanishing p counts more than 2, and where a and b are nearly independent the
    error vanishes with the information.

    Parameters
    ----------
    models : list of ColumnModel
        One for each column of the table.
    draws : list of ViewsDraw
    a, b, given : sequence of int
        Columns, none of them in two of these or in `evidence`.
    evidence : mapping of int to ndarray of shape (1,), default=None
        The typed cell of columns that are known.
    n_samples : int
        Spread evenly over the draws and views to be sampled, at least 20 for each.
    generator : numpy.random.Generator

    Returns
    -------
    Estimate
        The mean over draws, and the standard error of its integrals given the draws. The error does not include
        clusters so rare that they occur in no sample.

    References
    ----------
    Owen, A. and Zhou, Y. (2000). Safe and effective importance sampling. Journal of the American Statistical
    Association 95, 135-143. doi:10.1080/01621459.2000.10473909
    """
    total, variance, waiting = 0.0, 0.0, []
    for draw in draws:
        for coupling in _couplings(models, draw, a, b, given, evidence or {}):
            if coupling.n_cells() * len(coupling.log_weights) <= MOST_CELLS_SUMMED:
                total += coupling.sum()
            else:
                waiting.append(coupling)
    for coupling in waiting:
        value, square = coupling.integrate(max(math.ceil(n_samples / len(waiting)), LEAST_SAMPLES), generator)
        total, variance = total + value, variance + square
    return Estimate(max(float(total), 0.0) / len(draws), math.sqrt(variance) / len(draws))


def relatedness(information: Estimate) -> Estimate:
    """Mutual information on the scale of a correlation, r = sqrt(1 - exp(-2 I)), its error by the delta method.

    References
    ----------
    Linfoot, E. H. (1957). An informational measure of correlation. Information and Control 1, 85-89.
    doi:10.1016/S0019-9958(57)90116-X

    Examples
    --------
    >>> from sklearn_subanneal.views.information import Estimate, relatedness
    >>> r = relatedness(Estimate(0.5, 0.01))
    >>> round(r.value, 4), round(r.standard_error, 4)
    (0.7951, 0.0046)
    """
    value = math.sqrt(-math.expm1(-2.0 * information.value))
    # Samples count at least 0, so that an estimate of 0 means that each of them was 0.
    slope = math.exp(-2.0 * information.value) / value if value > 0.0 else 0.0
    return Estimate(value, slope * information.standard_error)


def relatedness_matrix(
    models: list[ColumnModel],
    draws: list[ViewsDraw],
    columns: np.ndarray,
    *,
    n_samples: int,
    generator: np.random.Generator,
) -> np.ndarray:
    """Relatedness of all pairs of columns, (n_columns, n_columns), from the same samples; 1 on the diagonal.

    As :func:`mutual_information` of each pair, without evidence; `n_samples` are spread over all draws.
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
                predictive = _restricted(models, mixture, members, columns[at])
                discrete = np.array([models[j].discrete for j in columns[at]])
                information[np.ix_(at, at)] += _pairwise_information(predictive, discrete, n_each, generator)
    # For the rival density, which of the two columns is of which sample matters.
    information = 0.5 * (information + information.T)
    related = np.sqrt(-np.expm1(-2.0 * np.maximum(information / len(draws), 0.0)))
    np.fill_diagonal(related, 1.0)
    return related


class _Coupling:
    """The columns of a, b and c in one view of one draw; the weights of its clusters heed the evidence."""

    def __init__(self, models, mixture, members, groups, evidence):
        self.groups = [_restricted(models, mixture, members, group) for group in groups]
        self.models = [models[m] for group in self.groups for m in group.members]
        self.log_weights = self.groups[0].log_weights
        if seen := [j for j in members if j in evidence]:
            known = _restricted(models, mixture, members, seen)
            log_joint = self.log_weights + known.log_densities([models[j].values(evidence) for j in seen])
            self.log_weights = (log_joint - log_sum_exp(log_joint)[:, None])[0]

    def n_cells(self) -> float:
        """Cells of the table of all values that a, b and c can take together."""
        if not all(model.discrete for model in self.models):
            return math.inf
        return math.prod(model.n_values + ("unseen" in model.parameters) for model in self.models)

    def sum(self) -> float:
        """The information, summed over the table."""
        a, b, c = (_probabilities(group) for group in self.groups)
        within = a[:, :, None] * c[:, None, :] * np.exp(self.log_weights)[:, None, None]
        joint = np.einsum("kac,kb->acb", within, b, optimize=True)
        p_ac, p_bc, p_c = joint.sum(axis=2), joint.sum(axis=0), joint.sum(axis=(0, 2))
        rival = p_ac[:, :, None] * (p_bc / np.where(p_c > 0.0, p_c, 1.0)[:, None])
        return float(rel_entr(joint, rival).sum())

    def integrate(self, n_samples: int, generator: np.random.Generator) -> tuple[float, float]:
        """The information by Monte Carlo, and the variance of that."""
        value, variance = 0.0, 0.0
        for sample in (self._sample_joint, self._sample_rival):
            n = n_samples // 2
            parts = [
                _excess(self._ratio(*sample(rows.stop - rows.start, generator)))
                for rows in chunks(n, len(self.log_weights))
            ]
            terms = np.concatenate(parts)
            value += 0.5 * terms.mean()
            variance += 0.25 * terms.var(ddof=1) / n
        return value, variance

    def _sample_joint(self, n, generator):
        """Log densities of samples of a, b and c in each cluster; c is in the cluster of a and b."""
        clusters = generator.choice(len(self.log_weights), size=n, p=np.exp(self.log_weights))
        return [_sampled(group, clusters, generator) for group in self.groups]

    def _sample_rival(self, n, generator):
        """Likewise with a and b independent given c."""
        clusters = generator.choice(len(self.log_weights), size=n, p=np.exp(self.log_weights))
        c = _sampled(self.groups[2], clusters, generator)
        posterior = np.exp(self.log_weights + c - log_sum_exp(self.log_weights + c)[:, None])
        limits = np.broadcast_to(posterior.cumsum(axis=1)[:, :-1], (n, len(self.log_weights) - 1))
        a, b = (
            _sampled(group, (limits < generator.random((n, 1))).sum(axis=1), generator) for group in self.groups[:2]
        )
        return a, b, c

    def _ratio(self, a, b, c):
        """p(a, b, c) / (p(c) p(a | c) p(b | c))."""
        given = self.log_weights + c
        log_ratio = log_sum_exp(given + a + b) + log_sum_exp(given) - log_sum_exp(given + a) - log_sum_exp(given + b)
        return np.exp(np.minimum(log_ratio, MOST_LOG_RATIO))


def _couplings(models, draw: ViewsDraw, a, b, given, evidence) -> Iterator[_Coupling]:
    """The views of a draw in which a and b are not independent."""
    labels = draw.column_labels
    for view in np.intersect1d(labels[list(a)], labels[list(b)]):
        yield _Coupling(models, draw.views[view], draw.members(view), (a, b, given), evidence)


def _restricted(models, mixture: Draw, members, columns) -> Predictive:
    """The predictive of those columns of a view that are among some columns; they may be none."""
    at = np.flatnonzero(np.isin(members, columns))
    return Predictive(models, replace(mixture, columns=[mixture.columns[i] for i in at]), members[at])


def _sampled(predictive: Predictive, clusters, generator) -> np.ndarray:
    """Log densities, in each cluster, of one row drawn from each of some clusters; zeros if there is no column."""
    if not predictive.columns:
        return np.zeros((1, predictive.n_clusters + 1))
    slots = clusters.astype(np.int32)
    cells = [column.draws(slots, np.full((len(slots), 1), np.nan), generator) for column in predictive.columns]
    return predictive.log_densities(cells)


def _probabilities(predictive: Predictive) -> np.ndarray:
    """Probabilities (n_clusters + 1, n_cells) of all values that discrete columns can take together."""
    out = np.ones((predictive.n_clusters + 1, 1))
    for column in predictive.columns:
        factor = column.probabilities(predictive.n_clusters + 1)
        out = (out[:, :, None] * factor[:, None, :]).reshape(len(out), -1)
    return out


def _excess(ratio: np.ndarray) -> np.ndarray:
    """2 (1 - r + r log r) / (1 + r), at least 0."""
    return 2.0 * (1.0 - ratio + xlogy(ratio, ratio)) / (1.0 + ratio)


def _pairwise_information(predictive: Predictive, discrete, n_samples: int, generator) -> np.ndarray:
    """Mutual information of all pairs of columns of one view of one draw, once symmetrised; not on the diagonal."""
    weights = np.exp(predictive.log_weights)
    n_columns, half = len(discrete), n_samples // 2
    out = np.zeros((n_columns, n_columns))
    if not discrete.all():
        for rows in chunks(half, n_columns * max(n_columns, len(weights))):
            here, there = (_shares(predictive, weights, rows.stop - rows.start, generator) for _ in range(2))
            # Columns of one sampled row follow their joint density; of two rows, the product of their densities.
            joint, rival = _mean_excess(weights, here, here), _mean_excess(weights, here, there)
            out += 0.5 * (joint + rival) * ((rows.stop - rows.start) / half)
    if discrete.sum() > 1:
        tables = [column.probabilities(len(weights)) for column in compress(predictive.columns, discrete)]
        starts = np.cumsum([0] + [table.shape[1] for table in tables[:-1]])
        stacked = np.hstack(tables)
        marginal = weights @ stacked
        terms = rel_entr((stacked * weights[:, None]).T @ stacked, np.outer(marginal, marginal))
        sums = np.add.reduceat(np.add.reduceat(terms, starts, axis=0), starts, axis=1)
        out[np.ix_(discrete, discrete)] = sums
    return out


def _shares(predictive: Predictive, weights, n_rows: int, generator) -> np.ndarray:
    """p(x_j | cluster) / p(x_j) of each column of sampled rows, (n_rows, n_columns, n_clusters + 1)."""
    slots = generator.choice(len(weights), size=n_rows, p=weights).astype(np.int32)
    out = np.empty((n_rows, len(predictive.columns), len(weights)))
    for j, column in enumerate(predictive.columns):
        cells = column.draws(slots, np.full((n_rows, 1), np.nan), generator)
        out[:, j] = column.log_densities(cells, len(weights))
    out -= log_sum_exp((out + predictive.log_weights).reshape(-1, len(weights))).reshape(n_rows, -1, 1)
    return np.exp(out, out=out)


def _mean_excess(weights, left, right) -> np.ndarray:
    """Mean over rows of the excess of each pair, a column of `left` and a column of `right`."""
    return _excess((left * weights) @ right.transpose(0, 2, 1)).mean(axis=0)
