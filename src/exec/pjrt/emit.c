/* A step's nodes, printed one after the other by the table emit.def.
 *
 * Happy path: an operation's emitter prints it from its inputs' numbers and its attributes, found
 * by name. Operations that compute halves in float32 get their inputs as float32. A variable is an
 * argument of the program when it is first used, and a result where it was written. Failures:
 * an operation or a form of one that is not in the table. No state, no locks. */
#include "exec/pjrt/emit.h"

#include "base/alloc.h"
#include "base/error.h"
#include "core/spec.h"
#include "graph/variable_ops.h"
#include <string.h>

typedef struct emit_line {
    const leati_tensor_op *op;
    leati_emitter *emitter;
    const char *text;
} emit_line;

static const emit_line lines[] = {
#define X(op, emitter, text) {&leati_tensor_op_##op, leati_emit_##emitter, text},
#include "exec/pjrt/emit.def"
#undef X
};

static const emit_line *find_line(const leati_tensor_op *op) {
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (lines[i].op == op)
            return &lines[i];
    return NULL;
}

bool leati_emit_has(const leati_tensor_op *op) {
    return find_line(op) != NULL || op->trait == LEATI_TRAIT_VIEW;
}

/* ---- attributes ---- */

bool leati_emit_reads(const leati_tensor_op *op, int input) {
    const emit_line *line = find_line(op);
    leati_emitter *emitter = line != NULL ? line->emitter : NULL;
    if (emitter == leati_emit_number || emitter == leati_emit_dimensions)
        return false;
    bool first =
        emitter == NULL || emitter == leati_emit_broadcast || emitter == leati_emit_sum_like;
    return !first || input == 0;
}

const void *leati_emit_attribute(const leati_emit *emit, const char *name) {
    const leati_node *source = emit->node->source;
    for (const leati_row *row = source->op->rows; row != NULL && row->type != LEATI_ROW_END; row++)
        if (row->name != NULL && strcmp(row->name, name) == 0)
            return (const char *)source->args + row->offset;
    return NULL;
}

int64_t leati_emit_int(const leati_emit *emit, const char *name) {
    const int64_t *at = leati_emit_attribute(emit, name);
    return at == NULL ? 0 : *at;
}

double leati_emit_float(const leati_emit *emit, const char *name) {
    const double *at = leati_emit_attribute(emit, name);
    return at == NULL ? 0 : *at;
}

bool leati_emit_bool(const leati_emit *emit, const char *name) {
    const bool *at = leati_emit_attribute(emit, name);
    return at != NULL && *at;
}

const char *leati_emit_string(const leati_emit *emit, const char *name) {
    char *const *at = leati_emit_attribute(emit, name);
    return at == NULL || *at == NULL ? "" : *at;
}

const leati_ints *leati_emit_ints(const leati_emit *emit, const char *name) {
    static const leati_ints none;
    const leati_ints *at = leati_emit_attribute(emit, name);
    return at == NULL ? &none : at;
}

static const leati_type *type_of(const leati_emit *emit, int index) {
    return emit->simple->values[emit->node->first_output + index].type;
}

const leat_element *leati_emit_element(const leati_emit *emit, const char *name) {
    static const leat_element none;
    const leat_element *at = leati_emit_attribute(emit, name);
    return at == NULL ? &none : at;
}

const leat_shape *leati_emit_shape(const leati_emit *emit, int index) {
    return &type_of(emit, index)->shape;
}

leat_dtype leati_emit_dtype(const leati_emit *emit, int index) {
    return type_of(emit, index)->dtype;
}

leat_shape leati_emit_input_shape(const leati_emit *emit, int index) {
    return leati_hlo_shape(&emit->hlo, emit->inputs[index]);
}

leat_dtype leati_emit_input_dtype(const leati_emit *emit, int index) {
    return leati_hlo_dtype(&emit->hlo, emit->inputs[index]);
}

int32_t leati_emit_axis(int64_t axis, int32_t rank) {
    return (int32_t)(axis < 0 ? axis + rank : axis);
}

uint32_t leati_emit_axes(const leati_emit *emit, const char *name, int32_t rank) {
    const leati_ints *axes = leati_emit_ints(emit, name);
    uint32_t set = 0;
    for (int64_t i = 0; i < (int64_t)axes->count; i++)
        set |= UINT32_C(1) << leati_emit_axis(axes->values[i], rank);
    return axes->values != NULL ? set : (UINT32_C(1) << rank) - 1;
}

leat_status leati_emit_lacks(const leati_emit *emit, const char *what, leat_error *err) {
    (void)emit;
    return leati_fail(
        err, LEAT_UNIMPLEMENTED,
        "%s is not there on this device; compute it in the input pipeline or on a CPU", what);
}

