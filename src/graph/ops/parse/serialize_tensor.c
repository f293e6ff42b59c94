/* serialize_tensor: a tensor as the bytes of TensorFlow's message, a scalar string
 * (tf.io.serialize_tensor).
 *
 * Numbers stand as they lie in memory, strings one by one, as TensorFlow writes them. Fails in
 * inference on objects, without memory in a run. No gradient, no locks. */
#include "base/bytes.h"
#include "file/tensor_proto.h"
#include "graph/support/text/texts.h"

#include <string.h>

static leat_status serialize_tensor_infer(leati_infer_call *call, leat_error *err) {
    leat_shape scalar = LEAT_SCALAR;
    LEATI_TRY(leati_support_want_values(call, 0, err));
    return leati_op_infer_output(call, LEAT_STRING, &scalar, NULL, err);
}

/* Strings: dtype, shape and a field for each. */
static void put_strings(leati_writer *out, const leat_shape *shape, const leat_string *values,
                        int64_t count) {
    leati_writer inner = {0};
    leati_tensor_proto_put_number_field(out, 1, leati_tensor_proto_of_dtype(LEAT_STRING));
    leati_tensor_proto_put_shape(&inner, shape);
    leati_tensor_proto_put_field(out, 2, inner.data, inner.size);
    out->failed = out->failed || inner.failed;
    leati_writer_fini(&inner);
    for (int64_t i = 0; i < count; i++)
        /* TensorProto: 1 dtype, 2 tensor_shape, 8 string_val. */
        leati_tensor_proto_put_field(out, 8, values[i].data, values[i].size);
}

static leat_status put_row(leati_kernel_call *call, int64_t row, leati_writer *out,
                           leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    if (in->dtype == LEAT_STRING)
        put_strings(out, &shape, leati_text_strings_of(in, row), in->count);
    else
        LEATI_TRY(
            leati_tensor_proto_put(out, in->dtype, &shape, leati_support_row_of(in, row), err));
    if (out->failed)
        return leati_no_memory(err);
    /* Built in a growing buffer, as the length is known behind the last field; then copied once. */
    char *to = leati_op_kernel_text(call, 0, out->size, err);
    if (to == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    memcpy(to, out->data, out->size);
    *leati_text_strings_of(&call->outputs[0], row) = (leat_string){.data = to, .size = out->size};
    return LEAT_OK;
}

static leat_status serialize_tensor_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape scalar = LEAT_SCALAR;
    leat_status status = leati_support_output_like(call, 0, &scalar, err);
    for (int64_t row = 0; row < call->n && status == LEAT_OK; row++) {
        leati_writer out = {0};
        status = put_row(call, row, &out, err);
        leati_writer_fini(&out);
    }
    return status;
}

const leati_tensor_op leati_tensor_op_serialize_tensor = {
    .name = "serialize_tensor",
    .version = 1,
    .doc = "A tensor as the bytes of TensorFlow's message (tf.io.serialize_tensor).",
    .names = "io.serialize_tensor",
    .inputs = "tensor",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = serialize_tensor_infer,
    .kernel = serialize_tensor_kernel,
};
