/* dataset: the tensor operation that makes a dataset value, so that dataset operators work inside
 * functions (flat_map, interleave, windows). One node is one operator of the plan table.
 *
 * Attributes: the operator's name, its arguments as the JSON of plans, and the names of the
 * arguments that are bound to computed tensors. Inputs: first the operator's input datasets, then
 * one tensor per bound name; names that repeat form a tuple. The kernel copies the parsed
 * arguments, binds the tensors and makes the node. Parsing happens once per text: `templates` keeps
 * the parsed arguments of the texts seen last. Inference builds the node over stub inputs to learn
 * the elements' spec; where a bound argument is a structure of tensors, the operator says what its
 * elements are (spec_of_elements).
 *
 * Failures: unknown operator or argument, arguments that the operator refuses; all are reported
 * while the function is built, or, for bound values, as the failure of that element. Lock: `lock`
 * guards the templates; a leaf but for the parser. */
#include "data/dataset.h"
#include "base/hash.h"
#include "graph/json.h"
#include "graph/kernel_host.h"
#include "graph/ops/support.h"
#include <pthread.h>
#include <string.h>

struct dataset_args {
    char *op;
    char *args;
    leati_strings bound;
};

static const leati_row dataset_rows[] = {
    {.name = "op",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct dataset_args, op),
     .doc = "name of the dataset operator"},
    {.name = "args",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct dataset_args, args),
     .default_text = "{}",
     .doc = "its arguments as a JSON object"},
    {.name = "bound",
     .type = LEATI_ROW_STRINGS,
     .offset = offsetof(struct dataset_args, bound),
     .doc = "names of the arguments that the last inputs give, in order"},
    {0},
};

/* ---- parsed arguments ---- */

enum { MOST_TEMPLATES = 256 };

typedef struct dataset_template {
    char *key; /* op, args and bound names */
    size_t key_size;
    const leati_dataset_op *op;
    void *args; /* owned, under the rows' rules */
    int users;  /* guarded by the lock; one that is replaced lives until its last user is done */
    bool dropped;
} dataset_template;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static dataset_template *templates[MOST_TEMPLATES];

static void template_free(dataset_template *t) {
    if (t != NULL) {
        if (t->args != NULL) {
            leati_rows_fini(t->op->rows, t->args);
        }
        leati_free(t->args);
        leati_free(t->key);
        leati_free(t);
    }
}

static void template_release(dataset_template *t) {
    pthread_mutex_lock(&lock);
    bool last = --t->users == 0 && t->dropped;
    pthread_mutex_unlock(&lock);
    if (last) {
        template_free(t);
    }
}

