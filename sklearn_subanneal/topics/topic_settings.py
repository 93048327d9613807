"""TopicSettings: priors, temperature and step sizes of a topic model with their defaults, and the learner they give."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr

from sklearn_subanneal._core.arguments import shortened
from sklearn_subanneal.topics.corpus import Totals
from sklearn_subanneal.topics.document_groups import DocumentGroups
from sklearn_subanneal.topics.document_prior import DocumentPrior
from sklearn_subanneal.topics.growing_corpus import GrowingCorpus
from sklearn_subanneal.topics.local_temperatures import LocalTemperatures
from sklearn_subanneal.topics.partition_function import (
    log_partition,
    log_partition_as_printed,
    log_partition_at_frequencies,
    prior_of_entropy,
)
from sklearn_subanneal.topics.topic_learner import TopicLearner
from sklearn_subanneal.topics.topic_passes import Passes
from sklearn_subanneal.topics.word_statistics import Topics
from sklearn_subanneal.variational import (
    ConstantStep,
    CoolingSchedule,
    FixedTemperature,
    GlobalTemperature,
    LinearCooling,
    PassFraction,
    RobbinsMonro,
    ScheduledTemperature,
    StepSize,
    TemperatureVariable,
    exponential_temperatures,
)
from sklearn_subanneal.variational.validation import checked_temperatures

TEMPERINGS = ("annealed", "global", "local", "none", "global-paper", "local-paper")
# The prior of a topic weighs as much as this share of its tokens, on average over topics, but each word has this least
# and most weight. With a smaller prior topics are sharper than those that documents come from, and differ more between
# seeds; with a larger one topics of few documents become alike.
WORD_PRIOR_SHARE, LEAST_WORD_PRIOR, MOST_WORD_PRIOR = 0.03, 0.02, 0.1
# Documents with fewer tokens need a hotter start.
SHORT_DOCUMENT = 100.0
# Nats by which the entropy of a token under the prior of the partition function exceeds that of the corpus.
ENTROPY_MARGIN = 0.1
# Mean change of gamma a topic below which a document of a minibatch is fitted.
LEARNING_TOL = 1e-3
# Dirichlet priors out of this range are not representable in single precision.
PRIOR_RANGE = (1e-10, 1e10)


class DefaultTemperatures(NamedTuple):
    """Defaults of inferred temperatures, which depend on the length of the documents.

    ``highest`` inferred temperature, and the step size ``passes`` of q(y), smaller than that of the topics, since the
    temperature must not fall before topics have formed.
    """

    highest: float
    passes: PassFraction


# Passes by default: so many divided by the square root of the number of documents, within limits; more if documents
# have more tokens than the length given. And at most so many more, where topics have twins.
PASSES, FEWEST_PASSES, MOST_PASSES = 700.0, 8, 20
LONG_DOCUMENT = 300.0
# In fewer passes steps are larger, so that topics forget their start, and the temperature is lower.
ENOUGH_PASSES = 5
# Of a stream without a known end: nearly the share of the documents so far. Those of earlier ones are not scaled up
# as the stream grows, so that a document counts in proportion to the number of those before it. The words of other
# documents are predicted worse by 0.03 to 0.1 nats if all count the same: the first ones were fitted to poor topics.
OF_STREAM = PassFraction(1.0, 1.0)
# So the topics of a stream rest on about half of its tokens, and their default prior is so many times as large: words
# are predicted worse by 0.01 to 0.03 nats without.
PRIOR_OF_STREAM = 2.0
MORE_PASSES = 9


# Share of the words of its own documents in a topic at the start, if there are so many documents, and tokens in them,
# for each topic; with fewer, their words tell less of others.
OWN_WORDS, ENOUGH_DOCUMENTS, ENOUGH_TOKENS = 0.6, 30.0, 6000.0


def own_words(documents_a_topic: float, tokens_a_topic: float) -> float:
    """Share of the words of its own documents in a topic at the start."""
    return OWN_WORDS * min(documents_a_topic / ENOUGH_DOCUMENTS, tokens_a_topic / ENOUGH_TOKENS, 1.0)


# Topics at the start for each one wanted; those that are missed least are removed later. Components of the documents
# also show what repeats in a few of them alone.
FIRST_TOPICS, MOST_FURTHER = 1.2, 25


def default_passes(n_documents: float, n_tokens: float) -> int:
    """Passes over the documents, which have so many tokens on average: more if they are few, or long."""
    longer = max(n_tokens / LONG_DOCUMENT, 1.0) ** 0.5
    return int(np.clip(round(PASSES / n_documents**0.5 * longer), FEWEST_PASSES, MOST_PASSES))


def default_batch_size(n_documents: int) -> int:
    """Documents in a minibatch: 2 % of all, from 64 to 512."""
    return int(np.clip(n_documents // 50, 64, 512))


def default_word_prior(n_tokens: float | None, n_topics: int, n_words: int) -> float:
    """Parameter eta of the Dirichlet prior of topics, for each word; None: the number of tokens is not known."""
    prior = 1.0 / n_topics if n_tokens is None else WORD_PRIOR_SHARE * n_tokens / (n_topics * n_words)
    return float(np.clip(prior, LEAST_WORD_PRIOR, MOST_WORD_PRIOR))


# From 2 on topics of short documents may merge into one and stay so.
SHORT = DefaultTemperatures(2.5, PassFraction(0.4, 0.1))
LONG = DefaultTemperatures(1.6, PassFraction(0.6, 0.15))
# Annealing starts at these temperatures if documents have so many tokens on average, and between them otherwise. Long
# documents have most of their topics at a higher temperature already, and need passes at T = 1 to tell them apart.
START_OF_SHORT, START_OF_LONG = (50.0, 2.0), (1000.0, 1.2)
# T falls to 1 in this share of the passes, but in three to five of them: topics that stay hot for long merge. In short
# runs and in batch learning, where topics change once a pass, it falls in half of the passes.
COOLING_SHARE, FEWEST_HOT, MOST_HOT, LARGEST_SHARE = 0.4, 3, 5, 0.5


def default_cooling(n_tokens: float, n_passes: int, batch: bool = False) -> LinearCooling:
    """The schedule of an annealed run of so many passes, for documents of so many tokens on average."""
    (few, hot), (many, mild) = START_OF_SHORT, START_OF_LONG
    start = np.interp(np.log(max(n_tokens, 1.0)), np.log([few, many]), [hot, mild])
    start = 1.0 + (start - 1.0) * min((n_passes + 2) / (ENOUGH_PASSES + 2), 1.0)
    share = np.clip(COOLING_SHARE, FEWEST_HOT / n_passes, MOST_HOT / n_passes)
    return LinearCooling(float(start), LARGEST_SHARE if batch else min(float(share), LARGEST_SHARE))


# With the equations as printed q(y) does not cool from here.
HIGHEST_PRINTED = 10.0


@dataclass(frozen=True)
class TopicSettings:
    """Parameters of a topic model, with the names and meanings of those of the estimator.

    Attributes
    ----------
    n_components : int or "learn"
    max_components : int
    tempering : one of TEMPERINGS
    temperature_schedule : CoolingSchedule or None
    temperatures : array-like of float or None
    init : {"documents", "random"}
    topic_update : {"plug-in", "variational"}
    doc_topic_prior : float, array-like of shape (n_components,), "learn" or None
    topic_word_prior : float, array-like of shape (n_words,) or None
    partition_function_prior : float, "frequencies" or None
    learning_decay, learning_offset : float or None
    max_iter, max_doc_update_iter : int or None
    mean_change_tol : float or None
    n_threads : int
    """

    n_components: int | str
    max_components: int
    tempering: str
    temperature_schedule: CoolingSchedule | None
    temperatures: ArrayLike | None
    init: str
    topic_update: str
    doc_topic_prior: float | ArrayLike | str | None
    topic_word_prior: float | ArrayLike | None
    partition_function_prior: float | str | None
    learning_decay: float | None
    learning_offset: float | None
    max_iter: int | None
    max_doc_update_iter: int | None
    mean_change_tol: float | None
    n_threads: int

    @classmethod
    def parameters(cls) -> list[str]:
        """Names of the parameters of the estimator: all fields but ``n_threads``."""
        return [field.name for field in fields(cls) if field.name != "n_threads"]

    def passes(self, totals: Totals, generator) -> Passes:
        """The passes over a corpus: ``max_iter``, or as many as it needs."""
        documents = DocumentGroups(totals.sample) if self.init == "documents" else None
        planned = self.max_iter or default_passes(totals.n_documents, totals.mean_length)
        most = planned + (MORE_PASSES if self.max_iter is None else 0)
        wanted = None if self.n_components == "learn" else self.n_components
        return Passes(planned, most, wanted, documents, generator)

    @property
    def most_topics(self) -> int:
        """The number of topics, or the most if it is learned."""
        return self.max_components if self.n_components == "learn" else self.n_components

    def learner(
        self, passes: Passes, totals: Totals, planned: bool = True, batch: bool = False, removal: bool = False
    ) -> TopicLearner:
        """The learner before its first minibatch.

        Parameters
        ----------
        passes : Passes
            As of :meth:`passes`; topics start from its documents.
        totals : Totals
            The type of its sample is that of all computations.
        planned : bool, default=True
            Whether learning ends after the planned passes.
        batch : bool, default=False
            Whether topics are replaced by their optimum at each step.
        removal : bool, default=False
            Whether topics may be removed, so that more of them start.

        Raises
        ------
        ValueError
            If priors, temperatures or the schedule are not as described.
        """
        generator, n_passes = passes.generator, passes.planned if planned else None
        n_documents, word_counts, sample = totals
        n_words = len(word_counts)
        learned = isinstance(self.doc_topic_prior, str)
        doc_prior = None if learned else self.doc_topic_prior
        n_topics = self._n_first_topics(passes) if removal else self.most_topics
        divided = self.doc_topic_prior is None
        doc_prior = self._prior("doc_topic_prior", doc_prior, self.most_topics)
        word_prior = self.topic_word_prior
        if word_prior is None:
            word_prior = default_word_prior(word_counts.sum() if planned else None, self.most_topics, n_words)
            word_prior *= 1.0 if planned else PRIOR_OF_STREAM
        word_prior = self._prior("topic_word_prior", word_prior, n_words)
        defaults = SHORT if word_counts.sum() < SHORT_DOCUMENT * n_documents else LONG
        cooling = self.temperature_schedule or default_cooling(totals.mean_length, n_passes or 1, batch)
        temperature, energy = self._temperature(
            defaults, cooling, doc_prior, word_prior, n_documents, word_counts, generator, n_passes
        )
        step_size = self.step_size(n_passes)
        groups = passes.documents and passes.documents.word_counts(n_topics)
        equal = groups is None
        if equal:
            start = np.ones((n_words, n_topics))
        else:
            own = own_words(sample.shape[0] / n_topics, float(sample.sum()) / n_topics)
            start = Topics.apart(groups, word_counts.sum(), own)
        topics = Topics.start(start, word_prior, self.topic_update, sample.dtype, generator)
        return TopicLearner(
            topics=topics,
            prior=DocumentPrior(
                np.resize(doc_prior, n_topics) * (self.most_topics / n_topics if divided else 1.0),
                learned=learned,
                start=0.0 if n_passes is None else 0.5,
                divided=divided,
            ),
            temperature=temperature,
            step_size=ConstantStep() if batch else step_size,
            temperature_step=defaults.passes if isinstance(step_size, PassFraction) else step_size,
            max_iter=self.max_doc_update_iter or (100 if batch else 15),
            tol=LEARNING_TOL if self.mean_change_tol is None else self.mean_change_tol,
            n_threads=self.n_threads,
            energy_of=energy,
            corpus=GrowingCorpus(n_documents, n_documents),
        )

    def _n_first_topics(self, passes: Passes) -> int:
        """Topics to start with: more than are wanted, if they start from documents and some can be removed in time."""
        few = passes.documents is None or passes.planned < FEWEST_PASSES or np.ndim(self.doc_topic_prior) > 0
        if few or self.tempering not in ("annealed", "none") or self.n_components in (1, "learn"):
            return self.most_topics
        return min(int(np.ceil(FIRST_TOPICS * self.n_components)), self.n_components + MOST_FURTHER)

    def step_size(self, n_passes: int | None = None) -> StepSize:
        """Step size of minibatches, in a run of so many planned passes; None: its end is not known."""
        if self.learning_decay is None and self.learning_offset is None:
            if n_passes is None:
                return OF_STREAM
            steps, faster = PassFraction(), max(ENOUGH_PASSES / n_passes, 1.0)
            return PassFraction(steps.first * faster, steps.last * faster)
        offset = 1024.0 if self.learning_offset is None else self.learning_offset
        return RobbinsMonro(offset, 0.7 if self.learning_decay is None else self.learning_decay)

    def _prior(self, name, value, size) -> NDArray:
        """A Dirichlet parameter for each topic, or each word."""
        value = 1.0 / self.most_topics if value is None else value
        try:
            values = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            values = np.full(size, np.nan)
        if values.ndim == 0:
            values = np.full(size, float(values))
        if values.shape != (size,) or not ((values >= PRIOR_RANGE[0]) & (values <= PRIOR_RANGE[1])).all():
            low, high = PRIOR_RANGE
            raise ValueError(
                f"{name} must be a number from {low:g} to {high:g}, or one for each of {size}, got {shortened(value)}"
            )
        return values

    def _temperature(
        self, defaults, cooling, doc_prior, word_prior, n_documents, word_counts, generator, n_passes
    ) -> tuple[TemperatureVariable, str | None]:
        """The temperature of a run, and the energy from which it is inferred."""
        n_words, n_tokens = len(word_counts), max(word_counts.sum(), 1.0)
        if self.tempering == "none":
            return FixedTemperature(), None
        if self.tempering == "annealed":
            temperature = ScheduledTemperature(cooling)
            return (FixedTemperature() if n_passes is None else temperature), None
        grid = self._grid(defaults)
        if self.tempering == "local-paper":
            return LocalTemperatures(grid, np.zeros(len(grid)), paper=True), "joint"
        if self.tempering == "global-paper":
            log_c = log_partition_as_printed(grid, n_words, doc_prior, word_prior, n_documents, n_tokens, generator)
            return GlobalTemperature(grid, log_c, n_tokens, paper=True), "joint"
        reference = self.partition_function_prior
        if reference is None:
            entropy = float(entr(word_counts / n_tokens).sum())
            reference = prior_of_entropy(entropy + ENTROPY_MARGIN, n_words, doc_prior)
        if reference == "frequencies":
            log_c = log_partition_at_frequencies(grid, word_counts)
        else:
            log_c = log_partition(grid, n_words, doc_prior, reference)
        if self.tempering == "global":
            return GlobalTemperature(grid, log_c, n_tokens), "collapsed"
        return LocalTemperatures(grid, log_c), "collapsed"

    def _grid(self, defaults) -> NDArray:
        if self.temperatures is None:
            return exponential_temperatures(HIGHEST_PRINTED if self.tempering.endswith("paper") else defaults.highest)
        return checked_temperatures(self.temperatures)
