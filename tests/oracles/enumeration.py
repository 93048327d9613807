"""The exact posterior of a Pitman-Yor mixture: enumeration of all partitions of a few rows, and of grids."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from oracles.reference import Column, Params, line_quadrature, log_marginal
from scipy.special import gammaln, logsumexp

Partition = tuple[int, ...]

VECTORS = {
    ("categorical", "alpha"),
    ("gaussian", "mu"),
    ("gaussian", "sigma2"),
    ("bag-of-words", "beta"),
    ("semicontinuous", "atoms"),
    ("ordinal", "cuts"),
}


# --- Partitions and their prior ---------------------------------------------------------------------------------


def partitions(n: int) -> Iterator[Partition]:
    """Yield every partition of n rows as a restricted growth string, in lexicographic order.

    Examples
    --------
    >>> list(partitions(3))
    [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 1, 2)]
    """
    if n == 0:
        yield ()
        return
    for head in partitions(n - 1):
        for label in range(max(head, default=-1) + 2):
            yield (*head, label)


def canonical(labels: Sequence[int]) -> Partition:
    """Relabel clusters by first appearance; -1 (a row that is not assigned) stays.

    Examples
    --------
    >>> canonical([7, -1, 7, 2])
    (0, -1, 0, 1)
    """
    names: dict[int, int] = {}
    return tuple(-1 if label < 0 else names.setdefault(int(label), len(names)) for label in labels)


def blocks(labels: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the rows of each cluster, leaving out rows that are not assigned (-1)."""
    labels = np.asarray(labels)
    return [tuple(np.flatnonzero(labels == k).tolist()) for k in np.unique(labels[labels >= 0])]


def log_eppf(sizes: Sequence[int], alpha: Any, d: Any = 0.0) -> Any:
    """Return the log probability of one partition with these cluster sizes under Pitman-Yor(alpha, d).

    Pitman (1995, doi:10.1007/BF01213386), proposition 9. `alpha` and `d` broadcast.

    Raises
    ------
    ValueError
        Unless 0 <= d < 1 and alpha > -d.

    Examples
    --------
    >>> round(float(np.exp(log_eppf([2, 1], alpha=1.0))), 12)  # 1/2 * 1/3
    0.166666666667
    """
    alpha, d = np.asarray(alpha, dtype=float), np.asarray(d, dtype=float)
    if np.any(d < 0) or np.any(d >= 1):
        raise ValueError(f"d={d} must lie in [0, 1): correct it.")
    if np.any(alpha <= -d):
        raise ValueError(f"alpha={alpha} must exceed -d={-d}: raise it.")
    result = gammaln(alpha + 1) - gammaln(alpha + sum(sizes))
    result = result + sum(np.log(alpha + i * d) for i in range(1, len(sizes)))
    return result + sum(gammaln(size - d) - gammaln(1 - d) for size in sizes)


def draw_partition(n: int, alpha: float, d: float, rng: np.random.Generator) -> Partition:
    """Draw a partition of n rows from Pitman-Yor(alpha, d), row by row."""
    labels: list[int] = []
    for _ in range(n):
        sizes = np.bincount(labels) if labels else np.zeros(0)
        weights = np.append(sizes - d, alpha + d * len(sizes) if labels else 1.0)
        labels.append(int(rng.choice(len(weights), p=weights / weights.sum())))
    return tuple(labels)


# --- The exact posterior ----------------------------------------------------------------------------------------


def product_grid(kind: str, grids: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], list[tuple[str, int]]]:
    """Expand one grid per hyperparameter (per coordinate, for a vector) to all combinations along one leading axis.

    Returns
    -------
    params : dict
        Arrays with a leading axis over the product.
    axes : list of (name, length)
        The axes of the product in C order; a vector hyperparameter has one per coordinate.
    """
    lines = [(name, line) for name, grid in grids.items() for line in (grid if (kind, name) in VECTORS else [grid])]
    lines = [(name, np.atleast_1d(np.asarray(line, dtype=float))) for name, line in lines]
    mesh = np.meshgrid(*[line for _, line in lines], indexing="ij")
    params: dict[str, np.ndarray] = {}
    for name in grids:
        own = np.stack([values.ravel() for (other, _), values in zip(lines, mesh, strict=True) if other == name], -1)
        params[name] = own if (kind, name) in VECTORS else own[:, 0]
    return params, [(name, len(line)) for name, line in lines]


