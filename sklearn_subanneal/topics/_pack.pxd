"""Removal of the topics that a document does not use from its table of word weights (document_loops.h)."""
from libc.stdint cimport int32_t


cdef extern from "sklearn_subanneal/topics/document_loops.h":
    # A topic is needed unless factors totals and edge_factors totals are below negligible and half of it. If enough
    # are not, n_topics becomes the number of those that are, kept lists them, and rows are packed to them, padded with
    # zeros. needed has width numbers, kept and places have width, space has width times 8 bytes.
    void pack_float "subanneal_pack_float"(
        float* table, Py_ssize_t n, Py_ssize_t width, const float* factors, const float* totals,
        const float* edge_factors, float negligible, float* needed, int32_t* kept, int32_t* places, void* space,
        Py_ssize_t* n_topics) noexcept nogil
    void pack_double "subanneal_pack_double"(
        double* table, Py_ssize_t n, Py_ssize_t width, const double* factors, const double* totals,
        const double* edge_factors, double negligible, double* needed, int32_t* kept, int32_t* places, void* space,
        Py_ssize_t* n_topics) noexcept nogil
