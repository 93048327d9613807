"""ParameterSpace: named parameters, and the change between constrained values and coordinates without constraints."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logit

from sklearn_subanneal._core.arguments import checked_integer, shortened

EXPECTED = (
    "a number of reals, 'real', 'positive', an interval (low, high), or a pair of one of these, or of 'simplex', and a "
    "number"
)


class ParameterSpace:
    """Named parameters, with constraints, and the coordinates z without constraints in which they are sampled.

    A positive parameter is the exponential of its coordinate, one of an interval a scaled logistic function of it; a
    point of a simplex of K parts has K - 1 coordinates, by stick breaking, zero at its centre.

    Parameters
    ----------
    parameters : dict of str to int, str or tuple
        For each name a number of reals; or "real", "positive" or an interval (low, high), of which one end may be
        infinite, for a single one; or a pair of one of these and a number; or ("simplex", K).

    Attributes
    ----------
    names : list of str
    shapes : dict of str to tuple
        () or (size,) of the values.
    n_parameters : int
        Coordinates, of all parameters.

    References
    ----------
    Stan Development Team, Stan Reference Manual, chapter "Constraint transforms".

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tempering import ParameterSpace
    >>> space = ParameterSpace({"rate": "positive", "x": 2})
    >>> space.constrained(np.array([[0.0, 1.0, 2.0]]))
    {'rate': array([1.]), 'x': array([[1., 2.]])}
    """

    def __init__(self, parameters: Mapping):
        if not isinstance(parameters, Mapping) or not parameters:
            raise ValueError(
                "parameters must be a dict from names to what they may be, as {'rate': 'positive', 'x': 3}, got "
                f"{shortened(parameters)}"
            )
        self._blocks: dict[str, tuple] = {}
        self.shapes: dict[str, tuple] = {}
        start = 0
        for name, given in parameters.items():
            if not isinstance(name, str):
                raise ValueError(f"names of parameters must be strings, got {shortened(name)}")
            transform, shape = _read(name, given)
            width = transform.n_coordinates(shape)
            self._blocks[name], self.shapes[name] = (transform, slice(start, start + width)), shape
            start += width
        self.names, self.n_parameters = list(self._blocks), start

    def constrained(self, z: NDArray) -> dict[str, NDArray]:
        """Values by name, each of shape ``(..., *shape)``, from coordinates of shape (..., n_parameters)."""
        return {
            name: np.reshape(transform.forward(z[..., part]), (*z.shape[:-1], *self.shapes[name]))
            for name, (transform, part) in self._blocks.items()
        }

    def unconstrained(self, values: Mapping) -> NDArray:
        """Coordinates, shape (..., n_parameters), from values by name.

        Raises
        ------
        ValueError
            If a name or a shape is wrong, or a value breaks its constraint.
        """
        if not isinstance(values, Mapping) or set(values) != set(self.names):
            raise ValueError(f"values must be a dict with the names {self.names}, got {shortened(values)}")
        parts = []
        for name, (transform, _) in self._blocks.items():
            array, shape = np.asarray(values[name], dtype=float), self.shapes[name]
            if array.shape[array.ndim - len(shape) :] != shape:
                raise ValueError(f"{name} must have shape {shape}, got {array.shape}")
            with np.errstate(divide="ignore", invalid="ignore"):
                z = transform.backward(array if shape else array[..., None])
            if not np.isfinite(z).all():
                raise ValueError(f"{name} must be inside of {transform.about}, got {shortened(values[name])}")
            parts.append(z)
        return np.concatenate(parts, axis=-1)

    def log_jacobian(self, z: NDArray) -> NDArray:
        """Log of the volume of values per volume of coordinates; of a simplex, by its first K - 1 parts."""
        return sum(transform.log_jacobian(z[..., part]) for transform, part in self._blocks.values())

    def gradient(self, z: NDArray, of_values: Mapping) -> NDArray:
        """Gradient by the coordinates of a function plus ``log_jacobian``, from its gradient by the values, by name."""
        parts = []
        for name, (transform, part) in self._blocks.items():
            along = np.asarray(of_values[name], dtype=float).reshape(-1)
            parts.append(transform.gradient(z[part], along))
        return np.concatenate(parts)


class _Reals:
    about = "the reals"

    def n_coordinates(self, shape):
        return shape[0] if shape else 1

    def forward(self, z):
        return z

    def backward(self, x):
        return x

    def log_jacobian(self, z):
        return np.zeros(z.shape[:-1])

    def gradient(self, z, along):
        return along


class _HalfLine(_Reals):
    """From a bound upwards, or, with the sign -1, downwards."""

    def __init__(self, bound, sign):
        self.bound, self.sign = bound, sign
        self.about = f"({bound:g}, inf)" if sign > 0 else f"(-inf, {bound:g})"

    def forward(self, z):
        # Far coordinates overflow; there is no density there.
        with np.errstate(over="ignore"):
            return self.bound + self.sign * np.exp(z)

    def backward(self, x):
        return np.log(self.sign * (x - self.bound))

    def log_jacobian(self, z):
        return z.sum(axis=-1)

    def gradient(self, z, along):
        return along * self.sign * np.exp(z) + 1.0


# The least and the largest share of an interval that has a coordinate.
SHARES = np.nextafter([0.0, 1.0], [1.0, 0.0])


class _Interval(_Reals):
    def __init__(self, low, high):
        self.low, self.high, self.width, self.about = low, high, high - low, f"({low:g}, {high:g})"

    def forward(self, z):
        return self.low + self.width * expit(z)

    def backward(self, x):
        share = (x - self.low) / self.width
        # Near an end that is not 0 a share is rounded to one of the whole.
        return logit(np.where((x > self.low) & (x < self.high), np.clip(share, *SHARES), share))

    def log_jacobian(self, z):
        return (np.log(self.width) + log_expit(z) + log_expit(-z)).sum(axis=-1)

    def gradient(self, z, along):
        share = expit(z)
        return along * self.width * share * (1.0 - share) + 1.0 - 2.0 * share


class _Simplex(_Reals):
    about = "the simplex"

    def n_coordinates(self, shape):
        return shape[0] - 1

    def _sticks(self, z):
        """Logarithms of the shares that the sticks broken off have of what was left, and of what remains."""
        shifted = z - np.log(np.arange(z.shape[-1], 0, -1))
        return log_expit(shifted), log_expit(-shifted)

    def forward(self, z):
        broken, kept = self._sticks(z)
        left = np.cumsum(kept, axis=-1)
        none = np.zeros((*z.shape[:-1], 1))
        return np.exp(np.concatenate([broken, none], axis=-1) + np.concatenate([none, left], axis=-1))

    def backward(self, x):
        if not np.allclose(x.sum(axis=-1), 1.0, rtol=0.0, atol=1e-8):
            return np.full(1, np.nan)
        left = np.cumsum(x[..., ::-1], axis=-1)[..., ::-1]
        return np.log(x[..., :-1]) - np.log(left[..., 1:]) + np.log(np.arange(x.shape[-1] - 1, 0, -1))

    def log_jacobian(self, z):
        broken, kept = self._sticks(z)
        left = np.cumsum(kept, axis=-1) - kept
        return (broken + kept + left).sum(axis=-1)

    def gradient(self, z, along):
        broken, kept = (np.exp(part) for part in self._sticks(z))
        x, n = self.forward(z), len(z)
        # x_k = broken_k prod_{j < k} kept_j, and d log broken / dz = kept, d log kept / dz = -broken.
        flowing = along * x
        later = np.cumsum(flowing[::-1])[::-1][1:]
        return flowing[:-1] * kept - later * broken + kept - (n - np.arange(n)) * broken


def _read(name, given):
    """The transform and the shape of the values of a parameter."""
    if isinstance(given, Integral) and not isinstance(given, bool):
        return _Reals(), (checked_integer(name, given),)
    shape = ()
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str | tuple):
        given, size = given
        shape = (checked_integer(name, size, 2 if given == "simplex" else 1),)
    if isinstance(given, str):
        if given == "real":
            return _Reals(), shape
        if given == "positive":
            return _HalfLine(0.0, 1.0), shape
        if given == "simplex" and shape:
            return _Simplex(), shape
    elif isinstance(given, tuple) and len(given) == 2 and all(isinstance(end, Real) for end in given):
        low, high = float(given[0]), float(given[1])
        if low < high:
            if np.isfinite([low, high]).all():
                return _Interval(low, high), shape
            if high == np.inf:
                return (_HalfLine(low, 1.0) if low > -np.inf else _Reals()), shape
            return _HalfLine(high, -1.0), shape
    raise ValueError(f"{name} of parameters must be {EXPECTED}, got {shortened(given)}")
