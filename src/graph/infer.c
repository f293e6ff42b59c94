/* Inference rules that many operations share. A rule appends outputs and fails with
 * INVALID_ARGUMENT where dtypes or known dimensions contradict; unknown dimensions and ranks pass
 * and are checked by the kernels. No state, no locks. */
#include "base/minmax.h"
#include "graph/op.h"

bool leati_op_infer_unknown(const leati_infer_call *call, const leati_row *rows, size_t offset) {
    for (int i = 0; call->unknown >> i && rows[i].type != LEATI_ROW_END; i++)
        if (call->unknown >> i & 1 && rows[i].offset == offset)
            return true;
    return false;
}

leat_status leati_op_infer_output(leati_infer_call *call, leat_dtype dtype, const leat_shape *shape,
                                  const leat_spec *element, leat_error *err) {
    if (call->num_outputs >= call->capacity)
        return leati_refuse(err, VALUE, "an operation has at most %d outputs", call->capacity);
    call->outputs[call->num_outputs++] =
        (leati_type){.dtype = dtype, .shape = *shape, .element = element};
    return LEAT_OK;
}

void leati_op_infer_fini(leati_infer_call *call) {
    while (call->num_made)
        leat_spec_unref(call->made[--call->num_made]);
    leati_free(call->made);
}

const leat_spec *leati_op_infer_keep(leati_infer_call *call, leat_spec *spec, leat_error *err) {
    if (spec == NULL)
        return NULL;
    if (!leati_grow((void **)&call->made, &call->made_capacity, call->num_made + 1,
                    sizeof(leat_spec *))) {
        leat_spec_unref(spec);
        leati_no_memory(err);
        return NULL;
    }
    call->made[call->num_made++] = spec;
    return spec;
}

leat_status leati_op_infer_join(leati_infer_call *call, const leati_type *a, const leati_type *b,
                                leati_type *out, leat_error *err) {
    leat_error failure = {0};
    leati_type joined = {.dtype = a->dtype, .shape = leati_shape_join(&a->shape, &b->shape)};
    /* Where one of them is not known, nothing is known of what may be either. */
    if (a->element != NULL && b->element != NULL)
        joined.element =
            leati_op_infer_keep(call, leati_spec_join(a->element, b->element, &failure), &failure);
    if (failure.code != LEAT_OK)
        return leati_error_pass(err, &failure);
    *out = joined;
    return LEAT_OK;
}

leat_status leati_op_infer_same(leati_infer_call *call, leat_error *err) {
    const leati_type *input = &call->inputs[0];
    return leati_op_infer_output(call, input->dtype, &input->shape, input->element, err);
}

/* One dimension of a broadcast result; false where both are known, differ and neither is 1. */
static bool broadcast_dim(int64_t a, int64_t b, int64_t *out) {
    /* An unknown dimension beside a known one other than 1 is that number or 1, so the result is
     * known. */
    if (a == 1 || a == b)
        *out = b;
    else if (b == 1 || b == LEAT_UNKNOWN_DIM)
        *out = a;
    else if (a == LEAT_UNKNOWN_DIM)
        *out = b;
    else
        return false;
    return true;
}

leat_status leati_op_infer_broadcast_shape(const leat_shape *a, const leat_shape *b,
                                           leat_shape *out, leat_error *err) {
    if (a->rank < 0 || b->rank < 0) {
        *out = (leat_shape){.rank = LEAT_UNKNOWN_RANK};
        return LEAT_OK;
    }
    leat_shape result = {.rank = LEATI_MAX(a->rank, b->rank)};
    for (int32_t i = 1; i <= result.rank; i++) {
        /* Counted from the end: missing leading dimensions are 1, as in numpy. */
        int64_t left = i <= a->rank ? a->dims[a->rank - i] : 1;
        int64_t right = i <= b->rank ? b->dims[b->rank - i] : 1;
        if (!broadcast_dim(left, right, &result.dims[result.rank - i])) {
            char text[2][128];
            return leati_refuse(
                err, SHAPE,
                "shapes %s and %s do not broadcast: counted from the end, dimension "
                "%d is %lld and %lld; make them equal, or one of them 1",
                leati_shape_text(a, text[0]), leati_shape_text(b, text[1]), (int)i, (long long)left,
                (long long)right);
        }
    }
    *out = result;
    return LEAT_OK;
}

/* The broadcast shape of all inputs, whose dtypes must agree. */
static leat_status broadcast_all(const leati_infer_call *call, leat_shape *shape, leat_error *err) {
    *shape = call->inputs[0].shape;
    for (int i = 1; i < call->num_inputs; i++) {
        if (call->inputs[i].dtype != call->inputs[0].dtype)
            return leati_refuse(
                err, DTYPE, "input %d is %s, but input 0 is %s; expected one dtype (cast one)", i,
                leat_dtype_name(call->inputs[i].dtype), leat_dtype_name(call->inputs[0].dtype));
        leat_shape joined;
        leat_status status =
            leati_op_infer_broadcast_shape(shape, &call->inputs[i].shape, &joined, err);
        if (status != LEAT_OK)
            return status;
        *shape = joined;
    }
    return LEAT_OK;
}

leat_status leati_op_infer_broadcast(leati_infer_call *call, leat_error *err) {
    leat_shape shape;
    LEATI_TRY(broadcast_all(call, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

leat_status leati_op_infer_compare(leati_infer_call *call, leat_error *err) {
    leat_shape shape;
    LEATI_TRY(broadcast_all(call, &shape, err));
    return leati_op_infer_output(call, LEAT_BOOL, &shape, NULL, err);
}
