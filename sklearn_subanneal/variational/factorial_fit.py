"""Fitting factorial mixtures: rows and components in turn, in batches or minibatches, while the temperature falls."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from sklearn_subanneal.variational.factorial import Components, Statistics
from sklearn_subanneal.variational.schedules import step_of
from sklearn_subanneal.variational.temperature import Fixed, GlobalTemperature

# The share of the components that a row is supposed to have before any is known.
PROBABILITY = 0.3
# An inferred temperature that is still above 1 here ends: the model that is handed over is that of T = 1.
LAST_OF_TEMPERING = 0.9
# E[1/T] is settled where it moves by less in an iteration.
SETTLED = 1e-4
TRACE = np.dtype([("seconds", "f8"), ("inverse_temperature", "f8"), ("tempered_bound", "f8"), ("bound", "f8")])


@dataclass(frozen=True)
class Settings:
    """What is given of a factorial mixture, and what is to be learned.

    Attributes
    ----------
    n_components : int
    activation_probability, noise_variance : float or None
        None: learned.
    component_variance : float or None
        None: so that the components alone would give the mean square of the data.
    cyclic : bool
        Whether the means of the components are updated one after the other.
    """

    n_components: int
    activation_probability: float | None = None
    noise_variance: float | None = None
    component_variance: float | None = None
    cyclic: bool = False

    def start(self, X: np.ndarray, activations: np.ndarray) -> tuple[Components, Statistics]:
        """Components that fit what the rows say under these activations (n_components, n); and what they say."""
        statistics = Statistics.of(X, activations)
        square = statistics.square / X.size or 1.0
        probability = self.activation_probability or PROBABILITY
        components = Components(
            np.zeros((self.n_components, X.shape[1])),
            np.ones(self.n_components),
            probability,
            self.noise_variance or square,
            self.component_variance or square / (self.n_components * probability),
        )
        components.update(statistics, 1.0, self.cyclic)
        return components, statistics

    def improve(self, components: Components, statistics: Statistics, inverse_temperature: float) -> None:
        """One update of the components, and of the parameters that are learned."""
        components.update(statistics, inverse_temperature, self.cyclic)
        components.learn(statistics, self.noise_variance is None, self.activation_probability is None)


@dataclass
class Fitted:
    """What a fit hands over.

    Attributes
    ----------
    components : Components
    statistics : Statistics
    bound : float
        Lower bound of the log evidence of all rows.
    trace : structured ndarray of shape (n_iterations,)
        The bounds are per row; "tempered_bound" is the annealed bound, with the terms of q(y) where there are any.
    """

    components: Components
    statistics: Statistics
    bound: float
    trace: np.ndarray


class FactorialRun:
    """Components on their way: what they know of the rows, and the temperature that they are at.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        Rows to start from.
    activations : ndarray of shape (n_components, n)
        Random, so that the components become different.
    settings : Settings
    make_temperature : callable
        (components, n_rows) -> an object of :mod:`sklearn_subanneal.variational.temperature`.
    n_rows : int
        Rows that there are in all.
    """

    def __init__(self, X, activations, settings: Settings, make_temperature: Callable, n_rows: int):
        self.settings = settings
        self.components, self.statistics = settings.start(X, activations)
        self.temperature = make_temperature(self.components, n_rows)

    def advance(self, progress: float, energy: float, step: float) -> None:
        """Update the temperature, by a step, and then the components.

        ``energy`` is the expected log likelihood of a row.
        """
        rho = self.temperature.update(progress, energy, step)
        self.settings.improve(self.components, self.statistics, rho)
        if isinstance(self.temperature, GlobalTemperature):
            # The partition function follows the parameters that are learned.
            self.temperature.log_partition = self.components.log_partition(self.temperature.temperatures)

    def tempered_bound(self) -> float:
        """The bound at the present temperature: equation 4 of the paper, with the terms of q(y), equation 5."""
        bound = self.components.bound(self.statistics, self.temperature.inverse_temperature)
        return bound + self.temperature.bound() if isinstance(self.temperature, GlobalTemperature) else bound

    def freeze(self) -> None:
        """End the tempering: from here on the temperature is 1."""
        self.temperature = Fixed()


def random_activations(n_components: int, n_rows: int, dtype, generator: np.random.Generator) -> np.ndarray:
    """Probabilities between 0.3 and 0.7, (n_components, n_rows): apart enough for components to become different."""
    return generator.uniform(0.3, 0.7, (n_components, n_rows)).astype(dtype)


def fit_factorial(
    X: np.ndarray,
    settings: Settings,
    make_temperature: Callable,
    generator: np.random.Generator,
    *,
    max_iter: int,
    tol: float,
    n_sweeps: int = 2,
    temperature_step: float = 0.05,
    batch_size: int | None = None,
    step_size=None,
    tell: Callable | None = None,
) -> Fitted:
    """Fit from one random start.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64
    settings : Settings
    make_temperature : callable
        As :class:`FactorialRun` takes it.
    generator : numpy.random.Generator
    max_iter : int
        Passes through the rows at most.
    tol : float
        The fit ends when an iteration at T = 1 gains less in the bound of a row.
    n_sweeps : int
        Through the components of a row at each visit.
    temperature_step : float
        Step of an inferred temperature in an iteration over all rows.
    batch_size : int or None
        Rows after which the components are updated; None: all.
    step_size : object
        With ``step(t, progress, share_of_batch)``; for minibatches.
    tell : callable or None
        Called with the trace record (dict) and the components after each iteration; a True result ends the fit.
    """
    n_rows = len(X)
    activations = random_activations(settings.n_components, n_rows, X.dtype, generator)
    run = FactorialRun(X, activations, settings, make_temperature, n_rows)
    trace, n_batches, started = [], 0, perf_counter()

    def whole_pass(iteration):
        nonlocal activations
        run.advance(progress_at(iteration), run.components.energy(run.statistics) / n_rows, temperature_step)
        activations = run.components.activate(X, activations, run.temperature.inverse_temperature, n_sweeps)
        run.statistics = Statistics.of(X, activations)

    def pass_in_minibatches(iteration):
        nonlocal n_batches
        order = generator.permutation(n_rows)
        for first in range(0, n_rows, batch_size):
            rows = order[first : first + batch_size]
            progress = progress_at(iteration + first / n_rows)
            step = step_of(step_size, n_batches, progress, len(rows) / n_rows)
            rho = run.temperature.inverse_temperature
            activations[:, rows] = run.components.activate(X[rows], activations[:, rows], rho, n_sweeps)
            batch = Statistics.of(X[rows], activations[:, rows])
            run.statistics = run.statistics.blend(batch, step, n_rows)
            run.advance(progress, run.components.energy(batch) / len(rows), step)
            n_batches += 1

    def progress_at(passes):
        return min(1.0, passes / (max_iter - 1)) if max_iter > 1 else 1.0

    one_pass = whole_pass if batch_size is None or batch_size >= n_rows else pass_in_minibatches
    for iteration in range(max_iter):
        inferred = isinstance(run.temperature, GlobalTemperature)
        if inferred and progress_at(iteration) >= LAST_OF_TEMPERING:
            run.freeze()
        one_pass(iteration)
        rho = run.temperature.inverse_temperature
        bounds = run.tempered_bound() / n_rows, run.components.bound(run.statistics) / n_rows
        trace.append((perf_counter() - started, rho, *bounds))
        record = {"sweep": iteration, "progress": 1.0 if rho == 1.0 else progress_at(iteration)}
        if tell and tell(record | dict(zip(TRACE.names, trace[-1], strict=True)), run.components):
            break
        # Bounds at different temperatures can't be compared.
        settled = iteration > 0 and abs(rho - trace[-2][1]) < SETTLED and bounds[0] - trace[-2][2] < tol
        if settled and rho == 1.0:
            break
        if settled and inferred:
            run.freeze()
    # Whatever ended the fit, the components are those of T = 1.
    settings.improve(run.components, run.statistics, 1.0)
    return Fitted(run.components, run.statistics, run.components.bound(run.statistics), np.array(trace, TRACE))


@dataclass(frozen=True)
class FactorialStream:
    """Learning at T = 1 from rows that come once, in minibatches, after a fit of the first ones.

    Attributes
    ----------
    settings : Settings
    components : Components
    statistics : Statistics
    n_batches : int
        Minibatches so far, the first fit being one.
    """

    settings: Settings
    components: Components
    statistics: Statistics
    n_batches: int = 1

    def after(self, X: np.ndarray, step_size) -> tuple[FactorialStream, float]:
        """What it is after the next minibatch, and the bound of as many rows as were seen, by the running statistics.

        It stays as it is, so that an interrupt does no harm.
        """
        n_seen = self.statistics.n_rows + len(X)
        step = step_of(step_size, self.n_batches, 1.0, len(X) / n_seen)
        batch = Statistics.of(X, self.components.infer(X))
        statistics, components = self.statistics.blend(batch, step, n_seen), deepcopy(self.components)
        self.settings.improve(components, statistics, 1.0)
        return replace(
            self, components=components, statistics=statistics, n_batches=self.n_batches + 1
        ), components.bound(statistics)
