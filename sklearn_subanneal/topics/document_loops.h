/* The two inner loops over the words of a document, each for float and double and for every vector instruction set.

   The weights of a document's words are stored in blocks of one to four vectors of words. A block has the weights of
   its n_vectors * LANES words in topic 0, then those in topic 1, and so on: a loop over some of the topics skips the
   others at no cost, and the lanes of a vector are summed only once for each topic.

   subanneal_gather: a vector of words of a block, from rows with the weights of one word each, transposed.

   subanneal_sweep: the normalisers of the words of a block and, while it is in the cache, their sums into the topics.
   GCC does not keep sums in registers that are written as loops over lanes, so they are vectors by its own extension
   (which clang has too). Other compilers, and the baseline build, get the same bits from the loops over lanes. */
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
#define SUBANNEAL_SUM_floats(x) ((((x)[0] + (x)[2]) + ((x)[1] + (x)[3])) + (((x)[4] + (x)[6]) + ((x)[5] + (x)[7])))
#define SUBANNEAL_SUM_doubles(x) (((x)[0] + (x)[2]) + ((x)[1] + (x)[3]))
#ifdef SUBANNEAL_VECTORS
typedef float subanneal_floats __attribute__((vector_size(32)));
typedef float subanneal_loose_floats __attribute__((vector_size(32), aligned(4), may_alias));
typedef int subanneal_floats_mask __attribute__((vector_size(32)));
typedef double subanneal_doubles __attribute__((vector_size(32)));
typedef double subanneal_loose_doubles __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long subanneal_doubles_mask __attribute__((vector_size(32)));
#define SUBANNEAL_LOW_floats(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define SUBANNEAL_HIGH_floats(a, b) __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define SUBANNEAL_LOW_PAIRS(a, b) __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define SUBANNEAL_HIGH_PAIRS(a, b) __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define SUBANNEAL_LOW_HALVES(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define SUBANNEAL_HIGH_HALVES(a, b) __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)
/* Eight rows of eight topics each, in x, become eight topics of eight words each. */
#define SUBANNEAL_TRANSPOSE_floats(x) \
    subanneal_floats y[8]; \
    for (int i = 0; i < 8; i += 2) { \
        y[i] = SUBANNEAL_LOW_floats(x[i], x[i + 1]); \
        y[i + 1] = SUBANNEAL_HIGH_floats(x[i], x[i + 1]); \
    } \
    for (int i = 0; i < 8; i += 4) { \
        x[i] = SUBANNEAL_LOW_PAIRS(y[i], y[i + 2]); \
        x[i + 1] = SUBANNEAL_HIGH_PAIRS(y[i], y[i + 2]); \
        x[i + 2] = SUBANNEAL_LOW_PAIRS(y[i + 1], y[i + 3]); \
        x[i + 3] = SUBANNEAL_HIGH_PAIRS(y[i + 1], y[i + 3]); \
    } \
    for (int i = 0; i < 4; i++) { \
        y[i] = SUBANNEAL_LOW_HALVES(x[i], x[i + 4]); \
        y[i + 4] = SUBANNEAL_HIGH_HALVES(x[i], x[i + 4]); \
    } \
    for (int i = 0; i < 8; i++) x[i] = y[i];
#define SUBANNEAL_TRANSPOSE_doubles(x) \
    subanneal_doubles y[4]; \
    for (int i = 0; i < 4; i += 2) { \
        y[i] = __builtin_shufflevector(x[i], x[i + 1], 0, 4, 2, 6); \
        y[i + 1] = __builtin_shufflevector(x[i], x[i + 1], 1, 5, 3, 7); \
    } \
    for (int i = 0; i < 2; i++) { \
        x[i] = __builtin_shufflevector(y[i], y[i + 2], 0, 1, 4, 5); \
        x[i + 2] = __builtin_shufflevector(y[i], y[i + 2], 2, 3, 6, 7); \
    }
