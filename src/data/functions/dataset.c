/* dataset: the tensor operation that makes a dataset value, so that dataset operators work inside
 * functions (flat_map, interleave, windows). One node is one operator of the plan table.
 *
 * Attributes: the operator's name, its arguments as the JSON of plans, the names of the arguments
 * that are bound to computed tensors, and functions of the operator that may capture values.
 * Inputs: first the operator's input datasets, then one tensor per bound name (names that repeat
 * form a structure: what `structures` says, else a tuple), then what each function captures, its
 * last arguments. The kernel copies the parsed arguments (template.h), binds the tensors, puts
 * constants in the place of captured arguments and makes the node. Inference builds the node over
 * stub inputs and with stand-ins for what is not known to learn the elements' spec.
 *
 * Failures: unknown operator or argument, arguments that the operator refuses; all are reported
 * while the function is built, or, for bound values, as the failure of that element. No locks. */
#include "base/minmax.h"
#include "core/spec.h"
#include "data/functions/captures.h"
#include "graph/kernel_host.h"
#include "graph/known.h"
#include "graph/support/support.h"
#include <string.h>

static const leati_row dataset_rows[] = {
    {.name = "op",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct leati_dataset_args, op),
     .doc = "name of the dataset operator"},
    {.name = "args",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct leati_dataset_args, args),
     .default_text = "{}",
     .doc = "its arguments as a JSON object"},
    {.name = "bound",
     .type = LEATI_ROW_STRINGS,
     .offset = offsetof(struct leati_dataset_args, bound),
     .doc = "names of the arguments that inputs give, in order"},
    {.name = "structures",
     .type = LEATI_ROW_SPEC,
     .offset = offsetof(struct leati_dataset_args, structures),
     .doc = "a dict of the structures that bound tensors form, by argument"},
    {.name = "functions",
     .type = LEATI_ROW_STRINGS,
     .offset = offsetof(struct leati_dataset_args, functions),
     .doc = "names of the arguments that are the functions below"},
    {.name = "captures",
     .type = LEATI_ROW_INTS,
     .offset = offsetof(struct leati_dataset_args, captures),
     .doc = "how many of the last inputs each function takes as its last arguments"},
#define FUNCTION(i)                                                                                \
    {                                                                                              \
        .name = "function_" #i, .type = LEATI_ROW_FUNCTION,                                        \
        .offset = offsetof(struct leati_dataset_args, function[i]), .doc = "function " #i          \
    }
    FUNCTION(0),
    FUNCTION(1),
    FUNCTION(2),
    FUNCTION(3),
#undef FUNCTION
    {0},
};

/* Inputs that functions capture; the last ones. */
static int count_captures(const struct leati_dataset_args *args) {
    int64_t count = 0;
    for (int i = 0; i < args->captures.count; i++)
        count += args->captures.values[i];
    return (int)count;
}

/* ---- inference ---- */

/* A dataset that only has a spec: what an input is before it exists. */
struct stub_args {
    leat_spec *spec;
};

static const leati_row stub_rows[] = {
    {.name = "spec",
     .type = LEATI_ROW_SPEC,
     .offset = offsetof(struct stub_args, spec),
     .doc = "its elements"},
    {0},
};

static leat_spec *stub_spec(const leat_dataset *dataset, leat_error *err) {
    (void)err;
    return leat_spec_ref(((const struct stub_args *)dataset->args)->spec);
}

static leat_status stub_open(leati_node_state *node, void *state, leat_error *err) {
    (void)node;
    (void)state;
    return leati_fail(err, LEAT_INTERNAL, "a stub of a dataset was opened");
}

static const leati_dataset_op stub_op = {
    .name = "stub",
    .version = 1,
    .args_size = sizeof(struct stub_args),
    .rows = stub_rows,
    .spec = stub_spec,
    .state_size = 1,
    .open = stub_open,
};

/* Do the attributes agree with each other and with the inputs? *num_datasets is the number of input
 * datasets. */
