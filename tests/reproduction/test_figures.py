"""The figures of the papers: each has its commands and its caption, and is drawn from JSON alone."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"
if not BENCHMARKS.exists():
    pytest.skip("the benchmarks are not beside the tests", allow_module_level=True)
sys.path.insert(0, str(BENCHMARKS))

import make_figures  # noqa: E402
from figure_documents import DOCUMENTS  # noqa: E402
from figures import page, running  # noqa: E402
from figures.catalogue import FIGURES, PAPERS, minutes, runs_of  # noqa: E402
from figures.figure import Claim, Run, significant  # noqa: E402
from support.tiers import quick_only  # noqa: E402

RUNS = {run.name: run for run in runs_of(FIGURES.values())}
OPTION = re.compile(r"--[a-z][a-z-]*")


@pytest.fixture(autouse=True)
def no_windows():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def found(figure, *without: str) -> dict:
    return {run.name: DOCUMENTS[run.name] for run in figure.runs if run.name not in without}


@pytest.mark.parametrize("name", FIGURES)
def test_each_figure_has_a_caption(name):
    figure = FIGURES[name]
    assert figure.title
    assert figure.shows.endswith(".")
    assert figure.differs
    assert all(text.endswith((".", ")")) or "--fresh" in text for text in figure.differs)
    # Tables or claims where there is no picture.
    assert figure.draw or figure.tables(found(figure)) or figure.claims(found(figure))


@pytest.mark.parametrize("name", RUNS)
def test_each_run_is_a_command(name):
    """The script is there and knows the options."""
    run = RUNS[name]
    text = (BENCHMARKS / f"{run.script}.py").read_text(encoding="utf-8")
    shared = "".join((BENCHMARKS / f"{module}.py").read_text(encoding="utf-8") for module in ("_common", "_crosscat"))
    for option in OPTION.findall(" ".join(run.command(quick=True))):
        assert f'"{option}"' in text + shared


def test_each_run_has_a_document_here():
    """Without it, its figure would be tested by none of the quick tests."""
    assert set(DOCUMENTS) == set(RUNS)


def test_names_of_runs_mean_one_command():
    for figure in FIGURES.values():
        assert all(run == RUNS[run.name] for run in figure.runs)
    assert len(FIGURES) == sum(len(paper.figures) for paper in PAPERS)


def test_the_whole_takes_less_than_two_hours_on_two_cores():
    assert minutes(runs_of(FIGURES.values()), 2) < 120


def test_minutes_side_by_side():
    runs = [Run(str(length), "script", minutes=length) for length in (6, 5, 4, 3)]
    assert minutes(runs, 1) == 18
    assert minutes(runs, 2) == 9
    assert minutes(runs, 4) == 6


@pytest.mark.parametrize("name", quick_only(FIGURES, "two_urn"))
def test_figures_are_drawn_from_their_documents(name):
    figure = FIGURES[name]
    if figure.draw:
        drawn = figure.draw(found(figure))
        assert all(ax.has_data() or ax.images or not ax.axison for ax in drawn.axes)
    for claim in figure.claims(found(figure)):
        assert claim.found
        assert claim.verdict != "not run"
        # It may turn out otherwise in any run.
        assert claim.why
    for table in figure.tables(found(figure)):
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.heads)}


WITHOUT = [(name, run.name) for name in FIGURES for run in FIGURES[name].runs if len(FIGURES[name].runs) > 1]


@pytest.mark.parametrize(
    ("name", "without"),
    quick_only(WITHOUT, WITHOUT[0]),
)
def test_figures_do_without_a_run(name, without):
    """One benchmark is skipped because its data are absent: the rest is drawn."""
    figure = FIGURES[name]
    rest = found(figure, without)
    if figure.draw:
        assert figure.draw(rest).axes
    figure.claims(rest), figure.tables(rest)


def test_claims_follow_the_figures():
    """Verdicts are of the documents: with others they change."""
    figure = FIGURES["two_urn"]
    before = [claim.verdict for claim in figure.claims(found(figure))]
    assert before == ["in 5 of 6", "yes", "no", "in 1 of 2"]
    other = json.loads(json.dumps(found(figure)))
    other["two_urn"]["results"]["100"]["anneal energy"]["total_variation"] = 0.1
    assert figure.claims(other)[2].verdict == "in 1 of 2"


def test_chains_beyond_their_time_limit_are_marked():
    """Four seconds each, at bounds of one and of three."""
    table = FIGURES["strategies"].tables(found(FIGURES["strategies"]))[0]
    late = {row[1]: row[2].endswith(" in 4 s") for row in table.rows}
    assert late == {"1 s": True, "3 s": False}


def test_verdicts():
    assert [Claim("", "", held).verdict for held in ([], [True], [False, False], [True, False, False])] == [
        "not run",
        "yes",
        "no",
        "in 1 of 3",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7449.0, "7,450"),
        (123456.0, "123,000"),
        (46.04, "46"),
        (4.6, "4.6"),
        (0.00037, "0.00037"),
        (0.0, "0"),
        (-2.5, "-2.5"),
    ],
)
def test_numbers_are_written_out(value, text):
    assert significant(value) == text


def test_the_page_has_every_figure(tmp_path):
    picture = tmp_path / "two_urn.png"
    FIGURES["two_urn"].draw(found(FIGURES["two_urn"])).savefig(picture, dpi=20)
    there = {name: document for name, document in DOCUMENTS.items() if name != "fmm_faces"}
    missing, partly = {"fmm_faces": "no faces < here"}, {"lda_completion": ["gensim: skipped, it is not installed"]}
    text = page.page(PAPERS, there, missing, partly, {"two_urn": picture}, trial=False)
    for name in FIGURES:
        assert f'id="{name}"' in text
        assert f'href="#{name}"' in text
    assert text.count("data:image/png;base64,") == 1
    assert text.count("Without fmm_faces: no faces &lt; here.") == 2
    assert text.count("gensim: skipped, it is not installed.") == 1
    assert page.TRIAL not in text
    # Nothing is fetched.
    assert not re.search(r'(src|href)="(?!data:|#)', text)


# ---- Running ---------------------------------------------------------------------------------------------------

SCRIPT = """
import json, sys
from pathlib import Path
n = Path(__file__).with_name("count")
n.write_text(n.read_text() + "x" if n.exists() else "x")
if "--fail" in sys.argv:
    sys.exit("no luck")
