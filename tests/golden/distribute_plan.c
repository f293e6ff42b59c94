/* The pipelines of the part distribute as plans, and values as nested lists. */
#include "distribute.h"
#include "graph/json.h"
#include "support/golden_functions.h"
#include <stdlib.h>
#include <string.h>

/* ---- functions: {"function": name, "k": number, "static": bool} ---- */

struct parameters {
    const char *name;
    int64_t number;
    bool is_static;
};

static int trace(void *context, leat_graph *graph, leat_value *out, int capacity) {
    const struct parameters *p = context;
    leat_value x = golden_arg(graph, 0);
    if (strcmp(p->name, "to_int64") == 0) {
        out[0] = leat_op_string_to_number(x, LEAT_INT64);
    } else if (strcmp(p->name, "add") == 0) {
        out[0] = leat_op_add(x, golden_like(x, p->number));
    } else if (strcmp(p->name, "copies") == 0) {
        leat_value count = leat_op_add(leat_op_floormod(x, golden_like(x, 3)), golden_like(x, 1));
        out[0] = leat_op_fill(leat_op_reshape(count, (const int64_t[]){1}, 1), x);
    } else if (strcmp(p->name, "to_batch") == 0) {
        leat_value begin = leat_op_multiply(x, golden_like(x, p->number));
        leat_value end = leat_op_add(begin, golden_like(x, p->number));
        out[0] = leat_op_range(begin, end, golden_like(x, 1), LEAT_INVALID);
        if (p->is_static)
            out[0] = leat_op_ensure_shape(out[0], LEAT_SHAPE(p->number));
    } else if (strcmp(p->name, "records") == 0) {
        out[0] = leat_graph_dataset_op(graph, "tf_record_dataset", NULL, NULL, 0,
                                       (const char *const[]){"filenames"}, &x, 1);
    } else if (strcmp(p->name, "itself") == 0) {
        out[0] = leat_graph_dataset_op(graph, "from_tensors", NULL, NULL, 0,
                                       (const char *const[]){"tensors"}, &x, 1);
    } else if (strcmp(p->name, "batch_of") == 0) {
        char args[64];
        snprintf(args, sizeof args, "{\"batch_size\": %lld}", (long long)p->number);
        out[0] = leat_graph_dataset_op(graph, "batch", args, &x, 1, NULL, NULL, 0);
    } else if (strcmp(p->name, "counted") == 0) {
        out[0] = leat_op_add(x, golden_like(x, 1));
        out[1] = golden_arg(graph, 1);
        return 2;
    } else if (strcmp(p->name, "pair") == 0) {
        leat_value both[2] = {x, leat_op_add(x, golden_like(x, 100))};
        out[0] = x;
        out[1] = leat_op_concat(both, 2, 0);
        return 2;
    } else { /* even_first */
        leat_value first = leat_op_slice(x, (const int64_t[]){0}, 1, (const int64_t[]){1}, 1);
        leat_value rest = leat_op_floormod(leat_op_squeeze(first, NULL, 0), golden_like(x, 2));
        out[0] = leat_op_equal(rest, golden_like(x, 0));
    }
    return 1;
}

static leat_function *read_function(void *context, const json_t *json, const char *op,
                                    const char *argument, const leat_spec *input, leat_error *err) {
    (void)context;
    (void)op;
    (void)argument;
    struct parameters p = {golden_text(json, "function"), golden_int(json, "k", 0),
                           golden_bool(json, "static", false)};
    if (strcmp(p.name, "counted") == 0) {
        leat_spec *both[2] = {leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err),
                              leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err)};
        leat_spec *tuple = leat_spec_tuple(both, 2, err);
        return tuple == NULL ? NULL : LEAT_TRACE_STRUCTURED(trace, &p, input, tuple, err);
    }
    if (strcmp(p.name, "pair") != 0)
        return LEAT_TRACE(trace, &p, input, err);
    leat_spec *children[2] = {leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err),
                              leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err)};
    leat_spec *dict = leat_spec_dict((const char *const[]){"a", "b"}, children, 2, err);
    return dict == NULL ? NULL : LEAT_TRACE_STRUCTURED(trace, &p, input, dict, err);
}

leat_dataset *golden_plan_dataset(const json_t *plan, leat_error *err) {
    leati_plan_reader reader = {.function = read_function};
    return leati_plan_read(plan, &reader, err);
}

