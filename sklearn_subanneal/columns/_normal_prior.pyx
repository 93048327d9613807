"""Grid Gibbs of (mu, kappa, sigma2, nu) of the normal-inverse-chi-square prior, one coordinate after the other."""
from numpy.random cimport bitgen_t

from sklearn_subanneal._core._math cimport log_double, log_gamma, simd_void
from sklearn_subanneal._core._random cimport categorical
from sklearn_subanneal.columns._base cimport MAX_GRID
from sklearn_subanneal.columns._normal cimport Moments, NormalStatistics

# The log marginal likelihood of one cluster as a function of one hyperparameter, up to terms that
# ``add_common`` adds once: vectorised over the grid, so that no sum runs across lanes.

cdef simd_void add_over_mu(
    const double* mu, double n, double xbar, double squares, double kappa, double sigma2, double nu,
    double* out, Py_ssize_t n_grid
) noexcept nogil:
    cdef Py_ssize_t g
    cdef double shrink = kappa * n / (kappa + n), half = 0.5 * (nu + n), base = nu * sigma2 + squares
    for g in range(n_grid):
        out[g] -= half * log_double(base + shrink * (mu[g] - xbar) * (mu[g] - xbar))


cdef simd_void add_over_kappa(
    const double* kappa, double n, double xbar, double squares, double mu, double sigma2, double nu,
    double* out, Py_ssize_t n_grid
) noexcept nogil:
    cdef Py_ssize_t g
    cdef double ratio, half = 0.5 * (nu + n), base = nu * sigma2 + squares, off = (mu - xbar) * (mu - xbar)
    for g in range(n_grid):
        ratio = kappa[g] / (kappa[g] + n)
        out[g] -= 0.5 * log_double(kappa[g] + n) + half * log_double(base + ratio * n * off)


cdef simd_void add_over_sigma2(
    const double* sigma2, double n, double squares, double nu, double* out, Py_ssize_t n_grid
) noexcept nogil:
    cdef Py_ssize_t g
    cdef double half = 0.5 * (nu + n)
    for g in range(n_grid):
        out[g] -= half * log_double(nu * sigma2[g] + squares)


cdef simd_void add_over_nu(
    const double* nu, double n, double squares, double sigma2, double* out, Py_ssize_t n_grid
) noexcept nogil:
    cdef Py_ssize_t g
    for g in range(n_grid):
        out[g] += log_gamma(0.5 * (nu[g] + n)) - 0.5 * (nu[g] + n) * log_double(nu[g] * sigma2 + squares)


cdef void add_common(
    int axis, const double* grid, Py_ssize_t n_clusters, double sigma2, double nu, double* out, Py_ssize_t n_grid
) noexcept nogil:
    # What all clusters have in common.
    cdef Py_ssize_t g
    for g in range(n_grid):
        if axis == 1:
            out[g] += 0.5 * n_clusters * log_double(grid[g])
        elif axis == 2:
            out[g] += 0.5 * n_clusters * nu * log_double(grid[g])
        elif axis == 3:
            out[g] += n_clusters * (0.5 * grid[g] * log_double(grid[g] * sigma2) - log_gamma(0.5 * grid[g]))


cdef bint resample_axis(
    NormalStatistics self, int axis, Py_ssize_t n_clusters, double power, bitgen_t* bits
) noexcept nogil:
    """Redraw one of mu, kappa, sigma2, nu from its grid given the others; True if it changed."""
    cdef const double* grid = NULL
    cdef double[MAX_GRID] logs
    cdef double[MAX_GRID] work
    cdef Py_ssize_t n_grid = 0, n_present = 0, k, g
    cdef double n, xbar, squares, off
    cdef Moments* m
    cdef double* value
    if axis == 0:
        value = &self.mu
        n_grid = self.grid_mu.shape[0]
        grid = &self.grid_mu[0] if n_grid else NULL
    elif axis == 1:
        value = &self.kappa
        n_grid = self.grid_kappa.shape[0]
        grid = &self.grid_kappa[0] if n_grid else NULL
    elif axis == 2:
        value = &self.sigma2
        n_grid = self.grid_sigma2.shape[0]
        grid = &self.grid_sigma2[0] if n_grid else NULL
    else:
        value = &self.nu
        n_grid = self.grid_nu.shape[0]
        grid = &self.grid_nu[0] if n_grid else NULL
    if n_grid < 1:
        return False
    for g in range(n_grid):
        logs[g] = 0.0
    for k in range(n_clusters):
        m = &self.moments[k]
        n = m.count
        if n == 0:
            continue
        n_present += 1
        xbar = m.total / n
        squares = m.square - n * xbar * xbar
        squares = squares if squares > 0.0 else 0.0
        off = self.kappa * n / (self.kappa + n) * (self.mu - xbar) * (self.mu - xbar)
        if axis == 0:
            add_over_mu(grid, n, xbar, squares, self.kappa, self.sigma2, self.nu, logs, n_grid)
        elif axis == 1:
            add_over_kappa(grid, n, xbar, squares, self.mu, self.sigma2, self.nu, logs, n_grid)
        elif axis == 2:
            add_over_sigma2(grid, n, squares + off, self.nu, logs, n_grid)
        else:
            add_over_nu(grid, n, squares + off, self.sigma2, logs, n_grid)
    add_common(axis, grid, n_present, self.sigma2, self.nu, logs, n_grid)
    g = categorical(logs, work, n_grid, power, bits)
    if value[0] == grid[g]:
        return False
    value[0] = grid[g]
    return True


cdef bint resample_normal_prior(
    NormalStatistics self, Py_ssize_t n_clusters, double power, bitgen_t* bits
) noexcept nogil:
    """One sweep over the grids that there are; True if anything changed."""
    cdef bint changed = False
    cdef int axis
    for axis in range(4):
        changed |= resample_axis(self, axis, n_clusters, power, bits)
    return changed
