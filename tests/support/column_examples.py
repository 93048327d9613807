"""Examples of every type of column: cells, hyperparameters and grids, for the kernels and for the reference."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from oracles import reference
from oracles.enumeration import product_grid

from sklearn_subanneal import columns
from sklearn_subanneal.columns._base import ColumnData, ColumnStatistics
from sklearn_subanneal.columns.binding import KINDS

CLASSES = {kind: (model.data_class, model.statistics_class) for kind, model in KINDS.items()}


def data_of(kind: str, cells: np.ndarray, params: dict[str, Any]) -> ColumnData:
    """Cells as the kernel of a type of column takes them."""
    fixed = (params["atoms"],) if kind == "semicontinuous" else ()
    return CLASSES[kind][0](cells, *fixed)


def discovered() -> Iterator[type]:
    """Every subclass of ColumnStatistics in the package that is not itself a base, nor carries one along."""
    for module in pkgutil.iter_modules(columns.__path__):
        importlib.import_module(f"{columns.__name__}.{module.name}")
    waiting = ColumnStatistics.__subclasses__()
    while waiting:
        kernel = waiting.pop()
        derived = kernel.__subclasses__()
        if not derived and not kernel.__module__.endswith("._carried"):
            yield kernel
        waiting += derived


@dataclass(frozen=True)
class ColumnExample:
    """One column with its prior.

    Attributes
    ----------
    name, kind : str
        `kind` as in ``reference.py``.
    cells : ndarray
        As the kernel takes them.
    params : dict
        Hyperparameters as the reference takes them.
    grids : dict
        Small grids of all of them, as ``enumeration.product_grid`` takes them.
    fillings : ndarray or None
        A Gaussian block keeps its missing cells as state: rows with missing cells, filled.
    new_values : ndarray of shape (n_new, width)
        Values that are not in the data; NaN is missing.
    """

    name: str
    kind: str
    cells: np.ndarray
    params: dict[str, Any]
    grids: dict[str, Any]
    new_values: np.ndarray
    fillings: np.ndarray | None = field(default=None)

    @property
    def n_rows(self) -> int:
        return len(self.cells)

    @property
    def width(self) -> int:
        return self.cells.shape[1] if self.cells.ndim == 2 else 1

    @cached_property
    def scored(self) -> np.ndarray:
        """The cells as the kernel scores them, float64, missing ones NaN."""
        cells = self.cells.astype(np.float32 if self.kind == "real" else np.float64).astype(np.float64)
        return cells if self.cells.dtype.kind == "f" else np.where(cells < 0, np.nan, cells)

    @cached_property
    def counted(self) -> np.ndarray:
        """The cells as they enter the statistics: those of a Gaussian block are filled."""
        cells = self.scored.copy()
        if self.fillings is not None:
            cells[np.isnan(cells).any(axis=1)] = self.fillings
        return cells

    @property
    def missing(self) -> np.ndarray:
        """Rows of which at least one cell is missing."""
        return np.isnan(self.scored.reshape(self.n_rows, -1)).any(axis=1)

    def kernel_parameters(self, params: dict[str, Any] | None = None) -> dict[str, Any]:
        params = self.params if params is None else params
        if self.kind == "boolean":
            return {"alpha": np.array([params["beta"], params["alpha"]])}
        params = reference.natural_block(params) if self.kind == "gaussian" else params
        known = {"n_words": self.width} if self.kind == "bag-of-words" else {}
        if known and np.ndim(params["beta"]):
            # The kernel has the mean weight of a word, and the weights relative to it.
            beta = float(np.mean(params["beta"]))
            params = params | {"beta": beta, "base": np.asarray(params["beta"]) / beta}
        return known | {name: np.asarray(value, float) if np.ndim(value) else value for name, value in params.items()}

    def reference_params(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Parameters of the kernel under the names that the reference uses."""
        if self.kind == "boolean":
            return {"alpha": parameters["alpha"][1], "beta": parameters["alpha"][0]}
        if self.kind == "gaussian" and "sigma2" in {*self.params, *self.grids}:
            # Rounded, so that values of the grid are equal again.
            sigma2 = (np.diag(parameters["psi"]) / (parameters["nu"] - self.width + 1)).round(10)
            return {name: value for name, value in parameters.items() if name in self.params} | {"sigma2": sigma2}
        if self.kind == "count":
            # Where the example has no dispersion, it stays 0.
            return {name: parameters[name] for name in self.params}
        if self.kind == "bag-of-words":
            return {"beta": parameters["beta"] * (parameters["base"] if np.ptp(parameters["base"]) else 1.0)}
        return dict(parameters)

    def kernel_grids(self, names: tuple[str, ...] | None = None) -> dict[str, Any]:
        grids = {name: np.asarray(grid, float) for name, grid in self.grids.items()}
        if self.kind == "boolean":
            return {"alpha": np.stack([grids["beta"], grids["alpha"]])}
        return {name: grids[name] for name in (names or grids)}

    def statistics(self, *, learn: tuple[str, ...] | bool = False, data: bool = True) -> ColumnStatistics:
        """Empty statistics over the example's data; `learn` names the hyperparameters that have grids."""
        kernel = CLASSES[self.kind][1]
        grids = self.kernel_grids(None if learn is True else learn) if learn else None
        cells = data_of(self.kind, self.cells, self.params) if data else None
        statistics = kernel(cells, self.kernel_parameters(), grids)
        if data and self.fillings is not None:
            statistics.set_prior_state({"parameters": statistics.parameters, "completed": self.fillings})
        return statistics

    def product_grid(self) -> tuple[dict[str, np.ndarray], list[tuple[str, int]]]:
        return product_grid(self.kind, self.grids)

    def log_marginal(self, rows: Any, params: dict[str, Any] | None = None) -> np.ndarray | float:
        """Exact log marginal likelihood of some rows as they enter the statistics."""
        return reference.log_marginal(self.kind, self.counted[list(rows)], self.params if params is None else params)

    def log_predictive(self, value: Any, rows: Any, params: dict[str, Any] | None = None) -> float:
        """Exact log predictive density of a value given some rows."""
        value = np.nan_to_num(value, nan=-1.0) if self.cells.dtype.kind != "f" else value
        params = self.params if params is None else params
        return reference.log_predictive(self.kind, value, self.counted[list(rows)], params)


