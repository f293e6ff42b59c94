/* Elements as JSON and back: the spec says how the flat tensors nest on the way out; on the way in
 * the literal's own structure makes the spec, with the static shapes of its tensors.
 *
 * Reading goes depth first with dict keys sorted, which is the order of components. Nesting is
 * bounded by LEATI_MAX_DEPTH. Failures: INVALID_ARGUMENT, UNIMPLEMENTED (objects without a writer),
 * RESOURCE_EXHAUSTED. No locks. */
#include "core/json_parts.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "core/element.h"
#include "core/spec.h"
#include "core/tensor.h"
#include <inttypes.h>
#include <string.h>

struct writer {
    const leat_tensor *next; /* the first tensor not yet written */
    leati_json_object_writer object;
    void *context;
    leat_error *err;
};

static json_t *write_value(struct writer *writer, const leat_spec *spec);

static json_t *write_children(struct writer *writer, const leat_spec *spec) {
    bool dict = leat_spec_get_kind(spec) == LEAT_SPEC_DICT;
    json_t *children = dict ? json_object() : json_array();
    if (children == NULL)
        return leati_json_no_memory(writer->err);
    /* Children take their tensors from writer->next in turn, which is the order of components. */
    for (int i = 0; i < leat_spec_num_children(spec); i++) {
        json_t *child = write_value(writer, leat_spec_child(spec, i));
        bool failed = child == NULL;
        if (child != NULL && (dict ? json_object_set_new(children, leat_spec_key(spec, i), child)
                                   : json_array_append_new(children, child)) != 0) {
            leati_json_no_memory(writer->err);
            failed = true;
        }
        if (failed) {
            json_decref(children);
            return NULL;
        }
    }
    return children;
}

/* {name: value}, where `value` is given and NULL if an error was written. */
static json_t *named(struct writer *writer, const char *name, json_t *value) {
    if (value == NULL)
        return NULL;
    json_t *json = json_pack("{s:o}", name, value);
    return json != NULL ? json : leati_json_no_memory(writer->err);
}

