"""ShardedMixture, a mixture whose rows are in blocks elsewhere: it has the sums, and makes the moves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sklearn_subanneal.columns._frequencies import log_dirichlet_variates, log_gamma_variates
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.mixtures.mixture_chain import Draw, mixture_state
from sklearn_subanneal.partitions._gibbs_type import PartitionPrior
from sklearn_subanneal.shards.block_map import Threads
from sklearn_subanneal.shards.row_block import RowBlock
from sklearn_subanneal.shards.work import Change, Gathered, RowStreams, SweepPlan

# The logarithm of what may be left of a measure: less than random numbers of double precision can tell from nothing.
LEAST_REST = -54.0 * np.log(2.0)


class ShardedMixture:
    """A mixture over the rows of a table in blocks.

    The state of the partition is in the blocks. Here are the sizes of the clusters and the statistics of the columns,
    sums over the blocks, on which all hyperparameters depend, and which are all that a sweep moves.

    Parameters
    ----------
    blocks : Threads
        The blocks and the map over them.
    prior : PartitionPrior
    generator : numpy.random.Generator
    anchor_share : float, default=0.1
        Share of the rows that a sweep leaves where they are; see :meth:`sweep`.
    key : int or None, default=None
        Of the random numbers of the rows; None: drawn.
    """

    def __init__(
        self,
        blocks: Threads,
        prior: PartitionPrior,
        generator: np.random.Generator,
        anchor_share: float = 0.1,
        key: int | None = None,
    ):
        self.blocks, self.prior, self.generator, self.anchor_share = blocks, prior, generator, anchor_share
        self.key, self._stage = int(generator.integers(2**63)) if key is None else key, 0
        self.columns = [model.statistics() for model in self.models]
        self._prior_states = [column.get_prior_state() for column in self.columns]
        self.sizes = np.zeros(0, np.int64)

    @property
    def models(self) -> list:
        """The models of its columns."""
        return self.blocks.models

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.sizes)

    @property
    def priors(self) -> list[dict]:
        """Hyperparameters of the columns."""
        return [column.parameters for column in self.columns]

    @property
    def has_thresholds(self) -> bool:
        """Whether the prior suits slice sampling: a Dirichlet process does."""
        return self.prior.offset == 0.0 and self.prior.new_slope == 0.0 and not self.prior.has_auxiliary

    def streams(self) -> RowStreams:
        """Random numbers of the rows for the next piece of work."""
        self._stage += 1
        return RowStreams(self.key, self._stage)

    def take_sums(self, sizes: np.ndarray, sums: list[dict]) -> None:
        """Take the sizes of the clusters, and the statistics of the columns."""
        self.sizes = sizes
        for column, own in zip(self.columns, sums, strict=True):
            column.set_state(own | {"parameters": column.parameters})

    def recount(self) -> None:
        """Sums over all rows, made anew."""
        n_clusters = 1 + self.blocks.ask_labels(_largest_label, combine=max)
        self.take_sums(*self.blocks.ask(RowBlock.all_sums, self.priors, n_clusters))

    def start_from(self, draw: Draw, prior_states: list[dict]) -> None:
        """Begin with the clusters and hyperparameters of a draw of some of the rows: others are drawn given these.

        Parameters
        ----------
        draw : Draw
        prior_states : list of dict
            Of the columns of its chain, as ``get_prior_state`` has them.
        """
        self.blocks.start()
        self.prior.parameters = draw.prior
        for column, state, prior in zip(self.columns, draw.columns, prior_states, strict=True):
            column.set_prior_state({name: value for name, value in prior.items() if name != "completed"})
            column.set_state(state)
        self._keep_prior_states()
        n_clusters = len(draw.sizes)
        weights = log_gamma_variates(draw.sizes + self.prior.offset, self.generator)
        plan = SweepPlan(self.streams(), self.drawn_parameters(self.columns, n_clusters), weights)
        _, sizes, sums = self.blocks.update(RowBlock.sweep, plan, self.priors)
        self.take_sums(sizes, sums)
        self._close_gaps()

    def draw_from_prior(self) -> None:
        """Draw all rows, and the parameters of the partition prior, a Dirichlet process, from their priors."""
        self.prior.draw(self.generator)
        logs, rest = [], 0.0
        while rest > LEAST_REST:
            stick = log_dirichlet_variates([1.0, self.prior.new_base], self.generator)
            logs.append(rest + stick[0])
            rest += stick[1]
        ends = np.append(np.cumsum(np.exp(logs))[:-1], 1.0)
        self.take_sums(self.blocks.update_labels(RowBlock.drawn, self.streams(), ends), [])
        self._close_gaps()

    def take_columns(self, members: Sequence[int], states: list[dict], prior_states: list[dict]) -> None:
        """Have these columns of the table from now on, of which the statistics and hyperparameters are given."""
        self.blocks.members, self.columns = list(members), []
        for model, state, prior in zip(self.models, states, prior_states, strict=True):
            column = model.statistics()
            column.set_prior_state(prior)
            column.set_state(state)
            self.columns.append(column)
        self._keep_prior_states()

    def sweep(self) -> int:
        """Draw the cluster of each row given parameters of the clusters, all rows at once; returns how many moved.

        Given the partition the weights of the clusters are Dirichlet(n_k + offset) and their parameters have their
        posterior; given these the rows are independent. A sweep among the present clusters would let clusters die and
        none be born. So some rows, drawn anew each time, are anchors and stay where they are; clusters with an anchor
        are open, and the rows that are in these and no anchors are drawn among these. That is a draw from their exact
        conditional distribution given the anchors and the closed clusters, of which no cluster can die: what is open
        and who is drawn are the same before and after.
        """
        streams = self.streams()
        anchored = self.blocks.ask_labels(RowBlock.anchored, streams, self.anchor_share, self.n_clusters)
        weights = log_gamma_variates(self.sizes + self.prior.offset, self.generator)
        plan = SweepPlan(
            streams,
            self.drawn_parameters(self.columns, self.n_clusters),
            np.where(anchored > 0, weights, -np.inf),
            self.anchor_share,
        )
        n_moved, sizes, sums = self.blocks.update(RowBlock.sweep, plan, self.priors)
        self.take_sums(sizes, sums)
        return int(n_moved)

    def slice_rows(self) -> int:
        """Slice sampling of all rows at once, by which clusters are born and die; returns how many rows moved.

        For a Dirichlet process. The weights of clusters, and of further ones that are empty, are drawn until the rest
        of the measure is below the lowest threshold of a row. Parameters of empty clusters have their prior.

        References
        ----------
        S. G. Walker (2007), Sampling the Dirichlet mixture model with slices, Communications in Statistics 36, 45-54.
        H. Ge, Y. Chen, M. Wan, Z. Ghahramani (2015), Distributed inference for Dirichlet process mixture models, ICML.
        """
        streams = self.streams()
        logs = log_dirichlet_variates([*self.sizes, self.prior.new_base], self.generator)
        weights, rest = list(logs[:-1]), logs[-1]
        lowest = self.blocks.ask_labels(RowBlock.lowest, streams, np.array(weights), combine=min)
        while rest >= lowest:
            stick = log_dirichlet_variates([1.0, self.prior.new_base], self.generator)
            weights.append(rest + stick[0])
            rest += stick[1]
        for column in self.columns:
            column.make_room(len(weights) + 1)
        plan = SweepPlan(
            streams, self.drawn_parameters(self.columns, len(weights)), np.array(weights), by_thresholds=True
        )
        n_moved, sizes, sums = self.blocks.update(RowBlock.sweep, plan, self.priors)
        self.take_sums(sizes, sums)
        self._close_gaps()
        return int(n_moved)

    def _close_gaps(self) -> None:
        """Give the numbers of clusters without rows to the last ones."""
        gone = np.flatnonzero(self.sizes == 0)
        if not gone.size:
            return
        numbers, last = np.arange(self.n_clusters, dtype=np.int32), self.n_clusters
        for number in gone[::-1]:
            last -= 1
            if number != last:
                numbers[numbers == last] = number
                for column in self.columns:
                    column.move_slot(last, int(number))
        self.apply(Change(last, numbers=numbers))

    def drawn_parameters(self, columns: list, n_clusters: int) -> list[dict]:
        """Parameters of the clusters in each column, drawn given the statistics."""
        return [
            model.parameters_class.drawn(column, n_clusters, self.generator)
            for model, column in zip(self.models, columns, strict=True)
        ]

    def statistics_of(self, gathered: Gathered) -> list:
        """Empty statistics of the columns over gathered rows, with the present hyperparameters."""
        out = []
        for j, (model, cells, column) in enumerate(zip(self.models, gathered.cells, self.columns, strict=True)):
            statistics = model.statistics(cells, column.parameters)
            state = dict(self._prior_states[j])
            if j in gathered.fillings and len(gathered.fillings[j].rows):
                state["completed"] = gathered.fillings[j].values
            statistics.set_prior_state(state)
            out.append(statistics)
        return out

    def move_single_rows(self, n_rows: int) -> int:
        """Gibbs sampling of some rows, drawn at random, one after the other; returns how many moved.

        The parameters are integrated out, and a row may begin a new cluster.
        """
        n_rows = min(n_rows, self.blocks.table.n_rows)
        rows = np.sort(self.generator.choice(self.blocks.table.n_rows, n_rows, replace=False))
        gathered = self.blocks.gather(rows)
        columns = self.statistics_of(gathered)
        for column, state in zip(columns, self._states(), strict=True):
            column.set_state(state)
        mixture = Mixture(columns, self.prior, n_rows)
        mixture.join_clusters(gathered.labels, self.sizes)
        mixture.reweigh()
        order = self.generator.permutation(n_rows).astype(np.int32)
        n_moved = churn(mixture, order, order, 1.0, self.generator)
        places = mixture.places()
        self._take_columns(mixture)
        # Clusters that are gone have no rows elsewhere.
        numbers = places[: self.n_clusters].astype(np.int32)
        fillings = {
            j: own._replace(values=columns[j].get_prior_state()["completed"])
            for j, own in gathered.fillings.items()
            if len(own.rows)
        }
        self.apply(Change(mixture.n_clusters, {}, numbers, rows, np.asarray(mixture.labels), fillings))
        return n_moved

    def apply(self, change: Change) -> None:
        """Change the labels in the blocks; the statistics here are those after it."""
        self.sizes = self.blocks.update_labels(RowBlock.changed, change)

    def _states(self) -> list[dict]:
        return [column.get_state(self.n_clusters) for column in self.columns]

    def _take_columns(self, mixture: Mixture) -> None:
        """Take over the statistics of a mixture of some rows."""
        for column, own in zip(self.columns, mixture.columns, strict=True):
            column.set_state(own.get_state(mixture.n_clusters))

    def whole(self) -> Mixture:
        """The mixture without rows of its own: sizes, statistics and hyperparameters."""
        mixture = Mixture(self.columns, self.prior, 0)
        mixture.join_clusters(np.zeros(0, np.int32), self.sizes)
        mixture.reweigh()
        return mixture

    def learn(self, learned: bool = True) -> None:
        """Redraw all hyperparameters given the partition; if they are fixed, the prior's auxiliary variable alone."""
        mixture = self.whole()
        if learned:
            mixture.learn(self.generator)
        else:
            mixture.redraw_auxiliary(self.generator)
        self._keep_prior_states()

    def _keep_prior_states(self) -> None:
        self._prior_states = [column.get_prior_state() for column in self.columns]

    def get_state(self) -> dict:
        """All from which a mixture goes on bit for bit: the labels and fillings of all rows, as well."""
        return {
            "key": self.key,
            "stage": self._stage,
            "members": list(self.blocks.members),
            "sizes": self.sizes,
            "prior": self.prior.parameters,
            "columns": self._states(),
            "prior_states": self._prior_states,
            "rows": self.blocks.ask_labels(RowBlock.kept, combine=None),
        }

    def set_state(self, state: dict) -> None:
        """Restore what ``get_state`` gave, of the same table."""
        self.prior.parameters = state["prior"]
        self.take_columns(state["members"], state["columns"], state["prior_states"])
        self.key, self._stage, self.sizes = state["key"], state["stage"], state["sizes"]
        self.blocks.start(*zip(*state["rows"], strict=True))

    def state(self) -> Draw:
        """The present state, as prediction needs it; its log joint density in standard units."""
        return mixture_state(self.whole())

    def labels(self) -> np.ndarray:
        """Cluster of every row, int32."""
        return np.concatenate(self.blocks.ask_labels(_labels, combine=None))


def _largest_label(block: RowBlock) -> int:
    return int(block.labels.max(initial=0))


def _labels(block: RowBlock) -> np.ndarray:
    return block.labels
