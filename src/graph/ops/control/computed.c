/* computed: another operation, of which some attributes are values that the run computes: a shape,
 * a size, the place where a slice begins (tf.reshape(x, tf.shape(y))).
 *
 * Attributes are the operation's name, its arguments as JSON with placeholders, and the names of
 * those that the last inputs give. The arguments are read once, into an object that nodes share.
 * Inference asks the operation with placeholders and says which they are. The kernel binds a copy
 * of the arguments for each row and runs the operation's kernel on it; where rows are many, their
 * outputs have one static shape, and a view becomes a copy.
 *
 * Fails where a value does not fit its argument. The gradient is computed_gradient; nothing flows
 * into attributes. No locks. */
#include "graph/computed.h"

#include "base/minmax.h"
#include "core/json.h"
#include "core/object.h"
#include "core/tensor.h"
#include "graph/halves.h"
#include "graph/kernel_host.h"
#include "graph/known.h"
#include "graph/node_args.h"
#include "graph/support/support.h"

#include <string.h>

/* ---- what is called ---- */
typedef struct target {
    leat_object object;
    const leati_tensor_op *op;
    void *args; /* owned */
} target;

static void target_free(leat_object *object) {
    target *t = (target *)(void *)object;
    leati_node_args_free(t->op, t->args);
    leati_free(t);
}

static const leati_object_type target_type = {.name = "operation", .free = target_free};

/* `args` is given. NULL without memory. */
static target *target_new(const leati_tensor_op *op, void *args, leat_error *err) {
    target *t = leati_alloc_zero(1, sizeof *t);
    if (t == NULL) {
        leati_node_args_free(op, args);
        leati_no_memory(err);
        return NULL;
    }
    leati_object_init(&t->object, &target_type);
    t->op = op;
    t->args = args;
    return t;
}

static const leati_row computed_rows[] = {LEATI_COMPUTED_ROWS, {0}};

static const target *target_of(const struct leati_computed_args *args) {
    return (const target *)(const void *)args->target;
}

const leati_tensor_op *leati_computed_op(const void *args) {
    const target *t = target_of(args);
    return t == NULL ? NULL : t->op;
}

const void *leati_computed_args_of(const void *args) {
    const target *t = target_of(args);
    return t == NULL ? NULL : t->args;
}

const leati_strings *leati_computed_bound(const void *args) {
    return &((const struct leati_computed_args *)args)->bound;
}

static const leati_row *row_named(const leati_tensor_op *op, const leat_string *name) {
    for (const leati_row *row = op->rows; row != NULL && row->type != LEATI_ROW_END; row++)
        if (strlen(row->name) == name->size && memcmp(row->name, name->data, name->size) == 0)
            return row;
    return NULL;
}

static leat_status check_bound(const leati_tensor_op *op, const leati_strings *bound,
                               leat_error *err) {
    for (int32_t i = 0; i < bound->count; i++) {
        const leati_row *row = row_named(op, &bound->values[i]);
        if (row == NULL || (row->flags & LEATI_TENSOR) == 0)
            return leati_refuse(err, VALUE, "%s has no argument %.*s to compute", op->name,
                                (int)LEATI_MIN(bound->values[i].size, 64), bound->values[i].data);
    }
    return LEAT_OK;
}

leat_status leati_computed_complete(leat_graph *graph, void *node_args, leat_error *err) {
    struct leati_computed_args *args = node_args;
    const leati_tensor_op *op = leati_graph_op_find(args->op);
    void *read = NULL;
    /* One in another could nest without bound, because each text is read at depth 1 again. */
    if (op == NULL || op == &leati_tensor_op_computed)
        return leati_refuse(err, VALUE, "\"%s\" is no operation that can be called", args->op);
    LEATI_TRY(check_bound(op, &args->bound, err));
    json_t *json = leati_json_parse(args->arguments, strlen(args->arguments), err);
    if (json == NULL)
        return LEAT_INVALID_ARGUMENT;
    leat_status status = leati_node_args_read(graph, op, json, 1, &read, err);
    json_decref(json);
    LEATI_TRY(status);
    target *t = target_new(op, read, err);
    args->target = t == NULL ? NULL : &t->object;
    return t == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
}

