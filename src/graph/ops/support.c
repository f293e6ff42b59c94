/* What the files of graph/ops/ share; see support.h. Builders leave the first error in the graph,
 * checks write what was expected and found. No state, no locks. */
#include "graph/ops/support.h"

#include "graph/ops/half.h"

const leati_row leati_no_rows[] = {{0}};

bool leati_value_failed(leat_value value) {
    return value.graph == NULL || value.id < 0;
}

static leat_value build(const leati_tensor_op *op, const void *args, const leat_value *inputs,
                        int num_inputs) {
    for (int i = 0; i < num_inputs; i++)
        if (inputs[i].graph == NULL)
            return (leat_value){.graph = inputs[0].graph, .id = -1};
    return leati_graph_node(inputs[0].graph, op, args, inputs, num_inputs);
}

leat_value leati_op1(const leati_tensor_op *op, const void *args, leat_value a) {
    return build(op, args, &a, 1);
}

leat_value leati_op2(const leati_tensor_op *op, const void *args, leat_value a, leat_value b) {
    leat_value inputs[] = {a, b};
    return build(op, args, inputs, 2);
}

leat_value leati_op3(const leati_tensor_op *op, const void *args, leat_value a, leat_value b,
                     leat_value c) {
    leat_value inputs[] = {a, b, c};
    return build(op, args, inputs, 3);
}

leat_value leati_build_error(leat_graph *graph, leat_status code, const char *text) {
    if (graph == NULL)
        return (leat_value){.graph = NULL, .id = -1};
    return leat_graph_fail(graph, code, text);
}

/* Stores `number` as one value of `dtype`; false for dtypes that are no numbers. */
static bool store_number(leat_dtype dtype, double number, void *to) {
    switch (dtype) {
    case LEAT_INT8: *(int8_t *)to = (int8_t)number; return true;
    case LEAT_INT16: *(int16_t *)to = (int16_t)number; return true;
    case LEAT_INT32: *(int32_t *)to = (int32_t)number; return true;
    case LEAT_INT64: *(int64_t *)to = (int64_t)number; return true;
    case LEAT_UINT8: *(uint8_t *)to = (uint8_t)number; return true;
    case LEAT_UINT16: *(uint16_t *)to = (uint16_t)number; return true;
    case LEAT_UINT32: *(uint32_t *)to = (uint32_t)number; return true;
    case LEAT_UINT64: *(uint64_t *)to = (uint64_t)number; return true;
    case LEAT_FLOAT16: *(uint16_t *)to = leati_float_to_float16((float)number); return true;
    case LEAT_BFLOAT16: *(uint16_t *)to = leati_float_to_bfloat16((float)number); return true;
    case LEAT_FLOAT32: *(float *)to = (float)number; return true;
    case LEAT_FLOAT64: *(double *)to = number; return true;
    case LEAT_BOOL: *(bool *)to = number != 0; return true;
    default: return false;
    }
}

leat_value leati_number(leat_graph *graph, leat_dtype dtype, double number) {
    leat_error err = {0};
    leat_tensor tensor;
    if (leat_tensor_new(dtype, LEAT_SCALAR, &tensor, &err) != LEAT_OK)
        return leati_graph_error(graph, &err);
    if (!store_number(dtype, number, tensor.data)) {
        leat_tensor_unref(&tensor);
        leati_fail(&err, LEAT_INVALID_ARGUMENT, "a %s is not a number", leat_dtype_name(dtype));
        return leati_graph_error(graph, &err);
    }
    leat_value value = leat_graph_tensor(graph, &tensor);
    leat_tensor_unref(&tensor);
    return value;
}

leat_value leati_times(leat_value a, double number) {
    if (leati_value_failed(a))
        return a;
    return leat_multiply(a, leati_number(a.graph, leat_value_dtype(a), number));
}

