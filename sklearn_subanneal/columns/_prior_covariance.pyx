"""Sampling of the scale matrix shared by the clusters of a block of reals: nu, variances and correlations.

psi_ij = (nu - width + 1) sqrt(sigma2_i sigma2_j) R_ij. The correlations have a factor model: every column has a vector
v_i of independent normal coordinates, the first n_shared of variance 1 and the others of variance spread^2. With w_i,
the shared coordinates divided by the length of the vector, R_ij = SHRINKAGE w_i . w_j for i != j, and R_ii = 1. R is
positive definite for every set of vectors. For given n_shared and spread, the correlations of some of the columns have
the same prior whether or not there are other columns. A vector is redrawn by elliptical slice sampling (Murray, Adams,
MacKay 2010, Elliptical slice sampling, AISTATS), with the clusters integrated out: a column changes the scale matrices
by matrices of rank two, and all points of an ellipse lie in a plane, so that a point of it costs O(1) a cluster.
"""
from libc.math cimport cos, isnan, sin, sqrt
from libc.stdlib cimport free, malloc
from numpy.random cimport bitgen_t

from sklearn_subanneal._core._linalg cimport invert_lower, log_det_of_sum, symmetric_inverse
from sklearn_subanneal._core._math cimport log_double, log_gamma
from sklearn_subanneal._core._random cimport categorical, integer_below, open_uniform, standard_normal, uniform
from sklearn_subanneal.columns._base cimport MAX_GRID
from sklearn_subanneal.columns._mvnormal cimport GaussianStatistics
from sklearn_subanneal.columns._prior_vectors cimport move_vectors, resample_spread
from sklearn_subanneal.columns._rank_two cimport (
    Inverse, keep_products, prepare_candidates, take_candidate, take_log_ratios
)
from sklearn_subanneal.columns._wishart cimport pivot_floor

# Correlations are at most this, so that psi keeps its rank in float64.
cdef double SHRINKAGE = 1.0 - 1e-4
cdef enum:
    # Proposals in a sweep to change nu, and to change all variances together.
    N_PROPOSALS = 2
    # Scans of the variances and correlations in a sweep. An ellipse that is drawn has few points near the peak of a
    # sharp posterior, and a scan costs little beside the inverses that all share.
    N_SCANS = 3
    # Points of an ellipse that are tried at most: each halves its rest on average.
    MOST_POINTS = 100
cdef double NEVER = -1e300
# A path of all vectors costs as much as many scans, but goes much further than as many.
cdef double SHARE_OF_PATHS = 0.25


cdef struct Workspace:
    # Of the clusters that have rows, and last of psi itself: ...
    Py_ssize_t n_used
    double* rows                # their numbers of rows,
    double* scatter             # Psi_n - psi,
    double* log_det             # log |Psi_n|,
    double* exponent            # and its factor in the log evidence;
    Inverse* inverse
    double* products            # of candidates: see `take_log_ratios`
    double* log_ratio
    double* matrix              # (width, width), for proposals
    double* line                # for some vectors


cdef double log_evidence_of_scale(const Workspace* self, double nu, const double* log_det, Py_ssize_t d) noexcept nogil:
    # Of all clusters, the part that depends on nu and psi.
    cdef Py_ssize_t i, k
    cdef double out = 0.5 * self.n_used * nu * log_det[self.n_used]
    for k in range(self.n_used):
        out -= 0.5 * (nu + self.rows[k]) * log_det[k]
        for i in range(d):
            out += log_gamma(0.5 * (nu + self.rows[k] - i)) - log_gamma(0.5 * (nu - i))
    return out


cdef Py_ssize_t place_of(const double* grid, Py_ssize_t n_grid, double value) noexcept nogil:
    # The nearest value of an increasing grid.
    cdef Py_ssize_t g, best = 0
    for g in range(1, n_grid):
        if abs(grid[g] - value) < abs(grid[best] - value):
            best = g
    return best


