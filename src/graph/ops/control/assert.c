/* assert: values passed on where a condition holds (tf.debugging.Assert). Inputs: condition, then
 * the values; as many outputs as values.
 *
 * Values that nothing uses are not checked, unless `ordered`: the check is part of what it guards,
 * so it needs no state and runs on any thread. An ordered one stands between effects as written.
 * Fails with the attribute's code and message at the first row where the condition does not hold.
 * No locks. */
#include "graph/support/support.h"

#include <string.h>

struct assert_args {
    char *message, *code;
    bool ordered;
};

static const leati_row assert_rows[] = {
    {.name = "message",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct assert_args, message),
     .default_text = "assertion failed",
     .doc = "The text of the failure."},
    {.name = "code",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct assert_args, code),
     .default_text = "INVALID_ARGUMENT",
     .doc = "The status of the failure, by gRPC's name."},
    {.name = "ordered",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct assert_args, ordered),
     .doc = "Whether it is checked in the order of the program, and if nothing uses the values."},
    {0},
};

/* The status of that name; OK for any other text. */
static leat_status code_of(const char *name) {
    for (int code = LEAT_CANCELLED; code <= LEAT_UNAUTHENTICATED; code++)
        if (name != NULL && strcmp(name, leat_status_name((leat_status)code)) == 0)
            return (leat_status)code;
    return LEAT_OK;
}

static leat_status assert_infer(leati_infer_call *call, leat_error *err) {
    const struct assert_args *args = call->args;
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_BOOL, "the condition", err));
    if (code_of(args->code) == LEAT_OK)
        return leati_refuse(err, VALUE,
                            "code is \"%s\"; expected the name of a failure, such as OUT_OF_RANGE",
                            args->code == NULL ? "" : args->code);
    for (int i = 1; i < call->num_inputs; i++)
        LEATI_TRY(leati_op_infer_output(call, call->inputs[i].dtype, &call->inputs[i].shape,
                                        call->inputs[i].element, err));
    return LEAT_OK;
}

static leat_status assert_kernel(leati_kernel_call *call, leat_error *err) {
    const struct assert_args *args = call->args;
    const leati_operand *condition = &call->inputs[0];
    for (int64_t row = 0; row < call->n; row++) {
        /* A condition of any shape holds where no byte of it is 0; one without values holds. */
        if (condition->count == 0 ||
            memchr(leati_support_row_of(condition, row), 0, (size_t)condition->count) == NULL)
            continue;
        call->failed_row = row;
        return leati_fail(err, code_of(args->code), "%s",
                          args->message != NULL ? args->message : "");
    }
    for (int i = 1; i < call->num_inputs; i++) {
        const leati_operand *in = &call->inputs[i];
        /* A view is all that is needed: nobody gets the values before the check has passed. */
        LEATI_TRY(leati_op_kernel_view(call, i - 1, in->rank, in->dims, in->data, in->row_stride,
                                       in->owner, err));
    }
    return LEAT_OK;
}

static leat_status assert_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    for (int i = 1; i < call->num_inputs; i++)
        call->input_gradients[i] = call->output_gradients[i - 1];
    return LEAT_OK;
}

/* An ordered check counts as an effect, which is never dropped or reordered. */
static uint32_t assert_flags(const void *node_args) {
    return ((const struct assert_args *)node_args)->ordered ? LEATI_STATEFUL : 0;
}

leat_value leat_op_assert(leat_value condition, leat_value value, leat_status code,
                          const char *message) {
    /* The node copies its arguments; the casts take away const for as long. */
    struct assert_args args = {.message = (char *)(uintptr_t)(message != NULL ? message : ""),
                               .code = (char *)(uintptr_t)leat_status_name(code)};
    return leati_graph_build2(&leati_tensor_op_assert, &args, condition, value);
}

const leati_tensor_op leati_tensor_op_assert = {
    .name = "assert",
    .version = 1,
    .doc = "Values passed on where a condition holds, else a failure "
           "(tf.debugging.Assert).",
    .types = "*",
    .outputs = "*outputs",
    .halves = LEATI_HALVES_OWN,
    .rows = assert_rows,
    .args_size = sizeof(struct assert_args),
    .min_inputs = 2,
    .max_inputs = -1,
    .infer = assert_infer,
    .kernel = assert_kernel,
    .gradient = assert_gradient,
    .node_flags = assert_flags,
};
