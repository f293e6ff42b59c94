/* Made by tools/builders.py from the tables of src/graph/ops: make builders. */
/* Builders of tensor operations: random numbers; see leat/ops.h. */
#ifndef LEAT_OPS_RANDOM_H
#define LEAT_OPS_RANDOM_H

#include <leat/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Classes drawn by their unnormalised logarithms (tf.random.categorical).
 * `num_samples`: how many classes to draw for each row.
 * `dtype`: the dtype of the classes: int32 or int64; by default "int64".
 * `seed`: the operation's seed; NULL: not given. */
LEAT_API leat_value leat_op_random_categorical(leat_value logits, int64_t num_samples,
                                               leat_dtype dtype, const int64_t *seed);

/* Numbers of the gamma distribution with these shapes (tf.random.gamma).
 * `num_samples`: how many numbers to draw for each parameter.
 * `seed`: the operation's seed; NULL: not given. */
LEAT_API leat_value leat_op_random_gamma(leat_value alpha, int64_t num_samples,
                                         const int64_t *seed);

typedef struct leat_op_random_normal_options {
    size_t size; /* set by the macro below */
    /* The mean; by default 0.0. */
    double mean;
    /* The standard deviation; by default 1.0. */
    double stddev;
    /* Float16, bfloat16, float32 or float64; of uniform numbers also int32 or int64; by default
     * "float32". */
    leat_dtype dtype;
    /* The operation's seed; NULL: not given. */
    const int64_t *seed;
} leat_op_random_normal_options;
#define LEAT_OP_RANDOM_NORMAL_DEFAULTS                                                             \
    .size = sizeof(leat_op_random_normal_options), .stddev = 1.0, .dtype = LEAT_FLOAT32
/* Random floats of a normal distribution (tf.random.normal).
 * `shape`: the shape of the result, without unknown dimensions.
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_random_normal(leat_graph *graph, leat_shape shape,
                                          const leat_op_random_normal_options *options);

/* Numbers of the Poisson distribution with these rates (tf.random.poisson).
 * `num_samples`: how many numbers to draw for each parameter.
 * `seed`: the operation's seed; NULL: not given. */
LEAT_API leat_value leat_op_random_poisson(leat_value lam, int64_t num_samples,
                                           const int64_t *seed);

/* Rows, along the first dimension, in a random order (tf.random.shuffle).
 * `seed`: the operation's seed; NULL: not given. */
LEAT_API leat_value leat_op_random_shuffle(leat_value value, const int64_t *seed);

typedef struct leat_op_random_truncated_normal_options {
    size_t size; /* set by the macro below */
    /* The mean; by default 0.0. */
    double mean;
    /* The standard deviation; by default 1.0. */
    double stddev;
    /* Float16, bfloat16, float32 or float64; of uniform numbers also int32 or int64; by default
     * "float32". */
    leat_dtype dtype;
    /* The operation's seed; NULL: not given. */
    const int64_t *seed;
} leat_op_random_truncated_normal_options;
#define LEAT_OP_RANDOM_TRUNCATED_NORMAL_DEFAULTS                                                   \
    .size = sizeof(leat_op_random_truncated_normal_options), .stddev = 1.0, .dtype = LEAT_FLOAT32
/* Random floats of a normal distribution without its tails (tf.random.truncated_normal).
 * `shape`: the shape of the result, without unknown dimensions.
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_random_truncated_normal(
    leat_graph *graph, leat_shape shape, const leat_op_random_truncated_normal_options *options);

typedef struct leat_op_random_uniform_options {
    size_t size; /* set by the macro below */
    /* The lowest value; by default 0.0. */
    double minval;
    /* The end of the range, not reached; by default 1.0. */
    double maxval;
    /* Float16, bfloat16, float32 or float64; of uniform numbers also int32 or int64; by default
     * "float32". */
    leat_dtype dtype;
    /* The operation's seed; NULL: not given. */
    const int64_t *seed;
} leat_op_random_uniform_options;
#define LEAT_OP_RANDOM_UNIFORM_DEFAULTS                                                            \
    .size = sizeof(leat_op_random_uniform_options), .maxval = 1.0, .dtype = LEAT_FLOAT32
/* Random numbers in [minval, maxval) (tf.random.uniform).
 * `shape`: the shape of the result, without unknown dimensions.
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_random_uniform(leat_graph *graph, leat_shape shape,
                                           const leat_op_random_uniform_options *options);

/* The state of a generator after some values more (tf.random.Generator.skip). */
LEAT_API leat_value leat_op_rng_skip(leat_value state, leat_value delta);

/* A seed of another and an integer (tf.random.fold_in).
 * `alg`: the algorithm: philox, or auto_select, which is the same; by default "auto_select". */
LEAT_API leat_value leat_op_seed_fold_in(leat_value seed, leat_value data, const char *alg);

/* Many seeds of one (tf.random.split).
 * `num`: how many seeds; by default 2.
 * `alg`: the algorithm: philox, or auto_select, which is the same; by default "auto_select". */
LEAT_API leat_value leat_op_seed_split(leat_value seed, int64_t num, const char *alg);

