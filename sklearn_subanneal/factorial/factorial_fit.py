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
from sklearn_subanneal.variational import FixedTemperature, StepSize

# An inferred temperature that is still above 1 at this progress is set to 1: the fitted model is that of T = 1.
LAST_OF_TEMPERING = 0.9
# The stage of the fit where it is marked.
START = "start"
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


class FactorialRun:
    """State of a fit: components, statistics of the rows and temperature.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        Rows to start from.
    activations : ndarray of shape (n_components, n)
        Random, so that the components separate.
    settings : FactorialSettings
    make_temperature : callable
        (components, n_rows) -> :class:`~sklearn_subanneal.variational.TemperatureVariable`.
    n_rows : int
        Number of all rows.
    """

    def __init__(self, X, activations, settings: FactorialSettings, make_temperature: Callable, n_rows: int):
        self.settings = settings
        self.components, self.statistics = settings.start(X, activations)
        self.temperature = make_temperature(self.components, n_rows)
        self._is_frozen = False

    def get_state(self) -> dict:
        """All that :meth:`advance` changes; what is in it does not change later."""
        return {
            "components": deepcopy(self.components),
            "statistics": self.statistics,
            "temperature": self.temperature.get_state(),
            "is_frozen": self._is_frozen,
        }

    def set_state(self, state: dict) -> None:
        """Restore what ``get_state`` gave."""
        self.components, self.statistics = state["components"], state["statistics"]
        if state["is_frozen"]:
            self.freeze()
        self.temperature.set_state(state["temperature"])

    def advance(self, progress: float, energy: float, step: float) -> None:
        """Update the temperature, by a step, and then the components.

        ``energy`` is the expected log likelihood of a row.
        """
        rho = self.temperature.update(progress, energy, step)
        self.settings.improve(self.components, self.statistics, rho)
        # The partition function depends on the parameters that are learned.
        self.temperature.renormalise(self.components.log_partition)

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
    activations = random_activations(settings.n_components, n_rows, X.dtype, generator)
    run = FactorialRun(X, activations, settings, make_temperature, n_rows)
    trace = PassTrace(max_iter, tell, save) if trace is None else trace
    n_batches, settled, rho, last = 0, False, 0.0, -np.inf
    if state is not None:
        trace.restore(state)
        run.set_state(state["run"])
        activations, generator.bit_generator.state = state["activations"], state["generator"]
        n_batches, rho, last = state["n_batches"], state["rho"], state["last"]

    def whole_pass(iteration):
        nonlocal activations
        run.advance(progress_at(iteration), run.components.energy(run.statistics) / n_rows, temperature_step)
        activations = run.components.activate(X, activations, run.temperature.inverse_temperature, n_sweeps)
        run.statistics = ActivationStatistics.of(X, activations)

    def pass_in_minibatches(iteration):
        nonlocal n_batches
        order = generator.permutation(n_rows)
        for first in range(0, n_rows, batch_size):
            rows = order[first : first + batch_size]
            progress = progress_at(iteration + first / n_rows)
            step = step_size.checked_step(n_batches, progress, len(rows) / n_rows)
            rho = run.temperature.inverse_temperature
            activations[:, rows] = run.components.activate(X[rows], activations[:, rows], rho, n_sweeps)
            batch = ActivationStatistics.of(X[rows], activations[:, rows])
            run.statistics = run.statistics.blend(batch, step, n_rows)
            run.advance(progress, run.components.energy(batch) / len(rows), step)
            n_batches += 1

    def progress_at(passes):
        return min(1.0, passes / (max_iter - 1)) if max_iter > 1 else 1.0

    def present():
        return {
            "run": run.get_state(),
            # Minibatches change them in place.
            "activations": activations if one_pass is whole_pass else activations.copy(order="K"),
            "generator": generator.bit_generator.state,
            "n_batches": n_batches,
            "rho": rho,
            "last": last,
        }

    one_pass = whole_pass if batch_size is None or batch_size >= n_rows else pass_in_minibatches
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
    # The last update is at T = 1, also if a callback or max_iter ended the fit earlier.
    settings.improve(run.components, run.statistics, 1.0)
    bound = run.components.bound(run.statistics)
    return FactorialFit(run.components, run.statistics, bound, trace.array(), activations, bool(settled and rho == 1.0))
