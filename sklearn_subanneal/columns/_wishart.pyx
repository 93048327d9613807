"""The normal-inverse-Wishart posterior of every cluster: m | S ~ N(mu, S / kappa), S ~ InvWishart(nu, psi).

Kept up to date by rank-one changes of the inverse Cholesky factor of its scale matrix, O(width^2) a row.
"""
from libc.math cimport NAN, isnan, sqrt
from libc.stdint cimport int32_t

import numpy as np

from sklearn_subanneal._core._linalg cimport (
    add_exactly, add_outer_product, cholesky, invert_lower, times_lower, update_inverse_factor
)
from sklearn_subanneal._core._math cimport log_double, log_gamma, padded
from sklearn_subanneal.columns._base cimport ColumnStatistics

from sklearn_subanneal.columns._base import check_state

cdef double LOG_PI = 1.1447298858494001741
# For clusters of fewer rows, terms that depend on the number of rows alone are tabulated.
cdef Py_ssize_t N_KNOWN = 4096
# Of wide blocks, so many of these are tabulated at once.
cdef Py_ssize_t RUN = 8


cdef class NormalWishart(ColumnStatistics):
    """Posteriors of a block of reals, cluster by cluster; knows rows by their values alone.

    Parameters
    ----------
    parameters : dict
        "mu" (width,), "kappa", "psi" (width, width), "nu".
    capacity : int
    """

    def __init__(self, parameters, Py_ssize_t capacity=16):
        self.width = len(parameters["mu"])
        self.work, self.work2 = np.zeros(self.width), np.zeros(self.width)
        self.matrix = np.zeros((self.width, self.width))
        self.known = np.empty(N_KNOWN)
        self.reserve(padded(capacity))
        self.parameters = parameters

    @property
    def parameters(self):
        return {"mu": np.array(self.mu), "kappa": self.kappa, "psi": np.array(self.psi), "nu": self.nu}

    @parameters.setter
    def parameters(self, values):
        mu, psi = np.array(values["mu"], np.float64), np.array(values["psi"], np.float64)
        check_state(mu.shape == (self.width,) and psi.shape == (self.width, self.width))
        self.mu, self.psi = mu, psi
        self.kappa, self.nu = values["kappa"], values["nu"]
        self.refresh_all()

    cdef int reserve(self, Py_ssize_t capacity) except -1:
        cdef Py_ssize_t d = self.width, present = self.capacity
        def grown(old, shape, dtype, axis):
            new = np.zeros(shape, dtype)
            if present:
                new[(slice(None),) * axis + (slice(present),)] = old
            return new
        self.count = grown(self.count if present else None, capacity, np.int32, 0)
        self.total = grown(self.total if present else None, (capacity, d), np.float64, 0)
        self.square = grown(self.square if present else None, (capacity, d, d), np.float64, 0)
        self.total_rest = grown(self.total_rest if present else None, (capacity, d), np.float64, 0)
        self.square_rest = grown(self.square_rest if present else None, (capacity, d, d), np.float64, 0)
        self.mean = grown(self.mean if present else None, (capacity, d), np.float64, 0)
        self.factor = grown(self.factor if present else None, (capacity, d, d), np.float64, 0)
        self.n_changes = grown(self.n_changes if present else None, capacity, np.int32, 0)
        self.log_det = grown(self.log_det if present else None, capacity, np.float64, 0)
        self.location = grown(self.location if present else None, (d, capacity), np.float32, 1)
        self.whiten = grown(self.whiten if present else None, (d * (d + 1) // 2, capacity), np.float32, 1)
        self.power = grown(self.power if present else None, capacity, np.float32, 0)
        self.constant = grown(self.constant if present else None, capacity, np.float32, 0)
        self.stale = grown(self.stale if present else None, capacity, np.int8, 0)
        self.capacity = capacity
        if present:
            self.rebuild_slots(present)
        return 0

    cdef void refresh_all(self) noexcept nogil:
        cdef Py_ssize_t i, d = self.width
        for i in range(d * d):
            (&self.matrix[0, 0])[i] = (&self.psi[0, 0])[i]
        self.log_det_psi = cholesky(&self.matrix[0, 0], d, d, pivot_floor())
        for i in range(N_KNOWN):
            self.known[i] = NAN
        self.rebuild_slots(0)

    cdef void rebuild_slots(self, Py_ssize_t first) noexcept nogil:
        # From this slot on; those without rows are all the same, and one factorization serves them.
        cdef Py_ssize_t k, empty = -1
        for k in range(first, self.capacity):
            if self.count[k] == 0 and empty >= 0:
                self.copy(self, empty, k)
                continue
            self.rebuild_slot(k)
            if self.count[k] == 0:
                empty = k

    cdef void posterior_scale(self, Py_ssize_t k, double* out) noexcept nogil:
        # Psi_n = psi + sum x x' + kappa mu mu' - kappa_n mu_n mu_n', the lower triangle
        cdef Py_ssize_t i, j, d = self.width
        cdef double kappa = self.kappa + self.count[k]
        for i in range(d):
            for j in range(i + 1):
                out[i * d + j] = (self.psi[i, j] + self.square[k, i, j] + self.kappa * self.mu[i] * self.mu[j]
                                  - kappa * self.mean[k, i] * self.mean[k, j])

    cdef void rebuild_slot(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t i, d = self.width
        for i in range(d):
            self.mean[k, i] = (self.kappa * self.mu[i] + self.total[k, i]) / (self.kappa + self.count[k])
        self.posterior_scale(k, &self.matrix[0, 0])
        self.log_det[k] = cholesky(&self.matrix[0, 0], d, d, pivot_floor())
        invert_lower(&self.matrix[0, 0], &self.factor[k, 0, 0], d)
        self.n_changes[k] = 0
        self.refresh(k)

    cdef double constant_of(self, Py_ssize_t k, Py_ssize_t n_observed) noexcept nogil:
        # of the marginal t over n_observed coordinates, without its determinant
        cdef double kappa = self.kappa + self.count[k], half = 0.5 * (self.nu + self.count[k] - self.width + 1)
        if n_observed == self.width:
            return self.evidence_of(self.count[k] + 1) - self.evidence_of(self.count[k])
        return (log_gamma(half + 0.5 * n_observed) - log_gamma(half)
                + 0.5 * n_observed * (log_double(kappa / (kappa + 1.0)) - LOG_PI))

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        self.power[k] = <float> (0.5 * (self.nu + self.count[k] + 1.0))
        self.constant[k] = <float> (self.constant_of(k, self.width) - 0.5 * self.log_det[k])
        self.stale[k] = True

    cdef void whiten_slots(self, Py_ssize_t n) noexcept nogil:
        # Before ``location`` and ``whiten`` of the first n slots are used.
        cdef Py_ssize_t k
        for k in range(n):
            if self.stale[k]:
                self.whiten_slot(k)

    cdef void whiten_slot(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t i, j, stride = self.capacity
        cdef double kappa = self.kappa + self.count[k]
        cdef float shrink = <float> sqrt(kappa / (kappa + 1.0))
        cdef float* out = &self.whiten[0, k]
        cdef const double* row
        for i in range(self.width):
            self.location[i, k] = <float> self.mean[k, i]
            row = &self.factor[k, i, 0]
            for j in range(i + 1):
                out[0] = shrink * <float> row[j]
                out += stride
        self.stale[k] = False

    cdef void add_to_sums(self, const double* x, Py_ssize_t k, double sign) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.width):
            add_exactly(sign * x[i], &self.total[k, i], &self.total_rest[k, i])
        add_outer_product(sign, x, &self.square[k, 0, 0], &self.square_rest[k, 0, 0], self.width)

    cdef void clear_sums(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t i, d = self.width
        self.count[k] = 0
        for i in range(d):
            self.total[k, i] = self.total_rest[k, i] = 0.0
        for i in range(d * d):
            (&self.square[k, 0, 0])[i] = (&self.square_rest[k, 0, 0])[i] = 0.0

    cdef void change(self, const double* x, Py_ssize_t k, double sign) noexcept nogil:
        # Psi_n changes by sign c v v', v = x - mu_n, c = kappa / (kappa + sign): a rank-one change of its factor.
        cdef Py_ssize_t i, d = self.width
        cdef double kappa = self.kappa + self.count[k], scale, norm = 0.0
        cdef double* u = &self.work[0]
        cdef double* off = &self.work2[0]
        scale = sqrt(kappa / (kappa + sign))
        for i in range(d):
            off[i] = x[i] - self.mean[k, i]
        times_lower(&self.factor[k, 0, 0], off, u, d)
        for i in range(d):
            u[i] *= scale
            norm += u[i] * u[i]
        self.count[k] += <int32_t> sign
        self.add_to_sums(x, k, sign)
        self.n_changes[k] += 1
        if 1.0 + sign * norm < safe_downdate() or self.n_changes[k] >= changes_between_rebuilds(d):
            self.rebuild_slot(k)
            return
        for i in range(d):
            self.mean[k, i] += sign * off[i] / (kappa + sign)
        update_inverse_factor(&self.factor[k, 0, 0], u, sign, off, d)
        self.log_det[k] += log_double(1.0 + sign * norm)
        self.refresh(k)

    cdef void copy(self, ColumnStatistics other, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        cdef Py_ssize_t i, d = self.width
        self.count[target] = (<NormalWishart> other).count[source]
        self.log_det[target] = (<NormalWishart> other).log_det[source]
        self.n_changes[target] = (<NormalWishart> other).n_changes[source]
        for i in range(d):
            self.total[target, i] = (<NormalWishart> other).total[source, i]
            self.total_rest[target, i] = (<NormalWishart> other).total_rest[source, i]
            self.mean[target, i] = (<NormalWishart> other).mean[source, i]
        for i in range(d * d):
            (&self.square[target, 0, 0])[i] = (&(<NormalWishart> other).square[source, 0, 0])[i]
            (&self.square_rest[target, 0, 0])[i] = (&(<NormalWishart> other).square_rest[source, 0, 0])[i]
            (&self.factor[target, 0, 0])[i] = (&(<NormalWishart> other).factor[source, 0, 0])[i]
        self.power[target] = (<NormalWishart> other).power[source]
        self.constant[target] = (<NormalWishart> other).constant[source]
        self.stale[target] = True

    cdef void clear(self, Py_ssize_t k) noexcept nogil:
        self.clear_sums(k)
        self.rebuild_slot(k)

    cdef void merge(self, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        cdef Py_ssize_t i, d = self.width
        self.count[target] += self.count[source]
        for i in range(d):
            self.total_rest[target, i] += self.total_rest[source, i]
            add_exactly(self.total[source, i], &self.total[target, i], &self.total_rest[target, i])
        for i in range(d * d):
            (&self.square_rest[target, 0, 0])[i] += (&self.square_rest[source, 0, 0])[i]
            add_exactly((&self.square[source, 0, 0])[i], &(&self.square[target, 0, 0])[i],
                        &(&self.square_rest[target, 0, 0])[i])
        self.rebuild_slot(target)

    cdef double log_marginal(self, Py_ssize_t k) noexcept nogil:
        return self.log_evidence(self.count[k], self.log_det[k])

    cdef double log_evidence(self, Py_ssize_t n, double log_det) noexcept nogil:
        # of n rows whose posterior scale matrix has this log determinant
        return self.evidence_of(n) - 0.5 * (self.nu + n) * log_det

    cdef double evidence_of(self, Py_ssize_t n) noexcept nogil:
        # The part of it that depends on the number of rows alone.
        if n >= N_KNOWN:
            return self.evidence_anew(n)
        if isnan(self.known[n]):
            self.tabulate(n)
        return self.known[n]

    cdef void tabulate(self, Py_ssize_t n) noexcept nogil:
        # The evidence of n rows and, in wide blocks, of its neighbours: from one to the next, all gamma functions but
        # two cancel. In runs, so that rounding does not add up, nor depend on what was asked for before.
        cdef Py_ssize_t d = self.width, first = n - n % RUN if d >= RUN else n
        self.known[first] = self.evidence_anew(first)
        for n in range(first + 1, first + RUN if d >= RUN else first + 1):
            self.known[n] = (self.known[n - 1]
                             + 0.5 * d * (log_double((self.kappa + n - 1) / (self.kappa + n)) - LOG_PI)
                             + log_gamma(0.5 * (self.nu + n)) - log_gamma(0.5 * (self.nu + n - d)))

    cdef double evidence_anew(self, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t i, d = self.width
        cdef double out = (0.5 * d * (log_double(self.kappa / (self.kappa + n)) - n * LOG_PI)
                           + 0.5 * self.nu * self.log_det_psi)
        for i in range(d):
            out += log_gamma(0.5 * (self.nu + n - i)) - log_gamma(0.5 * (self.nu - i))
        return out

    cdef double log_marginal_of_both(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        cdef Py_ssize_t i, j, d = self.width
        cdef Py_ssize_t n = self.count[a] + self.count[b]
        for i in range(d):
            self.work[i] = (self.kappa * self.mu[i] + self.total[a, i] + self.total[b, i]) / (self.kappa + n)
            for j in range(i + 1):
                self.matrix[i, j] = (self.psi[i, j] + self.square[a, i, j] + self.square[b, i, j]
                                     + self.kappa * self.mu[i] * self.mu[j]
                                     - (self.kappa + n) * self.work[i] * self.work[j])
        return self.log_evidence(n, cholesky(&self.matrix[0, 0], d, d, pivot_floor()))

    def adopt(self, NormalWishart source not None):
        """Take over the hyperparameters of other statistics of the same column."""
        cdef Py_ssize_t i
        cdef bint same = self.kappa == source.kappa and self.nu == source.nu
        for i in range(self.width):
            same = same and self.mu[i] == source.mu[i]
        for i in range(self.width * self.width):
            same = same and (&self.psi[0, 0])[i] == (&source.psi[0, 0])[i]
        if same:
            return
        for i in range(self.width):
            self.mu[i] = source.mu[i]
        for i in range(self.width * self.width):
            (&self.psi[0, 0])[i] = (&source.psi[0, 0])[i]
        self.kappa, self.nu = source.kappa, source.nu
        self.refresh_all()

    def get_state(self, Py_ssize_t n_clusters):
        """Arrays from which ``set_state`` restores the first slots and the hyperparameters."""
        sums = {name: np.asarray(array)[:n_clusters].copy() for name, array in self.sums().items()}
        return sums | {"parameters": self.parameters}

    def sums(self):
        """Of all slots: numbers of rows, sums, sums of products (lower triangles), and their rests."""
        return {
            "count": self.count, "total": self.total, "square": self.square, "total_rest": self.total_rest,
            "square_rest": self.square_rest,
        }

    def set_state(self, state):
        """Restore the arrays of ``get_state``; all other slots are empty."""
        cdef Py_ssize_t n = len(state["count"])
        check_state(np.min(state["count"], initial=0) >= 0 and np.max(state["count"], initial=0) < 2**31 - 1)
        self.make_room(n + 1)
        for name, array in self.sums().items():
            np.asarray(array)[:] = 0
            np.asarray(array)[:n] = state[name]
        self.parameters = state["parameters"]
