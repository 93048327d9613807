"""Helpers of all benchmarks: arguments, CPU time, peak memory, splits, description of the machine, JSON output."""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

PACKAGES = ("sklearn-subanneal", "scikit-learn", "numpy", "scipy", "pandas", "pylace", "gensim", "tomotopy")
SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def parser(description: str, seeds: int = 5) -> argparse.ArgumentParser:
    """Arguments that every benchmark takes."""
    out = argparse.ArgumentParser(description=description)
    out.add_argument("--seeds", type=int, default=seeds, help=f"number of seeds (default {seeds})")
    out.add_argument("--quick", action="store_true", help="a trial on small sizes, with meaningless results")
    return out


class Clock:
    """Wall and CPU seconds of a block, including all threads of this process."""

    def __enter__(self) -> Clock:
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *exception) -> None:
        self.wall = time.perf_counter() - self._wall
        self.cpu = time.process_time() - self._cpu


class PeakMemory:
    """Peak memory of a block in bytes, in addition to the memory of the process before it; None without Linux."""

    def __enter__(self) -> PeakMemory:
        self.bytes = None
        try:
            Path("/proc/self/clear_refs").write_text("5")
        except OSError:
            self._before = None
        else:
            self._before = _status("VmRSS")
        return self

    def __exit__(self, *exception) -> None:
        if self._before is not None:
            self.bytes = _status("VmHWM") - self._before


def _status(field: str) -> int:
    """A size from the kernel's record of this process, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no field {field}")


def spread(values) -> dict:
    """Median, mean and spread over seeds, with the values themselves."""
    values = np.asarray(values, dtype=float)
    return {
        "median": float(np.median(values)),
        "mean": float(values.mean()),
        "sd": float(values.std(ddof=1)) if len(values) > 1 else 0.0,
        "min": float(values.min()),
        "max": float(values.max()),
        "values": [float(f"{value:.6g}") for value in values],
    }


def split(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Sorted rows to train on (7/8) and to hold out (1/8)."""
    order = np.random.default_rng(1000 + seed).permutation(n_rows)
    return np.sort(order[n_rows // 8 :]), np.sort(order[: n_rows // 8])


def find_data(given: str | None, *parts: str) -> Path | None:
    """Path of a data file below ``given``, $SUBANNEAL_DATA, or ../shared/data next to the checkout; None if missing."""
    for root in (given, os.environ.get("SUBANNEAL_DATA"), SHARED_DATA):
        if root and (path := Path(root).joinpath(*parts)).exists():
            return path
    return None


def machine() -> dict:
    """Description of the machine and versions of the packages."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    cpu = platform.processor()
    if (info := Path("/proc/cpuinfo")).exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        cpu = names[0] if names else cpu
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": versions,
    }


def report(benchmark: str, arguments: argparse.Namespace, results, **more) -> None:
    """Print the one JSON document of a benchmark."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    document = {
        "benchmark": benchmark,
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
        "arguments": vars(arguments),
        "machine": machine(),
        "cpu_seconds": round(sum(of.ru_utime + of.ru_stime for of in used), 1),
        "peak_rss_mb": round(used[0].ru_maxrss / 1024, 1),
        "results": results,
        **more,
    }
    json.dump(document, sys.stdout, indent=2, default=str)
    print()


def skip(benchmark: str, arguments: argparse.Namespace, reason: str) -> None:
    """Report why there are no results, and exit without an error."""
    print(f"{benchmark}: skipped, {reason}", file=sys.stderr)
    report(benchmark, arguments, None, skipped=reason)


def pyplot():
    """matplotlib.pyplot, for files only."""
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError("The figure needs matplotlib: pip install matplotlib") from error
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def note(message: str) -> None:
    """Print a line about progress to standard error, separate from the JSON."""
    print(message, file=sys.stderr, flush=True)
