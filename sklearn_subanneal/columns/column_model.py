"""ColumnModel, the base class of all types of columns: typing of cells, prior, kernels, and units of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from sklearn_subanneal.columns._base import ColumnData, ColumnStatistics
from sklearn_subanneal.columns._cluster_parameters import ClusterParameters
from sklearn_subanneal.columns.few_levels import nearest_levels
from sklearn_subanneal.columns.intervals import Interval
from sklearn_subanneal.columns.parameters import Hyperparameter, draw_on_grid, nearest_on_grid
from sklearn_subanneal.columns.transforms import IDENTITY, Transform

# Cells that are more standard units away count as so far: squares of their distances, and sums of these, are finite.
FARTHEST = 1e100
# What is drawn or predicted beyond the range of floating point is at its end.
LARGEST_CELL = np.finfo(np.float64).max


@dataclass(frozen=True)
class ColumnModel:
    """One column of a mixture, or one block of columns: its encoding and its prior.

    Each type of column is a subclass, and is registered in ``KINDS`` of ``columns/binding.py``. The defaults are those
    of a column of numbers whose predictions are means and standard deviations; a type overrides the others.

    Attributes
    ----------
    kind : str
        The name of the type, a key of ``feature_params``.
    declared : bool
        Whether ``feature_types`` may name it.
    hyperparameters : dict of str to Hyperparameter
        The keys of ``feature_params[kind]``, and those of ``feature_grids[kind]``.
    dtype : type
        Of typed cells: float64 with NaN for missing, or integers with -1 for missing.
    largest : int or None
        Of integers, which begin with 0; None: the cells are reals.
    remedy : str
        Advice for a cell that is not such a number, part of an error message.
    categories : tuple or None
        The values that the type has in every table.
    coded : bool
        Whether the values that occur in the table are its categories.
    ordered : bool
        Whether these have an order: that of the dtype, or of the numbers.
    split : None
        A column of the table is modelled by one column; see ``sklearn_subanneal.tables.cell_type.CellType``.
    discrete : bool
        Whether predictions are probabilities of few values, and not moments.
    single : bool
        Whether it is one column of the table, whose predictive distribution given the cluster does not depend on the
        other cells of the row.
    has_moments : bool
        Whether cells have a mean and a variance in the units of the data: not of categories, of angles, or where a
        ``transform`` was chosen.
    joint : bool
        Whether the columns of this type that share a view are one block, with a joint density given the cluster.
    learned_from : (int, float)
        Hyperparameters are first learned from so many rows, or from this share of the table where that is less.
    data_class, statistics_class : subclass of ColumnData, of ColumnStatistics
        The kernels. ``statistics_class`` is called with data, hyperparameters and grids.
    parameters_class : subclass of ClusterParameters, or None
        The kernel that scores rows given drawn parameters of the clusters; None: the type has none.
    name : str
        Of the column; of a block, its kind.
    sources : tuple of int
        The columns of the table.
    parameters : dict
        Hyperparameters at the start, in standard units.
    grids : dict
        Hyperparameters to learn, in standard units.
    center, scale : ndarray of shape (len(sources),)
        Standard units are (u(x) - center) / scale, where u is the ``transform``.
    stateful : bool
        Whether missing cells of this table are part of a chain's state, drawn anew whenever their row moves: where the
        type is not conjugate with a cell missing. Moves that need conjugate columns refuse a model with such state.
    transform : Transform
        An increasing function of the cells, learned from the training data alone; by default u(x) = x. Its slope enters
        every density.
    limits : ndarray of shape (2, len(sources)) or None
        The least and the largest value, in standard units, that a missing cell can have that is part of a chain's
        state; None: any.
    levels : tuple
        For each column of the table its numbers, if they are few and repeat, else None; imputed cells are the nearest
        of these. Empty: there are none.
    whole : tuple of bool
        For each column of the table whether all its numbers are whole; imputed cells are whole then, too.
    drawn_between : ndarray of shape (2, len(sources)) or None
        The least and the largest cell of rows that are drawn, in the units of the data; None: any.
    """

    kind: ClassVar[str]
    declared: ClassVar[bool] = True
    hyperparameters: ClassVar[dict[str, Hyperparameter]]
    dtype: ClassVar[type] = np.float64
    largest: ClassVar[int | None] = None
    remedy: ClassVar[str] = ""
    categories: ClassVar[tuple | None] = None
    coded: ClassVar[bool] = False
    ordered: ClassVar[bool] = False
    split: ClassVar[None] = None
    discrete: ClassVar[bool] = False
    single: ClassVar[bool] = True
    has_moments: ClassVar[bool] = False
    joint: ClassVar[bool] = False
    learned_from: ClassVar[tuple[int, float]] = (64, 1 / 4)
    data_class: ClassVar[type[ColumnData]]
    statistics_class: ClassVar[type[ColumnStatistics]]
    parameters_class: ClassVar[type[ClusterParameters] | None] = None

    name: str
    sources: tuple[int, ...]
    parameters: dict
    grids: dict
    center: np.ndarray = field(default_factory=lambda: np.zeros(1))
    scale: np.ndarray = field(default_factory=lambda: np.ones(1))
    stateful: bool = False
    transform: Transform = IDENTITY
    limits: np.ndarray | None = None
    levels: tuple[np.ndarray | None, ...] = ()
    whole: tuple[bool, ...] = ()
    drawn_between: np.ndarray | None = None

    @classmethod
    def bind(cls, name, sources, cells, given, *, n_categories, learn, grids) -> ColumnModel:
        """The model of a column of a table.

        Parameters
        ----------
        name : str
        sources : tuple of int
            Where the column is in the table.
        cells : ndarray of shape (n_rows,) or (n_rows, len(sources))
            Typed cells.
        given : dict
            Hyperparameters that the user gives, checked, in the units of the data.
        n_categories : int
        learn : bool
            Whether there are grids.
        grids : {"data", "fixed"}
            Grids in units of the cells, or absolute ones.

        Raises
        ------
        ValueError
            If a hyperparameter does not suit the cells.
        """
        raise TypeError(f"{cls.__name__} must say how it is bound to a column")

    def with_grids(self, given: dict, cells: np.ndarray) -> ColumnModel:
        """The same model with grids that the user gives for some of its hyperparameters.

        A chain starts at the value of such a grid that is the nearest to the present start.

        Parameters
        ----------
        given : dict of str to array-like
            Checked, in the units of the data.
        cells : ndarray of shape (n_rows,) or (n_rows, len(sources))
            Typed cells.

        Raises
        ------
        ValueError
            If a grid does not suit the other hyperparameters or the cells.
        """
        if not given:
            return self
        grids = {name: self.standard_grid(name, np.asarray(values, np.float64)) for name, values in given.items()}
        start = {name: nearest_on_grid(grid, self.parameters[name]) for name, grid in grids.items()}
        return replace(self, parameters=self.parameters | start, grids=self.grids | grids)

    def standard_grid(self, name: str, values: np.ndarray) -> np.ndarray:
        """A grid that the user gives, in standard units and in the form that the kernel takes."""
        return values

    def draw_parameters(self, generator: np.random.Generator) -> dict:
        """Hyperparameters drawn from their prior, in standard units: independent, and uniform on their grids."""
        drawn = {name: draw_on_grid(grid, generator) for name, grid in self.grids.items()}
        return self.parameters | drawn

    def prior_state(self, parameters: dict) -> dict:
        """The state of a chain's hyperparameters, as ``get_prior_state`` has it, of which these are the known part."""
        return {"parameters": parameters}

    @property
    def with_moments(self) -> np.ndarray:
        """Which of its columns have moments, as ``has_moments`` says."""
        return np.full(len(self.sources), self.has_moments)

    @property
    def n_values(self) -> int:
        """How many values a discrete column can take; 0 for the others."""
        return 0

    def data(self, arrays: list[np.ndarray]) -> ColumnData:
        """Encode the columns of a table for the kernels."""
        return self.data_class(arrays[self.sources[0]])

    def kept_data(self, array: np.ndarray) -> ColumnData:
        """The encoded columns from the array that they kept."""
        return self.data_class(array)

    def statistics(self, data: ColumnData | None = None, parameters: dict | None = None) -> ColumnStatistics:
        """Empty statistics of this column."""
        return self.statistics_class(data, self.parameters if parameters is None else parameters, self.grids)

    def _cells(self, arrays: list[np.ndarray]) -> np.ndarray:
        return np.column_stack([arrays[j] for j in self.sources]).astype(np.float64, copy=False)

    def values(self, arrays: list[np.ndarray]) -> np.ndarray:
        """The columns as float64 (n_rows, width) in standard units, missing cells NaN."""
        cells = self._cells(arrays)
        if self.largest is not None:
            return np.where(cells < 0, np.nan, cells)
        self.transform.check(self.name, cells)
        with np.errstate(over="ignore"):
            values = (self.transform.forward(cells) - self.center) / self.scale
        return np.clip(values, -FARTHEST, FARTHEST)

    def cells_per_row(self, arrays: list[np.ndarray]) -> float:
        """Average number of cells of a row that a kernel scores."""
        return len(self.sources)

    def restore(self, values: np.ndarray) -> np.ndarray:
        """Standard units back to those of the data, (n_rows, width)."""
        with np.errstate(over="ignore"):
            return np.clip(self.transform.inverse(values * self.scale + self.center), -LARGEST_CELL, LARGEST_CELL)

    def typed(self, values: np.ndarray) -> list[np.ndarray]:
        """Complete values in standard units as typed cells, one array for each column."""
        columns = self.restore(values).T
        if self.largest is None:
            return [column.copy() for column in columns]
        # Draws may be beyond the largest integer that a cell can be.
        return [np.minimum(column, self.largest).astype(np.int32) for column in columns]

    def log_jacobian(self, values: np.ndarray) -> np.ndarray | float:
        """log abs(dz / dx) of the observed cells of each row."""
        if self._has_own_units():
            return 0.0
        slope = self.transform.log_slope(values * self.scale + self.center) - np.log(self.scale)
        return np.where(np.isnan(values), 0.0, slope).sum(axis=1)

    def left_out_log_jacobian(self, values: np.ndarray) -> np.ndarray | float:
        """``log_jacobian`` of training rows, by transformations in which the cell itself has no part."""
        return self.log_jacobian(values)

    def units(self, arrays: list[np.ndarray]) -> np.ndarray | float:
        """``log_jacobian`` of the rows of a chain, whose missing cells may be part of its state."""
        return 0.0 if self._has_own_units() else self.log_jacobian(self.values(arrays))

    def _has_own_units(self) -> bool:
        """Whether the units of the data are the standard ones, up to the center."""
        return bool(np.all(self.scale == 1)) and self.transform == IDENTITY

    def report(self, parameters: dict) -> dict:
        """Hyperparameters in the units of the data, under the names that ``feature_params`` uses."""
        return dict(parameters)

    def cluster_expectations(self, column: ColumnStatistics, n_clusters: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Quantities to average over clusters and draws, here the first two moments; ``summary`` predicts from them.

        Returns
        -------
        first, second : ndarray of shape (n_clusters, n_values) each; ``second`` may be None
        """
        mean, variance = (moment[0] for moment in column.conditional_moments(np.empty((1, 1)), n_clusters))
        return mean, variance + mean**2

    def expectations(
        self, column: ColumnStatistics, values: np.ndarray, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Averages of ``cluster_expectations``; of a block, given the observed cells of the rows.

        Parameters
        ----------
        column : ColumnStatistics
        values, weights : ndarray of shape (n_rows, width) and (n_rows, n_clusters)

        Returns
        -------
        first, second : ndarray of shape (n_rows, n_values) each; ``second`` may be None
        """
        first, second = self.cluster_expectations(column, weights.shape[1])
        return weights @ first, None if second is None else weights @ second

    def limits_of_means(self, far: bool) -> np.ndarray | None:
        """Where the expectations of a draw are, (2, width) in standard units; None: anywhere.

        In the range of the training cells, or, ``far``, where drawn cells are.
        """
        return None

    def admissible(self, values: np.ndarray) -> np.ndarray:
        """Values of a row to be sampled, with marks where a missing cell may not take every value of the model."""
        return values

    def probabilities(self, first: np.ndarray) -> np.ndarray:
        """Of a discrete type, from ``first``: of each category, given that the cell has one of them."""
        return first

    def summary(self, first: np.ndarray, second: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Value and uncertainty, (n_rows, width) in the units of the data: mean and standard deviation."""
        with np.errstate(over="ignore"):
            deviation = np.sqrt(np.maximum(second - first**2, 0.0)) * self.scale
        return self.restore(first), np.minimum(deviation, LARGEST_CELL)

    def imputed(self, value: np.ndarray, first: np.ndarray) -> np.ndarray:
        """Predicted values as cells of this type, for example rounded to integers, or to the few numbers of a column.

        ``value`` is that of ``summary``, (n_rows, width), and ``first`` that of ``expectations``.
        """
        return np.column_stack([*map(nearest_levels, value.T, self.levels, self.whole)]) if self.levels else value

    def interval_probabilities(
        self, column: ColumnStatistics, intervals: Sequence[Interval], n_clusters: int
    ) -> np.ndarray:
        """Predictive probabilities (n_intervals, n_clusters) that a cell is in an interval; no discrete type has them.

        The ``intervals`` are in the units of the data.
        """
        raise TypeError(f"{type(self).__name__} must say how probable intervals of its cells are")

    def log_masses(self, column: ColumnStatistics, values: np.ndarray, n_clusters: int) -> np.ndarray:
        """The part of the log scores that is a log probability, for reports in which it stands apart from densities.

        Scores of a type whose cells are integers are log probabilities as a whole; those of reals are log densities as
        a whole, and this part is 0. The cell of a semicontinuous column has a log probability, of being the atom that
        it is or of being one of the rest, and in the latter case a log density besides. The difference of the score and
        this part is the log density of the cell given that it is one of the rest, in standard units.

        Parameters
        ----------
        column : ColumnStatistics
        values : ndarray of shape (n_rows, width)
            Missing cells are NaN.
        n_clusters : int

        Returns
        -------
        log_masses : ndarray of shape (n_rows, n_clusters)
            0 where the cell is missing.
        """
        return np.zeros((len(values), n_clusters)) if self.largest is None else column.log_densities(values, n_clusters)
