"""What is said after each pass of a topic model over its documents, and whether that is the last."""

from __future__ import annotations

from collections.abc import Callable

from sklearn_subanneal.annealing.reporter import ProgressReporter


class PassReporter:
    """Tells callbacks and the terminal of each pass, and asks to end once the perplexity has settled.

    Parameters
    ----------
    estimator : VariationalTemperingLDA
    n_passes : int
        Those planned.
    attributes : callable
        Gives the attributes of the fitted estimator after a number of passes.
    fit : ProgressReporter
    documents : csr_matrix or None
        Of whose perplexity ``evaluate_every`` asks; None: of none.
    """

    def __init__(self, estimator, n_passes: int, attributes: Callable, fit: ProgressReporter, documents=None):
        self.estimator = estimator
        self.n_passes = n_passes
        self.attributes = attributes
        self.fit = fit
        self.documents = documents
        self._last = None

    def __call__(self, record: dict) -> bool:
        """Report the pass of this record; True if it is to be the last."""
        estimator, done = self.estimator, record["sweep"]
        stop = self.fit.step(record, lambda: self.attributes(done), name="pass")
        message = f"iteration: {done} of max_iter: {self.n_passes}, E[1/T]: {record['inverse_temperature']:.4f}"
        every = estimator.evaluate_every
        if self.documents is not None and every > 0 and done % every == 0:
            vars(estimator).update(self.attributes(done))
            perplexity = estimator._perplexity(self.documents)
            message += f", perplexity: {perplexity:.4f}"
            # Perplexities at different temperatures can't be compared.
            cold = record["inverse_temperature"] == 1.0
            stop = stop or (cold and self._last is not None and abs(self._last - perplexity) < estimator.perp_tol)
            self._last = perplexity if cold else None
        if estimator.verbose:
            print(message)
        return stop
