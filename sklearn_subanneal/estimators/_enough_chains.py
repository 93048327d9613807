"""The number of chains of a fit: two where these agree, else four."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sklearn_subanneal.annealing.chain_result import ChainResult
from sklearn_subanneal.annealing.runner import ChainContext, run_chains
from sklearn_subanneal.annealing.spec import ChainSpec, run_spec
from sklearn_subanneal.annealing.stationarity import rise_score
from sklearn_subanneal.diagnostics import Convergence

AUTO = "auto"
# Chains that always run, and chains at most.
FIRST, MOST = 2, 4
# Two chains are enough if partitions of their draws have this adjusted Rand index. Where they have, the mean log
# density of new rows differed by less than .001 nats between two chains and four, in tables of 600 to 8,000 rows; where
# it was lower, four gained up to .4, and once 1.5.
ENOUGH_AGREEMENT = 0.98


def most_chains(n_chains: int | str) -> int:
    """The largest number of chains that the parameter ``n_chains`` allows."""
    return MOST if n_chains == AUTO else n_chains


def run_enough(
    specs: Sequence[ChainSpec],
    contexts: Callable[[Sequence[ChainSpec]], list[ChainContext]],
    n_jobs: int | None,
    may_end_early: bool,
) -> list[ChainResult]:
    """Run chains: all, or the first two alone if they agree.

    Parameters
    ----------
    specs : sequence of ChainSpec
    contexts : callable
        Makes the contexts of some of them.
    n_jobs : int or None
    may_end_early : bool
        Whether fewer chains than ``specs`` may be enough. All chains run where others than the first two continue an
        earlier fit.

    Returns
    -------
    results : list of ChainResult
    """
    if not may_end_early or any(spec.previous is not None for spec in specs[FIRST:]):
        return run_chains(run_spec, specs, contexts(specs), n_jobs)
    results = run_chains(run_spec, specs[:FIRST], contexts(specs[:FIRST]), n_jobs)
    if agree(results):
        return results
    return results + run_chains(run_spec, specs[FIRST:], contexts(specs[FIRST:]), n_jobs)


def agree(results: list[ChainResult]) -> bool:
    """Whether chains have converged, and ended in the same partition of the rows; with views, in each of them."""
    n_draws = min(len(result.draws) for result in results)
    draws = [result.draws[:n_draws] for result in results]
    log_joint = [[draw.log_joint for draw in own] for own in draws]
    rise_scores = [rise_score(result.trace, result.trace["n_assigned"].max()) for result in results]
    columns = None
    if hasattr(draws[0][0], "column_labels"):
        columns = np.array([[draw.column_labels for draw in own] for own in draws])
    for rows in _rows_by_view(results, columns, n_draws):
        found = Convergence.of(log_joint, rows, columns, rise_scores)
        # Without views their agreement is nan.
        if found.problems or found.row_agreement < ENOUGH_AGREEMENT or found.column_agreement < ENOUGH_AGREEMENT:
            return False
    return True


def _rows_by_view(results, columns, n_draws):
    """Labels of the rows, (n_chains, n_draws, n_rows): once, or in the views of the first column of each view."""
    labels = [result.labels[:n_draws] for result in results]
    if columns is None:
        yield np.array(labels)
        return
    for column in np.unique(columns[0, 0], return_index=True)[1]:
        views = columns[:, :, column]
        yield np.array([[labels[i][k][views[i, k]] for k in range(n_draws)] for i in range(len(labels))])