command = [Path(sys.argv[0]).name, *sys.argv[1:]]
print(json.dumps({"command": command, "results": None if "--skip" in sys.argv else [1]}))
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "BENCHMARKS", tmp_path)
    (tmp_path / "script.py").write_text(SCRIPT)
    return lambda: len((tmp_path / "count").read_text())


def test_a_run_is_made_once_for_a_command(tmp_path, script):
    run, folder = Run("some", "script", "--size 3", quick="--size 1"), tmp_path / "json"
    assert running.run_missing([run], folder, quick=False, n_jobs=1) == {}
    assert running.read(run, folder)["command"] == ["script.py", "--size", "3"]
    assert running.run_missing([run], folder, quick=False, n_jobs=1) == {}
    assert script() == 1
    running.run_missing([run], folder, quick=True, n_jobs=1)
    assert running.read(run, folder)["command"] == ["script.py", "--size", "3", "--quick", "--size", "1"]
    running.run_missing([run], folder, quick=True, n_jobs=1, fresh=True)
    assert script() == 3


def test_results_of_other_sources_are_made_again(tmp_path, script, monkeypatch):
    """A package or a script that was changed since may have other results."""
    run, folder = Run("some", "script"), tmp_path / "json"
    for sources in ("before", "before", "after"):
        monkeypatch.setattr(running, "sources", lambda sources=sources: sources)
        assert running.run_missing([run], folder, quick=False, n_jobs=1) == {}
    assert script() == 2


