"""A scikit-learn callback that keeps running chains on disk, so that a fit that was killed goes on where it was."""

from __future__ import annotations

import os
import pickle
import tempfile
import warnings
from dataclasses import dataclass
from hashlib import sha256
from numbers import Real
from pathlib import Path
from time import monotonic
from typing import Any

from sklearn.callback import CallbackContext

from sklearn_subanneal.annealing.chain import ChainResult

HEADER = b"sklearn_subanneal checkpoint 1\n"
DIGEST_SIZE = sha256().digest_size


@dataclass(frozen=True)
class SavedChain:
    """What a file holds: one chain, and whose it is.

    Attributes
    ----------
    number : int
        Of the chain in its fit.
    identity : dict
        Digests of the parameters and the table.
    result : ChainResult
        All from which the chain goes on.
    ended_at : int or None
        The ``n_draws`` of the fit in which the chain came to its end; None while it is under way.
    """

    number: int
    identity: dict[str, str]
    result: ChainResult
    ended_at: int | None


class Checkpoint:
    """Callback that writes every chain to a file of its own from time to time; the same fit, run again, goes on there.

    Set it by ``estimator.set_callbacks(Checkpoint(path))``. A fit that was killed at whatever moment is taken up by
    running the same script again: chains continue from their files, chains without one start as they would have, and
    the results are those of a fit that was never interrupted, bit for bit, but for the seconds in ``trace_``. A fit
    that is complete on disk is loaded. It works with chains in threads, and in other processes that see the folder.

    Parameters
    ----------
    path : str or path-like
        The folder, made where it does not exist. Each fit needs one of its own.
    seconds : float, default=60.0
        Least time between two writes of a chain; chains are written at the end of a sweep, and when they end. 0 writes
        after every sweep.

    Raises
    ------
    ValueError
        If ``path`` or ``seconds`` is not as described. By ``fit``: if the folder holds chains of another table,
        estimator or parameters, more draws than are asked for, or a damaged file.

    Warns
    -----
    UserWarning
        If a file can't be written, as on a full disk; the fit goes on, and the file before is kept.

    Notes
    -----
    ``n_draws`` may be raised from one run to the next, and ``n_jobs`` may change. With ``time_limit`` a chain that is
    taken up has the time that was left. With ``random_state=None`` chains go on as well, but those without a file start
    from another seed. Other callbacks start anew: the patience of :class:`TraceMonitor` is counted from the resumption.
    The files are pickles; use a folder that nobody writes whom you do not trust.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from sklearn_subanneal.annealing.callbacks import Checkpoint
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
        self._written: dict[int, float] = {}

    def setup(self, estimator: Any, context: CallbackContext) -> None:
        """Make the folder, and see that files can be written there."""
        if not hasattr(estimator, "_results_to_continue"):
            raise TypeError(
                f"{type(estimator).__name__} has no chains to save; set Checkpoint on an estimator of "
                "sklearn_subanneal that runs chains."
            )
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise ValueError(f"path must be a folder, but {self._folder} is, or lies in, a file.") from error
        tempfile.TemporaryFile(dir=self._folder).close()

    def on_fit_task_begin(self, estimator: Any, context: CallbackContext) -> None:
        """Start the clock of a chain."""
        if context.task_name == "chain":
            self._written[context.task_id] = monotonic()

    def on_fit_task_end(self, estimator: Any, context: CallbackContext, *, metadata: dict | None = None) -> bool:
        """Write a chain, if it has ended or it is time to; never stop one."""
        describe = (metadata or {}).get("chain")
        if describe is None:
            return False
        ended = context.task_name == "chain"
        number = context.task_id if ended else context.parent.task_id
        if ended or monotonic() - self._written.setdefault(number, monotonic()) >= self.seconds:
            self._save(describe())
            self._written[number] = monotonic()
        return False

    def teardown(self, estimator: Any, context: CallbackContext) -> None:
        """Forget when chains were written."""
        self._written.clear()

    def load(self, identity: dict[str, str]) -> dict[int, SavedChain]:
        """The chains in the folder, by their numbers.

        Parameters
        ----------
        identity : dict
            Digests of the fit that is to go on with them.

        Returns
        -------
        chains : dict of int to SavedChain

        Raises
        ------
        ValueError
            If a file is damaged or of another fit.
        """
        chains = {}
        for file in sorted(self._folder.glob("chain-*.checkpoint")):
            chain = _read(file)
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
        part = file.with_suffix(".part")
        try:
            _write(file, part, chain)
        except OSError as error:
            part.unlink(missing_ok=True)
            warnings.warn(
                f"Chain {chain.number} was not saved to {file}: {error}. The fit goes on; make room, or the next run "
                "starts from what was saved before.",
                UserWarning,
                stacklevel=2,
            )


def _write(file: Path, part: Path, chain: SavedChain) -> None:
    """Put the file in place at once, complete and on the disk: whoever kills the process finds this one or the last."""
    content = pickle.dumps(chain, protocol=5)
    with open(part, "wb") as stream:
        stream.write(HEADER + sha256(content).digest())
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(part, file)
    if os.name == "posix":
        folder = os.open(file.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _read(file: Path) -> SavedChain:
    """The chain in a file, if it is as it was written."""
    data = file.read_bytes()
    start = len(HEADER) + DIGEST_SIZE
    content = memoryview(data)[start:]
    if not data.startswith(HEADER) or data[len(HEADER) : start] != sha256(content).digest():
        raise ValueError(
            f"{file} is damaged, or not a checkpoint of this version of sklearn_subanneal. Restore it from a copy, or "
            "delete it and its chain starts anew."
        )
    return pickle.loads(content)
