"""ChainWork, the work that the chains of an estimator do before their draws and between them: a mixin."""

from __future__ import annotations

from math import ceil

from sklearn_subanneal.annealing.schedules import Schedule, resolve_schedule
from sklearn_subanneal.annealing.stretched import Stretched
from sklearn_subanneal.estimators._enough_chains import AUTO

# With thin="auto" draws are so many sweeps apart, but no more than take so many moves of rows. Measured against one
# sweep on tables of 50 to 1,000 rows: the effective number of draws rises by a half or more where chains mix, fewer
# fits warn, and fits take 20 to 50 % more time.
MOST_APART, MOVES_APART = 5, 5000
# A small table can afford so many sweeps between schedule and draws, if the log joint density goes on rising: chains of
# TreeGuidedNRMM rise for longer than 100 sweeps in tables of 500 to 1,000 rows.
MOST_AFFORDED, MOVES_AFFORDED = 250, 250_000


class ChainWork:
    """The schedule, the limits of the burn-in and the interval of the draws, by the parameters of an estimator."""

    # Whether the rows are documents.
    _has_documents = False

    @property
    def _times(self) -> float:
        """Factor of the work. With a time limit this sets the work, and a chain is in haste as without the factor."""
        return 1.0 if self.time_limit is not None else self.effort

    def _chosen_schedule(self, models, n_rows) -> str | Schedule:
        """The schedule before it is stretched, which may depend on how the columns are modelled, and on the rows."""
        return self.schedule

    def _schedule(self, models, n_rows) -> Schedule:
        """The schedule of the chains."""
        self.schedule_ = self._stretched(self._chosen_schedule(models, n_rows))
        return self.schedule_

    def _stretched(self, schedule: str | Schedule) -> Schedule:
        """The schedule with the work that ``effort`` asks for."""
        schedule = resolve_schedule(schedule)
        return schedule if self._times == 1.0 else Stretched(schedule, self._times)

    def _most_sweeps(self, default: int) -> int:
        """The parameter ``max_sweeps``, or so much more or less than this where it is None."""
        return ceil(float(self._times) * default) if self.max_sweeps is None else self.max_sweeps

    def _afforded_sweeps(self, n_rows: int) -> int:
        """Sweeps between schedule and draws that a table of so many rows can afford; of documents none.

        A document takes as long as many rows, and chains of documents do not gain by them.
        """
        return 0 if self._has_documents else min(MOST_AFFORDED, MOVES_AFFORDED // n_rows)

    def _sweeps_apart(self, n_rows: int) -> int:
        """The parameter ``thin``, or what is chosen for the number of rows."""
        if self.thin != AUTO:
            return self.thin
        if self.time_limit is not None or self._has_documents:
            return 1
        return min(max(int(self.effort * min(MOVES_APART / n_rows, MOST_APART)), 1), MOST_APART)
