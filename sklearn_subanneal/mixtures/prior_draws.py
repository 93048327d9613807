"""Draws of whole tables given partitions and hyperparameters, and statistics of draws, for calibration."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sklearn_subanneal.annealing._window import Window
from sklearn_subanneal.columns._base import ColumnStatistics
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.partitions import Partition
from sklearn_subanneal.partitions.prior_parameters import is_learned
from sklearn_subanneal.tables.cells import is_missing

# Of the entries of a hyperparameter that is an array, so many are statistics.
N_ENTRIES = 2


def draw_rows(
    statistics_of: Callable[[np.ndarray], ColumnStatistics],
    width: int,
    labels: np.ndarray,
    generator: np.random.Generator,
) -> np.ndarray:
    """Rows of a column, or of a block of columns, each from its predictive distribution given the rows before it.

    Parameters
    ----------
    statistics_of : callable, values -> ColumnStatistics
        Empty statistics of values of shape (n_rows, width).
    width : int
    labels : ndarray of int, shape (n_rows,)
        Cluster of each row.
    generator : numpy.random.Generator

    Returns
    -------
    values : ndarray of shape (n_rows, width)
        In standard units.
    """
    values, rows = np.zeros((len(labels), width)), np.arange(len(labels))
    for row, cluster in enumerate(labels):
        statistics = statistics_of(values)
        statistics.rebuild(np.where(rows < row, labels, -1))
        drawn = np.full((1, width), np.nan)
        values[row] = statistics.draws(np.array([cluster], np.int32), drawn, generator)[0]
    return values


def draw_column(
    model: ColumnModel, parameters: dict, labels: np.ndarray, generator: np.random.Generator
) -> list[np.ndarray]:
    """Typed cells of a column, or of each column of a block, given the partition and the hyperparameters.

    A categorical cell may have the code of the unseen value, which is a value of the model like the others.
    """

    def statistics_of(values):
        arrays = dict(zip(model.sources, model.typed(values), strict=True))
        return model.statistics(model.data(arrays), parameters)

    return model.typed(draw_rows(statistics_of, len(model.sources), labels, generator))


def hide_cells(cells: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Typed cells of a column without those that another one misses."""
    return np.where(is_missing(like), np.nan if cells.dtype.kind == "f" else -1, cells).astype(cells.dtype)


def full_window(n_rows: int) -> Window:
    """The window of a chain in which all rows are."""
    window = Window([0, n_rows], [1.0], True)
    window.fill()
    return window


def log_likelihood(statistics: ColumnStatistics, labels: np.ndarray) -> float:
    """Log marginal likelihood of a column given its hyperparameters and a partition of the rows.

    In a block of reals, of the rows without missing cells alone.
    """
    complete = np.array([not statistics.is_incomplete(row) for row in range(len(labels))])
    statistics.rebuild(np.where(complete, labels, -1))
    return float(statistics.log_marginals(int(labels.max()) + 1).sum())


def partition_statistics(partition: Partition, values: dict, prefix: str = "") -> dict[str, float]:
    """The parameters of a bound prior that are learned, and its auxiliary variable, if it has one."""
    learned = {name for name, value in partition.get_params(deep=False).items() if is_learned(value)}
    return {prefix + name: values[name] for name in values if name in learned or name == "log_u"}


def column_statistics(model: ColumnModel, parameters: dict) -> dict[str, float]:
    """The hyperparameters of a column that are learned, in the units of the data; the first entries of arrays."""
    out = {}
    for name, value in model.report(parameters).items():
        if name == "psi" or model.hyperparameters[name].learned:
            entries = np.ravel(value)[:N_ENTRIES]
            for i, entry in enumerate(entries):
                out[f"{model.name} {name}" + f"[{i}]" * (len(entries) > 1)] = entry
    return out
