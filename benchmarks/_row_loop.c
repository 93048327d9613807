/* What a C programmer would write: Gibbs sweeps over the rows of a table of reals and categories, for one table only.

   No missing cells, types or priors to choose from, and room for MOST clusters. As in the package, coefficients are
   float32, and the predictive density of a real is Student's t; gamma ratios and logarithms of counts are tabulated. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST 256
#define LEVELS 5

typedef struct {
    float location[MOST], precision[MOST], power[MOST], constant[MOST];
    double count[MOST], total[MOST], square[MOST];
} Real;

typedef struct {
    float logs[LEVELS][MOST], total[MOST];
    int32_t count[LEVELS][MOST];
} Category;

typedef struct {
    int64_t n_rows, n_real, n_category, n_clusters, padded;
    const float* cells;    /* [n_real][n_rows] */
    const int8_t* codes;   /* [n_category][n_rows] */
    int32_t* labels;       /* -1: not assigned */
    Real* real;
    Category* category;
    float *ratio, *log_count, *log_total, weight[MOST];
    int64_t size[MOST];
    uint64_t state;
} Table;

static const double MU = 0.0, KAPPA = 0.1, SIGMA2 = 0.1, NU = 2.0;

static void refresh(Table* t, Real* r, int64_t k) {
    double n = r->count[k], kappa = KAPPA + n, nu = NU + n, mean = (KAPPA * MU + r->total[k]) / kappa;
    double spread = NU * SIGMA2 + r->square[k] + KAPPA * MU * MU - kappa * mean * mean;
    double precision = 1.0 / (spread * (1.0 + 1.0 / kappa));
    r->location[k] = (float) mean;
    r->precision[k] = (float) precision;
    r->power[k] = (float) (0.5 * (nu + 1.0));
    r->constant[k] = t->ratio[(int64_t) n] + 0.5f * logf((float) precision);
}

static void change(Table* t, int64_t row, int64_t k, int sign) {
    t->size[k] += sign;
    t->weight[k] = logf((float) t->size[k]);
    for (int64_t j = 0; j < t->n_real; j++) {
        Real* r = t->real + j;
        double x = t->cells[j * t->n_rows + row];
        r->count[k] += sign;
        r->total[k] += sign * x;
        r->square[k] += sign * x * x;
        refresh(t, r, k);
    }
    for (int64_t j = 0; j < t->n_category; j++) {
        Category* c = t->category + j;
        int code = t->codes[j * t->n_rows + row];
        c->count[code][k] += sign;
        c->logs[code][k] = t->log_count[c->count[code][k]];
        c->total[k] = t->log_total[t->size[k]];
    }
}

static void score(const Table* t, int64_t row, float* restrict scores) {
    int64_t n = t->padded;
    for (int64_t k = 0; k < n; k++) scores[k] = t->weight[k];
    for (int64_t j = 0; j < t->n_real; j++) {
        const Real* r = t->real + j;
        float x = t->cells[j * t->n_rows + row];
        for (int64_t k = 0; k < n; k++) {
            float d = x - r->location[k];
            scores[k] += r->constant[k] - r->power[k] * logf(1.0f + d * d * r->precision[k]);
        }
    }
    for (int64_t j = 0; j < t->n_category; j++) {
        const Category* c = t->category + j;
        const float* logs = c->logs[t->codes[j * t->n_rows + row]];
        for (int64_t k = 0; k < n; k++) scores[k] += logs[k] - c->total[k];
    }
}

static int64_t drawn(Table* t, float* scores) {
    float top = scores[0], total = 0.0f, sum = 0.0f;
    for (int64_t k = 1; k < t->padded; k++) top = scores[k] > top ? scores[k] : top;
    for (int64_t k = 0; k < t->padded; k++) {
        scores[k] = expf(scores[k] - top);
        total += scores[k];
    }
    t->state = t->state * 6364136223846793005u + 1442695040888963407u;
    float u = (float) (t->state >> 40) * 0x1p-24f * total;
    for (int64_t k = 0; k < t->n_clusters; k++)
        if ((sum += scores[k]) > u) return k;
    return t->n_clusters - 1;
}

