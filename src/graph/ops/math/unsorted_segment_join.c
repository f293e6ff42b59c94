/* unsorted_segment_join: the strings of each of num_segments segments joined, in their order, with
 * a separator between them (tf.strings.unsorted_segment_join).
 *
 * A segment without strings is empty, and the separator stands behind what is not empty alone, as
 * in TensorFlow. Fails where a number is no segment, and where the numbers are
 * not of the input's first dimensions. One pass adds lengths, a second writes. No gradient, no
 * locks. */
#include "graph/support/math/segment.h"
#include "graph/support/text/texts.h"

#include <string.h>

struct unsorted_segment_join_args {
    int64_t num_segments;
    char *separator;
};

static const leati_row unsorted_segment_join_rows[] = {
    {.name = "num_segments",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct unsorted_segment_join_args, num_segments),
     .maximum = INT64_MAX,
     .doc = "How many segments there are."},
    {.name = "separator",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct unsorted_segment_join_args, separator),
     .default_text = "",
     .doc = "What stands between two strings."},
    {0},
};

enum { INPUTS, IDS };

static leat_status unsorted_segment_join_infer(leati_infer_call *call, leat_error *err) {
    const struct unsorted_segment_join_args *args = call->args;
    leat_shape shape;
    LEATI_TRY(leati_support_want_dtype(call, INPUTS, LEAT_STRING, "the input", err));
    LEATI_TRY(leati_support_want_index(call, IDS, "segment_ids", err));
    if (call->inputs[IDS].shape.rank == 0)
        return leati_refuse(err, SHAPE, "segment_ids is a scalar; expected one or more dimensions");
    LEATI_TRY(leati_segment_shape(&call->inputs[INPUTS].shape, &call->inputs[IDS].shape,
                                  call->unknown != 0 ? LEAT_UNKNOWN_DIM : args->num_segments,
                                  &shape, err));
    return leati_op_infer_output(call, LEAT_STRING, &shape, NULL, err);
}

static leat_status check_ids(leati_kernel_call *call, int64_t count, leat_error *err) {
    const leati_operand *ids = &call->inputs[IDS];
    for (int64_t row = 0; row < call->n; row++)
        for (int64_t i = 0; i < ids->count; i++) {
            int64_t id = leati_support_index_at(ids, row, i);
            if (id >= 0 && id < count)
                continue;
            call->failed_row = row;
            return leati_fail(err, LEAT_INVALID_ARGUMENT,
                              "segment_ids[%lld] = %lld is out of range [0, %lld)", (long long)i,
                              (long long)id, (long long)count);
        }
    return LEAT_OK;
}

/* One row: each string goes behind those of its segment, `values` strings to a slice. In the first
 * pass, where `to` is NULL, the results' sizes are found. */
static leat_status join_row(const leati_kernel_call *call, int64_t row, int64_t values, char **to,
                            leat_error *err) {
    const struct unsorted_segment_join_args *args = call->args;
    const leati_operand *in = &call->inputs[INPUTS];
    const char *separator = args->separator == NULL ? "" : args->separator;
    const leat_string *from = leati_text_strings_of(in, row);
    leat_string *results = leati_text_strings_of(&call->outputs[0], row);
    size_t between = strlen(separator);
    for (int64_t i = 0; i < in->count; i++) {
        int64_t at =
            leati_support_index_at(&call->inputs[IDS], row, i / values) * values + i % values;
        bool empty = to == NULL ? results[at].size == 0 : to[at] == results[at].data;
        size_t gap = empty ? 0 : between;
        if (to == NULL) {
            if (!leati_add_size(results[at].size, gap, &results[at].size) ||
                !leati_add_size(results[at].size, from[i].size, &results[at].size))
                return leati_no_memory(err);
            continue;
        }
        if (gap > 0)
            memcpy(to[at], separator, gap);
        if (from[i].size > 0)
            memcpy(to[at] + gap, from[i].data, from[i].size);
        to[at] += gap + from[i].size;
    }
    return LEAT_OK;
}

/* Gives each result its bytes out of one piece. */
static leat_status hand_out(leati_kernel_call *call, leat_error *err) {
    const leati_operand *out = &call->outputs[0];
    size_t total = 0;
    for (int64_t row = 0; row < call->n; row++)
        for (int64_t i = 0; i < out->count; i++)
            if (!leati_add_size(total, leati_text_strings_of(out, row)[i].size, &total))
                return leati_no_memory(err);
    char *text = leati_op_kernel_text(call, 0, total, err);
    if (text == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    for (int64_t row = 0; row < call->n; row++)
        for (int64_t i = 0; i < out->count; i++) {
            leat_string *s = leati_text_strings_of(out, row) + i;
            s->data = text;
            text += s->size;
        }
    return LEAT_OK;
}

static leat_status unsorted_segment_join_kernel(leati_kernel_call *call, leat_error *err) {
    const struct unsorted_segment_join_args *args = call->args;
    leat_shape from = leati_support_operand_shape(&call->inputs[INPUTS]), shape;
    leat_shape ids = leati_support_operand_shape(&call->inputs[IDS]);
    if (ids.rank == 0)
        return leati_refuse(err, SHAPE, "segment_ids is a scalar; expected one or more dimensions");
    LEATI_TRY(leati_segment_shape(&from, &ids, args->num_segments, &shape, err));
    LEATI_TRY(check_ids(call, args->num_segments, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    const leati_operand *out = &call->outputs[0];
    if (out->count == 0 || call->n == 0)
        return LEAT_OK;
    size_t size = (size_t)out->count * sizeof(char *);
    char **to = leati_arena_alloc(call->arena, size);
    if (to == NULL)
        return leati_no_memory(err);
    int64_t values = out->count / args->num_segments;
    for (int64_t row = 0; row < call->n; row++) {
        memset(leati_text_strings_of(out, row), 0, (size_t)out->count * sizeof(leat_string));
        LEATI_TRY(join_row(call, row, values, NULL, err));
    }
    LEATI_TRY(hand_out(call, err));
    for (int64_t row = 0; row < call->n; row++) {
        for (int64_t i = 0; i < out->count; i++)
            to[i] = (char *)(uintptr_t)leati_text_strings_of(out, row)[i].data;
        LEATI_TRY(join_row(call, row, values, to, err));
    }
    return LEAT_OK;
}

leat_value leat_op_unsorted_segment_join(leat_value inputs, leat_value segment_ids,
                                         int64_t num_segments, const char *separator) {
    struct unsorted_segment_join_args args = {
        .num_segments = num_segments,
        .separator = (char *)(uintptr_t)(separator != NULL ? separator : "")};
    return leati_graph_build2(&leati_tensor_op_unsorted_segment_join, &args, inputs, segment_ids);
}

const leati_tensor_op leati_tensor_op_unsorted_segment_join = {
    .name = "unsorted_segment_join",
    .version = 1,
    .doc = "The strings of each of num_segments segments joined, in their order "
           "(tf.strings.unsorted_segment_join).",
    .names = "strings.unsorted_segment_join",
    .inputs = "inputs segment_ids",
    .types = "string Tindices",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = unsorted_segment_join_rows,
    .args_size = sizeof(struct unsorted_segment_join_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = unsorted_segment_join_infer,
    .kernel = unsorted_segment_join_kernel,
};
