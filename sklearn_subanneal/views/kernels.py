"""How columns move between views: the kernels and their parameters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_subanneal.views._block_moves import block_gibbs
from sklearn_subanneal.views._column_moves import birth_death, gibbs
from sklearn_subanneal.views._group_moves import group_moves
from sklearn_subanneal.views._split_merge_moves import split_merge_moves
from sklearn_subanneal.views._views import Views

MOVES = ("prior", "data-driven", "birth-death", "block", "group", "split-merge")


class ViewKernel(BaseEstimator):
    """The moves of columns between views that follow each cycle through the rows, and their parameters.

    Each move alone leaves the posterior as it is, whatever the others are.

    - "prior": Algorithm 8. Each column chooses among the views and ``n_auxiliary`` new ones, whose row partitions come
      from the prior. New views are hardly ever good ones once rows are many.
    - "data-driven": Algorithm 8 with new views whose rows were allocated sequentially given the column, weighted so
      that this is exact.
    - "birth-death": Metropolis-Hastings births of views for single columns, with row partitions from the prior, and
      their deaths; as many proposals as there are columns.
    - "block": Algorithm 8 with a pool of ``n_pool`` new views from the prior which all columns share, several sweeps
      over the columns at the price of one.
    - "group": ``n_groups`` proposals that a set of columns leaves its view together for a new one, or that a whole
      view joins another. What wins where columns are nearly functions of one another.
    - "split-merge": ``n_split_merges`` proposals that a view is split, or two are merged, with all their rows
      allocated anew. What ends a stalemate of two views that should be one, each with clusters that are wrong.

    Parameters
    ----------
    moves : tuple or list of str, default=("data-driven", "group", "split-merge")
        Those to make, in this order.
    n_auxiliary : int, default=1
        New views offered to each column by Algorithm 8; the prior wants more of them than sequential allocation.
    n_groups : int, default=2
        Proposals of groups in a round.
    n_split_merges : int, default=1
        Proposals to split or merge views in a round.
    n_pool : int, default=32
        New views that columns share in a block move.
    rest_above : int or None, default=2000
        Columns rest while the schedule has more rows than this in the subsample. They move again once all rows are in
        and draws are made, a random part of them after each cycle, so that this costs no more than at this size.
        None: they never rest.
    patience : int or None, default=8
        After so many rounds of moves in which no column moved, only every second cycle of the schedule is followed by
        a round, after as many more every fourth, down to every sixteenth; when a column moves, every one again. Draws
        are not concerned. None: every cycle.

    References
    ----------
    F. Obermeyer, J. Glidden, E. Jonas (2014), Scaling Nonparametric Bayesian Inference via Subsample-Annealing,
    AISTATS, section 4. V. Mansinghka et al. (2016), CrossCat: a fully Bayesian nonparametric method for analyzing
    heterogeneous, high dimensional data, JMLR 17.

    Examples
    --------
    >>> from sklearn_subanneal.views.kernels import ViewKernel
    >>> ViewKernel(moves=("prior",), n_auxiliary=2)
    ViewKernel(moves=('prior',), n_auxiliary=2)
    """

    def __init__(
        self,
        moves=("data-driven", "group", "split-merge"),
        *,
        n_auxiliary: int = 1,
        n_groups: int = 2,
        n_split_merges: int = 1,
        n_pool: int = 32,
        rest_above: int | None = 2000,
        patience: int | None = 8,
    ):
        self.moves = moves
        self.n_auxiliary = n_auxiliary
        self.n_groups = n_groups
        self.n_split_merges = n_split_merges
        self.n_pool = n_pool
        self.rest_above = rest_above
        self.patience = patience

    def check(self) -> None:
        """Raise ValueError if a parameter is not as described."""
        moves = self.moves if isinstance(self.moves, list | tuple) else ()
        if not moves or any(move not in MOVES for move in moves):
            raise ValueError(f"moves must be a sequence of names among {MOVES}, got {self.moves!r}")
        for name in ("n_auxiliary", "n_groups", "n_split_merges", "n_pool"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
                raise ValueError(f"{name} must be an integer of at least 1, got {value!r}")
        if self.rest_above is not None and (not isinstance(self.rest_above, Integral) or self.rest_above < 0):
            raise ValueError(f"rest_above must be a number of rows or None, got {self.rest_above!r}")
        if self.patience is not None and (not isinstance(self.patience, Integral) or self.patience < 1):
            raise ValueError(f"patience must be an integer of at least 1 or None, got {self.patience!r}")

    def interval(self, n_quiet: int) -> int:
        """Cycles of the schedule from one round of moves to the next, after so many rounds without a move."""
        return 1 if self.patience is None else 2 ** min(n_quiet // self.patience, 4)

    def bind(self, views: Views) -> Callable:
        """A function ``update(inverse_temperature, generator, share=1.0)`` that makes one round of moves.

        ``share``: of the moves that may be had for a part of the columns. Returns how many columns moved.
        """
        self.check()

        def part(number, share):
            return max(round(share * number), 1)

        make = {
            "prior": lambda share: partial(gibbs, views, part(views.n_columns, share), self.n_auxiliary, False),
            "data-driven": lambda share: partial(gibbs, views, part(views.n_columns, share), self.n_auxiliary, True),
            "birth-death": lambda share: partial(birth_death, views, part(views.n_columns, share)),
            "block": lambda share: partial(block_gibbs, views, self.n_pool, BLOCK_SWEEPS),
            "group": lambda share: partial(group_moves, views, part(self.n_groups, share)),
            "split-merge": lambda share: partial(split_merge_moves, views, part(self.n_split_merges, share)),
        }

        def update(inverse_temperature: float, generator: np.random.Generator, share: float = 1.0) -> int:
            return sum(make[move](share)(inverse_temperature, generator) for move in self.moves)

        return update


# Sweeps over the columns in one block move: the table of likelihoods is what costs.
BLOCK_SWEEPS = 4

NAMED = {name: partial(ViewKernel, (name,)) for name in MOVES} | {
    "default": ViewKernel,
    "prior": partial(ViewKernel, ("prior",), n_auxiliary=2),
}


def resolve(kernel: str | ViewKernel) -> ViewKernel:
    """The object that a name stands for; objects pass through."""
    return NAMED[kernel]() if isinstance(kernel, str) else kernel
