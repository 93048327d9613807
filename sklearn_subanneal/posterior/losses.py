"""Losses between partitions (variation of information, Binder's loss) and their posterior expectations.

Both losses are exact functions of the contingency table, loss = (sum f(size_a) + sum f(size_b) - 2 sum f(size_ab)) /
scale, with the cluster sizes of `a`, of `b` and of their intersections: f(m) = m log m and scale = n for the variation
of information, f(m) = m^2 and scale = n (n - 1) for Binder's loss.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from sklearn_subanneal.posterior.labels import LabelCodes, check_draws, encode_labels, pair_codes

Loss = str | Callable[[NDArray, NDArray], float]

# A contingency table with more cells for each row of the data is not stored densely: sorting pairs of labels is faster.
_DENSE_CELLS_PER_ROW = 8
_ALWAYS_DENSE = 1 << 16


class Valuation(NamedTuple):
    """The function f of cluster sizes, and the scale as a function of the number of rows."""

    value: Callable[[NDArray], NDArray]
    scale: Callable[[int], float]

    def total(self, sizes):
        """The sum of f over the sizes."""
        return self.value(sizes).sum().item()


VALUATIONS = {
    "vi": Valuation(lambda sizes: xlogy(sizes, sizes), lambda n_rows: n_rows),
    "binder": Valuation(lambda sizes: sizes * sizes, lambda n_rows: max(n_rows * (n_rows - 1), 1)),
}


def check_loss(loss: Loss) -> Loss:
    """Return `loss` if it is the name of a loss or a callable; raise ValueError otherwise."""
    if not callable(loss) and loss not in VALUATIONS:
        raise ValueError(f"loss must be one of {sorted(VALUATIONS)} or a callable of two label arrays, got {loss!r}.")
    return loss


def joint_sizes(a: LabelCodes, b: LabelCodes) -> NDArray[np.int64]:
    """Sizes of the non-empty intersections of the clusters of two partitions, in no particular order."""
    n_cells = len(a.sizes) * len(b.sizes)
    pairs = pair_codes(a, b)
    if n_cells <= max(_DENSE_CELLS_PER_ROW * len(pairs), _ALWAYS_DENSE):
        sizes = np.bincount(pairs)
        return sizes[sizes > 0]
    return np.unique(pairs, return_counts=True)[1]


def adjusted_rand(a: LabelCodes, b: LabelCodes) -> float:
    """Adjusted Rand index of two partitions, as scikit-learn's, without its checks: 1 if they are equal."""
    n_rows = len(a.values)
    together, of_a, of_b = (
        (sizes @ sizes - n_rows) / 2.0 for sizes in (joint_sizes(a, b), np.asarray(a.sizes), np.asarray(b.sizes))
    )
    expected = of_a * of_b / max(n_rows * (n_rows - 1) / 2.0, 1.0)
    most = (of_a + of_b) / 2.0
    return 1.0 if most == expected else float((together - expected) / (most - expected))


def _check_same_rows(a: NDArray, b: NDArray, names: str) -> None:
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(f"{names} must label the same rows, got {a.shape[-1]} and {b.shape[-1]} rows.")


def _pairwise(a: ArrayLike, b: ArrayLike, loss: str) -> float:
    a, b = encode_labels(a), encode_labels(b)
    _check_same_rows(a.values, b.values, "a and b")
    total, scale = VALUATIONS[loss].total, VALUATIONS[loss].scale
    excess = total(a.sizes) + total(b.sizes) - 2 * total(joint_sizes(a, b))
    return max(excess, 0) / scale(len(a.values))


def variation_of_information(a: ArrayLike, b: ArrayLike) -> float:
    """Variation of information between two partitions, in nats.

    VI(a, b) = H(a | b) + H(b | a), the entropy of each partition given the other. It is a metric on partitions,
    does not depend on the names of labels, is 0 for equal partitions and at most log(n_samples).

    Parameters
    ----------
    a, b : array-like of shape (n_samples,)
        Labels of the same rows under two partitions.

    Returns
    -------
    float
        The distance in nats.

    Raises
    ------
    ValueError
        If the two do not label the same number of rows.

    References
    ----------
    Meila, M. (2007). Comparing clusterings: an information based distance. Journal of Multivariate Analysis 98,
    873-895. doi:10.1016/j.jmva.2006.11.013

    Examples
    --------
    >>> from sklearn_subanneal.posterior import variation_of_information
    >>> variation_of_information([0, 0, 1, 1], [5, 5, 3, 3])
    0.0
    >>> round(variation_of_information([0, 0, 1, 1], [0, 1, 0, 1]), 3)  # log 4, the largest possible
    1.386
    """
    return _pairwise(a, b, "vi")


