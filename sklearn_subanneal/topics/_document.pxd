"""Coordinate updates of the variational distribution of one document over its topics."""
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from sklearn_subanneal._core._math cimport padded
from sklearn_subanneal.topics._pack cimport pack_double, pack_float
from sklearn_subanneal.topics._problem cimport Limits, Problem, temper, temperature_of
from sklearn_subanneal.topics._rows cimport real, set_factors, update
from sklearn_subanneal.topics._sweep cimport sweep_double, sweep_float


cdef inline Py_ssize_t whole_blocks(Py_ssize_t n_words) noexcept nogil:
    return (n_words + 7) & ~(<Py_ssize_t> 7)


cdef inline void sweep(
    const real* table, const real* counts, Py_ssize_t n, Py_ssize_t width, const real* factors, real rho, real tiny,
    real* ratios, real* totals
) noexcept nogil:
    if real is float:
        sweep_float(table, counts, n, width, factors, rho, tiny, ratios, totals)
    else:
        sweep_double(table, counts, n, width, factors, rho, tiny, ratios, totals)


cdef inline Py_ssize_t drop_topics(
    real* table, Py_ssize_t n, Py_ssize_t width, Py_ssize_t n_topics, const real* factors, const real* totals,
    const real* edge_factors, real negligible, real* needed, void* space, int32_t* kept, int32_t* topics, real* prior,
    real* gamma, real* edge
) noexcept nogil:
    """Pack the topics that are still needed to the front, if that is worth it; returns how many are left."""
    cdef Py_ssize_t k, m = n_topics
    if real is float:
        pack_float(
            table, n, width, factors, totals, edge_factors, negligible, needed, kept, kept + width, space, &m
        )
    else:
        pack_double(
            table, n, width, factors, totals, edge_factors, negligible, needed, kept, kept + width, space, &m
        )
    if m < n_topics:
        for k in range(m):
            topics[k] = topics[kept[k]]
            prior[k] = prior[kept[k]]
            gamma[k] = gamma[kept[k]]
            edge[k] = edge[kept[k]]
        for k in range(m, padded(m)):
            prior[k] = gamma[k] = edge[k] = prior[0]
    return m


cdef inline Py_ssize_t fit_document(
    const Problem* problem, Py_ssize_t document, real* scratch, int32_t* topics, const Limits* limits
) noexcept nogil:
    """Variational distribution of one document; returns how many iterations it took."""
    cdef Py_ssize_t n_topics = problem.n_topics, width = padded(n_topics), full = width, n_kept = n_topics
    cdef Py_ssize_t begin = problem.indptr[document], n = problem.indptr[document + 1] - begin
    cdef Py_ssize_t v, k, iteration = 0, rows = whole_blocks(n)
    cdef const int32_t* words = problem.indices + begin
    cdef const real* given_counts = <const real*> problem.counts + begin
    cdef const real* given_prior = <const real*> problem.prior
    cdef real* result = <real*> problem.gamma + document * n_topics
    cdef real* out
    cdef real* prior = scratch
    cdef real* gamma = prior + full
    cdef real* edge = gamma + full
    cdef real* factors = edge + full
    cdef real* totals = factors + full
    cdef real* edge_factors = totals + full
    cdef real* small = edge_factors + full
    cdef void* space = small + full
    cdef real* table = small + 3 * full
    cdef real* counts = table + rows * full
    cdef real* ratios = counts + rows
    cdef int32_t* kept = topics + full
    cdef real rho = <real> temperature_of(problem, document)
    cdef real negligible = <real> problem.negligible, enough = <real> (problem.tol * n_topics)
    cdef real least_log = <real> limits.least_log, tiny = <real> limits.tiny, largest = 0.0
    cdef real[3] summary
    for v in range(n):
        out = table + v * width
        counts[v] = given_counts[v]
        temper(problem, words[v], rho, limits, out)
        for k in range(n_topics, width):
            out[k] = 0.0
    for v in range(n, rows):
        counts[v] = 0.0
    for k in range(n * width, rows * width):
        table[k] = 0.0
    for k in range(n_topics):
        topics[k] = <int32_t> k
        prior[k] = given_prior[k]
        edge[k] = given_prior[k] + negligible
        gamma[k] = result[k]
        largest = gamma[k] if gamma[k] > largest else largest
        result[k] = prior[k]
    for k in range(n_topics, width):
        prior[k] = gamma[k] = edge[k] = prior[0]
    set_factors(gamma, width, rho, problem.digamma, largest, least_log, factors)
    while iteration < problem.max_iter and n:
        sweep(table, counts, rows, width, factors, rho, tiny, ratios, totals)
        update(prior, factors, totals, width, negligible, gamma, edge_factors, small, summary)
        largest = summary[1]
        iteration += 1
        if not summary[0] < enough and padded(width - <Py_ssize_t> summary[2]) * 4 <= width * 3:
            set_factors(edge, width, rho, problem.digamma, largest, least_log, edge_factors)
            n_kept = drop_topics(
                table, rows, width, n_kept, factors, totals, edge_factors, negligible, small, space, kept, topics,
                prior, gamma, edge,
            )
            width = padded(n_kept)
        set_factors(gamma, width, rho, problem.digamma, largest, least_log, factors)
        if summary[0] < enough:
            break
    if n:
        for k in range(n_kept):
            result[topics[k]] = gamma[k]
    if problem.factors != NULL:
        out = <real*> problem.factors + (document - problem.start) * full
        for k in range(full):
            out[k] = 0.0
        for k in range(n_kept):
            out[topics[k]] = factors[k]
        sweep(table, counts, rows, width, factors, rho, tiny, ratios, <real*> NULL)
        memcpy(<real*> problem.ratios + (begin - problem.indptr[problem.start]), ratios, n * sizeof(real))
    return iteration


cdef inline int fit_range(
    const Problem* problem, Py_ssize_t first, Py_ssize_t stop, const Limits* limits, real tag
) noexcept nogil:
    """Documents first .. stop - 1; returns -1 if memory fails."""
    cdef Py_ssize_t document, longest = 0, width = padded(problem.n_topics)
    for document in range(first, stop):
        longest = max(longest, problem.indptr[document + 1] - problem.indptr[document])
    longest = whole_blocks(longest)
    # Rows of the table start at multiples of 32 bytes: loads do not straddle cache lines.
    cdef char* memory = <char*> malloc(
        ((longest + 9) * width + 2 * longest) * sizeof(real) + 3 * width * sizeof(int32_t) + 64
    )
    cdef real* scratch
    if memory == NULL:
        return -1
    scratch = <real*> (memory + (64 - (<size_t> memory) % 64))
    for document in range(first, stop):
        problem.n_iter[document] = <int32_t> fit_document(
            problem, document, scratch, <int32_t*> (scratch + (longest + 9) * width + 2 * longest), limits
        )
    free(memory)
    return 0
