"""The command line, from a file to a page: types, files, content of the page, escaping, interrupts, errors."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import signal
import subprocess
import sys
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal import load
from sklearn_subanneal.columns.atom_split import AtomSplit
from sklearn_subanneal.datasets import make_planted_views
from sklearn_subanneal.estimators._contradictions import Contradiction
from sklearn_subanneal.report import read_source
from sklearn_subanneal.report.anomalies import find_anomalies, prediction_text
from sklearn_subanneal.report.cli import main
from sklearn_subanneal.report.clusters import columns_of_view, find_views
from sklearn_subanneal.report.column_types import brief
from sklearn_subanneal.report.imputation import completed_table, impute_missing
from sklearn_subanneal.report.learning import LearningCallback
from sklearn_subanneal.report.progress_line import ProgressLine
from sklearn_subanneal.report.section_tables import columns_alone

EVIL = "<script>alert('x')</script> & \"co\""
VOID = {"meta", "img", "br", "input"}
SECTIONS = [
    "findings", "next", "columns", "views", "clusters", "distributions", "dependence", "anomalies", "missing",
    "convergence", "words", "making",
]  # fmt: skip


class Page(HTMLParser):
    """Reads a page, and refuses what is not well-formed."""

    def __init__(self, text):
        super().__init__()
        self.stack, self.tags, self.text, self.cells = [], [], [], []
        self.feed(text)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def of(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table of two views with names of rows, missing cells, a wrong cell and names that need escaping."""
    rng = np.random.default_rng(0)
    one, other = rng.integers(3, size=(2, 120))
    frame = pd.DataFrame(
        {
            "id": [f"case <{i}>" for i in range(120)],
            EVIL: 9.0 * one + rng.normal(size=120),
            "size": 9.0 * one + rng.normal(size=120),
            "kind": np.array(["<b>", "y&z", "z"])[one],
            "weight": (9.0 * other + rng.normal(size=120)).round(2),
            "old": np.array([True, False, False])[other].astype(object),
            "day": pd.date_range("2020-01-01", periods=120).astype(str),
            "same": 7,
        }
    )
    frame.loc[5, "size"] += 100.0
    frame.loc[8, "kind"] = frame["kind"][one != one[8]].iloc[0]
    frame.loc[::10, "weight"] = np.nan
    frame.loc[3::15, ["kind", "old"]] = None
    path = tmp_path_factory.mktemp("table") / "cases.csv"
    frame.to_csv(path, index=False)
    return path, frame


@pytest.fixture(scope="module")
def report(table, tmp_path_factory):
    """The folder of a report on it."""
    folder = tmp_path_factory.mktemp("report") / "new"
    assert main(["report", str(table[0]), "-o", str(folder), "--chains", "2", "--jobs", "1", "--quiet"]) == 0
    return folder


@pytest.fixture(scope="module")
def fitted(table, report):
    return read_source(table[0]), load(report / "model.npz")


