/* all_reduce: the sum, mean or maximum over all replicas (ReplicaContext.all_reduce). As many
 * outputs as inputs, all of one dtype, combined in one exchange.
 *
 * Inputs are copied into packs (coll/pack.h) in the arena, exchanged, and copied out; steps of
 * exec/cpu exchange the same packs beside what computes instead. With one replica a copy. Keeps
 * trace order, so every replica meets the others at the same node; fails with what the collective
 * reports. The gradient is the all_reduce of the gradients. */
#include "graph/ops/replica/all_reduce.h"
#include "coll/pack.h"
#include "graph/kernel_host.h"
#include "graph/support/support.h"

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
    /* In the order of leati_reduction. */
    static const char *const names[] = {"SUM", "MEAN", "MAX"};
    for (int i = 0; i < 3; i++)
        if (text != NULL && strcmp(text, names[i]) == 0) {
            *out = (leati_reduction)i;
            return LEAT_OK;
        }
    return leati_refuse(err, VALUE, "reduction is \"%s\"; expected SUM, MEAN or MAX",
                        text == NULL ? "" : text);
}

static leat_status all_reduce_infer(leati_infer_call *call, leat_error *err) {
    const struct all_reduce_args *args = call->args;
    leati_reduction reduction = LEATI_REDUCTION_SUM;
    leat_dtype dtype = call->inputs[0].dtype;
    LEATI_TRY(parse_reduction(args->reduction, &reduction, err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    /* The mean of integers would have to be rounded. */
    bool is_float = dtype >= LEAT_FLOAT16 && dtype <= LEAT_FLOAT64;
    if (dtype <= LEAT_BOOL || dtype > LEAT_FLOAT64 ||
        (reduction == LEATI_REDUCTION_MEAN && !is_float))
        return leati_refuse(err, DTYPE,
                            "%s of %s; expected numbers, and floats for a mean (cast them)",
                            args->reduction, leat_dtype_name(dtype));
    for (int i = 0; i < call->num_inputs; i++)
        LEATI_TRY(leati_op_infer_output(call, dtype, &call->inputs[i].shape, NULL, err));
    return LEAT_OK;
}

leat_status leati_all_reduce_reduction(const void *args, leati_reduction *out, leat_error *err) {
    return parse_reduction(((const struct all_reduce_args *)args)->reduction, out, err);
}

/* Room in the arena for the packs of one row; all rows have the same. */
static leat_status place_packs(leati_kernel_call *call, const leati_packing *packing,
                               leati_packs *packs, leat_error *err) {
    for (int i = 0; i < packing->num_packs; i++) {
        size_t bytes = leati_pack_bytes(packing, i);
        void *values = leati_arena_alloc(call->arena, bytes);
        if (values == NULL)
            return leati_no_memory(err);
        /* Packs are freed with leati_packs; their values lie in the arena, and are not. */
        leati_packs_place(packs, i, values);
    }
    return LEAT_OK;
}

static leat_status exchange_row(const leati_kernel_call *call, leati_packs *packs, int64_t row,
                                leat_error *err) {
    const leati_call_context *context = call->context;
    /* Outside of a step there is no context or no collective: the sums are then the values. */
    leati_packs_begin(packs, context == NULL ? NULL : context->collective,
                      context == NULL ? 0 : context->replica);
    for (int i = 0; i < call->num_inputs; i++) {
        size_t bytes = leati_kernel_operand_row_bytes(&call->inputs[i]);
        if (bytes > 0)
            memcpy(leati_packs_values(packs, i), leati_support_row_of(&call->inputs[i], row),
                   bytes);
        /* Not beside anything else: this kernel has nothing to compute meanwhile. */
        LEATI_TRY(leati_packs_ready(packs, i, false, err));
    }
    LEATI_TRY(leati_packs_await(packs, 0, err));
    /* Sums lie in the packs; all tensors of one call are one group, number 0. */
    for (int i = 0; i < call->num_inputs; i++) {
        size_t bytes = leati_kernel_operand_row_bytes(&call->inputs[i]);
        if (bytes > 0)
            memcpy(leati_support_row_of(&call->outputs[i], row), leati_packs_values(packs, i),
                   bytes);
    }
    return LEAT_OK;
}

static leat_status exchange(leati_kernel_call *call, const leati_packing *packing,
                            leat_error *err) {
    leati_packs *packs = leati_packs_new(packing, err);
    leat_status status =
        packs == NULL ? LEAT_RESOURCE_EXHAUSTED : place_packs(call, packing, packs, err);
    /* The packs' memory serves all rows, one after the other. */
    for (int64_t row = 0; status == LEAT_OK && row < call->n; row++)
        status = exchange_row(call, packs, row, err);
    leati_packs_free(packs);
    return status;
}

static leat_status all_reduce_kernel(leati_kernel_call *call, leat_error *err) {
    leati_packing packing = {0};
    leati_reduction reduction = LEATI_REDUCTION_SUM;
    size_t count = (size_t)call->num_inputs;
    LEATI_TRY(leati_all_reduce_reduction(call->args, &reduction, err));
    for (int i = 0; i < call->num_inputs; i++) {
        leat_shape shape = leati_support_operand_shape(&call->inputs[i]);
        LEATI_TRY(leati_support_output_like(call, i, &shape, err));
    }
    /* Packs depend on shapes, dtype and limit alone, so every replica makes the same ones. */
    leati_pack_tensor *tensors = leati_arena_alloc(call->arena, count * sizeof *tensors);
    if (tensors == NULL)
        return leati_no_memory(err);
    for (int i = 0; i < call->num_inputs; i++)
        tensors[i] = (leati_pack_tensor){
            .count = call->inputs[i].count, .dtype = call->inputs[i].dtype, .reduction = reduction};
    int64_t limit = call->context == NULL ? 0 : call->context->bytes_per_pack;
    leat_status status = leati_pack_init(&packing, tensors, call->num_inputs, limit, err);
    if (status == LEAT_OK)
        status = exchange(call, &packing, err);
    leati_pack_fini(&packing);
    return status;
}

static leat_status all_reduce_gradient(leati_gradient_call *call, leat_error *err) {
    const struct all_reduce_args *args = call->args;
    leati_reduction reduction = LEATI_REDUCTION_SUM;
    LEATI_TRY(parse_reduction(args->reduction, &reduction, err));
    /* Which replica had the maximum is not known after the exchange. */
    if (reduction == LEATI_REDUCTION_MAX)
        return leati_fail(err, LEAT_UNIMPLEMENTED, "a maximum over replicas has no gradient");
    for (int i = 0; i < call->num_inputs; i++)
        /* A sum over all that all receive is its own transpose, and so is a mean. */
        if (call->output_gradients[i].id >= 0)
            call->input_gradients[i] =
                leati_graph_build1(&leati_tensor_op_all_reduce, args, call->output_gradients[i]);
    return LEAT_OK;
}

void leat_op_all_reduce(const leat_value *values, int count, leat_aggregation aggregation,
                        leat_value *out) {
    char sum[] = "SUM", mean[] = "MEAN";
    struct all_reduce_args args = {.reduction = aggregation == LEAT_AGGREGATION_MEAN ? mean : sum};
    leat_value first = {.graph = NULL, .id = -1};
    if (count > 0 && aggregation != LEAT_AGGREGATION_MEAN && aggregation != LEAT_AGGREGATION_SUM)
        first = leati_support_build_error(values[0].graph, LEAT_REASON_VALUE,
                                          "all_reduce: the aggregation is neither SUM nor MEAN");
    else if (count > 0)
        first = leati_graph_build_many(&leati_tensor_op_all_reduce, &args, values, count);
    /* Each in its own value's graph, so a failed call still gives values that say so. */
    for (int i = 0; i < count; i++)
        out[i] = (leat_value){.graph = values[i].graph, .id = first.id < 0 ? -1 : first.id + i};
}

const leati_tensor_op leati_tensor_op_all_reduce = {
    .name = "all_reduce",
    .version = 1,
    .doc = "The sum, mean or maximum over all replicas (ReplicaContext.all_reduce).",
    .types = "*T",
    .outputs = "*outputs",
    .halves = LEATI_HALVES_OWN,
    .rows = all_reduce_rows,
    .args_size = sizeof(struct all_reduce_args),
    .min_inputs = 1,
    .max_inputs = -1,
    .flags = LEATI_STATEFUL | LEATI_NO_EAGER,
    .infer = all_reduce_infer,
    .kernel = all_reduce_kernel,
    .gradient = all_reduce_gradient,
};
