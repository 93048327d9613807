"""Missing cells of sampled rows: those of training rows in the same clusters, the donors of their patterns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import softmax

from sklearn_subanneal.mixtures.ensemble import Ensemble, missing
from sklearn_subanneal.tables.missing_patterns import MissingPatterns


def donated_patterns(
    average: Ensemble,
    labels: Sequence[np.ndarray],
    patterns: MissingPatterns,
    rows: list[np.ndarray],
    given: list[np.ndarray] | None,
    generator: np.random.Generator,
) -> np.ndarray:
    """Which cells of sampled rows are to be missing, each row as a training row of the same clusters.

    A draw and its clusters are drawn given the sampled row, so that they have, together with the row, the distribution
    from which the row came. The donor is drawn from the training rows in which all given cells are observed: from those
    of them that are in the row's cluster in the view with the most missing cells, of these from those that are in its
    cluster in the view with the next most, and so on. A view in which that would leave no row, or in which the cluster
    is a new one, is passed over.

    Parameters
    ----------
    average : Ensemble
        Of the draws.
    labels : sequence of ndarray of int, shape (n_views, n_training)
        For each draw, the clusters of the training rows in the factors of its product.
    patterns : MissingPatterns
        Of the training rows.
    rows : list of ndarray of shape (n_rows,)
        Typed columns, of which no cell is missing.
    given : list of ndarray of shape (1,), or None
        Typed columns of one row, whose observed cells all rows have.
    generator : numpy.random.Generator

    Returns
    -------
    left_out : ndarray of bool, shape (n_rows, n_parts)
    """
    counts, gaps, everyone = patterns.counts(), patterns.patterns, np.arange(len(patterns.of_rows))
    known = np.zeros(len(rows), bool) if given is None else ~missing(given)[0]
    suitable = everyone[~gaps[:, known].any(axis=1)[patterns.of_rows]]
    donors = np.empty(len(rows[0]), np.intp)
    for draw, own, clusters in assignments(average, rows, generator):
        factors = average.products[draw]
        n_missing = [sum(counts[j] for m in factor.members for j in average.models[m].sources) for factor in factors]
        order = np.argsort(-np.array(n_missing), kind="stable")
        donors[own] = _drawn(labels[draw][order], clusters[order], suitable if suitable.size else everyone, generator)
    return gaps[patterns.of_rows[donors]] & ~known


def assignments(
    average: Ensemble, rows: list[np.ndarray], generator: np.random.Generator
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Draw a draw of the ensemble for each row, and its cluster in each factor, given the cells of the row.

    Yields
    ------
    draw : int
    own : ndarray of int, shape (n_own,)
        The rows that have this draw.
    clusters : ndarray of int, shape (n_factors, n_own)
        The last cluster of a factor is a new one.
    """
    chosen = np.empty(len(rows[0]), np.intp)
    for part, cells in average.cells(rows, average.most_clusters):
        logs = average.log_densities(cells) + average.log_weights[:, None]
        chosen[part] = _categorical(softmax(logs, axis=0).T, cells.n_rows, generator)
    for draw in np.unique(chosen):
        own = np.flatnonzero(chosen == draw)
        clusters = np.empty((len(average.products[draw]), len(own)), np.intp)
        for part, cells in average.cells([array[own] for array in rows], average.most_clusters):
            for number, factor in enumerate(average.products[draw]):
                shares = softmax(factor.log_joint(cells), axis=1)
                clusters[number, part] = _categorical(shares, cells.n_rows, generator)
        yield draw, own, clusters


def _categorical(shares, n_rows, generator):
    """One number for each row, by shares (n_rows or 1, n_values)."""
    limits = np.cumsum(shares, axis=1)[:, :-1]
    return (generator.random((n_rows, 1)) >= limits).sum(axis=1)


def _drawn(labels, clusters, candidates, generator):
    """A training row for each row: one that shares its clusters in view after view, as far as there are any."""
    out = np.empty(clusters.shape[1], np.intp)
    waiting = [(np.arange(len(out)), candidates, 0)]
    while waiting:
        rows, left, view = waiting.pop()
        if view == len(labels) or len(left) == 1:
            out[rows] = generator.choice(left, len(rows))
            continue
        of_left, of_rows = labels[view][left], clusters[view][rows]
        for cluster in np.unique(of_rows):
            same = left[of_left == cluster]
            waiting.append((rows[of_rows == cluster], same if same.size else left, view + 1))
    return out
