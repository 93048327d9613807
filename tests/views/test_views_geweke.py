"""Geweke's joint-distribution test of cross-categorization, every hyperparameter learned on a fixed grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from oracles.enumeration import blocks, draw_partition
from support.geweke_mixtures import CONCENTRATIONS, DISCOUNTS, N_ROWS, Feature, Joint, redrawn, statistics_of
from support.geweke_mixtures import draw_prior as draw_mixture
from support.geweke_mixtures import statistics as of_mixture
from support.view_moves import round_of_moves

from sklearn_subanneal.annealing._window import Window
from sklearn_subanneal.diagnostics import geweke_test
from sklearn_subanneal.partitions import PitmanYor
from sklearn_subanneal.views import ColumnBirthDeath, ColumnBlocks, ColumnGibbs, ColumnGroups, ViewSplitMerge
from sklearn_subanneal.views._views import Views

FEATURES = [Feature("real", (2,)), Feature("categorical", (1,)), Feature("boolean"), Feature("count", (0, 4))]
MOVES = {
    "default": [ColumnGibbs(), ColumnGroups(n_proposals=3), ViewSplitMerge()],
    "prior": [ColumnGibbs("prior", n_auxiliary=2)],
    "data-driven": [ColumnGibbs(n_auxiliary=2)],
    "birth-death": [ColumnBirthDeath()],
    "block": [ColumnBlocks(n_pool=3)],
    "group": [ColumnGroups(n_proposals=4)],
}
PATTERN = PitmanYor(concentration_grid=CONCENTRATIONS, discount_grid=DISCOUNTS)


@dataclass(frozen=True)
class ViewsJoint:
    """Everything that the joint distribution is of: the partition of the columns with its prior, and each view."""

    concentration: float
    discount: float
    members: list
    views: list

    @property
    def columns(self):
        """Of each column: its view, and its hyperparameters and cells."""
        found = {}
        for v, (members, view) in enumerate(zip(self.members, self.views, strict=True)):
            for j, params, cells in zip(members, view.params, view.cells, strict=True):
                found[j] = v, params, cells
        return [found[j] for j in range(len(found))]


def draw_prior(rng):
    """An independent draw, by the plain-Python reference alone."""
    alpha, d = rng.choice(CONCENTRATIONS), rng.choice(DISCOUNTS)
    members = blocks(draw_partition(len(FEATURES), alpha, d, rng))
    return ViewsJoint(alpha, d, members, [draw_mixture([FEATURES[j] for j in block], rng) for block in members])


def transition(moves, cyclic):
    """A sweep over rows and columns given the observed cells, then new data."""

    def sweep(state, rng):
        held = state.columns
        columns = [
            statistics_of(feature, feature.with_gaps(cells), params)
            for feature, (_, params, cells) in zip(FEATURES, held, strict=True)
        ]
        views = Views(columns, PATTERN.bind(), PATTERN.bind(), N_ROWS)
        views.set_state([v for v, _, _ in held], np.array([view.labels for view in state.views]))
        views.prior.parameters = {"concentration": state.concentration, "discount": state.discount}
        for mixture, view in zip(views.mixtures, state.views, strict=True):
            mixture.prior.parameters = {"concentration": view.concentration, "discount": view.discount}
        round_of_moves(views, MOVES[moves])(1.0, rng)
        window = Window([0, N_ROWS], [1.0], cyclic)
        window.fill()
        views.churn(*window.plan(N_ROWS, 2 * N_ROWS, rng), 1.0, [rng] * views.n_views)
        views.learn(rng)
        members = [views.members(v) for v in range(views.n_views)]
        return ViewsJoint(
            views.prior.concentration,
            views.prior.discount,
            members,
            [redrawn_view(own, m, columns, rng) for own, m in zip(members, views.mixtures, strict=True)],
        )

    return sweep


def redrawn_view(members, mixture, columns, rng):
    """A view with new cells for all of its columns."""
    labels = mixture.labels
    params = [FEATURES[j].example.reference_params(columns[j].parameters) for j in members]
    cells = [redrawn(FEATURES[j], own, labels, rng) for j, own in zip(members, params, strict=True)]
    return Joint(labels, mixture.prior.concentration, mixture.prior.discount, params, cells)


def statistics(state):
    """Those of a mixture for the view of each column with that column alone, and of what columns have in common."""
    columns = state.columns
    labels = np.array([v for v, _, _ in columns])
    together = labels[:, None] == labels
    x = np.array([np.arctan(cells.astype(float) / 2.0) for _, _, cells in columns])
    products = x @ x.T / N_ROWS
    out = {
        "n_views": len(state.views),
        "largest": np.bincount(labels).max(),
        "log column concentration": np.log(state.concentration),
        "column discount": state.discount,
        "column concentration n_views": np.log(state.concentration) * len(state.views),
        "clusters in all views": np.mean([view.labels.max() + 1 for view in state.views]),
        "product in a view": products[together].mean(),
    }
    for j, (v, params, cells) in enumerate(columns):
        view = state.views[v]
        alone = Joint(view.labels, view.concentration, view.discount, [params], [cells])
        out |= {f"{FEATURES[j].kind}: {name}": value for name, value in of_mixture(alone).items()}
        out |= {f"{j} with {i}": float(together[i, j]) for i in range(j)}
        out |= {f"{j} times {i}": products[i, j] for i in range(j)}
    return out


def run(moves, cyclic, n_independent, n_successive, seed=0, sweep=None):
    return geweke_test(
        draw_prior,
        sweep or transition(moves, cyclic),
        statistics,
        n_independent=n_independent,
        n_successive=n_successive,
        n_chains=16,
        random_state=seed,
    )


@pytest.mark.slow
def test_geweke():
    result = run("default", True, n_independent=700, n_successive=40)
    assert result.passed(0.01), str(result)


@pytest.mark.slow
@pytest.mark.parametrize("cyclic", [False, True], ids=["random", "cyclic"])
@pytest.mark.parametrize("moves", MOVES)
def test_geweke_long(moves, cyclic):
    result = run(moves, cyclic, n_independent=10_000, n_successive=800, seed=1)
    assert result.passed(0.01), str(result)


@pytest.mark.slow
def test_a_prior_of_the_columns_that_is_forgotten_is_found():
    right = transition("default", False)

    def wrong(state, rng):
        after = right(ViewsJoint(0.4, 0.0, state.members, state.views), rng)
        return ViewsJoint(rng.choice(CONCENTRATIONS), rng.choice(DISCOUNTS), after.members, after.views)

    assert not run("default", False, 1500, 80, sweep=wrong).passed(0.01)
