"""Search of better activations of rows: sets of active components that differ in several, which single updates miss."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.factorial._row_search import improve_states
from sklearn_subanneal.factorial.activation_statistics import ROWS
from sklearn_subanneal.factorial.component_factors import Components

# Walks of so many steps for each component, in which a component that has changed stays for so many steps: in a fit,
# where searches are repeated, and in the inference of new rows.
STEPS_PER_COMPONENT, MEMORIES, MEMORIES_OF_INFERENCE = 2, (3, 5), (1, 2, 3, 4, 5, 6)
# Activations start this close to the states that were found, and are updated in so many sweeps at most.
CERTAIN, MAX_SWEEPS, TOLERANCE = 0.98, 30, 1e-3
# A row changes if its bound rises by more, in nats.
LEAST_GAIN = 1e-6


def search_rows(
    components: Components, X: np.ndarray, activations: np.ndarray, memories: tuple[int, ...] = MEMORIES
) -> np.ndarray:
    """Activations with a higher bound, where a search finds them; no row gets a lower one.

    In a row, coordinate ascent ends where no single component is better active, or better not. Where components are
    similar, or large against the noise, several have to change at once. A tabu search finds such states.

    Parameters
    ----------
    components : Components
    X : ndarray of shape (n, n_features)
    activations : ndarray of shape (n_components, n)
    memories : tuple of int
        For each walk, the number of steps for which a component that has changed stays.

    Returns
    -------
    activations : ndarray of shape (n_components, n)
        The given array if there is no better row, otherwise a new one.
    """
    out = activations
    fields, pairs = components.couplings(np.float64)
    n_steps = STEPS_PER_COMPONENT * len(pairs)
    for first in range(0, len(X), ROWS):
        rows = slice(first, first + ROWS)
        alone = np.ascontiguousarray(X[rows] @ components.means.T / components.noise_variance + fields)
        states = np.ascontiguousarray(activations[:, rows].T > 0.5).view(np.uint8)
        gains = np.zeros(len(alone))
        for memory in sorted({min(memory, len(pairs) - 1) for memory in memories}):
            gains += improve_states(alone, pairs, states, n_steps, memory)
        moved = first + np.flatnonzero(gains > 0.0)
        if len(moved) == 0:
            continue
        active = states[moved - first].T.astype(bool)
        found = np.where(active, CERTAIN, 1.0 - CERTAIN).astype(activations.dtype)
        found = components.activate(X[moved], found, 1.0, MAX_SWEEPS, TOLERANCE)
        before = components.row_bounds(X[moved], activations[:, moved])
        better = components.row_bounds(X[moved], found) > before + LEAST_GAIN
        if better.any():
            out = activations.copy() if out is activations else out
            out[:, moved[better]] = found[:, better]
    return out


def infer_rows(components: Components, X: np.ndarray, search: bool) -> np.ndarray:
    """Activations (n_components, n) of new rows (n, n_features), each independently and without randomness.

    Cooled from the prior; with ``search``, then improved by it.
    """
    activations = components.infer(X)
    return search_rows(components, X, activations, MEMORIES_OF_INFERENCE) if search else activations
