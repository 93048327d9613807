"""Rules of the test suite: test modules have unique names and are not imported; planted bugs name their tests."""

import ast
import runpy
from collections import Counter
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
FILES = sorted(TESTS.rglob("*.py"))


def imported(path):
    """Names of all modules that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_no_test_module_is_imported():
    """Helpers that two test files share belong in tests/support or tests/oracles."""
    modules = {path.stem for path in FILES if path.name.startswith("test_")}
    found = {
        f"{path.relative_to(TESTS)} imports {name}"
        for path in FILES
        for name in imported(path)
        if modules & set(name.split("."))
    }
    assert not found


def test_names_of_test_modules_are_unique():
    """Each folder of tests is on the path: of two modules with one name only the first would be found."""
    assert [name for name, n in Counter(path.name for path in FILES).items() if n > 1] == []


@pytest.mark.skipif(not (TESTS.parent / "sklearn_subanneal").is_dir(), reason="needs the sources beside the tests")
def test_planted_bugs_name_their_tests():
    """Each patch says which bug it plants in which file of the package, and which tests have to fail."""
    read = runpy.run_path(str(TESTS / "bugs" / "run.py"), run_name="bugs")["Bug"].read
    bugs = [read(path) for path in sorted((TESTS / "bugs").glob("*.patch"))]
    assert len(bugs) >= 44
    for bug in bugs:
        assert bug.files and all((TESTS.parent / name).is_file() for name in bug.files), bug.name
        assert all(name.startswith("sklearn_subanneal/") for name in bug.files), bug.name
        assert bug.tests and all((TESTS.parent / test.partition("::")[0]).is_file() for test in bug.tests), bug.name
