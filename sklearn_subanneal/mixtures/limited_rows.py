"""Rows and imputations drawn from the predictive, given that no number is far beyond the training cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.ensemble import Ensemble, missing
from sklearn_subanneal.mixtures.missing_cells import filled_by_draws

# Cells are drawn again so many times. Those left are rare, unless their known cells are far from all training rows.
MOST_ROUNDS = 20


def limited_rows(
    ensemble: Ensemble, n_rows: int, generator: np.random.Generator, given: list[np.ndarray] | None = None
) -> list[np.ndarray]:
    """Rows of :meth:`Ensemble.sample`, in which cells beyond ``drawn_between`` of their models are drawn again.

    They are drawn given the other cells of their rows, which stay: rows whose missing cells can only be far away, as
    the first years of a series that began later, are as frequent as the model says. What is still beyond after twenty
    rounds is put at the limit. In columns of whole numbers, drawn cells are whole, too; cyclic ones are rounded around
    the circle by their model.

    Parameters
    ----------
    ensemble, n_rows, generator, given
        As of :meth:`Ensemble.sample`. Given cells may be anywhere.

    Returns
    -------
    arrays : list of ndarray of shape (n_rows,)
        Typed columns.
    """
    out = ensemble.sample(n_rows, generator, given)
    drawn = np.ones((1, len(out)), bool) if given is None else missing(given)
    free = np.broadcast_to(drawn, (n_rows, drawn.shape[1]))
    limits = _limits(ensemble, len(out))
    out = within_limits(limits, out, free, lambda rows, cells: filled_by_draws(ensemble, cells, generator))
    return with_whole_cells(ensemble.models, out, free)


def with_whole_cells(models: Sequence[ColumnModel], arrays: list[np.ndarray], drawn: np.ndarray) -> list[np.ndarray]:
    """Drawn cells rounded in columns of whole numbers.

    Parameters
    ----------
    models : sequence of ColumnModel
    arrays : list of ndarray of shape (n_rows,)
        Typed columns.
    drawn : ndarray of bool, shape (n_rows, n_columns)
        Which cells were drawn; others stay.
    """
    out = list(arrays)
    for model in models:
        # Without a word on a column, its numbers may be any.
        for j, is_whole in zip(model.sources, model.whole or [False] * len(model.sources), strict=True):
            if is_whole:
                out[j] = np.where(drawn[:, j], np.rint(out[j]), out[j])
    return out


def limited_imputations(
    ensemble: Ensemble, arrays: list[np.ndarray], generator: np.random.Generator
) -> list[np.ndarray]:
    """As :func:`filled_by_draws`, drawn cells being limited as those of :func:`limited_rows`.

    Parameters
    ----------
    ensemble, arrays, generator
        As of :func:`filled_by_draws`.

    Returns
    -------
    filled : list of ndarray of shape (n_rows,)
    """
    out = filled_by_draws(ensemble, arrays, generator)
    limits = _limits(ensemble, len(out))
    return within_limits(limits, out, missing(arrays), lambda rows, cells: filled_by_draws(ensemble, cells, generator))


def within_limits(
    limits: list[np.ndarray | None],
    out: list[np.ndarray],
    free: np.ndarray,
    draw: Callable[[np.ndarray, list[np.ndarray]], list[np.ndarray]],
) -> list[np.ndarray]:
    """Rows that were drawn, cells beyond their limits drawn again, at most twenty times.

    Parameters
    ----------
    limits : list of ndarray of shape (2,) or None
        The least and the largest cell of each column; None: any.
    out : list of ndarray of shape (n_rows,)
        Typed columns.
    free : ndarray of bool, shape (n_rows, n_columns)
        The cells that were drawn, and are not known.
    draw : callable
        ``draw(rows, cells)`` are the columns of these rows, those of their ``cells`` drawn that are beyond the limits
        and are missing there.

    Returns
    -------
    out : list of ndarray of shape (n_rows,)
    """
    limited = [j for j, own in enumerate(limits) if own is not None and free[:, j].any()]
    for _ in range(MOST_ROUNDS):
        beyond = {j: free[:, j] & ((out[j] < limits[j][0]) | (out[j] > limits[j][1])) for j in limited}
        rows = np.flatnonzero(np.any(list(beyond.values()), axis=0)) if beyond else []
        if not len(rows):
            return out
        cells = [column[rows] for column in out]
        for j, own in beyond.items():
            cells[j][own[rows]] = np.nan if cells[j].dtype.kind == "f" else -1
        for column, drawn in zip(out, draw(rows, cells), strict=True):
            column[rows] = drawn
    for j in limited:
        out[j] = np.where(free[:, j], np.clip(out[j], *limits[j]), out[j]).astype(out[j].dtype)
    return out


def _limits(ensemble: Ensemble, n_columns: int) -> list[np.ndarray | None]:
    """Of each column of the table."""
    out: list[np.ndarray | None] = [None] * n_columns
    for model in ensemble.models:
        if model.drawn_between is not None:
            for j, own in zip(model.sources, model.drawn_between.T, strict=True):
                out[j] = own
    return out
