"""Anomalies of a table: each row is judged by the other rows, however many of them are scored."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal.report import Plan, learn, read_source
from sklearn_subanneal.report.anomalies import find_anomalies


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Three clusters, with two gross errors, each of which is alone in a cluster of the fit."""
    rng = np.random.default_rng(0)
    centres = np.array([0.0, 8.0, 16.0])[rng.integers(3, size=300)]
    table = pd.DataFrame(centres[:, None] + rng.normal(size=(300, 4)), columns=list("abcd"))
    table.loc[10, "a"], table.loc[20, ["b", "c"]] = 60.0, -45.0
    path = tmp_path_factory.mktemp("table") / "table.csv"
    table.to_csv(path, index=False)
    source = read_source(path)
    return source, learn(source, Plan(n_chains=2, n_draws=5, n_jobs=1, effort=0.2, covariance_type="diag")).model


def by_row(found):
    return {row.row: row.nats for row in found.rows}


def test_rows_are_judged_by_the_others_if_not_all_are_scored(fitted):
    source, model = fitted
    whole = by_row(find_anomalies(model, source, 6, 10_000))
    most = find_anomalies(model, source, 6, 299)
    assert most.n_scored == 299
    assert {10, 20} == set(list(whole)[:2]) == set(list(by_row(most))[:2])
    for row in (10, 20):
        assert by_row(most)[row] == pytest.approx(whole[row], abs=0.5)


def test_rows_are_judged_by_the_others_if_time_is_short(fitted):
    source, model = fitted
    whole = by_row(find_anomalies(model, source, 300, 10_000))
    trial = by_row(find_anomalies(model, source, 300, 10_000, deadline=time.perf_counter()))
    # The medians that are subtracted are of other rows.
    assert len(trial) == 10 and 30 in trial
    differences = [nats - whole[row] for row, nats in trial.items()]
    assert np.ptp(differences) < 1e-6


@pytest.mark.parametrize("most_scored", [299, 10_000])
def test_what_is_expected_comes_from_the_other_rows(fitted, most_scored):
    source, model = fitted
    cells = {(cell.row, cell.column): cell for cell in find_anomalies(model, source, 6, most_scored).cells}
    assert float(cells[10, "a"].expected.split()[0]) == pytest.approx(source.X.loc[10, ["b", "c", "d"]].mean(), abs=2.0)
    # No other row has such cells: the cluster of the row itself would let expect -45.
    for column in ("b", "c"):
        assert cells[20, column].value == "-45" and -20.0 < float(cells[20, column].expected.split()[0])


def test_amounts_of_zero_are_not_odd_in_small_units_alone(tmp_path):
    """Of an amount, zero has a probability, and the other cells have densities, which grow as the unit shrinks."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=300)
    amount = np.where(rng.random(300) < 0.3, 0.0, np.exp(1.0 + 0.3 * rng.normal(size=300)))
    amount[7] = 30.0
    found = []
    for unit in (1.0, 2.0**-20):
        path = tmp_path / "table.csv"
        pd.DataFrame({"x": x, "amount": unit * amount}).to_csv(path, index=False)
        source = read_source(path, {"amount": "semicontinuous"})
        model = learn(source, Plan(n_chains=1, n_draws=3, n_jobs=1, effort=0.2)).model
        anomalies = find_anomalies(model, source, 15, 10_000)
        found.append((by_row(anomalies), {(cell.row, cell.column): cell.nats for cell in anomalies.cells}))
    for own, other in zip(*found, strict=True):
        assert own == pytest.approx(other, rel=1e-4)
    rows, cells = found[0]
    assert next(iter(rows)) == 7 and next(iter(cells)) == (7, "amount")
    # A zero is no rare cell: 30 % are.
    assert np.mean([amount[row] == 0.0 for row in rows]) < 0.6
