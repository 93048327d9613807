"""A fit of a factorial mixture that searches: from the better one of two starts, better rows and components."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sklearn_subanneal.factorial.ascent import Ascent
from sklearn_subanneal.factorial.block_search import LEAST_GAIN, proposals, span_of
from sklearn_subanneal.factorial.factorial_fit import FactorialFit, fit_factorial
from sklearn_subanneal.factorial.factorial_settings import FactorialSettings
from sklearn_subanneal.factorial.independent_sources import independent_activations
from sklearn_subanneal.factorial.pass_trace import PassTrace

# Share of the passes that a start may take, and the gain in the bound of a row below which it ends.
SHARE_OF_START, ROUGH = 0.2, 1e-3
# Passes after a proposal, until it is judged, and searches of the rows in it.
PASSES_OF_PROPOSAL, SEARCHES_OF_PROPOSAL, TOLERANCE = 30, 2, 1e-4


def search_factorial(
    X: np.ndarray,
    settings: FactorialSettings,
    make_temperature: Callable,
    generator: np.random.Generator,
    *,
    max_iter: int,
    tol: float,
    n_sweeps: int = 2,
    tell: Callable | None = None,
    **tempering,
) -> FactorialFit:
    """Fit from a random start with tempering, and from independent sources; improve the one with the higher bound.

    The activations of single rows are searched, and blocks of components that seem to be mixed up are fitted anew. At
    T = 1 no step lowers the bound of the state that is kept.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64
    settings, make_temperature, generator, tell
        As :func:`~sklearn_subanneal.factorial.factorial_fit.fit_factorial` takes them.
    max_iter : int
        Passes through the rows at most, those of all trials included.
    tol : float
        The fit ends when an iteration gains less in the bound of a row.
    n_sweeps : int
        Sweeps through the components of a row in a pass.
    **tempering
        Further arguments of :func:`~sklearn_subanneal.factorial.factorial_fit.fit_factorial`, for the random start.
    """
    trace, most = PassTrace(max_iter, tell), max(1, int(SHARE_OF_START * max_iter))
    fitted = fit_factorial(
        X,
        settings,
        make_temperature,
        generator,
        max_iter=most,
        tol=ROUGH,
        n_sweeps=n_sweeps,
        trace=trace,
        **tempering,
    )
    best = Ascent(X, settings, fitted.activations, n_sweeps, trace, fitted.components)
    best.search()
    if trace.left > 0:
        start = independent_activations(X, settings.n_components, generator)
        other = Ascent(X, settings, start, n_sweeps, trace)
        other.kept = best
        other.climb(most, ROUGH)
        other.search()
        best = other if other.bound > best.bound else best
    best = improve_blocks(best, generator)
    return best.finish(best.climb(max_iter, tol))


def improve_blocks(ascent: Ascent, generator: np.random.Generator) -> Ascent:
    """Accept proposals for blocks of components that raise the bound, until none does; the state with the best."""
    ascent.kept, improved = None, True
    span = span_of(ascent.X, ascent.settings.n_components)
    while improved:
        improved = False
        for proposal in proposals(ascent, generator, span):
            if ascent.trace.left == 0:
                return ascent
            trial = ascent.trial(proposal)
            trial.climb(PASSES_OF_PROPOSAL, TOLERANCE)
            trial.search(SEARCHES_OF_PROPOSAL)
            if trial.bound > ascent.bound + LEAST_GAIN * len(ascent.X):
                trial.kept, ascent, improved = None, trial, True
                break
    return ascent
