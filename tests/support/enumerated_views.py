"""Chains over views of a tiny table, and their distance from the exact posterior of both kinds of partitions."""

from __future__ import annotations

import numpy as np
from oracles.enumeration import canonical, partitions
from oracles.reference_chain import effective_draws, noise_floor, total_variation
from support.enumerated_chains import CORRELATION, Chain, check_distance
from support.view_moves import round_of_moves

from sklearn_subanneal.views import ColumnBirthDeath, ColumnBlocks, ColumnGibbs, ColumnGroups, ViewSplitMerge

FAST, COMPLETE = 5_000, 100_000
MOVES = {
    "prior-1": [ColumnGibbs("prior", n_auxiliary=1)],
    "prior-2": [ColumnGibbs("prior", n_auxiliary=2)],
    "data-driven-1": [ColumnGibbs(n_auxiliary=1)],
    "data-driven-2": [ColumnGibbs(n_auxiliary=2)],
    "birth-death": [ColumnBirthDeath()],
    "block-1": [ColumnBlocks(n_pool=1)],
    "block-2": [ColumnBlocks(n_pool=2)],
    "block-4": [ColumnBlocks(n_pool=4)],
    # So many that one of them starts from what another has left.
    "group": [ColumnGroups(n_proposals=20)],
    "split-merge": [ViewSplitMerge(n_proposals=8)],
    "default": [ColumnGibbs(), ColumnGroups(), ViewSplitMerge()],
}


def joined(column_labels, rows):
    """Both partitions as one of columns and rows together, none of which share a cluster."""
    return (*column_labels, *(np.add(rows, len(column_labels))))


class ViewsChain(Chain):
    """Views with some moves and a generator: columns move, then the rows of all views.

    Parameters
    ----------
    views : Views
    case : object
        `learned`: whether hyperparameters are; `beta`: the inverse temperature.
    moves : list of ColumnMove
    places : int array of shape (n_rows,)
        The rows of the table that count.
    rng : Generator
    """

    def __init__(self, views, case, moves, places, rng):
        self.views, self.case, self.places, self.rng = views, case, places, rng
        views.churn(np.full(len(places), -1, np.int32), places, 1.0, [rng] * views.n_views)
        self.update = round_of_moves(views, moves)

    def draws(self, n_draws, thin, observe=None):
        """Partitions of the columns, and of the rows in the view of column 0, one every ``thin`` rounds."""
        views, rng, beta = self.views, self.rng, self.case.beta
        states, seen = np.empty((n_draws, views.n_columns + len(self.places)), np.int32), []
        for state in states:
            for rows in rng.permuted(np.tile(self.places, (thin, 1)), axis=1):
                self.update(beta, rng)
                views.churn(rows, rows, beta, [rng] * views.n_views)
                if self.case.learned:
                    views.learn(rng, beta)
            column_labels = views.column_labels
            state[:] = joined(column_labels, views.mixtures[column_labels[0]].labels[self.places])
            if observe is not None:
                seen.append(observe())
        return states, seen


def check_views(chain, exact, n_wanted, laws=None, thin=1):
    """Run a chain, and compare with the exact posterior both partitions, that of the columns alone, and more.

    Parameters
    ----------
    chain : ViewsChain
    exact : ExactViews
    n_wanted : int
        Number of effective draws.
    laws : callable, optional
        Name, law and codes of each of some hyperparameters, given what the chain observed.
    thin : int
        Rounds between draws to begin with: pilots with fewer would only take time where draws are known to depend.
    """
    codes, n_effective, history = chain.independent_draws(n_wanted, thin)
    assert n_effective >= n_wanted
    assert len(codes) <= CORRELATION * n_effective
    n_columns, n_rows = exact.n_columns, exact.n_rows
    own = {canonical(joined(*key)): p for key, p in exact.law().items()}
    check_distance({state: own.get(state, 0.0) for state in partitions(n_columns + n_rows)}, codes, n_effective)
    rng = np.random.default_rng(2)
    every = list(partitions(n_columns))
    place = np.array([every.index(state[:n_columns]) for state in partitions(n_columns + n_rows)])
    # A bar much lower than that of both partitions.
    of_columns = np.reshape(list(exact.law().values()), (len(every), -1)).sum(axis=1)
    check_marginal("column partition", of_columns, place[codes], rng)
    for name, law, seen in laws(history) if laws and history else []:
        check_marginal(name, law, seen, rng)


def check_marginal(name, law, seen, rng):
    """Compare the codes that were seen with a law of few points, which has wide tails: the bar is a higher quantile."""
    if len(law) == 1:
        # It is not learned.
        return
    law = dict(enumerate(law))
    counts = dict(enumerate(np.bincount(seen, minlength=len(law))))
    floor = noise_floor(law, effective_draws(seen), 0.999, rng=rng)
    assert total_variation(law, counts) <= 1.3 * floor, name
