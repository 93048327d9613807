"""TemperedLearner: annealed or tempered variational inference of conditionally conjugate models, by minibatches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sklearn_subanneal.variational.step_sizes import StepSize
from sklearn_subanneal.variational.temperature_variable import TemperatureVariable


class Minibatch(NamedTuple):
    """Rows to learn from, whose share of all rows is ``share``, at ``progress`` in [0, 1], and the sizes of the steps.

    Attributes
    ----------
    rows : object
        As given to :meth:`TemperedLearner.learn`.
    share, progress : float
    step : float
        In [0, 1], of the statistics of the global variables.
    temperature_step : float or None
        In [0, 1], of an inferred temperature; None if it is not inferred.
    """

    rows: Any
    share: float
    progress: float
    step: float
    temperature_step: float | None


@dataclass(kw_only=True)
class TemperedLearner:
    """Base of annealed or tempered variational inference of a conditionally conjugate model.

    Global variables beta are shared by all rows, and row x_n has local variables z_n. Given the others, each has a
    distribution of an exponential family; t(x_n, z_n) are the statistics on which that of beta depends. With
    rho = E[1/T], the optimum of each factor of q has the natural parameter

        of z_n:   rho times the expectation of that of p(z_n | x_n, beta)
        of beta:  that of the prior p(beta), plus rho times the sum over rows of E[t(x_n, z_n)]

    A minibatch of B among N rows replaces the sum S over all rows by (1 - step) S + step N / B S_B, its own being S_B.
    :meth:`learn` is one turn of algorithm 1 of the paper; a fit is a loop of it. A subclass defines the steps that
    depend on the model: :meth:`local_step`, :meth:`blend`, :meth:`global_step` unless beta is computed where it is
    used, and :meth:`energy` if the temperature may be inferred. All arguments are by name.

    Parameters
    ----------
    temperature : TemperatureVariable
    step_size : StepSize
        Step sizes of the statistics.
    temperature_step : StepSize
        Step sizes of q(T), the factor of an inferred temperature.

    Attributes
    ----------
    n_batches : int
        Number of minibatches so far.

    References
    ----------
    S. Mandt, J. McInerney, F. Abrol, R. Ranganath, D. Blei (2016), Variational Tempering, AISTATS, section 3, algorithm
    1. M. Hoffman, D. Blei, C. Wang, J. Paisley (2013), Stochastic variational inference, JMLR 14.

    Examples
    --------
    Rates of a mixture of two Poisson distributions with equal weights, under a Gamma(1, 1) prior:

    >>> import numpy as np
    >>> from scipy.special import digamma, softmax
    >>> from sklearn_subanneal.variational import ConstantStep, LinearCooling, ScheduledTemperature, TemperedLearner
    >>> class PoissonRates(TemperedLearner):
    ...     statistics = np.array([[30.0, 30.0], [100.0, 101.0]])
    ...     def global_step(self, rho):
    ...         self.shapes, self.rates = 1.0 + rho * self.statistics[1], 1.0 + rho * self.statistics[0]
    ...     def local_step(self, batch, rho):
    ...         logs = digamma(self.shapes) - np.log(self.rates)
    ...         z = softmax(rho * (batch.rows[:, None] * logs - self.shapes / self.rates), axis=1)
    ...         return np.array([z.sum(axis=0), batch.rows @ z])
    ...     def blend(self, batch, found):
    ...         self.statistics = (1.0 - batch.step) * self.statistics + batch.step / batch.share * found
    >>> steps = ConstantStep(1.0)
    >>> temperature = ScheduledTemperature(LinearCooling(start=4.0, share=0.5))
    >>> learner = PoissonRates(temperature=temperature, step_size=steps, temperature_step=steps)
    >>> counts = np.repeat([1, 2, 9, 10], 15)
    >>> for progress in np.linspace(0.0, 1.0, 50):
    ...     learner.learn(counts, share=1.0, progress=progress)
    >>> (learner.shapes / learner.rates).round(1)
    array([1.5, 9.2])
    """

    temperature: TemperatureVariable
    step_size: StepSize
    temperature_step: StepSize
    n_batches: int = 0
    # Energy of an observation in the last minibatch, and the step of the temperature that follows from it.
    _last: tuple = field(default=(None, None))

    def learn(self, rows, share: float, progress: float) -> None:
        """Learn from a minibatch.

        Parameters
        ----------
        rows : object
            Any description of the rows that ``local_step`` knows.
        share : float
            Rows in the minibatch divided by the rows in all.
        progress : float
            Share of the run that is done, in [0, 1].
        """
        here, inferred = (self.n_batches, progress, share), self.temperature.is_inferred
        temperature_step = self.temperature_step.checked_step(*here) if inferred else None
        batch = Minibatch(rows, share, progress, self.step_size.checked_step(*here), temperature_step)
        rho = self.temperature.update(progress, *self._last)
        self.global_step(rho)
        found = self.local_step(batch, rho)
        # Before the statistics change, on which the global variables may depend at once.
        self._last = (self.energy(batch, found), temperature_step) if inferred else (None, None)
        self.blend(batch, found)
        self.n_batches += 1

    def global_step(self, inverse_temperature: float) -> None:
        """Set the factors of the global variables to their optimum given the statistics; by default nothing."""

    def local_step(self, batch: Minibatch, inverse_temperature: float):
        """Set the factors of the local variables to their optimum; what :meth:`blend` and :meth:`energy` need."""
        raise NotImplementedError(f"{type(self).__name__} must define local_step(batch, inverse_temperature)")

    def blend(self, batch: Minibatch, found) -> None:
        """Take a step of the statistics towards those of the minibatch, in which the local step has ``found`` this."""
        raise NotImplementedError(f"{type(self).__name__} must define blend(batch, found)")

    def energy(self, batch: Minibatch, found) -> float | None:
        """Expected log likelihood of an observation of the minibatch; None: the temperature stays as it is."""
        raise NotImplementedError(f"{type(self).__name__} must define energy(batch, found) to infer a temperature")

    def get_state(self) -> dict:
        """All that :meth:`learn` changes here; a subclass adds its statistics."""
        return {"temperature": self.temperature.get_state(), "n_batches": self.n_batches, "last": self._last}

    def set_state(self, state: dict) -> None:
        """Restore what ``get_state`` gave, of a learner with the same settings."""
        self.temperature.set_state(state["temperature"])
        self.n_batches, self._last = state["n_batches"], state["last"]
