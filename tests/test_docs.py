"""The examples in docstrings, in the README and in doc/ run and show what they say."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import matplotlib
import pytest

import sklearn_subanneal

ROOT = Path(__file__).resolve().parents[1]
DOC = ROOT / "doc"
# The gallery is made by `make doc`, of scripts.
PAGES = [ROOT / "README.md", *sorted(page for page in DOC.rglob("*.md") if "auto_examples" not in page.parts)]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)\)")
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
    assert {"sklearn_subanneal.schedules", "sklearn_subanneal.estimators.dpmm", "sklearn_subanneal._frames"} <= set(
        with_examples
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_run(page):
    """The Python blocks of a page run one after the other, as a reader would paste them."""
    text = page.read_text(encoding="utf-8")
    # Blank lines in place of the prose, so that an error names the line of the page.
    code, at = "", 0
    for block in BLOCK.finditer(text):
        code += "\n" * text.count("\n", at, block.start(1)) + block.group(1)
        at = block.end(1)
    exec(compile(code, str(page), "exec"), {"__name__": page.stem})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"


def test_pages_have_code():
    assert {page.name for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8"))} >= {
        "README.md",
        "guide.md",
        "design.md",
    }
