"""DocumentGroups, groups of documents from whose words topics start; and a sample of a stream."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_subanneal._core.blas import one_blas_thread
from sklearn_subanneal.topics.principal_components import PrincipalComponents, value_of_chance
from sklearn_subanneal.topics.varimax import varimax_shares

# Documents that are grouped: so many for each topic, at least so many in all.
DOCUMENTS_A_TOPIC, FEWEST_DOCUMENTS = 20, 10_000
# Documents of a topic that starts later, at most.
MOST_OF_FURTHER = 20
# Groups are of words if there are at most so many (more predict words worse than groups of documents do), and if the
# least of as many components has at least this share of the value that chance reaches, since those of chance vary, too.
MOST_OF_WORDS, SHARE_OF_CHANCE = 75, 0.93
# Otherwise they are of documents, whose loadings are raised to this power, so that each counts most where it belongs.
POWER_OF_DOCUMENTS = 3.0


def sample_limit(n_topics: int) -> int:
    """The most documents that are grouped to start topics."""
    return max(DOCUMENTS_A_TOPIC * n_topics, FEWEST_DOCUMENTS)


def even_stride(n_documents: int, limit: int) -> int:
    """The least power of 2 by which at most ``limit`` of so many documents are taken."""
    stride = 1
    while -(-n_documents // stride) > limit:
        stride *= 2
    return stride


class EvenSample:
    """At most ``limit`` documents of a stream: numbers 0, s, 2s, ..., where s is the least power of 2 that is enough.

    They do not depend on how the stream is cut into chunks, and its length need not be known before.

    Parameters
    ----------
    limit : int

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> from sklearn_subanneal.topics.document_groups import EvenSample
    >>> sample = EvenSample(limit=3)
    >>> for first in (1, 4):
    ...     sample.add(csr_matrix(np.arange(first, first + 3)[:, None]))
    >>> sample.documents().toarray().ravel()
    array([1, 3, 5])
    """

    def __init__(self, limit: int):
        self.limit = limit
        self.n_seen = 0
        self._stride, self._kept, self._numbers = 1, [], np.empty(0, np.int64)

    def add(self, documents: sparse.csr_matrix) -> None:
        """The next documents of the stream."""
        total = self.n_seen + documents.shape[0]
        self._stride = even_stride(total, self.limit)
        first = -self.n_seen % self._stride
        self._kept.append(documents[first :: self._stride])
        self._numbers = np.append(self._numbers, np.arange(self.n_seen + first, total, self._stride))
        self.n_seen = total
        if len(self._numbers) > self.limit:
            self._thin()

    def documents(self) -> sparse.csr_matrix:
        """The documents kept."""
        self._thin()
        return self._kept[0]

    def _thin(self):
        kept = self._numbers % self._stride == 0
        documents = self._kept[0] if len(self._kept) == 1 else sparse.vstack(self._kept, format="csr")
        self._kept = [documents if kept.all() else documents[np.flatnonzero(kept)]]
        self._numbers = self._numbers[kept]


class DocumentGroups:
    """Groups of documents: all that topics start from, and few that are far from some topics, for further ones.

    For the latter, a document is represented by the square roots of its counts, each weighted by how rare the word is,
    as a vector of length 1; documents are far apart if these vectors have a small scalar product.

    Parameters
    ----------
    documents : csr_matrix of shape (n_documents, n_words)
        A sample of the corpus.
    """

    def __init__(self, documents: sparse.csr_matrix):
        self.documents = documents

    def word_counts(self, n_groups: int) -> sparse.csr_matrix:
        """Word counts (n_groups, n_words) of groups, which are rotated principal components (:func:`varimax_shares`).

        Groups are of words that occur in the same documents, however often. If there are many groups, or more than
        documents tell apart from chance, such groups would be of a few rare words; then they are of documents, by the
        square roots of their counts. (By the counts themselves some groups would be single documents that repeat a
        word.) A group may be empty, and is if there are fewer distinct documents than groups.
        """
        documents = self.documents
        with one_blas_thread():
            of_words = self._shares_of_words(n_groups)
            if of_words is not None:
                return sparse.csr_matrix(of_words.T * np.asarray(documents.sum(axis=0), np.float32))
            components = PrincipalComponents.of(documents.sqrt(), n_groups)
            shares = varimax_shares(components.documents, n_groups, POWER_OF_DOCUMENTS)
        return sparse.csr_matrix(shares.T) @ documents

    def more_word_counts(self, topics: NDArray, n_groups: int, generator: np.random.Generator) -> sparse.csr_matrix:
        """Word counts (n_groups, n_words) of further groups, each of the documents nearest to one that is far from all.

        Parameters
        ----------
        topics : ndarray of shape (n_topics, n_words)
            Probabilities of words.
        n_groups : int
        generator : numpy.random.Generator
        """
        centres = np.sqrt(topics, dtype=np.float32) * self._rarity
        centres /= np.linalg.norm(centres, axis=1, keepdims=True)
        n_documents = self.documents.shape[0]
        size = max(min(n_documents // (len(topics) + n_groups), MOST_OF_FURTHER), 1)
        near, groups = (self._vectors @ centres.T).max(axis=1), []
        for _ in range(n_groups):
            far = np.maximum(1.0 - near, 1e-6).astype(np.float64)
            seed = generator.choice(n_documents, p=far / far.sum())
            likeness = (self._vectors @ self._vectors[[seed]].T).toarray().ravel()
            near = np.maximum(near, likeness)
            groups.append(np.argpartition(-likeness, size - 1)[:size])
        members = np.zeros((n_groups, n_documents), self.documents.dtype)
        members[np.repeat(np.arange(n_groups), size), np.concatenate(groups)] = 1.0
        return sparse.csr_matrix(members) @ self.documents

    def _shares_of_words(self, n_groups):
        """Shares of words in groups; None if documents do not tell as many groups apart from chance."""
        if n_groups > MOST_OF_WORDS:
            return None
        presence = self.documents.sign()
        components = PrincipalComponents.of(presence, n_groups)
        chance = value_of_chance(presence, np.random.Generator(np.random.PCG64(0)))
        if len(components.values) < n_groups or components.values.min() < SHARE_OF_CHANCE * chance:
            return None
        return varimax_shares(components.words, n_groups)

    @cached_property
    def _rarity(self):
        present = np.bincount(self.documents.indices, minlength=self.documents.shape[1])
        return np.log1p(self.documents.shape[0] / np.maximum(present, 1)).astype(np.float32)

    @cached_property
    def _vectors(self):
        documents = self.documents
        roots = np.sqrt(documents.data.astype(np.float32)) * self._rarity[documents.indices]
        vectors = sparse.csr_matrix((roots, documents.indices, documents.indptr), shape=documents.shape)
        lengths = np.sqrt(np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel())
        vectors.data /= np.repeat(np.where(lengths > 0.0, lengths, 1.0), np.diff(vectors.indptr)).astype(np.float32)
        return vectors
