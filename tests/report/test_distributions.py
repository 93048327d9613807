"""Distributions of columns by groups of rows, their pictures, and what to do next."""

from __future__ import annotations

import html
import re
import shlex
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal.report import Plan, learn, read_source, write_report
from sklearn_subanneal.report.chart import LEFT, ROW, WIDTH, chart_of
from sklearn_subanneal.report.cli import main
from sklearn_subanneal.report.clusters import ViewSummary, find_views
from sklearn_subanneal.report.command_parser import command_parser
from sklearn_subanneal.report.distributions import MOST_GROUPS, find_distributions
from sklearn_subanneal.report.page_table import PageTable
from sklearn_subanneal.report.templates import render


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    rng = np.random.default_rng(0)
    group = rng.integers(3, size=200)
    frame = pd.DataFrame(
        {
            "height": (9.0 * group + rng.normal(size=200)).round(3),
            "price": np.exp(2.0 * group + rng.normal(size=200)).round(3),
            "kind": np.array(["red", "blue", "green & <new>"])[group],
            "visits": rng.poisson(2.0 + 4.0 * group),
            "town": [f"town {k}" for k in rng.integers(12, size=200)],
            "flag": group > 0,
        }
    )
    frame.loc[::9, "kind"] = None
    folder = tmp_path_factory.mktemp("it's a table")
    frame.to_csv(folder / "my table.csv", index=False)
    source, plan = read_source(folder / "my table.csv"), Plan(n_chains=2, n_draws=4, n_jobs=1)
    learned = learn(source, plan)
    write_report(source, plan, learned, folder / "the report", plots=False)
    views = find_views(learned.model, source, 8, 8)
    return source, views, find_distributions(learned.model, source, views), folder / "the report"


def test_distributions_are_those_of_the_groups(reported):
    source, views, found, _ = reported
    assert [column.name for column in found] == list(source.feature_types)
    for column in found:
        view = next(view for view in views if view.number == column.view)
        assert column.name in view.columns
        cells = source.frame[column.name]
        assert column.groups[0].name == "all rows" and column.groups[0].n_rows == 200
        for own in column.groups:
            rows = np.ones(200, bool) if own.name == "all rows" else view.labels.astype(str) == own.name
            if own.name == "others":
                rows = ~np.isin(view.labels, [cluster.number for cluster in view.clusters[:MOST_GROUPS]])
            inside = cells[rows]
            assert (own.n_rows, own.n_missing) == (rows.sum(), inside.isna().sum())
            assert own.shares.sum() == pytest.approx(1.0)
            if column.categories and len(column.categories) < 6:
                wanted = inside.dropna().astype(str).value_counts(normalize=True)
                for category, share in zip(column.categories, own.shares, strict=True):
                    assert share == pytest.approx(wanted.get(category, 0.0))
            elif own.quartiles:
                assert float(own.quartiles[1].replace(",", "")) == pytest.approx(inside.median(), rel=5e-3, abs=5e-3)
        if len(column.groups) > 1:
            assert sum(own.n_rows for own in column.groups[1:]) == 200
    by_name = {column.name: column for column in found}
    assert by_name["town"].categories[-1] == "7 other values" and by_name["price"].is_compressed
    assert len(by_name["height"].groups) == 4 and by_name["visits"].ticks[0][1] == "0"


def test_pictures_are_to_scale(reported):
    for column in reported[2]:
        chart = chart_of(column)
        assert len(chart.rows) == len(column.groups) and column.name in chart.alt
        for row, own in zip(chart.rows, column.groups, strict=True):
            if column.categories:
                assert sum(bar.width for bar in row.bars) == pytest.approx(WIDTH - LEFT, abs=0.5)
                widths = {bar.colour: bar.width for bar in row.bars}
                for colour, share in enumerate(own.shares):
                    assert widths.get(colour, 0.0) == pytest.approx(share * (WIDTH - LEFT), abs=0.06)
            else:
                start, *steps = re.findall(r"[Mvhz][-\d. ]*", row.path)
                assert start == f"M{LEFT} {row.y + ROW:g}" and steps[-1] == "z"
                height, heights = 0.0, []
                for step in steps[:-1]:
                    height -= float(step[1:]) if step[0] == "v" else 0.0
                    if step[0] == "h":
                        heights.append(height)
                assert height == pytest.approx(0.0, abs=0.05)
                np.testing.assert_allclose(heights, ROW * own.shares / own.shares.max(), atol=0.06)


