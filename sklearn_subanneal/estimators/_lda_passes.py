"""The passes of a fit of VariationalTemperingLDA: reports to callbacks, the stopping rule, fitted attributes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Real

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sklearn_subanneal._core.arguments import LARGEST
from sklearn_subanneal._core.workers import n_workers
from sklearn_subanneal.annealing.reporter import ProgressReporter
from sklearn_subanneal.topics.corpus import Totals
from sklearn_subanneal.topics.similar_topics import n_twins
from sklearn_subanneal.topics.topic_learner import Passes, TopicLearner, learn_passes
from sklearn_subanneal.topics.topic_number import learned_number


def first_learner(
    estimator, totals: Totals, generator, planned: bool = True, removal: bool = False
) -> tuple[TopicLearner, Passes]:
    """The learner of an estimator for a corpus, and the passes that it is to make."""
    settings = estimator._settings()
    if settings.n_components == "learn":
        settings = replace(settings, n_components=learned_number(totals.sample, settings, generator))
    passes = settings.passes(totals, generator)
    return settings.learner(passes, totals, planned, estimator.learning_method == "batch", removal), passes


def run_passes(estimator, corpus, totals: Totals, generator, documents=None) -> None:
    """Learn in passes over the corpus, and set the fitted attributes of the estimator.

    Parameters
    ----------
    estimator : VariationalTemperingLDA
    corpus : MemoryCorpus or StreamedCorpus
    totals : Totals
        Those of the corpus.
    generator : numpy.random.Generator
    documents : csr_matrix or None
        All documents, if they are in memory.
    """
    learner, passes = first_learner(estimator, totals, generator, removal=True)
    with ProgressReporter.of_fit(estimator, documents, n_subtasks=passes.most) as fit:

        def attributes(done):
            return fitted_attributes(estimator, learner, done)

        report = PassReporter(estimator, passes.planned, attributes, fit, documents)
        tol = estimator.tol if estimator.learning_method == "batch" else 0.0
        done = learn_passes(learner, corpus, passes, report, tol)
        vars(estimator).update(attributes(done))
        learner.end_run(estimator._settings().step_size())
        vars(estimator).update(
            _learner_state=learner,
            _n_seen=corpus.n_documents,
            _n_planned=passes.planned,
            converged_=_are_apart(learner),
        )


def learn_more(estimator, corpus) -> None:
    """Learn from further documents, by the plan of the estimator, which has a learner already."""
    learner, planned = estimator._learner_state, estimator.total_samples
    learner.n_threads = n_workers(estimator.n_jobs)
    try:
        for documents in corpus.batches():
            n_seen = estimator._n_seen + documents.shape[0]
            progress = 0.0 if planned is None else min(1.0, n_seen / (planned * estimator._n_planned))
            learner.learn(documents, max(planned or n_seen, documents.shape[0]), progress)
            estimator._n_seen = n_seen
    finally:
        # After an interrupt within the step of a minibatch, totals and table agree again.
        learner.topics.recount()
        n_passes = 1 if planned is None else max(1, int(min(estimator._n_seen // planned, LARGEST)))
        vars(estimator).update(fitted_attributes(estimator, learner, n_passes))


def _are_apart(learner: TopicLearner) -> bool:
    """Whether no topic has a twin; warns otherwise."""
    n = n_twins(learner.topics.means())
    if n:
        warnings.warn(
            f"{n} of {learner.topics.n_topics} topics are nearly the same as another one. More passes may part them: a "
            "larger max_iter; or there are more topics than the documents support: a smaller n_components",
            ConvergenceWarning,
            stacklevel=4,
        )
    return n == 0


def fitted_attributes(estimator, learner: TopicLearner, n_passes: int) -> dict:
    """Attributes of the estimator after ``n_passes``."""
    prior, word_prior = learner.prior.values, learner.topics.prior
    scalar = estimator.doc_topic_prior is None or isinstance(estimator.doc_topic_prior, Real)
    return {
        "_topics": learner.topics,
        "n_components_": learner.topics.n_topics,
        "doc_topic_prior_": float(prior[0]) if scalar else prior.copy(),
        "topic_word_prior_": float(word_prior[0]) if np.ndim(estimator.topic_word_prior) == 0 else word_prior.copy(),
        "inverse_temperatures_": np.array(learner.trace),
        "n_batch_iter_": learner.n_batches,
        "n_iter_": n_passes,
    }


class PassReporter:
    """Reports each pass to callbacks and the terminal, and ends learning once the perplexity has settled.

    Parameters
    ----------
    estimator : VariationalTemperingLDA
    n_passes : int
        Planned passes.
    attributes : callable
        Called with a number of passes; the attributes (dict) of the estimator fitted by so many.
    fit : ProgressReporter
    documents : csr_matrix or None
        Documents whose perplexity is computed every ``evaluate_every`` passes; None: it is not.
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
            perplexity = estimator._fitted_model().perplexity(self.documents)
            message += f", perplexity: {perplexity:.4f}"
            # Perplexities at different temperatures cannot be compared.
            cold = record["inverse_temperature"] == 1.0
            stop = stop or (cold and self._last is not None and abs(self._last - perplexity) < estimator.perp_tol)
            self._last = perplexity if cold else None
        if estimator.verbose:
            print(message)
        return stop
