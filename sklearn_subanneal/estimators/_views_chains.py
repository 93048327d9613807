"""ViewsChains, the ways in which the chains of a cross-categorization get to the posterior: a mixin."""

from __future__ import annotations

# Columns of so many levels show too little of their clusters, while there are few rows, for views to form without
# tempering. With two levels, tempering joins views that are independent.
MANY_LEVELS = 16


class ViewsChains:
    """The schedule and the starts of chains by default. Which start is best depends on the table.

    If one fails, its chain predicts badly and has little weight, so that little is lost by it.
    """

    def _chosen_schedule(self, models):
        tempers = any(model.joint or model.n_values >= MANY_LEVELS for model in models)
        default = "tempered" if tempers else "accelerating"
        return default if self.schedule == "auto" else self.schedule

    def _of_chain(self, template, number):
        chosen = self.schedule != "auto" or self.column_start is not None or self.column_pacing is not None
        if chosen or number % 4 != 1 or any(model.joint for model in template.models):
            return template
        # This one looks for many clusters in few views.
        return template.columns_together()
