"""The moves of cross-categorization in plain Python, on the states of a table of a few rows and columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from oracles.choices import Choose, accepted, chosen, shuffled
from oracles.enumeration import Partition, blocks, canonical, log_eppf, partitions
from oracles.reference import Column, log_marginal
from scipy.special import gammaln, softmax


@dataclass(frozen=True)
class View:
    """Some columns, a partition of the rows for them, and the place of its (alpha, d) on the grid."""

    columns: frozenset[int]
    rows: Partition
    prior: int

    def with_columns(self, columns: frozenset[int]) -> View:
        return View(columns, self.rows, self.prior)


# Views in the order of their first columns.
State = tuple[View, ...]


def in_order(views: Sequence[View]) -> State:
    """The state that consists of these views; those without columns are left out."""
    return tuple(sorted((view for view in views if view.columns), key=lambda view: min(view.columns)))


# --- The model --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReferenceViews:
    """A table, with its hyperparameters but for each view's own (alpha, d), which has a uniform prior on a grid.

    Parameters
    ----------
    columns : list of (kind, x, params)
    row_priors : list of (alpha, d)
        The grid; every view has one of its points.
    column_prior : (alpha, d)
        Of the partition of the columns.
    beta : float, default=1.0
        Inverse temperature.
    """

    columns: Sequence[Column]
    row_priors: Sequence[tuple[float, float]]
    column_prior: tuple[float, float]
    beta: float = 1.0

    @property
    def n_rows(self) -> int:
        return len(self.columns[0][1])

    @cached_property
    def _subsets(self) -> dict[tuple[int, tuple[int, ...]], float]:
        # One heated log marginal per column and subset of rows.
        table = {}
        for j, (kind, x, params) in enumerate(self.columns):
            for member in product([False, True], repeat=self.n_rows):
                rows = tuple(np.flatnonzero(member).tolist())
                table[j, rows] = self.beta * log_marginal(kind, np.asarray(x, dtype=float)[list(rows)], params)
        return table

    @cached_property
    def _columns_given_rows(self) -> dict[tuple[int, Partition], float]:
        return {
            (j, rows): sum(self._subsets[j, block] for block in blocks(rows))
            for j in range(len(self.columns))
            for rows in partitions(self.n_rows)
        }

    @cached_property
    def _row_states(self) -> list[Partition]:
        return list(partitions(self.n_rows))

    @cached_property
    def _log_rows(self) -> list[dict[Partition, float]]:
        """Log probability of each partition of the rows, given each point of the grid."""
        sizes = [np.bincount(rows) for rows in self._row_states]
        laws = [[float(log_eppf(own, *prior)) for own in sizes] for prior in self.row_priors]
        return [dict(zip(self._row_states, law, strict=True)) for law in laws]

    def score(self, columns: Sequence[int], view: View) -> float:
        """Log likelihood of columns under the rows of a view."""
        return sum(self._columns_given_rows[j, view.rows] for j in columns)

    def score_row(self, row: int, members: tuple[int, ...], columns: Sequence[int]) -> float:
        """Log likelihood of a row in a cluster of other rows."""
        together = tuple(sorted((*members, row)))
        return sum(self._subsets[j, together] - self._subsets[j, members] for j in columns)

    def log_joint(self, state: State) -> float:
        """log p(views, rows, their priors' places, data ** beta)."""
        result = float(log_eppf([len(view.columns) for view in state], *self.column_prior))
        for view in state:
            result += self._log_rows[view.prior][view.rows] - math.log(len(self.row_priors))
            result += self.score(view.columns, view)
        return result

    def states(self) -> list[State]:
        """All states."""
        every = []
        own = list(product(self._row_states, range(len(self.row_priors))))
        for labels in partitions(len(self.columns)):
            members = [frozenset(block) for block in blocks(labels)]
            for choice in product(own, repeat=len(members)):
                every.append(in_order([View(c, *pair) for c, pair in zip(members, choice, strict=True)]))
        return every

    # --- rows ---

    def prior_view(self, columns: frozenset[int], choose: Choose) -> View:
        """A view with its (alpha, d) from the grid and its rows from the prior."""
        prior = choose([1.0] * len(self.row_priors))
        return View(columns, self._row_states[chosen(list(self._log_rows[prior].values()), choose)], prior)

    def conditionals(
        self, row: int, clusters: Sequence[tuple[int, ...]], columns: Sequence[int], prior: int
    ) -> list[float]:
        """Log weights, normalised for the prior, of each cluster and of a new one, given the rows assigned so far."""
        alpha, d = self.row_priors[prior]
        n = sum(map(len, clusters))
        if n == 0:
            return [self.score_row(row, (), columns)]
        weights = [len(members) - d for members in clusters] + [alpha + d * len(clusters)]
        return [
            math.log(weight / (alpha + n)) + self.score_row(row, members, columns)
            for weight, members in zip(weights, [*clusters, ()], strict=True)
        ]

    def allocate(
        self,
        columns: frozenset[int],
        prior: int,
        order: Sequence[int],
        choose: Choose,
        forced: Partition | None = None,
    ) -> tuple[Partition, float]:
        """Allocate the rows in an order, each by its conditional given those before it and the columns.

        Returns the partition, and log W = log p(partition) p(columns | partition) / q(partition | order), the sum of
        the log normalisers. `forced` is a partition that is to come out: then W is that of its having been drawn.
        """
        clusters: list[tuple[int, ...]] = []
        labels = [-1] * self.n_rows
        log_weight = 0.0
        for row in order:
            log_weights = self.conditionals(row, clusters, columns, prior)
            top = max(log_weights)
            log_weight += top + math.log(sum(math.exp(weight - top) for weight in log_weights))
            if forced is None:
                k = chosen(log_weights, choose)
            else:
                k = next((k for k, own in enumerate(clusters) if forced[own[0]] == forced[row]), len(clusters))
            clusters[k : k + 1] = [tuple(sorted((*(clusters[k] if k < len(clusters) else ()), row)))]
            labels[row] = k
        return canonical(labels), log_weight

    def allocated_view(self, columns: frozenset[int], choose: Choose, forced: View | None = None) -> tuple[View, float]:
        """A view by `allocate` in a random order, its (alpha, d) from the grid; and log W."""
        prior = choose([1.0] * len(self.row_priors)) if forced is None else forced.prior
        order = shuffled(range(self.n_rows), choose)
        rows, log_weight = self.allocate(columns, prior, order, choose, None if forced is None else forced.rows)
        return View(columns, rows, prior), log_weight

    def gibbs_rows(self, state: State, choose: Choose) -> State:
        """A sweep over the rows of every view, and (alpha, d) of every view given its rows."""
        views = []
        for view in state:
            rows = list(view.rows)
            for row in range(self.n_rows):
                rows[row] = -1
                names = sorted(set(rows) - {-1})
                clusters = [tuple(i for i, name in enumerate(rows) if name == own) for own in names]
                k = chosen(self.conditionals(row, clusters, view.columns, view.prior), choose)
                rows[row] = [*names, max(names, default=-1) + 1][k]
            prior = chosen([law[canonical(rows)] for law in self._log_rows], choose)
            views.append(View(view.columns, canonical(rows), prior))
        return in_order(views)

    # --- columns ---

    def algorithm_8(
        self, state: State, column: int, choose: Choose, *, n_auxiliary: int, data_driven: bool = False
    ) -> State:
        """Algorithm 8 of Neal (2000, doi:10.1080/10618600.2000.10474879) for one column.

        Join view u with weight (m_u - d) L(u), or one of the auxiliary views with (alpha + d V) / m times L(auxiliary);
        or times its W where the auxiliary views come from sequential allocation given the column. A view of which the
        column was the only one is the first auxiliary view.
        """
        alone, home, others, log_weights = self._without(state, column)
        alpha, d = self.column_prior
        log_new = math.log((alpha + d * len(others)) / n_auxiliary)
        one = frozenset([column])
        auxiliary = []
        for i in range(n_auxiliary):
            forced = home if alone and i == 0 else None
            if data_driven:
                view, log_weight = self.allocated_view(one, choose, forced)
            else:
                view = self.prior_view(one, choose) if forced is None else forced
                log_weight = self.score(one, view)
            auxiliary.append(view)
            log_weights.append(log_new + log_weight)
        k = chosen(log_weights, choose)
        return self._joined(others, auxiliary, k, column)

    def _without(self, state: State, column: int) -> tuple[bool, View, list[View], list[float]]:
        """Take a column out: was it alone, where was it, the views that are left, their log weights for it."""
        home = next(view for view in state if column in view.columns)
        left = home.with_columns(home.columns - {column})
        others = [view for view in state if view is not home] + ([left] if left.columns else [])
        d = self.column_prior[1]
        log_weights = [math.log(len(view.columns) - d) + self.score([column], view) for view in others]
        return not left.columns, home, others, log_weights

    @staticmethod
    def _joined(others: list[View], auxiliary: Sequence[View], k: int, column: int) -> State:
        target = [*others, *auxiliary][k]
        chosen_view = target.with_columns((target.columns if k < len(others) else frozenset()) | {column})
        return in_order([view for i, view in enumerate(others) if i != k] + [chosen_view])

    def birth_death(self, state: State, choose: Choose) -> State:
        """A column leaves its view for a new one with rows from the prior, or gives up its own for another."""
        column = choose([1.0] * len(self.columns))
        alone, home, others, _ = self._without(state, column)
        alpha, d = self.column_prior
        n_others = len(self.columns) - 1
        one = frozenset([column])
        if alone and not others:
            return state
        if alone:
            k = choose([len(view.columns) - d for view in others])
            log_ratio = self.score(one, others[k]) - self.score(one, home)
            log_ratio -= math.log((alpha + d * len(others)) / (n_others - d * len(others)))
            return self._joined(others, (), k, column) if accepted(log_ratio, choose) else state
        new = self.prior_view(one, choose)
        log_ratio = math.log((alpha + d * len(state)) / (n_others - d * len(state)))
        log_ratio += self.score(one, new) - self.score(one, home)
        return in_order([*others, new]) if accepted(log_ratio, choose) else state

    def pool(self, n_auxiliary: int, choose: Choose) -> tuple[View, ...]:
        """Views without columns, their rows from the prior."""
        return tuple(self.prior_view(frozenset(), choose) for _ in range(n_auxiliary))

    def block_step(
        self, state: State, pool: tuple[View, ...], column: int, choose: Choose
    ) -> tuple[State, tuple[View, ...]]:
        """One column of the block move, whose auxiliary views are shared by all columns and used again.

        Favaro and Teh (2013, doi:10.1214/13-STS422), section 4: the pool stays a sample from the prior, independent of
        the state. A view that loses its last column takes the place of one of the pool, at random, before the column
        chooses; one that is chosen leaves the pool, and a new one takes its place.
        """
        alone, home, others, log_weights = self._without(state, column)
        alpha, d = self.column_prior
        entries = list(pool)
        if alone:
            entries[choose([1.0] * len(pool))] = home.with_columns(frozenset())
        log_new = math.log((alpha + d * len(others)) / len(pool))
        log_weights += [log_new + self.score([column], view) for view in entries]
        k = chosen(log_weights, choose)
        after = self._joined(others, entries, k, column)
        if k >= len(others):
            entries[k - len(others)] = self.prior_view(frozenset(), choose)
        return after, tuple(entries)

    def block(self, state: State, choose: Choose, *, n_auxiliary: int, n_sweeps: int = 2) -> State:
        """Sweeps of `block_step` over the columns, in random orders."""
        pool = self.pool(n_auxiliary, choose)
        for _ in range(n_sweeps):
            for column in shuffled(range(len(self.columns)), choose):
                state, pool = self.block_step(state, pool, column, choose)
        return state

    def group(self, state: State, choose: Choose) -> State:
        """A set of columns leaves its view for a new one, or a whole view joins another (Metropolis and Hastings).

        A launch partition, allocated given a seed column alone, says which columns belong to the seed's.
        """
        birth = choose([1.0, 1.0]) == 0
        seed = choose([1.0] * len(self.columns))
        home = next(view for view in state if seed in view.columns)
        others = [view for view in state if view is not home]
        if not birth and not others:
            return state
        launch, _ = self.allocated_view(frozenset([seed]), choose)
        if birth:
            group, log_choices = self._split(home, seed, launch, choose)
            if group == home.columns:
                return state
            left = home.with_columns(home.columns - group)
            new, log_weight = self.allocated_view(group, choose)
            log_target = self._log_target([left, *others], group)[0]
            log_ratio = self._log_birth(len(state), left, group) + log_weight + log_target - log_choices
            return in_order([left, new, *others]) if accepted(log_ratio, choose) else state
        group = home.columns
        log_targets = self._log_target(others, group)
        k = chosen(log_targets, choose)
        target = others[k]
        joint = target.with_columns(target.columns | group)
        _, log_choices = self._split(joint, seed, launch, choose, group)
        _, log_weight = self.allocated_view(group, choose, home)
        log_ratio = self._log_birth(len(others), target, group) + log_weight + log_targets[k] - log_choices
        after = in_order([view for i, view in enumerate(others) if i != k] + [joint])
        return after if accepted(-log_ratio, choose) else state

    def _split(
        self, home: View, seed: int, launch: View, choose: Choose, forced: frozenset[int] | None = None
    ) -> tuple[frozenset[int], float]:
        """The columns that go with the seed, each as it is likelier under the launch partition; and log Q."""
        group, log_choices = {seed}, 0.0
        for column in sorted(home.columns - {seed}):
            odds = self.score([column], launch) - self.score([column], home)
            log_go, log_stay = -np.logaddexp(0.0, -odds), -np.logaddexp(0.0, odds)
            if forced is None:
                go = chosen([log_stay, log_go], choose) == 1
            else:
                go = column in forced
            log_choices += log_go if go else log_stay
            if go:
                group.add(column)
        return frozenset(group), float(log_choices)

    def _log_target(self, views: Sequence[View], group: frozenset[int]) -> list[float]:
        """Log probability with which a group of columns joins each view."""
        return [float(p) for p in np.log(softmax([self.score(group, view) for view in views]))]

    def _log_birth(self, n_views: int, left: View, group: frozenset[int]) -> float:
        """Prior of the columns after a birth to that before, over their likelihood in the view they leave."""
        alpha, d = self.column_prior
        n_left, n_group = len(left.columns), len(group)
        log_prior = math.log(alpha + d * n_views) - gammaln(n_left + n_group - d) - gammaln(1 - d)
        log_prior += gammaln(n_group - d) + gammaln(n_left - d)
        return float(log_prior) - self.score(group, left)
