"""Densities under a multivariate t of rows without missing cells, side by side."""

# So many that sums need not wait for one another.
cdef enum:
    ROWS = 32


# out = constant - power log(1 + shrink |w (x - mean)|^2) of ``n_rows`` rows, at most ROWS; w is lower triangular, x and
# e, which has room for deviations, (d, ROWS).
cdef void score_complete_rows(
    const double* w, const double* mean, const double* x, double* e, double constant, double power, double shrink,
    double* out, Py_ssize_t d, Py_ssize_t n_rows
) noexcept nogil
