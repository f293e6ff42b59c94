/* Flatten: all dimensions but the batch's become one (keras.layers.Flatten).
 *
 * With channels first, the values are put into the order of channels last before that, as Keras
 * does. Failures: more than one unknown dimension. No state, no locks. */
#include "core/spec.h"
#include "graph/support/support.h"
#include "train/frame/layer.h"
#include <string.h>

struct flatten_args {
    char *name; /* first: struct leati_layer_args */
    char *data_format;
};

static const leati_row flatten_rows[] = {
    {.name = "data_format",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct flatten_args, data_format),
     .doc = "\"channels_last\", the default, or \"channels_first\"."},
    {.name = "name",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct flatten_args, name),
     .doc = "Name of the layer."},
    {0},
};

static leat_status flatten_check(const void *arguments, leat_error *err) {
    return leati_layer_check_data_format(((const struct flatten_args *)arguments)->data_format,
                                         err);
}

static leat_value flatten_call(const leati_pass *pass) {
    const struct flatten_args *args = pass->args;
    leat_value input = pass->inputs[0];
    leat_shape shape = leat_value_shape(input), row = {.rank = shape.rank - 1};
    if (leati_layer_channels_first(args->data_format) && shape.rank > 2) {
        int64_t order[LEAT_MAX_RANK] = {0};
        for (int32_t d = 1; d < shape.rank; d++)
            /* Channels, dimension 1, go last. */
            order[d] = d + 1 < shape.rank ? d + 1 : 1;
        input = leat_op_transpose(input, order, shape.rank);
    }
    memcpy(row.dims, shape.dims + 1, (size_t)row.rank * sizeof row.dims[0]);
    int64_t size = leati_shape_count(&row), flat[2] = {shape.dims[0], size};
    /* An empty batch cannot tell a reshape how large a computed dimension is, so as much as is
     * known stays a number. */
    if (size < 0 && shape.dims[0] < 0)
        return leati_support_build_error(input.graph, LEAT_REASON_SHAPE,
                                         "only the batch's dimension may be unknown");
    return leat_op_reshape(input, flat, 2);
}

leat_layer *leat_layer_flatten(const char *name, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    const struct flatten_args args = {.name = leati_kind_borrow_text(name)};
    return leati_layer_new(&leati_layer_flatten, &args, err);
}

const leati_layer_kind leati_layer_flatten = {
    .kind =
        {
            .name = "Flatten",
            .doc = "All dimensions but the batch's as one (keras.layers.Flatten).",
            .rows = flatten_rows,
            .signature = "data_format",
            .args_size = sizeof(struct flatten_args),
            .check = flatten_check,
        },
    .prefix = "flatten",
    .min_rank = 1,
    .expects = "[batch, ...]",
    .call = flatten_call,
};
