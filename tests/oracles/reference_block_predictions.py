"""Plain reference of predictions by draws of views with Gaussian blocks: scipy's multivariate t, and loops."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import stats
from scipy.special import logsumexp


@dataclass(frozen=True, eq=False)
class BlockView:
    """One view of one draw: joint reals in standard units, complete, and columns of codes.

    Attributes
    ----------
    labels : ndarray of int, shape (n_rows,)
    concentration, discount : float
    reals : list of int
        Columns of the table.
    cells : ndarray of shape (n_rows, n_reals)
    mu, kappa, psi, nu
        The normal-inverse-Wishart prior of the block.
    codes : dict of int to ndarray of int
        Columns of codes, -1 where missing.
    alpha : dict of int to ndarray
        Their Dirichlet priors.
    """

    labels: np.ndarray
    concentration: float
    discount: float
    reals: list
    cells: np.ndarray
    mu: np.ndarray
    kappa: float
    psi: np.ndarray
    nu: float
    codes: dict
    alpha: dict

    @cached_property
    def n_clusters(self):
        return self.labels.max() + 1

    def log_weights(self, without=None):
        """Of each cluster and a new one; one row may be left out."""
        labels = self.labels if without is None else np.delete(self.labels, without)
        sizes = np.bincount(labels, minlength=self.n_clusters)
        new = self.concentration + self.discount * (sizes > 0).sum()
        weights = np.append(np.where(sizes > 0, sizes - self.discount, 0.0), new)
        with np.errstate(divide="ignore"):
            return np.log(weights / weights.sum())

    def t(self, k, columns, without=None):
        """Location, scale matrix and degrees of freedom of the predictive t of some reals in a cluster."""
        rows = self.labels == k
        if without is not None:
            rows[without] = False
        x, d = self.cells[rows], len(self.reals)
        n = len(x)
        mean = x.mean(axis=0) if n else np.zeros(d)
        kappa, free = self.kappa + n, self.nu + n - d + 1
        off = mean - self.mu
        psi = self.psi + (x - mean).T @ (x - mean) + self.kappa * n / kappa * np.outer(off, off)
        at = [self.reals.index(j) for j in columns]
        location = (self.kappa * self.mu + n * mean) / kappa
        return location[at], psi[np.ix_(at, at)] * (kappa + 1) / (kappa * free), free

    def log_density(self, k, row, without=None):
        """Log density of the cells of a row, a dict from column to value, that are of this view."""
        columns = [j for j in self.reals if j in row]
        out = 0.0
        if columns:
            location, scale, free = self.t(k, columns, without)
            out += float(stats.multivariate_t.logpdf([row[j] for j in columns], location, scale, free))
        for j, codes in self.codes.items():
            if j in row:
                own = codes[(self.labels == k) & (np.arange(len(codes)) != (-1 if without is None else without))]
                counts = self.alpha[j] + np.bincount(own[own >= 0], minlength=len(self.alpha[j]))
                out += np.log(counts[int(row[j])] / counts.sum())
        return out

    def log_joint(self, row, without=None):
        """With each cluster and a new one."""
        return self.log_weights(without) + [self.log_density(k, row, without) for k in range(self.n_clusters + 1)]

    def moments(self, k, column, row):
        """Mean and variance of one real given the other cells of the row in the cluster."""
        known = [j for j in self.reals if j in row and j != column]
        location, scale, free = self.t(k, [*known, column])
        if not known:
            return location[0], scale[0, 0] * free / (free - 2)
        n = len(known)
        off = np.array([row[j] for j in known]) - location[:n]
        slope = np.linalg.solve(scale[:n, :n], scale[:n, n])
        share = (free + off @ np.linalg.solve(scale[:n, :n], off)) / (free + n)
        return location[n] + slope @ off, share * (scale[n, n] - slope @ scale[:n, n]) * (free + n) / (free + n - 2)


def log_density(draw, row, without=None):
    """Log density of a row in one draw, a list of views."""
    return sum(logsumexp(view.log_joint(row, without)) for view in draw)


def score(draws, row):
    """Log density, averaged over draws."""
    return logsumexp([log_density(draw, row) for draw in draws]) - np.log(len(draws))


def score_seen(draws, row, asked, i):
    """Log density of some cells of row i given all other rows: a harmonic mean over draws."""
    weights = [-log_density(draw, row, i) for draw in draws]
    return logsumexp([w + log_density(draw, asked, i) for w, draw in zip(weights, draws, strict=True)]) - logsumexp(
        weights
    )


def moments(draws, row, column, ends=(-np.inf, np.inf)):
    """Mean and variance of one real given the cells of a row; those of each draw are limited to an interval."""
    first = second = total = 0.0
    for draw in draws:
        weight = np.exp(log_density(draw, row))
        (view,) = (view for view in draw if column in view.reals)
        shares = np.exp(view.log_joint(row) - logsumexp(view.log_joint(row)))
        of_clusters = [view.moments(k, column, row) for k in range(len(shares))]
        mean = sum(share * mean for share, (mean, _) in zip(shares, of_clusters, strict=True))
        square = sum(share * (variance + mean**2) for share, (mean, variance) in zip(shares, of_clusters, strict=True))
        limited = min(max(mean, ends[0]), ends[1])
        # Around the end of the range, where the mean is beyond it.
        variance = min(square - mean**2 + (mean - limited) ** 2, (ends[1] - ends[0]) ** 2)
        mean = limited
        first += weight * mean
        second += weight * (variance + mean**2)
        total += weight
    return first / total, second / total - (first / total) ** 2
