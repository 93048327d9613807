"""The state of a mixture: a partition of the rows, its prior, and the statistics of the columns by cluster."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport log_double, log_float, padded
from sklearn_subanneal.columns._base cimport LOGS_PER_CHANGE, ColumnStatistics, allocate_logs, flush_logs
from sklearn_subanneal.mixtures._choice cimport choose
from sklearn_subanneal.partitions._gibbs_type cimport PartitionPrior

# The log weight of a slot that can't be chosen: far below every score, and still finite.
cdef float NEVER = -1e30


cdef class Mixture:
    """A partition of rows and the statistics of its clusters in every column.

    Parameters
    ----------
    columns : list of ColumnStatistics
    prior : PartitionPrior
    n_rows : int
        All rows start unassigned.
    """

    def __cinit__(self, list columns, PartitionPrior prior, Py_ssize_t n_rows):
        self.prior, self.n_rows = prior, n_rows
        self.names = np.full(n_rows, -1, np.int32)
        self.capacity = self.room = self.n_columns = 0
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
        self.take_on(len(columns))

    cdef int dress(self, void** columns, const int32_t* which, Py_ssize_t n) except -1 nogil:
        # As ``set_columns``, with columns[which[0..n-1]], which their owner keeps alive.
        cdef Py_ssize_t j
        if n > self.room:
            with gil:
                self.make_room(n)
        for j in range(n):
            self.column[j] = columns[which[j]]
        return self.take_on(n)

    cdef int take_on(self, Py_ssize_t n) except -1 nogil:
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
        for column in columns:
            if column.capacity < capacity:
                column.reserve(capacity)
        def grown(old, fill, dtype):
            new = np.full(capacity, fill, dtype)
            if present:
                new[:present] = old
            return new
        names = np.arange(capacity, dtype=np.int32)
        if present:
            names[:present] = self.name_of
        slots = np.arange(capacity, dtype=np.int32)
        if present:
            slots[:present] = self.slot_of
        self.name_of, self.slot_of = names, slots
        self.counts = grown(self.counts if present else None, 0, np.int32)
        self.log_weight = grown(self.log_weight if present else None, NEVER, np.float32)
        self.scores = np.zeros(capacity, np.float32)
        self.renamed = np.zeros(capacity, np.int32)
        self.capacity = capacity
        self.weigh()

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

    cdef int put(self, Py_ssize_t row, Py_ssize_t k, bitgen_t* bits) except -1 nogil:
        cdef Py_ssize_t j
        if self.n_stateful:
            for j in range(self.n_columns):
                (<ColumnStatistics> self.column[j]).complete(row, k, bits)
        return self.settle(row, k)

    cdef int settle(self, Py_ssize_t row, Py_ssize_t k) except -1 nogil:
        # As ``put``, with the present fillings of missing cells.
        self.names[row] = self.name_of[k]
        self.n_assigned += 1
        return self.join(row, k)

    cdef int join(self, Py_ssize_t row, Py_ssize_t k) except -1 nogil:
        cdef Py_ssize_t j
        self.counts[k] += 1
        for j in range(self.n_columns):
            (<ColumnStatistics> self.column[j]).add(row, k, &self.logs)
        flush_logs(&self.logs)
        self.weigh_slot(k, self.counts[k])
        if k == self.n_clusters:
            self.n_clusters += 1
            self.open_slot()
        return 0

    cdef void take(self, Py_ssize_t row) noexcept nogil:
        cdef Py_ssize_t j, last
        cdef int32_t name = self.names[row]
        cdef Py_ssize_t k = self.slot_of[name]
        self.names[row] = -1
        self.counts[k] -= 1
        self.n_assigned -= 1
        if self.counts[k]:
            for j in range(self.n_columns):
                (<ColumnStatistics> self.column[j]).remove(row, k, &self.logs)
            flush_logs(&self.logs)
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
            self.name_of[k] = self.name_of[last]
            self.slot_of[self.name_of[k]] = <int32_t> k
            self.name_of[last] = name
            self.slot_of[name] = <int32_t> last
        self.counts[last] = 0
        self.log_weight[last] = self.new_weight(last)
        if last + 1 < self.capacity:
            self.log_weight[last + 1] = NEVER

    cdef bint incomplete(self, Py_ssize_t row) noexcept nogil:
        cdef Py_ssize_t j
        if self.n_stateful:
            for j in range(self.n_columns):
                if (<ColumnStatistics> self.column[j]).incomplete(row):
                    return True
        return False

    cdef void score(self, Py_ssize_t row) noexcept nogil:
        # Log likelihoods of the row in all clusters and in the empty slot.
        cdef Py_ssize_t j, n = padded(self.n_clusters + 1)
        cdef float* scores = &self.scores[0]
        for j in range(n):
            scores[j] = 0.0
        for j in range(self.n_columns):
            (<ColumnStatistics> self.column[j]).score(row, scores, n)

    cdef void score_own(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        # Replace the score and the weight of the row's own cluster by those without the row.
        cdef float own = 0.0
        cdef double ratio = 1.0
        cdef Py_ssize_t j
        for j in range(self.n_columns):
            own += (<ColumnStatistics> self.column[j]).score_without(row, k, &ratio)
            if ratio < 1e-250:
                own += <float> log_double(ratio)
                ratio = 1.0
        self.scores[k] = own + <float> log_double(ratio)
        self.weigh_slot(k, self.counts[k] - 1)

    cdef Py_ssize_t draw_slot(
        self, float inverse_temperature, bitgen_t* bits, float* top, float* total
    ) noexcept nogil:
        # The weights of the slots, prior times likelihood, sum to exp(top) * total.
        cdef Py_ssize_t n = padded(self.n_clusters + 1)
        cdef double u = bits.next_double(bits.state)
        # Scores that are not finite could let a slot win that is not there.
        return min(choose(inverse_temperature, &self.log_weight[0], &self.scores[0], n, u, top, total), self.n_clusters)

    cdef double allocate(
        self, const int32_t* rows, Py_ssize_t n, const int32_t* forced, int32_t* slots, float inverse_temperature,
        bitgen_t* bits
    ) except? -1.0 nogil:
        """Sequential allocation: a new partition of these rows, each drawn by its conditional given those before it.

        Returns the log of the product of the normalisers, which is p(partition) p(cells | partition) / q(partition),
        q the probability of the allocation. ``forced`` (slots of some partition, or NULL) gives a partition instead of
        drawing one; its clusters are renamed in the order of their appearance. The slots are written to ``slots``;
        the labels of the rows are not changed until :meth:`occupy`.
        """
        cdef Py_ssize_t i, k
        cdef double log_product = 0.0, product = 1.0, normaliser
        cdef float top, total
        for k in range(self.n_clusters):
            self.counts[k] = 0
        self.n_clusters = 0
        self.weigh()
        self.assign(NULL, NULL, 0)
        if forced != NULL:
            for k in range(self.capacity):
                self.renamed[k] = -1
        for i in range(n):
            self.score(rows[i])
            k = self.draw_slot(inverse_temperature, bits, &top, &total)
            if forced != NULL:
                if self.renamed[forced[i]] < 0:
                    self.renamed[forced[i]] = <int32_t> self.n_clusters
                k = self.renamed[forced[i]]
            normaliser = (i + self.prior.offset * self.n_clusters + self.prior.new_base
                          + self.prior.new_slope * self.n_clusters) if i else 1.0
            log_product += top
            product *= total / normaliser
            if not 1e-200 < product < 1e200:
                log_product += log_double(product)
                product = 1.0
            slots[i] = <int32_t> k
            self.join(rows[i], k)
        return log_product + log_double(product)

    cdef void occupy(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n) noexcept nogil:
        # Tell the rows where ``allocate`` has put them.
        cdef Py_ssize_t i
        for i in range(n):
            self.names[rows[i]] = self.name_of[slots[i]]
        self.n_assigned = n

    cdef void vacate(self, const int32_t* rows, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(n):
            self.names[rows[i]] = -1
        self.n_assigned = 0

    cdef void slots_of_rows(self, int32_t* out) noexcept nogil:
        cdef Py_ssize_t row
        for row in range(self.n_rows):
            out[row] = self.slot_of[self.names[row]] if self.names[row] >= 0 else -1

    @property
    def labels(self):
        """Cluster 0..n_clusters-1 of every row, int32; -1: not assigned."""
        cdef int32_t[::1] out = np.empty(self.n_rows, np.int32)
        if self.n_rows:
            self.slots_of_rows(&out[0])
        return np.asarray(out)

    @property
    def sizes(self):
        """Number of rows in each cluster, int32."""
        return np.asarray(self.counts)[:self.n_clusters].copy()

    def assigned(self):
        """The assigned rows, int32."""
        return np.flatnonzero(np.asarray(self.names) >= 0).astype(np.int32)

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
            self.assign(&work[0, 0], &work[1, 0], n)

    cdef Py_ssize_t find_slots(
        self, const int32_t* rows, Py_ssize_t n, bint complete_only, int32_t* kept, int32_t* slots
    ) noexcept nogil:
        # The rows that ``rebuild`` counts, and their slots; returns their number.
        cdef Py_ssize_t i, n_kept = 0
        for i in range(n):
            if complete_only and self.incomplete(rows[i]):
                continue
            kept[n_kept] = rows[i]
            slots[n_kept] = self.slot_of[self.names[rows[i]]]
            n_kept += 1
        return n_kept

    cdef void assign(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n) noexcept nogil:
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
        self.place(labels)
        self.rebuild(complete_only=True)
        with generator.bit_generator.lock, nogil:
            for row in range(self.n_rows):
                if self.names[row] >= 0 and self.incomplete(row):
                    k = self.slot_of[self.names[row]]
                    for j in range(self.n_columns):
                        (<ColumnStatistics> self.column[j]).complete(row, k, bits)
                        (<ColumnStatistics> self.column[j]).add(row, k, &self.logs)
                    flush_logs(&self.logs)

    def place(self, labels):
        """Reassign all rows, without changing the statistics."""
        cdef const int32_t[::1] slots = np.ascontiguousarray(labels, np.int32)
        cdef Py_ssize_t row, n_clusters = np.max(labels, initial=-1) + 1
        counts = np.bincount(np.asarray(labels)[np.asarray(labels) >= 0], minlength=n_clusters)
        if not counts.all():
            raise ValueError("labels must be 0..K-1 without gaps")
        if n_clusters + 1 > self.capacity:
            self.grow(n_clusters + 1)
        np.asarray(self.counts)[:] = 0
        np.asarray(self.counts)[:n_clusters] = counts
        self.n_clusters, self.n_assigned = n_clusters, counts.sum()
        for row in range(self.n_rows):
            self.names[row] = self.name_of[slots[row]] if slots[row] >= 0 else -1
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
