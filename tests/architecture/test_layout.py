"""The layout of the package: imports lead downward, files are short, and names occur once.

The rules are in `support/layout.py`; each is shown to see a planted violation.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.layout import CHECKS, LEVELS, depth, imports, sources, violations

import sklearn_subanneal

PACKAGE = Path(sklearn_subanneal.__file__).parent
# A package as the rules want it: one module in each package of the list, each importing from the next level.
CLEAN = {
    "__init__.py": "from sklearn_subanneal.estimators import mixture\n",
    "__main__.py": "from sklearn_subanneal.report.page import main\n",
    "mixtures/kernel.pyx": "from sklearn_subanneal._core.random cimport (\n    draw,\n)\ncdef class Kernel:\n",
    "mixtures/kernel.pxd": "cdef class Kernel:\n    pass\n",
    "_core/random.pxd": "cdef extern from *:\n    pass\n",
    "estimators/mixture.py": "def fit():\n    from sklearn_subanneal.mixtures.kernel import Kernel\n",
    "estimators/_presentation.py": "def plot():\n    from sklearn_subanneal import plotting\n",
    "report/page.py": "from sklearn_subanneal.estimators.mixture import fit\n\n\ndef main():\n    fit()\n",
}
# Files that break one rule each, and words of the message.
PLANTED = {
    "upward import": ({"mixtures/sampler.py": "from sklearn_subanneal.posterior import relabel\n"}, "is not below"),
    "upward import in a function": (
        {"annealing/schedule.py": "class Schedule:\n    def plot(self):\n        import sklearn_subanneal.plotting\n"},
        "annealing/schedule.py imports sklearn_subanneal.plotting",
    ),
    "upward import for types": (
        {"trees/tree.py": "if TYPE_CHECKING:\n    from sklearn_subanneal import views\n"},
        "trees/tree.py imports sklearn_subanneal.views",
    ),
    "relative import": ({"columns/real.py": "from ..views import split\n"}, "imports sklearn_subanneal.views.split"),
    "upward cimport": (
        {"columns/real.pyx": "cdef f():\n    pass\nfrom sklearn_subanneal.mixtures.kernel cimport Kernel\n"},
        "columns/real.pyx imports sklearn_subanneal.mixtures.kernel.Kernel",
    ),
    "upward cimport of a module": (
        {"columns/real.pxd": "cimport sklearn_subanneal.mixtures.kernel\n"},
        "columns/real.pxd imports sklearn_subanneal.mixtures.kernel",
    ),
    "cimport of several lines": (
        {"columns/real.pxd": "from sklearn_subanneal.mixtures.kernel cimport (\n    Kernel,\n)\n"},
        "columns/real.pxd imports sklearn_subanneal.mixtures.kernel",
    ),
    "import between packages of one level": (
        {"topics/corpus.py": "from sklearn_subanneal.factorial.fit import run\n"},
        "topics/corpus.py imports sklearn_subanneal.factorial.fit.run",
    ),
    "import of the package itself": (
        {"report/facts.py": "from sklearn_subanneal import CrossCat\n"},
        "report/facts.py imports sklearn_subanneal.CrossCat",
    ),
    "estimator that plots": (
        {"estimators/plots.py": "from sklearn_subanneal.plotting import TraceDisplay\n"},
        "estimators/plots.py imports sklearn_subanneal.plotting.TraceDisplay",
    ),
    "cycle": (
        {
            "views/a.py": "from sklearn_subanneal.trees.b import g\n",
            "trees/b.py": "def g():\n    from sklearn_subanneal.views import a\n",
        },
        "trees -> views -> trees",
    ),
    "module at the top level": ({"_helpers.py": ""}, "_helpers.py is at the top level"),
    "unknown package": ({"utilities/misc.py": ""}, "the package utilities is not in the list"),
    "long file": ({"tables/long.h": "\n" * 351}, "tables/long.h has 351 lines"),
    "file name twice": ({"views/mixture.pxd": ""}, "the file name mixture occurs in estimators, views"),
    "class twice": ({"views/state.py": "class Kernel:\n    pass\n"}, "the public name Kernel is defined in"),
    "function twice": (
        {"views/state.pyx": "def draw(x):\n    pass\n", "trees/state_of_trees.pyx": "cpdef double draw(double x):\n"},
        "the public name draw is defined in",
    ),
}


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture
def clean(tmp_path):
    """A package without violations; packages that it does not use are there, with an empty module."""
    root = write(tmp_path / "sklearn_subanneal", CLEAN)
    for package in (package for packages in LEVELS for package in packages if package):
        if not list(root.glob(f"{package}/*")):
            write(root, {f"{package}/__init__.py": ""})
    return root


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_package(check):
    found = check(PACKAGE)
    assert not found, "\n".join(["", *found])


def test_package_is_read():
    """The test above must not pass because it looks at nothing."""
    suffixes = {path.suffix for path in sources(PACKAGE)}
    assert {".py", ".pyx", ".pxd"} <= suffixes and len(sources(PACKAGE)) > 100
    arrows = {(one.package, one.target) for one in imports(PACKAGE)}
    assert {
        ("report", "estimators"),
        ("estimators", "posterior"),
        ("mixtures", "columns"),
        ("columns", "_core"),
    } <= arrows


def test_package_is_shallow():
    packages = {path.parent for path in sources(PACKAGE)} - {PACKAGE}
    assert len(packages) <= 22
    assert depth(PACKAGE) <= 8


def test_a_clean_package_has_no_violations(clean):
    assert violations(clean) == []
    assert depth(clean) == 4


@pytest.mark.parametrize("name", PLANTED)
def test_planted_violations_are_seen(clean, name):
    files, message = PLANTED[name]
    found = violations(write(clean, files))
    assert any(message in line for line in found), found


def test_a_missing_package_is_seen(clean):
    (clean / "factorial" / "__init__.py").unlink()
    assert violations(clean) == ["the list of levels has the package factorial, which does not exist"]
