"""Targets: models made of a reference and a function, the log likelihood or the whole log density."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from sklearn_subanneal._core.arguments import checked_flag, checked_integer, shortened
from sklearn_subanneal.tempering.log_densities import LogDensityModel
from sklearn_subanneal.tempering.parameter_space import ParameterSpace
from sklearn_subanneal.tempering.references import NormalReference, as_reference


class PriorFunction:
    """A prior that is a function, without a sampler; its density need not be normalised.

    Parameters
    ----------
    function : UserFunction
        Log density.
    """

    has_gradient = False

    def __init__(self, function: UserFunction):
        self._function = function
        self.n_parameters = function.n_parameters

    def log_density(self, thetas: NDArray) -> NDArray:
        """Log density of the coordinates, shape (n_points,)."""
        return self._function.values(thetas) + self._function.log_jacobian(thetas)


class UserFunction:
    """A function of parameters as a user writes it, called at many points in coordinates without constraints.

    Parameters
    ----------
    name : str
        For messages.
    function, gradient : callable, and callable or None
        Of an array of coordinates, or, with ``space``, of parameters by their names. With ``is_vectorized`` arrays have
        an axis of points before their own.
    space : ParameterSpace or None
    n_parameters : int
        Coordinates.
    is_vectorized : bool
    """

    def __init__(self, name: str, function: Callable, gradient, space, n_parameters: int, is_vectorized: bool):
        self.name, self.function, self.space, self.is_vectorized = name, function, space, is_vectorized
        self._gradient, self.n_parameters = gradient, n_parameters

    def values(self, thetas: NDArray) -> NDArray:
        """The function at points, shape (n_points,)."""
        given = thetas if self.space is None else self.space.constrained(thetas)
        if self.is_vectorized:
            # At the edges of the support, where logarithms of 0 are -inf as they should be.
            with np.errstate(all="ignore"):
                found = self.function(given) if self.space is None else self.function(**given)
            return _numbers(f"{self.name}, of many points at once since vectorized=True,", found, (len(thetas),))
        with np.errstate(all="ignore"):
            return np.array([self._one(given, i) for i in range(len(thetas))])

    def _one(self, given, i):
        out = self.function(given[i]) if self.space is None else self.function(**_at(given, i))
        try:
            return float(out)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(
                f"{self.name} must return a number for one point, got {shortened(out)}; if it takes many points at "
                "once, say vectorized=True"
            ) from error

    @property
    def has_gradient(self) -> bool:
        """Whether ``gradient`` can be called."""
        return self._gradient is not None

    def constrained(self, thetas: NDArray) -> dict[str, NDArray]:
        """Values of the parameters by their names, from points of shape (..., n_parameters)."""
        return {"theta": thetas} if self.space is None else self.space.constrained(thetas)

    def log_jacobian(self, thetas: NDArray) -> NDArray | float:
        """Log volume of values per volume of coordinates."""
        return 0.0 if self.space is None else self.space.log_jacobian(thetas)

    def gradient(self, theta: NDArray, with_jacobian: bool) -> NDArray:
        """Gradient by the coordinates, at one point, of the function or of its sum with ``log_jacobian``."""
        with np.errstate(all="ignore"):
            if self.space is None:
                return _numbers("gradient", self._gradient(theta), theta.shape)
            found = self._gradient(**{name: value[()] for name, value in self.space.constrained(theta).items()})
            if not isinstance(found, Mapping) or set(found) != set(self.space.shapes):
                raise ValueError(f"gradient must return a dict of {list(self.space.shapes)}, got {shortened(found)}")
            shapes = self.space.shapes
            of_values = {name: _numbers(f"gradient, for {name},", found[name], shapes[name]) for name in shapes}
            along = self.space.gradient(theta, of_values)
        none = {name: np.zeros(shape) for name, shape in self.space.shapes.items()}
        return along if with_jacobian else along - self.space.gradient(theta, none)


class ReferenceTarget(LogDensityModel):
    """A model whose levels lead from a reference to a density, or from a prior to a posterior.

    Its "prior" is the reference, and its "likelihood" is the function, or the ratio of the whole density to the
    reference. It has no rows.

    Parameters
    ----------
    reference : NormalReference, IndependentReference or PriorFunction
    function : UserFunction, or an object with its methods
    is_whole : bool
        Whether the function is the whole log density, of the values of the parameters, and not the likelihood alone.
    is_guess : bool, default=False
        Whether the reference is a first guess, to be tuned.
    """

    def __init__(self, reference, function: UserFunction, is_whole: bool, is_guess: bool = False):
        self.is_guess = is_guess
        self.reference, self.function, self.is_whole = reference, function, is_whole
        self.n_parameters, self.is_vectorized = function.n_parameters, function.is_vectorized
        self.has_gradients = function.has_gradient and reference.has_gradient

    @property
    def samples_prior(self) -> bool:
        """Whether the reference can be sampled exactly."""
        return hasattr(self.reference, "sample")

    def log_densities(self, thetas: NDArray) -> tuple[NDArray, NDArray]:
        """Log reference, and the logarithm of what is to be multiplied with it, at many points."""
        log_prior = np.asarray(self.reference.log_density(thetas), dtype=float)
        inside = log_prior != -np.inf
        if inside.all():
            return log_prior, self._rest(thetas, log_prior)
        log_likelihood = np.full(len(thetas), -np.inf)
        if inside.any():
            log_likelihood[inside] = self._rest(thetas[inside], log_prior[inside])
        return log_prior, log_likelihood

    def _rest(self, thetas, log_prior):
        found = self.function.values(thetas)
        return found + self.function.log_jacobian(thetas) - log_prior if self.is_whole else found

    def log_prior(self, theta: NDArray) -> float:
        """Log density of the reference."""
        return float(self.reference.log_density(theta[None])[0])

    def log_likelihood(self, theta: NDArray, rows=None) -> float:
        """Log of what the reference is multiplied with at inverse temperature 1."""
        return float(self.log_densities(theta[None])[1][0])

    def grad_log_prior(self, theta: NDArray) -> NDArray:
        """Gradient of ``log_prior``."""
        return self.reference.gradient(theta)

    def log_likelihood_and_gradient(self, theta: NDArray, rows=None) -> tuple[float, NDArray]:
        """``log_likelihood`` and its gradient."""
        gradient = self.function.gradient(theta, self.is_whole)
        if self.is_whole:
            gradient = gradient - self.reference.gradient(theta)
        return self.log_likelihood(theta), gradient

    def sample_prior(self, rng) -> NDArray:
        """A draw from the reference."""
        return self.reference.sample(rng, 1)[0]

    def initial(self, rng) -> NDArray:
        """A draw from the reference, or from a standard normal density where it cannot be sampled."""
        return self.sample_prior(rng) if self.samples_prior else rng.standard_normal(self.n_parameters)

    def sample_priors(self, rng, n: int) -> NDArray:
        """Independent draws from the reference, shape (n, n_parameters)."""
        return self.reference.sample(rng, n)

    def constrained(self, thetas: NDArray) -> dict[str, NDArray]:
        """Values of the parameters by their names."""
        return self.function.constrained(thetas)

    def with_reference(self, reference) -> ReferenceTarget:
        """The same density, reached from another reference."""
        return ReferenceTarget(reference, self.function, self.is_whole, self.is_guess)


def target_of(
    target,
    prior=None,
    reference=None,
    initial=None,
    parameters=None,
    n_parameters=None,
    gradient=None,
    vectorized=False,
) -> LogDensityModel:
    """The model that a callable or a pair of callables stands for; see :func:`sample` for the arguments.

    Raises
    ------
    ValueError
        If an argument is not as described, or nothing says where the target is.
    """
    is_pair = isinstance(target, tuple | list)
    if is_pair and (len(target) != 2 or not all(callable(part) for part in target)):
        raise ValueError(f"a pair of targets must be two functions, log prior and log likelihood, got {target!r}")
    is_bound = hasattr(target, "bind")
    if not is_pair and not is_bound and not callable(target):
        raise ValueError(
            "target must be a function, a pair of functions, a LogDensityModel, a .stan file or a PyMC model, got "
            f"{shortened(target)}"
        )
    if (prior is not None) + (reference is not None) + is_pair > 1:
        raise ValueError(
            "give a pair of functions, or prior= for a function that is a log likelihood, or reference= for one that "
            "is the whole log density; not two of these"
        )
    if gradient is not None and not (callable(gradient) and not is_pair and not is_bound):
        raise ValueError(
            f"gradient must be a function, beside a target that is a function of Python, got {shortened(gradient)}"
        )
    if checked_flag("vectorized", vectorized) and is_bound:
        raise ValueError("vectorized must be left out for a density of JAX or Stan")
    space = None if parameters is None else ParameterSpace(parameters)
    start = prior if prior is not None else reference
    n = (
        space.n_parameters
        if space
        else n_parameters
        if n_parameters is None
        else checked_integer("n_parameters", n_parameters)
    )
    if isinstance(initial, dict) and space is not None:
        initial = space.unconstrained(initial)
    if initial is not None:
        try:
            initial = np.atleast_2d(np.asarray(initial, dtype=float))
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(
                f"initial must be one or more points of numbers, or a dict by the names of parameters, got "
                f"{shortened(initial)}"
            ) from error
        n = initial.shape[-1] if n is None else n
    if start is not None and not (reference is not None and isinstance(reference, str)):
        start = as_reference("prior" if prior is not None else "reference", start, n)
        n = start.n_parameters
        if getattr(start, "space", None) is not None:
            if parameters is not None:
                raise ValueError("parameters must be None beside a dict of distributions, whose supports say the same")
            space = start.space
    if is_bound and getattr(target, "initial", None) is not None:
        # Programs know how many parameters they have, and where to start.
        n = target.n_parameters if n is None else n
        initial = target.initial if initial is None else initial
    if n is None:
        raise ValueError("n_parameters must be given, or parameters=, for a function of an array")
    if is_pair:
        log_prior, function = (
            UserFunction(name, part, None, space, n, vectorized)
            for name, part in zip(("the log prior", "the log likelihood"), target, strict=True)
        )
        return ReferenceTarget(PriorFunction(log_prior), function, False)
    if is_bound:
        function = target.bind("target", space, n)
    else:
        function = UserFunction("target", target, gradient, space, n, vectorized)
    is_guess = start is None or isinstance(start, str)
    if is_guess:
        start = _first_guess(reference, initial, n)
    return ReferenceTarget(start, function, prior is None, is_guess)


def _first_guess(reference, initial, n):
    """The normal reference that a variational one starts as."""
    if isinstance(reference, str) and reference != "variational":
        raise ValueError(f"reference must be 'variational', or say where the target is, got {reference!r}")
    if initial is None:
        raise ValueError(
            "nothing says where the target is: give reference=(mean, standard deviation), wide enough for all modes, "
            "prior= for a log likelihood, or initial= for a normal reference that is tuned by the draws"
        )
    if initial.ndim != 2 or initial.shape[1] != n or not np.isfinite(initial).all():
        raise ValueError(f"initial must be one or more finite points of {n} coordinates, got {shortened(initial)}")
    if len(initial) > 1:
        return NormalReference.fitted(initial)
    return NormalReference(initial[0], np.eye(n))


def _at(given, i):
    return {name: value[i] for name, value in given.items()}


def _numbers(name, found, shape):
    """What a function of the user returned, as an array of this shape."""
    try:
        out = np.asarray(found, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must return an array of numbers of shape {shape}, got {shortened(found)}") from error
    if out.shape != shape:
        raise ValueError(f"{name} must return an array of shape {shape}, got shape {out.shape}")
    return out
