"""The commands from end to end: report, types, impute, check, sample, ask, completion; and what they refuse."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal import CrossCat, load, save
from sklearn_subanneal.report import read_source
from sklearn_subanneal.report.cli import COMMANDS, main
from sklearn_subanneal.report.command_parser import command_parser
from sklearn_subanneal.report.question import Question, given_cells

FIT = ["--chains", "2", "--jobs", "1"]


def visits(n, seed, shift=0.0):
    """Rows of two groups, with decimal commas, marks, times of day and dates that are day first."""
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=n)
    smoker = np.where(rng.random(n) < 0.9, group, 1 - group)
    height = 170.0 + 12.0 * group + 4.0 * rng.normal(size=n) + shift
    minutes = rng.integers(100, size=n) + 60 * (7 + 6 * group)
    table = pd.DataFrame(
        {
            "code": [f"K{seed}-{row:04d}" for row in range(n)],
            "height": [f"{own:.1f}".replace(".", ",") for own in height],
            "smoker": np.array(["no", "yes"])[smoker],
            "start": [f"{own // 60:02d}:{own % 60:02d}" for own in minutes],
            "plz": np.array(["01067", "04109", "80331"])[rng.integers(3, size=n)],
            "seen": (pd.Timestamp("2021-01-05") + pd.to_timedelta(rng.integers(0, 300, n), "D")).strftime("%d/%m/%Y"),
        }
    )
    table.loc[::17, "height"] = "n/a"
    table.loc[4::30, "height"] = "-999"
    table.loc[5::19, "smoker"] = "-"
    return table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A report, with its table as visits.csv, a new one as new.csv, and one that differs as other.csv."""
    folder = tmp_path_factory.mktemp("visits")
    visits(300, 1).to_csv(folder / "visits.csv", sep=";", index=False)
    visits(120, 2).to_csv(folder / "new.csv", sep=";", index=False)
    other = visits(120, 3, shift=9.0)
    other.loc[3, ["smoker", "height"]] = ["maybe", "tall"]
    other.to_csv(folder / "other.csv", sep=";", index=False)
    assert main(["report", str(folder / "visits.csv"), "-o", str(folder / "report"), "-q", "--no-plots", *FIT]) == 0
    return folder


def words_of(page: str, section: str) -> str:
    text = re.search(rf'<section id="{section}">(.*?)</section>', page, re.DOTALL)[1]
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", text)))


def test_the_page_says_what_was_set_aside(folder):
    page = (folder / "report" / "report.html").read_text(encoding="utf-8")
    words = words_of(page, "columns")
    assert "1 column is set aside" in words and "text, different in each row" in words
    assert "height: 'n/a' in 17 cells, '-999' in 10 cells" in words
    assert "smoker: '-' in 16 cells" in words
    assert "commas before decimals" in words and "cells separated by semicolons" in words
    # The first sentences say it, too.
    words = words_of(page, "findings")
    assert "1 column set aside: code; taken for missing: 'n/a' in height, '-999' in height" in words
    assert page.index('id="findings"') < page.index('id="columns"') < page.index('id="views"')


def test_the_page_says_how_cells_were_filled(folder):
    words = words_of((folder / "report" / "report.html").read_text(encoding="utf-8"), "missing")
    assert "skewed ones by a median or a mean on another scale, followed by half the width of an interval" in words
    assert "where one value is frequent by that value if its probability is at least 0.9" in words


def test_what_is_printed(folder, capsys):
    assert main(["types", str(folder / "visits.csv")]) == 0
    said = capsys.readouterr().out
    assert "Set aside, not modelled (1):" in said and "height: 'n/a' in 17 cells" in said
    assert re.search(r"start +cyclic +texts that spell times of day", said)
    assert re.search(r"plz +categorical +text", said)


