"""The state of a cross-categorization, declared for its moves."""
from sklearn_subanneal.views._view_steps cimport ViewSteps


cdef class Views(ViewSteps):
    pass
