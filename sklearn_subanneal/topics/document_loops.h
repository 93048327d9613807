/* The two inner loops over the words of a document, each for float and double and for every vector instruction set.

   subanneal_sweep: normalisers of the words and, while the rows are in the cache, their sums into the topics. Eight
   words at a time, so that each row is loaded once for both. GCC does not keep sums in registers that are written as
   loops over lanes, so they are vectors by its own extension (which clang has too). The sums are those of plain loops
   word by word, with the lanes of a dot product added in pairs: other compilers, and the baseline build, get the same
   bits from the loops.

   subanneal_pack: topics that a document does not need are left out, and the rows of its table packed to the others.
   GCC permutes whole vectors of a row, each written over the rest of the one before; other compilers copy number by
   number. Both put a number in the same place. */
#ifndef SUBANNEAL_DOCUMENT_LOOPS_H
#define SUBANNEAL_DOCUMENT_LOOPS_H

#include <stdint.h>
#include "Python.h"

#include "sklearn_subanneal/_core/multiversion.h"

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
#define SUBANNEAL_HALVES(out, s) \
    subanneal_floats out##_a = __builtin_shufflevector((s)[0], (s)[1], 0, 8, 1, 9, 4, 12, 5, 13) \
                             + __builtin_shufflevector((s)[0], (s)[1], 2, 10, 3, 11, 6, 14, 7, 15); \
    subanneal_floats out##_b = __builtin_shufflevector((s)[2], (s)[3], 0, 8, 1, 9, 4, 12, 5, 13) \
                             + __builtin_shufflevector((s)[2], (s)[3], 2, 10, 3, 11, 6, 14, 7, 15); \
    subanneal_floats out = __builtin_shufflevector(out##_a, out##_b, 0, 1, 8, 9, 4, 5, 12, 13) \
                         + __builtin_shufflevector(out##_a, out##_b, 2, 3, 10, 11, 6, 7, 14, 15)
#define SUBANNEAL_FOLD_floats(out, s) \
    SUBANNEAL_HALVES(first, s); \
    SUBANNEAL_HALVES(second, s + 4); \
    out = __builtin_shufflevector(first, second, 0, 1, 2, 3, 8, 9, 10, 11) \
        + __builtin_shufflevector(first, second, 4, 5, 6, 7, 12, 13, 14, 15)
/* In float64 as (0 + 1) + (2 + 3). */
#define SUBANNEAL_FOLD_doubles(out, s) \
    subanneal_doubles first = __builtin_shufflevector((s)[0], (s)[1], 0, 4, 2, 6) \
                            + __builtin_shufflevector((s)[0], (s)[1], 1, 5, 3, 7); \
    subanneal_doubles second = __builtin_shufflevector((s)[2], (s)[3], 0, 4, 2, 6) \
                             + __builtin_shufflevector((s)[2], (s)[3], 1, 5, 3, 7); \
    out = __builtin_shufflevector(first, second, 0, 1, 4, 5) + __builtin_shufflevector(first, second, 2, 3, 6, 7)
#define SUBANNEAL_SUMS(KIND, LANES) \
    for (Py_ssize_t k = 0; k < width; k += LANES) { \
        subanneal_##KIND f = *(const subanneal_loose_##KIND*) (factors + k); \
        for (int i = 0; i < 8; i++) \
            sums[i] += f * *(const subanneal_loose_##KIND*) (row + i * width + k); \
    }
#define SUBANNEAL_RATIOS(KIND, LANES) \
    for (int i = 0; i < 8; i += LANES) { \
        subanneal_##KIND norm, least = tiny - (subanneal_##KIND) {0}; \
        SUBANNEAL_FOLD_##KIND(norm, sums + i); \
        subanneal_##KIND##_mask enough = norm > least; \
        norm = (subanneal_##KIND) ((enough & (subanneal_##KIND##_mask) norm) \
                                 | (~enough & (subanneal_##KIND##_mask) least)); \
        *(subanneal_loose_##KIND*) (ratios + v + i) = \
            scale * *(const subanneal_loose_##KIND*) (counts + v + i) / norm; \
    }
#define SUBANNEAL_ADD(REAL, KIND, LANES) \
    if (totals && v) { \
        REAL ratio[8]; \
        for (int i = 0; i < 8; i++) ratio[i] = ratios[v - 8 + i]; \
        for (Py_ssize_t k = 0; k < width; k += LANES) { \
            subanneal_##KIND total = *(subanneal_loose_##KIND*) (totals + k); \
            for (int i = 0; i < 8; i++) \
                total += ratio[i] * *(const subanneal_loose_##KIND*) (row + (i - 8) * width + k); \
            *(subanneal_loose_##KIND*) (totals + k) = total; \
        } \
    }
/* Rows are added one block late, for the fold and the divisions of a block are a long chain that would be waited
   for. */
#define SUBANNEAL_BLOCKS(REAL, KIND, LANES) \
    for (; v < n; v += 8, row += 8 * width) { \
        subanneal_##KIND sums[8] = {{0}}; \
        SUBANNEAL_SUMS(KIND, LANES) \
        SUBANNEAL_RATIOS(KIND, LANES) \
        SUBANNEAL_ADD(REAL, KIND, LANES) \
    } \
    SUBANNEAL_ADD(REAL, KIND, LANES)
#else
#define SUBANNEAL_BLOCKS(REAL, KIND, LANES) \
    for (; v < n; v++, row += width) { \
        REAL sums[LANES] = {0}, ratio, low, high; \
        for (Py_ssize_t k = 0; k < width; k += LANES) \
            for (int lane = 0; lane < LANES; lane++) sums[lane] += factors[k + lane] * row[k + lane]; \
        low = LANES == 8 ? (sums[0] + sums[2]) + (sums[1] + sums[3]) : sums[0] + sums[1]; \
        high = LANES == 8 ? (sums[4 % LANES] + sums[6 % LANES]) + (sums[5 % LANES] + sums[7 % LANES]) \
                          : sums[2] + sums[3]; \
        ratio = low + high; \
        ratios[v] = ratio = scale * counts[v] / (ratio > tiny ? ratio : tiny); \
        if (totals) for (Py_ssize_t k = 0; k < width; k++) totals[k] += ratio * row[k]; \
    }
#endif
#define SUBANNEAL_SWEEP(NAME, REAL, KIND, LANES) \
    static SUBANNEAL_MULTIVERSION void NAME( \
        const REAL* table, const REAL* counts, Py_ssize_t n, Py_ssize_t width, const REAL* factors, REAL scale, \
        REAL tiny, REAL* ratios, REAL* totals \
    ) { \
        const REAL* row = table; \
        Py_ssize_t v = 0; \
        if (totals) for (Py_ssize_t k = 0; k < width; k++) totals[k] = 0; \
        SUBANNEAL_BLOCKS(REAL, KIND, LANES) \
    }
SUBANNEAL_SWEEP(subanneal_sweep_float, float, floats, 8)
SUBANNEAL_SWEEP(subanneal_sweep_double, double, doubles, 4)

#if defined(__GNUC__) && !defined(__clang__) && !defined(SUBANNEAL_BASELINE)
typedef float subanneal_pack_floats __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t subanneal_pack_float_order __attribute__((vector_size(32), aligned(4), may_alias));
typedef double subanneal_pack_doubles __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t subanneal_pack_double_order __attribute__((vector_size(32), aligned(8), may_alias));
#define SUBANNEAL_PACK_VECTOR(KIND, out, row, order) \
    *(subanneal_pack_##KIND##s*) (out) = __builtin_shuffle( \
        *(const subanneal_pack_##KIND##s*) (row), *(const subanneal_pack_##KIND##_order*) (order))
#else
#define SUBANNEAL_PACK_VECTOR(KIND, out, row, order) \
    for (int lane = 0; lane < 32 / (int) sizeof(*(row)); lane++) (out)[lane] = (row)[(order)[lane]]
#endif
#define SUBANNEAL_PACK(NAME, REAL, KIND, INDEX, LANES) \
    static SUBANNEAL_MULTIVERSION void NAME( \
        REAL* table, Py_ssize_t n, Py_ssize_t width, const REAL* factors, const REAL* totals, \
        const REAL* edge_factors, REAL negligible, REAL* needed, int32_t* kept, int32_t* places, void* space, \
        Py_ssize_t* n_topics \
    ) { \
        REAL half = negligible / 2; \
        INDEX* order = (INDEX*) space; \
        int32_t *sources = places, *targets = places + width / LANES; \
        Py_ssize_t m = 0, at = 0, n_vectors = 0, packed; \
        for (Py_ssize_t k = 0; k < width; k++) \
            needed[k] = ((factors[k] * totals[k] < negligible) & (edge_factors[k] * totals[k] < half)) ? 0 : 1; \
        for (Py_ssize_t k = 0; k < *n_topics; k++) \
            if (needed[k]) kept[m++] = (int32_t) k; \
        packed = (m + 7) / 8 * 8; \
        if (m == 0 || packed * 4 > width * 3) return; \
        while (at < m) { \
            int32_t source = kept[at] / LANES * LANES; \
            int lane = 0; \
            sources[n_vectors] = source; \
            targets[n_vectors] = (int32_t) at; \
            for (; at < m && kept[at] < source + LANES; at++) \
                order[n_vectors * LANES + lane++] = kept[at] - source; \
            for (; lane < LANES; lane++) order[n_vectors * LANES + lane] = 0; \
            n_vectors++; \
        } \
        for (Py_ssize_t v = 0; v < n; v++) { \
            const REAL* row = table + v * width; \
            REAL* out = table + v * packed; \
            for (Py_ssize_t i = 0; i < n_vectors; i++) \
                SUBANNEAL_PACK_VECTOR(KIND, out + targets[i], row + sources[i], order + i * LANES); \
            for (Py_ssize_t k = m; k < packed; k++) out[k] = 0; \
        } \
        *n_topics = m; \
    }
SUBANNEAL_PACK(subanneal_pack_float, float, float, int32_t, 8)
SUBANNEAL_PACK(subanneal_pack_double, double, double, int64_t, 4)

#endif