cdef bint propose_scale(
    GaussianStatistics self, Workspace* space, double nu, const double* factor, double power, bitgen_t* bits
) noexcept nogil:
    """Metropolis step to other degrees of freedom and psi_ij factor_i factor_j; proposals must be symmetric."""
    cdef Py_ssize_t i, j, k, d = self.width
    cdef double* log_det = space.line + 2 * d
    cdef double ratio
    for i in range(d):
        for j in range(d):
            space.matrix[i * d + j] = self.psi[i, j] * factor[i] * factor[j]
    for k in range(space.n_used + 1):
        log_det[k] = log_det_of_sum(space.matrix, space.scatter + k * d * d, &self.matrix[0, 0], d, pivot_floor())
    ratio = (log_evidence_of_scale(space, nu, log_det, d)
             - log_evidence_of_scale(space, self.nu, space.log_det, d))
    if log_double(open_uniform(bits)) >= power * ratio:
        return False
    self.nu = nu
    for i in range(d):
        for j in range(d):
            self.psi[i, j] = space.matrix[i * d + j]
    for k in range(space.n_used + 1):
        space.log_det[k] = log_det[k]
    return True


cdef Py_ssize_t neighbour(Py_ssize_t place, Py_ssize_t n_grid, bitgen_t* bits) noexcept nogil:
    # A place up to a fifth of the grid away, each with the same probability in both directions; -1: beyond the grid.
    cdef Py_ssize_t reach = max(n_grid // 5, 1), step = integer_below(bits, 2 * reach) - reach
    place += step + (step >= 0)
    return place if 0 <= place < n_grid else -1


cdef void resample_nu(
    GaussianStatistics self, Workspace* space, const double* grid, Py_ssize_t n_grid, double power, bitgen_t* bits
) noexcept nogil:
    # psi is in proportion to nu - width + 1: the variances that a cluster expects stay nearly the same.
    cdef Py_ssize_t i, g, d = self.width
    cdef double factor
    for _ in range(N_PROPOSALS):
        g = neighbour(place_of(grid, n_grid, self.nu), n_grid, bits)
        if g >= 0:
            factor = sqrt((grid[g] - d + 1) / (self.nu - d + 1))
            for i in range(d):
                space.line[i] = factor
            propose_scale(self, space, grid[g], space.line, power, bits)


cdef void resample_common_scale(
    GaussianStatistics self, Workspace* space, const double* grid, Py_ssize_t n_grid, double power, bitgen_t* bits
) noexcept nogil:
    # All variances move by the same number of places on their grids.
    cdef Py_ssize_t i, g, step, d = self.width
    cdef double own
    for _ in range(N_PROPOSALS):
        step = 1 if uniform(bits) < 0.5 else -1
        for i in range(d):
            own = self.psi[i, i] / (self.nu - d + 1)
            g = place_of(grid + i * n_grid, n_grid, own) + step
            if g < 0 or g >= n_grid:
                break
            space.line[i] = sqrt(grid[i * n_grid + g] / own)
        else:
            propose_scale(self, space, self.nu, space.line, power, bits)


cdef void prepare(Workspace* space, const double* g, const double* h, Py_ssize_t j, Py_ssize_t d) noexcept nogil:
    # ... for candidates psi + u e_j' + e_j u', u = a g + b h + c e_j.
    cdef Py_ssize_t k
    for k in range(space.n_used + 1):
        prepare_candidates(&space.inverse[k], g, h, j, d)
        keep_products(&space.inverse[k], space.products + k, space.n_used + 1)


cdef double change_of_evidence(const Workspace* space, double a, double b, double c) noexcept nogil:
    # Of a candidate, from the present scale matrices.
    cdef Py_ssize_t k
    cdef double out = 0.0
    take_log_ratios(space.products, a, b, c, space.log_ratio, space.n_used + 1)
    for k in range(space.n_used + 1):
        out += space.exponent[k] * space.log_ratio[k]
    return NEVER if isnan(out) else out


cdef void change_column(
    GaussianStatistics self, Workspace* space, Py_ssize_t j, const double* g, const double* h,
    double a, double b, double c
) noexcept nogil:
    cdef Py_ssize_t i, k, d = self.width
    cdef double change
    for k in range(space.n_used + 1):
        take_candidate(&space.inverse[k], a, b, c, j, d, space.matrix)
    for i in range(d):
        change = a * g[i] + (b * h[i] if h != NULL else 0.0)
        if i == j:
            self.psi[j, j] += 2.0 * c
        else:
            self.psi[i, j] += change
            self.psi[j, i] = self.psi[i, j]


cdef void resample_variance(
    GaussianStatistics self, Workspace* space, Py_ssize_t j, const double* grid, Py_ssize_t n_grid,
    double power, bitgen_t* bits
) noexcept nogil:
    # Row and column j of psi scale by r, its diagonal entry by r^2: psi + u e' + e u', u = (r - 1) psi_.j + c e.
    cdef Py_ssize_t i, g, d = self.width
    cdef double[MAX_GRID] logs
    cdef double[MAX_GRID] work
    cdef double* off = space.line
    cdef double present = self.psi[j, j], unit = self.nu - d + 1, r, c
    for i in range(d):
        off[i] = self.psi[i, j] if i != j else 0.0
    prepare(space, off, NULL, j, d)
    for g in range(n_grid):
        r = sqrt(unit * grid[g] / present)
        logs[g] = change_of_evidence(space, r - 1.0, 0.0, 0.5 * (r * r - 1.0) * present)
    g = categorical(logs, work, n_grid, power, bits)
    r = sqrt(unit * grid[g] / present)
    c = 0.5 * (r * r - 1.0) * present
    if logs[g] > NEVER and r != 1.0:
        change_column(self, space, j, off, NULL, r - 1.0, 0.0, c)
        self.psi[j, j] = unit * grid[g]


cdef void resample_vector(
    GaussianStatistics self, Workspace* space, Py_ssize_t j, double power, bitgen_t* bits
) noexcept nogil:
    # On the ellipse v cos(angle) + f sin(angle), row j of psi is (g cos(angle) + h sin(angle)) / length.
    cdef Py_ssize_t i, axis, d = self.width, q = self.n_shared, n = self.vectors.shape[1]
    cdef double* g = space.line
    cdef double* h = g + d
    cdef double* fresh = h + d
    cdef double vv = 0.0, vf = 0.0, ff = 0.0, length, scale, angle, low, high, level, a = 0.0, b = 0.0, x, y
    for axis in range(n):
        fresh[axis] = standard_normal(bits) * (1.0 if axis < q else self.spread)
        vv += self.vectors[j, axis] * self.vectors[j, axis]
        vf += self.vectors[j, axis] * fresh[axis]
        ff += fresh[axis] * fresh[axis]
    for i in range(d):
        g[i] = h[i] = 0.0
        if i == j:
            continue
        length = 0.0
        for axis in range(n):
            length += self.vectors[i, axis] * self.vectors[i, axis]
        scale = SHRINKAGE * sqrt(self.psi[i, i] * self.psi[j, j] / length)
        for axis in range(q):
            g[i] += self.vectors[i, axis] * self.vectors[j, axis]
            h[i] += self.vectors[i, axis] * fresh[axis]
        g[i] *= scale
        h[i] *= scale
    prepare(space, g, h, j, d)
    level = log_double(open_uniform(bits))
    angle = high = 6.283185307179586 * uniform(bits)
    low = high - 6.283185307179586
    for _ in range(MOST_POINTS):
        x, y = cos(angle), sin(angle)
        length = sqrt(x * x * vv + 2.0 * x * y * vf + y * y * ff)
        a, b = x / length - 1.0 / sqrt(vv), y / length
        if power * change_of_evidence(space, a, b, 0.0) > level:
            break
        if angle < 0.0:
            low = angle
        else:
            high = angle
        angle = low + (high - low) * uniform(bits)
    else:
        return
    change_column(self, space, j, g, h, a, b, 0.0)
    for axis in range(n):
        self.vectors[j, axis] = x * self.vectors[j, axis] + y * fresh[axis]


cdef void fill_scatter(GaussianStatistics self, Py_ssize_t k, double* out) noexcept nogil:
    # Psi_n - psi, both triangles; mu and kappa may be newer than the cached mean.
    cdef Py_ssize_t i, j, d = self.width
    cdef double after = self.kappa + self.count[k], value
    for i in range(d):
        self.work[i] = (self.kappa * self.mu[i] + self.total[k, i]) / after
    for i in range(d):
        for j in range(i + 1):
            value = (self.square[k, i, j] + self.kappa * self.mu[i] * self.mu[j] - after * self.work[i] * self.work[j])
            out[i * d + j] = out[j * d + i] = value


cdef bint resample_covariance(
    GaussianStatistics self, Py_ssize_t n_clusters, double power, bitgen_t* bits
) noexcept nogil:
    """nu, the variances and the correlations, where they are learned; True if any is."""
    cdef const double[:, ::1] variances
    cdef const double[::1] grid_nu, spreads
    cdef Py_ssize_t d = self.width, j, k, n = 0
    cdef double* room
    cdef Workspace space
    cdef bint any_nu, any_variance, any_vectors, any_spread
    with gil:
        any_nu, any_variance, any_spread = "nu" in self.grids, "sigma2" in self.grids, "spread" in self.grids
        any_vectors = self.n_shared > 0 and d > 1
        if any_nu:
            grid_nu = self.grids["nu"]
        if any_variance:
            variances = self.grids["sigma2"]
        if any_spread:
            spreads = self.grids["spread"]
        if any_vectors:
            n = self.vectors.shape[1]
    if not (any_nu or any_variance or any_vectors):
        return False
    n = max(n, n_clusters + 1)
    room = <double*> malloc(((n_clusters + 1) * (2 * d * d + 2 * d + 10) + d * d + 6 * d + n) * sizeof(double))
    space.inverse = <Inverse*> malloc((n_clusters + 1) * sizeof(Inverse))
    if room == NULL or space.inverse == NULL:
        # The hyperparameters stay as they are: still a valid chain.
        free(room)
        free(space.inverse)
        return False
    space.rows = room
    space.log_det = space.rows + n_clusters + 1
    space.exponent = space.log_det + n_clusters + 1
    space.products = space.exponent + n_clusters + 1
    space.log_ratio = space.products + 6 * (n_clusters + 1)
    space.scatter = space.log_ratio + n_clusters + 1
    space.inverse[0].inverse = space.scatter + (n_clusters + 1) * d * d
    space.inverse[0].solved_g = space.inverse[0].inverse + (n_clusters + 1) * d * d
    space.matrix = space.inverse[0].solved_g + (n_clusters + 1) * 2 * d
    space.line = space.matrix + d * d + 4 * d
    space.n_used = 0
    for k in range(n_clusters):
        if self.count[k]:
            space.rows[space.n_used] = self.count[k]
            fill_scatter(self, k, space.scatter + space.n_used * d * d)
            space.n_used += 1
    for j in range(d * d):
        space.scatter[space.n_used * d * d + j] = 0.0
    if any_nu or any_variance:
        for k in range(space.n_used + 1):
            space.log_det[k] = log_det_of_sum(
                &self.psi[0, 0], space.scatter + k * d * d, &self.matrix[0, 0], d, pivot_floor()
            )
        if any_nu:
            resample_nu(self, &space, &grid_nu[0], grid_nu.shape[0], power, bits)
        if any_variance:
            resample_common_scale(self, &space, &variances[0, 0], variances.shape[1], power, bits)
    if any_variance or any_vectors:
        for k in range(space.n_used + 1):
            space.exponent[k] = -0.5 * (self.nu + space.rows[k]) if k < space.n_used else 0.5 * space.n_used * self.nu
        if any_vectors and self.settled and uniform(bits) < SHARE_OF_PATHS:
            move_vectors(self, space.scatter, space.exponent, space.n_used + 1, SHRINKAGE, power, bits)
        for k in range(space.n_used + 1):
            space.inverse[k].inverse = space.inverse[0].inverse + k * d * d
            space.inverse[k].solved_g = space.inverse[0].solved_g + 2 * k * d
            space.inverse[k].solved_h = space.inverse[k].solved_g + d
            log_det_of_sum(&self.psi[0, 0], space.scatter + k * d * d, space.matrix, d, pivot_floor())
            invert_lower(space.matrix, &self.matrix[0, 0], d)
            symmetric_inverse(&self.matrix[0, 0], space.inverse[k].inverse, d)
        for _ in range(N_SCANS):
            for j in range(d):
                if any_variance:
                    resample_variance(self, &space, j, &variances[j, 0], variances.shape[1], power, bits)
                if any_vectors:
                    resample_vector(self, &space, j, power, bits)
        if any_vectors and any_spread:
            resample_spread(self, &spreads[0], spreads.shape[0], bits)
    free(room)
    free(space.inverse)
    return True
