"""NoveltyQueries, methods of a fitted CrossCat: how improbable cells and rows are, training rows given the others."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.estimators import _parts
from sklearn_subanneal.estimators._absent_rows import judge_training_rows
from sklearn_subanneal.estimators._evidence import column_indices
from sklearn_subanneal.views.views_predictive import score_seen_rows, without


class NoveltyQueries:
    """Surprisal of cells and novelty of rows: a mixin for an estimator whose draws are those of views.

    It reads ``_table``, ``_models``, ``_flat_draws()``, ``_encode(X, scored=)``, ``_are_seen(arrays, seen)``,
    ``_seen_rows(arrays)`` and ``_copies``.
    """

    def surprisal(self, X, *, seen: bool | None = None) -> np.ndarray:
        """-log p(cell | the other observed cells of its row): how unexpected each cell is.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        seen : bool or None, default=None
            Whether X is the table that ``fit`` was given; None: found by comparison. Each row is then left out: it is
            judged by the others alone, one of weight w also by its w - 1 other copies.

        Returns
        -------
        surprisal : ndarray of shape (n_samples, n_features)
            In nats, in the units of the data; NaN where the cell is missing. A category that ``fit`` did not see is
            more surprising than any that it saw.

        Raises
        ------
        ValueError
            If ``seen`` and X is another table.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat
        >>> x = np.repeat([0.0, 8.0], 30) + np.random.default_rng(0).normal(size=60)
        >>> model = CrossCat(n_chains=2, feature_types={1: "categorical"}, random_state=0)
        >>> model = model.fit(np.column_stack([x, x > 4.0]))
        >>> model.surprisal([[8.0, 1.0], [8.0, 0.0]])[:, 1] > 1.0
        array([False,  True])
        """
        arrays = self._encode(X, scored=True)

        def judge(rows=slice(None), known=None):
            cells = [array[rows] for array in arrays]
            return _parts.surprisal_of_columns(self._table, self._models, self._flat_draws(), cells, known)

        return self._judged(judge, arrays, seen)

    def novelty(self, X, columns=None, *, seen: bool | None = None) -> np.ndarray:
        """-log density of each row, which measures its novelty given the table.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        columns : str, int, or list of these, default=None
            Columns of the cells to score; all others are marginalised. None: all.
        seen : bool or None, default=None
            Whether X is the table that ``fit`` was given; None: found by comparison. Each row is then scored by the
            other rows, -log p(row | the other rows), so that a row alone in its cluster is novel. The other rows
            include w - 1 copies of a row of weight w.

        Returns
        -------
        novelty : ndarray of shape (n_samples,)
            In nats, in the units of the data.

        Raises
        ------
        ValueError
            If there is no such column, ``columns`` is empty, or ``seen`` and X is another table.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat
        >>> x = np.repeat([0.0, 8.0], 30) + np.random.default_rng(0).normal(size=60)
        >>> model = CrossCat(n_chains=2, feature_types={1: "categorical"}, random_state=0)
        >>> model = model.fit(np.column_stack([x, x > 4.0]))
        >>> usual, odd = model.novelty([[8.0, 1.0], [8.0, 0.0]])
        >>> bool(odd > usual)
        True
        """
        arrays = asked = self._encode(X, scored=True)
        if columns is not None:
            chosen = _parts.parts_of_columns(self._table, column_indices(self._table, "columns", columns))
            asked = without(arrays, set(range(len(arrays))) - set(chosen))

        def judge(rows=slice(None), known=None):
            own, cells = [array[rows] for array in arrays], [array[rows] for array in asked]
            if known is None:
                with self._average() as average:
                    return -average.score(cells)
            return -score_seen_rows(self._models, self._flat_draws(), known, own, cells)

        return self._judged(judge, arrays, seen)

    def _judged(self, judge, arrays, seen):
        if not self._are_seen(arrays, seen):
            return judge()
        return judge_training_rows(judge, self._seen_rows(arrays), self._copies.absent)
