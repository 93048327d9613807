"""Columns of a file beside one another: functions of others are modelled once; types suit those of other columns."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal import CrossCat
from sklearn_subanneal.report import Plan, learn, read_source, write_report
from sklearn_subanneal.report.cli import main

N_ROWS = 150


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    rng = np.random.default_rng(0)
    wage = np.round(np.exp(rng.normal(2.0, 0.6, N_ROWS)), 2)
    years = rng.integers(0, 15, N_ROWS)
    table = pd.DataFrame(
        {
            "wage": wage,
            "log wage": np.log(wage).round(5),
            "years": years,
            "score": 3.0 * years + rng.normal(size=N_ROWS).round(3),
            "state": np.array(["Ohio", "Utah", "Iowa"])[rng.integers(3, size=N_ROWS)],
        }
    )
    table["short"] = table["state"].map({"Ohio": "OH", "Utah": "UT", "Iowa": "IA"})
    # Of a wage that is missing, and known by its logarithm.
    table.loc[4, "wage"] = np.nan
    table.loc[7, "short"] = None
    path = tmp_path_factory.mktemp("tables") / "wages.csv"
    table.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def source(path):
    return read_source(path)


@pytest.fixture(scope="module")
def report(source, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    plan = Plan(n_chains=2, n_draws=3)
    learned = learn(source, plan)
    write_report(source, plan, learned, folder, plots=False)
    return learned.model, folder


def test_they_are_described(source):
    functions = {column.name: column.reason for column in source.columns if column.is_function}
    # A category that is missing beside one of the other column is no function of it.
    assert functions == {"wage": "the exponential of column 'log wage', and modelled with it"}
    (years,) = (column for column in source.columns if column.name == "years")
    assert years.kind == "real" and years.reason.endswith("since it depends linearly on other columns")


def test_the_model_has_the_types_that_the_estimator_chooses(source, report):
    model, _ = report
    own = CrossCat(n_chains=1, n_draws=1, max_sweeps=0, random_state=0).fit(source.X)
    assert model.feature_types_ == own.feature_types_ == source.feature_types
    assert model.part_types_ == own.part_types_


def test_missing_cells_are_what_the_other_column_says(report):
    imputed = pd.read_csv(report[1] / "imputed.csv")
    assert imputed.loc[4, "wage"] == pytest.approx(np.exp(imputed.loc[4, "log wage"]), rel=1e-6)


def test_the_page_says_so_and_names_no_function_as_a_finding(report):
    page = (report[1] / "report.html").read_text(encoding="utf-8")
    assert "the model has once what is in several columns: wage is the exponential of column" in page
    findings = re.findall(r'<li><span class="strength \w+">.*?</span> (.*?) <a href="#dependence"', page)
    assert not any("wage" in text and "log wage" in text and "depend on each other" in text for text in findings)


def test_the_types_file_gives_the_same_types(path, source, report):
    text = (report[1] / "types.toml").read_text(encoding="utf-8")
    assert '"wage" = "auto"' in text and '"years" = "real"' in text
    again = read_source(path, report[1] / "types.toml")
    assert again.feature_types == source.feature_types
    assert [column.is_function for column in again.columns] == [column.is_function for column in source.columns]
    # A type that is declared there has the column modelled.
    both = read_source(path, {"wage": "skewed", "log wage": "real"})
    assert not any(column.is_function for column in both.columns if "wage" in column.name)


def test_a_new_table_that_contradicts_a_function(path, report, tmp_path, capsys):
    rows = pd.read_csv(path).head(20)
    rows.loc[2, "wage"] = 77.0
    rows.to_csv(new := tmp_path / "new.csv", index=False)
    assert main(["check", str(new), "--model", str(report[1])]) == 1
    shown = capsys.readouterr()
    assert "Column wage contradicts log wage, of which it was a function, in 1 row" in shown.out
    assert "contradictions in 1 column" in shown.out and "row 3: p = " in shown.out and not shown.err
    rows.loc[3, ["wage", "log wage"]] = np.nan
    rows.to_csv(new, index=False)
    assert main(["impute", str(new), str(tmp_path / "out.csv"), "--model", str(report[1])]) == 0
    shown, filled = capsys.readouterr(), pd.read_csv(tmp_path / "out.csv")
    assert "contradicts" in shown.out + shown.err and "UserWarning" not in shown.err
    assert filled.loc[3, "wage"] == pytest.approx(np.exp(filled.loc[3, "log wage"]), rel=1e-4)
