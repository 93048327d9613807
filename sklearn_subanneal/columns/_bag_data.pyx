"""BagOfWordsData: the sparse word counts of every row, checked and laid out for the kernels."""
import numpy as np
from scipy import sparse

from sklearn_subanneal._core._math cimport log_double
from sklearn_subanneal.columns._base cimport ColumnData

from sklearn_subanneal.tables.documents import checked_counts


cdef class BagOfWordsData(ColumnData):
    """Bags of words, as counts of shape (n_rows, n_words), sparse or dense."""

    def __init__(self, documents):
        documents = self.keep(checked_counts(documents))
        self.start = documents.indptr.astype(np.int64)
        self.word = documents.indices.astype(np.int32)
        self.times = documents.data
        self.length = np.asarray(documents.sum(axis=1, dtype=np.int64)).ravel()
        self.reference = self.references()

    def once(self):
        """The same bags with each of their words once."""
        counts = self.array
        once = np.ones_like(counts.data)
        return BagOfWordsData(sparse.csr_array((once, counts.indices, counts.indptr), counts.shape))

    def references(self):
        """The log probability of each long bag under its own frequencies, the largest there is; 0 for the others."""
        cdef double[::1] out = np.zeros(self.n_rows)
        cdef Py_ssize_t row, i
        for row in range(self.n_rows):
            if self.length[row] > LONG:
                for i in range(self.start[row], self.start[row + 1]):
                    out[row] += self.times[i] * log_double(<double> self.times[i] / self.length[row])
        return np.asarray(out)
