/* Specs as StructuredValue messages: what TensorFlow's nested structure coder writes.
 *
 * Happy path: one message per node of the tree, written depth first; tuples and dicts hold the
 * messages of their children, a sparse leaf the tuple of its shape and dtype, a ragged one of
 * these, its ragged rank and the dtype of its row splits. Failures: leaves that have no file form
 * are UNIMPLEMENTED, bytes that are no such message, or nest deeper than a spec may, DATA_LOSS. No
 * locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "core/spec.h"
#include "file/tensor_proto.h"
#include <string.h>

/* Fields of StructuredValue and of the messages inside. */
enum {
    VALUE_NONE = 1,
    VALUE_INT64 = 12,
    VALUE_SHAPE = 31,
    VALUE_DTYPE = 32,
    VALUE_TENSOR_SPEC = 33,
    VALUE_TYPE_SPEC = 34,
    VALUE_BOUNDED_SPEC = 35,
    VALUE_LIST = 51,
    VALUE_TUPLE = 52,
    VALUE_DICT = 53,
    VALUE_NAMED_TUPLE = 54,
    LIST_VALUE = 1,
    NAMED_TUPLE_VALUE = 2,
    ENTRY_KEY = 1,
    ENTRY_VALUE = 2,
    SPEC_SHAPE = 2,
    SPEC_DTYPE = 3,
    TYPE_CLASS = 1,
    TYPE_STATE = 2,
    TYPE_NAME = 3,
    TYPE_COMPONENTS = 4,
    CLASS_SPARSE = 1,
    CLASS_RAGGED = 3,
    SPARSE_COMPONENTS = 3
};

/* ---- writing ---- */

/* Appends `message` as a field and releases it. */
static void put_message(leati_writer *out, uint32_t number, leati_writer *message) {
    out->failed = out->failed || message->failed;
    leati_tensor_proto_put_field(out, number, message->data, message->size);
    leati_writer_fini(message);
}

static void put_shape(leati_writer *out, uint32_t number, const leat_shape *shape) {
    leati_writer message = {0};
    leati_tensor_proto_put_shape(&message, shape);
    put_message(out, number, &message);
}

static void put_tensor_spec(leati_writer *out, const leat_spec *spec) {
    leati_writer message = {0};
    leat_shape shape = leat_spec_shape(spec);
    put_shape(&message, SPEC_SHAPE, &shape);
    leati_tensor_proto_put_number_field(&message, SPEC_DTYPE,
                                        leati_tensor_proto_of_dtype(leat_spec_dtype(spec)));
    put_message(out, VALUE_TENSOR_SPEC, &message);
}

/* One number as the element of a tuple. */
static void put_tuple_number(leati_writer *tuple, uint32_t number, uint64_t value) {
    leati_writer message = {0};
    leati_tensor_proto_put_number_field(&message, number, value);
    put_message(tuple, LIST_VALUE, &message);
}

/* The beginning of a state: shape and dtype. */
static void put_shape_and_dtype(leati_writer *tuple, const leat_spec *spec) {
    leati_writer first = {0};
    leat_shape shape = leat_spec_shape(spec);
    put_shape(&first, VALUE_SHAPE, &shape);
    put_message(tuple, LIST_VALUE, &first);
    put_tuple_number(tuple, VALUE_DTYPE, leati_tensor_proto_of_dtype(leat_spec_dtype(spec)));
}

/* A leaf of a class of TensorFlow's, whose state is released. */
static void put_type_spec(leati_writer *out, uint64_t number, const char *name, leati_writer *tuple,
                          uint64_t components) {
    leati_writer message = {0}, state = {0};
    put_message(&state, VALUE_TUPLE, tuple);
    leati_tensor_proto_put_number_field(&message, TYPE_CLASS, number);
    put_message(&message, TYPE_STATE, &state);
    leati_tensor_proto_put_field(&message, TYPE_NAME, name, strlen(name));
    leati_tensor_proto_put_number_field(&message, TYPE_COMPONENTS, components);
    put_message(out, VALUE_TYPE_SPEC, &message);
}

static void put_sparse_spec(leati_writer *out, const leat_spec *spec) {
    leati_writer tuple = {0};
    put_shape_and_dtype(&tuple, spec);
    put_type_spec(out, CLASS_SPARSE, "SparseTensorSpec", &tuple, SPARSE_COMPONENTS);
}

static void put_ragged_spec(leati_writer *out, const leat_spec *spec) {
    leati_writer tuple = {0};
    uint64_t ragged_rank = (uint64_t)leat_spec_ragged_rank(spec);
    put_shape_and_dtype(&tuple, spec);
    put_tuple_number(&tuple, VALUE_INT64, ragged_rank << 1); /* zigzag */
    put_tuple_number(&tuple, VALUE_DTYPE,
                     leati_tensor_proto_of_dtype(leat_spec_row_splits_dtype(spec)));
    put_type_spec(out, CLASS_RAGGED, "RaggedTensorSpec", &tuple, ragged_rank + 1);
}

