"""The partition of the columns with which a chain starts, and another one if nothing comes of it."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.columns._reals import RealTable
from sklearn_subanneal.views._views import Views
from sklearn_subanneal.views.correlated_columns import correlated_columns

#: Names of such partitions.
STARTS = ("separate", "together", "prior")
# Of the tenth of the rows that is assigned when columns may first move, even clusters of two rows leave fewer alone; of
# 1,000 rows of a table of 200,000, clusters of eight rows do.
ALONE = 0.98


def first_column_labels(
    start: str | None, views: Views, reals: RealTable | None, generator: np.random.Generator
) -> np.ndarray:
    """The view of each column at the start of a chain.

    Parameters
    ----------
    start : {"separate", "together", "prior"} or None
        See :class:`~sklearn_subanneal.views.views_chain.ViewsChain`.
    views : Views
    reals : RealTable or None
        The joint reals.
    generator : numpy.random.Generator

    Returns
    -------
    column_labels : ndarray of int, shape (n_columns,)

    Raises
    ------
    ValueError
        If there is no such start.
    """
    n_columns = views.n_columns
    if start is None and reals is not None:
        # Each group of correlated reals has a view, that of its first column.
        labels, places = np.arange(n_columns), np.asarray(reals.places)
        groups = correlated_columns(reals.observed)
        labels[places] = places[np.unique(groups, return_index=True)[1][groups]]
        return np.unique(labels, return_inverse=True)[1]
    if start in (None, "separate"):
        return np.arange(n_columns)
    if start == "together":
        return np.zeros(n_columns, np.int32)
    if start == "prior":
        return views.prior.draw_partition(n_columns, generator)
    raise ValueError(f"start must be one of {STARTS}, got {start!r}")


def part_columns(views: Views, rows: np.ndarray) -> bool:
    """Part columns of a single view in which nearly every row is alone; in the new views, all rows are in one cluster.

    If many columns have no clusters in common, the hyperparameters are soon such that rows stay alone: a prior of the
    clusters that suits the whole table, and clusters so narrow that no two rows suit one. Chains do not leave this
    state. A single cluster has about the same likelihood, and chains leave it where there are clusters.

    Parameters
    ----------
    views : Views
        Of a chain that has not arrived.
    rows : ndarray of int32
        The rows that are assigned.

    Returns
    -------
    have_parted : bool
    """
    if views.n_views > 1 or views.mixtures[0].n_clusters < ALONE * len(rows):
        return False
    labels = np.full((views.n_columns, views.row_labels.shape[1]), -1, np.int8)
    labels[:, rows] = 0
    views.set_state(np.arange(views.n_columns, dtype=np.int32), labels)
    views.rebuild(rows)
    return True
