"""Geweke's joint-distribution test of the mixture's sweep, every hyperparameter learned on a fixed grid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.geweke_mixtures import (
    CONCENTRATIONS,
    DISCOUNTS,
    N_ROWS,
    TABLES,
    Joint,
    draw_prior,
    redrawn,
    statistics,
    statistics_of,
)

from sklearn_subanneal.annealing._window import Window
from sklearn_subanneal.diagnostics import geweke_test
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.partitions import PitmanYor


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
        mixture.relabel(state.labels)
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


@pytest.mark.slow
@pytest.mark.parametrize("table", ["mixed", "ordinal"])
def test_geweke(table):
    result = run(table, True, n_independent=500, n_successive=40)
    assert result.passed(0.01), str(result)


@pytest.mark.slow
@pytest.mark.parametrize("cyclic", [False, True], ids=["random", "cyclic"])
@pytest.mark.parametrize("table", TABLES)
def test_geweke_long(table, cyclic):
    result = run(table, cyclic, n_independent=10_000, n_successive=1000, seed=1)
    assert result.passed(0.01), str(result)


@pytest.mark.slow
def test_a_discount_that_is_forgotten_is_found():
    features = TABLES["categorical"]
    right = transition(features, False)

    def wrong(state, rng):
        return replace(right(replace(state, discount=0.0), rng), discount=rng.choice(DISCOUNTS))

    assert not run("categorical", False, 2500, 200, sweep=wrong).passed(0.01)
