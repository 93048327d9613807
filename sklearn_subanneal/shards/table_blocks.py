"""TableBlocks, a table of typed cells in blocks of consecutive rows, and KeptBlocks, which keeps them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from sklearn_subanneal.columns._base import ColumnData
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.shards.sums import branches, total

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
    first_row : int, default=0
        Number of its first row, if it is a part of a larger table.
    """

    def __init__(self, models: Sequence[ColumnModel], n_rows: int, block_rows: int = ROWS, first_row: int = 0):
        self.models, self.n_rows, self.block_rows, self.first_row = list(models), n_rows, block_rows, first_row

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


class KeptCells:
    """The typed cells of one block, in memory or in files.

    Parameters
    ----------
    models : sequence of ColumnModel
    arrays : list of ndarray
        Typed columns of its rows.
    folder : path or None
        Where the cells are kept, one file for each model; None: in memory.
    name : str
        With which the names of the files begin.

    Attributes
    ----------
    units : float
        log |dz / dx| of all cells.
    """

    def __init__(self, models: Sequence[ColumnModel], arrays: list[np.ndarray], folder=None, name: str = ""):
        n_rows = len(arrays[0])
        self.units = float(sum(np.sum(model.units(arrays) * np.ones(n_rows)) for model in models))
        self._paths, self._cells = [], [model.data(arrays) for model in models]
        if folder is None:
            return
        for j, data in enumerate(self._cells):
            path = Path(folder) / f"{name}-{j}.npy"
            # The same block may be written by two workers, one of which was thought to be dead, and read by a third.
            with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
                np.save(file, data.array)
            os.replace(file.name, path)
            self._paths.append(path)
        self._cells = []

    def cells(self, models: Sequence[ColumnModel], members: Sequence[int]) -> list[ColumnData]:
        """Those of some of the models."""
        if not self._paths:
            return [self._cells[j] for j in members]
        return [models[j].kept_data(np.load(self._paths[j], mmap_mode="r")) for j in members]

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + sum(data.array.nbytes for data in self._cells)


class KeptBlocks(TableBlocks):
    """A table of typed cells that are kept.

    Parameters
    ----------
    models : sequence of ColumnModel
    kept : list of KeptCells
        Of each block.
    n_rows, block_rows, first_row : int
        As of :class:`TableBlocks`.
    """

    def __init__(self, models, kept: list[KeptCells], n_rows: int, block_rows: int = ROWS, first_row: int = 0):
        super().__init__(models, n_rows, block_rows, first_row)
        self.kept = kept

    @property
    def units(self) -> float:
        """log |dz / dx| of all cells."""
        return float(total(branches([own.units for own in self.kept])))

    def cells(self, i: int, members: Sequence[int]) -> list[ColumnData]:
        return self.kept[i].cells(self.models, members)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + sum(own.__sizeof__() for own in self.kept)


def typed_blocks(models, pieces: Iterable, n_rows: int, folder=None, block_rows: int = ROWS) -> KeptBlocks:
    """The blocks of a table of typed cells, which are encoded once.

    Parameters
    ----------
    models : sequence of ColumnModel
    pieces : iterable of (list of ndarray)
        Typed columns of consecutive rows, of any number.
    n_rows : int
    folder : path or None
        Where the cells are kept, one file for each block and model; None: in memory.
    block_rows : int, default=65536
    """
    kept: list[KeptCells] = []
    waiting: list[np.ndarray] = []
    n_read = 0

    def keep(arrays):
        kept.append(KeptCells(models, arrays, folder, str(len(kept))))

    for arrays in pieces:
        waiting = [np.concatenate(pair) for pair in zip(waiting, arrays, strict=True)] if waiting else list(arrays)
        while len(waiting[0]) >= block_rows:
            keep([array[:block_rows] for array in waiting])
            waiting = [array[block_rows:] for array in waiting]
        n_read += len(arrays[0])
    if waiting and len(waiting[0]):
        keep(waiting)
    if n_read != n_rows:
        raise ValueError(f"the table had {n_rows} rows when it was opened, and {n_read} were read; keep it as it is")
    return KeptBlocks(models, kept, n_rows, block_rows)
