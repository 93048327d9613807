"""Sums over the words of documents: their log likelihoods, and the expected log joints of words and assignments."""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

import numpy as np

from sklearn_subanneal._core._math cimport padded
from sklearn_subanneal.topics._problem cimport Limits, Problem, address, limits_of
from sklearn_subanneal.topics._rows cimport add_scaled, copy_row, multiply, real, set_log_reciprocals, temper_row, total
from sklearn_subanneal.topics._word_blocks cimport Blocks, blocks_of, fill, lanes_of, sweep

from sklearn_subanneal.annealing.threads import share_tasks

cdef enum:
    DOCUMENTS_A_TASK = 32
    # Words whose weights are in memory at a time. Blocks of one to four vectors fill them, so that none reaches beyond.
    WORDS_AT_ONCE = 96


cdef struct Words:
    const int64_t* indptr
    const int32_t* indices
    const void* counts
    const void* weights
    const void* mixing
    const double* inverse_temperature
    double* out
    Py_ssize_t n_topics


cdef inline double log_likelihood(
    const Words* words, Py_ssize_t document, real* scratch, int32_t* topics, double* logs, const Limits* limits
) noexcept nogil:
    cdef Py_ssize_t n_topics = words.n_topics, v, n
    cdef int64_t begin = words.indptr[document], end = words.indptr[document + 1]
    cdef const real* counts = <const real*> words.counts
    cdef real* factors = scratch
    cdef real* ones = factors + n_topics
    cdef real* ratios = ones + WORDS_AT_ONCE
    cdef real* space = ratios + WORDS_AT_ONCE
    cdef real* table = space + (lanes_of(<real> 0.0) + 1) * n_topics
    cdef double result = 0.0
    cdef Problem problem
    cdef Blocks blocks
    problem.weights, problem.n_topics, problem.logarithms = words.weights, n_topics, False
    copy_row(<const real*> words.mixing + document * n_topics, n_topics, <real> limits.least, factors)
    for v in range(WORDS_AT_ONCE):
        ones[v] = 1.0
    for v in range(n_topics):
        topics[v] = <int32_t> v
    while begin < end:
        n = min(end - begin, <int64_t> WORDS_AT_ONCE)
        blocks = blocks_of(n, n_topics, <real> 0.0)
        fill(&problem, words.indices + begin, n, blocks, <real> 1.0, limits, space, table)
        sweep(
            table, ones, blocks, n_topics, topics, n_topics, factors, <real> 1.0, <real> limits.tiny, ratios, space,
            <real*> NULL
        )
        set_log_reciprocals(ratios, n, logs)
        for v in range(n):
            result += counts[begin + v] * logs[v]
        begin += n
    return result


cdef inline double joint_energy(
    const Words* words, Py_ssize_t document, real* scratch, const Limits* limits
) noexcept nogil:
    cdef Py_ssize_t n_topics = words.n_topics, width = padded(n_topics), k
    cdef int64_t entry
    cdef const real* counts = <const real*> words.counts
    cdef const real* logs = <const real*> words.weights
    cdef real* joint = scratch
    cdef real* shares = joint + width
    cdef real rho = <real> words.inverse_temperature[document]
    cdef double result = 0.0
    for k in range(n_topics, width):
        joint[k] = shares[k] = 0.0
    for entry in range(words.indptr[document], words.indptr[document + 1]):
        memcpy(joint, <const real*> words.mixing + document * n_topics, n_topics * sizeof(real))
        add_scaled(logs + words.indices[entry] * n_topics, <real> 1.0, n_topics, joint)
        temper_row(joint, n_topics, rho, <real> limits.least_log, shares)
        multiply(shares, n_topics, joint)
        result += counts[entry] * (<double> total(joint, width) / total(shares, width))
    return result


cdef int sum_range(const Words* words, Py_ssize_t first, Py_ssize_t stop, real tag) noexcept nogil:
    """Documents first .. stop - 1, energies if there are temperatures; returns -1 if memory fails."""
    cdef Py_ssize_t document, width = padded(words.n_topics)
    cdef Py_ssize_t size = (WORDS_AT_ONCE + lanes_of(tag) + 2) * width + 2 * WORDS_AT_ONCE
    cdef Limits limits = limits_of(real is float)
    cdef double[WORDS_AT_ONCE] logs
    cdef real* scratch = <real*> malloc(size * sizeof(real) + width * sizeof(int32_t))
    cdef int32_t* topics = <int32_t*> (scratch + size)
    if scratch == NULL:
        return -1
    for document in range(first, stop):
        if words.inverse_temperature == NULL:
            words.out[document] = log_likelihood(words, document, scratch, topics, logs, &limits)
        else:
            words.out[document] = joint_energy(words, document, scratch, &limits)
    free(scratch)
    return 0


