"""Densities that are functions of JAX: compiled, evaluated at many points at once, and differentiated."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sklearn_subanneal.tempering.parameter_space import ParameterSpace
from sklearn_subanneal.tempering.targets import UserFunction

# Points are padded to a power of two of at least so many, since JAX compiles for each number of them.
FEWEST_POINTS = 16


class JaxDensity:
    """A log density written for JAX, as a target of :func:`sample`; needs ``pip install sklearn-subanneal[jax]``.

    It is compiled, mapped over points, and differentiated where the explorer is Hamiltonian Monte Carlo, in double
    precision whatever the setting of JAX.

    Parameters
    ----------
    function : callable
        Of one point, as :func:`sample` describes it, written with ``jax.numpy``.

    Examples
    --------
    >>> import jax.numpy as jnp  # doctest: +SKIP
    >>> from sklearn_subanneal.tempering import JaxDensity, sample
    >>> target = JaxDensity(lambda x: -0.5 * jnp.sum((x - 3.0) ** 2))  # doctest: +SKIP
    >>> result = sample(target, reference=(0.0, 5.0), n_parameters=4, random_state=0)  # doctest: +SKIP
    """

    def __init__(self, function: Callable):
        if not callable(function):
            raise ValueError(f"function must be a function of JAX, got {function!r}")
        self.function = function

    def bind(self, name: str, space: ParameterSpace | None, n_parameters: int) -> JaxFunction:
        """The function of coordinates without constraints."""
        return JaxFunction(name, self.function, space, n_parameters)


class JaxFunction(UserFunction):
    """A function of JAX as samplers call it.

    Parameters
    ----------
    name : str
    function : callable
    space : ParameterSpace or None
    n_parameters : int
    """

    def __init__(self, name: str, function: Callable, space: ParameterSpace | None, n_parameters: int):
        try:
            import jax
        except ImportError as error:
            raise ImportError("JaxDensity needs JAX: pip install sklearn-subanneal[jax].") from error
        self._precise = jax.enable_x64

        def one(given):
            return function(given) if space is None else function(**given)

        self._many, self._slope = jax.jit(jax.vmap(one)), jax.jit(jax.grad(one))
        super().__init__(name, self._padded, self._by_name, space, n_parameters, True)

    def _padded(self, *given, **named):
        """The function at many points, whose number is rounded up."""
        values = given[0] if given else named
        n = len(given[0]) if given else len(next(iter(named.values())))
        more = max(FEWEST_POINTS, 1 << (n - 1).bit_length()) - n
        with self._precise(True):
            padded = _each(values, lambda array: np.concatenate([array, np.repeat(array[:1], more, axis=0)]))
            return np.asarray(self._many(padded), dtype=float)[:n]

    def _by_name(self, *given, **named):
        with self._precise(True):
            found = self._slope(_each(given[0] if given else named, np.asarray))
            return _each(found, lambda array: np.asarray(array, dtype=float))


def _each(values: NDArray | dict, change: Callable):
    return {name: change(value) for name, value in values.items()} if isinstance(values, dict) else change(values)
