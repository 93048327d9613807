"""MixtureScores: log densities of rows in a finite mixture, all parts in one pass over blocks of rows."""
from libc.math cimport INFINITY, NAN
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

import numpy as np

from sklearn_subanneal._core._math cimport LANES, exp_double, log_double, padded, simd_void
from sklearn_subanneal.columns._base cimport ColumnStatistics
from sklearn_subanneal.columns._normal cimport NormalStatistics
from sklearn_subanneal.columns._real_scores cimport RealScores

# Rows times slots held at once: 64 kB, which stays in the cache from part to part. Every part prepares its coefficients
# for each block, so that blocks must not be short.
cdef enum:
    CELLS_PER_BLOCK = 8192

# A term that is smaller than another one by this factor does not change their sum.
cdef double NEGLIGIBLE = 45.0


cdef simd_void add_rows(
    const double* table, const Py_ssize_t* places, Py_ssize_t n_rows, Py_ssize_t n, double* out
) noexcept nogil:
    cdef Py_ssize_t i, k
    cdef const double* row
    for i in range(n_rows):
        row = table + places[i] * n
        for k in range(n):
            out[i * n + k] += row[k]


cdef simd_void add_row(const double* row, Py_ssize_t n_rows, Py_ssize_t n, double* out) noexcept nogil:
    cdef Py_ssize_t i, k
    for i in range(n_rows):
        for k in range(n):
            out[i * n + k] += row[k]


