"""Leaving out the topics that a document does not need, and packing the rows of its table to the others.

GCC permutes whole vectors of a row, each written over what is left over of the one before; other compilers copy number
by number. Either way a number goes to the same place.
"""
from libc.stdint cimport int32_t

from sklearn_subanneal._core._math cimport simd_void


cdef extern from *:
    """
    #if defined(__GNUC__) && !defined(__clang__) && !defined(SUBANNEAL_BASELINE)
    typedef float subanneal_pack_floats __attribute__((vector_size(32), aligned(4), may_alias));
    typedef int32_t subanneal_pack_float_order __attribute__((vector_size(32), aligned(4), may_alias));
    typedef double subanneal_pack_doubles __attribute__((vector_size(32), aligned(8), may_alias));
    typedef int64_t subanneal_pack_double_order __attribute__((vector_size(32), aligned(8), may_alias));
    #define SUBANNEAL_PACK_VECTOR(KIND, out, row, order) \\
        *(subanneal_pack_##KIND##s*) (out) = __builtin_shuffle( \\
            *(const subanneal_pack_##KIND##s*) (row), *(const subanneal_pack_##KIND##_order*) (order))
    #else
    #define SUBANNEAL_PACK_VECTOR(KIND, out, row, order) \\
        for (int lane = 0; lane < 32 / (int) sizeof(*(row)); lane++) (out)[lane] = (row)[(order)[lane]]
    #endif
    #define SUBANNEAL_PACK(NAME, REAL, KIND, INDEX, LANES) \\
        static SUBANNEAL_MULTIVERSION void NAME( \\
            REAL* table, Py_ssize_t n, Py_ssize_t width, const REAL* factors, const REAL* totals, \\
            const REAL* edge_factors, REAL negligible, REAL* needed, int32_t* kept, int32_t* places, void* space, \\
            Py_ssize_t* n_topics \\
        ) { \\
            REAL half = negligible / 2; \\
            INDEX* order = (INDEX*) space; \\
            int32_t *sources = places, *targets = places + width / LANES; \\
            Py_ssize_t m = 0, at = 0, n_vectors = 0, packed; \\
            for (Py_ssize_t k = 0; k < width; k++) \\
                needed[k] = ((factors[k] * totals[k] < negligible) & (edge_factors[k] * totals[k] < half)) ? 0 : 1; \\
            for (Py_ssize_t k = 0; k < *n_topics; k++) \\
                if (needed[k]) kept[m++] = (int32_t) k; \\
            packed = (m + 7) / 8 * 8; \\
            if (m == 0 || packed * 4 > width * 3) return; \\
            while (at < m) { \\
                int32_t source = kept[at] / LANES * LANES; \\
                int lane = 0; \\
                sources[n_vectors] = source; \\
                targets[n_vectors] = (int32_t) at; \\
                for (; at < m && kept[at] < source + LANES; at++) \\
                    order[n_vectors * LANES + lane++] = kept[at] - source; \\
                for (; lane < LANES; lane++) order[n_vectors * LANES + lane] = 0; \\
                n_vectors++; \\
            } \\
            for (Py_ssize_t v = 0; v < n; v++) { \\
                const REAL* row = table + v * width; \\
                REAL* out = table + v * packed; \\
                for (Py_ssize_t i = 0; i < n_vectors; i++) \\
                    SUBANNEAL_PACK_VECTOR(KIND, out + targets[i], row + sources[i], order + i * LANES); \\
                for (Py_ssize_t k = m; k < packed; k++) out[k] = 0; \\
            } \\
            *n_topics = m; \\
        }
    SUBANNEAL_PACK(subanneal_pack_float, float, float, int32_t, 8)
    SUBANNEAL_PACK(subanneal_pack_double, double, double, int64_t, 4)
    """
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
