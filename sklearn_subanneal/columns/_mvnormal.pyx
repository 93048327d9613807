"""Multivariate normal likelihood with a normal-inverse-Wishart prior: m | S ~ N(mu, S / kappa), S ~ IW(nu, psi).

A row with missing cells is not conjugate to this prior. Its missing cells are part of the chain's state: the row is
scored on its observed cells by the marginal t, and once it has a cluster its missing cells are drawn from their
conditional t, so that row and cells are drawn jointly from their exact conditional.

Missing cells may have limits. In a cluster where a column is missing in all rows, with few degrees of freedom, they
would else wander off, until sums of squares lose all digits. The posterior is then that given that they are within the
limits: cluster and cells that are drawn are a proposal, which is accepted if they are.
"""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._linalg cimport WIDE
from sklearn_subanneal._core._math cimport LANES, inlined_void, log1p_float, simd_void
from sklearn_subanneal.columns._base cimport BLOCK, ColumnData, LogQueue
from sklearn_subanneal.columns._mvnormal_prior cimport resample_gaussian_prior
from sklearn_subanneal.columns._multivariate_t cimport MultivariateT

from sklearn_subanneal.columns._base import as_grid
from sklearn_subanneal.columns.slab import placed

# For an upper bound of a row's score, half of its coordinates are whitened, and at most so many.
cdef enum:
    BOUNDED = 12
# Of the missing cells of a row that enters, until they are within their limits.
cdef enum:
    MOST_TRIALS = 100


cdef inlined_void add_squares(
    const double* x, const float* location, const float* whiten, float* difference, float* projection,
    float* quadratic, Py_ssize_t d, Py_ssize_t stride, Py_ssize_t n
) noexcept nogil:
    # The squared length of the first d coordinates of the whitened row, in each slot.
    cdef Py_ssize_t i, j, k
    cdef float xj
    cdef const float* row = whiten
    cdef const float* near
    cdef float* off
    for j in range(d):
        xj = <float> x[j]
        near = location + j * stride
        off = difference + j * stride
        for k in range(n):
            off[k] = xj - near[k]
    for k in range(n):
        quadratic[k] = 0.0
    for i in range(d):
        for k in range(n):
            projection[k] = row[k] * difference[k]
        row += stride
        for j in range(1, i + 1):
            off = difference + j * stride
            for k in range(n):
                projection[k] += row[k] * off[k]
            row += stride
        for k in range(n):
            quadratic[k] += projection[k] * projection[k]


