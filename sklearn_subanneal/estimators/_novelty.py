"""NoveltyQueries, methods of a fitted CrossCat: how improbable cells and rows are, training rows given the others."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal._core.arguments import checked_integer
from sklearn_subanneal.estimators import _parts
from sklearn_subanneal.estimators._absent_rows import judge_training_rows
from sklearn_subanneal.estimators._evidence import column_indices, refuse_common
from sklearn_subanneal.tables.cells import is_missing
from sklearn_subanneal.tables.row_ranking import ranked_rows
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
            If ``seen`` and X is another table, or the rows came by ``partial_fit`` or from a table in shards.

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
            return self._surprisal_of([array[rows] for array in arrays], known)

        return self._judged(judge, arrays, seen)

    def novelty(self, X, columns=None, given=None, *, seen: bool | None = None) -> np.ndarray:
        """-log density of each row, or of some of its cells given others, which measures its novelty given the table.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        columns : str, int, or list of these, default=None
            Columns of the cells to score. None: all but those of ``given``.
        given : str, int, or list of these, default=None
            Columns whose cells are evidence, in each row those of the row itself. Cells of all other columns are
            marginalised. None: there is no evidence.
        seen : bool or None, default=None
            Whether X is the table that ``fit`` was given; None: found by comparison. Each row is then scored by the
            other rows, -log p(cells | evidence, the other rows), so that a row alone in its cluster is novel. The other
            rows include w - 1 copies of a row of weight w.

        Returns
        -------
        novelty : ndarray of shape (n_samples,)
            In nats, in the units of the data; 0 where all cells to score are missing.

        Raises
        ------
        ValueError
            If there is no such column, one is in both, ``columns`` is empty, or ``seen`` and X is another table, or
            the rows came by ``partial_fit`` or from a table in shards.

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
        >>> usual, odd = model.novelty([[8.0, 1.0], [8.0, 0.0]], columns=[1], given=[0])  # -log p(x1 | x0)
        >>> bool(usual < 0.2 < 2.0 < odd)
        True
        """
        arrays = self._encode(X, scored=True)
        evidence = [] if given is None else column_indices(self._table, "given", given)
        chosen = [j for j in range(len(self._table.columns)) if j not in evidence]
        if columns is not None:
            chosen = column_indices(self._table, "columns", columns)
            refuse_common(self._table, {"columns": chosen, "given": evidence})
        asked, known = (
            without(own, set(range(len(own))) - set(_parts.parts_of_columns(self._table, group)))
            # In evidence, a category that `fit` did not see is missing.
            for own, group in ((arrays, chosen), (self._encode(X) if evidence else arrays, evidence))
        )
        both = [np.where(is_missing(own), other, own) for own, other in zip(asked, known, strict=True)]

        def judge(rows=slice(None), training=None):
            def score(cells):
                return self._score_of([array[rows] for array in arrays], [array[rows] for array in cells], training)

            return score(known) - score(both) if evidence else -score(asked)

        return self._judged(judge, arrays, seen)

    def most_novel(self, X, columns=None, given=None, n_rows: int | None = None, *, seen: bool | None = None):
        """Rows in the order of their :meth:`novelty`, the most novel first.

        Parameters
        ----------
        X, columns, given, seen
            As in :meth:`novelty`.
        n_rows : int, default=None
            So many of the rows, the first ones; None: all.

        Returns
        -------
        ranked : DataFrame or structured ndarray of shape (n_rows,)
            With the columns, or fields, "row", the position of the row in X, and "novelty", in nats. Of pandas or
            polars if X is; in pandas, with the row labels of X. Equal rows keep their order.

        Raises
        ------
        ValueError
            As :meth:`novelty`, or if ``n_rows`` is no positive integer.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat
        >>> x = np.repeat([0.0, 8.0], 30) + np.random.default_rng(0).normal(size=60)
        >>> X = np.column_stack([x, x > 4.0])
        >>> X[7, 1] = 1.0
        >>> model = CrossCat(n_chains=2, feature_types={1: "categorical"}, random_state=0).fit(X)
        >>> int(model.most_novel(X, columns=[1], given=[0], n_rows=3)["row"][0])
        7
        """
        if n_rows is not None:
            checked_integer("n_rows", n_rows, otherwise="None or ")
        novelty = self.novelty(X, columns, given, seen=seen)
        return ranked_rows(X, np.argsort(-novelty, kind="stable")[:n_rows], {"novelty": novelty})

    def _surprisal_of(self, cells, training):
        """Of the cells of rows that are new or, with their places in the draws, of the training table."""
        return _parts.surprisal_of_columns(self._table, self._models, self._flat_draws(), cells, training)

    def _score_of(self, cells, asked, training):
        """Log density of the cells that are asked for, of rows that are new or of the training table."""
        if training is None:
            with self._average() as average:
                return average.score(asked)
        return score_seen_rows(self._models, self._flat_draws(), training, cells, asked)

    def _judged(self, judge, arrays, seen):
        if not self._are_seen(arrays, seen):
            return judge()
        return judge_training_rows(judge, self._seen_rows(arrays), self._copies.absent)
