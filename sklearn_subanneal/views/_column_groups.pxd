"""Probabilities shared by the moves of groups of columns and the split-merge moves of views."""
from sklearn_subanneal.views._views cimport Views

# log of 1 / (1 + exp(difference)).

# Prior of a group and the rest in two views against one, beside n_views - 1 others.
cdef double log_odds_of_views(Views views, Py_ssize_t n_group, Py_ssize_t n_rest, Py_ssize_t n_views) noexcept nogil
