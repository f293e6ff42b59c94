/* Hashes of attributes, without allocation. Two processes that build the same plan get the same
 * number: pointers never enter it, functions count by their own fingerprint, variables by name,
 * and callbacks by the name in their row. Nothing here can fail; no locks. */
#include "base/hash.h"
#include "base/random.h"
#include "core/spec.h"
#include "graph/body.h"
#include "graph/variable.h"
#include <string.h>

static uint64_t hash_text(const char *text, uint64_t seed) {
    return text != NULL ? leati_hash(text, strlen(text), seed) : leati_hash("", 1, seed);
}

static uint64_t hash_int(int64_t value, uint64_t seed) {
    return leati_hash(&value, sizeof value, seed);
}

static uint64_t hash_shape(const leat_shape *shape, uint64_t seed) {
    seed = hash_int(shape->rank, seed);
    if (shape->rank > 0)
        seed = leati_hash(shape->dims, (size_t)shape->rank * sizeof shape->dims[0], seed);
    return seed;
}

/* Specs are as deep as their constructors allow. */
static uint64_t hash_spec(const leat_spec *spec, uint64_t seed) {
    if (spec == NULL)
        return hash_int(-1, seed);
    leat_spec_kind kind = leat_spec_get_kind(spec);
    seed = hash_int((int64_t)kind, seed);
    if (kind == LEAT_SPEC_TUPLE || kind == LEAT_SPEC_DICT) {
        int count = leat_spec_num_children(spec);
        seed = hash_int(count, seed);
        for (int i = 0; i < count; i++) {
            seed = hash_text(leat_spec_key(spec, i), seed);
            seed = hash_spec(leat_spec_child(spec, i), seed);
        }
        return seed;
    }
    if (kind == LEAT_SPEC_DATASET)
        return hash_spec(leati_spec_component_element(spec, 0), seed);
    leat_shape shape = leat_spec_shape(spec);
    seed = hash_text(leat_dtype_name(leat_spec_dtype(spec)), seed);
    return hash_shape(&shape, seed);
}

static uint64_t hash_strings(const leat_string *strings, int64_t count, uint64_t seed) {
    seed = hash_int(count, seed);
    for (int64_t i = 0; i < count; i++) {
        seed = hash_int((int64_t)strings[i].size, seed);
        if (strings[i].size)
            seed = leati_hash(strings[i].data, strings[i].size, seed);
    }
    return seed;
}

static uint64_t hash_element(const leat_element *element, uint64_t seed) {
    seed = hash_spec(element->spec, seed);
    for (int i = 0; i < element->num_tensors; i++) {
        const leat_tensor *tensor = &element->tensors[i];
        leat_shape shape = leat_tensor_shape(tensor);
        seed = hash_text(leat_dtype_name(tensor->dtype), hash_shape(&shape, seed));
        if (tensor->dtype == LEAT_STRING)
            seed = hash_strings(tensor->data, leat_tensor_count(tensor), seed);
        else if (tensor->dtype != LEAT_OBJECT && leat_tensor_bytes(tensor))
            seed = leati_hash(tensor->data, leat_tensor_bytes(tensor), seed);
    }
    return seed;
}

static uint64_t hash_object(const leat_object *object, uint64_t seed) {
    if (leati_graph_object_is_function(object))
        return hash_int((int64_t)((const leat_function *)(const void *)object)->fingerprint, seed);
    if (leati_variable_is_object(object))
        return hash_text(((const leat_variable *)(const void *)object)->name, seed);
    if (object != NULL && object->type->fingerprint != NULL)
        return hash_int((int64_t)object->type->fingerprint(object), seed);
    return hash_int(object != NULL, seed);
}

static uint64_t hash_row(const leati_row *row, const void *at, uint64_t seed) {
    switch (row->type) {
    case LEATI_ROW_BOOL: return hash_int(*(const bool *)at, seed);
    case LEATI_ROW_BOOL_OR_NONE: return hash_int(*(const int8_t *)at, seed);
    case LEATI_ROW_INT: return hash_int(*(const int64_t *)at, seed);
    case LEATI_ROW_FLOAT: return leati_hash(at, sizeof(double), seed);
    case LEATI_ROW_STRING: return hash_text(*(char *const *)at, seed);
    case LEATI_ROW_DTYPE: return hash_text(leat_dtype_name(*(const leat_dtype *)at), seed);
    case LEATI_ROW_SHAPE: return hash_shape(at, seed);
    case LEATI_ROW_SPEC: return hash_spec(*(leat_spec *const *)at, seed);
    case LEATI_ROW_SEED: {
        const leati_seed_argument *argument = at;
        return hash_int(argument->given ? argument->value : 0, hash_int(argument->given, seed));
    }
    case LEATI_ROW_INTS: {
        const leati_ints *ints = at;
        seed = hash_int(ints->count > 0 || ints->values == NULL ? ints->count : -1,
                        seed); /* []: no null */
        return ints->count ? leati_hash(ints->values, (size_t)ints->count * sizeof(int64_t), seed)
                           : seed;
    }
    case LEATI_ROW_FLOATS: {
        const leati_floats *floats = at;
        seed = hash_int(floats->count, seed);
        return floats->count
                   ? leati_hash(floats->values, (size_t)floats->count * sizeof(double), seed)
                   : seed;
    }
    case LEATI_ROW_STRINGS: {
        const leati_strings *strings = at;
        return hash_strings(strings->values, strings->count, seed);
    }
    case LEATI_ROW_ELEMENT: return hash_element(at, seed);
    case LEATI_ROW_FUNCTION:
    case LEATI_ROW_OBJECT: return hash_object(*(leat_object *const *)at, seed);
    case LEATI_ROW_END: break;
    }
    return seed;
}

uint64_t leati_graph_rows_fingerprint(const leati_row *rows, const void *args, uint64_t seed) {
    for (const leati_row *row = rows; row != NULL && row->type != LEATI_ROW_END; row++)
        seed = hash_row(row, (const char *)args + row->offset, hash_text(row->name, seed));
    return seed;
}