def test_sources_are_those_of_the_package_and_of_the_benchmarks(tmp_path, script):
    running.sources.cache_clear()
    before = running.sources()
    (tmp_path / "script.py").write_text(SCRIPT + "\n")
    running.sources.cache_clear()
    assert running.sources() != before
    running.sources.cache_clear()


@pytest.mark.parametrize("left", ["", '{"command": ["scr'])
def test_what_an_aborted_run_left_is_made_again(tmp_path, script, left):
    run = Run("some", "script")
    (tmp_path / "some.json").write_text(left)
    assert running.read(run, tmp_path) is None
    assert running.run_missing([run], tmp_path, quick=False, n_jobs=1) == {}
    assert running.read(run, tmp_path)["results"] == [1]


def test_make_figures_leaves_the_results_of_make_bench(tmp_path, monkeypatch, capsys):
    """Some have the same names, and other commands."""
    folders = []

    def run_missing(runs, folder, *rest):
        folders.append(folder)
        return {run.name: "it was not run here" for run in runs}

    monkeypatch.setattr(make_figures, "run_missing", run_missing)
    monkeypatch.setattr("sys.argv", ["make_figures.py", "--only", "two_urn", "--output", str(tmp_path)])
    assert make_figures.main() == 1
    assert folders == [tmp_path / "figures" / "json"]
    assert "> output/benchmarks/$$name.json" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_make_bench_runs_every_script():
    """All but those that have targets of their own."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    listed = re.search(r"^BENCHMARKS := (.*)$", text, re.MULTILINE)[1].split()
    scripts = {path.stem for path in BENCHMARKS.glob("*.py") if not path.name.startswith("_")}
    assert sorted(listed) == sorted(scripts - {"demo", "make_figures"})


def test_a_run_that_was_skipped_is_tried_again(tmp_path, script):
    run = Run("some", "script", "--skip")
    for _ in range(2):
        assert running.run_missing([run], tmp_path, quick=False, n_jobs=1) == {}
    assert script() == 2


def test_a_run_that_fails_is_reported_and_others_go_on(tmp_path, script):
    runs = [Run("bad", "script", "--fail"), Run("good", "script")]
    failed = running.run_missing(runs, tmp_path, quick=False, n_jobs=2)
    assert list(failed) == ["bad"]
    assert "no luck" in (tmp_path / "bad.log").read_text()
    assert running.read(runs[0], tmp_path) is None
    assert running.read(runs[1], tmp_path)["results"] == [1]


def test_skipped_parts_of_a_run_are_in_its_log(tmp_path):
    run = Run("some", "script")
    assert running.skipped(run, tmp_path) == []
    (tmp_path / "some.log").write_text("seed 0\ngensim: skipped, it is not installed\n" * 2)
    assert running.skipped(run, tmp_path) == ["gensim: skipped, it is not installed"]


def test_resampled_tables_hold_out_rows_of_their_own():
    from _common import split
    from _tables import MixedTable, resampled

    table = MixedTable(np.arange(160.0)[:, None], ["categorical"], ["row"])
    many = resampled(lambda _: table, 4000)(Path())
    assert many.shape == (4000, 1)
    train, test = many.halves(*split(len(many), 0))
    assert len(train) == 3500
    assert len(test) == 20
    assert len(np.unique(train)) == 140
    assert not np.isin(test, train).any()


@pytest.mark.slow
def test_a_trial_of_everything(tmp_path):
    """`make figures QUICK=--quick`: no benchmark ends with an error, and every figure with data is there."""
    command = [sys.executable, str(BENCHMARKS / "make_figures.py"), "--quick", "--output", str(tmp_path)]
    # The scripts import one another from their folder.
    environment = os.environ | {"PYTHONSAFEPATH": ""}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    text = (tmp_path / "quick" / "figures" / "index.html").read_text(encoding="utf-8")
    assert page.TRIAL in text
    assert all(f'id="{name}"' in text for name in FIGURES)
    assert "ended with an error" not in text
    assert (tmp_path / "quick" / "figures" / "two_urn.png").exists()
