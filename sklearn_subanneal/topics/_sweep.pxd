"""One pass over the words of a document: normalisers and, while the rows are near, what they add to the topics.

Eight words at a time, since then each row comes from the cache once and serves both. GCC does not keep sums in
registers that were written as loops over lanes, so they are vectors by its own extension (which clang has too). The
sums are those of plain loops word by word, with the lanes of a dot product added in pairs: other compilers, and the
baseline build, get the same bits from the loops.
"""
from sklearn_subanneal._core._math cimport simd_void


cdef extern from *:
    """
    #if defined(__has_builtin) && !defined(SUBANNEAL_BASELINE)
    #  if __has_builtin(__builtin_shufflevector) && defined(__GNUC__)
    #    define SUBANNEAL_VECTORS
    #  endif
    #endif
    #ifdef SUBANNEAL_VECTORS
    typedef float subanneal_floats __attribute__((vector_size(32)));
    typedef float subanneal_loose_floats __attribute__((vector_size(32), aligned(4), may_alias));
    typedef int subanneal_floats_mask __attribute__((vector_size(32)));
    typedef double subanneal_doubles __attribute__((vector_size(32)));
    typedef double subanneal_loose_doubles __attribute__((vector_size(32), aligned(8), may_alias));
    typedef long long subanneal_doubles_mask __attribute__((vector_size(32)));
    /* out = the sums of the lanes of as many vectors; in float32 as ((0 + 2) + (1 + 3)) + ((4 + 6) + (5 + 7)). */
    #define SUBANNEAL_HALVES(out, s) \\
        subanneal_floats out##_a = __builtin_shufflevector((s)[0], (s)[1], 0, 8, 1, 9, 4, 12, 5, 13) \\
                                 + __builtin_shufflevector((s)[0], (s)[1], 2, 10, 3, 11, 6, 14, 7, 15); \\
        subanneal_floats out##_b = __builtin_shufflevector((s)[2], (s)[3], 0, 8, 1, 9, 4, 12, 5, 13) \\
                                 + __builtin_shufflevector((s)[2], (s)[3], 2, 10, 3, 11, 6, 14, 7, 15); \\
        subanneal_floats out = __builtin_shufflevector(out##_a, out##_b, 0, 1, 8, 9, 4, 5, 12, 13) \\
                             + __builtin_shufflevector(out##_a, out##_b, 2, 3, 10, 11, 6, 7, 14, 15)
    #define SUBANNEAL_FOLD_floats(out, s) \\
        SUBANNEAL_HALVES(first, s); \\
        SUBANNEAL_HALVES(second, s + 4); \\
        out = __builtin_shufflevector(first, second, 0, 1, 2, 3, 8, 9, 10, 11) \\
            + __builtin_shufflevector(first, second, 4, 5, 6, 7, 12, 13, 14, 15)
    /* In float64 as (0 + 1) + (2 + 3). */
    #define SUBANNEAL_FOLD_doubles(out, s) \\
        subanneal_doubles first = __builtin_shufflevector((s)[0], (s)[1], 0, 4, 2, 6) \\
                                + __builtin_shufflevector((s)[0], (s)[1], 1, 5, 3, 7); \\
        subanneal_doubles second = __builtin_shufflevector((s)[2], (s)[3], 0, 4, 2, 6) \\
                                 + __builtin_shufflevector((s)[2], (s)[3], 1, 5, 3, 7); \\
        out = __builtin_shufflevector(first, second, 0, 1, 4, 5) + __builtin_shufflevector(first, second, 2, 3, 6, 7)
    #define SUBANNEAL_SUMS(KIND, LANES) \\
        for (Py_ssize_t k = 0; k < width; k += LANES) { \\
            subanneal_##KIND f = *(const subanneal_loose_##KIND*) (factors + k); \\
            for (int i = 0; i < 8; i++) \\
                sums[i] += f * *(const subanneal_loose_##KIND*) (row + i * width + k); \\
        }
    #define SUBANNEAL_RATIOS(KIND, LANES) \\
        for (int i = 0; i < 8; i += LANES) { \\
            subanneal_##KIND norm, least = tiny - (subanneal_##KIND) {0}; \\
            SUBANNEAL_FOLD_##KIND(norm, sums + i); \\
            subanneal_##KIND##_mask enough = norm > least; \\
            norm = (subanneal_##KIND) ((enough & (subanneal_##KIND##_mask) norm) \\
                                     | (~enough & (subanneal_##KIND##_mask) least)); \\
            *(subanneal_loose_##KIND*) (ratios + v + i) = \\
                scale * *(const subanneal_loose_##KIND*) (counts + v + i) / norm; \\
        }
    #define SUBANNEAL_ADD(REAL, KIND, LANES) \\
        if (totals && v) { \\
            REAL ratio[8]; \\
            for (int i = 0; i < 8; i++) ratio[i] = ratios[v - 8 + i]; \\
            for (Py_ssize_t k = 0; k < width; k += LANES) { \\
                subanneal_##KIND total = *(subanneal_loose_##KIND*) (totals + k); \\
                for (int i = 0; i < 8; i++) \\
                    total += ratio[i] * *(const subanneal_loose_##KIND*) (row + (i - 8) * width + k); \\
                *(subanneal_loose_##KIND*) (totals + k) = total; \\
            } \\
        }
    /* Rows are added one block late, for the fold and the divisions of a block are a long chain that would be waited
       for. */
    #define SUBANNEAL_BLOCKS(REAL, KIND, LANES) \\
        for (; v < n; v += 8, row += 8 * width) { \\
            subanneal_##KIND sums[8] = {{0}}; \\
            SUBANNEAL_SUMS(KIND, LANES) \\
            SUBANNEAL_RATIOS(KIND, LANES) \\
            SUBANNEAL_ADD(REAL, KIND, LANES) \\
        } \\
        SUBANNEAL_ADD(REAL, KIND, LANES)
    #else
    #define SUBANNEAL_BLOCKS(REAL, KIND, LANES) \\
        for (; v < n; v++, row += width) { \\
            REAL sums[LANES] = {0}, ratio, low, high; \\
            for (Py_ssize_t k = 0; k < width; k += LANES) \\
                for (int lane = 0; lane < LANES; lane++) sums[lane] += factors[k + lane] * row[k + lane]; \\
            low = LANES == 8 ? (sums[0] + sums[2]) + (sums[1] + sums[3]) : sums[0] + sums[1]; \\
            high = LANES == 8 ? (sums[4 % LANES] + sums[6 % LANES]) + (sums[5 % LANES] + sums[7 % LANES]) \\
                              : sums[2] + sums[3]; \\
            ratio = low + high; \\
            ratios[v] = ratio = scale * counts[v] / (ratio > tiny ? ratio : tiny); \\
            if (totals) for (Py_ssize_t k = 0; k < width; k++) totals[k] += ratio * row[k]; \\
        }
    #endif
    #define SUBANNEAL_SWEEP(NAME, REAL, KIND, LANES) \\
        static SUBANNEAL_MULTIVERSION void NAME( \\
            const REAL* table, const REAL* counts, Py_ssize_t n, Py_ssize_t width, const REAL* factors, REAL scale, \\
            REAL tiny, REAL* ratios, REAL* totals \\
        ) { \\
            const REAL* row = table; \\
            Py_ssize_t v = 0; \\
            if (totals) for (Py_ssize_t k = 0; k < width; k++) totals[k] = 0; \\
            SUBANNEAL_BLOCKS(REAL, KIND, LANES) \\
        }
    SUBANNEAL_SWEEP(subanneal_sweep_float, float, floats, 8)
    SUBANNEAL_SWEEP(subanneal_sweep_double, double, doubles, 4)
    """
    # ratios_v = scale counts_v / sum_k table_vk factors_k (held at tiny from below), and, unless totals is NULL,
    # totals_k = sum_v ratios_v table_vk. n is a multiple of 8, width one of LANES.
    void sweep_float "subanneal_sweep_float"(
        const float* table, const float* counts, Py_ssize_t n, Py_ssize_t width, const float* factors, float scale,
        float tiny, float* ratios, float* totals) noexcept nogil
    void sweep_double "subanneal_sweep_double"(
        const double* table, const double* counts, Py_ssize_t n, Py_ssize_t width, const double* factors, double scale,
        double tiny, double* ratios, double* totals) noexcept nogil