@dataclass(frozen=True)
class ExactMixture:
    """A Pitman-Yor mixture of at most about eight rows whose posterior is a sum over all partitions and grid points.

    Build it with `fixed_mixture` or `grid_mixture`. Hyperparameters have independent uniform priors on their grids:
    p(partition) ~ sum_{alpha, d} eppf(partition) prod_j sum_{grid_j} prod_k p(x_j of cluster k | grid_j) ** beta.

    Parameters
    ----------
    columns : list of (kind, x, params)
        The hyperparameters carry one leading axis, the grid.
    axes : list of list of (name, length)
        The axes of each column's grid.
    concentrations, discounts : arrays of shape (n_prior,)
        The product grid of (alpha, d).
    prior_shape : tuple
        Numbers of concentrations and of discounts.
    beta : float, default=1.0
        Inverse temperature: the power of the marginal likelihood in energy annealing.
    """

    columns: list[Column]
    axes: list[list[tuple[str, int]]]
    concentrations: np.ndarray
    discounts: np.ndarray
    prior_shape: tuple[int, int]
    beta: float = 1.0

    @property
    def n_rows(self) -> int:
        return len(self.columns[0][1])

    @cached_property
    def states(self) -> list[Partition]:
        """All partitions of the rows, in the order of every array below."""
        return list(partitions(self.n_rows))

    @cached_property
    def _subsets(self) -> list[tuple[int, ...]]:
        rows = range(self.n_rows)
        return [subset for size in rows for subset in itertools.combinations(rows, size + 1)]

    @cached_property
    def _tables(self) -> list[np.ndarray]:
        return [self._table(*column, self._subsets) for column in self.columns]

    def _table(self, kind: str, x: np.ndarray, params: Params, subsets: list[tuple[int, ...]]) -> np.ndarray:
        # One heated log marginal per subset of rows and grid point: partitions only sum them.
        x = np.asarray(x)
        return self.beta * np.array([np.atleast_1d(log_marginal(kind, x[list(rows)], params)) for rows in subsets])

    @cached_property
    def _membership(self) -> np.ndarray:
        index = {subset: i for i, subset in enumerate(self._subsets)}
        member = np.zeros((len(self.states), len(self._subsets)))
        for i, state in enumerate(self.states):
            member[i, [index[block] for block in blocks(state)]] = 1
        return member

    @cached_property
    def _log_prior(self) -> np.ndarray:
        rows = [log_eppf([len(b) for b in blocks(s)], self.concentrations, self.discounts) for s in self.states]
        return np.array(rows)

    @cached_property
    def _log_likelihoods(self) -> list[np.ndarray]:
        return [self._membership @ table for table in self._tables]

    def log_joint(self, replaced: Mapping[int, np.ndarray] | None = None) -> np.ndarray:
        """Return log p(partition, data), shape (n_partitions,); `replaced` exchanges log likelihoods of columns."""
        terms = [(replaced or {}).get(j, own) for j, own in enumerate(self._log_likelihoods)]
        return sum(logsumexp(term, axis=1) - np.log(term.shape[1]) for term in [self._log_prior, *terms])

    @property
    def log_evidence(self) -> float:
        """log p(data), the sum over partitions and grids."""
        return float(logsumexp(self.log_joint()))

    def posterior(self) -> dict[Partition, float]:
        """Return the probability of every partition given the data."""
        joint = self.log_joint()
        return dict(zip(self.states, np.exp(joint - logsumexp(joint)).tolist(), strict=True))

    def prior_posterior(self) -> np.ndarray:
        """Return p(alpha, d | data), shape (n_concentrations, n_discounts)."""
        return self._mixed(self._log_prior).reshape(self.prior_shape)

    def hyperparameter_posteriors(self, column: int) -> dict[str, list[np.ndarray]]:
        """Return the posterior marginal of each hyperparameter of a column: one array per coordinate."""
        lengths = [length for _, length in self.axes[column]]
        joint = self._mixed(self._log_likelihoods[column]).reshape(lengths)
        marginals: dict[str, list[np.ndarray]] = {}
        for axis, (name, _) in enumerate(self.axes[column]):
            others = tuple(other for other in range(len(lengths)) if other != axis)
            marginals.setdefault(name, []).append(joint.sum(axis=others))
        return marginals

    def _mixed(self, log_terms: np.ndarray) -> np.ndarray:
        # p(grid | data) = sum over partitions of p(partition | data) p(grid | partition, data)
        given = np.exp(log_terms - logsumexp(log_terms, axis=1, keepdims=True))
        return np.array(list(self.posterior().values())) @ given

    # --- prediction ---

    def _check_unheated(self) -> None:
        if self.beta != 1:
            raise ValueError(f"beta={self.beta} has no predictive density: predict at beta=1.")

    def log_predictive(self, new_rows: Sequence[np.ndarray]) -> np.ndarray:
        """Return log p(new row | data) of each new row alone, as a ratio of evidences, shape (n_new,).

        `new_rows` holds, column by column, the new cells; missing ones are marginalised.
        """
        self._check_unheated()
        result = []
        for i in range(len(new_rows[0])):
            columns = [
                (kind, np.concatenate([np.asarray(x, dtype=float), np.asarray(new, dtype=float)[i : i + 1]]), params)
                for (kind, x, params), new in zip(self.columns, new_rows, strict=True)
            ]
            wider = ExactMixture(columns, self.axes, self.concentrations, self.discounts, self.prior_shape)
            result.append(wider.log_evidence - self.log_evidence)
        return np.array(result)

    def cell_log_density(
        self, row: int, column: int, values: Sequence[float], coordinate: int | None = None
    ) -> np.ndarray:
        """Return log p(cell = value | all other cells) at each of `values`; the cell's own content is ignored.

        `coordinate` names the column inside a Gaussian block.
        """
        self._check_unheated()
        kind, x, params = self.columns[column]
        touched = [i for i, subset in enumerate(self._subsets) if row in subset]
        cell = row if coordinate is None else (row, coordinate)
        log_densities = []
        for value in [np.nan, *values]:
            filled = np.array(x, dtype=float)
            filled[cell] = value
            table = self._tables[column].copy()
            table[touched] = self._table(kind, filled, params, [self._subsets[i] for i in touched])
            log_densities.append(logsumexp(self.log_joint({column: self._membership @ table})))
        return np.array(log_densities[1:]) - log_densities[0]

    def cell_moments(self, row: int, column: int, coordinate: int | None = None) -> tuple[float, float]:
        """Return the conditional mean and variance of a cell given all the others, by quadrature or summation.

        Raises
        ------
        ValueError
            If the column is categorical: its cells have no moments, `cell_log_density` gives their probabilities.
        """
        kind = self.columns[column][0]
        if kind in {"categorical", "bag-of-words"}:
            raise ValueError(f"kind={kind!r} of column={column} has no moments: use cell_log_density.")
        if kind in {"real", "gaussian"}:
            values, log_weights = line_quadrature()
            mass = np.exp(self.cell_log_density(row, column, values, coordinate) + log_weights)
        else:
            values = np.arange(2 if kind == "boolean" else 64)
            mass = np.exp(self.cell_log_density(row, column, values))
            while mass.sum() < 1 - 1e-10:
                more = np.arange(len(values), 2 * len(values))
                mass = np.append(mass, np.exp(self.cell_log_density(row, column, more)))
                values = np.append(values, more)
        mean = np.sum(mass * values)
        return float(mean), float(np.sum(mass * (values - mean) ** 2))


