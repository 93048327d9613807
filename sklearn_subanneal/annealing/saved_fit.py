"""SavedFit: the chains of a fit in the folders of its checkpoints, read before it begins and written while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import joblib
from sklearn.base import BaseEstimator

from sklearn_subanneal.annealing.checkpoint import Checkpoint
from sklearn_subanneal.annealing.reporter import callbacks_of
from sklearn_subanneal.annealing.saved_chain import SavedChain


def digest(value: Any) -> str:
    """A digest of a parameter; of an object by its parameters, since its class need not be one that pickles."""
    if isinstance(value, BaseEstimator):
        value = (type(value).__module__, type(value).__qualname__, value.get_params(deep=False))
    elif isinstance(value, list | tuple) and any(isinstance(part, BaseEstimator) for part in value):
        value = [digest(part) for part in value]
    return joblib.hash(value)


def is_saved(estimator: BaseEstimator) -> bool:
    """Whether a checkpoint is set on an estimator, so that its chains may be those of a fit that was interrupted."""
    return any(isinstance(callback, Checkpoint) for callback in callbacks_of(estimator))


def saved_digest(estimator: BaseEstimator, name: str) -> str | None:
    """The digest of a parameter in the fit whose chains are in the folders of the checkpoints; None without any."""
    checkpoints = (callback for callback in callbacks_of(estimator) if isinstance(callback, Checkpoint))
    chains = (chain for checkpoint in checkpoints for chain in checkpoint.saved_chains())
    return next((chain.identity.get(name) for chain in chains), None)


class SavedFit:
    """The chains of a fit that are on disk.

    Parameters
    ----------
    name : str
        Name of the class of the estimator.
    checkpoints : list of Checkpoint
    identity : callable
        Function without arguments that returns digests (dict of str to str) of all that the fit must have in common
        with the one that was interrupted; called only if a checkpoint is set, since tables may be large.

    Attributes
    ----------
    identity : dict of str to str, or None
        The digests and the name of the estimator's class; None where no checkpoint is set.
    chains : dict of int to SavedChain
        By number.

    Raises
    ------
    ValueError
        If a folder holds chains of another fit, or a damaged file.
    """

    def __init__(self, name: str, checkpoints: list[Checkpoint], identity: Callable[[], dict[str, str]]):
        self._checkpoints = checkpoints
        self.identity: dict[str, str] | None = None
        self.chains: dict[int, SavedChain] = {}
        if checkpoints:
            self.identity = {"estimator": name} | identity()
            for checkpoint in checkpoints:
                self.chains |= checkpoint.load(self.identity)

    @classmethod
    def of(cls, estimator: BaseEstimator, identity: Callable[[], dict[str, str]]) -> SavedFit:
        """The chains in the folders of the checkpoints that are set on an estimator."""
        checkpoints = [callback for callback in callbacks_of(estimator) if isinstance(callback, Checkpoint)]
        return cls(type(estimator).__name__, checkpoints, identity)

    def __bool__(self) -> bool:
        return bool(self._checkpoints)

    def check_draws(self, n_draws: int) -> None:
        """Raise ValueError if a chain has more draws than requested."""
        most = max((len(chain.result.draws) for chain in self.chains.values()), default=0)
        if n_draws < most:
            raise ValueError(
                f"n_draws={n_draws} must be at least the {most} draws in the folder of the Checkpoint; raise it, or "
                "give this fit a folder of its own"
            )

    def result(self, number: int, length: int = 0) -> tuple[Any, bool]:
        """What was saved of the chain with this number, or None, and whether it ended with at least this length."""
        chain = self.chains.get(number)
        if chain is None:
            return None, False
        return chain.result, chain.ended_at is not None and chain.ended_at >= length

    def chain(self, number: int, result: Any, ended_at: int | None = None) -> SavedChain:
        """A chain of this fit as it is saved; ``ended_at``: the length at which it ended, None while it is running."""
        return SavedChain(number, self.identity, result, ended_at)

    def offer(self, number: int, result: Callable[[], Any], ended_at: int | None = None) -> None:
        """Save a chain that runs in this process if it is time to, or if it has ended.

        Parameters
        ----------
        number : int
        result : callable
            Function that returns what the chain continues from; called only if it is saved.
        ended_at : int or None, default=None
            Length at which the chain ended; None: it is running.
        """
        for checkpoint in self._checkpoints:
            checkpoint.offer(number, lambda: self.chain(number, result(), ended_at), ended_at is not None)

    @contextmanager
    def open(self) -> Iterator[None]:
        """Keep the folders to this fit; callbacks of an estimator do so by themselves."""
        try:
            for checkpoint in self._checkpoints:
                checkpoint.open(self)
            yield
        finally:
            for checkpoint in self._checkpoints:
                checkpoint.close(self)


class ChainSaver:
    """Saves a chain that has no callbacks, as a reporter of its context; can be pickled.

    Parameters
    ----------
    saved : SavedFit
    number : int
        Number of the chain.
    """

    is_saved = True

    def __init__(self, saved: SavedFit, number: int):
        self.saved, self.number = saved, number

    def begin(self) -> None:
        """Start the clock of the chain."""
        for checkpoint in self.saved._checkpoints:
            checkpoint.begin(self.number)

    def step(self, record: dict, state: Callable, result: Callable) -> bool:
        """Save the chain if it is time to; never stop it."""
        self.saved.offer(self.number, result)
        return False

    def end(self, result: Any, n_draws: int | None) -> None:
        """Save the chain that has ended; ``n_draws``: the number requested, or None if it had ended before."""
        if n_draws is not None:
            self.saved.offer(self.number, lambda: result, n_draws)
