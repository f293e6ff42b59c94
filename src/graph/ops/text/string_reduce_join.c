/* string_reduce_join: strings joined along the named dimensions, or all, with a separator between
 * them (tf.strings.reduce_join).
 *
 * Of several named dimensions the first moves fastest; where none is named that is the last. Fails
 * where an axis is outside the input or named twice. No gradient, no locks. */
#include "graph/support/math/reduce.h"
#include "graph/support/text/texts.h"

#include <string.h>

struct string_reduce_join_args {
    struct leati_reduce_args reduce;
    char *separator;
};

static const leati_row string_reduce_join_rows[] = {
    {.name = "axis",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_NONE | LEATI_TENSOR,
     .offset = offsetof(struct string_reduce_join_args, reduce.axis),
     .doc = "The dimensions to join along; none named: all."},
    {.name = "keepdims",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct string_reduce_join_args, reduce.keepdims),
     .doc = "Leave joined dimensions as 1."},
    {.name = "separator",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct string_reduce_join_args, separator),
     .default_text = "",
     .doc = "What stands between two strings."},
    {0},
};

static leat_status string_reduce_join_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the input", err));
    return leati_reduce_infer_as(call, LEAT_STRING, err);
}

/* The place in the input of number `number` over the dimensions `order`, the first of which moves
 * fastest. */
static int64_t place_of(const leati_operand *in, const int32_t *order, int32_t count,
                        int64_t number) {
    leat_shape shape = leati_support_operand_shape(in);
    int64_t steps[LEAT_MAX_RANK], place = 0;
    leati_support_dense_steps(&shape, 1, steps);
    for (int32_t i = 0; i < count; i++) {
        place += number % in->dims[order[i]] * steps[order[i]];
        number /= in->dims[order[i]];
    }
    return place;
}

/* The joined dimensions as they move, then those that stay, the last of which moves fastest. The
 * axes have been checked. */
static int32_t order_of(const leati_ints *axes, int32_t rank, int32_t *order) {
    bool joined[LEAT_MAX_RANK] = {0};
    int32_t count = 0, end;
    for (int32_t i = 0; i < axes->count; i++) {
        int64_t axis = axes->values[i];
        order[count] = (int32_t)(axis < 0 ? axis + rank : axis);
        joined[order[count++]] = true;
    }
    /* No list at all means every dimension, an empty one none: each value stays alone. */
    if (axes->values == NULL)
        for (int32_t d = rank - 1; d >= 0; d--)
            order[count++] = d;
    end = count;
    for (int32_t d = rank - 1; d >= 0 && axes->values != NULL; d--)
        if (!joined[d])
            order[end++] = d;
    return count;
}

static size_t joined_text(const leati_kernel_call *call, int64_t row, int64_t index, char *to) {
    const struct string_reduce_join_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    const char *separator = args->separator == NULL ? "" : args->separator;
    const leat_string *strings = leati_text_strings_of(in, row);
    size_t between = strlen(separator), at = 0;
    int32_t order[LEAT_MAX_RANK];
    int32_t joined = order_of(&args->reduce.axis, in->rank, order);
    int64_t count = 1;
    for (int32_t i = 0; i < joined; i++)
        count *= in->dims[order[i]];
    /* Of no strings the result is empty; place_of would divide by 0. */
    if (count == 0)
        return 0;
    /* Where the first string lies; the others are found from there, along the joined dimensions. */
    int64_t start = place_of(in, order + joined, in->rank - joined, index);
    int64_t step = joined == 1 ? 1 : 0; /* along one dimension strings lie evenly */
    for (int32_t d = joined == 1 ? order[0] + 1 : in->rank; d < in->rank; d++)
        step *= in->dims[d];
    for (int64_t i = 0; i < count; i++) {
        const leat_string *s =
            &strings[start + (joined == 1 ? i * step : place_of(in, order, joined, i))];
        if (to != NULL && i > 0 && between > 0)
            memcpy(to + at, separator, between);
        at += i > 0 ? between : 0;
        if (to != NULL && s->size > 0)
            memcpy(to + at, s->data, s->size);
        at += s->size;
    }
    return at;
}

static leat_status string_reduce_join_kernel(leati_kernel_call *call, leat_error *err) {
    const struct string_reduce_join_args *args = call->args;
    leat_shape in = leati_support_operand_shape(&call->inputs[0]);
    bool mask[LEAT_MAX_RANK];
    LEATI_TRY(leati_reduce_mask(&args->reduce.axis, in.rank, mask, err));
    leat_shape shape = leati_reduce_shape(&in, mask, args->reduce.keepdims);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    return leati_text_write(call, joined_text, err);
}

const leati_tensor_op leati_tensor_op_string_reduce_join = {
    .name = "string_reduce_join",
    .version = 1,
    .doc = "Strings joined along the named dimensions, or all (tf.strings.reduce_join).",
    .names = "strings.reduce_join",
    .inputs = "inputs",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = string_reduce_join_rows,
    .args_size = sizeof(struct string_reduce_join_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = string_reduce_join_infer,
    .kernel = string_reduce_join_kernel,
};
