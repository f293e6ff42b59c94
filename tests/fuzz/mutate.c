/* Changes of JSON inputs as trees, and the dictionary: both know the tables of operators, so a new
 * operator is tried without a change here.
 *
 * Happy path: the text is read, one place is chosen by a seeded generator and changed, the text is
 * written again. Failure: text that is no JSON, or a result that is too long: 0. No locks. */
#include "data/plan/op.h"
#include "fuzz.h"
#include "graph/graph.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PLACES = 2000 };

/* A value and where it hangs: a member of an object or an element of a list. */
typedef struct place {
    json_t *parent;
    const char *key; /* NULL: element `index` of a list */
    size_t index;
    json_t *value; /* borrowed */
} place;

typedef struct places {
    place list[MOST_PLACES];
    size_t count;
    uint32_t random;
} places;

static uint32_t draw(places *p, uint32_t below) {
    p->random ^= p->random << 13;
    p->random ^= p->random >> 17;
    p->random ^= p->random << 5;
    return below == 0 ? 0 : p->random % below;
}

static void collect(places *p, json_t *parent) {
    const char *key = NULL;
    json_t *value = NULL;
    size_t index = 0;
    json_object_foreach(parent, key, value) {
        if (p->count < MOST_PLACES)
            p->list[p->count++] = (place){parent, key, 0, value};
        collect(p, value);
    }
    json_array_foreach(parent, index, value) {
        if (p->count < MOST_PLACES)
            p->list[p->count++] = (place){parent, NULL, index, value};
        collect(p, value);
    }
}

/* Puts `value` (given) in a place. */
static void replace(const place *at, json_t *value) {
    if (at->key != NULL)
        json_object_set_new(at->parent, at->key, value);
    else
        json_array_set_new(at->parent, at->index, value);
}

static json_t *any_number(places *p) {
    static const json_int_t numbers[] = {
        0,  1,    2,     3,         -1,        -2,        4,         7,         10,
        16, 1000, 65536, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 1ll << 40, 100000};
    size_t count = sizeof numbers / sizeof *numbers;
    uint32_t which = draw(p, (uint32_t)count + 2);
    if (which < count)
        return json_integer(numbers[which]);
    return json_real(which == count ? 0.5 : 1e30);
}

/* One that runs by itself: nothing is asked of other processes. */
static const leati_dataset_op *any_operator(places *p) {
    size_t count = 0;
    const leati_dataset_op *const *ops = leati_plan_ops(&count), *op = NULL;
    do
        op = ops[draw(p, (uint32_t)count)];
    while ((op->flags & LEATI_OP_REMOTE) != 0);
    return op;
}

static const char *any_word(places *p) {
    size_t count = 0;
    const leati_tensor_op *const *tensor_ops = NULL;
    switch (draw(p, 3)) {
    case 0: return any_operator(p)->name;
    case 1: return leat_dtype_name((leat_dtype)(1 + draw(p, LEAT_NUM_DTYPES - 1)));
    default:
        tensor_ops = leati_graph_ops(&count);
        return tensor_ops[draw(p, (uint32_t)count)]->name;
    }
}

/* A copy of some value of the same type elsewhere, or of any. */
static json_t *any_value(places *p, int type) {
    for (int tries = 0; tries < 20; tries++) {
        const place *found = &p->list[draw(p, (uint32_t)p->count)];
        if (type < 0 || (int)json_typeof(found->value) == type)
            return json_deep_copy(found->value);
    }
    return any_number(p);
}

static json_t *any_argument(places *p, const leati_row *row) {
    switch (row->type) {
    case LEATI_ROW_BOOL:
    case LEATI_ROW_BOOL_OR_NONE: return json_boolean(draw(p, 2));
    case LEATI_ROW_INT:
    case LEATI_ROW_SEED: return any_number(p);
    case LEATI_ROW_FLOAT: return json_real(draw(p, 100) / 10.0);
    case LEATI_ROW_DTYPE:
        return json_string(leat_dtype_name((leat_dtype)(1 + draw(p, LEAT_NUM_DTYPES - 1))));
    case LEATI_ROW_INTS: return json_pack("[I,I]", (json_int_t)draw(p, 5), (json_int_t)2);
    case LEATI_ROW_STRING: return json_string("a");
    default: return any_value(p, JSON_OBJECT);
    }
}

static const leati_dataset_op *operator_of(const json_t *node) {
    const char *name = json_string_value(json_object_get(node, "op"));
    return name == NULL ? NULL : leati_op_find(name);
}

/* Gives a node an argument of its operator, or of an operation. */
static void set_argument(places *p, json_t *node) {
    const leati_dataset_op *op = operator_of(node);
    size_t rows = 0;
    while (op != NULL && op->rows[rows].type != LEATI_ROW_END)
        rows++;
    if (rows == 0)
        return;
    const leati_row *row = &op->rows[draw(p, (uint32_t)rows)];
    json_t *value = any_argument(p, row); /* before a place of the list is freed */
    json_t *args = json_object_get(node, "args");
    if (!json_is_object(args)) {
        args = json_object();
        json_object_set_new(node, "args", args);
    }
    json_object_set_new(args, row->name, value);
}

