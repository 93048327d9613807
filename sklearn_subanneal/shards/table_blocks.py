"""TableBlocks, a table of typed cells in blocks of consecutive rows, and ArrayBlocks, one that is in memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sklearn_subanneal.columns._base import ColumnData
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.shards.row_block import RowBlock

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

    def cells(self, i: int) -> list[ColumnData]:
        """The cells of a block, by model."""
        raise TypeError(f"{type(self).__name__} must say where its cells are")

    def start(self, i: int, labels: np.ndarray | None = None) -> RowBlock:
        """A block as it is at the start, with these labels; None: all 0."""
        rows = self.rows(i)
        labels = np.zeros(rows.stop - rows.start, np.int32) if labels is None else labels
        return RowBlock.start(self.models, self.cells(i), rows.start, labels)


class ArrayBlocks(TableBlocks):
    """A table in memory.

    Parameters
    ----------
    models : sequence of ColumnModel
    arrays : sequence of ndarray of shape (n_rows,)
        Its typed columns.
    block_rows : int, default=65536
    """

    def __init__(self, models: Sequence[ColumnModel], arrays: Sequence[np.ndarray], block_rows: int = ROWS):
        super().__init__(models, len(arrays[0]), block_rows)
        self._cells = [
            [model.data([array[self.rows(i)] for array in arrays]) for model in self.models]
            for i in range(self.n_blocks)
        ]

    def cells(self, i: int) -> list[ColumnData]:
        return self._cells[i]