static leat_status check_node(const leati_infer_call *call, int *num_datasets, leat_error *err) {
    const struct leati_dataset_args *args = call->args;
    if (args->functions.count > LEATI_MOST_FUNCTIONS ||
        args->functions.count != args->captures.count) {
        return leati_refuse(
            err, VALUE,
            "dataset: %d functions and %d numbers of captures; expected as many, at "
            "most %d",
            args->functions.count, args->captures.count, LEATI_MOST_FUNCTIONS);
    }
    for (int i = 0; i < args->functions.count; i++) {
        int64_t count = args->captures.values[i];
        if (!leati_graph_object_is_function(args->function[i]) || count < 0 ||
            count > call->num_inputs) {
            return leati_refuse(err, STRUCTURE,
                                "dataset: function %d is none, or its number of captures is wrong",
                                i);
        }
    }
    /* What is left of the inputs are the datasets; only these may be objects. */
    int count = call->num_inputs - args->bound.count - count_captures(args);
    for (int i = 0; i < call->num_inputs - count_captures(args); i++)
        if ((call->inputs[i].dtype == LEAT_OBJECT) != (i < count))
            count = -1;
    if (count < 0 || count > LEAT_MAX_OUTPUTS) {
        return leati_refuse(
            err, STRUCTURE,
            "dataset: %d inputs are not at most %d datasets, then %d tensors bound to "
            "names and %d captured values",
            call->num_inputs, LEAT_MAX_OUTPUTS, args->bound.count, count_captures(args));
    }
    *num_datasets = count;
    return LEAT_OK;
}

/* How many tensors from bound name `first` on belong to one argument. */
static int count_bound(const struct leati_dataset_args *args, const leati_dataset_op *op,
                       int first) {
    const leati_row *row = leati_template_bound_row(args, op, first);
    int count = 1;
    /* A structure's name stands once for each of its tensors; other arguments take one. */
    while (row->type == LEATI_ROW_ELEMENT && first + count < args->bound.count &&
           count < LEAT_MAX_OUTPUTS && leati_template_bound_row(args, op, first + count) == row)
        count++;
    return count;
}

/* The structure of `count` tensors bound to `row`, with these types. Owned. */
static leat_spec *bound_spec(const struct leati_dataset_args *args, const leati_row *row,
                             const leati_type *types, int count, leat_error *err) {
    leat_spec *children[LEAT_MAX_OUTPUTS];
    leat_dtype dtypes[LEAT_MAX_OUTPUTS];
    leat_shape shapes[LEAT_MAX_OUTPUTS];
    const leat_spec *structure = NULL;
    int keys = args->structures == NULL ? 0 : leat_spec_num_children(args->structures);
    for (int i = 0; i < keys; i++) {
        const char *key = leat_spec_key(args->structures, i);
        structure = key != NULL && strcmp(key, row->name) == 0
                        ? leat_spec_child(args->structures, i)
                        : structure;
    }
    if (structure == NULL) {
        for (int i = 0; i < count; i++)
            children[i] = leat_spec_tensor(types[i].dtype, types[i].shape, err);
        /* As from_tensors has it: one tensor is the component itself, no tuple of one. */
        return count == 1 ? children[0] : leat_spec_tuple(children, count, err);
    }
    if (leat_spec_num_components(structure) != count) {
        leati_refuse(
            err, STRUCTURE,
            "dataset: the structure of %s has %d components, but %d tensors are bound to it",
            row->name, leat_spec_num_components(structure), count);
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        dtypes[i] = types[i].dtype;
        shapes[i] = types[i].shape;
    }
    return leati_spec_like(structure, dtypes, shapes, err);
}

/* Writes the numbers of a short list of integers; -1 stands for one that only the run knows. */
static void write_known(const leati_known *known, leat_tensor *out) {
    for (int32_t i = 0; i < known->count; i++) {
        int64_t value = known->values[i] == LEATI_UNKNOWN_NUMBER ? -1 : known->values[i];
        if (out->dtype == LEAT_INT64)
            ((int64_t *)out->data)[i] = value;
        else
            ((int32_t *)out->data)[i] = (int32_t)value;
    }
}

/* A tensor like input `index` for which anything may be true: unknown dimensions are 1, unknown
 * numbers -1, which stands for an unknown dimension where it means one. */
static leat_status stand_in(const leati_infer_call *call, int index, leat_tensor *out,
                            leat_error *err) {
    const leati_type *type = &call->inputs[index];
    leat_shape shape = type->shape;
    shape.rank = LEATI_MAX(0, shape.rank);
    for (int32_t d = 0; d < shape.rank; d++)
        shape.dims[d] = shape.dims[d] < 0 ? 1 : shape.dims[d];
    leat_status status = leat_tensor_new(type->dtype, shape, out, err);
    /* Bytes of 0xff are -1 in both; values of other dtypes become 0. */
    bool filled = type->dtype == LEAT_INT32 || type->dtype == LEAT_INT64;
    if (status == LEAT_OK && leat_tensor_bytes(out) > 0)
        memset(out->data, filled ? 0xff : 0, leat_tensor_bytes(out));
    leati_known known;
    if (status == LEAT_OK && filled && leati_op_infer_known(call, index, &known) &&
        known.count == leat_tensor_count(out))
        write_known(&known, out);
    return status;
}

