/* What random operations share whose seed is a value: its stream, and the kernel of floats.
 *
 * A seed has two integers, which are scrambled into key and counter as TensorFlow does it; three
 * int64 are the state of a tf.random.Generator, which is counter and key already. */
#ifndef LEATI_GRAPH_SUPPORT_RANDOM_STATELESS_H
#define LEATI_GRAPH_SUPPORT_RANDOM_STATELESS_H

#include "graph/support/random/random.h"

/* Input `index` must be a seed. `with_state`: or a generator's state. */
LEAT_WARN_UNUSED leat_status leati_stateless_want_seed(const leati_infer_call *call, int index,
                                                       bool with_state, leat_error *err);
/* The stream of the seed in input `index`, or also of a state. INVALID_ARGUMENT where it is none.
 */
LEAT_WARN_UNUSED leat_status leati_stateless_stream(const leati_kernel_call *call, int index,
                                                    bool with_state, int64_t row, leati_philox *out,
                                                    leat_error *err);

LEAT_WARN_UNUSED leat_status leati_stateless_infer(leati_infer_call *call, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_stateless_floats(leati_kernel_call *call,
                                                    leati_distribution distribution,
                                                    leat_error *err);
/* A node of a float operation; low and high as for its random sister. */
leat_value leati_stateless_build(leat_value seed, const leati_tensor_op *op, leat_shape shape,
                                 leat_dtype dtype, double low, double high);

/* Row `alg` alone: TensorFlow's argument, which changes nothing here. */
#define LEATI_ALG_ROW                                                                              \
    {                                                                                              \
        .name = "alg", .type = LEATI_ROW_STRING,                                                   \
        .offset = offsetof(struct leati_random_args, alg), .default_text = "auto_select",          \
        .doc = "The algorithm: philox, or auto_select, which is the same."                         \
    }
/* INVALID_ARGUMENT for other algorithms, as on TensorFlow's CPU. */
LEAT_WARN_UNUSED leat_status leati_stateless_check_alg(const struct leati_random_args *args,
                                                       leat_error *err);

#endif