static leat_status put_children(leati_writer *out, const leat_spec *spec, leat_error *err) {
    bool dict = leat_spec_get_kind(spec) == LEAT_SPEC_DICT;
    leati_writer message = {0};
    leat_status status = LEAT_OK;
    for (int i = 0; i < leat_spec_num_children(spec) && status == LEAT_OK; i++) {
        leati_writer child = {0}, entry = {0};
        /* A child that failed is written all the same: `status` ends the loop, and put_message
         * frees it. */
        status = leati_tensor_proto_put_spec(&child, leat_spec_child(spec, i), err);
        if (dict) {
            const char *key = leat_spec_key(spec, i);
            leati_tensor_proto_put_field(&entry, ENTRY_KEY, key, strlen(key));
            put_message(&entry, ENTRY_VALUE, &child);
        }
        put_message(&message, LIST_VALUE, dict ? &entry : &child);
    }
    put_message(out, dict ? VALUE_DICT : VALUE_TUPLE, &message);
    return status;
}

leat_status leati_tensor_proto_put_spec(leati_writer *out, const leat_spec *spec, leat_error *err) {
    leat_status status = LEAT_OK;
    switch (leat_spec_get_kind(spec)) {
    case LEAT_SPEC_TENSOR: put_tensor_spec(out, spec); break;
    case LEAT_SPEC_SPARSE: put_sparse_spec(out, spec); break;
    case LEAT_SPEC_RAGGED: put_ragged_spec(out, spec); break;
    case LEAT_SPEC_NONE: leati_tensor_proto_put_field(out, VALUE_NONE, "", 0); break;
    case LEAT_SPEC_TUPLE:
    case LEAT_SPEC_DICT: status = put_children(out, spec, err); break;
    default: {
        char text[128];
        leat_spec_print(spec, text, sizeof text);
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "elements of %s cannot be written to a file; save the elements that they "
                          "are made of",
                          text);
    }
    }
    return status == LEAT_OK && out->failed ? leati_no_memory(err) : status;
}

/* ---- reading ---- */

static leat_spec *damaged(leat_error *err) {
    leati_fail(err, LEAT_DATA_LOSS, "not a serialised element_spec");
    return NULL;
}

/* The last field of that number and type in a message; false where there is none. */
static bool find(leati_wire message, uint32_t number, leati_wire_type type, leati_wire_field *out) {
    leati_wire_field field;
    bool found = false;
    /* The last one, as protobuf takes a field that comes twice. */
    while (message.at < message.end && leati_wire_next(&message, &field)) {
        if (field.number == number && field.type == type) {
            *out = field;
            found = true;
        }
    }
    return found;
}

static leat_spec *read_value(leati_wire message, int depth, leat_error *err);

static leat_dtype read_dtype(leati_wire message, uint32_t number, leat_error *err) {
    leati_wire_field field = {0};
    leat_dtype dtype = LEAT_INVALID;
    if (find(message, number, LEATI_WIRE_VARINT, &field))
        dtype = leati_tensor_proto_dtype(field.value);
    if (dtype == LEAT_INVALID)
        leati_fail(err, LEAT_UNIMPLEMENTED,
                   "an element_spec with TensorFlow's type number %llu; leat has strings, bools, "
                   "integers and floats of up to 64 bits",
                   (unsigned long long)field.value);
    return dtype;
}

static bool read_shape(leati_wire message, uint32_t number, leat_shape *out) {
    leati_wire_field field;
    return find(message, number, LEATI_WIRE_BYTES, &field) &&
           leati_tensor_proto_shape(field.bytes, out);
}

static leat_spec *read_tensor_spec(leati_wire message, leat_error *err) {
    leat_shape shape;
    if (!read_shape(message, SPEC_SHAPE, &shape))
        return damaged(err);
    leat_dtype dtype = read_dtype(message, SPEC_DTYPE, err);
    return dtype == LEAT_INVALID ? NULL : leat_spec_tensor(dtype, shape, err);
}

static leat_spec *read_sparse_spec(const leati_wire_field *state, int n, leat_error *err) {
    leat_shape shape;
    if (n < 2 || !read_shape(state[0].bytes, VALUE_SHAPE, &shape))
        return damaged(err);
    leat_dtype dtype = read_dtype(state[1].bytes, VALUE_DTYPE, err);
    return dtype == LEAT_INVALID ? NULL : leat_spec_sparse(dtype, shape, err);
}

