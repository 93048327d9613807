"""The state of a cross-categorization: a partition of the columns into views, and a mixture in each view."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport NAN
from libc.stdint cimport int32_t, uintptr_t
from libc.stdlib cimport free, realloc
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport exp_double, log_double
from sklearn_subanneal._core._random cimport integer_below
from sklearn_subanneal.columns._base cimport ColumnStatistics
from sklearn_subanneal.columns._mvnormal cimport GaussianStatistics
from sklearn_subanneal.columns._reals cimport Rows
from sklearn_subanneal.mixtures._allocation cimport allocate_rows
from sklearn_subanneal.mixtures._gibbs cimport churn_rows
from sklearn_subanneal.mixtures._mixture cimport Mixture
from sklearn_subanneal.partitions._gibbs_type cimport PartitionPrior
from sklearn_subanneal.views._view_blocks cimport ViewBlocks


cdef class Views:
    """A partition of columns; the columns of a block, a *view*, share one mixture of the rows.

    All columns are in one view at first, and all rows unassigned.

    Parameters
    ----------
    columns : list of ColumnStatistics
        Columns without missing cells as part of their state.
    column_prior : PartitionPrior
    row_prior : PartitionPrior
        The mixture of each view has a copy of this prior.
    n_rows : int
    reals : RealTable or None, default=None
        Those of the columns that form blocks: the joint reals of a view are one block, the last column of its mixture.
    """

    def __cinit__(
        self, list columns, PartitionPrior column_prior, PartitionPrior row_prior, Py_ssize_t n_rows, reals=None
    ):
        cdef Py_ssize_t j, n_columns = len(columns)
        self.columns, self.prior, self.row_prior = columns, column_prior, row_prior
        self.twins = {id(column): column.twin() for column in columns}
        self.n_rows, self.n_columns = n_rows, n_columns
        self.column = <void**> realloc(NULL, max(n_columns, 1) * sizeof(void*))
        self.twin = <void**> realloc(NULL, max(n_columns, 1) * sizeof(void*))
        if self.column == NULL or self.twin == NULL:
            raise MemoryError()
        for j in range(n_columns):
            if not isinstance(columns[j], ColumnStatistics):
                raise TypeError(f"columns must be ColumnStatistics, got {type(columns[j]).__name__}")
            self.column[j] = <void*> columns[j]
            twin = self.twins[id(columns[j])]
            self.twin[j] = <void*> twin
        self.home, self.group = np.zeros((2, n_columns), np.int32)
        self.rows = np.empty(max(n_rows, 1), np.int32)
        self.pool, self.slot_arrays = [], []
        self.order = self.position = self.sizes = np.zeros(0, np.int32)
        self.evidence = np.zeros((0, n_columns))
        self.real_of = np.full(n_columns, -1, np.int32)
        if reals is not None:
            self.blocks = ViewBlocks(reals)
            np.asarray(self.real_of)[reals.places] = np.arange(reals.width)
        self.reserve(1)
        self.n_views = 1
        self.set_state(np.zeros(n_columns, np.int32), np.full((1, n_rows), -1, np.int32))

    def __dealloc__(self):
        free(self.column)
        free(self.twin)
        free(self.mixture)
        free(self.slots)

    def reserve(self, Py_ssize_t n_spare):
        """Make sure that there are this many mixtures besides those of the views."""
        cdef Py_ssize_t present = len(self.pool), wanted = self.n_views + n_spare, i
        if wanted <= present:
            return
        wanted = max(wanted, present + 4)
        self.mixture = <void**> realloc(self.mixture, wanted * sizeof(void*))
        self.slots = <int32_t**> realloc(self.slots, wanted * sizeof(int32_t*))
        if self.mixture == NULL or self.slots == NULL:
            raise MemoryError()
        def grown(old, fill):
            new = np.full(wanted, fill, np.int32)
            new[:present] = old
            return new
        cdef int32_t[::1] slots
        evidence = np.full((wanted, self.n_columns), np.nan)
        evidence[:present] = self.evidence
        self.evidence = evidence
        self.order, self.position, self.sizes = grown(self.order, 0), grown(self.position, 0), grown(self.sizes, 0)
        self.logs, self.work = np.zeros((2, wanted + self.n_columns))
        for i in range(present, wanted):
            mixture = Mixture([], self.row_prior.fresh(), self.n_rows)
            slots = np.zeros(max(self.n_rows, 1), np.int32)
            self.pool.append(mixture)
            self.slot_arrays.append(slots)
            self.mixture[i] = <void*> mixture
            self.slots[i] = &slots[0]
            self.order[i] = self.position[i] = <int32_t> i
        if self.blocks is not None:
            self.blocks.reserve(wanted)

    cdef Mixture mixture_at(self, Py_ssize_t place):
        return self.pool[self.order[place]]

    cdef int32_t view_of(self, Py_ssize_t j) noexcept nogil:
        return self.position[self.home[j]]

    @property
    def mixtures(self):
        """The mixture of each view."""
        return [self.mixture_at(v) for v in range(self.n_views)]

    @property
    def column_labels(self):
        """View of each column, int32."""
        return np.asarray(self.position)[np.asarray(self.home)]

    @property
    def row_labels(self):
        """Cluster of each row in each view, int32 (n_views, n_rows); -1: not assigned."""
        return np.stack([mixture.labels for mixture in self.mixtures])

    def members(self, Py_ssize_t view):
        """The columns of a view, in the order of the table."""
        return np.flatnonzero(self.column_labels == view)

    def get_state_of_reals(self):
        """Hyperparameters and fillings of the joint reals, and kappa and nu of each view; None if there are none."""
        if self.blocks is None:
            return None
        self.blocks.collect()
        reals = self.blocks.reals
        own = [(self.blocks.kappa[self.order[v]], self.blocks.nu[self.order[v]]) for v in range(self.n_views)]
        return {"parameters": reals.parameters, "filled": reals.filled[reals.missing], "views": own}

    def set_state(self, column_labels, row_labels, state_of_reals=None):
        """Another partition of the columns, with a partition of the rows (-1: not assigned) for each view.

        ``state_of_reals``: as ``get_state_of_reals`` returns it; None: kappa and nu are those before anything is
        learned, the rest remains.
        """
        labels = np.asarray(column_labels)
        n_views = labels.max() + 1
        if not np.bincount(labels, minlength=n_views).all() or labels.min() < 0:
            raise ValueError("column_labels must be 0..n_views-1 without gaps")
        self.reserve(n_views - self.n_views + 1)
        self.n_views = n_views
        if state_of_reals is not None:
            self.blocks.reals.parameters = state_of_reals["parameters"]
            self.blocks.reals.filled[self.blocks.reals.missing] = state_of_reals["filled"]
        cdef Py_ssize_t v, j
        for v in range(n_views):
            members = np.flatnonzero(labels == v)
            self.sizes[v] = len(members)
            for j in members:
                self.home[j] = self.order[v]
                if self.real_of[j] >= 0:
                    self.blocks.move(self.real_of[j], self.home[j])
            if self.blocks is not None:
                kappa, nu = state_of_reals["views"][v] if state_of_reals is not None else (
                    self.blocks.reals.kappa, self.blocks.reals.nu)
                self.blocks.kappa[self.order[v]], self.blocks.nu[self.order[v]] = kappa, nu
                self.blocks.stale[self.order[v]] = 1
        self.update_twins()
        for v in range(n_views):
            mixture = self.mixture_at(v)
            self.update_columns(self.order[v])
            mixture.relabel(row_labels[v])
            mixture.rebuild()
        for v in range(n_views, len(self.pool)):
            self.update_columns(self.order[v])
            self.mixture_at(v).relabel(np.full(self.n_rows, -1, np.int32))
        if self.blocks is not None:
            np.asarray(self.blocks.stale)[:] = 0

    def update_twins(self):
        """Give the twins the present hyperparameters of their columns."""
        if self.blocks is not None:
            for column in self.blocks.blocks:
                if column is not None and id(column) in self.twins:
                    self.twins[id(column)].adopt(column)
            for j, parameters in zip(self.blocks.reals.places, self.blocks.single_parameters(), strict=True):
                self.columns[j].parameters = parameters
        for column in self.columns:
            self.twins[id(column)].adopt(column)

    def draw_from_prior(self, generator):
        """A partition of the columns, and of all rows in each view, from their priors."""
        column_labels = self.prior.draw_partition(self.n_columns, generator)
        n_views = column_labels.max() + 1
        self.reserve(n_views - self.n_views + 1)
        priors = [self.mixture_at(v).prior for v in range(n_views)]
        for prior in priors:
            prior.draw(generator)
        self.set_state(column_labels, [prior.draw_partition(self.n_rows, generator) for prior in priors])

    # The next methods work on all views without taking the GIL in between, which chains on other threads need.

    def churn(self, const int32_t[::1] leaving, const int32_t[::1] entering, double inverse_temperature, streams):
        """A batch of moves of rows in every view; returns the number of rows that were put into a cluster.

        ``streams``: a generator for each view.
        """
        cdef Py_ssize_t v, n_moved = 0
        cdef float beta = inverse_temperature
        cdef uintptr_t[::1] bits = np.array(
            [<uintptr_t> PyCapsule_GetPointer(stream.bit_generator.capsule, "BitGenerator") for stream in streams],
            np.uintp)
        if bits.shape[0] != self.n_views:
            raise ValueError(f"streams must be as many as there are views, {self.n_views}, got {bits.shape[0]}")
        with nogil:
            for v in range(self.n_views):
                n_moved += churn_rows(
                    <Mixture> self.mixture[self.order[v]], leaving, entering, beta, <bitgen_t*> bits[v])
        return n_moved

    def rebuild(self, rows=None):
        """Recompute all statistics from the rows (those assigned), to remove the drift of float sums."""
        cdef const int32_t[::1] present = self.mixture_at(0).assigned() if rows is None else rows
        cdef Py_ssize_t v, number, n = present.shape[0]
        cdef int32_t[:, ::1] work = np.empty((2, max(n, 1)), np.int32)
        with nogil:
            for v in range(self.n_views):
                number = self.order[v]
                if n:
                    (<Mixture> self.mixture[number]).find_slots(&present[0], n, False, &work[0, 0], &work[1, 0])
                (<Mixture> self.mixture[number]).rebuild_from(&work[0, 0], &work[1, 0], n)

    def learn(self, generator, double inverse_temperature=1.0):
        """Redraw the hyperparameters of all columns, of all row partitions, and of the column partition."""
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        cdef Py_ssize_t v
        with generator.bit_generator.lock, nogil:
            for v in range(self.n_views):
                (<Mixture> self.mixture[self.order[v]]).resample(inverse_temperature, bits)
        if self.blocks is not None:
            self.blocks.collect_parameters(generator)
        self.update_twins()
        self.prior.learn(np.asarray(self.sizes)[:self.n_views], generator)

    def log_joint(self):
        """Log probability of both kinds of partitions, and of the cells of the assigned rows."""
        cdef double out = self.prior.log_eppf(np.asarray(self.sizes)[:self.n_views])
        cdef Py_ssize_t v
        with nogil:
            for v in range(self.n_views):
                out += (<Mixture> self.mixture[self.order[v]]).log_probability()
        return out

    # The next methods are for the moves of columns; after ``begin`` no row moves.

    def begin(self, Py_ssize_t n_spare, double inverse_temperature, generator):
        """Prepare for moves of columns that need so many spare mixtures at once; False if there are no rows."""
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        cdef Py_ssize_t i, other, v
        cdef int32_t row, number
        cdef const int32_t[::1] rows = self.mixture_at(0).assigned()
        self.n_assigned = rows.shape[0]
        self.reserve(n_spare)
        self.beta = <float> inverse_temperature
        np.asarray(self.evidence)[:] = np.nan
        if self.blocks is not None:
            self.blocks.collect()
        with generator.bit_generator.lock, nogil:
            # Any order serves that does not depend on the partitions.
            for i in range(self.n_assigned):
                self.rows[i] = rows[i]
            for i in range(self.n_assigned - 1, 0, -1):
                other = integer_below(bits, i + 1)
                row = self.rows[i]
                self.rows[i] = self.rows[other]
                self.rows[other] = row
            for v in range(self.n_views):
                number = self.order[v]
                for i in range(self.n_assigned):
                    self.slots[number][i] = (<Mixture> self.mixture[number]).slot_of[
                        (<Mixture> self.mixture[number]).names[self.rows[i]]]
        return self.n_assigned > 0

    cdef double evidence_of(self, Py_ssize_t j, Py_ssize_t number) except? -1.0 nogil:
        # Log likelihood of a column, to the power of the temperature, under the partition of a mixture.
        cdef double* known = &self.evidence[number, j]
        cdef Py_ssize_t n_clusters = (<Mixture> self.mixture[number]).n_clusters
        cdef Rows rows
        if known[0] != known[0] and self.real_of[j] >= 0:
            rows = self.rows_in(number)
            known[0] = self.beta * self.blocks.log_evidence(self.real_of[j], number, False, &rows)
        if known[0] != known[0]:
            if (<ColumnStatistics> self.column[j]).capacity < n_clusters:
                with gil:
                    (<ColumnStatistics> self.column[j]).reserve((<Mixture> self.mixture[number]).capacity)
            known[0] = self.beta * (<ColumnStatistics> self.column[j]).log_likelihood(
                &self.rows[0], self.slots[number], self.n_assigned, n_clusters)
        return known[0]

    cdef Rows rows_in(self, Py_ssize_t number) noexcept nogil:
        # The subsample with its partition in a mixture.
        cdef Rows rows
        rows.row, rows.slot, rows.n = &self.rows[0], self.slots[number], self.n_assigned
        rows.n_clusters = (<Mixture> self.mixture[number]).n_clusters
        return rows

    cdef double evidence_alone(self, Py_ssize_t j, Py_ssize_t number) except? -1.0 nogil:
        # As if no other column of its block were in the view: it does not depend on the partition of the columns.
        cdef Rows rows
        if self.real_of[j] < 0:
            return self.evidence_of(j, number)
        rows = self.rows_in(number)
        return self.beta * self.blocks.log_evidence(self.real_of[j], number, True, &rows)

    cdef Py_ssize_t find_reals(self, const int32_t* members, Py_ssize_t n_members) noexcept nogil:
        # ``blocks.group`` = those of some columns that are joint reals; returns their number.
        cdef Py_ssize_t i, n = 0
        if self.blocks is None:
            return 0
        for i in range(n_members):
            if self.real_of[members[i]] >= 0:
                self.blocks.group[n] = self.real_of[members[i]]
                n += 1
        return n

    cdef double evidence_of_group(self, Py_ssize_t n_group, Py_ssize_t number) except? -1.0 nogil:
        # Of the columns in ``group``, given the others of a view, with the present fillings of missing cells.
        cdef Py_ssize_t i, n_reals = self.find_reals(&self.group[0], n_group)
        cdef double out = 0.0
        cdef Rows rows
        for i in range(n_group):
            if self.real_of[self.group[i]] < 0:
                out += self.evidence_of(self.group[i], number)
        if n_reals:
            rows = self.rows_in(number)
            out += self.beta * self.blocks.log_evidence_of_group(
                &self.blocks.group[0], n_reals, number, False, &rows)
        return out

    cdef int settle(self, Py_ssize_t j, bitgen_t* bits) except -1 nogil:
        """After the view of a column was drawn: draw its missing cells, if they are part of the state."""
        cdef Py_ssize_t i, real = self.real_of[j]
        cdef Rows rows
        if real < 0 or not self.blocks.reals.has_gaps[real]:
            return 0
        rows = self.rows_in(self.home[j])
        self.blocks.fill(real, &rows, bits)
        for i in range(self.n_columns):
            if self.real_of[i] >= 0 and i != j:
                self.evidence[self.home[j], i] = NAN
        return 0

    cdef double log_share(self, Py_ssize_t j, double difference) noexcept nogil:
        # Log probability with which a column joins a proposed view whose evidence for it alone is less by so much.
        if self.real_of[j] >= 0:
            # For a joint real the other columns of a view count as well: half of the time the evidence is ignored.
            return log_double(0.25 + 0.5 / (1.0 + exp_double(min(difference, 700.0))))
        if difference > 36.0:
            return -difference
        return -log_double(1.0 + exp_double(difference))

    cdef double log_weight(self, Py_ssize_t n_columns, Py_ssize_t n_views) noexcept nogil:
        # Of joining a view of so many columns; of a new one, if it has none, beside so many views.
        if n_columns:
            return log_double(n_columns + self.prior.offset)
        return log_double(self.prior.new_base + self.prior.new_slope * n_views) if n_views else 0.0

    cdef double allocate(
        self, Py_ssize_t number, const int32_t* members, Py_ssize_t n_members, Py_ssize_t like, bitgen_t* bits
    ) except? -1.0 nogil:
        """Partition the rows in a spare mixture by sequential allocation given at most one column.

        ``like``: the number of a mixture whose partition and parameters are forced, or -1. Returns the log of
        p(partition) p(columns | partition) / q(partition), parameters of its prior included; without columns, both
        come from their priors. A joint real counts by its observed cells.
        """
        cdef Py_ssize_t i
        cdef bint has_columns = (<Mixture> self.mixture[number]).n_columns == n_members
        self.take_prior_of_block(number, like, bits)
        for i in range(n_members):
            has_columns = has_columns and (<Mixture> self.mixture[number]).column[i] == self.twin[members[i]]
            if self.real_of[members[i]] >= 0:
                with gil:
                    self.blocks.give_prior(<ColumnStatistics> self.twin[members[i]], number)
        if not has_columns:
            (<Mixture> self.mixture[number]).set_columns_from(self.twin, members, n_members)
        return self.allocate_in(number, n_members, like, bits)

    cdef double allocate_group(
        self, Py_ssize_t number, const int32_t* members, Py_ssize_t n_members, Py_ssize_t like, Py_ssize_t prior_of,
        bitgen_t* bits
    ) except? -1.0 nogil:
        """As ``allocate`` for any number of columns, whose joint reals count by all cells as they are filled.

        ``prior_of``: the number of the mixture whose kappa and nu their block has, or -1 for a draw of them.
        """
        cdef Py_ssize_t n_reals = self.find_reals(members, n_members), i
        cdef double log_weight
        if n_reals == 0:
            log_weight = self.allocate(number, members, n_members, like, bits)
            if prior_of >= 0:
                # A view without joint reals has kappa and nu, too.
                self.take_prior_of_block(number, prior_of, bits)
            return log_weight
        self.take_prior_of_block(number, prior_of, bits)
        with gil:
            columns = [<object> self.twin[members[i]] for i in range(n_members) if self.real_of[members[i]] < 0]
            group = [self.blocks.group[i] for i in range(n_reals)]
            columns.append(self.blocks.as_filled(np.array(group), number, self.pool[number].capacity))
            self.pool[number].set_columns(columns)
        return self.allocate_in(number, n_members, like, bits)

    cdef int take_prior_of_block(self, Py_ssize_t number, Py_ssize_t prior_of, bitgen_t* bits) except -1 nogil:
        if self.blocks is None:
            return 0
        if prior_of < 0:
            self.blocks.draw_prior(number, bits)
        else:
            self.blocks.kappa[number], self.blocks.nu[number] = self.blocks.kappa[prior_of], self.blocks.nu[prior_of]
        return 0

    cdef double allocate_in(
        self, Py_ssize_t number, Py_ssize_t n_members, Py_ssize_t like, bitgen_t* bits
    ) except? -1.0 nogil:
        # The allocation given the columns that the mixture has, which stand for so many columns of the table.
        cdef Py_ssize_t i
        cdef double log_weight = 0.0
        if like >= 0:
            with gil:
                mixture = <Mixture> self.mixture[number]
                mixture.prior.parameters = (<Mixture> self.mixture[like]).prior.parameters
                # Reserve room for all clusters at once: growing a mixture loses the new names of its clusters.
                if mixture.capacity < (<Mixture> self.mixture[like]).capacity:
                    mixture.grow((<Mixture> self.mixture[like]).capacity)
        if n_members == 0:
            (<Mixture> self.mixture[number]).prior.draw_parameters(bits)
        elif like < 0:
            log_weight = (<Mixture> self.mixture[number]).prior.propose_parameters(self.n_assigned, bits)
        else:
            log_weight = (<Mixture> self.mixture[number]).prior.proposal_weight(self.n_assigned)
        for i in range(self.n_columns):
            self.evidence[number, i] = NAN
        if self.blocks is not None:
            self.blocks.forget(number)
        return log_weight + allocate_rows(
            <Mixture> self.mixture[number], &self.rows[0], self.n_assigned,
            self.slots[like] if like >= 0 else NULL, self.slots[number], self.beta, bits)

    cdef int move(self, Py_ssize_t j, Py_ssize_t number) except -1 nogil:
        """Move a column to another view; the view that it leaves may be left empty, for the caller to close."""
        cdef Py_ssize_t old = self.home[j]
        self.sizes[self.position[old]] -= 1
        self.sizes[self.position[number]] += 1
        cdef Py_ssize_t i
        self.home[j] = <int32_t> number
        if self.real_of[j] >= 0:
            self.blocks.move(self.real_of[j], number)
            for i in range(self.n_columns):
                if self.real_of[i] >= 0:
                    self.evidence[old, i] = self.evidence[number, i] = NAN
            return 0
        with gil:
            self.update_columns(old)
            self.update_columns(number)
            (<ColumnStatistics> self.column[j]).assign(&self.rows[0], self.slots[number], self.n_assigned)
        return 0

    def update_columns(self, Py_ssize_t number):
        """Give a mixture the columns that belong to it, in the order of the table, and its block at the end."""
        cdef Mixture mixture = self.pool[number]
        cdef Py_ssize_t j
        columns = [self.columns[j] for j in np.flatnonzero(np.asarray(self.home) == number) if self.real_of[j] < 0]
        if self.blocks is not None:
            if self.blocks.stale[number]:
                self.twins.pop(id(self.blocks.blocks[number]), None)
                block = self.blocks.build(number, mixture.capacity)
                if block is not None:
                    self.twins[id(block)] = block.twin()
            columns += [block for block in self.blocks.blocks[number:number + 1] if block is not None]
        mixture.set_columns(columns)

    def finish(self):
        """End the moves of columns: blocks whose members or fillings have changed are made anew."""
        cdef Py_ssize_t number, i
        cdef GaussianStatistics block
        if self.blocks is None:
            return
        for number in range(len(self.pool)):
            if self.blocks.stale[number]:
                self.update_columns(number)
                block = self.blocks.blocks[number]
                if block is not None:
                    block.assign(&self.rows[0], self.slots[number], self.n_assigned)
                # Not before: a column of another type that moves may have made a block without rows.
                self.blocks.stale[number] = 0

    cdef int open_view(self, Py_ssize_t number) except -1 nogil:
        """Make a spare mixture the last of the views; columns must move to it at once."""
        cdef int32_t displaced = self.order[self.n_views]
        cdef int32_t place = self.position[number]
        self.order[self.n_views], self.order[place] = <int32_t> number, displaced
        self.position[number], self.position[displaced] = <int32_t> self.n_views, place
        self.sizes[self.n_views] = 0
        self.n_views += 1
        (<Mixture> self.mixture[number]).label_rows(&self.rows[0], self.slots[number], self.n_assigned)
        return 0

    cdef int close_view(self, Py_ssize_t number) except -1 nogil:
        """Make the mixture of a view without columns a spare one; the last view takes its place."""
        cdef int32_t place = self.position[number], last = self.order[self.n_views - 1]
        self.n_views -= 1
        self.sizes[place] = self.sizes[self.n_views]
        self.order[place], self.order[self.n_views] = last, <int32_t> number
        self.position[last], self.position[number] = place, <int32_t> self.n_views
        (<Mixture> self.mixture[number]).unlabel_rows(&self.rows[0], self.n_assigned)
        return 0

    cdef void swap_spares(self, Py_ssize_t place, Py_ssize_t other) noexcept nogil:
        cdef int32_t number = self.order[place]
        self.order[place] = self.order[other]
        self.order[other] = number
        self.position[number] = <int32_t> other
        self.position[self.order[place]] = <int32_t> place
