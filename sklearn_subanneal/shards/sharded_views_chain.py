"""ShardedViewsChain, the chain of views whose rows are in blocks; ShardedViewsSpec, which builds it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from sklearn_subanneal.annealing.pace import Step
from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.shards.sharded_chain import ShardedChain, ShardedSpec
from sklearn_subanneal.shards.sharded_views import ShardedViews
from sklearn_subanneal.views.draws import ViewsDraw
from sklearn_subanneal.views.views_chain import TRACE
from sklearn_subanneal.views.views_spec import ViewsSpec


class ShardedViewsChain(ShardedChain):
    """The chain of a cross-categorization.

    Parameters
    ----------
    spec : ShardedSpec
    model : ShardedViews
    """

    TRACE = TRACE
    model: ShardedViews

    def cycle(self, step: Step, context: ChainContext) -> dict:
        context.check()
        seconds = [perf_counter()]
        n_columns_moved = self.model.move_columns()
        seconds.append(perf_counter())
        n_moved = sum(self._move_rows(view, context)[0] for view in self.model.views)
        seconds.append(perf_counter())
        self.model.learn(self.learn)
        draw = self.state()
        seconds.append(perf_counter())
        parts = dict(zip(("seconds_views", "seconds_rows", "seconds_hyperparameters"), np.diff(seconds), strict=True))
        return {
            "log_joint": draw.log_joint,
            "n_views": len(draw.views),
            "n_clusters": sum(len(view.sizes) for view in draw.views),
            "n_moved": n_moved,
            "n_columns_moved": n_columns_moved,
            "concentration": draw.prior["concentration"],
            "discount": draw.prior["discount"],
            **parts,
        }

    def state(self) -> ViewsDraw:
        draw = self.model.state()
        return replace(draw, log_joint=draw.log_joint + self.spec.units)

    def labels_of_rows(self) -> np.ndarray:
        labels = np.array([view.blocks.gather(self.spec.kept).labels for view in self.model.views])
        return labels.astype(np.min_scalar_type(-int(labels.max()) - 1))


@dataclass(frozen=True, kw_only=True, eq=False)
class ShardedViewsSpec(ShardedSpec):
    """The chain of a cross-categorization over a table in blocks.

    Attributes
    ----------
    start : ViewsSpec
    """

    start: ViewsSpec

    def build(self, blocks):
        own = self.start
        priors = own.column_partition.bind(own.learn), own.row_partition.bind(own.learn)
        return ShardedViewsChain(self, ShardedViews(blocks, *priors, own.generator))