def test_page_is_whole_and_stands_alone(report):
    text = (report / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert [attributes["id"] for attributes in page.of("section")] == SECTIONS
    assert {f"#{name}" for name in SECTIONS} <= {attributes["href"] for attributes in page.of("a")}
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    # Nothing is fetched: pictures are inside, links lead within the page or to a file beside it; and a browser runs no
    # script but that of the package.
    assert (
        page.of("script") == [{}]
        and not page.of("link")
        and "//" not in re.sub(r"base64,[^\"]*|<script>.*?</script>", "", text, flags=re.DOTALL)
    )
    assert "url(" not in text and "@import" not in text
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = next(a["content"] for a in page.of("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; img-src data:") and policy.endswith(f"script-src 'sha256-{digest}'")
    links = {attributes["href"] for attributes in page.of("a")} - {f"#{name}" for name in SECTIONS}
    assert links == {"clusters.csv", "imputed.csv", "uncertainty.csv", "model.npz", "types.toml"}
    assert all((report / link).is_file() for link in links)
    assert len(page.of("img")) == 3 and len(text) < 2_000_000
    assert all(a["src"].startswith("data:image/png;base64,") and len(a["alt"]) > 30 for a in page.of("img"))
    # For screen readers: a language, one first heading, headings of columns, captions.
    assert page.of("html") == [{"lang": "en"}] and len(page.of("h1")) == 1
    assert all(a.get("scope") == "col" for a in page.of("th"))
    assert len(page.of("caption")) == len(page.of("table"))


def test_names_and_cells_are_escaped(report):
    text = (report / "report.html").read_text(encoding="utf-8")
    assert EVIL not in text and "<b>" not in text and "case <" not in text
    page = Page(text)
    read = "".join(page.text)
    assert EVIL in read and "<b>" in read and "case <5>" in read
    # In attributes as well, and no name has become one.
    assert any(EVIL in attributes.get("aria-label", "") for attributes in page.of("svg"))
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]


def test_types_are_inferred_and_explained(table):
    source = read_source(table[0])
    assert {column.name: column.kind for column in source.columns} == {
        "id": "label", EVIL: "real", "size": "real", "kind": "categorical", "weight": "real", "old": "boolean",
        "day": "datetime", "same": "ignore",
    }  # fmt: skip
    reasons = {column.name: (column.reason, column.n_missing) for column in source.columns}
    assert reasons["weight"][1] == 12 and reasons["same"][0] == "all its cells are 7"
    assert source.row_names[5] == "case <5>"


def test_types_of_numbers_and_marks(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "row": np.arange(1, 201),
            "flag": rng.integers(2, size=200),
            "grade": rng.integers(1, 6, size=200),
            "half": rng.integers(1, 6, size=200) / 2,
            "age": rng.integers(20, 80, size=200),
            "marked": [str(n) if n else "unknown" for n in rng.integers(9, size=200)],
            "gap": ["?" if n == 0 else "yes" if n < 3 else "no" for n in rng.integers(5, size=200)],
            "empty": None,
            "note": [f"text {n}" for n in rng.integers(150, size=200)],
        }
    )
    path = tmp_path / "numbers.csv"
    frame.to_csv(path, index=False, sep=";")
    columns = {column.name: column for column in read_source(path, {"age": "count"}).columns}
    kinds = ["label", "boolean", "categorical", "ordinal", "count", "categorical", "categorical", "ignore"]
    kinds.append("ignore")
    assert [column.kind for column in columns.values()] == kinds
    assert columns["marked"].marks == {"unknown": (frame["marked"] == "unknown").sum()}
    assert "equally frequent, as classes are" in columns["marked"].reason
    assert "equally frequent" in columns["grade"].reason and "in steps of 0.5" in columns["half"].reason
    assert columns["gap"].n_missing == (frame["gap"] == "?").sum() > 0 and columns["gap"].n_distinct == 2
    again = {column.name: column for column in read_source(path, keep=["unknown"]).columns}
    assert again["marked"].kind == "categorical" and again["marked"].n_distinct == 9
    assert "if 'unknown' means missing, pass --missing 'unknown'" in again["marked"].reason


def test_views_clusters_and_their_differences(fitted):
    source, model = fitted
    views = find_views(model, source, most_views=9, most_clusters=9)
    planted = sorted([sorted([EVIL, "size", "kind"]), ["old", "weight"]])
    columns = [[name for name in view.columns if not name.startswith("day (")] for view in views]
    assert sorted(sorted(names) for names in columns if names) == planted
    for view in views:
        for cluster in view.clusters:
            assert np.array_equal(np.flatnonzero(view.labels == cluster.number), cluster.rows)
    weight = next(view for view in views if "weight" in view.columns)
    old = source.frame["old"]
    for cluster in weight.clusters[:3]:
        inside = weight.labels == cluster.number
        mean, rest = (source.frame["weight"][rows].mean() for rows in (inside, ~inside))
        texts = [trait.text for trait in cluster.traits]
        if abs(mean - rest) > 5.0:
            assert f"weight is {brief(mean)} on average, elsewhere {brief(rest)}" in texts
        share = (old[inside].dropna() == True).mean()  # noqa: E712
        if share > 0.9:
            assert any(text.startswith(f"old is True in {share:.0%}") for text in texts)