cdef simd_void add_multivariate_t(
    const double* x, const float* location, const float* whiten, const float* power, const float* constant,
    float* difference, float* projection, float* quadratic, float* scores,
    Py_ssize_t d, Py_ssize_t stride, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    add_squares(x, location, whiten, difference, projection, quadratic, d, stride, n)
    for k in range(n):
        scores[k] += constant[k] - power[k] * log1p_float(quadratic[k])


cdef float multivariate_t(
    const double* x, const float* location, const float* whiten, float power, float constant, float* difference,
    Py_ssize_t d, Py_ssize_t stride
) noexcept nogil:
    # The same for one slot, to the bit.
    cdef Py_ssize_t i, j
    cdef float projection, quadratic = 0.0
    cdef const float* row = whiten
    for j in range(d):
        difference[j] = <float> x[j] - location[j * stride]
    for i in range(d):
        projection = row[0] * difference[0]
        row += stride
        for j in range(1, i + 1):
            projection += row[0] * difference[j]
            row += stride
        quadratic += projection * projection
    return constant - power * log1p_float(quadratic)


cdef class GaussianData(ColumnData):
    """A block of real columns, (n_rows, width) float64; NaN is a missing cell.

    ``limits`` (2, width): the least and the largest value that a missing cell can have; None: any. ``complete``: it is
    known that no cell is missing.
    """

    def __init__(self, cells, limits=None, bint complete=False):
        cells = self.keep(np.ascontiguousarray(cells, np.float64))
        self.limited = limits is not None
        self.limits = np.ascontiguousarray(limits, np.float64) if self.limited else np.empty((2, 0))
        missing = np.zeros(len(cells), bool) if complete else np.isnan(cells).any(axis=1)
        self.cells = cells
        self.missing = missing.astype(np.int8)
        self.any_missing = missing.any()

    def take(self, order):
        return type(self)(placed(self.array[order]), np.asarray(self.limits) if self.limited else None)

    cdef bint within(self, Py_ssize_t row, const double* completed) noexcept nogil:
        """Whether the missing cells of a row are filled by values within the limits."""
        cdef Py_ssize_t i
        for i in range(self.width if self.limited else 0):
            if self.cells[row, i] != self.cells[row, i] and not (
                self.limits[0, i] <= completed[i] <= self.limits[1, i]
            ):
                return False
        return True


cdef class GaussianStatistics(MultivariateT):
    """Statistics of a block of reals.

    Parameters
    ----------
    data : GaussianData or None
        None where only the predictive densities are wanted.
    parameters : dict
        "mu" (width,), "kappa", "psi" (width, width), "nu". Where correlations are learned, also "vectors" (width,
        n_coordinates), "n_shared" and "spread", whose correlations (`_prior_covariance`) are those of psi.
    grids : dict
        "mu" and "sigma2" (width, n_grid), "kappa", "nu" and "spread" (n_grid,): those to learn. sigma2 is the diagonal
        of psi / (nu - width + 1).
    """

    def __init__(self, data, parameters, grids=None, Py_ssize_t capacity=16):
        self.data, self.family = data, BLOCK
        self.take_vectors(parameters)
        self.grids = {name: as_grid(grid) for name, grid in (grids or {}).items()}
        if data is not None:
            self.cells = self.data.cells
            if self.data.any_missing:
                self.completed, self.before = np.array(self.data.cells), np.empty(self.data.width)
                self.cells = self.completed
        super().__init__(parameters, capacity)
        if self.stateful():
            self.follow_marginal()

    cdef int reserve(self, Py_ssize_t capacity) except -1:
        MultivariateT.reserve(self, capacity)
        self.difference = np.zeros((self.width, capacity), np.float32)
        self.projection, self.quadratic = np.zeros((2, capacity), np.float32)
        return 0

    cdef void score(self, Py_ssize_t row, float* scores, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t k, n_observed
        if self.data.missing[row]:
            n_observed = self.sort_missing(&self.data.cells[row, 0])
            if n_observed:
                self.marginal.score(self, &self.data.cells[row, 0], &self.order[0], n_observed, n)
                for k in range(n):
                    scores[k] += <float> self.marginal.log_densities[k]
        elif n == LANES and self.width >= WIDE:
            self.score_few(row, scores, n)
        else:
            self.whiten_slots(n)
            add_multivariate_t(&self.cells[row, 0], &self.location[0, 0], &self.whiten[0, 0], &self.power[0],
                               &self.constant[0], &self.difference[0, 0], &self.projection[0], &self.quadratic[0],
                               scores, self.width, self.capacity, n)

    cdef void score_few(self, Py_ssize_t row, float* scores, Py_ssize_t n) noexcept nogil:
        # Slot by slot: all those without rows have the same score.
        cdef Py_ssize_t k, empty = -1
        cdef float log_density = 0.0
        for k in range(n):
            if self.count[k] or empty < 0:
                log_density = <float> self.log_density(&self.cells[row, 0], k, self.width)
                empty = -1 if self.count[k] else k
            scores[k] += log_density

    cdef void bound(self, Py_ssize_t row, float* bounds, Py_ssize_t n) noexcept nogil:
        # bounds[k] += at least the score of a complete row: the first coordinates alone are whitened, whose squared
        # length the others only add to.
        self.whiten_slots(n)
        add_multivariate_t(&self.cells[row, 0], &self.location[0, 0], &self.whiten[0, 0], &self.power[0],
                           &self.constant[0], &self.difference[0, 0], &self.projection[0], &self.quadratic[0],
                           bounds, min((self.width + 1) // 2, <Py_ssize_t> BOUNDED), self.capacity, n)

    cdef float score_in(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        # The score of a complete row in one slot, after ``bound``.
        return multivariate_t(&self.cells[row, 0], &self.location[0, k], &self.whiten[0, k], self.power[k],
                              self.constant[k], &self.difference[0, 0], self.width, self.capacity)

    cdef float score_without(self, Py_ssize_t row, Py_ssize_t k, double* ratio) noexcept nogil:
        return <float> self.log_density_without(&self.cells[row, 0], k)

    cdef void add(self, Py_ssize_t row, Py_ssize_t k, LogQueue* logs) noexcept nogil:
        self.change(&self.cells[row, 0], k, 1.0)

    cdef void remove(self, Py_ssize_t row, Py_ssize_t k, LogQueue* logs) noexcept nogil:
        self.change(&self.cells[row, 0], k, -1.0)

    cdef double log_predictive(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        return self.log_density(&self.cells[row, 0], k, self.width)

    cdef double log_observed(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        return self.log_density(&self.data.cells[row, 0], k, self.sort_missing(&self.data.cells[row, 0]))

    cdef bint stateful(self) noexcept nogil:
        return self.data is not None and self.data.any_missing

    cdef bint incomplete(self, Py_ssize_t row) noexcept nogil:
        return self.data.missing[row]

    cdef bint complete(self, Py_ssize_t row, Py_ssize_t k, bint enters, bitgen_t* bits) noexcept nogil:
        cdef Py_ssize_t i
        cdef double* cells
        if not self.data.missing[row]:
            return True
        cells = &self.completed[row, 0]
        for i in range(self.width):
            self.before[i] = cells[i]
        for _ in range(MOST_TRIALS if enters else 1):
            for i in range(self.width):
                cells[i] = self.data.cells[row, i]
            self.draw(k, bits, cells)
            if self.data.within(row, cells):
                return True
        for i in range(self.width):
            cells[i] = min(max(cells[i], self.data.limits[0, i]), self.data.limits[1, i]) if enters else self.before[i]
            if self.data.cells[row, i] == self.data.cells[row, i]:
                cells[i] = self.data.cells[row, i]
        return enters

    def redrawn(self, completed, const int32_t[::1] rows, const int32_t[::1] slots, generator):
        """The cells of all rows after a Gibbs sweep over the missing ones, of which the statistics have ``completed``.

        Parameters
        ----------
        completed : ndarray of shape (len(rows), width)
            The rows with missing cells as the statistics have them.
        rows, slots : ndarray of int32
            Indices of these rows, and their clusters.
        generator : numpy.random.Generator
        """
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        cdef Py_ssize_t i
        np.asarray(self.completed)[np.asarray(rows)] = completed
        with generator.bit_generator.lock, nogil:
            for i in range(rows.shape[0]):
                self.change(&self.cells[rows[i], 0], slots[i], -1.0)
                self.complete(rows[i], slots[i], False, bits)
                self.change(&self.cells[rows[i], 0], slots[i], 1.0)
        return np.array(self.cells)

    cdef void assign(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t which, k
        for k in range(self.capacity):
            self.clear_sums(k)
        for which in range(n):
            self.count[slots[which]] += 1
            self.add_to_sums(&self.cells[rows[which], 0], slots[which], 1.0)
        self.rebuild_slots(0)

    def twin(self):
        """Empty statistics that see the same fillings of missing cells, now and later."""
        cdef GaussianStatistics other = GaussianStatistics(self.data, self.parameters)
        other.cells = self.cells
        return other

    def take_vectors(self, state):
        """The vectors of the columns, from parameters or a state that may have them."""
        if "vectors" in state:
            self.vectors = np.array(state["vectors"], np.float64)
            self.n_shared, self.spread = state["n_shared"], state["spread"]

    cdef void resample_prior(self, Py_ssize_t n_clusters, double power, bitgen_t* bits) noexcept nogil:
        if resample_gaussian_prior(self, n_clusters, power, bits):
            self.refresh_all()

    def get_prior_state(self):
        """The hyperparameters and the present fillings of the rows with missing cells."""
        state = {"parameters": self.parameters}
        if self.n_shared:
            state |= {"vectors": np.array(self.vectors), "n_shared": self.n_shared, "spread": self.spread}
        if self.data is not None and self.data.any_missing:
            state["completed"] = np.asarray(self.completed)[np.asarray(self.data.missing) > 0]
        return state

    def set_prior_state(self, state):
        """Restore the arrays of ``get_prior_state``."""
        self.parameters = state["parameters"]
        self.take_vectors(state)
        if "completed" in state:
            np.asarray(self.completed)[np.asarray(self.data.missing) > 0] = state["completed"]
