"""Other components for a few that seem to be mixed up: each block of components is fitted anew to what the rest leave.

The bound as a function of the factors of some components, the others being fixed, is that of a factorial mixture of the
residual with these components alone. A proposal is therefore judged, exactly, by a small fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from sklearn_subanneal.factorial.ascent import Ascent
from sklearn_subanneal.factorial.component_dependence import correlations, interactions, ranked_pairs
from sklearn_subanneal.factorial.component_removal import dead_components
from sklearn_subanneal.factorial.component_factors import Components
from sklearn_subanneal.factorial.factorial_settings import FactorialSettings
from sklearn_subanneal.factorial.independent_sources import independent_activations
from sklearn_subanneal.factorial.pass_trace import PassTrace
from sklearn_subanneal.factorial.row_search import search_rows
from sklearn_subanneal.factorial.row_span import Rows

# Rows, evenly spaced, to which blocks are fitted at first.
MOST_ROWS = 4000
# Components of a block.
SIZES, SIZES_OF_CORRELATED, SIZE_OF_SHIFTS = (2, 3, 4, 6, 8), (2, 3, 4), 3
# Correlations that are considered, also in standard errors; interactions, in standard deviations.
LEAST_CORRELATION, STANDARD_ERRORS = 0.05, 4.0
# Passes of the fit of a block, before and after a search of the rows, and their tolerance.
PASSES, TOLERANCE, N_SWEEPS = 20, 1e-3, 2
# A block whose bound of a row is lower by so many nats before the search of the rows is given up.
HOPELESS = 2.0
# Blocks raise the bound of a row by more than this, or, of those that lower it by less than so many nats, the best.
LEAST_GAIN, NEARLY, MOST_NEARLY = 1e-3, 1.0, 20
# The sum of a block changes by more, as mean squared length of a row, in noise variances; otherwise it is the same.
LEAST_CHANGE = 0.1
# The search ends after fits of this many blocks without success, more for more components.
FITS, FITS_PER_COMPONENT = 50, 5


@dataclass
class Block:
    """Some components, the rows without all others, and the bound of the components as they are.

    Attributes
    ----------
    members : tuple of int
    pair : tuple of int or None
        Two members, of which the sum and the differences are tried as components.
    rows : Rows
        Residual of the other components.
    components : Components
        The members.
    bound : float
    """

    members: tuple[int, ...]
    pair: tuple[int, int] | None
    rows: Rows
    settings: FactorialSettings
    components: Components
    activations: np.ndarray
    bound: float


class BlockSearch:
    """Proposals of other activations for blocks of components of an ascent, none of which is made twice.

    Parameters
    ----------
    generator : numpy.random.Generator
    """

    def __init__(self, generator: np.random.Generator):
        self.generator = generator
        self._tried: set = set()

    def forget(self) -> None:
        """Make all proposals again: the components have changed."""
        self._tried.clear()

    def proposals(self, ascent: Ascent) -> Iterator[np.ndarray]:
        """Activations of all rows in which a block has a higher bound, given the rest.

        The last proposals are blocks whose bounds are not higher, but nearly so, the best first: with them, the rest
        may change for the better.

        Parameters
        ----------
        ascent : Ascent

        Yields
        ------
        activations : ndarray of shape (n_components, n)
        """
        stride = -(-len(ascent.rows) // MOST_ROWS)
        rows, activations = ascent.rows[::stride], ascent.activations[:, ::stride]
        nearly: list[tuple[float, tuple[int, ...], Ascent]] = []
        starts = ((block, start) for block in self._blocks(ascent, rows, activations) for start in self._starts(block))
        for block, start in islice(starts, FITS + FITS_PER_COMPONENT * len(activations)):
            found = fit_block(block, start)
            gain = (found.bound - block.bound) / len(rows)
            if gain > LEAST_GAIN:
                yield with_block(ascent, block.members, found, stride)
            elif gain > -NEARLY and change(block, found) > LEAST_CHANGE:
                nearly.append((-gain, block.members, found))
        for _, members, found in sorted(nearly, key=lambda near: near[0])[:MOST_NEARLY]:
            yield with_block(ascent, members, found, stride)

    def _blocks(self, ascent: Ascent, rows: Rows, activations: np.ndarray) -> Iterator[Block]:
        """Blocks that have not been tried yet."""
        dead = dead_components(ascent.settings, ascent.components, ascent.statistics, ascent.activations)
        for members, pair in candidate_blocks(rows, activations, ascent.components, dead):
            if (members, pair) not in self._tried:
                self._tried.add((members, pair))
                yield block_of(ascent.components, rows, activations, members, pair)

    def _starts(self, block: Block) -> Iterator[np.ndarray]:
        """Activations of the members from which a block is fitted."""
        values, components = block.rows.values, block.components
        yield independent_activations(values, len(block.members), self.generator, components.noise_variance)
        if block.pair is not None:
            first, second = (block.members.index(k) for k in block.pair)
            for sign in (1.0, -1.0):
                for k, j in ((first, second), (second, first)):
                    means = components.means.copy()
                    means[k] += sign * means[j]
                    yield infer_block(replace(components, means=means), block.rows)


def candidate_blocks(rows: Rows, activations: np.ndarray, components: Components, dead: np.ndarray):
    """Blocks to try, as (members, pair): around components that are dead, or seem to be mixed up.

    Blocks grow from the pairs with the strongest interaction in the residual, and from those with the largest
    correlation, in turns, by the component with the strongest tie to a member.
    """
    n, n_components = len(rows), len(activations)
    residual = rows.values - activations.T @ components.means
    deviation = np.sqrt(2.0 / residual.shape[1])
    ties = interactions(residual, activations), correlations(activations)
    least = 1.0 + STANDARD_ERRORS * deviation, max(LEAST_CORRELATION, STANDARD_ERRORS / np.sqrt(n))
    pairs = [ranked_pairs(tie, limit) for tie, limit in zip(ties, least, strict=True)]
    for k in dead.tolist():
        yield (k,), None
        for ranked in pairs:
            if ranked and k not in ranked[0]:
                yield tuple(sorted((k, *ranked[0]))), None
    for turn in range(max(map(len, pairs))):
        for ranked, tie, sizes in zip(pairs, ties, (SIZES, SIZES_OF_CORRELATED), strict=True):
            if turn < len(ranked):
                for members in grown(tie, ranked[turn], sizes):
                    yield members, ranked[turn] if len(members) == min(SIZE_OF_SHIFTS, n_components) else None


def grown(tie: np.ndarray, pair: tuple[int, int], sizes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The pair, and sets of more components, each by the strongest tie to one that is there already."""
    members = list(pair)
    for size in sizes:
        if size > len(tie):
            return
        while len(members) < size:
            strongest = tie[members].max(axis=0)
            strongest[members] = -1.0
            members.append(int(strongest.argmax()))
        yield tuple(sorted(members))


