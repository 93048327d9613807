"""Columns of texts with an order that a types file has, in all commands; and declared types that cannot be."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal import load
from sklearn_subanneal.report import read_source, write_types
from sklearn_subanneal.report.cli import main
from sklearn_subanneal.report.types_file import TypesFile, read_types

# In alphabetical order, "neutral" is the first of them, and "very unsatisfied" the last.
LEVELS = ["very unsatisfied", "unsatisfied", "neutral", "satisfied", "very satisfied"]
FIT = ["--chains", "2", "--jobs", "1"]


def survey(n, seed):
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=n)
    level = np.clip(np.round(1.0 + 2.0 * group + 0.8 * rng.normal(size=n)), 0, 4).astype(int)
    table = pd.DataFrame(
        {
            "answer": np.array(LEVELS)[level],
            "wait": (30.0 - 12.0 * group + 3.0 * rng.normal(size=n)).round(2),
            "city": np.array(["Bonn", "Ulm", "Wien"])[rng.integers(3, size=n)],
        }
    )
    table.loc[::13, "answer"] = ""
    table.loc[5::29, "answer"] = "n/a"
    return table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A report on survey.csv, with the levels in levels.toml; and a new table, new.csv."""
    folder = tmp_path_factory.mktemp("survey")
    survey(240, 1).to_csv(folder / "survey.csv", index=False)
    survey(100, 2).to_csv(folder / "new.csv", index=False)
    (folder / "levels.toml").write_text(f"[levels]\nanswer = {LEVELS}\n")
    types = ["--types", str(folder / "levels.toml")]
    report = ["report", str(folder / "survey.csv"), "-o", str(folder / "report"), "-q", "--no-plots"]
    assert main([*report, *types, *FIT]) == 0
    return folder


def test_levels_make_a_column_ordinal(folder, capsys):
    assert main(["types", str(folder / "survey.csv"), "--types", str(folder / "levels.toml")]) == 0
    said = capsys.readouterr().out
    assert re.search(r"answer +ordinal +as declared, 5 levels in the order given, from very unsat.* to very sat", said)
    source = read_source(folder / "survey.csv", folder / "levels.toml")
    answers = source.X["answer"]
    assert answers.dtype == pd.CategoricalDtype(LEVELS, ordered=True) and source.columns[0].levels == tuple(LEVELS)
    assert source.columns[0].marks == {"n/a": 9} and answers.isna().sum() == source.columns[0].n_missing > 20
    # A written type that was chosen before the order was given does not count.
    (folder / "both.toml").write_text(f'[columns]\nanswer = "categorical"\n[levels]\nanswer = {LEVELS}\n')
    pd.testing.assert_frame_equal(read_source(folder / "survey.csv", folder / "both.toml").X, source.X)
    # Declared as well, by the same file or the command.
    again = read_source(folder / "survey.csv", TypesFile({"answer": "ordinal"}, levels={"answer": tuple(LEVELS)}))
    pd.testing.assert_frame_equal(again.X, source.X)


def test_a_report_remembers_the_levels(folder, tmp_path):
    model = load(folder / "report" / "model.npz")
    assert model.feature_types_["answer"] == "ordinal" and list(model.column_categories("answer")) == LEVELS
    written = folder / "report" / "types.toml"
    assert read_types(written).levels == {"answer": tuple(LEVELS)}
    assert '# "city" = ["Bonn", "Ulm", "Wien"]' in written.read_text(encoding="utf-8")
    again = read_source(folder / "survey.csv", written)
    pd.testing.assert_frame_equal(again.X, read_source(folder / "survey.csv", folder / "levels.toml").X)
    assert write_types(again, tmp_path / "types.toml").read_text(encoding="utf-8").count("very unsatisfied") == 2
    imputed = pd.read_csv(folder / "report" / "imputed.csv", keep_default_na=False)
    before = pd.read_csv(folder / "survey.csv", keep_default_na=False)["answer"]
    seen = ~before.isin(["", "n/a"])
    assert set(imputed["answer"]) == set(LEVELS) and (imputed["answer"][seen] == before[seen]).all()
    # Bars of the groups have the levels in their order.
    page = (folder / "report" / "report.html").read_text(encoding="utf-8")
    bars = page[page.index('<section id="distributions">') :]
    at = [bars.index(f">{level}<") if f">{level}<" in bars else bars.index(level) for level in LEVELS]
    assert at == sorted(at)


