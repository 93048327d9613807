"""The temperature of a variational fit: fixed, given by a cooling schedule, or inferred with the model.

Annealing and tempering change every model in the same way: at E[1/T], updates multiply the natural parameters of the
local variables, and the statistics that enter the global ones, by that number; priors of global variables are not
tempered. The classes of this module determine this number.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import logsumexp

from sklearn_subanneal.variational.cooling import CoolingSchedule
from sklearn_subanneal.variational.validation import checked_temperatures

# Beyond this E[1/T] is set to 1: the mass of q(y) at other temperatures changes no digit of a float32 model.
COLD = 1.0 - 1e-6


class TemperatureVariable:
    """Base of the temperatures of a fit: E[1/T], updated before each step of the model.

    A subclass sets ``inverse_temperature`` and defines :meth:`update`; the other methods have defaults, which suit
    temperatures that do not depend on the data.

    Attributes
    ----------
    inverse_temperature : float
        E[1/T].
    is_inferred : bool
        Whether the temperature depends on the data; False by default.
    reaches_one : bool
        Whether the temperature is to be exactly 1 at last; True by default.
    """

    is_inferred = False
    reaches_one = True
    inverse_temperature: float
    # Attributes that updates change.
    _changing: tuple[str, ...] = ("inverse_temperature",)

    def get_state(self) -> dict:
        """All that updates change, as numbers and arrays."""
        return {name: getattr(self, name) for name in self._changing}

    def set_state(self, state: dict) -> None:
        """Restore what ``get_state`` gave, of a temperature with the same parameters."""
        for name in self._changing:
            setattr(self, name, state[name])

    def update(self, progress, energy=None, step=None) -> float:
        """Move to the temperature of the next step; E[1/T].

        Parameters
        ----------
        progress : float
            Share of the run that is done, in [0, 1].
        energy : float or None
            Expected log likelihood divided by the number of observations that it is of.
        step : float or None
            Size of the step of an inferred temperature, in [0, 1]; None: 1.
        """
        return self.inverse_temperature

    def renormalise(self, log_partition: Callable[[np.ndarray], np.ndarray]) -> None:
        """Use the partition function of a model whose parameters have changed; by default there is none to update."""

    def bound(self) -> float:
        """Terms of the factor of the temperature in the tempered bound; 0 by default."""
        return 0.0

    def after_run(self) -> TemperatureVariable:
        """The temperature with which learning continues after a planned run; by default the same."""
        return self


class FixedTemperature(TemperatureVariable):
    """A temperature that never changes; 1 is variational inference without tempering.

    Parameters
    ----------
    temperature : float, default=1.0
        At least 1.

    Attributes
    ----------
    inverse_temperature : float

    Raises
    ------
    ValueError
        If the temperature is below 1 or not finite.

    Examples
    --------
    >>> from sklearn_subanneal.variational import FixedTemperature
    >>> FixedTemperature(4.0).inverse_temperature
    0.25
    """

    def __init__(self, temperature: float = 1.0):
        if not 1.0 <= temperature < np.inf:
            raise ValueError(f"temperature must be finite and at least 1, got {temperature!r}")
        self.inverse_temperature = 1.0 / float(temperature)


class ScheduledTemperature(TemperatureVariable):
    """A temperature that follows a cooling schedule: annealed variational inference (AVI).

    Parameters
    ----------
    schedule : CoolingSchedule

    Attributes
    ----------
    inverse_temperature : float

    Raises
    ------
    ValueError
        If the schedule is not a CoolingSchedule, has temperatures below 1 or does not end at 1.

    Examples
    --------
    >>> from sklearn_subanneal.variational import LinearCooling, ScheduledTemperature
    >>> temperature = ScheduledTemperature(LinearCooling(start=4.0, share=1.0))
    >>> temperature.inverse_temperature, temperature.update(1.0)
    (0.25, 1.0)
    """

    def __init__(self, schedule: CoolingSchedule):
        if not isinstance(schedule, CoolingSchedule):
            raise ValueError(
                f"schedule must be a CoolingSchedule, got {schedule!r}; give LinearCooling() or GeometricCooling()"
            )
        schedule.check()
        self.schedule = schedule
        self.inverse_temperature = 1.0 / float(schedule.temperature(0.0))

    def update(self, progress, energy=None, step=None) -> float:
        """Set the temperature to that of the schedule at ``progress`` in [0, 1]; E[1/T]."""
        self.inverse_temperature = 1.0 / float(self.schedule.temperature(progress))
        return self.inverse_temperature

    def after_run(self) -> FixedTemperature:
        """T = 1, where every schedule ends."""
        return FixedTemperature()


class GlobalTemperature(TemperatureVariable):
    """A temperature that is a latent variable of the model, with factor q(y): variational tempering (VT).

    Given the energy (the expected log likelihood of an observation), the optimum of q(y) is

        r_m proportional to pi_m exp(n_observations (energy / T_m - log_partition_m)),

    equation 9 of the paper. q(y) is a global factor: with minibatches its natural parameters, linear in the energy,
    take steps of the same size as those of the other global factors. Once the temperature is 1 it stays 1, whatever the
    energies of later minibatches. Before the first update q(y) is the prior.

    Parameters
    ----------
    temperatures : array-like of shape (n_temperatures,)
        Increasing, the first one 1.
    log_partition : array-like of shape (n_temperatures,)
        Log partition function of *one* observation at each temperature; 0 at T = 1 if the likelihood is normalised.
    n_observations : float
        Observations in the data: rows, or words.
    log_prior : array-like of shape (n_temperatures,), default=None
        log pi; None: uniform.
    paper : bool, default=False
        Update as printed in the paper: from the energy of the latest minibatch alone, and without staying at T = 1.
        With the partition functions and energies that the paper prints for topic models it does not cool.

    Attributes
    ----------
    inverse_temperature : float
        E[1/T] under q(y).
    probabilities : ndarray of shape (n_temperatures,)
        q(y).
    energy : float or None
        Per observation, as smoothed so far.

    Raises
    ------
    ValueError
        If the temperatures do not increase from 1, or shapes differ.

    References
    ----------
    S. Mandt, J. McInerney, F. Abrol, R. Ranganath, D. Blei (2016), Variational Tempering, AISTATS, sections 2.3, 3.3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.variational import GlobalTemperature, exponential_temperatures
    >>> temperatures = exponential_temperatures(10.0, 50)
    >>> normal = GlobalTemperature(temperatures, 0.5 * np.log(temperatures), n_observations=10_000)
    >>> normal.update(0.0, energy=-2.0) < 0.5 < normal.update(0.0, energy=-0.6)
    True
    >>> normal.update(0.0, energy=-0.4)
    1.0
    """

    is_inferred = True
    _changing = ("inverse_temperature", "energy", "probabilities", "log_partition")

    def __init__(self, temperatures, log_partition, n_observations: float, log_prior=None, paper: bool = False):
        self.temperatures = checked_temperatures(temperatures)
        self.log_partition = np.array(log_partition, dtype=float)
        n = len(self.temperatures)
        self.log_prior = np.full(n, -np.log(n)) if log_prior is None else np.array(log_prior, dtype=float)
        for name in ("log_partition", "log_prior"):
            if getattr(self, name).shape != (n,) or np.isnan(getattr(self, name)).any():
                raise ValueError(f"{name} must have a number for each of the {n} temperatures")
        if not 0.0 < n_observations < np.inf:
            raise ValueError(f"n_observations must be positive and finite, got {n_observations!r}")
        self.n_observations = float(n_observations)
        self.paper = paper
        self.reaches_one = not paper
        self.energy = None
        self.probabilities = np.exp(self.log_prior - logsumexp(self.log_prior))
        self.inverse_temperature = float(self.probabilities @ (1.0 / self.temperatures))

    def update(self, progress, energy=None, step=None) -> float:
        """Take the step of q(y) towards its optimum given the ``energy`` of an observation; E[1/T].

        Parameters
        ----------
        progress : float
            Not used: the temperature depends on the data alone.
        energy : float or None
            Expected log likelihood divided by the number of observations that it is of; None changes nothing.
        step : float or None
            Size of the step, in [0, 1]; None: 1, coordinate ascent.
        """
        if energy is None or (self.inverse_temperature == 1.0 and not self.paper):
            return self.inverse_temperature
        if self.energy is None or step is None or self.paper:
            self.energy = float(energy)
        else:
            self.energy += step * (float(energy) - self.energy)
        log_weights = self.log_prior + self.n_observations * (self.energy / self.temperatures - self.log_partition)
        self.probabilities = np.exp(log_weights - logsumexp(log_weights))
        self.inverse_temperature = float(self.probabilities @ (1.0 / self.temperatures))
        if self.inverse_temperature > COLD and not self.paper:
            self.inverse_temperature = 1.0
        return self.inverse_temperature

    def heat(self) -> None:
        """Start at the highest temperature, from which steps smaller than 1 cool gradually.

        The energy is set to the one at which the optimum of q(y) is at the highest temperature; otherwise the first
        update would move q(y) to the optimum of the first energy.
        """
        inverse = 1.0 / self.temperatures[-2:]
        self.energy = float(np.diff(self.log_partition[-2:])[0] / np.diff(inverse)[0])
        self.probabilities = np.zeros(len(self.temperatures))
        self.probabilities[-1] = 1.0
        self.inverse_temperature = float(inverse[-1])

    def renormalise(self, log_partition: Callable[[np.ndarray], np.ndarray]) -> None:
        """Set the log partition function of one observation to ``log_partition(temperatures)``."""
        self.log_partition = log_partition(self.temperatures)

    def bound(self) -> float:
        """E[log p(y)] - E[log C(T)] - E[log q(y)]: the terms of q(y) in the tempered bound, equation 5 of the paper."""
        used = self.probabilities > 0.0
        r = self.probabilities[used]
        rest = self.log_prior - logsumexp(self.log_prior) - self.n_observations * self.log_partition
        return float(r @ (rest[used] - np.log(r)))


def exponential_temperatures(largest: float = 10.0, n_temperatures: int = 100) -> np.ndarray:
    """Temperatures from 1 to ``largest`` by equal factors, as the paper distributes them.

    Examples
    --------
    >>> from sklearn_subanneal.variational import exponential_temperatures
    >>> exponential_temperatures(4.0, 3)
    array([1., 2., 4.])
    """
    if not 1.0 < largest < np.inf:
        raise ValueError(f"The largest temperature must be finite and above 1, got {largest!r}")
    if n_temperatures < 2:
        raise ValueError(f"n_temperatures must be at least 2, got {n_temperatures!r}")
    return float(largest) ** (np.arange(n_temperatures) / (n_temperatures - 1))
