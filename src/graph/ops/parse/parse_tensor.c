/* parse_tensor: the tensor that the bytes of TensorFlow's message say (tf.io.parse_tensor).
 *
 * Its shape is data, so rows run one at a time; strings are views of the input's bytes. Fails in a
 * run where the bytes are no such message or the dtype is another. No gradient, no locks. */
#include "file/tensor_proto.h"
#include "graph/support/text/texts.h"

struct parse_tensor_args {
    leat_dtype out_type;
};

static const leati_row parse_tensor_rows[] = {
    {.name = "out_type",
     .type = LEATI_ROW_DTYPE,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct parse_tensor_args, out_type),
     .doc = "The dtype of the tensor; a message of another fails."},
    {0},
};

static leat_status parse_tensor_infer(leati_infer_call *call, leat_error *err) {
    const struct parse_tensor_args *args = call->args;
    leat_shape unknown = {.rank = LEAT_UNKNOWN_RANK};
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the message", err));
    LEATI_TRY(leati_support_want_rank(call, 0, 0, "the message", err));
    if (args->out_type <= LEAT_INVALID || args->out_type == LEAT_OBJECT)
        return leati_refuse(err, DTYPE, "out_type is %s; expected one of values",
                            leat_dtype_name(args->out_type));
    return leati_op_infer_output(call, args->out_type, &unknown, NULL, err);
}

/* TensorFlow calls bytes that are no message an invalid argument. */
static leat_status refuse(leat_status status, leat_error *err) {
    if (status != LEAT_DATA_LOSS)
        return status;
    err->code = LEAT_INVALID_ARGUMENT;
    return LEAT_INVALID_ARGUMENT;
}

static leat_status parse_tensor_kernel(leati_kernel_call *call, leat_error *err) {
    const struct parse_tensor_args *args = call->args;
    const leat_string *bytes = leati_text_strings_of(&call->inputs[0], 0);
    leati_tensor_proto proto;
    if (call->inputs[0].rank != 0)
        return leati_refuse(err, SHAPE, "the messages are a tensor of rank %d; expected rank 0",
                            (int)call->inputs[0].rank);
    const uint8_t *data = (const uint8_t *)bytes->data;
    leati_wire message = {.at = data, .end = bytes->size > 0 ? data + bytes->size : data};
    LEATI_TRY(refuse(leati_tensor_proto_read(message, &proto, err), err));
    /* The graph was built with this dtype. */
    if (proto.dtype != args->out_type)
        return leati_refuse(err, DTYPE, "type mismatch between parsed tensor (%s) and dtype (%s)",
                            leat_dtype_name(proto.dtype), leat_dtype_name(args->out_type));
    LEATI_TRY(leati_support_output_like(call, 0, &proto.shape, err));
    if (proto.count > 0)
        LEATI_TRY(refuse(leati_tensor_proto_values(&proto, call->outputs[0].data, err), err));
    return leati_support_hold_strings(call, 0, err);
}

const leati_tensor_op leati_tensor_op_parse_tensor = {
    .name = "parse_tensor",
    .version = 1,
    .doc = "The tensor that the bytes of TensorFlow's message say (tf.io.parse_tensor).",
    .names = "io.parse_tensor",
    .inputs = "serialized",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = parse_tensor_rows,
    .args_size = sizeof(struct parse_tensor_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = parse_tensor_infer,
    .kernel = parse_tensor_kernel,
};
