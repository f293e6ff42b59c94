/* Rules and kernels of float32 for halves; see halves.h.
 *
 * Happy path: the first input that is a half says which half it is; inputs of that dtype become
 * float32 in the call's arena, the kernel runs, and outputs of float32 are rounded to the half.
 * Inputs of the other half stay and are refused by the rule, as dtypes that differ. Outputs whose
 * shape the kernel finds are asked of the executor as halves. Fails where the rule or the kernel
 * does, and with RESOURCE_EXHAUSTED where there is no memory. No state, no locks. */
#include "graph/halves.h"

#include "core/tensor.h"
#include "graph/kernel_host.h"

static bool is_half(leat_dtype dtype) {
    return dtype == LEAT_FLOAT16 || dtype == LEAT_BFLOAT16;
}

leat_status leati_halves_infer(const leati_tensor_op *op, leati_infer_call *call, leat_error *err) {
    leat_dtype half = LEAT_INVALID;
    for (int i = 0; i < call->num_inputs && half == LEAT_INVALID; i++)
        if (op->halves == LEATI_HALVES_FLOAT && is_half(call->inputs[i].dtype))
            half = call->inputs[i].dtype;
    if (half == LEAT_INVALID)
        return op->infer(call, err);
    const leati_type *given = call->inputs;
    leati_type *types = leati_alloc((size_t)call->num_inputs, sizeof *types);
    if (types == NULL)
        return leati_no_memory(err);
    for (int i = 0; i < call->num_inputs; i++) {
        types[i] = given[i];
        if (given[i].dtype == half)
            types[i].dtype = LEAT_FLOAT32;
    }
    call->inputs = types;
    leat_status status = op->infer(call, err);
    call->inputs = given;
    leati_free(types);
    for (int i = 0; i < call->num_outputs; i++)
        if (call->outputs[i].dtype == LEAT_FLOAT32)
            call->outputs[i].dtype = half;
    return status;
}

/* One call in float32. The vtable comes first, so that the kernel's call leads back here. */
typedef struct wide {
    struct leati_kernel_host host;
    leati_kernel_call *outer; /* of halves */
    leati_kernel_call inner;  /* of float32 */
    leat_dtype half;
} wide;

static wide *wide_of(leati_kernel_call *call) {
    return (wide *)(void *)call->host;
}

/* Memory in the arena for the float32 of `like`, whose rows are all one where its stride is 0. */
static leat_status float_memory(leati_kernel_call *call, const leati_operand *like,
                                leati_operand *out, leat_error *err) {
    size_t row = 0, bytes = 0;
    *out = *like;
    out->dtype = LEAT_FLOAT32;
    out->owner = NULL;
    if (!leati_mul_size((size_t)like->count, sizeof(float), &row) ||
        !leati_mul_size(row, (size_t)call->n, &bytes))
        return leati_no_memory(err);
    out->row_stride = (int64_t)row;
    out->data = leati_arena_alloc(call->arena, bytes);
    return out->data != NULL ? LEAT_OK : leati_no_memory(err);
}

/* Casts n rows of an operand into another one that has its memory. */
static leat_status cast_rows(leati_kernel_call *call, int64_t n, const leati_operand *in,
                             leati_operand *out, leat_error *err) {
    leat_dtype dtype = out->dtype; /* cast's only attribute */
    leati_kernel_call cast = *call;
    cast.n = n;
    cast.inputs = in;
    cast.num_inputs = 1;
    cast.outputs = out;
    cast.num_outputs = 1;
    cast.args = &dtype;
    return leati_tensor_op_cast.kernel(&cast, err);
}

/* The kernel's own memory behind output `index`, which the executor has given. */
static leat_status take_output(wide *w, int index, leat_error *err) {
    const leati_operand *given = &w->outer->outputs[index];
    if (given->dtype == w->half)
        return float_memory(w->outer, given, &w->inner.outputs[index], err);
    w->inner.outputs[index] = *given;
    return LEAT_OK;
}

static leat_status wide_output(leati_kernel_call *call, int index, int32_t rank,
                               const int64_t *dims, leat_error *err) {
    wide *w = wide_of(call);
    bool had = call->outputs[index].data != NULL;
    LEATI_TRY(leati_op_kernel_output(w->outer, index, rank, dims, err));
    return had ? LEAT_OK : take_output(w, index, err);
}

