"""ChainReporter: reports a chain to scikit-learn's callbacks, with the state they need to score it and to save it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn_subanneal.annealing.chain_result import ChainResult
from sklearn_subanneal.annealing.reporter import ProgressReporter
from sklearn_subanneal.annealing.saved_chain import SavedChain


class ChainReporter:
    """Reports the sweeps of one chain; can be pickled, for chains in other processes.

    Parameters
    ----------
    task : ProgressReporter
        Reporter of the chain's task.
    number : int
        Number of the chain.
    attributes : callable
        Function of a draw and a record of the trace that returns the fitted attributes of the estimator.
    identity : dict or None
        Digests that identify the fit, for chains that are saved.
    """

    def __init__(
        self,
        task: ProgressReporter,
        number: int,
        attributes: Callable[[Any, dict], dict],
        identity: dict[str, str] | None = None,
    ):
        self.task, self.number, self.attributes, self.identity = task, number, attributes, identity

    @property
    def is_saved(self) -> bool:
        """Whether a checkpoint saves the chain."""
        return self.identity is not None

    def begin(self) -> None:
        """Report that the chain begins."""
        self.task.begin()

    def step(self, record: dict, state: Callable[[], Any], result: Callable[[], ChainResult]) -> bool:
        """Report a sweep; whether a callback asks to end the phase that the chain is in."""
        return self.task.step(record, lambda: self.attributes(state(), record), chain=lambda: self._saved(result()))

    def end(self, result: ChainResult, n_draws: int | None) -> None:
        """Report the end; ``n_draws``: the number requested, or None if the chain was complete before."""
        if n_draws is None:
            self.task.end()
        else:
            self.task.end(chain=lambda: self._saved(result, n_draws))

    def _saved(self, result, ended_at=None):
        return SavedChain(self.number, self.identity, result, ended_at)
