"""DrawnRows: which rows of the training table posterior draws have, and the similarity of such rows."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal import posterior
from sklearn_subanneal.tables.row_indices import drawn_indices


class DrawnRows:
    """The method that compares training rows by the draws: a mixin.

    It reads ``posterior_labels_``, ``posterior_rows_`` where the draws do not have all rows, and ``_draw_weights()``.
    """

    def co_clustering(self, rows=None, max_rows: int = 5000) -> np.ndarray:
        """Share of the draws, by the weights of their chains, in which two training rows are in one cluster.

        Parameters
        ----------
        rows : array-like of int or bool, default=None
            The rows to compare, by their numbers in the training table or a mask of it. Where the draws have some of
            them alone, of a stream or a table in shards, rows must be among these, ``posterior_rows_``. None: all that
            the draws have.
        max_rows : int, default=5000
            More rows than this are refused.

        Returns
        -------
        similarity : ndarray of shape (n_rows, n_rows)

        Raises
        ------
        ValueError
            If there are no such rows, the draws do not have them, or they are too many.
        """
        check_is_fitted(self)
        labels = self.posterior_labels_
        rows = None if rows is None else drawn_indices("rows", rows, self, labels.shape[-1])
        return posterior.co_clustering(labels, rows, max_rows, self._draw_weights())
