/* fingerprint: FarmHash's 64-bit fingerprint of each row of the first dimension, as 8 bytes, the
 * lowest first (tf.fingerprint).
 *
 * Of numbers it is that of a row's bytes as they lie; of strings that of the row's one string, or
 * of the fingerprints of several. Fails where the input is a scalar or the method another one. No
 * gradient, no state, no locks. */
#include "file/wire.h"
#include "graph/support/text/texts.h"

#include <string.h>

enum { FINGERPRINT_BYTES = 8 };

struct fingerprint_args {
    char *method;
};

static const leati_row fingerprint_rows[] = {
    {.name = "method",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct fingerprint_args, method),
     .default_text = "farmhash64",
     .doc = "farmhash64."},
    {0},
};

static leat_status fingerprint_infer(leati_infer_call *call, leat_error *err) {
    const struct fingerprint_args *args = call->args;
    const leat_shape *in = &call->inputs[0].shape;
    LEATI_TRY(leati_support_want_values(call, 0, err));
    if (in->rank == 0)
        return leati_refuse(err, SHAPE, "data is a scalar; expected at least one dimension");
    if (strcmp(args->method, "farmhash64") != 0)
        return leati_refuse(err, VALUE, "method is \"%.40s\"; expected farmhash64", args->method);
    const leat_shape out =
        LEAT_SHAPE(in->rank < 0 ? LEAT_UNKNOWN_DIM : in->dims[0], FINGERPRINT_BYTES);
    return leati_op_infer_output(call, LEAT_UINT8, &out, NULL, err);
}

/* Of `count` strings; `scratch` has room for their fingerprints. */
static uint64_t of_strings(const leat_string *strings, int64_t count, uint8_t *scratch) {
    for (int64_t i = 0; i < count; i++) {
        uint64_t found = leati_text_fingerprint((const uint8_t *)strings[i].data, strings[i].size);
        if (count == 1)
            return found;
        leati_wire_store64(scratch + i * FINGERPRINT_BYTES, found);
    }
    return leati_text_fingerprint(scratch, (size_t)count * FINGERPRINT_BYTES);
}

static leat_status fingerprint_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    if (in->rank < 1)
        return leati_refuse(err, SHAPE, "data is a scalar; expected at least one dimension");
    int64_t rows = in->dims[0], each = rows > 0 ? in->count / rows : 0;
    size_t size = (size_t)each * leat_dtype_size(in->dtype), bytes = 0;
    LEATI_TRY(leati_support_output_like(call, 0, &LEAT_SHAPE(rows, FINGERPRINT_BYTES), err));
    if (!leati_mul_size((size_t)each, FINGERPRINT_BYTES, &bytes))
        return leati_no_memory(err);
    uint8_t *scratch = leati_arena_alloc(call->arena, bytes > 0 ? bytes : 1);
    if (scratch == NULL)
        return leati_no_memory(err);
    int64_t done = 0;
    for (int64_t row = 0; row < call->n; row++) {
        const char *from = leati_support_row_of(in, row);
        uint8_t *to = (uint8_t *)leati_support_row_of(out, row);
        for (int64_t i = 0;
             i < rows && !leati_stop_look_after(LEATI_TEXT_WORK + (int64_t)size, &done); i++) {
            const char *at = from + (size_t)i * size;
            uint64_t found = in->dtype == LEAT_STRING
                                 ? of_strings((const leat_string *)(const void *)at, each, scratch)
                                 : leati_text_fingerprint((const uint8_t *)at, size);
            leati_wire_store64(to + i * FINGERPRINT_BYTES, found);
        }
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_fingerprint = {
    .name = "fingerprint",
    .version = 1,
    .doc = "A hash of each row of the first dimension, as 8 bytes (tf.fingerprint).",
    .names = "fingerprint",
    .inputs = "data",
    .types = "T",
    .outputs = "fingerprint",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = fingerprint_rows,
    .args_size = sizeof(struct fingerprint_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = fingerprint_infer,
    .kernel = fingerprint_kernel,
};