def test_columns_of_several_parts_are_listed_by_those_in_the_view():
    rng = np.random.default_rng(0)
    one = AtomSplit.of("fee", np.where(np.arange(60) % 2, 0.0, rng.normal(size=60)), {})
    several = AtomSplit.of("tax", np.where(np.arange(90) % 3, np.arange(90) % 3, rng.normal(size=90)), {})
    parts = ["day (trend)", "day (week)", "day (year)", "size", "size (missing)", "hour", "fee (atom)", "fee (rest)"]
    model = SimpleNamespace(
        feature_types_=dict.fromkeys(["day", "size", "hour", "fee", "tax"]),
        part_types_=dict.fromkeys([*parts, "tax (atom)", "tax (rest)"]),
        part_columns_=np.array([0, 0, 0, 1, 1, 2, 3, 3, 4, 4]),
        column_labels_=np.array([1, 0, 0, 0, 2, 0, 0, 1, 1, 2]),
        _table=SimpleNamespace(
            columns=[SimpleNamespace(split=own, derivation=None) for own in (None, None, None, one, several)]
        ),
    )
    assert [columns_of_view(model, number) for number in range(3)] == [
        {"day": ["week", "year"], "size": [], "hour": [], "fee": ["whether 0"]},
        {"day": ["trend"], "fee": ["its other values"], "tax": ["whether a frequent value, and which"]},
        {"size": ["missing"], "tax": ["its other values"]},
    ]


def test_columns_that_are_alone_and_those_that_depend_on_others(fitted):
    """Parts of one column by their own names, whose dependence is that of the column."""
    source, model = fitted
    views = find_views(model, source, most_views=9, most_clusters=9)
    alone = {column: name for view in views for column, name in zip(view.columns, view.names, strict=True)}
    assert all(column == name or (name == "day" and column.startswith("day (")) for column, name in alone.items())
    views = [
        SimpleNamespace(columns=[own], names=[own.split(" (")[0]]) for own in ("size", "day (trend)", "day (week)")
    ]
    views.append(SimpleNamespace(columns=["old", "kind"], names=["old", "kind"]))
    pair = Contradiction("day", "weight", "rank correlation", 1e-9, 0.0)
    days = ["day (trend)", "day (week)"]
    assert columns_alone(views, SimpleNamespace(pairs=[pair])) == (["size", *days], days)


def test_planted_errors_are_the_least_probable(fitted):
    """One cell contradicts the rest of its row; another is beyond all others, so that its row is a cluster of one."""
    source, model = fitted
    found = find_anomalies(model, source, most=8, most_scored=10_000)
    wrong = next(cell for cell in found.cells if cell.column == "kind")
    # The prediction comes from the rest of the row, not from the cell itself.
    like = source.frame["kind"][(source.frame[EVIL] - source.frame[EVIL][8]).abs() < 2.0].mode()[0]
    assert wrong.row == 8 and wrong.value == source.frame["kind"][8] != like
    assert wrong.expected.startswith(f"{like} (") and float(wrong.expected.split("(")[1][:-2]) > 80.0
    assert (5, "size") in [(cell.row, cell.column) for cell in found.cells]
    assert found.singletons[0].row == 5 and "size" in found.singletons[0].columns and found.singletons[0].share > 0.5
    assert found.n_singletons == len(find_anomalies(model, source, most=99, most_scored=20).singletons)
    assert found.n_scored == 120 and find_anomalies(model, source, 5, 50).n_scored == 50


def test_imputed_table_keeps_observed_cells(table, report, fitted):
    source, model = fitted
    filled, uncertainty = pd.read_csv(report / "imputed.csv"), pd.read_csv(report / "uncertainty.csv")
    raw = source.frame
    assert list(filled.columns) == list(raw.columns) and not filled[list(source.feature_types)].isna().any(axis=None)
    for name in raw.columns:
        there = raw[name].notna()
        assert (filled[name][there].astype(str) == raw[name][there].astype(str)).all()
    gaps = source.X.isna()
    assert (uncertainty.to_numpy()[~gaps.to_numpy()] == 0.0).all() and (uncertainty["weight"][gaps["weight"]] > 0).all()
    expected = model.impute(source.X, seen=True)
    at = gaps["weight"]
    np.testing.assert_allclose(filled["weight"][at], expected["weight"][at].astype(float), rtol=1e-5)
    assert filled["old"].dtype == bool


def test_whole_numbers_stay_whole(tmp_path):
    path = tmp_path / "whole.csv"
    path.write_text("a,b\n" + "".join(f"{'' if i == 4 else 10 * i},{i}.5\n" for i in range(40)))
    source = read_source(path)

    class Half:
        def impute(self, X, return_uncertainty):
            return X.fillna(1 / 3), np.zeros(X.shape)

    assert impute_missing(Half(), source.frame, source.X).table["a"].tolist()[3:6] == [30, 0.333333, 50]


