"""Moves of groups of columns: a set of columns leaves its view for a new one, or a whole view joins another."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

from sklearn_subanneal._core._math cimport exp_double, log_double, log_gamma
from sklearn_subanneal._core._random cimport categorical, integer_below, open_uniform, uniform
from sklearn_subanneal.columns._reals cimport Rows
from sklearn_subanneal.mixtures._move_kernel cimport MoveKernel
from sklearn_subanneal.views._views cimport Views


cdef class ColumnGroupsKernel(MoveKernel):
    """Propose that groups of columns leave a view for a new one, or join another view, together.

    A column founds a group. By a partition of the rows allocated sequentially to it alone: the other columns of its
    view join the group if that partition explains them better than their own. Or, half of the time if it is a joint
    real, by correlations in the table: the group has the joint reals that are most correlated with it, as many as leave
    least correlation between the group and the rest. Then the rows are allocated again given all of the group. The
    reverse move attaches a whole view to another one. Both are accepted by the ratio of Metropolis and Hastings, which
    sequential allocation gives exactly.
    """

    def propose(self, Views views, Py_ssize_t n_proposals, double inverse_temperature, generator, rows=None):
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        cdef Py_ssize_t founder, n_moved = 0
        cdef bint correlated
        if views.n_columns < 2 or not views.begin(2, inverse_temperature, generator):
            return 0
        with generator.bit_generator.lock, nogil:
            for _ in range(n_proposals):
                founder = integer_below(bits, views.n_columns)
                correlated = views.real_of[founder] >= 0 and uniform(bits) < 0.5
                if uniform(bits) < 0.5:
                    n_moved += propose_birth(self, views, founder, correlated, bits)
                else:
                    n_moved += propose_attachment(self, views, founder, correlated, bits)
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


cdef double found_by_partition(
    Views views, int32_t founder, int32_t old, Py_ssize_t* n_group, bitgen_t* bits
) except? 1.0 nogil:
    """Fill ``group`` with the columns of a view that join a founder; log probability.

    If no partition is found for the founder, ``n_group`` becomes -1.
    """
    cdef Py_ssize_t launch = views.order[views.n_views]
    cdef double log_q = 0.0, difference
    cdef int32_t c
    if views.allocate(launch, &founder, 1, -1, bits) == -INFINITY:
        n_group[0] = -1
        return 0.0
    for c in range(<int32_t> views.n_columns):
        if views.home[c] != old:
            continue
        if c != founder:
            difference = views.evidence_alone(c, old) - views.evidence_alone(c, launch)
            if log_double(open_uniform(bits)) >= views.log_share(c, difference):
                log_q += views.log_share(c, -difference)
                continue
            log_q += views.log_share(c, difference)
        views.group[n_group[0]] = c
        n_group[0] += 1
    return log_q


cdef double log_q_by_partition(
    Views views, int32_t founder, int32_t old, int32_t target, Py_ssize_t* n_group, bitgen_t* bits
) except? 1.0 nogil:
    """Log probability that ``found_by_partition`` fills ``group`` with a view, after the view has joined another."""
    cdef Py_ssize_t launch = views.order[views.n_views]
    cdef double log_q = 0.0, difference
    cdef int32_t c
    if views.allocate(launch, &founder, 1, -1, bits) == -INFINITY:
        n_group[0] = -1
        return 0.0
    for c in range(<int32_t> views.n_columns):
        if c != founder and (views.home[c] == old or views.home[c] == target):
            difference = views.evidence_alone(c, target) - views.evidence_alone(c, launch)
            log_q += views.log_share(c, difference if views.home[c] == old else -difference)
    return log_q


cdef double choose_by_correlation(
    Views views, int32_t founder, int32_t number, int32_t old, Py_ssize_t* n_group, bitgen_t* bits
) except? 1.0 nogil:
    """Fill ``group`` with the joint reals of two views that are most correlated with a founder; log probability.

    How many they are is drawn if ``n_group`` is 0: the more probable, the more the density would gain if the rest of
    the block were independent of them, with the partition of the rows in view ``number``. With ``n_group`` columns, all
    those of the view ``old`` must be chosen; if that, or any choice, is impossible, ``n_group`` becomes -1.
    """
    cdef Py_ssize_t n = views.blocks.rank(views.real_of[founder], number, old), wanted = n_group[0], m
    cdef double top = -1e300, total = 0.0
    cdef double* logs = &views.logs[0]
    cdef Rows rows = views.rows_in(number)
    n_group[0] = -1
    if n < 2 or wanted >= n:
        return 0.0
    for m in range(wanted):
        if views.blocks.home[views.blocks.group[m]] != old:
            return 0.0
    for m in range(n):
        views.group[m] = views.blocks.reals.places[views.blocks.group[m]]
    views.blocks.weigh_splits(n, number, &rows, logs)
    for m in range(1, n):
        # The square root: a choice that the reverse move would hardly make is seldom accepted.
        logs[m] *= 0.5 * views.beta
        top = max(top, logs[m])
    for m in range(1, n):
        total += exp_double(logs[m] - top)
    if wanted == 0:
        wanted = 1 + categorical(&logs[1], &views.work[0], n - 1, 1.0, bits)
    n_group[0] = wanted
    return logs[wanted] - top - log_double(total)


cdef int propose_birth(
    MoveKernel kernel, Views views, int32_t founder, bint correlated, bitgen_t* bits
) except -1 nogil:
    cdef int32_t old = views.home[founder]
    cdef Py_ssize_t fresh = views.order[views.n_views + 1], n = views.sizes[views.position[old]], n_group = 0, i
    cdef double log_q, log_ratio
    cdef bint accepted
    if n < 2:
        return 0
    if correlated:
        log_q = choose_by_correlation(views, founder, old, old, &n_group, bits)
    else:
        log_q = found_by_partition(views, founder, old, &n_group, bits)
    if n_group == -1 or n_group == n:
        return 0
    log_ratio = (log_odds_of_views(views, n_group, n - n_group, views.n_views)
                 - views.evidence_of_group(n_group, old)
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


cdef int propose_attachment(
    MoveKernel kernel, Views views, int32_t founder, bint correlated, bitgen_t* bits
) except -1 nogil:
    cdef int32_t old = views.home[founder], target, c
    cdef Py_ssize_t fresh = views.order[views.n_views + 1], n_group = 0, i
    cdef double log_q, log_ratio, weight
    cdef bint accepted
    if views.n_views < 2:
        return 0
    for c in range(<int32_t> views.n_columns):
        if views.home[c] == old:
            if correlated and views.real_of[c] < 0:
                return 0
            views.group[n_group] = c
            n_group += 1
    explained(views, n_group, old, -1)
    target = views.order[categorical(&views.logs[0], &views.work[0], views.n_views, 1.0, bits)]
    log_ratio = (log_odds_of_views(views, n_group, views.sizes[views.position[target]], views.n_views - 1)
                 + explained(views, n_group, old, target) - views.evidence_of_group(n_group, target))
    if correlated:
        log_q = choose_by_correlation(views, founder, target, old, &n_group, bits)
    else:
        log_q = log_q_by_partition(views, founder, old, target, &n_group, bits)
    if n_group == -1:
        return 0
    weight = views.allocate_group(fresh, &views.group[0], n_group, old, old, bits)
    if weight == -INFINITY:
        return 0
    log_ratio += weight - log_q
    accepted = log_double(open_uniform(bits)) < -log_ratio
    kernel.count(-log_ratio, accepted)
    if not accepted:
        return 0
    for i in range(n_group):
        views.move(views.group[i], target)
    views.close_view(old)
    return <int> n_group
