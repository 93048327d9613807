"""TableBlocks, a table of typed cells in blocks of consecutive rows, and KeptBlocks, which keeps them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from math import prod
from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np

from sklearn_subanneal.columns._base import ColumnData
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.shards.sums import branches, total

# Sums are made within blocks of so many rows and added in the order of the blocks, whoever makes them, so that their
# bits do not depend on who does.
ROWS = 65_536
# In files, arrays begin at multiples of so many bytes.
ALIGNED = 64


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
        Where the cells are kept, in one file, model after model; None: in memory.
    number : int, default=0
        Of the block, after which the file is called.

    Attributes
    ----------
    units : float
        log |dz / dx| of all cells.
    """

    def __init__(self, models: Sequence[ColumnModel], arrays: list[np.ndarray], folder=None, number: int = 0):
        n_rows = len(arrays[0])
        self.units = float(sum(np.sum(model.units(arrays) * np.ones(n_rows)) for model in models))
        self._path, self._cells = None, [model.data(arrays) for model in models]
        if folder is None:
            return
        self._path = Path(folder) / f"{number}.cells"
        # The first byte, the type and the shape of the array of each model.
        self._places: list[tuple[int, np.dtype, tuple]] = []
        # The same block may be written by two workers, one of which was thought to be dead, and read by a third.
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            for data in self._cells:
                array = np.ascontiguousarray(data.array)
                file.write(bytes(-file.tell() % ALIGNED))
                self._places.append((file.tell(), array.dtype, array.shape))
                file.write(array.data)
        os.replace(file.name, self._path)
        self._cells = []

    def cells(self, models: Sequence[ColumnModel], members: Sequence[int]) -> list[ColumnData]:
        """Those of some of the models."""
        if self._path is None:
            return [self._cells[j] for j in members]
        if not members:
            return []
        # One map of the whole file: what is opened for each model by itself takes longer than a division of a cluster.
        with open(self._path, "rb") as file:
            memory = mmap(file.fileno(), 0, access=ACCESS_READ)
        return [models[j].kept_data(self._array(memory, j)) for j in members]

    def _array(self, memory: mmap, j: int) -> np.ndarray:
        first, dtype, shape = self._places[j]
        return np.frombuffer(memory, dtype, prod(shape), first).reshape(shape)

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
        Where the cells are kept, one file for each block; None: in memory.
    block_rows : int, default=65536
    """
    kept: list[KeptCells] = []
    waiting: list[np.ndarray] = []
    n_read = 0

    def keep(arrays):
        kept.append(KeptCells(models, arrays, folder, len(kept)))

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
