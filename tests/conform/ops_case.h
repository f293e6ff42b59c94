/* A recorded case of a tensor operation, and the help to run it. Header only, for one source file;
 * include it after "support/cmocka.h". Whatever is wrong with a file fails the test. */
#ifndef CONFORM_OPS_CASE_H
#define CONFORM_OPS_CASE_H

#include "core/half.h"
#include "core/json.h"
#include "core/spec.h"
#include "core/tensor.h"
#include "graph/graph.h"
#include "graph/interpret.h"
#include "support/refused.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 16 };

typedef struct op_case {
    const char *op;
    const char *name;
    char *attributes; /* JSON text, or NULL */
    leat_tensor inputs[MAX_VALUES];
    int num_inputs;
    leat_tensor outputs[MAX_VALUES];
    int num_outputs;
    const char *code, *keyword; /* of the error; NULL: none */
    leat_reason reason;
    double tolerance;
    bool gradient, single; /* `single`: the operation computes in float32 */
    int gradient_outputs;  /* 0: all */
    /* The keyword with which the gradient is UNIMPLEMENTED; NULL: not asked. */
    const char *no_gradient;
} op_case;

/* What a function's arguments say about the shapes of a case. */
typedef enum case_shapes {
    SHAPES_STATIC,
    SHAPES_UNKNOWN_DIMS,
    SHAPES_UNKNOWN_RANK,
    SHAPES_EVEN_DIMS, /* every other dimension is known, beginning with the first one of input 0 */
    SHAPES_ODD_DIMS,
    SHAPES_EVEN_RANKS, /* every other input's */
    SHAPES_ODD_RANKS,
    NUM_SHAPES
} case_shapes;

static bool is_known(case_shapes shapes, int input, int32_t dim) {
    switch (shapes) {
    case SHAPES_STATIC: return true;
    case SHAPES_EVEN_DIMS: return (input + dim) % 2 == 0;
    case SHAPES_ODD_DIMS: return (input + dim) % 2 != 0;
    case SHAPES_EVEN_RANKS: return input % 2 == 0;
    case SHAPES_ODD_RANKS: return input % 2 != 0;
    default: return false;
    }
}

static int read_tensors(const op_case *c, const json_t *list, leat_tensor *out) {
    int count = (int)json_array_size(list);
    leat_error err = {0};
    if (count > MAX_VALUES)
        fail_msg("%s %s: more than %d tensors", c->op, c->name, MAX_VALUES);
    for (int i = 0; i < count; i++)
        if (leati_json_to_tensor(json_array_get(list, (size_t)i), &out[i], &err) != LEAT_OK)
            fail_msg("%s %s: tensor %d: %s", c->op, c->name, i, err.text);
    return count;
}

static void case_read(op_case *c, const char *op, const json_t *line) {
    const json_t *error = json_object_get(line, "error");
    const json_t *attributes = json_object_get(line, "attributes");
    *c = (op_case){.op = op, .name = json_string_value(json_object_get(line, "name"))};
    assert_non_null(c->name);
    if (attributes != NULL)
        c->attributes = json_dumps(attributes, 0);
    c->num_inputs = read_tensors(c, json_object_get(line, "inputs"), c->inputs);
    c->num_outputs = read_tensors(c, json_object_get(line, "outputs"), c->outputs);
    c->code = json_string_value(json_object_get(error, "code"));
    c->keyword = json_string_value(json_object_get(error, "keyword"));
    const char *reason = json_string_value(json_object_get(error, "reason"));
    if (reason != NULL && !leati_reason_from_name(reason, &c->reason))
        fail_msg("%s %s: no reason \"%s\"", op, c->name, reason);
    c->tolerance = json_number_value(json_object_get(line, "tolerance"));
    c->single = json_is_string(json_object_get(line, "gradient")); /* "float32" */
    c->gradient = c->single || json_is_true(json_object_get(line, "gradient"));
    c->no_gradient = json_string_value(json_object_get(line, "no_gradient"));
    c->gradient_outputs = (int)json_integer_value(json_object_get(line, "gradient_outputs"));
    if ((c->code == NULL) == (json_object_get(line, "outputs") == NULL))
        fail_msg("%s %s: expected either outputs or an error", op, c->name);
}

static void case_fini(op_case *c) {
    for (int i = 0; i < c->num_inputs; i++)
        leat_tensor_unref(&c->inputs[i]);
    for (int i = 0; i < c->num_outputs; i++)
        leat_tensor_unref(&c->outputs[i]);
    free(c->attributes);
}

/* The arguments of a case as a tuple; NULL for none. */
static leat_spec *case_spec(const op_case *c, case_shapes shapes, leat_error *err) {
    leat_spec *children[MAX_VALUES];
    for (int i = 0; i < c->num_inputs; i++) {
        leat_shape shape = leat_tensor_shape(&c->inputs[i]);
        bool whole = shapes == SHAPES_UNKNOWN_RANK || shapes == SHAPES_EVEN_RANKS ||
                     shapes == SHAPES_ODD_RANKS;
        for (int32_t d = 0; d < shape.rank && !whole; d++)
            if (!is_known(shapes, i, d))
                shape.dims[d] = LEAT_UNKNOWN_DIM;
        if (whole && !is_known(shapes, i, 0))
            shape.rank = LEAT_UNKNOWN_RANK;
        children[i] = leat_spec_tensor(c->inputs[i].dtype, shape, err);
    }
    return leat_spec_tuple(children, c->num_inputs, err);
}