void leati_dataset_templates_trim(void) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST_TEMPLATES; i++) {
        if (templates[i] != NULL && templates[i]->users == 0) {
            template_free(templates[i]);
            templates[i] = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
}

/* What stands for a bound argument until its value is known; the reader wants something of the
 * right type. */
static json_t *placeholder(const leati_row *row) {
    switch (row->type) {
    case LEATI_ROW_INT: return json_integer(row->minimum > 0 ? row->minimum : 0);
    case LEATI_ROW_FLOAT: return json_real(0);
    case LEATI_ROW_BOOL: return json_false();
    case LEATI_ROW_STRING: return json_string("");
    case LEATI_ROW_ELEMENT:
        return json_pack("{s:s, s:[i], s:[i]}", "dtype", "int64", "shape", 1, "data", 0);
    default: return json_array();
    }
}

/* The row of bound argument `index`; NULL if the operator has none of that name. */
static const leati_row *bound_row(const struct dataset_args *args, const leati_dataset_op *op,
                                  int index) {
    char name[64] = "";
    const leat_string *text = &args->bound.values[index];
    memcpy(name, text->data, text->size < sizeof(name) - 1 ? text->size : sizeof(name) - 1);
    return leati_rows_find(op->rows, name);
}

static leat_object *read_function(void *context, const leati_row *row, const json_t *json,
                                  leat_error *err) {
    (void)context;
    (void)row;
    return (leat_object *)leati_function_read_json(json, err);
}

static leat_status parse(const struct dataset_args *args, dataset_template *t, leat_error *err) {
    const char *text = args->args != NULL ? args->args : "{}";
    json_t *json = leati_json_parse(text, strlen(text), err);
    if (json == NULL) {
        return LEAT_INVALID_ARGUMENT;
    }
    leat_status status = LEAT_OK;
    for (int i = 0; i < args->bound.count && status == LEAT_OK; i++) {
        const leati_row *row = bound_row(args, t->op, i);
        const leat_string *name = &args->bound.values[i];
        if (row == NULL) {
            status = leati_fail(
                err, LEAT_INVALID_ARGUMENT, "%s has no argument \"%.*s\"; `leat ops %s` lists them",
                t->op->name, (int)(name->size < 64 ? name->size : 64), name->data, t->op->name);
        } else if (json_object_set_new(json, row->name, placeholder(row)) != 0) {
            status = leati_no_memory(err, sizeof(*t));
        }
    }
    leati_json_functions functions = {.read = read_function};
    t->args = leati_alloc_zero(1, t->op->args_size);
    if (t->args == NULL) {
        status = leati_no_memory(err, t->op->args_size);
    }
    if (status == LEAT_OK) {
        status = leati_json_to_rows(json, t->op->rows, t->args, t->op->name, &functions, err);
    }
    if (status != LEAT_OK) {
        leati_free(t->args);
        t->args = NULL;
    }
    json_decref(json);
    return status;
}

/* All of the attributes in one text. Owned. */
static char *key_of(const struct dataset_args *args, size_t *size) {
    size_t op = strlen(args->op), text = args->args != NULL ? strlen(args->args) : 0;
    *size = op + text + 2;
    for (int i = 0; i < args->bound.count; i++) {
        *size += args->bound.values[i].size + 1;
    }
    char *key = leati_alloc(*size, 1), *at = key;
    if (key == NULL) {
        return NULL;
    }
    memcpy(at, args->op, op + 1);
    at += op + 1;
    memcpy(at, text > 0 ? args->args : "", text + 1);
    at += text + 1;
    for (int i = 0; i < args->bound.count; i++) {
        memcpy(at, args->bound.values[i].data, args->bound.values[i].size);
        at += args->bound.values[i].size;
        *at++ = '\0';
    }
    return key;
}

/* The parsed arguments of these attributes, in use until template_release; NULL with an error. */
static dataset_template *template_of(const struct dataset_args *args, leat_error *err) {
    size_t size = 0;
    char *key = args->op == NULL ? NULL : key_of(args, &size);
    if (key == NULL) {
        leati_fail(err, args->op == NULL ? LEAT_INVALID_ARGUMENT : LEAT_RESOURCE_EXHAUSTED,
                   "dataset: %s",
                   args->op == NULL ? "attribute op is missing" : "no memory for its arguments");
        return NULL;
    }
    size_t place = leati_hash(key, size, 0) % MOST_TEMPLATES;
    pthread_mutex_lock(&lock);
    dataset_template *found = templates[place];
    if (found != NULL && found->key_size == size && memcmp(found->key, key, size) == 0) {
        found->users++;
        pthread_mutex_unlock(&lock);
        leati_free(key);
        return found;
    }
    pthread_mutex_unlock(&lock);
    dataset_template *t = leati_alloc_zero(1, sizeof(*t));
    if (t == NULL) {
        leati_free(key);
        leati_no_memory(err, sizeof(*t));
        return NULL;
    }
    t->key = key;
    t->key_size = size;
    t->users = 1;
    t->op = leati_dataset_op_find(args->op);
    if (t->op == NULL) {
        leati_fail(err, LEAT_UNIMPLEMENTED,
                   "operator \"%s\" is not in the table; `leat ops` lists what is", args->op);
    }
    if (t->op == NULL || parse(args, t, err) != LEAT_OK) {
        template_free(t);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    dataset_template *old = templates[place];
    templates[place] = t;
    bool last = false;
    if (old != NULL) {
        old->dropped = true;
        last = old->users == 0;
    }
    pthread_mutex_unlock(&lock);
    if (last) {
        template_free(old);
    }
    return t;
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

/* The inputs that are datasets; the others are bound tensors. */
static int count_datasets(const leati_infer_call *call) {
    int count = 0;
    while (count < call->num_inputs && call->inputs[count].dtype == LEAT_OBJECT) {
        count++;
    }
    return count;
}

/* The spec of a structure of tensors that inputs from `first` on give: one is itself, several are a
 * tuple. */
static leat_spec *bound_spec(const leati_infer_call *call, int first, leat_error *err) {
    leat_spec *children[LEAT_MAX_OUTPUTS];
    int count = call->num_inputs - first;
    if (count > LEAT_MAX_OUTPUTS) {
        leati_fail(err, LEAT_INVALID_ARGUMENT, "dataset: a structure of %d tensors; at most %d fit",
                   count, LEAT_MAX_OUTPUTS);
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        children[i] =
            leat_spec_tensor(call->inputs[first + i].dtype, call->inputs[first + i].shape, err);
    }
    return count == 1 ? children[0] : leat_spec_tuple(children, count, err);
}

/* The spec of the node over stubs for these arguments. Owned. */
static leat_spec *spec_with_args(const leati_infer_call *call, const leati_dataset_op *op,
                                 const void *args, int num_datasets, leat_error *err) {
    leat_dataset *stubs[LEAT_MAX_OUTPUTS] = {0};
    for (int i = 0; i < num_datasets; i++) {
        const leat_spec *element = call->inputs[i].element;
        struct stub_args stub = {.spec = (leat_spec *)element};
        if (element == NULL) {
            leati_fail(err, LEAT_INVALID_ARGUMENT, "dataset: input %d is no dataset", i);
        } else {
            stubs[i] = leati_dataset_new(&stub_op, &stub, NULL, 0, err);
        }
    }
    leat_dataset *node = leati_dataset_new(op, args, stubs, num_datasets, err);
    leat_spec *spec = node == NULL ? NULL : leat_spec_ref(node->spec);
    leat_dataset_unref(node);
    return spec;
}

/* Builds the node over stubs to learn what its elements are, twice with other numbers for the bound
 * arguments: what differs (a batch's first dimension) is unknown. Owned. */
static leat_spec *spec_over_stubs(const leati_infer_call *call, const dataset_template *t,
                                  int num_datasets, leat_error *err) {
    const struct dataset_args *args = call->args;
    if (num_datasets > LEAT_MAX_OUTPUTS) {
        leati_fail(err, LEAT_INVALID_ARGUMENT, "dataset: %d input datasets; at most %d fit",
                   num_datasets, LEAT_MAX_OUTPUTS);
        return NULL;
    }
    leat_spec *spec = spec_with_args(call, t->op, t->args, num_datasets, err);
    void *other = leati_alloc_zero(1, t->op->args_size);
    leat_spec *joined = NULL;
    if (spec != NULL && other == NULL) {
        leati_no_memory(err, t->op->args_size);
    } else if (spec != NULL && leati_rows_copy(t->op->rows, t->args, other, err) == LEAT_OK) {
        for (int i = 0; i < args->bound.count; i++) {
            const leati_row *row = bound_row(args, t->op, i);
            if (row->type == LEATI_ROW_INT) {
                ++*(int64_t *)((char *)other + row->offset);
            }
        }
        leat_spec *second = spec_with_args(call, t->op, other, num_datasets, err);
        joined = second == NULL ? NULL : leati_spec_join(spec, second, err);
        leat_spec_unref(second);
        leati_rows_fini(t->op->rows, other);
    }
    leati_free(other);
    leat_spec_unref(spec);
    return joined;
}

static leat_status dataset_infer(leati_infer_call *call, leat_error *err) {
    const struct dataset_args *args = call->args;
    int num_datasets = count_datasets(call);
    if (call->num_inputs - num_datasets != args->bound.count) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "dataset: %d tensors are bound to %d names",
                          call->num_inputs - num_datasets, args->bound.count);
    }
    leat_error local = {0};
    leat_spec *spec = NULL;
    dataset_template *t = template_of(args, &local);
    if (t != NULL && t->op->spec_of_elements != NULL && args->bound.count > 0) {
        leat_spec *bound = bound_spec(call, num_datasets, &local);
        spec = bound == NULL ? NULL : t->op->spec_of_elements(bound, &local);
        leat_spec_unref(bound);
    } else if (t != NULL) {
        spec = spec_over_stubs(call, t, num_datasets, &local);
    }
    if (t != NULL) {
        template_release(t);
    }
    const leat_spec *element = leati_infer_keep(call, spec, &local);
    if (element == NULL) {
        if (err != NULL) {
            *err = local;
        }
        return local.code;
    }
    leat_shape scalar = LEAT_SCALAR;
    return leati_infer_output(call, LEAT_OBJECT, &scalar, element, err);
}

/* ---- kernel ---- */

/* Argument `to` becomes the structure of inputs [first, first + count): one is itself, several are
 * a tuple. The dataset outlives the call, so tensors in scratch memory are copied. */
static leat_status bind_structure(const leati_kernel_call *call, const leati_row *to, int first,
                                  int count, int64_t row, void *bound, leat_error *err) {
    leat_tensor tensors[LEAT_MAX_OUTPUTS] = {{0}};
    leat_spec *children[LEAT_MAX_OUTPUTS] = {0};
    leat_status status = LEAT_OK;
    for (int k = 0; k < count; k++) {
        leat_tensor borrowed = leati_operand_tensor(&call->inputs[first + k], row);
        leat_shape shape = leat_tensor_shape(&borrowed);
        leat_status copied =
            leat_tensor_copy_of(borrowed.dtype, shape, borrowed.data, &tensors[k], err);
        status = status == LEAT_OK ? copied : status;
        children[k] = leat_spec_tensor(borrowed.dtype, shape, err);
    }
    leat_spec *spec = count == 1 ? children[0] : leat_spec_tuple(children, count, err);
    if (status == LEAT_OK) {
        leat_element *element = (leat_element *)((char *)bound + to->offset);
        status =
            spec == NULL ? LEAT_RESOURCE_EXHAUSTED : leat_element_set(element, spec, tensors, err);
    }
    leat_spec_unref(spec);
    for (int k = 0; k < count; k++) {
        leat_tensor_unref(&tensors[k]);
    }
    return status;
}

/* Binds the tensors of row `row` to the arguments: a structure takes all that follow with its name.
 */
static leat_status bind_row(const leati_kernel_call *call, const struct dataset_args *args,
                            const dataset_template *t, int first, int64_t row, void *bound,
                            leat_error *err) {
    for (int i = 0; i < args->bound.count;) {
        const leati_row *to = bound_row(args, t->op, i);
        int count = 1;
        leat_status status = LEAT_OK;
        if (to->type == LEATI_ROW_ELEMENT) {
            while (i + count < args->bound.count && count < LEAT_MAX_OUTPUTS &&
                   bound_row(args, t->op, i + count) == to) {
                count++;
            }
            status = bind_structure(call, to, first + i, count, row, bound, err);
        } else {
            leat_tensor value = leati_operand_tensor(&call->inputs[first + i], row);
            status = leati_rows_bind(t->op->rows, bound, to->name, &value, err);
        }
        if (status != LEAT_OK) {
            return leati_prefix(err, "%s", t->op->name);
        }
        i += count;
    }
    return LEAT_OK;
}

static leat_status make_row(leati_kernel_call *call, const dataset_template *t, int num_datasets,
                            int64_t row, leat_error *err) {
    const struct dataset_args *args = call->args;
    leat_dataset *inputs[LEAT_MAX_OUTPUTS];
    void *bound = leati_alloc_zero(1, t->op->args_size);
    if (bound == NULL) {
        return leati_no_memory(err, t->op->args_size);
    }
    leat_status status = leati_rows_copy(t->op->rows, t->args, bound, err);
    leat_dataset *dataset = NULL;
    if (status == LEAT_OK) {
        status = bind_row(call, args, t, num_datasets, row, bound, err);
        if (status == LEAT_OK) {
            for (int i = 0; i < num_datasets; i++) {
                inputs[i] =
                    leat_dataset_ref(*(leat_dataset **)(void *)leati_row_of(&call->inputs[i], row));
            }
            leat_error local = {0};
            dataset = leati_dataset_new(t->op, bound, inputs, num_datasets, &local);
            if (dataset == NULL && err != NULL) {
                *err = local;
            }
            status = dataset == NULL ? local.code : LEAT_OK;
        }
        leati_rows_fini(t->op->rows, bound);
    }
    leati_free(bound);
    if (status == LEAT_OK) {
        *(leat_object **)(void *)leati_row_of(&call->outputs[0], row) = &dataset->object;
    }
    return status;
}

static leat_status dataset_kernel(leati_kernel_call *call, leat_error *err) {
    const struct dataset_args *args = call->args;
    leat_shape scalar = LEAT_SCALAR;
    LEATI_TRY(leati_output_like(call, 0, &scalar, err));
    leat_error local = {0};
    dataset_template *t = template_of(args, &local);
    if (t == NULL) {
        if (err != NULL) {
            *err = local;
        }
        return local.code;
    }
    leat_status status = LEAT_OK;
    for (int64_t row = 0; row < call->n && status == LEAT_OK; row++) {
        status = make_row(call, t, call->num_inputs - args->bound.count, row, err);
        call->failed_row = row;
    }
    template_release(t);
    return status;
}

/* A node is as pure as the functions among its operator's arguments, and the operator itself. */
static uint32_t dataset_flags(const void *node_args) {
    leat_error ignored = {0};
    dataset_template *t = template_of(node_args, &ignored);
    if (t == NULL) {
        return 0;
    }
    uint32_t flags = t->op->flags & LEATI_OP_IMPURE ? LEATI_IMPURE : 0;
    flags |= t->op->flags & LEATI_OP_READS_FILES ? LEATI_COSTLY : 0;
    flags |= leati_functions_flags(t->op->rows, t->args) &
             (LEATI_IMPURE | LEATI_STATEFUL | LEATI_COSTLY);
    template_release(t);
    return flags;
}

extern const leati_tensor_op leati_tensor_op_dataset;

leat_value leat_dataset_value(leat_graph *graph, const char *op, const char *args_json,
                              const leat_value *inputs, int num_inputs, const char *const *names,
                              const leat_value *values, int num_values) {
    leat_value all[2 * LEAT_MAX_OUTPUTS];
    leat_string bound[LEAT_MAX_OUTPUTS];
    if (op == NULL || num_inputs < 0 || num_values < 0 || num_inputs > LEAT_MAX_OUTPUTS ||
        num_values > LEAT_MAX_OUTPUTS) {
        return leati_build_error(graph, LEAT_INVALID_ARGUMENT,
                                 "leat_dataset_value: op is NULL, or too many inputs");
    }
    for (int i = 0; i < num_inputs; i++) {
        all[i] = inputs[i];
    }
    for (int i = 0; i < num_values; i++) {
        all[num_inputs + i] = values[i];
        bound[i] = (leat_string){.data = names[i], .size = strlen(names[i])};
    }
    struct dataset_args args = {.op = (char *)op,
                                .args = (char *)(args_json != NULL ? args_json : "{}"),
                                .bound = {.values = bound, .count = num_values}};
    return leati_graph_node(graph, &leati_tensor_op_dataset, &args, all, num_inputs + num_values);
}

const leati_tensor_op leati_tensor_op_dataset = {
    .name = "dataset",
    .version = 1,
    .doc = "A dataset value: one operator of the dataset table, over dataset values and computed "
           "arguments (what a function given to "
           "flat_map returns).",
    .rows = dataset_rows,
    .args_size = sizeof(struct dataset_args),
    .min_inputs = 0,
    .max_inputs = -1,
    .infer = dataset_infer,
    .kernel = dataset_kernel,
    .node_flags = dataset_flags,
};
