"""Online learning of a factorial mixture from minibatches, at T = 1, after a fit to the first rows."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np

from sklearn_subanneal.factorial.activation_statistics import ActivationStatistics
from sklearn_subanneal.factorial.component_factors import Components
from sklearn_subanneal.factorial.factorial_settings import FactorialSettings
from sklearn_subanneal.factorial.row_search import infer_rows
from sklearn_subanneal.variational import StepSize


@dataclass(frozen=True)
class FactorialStream:
    """State of learning at T = 1 from minibatches that are each used once, after a fit of the first rows.

    Attributes
    ----------
    settings : FactorialSettings
    components : Components
    statistics : ActivationStatistics
    n_batches : int
        Minibatches so far, the first fit being one.
    """

    settings: FactorialSettings
    components: Components
    statistics: ActivationStatistics
    n_batches: int = 1

    def after(self, X: np.ndarray, step_size: StepSize) -> tuple[FactorialStream, float]:
        """The stream after the next minibatch, and the bound of all rows so far, estimated by the running statistics.

        The stream itself is not changed, so that an interrupt leaves a consistent state.
        """
        n_seen = self.statistics.n_rows + len(X)
        step = step_size.checked_step(self.n_batches, 1.0, len(X) / n_seen)
        batch = ActivationStatistics.of(X, infer_rows(self.components, X, self.settings.search))
        statistics, components = self.statistics.blend(batch, step, n_seen), deepcopy(self.components)
        self.settings.improve(components, statistics, 1.0)
        return replace(
            self, components=components, statistics=statistics, n_batches=self.n_batches + 1
        ), components.bound(statistics)
