"""TableBlocks, a table of typed cells in blocks of consecutive rows, and TypedBlocks, which keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sklearn_subanneal.columns._base import ColumnData
from sklearn_subanneal.columns.column_model import ColumnModel

# Sums are made within blocks of so many rows and added in the order of the blocks, whoever makes them, so that their
# bits do not depend on who does.
ROWS = 65_536


class TableBlocks:
    """A table in blocks; a subclass says where the cells are.

    Parameters
    ----------
    models : sequence of ColumnModel
    n_rows : int
    block_rows : int, default=65536
    """

    def __init__(self, models: Sequence[ColumnModel], n_rows: int, block_rows: int = ROWS):
        self.models, self.n_rows, self.block_rows = list(models), n_rows, block_rows

    @property
    def n_blocks(self) -> int:
        """How many there are."""
        return -(-self.n_rows // self.block_rows)

    def rows(self, i: int) -> slice:
        """The rows of a block."""
        return slice(i * self.block_rows, min((i + 1) * self.block_rows, self.n_rows))

    def cells(self, i: int, members: Sequence[int]) -> list[ColumnData]:
        """The cells of some models in a block."""
        raise TypeError(f"{type(self).__name__} must say where its cells are")

    def n_rows_of(self, i: int) -> int:
        """How many rows a block has."""
        rows = self.rows(i)
        return rows.stop - rows.start


class TypedBlocks(TableBlocks):
    """Typed cells, encoded once and kept in memory or in files.

    Parameters
    ----------
    models : sequence of ColumnModel
    pieces : iterable of (list of ndarray)
        Typed columns of consecutive rows, of any number.
    n_rows : int
    folder : path or None
        Where the cells are kept, one file for each block and model; None: in memory.
    block_rows : int, default=65536

    Attributes
    ----------
    units : float
        log |dz / dx| of all cells.
    """

    def __init__(self, models, pieces, n_rows: int, folder=None, block_rows: int = ROWS):
        super().__init__(models, n_rows, block_rows)
        self.folder, self._kept = None if folder is None else Path(folder), []
        self.units = 0.0
        waiting: list[np.ndarray] = []
        n_read = 0
        for arrays in pieces:
            waiting = [np.concatenate(pair) for pair in zip(waiting, arrays, strict=True)] if waiting else list(arrays)
            while len(waiting[0]) >= block_rows:
                self._keep([array[:block_rows] for array in waiting])
                waiting = [array[block_rows:] for array in waiting]
            n_read += len(arrays[0])
        if waiting and len(waiting[0]):
            self._keep(waiting)
        if n_read != n_rows:
            raise ValueError(
                f"the table had {n_rows} rows when it was opened, and {n_read} were read; keep it as it is"
            )

    def _keep(self, arrays: list[np.ndarray]) -> None:
        i, cells = len(self._kept), [model.data(arrays) for model in self.models]
        for model in self.models:
            self.units += float(np.sum(model.units(arrays) * np.ones(len(arrays[0]))))
        if self.folder is None:
            self._kept.append(cells)
            return
        for j, data in enumerate(cells):
            np.save(self.folder / f"{i}-{j}.npy", data.array)
        self._kept.append(None)

    def cells(self, i: int, members: Sequence[int]) -> list[ColumnData]:
        if self.folder is None:
            return [self._kept[i][j] for j in members]
        return [self.models[j].kept_data(np.load(self.folder / f"{i}-{j}.npy", mmap_mode="r")) for j in members]
