"""TrainingTable: whether a table is the one that a model was fitted to."""

from __future__ import annotations

from sklearn_subanneal.annealing.continuation import table_digest


class TrainingTable:
    """The training table, known by its digest: a mixin.

    It reads ``_table``, ``_fitted_identity``, ``_encode(X)`` and ``labels_``.
    """

    def _is_training_table(self, arrays) -> bool:
        """Whether these are the typed columns of the table that ``fit`` received."""
        identity = self._fitted_identity
        return identity is not None and table_digest(identified(self._table), arrays) == identity["X"]

    def _training_cells(self, X):
        """The typed columns of the training table, which X has to be."""
        arrays = self._encode(X)
        # A model without an identity got its rows by partial_fit.
        known = self._fitted_identity is None or self._is_training_table(arrays)
        if len(arrays[0]) != len(self.labels_) or not known:
            raise ValueError(
                f"X must be the very table that fit was given, all {len(self.labels_)} rows in their order, and it is "
                "not; pass that table"
            )
        return arrays


def identified(table) -> list[tuple[str, int]]:
    """The name of each column and how many categories it has, which a dtype may declare beyond those that occur."""
    return [(part.name, 0 if part.categories is None else len(part.categories)) for part in table.parts]