def test_a_types_file_is_edited_and_read(folder, tmp_path, capsys):
    path = tmp_path / "types.toml"
    table = str(folder / "visits.csv")
    assert main(["types", table, "-o", str(path), "-q"]) == 0
    written = path.read_text(encoding="utf-8")
    same = (folder / "report" / "types.toml").read_text(encoding="utf-8")
    assert written == same and "day_first = true" in written and '"start" = "time of day"' in written
    before = read_source(folder / "visits.csv")
    again = read_source(folder / "visits.csv", path)
    assert [(own.name, own.kind, own.marks) for own in again.columns] == [
        (own.name, own.kind, own.marks) for own in before.columns
    ]
    pd.testing.assert_frame_equal(again.X, before.X)
    path.write_text(
        written.replace('"plz" = "categorical"', '"plz" = "ignore"').replace("[reading]", '[reading]\nkeep = ["-"]')
    )
    edited = read_source(folder / "visits.csv", path)
    assert "plz" not in edited.feature_types and "-" in set(edited.frame["smoker"])
    # The command line counts more.
    assert main(["types", table, "--types", "plz=categorical", "--types", str(path)]) == 0
    in_the_other_order = capsys.readouterr().out
    assert main(["types", table, "--types", str(path), "--types", "plz=categorical"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"plz +categorical +as declared", said) and said == in_the_other_order
    # Of a written type that was chosen for times of day, nothing is left in durations.
    path.write_text(written.replace('"start" = "time of day"', '"start" = "duration"'))
    (start,) = (own for own in read_source(folder / "visits.csv", path).columns if own.name == "start")
    assert '"start" = "cyclic' in written and start.kind != "cyclic" and start.meaning == "duration"
    for wrong, message in (
        ('[columns]\n"a" = 3\n', "has 3 for column 'a': a type is one of real"),
        ('[columns]\n"a" = "real"\n', "names the column 'a', which the table does not have"),
        ("[reading]\nencodings = 'x'\n", "has the option 'encodings'"),
        ("[reading]\nmissing = 'x'\n", "which is no list of texts"),
        ('[missing]\n"Height" = ["0"]\n', "[missing] names the column 'Height', which the table does not have; it has"),
        ('[spelling]\n"Start" = "duration"\n', "[spelling] names the column 'Start', which the table does not have"),
        ("[other]\n", "may have the tables columns, reading, missing, spelling, levels"),
        ('[spelling]\n"height" = "weight"\n', "give number, duration, time of day"),
        ("[columns", "is not TOML"),
    ):
        path.write_text(wrong)
        assert main(["types", table, "--types", str(path)]) == 2
        assert message in capsys.readouterr().err


def test_names_and_texts_of_any_kind_in_a_types_file(tmp_path):
    names = ['quo"ted', "new\nline", "tab\there", "\x7f", "ü # [x]", "a = b"]
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.normal(size=40).round(3).astype(str) for name in names})
    frame.iloc[3, 0] = "n/a"
    frame.to_csv(tmp_path / "t.csv", index=False)
    source = read_source(tmp_path / "t.csv", missing=['"', "\\"])
    from sklearn_subanneal.report import write_types

    again = read_source(tmp_path / "t.csv", write_types(source, tmp_path / "types.toml"))
    assert again.feature_types == source.feature_types and again.options.missing == ('"', "\\")
    assert again.columns[0].marks == {"n/a": 1}


def test_impute_a_table(folder, tmp_path, capsys):
    out, spread = tmp_path / "out.csv", tmp_path / "spread.csv"
    arguments = ["impute", str(folder / "visits.csv"), str(out), "--uncertainty", str(spread), *FIT]
    assert main(arguments) == 0
    assert "Imputed 43 cells" in capsys.readouterr().out
    before, after = pd.read_csv(folder / "visits.csv", sep=";", dtype=str), pd.read_csv(out, dtype={"plz": str})
    assert not after.isna().any(axis=None) and list(after) == list(before)
    assert (after["code"] == before["code"]).all() and (after["plz"] == before["plz"]).all()
    assert (after["start"] == before["start"]).all()
    seen = ~before["height"].isin(["-999"]) & before["height"].notna()
    np.testing.assert_allclose(after["height"][seen], before["height"][seen].str.replace(",", ".").astype(float))
    assert after["height"][~seen].between(150.0, 200.0).all() and set(after["smoker"]) == {"yes", "no"}
    assert (pd.read_csv(spread)["height"] > 0).sum() == (~seen).sum()
    # The same seed, the same table; an existing file is kept.
    assert main(arguments) == 2
    assert "pass --force to write over it" in capsys.readouterr().err


