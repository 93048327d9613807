"""A scikit-learn callback that keeps running chains on disk, so that a fit that was killed goes on where it was."""

from __future__ import annotations

import os
import tempfile
import warnings
from numbers import Real
from pathlib import Path
from typing import Any

from sklearn.callback import CallbackContext

from sklearn_subanneal.annealing import clock
from sklearn_subanneal.annealing.reporter import ChainCallbacksMixin
from sklearn_subanneal.annealing.saved_chain import SavedChain


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
        self._written: dict[int, float] = {}

    def setup(self, estimator: Any, context: CallbackContext) -> None:
        """Make the folder, and see that files can be written there."""
        if not isinstance(estimator, ChainCallbacksMixin):
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
            self._written[context.task_id] = clock.now()

    def on_fit_task_end(self, estimator: Any, context: CallbackContext, *, metadata: dict | None = None) -> bool:
        """Write a chain, if it has ended or it is time to; never stop one."""
        describe = (metadata or {}).get("chain")
        if describe is None:
            return False
        ended = context.task_name == "chain"
        number = context.task_id if ended else context.parent.task_id
        if ended or clock.now() - self._written.setdefault(number, clock.now()) >= self.seconds:
            self._save(describe())
            self._written[number] = clock.now()
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
            chain = SavedChain.read(file)
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
                f"Chain {chain.number} was not saved to {file}: {error}. The fit goes on; make room, or the next run "
                "starts from the file before.",
                UserWarning,
                stacklevel=2,
            )
