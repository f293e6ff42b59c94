/* string_to_hash_bucket: a number from 0 to num_buckets - 1 for each string
 * (tf.strings.to_hash_bucket).
 *
 * It is the remainder of the 64-bit MurmurHash2 under TensorFlow's seed; programs that are free to
 * choose take string_to_hash_bucket_fast. Fails in inference on other dtypes than string. No
 * gradient, no locks. */
#include "graph/support/text/hash_bucket.h"

#include "file/wire.h"

static const leati_row string_to_hash_bucket_rows[] = {
    LEATI_HASH_BUCKET_ROW,
    {0},
};

static uint64_t hash(const struct leati_hash_bucket_args *args, const uint8_t *at, size_t size) {
    (void)args;
    const uint64_t by = UINT64_C(0xc6a4a7935bd1e995), seed = UINT64_C(0xDECAFCAFFE);
    uint64_t sum = seed ^ ((uint64_t)size * by);
    for (; size >= 8; size -= 8, at += 8) {
        uint64_t word = leati_wire_load64(at) * by;
        word = (word ^ word >> 47) * by;
        sum = (sum ^ word) * by;
    }
    for (size_t i = 0; i < size; i++)
        sum ^= (uint64_t)at[i] << (8 * i);
    if (size > 0)
        sum *= by;
    sum = (sum ^ sum >> 47) * by;
    return sum ^ sum >> 47;
}

static leat_status string_to_hash_bucket_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_hash_bucket_kernel(call, hash, err);
}

leat_value leat_op_string_to_hash_bucket(leat_value input, int64_t num_buckets) {
    struct leati_hash_bucket_args args = {.num_buckets = num_buckets};
    return leati_graph_build1(&leati_tensor_op_string_to_hash_bucket, &args, input);
}

const leati_tensor_op leati_tensor_op_string_to_hash_bucket = {
    .name = "string_to_hash_bucket",
    .version = 1,
    .doc = "A number below num_buckets for each string (tf.strings.to_hash_bucket).",
    .names = "strings.to_hash_bucket",
    .inputs = "input",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = string_to_hash_bucket_rows,
    .args_size = sizeof(struct leati_hash_bucket_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = leati_hash_bucket_infer,
    .kernel = string_to_hash_bucket_kernel,
};
