"""Residual: what topics leave unexplained, as the direction in which words vary together most."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

ITERATIONS = 12


class Residual(NamedTuple):
    """The direction of words of most variation.

    Attributes
    ----------
    variation : float
        How much words vary together in this direction, summed over documents; that of independent words is near 0.
    of_documents : ndarray of shape (n_documents,)
        How far each document is in this direction, in the sense in which few documents are far.
    """

    variation: float
    of_documents: NDArray

    @property
    def skewness(self) -> float:
        """The larger, the fewer documents make up the variation."""
        square = (self.of_documents**2).mean()
        return float((self.of_documents**3).mean() / max(square, 1e-12) ** 1.5)

    @classmethod
    def of(
        cls, counts: sparse.csr_matrix, proportions: NDArray, words: NDArray, generator: np.random.Generator
    ) -> Residual:
        """That of documents, each of which has tokens.

        Given its topic, a token says nothing of the other tokens of its document. So products of the residuals of
        different words are 0 on average, but where topics are missing, or are mixtures of several.

        Parameters
        ----------
        counts : csr_matrix of shape (n_documents, n_words)
        proportions : ndarray of shape (n_documents, n_topics)
            Of topics in documents.
        words : ndarray of shape (n_words, n_topics)
            Probabilities of words.
        generator : numpy.random.Generator
            Of the direction from which the power iteration starts.
        """
        lengths = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
        frequencies = np.asarray(counts.sum(axis=0), dtype=np.float64).ravel()
        # Units in which the counts of independent words have variance 1.
        units = np.where(frequencies > 0.0, (frequencies.sum() / np.maximum(frequencies, 1e-12)) ** 0.5, 0.0)
        scaled = (sparse.diags(lengths**-0.5) @ counts @ sparse.diags(units)).tocsr()
        transposed = scaled.T.tocsr()
        left, right = proportions * lengths[:, None] ** 0.5, words * units[:, None]
        # Variance of each word by itself, which is there with any topics.
        own = np.asarray(scaled.multiply(scaled).sum(axis=0)).ravel()
        direction, shift = generator.standard_normal(len(units)) * (units > 0.0), 0.0
        for _ in range(ITERATIONS):
            direction /= max(np.linalg.norm(direction), 1e-300)
            of_documents = scaled @ direction - left @ (right.T @ direction)
            image = transposed @ of_documents - right @ (left.T @ of_documents) - own * direction
            variation = float(direction @ image)
            # Without their own variance some eigenvalues are negative; a shift keeps these from being dominant.
            shift = max(shift, -variation)
            direction = image + shift * direction
        return cls(variation, of_documents if (of_documents**3).sum() >= 0.0 else -of_documents)
