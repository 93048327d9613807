"""find_structure: the dependence of columns and the convergence of chains, as numbers for a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal.diagnostics import summary
from sklearn_subanneal.report.source import Source

if TYPE_CHECKING:
    from sklearn_subanneal.estimators import CrossCat

# Chains with a larger R-hat are reported as not converged.
LARGEST_RHAT = 1.05


@dataclass(frozen=True)
class Pair:
    """The dependence of two columns.

    Attributes
    ----------
    one, other : str
    relatedness : float
        Mutual information on the scale of a correlation.
    share : float
        Share of the draws in which they are in one view.
    """

    one: str
    other: str
    relatedness: float
    share: float


@dataclass(frozen=True)
class Structure:
    """Dependence between columns and convergence of the chains.

    Attributes
    ----------
    pairs : list of Pair
        The pairs of largest relatedness.
    n_related : int
        Number of columns whose pairs were compared: those that share views with most others.
    n_together, n_apart, n_disputed : int
        Numbers of pairs of columns that are in one view in all draws, in none, and in some.
    log_joints, chain_weights : list of float
        Mean log joint density of each chain, and its weight in the results.
    problems : list of str
        What ``convergence_`` reports, a sentence each.
    convergence : list of (name, mean, deviation, effective sample size, R-hat)
    """

    pairs: list[Pair]
    n_related: int
    n_together: int
    n_apart: int
    n_disputed: int
    log_joints: list[float]
    chain_weights: list[float]
    problems: list[str]
    convergence: list[tuple[str, float, float, float, float]]

    @property
    def n_unsettled(self) -> int:
        """Number of quantities on which the chains disagree."""
        return sum(rhat > LARGEST_RHAT for *_, rhat in self.convergence)


def find_structure(model: CrossCat, source: Source, most_pairs: int, most_columns: int, seed: int) -> Structure:
    """Compute the most related pairs of columns, and the convergence of the chains.

    Parameters
    ----------
    model : CrossCat
        Fitted to the table.
    source : Source
    most_pairs : int
    most_columns : int
        The most columns whose pairs are compared.
    seed : int
        Seed of the Monte Carlo integrals.

    Returns
    -------
    Structure
    """
    names, dependence = list(source.feature_types), model.dependence_
    chosen = np.sort(np.argsort(-dependence.sum(axis=1), kind="stable")[:most_columns])
    related = model.relatedness_matrix([int(j) for j in chosen], random_state=seed)
    one, other = np.triu_indices(len(chosen), k=1)
    best = np.argsort(-related[one, other], kind="stable")[:most_pairs]
    pairs = [
        Pair(names[i], names[j], float(value), float(dependence[i, j]))
        for i, j, value in zip(chosen[one[best]], chosen[other[best]], related[one[best], other[best]], strict=True)
        if value > 0.0
    ]
    shares = dependence[np.triu_indices(len(names), k=1)]
    table = summary(model)
    rows = zip(*(table[name] for name in ("name", "mean", "sd", "ess_bulk", "rhat")), strict=True)
    return Structure(
        pairs,
        len(chosen),
        int((shares == 1.0).sum()),
        int((shares == 0.0).sum()),
        int(((shares > 0.0) & (shares < 1.0)).sum()),
        model.log_joint_.mean(axis=1).tolist(),
        model.chain_weights_.tolist(),
        model.convergence_.problems,
        [(str(name), *map(float, figures)) for name, *figures in rows],
    )
