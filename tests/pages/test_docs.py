"""The examples in docstrings, in the README and in doc/ run and show what they say."""

import doctest
import importlib
import pkgutil
import re
import runpy
import sys
import time
import types
from pathlib import Path

import matplotlib
import pytest
from sklearn.base import BaseEstimator
from support.tiers import quick_only

import sklearn_subanneal

ROOT = Path(__file__).resolve().parents[2]
DOC = ROOT / "doc"
# The gallery is made by `make doc`, of scripts.
PAGES = [ROOT / "README.md", *sorted(page for page in DOC.rglob("*.md") if "auto_examples" not in page.parts)]
# That which a reader meets first; the others run in the slow tier.
QUICK_PAGES = [page for page in PAGES if page.name in ("README.md", "tour.md")]
with_pages = pytest.mark.skipif(not DOC.is_dir(), reason="needs the README and doc/ beside tests/")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
# What a block printed, in a block below it.
SHOWN = re.compile(r"\n+```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d+\.?\d*")
LINK = re.compile(r"\]\(([^)#:]+)\)")
# They are to run in seconds, on one processor and machines that differ.
SECONDS_OF_AN_EXAMPLE = 60.0
# A file ending in .py: compiled modules have no examples.
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(sklearn_subanneal.__path__, "sklearn_subanneal.")
    if module.ispkg or importlib.util.find_spec(module.name).origin.endswith(".py")
)


@pytest.fixture(autouse=True)
def figures_without_windows():
    matplotlib.use("Agg")
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    found = doctest.testmod(importlib.import_module(name))
    assert not found.failed


