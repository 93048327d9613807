"""Densities of Stan programs, by BridgeStan."""

from __future__ import annotations

import os
import re

import numpy as np
from numpy.typing import NDArray

from sklearn_subanneal._core.arguments import shortened


class StanDensity:
    """The log density of a Stan program, as a target of :func:`sample`; needs ``pip install sklearn-subanneal[stan]``.

    Parameters are sampled in Stan's coordinates without constraints, and named as in the program. Constants are kept
    (``propto=False``), so that the evidence is that of the program if its priors are normalised. BridgeStan compiles
    the program at the first use, for which it needs the sources of Stan and a C++ compiler.

    Parameters
    ----------
    model : str, path or bridgestan.StanModel
        A .stan file, a compiled model, or a model object.
    data : str, path or dict, default=None
        JSON, a file of it, or the data by name.

    Attributes
    ----------
    initial : ndarray of shape (1, n_parameters)
        Zeros, where a variational reference starts if no other is given.

    Examples
    --------
    >>> from sklearn_subanneal.tempering import StanDensity, sample
    >>> target = StanDensity("eight_schools.stan", "eight_schools.json")  # doctest: +SKIP
    >>> result = sample(target, reference=(0.0, 5.0), random_state=0)  # doctest: +SKIP
    """

    name, is_vectorized, has_gradient, space = "the Stan program", False, True, None

    def __init__(self, model, data=None) -> None:
        if isinstance(model, str | os.PathLike):
            try:
                import bridgestan
            except ImportError as error:
                raise ImportError("StanDensity needs BridgeStan: pip install sklearn-subanneal[stan].") from error
            model = bridgestan.StanModel(model, data)
        elif not all(hasattr(model, method) for method in ("log_density", "param_unc_num", "param_constrain")):
            raise ValueError(f"model must be a .stan file or a bridgestan.StanModel, got {shortened(model)}")
        self._model = model
        self.n_parameters = int(model.param_unc_num())
        self.initial = np.zeros((1, self.n_parameters))
        self._places = _places(model.param_names())

    def bind(self, name: str, space, n_parameters: int) -> StanDensity:
        """Itself: a program knows its parameters."""
        if space is not None or n_parameters != self.n_parameters:
            raise ValueError(
                f"a Stan program has its own {self.n_parameters} coordinates: leave parameters and n_parameters out"
            )
        return self

    def values(self, thetas: NDArray) -> NDArray:
        """Log density of the coordinates, the Jacobian included, at points; -inf where the program rejects."""
        return np.array([self._one(self._model.log_density, theta, -np.inf) for theta in thetas], dtype=float)

    def gradient(self, theta: NDArray, with_jacobian: bool) -> NDArray:
        """Gradient at one point; zeros where the program rejects."""
        nothing = (-np.inf, np.zeros(self.n_parameters))
        return np.array(self._one(self._model.log_density_gradient, theta, nothing)[1], dtype=float)

    @staticmethod
    def _one(function, theta, otherwise):
        try:
            return function(np.ascontiguousarray(theta), propto=False, jacobian=True)
        except RuntimeError:
            # BridgeStan's error for reject(), and for arguments out of range.
            return otherwise

    def log_jacobian(self, thetas: NDArray) -> float:
        """0: Stan adds the Jacobian itself."""
        return 0.0

    def constrained(self, thetas: NDArray) -> dict[str, NDArray]:
        """Parameters by their names in the program, from points of shape (..., n_parameters)."""
        flat = np.ascontiguousarray(thetas).reshape(-1, self.n_parameters)
        values = np.array([self._model.param_constrain(theta) for theta in flat])
        found = {}
        for name, (columns, shape) in self._places.items():
            # Stan lists arrays by columns.
            array = values[:, columns].reshape(len(flat), *shape[::-1])
            found[name] = array.transpose(0, *range(array.ndim - 1, 0, -1)).reshape(*thetas.shape[:-1], *shape)
        return found


def _places(names: list[str]) -> dict[str, tuple[list[int], tuple]]:
    """Columns and shape of each parameter, from names as "x.2.1"."""
    columns: dict[str, list[int]] = {}
    shapes: dict[str, tuple] = {}
    for i, full in enumerate(names):
        name, *indices = re.split(r"[.:]", full)
        columns.setdefault(name, []).append(i)
        # The last of its entries has the largest indices.
        shapes[name] = tuple(int(index) for index in indices)
    return {name: (columns[name], shapes[name]) for name in columns}
