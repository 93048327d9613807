"""Geweke's joint-distribution test of views with Gaussian blocks, every hyperparameter learned on a fixed grid."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from oracles import reference
from oracles.enumeration import draw_partition
from oracles.reference_blocks import block_prior, correlation_of_vectors
from support.enumerated_views import MOVES
from support.geweke_mixtures import CONCENTRATIONS, DISCOUNTS, N_ROWS, Feature, statistics_of
from support.joint_reals import real_table, views_of
from support.view_moves import round_of_moves

from sklearn_subanneal.annealing._window import Window
from sklearn_subanneal.diagnostics import geweke_test
from sklearn_subanneal.partitions import PitmanYor

FLAGS, FLAGS_PLACE, PLACES = Feature("boolean"), 2, (0, 1, 3)
GAPS = {"complete": [], "missing": [(0, 0), (2, 1), (2, 2), (5, 0)]}
GRIDS = {
    "mu": np.array([[-0.5, 0.4], [0.0, 0.7], [-0.2, 0.2]]),
    "sigma2": np.tile([0.2, 0.7, 2.0], (3, 1)),
    "kappa": np.array([0.2, 1.5]),
    "nu": np.array([1.2, 3.0, 9.0]),
    "spread": np.array([0.4, 1.0, 3.0]),
}
N_SHARED, N_OWN = 2, 1
PATTERN = PitmanYor(concentration_grid=CONCENTRATIONS, discount_grid=DISCOUNTS)


@dataclass(frozen=True)
class View:
    """Rows of a view: their partition, its prior, and kappa and nu of the block of the view."""

    labels: np.ndarray
    concentration: float
    discount: float
    kappa: float
    nu: float


@dataclass(frozen=True)
class BlocksJoint:
    """Everything that the joint distribution is of; the cells are complete, those in the gaps included.

    Attributes
    ----------
    concentration, discount : float
        Of the partition of the columns.
    column_labels : ndarray of shape (4,)
    views : list of View
    reals : dict
        "mu", "sigma2" (3,), "vectors" (3, N_SHARED + N_OWN), "n_shared", "spread".
    of_flags : dict
        Hyperparameters of the boolean column.
    cells, flags : ndarray of shape (N_ROWS, 3), (N_ROWS,)
    """

    concentration: float
    discount: float
    column_labels: np.ndarray
    views: list
    reals: dict
    of_flags: dict
    cells: np.ndarray
    flags: np.ndarray

    def block(self, v):
        """The joint reals of a view, and their prior."""
        members = [i for i, place in enumerate(PLACES) if self.column_labels[place] == v]
        own = {name: self.reals[name][members] for name in ("mu", "sigma2")}
        own |= {"kappa": self.views[v].kappa, "nu": self.views[v].nu}
        return members, block_prior(own, correlation_of_vectors(self.reals["vectors"][members], N_SHARED))


def with_new_cells(state, rng):
    """All cells drawn given the partitions and the hyperparameters, by the plain-Python reference alone."""
    cells, flags = np.empty((N_ROWS, 3)), np.empty(N_ROWS, np.int8)
    for v, view in enumerate(state.views):
        members, prior = state.block(v)
        for k in range(view.labels.max() + 1):
            rows = np.flatnonzero(view.labels == k)
            if members:
                cells[np.ix_(rows, members)] = reference.draw_from_prior("gaussian", prior, len(rows), rng)[1]
            if state.column_labels[FLAGS_PLACE] == v:
                flags[rows] = reference.draw_from_prior("boolean", state.of_flags, len(rows), rng)[1]
    return replace(state, cells=cells, flags=flags)


def draw_prior(rng):
    """An independent draw."""
    concentration, discount = rng.choice(CONCENTRATIONS), rng.choice(DISCOUNTS)
    column_labels = np.array(draw_partition(1 + len(PLACES), concentration, discount, rng))
    views = []
    for _ in range(column_labels.max() + 1):
        own = rng.choice(CONCENTRATIONS), rng.choice(DISCOUNTS)
        labels = np.array(draw_partition(N_ROWS, *own, rng))
        views.append(View(labels, *own, rng.choice(GRIDS["kappa"]), rng.choice(GRIDS["nu"])))
    spread = rng.choice(GRIDS["spread"])
    reals = {name: np.array([rng.choice(line) for line in GRIDS[name]]) for name in ("mu", "sigma2")}
    reals |= {"vectors": rng.normal(size=(3, N_SHARED + N_OWN)), "n_shared": N_SHARED, "spread": spread}
    reals["vectors"][:, N_SHARED:] *= spread
    of_flags = FLAGS.draw_params(rng)
    state = BlocksJoint(concentration, discount, column_labels, views, reals, of_flags, np.empty(0), np.empty(0))
    return with_new_cells(state, rng)


def transition(moves, gaps, cyclic=True):
    """New data, then a sweep over rows and columns given the observed cells: cells in the gaps are filled anew."""

    def sweep(state, rng):
        state = with_new_cells(state, rng)
        shown = state.cells.copy()
        for gap in gaps:
            shown[gap] = np.nan
        missing = np.isnan(shown)
        start = {"kappa": GRIDS["kappa"][0], "nu": GRIDS["nu"][0]}
        reals = real_table(PLACES, shown, state.reals | start, GRIDS)
        flags = statistics_of(FLAGS, state.flags, state.of_flags)
        views = views_of({FLAGS_PLACE: flags}, reals, PATTERN.bind(), PATTERN.bind())
        own = [(view.kappa, view.nu) for view in state.views]
        of_reals = {"parameters": state.reals, "filled": state.cells[missing], "views": own}
        views.set_state(state.column_labels, np.array([view.labels for view in state.views]), of_reals)
        views.prior.parameters = {"concentration": state.concentration, "discount": state.discount}
        for mixture, view in zip(views.mixtures, state.views, strict=True):
            mixture.prior.parameters = {"concentration": view.concentration, "discount": view.discount}
        round_of_moves(views, MOVES[moves])(1.0, rng)
        window = Window([0, N_ROWS], [1.0], cyclic)
        window.fill()
        views.churn(*window.plan(N_ROWS, 2 * N_ROWS, rng), 1.0, [rng] * views.n_views)
        views.learn(rng)
        of_reals = views.get_state_of_reals()
        return BlocksJoint(
            views.prior.concentration,
            views.prior.discount,
            np.array(views.column_labels),
            [
                View(mixture.labels, mixture.prior.concentration, mixture.prior.discount, *np.round(own, 10))
                for mixture, own in zip(views.mixtures, of_reals["views"], strict=True)
            ],
            # Rounded, so that values of the grid are equal again.
            of_reals["parameters"] | {"sigma2": of_reals["parameters"]["sigma2"].round(10)},
            FLAGS.example.reference_params(flags.parameters),
            reals.filled.copy(),
            state.flags,
        )

    return sweep


def statistics(state):
    """Bounded functions of everything: data have heavy tails."""
    labels, views, own = state.column_labels, state.views, state.reals
    together = labels[:, None] == labels
    correlation = correlation_of_vectors(own["vectors"], N_SHARED)
    x = np.arctan(state.cells / 2.0)
    n_clusters = np.array([view.labels.max() + 1 for view in views])
    kappa, nu = (np.log([getattr(view, name) for view in views]) for name in ("kappa", "nu"))
    variances = np.log(own["sigma2"])
    out = {
        "n_views": len(views),
        "largest": np.bincount(labels).max(),
        "log column concentration": np.log(state.concentration),
        "column discount": state.discount,
        "column concentration n_views": np.log(state.concentration) * len(views),
        "clusters in all views": n_clusters.mean(),
        "concentration clusters": np.mean(np.log([view.concentration for view in views]) * n_clusters),
        "discount": np.mean([view.discount for view in views]),
        "kappa": kappa.mean(),
        "kappa n_views": kappa.mean() * len(views),
        "nu": nu.mean(),
        "nu n_views": nu.mean() * len(views),
        "nu variances": nu[labels[list(PLACES)]] @ variances,
        "spread": np.log(own["spread"]),
        "length": np.log(np.linalg.norm(own["vectors"], axis=1)).mean(),
        "own": np.arctan(own["vectors"][:, N_SHARED:] ** 2).mean(),
        "product of correlations": np.prod(correlation[np.triu_indices(3, 1)]),
        "flags": state.flags.mean(),
        "flags alpha": np.log(state.of_flags["alpha"]),
        "flags beta": np.log(state.of_flags["beta"]),
        "flags' kappa": kappa[labels[FLAGS_PLACE]],
    }
    within = [view.labels[:, None] == view.labels for view in views]
    for i, place in enumerate(PLACES):
        v = labels[place]
        out[f"mu {i}"], out[f"sigma2 {i}"] = own["mu"][i], variances[i]
        out[f"kappa {i}"], out[f"nu {i}"] = kappa[v], nu[v]
        out[f"cells {i}"], out[f"squares {i}"] = x[:, i].mean(), np.mean(x[:, i] ** 2)
        out[f"mu and cells {i}"] = own["mu"][i] * x[:, i].mean()
        out[f"sigma2 and squares {i}"] = variances[i] * np.mean(x[:, i] ** 2)
        out[f"nu and squares {i}"] = nu[v] * np.mean(x[:, i] ** 2)
        out[f"products within {i}"] = np.mean(np.outer(x[:, i], x[:, i])[within[v]])
        out[f"{i} with flags"] = float(together[place, FLAGS_PLACE])
        out[f"{i} and flags"] = np.mean(x[:, i] * state.flags)
        for j in range(i):
            near = float(together[place, PLACES[j]])
            product = np.mean(x[:, i] * x[:, j])
            out[f"{i} with {j}"], out[f"correlation {i}{j}"] = near, correlation[i, j]
            out[f"{i} times {j}"] = product
            out[f"{i} times {j} together"] = near * product
            out[f"{i} times {j} and correlation"] = near * product * correlation[i, j]
            out[f"correlation {i}{j} squared"] = correlation[i, j] ** 2
    for gap in GAPS["missing"]:
        row, i = gap
        v = labels[PLACES[i]]
        mates = views[v].labels == views[v].labels[row]
        out[f"cell {gap}"], out[f"square of cell {gap}"] = x[gap], x[gap] ** 2
        out[f"cell {gap} and its cluster"] = x[gap] * x[mates, i].mean()
        others = [j for j in range(3) if j != i and together[PLACES[i], PLACES[j]]]
        out[f"cell {gap} and its row"] = sum(x[gap] * x[row, j] * (1.0 + correlation[i, j]) for j in others)
    return out


def test_draws_from_the_prior_have_kappa_and_nu_of_each_view():
    rng = np.random.default_rng(0)
    state = draw_prior(rng)
    reals = real_table(PLACES, state.cells, state.reals | {"kappa": 7.0, "nu": 7.0}, GRIDS)
    flags = statistics_of(FLAGS, state.flags, state.of_flags)
    views = views_of({FLAGS_PLACE: flags}, reals, PATTERN.bind(), PATTERN.bind())
    own = {"kappa": [], "nu": []}
    for _ in range(600):
        views.draw_from_prior(rng)
        of_reals = views.get_state_of_reals()
        assert len(of_reals["views"]) == views.n_views
        np.testing.assert_array_equal(of_reals["parameters"]["vectors"], state.reals["vectors"])
        # Of one view of each draw: those of a draw are independent, but their number is not.
        for name, value in zip(own, of_reals["views"][0], strict=True):
            own[name].append(value)
    for name, values in own.items():
        shares = (np.array(values)[:, None] == GRIDS[name]).mean(axis=0)
        assert shares.sum() == 1.0 and np.abs(shares - 1.0 / len(GRIDS[name])).max() < 0.1, (name, shares)


def run(moves, gaps, n_independent, n_successive, seed=0, cyclic=True):
    return geweke_test(
        draw_prior,
        transition(moves, GAPS[gaps], cyclic),
        statistics,
        n_independent=n_independent,
        n_successive=n_successive,
        n_chains=16,
        random_state=seed,
    )


@pytest.mark.slow
def test_geweke():
    result = run("default", "missing", n_independent=400, n_successive=30)
    assert result.passed(0.01), str(result)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moves", "gaps"),
    [
        *(("default", own) for own in GAPS),
        *(
            (moves, list(GAPS)[i % len(GAPS)])
            for i, moves in enumerate(["prior-2", "data-driven-2", "birth-death", "block-2", "group", "split-merge"])
        ),
    ],
)
def test_geweke_long(moves, gaps):
    result = run(moves, gaps, n_independent=10_000, n_successive=800, seed=1, cyclic=moves != "default")
    assert result.passed(0.01), str(result)
