"""Tables with joint reals for the kernel of the views: cells and priors as the reference takes them."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.columns._normal import NormalData, NormalStatistics
from sklearn_subanneal.columns._reals import RealTable
from sklearn_subanneal.views._views import Views


def real_table(places, cells, params, grids=None, limits=None):
    """A `RealTable` whose columns have no correlations, unless `params` has vectors."""
    cells = np.asarray(cells, dtype=float)
    none = {"vectors": np.ones((len(places), 1)), "n_shared": 0, "spread": 1.0}
    grids = {name: np.asarray(grid, dtype=float) for name, grid in (grids or {}).items()}
    return RealTable(np.asarray(places, np.int32), cells, none | params, grids, limits)


def views_of(others, reals, column_prior, row_prior):
    """Views of a table.

    Parameters
    ----------
    others : dict
        Statistics of the columns that are not joint reals, by their places in the table.
    reals : RealTable
    column_prior, row_prior : PartitionPrior

    Returns
    -------
    views : Views
    """
    cells, columns = np.array(reals.filled), dict(others)
    cells[reals.missing] = np.nan
    own = reals.parameters
    for place, x, mu, sigma2 in zip(reals.places, cells.T, own["mu"], own["sigma2"], strict=True):
        prior = {"mu": mu, "sigma2": sigma2, "kappa": reals.kappa, "nu": reals.nu}
        columns[int(place)] = NormalStatistics(NormalData(x.astype(np.float32)), prior)
    return Views([columns[place] for place in range(len(columns))], column_prior, row_prior, len(cells), reals)
