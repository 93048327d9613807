"""Build all extensions with sanitizers in a folder of their own, and run tests of kernels and hostile cases under them.

AddressSanitizer stops at a read or write outside of an array, UndefinedBehaviorSanitizer at an overflow of a signed
integer, a shift or a conversion of no meaning, and Cython's bounds checks at an index outside of a memoryview. The
checkout is copied to `output/sanitized`; what has not changed is not compiled again.

    python tests/sanitizers/sanitize.py                    the quick tests of kernels, and 250 hostile cases
    python tests/sanitizers/sanitize.py --cases 2000       more of these
    python tests/sanitizers/sanitize.py tests/columns      these tests alone
    python tests/sanitizers/sanitize.py --workers 2 tests  all quick tests, in two processes
    python tests/sanitizers/sanitize.py --patch tests/sanitizers/overrun.patch tests/mixtures/test_mixture_scores.py
"""

from __future__ import annotations

import argparse
import filecmp
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COPY = ROOT / "output" / "sanitized"
# What tests read: pages link to all of these.
PARTS = (
    "sklearn_subanneal", "tests", "doc", "benchmarks", "examples", "setup.py", "pyproject.toml", "Makefile",
    "MANIFEST.in", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CITATION.cff", "LICENSE",
)  # fmt: skip
LEFT_OUT = {".so", ".pyc"}
# The packages of compiled modules on which all others stand.
TESTS = ("tests/mixtures", "tests/columns", "tests/views")
# Frames that every report has.
INTERPRETER = (" Python/", " Objects/", " Modules/")
SETTINGS = {
    # Leaks of Python's own are none of ours.
    "ASAN_OPTIONS": f"detect_leaks=0:abort_on_error=1:allocator_may_return_null=1:log_path={COPY}/report",
    "UBSAN_OPTIONS": f"halt_on_error=1:abort_on_error=1:print_stacktrace=1:log_path={COPY}/report",
    # Python's own allocator hides where a block ends.
    "PYTHONMALLOC": "malloc",
    "PYTHONSAFEPATH": "1",
    "SUBANNEAL_SANITIZED": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


def files(root: Path) -> set[Path]:
    """The sources below a folder, relative to it."""
    found = set()
    for part in PARTS:
        paths = [root / part] if (root / part).is_file() else (root / part).rglob("*")
        found |= {path.relative_to(root) for path in paths if path.is_file() and path.suffix not in LEFT_OUT}
    return found


def update(root: Path, copy: Path) -> None:
    """Make the copy have the sources of the checkout; files that are the same keep their time stamps."""
    wanted = files(root)
    for path in files(copy) - wanted:
        (copy / path).unlink()
    for path in wanted:
        if not (copy / path).is_file() or not filecmp.cmp(root / path, copy / path, shallow=False):
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / path, copy / path)


def runtime() -> str:
    """The libraries to load before Python: AddressSanitizer, and that by which libraries written in C++ throw."""
    compiler, found = os.environ.get("CC", "gcc").split()[0], []
    for name in ("libasan.so", "libstdc++.so.6"):
        asked = [compiler, f"-print-file-name={name}"]
        path = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
        if not Path(path).is_absolute():
            raise SystemExit(f"{compiler} has no {name}; install it, or name another compiler by CC=")
        found.append(path)
    return ":".join(found)


def build(environment: dict, jobs: str) -> None:
    """Compile the copy; of what the compilers say, the end is shown if they fail."""
    command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace", "-j", jobs]
    settings = environment | {"SUBANNEAL_SANITIZE": "1", "SUBANNEAL_DEBUG": "1"}
    print(f"compiling what is new in {COPY.relative_to(ROOT)}", flush=True)
    done = subprocess.run(command, cwd=COPY, env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise SystemExit(f"the package does not compile with sanitizers:\n{done.stdout[-3000:]}")


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tests", nargs="*", help=f"test files or folders (default: {' '.join(TESTS)})")
    parser.add_argument("--cases", type=int, help="hostile cases (default: 250, or 0 if tests are named)")
    parser.add_argument("--first", type=int, default=0, help="number of the first (default: %(default)s)")
    parser.add_argument("--patch", type=Path, help="a bug to plant, to see that it is found")
    parser.add_argument("--jobs", default=str(os.cpu_count()), help="compilers at a time (default: %(default)s)")
    parser.add_argument("--workers", default="1", help="processes that share the tests (default: %(default)s)")
    chosen = parser.parse_args(arguments)
    update(ROOT, COPY)
    if chosen.patch:
        subprocess.run(["patch", "-p1", "-s", "-i", str(chosen.patch.resolve())], cwd=COPY, check=True)
    environment = {**os.environ, "PYTHONPATH": str(COPY)}
    build(environment, chosen.jobs)
    environment |= SETTINGS | {"LD_PRELOAD": runtime()}
    # An index out of bounds where there is no one to raise it to.
    unraisable = ("-W", "error::pytest.PytestUnraisableExceptionWarning")
    # A report ends a process of the tests, which is begun anew.
    workers = ("-n", chosen.workers, "--dist", "worksteal", "--maxfail", "20")
    options = ("-q", *workers, "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:faulthandler", *unraisable)
    for report in COPY.glob("report.*"):
        report.unlink()
    tests = [sys.executable, "-m", "pytest", *options, *(chosen.tests or TESTS)]
    failed = subprocess.run(tests, cwd=COPY, env=environment).returncode
    n_cases = (0 if chosen.tests else 250) if chosen.cases is None else chosen.cases
    if n_cases and not failed:
        fuzz = [sys.executable, "tests/fuzz/fuzz_campaign.py", "--cases", str(n_cases), "--first", str(chosen.first)]
        failed = subprocess.run(fuzz, cwd=COPY, env=environment).returncode
    # Into files, since pytest keeps what is printed until a test ends.
    for report in sorted(COPY.glob("report.*")):
        lines = report.read_text(errors="replace").splitlines()
        own = [line for line in lines if not any(part in line for part in INTERPRETER)]
        print(f"\n{report.relative_to(ROOT)}", *own[:60], sep="\n")
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main())
