"""JudgedRows: how improbable rows and their cells are, those of training rows given the other rows."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.estimators._parts import surprisal_of_columns
from sklearn_subanneal.views.lone_columns import score_lone_columns
from sklearn_subanneal.views.views_predictive import ensemble_of_views, left_out


class JudgedRows:
    """The judgements of rows of which a detector makes scores and reasons: a mixin.

    It reads ``crosscat_``, ``_known``, the index of its training rows, ``_rare_share`` and ``_cell_units``.
    """

    def _improbabilities(self, arrays, excess) -> np.ndarray:
        """Of rows as wholes, -log densities without the units of the columns; of their oddest cells, the excess."""

        def judge(cells, seen):
            if seen is None:
                average = ensemble_of_views(model._models, model._flat_draws(), self._rare_share)
            else:
                average = left_out(model._models, model._flat_draws(), seen, cells, self._rare_share)
            return average.least_score(cells)

        model = self.crosscat_
        whole = self._cell_units.of_rows(arrays, -self._known.judged(arrays, judge))
        return np.column_stack([whole, excess.max(axis=1)])

    def _alone(self, arrays) -> np.ndarray:
        """Log densities of cells whatever the rest of their rows, of training rows given the other rows."""

        def judge(cells, seen):
            return score_lone_columns(model._models, model._flat_draws(), cells, model._table.places, seen)

        model = self.crosscat_
        return self._known.judged(arrays, judge)

    def _surprisal(self, arrays) -> np.ndarray:
        """Of the cells of rows, of training rows given the other rows, both averaged over draws in the same way."""

        def judge(cells, seen):
            return surprisal_of_columns(model._table, model._models, model._flat_draws(), cells, seen, least=True)

        model = self.crosscat_
        return self._known.judged(arrays, judge)
