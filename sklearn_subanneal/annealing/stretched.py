"""Stretched, a schedule with more row assignments than another one, or fewer, and the same growth."""

from __future__ import annotations

from math import ceil

from sklearn_subanneal.annealing.schedules import Schedule


class Stretched(Schedule):
    """A schedule with more row assignments, or fewer, and the same growth of the subsample: the parameter ``effort``.

    Subsample and temperature are the same functions of progress as before: each part of the way takes ``times`` the
    assignments, the starts of the schedule included. There is at least one assignment for each row that enters.

    Parameters
    ----------
    schedule : Schedule
    times : float
        Factor of the row assignments, above 0.

    Examples
    --------
    >>> from sklearn_subanneal.annealing import SubsampleAnneal
    >>> from sklearn_subanneal.annealing.stretched import Stretched
    >>> schedule = Stretched(SubsampleAnneal(passes=20), times=3)
    >>> schedule.n_assignments(n_rows=1000), schedule.subsample_size([0.1, 0.5, 1.0], n_rows=1000).tolist()
    (60000, [100, 500, 1000])
    """

    def __init__(self, schedule: Schedule, times: float):
        self.schedule = schedule
        self.times = times

    @property
    def start(self):
        """Whether the chain starts without rows or from the prior."""
        return self.schedule.start

    def subsample_size(self, progress, n_rows):
        return self.schedule.subsample_size(progress, n_rows)

    def inverse_temperature(self, progress, n_rows):
        return self.schedule.inverse_temperature(progress, n_rows)

    def starts(self, n_rows):
        return [Stretched(start, self.times) for start in self.schedule.starts(n_rows)]

    def n_assignments(self, n_rows):
        of_starts = sum(start.n_assignments(n_rows) for start in self.starts(n_rows))
        least = max(int(self.subsample_size(1.0, n_rows)), of_starts)
        return max(ceil(float(self.times) * self.schedule.n_assignments(n_rows)), least)
