"""Tasks, what a fit does on the workers of Dask: it is waited for with an eye on the cluster, and nothing is left."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from weakref import WeakSet

# Seconds between two looks at the cluster, and those after which a cluster without workers is given up.
LOOK = 1.0
WITHOUT_WORKERS = 60.0


class Tasks:
    """Tasks on the workers of a Dask cluster.

    Parameters
    ----------
    client : dask.distributed.Client
        Not asynchronous.

    Raises
    ------
    ValueError
        If it is none, or not connected.
    """

    def __init__(self, client):
        if not all(hasattr(client, name) for name in ("submit", "gather", "nthreads", "status")):
            raise ValueError(f"client must be a dask.distributed.Client or None, got {client!r}")
        if getattr(client, "asynchronous", False):
            raise ValueError("client must not be asynchronous; write Client(address)")
        self.client, self._held = client, WeakSet()
        self._address = client.scheduler.address if client.scheduler is not None else "?"
        self._check()

    def __enter__(self) -> Tasks:
        return self

    def __exit__(self, *error) -> None:
        """Release all tasks, on whatever way the fit ends: those not yet begun are not, and all results are deleted."""
        for future in list(self._held):
            future.release()

    def submit(self, function: Callable, *arguments, home: str | None = None, priority: int = 0):
        """The future of ``function(*arguments)``, which is made at the worker ``home`` as long as that is there.

        It can be made again elsewhere if it is lost, from arguments that are futures or are kept by the scheduler.
        """
        self._check()
        future = self.client.submit(function, *arguments, pure=False, priority=priority, **_at(home))
        self._held.add(future)
        return future

    def read(self, function: Callable, *arguments, home: str | None = None):
        """As :meth:`submit` with what makes a part of a table: what is to be done with parts that are there is first.

        Else all parts could be in memory before one of them is worked on.
        """
        return self.submit(function, *arguments, home=home, priority=-1)

    def send(self, x, home: str | None = None):
        """The future of something that is in the memory of the caller, of which the scheduler keeps a copy."""
        with warnings.catch_warnings():
            # It is not to be lost, as what is scattered would be with its worker.
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            return self.submit(itself, x, home=home)

    def compute(self, parts: Sequence, home: str | None = None) -> list:
        """As :meth:`read`, the futures of delayed objects of Dask."""
        self._check()
        futures = self.client.compute(list(parts), priority=-1, **_at(home))
        self._held.update(futures)
        return futures

    def results(self, futures: Sequence) -> list:
        """What the tasks return, once all are done.

        Raises
        ------
        ConnectionError
            If the scheduler or all workers are gone.
        """
        from dask.distributed import CancelledError, wait

        futures, without = list(futures), 0.0
        try:
            with self.client.as_current():
                while True:
                    try:
                        wait(futures, timeout=LOOK)
                        return self.client.gather(futures)
                    except TimeoutError:
                        without = 0.0 if self.workers() else without + LOOK
                    if without >= WITHOUT_WORKERS:
                        raise ConnectionError(
                            f"the Dask cluster at {self._address} has had no workers for {without:.0f} seconds; start "
                            "some and fit again"
                        )
        except CancelledError as error:
            raise self._gone() from error

    def workers(self) -> dict[str, int]:
        """Threads of each worker, by its address."""
        self._check()
        try:
            return dict(sorted(self.client.nthreads().items()))
        except OSError as error:
            raise self._gone() from error

    def _check(self) -> None:
        if self.client.status != "running":
            raise self._gone()

    def _gone(self) -> ConnectionError:
        return ConnectionError(
            f"the Dask scheduler at {self._address} is gone, or has cancelled the tasks of this fit, and with it the "
            "rows; start a cluster and fit again"
        )


def _at(home: str | None) -> dict:
    return {} if home is None else {"workers": [home], "allow_other_workers": True}


def itself(x):
    """``x``."""
    return x
