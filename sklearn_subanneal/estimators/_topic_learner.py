"""How a topic model's parameters become what learns: priors, temperature and steps; and the reading of chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import entr
from sklearn.utils.validation import _num_samples

from sklearn_subanneal.estimators._topics import read_documents
from sklearn_subanneal.topics.inference import DocumentPrior, Learner, WholeStep, count_words
from sklearn_subanneal.topics.partition import log_partition, log_partition_as_printed, prior_of_entropy
from sklearn_subanneal.topics.temperatures import LocalTemperatures
from sklearn_subanneal.topics.topics import Topics
from sklearn_subanneal.variational import (
    Cooling,
    Fixed,
    GlobalTemperature,
    LinearCooling,
    PassFraction,
    RobbinsMonro,
    exponential_temperatures,
)
from sklearn_subanneal.variational.temperature import checked_temperatures

# Documents shorter than this need a hotter start.
SHORT_DOCUMENT = 100.0
# Nats by which a token of the prior varies more than one of the corpus, for the partition function.
ENTROPY_MARGIN = 0.1

# Dirichlet priors beyond these are lost in single precision.
PRIOR_RANGE = (1e-10, 1e10)


class Heat(NamedTuple):
    """What the documents' length decides: the schedule of an annealed run; the highest temperature of an inferred one,
    and the passes that q(y) remembers, more than those that topics do, since it must not cool before these have formed.
    """

    schedule: LinearCooling
    highest: float
    passes: PassFraction


# From 2 on topics of short documents may melt into one, and stay so.
SHORT = Heat(LinearCooling(1.6, 0.5), 2.5, PassFraction(0.4, 0.1))
LONG = Heat(LinearCooling(1.6, 0.5), 1.6, PassFraction(0.6, 0.15))
# As printed, q(y) does not cool from there.
HIGHEST_PRINTED = 10.0


def make_learner(
    estimator, dtype, n_documents: float, word_counts: NDArray, generator, planned: bool = True, batch: bool = False
) -> Learner:
    """What learns, before its first minibatch.

    Parameters
    ----------
    estimator : VariationalTemperingLDA
    dtype : numpy dtype
        Of all computations.
    n_documents : float
    word_counts : ndarray of shape (n_words,)
        Tokens of each word in the corpus.
    generator : numpy.random.Generator
    planned : bool, default=True
        Whether it is known when learning ends.
    batch : bool, default=False
        Whether topics are replaced by their optimum at each step.

    Returns
    -------
    Learner
    """
    n_words = len(word_counts)
    learned = isinstance(estimator.doc_topic_prior, str)
    doc_prior = None if learned else estimator.doc_topic_prior
    doc_prior = _prior(estimator, "doc_topic_prior", doc_prior, estimator.n_components)
    word_prior = _prior(estimator, "topic_word_prior", estimator.topic_word_prior, n_words)
    heat = SHORT if word_counts.sum() < SHORT_DOCUMENT * n_documents else LONG
    temperature, energy = _temperature(
        estimator, heat, doc_prior, word_prior, n_documents, word_counts, generator, planned
    )
    step_size = _step_size(estimator)
    return Learner(
        topics=Topics.draw(n_words, estimator.n_components, word_prior, estimator.topic_update, dtype, generator),
        prior=DocumentPrior(doc_prior, learned=learned, start=0.5 if planned else 0.0),
        temperature=temperature,
        step_size=WholeStep() if batch else step_size,
        temperature_step=heat.passes if isinstance(step_size, PassFraction) else step_size,
        max_iter=estimator.max_doc_update_iter or (100 if batch else 15),
        tol=estimator.mean_change_tol,
        n_threads=effective_n_jobs(estimator.n_jobs),
        energy=energy,
    )


def settle(learner: Learner, estimator) -> Learner:
    """What has learned all that was planned, ready for more: at T = 1 if it was annealed, and by minibatches."""
    if isinstance(learner.temperature, Cooling):
        learner.temperature = Fixed()
    learner.step_size = _step_size(estimator)
    return learner


def _step_size(estimator):
    if estimator.learning_decay is None and estimator.learning_offset is None:
        return PassFraction()
    offset = 1024.0 if estimator.learning_offset is None else estimator.learning_offset
    return RobbinsMonro(offset, 0.7 if estimator.learning_decay is None else estimator.learning_decay)


def _prior(estimator, name, value, size) -> NDArray:
    """A Dirichlet parameter for each topic, or each word."""
    value = 1.0 / estimator.n_components if value is None else value
    try:
        values = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.full(size, np.nan)
    if values.ndim == 0:
        values = np.full(size, float(values))
    if values.shape != (size,) or not ((values >= PRIOR_RANGE[0]) & (values <= PRIOR_RANGE[1])).all():
        low, high = PRIOR_RANGE
        raise ValueError(f"{name} must be a number from {low:g} to {high:g}, or one for each of {size}, got {value!r}")
    return values


def _temperature(estimator, heat, doc_prior, word_prior, n_documents, word_counts, generator, planned):
    """What decides the temperature, and the energy that it asks for."""
    tempering = estimator.tempering
    n_words, n_tokens = len(word_counts), max(word_counts.sum(), 1.0)
    if tempering == "none":
        return Fixed(), None
    if tempering == "annealed":
        cooling = Cooling(heat.schedule if estimator.temperature_schedule is None else estimator.temperature_schedule)
        return (cooling if planned else Fixed()), None
    grid = _temperature_grid(estimator, heat)
    if tempering == "local-paper":
        return LocalTemperatures(grid, np.zeros(len(grid)), paper=True), "joint"
    if tempering == "global-paper":
        log_c = log_partition_as_printed(grid, n_words, doc_prior, word_prior, n_documents, n_tokens, generator)
        return GlobalTemperature(grid, log_c, n_tokens, paper=True), "joint"
    reference = estimator.partition_prior
    if reference is None:
        entropy = float(entr(word_counts / n_tokens).sum())
        reference = prior_of_entropy(entropy + ENTROPY_MARGIN, n_words, doc_prior, generator)
    log_c = log_partition(grid, n_words, doc_prior, reference, generator)
    if tempering == "global":
        return GlobalTemperature(grid, log_c, n_tokens), "collapsed"
    return LocalTemperatures(grid, log_c), "collapsed"


def _temperature_grid(estimator, heat) -> NDArray:
    if estimator.temperatures is None:
        return exponential_temperatures(HIGHEST_PRINTED if estimator.tempering.endswith("paper") else heat.highest)
    return checked_temperatures(estimator.temperatures)


class Chunks(NamedTuple):
    """A stream of documents, as far as it must be known before the first pass.

    ``read`` gives an iterator of all chunks, as CSR; ``dtype`` is theirs.
    """

    read: Callable[[], Iterator[sparse.csr_matrix]]
    n_documents: int
    word_counts: NDArray
    dtype: np.dtype


def open_chunks(estimator, chunks: Iterable) -> Chunks:
    """Read the chunks once to count their documents, or see that one reading is enough.

    Raises
    ------
    ValueError
        If there are no documents, chunks differ in width, or they cannot be read as often as needed.
    """
    if isinstance(chunks, str) or hasattr(chunks, "shape"):
        raise ValueError(
            f"chunks must be an iterable of matrices, got a {type(chunks).__name__}; give it to fit, or as [X]"
        )
    once = iter(chunks) is chunks
    if once and (estimator.total_samples is None or estimator.max_iter != 1):
        raise ValueError(
            "chunks is an iterator, which can be read only once; give total_samples and max_iter=1, or something "
            "that can be read again, such as a list or an object with __iter__"
        )
    source = _read(estimator, chunks, reset=True)
    head = next(source, None)
    if head is None:
        raise ValueError("chunks must hold at least one chunk of documents, got none")
    word_counts = count_words(head)
    if once:
        # What the temperature asks of the corpus, it is told of the first chunk, which stands for all.
        n_documents = int(estimator.total_samples)
        return Chunks(
            lambda: _resumed(head, source), n_documents, word_counts * (n_documents / head.shape[0]), head.dtype
        )
    n_documents = head.shape[0]
    for chunk in source:
        n_documents += chunk.shape[0]
        word_counts += count_words(chunk)
    return Chunks(lambda: _read(estimator, chunks, reset=False), n_documents, word_counts, head.dtype)


def _read(estimator, chunks, reset):
    for chunk in chunks:
        if _num_samples(chunk):
            yield read_documents(estimator, chunk, "fit_chunks", reset=reset)
            reset = False


def _resumed(head, rest):
    yield head
    yield from rest
