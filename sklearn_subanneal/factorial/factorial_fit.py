"""One variational fit of a factorial mixture from a random start, by passes or minibatches, cooled to T = 1."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass

import numpy as np

from sklearn_subanneal.factorial.activation_statistics import ActivationStatistics
from sklearn_subanneal.factorial.component_factors import Components
from sklearn_subanneal.factorial.factorial_settings import FactorialSettings
from sklearn_subanneal.factorial.pass_trace import PassTrace
from sklearn_subanneal.variational import ConstantStep, FixedTemperature, Minibatch, StepSize, TemperedLearner

# An inferred temperature that is still above 1 at this progress is set to 1: the fitted model is that of T = 1.
LAST_OF_TEMPERING = 0.9
# The stage of the fit where it is marked.
START = "start"
# All rows as a minibatch.
EVERY = slice(None)
# E[1/T] is settled where it changes by less in an iteration.
SETTLED = 1e-4


@dataclass
class FactorialFit:
    """Result of a fit.

    Attributes
    ----------
    components : Components
    statistics : ActivationStatistics
    bound : float
        Lower bound of the log evidence of all rows.
    trace : structured ndarray of shape (n_iterations,)
        The bounds are per row; "tempered_bound" is the annealed bound, with the terms of q(y) where there are any.
    activations : ndarray of shape (n_components, n)
        Probabilities, of the rows of the fit.
    settled : bool
        Whether the last iteration, at T = 1, gained less than the tolerance.
    """

    components: Components
    statistics: ActivationStatistics
    bound: float
    trace: np.ndarray
    activations: np.ndarray
    settled: bool


class FactorialRun(TemperedLearner):
    """State of a fit: components, activations, statistics of the rows and temperature.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    activations : ndarray of shape (n_components, n_rows)
        Random, so that the components separate.
    settings : FactorialSettings
    make_temperature : callable
        (components, n_rows) -> :class:`~sklearn_subanneal.variational.TemperatureVariable`.
    n_sweeps : int, default=2
        Sweeps through the components of a row at each visit.
    step_size, temperature_step : StepSize, default=ConstantStep()
        Of the statistics, and of an inferred temperature.
    """

    def __init__(
        self,
        X,
        activations,
        settings: FactorialSettings,
        make_temperature: Callable,
        n_sweeps: int = 2,
        step_size: StepSize | None = None,
        temperature_step: StepSize | None = None,
    ):
        self.X, self.activations, self.settings, self.n_sweeps = X, activations, settings, n_sweeps
        self.components, self.statistics = settings.start(X, activations)
        super().__init__(
            temperature=make_temperature(self.components, len(X)),
            step_size=step_size or ConstantStep(),
            temperature_step=temperature_step or ConstantStep(),
        )
        if self.temperature.is_inferred:
            step = self.temperature_step.checked_step(0, 0.0, 1.0)
            self._last = self.components.energy(self.statistics) / len(X), step
        self._is_frozen = False

    def get_state(self) -> dict:
        """All that :meth:`learn` changes; what is in it does not change later."""
        return super().get_state() | {
            "components": deepcopy(self.components),
            "statistics": self.statistics,
            "activations": self.activations.copy(),
            "is_frozen": self._is_frozen,
        }

    def set_state(self, state: dict) -> None:
        """Restore what ``get_state`` gave."""
        if state["is_frozen"]:
            self.freeze()
        super().set_state(state)
        self.components, self.statistics = state["components"], state["statistics"]
        self.activations = state["activations"].copy()

    def global_step(self, inverse_temperature: float) -> None:
        """Update the components, and with them the partition function, which depends on parameters that are learned."""
        self.settings.improve(self.components, self.statistics, inverse_temperature)
        self.temperature.renormalise(self.components.log_partition)

    def local_step(self, batch: Minibatch, inverse_temperature: float) -> ActivationStatistics:
        """Update the activations of the rows, given by their numbers or a slice."""
        X, before = self.X[batch.rows], self.activations[:, batch.rows]
        found = self.components.activate(X, before, inverse_temperature, self.n_sweeps)
        self.activations[:, batch.rows] = found
        return ActivationStatistics.of(X, found)

    def energy(self, batch: Minibatch, found: ActivationStatistics) -> float:
        """Expected log likelihood of a row."""
        return self.components.energy(found) / found.n_rows

    def blend(self, batch: Minibatch, found: ActivationStatistics) -> None:
        """Take a step of the statistics."""
        self.statistics = self.statistics.blend(found, batch.step, len(self.X))

    def tempered_bound(self) -> float:
        """The bound at the present temperature: equation 4 of the paper, with the terms of q(y), equation 5."""
        bound = self.components.bound(self.statistics, self.temperature.inverse_temperature)
        return bound + self.temperature.bound()

    def freeze(self) -> None:
        """End the tempering: the temperature is 1 from now on."""
        self.temperature, self._is_frozen = FixedTemperature(), True


def random_activations(n_components: int, n_rows: int, dtype, generator: np.random.Generator) -> np.ndarray:
    """Probabilities between 0.3 and 0.7, (n_components, n_rows): different enough for components to separate."""
    return generator.uniform(0.3, 0.7, (n_components, n_rows)).astype(dtype)


def fit_factorial(
    X: np.ndarray,
    settings: FactorialSettings,
    make_temperature: Callable,
    generator: np.random.Generator,
    *,
    max_iter: int,
    tol: float,
    n_sweeps: int = 2,
    temperature_step: float = 0.05,
    batch_size: int | None = None,
    step_size: StepSize | None = None,
    tell: Callable | None = None,
    save: Callable[[dict], None] | None = None,
    state: dict | None = None,
    trace: PassTrace | None = None,
) -> FactorialFit:
    """Fit from one random start.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64
    settings : FactorialSettings
    make_temperature : callable
        As :class:`FactorialRun` takes it.
    generator : numpy.random.Generator
    max_iter : int
        Passes through the rows at most.
    tol : float
        The fit ends when an iteration at T = 1 gains less in the bound of a row.
    n_sweeps : int
        Sweeps through the components of a row at each visit.
    temperature_step : float
        Step of an inferred temperature in an iteration over all rows.
    batch_size : int or None
        Rows after which the components are updated; None: all.
    step_size : StepSize or None
        Step sizes of minibatches.
    tell, save : callable or None
        Called after each iteration, see :class:`~sklearn_subanneal.factorial.pass_trace.PassTrace`.
    state : dict or None
        What ``save`` was called with in a fit that was interrupted; this one continues from it bit for bit.
    trace : PassTrace or None
        Where iterations are recorded, if they are the first of several; ``tell`` and ``save`` are then not used.
    """
    n_rows = len(X)
    whole = batch_size is None or batch_size >= n_rows
    activations = random_activations(settings.n_components, n_rows, X.dtype, generator)
    steps = (ConstantStep(), ConstantStep(temperature_step)) if whole else (step_size, step_size)
    run = FactorialRun(X, activations, settings, make_temperature, n_sweeps, *steps)
    trace = PassTrace(max_iter, tell, save) if trace is None else trace
    settled, rho, last = False, 0.0, -np.inf
    if state is not None:
        trace.restore(state)
        run.set_state(state["run"])
        generator.bit_generator.state, rho, last = state["generator"], state["rho"], state["last"]

    def one_pass(iteration):
        if whole:
            run.learn(EVERY, 1.0, progress_at(iteration))
            return
        order = generator.permutation(n_rows)
        for first in range(0, n_rows, batch_size):
            rows = order[first : first + batch_size]
            run.learn(rows, len(rows) / n_rows, progress_at(iteration + first / n_rows))
        # So that the bound is that of components and statistics that belong together.
        run.global_step(run.temperature.inverse_temperature)

    def progress_at(passes):
        return min(1.0, passes / (max_iter - 1)) if max_iter > 1 else 1.0

    def present():
        return {"run": run.get_state(), "generator": generator.bit_generator.state, "rho": rho, "last": last}

    for iteration in range(len(trace), max_iter):
        trace.mark(START, present)
        inferred = run.temperature.is_inferred
        if inferred and progress_at(iteration) >= LAST_OF_TEMPERING:
            run.freeze()
        one_pass(iteration)
        before, rho = rho, run.temperature.inverse_temperature
        bounds = run.tempered_bound() / n_rows, run.components.bound(run.statistics) / n_rows
        # Bounds at different temperatures can't be compared.
        settled = iteration > 0 and abs(rho - before) < SETTLED and bounds[0] - last < tol
        last = bounds[0]
        if trace.add(rho, bounds, progress_at(iteration), run.components):
            break
        if settled and rho == 1.0:
            break
        if settled and inferred:
            run.freeze()
    if not whole:
        # Of the rows' present activations: the running statistics weight minibatches unequally.
        run.statistics = ActivationStatistics.of(X, run.activations)
    # The last update is at T = 1, also if a callback or max_iter ended the fit earlier.
    settings.improve(run.components, run.statistics, 1.0)
    bound = run.components.bound(run.statistics)
    settled = bool(settled and rho == 1.0)
    return FactorialFit(run.components, run.statistics, bound, trace.array(), run.activations, settled)
