/* A program of one positive rate, as BridgeStan compiles it: the part of its interface in C that StanDensity reaches.
   The rate has the prior Gamma(2, 1), and is that of the Poisson counts 3, 5, 2, 4. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int bs_major_version = 2, bs_minor_version = 9, bs_patch_version = 0;
static int model;

void *bs_model_construct(const char *data, unsigned seed, char **error) { return &model; }
void bs_model_destruct(void *m) {}
void bs_free_error_msg(char *message) { free(message); }
int bs_set_print_callback(void *callback, char **error) { return 0; }
const char *bs_name(void *m) { return "counts_model"; }
const char *bs_model_info(void *m) { return ""; }
const char *bs_param_names(void *m, bool tp, bool gq) { return "rate"; }
const char *bs_param_unc_names(void *m) { return "rate"; }
int bs_param_num(void *m, bool tp, bool gq) { return 1; }
int bs_param_unc_num(void *m) { return 1; }

int bs_param_constrain(void *m, bool tp, bool gq, const double *z, double *out, void *rng, char **error) {
    out[0] = exp(z[0]);
    return 0;
}

int bs_log_density_gradient(void *m, bool propto, bool jacobian, const double *z, double *value, double *gradient,
                            char **error) {
    double rate = exp(z[0]);
    if (rate > 1e3) {
        *error = strdup("poisson_lpmf: Rate parameter is too large");
        return 1;
    }
    /* The factorials of the counts are 6, 120, 2 and 24. */
    *value = 16.0 * z[0] - 5.0 * rate - (propto ? 0.0 : log(6.0 * 120.0 * 2.0 * 24.0)) - (jacobian ? 0.0 : z[0]);
    if (gradient) gradient[0] = 16.0 - 5.0 * rate - (jacobian ? 0.0 : 1.0);
    return 0;
}

int bs_log_density(void *m, bool propto, bool jacobian, const double *z, double *value, char **error) {
    return bs_log_density_gradient(m, propto, jacobian, z, value, 0, error);
}

int bs_param_unconstrain() { return 1; }
int bs_param_unconstrain_json() { return 1; }
int bs_param_initialize() { return 1; }
int bs_log_density_hessian() { return 1; }
int bs_log_density_hessian_vector_product() { return 1; }
void *bs_rng_construct(unsigned seed, char **error) { return &model; }
void bs_rng_destruct(void *rng) {}
