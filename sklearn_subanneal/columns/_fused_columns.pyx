"""FusedColumns: all columns of a mixture while rows move.

Independent reals are computed in common loops, without a call for each column. And scores are bounded from above: with
the least power of its columns, the log density of a slot takes one logarithm of a product, not one for each column. A
slot whose bound is far below the score of another need not be scored at all.
"""
from libc.stdint cimport uintptr_t

import numpy as np

from sklearn_subanneal._core._math cimport log_double, log_float, padded
from sklearn_subanneal.columns._base cimport BLOCK, REAL, ColumnStatistics, LogQueue, flush_logs
from sklearn_subanneal.columns._mvnormal cimport GaussianStatistics
from sklearn_subanneal.columns._normal cimport TABLE, Moments, NormalPrior, NormalStatistics, add_student_t
from sklearn_subanneal.columns._student_t_loops cimport (
    finish_bounds, multiply_factors, multiply_four_factors, sum_left_out, sum_student_t, update_student_t,
)

cdef double HALF_LOG_PI = 0.57236494292470008707

# Relative rounding of one factor of a product, and more than that.
cdef float ROUNDING = 4e-7

# Arrays of one number for each column: of the prior and of the statistics of one slot, and of its coefficients.
cdef enum:
    N_DOUBLES = 10
    N_FLOATS = 5

# Columns of which scores are summed before they are added to those of others.
cdef enum:
    PART = 64


cdef void change_each(
    void** columns, Py_ssize_t n, Py_ssize_t row, Py_ssize_t k, double sign, LogQueue* logs
) noexcept nogil:
    """Add a row to a slot in each of these columns (sign 1), or remove it (-1)."""
    cdef Py_ssize_t j
    for j in range(n):
        if sign > 0.0:
            (<ColumnStatistics> columns[j]).add(row, k, logs)
        else:
            (<ColumnStatistics> columns[j]).remove(row, k, logs)
    flush_logs(logs)


cdef void score_each(
    void** columns, Py_ssize_t n_columns, Py_ssize_t row, float* scores, float* part, Py_ssize_t n
) noexcept nogil:
    """scores[k] += the score of a row in slot k, of which there are n, in each of these columns.

    Sums are formed in parts, for which ``part`` has the room: categories give the same number again and again, and a
    long sum of equal numbers is rounded the same way at every step, by up to a nat in a few thousand columns.
    """
    cdef Py_ssize_t j, k
    if n_columns <= PART:
        for j in range(n_columns):
            (<ColumnStatistics> columns[j]).score(row, scores, n)
        return
    for k in range(n):
        part[k] = 0.0
    for j in range(n_columns):
        (<ColumnStatistics> columns[j]).score(row, part, n)
        if j % PART == PART - 1 or j == n_columns - 1:
            for k in range(n):
                scores[k] += part[k]
                part[k] = 0.0