/* Puts a structure of stand-ins into `element`; its spec says what is known. */
static leat_status stand_in_element(const leati_infer_call *call, const leat_spec *spec, int first,
                                    int count, leat_element *element, leat_error *err) {
    leat_tensor tensors[LEAT_MAX_OUTPUTS] = {{0}};
    leat_status status = LEAT_OK;
    for (int i = 0; i < count && status == LEAT_OK; i++)
        status = stand_in(call, first + i, &tensors[i], err);
    if (status == LEAT_OK)
        status = leat_element_set(element, spec, tensors, err);
    for (int i = 0; i < count; i++)
        leat_tensor_unref(&tensors[i]);
    return status;
}

/* Fills a copy of the parsed arguments with stand-ins; numbers get `more` added. */
static leat_status fill_stand_ins(const leati_infer_call *call, const leati_dataset_template *t,
                                  int num_datasets, int more, void *filled, leat_error *err) {
    const struct leati_dataset_args *args = call->args;
    const leati_type *types = call->inputs + num_datasets;
    leat_status status = LEAT_OK;
    for (int i = 0; i < args->bound.count && status == LEAT_OK;) {
        const leati_row *row = leati_template_bound_row(args, t->op, i);
        int count = count_bound(args, t->op, i);
        char *at = (char *)filled + row->offset;
        if (row->type == LEATI_ROW_INT)
            *(int64_t *)(void *)at += more;
        if (row->type == LEATI_ROW_ELEMENT) {
            leat_spec *spec = bound_spec(args, row, types + i, count, err);
            status = spec == NULL ? LEAT_RESOURCE_EXHAUSTED
                                  : stand_in_element(call, spec, num_datasets + i, count,
                                                     (leat_element *)(void *)at, err);
            leat_spec_unref(spec);
        }
        i += count;
    }
    types += args->bound.count;
    for (int i = 0; i < args->functions.count && status == LEAT_OK; i++) {
        int count = (int)args->captures.values[i];
        leat_function *function = leati_captures_stand_in(args->function[i], types, count, err);
        const leati_row *row = leati_template_called_row(args, t->op, i);
        *(leat_object **)(void *)((char *)filled + row->offset) = (leat_object *)function;
        status = function == NULL ? LEAT_INVALID_ARGUMENT : LEAT_OK;
        if (status != LEAT_OK)
            leati_prefix(err, "%s: %s", t->op->name, row->name);
        types += count;
    }
    return status;
}

/* The spec of the node over stubs for these arguments. Owned. */
static leat_spec *spec_with_args(const leati_infer_call *call, const leati_dataset_op *op,
                                 const void *args, int num_datasets, leat_error *err) {
    leat_dataset *stubs[LEAT_MAX_OUTPUTS] = {0};
    for (int i = 0; i < num_datasets; i++) {
        const leat_spec *element = call->inputs[i].element;
        struct stub_args stub = {.spec = (leat_spec *)(uintptr_t)element};
        if (element == NULL)
            leati_refuse(err, STRUCTURE, "dataset: input %d is no dataset", i);
        else
            stubs[i] = leati_dataset_new(&stub_op, &stub, NULL, 0, err);
    }
    /* A stub that could not be made is NULL and passes through: no node either, and its error
     * stands. */
    leat_dataset *node = leati_dataset_new(op, args, stubs, num_datasets, err);
    leat_spec *spec = node == NULL ? NULL : leat_spec_ref(node->spec);
    leat_dataset_unref(node);
    return spec;
}

static leat_spec *spec_with_numbers(const leati_infer_call *call, const leati_dataset_template *t,
                                    int num_datasets, int more, leat_error *err) {
    leat_spec *spec = NULL;
    void *filled = leati_alloc_zero(1, t->op->args_size);
    if (filled == NULL) {
        leati_no_memory(err);
    } else if (leati_rows_copy(t->op->rows, t->args, filled, err) == LEAT_OK) {
        if (fill_stand_ins(call, t, num_datasets, more, filled, err) == LEAT_OK)
            spec = spec_with_args(call, t->op, filled, num_datasets, err);
        leati_rows_fini(t->op->rows, filled);
    }
    leati_free(filled);
    return spec;
}

