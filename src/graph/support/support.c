/* What the files of graph/ops/ share; see support.h. Builders leave the first error in the graph,
 * checks write what was expected and found. No state, no locks. */
#include "graph/support/support.h"

#include "base/stop.h"
#include "core/half.h"
#include "core/tensor.h"

#include <string.h>

bool leati_support_value_failed(leat_value value) {
    return value.graph == NULL || value.id < 0;
}

leat_value leati_support_build_error(leat_graph *graph, leat_reason reason, const char *text) {
    leat_error err = {0};
    /* No graph can keep the error: a value without one says that it failed. */
    if (graph == NULL)
        return (leat_value){.graph = NULL, .id = -1};
    leati_fail_for(&err, LEAT_INVALID_ARGUMENT, reason, "%s", text);
    return leati_graph_error(graph, &err);
}

/* Copies: where inputs are one value, or one is computed from another, each gets its own part. */
void leati_support_gradient_sources(const leati_gradient_call *call, leat_value *sources) {
    for (int i = 0; i < call->num_inputs; i++)
        sources[i] = leati_graph_build1(&leati_tensor_op_identity, NULL, call->inputs[i]);
}

leat_status leati_support_gradient_through(leati_gradient_call *call, const leat_value *sources,
                                           const leat_value *results, leat_error *err) {
    leat_value target = {.graph = call->graph, .id = -1};
    (void)err;
    for (int i = 0; i < call->num_outputs; i++) {
        if (call->output_gradients[i].id < 0)
            continue;
        /* The gradient of sum(result * g) by a source is what flows back to it. */
        leat_value part = leat_op_reduce_sum(
            leat_op_multiply(results[i], call->output_gradients[i]), NULL, 0, false);
        target = target.id < 0 ? part : leat_op_add(target, part);
    }
    leat_value found[LEATI_THROUGH_INPUTS] = {0}, gradients[LEATI_THROUGH_INPUTS];
    int count = 0;
    for (int i = 0; i < call->num_inputs; i++)
        if (leati_graph_dtype_is_trainable(leat_value_dtype(sources[i])))
            found[count++] = sources[i];
    if (target.id < 0 || count == 0)
        return LEAT_OK;
    leat_value_gradients(target, found, count, gradients);
    /* gradients has the floating inputs alone: counting down finds each its own. */
    for (int i = call->num_inputs; i-- > 0;)
        if (leati_graph_dtype_is_trainable(leat_value_dtype(sources[i])))
            call->input_gradients[i] = gradients[--count];
    return LEAT_OK;
}

bool leati_support_store_number(leat_dtype dtype, double number, void *to) {
    switch (dtype) {
    case LEAT_INT8: *(int8_t *)to = (int8_t)number; return true;
    case LEAT_INT16: *(int16_t *)to = (int16_t)number; return true;
    case LEAT_INT32: *(int32_t *)to = (int32_t)number; return true;
    case LEAT_INT64: *(int64_t *)to = (int64_t)number; return true;
    case LEAT_UINT8: *(uint8_t *)to = (uint8_t)number; return true;
    case LEAT_UINT16: *(uint16_t *)to = (uint16_t)number; return true;
    case LEAT_UINT32: *(uint32_t *)to = (uint32_t)number; return true;
    case LEAT_UINT64: *(uint64_t *)to = (uint64_t)number; return true;
    case LEAT_FLOAT16: *(uint16_t *)to = leati_half_of_float((float)number); return true;
    case LEAT_BFLOAT16: *(uint16_t *)to = leati_bfloat16_of_float((float)number); return true;
    case LEAT_FLOAT32: *(float *)to = (float)number; return true;
    case LEAT_FLOAT64: *(double *)to = number; return true;
    case LEAT_BOOL: *(bool *)to = number != 0; return true;
    case LEAT_COMPLEX64:
        ((float *)to)[0] = (float)number;
        ((float *)to)[1] = 0;
        return true;
    case LEAT_COMPLEX128:
        ((double *)to)[0] = number;
        ((double *)to)[1] = 0;
        return true;
    default: return false;
    }
}

leat_value leati_support_number(leat_graph *graph, leat_dtype dtype, double number) {
    leat_error err = {0};
    leat_tensor tensor;
    if (leat_tensor_new(dtype, LEAT_SCALAR, &tensor, &err) != LEAT_OK)
        return leati_graph_error(graph, &err);
    if (!leati_support_store_number(dtype, number, tensor.data)) {
        leat_tensor_unref(&tensor);
        leati_refuse(&err, DTYPE, "a %s is not a number", leat_dtype_name(dtype));
        return leati_graph_error(graph, &err);
    }
    leat_value value = leat_graph_tensor(graph, &tensor);
    /* The graph has a reference of its own. */
    leat_tensor_unref(&tensor);
    return value;
}

