"""CarriedStatistics, a column that a mixture does not explain: its sums follow the rows, and nothing depends on it."""
from sklearn_subanneal.columns._base cimport ColumnStatistics, LogQueue


cdef class CarriedStatistics(ColumnStatistics):
    """Stand in for the statistics of a column in a mixture of other columns.

    Sums by cluster follow all changes of the partition, so that the column may be explained later though rows are gone;
    but it adds nothing to any score, density or proposal, and its hyperparameters stay.

    Parameters
    ----------
    column : ColumnStatistics
        Without missing cells as part of the state.
    """

    cdef ColumnStatistics column

    def __init__(self, ColumnStatistics column not None):
        self.column, self.capacity, self.width = column, column.capacity, column.width

    cdef void add(self, Py_ssize_t row, Py_ssize_t k, LogQueue* logs) noexcept nogil:
        self.column.add(row, k, logs)

    cdef void remove(self, Py_ssize_t row, Py_ssize_t k, LogQueue* logs) noexcept nogil:
        self.column.remove(row, k, logs)

    cdef void move(self, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        self.column.move(source, target)

    cdef void clear(self, Py_ssize_t k) noexcept nogil:
        self.column.clear(k)

    cdef void merge(self, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        self.column.merge(source, target)

    cdef double log_marginal_of_both(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        return 0.0

    cdef double log_predictive(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        return 0.0

    cdef int reserve(self, Py_ssize_t capacity) except -1:
        if self.column.capacity < capacity:
            self.column.reserve(capacity)
        self.capacity = capacity
        return 0

    def twin(self):
        """Nothing: rows are tried out by the columns that are explained."""
        return _Nothing()


cdef class _Nothing(ColumnStatistics):
    """Statistics of no column."""

    def adopt(self, source):
        """Take over the hyperparameters, of which there are none."""
