/* Specs as JSON and back; the forms are in json.h. Nesting is bounded on the way in by
 * LEATI_MAX_DEPTH. Failures: INVALID_ARGUMENT naming what was expected, RESOURCE_EXHAUSTED. No
 * locks. */
#include "core/json_parts.h"

#include "base/alloc.h"
#include "base/error.h"
#include "core/spec.h"
#include <string.h>

static json_t *write_spec(const leat_spec *spec, bool tags);

static json_t *write_children(const leat_spec *spec, bool tags) {
    bool dict = leat_spec_get_kind(spec) == LEAT_SPEC_DICT;
    json_t *children = dict ? json_object() : json_array();
    for (int i = 0; children != NULL && i < leat_spec_num_children(spec); i++) {
        json_t *child = write_spec(leat_spec_child(spec, i), tags);
        int failed = dict ? json_object_set_new(children, leat_spec_key(spec, i), child)
                          : json_array_append_new(children, child);
        if (failed) {
            json_decref(children);
            return NULL;
        }
    }
    return children;
}

static json_t *write_composite(const leat_spec *spec, const char *kind, bool tags) {
    /* Where the children are NULL json_pack fails, so failures need no check of their own on the
     * way up. */
    json_t *json = json_pack("{s:o}", kind, write_children(spec, tags));
    /* Tags are a binding's own numbers: leat_spec_to_json keeps them, plans and functions do
     * not. */
    if (json != NULL && tags && leat_spec_tag(spec) != 0 &&
        json_object_set_new(json, "tag", json_integer(leat_spec_tag(spec))) != 0) {
        json_decref(json);
        return NULL;
    }
    return json;
}

/* NULL without memory. */
static json_t *write_spec(const leat_spec *spec, bool tags) {
    const char *dtype = leat_dtype_name(leat_spec_dtype(spec));
    leat_shape shape = leat_spec_shape(spec);
    switch (leat_spec_get_kind(spec)) {
    case LEAT_SPEC_TUPLE: return write_composite(spec, "tuple", tags);
    case LEAT_SPEC_DICT: return write_composite(spec, "dict", tags);
    case LEAT_SPEC_DATASET:
        return json_pack("{s:o}", "dataset", write_spec(leat_spec_element(spec), tags));
    case LEAT_SPEC_OPTIONAL:
        return json_pack("{s:o}", "optional", write_spec(leat_spec_element(spec), tags));
    case LEAT_SPEC_NONE: return json_null();
    case LEAT_SPEC_SPARSE:
        return json_pack("{s:{s:s, s:o}}", "sparse", "dtype", dtype, "shape",
                         leati_json_of_shape(&shape));
    case LEAT_SPEC_RAGGED:
        return json_pack("{s:{s:s, s:o, s:i, s:s}}", "ragged", "dtype", dtype, "shape",
                         leati_json_of_shape(&shape), "ragged_rank", leat_spec_ragged_rank(spec),
                         "row_splits_dtype", leat_dtype_name(leat_spec_row_splits_dtype(spec)));
    default: return json_pack("{s:s, s:o}", "dtype", dtype, "shape", leati_json_of_shape(&shape));
    }
}

json_t *leati_json_of_spec(const leat_spec *spec, leat_error *err) {
    json_t *json = write_spec(spec, false);
    return json != NULL ? json : leati_json_no_memory(err);
}

static leat_spec *read_spec(const json_t *json, int depth, leat_error *err);

