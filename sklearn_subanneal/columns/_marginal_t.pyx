"""MarginalT: log densities of the observed cells of a row in all clusters of a block of reals, side by side."""
from libc.math cimport NAN, isnan, sqrt

import numpy as np

from sklearn_subanneal._core._math cimport LANES, log_double, padded, simd_void
from sklearn_subanneal.columns._wishart cimport NormalWishart, pivot_floor

# For clusters of fewer rows, constants are tabulated.
cdef Py_ssize_t N_KNOWN = 1024


cdef simd_void take_marginal_t(
    const double* x, const Py_ssize_t* order, Py_ssize_t n_observed, Py_ssize_t d, const double* mean,
    const double* constant, double* work, double* out, double floor
) noexcept nogil:
    # The formulas of ``MultivariateT.condition`` for LANES clusters at once; ``mean`` and what follows as in ``take``.
    # With o the observed and m the missing cells, e = x_o - mu_o, w'w = P = Psi_n^-1 and u = w_o e:
    #   P_mm = w_m'w_m = L L',  P_mo e = w_m'u,  e' Psi_oo^-1 e = |u|^2 - |L^-1 w_m'u|^2,  |Psi_oo| = |Psi_n| |P_mm|.
    cdef Py_ssize_t i, j, a, b, c, lane, first, second, n_missing = d - n_observed
    cdef const double* log_det_psi = mean + d * LANES
    cdef const double* free = log_det_psi + LANES
    cdef const double* shrink = free + LANES
    cdef const double* factor = shrink + LANES
    cdef const double* row
    cdef const double* missing = NULL
    cdef double* e = work
    cdef double* u = e + d * LANES
    cdef double* h = u + d * LANES
    cdef double* inverse = h + d * LANES    # of the diagonal of L
    cdef double* lower = inverse + d * LANES
    cdef double* own
    cdef double[LANES] q, log_det, part, dot, least
    for c in range(n_observed):
        j = order[c]
        for lane in range(LANES):
            e[c * LANES + lane] = x[j] - mean[j * LANES + lane]
    for lane in range(LANES):
        q[lane] = 0.0
        log_det[lane] = log_det_psi[lane]
    row = factor
    for i in range(d):
        for lane in range(LANES):
            part[lane] = 0.0
        for c in range(n_observed):
            if order[c] > i:
                break
            missing = row + order[c] * LANES
            for lane in range(LANES):
                part[lane] += missing[lane] * e[c * LANES + lane]
        for lane in range(LANES):
            u[i * LANES + lane] = part[lane]
            q[lane] += part[lane] * part[lane]
        row += (i + 1) * LANES
    for a in range(n_missing):
        first = order[n_observed + a]
        own = lower + a * d * LANES
        for b in range(a + 1):
            second = order[n_observed + b]
            for lane in range(LANES):
                part[lane] = 0.0
            row = factor + first * (first + 1) // 2 * LANES
            for i in range(first, d):
                for lane in range(LANES):
                    part[lane] += row[first * LANES + lane] * row[second * LANES + lane]
                row += (i + 1) * LANES
            if b == a:
                break
            for c in range(b):
                for lane in range(LANES):
                    part[lane] -= own[c * LANES + lane] * lower[(b * d + c) * LANES + lane]
            for lane in range(LANES):
                own[b * LANES + lane] = part[lane] * inverse[b * LANES + lane]
        for lane in range(LANES):
            least[lane] = floor * part[lane]
            dot[lane] = 0.0
        row = factor + first * (first + 1) // 2 * LANES
        for i in range(first, d):
            for lane in range(LANES):
                dot[lane] += row[first * LANES + lane] * u[i * LANES + lane]
            row += (i + 1) * LANES
        for c in range(a):
            for lane in range(LANES):
                part[lane] -= own[c * LANES + lane] * own[c * LANES + lane]
                dot[lane] -= own[c * LANES + lane] * h[c * LANES + lane]
        for lane in range(LANES):
            # A pivot below this is made by rounding.
            part[lane] = part[lane] if part[lane] > least[lane] else least[lane]
            inverse[a * LANES + lane] = 1.0 / sqrt(part[lane])
            h[a * LANES + lane] = dot[lane] * inverse[a * LANES + lane]
            q[lane] -= h[a * LANES + lane] * h[a * LANES + lane]
            log_det[lane] += log_double(part[lane])
    for lane in range(LANES):
        q[lane] = q[lane] if q[lane] > 0.0 else 0.0
        out[lane] = (constant[lane] - 0.5 * log_det[lane]
                     - 0.5 * (free[lane] + n_observed) * log_double(1.0 + q[lane] * shrink[lane]))


cdef class MarginalT:
    """Coefficients of the marginal t of every cluster, LANES clusters side by side.

    Parameters
    ----------
    width : int
    """

    def __init__(self, Py_ssize_t width):
        self.width = width
        self.size = width + 3 + width * (width + 1) // 2
        self.known = np.full((max(width, 1), N_KNOWN), NAN)
        self.work = np.zeros((4 * width + width * width) * LANES)

    cdef int reserve(self, Py_ssize_t capacity) except -1:
        self.capacity = padded(capacity)
        self.stale = np.ones(self.capacity, np.int8)
        self.lanes = np.zeros((self.capacity // LANES, self.size * LANES))
        self.constant, self.log_densities = np.zeros((2, self.capacity))
        return 0

    cdef void take(self, NormalWishart block, Py_ssize_t k) noexcept nogil:
        # Of each cluster: the mean, log |Psi_n|, nu_n - width + 1, kappa_n / (kappa_n + 1), and the inverse Cholesky
        # factor of Psi_n, row by row.
        cdef Py_ssize_t i, j, d = self.width
        cdef double* out = &self.lanes[k // LANES, k % LANES]
        cdef double kappa = block.kappa + block.count[k]
        for i in range(d):
            out[0] = block.mean[k, i]
            out += LANES
        out[0] = block.log_det[k]
        out[LANES] = block.nu + block.count[k] - d + 1
        out[2 * LANES] = kappa / (kappa + 1.0)
        out += 3 * LANES
        for i in range(d):
            for j in range(i + 1):
                out[0] = block.factor[k, i, j]
                out += LANES
        self.stale[k] = False

    cdef void score(
        self, NormalWishart block, const double* x, const Py_ssize_t* order, Py_ssize_t n_observed, Py_ssize_t n
    ) noexcept nogil:
        # ``log_densities`` = those of the observed cells of x, at least one, in the first n clusters. ``order``: their
        # places, then those of the missing cells, both increasing.
        cdef Py_ssize_t k, count, group
        if block.kappa != self.kappa or block.nu != self.nu:
            self.kappa, self.nu = block.kappa, block.nu
            for k in range(self.width * N_KNOWN):
                (&self.known[0, 0])[k] = NAN
        for k in range(n):
            if self.stale[k]:
                self.take(block, k)
            count = block.count[k]
            if count >= N_KNOWN:
                self.constant[k] = block.constant_of(k, n_observed)
                continue
            if isnan(self.known[n_observed, count]):
                self.known[n_observed, count] = block.constant_of(k, n_observed)
            self.constant[k] = self.known[n_observed, count]
        for group in range(padded(n) // LANES):
            take_marginal_t(x, order, n_observed, self.width, &self.lanes[group, 0], &self.constant[group * LANES],
                            &self.work[0], &self.log_densities[group * LANES], pivot_floor())
