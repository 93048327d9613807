"""The clock of time limits, sweeps and checkpoints, as one function that tests can replace."""

from __future__ import annotations

from time import perf_counter


def now() -> float:
    """Seconds on a clock that never goes back; only differences have a meaning.

    Callers write ``clock.now()``, so that replacing this function replaces the clock of Markov chains: their time
    limits, the seconds of their sweeps, and their checkpoints. Durations that are only reported (of the parts of a
    CrossCat sweep, variational fits, and reports) are measured without it.
    """
    return perf_counter()
