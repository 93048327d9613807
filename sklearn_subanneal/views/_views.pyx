"""Views, the state of a cross-categorization: a partition of the columns into views, and a mixture in each view."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t, uintptr_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal.mixtures._gibbs cimport churn_rows
from sklearn_subanneal.mixtures._mixture cimport Mixture
from sklearn_subanneal.views._view_steps cimport ViewSteps


cdef class Views(ViewSteps):
    """A partition of columns; the columns of a block, a *view*, share one mixture of the rows.

    All columns are in one view at first, and all rows unassigned.

    Parameters
    ----------
    columns : list of ColumnStatistics
        One for each column of the table, without missing cells as part of their state; for a joint real, those of a
        single real.
    column_prior : PartitionPrior
    row_prior : PartitionPrior
        The mixture of each view has a copy of this prior.
    n_rows : int
    reals : RealTable or None, default=None
        Those of the columns that form blocks: the joint reals of a view are one block, the last column of its mixture.
    """

    def __init__(self, *args, **kwargs):
        self.set_state(np.zeros(self.n_columns, np.int32), np.full((1, self.n_rows), -1, np.int32))

    def members(self, Py_ssize_t view):
        """The columns of a view, in the order of the table."""
        return np.flatnonzero(self.column_labels == view)

    def get_state_of_reals(self):
        """Hyperparameters and fillings of the joint reals, and kappa and nu of each view; None if there are none."""
        if self.blocks is None:
            return None
        self.blocks.collect()
        reals = self.blocks.reals
        own = [(self.blocks.kappa[self.order[v]], self.blocks.nu[self.order[v]]) for v in range(self.n_views)]
        return {"parameters": reals.parameters, "filled": reals.filled[reals.missing], "views": own}

    def set_state(self, column_labels, row_labels, state_of_reals=None):
        """Another partition of the columns, with a partition of the rows (-1: not assigned) for each view.

        ``state_of_reals``: as ``get_state_of_reals`` returns it; None: kappa and nu are those before anything is
        learned, the rest remains.
        """
        labels = np.asarray(column_labels)
        n_views = int(labels.max()) + 1
        if not np.bincount(labels, minlength=n_views).all() or labels.min() < 0:
            raise ValueError("column_labels must be 0..n_views-1 without gaps")
        self.reserve(n_views - self.n_views + 1)
        self.n_views = n_views
        if state_of_reals is not None:
            self.blocks.reals.parameters = state_of_reals["parameters"]
            self.blocks.reals.filled[self.blocks.reals.missing] = state_of_reals["filled"]
        cdef Py_ssize_t v, j
        for v in range(n_views):
            members = np.flatnonzero(labels == v)
            self.sizes[v] = len(members)
            for j in members:
                self.home[j] = self.order[v]
                if self.real_of[j] >= 0:
                    self.blocks.move(self.real_of[j], self.home[j])
            if self.blocks is not None:
                kappa, nu = state_of_reals["views"][v] if state_of_reals is not None else (
                    self.blocks.reals.kappa, self.blocks.reals.nu)
                self.blocks.kappa[self.order[v]], self.blocks.nu[self.order[v]] = kappa, nu
                self.blocks.stale[self.order[v]], self.blocks.built[self.order[v]] = 1, None
        self.update_twins()
        for v in range(n_views):
            mixture = self.mixture_at(v)
            self.update_columns(self.order[v])
            mixture.relabel(row_labels[v])
            mixture.rebuild()
        for v in range(n_views, len(self.pool)):
            self.update_columns(self.order[v])
            self.mixture_at(v).relabel(np.full(self.n_rows, -1, np.int32))
        if self.blocks is not None:
            np.asarray(self.blocks.stale)[:] = 0

    def draw_from_prior(self, generator):
        """A partition of the columns, and of all rows in each view, from their priors.

        The parameters of the row partitions, and kappa and nu of the views where there are joint reals, are drawn as
        well; other hyperparameters remain.
        """
        column_labels = self.prior.draw_partition(self.n_columns, generator)
        n_views = int(column_labels.max()) + 1
        self.reserve(n_views - self.n_views + 1)
        priors = [self.mixture_at(v).prior for v in range(n_views)]
        for prior in priors:
            prior.draw(generator)
        row_labels = [prior.draw_partition(self.n_rows, generator) for prior in priors]
        state_of_reals = None
        if self.blocks is not None:
            own = [self.blocks.drawn(generator) for _ in range(n_views)]
            state_of_reals = self.get_state_of_reals() | {"views": own}
        self.set_state(column_labels, row_labels, state_of_reals)

    # The next methods work on all views without taking the GIL in between, which chains on other threads need.

    def churn(self, const int32_t[::1] leaving, const int32_t[::1] entering, double inverse_temperature, streams):
        """A batch of moves of rows in every view; returns the number of rows that were put into a cluster.

        ``streams``: a generator for each view.
        """
        cdef Py_ssize_t v, n_moved = 0
        cdef float beta = inverse_temperature
        cdef uintptr_t[::1] bits = np.array(
            [<uintptr_t> PyCapsule_GetPointer(stream.bit_generator.capsule, "BitGenerator") for stream in streams],
            np.uintp)
        if bits.shape[0] != self.n_views:
            raise ValueError(f"streams must be as many as there are views, {self.n_views}, got {bits.shape[0]}")
        with nogil:
            for v in range(self.n_views):
                n_moved += churn_rows(
                    <Mixture> self.mixture[self.order[v]], leaving, entering, beta, <bitgen_t*> bits[v])
        return n_moved

    def rebuild(self, rows=None):
        """Recompute all statistics from the rows (those assigned), to remove the drift of float sums."""
        cdef const int32_t[::1] present = self.mixture_at(0).assigned() if rows is None else rows
        cdef Py_ssize_t v, number, n_kept, n = present.shape[0]
        cdef int32_t[:, ::1] work = np.empty((2, max(n, 1)), np.int32)
        with nogil:
            for v in range(self.n_views):
                number = self.order[v]
                n_kept = 0
                if n:
                    n_kept = (<Mixture> self.mixture[number]).find_slots(
                        &present[0], n, False, &work[0, 0], &work[1, 0])
                (<Mixture> self.mixture[number]).rebuild_from(&work[0, 0], &work[1, 0], n_kept)

    def learn(self, generator, double inverse_temperature=1.0):
        """Redraw the hyperparameters of all columns, of all row partitions, and of the column partition."""
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        cdef Py_ssize_t v
        with generator.bit_generator.lock, nogil:
            for v in range(self.n_views):
                (<Mixture> self.mixture[self.order[v]]).resample(inverse_temperature, bits)
        if self.blocks is not None:
            self.blocks.collect_parameters(np.asarray(self.order)[:self.n_views].tolist(), generator)
        self.update_twins()
        self.prior.learn(np.asarray(self.sizes)[:self.n_views], generator)

    def log_joint(self):
        """Log probability of both kinds of partitions, and of the cells of the assigned rows."""
        cdef double out = self.prior.log_eppf(np.asarray(self.sizes)[:self.n_views])
        cdef Py_ssize_t v
        with nogil:
            for v in range(self.n_views):
                out += (<Mixture> self.mixture[self.order[v]]).log_probability()
        return out
