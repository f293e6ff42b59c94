/* band_part: matrices with zeros outside a band around the diagonal (tf.linalg.band_part).
 *
 * `num_lower` diagonals below the main one stay, and `num_upper` above; a negative number keeps
 * all. Fails where a number is larger than the matrix. No state, no locks. */
#include "base/minmax.h"
#include "graph/support/array/moving.h"

#include <string.h>

struct band_part_args {
    int64_t num_lower, num_upper;
};

static const leati_row band_part_rows[] = {
    {.name = "num_lower",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct band_part_args, num_lower),
     .doc = "How many diagonals below the main one stay; negative: all."},
    {.name = "num_upper",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct band_part_args, num_upper),
     .doc = "How many diagonals above the main one stay; negative: all."},
    {0},
};

/* `in` may have unknown dimensions; its rank must be known. */
static leat_status check(const struct band_part_args *args, const leat_shape *in, leat_error *err) {
    if (in->rank < 2)
        return leati_refuse(err, SHAPE, "input must be at least 2-dim, received rank %d",
                            (int)in->rank);
    int64_t rows = in->dims[in->rank - 2], columns = in->dims[in->rank - 1];
    if (rows >= 0 && args->num_lower > rows)
        return leati_refuse(err, VALUE,
                            "num_lower must be negative or less or equal to number of rows (%lld) "
                            "got: %lld",
                            (long long)rows, (long long)args->num_lower);
    if (columns >= 0 && args->num_upper > columns)
        return leati_refuse(
            err, VALUE,
            "num_upper must be negative or less or equal to number of columns (%lld) "
            "got: %lld",
            (long long)columns, (long long)args->num_upper);
    return LEAT_OK;
}

static leat_status band_part_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *in = &call->inputs[0].shape;
    LEATI_TRY(leati_support_want_values(call, 0, err));
    /* Numbers that the run computes are placeholders here: the kernel checks them. */
    if (in->rank >= 0 && call->unknown == 0)
        LEATI_TRY(check(call->args, in, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, in, NULL, err);
}

/* The lines of all matrices, one behind the other. */
typedef struct band_work {
    const char *from;
    char *to;
    int64_t rows, columns, lower, upper;
    size_t size;
} band_work;

static void band_steps(void *data, int64_t begin, int64_t end) {
    const band_work *w = data;
    for (int64_t i = begin; i < end; i++) {
        int64_t line = i % w->rows, columns = w->columns;
        /* A line far below the band has nothing of it, nor has one far above. */
        int64_t first = LEATI_MIN(line > w->lower ? line - w->lower : 0, columns);
        int64_t last = LEATI_MAX(LEATI_MIN(line + w->upper + 1, columns), first);
        size_t at = (size_t)(i * columns) * w->size, head = (size_t)first * w->size;
        size_t tail = (size_t)last * w->size;
        memset(w->to + at, 0, head);
        memcpy(w->to + at + head, w->from + at + head, tail - head);
        memset(w->to + at + tail, 0, (size_t)columns * w->size - tail);
    }
}

static leat_status band_part_kernel(leati_kernel_call *call, leat_error *err) {
    const struct band_part_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    LEATI_TRY(check(args, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    int64_t rows = shape.dims[shape.rank - 2], columns = shape.dims[shape.rank - 1];
    band_work work = {.rows = rows, .columns = columns, .size = leat_dtype_size(in->dtype)};
    work.lower = args->num_lower < 0 ? rows : args->num_lower;
    work.upper = args->num_upper < 0 ? columns : args->num_upper;
    /* A row without values may have 0 columns, by which nothing may be divided. */
    for (int64_t row = 0; row < call->n && in->count > 0; row++) {
        work.from = leati_support_row_of(in, row);
        work.to = leati_support_row_of(&call->outputs[0], row);
        leati_moving_share(in->count / columns, columns * (int64_t)work.size, band_steps, &work);
    }
    return leati_support_hold_strings(call, 0, err);
}

static leat_status band_part_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    /* Values that are cut off get no gradient, so it is cut in the same way. */
    call->input_gradients[0] =
        leati_graph_build1(&leati_tensor_op_band_part, call->args, call->output_gradients[0]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_band_part = {
    .name = "band_part",
    .version = 1,
    .doc = "Matrices with zeros outside a band around the diagonal (tf.linalg.band_part).",
    .names = "linalg.band_part",
    .inputs = "input",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = band_part_rows,
    .args_size = sizeof(struct band_part_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = band_part_infer,
    .kernel = band_part_kernel,
    .gradient = band_part_gradient,
};
