"""ViewSplitMergeKernel: split-merge moves of views, with new partitions of their rows."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport INFINITY, isinf
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

from sklearn_subanneal._core._math cimport log_double
from sklearn_subanneal._core._random cimport integer_below, open_uniform
from sklearn_subanneal.views._column_groups cimport log_odds_of_views
from sklearn_subanneal.mixtures._move_kernel cimport MoveKernel
from sklearn_subanneal.views._views cimport Views


cdef class ViewSplitMergeKernel(MoveKernel):
    """Propose to split views, or to merge them, with new partitions of the rows.

    Two columns are drawn, and for each a partition of the rows, allocated sequentially to it alone. If they share a
    view, a split of it is proposed: each other column joins that of the two whose partition explains it better.
    Otherwise a merge of their views is proposed. In both cases the rows are allocated again given all columns of each
    proposed view, so that two views with poor partitions can become one with a good partition. Proposals are accepted
    by the Metropolis-Hastings ratio; the partitions of the single columns have the same distribution in both
    directions.
    """

    def propose(self, Views views, Py_ssize_t n_proposals, double inverse_temperature, generator, rows=None):
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        cdef Py_ssize_t n_moved = 0
        cdef int32_t one, other
        if views.n_columns < 2 or not views.begin(4, inverse_temperature, generator):
            return 0
        with generator.bit_generator.lock, nogil:
            for _ in range(n_proposals):
                one = <int32_t> integer_below(bits, views.n_columns)
                other = <int32_t> integer_below(bits, views.n_columns - 1)
                other += other >= one
                n_moved += propose_pair(self, views, one, other, bits)
                if views.order.shape[0] < views.n_views + 4:
                    with gil:
                        views.reserve(4)
        views.finish()
        return n_moved


cdef int propose_pair(
    MoveKernel kernel, Views views, int32_t one, int32_t other, bitgen_t* bits
) except -1 nogil:
    cdef Py_ssize_t launch = views.order[views.n_views], rival = views.order[views.n_views + 1]
    cdef Py_ssize_t fresh = views.order[views.n_views + 2], second = views.order[views.n_views + 3]
    cdef int32_t first_home = views.home[one], last_home = views.home[other], c
    cdef bint splits = first_home == last_home, joins, accepted
    cdef Py_ssize_t n_one = 0, n_other = 0, n, i
    cdef double log_q = 0.0, log_ratio, difference
    cdef double[3] weights
    cdef int32_t* group = &views.group[0]
    if (views.allocate(launch, &one, 1, -1, bits) == -INFINITY
            or views.allocate(rival, &other, 1, -1, bits) == -INFINITY):
        return 0
    # The columns of the first part from the front, those of the second from the back.
    for c in range(<int32_t> views.n_columns):
        if views.home[c] != first_home and views.home[c] != last_home:
            continue
        if c == one or c == other:
            joins = c == one
        else:
            difference = views.evidence_alone(c, rival) - views.evidence_alone(c, launch)
            joins = views.home[c] == first_home
            if splits:
                joins = log_double(open_uniform(bits)) < views.log_share(c, difference)
            log_q += views.log_share(c, difference if joins else -difference)
        if joins:
            group[n_one] = c
            n_one += 1
        else:
            n_other += 1
            group[views.n_columns - n_other] = c
    # Side by side, so that both parts together are one stretch as well.
    for i in range(n_other):
        group[n_one + i] = group[views.n_columns - n_other + i]
    n = n_one + n_other
    if splits:
        log_ratio = log_odds_of_views(views, n_one, n_other, views.n_views) - log_q
        weights[0] = views.allocate_group(fresh, group, n_one, -1, first_home, bits)
        weights[1] = views.allocate_group(second, group + n_one, n_other, -1, -1, bits)
        weights[2] = -views.allocate_group(launch, group, n, first_home, first_home, bits)
    else:
        log_ratio = log_q - log_odds_of_views(views, n_one, n_other, views.n_views - 1)
        weights[0] = views.allocate_group(fresh, group, n, -1, first_home, bits)
        weights[1] = -views.allocate_group(launch, group, n_one, first_home, first_home, bits)
        weights[2] = -views.allocate_group(rival, group + n_one, n_other, last_home, last_home, bits)
    for i in range(3):
        if isinf(weights[i]):
            return 0
        log_ratio += weights[i]
    accepted = log_double(open_uniform(bits)) < log_ratio
    kernel.count(log_ratio, accepted)
    if not accepted:
        return 0
    views.open_view(fresh)
    if splits:
        views.open_view(second)
    for i in range(n):
        views.move(group[i], second if splits and i >= n_one else fresh)
    views.close_view(first_home)
    if not splits:
        views.close_view(last_home)
    return <int> n
