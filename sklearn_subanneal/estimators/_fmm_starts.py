"""Starts, the fits of VariationalTemperingFMM from its starts: reports, checkpoints, and the best of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sklearn_subanneal.annealing.continuation import table_digest
from sklearn_subanneal.annealing.reporter import ProgressReporter
from sklearn_subanneal.annealing.runner import spawn_generators
from sklearn_subanneal.annealing.saved_fit import SavedFit, digest
from sklearn_subanneal.factorial.factorial_fit import FactorialFit, fit_factorial
from sklearn_subanneal.factorial.factorial_search import search_factorial
from sklearn_subanneal.variational import StepSize


class Starts:
    """The fits of an estimator to rows from ``n_init`` starts, each of them a chain of its checkpoints.

    Parameters
    ----------
    estimator : VariationalTemperingFMM
    X : ndarray of shape (n_samples, n_features)
    fit : ProgressReporter or None
        None: nothing is reported or saved.
    """

    def __init__(self, estimator, X: np.ndarray, fit: ProgressReporter | None):
        self.estimator, self.X, self.fit = estimator, X, fit
        self.settings = estimator._settings()

    def best(self, make_temperature: Callable, step_size: StepSize) -> FactorialFit:
        """The fit with the highest bound."""
        own = self.estimator
        saved = None if self.fit is None else SavedFit.of(own, self._identity)
        learn = fit_factorial if own.init == "random" else search_factorial
        best = None
        for number, generator in enumerate(spawn_generators(own.random_state, own.n_init)):
            result, ended = saved.result(number) if saved else (None, False)
            if ended:
                fitted = result
            else:
                fitted = learn(
                    self.X,
                    self.settings,
                    make_temperature,
                    generator,
                    max_iter=own._most_passes(),
                    tol=own.tol,
                    n_sweeps=own.n_sweeps,
                    temperature_step=own.temperature_step,
                    batch_size=own.batch_size,
                    step_size=step_size,
                    tell=self._reporter(number),
                    save=self._saver(saved, number) if saved else None,
                    state=result,
                )
                if saved:
                    self._saver(saved, number, own._most_passes())(fitted)
            if best is None or fitted.bound > best.bound:
                best = fitted
        return best

    def _identity(self) -> dict[str, str]:
        """Digests of parameters and rows."""
        parameters = self.estimator.get_params(deep=False)
        identity = {name: digest(value) for name, value in parameters.items() if name != "verbose"}
        return identity | {"X": table_digest(getattr(self.estimator, "feature_names_in_", ()), [self.X])}

    def _saver(self, saved: SavedFit, number: int, ended_at: int | None = None):
        return lambda state: saved.offer(number, lambda: state, ended_at)

    def _reporter(self, number):
        """A function that reports each iteration of the start ``number`` to callbacks and to the terminal."""
        own, fit = self.estimator, self.fit

        def report(record, components):
            if own.verbose:
                numbers = f"start: {number + 1}, iteration: {record['sweep'] + 1} of max_iter: {own._most_passes()}"
                temperature = f"E[1/T]: {record['inverse_temperature']:.4f}"
                print(f"{numbers}, {temperature}, bound of a row: {record['bound']:.6g}")
            if fit is None:
                return False
            return fit.step(
                {"chain": number, **record},
                lambda: own._attributes(components, self.X.dtype),
                name="iteration",
            )

        return report
