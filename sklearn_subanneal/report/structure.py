"""find_structure: the dependence of columns and the convergence of chains, as numbers for a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linear_sum_assignment

from sklearn_subanneal._core.counted_nouns import counted
from sklearn_subanneal.diagnostics import summary
from sklearn_subanneal.diagnostics.pair_tests import PairTests
from sklearn_subanneal.mixtures.stacking import LEAST_WEIGHT
from sklearn_subanneal.posterior.labels import encode_labels
from sklearn_subanneal.posterior.losses import adjusted_rand
from sklearn_subanneal.report.source import Source

if TYPE_CHECKING:
    from sklearn_subanneal.estimators import CrossCat

# Chains with a larger R-hat are reported as not converged.
LARGEST_RHAT = 1.05
# Of a chain that agrees less with the views of the report, a reader is told, since another report may have its views.
LEAST_AGREEMENT = 0.9
# Draws of one chain are more alike on the groups of rows than those of different ones by more than chance.
SURPLUS = 0.05


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
    related : dict of (int, int) to float
        Relatedness of all pairs of the columns that were compared, by their places, the lower first.
    n_related : int
        Number of columns whose pairs were compared: those that share views with most others.
    n_together, n_apart, n_disputed : int
        Numbers of pairs of columns that are in one view in all draws, in none, and in some.
    log_joints, chain_weights : list of float
        Mean log joint density of each chain, and its weight in the results.
    problems : list of str
        What ``convergence_`` reports, a sentence each.
    cautions : list of str
        The same for readers who know nothing of chains, and whether there is one chain only.
    convergence : list of (name, mean, deviation, effective sample size, R-hat)
    """

    pairs: list[Pair]
    related: dict[tuple[int, int], float]
    n_related: int
    n_together: int
    n_apart: int
    n_disputed: int
    log_joints: list[float]
    chain_weights: list[float]
    problems: list[str]
    cautions: list[str]
    convergence: list[tuple[str, float, float, float, float]]

    @property
    def n_unsettled(self) -> int:
        """Number of quantities on which the chains disagree."""
        return sum(rhat > LARGEST_RHAT for *_, rhat in self.convergence)


def find_structure(
    model: CrossCat, source: Source, tests: PairTests, most_pairs: int, most_columns: int, seed: int
) -> Structure:
    """Compute the most related pairs of columns, and the convergence of the chains.

    Parameters
    ----------
    model : CrossCat
        Fitted to the table.
    source : Source
    tests : PairTests
        Of all pairs of its columns.
    most_pairs : int
    most_columns : int
        The most columns whose pairs are compared: those that depend most surely on another one by a test. Columns of
        nothing but noise may share a view in all draws.
    seed : int
        Seed of the Monte Carlo integrals.

    Returns
    -------
    Structure
    """
    names, dependence = list(source.feature_types), model.dependence_
    smallest = np.where(np.isnan(tests.p_values), 1.0, tests.p_values)
    np.fill_diagonal(smallest, 1.0)
    # Many p-values are 0 in large tables: of these columns, those that share a view with others most often.
    order = np.lexsort((-dependence.sum(axis=1), smallest.min(axis=1)))
    # That a function of a column depends on it is no finding.
    is_function = np.array([column.derivation is not None for column in model._table.columns])
    chosen = np.sort(order[~is_function[order]][:most_columns])
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
        {(int(chosen[i]), int(chosen[j])): float(related[i, j]) for i, j in zip(one, other, strict=True)},
        len(chosen),
        int((shares == 1.0).sum()),
        int((shares == 0.0).sum()),
        int(((shares > 0.0) & (shares < 1.0)).sum()),
        model.log_joint_.mean(axis=1).tolist(),
        model.chain_weights_.tolist(),
        model.convergence_.problems,
        cautions_of(model),
        [(str(name), *map(float, figures)) for name, *figures in rows],
    )


def cautions_of(model: CrossCat) -> list[str]:
    """What the agreement of the chains means to a reader, a sentence each.

    The views of a report are those of one draw. How far each chain agrees with them is the mean adjusted Rand index of
    its draws: an average over pairs of chains, by their weights, hides what a chain of little weight found.

    Parameters
    ----------
    model : CrossCat
        Fitted.
    """
    out, n_runs = [], int((model.chain_weights_ >= LEAST_WEIGHT).sum())
    if n_runs < 2:
        out.append("Only one run of the model counts, so nobody knows whether another would agree.")
    # Of a column of several parts, the first.
    first = np.unique(model.first_parts_)
    own, moved = model.column_labels_, []
    for chain in model.posterior_column_labels_:
        if np.mean([adjusted_rand(*map(encode_labels, (draw, own))) for draw in chain]) < LEAST_AGREEMENT:
            moved.append(round(float(np.mean([_n_moved(draw[first], own[first]) for draw in chain]))))
    if moved:
        what = f"{len(moved)} of {len(model.posterior_column_labels_)} runs of the model "
        what += f"{'groups' if len(moved) == 1 else 'group'} the columns otherwise"
        most = f"{'up to ' if min(moved) < max(moved) else ''}{max(max(moved), 1)} of {counted(len(first), 'column')}"
        out.append(f"{what} ({most} in another group).")
    found = model.convergence_
    if disagree_on_rows(model):
        out.append(f"The runs disagree on the groups of rows (agreement {max(found.row_agreement, 0.0):.2f}).")
    if changes := [problem for problem in found.problems if "log joint" in problem]:
        how = "changing" if " falls " in changes[0] else "improving"
        out.append(f"A run of the model was still {how} when it stopped.")
    return out


def disagree_on_rows(model: CrossCat) -> bool:
    """Whether the chains of a fitted model agree little on the clusters, and less than draws of one chain do."""
    found = model.convergence_
    return found.row_agreement < min(LEAST_AGREEMENT, found.row_agreement_within - SURPLUS)


def _n_moved(labels: np.ndarray, others: np.ndarray) -> int:
    """How many columns must change their view to make one partition of them the other."""
    shared = np.zeros((int(labels.max()) + 1, int(others.max()) + 1), dtype=int)
    np.add.at(shared, (labels, others), 1)
    return len(labels) - int(shared[linear_sum_assignment(-shared)].sum())