@pytest.mark.parametrize("kind", ["real", "categorical", "datetime", "count"])
def test_columns_without_a_cell_in_the_rows_that_are_counted(kind, monkeypatch):
    """Of a table of 60 rows every third is counted, in which a sparse column has no cell."""
    monkeypatch.setattr("sklearn_subanneal.report.distributions.MOST_ROWS", 20)
    cells = {"real": 1.5, "categorical": "x", "datetime": pd.Timestamp("2021-03-04"), "count": 3}
    frame = pd.DataFrame({"a": [cells[kind] if row % 9 == 4 else None for row in range(60)], "b": np.arange(60.0)})
    source = SimpleNamespace(frame=frame, feature_types={"a": kind, "b": "real"})
    model = SimpleNamespace(column_labels_=np.array([0, 0]), first_parts_=np.array([0, 1]))
    view = ViewSummary(0, ["a", "b"], ["a", "b"], np.repeat([0, 1], 30), [])
    column, other = find_distributions(model, source, [view])
    assert other.groups[0].n_rows == column.groups[0].n_rows == column.groups[0].n_missing == 20
    assert column.groups[0].shares.sum() == 0.0 and not column.ticks and not column.categories
    written = render("chart.html", column=column, chart=chart_of(column))
    assert "<path" not in written and "<rect" not in written and "20 missing" in written
    assert written.count('<td class="number">') == 5


def test_cyclic_columns_have_no_quartiles():
    """They would depend on where the period begins: of night shifts around midnight, the median would be at noon."""
    frame = pd.DataFrame({"start": [23.0, 23.5, 0.5, 1.0] * 10, "empty": [np.nan] * 40})
    source = SimpleNamespace(frame=frame, feature_types={"start": "cyclic", "empty": "cyclic"})
    model = SimpleNamespace(column_labels_=np.array([0, 0]), first_parts_=np.array([0, 1]))
    for column in find_distributions(model, source, [ViewSummary(0, ["start"], ["start"], np.zeros(40, int), [])]):
        assert column.groups[0].quartiles == ()
        written = render("chart.html", column=column, chart=chart_of(column))
        assert "quartile" not in written and "median" not in written and written.count("<th ") == 3


