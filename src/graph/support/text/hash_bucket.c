/* Numbers of strings by a hash; see hash_bucket.h. No state, no locks. */
#include "graph/support/text/hash_bucket.h"

#include "graph/support/text/texts.h"

leat_status leati_hash_bucket_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the input", err));
    return leati_op_infer_output(call, LEAT_INT64, &call->inputs[0].shape, NULL, err);
}

leat_status leati_hash_bucket_kernel(leati_kernel_call *call,
                                     uint64_t (*hash)(const struct leati_hash_bucket_args *args,
                                                      const uint8_t *data, size_t size),
                                     leat_error *err) {
    const struct leati_hash_bucket_args *args = call->args;
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n; row++) {
        const leat_string *strings = leati_text_strings_of(in, row);
        int64_t *to = (int64_t *)(void *)leati_support_row_of(out, row);
        for (int64_t i = 0; i < in->count; i++)
            to[i] = (int64_t)(hash(args, (const uint8_t *)strings[i].data, strings[i].size) %
                              (uint64_t)args->num_buckets);
    }
    return LEAT_OK;
}
