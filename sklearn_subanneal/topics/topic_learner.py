"""TopicLearner, stochastic variational inference of topics: the update by a minibatch, and passes over a corpus."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_subanneal.topics.document_groups import DocumentGroups
from sklearn_subanneal.topics.document_prior import DocumentPrior
from sklearn_subanneal.topics.local_step import LocalStep, collapsed_energies, expected_joints, local_step
from sklearn_subanneal.topics.local_temperatures import LocalTemperatures
from sklearn_subanneal.topics.similar_topics import TWIN_AFFINITY, n_twins, twin_pairs
from sklearn_subanneal.topics.topic_removal import topics_to_remove, unsupported_topics
from sklearn_subanneal.topics.topic_scores import document_lengths
from sklearn_subanneal.topics.word_statistics import Topics
from sklearn_subanneal.variational import StepSize, TemperatureVariable

# Topics that take the place of twins have so many passes, and at first this share of the words of some documents.
PASSES_OF_NEW, OWN_WORDS_OF_NEW = 3, 0.9
# Topics of which there are more than wanted at first are removed after so many passes, and so many must follow.
REMOVING_PASSES, PASSES_OF_REST = 3, 3
# Topics with a larger affinity at T = 1 do not part by themselves.
SAME = 0.85


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

    def learn(self, documents: sparse.csr_matrix, n_documents: float, progress: float) -> None:
        """Learn from a minibatch of a corpus of ``n_documents``, at ``progress`` in [0, 1]."""
        share = documents.shape[0] / n_documents
        size = self.step_size.checked_step(self.n_batches, progress, share)
        temperature_step = self.temperature_step.checked_step(self.n_batches, progress, share)
        rho = self.temperature.update(progress, *self._last)
        options = {"max_iter": self.max_iter, "tol": self.tol, "n_threads": self.n_threads}
        prior = self.prior.values
        lengths = document_lengths(documents)
        if isinstance(self.temperature, LocalTemperatures):
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

    def _energies(self, step: LocalStep, rho):
        if self.energy == "joint":
            return expected_joints(step, self.topics, rho, self.n_threads)
        return collapsed_energies(step, self.topics, self.n_threads)


@dataclass(frozen=True)
class Passes:
    """Planned passes over a corpus, and those at most if topics have twins then.

    ``documents`` are those from which topics start, by ``generator``, and start anew where they were twins; None: they
    do not. If there are more than ``n_topics`` at first, some are removed at T = 1; None: as many as documents do not
    support.
    """

    planned: int
    most: int
    n_topics: int | None
    documents: DocumentGroups | None
    generator: np.random.Generator


class Removals:
    """Removes topics after some of the passes, so that others can take over their words in between."""

    def __init__(self, learner: TopicLearner, passes: Passes):
        self.learner = learner
        self.passes = passes
        if passes.n_topics is not None:
            self._a_pass = -(-(learner.topics.n_topics - passes.n_topics) // REMOVING_PASSES)

    def after_pass(self, number: int, cold: bool) -> bool:
        """Remove topics after a pass if it is time; whether there were more than wanted, or than are supported."""
        n_topics, wanted = self.learner.topics.n_topics, self.passes.n_topics
        if wanted is None:
            return cold and self.learner.remove_unsupported(self.passes.documents)
        if n_topics == wanted:
            return False
        if number >= self.passes.planned - PASSES_OF_REST:
            self.complete()
        elif cold:
            self.learner.remove_topics(self.passes.documents, max(n_topics - self._a_pass, wanted))
        return True

    def complete(self) -> None:
        """Remove all that are too many, if it is known how many are wanted."""
        if self.passes.documents is not None and self.passes.n_topics is not None:
            self.learner.remove_topics(self.passes.documents, self.passes.n_topics)


def learn_passes(
    learner: TopicLearner, corpus, passes: Passes, report: Callable[[dict], bool], tol: float = 0.0
) -> int:
    """Learn from the corpus in passes over its documents.

    At T = 1 topics of which there are too many are removed, and those that are nearly the same are parted, as long as
    passes are left in which new ones are learned.

    Parameters
    ----------
    learner : TopicLearner
    corpus : MemoryCorpus or StreamedCorpus
    passes : Passes
    report : callable
        Called after each pass with a record of it; a True result ends the run.
    tol : float, default=0.0
        The run ends once T = 1 and a pass moves less than this share of the tokens to other topics.

    Returns
    -------
    n_passes : int
        Number of passes made.
    """
    start = perf_counter()
    removals = Removals(learner, passes)
    done, total = 0, passes.planned * corpus.n_documents
    number, last = 0, passes.planned
    while number < last:
        number += 1
        before = learner.topics.shares() if tol > 0.0 else None
        for documents in corpus.batches():
            n = documents.shape[0]
            learner.learn(documents, corpus.n_documents, min(done / (total - n), 1.0) if total > n else 1.0)
            done += n
        cold = np.min(learner.trace[-1]) == 1.0
        record = {
            "chain": 0,
            "sweep": number,
            "seconds": perf_counter() - start,
            "progress": 1.0 if cold else min(number / passes.planned, 1.0),
            "inverse_temperature": float(np.mean(learner.trace[-1])),
        }
        if report(record):
            removals.complete()
            return number
        if removals.after_pass(number, cold):
            last = min(max(last, number + PASSES_OF_REST), passes.most)
            continue
        if cold and tol > 0.0 and 0.5 * np.abs(learner.topics.shares() - before).sum() < tol:
            return number
        if not cold or passes.documents is None or number + PASSES_OF_NEW > passes.most:
            continue
        if number == passes.planned - PASSES_OF_NEW:
            learner.part_twins(passes.documents, passes.generator, SAME)
        elif number == last and n_twins(learner.topics.means()):
            # Topics may be on their way apart; if not, they are parted.
            if number > passes.planned:
                learner.part_twins(passes.documents, passes.generator, TWIN_AFFINITY)
            last += PASSES_OF_NEW
    return number