/* ---- plans ---- */

static json_t *node(const char *op, json_t *args, json_t *input) {
    json_t *out = json_pack("{s:s,s:o}", "op", op, "args", args);
    if (input != NULL)
        json_object_set_new(out, "input", input);
    return out;
}

static json_t *mapped(json_t *input, const char *function, int64_t k, bool is_static) {
    return node("map",
                json_pack("{s:{s:s,s:I,s:b}}", "map_func", "function", function, "k", (json_int_t)k,
                          "static", is_static),
                input);
}

/* Writes one file per count; record i of file f is the decimal text of 100 * f + i. A case may have
 * several such sets. */
static json_t *write_records(golden_case *c, const json_t *counts, const char *folder) {
    static unsigned sets;
    unsigned set = sets++;
    json_t *names = json_array();
    leat_error err = {0};
    for (size_t f = 0; f < json_array_size(counts) && !c->failed; f++) {
        char path[600], text[40];
        snprintf(path, sizeof path, "%s/%u_f%zu", folder, set, f);
        leat_tfrecord_writer *writer = leat_tfrecord_writer_open(path, NULL, &err);
        leat_status status = writer == NULL ? err.code : LEAT_OK;
        json_int_t count = json_integer_value(json_array_get(counts, f));
        for (json_int_t i = 0; i < count && status == LEAT_OK; i++) {
            snprintf(text, sizeof text, "%lld", 100 * (long long)f + (long long)i);
            status = leat_tfrecord_writer_write(writer, text, strlen(text), &err);
        }
        if (status == LEAT_OK)
            status = leat_tfrecord_writer_close(writer, &err);
        else
            leat_tfrecord_writer_discard(writer);
        if (status != LEAT_OK)
            golden_fail(c, "writing %s: %s", path, err.text);
        json_array_append_new(names, json_string(path));
    }
    return names;
}

static json_t *records(golden_case *c, const json_t *op, const char *folder) {
    json_t *names = write_records(c, json_object_get(op, "counts"), folder);
    return mapped(node("tf_record_dataset", json_pack("{s:o}", "filenames", names), NULL),
                  "to_int64", 0, false);
}

static json_t *vectors(const json_t *op) {
    int64_t n = golden_int(op, "n", 0), k = golden_int(op, "k", 0);
    json_t *data = json_array();
    for (int64_t i = 0; i < n * k; i++)
        json_array_append_new(data, json_integer((json_int_t)i));
    json_t *tensor = json_pack("{s:s,s:[I,I],s:o}", "dtype", "int64", "shape", (json_int_t)n,
                               (json_int_t)k, "data", data);
    return node("from_tensor_slices", json_pack("{s:o}", "tensors", tensor), NULL);
}

/* A dataset of the names of such files, in their order. */
static json_t *names_of(golden_case *c, const json_t *op, const char *folder) {
    json_t *names = write_records(c, json_object_get(op, "counts"), folder);
    json_t *tensor = json_pack("{s:s,s:[i],s:o}", "dtype", "string", "shape",
                               (int)json_array_size(names), "data", names);
    return node("from_tensor_slices", json_pack("{s:o}", "tensors", tensor), NULL);
}

/* `op` over a dataset of names, whose function reads a file. */
static json_t *read_by(const char *op, const json_t *from, json_t *names) {
    json_t *args = json_pack("{s:{s:s}}", "map_func", "function", "records");
    const char *const numbers[] = {"cycle_length", "num_parallel_calls"};
    for (size_t i = 0; i < 2; i++)
        if (json_object_get(from, numbers[i]) != NULL)
            json_object_set(args, numbers[i], json_object_get(from, numbers[i]));
    return mapped(node(op, args, names), "to_int64", 0, false);
}

static json_t *hinted(json_t *input) {
    return node("shard", json_pack("{s:i,s:i}", "num_shards", -1, "index", -1), input);
}

/* The names of the files as list_files finds them. */
static json_t *listed(golden_case *c, const json_t *op, const char *folder) {
    json_t *names = write_records(c, json_object_get(op, "counts"), folder);
    char pattern[600];
    snprintf(pattern, sizeof pattern, "%s", json_string_value(json_array_get(names, 0)));
    snprintf(strrchr(pattern, '_'), 8, "_f*");
    json_decref(names);
    return node("list_files", json_pack("{s:s,s:b}", "file_pattern", pattern, "shuffle", 0), NULL);
}

