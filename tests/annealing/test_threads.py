"""Tasks on threads: each is done once, by all threads, and a failure ends the others."""

import threading

import pytest

from sklearn_subanneal.annealing.threads import share_tasks


def test_tasks_are_shared():
    done, names = [], set()
    barrier = threading.Barrier(3, timeout=30)

    def task(number):
        if number < 3:
            barrier.wait()
        names.add(threading.get_ident())
        done.append(number)

    share_tasks(task, 20, 3)
    assert sorted(done) == list(range(20)) and len(names) == 3
    share_tasks(done.append, 0, 4)
    assert len(done) == 20


@pytest.mark.parametrize("n_threads", [1, 3])
def test_a_failing_task_ends_the_others(n_threads):
    done = []

    def task(number):
        if number == 5:
            raise KeyboardInterrupt
        done.append(number)

    with pytest.raises(KeyboardInterrupt):
        share_tasks(task, 10_000, n_threads)
    assert len(done) < 10_000
