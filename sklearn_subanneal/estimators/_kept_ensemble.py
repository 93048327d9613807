"""Ensembles of fitted models, kept from one question to the next: making them takes longer than one answer."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from sklearn_subanneal._core.workers import n_workers
from sklearn_subanneal.mixtures.ensemble import Ensemble

# Fewer rows are not worth a thread of their own.
LEAST_ROWS_A_THREAD = 2048
# For each model: its draws, and the ensembles of them that no thread uses. They are no part of the model, which can be
# copied and saved without them, and end with it.
_IDLE: WeakKeyDictionary = WeakKeyDictionary()


@contextmanager
def kept_ensemble(model, draws: object, build: Callable[[], Ensemble]) -> Iterator[Ensemble]:
    """An ensemble for one thread: one that was built for these very draws before, or a new one.

    Parameters
    ----------
    model : estimator
    draws : object
        Other draws are another object.
    build : callable
        ``build()`` is a new ensemble.
    """
    held = _IDLE.get(model)
    if held is None or held[0] is not draws:
        held = _IDLE[model] = (draws, [])
    try:
        average = held[1].pop()
    except IndexError:
        average = build()
    try:
        yield average
    finally:
        held[1].append(average)


class KeptEnsemble:
    """The average over the draws of a model: a mixin. It reads ``_draws``, ``n_jobs`` and ``_new_average()``."""

    def _average(self):
        """A context with the average over the draws, for one thread."""
        return kept_ensemble(self, self._draws, self._new_average)

    def _by_rows(self, answer: Callable, arrays: list[np.ndarray]) -> np.ndarray:
        """``answer(average, arrays of some rows)`` of all rows, which ``n_jobs`` threads share."""
        n_rows = len(arrays[0])
        n_threads = max(min(n_workers(self.n_jobs), n_rows // LEAST_ROWS_A_THREAD), 1)
        ends = np.linspace(0, n_rows, n_threads + 1).astype(int)

        def part(rows):
            with self._average() as average:
                return answer(average, [array[rows] for array in arrays])

        slices = [slice(*pair) for pair in itertools.pairwise(ends)]
        if n_threads == 1:
            return part(slices[0])
        return np.concatenate(Parallel(n_threads, require="sharedmem")(delayed(part)(rows) for rows in slices))
