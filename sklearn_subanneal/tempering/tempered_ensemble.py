"""TemperedEnsemble: the points of all chains and levels of non-reversible parallel tempering, and their moves."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from sklearn_subanneal.tempering.levels import Point
from sklearn_subanneal.tempering.round_trips import RoundTrips

# Starts that are tried for each point, before it starts at another one; if there is none, there is said to be no mass.
STARTS = 200
ARRAYS = ("theta", "log_prior", "log_likelihood", "gradients", "n_values", "n_gradients", "accepted", "swapped")


class TemperedEnsemble:
    """One point at each level of each chain; chains have the ladder and the kernels in common.

    An iteration moves every point within its level, by the kernel, or by a draw of its own where the level is the
    reference; then every second pair of neighbours offers to swap, even and odd pairs in turns.

    Parameters
    ----------
    model : LogDensityModel
        Levels have powers of its likelihood.
    kernel : TransitionKernel
    n_chains : int
    inverse_temperatures : ndarray of shape (n_levels,)
        Decreasing from 1.
    generator : numpy.random.Generator
    workers : concurrent.futures.Executor or None
        Evaluates or moves points side by side.

    Attributes
    ----------
    theta : ndarray of shape (n_chains, n_levels, n_parameters)
    log_prior, log_likelihood : ndarray of shape (n_chains, n_levels)
    gradients : ndarray of shape (n_chains, n_levels, 2, n_parameters)
        Of log prior and log likelihood; nan where they have not been evaluated.
    adaptations : list of Adaptation
        Of the levels.
    streams : ndarray of object, shape (n_chains, n_levels)
        Generators of kernels that move points one by one.
    trips : RoundTrips
    rejections : ndarray of shape (n_chains, n_levels - 1)
        Sum over iterations of the probability that a swap of these neighbours would be rejected.
    """

    def __init__(self, model, kernel, n_chains: int, inverse_temperatures: NDArray, generator, workers=None):
        self.model, self.kernel, self.n_chains = model, kernel, n_chains
        self.generator, self._workers = generator, workers
        self.inverse_temperatures = np.array(inverse_temperatures, dtype=float)
        self.adaptations = [kernel.start_adaptation(model.n_parameters, beta) for beta in self.inverse_temperatures]
        self._allocate()
        self._start()

    @property
    def n_levels(self) -> int:
        """Levels of the ladder."""
        return len(self.inverse_temperatures)

    @property
    def draws_reference(self) -> bool:
        """Whether the lowest level is the reference, and is drawn from independently."""
        return self.inverse_temperatures[-1] == 0.0 and self.model.samples_prior

    @property
    def n_moving(self) -> int:
        """Levels, from the first, that the kernel moves."""
        return self.n_levels - self.draws_reference

    def _allocate(self):
        shape = (self.n_chains, self.n_levels)
        self.theta = np.empty((*shape, self.model.n_parameters))
        self.log_prior, self.log_likelihood = np.empty(shape), np.empty(shape)
        self.gradients = np.full((*shape, 2, self.model.n_parameters), np.nan)
        self.streams = np.array(self.generator.spawn(self.n_chains * self.n_levels)).reshape(shape)
        self.trips = RoundTrips(*shape)
        self.reset_counts()

    def reset_counts(self) -> None:
        """Set all counts of evaluations, acceptances, swaps and round trips to 0; trips under way go on."""
        shape = (self.n_chains, self.n_levels)
        self.n_values, self.n_gradients = np.zeros(shape, dtype=int), np.zeros(shape, dtype=int)
        self.accepted, self.n_iterations = np.zeros(shape), 0
        pairs = (self.n_chains, self.n_levels - 1)
        self.n_swaps, self.swapped, self.rejections = np.zeros(self.n_levels - 1), np.zeros(pairs), np.zeros(pairs)
        self.trips.counts[:] = 0

    def _start(self):
        """Points where their levels have mass; the likelihood may be zero at those of the reference."""
        flat = self.theta.reshape(-1, self.model.n_parameters)
        flat_prior, flat_likelihood = self.log_prior.reshape(-1), self.log_likelihood.reshape(-1)
        at_reference = np.tile(self.inverse_temperatures == 0.0, self.n_chains)
        left = np.arange(len(flat))
        for _ in range(STARTS):
            if self.model.samples_prior and self.n_levels > 1:
                flat[left] = self.model.sample_priors(self.generator, len(left))
            else:
                flat[left] = [self.model.initial(self.generator) for _ in left]
            log_prior, log_likelihood = self.evaluate(flat[left])
            flat_prior[left], flat_likelihood[left] = log_prior, log_likelihood
            left = left[(log_prior == -np.inf) | ((log_likelihood == -np.inf) & ~at_reference[left])]
            if not len(left):
                return
        # A target may have little of the mass of its reference: a few starts are enough for all points.
        found = np.flatnonzero((flat_prior > -np.inf) & (flat_likelihood > -np.inf))
        if len(found):
            chosen = self.generator.choice(found, len(left))
            for values in (flat, flat_prior, flat_likelihood):
                values[left] = values[chosen]
            return
        raise ValueError(
            f"the target has no mass at {STARTS} starts from its reference; give another reference or prior, or a "
            "model whose sample_prior or initial returns points where it is not zero"
        )

    def evaluate(self, thetas: NDArray) -> tuple[NDArray, NDArray]:
        """Log prior and log likelihood of points of shape (n_points, n_parameters), checked."""
        if self._workers is None or self.model.is_vectorized:
            log_prior, log_likelihood = self.model.log_densities(thetas)
        else:
            each = self._workers.map(self.model.log_densities, thetas[:, None])
            log_prior, log_likelihood = (np.concatenate(part) for part in zip(*each, strict=True))
        # A sum with a nan is nan, so one look at all of them is enough; +inf would never be left again.
        if not (log_prior + log_likelihood < np.inf).all():
            wrong = ~((log_prior < np.inf) & (log_likelihood < np.inf))
            i = int(np.flatnonzero(wrong)[0])
            raise ValueError(
                f"the log density is {log_prior[i]!r} (prior or reference) and {log_likelihood[i]!r} (rest) at "
                f"coordinates {thetas[i]!r}; it must be a number, or -inf where there is no mass"
            )
        return log_prior, log_likelihood

    def evaluate_some(self, thetas: NDArray, numbers: NDArray) -> tuple[NDArray, NDArray]:
        """``evaluate``, counted; ``numbers`` count the moving points, chain by chain."""
        self.n_values[numbers // self.n_moving, numbers % self.n_moving] += 1
        return self.evaluate(thetas)

    def map(self, function: Callable, values: Iterable) -> Iterable:
        """Results of a function, in order, by the workers if there are any."""
        return map(function, values) if self._workers is None else self._workers.map(function, values)

    def point(self, chain: int, m: int) -> Point:
        """The point of a level, by itself."""
        gradients = self.gradients[chain, m]
        known = () if np.isnan(gradients[0, 0]) else (gradients[0].copy(), gradients[1].copy())
        prior, likelihood = self.log_prior[chain, m], self.log_likelihood[chain, m]
        return Point(self.theta[chain, m].copy(), float(prior), float(likelihood), *known)

    def put(self, chain: int, m: int, point: Point) -> None:
        """Replace the point of a level."""
        self.theta[chain, m] = point.theta
        self.log_prior[chain, m], self.log_likelihood[chain, m] = point.log_prior, point.log_likelihood
        if point.grad_log_likelihood is not None:
            self.gradients[chain, m] = point.grad_log_prior, point.grad_log_likelihood
        else:
            self.gradients[chain, m] = np.nan

    def iterate(self, number: int, adapt: bool = False) -> None:
        """Move all points, and swap."""
        self._move(adapt)
        self._swap(number)

    def _move(self, adapt):
        moving = self.n_moving
        acceptance = self.kernel.move_all(self) if moving else np.empty((self.n_chains, 0))
        self.accepted[:, :moving] += acceptance
        if self.draws_reference:
            self.theta[:, -1] = self.model.sample_priors(self.generator, self.n_chains)
            self.accepted[:, -1] += 1.0
        if self.inverse_temperatures[-1] == 0.0:
            # Kernels move there without the likelihood, by which points are swapped.
            self.log_prior[:, -1], self.log_likelihood[:, -1] = self.evaluate(self.theta[:, -1].copy())
            self.gradients[:, -1] = np.nan
            self.n_values[:, -1] += 1
        if adapt:
            for m, adaptation in enumerate(self.adaptations[:moving]):
                adaptation.update_all(self.theta[:, m].copy(), float(acceptance[:, m].mean()))

    def _swap(self, number):
        self.n_iterations += 1
        if self.n_levels < 2:
            return
        betas, likelihood = self.inverse_temperatures, self.log_likelihood
        log_ratio = (betas[:-1] - betas[1:]) * (likelihood[:, 1:] - likelihood[:, :-1])
        self.rejections += -np.expm1(np.minimum(log_ratio, 0.0))
        upper = np.arange(number % 2, self.n_levels - 1, 2)
        accepted = np.log1p(-self.generator.random((self.n_chains, len(upper)))) < log_ratio[:, upper]
        order = np.tile(np.arange(self.n_levels), (self.n_chains, 1))
        order[:, upper] += accepted
        order[:, upper + 1] -= accepted
        self.n_swaps[upper] += 1
        self.swapped[:, upper] += accepted
        rows = np.arange(self.n_chains)[:, None]
        for name in ("theta", "log_prior", "log_likelihood"):
            setattr(self, name, getattr(self, name)[rows, order])
        if self.kernel.needs_gradients:
            self.gradients = self.gradients[rows, order]
        self.trips.reorder(order)
        self.trips.look()

    def respace(self, inverse_temperatures: NDArray, model=None) -> None:
        """Change to another ladder, and perhaps another reference; each level starts as the nearest one before.

        A ladder may have more levels, or fewer.
        """
        nearest = np.abs(inverse_temperatures[:, None] - self.inverse_temperatures).argmin(axis=1)
        if model is not None:
            self.model = model
        theta = self.theta[:, nearest]
        adaptations = [self.kernel.start_adaptation(self.model.n_parameters, beta) for beta in inverse_temperatures]
        for adaptation, m in zip(adaptations, nearest, strict=True):
            adaptation.inherit(self.adaptations[m])
        self.adaptations, self.inverse_temperatures = adaptations, np.array(inverse_temperatures)
        self._allocate()
        self.theta[:] = theta
        log_prior, log_likelihood = self.evaluate(theta.reshape(-1, self.model.n_parameters))
        self.log_prior[:] = log_prior.reshape(self.log_prior.shape)
        self.log_likelihood[:] = log_likelihood.reshape(self.log_prior.shape)
        if (lost := ~np.isfinite(self.log_likelihood)).any():
            # Draws from the reference, where the target may be zero, are no points of the other levels.
            for chain, m in np.argwhere(lost):
                if inverse_temperatures[m] > 0.0:
                    self.put(chain, m, self.point(chain, 0))

    def get_state(self) -> dict:
        """All from which an ensemble that is no longer adapted goes on bit for bit, as arrays and numbers."""
        return {
            "inverse_temperatures": self.inverse_temperatures.copy(),
            "generator": self.generator.bit_generator.state,
            "streams": [stream.bit_generator.state for stream in self.streams.ravel()],
            "adaptations": [adaptation.get_state() for adaptation in self.adaptations],
            "arrays": {name: getattr(self, name).copy() for name in (*ARRAYS, "n_swaps", "rejections")},
            "n_iterations": self.n_iterations,
            "trips": self.trips.get_state(),
        }

    def set_state(self, state: dict) -> None:
        """Restore what ``get_state`` gave, of the same model."""
        self.inverse_temperatures = np.copy(state["inverse_temperatures"])
        kernel, n_parameters = self.kernel, self.model.n_parameters
        self.adaptations = [kernel.start_adaptation(n_parameters, beta) for beta in self.inverse_temperatures]
        self._allocate()
        for adaptation, saved in zip(self.adaptations, state["adaptations"], strict=True):
            adaptation.set_state(saved, self.model)
        for name, value in state["arrays"].items():
            setattr(self, name, np.copy(value))
        self.n_iterations = state["n_iterations"]
        self.trips.set_state(state["trips"])
        self.generator.bit_generator.state = state["generator"]
        for stream, saved in zip(self.streams.ravel(), state["streams"], strict=True):
            stream.bit_generator.state = saved
