"""The input of one local step as C structures: documents, topics and temperatures."""
from libc.stdint cimport int32_t, int64_t

from sklearn_subanneal.topics._rows cimport copy_row, real, temper_row


cdef struct Problem:
    const int64_t* indptr
    const int32_t* indices
    const void* counts
    const void* weights
    const void* prior
    const double* inverse_temperature
    void* gamma
    void* statistics
    int32_t* n_iter
    Py_ssize_t n_topics
    Py_ssize_t max_iter
    double tol
    double negligible           # topics with fewer expected tokens of a document are dropped
    double settled              # updates are extrapolated once one moves less than this share of the tokens
    bint each                   # one inverse temperature for each document
    bint logarithms             # weights are logarithms, still to be tempered
    bint digamma                # else the factor of a topic is gamma itself
    # Of the block of documents from ``start`` on: factors (padded), and rho count / normaliser of each entry.
    Py_ssize_t start
    void* factors
    void* ratios
    # The block's entries by word.
    int64_t* word_starts
    int32_t* entry_documents
    int64_t* entries


cdef struct Limits:
    # Factors and weights, relative to the largest, are held at the least from below, normalisers at tiny.
    double least_log
    double least
    double tiny


cdef inline Limits limits_of(bint single) noexcept nogil:
    cdef Limits limits
    if single:
        # Products of two of the least of float32 are not yet denormal: such numbers would halve the speed.
        limits.least_log, limits.least, limits.tiny = -40.0, 4.248354255e-18, 1e-37
    else:
        limits.least_log, limits.least, limits.tiny = -700.0, 0.0, 1e-307
    return limits


cdef inline void* address(array) except? NULL:
    return <void*> <size_t> array.ctypes.data


cdef inline double temperature_of(const Problem* problem, Py_ssize_t document) noexcept nogil:
    return problem.inverse_temperature[document if problem.each else 0]


cdef inline void temper(
    const Problem* problem, Py_ssize_t word, real rho, const Limits* limits, real* out
) noexcept nogil:
    """The weights of a word as the updates see them."""
    cdef const real* row = <const real*> problem.weights + word * problem.n_topics
    if problem.logarithms:
        temper_row(row, problem.n_topics, rho, <real> limits.least_log, out)
    else:
        copy_row(row, problem.n_topics, <real> limits.least, out)
