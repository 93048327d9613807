"""A slow collapsed Gibbs sampler with churn, its exact stationary law, and statistics that compare draws with a law."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from oracles.enumeration import Partition, blocks, canonical, partitions
from oracles.reference import Column, log_predictive
from scipy.special import softmax


class Conditional:
    """The conditional law of one row's cluster given a partition of other rows (Neal 2000, algorithm 3).

    Join cluster k with weight (n_k - d) prod_j p(x_j | cluster k) ** beta, or a new one with
    (alpha + d K) prod_j p(x_j) ** beta; the first row always opens a cluster.
    """

    def __init__(self, columns: Sequence[Column], alpha: float, d: float = 0.0, beta: float = 1.0) -> None:
        self.columns = [(kind, np.asarray(x, dtype=float), params) for kind, x, params in columns]
        self.n_rows = len(self.columns[0][1])
        self.alpha, self.d, self.beta = alpha, d, beta
        self._scores: dict[tuple[int, tuple[int, ...]], float] = {}

    def _score(self, row: int, members: tuple[int, ...]) -> float:
        if (row, members) not in self._scores:
            terms = [log_predictive(kind, x[row], x[list(members)], params) for kind, x, params in self.columns]
            self._scores[row, members] = self.beta * sum(terms)
        return self._scores[row, members]

    def __call__(self, row: int, labels: Sequence[int]) -> tuple[list[int], np.ndarray]:
        """Return the labels `row` may take (the last one is a new cluster) and their probabilities."""
        if labels[row] >= 0:
            raise ValueError(f"row={row} is assigned to {labels[row]}: take it out first.")
        clusters = blocks(labels)
        sizes = np.array([len(members) for members in clusters], dtype=float)
        weights = np.append(sizes - self.d, self.alpha + self.d * len(clusters) if clusters else 1.0)
        scores = np.array([self._score(row, members) for members in [*clusters, ()]])
        candidates = [labels[members[0]] for members in clusters]
        return [*candidates, max(candidates, default=-1) + 1], softmax(np.log(weights) + scores)


def gibbs(
    columns: Sequence[Column],
    alpha: float,
    d: float,
    n_sweeps: int,
    rng: np.random.Generator,
    *,
    beta: float = 1.0,
    n_assigned: int | None = None,
) -> np.ndarray:
    """Run subsample churn: remove an assigned row at random, assign an unassigned row at random (itself included).

    Rows enter one at a time until `n_assigned` (default: all) are in. A sweep then is `n_assigned` moves. With all
    rows in, the row that leaves is the row that enters, and the chain is random-scan Gibbs sampling.

    Returns
    -------
    draws : int array of shape (n_sweeps, n_rows)
        Canonical labels after each sweep, -1 for rows that are out.
    """
    conditional = Conditional(columns, alpha, d, beta)
    n_rows = conditional.n_rows
    n_assigned = n_rows if n_assigned is None else n_assigned
    labels = [-1] * n_rows
    draws = np.empty((n_sweeps, n_rows), dtype=int)

    def assign() -> None:
        row = int(rng.choice(np.flatnonzero(np.array(labels) < 0)))
        candidates, probabilities = conditional(row, labels)
        labels[row] = candidates[rng.choice(len(candidates), p=probabilities)]

    for _ in range(n_assigned):
        assign()
    for sweep in range(n_sweeps):
        for _ in range(n_assigned):
            labels[int(rng.choice(np.flatnonzero(np.array(labels) >= 0)))] = -1
            assign()
        draws[sweep] = canonical(labels)
    return draws


def churn_stationary(
    columns: Sequence[Column], alpha: float, d: float = 0.0, *, n_assigned: int, beta: float = 1.0
) -> dict[Partition, float]:
    """Return the exact invariant law of the random churn of `gibbs`, by its transition matrix.

    States are canonical labels with -1 for rows that are out. With all rows in, it is the posterior; below that it is
    only close to the posterior of a random subsample, since the row that leaves has left its trace on the others.
    """
    conditional = Conditional(columns, alpha, d, beta)
    states: list[Partition] = []
    for rows in itertools.combinations(range(conditional.n_rows), n_assigned):
        for partition in partitions(n_assigned):
            state = np.full(conditional.n_rows, -1)
            state[list(rows)] = partition
            states.append(tuple(state.tolist()))
    index = {state: i for i, state in enumerate(states)}
    transition = np.zeros((len(states), len(states)))
    for state in states:
        for leaving in np.flatnonzero(np.array(state) >= 0):
            rest = list(state)
            rest[leaving] = -1
            unassigned = np.flatnonzero(np.array(rest) < 0)
            for entering in unassigned:
                for label, probability in zip(*conditional(int(entering), rest), strict=True):
                    target = canonical([*rest[:entering], label, *rest[entering + 1 :]])
                    transition[index[state], index[target]] += probability / n_assigned / len(unassigned)
    system = np.vstack([transition.T - np.eye(len(states)), np.ones(len(states))])
    law = np.linalg.lstsq(system, np.append(np.zeros(len(states)), 1.0), rcond=None)[0]
    return dict(zip(states, law.tolist(), strict=True))


# --- Statistics of samplers -------------------------------------------------------------------------------------


def partition_counts(draws: np.ndarray) -> Counter[Partition]:
    """Count the canonical partitions among draws of shape (..., n_rows)."""
    draws = np.asarray(draws)
    unique, counts = np.unique(draws.reshape(-1, draws.shape[-1]), axis=0, return_counts=True)
    total: Counter[Partition] = Counter()
    for labels, count in zip(unique, counts, strict=True):
        total[canonical(labels)] += int(count)
    return total


def partition_codes(draws: np.ndarray) -> np.ndarray:
    """Return one integer per draw: the place of its partition in `partitions(n_rows)`; shape (...,).

    Examples
    --------
    >>> partition_codes(np.array([[4, 4, 4], [1, 0, 0]])).tolist()
    [0, 3]
    """
    draws = np.asarray(draws)
    index = {partition: code for code, partition in enumerate(partitions(draws.shape[-1]))}
    unique, inverse = np.unique(draws.reshape(-1, draws.shape[-1]), axis=0, return_inverse=True)
    codes = np.array([index[canonical(labels)] for labels in unique])
    return codes[inverse.ravel()].reshape(draws.shape[:-1])


def total_variation(p: Mapping[Partition, float], counts: Mapping[Partition, float]) -> float:
    """Return half the L1 distance of a distribution and normalised counts; keys outside `p` count in full."""
    total = sum(counts.values())
    return 0.5 * sum(abs(p.get(key, 0.0) - counts.get(key, 0) / total) for key in {*p, *counts})


def noise_floor(
    p: Mapping[Partition, float],
    n_draws: float,
    quantile: float = 0.95,
    *,
    n_replicates: int = 2000,
    rng: np.random.Generator,
) -> float:
    """Return a quantile of the total variation that `n_draws` independent draws from `p` itself would show.

    Give the `effective_draws` of a chain as `n_draws`: correlated draws are noisier than their number says.
    """
    probabilities = np.array(list(p.values()))
    probabilities = probabilities / probabilities.sum()
    n = max(int(n_draws), 1)
    distances = 0.5 * np.abs(rng.multinomial(n, probabilities, size=n_replicates) / n - probabilities).sum(1)
    return float(np.quantile(distances, quantile))


def _autocovariance(series: np.ndarray) -> np.ndarray:
    # Averaged over chains, about the common mean: a chain stuck elsewhere shows as correlation, not as a new mean.
    n = series.shape[1]
    spectrum = np.fft.rfft(series - series.mean(), 2 * n, axis=1)
    return np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, :n].mean(0) / n


def _windowed_time(autocovariance: np.ndarray, window: float) -> float:
    if autocovariance[0] <= 0:
        return 1.0
    times = 2 * np.cumsum(autocovariance / autocovariance[0]) - 1
    inside = np.arange(len(times)) < window * times
    return max(1.0, float(times[-1 if inside.all() else np.argmin(inside)]))


def integrated_autocorrelation_time(series: np.ndarray, window: float = 5.0) -> float:
    """Return 1 + 2 sum of the autocorrelations, cut at the first lag of `window` times the estimate (Sokal 1997).

    Parameters
    ----------
    series : array of shape (n_draws,) or (n_chains, n_draws)
    window : float, default=5.0
        Width of the window in autocorrelation times.

    Returns
    -------
    time : float
        At least 1: an antithetic chain is not credited.
    """
    series = np.asarray(series, dtype=float)
    return _windowed_time(_autocovariance(np.atleast_2d(series)), window)


def _partition_autocovariances(codes: np.ndarray) -> Iterator[float]:
    """Yield, lag by lag, the autocovariance of the indicators 1{draw = partition}, summed over all partitions.

    The products of all indicators of two draws sum to 1 where the partitions are equal: no indicator is formed.
    """
    n = codes.shape[1]
    _, inverse, counts = np.unique(codes, return_inverse=True, return_counts=True)
    shares = counts / codes.size
    codes = inverse.reshape(codes.shape).astype(np.int32)
    expected = np.cumsum(shares[codes].mean(0))
    squared = float(np.sum(shares**2))
    for lag in range(n):
        equal = np.count_nonzero(codes[:, : n - lag] == codes[:, lag:]) / len(codes)
        first, last = expected[n - lag - 1], expected[-1] - (expected[lag - 1] if lag else 0.0)
        yield (equal - first - last + (n - lag) * squared) / n


def partition_autocorrelation_time(codes: np.ndarray, window: float = 5.0) -> float:
    """Return the autocorrelation time of the partition itself, pooled over all partitions.

    The autocovariances of all indicators 1{draw = partition} are summed before normalising, which weights each by its
    variance p (1 - p). It is the factor by which correlation inflates the expected squared L2 distance of the
    histogram from the posterior, and so the one to use for noise floors.

    Parameters
    ----------
    codes : int array of shape (n_draws,) or (n_chains, n_draws)
        See `partition_codes`.
    window : float, default=5.0
        Width of the window in autocorrelation times.
    """
    covariances = _partition_autocovariances(np.atleast_2d(codes))
    variance = next(covariances)
    if variance <= 0:
        return 1.0
    time = 1.0
    for lag, covariance in enumerate(covariances, 1):
        time += 2 * covariance / variance
        if lag >= window * time:
            break
    return max(1.0, time)


def effective_draws(codes: np.ndarray) -> float:
    """Return the number of independent draws whose histogram of partitions would be as noisy as these draws'."""
    return np.size(codes) / partition_autocorrelation_time(codes)