/* A copy of the target's arguments, in memory of the caller's. */
static leat_status copy_args(const target *t, void **out, leat_error *err) {
    /* An operation without arguments has a copy, too, so that NULL means failure. */
    size_t size = t->op->args_size > 0 ? t->op->args_size : 1;
    void *copy = leati_alloc_zero(1, size);
    if (copy == NULL)
        return leati_no_memory(err);
    leat_status status = leati_rows_copy(t->op->rows, t->args, copy, err);
    if (status != LEAT_OK)
        leati_free(copy);
    *out = status == LEAT_OK ? copy : NULL;
    return status;
}

/* ---- inference ---- */

/* Lists and shapes get as many placeholders as the vector has values, and what is known of them. */
static leat_status prepare_placeholder(const leati_row *row, void *args, const leati_type *value,
                                       const leati_known *known, leat_error *err) {
    void *at = (char *)args + row->offset;
    int64_t length = value->shape.rank == 0   ? 1
                     : value->shape.rank == 1 ? value->shape.dims[0]
                                              : -1;
    if (row->type == LEATI_ROW_SHAPE) {
        leat_shape *shape = at;
        *shape = (leat_shape){.rank = LEAT_UNKNOWN_RANK};
        if (length > LEAT_MAX_RANK)
            return leati_refuse(err, SHAPE, "the rank would be %lld; expected at most %d",
                                (long long)length, LEAT_MAX_RANK);
        if (length < 0)
            return LEAT_OK;
        /* As many dimensions as the vector has values. */
        shape->rank = (int32_t)length;
        for (int32_t d = 0; d < shape->rank; d++)
            shape->dims[d] =
                d < known->count && known->values[d] >= 0 ? known->values[d] : LEAT_UNKNOWN_DIM;
    } else if (row->type == LEATI_ROW_INTS) {
        leati_ints *ints = at;
        leati_free(ints->values);
        *ints = (leati_ints){0};
        /* No memory for values tells inference that not even their number is known. */
        if (length < 0 || length > INT32_MAX)
            return LEAT_OK;
        ints->values = leati_alloc_zero((size_t)length, sizeof *ints->values);
        if (ints->values == NULL)
            return leati_no_memory(err);
        ints->count = (int32_t)length;
        for (int32_t i = 0; i < ints->count; i++)
            ints->values[i] = i < known->count ? known->values[i] : LEATI_UNKNOWN_NUMBER;
    }
    return LEAT_OK;
}

/* Is the argument a number that is known? It is put in its place. */
static bool is_whole(const leati_row *row, void *args, const leati_known *known) {
    if (row->type != LEATI_ROW_INT || known->count != 1 || known->values[0] == LEATI_UNKNOWN_NUMBER)
        return false;
    *(int64_t *)(void *)((char *)args + row->offset) = known->values[0];
    return true;
}

static leat_status infer_with(leati_infer_call *call, const target *t, void *args, int own,
                              leat_error *err) {
    const struct leati_computed_args *computed = call->args;
    uint64_t unknown = 0;
    for (int i = 0; i < computed->bound.count; i++) {
        const leati_row *row = row_named(t->op, &computed->bound.values[i]);
        const leati_type *value = &call->inputs[own + i];
        if (!leati_row_takes(row, value->dtype, value->shape.rank))
            return leati_refuse(err, DTYPE, "argument %s: expected %s, found %s", row->name,
                                leati_row_type_name(row->type), leat_dtype_name(value->dtype));
        /* Numbers may be known although the value is computed: dimensions of a shape,
         * for instance. */
        leati_known known = {0};
        if (!leati_op_infer_known(call, own + i, &known))
            known.count = 0;
        LEATI_TRY(prepare_placeholder(row, args, value, &known, err));
        if (!is_whole(row, args, &known))
            unknown |= UINT64_C(1) << (row - t->op->rows);
    }
    /* From here on the call is one of the operation, which knows nothing of bound inputs. */
    call->args = args;
    call->num_inputs = own;
    call->unknown = unknown;
    return leati_halves_infer(t->op, call, err);
}

