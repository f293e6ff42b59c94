/* What mixup and cutmix and their stateless forms share: a batch of pictures and its labels, mixed
 * with the same in another order.
 *
 * Numbers are those of Keras' layers: draw k of a call uses the seed [a, b + k]. A stateful form
 * takes a and b from its stream (random.h) and goes on as the stateless one does. */
#ifndef LEATI_GRAPH_SUPPORT_PICTURE_MIX_H
#define LEATI_GRAPH_SUPPORT_PICTURE_MIX_H

#include "graph/support/random/stateless.h"
#include <leat/ops.h>

struct leati_mix_args {
    struct leati_random_args random; /* the stateful forms' seeds */
    double alpha;                    /* mixup */
    leati_floats factor;             /* cutmix */
};

typedef struct leati_mix {
    leat_status (*check)(const struct leati_mix_args *args, leat_error *err);
    /* Mixes the pictures of one batch, in an order of its own, and says what part of each label
     * stays. */
    leat_status (*apply)(leati_kernel_call *call, int64_t row, const int64_t seed[2],
                         int64_t *order, float *weights, leat_error *err);
    bool blends; /* pictures become floats */
} leati_mix;

extern const leati_mix leati_mix_up, leati_mix_cut;

LEAT_WARN_UNUSED leat_status leati_mix_infer(leati_infer_call *call, const leati_mix *mix,
                                             leat_error *err);
/* `op` NULL: the seed is the last input; else the operation whose stream gives it. */
LEAT_WARN_UNUSED leat_status leati_mix_kernel(leati_kernel_call *call, const leati_mix *mix,
                                              const leati_tensor_op *op, leat_error *err);
/* The seed of a row's call: input `index`, or, where `op` is not NULL, two words of its stream. */
LEAT_WARN_UNUSED leat_status leati_mix_seed(const leati_kernel_call *call, int index,
                                            const leati_tensor_op *op, int64_t row, int64_t out[2],
                                            leat_error *err);
/* The stream of draw `k` with a seed. */
leati_philox leati_mix_stream(const int64_t seed[2], int64_t k);
/* Weights of a symmetric beta distribution by draw `k`; `scratch` has room for as many. */
void leati_mix_weights(const int64_t seed[2], int64_t k, float alpha, int64_t count, float *to,
                       float *scratch);
/* Fills `outputs` and returns 2, or -1; either `seed` or `number`, which may be NULL. */
int leati_mix_build(const leati_tensor_op *op, struct leati_mix_args *args, leat_value images,
                    leat_value labels, const leat_value *seed, const int64_t *number,
                    leat_value *outputs);

#endif
