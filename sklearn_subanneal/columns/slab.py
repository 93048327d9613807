"""Slab: memory in which the arrays of many columns are side by side."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import local

import numpy as np
from numpy.typing import DTypeLike, NDArray

# NumPy asks the system for large pages where an array has at least so many bytes.
N_BYTES = 1 << 24

# Arrays begin at a line of the cache.
LINE = 64

# The arrays of fewer columns are on few pages anyway, and a slab is larger than all of them.
FEWEST_COLUMNS = 64


class Slab:
    """Arrays that are made one after the other are next to one another; the memory is free when all of them are.

    A row has cells and clusters in every column. If each column has arrays of its own, these are on more pages of
    memory than a processor can address without looking them up.
    """

    def __init__(self):
        self._rest = np.empty(0, np.uint8)

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray:
        """As ``np.zeros``; what is as large as a slab itself is not in one."""
        n_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if 4 * n_bytes > N_BYTES:
            return np.zeros(shape, dtype)
        if n_bytes > len(self._rest):
            block = np.empty(N_BYTES, np.uint8)
            self._rest = block[-block.ctypes.data % LINE :]
        own, self._rest = self._rest[:n_bytes], self._rest[-(-n_bytes // LINE) * LINE :]
        own[:] = 0
        return own.view(dtype).reshape(shape)


class _Present(local):
    # Of each thread, since each runs a chain of its own.
    slab: Slab | None = None


_present = _Present()


@contextmanager
def side_by_side(n_columns: int) -> Iterator[None]:
    """Within, arrays made by :func:`zeros` are in slabs, if there are many columns."""
    before = _present.slab
    if n_columns >= FEWEST_COLUMNS and before is None:
        _present.slab = Slab()
    try:
        yield
    finally:
        _present.slab = before


def zeros(shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray:
    """As ``np.zeros``, within :func:`side_by_side` in a slab.

    Examples
    --------
    >>> from sklearn_subanneal.columns.slab import side_by_side, zeros
    >>> with side_by_side(1000):
    ...     a, b = zeros((2,)), zeros((3,))
    >>> b.ctypes.data - a.ctypes.data
    64
    """
    return np.zeros(shape, dtype) if _present.slab is None else _present.slab.zeros(shape, dtype)


def placed(array: NDArray) -> NDArray:
    """The array, within :func:`side_by_side` a copy in a slab."""
    if _present.slab is None:
        return array
    out = _present.slab.zeros(array.shape, array.dtype)
    out[...] = array
    return out
