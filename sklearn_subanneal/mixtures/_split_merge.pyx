"""SplitMergeKernel: split-merge moves of clusters with sequential allocation of the rows."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

from sklearn_subanneal._core._math cimport log_double
from sklearn_subanneal._core._random cimport integer_below, open_uniform, uniform
from sklearn_subanneal.columns._base cimport BLOCK, REAL, ColumnStatistics
from sklearn_subanneal.mixtures._halves cimport Halves
from sklearn_subanneal.mixtures._mixture cimport Mixture


# Scans, if their number is not given. One row of categories says little of its part while the parts are small, so that
# allocation alone finds poor parts; a row of joint reals says much, and scans do not gain what they cost.
cdef enum:
    SCANS_OF_CATEGORIES = 5
    SCANS_OF_REALS = 2


# Draws of a second row before all rows are looked at.
cdef enum:
    MOST_TRIES = 64


cdef Py_ssize_t partner(Halves halves, Py_ssize_t row, bint fellow, bitgen_t* bits) noexcept nogil:
    """A random row of the same cluster, or of the others; -1 if there is none."""
    cdef int32_t name = halves.mixture.names[row]
    cdef Py_ssize_t size = halves.mixture.counts[halves.mixture.slot_of[name]], left, i, other
    left = size - 1 if fellow else halves.n_assigned - size
    if left == 0:
        return -1
    # Rows are drawn until one fits; where few would, those that do are counted off, which is the same distribution.
    for _ in range(MOST_TRIES):
        other = halves.assigned[integer_below(bits, halves.n_assigned)]
        if other != row and (halves.mixture.names[other] == name) == fellow:
            return other
    left = integer_below(bits, left)
    for i in range(halves.n_assigned):
        other = halves.assigned[i]
        if other != row and (halves.mixture.names[other] == name) == fellow:
            if left == 0:
                return other
            left -= 1
    return -1


cdef class SplitMergeKernel(Halves):
    """Split-merge proposals, accepted by Metropolis and Hastings.

    A row is drawn, and a second one: with equal probabilities from its own cluster, or from all others. If they share a
    cluster, it is proposed to split it: each of the two founds a part, and the other rows join one of the parts in
    random order, by their conditional probabilities (sequential allocation). If they do not, it is proposed to merge
    their clusters; the probability of the split that would undo this is that of the same allocation, forced. The ratio
    of both is exact in any order of the rows. (Were both rows drawn from all, most proposals would be merges
    that are hardly ever accepted.) That probability is at most 1: most merges are rejected by the ratio without it,
    before any row is allocated.

    With ``n_scans`` the allocation is but a start, followed by so many scans of restricted Gibbs sampling, the last of
    which makes the proposal. The start and the other scans are drawn alike in both directions, and cancel.

    Parameters
    ----------
    columns, n_rows, twins
        As for ``Halves``.
    n_scans : int, default=0
        -1: by the columns of the mixture, see ``SplitMerge``.

    References
    ----------
    S. Jain, R. M. Neal (2004), A split-merge Markov chain Monte Carlo procedure for the Dirichlet process mixture
    model, Journal of Computational and Graphical Statistics 13, 158-182. doi:10.1198/1061860043001

    D. B. Dahl (2005), Sequentially-allocated merge-split sampler for conjugate and nonconjugate Dirichlet process
    mixture models, technical report, Texas A&M University.
    """

    cdef readonly Py_ssize_t n_scans
    cdef Py_ssize_t n_scans_here            # for the mixture at hand

    def __init__(self, list columns, Py_ssize_t n_rows, dict twins=None, Py_ssize_t n_scans=0):
        self.n_scans = n_scans

    def begin(self, Mixture mixture, rows=None):
        cdef ColumnStatistics column
        super().begin(mixture, rows)
        self.n_scans_here = self.n_scans
        if self.n_scans < 0:
            self.n_scans_here = SCANS_OF_CATEGORIES
            for column in mixture.columns:
                if column.family == REAL:
                    self.n_scans_here = min(self.n_scans_here, SCANS_OF_REALS)
                elif column.family == BLOCK or column.width > 1:
                    self.n_scans_here = 0

    def propose(self, Mixture mixture, Py_ssize_t n_proposals, double inverse_temperature, generator, rows=None):
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        cdef Py_ssize_t n, i, j, n_accepted = 0
        self.begin(mixture, rows)
        n = self.n_assigned
        with generator.bit_generator.lock, nogil:
            if n > 1:
                for _ in range(n_proposals):
                    i = self.assigned[integer_below(bits, n)]
                    j = partner(self, i, uniform(bits) < 0.5, bits)
                    if j >= 0:
                        n_accepted += self.attempt(i, j, inverse_temperature, bits)
        return n_accepted

    cdef bint attempt(self, Py_ssize_t a, Py_ssize_t b, double beta, bitgen_t* bits) except -1 nogil:
        cdef double threshold = log_double(open_uniform(bits)), log_q, log_ratio
        cdef bint merges = self.mixture.names[a] != self.mixture.names[b], accepted
        cdef Py_ssize_t scan
        if merges:
            self.start_from_clusters(a, b)
            log_ratio = -self.log_gain(beta) - self.log_choice()
            if not threshold < log_ratio:
                self.count(log_ratio, False)
                return False
        self.collect_members(a, b, bits)
        self.start_parts()
        log_q = self.allocate(0, merges and not self.n_scans_here, beta, bits)
        for scan in range(self.n_scans_here):
            log_q = self.scan(merges and scan == self.n_scans_here - 1, beta, bits)
        log_ratio = self.log_gain(beta) - log_q + self.log_choice()
        log_ratio = -log_ratio if merges else log_ratio
        accepted = threshold < log_ratio
        self.count(log_ratio, accepted)
        if accepted and merges:
            self.merge()
        elif accepted:
            self.split()
        return accepted

    cdef double log_choice(self) noexcept nogil:
        # How the second row is drawn: of the other clusters, to merge, and of the one cluster, to split.
        return log_double((self.sizes[0] + self.sizes[1] - 1.0) / (self.n_assigned - self.sizes[0]))