cdef class FusedColumns:
    """The columns of a mixture between :meth:`begin` and :meth:`end`, while rows are scored, added and removed.

    Coefficients stay where the columns have them. Meanwhile nothing else may change the columns, but that slots are
    moved, of which ``sum_slot`` is to be told, and made, after which ``begin`` is called again.
    """

    cdef int reserve(self, Py_ssize_t n_columns, Py_ssize_t n_slots) except -1:
        cdef Py_ssize_t stride = padded(max(n_columns, 1))
        pointers = np.zeros((5, stride), np.uintp)
        doubles, floats = np.zeros((N_DOUBLES, stride)), np.zeros((N_FLOATS, stride), np.float32)
        slots = np.zeros((3, n_slots), np.float32)
        self.memory = pointers, doubles, floats, slots
        self.room, self.stride, self.n_slots = n_columns, stride, n_slots
        self.plain = <void**> <uintptr_t> pointers.ctypes.data
        self.block, self.real = self.plain + stride, self.plain + 2 * stride
        self.seen, self.unseen = self.plain + 3 * stride, self.plain + 4 * stride
        self.doubles = <double*> <uintptr_t> doubles.ctypes.data
        self.floats = <float*> <uintptr_t> floats.ctypes.data
        self.constant = <float*> <uintptr_t> slots.ctypes.data
        self.least_power, self.product = self.constant + n_slots, self.constant + 2 * n_slots
        return 0

    cdef int begin(self, void** columns, Py_ssize_t n_columns, Py_ssize_t n_slots) except -1 nogil:
        cdef Py_ssize_t j, k, stride
        cdef NormalPrior* p
        cdef double* prior
        if n_columns > self.room or n_slots != self.n_slots:
            with gil:
                self.reserve(max(n_columns, self.room), n_slots)
        self.n_plain = self.n_reals = self.n_blocks = 0
        self.has_bounds = False
        for j in range(n_columns):
            if (<ColumnStatistics> columns[j]).family == REAL:
                self.real[self.n_reals] = columns[j]
                self.n_reals += 1
            elif (<ColumnStatistics> columns[j]).family == BLOCK:
                self.block[self.n_blocks] = columns[j]
                self.n_blocks += 1
                self.has_bounds |= (<ColumnStatistics> columns[j]).width > 2
            else:
                self.plain[self.n_plain] = columns[j]
                self.n_plain += 1
        self.has_bounds |= self.n_reals > 2
        prior, stride = self.doubles, self.stride
        for j in range(stride):
            # What stands for no column is valid and counts nothing.
            prior[j] = prior[3 * stride + j] = prior[4 * stride + j] = 1.0
            prior[stride + j] = prior[2 * stride + j] = 0.0
            for k in range(5, N_DOUBLES):
                prior[k * stride + j] = 0.0
        for j in range(self.n_reals):
            p = (<NormalStatistics> self.real[j]).prior
            prior[j], prior[stride + j], prior[2 * stride + j] = p.kappa, p.kappa * p.mu, p.kappa * p.mu * p.mu
            prior[3 * stride + j], prior[4 * stride + j] = p.nu * p.sigma2, p.nu
        for k in range(n_slots):
            self.sum_slot(k)
        self.active = True
        return 0

    cdef void end(self) noexcept nogil:
        self.active = False

    cdef void sum_slot(self, Py_ssize_t k) noexcept nogil:
        # After the coefficients of a slot have changed.
        cdef Py_ssize_t j
        cdef float constant = 0.0, least = <float> 1e30, power
        for j in range(self.n_reals):
            constant += (<NormalStatistics> self.real[j]).constant[k]
            power = (<NormalStatistics> self.real[j]).power[k]
            least = power if power < least else least
        self.constant[k], self.least_power[k] = constant, least

    cdef void read(self, Py_ssize_t row) noexcept nogil:
        # The observed reals of a row, and where they are.
        cdef Py_ssize_t j
        cdef float x
        self.n_seen = self.n_unseen = 0
        for j in range(self.n_reals):
            x = (<NormalStatistics> self.real[j]).cells[row]
            if x == x:
                self.seen[self.n_seen] = self.real[j]
                self.floats[self.n_seen] = x
                self.n_seen += 1
            else:
                self.unseen[self.n_unseen] = self.real[j]
                self.n_unseen += 1
        for j in range(self.n_seen, padded(self.n_seen)):
            self.clear(j)

    cdef void clear(self, Py_ssize_t j) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(N_FLOATS):
            self.floats[i * self.stride + j] = 0.0

    cdef void score_plain(self, Py_ssize_t row, float* scores, Py_ssize_t n) noexcept nogil:
        # Of columns that have no bound.
        score_each(self.plain, self.n_plain, row, scores, self.product, n)

    cdef void score_rest(self, Py_ssize_t row, float* scores, Py_ssize_t n) noexcept nogil:
        # Of all others. The row must have been read.
        cdef Py_ssize_t i, j
        for j in range(self.n_blocks):
            (<ColumnStatistics> self.block[j]).score(row, scores, n)
        for i in range(self.n_seen):
            add_student_t(self.floats[i], (<NormalStatistics> self.seen[i]).location,
                          (<NormalStatistics> self.seen[i]).precision, (<NormalStatistics> self.seen[i]).power,
                          (<NormalStatistics> self.seen[i]).constant, scores, n)

    cdef void bound_rest(self, Py_ssize_t row, float* bounds, Py_ssize_t n) noexcept nogil:
        # bounds[k] += at least the score of all others. The row must have been read, and be complete in the blocks.
        cdef Py_ssize_t i, j, k
        cdef const float* constant
        for j in range(self.n_blocks):
            (<GaussianStatistics> self.block[j]).bound(row, bounds, n)
        if not self.n_seen:
            return
        for k in range(n):
            self.product[k] = 1.0
        for i in range(0, self.n_seen - 3, 4):
            multiply_four_factors(
                self.floats + i,
                (<NormalStatistics> self.seen[i]).location, (<NormalStatistics> self.seen[i]).precision,
                (<NormalStatistics> self.seen[i + 1]).location, (<NormalStatistics> self.seen[i + 1]).precision,
                (<NormalStatistics> self.seen[i + 2]).location, (<NormalStatistics> self.seen[i + 2]).precision,
                (<NormalStatistics> self.seen[i + 3]).location, (<NormalStatistics> self.seen[i + 3]).precision,
                self.product, n)
        for i in range(self.n_seen - self.n_seen % 4, self.n_seen):
            multiply_factors(self.floats[i], (<NormalStatistics> self.seen[i]).location,
                             (<NormalStatistics> self.seen[i]).precision, self.product, n)
        finish_bounds(self.constant, self.least_power, self.product, ROUNDING * self.n_seen, bounds, n)
        for i in range(self.n_unseen):
            constant = (<NormalStatistics> self.unseen[i]).constant
            for k in range(n):
                bounds[k] -= constant[k]

    cdef float score_rest_in(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        # The score of all others in one slot. The row must have been read, and be complete in the blocks.
        cdef Py_ssize_t i, j, stride = self.stride
        cdef float* own = self.floats + stride
        cdef float out = 0.0, of_reals
        for j in range(self.n_blocks):
            out += (<GaussianStatistics> self.block[j]).score_in(row, k)
        if not self.n_seen:
            return out
        for i in range(self.n_seen):
            own[i] = (<NormalStatistics> self.seen[i]).location[k]
            own[stride + i] = (<NormalStatistics> self.seen[i]).precision[k]
            own[2 * stride + i] = (<NormalStatistics> self.seen[i]).power[k]
            own[3 * stride + i] = (<NormalStatistics> self.seen[i]).constant[k]
        sum_student_t(self.floats, own, own + stride, own + 2 * stride, own + 3 * stride, &of_reals,
                      padded(self.n_seen))
        return out + of_reals

    cdef float score_without(self, Py_ssize_t row, Py_ssize_t k, double* ratio) noexcept nogil:
        # As that of a column, of all columns. The row must have been read.
        cdef Py_ssize_t i, j, stride = self.stride
        cdef float* own = self.floats + stride
        cdef float out = 0.0, of_reals
        cdef double d
        cdef Moments* m
        for j in range(self.n_plain):
            out += (<ColumnStatistics> self.plain[j]).score_without(row, k, ratio)
            if ratio[0] < 1e-250:
                out += <float> log_double(ratio[0])
                ratio[0] = 1.0
        for j in range(self.n_blocks):
            out += (<ColumnStatistics> self.block[j]).score_without(row, k, ratio)
        if not self.n_seen:
            return out
        for i in range(self.n_seen):
            m = &(<NormalStatistics> self.seen[i]).moments[k]
            if m.own_scale < 0.0:
                (<NormalStatistics> self.seen[i]).prepare_own(k)
            d = self.floats[i] - m.mean
            d *= d * m.own_scale
            if d < 0.5:
                own[i] = <float> -d
                own[stride + i] = (<NormalStatistics> self.seen[i]).power[k] - <float> 1.0
                own[2 * stride + i] = m.own_constant
            else:
                own[i] = own[stride + i] = 0.0
                own[2 * stride + i] = (<NormalStatistics> self.seen[i]).score_without(row, k, ratio)
        sum_left_out(own, own + stride, own + 2 * stride, &of_reals, padded(self.n_seen))
        return out + of_reals

    cdef void change(self, Py_ssize_t row, Py_ssize_t k, double sign, LogQueue* logs) noexcept nogil:
        # Add a row to a slot, or remove it.
        cdef Py_ssize_t j, stride = self.stride
        cdef double* prior = self.doubles
        cdef double* sums = prior + 5 * stride
        cdef float* own = self.floats + stride
        cdef Moments* m
        cdef double x
        cdef float constant, total = 0.0, least = <float> 1e30
        change_each(self.plain, self.n_plain, row, k, sign, logs)
        change_each(self.block, self.n_blocks, row, k, sign, logs)
        if not self.n_reals:
            return
        for j in range(self.n_reals):
            m = &(<NormalStatistics> self.real[j]).moments[k]
            x = (<NormalStatistics> self.real[j]).cells[row]
            if x == x:
                m.count += sign
                m.total += sign * x
                m.square += sign * (x * x)
            sums[j], sums[stride + j], sums[2 * stride + j] = m.count, m.total, m.square
        update_student_t(prior, prior + stride, prior + 2 * stride, prior + 3 * stride, prior + 4 * stride, sums,
                         sums + stride, sums + 2 * stride, sums + 3 * stride, sums + 4 * stride, own, own + stride,
                         own + 2 * stride, own + 3 * stride, padded(self.n_reals))
        for j in range(self.n_reals):
            m = &(<NormalStatistics> self.real[j]).moments[k]
            m.mean, m.spread, m.own_scale = sums[3 * stride + j], sums[4 * stride + j], -1.0
            constant = own[3 * stride + j]
            if m.count < TABLE:
                constant = (<float> ((<NormalStatistics> self.real[j]).gamma_ratios[<int> m.count] - HALF_LOG_PI)
                            + <float> 0.5 * log_float(own[stride + j]))
            (<NormalStatistics> self.real[j]).location[k] = own[j]
            (<NormalStatistics> self.real[j]).precision[k] = own[stride + j]
            (<NormalStatistics> self.real[j]).power[k] = own[2 * stride + j]
            (<NormalStatistics> self.real[j]).constant[k] = constant
            total += constant
            least = own[2 * stride + j] if own[2 * stride + j] < least else least
        self.constant[k], self.least_power[k] = total, least
