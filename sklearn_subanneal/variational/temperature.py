"""The temperature variable of variational inference: fixed, cooled by a schedule, or inferred with the model.

Updates of a model at E[1/T] multiply the natural parameters of its local variables, and the statistics that enter its
global ones, by that number; priors of globals stay as they are. That is all that a model needs to know of annealing
and tempering: an object of this module decides what the number is.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from sklearn_subanneal.variational.schedules import check_cooling

# Beyond this the temperature is taken as 1: what is left of q(y) elsewhere changes no digit of a float32 model.
COLD = 1.0 - 1e-6


class Fixed:
    """A temperature that never changes; 1 is variational inference without tempering.

    Parameters
    ----------
    temperature : float, default=1.0
        At least 1.

    Attributes
    ----------
    inverse_temperature : float

    Examples
    --------
    >>> from sklearn_subanneal.variational import Fixed
    >>> Fixed(4.0).inverse_temperature
    0.25
    """

    def __init__(self, temperature: float = 1.0):
        if not 1.0 <= temperature < np.inf:
            raise ValueError(f"temperature must be finite and at least 1, got {temperature!r}")
        self.inverse_temperature = 1.0 / float(temperature)

    def update(self, progress, energy=None, step=None) -> float:
        """Nothing to do; E[1/T]."""
        return self.inverse_temperature

    def get_state(self) -> dict:
        """Arrays and numbers from which ``set_state`` restores the present state."""
        return {"inverse_temperature": self.inverse_temperature}

    def set_state(self, state: dict) -> None:
        """Restore what ``get_state`` gave."""
        self.inverse_temperature = float(state["inverse_temperature"])


class Cooling:
    """A temperature that follows a schedule: annealed variational inference (AVI).

    Parameters
    ----------
    schedule : object
        With a method ``temperature(progress)``, such as :class:`LinearCooling`.

    Attributes
    ----------
    inverse_temperature : float

    Raises
    ------
    ValueError
        If the schedule has temperatures below 1 or does not end at 1.

    Examples
    --------
    >>> from sklearn_subanneal.variational import Cooling, LinearCooling
    >>> cooling = Cooling(LinearCooling(start=4.0, share=1.0))
    >>> cooling.inverse_temperature, cooling.update(1.0)
    (0.25, 1.0)
    """

    def __init__(self, schedule):
        check_cooling(schedule)
        self.schedule = schedule
        self.inverse_temperature = 1.0 / float(schedule.temperature(0.0))

    def update(self, progress, energy=None, step=None) -> float:
        """Go to the temperature of ``progress`` in [0, 1]; E[1/T]."""
        self.inverse_temperature = 1.0 / float(self.schedule.temperature(progress))
        return self.inverse_temperature

    def get_state(self) -> dict:
        """Arrays and numbers from which ``set_state`` restores the present state."""
        return {"inverse_temperature": self.inverse_temperature}

    def set_state(self, state: dict) -> None:
        """Restore what ``get_state`` gave."""
        self.inverse_temperature = float(state["inverse_temperature"])


class GlobalTemperature:
    """A temperature that is a latent variable of the model, with its factor q(y): variational tempering (VT).

    Given the energy (the expected log likelihood of an observation), the optimum of q(y) is

        r_m proportional to pi_m exp(n_observations (energy / T_m - log_partition_m)),

    equation 9 of the paper. q(y) is a global factor: with minibatches its natural parameters, linear in the energy,
    take steps of the same size as those of the other global factors. Once the temperature has come to 1 it stays
    there, whatever a later minibatch says. Before the first update q(y) is the prior.

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
        The temperature as printed: the energy of the latest minibatch alone, and no rest at T = 1. With the partition
        functions and energies that the paper prints for topic models it does not cool.

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
        self.energy = None
        self.probabilities = np.exp(self.log_prior - logsumexp(self.log_prior))
        self.inverse_temperature = float(self.probabilities @ (1.0 / self.temperatures))

    def update(self, progress, energy=None, step=None) -> float:
        """Take the step of q(y) towards its optimum given the ``energy`` of an observation; E[1/T].

        Parameters
        ----------
        progress : float
            Not looked at: the data alone decide.
        energy : float or None
            Expected log likelihood divided by the number of observations that it is of; None changes nothing.
        step : float or None
            Size of the step, in [0, 1]; None: the whole of it, as coordinate ascent takes.
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
        """Start at the highest temperature, from which steps smaller than 1 come down gradually.

        The energy becomes the one at which the optimum of q(y) is just there; without this the first update takes
        q(y) to the temperature that the first energy asks for.
        """
        inverse = 1.0 / self.temperatures[-2:]
        self.energy = float(np.diff(self.log_partition[-2:])[0] / np.diff(inverse)[0])
        self.probabilities = np.zeros(len(self.temperatures))
        self.probabilities[-1] = 1.0
        self.inverse_temperature = float(inverse[-1])

    def bound(self) -> float:
        """E[log p(y)] - E[log C(T)] - E[log q(y)]: what q(y) adds to the tempered bound, equation 5 of the paper."""
        used = self.probabilities > 0.0
        r = self.probabilities[used]
        rest = self.log_prior - logsumexp(self.log_prior) - self.n_observations * self.log_partition
        return float(r @ (rest[used] - np.log(r)))

    def get_state(self) -> dict:
        """Arrays and numbers from which ``set_state`` restores the present state."""
        return {
            "inverse_temperature": self.inverse_temperature,
            "probabilities": self.probabilities.copy(),
            "energy": np.nan if self.energy is None else self.energy,
        }

    def set_state(self, state: dict) -> None:
        """Restore what ``get_state`` gave."""
        self.inverse_temperature = float(state["inverse_temperature"])
        self.probabilities = np.array(state["probabilities"], dtype=float)
        self.energy = None if np.isnan(state["energy"]) else float(state["energy"])


def checked_temperatures(temperatures) -> np.ndarray:
    """A copy of the temperatures that there may be, float64; ValueError unless there are two that increase from 1.

    Parameters
    ----------
    temperatures : array-like of shape (n_temperatures,)

    Examples
    --------
    >>> from sklearn_subanneal.variational.temperature import checked_temperatures
    >>> checked_temperatures([0.5, 1.0])
    Traceback (most recent call last):
        ...
    ValueError: temperatures must be finite and increase from 1, got [0.5, 1.0]; give np.geomspace(1.0, 2.0)
    """
    try:
        grid = np.array(temperatures, dtype=float)
    except (TypeError, ValueError):
        grid = np.empty(0)
    if grid.ndim != 1 or len(grid) < 2 or not np.isfinite(grid).all() or grid[0] != 1.0 or np.diff(grid).min() <= 0.0:
        raise ValueError(
            f"temperatures must be finite and increase from 1, got {temperatures!r}; give np.geomspace(1.0, 2.0)"
        )
    return grid


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
