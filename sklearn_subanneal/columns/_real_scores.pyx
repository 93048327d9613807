"""RealScores: densities of rows in several independent columns of reals, in those slots alone that count."""
from libc.math cimport INFINITY
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

import numpy as np

from sklearn_subanneal._core._math cimport LANES, log_double, own_doubles, padded, simd_void
from sklearn_subanneal.columns._normal cimport NormalStatistics

# A slot whose joint density is less than that of another by this factor does not change the sum over slots, in float64.
cdef double NEGLIGIBLE = 45.0


# Rows whose bounds are computed side by side: they share coefficients, and need not wait for one another.
cdef enum:
    ROWS = 4


cdef inline double least_log(double x) noexcept nogil:
    """At most log(x), and at least 0.69 of it, for x >= 1: log2 is linear between powers of two."""
    cdef uint64_t bits, exponent_bits
    cdef double mantissa, exponent
    memcpy(&bits, &x, 8)
    exponent_bits = (bits >> 52) | <uint64_t> 0x4330000000000000
    memcpy(&exponent, &exponent_bits, 8)
    bits = (bits & <uint64_t> 0x000fffffffffffff) | <uint64_t> 0x3ff0000000000000
    memcpy(&mantissa, &bits, 8)
    return ((exponent - 4503599627371519.0) + (mantissa - 1.0)) * 0.69314718055994529


cdef simd_void multiply_factors(
    double x, double x2, double x3, double x4, const double* location, const double* precision,
    own_doubles first, own_doubles second, own_doubles third, own_doubles fourth, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    cdef double d
    for k in range(n):
        d = x - location[k]
        first[k] *= 1.0 + d * d * precision[k]
        d = x2 - location[k]
        second[k] *= 1.0 + d * d * precision[k]
        d = x3 - location[k]
        third[k] *= 1.0 + d * d * precision[k]
        d = x4 - location[k]
        fourth[k] *= 1.0 + d * d * precision[k]


cdef simd_void bound_log_joint(
    const double* cells, Py_ssize_t stride, const double* near, const double* least_power, const double* constant,
    const double* joint, double* product, double* bound, Py_ssize_t n_columns, Py_ssize_t n
) noexcept nogil:
    # Of ROWS rows: joint + the sum over columns of constant - power log(1 + precision (x - location)^2), from above:
    # with the least power one logarithm, of the product, will do. Of an overflow it is 709, less than it should be.
    cdef Py_ssize_t j, k, row
    cdef const double* location = near
    cdef const double* precision
    cdef double* own
    cdef double x, x2, x3, x4, d
    for k in range(ROWS * n):
        product[k] = 1.0
        bound[k] = joint[k]
    for row in range(ROWS):
        for k in range(n):
            bound[row * n + k] += constant[k]
    for j in range(n_columns):
        x, x2, x3, x4 = cells[j], cells[stride + j], cells[2 * stride + j], cells[3 * stride + j]
        precision = location + n
        if x == x and x2 == x2 and x3 == x3 and x4 == x4:
            multiply_factors(x, x2, x3, x4, location, precision, product, product + n, product + 2 * n,
                             product + 3 * n, n)
        else:
            for row in range(ROWS):
                x = cells[row * stride + j]
                own = product + row * n
                if x == x:
                    for k in range(n):
                        d = x - location[k]
                        own[k] *= 1.0 + d * d * precision[k]
                else:
                    own = bound + row * n
                    for k in range(n):
                        own[k] -= precision[n + k]
        location += 3 * n
    for row in range(ROWS):
        for k in range(n):
            bound[row * n + k] -= least_power[k] * least_log(product[row * n + k])


cdef simd_void sum_log_densities(
    const double* cells, const double* own, Py_ssize_t stride, double* out
) noexcept nogil:
    # Of the observed cells of a row in one slot.
    cdef Py_ssize_t group, lane, j
    cdef double d
    cdef double[LANES] total
    for lane in range(LANES):
        total[lane] = 0.0
    for group in range(stride // LANES):
        for lane in range(LANES):
            j = group * LANES + lane
            d = cells[j] - own[j]
            d = own[3 * stride + j] - own[2 * stride + j] * log_double(1.0 + d * d * own[stride + j])
            total[lane] += d if cells[j] == cells[j] else 0.0
    out[0] = 0.0
    for lane in range(LANES):
        out[0] += total[lane]


cdef class RealScores:
    """The predictive densities of several columns of reals, independent given the slot.

    Parameters
    ----------
    statistics : list of NormalStatistics
    n_slots : int
        A multiple of ``LANES``.
    """

    def __init__(self, list statistics, Py_ssize_t n_slots):
        cdef Py_ssize_t j
        cdef NormalStatistics column
        cdef double[:, ::1] taken
        self.n_columns, self.n_slots, self.stride = len(statistics), n_slots, padded(len(statistics))
        coefficients = np.zeros((self.n_columns, 4, n_slots))
        for j in range(self.n_columns):
            column, taken = statistics[j], coefficients[j]
            column.take_coefficients(n_slots, &taken[0, 0], &taken[1, 0], &taken[2, 0], &taken[3, 0])
        location, precision, power, constant = coefficients.transpose(1, 0, 2)
        self.near = np.stack([location, precision, constant], axis=1)
        own = np.zeros((n_slots, 4, self.stride))
        own[:, :, : self.n_columns] = coefficients.transpose(2, 1, 0)
        self.own = own
        self.least_power, self.constant = power.min(axis=0), constant.sum(axis=0)
        self.cells = np.full((ROWS, self.stride), np.nan)
        self.joint, self.product, self.bound = np.zeros((3, ROWS, n_slots))

    cdef void add(self, const double** values, Py_ssize_t first, Py_ssize_t n_rows, double* joint) noexcept nogil:
        # joint[i, k] += log density of row first + i in slot k, of which ``values[j]`` are the cells of column j; or
        # -inf where it is negligible.
        cdef Py_ssize_t i, row, j, k, best, group, n_here, n = self.n_slots
        cdef double least
        cdef double* own
        cdef double* bound
        for group in range((n_rows + ROWS - 1) // ROWS):
            n_here = min(n_rows - group * ROWS, <Py_ssize_t> ROWS)
            for row in range(ROWS):
                # The last row stands for those that are not there.
                i = group * ROWS + min(row, n_here - 1)
                memcpy(&self.joint[row, 0], joint + i * n, n * sizeof(double))
                for j in range(self.n_columns):
                    self.cells[row, j] = values[j][first + i]
            bound_log_joint(&self.cells[0, 0], self.stride, &self.near[0, 0, 0], &self.least_power[0],
                            &self.constant[0], &self.joint[0, 0], &self.product[0, 0], &self.bound[0, 0],
                            self.n_columns, n)
            for row in range(n_here):
                own, bound = joint + (group * ROWS + row) * n, &self.bound[row, 0]
                best = 0
                for k in range(1, n):
                    if bound[k] > bound[best]:
                        best = k
                own[best] += self.log_density(row, best)
                least = own[best] - NEGLIGIBLE
                for k in range(n):
                    if k != best:
                        # What is not a number shows.
                        own[k] = -INFINITY if bound[k] < least else own[k] + self.log_density(row, k)

    cdef double log_density(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        # of the cells that are in ``cells``
        cdef double out
        sum_log_densities(&self.cells[row, 0], &self.own[k, 0, 0], self.stride, &out)
        return out