def binder_loss(a: ArrayLike, b: ArrayLike) -> float:
    """Binder's loss between two partitions: the share of pairs of rows that are together in one partition only.

    It is one minus the Rand index, a metric on partitions, and lies in [0, 1]. Both ways to disagree cost the same.

    Parameters
    ----------
    a, b : array-like of shape (n_samples,)
        Labels of the same rows under two partitions.

    Returns
    -------
    float
        The share of disagreeing pairs; 0 for a single row.

    Raises
    ------
    ValueError
        If the two do not label the same number of rows.

    References
    ----------
    Binder, D. A. (1978). Bayesian cluster analysis. Biometrika 65, 31-38. doi:10.1093/biomet/65.1.31

    Examples
    --------
    >>> from sklearn_subanneal.posterior import binder_loss
    >>> binder_loss([0, 0, 1], [1, 0, 0])  # pairs (0, 1) and (1, 2) of three
    0.6666666666666666
    """
    return _pairwise(a, b, "binder")


def expected_loss(
    candidates: ArrayLike, draws: ArrayLike, loss: Loss = "vi", weights: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Mean loss of every candidate partition against posterior draws of the partition.

    Parameters
    ----------
    candidates : array-like of shape (n_candidates, n_samples)
        Labels of the partitions to judge.
    draws : array-like of shape (..., n_samples)
        Labels of the posterior draws; the leading axes (chains, draws) are flattened.
    loss : {"vi", "binder"} or callable, default="vi"
        :func:`variation_of_information`, :func:`binder_loss`, or any function of two label arrays that returns a float.
    weights : array-like of shape (...), default=None
        Weights of the draws, not negative; None: all are equal.

    Returns
    -------
    ndarray of shape (n_candidates,)
        Posterior expected losses, estimated by the mean over the draws.

    Raises
    ------
    ValueError
        If `loss` is unknown or the shapes do not fit.

    References
    ----------
    Wade, S. and Ghahramani, Z. (2018). Bayesian cluster analysis: point estimation and credible balls.
    Bayesian Analysis 13, 559-626. doi:10.1214/17-BA1073

    Examples
    --------
    >>> from sklearn_subanneal.posterior import expected_loss
    >>> expected_loss([[0, 0, 1], [0, 0, 0]], [[0, 0, 1], [1, 1, 0], [0, 1, 2]], loss="binder").round(3)
    array([0.111, 0.778])
    """
    check_loss(loss)
    candidates, draws = np.asarray(candidates), check_draws(draws, "draws")
    if candidates.ndim != 2:
        shape = candidates.shape
        raise ValueError(f"candidates must have shape (n_candidates, n_samples), got {shape}; wrap one as [labels].")
    _check_same_rows(candidates, draws, "candidates and draws")
    return mean_losses(candidates, draws.reshape(-1, draws.shape[-1]), loss, weights)


def mean_losses(
    candidates: Sequence[NDArray], draws: Sequence[NDArray], loss: Loss, weights: ArrayLike | None
) -> NDArray[np.float64]:
    """Mean loss of every candidate, as of :func:`expected_loss`, of labels that are checked and need not be stacked."""
    weights = np.ones(len(draws)) if weights is None else np.ravel(weights)
    weights = weights / weights.sum()
    if callable(loss):
        return np.array([weights @ [loss(candidate, draw) for draw in draws] for candidate in candidates])

    total, scale = VALUATIONS[loss].total, VALUATIONS[loss].scale
    candidates = [encode_labels(candidate) for candidate in candidates]
    candidate_totals = np.array([total(candidate.sizes) for candidate in candidates], dtype=np.float64)
    losses = np.zeros(len(candidates))
    for labels, weight in zip(draws, weights, strict=True):
        draw = encode_labels(labels)
        joint_totals = np.array([total(joint_sizes(candidate, draw)) for candidate in candidates], dtype=np.float64)
        losses += weight * np.maximum(candidate_totals + total(draw.sizes) - 2.0 * joint_totals, 0.0)
    return losses / scale(len(draws[0]))
