"""Powers of columns, and weights of chains and views, by which classes of training rows are predicted best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.parts import joint_members
from sklearn_subanneal.views.class_densities import ClassDensities
from sklearn_subanneal.views.draws import ViewsDraw
from sklearn_subanneal.views.left_out_evidence import LeftOutEvidence, most_rows, owners_of, used_draws
from sklearn_subanneal.views.left_out_rows import LeftOutRows
from sklearn_subanneal.views.logarithmic_pool import LogarithmicPool, class_shares

# Standard deviations of the logarithms in their priors, which are normal: of the powers of columns, the weights of
# chains, and the weight of the views without the class. Columns count as the model says, and chains equally, unless
# the rows say otherwise.
POWER_DEVIATION, CHAIN_DEVIATION, VIEW_DEVIATION = 1.0, 0.5, 1.0
# Standard deviation of the prior of the powers of single columns in the classes, which is normal between 0 and 1.
CLASS_POWER_DEVIATION = 0.5
# The search for them ends when a step gains no more than this share of the loss.
TOLERANCE = 1e-5
# A category that was declared, but has no row, counts as having so many.
NO_ROWS = 0.5


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
    arrays: list[np.ndarray],
    left_out: LeftOutRows,
    column: int,
    evidence: LeftOutEvidence | None = None,
) -> LogarithmicPool:
    """The pool by which the classes of training rows are predicted best, each row left out of its clusters.

    Maximised is the sum of log p(class | row), with normal priors of the logarithms of powers and weights, and of the
    powers of densities in the classes, which are between 0 and 1 as in weighted naive Bayes (Zaidi et al., 2013).

    Parameters
    ----------
    models : list of ColumnModel
        One for each column of the table.
    chains : list of list of ViewsDraw
        The draws of each chain.
    labels : list of ndarray of int, shape (n_views, n_rows)
        For each draw, those of the first chain first, the cluster of each modelled row in each view.
    arrays : list of ndarray, shape (n_rows,)
        Typed columns of these rows; all their classes are known.
    left_out : LeftOutRows
        The rows that are to be predicted.
    column : int
        The class.
    evidence : LeftOutEvidence or None, default=None
        What the views say of rows whose classes are known, which are then those to be predicted; None: it is made.

    References
    ----------
    N. A. Zaidi, J. Cerquides, M. J. Carman, G. I. Webb (2013), Alleviating naive Bayes attribute independence
    assumption by attribute weighting, JMLR 14, 1947-1988.
    """
    joint = joint_members(models, range(len(models)))
    # Columns with one power: the joint reals, whose blocks have one density.
    groups = [min(joint) if j in joint else j for j in range(len(models))]
    index = np.unique(groups, return_inverse=True)[1]
    classes = arrays[column]
    sizes = np.maximum(np.bincount(classes, minlength=models[column].n_values), NO_ROWS)
    shares = sizes / sizes.sum()
    draws = [draw for chain in chains for draw in chain]
    owners = owners_of(chains)
    counts = [
        [
            _class_counts(rows, classes, len(view.sizes) + 1, len(shares))
            for rows, view in zip(own, draw.views, strict=True)
        ]
        for own, draw in zip(labels, draws, strict=True)
    ]
    used = used_draws(chains)
    if evidence is None:
        evidence = LeftOutEvidence.of(models, chains, left_out.some(most_rows(models, chains, len(shares))))
    left_out = evidence.rows
    opinions = [
        opinion
        for view in evidence.views
        if (opinion := _opinion(view, counts[view.draw][view.place], shares, left_out, column, index)) is not None
    ]
    class_densities = ClassDensities.of(models, draws[-1].column_parameters(models), arrays, column)
    observed = left_out.arrays[column]
    of_classes = class_densities.left_out(left_out.arrays, observed)
    loss = PoolLoss(opinions, index.max() + 1, owners[used], of_classes, np.log(shares), observed, left_out.counts)
    options = {"ftol": TOLERANCE}
    found = minimize(loss, loss.start, jac=True, method="L-BFGS-B", bounds=loss.bounds, options=options).x
    powers, chain_weights, view_weight, class_powers = loss.parameters(found)
    return LogarithmicPool(
        column=column,
        shares=shares,
        class_shares=[[class_shares(own, shares) for own in of_draw] for of_draw in counts],
        owners=owners,
        powers=powers[index],
        chain_weights=chain_weights,
        view_weight=view_weight,
        class_densities=class_densities,
        class_powers=np.insert(class_powers, column, 0.0),
    )


class PoolLoss:
    """Mean negative log probability of the classes of some rows, with the priors, and its gradient.

    It is a function of the logarithms of the powers, of the weights of chains, relative to equal ones, and of the
    weight of views without the class, followed by the powers in the classes.

    Parameters
    ----------
    opinions : list of Opinion
        Those of the views of some draws.
    n_powers : int
    owners : ndarray of int
        The chain of each draw whose views they are; as many of each chain.
    of_classes : ndarray of shape (n_columns, n_rows, n_classes)
        Log densities of the cells of these rows in each class.
    log_shares : ndarray of shape (n_classes,)
        Of the classes in the table.
    classes, counts : ndarray of int, shape (n_rows,)
        The class of each row, and how often it counts.
    """

    def __init__(self, opinions, n_powers, owners, of_classes, log_shares, classes, counts):
        self.opinions, self.of_classes, self.log_shares = opinions, of_classes, log_shares
        self.classes, self.counts, self.n_powers, self.n_chains = classes, counts, n_powers, owners.max() + 1
        self.n_draws = len(owners) // self.n_chains
        n_each = [n_powers, self.n_chains, 1, len(of_classes)]
        self.n_logs = sum(n_each[:3])
        self.deviations = np.repeat([POWER_DEVIATION, CHAIN_DEVIATION, VIEW_DEVIATION, CLASS_POWER_DEVIATION], n_each)
        self.start = np.zeros(sum(n_each))
        self.bounds = [(None, None)] * self.n_logs + [(0.0, 1.0)] * len(of_classes)

    def parameters(self, learned):
        """Powers, weights of the chains, the weight of views without the class, and the powers in the classes."""
        logs, class_powers = np.split(learned, [self.n_logs])
        powers, weights, (view,) = np.split(np.exp(logs), [self.n_powers, self.n_powers + self.n_chains])
        return powers, weights / self.n_chains, view, class_powers

    def __call__(self, learned):
        powers, chain_weights, view_weight, class_powers = self.parameters(learned)
        total, kept = self.log_shares + np.tensordot(class_powers, self.of_classes, 1), []
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
        slope = np.zeros(len(learned))
        slope[self.n_logs :] = np.tensordot(self.of_classes, errors, 2)
        for opinion, weight, clusters, classes, ratios in kept:
            np.add.at(slope, opinion.powers, weight * opinion.slope(powers, clusters, errors / classes))
            of_weight = weight * np.sum(errors * ratios)
            slope[self.n_powers + opinion.chain] += of_weight
            slope[self.n_logs - 1] += 0.0 if opinion.has_class else of_weight
        n_rows = self.counts.sum()
        penalty = 0.5 * np.sum((learned / self.deviations) ** 2)
        return (value + penalty) / n_rows, (slope + learned / self.deviations**2) / n_rows


def _opinion(view, counts, shares, rows, column, index) -> Opinion | None:
    """The opinion of a view; None if it has no other column than the class."""
    parts = np.flatnonzero(view.members != column)
    if not len(parts):
        return None
    own = counts[view.labels].astype(float)
    own[np.arange(len(own)), rows.arrays[column]] -= 1.0
    densities = view.densities if len(parts) == len(view.members) else view.densities[parts]
    return Opinion(
        chain=view.chain,
        has_class=len(parts) < len(view.members),
        labels=view.labels,
        log_shares=view.log_shares,
        densities=densities.reshape(len(parts), -1),
        powers=index[view.members[parts]],
        table=class_shares(counts, shares),
        own=class_shares(own, shares),
    )


def _class_counts(labels, classes, n_clusters, n_classes):
    """How many rows of each class each cluster has, (n_clusters, n_classes)."""
    pairs = labels.astype(np.int64) * n_classes + classes
    return np.bincount(pairs, minlength=n_clusters * n_classes).reshape(n_clusters, n_classes)
