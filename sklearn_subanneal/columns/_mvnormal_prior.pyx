"""Sampling of the normal-inverse-Wishart prior of a block of reals: mu and kappa; the rest by `_prior_covariance`.

The scale matrix is psi_ij = (nu - width + 1) sqrt(sigma2_i sigma2_j) R_ij with a correlation matrix R. All clusters are
integrated out. With B = psi + the scatter of a cluster about its mean xbar, e = mu - xbar, c = kappa n / (kappa + n),
the posterior scale matrix is Psi_n = B + c e e'. A coordinate of mu changes it by a matrix of rank one, so that its
determinant at every grid point follows from one inverse: |B + c e e'| = |B| (1 + c e' B^-1 e).
"""
from libc.stdlib cimport free, malloc
from numpy.random cimport bitgen_t

from sklearn_subanneal._core._linalg cimport cholesky, invert_lower, symmetric_inverse
from sklearn_subanneal._core._math cimport log_double, simd_void
from sklearn_subanneal._core._random cimport categorical
from sklearn_subanneal.columns._base cimport MAX_GRID
from sklearn_subanneal.columns._mvnormal cimport GaussianStatistics
from sklearn_subanneal.columns._prior_covariance cimport resample_covariance

cdef double PIVOT_FLOOR = 1e-14


cdef simd_void add_over_mu(
    const double* mu, double present, double half, double c, double q, double slope, double curve,
    double* out, Py_ssize_t n_grid
) noexcept nogil:
    cdef Py_ssize_t g
    cdef double t
    for g in range(n_grid):
        t = mu[g] - present
        out[g] -= half * log_double(1.0 + c * (q + t * (2.0 * slope + t * curve)))


cdef simd_void add_over_kappa(
    const double* kappa, double n, double d, double half, double q, double* out, Py_ssize_t n_grid
) noexcept nogil:
    cdef Py_ssize_t g
    cdef double ratio
    for g in range(n_grid):
        ratio = kappa[g] / (kappa[g] + n)
        out[g] += 0.5 * d * log_double(ratio) - half * log_double(1.0 + ratio * n * q)


cdef struct Cluster:
    double n
    double q                # e' B^-1 e
    double* e
    double* solved          # B^-1 e
    double* inverse         # B^-1


cdef void prepare(GaussianStatistics self, Py_ssize_t k, Cluster* cluster) noexcept nogil:
    cdef Py_ssize_t i, j, d = self.width
    cdef double n = self.count[k]
    cluster.n = n
    for i in range(d):
        for j in range(i + 1):
            cluster.inverse[i * d + j] = (self.psi[i, j] + self.square[k, i, j]
                                          - self.total[k, i] * self.total[k, j] / n)
    cholesky(cluster.inverse, d, d, PIVOT_FLOOR)
    invert_lower(cluster.inverse, &self.matrix[0, 0], d)
    symmetric_inverse(&self.matrix[0, 0], cluster.inverse, d)
    cluster.q = 0.0
    for i in range(d):
        cluster.e[i] = self.mu[i] - self.total[k, i] / n
    for i in range(d):
        cluster.solved[i] = 0.0
        for j in range(d):
            cluster.solved[i] += cluster.inverse[i * d + j] * cluster.e[j]
        cluster.q += cluster.solved[i] * cluster.e[i]


cdef bint resample_location(
    GaussianStatistics self, Py_ssize_t n_clusters, double power, bitgen_t* bits
) noexcept nogil:
    """mu coordinate by coordinate and kappa on their grids; True if there are any."""
    cdef const double[:, ::1] grid_mu
    cdef const double[::1] grid_kappa
    cdef Py_ssize_t d = self.width, i, j, k, g, n_used = 0, n_grid
    cdef double[MAX_GRID] logs
    cdef double[MAX_GRID] work
    cdef double* room
    cdef double c, t
    cdef Cluster* clusters
    cdef Cluster* cluster
    cdef bint any_mu, any_kappa
    with gil:
        any_mu, any_kappa = "mu" in self.grids, "kappa" in self.grids
        if any_mu:
            grid_mu = self.grids["mu"]
        if any_kappa:
            grid_kappa = self.grids["kappa"]
    if not (any_mu or any_kappa):
        return False
    room = <double*> malloc((n_clusters + 1) * (d * d + 2 * d) * sizeof(double))
    clusters = <Cluster*> malloc((n_clusters + 1) * sizeof(Cluster))
    if room == NULL or clusters == NULL:
        # The hyperparameters stay as they are: still a valid chain.
        free(room)
        free(clusters)
        return False
    for k in range(n_clusters):
        if self.count[k]:
            cluster = &clusters[n_used]
            cluster.inverse = room + n_used * (d * d + 2 * d)
            cluster.e = cluster.inverse + d * d
            cluster.solved = cluster.e + d
            prepare(self, k, cluster)
            n_used += 1
    if any_mu:
        n_grid = grid_mu.shape[1]
        for i in range(d):
            for g in range(n_grid):
                logs[g] = 0.0
            for k in range(n_used):
                cluster = &clusters[k]
                c = self.kappa * cluster.n / (self.kappa + cluster.n)
                add_over_mu(&grid_mu[i, 0], self.mu[i], 0.5 * (self.nu + cluster.n), c, cluster.q,
                            cluster.solved[i], cluster.inverse[i * d + i], logs, n_grid)
            g = categorical(logs, work, n_grid, power, bits)
            t = grid_mu[i, g] - self.mu[i]
            self.mu[i] = grid_mu[i, g]
            for k in range(n_used):
                cluster = &clusters[k]
                cluster.q += t * (2.0 * cluster.solved[i] + t * cluster.inverse[i * d + i])
                cluster.q = cluster.q if cluster.q > 0.0 else 0.0
                cluster.e[i] += t
                for j in range(d):
                    cluster.solved[j] += t * cluster.inverse[i * d + j]
    if any_kappa:
        n_grid = grid_kappa.shape[0]
        for g in range(n_grid):
            logs[g] = 0.0
        for k in range(n_used):
            cluster = &clusters[k]
            add_over_kappa(&grid_kappa[0], cluster.n, d, 0.5 * (self.nu + cluster.n), cluster.q, logs, n_grid)
        self.kappa = grid_kappa[categorical(logs, work, n_grid, power, bits)]
    free(room)
    free(clusters)
    return True


cdef bint resample_gaussian_prior(
    GaussianStatistics self, Py_ssize_t n_clusters, double power, bitgen_t* bits
) noexcept nogil:
    """One sweep over all hyperparameters that are learned; True if there are any."""
    cdef bint location = resample_location(self, n_clusters, power, bits)
    return resample_covariance(self, n_clusters, power, bits) or location
