/* string_join: strings one after the other with a separator between them (tf.strings.join).
 *
 * Inputs have one shape, or are scalars that go to every place. Fails where shapes differ. No
 * gradient, no locks. */
#include "graph/support/text/texts.h"

#include <string.h>

struct string_join_args {
    char *separator;
};

static const leati_row string_join_rows[] = {
    {.name = "separator",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct string_join_args, separator),
     .default_text = "",
     .doc = "What stands between two strings."},
    {0},
};

/* Joins the shape `next` of one input into `shape`; a scalar fits everything. */
static leat_status join_shape(leat_shape *shape, const leat_shape *next, int index,
                              leat_error *err) {
    char texts[2][128];
    if (next->rank == 0)
        return LEAT_OK;
    if (shape->rank == 0)
        *shape = *next;
    if (!leati_shape_compatible(shape, next))
        return leati_refuse(
            err, SHAPE, "input %d has shape %s, those before it %s; expected one shape, or scalars",
            index, leati_shape_text(next, texts[0]), leati_shape_text(shape, texts[1]));
    for (int32_t d = 0; d < shape->rank && next->rank >= 0; d++)
        if (shape->dims[d] == LEAT_UNKNOWN_DIM)
            shape->dims[d] = next->dims[d];
    return LEAT_OK;
}

static leat_status string_join_infer(leati_infer_call *call, leat_error *err) {
    leat_shape shape = LEAT_SCALAR;
    bool unknown = false;
    for (int i = 0; i < call->num_inputs; i++) {
        LEATI_TRY(leati_support_want_dtype(call, i, LEAT_STRING, "an input", err));
        unknown = unknown || call->inputs[i].shape.rank < 0;
        /* Once a rank is unknown, the run finds what does not fit. */
        if (!unknown)
            LEATI_TRY(join_shape(&shape, &call->inputs[i].shape, i, err));
    }
    if (unknown)
        shape = (leat_shape){.rank = LEAT_UNKNOWN_RANK};
    return leati_op_infer_output(call, LEAT_STRING, &shape, NULL, err);
}

/* Writes only where there is memory, so that the pass that counts takes the same way. */
static size_t append(char *to, size_t at, const char *bytes, size_t size) {
    if (to != NULL && size > 0)
        leati_stop_copy(to + at, bytes, size);
    return at + size;
}

static size_t joined(const leati_kernel_call *call, int64_t row, int64_t index, char *to) {
    const struct string_join_args *args = call->args;
    const char *separator = args->separator == NULL ? "" : args->separator;
    size_t at = 0, between = strlen(separator);
    for (int i = 0; i < call->num_inputs; i++) {
        const leati_operand *in = &call->inputs[i];
        /* A scalar gives its one string to every place. */
        const leat_string *s = leati_text_strings_of(in, row) + (in->rank == 0 ? 0 : index);
        if (i > 0)
            at = append(to, at, separator, between);
        at = append(to, at, s->data, s->size);
    }
    return at;
}

static leat_status string_join_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = LEAT_SCALAR;
    for (int i = 0; i < call->num_inputs; i++) {
        leat_shape next = leati_support_operand_shape(&call->inputs[i]);
        LEATI_TRY(join_shape(&shape, &next, i, err));
    }
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    return leati_text_write(call, joined, err);
}

const leati_tensor_op leati_tensor_op_string_join = {
    .name = "string_join",
    .version = 1,
    .doc = "Strings one after the other with a separator between them (tf.strings.join).",
    .names = "strings.join",
    .inputs = "*inputs",
    .types = "**string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = string_join_rows,
    .args_size = sizeof(struct string_join_args),
    .min_inputs = 1,
    .max_inputs = -1,
    .infer = string_join_infer,
    .kernel = string_join_kernel,
};
