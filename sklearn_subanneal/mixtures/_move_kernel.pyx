"""MoveKernel, the base class of the compiled moves: proposals, sweeps, counters of acceptances, saved state."""

cdef class MoveKernel:
    """A move bound to the columns of a chain; made by :meth:`sklearn_subanneal.mixtures.Move.bind`.

    A subclass overrides :meth:`sweep` if it is a move of all rows, and else :meth:`propose`. This class itself is the
    kernel of moves that the chain carries out without one.

    Attributes
    ----------
    n_proposed, n_accepted : int
        Proposals since the counters were last cleared.
    sum_log_ratio : float
        Sum of the logarithms of their acceptance ratios. Tree-guided moves count those below -1000 as -1000, and merges
        that are rejected before rows are allocated their upper bound.
    n_overflows : int
        Sweeps of slice sampling in which atoms were left out: these are not exact.
    """

    def propose(self, state, Py_ssize_t n_proposals, double inverse_temperature, generator, rows=None):
        """Make proposals that change the partition of a mixture, or of views.

        Parameters
        ----------
        state : Mixture or Views
        n_proposals : int
            Must not depend on the partition, else the proposals would not leave the posterior invariant.
        inverse_temperature : float
        generator : numpy.random.Generator
        rows : ndarray of int32 or None, default=None
            The assigned rows; None: found here.

        Returns
        -------
        n_changes : int
            Accepted proposals; of moves of columns, the columns that moved.
        """
        raise TypeError(f"{type(self).__name__} makes no proposals")

    def sweep(self, mixture, double inverse_temperature, generator, rows=None):
        """Move all assigned rows of a mixture once.

        Parameters
        ----------
        mixture, inverse_temperature, generator, rows
            See :meth:`propose`.

        Returns
        -------
        n_moved : int
        """
        raise TypeError(f"{type(self).__name__} does not sweep over the rows")

    def take_counts(self):
        """Return the counters as a dict, and clear them."""
        counts = {
            "n_proposed": self.n_proposed,
            "n_accepted": self.n_accepted,
            "sum_log_ratio": self.sum_log_ratio,
            "n_overflows": self.n_overflows,
        }
        self.n_proposed = self.n_accepted = self.n_overflows = 0
        self.sum_log_ratio = 0.0
        return counts

    def get_state(self):
        """State that the move keeps between sweeps, as arrays; None if it has none."""
        return None

    def set_state(self, state):
        """Restore a state returned by ``get_state``."""

    cdef void count(self, double log_ratio, bint accepted) noexcept nogil:
        self.n_proposed += 1
        self.n_accepted += accepted
        self.sum_log_ratio += log_ratio
