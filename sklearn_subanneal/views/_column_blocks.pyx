"""ColumnBlocksKernel: Gibbs sampling of the views of all columns, with a shared pool of new views."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport log_double
from sklearn_subanneal._core._random cimport categorical, integer_below
from sklearn_subanneal.mixtures._move_kernel cimport MoveKernel
from sklearn_subanneal.views._views cimport Views


cdef class ColumnBlocksKernel(MoveKernel):
    """Redraw the views of all columns several times from one table of likelihoods.

    The new views are a pool with row partitions from the prior, which the columns share. One that is chosen is
    replaced in the pool by a fresh one, and a view that loses its last column takes a random place there: so the pool
    stays a draw from the prior, independent of the rest, and the moves are exact for a pool of any size.

    Parameters
    ----------
    n_pool : int
    n_sweeps : int
        Sweeps over the columns for each proposal.

    References
    ----------
    S. Favaro, Y. W. Teh (2013), MCMC for normalized random measure mixture models, Statistical Science 28, 335-359
    (the algorithm "Reuse"). doi:10.1214/13-STS422
    """

    cdef readonly Py_ssize_t n_pool, n_sweeps

    def __init__(self, Py_ssize_t n_pool, Py_ssize_t n_sweeps):
        self.n_pool, self.n_sweeps = n_pool, n_sweeps

    def propose(self, Views views, Py_ssize_t n_proposals, double inverse_temperature, generator, rows=None):
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        cdef int32_t[:, ::1] columns
        cdef Py_ssize_t sweep, i, n_moved = 0
        for _ in range(n_proposals):
            columns = np.stack(
                [generator.permutation(views.n_columns) for _ in range(self.n_sweeps)]).astype(np.int32)
            if not views.begin(self.n_pool + 1, inverse_temperature, generator):
                return 0
            with generator.bit_generator.lock, nogil:
                for i in range(self.n_pool):
                    views.allocate(views.order[views.n_views + i], NULL, 0, -1, bits)
                for sweep in range(self.n_sweeps):
                    for i in range(views.n_columns):
                        n_moved += redraw_from_pool(views, columns[sweep, i], self.n_pool, bits)
            views.finish()
        self.n_proposed += n_proposals * self.n_sweeps * views.n_columns
        self.n_accepted += n_moved
        return n_moved


cdef int redraw_from_pool(Views views, Py_ssize_t j, Py_ssize_t n_pool, bitgen_t* bits) except -1 nogil:
    # The pool is the first n_pool mixtures after those of the views: it shifts as views open and close.
    cdef Py_ssize_t old = views.home[j], v, number, last, other
    cdef bint alone = views.sizes[views.position[old]] == 1
    cdef double new
    if alone:
        last = views.n_views + n_pool - 1
        other = views.n_views + integer_below(bits, n_pool)
        views.swap_spares(other, last)
        views.close_view(old)
    new = views.log_weight(0, views.n_views) - log_double(n_pool)
    for v in range(views.n_views + n_pool):
        number = views.order[v]
        if v < views.n_views:
            views.logs[v] = views.log_weight(views.sizes[v] - (number == old), views.n_views)
        else:
            views.logs[v] = new
        views.logs[v] += views.evidence_of(j, number)
    v = categorical(&views.logs[0], &views.work[0], views.n_views + n_pool, 1.0, bits)
    number = views.order[v]
    if not views.settle(j, number, bits):
        number, v = old, 0
        while views.order[v] != old:
            v += 1
    if v >= views.n_views:
        views.open_view(number)
        if views.order.shape[0] < views.n_views + n_pool + 1:
            with gil:
                views.reserve(n_pool + 1)
        views.allocate(views.order[views.n_views + n_pool - 1], NULL, 0, -1, bits)
    if number == old:
        views.sizes[views.position[old]] += alone
        return 0
    views.move(j, number)
    return 1
