"""ColumnData and ColumnStatistics, the base classes of all kernels of columns: defaults, and their Python methods."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport NAN
from libc.stdlib cimport free, malloc

import numpy as np

from sklearn_subanneal._core._math cimport log_double, log_float, padded, simd_void
from sklearn_subanneal.columns.slab import placed


cdef simd_void take_logs(float* values, const float* scale, const float* offset, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        values[i] = offset[i] + scale[i] * log_float(values[i])


cdef void allocate_logs(LogQueue* logs, Py_ssize_t capacity) noexcept nogil:
    """Room for a queue; the caller checks for NULL, and frees ``argument`` and ``target``."""
    capacity = max(capacity, 1)
    logs.n = 0
    logs.argument = <float*> malloc(3 * capacity * sizeof(float))
    logs.scale = logs.argument + capacity
    logs.offset = logs.scale + capacity
    logs.target = <float**> malloc(capacity * sizeof(float*))


cdef void flush_logs(LogQueue* logs) noexcept nogil:
    """Compute the logarithms of a queue, write them to their coefficients, and empty the queue."""
    cdef Py_ssize_t i
    take_logs(logs.argument, logs.scale, logs.offset, logs.n)
    for i in range(logs.n):
        logs.target[i][0] = logs.argument[i]
    logs.n = 0


MOST_GRID_VALUES = MAX_GRID  # for callers in Python


def as_grid(values):
    """A grid of hyperparameters, or one for each row, as the kernels take it: float64, not too long."""
    grid = np.ascontiguousarray(values, np.float64)
    if grid.shape[grid.ndim - 1] > MAX_GRID:
        raise ValueError(f"a grid has at most {MAX_GRID} values, got {grid.shape[grid.ndim - 1]}; thin it")
    return grid


def check_state(bint is_right):
    """Refuse a stored state by which kernels would read outside of their memory: they do not check indices."""
    if not is_right:
        raise ValueError("a stored state has counts or places that no statistics have; fit the model anew")


def check_slots(slots, Py_ssize_t capacity):
    """The same of the slots of rows."""
    check_state(np.min(slots, initial=0) >= 0 and np.max(slots, initial=-1) < capacity)


cdef class ColumnData:
    """The cells of one column, or of one block of columns, in the order in which a chain visits the rows."""

    def keep(self, array):
        """Take the cells, and how many there are, from an array of shape (n_rows,) or (n_rows, width); returns it."""
        self.array = array
        self.n_rows, self.width = array.shape[0], array.shape[1] if array.ndim > 1 else 1
        return array

    def take(self, order):
        """The same column with its rows in another order."""
        return type(self)(placed(self.array[order]))

    def joined(self, others):
        """The same column with the rows of others of its kind after its own."""
        return type(self)(np.concatenate([self.array, *(other.array for other in others)]))

    def __reduce__(self):
        return type(self), (self.array,)


cdef class ColumnStatistics:
    """Sufficient statistics of every cluster for one column, and the hyperparameters of its prior.

    The cdef methods are the contract that a kernel fulfils (``_base.pxd``). The Python methods are for prediction,
    tests and checkpoints.
    """

    cdef void score(self, Py_ssize_t row, float* scores, Py_ssize_t n) noexcept nogil:
        pass

    cdef float score_without(self, Py_ssize_t row, Py_ssize_t k, double* ratio) noexcept nogil:
        return 0.0

    cdef void add(self, Py_ssize_t row, Py_ssize_t k, LogQueue* logs) noexcept nogil:
        pass

    cdef void remove(self, Py_ssize_t row, Py_ssize_t k, LogQueue* logs) noexcept nogil:
        pass

    cdef void move(self, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        self.copy(self, source, target)

    cdef void copy(self, ColumnStatistics other, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        pass

    cdef void clear(self, Py_ssize_t k) noexcept nogil:
        pass

    cdef void merge(self, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        pass

    cdef double log_marginal(self, Py_ssize_t k) noexcept nogil:
        return 0.0

    cdef double log_marginal_of_both(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        cdef Py_ssize_t last = self.capacity - 1
        cdef double out
        self.move(a, last)
        self.merge(b, last)
        out = self.log_marginal(last)
        self.clear(last)
        return out

    cdef double log_predictive(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t last = self.capacity - 1
        cdef double out
        self.move(k, last)
        self.change_row(row, last, True)
        out = self.log_marginal(last) - self.log_marginal(k)
        self.clear(last)
        return out

    cdef double log_observed(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        return self.log_predictive(row, k)

    cdef double log_likelihood(
        self, const int32_t* rows, const int32_t* slots, Py_ssize_t n, Py_ssize_t n_clusters
    ) noexcept nogil:
        return NAN

    cdef void assign(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n) noexcept nogil:
        pass

    cdef void resample_prior(self, Py_ssize_t n_clusters, double power, bitgen_t* bits) noexcept nogil:
        pass

    cdef void score_values(
        self, const double* values, Py_ssize_t n_rows, Py_ssize_t n_clusters, double* out
    ) noexcept nogil:
        pass

    cdef void draw(self, Py_ssize_t k, bitgen_t* bits, double* values) noexcept nogil:
        pass

    cdef bint stateful(self) noexcept nogil:
        return False

    cdef bint incomplete(self, Py_ssize_t row) noexcept nogil:
        return False

    cdef bint complete(self, Py_ssize_t row, Py_ssize_t k, bint enters, bitgen_t* bits) noexcept nogil:
        return True

    cdef int reserve(self, Py_ssize_t capacity) except -1:
        return 0

    # The rest is for callers in Python.

    def bind(self, data):
        """Take other cells of the same column; statistics are to be rebuilt then. False if this kernel can't."""
        return False

    def rebuild(self, labels):
        """Statistics of the partition in which row i is in slot ``labels[i]`` (-1: not assigned)."""
        rows = np.flatnonzero(np.asarray(labels) >= 0).astype(np.int32)
        rebuild_columns([self], rows, np.asarray(labels)[rows].astype(np.int32), int(np.max(labels, initial=-1)) + 1)

    def make_room(self, Py_ssize_t capacity):
        """Have at least so many slots."""
        if capacity > self.capacity:
            self.reserve(padded(capacity))

    def add_row(self, Py_ssize_t row, Py_ssize_t k):
        """Add one row to a slot."""
        self.change_row(row, k, True)

    def remove_row(self, Py_ssize_t row, Py_ssize_t k):
        """Remove one row from its slot."""
        self.change_row(row, k, False)

    cdef void change_row(self, Py_ssize_t row, Py_ssize_t k, bint add) noexcept nogil:
        cdef float[LOGS_PER_CHANGE] argument
        cdef float[LOGS_PER_CHANGE] scale
        cdef float[LOGS_PER_CHANGE] offset
        cdef float* target[LOGS_PER_CHANGE]
        cdef LogQueue logs
        logs.n, logs.argument, logs.scale, logs.offset, logs.target = 0, argument, scale, offset, target
        if add:
            self.add(row, k, &logs)
        else:
            self.remove(row, k, &logs)
        flush_logs(&logs)

    def reassign_rows(self, const int32_t[::1] rows, const int32_t[::1] targets, int32_t[::1] slots):
        """Take each of these rows in turn out of its slot ``slots[row]`` and add it to a target; ``slots`` follow."""
        cdef Py_ssize_t i
        with nogil:
            for i in range(rows.shape[0]):
                self.change_row(rows[i], slots[rows[i]], False)
                slots[rows[i]] = targets[i]
                self.change_row(rows[i], targets[i], True)

    def move_slot(self, Py_ssize_t source, Py_ssize_t target):
        """Overwrite the target by the source, and clear the source."""
        self.move(source, target)
        self.clear(source)

    def copy_slot(self, ColumnStatistics other not None, Py_ssize_t source, Py_ssize_t target):
        """Overwrite the target by the source in other statistics of the same column with the same hyperparameters."""
        self.copy(other, source, target)

    def merge_slots(self, Py_ssize_t source, Py_ssize_t target):
        """Add all rows of the source to the target, and clear the source."""
        self.merge(source, target)
        self.clear(source)

    def scores(self, Py_ssize_t row, Py_ssize_t n):
        """Log predictive density of a row in slots 0..n-1, float32."""
        cdef float[::1] out = np.zeros(padded(n), np.float32)
        if padded(n) > self.capacity:
            raise ValueError(f"{n} slots asked for, capacity is {self.capacity}")
        self.score(row, &out[0], padded(n))
        return np.asarray(out)[:n]

    def leave_one_out(self, const int32_t[::1] rows, const int32_t[::1] slots):
        """Log predictive density of each row in its own slot, which has other rows, without itself."""
        cdef double[::1] out = np.empty(rows.shape[0])
        cdef double ratio
        cdef Py_ssize_t i
        check_slots(slots, self.capacity)
        with nogil:
            for i in range(rows.shape[0]):
                ratio = 1.0
                out[i] = self.score_without(rows[i], slots[i], &ratio)
                out[i] += log_double(ratio)
        return np.asarray(out)

    def log_marginals(self, Py_ssize_t n):
        """Log marginal likelihood of the cells in slots 0..n-1."""
        return np.array([self.log_marginal(k) for k in range(n)])

    def log_marginal_together(self, Py_ssize_t a, Py_ssize_t b):
        """Log marginal likelihood of the cells of two slots as one cluster."""
        return self.log_marginal_of_both(a, b)

    def log_odds_together(self, Py_ssize_t k, Py_ssize_t n):
        """Log marginal likelihood of slot k and each of the slots 0..n-1 as one cluster, less that of both.

        The last slot of all must be empty. 0 for k itself.
        """
        cdef double[::1] out = np.zeros(n)
        cdef Py_ssize_t i
        with nogil:
            for i in range(n):
                if i != k:
                    out[i] = self.log_marginal_of_both(k, i) - self.log_marginal(k) - self.log_marginal(i)
        return np.asarray(out)

    def clear_slot(self, Py_ssize_t k):
        """Leave no rows in a slot."""
        self.clear(k)

    def log_predictive_of(self, Py_ssize_t row, Py_ssize_t k):
        """Log predictive density of a row in a slot, float64, with its present fillings of missing cells."""
        return self.log_predictive(row, k)

    def log_likelihood_under(self, labels):
        """Log marginal likelihood under another partition, row i in cluster ``labels[i]`` (-1: not assigned)."""
        cdef int32_t[::1] rows = np.flatnonzero(np.asarray(labels) >= 0).astype(np.int32)
        cdef int32_t[::1] slots = np.asarray(labels)[rows].astype(np.int32)
        if not rows.shape[0]:
            return 0.0
        self.make_room(int(np.max(labels)) + 1)
        return self.log_likelihood(&rows[0], &slots[0], rows.shape[0], int(np.max(labels)) + 1)

    def log_densities(self, values, Py_ssize_t n_clusters):
        """Log predictive densities (n_rows, n_clusters), float64, of rows given as (n_rows, width)."""
        cdef const double[:, ::1] rows = np.ascontiguousarray(values, np.float64).reshape(-1, self.width)
        cdef double[:, ::1] out = np.zeros((rows.shape[0], n_clusters))
        if n_clusters > self.capacity:
            raise ValueError(f"{n_clusters} slots asked for, capacity is {self.capacity}")
        if rows.shape[0] and n_clusters:
            with nogil:
                self.score_values(&rows[0, 0], rows.shape[0], n_clusters, &out[0, 0])
        return np.asarray(out)

    def draws(self, const int32_t[::1] slots, values, generator):
        """Fill the NaNs of ``values`` (n_rows, width), row i by a draw from slot ``slots[i]``, in place."""
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        cdef double[:, ::1] rows = values
        cdef Py_ssize_t i
        check_slots(slots, self.capacity)
        with generator.bit_generator.lock, nogil:
            for i in range(slots.shape[0]):
                self.draw(slots[i], bits, &rows[i, 0])
        return values

    def learn(self, Py_ssize_t n_clusters, generator, double power=1.0):
        """One sweep of the hyperparameters over their grids, given the partition and the likelihood to this power."""
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        with generator.bit_generator.lock, nogil:
            self.resample_prior(n_clusters, power, bits)

    def is_incomplete(self, Py_ssize_t row):
        """Whether missing cells of this row are part of a chain's state."""
        return self.incomplete(row)

    def twin(self):
        """Empty statistics over the same data, with the same hyperparameters and the same fillings of missing cells."""
        return type(self)(self.data, self.parameters)

    def get_prior_state(self):
        """The state of the chain that belongs to this column, apart from the partition, as arrays."""
        return {"parameters": self.parameters}

    def set_prior_state(self, state):
        """Restore the arrays of ``get_prior_state``."""
        self.parameters = state["parameters"]


def rebuild_columns(list columns, const int32_t[::1] rows, const int32_t[::1] slots, Py_ssize_t n_clusters):
    """Statistics of the rows ``rows[i]`` in the slots ``slots[i]``, of which there are ``n_clusters``, in each column.

    Between the columns the interpreter is not waited for.
    """
    cdef ColumnStatistics column
    cdef Py_ssize_t j, n_columns = len(columns)
    cdef void** each = <void**> malloc(max(n_columns, 1) * sizeof(void*))
    if each == NULL:
        raise MemoryError()
    try:
        for j, column in enumerate(columns):
            column.make_room(n_clusters + 1)
            each[j] = <void*> column
        with nogil:
            for j in range(n_columns):
                (<ColumnStatistics> each[j]).assign(
                    &rows[0] if rows.shape[0] else NULL, &slots[0] if rows.shape[0] else NULL, rows.shape[0]
                )
    finally:
        free(each)