/* Readers and functions that make datasets; NULL: none of these. */
static json_t *functional(golden_case *c, const json_t *op, json_t *input, const char *folder) {
    const char *name = golden_text(op, "op");
    if (strcmp(name, "records_interleave") == 0)
        return read_by("interleave", op, names_of(c, op, folder));
    if (strcmp(name, "records_reader_direct") == 0)
        return read_by("flat_map", op, names_of(c, op, folder));
    if (strcmp(name, "files_shard_hint") == 0)
        return read_by("flat_map", op, hinted(names_of(c, op, folder)));
    if (strcmp(name, "records_list_files") == 0)
        return read_by("interleave", op, listed(c, op, folder));
    if (strcmp(name, "shard_hint") == 0)
        return hinted(input);
    if (strcmp(name, "interleave_identity") == 0)
        return node("interleave",
                    json_pack("{s:{s:s},s:i}", "map_func", "function", "itself", "cycle_length", 2),
                    input);
    if (strcmp(name, "window_batch") == 0) {
        json_int_t size = (json_int_t)golden_int(op, "size", 1);
        return node("flat_map",
                    json_pack("{s:{s:s,s:I}}", "map_func", "function", "batch_of", "k", size),
                    node("window", json_pack("{s:I}", "size", size), input));
    }
    if (strcmp(name, "scan") == 0)
        return node("scan",
                    json_pack("{s:{s:s},s:{s:s,s:[],s:[i]}}", "scan_func", "function", "counted",
                              "initial_state", "dtype", "int64", "shape", "data", 0),
                    input);
    if (strcmp(name, "generator") == 0)
        return node("from_generator",
                    json_pack("{s:s,s:{s:s,s:[]},s:{s:[{s:s,s:[],s:[I]}]}}", "generator",
                              "gen_count_to", "output_signature", "dtype", "int64", "shape", "args",
                              "tuple", "dtype", "int64", "shape", "data",
                              (json_int_t)golden_int(op, "n", 0)),
                    NULL);
    return NULL;
}

