"""The joint reals of a table, any of which can be one Gaussian block."""
from libc.stdint cimport int8_t, int32_t
from numpy.random cimport bitgen_t


# Sums over the rows of each cluster, for some columns: count, total (d,), products (d, d) of deviations from mu.
cdef inline Py_ssize_t size_of_sums(Py_ssize_t d) noexcept nogil:
    return 1 + d + d * d


cdef struct Rows:
    # Some rows, and the cluster of each.
    const int32_t* row
    const int32_t* slot
    Py_ssize_t n
    Py_ssize_t n_clusters


cdef class RealTable:
    cdef readonly Py_ssize_t n_rows, width
    cdef readonly const int32_t[::1] places     # of the joint reals in the table
    cdef readonly dict grids
    cdef const double[:, ::1] cells         # (n_rows, width), NaN is a missing cell
    cdef const int8_t[:, ::1] gaps          # 1: missing
    cdef int8_t[::1] has_gaps               # of each column
    cdef double[:, ::1] completed           # the cells, with the present fillings of missing ones
    cdef readonly object limits             # (2, width), least and largest value of missing cells; None: any
    cdef const double[:, ::1] ends          # the same, infinite without limits
    cdef double[::1] before                 # fillings of a column, while others are drawn
    cdef double[::1] mu, sigma2
    cdef double[:, ::1] scale               # sqrt(sigma2_i sigma2_j) R_ij
    cdef double[:, ::1] vectors
    cdef const int32_t[:, ::1] nearest      # of each column: all in the order of correlation with it, itself first
    cdef readonly Py_ssize_t n_shared
    cdef readonly double spread, kappa, nu
    cdef double* room
    cdef Py_ssize_t n_room
    cdef double* work(self, Py_ssize_t n) except NULL nogil
    cdef void add_up(self, const int32_t* order, Py_ssize_t d, Rows* of, double* out) noexcept nogil
    cdef Py_ssize_t join(
        self, const double* sums, const int32_t* order, Py_ssize_t b, int32_t j, Rows* of, int32_t* joined, double* out
    ) noexcept nogil
    cdef double log_evidence(
        self, const double* sums, const int32_t* order, Py_ssize_t n_given, Py_ssize_t d, double kappa, double nu,
        Py_ssize_t n_clusters, double* room
    ) noexcept nogil
    cdef void log_evidences(
        self, const double* sums, const int32_t* order, Py_ssize_t d, double kappa, double nu, Py_ssize_t n_clusters,
        double* matrix, double* out
    ) noexcept nogil
    cdef void scale_matrix(
        self, const double* sums, const int32_t* order, Py_ssize_t d, double kappa, double nu, double* out
    ) noexcept nogil
    cdef bint fill(
        self, const double* sums, const int32_t* order, Py_ssize_t d, double kappa, double nu, Rows* of,
        double* matrix, double* coefficients, bitgen_t* bits
    ) noexcept nogil
