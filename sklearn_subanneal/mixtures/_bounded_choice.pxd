"""A cluster for a row, drawn with few of the clusters scored, declared for the loop over the rows."""
from numpy.random cimport bitgen_t

from sklearn_subanneal.mixtures._mixture cimport Mixture


cdef struct Rounds:
    # Rows that are still to go without bounds; rows of the present round, and those for which all slots were scored.
    Py_ssize_t n_skipped, n_tried, n_crowded


cdef bint pays(Mixture mixture, Rounds* rounds, Py_ssize_t row) noexcept nogil
cdef Py_ssize_t draw_by_bounds(
    Mixture mixture, Rounds* rounds, Py_ssize_t row, Py_ssize_t old, float beta, bitgen_t* bits) noexcept nogil
