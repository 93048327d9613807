"""predict_each_column: training cells of single columns, each predicted from the others of its row, all at once."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from scipy.special import softmax

from sklearn_subanneal.columns.cell_ranges import limited_moments
from sklearn_subanneal.mixtures.ensemble import Ensemble

# So many log densities are held at once, 32 MB: those of all parts of a view.
MOST_DENSITIES = 4_000_000


def predict_each_column(
    average: Ensemble, arrays: list[np.ndarray], columns: Collection[int]
) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Columns of numbers that are single parts of their views, each given the other cells of the rows.

    It is what ``average.predict`` gives with all cells of the column missing. There the densities of all other columns
    are computed for each column, so that the time grows with the square of their number; here once, and the part of the
    column is taken out of the sum.

    Parameters
    ----------
    average : Ensemble
        Of training rows that are left out of their clusters; its draws keep their weights. Each model has one column.
    arrays : list of ndarray of shape (n_rows,)
        The cells of these rows.
    columns : collection of int
        Numbers, none of them joint.

    Returns
    -------
    predictions : dict of int to (ndarray of shape (n_rows,), ndarray of shape (n_rows,))
        Means and standard deviations, as of ``average.predict`` with ``seen=True`` and ``far=False``.
    """
    n_rows, shares, wanted = len(arrays[0]), softmax(average.log_weights), set(columns)
    found = {j: (np.empty(n_rows), np.empty(n_rows)) for j in columns}
    for rows, cells in average.cells(arrays, average.most_clusters * len(arrays), most=MOST_DENSITIES):
        first, second = dict.fromkeys(columns, 0.0), dict.fromkeys(columns, 0.0)
        for factors, share in zip(average.products, shares, strict=True):
            for factor in factors:
                if wanted.isdisjoint(factor.members):
                    continue
                parts = [(part, densities) for part, densities, _ in factor.scored(cells)]
                joint = factor.log_shares(cells) + sum(densities for _, densities in parts)
                for part, densities in parts:
                    j = part.members[0]
                    if part.is_block or j not in wanted:
                        continue
                    weights = share * softmax(joint - densities, axis=1)
                    moments = factor.expectations_without(average.models, part, cells, weights, True)[j]
                    ends = average.models[j].limits_of_means(False)
                    one, two = limited_moments(*moments, np.full((cells.n_rows, 1), share), ends)
                    first[j], second[j] = first[j] + one, None if two is None else second[j] + two
        for j in columns:
            means, deviations = average.models[j].summary(first[j], second[j])
            found[j][0][rows], found[j][1][rows] = means[:, 0], deviations[:, 0]
    return found