leat_status leati_want_dtype(const leati_infer_call *call, int index, leat_dtype dtype,
                             const char *what, leat_error *err) {
    leat_dtype found = call->inputs[index].dtype;
    if (found == dtype)
        return LEAT_OK;
    return leati_fail(err, LEAT_INVALID_ARGUMENT, "%s is %s; expected %s", what,
                      leat_dtype_name(found), leat_dtype_name(dtype));
}

leat_status leati_want_same_dtypes(const leati_infer_call *call, leat_error *err) {
    for (int i = 1; i < call->num_inputs; i++)
        if (call->inputs[i].dtype != call->inputs[0].dtype)
            return leati_fail(err, LEAT_INVALID_ARGUMENT,
                              "input %d is %s but input 0 is %s; expected one dtype (cast one)", i,
                              leat_dtype_name(call->inputs[i].dtype),
                              leat_dtype_name(call->inputs[0].dtype));
    return LEAT_OK;
}

leat_status leati_want_float(const leati_infer_call *call, int index, const char *what,
                             leat_error *err) {
    leat_dtype found = call->inputs[index].dtype;
    if (found == LEAT_FLOAT32 || found == LEAT_FLOAT64)
        return LEAT_OK;
    return leati_fail(err, LEAT_INVALID_ARGUMENT, "%s is %s; expected float32 or float64", what,
                      leat_dtype_name(found));
}

leat_status leati_want_index(const leati_infer_call *call, int index, const char *what,
                             leat_error *err) {
    leat_dtype found = call->inputs[index].dtype;
    if (found == LEAT_INT32 || found == LEAT_INT64)
        return LEAT_OK;
    return leati_fail(err, LEAT_INVALID_ARGUMENT, "%s is %s; expected int32 or int64", what,
                      leat_dtype_name(found));
}

leat_status leati_want_rank(const leati_infer_call *call, int index, int32_t rank, const char *what,
                            leat_error *err) {
    const leat_shape *shape = &call->inputs[index].shape;
    if (shape->rank == LEAT_UNKNOWN_RANK || shape->rank == rank)
        return LEAT_OK;
    char text[128];
    return leati_fail(err, LEAT_INVALID_ARGUMENT, "%s has shape %s; expected rank %d", what,
                      leati_shape_text(shape, text), (int)rank);
}

leat_status leati_want_equal_dims(int64_t a, int64_t b, const char *what, leat_error *err) {
    if (a == b || a == LEAT_UNKNOWN_DIM || b == LEAT_UNKNOWN_DIM)
        return LEAT_OK;
    return leati_fail(err, LEAT_INVALID_ARGUMENT, "%s: %lld and %lld; expected equal numbers", what,
                      (long long)a, (long long)b);
}

leat_status leati_normal_axis(int64_t axis, int32_t rank, int32_t *out, leat_error *err) {
    if (axis < -(int64_t)rank || axis >= rank)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "axis %lld is outside [%d, %d) of a tensor of rank %d", (long long)axis,
                          -(int)rank, (int)rank, (int)rank);
    *out = (int32_t)(axis < 0 ? axis + rank : axis);
    return LEAT_OK;
}

leat_status leati_output_like(leati_kernel_call *call, int index, const leat_shape *shape,
                              leat_error *err) {
    if (call->outputs[index].data != NULL)
        return LEAT_OK;
    return leati_kernel_output(call, index, shape->rank, shape->dims, err);
}

leat_shape leati_operand_shape(const leati_operand *operand) {
    leat_shape shape = {.rank = operand->rank};
    for (int32_t i = 0; i < operand->rank; i++)
        shape.dims[i] = operand->dims[i];
    return shape;
}

int64_t leati_index_at(const leati_operand *operand, int64_t row, int64_t index) {
    const char *data = leati_row_of(operand, row);
    return operand->dtype == LEAT_INT32 ? ((const int32_t *)data)[index]
                                        : ((const int64_t *)data)[index];
}

leat_status leati_view_as(leati_kernel_call *call, const leat_shape *shape, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    return leati_kernel_view(call, 0, shape->rank, shape->dims, in->data, in->row_stride, in->owner,
                             err);
}