def residual_of(rows: Rows, activations: np.ndarray, components: Components, members) -> Rows:
    """The rows without the components that are not members; what is outside of the span is left out."""
    others = np.setdiff1d(np.arange(len(activations)), members)
    values = rows.values - (activations[others].T @ components.means[others]).astype(rows.values.dtype)
    return Rows(values, rows.n_features)


def block_of(components: Components, rows: Rows, activations: np.ndarray, members, pair=None) -> Block:
    """The block of the members, whose parameters other than the means are given from now on."""
    chosen = list(members)
    settings = FactorialSettings(
        len(members), components.activation_probability, components.noise_variance, components.component_variance
    )
    residual = residual_of(rows, activations, components, chosen)
    own, statistics = settings.start(residual, activations[chosen])
    return Block(members, pair, residual, settings, own, activations[chosen], own.bound(statistics))


def with_block(ascent: Ascent, members: tuple[int, ...], found: Ascent, stride: int) -> np.ndarray:
    """Activations of all rows, in which those of the members are as found in the fit of every ``stride``-th row."""
    out = ascent.activations.copy()
    if stride == 1:
        out[list(members)] = found.activations
    else:
        residual = residual_of(ascent.rows, ascent.activations, ascent.components, members)
        out[list(members)] = infer_block(found.components, residual)
    return out


def fit_block(block: Block, activations: np.ndarray) -> Ascent:
    """The block from a start, with a search of the rows in between unless it is hopeless."""
    fit = refit(block, activations)
    if fit.bound > block.bound - HOPELESS * len(block.rows):
        fit.set_activations(search_rows(fit.components, block.rows.values, fit.activations))
        fit.climb(PASSES, TOLERANCE)
    return fit


def change(block: Block, found: Ascent) -> float:
    """Mean squared length of the change of the sum of the members in a row, divided by the noise variance."""
    before, after = block.activations.T @ block.components.means, found.activations.T @ found.components.means
    return float(np.einsum("nd,nd->", after - before, after - before)) / len(before) / block.components.noise_variance


def refit(block: Block, activations: np.ndarray) -> Ascent:
    """The block after some passes from other activations (n_members, n)."""
    fit = Ascent(block.rows, block.settings, activations, N_SWEEPS, PassTrace(2 * PASSES))
    fit.climb(PASSES, TOLERANCE)
    return fit


def infer_block(components: Components, rows: Rows) -> np.ndarray:
    """Activations of the rows, given the components, from the prior."""
    return search_rows(components, rows.values, components.infer(rows.values, max_sweeps=10, tol=1e-2))
