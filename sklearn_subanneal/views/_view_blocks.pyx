"""ViewBlocks, the blocks of joint reals of the views: members, kappa and nu, marginal likelihoods, missing cells.

Mixtures have the numbers that they have in `Views`; a spare mixture has no block, but a prior of its own. While columns
move, the fillings of missing cells are those of the table of reals; while rows move, those of the blocks.
"""
from libc.stdint cimport int32_t
from libc.stdlib cimport free, realloc
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._random cimport integer_below
from sklearn_subanneal.columns._mvnormal cimport GaussianStatistics
from sklearn_subanneal.columns._reals cimport RealTable, Rows, size_of_sums

from sklearn_subanneal.columns._mvnormal import GaussianData


cdef class ViewBlocks:
    """Which joint reals form a block with which others, and the prior of each view's block.

    Parameters
    ----------
    reals : RealTable
    """

    def __cinit__(self, RealTable reals not None):
        cdef Py_ssize_t d = reals.width
        self.reals, self.blocks, self.built = reals, [], []
        self.home = np.full(d, -1, np.int32)
        self.joined, self.group = np.zeros((2, d + 1), np.int32)
        self.kappa = self.nu = np.zeros(0)
        self.stale = self.known = self.n_members = np.zeros(0, np.int32)
        self.members = np.zeros((0, d), np.int32)
        self.n_mixtures = 0

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.n_mixtures):
            free(self.sums[i])
        free(self.sums)
        free(self.n_sums)

    cdef int reserve(self, Py_ssize_t n_mixtures) except -1:
        cdef Py_ssize_t present = self.n_mixtures, i
        if n_mixtures <= present:
            return 0
        self.sums = <double**> realloc(self.sums, n_mixtures * sizeof(double*))
        self.n_sums = <Py_ssize_t*> realloc(self.n_sums, n_mixtures * sizeof(Py_ssize_t))
        if self.sums == NULL or self.n_sums == NULL:
            raise MemoryError()
        for i in range(present, n_mixtures):
            self.sums[i], self.n_sums[i] = NULL, 0
        self.n_mixtures = n_mixtures
        self.blocks += [None] * (n_mixtures - present)
        self.built += [None] * (n_mixtures - present)
        def grown(old, fill, dtype):
            new = np.full((n_mixtures, *np.shape(old)[1:]), fill, dtype)
            new[:present] = old
            return new
        self.kappa = grown(self.kappa, self.reals.kappa, np.float64)
        self.nu = grown(self.nu, self.reals.nu, np.float64)
        self.stale, self.known = grown(self.stale, 0, np.int32), grown(self.known, 0, np.int32)
        self.n_members = grown(self.n_members, 0, np.int32)
        self.members = grown(self.members, 0, np.int32)
        return 0

    cdef void forget(self, Py_ssize_t number) noexcept nogil:
        # The members of a mixture, or their fillings, have changed.
        self.known[number] = 0

    cdef void draw_prior(self, Py_ssize_t number, bitgen_t* bits) noexcept nogil:
        # kappa and nu of a view that has nothing to say of them.
        cdef const double[::1] grid
        with gil:
            if "kappa" in self.reals.grids:
                grid = self.reals.grids["kappa"]
                self.kappa[number] = grid[integer_below(bits, grid.shape[0])]
            if "nu" in self.reals.grids:
                grid = self.reals.grids["nu"]
                self.nu[number] = grid[integer_below(bits, grid.shape[0])]

    cdef void move(self, Py_ssize_t j, Py_ssize_t number) noexcept nogil:
        # Joint real j goes to another mixture.
        cdef Py_ssize_t old = self.home[j]
        self.home[j] = <int32_t> number
        if old >= 0:
            self.stale[old] = 1
            self.forget(old)
        self.stale[number] = 1
        self.forget(number)

    cdef int add_up(self, Py_ssize_t number, Rows* of) except -1 nogil:
        # The sums of the members of a mixture, unless they are known.
        cdef Py_ssize_t d, wanted
        cdef double* grown
        if self.known[number]:
            return 0
        d = self.list_members(number)
        wanted = of.n_clusters * size_of_sums(d)
        if wanted > self.n_sums[number]:
            grown = <double*> realloc(self.sums[number], wanted * sizeof(double))
            if grown == NULL:
                with gil:
                    raise MemoryError()
            self.sums[number], self.n_sums[number] = grown, wanted
        if d:
            self.reals.add_up(&self.members[number, 0], d, of, self.sums[number])
        self.known[number] = 1
        return 0

    cdef double log_evidence(self, Py_ssize_t j, Py_ssize_t number, bint alone, Rows* of) except? -1.0 nogil:
        """Of the observed cells of joint real j given the other joint reals of a mixture; ``alone``: given none."""
        cdef Py_ssize_t d, b = 0
        cdef double* room
        if not alone:
            self.add_up(number, of)
            b = self.n_members[number]
        room = self.reals.work(of.n_clusters * size_of_sums(b + 1) + (b + 2) * (b + 2))
        d = self.reals.join(self.sums[number], &self.members[number, 0], b, <int32_t> j, of, &self.joined[0], room)
        return self.reals.log_evidence(room, &self.joined[0], d - 1, d, self.kappa[number], self.nu[number],
                                       of.n_clusters, room + of.n_clusters * size_of_sums(d))

    cdef double log_evidence_of_group(
        self, const int32_t* group, Py_ssize_t n_group, Py_ssize_t number, bint alone, Rows* of
    ) except? -1.0 nogil:
        """Of all cells, as they are filled, of some joint reals given the others of a mixture; ``alone``: given none.

        Those that are in the mixture themselves are not among the others.
        """
        cdef Py_ssize_t i, j, b = 0, d
        cdef double* room
        if n_group == 0:
            return 0.0
        if not alone:
            for j in range(self.reals.width):
                if self.home[j] == number:
                    for i in range(n_group):
                        if group[i] == j:
                            break
                    else:
                        self.joined[b] = <int32_t> j
                        b += 1
        for i in range(n_group):
            self.joined[b + i] = group[i]
        d = b + n_group
        room = self.reals.work(of.n_clusters * size_of_sums(d) + (d + 1) * (d + 1))
        self.reals.add_up(&self.joined[0], d, of, room)
        return self.reals.log_evidence(room, &self.joined[0], b, d, self.kappa[number], self.nu[number],
                                       of.n_clusters, room + of.n_clusters * size_of_sums(d))

    cdef Py_ssize_t rank(self, Py_ssize_t founder, Py_ssize_t number, Py_ssize_t other) noexcept nogil:
        """``group`` = the joint reals of two mixtures in the order of their correlation with one; returns how many."""
        cdef Py_ssize_t i, n = 0
        cdef int32_t j
        for i in range(self.reals.width):
            j = self.reals.nearest[founder, i]
            if self.home[j] == number or self.home[j] == other:
                self.group[n] = j
                n += 1
        return n

    cdef int weigh_splits(self, Py_ssize_t n, Py_ssize_t number, Rows* of, double* out) except -1 nogil:
        """Log Bayes factors out[m], m = 1..n-1: the first m of ``group`` independent of the others against one block.

        Both have the partition of the rows, kappa and nu of a mixture.
        """
        cdef Py_ssize_t i, size = of.n_clusters * size_of_sums(n)
        cdef double* room = self.reals.work(size + n * n + 2 * (n + 1))
        cdef double* first = room + size + n * n
        cdef double* last = first + n + 1
        self.reals.add_up(&self.group[0], n, of, room)
        self.reals.log_evidences(room, &self.group[0], n, self.kappa[number], self.nu[number], of.n_clusters,
                                 room + size, first)
        for i in range(n):
            self.joined[i] = self.group[n - 1 - i]
        self.reals.add_up(&self.joined[0], n, of, room)
        self.reals.log_evidences(room, &self.joined[0], n, self.kappa[number], self.nu[number], of.n_clusters,
                                 room + size, last)
        for i in range(1, n):
            out[i] = first[i] + last[n - i] - first[n]
        return 0

    cdef int fill(self, Py_ssize_t j, Py_ssize_t number, Rows* of, bitgen_t* bits) except -1 nogil:
        """Redraw the missing cells of joint real j as in the view of a mixture; 0: one is beyond a limit, all stay."""
        cdef Py_ssize_t b, d
        cdef double* room
        cdef double* matrix
        self.add_up(number, of)
        b = self.n_members[number]
        room = self.reals.work(of.n_clusters * (size_of_sums(b + 1) + b + 2) + (b + 1) * (b + 1))
        d = self.reals.join(self.sums[number], &self.members[number, 0], b, <int32_t> j, of, &self.joined[0], room)
        matrix = room + of.n_clusters * size_of_sums(d)
        if not self.reals.fill(room, &self.joined[0], d, self.kappa[number], self.nu[number], of, matrix,
                               matrix + d * d, bits):
            return 0
        self.forget(self.home[j])
        self.stale[self.home[j]] = 1
        return 1

    cdef Py_ssize_t list_members(self, Py_ssize_t number) noexcept nogil:
        """``members`` of a mixture = its joint reals; returns how many."""
        cdef Py_ssize_t j, d = 0
        for j in range(self.reals.width):
            if self.home[j] == number:
                self.members[number, d] = <int32_t> j
                d += 1
        self.n_members[number] = <int32_t> d
        return d

    cdef void take_fillings(self, Py_ssize_t number, GaussianStatistics block) noexcept nogil:
        """The fillings of the table = those of the block of a mixture."""
        cdef Py_ssize_t i, row, d = self.list_members(number)
        for row in range(self.reals.n_rows):
            if block.data.missing[row]:
                for i in range(d):
                    self.reals.completed[row, self.members[number, i]] = block.completed[row, i]

    cdef void give_fillings(self, Py_ssize_t number, GaussianStatistics block) noexcept nogil:
        """The fillings of the block of a mixture = those of the table."""
        cdef Py_ssize_t i, row, d = self.list_members(number)
        for row in range(self.reals.n_rows):
            if block.data.missing[row]:
                for i in range(d):
                    block.completed[row, i] = self.reals.completed[row, self.members[number, i]]

    def members_of(self, Py_ssize_t number):
        """The joint reals of a mixture."""
        cdef Py_ssize_t i, d = self.list_members(number)
        return np.array([self.members[number, i] for i in range(d)], np.intp)

    def give_prior(self, column, Py_ssize_t number):
        """Give the statistics of one joint real alone the kappa and nu of a mixture."""
        column.parameters = column.parameters | {"kappa": self.kappa[number], "nu": self.nu[number]}

    def as_filled(self, members, Py_ssize_t number, Py_ssize_t capacity):
        """Empty statistics of some joint reals whose missing cells are those of the chain's state."""
        parameters = self.reals.block_parameters(members, self.kappa[number], self.nu[number])
        data = GaussianData(self.reals.filled[:, members], complete=True)
        return GaussianStatistics(data, parameters, None, capacity)

    def single_parameters(self):
        """The hyperparameters of each joint real, kappa and nu being those of its mixture."""
        return [
            {"mu": self.reals.mu[j], "sigma2": self.reals.sigma2[j],
             "kappa": self.kappa[self.home[j]], "nu": self.nu[self.home[j]]}
            for j in range(self.reals.width)
        ]

    def drawn(self, generator):
        """kappa and nu of a view, from their priors."""
        grids, fixed = self.reals.grids, {"kappa": self.reals.kappa, "nu": self.reals.nu}
        return [
            grids[name][generator.integers(len(grids[name]))] if name in grids else value
            for name, value in fixed.items()
        ]

    def collect(self):
        """Take the fillings of the blocks over to the table of reals."""
        cdef GaussianStatistics block
        cdef Py_ssize_t number
        for number in range(self.n_mixtures):
            block = self.blocks[number]
            if block is not None and block.data.any_missing:
                self.take_fillings(number, block)
            self.forget(number)

    def collect_parameters(self, numbers, generator):
        """Take the hyperparameters of the blocks over to the table, and redraw those that no block has.

        ``numbers``: the mixtures of the views. The blocks get the parameters of the table in turn, which are those from
        which an interrupted chain goes on.
        """
        cdef GaussianStatistics block
        cdef Py_ssize_t number
        lone = []
        for number in numbers:
            block = self.blocks[number]
            if block is None:
                self.kappa[number], self.nu[number] = self.drawn(generator)
                continue
            members = self.members_of(number)
            vectors = np.asarray(block.vectors) if block.n_shared else None
            self.kappa[number] = block.kappa
            self.nu[number] = self.reals.take_parameters(members, block.parameters, vectors)
            if len(members) == 1:
                lone.append(members[0])
        self.reals.learn_vectors(lone, generator)
        self.reals.refresh()
        for number in numbers:
            block = self.blocks[number]
            if block is not None:
                members = self.members_of(number)
                own = self.reals.block_parameters(members, self.kappa[number], self.nu[number])
                block.take_vectors(own)
                block.parameters = own
                self.built[number] = (members.tolist(), self.kappa[number], self.nu[number])

    def build(self, Py_ssize_t number, Py_ssize_t capacity):
        """The block of the present members of a mixture, with their fillings; None if it has none.

        It is a new, empty one, unless members, kappa and nu are those of the last: other parameters change for all
        blocks, in ``collect_parameters``. The rows are to be assigned in both cases.
        """
        cdef GaussianStatistics block
        members = self.members_of(number)
        if not len(members):
            self.blocks[number] = self.built[number] = None
            return None
        own = (members.tolist(), self.kappa[number], self.nu[number])
        if own == self.built[number]:
            block = self.blocks[number]
            if block.data.any_missing:
                self.give_fillings(number, block)
            return block
        limits = None if self.reals.limits is None else self.reals.limits[:, members]
        data = GaussianData(np.asarray(self.reals.cells)[:, members], limits)
        parameters = self.reals.block_parameters(members, self.kappa[number], self.nu[number])
        block = GaussianStatistics(data, parameters, self.reals.block_grids(members), capacity)
        if data.any_missing:
            self.give_fillings(number, block)
        self.blocks[number], self.built[number] = block, own
        return block
