"""ShardedMixtureChain, the chain of a mixture whose rows are in blocks; ShardedMixtureSpec, which builds it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sklearn_subanneal.annealing.pace import Step
from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.mixtures.mixture_chain import TRACE, Draw, MixtureSpec
from sklearn_subanneal.shards.sharded_chain import PAIRS, ShardedChain, ShardedSpec
from sklearn_subanneal.shards.sharded_mixture import ShardedMixture


class ShardedMixtureChain(ShardedChain):
    """The chain of a mixture.

    Parameters
    ----------
    spec : ShardedSpec
    model : ShardedMixture
    """

    TRACE = TRACE
    model: ShardedMixture

    def cycle(self, step: Step, context: ChainContext) -> dict:
        n_moved, n_accepted = self._move_rows(self.model, context)
        self.model.learn(self.learn)
        draw = self.state()
        names = ("concentration", "discount", "mass", "sigma")
        return {
            "log_joint": draw.log_joint,
            "n_clusters": self.model.n_clusters,
            "n_moved": n_moved,
            **{name: draw.prior.get(name, np.nan) for name in names},
            "n_proposed": PAIRS,
            "n_accepted": n_accepted,
            "sum_log_ratio": 0.0,
            "n_overflows": 0,
        }

    def state(self) -> Draw:
        draw = self.model.state()
        return replace(draw, log_joint=draw.log_joint + self.spec.units)

    def get_state(self) -> dict:
        """The hyperparameters of the columns, from which a stream goes on."""
        return {"columns": [column.get_prior_state() for column in self.model.columns]}

    def labels_of_rows(self) -> np.ndarray:
        return self.model.blocks.gather(self.spec.kept).labels


@dataclass(frozen=True, kw_only=True, eq=False)
class ShardedMixtureSpec(ShardedSpec):
    """The chain of a mixture over a table in blocks.

    Attributes
    ----------
    start : MixtureSpec
    """

    start: MixtureSpec

    def build(self, blocks):
        prior = self.start.partition.bind(self.start.learn)
        return ShardedMixtureChain(self, ShardedMixture(blocks, prior, self.start.generator))
