/* Shuffling rows and drawing classes as TensorFlow's kernels do on a CPU.
 *
 * A shuffle takes one word of the stream for each place but the last. A class is found in the sums
 * of the exponentials, which are doubles; infinite logits and NaN count nothing. All rows of a
 * batch draw from one stream. Failures: no memory, no classes. No locks. */
#include "graph/support/random/sample.h"

#include <math.h>
#include <string.h>

/* ---- shuffle ---- */

leat_status leati_sample_permute_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *shape = &call->inputs[0].shape;
    LEATI_TRY(leati_support_want_values(call, 0, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, shape, NULL, err);
}

leat_status leati_sample_permute_begin(leati_kernel_call *call, uint64_t *out_blocks,
                                       leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    *out_blocks =
        in->rank == 0 || in->count <= 1 || in->dims[0] <= 1 ? 0 : ((uint64_t)in->dims[0] + 2) / 4;
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    return in->dtype == LEAT_STRING ? leati_support_hold_strings(call, 0, err) : LEAT_OK;
}

leat_status leati_sample_permute_row(leati_kernel_call *call, int64_t row, leati_philox stream,
                                     leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    const char *from = leati_support_row_of(in, row);
    char *to = leati_support_row_of(&call->outputs[0], row);
    int64_t count = in->rank == 0 ? 1 : in->dims[0]; /* a scalar is a row */
    if (in->count == 0)
        return LEAT_OK;
    size_t size = (size_t)(in->count / count) * leat_dtype_size(in->dtype);
    int64_t *order = leati_arena_alloc(call->arena, (size_t)count * sizeof *order);
    if (order == NULL)
        return leati_no_memory(err);
    for (int64_t i = 0; i < count; i++)
        order[i] = i;
    leati_words words = {.philox = stream, .used = 4};
    for (int64_t i = 0; i + 1 < count && in->count > 1; i++) {
        int64_t other = i + leati_words_next(&words) % (uint32_t)(count - i), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (int64_t i = 0; i < count; i++)
        memcpy(to + (size_t)i * size, from + (size_t)order[i] * size, size);
    return LEAT_OK;
}

/* ---- categorical ---- */

leat_status leati_sample_categorical_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_random_args *args = call->args;
    const leat_shape *logits = &call->inputs[0].shape;
    leat_shape shape = {.rank = 2, .dims = {LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM}};
    if (!leati_graph_dtype_is_floating(call->inputs[0].dtype))
        return leati_refuse(err, DTYPE, "the logits are %s; expected floats",
                            leat_dtype_name(call->inputs[0].dtype));
    if (args->dtype != LEAT_INT32 && args->dtype != LEAT_INT64)
        return leati_refuse(err, DTYPE, "dtype is %s; expected int32 or int64",
                            leat_dtype_name(args->dtype));
    LEATI_TRY(leati_support_want_rank(call, 0, 2, "the logits", err));
    if (logits->rank == 2)
        shape.dims[0] = logits->dims[0];
    if (call->unknown == 0)
        shape.dims[1] = args->num_samples;
    if (logits->rank == 2 && logits->dims[1] == 0)
        return leati_refuse(err, VALUE, "the logits have no classes; expected at least one");
    return leati_op_infer_output(call, args->dtype, &shape, NULL, err);
}

leat_status leati_sample_categorical_begin(leati_kernel_call *call, uint64_t *out_blocks,
                                           leat_error *err) {
    const struct leati_random_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    if (in->rank != 2 || in->dims[1] == 0)
        return leati_refuse(err, SHAPE, "the logits have %s; expected [batch, classes]",
                            in->rank == 2 ? "no classes" : "another rank than 2");
    leat_shape shape = {.rank = 2, .dims = {in->dims[0], args->num_samples}};
    /* Two words for each, by fours. */
    *out_blocks = (uint64_t)in->dims[0] * (((uint64_t)args->num_samples + 3) / 4 * 8) *
                  LEATI_BLOCKS_PER_VALUE;
    return leati_support_output_like(call, 0, &shape, err);
}

/* The sums of the classes' weights up to each. */
static void sum_weights(const double *logits, int64_t count, double *sums) {
    double most = -HUGE_VAL, total = 0;
    for (int64_t i = 0; i < count; i++)
        most = isfinite(logits[i]) && logits[i] > most ? logits[i] : most;
    for (int64_t i = 0; i < count; i++) {
        total += isfinite(logits[i]) ? exp(logits[i] - most) : 0;
        sums[i] = total;
    }
}

static int64_t find_class(const double *sums, int64_t count, double wanted) {
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (sums[middle] > wanted)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

leat_status leati_sample_categorical_row(leati_kernel_call *call, int64_t row, leati_philox stream,
                                         leat_error *err) {
    const struct leati_random_args *args = call->args;
    leati_operand one = call->inputs[0], logits;
    int64_t classes = one.dims[1];
    char *to = leati_support_row_of(&call->outputs[0], row);
    if (one.count == 0 || args->num_samples == 0)
        return LEAT_OK;
    LEATI_TRY(leati_support_inner_cast(call, &one, LEAT_FLOAT64, &logits, err));
    const double *values = (const double *)(const void *)leati_support_row_of(&logits, row);
    double *sums = leati_arena_alloc(call->arena, (size_t)classes * sizeof *sums);
    if (sums == NULL)
        return leati_no_memory(err);
    leati_words words = {.philox = stream, .used = 4};
    int64_t at = 0;
    for (int64_t line = 0; line < one.dims[0]; line++) {
        sum_weights(values + line * classes, classes, sums);
        for (int64_t i = 0; i < args->num_samples; i++, at++) {
            uint32_t first = leati_words_next(&words);
            double u = leati_uniform_double(first, leati_words_next(&words));
            int64_t found = find_class(sums, classes, u * sums[classes - 1]);
            if (args->dtype == LEAT_INT32)
                ((int32_t *)(void *)to)[at] = (int32_t)found;
            else
                ((int64_t *)(void *)to)[at] = found;
        }
    }
    return LEAT_OK;
}
