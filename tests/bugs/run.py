"""Plant the bugs of this folder one by one in a copy of the checkout, and see that the tests fail on each.

Each `*.patch` file is a unified diff of the package below two comment lines: `# bug:` says what is wrong, `# tests:`
names the tests that have to notice. Of a test file the quick tests run; tests that are named by their ids run after
them, if nothing has failed so far, whether they are slow or not. A bug is caught if a test fails by an assertion: a
crash, an import error or an error of the build does not count, nor does a test that fails without the bug, too.

    python tests/bugs/run.py                     all bugs
    python tests/bugs/run.py pitman-yor swap     those whose file names contain one of these words
    python tests/bugs/run.py --jobs 2            two at a time, each in a copy of its own
"""

from __future__ import annotations

import argparse
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "sklearn_subanneal"
# The build folder is copied with the sources: only what a patch touches has to be compiled.
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "output", "dist", "*.egg-info", "__pycache__", ".pytest_cache", ".ruff_cache"
)
COMPILED = (".pyx", ".pxd", ".h")
ASSERTION = re.compile(r"(AssertionError|assert |Failed: DID NOT )")
FAILURE = re.compile(r"^(FAILED|ERROR) (.+?)(?: - (.*))?$", re.MULTILINE)


@dataclass(frozen=True)
class Bug:
    """A patch, and what its header says.

    Attributes
    ----------
    path : Path
    about : str
    tests : tuple of str
        Test files and test ids.
    """

    path: Path
    about: str
    tests: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> Bug:
        """Read a patch; raises ValueError if its header is not complete."""
        header = dict(re.findall(r"^# (bug|tests): (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE))
        if set(header) != {"bug", "tests"}:
            raise ValueError(f"{path.name} must begin with the lines `# bug: ...` and `# tests: ...`")
        return cls(path, header["bug"], tuple(header["tests"].split()))

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def files(self) -> list[str]:
        """Files of the package that the patch changes."""
        return re.findall(r"^\+\+\+ b/(\S+)", self.path.read_text(encoding="utf-8"), re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """What became of a bug: the verdict, the test that failed, the seconds it took."""

    bug: Bug
    verdict: str
    test: str = ""
    seconds: float = 0.0

    @property
    def caught(self) -> bool:
        return self.verdict == "caught"


class Copy:
    """A copy of the checkout, built in place; the bugs are planted here and removed again.

    Parameters
    ----------
    folder : Path
        Where the copy is made.
    limit : float
        Seconds after which a build or a run of tests is stopped.
    """

    def __init__(self, folder: Path, limit: float) -> None:
        self.root, self.kept, self.limit = folder / "checkout", folder / "kept", limit
        shutil.copytree(ROOT, self.root, ignore=LEFT_OUT, symlinks=True)
        self.environment = {**os.environ, "PYTHONPATH": str(self.root), "PYTHONSAFEPATH": "1", "CI": "1"}
        failed = self.build()
        if failed:
            raise SystemExit(f"the package does not compile without bugs:\n{failed}")
        # To bring everything back with its time stamps, so that nothing is compiled twice.
        for part in (PACKAGE, "build"):
            shutil.copytree(self.root / part, self.kept / part, symlinks=True)

    def run(self, *command: str) -> tuple[int, str]:
        """Run Python with these arguments; its exit code and all that it printed."""
        try:
            done = subprocess.run(
                [sys.executable, *command],
                cwd=self.root,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=self.limit,
            )
        except subprocess.TimeoutExpired:
            return -1, f"stopped after {self.limit:g} seconds"
        return done.returncode, done.stdout

    def build(self) -> str:
        """Compile what has changed; what the compiler said if it failed, else an empty string."""
        code, printed = self.run("setup.py", "--quiet", "build_ext", "--inplace")
        return printed[-3000:] if code else ""

    def plant(self, bug: Bug) -> bool:
        """Apply a patch; whether it could be applied."""
        done = subprocess.run(["git", "apply", str(bug.path)], cwd=self.root, capture_output=True, text=True)
        return done.returncode == 0

    def restore(self) -> None:
        """Bring back the files as they were before the bug."""
        for part in (PACKAGE, "build"):
            for path in (self.root / part).rglob("*"):
                kept = self.kept / path.relative_to(self.root)
                if path.is_dir() or path.suffix == ".pyc":
                    continue
                if not kept.exists():
                    path.unlink()
                elif kept.stat().st_mtime_ns != path.stat().st_mtime_ns:
                    # A new file, as a running process may have the old one loaded.
                    path.unlink()
                    shutil.copy2(kept, path)

    def test(self, *tests: str) -> tuple[int, str]:
        """Run tests up to the first that fails; pytest's exit code and output."""
        code, printed = 0, ""
        for tier, names in steps(tests):
            options = ("-x", "-q", "-m", tier, "--tb=line", "-rfE", "-p", "no:cacheprovider")
            code, printed = self.run("-B", "-m", "pytest", *options, *names)
            if code:
                break
        return code, printed


def steps(tests: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Runs of pytest, one after the other: their marker expressions, and the tests that they have.

    The quick tests of the files come first: a slow test that is named by its id runs only if they miss the bug.
    """
    files, ids = ([name for name in tests if ("::" in name) == is_id] for is_id in (False, True))
    return [(tier, names) for tier, names in (("not slow", files), ("slow or not slow", ids)) if names]


def judge(bug: Bug, copy: Copy) -> Outcome:
    """Plant one bug, run its tests, and remove it."""
    try:
        if not copy.plant(bug):
            return Outcome(bug, "does not apply")
        if any(name.endswith(COMPILED) for name in bug.files) and copy.build():
            return Outcome(bug, "does not compile")
        code, printed = copy.test(*bug.tests)
    finally:
        copy.restore()
    if code == 0:
        return Outcome(bug, "not caught")
    found = FAILURE.search(printed)
    if code != 1 or not found:
        return Outcome(bug, f"crash (exit code {code})", printed.strip().splitlines()[-1] if printed.strip() else "")
    kind, test, message = found.groups()
    if kind == "ERROR" or not ASSERTION.match(message or ""):
        return Outcome(bug, "no assertion", f"{test} - {message}")
    if copy.test(test)[0] != 0:
        return Outcome(bug, "fails without the bug", test)
    return Outcome(bug, "caught", test)


def run_all(bugs: list[Bug], n_jobs: int, limit: float) -> list[Outcome]:
    """Judge all bugs, `n_jobs` at a time, and say how each ended."""
    with tempfile.TemporaryDirectory(prefix="bugs-") as scratch:
        copies: queue.SimpleQueue[Copy] = queue.SimpleQueue()
        for number in range(n_jobs):
            copies.put(Copy(Path(scratch, str(number)), limit))

        def one(bug: Bug) -> Outcome:
            copy, started = copies.get(), time.perf_counter()
            try:
                outcome = replace(judge(bug, copy), seconds=time.perf_counter() - started)
            finally:
                copies.put(copy)
            print(f"{outcome.verdict:<14} {outcome.seconds:5.0f} s  {bug.name}: {bug.about}", flush=True)
            if outcome.test:
                print(f"{'':<24}{outcome.test}", flush=True)
            return outcome

        with ThreadPoolExecutor(n_jobs) as pool:
            return list(pool.map(one, bugs))


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="words; only bugs whose file names contain one of them")
    parser.add_argument("--jobs", type=int, default=1, help="bugs at a time (default: %(default)s)")
    parser.add_argument(
        "--limit", type=float, default=1800.0, help="seconds for one run of tests (default: %(default)s)"
    )
    chosen = parser.parse_args(arguments)
    bugs = [Bug.read(path) for path in sorted(Path(__file__).parent.glob("*.patch"))]
    bugs = [bug for bug in bugs if not chosen.names or any(word in bug.name for word in chosen.names)]
    if not bugs:
        parser.error(f"no patch has a name with {' or '.join(chosen.names) or 'anything'}")
    outcomes = run_all(bugs, max(1, min(chosen.jobs, len(bugs))), chosen.limit)
    missed = [outcome for outcome in outcomes if not outcome.caught]
    print(f"\n{len(outcomes) - len(missed)} of {len(outcomes)} bugs are caught by assertions of the tests")
    for outcome in missed:
        print(f"  {outcome.verdict}: {outcome.bug.name} ({', '.join(outcome.bug.files)})")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