static leat_status wide_view(leati_kernel_call *call, int index, int32_t rank, const int64_t *dims,
                             void *data, int64_t row_stride, leat_buffer *owner, leat_error *err) {
    wide *w = wide_of(call);
    leati_operand *output = &call->outputs[index];
    if (w->outer->outputs[index].dtype != w->half) {
        LEATI_TRY(leati_op_kernel_view(w->outer, index, rank, dims, data, row_stride, owner, err));
        *output = w->outer->outputs[index];
        return LEAT_OK;
    }
    /* It is read when the kernel is done, before the arena is reset. */
    LEATI_TRY(leati_op_kernel_output(w->outer, index, rank, dims, err));
    *output = w->outer->outputs[index];
    output->dtype = LEAT_FLOAT32;
    output->data = data;
    output->row_stride = row_stride;
    output->owner = NULL;
    return LEAT_OK;
}

static char *wide_text(leati_kernel_call *call, int index, size_t size, leat_error *err) {
    return leati_op_kernel_text(wide_of(call)->outer, index, size, err);
}

static leat_status wide_hold(leati_kernel_call *call, int index, int input, leat_error *err) {
    return leati_op_kernel_hold(wide_of(call)->outer, index, input, err);
}

/* Widens the inputs, and gives outputs that have memory already their own. */
static leat_status begin(wide *w, leati_operand *operands, leat_error *err) {
    leati_kernel_call *outer = w->outer;
    for (int i = 0; i < outer->num_inputs; i++) {
        const leati_operand *in = &outer->inputs[i];
        operands[i] = *in;
        if (in->dtype != w->half)
            continue;
        LEATI_TRY(float_memory(outer, in, &operands[i], err));
        /* One row that all share is widened once. */
        if (in->row_stride == 0)
            operands[i].row_stride = 0;
        LEATI_TRY(cast_rows(outer, in->row_stride == 0 ? 1 : outer->n, in, &operands[i], err));
    }
    for (int i = 0; i < outer->num_outputs; i++) {
        w->inner.outputs[i] = outer->outputs[i];
        if (outer->outputs[i].dtype == w->half)
            w->inner.outputs[i].dtype = LEAT_FLOAT32;
        if (outer->outputs[i].data != NULL)
            LEATI_TRY(take_output(w, i, err));
    }
    return LEAT_OK;
}

/* Rounds what came out. */
static leat_status finish(wide *w, leat_error *err) {
    leati_kernel_call *outer = w->outer;
    for (int i = 0; i < outer->num_outputs; i++)
        if (outer->outputs[i].dtype == w->half && outer->outputs[i].data != NULL)
            LEATI_TRY(cast_rows(outer, outer->n, &w->inner.outputs[i], &outer->outputs[i], err));
    return LEAT_OK;
}

static leat_status run_wide(const leati_tensor_op *op, leati_kernel_call *call, leat_dtype half,
                            leat_error *err) {
    wide w = {
        .host = {.output = wide_output, .view = wide_view, .text = wide_text, .hold = wide_hold},
        .outer = call,
        .inner = *call,
        .half = half};
    size_t count = (size_t)call->num_inputs + (size_t)call->num_outputs;
    leati_operand *operands = leati_arena_alloc(call->arena, count * sizeof *operands);
    if (operands == NULL)
        return leati_no_memory(err);
    w.inner.inputs = operands;
    w.inner.outputs = operands + call->num_inputs;
    w.inner.host = &w.host;
    LEATI_TRY(begin(&w, operands, err));
    leat_status status = op->kernel(&w.inner, err);
    call->failed_row = w.inner.failed_row;
    return status != LEAT_OK ? status : finish(&w, err);
}

leat_status leati_halves_run(const leati_tensor_op *op, leati_kernel_call *call, leat_error *err) {
    for (int i = 0; op->halves == LEATI_HALVES_FLOAT && i < call->num_inputs; i++)
        if (is_half(call->inputs[i].dtype))
            return run_wide(op, call, call->inputs[i].dtype, err);
    return op->kernel(call, err);
}
