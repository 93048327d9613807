"""The normal-inverse-Wishart posterior of every cluster."""
from libc.stdint cimport int8_t, int32_t

from sklearn_subanneal.columns._base cimport ColumnStatistics

# A pivot of Psi_n is at least its diagonal entry times this: the rest of float64 after cancellation.
cdef inline double pivot_floor() noexcept nogil:
    return 1e-14


# Below this, taking a row out of a cluster loses too many digits, and the cluster is rebuilt from its sums.
cdef inline double safe_downdate() noexcept nogil:
    return 1e-6


# After so many changes a slot is rebuilt from its sums: changes of rank one add up their rounding. A rebuild takes as
# long as 11 to 28 changes (widths 3 to 256, measured), which is 0.4 % of the time.
cdef inline Py_ssize_t changes_between_rebuilds(Py_ssize_t width) noexcept nogil:
    return max(4096, 32 * width)


cdef class NormalWishart(ColumnStatistics):
    cdef double[::1] mu
    cdef double[:, ::1] psi
    cdef double kappa, nu, log_det_psi
    # Of every slot: rows, sum of the rows, sum of their outer products (lower triangle) ...
    cdef int32_t[::1] count
    cdef double[:, ::1] total
    cdef double[:, :, ::1] square
    # ... and what these sums lose by rounding: where columns are nearly collinear, small differences of them matter.
    cdef double[:, ::1] total_rest
    cdef double[:, :, ::1] square_rest
    # ... and the posterior mean, inverse Cholesky factor and log determinant of Psi_n.
    cdef double[:, ::1] mean
    cdef double[:, :, ::1] factor
    cdef double[::1] log_det
    cdef int32_t[::1] n_changes             # since the slot was rebuilt
    # Coefficients of the multivariate t, float32, contiguous over slots.
    cdef float[:, ::1] location             # (width, capacity)
    cdef float[:, ::1] whiten               # (width (width + 1) / 2, capacity)
    cdef float[::1] power, constant
    # Whether ``location`` and ``whiten`` of a slot are to be made anew. Trees and splits of wide blocks never use them.
    cdef int8_t[::1] stale
    cdef double[::1] known                  # part of the evidence, by the number of rows; NaN: not known yet
    cdef double[::1] work, work2
    cdef double[:, ::1] matrix
    cdef double constant_of(self, Py_ssize_t k, Py_ssize_t n_observed) noexcept nogil
    cdef void posterior_scale(self, Py_ssize_t k, double* out) noexcept nogil
    cdef void rebuild_slot(self, Py_ssize_t k) noexcept nogil
    cdef void rebuild_slots(self, Py_ssize_t first) noexcept nogil
    cdef void refresh(self, Py_ssize_t k) noexcept nogil
    cdef void whiten_slot(self, Py_ssize_t k) noexcept nogil
    cdef void whiten_slots(self, Py_ssize_t n) noexcept nogil
    cdef void add_to_sums(self, const double* x, Py_ssize_t k, double sign) noexcept nogil
    cdef void clear_sums(self, Py_ssize_t k) noexcept nogil
    cdef void change(self, const double* x, Py_ssize_t k, double sign) noexcept nogil
    cdef double log_evidence(self, Py_ssize_t n, double log_det) noexcept nogil
    cdef double evidence_of(self, Py_ssize_t n) noexcept nogil
    cdef void tabulate(self, Py_ssize_t n) noexcept nogil
    cdef double evidence_anew(self, Py_ssize_t n) noexcept nogil
    cdef void refresh_all(self) noexcept nogil
