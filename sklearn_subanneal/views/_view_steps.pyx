"""ViewSteps, the steps of moves of columns: marginal likelihoods, new row partitions, the move, missing cells."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport NAN
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport exp_double, log_double, softplus
from sklearn_subanneal._core._random cimport integer_below
from sklearn_subanneal.columns._base cimport ColumnStatistics
from sklearn_subanneal.columns._reals cimport Rows
from sklearn_subanneal.mixtures._allocation cimport allocate_rows
from sklearn_subanneal.mixtures._mixture cimport Mixture
from sklearn_subanneal.views._view_pool cimport ViewPool


cdef class ViewSteps(ViewPool):
    """The methods for moves of columns; after ``begin`` no row moves until ``finish``. Parameters: those of `Views`."""

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

    cdef int settle(self, Py_ssize_t j, Py_ssize_t number, bitgen_t* bits) except -1 nogil:
        """Before a column goes to the view that was drawn: draw its missing cells, if they are part of the state.

        0: one of them is beyond its limits. All are as they were, and the column has to stay where it is.
        """
        cdef Py_ssize_t i, real = self.real_of[j]
        cdef Rows rows
        if real < 0 or not self.blocks.reals.has_gaps[real]:
            return 1
        rows = self.rows_in(number)
        if not self.blocks.fill(real, number, &rows, bits):
            return 0
        for i in range(self.n_columns):
            if self.real_of[i] >= 0 and i != j:
                self.evidence[self.home[j], i] = NAN
        return 1

    cdef double log_share(self, Py_ssize_t j, double difference) noexcept nogil:
        # Log probability with which a column joins a proposed view. ``difference``: the log evidence of the column
        # alone in the other view, minus that in the proposed view.
        if self.real_of[j] >= 0:
            # For a joint real the other columns of a view count as well: half of the time the evidence is ignored.
            return log_double(0.25 + 0.5 / (1.0 + exp_double(min(difference, 700.0))))
        return -softplus(difference)

    cdef double log_weight(self, Py_ssize_t n_columns, Py_ssize_t n_views) noexcept nogil:
        # Of joining a view of so many columns; of a new one, if it has none, beside so many views.
        if n_columns:
            return log_double(n_columns + self.prior.offset)
        return log_double(self.prior.new_base + self.prior.new_slope * n_views) if n_views else 0.0

    cdef double allocate(
        self, Py_ssize_t number, const int32_t* members, Py_ssize_t n_members, Py_ssize_t like, bitgen_t* bits
    ) except? -1.0 nogil:
        """Partition the rows in a spare mixture by sequential allocation given some columns.

        ``like``: the number of a mixture whose partition and parameters are forced, or -1. Returns the log of
        p(partition) p(columns | partition) / q(partition), parameters of its prior included; without columns, both
        come from their priors. At most one of the columns is a joint real;
        it counts by its observed cells. Minus infinity, if columns would have a partition of more than
        ``most_clusters``. A move then makes no proposal, whether this is the partition that it draws or the one that it
        would leave: so each move that is possible has a reverse.
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
            self.slots[like] if like >= 0 else NULL, self.slots[number],
            self.most_clusters if n_members else self.n_assigned, self.beta, bits)

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
