"""LatentDirichlet, the model with learned topics: topic proportions of documents, bounds, held-out scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_subanneal.topics.local_step import LocalStep, local_step, used_words
from sklearn_subanneal.topics.topic_scores import document_bounds, document_lengths, log_likelihoods
from sklearn_subanneal.topics.word_statistics import Topics

# Updates of a document are extrapolated once one moves less than this share of its tokens. If they are extrapolated
# earlier, more documents go to another fixed point than by plain updates.
SETTLED = 0.005
# Tolerances of topic proportions and of bounds. Proportions that are not quite at the fixed point, where too few topics
# share a document, predict its other words better; the bound is largest at the fixed point.
PROPORTIONS_TOL, BOUND_TOL = 1e-2, 1e-3


@dataclass(frozen=True)
class LatentDirichlet:
    """The fitted model at T = 1.

    Attributes
    ----------
    topics : Topics
    doc_topic_prior : ndarray of shape (n_topics,)
        Parameter alpha of the Dirichlet prior of topic proportions.
    max_iter : int, default=100
        Most iterations of fitting a document.
    tol : float, default=1e-3
        A document is fitted once its expected tokens change by less than this a topic.
    n_threads : int, default=1

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> from sklearn_subanneal.topics.latent_dirichlet import LatentDirichlet
    >>> from sklearn_subanneal.topics.word_statistics import Topics
    >>> topics = Topics(np.array([[90.0, 0.0], [0.0, 90.0]]), prior=1.0, update="plug-in")
    >>> model = LatentDirichlet(topics, np.full(2, 0.5))
    >>> model.infer(csr_matrix([[5.0, 0.0], [2.0, 2.0]])).gamma.round(1)
    array([[5.5, 0.5],
           [2.5, 2.5]])
    """

    topics: Topics
    doc_topic_prior: NDArray
    max_iter: int = 100
    tol: float = 1e-3
    n_threads: int = 1

    def infer(
        self, documents: sparse.csr_matrix, weights: Callable | None = None, factor: str = "digamma"
    ) -> LocalStep:
        """Fit the topic proportions of documents.

        Parameters
        ----------
        documents : csr_matrix of shape (n_documents, n_words)
            Its type, float32 or float64, is that of the computation.
        weights : callable, default=None
            As of :func:`~sklearn_subanneal.topics.local_step.local_step`; called with ``dtype``, too.
        factor : {"digamma", "mean"}, default="digamma"
            As of :func:`~sklearn_subanneal.topics._fit_documents.fit_documents`.

        Returns
        -------
        LocalStep
        """
        weights = partial(weights or self.topics.relative_weights, dtype=documents.dtype)
        return local_step(
            documents,
            self.topics,
            self.doc_topic_prior,
            max_iter=self.max_iter,
            tol=self.tol,
            n_threads=self.n_threads,
            weights=weights,
            settled=SETTLED,
            factor=factor,
        )

    def bounds(self, documents: sparse.csr_matrix) -> NDArray:
        """Bound on the log probability of each document given the topics, float64 of shape (n_documents,)."""
        step = self.infer(documents)
        logs = self.topics.log_weights(step.words, self.n_threads, documents.dtype)
        return document_bounds(step.documents, logs, step.gamma, self.doc_topic_prior, n_threads=self.n_threads)

    def perplexity(self, documents: sparse.csr_matrix) -> float:
        """exp(-sum of the bounds / number of tokens); 1 without tokens."""
        n_tokens = documents.data.sum(dtype=np.float64)
        return float(np.exp(-self.bounds(documents).sum() / n_tokens)) if n_tokens > 0 else 1.0

    def completion_score(self, observed: sparse.csr_matrix, held_out: sparse.csr_matrix) -> float:
        """Mean log probability of the held-out tokens given the observed tokens of their documents, in nats.

        Topics are replaced by their means, and topic proportions by the means fitted to the observed words.

        Parameters
        ----------
        observed, held_out : csr_matrix of shape (n_documents, n_words)

        Raises
        ------
        ValueError
            If no token is held out.
        """
        n_tokens = document_lengths(held_out).sum()
        if n_tokens == 0:
            raise ValueError(
                "X has no document of two distinct words, so that no token can be held out; give longer ones"
            )
        return float(self.completion_likelihoods(observed, held_out).sum() / n_tokens)

    def completion_likelihoods(self, observed: sparse.csr_matrix, held_out: sparse.csr_matrix) -> NDArray:
        """As :meth:`completion_score`, but summed over the held-out tokens of each document, (n_documents,)."""
        gamma = self.infer(observed, self.topics.mean_weights, "mean").gamma
        words, narrow = used_words(held_out)
        weights = self.topics.mean_weights(words, self.n_threads, observed.dtype)
        return log_likelihoods(narrow, weights, gamma / gamma.sum(axis=1, keepdims=True), self.n_threads)
