"""JudgedTable: a table of which some rows are judged, if it is that of the fit each of them by the other rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal.estimators._absent_rows import judge_training_rows
from sklearn_subanneal.estimators._reasons import expected_cells
from sklearn_subanneal.views.seen_rows import SeenRows

if TYPE_CHECKING:
    from sklearn_subanneal.estimators.crosscat import CrossCat


@dataclass(frozen=True, eq=False)
class JudgedTable:
    """A table and a fitted model, which knows each row of its own table though only some are judged.

    Some rows of the training table, given to the model alone, are new to it: it judges them by clusters that hold them.

    Attributes
    ----------
    model : CrossCat
    arrays : list of ndarray of shape (n_rows,)
        Typed cells.
    seen : SeenRows or None
        All rows as the draws have them; None: the table is not that of the fit.
    """

    model: CrossCat
    arrays: list[np.ndarray]
    seen: SeenRows | None

    @classmethod
    def of(cls, model: CrossCat, X) -> JudgedTable:
        """A table, which is compared with that of the fit."""
        arrays = model._encode(X, scored=True)
        return cls(model, arrays, model._seen_rows(arrays) if model._are_seen(arrays, None) else None)

    def surprisal(self, rows: np.ndarray) -> np.ndarray:
        """What ``CrossCat.surprisal`` gives for some rows, (n_rows, n_columns)."""
        return self._judged(self.model._surprisal_of, rows)

    def novelty(self, rows: np.ndarray) -> np.ndarray:
        """What ``CrossCat.novelty`` gives for some rows, (n_rows,)."""
        return self._judged(lambda cells, seen: -self.model._score_of(cells, cells, seen), rows)

    def expected(self, rows: np.ndarray, column: int) -> tuple[np.ndarray, np.ndarray]:
        """Typed cells of one column as the other cells of some rows let expect them, and their uncertainty, (n_rows,).

        Parameters
        ----------
        rows : ndarray of int
        column : int
            No function of another column.
        """
        both = self._judged(
            lambda cells, seen: np.rec.fromarrays(expected_cells(self.model, cells, column, seen)), rows
        )
        return both.f0, both.f1

    def _judged(self, judge: Callable[..., np.ndarray], rows: np.ndarray) -> np.ndarray:
        """Values of some rows by ``judge(cells, seen)``."""

        def judge_rows(some, seen=None):
            return judge([array[some] for array in self.arrays], seen)

        if self.seen is None:
            return judge_rows(rows)
        return judge_training_rows(judge_rows, self.seen, self.model._copies.absent, rows)
