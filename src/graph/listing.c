/* The table of tensor operations as JSON: what a binding needs to offer each under TensorFlow's
 * name, with TensorFlow's parameters.
 *
 * Happy path: the words of a descriptor's `inputs` and `signature` become lists of objects. A word
 * is NAME or NAME=JSON; JSON that does not parse is a mistake in the table, which the conformance
 * suite finds, and stands as null. Failures: memory. No locks. */
#include "graph/listing.h"

#include "base/text.h"
#include "core/json.h"
#include "core/words.h"
#include "graph/graph.h"
#include "graph/input_type.h"

#include <string.h>

/* Adds `item` (given; NULL: no memory) to a list. */
static bool append(json_t *list, json_t *item) {
    return json_array_append_new(list, item) == 0;
}

static json_t *describe_paths(const char *names) {
    json_t *list = json_array();
    leati_word w;
    bool good = list != NULL;
    while (good && leati_word_next(&names, &w))
        good = append(list, json_stringn(w.name, w.size));
    if (good)
        return list;
    json_decref(list);
    return NULL;
}

/* Adds what a word of `types` says to the description of an input. */
static bool put_type(json_t *input, const leati_input_type *type) {
    /* "dtype" where the word is one that inputs must have, "type" where it names what they
     * share. */
    return (!type->size || leati_json_put(input, type->dtype ? "dtype" : "type",
                                          json_stringn(type->name, type->size))) &&
           (!type->fallback ||
            leati_json_put(input, "default", json_string(leat_dtype_name(type->fallback)))) &&
           (!type->list || leati_json_put(input, "list", json_true())) &&
           (!type->rows || leati_json_put(input, "rows", json_true()));
}

/* [{"name", "type" or "dtype", "default", "list", "rows"}] */
static json_t *describe_inputs(const leati_tensor_op *op) {
    json_t *list = json_array();
    const char *text = op->inputs, *types = op->types;
    leati_input_type type;
    leati_word w;
    bool good = list != NULL;
    while (good && leati_word_next(&text, &w)) {
        bool many = w.name[0] == '*';
        json_t *input = json_object();
        good = input != NULL &&
               leati_json_put(input, "name", json_stringn(w.name + many, w.size - many));
        if (good && leati_input_type_next(&types, &type))
            good = put_type(input, &type);
        if (good)
            good = append(list, input);
        else
            json_decref(input);
    }
    if (good)
        return list;
    json_decref(list);
    return NULL;
}

/* What a binding makes of the outputs: "tensor", "tuple", "list" or the name of a tuple. */
static json_t *describe_result(const leati_tensor_op *op) {
    const char *outputs = op->outputs != NULL ? op->outputs : "";
    size_t name = strcspn(outputs, " (");
    if (outputs[name] == '(')
        return json_stringn(outputs, name);
    if (outputs[0] == '*')
        return json_string("list");
    /* "a [b c]": outputs in brackets serve gradients alone, so one is left, and it is no tuple. */
    return json_string(outputs[name] && outputs[name + 1] != '[' ? "tuple" : "tensor");
}

/* The names of the outputs that a binding shows. */
static json_t *describe_outputs(const leati_tensor_op *op) {
    json_t *list = json_array();
    const char *outputs = op->outputs != NULL ? op->outputs : "", *open = strchr(outputs, '(');
    bool good = list != NULL;
    for (const char *at = open != NULL ? open + 1 : outputs; good;) {
        at += strspn(at, " *");
        size_t size = strcspn(at, " )");
        /* Those in brackets are the last ones. */
        if (size == 0 || *at == '[')
            break;
        good = append(list, json_stringn(at, size));
        at += size;
    }
    if (good)
        return list;
    json_decref(list);
    return NULL;
}

static bool is_input(const leati_tensor_op *op, const leati_word *name) {
    const char *text = op->inputs;
    leati_word w;
    while (leati_word_next(&text, &w)) {
        size_t star = w.name[0] == '*';
        if (w.size - star == name->size && memcmp(w.name + star, name->name, name->size) == 0)
            return true;
    }
    return false;
}

static bool is_argument(const leati_tensor_op *op, const leati_word *name) {
    for (const leati_row *row = op->rows; row != NULL && row->type != LEATI_ROW_END; row++)
        if (!(row->flags & LEATI_CONSTRUCT) && leati_word_is(name, row->name))
            return true;
    return false;
}

static const char *kind_of(const leati_tensor_op *op, const leati_word *w) {
    if (is_input(op, w))
        return "input";
    if (is_argument(op, w))
        return "argument";
    return leati_word_is(w, "name") ? "name" : "fixed";
}

static json_t *describe_parameter(const leati_tensor_op *op, const leati_word *w) {
    json_t *object = json_object();
    bool good = object != NULL && leati_json_put(object, "name", json_stringn(w->name, w->size)) &&
                leati_json_put(object, "kind", json_string(kind_of(op, w)));
    if (good && w->value != NULL) {
        leat_error ignored = {0};
        json_t *value = leati_json_parse(w->value, w->value_size, &ignored);
        /* Without memory `value` stays NULL, which fails below. */
        if (value == NULL && ignored.code != LEAT_RESOURCE_EXHAUSTED)
            value = json_null();
        good = leati_json_put(object, "default", value);
    }
    if (good)
        return object;
    json_decref(object);
    return NULL;
}