static leat_status computed_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_computed_args *computed = call->args;
    const target *t = target_of(computed);
    int own = call->num_inputs - computed->bound.count;
    void *args = NULL;
    if (t == NULL)
        return leati_fail(err, LEAT_INTERNAL, "the operation was not read");
    if (own < t->op->min_inputs || (t->op->max_inputs >= 0 && own > t->op->max_inputs))
        return leati_refuse(err, STRUCTURE, "%s has %d inputs; found %d", t->op->name,
                            t->op->min_inputs, own);
    LEATI_TRY(copy_args(t, &args, err));
    leat_status status = infer_with(call, t, args, own, err);
    leati_node_args_free(t->op, args);
    return status;
}

/* ---- the run ---- */

/* Stands between the operation's kernel and the executor where there are several rows. */
typedef struct row_host {
    struct leati_kernel_host host;
    leati_kernel_call *outer;
} row_host;

/* The output has its shape and this row's memory already: it only has to be the right one. */
static leat_status row_output(leati_kernel_call *call, int index, int32_t rank, const int64_t *dims,
                              leat_error *err) {
    leat_shape shape = {.rank = rank}, fixed = leati_support_operand_shape(&call->outputs[index]);
    for (int32_t d = 0; d < rank; d++)
        shape.dims[d] = dims[d];
    if (leati_shape_equal(&shape, &fixed))
        return LEAT_OK;
    char texts[2][128];
    return leati_fail(err, LEAT_INTERNAL, "output %d has shape %s, but inference promised %s",
                      index, leati_shape_text(&shape, texts[0]),
                      leati_shape_text(&fixed, texts[1]));
}

static leat_status row_hold(leati_kernel_call *call, int index, int input, leat_error *err) {
    const row_host *host = (const row_host *)(const void *)call->host;
    /* The operation's own inputs come first, so both calls number them alike. */
    return leati_op_kernel_hold(host->outer, index, input, err);
}

static leat_status row_view(leati_kernel_call *call, int index, int32_t rank, const int64_t *dims,
                            void *data, int64_t row_stride, leat_buffer *owner, leat_error *err) {
    (void)row_stride;
    (void)owner;
    const leati_operand *out = &call->outputs[index];
    LEATI_TRY(row_output(call, index, rank, dims, err));
    /* All rows lie in one piece of memory, which a view of one of them cannot become. */
    if (out->count > 0)
        memcpy(out->data, data, leati_kernel_operand_row_bytes(out));
    /* Which input the strings point into is not said, so each one is kept. */
    for (int i = 0; i < call->num_inputs && out->dtype == LEAT_STRING; i++)
        if (call->inputs[i].dtype == LEAT_STRING)
            LEATI_TRY(row_hold(call, index, i, err));
    return LEAT_OK;
}

static char *row_text(leati_kernel_call *call, int index, size_t size, leat_error *err) {
    const row_host *host = (const row_host *)(const void *)call->host;
    return leati_op_kernel_text(host->outer, index, size, err);
}

leat_status leati_computed_bind(const struct leati_computed_args *args, const leati_operand *bound,
                                int64_t row, void **out, leat_error *err) {
    const target *t = target_of(args);
    void *copy = NULL;
    LEATI_TRY(copy_args(t, &copy, err));
    leat_status status = LEAT_OK;
    for (int i = 0; i < args->bound.count && status == LEAT_OK; i++) {
        const char *name = row_named(t->op, &args->bound.values[i])->name;
        leat_tensor value = leati_kernel_operand_tensor(&bound[i], row);
        status = leati_rows_bind(t->op->rows, copy, name, &value, err);
    }
    if (status == LEAT_OK)
        status = leati_rows_check(t->op->rows, copy, t->op->name, err);
    if (status != LEAT_OK)
        leati_node_args_free(t->op, copy);
    *out = status == LEAT_OK ? copy : NULL;
    return status;
}

/* A list of integers in the arena. */
static leat_status bind_list(const leati_operand *bound, int64_t row, leati_arena *arena,
                             leati_ints *out, leat_error *err) {
    /* Inference lets unknown ranks pass. */
    if (bound->rank > 1 || bound->dtype < LEAT_INT8 || bound->dtype > LEAT_UINT64 ||
        bound->count > INT32_MAX)
        return leati_refuse(err, DTYPE, "expected a list of integers, found %s",
                            leat_dtype_name(bound->dtype));
    size_t bytes = (size_t)bound->count * sizeof *out->values;
    out->values = leati_arena_alloc(arena, bytes == 0 ? 1 : bytes);
    if (out->values == NULL)
        return leati_no_memory(err);
    out->count = (int32_t)bound->count;
    leat_tensor list = leati_kernel_operand_tensor(bound, row);
    for (int32_t i = 0; i < out->count; i++)
        LEATI_TRY(leati_tensor_int64_at(&list, i, &out->values[i], err));
    return LEAT_OK;
}

