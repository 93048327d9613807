"""TreeGuidedKernel: split-merge moves with splits proposed by a tree over some rows, and early rejection."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t
from libc.stdlib cimport qsort
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport LANES, log_double
from sklearn_subanneal._core._random cimport integer_below, open_uniform, uniform
from sklearn_subanneal.columns._fused_columns cimport score_each
from sklearn_subanneal.mixtures._mixture cimport Mixture
from sklearn_subanneal.trees._launch cimport Launch

# Log weights are discretised to this many parts of a nat, so that rounding does not break ties.
cdef double PARTS = 64.0


cdef class TreeGuidedKernel(Launch):
    """Tree-guided split-merge proposals that reject poor proposals early, before most of their cost is spent.

    *Splits* are informed: a cluster is drawn, half by size, and a tree over (some of) its rows determines the two
    anchor rows and the parts of the other rows of the tree. The other rows then join a part one after the other, and
    those of the tree once more, each by its conditional: one pass, whose probability is that of the proposal.

    *Screening*: if the parts suggested by the tree are not better than the cluster, a split is rejected before the
    pass, except with a probability that decreases with the number of rows outside the tree. This probability is part of
    the acceptance ratio: screening only saves time.

    *Merges* of any two clusters are proposed, and most are rejected at once by an upper bound of the acceptance ratio
    that needs no pass over the rows. They need no guidance, so a good split is never rejected because its reverse is
    unlikely to be proposed.

    *Near* proposals are for partitions of many clusters, few of which should be merged. A row is drawn; its cluster is
    split, or merged with another one, drawn by its rank among the clusters that the row would join: the first has
    probability 1/2, the second 1/6, the r-th 1 / (r (r + 1)), up to a factor.

    Parameters
    ----------
    columns : list of ColumnStatistics
        Columns of the mixtures for which proposals are made.
    n_rows : int
    subset_size : int, default=50
        Maximum number of rows of a tree.
    share : float, default=0.3
        Fraction of the proposals that are splits; most of the others cost very little.
    effort : float, default=10.0
        The minimum probability with which a split is tried, as a multiple of the fraction of its rows that are in the
        tree, since a few rows may miss a good split. Infinite: splits are always tried.
    even : float, default=0.5
        Probability with which clusters are drawn uniformly; otherwise they are drawn by size.
    near : float, default=0.9
        Fraction of near proposals.
    blind : float, default=0.5
        Fraction of the proposals with a tree of two random rows, if the tree would not have all rows: with many columns
        a tree over some rows separates outliers. These splits are tried with the minimum probability.
    by_evidence : bool, default=True
        How the node at which a tree is cut is drawn, see :class:`TreeGuidedSimilarKernel`.

    Attributes
    ----------
    n_passes : int
        Proposals that went over the rows of their clusters.

    References
    ----------
    W. Wang, S. Russell (2015), A smart-dumb/dumb-smart algorithm for efficient split-merge MCMC, UAI.
    D. B. Dahl (2005), Sequentially-allocated merge-split sampler for conjugate and nonconjugate Dirichlet process
    mixture models, technical report, Texas A&M University.
    J. A. Christen, C. Fox (2005), Markov chain Monte Carlo using an approximation, doi:10.1198/106186005X76983.
    """

    cdef readonly double share, effort, even, near, blind
    cdef readonly Py_ssize_t n_passes
    cdef int32_t[::1] standing, ordered     # log weight of each cluster for a row, discretised; and room to sort them

    def __init__(
        self, list columns, Py_ssize_t n_rows, *, Py_ssize_t subset_size=50, double share=0.3, double effort=10.0,
        double even=0.5, double near=0.9, double blind=0.5,
        bint by_evidence=True
    ):
        if not 0.0 < share < 1.0:
            raise ValueError(f"share is {share}, but must lie between 0 and 1: a move needs its reverse")
        for name, value in {"even": even, "near": near, "blind": blind}.items():
            if not 0.0 <= value <= 1.0:
                raise ValueError(f"{name} is {value}, but must lie in [0, 1]: it is a probability")
        if not effort > 0.0:
            raise ValueError(f"effort is {effort}, but must be positive: a split that is never tried has no reverse")
        self.share, self.effort, self.even, self.near, self.blind = share, effort, even, near, blind
        self.by_evidence = by_evidence
        self.n_passes = 0
        self.standing, self.ordered = np.zeros((2, 16), np.int32)

    def propose(self, Mixture mixture, Py_ssize_t n_proposals, double inverse_temperature, generator, rows=None):
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        cdef Py_ssize_t n_accepted = 0
        self.begin(mixture, rows)
        with generator.bit_generator.lock, nogil:
            if self.n_assigned > 1:
                for _ in range(n_proposals):
                    self.n_proposed += 1
                    n_accepted += self.attempt(inverse_temperature, bits)
        self.n_accepted += n_accepted
        return n_accepted

    cdef bint attempt(self, double beta, bitgen_t* bits) except -1 nogil:
        cdef bint splits = uniform(bits) < self.share
        cdef Py_ssize_t row = -1, c
        self.random_anchors = uniform(bits) < self.blind
        if uniform(bits) < self.near:
            row = self.assigned[integer_below(bits, self.n_assigned)]
            c = self.mixture.slot_of[self.mixture.names[row]]
        else:
            c = self.draw_cluster(bits)
        if splits:
            return self.mixture.counts[c] > 1 and self.try_split(c, row, beta, bits)
        return self.mixture.n_clusters > 1 and self.try_merge(c, row, beta, bits)

    cdef double log_screen(self) noexcept nogil:
        # The probability with which a split is tried, given the tree and its cut.
        cdef double n = self.n_members + 2.0, least
        least = log_double(self.effort * self.n_of_some(<Py_ssize_t> n) / n)
        return min(0.0, least if self.n_tree_rows < self.n_of_some(<Py_ssize_t> n) else max(self.log_launch, least))

    cdef double log_pass(self, bint forced, double beta, bitgen_t* bits) noexcept nogil:
        # The rows that are not in the tree join the parts, then those of the tree once more.
        cdef Py_ssize_t n_members = self.n_members
        cdef double log_q = self.allocate(self.n_tree_rows - 2, forced, beta, bits)
        self.n_passes += 1
        self.n_members = self.n_tree_rows - 2
        log_q += self.scan(forced, beta, bits)
        self.n_members = n_members
        return log_q

    cdef double chance_of(self, double size, double n_clusters) noexcept nogil:
        # With which a cluster of this size is drawn.
        return (1.0 - self.even) * size / self.n_assigned + self.even / n_clusters

    cdef Py_ssize_t draw_cluster(self, bitgen_t* bits) noexcept nogil:
        if uniform(bits) < self.even:
            return integer_below(bits, self.mixture.n_clusters)
        return self.mixture.slot_of[self.mixture.names[self.assigned[integer_below(bits, self.n_assigned)]]]

    cdef double log_choice(self, double n_clusters, double a, double b) noexcept nogil:
        # Log odds of choosing two clusters of these sizes to merge, against choosing their union to split;
        # ``n_clusters`` is the number of clusters before the merge.
        return log_double((1.0 - self.share) * (self.chance_of(a, n_clusters) + self.chance_of(b, n_clusters))
                          / (self.share * self.chance_of(a + b, n_clusters - 1.0) * (n_clusters - 1.0)))

    cdef int32_t standing_of(self, double log_weight, double score, double beta) noexcept nogil:
        cdef double x = log_weight + beta * score
        return <int32_t> (PARTS * (x if x > -1e7 else -1e7))

    cdef int rank(self, Py_ssize_t row, Py_ssize_t c, double beta) except -1 nogil:
        # ``standing`` of all clusters but c, the cluster of the row: the log weights of its assignment to each of them.
        cdef Py_ssize_t k
        # Imputed cells fit the row's own cluster, so a row with imputed cells is ranked by the prior alone.
        cdef double power = 0.0 if self.mixture.incomplete(row) else beta
        if self.standing.shape[0] < self.mixture.n_clusters:
            with gil:
                self.standing, self.ordered = np.zeros((2, 2 * self.mixture.n_clusters), np.int32)
        if power > 0.0:
            self.mixture.score(row)
        for k in range(self.mixture.n_clusters):
            self.standing[k] = self.standing_of(
                self.mixture.log_weight[k], self.mixture.scores[k] if power > 0.0 else 0.0, power)
        return 0

    cdef double log_rank(self, Py_ssize_t c, int32_t standing, Py_ssize_t n_equal, double n_others) noexcept nogil:
        # Log probability of a cluster with this standing, as are so many others, but those of slot c or not in the
        # mixture, where there are ``n_others`` to choose from. All of one standing share the chances of their ranks.
        cdef Py_ssize_t k, n_above = 0
        for k in range(self.mixture.n_clusters):
            if k != c:
                n_above += self.standing[k] > standing
                n_equal += self.standing[k] == standing
        return log_double((n_others + 1.0) / n_others
                          * (1.0 / (n_above + 1.0) - 1.0 / (n_above + n_equal + 1.0)) / n_equal)

    cdef Py_ssize_t draw_near(self, Py_ssize_t c, bitgen_t* bits) noexcept nogil:
        # One of the clusters but c, by rank.
        cdef Py_ssize_t k, n = 0, at, n_equal = 0
        cdef int32_t standing
        for k in range(self.mixture.n_clusters):
            if k != c:
                self.ordered[n] = self.standing[k]
                n += 1
        sort(&self.ordered[0], n)
        at = min(<Py_ssize_t> (1.0 / (1.0 - uniform(bits) * n / (n + 1.0))), n)
        standing = self.ordered[n - at]
        for k in range(n):
            n_equal += self.ordered[k] == standing
        at = integer_below(bits, n_equal)
        for k in range(self.mixture.n_clusters):
            if k != c and self.standing[k] == standing:
                if at == 0:
                    break
                at -= 1
        return k

    cdef Py_ssize_t side_of(self, Py_ssize_t row) noexcept nogil:
        cdef Py_ssize_t i
        if row == self.a or row == self.b:
            return row == self.b
        for i in range(self.n_members):
            if self.members[i] == row:
                return self.side[i]
        return -1

    cdef int32_t standing_of_other_part(self, Py_ssize_t row, double beta) noexcept nogil:
        # Of the part without the row, as it would be if the split were made.
        cdef float[LANES] scores, part
        cdef Py_ssize_t j, other = 1 - self.side_of(row)
        cdef double power = 0.0 if self.mixture.incomplete(row) else beta
        for j in range(LANES):
            scores[j] = 0.0
        if power > 0.0:
            score_each(self.twin, self.mixture.n_columns, row, scores, part, LANES)
        return self.standing_of(log_double(self.sizes[other] + self.mixture.prior.offset), scores[other], power)

    cdef bint refused(self, double log_u, double log_bound) noexcept nogil:
        # Whether a proposal with at most this log ratio is rejected; if so, the bound enters the mean log ratio.
        if log_u < log_bound:
            return False
        self.sum_log_ratio += log_bound if log_bound > -1000.0 else -1000.0
        return True

    cdef bint try_split(self, Py_ssize_t c, Py_ssize_t row, double beta, bitgen_t* bits) except -1 nogil:
        cdef Py_ssize_t name = self.mixture.name_of[c], n_clusters = self.mixture.n_clusters
        cdef double log_ratio = -self.launch(name, name, beta, bits), log_screen = self.log_screen(), log_u
        cdef int32_t standing = 0
        log_u = log_double(open_uniform(bits))
        if self.refused(log_u, log_screen):
            return False
        log_u = log_double(open_uniform(bits))
        log_ratio -= log_screen + self.log_pass(False, beta, bits)
        if row >= 0:
            standing = self.standing_of_other_part(row, beta)
        log_ratio += self.log_gain(beta) - log_double(self.sizes[0] * self.sizes[1])
        if row < 0:
            log_ratio += self.log_choice(n_clusters + 1, self.sizes[0], self.sizes[1])
        else:
            log_ratio += log_double((1.0 - self.share) / self.share)
            # Upper bound: the other part ranks first for the row.
            if self.refused(log_u, log_ratio + log_double(0.5 * (n_clusters + 1.0) / n_clusters)):
                return False
            self.rank(row, c, beta)
            log_ratio += self.log_rank(c, standing, 1, n_clusters)
        if self.refused(log_u, log_ratio):
            return False
        self.sum_log_ratio += log_ratio
        self.split()
        return True

    cdef bint try_merge(self, Py_ssize_t c, Py_ssize_t row, double beta, bitgen_t* bits) except -1 nogil:
        cdef Py_ssize_t n_clusters = self.mixture.n_clusters, other
        cdef double log_ratio, log_u = log_double(open_uniform(bits)), a, b = self.mixture.counts[c]
        if row < 0:
            other = integer_below(bits, n_clusters - 1)
            other += other >= c
        else:
            self.rank(row, c, beta)
            other = self.draw_near(c, bits)
        a = self.mixture.counts[other]
        log_ratio = self.log_similarity(c, other, beta) + log_double(a * b)
        if row < 0:
            log_ratio -= self.log_choice(n_clusters, a, b)
        else:
            log_ratio -= self.log_rank(c, self.standing[other], 0, n_clusters - 1) + log_double(
                (1.0 - self.share) / self.share)
        # The remaining terms are logarithms of probabilities, so the ratio only decreases.
        if self.refused(log_u, log_ratio):
            return False
        log_ratio += self.launch(self.mixture.name_of[c], self.mixture.name_of[other], beta, bits) + self.log_screen()
        if self.refused(log_u, log_ratio):
            return False
        log_ratio += self.log_pass(True, beta, bits)
        if self.refused(log_u, log_ratio):
            return False
        self.sum_log_ratio += log_ratio
        self.merge()
        return True


cdef int in_order(const void* a, const void* b) noexcept nogil:
    return ((<int32_t*> a)[0] > (<int32_t*> b)[0]) - ((<int32_t*> a)[0] < (<int32_t*> b)[0])


cdef void sort(int32_t* values, Py_ssize_t n) noexcept nogil:
    qsort(values, n, sizeof(int32_t), in_order)
