"""Checkpoint: a scikit-learn callback that saves running fits to files, so that a killed fit can resume."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from numbers import Real
from pathlib import Path
from typing import Any

from sklearn.callback import CallbackContext

from sklearn_subanneal.annealing import clock
from sklearn_subanneal.annealing.folder_lock import FolderLock
from sklearn_subanneal.annealing.reporter import ChainCallbacksMixin
from sklearn_subanneal.annealing.saved_chain import SavedChain


class Checkpoint:
    """Callback that writes each chain to its own file at intervals, from which the same fit can resume.

    Set it by ``estimator.set_callbacks(Checkpoint(path))``. To resume a fit that was killed, run the same script again:
    chains continue from their files, chains without a file start from the beginning, and the results are those of an
    uninterrupted fit, bit for bit, except for the seconds in ``trace_``. A complete fit is loaded from the folder.
    Chains may run in threads, or in other processes that can access the folder. A topic model is one chain, whose
    sweeps are passes over the documents; each start of a factorial mixture is one.

    Parameters
    ----------
    path : str or path-like
        The folder; it is created if it does not exist. Each fit needs its own folder.
    seconds : float, default=60.0
        Minimum time between two writes of a chain. Chains are written at the end of a sweep, and when they end; 0
        writes after every sweep.

    Raises
    ------
    ValueError
        If ``path`` or ``seconds`` is not as described. By ``fit``: if the folder holds chains of another table,
        estimator or parameters, more draws than requested, or a damaged file; or if another fit is writing to it.
    OSError
        By ``fit``, before it begins: if the folder cannot be written to.

    Warns
    -----
    UserWarning
        If a file cannot be written, for example on a full disk; the fit continues, and the previous file is kept.

    Notes
    -----
    ``n_draws`` may be increased from one run to the next, and ``n_jobs`` may change. With ``time_limit`` a resumed
    chain has the remaining time. With ``random_state=None`` chains resume as well, but those without a file start from
    another seed; a ``ShardedTable`` needs a ``random_state``. Other callbacks start anew: the patience of
    :class:`TraceMonitor` is counted from the resumption. The files hold arrays and JSON: to load one runs no code.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from sklearn_subanneal.annealing import Checkpoint
    >>> from sklearn_subanneal import SubsampleAnnealedDPMM
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> folder = tempfile.TemporaryDirectory()
    >>> model = SubsampleAnnealedDPMM(n_chains=2, random_state=0).set_callbacks(Checkpoint(folder.name)).fit(X)
    >>> again = SubsampleAnnealedDPMM(n_chains=2, random_state=0).set_callbacks(Checkpoint(folder.name)).fit(X)
    >>> bool((again.posterior_labels_ == model.posterior_labels_).all())
    True
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike, seconds: float = 60.0) -> None:
        if not isinstance(path, str | os.PathLike):
            raise ValueError(f"path must be the name of a folder, got {path!r}.")
        if isinstance(seconds, bool) or not isinstance(seconds, Real) or not seconds >= 0.0:
            raise ValueError(f"seconds must be a number of at least 0, got {seconds!r}.")
        self.path = path
        self.seconds = seconds
        # Absolute, since workers may have another working directory.
        self._folder = Path(path).expanduser().absolute()
        self._written: dict[int | None, float] = {}
        self._locks: dict[int, FolderLock] = {}

    def __getstate__(self) -> dict:
        # Copies, as those of worker processes, write for the fit that has locked the folder.
        return {**vars(self), "_locks": {}}

    def setup(self, estimator: Any, context: CallbackContext) -> None:
        """Create the folder, check that files can be written to it, and keep other fits from it."""
        if not isinstance(estimator, ChainCallbacksMixin):
            raise TypeError(
                f"{type(estimator).__name__} has no chains to save; set Checkpoint on an estimator of "
                "sklearn_subanneal that runs chains."
            )
        self.open(estimator)

    def open(self, fit: Any) -> None:
        """Create the folder, check that files can be written to it, and lock it for a fit, known by any object."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=self._folder).close()
        except (FileExistsError, NotADirectoryError) as error:
            raise ValueError(f"path must be a folder, but {self._folder} is, or lies in, a file.") from error
        except OSError as error:
            raise type(error)(
                error.errno, f"No checkpoints can be written to {self._folder}: {error.strerror}. Give another path"
            ) from error
        self._locks[id(fit)] = FolderLock(self._folder)
        self._written[None] = clock.now()

    def on_fit_task_begin(self, estimator: Any, context: CallbackContext) -> None:
        """Start the clock of a chain."""
        if context.task_name == "chain":
            self.begin(context.task_id)

    def begin(self, number: int) -> None:
        """Start the clock of the chain with this number."""
        self._written[number] = clock.now()

    def on_fit_task_end(self, estimator: Any, context: CallbackContext, *, metadata: dict | None = None) -> bool:
        """Write a chain if it has ended, or if the interval has passed; never stop it."""
        describe = (metadata or {}).get("chain")
        if describe is not None:
            ended = context.task_name == "chain"
            self.offer(context.task_id if ended else context.parent.task_id, describe, ended)
        return False

    def offer(self, number: int, describe: Callable[[], SavedChain], ended: bool = False) -> None:
        """Write a chain if it has ended, or if the interval has passed since it began or was written.

        Parameters
        ----------
        number : int
            Number of the chain.
        describe : callable
            Function that returns the chain as it is now; called only if it is written.
        ended : bool, default=False
        """
        now = clock.now()
        if ended or now - self._written.setdefault(number, self._written.get(None, now)) >= self.seconds:
            self._save(describe())
            self._written[number] = clock.now()

    def teardown(self, estimator: Any, context: CallbackContext) -> None:
        """Forget when chains were written, and let other fits use the folder."""
        self.close(estimator)

    def close(self, fit: Any) -> None:
        """Undo what :meth:`open` did for a fit; one that was refused the folder has no lock."""
        if lock := self._locks.pop(id(fit), None):
            self._written.clear()
            lock.release()

    def saved_chains(self) -> Iterator[SavedChain]:
        """The chains in the folder, of whatever fit."""
        for file in sorted(self._folder.glob("chain-*.checkpoint")):
            yield SavedChain.read(file)

    def load(self, identity: dict[str, str]) -> dict[int, SavedChain]:
        """The chains in the folder, by their numbers.

        Parameters
        ----------
        identity : dict
            Digests of the fit that will continue the chains.

        Returns
        -------
        chains : dict of int to SavedChain

        Raises
        ------
        ValueError
            If a file is damaged or of another fit.
        """
        chains = {}
        for chain in self.saved_chains():
            names = {**identity, **chain.identity}
            if changed := [name for name in names if identity.get(name) != chain.identity.get(name)]:
                raise ValueError(
                    f"{self._folder} holds checkpoints of another fit, which differs in {', '.join(changed)}. Give "
                    "this fit a folder of its own, or delete that one to start anew."
                )
            chains[chain.number] = chain
        return chains

    def _save(self, chain: SavedChain) -> None:
        file = self._folder / f"chain-{chain.number}.checkpoint"
        try:
            chain.write(file)
        except OSError as error:
            warnings.warn(
                f"Chain {chain.number} was not saved to {file}: {error}. The fit continues; free some space, or the "
                "next run resumes from the previous file.",
                UserWarning,
                stacklevel=2,
            )