static leat_spec *read_type_spec(leati_wire message, leat_error *err) {
    leati_wire_field field, state[4];
    int n = 0;
    bool known = find(message, TYPE_CLASS, LEATI_WIRE_VARINT, &field), sparse = false;
    sparse = known && field.value == CLASS_SPARSE;
    if (!sparse && !(known && field.value == CLASS_RAGGED)) {
        leati_fail(err, LEAT_UNIMPLEMENTED,
                   "an element_spec with a type that is no tensor, sparse or ragged; leat can read "
                   "tuples and dicts of these");
        return NULL;
    }
    if (!find(message, TYPE_STATE, LEATI_WIRE_BYTES, &field) ||
        !find(field.bytes, VALUE_TUPLE, LEATI_WIRE_BYTES, &field))
        return damaged(err);
    leati_wire tuple = field.bytes;
    while (n < 4 && tuple.at < tuple.end && leati_wire_next(&tuple, &state[n]))
        n++;
    leat_shape shape;
    if (sparse)
        return read_sparse_spec(state, n, err);
    /* Zigzag: odd numbers are negative. */
    if (n < 4 || !read_shape(state[0].bytes, VALUE_SHAPE, &shape) ||
        !find(state[2].bytes, VALUE_INT64, LEATI_WIRE_VARINT, &field) || field.value % 2 != 0 ||
        field.value / 2 > LEAT_MAX_RANK)
        return damaged(err);
    leat_dtype dtype = read_dtype(state[1].bytes, VALUE_DTYPE, err);
    leat_dtype splits =
        dtype == LEAT_INVALID ? dtype : read_dtype(state[3].bytes, VALUE_DTYPE, err);
    return splits == LEAT_INVALID
               ? NULL
               : leat_spec_ragged(dtype, shape, (int)(field.value / 2), splits, err);
}

/* A tree's children as they are read. */
typedef struct children {
    leat_spec **specs;
    char **keys; /* NULL ones in a tuple */
    size_t count, spec_room, key_room;
} children;

static bool add_child(children *all, leati_wire value, const leati_wire *key, int depth,
                      leat_error *err) {
    /* Room for both before the child is read, so that it cannot be lost. */
    if (!leati_grow((void **)&all->specs, &all->spec_room, all->count + 1, sizeof *all->specs) ||
        !leati_grow((void **)&all->keys, &all->key_room, all->count + 1, sizeof *all->keys)) {
        leati_no_memory(err);
        return false;
    }
    leat_spec *spec = read_value(value, depth, err);
    char *text = NULL;
    if (spec != NULL && key != NULL) {
        text = leati_strndup((const char *)key->at, (size_t)(key->end - key->at));
        if (text == NULL)
            leati_no_memory(err);
    }
    if (spec == NULL || (key != NULL && text == NULL)) {
        leat_spec_unref(spec);
        return false;
    }
    all->keys[all->count] = text;
    /* Counted only now: what failed above left nothing in the lists. */
    all->specs[all->count++] = spec;
    return true;
}

/* Children of a list or tuple (in field `number`), or the entries of a dict or a named tuple. */
static bool read_children(leati_wire message, uint32_t number, bool entries, bool keyed, int depth,
                          children *all, leat_error *err) {
    leati_wire_field field, key = {0}, value;
    while (message.at < message.end) {
        if (!leati_wire_next(&message, &field))
            /* damaged gives NULL, so this is false. */
            return damaged(err) != NULL;
        if (field.number != number || field.type != LEATI_WIRE_BYTES)
            continue;
        value = field;
        /* Looked for by number: the order of an entry's fields does not matter. */
        if (entries && (!find(field.bytes, ENTRY_VALUE, LEATI_WIRE_BYTES, &value) ||
                        !find(field.bytes, ENTRY_KEY, LEATI_WIRE_BYTES, &key)))
            return damaged(err) != NULL;
        if (!add_child(all, value.bytes, keyed ? &key.bytes : NULL, depth, err))
            return false;
    }
    return true;
}

static leat_spec *read_tree(const leati_wire_field *field, int depth, leat_error *err) {
    bool dict = field->number == VALUE_DICT, named = field->number == VALUE_NAMED_TUPLE;
    children all = {0};
    leat_spec *spec = NULL;
    if (read_children(field->bytes, named ? NAMED_TUPLE_VALUE : LIST_VALUE, dict || named, dict,
                      depth, &all, err)) {
        spec = dict ? leat_spec_dict((const char *const *)all.keys, all.specs, (int)all.count, err)
                    : leat_spec_tuple(all.specs, (int)all.count, err);
        for (size_t i = 0; i < all.count; i++)
            all.specs[i] = NULL; /* given */
    }
    for (size_t i = 0; i < all.count; i++) {
        leat_spec_unref(all.specs[i]);
        leati_free(all.keys[i]);
    }
    leati_free((void *)all.specs);
    leati_free((void *)all.keys);
    return spec;
}

static leat_spec *read_value(leati_wire message, int depth, leat_error *err) {
    leati_wire_field field = {0};
    if (depth > LEATI_MAX_DEPTH || message.at == message.end ||
        !leati_wire_next(&message, &field) || field.type != LEATI_WIRE_BYTES)
        return damaged(err);
    switch (field.number) {
    case VALUE_TENSOR_SPEC:
    /* Bounds do not change what is read: shape and dtype stand in the same fields. */
    case VALUE_BOUNDED_SPEC: return read_tensor_spec(field.bytes, err);
    case VALUE_TYPE_SPEC: return read_type_spec(field.bytes, err);
    case VALUE_NONE: return leat_spec_none(err);
    case VALUE_LIST:
    case VALUE_TUPLE:
    case VALUE_DICT:
    case VALUE_NAMED_TUPLE: return read_tree(&field, depth + 1, err);
    default: return damaged(err);
    }
}

leat_spec *leati_tensor_proto_spec(leati_wire message, leat_error *err) {
    return read_value(message, 0, err);
}