/* The parameters in `text`; `*named` becomes true where one of them is "name". */
static bool add_parameters(json_t *list, const leati_tensor_op *op, const char *text, bool *named) {
    leati_word w;
    while (leati_word_next(&text, &w)) {
        if (w.name[0] == '*') {
            w.name++;
            w.size--;
        }
        *named = *named || leati_word_is(&w, "name");
        if (!append(list, describe_parameter(op, &w)))
            return false;
    }
    return true;
}

/* [{"name", "kind": "input" | "argument" | "name" | "fixed", "default"}] in TensorFlow's order;
 * "default" only where the signature says one. */
static json_t *describe_signature(const leati_tensor_op *op) {
    json_t *list = json_array();
    bool named = false;
    bool good =
        list != NULL &&
        add_parameters(list, op, op->signature != NULL ? op->signature : op->inputs, &named);
    /* A signature names the rows where it wants them; those that it leaves out are not shown. */
    for (const leati_row *row = op->signature != NULL ? NULL : op->rows;
         good && row != NULL && row->type != LEATI_ROW_END; row++)
        if (!(row->flags & LEATI_CONSTRUCT))
            good = add_parameters(list, op, row->name, &named);
    if (good && !named)
        good = add_parameters(list, op, "name", &named);
    if (good)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *describe_flags(const leati_tensor_op *op) {
    static const struct {
        uint32_t flag;
        const char *name;
    } known[] = {
        {LEATI_ELEMENTWISE, "elementwise"}, {LEATI_RANDOM, "random"}, {LEATI_STATEFUL, "stateful"},
        {LEATI_IMPURE, "impure"},           {LEATI_COSTLY, "costly"},
    };
    const struct {
        bool holds;
        const char *name;
    } more[] = {
        {op->gradient == leati_op_gradient_none, "cuts gradients"},
        {op->by_value, "by value"},
        {op->large, "large"},
        {op->counts_from_zero, "counts from zero"},
    };
    json_t *list = json_array();
    bool good = list != NULL;
    for (size_t i = 0; good && i < sizeof known / sizeof *known; i++)
        if (op->flags & known[i].flag)
            good = append(list, json_string(known[i].name));
    for (size_t i = 0; good && i < sizeof more / sizeof *more; i++)
        if (more[i].holds)
            good = append(list, json_string(more[i].name));
    if (good)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *describe(const leati_tensor_op *op) {
    /* In the order of leati_halves and leati_checks. */
    static const char *const halves[] = {"", "own", "float", "none"};
    static const char *const checks[] = {"", "kernel", "python"};
    json_t *object = json_object();
    if (object != NULL && leati_json_put(object, "name", json_string(op->name)) &&
        leati_json_put(object, "family", json_string(leati_graph_op_family(op))) &&
        leati_json_put(object, "names", describe_paths(op->names)) &&
        leati_json_put(object, "doc", json_string(op->doc)) &&
        leati_json_put(object, "min_inputs", json_integer(op->min_inputs)) &&
        leati_json_put(object, "max_inputs", json_integer(op->max_inputs)) &&
        leati_json_put(object, "flags", describe_flags(op)) &&
        leati_json_put(object, "inputs", describe_inputs(op)) &&
        leati_json_put(object, "outputs", describe_outputs(op)) &&
        leati_json_put(object, "result", describe_result(op)) &&
        leati_json_put(object, "of_shape",
                       op->of_shape != NULL ? json_string(op->of_shape) : json_null()) &&
        leati_json_put(object, "halves", json_string(halves[op->halves])) &&
        leati_json_put(object, "checks", json_string(checks[op->checks])) &&
        leati_json_put(object, "arguments", leati_json_describe_rows(op->rows)) &&
        leati_json_put(object, "signature", describe_signature(op)))
        return object;
    json_decref(object);
    return NULL;
}

json_t *leati_listing_describe_ops(void) {
    size_t count;
    const leati_tensor_op *const *ops = leati_graph_ops(&count);
    json_t *list = json_array();
    bool good = list != NULL;
    for (size_t i = 0; good && i < count; i++)
        good = append(list, describe(ops[i]));
    if (good)
        return list;
    json_decref(list);
    return NULL;
}

/* The text of `json` (given; NULL: no memory). */
static char *printed(json_t *json, leat_error *err) {
    char *text = NULL;
    if (json != NULL)
        text = leati_json_print(json, 0, false, err);
    else
        leati_no_memory(err);
    json_decref(json);
    return text;
}

char *leat_operations_json(leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return printed(leati_listing_describe_ops(), err);
}

char *leat_operation_json(const char *name, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    const leati_tensor_op *op = name != NULL ? leati_graph_op_find(name) : NULL;
    if (op != NULL)
        return printed(describe(op), err);
    (void)leati_fail(err, LEAT_NOT_FOUND, "no operation '%s'; leat_operation_names lists all",
                     name != NULL ? name : "");
    return NULL;
}

char *leat_operation_names(leat_error *err) {
    LEATI_ERROR_DOOR(err);
    size_t count;
    const leati_tensor_op *const *ops = leati_graph_ops(&count);
    leati_text text = {0};
    for (size_t i = 0; i < count; i++)
        leati_text_addf(&text, "%s%s %s", i ? "\n" : "", ops[i]->name,
                        ops[i]->names != NULL ? ops[i]->names : "");
    char *out = leati_text_take(&text);
    if (out == NULL)
        leati_no_memory(err);
    return out;
}
