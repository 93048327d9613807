"""Pools by which missing cells of discrete columns are predicted: one for each column, learned from its known cells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import inf

import numpy as np

from sklearn_subanneal.annealing import clock
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.tables.cells import is_missing
from sklearn_subanneal.views.draws import ViewsDraw
from sklearn_subanneal.views.left_out_evidence import LeftOutEvidence, most_rows
from sklearn_subanneal.views.left_out_rows import LeftOutRows
from sklearn_subanneal.views.logarithmic_pool import LogarithmicPool
from sklearn_subanneal.views.pool_learning import learned_pool

# Columns of more categories are names of rows rather than classes of them, and are predicted by the model alone.
MOST_CATEGORIES = 1000
# At most so many columns have pools: the time to learn one grows with the number of columns of the table.
MOST_POOLS = 100
# All pools have together at most so many opinions, each of one view of a draw; but one draw of each chain at least.
MOST_OPINIONS = 4000
# A pool is learned from at most so many rows, and from fewer if so many columns have pools that all rows are more.
MOST_ROWS, MOST_ROWS_OF_ALL, FEWEST_ROWS = 600, 30_000, 100
# The pools share what views say of so many times these rows, of which each takes those that have its class. One that
# finds less than this part of the rows that it could have looks at rows of its own.
SHARED, ENOUGH = 2, 0.75


def learned_pools(
    models: list[ColumnModel],
    chains: list[list[ViewsDraw]],
    labels: list[np.ndarray],
    arrays: list[np.ndarray],
    left_out: LeftOutRows,
    columns: Iterable[int],
    until: float = inf,
) -> tuple[np.ndarray, list[LogarithmicPool]]:
    """The pools of some discrete columns that have two to a thousand categories: of those that miss most cells.

    Parameters
    ----------
    models, chains, labels, arrays, left_out
        As of :func:`learned_pool`; cells of the columns may be missing.
    columns : iterable of int
    until : float, default=inf
        From this time on, of the ``clock`` of chains, no further pool is begun. Those of columns that miss most cells
        come first.

    Returns
    -------
    numbers : ndarray of int
        The draws, those of the first chain first, of which the pools are.
    pools : list of LogarithmicPool
        Of those columns in which two values occur at least.
    """
    able = [
        j
        for j in columns
        if 2 <= models[j].n_values <= MOST_CATEGORIES and np.ptp(arrays[j][~is_missing(arrays[j])]) > 0
    ]
    columns = sorted(able, key=lambda j: -np.count_nonzero(is_missing(arrays[j])))[:MOST_POOLS]
    most = max(min(MOST_ROWS, MOST_ROWS_OF_ALL // max(len(columns), 1)), FEWEST_ROWS)
    n_views, n_each = max(len(chain[-1].views) for chain in chains), len(chains[0])
    n_used = int(np.clip(MOST_OPINIONS // max(n_views * len(chains) * len(columns), 1), 1, n_each))
    used = np.linspace(0, n_each - 1, n_used).astype(int)
    numbers = (n_each * np.arange(len(chains))[:, None] + used).ravel()
    chains = [[chain[s] for s in used] for chain in chains]
    labels = [labels[s] for s in numbers]
    left_out = replace(left_out, seen=left_out.seen.of_draws(numbers))
    if not columns or clock.now() >= until:
        return numbers, []
    limit = most_rows(models, chains, max(models[j].n_values for j in columns))
    shared, pools = LeftOutEvidence.of(models, chains, left_out.some(min(SHARED * most, limit))), {}
    for j in columns:
        if clock.now() >= until:
            break
        known = ~is_missing(arrays[j])
        of_rows = [own[:, known] for own in labels], [array[known] for array in arrays]
        rows = left_out.take(np.flatnonzero(~is_missing(left_out.arrays[j]))).some(most)
        if not len(rows.counts):
            # The model alone predicts it.
            continue
        found = np.flatnonzero(~is_missing(shared.rows.arrays[j]))
        evidence = None
        if len(found) >= ENOUGH * min(len(rows.counts), limit):
            evidence = shared.take(found[np.linspace(0, len(found) - 1, min(len(found), most)).astype(int)])
        pools[j] = learned_pool(models, chains, *of_rows, rows, j, evidence)
    return numbers, [pools[j] for j in sorted(pools)]
