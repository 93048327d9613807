"""AdditiveStatistics, the base class of statistics that are sums over rows: memory, copies, merges, state, grids."""
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport padded
from sklearn_subanneal._core._random cimport categorical
from sklearn_subanneal.columns._base cimport MAX_GRID, ColumnStatistics, LogQueue

from sklearn_subanneal.columns._base import as_grid, check_slots, check_state
from sklearn_subanneal.columns.slab import zeros


cdef class AdditiveStatistics(ColumnStatistics):
    """Statistics of a column whose sufficient statistics are sums.

    Parameters
    ----------
    data : ColumnData or None
        None where only the predictive densities are wanted.
    parameters : dict
        Hyperparameters by their names.
    grids : dict or None
        Grids of the hyperparameters to learn; those that are not named stay fixed.
    capacity : int
        Number of slots.
    hyperparameters : tuple of str
        Names of the hyperparameters that are single numbers, in the order in which they are redrawn.
    sums : tuple of str
        Names of the float64 sums that begin the record of a slot.
    n_derived : int
        Doubles of the record that follow from them.
    n_counts, n_floats, n_doubles : int
        Sums of integers, and coefficients in float32 and in float64, contiguous over slots.
    """

    def __init__(
        self, data, parameters, grids, Py_ssize_t capacity, *, tuple hyperparameters=(), tuple sums=(),
        Py_ssize_t n_derived=0, Py_ssize_t n_counts=0, Py_ssize_t n_floats=0, Py_ssize_t n_doubles=0
    ):
        cdef Py_ssize_t i
        self.width = 1
        self.data = data
        self.hyperparameter_names, self.n_hyperparameters = hyperparameters, len(hyperparameters)
        self.sum_names, self.n_sums, self.n_record = sums, len(sums), len(sums) + n_derived
        self.n_counts, self.n_floats, self.n_doubles = n_counts, n_floats, n_doubles
        axes = [as_grid((grids or {}).get(name, ())) for name in hyperparameters]
        # No larger than need be: there are statistics for each column, in every draw of which densities are asked.
        self.grid = np.zeros((max(self.n_hyperparameters, 1), max(max((len(axis) for axis in axes), default=0), 1)))
        for i in range(self.n_hyperparameters):
            self.n_grid[i] = len(axes[i])
            np.asarray(self.grid)[i, :len(axes[i])] = axes[i]
        self.reserve(padded(capacity))
        self.parameters = parameters

    @property
    def parameters(self):
        return {name: self.hyperparameter[i] for i, name in enumerate(self.hyperparameter_names)}

    @parameters.setter
    def parameters(self, values):
        cdef Py_ssize_t i
        for i in range(self.n_hyperparameters):
            self.hyperparameter[i] = values[self.hyperparameter_names[i]]
        self.refresh_all()

    def bind(self, data):
        self.data = data
        self.place()
        return True

    def adopt(self, AdditiveStatistics source not None):
        """Take over the hyperparameters of other statistics of the same column."""
        cdef Py_ssize_t i
        cdef bint same = True
        for i in range(self.n_hyperparameters):
            same = same and self.hyperparameter[i] == source.hyperparameter[i]
            self.hyperparameter[i] = source.hyperparameter[i]
        if not same:
            self.refresh_all()

    cdef int reserve(self, Py_ssize_t capacity) except -1:
        cdef Py_ssize_t k, present = self.capacity
        records, counts = zeros((capacity, self.n_record)), zeros((self.n_counts, capacity), np.int32)
        floats, doubles = zeros((self.n_floats, capacity), np.float32), zeros((self.n_doubles, capacity))
        if present:
            records[:present] = self.memory[0]
            for new, old in zip((counts, floats, doubles), self.memory[1:4], strict=True):
                new[:, :present] = old
        n_room = self.n_record + max(self.n_sums + 1, N_ROOM)
        room = zeros((capacity * n_room,)), zeros((self.n_counts, capacity), np.int32)
        self.memory = (records, counts, floats, doubles, *room)
        self.own = Sums(<double*> address(records), <int32_t*> address(counts))
        self.other = Sums(<double*> address(room[0]), <int32_t*> address(room[1]))
        self.floats, self.doubles = <float*> address(floats), <double*> address(doubles)
        self.room = self.other.record + capacity * self.n_record
        self.capacity = capacity
        self.place()
        for k in range(present, capacity if present else 0):
            self.refresh(k)
        return 0

    cdef int place(self) except -1:
        return 0

    cdef void add(self, Py_ssize_t row, Py_ssize_t k, LogQueue* logs) noexcept nogil:
        self.change(row, k, 1.0, logs)

    cdef void remove(self, Py_ssize_t row, Py_ssize_t k, LogQueue* logs) noexcept nogil:
        self.change(row, k, -1.0, logs)

    cdef void change(self, Py_ssize_t row, Py_ssize_t k, double sign, LogQueue* logs) noexcept nogil:
        pass

    cdef double sum_rows(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n, Sums* sums) noexcept nogil:
        return 0.0

    cdef void copy(self, ColumnStatistics other, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        copy_slot(self, <AdditiveStatistics> other, source, target)

    cdef void clear(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.n_sums):
            self.own.record[k * self.n_record + i] = 0.0
        for i in range(self.n_counts):
            self.own.count[i * self.capacity + k] = 0
        self.refresh(k)

    cdef void merge(self, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.n_sums):
            self.own.record[target * self.n_record + i] += self.own.record[source * self.n_record + i]
        for i in range(self.n_counts):
            self.own.count[i * self.capacity + target] += self.own.count[i * self.capacity + source]
        self.refresh(target)

    cdef void assign(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n) noexcept nogil:
        clear_sums(self, &self.own, self.capacity)
        self.sum_rows(rows, slots, n, &self.own)
        self.refresh_slots()

    cdef double log_likelihood(
        self, const int32_t* rows, const int32_t* slots, Py_ssize_t n, Py_ssize_t n_clusters
    ) noexcept nogil:
        cdef Py_ssize_t i, k
        cdef double constant
        clear_sums(self, &self.other, n_clusters)
        constant = self.sum_rows(rows, slots, n, &self.other)
        for k in range(n_clusters):
            for i in range(self.n_sums):
                self.room[i * self.capacity + k] = self.other.record[k * self.n_record + i]
        return self.log_evidence(n_clusters, constant)

    cdef double log_evidence(self, Py_ssize_t n_clusters, double constant) noexcept nogil:
        return constant

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        pass

    cdef void refresh_prior(self) noexcept nogil:
        pass

    cdef void refresh_all(self) noexcept nogil:
        self.refresh_prior()
        self.refresh_slots()

    cdef void refresh_slots(self) noexcept nogil:
        # Most slots are empty, and alike.
        cdef Py_ssize_t k, i, empty = -1
        cdef bint is_empty
        for k in range(self.capacity):
            is_empty = True
            for i in range(self.n_sums):
                is_empty = is_empty and self.own.record[k * self.n_record + i] == 0.0
            if is_empty and empty >= 0:
                self.copy(self, empty, k)
                continue
            self.refresh(k)
            if is_empty:
                empty = k

    cdef void resample_prior(self, Py_ssize_t n_clusters, double power, bitgen_t* bits) noexcept nogil:
        cdef double[MAX_GRID] logs, work
        cdef const double* grid
        cdef Py_ssize_t axis, i
        cdef bint changed = False
        for axis in range(self.n_hyperparameters):
            if self.n_grid[axis]:
                grid = &self.grid[axis, 0]
                for i in range(self.n_grid[axis]):
                    logs[i] = 0.0
                self.add_over_grid(axis, grid, self.n_grid[axis], n_clusters, logs)
                i = categorical(logs, work, self.n_grid[axis], power, bits)
                changed = changed or self.hyperparameter[axis] != grid[i]
                self.hyperparameter[axis] = grid[i]
        if changed:
            self.refresh_all()

    cdef void add_over_grid(
        self, Py_ssize_t axis, const double* grid, Py_ssize_t n_grid, Py_ssize_t n_clusters, double* out
    ) noexcept nogil:
        pass

    def without_rows(self, const int32_t[::1] rows, const int32_t[::1] slots):
        """New statistics, of which slot i is slot ``slots[i]`` of these without ``rows[i]``, one of its rows."""
        cdef AdditiveStatistics out = self.twin()
        cdef Py_ssize_t i, n = rows.shape[0]
        check_slots(slots, self.capacity)
        out.make_room(n + 1)
        with nogil:
            for i in range(n):
                out.copy(self, slots[i], i)
                out.change_row(rows[i], i, False)
        return out

    def get_state(self, Py_ssize_t n_clusters):
        """Arrays from which ``set_state`` restores the first slots and the hyperparameters."""
        state = {name: self.memory[0][:n_clusters, i].copy() for i, name in enumerate(self.sum_names)}
        if self.n_counts:
            state["counts"] = self.memory[1][:, :n_clusters].copy()
        return state | {"parameters": self.parameters}

    def set_state(self, state):
        """Restore the arrays of ``get_state``; all other slots are empty."""
        sums = [state[name] for name in self.sum_names]
        n_clusters = len(sums[0]) if sums else state["counts"].shape[1]
        self.make_room(n_clusters + 1)
        records, counts = self.memory[:2]
        for name in ("count", "counts"):
            check_state(bool(np.all(np.asarray(state.get(name, 0)) >= 0)))
        records[:] = 0.0
        counts[:] = 0
        for i, values in enumerate(sums):
            records[:n_clusters, i] = values
        if self.n_counts:
            counts[:, :n_clusters] = state["counts"]
        self.parameters = state["parameters"]


cdef void* address(array):
    return <void*> <size_t> array.ctypes.data


cdef void clear_sums(AdditiveStatistics self, Sums* sums, Py_ssize_t n) noexcept nogil:
    """The records and counts of the first n slots become 0."""
    cdef Py_ssize_t i
    if self.n_record:
        memset(sums.record, 0, n * self.n_record * sizeof(double))
    for i in range(self.n_counts):
        memset(sums.count + i * self.capacity, 0, n * sizeof(int32_t))


cdef void copy_slot(
    AdditiveStatistics here, AdditiveStatistics other, Py_ssize_t source, Py_ssize_t target
) noexcept nogil:
    cdef Py_ssize_t i
    if here.n_record:
        memcpy(here.own.record + target * here.n_record, other.own.record + source * here.n_record,
               here.n_record * sizeof(double))
    for i in range(here.n_counts):
        here.own.count[i * here.capacity + target] = other.own.count[i * other.capacity + source]
    for i in range(here.n_floats):
        here.floats[i * here.capacity + target] = other.floats[i * other.capacity + source]
    for i in range(here.n_doubles):
        here.doubles[i * here.capacity + target] = other.doubles[i * other.capacity + source]