/* The function that calls the operation once. Owned; NULL with err. */
static leat_function *case_build(const op_case *c, case_shapes shapes, int keep_outputs,
                                 leat_error *err) {
    leat_spec *spec = NULL;
    if (c->num_inputs > 0) {
        spec = case_spec(c, shapes, err);
        if (spec == NULL)
            return NULL;
    }
    leat_graph *graph = leat_graph_new(spec, err);
    leat_spec_unref(spec);
    if (graph == NULL)
        return NULL;
    leat_value inputs[MAX_VALUES], outputs[LEAT_MAX_OUTPUTS];
    for (int i = 0; i < c->num_inputs; i++)
        inputs[i] = leat_graph_argument(graph, i);
    int count = leat_graph_call(graph, c->op, c->attributes, inputs, c->num_inputs, outputs,
                                LEAT_MAX_OUTPUTS);
    if (keep_outputs > 0 && count > keep_outputs)
        count = keep_outputs;
    return leat_graph_finish(graph, outputs, count < 0 ? 0 : count, NULL, err);
}

/* Value `index` as a number; exact for all but large integers. */
static double value_at(const leat_tensor *tensor, int64_t index) {
    switch (tensor->dtype) {
    case LEAT_BOOL: return ((const bool *)tensor->data)[index];
    case LEAT_INT8: return ((const int8_t *)tensor->data)[index];
    case LEAT_INT16: return ((const int16_t *)tensor->data)[index];
    case LEAT_INT32: return ((const int32_t *)tensor->data)[index];
    case LEAT_INT64: return (double)((const int64_t *)tensor->data)[index];
    case LEAT_UINT8: return ((const uint8_t *)tensor->data)[index];
    case LEAT_UINT16: return ((const uint16_t *)tensor->data)[index];
    case LEAT_UINT32: return ((const uint32_t *)tensor->data)[index];
    case LEAT_UINT64: return (double)((const uint64_t *)tensor->data)[index];
    case LEAT_FLOAT16: return (double)leati_float_of_half(((const uint16_t *)tensor->data)[index]);
    case LEAT_BFLOAT16:
        return (double)leati_float_of_bfloat16(((const uint16_t *)tensor->data)[index]);
    case LEAT_FLOAT32: return (double)((const float *)tensor->data)[index];
    default: return ((const double *)tensor->data)[index];
    }
}

static bool is_floating(leat_dtype dtype) {
    return dtype >= LEAT_FLOAT16 && dtype <= LEAT_FLOAT64;
}

static bool same_value(const leat_tensor *a, const leat_tensor *b, int64_t i, double tolerance) {
    if (a->dtype == LEAT_STRING) {
        const leat_string *x = (const leat_string *)a->data + i;
        const leat_string *y = (const leat_string *)b->data + i;
        return x->size == y->size && (x->size == 0 || memcmp(x->data, y->data, x->size) == 0);
    }
    if (!is_floating(a->dtype)) {
        size_t size = leat_dtype_size(a->dtype);
        return memcmp((const char *)a->data + (size_t)i * size,
                      (const char *)b->data + (size_t)i * size, size) == 0;
    }
    double x = value_at(a, i), y = value_at(b, i);
    return x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= tolerance;
}

/* Differences that no tensor's largest value explains: of results near 0 of large operands. */
static double least_difference;

/* Fails the test unless the tensors are equal; `relative` to the expected one's largest value. */
static void expect_tensor(const op_case *c, const char *how, int index, const leat_tensor *expected,
                          const leat_tensor *found, double relative) {
    char texts[2][128];
    leat_shape a = leat_tensor_shape(expected), b = leat_tensor_shape(found);
    if (expected->dtype != found->dtype || !leati_shape_equal(&a, &b))
        fail_msg("%s %s, %s: output %d is %s %s; expected %s %s", c->op, c->name, how, index,
                 leat_dtype_name(found->dtype), leati_shape_text(&b, texts[0]),
                 leat_dtype_name(expected->dtype), leati_shape_text(&a, texts[1]));
    int64_t count = leat_tensor_count(expected);
    double largest = 0;
    leat_tensor wanted = *expected, given = *found;
    if (leati_dtype_is_complex(expected->dtype)) { /* value by value, the parts of each */
        wanted.dtype = given.dtype = leati_dtype_part(expected->dtype);
        expected = &wanted;
        found = &given;
        count *= 2;
    }
    for (int64_t i = 0; i < count && is_floating(expected->dtype); i++) {
        double value = fabs(value_at(expected, i));
        if (isfinite(value) && value > largest)
            largest = value;
    }
    for (int64_t i = 0; i < count; i++) {
        if (same_value(expected, found, i, fmax(relative * largest, least_difference)))
            continue;
        if (expected->dtype == LEAT_STRING)
            fail_msg("%s %s, %s: output %d, value %d is another string", c->op, c->name, how, index,
                     (int)i);
        fail_msg("%s %s, %s: output %d, value %d is %.9g; expected %.9g", c->op, c->name, how,
                 index, (int)i, value_at(found, i), value_at(expected, i));
    }
}

static void unref_all(leat_tensor *tensors, int count) {
    for (int i = 0; i < count; i++)
        leat_tensor_unref(&tensors[i]);
}

static inline void expect_error(const op_case *c, const char *how, leat_reason reason,
                                const char *keyword, const leat_error *err) {
    leat_status code = LEAT_OK;
    assert_true(leati_status_from_name(c->code, &code));
    if (!is_refused(err, code, reason, keyword))
        fail_msg("%s %s, %s", c->op, c->name, how);
}

#endif
