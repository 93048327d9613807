"""run_chains: chains in parallel by joblib, with their random generators, cancellation and progress reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from sklearn_subanneal._core.blas import one_blas_thread
from sklearn_subanneal._core.random_states import seed_entropy
from sklearn_subanneal._core.workers import n_workers
from sklearn_subanneal.annealing.chain_reporter import ChainReporter
from sklearn_subanneal.annealing.reporter import ProgressReporter


class CancelFlag:
    """A flag that asks the threads of all chains to end; a copy in another process is never set."""

    def __init__(self):
        self.is_set = False

    def set(self) -> None:
        """Ask every chain to end as soon as it checks the flag."""
        self.is_set = True


class ChainCancelled(Exception):
    """Raised within a cancelled chain."""


class ChainContext:
    """The connection of a running chain to its fit: cancellation, and reports to callbacks.

    Parameters
    ----------
    cancel : CancelFlag or None
        Shared by the chains of a fit; None: the chain is never cancelled.
    reporter : ChainReporter or None
        None: nothing is reported.
    """

    def __init__(self, cancel: CancelFlag | None = None, reporter: ChainReporter | None = None):
        self.cancel = cancel or CancelFlag()
        self.reporter = reporter

    def check(self) -> None:
        """Raise ChainCancelled if the chain is to end at once."""
        if self.cancel.is_set:
            raise ChainCancelled

    def begin(self) -> None:
        """Report that the chain begins."""
        if self.reporter is not None:
            self.reporter.begin()

    def report(self, record: dict, state: Callable, result: Callable) -> bool:
        """Report one sweep.

        Parameters
        ----------
        record : dict
            Record of the trace.
        state, result : callable
            Functions that return the present state as a draw, and the result from which the chain could be continued;
            called only if needed.

        Returns
        -------
        stop : bool
            Whether the present phase, annealing or drawing, is to end.
        """
        return self.reporter is not None and self.reporter.step(record, state, result)

    @property
    def is_saved(self) -> bool:
        """Whether the chain is saved, at some of its reports and at its end."""
        return self.reporter is not None and self.reporter.is_saved

    def end(self, result, n_draws: int | None) -> None:
        """Report the result of the chain; ``n_draws``: the number requested, or None if it had ended before."""
        if self.reporter is not None:
            self.reporter.end(result, n_draws)


def contexts_of_chains(
    fit: ProgressReporter, specs: Sequence, attributes: Callable, identity: dict[str, str] | None
) -> list[ChainContext]:
    """One context for each chain of a fit, which one flag cancels; with a reporter where there are callbacks.

    Parameters
    ----------
    fit : ProgressReporter
    specs : sequence of ChainSpec
        The chains, with ``number`` and ``n_sweeps()``.
    attributes : callable
        Function of a draw and a record of the trace that returns the fitted attributes of the estimator.
    identity : dict or None
        Digests that identify the fit, for chains that are saved.
    """
    cancel = CancelFlag()
    if not fit.has_listeners:
        return [ChainContext(cancel) for _ in specs]
    return [
        ChainContext(
            cancel,
            ChainReporter(fit.subtask("chain", spec.number, spec.n_sweeps()), spec.number, attributes, identity),
        )
        for spec in specs
    ]


def spawn_generators(random_state, n_chains: int) -> list[np.random.Generator]:
    """One generator a chain, independent of how the chains are run."""
    seeds = np.random.SeedSequence(seed_entropy(random_state)).spawn(n_chains)
    return [np.random.Generator(np.random.PCG64(seed)) for seed in seeds]


def run_chains(chain: Callable, arguments: list, contexts: list[ChainContext], n_jobs: int | None) -> list:
    """``[chain(argument, context) ...]``, by joblib; threads on one machine, since the kernels hold no GIL.

    On KeyboardInterrupt, or an error of one chain, the others are cancelled before the exception propagates.
    """
    n_workers(n_jobs)
    jobs = (delayed(_quietly)(chain, argument, context) for argument, context in zip(arguments, contexts, strict=True))
    try:
        with one_blas_thread():
            return Parallel(n_jobs=n_jobs, prefer="threads")(jobs)
    except BaseException:
        for context in contexts:
            context.cancel.set()
        raise


def _quietly(chain, argument, context):
    """Run one chain with BLAS on one thread; a cancelled chain has no result."""
    try:
        with one_blas_thread():
            return chain(argument, context)
    except ChainCancelled:
        return None
    except BaseException:
        context.cancel.set()
        raise