def test_docstrings_are_found():
    """The test above must not pass because it looks at nothing."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    with_examples = [
        name for name in MODULES if any(test.examples for test in finder.find(importlib.import_module(name)))
    ]
    assert {
        "sklearn_subanneal.annealing.schedules",
        "sklearn_subanneal.estimators.dpmm",
        "sklearn_subanneal.tables.schema",
    } <= set(with_examples)


@with_pages
def test_blocks_are_python():
    """Of all pages, those too that run in the slow tier alone."""
    for page in PAGES:
        for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
            compile(block.group(1), str(page), "exec")


@with_pages
@pytest.mark.parametrize("page", quick_only(PAGES, *QUICK_PAGES), ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_run(page, tmp_path, monkeypatch):
    """The Python blocks of a page run one after the other, as a reader would paste them."""
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    # Blank lines in place of the prose, so that an error names the line of the page.
    code, at = "", 0
    for block in BLOCK.finditer(text):
        code += "\n" * text.count("\n", at, block.start(1)) + block.group(1)
        at = block.end(1)
    exec(compile(code, str(page), "exec"), {"__name__": page.stem})


@pytest.mark.slow
@with_pages
def test_the_tour_prints_what_it_shows(tmp_path, monkeypatch, capsys):
    """Below each block of the page is what it printed; numbers may differ by a hundredth on another processor."""
    monkeypatch.chdir(tmp_path)
    text, known, n_shown = (DOC / "tour.md").read_text(encoding="utf-8"), {"__name__": "tour"}, 0
    for block in BLOCK.finditer(text):
        exec(compile(block.group(1), "tour.md", "exec"), known)
        printed, shown = capsys.readouterr().out, SHOWN.match(text, block.end())
        if shown is None:
            assert not printed
            continue
        n_shown += 1
        assert NUMBER.sub("0", printed).split() == NUMBER.sub("0", shown[1]).split()
        numbers = [[float(number) for number in NUMBER.findall(out)] for out in (printed, shown[1])]
        assert numbers[0] == pytest.approx(numbers[1], rel=0.01, abs=0.011)
    assert n_shown == 10


@with_pages
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"


EXAMPLES = sorted((ROOT / "examples").glob("[!_]*.py"))
WITH_TABLES = [path for path in EXAMPLES if re.search(r"Example\(__doc__, ", path.read_text(encoding="utf-8"))]
example = pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)


def run_example(path, monkeypatch, folder):
    for folder_of_scripts in ("benchmarks", "examples"):
        monkeypatch.syspath_prepend(ROOT / folder_of_scripts)
    monkeypatch.setattr("sys.argv", [path.name, "--jobs", "1", "--output", str(folder)])
    # Example appends to the path: that must end with the test.
    monkeypatch.setattr("sys.path", [*sys.path])
    runpy.run_path(str(path), run_name="__main__")


@pytest.mark.parametrize("path", WITH_TABLES, ids=lambda path: path.stem)
def test_examples_end_cleanly_where_their_table_is_absent(path, monkeypatch, tmp_path, capsys):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    monkeypatch.setattr(importlib.import_module("_common"), "SHARED_DATA", tmp_path)
    monkeypatch.setenv("SUBANNEAL_DATA", str(tmp_path))
    with pytest.raises(SystemExit) as ended:
        run_example(path, monkeypatch, tmp_path)
    assert ended.value.code is None
    assert capsys.readouterr().out.endswith("nothing to show.\n") and not list(tmp_path.iterdir())


@pytest.mark.slow
@example
def test_examples_run(path, monkeypatch, tmp_path):
    started = time.process_time()
    try:
        run_example(path, monkeypatch, tmp_path)
    except SystemExit as ended:
        assert ended.code is None
        pytest.skip("its table is not here")
    assert open_figures() or list(tmp_path.glob("*.png"))
    assert time.process_time() - started < SECONDS_OF_AN_EXAMPLE


def open_figures():
    import matplotlib.pyplot as plt

    return plt.get_fignums()


@with_pages
@example
def test_examples_are_linked_from_a_page(path):
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert f"examples/{path.name}" in pages, f"no page leads to examples/{path.name}"


@with_pages
def test_pages_have_code():
    assert {page.name for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8"))} >= {
        "README.md",
        "guide.md",
        "design.md",
    }


PUBLIC = [sklearn_subanneal.__name__] + [
    f"sklearn_subanneal.{name}"
    for name in dir(sklearn_subanneal)
    if isinstance(getattr(sklearn_subanneal, name), types.ModuleType)
]
# For estimators, which resolve names and check parameters by them, and bases, which the design page describes.
INTERNAL = {"KINDS", "NAMED", "resolve_partition", "resolve_moves", "check_moves", "check_view_moves"}
INTERNAL |= {"ClusterMove", "ColumnMove", "Partition"}


@with_pages
@pytest.mark.parametrize("name", PUBLIC)
def test_reference_is_complete(name):
    module = importlib.import_module(name)
    public = getattr(module, "__all__", None) or [
        key for key, value in vars(module).items() if isinstance(value, type) and issubclass(value, BaseEstimator)
    ]
    listed = set(re.findall(r"^   (\w+)$", (DOC / "reference.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert {key for key in public if not key.startswith("_") and key != "BaseEstimator"} - INTERNAL <= listed


@with_pages
def test_templates_of_the_reference_exist():
    """Without its template, Sphinx silently shows a class without its members."""
    named = re.findall(r"^   :template: (.+)$", (DOC / "reference.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(named) > 10
    assert all((DOC / "_templates" / name).is_file() for name in named)


@with_pages
def test_evidence_exists():
    """Tests and benchmarks that the pages name as evidence are there."""
    files = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    named = set()
    for page in DOC.rglob("theory/*.md"):
        named |= set(re.findall(r"`(?:[\w/]+\.py::)?(test_\w+)`", page.read_text(encoding="utf-8")))
        for path in re.findall(r"`((?:benchmarks/)?\w+\.py)(?:::\w+)?`", page.read_text(encoding="utf-8")):
            there = path in files or (ROOT / ("" if "/" in path else "benchmarks") / path).exists()
            assert there, f"{page.name} names {path}"
    assert len(named) > 20
    missing = {name for name in named if not any(f"def {name}(" in text for text in files.values())}
    assert not missing


@with_pages
def test_one_version():
    versions = [
        re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)[1]
        for name, pattern in [
            ("pyproject.toml", r'^version = "(.+)"$'),
            ("CITATION.cff", r"^version: (.+)$"),
            ("conda/recipe.yaml", r'^  version: "(.+)"$'),
            ("CHANGELOG.md", r"^## (\S+) \("),
        ]
    ]
    assert versions == [sklearn_subanneal.__version__] * 4
    for name in ("README.md", "doc/installation.md"):
        wheels = re.findall(r"sklearn_subanneal-([^-]+)-cp", (ROOT / name).read_text(encoding="utf-8"))
        assert set(wheels) == {sklearn_subanneal.__version__}
