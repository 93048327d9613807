"""The passes of a fit of VariationalTemperingLDA: reports, checkpoints, the stopping rule, fitted attributes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Real

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sklearn_subanneal._core.arguments import LARGEST
from sklearn_subanneal._core.random_states import seeded_generator
from sklearn_subanneal._core.workers import n_workers
from sklearn_subanneal.annealing.continuation import table_digest
from sklearn_subanneal.annealing.reporter import ProgressReporter
from sklearn_subanneal.annealing.saved_fit import SavedFit, digest
from sklearn_subanneal.topics.corpus import Totals
from sklearn_subanneal.topics.similar_topics import n_twins
from sklearn_subanneal.topics.topic_learner import TopicLearner
from sklearn_subanneal.topics.topic_number import NumberSearch
from sklearn_subanneal.topics.topic_passes import LearningRun

# Parameters that may change between an interrupted fit and the one that resumes it.
CHANGEABLE = ("n_jobs", "verbose")
# Attributes that are known after a fit to a whole corpus only.
OF_WHOLE_FITS = ("bound_", "converged_")


def begin_stream(estimator, documents) -> None:
    """Give an estimator the learner of a stream that begins with these documents."""
    settings, generator = estimator._settings(), seeded_generator(estimator.random_state)
    totals = Totals.of_corpus(documents, settings.most_topics, estimator.total_samples)
    if settings.n_components == "learn":
        settings = replace(settings, n_components=NumberSearch(totals.sample, settings, generator).run())
    passes = settings.passes(totals, generator)
    is_planned = estimator.total_samples is not None
    # In minibatches, whatever learning_method is: batch learning would forget all documents but the last.
    learner = settings.learner(passes, totals, is_planned)
    vars(estimator).update(_learner_state=learner, _n_seen=0, _n_planned=passes.planned, _in_plan=is_planned)


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
    settings = estimator._settings()
    passes = settings.passes(totals, generator)
    saved = SavedFit.of(estimator, lambda: _identity(estimator, totals, documents))
    state, ended = saved.result(0)
    state = state or {}
    n_done = state["run"]["number"] if "run" in state else 0
    with ProgressReporter.of_fit(estimator, documents, n_subtasks=0 if ended else passes.most - n_done) as fit:
        if settings.n_components == "learn":
            number = state.get("n_components") or _learned_number(settings, totals, generator, saved, state)
            settings, passes = replace(settings, n_components=number), replace(passes, n_topics=number)
        if "run" in state:
            generator.bit_generator.state = state["start"]
        start = generator.bit_generator.state
        learner = settings.learner(passes, totals, True, estimator.learning_method == "batch", removal=True)

        def attributes(done):
            return fitted_attributes(estimator, learner, done)

        def save(perplexity, stopped=False, ended_at=None):
            def present():
                own = {"start": start, "n_components": n_components, "perplexity": perplexity}
                return own | {"run": run.get_state(stopped)}

            saved.offer(0, present, ended_at)

        n_components = settings.n_components
        report = PassReporter(estimator, passes.planned, attributes, fit, documents, save, state.get("perplexity"))
        tol = estimator.tol if estimator.learning_method == "batch" else 0.0
        run = LearningRun(learner, corpus, passes, report, tol)
        if "run" in state:
            run.set_state(state["run"])
        if not ended:
            run.run()
            save(None, ended_at=passes.most)
        vars(estimator).update(attributes(run.number))
        learner.end_run(estimator._settings().step_size())
        vars(estimator).update(
            _learner_state=learner,
            _n_seen=corpus.n_documents,
            _n_planned=passes.planned,
            _in_plan=False,
            converged_=_are_apart(learner),
        )


def _learned_number(settings, totals, generator, saved: SavedFit, state: dict) -> int:
    """The number of topics, by fits that are saved one by one."""
    if state:
        # The words that are held out are drawn anew, and have to be the same.
        generator.bit_generator.state = state["start"]
    start = generator.bit_generator.state
    search = NumberSearch(totals.sample, settings, generator)
    if state:
        search.set_state(state["search"])
    return search.run(lambda: saved.offer(0, lambda: {"start": start, "search": search.get_state()}))


def _identity(estimator, totals: Totals, documents) -> dict[str, str]:
    """Digests of parameters and documents; of a stream, of what is known of it before the first pass."""
    own = estimator.get_params(deep=False)
    identity = {name: digest(value) for name, value in own.items() if name not in CHANGEABLE}
    n_documents, counts = (None, []) if documents is not None else (totals.n_documents, [totals.word_counts])
    some = totals.sample if documents is None else documents
    arrays = [np.array(some.shape), some.data, some.indices, some.indptr, *counts]
    return identity | {"X": table_digest([n_documents, *getattr(estimator, "feature_names_in_", ())], arrays)}


def learn_more(estimator, corpus) -> None:
    """Learn from further documents, by the plan of the estimator, which has a learner already."""
    learner, planned = estimator._learner_state, estimator.total_samples
    learner.n_threads = n_workers(estimator.n_jobs)
    # From its first minibatch on, topics stand for all documents of a call.
    learner.corpus.wanted = estimator._n_seen + corpus.n_documents if planned is None else None
    try:
        for documents in corpus.batches():
            n_seen = estimator._n_seen + documents.shape[0]
            progress = 0.0 if planned is None else min(1.0, n_seen / (planned * estimator._n_planned))
            learner.learn(documents, documents.shape[0] / max(planned or n_seen, documents.shape[0]), progress)
            estimator._n_seen = n_seen
    finally:
        # After an interrupt within the step of a minibatch, totals and table agree again.
        learner.topics.recount()
        n_passes = getattr(estimator, "n_iter_", 0) + 1
        if planned is not None and getattr(estimator, "_in_plan", True):
            n_passes = max(1, int(min(estimator._n_seen // planned, LARGEST)))
        vars(estimator).update(fitted_attributes(estimator, learner, n_passes))
        for name in OF_WHOLE_FITS:
            vars(estimator).pop(name, None)


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
    """Reports each pass to callbacks and the terminal, saves it, and ends learning once the perplexity has settled.

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
    save : callable
        Called with the last perplexity, and whether the perplexity has settled.
    last : float or None
        The last perplexity, of a fit that is resumed.
    """

    def __init__(
        self, estimator, n_passes: int, attributes: Callable, fit: ProgressReporter, documents, save: Callable, last
    ):
        self.estimator = estimator
        self.n_passes = n_passes
        self.attributes = attributes
        self.fit = fit
        self.documents = documents
        self.save = save
        self._last = last

    def __call__(self, record: dict) -> bool:
        """Report the pass of this record; True if it is to be the last."""
        estimator, done = self.estimator, record["sweep"]
        stop, settled = self.fit.step(record, lambda: self.attributes(done), name="pass"), False
        message = f"iteration: {done} of max_iter: {self.n_passes}, E[1/T]: {record['inverse_temperature']:.4f}"
        every = estimator.evaluate_every
        if self.documents is not None and every > 0 and done % every == 0:
            vars(estimator).update(self.attributes(done))
            perplexity = estimator._fitted_model().perplexity(self.documents)
            message += f", perplexity: {perplexity:.4f}"
            # Perplexities at different temperatures cannot be compared.
            cold = record["inverse_temperature"] == 1.0
            settled = cold and self._last is not None and bool(abs(self._last - perplexity) < estimator.perp_tol)
            self._last = perplexity if cold else None
        self.save(self._last, settled)
        if estimator.verbose:
            print(message)
        return stop or settled
