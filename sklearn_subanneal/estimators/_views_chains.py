"""ViewsChains, the ways in which the chains of a cross-categorization get to the posterior: a mixin."""

from __future__ import annotations

from dataclasses import replace

from sklearn_subanneal.annealing.schedules import Accelerating, PriorGibbs, SequentialGibbs, TemperedAccelerating
from sklearn_subanneal.columns.joint_real import WIDE_BLOCK

# Columns of so many levels show too little of their clusters, while there are few rows, for views to form without
# tempering. With two levels, tempering joins views that are independent.
MANY_LEVELS = 16
# One annealing of as much work as the several ones of TemperedAccelerating().
UNTEMPERED = Accelerating(passes=60.0, n_small=1000)
# In small tables with few reals, short annealings are twice as long as those of TemperedAccelerating(). None of 400
# chains of the Titanic then ended with a column in a view of its own, after shorter ones 13 of 960.
PATIENT = TemperedAccelerating(passes=90.0, start_share=0.3)
# A chain that does not anneal does as much work as the others; where that is not more passes over all rows than these,
# in larger tables, it would end far from the posterior.
LEAST_PASSES = 20.0
# A chain that does not anneal, or whose columns start in one view, begins with many clusters: a sweep takes about two
# microseconds a cell. With a time limit that is not enough for about ten such sweeps, it fails.
CELLS_A_SECOND = 50_000
# With a time limit that leaves more cells for a second, a tempered annealing makes some fifteen sweeps of all rows, and
# one without, which makes twice as many, gains three nats a held-out row on KDD Cup and .1 to .4 on adult and
# census income.
HASTY_CELLS_A_SECOND = 200_000
# While the log joint density rises, there are sweeps after the schedule of up to so many times its work. With as much
# work as the schedule's, chains of three of eleven real tables (concrete, letter, magic) were stopped while they rose:
# they gain 0.8, 0.2 and 0.1 nats a held-out row by going on.
MOST_WORK_AFTER = 4


class ViewsChains:
    """The schedules and the starts of chains by default. Which of them is best depends on the table.

    If one way fails, its chains predict badly and have little weight, so that little is lost by it; and chains of
    different ways are better together than as many of the best one. The first two chains anneal, and in small
    tables of up to 64 joint reals the next two do not.
    """

    def _chosen_schedule(self, models, n_rows):
        n_cells, n_joint = n_rows * len(models), sum(model.joint for model in models)
        is_hasty = self.time_limit is not None and n_cells > HASTY_CELLS_A_SECOND * self.time_limit
        tempers = any(model.joint or model.n_values >= MANY_LEVELS for model in models)
        has_few = 0 < 2 * n_joint < len(models)
        if is_hasty and has_few:
            tempers = False
        default = "tempered" if tempers else "accelerating"
        if has_few and self.time_limit is None and n_rows <= PATIENT.n_small:
            default = PATIENT
        return default if self.schedule == "auto" else self.schedule

    def _of_chain(self, template, number):
        if self.schedule != "auto":
            return template
        if self.max_sweeps is None:
            template = replace(template, max_sweeps=MOST_WORK_AFTER * template.most_sweeps)
        if self.column_start is not None or self.column_pacing is not None:
            return template
        n_joint = sum(model.joint for model in template.models)
        if 0 < 2 * n_joint < len(template.models):
            # Reals find categories that depend on them by low powers only.
            return template
        n_cells = template.n_rows * len(template.models)
        has_time = self.time_limit is None or n_cells <= CELLS_A_SECOND * self.time_limit
        n_passes = template.work / template.n_rows
        # With wide blocks fits took up to nine times as long by it (196 for 21 seconds), for the same held-out density.
        if number % 4 >= 2 and has_time and n_joint <= WIDE_BLOCK and n_passes > LEAST_PASSES * self._times:
            start = PriorGibbs if number % 4 == 2 else SequentialGibbs
            return replace(template, schedule=start(max(n_passes, 1.0)))
        if number % 2 == 1 and n_joint:
            return replace(template, schedule=self._stretched(UNTEMPERED))
        if number % 4 == 1 and has_time:
            # This one looks for many clusters in few views.
            return template.columns_together()
        return template
