/* rand_augment, stateless_rand_augment: a few random distortions of pictures one after the other
 * (keras.layers.RandAugment).
 *
 * What is drawn goes on from call to call, see random.h; of the stateless form the seed decides.
 * See support/picture/policy.c, also for failures. No gradient. No state, no locks. */
#include "graph/support/picture/policy.h"

static const leati_row rows[] = {LEATI_POLICY_ROWS, LEATI_SEED_ROWS};

static leat_status kernel(leati_kernel_call *call, leat_error *err) {
    return leati_policy_kernel(call, &leati_tensor_op_rand_augment, err);
}

static const leati_row stateless_rows[] = {LEATI_POLICY_ROWS, {0}};

static leat_status stateless_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_policy_kernel(call, NULL, err);
}

const leati_tensor_op leati_tensor_op_rand_augment = {
    .name = "rand_augment",
    .version = 1,
    .doc = "A few random distortions of pictures one after the other, as float32 "
           "(tf.keras.layers.RandAugment).",
    .names = "image.rand_augment",
    .inputs = "images",
    .signature = "images value_range num_ops factor interpolation seed masks",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = rows,
    .args_size = sizeof(struct leati_policy_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_COSTLY | LEATI_RANDOM,
    .infer = leati_policy_infer,
    .complete = leati_random_complete,
    .kernel = kernel,
};

const leati_tensor_op leati_tensor_op_stateless_rand_augment = {
    .name = "stateless_rand_augment",
    .version = 1,
    .doc = "A few random distortions of pictures one after the other, as float32 "
           "(tf.keras.layers.RandAugment).",
    .names = "image.stateless_rand_augment",
    .inputs = "images seed",
    .signature = "images seed value_range num_ops factor interpolation masks",
    .types = "T Tseed",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = stateless_rows,
    .args_size = sizeof(struct leati_policy_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_COSTLY,
    .infer = leati_policy_infer,
    .kernel = stateless_kernel,
};
