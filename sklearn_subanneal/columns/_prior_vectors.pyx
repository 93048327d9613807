"""Sampling of the vectors that determine the correlations of a block: all of them at once, and their spread.

If columns are nearly functions of one another, the vector of one is all but known once those of the others are. Vectors
that are redrawn one at a time then hardly move, and the log joint density rises for hundreds of sweeps. Hamiltonian
Monte Carlo moves all of them along one path. The gradient costs one inverse for each cluster.

The scale of the posterior differs by orders of magnitude between tables. Step sizes are therefore drawn, and paths that
are too coarse given up after a step or two; an adapted size would depend on the past of the chain.

References
----------
R. M. Neal (2011), MCMC using Hamiltonian dynamics, in: Handbook of Markov Chain Monte Carlo, chapter 5.
"""
from libc.math cimport isnan, sqrt
from libc.stdlib cimport free, malloc
from numpy.random cimport bitgen_t

from sklearn_subanneal._core._linalg cimport invert_lower, log_det_of_sum, symmetric_inverse
from sklearn_subanneal._core._math cimport exp_double, log_double
from sklearn_subanneal._core._random cimport categorical, open_uniform, standard_normal, uniform
from sklearn_subanneal.columns._base cimport MAX_GRID
from sklearn_subanneal.columns._mvnormal cimport GaussianStatistics
from sklearn_subanneal.columns._wishart cimport pivot_floor

cdef enum:
    N_STEPS = 32
# The step size is log-uniform between the longest and that times exp(-RANGE).
cdef double LONGEST = 0.02
cdef double RANGE = 3.0
# A path along which the energy differs by more is given up, and so is the path backwards: the move stays reversible.
cdef double MOST_ENERGY = 30.0


cdef struct Path:
    Py_ssize_t d, n             # columns, and coordinates of a vector
    const double* scatter
    const double* exponent
    Py_ssize_t n_matrices
    double shrinkage, power
    double* vectors
    double* momentum
    double* slope
    double* directions          # vectors divided by their lengths
    double* length
    double* deviation           # roots of the diagonal of psi
    double* psi
    double* gradient            # by psi
    double* work                # three matrices


cdef void take_directions(GaussianStatistics self, Path* path) noexcept nogil:
    # Of the vectors, with their lengths and the matrix psi that they determine.
    cdef Py_ssize_t i, j, axis, d = path.d, n = path.n
    cdef double square
    for i in range(d):
        square = 0.0
        for axis in range(n):
            square += path.vectors[i * n + axis] * path.vectors[i * n + axis]
        path.length[i] = sqrt(square)
        for axis in range(n):
            path.directions[i * n + axis] = path.vectors[i * n + axis] / path.length[i]
    for i in range(d):
        for j in range(i):
            path.psi[i * d + j] = 0.0
            for axis in range(self.n_shared):
                path.psi[i * d + j] += path.directions[i * n + axis] * path.directions[j * n + axis]
            path.psi[i * d + j] *= path.shrinkage * path.deviation[i] * path.deviation[j]
            path.psi[j * d + i] = path.psi[i * d + j]
        path.psi[i * d + i] = self.psi[i, i]


cdef double log_evidence(Path* path) noexcept nogil:
    # Its gradient by psi is set, too: the derivative of log |A| is the inverse of A.
    cdef Py_ssize_t i, k, d = path.d
    cdef double out = 0.0
    cdef double* factor = path.work
    cdef double* inverse_factor = factor + d * d
    cdef double* inverse = inverse_factor + d * d
    for i in range(d * d):
        path.gradient[i] = 0.0
    for k in range(path.n_matrices):
        out += path.exponent[k] * log_det_of_sum(path.psi, path.scatter + k * d * d, factor, d, pivot_floor())
        invert_lower(factor, inverse_factor, d)
        symmetric_inverse(inverse_factor, inverse, d)
        for i in range(d * d):
            path.gradient[i] += path.exponent[k] * inverse[i]
    return out


