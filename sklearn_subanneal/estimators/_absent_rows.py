"""Rows of weight 0, which no chain contains: their predicted labels, and their scores as new rows with `seen=True`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.mixture_chain import Draw
from sklearn_subanneal.mixtures.predictive import nearest_groups
from sklearn_subanneal.views.draws import ViewsDraw
from sklearn_subanneal.views.seen_rows import SeenRows


def fill_labels(
    labels: Iterable[np.ndarray],
    models: list[ColumnModel],
    draws: Iterable[Draw],
    arrays: Sequence[np.ndarray],
    absent: np.ndarray,
):
    """Set the labels of the absent rows, in each draw of a mixture, to the most probable cluster.

    Parameters
    ----------
    labels : iterable of ndarray of int, shape (n_rows,)
        For each draw; changed in place.
    models, draws
        Of the mixture.
    arrays : sequence of ndarray of shape (n_rows,)
        Typed columns of the table.
    absent : ndarray of int
        The rows that are in no draw.
    """
    if not absent.size:
        return
    rows = [array[absent] for array in arrays]
    for own, draw in zip(labels, draws, strict=True):
        own[absent] = nearest_groups(models, draw, rows, np.arange(len(draw.sizes)))


def fill_labels_of_views(
    labels: Iterable[np.ndarray],
    models: list[ColumnModel],
    draws: Iterable[ViewsDraw],
    arrays: Sequence[np.ndarray],
    absent: np.ndarray,
):
    """The same for the draws of views, with labels (n_views, n_rows) for each."""
    for own, draw in zip(labels, draws, strict=True):
        for v, view in enumerate(draw.views):
            fill_labels([own[v]], [models[j] for j in draw.members(v)], [view], arrays, absent)


def judge_training_rows(
    judge: Callable[..., np.ndarray], seen: SeenRows, absent: np.ndarray, rows: np.ndarray | None = None
) -> np.ndarray:
    """Values of rows of the training table, in which rows that are in no draw count as new.

    Parameters
    ----------
    judge : callable
        ``judge(rows, seen)`` gives the values of training rows, ``judge(rows)`` those of new rows.
    seen : SeenRows
        All rows of the training table.
    absent : ndarray of int
        The rows that are in no draw.
    rows : ndarray of int, default=None
        Those that are judged; None: all.
    """
    if not absent.size:
        return judge(slice(None), seen) if rows is None else judge(rows, seen.take(rows))
    rows = np.arange(seen.labels[0].shape[1]) if rows is None else rows
    present = np.flatnonzero(~np.isin(rows, absent))
    values = judge(rows)
    values[present] = judge(rows[present], seen.take(rows[present]))
    return values
