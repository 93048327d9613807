"""Subsets of the rows at the levels of a ladder: nested or independent, exchanged, and enlarged."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Share of a subset that an exchange offers to replace.
EXCHANGED = 0.05
SUBSETS = ("nested", "independent")


class Subsets:
    """A subset of the rows for each level below the first, of a size that is given with each call.

    Each is the first rows of an order of all rows. Nested subsets have one order, independent ones an order each.

    Parameters
    ----------
    n_rows, n_levels : int
    kind : {"nested", "independent"}
    generator : numpy.random.Generator

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tempering.subsets import Subsets
    >>> subsets = Subsets(10, 3, "nested", np.random.default_rng(0))
    >>> bool(set(subsets.rows(2, 3)) < set(subsets.rows(1, 6)))
    True
    """

    def __init__(self, n_rows: int, n_levels: int, kind: str, generator: np.random.Generator):
        self.n_rows, self.is_nested = n_rows, kind == "nested"
        self._orders = [generator.permutation(n_rows) for _ in range(1 if self.is_nested else n_levels)]

    def _order(self, m: int) -> NDArray:
        return self._orders[0 if self.is_nested else m]

    def rows(self, m: int, size: int) -> NDArray:
        """The subset of level ``m``, sorted."""
        return np.sort(self._order(m)[:size])

    def redraw(self, generator: np.random.Generator) -> None:
        """Draw all subsets anew."""
        self._orders = [generator.permutation(self.n_rows) for _ in self._orders]

    def exchanged(self, m: int, sizes: NDArray, generator: np.random.Generator) -> NDArray | None:
        """An order in which level ``m`` has some other rows; None if there are none.

        A nested subset keeps the rows of the one below, and takes others from the one above. The offer is symmetric.

        Parameters
        ----------
        m : int
        sizes : ndarray of int, shape (n_levels,)
            Of all levels' subsets.
        generator : numpy.random.Generator
        """
        size, least, most = sizes[m], 0, self.n_rows
        if self.is_nested:
            least, most = sizes[m + 1] if m + 1 < len(sizes) else 0, sizes[m - 1]
        n = min(max(1, round(EXCHANGED * size)), size - least, most - size)
        if n < 1:
            return None
        inside = generator.choice(np.arange(least, size), n, replace=False)
        outside = generator.choice(np.arange(size, most), n, replace=False)
        order = self._order(m).copy()
        order[inside], order[outside] = order[outside], order[inside]
        return order

    def put(self, m: int, order: NDArray) -> None:
        """Take an order that ``exchanged`` gave."""
        self._orders[0 if self.is_nested else m] = order

    def enlarged(self, m: int, size: int, larger: int, generator: np.random.Generator) -> NDArray:
        """The subset of level ``m`` and others, drawn at random; sorted."""
        order = self._order(m)
        return np.sort(np.append(order[:size], generator.choice(order[size:], larger - size, replace=False)))

    def get_state(self) -> NDArray:
        """The orders, shape (n_orders, n_rows)."""
        return np.array(self._orders)

    def set_state(self, orders: NDArray) -> None:
        """Restore what ``get_state`` gave."""
        self._orders = list(np.copy(orders))