def test_clusters_are_those_of_the_model(report, fitted):
    source, model = fitted
    clusters = pd.read_csv(report / "clusters.csv")
    assert list(clusters.columns) == ["row"] + [f"view {view}" for view in range(model.n_views_)]
    np.testing.assert_array_equal(clusters.iloc[:, 1:], model.view_labels_)
    np.testing.assert_array_equal(model.predict_views(source.X), model.view_labels_)
    assert clusters["row"][7] == "case <7>"
    assert not hasattr(model, "_skl_callbacks")


@pytest.mark.slow
def test_the_same_seed_gives_the_same_report(table, report, tmp_path):
    again, other = tmp_path / "again", tmp_path / "other"
    common = ["report", str(table[0]), "--chains", "2", "-q", "--no-plots"]
    assert main([*common, "-o", str(again), "--jobs", "2"]) == 0
    assert main([*common, "-o", str(other), "--seed", "1"]) == 0
    for name in ("clusters.csv", "imputed.csv", "uncertainty.csv"):
        assert (again / name).read_bytes() == (report / name).read_bytes()
    assert (other / "imputed.csv").read_bytes() != (report / "imputed.csv").read_bytes()
    assert not Page((again / "report.html").read_text(encoding="utf-8")).of("img")


@pytest.mark.parametrize("plots", [["--no-plots"], pytest.param([], marks=pytest.mark.slow)], ids=["no-plots", "plots"])
def test_limits_of_the_page_are_stated(tmp_path, capsys, plots):
    data = make_planted_views(150, 24, (2, 2), missing=0.05, as_frame=True, random_state=0).data
    path = tmp_path / "wide.tsv"
    data.to_csv(path, sep="\t", index=False)
    assert main(["report", str(path), "-o", str(tmp_path / "out"), "--chains", "1", "--time-limit", "1", *plots]) == 0
    text = "".join(Page((tmp_path / "out" / "report.html").read_text(encoding="utf-8")).text)
    assert "1 s: another run will give other numbers" in text and "cells separated by tabs" in text
    assert (
        re.search(r"the first 15 of \d+ shown", text) and "the 10 of 24 columns, those with most missing cells" in text
    )
    assert "R-hat cannot be computed" in text
    said = capsys.readouterr()
    assert "wide.tsv: 150 rows, 24 columns, 24 of them modelled" in said.out and "report.html" in said.out


def test_parquet_without_gaps(tmp_path):
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    pd.DataFrame({3: rng.normal(size=60), "day": pd.Timestamp("2020-01-01")}).to_parquet(tmp_path / "t.parquet")
    source = read_source(tmp_path / "t.parquet")
    assert [(column.name, column.kind) for column in source.columns] == [("3", "real"), ("day", "ignore")]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (None, [], "no file"),
        ("", [], "cannot be read as a table"),
        ("a,b\n1\n2,3,4,5\n", [], "cannot be read as a table"),
        ("a\n1.5\n", [], "1 rows and 0 columns to model"),
        ("a,b\n1.5,x\n2.5,y\n", ["-t", "c=real"], "names the column 'c', which the table does not have"),
        (
            "a,b\n1.5,x\n2.5,y\n",
            ["-t", "b=grade"],
            "count, cyclic, ordinal, semicontinuous, skewed, datetime, label, ignore",
        ),
        ("a,b\n1.5,x\n2.5,y\n", ["-t", "b"], "must be COLUMN=TYPE"),
        ("a,b\n1.5,x\n2.5,y\n", ["-t", "b=real"], "'b' must be real but holds 'x'"),
        ("a,b\n1.5,x\ninf,y\n", [], "'a' holds infinity"),
        ("a,b\n1.5,x\n2.5,y\n", ["--chains", "0"], "--chains must be at least 1, got 0"),
        ("a,b\n1.5,x\n2.5,y\n", ["--time-limit", "0"], "--time-limit must be a positive number of seconds, got 0"),
    ],
)
def test_errors_are_one_line_with_a_remedy(tmp_path, capsys, content, options, message):
    path = tmp_path / "table.csv"
    if content is not None:
        path.write_text(content)
    assert main(["report", str(path), "-o", str(tmp_path / "out"), "-q", *options]) == 2
    error = capsys.readouterr().err
    assert message in error and error.startswith("sklearn-subanneal: ") and "Traceback" not in error
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("module", "remedy"), [("matplotlib", "--no-plots"), ("pandas", "[report]"), ("jinja2", "[report]")]
)
def test_missing_extras_are_named(table, tmp_path, capsys, monkeypatch, module, remedy):
    monkeypatch.setitem(sys.modules, module, None)
    assert main(["report", str(table[0]), "-o", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert module in error and remedy in error and "pip install 'sklearn-subanneal[report]'" in error


@pytest.fixture
def long_table(tmp_path):
    """A table whose fit takes a minute with `OPTIONS`."""
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(900, 12))).to_csv(tmp_path / "long.csv", index=False)
    return tmp_path / "long.csv"