def test_commands_read_and_write_the_texts(folder, tmp_path, capsys):
    report = str(folder / "report")
    for name in ("out.csv", "out.json", "out.dta"):
        assert main(["impute", str(folder / "new.csv"), str(tmp_path / name), "--model", report, "-q"]) == 0
        answers = read_source(tmp_path / name, folder / "report" / "types.toml").X["answer"]
        assert not answers.isna().any() and list(answers.cat.categories) == LEVELS
    out = str(tmp_path / "fitted.csv")
    arguments = ["impute", str(folder / "survey.csv"), out, "--types", str(folder / "levels.toml"), "-q", *FIT]
    assert main(arguments) == 0 and set(pd.read_csv(out)["answer"]) == set(LEVELS)
    assert main(["impute", str(folder / "new.csv"), str(tmp_path / "d.csv"), "--model", report, "--draws", "2"]) == 0
    assert set(pd.read_csv(tmp_path / "d-1.csv")["answer"]) <= set(LEVELS)
    rows = tmp_path / "rows.csv"
    assert main(["sample", report, "-n", "300", "-o", str(rows), "-q"]) == 0
    drawn = pd.read_csv(rows)["answer"]
    assert set(drawn) == set(LEVELS)
    capsys.readouterr()
    asked = ["answer >= 'satisfied'", "answer in ['satisfied', 'very satisfied']", "answer > 'neutral' given wait < 20"]
    assert main(["ask", report, *asked, "-q"]) == 0
    at_least, either, given = map(float, capsys.readouterr().out.split())
    # Of the normal variables that were rounded: 0.38 of all rows, 0.73 of those that wait less.
    assert at_least == pytest.approx(either) and abs(at_least - 0.38) < 0.1 and abs(given - 0.73) < 0.1
    assert abs(drawn.isin(LEVELS[3:]).mean() - at_least) < 0.12
    assert main(["ask", report, "answer >= 'great'"]) == 2
    assert "'great' is no category of column 'answer'" in capsys.readouterr().err


def test_new_tables_have_the_levels_of_the_model(folder, tmp_path, capsys):
    report = str(folder / "report")
    assert main(["check", str(folder / "new.csv"), "--model", report]) == 0
    table = survey(100, 3)
    table.loc[[1, 2], "answer"] = ["great", "poor"]
    table.to_csv(tmp_path / "odd.csv", index=False)
    assert main(["check", str(tmp_path / "odd.csv"), "--model", report]) == 1
    assert "Column answer has values that are new: 'great' in 1 cell, 'poor' in 1 cell" in capsys.readouterr().out
    assert main(["impute", str(tmp_path / "odd.csv"), str(tmp_path / "out.csv"), "--model", report]) == 0
    assert pd.read_csv(tmp_path / "out.csv")["answer"][[1, 2]].tolist() == ["great", "poor"]


