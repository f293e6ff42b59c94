/* string_to_hash_bucket: a number from 0 to num_buckets - 1 for each string
 * (tf.strings.to_hash_bucket).
 *
 * It is the remainder of the 64-bit MurmurHash2 under TensorFlow's seed; programs that are free to
 * choose take string_to_hash_bucket_fast. Fails in inference on other dtypes than string. No
 * gradient, no locks. */
#include "graph/ops/texts.h"

#include "file/wire.h"

struct string_to_hash_bucket_args {
    int64_t num_buckets;
};

static const leati_row string_to_hash_bucket_rows[] = {
    {.name = "num_buckets",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct string_to_hash_bucket_args, num_buckets),
     .minimum = 1,
     .maximum = INT64_MAX,
     .doc = "How many numbers there are, at least 1."},
    {0},
};

static uint64_t hash(const uint8_t *at, size_t size) {
    const uint64_t by = UINT64_C(0xc6a4a7935bd1e995), seed = UINT64_C(0xDECAFCAFFE);
    uint64_t sum = seed ^ ((uint64_t)size * by);
    for (; size >= 8; size -= 8, at += 8) {
        uint64_t word = leati_load64(at) * by;
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

static leat_status string_to_hash_bucket_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_want_dtype(call, 0, LEAT_STRING, "the input", err));
    return leati_infer_output(call, LEAT_INT64, &call->inputs[0].shape, NULL, err);
}

static leat_status string_to_hash_bucket_kernel(leati_kernel_call *call, leat_error *err) {
    const struct string_to_hash_bucket_args *args = call->args;
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape shape = leati_operand_shape(in);
    LEATI_TRY(leati_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n; row++) {
        const leat_string *strings = leati_strings_of(in, row);
        int64_t *to = (int64_t *)(void *)leati_row_of(out, row);
        for (int64_t i = 0; i < in->count; i++)
            to[i] = (int64_t)(hash((const uint8_t *)strings[i].data, strings[i].size) %
                              (uint64_t)args->num_buckets);
    }
    return LEAT_OK;
}

leat_value leat_string_to_hash_bucket(leat_value input, int64_t num_buckets) {
    struct string_to_hash_bucket_args args = {.num_buckets = num_buckets};
    return leati_op1(&leati_tensor_op_string_to_hash_bucket, &args, input);
}

const leati_tensor_op leati_tensor_op_string_to_hash_bucket = {
    .name = "string_to_hash_bucket",
    .version = 1,
    .doc = "A number below num_buckets for each string (tf.strings.to_hash_bucket).",
    .names = "strings.to_hash_bucket",
    .inputs = "input",
    .rows = string_to_hash_bucket_rows,
    .args_size = sizeof(struct string_to_hash_bucket_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = string_to_hash_bucket_infer,
    .kernel = string_to_hash_bucket_kernel,
};
