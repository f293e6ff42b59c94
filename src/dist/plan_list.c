/* A plan as a list of things; see plan_list.h.
 *
 * Happy path: operators are walked from the end of the plan to its sources; each gives its name and
 * its arguments, of lists (files) each member, of elements in memory each component, of functions
 * each operation with its attributes. Seeds that were given are arguments like others. Paths count
 * whole: under FILE a worker reads the files of its own list whose turn is its own, so lists that
 * are equal by base names alone could be parts of the data that nobody reads. Labels and places in
 * the program are words only. Failures are the list's. No locks. */
#include "dist/plan_list.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "core/row_type.h"
#include "graph/op.h"
#include <stdio.h>
#include <string.h>

/* Beyond these a plan's rest and a function are one thing. */
enum { MOST_NODES = 4096, MOST_DEPTH = 16, FEW_VALUES = 6, LONGEST_PLACE = 200 };

/* Where a thing belongs: `map "decode" (user.py:41): op random_uniform (node 3)`. */
typedef struct place {
    char text[LONGEST_PLACE];
    int depth; /* of functions in functions */
} place;

typedef struct walk {
    leati_agreement_list *list;
    size_t nodes;
} walk;

static void add_function(walk *w, const leat_function *function, const place *at);

/* ---- arguments ---- */

static void say(leati_agreement_list *list, const place *at, const char *argument) {
    leati_text_addf(&list->what, "%s: %s", at->text, argument);
}

/* The argument's JSON, "none" where there is none. */
static void say_value(leati_text *text, const leati_row *row, const void *at) {
    const leati_row_call call = {.row = row, .err = &(leat_error){0}};
    json_t *json =
        leati_row_is_absent(row, at) ? NULL : leati_row_types[row->type].write(&call, at);
    char *printed = json == NULL ? NULL : leati_json_print(json, 0, true, call.err);
    leati_text_addf(text, "%s", printed != NULL ? printed : "none");
    leati_free(printed);
    json_decref(json);
}

static void add_string(leati_agreement_list *list, const place *at, const char *argument,
                       int64_t number, const leat_string *string) {
    if (leati_agreement_add(list, leati_hash(string->data, string->size, 0))) {
        leati_text_addf(&list->what, "%s: %s[%lld]", at->text, argument, (long long)number);
        leati_text_add_quoted(&list->value, string->data, string->size);
    }
}

static void add_strings(walk *w, const place *at, const char *argument, const leat_string *values,
                        int64_t count) {
    leati_agreement_list *list = w->list;
    for (int64_t i = 0; i < count; i++)
        add_string(list, at, argument, i, &values[i]);
    /* Behind the names, so that a name that only one worker has is told by itself. */
    if (leati_agreement_add(list, (uint64_t)count)) {
        leati_text_addf(&list->what, "%s: number of %s", at->text, argument);
        leati_text_addf(&list->value, "%lld", (long long)count);
    }
}

static void say_tensor(leati_text *text, const leat_tensor *tensor, uint64_t hash) {
    leat_error ignored = {0};
    json_t *json =
        leat_tensor_count(tensor) <= FEW_VALUES ? leati_json_of_tensor(tensor, &ignored) : NULL;
    char shape_text[128];
    leat_shape shape = leat_tensor_shape(tensor);
    char *printed =
        json == NULL ? NULL : leati_json_print(json_object_get(json, "data"), 0, true, &ignored);
    leati_text_addf(text, "%s %s ", leat_dtype_name(tensor->dtype),
                    leati_shape_text(&shape, shape_text));
    if (printed != NULL)
        leati_text_addf(text, "%s", printed);
    else
        leati_text_addf(text, "with checksum %016llx", (unsigned long long)hash);
    leati_free(printed);
    json_decref(json);
}

static uint64_t hash_tensor(const leat_tensor *tensor) {
    leat_shape shape = leat_tensor_shape(tensor);
    const char *dtype = leat_dtype_name(tensor->dtype);
    uint64_t hash = leati_hash(dtype, strlen(dtype), (uint64_t)shape.rank);
    hash = leati_hash(shape.dims, (size_t)shape.rank * sizeof(shape.dims[0]), hash);
    /* Of objects and strings the bytes are addresses. */
    bool plain = tensor->dtype != LEAT_OBJECT && tensor->dtype != LEAT_STRING;
    return plain ? leati_hash(tensor->data, leat_tensor_bytes(tensor), hash) : hash;
}

static void add_element(walk *w, const place *at, const leati_row *row,
                        const leat_element *element) {
    char text[256] = "";
    leati_agreement_list *list = w->list;
    size_t size = element->spec == NULL ? 0 : leat_spec_print(element->spec, text, sizeof(text));
    char *whole = size < sizeof(text) ? NULL : leati_alloc(size + 1, 1);
    if (whole != NULL)
        leat_spec_print(element->spec, whole, size + 1);
    list->failed = list->failed || (size >= sizeof(text) && whole == NULL);
    const char *printed = whole != NULL ? whole : text;
    if (leati_agreement_add(list, leati_hash(printed, strlen(printed), 0))) {
        leati_text_addf(&list->what, "%s: structure of %s", at->text, row->name);
        leati_text_addf(&list->value, "%s", printed);
    }
    leati_free(whole);
    for (int c = 0; c < element->num_tensors; c++) {
        const leat_tensor *tensor = &element->tensors[c];
        char name[96];
        snprintf(name, sizeof(name), "component %d of %s", c, row->name);
        uint64_t hash = hash_tensor(tensor);
        if (leati_agreement_add(list, hash)) {
            say(list, at, name);
            say_tensor(&list->value, tensor, hash);
        }
        if (tensor->dtype == LEAT_STRING)
            add_strings(w, at, name, tensor->data, leat_tensor_count(tensor));
    }
}

