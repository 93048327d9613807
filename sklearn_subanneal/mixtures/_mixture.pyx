"""Mixture, the state of a mixture: a partition of the rows, its prior, and the column statistics of each cluster."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport log_double, log_float, padded
from sklearn_subanneal.columns._base cimport LOGS_PER_CHANGE, ColumnStatistics, allocate_logs, flush_logs
from sklearn_subanneal.columns._fused_columns cimport FusedColumns, change_each, score_each
from sklearn_subanneal.mixtures._choice cimport choose
from sklearn_subanneal.mixtures._row_partition cimport RowPartition
from sklearn_subanneal.partitions._gibbs_type cimport PartitionPrior
from sklearn_subanneal.columns.slab import side_by_side

# The log weight of a slot that can't be chosen: far below every score, and still finite.
cdef float NEVER = -1e30


cdef class Mixture(RowPartition):
    """A partition of rows and the statistics of its clusters in every column.

    Parameters
    ----------
    columns : list of ColumnStatistics
    prior : PartitionPrior
    n_rows : int
        All rows start unassigned.
    """

    def __cinit__(self, list columns, PartitionPrior prior, Py_ssize_t n_rows):
        self.prior, self.n_rows, self.fused = prior, n_rows, FusedColumns()
        self.names = np.full(n_rows, -1, np.int32)
        self.room = self.n_columns = 0
        self.set_columns(columns)
        self.grow(16)

    def __dealloc__(self):
        free(self.column)
        free(self.logs.argument)
        free(self.logs.target)

    @property
    def columns(self):
        """The columns that are explained, in order."""
        return [<object> self.column[j] for j in range(self.n_columns)]

    def set_columns(self, list columns):
        """Explain these columns from now on; their statistics are taken to be those of the present partition."""
        cdef Py_ssize_t j
        for column in columns:
            if not isinstance(column, ColumnStatistics):
                raise TypeError(f"columns must be ColumnStatistics, got {type(column).__name__}")
        self.make_room(len(columns))
        self.kept = columns
        for j in range(len(columns)):
            self.column[j] = <void*> columns[j]
        self.prepare_columns(len(columns))

    cdef int set_columns_from(self, void** columns, const int32_t* which, Py_ssize_t n) except -1 nogil:
        # As ``set_columns``, with columns[which[0..n-1]], which their owner keeps alive.
        cdef Py_ssize_t j
        if n > self.room:
            with gil:
                self.make_room(n)
        for j in range(n):
            self.column[j] = columns[which[j]]
        return self.prepare_columns(n)

    cdef int prepare_columns(self, Py_ssize_t n) except -1 nogil:
        cdef Py_ssize_t j
        self.n_columns = n
        self.n_stateful = 0
        for j in range(n):
            if (<ColumnStatistics> self.column[j]).capacity < self.capacity:
                with gil:
                    (<ColumnStatistics> self.column[j]).reserve(self.capacity)
            self.n_stateful += (<ColumnStatistics> self.column[j]).stateful()
        return 0

    cdef int make_room(self, Py_ssize_t n_columns) except -1:
        if n_columns <= self.room and self.column != NULL:
            return 0
        self.room = max(n_columns, 2 * self.room, 1)
        free(self.column)
        free(self.logs.argument)
        free(self.logs.target)
        self.n_columns = 0
        self.column = <void**> malloc(self.room * sizeof(void*))
        allocate_logs(&self.logs, LOGS_PER_CHANGE * self.room)
        if self.column == NULL or self.logs.argument == NULL or self.logs.target == NULL:
            raise MemoryError()
        return 0

    def grow(self, Py_ssize_t capacity):
        """Make room for ``capacity`` slots."""
        cdef ColumnStatistics column
        cdef Py_ssize_t present = self.capacity
        columns = self.columns
        capacity = padded(max([capacity] + [c.capacity for c in columns]))
        with side_by_side(len(columns)):
            for column in columns:
                if column.capacity < capacity:
                    column.reserve(capacity)
        log_weight = np.full(capacity, NEVER, np.float32)
        if present:
            log_weight[:present] = self.log_weight
        self.log_weight = log_weight
        self.scores, self.bounds = np.zeros((2, capacity), np.float32)
        self.renumbered = np.zeros(capacity, np.int32)
        self.grow_slots(capacity)
        self.weigh()
        if self.fused.active:
            self.fused.begin(self.column, self.n_columns, capacity)

    cdef void weigh(self) noexcept nogil:
        # Recompute all weights, after the prior or many counts have changed.
        cdef Py_ssize_t k
        for k in range(self.capacity):
            self.log_weight[k] = NEVER
        for k in range(self.n_clusters):
            self.weigh_slot(k, self.counts[k])
        self.log_weight[self.n_clusters] = self.new_weight(self.n_clusters)

    cdef float new_weight(self, Py_ssize_t n_clusters) noexcept nogil:
        # The first cluster has no rival, and its weight may be negative before the discount makes it good.
        if n_clusters == 0:
            return 0.0
        return <float> log_double(self.prior.new_base + self.prior.new_slope * n_clusters)

    cdef void weigh_slot(self, Py_ssize_t k, Py_ssize_t count) noexcept nogil:
        self.log_weight[k] = log_float(<float> (count + self.prior.offset))

    cdef int open_slot(self) except -1 nogil:
        # The slot after the last cluster: always there, cleared, with the weight of a new cluster.
        if self.n_clusters + 1 > self.capacity:
            with gil:
                self.grow(2 * self.capacity)
        self.log_weight[self.n_clusters] = self.new_weight(self.n_clusters)
        return 0

    cdef int assign(self, Py_ssize_t row, Py_ssize_t k, Py_ssize_t back, bitgen_t* bits) except -1 nogil:
        # If a missing cell is drawn beyond its limits, the row goes ``back`` as it was; -1: it enters, and has to stay.
        return self.assign_as_filled(row, k if self.complete(row, k, back < 0, bits) else back)

    cdef bint complete(self, Py_ssize_t row, Py_ssize_t k, bint enters, bitgen_t* bits) noexcept nogil:
        # At most one column, a block, has missing cells as part of the state.
        cdef Py_ssize_t j, within = True
        for j in range(self.n_columns if self.n_stateful else 0):
            within &= (<ColumnStatistics> self.column[j]).complete(row, k, enters, bits)
        return within

    cdef int assign_as_filled(self, Py_ssize_t row, Py_ssize_t k) except -1 nogil:
        # As ``assign``, with the present fillings of missing cells.
        self.names[row] = self.name_of[k]
        self.n_assigned += 1
        return self.add(row, k)

    cdef int add(self, Py_ssize_t row, Py_ssize_t k) except -1 nogil:
        self.counts[k] += 1
        self.change_columns(row, k, 1.0)
        self.weigh_slot(k, self.counts[k])
        if k == self.n_clusters:
            self.n_clusters += 1
            self.open_slot()
        return 0

    cdef void change_columns(self, Py_ssize_t row, Py_ssize_t k, double sign) noexcept nogil:
        if self.fused.active:
            self.fused.change(row, k, sign, &self.logs)
        else:
            change_each(self.column, self.n_columns, row, k, sign, &self.logs)

    cdef void remove(self, Py_ssize_t row) noexcept nogil:
        cdef Py_ssize_t j, last, k = self.slot_of[self.names[row]]
        self.names[row] = -1
        self.counts[k] -= 1
        self.n_assigned -= 1
        if self.counts[k]:
            self.change_columns(row, k, -1.0)
            self.weigh_slot(k, self.counts[k])
            return
        last = self.n_clusters - 1
        self.n_clusters = last
        for j in range(self.n_columns):
            if k != last:
                (<ColumnStatistics> self.column[j]).move(last, k)
            (<ColumnStatistics> self.column[j]).clear(last)
        if k != last:
            self.counts[k] = self.counts[last]
            self.log_weight[k] = self.log_weight[last]
            self.swap_names(k, last)
        self.counts[last] = 0
        self.log_weight[last] = self.new_weight(last)
        if last + 1 < self.capacity:
            self.log_weight[last + 1] = NEVER
        if self.fused.active:
            self.fused.sum_slot(k)
            self.fused.sum_slot(last)

    cdef bint incomplete(self, Py_ssize_t row) noexcept nogil:
        cdef Py_ssize_t j
        for j in range(self.n_columns if self.n_stateful else 0):
            if (<ColumnStatistics> self.column[j]).incomplete(row):
                return True
        return False

    cdef void score(self, Py_ssize_t row) noexcept nogil:
        # Log likelihoods of the row in all clusters and in the empty slot.
        cdef Py_ssize_t j, n = padded(self.n_clusters + 1)
        cdef float* scores = &self.scores[0]
        for j in range(n):
            scores[j] = 0.0
        if self.fused.active:
            self.fused.read(row)
            self.fused.score_plain(row, scores, n)
            self.fused.score_rest(row, scores, n)
            return
        score_each(self.column, self.n_columns, row, scores, &self.bounds[0], n)

    cdef void score_own(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        # Replace the score and the weight of the row's own cluster by those without the row.
        cdef float own = 0.0
        cdef double ratio = 1.0
        cdef Py_ssize_t j
        if self.fused.active:
            own = self.fused.score_without(row, k, &ratio)
        else:
            for j in range(self.n_columns):
                own += (<ColumnStatistics> self.column[j]).score_without(row, k, &ratio)
                if ratio < 1e-250:
                    own += <float> log_double(ratio)
                    ratio = 1.0
        self.scores[k] = own + <float> log_double(ratio)
        self.weigh_slot(k, self.counts[k] - 1)

    cdef Py_ssize_t draw_slot(self, float inverse_temperature, bitgen_t* bits, float* top, float* total) noexcept nogil:
        # The weights of the slots, prior times likelihood, sum to exp(top) * total.
        cdef Py_ssize_t n = padded(self.n_clusters + 1)
        cdef double u = bits.next_double(bits.state)
        # Scores that are not finite could let a slot win that is not there.
        return min(choose(inverse_temperature, &self.log_weight[0], &self.scores[0], n, u, top, total), self.n_clusters)

    def rebuild(self, rows=None, bint complete_only=False):
        """Recompute the statistics from the rows, to remove the drift of float sums; the partition is unchanged.

        ``rows``: all that are assigned, int32; None: found here. With ``complete_only`` those are left out that have
        missing cells as part of the state.
        """
        cdef const int32_t[::1] present = self.assigned() if rows is None else rows
        cdef Py_ssize_t n = present.shape[0]
        cdef int32_t[:, ::1] work = np.empty((2, max(n, 1)), np.int32)
        with nogil:
            if n:
                n = self.find_slots(&present[0], n, complete_only, &work[0, 0], &work[1, 0])
            self.rebuild_from(&work[0, 0], &work[1, 0], n)

    cdef Py_ssize_t find_slots(
        self, const int32_t* rows, Py_ssize_t n, bint complete_only, int32_t* kept, int32_t* slots
    ) noexcept nogil:
        # The rows that ``rebuild`` counts, and their slots; returns their number.
        cdef Py_ssize_t i, n_kept = 0
        for i in range(n):
            # A row that is not assigned has no slot.
            if self.names[rows[i]] < 0 or (complete_only and self.incomplete(rows[i])):
                continue
            kept[n_kept] = rows[i]
            slots[n_kept] = self.slot_of[self.names[rows[i]]]
            n_kept += 1
        return n_kept

    cdef void rebuild_from(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n) noexcept nogil:
        # Statistics of these rows alone.
        cdef Py_ssize_t j
        for j in range(self.n_columns):
            (<ColumnStatistics> self.column[j]).assign(rows, slots, n)

    def set_labels(self, labels, generator):
        """Reassign all rows: row i to cluster ``labels[i]``, -1 to none; labels are 0..K-1 without gaps.

        Missing cells that are part of the state are drawn, one row after the other.
        """
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        cdef Py_ssize_t row, j, k
        self.relabel(labels)
        self.rebuild(complete_only=True)
        with generator.bit_generator.lock, nogil:
            for row in range(self.n_rows):
                if self.names[row] >= 0 and self.incomplete(row):
                    k = self.slot_of[self.names[row]]
                    for j in range(self.n_columns):
                        (<ColumnStatistics> self.column[j]).complete(row, k, True, bits)
                        (<ColumnStatistics> self.column[j]).add(row, k, &self.logs)
                    flush_logs(&self.logs)

    def relabel(self, labels):
        """Relabel all rows as by :meth:`RowPartition.relabel`, without changing the statistics."""
        RowPartition.relabel(self, labels)
        self.weigh()

    def reweigh(self):
        """Recompute the weights of the clusters, if other code has changed them."""
        self.weigh()

    def set_prior(self, parameters):
        """Give the prior other parameters."""
        self.prior.parameters = parameters
        self.weigh()

    def redraw_auxiliary(self, generator):
        """Redraw the auxiliary variable of the prior, if it has one, given the partition."""
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        with generator.bit_generator.lock, nogil:
            self.refresh_prior(bits)

    cdef void refresh_prior(self, bitgen_t* bits) noexcept nogil:
        self.prior.redraw_auxiliary(self.n_assigned, self.n_clusters, bits)
        self.log_weight[self.n_clusters] = self.new_weight(self.n_clusters)

    def learn(self, generator, double inverse_temperature=1.0):
        """Redraw the hyperparameters of all columns, and of the prior, given the partition."""
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        with generator.bit_generator.lock, nogil:
            self.resample(inverse_temperature, bits)

    cdef void resample(self, double inverse_temperature, bitgen_t* bits) noexcept nogil:
        cdef Py_ssize_t j
        if self.n_clusters == 0:
            return
        for j in range(self.n_columns):
            (<ColumnStatistics> self.column[j]).resample_prior(self.n_clusters, inverse_temperature, bits)
        self.prior.resample(&self.counts[0], self.n_clusters, bits)
        self.weigh()

    def log_joint(self):
        """Log probability of the partition and of the cells of the assigned rows, with the chain's own fillings."""
        cdef double out
        with nogil:
            out = self.log_probability()
        return out

    cdef double log_probability(self) noexcept nogil:
        cdef double out = self.prior.log_probability(&self.counts[0], self.n_clusters)
        cdef Py_ssize_t j, k
        for j in range(self.n_columns):
            for k in range(self.n_clusters):
                out += (<ColumnStatistics> self.column[j]).log_marginal(k)
        return out
