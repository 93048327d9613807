"""Imports: packages are reached from the top, optional libraries are imported late, dependencies are declared."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from support.layout import sources

import sklearn_subanneal

PACKAGE = Path(sklearn_subanneal.__file__).parent
PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
PUBLIC = (
    "annealing columns datasets diagnostics mixtures partitions plotting posterior report tempering topics trees "
    "variational views"
).split()
# Private modules and names of scikit-learn that the package may import, with the reason.
PRIVATE_OF_SKLEARN = {
    # The checks of parameters that estimators declare in `_parameter_constraints`, as scikit-learn's own do. The
    # template for projects of scikit-learn-contrib imports `_fit_context`; neither has a public counterpart.
    "sklearn.utils._param_validation",
    "sklearn.base._fit_context",
}


def third_party(path: Path) -> set[str]:
    """Absolute imports of a Python file, wherever they are, as dotted names with the names imported from modules."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    top = {name for name in found if name.partition(".")[0] not in sys.stdlib_module_names}
    return {name for name in top if not name.startswith("sklearn_subanneal")}


def private(names: set[str]) -> set[str]:
    """Names with a part that begins with one underscore."""
    return {name for name in names if any(re.match(r"_(?!_)", part) for part in name.split("."))}


def declared() -> set[str]:
    """Names of the distributions that pyproject.toml requires, for the extras of users included."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [
        *project["dependencies"],
        *(line for name in extras if name not in ("test", "doc", "lint") for line in extras[name]),
    ]
    return {re.match(r"[\w.-]+", line)[0].lower() for line in lines}


@cache
def imported() -> dict[Path, set[str]]:
    """Third-party imports of each Python file of the package."""
    return {path.relative_to(PACKAGE): third_party(path) for path in sources(PACKAGE) if path.suffix == ".py"}


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("name", PUBLIC)
def test_packages_are_reached_from_the_top(name):
    package = getattr(sklearn_subanneal, name)
    assert package.__name__ == f"sklearn_subanneal.{name}" and package.__doc__
    assert name in dir(sklearn_subanneal)


def test_the_top_has_public_names_only():
    assert {name for name in dir(sklearn_subanneal) if name.startswith("_")} == {"__version__"}
    with pytest.raises(AttributeError, match="no attribute 'plots'"):
        _ = sklearn_subanneal.plots


def test_import_is_light():
    """Libraries that only some functions need are not imported with the package."""
    # Those that scikit-learn imports itself do not count.
    code = "import sys, sklearn.callback; before = set(sys.modules); import sklearn_subanneal as s; "
    names = ", ".join(f"s.{name}.__name__" for name in PUBLIC)
    lines = run(f"{code}print(*(set(sys.modules) - before)); print({names})").splitlines()
    # Packages that are not yet imported are, when they are reached.
    assert lines[1].split() == [f"sklearn_subanneal.{name}" for name in PUBLIC]
    modules = set(lines[0].split())
    assert "sklearn_subanneal.estimators" in modules
    assert not modules & {"matplotlib", "pandas", "polars", "arviz", "rich", "dask"}
    assert not modules & {"sklearn_subanneal.plotting", "sklearn_subanneal.report"}


@pytest.mark.skipif(not PROJECT.is_file(), reason="needs pyproject.toml beside tests/")
def test_imported_libraries_are_declared():
    distributions = packages_distributions()
    used = {name.partition(".")[0] for names in imported().values() for name in names}
    assert {"numpy", "sklearn", "narwhals"} <= used
    missing = {name for name in used if not declared() & {one.lower() for one in distributions.get(name, [name])}}
    assert not missing, f"imported and not declared in pyproject.toml: {missing}"


def test_no_private_modules_of_other_libraries():
    wrong = {
        f"{path}: {name}"
        for path, names in imported().items()
        for name in private(names)
        if not any(name == allowed or name.startswith(f"{allowed}.") for allowed in PRIVATE_OF_SKLEARN)
    }
    assert not wrong


def test_private_names_are_recognised(tmp_path):
    """The tests above must not pass because they see nothing."""
    path = tmp_path / "module.py"
    path.write_text(
        "import sklearn._x\nfrom sklearn.utils._y import z\n\ndef f():\n    from sklearn.base import _w, clone\n"
    )
    assert private(third_party(path)) == {"sklearn._x", "sklearn.utils._y.z", "sklearn.base._w"}


def exists(module: str, name: str) -> bool:
    """Whether a module of the package has a name, or a module of this name below it."""
    if hasattr(importlib.import_module(module), name):
        return True
    try:
        importlib.import_module(f"{module}.{name}")
    except ModuleNotFoundError:
        return False
    return True


def test_benchmarks_and_examples_import_what_there_is():
    """They are not run with the tests: a name that was moved would be missed only by the next reader."""
    files = [path for folder in ("benchmarks", "examples") for path in (PROJECT.parent / folder).rglob("*.py")]
    assert len(files) > 50
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == PACKAGE.name:
                missing = [alias.name for alias in node.names if not exists(node.module, alias.name)]
                assert not missing, f"{path.relative_to(PROJECT.parent)}: {node.module} has no {missing}"