cdef class _Sums:
    # The arrays of one call, and the tasks that threads share.
    cdef Words words
    cdef bint single
    cdef object arrays
    cdef Py_ssize_t n_documents

    def documents(self, number):
        cdef Py_ssize_t first = DOCUMENTS_A_TASK * <Py_ssize_t> number
        cdef Py_ssize_t stop = min(first + DOCUMENTS_A_TASK, self.n_documents)
        cdef int failed
        with nogil:
            if self.single:
                failed = sum_range(&self.words, first, stop, <float> 0.0)
            else:
                failed = sum_range(&self.words, first, stop, <double> 0.0)
        if failed:
            raise MemoryError("no memory for the rows of a document's words")


cdef object sums(documents, weights, mixing, inverse_temperature, n_threads):
    cdef _Sums tasks = _Sums()
    cdef Words* words = &tasks.words
    dtype = np.float32 if weights.dtype == np.float32 else np.float64
    weights, mixing = np.ascontiguousarray(weights, dtype), np.ascontiguousarray(mixing, dtype)
    n_documents, n_words = documents.shape
    if weights.ndim != 2 or len(weights) != n_words or mixing.shape != (n_documents, weights.shape[1]):
        raise ValueError(
            f"weights and mixing must have shapes ({n_words}, n_topics) and ({n_documents}, n_topics) for documents of "
            f"shape {documents.shape}, got {weights.shape} and {mixing.shape}"
        )
    out = np.zeros(n_documents)
    indptr, counts = np.ascontiguousarray(documents.indptr, np.int64), np.ascontiguousarray(documents.data, dtype)
    indices = np.ascontiguousarray(documents.indices, np.int32)
    if len(indices) and not 0 <= indices.min() <= indices.max() < n_words:
        raise ValueError(f"documents must have indices from 0 to {n_words - 1}")
    rho = None
    if inverse_temperature is not None:
        rho = np.ascontiguousarray(np.broadcast_to(inverse_temperature, n_documents), np.float64)
    tasks.arrays = (indptr, indices, counts, weights, mixing, rho, out)
    tasks.single, tasks.n_documents, words.n_topics = dtype == np.float32, n_documents, weights.shape[1]
    words.indptr, words.indices = <const int64_t*> address(indptr), <const int32_t*> address(indices)
    words.counts, words.weights, words.mixing = address(counts), address(weights), address(mixing)
    words.inverse_temperature = NULL
    if rho is not None:
        words.inverse_temperature = <const double*> address(rho)
    words.out = <double*> address(out)
    if weights.shape[1]:
        share_tasks(tasks.documents, (n_documents + DOCUMENTS_A_TASK - 1) // DOCUMENTS_A_TASK, n_threads)
    return out


def log_likelihoods(documents, weights, mixing, n_threads=1):
    """Log-likelihood of each document: sum over its words v of n_v log(sum over topics k of weights_vk mixing_k).

    Parameters
    ----------
    documents : csr_matrix of shape (n_documents, n_words)
    weights : ndarray of shape (n_words, n_topics)
        Its type, float32 or float64, is that of the sums over topics.
    mixing : ndarray of shape (n_documents, n_topics)
    n_threads : int, default=1
        The results have the same bits for any number.

    Returns
    -------
    log_likelihoods : ndarray of float64, shape (n_documents,)
        Finite, since probabilities are held at 1e-37, in float64 at 1e-307, from below. In float32 weights and mixing
        are held at 4e-18, so give them relative to their largest.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> from sklearn_subanneal.topics._word_sums import log_likelihoods
    >>> log_likelihoods(csr_matrix([[2, 1]]), np.array([[0.5, 0.1], [0.5, 0.9]]), np.array([[1.0, 0.0]])).round(4)
    array([-2.0794])
    """
    return sums(documents, weights, mixing, None, n_threads)


def joint_energies(documents, log_weights, log_mixing, inverse_temperature, n_threads=1):
    """E[log p(words, assignments)] of each document, the assignments at their optimum.

    With l_vk = log_weights_vk + log_mixing_k the sum over its words v of n_v sum_k phi_vk l_vk, where phi_vk is
    proportional to exp(rho l_vk).

    Parameters
    ----------
    documents : csr_matrix of shape (n_documents, n_words)
    log_weights : ndarray of shape (n_words, n_topics)
        Its type, float32 or float64, is that of the sums over topics.
    log_mixing : ndarray of shape (n_documents, n_topics)
    inverse_temperature : float or ndarray of shape (n_documents,)
        rho.
    n_threads : int, default=1
        The results have the same bits for any number.

    Returns
    -------
    energies : ndarray of float64, shape (n_documents,)
    """
    return sums(documents, log_weights, log_mixing, inverse_temperature, n_threads)
