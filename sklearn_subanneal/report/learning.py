"""Learning a table with somebody waiting: progress is told, and Ctrl-C ends the chains with a model all the same."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil

import joblib

from sklearn_subanneal.annealing.schedules import Accelerating, SubsampleAnneal
from sklearn_subanneal.estimators.crosscat import CrossCat
from sklearn_subanneal.report.source import Source

# Tables up to here are annealed linearly and long: that takes seconds, and finds better views.
SMALL_TABLE, PASSES = 1000, 200
# Of a chain's progress, the schedule.
SCHEDULE_SHARE = 0.8


@dataclass(frozen=True)
class Plan:
    """How a table is to be learned.

    Attributes
    ----------
    n_chains, n_draws : int
    seed : int
    time_limit : float or None
        Seconds for all chains together.
    n_jobs : int or None
        Chains run at once; None: as many as there are processors.
    """

    n_chains: int = 4
    n_draws: int = 10
    seed: int = 0
    time_limit: float | None = None
    n_jobs: int | None = None

    def estimator(self, source: Source) -> CrossCat:
        """The estimator that is to learn the table.

        Raises
        ------
        ValueError
            If the time limit is not positive, or there are no chains.
        """
        if self.n_chains < 1:
            raise ValueError(f"--chains must be at least 1, got {self.n_chains}.")
        if self.time_limit is not None and not self.time_limit > 0.0:
            raise ValueError(f"--time-limit must be a positive number of seconds, got {self.time_limit}.")
        n_jobs = min(self.n_jobs or joblib.cpu_count(), self.n_chains)
        a_chain = None if self.time_limit is None else self.time_limit / ceil(self.n_chains / n_jobs)
        return CrossCat(
            schedule=SubsampleAnneal(PASSES) if len(source.frame) <= SMALL_TABLE else Accelerating(),
            feature_types=source.feature_types,
            n_chains=self.n_chains,
            n_draws=self.n_draws,
            time_limit=a_chain,
            n_jobs=n_jobs,
            random_state=self.seed,
        )


@dataclass(frozen=True)
class Learned:
    """A model, and how it came about.

    Attributes
    ----------
    model : CrossCat
    seconds : float
    was_stopped : bool
        Whether the chains were ended before their time.
    """

    model: CrossCat
    seconds: float
    was_stopped: bool = False


def learn(source: Source, plan: Plan, tell: Callable[[float, str], None] = lambda progress, text: None) -> Learned:
    """Learn a table.

    Parameters
    ----------
    source : Source
    plan : Plan
    tell : callable
        Called after sweeps with the progress of all chains, in [0, 1], and a line about it.

    Returns
    -------
    Learned

    Raises
    ------
    ValueError
        If the plan or the table is not one that can be learned.
    KeyboardInterrupt
        On a second Ctrl-C.
    """
    model, watch, started = plan.estimator(source), Watch(plan, tell), time.perf_counter()
    with watch.listening():
        model.set_callbacks(watch).fit(source.X)
    # Without the callback, which is of no use to those who load the model.
    return Learned(model.set_callbacks(), time.perf_counter() - started, watch.is_stopped)


class Watch:
    """Callback that tells of progress, and ends all chains with their next draw once it is asked to.

    Parameters
    ----------
    plan : Plan
    tell : callable
        As of :func:`learn`.
    """

    def __init__(self, plan: Plan, tell: Callable[[float, str], None]):
        self.plan = plan
        self.tell = tell
        self.is_stopped = False
        self._lock = threading.Lock()
        self._progress = [0.0] * plan.n_chains

    def setup(self, estimator, context) -> None:
        """Do nothing: there is nothing to tell yet."""

    def on_fit_task_begin(self, estimator, context) -> None:
        """Do nothing: sweeps are told at their end."""

    def on_fit_task_end(self, estimator, context, *, metadata=None) -> bool:
        """Tell of a sweep."""
        if not metadata or "trace" not in metadata:
            return False
        record = metadata["trace"]
        with self._lock:
            chain, is_annealed = record["chain"], record["progress"] >= 1.0
            before = self._progress[chain]
            step = (1.0 - SCHEDULE_SHARE) / self.plan.n_draws
            reached = before + step if is_annealed else SCHEDULE_SHARE * record["progress"]
            self._progress[chain] = min(max(before, SCHEDULE_SHARE if is_annealed else 0.0, reached), 1.0)
            self.tell(
                sum(self._progress) / len(self._progress),
                f"chain {chain + 1} of {self.plan.n_chains}: {record['n_assigned']} rows in {record['n_views']} views",
            )
        return self.is_stopped

    def teardown(self, estimator, context) -> None:
        """Do nothing: nothing is held."""

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Take the first Ctrl-C for a wish to stop; the second one interrupts. Signals reach the main thread only."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def stop(number, frame):
            if self.is_stopped:
                raise KeyboardInterrupt
            self.is_stopped = True

        before = signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
