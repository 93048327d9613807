"""ColumnTransforms: the transformations of the columns of a block, as one transformation of its cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sklearn_subanneal.columns.transforms import IDENTITY, Transform


@dataclass(frozen=True)
class ColumnTransforms(Transform):
    """Functions of the columns of an array (..., n_columns), each of its own.

    Attributes
    ----------
    names : tuple of str
        Of the columns, for messages.
    each : tuple of Transform

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.columns.column_transforms import ColumnTransforms
    >>> from sklearn_subanneal.columns.transforms import IDENTITY, Logarithm
    >>> both = ColumnTransforms(("height", "income"), (IDENTITY, Logarithm()))
    >>> both.forward(np.array([[1.5, 1.0], [2.0, np.e]]))
    array([[1.5, 0. ],
           [2. , 1. ]])
    >>> both.is_identity
    array([ True, False])
    """

    names: tuple[str, ...] = ()
    each: tuple[Transform, ...] = ()

    @classmethod
    def of(cls, names: Sequence[str], each: Sequence[Transform]) -> Transform:
        """The transformation of a block of columns; the identity itself if all of theirs are."""
        return IDENTITY if all(own == IDENTITY for own in each) else cls(tuple(names), tuple(each))

    @property
    def is_identity(self) -> np.ndarray:
        """Which columns stay as they are."""
        return np.array([own == IDENTITY for own in self.each])

    @property
    def lowest(self) -> np.ndarray:
        """Cells of each column must be above this, (n_columns,)."""
        return np.array([own.lowest for own in self.each])

    def forward(self, cells):
        return self._by_columns("forward", cells)

    def inverse(self, values):
        return self._by_columns("inverse", values)

    def log_slope(self, values):
        return self._by_columns("log_slope", values)

    def check(self, name, cells):
        for own, column, values in zip(self.each, self.names, np.moveaxis(cells, -1, 0), strict=True):
            own.check(column, values)

    def _by_columns(self, method, values):
        out = np.empty(np.shape(values))
        for j, own in enumerate(self.each):
            out[..., j] = getattr(own, method)(values[..., j])
        return out