/* ---- variables ---- */

/* What the variable has, as a constant. */
static leati_hlo_value value_of(leati_emit *emit, leat_variable *variable) {
    leat_tensor tensor;
    leat_error err = {0};
    if (leat_variable_read(variable, &tensor, &err) != LEAT_OK) {
        emit->hlo.failed = true;
        return 0;
    }
    leati_hlo_value out = leati_hlo_constant(&emit->hlo, &tensor);
    leat_tensor_unref(&tensor);
    return out;
}

leati_emit_variable *leati_emit_variable_at(leati_emit *emit, leat_variable *variable) {
    for (size_t i = 0; i < emit->num_variables; i++)
        if (emit->variables[i].variable == variable)
            return &emit->variables[i];
    if (!leati_grow((void **)&emit->variables, &emit->variable_capacity, emit->num_variables + 1,
                    sizeof *emit->variables)) {
        emit->hlo.failed = true;
        return NULL;
    }
    leati_emit_variable *added = &emit->variables[emit->num_variables++];
    *added = (leati_emit_variable){.variable = variable};
    if (emit->is_text)
        added->argument = value_of(emit, variable);
    else
        added->argument = leati_hlo_argument(&emit->hlo, variable->dtype, &variable->shape);
    added->now = added->argument;
    return added;
}

static leati_emit_variable *variable_of(leati_emit *emit, const char *name) {
    leat_object *const *at = leati_emit_attribute(emit, name);
    if (at == NULL || !leati_variable_is_object(*at))
        return NULL;
    return leati_emit_variable_at(emit, (leat_variable *)(void *)*at);
}

leati_hlo_value leati_emit_variable_now(leati_emit *emit, const char *name) {
    const leati_emit_variable *variable = variable_of(emit, name);
    return variable == NULL ? 0 : variable->now;
}

void leati_emit_variable_set(leati_emit *emit, const char *name, leati_hlo_value value) {
    leati_emit_variable *variable = variable_of(emit, name);
    if (variable == NULL)
        return;
    variable->now = value;
    variable->written = true;
}

/* ---- nodes ---- */

bool leati_emit_is_half(leat_dtype dtype) {
    return dtype == LEAT_FLOAT16 || dtype == LEAT_BFLOAT16;
}

leati_hlo_value leati_emit_single(leati_emit *emit, leati_hlo_value x) {
    bool half = leati_emit_is_half(leati_hlo_dtype(&emit->hlo, x));
    return half ? leati_hlo_convert(&emit->hlo, x, LEAT_FLOAT32) : x;
}

enum { MOST_INPUTS = 1024 };

static leat_status print_node(leati_emit *emit, leati_hlo_value *values, leat_error *err) {
    const leati_simple_node *node = emit->node;
    const leati_tensor_op *op = node->source->op;
    const emit_line *line = find_line(op);
    leati_hlo_value inputs[MOST_INPUTS];
    if (line == NULL && op->trait != LEATI_TRAIT_VIEW)
        return leati_emit_lacks(emit, "the operation", err);
    if (node->num_inputs > MOST_INPUTS)
        return leati_emit_lacks(emit, "a node of so many inputs", err);
    for (int i = 0; i < node->num_inputs; i++) {
        inputs[i] = values[node->inputs[i]];
        if (op->halves == LEATI_HALVES_FLOAT)
            inputs[i] = leati_emit_single(emit, inputs[i]);
    }
    emit->inputs = inputs;
    emit->num_inputs = node->num_inputs;
    emit->outputs = values + node->first_output;
    if (line != NULL) {
        emit->text = line->text;
        LEATI_TRY(line->emitter(emit, err));
    } else {
        emit->outputs[0] = leati_hlo_reshape(&emit->hlo, inputs[0], leati_emit_shape(emit, 0));
    }
    for (int i = 0; i < node->num_outputs; i++)
        emit->outputs[i] =
            leati_hlo_convert(&emit->hlo, emit->outputs[i], leati_emit_dtype(emit, i));
    return LEAT_OK;
}

leat_status leati_emit_node(leati_emit *emit, const leati_simple_node *node,
                            leati_hlo_value *values, leat_error *err) {
    emit->node = node;
    if (print_node(emit, values, err) != LEAT_OK)
        return leati_simplify_blame(emit->simple, node, err);
    if (emit->hlo.failed)
        return leati_no_memory(err);
    for (size_t i = 0; emit->is_text && i < emit->num_variables; i++)
        if (emit->variables[i].written) {
            (void)leati_fail(err, LEAT_UNIMPLEMENTED,
                             "the text of a function writes no variables; give new values back");
            return leati_simplify_blame(emit->simple, node, err);
        }
    return LEAT_OK;
}
