/* Made by tools/builders.py from the tables of src/graph/ops: make builders. */
#include "graph/build.h"
#include <leat/ops/random.h>

leat_value leat_op_random_categorical(leat_value logits, int64_t num_samples, leat_dtype dtype,
                                      const int64_t *seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_categorical, NULL);
    leati_build_input(&build, logits);
    leati_build_int(&build, "num_samples", num_samples);
    leati_build_dtype(&build, "dtype", dtype);
    leati_build_seed(&build, "seed", seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_gamma(leat_value alpha, int64_t num_samples, const int64_t *seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_gamma, NULL);
    leati_build_input(&build, alpha);
    leati_build_int(&build, "num_samples", num_samples);
    leati_build_seed(&build, "seed", seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_normal(leat_graph *graph, leat_shape shape,
                                 const leat_op_random_normal_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_normal, graph);
    leati_build_shape(&build, "shape", shape);
    leat_op_random_normal_options own = {LEAT_OP_RANDOM_NORMAL_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options, "leat_op_random_normal_options");
    leati_build_float(&build, "mean", own.mean);
    leati_build_float(&build, "stddev", own.stddev);
    leati_build_dtype(&build, "dtype", own.dtype);
    leati_build_seed(&build, "seed", own.seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_poisson(leat_value lam, int64_t num_samples, const int64_t *seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_poisson, NULL);
    leati_build_input(&build, lam);
    leati_build_int(&build, "num_samples", num_samples);
    leati_build_seed(&build, "seed", seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_shuffle(leat_value value, const int64_t *seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_shuffle, NULL);
    leati_build_input(&build, value);
    leati_build_seed(&build, "seed", seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_truncated_normal(leat_graph *graph, leat_shape shape,
                                           const leat_op_random_truncated_normal_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_truncated_normal, graph);
    leati_build_shape(&build, "shape", shape);
    leat_op_random_truncated_normal_options own = {LEAT_OP_RANDOM_TRUNCATED_NORMAL_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options,
                        "leat_op_random_truncated_normal_options");
    leati_build_float(&build, "mean", own.mean);
    leati_build_float(&build, "stddev", own.stddev);
    leati_build_dtype(&build, "dtype", own.dtype);
    leati_build_seed(&build, "seed", own.seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_uniform(leat_graph *graph, leat_shape shape,
                                  const leat_op_random_uniform_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_uniform, graph);
    leati_build_shape(&build, "shape", shape);
    leat_op_random_uniform_options own = {LEAT_OP_RANDOM_UNIFORM_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options, "leat_op_random_uniform_options");
    leati_build_float(&build, "minval", own.minval);
    leati_build_float(&build, "maxval", own.maxval);
    leati_build_dtype(&build, "dtype", own.dtype);
    leati_build_seed(&build, "seed", own.seed);
    return leati_build_end(&build);
}

leat_value leat_op_seed_fold_in(leat_value seed, leat_value data, const char *alg) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_seed_fold_in, NULL);
    leati_build_input(&build, seed);
    leati_build_input(&build, data);
    leati_build_text(&build, "alg", alg);
    return leati_build_end(&build);
}

leat_value leat_op_seed_split(leat_value seed, int64_t num, const char *alg) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_seed_split, NULL);
    leati_build_input(&build, seed);
    leati_build_int(&build, "num", num);
    leati_build_text(&build, "alg", alg);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_binomial(leat_value seed, leat_value counts, leat_value probs,
                                      int64_t num_samples) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_binomial, NULL);
    leati_build_input(&build, seed);
    leati_build_input(&build, counts);
    leati_build_input(&build, probs);
    leati_build_int(&build, "num_samples", num_samples);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_categorical(leat_value logits, int64_t num_samples, leat_value seed,
                                         leat_dtype dtype) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_categorical, NULL);
    leati_build_input(&build, logits);
    leati_build_input(&build, seed);
    leati_build_int(&build, "num_samples", num_samples);
    leati_build_dtype(&build, "dtype", dtype);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_gamma(leat_value seed, leat_value alpha, int64_t num_samples) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_gamma, NULL);
    leati_build_input(&build, seed);
    leati_build_input(&build, alpha);
    leati_build_int(&build, "num_samples", num_samples);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_integers(leat_value seed, leat_shape shape, leat_dtype dtype,
                                      const char *alg) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_integers, NULL);
    leati_build_input(&build, seed);
    leati_build_shape(&build, "shape", shape);
    leati_build_dtype(&build, "dtype", dtype);
    leati_build_text(&build, "alg", alg);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_normal(leat_shape shape, leat_value seed,
                                    const leat_op_stateless_normal_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_normal, NULL);
    leati_build_input(&build, seed);
    leati_build_shape(&build, "shape", shape);
    leat_op_stateless_normal_options own = {LEAT_OP_STATELESS_NORMAL_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options, "leat_op_stateless_normal_options");
    leati_build_float(&build, "mean", own.mean);
    leati_build_float(&build, "stddev", own.stddev);
    leati_build_dtype(&build, "dtype", own.dtype);
    leati_build_text(&build, "alg", own.alg);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_poisson(leat_value seed, leat_value lam, int64_t num_samples) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_poisson, NULL);
    leati_build_input(&build, seed);
    leati_build_input(&build, lam);
    leati_build_int(&build, "num_samples", num_samples);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_shuffle(leat_value value, leat_value seed, const char *alg) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_shuffle, NULL);
    leati_build_input(&build, value);
    leati_build_input(&build, seed);
    leati_build_text(&build, "alg", alg);
    return leati_build_end(&build);
}

leat_value
leat_op_stateless_truncated_normal(leat_shape shape, leat_value seed,
                                   const leat_op_stateless_truncated_normal_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_truncated_normal, NULL);
    leati_build_input(&build, seed);
    leati_build_shape(&build, "shape", shape);
    leat_op_stateless_truncated_normal_options own = {LEAT_OP_STATELESS_TRUNCATED_NORMAL_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options,
                        "leat_op_stateless_truncated_normal_options");
    leati_build_float(&build, "mean", own.mean);
    leati_build_float(&build, "stddev", own.stddev);
    leati_build_dtype(&build, "dtype", own.dtype);
    leati_build_text(&build, "alg", own.alg);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_uniform(leat_shape shape, leat_value seed,
                                     const leat_op_stateless_uniform_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_uniform, NULL);
    leati_build_input(&build, seed);
    leati_build_shape(&build, "shape", shape);
    leat_op_stateless_uniform_options own = {LEAT_OP_STATELESS_UNIFORM_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options, "leat_op_stateless_uniform_options");
    leati_build_float(&build, "minval", own.minval);
    leati_build_float(&build, "maxval", own.maxval);
    leati_build_dtype(&build, "dtype", own.dtype);
    leati_build_text(&build, "alg", own.alg);
    return leati_build_end(&build);
}

/* clang-format off */
LEATI_BUILDER_2(rng_skip)
/* clang-format on */
