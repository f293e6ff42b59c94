/* eye: ones on the diagonal of a matrix, zeros elsewhere (tf.eye).
 *
 * Fails on sizes that do not fit and on dtypes that are no numbers. No state, no locks. */
#include "core/tensor.h"
#include "graph/support/array/moving.h"
#include "graph/support/support.h"

#include <string.h>

struct eye_args {
    int64_t num_rows, num_columns;
    leati_ints batch_shape;
    leat_dtype dtype;
};

static const leati_row eye_rows[] = {
    {.name = "num_rows",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct eye_args, num_rows),
     .maximum = INT64_MAX,
     .doc = "How many rows."},
    {.name = "num_columns",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE | LEATI_TENSOR,
     .offset = offsetof(struct eye_args, num_columns),
     .default_number = (double)INT64_MIN,
     .doc = "How many columns; none: as many as rows."},
    {.name = "batch_shape",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_NONE | LEATI_TENSOR,
     .offset = offsetof(struct eye_args, batch_shape),
     .doc = "The shape of a tensor of such matrices; none: one matrix."},
    {.name = "dtype",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct eye_args, dtype),
     .default_number = LEAT_FLOAT32,
     .doc = "The dtype of the result, a number or bool."},
    {0},
};

static leat_status shape_of(const struct eye_args *args, leat_shape *out, leat_error *err) {
    char text[128];
    if (args->batch_shape.count > LEAT_MAX_RANK - 2)
        return leati_refuse(err, SHAPE, "the rank would be %d; expected at most %d",
                            (int)args->batch_shape.count + 2, LEAT_MAX_RANK);
    out->rank = args->batch_shape.count + 2;
    for (int32_t d = 0; d < out->rank - 2; d++)
        out->dims[d] = args->batch_shape.values[d];
    out->dims[out->rank - 2] = args->num_rows;
    /* The default stands for none, as 0 columns are a matrix, too. */
    out->dims[out->rank - 1] = args->num_columns == INT64_MIN ? args->num_rows : args->num_columns;
    for (int32_t d = 0; d < out->rank; d++)
        if (out->dims[d] < 0)
            return leati_refuse(err, SHAPE, "dimension %d would be %lld", (int)d,
                                (long long)out->dims[d]);
    if (leati_shape_count(out) < 0)
        return leati_refuse(err, SHAPE, "shape %s has too many values",
                            leati_shape_text(out, text));
    return LEAT_OK;
}

static leat_status eye_infer(leati_infer_call *call, leat_error *err) {
    const struct eye_args *args = call->args;
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    if (args->dtype != LEAT_BOOL && !leati_dtype_is_number(args->dtype))
        return leati_refuse(err, DTYPE, "dtype is %s; expected a number or bool",
                            leat_dtype_name(args->dtype));
    /* Sizes that the run computes are placeholders here. */
    if (call->unknown == 0)
        LEATI_TRY(shape_of(args, &shape, err));
    return leati_op_infer_output(call, args->dtype, &shape, NULL, err);
}

/* The lines of all matrices, one behind the other. */
typedef struct eye_work {
    char *to;
    const char *one;
    int64_t rows, columns;
    size_t size;
} eye_work;

static void eye_steps(void *data, int64_t begin, int64_t end) {
    const eye_work *w = data;
    size_t line = (size_t)w->columns * w->size;
    memset(w->to + (size_t)begin * line, 0, (size_t)(end - begin) * line);
    for (int64_t i = begin; i < end; i++)
        /* In tall matrices the last lines have no diagonal. */
        if (i % w->rows < w->columns)
            memcpy(w->to + (size_t)i * line + (size_t)(i % w->rows) * w->size, w->one, w->size);
}

static leat_status eye_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = {0};
    /* As aligned as the widest number that is stored there. */
    _Alignas(8) char one[16] = {0};
    LEATI_TRY(shape_of(call->args, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    const leati_operand *out = &call->outputs[0];
    size_t size = leat_dtype_size(out->dtype);
    int64_t rows = shape.dims[shape.rank - 2], columns = shape.dims[shape.rank - 1];
    (void)leati_support_store_number(out->dtype, 1, one);
    eye_work work = {.one = one, .rows = rows, .columns = columns, .size = size};
    for (int64_t row = 0; row < call->n && out->count > 0; row++) {
        work.to = leati_support_row_of(out, row);
        leati_moving_share(out->count / columns, columns * (int64_t)size, eye_steps, &work);
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_eye = {
    .name = "eye",
    .version = 1,
    .doc = "Ones on the diagonal of a matrix, zeros elsewhere (tf.eye).",
    .names = "eye linalg.eye",
    .types = "",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = eye_rows,
    .args_size = sizeof(struct eye_args),
    .infer = eye_infer,
    .kernel = eye_kernel,
};
