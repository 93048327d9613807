"""Sums, logarithms and exponentials over arrays of float64, in vectors."""
from libc.stdint cimport int32_t

from sklearn_subanneal._core._math cimport exp_double, log_double

# Sums are of this many columns at once, or in this many running totals.
cdef enum:
    BLOCK = 8


cdef inline double log_add(double a, double b) noexcept nogil:
    """log(exp(a) + exp(b))."""
    return a + log_double(1.0 + exp_double(b - a)) if a > b else b + log_double(1.0 + exp_double(a - b))


cdef void add_multiple(double factor, const double* values, double* out, Py_ssize_t n) noexcept nogil
cdef void take_sums(const double* a, const double* b, double* out, Py_ssize_t n) noexcept nogil
cdef void take_exponentials(double top, double* values, Py_ssize_t n) noexcept nogil
cdef void take_logs(double* values, Py_ssize_t n) noexcept nogil
cdef void take_log_rising(
    const double* alpha, const double* log_gamma_alpha, const double* count, double* out, Py_ssize_t n
) noexcept nogil
cdef void take_log_gammas(const double* values, double* out, Py_ssize_t n) noexcept nogil
cdef void take_weighted_sums(
    const double* weight, const double* rows, Py_ssize_t n, Py_ssize_t n_rows, Py_ssize_t n_blocks, double* out
) noexcept nogil
cdef void take_sums_of_rows(
    const double* weight, const int32_t* which, Py_ssize_t n, const double* rows, Py_ssize_t n_rows,
    Py_ssize_t n_blocks, double* out) noexcept nogil
cdef double weighted_sum(const double* weight, const double* values, Py_ssize_t n) noexcept nogil
cdef double largest(const double* values, Py_ssize_t n) noexcept nogil
cdef double log_sum(double* values, Py_ssize_t n) noexcept nogil
