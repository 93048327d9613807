"""Split-merge moves with a tree as pilot: informed splits, merges that are cheap to refuse, one pass over the rows."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from numpy.random cimport bitgen_t

from sklearn_subanneal._core._math cimport exp_double, log_double
from sklearn_subanneal._core._random cimport integer_below, open_uniform, uniform
from sklearn_subanneal.mixtures._mixture cimport Mixture
from sklearn_subanneal.trees._launch cimport Launch


cdef class TreePilot(Launch):
    """Tree-guided proposals that spend their time where something may come of it.

    *Splits* are informed: a cluster is drawn, half by size, and a tree over (some of) its rows says which two rows stay
    apart and where the rest of the tree goes. The other rows then join a part one after the other, and those of the
    tree once more, each by its conditional: one pass, whose probability is that of the proposal.

    *Screening*: where the parts that the tree suggests are not better than the cluster, a split is given up before the
    pass, but for a small probability. That is part of the acceptance ratio: what is gained is time.

    *Merges* are of any two clusters, and most are refused at once: what can be said without a pass over the rows bounds
    the acceptance ratio from above. So they need no guidance, and a good split is never refused because its reverse
    would hardly be proposed.

    Parameters
    ----------
    columns : list of ColumnStatistics
        Those of the mixtures that proposals will be made for.
    n_rows : int
    subset : int, default=50
        Rows that a tree is made of at most.
    share : float, default=0.5
        Proposals that are splits; on average the others cost next to nothing.
    floor : float, default=0.05
        The least probability with which a split is tried. 1: always.
    even : float, default=0.5
        Clusters are drawn with this probability all alike, else by size.
    by_evidence : bool, default=True
        How the node at which a tree is cut is drawn, see :class:`TreeGuided`.

    References
    ----------
    W. Wang, S. Russell (2015), A smart-dumb/dumb-smart algorithm for efficient split-merge MCMC, UAI.
    D. B. Dahl (2005), Sequentially-allocated merge-split sampler for conjugate and nonconjugate Dirichlet process
    mixture models, technical report, Texas A&M University.
    J. A. Christen, C. Fox (2005), Markov chain Monte Carlo using an approximation, doi:10.1198/106186005X76983.
    """

    cdef readonly double share, floor, even
    cdef readonly Py_ssize_t n_passes       # proposals that went over the rows of their clusters

    def __init__(
        self, list columns, Py_ssize_t n_rows, *, Py_ssize_t subset=50, double share=0.5, double floor=0.05,
        double even=0.5, bint by_evidence=True
    ):
        if not 0.0 < share < 1.0:
            raise ValueError(f"share is {share}, but must lie between 0 and 1: a move needs its reverse")
        if not 0.0 <= even <= 1.0:
            raise ValueError(f"even is {even}, but must lie in [0, 1]: it is a probability")
        if not 0.0 < floor <= 1.0:
            raise ValueError(f"floor is {floor}, but must lie in (0, 1]: a split that is never tried has no reverse")
        self.share, self.floor, self.even, self.by_evidence = share, floor, even, by_evidence
        self.n_passes = 0

    def propose(self, Mixture mixture, Py_ssize_t n_proposals, double inverse_temperature, generator, rows=None):
        """Make proposals for one mixture; returns how many were accepted.

        ``rows``: all that are assigned, int32; None: found here. The number of proposals must not depend on the
        partition, else the moves would not leave the posterior as it is.
        """
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        cdef Py_ssize_t n_accepted = 0
        self.hold(mixture, rows)
        with generator.bit_generator.lock, nogil:
            if self.n_assigned > 1:
                for _ in range(n_proposals):
                    if uniform(bits) < self.share:
                        n_accepted += self.try_split(inverse_temperature, bits)
                    else:
                        n_accepted += self.try_merge(inverse_temperature, bits)
        return n_accepted

    cdef double log_screen(self) noexcept nogil:
        # The probability with which a split is tried, given the tree and its cut.
        cdef double least = log_double(self.floor)
        return 0.0 if self.log_launch > 0.0 else (self.log_launch if self.log_launch > least else least)

    cdef double log_pass(self, bint forced, double beta, bitgen_t* bits) noexcept nogil:
        # The rows that are not in the tree join the parts, then those of the tree once more.
        cdef Py_ssize_t n_members = self.n_members
        cdef double log_q = self.allocate(self.n_planted - 2, forced, beta, bits)
        self.n_passes += 1
        self.n_members = self.n_planted - 2
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
        # Log odds of the choice of two clusters of these sizes, and of their rows that stay apart, to merge, against
        # that of what they would be as one, to split. ``n_clusters``: before they merge.
        return log_double((1.0 - self.share) * (self.chance_of(a, n_clusters) + self.chance_of(b, n_clusters))
                          / (self.share * self.chance_of(a + b, n_clusters - 1.0) * (n_clusters - 1.0) * a * b))

    cdef bint try_split(self, double beta, bitgen_t* bits) except -1 nogil:
        cdef Py_ssize_t c = self.draw_cluster(bits), name = self.mixture.name_of[c]
        cdef double log_ratio, log_screen
        if self.mixture.counts[c] == 1:
            return False
        log_ratio = -self.plant(name, name, beta, bits)
        log_screen = self.log_screen()
        if uniform(bits) >= exp_double(log_screen):
            self.n_proposed += 1
            return False
        log_ratio -= log_screen + self.log_pass(False, beta, bits)
        log_ratio += self.log_choice(self.mixture.n_clusters + 1, self.sizes[0], self.sizes[1])
        log_ratio += self.log_gain(beta)
        return self.decide(log_ratio, True, bits)

    cdef bint try_merge(self, double beta, bitgen_t* bits) except -1 nogil:
        cdef Py_ssize_t n_clusters = self.mixture.n_clusters, c, other
        cdef double log_ratio, log_u
        if n_clusters == 1:
            return False
        c = self.draw_cluster(bits)
        other = integer_below(bits, n_clusters - 1)
        other += other >= c
        self.n_proposed += 1
        log_ratio = self.log_similarity(c, other, beta) - self.log_choice(
            n_clusters, self.mixture.counts[c], self.mixture.counts[other])
        # What is left are logs of probabilities.
        log_u = log_double(open_uniform(bits))
        if log_u >= log_ratio:
            return False
        log_ratio += self.plant(self.mixture.name_of[c], self.mixture.name_of[other], beta, bits) + self.log_screen()
        if log_u >= log_ratio:
            return False
        log_ratio += self.log_pass(True, beta, bits)
        if log_u >= log_ratio:
            return False
        self.n_accepted += 1
        self.merge()
        return True
