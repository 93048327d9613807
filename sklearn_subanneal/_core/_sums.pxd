"""Sums, logarithms and exponentials over arrays of float64, in vectors."""
from sklearn_subanneal._core._math cimport exp_double, log_double

# Sums are in this many running totals.
cdef enum:
    BLOCK = 8


cdef inline double log_add(double a, double b) noexcept nogil:
    """log(exp(a) + exp(b))."""
    return a + log_double(1.0 + exp_double(b - a)) if a > b else b + log_double(1.0 + exp_double(a - b))


cdef void add_multiple(double factor, const double* values, double* out, Py_ssize_t n) noexcept nogil
cdef void take_sums(const double* a, const double* b, double* out, Py_ssize_t n) noexcept nogil
cdef void take_exponentials(double top, double* values, Py_ssize_t n) noexcept nogil
cdef void take_log_rising(
    const double* alpha, const double* log_gamma_alpha, const double* count, double* out, Py_ssize_t n
) noexcept nogil
cdef void take_log_gammas(const double* values, double* out, Py_ssize_t n) noexcept nogil
cdef void take_weighted_sum(const double* weight, const double* values, Py_ssize_t n, double* out) noexcept nogil
cdef void multiply(const double* factors, double* values, Py_ssize_t n, double* total) noexcept nogil
cdef double largest(const double* values, Py_ssize_t n) noexcept nogil
cdef double log_sum(double* values, Py_ssize_t n) noexcept nogil
