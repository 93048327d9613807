"""Several chains side by side: their seeds, their cancellation and their progress. Knows no model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits


class CancelFlag:
    """Tells the threads of all chains to end; a process that has only a copy never sees it set."""

    def __init__(self):
        self.is_set = False

    def set(self) -> None:
        """Ask every chain to end at its next look."""
        self.is_set = True


class ChainCancelled(Exception):
    """Raised within a chain whose flag was set."""


class ChainContext:
    """What a chain knows of the world outside: whether to go on, and whom to tell.

    Parameters
    ----------
    cancel : CancelFlag
    report : callable or None
        Called after every sweep with the trace record (dict), a function that gives the present state, and one that
        gives all from which the chain could go on; a True result asks the chain to end the phase it is in.
    """

    def __init__(self, cancel: CancelFlag | None = None, report: Callable | None = None):
        self.cancel = cancel or CancelFlag()
        self.report = report

    def check(self) -> None:
        """Raise ChainCancelled if the chain is to end at once."""
        if self.cancel.is_set:
            raise ChainCancelled

    def tell(self, record: dict, state: Callable, result: Callable) -> bool:
        """Report one sweep; True if the present phase is to end."""
        return bool(self.report and self.report(record, state, result))


def spawn_generators(random_state, n_chains: int) -> list[np.random.Generator]:
    """One generator a chain, independent of how the chains are run."""
    entropy = check_random_state(random_state).randint(0, 2**32, size=4, dtype=np.uint32)
    return [np.random.Generator(np.random.PCG64(seed)) for seed in np.random.SeedSequence(entropy).spawn(n_chains)]


def run_chains(chain: Callable, arguments: list, contexts: list[ChainContext], n_jobs: int | None) -> list:
    """``[chain(argument, context) ...]``, by joblib; threads on one machine, since the kernels hold no GIL.

    On KeyboardInterrupt, or any error of one chain, the others are told to end before the exception goes on.
    """
    jobs = (delayed(_quietly)(chain, argument, context) for argument, context in zip(arguments, contexts, strict=True))
    try:
        return Parallel(n_jobs=n_jobs, prefer="threads")(jobs)
    except BaseException:
        for context in contexts:
            context.cancel.set()
        raise


def _quietly(chain, argument, context):
    """Run one chain with BLAS on one thread; a chain that was told to end has no result."""
    try:
        with threadpool_limits(limits=1, user_api="blas"):
            return chain(argument, context)
    except ChainCancelled:
        return None
    except BaseException:
        context.cancel.set()
        raise