leat_status leati_computed_borrow(const struct leati_computed_args *args,
                                  const leati_operand *bound, int64_t row, leati_arena *arena,
                                  void **out, leat_error *err) {
    const target *t = target_of(args);
    char *copy = leati_arena_alloc(arena, t->op->args_size);
    if (copy == NULL)
        return leati_no_memory(err);
    /* Lists that are not bound are shared with the target, which outlives the call. */
    memcpy(copy, t->args, t->op->args_size);
    for (int i = 0; i < args->bound.count; i++) {
        const leati_row *to = row_named(t->op, &args->bound.values[i]);
        leat_tensor value = leati_kernel_operand_tensor(&bound[i], row);
        if (to->type == LEATI_ROW_INTS)
            LEATI_TRY(bind_list(&bound[i], row, arena, (void *)(copy + to->offset), err));
        else
            LEATI_TRY(leati_rows_bind(t->op->rows, copy, to->name, &value, err));
    }
    *out = copy;
    return leati_rows_check(t->op->rows, copy, t->op->name, err);
}

/* What inference could not check without the values. */
static leat_status check_row(const leati_kernel_call *call, const target *t, int own,
                             const void *args, leat_error *err) {
    leati_type inputs[LEAT_MAX_OUTPUTS], outputs[LEAT_MAX_OUTPUTS];
    if (own > LEAT_MAX_OUTPUTS)
        return LEAT_OK;
    for (int i = 0; i < own; i++)
        inputs[i] = (leati_type){.dtype = call->inputs[i].dtype,
                                 .shape = leati_support_operand_shape(&call->inputs[i])};
    leati_infer_call infer = {.inputs = inputs,
                              .num_inputs = own,
                              .args = args,
                              .outputs = outputs,
                              .capacity = LEAT_MAX_OUTPUTS};
    leat_status status = leati_halves_infer(t->op, &infer, err);
    leati_op_infer_fini(&infer);
    return status;
}

static leat_status run_row(leati_kernel_call *call, const target *t, int own, int64_t row,
                           const void *args, leati_operand *operands, leat_error *err) {
    row_host host = {.host = {row_output, row_view, row_text, row_hold}, .outer = call};
    leati_call_context context = {.num_replicas = 1};
    leati_kernel_call inner = *call;
    if (call->context != NULL)
        context = *call->context;
    /* Each row is a call of its own for what draws random numbers. */
    context.ordinal += row;
    inner.context = &context;
    inner.args = args;
    inner.num_inputs = own;
    inner.n = 1;
    inner.failed_row = 0;
    /* A single row is the executor's own: it may have any shape, and views stay views. */
    if (call->n > 1) {
        for (int i = 0; i < own + call->num_outputs; i++) {
            operands[i] = i < own ? call->inputs[i] : call->outputs[i - own];
            operands[i].data = leati_support_row_of(&operands[i], row);
        }
        inner.inputs = operands;
        inner.outputs = operands + own;
        inner.host = &host.host;
    }
    return leati_halves_run(t->op, &inner, err);
}

static leat_status computed_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_computed_args *computed = call->args;
    const target *t = target_of(computed);
    int own = call->num_inputs - computed->bound.count;
    size_t size = (size_t)(own + call->num_outputs) * sizeof(leati_operand);
    leati_operand *operands = leati_arena_alloc(call->arena, size);
    if (operands == NULL)
        return leati_no_memory(err);
    leat_status status = LEAT_OK;
    for (int64_t row = 0; row < call->n && status == LEAT_OK; row++) {
        void *args = NULL;
        call->failed_row = row;
        status = leati_computed_bind(computed, call->inputs + own, row, &args, err);
        if (status != LEAT_OK)
            break;
        status = check_row(call, t, own, args, err);
        if (status == LEAT_OK)
            status = run_row(call, t, own, row, args, operands, err);
        leati_node_args_free(t->op, args);
    }
    if (status != LEAT_OK)
        return leati_prefix(err, "%s", t->op->name);
    call->failed_row = 0;
    return LEAT_OK;
}

