"""Growth of memory by small fits and predictions, estimator after estimator in one process.

    python tests/process/leaks.py                           200 fits of each estimator
    python tests/process/leaks.py --fits 1000 --name views

After a warm-up, each fit is followed by all queries of the estimator. Told are the growth of the resident memory, after
the allocator has given back what is free, and that of what Python's allocator holds, in kilobytes. Memory that grows by
the number of fits is a leak; the bar is one megabyte.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import sys
import tracemalloc
import warnings
from pathlib import Path

import numpy as np

BAR = 1 << 20
WARM_UP = 40


def resident() -> int:
    """Bytes of the process in memory, without what the allocator could give back."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except AttributeError:
        # Not glibc: the allocator keeps what it likes.
        pass
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def fit_and_ask(name: str, n: int) -> None:
    """So many fits, each of another table of the same size, and all queries."""
    from support.scale_models import TOPICS, answers, fitted

    for seed in range(n):
        rng = np.random.default_rng(seed)
        if name in TOPICS:
            X = rng.poisson(2.0, (30, 6)).astype(float)
            model = fitted(name, X)
            for method in ("transform", "score"):
                getattr(model, method)(X)
            continue
        X = rng.normal(size=(30, 3)) + 4.0 * (np.arange(30) % 2)[:, None]
        for _ in answers(fitted(name, X), X):
            pass


def growth(name: str, n_fits: int, warm_up: int = WARM_UP) -> tuple[int, int]:
    """Growth of resident memory, and of what Python's allocator holds, in bytes.

    Parameters
    ----------
    name : str
        A key of ``support.scale_models.ALL``.
    n_fits : int
        Fits after the warm-up; those traced for Python's allocator are a quarter as many.
    warm_up : int
        Fits after which caches and pools have their size.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit_and_ask(name, warm_up)
        before = resident()
        fit_and_ask(name, n_fits)
        grown = resident() - before
        tracemalloc.start()
        fit_and_ask(name, 5)
        gc.collect()
        held = tracemalloc.get_traced_memory()[0]
        fit_and_ask(name, n_fits // 4)
        gc.collect()
        held = tracemalloc.get_traced_memory()[0] - held
        tracemalloc.stop()
    return grown, held


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns 1 if memory grows beyond the bar."""
    from support.scale_models import ALL

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fits", type=int, default=200, help="of each estimator (default: %(default)s)")
    parser.add_argument("--name", action="append", choices=ALL, help="only these (default: all)")
    chosen = parser.parse_args(arguments)
    worst = 0
    for name in chosen.name or ALL:
        grown, held = growth(name, chosen.fits)
        worst = max(worst, grown, held)
        print(f"{name:12s} resident {grown / 1024:+8.0f} kB   Python {held / 1024:+8.1f} kB", flush=True)
    return int(worst >= BAR)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    raise SystemExit(main())
