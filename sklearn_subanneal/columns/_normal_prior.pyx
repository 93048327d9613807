"""Marginal likelihoods over grids of mu, kappa, sigma2 and nu, of the normal-inverse-chi-square prior."""
from sklearn_subanneal._core._math cimport log_double, log_gamma, simd_void
from sklearn_subanneal.columns._normal cimport Moments, NormalPrior, NormalStatistics

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
    Py_ssize_t axis, const double* grid, Py_ssize_t n_clusters, double sigma2, double nu, double* out, Py_ssize_t n_grid
) noexcept nogil:
    # The terms that are the same for all clusters.
    cdef Py_ssize_t g
    for g in range(n_grid):
        if axis == 1:
            out[g] += 0.5 * n_clusters * log_double(grid[g])
        elif axis == 2:
            out[g] += 0.5 * n_clusters * nu * log_double(grid[g])
        elif axis == 3:
            out[g] += n_clusters * (0.5 * grid[g] * log_double(grid[g] * sigma2) - log_gamma(0.5 * grid[g]))


cdef void add_over_normal_prior(
    NormalStatistics self, Py_ssize_t axis, const double* grid, Py_ssize_t n_grid, Py_ssize_t n_clusters, double* out
) noexcept nogil:
    """out[g] += the log marginal likelihood of the clusters with mu, kappa, sigma2 or nu at grid[g]."""
    cdef Py_ssize_t n_present = 0, k
    cdef double n, xbar, squares, off
    cdef NormalPrior* p = self.prior
    cdef Moments* m
    for k in range(n_clusters):
        m = &self.moments[k]
        n = m.count
        if n == 0:
            continue
        n_present += 1
        xbar = m.total / n
        squares = m.square - n * xbar * xbar
        squares = squares if squares > 0.0 else 0.0
        off = p.kappa * n / (p.kappa + n) * (p.mu - xbar) * (p.mu - xbar)
        if axis == 0:
            add_over_mu(grid, n, xbar, squares, p.kappa, p.sigma2, p.nu, out, n_grid)
        elif axis == 1:
            add_over_kappa(grid, n, xbar, squares, p.mu, p.sigma2, p.nu, out, n_grid)
        elif axis == 2:
            add_over_sigma2(grid, n, squares + off, p.nu, out, n_grid)
        else:
            add_over_nu(grid, n, squares + off, p.sigma2, out, n_grid)
    add_common(axis, grid, n_present, p.sigma2, p.nu, out, n_grid)