/* The larger of two vectors, number by number. */
#define SUBANNEAL_LARGER(KIND, x, least) \
    ((subanneal_##KIND) (((x > least) & (subanneal_##KIND##_mask) x) \
                         | (~(x > least) & (subanneal_##KIND##_mask) least)))
#define SUBANNEAL_GATHER_VECTORS(REAL, KIND, LANES) \
    subanneal_##KIND floor = least - (subanneal_##KIND) {0}; \
    for (; k + LANES <= n_topics; k += LANES) { \
        subanneal_##KIND x[LANES]; \
        for (int i = 0; i < LANES; i++) { \
            subanneal_##KIND loaded = *(const subanneal_loose_##KIND*) ((const REAL*) rows[i] + k); \
            x[i] = SUBANNEAL_LARGER(KIND, loaded, floor); \
        } \
        SUBANNEAL_TRANSPOSE_##KIND(x) \
        for (int i = 0; i < LANES; i++) *(subanneal_loose_##KIND*) (out + (k + i) * stride) = x[i]; \
    }
/* The sums of the lanes of each topic. */
#define SUBANNEAL_ACROSS(REAL, KIND, LANES) \
    for (Py_ssize_t j = 0; j < padded; j += LANES) { \
        subanneal_##KIND x[LANES]; \
        for (int i = 0; i < LANES; i++) x[i] = *(const subanneal_loose_##KIND*) (lanes + (j + i) * LANES); \
        SUBANNEAL_TRANSPOSE_##KIND(x) \
        *(subanneal_loose_##KIND*) (totals + j) = SUBANNEAL_SUM_##KIND(x); \
    }
#define SUBANNEAL_WEIGHTS(KIND, LANES, N) \
    const subanneal_loose_##KIND* p = (const subanneal_loose_##KIND*) (table + active[j] * N * LANES);
#define SUBANNEAL_BLOCKS(REAL, KIND, LANES, N) \
    for (Py_ssize_t block = 0; block < n_blocks; block++, table += stride, v += N * LANES) { \
        subanneal_##KIND ratio[N], norm[N], least = tiny - (subanneal_##KIND) {0}; \
        for (int i = 0; i < N; i++) norm[i] = (subanneal_##KIND) {0}; \
        for (Py_ssize_t j = 0; j < n_active; j++) { \
            SUBANNEAL_WEIGHTS(KIND, LANES, N) \
            for (int i = 0; i < N; i++) norm[i] += factors[j] * p[i]; \
        } \
        for (int i = 0; i < N; i++) { \
            ratio[i] = scale * *(const subanneal_loose_##KIND*) (counts + v + i * LANES) \
                     / SUBANNEAL_LARGER(KIND, norm[i], least); \
            *(subanneal_loose_##KIND*) (ratios + v + i * LANES) = ratio[i]; \
        } \
        if (totals) for (Py_ssize_t j = 0; j < n_active; j++) { \
            SUBANNEAL_WEIGHTS(KIND, LANES, N) \
            subanneal_##KIND sum = *(const subanneal_loose_##KIND*) (lanes + j * LANES); \
            for (int i = 0; i < N; i++) sum += ratio[i] * p[i]; \
            *(subanneal_loose_##KIND*) (lanes + j * LANES) = sum; \
        } \
    }
#else
#define SUBANNEAL_ACROSS(REAL, KIND, LANES) \
    for (Py_ssize_t j = 0; j < padded; j++) { \
        const REAL* x = lanes + j * LANES; \
        totals[j] = SUBANNEAL_SUM_##KIND(x); \
    }
#define SUBANNEAL_GATHER_VECTORS(REAL, KIND, LANES)
#define SUBANNEAL_BLOCKS(REAL, KIND, LANES, N) \
    for (Py_ssize_t block = 0; block < n_blocks; block++, table += stride, v += N * LANES) { \
        REAL ratio[N * LANES] = {0}; \
        for (Py_ssize_t j = 0; j < n_active; j++) \
            for (int i = 0; i < N * LANES; i++) ratio[i] += factors[j] * table[active[j] * N * LANES + i]; \
        for (int i = 0; i < N * LANES; i++) \
            ratios[v + i] = ratio[i] = scale * counts[v + i] / (ratio[i] > tiny ? ratio[i] : tiny); \
        if (totals) for (Py_ssize_t j = 0; j < n_active; j++) \
            for (int i = 0; i < N * LANES; i++) \
                lanes[j * LANES + i % LANES] += ratio[i] * table[active[j] * N * LANES + i]; \
    }
#endif
#define SUBANNEAL_SWEEP(NAME, REAL, KIND, LANES) \
    static SUBANNEAL_MULTIVERSION void NAME( \
        const REAL* table, const REAL* counts, Py_ssize_t n_blocks, Py_ssize_t n_vectors, Py_ssize_t n_topics, \
        const int32_t* active, Py_ssize_t n_active, const REAL* factors, REAL scale, REAL tiny, REAL* ratios, \
        REAL* lanes, REAL* totals \
    ) { \
        Py_ssize_t v = 0, padded = (n_active + 7) & ~(Py_ssize_t) 7, stride = n_topics * n_vectors * LANES; \
        if (totals) for (Py_ssize_t i = 0; i < padded * LANES; i++) lanes[i] = 0; \
        if (n_vectors == 4) { SUBANNEAL_BLOCKS(REAL, KIND, LANES, 4) } \
        else if (n_vectors == 3) { SUBANNEAL_BLOCKS(REAL, KIND, LANES, 3) } \
        else if (n_vectors == 2) { SUBANNEAL_BLOCKS(REAL, KIND, LANES, 2) } \
        else { SUBANNEAL_BLOCKS(REAL, KIND, LANES, 1) } \
        if (totals) { SUBANNEAL_ACROSS(REAL, KIND, LANES) } \
    }
SUBANNEAL_SWEEP(subanneal_sweep_float, float, floats, 8)
SUBANNEAL_SWEEP(subanneal_sweep_double, double, doubles, 4)

#define SUBANNEAL_GATHER(NAME, REAL, KIND, LANES) \
    static SUBANNEAL_MULTIVERSION void NAME( \
        void** rows, Py_ssize_t n_topics, REAL least, Py_ssize_t stride, REAL* out \
    ) { \
        Py_ssize_t k = 0; \
        SUBANNEAL_GATHER_VECTORS(REAL, KIND, LANES) \
        for (; k < n_topics; k++) \
            for (int i = 0; i < LANES; i++) { \
                REAL weight = ((const REAL*) rows[i])[k]; \
                out[k * stride + i] = weight > least ? weight : least; \
            } \
    }
SUBANNEAL_GATHER(subanneal_gather_float, float, floats, 8)
SUBANNEAL_GATHER(subanneal_gather_double, double, doubles, 4)

#endif