static uint32_t computed_flags(const void *node_args) {
    const target *t = target_of(node_args);
    if (t == NULL)
        return 0;
    uint32_t flags = t->op->node_flags != NULL ? t->op->node_flags(t->args) : t->op->flags;
    return flags & ~(uint32_t)LEATI_ELEMENTWISE;
}

static leat_status computed_gradient(leati_gradient_call *call, leat_error *err) {
    const struct leati_computed_args *args = call->args;
    const leati_tensor_op *op = leati_computed_op(args);
    int own = call->num_inputs - args->bound.count, count = 0;
    size_t room = (size_t)call->num_inputs + (size_t)call->num_outputs;
    if (op == NULL || op->gradient == NULL)
        return leati_fail(err, LEAT_UNIMPLEMENTED, "%s has no gradient",
                          op == NULL ? "it" : op->name);
    leat_value *inputs = leati_alloc(room, sizeof *inputs);
    if (inputs == NULL)
        return leati_no_memory(err);
    for (int i = 0; i < call->num_inputs; i++)
        inputs[count++] = call->inputs[i];
    for (int i = 0; i < call->num_outputs; i++) {
        leat_value gradient = call->output_gradients[i];
        if (leati_graph_dtype_is_trainable(leat_value_dtype(call->outputs[i])))
            inputs[count++] = gradient.id < 0 ? leat_op_zeros_like(call->outputs[i]) : gradient;
    }
    leat_value next = leati_computed_gradient_node(call->graph, args, own, inputs, count);
    for (int i = 0; i < own && next.id >= 0; i++)
        if (leati_graph_dtype_is_trainable(leat_value_dtype(call->inputs[i]))) {
            call->input_gradients[i] = next;
            next.id++;
        }
    leati_free(inputs);
    return LEAT_OK;
}

int32_t leati_graph_add_computed(leat_graph *graph, const leati_tensor_op *op, const void *args,
                                 const leat_value *inputs, int num_inputs, const leat_string *bound,
                                 const leat_value *values, int num_bound) {
    leat_error err = {0};
    leat_value all[2 * LEAT_MAX_OUTPUTS];
    int32_t first = -1;
    struct leati_computed_args computed = {
        .op = (char *)(uintptr_t)op->name,
        .bound = {.values = (leat_string *)(uintptr_t)bound, .count = num_bound}};
    /* A target without a count of references, to copy the arguments from. */
    target borrowed = {.op = op, .args = (void *)(uintptr_t)args}, *t = NULL;
    /* The text is what is saved and compared; the target spares this process reading it. */
    json_t *json = leati_json_of_rows(op->rows, args, false, &leati_function_json, &err);
    void *copy = NULL;
    if (json != NULL)
        computed.arguments = leati_json_print(json, 0, false, &err);
    json_decref(json);
    if (computed.arguments != NULL && copy_args(&borrowed, &copy, &err) == LEAT_OK)
        t = target_new(op, copy, &err);
    if (t != NULL) {
        /* Borrowed: the node takes a reference of its own. */
        computed.target = &t->object;
        for (int i = 0; i < num_inputs; i++)
            all[i] = inputs[i];
        for (int i = 0; i < num_bound; i++)
            all[num_inputs + i] = values[i];
        first = leati_graph_add_values(graph, &leati_tensor_op_computed, &computed, all,
                                       num_inputs + num_bound);
        leati_object_unref(&t->object);
    } else {
        leati_prefix(&err, "op %s (node %zu)", op->name, graph->body.num_nodes);
        leati_graph_error(graph, &err);
    }
    leati_free(computed.arguments);
    return first;
}

const leati_tensor_op leati_tensor_op_computed = {
    .name = "computed",
    .version = 1,
    .doc = "Another operation with attributes that the last inputs give.",
    .types = "*",
    .outputs = "*outputs",
    .halves = LEATI_HALVES_OWN,
    .rows = computed_rows,
    .args_size = sizeof(struct leati_computed_args),
    .min_inputs = 1,
    .max_inputs = -1,
    .infer = computed_infer,
    .kernel = computed_kernel,
    .gradient = computed_gradient,
    .complete = leati_computed_complete,
    .node_flags = computed_flags,
};