def _examples() -> Iterator[ColumnExample]:
    rng = np.random.default_rng(20)
    real = {"mu": 0.3, "kappa": 0.7, "sigma2": 1.4, "nu": 2.5}
    real_grids = {"mu": [-1.0, 0.0, 0.7], "kappa": [0.1, 1.0], "sigma2": [0.2, 0.9, 2.5], "nu": [1.0, 6.0]}
    new = np.array([[0.0], [-3.7], [12.5], [np.nan]])
    cells = np.concatenate([rng.normal(-1.5, 0.4, 21), rng.normal(1.0, 1.2, 27)]).astype(np.float32)
    yield ColumnExample("real", "real", cells, real, real_grids, new)
    yield ColumnExample("real-missing", "real", _with_gaps(cells, np.nan), real, real_grids, new)

    categories = {"alpha": [0.4, 1.1, 2.0]}
    category_grids = {"alpha": [[0.2, 1.0, 4.0], [0.3, 2.0, 6.0], [0.5, 1.5, 5.0]]}
    codes = rng.choice(3, 48, p=[0.6, 0.3, 0.1]).astype(np.int8)
    new = np.array([[0.0], [1.0], [2.0], [np.nan], [-1.0]])
    yield ColumnExample("categorical", "categorical", codes, categories, category_grids, new)
    gaps = _with_gaps(codes, -1)
    yield ColumnExample("categorical-missing", "categorical", gaps.astype(np.int16), categories, category_grids, new)
    yield ColumnExample("categorical-int32", "categorical", gaps.astype(np.int32), categories, category_grids, new)

    # One more value, which three cells have: no table has any, but it is a value like the others.
    more = {"alpha": [0.4, 1.1, 2.0], "unseen": 0.15}
    strange = _with_gaps(np.where(np.isin(np.arange(48), [5, 23, 44]), 3, codes), -1).astype(np.int8)
    new = np.array([[0.0], [2.0], [3.0], [np.nan]])
    yield ColumnExample("categorical-unseen", "categorical", strange, more, category_grids | {"unseen": [0.15]}, new)

    beta = {"alpha": 0.7, "beta": 1.9}
    beta_grids = {"alpha": [0.2, 1.0, 5.0], "beta": [0.4, 2.0, 7.0]}
    flags = (rng.random(48) < 0.3).astype(np.int8)
    new = np.array([[0.0], [1.0], [np.nan]])
    yield ColumnExample("boolean", "boolean", flags, beta, beta_grids, new)
    yield ColumnExample("boolean-missing", "boolean", _with_gaps(flags, -1), beta, beta_grids, new)

    gamma = {"shape": 1.7, "rate": 0.6}
    gamma_grids = {"shape": [0.3, 1.0, 4.0], "rate": [0.1, 0.5, 2.0]}
    counts = np.concatenate([rng.poisson(0.8, 21), rng.poisson(9.0, 26), [417]]).astype(np.int32)
    new = np.array([[0.0], [3.0], [850.0], [np.nan]])
    yield ColumnExample("count", "count", counts, gamma, gamma_grids, new)
    yield ColumnExample("count-missing", "count", _with_gaps(counts, -1), gamma, gamma_grids, new)
    spread, spread_grids = gamma | {"dispersion": 0.4}, gamma_grids | {"dispersion": [0.0, 0.4, 2.0]}
    yield ColumnExample("count-dispersed", "count", _with_gaps(counts, -1), spread, spread_grids, new)

    turns = {"mu": 0.7, "kappa": 3.5, "r": 0.8}
    turn_grids = {"mu": [0.4, 2.0, 4.5], "kappa": [0.5, 2.0, 4.0], "r": [0.2, 1.0, 5.0]}
    angles = np.concatenate([rng.vonmises(1.0, 5.0, 21), rng.vonmises(4.0, 2.0, 27)]) % (2 * np.pi)
    new = np.array([[0.0], [3.7], [6.2], [np.nan]])
    yield ColumnExample("cyclic", "cyclic", angles, turns, turn_grids, new)
    # So concentrated that the sums of a cluster are beyond the series of small arguments.
    sharp = {"mu": 0.7, "kappa": 4e3, "r": 60.0}
    narrow = np.concatenate([rng.vonmises(1.0, 5e3, 24), rng.vonmises(0.0, 5e3, 24)])
    yield ColumnExample("cyclic-sharp", "cyclic", narrow, sharp, {}, new)
    yield ColumnExample("cyclic-missing", "cyclic", _with_gaps(angles, np.nan), turns, turn_grids, new)

    spiked = {"alpha": 0.6, **real, "atoms": [0.0, 1.5]}
    spiked_grids = {"alpha": [0.2, 1.0, 3.0], **real_grids, "atoms": [[0.0], [1.5]]}
    new = np.array([[0.0], [1.5], [-3.7], [12.5], [np.nan], [np.nextafter(1.5, 2.0)]])
    atoms = rng.choice(3, 48, p=[0.5, 0.35, 0.15])
    cells = np.choose(atoms, [cells.astype(np.float64), 0.0, 1.5])
    yield ColumnExample("semicontinuous", "semicontinuous", cells, spiked, spiked_grids, new)
    gaps = _with_gaps(cells, np.nan)
    yield ColumnExample("semicontinuous-missing", "semicontinuous", gaps, spiked, spiked_grids, new)
    yield ColumnExample(
        "semicontinuous-atoms", "semicontinuous", np.where(atoms == 1, 0.0, 1.5), spiked | {"nu": 6.0}, {}, new
    )

    order = {"location": 1.3, "spread": 1.4, "free": 0.3, "mass": 2.5, "cuts": [0.5, 1.4, 2.5]}
    order_grids = {
        "location": [0.0, 1.0, 2.5],
        "spread": [0.5, 2.0],
        "free": [0.05, 0.4, 0.8],
        "mass": [0.5, 3.0, 20.0],
        "cuts": [[0.5], [1.4], [2.5]],
    }
    levels = np.concatenate([rng.choice(4, 21, p=[0.6, 0.3, 0.1, 0.0]), rng.choice(4, 27, p=[0.3, 0.05, 0.15, 0.5])])
    new = np.array([[0.0], [1.0], [3.0], [np.nan], [-1.0]])
    yield ColumnExample("ordinal", "ordinal", levels.astype(np.int8), order, order_grids, new)
    gaps = _with_gaps(levels, -1)
    yield ColumnExample("ordinal-missing", "ordinal", gaps.astype(np.int16), order, order_grids, new)
    # More levels than a block of the kernel's sums, most of which do not occur.
    many = {"location": 8.0, "spread": 4.0, "free": 0.1, "mass": 5.0, "cuts": np.arange(19) + 0.5}
    yield ColumnExample("ordinal-many", "ordinal", (4 * gaps + (gaps < 0) * 3).astype(np.int32), many, {}, new)

    block = {"mu": [0.2, -0.3], "kappa": 0.5, "sigma2": [0.4, 0.52], "nu": 3.5}
    block_grids = {
        "mu": [[-0.8, 0.4], [-0.3, 0.9]],
        "kappa": [0.1, 1.5],
        "sigma2": [[0.2, 0.4, 1.2], [0.2, 0.8, 1.6]],
        "nu": [1.8, 6.0],
    }
    pairs = rng.normal(size=(48, 2)) @ np.array([[0.9, 0.7], [0.0, 0.5]]) + np.repeat(
        [[-1.0, 1.0], [1.5, 0.0]], 24, axis=0
    )
    new = np.array([[0.0, 0.5], [-4.0, 3.0], [1.0, np.nan], [np.nan, -0.4], [np.nan, np.nan]])
    yield ColumnExample("gaussian", "gaussian", pairs, block, block_grids, new)
    pairs = pairs.copy()
    pairs[[3, 20, 33], 0] = pairs[[8, 33, 40], 1] = np.nan
    fillings = rng.normal(size=(5, 2))
    seen = pairs[np.isnan(pairs).any(axis=1)]
    fillings = np.where(np.isnan(seen), fillings, seen)
    yield ColumnExample("gaussian-missing", "gaussian", pairs, block, block_grids, new, fillings)

    full = {
        "mu": [0.2, -0.3, 0.1],
        "kappa": 0.5,
        "psi": [[1.0, 0.6, 0.1], [0.6, 1.3, -0.2], [0.1, -0.2, 0.7]],
        "nu": 2.5,
    }
    triples = rng.normal(size=(48, 3)) @ np.array([[0.9, 0.7, -0.5], [0.0, 0.5, 0.3], [0.0, 0.0, 0.01]])
    new = np.array([[0.0, 0.5, 0.2], [np.nan, 0.3, -1.0], [0.4, np.nan, np.nan]])
    yield ColumnExample("gaussian-covariance", "gaussian", triples, full, {}, new)

    words = rng.multinomial(rng.integers(0, 30, 48), rng.dirichlet([0.4] * 7, 48))
    new = np.array([[0, 0, 1, 0, 3, 0, 0], [0] * 7, [1, 2, 0, 40, 5, 1, 900]], float)
    yield ColumnExample("bag-of-words", "bag-of-words", words, {"beta": 0.3}, {}, new)
    beta = [0.05, 1.4, 0.3, 0.02, 0.6, 2.5, 0.1]
    yield ColumnExample("bag-of-words-base", "bag-of-words", words, {"beta": beta}, {}, new)


def _with_gaps(cells, sign):
    cells = cells.copy()
    cells[[2, 11, 12, 30]] = sign
    return cells


EXAMPLES = list(_examples())
BY_NAME = {example.name: example for example in EXAMPLES}
