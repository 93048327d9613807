"""one_blas_thread_of_worker: BLAS limited to one thread in a process whose threads start and end tasks as they like."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock

from sklearn_subanneal._core.blas import one_blas_thread

_lock = Lock()
_running = 0
_limit = ExitStack()


@contextmanager
def one_blas_thread_of_worker() -> Iterator[None]:
    """Limit BLAS to one thread, until the last of the tasks that run at the same time has ended.

    Where the limit belongs to the process, a task that ends must not lift it for the others.
    """
    global _running
    with _lock:
        if not _running:
            _limit.enter_context(one_blas_thread())
        _running += 1
    try:
        with one_blas_thread():
            yield
    finally:
        with _lock:
            _running -= 1
            if not _running:
                _limit.close()
