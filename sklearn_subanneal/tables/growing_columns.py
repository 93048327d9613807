"""GrowingColumns: typed columns to which rows are added in place, so that they are not held twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sklearn_subanneal.tables.documents import Documents, joined

# Room is made for so many times the rows that there are; pages that are not written to take no memory.
GROWTH = 2


@dataclass(frozen=True, eq=False)
class GrowingColumns:
    """Typed columns of one table, with room for further rows.

    An extended table shares the memory of the one before, which keeps its own rows. Documents, sparse, are copied.

    Attributes
    ----------
    buffers : list of ndarray or Documents
        Columns, of which the first ``n_rows`` rows are those of the table.
    n_rows : int
    filled : list of one int
        Rows of the buffers that some table has; shared by all tables with these buffers.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tables.growing_columns import GrowingColumns
    >>> table = GrowingColumns.of([np.array([1.0, 2.0])])
    >>> longer = table.extended([np.array([3.0])])
    >>> table.arrays[0].tolist(), longer.arrays[0].tolist()
    ([1.0, 2.0], [1.0, 2.0, 3.0])
    """

    buffers: list[np.ndarray | Documents]
    n_rows: int
    filled: list[int] = field(default_factory=lambda: [0])

    @classmethod
    def of(cls, arrays: Sequence[np.ndarray | Documents]) -> GrowingColumns:
        """The columns as they are, without room."""
        return cls(list(arrays), len(arrays[0]), [len(arrays[0])])

    @property
    def arrays(self) -> list[np.ndarray | Documents]:
        """The columns, views."""
        return [buffer if len(buffer) == self.n_rows else buffer[: self.n_rows] for buffer in self.buffers]

    def extended(self, more: Sequence[np.ndarray | Documents]) -> GrowingColumns:
        """The table with further rows; this one is not changed."""
        n_rows = self.n_rows + len(more[0])
        # Another table may have grown from this one before.
        shared = self.filled if self.filled[0] == self.n_rows else [n_rows]
        buffers = [
            joined(buffer[: self.n_rows], new)
            if isinstance(new, Documents)
            else _written(buffer, self.n_rows, new, shared is self.filled)
            for buffer, new in zip(self.buffers, more, strict=True)
        ]
        shared[0] = n_rows
        return GrowingColumns(buffers, n_rows, shared)

    def __getstate__(self) -> dict:
        return {"buffers": self.arrays, "n_rows": self.n_rows, "filled": [self.n_rows]}


def _written(buffer: np.ndarray, n_rows: int, new: np.ndarray, in_place: bool) -> np.ndarray:
    """A buffer that has the new rows after its first ones: the same one, if it may be written to and has room."""
    end, dtype = n_rows + len(new), np.result_type(buffer, new)
    if not in_place or end > len(buffer) or dtype != buffer.dtype:
        grown = np.empty((max(end, GROWTH * n_rows), *buffer.shape[1:]), dtype)
        grown[:n_rows] = buffer[:n_rows]
        buffer = grown
    buffer[n_rows:end] = new
    return buffer