static void add_row(walk *w, const leati_row *row, const void *args, const place *at) {
    const char *field = (const char *)args + row->offset;
    leati_agreement_list *list = w->list;
    if (row->type == LEATI_ROW_STRINGS) {
        const leati_strings *strings = (const leati_strings *)(const void *)field;
        add_strings(w, at, row->name, strings->values, strings->count);
    } else if (row->type == LEATI_ROW_ELEMENT) {
        add_element(w, at, row, (const leat_element *)(const void *)field);
    } else if (row->type == LEATI_ROW_FUNCTION || row->type == LEATI_ROW_OBJECT) {
        const leat_object *object = *(leat_object *const *)(const void *)field;
        bool inside = leati_graph_object_is_function(object) && at->depth < MOST_DEPTH;
        if (inside)
            add_function(w, (const leat_function *)(const void *)object, at);
        else if (leati_agreement_add(list, leati_row_hash(row, field, 0)))
            say(list, at, row->name);
    } else if (leati_agreement_add(list, leati_row_hash(row, field, 0))) {
        say(list, at, row->name);
        say_value(&list->value, row, field);
    }
}

static void add_rows(walk *w, const leati_row *rows, const void *args, const place *at) {
    for (const leati_row *row = rows; row != NULL && row->type != LEATI_ROW_END; row++)
        if ((row->flags & LEATI_CONSTRUCT) == 0)
            add_row(w, row, args, at);
}

/* ---- functions ---- */

static void add_spec(walk *w, const place *at, const char *name, const leat_spec *spec,
                     uint64_t hash) {
    char text[512] = "none";
    if (spec != NULL)
        leat_spec_print(spec, text, sizeof(text));
    if (leati_agreement_add(w->list, leati_hash(text, strlen(text), hash))) {
        say(w->list, at, name);
        leati_text_addf(&w->list->value, "%s", text);
    }
}

static void add_function(walk *w, const leat_function *function, const place *at) {
    const leati_body *body = &function->body;
    place here = {.depth = at->depth + 1};
    add_spec(w, at, "argument of the function", function->input, 0);
    for (size_t n = 0; n < body->num_nodes; n++) {
        const leati_node *node = &body->nodes[n];
        const int64_t numbers[] = {node->op->version, node->number};
        uint64_t hash = leati_hash(node->op->name, strlen(node->op->name), 0);
        hash = leati_hash(numbers, sizeof(numbers), hash);
        hash = leati_hash(node->inputs, (size_t)node->num_inputs * sizeof(*node->inputs), hash);
        if (leati_agreement_add(w->list, hash)) {
            leati_text_addf(&w->list->what, "%s%s%s%s: operation %zu", at->text,
                            function->place[0] != '\0' ? " (" : "", function->place,
                            function->place[0] != '\0' ? ")" : "", n);
            leati_text_addf(&w->list->value, "%s", node->op->name);
        }
        snprintf(here.text, sizeof(here.text), "%.110s%s%.40s%s: op %s (node %zu)", at->text,
                 function->place[0] != '\0' ? " (" : "", function->place,
                 function->place[0] != '\0' ? ")" : "", node->op->name, n);
        add_rows(w, node->op->rows, node->args, &here);
    }
    add_spec(w, at, "result of the function", function->output,
             leati_hash(function->outputs, (size_t)function->num_outputs * sizeof(int32_t), 1));
}

/* ---- operators ---- */

static void add_node(walk *w, const leat_dataset *node, int depth) {
    leati_agreement_list *list = w->list;
    size_t number = w->nodes++;
    place at = {0};
    uint64_t hash = leati_hash(node->op->name, strlen(node->op->name),
                               (uint64_t)node->op->version * 64 + (uint64_t)node->num_inputs);
    bool rest = number >= MOST_NODES || depth >= MOST_NODES;
    snprintf(at.text, sizeof(at.text), "%s%s%.60s%s", node->op->name,
             node->label != NULL ? " \"" : "", node->label != NULL ? node->label : "",
             node->label != NULL ? "\"" : "");
    if (leati_agreement_add(list, rest ? leat_dataset_fingerprint(node) : hash)) {
        leati_text_addf(&list->what, "operator %zu from the end", number);
        leati_text_addf(&list->value, "%s", at.text);
    }
    if (rest)
        return;
    add_rows(w, node->op->rows, node->args, &at);
    for (int i = 0; i < node->num_inputs; i++)
        add_node(w, node->inputs[i], depth + 1);
}

void leati_plan_list_add(leati_agreement_list *list, const leat_dataset *dataset) {
    walk w = {.list = list};
    add_node(&w, dataset, 0);
}
