"""The state of a cross-categorization, declared for its moves."""
from sklearn_subanneal.views._view_evidence cimport ViewEvidence


cdef class Views(ViewEvidence):
    pass
