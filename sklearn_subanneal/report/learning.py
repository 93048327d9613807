"""Plan and learn: the fit of CrossCat for a report, with progress messages and an early end of the chains by Ctrl-C."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil, inf

import joblib
from sklearn.exceptions import ConvergenceWarning

from sklearn_subanneal._core.arguments import LARGEST
from sklearn_subanneal.diagnostics import DependenceWarning
from sklearn_subanneal.estimators import CrossCat
from sklearn_subanneal.report.source import Source

# Share of the schedule in the progress of a chain; the rest are its draws.
SCHEDULE_SHARE = 0.8
# Of a time limit, the least share for the chains; that of the rest, to summarise the draws and to write, above which
# there are fewer draws. The rest takes so many seconds; so many more a cell of the modelled table; and so many for
# each cell and draw.
LEAST_OF_CHAINS, MOST_OF_WRITING = 0.25, 0.4
# With fewer nobody could say whether chains agree.
FEWEST_CHAINS = 2
SECONDS_TO_WRITE, SECONDS_A_CELL, SECONDS_A_CELL_AND_DRAW = 5.0, 3e-6, 5e-7
STOPPING = (
    "interrupted, the report is of the draws so far, at least one of each chain; Ctrl-C again ends without a report"
)


@dataclass(frozen=True)
class Plan:
    """Settings of the fit of a table.

    Attributes
    ----------
    n_chains, n_draws : int
    seed : int
    time_limit : float or None
        Seconds from the start to the last file: chains end when the time that writing is expected to take is left.
    n_jobs : int or None
        Chains that run at once; None: as many as there are processors.
    covariance_type : {"auto", "full", "diag"}
        Dependence of the columns of numbers of a view within a cluster, as of :class:`~sklearn_subanneal.CrossCat`.
        With "diag" only the clusters make them dependent, and there are more views, which can be read.
    effort : float
        Work of each chain before its draws, relative to the default, as of ``CrossCat``; without effect if there is a
        time limit.
    max_sweeps : int or None
        Most sweeps of all rows before the draws, while the log joint density rises, as of ``CrossCat``; without effect
        if there is a time limit.
    """

    n_chains: int = 4
    n_draws: int = 10
    seed: int = 0
    time_limit: float | None = None
    n_jobs: int | None = None
    covariance_type: str = "auto"
    effort: float = 1.0
    max_sweeps: int | None = None

    @property
    def most_cells(self) -> float:
        """Cells of the largest table of which one draw of the fewest chains can be summarised in time."""
        if self.time_limit is None:
            return inf
        seconds = MOST_OF_WRITING * self.time_limit - SECONDS_TO_WRITE
        return max(seconds, 0.0) / (SECONDS_A_CELL + FEWEST_CHAINS * SECONDS_A_CELL_AND_DRAW)

    def estimator(self, source: Source, elapsed: float = 0.0) -> CrossCat:
        """The estimator with these settings, when so many seconds of the time limit have passed.

        Where the time limit is short for the table, it has fewer draws, since all of them are used for every cell, and
        if one draw of each chain is too much, no more chains than run at once.

        Raises
        ------
        ValueError
            If the time limit or the effort is not positive, there are no chains, or fewer than no sweeps.
        """
        if self.n_chains < 1:
            raise ValueError(f"--chains must be at least 1, got {self.n_chains}.")
        if not 0.0 < self.effort <= LARGEST:
            raise ValueError(f"--effort must be a positive number such as 5, got {self.effort}.")
        if self.max_sweeps is not None and self.max_sweeps < 0:
            raise ValueError(f"--max-sweeps must be at least 0, got {self.max_sweeps}.")
        if self.time_limit is not None and not self.time_limit > 0.0:
            raise ValueError(f"--time-limit must be a positive number of seconds, got {self.time_limit}.")
        n_chains, n_jobs = self.n_chains, self.n_jobs or joblib.cpu_count()
        a_chain, n_draws = None, self.n_draws
        if self.time_limit is not None:
            least, a_draw = SECONDS_TO_WRITE + SECONDS_A_CELL * source.X.size, SECONDS_A_CELL_AND_DRAW * source.X.size
            most = MOST_OF_WRITING * self.time_limit
            if least + a_draw * n_chains > most:
                n_chains = min(n_chains, max(n_jobs, FEWEST_CHAINS))
            a_draw *= n_chains
            n_draws = max(1, min(n_draws, int((most - least) / max(a_draw, 1e-9) + 1e-6)))
            chains = max(self.time_limit - elapsed - least - a_draw * n_draws, LEAST_OF_CHAINS * self.time_limit)
            a_chain = chains / ceil(n_chains / n_jobs)
        return CrossCat(
            feature_types=source.declared_types,
            feature_params=source.feature_params or None,
            covariance_type=self.covariance_type,
            effort=self.effort,
            max_sweeps=self.max_sweeps,
            n_chains=n_chains,
            n_draws=n_draws,
            time_limit=a_chain,
            n_jobs=min(n_jobs, n_chains),
            random_state=self.seed,
        )


@dataclass(frozen=True)
class LearnedModel:
    """A fitted model.

    Attributes
    ----------
    model : CrossCat
    seconds : float
        Duration of the fit.
    was_stopped : bool
        Whether the chains were interrupted.
    deadline : float
        When the time limit ends, on the clock ``time.perf_counter``; infinite without one.
    """

    model: CrossCat
    seconds: float
    was_stopped: bool = False
    deadline: float = inf


def learn(
    source: Source,
    plan: Plan,
    on_progress: Callable[[float, str, bool], None] = lambda progress, text, is_urgent: None,
    elapsed: float = 0.0,
) -> LearnedModel:
    """Fit CrossCat to a table.

    Parameters
    ----------
    source : Source
    plan : Plan
    on_progress : callable, (progress, text, is_urgent) -> None
        Called after each sweep with the progress of all chains together, in [0, 1], a line of text, and whether that
        must not be left out: after an interrupt.
    elapsed : float, default=0.0
        Seconds of the time limit that have passed, in which the table was read.

    Returns
    -------
    LearnedModel

    Raises
    ------
    ValueError
        If the plan or the table is invalid.
    KeyboardInterrupt
        On a second Ctrl-C.
    """
    model, started = plan.estimator(source, elapsed), time.perf_counter()
    callback = LearningCallback(model.n_chains, model.n_draws, on_progress, model.time_limit)
    deadline = inf if plan.time_limit is None else started - elapsed + plan.time_limit
    with callback.handling_interrupts(), warnings.catch_warnings():
        # The page says what these say.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DependenceWarning)
        model.set_callbacks(callback).fit(source.X)
    # The callback is removed, since the model is saved.
    return LearnedModel(model.set_callbacks(), time.perf_counter() - started, callback.is_stopped, deadline)


class LearningCallback:
    """Callback that reports progress, and after an interrupt ends all chains with their next draw.

    Parameters
    ----------
    n_chains, n_draws : int
        Of the fit.
    on_progress : callable
        As in :func:`learn`.
    time_limit : float or None, default=None
        Seconds of a chain.
    """

    def __init__(
        self,
        n_chains: int,
        n_draws: int,
        on_progress: Callable[[float, str, bool], None],
        time_limit: float | None = None,
    ):
        self.n_draws, self.time_limit = n_draws, time_limit
        self.on_progress = on_progress
        self.is_stopped = False
        self._lock = threading.Lock()
        self._progress = [0.0] * n_chains

    def setup(self, estimator, context) -> None:
        """Do nothing: no sweep has ended."""

    def on_fit_task_begin(self, estimator, context) -> None:
        """Do nothing: sweeps are reported at their end."""

    def on_fit_task_end(self, estimator, context, *, metadata=None) -> bool:
        """Report a sweep; return whether its chain should stop."""
        if not metadata or "trace" not in metadata:
            return False
        record = metadata["trace"]
        with self._lock:
            chain, is_annealed = record["chain"], record["progress"] >= 1.0
            before = self._progress[chain]
            if self.time_limit is not None:
                reached = record["seconds"] / self.time_limit
            elif is_annealed:
                reached = max(before, SCHEDULE_SHARE) + (1.0 - SCHEDULE_SHARE) / self.n_draws
            else:
                reached = SCHEDULE_SHARE * record["progress"]
            self._progress[chain] = min(max(before, reached), 1.0)
            is_stopped = self.is_stopped
            text = (
                f"chain {chain + 1} of {len(self._progress)}: {record['n_assigned']} rows in {record['n_views']} views"
            )
            self.on_progress(sum(self._progress) / len(self._progress), STOPPING if is_stopped else text, is_stopped)
        return is_stopped

    def teardown(self, estimator, context) -> None:
        """Do nothing: there are no resources to release."""

    @contextlib.contextmanager
    def handling_interrupts(self) -> Iterator[None]:
        """Stop the chains at the first Ctrl-C, and raise KeyboardInterrupt at the second.

        Signals reach the main thread only; elsewhere this does nothing.
        """
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