/* The values of a vector as a plain list. */
static json_t *plain_list(const leat_tensor *tensor) {
    json_t *list = json_array();
    for (int64_t i = 0; list != NULL && i < leat_tensor_count(tensor); i++) {
        /* jansson takes a NULL value for a failure, so no memory for the value is found here,
         * too. */
        if (json_array_append_new(list, leati_json_of_value(tensor, i)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* A ragged value of ragged rank 0 or less is a tensor. */
static json_t *write_ragged(struct writer *writer, const leat_spec *spec) {
    int ragged_rank = leat_spec_ragged_rank(spec);
    json_t *values = leati_json_of_tensor(writer->next++, writer->err);
    if (values == NULL || ragged_rank <= 0)
        return values;
    json_t *splits = json_array();
    for (int i = 0; i < ragged_rank; i++) {
        if (splits != NULL && json_array_append_new(splits, plain_list(writer->next)) != 0) {
            json_decref(splits);
            splits = NULL;
        }
        writer->next++;
    }
    /* int64 is the default and not written; "s*" leaves out a member that is NULL. */
    bool narrow = leat_spec_row_splits_dtype(spec) == LEAT_INT32;
    json_t *json = json_pack("{s:{s:o, s:o, s:s*}}", "ragged", "values", values, "row_splits",
                             splits, "row_splits_dtype", narrow ? "int32" : NULL);
    /* json_pack releases what it was given also where it fails; a NULL list among it is a
     * failure. */
    return json != NULL ? json : leati_json_no_memory(writer->err);
}

static json_t *write_sparse(struct writer *writer) {
    const leat_tensor *parts = writer->next;
    writer->next += 3;
    json_t *indices = leati_json_of_tensor(&parts[0], writer->err);
    json_t *values = indices != NULL ? leati_json_of_tensor(&parts[1], writer->err) : NULL;
    if (values == NULL) {
        json_decref(indices);
        return NULL;
    }
    json_t *json = json_pack("{s:{s:o, s:o, s:o}}", "sparse", "indices", indices, "values", values,
                             "dense_shape", plain_list(&parts[2]));
    return json != NULL ? json : leati_json_no_memory(writer->err);
}

static json_t *write_object(struct writer *writer, const char *name) {
    leat_object *const *object = (writer->next++)->data;
    if (writer->object != NULL)
        return named(writer, name, writer->object(writer->context, *object, writer->err));
    leati_fail(writer->err, LEAT_UNIMPLEMENTED, "a %s in an element cannot be written as JSON",
               name);
    return NULL;
}

static json_t *write_value(struct writer *writer, const leat_spec *spec) {
    switch (leat_spec_get_kind(spec)) {
    case LEAT_SPEC_TUPLE: return named(writer, "tuple", write_children(writer, spec));
    case LEAT_SPEC_DICT: return named(writer, "dict", write_children(writer, spec));
    case LEAT_SPEC_DATASET: return write_object(writer, "dataset");
    case LEAT_SPEC_OPTIONAL: return write_object(writer, "optional");
    case LEAT_SPEC_RAGGED: return write_ragged(writer, spec);
    case LEAT_SPEC_SPARSE: return write_sparse(writer);
    case LEAT_SPEC_NONE: return json_null();
    default: return leati_json_of_tensor(writer->next++, writer->err);
    }
}

json_t *leati_json_of_element_with(const leat_element *element, leati_json_object_writer write,
                                   void *context, leat_error *err) {
    if (element->spec == NULL || leat_spec_num_components(element->spec) != element->num_tensors) {
        leati_refuse(err, VALUE, "expected an element, found an empty one");
        return NULL;
    }
    struct writer writer = {
        .next = element->tensors, .object = write, .context = context, .err = err};
    return write_value(&writer, element->spec);
}

json_t *leati_json_of_element(const leat_element *element, leat_error *err) {
    return leati_json_of_element_with(element, NULL, NULL, err);
}

/* The tensors read so far, in component order. */
struct reader {
    leat_tensor *tensors;
    size_t count;
    size_t capacity;
};

/* Keeps a tensor; it is given. */
static leat_status keep(struct reader *reader, leat_tensor *tensor, leat_error *err) {
    void *tensors = reader->tensors;
    if (!leati_grow(&tensors, &reader->capacity, reader->count + 1, sizeof *tensor)) {
        leat_tensor_unref(tensor);
        return leati_no_memory(err);
    }
    reader->tensors = tensors;
    /* In component order, which is why dicts are read with their keys sorted. */
    reader->tensors[reader->count++] = *tensor;
    return LEAT_OK;
}

static leat_spec *read_value(struct reader *reader, const json_t *json, int depth, leat_error *err);

static leat_spec *read_children(struct reader *reader, const json_t *json, const char **keys,
                                int depth, leat_error *err) {
    size_t count = keys != NULL ? json_object_size(json) : json_array_size(json);
    leat_spec **children = leati_alloc(count, sizeof *children);
    if (children == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    leat_spec *spec = NULL;
    size_t made = 0;
    for (; made < count; made++) {
        const json_t *child =
            keys != NULL ? json_object_get(json, keys[made]) : json_array_get(json, made);
        children[made] = read_value(reader, child, depth + 1, err);
        if (children[made] == NULL)
            break;
    }
    /* Constructors release their children also where they fail; those read before a failure are
     * released here. */
    if (made == count)
        spec = keys != NULL ? leat_spec_dict(keys, children, (int)count, err)
                            : leat_spec_tuple(children, (int)count, err);
    else
        while (made > 0)
            leat_spec_unref(children[--made]);
    leati_free(children);
    return spec;
}

static leat_spec *read_dict(struct reader *reader, const json_t *json, int depth, leat_error *err) {
    const char **keys;
    if (!json_is_object(json)) {
        leati_refuse(err, VALUE, "expected an object in \"dict\", found %s", leati_json_type(json));
        return NULL;
    }
    if (leati_json_sorted_keys(json, &keys, err) != LEAT_OK)
        return NULL;
    leat_spec *spec = read_children(reader, json, keys, depth, err);
    leati_free(keys);
    return spec;
}

/* Keeps the tensor (given) and makes the spec of its dtype and shape. */
static leat_spec *keep_tensor(struct reader *reader, leat_tensor *tensor, leat_error *err) {
    leat_spec *spec = leat_spec_tensor(tensor->dtype, leat_tensor_shape(tensor), err);
    if (spec == NULL) {
        leat_tensor_unref(tensor);
        return NULL;
    }
    if (keep(reader, tensor, err) != LEAT_OK) {
        leat_spec_unref(spec);
        return NULL;
    }
    return spec;
}

/* Reads one vector of row splits: from 0, never falling, to `*rows` of the next level, which it
 * replaces by its own number of rows. */
static leat_status read_splits(const json_t *json, leat_dtype dtype, int64_t *rows,
                               leat_tensor *out, leat_error *err) {
    leat_shape shape = LEAT_SHAPE((int64_t)json_array_size(json));
    leat_tensor splits;
    LEATI_TRY(leati_json_to_values(dtype, &shape, json, &splits, err));
    /* -1 where the list is empty, which is refused: even of no rows there is the split 0. */
    int64_t last = shape.dims[0] - 1;
    bool valid = last >= 0 && leati_tensor_int_at(&splits, 0) == 0 &&
                 leati_tensor_int_at(&splits, last) == *rows;
    for (int64_t i = 0; valid && i < last; i++)
        valid = leati_tensor_int_at(&splits, i) <= leati_tensor_int_at(&splits, i + 1);
    if (!valid) {
        leat_tensor_unref(&splits);
        return leati_refuse(err, VALUE,
                            "row splits must start at 0, never fall, and end at the %" PRId64
                            " rows below them",
                            *rows);
    }
    *rows = last;
    *out = splits;
    return LEAT_OK;
}

/* The levels are checked from the innermost, and kept from the outermost. */
static leat_spec *read_ragged(struct reader *reader, const json_t *json, leat_error *err) {
    const json_t *lists = json_object_get(json, "row_splits");
    size_t levels = json_array_size(lists);
    leat_tensor parts[LEAT_MAX_RANK + 1] = {0};
    leat_spec *spec = NULL;
    leat_shape shape = {0};
    leat_dtype splits = LEAT_INT64;
    const json_t *name = json_object_get(json, "row_splits_dtype");
    if (name != NULL && leati_json_to_dtype(name, &splits, err) != LEAT_OK)
        return NULL;
    if (splits != LEAT_INT32 && splits != LEAT_INT64) {
        leati_refuse(err, DTYPE, "expected \"row_splits_dtype\" int32 or int64, found %s",
                     leat_dtype_name(splits));
        return NULL;
    }
    if (leati_json_to_tensor(json_object_get(json, "values"), &parts[0], err) != LEAT_OK)
        return NULL;
    if (levels < 1 || parts[0].rank < 1 || levels + (size_t)parts[0].rank > LEAT_MAX_RANK) {
        leati_refuse(
            err, SHAPE,
            "a ragged value needs values of one dimension or more and at least one list of "
            "row splits, %d dimensions together",
            LEAT_MAX_RANK);
        goto done;
    }
    int64_t rows = parts[0].dims[0];
    for (size_t i = levels; i > 0; i--)
        if (read_splits(json_array_get(lists, i - 1), splits, &rows, &parts[i], err) != LEAT_OK)
            goto done;
    shape.rank = (int32_t)levels + parts[0].rank;
    shape.dims[0] = rows;
    /* A ragged dimension, even if all of its rows happen to be equal. */
    for (size_t i = 1; i <= levels; i++)
        shape.dims[i] = LEAT_UNKNOWN_DIM;
    for (int32_t i = 1; i < parts[0].rank; i++)
        shape.dims[(int32_t)levels + i] = parts[0].dims[i];
    spec = leat_spec_ragged(parts[0].dtype, shape, (int)levels, splits, err);
    for (size_t i = 0; spec != NULL && i <= levels; i++) {
        leat_status status = keep(reader, &parts[i], err);
        /* Given to keep(), which has released it where it failed. */
        parts[i] = (leat_tensor){0};
        if (status != LEAT_OK) {
            leat_spec_unref(spec);
            spec = NULL;
        }
    }
done:
    for (size_t i = 0; i <= LEAT_MAX_RANK; i++)
        leat_tensor_unref(&parts[i]);
    return spec;
}

static leat_spec *read_sparse(struct reader *reader, const json_t *json, leat_error *err) {
    static const char *const names[] = {"indices", "values"};
    leat_tensor parts[3] = {0};
    const json_t *dense = json_object_get(json, "dense_shape");
    leat_shape shape = {0};
    leat_shape vector = LEAT_SHAPE((int64_t)json_array_size(dense));
    leat_spec *spec = NULL;
    bool read = leati_json_to_shape(dense, &shape, err) == LEAT_OK;
    if (read && !leati_shape_is_static(&shape)) {
        leati_refuse(err, VALUE, "expected a \"dense_shape\" whose sizes are known");
        read = false;
    }
    read = read && leati_json_to_values(LEAT_INT64, &vector, dense, &parts[2], err) == LEAT_OK;
    for (int i = 0; read && i < 2; i++)
        read = leati_json_to_tensor(json_object_get(json, names[i]), &parts[i], err) == LEAT_OK;
    if (read)
        spec = leat_spec_sparse(parts[1].dtype, shape, err);
    for (int i = 0; spec != NULL && i < 3; i++) {
        leat_status status = leati_spec_check_tensor(spec, i, &parts[i], err);
        if (status == LEAT_OK) {
            status = keep(reader, &parts[i], err);
            parts[i] = (leat_tensor){0};
        }
        if (status != LEAT_OK) {
            leat_spec_unref(spec);
            spec = NULL;
        }
    }
    for (int i = 0; i < 3; i++)
        leat_tensor_unref(&parts[i]);
    return spec;
}

/* csv_dataset's column without a default: TensorFlow too writes it as an empty vector. */
static leat_spec *read_required(struct reader *reader, const json_t *json, leat_error *err) {
    leat_dtype dtype;
    leat_tensor tensor;
    if (leati_json_to_dtype(json, &dtype, err) != LEAT_OK ||
        leat_tensor_new(dtype, LEAT_SHAPE(0), &tensor, err) != LEAT_OK)
        return NULL;
    return keep_tensor(reader, &tensor, err);
}

static bool is_structure(const json_t *json) {
    /* {"hex"} is a string value like any other. */
    return json_is_null(json) || (json_is_object(json) && json_object_get(json, "hex") == NULL);
}

static bool has_structures(const json_t *list) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        if (is_structure(item) || has_structures(item))
            return true;
    }
    return false;
}

static leat_spec *read_value(struct reader *reader, const json_t *json, int depth,
                             leat_error *err) {
    if (depth > LEATI_MAX_DEPTH) {
        leati_refuse(err, STRUCTURE, "an element nests at most %d levels", LEATI_MAX_DEPTH);
        return NULL;
    }
    if (json_is_null(json))
        return leat_spec_none(err);
    /* A list is a tensor, unless something in it cannot be a value: then it is a tuple. */
    if (json_is_array(json) && has_structures(json))
        return read_children(reader, json, NULL, depth, err);
    leat_tensor tensor;
    if (!is_structure(json)) {
        if (leati_json_to_bare(json, &tensor, err) != LEAT_OK)
            return NULL;
        return keep_tensor(reader, &tensor, err);
    }
    const json_t *part;
    if ((part = json_object_get(json, "tuple")) != NULL && json_is_array(part))
        return read_children(reader, part, NULL, depth, err);
    if ((part = json_object_get(json, "dict")) != NULL)
        return read_dict(reader, part, depth, err);
    if ((part = json_object_get(json, "ragged")) != NULL)
        return read_ragged(reader, part, err);
    if ((part = json_object_get(json, "sparse")) != NULL)
        return read_sparse(reader, part, err);
    if ((part = json_object_get(json, "required")) != NULL)
        return read_required(reader, part, err);
    if (leati_json_to_tensor(json, &tensor, err) != LEAT_OK)
        return NULL;
    return keep_tensor(reader, &tensor, err);
}

leat_status leati_json_to_element(const json_t *json, leat_element *out, leat_error *err) {
    struct reader reader = {0};
    /* What was in the record before must not count as a failure of this reading. */
    err->code = LEAT_OK;
    leat_spec *spec = json != NULL ? read_value(&reader, json, 1, err) : NULL;
    leat_status status = LEAT_OK;
    if (spec != NULL) {
        status = leati_element_give(out, spec, reader.tensors, err);
    } else {
        if (err->code == LEAT_OK)
            leati_refuse(err, VALUE, "expected an element, found nothing");
        status = err->code;
        for (size_t i = 0; i < reader.count; i++)
            leat_tensor_unref(&reader.tensors[i]);
    }
    leat_spec_unref(spec);
    leati_free(reader.tensors);
    return status;
}
