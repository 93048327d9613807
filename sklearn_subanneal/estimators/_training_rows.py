"""TrainingRows: the rows of the table that a cross-categorization was fitted to, as its draws have them."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal._core.arguments import checked_flag
from sklearn_subanneal.views.seen_rows import SeenRows


class TrainingRows:
    """Whether rows are those of the training table, and these rows in all draws.

    A mixin for an estimator whose draws are those of views. It reads ``_models``, ``_fitted_identity``,
    ``_is_training_table(arrays)``, ``_flat_row_labels()`` and ``_copies``.
    """

    def _are_seen(self, arrays, seen: bool | None) -> bool:
        """Whether these are the typed columns of the table that ``fit`` received; ``seen`` is what the user says."""
        if seen is not None and not checked_flag("seen", seen):
            return False
        if self._fitted_identity is None:
            if seen:
                raise ValueError(
                    "seen=True needs draws that have all training rows, and rows of a stream (partial_fit) or of a "
                    "table in shards are not kept; pass seen=False"
                )
            return False
        same = self._is_training_table(arrays)
        if seen and not same:
            raise ValueError(
                "seen=True needs X to be the very table that fit was given, all rows in their order, and it is not; "
                "pass that table, or seen=False for new rows"
            )
        return same

    def _seen_rows(self, arrays):
        """The training rows as the draws have them."""
        return SeenRows.of(self._models, self._flat_row_labels(), arrays, self._copies)

    def _some_seen_rows(
        self, arrays, n_rows: int, independent: bool = False
    ) -> tuple[SeenRows, list[np.ndarray], np.ndarray]:
        """Some training rows: as the draws have them, their typed columns, and how often each counts.

        With ``independent``, none whose own copies, the equal rows, tell how well the others predict it.
        """
        among = self._copies.independent(arrays) if independent else None
        rows, counts = self._copies.some_distinct(arrays, n_rows, among)
        return self._seen_rows(arrays).take(rows), [array[rows] for array in arrays], counts
