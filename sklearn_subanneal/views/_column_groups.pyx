"""Moves of groups of columns: a set of columns leaves its view for a new one, or a whole view joins another."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

from sklearn_subanneal._core._math cimport exp_double, log_double, log_gamma
from sklearn_subanneal._core._random cimport categorical, integer_below, open_uniform, uniform
from sklearn_subanneal.mixtures._move_kernel cimport MoveKernel
from sklearn_subanneal.views._views cimport Views


cdef class ColumnGroupsKernel(MoveKernel):
    """Propose that groups of columns leave a view for a new one, or join another view, together.

    A column founds a group, by a partition of the rows allocated sequentially to it alone. The other columns of its
    view join the group if that partition explains them better than their own, and the rows are allocated again given
    all of the group. The reverse move attaches a whole view to another one. Both are accepted by the ratio of
    Metropolis and Hastings, which sequential allocation gives exactly.
    """

    def propose(self, Views views, Py_ssize_t n_proposals, double inverse_temperature, generator, rows=None):
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        cdef Py_ssize_t founder, n_moved = 0
        if views.n_columns < 2 or not views.begin(2, inverse_temperature, generator):
            return 0
        with generator.bit_generator.lock, nogil:
            for _ in range(n_proposals):
                founder = integer_below(bits, views.n_columns)
                if uniform(bits) < 0.5:
                    n_moved += propose_birth(self, views, founder, bits)
                else:
                    n_moved += propose_attachment(self, views, founder, bits)
        views.finish()
        return n_moved


cdef double log_odds_of_views(Views views, Py_ssize_t n_group, Py_ssize_t n_rest, Py_ssize_t n_views) noexcept nogil:
    cdef double offset = views.prior.offset
    return (views.log_weight(0, n_views) + log_gamma(n_group + offset) + log_gamma(n_rest + offset)
            - log_gamma(n_group + n_rest + offset) - log_gamma(1.0 + offset))


cdef double explained(Views views, Py_ssize_t n_group, Py_ssize_t apart, Py_ssize_t chosen) except? -1.0 nogil:
    """Fill ``logs`` with the log likelihood of the group in each view but ``apart``; log probability of ``chosen``."""
    cdef Py_ssize_t v
    cdef double top = -1e300, total = 0.0
    for v in range(views.n_views):
        views.logs[v] = -1e300
        if views.order[v] != apart:
            views.logs[v] = views.evidence_of_group(n_group, views.order[v])
            top = max(top, views.logs[v])
    for v in range(views.n_views):
        total += exp_double(views.logs[v] - top)
    return views.logs[views.position[chosen]] - top - log_double(total) if chosen >= 0 else 0.0


cdef int propose_birth(MoveKernel kernel, Views views, int32_t founder, bitgen_t* bits) except -1 nogil:
    cdef int32_t old = views.home[founder], c
    cdef Py_ssize_t launch = views.order[views.n_views], fresh = views.order[views.n_views + 1]
    cdef Py_ssize_t n_group = 0, n_rest = 0, i
    cdef double log_q = 0.0, log_ratio, difference
    cdef bint accepted
    if views.sizes[views.position[old]] < 2:
        return 0
    views.allocate(launch, &founder, 1, -1, bits)
    for c in range(<int32_t> views.n_columns):
        if views.home[c] != old:
            continue
        if c != founder:
            difference = views.evidence_alone(c, old) - views.evidence_alone(c, launch)
            if log_double(open_uniform(bits)) >= views.log_share(c, difference):
                log_q += views.log_share(c, -difference)
                n_rest += 1
                continue
            log_q += views.log_share(c, difference)
        views.group[n_group] = c
        n_group += 1
    if n_rest == 0:
        return 0
    log_ratio = (log_odds_of_views(views, n_group, n_rest, views.n_views) - views.evidence_of_group(n_group, old)
                 + views.allocate_group(fresh, &views.group[0], n_group, -1, -1, bits)
                 + explained(views, n_group, -1, old) - log_q)
    accepted = log_double(open_uniform(bits)) < log_ratio
    kernel.count(log_ratio, accepted)
    if not accepted:
        return 0
    views.open_view(fresh)
    for i in range(n_group):
        views.move(views.group[i], fresh)
    if views.order.shape[0] < views.n_views + 2:
        with gil:
            views.reserve(2)
    return <int> n_group


cdef int propose_attachment(MoveKernel kernel, Views views, int32_t founder, bitgen_t* bits) except -1 nogil:
    cdef int32_t old = views.home[founder], c
    cdef Py_ssize_t launch = views.order[views.n_views], fresh = views.order[views.n_views + 1]
    cdef Py_ssize_t n_group = 0, n_rest, target, i
    cdef double log_q = 0.0, log_ratio, difference
    cdef bint accepted
    if views.n_views < 2:
        return 0
    for c in range(<int32_t> views.n_columns):
        if views.home[c] == old:
            views.group[n_group] = c
            n_group += 1
    explained(views, n_group, old, -1)
    target = views.order[categorical(&views.logs[0], &views.work[0], views.n_views, 1.0, bits)]
    n_rest = views.sizes[views.position[target]]
    log_ratio = log_odds_of_views(views, n_group, n_rest, views.n_views - 1) + explained(views, n_group, old, target)
    views.allocate(launch, &founder, 1, -1, bits)
    for c in range(<int32_t> views.n_columns):
        if c != founder and (views.home[c] == old or views.home[c] == target):
            difference = views.evidence_alone(c, target) - views.evidence_alone(c, launch)
            log_q += views.log_share(c, difference if views.home[c] == old else -difference)
    log_ratio += (views.allocate_group(fresh, &views.group[0], n_group, old, old, bits)
                  - views.evidence_of_group(n_group, target) - log_q)
    accepted = log_double(open_uniform(bits)) < -log_ratio
    kernel.count(-log_ratio, accepted)
    if not accepted:
        return 0
    for i in range(n_group):
        views.move(views.group[i], target)
    views.close_view(old)
    return <int> n_group