cdef double log_density(GaussianStatistics self, Path* path) noexcept nogil:
    """Of the vectors, given the data; psi and the slope are set."""
    cdef Py_ssize_t i, j, axis, d = path.d, n = path.n, q = self.n_shared
    cdef double out, along, factor
    cdef double* slope
    cdef const double* direction
    take_directions(self, path)
    out = path.power * log_evidence(path)
    for i in range(d):
        slope, direction = path.slope + i * n, path.directions + i * n
        for axis in range(n):
            slope[axis] = 0.0
        for j in range(d):
            if i != j:
                # Both psi_ij and psi_ji change.
                factor = path.deviation[i] * path.deviation[j] * path.gradient[i * d + j]
                factor *= 2.0 * path.power * path.shrinkage
                for axis in range(q):
                    slope[axis] += factor * path.directions[j * n + axis]
        # A longer vector has the same direction.
        along = 0.0
        for axis in range(q):
            along += slope[axis] * direction[axis]
        for axis in range(n):
            factor = 1.0 if axis < q else 1.0 / (self.spread * self.spread)
            slope[axis] = (slope[axis] - along * direction[axis]) / path.length[i]
            slope[axis] -= factor * path.vectors[i * n + axis]
            out -= 0.5 * factor * path.vectors[i * n + axis] * path.vectors[i * n + axis]
    return out


cdef double energy(const Path* path, double log_density) noexcept nogil:
    # The potential and the kinetic one.
    cdef Py_ssize_t i
    cdef double out = -log_density
    for i in range(path.d * path.n):
        out += 0.5 * path.momentum[i] * path.momentum[i]
    return out


cdef bint move_vectors(
    GaussianStatistics self, const double* scatter, const double* exponent, Py_ssize_t n_matrices, double shrinkage,
    double power, bitgen_t* bits
) noexcept nogil:
    """Propose the end of a path of leapfrog steps; whether it is accepted."""
    cdef Py_ssize_t i, j, d = self.width, n = self.vectors.shape[1]
    cdef double start, present, low, high, size
    cdef bint accepted = False
    cdef Path path
    cdef double* room = <double*> malloc((4 * d * n + 2 * d + 5 * d * d) * sizeof(double))
    if room == NULL:
        # The vectors stay as they are: still a valid chain.
        return False
    path.d, path.n, path.n_matrices = d, n, n_matrices
    path.scatter, path.exponent, path.shrinkage, path.power = scatter, exponent, shrinkage, power
    path.vectors = room
    path.momentum = path.vectors + d * n
    path.slope = path.momentum + d * n
    path.directions = path.slope + d * n
    path.length = path.directions + d * n
    path.deviation = path.length + d
    path.psi = path.deviation + d
    path.gradient = path.psi + d * d
    path.work = path.gradient + d * d
    for i in range(d):
        path.deviation[i] = sqrt(self.psi[i, i])
        for j in range(n):
            path.vectors[i * n + j] = self.vectors[i, j]
            path.momentum[i * n + j] = standard_normal(bits)
    size = LONGEST * exp_double(-RANGE * uniform(bits))
    start = low = high = energy(&path, log_density(self, &path))
    for _ in range(N_STEPS):
        for i in range(d * n):
            path.momentum[i] += 0.5 * size * path.slope[i]
            path.vectors[i] += size * path.momentum[i]
        present = log_density(self, &path)
        for i in range(d * n):
            path.momentum[i] += 0.5 * size * path.slope[i]
        present = energy(&path, present)
        if isnan(present):
            break
        low, high = min(low, present), max(high, present)
        if high - low > MOST_ENERGY:
            break
    else:
        accepted = log_double(open_uniform(bits)) < start - present
    if accepted:
        for i in range(d):
            for j in range(n):
                self.vectors[i, j] = path.vectors[i * n + j]
            for j in range(d):
                self.psi[i, j] = path.psi[i * d + j]
    free(room)
    return accepted


cdef void resample_spread(
    GaussianStatistics self, const double* grid, Py_ssize_t n_grid, bitgen_t* bits
) noexcept nogil:
    # Given the vectors, the data say nothing of it.
    cdef Py_ssize_t i, axis, g, q = self.n_shared, n = self.vectors.shape[1]
    cdef double[MAX_GRID] logs
    cdef double[MAX_GRID] work
    cdef double square = 0.0
    for i in range(self.width):
        for axis in range(q, n):
            square += self.vectors[i, axis] * self.vectors[i, axis]
    for g in range(n_grid):
        logs[g] = -self.width * (n - q) * log_double(grid[g]) - 0.5 * square / (grid[g] * grid[g])
    self.spread = grid[categorical(logs, work, n_grid, 1.0, bits)]
