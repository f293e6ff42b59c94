/* table_find: the value that a table has for each key, or the default where it has none (the find
 * of tf.lookup.StaticHashTable). Inputs: query, default_value, a scalar.
 *
 * Keys and values are vectors and part of the graph; keys are strings, int32 or int64. Their hash
 * index is built once, when the node is made, and shared by copies of it. Fails where they have
 * not as many entries, or one key has two values. No gradient, no state, no locks. */
#include "base/hash.h"
#include "core/object.h"
#include "core/tensor.h"
#include "graph/support/support.h"

#include <string.h>

struct table_find_args {
    leat_element keys, values;
    leat_object *index;
};

static const leati_row table_find_rows[] = {
    {.name = "keys",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct table_find_args, keys),
     .doc = "A vector of different keys."},
    {.name = "values",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct table_find_args, values),
     .doc = "As many values."},
    {.name = "index",
     .type = LEATI_ROW_OBJECT,
     .flags = LEATI_CONSTRUCT,
     .offset = offsetof(struct table_find_args, index),
     .doc = "The hash index of the keys."},
    {0},
};

/* ---- the index ---- */

/* Slots hold a key's number plus one, 0 where empty; there are twice as many as keys. */
typedef struct table_index {
    leat_object object;
    uint64_t mask;
    int64_t *slots; /* owned */
} table_index;

static void index_free(leat_object *object) {
    table_index *t = (table_index *)(void *)object;
    leati_free(t->slots);
    leati_free(t);
}

static const leati_object_type index_type = {.name = "table index", .free = index_free};

/* The bytes of key `i`. */
static const void *key_at(leat_dtype dtype, const void *data, int64_t i, size_t *size) {
    if (dtype == LEAT_STRING) {
        const leat_string *s = (const leat_string *)data + i;
        *size = s->size;
        return s->size > 0 ? s->data : "";
    }
    *size = leat_dtype_size(dtype);
    return (const char *)data + (size_t)i * *size;
}

/* The slot of a key of these bytes: the one that has it, or an empty one. */
static uint64_t slot_of(const table_index *t, const leat_tensor *keys, const void *key,
                        size_t size) {
    /* Linear probing ends, as at most half of the slots are taken. */
    uint64_t at = leati_hash(key, size, 0) & t->mask;
    for (; t->slots[at] > 0; at = (at + 1) & t->mask) {
        size_t other_size = 0;
        const void *other = key_at(keys->dtype, keys->data, t->slots[at] - 1, &other_size);
        if (size == other_size && memcmp(key, other, size) == 0)
            break;
    }
    return at;
}

/* Values with the same bytes: a key may stand twice where they do. */
static bool same_values(const leat_tensor *values, int64_t a, int64_t b) {
    size_t sizes[2];
    const void *x = key_at(values->dtype, values->data, a, &sizes[0]);
    const void *y = key_at(values->dtype, values->data, b, &sizes[1]);
    return sizes[0] == sizes[1] && memcmp(x, y, sizes[0]) == 0;
}

static leat_status fill_index(table_index *t, const leat_tensor *keys, const leat_tensor *values,
                              leat_error *err) {
    for (int64_t i = 0; i < leat_tensor_count(keys); i++) {
        size_t size = 0;
        const void *key = key_at(keys->dtype, keys->data, i, &size);
        uint64_t slot = slot_of(t, keys, key, size);
        /* As in TensorFlow's table the same pair may come again. */
        if (t->slots[slot] == 0)
            t->slots[slot] = i + 1;
        else if (!same_values(values, t->slots[slot] - 1, i))
            return leati_fail(err, LEAT_FAILED_PRECONDITION,
                              "HashTable has different value for same key: keys %lld and %lld of "
                              "the table; leave one out",
                              (long long)t->slots[slot] - 1, (long long)i);
    }
    return LEAT_OK;
}

static leat_status check_table(const struct table_find_args *args, leat_error *err) {
    const leat_tensor *keys = args->keys.tensors, *values = args->values.tensors;
    if (args->keys.num_tensors != 1 || args->values.num_tensors != 1 || keys->rank != 1 ||
        values->rank != 1 || keys->dims[0] != values->dims[0])
        return leati_refuse(err, SHAPE,
                            "keys and values: expected two vectors with as many entries");
    if (keys->dtype != LEAT_STRING && keys->dtype != LEAT_INT64 && keys->dtype != LEAT_INT32)
        return leati_refuse(err, DTYPE, "the keys are %s; expected string, int64 or int32",
                            leat_dtype_name(keys->dtype));
    if (values->dtype == LEAT_INVALID || values->dtype > LEAT_STRING)
        return leati_refuse(err, DTYPE,
                            "the values are %s; expected numbers, bool or "
                            "string",
                            leat_dtype_name(values->dtype));
    return LEAT_OK;
}

