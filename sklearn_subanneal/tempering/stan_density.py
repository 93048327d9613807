"""StanDensity, the log density of a Stan program, by BridgeStan or by what httpstan brings along."""

from __future__ import annotations

import os
import re

import numpy as np
from numpy.typing import NDArray

from sklearn_subanneal._core.arguments import shortened
from sklearn_subanneal.tempering.stan_program import StanProgram, toolchain


class StanDensity:
    """The log density of a Stan program, as a target of :func:`sample`.

    Parameters are sampled in Stan's coordinates without constraints, and named as in the program. Constants are kept
    (``propto=False``), so that the evidence is that of the program if its priors are normalised.

    A .stan file is compiled at the first use, beside it, for which a C++ compiler is needed. If httpstan is installed
    (``pip install sklearn-subanneal[httpstan]``, on Linux and macOS), with the sources of Stan that it brings along;
    otherwise by BridgeStan (``pip install sklearn-subanneal[stan]``), which downloads them from GitHub.

    Parameters
    ----------
    model : str, path or bridgestan.StanModel
        A .stan file, a model that BridgeStan has compiled, or a model object.
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
            model = _read(model, data)
        elif not all(hasattr(model, method) for method in ("log_density", "param_unc_num", "param_constrain")):
            raise ValueError(f"model must be a .stan file or a bridgestan.StanModel, got {shortened(model)}")
        self._model = model
        # BridgeStan leaves constants out unless told not to.
        self._options = {} if isinstance(model, StanProgram) else {"propto": False, "jacobian": True}
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

    def _one(self, function, theta, otherwise):
        try:
            return function(np.ascontiguousarray(theta, float), **self._options)
        except RuntimeError:
            # The error of reject(), and of arguments out of range.
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


def _read(file, data):
    """The model of a file, by the package that is there."""
    if str(file).endswith(".stan") and toolchain() is not None:
        return StanProgram(file, data)
    try:
        import bridgestan
    except ImportError as error:
        raise ImportError(
            "StanDensity needs BridgeStan: pip install sklearn-subanneal[stan]; or, for .stan files on Linux and "
            "macOS, httpstan: pip install sklearn-subanneal[httpstan]"
        ) from error
    return bridgestan.StanModel(file, data)


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