/* Builds the node over stubs to learn what its elements are, twice with other numbers for the bound
 * arguments: what differs (a batch's first dimension) is unknown. Owned. */
static leat_spec *spec_over_stubs(const leati_infer_call *call, const leati_dataset_template *t,
                                  int num_datasets, leat_error *err) {
    const struct leati_dataset_args *args = call->args;
    leat_spec *spec = spec_with_numbers(call, t, num_datasets, 0, err);
    if (spec == NULL || args->bound.count == 0)
        return spec;
    leat_spec *second = spec_with_numbers(call, t, num_datasets, 1, err);
    leat_spec *joined = second == NULL ? NULL : leati_spec_join(spec, second, err);
    leat_spec_unref(second);
    leat_spec_unref(spec);
    return joined;
}

/* The elements' spec. Owned. */
static leat_spec *infer_spec(const leati_infer_call *call, const leati_dataset_template *t,
                             int num_datasets, leat_error *err) {
    const struct leati_dataset_args *args = call->args;
    /* Where the operator tells the elements from the structure's spec, no values have to stand
     * in. */
    if (t->op->spec_of_elements == NULL || args->bound.count == 0)
        return spec_over_stubs(call, t, num_datasets, err);
    if (args->bound.count > LEAT_MAX_OUTPUTS) {
        leati_refuse(err, STRUCTURE, "dataset: a structure of %d tensors; at most %d fit",
                     args->bound.count, LEAT_MAX_OUTPUTS);
        return NULL;
    }
    leat_spec *bound = bound_spec(args, leati_template_bound_row(args, t->op, 0),
                                  call->inputs + num_datasets, args->bound.count, err);
    leat_spec *spec = bound == NULL ? NULL : t->op->spec_of_elements(bound, err);
    leat_spec_unref(bound);
    return spec;
}

static leat_status dataset_infer(leati_infer_call *call, leat_error *err) {
    leat_error local = {0};
    const leat_spec *element = NULL;
    int num_datasets = 0;
    leati_dataset_template *t = NULL;
    if (check_node(call, &num_datasets, &local) == LEAT_OK)
        t = leati_template_of(call->args, &local);
    if (t != NULL) {
        element = leati_op_infer_keep(call, infer_spec(call, t, num_datasets, &local), &local);
        leati_template_release(t);
    }
    if (element == NULL) {
        *err = local;
        return local.code;
    }
    leat_shape scalar = LEAT_SCALAR;
    return leati_op_infer_output(call, LEAT_OBJECT, &scalar, element, err);
}

/* ---- kernel ---- */

/* Argument `to` becomes the structure of inputs [first, first + count). The dataset outlives the
 * call, so tensors in scratch memory are copied. */
static leat_status bind_structure(const leati_kernel_call *call, const leati_row *to, int first,
                                  int count, int64_t row, void *bound, leat_error *err) {
    leat_tensor tensors[LEAT_MAX_OUTPUTS] = {{0}};
    leati_type types[LEAT_MAX_OUTPUTS];
    leat_status status = LEAT_OK;
    for (int k = 0; k < count && status == LEAT_OK; k++) {
        leat_tensor borrowed = leati_kernel_operand_tensor(&call->inputs[first + k], row);
        types[k] = (leati_type){.dtype = borrowed.dtype, .shape = leat_tensor_shape(&borrowed)};
        status =
            leat_tensor_copy_of(borrowed.dtype, types[k].shape, borrowed.data, &tensors[k], err);
    }
    if (status == LEAT_OK) {
        leat_element *element = (leat_element *)(void *)((char *)bound + to->offset);
        leat_spec *spec = bound_spec(call->args, to, types, count, err);
        status =
            spec == NULL ? LEAT_RESOURCE_EXHAUSTED : leat_element_set(element, spec, tensors, err);
        leat_spec_unref(spec);
    }
    for (int k = 0; k < count; k++)
        leat_tensor_unref(&tensors[k]);
    return status;
}

