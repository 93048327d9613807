"""Expected counts of words under topics, summed word by word so that threads never share a row."""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

from sklearn_subanneal._core._math cimport padded
from sklearn_subanneal.topics._problem cimport Limits, Problem, temper, temperature_of
from sklearn_subanneal.topics._rows cimport add_product, add_scaled, real


cdef inline void sort_by_word(
    const Problem* problem, Py_ssize_t stop, Py_ssize_t n_words
) noexcept nogil:
    """Entries of the block's documents by word, and within a word by document."""
    cdef Py_ssize_t document, v
    cdef int64_t entry, base = problem.indptr[problem.start], place, total = 0, count
    for v in range(n_words + 1):
        problem.word_starts[v] = 0
    for entry in range(base, problem.indptr[stop]):
        problem.word_starts[problem.indices[entry]] += 1
    for v in range(n_words):
        count = problem.word_starts[v]
        problem.word_starts[v] = total
        total += count
    problem.word_starts[n_words] = total
    for document in range(problem.start, stop):
        for entry in range(problem.indptr[document], problem.indptr[document + 1]):
            place = problem.word_starts[problem.indices[entry]]
            problem.word_starts[problem.indices[entry]] += 1
            problem.entry_documents[place] = <int32_t> (document - problem.start)
            problem.entries[place] = entry - base
    # Each start was moved to the end of its word, which is the next one's start.
    for v in range(n_words, 0, -1):
        problem.word_starts[v] = problem.word_starts[v - 1]
    problem.word_starts[0] = 0


cdef inline int add_statistics(
    const Problem* problem, Py_ssize_t first, Py_ssize_t stop, const Limits* limits, real tag
) noexcept nogil:
    """Statistics of words first .. stop - 1 over the block's documents, in their order; -1 if memory fails."""
    cdef Py_ssize_t v, k, document, n_topics = problem.n_topics, width = padded(n_topics)
    cdef int64_t at
    cdef real* sums = <real*> malloc(2 * width * sizeof(real))
    cdef real* weights = sums + width
    cdef real* ratios = <real*> problem.ratios
    cdef const real* factors
    if sums == NULL:
        return -1
    for v in range(first, stop):
        if problem.word_starts[v] == problem.word_starts[v + 1]:
            continue
        for k in range(n_topics):
            sums[k] = 0.0
        for at in range(problem.word_starts[v], problem.word_starts[v + 1]):
            document = problem.entry_documents[at]
            factors = <const real*> problem.factors + document * width
            if problem.each:
                temper(problem, v, <real> temperature_of(problem, problem.start + document), limits, weights)
                add_product(factors, weights, ratios[problem.entries[at]], n_topics, sums)
            else:
                add_scaled(factors, ratios[problem.entries[at]], n_topics, sums)
        if problem.each:
            add_scaled(sums, <real> 1.0, n_topics, <real*> problem.statistics + v * n_topics)
        else:
            temper(problem, v, <real> temperature_of(problem, 0), limits, weights)
            add_product(sums, weights, <real> 1.0, n_topics, <real*> problem.statistics + v * n_topics)
    free(sums)
    return 0
