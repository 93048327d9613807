"""Geweke's joint-distribution test of the mixture's sweep, every hyperparameter learned on a fixed grid."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from oracles import reference
from oracles.enumeration import draw_partition
from support.column_examples import BY_NAME, CLASSES

from sklearn_subanneal.annealing._window import Window
from sklearn_subanneal.diagnostics import geweke_test
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.partitions import PitmanYor

N_ROWS = 6
CONCENTRATIONS, DISCOUNTS = [0.4, 1.0, 2.5], [0.0, 0.3, 0.6]
DTYPES = {
    "real": np.float32,
    "categorical": np.int8,
    "boolean": np.int8,
    "count": np.int32,
    "cyclic": np.float64,
    "gaussian": np.float64,
}
MISSING = {"real": np.nan, "gaussian": np.nan, "categorical": -1, "boolean": -1, "count": -1, "cyclic": np.nan}


@dataclass(frozen=True)
class Feature:
    """A column of the joint model: its kind, its grids, and which cells are never seen."""

    kind: str
    gaps: tuple = ()

    @property
    def example(self):
        return BY_NAME[self.kind]

    def draw_params(self, rng):
        """One point of every grid, as the reference takes it."""
        params = {}
        for name, grid in self.example.grids.items():
            lines = np.atleast_2d(grid)
            point = np.array([rng.choice(line) for line in lines])
            params[name] = np.diag(point) if name == "psi" else point if np.ndim(grid) == 2 else point[0]
        return params

    def with_gaps(self, cells):
        cells = cells.copy()
        for cell in self.gaps:
            cells[cell] = MISSING[self.kind]
        return cells


TABLES = {
    "real": [Feature("real", (2,))],
    "categorical": [Feature("categorical", (1,))],
    "boolean": [Feature("boolean", (5,))],
    "count": [Feature("count", (0,))],
    "cyclic": [Feature("cyclic", (3,))],
    "gaussian": [Feature("gaussian")],
    "gaussian-missing": [Feature("gaussian", ((1, 0), (3, 1), (4, slice(None))))],
    "mixed": [Feature("real", (2,)), Feature("categorical", (1,)), Feature("count"), Feature("gaussian", ((1, 0),))],
}


@dataclass(frozen=True)
class Joint:
    """Everything that the joint distribution is of; ``cells`` are complete, those in the gaps included."""

    labels: np.ndarray
    concentration: float
    discount: float
    params: list
    cells: list


def draw_prior(features, rng):
    """An independent draw, by the plain-Python reference alone."""
    alpha, d = rng.choice(CONCENTRATIONS), rng.choice(DISCOUNTS)
    labels = np.array(draw_partition(N_ROWS, alpha, d, rng))
    params, cells = [feature.draw_params(rng) for feature in features], []
    for feature, own in zip(features, params, strict=True):
        column = np.empty((N_ROWS, 2) if feature.kind == "gaussian" else N_ROWS, DTYPES[feature.kind])
        for k in range(labels.max() + 1):
            column[labels == k] = reference.draw_from_prior(feature.kind, own, int(np.sum(labels == k)), rng)[1]
        cells.append(column)
    return Joint(labels, alpha, d, params, cells)


def statistics_of(feature, cells, params):
    data_class, kernel = CLASSES[feature.kind]
    parameters = feature.example.kernel_parameters(params)
    return kernel(data_class(cells), parameters, feature.example.kernel_grids())


def redrawn(feature, params, labels, rng):
    """New cells given the partition and the hyperparameters, row by row from the kernel's predictive draws."""
    cells = np.zeros((N_ROWS, 2) if feature.kind == "gaussian" else N_ROWS, DTYPES[feature.kind])
    statistics = statistics_of(feature, cells, params)
    for row, k in enumerate(labels):
        cells[row] = statistics.draws(np.array([k], np.int32), np.full((1, statistics.width), np.nan), rng)[0].squeeze()
        statistics.put(row, k)
    return cells


