"""Predictions of held-out rows by a mixture, and the comparison of two."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.mixtures.held_out import HeldOut, log_gain


def held_out(densities, *errors):
    return HeldOut(np.array(densities, float), np.array(errors, float).T)


@pytest.fixture(scope="module")
def predicted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1)) + 0.3 * rng.normal(size=(60, 6))
    X[50, 2] = np.nan
    model = SubsampleAnnealedDPMM(covariance_type="full", n_chains=1, n_draws=2, random_state=0).fit(X[:40])
    return model, X[40:], HeldOut.of(model._models, model._flat_draws(), model._encode(X[40:]), range(6))


def test_densities_are_those_of_the_model(predicted):
    model, rows, found = predicted
    np.testing.assert_allclose(found.log_densities, model.score_samples(rows), rtol=1e-12)


@pytest.mark.parametrize("column", range(6))
def test_errors_are_those_of_cells_hidden_together(predicted, column):
    model, rows, found = predicted
    hidden = rows.copy()
    hidden[:, column % 4 :: 4] = np.nan
    wanted = np.abs(model.impute(hidden)[:, column] - rows[:, column]) / np.nanstd(rows[:, column])
    np.testing.assert_allclose(found.errors[:, column], wanted, rtol=1e-9)
    assert np.isnan(found.errors[10, 2])


def test_a_column_without_known_cells_has_no_errors(predicted, recwarn):
    model, rows, _ = predicted
    rows = rows.copy()
    rows[:, 3] = np.nan
    fewer = HeldOut.of(model._models, model._flat_draws(), model._encode(rows), range(6))
    assert np.isnan(fewer.errors[:, 3]).all()
    assert log_gain([fewer], [fewer]) == 0.0
    assert not recwarn.list


def test_gain_is_the_sum_over_rows_and_columns():
    ours, others = held_out([1.0, 3.0], [0.1, 0.1], [0.4, np.nan]), held_out([1.0, 2.0], [0.1, 0.3], [0.2, np.nan])
    wanted = 0.5 + np.log(0.201 / 0.101) + np.log(0.201 / 0.401)
    assert log_gain([ours], [others]) == pytest.approx(wanted)
    assert log_gain([others], [ours]) == pytest.approx(-wanted)
    # Two divisions are one table.
    parts = [held_out([1.0], [0.1], [0.4]), held_out([3.0], [0.1], [np.nan])]
    assert log_gain(parts, [held_out([1.0], [0.1], [0.2]), held_out([2.0], [0.3], [np.nan])]) == pytest.approx(wanted)


def test_what_has_no_density_or_no_error_says_nothing():
    ours = held_out([-np.inf, 2.0], [np.nan, np.nan], [0.0, 0.0], [np.inf, 1.0])
    others = held_out([-np.inf, 1.0], [np.nan, np.nan], [0.0, 0.0], [np.inf, 2.0])
    assert log_gain([ours], [others]) == pytest.approx(0.5)
