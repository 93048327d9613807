"""Moves of single columns between views: Gibbs sampling by Neal's algorithm 8, and birth and death of views."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport log_double
from sklearn_subanneal._core._random cimport categorical, integer_below, open_uniform
from sklearn_subanneal.mixtures._move_kernel cimport MoveKernel
from sklearn_subanneal.views._views cimport Views


cdef class ColumnGibbsKernel(MoveKernel):
    """Redraw the views of some random columns, one after the other, by Neal's algorithm 8.

    Candidates are the present views and ``n_auxiliary`` new ones, drawn afresh for each column: their row partitions
    from the prior, or by sequential allocation given the column (``from_data``), with weights that make the move exact.
    If a column is alone in its view, this view is one of the new ones.

    Parameters
    ----------
    n_auxiliary : int
    from_data : bool

    References
    ----------
    R. M. Neal (2000), Markov chain sampling methods for Dirichlet process mixture models, Journal of Computational and
    Graphical Statistics 9, 249-265, algorithm 8. doi:10.1080/10618600.2000.10474879
    """

    cdef readonly Py_ssize_t n_auxiliary
    cdef readonly bint from_data

    def __init__(self, Py_ssize_t n_auxiliary, bint from_data):
        self.n_auxiliary, self.from_data = n_auxiliary, from_data

    def propose(self, Views views, Py_ssize_t n_proposals, double inverse_temperature, generator, rows=None):
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        cdef int32_t[::1] columns = generator.permutation(views.n_columns).astype(np.int32)
        cdef Py_ssize_t i, n_moved = 0
        if not views.begin(self.n_auxiliary, inverse_temperature, generator):
            return 0
        with generator.bit_generator.lock, nogil:
            for i in range(n_proposals):
                n_moved += redraw_view(views, columns[i], self.n_auxiliary, self.from_data, bits)
        views.finish()
        self.n_proposed += n_proposals
        self.n_accepted += n_moved
        return n_moved


cdef int redraw_view(Views views, int32_t j, Py_ssize_t n_auxiliary, bint from_data, bitgen_t* bits) except -1 nogil:
    cdef Py_ssize_t n_views = views.n_views, v, a, number, old = views.home[j]
    cdef bint alone = views.sizes[views.position[old]] == 1
    cdef double new = views.log_weight(0, n_views - alone) - log_double(n_auxiliary)
    cdef double[::1] logs = views.logs
    for v in range(n_views):
        number = views.order[v]
        if number != old or not alone:
            logs[v] = views.log_weight(views.sizes[v] - (number == old), n_views) + views.evidence_of(j, number)
        elif from_data:
            logs[v] = new + views.allocate(views.order[n_views], &j, 1, old, bits)
            if logs[v] == -INFINITY:
                views.settle(j, old, bits)
                return 0
        else:
            logs[v] = new + views.evidence_of(j, old)
    for a in range(alone, n_auxiliary):
        number = views.order[n_views + a]
        v = n_views + a - alone
        if from_data:
            logs[v] = new + views.allocate(number, &j, 1, -1, bits)
        else:
            views.allocate(number, NULL, 0, -1, bits)
            logs[v] = new + views.evidence_of(j, number)
    v = categorical(&logs[0], &views.work[0], n_views + n_auxiliary - alone, 1.0, bits)
    number = views.order[v if v < n_views else v + alone]
    if not views.settle(j, number, bits) or number == old:
        return 0
    if v >= n_views:
        views.open_view(number)
    views.move(j, number)
    if alone:
        views.close_view(old)
    if views.order.shape[0] < views.n_views + n_auxiliary:
        with gil:
            views.reserve(n_auxiliary)
    return 1


cdef class ColumnBirthDeathKernel(MoveKernel):
    """Metropolis-Hastings births of views of single columns, with row partitions from the prior, and their deaths.

    References
    ----------
    F. Obermeyer, J. Glidden, E. Jonas (2014), Scaling Nonparametric Bayesian Inference via Subsample-Annealing,
    AISTATS, section 4.
    """

    def propose(self, Views views, Py_ssize_t n_proposals, double inverse_temperature, generator, rows=None):
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        cdef Py_ssize_t n_moved = 0
        if not views.begin(1, inverse_temperature, generator):
            return 0
        with generator.bit_generator.lock, nogil:
            for _ in range(n_proposals):
                n_moved += propose_birth_or_death(self, views, integer_below(bits, views.n_columns), bits)
        views.finish()
        return n_moved


cdef int propose_birth_or_death(
    MoveKernel kernel, Views views, Py_ssize_t j, bitgen_t* bits
) except -1 nogil:
    cdef Py_ssize_t old = views.home[j], n_views = views.n_views, v, number
    cdef bint alone = views.sizes[views.position[old]] == 1
    cdef Py_ssize_t n_others = n_views - alone
    cdef double ratio
    cdef bint accepted
    if n_others == 0:
        return 0
    # The prior odds of a view for the column alone against all views of the others.
    ratio = views.log_weight(0, n_others) - log_double(
        views.n_columns - 1 + views.prior.offset * n_others)
    if not alone:
        number = views.order[n_views]
        views.allocate(number, NULL, 0, -1, bits)
        ratio += views.evidence_of(j, number) - views.evidence_of(j, old)
    else:
        for v in range(n_views):
            views.logs[v] = views.log_weight(views.sizes[v], n_views) if views.order[v] != old else -1e300
        number = views.order[categorical(&views.logs[0], &views.work[0], n_views, 1.0, bits)]
        ratio = views.evidence_of(j, number) - views.evidence_of(j, old) - ratio
    accepted = log_double(open_uniform(bits)) < ratio and views.settle(j, number, bits)
    kernel.count(ratio, accepted)
    if not accepted:
        return 0
    if not alone:
        views.open_view(number)
    views.move(j, number)
    if alone:
        views.close_view(old)
    elif views.order.shape[0] < views.n_views + 1:
        with gil:
            views.reserve(1)
    return 1