/* Operations whose members are the operator's arguments. */
static bool is_plain(const char *name) {
    static const char *const names[] = {"batch",     "repeat",       "take",    "skip",
                                        "shuffle",   "cache",        "unbatch", "prefetch",
                                        "enumerate", "ragged_batch", "shard",   "unique"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Operators of batches of another kind; NULL: none of these. */
static json_t *batches(const json_t *op, json_t *input) {
    const char *name = golden_text(op, "op");
    json_int_t size = (json_int_t)golden_int(op, "batch_size", 0);
    int drop = golden_bool(op, "drop_remainder", false);
    if (strcmp(name, "map_and_batch") == 0)
        return node(name,
                    json_pack("{s:{s:s,s:I},s:I,s:b}", "map_func", "function", "add", "k",
                              (json_int_t)golden_int(op, "c", 0), "batch_size", size,
                              "drop_remainder", drop),
                    input);
    if (strcmp(name, "padded_batch") == 0)
        return node(name,
                    json_pack("{s:I,s:b,s:[I]}", "batch_size", size, "drop_remainder", drop,
                              "padded_shapes", (json_int_t)golden_int(op, "width", -1)),
                    mapped(input, "copies", 0, false));
    if (strcmp(name, "assert_cardinality") == 0)
        return node(name,
                    json_pack("{s:I}", "expected_cardinality", (json_int_t)golden_int(op, "n", 0)),
                    input);
    return NULL;
}

/* The node of one operation over `input` (given; NULL: none yet). */
static json_t *translate(golden_case *c, const json_t *op, json_t *input, const char *folder) {
    const char *name = golden_text(op, "op");
    if (strcmp(name, "range") == 0)
        return node("range", json_pack("{s:I}", "stop", (json_int_t)golden_int(op, "n", 0)), NULL);
    if (strcmp(name, "vectors") == 0)
        return vectors(op);
    if (strcmp(name, "records") == 0)
        return records(c, op, folder);
    if (strcmp(name, "map_add") == 0)
        return mapped(input, "add", golden_int(op, "c", 0), false);
    if (strcmp(name, "map_to_batch") == 0)
        return mapped(input, "to_batch", golden_int(op, "k", 0), golden_bool(op, "static", false));
    if (strcmp(name, "map_pair") == 0)
        return mapped(input, "pair", 0, false);
    if (strcmp(name, "filter_even_first") == 0)
        return node("filter", json_pack("{s:{s:s}}", "predicate", "function", "even_first"), input);
    if (strcmp(name, "zip") == 0 || strcmp(name, "concatenate") == 0) {
        json_t *other = golden_plan_of(c, json_object_get(op, "other"), folder);
        json_t *both = json_pack("[o,o?]", input, other);
        json_t *out = node(name, json_object(), NULL);
        json_object_set_new(out, "inputs",
                            name[0] == 'z' ? json_pack("{s:o}", "tuple", both) : both);
        return out;
    }
    if (is_plain(name)) {
        json_t *args = json_copy((json_t *)op);
        json_object_del(args, "op");
        return node(name, args, input);
    }
    json_t *batched = batches(op, input);
    if (batched != NULL)
        return batched;
    json_t *made = functional(c, op, input, folder);
    if (made != NULL)
        return made;
    golden_fail(c, "operation %s is of an unknown kind", name);
    json_decref(input);
    return NULL;
}

json_t *golden_plan_of(golden_case *c, const json_t *pipeline, const char *folder) {
    json_t *plan = NULL;
    for (size_t i = 0; i < json_array_size(pipeline); i++) {
        plan = translate(c, json_array_get(pipeline, i), plan, folder);
        if (plan == NULL || c->missing[0] != '\0' || c->failed)
            break;
    }
    if (plan != NULL)
        golden_check_names(c, plan);
    if (c->missing[0] == '\0' && !c->failed)
        return plan;
    json_decref(plan);
    return NULL;
}

/* ---- nested lists ---- */

static json_t *nested_tensor(const leat_tensor *tensor, int32_t axis, int64_t *at) {
    if (axis == tensor->rank)
        return leati_json_of_value(tensor, (*at)++);
    json_t *list = json_array();
    for (int64_t i = 0; i < tensor->dims[axis]; i++)
        json_array_append_new(list, nested_tensor(tensor, axis + 1, at));
    return list;
}

static json_t *arranged(const leat_spec *spec, const leat_element *element, int *next) {
    leat_spec_kind kind = leat_spec_get_kind(spec);
    if (kind != LEAT_SPEC_TUPLE && kind != LEAT_SPEC_DICT) {
        int64_t at = 0;
        if (element != NULL)
            return nested_tensor(&element->tensors[(*next)++], 0, &at);
        json_t *dims = json_array();
        leat_shape shape = leat_spec_shape(spec);
        for (int32_t i = 0; i < shape.rank; i++)
            json_array_append_new(dims,
                                  shape.dims[i] < 0 ? json_null() : json_integer(shape.dims[i]));
        return dims;
    }
    json_t *out = kind == LEAT_SPEC_TUPLE ? json_array() : json_object();
    for (int i = 0; i < leat_spec_num_children(spec); i++) {
        json_t *child = arranged(leat_spec_child(spec, i), element, next);
        if (kind == LEAT_SPEC_TUPLE)
            json_array_append_new(out, child);
        else
            json_object_set_new(out, leat_spec_key(spec, i), child);
    }
    return out;
}

json_t *golden_nested(const leat_element *element) {
    int next = 0;
    return element->spec == NULL ? json_null() : arranged(element->spec, element, &next);
}

json_t *golden_nested_spec(const leat_spec *spec) {
    int next = 0;
    return arranged(spec, NULL, &next);
}

static void fill(const json_t *json, json_t *out) {
    if (!json_is_array(json))
        json_array_append(out, (json_t *)json);
    for (size_t i = 0; i < json_array_size(json); i++)
        fill(json_array_get(json, i), out);
}

leat_status golden_nested_tensor(const json_t *json, leat_dtype dtype, leat_tensor *out,
                                 leat_error *err) {
    json_t *shape = json_array(), *data = json_array();
    for (const json_t *at = json; json_is_array(at); at = json_array_get(at, 0))
        json_array_append_new(shape, json_integer((json_int_t)json_array_size(at)));
    fill(json, data);
    json_t *literal =
        json_pack("{s:s,s:o,s:o}", "dtype", leat_dtype_name(dtype), "shape", shape, "data", data);
    leat_status status = leati_json_to_tensor(literal, out, err);
    json_decref(literal);
    return status;
}
