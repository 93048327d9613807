"""Semicontinuous columns in estimators: masses and densities, imputations, samples, odd columns; detection of atoms."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal.columns import bind_columns, find_atoms
from sklearn_subanneal.mixtures.predictive import ensemble_of_mixtures

N_ROWS = 200
CAP = 100.1
TYPES = {"amount": "semicontinuous"}
SHORT = {"n_chains": 1, "n_draws": 2, "max_sweeps": 5, "random_state": 0}


def table(seed=0):
    """One half of the rows spends mostly nothing; the other much, with a cap; ``group`` tells which."""
    rng = np.random.default_rng(seed)
    poor = np.arange(N_ROWS) % 2 == 0
    amount = np.where(poor, 5.0, 90.0) + np.where(poor, 1.0, 12.0) * rng.normal(size=N_ROWS)
    amount = np.minimum(amount, CAP)
    amount[rng.random(N_ROWS) < np.where(poor, 0.8, 0.1)] = 0.0
    amount[rng.random(N_ROWS) < 0.05] = np.nan
    return pd.DataFrame({"amount": amount, "group": np.where(poor, -4.0, 4.0) + rng.normal(size=N_ROWS)})


X = table()
ESTIMATORS = {
    "dpmm": SubsampleAnnealedDPMM(feature_types=TYPES, n_chains=2, n_draws=4, random_state=0),
    "crosscat": CrossCat(feature_types=TYPES, n_chains=2, n_draws=4, random_state=0),
}


@pytest.fixture(scope="module", params=ESTIMATORS)
def fitted(request):
    return ESTIMATORS[request.param].fit(X)


def rows(amount, group=np.nan):
    return pd.DataFrame({"amount": np.atleast_1d(amount), "group": group})


def density_of_the_rest(model, group):
    """The density of the amount given the group, on a line that meets no atom."""
    line = np.linspace(-60.0, 240.0, 60_001) + 1e-7
    joint = model.score_samples(rows(line, group))
    return line, np.exp(joint - model.score_samples(rows(np.nan, group)))


def masses(model, group):
    atoms = np.array([0.0, CAP])
    return atoms, np.exp(model.score_samples(rows(atoms, group)) - model.score_samples(rows(np.nan, group)))


@pytest.mark.parametrize("group", [-4.0, 4.0])
def test_masses_and_density_make_one(fitted, group):
    line, density = density_of_the_rest(fitted, group)
    assert masses(fitted, group)[1].sum() + np.trapezoid(density, line) == pytest.approx(1.0, abs=2e-3)


@pytest.mark.parametrize("group", [-4.0, 4.0])
def test_imputation_is_the_mean_and_its_deviation_atoms_included(fitted, group):
    line, density = density_of_the_rest(fitted, group)
    atoms, shares = masses(fitted, group)
    mean = shares @ atoms + np.trapezoid(density * line, line)
    deviation = np.sqrt(shares @ (atoms - mean) ** 2 + np.trapezoid(density * (line - mean) ** 2, line))
    filled, uncertainty = fitted.impute(rows(np.nan, group), return_uncertainty=True)
    assert filled["amount"][0] == pytest.approx(mean, rel=0.02)
    assert np.asarray(uncertainty)[0, 0] == pytest.approx(deviation, rel=0.05)


def test_an_atom_that_is_almost_sure_is_imputed():
    rng = np.random.default_rng(2)
    amount = np.where(rng.random(300) < 0.96, -0.3, rng.normal(50.0, 5.0, 300))
    model = SubsampleAnnealedDPMM(feature_types=["semicontinuous"], **SHORT).fit(amount[:, None])
    filled, uncertainty = model.impute([[np.nan]], return_uncertainty=True)
    assert filled[0, 0] == -0.3
    assert np.asarray(uncertainty)[0, 0] > 5.0


def test_samples_have_the_atoms_bit_for_bit(fitted):
    drawn = fitted.sample(4000, random_state=0)["amount"].to_numpy()
    for atom in (0.0, CAP):
        share = np.exp(fitted.score_samples(rows(atom)))[0]
        assert abs(np.mean(drawn == atom) - share) < 4.0 * np.sqrt(share / 4000)
    # Nothing is near an atom without being it.
    assert not np.any((drawn != CAP) & (np.abs(drawn - CAP) < 1e-6))


def test_the_unit_of_the_data_does_not_matter(fitted):
    scaled = fitted.__class__(**fitted.get_params()).fit(X.assign(amount=X["amount"] * 1e6))
    mass = X["amount"].isin([0.0, CAP]) | X["amount"].isna()
    difference = fitted.score_samples(X) - scaled.score_samples(X.assign(amount=X["amount"] * 1e6))
    assert_allclose(difference, np.where(mass, 0.0, np.log(1e6)), atol=1e-3)


def test_masses_and_densities_are_reported_apart():
    model = SubsampleAnnealedDPMM(feature_types=TYPES, **SHORT).fit(X)
    draws = [draw for chain in model._draws for draw in chain]
    ensemble = ensemble_of_mixtures(model._models, draws)
    cells = rows([0.0, CAP, 88.0, 6.0, np.nan])
    arrays = [column.to_numpy() for _, column in cells.items()]
    mass, score = ensemble.score_masses(arrays), model.score_samples(cells)
    # Atoms are all mass, and a missing cell is neither.
    assert_allclose(mass[[0, 1, 4]], score[[0, 1, 4]], atol=1e-12)
    # Being one of the rest has the probability that no atom has, and its density given that integrates to 1.
    assert_allclose(np.exp(mass[:2]).sum() + np.exp(mass[2]), 1.0)
    assert mass[2] == mass[3]
    line = np.linspace(-60.0, 240.0, 60_001) + 1e-7
    arrays = [line, np.full(len(line), np.nan)]
    density = np.exp(model.score_samples(rows(line)) - ensemble.score_masses(arrays))
    assert np.trapezoid(density, line) == pytest.approx(1.0, abs=2e-3)


def test_reals_have_no_mass_and_categories_no_density():
    cells = np.column_stack([np.arange(30) % 3, np.random.default_rng(0).normal(size=30)])
    model = SubsampleAnnealedDPMM(feature_types=["categorical", "real"], **SHORT).fit(cells)
    arrays = model._table.encode(model, cells)
    ensemble = ensemble_of_mixtures(model._models, [draw for chain in model._draws for draw in chain])
    alone = model.score_samples(np.column_stack([cells[:, 0], np.full(30, np.nan)]))
    assert_allclose(ensemble.score_masses(arrays), alone, atol=1e-12)


def test_hyperparameters_are_in_the_units_of_the_data(fitted):
    columns = fitted.hyperparameters_["columns"]
    if "amount (rest)" in columns:
        assert set(columns["amount (atom)"]) == {"alpha", "unseen"}
        assert set(columns["amount (rest)"]) == {"mu", "kappa", "sigma2", "nu"}
        return
    found = columns["amount"]
    assert set(found) == {"alpha", "mu", "kappa", "sigma2", "nu", "atoms"}
    assert_array_equal(found["atoms"], np.broadcast_to([0.0, CAP], (2, 4, 2)))


def test_cells_next_to_an_atom_are_not_the_atom():
    # In standard units all three round to the same number.
    cells = np.concatenate([np.zeros(60), [1e-20, -1e-20], np.random.default_rng(0).normal(9.0, 1.0, 60)])
    [model] = bind_columns(["x"], ["semicontinuous"], [0], [cells])
    values = model.values([cells])
    assert len(np.unique(values[[0, 60, 61]])) == 2 and np.all(values[60:62] != values[0])
    assert_array_equal(model.restore(values)[:60], 0.0)
    assert model.log_jacobian(values)[0] == 0.0 and np.all(model.log_jacobian(values)[60:] != 0.0)
    [model] = bind_columns(["x"], ["semicontinuous"], [0], [cells], feature_params={"x": {"atoms": [0.0, 1e-20]}})
    assert_array_equal(model.restore(model.values([cells]))[[0, 60]], [[0.0], [1e-20]])


ODD = {
    "constant": (np.full(30, 7.0), {}),
    "constant zero": (np.zeros(30), {}),
    "one row": (np.array([3.0]), {}),
    "all atoms": (np.repeat([0.0, 5.0], 20), {"atoms": [0, 5]}),
    "an atom that does not occur": (np.random.default_rng(0).normal(size=30), {"atoms": 99.0}),
    "one cell of the rest": (np.append(np.zeros(40), 3.0), {}),
    "rest of one value": (np.append(np.zeros(40), [3.0, 3.0]), {}),
    "missing": (np.where(np.arange(60) % 4 == 0, np.nan, np.maximum(np.arange(-30.0, 30.0), 0.0)), {}),
    "small": (np.append(np.zeros(40), [1e-100, 2e-100, 5e-101]), {}),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("options", [{}, {"grids": "fixed"}, {"learn_hyperparameters": False}], ids=str)
def test_odd_columns(name, options):
    cells, params = ODD[name]
    model = SubsampleAnnealedDPMM(
        feature_types=["semicontinuous"], feature_params={"x0": params} if params else None, **SHORT, **options
    ).fit(cells[:, None])
    assert np.isfinite(model.score_samples(cells[:, None])).all()
    assert np.isfinite(model.sample(20, random_state=0)).all()
    assert np.isfinite(model.impute(np.full((1, 1), np.nan))).all()


@pytest.mark.parametrize(
    "cells",
    [np.arange(50.0), np.repeat(np.arange(5.0), 40), np.repeat([0.0, 1.0], 40), np.zeros(3) + [0, 0, 1]],
    ids=["none", "codes", "two values", "few rows"],
)
def test_without_atoms_the_type_is_refused(cells):
    with pytest.raises(ValueError, match=r"'x0' is semicontinuous but has no atoms: no value.*\['atoms'\].*'real'"):
        SubsampleAnnealedDPMM(feature_types=["semicontinuous"]).fit(cells[:, None])


@pytest.mark.parametrize(("below", "others", "found"), [(18, 9, 0.25), (19, 9, 0.25), (17, 9, None), (2, 1, None)])
def test_the_most_frequent_value_is_an_atom_where_the_type_is_declared(below, others, found):
    rest = np.append(np.round(np.random.default_rng(0).exponential(size=60), 8) + 0.5, np.full(others, 2.0))
    cells = np.append(np.full(below, 0.25), rest)[:, None]
    model = SubsampleAnnealedDPMM(feature_types=["semicontinuous"], **SHORT)
    if found is None:
        with pytest.raises(ValueError, match="has no atoms"):
            model.fit(cells)
        return
    given = clone(model).set_params(feature_params={"x0": {"atoms": found}}).fit(cells)
    assert_array_equal(model.fit(cells).score_samples(cells), given.score_samples(cells))


@pytest.mark.parametrize(
    ("atoms", "message"),
    [([], "has no atoms: give at least one"), ([np.inf], r"\['atoms'\] must be a finite number, or an array of such")],
)
def test_wrong_atoms_are_refused(atoms, message):
    with pytest.raises(ValueError, match=message):
        SubsampleAnnealedDPMM(feature_types=TYPES, feature_params={"amount": {"atoms": atoms}}).fit(X)


# --- Detection of atoms -----------------------------------------------------------------------------------------


def amounts(n):
    return np.random.default_rng(1).lognormal(size=n)


@pytest.mark.parametrize(
    ("cells", "atoms"),
    [
        (np.append(np.zeros(30), amounts(100)), [0.0]),
        (np.append(np.full(21, -1.5), amounts(100)), [-1.5]),
        (np.append(np.zeros(20), amounts(100)), []),  # no more than 20
        (np.append(np.zeros(100), amounts(20_000)), []),  # no more than 1 %
        (np.concatenate([np.zeros(900), np.full(300, 9.0), amounts(200), [np.nan] * 50]), [0.0, 9.0]),
        # Most values of ages repeat, and so do those of counts; a spike among them stands out.
        (np.random.default_rng(0).integers(18, 90, 2000).astype(float), []),
        (np.append(np.zeros(3000), np.random.default_rng(0).integers(1, 60, 3000)), [0.0]),
        (np.full(50, 3.0), []),
        (np.repeat([0.0, 1.0], 50), []),
        (np.full(5, np.nan), []),
        (np.empty(0), []),
    ],
    ids=range(11),
)
def test_atoms_are_found(cells, atoms):
    assert_array_equal(find_atoms(cells), atoms)


def test_a_column_that_never_changes_stays_so():
    """Its value has nearly all the probability, and is the only one that is drawn."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=80), "year": 2000, "b": rng.normal(size=80)})
    for estimator in (CrossCat, SubsampleAnnealedDPMM):
        model = estimator(n_chains=1, n_draws=2, random_state=0).fit(frame)
        assert model.feature_types_["year"] == "semicontinuous"
        assert (model.sample(3000, random_state=0)["year"] == 2000).all()
        assert model.score(frame) == pytest.approx(
            estimator(n_chains=1, n_draws=2, random_state=0).fit(frame[["a", "b"]]).score(frame[["a", "b"]]), abs=0.5
        )
    model = CrossCat(n_chains=1, n_draws=2, random_state=0).fit(frame)
    assert model.probability("year == 2000") > 0.98