Table* new_table(int64_t n_rows, int64_t n_real, int64_t n_category, int64_t n_clusters, const float* cells,
                 const int8_t* codes, int32_t* labels) {
    Table* t = calloc(1, sizeof(Table));
    *t = (Table) {n_rows, n_real, n_category, n_clusters, (n_clusters + 15) / 16 * 16, cells, codes, labels};
    t->real = aligned_alloc(64, sizeof(Real) * (n_real + 1));
    t->category = aligned_alloc(64, sizeof(Category) * (n_category + 1));
    memset(t->real, 0, sizeof(Real) * (n_real + 1));
    memset(t->category, 0, sizeof(Category) * (n_category + 1));
    float** tables[] = {&t->ratio, &t->log_count, &t->log_total};
    for (int i = 0; i < 3; i++) *tables[i] = malloc((n_rows + 1) * sizeof(float));
    for (int64_t n = 0; n <= n_rows; n++) {
        t->ratio[n] = (float) (lgamma(0.5 * (NU + n + 1.0)) - lgamma(0.5 * (NU + n)) - 0.5 * log(M_PI));
        t->log_count[n] = logf(1.0f + n);
        t->log_total[n] = logf((float) LEVELS + n);
    }
    for (int64_t k = 0; k < MOST; k++) {
        t->weight[k] = -1e30f;
        for (int64_t j = 0; j < n_real; j++) refresh(t, t->real + j, k);
    }
    t->state = 1;
    for (int64_t row = 0; row < n_rows; row++)
        if (labels[row] >= 0) change(t, row, labels[row], 1);
    return t;
}

/* Scores of all rows in all clusters, and nothing else; returns their sum so that they are computed. */
float score_all(Table* t) {
    float scores[MOST] __attribute__((aligned(64))), sum = 0.0f;
    for (int64_t row = 0; row < t->n_rows; row++) {
        score(t, row, scores);
        sum += scores[0];
    }
    return sum;
}

/* For each i, rows[i] leaves its cluster if `leaving[i]` >= 0, and row `entering[i]` enters one that is drawn. */
void exchange(Table* t, const int32_t* leaving, const int32_t* entering, int64_t n) {
    float scores[MOST] __attribute__((aligned(64)));
    for (int64_t i = 0; i < n; i++) {
        if (leaving[i] >= 0) {
            change(t, leaving[i], t->labels[leaving[i]], -1);
            t->labels[leaving[i]] = -1;
        }
        if (entering[i] >= 0) {
            score(t, entering[i], scores);
            int64_t k = drawn(t, scores);
            change(t, entering[i], k, 1);
            t->labels[entering[i]] = (int32_t) k;
        }
    }
}

/* The log predictive density of a row in its own cluster k, without the row. */
static float score_without(const Table* t, int64_t row, int64_t k) {
    float sum = logf((float) t->size[k] - 1.0f);
    for (int64_t j = 0; j < t->n_real; j++) {
        const Real* r = t->real + j;
        double x = t->cells[j * t->n_rows + row], n = r->count[k] - 1.0, kappa = KAPPA + n, nu = NU + n;
        double mean = (KAPPA * MU + r->total[k] - x) / kappa;
        double spread = NU * SIGMA2 + r->square[k] - x * x + KAPPA * MU * MU - kappa * mean * mean;
        float precision = (float) (1.0 / (spread * (1.0 + 1.0 / kappa))), d = (float) (x - mean);
        sum += t->ratio[(int64_t) n] + 0.5f * logf(precision);
        sum -= (float) (0.5 * (nu + 1.0)) * logf(1.0f + d * d * precision);
    }
    for (int64_t j = 0; j < t->n_category; j++) {
        const Category* c = t->category + j;
        sum += t->log_count[c->count[t->codes[j * t->n_rows + row]][k] - 1] - t->log_total[t->size[k] - 1];
    }
    return sum;
}

/* A sweep over all rows; statistics change only where a label does. No cluster may become empty. */
void gibbs(Table* t) {
    float scores[MOST] __attribute__((aligned(64)));
    for (int64_t row = 0; row < t->n_rows; row++) {
        int64_t old = t->labels[row], k;
        if (t->size[old] == 1) continue;
        score(t, row, scores);
        scores[old] = score_without(t, row, old);
        k = drawn(t, scores);
        if (k != old) {
            change(t, row, old, -1);
            change(t, row, k, 1);
            t->labels[row] = (int32_t) k;
        }
    }
}

void free_table(Table* t) {
    free(t->real);
    free(t->category);
    free(t->ratio);
    free(t->log_count);
    free(t->log_total);
    free(t);
}
