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


def planted():
    """What the program that plants bugs defines."""
    return runpy.run_path(str(TESTS / "bugs" / "run.py"), run_name="bugs")


@pytest.mark.skipif(not (TESTS.parent / "sklearn_subanneal").is_dir(), reason="needs the sources beside the tests")
def test_planted_bugs_name_their_tests():
    """Each patch says which bug it plants in which file of the package, and which tests have to fail."""
    read = planted()["Bug"].read
    bugs = [read(path) for path in sorted((TESTS / "bugs").glob("*.patch"))]
    assert len(bugs) >= 44
    for bug in bugs:
        assert bug.files and all((TESTS.parent / name).is_file() for name in bug.files), bug.name
        assert all(name.startswith("sklearn_subanneal/") for name in bug.files), bug.name
        assert bug.tests and all((TESTS.parent / test.partition("::")[0]).is_file() for test in bug.tests), bug.name


QUICK, ANY = "not slow", "slow or not slow"


@pytest.mark.parametrize(
    ("tests", "expected"),
    [
        (["a.py"], [(QUICK, ["a.py"])]),
        (["a.py::one", "b.py::two[3]"], [(ANY, ["a.py::one", "b.py::two[3]"])]),
        (["a.py::one", "b.py", "a.py"], [(QUICK, ["b.py", "a.py"]), (ANY, ["a.py::one"])]),
    ],
    ids=["files", "ids", "both"],
)
def test_slow_tests_look_for_bugs_if_their_ids_are_named(tests, expected):
    """Those of a file do not; they come after the quick tests."""
    assert planted()["steps"](tests) == expected


@pytest.mark.parametrize(("codes", "n_runs", "expected"), [([0, 1], 2, 1), ([1, 0], 1, 1), ([0, 0], 2, 0)])
def test_the_first_step_that_fails_is_the_last(codes, n_runs, expected, monkeypatch):
    copy, runs = planted()["Copy"], []

    def run(self, *command):
        runs.append(command)
        return codes[len(runs) - 1], f"run {len(runs)}"

    monkeypatch.setattr(copy, "run", run)
    assert copy.test(copy.__new__(copy), "a.py::one", "b.py") == (expected, f"run {n_runs}")
    assert [command[-1] for command in runs] == ["b.py", "a.py::one"][:n_runs]
