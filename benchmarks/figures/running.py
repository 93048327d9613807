"""Runs benchmarks in separate processes and reads their JSON."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path

from _common import note

from figures.figure import Run

BENCHMARKS = Path(__file__).resolve().parents[1]
# Benchmarks are measured on one thread each.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run_missing(runs: list[Run], folder: Path, quick: bool, n_jobs: int, fresh: bool = False) -> dict[str, str]:
    """Run the benchmarks without JSON of the same command and sources in the folder, several in parallel.

    Returns
    -------
    failed : dict of str to str
        Why, by the names of the runs that ended with an error.
    """
    folder.mkdir(parents=True, exist_ok=True)
    missing = [run for run in runs if fresh or not is_there(run, folder, quick)]
    with ThreadPoolExecutor(n_jobs) as pool:
        ended = list(pool.map(lambda run: execute(run, folder, quick), missing))
    return {run.name: problem for run, problem in zip(missing, ended, strict=True) if problem}


def is_there(run: Run, folder: Path, quick: bool) -> bool:
    """Whether the JSON has results of the same command, and of the package and the benchmarks as they are."""
    document = read(run, folder)
    made_by = document and (document.get("command"), document.get("sources"))
    return made_by == (run.command(quick), sources()) and bool(document["results"])


def read(run: Run, folder: Path) -> dict | None:
    """The document of a run; None if there is none, or none that can be read."""
    path = folder / f"{run.name}.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None


@cache
def sources() -> str:
    """A hash of the modules of the package and of the benchmarks, by which results of other versions are known."""
    package = Path(find_spec("sklearn_subanneal").origin).parent
    compiled = package.rglob(f"*{EXTENSION_SUFFIXES[0]}")
    paths = [*package.rglob("*.py"), *compiled, *BENCHMARKS.glob("*.py"), *BENCHMARKS.glob("reproduction/*.py")]
    found = hashlib.sha256()
    for path in sorted(paths):
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()


def skipped(run: Run, folder: Path) -> list[str]:
    """The parts that a benchmark skipped according to its log, each once."""
    log = folder / f"{run.name}.log"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return list(dict.fromkeys(line for line in lines if ": skipped, " in line))


def execute(run: Run, folder: Path, quick: bool) -> str | None:
    """Run a benchmark: JSON if it succeeds, progress in a log next to it. Returns the reason of a failure."""
    script, *arguments = run.command(quick)
    part, log = folder / f"{run.name}.json.part", folder / f"{run.name}.log"
    note(f"{run.name}: {script} {' '.join(arguments)}")
    started = time.perf_counter()
    with part.open("w", encoding="utf-8") as out, log.open("w", encoding="utf-8") as progress:
        code = subprocess.run(
            [sys.executable, str(BENCHMARKS / script), *arguments],
            stdout=out,
            stderr=progress,
            env=os.environ | dict.fromkeys(THREADS, "1"),
            check=False,
        ).returncode
    if code:
        part.unlink()
        note(f"{run.name}: failed after {time.perf_counter() - started:.0f} s, see {log}")
        return f"{script} ended with an error; its last words are in {log.name}"
    document = json.loads(part.read_text(encoding="utf-8")) | {"sources": sources()}
    part.write_text(json.dumps(document, indent=2), encoding="utf-8")
    part.replace(folder / f"{run.name}.json")
    note(f"{run.name}: {time.perf_counter() - started:.0f} s")
    return None