cdef simd_void sum_exponentials(const double* joint, Py_ssize_t n_rows, Py_ssize_t n, double* out) noexcept nogil:
    # out[i] += log of the sum of the exponentials of a row, n a multiple of LANES.
    cdef Py_ssize_t i, k, lane
    cdef int n_counted
    cdef const double* x
    cdef double[LANES] best, total
    cdef double peak, sum_, value
    for i in range(n_rows):
        x = joint + i * n
        for lane in range(LANES):
            best[lane] = x[lane]
        for k in range(1, n // LANES):
            for lane in range(LANES):
                best[lane] = x[k * LANES + lane] if x[k * LANES + lane] > best[lane] else best[lane]
        peak = -INFINITY
        for lane in range(LANES):
            peak = best[lane] if best[lane] > peak else peak
            total[lane] = 0.0
        # Of -inf alone, the sum is 0; what is not a number stays so. Most groups of slots add nothing.
        for k in range(n // LANES):
            n_counted = 0
            for lane in range(LANES):
                n_counted += not x[k * LANES + lane] < peak - NEGLIGIBLE
            if n_counted:
                for lane in range(LANES):
                    value = x[k * LANES + lane]
                    total[lane] += exp_double(value - peak) + (0.0 if value == value else NAN)
        sum_ = 0.0
        for lane in range(LANES):
            sum_ += total[lane]
        if sum_ != sum_:
            out[i] = NAN
        else:
            out[i] += peak + log_double(sum_) if peak > -INFINITY else -INFINITY


cdef class MixtureScores:
    """A finite mixture, whose rows are independent in its parts given the component.

    Parameters
    ----------
    statistics : list of ColumnStatistics
        Of each part: slot k is component k. They are not changed, but they have room for intermediate results: one
        thread at a time may use them.
    log_weights : ndarray of shape (n_components,)
        Log probabilities of the components; some may be -inf.
    """

    cdef void** part
    cdef list kept
    cdef Py_ssize_t n_parts, n_components, n_slots
    cdef RealScores reals                   # of the parts below; None: not made yet
    cdef list real
    cdef double[::1] log_weights

    def __cinit__(self, list statistics, log_weights):
        cdef ColumnStatistics own
        cdef Py_ssize_t j
        self.kept, self.n_parts = statistics, len(statistics)
        self.n_components = len(log_weights)
        self.n_slots = padded(self.n_components)
        weights = np.full(self.n_slots, -np.inf)
        weights[: self.n_components] = log_weights
        self.log_weights = weights
        self.part = <void**> malloc(max(self.n_parts, 1) * sizeof(void*))
        if self.part == NULL:
            raise MemoryError
        for j in range(self.n_parts):
            own = statistics[j]
            if own.capacity < self.n_slots:
                raise ValueError(f"part {j} has {own.capacity} slots, and the mixture {self.n_slots}")
            self.part[j] = <void*> own

    def __dealloc__(self):
        free(self.part)

    def log_joint(self, list values, list places, Py_ssize_t n_rows):
        """Log joint density of each row and each component.

        Parameters
        ----------
        values : list of ndarray, shape (n_values, width)
            For each part, float64 values; a single one stands for all rows.
        places : list of (ndarray of int, shape (n_rows,)) or None
            For each part, the index in its values of each row; None if it is i for row i, or if there is one value.
        n_rows : int

        Returns
        -------
        log_joint : ndarray of shape (n_rows, n_components)
        """
        joint = np.empty((n_rows, self.n_components))
        if n_rows:
            self._score(values, places, n_rows, joint, None)
        return joint

    def log_densities(self, list values, list places, Py_ssize_t n_rows):
        """Log density of each row, (n_rows,), with the parameters of :meth:`log_joint`."""
        out = np.zeros(n_rows)
        if n_rows:
            self._score(values, places, n_rows, None, out)
        return out

    cdef int _score(
        self, list values, list places, Py_ssize_t n_rows, double[:, ::1] joint, double[::1] sums
    ) except -1:
        cdef Py_ssize_t j, i, n, block, first, n_slots = self.n_slots, n_components = self.n_components
        cdef Py_ssize_t step = min(max(CELLS_PER_BLOCK // n_slots, <Py_ssize_t> LANES), n_rows)
        cdef const double[:, ::1] cells
        cdef const Py_ssize_t[::1] at
        cdef double[:, ::1] table, room = np.empty((step, n_slots))
        cdef double* out = &room[0, 0]
        # Of each part: the values of the rows one after the other, or densities of distinct values and their places.
        cdef const double** value = <const double**> malloc(self.n_parts * sizeof(double*))
        cdef const double** density = <const double**> malloc(self.n_parts * sizeof(double*))
        cdef const Py_ssize_t** place = <const Py_ssize_t**> malloc(self.n_parts * sizeof(Py_ssize_t*))
        cdef const double** reals_at = <const double**> malloc(self.n_parts * sizeof(double*))
        cdef RealScores reals
        cdef Py_ssize_t n_real
        cdef Py_ssize_t* width = <Py_ssize_t*> malloc(self.n_parts * sizeof(Py_ssize_t))
        alive, real = [], []
        try:
            if value == NULL or density == NULL or place == NULL or width == NULL or reals_at == NULL:
                raise MemoryError
            for j in range(self.n_parts):
                if not isinstance(values[j], np.ndarray):
                    # Bags of words.
                    table = self.kept[j].log_densities(values[j], n_slots)
                    at = np.arange(n_rows)
                    density[j], place[j] = &table[0, 0], &at[0]
                    alive += [table, at]
                    continue
                cells = np.ascontiguousarray(values[j], np.float64)
                alive.append(cells)
                value[j], density[j], place[j], width[j] = &cells[0, 0], NULL, NULL, cells.shape[1]
                if places[j] is None and cells.shape[0] == n_rows:
                    if joint is None and isinstance(self.kept[j], NormalStatistics):
                        real.append(j)
                    continue
                table = np.zeros((cells.shape[0], n_slots))
                with nogil:
                    (<ColumnStatistics> self.part[j]).score_values(&cells[0, 0], cells.shape[0], n_slots, &table[0, 0])
                density[j] = &table[0, 0]
                alive.append(table)
                if places[j] is not None:
                    at = np.ascontiguousarray(places[j], np.intp)
                    place[j] = &at[0]
                    alive.append(at)
            # In a joint density of all components none is negligible.
            if real and (self.reals is None or real != self.real):
                self.reals, self.real = RealScores([self.kept[j] for j in real], n_slots), real
            reals = self.reals
            n_real = len(real)
            for i in range(n_real):
                j = real[i]
                reals_at[i] = value[j]
                value[j] = NULL
            with nogil:
                for block in range((n_rows + step - 1) // step):
                    first = block * step
                    n = min(step, n_rows - first)
                    for i in range(n):
                        memcpy(out + i * n_slots, &self.log_weights[0], n_slots * sizeof(double))
                    for j in range(self.n_parts):
                        if value[j] == NULL and density[j] == NULL:
                            continue
                        if place[j] != NULL:
                            add_rows(density[j], place[j] + first, n, n_slots, out)
                        elif density[j] != NULL:
                            add_row(density[j], n, n_slots, out)
                        else:
                            (<ColumnStatistics> self.part[j]).score_values(
                                value[j] + first * width[j], n, n_slots, out)
                    if n_real:
                        reals.add(reals_at, first, n, out)
                    if joint is None:
                        sum_exponentials(out, n, n_slots, &sums[first])
                    else:
                        for i in range(n):
                            memcpy(&joint[first + i, 0], out + i * n_slots, n_components * sizeof(double))
        finally:
            free(value)
            free(density)
            free(place)
            free(width)
            free(reals_at)
        return 0