def test_impute_by_the_model_of_a_report(folder, tmp_path, capsys):
    for name in ("out.xlsx", "out.json", "out.parquet", "out.tsv.gz"):
        if name.endswith("xlsx"):
            pytest.importorskip("openpyxl")
        if name.endswith("parquet"):
            pytest.importorskip("pyarrow")
        assert main(["impute", str(folder / "new.csv"), str(tmp_path / name), "--model", str(folder / "report")]) == 0
        assert "Not in the model, and left as they are: code" in capsys.readouterr().out
        types = folder / "report" / "types.toml"
        source = read_source(tmp_path / name, types)
        assert (
            not source.X.isna().any(axis=None)
            and source.feature_types == read_source(folder / "new.csv", types).feature_types
        )
    drawn = tmp_path / "drawn.csv"
    assert (
        main(["impute", str(folder / "new.csv"), str(drawn), "--model", str(folder / "report"), "--draws", "3", "-q"])
        == 0
    )
    tables = [pd.read_csv(tmp_path / f"drawn-{draw}.csv") for draw in (1, 2, 3)]
    gaps = pd.read_csv(folder / "new.csv", sep=";", keep_default_na=False)["height"].isin(["n/a", "-999"])
    heights = np.stack([table["height"] for table in tables])
    assert (np.ptp(heights[:, gaps], axis=0) > 0).all() and (np.ptp(heights[:, ~gaps], axis=0) == 0).all()


@pytest.mark.parametrize(
    ("name", "modules", "remedy"),
    [
        ("out.parquet", ["pyarrow"], "pip install pyarrow"),
        ("out.xlsx", ["openpyxl", "xlsxwriter"], "pip install openpyxl"),
        ("out.ods", ["odf"], "pip install odfpy"),
        ("out.csv.zst", ["zstandard"], "pip install zstandard"),
    ],
)
def test_packages_of_writers_are_asked_for_before_the_fit(folder, tmp_path, capsys, monkeypatch, name, modules, remedy):
    def fit(*arguments):
        raise ValueError("a fit was begun")

    monkeypatch.setattr("sklearn_subanneal.report.impute_command.learn", fit)
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)
    assert main(["impute", str(folder / "visits.csv"), str(tmp_path / name), *FIT, "-q"]) == 2
    assert remedy in capsys.readouterr().err


def test_check_finds_what_differs_and_nothing_else(folder, tmp_path, capsys):
    model = ["--model", str(folder / "report")]
    assert main(["check", str(folder / "new.csv"), *model]) == 0
    assert "Fine: nothing was found." in capsys.readouterr().out
    odd = tmp_path / "odd.csv"
    assert main(["check", str(folder / "other.csv"), *model, "-o", str(odd)]) == 1
    said = capsys.readouterr().out
    assert "Column smoker has values that are new: 'maybe' in 1 cell" in said
    assert "No values of column height, and taken for missing: 'tall' in 1 cell" in said
    assert re.search(r"Column height differs, p = .*e-", said)
    assert re.search(r"Found: \d columns? with drift; \d+ odd rows, more than chance; new values in 1 column", said)
    rows = pd.read_csv(odd)
    assert list(rows.columns[:3]) == ["row", "p", "reasons"] and (rows["p"] <= 0.01).all() and len(rows) > 20
    assert rows["reasons"].str.contains("height is").mean() > 0.5
    assert (rows["code"] == pd.read_csv(folder / "other.csv", sep=";")["code"][rows["row"] - 1].to_numpy()).all()
    # One row, typed as JSON has it: nothing is guessed from it.
    one = tmp_path / "one.json"
    one.write_text(
        json.dumps([{"height": 171.5, "smoker": "no", "start": "07:30", "plz": "01067", "seen": "03/02/2021"}])
    )
    assert main(["check", str(one), *model]) == 0
    assert main(["check", str(one), *model, "-q"]) == 0 and capsys.readouterr().out.count("Fine") == 1


def test_few_training_rows_cannot_tell(tmp_path, capsys):
    path = tmp_path / "few.csv"
    path.write_text("size,kind\n" + "".join(f"{row / 7:.3f},{'xy'[row % 2]}\n" for row in range(40)))
    assert main(["report", str(path), "-o", str(tmp_path / "few"), "-q", "--no-plots", *FIT]) == 0
    assert main(["check", str(path), "--model", str(tmp_path / "few")]) == 0
    assert "none can tell at this level; raise --level" in capsys.readouterr().out
    assert main(["check", str(path), "--model", str(tmp_path / "few"), "--level", "0.1"]) == 0
    assert "with p of 0.1 or less" in capsys.readouterr().out


