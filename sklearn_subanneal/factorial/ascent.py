"""Coordinate ascent on the bound of all rows of a factorial mixture, at T = 1, with searches of the rows."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy, deepcopy

import numpy as np

from sklearn_subanneal.factorial.activation_statistics import ActivationStatistics
from sklearn_subanneal.factorial.component_factors import Components
from sklearn_subanneal.factorial.factorial_fit import FactorialFit
from sklearn_subanneal.factorial.factorial_settings import FactorialSettings
from sklearn_subanneal.factorial.pass_trace import PassTrace
from sklearn_subanneal.factorial.row_search import search_rows

# After a search of the rows, so many passes at most, until one gains less than this in the bound of a row.
PASSES_AFTER_SEARCH, ROUGH = 10, 1e-4
# Searches of the rows, at most, until one gains less than this in the bound of a row.
MOST_SEARCHES, LEAST_OF_SEARCH = 20, 1e-3


class Ascent:
    """State of coordinate ascent: components, activations of the rows, their statistics, and the bound.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
    settings : FactorialSettings
    activations : ndarray of shape (n_components, n)
    n_sweeps : int
        Sweeps through the components of a row in a pass.
    trace : PassTrace
        Where the passes are recorded, with the bound of the best state so far.
    components : Components or None
        None: those that the activations give.

    Attributes
    ----------
    bound : float
        Lower bound of the log evidence of all rows.
    kept : Ascent or None
        The state that is kept unless this one becomes better.
    """

    def __init__(
        self,
        X: np.ndarray,
        settings: FactorialSettings,
        activations: np.ndarray,
        n_sweeps: int,
        trace: PassTrace,
        components: Components | None = None,
    ):
        self.X, self.settings, self.n_sweeps, self.trace = X, settings, n_sweeps, trace
        self.components, self.statistics = settings.start(X, activations)
        self.components = self.components if components is None else components
        self.activations = activations
        self.bound = self.components.bound(self.statistics)
        self.kept: Ascent | None = None

    def get_state(self) -> dict:
        """Components, activations, their statistics and the bound; what is in it does not change later."""
        return {
            "components": deepcopy(self.components),
            "activations": self.activations,
            "statistics": self.statistics,
            "bound": self.bound,
        }

    @classmethod
    def of_state(
        cls, state: dict, X: np.ndarray, settings: FactorialSettings, n_sweeps: int, trace: PassTrace
    ) -> Ascent:
        """The ascent whose ``get_state`` gave this."""
        made = cls.__new__(cls)
        made.X, made.settings, made.n_sweeps, made.trace, made.kept = X, settings, n_sweeps, trace, None
        vars(made).update(state)
        return made

    def trial(self, activations: np.ndarray) -> Ascent:
        """The same components with other activations, which may be better or worse; this state is not changed."""
        other = copy(self)
        other.components, other.kept = deepcopy(self.components), self
        other.set_activations(activations)
        return other

    def set_activations(self, activations: np.ndarray) -> None:
        """Replace the activations (n_components, n), and compute their statistics and the bound."""
        self.activations = activations
        self.statistics = ActivationStatistics.of(self.X, activations)
        self.bound = self.components.bound(self.statistics)

    def climb(self, most: int, tol: float, mark: Callable[[int], None] | None = None, done: int = 0) -> bool:
        """Passes until one gains less than ``tol`` in the bound of a row; whether one did.

        ``mark`` is called before each pass with the number of passes made, of which ``done`` were made earlier.
        """
        n = len(self.X)
        for number in range(done, min(most, done + self.trace.left)):
            if mark is not None:
                mark(number)
            before = self.bound
            self.settings.improve(self.components, self.statistics, 1.0)
            self.set_activations(self.components.activate(self.X, self.activations, 1.0, self.n_sweeps))
            best = self if self.kept is None or self.kept.bound < self.bound else self.kept
            if self.trace.add(1.0, (best.bound / n,) * 2, 1.0, best.components):
                return False
            if self.bound - before < tol * n:
                return True
        return False

    def search(self, most: int = MOST_SEARCHES, mark: Callable[[int], None] | None = None, done: int = 0) -> None:
        """Alternate searches of better activations of single rows with passes, as long as both gain.

        ``mark`` is called before each search with the number of searches made, of which ``done`` were made earlier.
        """
        for number in range(done, most):
            if self.trace.left == 0:
                return
            if mark is not None:
                mark(number)
            before = self.bound
            found = search_rows(self.components, self.X, self.activations)
            if found is self.activations:
                return
            self.set_activations(found)
            self.climb(PASSES_AFTER_SEARCH, ROUGH)
            if self.bound - before < LEAST_OF_SEARCH * len(self.X):
                return

    def finish(self, settled: bool) -> FactorialFit:
        """The result, after a last update of the components."""
        self.settings.improve(self.components, self.statistics, 1.0)
        bound = self.components.bound(self.statistics)
        return FactorialFit(self.components, self.statistics, bound, self.trace.array(), self.activations, settled)