leat_value leati_support_conjugate(leat_value x) {
    bool parts = !leati_support_value_failed(x) && leati_dtype_is_complex(leat_value_dtype(x));
    return parts ? leat_op_conj(x) : x;
}

leat_value leati_support_times(leat_value a, double number) {
    if (leati_support_value_failed(a))
        return a;
    return leat_op_multiply(a, leati_support_number(a.graph, leat_value_dtype(a), number));
}

leat_status leati_support_want_dtype(const leati_infer_call *call, int index, leat_dtype dtype,
                                     const char *what, leat_error *err) {
    leat_dtype found = call->inputs[index].dtype;
    if (found == dtype)
        return LEAT_OK;
    return leati_refuse(err, DTYPE, "%s is %s; expected %s", what, leat_dtype_name(found),
                        leat_dtype_name(dtype));
}

leat_status leati_support_want_same_dtypes(const leati_infer_call *call, leat_error *err) {
    for (int i = 1; i < call->num_inputs; i++)
        if (call->inputs[i].dtype != call->inputs[0].dtype)
            return leati_refuse(
                err, DTYPE, "input %d is %s but input 0 is %s; expected one dtype (cast one)", i,
                leat_dtype_name(call->inputs[i].dtype), leat_dtype_name(call->inputs[0].dtype));
    return LEAT_OK;
}

leat_status leati_support_want_values(const leati_infer_call *call, int index, leat_error *err) {
    if (call->inputs[index].dtype != LEAT_OBJECT)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "input %d is an object (a dataset); expected numbers, booleans or strings",
                        index);
}

leat_status leati_support_want_float(const leati_infer_call *call, int index, const char *what,
                                     leat_error *err) {
    leat_dtype found = call->inputs[index].dtype;
    if (found == LEAT_FLOAT32 || found == LEAT_FLOAT64)
        return LEAT_OK;
    return leati_refuse(err, DTYPE, "%s is %s; expected float32 or float64", what,
                        leat_dtype_name(found));
}

leat_status leati_support_want_trainable(const leati_infer_call *call, int index, const char *what,
                                         leat_error *err) {
    leat_dtype found = call->inputs[index].dtype;
    if (found == LEAT_FLOAT32 || found == LEAT_FLOAT64 || leati_dtype_is_complex(found))
        return LEAT_OK;
    return leati_refuse(err, DTYPE, "%s is %s; expected float32, float64, complex64 or complex128",
                        what, leat_dtype_name(found));
}

leat_status leati_support_want_index(const leati_infer_call *call, int index, const char *what,
                                     leat_error *err) {
    leat_dtype found = call->inputs[index].dtype;
    if (found == LEAT_INT32 || found == LEAT_INT64)
        return LEAT_OK;
    return leati_refuse(err, DTYPE, "%s is %s; expected int32 or int64", what,
                        leat_dtype_name(found));
}

leat_status leati_support_want_rank(const leati_infer_call *call, int index, int32_t rank,
                                    const char *what, leat_error *err) {
    const leat_shape *shape = &call->inputs[index].shape;
    if (shape->rank == LEAT_UNKNOWN_RANK || shape->rank == rank)
        return LEAT_OK;
    char text[128];
    return leati_refuse(err, SHAPE, "%s has shape %s; expected rank %d", what,
                        leati_shape_text(shape, text), (int)rank);
}

leat_status leati_support_check_rank(const leati_kernel_call *call, int index, int32_t rank,
                                     const char *what, leat_error *err) {
    int32_t found = call->inputs[index].rank;
    return found == rank ? LEAT_OK
                         : leati_refuse(err, SHAPE, "%s: rank %d; expected rank %d", what,
                                        (int)found, (int)rank);
}

leat_status leati_support_want_equal_dims(int64_t a, int64_t b, const char *what, leat_error *err) {
    /* An unknown dimension may turn out to fit; a kernel asks again. */
    if (a == b || a == LEAT_UNKNOWN_DIM || b == LEAT_UNKNOWN_DIM)
        return LEAT_OK;
    return leati_refuse(err, SHAPE, "%s: %lld and %lld; expected equal numbers", what, (long long)a,
                        (long long)b);
}

leat_status leati_support_want_shape(const leat_shape *found, const leat_shape *expected,
                                     const char *what, leat_error *err) {
    char texts[2][128];
    if (leati_shape_compatible(found, expected))
        return LEAT_OK;
    return leati_refuse(err, SHAPE, "%s has shape %s; expected %s", what,
                        leati_shape_text(found, texts[0]), leati_shape_text(expected, texts[1]));
}

