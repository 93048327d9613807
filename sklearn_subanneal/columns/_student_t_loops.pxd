"""Loops over independent reals, declared for the columns of a mixture while rows move."""
from sklearn_subanneal._core._math cimport own_doubles, own_floats, simd_void

cdef simd_void multiply_factors(
    float x, const float* location, const float* precision, float* product, Py_ssize_t n) noexcept nogil
cdef simd_void multiply_four_factors(
    const float* x, const float* location, const float* precision, const float* location2, const float* precision2,
    const float* location3, const float* precision3, const float* location4, const float* precision4,
    own_floats product, Py_ssize_t n) noexcept nogil
cdef simd_void finish_bounds(
    const float* constant, const float* least_power, const float* product, float slack, float* bounds, Py_ssize_t n
) noexcept nogil
cdef simd_void sum_student_t(
    const float* x, const float* location, const float* precision, const float* power, const float* constant,
    float* out, Py_ssize_t n) noexcept nogil
cdef simd_void sum_left_out(
    const float* log_argument, const float* power, const float* constant, float* out, Py_ssize_t n) noexcept nogil
cdef simd_void update_student_t(
    const double* kappa, const double* prior_total, const double* prior_square, const double* prior_spread,
    const double* nu, const double* count, const double* total, const double* square, own_doubles mean,
    own_doubles spread, own_floats location, own_floats precision, own_floats power, own_floats constant, Py_ssize_t n
) noexcept nogil
