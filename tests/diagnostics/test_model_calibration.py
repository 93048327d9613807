"""Simulation-based calibration of the estimators, all types of columns included, and of planted errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.calibrated_models import (
    FIXED,
    GRIDS,
    MODELS,
    N_ROWS,
    PITMAN_YOR,
    calibration_of,
    mixture_of_all_types,
    simulator_of,
    table_of_all_types,
    table_of_reals,
)

from sklearn_subanneal import SubsampleAnnealedDPMM, TreeGuidedNRMM
from sklearn_subanneal.annealing.schedules import PriorGibbs
from sklearn_subanneal.columns import KINDS
from sklearn_subanneal.diagnostics import calibrate
from sklearn_subanneal.partitions import PitmanYor

SHORT = {"schedule": PriorGibbs(passes=15), "n_draws": 9, "thin": 4}


@pytest.mark.parametrize(
    "name, n_replications", [pytest.param("mixture", 40, marks=pytest.mark.slow), ("crosscat-missing", 15)]
)
def test_calibration(name, n_replications):
    result = calibration_of(simulator_of(name, **SHORT), n_replications)
    assert result.passed(), str(result)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in MODELS if f"{name}-missing" not in MODELS])
def test_calibration_long(name):
    result = calibration_of(simulator_of(name), 500)
    print(name, result, sep="\n")
    assert result.passed(), str(result)


def test_all_types_of_columns_are_calibrated():
    assert {*GRIDS, "gaussian", "bag-of-words"} == set(KINDS)
    assert list(table_of_all_types()) == list(GRIDS)


def simple():
    """A mixture of two columns, whose replications take milliseconds."""
    grids = {"real": {**GRIDS["real"], "mu": [0.0, 5.0], "sigma2": [0.5, 2.0]}, "boolean": GRIDS["boolean"]}
    model = SubsampleAnnealedDPMM(
        PITMAN_YOR, feature_types={1: "boolean"}, feature_grids=grids, n_chains=1, n_draws=9, thin=5, schedule="prior"
    )
    rng = np.random.default_rng(0)
    return model.simulator(np.column_stack([rng.normal(2.0, 2.0, N_ROWS), rng.integers(2, size=N_ROWS)]))


def shuffled_column(simulator):
    """A posterior that does not know which cells of a column belong to which rows."""

    def draw_posterior(arrays, rng):
        return simulator.draw_posterior([rng.permutation(arrays[0]), arrays[1]], rng)

    return draw_posterior


def forgotten_rows(simulator):
    """A posterior given a part of the cells alone."""

    def draw_posterior(arrays, rng):
        cells = np.where(np.arange(N_ROWS) < 4, np.nan, arrays[0])
        return simulator.draw_posterior([cells, arrays[1]], rng)

    return draw_posterior


def wrong_concentrations(simulator):
    """The concentration is redrawn with a prior that is not the one of the parameters."""
    partition = PitmanYor(concentration_grid=[0.3, 1.0, *[3.0] * 8], discount_grid=[0.0, 0.3, 0.6])
    return replace(simulator, spec=replace(simulator.spec, partition=partition)).draw_posterior


def forgotten_discounts(simulator):
    """The chain redraws the discount, but its rows move as if it were 0."""
    partition = PitmanYor(discount=0.0, concentration_grid=[0.3, 1.0, 3.0])
    wrong = replace(simulator, spec=replace(simulator.spec, partition=partition))

    def draw_posterior(arrays, rng):
        return [
            (replace(draw, prior=draw.prior | {"discount": rng.choice([0.0, 0.3, 0.6])}), labels)
            for draw, labels in wrong.draw_posterior(arrays, rng)
        ]

    return draw_posterior


def test_a_simple_mixture_is_calibrated():
    result = calibration_of(simple(), 100)
    assert result.passed(), str(result)


@pytest.mark.parametrize(
    "error",
    [
        forgotten_rows,
        *(
            pytest.param(error, marks=pytest.mark.slow)
            for error in (wrong_concentrations, shuffled_column, forgotten_discounts)
        ),
    ],
)
def test_planted_errors_are_found(error):
    simulator = simple()
    result = calibration_of(simulator, 100, error(simulator))
    assert not result.passed(1e-3), str(result)


@pytest.mark.parametrize("name", ["mixture", "blocks-missing", "crosscat-missing"])
def test_drawn_tables_are_like_the_given_one(name):
    simulator = simulator_of(name)
    (draw, labels), arrays = simulator.draw_prior(np.random.default_rng(0))
    assert labels.shape[-1] == N_ROWS and len(arrays) == len(simulator.spec.arrays)
    for cells, like in zip(arrays, simulator.spec.arrays, strict=True):
        absent, wanted = (np.isnan(x) if x.dtype.kind == "f" else x < 0 for x in (cells, like))
        assert np.array_equal(absent, wanted) and cells.dtype.kind == like.dtype.kind
    statistics = simulator.statistics((draw, labels), arrays)
    assert all(np.isfinite(value) for value in statistics.values())
    again = simulator.draw_prior(np.random.default_rng(0))[1]
    assert all(np.array_equal(x, y, equal_nan=x.dtype.kind == "f") for x, y in zip(arrays, again, strict=True))


def test_statistics_name_what_is_learned():
    names = set(simulator_of("mixture").statistics(*simulator_of("mixture").draw_prior(np.random.default_rng(0))))
    assert {"n_clusters", "log joint", "log likelihood", "concentration", "discount", "ordinal free"} <= names
    assert {f"{kind} {name}" for kind in ("real", "skewed", "cyclic") for name in GRIDS[kind]} <= names
    assert not any(word in name for name in names for word in ("atoms", "unseen", "period", "cuts", "transform"))


@pytest.mark.parametrize("name", ["mixture", "blocks-missing", "crosscat-missing", "nggp"])
def test_without_learning_hyperparameters_are_those_given(name):
    simulator = simulator_of(name, learn_hyperparameters=False, n_draws=2, thin=1)
    rng = np.random.default_rng(0)
    parameters, arrays = simulator.draw_prior(rng)
    names = set(simulator.statistics(parameters, arrays))
    assert {"log joint", "log likelihood"} <= names and not names & {"concentration", "mass", "gaussian nu", "a nu"}
    assert len(simulator.draw_posterior(arrays, rng)) == 2


def test_all_chains_give_draws():
    simulator = simulator_of("blocks", n_chains=2, n_draws=3, thin=1)
    arrays = simulator.draw_prior(np.random.default_rng(0))[1]
    assert len(simulator.draw_posterior(arrays, np.random.default_rng(1))) == 6


@pytest.mark.slow
def test_fits_are_calibrated_too():
    """By `fit` and its attributes alone: the grids are in the units of the data, whatever the table is."""
    model = SubsampleAnnealedDPMM(
        PitmanYor(1.0, 0.0),
        feature_grids={"real": {"mu": [0.0, 5.0], "kappa": [0.1, 1.0], "sigma2": [0.5, 2.0], "nu": [4.0, 9.0]}},
        n_chains=1,
        n_draws=9,
        thin=5,
        schedule="prior",
    )
    simulator = model.simulator(np.linspace(-3.0, 7.0, N_ROWS)[:, None])

    def draw_prior(rng):
        (draw, _), [cells] = simulator.draw_prior(rng)
        own = simulator.spec.models[0].report(draw.columns[0]["parameters"])
        return {**own, "n_clusters": len(draw.sizes), "log joint": draw.log_joint}, cells

    def draw_posterior(cells, rng):
        model.set_params(random_state=int(rng.integers(2**31))).fit(cells[:, None])
        own = {name: values[0] for name, values in model.hyperparameters_["columns"]["x0"].items()}
        own["log joint"] = model.log_joint_[0]
        own["n_clusters"] = [len(np.unique(labels)) for labels in model.posterior_labels_[0]]
        return [dict(zip(own, values, strict=True)) for values in zip(*own.values(), strict=True)]

    result = calibrate(draw_prior, draw_posterior, lambda parameters, _: parameters, n_replications=100, random_state=0)
    assert result.passed(), str(result)


def test_simulators_refuse_what_they_cannot_draw():
    counts = np.random.default_rng(0).poisson(1.0, (6, 4)) + 1
    with pytest.raises(ValueError, match="can't draw documents"):
        TreeGuidedNRMM(feature_types="bag-of-words").simulator(counts)
    with pytest.raises(ValueError, match="choose other moves"):
        TreeGuidedNRMM(moves=["incremental-hierarchy"]).simulator(table_of_reals(missing=False))
    with pytest.raises(ValueError, match="n_draws"):
        mixture_of_all_types(n_draws=0)[0].simulator(table_of_all_types())
    assert FIXED  # the atoms, the period and the transform are those of the prior


def test_an_estimator_is_not_fitted_by_its_simulator():
    model, table = mixture_of_all_types()
    model.simulator(table)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("name", ["blocks-missing", pytest.param("crosscat-missing", marks=pytest.mark.slow)])
def test_tables_with_missing_cells_beyond_their_limits_are_drawn_anew(name, monkeypatch):
    """These limits are part of the prior: chains never have such cells."""
    simulator, drawn = simulator_of(name), []
    # Of few degrees of freedom, which have heavy tails.
    models = [
        model if model.limits is None else replace(model, grids=model.grids | {"nu": model.grids["nu"][:1]})
        for model in simulator.spec.models
    ]
    simulator = replace(simulator, spec=replace(simulator.spec, models=models))

    def farthest(arrays, complete):
        """The distance of a missing cell from the middle of its limits, as a share of that of these."""
        shares = [0.0]
        for model in (model for model in models if model.limits is not None):
            middle, room = model.limits.mean(axis=0), np.ptp(model.limits, axis=0) / 2.0
            off = np.abs(model.values(complete) - middle) / room
            shares.append(off[np.isnan(model.values(arrays))].max(initial=0.0))
        return max(shares)

    right = type(simulator)._drawn
    monkeypatch.setattr(type(simulator), "_drawn", lambda self, rng: drawn.append(right(self, rng)) or drawn[-1])
    rng, kept = np.random.default_rng(0), []
    for _ in range(150):
        assert simulator.draw_prior(rng)[1] is drawn[-1][1]
        kept.append(len(drawn) - 1)
    found = np.array([farthest(arrays, complete) for _, arrays, complete in drawn])
    assert np.flatnonzero(found <= 1.0).tolist() == kept
    assert len(drawn) > len(kept)