/* Numbers of the binomial distribution of a seed (tf.random.stateless_binomial).
 * `num_samples`: how many numbers to draw for each parameter. */
LEAT_API leat_value leat_op_stateless_binomial(leat_value seed, leat_value counts, leat_value probs,
                                               int64_t num_samples);

/* Classes drawn by their unnormalised logarithms (tf.random.stateless_categorical).
 * `num_samples`: how many classes to draw for each row.
 * `dtype`: the dtype of the classes: int32 or int64; by default "int64". */
LEAT_API leat_value leat_op_stateless_categorical(leat_value logits, int64_t num_samples,
                                                  leat_value seed, leat_dtype dtype);

/* Numbers of the gamma distribution of a seed (tf.random.stateless_gamma).
 * `num_samples`: how many numbers to draw for each parameter. */
LEAT_API leat_value leat_op_stateless_gamma(leat_value seed, leat_value alpha, int64_t num_samples);

/* Integers of all bits of a seed (tf.random.stateless_uniform without bounds).
 * `shape`: the shape of the result, without unknown dimensions.
 * `dtype`: int32, int64, uint32 or uint64; by default "int32".
 * `alg`: the algorithm: philox, or auto_select, which is the same; by default "auto_select". */
LEAT_API leat_value leat_op_stateless_integers(leat_value seed, leat_shape shape, leat_dtype dtype,
                                               const char *alg);

typedef struct leat_op_stateless_normal_options {
    size_t size; /* set by the macro below */
    /* The mean; by default 0.0. */
    double mean;
    /* The standard deviation; by default 1.0. */
    double stddev;
    /* Float16, bfloat16, float32 or float64; of uniform numbers also int32 or int64; by default
     * "float32". */
    leat_dtype dtype;
    /* The algorithm: philox, or auto_select, which is the same; by default "auto_select". */
    const char *alg;
} leat_op_stateless_normal_options;
#define LEAT_OP_STATELESS_NORMAL_DEFAULTS                                                          \
    .size = sizeof(leat_op_stateless_normal_options), .stddev = 1.0, .dtype = LEAT_FLOAT32
/* Random floats of a normal distribution of a seed (tf.random.stateless_normal).
 * `shape`: the shape of the result, without unknown dimensions.
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_stateless_normal(leat_shape shape, leat_value seed,
                                             const leat_op_stateless_normal_options *options);

/* Numbers of the Poisson distribution of a seed (tf.random.stateless_poisson).
 * `num_samples`: how many numbers to draw for each parameter. */
LEAT_API leat_value leat_op_stateless_poisson(leat_value seed, leat_value lam, int64_t num_samples);

/* Rows, along the first dimension, in the order of a seed
 * (tf.random.experimental.stateless_shuffle).
 * `alg`: the algorithm: philox, or auto_select, which is the same; by default "auto_select". */
LEAT_API leat_value leat_op_stateless_shuffle(leat_value value, leat_value seed, const char *alg);

typedef struct leat_op_stateless_truncated_normal_options {
    size_t size; /* set by the macro below */
    /* The mean; by default 0.0. */
    double mean;
    /* The standard deviation; by default 1.0. */
    double stddev;
    /* Float16, bfloat16, float32 or float64; of uniform numbers also int32 or int64; by default
     * "float32". */
    leat_dtype dtype;
    /* The algorithm: philox, or auto_select, which is the same; by default "auto_select". */
    const char *alg;
} leat_op_stateless_truncated_normal_options;
#define LEAT_OP_STATELESS_TRUNCATED_NORMAL_DEFAULTS                                                \
    .size = sizeof(leat_op_stateless_truncated_normal_options), .stddev = 1.0, .dtype = LEAT_FLOAT32
/* Random floats of a normal distribution without its tails of a seed
 * (tf.random.stateless_truncated_normal).
 * `shape`: the shape of the result, without unknown dimensions.
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_stateless_truncated_normal(
    leat_shape shape, leat_value seed, const leat_op_stateless_truncated_normal_options *options);

typedef struct leat_op_stateless_uniform_options {
    size_t size; /* set by the macro below */
    /* The lowest value; by default 0.0. */
    double minval;
    /* The end of the range, not reached; by default 1.0. */
    double maxval;
    /* Float16, bfloat16, float32 or float64; of uniform numbers also int32 or int64; by default
     * "float32". */
    leat_dtype dtype;
    /* The algorithm: philox, or auto_select, which is the same; by default "auto_select". */
    const char *alg;
} leat_op_stateless_uniform_options;
#define LEAT_OP_STATELESS_UNIFORM_DEFAULTS                                                         \
    .size = sizeof(leat_op_stateless_uniform_options), .maxval = 1.0, .dtype = LEAT_FLOAT32
/* Random numbers in [minval, maxval) of a seed (tf.random.stateless_uniform).
 * `shape`: the shape of the result, without unknown dimensions.
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_stateless_uniform(leat_shape shape, leat_value seed,
                                              const leat_op_stateless_uniform_options *options);

#ifdef __cplusplus
}
#endif
#endif