/* The node becomes the input of a new one. */
static json_t *wrapped(places *p, json_t *node) {
    const leati_dataset_op *op = any_operator(p);
    json_t *args = json_object(), *inputs = json_array();
    for (const leati_row *row = op->rows; row != NULL && row->type != LEATI_ROW_END; row++)
        if ((row->flags & LEATI_REQUIRED) != 0 || draw(p, 3) == 0)
            json_object_set_new(args, row->name, any_argument(p, row));
    for (int i = 0; i < (op->num_inputs < 0 ? 2 : op->num_inputs); i++)
        json_array_append_new(inputs, json_deep_copy(node));
    return json_pack("{s:s, s:o, s:o}", "op", op->name, "args", args, "inputs", inputs);
}

static void change_container(places *p, const place *at) {
    switch (draw(p, 5)) {
    case 0: replace(at, any_value(p, (int)json_typeof(at->value))); return;
    case 1:
        if (json_object_get(at->value, "input") != NULL)
            replace(at, json_deep_copy(json_object_get(at->value, "input")));
        else if (json_array_size(at->value) > 0)
            json_array_append_new(at->value, json_deep_copy(json_array_get(at->value, 0)));
        return;
    case 2:
        if (operator_of(at->value) != NULL)
            replace(at, wrapped(p, at->value));
        return;
    case 3:
        if (at->key != NULL)
            json_object_del(at->parent, at->key);
        else
            json_array_remove(at->parent, at->index);
        return;
    default: set_argument(p, at->value); return;
    }
}

static void change(places *p, const place *at) {
    switch (json_typeof(at->value)) {
    case JSON_OBJECT:
    case JSON_ARRAY: change_container(p, at); return;
    case JSON_INTEGER:
        replace(at, draw(p, 2) == 0
                        ? any_number(p)
                        : json_integer((json_int_t)((uint64_t)json_integer_value(at->value) +
                                                    draw(p, 5) - 2)));
        return;
    case JSON_REAL: replace(at, any_number(p)); return;
    case JSON_STRING:
        replace(at, draw(p, 2) == 0 ? any_value(p, JSON_STRING) : json_string(any_word(p)));
        return;
    case JSON_TRUE: replace(at, json_false()); return;
    case JSON_FALSE: replace(at, json_true()); return;
    default: replace(at, any_value(p, -1)); return;
    }
}

size_t fuzz_mutate_json(uint8_t *data, size_t size, size_t most, uint32_t seed) {
    static places p;
    const uint8_t *zero = memchr(data, 0, size);
    size_t text = zero == NULL ? size : (size_t)(zero - data), rest = size - text;
    json_t *json = json_loadb((const char *)data, text, JSON_DECODE_ANY, NULL);
    if (json == NULL)
        return 0;
    json_t *holder = json_pack("[o]", json); /* so that the root has a place too */
    p.count = 0;
    p.random = seed * 2654435761u + 1;
    collect(&p, holder);
    change(&p, &p.list[draw(&p, (uint32_t)p.count)]);
    char *made = json_dumps(json_array_get(holder, 0), JSON_ENCODE_ANY | JSON_COMPACT);
    size_t length = made == NULL ? 0 : strlen(made);
    if (length > 0 && length + rest <= most) {
        memmove(data + length, data + text, rest);
        memcpy(data, made, length);
        length += rest;
    } else {
        length = 0;
    }
    free(made);
    json_decref(holder);
    return length;
}

/* ---- the dictionary ---- */

static void print_word(const char *word) {
    printf("\"\\\"%s\\\"\"\n", word);
}

static void print_rows(const leati_row *rows) {
    for (const leati_row *row = rows; row != NULL && row->type != LEATI_ROW_END; row++)
        print_word(row->name);
}

void fuzz_print_dictionary(void) {
    static const char *const words[] = {"op",    "args",  "input",    "inputs",  "attrs",   "label",
                                        "dtype", "shape", "data",     "tuple",   "dict",    "hex",
                                        "nan",   "-inf",  "AUTOTUNE", "dataset", "callback"};
    size_t count = 0;
    const leati_dataset_op *const *ops = leati_plan_ops(&count);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        print_word(words[i]);
    for (size_t i = 0; i < count; i++) {
        print_word(ops[i]->name);
        print_rows(ops[i]->rows);
    }
    const leati_tensor_op *const *tensor_ops = leati_graph_ops(&count);
    for (size_t i = 0; i < count; i++) {
        print_word(tensor_ops[i]->name);
        print_rows(tensor_ops[i]->rows);
    }
    for (int i = 1; i < LEAT_NUM_DTYPES; i++)
        print_word(leat_dtype_name((leat_dtype)i));
}