def test_numbers_that_a_column_cannot_have_are_found(tmp_path, capsys):
    """A price is above 0, a member 0 or 1: other numbers are findings, and count as missing."""
    rng = np.random.default_rng(0)
    prices = rng.lognormal(3.0, 1.5, 200)
    table = pd.DataFrame({"price": prices, "size": np.log(prices) + rng.normal(size=200), "member": np.arange(200) % 2})
    table.to_csv(tmp_path / "prices.csv", index=False)
    report = str(tmp_path / "prices")
    assert main(["report", str(tmp_path / "prices.csv"), "-o", report, "-q", "--no-plots", *FIT]) == 0
    capsys.readouterr()
    table = table.head(30).astype({"member": float})
    table.loc[3, "price"], table.loc[7, "price"], table.loc[9, "member"] = -999.0, 0.0, 2.0
    table.to_csv(tmp_path / "new.csv", index=False)
    assert main(["check", str(tmp_path / "new.csv"), "--model", report]) == 1
    said = capsys.readouterr().out
    assert "No values of column price, and taken for missing: '-999.0' in 1 cell, '0.0' in 1 cell" in said
    assert "No values of column member, and taken for missing: '2.0' in 1 cell" in said
    assert "unreadable cells in 2 columns" in said
    assert main(["impute", str(tmp_path / "new.csv"), str(tmp_path / "filled.csv"), "--model", report]) == 0
    filled = pd.read_csv(tmp_path / "filled.csv")
    assert (filled["price"] > 0.0).all() and set(filled["member"]) <= {0.0, 1.0}


def test_new_tables_are_read_as_the_old_one(folder, tmp_path):
    """The order of dates, times of day, postcodes and marks are known, and not guessed from few rows."""
    from sklearn_subanneal.report.model_folder import open_model
    from sklearn_subanneal.report.new_table import read_new_table

    path = tmp_path / "few.csv"
    path.write_text(
        "seen;start;height;plz;smoker;more\n03/02/2021;7:30;-999;1067;yes;x\n04/02/2021;9:15;170,5;04109;;x\n"
    )
    new = read_new_table(path, open_model(folder / "report"))
    assert list(new.X) == ["height", "smoker", "start", "plz", "seen"] and new.unused == ["more"] and not new.unreadable
    assert new.X["seen"].dt.month.tolist() == [2, 2] and new.X["start"].tolist() == [7.5, 9.25]
    assert new.X["plz"].tolist() == ["1067", "04109"]
    assert np.isnan(new.X["height"][0]) and new.X["height"][1] == 170.5 and pd.isna(new.X["smoker"][1])


def test_sample_rows(folder, tmp_path, capsys):
    assert main(["sample", str(folder / "report"), "-n", "5"]) == 0
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) == 6 and printed.startswith("height,smoker,start,plz,seen")
    path = tmp_path / "rows.csv"
    options = ["-n", "400", "-o", str(path), "--given", "smoker == 'yes' and start == 13.5", "-q"]
    assert main(["sample", str(folder / "report"), *options]) == 0
    rows = pd.read_csv(path, dtype={"plz": str})
    assert len(rows) == 400 and set(rows["smoker"]) == {"yes"} and set(rows["start"]) == {"13:30"}
    assert set(rows["plz"]) == {"01067", "04109", "80331"} and abs(rows["height"].mean() - 182.0) < 2.0
    assert main(["sample", str(folder / "report"), *options, "--force", "--seed", "1"]) == 0
    assert not pd.read_csv(path, dtype={"plz": str}).equals(rows)


