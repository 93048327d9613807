/* subanneal_times_lower: out = lower @ x for a lower triangular matrix, row-major with leading dimension d, whose upper
   triangle is 0.

   The additions of one sum have to wait for each other, and compilers do not reorder them. So each row has eight sums
   side by side, and four rows are computed at once: they share the loads of x. As vectors of GCC's (and clang's) own
   extension the sums stay in registers; other compilers, and the baseline build, get the same bits from loops. */
#ifndef SUBANNEAL_LOWER_TRIANGLE_H
#define SUBANNEAL_LOWER_TRIANGLE_H

#include "Python.h"

#include "sklearn_subanneal/_core/multiversion.h"

#define SUBANNEAL_SUM_OF_EIGHT(s) ((((s)[0] + (s)[4]) + ((s)[2] + (s)[6])) + (((s)[1] + (s)[5]) + ((s)[3] + (s)[7])))

#if defined(__GNUC__) && !defined(SUBANNEAL_BASELINE)
typedef double subanneal_eight __attribute__((vector_size(64)));
typedef double subanneal_loose_eight __attribute__((vector_size(64), aligned(8), may_alias));
#  define SUBANNEAL_ADD_EIGHT(sum, row, y) sum += *(const subanneal_loose_eight*) (row) * y
#  define SUBANNEAL_LOAD_EIGHT(y, x) subanneal_eight y = *(const subanneal_loose_eight*) (x)
#  define SUBANNEAL_EIGHT(sum) subanneal_eight sum = {0}
#else
#  define SUBANNEAL_ADD_EIGHT(sum, row, y) for (int lane = 0; lane < 8; lane++) sum[lane] += (row)[lane] * y[lane]
#  define SUBANNEAL_LOAD_EIGHT(y, x) const double* y = x
#  define SUBANNEAL_EIGHT(sum) double sum[8] = {0}
#endif

SUBANNEAL_MULTIVERSION
static void subanneal_times_lower(const double* lower, const double* x, double* out, Py_ssize_t d) {
    Py_ssize_t i = 0;
    for (; i + 4 <= d; i += 4) {
        const double* row = lower + i * d;
        Py_ssize_t c = 0, end = i + 4;
        SUBANNEAL_EIGHT(one);
        SUBANNEAL_EIGHT(two);
        SUBANNEAL_EIGHT(three);
        SUBANNEAL_EIGHT(four);
        for (; c + 8 <= end; c += 8) {
            SUBANNEAL_LOAD_EIGHT(y, x + c);
            SUBANNEAL_ADD_EIGHT(one, row + c, y);
            SUBANNEAL_ADD_EIGHT(two, row + d + c, y);
            SUBANNEAL_ADD_EIGHT(three, row + 2 * d + c, y);
            SUBANNEAL_ADD_EIGHT(four, row + 3 * d + c, y);
        }
        for (Py_ssize_t lane = 0; c < end; lane++, c++) {
            one[lane] += row[c] * x[c];
            two[lane] += row[d + c] * x[c];
            three[lane] += row[2 * d + c] * x[c];
            four[lane] += row[3 * d + c] * x[c];
        }
        out[i] = SUBANNEAL_SUM_OF_EIGHT(one);
        out[i + 1] = SUBANNEAL_SUM_OF_EIGHT(two);
        out[i + 2] = SUBANNEAL_SUM_OF_EIGHT(three);
        out[i + 3] = SUBANNEAL_SUM_OF_EIGHT(four);
    }
    for (; i < d; i++) {
        const double* row = lower + i * d;
        Py_ssize_t c = 0;
        SUBANNEAL_EIGHT(one);
        for (; c + 8 <= i + 1; c += 8) {
            SUBANNEAL_LOAD_EIGHT(y, x + c);
            SUBANNEAL_ADD_EIGHT(one, row + c, y);
        }
        for (Py_ssize_t lane = 0; c <= i; lane++, c++) one[lane] += row[c] * x[c];
        out[i] = SUBANNEAL_SUM_OF_EIGHT(one);
    }
}

#endif