OPTIONS = ["--chains", "2", "--jobs", "2", "--time-limit", "60", "--no-plots"]


def check_interrupted(folder, times, status, out, error):
    assert "Traceback" not in error
    if times == 1:
        assert status == 0 and "Stopped early" in out
        assert load(folder / "model.npz").log_joint_.shape == (2, 1)
        assert "The fit was interrupted" in (folder / "report.html").read_text(encoding="utf-8")
    else:
        assert status == 130 and "interrupted" in error


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
@pytest.mark.parametrize("times", [1, 2])
def test_interrupt(long_table, tmp_path, monkeypatch, capsys, times):
    """One Ctrl-C gives a report from the draws so far, a second one an error message."""
    sent, callbacks = [], []

    def interrupt(line, progress, text, is_urgent):
        assert is_urgent == text.startswith("interrupted")
        # A second signal that is sent before the first has been handled would be merged with it.
        if len(sent) < times and callbacks[0].is_stopped == bool(sent):
            sent.append(progress)
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(LearningCallback, "setup", lambda callback, estimator, context: callbacks.append(callback))
    monkeypatch.setattr(ProgressLine, "__call__", interrupt)
    before = signal.getsignal(signal.SIGINT)
    status = main(["report", str(long_table), "-o", str(tmp_path / "out"), *OPTIONS])
    assert signal.getsignal(signal.SIGINT) is before
    check_interrupted(tmp_path / "out", times, status, *capsys.readouterr())


@pytest.mark.parametrize("is_quiet", [False, True])
def test_an_urgent_line_of_progress_is_not_left_out(is_quiet):
    stream = io.StringIO()
    line = ProgressLine(stream, is_quiet)
    line(0.1, "just begun", False)
    line(0.2, "interrupted", True)
    assert stream.getvalue() == ("" if is_quiet else "Fitting:  20%  interrupted\n")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
