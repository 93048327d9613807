"""Coordinate updates of the variational distribution of one document over its topics."""
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from sklearn_subanneal._core._math cimport padded
from sklearn_subanneal.topics._problem cimport Limits, Problem, temperature_of
from sklearn_subanneal.topics._rows cimport extrapolate, find_needed, real, set_factors, update
from sklearn_subanneal.topics._word_blocks cimport Blocks, blocks_of, fill, lanes_of, rows_of, sweep

cdef enum:
    # Arrays with a number for each topic.
    TOPIC_ARRAYS = 9
    # Longest step of an extrapolation. A quarter of it, if the next update moves further than the one before the last
    # extrapolation did.
    LONGEST = 16


cdef inline Py_ssize_t drop_topics(
    Py_ssize_t n, const real* needed, int32_t* active, real* prior, real* gamma, real* edge, real* change, real* first
) noexcept nogil:
    """Keep the topics that are still needed, which must not be none; returns how many these are."""
    cdef Py_ssize_t k, m = 0
    for k in range(n):
        # Without a branch, which would be guessed wrong too often; m is not larger than k.
        active[m] = active[k]
        prior[m], gamma[m], edge[m], change[m], first[m] = prior[k], gamma[k], edge[k], change[k], first[k]
        m += needed[k] > 0
    for k in range(m, padded(m)):
        active[k] = active[0]
        prior[k] = gamma[k] = edge[k] = prior[0]
        change[k] = first[k] = 0.0
    return m


cdef inline Py_ssize_t fit_document(
    const Problem* problem, Py_ssize_t document, real* scratch, int32_t* active, const Limits* limits
) noexcept nogil:
    """Variational distribution of one document; returns how many iterations it took."""
    cdef Py_ssize_t n_topics = problem.n_topics, full = padded(n_topics), width = full, n_active = n_topics
    cdef Py_ssize_t begin = problem.indptr[document], n = problem.indptr[document + 1] - begin
    cdef Py_ssize_t v, k, iteration = 0
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
    cdef real* change = edge_factors + full
    cdef real* first = change + full
    cdef real* space = first + full
    cdef real* lanes = space + full
    cdef real rho = <real> temperature_of(problem, document)
    cdef Blocks blocks = blocks_of(n, n_topics, rho)
    cdef Py_ssize_t rows = rows_of(blocks, rho)
    cdef real* table = lanes + (lanes_of(rho) + 1) * full
    cdef real* counts = table + rows * n_topics
    cdef real* ratios = counts + rows
    cdef real negligible = <real> problem.negligible, enough = <real> (problem.tol * n_topics)
    cdef real least_log = <real> limits.least_log, tiny = <real> limits.tiny, largest = 0.0
    cdef real n_tokens = 0.0, longest = LONGEST, before = -1.0, moved = 0.0
    cdef bint settled = False, second = False
    cdef real[3] summary
    fill(problem, problem.indices + begin, n, blocks, rho, limits, lanes, table)
    for v in range(n):
        counts[v] = given_counts[v]
        n_tokens += rho * counts[v]
    for v in range(n, rows):
        counts[v] = 0.0
    for k in range(n_topics):
        active[k] = <int32_t> k
        prior[k] = given_prior[k]
        edge[k] = given_prior[k] + negligible
        gamma[k] = result[k]
        largest = gamma[k] if gamma[k] > largest else largest
        result[k] = prior[k]
    for k in range(n_topics, width):
        active[k] = 0
        prior[k] = gamma[k] = edge[k] = prior[0]
    while iteration < problem.max_iter and n:
        set_factors(gamma, width, rho, problem.digamma, largest, least_log, factors)
        sweep(table, counts, blocks, n_topics, active, n_active, factors, rho, tiny, ratios, lanes, totals)
        update(prior, factors, totals, width, negligible, gamma, change, space, summary)
        moved, largest = summary[0], summary[1]
        iteration += 1
        if moved < enough:
            break
        # Topics are dropped if it may be an eighth of them. The padding counts as small, too.
        if (<Py_ssize_t> summary[2] - (width - n_active)) * 8 >= n_active:
            set_factors(edge, width, rho, problem.digamma, largest, least_log, edge_factors)
            find_needed(factors, totals, edge_factors, width, negligible, space, summary)
            if 0 < summary[2] < n_active:
                n_active = drop_topics(n_active, space, active, prior, gamma, edge, change, first)
                width = padded(n_active)
        # Of two updates, the first one sets the longest step, and gamma is extrapolated after the second one.
        if second:
            if iteration < problem.max_iter:
                extrapolate(prior, first, change, width, longest, gamma, space, summary)
                largest = summary[1]
            second = False
        elif settled or moved < problem.settled * n_tokens:
            if settled and moved > before:
                longest = longest / 4 if longest > 4 else <real> 1.0
            else:
                longest = 2 * longest if 2 * longest < LONGEST else <real> LONGEST
            memcpy(first, change, width * sizeof(real))
            settled = second = True
            before = moved
    if n:
        for k in range(n_active):
            result[active[k]] = gamma[k]
    if problem.factors != NULL:
        set_factors(gamma, width, rho, problem.digamma, largest, least_log, factors)
        out = <real*> problem.factors + (document - problem.start) * full
        for k in range(full):
            out[k] = 0.0
        for k in range(n_active):
            out[active[k]] = factors[k]
        sweep(table, counts, blocks, n_topics, active, n_active, factors, rho, tiny, ratios, lanes, <real*> NULL)
        memcpy(<real*> problem.ratios + (begin - problem.indptr[problem.start]), ratios, n * sizeof(real))
    return iteration


cdef inline int fit_range(
    const Problem* problem, Py_ssize_t first, Py_ssize_t stop, const Limits* limits, real tag
) noexcept nogil:
    """Documents first .. stop - 1; returns -1 if memory fails."""
    cdef Py_ssize_t document, n_words, rows = 0, width = padded(problem.n_topics), size
    for document in range(first, stop):
        n_words = problem.indptr[document + 1] - problem.indptr[document]
        rows = max(rows, rows_of(blocks_of(n_words, problem.n_topics, tag), tag))
    size = (TOPIC_ARRAYS + lanes_of(tag) + 1 + rows) * width + 2 * rows
    # Vectors start at multiples of their size: loads do not straddle cache lines.
    cdef char* memory = <char*> malloc(size * sizeof(real) + width * sizeof(int32_t) + 64)
    cdef real* scratch
    if memory == NULL:
        return -1
    scratch = <real*> (memory + (64 - (<size_t> memory) % 64))
    for document in range(first, stop):
        problem.n_iter[document] = <int32_t> fit_document(
            problem, document, scratch, <int32_t*> (scratch + size), limits
        )
    free(memory)
    return 0