def test_ask(folder, capsys):
    report, model = str(folder / "report"), load(folder / "report" / "model.npz")
    asked = [
        "probability of smoker == 'yes' given start == 14",
        "height > 180 or plz == '01067'",
        "What is the probability of height > 176 given smoker == 'yes' and height < 190?",
        "quantiles of height given smoker == 'no'",
    ]
    assert main(["ask", report, *asked, "-q"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert float(lines[0]) == pytest.approx(model.probability("smoker == 'yes'", given={"start": 14}), rel=1e-5)
    assert float(lines[1]) == pytest.approx(model.probability("height > 180 or plz == '01067'"), rel=1e-5)
    both, known = model.probability(
        ["height > 176 and smoker == 'yes' and height < 190", "smoker == 'yes' and height < 190"]
    )
    assert float(lines[2]) == pytest.approx(both / known, rel=1e-5) and 0.0 < float(lines[2]) < 1.0
    quantiles = model.conditional_quantiles("height", [0.05, 0.5], given={"smoker": "no"})
    found = dict(map(float, line.split("\t")) for line in lines[3:])
    assert found[0.05] == pytest.approx(quantiles[0], rel=1e-5) and found[0.5] == pytest.approx(quantiles[1], rel=1e-5)
    assert main(["ask", report, asked[0]]) == 0
    assert capsys.readouterr().out.startswith("The probability of smoker == 'yes' given start == 14 is 0.")


def test_questions_are_taken_apart():
    assert Question.of("kind == 'given' given `a given` == 2") == Question(
        "probability", "kind == 'given'", "`a given` == 2"
    )
    assert Question.of("median of income") == Question("quantiles", "income", levels=(0.5,))
    assert given_cells("a == 'x and y' and `b c` = -2.5 and d == true") == {"a": "x and y", "b c": -2.5, "d": True}
    for event in ("a > 3", "a == b", "a == [1]", "a == __import__('os')", "a == 1 or b == 2", "a == 1 and a == 2"):
        assert given_cells(event) is None


WRONG = {
    "no command": ([], "the following arguments are required"),
    "unknown command": (["reports", "x"], "invalid choice"),
    "no model": (["ask", "{}/nothing", "a > 1"], "There is no model"),
    "no question": (["ask", "{}/report", " "], "The question is empty"),
    "unknown column": (["ask", "{}/report", "weight > 3"], "weight"),
    "code as a question": (["ask", "{}/report", "().__class__"], "An event is made of comparisons"),
    "impossible condition": (["ask", "{}/report", "height > 3 given not (height > 3 or height < 4)"], "probability 0"),
    "quantiles of words": (["ask", "{}/report", "quantiles of smoker"], "without an order, which have no quantiles"),
    "a model that is a table": (["ask", "{}/visits.csv", "height > 3"], "is no model of sklearn_subanneal"),
    "a model of another class": (["ask", "{}/mixture.npz", "height > 3"], "a fitted CrossCat is needed"),
    "no detector": (["check", "{}/new.csv", "--model", "{}/report/model.npz"], "without a detector"),
    "missing detector": (["check", "{}/new.csv", "--model", "{}/bare"], "make the report again with --detector"),
    "no column": (["check", "{}/short.csv", "--model", "{}/report"], "has no column 'smoker', 'plz', which the model"),
    "type of a fitted model": (
        ["check", "{}/new.csv", "--model", "{}/report", "--types", "plz=ignore"],
        "--types declares 'plz' otherwise than the model in {}/report has it: leave the type out, or make another",
    ),
    "unknown column of a fitted model": (
        ["impute", "{}/new.csv", "{}/out.csv", "--model", "{}/report", "--types", "{}/strange.toml"],
        "[missing] names the column 'Plz', which the model in {}/report does not have",
    ),
    "fit and fitted model": (
        ["impute", "{}/new.csv", "{}/out.csv", "--model", "{}/report", "--effort", "5"],
        "--effort is of a fit, and the model in {}/report has been fitted: leave it out, or leave --model out",
    ),
    "level": (["check", "{}/new.csv", "--model", "{}/report", "--level", "2"], "--level must be between 0 and 1"),
    "kind of output": (["impute", "{}/visits.csv", "{}/out.doc"], "must end in one of .csv"),
    "folder of output": (["impute", "{}/visits.csv", "{}/nowhere/out.csv"], "There is no folder"),
    "draws": (["impute", "{}/visits.csv", "{}/out.csv", "--draws", "0"], "--draws must be a positive number"),
    "uncertainty in the place of the table": (
        ["impute", "{}/visits.csv", "{}/out.csv", "--uncertainty", "{}/report/../out.csv", "--force"],
        "where the completed table is written: name another file",
    ),
    "uncertainty in the place of a draw": (
        ["impute", "{}/visits.csv", "{}/out.csv", "--draws", "2", "--uncertainty", "{}/out-2.csv"],
        "/out-2.csv, where the completed table is written: name another file",
    ),
    "rows": (["sample", "{}/report", "-n", "0"], "--rows must be a positive number"),
    "given": (["sample", "{}/report", "--given", "height > 3"], "--given must name cells"),
    "unknown category": (["sample", "{}/report", "--given", "smoker == 'perhaps'"], "perhaps"),
    "encoding": (["types", "{}/visits.csv", "--encoding", "utf-99"], "--encoding must be an encoding of Python"),
    "decimal": (["types", "{}/visits.csv", "--decimal", ";"], "--decimal must be a point or a comma"),
    "types": (["types", "{}/visits.csv", "--types", "height"], "must be COLUMN=TYPE, or a file such as types.toml"),
    "no table": (["types", "{}/nothing.csv"], "There is no file"),
    "folder for a table": (["types", "{}"], "is a folder"),
    "shell": (["completion", "tcsh"], "invalid choice"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_2_and_one_message(case, folder, capsys):
    bare = folder / "bare"
    bare.mkdir(exist_ok=True)
    shutil.copy(folder / "report" / "model.npz", bare / "model.npz")
    pd.read_csv(folder / "new.csv", sep=";")[["height", "start", "seen"]].to_csv(folder / "short.csv", index=False)
    save(CrossCat(), folder / "mixture.npz")
    (folder / "strange.toml").write_text('[missing]\n"Plz" = ["?"]\n')
    arguments, message = WRONG[case]
    message = message.replace("{}", str(folder))
    before = sorted(path.name for path in folder.iterdir())
    try:
        status = main([argument.replace("{}", str(folder)) for argument in arguments])
    except SystemExit as stop:
        status = stop.code
    error = capsys.readouterr().err
    assert status == 2 and message in error and "Traceback" not in error
    assert sorted(path.name for path in folder.iterdir()) == before


def test_no_error_looks_like_a_finding(folder, monkeypatch, capsys):
    """Pipelines stop at 1 since a table differs: what nobody foresaw is an error as others are."""

    def fail(*arguments):
        raise KeyError("something")

    monkeypatch.setattr("sklearn_subanneal.report.check_command.check_table", fail)
    try:
        status = main(["check", str(folder / "new.csv"), "--model", str(folder / "report"), "-q"])
    except KeyError:
        # Python exits with 1.
        status = 1
    error = capsys.readouterr().err
    assert status == 2 and "KeyError: 'something'" in error and "an error of the program" in error


def test_help_has_examples_that_parse():
    parser = command_parser()
    commands = next(iter(own for own in parser._actions if own.dest == "command")).choices
    assert set(commands) == set(COMMANDS)
    import shlex

    n_examples = 0
    for name, own in commands.items():
        text = own.format_help()
        assert "Exit codes: 0 fine, 1 something was found (check), 2 wrong" in text
        for line in re.findall(r"^  sklearn-subanneal (.+)$", text, re.MULTILINE):
            words = shlex.split(line.partition(" ||")[0])
            assert parser.parse_args(words).command == words[0]
            n_examples += words[0] == name
    assert n_examples >= 2 * len(commands) - 2


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_completion_in_bash(capsys):
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out

    def completed(*words):
        line = " ".join(f"'{word}'" for word in words)
        code = f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _sklearn_subanneal; echo ${{COMPREPLY[@]}}"
        return subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert completed("sklearn-subanneal", "i") == ["impute"]
    assert completed("sklearn-subanneal", "check", "--le") == ["--level"]
    assert completed("sklearn-subanneal", "report", "--header", "") == ["yes", "no"]
    assert completed("sklearn-subanneal", "report", "--covariance", "") == ["auto", "full", "diag"]
    assert completed("sklearn-subanneal", "ask", "x") == []
    for shell in ("zsh", "fish"):
        assert main(["completion", shell]) == 0
        assert "impute" in capsys.readouterr().out


def test_a_pipe_that_is_closed_is_no_error(folder):
    command = [sys.executable, "-m", "sklearn_subanneal", "sample", str(folder / "report"), "-n", "8000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ.copy()) as process:
        assert process.stdout.readline().startswith(b"height")
        process.stdout.close()
        error = process.stderr.read()
        assert process.wait() == 0 and b"Traceback" not in error and b"Exception" not in error


@pytest.mark.slow
def test_false_alarms_of_check_are_as_rare_as_the_level(tmp_path):
    """Of new tables from the distribution of the old one: two kinds of findings, of 5 % each at most."""
    alarms = 0
    for seed in range(6):
        path = tmp_path / f"{seed}.csv"
        visits(200, 100 + seed).to_csv(path, sep=";", index=False)
        report = str(tmp_path / f"report-{seed}")
        assert main(["report", str(path), "-o", report, "-q", "--no-plots", "--seed", str(seed), *FIT]) == 0
        for new in range(20):
            visits(100, 1000 + 100 * seed + new).to_csv(tmp_path / "new.csv", sep=";", index=False)
            alarms += main(["check", str(tmp_path / "new.csv"), "--model", report, "--level", "0.05", "-q"])
    # A binomial of 120 tables with 0.1 has more with probability 0.001.
    assert alarms <= 23
