"""share_tasks: the execution of a numbered list of tasks by a few threads."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable


def share_tasks(task: Callable[[int], object], n_tasks: int, n_threads: int) -> None:
    """Call ``task(0)``, ..., ``task(n_tasks - 1)``, each once, in any order; the calling thread works too.

    After an exception no further task is begun; when all threads have finished, the first exception is raised.

    Parameters
    ----------
    task : callable
        Called with the number of a task; should release the GIL.
    n_tasks : int
    n_threads : int
        At most this many threads, the calling one included.
    """
    n_threads = min(n_threads, n_tasks)
    if n_threads <= 1:
        for number in range(n_tasks):
            task(number)
        return
    lock = threading.Lock()
    numbers = iter(range(n_tasks))
    failures: list[BaseException] = []

    def work() -> None:
        try:
            while not failures:
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return
                task(number)
        except BaseException as failure:
            failures.append(failure)

    def help_with_tasks(at_work) -> None:
        work()
        at_work.release()

    # Not threading.Thread, whose start() waits until the thread runs, which may take longer than a task.
    helpers = []
    try:
        for _ in range(n_threads - 1):
            at_work = threading.Lock()
            at_work.acquire()
            _thread.start_new_thread(help_with_tasks, (at_work,))
            helpers.append(at_work)
        work()
        _wait_for(helpers)
    except BaseException as failure:
        # A KeyboardInterrupt: the other threads see it in `failures` and finish their present task.
        failures.append(failure)
        _wait_for(helpers)
    if failures:
        raise failures[0]


def _wait_for(helpers: list) -> None:
    """Return when no lock is held any more; may be called again if interrupted."""
    for at_work in helpers:
        with at_work:
            pass
