"""ShardedViews, a cross-categorization whose rows are in blocks: rows move view by view, and columns by sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sklearn_subanneal._core.log_space import drawn_by_log_weights
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.partitions._gibbs_type import PartitionPrior
from sklearn_subanneal.shards.block_map import Threads
from sklearn_subanneal.shards.row_block import RowBlock
from sklearn_subanneal.shards.sharded_mixture import ShardedMixture
from sklearn_subanneal.views.draws import ViewsDraw

# Views without columns that are proposed to each column; of the columns, where none can be proposed, the share that
# stays where it is.
POOL, HELD = 1, 0.5


@dataclass(eq=False)
class _Candidate:
    """A view that a column may be in: its mixture, and all columns under its partition of the rows.

    Attributes
    ----------
    mixture : ShardedMixture
    size : int
        Number of its columns.
    evidence : ndarray of shape (n_columns,)
        Log marginal likelihood of each column.
    states : list of dict
        Statistics of each column.
    """

    mixture: ShardedMixture
    size: int
    evidence: np.ndarray
    states: list[dict]


class ShardedViews:
    """A cross-categorization over the rows of a table in blocks.

    Parameters
    ----------
    blocks : Threads
        The map over the blocks, over all columns.
    column_prior, row_prior : PartitionPrior
        The mixture of each view has a copy of the second one.
    generator : numpy.random.Generator
    anchor_share : float, default=0.1
        See :meth:`ShardedMixture.sweep`.
    """

    def __init__(
        self,
        blocks: Threads,
        column_prior: PartitionPrior,
        row_prior: PartitionPrior,
        generator: np.random.Generator,
        anchor_share: float = 0.1,
    ):
        self.blocks, self.prior, self.row_prior, self.generator = blocks, column_prior, row_prior, generator
        self.anchor_share = anchor_share
        self.views: list[ShardedMixture] = []

    @property
    def column_labels(self) -> np.ndarray:
        """View of each column, int32."""
        labels = np.empty(len(self.blocks.models), np.int32)
        for number, view in enumerate(self.views):
            labels[view.blocks.members] = number
        return labels

    @property
    def column_sizes(self) -> np.ndarray:
        """Number of the columns of each view, int32."""
        return np.array([len(view.blocks.members) for view in self.views], np.int32)

    def start_from(self, draw: ViewsDraw, prior_states: Sequence[dict]) -> None:
        """Begin with the views, clusters and hyperparameters of a draw of some rows: the others are drawn given these.

        Parameters
        ----------
        draw : ViewsDraw
        prior_states : sequence of dict
            Of the columns of its chain, as ``get_prior_state`` has them.
        """
        self.prior.parameters = draw.prior
        self.views = []
        for number, own in enumerate(draw.views):
            members = draw.members(number)
            view = self._mixture_of(members)
            view.start_from(own, [prior_states[j] for j in members])
            self.views.append(view)

    def start(self, column_labels: Sequence[int], row_labels: Sequence[Sequence[np.ndarray]]) -> None:
        """Begin with a partition of the columns, and one of the rows for each view, given block by block."""
        self.views = []
        for number, labels in enumerate(row_labels):
            view = self._view(np.flatnonzero(np.asarray(column_labels) == number))
            view.blocks.start(labels)
            view.recount()
            self.views.append(view)

    def sweep_rows(self, move: Callable[[ShardedMixture], int]) -> int:
        """Make a move of rows in each view; returns the sum of what it returns."""
        return sum(move(view) for view in self.views)

    def move_columns(self) -> int:
        """Gibbs sampling of the view of each column, one after the other; returns how many moved.

        Given the partitions of the rows, columns depend on each other by the sizes of the views alone: the statistics
        of all columns in all views, from one pass over the blocks, are enough for all of them.

        With a Dirichlet process each column may also begin a view, whose partition of the rows was drawn from the
        prior: a pool of such partitions is kept, which the view of a column that leaves it alone enters (the algorithm
        "Reuse"). Partitions of a Pitman-Yor process can't be drawn in blocks. There half of the columns, drawn anew
        each time, are held where they are, and the others choose among the views with such a column, if theirs is one:
        no view dies, and none is born.

        References
        ----------
        S. Favaro, Y. W. Teh (2013), MCMC for normalized random measure mixture models, Statistical Science 28,
        335-359. doi:10.1214/13-STS422
        """
        priors: list[dict] = [{}] * len(self.blocks.models)
        home: dict[int, _Candidate] = {}
        for view in self.views:
            for j, column in zip(view.blocks.members, view.columns, strict=True):
                priors[j] = column.get_prior_state()
        present = [self._candidate(view, priors) for view in self.views]
        for candidate in present:
            home |= dict.fromkeys(candidate.mixture.blocks.members, candidate)
        before = dict(home)
        if self.row_prior.is_random_measure:
            self._choose_with_pool(home, present, lambda: self._candidate(self._new_view(), priors))
        else:
            self._choose_among_held(home)
        self._settle(home, priors)
        return sum(before[j] is not home[j] for j in home)

    def _choose_with_pool(self, home, present, new: Callable[[], _Candidate]) -> None:
        prior, generator = self.prior, self.generator
        pool = [new() for _ in range(POOL)]
        for j in generator.permutation(len(home)):
            own = home[j]
            own.size -= 1
            is_alone, left_out = own.size == 0, int(generator.integers(POOL))
            if is_alone:
                present.remove(own)
            # Its own view, without columns now, takes the place of another one.
            empty = [own if is_alone and k == left_out else pool[k] for k in range(POOL)]
            # The first of all columns is in a new view.
            weight = prior.new_base + prior.new_slope * len(present) if present else 1.0
            weights = [candidate.size + prior.offset for candidate in present] + [max(weight, 0.0) / POOL] * POOL
            chosen = self._chosen(int(j), present + empty, weights)
            if chosen in present:
                pool = empty
            else:
                present.append(chosen)
                if chosen is not own:
                    taken = empty.index(chosen)
                    pool = [(own if is_alone else new()) if k == taken else pool[k] for k in range(POOL)]
            chosen.size += 1
            home[j] = chosen

    def _choose_among_held(self, home) -> None:
        held = self.generator.random(len(home)) < HELD
        is_open = list(dict.fromkeys(home[int(j)] for j in np.flatnonzero(held)))
        for j in self.generator.permutation(np.flatnonzero(~held)):
            if home[int(j)] in is_open:
                home[int(j)].size -= 1
                weights = [candidate.size + self.prior.offset for candidate in is_open]
                home[int(j)] = self._chosen(int(j), is_open, weights)
                home[int(j)].size += 1

    def _chosen(self, j: int, candidates: list[_Candidate], weights: list[float]) -> _Candidate:
        with np.errstate(divide="ignore"):
            logs = np.log(weights) + [candidate.evidence[j] for candidate in candidates]
        return candidates[drawn_by_log_weights(logs, self.generator)]

    def _settle(self, home: dict[int, _Candidate], priors: list[dict]) -> None:
        """Give the views their columns."""
        members: dict[_Candidate, list[int]] = {}
        for j in range(len(home)):
            members.setdefault(home[j], []).append(j)
        for candidate, own in members.items():
            if own != candidate.mixture.blocks.members:
                candidate.mixture.take_columns(own, [candidate.states[j] for j in own], [priors[j] for j in own])
        self.views = [candidate.mixture for candidate in members]

    def _candidate(self, view: ShardedMixture, priors: list[dict]) -> _Candidate:
        """A view with the statistics of all columns under its partition of the rows."""
        parameters = [prior["parameters"] for prior in priors]
        _, sums = view.blocks.over().ask(RowBlock.all_sums, parameters, view.n_clusters)
        rows, evidence, states = _mixture([], view), [], []
        for j, model in enumerate(self.blocks.models):
            column = model.statistics()
            column.set_prior_state(priors[j])
            states.append(sums[j] | {"parameters": parameters[j]})
            column.set_state(states[-1])
            evidence.append(_mixture([column], view).log_joint() - rows.log_joint())
        return _Candidate(view, len(view.blocks.members), np.array(evidence), states)

    def _view(self, members: Sequence[int]) -> ShardedMixture:
        view = self._mixture_of(members)
        view.blocks.start()
        return view

    def _mixture_of(self, members: Sequence[int], key: int | None = None) -> ShardedMixture:
        prior = self.row_prior.fresh()
        return ShardedMixture(self.blocks.over(members), prior, self.generator, self.anchor_share, key)

    def _new_view(self) -> ShardedMixture:
        """A view without columns, all of it drawn from the prior."""
        view = self._view([])
        view.draw_from_prior()
        return view

    def learn(self, learned: bool = True) -> None:
        """Redraw all hyperparameters given the partitions, if they are learned."""
        for view in self.views:
            view.learn(learned)
        if learned:
            self.prior.learn(self.column_sizes, self.generator)

    def get_state(self) -> dict:
        """All from which views go on bit for bit: the labels of all rows, as well."""
        return {"prior": self.prior.parameters, "views": [view.get_state() for view in self.views]}

    def set_state(self, state: dict) -> None:
        """Restore what ``get_state`` gave, of the same table."""
        self.prior.parameters, self.views = state["prior"], []
        for own in state["views"]:
            # Nothing is drawn: the generator may have been restored before.
            self.views.append(self._mixture_of(own["members"], own["key"]))
            self.views[-1].set_state(own)

    def state(self) -> ViewsDraw:
        """The present state, as prediction needs it; its log joint density in standard units."""
        views = [view.state() for view in self.views]
        log_joint = self.prior.log_eppf(self.column_sizes) + sum(view.log_joint for view in views)
        return ViewsDraw(
            column_labels=self.column_labels, views=views, prior=self.prior.parameters, log_joint=log_joint
        )


def _mixture(columns: list, view: ShardedMixture) -> Mixture:
    """Some columns with the partition of the rows of a view, without rows of their own."""
    mixture = Mixture(columns, view.prior, 0)
    mixture.join_clusters(np.zeros(0, np.int32), view.sizes)
    return mixture
