"""A column of reals."""
from libc.stdint cimport int32_t

from sklearn_subanneal.columns._base cimport ColumnData, ColumnStatistics

# Constants of Student's t come from a table up to this count, from a series above.
cdef enum:
    TABLE = 33


cdef struct Moments:
    double total            # sum of the cells
    double square           # sum of their squares
    double mean             # posterior location mu_n
    double spread           # nu_n sigma2_n, the posterior sum of squares
    int32_t count
    # For a row in its own cluster, made when first asked for: c / spread (negative: not made), and the constant.
    float own_scale, own_constant


cdef class NormalData(ColumnData):
    cdef const float[::1] cells


cdef class NormalStatistics(ColumnStatistics):
    cdef readonly NormalData data
    cdef const float* cells
    cdef Moments[::1] moments
    cdef object moments_array               # the same, which NumPy need not read the type of anew
    # Student's t of each slot, contiguous over slots: constant - power * log(1 + precision * (x - location)^2)
    cdef float[::1] location, precision, power, constant
    cdef double[:, ::1] exact               # room for the same in float64, for rows outside the data
    cdef double[:, ::1] other               # counts, sums and squares under another partition
    cdef double mu, kappa, sigma2, nu
    cdef double[TABLE] gamma_ratios
    cdef const double[::1] grid_mu, grid_kappa, grid_sigma2, grid_nu
    cdef void refresh(self, Py_ssize_t k) noexcept nogil
    cdef float update(self, Py_ssize_t k, float* offset) noexcept nogil
    cdef void prepare_own(self, Py_ssize_t k) noexcept nogil
    cdef void refresh_all(self) noexcept nogil
    cdef void refresh_slots(self) noexcept nogil
    cdef double ratio(self, int32_t count) noexcept nogil


cdef inline double variance_factor(double nu) noexcept nogil:
    """Variance of a t over its squared scale, nu / (nu - 2), held at its value for nu = 3 below: it has none at 2."""
    return nu / (nu - 2.0) if nu > 3.0 else 3.0
