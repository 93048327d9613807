"""A fit of a factorial mixture that searches: from the better one of two starts, better rows and components."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sklearn_subanneal.factorial.ascent import Ascent
from sklearn_subanneal.factorial.block_search import LEAST_GAIN, proposals, span_of
from sklearn_subanneal.factorial.factorial_fit import START, FactorialFit, fit_factorial
from sklearn_subanneal.factorial.factorial_settings import FactorialSettings
from sklearn_subanneal.factorial.independent_sources import independent_activations
from sklearn_subanneal.factorial.pass_trace import PassTrace

# Share of the passes that a start may take, and the gain in the bound of a row below which it ends.
SHARE_OF_START, ROUGH = 0.2, 1e-3
# Passes after a proposal, until it is judged, and searches of the rows in it.
PASSES_OF_PROPOSAL, SEARCHES_OF_PROPOSAL, TOLERANCE = 30, 2, 1e-4


# The stages of a fit after its first start, in which it is marked: searches of rows; the start from independent
# sources, and searches of its rows; proposals for blocks; the last passes.
ROWS, SOURCES, ROWS_OF_SOURCES, BLOCKS, LAST = "rows", "sources", "rows of sources", "blocks", "last"
STAGES = (START, ROWS, SOURCES, ROWS_OF_SOURCES, BLOCKS, LAST)


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
    save: Callable[[dict], None] | None = None,
    state: dict | None = None,
    **tempering,
) -> FactorialFit:
    """Fit from a random start with tempering, and from independent sources; improve the one with the higher bound.

    The activations of single rows are searched, and blocks of components that seem to be mixed up are fitted anew. At
    T = 1 no step lowers the bound of the state that is kept.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64
    settings, make_temperature, generator, tell, save, state
        As :func:`~sklearn_subanneal.factorial.factorial_fit.fit_factorial` takes them. What is saved is at most one
        pass, one search of the rows or one proposal old.
    max_iter : int
        Passes through the rows at most, those of all trials included.
    tol : float
        The fit ends when an iteration gains less in the bound of a row.
    n_sweeps : int
        Sweeps through the components of a row in a pass.
    **tempering
        Further arguments of :func:`~sklearn_subanneal.factorial.factorial_fit.fit_factorial`, for the random start.
    """
    trace, most = PassTrace(max_iter, tell, save), max(1, int(SHARE_OF_START * max_iter))
    search = FactorialSearch(X, settings, generator, n_sweeps, trace, state)
    if search.reaches(START):
        fitted = fit_factorial(
            X,
            settings,
            make_temperature,
            generator,
            max_iter=most,
            tol=ROUGH,
            n_sweeps=n_sweeps,
            trace=trace,
            state=state,
            **tempering,
        )
        search.best = Ascent(X, settings, fitted.activations, n_sweeps, trace, fitted.components)
    return search.run(most, max_iter, tol)


class FactorialSearch:
    """The stages of a fit after its first start, which continue from a state if there is one.

    Parameters
    ----------
    X, settings, generator, n_sweeps, state
        As of :func:`search_factorial`.
    trace : PassTrace

    Attributes
    ----------
    best, other : Ascent or None
        The state with the highest bound, and the one from another start.
    """

    def __init__(self, X, settings: FactorialSettings, generator, n_sweeps: int, trace: PassTrace, state: dict | None):
        self.X, self.settings, self.generator, self.n_sweeps, self.trace = X, settings, generator, n_sweeps, trace
        self.best: Ascent | None = None
        self.other: Ascent | None = None
        self._stage, self._done = START, 0
        if state is not None and state["stage"] != START:
            self._stage, self._done, generator.bit_generator.state = state["stage"], state["done"], state["generator"]
            trace.restore(state)
            self.best, self.other = (
                own and Ascent.of_state(own, X, settings, n_sweeps, trace) for own in (state["best"], state["other"])
            )

    def reaches(self, stage: str) -> bool:
        """Whether a stage is to be made, as a whole or from where it was interrupted."""
        return STAGES.index(self._stage) <= STAGES.index(stage)

    def run(self, most: int, max_iter: int, tol: float) -> FactorialFit:
        """All stages; ``most``: passes from the second start."""
        if self.reaches(ROWS):
            self.best.search(**self._marked(ROWS))
        if self.trace.left > 0 and self.reaches(ROWS_OF_SOURCES):
            self._try_sources(most)
        if self.reaches(BLOCKS):
            self.best = improve_blocks(self.best, self.generator, **self._marked(BLOCKS))
        return self.best.finish(self.best.climb(max_iter, tol, **self._marked(LAST)))

    def _try_sources(self, most):
        if self.other is None:
            start = independent_activations(self.X, self.settings.n_components, self.generator)
            self.other = Ascent(self.X, self.settings, start, self.n_sweeps, self.trace)
        self.other.kept = self.best
        if self.reaches(SOURCES):
            self.other.climb(most, ROUGH, **self._marked(SOURCES))
        self.other.search(**self._marked(ROWS_OF_SOURCES))
        self.best = self.other if self.other.bound > self.best.bound else self.best
        self.other = None

    def _marked(self, stage) -> dict:
        """Arguments of a stage: the function that marks its steps, and the number of those that are done already."""

        def mark(done, best=None, generator=None):
            own = {"best": best or self.best, "other": self.other}
            states = {name: ascent and ascent.get_state() for name, ascent in own.items()}
            generator = generator or self.generator.bit_generator.state
            return {"done": done, "generator": generator, **states}

        return {
            "mark": lambda done, *others: self.trace.mark(stage, lambda: mark(done, *others)),
            "done": self._done if stage == self._stage else 0,
        }


def improve_blocks(
    ascent: Ascent, generator: np.random.Generator, mark: Callable | None = None, done: int = 0
) -> Ascent:
    """Accept proposals for blocks of components that raise the bound, until none does; the state with the best.

    ``mark`` is called before each trial with the number of proposals tried from the same state, this state, and that of
    the generator before the first of them. ``done`` proposals were tried earlier, and are only made again.
    """
    ascent.kept, improved = None, True
    span = span_of(ascent.X, ascent.settings.n_components)
    while improved:
        improved, before = False, generator.bit_generator.state
        for number, proposal in enumerate(proposals(ascent, generator, span)):
            if ascent.trace.left == 0:
                return ascent
            if number < done:
                continue
            if mark is not None:
                mark(number, ascent, before)
            trial = ascent.trial(proposal)
            trial.climb(PASSES_OF_PROPOSAL, TOLERANCE)
            trial.search(SEARCHES_OF_PROPOSAL)
            if trial.bound > ascent.bound + LEAST_GAIN * len(ascent.X):
                trial.kept, ascent, improved = None, trial, True
                break
        done = 0
    return ascent