def test_levels_that_look_like_marks_or_numbers_are_values(tmp_path):
    """In the file and in new tables, and where a spreadsheet made numbers of them."""
    from sklearn_subanneal.report.model_folder import open_model
    from sklearn_subanneal.report.new_table import read_new_table

    rng = np.random.default_rng(0)
    pain, hours = np.array(["-", "some", "a lot"])[rng.integers(3, size=60)], rng.choice(["3", "1", "2"], size=60)
    frame = pd.DataFrame({"pain": pain, "hours": hours, "size": rng.normal(size=60).round(2)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.assign(hours=frame["hours"].astype(float)).to_json(tmp_path / "t.json", orient="records")
    (tmp_path / "t.toml").write_text('[levels]\npain = ["-", "some", "a lot"]\nhours = ["3", "2", "1"]\n')
    for name in ("t.csv", "t.json"):
        X = read_source(tmp_path / name, tmp_path / "t.toml").X
        assert X["hours"].tolist() == hours.tolist() and X["pain"].tolist() == pain.tolist()
        assert list(X["hours"].cat.categories) == ["3", "2", "1"]
    report = ["report", str(tmp_path / "t.csv"), "--types", str(tmp_path / "t.toml"), "-o", str(tmp_path / "report")]
    assert main([*report, "-q", "--no-plots", "--no-detector", *FIT]) == 0
    # The model is enough: without the types file nothing else is read.
    (tmp_path / "report" / "types.toml").unlink()
    for name in ("t.csv", "t.json"):
        new = read_new_table(tmp_path / name, open_model(tmp_path / "report"))
        assert new.X["pain"].tolist() == pain.tolist() and new.X["hours"].tolist() == hours.tolist()
        assert not new.unreadable


def test_an_ordered_dtype_is_written_as_levels(tmp_path):
    pytest.importorskip("pyarrow")
    answers = pd.Categorical(survey(60, 4)["answer"].replace({"": None, "n/a": None}), LEVELS, ordered=True)
    pd.DataFrame({"answer": answers, "wait": np.arange(60) % 7 + 0.5}).to_parquet(tmp_path / "t.parquet")
    source = read_source(tmp_path / "t.parquet")
    types = write_types(source, tmp_path / "types.toml")
    assert read_types(types).levels == {"answer": tuple(LEVELS)}
    source.frame.to_csv(tmp_path / "t.csv", index=False)
    for name in ("t.parquet", "t.csv"):
        assert read_source(tmp_path / name, types).X["answer"].tolist() == source.X["answer"].tolist()


WRONG = {
    "no order": ("", ["answer=ordinal"], "in the table [levels] of a types file"),
    "the texts of no order": ("", ["city=ordinal"], "whose order is unknown: 'Bonn', 'Ulm', 'Wien'"),
    "another text": ('[levels]\nanswer = ["satisfied", "neutral"]', [], "'unsatisfied' in "),
    "another text, with the remedy": ('[levels]\ncity = ["Ulm", "Bonn"]', [], "to [missing] there"),
    "another type": ('[columns]\ncity = "boolean"\n[levels]\ncity = ["Ulm", "Bonn", "Wien"]', [], "which make it"),
    "another type of the command": ('[levels]\ncity = ["Ulm", "Bonn", "Wien"]', ["city=real"], "declare it 'ordinal'"),
    "spelling": ('[spelling]\ncity = "number"\n[levels]\ncity = ["Ulm", "Bonn", "Wien"]', [], "in [spelling]"),
    "missing": ('[missing]\ncity = ["Ulm"]\n[levels]\ncity = ["Ulm", "Bonn", "Wien"]', [], "has the level 'Ulm'"),
    "missing everywhere": (
        '[reading]\nmissing = ["Ulm"]\n[levels]\ncity = ["Ulm", "Bonn", "Wien"]', [], "has the level 'Ulm'"
    ),
    "no column": ('[levels]\ntown = ["a", "b"]', [], "[levels] names the column 'town', which the table does not have"),
    "one level": ('[levels]\ncity = ["Ulm"]', [], "has 1 text for column 'city': give 2 to 100"),
    "too many": (f"[levels]\ncity = {[str(k) for k in range(101)]}", [], "has 101 texts for column 'city'"),
    "twice": ('[levels]\ncity = ["Ulm", "Bonn", "Ulm"]', [], "is empty or occurs twice"),
    "empty": ('[levels]\ncity = ["Ulm", ""]', [], "is empty or occurs twice"),
    "numbers": ("[levels]\ncity = [1, 2, 3]", [], "give a list of texts, each in quotes"),
    "a text": ('[levels]\ncity = "Ulm < Bonn"', [], "give a list of texts, each in quotes"),
    "texts as numbers": ("", ["city=real"], "(type str): declare it 'categorical' by --types"),
    "texts as dates": ("", ["city=datetime"], "declare it 'categorical' by --types, or correct its cells"),
    "fractions as counts": ("", ["wait=count"], "declare it 'real' by --types"),
    "too many numbers": ("", ["wait=ordinal"], "values, but an ordinal column at most 100: declare it 'real' by"),
    "no frequent value": ("", ["wait=semicontinuous"], "has no atoms: declare it 'real' by --types"),
}  # fmt: skip


@pytest.mark.parametrize("command", ["types", "report", "impute"])
@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_is_refused_at_once(case, command, folder, tmp_path, capsys):
    text, declared, message = WRONG[case]
    (tmp_path / "types.toml").write_text(text)
    types = [word for kind in (str(tmp_path / "types.toml"), *declared) for word in ("--types", kind)]
    table, output = str(folder / "survey.csv"), tmp_path / ("out.csv" if command == "impute" else "out")
    written = {"types": [], "report": ["-o", str(output), "--no-plots"], "impute": [str(output)]}[command]
    assert main([command, table, *written, *types]) == 2
    error = capsys.readouterr().err
    assert message in error and "feature_types" not in error and "pandas" not in error and not output.exists()


def test_levels_of_columns_that_are_set_aside_have_no_effect(folder):
    for kind in ("ignore", "label"):
        known = TypesFile({"city": kind}, levels={"city": ("Ulm", "Bonn")})
        source = read_source(folder / "survey.csv", known)
        assert "city" not in source.feature_types and set(source.frame["city"]) == {"Bonn", "Ulm", "Wien"}


def test_texts_that_are_declared_missing_are_no_levels(folder):
    known = TypesFile(missing={"city": ("Wien",)}, levels={"city": ("Ulm", "Bonn", "Graz")})
    cities = read_source(folder / "survey.csv", known).X["city"]
    assert set(cities.dropna()) == {"Ulm", "Bonn"} and list(cities.cat.categories) == ["Ulm", "Bonn", "Graz"]


def test_dates_of_which_nobody_knows_the_day(tmp_path):
    days = [f"0{day % 9 + 1}/0{day % 7 + 1}/2021" for day in range(40)]
    pd.DataFrame({"day": days, "size": np.arange(40) % 11 + 0.5}).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(ValueError, match=r"Column 'day' has dates .* pass --day-first or --month-first"):
        read_source(tmp_path / "t.csv", {"day": "datetime"})