def fixed_mixture(columns: Sequence[Column], alpha: float, d: float = 0.0, beta: float = 1.0) -> ExactMixture:
    """Return the exact mixture with all hyperparameters known."""
    lifted = [
        (kind, x, {name: np.asarray(value, dtype=float)[None] for name, value in params.items()})
        for kind, x, params in columns
    ]
    return ExactMixture(lifted, [[] for _ in lifted], np.array([alpha]), np.array([d]), (1, 1), beta)


def grid_mixture(columns: Sequence[Column], prior_grid: Mapping[str, Any], beta: float = 1.0) -> ExactMixture:
    """Return the exact mixture with hyperparameters on grids.

    Parameters
    ----------
    columns : sequence of (kind, x, grids)
        A 1-D grid per hyperparameter; a sequence of 1-D grids, one per coordinate, for the alpha of "categorical"
        and for mu and sigma2 of "gaussian".
    prior_grid : mapping
        1-D grids "alpha" and "d"; their product is the prior grid.
    beta : float, default=1.0
        Inverse temperature.
    """
    expanded = [(kind, x, *product_grid(kind, grids)) for kind, x, grids in columns]
    alpha, d = (np.atleast_1d(np.asarray(prior_grid[name], dtype=float)) for name in ("alpha", "d"))
    mesh = np.meshgrid(alpha, d, indexing="ij")
    lifted = [(kind, x, params) for kind, x, params, _ in expanded]
    axes = [own for *_, own in expanded]
    return ExactMixture(lifted, axes, mesh[0].ravel(), mesh[1].ravel(), (len(alpha), len(d)), beta)


def exact_posterior(
    columns: Sequence[Column], alpha: float, d: float = 0.0, beta: float = 1.0
) -> dict[Partition, float]:
    """Return the probability of every partition of the rows.

    Examples
    --------
    >>> data = [("boolean", [1, 1], {"alpha": 1.0, "beta": 1.0})]
    >>> {k: round(v, 6) for k, v in exact_posterior(data, alpha=1.0).items()}  # 1/3 against 1/4
    {(0, 0): 0.571429, (0, 1): 0.428571}
    """
    return fixed_mixture(columns, alpha, d, beta).posterior()


def exact_posterior_grid(
    columns: Sequence[Column], prior_grid: Mapping[str, Any], beta: float = 1.0
) -> tuple[dict[Partition, float], np.ndarray, list[dict[str, list[np.ndarray]]]]:
    """Return p(partition | data), p(alpha, d | data) and, column by column, the marginals of the hyperparameters."""
    mixture = grid_mixture(columns, prior_grid, beta)
    marginals = [mixture.hyperparameter_posteriors(j) for j in range(len(columns))]
    return mixture.posterior(), mixture.prior_posterior(), marginals


def exact_predictive(
    columns: Sequence[Column], new_rows: Sequence[np.ndarray], alpha: float, d: float = 0.0
) -> np.ndarray:
    """Return log p(new row | data) of each new row, shape (n_new,)."""
    return fixed_mixture(columns, alpha, d).log_predictive(new_rows)
