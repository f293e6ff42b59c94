/* sequence_mask: for each length a vector that is true, or 1, at as many places from the front
 * (tf.sequence_mask).
 *
 * Without `maxlen` the vectors are as long as the largest length: that is data, so rows run one at
 * a time. Fails where `maxlen` is negative, and on lengths that are no int32 or int64. No gradient,
 * no state, no locks. */
#include "base/minmax.h"
#include "graph/support/array/moving.h"

#include <string.h>

struct sequence_mask_args {
    int64_t maxlen;
    leat_dtype dtype;
};

static const leati_row sequence_mask_rows[] = {
    {.name = "maxlen",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE | LEATI_TENSOR,
     .offset = offsetof(struct sequence_mask_args, maxlen),
     .default_number = (double)INT64_MIN,
     .maximum = INT64_MAX,
     .doc = "How long each vector is; none: as long as the largest length."},
    {.name = "dtype",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct sequence_mask_args, dtype),
     .default_number = LEAT_BOOL,
     .doc = "The dtype of the result, a number or bool."},
    {0},
};

static leat_status masks_shape(const leat_shape *lengths, int64_t maxlen, leat_shape *out,
                               leat_error *err) {
    if (lengths->rank >= LEAT_MAX_RANK)
        return leati_refuse(err, SHAPE, "the rank would be %d; expected at most %d",
                            (int)lengths->rank + 1, LEAT_MAX_RANK);
    *out = *lengths;
    out->dims[out->rank++] = maxlen;
    return LEAT_OK;
}

static leat_status sequence_mask_infer(leati_infer_call *call, leat_error *err) {
    const struct sequence_mask_args *args = call->args;
    const leat_shape *lengths = &call->inputs[0].shape;
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    /* None is a negative number as well: the longest length is not known here. */
    bool known = call->unknown == 0 && args->maxlen >= 0;
    LEATI_TRY(leati_support_want_index(call, 0, "the lengths", err));
    if (args->dtype <= LEAT_INVALID || args->dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "dtype is %s; expected a number or bool",
                            leat_dtype_name(args->dtype));
    if (lengths->rank >= 0)
        LEATI_TRY(masks_shape(lengths, known ? args->maxlen : LEAT_UNKNOWN_DIM, &shape, err));
    return leati_op_infer_output(call, args->dtype, &shape, NULL, err);
}

/* Of row 0, which is the only one: without `maxlen` the shape is data, so rows run
 * one at a time. */
static int64_t longest(const leati_operand *lengths) {
    int64_t most = 0;
    for (int64_t i = 0; i < lengths->count; i++) {
        int64_t length = leati_support_index_at(lengths, 0, i);
        most = LEATI_MAX(length, most);
    }
    return most;
}

/* One row: each step is a mask. */
typedef struct mask_work {
    const leati_operand *lengths, *out;
    const char *one;
    int64_t row, maxlen;
    size_t size;
} mask_work;

static void mask_steps(void *data, int64_t begin, int64_t end) {
    const mask_work *w = data;
    for (int64_t i = begin; i < end; i++) {
        char *to = leati_support_row_of(w->out, w->row) + (size_t)(i * w->maxlen) * w->size;
        /* A negative length masks nothing, as in TensorFlow. */
        int64_t length = LEATI_MAX(leati_support_index_at(w->lengths, w->row, i), 0);
        length = LEATI_MIN(length, w->maxlen);
        leati_moving_fill(to, length, w->one, w->size);
        memset(to + (size_t)length * w->size, 0, (size_t)(w->maxlen - length) * w->size);
    }
}

static leat_status sequence_mask_kernel(leati_kernel_call *call, leat_error *err) {
    const struct sequence_mask_args *args = call->args;
    const leati_operand *lengths = &call->inputs[0], *out = &call->outputs[0];
    leat_shape in = leati_support_operand_shape(lengths), shape = {0};
    int64_t maxlen = args->maxlen == INT64_MIN ? longest(lengths) : args->maxlen;
    _Alignas(8) char one[16] = {0};
    if (maxlen < 0)
        return leati_refuse(err, VALUE, "maxlen is %lld; expected 0 or more", (long long)maxlen);
    LEATI_TRY(masks_shape(&in, maxlen, &shape, err));
    /* A length is data and may be any number. */
    if (leati_shape_count(&shape) < 0)
        return leati_refuse(err, VALUE,
                            "%lld masks of %lld values are too many; name a smaller maxlen",
                            (long long)lengths->count, (long long)maxlen);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t size = leat_dtype_size(out->dtype);
    (void)leati_support_store_number(out->dtype, 1, one);
    mask_work work = {.lengths = lengths, .out = out, .one = one, .maxlen = maxlen, .size = size};
    for (work.row = 0; work.row < call->n && out->count > 0; work.row++)
        leati_moving_share(lengths->count, maxlen * (int64_t)size, mask_steps, &work);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_sequence_mask = {
    .name = "sequence_mask",
    .version = 1,
    .doc = "For each length a vector that is true at as many places from the front "
           "(tf.sequence_mask).",
    .names = "sequence_mask",
    .inputs = "lengths",
    .types = "T<int8,int16,uint8,uint16,uint32,uint64",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = sequence_mask_rows,
    .args_size = sizeof(struct sequence_mask_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = sequence_mask_infer,
    .kernel = sequence_mask_kernel,
};
