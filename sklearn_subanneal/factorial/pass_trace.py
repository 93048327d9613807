"""PassTrace: the passes through the rows that a fit has made and may still make, and the bounds after each."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from sklearn_subanneal.factorial.component_factors import Components

TRACE = np.dtype([("seconds", "f8"), ("inverse_temperature", "f8"), ("tempered_bound", "f8"), ("bound", "f8")])


class PassTrace:
    """Record of the passes of a fit, and the function that is told of them.

    Parameters
    ----------
    most : int
        Passes that may be made.
    tell : callable or None
        Called with a record (dict) and the components after each pass; a True result ends the fit.
    save : callable or None
        Called after each pass with the last state that was marked, from which the fit can be resumed.
    """

    def __init__(self, most: int, tell: Callable | None = None, save: Callable[[dict], None] | None = None):
        self._most, self._tell, self._save, self._started = most, tell, save, perf_counter()
        self._entries: list[tuple] = []
        self._stopped = False
        self._marked: dict = {}

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def left(self) -> int:
        """Passes that may still be made."""
        return 0 if self._stopped else self._most - len(self._entries)

    def add(
        self, inverse_temperature: float, bounds: tuple[float, float], progress: float, components: Components
    ) -> bool:
        """Record a pass, with its tempered bound and its bound, of a row each; whether the fit is to end."""
        entry = (perf_counter() - self._started, inverse_temperature, *bounds)
        record = {"sweep": len(self._entries), "progress": 1.0 if inverse_temperature == 1.0 else progress}
        self._entries.append(entry)
        if self._tell is not None:
            self._stopped = bool(self._tell(record | dict(zip(TRACE.names, entry, strict=True)), components))
        if self._save is not None:
            self._save(self._marked)
        return self._stopped

    def mark(self, stage: str, state: Callable[[], dict]) -> None:
        """Mark a point from which the fit can be resumed.

        Parameters
        ----------
        stage : str
            The part of the fit.
        state : callable
            Function that returns its state, of which later passes change nothing; called only if it may be saved.
        """
        if self._save is not None:
            self._marked = {"stage": stage, "trace": self.array(), **state()}

    def restore(self, state: dict) -> None:
        """Go back to the passes that had been made where ``state`` was marked."""
        self._entries = state["trace"].tolist()
        if self._entries:
            self._started = perf_counter() - self._entries[-1][0]

    def array(self) -> np.ndarray:
        """The records, a structured array of shape (n_passes,)."""
        return np.array(self._entries, TRACE)