DAY = pd.Timestamp("2021-06-01")
SPREADS = {
    "years": ("ordinal", np.arange(2014, 2022), ["2014", "2021"], ("2015.75", "2017.5", "2019.25")),
    "a century": ("real", np.arange(1900.0, 2001.0, 5.0), ["1900", "1950", "2000"], ("1925", "1950", "1975")),
    "Julian dates": (
        "real", 2459000.0 + np.arange(101) / 10.0,
        ["2,459,000.05", "2,459,005", "2,459,009.95"], ("2,459,002.5", "2,459,005", "2,459,007.5"),
    ),
    "temperatures": ("real", np.linspace(37.0, 37.04, 9), ["37", "37.02", "37.04"], ("37.01", "37.02", "37.03")),
    "small amounts": (
        "skewed", 10.0 ** np.arange(-3.0, 3.1, 0.5),
        ["0.001", "30.7", "1000"], ("0.0316", "1", "31.6"),
    ),
    "millions": ("real", 1234567.0 * np.arange(1, 12), ["1,234,567", "7,407,402", "13,580,237"], None),
    "times of a day": (
        "datetime", DAY + pd.to_timedelta(np.arange(6, 19), "h"),
        ["06:00", "12:00", "18:00"], ("09:00", "12:00", "15:00"),
    ),
    "minutes": (
        "datetime", DAY + pd.to_timedelta(np.arange(0, 41, 2), "s"), ["00:00:00", "00:00:20", "00:00:40"], None,
    ),
    "a night": (
        "datetime", DAY + pd.to_timedelta(np.arange(20, 33), "h"), ["06-01 20:00", "06-02 02:00", "06-02 08:00"], None,
    ),
    "a year": (
        "datetime", DAY + pd.to_timedelta(np.arange(0, 361, 30), "D"), ["2021-06-01", "2021-11-28", "2022-05-27"], None,
    ),
    "times in a zone": (
        "datetime", (DAY + pd.to_timedelta(np.arange(6, 19), "h")).tz_localize("America/Lima"),
        ["06:00", "12:00", "18:00"], None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SPREADS)
def test_numbers_of_an_axis_differ(case):
    """However far from 0 they are."""
    kind, cells, ticks, quartiles = SPREADS[case]
    source = SimpleNamespace(frame=pd.DataFrame({"a": cells}), feature_types={"a": kind})
    model = SimpleNamespace(column_labels_=np.array([0]), first_parts_=np.array([0]))
    view = ViewSummary(0, ["a"], ["a"], np.zeros(len(cells), int), [])
    (found,) = find_distributions(model, source, [view])
    texts = [text for _, text in found.ticks]
    assert [texts[0], texts[-1]] == [ticks[0], ticks[-1]] and set(ticks) <= set(texts)
    assert len(set(texts)) == len(texts)
    if quartiles:
        assert found.groups[0].quartiles == quartiles


def test_commands_of_the_page_can_be_run(reported, monkeypatch, capsys):
    """Names with spaces and quotes are quoted for a shell, and the question has an answer."""
    folder = reported[3]
    page = (folder / "report.html").read_text(encoding="utf-8")
    section = re.search(r'<section id="next">(.*?)</section>', page, re.DOTALL)[1]
    commands = [shlex.split(html.unescape(text)) for text in re.findall("<pre><code>(.*?)</code></pre>", section)]
    assert {"ask", "impute", "check"} <= {command[1] for command in commands}
    monkeypatch.chdir(folder.parent)
    for command in commands:
        assert command[0] == "sklearn-subanneal"
        command_parser().parse_args(command[1:])
    ask = next(command for command in commands if command[1] == "ask")
    assert main(ask[1:]) == 0
    assert re.search(r"0\.\d+|1\b", capsys.readouterr().out)


def test_tables_are_marked_for_sorting_and_searching():
    def written(n):
        return render("table.html", table=PageTable("t", ("a", "b"), [(f"<{k}>", k) for k in range(n)], (1,)))

    assert "data-sorted" not in written(2) and 'type="search"' not in written(2)
    assert "data-sorted" in written(3) and 'type="search"' not in written(7)
    assert 'type="search"' in written(8) and '<td class="number">7</td>' in written(8)
    assert "&lt;7&gt;" in written(8) and "<7>" not in written(8)
    assert "scroll long" not in written(20) and "scroll long" in written(30)


@pytest.mark.parametrize("n_columns", [60, pytest.param(500, marks=pytest.mark.slow)])
def test_pages_of_many_columns_stay_small(tmp_path, n_columns):
    """A page of 500 columns has a few megabytes at most, since the pictures of a column are short paths."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(60, n_columns)).round(2)).add_prefix("c")
    frame.to_csv(tmp_path / "wide.csv", index=False)
    source, plan = read_source(tmp_path / "wide.csv"), Plan(n_chains=1, n_draws=1, time_limit=1.0)
    write_report(source, plan, learn(source, plan), tmp_path / "out", plots=False)
    text = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert text.count('<figure class="chart">') == n_columns and len(text.encode()) < 100_000 + 6_000 * n_columns