@pytest.mark.parametrize("times", [1, 2])
def test_interrupt_of_a_process(long_table, tmp_path, times):
    """The same of the command in a process of its own."""
    command = [sys.executable, "-m", "sklearn_subanneal", "report", str(long_table), "-o", str(tmp_path / "out")]
    with subprocess.Popen([*command, *OPTIONS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for expected in ("rows in", "interrupted")[:times]:
            # A second signal before the first has been handled would be merged with it.
            while expected not in (line := process.stderr.readline()):
                assert process.poll() is None, line
            process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=600)
    check_interrupted(tmp_path / "out", times, process.returncode, out, error)


@pytest.mark.parametrize(
    ("value", "uncertainty", "kind", "text"),
    [
        (6.0, 0.5, "cyclic", "6 ± 0.5"),
        (1.25, 0.123, "real", "1.25 ± 0.12"),
        (0.0, 2.0, "semicontinuous", "0 ± 2"),
        ("red", 0.25, "categorical", "red (75%)"),
    ],
)
def test_predictions_are_written_by_type(value, uncertainty, kind, text):
    assert prediction_text(value, uncertainty, kind) == text


@pytest.mark.slow
def test_dates_are_reported(table, tmp_path):
    """Text that is declared to be dates: in the file with some cells missing, and as other columns in the page."""
    frame = table[1][["size", "day"]].copy()
    frame.loc[[0, 9], "day"] = None
    path = tmp_path / "days.csv"
    frame.to_csv(path, index=False)
    arguments = [str(path), "-o", str(tmp_path / "out"), "--types", "day=datetime", "--chains", "1", "--quiet"]
    assert main(["report", *arguments]) == 0
    read = "".join(Page((tmp_path / "out" / "report.html").read_text(encoding="utf-8")).text)
    assert "datetime" in read and "day (trend)" in read
    imputed = pd.read_csv(tmp_path / "out" / "imputed.csv")["day"]
    assert imputed.notna().all() and imputed[3] == "2020-01-04"
    assert pd.to_datetime(imputed[[0, 9]]).dt.year.between(2019, 2021).all()
    assert prediction_text(pd.Timestamp("2020-02-29"), 12.34, "datetime") == "2020-02-29 00:00:00 ± 12 days"


def test_dates_are_written_as_days():
    """Beside filled ones as they are without any, also where texts are written as they are."""
    days = pd.DataFrame({"day": pd.to_datetime(["2021-03-04", None, "2021-03-06"])})
    filled = pd.DataFrame({"day": pd.to_datetime(["2021-03-04", "2021-03-05", "2021-03-06"])})
    assert (
        completed_table(days, days, filled).to_csv(index=False).split()
        == "day 2021-03-04 2021-03-05 2021-03-06".split()
    )


def test_text_that_spells_numbers_is_reported_as_numbers(tmp_path):
    """In the imputed table too."""
    rng = np.random.default_rng(3)
    prices = rng.normal(5000.0, 900.0, 60)
    frame = pd.DataFrame({"price": [f"{price:,.2f}" for price in prices], "size": prices / 90 + rng.normal(size=60)})
    frame.loc[[4, 8], "price"] = [None, "n/k"]
    path = tmp_path / "prices.csv"
    frame.to_csv(path, index=False)
    source = read_source(path)
    assert source.feature_types == {"price": "real", "size": "real"} and source.columns[0].n_missing == 2
    assert "missing where they are not: 'n/k'" in source.columns[0].reason
    assert main(["report", str(path), "-o", str(tmp_path / "out"), "--chains", "1", "--quiet", "--no-plots"]) == 0
    imputed = pd.read_csv(tmp_path / "out" / "imputed.csv")["price"]
    np.testing.assert_allclose(imputed.drop([4, 8]), prices.round(2)[np.setdiff1d(np.arange(60), [4, 8])])
    assert imputed[[4, 8]].between(2000.0, 8000.0).all()


def test_a_word_for_missing_cells_is_named_once(tmp_path):
    """However many of the cells have it."""
    values = np.where(np.arange(60) % 5 < 3, "ND", np.random.default_rng(0).exponential(size=60).round(3).astype(str))
    pd.DataFrame({"level": values}).to_csv(tmp_path / "t.csv", index=False)
    column = read_source(tmp_path / "t.csv").columns[0]
    assert "missing where they are not: 'ND';" in column.reason and column.marks == {"ND": 36}


def test_numbers_with_several_units_are_texts_and_the_reason_says_why(tmp_path):
    frame = pd.DataFrame({"dose": ["500 mg", "1.5 g", "250 mg", "2 g"] * 15, "house": ["12 Oak", "3 Elm", "Mill"] * 20})
    frame.to_csv(tmp_path / "t.csv", index=False)
    dose, house = read_source(tmp_path / "t.csv").columns
    assert (dose.kind, house.kind) == ("categorical", "categorical")
    assert dose.reason == "numbers with several units (g, mg), texts until they are converted to one"
    assert house.reason == "text"


def test_numbers_with_several_currencies_are_texts_and_the_reason_says_why(tmp_path):
    frame = pd.DataFrame({"price": ["$12.50", "€11.90", "¥1850"] * 20, "share": ["43%", "0.51", "0.2", "0.3"] * 15})
    frame["temperature"] = [f"{kelvin:.1f} K" for kelvin in np.linspace(280.0, 300.0, 60)]
    frame.to_csv(tmp_path / "t.csv", index=False)
    price, share, temperature = read_source(tmp_path / "t.csv").columns
    assert (price.kind, share.kind, temperature.kind) == ("categorical", "categorical", "real")
    assert price.reason == "numbers with several units ($, €, ¥), texts until they are converted to one"
    assert share.reason == "numbers with several units (%, none), texts until they are converted to one"
    assert temperature.values == "280 to 300" and "numbers of K" in temperature.reason
