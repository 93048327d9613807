"""mutual_information of groups of columns, estimated from the draws, with its Monte Carlo error; relatedness.

In one draw the views are independent, so that I(a; b | c) is a sum over the views that hold columns of both a and b,
each a finite mixture in which columns are independent given the cluster, except for joint reals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import rel_entr, xlogy

from sklearn_subanneal._core.log_space import log_sum_exp
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.ensemble import chunks
from sklearn_subanneal.mixtures.parts import joint_members
from sklearn_subanneal.mixtures.predictive import Predictive, restricted
from sklearn_subanneal.views.coupled_block import CoupledBlock
from sklearn_subanneal.views.draws import ViewsDraw

# A table of so many cells, times clusters, is summed exactly: some milliseconds.
MOST_CELLS_SUMMED = 1 << 20
# Indices of the groups of columns.
A, B, C = range(3)
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
        The mean over draws, by their weights, and the standard error of its integrals given the draws. The error does
        not include clusters so rare that they occur in no sample.

    References
    ----------
    Owen, A. and Zhou, Y. (2000). Safe and effective importance sampling. Journal of the American Statistical
    Association 95, 135-143. doi:10.1080/01621459.2000.10473909
    """
    total, variance, waiting = 0.0, 0.0, []
    for draw in draws:
        for coupling in _couplings(models, draw, a, b, given, evidence or {}):
            if coupling.n_cells() * len(coupling.log_weights) <= MOST_CELLS_SUMMED:
                total += draw.weight * coupling.sum()
            else:
                waiting.append((draw.weight, coupling))
    for own, coupling in waiting:
        value, square = coupling.integrate(max(math.ceil(n_samples / len(waiting)), LEAST_SAMPLES), generator)
        total, variance = total + own * value, variance + own**2 * square
    weight = sum(draw.weight for draw in draws)
    return Estimate(max(float(total), 0.0) / weight, math.sqrt(variance) / weight)


def excess(ratio: np.ndarray) -> np.ndarray:
    """2 (1 - r + r log r) / (1 + r), at least 0."""
    return 2.0 * (1.0 - ratio + xlogy(ratio, ratio)) / (1.0 + ratio)


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


class _Coupling:
    """The columns of a, b and c in one view of one draw; the weights of its clusters heed the evidence."""

    def __init__(self, models, mixture, members, groups, evidence):
        columns = [[int(j) for j in members if j in group] for group in groups]
        self.models = [models[j] for group in columns for j in group]
        alone = [[j for j in group if not models[j].joint] for group in columns]
        self.groups = [restricted(models, mixture, members, group) for group in alone]
        self.log_weights = self.groups[0].log_weights
        cells = {int(j): models[j].values(evidence) for j in members if j in evidence}
        if cells:
            known = restricted(models, mixture, members, cells)
            log_joint = self.log_weights + known.log_densities(cells)
            self.log_weights = (log_joint - log_sum_exp(log_joint)[:, None])[0]
        self.block = None
        if joint := joint_members(models, sorted({*cells}.union(*columns))):
            part = restricted(models, mixture, members, joint).parts[0]
            self.block = CoupledBlock(part, columns, cells, len(self.log_weights))

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
                excess(self._ratio(*sample(rows.stop - rows.start, generator)))
                for rows in chunks(n, len(self.log_weights))
            ]
            terms = np.concatenate(parts)
            value += 0.5 * terms.mean()
            variance += 0.25 * terms.var(ddof=1) / n
        return value, variance

    def _sample_joint(self, n, generator):
        """Samples of a, b and c, with c in the cluster of a and b.

        Their log densities in each cluster: of a given c, of b given c, of c, and of a and b together given c over the
        product of the first two.
        """
        clusters = generator.choice(len(self.log_weights), size=n, p=np.exp(self.log_weights))
        a, b, c = (_sampled(group, clusters, generator) for group in self.groups)
        if self.block is None:
            return a, b, c, 0.0
        values = self.block.draw(self.block.unknown(n), clusters, (A, B, C), generator)
        of_a, of_b, of_c, both = self.block.log_densities(values)
        return a + of_a, b + of_b, c + of_c, both

    def _sample_rival(self, n, generator):
        """Likewise with a and b drawn independently given c."""
        clusters = generator.choice(len(self.log_weights), size=n, p=np.exp(self.log_weights))
        c = _sampled(self.groups[C], clusters, generator)
        if self.block is not None:
            values = self.block.draw(self.block.unknown(n), clusters, (C,), generator)
            c = c + self.block.log_density(values)
        posterior = np.exp(self.log_weights + c - log_sum_exp(self.log_weights + c)[:, None])
        limits = np.broadcast_to(posterior.cumsum(axis=1)[:, :-1], (n, len(self.log_weights) - 1))
        chosen, alone = [], []
        for group in self.groups[:C]:
            chosen.append((limits < generator.random((n, 1))).sum(axis=1))
            alone.append(_sampled(group, chosen[-1], generator))
        a, b = alone
        if self.block is None:
            return a, b, c, 0.0
        apart = [self.block.draw(values, clusters, (group,), generator) for group, clusters in enumerate(chosen)]
        of_a, of_b, _, both = self.block.log_densities(np.where(np.isnan(apart[A]), apart[B], apart[A]))
        return a + of_a, b + of_b, c, both

    def _ratio(self, a, b, c, both):
        """p(a, b, c) / (p(c) p(a | c) p(b | c))."""
        given = self.log_weights + c
        log_ratio = (
            log_sum_exp(given + a + b + both) + log_sum_exp(given) - log_sum_exp(given + a) - log_sum_exp(given + b)
        )
        return np.exp(np.minimum(log_ratio, MOST_LOG_RATIO))


def _couplings(models, draw: ViewsDraw, a, b, given, evidence) -> Iterator[_Coupling]:
    """The views of a draw in which a and b are not independent."""
    labels = draw.column_labels
    for view in np.intersect1d(labels[list(a)], labels[list(b)]):
        yield _Coupling(models, draw.views[view], draw.members(view), (a, b, given), evidence)


def _sampled(predictive: Predictive, clusters, generator) -> np.ndarray:
    """Log densities, in each cluster, of one row drawn from each of some clusters; zeros if there is no column."""
    if not predictive.parts:
        return np.zeros((1, predictive.n_clusters + 1))
    slots = clusters.astype(np.int32)
    cells = [part.statistics.draws(slots, np.full((len(slots), 1), np.nan), generator) for part in predictive.parts]
    return predictive.log_densities(dict(zip(predictive.members, cells, strict=True)))


def _probabilities(predictive: Predictive) -> np.ndarray:
    """Probabilities (n_clusters + 1, n_cells) of all values that discrete columns can take together."""
    out = np.ones((predictive.n_clusters + 1, 1))
    for part in predictive.parts:
        factor = part.statistics.probabilities(predictive.n_clusters + 1)
        out = (out[:, :, None] * factor[:, None, :]).reshape(len(out), -1)
    return out
