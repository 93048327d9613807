"""Numbers are written with digits by their spread: Julian dates and years differ in their last digits alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal import CrossCat, save
from sklearn_subanneal.estimators._reasons import CellReason
from sklearn_subanneal.report import read_source
from sklearn_subanneal.report.anomalies import prediction_text
from sklearn_subanneal.report.cli import main
from sklearn_subanneal.report.clusters import _trait
from sklearn_subanneal.report.imputation import completed_table
from sklearn_subanneal.report.learned_ranges import learned_ranges
from sklearn_subanneal.report.pair_facts import pair_fact
from sklearn_subanneal.report.table_check import OddRow

SETTINGS = {"n_chains": 1, "n_draws": 2, "max_sweeps": 3, "effort": 0.2, "random_state": 0}


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Julian dates, coordinates, whole numbers and a logarithm, in two groups; a file of the model."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 40)
    X = pd.DataFrame(
        {
            "jd": (2459000.0 + 8.0 * group + rng.random(80)).round(4),
            "north": (5812300.0 + 6.0 * group + rng.normal(size=80)).round(2),
            "number": 1234500 + 60 * group + rng.integers(0, 9, 80),
            "kind": np.array(["u", "v"])[group],
            "size": np.exp(rng.normal(size=80)).round(4),
        }
    )
    X["log"] = np.log(X["size"])
    model = CrossCat(feature_types={"number": "real"}, **SETTINGS).fit(X)
    path = tmp_path_factory.mktemp("model") / "model.npz"
    save(model, path)
    return X, model, path


def test_ranges_are_those_of_the_table(fitted):
    X, model, _ = fitted
    ranges = learned_ranges(model)
    assert "kind" not in ranges
    for name in ("jd", "north", "number", "size", "log"):
        assert ranges[name] == pytest.approx(np.ptp(X[name]), rel=1e-6)


@pytest.mark.parametrize("draws", [[], ["--draws", "1"]], ids=["predicted", "drawn"])
def test_imputed_numbers_differ(fitted, tmp_path, draws):
    """Also of one row, which says nothing of the spread of its columns."""
    X, model, path = fitted
    X.head(1).assign(jd=np.nan, number=np.nan, kind="v").to_csv(tmp_path / "new.csv", index=False)
    out = tmp_path / "out.csv"
    assert main(["impute", str(tmp_path / "new.csv"), str(out), "--model", str(path), "-q", *draws]) == 0
    row = pd.read_csv(tmp_path / ("out-1.csv" if draws else "out.csv")).iloc[0]
    new = pd.read_csv(tmp_path / "new.csv")
    expected = (model.sample_imputations(new, 1, 0)[0] if draws else model.impute(new)).iloc[0]
    assert row["jd"] == pytest.approx(expected["jd"], abs=1e-3) and row["number"] == pytest.approx(expected["number"])
    assert row["north"] == X["north"][0]


def test_sampled_numbers_differ_and_given_ones_stay(fitted, tmp_path):
    out = tmp_path / "rows.csv"
    options = ["-n", "40", "-o", str(out), "-q", "--given", "north == 5812306.1234567"]
    assert main(["sample", str(fitted[2]), *options]) == 0
    rows = pd.read_csv(out)
    assert set(rows["north"]) == {5812306.1234567} and rows["jd"].nunique() == 40 and rows["number"].nunique() > 5
    # No more digits than say something.
    assert (rows["jd"] == rows["jd"].round(4)).all() and all(own == float(f"{own:.6g}") for own in rows["size"])


def test_quantiles_differ(fitted, capsys):
    _, model, path = fitted
    assert main(["ask", str(path), "quantiles of jd", "-q"]) == 0
    found = np.array([line.split("\t") for line in capsys.readouterr().out.splitlines()], float)
    np.testing.assert_allclose(found[:, 1], model.conditional_quantiles("jd", found[:, 0]), atol=1e-3)
    assert main(["ask", str(path), "quantiles of jd"]) == 0
    numbers = [line.split()[4] for line in capsys.readouterr().out.splitlines()]
    assert len(set(numbers)) == 5 and all(number.startswith("2,459,00") for number in numbers)


def test_numbers_that_a_column_has_again_and_again_are_written_as_they_are():
    seen = pd.DataFrame({"amount": [0.123456789, 0.123456789, np.nan, 7.5, np.nan]})
    filled = pd.DataFrame({"amount": [0.123456789, 0.123456789, 0.123456789, 7.5, 3.123456789]})
    table = completed_table(seen, seen, filled)
    assert table["amount"].tolist() == [0.123456789, 0.123456789, 0.123456789, 7.5, 3.12346]


@pytest.mark.parametrize(
    ("ends", "texts"),
    [
        ((2459000.5, 2459008.25), ("2,459,000.5", "2,459,008.2")),
        ((12345.61, 12345.625), ("12,345.61", "12,345.625")),
        ((9999.6, 9000.25), ("10,000", "9000")),
        ((5.125, 4.75), ("5.125", "4.75")),
        ((-3e6 - 0.4, 3e6), ("-3,000,000", "3,000,000")),
    ],
)
def test_numbers_that_are_compared_differ(ends, texts):
    one, other = texts
    cells = pd.Series(np.repeat(ends, 9), name="n")
    inside = np.arange(18) < 9
    trait = _trait(cells, "real", inside)
    assert trait.text == f"n is {one} on average, elsewhere {other}"
    # The third number makes it a column that has medians.
    levels, numbers = pd.Series(np.append(inside, True), name="in"), pd.Series([*cells, ends[0] + 1e-3], name="n")
    assert f"the median of n is {one} where in is True, {other} where it is False" in pair_fact(levels, numbers, np.nan)


def test_predictions_have_the_digits_of_their_uncertainty():
    assert prediction_text(2459003.14159, 2.13, "real") == "2,459,003.1 ± 2.1"
    assert prediction_text(2459003.14159, 0.0213, "real") == "2,459,003.142 ± 0.021"
    assert prediction_text(9999.6, 1234.5, "count") == "10,000 ± 1200"
    reason = CellReason(0, "jd", 2459009.25, 2459003.14159, 2458999.0, 2459007.5, 9.0, 9.0)
    row = OddRow(0, 0.01, [reason, CellReason(0, "kind", "u", "v", None, None, 9.0, 9.0)])
    assert row.text == "jd is 2,459,009.2, expected 2,459,003.1; kind is u, expected v"


def test_ends_of_a_range_differ(tmp_path):
    days = 2459000.25 + 8.5 * np.linspace(0.0, 1.0, 40) ** 1.5
    pd.DataFrame({"jd": days, "share": days - 2459000.0, "kind": list("uv") * 20}).to_csv(
        tmp_path / "t.csv", index=False
    )
    values = [column.values for column in read_source(tmp_path / "t.csv").columns]
    assert values == ["2,459,000.25 to 2,459,008.75", "0.25 to 8.75", "u; v"]
