"""TreeGuidedSimilarKernel: the sampler of Lee and Choi (2015), with merges by similarity, corrected to be exact."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport exp_double, log_double
from sklearn_subanneal._core._random cimport integer_below, uniform
from sklearn_subanneal.columns._base cimport ColumnStatistics
from sklearn_subanneal.mixtures._mixture cimport Mixture
from sklearn_subanneal.trees._launch cimport Launch
from sklearn_subanneal.trees._trees cimport log_sum


cdef class TreeGuidedSimilarKernel(Launch):
    """Tree-guided split-merge proposals that leave the posterior invariant.

    A cluster is drawn uniformly. It is split with probability 1 / (1 + sum of o), where o is its similarity to each
    other cluster, or else merged with one of these, drawn with probability proportional to o: the ratio of the
    probabilities of the partitions with the two merged and separate. A split starts from a random tree over (some of)
    its rows, and ends, like the reverse of a merge, with scans of Gibbs sampling between the two parts.

    Parameters
    ----------
    columns : list of ColumnStatistics
        Columns of the mixtures for which proposals are made.
    n_rows : int
    subset_size : int, default=50
        Maximum number of rows of a tree.
    n_scans : int, default=1
        Scans of restricted Gibbs sampling before the last one, which is the proposal.
    by_evidence : bool, default=False
        How the node at which a tree is cut is drawn. False: with weights d + max d, as printed; True: by the
        probability d / (1 + d) that there are two clusters, and as the place where two random rows part.

    References
    ----------
    J. Lee, S. Choi (2015), Tree-guided MCMC inference for normalized random measure mixture models, NeurIPS; corrected:
    the sampler as printed does not leave the posterior invariant.
    S. Jain, R. M. Neal (2004), A split-merge Markov chain Monte Carlo procedure for the Dirichlet process mixture
    model, doi:10.1198/1061860043001.
    """

    cdef readonly Py_ssize_t n_scans
    cdef double[::1] log_similar

    def __init__(
        self, list columns, Py_ssize_t n_rows, *, Py_ssize_t subset_size=50, Py_ssize_t n_scans=1,
        bint by_evidence=False
    ):
        self.n_scans, self.by_evidence = n_scans, by_evidence
        self.log_similar = np.zeros(16)

    def propose(self, Mixture mixture, Py_ssize_t n_proposals, double inverse_temperature, generator, rows=None):
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        cdef Py_ssize_t n_accepted = 0
        self.begin(mixture, rows)
        with generator.bit_generator.lock, nogil:
            if self.n_assigned > 1:
                for _ in range(n_proposals):
                    n_accepted += self.attempt(inverse_temperature, bits)
        return n_accepted

    cdef double log_similarities(self, Py_ssize_t c, double beta) noexcept nogil:
        # To ``log_similar``, of cluster c with the others; returns the log of 1 + their sum.
        cdef Py_ssize_t k
        cdef double total = 0.0
        for k in range(self.mixture.n_clusters):
            if k != c:
                self.log_similar[k] = self.log_similarity(c, k, beta)
                total = log_sum(total, self.log_similar[k])
        return total

    cdef double log_similarities_of_part(
        self, Py_ssize_t side, Py_ssize_t c, Py_ssize_t but, Py_ssize_t n_clusters, double size, double beta
    ) noexcept nogil:
        # log of 1 + the sum of the similarities of a part of the proposal with the clusters that it leaves alone, all
        # but two (or one, twice), in a partition of n_clusters.
        cdef Py_ssize_t j, k
        cdef double total = 0.0, gain
        for k in range(self.mixture.n_clusters):
            if k == c or k == but:
                continue
            gain = 0.0
            for j in range(self.mixture.n_columns):
                (<ColumnStatistics> self.twin[j]).copy(<ColumnStatistics> self.mixture.column[j], k, 2)
                gain += ((<ColumnStatistics> self.twin[j]).log_marginal_of_both(side, 2)
                         - (<ColumnStatistics> self.twin[j]).log_marginal(side)
                         - (<ColumnStatistics> self.twin[j]).log_marginal(2))
            total = log_sum(total, beta * gain + self.log_sizes(size, self.mixture.counts[k])
                            - self.log_new(n_clusters - 1))
        return total

    cdef bint attempt(self, double beta, bitgen_t* bits) except -1 nogil:
        cdef Py_ssize_t n_clusters = self.mixture.n_clusters, c = integer_below(bits, n_clusters), other = -1, k
        cdef double log_total, log_anchors, log_q, gain, log_ratio, u, one, two
        cdef double sizes[2]
        cdef bint splits
        if self.log_similar.shape[0] < n_clusters:
            with gil:
                self.log_similar = np.zeros(2 * n_clusters)
        log_total = self.log_similarities(c, beta)
        u = uniform(bits)
        for k in range(n_clusters):
            if k != c:
                u -= exp_double(self.log_similar[k] - log_total)
                if u < 0.0:
                    other = k
                    break
        splits = other < 0
        if splits:
            if self.mixture.counts[c] == 1:
                return False
            other = c
        log_anchors = self.launch(self.mixture.name_of[c], self.mixture.name_of[other], beta, bits)
        self.allocate(self.n_tree_rows - 2, False, beta, bits)
        for _ in range(self.n_scans):
            self.scan(False, beta, bits)
        log_q = self.scan(not splits, beta, bits)
        sizes[0], sizes[1] = self.sizes[0], self.sizes[1]
        if splits:
            # 1 + the similarities of each part with all others, the other part among them.
            one = self.log_similarities_of_part(0, c, c, n_clusters + 1, sizes[0], beta)
            two = self.log_similarities_of_part(1, c, c, n_clusters + 1, sizes[1], beta)
            gain = self.log_gain(beta)
            one, two = log_sum(one, -gain), log_sum(two, -gain)
            log_ratio = (gain + log_sum(-gain - one, -gain - two) - log_double((n_clusters + 1.0) * sizes[0] * sizes[1])
                         + log_double(n_clusters) + log_total - log_anchors - log_q)
        else:
            two = self.log_similarities(other, beta)
            gain = self.log_gain(beta)
            one = self.log_similarities_of_part(0, c, other, n_clusters - 1, sizes[0] + sizes[1], beta)
            log_ratio = (-gain - log_double(n_clusters - 1.0) - one + log_anchors + log_q
                         - log_sum(-gain - log_total, -gain - two) + log_double(n_clusters * sizes[0] * sizes[1]))
        return self.decide(log_ratio, splits, bits)