/* Binds the tensors of row `row` to the arguments, and gives the functions what they capture. */
static leat_status bind_row(const leati_kernel_call *call, const leati_dataset_template *t,
                            int first, int64_t row, void *bound, leat_error *err) {
    const struct leati_dataset_args *args = call->args;
    for (int i = 0; i < args->bound.count;) {
        const leati_row *to = leati_template_bound_row(args, t->op, i);
        int count = count_bound(args, t->op, i);
        leat_status status = LEAT_OK;
        if (to->type == LEATI_ROW_ELEMENT) {
            status = bind_structure(call, to, first + i, count, row, bound, err);
        } else {
            leat_tensor value = leati_kernel_operand_tensor(&call->inputs[first + i], row);
            status = leati_rows_bind(t->op->rows, bound, to->name, &value, err);
        }
        if (status != LEAT_OK)
            return leati_prefix(err, "%s", t->op->name);
        i += count;
    }
    first += args->bound.count;
    for (int i = 0; i < args->functions.count; i++) {
        int count = (int)args->captures.values[i];
        leat_error local = {0};
        leat_function *function =
            leati_captures_bind(args->function[i], call->inputs + first, count, row, &local);
        const leati_row *to = leati_template_called_row(args, t->op, i);
        /* Stored before it is checked: leati_rows_fini releases what is there. */
        *(leat_object **)(void *)((char *)bound + to->offset) = (leat_object *)function;
        if (function == NULL)
            return leati_fail(err, local.code, "%s: %s: %s", t->op->name, to->name, local.text);
        first += count;
    }
    return LEAT_OK;
}

static leat_status make_row(leati_kernel_call *call, const leati_dataset_template *t,
                            int num_datasets, int64_t row, leat_error *err) {
    leat_dataset *inputs[LEAT_MAX_OUTPUTS];
    void *bound = leati_alloc_zero(1, t->op->args_size);
    if (bound == NULL)
        return leati_no_memory(err);
    /* A copy for each row: rows bind other values, and other threads use the template. */
    leat_status status = leati_rows_copy(t->op->rows, t->args, bound, err);
    leat_dataset *dataset = NULL;
    if (status == LEAT_OK) {
        status = bind_row(call, t, num_datasets, row, bound, err);
        if (status == LEAT_OK) {
            for (int i = 0; i < num_datasets; i++) {
                inputs[i] = leat_dataset_ref(
                    *(leat_dataset **)(void *)leati_support_row_of(&call->inputs[i], row));
            }
            leat_error local = {0};
            dataset = leati_dataset_new(t->op, bound, inputs, num_datasets, &local);
            if (dataset == NULL)
                *err = local;
            status = dataset == NULL ? local.code : LEAT_OK;
        }
        leati_rows_fini(t->op->rows, bound);
    }
    leati_free(bound);
    if (status == LEAT_OK)
        /* The reference goes to the row. */
        *(leat_object **)(void *)leati_support_row_of(&call->outputs[0], row) = &dataset->object;
    return status;
}

static leat_status dataset_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_dataset_args *args = call->args;
    leat_shape scalar = LEAT_SCALAR;
    LEATI_TRY(leati_support_output_like(call, 0, &scalar, err));
    leat_error local = {0};
    leati_dataset_template *t = leati_template_of(args, &local);
    if (t == NULL) {
        *err = local;
        return local.code;
    }
    leat_status status = LEAT_OK;
    for (int64_t row = 0; row < call->n && status == LEAT_OK; row++) {
        status = make_row(call, t, call->num_inputs - args->bound.count - count_captures(args), row,
                          err);
        call->failed_row = row;
    }
    leati_template_release(t);
    return status;
}

/* A node is as pure as the functions among its operator's arguments, and the operator itself. */
static uint32_t dataset_flags(const void *node_args) {
    leat_error ignored = {0};
    leati_dataset_template *t = leati_template_of(node_args, &ignored);
    if (t == NULL)
        return 0;
    uint32_t flags = t->op->flags & LEATI_OP_IMPURE ? LEATI_IMPURE : 0;
    flags |= t->op->flags & LEATI_OP_READS_FILES ? LEATI_COSTLY : 0;
    flags |= leati_dataset_functions_flags(t->op->rows, t->args) &
             (LEATI_IMPURE | LEATI_STATEFUL | LEATI_COSTLY);
    leati_template_release(t);
    return flags;
}

extern const leati_tensor_op leati_tensor_op_dataset;

/* The attributes that a call's arguments become; filled by gather. */
typedef struct gathered {
    leat_value inputs[3 * LEAT_MAX_OUTPUTS]; /* datasets, bound tensors, captured values */
    int num_inputs;
    leat_string bound[LEAT_MAX_OUTPUTS], functions[LEATI_MOST_FUNCTIONS];
    int64_t captures[LEATI_MOST_FUNCTIONS];
    int num_bound;
} gathered;

static bool add_inputs(gathered *g, const leat_value *values, int count) {
    if (count < 0 || g->num_inputs + count > (int)(sizeof(g->inputs) / sizeof(g->inputs[0])))
        return false;
    for (int i = 0; i < count; i++)
        g->inputs[g->num_inputs++] = values[i];
    return true;
}

