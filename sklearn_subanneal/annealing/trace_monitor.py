"""TraceMonitor: a scikit-learn callback that records traces of chains and stops chains that no longer improve."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.callback import CallbackContext

from sklearn_subanneal.annealing.mailbox import Mailbox

if TYPE_CHECKING:
    import pandas

HELD_OUT = "held_out_score"

_FIELD_TYPES = {"chain": "i4", "sweep": "i4", "n_assigned": "i8", "n_clusters": "i4", "n_moved": "i8"}


class TraceMonitor:
    """Callback that records the trace record of every sweep of every chain.

    Set it by `estimator.set_callbacks(TraceMonitor())`; after, or during, `fit` the records are at :meth:`get_logs`. It
    works with chains in threads and in other processes, and keeps the records of all fits.

    Parameters
    ----------
    X_held_out : array-like or DataFrame, default=None
        Rows that are not used for training. Their `score` under the present state is recorded as "held_out_score": the
        mean log predictive density, or the estimator's own `score`. Building a model at every sweep takes time.
    y_held_out : array-like, default=None
        Their targets, for classifiers and regressors.
    every : int, default=1
        Sweeps from one held-out score to the next.
    monitor : str, default="log_joint"
        The field of the record to watch for early stopping, for example "held_out_score". Larger is better.
    patience : int, default=None
        Ask the estimator to end the burn-in, or the draws, of a chain after so many sweeps (with held-out scores: so
        many scores) in a row without an improvement. Only sweeps over the full data count, after annealing. None never
        stops a chain.
    tol : float, default=0.0
        The least increase of the monitored field that is an improvement.

    Raises
    ------
    ValueError
        If a number is out of range, or held-out scores are monitored without `X_held_out`.

    Notes
    -----
    An estimator hands a record over as `metadata={"trace": record}` at the end of a task, where `record` is a dict by
    the field names of `trace_`. Tasks without a record are ignored. For a figure of the records,
    :meth:`TraceDisplay.from_trace(monitor.get_logs()) <sklearn_subanneal.plotting.TraceDisplay.from_trace>`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal import SubsampleAnnealedDPMM
    >>> from sklearn_subanneal.annealing import TraceMonitor
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> monitor = TraceMonitor(patience=20, tol=1.0)
    >>> model = SubsampleAnnealedDPMM(n_chains=2, random_state=0).set_callbacks(monitor).fit(X)
    >>> len(monitor.get_logs()["log_joint"]) == len(model.trace_)
    True
    """

    def __init__(
        self,
        *,
        X_held_out: Any = None,
        y_held_out: Any = None,
        every: int = 1,
        monitor: str = "log_joint",
        patience: int | None = None,
        tol: float = 0.0,
    ) -> None:
        if every < 1:
            raise ValueError(f"every must be at least 1, got {every}.")
        if patience is not None and patience < 1:
            raise ValueError(f"patience must be at least 1, or None to never stop a chain, got {patience}.")
        if not tol >= 0.0:
            raise ValueError(f"tol must be at least 0, got {tol}.")
        if monitor == HELD_OUT and X_held_out is None:
            raise ValueError(f"monitor={HELD_OUT!r} needs rows to score: pass X_held_out, or monitor 'log_joint'.")
        self.X_held_out = X_held_out
        self.y_held_out = y_held_out
        self.every = every
        self.monitor = monitor
        self.patience = patience
        self.tol = tol
        # Pairs of the fit, as the path of its tasks, and a record. Copies in worker processes append to this one.
        self._log = Mailbox()
        self._best: dict[tuple, tuple[float, int]] = {}

    def setup(self, estimator: Any, context: CallbackContext) -> None:
        """Do nothing: a fit is known by its first record."""

    def on_fit_task_begin(self, estimator: Any, context: CallbackContext) -> None:
        """Do nothing: the record comes at the end of a sweep."""

    @property
    def on_fit_task_end(self) -> Callable:
        """The hook at the end of a task; without held-out rows it is one that needs no fitted estimator.

        Scikit-learn makes a fitted estimator, at some expense, for hooks whose signature has one.
        """
        return self._record if self.X_held_out is None else self._record_and_score

    def teardown(self, estimator: Any, context: CallbackContext) -> None:
        """Clear the state of early stopping; warn if held-out rows were never scored."""
        for chain in [chain for chain in list(self._best) if chain[0] == context.root_uuid]:
            del self._best[chain]
        if self.X_held_out is None:
            return
        records = [record for key, record in self._log if key[0] == context.root_uuid]
        if records and not any(HELD_OUT in record for record in records):
            warnings.warn(
                f"X_held_out was never scored: {type(estimator).__name__} passed no fitted estimator to its callbacks "
                f"at the sweeps that every={self.every} asks for. Lower every, or leave X_held_out out.",
                UserWarning,
                stacklevel=2,
            )

    def get_logs(
        self, select: Literal["most_recent", "all"] = "most_recent", *, as_frame: bool = False
    ) -> NDArray | pandas.DataFrame | list[NDArray | pandas.DataFrame]:
        """The records so far, sorted by chain and sweep.

        Parameters
        ----------
        select : {"most_recent", "all"}, default="most_recent"
            The records of the fit that began last, or a list with those of every fit, the first one first.
        as_frame : bool, default=False
            Whether to return pandas DataFrames.

        Returns
        -------
        structured ndarray of shape (n_records,), or pandas.DataFrame, or a list of these
            Records with the fields of `trace_`, and "held_out_score" if there are held-out rows (nan where not scored).

        Raises
        ------
        ImportError
            If `as_frame` is set and pandas is not installed.
        ValueError
            If `select` is unknown or nothing has been recorded.
        """
        if select not in ("most_recent", "all"):
            raise ValueError(f"select must be 'most_recent' or 'all', got {select!r}.")
        fits: dict[tuple, list[dict[str, float]]] = {}
        for key, record in self._log:
            fits.setdefault(key, []).append(record)
        if not fits:
            raise ValueError("get_logs has no records: call estimator.set_callbacks(monitor) and fit it first.")
        chosen = list(fits.values())[-1:] if select == "most_recent" else list(fits.values())
        logs = [_to_array(records, scored=self.X_held_out is not None) for records in chosen]
        if as_frame:
            try:
                import pandas
            except ImportError as error:
                raise ImportError("get_logs(as_frame=True) needs pandas: pip install pandas.") from error
            logs = [pandas.DataFrame.from_records(log) for log in logs]
        return logs[0] if select == "most_recent" else logs

    def __getstate__(self) -> dict[str, Any]:
        # A chain in another thread may add to it while this one pickles.
        return {**self.__dict__, "_best": dict(self._best)}

    def _record(self, estimator: Any, context: CallbackContext, *, metadata: dict | None = None) -> bool:
        if not metadata or "trace" not in metadata:
            return False
        return self._keep(context, dict(metadata["trace"]))

    def _record_and_score(
        self, estimator: Any, context: CallbackContext, *, metadata: dict | None = None, fitted_estimator: Any = None
    ) -> bool:
        if not metadata or "trace" not in metadata:
            return False
        record = dict(metadata["trace"])
        if fitted_estimator is not None and record["sweep"] % self.every == 0:
            record[HELD_OUT] = float(fitted_estimator.score(self.X_held_out, self.y_held_out))
        return self._keep(context, record)

    def _keep(self, context: CallbackContext, record: dict[str, float]) -> bool:
        """Log the record; return whether its chain should stop."""
        key = (context.root_uuid, *_fit_path(context))
        self._log.append((key, record))
        return self.patience is not None and self._is_idle((*key, record["chain"]), record)

    def _is_idle(self, chain: tuple, record: dict[str, float]) -> bool:
        """Whether the chain has not improved for `patience` records. A chain lives in one worker, and so does this."""
        if record.get("progress", 1.0) < 1.0:
            return False
        if self.monitor not in record:
            if self.monitor == HELD_OUT:
                return False
            raise ValueError(f"monitor must be one of the fields recorded, {sorted(record)}, got {self.monitor!r}.")
        value = record[self.monitor]
        best, n_idle = self._best.get(chain, (-np.inf, 0))
        improved = value > best + self.tol
        n_idle = 0 if improved else n_idle + 1
        stop = n_idle >= self.patience
        # A chain ends its burn-in first, and then its draws: the sweeps of each count anew.
        self._best[chain] = value if improved else best, 0 if stop else n_idle
        return stop


def _fit_path(context: CallbackContext) -> tuple[int, ...]:
    """Identifiers of the tasks from the outermost one (a grid search, say) to the fit that a sweep belongs to."""
    path = []
    while context is not None:
        path.append(context.task_id)
        context = context.parent
    return tuple(path[:1:-1])


def _to_array(records: list[dict[str, float]], scored: bool) -> NDArray:
    """Records as one structured array, sorted by chain and sweep."""
    names = [name for name in records[0] if name != HELD_OUT] + [HELD_OUT] * scored
    dtype = np.dtype([(name, _FIELD_TYPES.get(name, "f8")) for name in names])
    rows = [tuple(record.get(name, np.nan) for name in names) for record in records]
    return np.sort(np.array(rows, dtype=dtype), order=["chain", "sweep"])
