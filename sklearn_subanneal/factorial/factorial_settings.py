"""FactorialSettings: parameters of a factorial mixture, given or learned; start of its components; temperatures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sklearn_subanneal.factorial.activation_statistics import ActivationStatistics
from sklearn_subanneal.factorial.component_factors import Components
from sklearn_subanneal.variational import (
    CoolingSchedule,
    FixedTemperature,
    GlobalTemperature,
    LinearCooling,
    ScheduledTemperature,
    TemperatureVariable,
    exponential_temperatures,
)
from sklearn_subanneal.variational.validation import checked_temperatures

# Activation probability from which learning starts.
START_PROBABILITY = 0.3
DEFAULT_COOLING = LinearCooling(start=3.0, share=0.5)
HIGHEST_INFERRED = 6.0


@dataclass(frozen=True)
class FactorialSettings:
    """Parameters of a factorial mixture: given, or learned.

    Attributes
    ----------
    n_components : int
    activation_probability, noise_variance : float or None
        None: learned.
    component_variance : float or None
        None: such that the components account for the mean square of the data.
    cyclic : bool
        Whether the means of the components are updated one after the other.
    search : bool
        Whether the activations of rows are searched, beyond coordinate ascent.
    """

    n_components: int
    activation_probability: float | None = None
    noise_variance: float | None = None
    component_variance: float | None = None
    cyclic: bool = False
    search: bool = False

    def start(self, X: np.ndarray, activations: np.ndarray) -> tuple[Components, ActivationStatistics]:
        """Components fitted to rows with given activations (n_components, n), and the statistics of these rows."""
        statistics = ActivationStatistics.of(X, activations)
        square = statistics.square / X.size or 1.0
        probability = self.activation_probability or START_PROBABILITY
        components = Components(
            np.zeros((self.n_components, X.shape[1])),
            np.ones(self.n_components),
            probability,
            self.noise_variance or square,
            self.component_variance or square / (self.n_components * probability),
        )
        components.update(statistics, 1.0, self.cyclic)
        return components, statistics

    def improve(self, components: Components, statistics: ActivationStatistics, inverse_temperature: float) -> None:
        """One update of the components, and of the parameters that are learned."""
        components.update(statistics, inverse_temperature, self.cyclic)
        components.learn(statistics, self.noise_variance is None, self.activation_probability is None)


def temperature_factory(
    tempering: str, schedule: CoolingSchedule | None, temperatures
) -> Callable[[Components, int], TemperatureVariable]:
    """A function of components and a number of rows that gives the temperature of a run.

    Parameters
    ----------
    tempering : {"annealed", "global", "none"}
    schedule : CoolingSchedule or None
        None: linear, from 3 to 1 in the first half of the run.
    temperatures : array-like of shape (n_temperatures,) or None
        None: 100 from 1 to 6 by equal factors.

    Raises
    ------
    ValueError
        If the schedule or the temperatures are not as described.
    """
    if tempering == "global":
        given = exponential_temperatures(HIGHEST_INFERRED) if temperatures is None else temperatures
        grid = checked_temperatures(given)

        def inferred(components: Components, n_rows: int) -> GlobalTemperature:
            temperature = GlobalTemperature(grid, components.log_partition(grid), n_rows)
            temperature.heat()
            return temperature

        return inferred
    schedule = DEFAULT_COOLING if schedule is None else schedule
    schedule.check()
    if tempering == "annealed":
        return lambda components, n_rows: ScheduledTemperature(schedule)
    return lambda components, n_rows: FixedTemperature()
