"""Powers of columns, and weights of chains and views, by which classes of training rows are predicted best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.ensemble import DistinctRows
from sklearn_subanneal.mixtures.leave_one_out import LeaveOneOut
from sklearn_subanneal.mixtures.parts import joint_members
from sklearn_subanneal.views.draws import ViewsDraw
from sklearn_subanneal.views.logarithmic_pool import LogarithmicPool, class_shares, evidence_of_parts
from sklearn_subanneal.views.seen_rows import SeenRows

# Standard deviations of the logarithms in their priors, which are normal: of the powers of columns, the weights of
# chains, and the weight of the views without the class. Columns count as the model says, and chains equally, unless
# the rows say otherwise.
POWER_DEVIATION, CHAIN_DEVIATION, VIEW_DEVIATION = 1.0, 0.5, 1.0
# They are found from so many draws, but one of each chain at least, and from so many log densities, which are 80 MB.
MOST_DRAWS, MOST_DENSITIES, FEWEST_ROWS = 4, 10_000_000, 100


@dataclass(frozen=True, eq=False)
class LeftOutRows:
    """Some training rows, each of which is predicted by the other rows.

    Attributes
    ----------
    seen : SeenRows
        The rows in all draws, those of the first chain first.
    arrays : list of ndarray of shape (n_rows,)
        Their typed columns.
    counts : ndarray of int, shape (n_rows,)
        How often each counts.
    """

    seen: SeenRows
    arrays: list[np.ndarray]
    counts: np.ndarray

    def some(self, most: int) -> LeftOutRows:
        """At most so many of the rows, evenly spaced."""
        at = np.linspace(0, len(self.counts) - 1, min(len(self.counts), most)).astype(int)
        return LeftOutRows(self.seen.take(at), [array[at] for array in self.arrays], self.counts[at])


@dataclass(frozen=True, eq=False)
class Opinion:
    """What one view of one draw says of the classes of rows that are left out of their clusters, by the powers.

    Attributes
    ----------
    chain : int
    has_class : bool
        Whether it is the view of the class.
    labels : ndarray of int, shape (n_rows,)
    log_shares : ndarray of shape (n_rows, n_clusters + 1)
        Log probabilities of the clusters, before the cells are looked at.
    densities : ndarray of shape (n_parts, n_rows * (n_clusters + 1))
        Log densities of the cells.
    powers : ndarray of int, shape (n_parts,)
        Index of the power of each part.
    table, own : ndarray of shape (n_clusters + 1, n_classes) and (n_rows, n_classes)
        Shares of the classes in each cluster, and in the cluster of each row without the row.
    """

    chain: int
    has_class: bool
    labels: np.ndarray
    log_shares: np.ndarray
    densities: np.ndarray
    powers: np.ndarray
    table: np.ndarray
    own: np.ndarray

    def probabilities(self, powers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities of the clusters and of the classes."""
        joint = self.log_shares + (powers[self.powers] @ self.densities).reshape(self.log_shares.shape)
        clusters = softmax(joint, axis=1)
        at_home = clusters[np.arange(len(clusters)), self.labels][:, None]
        return clusters, clusters @ self.table + at_home * (self.own - self.table[self.labels])

    def slope(self, powers: np.ndarray, clusters: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        """Gradient in the log powers of its parts, from that in the probabilities of the classes."""
        of_clusters = slopes @ self.table.T
        rows = np.arange(len(clusters))
        of_clusters[rows, self.labels] = (slopes * self.own).sum(axis=1)
        of_clusters -= (clusters * of_clusters).sum(axis=1, keepdims=True)
        return powers[self.powers] * (self.densities @ (clusters * of_clusters).ravel())


def learned_pool(
    models: list[ColumnModel],
    chains: list[list[ViewsDraw]],
    labels: list[np.ndarray],
    classes: np.ndarray,
    left_out: LeftOutRows,
    column: int,
) -> LogarithmicPool:
    """The pool by which the classes of training rows are predicted best, each row left out of its clusters.

    Maximised is the sum of log p(class | row), with normal priors of the logarithms of all powers and weights. With one
    cluster for each class, the powers are those of attribute-weighted naive Bayes (Zaidi et al., 2013).

    Parameters
    ----------
    models : list of ColumnModel
        One for each column of the table.
    chains : list of list of ViewsDraw
        The draws of each chain.
    labels : list of ndarray of int, shape (n_views, n_rows)
        For each draw, those of the first chain first, the cluster of each modelled row in each view.
    classes : ndarray of int, shape (n_rows,)
        Codes of the classes of these rows; each class occurs.
    left_out : LeftOutRows
        The rows that are to be predicted.
    column : int
        The class.

    References
    ----------
    N. A. Zaidi, J. Cerquides, M. J. Carman, G. I. Webb (2013), Alleviating naive Bayes attribute independence
    assumption by attribute weighting, JMLR 14, 1947-1988.
    """
    joint = joint_members(models, range(len(models)))
    # Columns with one power: the joint reals, whose blocks have one density.
    groups = [min(joint) if j in joint else j for j in range(len(models))]
    index = np.unique(groups, return_inverse=True)[1]
    shares = np.bincount(classes) / len(classes)
    draws = [draw for chain in chains for draw in chain]
    owners = np.repeat(np.arange(len(chains)), [len(chain) for chain in chains])
    counts = [
        [
            _class_counts(rows, classes, len(view.sizes) + 1, len(shares))
            for rows, view in zip(own, draw.views, strict=True)
        ]
        for own, draw in zip(labels, draws, strict=True)
    ]
    used = np.concatenate([_some(np.flatnonzero(owners == c), MOST_DRAWS // len(chains)) for c in range(len(chains))])
    width = sum(len(set(index[draws[s].members(v)])) * len(own) for s in used for v, own in enumerate(counts[s]))
    left_out = left_out.some(max(MOST_DENSITIES // width, FEWEST_ROWS))
    opinions = [
        o for s in used for o in _opinions(models, draws[s], s, owners[s], counts[s], shares, left_out, column, index)
    ]
    observed = left_out.arrays[column], left_out.counts
    loss = PoolLoss(opinions, index.max() + 1, owners[used], np.log(shares), *observed)
    logs = minimize(loss, np.zeros(loss.n_learned), jac=True, method="L-BFGS-B").x
    powers, chain_weights, view_weight = loss.parameters(logs)
    tables = [[class_shares(own, shares) for own in of_draw] for of_draw in counts]
    return LogarithmicPool(column, shares, tables, owners, powers[index], chain_weights, view_weight)


class PoolLoss:
    """Mean negative log probability of the classes of some rows, with the priors, and its gradient.

    Parameters
    ----------
    opinions : list of Opinion
        Those of the views of some draws.
    n_powers : int
    owners : ndarray of int
        The chain of each draw whose views they are; as many of each chain.
    log_shares : ndarray of shape (n_classes,)
        Of the classes in the table.
    classes, counts : ndarray of int, shape (n_rows,)
        The class of each row, and how often it counts.
    """

    def __init__(self, opinions, n_powers, owners, log_shares, classes, counts):
        self.opinions, self.log_shares, self.classes, self.counts = opinions, log_shares, classes, counts
        self.n_powers, self.n_chains = n_powers, owners.max() + 1
        self.n_draws = len(owners) // self.n_chains
        self.n_learned = self.n_powers + self.n_chains + 1
        self.deviations = np.repeat(
            [POWER_DEVIATION, CHAIN_DEVIATION, VIEW_DEVIATION], [self.n_powers, self.n_chains, 1]
        )

    def parameters(self, logs):
        """Powers, weights of the chains, and the weight of views without the class."""
        powers, weights, (view,) = np.split(np.exp(logs), [self.n_powers, self.n_powers + self.n_chains])
        return powers, weights / self.n_chains, view

    def __call__(self, logs):
        powers, chain_weights, view_weight = self.parameters(logs)
        total, kept = np.tile(self.log_shares, (len(self.classes), 1)), []
        for opinion in self.opinions:
            clusters, classes = opinion.probabilities(powers)
            weight = chain_weights[opinion.chain] / self.n_draws * (1.0 if opinion.has_class else view_weight)
            ratios = np.log(classes) - self.log_shares
            total += weight * ratios
            kept.append((opinion, weight, clusters, classes, ratios))
        total, rows = log_softmax(total, axis=1), np.arange(len(self.classes))
        value = -self.counts @ total[rows, self.classes]
        errors = np.exp(total)
        errors[rows, self.classes] -= 1.0
        errors *= self.counts[:, None]
        slope = np.zeros(self.n_learned)
        for opinion, weight, clusters, classes, ratios in kept:
            np.add.at(slope, opinion.powers, weight * opinion.slope(powers, clusters, errors / classes))
            of_weight = weight * np.sum(errors * ratios)
            slope[self.n_powers + opinion.chain] += of_weight
            slope[-1] += 0.0 if opinion.has_class else of_weight
        n_rows = self.counts.sum()
        penalty = 0.5 * np.sum((logs / self.deviations) ** 2)
        return (value + penalty) / n_rows, (slope + logs / self.deviations**2) / n_rows


def _opinions(models, draw, place, chain, counts, shares, rows, column, index):
    """The opinions of the views of one draw that have other columns than the class."""
    data, cells = [model.data(rows.arrays) for model in models], DistinctRows.of(models, rows.arrays)
    for v, view in enumerate(draw.views):
        labels = rows.seen.labels[place][v]
        factor = LeaveOneOut(models, view, draw.members(v), data, labels, rows.seen.completed(draw))
        parts = dict(evidence_of_parts(factor, cells, column))
        if not parts:
            continue
        log_shares = factor.log_shares(cells)
        own = counts[v][labels].astype(float)
        own[np.arange(len(labels)), rows.arrays[column]] -= 1.0
        yield Opinion(
            chain=chain,
            has_class=column in factor.members,
            labels=labels,
            log_shares=log_shares,
            densities=np.array([np.broadcast_to(d, log_shares.shape).ravel() for d in parts.values()]),
            powers=index[list(parts)],
            table=class_shares(counts[v], shares),
            own=class_shares(own, shares),
        )


def _class_counts(labels, classes, n_clusters, n_classes):
    """How many rows of each class each cluster has, (n_clusters, n_classes)."""
    pairs = labels.astype(np.int64) * n_classes + classes
    return np.bincount(pairs, minlength=n_clusters * n_classes).reshape(n_clusters, n_classes)


def _some(places, most):
    """At most so many of some places, but at least one, evenly spaced."""
    return places[np.linspace(0, len(places) - 1, min(len(places), max(most, 1))).astype(int)]
