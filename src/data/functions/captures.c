/* Captured values become constants of a copy of the function; see captures.h.
 *
 * Happy path: each captured tensor is copied into a constant, a captured dataset is referenced, and
 * types are inferred again with the shapes found. Where an operation refuses these shapes, which
 * TensorFlow reports element by element, the constants promise no more than the arguments did, so
 * that the function fails when it runs. No locks. */
#include "data/functions/captures.h"
#include "core/spec.h"
#include "data/functions/dataset_constant.h"
#include "graph/kernel_host.h"
#include "graph/node_args.h"

/* A value that nobody knows yet. */
struct stand_in_args {
    leat_spec *spec;
};

static const leati_row stand_in_rows[] = {
    {.name = "spec",
     .type = LEATI_ROW_SPEC,
     .offset = offsetof(struct stand_in_args, spec),
     .doc = "what is known of it"},
    {0},
};

static leat_status stand_in_infer(leati_infer_call *call, leat_error *err) {
    const struct stand_in_args *args = call->args;
    leat_shape shape = leat_spec_component_shape(args->spec, 0);
    return leati_op_infer_output(call, leat_spec_component_dtype(args->spec, 0), &shape,
                                 leati_spec_component_element(args->spec, 0), err);
}

static leat_status stand_in_kernel(leati_kernel_call *call, leat_error *err) {
    (void)call;
    return leati_fail(err, LEAT_INTERNAL, "a stand-in for a captured value was computed");
}

/* For inference alone; no table has it. */
static const leati_tensor_op stand_in_op = {
    .name = "stand_in",
    .version = 1,
    .rows = stand_in_rows,
    .args_size = sizeof(struct stand_in_args),
    .infer = stand_in_infer,
    .kernel = stand_in_kernel,
};

/* The nodes that take the places of arguments, and what they own. */
typedef struct captures {
    struct leati_constant_args *constants;
    leati_binding *bindings;
    leat_tensor *tensors; /* NULL: stand-ins */
    int count;
} captures;

static void captures_fini(captures *c) {
    for (int i = 0; c->constants != NULL && i < c->count; i++) {
        leat_element_fini(&c->constants[i].value);
        leat_spec_unref(c->constants[i].spec);
    }
    for (int i = 0; c->tensors != NULL && i < c->count; i++)
        leat_tensor_unref(&c->tensors[i]);
    leati_free(c->constants);
    leati_free(c->bindings);
    leati_free(c->tensors);
}

static leat_status captures_init(captures *c, int count, leat_error *err) {
    size_t room = (size_t)count;
    *c = (captures){.constants = leati_alloc_zero(room, sizeof(*c->constants)),
                    .bindings = leati_alloc_zero(room, sizeof(*c->bindings)),
                    .tensors = leati_alloc_zero(room, sizeof(*c->tensors)),
                    .count = count};
    if (c->constants == NULL || c->bindings == NULL || c->tensors == NULL)
        return leati_no_memory(err);
    for (int i = 0; i < count; i++)
        c->bindings[i] = (leati_binding){.op = &leati_tensor_op_constant, .args = &c->constants[i]};
    return LEAT_OK;
}

/* What inference may know of capture `i`. */
static leat_status set_spec(captures *c, int i, const leati_type *type, leat_error *err) {
    leat_error local = {0};
    c->constants[i].spec =
        type->dtype == LEAT_OBJECT && type->element != NULL
            ? leat_spec_dataset(leat_spec_ref((leat_spec *)(uintptr_t)type->element), &local)
            : leat_spec_tensor(type->dtype, type->shape, &local);
    return c->constants[i].spec != NULL ? LEAT_OK : leati_error_pass(err, &local);
}

leat_function *leati_captures_stand_in(const leat_object *object, const leati_type *types,
                                       int count, leat_error *err) {
    captures c;
    leat_function *function = NULL;
    struct stand_in_args *stand_ins = leati_alloc((size_t)count, sizeof(*stand_ins));
    leat_status status = captures_init(&c, count, err);
    if (status == LEAT_OK && stand_ins == NULL)
        status = leati_no_memory(err);
    for (int i = 0; i < count && status == LEAT_OK; i++) {
        status = set_spec(&c, i, &types[i], err);
        /* Borrowed: captures_fini releases it. */
        stand_ins[i].spec = c.constants[i].spec;
        c.bindings[i] = (leati_binding){.op = &stand_in_op, .args = &stand_ins[i]};
    }
    if (status == LEAT_OK)
        function = leati_graph_function_bind((const leat_function *)object, c.bindings, count, err);
    captures_fini(&c);
    leati_free(stand_ins);
    return function;
}

/* Capture `i` becomes a constant with this value. */
static leat_status set_value(captures *c, int i, const leat_tensor *value, leat_error *err) {
    leat_shape shape = leat_tensor_shape(value);
    /* Operands lie in the call's memory, and the dataset that gets the function outlives the
     * call. */
    leat_status status = leat_tensor_copy_of(value->dtype, shape, value->data, &c->tensors[i], err);
    if (status != LEAT_OK)
        return status;
    leat_spec *spec = leat_spec_tensor(value->dtype, shape, err);
    status = spec == NULL ? LEAT_RESOURCE_EXHAUSTED
                          : leat_element_set(&c->constants[i].value, spec, &c->tensors[i], err);
    leat_spec_unref(spec);
    return status;
}

/* The constants promise what the arguments promise. */
static leat_status loosen(captures *c, const leat_function *function, leat_error *err) {
    leat_status status = LEAT_OK;
    /* Captured values are the last arguments. */
    int first = function->body.num_arguments - c->count;
    for (int i = 0; i < c->count && status == LEAT_OK; i++)
        if (c->bindings[i].op == &leati_tensor_op_constant)
            status = set_spec(c, i, &function->body.values[first + i].type, err);
    return status;
}

leat_function *leati_captures_bind(const leat_object *object, const leati_operand *operands,
                                   int count, int64_t row, leat_error *err) {
    const leat_function *function = (const leat_function *)object;
    if (count == 0)
        return leat_function_ref((leat_function *)(uintptr_t)function);
    struct leati_dataset_constant_args datasets[LEAT_MAX_OUTPUTS];
    captures c;
    leat_function *bound = NULL;
    leat_status status = captures_init(&c, count, err);
    for (int i = 0; i < count && status == LEAT_OK; i++) {
        leat_tensor value = leati_kernel_operand_tensor(&operands[i], row);
        if (value.dtype != LEAT_OBJECT) {
            status = set_value(&c, i, &value, err);
        } else if (i >= LEAT_MAX_OUTPUTS || value.rank != 0) {
            /* The bound is the room in `datasets`; for tensors there is none. */
            status = leati_refuse(err, STRUCTURE, "capture %d is no single dataset", i);
        } else {
            datasets[i].dataset = *(leat_object **)value.data;
            c.bindings[i] =
                (leati_binding){.op = &leati_tensor_op_dataset_constant, .args = &datasets[i]};
        }
    }
    if (status == LEAT_OK) {
        bound = leati_graph_function_bind(function, c.bindings, count, err);
        /* Refused for the shapes of this row: then the function shall fail, if it does, at an
         * element. */
        if (bound == NULL && err->code == LEAT_INVALID_ARGUMENT &&
            loosen(&c, function, err) == LEAT_OK) {
            *err = (leat_error){0};
            bound = leati_graph_function_bind(function, c.bindings, count, err);
        }
    }
    captures_fini(&c);
    return bound;
}
