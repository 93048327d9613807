"""The weights of a document's words, topic by topic in blocks of words, and one pass over them (document_loops.h)."""
from libc.stdint cimport int32_t

from sklearn_subanneal.topics._problem cimport Limits, Problem, temper
from sklearn_subanneal.topics._rows cimport real


cdef extern from "sklearn_subanneal/topics/document_loops.h":
    # out_(k stride + i) = rows_ik, held at least from below, for as many words i as a vector has lanes.
    void gather_float "subanneal_gather_float"(
        void** rows, Py_ssize_t n_topics, float least, Py_ssize_t stride, float* out) noexcept nogil
    void gather_double "subanneal_gather_double"(
        void** rows, Py_ssize_t n_topics, double least, Py_ssize_t stride, double* out) noexcept nogil
    # ratios_v = scale counts_v / sum_j factors_j weight_(active_j, v) (held at tiny from below), and, unless totals is
    # NULL, totals_j = sum_v ratios_v weight_(active_j, v), padded by zeros to a multiple of 8. Lanes has space for as
    # many vectors.
    void sweep_float "subanneal_sweep_float"(
        const float* table, const float* counts, Py_ssize_t n_blocks, Py_ssize_t n_vectors, Py_ssize_t n_topics,
        const int32_t* active, Py_ssize_t n_active, const float* factors, float scale, float tiny, float* ratios,
        float* lanes, float* totals) noexcept nogil
    void sweep_double "subanneal_sweep_double"(
        const double* table, const double* counts, Py_ssize_t n_blocks, Py_ssize_t n_vectors, Py_ssize_t n_topics,
        const int32_t* active, Py_ssize_t n_active, const double* factors, double scale, double tiny, double* ratios,
        double* lanes, double* totals) noexcept nogil

cdef enum:
    # So many vectors, of words and topics, are half of the nearest cache.
    VECTORS_A_BLOCK = 1024


# Words are in so many blocks, of so many vectors each; those after the last word of a document have no tokens.
cdef struct Blocks:
    Py_ssize_t n_blocks
    Py_ssize_t n_vectors


cdef inline Py_ssize_t lanes_of(real tag) noexcept nogil:
    return 8 if real is float else 4


cdef inline Blocks blocks_of(Py_ssize_t n_words, Py_ssize_t n_topics, real tag) noexcept nogil:
    """The fewest blocks, of equal sizes, of at most four vectors, and so that one stays in the nearest cache."""
    cdef Blocks out
    cdef Py_ssize_t n_vectors = (n_words + lanes_of(tag) - 1) // lanes_of(tag)
    cdef Py_ssize_t most = max(1, min(4, VECTORS_A_BLOCK // n_topics))
    out.n_blocks = (n_vectors + most - 1) // most
    out.n_vectors = (n_vectors + out.n_blocks - 1) // out.n_blocks if n_vectors else 0
    return out


cdef inline Py_ssize_t rows_of(Blocks blocks, real tag) noexcept nogil:
    """Words of all blocks."""
    return blocks.n_blocks * blocks.n_vectors * lanes_of(tag)


cdef inline void fill(
    const Problem* problem, const int32_t* words, Py_ssize_t n_words, Blocks blocks, real rho, const Limits* limits,
    real* space, real* table
) noexcept nogil:
    """Weights of the words in blocks; space has a row for each lane, and one more."""
    cdef Py_ssize_t lane, v = 0, k, n_topics = problem.n_topics, size = blocks.n_vectors * lanes_of(rho)
    cdef void* rows[8]
    cdef real* nothing = space + lanes_of(rho) * n_topics
    for k in range(n_topics):
        nothing[k] = 0.0
    while v < rows_of(blocks, rho):
        for lane in range(lanes_of(rho)):
            if v + lane >= n_words:
                rows[lane] = nothing
            elif problem.logarithms:
                temper(problem, words[v + lane], rho, limits, space + lane * n_topics)
                rows[lane] = space + lane * n_topics
            else:
                rows[lane] = <real*> problem.weights + words[v + lane] * n_topics
        k = v // size * size * n_topics + v % size
        if real is float:
            gather_float(rows, n_topics, <real> limits.least, size, table + k)
        else:
            gather_double(rows, n_topics, <real> limits.least, size, table + k)
        v += lanes_of(rho)


cdef inline void sweep(
    const real* table, const real* counts, Blocks blocks, Py_ssize_t n_topics, const int32_t* active,
    Py_ssize_t n_active, const real* factors, real rho, real tiny, real* ratios, real* lanes, real* totals
) noexcept nogil:
    if real is float:
        sweep_float(
            table, counts, blocks.n_blocks, blocks.n_vectors, n_topics, active, n_active, factors, rho, tiny, ratios,
            lanes, totals
        )
    else:
        sweep_double(
            table, counts, blocks.n_blocks, blocks.n_vectors, n_topics, active, n_active, factors, rho, tiny, ratios,
            lanes, totals
        )
