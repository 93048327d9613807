"""MoveKernel, the base class of the compiled moves."""


cdef class MoveKernel:
    cdef public Py_ssize_t n_proposed, n_accepted, n_overflows
    cdef public double sum_log_ratio
    # Count a proposal with this log acceptance ratio.
    cdef void count(self, double log_ratio, bint accepted) noexcept nogil
