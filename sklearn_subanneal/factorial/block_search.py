"""Other components for three that seem to be mixed up: independent sources, or sums and differences of two.

The bound as a function of the factors of some components, the others being fixed, is that of a factorial mixture of the
residual with these components alone. A proposal is therefore judged, first, by a small fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from sklearn_subanneal.factorial.activation_correlations import correlations, ranked_pairs
from sklearn_subanneal.factorial.ascent import Ascent
from sklearn_subanneal.factorial.component_factors import Components
from sklearn_subanneal.factorial.factorial_settings import FactorialSettings
from sklearn_subanneal.factorial.independent_sources import independent_activations, principal_directions
from sklearn_subanneal.factorial.pass_trace import PassTrace
from sklearn_subanneal.factorial.row_search import search_rows

# Rows, evenly spaced, to which blocks are fitted at first.
MOST_ROWS = 4000
# Blocks are fitted in the span of all components if rows have more features than this for each of them.
MOST_FEATURES = 2
# Components of a block.
SIZE = 3
# Correlations that are considered, also in standard errors.
LEAST_CORRELATION, STANDARD_ERRORS = 0.05, 4.0
# Passes of the fit of a block, before and after a search of the rows, and their tolerance.
PASSES, TOLERANCE, N_SWEEPS = 20, 1e-3, 2
# A block whose bound of a row is lower by so many nats before the search of the rows is given up.
HOPELESS = 2.0
# Blocks raise the bound of a row by more than this, or, of those that lower it by less than so many nats, the best.
LEAST_GAIN, NEARLY, MOST_NEARLY = 1e-3, 1.0, 8
# The sum of a block changes by more, as mean squared length of a row, in noise variances; otherwise it is the same.
LEAST_CHANGE = 0.1
# Fits of blocks at most, more for more components.
FITS, FITS_PER_COMPONENT = 25, 4


@dataclass
class Block:
    """Some components, the rows without all others, and the bound of the components as they are.

    Attributes
    ----------
    members : tuple of int
    X : ndarray of shape (n, n_features)
        Residual of the other components.
    settings : FactorialSettings
        Parameters other than the means are given.
    components : Components
        The members.
    activations : ndarray of shape (n_members, n)
    bound : float
    """

    members: tuple[int, ...]
    X: np.ndarray
    settings: FactorialSettings
    components: Components
    activations: np.ndarray
    bound: float


def proposals(ascent: Ascent, generator: np.random.Generator, span: np.ndarray | None = None) -> Iterator[np.ndarray]:
    """Activations of all rows in which a block of components has a higher bound, given the rest.

    The last proposals are blocks whose bounds are not higher, but nearly so, the best first: with them, the rest may
    change for the better.

    Parameters
    ----------
    ascent : Ascent
    generator : numpy.random.Generator
    span : ndarray of shape (n_features, n_dimensions) or None
        Orthonormal vectors in whose coordinates blocks are fitted; None: as the rows are.

    Yields
    ------
    activations : ndarray of shape (n_components, n)
    """
    stride = -(-len(ascent.X) // MOST_ROWS)
    every, components = ascent.X, ascent.components
    if span is not None:
        every = np.ascontiguousarray(every @ span.astype(every.dtype))
        components = replace(components, means=components.means @ span)
    X, activations = every[::stride], ascent.activations[:, ::stride]
    nearly: list[tuple[float, tuple[int, ...], Ascent]] = []
    starts = (
        (block, start)
        for pair, members in candidates(activations)
        for block in [block_of(components, X, activations, members)]
        for start in starts_of(block, pair, generator)
    )
    for block, start in islice(starts, FITS + FITS_PER_COMPONENT * len(activations)):
        found = fit_block(block, start)
        gain = (found.bound - block.bound) / len(X)
        if gain > LEAST_GAIN:
            yield with_block(every, ascent.activations, components, block.members, found)
        elif gain > -NEARLY and change(block, found) > LEAST_CHANGE:
            nearly.append((-gain, block.members, found))
    for _, members, found in sorted(nearly, key=lambda near: near[0])[:MOST_NEARLY]:
        yield with_block(every, ascent.activations, components, members, found)


def span_of(X: np.ndarray, n_components: int) -> np.ndarray | None:
    """Orthonormal vectors (n_features, n_components) near which all sums of components lie; None if they save no time.

    In their coordinates fits of blocks take a share of the time. Their bounds have fewer terms of the variances of the
    components, but they choose proposals only.
    """
    if X.shape[1] <= MOST_FEATURES * n_components:
        return None
    return principal_directions(X.astype(np.float64), n_components)[1].T


def candidates(activations: np.ndarray) -> Iterator[tuple[tuple[int, int], tuple[int, ...]]]:
    """Pairs of components with correlated activations (n_components, n), the strongest first, and their blocks.

    A block has in addition the component with the largest correlation with one of the two.
    """
    tie = correlations(activations)
    for pair in ranked_pairs(tie, max(LEAST_CORRELATION, STANDARD_ERRORS / np.sqrt(activations.shape[1]))):
        members = list(pair)
        while len(members) < min(SIZE, len(tie)):
            strongest = tie[members].max(axis=0)
            strongest[members] = -1.0
            members.append(int(strongest.argmax()))
        yield pair, tuple(members)


def starts_of(block: Block, pair: tuple[int, int], generator: np.random.Generator) -> Iterator[np.ndarray]:
    """Activations of the members to start from.

    Those of independent sources, and those with which one of the pair is replaced by its sum with the other, or by
    their difference.
    """
    yield independent_activations(block.X, len(block.members), generator)
    first, second = (block.members.index(k) for k in pair)
    for sign in (1.0, -1.0):
        for k, j in ((first, second), (second, first)):
            means = block.components.means.copy()
            means[k] += sign * means[j]
            yield infer_block(replace(block.components, means=means), block.X)


def residual_of(X: np.ndarray, activations: np.ndarray, components: Components, members) -> np.ndarray:
    """The rows (n, n_features) without the components that are not members."""
    others = np.setdiff1d(np.arange(len(activations)), members)
    return X - (activations[others].T @ components.means[others]).astype(X.dtype)


def block_of(components: Components, X: np.ndarray, activations: np.ndarray, members) -> Block:
    """The block of the members, whose parameters other than the means are given from now on."""
    chosen = list(members)
    settings = FactorialSettings(
        len(members), components.activation_probability, components.noise_variance, components.component_variance
    )
    residual = residual_of(X, activations, components, chosen)
    own, statistics = settings.start(residual, activations[chosen])
    return Block(members, residual, settings, own, activations[chosen], own.bound(statistics))


def with_block(
    X: np.ndarray, activations: np.ndarray, components: Components, members: tuple[int, ...], found: Ascent
) -> np.ndarray:
    """Activations of all rows, in which those of the members are as found in a fit to all rows, or to some of them."""
    out = activations.copy()
    if len(found.X) == len(X):
        out[list(members)] = found.activations
    else:
        out[list(members)] = infer_block(found.components, residual_of(X, activations, components, members))
    return out


def fit_block(block: Block, activations: np.ndarray) -> Ascent:
    """The block from a start, with a search of the rows in between unless it is hopeless."""
    fit = refit(block, activations)
    if fit.bound > block.bound - HOPELESS * len(block.X):
        fit.set_activations(search_rows(fit.components, block.X, fit.activations))
        fit.climb(PASSES, TOLERANCE)
    return fit


def change(block: Block, found: Ascent) -> float:
    """Mean squared length of the change of the sum of the members in a row, divided by the noise variance."""
    before, after = block.activations.T @ block.components.means, found.activations.T @ found.components.means
    return float(np.einsum("nd,nd->", after - before, after - before)) / len(before) / block.components.noise_variance


def refit(block: Block, activations: np.ndarray) -> Ascent:
    """The block after some passes from other activations (n_members, n)."""
    fit = Ascent(block.X, block.settings, activations, N_SWEEPS, PassTrace(2 * PASSES))
    fit.climb(PASSES, TOLERANCE)
    return fit


def infer_block(components: Components, X: np.ndarray) -> np.ndarray:
    """Activations of the rows (n, n_features), given the components, from the prior."""
    return search_rows(components, X, components.infer(X, max_sweeps=10, tol=1e-2))
