"""ViewPool, the base class of cross-categorizations: the mixtures of views, and spare ones that may become views."""
from libc.stdint cimport int32_t
from libc.stdlib cimport free, realloc

import numpy as np

from sklearn_subanneal.columns._base cimport ColumnStatistics
from sklearn_subanneal.columns._mvnormal cimport GaussianStatistics
from sklearn_subanneal.mixtures._mixture cimport Mixture
from sklearn_subanneal.partitions._gibbs_type cimport PartitionPrior
from sklearn_subanneal.views._view_blocks cimport ViewBlocks

# Where columns have no clusters in common, a proposed partition may have nearly as many clusters as rows, and the time
# for it grows with the square of the rows. It ends at so many times the square root of the rows.
cdef double CLUSTERS_A_ROOT = 16.0


cdef class ViewPool:
    """Mixtures of the rows, and which columns each of them explains; parameters as those of `Views`."""

    def __cinit__(
        self, list columns, PartitionPrior column_prior, PartitionPrior row_prior, Py_ssize_t n_rows, reals=None
    ):
        cdef Py_ssize_t j, n_columns = len(columns)
        self.columns, self.prior, self.row_prior = columns, column_prior, row_prior
        self.twins = {id(column): column.twin() for column in columns}
        self.n_rows, self.n_columns = n_rows, n_columns
        self.most_clusters = int(CLUSTERS_A_ROOT * np.sqrt(max(n_rows, 1)))
        self.column = <void**> realloc(NULL, max(n_columns, 1) * sizeof(void*))
        self.twin = <void**> realloc(NULL, max(n_columns, 1) * sizeof(void*))
        if self.column == NULL or self.twin == NULL:
            raise MemoryError()
        for j in range(n_columns):
            if not isinstance(columns[j], ColumnStatistics):
                raise TypeError(f"columns must be ColumnStatistics, got {type(columns[j]).__name__}")
            self.column[j] = <void*> columns[j]
            twin = self.twins[id(columns[j])]
            self.twin[j] = <void*> twin
        self.home, self.group = np.zeros((2, n_columns), np.int32)
        self.rows = np.empty(max(n_rows, 1), np.int32)
        self.pool, self.slot_arrays = [], []
        self.order = self.position = self.sizes = np.zeros(0, np.int32)
        self.evidence = np.zeros((0, n_columns))
        self.real_of = np.full(n_columns, -1, np.int32)
        if reals is not None:
            self.blocks = ViewBlocks(reals)
            np.asarray(self.real_of)[reals.places] = np.arange(reals.width)
        self.reserve(1)
        self.n_views = 1
        self.sizes[0] = n_columns

    def __dealloc__(self):
        free(self.column)
        free(self.twin)
        free(self.mixture)
        free(self.slots)

    def reserve(self, Py_ssize_t n_spare):
        """Make sure that there are this many mixtures besides those of the views."""
        cdef Py_ssize_t present = len(self.pool), wanted = self.n_views + n_spare, i
        if wanted <= present:
            return
        wanted = max(wanted, present + 4)
        self.mixture = <void**> realloc(self.mixture, wanted * sizeof(void*))
        self.slots = <int32_t**> realloc(self.slots, wanted * sizeof(int32_t*))
        if self.mixture == NULL or self.slots == NULL:
            raise MemoryError()
        def grown(old, fill):
            new = np.full(wanted, fill, np.int32)
            new[:present] = old
            return new
        cdef int32_t[::1] slots
        evidence = np.full((wanted, self.n_columns), np.nan)
        evidence[:present] = self.evidence
        self.evidence = evidence
        self.order, self.position, self.sizes = grown(self.order, 0), grown(self.position, 0), grown(self.sizes, 0)
        self.logs, self.work = np.zeros((2, wanted + self.n_columns))
        for i in range(present, wanted):
            mixture = Mixture([], self.row_prior.fresh(), self.n_rows)
            slots = np.zeros(max(self.n_rows, 1), np.int32)
            self.pool.append(mixture)
            self.slot_arrays.append(slots)
            self.mixture[i] = <void*> mixture
            self.slots[i] = &slots[0]
            self.order[i] = self.position[i] = <int32_t> i
        if self.blocks is not None:
            self.blocks.reserve(wanted)

    cdef Mixture mixture_at(self, Py_ssize_t place):
        return self.pool[self.order[place]]

    cdef int32_t view_of(self, Py_ssize_t j) noexcept nogil:
        return self.position[self.home[j]]

    @property
    def mixtures(self):
        """The mixture of each view."""
        return [self.mixture_at(v) for v in range(self.n_views)]

    @property
    def column_labels(self):
        """View of each column, int32."""
        return np.asarray(self.position)[np.asarray(self.home)]

    @property
    def row_labels(self):
        """Cluster of each row in each view, int32 (n_views, n_rows); -1: not assigned."""
        return np.stack([mixture.labels for mixture in self.mixtures])

    def update_twins(self):
        """Give the twins the present hyperparameters of their columns."""
        if self.blocks is not None:
            for column in self.blocks.blocks:
                if column is not None and id(column) in self.twins:
                    self.twins[id(column)].adopt(column)
            for j, parameters in zip(self.blocks.reals.places, self.blocks.single_parameters(), strict=True):
                self.columns[j].parameters = parameters
        for column in self.columns:
            self.twins[id(column)].adopt(column)

    def update_columns(self, Py_ssize_t number):
        """Give a mixture the columns that belong to it, in the order of the table, and its block at the end."""
        cdef Mixture mixture = self.pool[number]
        cdef Py_ssize_t j
        columns = [self.columns[j] for j in np.flatnonzero(np.asarray(self.home) == number) if self.real_of[j] < 0]
        if self.blocks is not None:
            if self.blocks.stale[number]:
                before = self.blocks.blocks[number]
                block = self.blocks.build(number, mixture.capacity)
                if block is not before:
                    self.twins.pop(id(before), None)
                    if block is not None:
                        self.twins[id(block)] = block.twin()
            columns += [block for block in self.blocks.blocks[number:number + 1] if block is not None]
        mixture.set_columns(columns)

    def finish(self):
        """End the moves of columns: blocks whose members or fillings have changed are made anew."""
        cdef Py_ssize_t number
        cdef GaussianStatistics block
        if self.blocks is None:
            return
        for number in range(len(self.pool)):
            if self.blocks.stale[number]:
                self.update_columns(number)
                block = self.blocks.blocks[number]
                if block is not None:
                    block.assign(&self.rows[0], self.slots[number], self.n_assigned)
                # Not before: a column of another type that moves may have made a block without rows.
                self.blocks.stale[number] = 0

    cdef int open_view(self, Py_ssize_t number) except -1 nogil:
        """Make a spare mixture the last of the views; columns must move to it at once."""
        cdef int32_t displaced = self.order[self.n_views]
        cdef int32_t place = self.position[number]
        self.order[self.n_views], self.order[place] = <int32_t> number, displaced
        self.position[number], self.position[displaced] = <int32_t> self.n_views, place
        self.sizes[self.n_views] = 0
        self.n_views += 1
        (<Mixture> self.mixture[number]).label_rows(&self.rows[0], self.slots[number], self.n_assigned)
        return 0

    cdef int close_view(self, Py_ssize_t number) except -1 nogil:
        """Make the mixture of a view without columns a spare one; the last view takes its place."""
        cdef int32_t place = self.position[number], last = self.order[self.n_views - 1]
        self.n_views -= 1
        self.sizes[place] = self.sizes[self.n_views]
        self.order[place], self.order[self.n_views] = last, <int32_t> number
        self.position[last], self.position[number] = place, <int32_t> self.n_views
        (<Mixture> self.mixture[number]).unlabel_rows(&self.rows[0], self.n_assigned)
        return 0

    cdef void swap_spares(self, Py_ssize_t place, Py_ssize_t other) noexcept nogil:
        cdef int32_t number = self.order[place]
        self.order[place] = self.order[other]
        self.order[other] = number
        self.position[number] = <int32_t> other
        self.position[self.order[place]] = <int32_t> place