leat_status leati_support_unknown_dims(const leati_ints *list, leat_shape *out, leat_error *err) {
    if (list->count > LEAT_MAX_RANK)
        return leati_refuse(err, SHAPE, "the rank would be %d; expected at most %d",
                            (int)list->count, LEAT_MAX_RANK);
    /* No list at all: not even its length is known. An empty list is that of a scalar. */
    *out = (leat_shape){.rank = list->values == NULL ? LEAT_UNKNOWN_RANK : list->count};
    for (int32_t d = 0; d < out->rank; d++)
        out->dims[d] = LEAT_UNKNOWN_DIM;
    return LEAT_OK;
}

leat_status leati_support_known_dims(const leati_ints *list, leat_shape *out, leat_error *err) {
    LEATI_TRY(leati_support_unknown_dims(list, out, err));
    for (int32_t d = 0; d < out->rank; d++)
        if (list->values[d] >= 0)
            out->dims[d] = list->values[d];
    return LEAT_OK;
}

leat_status leati_support_normal_axis(int64_t axis, int32_t rank, int32_t *out, leat_error *err) {
    if (axis < -(int64_t)rank || axis >= rank)
        return leati_refuse(err, SHAPE, "axis %lld is outside [%d, %d) of a tensor of rank %d",
                            (long long)axis, -(int)rank, (int)rank, (int)rank);
    *out = (int32_t)(axis < 0 ? axis + rank : axis);
    return LEAT_OK;
}

leat_status leati_support_mark_axes(const leati_ints *axes, int32_t rank, bool *mask,
                                    leat_error *err) {
    for (int32_t i = 0; i < axes->count; i++) {
        int32_t axis = 0;
        LEATI_TRY(leati_support_normal_axis(axes->values[i], rank, &axis, err));
        /* Found only after axes are counted from the front: -1 may name the last one again. */
        if (mask[axis])
            return leati_refuse(err, VALUE, "axis %d is named twice", (int)axis);
        mask[axis] = true;
    }
    return LEAT_OK;
}

leat_status leati_support_infer_said(leati_infer_call *call, leat_dtype dtype,
                                     const leat_shape *shape, leat_error *err) {
    char text[128];
    /* The count is negative where a dimension is unknown and where the product overflows. */
    if (leati_shape_count(shape) < 0 && call->unknown == 0)
        return leati_refuse(err, SHAPE,
                            "shape is %s; expected known dimensions of a size that fits",
                            leati_shape_text(shape, text));
    return leati_op_infer_output(call, dtype, shape, NULL, err);
}

leat_status leati_support_output_like(leati_kernel_call *call, int index, const leat_shape *shape,
                                      leat_error *err) {
    /* Inference knew the shape, so the executor has made the memory, for all rows. */
    if (call->outputs[index].data != NULL)
        return LEAT_OK;
    return leati_op_kernel_output(call, index, shape->rank, shape->dims, err);
}

leat_shape leati_support_operand_shape(const leati_operand *operand) {
    leat_shape shape = {.rank = operand->rank};
    for (int32_t i = 0; i < operand->rank; i++)
        shape.dims[i] = operand->dims[i];
    return shape;
}

int64_t leati_support_index_at(const leati_operand *operand, int64_t row, int64_t index) {
    const char *data = leati_support_row_of(operand, row);
    /* Any other dtype is read as int64, so infer must have asked by leati_support_want_index. */
    return operand->dtype == LEAT_INT32 ? ((const int32_t *)data)[index]
                                        : ((const int64_t *)data)[index];
}

leat_status leati_support_view_as(leati_kernel_call *call, const leat_shape *shape,
                                  leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    /* Nothing is copied: the output keeps the owner of input 0's memory alive, if there is one. */
    return leati_op_kernel_view(call, 0, shape->rank, shape->dims, in->data, in->row_stride,
                                in->owner, err);
}

leat_status leati_support_hold_strings(leati_kernel_call *call, int first, leat_error *err) {
    for (int i = first; i < call->num_inputs; i++)
        /* Strings are pointers: a copy of them is valid as long as the bytes of the input are. */
        if (call->inputs[i].dtype == LEAT_STRING && call->outputs[0].dtype == LEAT_STRING)
            LEATI_TRY(leati_op_kernel_hold(call, 0, i, err));
    return LEAT_OK;
}

void leati_support_dense_steps(const leat_shape *shape, size_t size, int64_t *steps) {
    int64_t step = (int64_t)size;
    for (int32_t d = shape->rank - 1; d >= 0; d--) {
        steps[d] = step;
        step *= shape->dims[d];
    }
}
