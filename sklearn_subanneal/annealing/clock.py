"""The clock of time limits, traces and checkpoints, as one function that tests can replace."""

from __future__ import annotations

from time import perf_counter


def now() -> float:
    """Seconds on a clock that never goes back; only differences have a meaning.

    Callers write ``clock.now()``, so that replacing this function replaces the clock of the whole package.
    """
    return perf_counter()