def transition(features, cyclic):
    """A sweep of the chain over the observed cells, then new data."""

    def sweep(state, rng):
        columns = []
        for feature, params, cells in zip(features, state.params, state.cells, strict=True):
            column = statistics_of(feature, feature.with_gaps(cells), params)
            if feature.kind == "gaussian" and feature.gaps:
                rows = np.isnan(feature.with_gaps(cells)).any(axis=1)
                column.set_prior_state({"parameters": column.parameters, "completed": cells[rows]})
            columns.append(column)
        prior = PitmanYor(concentration_grid=CONCENTRATIONS, discount_grid=DISCOUNTS).bind()
        prior.parameters = {"concentration": state.concentration, "discount": state.discount}
        mixture = Mixture(columns, prior, N_ROWS)
        mixture.place(state.labels)
        mixture.rebuild()
        window = Window([0, N_ROWS], [1.0], cyclic)
        window.fill()
        churn(mixture, *window.plan(N_ROWS, 2 * N_ROWS, rng), 1.0, rng)
        mixture.learn(rng)
        labels = mixture.labels
        params = [f.example.reference_params(c.parameters) for f, c in zip(features, columns, strict=True)]
        cells = [redrawn(f, own, labels, rng) for f, own in zip(features, params, strict=True)]
        return Joint(labels, prior.concentration, prior.discount, params, cells)

    return sweep


def statistics(state):
    """Bounded functions of everything: data have heavy tails."""
    sizes = np.bincount(state.labels)
    together = state.labels[:, None] == state.labels
    out = {
        "n_clusters": len(sizes),
        "largest": sizes.max(),
        "pairs": together.sum(),
        "log concentration": np.log(state.concentration),
        "discount": state.discount,
        "concentration n_clusters": np.log(state.concentration) * len(sizes),
    }
    for j, (params, cells) in enumerate(zip(state.params, state.cells, strict=True)):
        x = np.arctan(cells.astype(float).reshape(N_ROWS, -1) / 2.0)
        out[f"{j} mean"], out[f"{j} square"] = x.mean(), (x**2).mean()
        out[f"{j} within"] = np.mean((x @ x.T)[together])
        out[f"{j} clusters"] = (x**2).mean() * len(sizes)
        if x.shape[1] > 1:
            out[f"{j} product"] = (x[:, 0] * x[:, 1]).mean()
        for name, value in params.items():
            value = np.diag(value) if name == "psi" else np.atleast_1d(value)
            place = value if name == "mu" else np.log(value)
            for i, own in enumerate(place):
                out[f"{j} {name}[{i}]"] = own
            out[f"{j} {name} square"] = place.mean() * (x**2).mean()
    return out


def run(table, cyclic, n_independent, n_successive, seed=0, sweep=None):
    features = TABLES[table]
    return geweke_test(
        lambda rng: draw_prior(features, rng),
        sweep or transition(features, cyclic),
        statistics,
        n_independent=n_independent,
        n_successive=n_successive,
        n_chains=16,
        random_state=seed,
    )


@pytest.mark.parametrize("table", TABLES)
def test_geweke(table):
    result = run(table, table in ("real", "mixed", "boolean"), n_independent=2000, n_successive=150)
    assert result.passed(0.01), str(result)


@pytest.mark.slow
@pytest.mark.parametrize("cyclic", [False, True], ids=["random", "cyclic"])
@pytest.mark.parametrize("table", TABLES)
def test_geweke_long(table, cyclic):
    result = run(table, cyclic, n_independent=10_000, n_successive=1000, seed=1)
    assert result.passed(0.01), str(result)


def test_a_discount_that_is_forgotten_is_found():
    features = TABLES["categorical"]
    right = transition(features, False)

    def wrong(state, rng):
        return replace(right(replace(state, discount=0.0), rng), discount=rng.choice(DISCOUNTS))

    assert not run("categorical", False, 2500, 200, sweep=wrong).passed(0.01)
