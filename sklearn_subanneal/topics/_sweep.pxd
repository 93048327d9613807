"""One pass over the words of a document: normalisers, and sums over words by topic (document_loops.h)."""
cdef extern from "sklearn_subanneal/topics/document_loops.h":
    # ratios_v = scale counts_v / sum_k table_vk factors_k (held at tiny from below), and, unless totals is NULL,
    # totals_k = sum_v ratios_v table_vk. n is a multiple of 8, width one of LANES.
    void sweep_float "subanneal_sweep_float"(
        const float* table, const float* counts, Py_ssize_t n, Py_ssize_t width, const float* factors, float scale,
        float tiny, float* ratios, float* totals) noexcept nogil
    void sweep_double "subanneal_sweep_double"(
        const double* table, const double* counts, Py_ssize_t n, Py_ssize_t width, const double* factors, double scale,
        double tiny, double* ratios, double* totals) noexcept nogil