static bool gather(gathered *g, const leat_dataset_call *call) {
    if (call->op == NULL || call->num_functions < 0 || call->num_functions > LEATI_MOST_FUNCTIONS ||
        call->num_inputs > LEAT_MAX_OUTPUTS || !add_inputs(g, call->inputs, call->num_inputs))
        return false;
    for (int i = 0; i < call->num_bound; i++) {
        const leat_bound_argument *bound = &call->bound[i];
        leat_string name = {.data = bound->name, .size = strlen(bound->name)};
        if (g->num_bound + bound->num_values > LEAT_MAX_OUTPUTS ||
            !add_inputs(g, bound->values, bound->num_values))
            return false;
        for (int k = 0; k < bound->num_values; k++)
            g->bound[g->num_bound++] = name;
    }
    for (int i = 0; i < call->num_functions; i++) {
        const leat_function_argument *function = &call->functions[i];
        g->functions[i] = (leat_string){.data = function->name, .size = strlen(function->name)};
        g->captures[i] = function->num_captures;
        if (!add_inputs(g, function->captures, function->num_captures))
            return false;
    }
    return true;
}

/* The structures of bound arguments by name; NULL where none has one, or with the error set. Owned.
 */
static leat_spec *gather_structures(const leat_dataset_call *call, leat_error *err) {
    const char *keys[LEAT_MAX_OUTPUTS];
    leat_spec *specs[LEAT_MAX_OUTPUTS];
    int count = 0;
    for (int i = 0; i < call->num_bound && count < LEAT_MAX_OUTPUTS; i++) {
        if (call->bound[i].structure != NULL) {
            keys[count] = call->bound[i].name;
            specs[count++] = leat_spec_ref((leat_spec *)(uintptr_t)call->bound[i].structure);
        }
    }
    return count == 0 ? NULL : leat_spec_dict(keys, specs, count, err);
}

leat_value leat_graph_dataset_call(leat_graph *graph, const leat_dataset_call *call) {
    gathered g = {.num_inputs = 0};
    leat_error err = {0};
    if (call == NULL || !gather(&g, call)) {
        return leati_support_build_error(graph, LEAT_REASON_VALUE,
                                         "a dataset value: op is NULL, or too many inputs");
    }
    struct leati_dataset_args args = {
        .op = (char *)(uintptr_t)call->op,
        .args = (char *)(uintptr_t)(call->args != NULL ? call->args : "{}"),
        .bound = {.values = g.bound, .count = g.num_bound},
        .structures = gather_structures(call, &err),
        .functions = {.values = g.functions, .count = call->num_functions},
        .captures = {.values = g.captures, .count = call->num_functions}};
    for (int i = 0; i < call->num_functions; i++)
        args.function[i] = (leat_object *)call->functions[i].function;
    leat_value value = err.code != LEAT_OK ? leati_graph_error(graph, &err)
                                           : leati_graph_node(graph, &leati_tensor_op_dataset,
                                                              &args, g.inputs, g.num_inputs);
    leat_spec_unref(args.structures);
    return value;
}

leat_value leat_graph_dataset_op(leat_graph *graph, const char *op, const char *args_json,
                                 const leat_value *inputs, int num_inputs, const char *const *names,
                                 const leat_value *values, int num_values) {
    leat_bound_argument bound[LEAT_MAX_OUTPUTS];
    leat_dataset_call call = {.op = op,
                              .args = args_json,
                              .inputs = inputs,
                              .num_inputs = num_inputs,
                              .bound = bound,
                              .num_bound = num_values};
    for (int i = 0; i < num_values && i < LEAT_MAX_OUTPUTS; i++)
        bound[i] = (leat_bound_argument){.name = names[i], .values = &values[i], .num_values = 1};
    return leat_graph_dataset_call(graph, num_values > LEAT_MAX_OUTPUTS ? NULL : &call);
}

const leati_tensor_op leati_tensor_op_dataset = {
    .name = "dataset",
    .version = 1,
    .doc = "A dataset value: one operator of the dataset table, over dataset values and computed "
           "arguments (what a function given to "
           "flat_map returns).",
    .types = "*",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = dataset_rows,
    .args_size = sizeof(struct leati_dataset_args),
    .min_inputs = 0,
    .max_inputs = -1,
    .infer = dataset_infer,
    .kernel = dataset_kernel,
    .node_flags = dataset_flags,
};
