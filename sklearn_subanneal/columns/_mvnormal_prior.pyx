"""Grid Gibbs of (mu, kappa, psi, nu) of the normal-inverse-Wishart prior, coordinate by coordinate.

With B = psi + the scatter of a cluster about its mean xbar, e = mu - xbar and c = kappa n / (kappa + n),
Psi_n = B + c e e'. Every coordinate changes Psi_n by a matrix of rank one, so that its determinant at every grid
point follows from one inverse: |B + c e e'| = |B| (1 + c e' B^-1 e) and |A + t i i'| = |A| (1 + t (A^-1)_ii).
"""
from libc.stdlib cimport free, malloc
from numpy.random cimport bitgen_t

from sklearn_subanneal._core._linalg cimport cholesky, invert_lower, symmetric_inverse
from sklearn_subanneal._core._math cimport log_double, log_gamma, simd_void
from sklearn_subanneal._core._random cimport categorical
from sklearn_subanneal.columns._base cimport MAX_GRID
from sklearn_subanneal.columns._mvnormal cimport GaussianStatistics

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


cdef simd_void add_over_nu(
    const double* nu, double n, Py_ssize_t d, double log_det_psi, double log_det, double* out, Py_ssize_t n_grid
) noexcept nogil:
    cdef Py_ssize_t g, i
    for g in range(n_grid):
        out[g] += 0.5 * nu[g] * log_det_psi - 0.5 * (nu[g] + n) * log_det
    for i in range(d):
        for g in range(n_grid):
            out[g] += log_gamma(0.5 * (nu[g] + n - i)) - log_gamma(0.5 * (nu[g] - i))


cdef simd_void add_over_psi(
    const double* psi, double present, double half, double prior, double curve, double* out, Py_ssize_t n_grid
) noexcept nogil:
    cdef Py_ssize_t g
    cdef double least, ratio
    for g in range(n_grid):
        # Psi_n holds at least the present psi, so that the ratio of determinants has a floor that rounding may miss.
        least = psi[g] / present
        least = least if least < 1.0 else 1.0
        ratio = 1.0 + (psi[g] - present) * curve
        ratio = ratio if ratio > least else least
        out[g] += prior * log_double(psi[g]) - half * log_double(ratio)


cdef struct Cluster:
    double n
    double q                # e' B^-1 e
    double log_det          # of B
    double* e
    double* solved          # B^-1 e
    double* inverse         # B^-1, later Psi_n^-1


cdef void prepare(GaussianStatistics self, Py_ssize_t k, Cluster* cluster) noexcept nogil:
    cdef Py_ssize_t i, j, d = self.width
    cdef double n = self.count[k]
    cluster.n = n
    for i in range(d):
        for j in range(i + 1):
            cluster.inverse[i * d + j] = (self.psi[i, j] + self.square[k, i, j]
                                          - self.total[k, i] * self.total[k, j] / n)
    cluster.log_det = cholesky(cluster.inverse, d, d, PIVOT_FLOOR)
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


cdef bint resample_gaussian_prior(
    GaussianStatistics self, Py_ssize_t n_clusters, double power, bitgen_t* bits
) noexcept nogil:
    """One sweep over the grids that there are; True if there is any."""
    cdef const double[:, ::1] grid_mu, grid_psi
    cdef const double[::1] grid_kappa, grid_nu
    cdef Py_ssize_t d = self.width, i, j, k, g, n_used = 0, n_grid
    cdef double[MAX_GRID] logs
    cdef double[MAX_GRID] work
    cdef double* room
    cdef double half, c, t, shrink, factor
    cdef Cluster* clusters
    cdef Cluster* cluster
    cdef bint any_mu, any_psi, any_kappa, any_nu
    with gil:
        any_mu, any_psi = "mu" in self.grids, "psi" in self.grids
        any_kappa, any_nu = "kappa" in self.grids, "nu" in self.grids
        if any_mu:
            grid_mu = self.grids["mu"]
        if any_psi:
            grid_psi = self.grids["psi"]
        if any_kappa:
            grid_kappa = self.grids["kappa"]
        if any_nu:
            grid_nu = self.grids["nu"]
    if not (any_mu or any_psi or any_kappa or any_nu):
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
    # From here on the clusters hold Psi_n instead of B.
    for k in range(n_used):
        cluster = &clusters[k]
        c = self.kappa * cluster.n / (self.kappa + cluster.n)
        cluster.log_det += log_double(1.0 + c * cluster.q)
        shrink = c / (1.0 + c * cluster.q)
        for i in range(d):
            factor = shrink * cluster.solved[i]
            for j in range(d):
                cluster.inverse[i * d + j] -= factor * cluster.solved[j]
    if any_nu:
        n_grid = grid_nu.shape[0]
        for g in range(n_grid):
            logs[g] = 0.0
        for k in range(n_used):
            add_over_nu(&grid_nu[0], clusters[k].n, d, self.log_det_psi, clusters[k].log_det, logs, n_grid)
        self.nu = grid_nu[categorical(logs, work, n_grid, power, bits)]
    if any_psi:
        n_grid = grid_psi.shape[1]
        for i in range(d):
            for g in range(n_grid):
                logs[g] = 0.0
            for k in range(n_used):
                add_over_psi(&grid_psi[i, 0], self.psi[i, i], 0.5 * (self.nu + clusters[k].n), 0.5 * self.nu,
                             clusters[k].inverse[i * d + i], logs, n_grid)
            g = categorical(logs, work, n_grid, power, bits)
            t = grid_psi[i, g] - self.psi[i, i]
            shrink = grid_psi[i, g] / self.psi[i, i]
            self.psi[i, i] = grid_psi[i, g]
            for k in range(n_used):
                cluster = &clusters[k]
                factor = 1.0 + t * cluster.inverse[i * d + i]
                factor = t / (factor if factor > shrink or t > 0.0 else shrink)
                for j in range(d):
                    cluster.e[j] = cluster.inverse[i * d + j]
                for j in range(d):
                    half = factor * cluster.e[j]
                    for g in range(d):
                        cluster.inverse[j * d + g] -= half * cluster.e[g]
    free(room)
    free(clusters)
    return True