static leat_status table_find_complete(leat_graph *graph, void *node_args, leat_error *err) {
    struct table_find_args *args = node_args;
    (void)graph;
    LEATI_TRY(check_table(args, err));
    uint64_t slots = 2;
    /* A power of two, for the mask. */
    while (slots < 2 * (uint64_t)args->keys.tensors[0].dims[0])
        slots *= 2;
    table_index *t = leati_alloc_zero(1, sizeof *t);
    if (t == NULL)
        return leati_no_memory(err);
    leati_object_init(&t->object, &index_type);
    t->mask = slots - 1;
    t->slots = leati_alloc_zero(slots, sizeof *t->slots);
    /* On failure the object frees slots, NULL included. */
    leat_status status = t->slots == NULL
                             ? leati_no_memory(err)
                             : fill_index(t, args->keys.tensors, args->values.tensors, err);
    if (status == LEAT_OK)
        args->index = &t->object;
    else
        leati_object_unref(&t->object);
    return status;
}

/* ---- the operation ---- */

static leat_status table_find_infer(leati_infer_call *call, leat_error *err) {
    const struct table_find_args *args = call->args;
    LEATI_TRY(check_table(args, err));
    LEATI_TRY(leati_support_want_dtype(call, 0, args->keys.tensors[0].dtype, "the query", err));
    LEATI_TRY(
        leati_support_want_dtype(call, 1, args->values.tensors[0].dtype, "the default value", err));
    LEATI_TRY(leati_support_want_rank(call, 1, 0, "the default value", err));
    return leati_op_infer_output(call, call->inputs[1].dtype, &call->inputs[0].shape, NULL, err);
}

static leat_status table_find_kernel(leati_kernel_call *call, leat_error *err) {
    const struct table_find_args *args = call->args;
    const table_index *t = (const table_index *)(const void *)args->index;
    const leat_tensor *keys = args->keys.tensors, *values = args->values.tensors;
    const leati_operand *query = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(query);
    size_t width = leat_dtype_size(values->dtype);
    if (t == NULL)
        return leati_fail(err, LEAT_INTERNAL, "the table has no index");
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    /* Strings take a first pass that adds up bytes: they are copied, as the table is the graph's,
     * which an output may outlive. */
    size_t bytes = 0; /* of the strings that are found: they live as long as the output */
    char *text = NULL;
    for (int pass = values->dtype == LEAT_STRING ? 0 : 1; pass < 2; pass++) {
        if (pass == 1 && values->dtype == LEAT_STRING) {
            /* At least 1 byte, as a text of NULL tells the loop below that values are no
             * strings. */
            text = leati_op_kernel_text(call, 0, bytes > 0 ? bytes : 1, err);
            if (text == NULL)
                return LEAT_RESOURCE_EXHAUSTED;
        }
        for (int64_t row = 0; row < call->n; row++) {
            for (int64_t i = 0; i < query->count; i++) {
                size_t size = 0;
                const void *key = key_at(keys->dtype, leati_support_row_of(query, row), i, &size);
                int64_t found = t->slots[slot_of(t, keys, key, size)];
                const char *from = found > 0
                                       ? (const char *)values->data + (size_t)(found - 1) * width
                                       : leati_support_row_of(&call->inputs[1], row);
                char *to = leati_support_row_of(&call->outputs[0], row) + (size_t)i * width;
                const leat_string *s = (const leat_string *)(const void *)from;
                if (pass == 0) {
                    bytes += s->size;
                } else if (text != NULL) {
                    if (s->size > 0)
                        memcpy(text, s->data, s->size);
                    *(leat_string *)(void *)to = (leat_string){.data = text, .size = s->size};
                    text += s->size;
                } else {
                    memcpy(to, from, width);
                }
            }
        }
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_table_find = {
    .name = "table_find",
    .version = 1,
    .doc = "The value that a table has for each key, or the default (the find of "
           "tf.lookup.StaticHashTable).",
    .types = "T U",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .rows = table_find_rows,
    .args_size = sizeof(struct table_find_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = table_find_infer,
    .kernel = table_find_kernel,
    .complete = table_find_complete,
};
