"""ChainWork, the work that the chains of an estimator do before their draws: a mixin."""

from __future__ import annotations

from math import ceil

from sklearn_subanneal.annealing.schedules import Schedule, resolve_schedule
from sklearn_subanneal.annealing.stretched import Stretched


class ChainWork:
    """The schedule and the limits of the burn-in, by the parameters ``schedule``, ``effort`` and ``time_limit``."""

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
