"""ViewsChains, the ways in which the chains of a cross-categorization get to the posterior: a mixin."""

from __future__ import annotations

from dataclasses import replace

from sklearn_subanneal.annealing.schedules import Accelerating

# Columns of so many levels show too little of their clusters, while there are few rows, for views to form without
# tempering. With two levels, tempering joins views that are independent.
MANY_LEVELS = 16
# One annealing of as much work as the several ones of TemperedAccelerating().
UNTEMPERED = Accelerating(passes=60.0, n_small=1000)
# In a large table a chain whose columns start in one view takes about two microseconds a cell for one sweep, since
# nearly all rows are alone at first. With a time limit that is not enough for about ten such sweeps, it fails.
CELLS_A_SECOND = 50_000


class ViewsChains:
    """The schedules and the starts of chains by default. Which of them is best depends on the table.

    If one way fails, its chains predict badly and have little weight, so that little is lost by it.
    """

    def _chosen_schedule(self, models):
        tempers = any(model.joint or model.n_values >= MANY_LEVELS for model in models)
        default = "tempered" if tempers else "accelerating"
        return default if self.schedule == "auto" else self.schedule

    def _of_chain(self, template, number):
        chosen = self.schedule != "auto" or self.column_start is not None or self.column_pacing is not None
        if chosen or number % 2 == 0:
            return template
        n_joint = sum(model.joint for model in template.models)
        if 2 * n_joint >= len(template.models):
            return replace(template, schedule=self._stretched(UNTEMPERED))
        if n_joint:
            # Reals find categories that depend on them by low powers only.
            return template
        n_cells = template.n_rows * len(template.models)
        if number % 4 == 1 and (self.time_limit is None or n_cells <= CELLS_A_SECOND * self.time_limit):
            # This one looks for many clusters in few views.
            return template.columns_together()
        return template
