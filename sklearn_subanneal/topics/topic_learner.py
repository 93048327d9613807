"""TopicLearner, stochastic variational inference of topics: the update by a minibatch, and changes of their number."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_subanneal.topics.document_groups import DocumentGroups
from sklearn_subanneal.topics.document_prior import DocumentPrior
from sklearn_subanneal.topics.local_step import LocalStep, collapsed_energies, expected_joints, local_step
from sklearn_subanneal.topics.local_temperatures import LocalTemperatures
from sklearn_subanneal.topics.remote_documents import RemoteDocuments
from sklearn_subanneal.topics.similar_topics import twin_pairs
from sklearn_subanneal.topics.topic_removal import topics_to_remove, unsupported_topics
from sklearn_subanneal.topics.topic_scores import document_lengths
from sklearn_subanneal.topics.word_statistics import Topics
from sklearn_subanneal.variational import StepSize, TemperatureVariable

# Topics that take the place of twins have at first this share of the words of some documents.
OWN_WORDS_OF_NEW = 0.9


@dataclass
class TopicLearner:
    """State of stochastic variational inference of topics, updated by one minibatch after another.

    Attributes
    ----------
    topics : Topics
    prior : DocumentPrior
    temperature : TemperatureVariable
    step_size : StepSize
        Step sizes of the topics.
    temperature_step : StepSize
        Step sizes of q(y), the factor of an inferred temperature.
    max_iter, tol : int, float
        Limits of the local step: iterations, and mean change of gamma.
    n_threads : int
    energy : {"collapsed", "joint"} or None
        The energy from which the temperature is inferred; None: it is not inferred.
    n_batches : int
        Number of minibatches so far.
    trace : list
        E[1/T] of each minibatch; with local temperatures its quantiles 0.05, 0.5, 0.95 over documents.
    """

    topics: Topics
    prior: DocumentPrior
    temperature: TemperatureVariable
    step_size: StepSize
    temperature_step: StepSize
    max_iter: int = 15
    tol: float = 1e-3
    n_threads: int = 1
    energy: str | None = None
    n_batches: int = 0
    trace: list = field(default_factory=list)
    _last: tuple = (None, None)

    def learn(self, documents: sparse.csr_matrix | RemoteDocuments, n_documents: float, progress: float) -> None:
        """Learn from a minibatch of a corpus of ``n_documents``, at ``progress`` in [0, 1]."""
        share = documents.shape[0] / n_documents
        size = self.step_size.checked_step(self.n_batches, progress, share)
        temperature_step = self.temperature_step.checked_step(self.n_batches, progress, share)
        rho = self.temperature.update(progress, *self._last)
        options = {"max_iter": self.max_iter, "tol": self.tol, "n_threads": self.n_threads}
        prior = self.prior.values
        is_remote = isinstance(documents, RemoteDocuments)
        lengths = documents.lengths if is_remote else document_lengths(documents)
        if is_remote:
            # The temperature is not inferred then.
            step = documents.local_step(self.topics, prior, rho, self.prior.learned, **options)
            self.trace.append(rho)
        elif isinstance(self.temperature, LocalTemperatures):
            first = local_step(documents, self.topics, prior, rho, **options)
            rho = self.temperature.of_documents(self._energies(first, rho), lengths, temperature_step)
            step = local_step(documents, self.topics, prior, rho, gamma=first.gamma, statistics=True, **options)
            self.trace.append(np.quantile(rho, [0.05, 0.5, 0.95]))
        else:
            step = local_step(documents, self.topics, prior, rho, statistics=True, **options)
            self.trace.append(rho)
            n_tokens = lengths.sum()
            if self.energy is not None and n_tokens > 0:
                self._last = (self._energies(step, rho).sum() / n_tokens, temperature_step)
        self.prior.update(step.gamma, lengths, rho, progress, size)
        self.topics.blend(step.words, step.statistics, size, 1.0 / share, self.n_threads)
        self.n_batches += 1

    def part_twins(self, documents: DocumentGroups, generator: np.random.Generator, threshold: float) -> None:
        """Merge pairs of topics that are nearly the same; one of each starts anew from documents far from all."""
        topics = self.topics.means()
        pairs = twin_pairs(topics, threshold)
        if len(pairs):
            counts = documents.more_word_counts(np.delete(topics, pairs[:, 1], axis=0), len(pairs), generator)
            self.topics.part(pairs, counts, OWN_WORDS_OF_NEW)

    def remove_topics(self, documents: DocumentGroups, n_topics: int) -> None:
        """Remove topics, those first that are missed least, until there are ``n_topics``."""
        while self.topics.n_topics > n_topics:
            too_many = self.topics.n_topics - n_topics
            self._remove(topics_to_remove(self.topics, documents.documents, self.prior.values, too_many))

    def remove_unsupported(self, documents: DocumentGroups) -> bool:
        """Remove some of the topics that documents do not support; whether there were any."""
        removed = unsupported_topics(self.topics, documents.documents, self.prior.values)
        if len(removed):
            self._remove(removed)
        return len(removed) > 0

    def _remove(self, removed: NDArray) -> None:
        self.prior.keep(np.delete(np.arange(self.topics.n_topics), removed))
        self.topics = self.topics.without(removed)

    def end_run(self, step_size: StepSize) -> None:
        """Prepare for learning after a planned run: at T = 1 if it was annealed, by minibatches with ``step_size``."""
        self.temperature = self.temperature.after_run()
        self.step_size = step_size

    def get_state(self) -> dict:
        """All that learning changes, as arrays and numbers."""
        return {
            "topics": self.topics.get_state(),
            "prior": self.prior.values,
            "temperature": self.temperature.get_state(),
            "n_batches": self.n_batches,
            "trace": np.array(self.trace),
            "last": self._last,
        }

    def set_state(self, state: dict) -> None:
        """Restore what ``get_state`` gave, of a learner with the same settings."""
        self.topics = self.topics.with_state(state["topics"])
        self.prior.values = state["prior"]
        self.temperature.set_state(state["temperature"])
        self.n_batches, self.trace, self._last = state["n_batches"], list(state["trace"]), state["last"]

    def _energies(self, step: LocalStep, rho):
        if self.energy == "joint":
            return expected_joints(step, self.topics, rho, self.n_threads)
        return collapsed_energies(step, self.topics, self.n_threads)
