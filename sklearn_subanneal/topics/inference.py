"""Stochastic variational inference of topics: the local step of a minibatch, the step of the topics, and the passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import psi

from sklearn_subanneal.topics._local import fit_documents
from sklearn_subanneal.topics._scores import joint_energies
from sklearn_subanneal.topics._tables import distinct_words
from sklearn_subanneal.topics.scores import expected_logs, lengths, log_likelihoods
from sklearn_subanneal.topics.temperatures import LocalTemperatures
from sklearn_subanneal.topics.topics import Topics
from sklearn_subanneal.variational.schedules import step_of

# The least that a learned prior of a topic may become: below it a topic is dead for ever.
SMALLEST_PRIOR = 1e-4
# Updates of a learned prior for a minibatch: the fixed point is safe, but slow.
N_PRIOR_UPDATES = 20


class LocalStep(NamedTuple):
    """Variational distributions of documents, and what they say of the topics.

    ``documents`` has the words that occur as its columns, which are ``words`` of the vocabulary; ``statistics`` has a
    row for each of these.
    """

    documents: sparse.csr_matrix
    words: NDArray
    gamma: NDArray
    statistics: NDArray | None


def used_words(documents: sparse.csr_matrix) -> tuple[NDArray, sparse.csr_matrix]:
    """The words that occur in documents, and the documents with these words alone as columns."""
    words, places = distinct_words(documents.indices, documents.shape[1])
    narrow = sparse.csr_matrix((documents.data, places, documents.indptr), shape=(documents.shape[0], len(words)))
    return words, narrow


def count_words(documents: sparse.csr_matrix) -> NDArray:
    """Number of tokens of each word, float64."""
    return np.bincount(documents.indices, weights=documents.data, minlength=documents.shape[1])


def local_step(
    documents: sparse.csr_matrix,
    topics: Topics,
    prior: NDArray,
    inverse_temperature=1.0,
    *,
    max_iter: int = 100,
    tol: float = 1e-3,
    n_threads: int = 1,
    gamma: NDArray | None = None,
    statistics: bool = False,
    weights: Callable | None = None,
    drop: float = 0.1,
) -> LocalStep:
    """Fit the topic proportions of documents to topics that stay as they are.

    Parameters
    ----------
    documents : csr_matrix of shape (n_documents, n_words)
    topics : Topics
    prior : ndarray of shape (n_topics,)
        Parameter alpha of the Dirichlet prior of topic proportions.
    inverse_temperature : float or ndarray of shape (n_documents,), default=1.0
    max_iter, tol, n_threads, drop
        As of :func:`~sklearn_subanneal.topics._local.fit_documents`.
    gamma : ndarray of shape (n_documents, n_topics), default=None
        Where to start; None: tokens spread evenly.
    statistics : bool, default=False
        Whether to sum the statistics of the topics.
    weights : callable, default=None
        Gives the weights of an array of words, with ``n_threads``, in place of the topics' own.

    Returns
    -------
    LocalStep
    """
    words, narrow = used_words(documents)
    each = np.ndim(inverse_temperature) > 0
    if weights is not None:
        table = weights(words, n_threads=n_threads)
    elif each:
        table = topics.log_weights(words, n_threads)
    else:
        table = topics.relative_weights(words, inverse_temperature, n_threads)
    dtype = table.dtype
    if gamma is None:
        gamma = prior + (inverse_temperature * lengths(documents) / topics.n_topics)[:, None]
    gamma = np.array(gamma, dtype=dtype, order="C")
    sums = np.zeros(table.shape, dtype=dtype) if statistics else None
    fit_documents(
        narrow.indptr,
        narrow.indices,
        narrow.data,
        table,
        gamma,
        prior,
        inverse_temperature,
        max_iter,
        tol,
        statistics=sums,
        n_threads=n_threads,
        log_weights=each,
        drop=drop,
    )
    return LocalStep(narrow, words, gamma, sums)


def collapsed_energies(step: LocalStep, topics: Topics, n_threads: int = 1) -> NDArray:
    """Log-likelihood of each document under its mean topic proportions and the mean topics, float64."""
    proportions = step.gamma / step.gamma.sum(axis=1, keepdims=True)
    return log_likelihoods(step.documents, topics.mean_weights(step.words, n_threads), proportions, n_threads)


def expected_joints(step: LocalStep, topics: Topics, inverse_temperature: NDArray, n_threads: int = 1) -> NDArray:
    """E[log p(words, assignments)] of each document, which the paper has as its energy; float64."""
    logs = topics.log_weights(step.words, n_threads)
    return joint_energies(step.documents, logs, expected_logs(step.gamma), inverse_temperature, n_threads)


class DocumentPrior:
    """The Dirichlet prior of topic proportions, fixed, or learned by Minka's fixed point.

    Parameters
    ----------
    values : ndarray of shape (n_topics,)
    learned : bool, default=False
    start : float, default=0.5
        Progress from which it is learned: before, topics are not yet what they will be.

    References
    ----------
    T. Minka (2000), Estimating a Dirichlet distribution, section 4, the fixed point of the Polya distribution, which
    never lets the likelihood fall.
    """

    def __init__(self, values: NDArray, learned: bool = False, start: float = 0.5):
        self.values = np.array(values, dtype=np.float64)
        self.learned = learned
        self.start = start

    def update(self, gamma: NDArray, document_lengths: NDArray, inverse_temperature, progress: float, step: float):
        """Take a step towards the prior under which the expected numbers of tokens are most probable."""
        if not self.learned or progress < self.start or not document_lengths.any():
            return
        expected = np.maximum(gamma - self.values, 0.0) / np.reshape(inverse_temperature, (-1, 1))
        optimum = self.values
        for _ in range(N_PRIOR_UPDATES):
            total = optimum.sum()
            gains = (psi(optimum + expected) - psi(optimum)).sum(axis=0)
            optimum = optimum * gains / (psi(total + document_lengths) - psi(total)).sum()
            optimum = np.maximum(optimum, SMALLEST_PRIOR)
        self.values = self.values + step * (optimum - self.values)


class WholeStep:
    """The step of batch learning: topics are replaced by their optimum."""

    def step(self, t, progress=None, share_of_batch=None) -> float:
        """1."""
        return 1.0


@dataclass
class Learner:
    """Topics that learn from one minibatch after another.

    Attributes
    ----------
    topics : Topics
    prior : DocumentPrior
    temperature : object
        Of :mod:`sklearn_subanneal.variational.temperature`, or LocalTemperatures.
    step_size : object
        Of :mod:`sklearn_subanneal.variational.schedules`, or WholeStep.
    temperature_step : object
        Such a one for q(y), the factor of an inferred temperature.
    energy : {"collapsed", "joint"} or None
        What the temperature asks for.
    n_batches : int
        Minibatches learned from.
    trace : list
        E[1/T] of each minibatch; with local temperatures its quantiles .05, .5, .95 over documents.
    """

    topics: Topics
    prior: DocumentPrior
    temperature: object
    step_size: object
    temperature_step: object
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
        size = step_of(self.step_size, self.n_batches, progress, share)
        temperature_step = step_of(self.temperature_step, self.n_batches, progress, share)
        rho = self.temperature.update(progress, *self._last)
        options = {"max_iter": self.max_iter, "tol": self.tol, "n_threads": self.n_threads}
        prior = self.prior.values
        document_lengths = lengths(documents)
        if isinstance(self.temperature, LocalTemperatures):
            first = local_step(documents, self.topics, prior, rho, **options)
            rho = self.temperature.of_documents(self._energies(first, rho), document_lengths, temperature_step)
            step = local_step(documents, self.topics, prior, rho, gamma=first.gamma, statistics=True, **options)
            self.trace.append(np.quantile(rho, [0.05, 0.5, 0.95]))
        else:
            step = local_step(documents, self.topics, prior, rho, statistics=True, **options)
            self.trace.append(rho)
            n_tokens = document_lengths.sum()
            if self.energy is not None and n_tokens > 0:
                self._last = (self._energies(step, rho).sum() / n_tokens, temperature_step)
        self.prior.update(step.gamma, document_lengths, rho, progress, size)
        self.topics.blend(step.words, step.statistics, size, 1.0 / share, self.n_threads)
        self.n_batches += 1

    def _energies(self, step, rho):
        if self.energy == "joint":
            return expected_joints(step, self.topics, rho, self.n_threads)
        return collapsed_energies(step, self.topics, self.n_threads)


def run(learner: Learner, corpus, n_passes: int, report: Callable[[dict], bool], tol: float = 0.0) -> int:
    """Let the learner pass over the corpus.

    Parameters
    ----------
    learner : Learner
    corpus : MemoryCorpus or StreamedCorpus
    n_passes : int
    report : callable
        Called after each pass with a record of it; a True result ends the run.
    tol : float, default=0.0
        The run ends once T = 1 and a pass moves less than this share of the tokens to other topics.

    Returns
    -------
    n_passes : int
        Those made.
    """
    start = perf_counter()
    done, total = 0, n_passes * corpus.n_documents
    for number in range(1, n_passes + 1):
        before = learner.topics.shares() if tol > 0.0 else None
        for documents in corpus.batches():
            n = documents.shape[0]
            learner.learn(documents, corpus.n_documents, done / (total - n) if total > n else 1.0)
            done += n
        cold = np.min(learner.trace[-1]) == 1.0
        record = {
            "chain": 0,
            "sweep": number,
            "seconds": perf_counter() - start,
            "progress": 1.0 if cold else number / n_passes,
            "inverse_temperature": float(np.mean(learner.trace[-1])),
        }
        if report(record):
            return number
        if cold and tol > 0.0 and 0.5 * np.abs(learner.topics.shares() - before).sum() < tol:
            return number
    return n_passes
