"""TopicLearner, stochastic variational inference of topics: the update by a minibatch, and changes of their number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_subanneal.topics.document_groups import DocumentGroups
from sklearn_subanneal.topics.document_prior import DocumentPrior
from sklearn_subanneal.topics.growing_corpus import GrowingCorpus
from sklearn_subanneal.topics.local_step import LocalStep, collapsed_energies, expected_joints, local_step
from sklearn_subanneal.topics.local_temperatures import LocalTemperatures
from sklearn_subanneal.topics.remote_documents import RemoteDocuments
from sklearn_subanneal.topics.topic_removal import topics_to_remove, unsupported_topics
from sklearn_subanneal.topics.topic_revision import mixed_topics, words_of_missing
from sklearn_subanneal.topics.topic_scores import document_lengths
from sklearn_subanneal.topics.word_statistics import Topics
from sklearn_subanneal.variational import Minibatch, StepSize, TemperedLearner

# Topics that take the place of others have at first this share of the words of some documents.
OWN_WORDS_OF_NEW = 0.9


class FittedDocuments(NamedTuple):
    """The local step of a minibatch, E[1/T] of each document or of all, and the lengths of the documents."""

    step: LocalStep
    inverse_temperature: float | NDArray
    lengths: NDArray


@dataclass
class TopicLearner(TemperedLearner):
    """State of stochastic variational inference of topics, updated by one minibatch after another.

    Further arguments, by name, are those of :class:`~sklearn_subanneal.variational.TemperedLearner`.

    Attributes
    ----------
    topics : Topics
    prior : DocumentPrior
    max_iter, tol : int, float
        Limits of the local step: iterations, and mean change of gamma.
    n_threads : int
    energy_of : {"collapsed", "joint"} or None
        The likelihood from which the temperature is inferred; None: it is not inferred.
    trace : list
        E[1/T] of each minibatch; with local temperatures its quantiles 0.05, 0.5, 0.95 over documents.
    corpus : GrowingCorpus
        Counts the documents that the topics stand for.
    """

    topics: Topics
    prior: DocumentPrior
    max_iter: int = 15
    tol: float = 1e-3
    n_threads: int = 1
    energy_of: str | None = None
    trace: list = field(default_factory=list)
    corpus: GrowingCorpus = field(default_factory=lambda: GrowingCorpus(1.0, 1.0))

    def local_step(self, batch: Minibatch, inverse_temperature: float) -> FittedDocuments:
        """Fit the documents of a minibatch: in memory, on a remote worker, or each at its own temperature."""
        documents, rho, prior = batch.rows, inverse_temperature, self.prior.values
        options = {"max_iter": self.max_iter, "tol": self.tol, "n_threads": self.n_threads}
        if isinstance(documents, RemoteDocuments):
            # The temperature is not inferred then.
            step = documents.local_step(self.topics, prior, rho, self.prior.learned, **options)
            self.trace.append(rho)
            return FittedDocuments(step, rho, documents.lengths)
        lengths, first = document_lengths(documents), None
        if isinstance(self.temperature, LocalTemperatures):
            first = local_step(documents, self.topics, prior, rho, **options)
            rho = self.temperature.of_documents(self._energies(first, rho), lengths, batch.temperature_step)
        step = local_step(
            documents, self.topics, prior, rho, gamma=None if first is None else first.gamma, statistics=True, **options
        )
        self.trace.append(rho if first is None else np.quantile(rho, [0.05, 0.5, 0.95]))
        return FittedDocuments(step, rho, lengths)

    def energy(self, batch: Minibatch, found: FittedDocuments) -> float | None:
        """Log-likelihood of a token; None without tokens, and with a temperature for each document."""
        n_tokens = found.lengths.sum()
        if isinstance(self.temperature, LocalTemperatures) or n_tokens == 0:
            return None
        return self._energies(found.step, found.inverse_temperature).sum() / n_tokens

    def blend(self, batch: Minibatch, found: FittedDocuments) -> None:
        """Take a step of the topics, and of a prior of documents that is learned."""
        step = found.step
        self.prior.update(step.gamma, found.lengths, found.inverse_temperature, batch.progress, batch.step)
        share, growth, ratio = self.corpus.blend(batch.step, 1.0 / batch.share, len(found.lengths))
        self.topics.blend(step.words, step.statistics, share, ratio, self.n_threads, growth)

    def part_twins(self, documents: DocumentGroups, generator: np.random.Generator, pairs: NDArray) -> None:
        """Merge pairs of topics (n_pairs, 2); one of each starts anew, from documents that no topic explains."""
        others = np.delete(self.topics.means(), pairs[:, 1], axis=0)
        counts = documents.more_word_counts(others, len(pairs), generator)
        missing = words_of_missing(self.topics, documents.documents, self.prior.values, generator)
        if missing is not None:
            counts = sparse.vstack([missing[None], counts[1:]], format="csr")
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

    def halve_mixed(self, documents: DocumentGroups, generator: np.random.Generator) -> bool:
        """Make two topics of each that is a mixture of several; whether there are any."""
        mixed, shares = mixed_topics(self.topics, documents.documents, self.prior.values, generator)
        if len(mixed):
            self.prior.halve(mixed)
            self.topics = self.topics.halved(mixed, shares)
        return len(mixed) > 0

    def _remove(self, removed: NDArray) -> None:
        self.prior.keep(np.delete(np.arange(self.topics.n_topics), removed))
        self.topics = self.topics.without(removed)

    def end_run(self, step_size: StepSize) -> None:
        """Prepare for learning after a planned run: at T = 1 if it was annealed, by minibatches with ``step_size``."""
        self.temperature = self.temperature.after_run()
        self.step_size = step_size

    def get_state(self) -> dict:
        """All that learning changes, as arrays and numbers."""
        own = {"topics": self.topics.get_state(), "prior": self.prior.values, "trace": np.array(self.trace)}
        return super().get_state() | own | {"corpus": vars(self.corpus).copy()}

    def set_state(self, state: dict) -> None:
        """Restore what ``get_state`` gave, of a learner with the same settings."""
        super().set_state(state)
        self.topics = self.topics.with_state(state["topics"])
        self.prior.values, self.trace = state["prior"], list(state["trace"])
        self.corpus = GrowingCorpus(**state["corpus"])

    def _energies(self, step: LocalStep, rho):
        if self.energy_of == "joint":
            return expected_joints(step, self.topics, rho, self.n_threads)
        return collapsed_energies(step, self.topics, self.n_threads)
