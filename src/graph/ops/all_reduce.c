/* all_reduce: the sum, mean or maximum over all replicas (ReplicaContext.all_reduce). As many
 * outputs as inputs, all of one dtype, combined in one exchange.
 *
 * Inputs are copied one after the other into the arena, exchanged, and copied out: all at once, or
 * in packs that end with the value that reaches the limit of the context. With one replica a copy.
 * Keeps trace order, so every replica meets the others at the same node; fails with what the
 * collective reports. The gradient is the all_reduce of the gradients. */
#include "coll/coll.h"
#include "graph/ops/support.h"

#include <string.h>

struct all_reduce_args {
    char *reduction;
};

static const leati_row all_reduce_rows[] = {
    {.name = "reduction",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct all_reduce_args, reduction),
     .default_text = "SUM",
     .doc = "SUM, MEAN or MAX."},
    {0},
};

static leat_status parse_reduction(const char *text, leati_reduction *out, leat_error *err) {
    static const char *const names[] = {"SUM", "MEAN", "MAX"};
    for (int i = 0; i < 3; i++)
        if (text != NULL && strcmp(text, names[i]) == 0) {
            *out = (leati_reduction)i;
            return LEAT_OK;
        }
    return leati_fail(err, LEAT_INVALID_ARGUMENT, "reduction is \"%s\"; expected SUM, MEAN or MAX",
                      text == NULL ? "" : text);
}

static leat_status all_reduce_infer(leati_infer_call *call, leat_error *err) {
    const struct all_reduce_args *args = call->args;
    leati_reduction reduction = LEATI_REDUCTION_SUM;
    leat_dtype dtype = call->inputs[0].dtype;
    LEATI_TRY(parse_reduction(args->reduction, &reduction, err));
    LEATI_TRY(leati_want_same_dtypes(call, err));
    bool is_float = dtype >= LEAT_FLOAT16 && dtype <= LEAT_FLOAT64;
    if (dtype <= LEAT_BOOL || dtype > LEAT_FLOAT64 ||
        (reduction == LEATI_REDUCTION_MEAN && !is_float))
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "%s of %s; expected numbers, and floats for a mean (cast them)",
                          args->reduction, leat_dtype_name(dtype));
    for (int i = 0; i < call->num_inputs; i++)
        LEATI_TRY(leati_infer_output(call, dtype, &call->inputs[i].shape, NULL, err));
    return LEAT_OK;
}

/* Where the pack that begins with operand `from` ends, and how many values it has. */
static int end_of_pack(const leati_kernel_call *call, int from, int64_t *count) {
    int64_t limit = call->context == NULL ? 0 : call->context->bytes_per_pack, bytes = 0;
    int end = from;
    *count = 0;
    while (end < call->num_inputs && (limit == 0 || end == from || bytes < limit)) {
        const leati_operand *input = &call->inputs[end++];
        *count += input->count;
        bytes += input->count * (int64_t)leat_dtype_size(input->dtype);
    }
    return end;
}

/* Copies row `row` of operands to the packed values, or back. */
static void pack(const leati_operand *operands, int from, int end, int64_t row, char *packed,
                 bool back) {
    for (int i = from; i < end; i++) {
        size_t bytes = (size_t)operands[i].count * leat_dtype_size(operands[i].dtype);
        char *values = leati_row_of(&operands[i], row);
        if (bytes > 0)
            memcpy(back ? values : packed, back ? packed : values, bytes);
        packed += bytes;
    }
}

static leat_status all_reduce_kernel(leati_kernel_call *call, leat_error *err) {
    const struct all_reduce_args *args = call->args;
    const leati_call_context *context = call->context;
    leati_reduction reduction = LEATI_REDUCTION_SUM;
    leat_dtype dtype = call->inputs[0].dtype;
    int64_t most = 0, count = 0;
    LEATI_TRY(parse_reduction(args->reduction, &reduction, err));
    for (int i = 0; i < call->num_inputs; i++) {
        leat_shape shape = leati_operand_shape(&call->inputs[i]);
        LEATI_TRY(leati_output_like(call, i, &shape, err));
    }
    for (int from = 0; from<call->num_inputs; most = count> most ? count : most)
        from = end_of_pack(call, from, &count);
    size_t bytes = (size_t)most * leat_dtype_size(dtype);
    char *packed = leati_arena_alloc(call->arena, bytes);
    if (packed == NULL)
        return leati_no_memory(err, bytes);
    leati_collective *collective = context == NULL ? NULL : context->collective;
    for (int64_t row = 0; row < call->n; row++)
        for (int from = 0, end; from < call->num_inputs; from = end) {
            end = end_of_pack(call, from, &count);
            pack(call->inputs, from, end, row, packed, false);
            if (collective != NULL)
                LEATI_TRY(collective->ops->all_reduce(collective, context->replica, packed, count,
                                                      dtype, reduction, err));
            pack(call->outputs, from, end, row, packed, true);
        }
    return LEAT_OK;
}

static leat_status all_reduce_gradient(leati_gradient_call *call, leat_error *err) {
    const struct all_reduce_args *args = call->args;
    leati_reduction reduction = LEATI_REDUCTION_SUM;
    LEATI_TRY(parse_reduction(args->reduction, &reduction, err));
    if (reduction == LEATI_REDUCTION_MAX)
        return leati_fail(err, LEAT_UNIMPLEMENTED, "a maximum over replicas has no gradient");
    for (int i = 0; i < call->num_inputs; i++)
        if (call->output_gradients[i].id >= 0)
            call->input_gradients[i] =
                leati_op1(&leati_tensor_op_all_reduce, args, call->output_gradients[i]);
    return LEAT_OK;
}

void leat_all_reduce(const leat_value *values, int count, leat_aggregation aggregation,
                     leat_value *out) {
    char sum[] = "SUM", mean[] = "MEAN";
    struct all_reduce_args args = {.reduction = aggregation == LEAT_AGGREGATION_MEAN ? mean : sum};
    leat_value first = {.graph = NULL, .id = -1};
    if (count > 0 && aggregation != LEAT_AGGREGATION_MEAN && aggregation != LEAT_AGGREGATION_SUM)
        first = leati_build_error(values[0].graph, LEAT_INVALID_ARGUMENT,
                                  "all_reduce: the aggregation is neither SUM nor MEAN");
    else if (count > 0)
        first = leati_op_many(&leati_tensor_op_all_reduce, &args, values, count);
    for (int i = 0; i < count; i++)
        out[i] = (leat_value){.graph = values[i].graph, .id = first.id < 0 ? -1 : first.id + i};
}

const leati_tensor_op leati_tensor_op_all_reduce = {
    .name = "all_reduce",
    .version = 1,
    .doc = "The sum, mean or maximum over all replicas (ReplicaContext.all_reduce).",
    .rows = all_reduce_rows,
    .args_size = sizeof(struct all_reduce_args),
    .min_inputs = 1,
    .max_inputs = -1,
    .flags = LEATI_STATEFUL | LEATI_NO_EAGER,
    .infer = all_reduce_infer,
    .kernel = all_reduce_kernel,
    .gradient = all_reduce_gradient,
};