/* The children of a tuple (`keys` NULL) or of a dict in the order of `keys`. */
static leat_spec *read_children(const json_t *json, const char **keys, int depth, leat_error *err) {
    size_t count = keys != NULL ? json_object_size(json) : json_array_size(json);
    leat_spec **children = leati_alloc(count, sizeof *children);
    if (children == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    leat_spec *spec = NULL;
    size_t made = 0;
    while (made < count) {
        const json_t *child =
            keys != NULL ? json_object_get(json, keys[made]) : json_array_get(json, made);
        children[made] = read_spec(child, depth + 1, err);
        if (children[made] == NULL)
            break;
        made++;
    }
    if (made == count)
        spec = keys != NULL ? leat_spec_dict(keys, children, (int)count, err)
                            : leat_spec_tuple(children, (int)count, err);
    else
        while (made > 0)
            leat_spec_unref(children[--made]);
    leati_free(children);
    return spec;
}

static leat_spec *read_dict(const json_t *json, int depth, leat_error *err) {
    const char **keys;
    if (!json_is_object(json)) {
        leati_refuse(err, VALUE, "expected an object of specs in \"dict\", found %s",
                     leati_json_type(json));
        return NULL;
    }
    if (leati_json_sorted_keys(json, &keys, err) != LEAT_OK)
        return NULL;
    leat_spec *spec = read_children(json, keys, depth, err);
    leati_free(keys);
    return spec;
}

static leat_spec *read_leaf(const json_t *json, leat_spec_kind kind, leat_error *err) {
    leat_dtype dtype;
    /* TensorFlow's default. */
    leat_dtype splits = LEAT_INT64;
    leat_shape shape;
    const json_t *splits_name = json_object_get(json, "row_splits_dtype");
    if (leati_json_to_dtype(json_object_get(json, "dtype"), &dtype, err) != LEAT_OK ||
        leati_json_to_shape(json_object_get(json, "shape"), &shape, err) != LEAT_OK)
        return NULL;
    if (splits_name != NULL && leati_json_to_dtype(splits_name, &splits, err) != LEAT_OK)
        return NULL;
    if (kind == LEAT_SPEC_TENSOR)
        return leat_spec_tensor(dtype, shape, err);
    if (kind == LEAT_SPEC_SPARSE)
        return leat_spec_sparse(dtype, shape, err);
    const json_t *rank = json_object_get(json, "ragged_rank");
    /* Below 0 for rows of rows, which are tensors (see levels_of in composite.c). Checked before
     * the cast to int. */
    if (!json_is_integer(rank) || json_integer_value(rank) < -LEAT_MAX_RANK ||
        json_integer_value(rank) > LEAT_MAX_RANK) {
        leati_refuse(err, VALUE, "expected \"ragged_rank\" from %d to %d, found %s", -LEAT_MAX_RANK,
                     LEAT_MAX_RANK, leati_json_type(rank));
        return NULL;
    }
    return leat_spec_ragged(dtype, shape, (int)json_integer_value(rank), splits, err);
}

/* Gives a spec (given; NULL passes through) the "tag" that its JSON has. */
static leat_spec *with_tag(leat_spec *spec, const json_t *json, leat_error *err) {
    const json_t *tag = json_object_get(json, "tag");
    return tag != NULL ? leat_spec_tagged(spec, (int64_t)json_integer_value(tag), err) : spec;
}

static leat_spec *read_spec(const json_t *json, int depth, leat_error *err) {
    if (depth > LEATI_MAX_DEPTH) {
        leati_refuse(err, STRUCTURE, "a spec nests at most %d levels", LEATI_MAX_DEPTH);
        return NULL;
    }
    /* `null` is None; a member that is missing (NULL) is refused at the end. */
    if (json_is_null(json))
        return leat_spec_none(err);
    const json_t *part;
    if ((part = json_object_get(json, "tuple")) != NULL && json_is_array(part))
        return with_tag(read_children(part, NULL, depth, err), json, err);
    if ((part = json_object_get(json, "dict")) != NULL)
        return with_tag(read_dict(part, depth, err), json, err);
    if ((part = json_object_get(json, "ragged")) != NULL)
        return read_leaf(part, LEAT_SPEC_RAGGED, err);
    if ((part = json_object_get(json, "sparse")) != NULL)
        return read_leaf(part, LEAT_SPEC_SPARSE, err);
    /* The inner call writes its own error; a NULL child keeps it. */
    if ((part = json_object_get(json, "dataset")) != NULL) {
        leat_spec *element = read_spec(part, depth + 1, err);
        return element != NULL ? leat_spec_dataset(element, err) : NULL;
    }
    if ((part = json_object_get(json, "optional")) != NULL) {
        leat_spec *element = read_spec(part, depth + 1, err);
        return element != NULL ? leat_spec_optional(element, err) : NULL;
    }
    if (json_object_get(json, "dtype") != NULL)
        return read_leaf(json, LEAT_SPEC_TENSOR, err);
    leati_refuse(err, SHAPE,
                 "expected a spec: {\"dtype\", \"shape\"}, {\"tuple\"}, {\"dict\"}, {\"dataset\"}, "
                 "{\"ragged\"}, {\"sparse\"}, {\"optional\"} or null; found %s",
                 leati_json_type(json));
    return NULL;
}

leat_spec *leati_json_to_spec(const json_t *json, leat_error *err) {
    return read_spec(json, 1, err);
}

char *leat_spec_to_json(const leat_spec *spec, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    json_t *json = spec != NULL ? write_spec(spec, true) : NULL;
    if (spec == NULL)
        leati_refuse(err, VALUE, "leat_spec_to_json: spec is NULL");
    else if (json == NULL)
        leati_json_no_memory(err);
    char *text = json != NULL ? leati_json_print(json, 0, false, err) : NULL;
    json_decref(json);
    return text;
}

leat_spec *leat_spec_from_json(const char *text, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (text == NULL) {
        leati_refuse(err, VALUE, "leat_spec_from_json: text is NULL");
        return NULL;
    }
    json_t *json = leati_json_parse(text, strlen(text), err);
    leat_spec *spec = json != NULL ? leati_json_to_spec(json, err) : NULL;
    json_decref(json);
    return spec;
}
