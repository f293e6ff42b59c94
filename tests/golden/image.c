/* The part image: recorded pictures through the tensor operations, called eagerly by name.
 *
 * A case's operation and its arguments are looked up in the table of operations; a value that the
 * operation calls UNIMPLEMENTED (a method, a file format) counts as a missing name too. Pixels of
 * integers are equal; floats agree to 3e-5, the accuracy that the recording promises. */
#include "image.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_INPUTS = 3, MAX_RESULTS = 3 };

/* The call that a case makes. */
struct call {
    const char *op;
    leat_tensor inputs[MAX_INPUTS];
    int num_inputs;
    json_t *attributes;
    const char *value; /* which attribute or file an UNIMPLEMENTED blames */
    int channels;      /* of the result that were recorded; 0: all */
};

/* ---- the call ---- */

static void check_attributes(golden_case *c, const leati_tensor_op *op, const json_t *attributes) {
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)attributes, name, value) {
        if (leati_rows_find(op->rows, name) == NULL)
            golden_missing(c, "argument %s of %s", name, op->name);
    }
}

/* Keeps the first `channels` values along the last axis. */
static leat_value first_channels(leat_value value, int channels) {
    leat_shape shape = leat_value_shape(value);
    int64_t begin[LEAT_MAX_RANK] = {0}, size[LEAT_MAX_RANK];
    for (int32_t i = 0; i < shape.rank; i++)
        size[i] = i + 1 == shape.rank ? channels : -1;
    return leat_op_slice(value, begin, shape.rank, size, shape.rank);
}

/* Sets *count to the number of results that are there, also when it fails. */
static leat_status run_call(const struct call *call, leat_tensor *out, int *count,
                            leat_error *err) {
    char *text = leati_json_print(call->attributes, 0, false, err);
    leat_graph *graph = text == NULL ? NULL : leat_graph_new_eager(err);
    leat_value outputs[LEAT_MAX_OUTPUTS], inputs[MAX_INPUTS];
    leat_status status = err->code;
    *count = 0;
    if (graph != NULL) {
        for (int i = 0; i < call->num_inputs; i++)
            inputs[i] = leat_graph_tensor(graph, &call->inputs[i]);
        int made = leat_graph_call(graph, call->op, text, inputs, call->num_inputs, outputs,
                                   LEAT_MAX_OUTPUTS);
        if (made < 1)
            outputs[0] = (leat_value){.graph = graph, .id = -1};
        else if (call->channels > 0)
            outputs[0] = first_channels(outputs[0], call->channels);
        do
            status = leat_value_tensor(outputs[*count], &out[*count], err);
        while (status == LEAT_OK && ++*count < made && *count < MAX_RESULTS);
    }
    leat_graph_free(graph);
    leati_free(text);
    return status;
}

/* A float at or beyond an integer's range has no defined value unless it is clipped: what was found
 * there counts as expected. The scaled value is rounded to the input's own precision. */
static void forget_undefined(const struct call *call, leat_tensor *expected,
                             const leat_tensor *found) {
    const leat_dtype from = call->inputs[0].dtype, to = expected->dtype;
    bool floating = from >= LEAT_FLOAT16 && from <= LEAT_FLOAT64;
    bool whole = to >= LEAT_INT8 && to <= LEAT_UINT64;
    if (strcmp(call->op, "convert_image_dtype") != 0 || !floating || !whole || found->dtype != to ||
        golden_bool(call->attributes, "saturate", false) ||
        leat_tensor_count(found) != leat_tensor_count(expected))
        return;
    size_t size = leat_dtype_size(to);
    double most = ldexp(1, (int)size * 8 - (to <= LEAT_INT64));
    double step = from == LEAT_BFLOAT16 ? 0x1p-8 : from == LEAT_FLOAT16 ? 0x1p-11 : 0x1p-24;
    for (int64_t i = 0; i < leat_tensor_count(expected); i++) {
        double scaled = fabs(golden_number(&call->inputs[0], i)) * (most - 0.5);
        if ((from == LEAT_FLOAT16 && most > 65504) || scaled * (1 + step) >= most)
            memcpy((char *)expected->data + (size_t)i * size,
                   (const char *)found->data + (size_t)i * size, size);
    }
}

/* Of a long result some values were recorded: the expected tensor is the found one with these. */
static leat_status expected_output(const json_t *json, const leat_tensor *found, leat_tensor *out,
                                   leat_error *err) {
    const json_t *some = json_object_get(json, "at");
    const char *index = NULL;
    json_t *value = NULL;
    if (some == NULL)
        return golden_array("image", json, out, err);
    leat_status status =
        leat_tensor_copy_of(found->dtype, leat_tensor_shape(found), found->data, out, err);
    if (status == LEAT_OK)
        json_object_foreach((json_t *)some, index, value) {
            ((float *)out->data)[strtoll(index, NULL, 10)] = (float)json_number_value(value);
        }
    return status;
}

/* A file that was written: its length and its first bytes. (src/image/encode_test.c has them all.)
 */
static void compare_file(golden_case *c, const json_t *json, const leat_tensor *found) {
    const leat_string *file = found->data;
    const char *first = golden_text(json, "first_bytes");
    char text[3];
    if ((int64_t)file->size != golden_int(json, "length", -1))
        golden_fail(c, "%zu bytes; expected %d", file->size, (int)golden_int(json, "length", -1));
    for (size_t i = 0; i < strlen(first) / 2 && i < file->size && !c->failed; i++) {
        (void)snprintf(text, sizeof text, "%02x", (uint8_t)file->data[i]);
        if (strncmp(text, first + 2 * i, 2) != 0)
            golden_fail(c, "byte %zu is %s; expected %.2s", i, text, first + 2 * i);
    }
}

/* How far a float may be off, relative to the largest and absolutely. Elsewhere bits are equal. */
static void allow(const struct call *call, const leat_tensor *expected, double *relative,
                  double *absolute) {
    bool scales = strncmp(call->op, "resize", 6) == 0 || strcmp(call->op, "crop_and_resize") == 0;
    bool colours =
        strcmp(call->op, "convert_image_dtype") != 0 && strncmp(call->op, "decode", 6) != 0;
    bool floats = expected->dtype == LEAT_FLOAT32;
    if (strstr(call->op, "normal") != NULL) { /* logarithms */
        *relative = 0;
        *absolute = floats ? 3e-7 : 1e-14;
        return;
    }
    *relative = floats && scales ? 3e-7 : floats && colours ? 2e-6 : 0;
    *absolute = floats && scales ? 1e-5 : 0;
}

static void compare(golden_case *c, const json_t *json, const struct call *call,
                    const leat_tensor *found) {
    leat_tensor expected = {0};
    leat_error err = {0};
    double relative, absolute;
    if (expected_output(json, found, &expected, &err) != LEAT_OK) {
        golden_fail(c, "the recorded output: %s", err.text);
        return;
    }
    forget_undefined(call, &expected, found);
    allow(call, &expected, &relative, &absolute);
    golden_close(c, "values", &expected, found, relative, absolute);
    leat_tensor_unref(&expected);
}

static void compare_all(golden_case *c, const json_t *json, const struct call *call,
                        const leat_tensor *found, int count) {
    const json_t *list = json_object_get(json, "outputs");
    if (json_object_get(json, "at") != NULL)
        compare(c, json, call, &found[0]);
    else if (json_object_get(json, "length") != NULL)
        compare_file(c, json, &found[0]);
    else if (list == NULL)
        compare(c, json_object_get(json, "output"), call, &found[0]);
    else if ((int)json_array_size(list) != count)
        golden_fail(c, "expected %d results, found %d", (int)json_array_size(list), count);
    for (int i = 0; list != NULL && i < count && !c->failed; i++)
        compare(c, json_array_get(list, (size_t)i), call, &found[i]);
}

static void check_call(golden_case *c, const json_t *json, const struct call *call) {
    const json_t *error = json_object_get(json, "error");
    leat_tensor found[MAX_RESULTS] = {{0}};
    leat_error err = {0};
    int count = 0;
    leat_status status = run_call(call, found, &count, &err);
    /* TensorFlow lacks a kernel there; the library is free to have one. */
    bool accident = error != NULL && strcmp(golden_text(error, "type"), "NotFoundError") == 0;
    if (status == LEAT_UNIMPLEMENTED) {
        golden_missing(c, "%s in %s", call->value, call->op);
    } else if (error != NULL && !accident) {
        leat_status code = golden_code_of_class(golden_text(error, "type"));
        if (status != code || code == LEAT_OK)
            golden_fail(c, "expected %s (%s), found %s: %s", golden_text(error, "type"),
                        golden_text(error, "text"), leat_status_name(status), err.text);
    } else if (status != LEAT_OK) {
        golden_fail(c, "%s: %s", leat_status_name(status), err.text);
    } else if (!accident) {
        compare_all(c, json, call, found, count);
    }
    for (int i = 0; i < count; i++)
        leat_tensor_unref(&found[i]);
}

/* ---- files: how a case of each says what to call; attributes are owned ---- */

static leat_status decode_call(const json_t *json, const json_t *inputs, struct call *call,
                               leat_error *err) {
    (void)inputs;
    const char *file = golden_text(json, "file"), *dot = strrchr(file, '.');
    call->attributes = json_copy(json_object_get(json, "args"));
    call->value = dot != NULL ? dot : file;
    if (json_object_get(json, "crop_window") != NULL)
        json_object_set(call->attributes, "crop_window", json_object_get(json, "crop_window"));
    return golden_image_contents(file, &call->inputs[0], err);
}

/* Positional arguments take the names of the operation's rows, in their order. */
static void name_arguments(const json_t *json, struct call *call) {
    const json_t *args = json_object_get(json, "args");
    const leati_row *row = leati_graph_op_find(call->op)->rows;
    if (call->attributes == NULL)
        call->attributes = json_object();
    for (size_t i = 0; i < json_array_size(args) && row != NULL; i++, row++) {
        json_object_set(call->attributes, row->name != NULL ? row->name : "argument",
                        json_array_get(args, i));
        if (row->type == LEATI_ROW_END)
            break;
    }
}

/* A list of numbers, nested or not, as a tensor of int32 or float32. */
static leat_status list_tensor(const json_t *list, leat_dtype dtype, leat_tensor *out,
                               leat_error *err) {
    leat_shape shape = {.rank = 0};
    const json_t *inner = list;
    while (json_is_array(inner) && shape.rank < LEAT_MAX_RANK) {
        shape.dims[shape.rank++] = (int64_t)json_array_size(inner);
        inner = json_array_get(inner, 0);
    }
    /* A list of no boxes. */
    if (inner == NULL && shape.rank == 2)
        shape.dims[shape.rank++] = 4;
    leat_status status = leat_tensor_new(dtype, shape, out, err);
    int64_t count = status == LEAT_OK ? leat_tensor_count(out) : 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t place = i, step = count;
        inner = list;
        for (int32_t d = 0; d < shape.rank; d++) {
            step /= shape.dims[d];
            inner = json_array_get(inner, (size_t)(place / step));
            place %= step;
        }
        if (dtype == LEAT_INT32)
            ((int32_t *)out->data)[i] = (int32_t)json_number_value(inner);
        else
            ((float *)out->data)[i] = (float)json_number_value(inner);
    }
    return status;
}

static leat_status resize_call(const json_t *json, const json_t *inputs, struct call *call,
                               leat_error *err) {
    static const char *const names[] = {"size", "method", "antialias", "preserve_aspect_ratio"};
    call->attributes = json_object();
    call->value = golden_text(json, "method");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        json_t *value = json_object_get(json, names[i]);
        if (value != NULL && !json_is_null(value))
            json_object_set(call->attributes, names[i], value);
    }
    if (strcmp(call->op, "resize_with_pad") == 0) {
        const json_t *size = json_object_get(json, "size");
        json_object_set(call->attributes, "target_height", json_array_get(size, 0));
        json_object_set(call->attributes, "target_width", json_array_get(size, 1));
        json_object_del(call->attributes, "size");
    }
    call->channels = strcmp(golden_text(json, "input"), "large") == 0 ? 1 : 0;
    return golden_image_input(inputs, golden_text(json, "input"), &call->inputs[0], err);
}

/* Its arguments are boxes, indices and a size; the picture is one of a batch. */
static leat_status crop_and_resize_call(const json_t *json, const json_t *inputs, struct call *call,
                                        leat_error *err) {
    const json_t *args = json_object_get(json, "args");
    json_object_set(call->attributes, "crop_size", json_array_get(args, 2));
    call->num_inputs = 3;
    leat_status status = list_tensor(json_array_get(args, 0), LEAT_FLOAT32, &call->inputs[1], err);
    if (status == LEAT_OK)
        status = list_tensor(json_array_get(args, 1), LEAT_INT32, &call->inputs[2], err);
    return status == LEAT_OK ? golden_image_geometry(inputs, true, &call->inputs[0], err) : status;
}

static leat_status geometry_call(const json_t *json, const json_t *inputs, struct call *call,
                                 leat_error *err) {
    call->attributes = json_copy(json_object_get(json, "kwargs"));
    call->value = "an argument";
    if (strcmp(call->op, "crop_and_resize") == 0)
        return crop_and_resize_call(json, inputs, call, err);
    name_arguments(json, call);
    return golden_image_geometry(inputs, golden_bool(json, "batch", false), &call->inputs[0], err);
}

/* Arguments of a tensor function; the seed of a stateless one is its last input. */
static leat_status colour_call(const json_t *json, const json_t *inputs, struct call *call,
                               leat_error *err) {
    const json_t *seed = json_object_get(json, "seed");
    call->attributes = json_copy(json_object_get(json, "kwargs"));
    call->value = "an argument";
    name_arguments(json, call);
    call->num_inputs = seed != NULL ? 2 : 1;
    leat_status status =
        seed == NULL ? LEAT_OK : list_tensor(seed, LEAT_INT32, &call->inputs[1], err);
    return status == LEAT_OK
               ? golden_image_input(inputs, golden_text(json, "input"), &call->inputs[0], err)
               : status;
}

static leat_status box_call(const json_t *json, const json_t *inputs, struct call *call,
                            leat_error *err) {
    (void)inputs;
    call->attributes = json_copy(json_object_get(json, "kwargs"));
    call->value = "an argument";
    call->num_inputs = 3;
    leat_status status =
        list_tensor(json_object_get(json, "image_size"), LEAT_INT32, &call->inputs[0], err);
    if (status == LEAT_OK)
        status = list_tensor(json_object_get(json, "bounding_boxes"), LEAT_FLOAT32,
                             &call->inputs[1], err);
    return status == LEAT_OK
               ? list_tensor(json_object_get(json, "seed"), LEAT_INT32, &call->inputs[2], err)
               : status;
}

/* Sources are named "a" and "b", or "a, first channel". */
static leat_status encode_call(const json_t *json, const json_t *inputs, struct call *call,
                               leat_error *err) {
    char name[2] = {golden_text(json, "source")[0], '\0'};
    bool first = strstr(golden_text(json, "source"), "first channel") != NULL;
    leat_tensor whole = {0};
    call->attributes = json_copy(json_object_get(json, "args"));
    call->value = "an argument";
    leat_status status = golden_image_input(inputs, name, &whole, err);
    leat_graph *graph = status == LEAT_OK ? leat_graph_new_eager(err) : NULL;
    if (graph != NULL) {
        leat_value value = leat_graph_tensor(graph, &whole);
        status = leat_value_tensor(first ? first_channels(value, 1) : value, &call->inputs[0], err);
    }
    leat_graph_free(graph);
    leat_tensor_unref(&whole);
    return status;
}

static leat_status convert_call(const json_t *json, const json_t *inputs, struct call *call,
                                leat_error *err) {
    (void)inputs;
    call->attributes = json_pack("{s:s,s:b}", "dtype", golden_text(json, "to"), "saturate",
                                 golden_bool(json, "saturate", false));
    call->value = golden_text(json, "to");
    return golden_array("image", json_object_get(json, "input"), &call->inputs[0], err);
}

static leat_status integers(leat_dtype dtype, const json_t *json, leat_tensor *out,
                            leat_error *err) {
    int64_t values[16];
    int32_t narrow[16];
    int64_t count = json_is_array(json) ? (int64_t)json_array_size(json) : 1;
    leat_shape shape = {.rank = json_is_array(json), .dims = {count}};
    for (int64_t i = 0; i < count && i < 16; i++) {
        values[i] =
            json_integer_value(json_is_array(json) ? json_array_get(json, (size_t)i) : json);
        narrow[i] = (int32_t)values[i];
    }
    const void *data = dtype == LEAT_INT32 ? (const void *)narrow : values;
    return leat_tensor_copy_of(dtype, shape, data, out, err);
}

/* Numbers 0 to 10, which cases of shuffling begin with. */
static leat_status eleven(leat_tensor *out, leat_error *err) {
    int32_t values[11];
    for (int32_t i = 0; i < 11; i++)
        values[i] = i;
    return leat_tensor_copy_of(LEAT_INT32, LEAT_SHAPE(11), values, out, err);
}

static leat_status logits_of(const json_t *json, leat_tensor *out, leat_error *err) {
    double values[16];
    size_t rows = json_array_size(json), columns = json_array_size(json_array_get(json, 0));
    for (size_t i = 0; i < rows * columns && i < 16; i++)
        values[i] =
            json_number_value(json_array_get(json_array_get(json, i / columns), i % columns));
    return leat_tensor_copy_of(LEAT_FLOAT64, LEAT_SHAPE((int64_t)rows, (int64_t)columns), values,
                               out, err);
}

/* What stateless operations draw: its shape, dtype and range. */
static void add_drawn(const json_t *json, struct call *call) {
    static const char *const names[] = {"dtype", "minval", "maxval", "mean", "stddev", "alg"};
    bool bits = json_is_null(json_object_get(json, "minval"));
    json_t *shape = json_object_get(json_object_get(json, "output"), "shape");
    json_t *length = json_object_get(json, "length");
    bool normal = strstr(call->op, "normal") != NULL; /* some of these name a range too */
    if (length != NULL)
        json_object_set_new(call->attributes, "shape", json_pack("[O]", length));
    else
        json_object_set(call->attributes, "shape", shape);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        json_t *value = json_object_get(json, names[i]);
        if (value != NULL && !json_is_null(value) && !(normal && (i == 1 || i == 2)))
            json_object_set(call->attributes, names[i], value);
    }
    if (bits && !normal)
        call->op = "stateless_integers";
}

static leat_status random_call(const json_t *json, const json_t *inputs, struct call *call,
                               leat_error *err) {
    const json_t *seed = json_object_get(json, "seed"), *logits = json_object_get(json, "logits");
    const char *dtype = golden_text(json, "seed_dtype");
    leat_dtype seed_dtype = dtype[0] != '\0' ? leat_dtype_from_name(dtype) : LEAT_INT32;
    leat_status status = LEAT_OK;
    (void)inputs;
    call->attributes = json_object();
    call->value = "an argument";
    leat_tensor *of_seed = &call->inputs[0];
    if (strcmp(call->op, "stateless_shuffle") == 0) {
        status = eleven(&call->inputs[0], err);
    } else if (logits != NULL) {
        status = logits_of(logits, &call->inputs[0], err);
        json_object_set_new(call->attributes, "num_samples", json_integer(8));
    } else if (json_object_get(json, "num") != NULL) {
        json_object_set(call->attributes, "num", json_object_get(json, "num"));
    } else if (json_object_get(json, "data") != NULL) {
        status = integers(LEAT_INT32, json_object_get(json, "data"), &call->inputs[1], err);
        call->num_inputs = 2;
    } else {
        add_drawn(json, call);
    }
    if (call->inputs[0].dtype != 0) {
        of_seed = &call->inputs[1];
        call->num_inputs = 2;
    }
    return status == LEAT_OK ? integers(seed_dtype, seed, of_seed, err) : status;
}

static const struct file {
    const char *name;
    /* NULL: no operation of its cases is in the table yet. */
    leat_status (*make)(const json_t *json, const json_t *inputs, struct call *call,
                        leat_error *err);
} files[] = {
    {"augment.json", colour_call},        {"colour.json", colour_call},
    {"convert_dtype.json", convert_call}, {"decode.json", decode_call},
    {"distorted_box.json", box_call},     {"encode_jpeg.json", encode_call},
    {"geometry.json", geometry_call},     {"random.json", random_call},
    {"resize.json", resize_call},
};

/* A format whose own decoder is missing is missing in decode_image too. */
static void check_format(golden_case *c, const char *file) {
    const char *dot = strrchr(file, '.');
    if (dot != NULL && strcmp(dot, ".bmp") == 0 && leati_graph_op_find("decode_bmp") == NULL)
        golden_missing(c, "operation decode_bmp, for decode_image");
    if (dot != NULL && strcmp(dot, ".gif") == 0 && leati_graph_op_find("decode_gif") == NULL)
        golden_missing(c, "operation decode_gif, for decode_image");
}

static void run_case(golden_case *c, const struct file *file, const json_t *json,
                     const json_t *inputs) {
    const char *name = golden_text(json, "op");
    const leati_tensor_op *op = NULL;
    struct call call = {.op = name[0] != '\0' ? name : "encode_jpeg", .num_inputs = 1};
    leat_error err = {0};
    /* tf.image.transpose and tf.transpose are two things; the table has the second. */
    if (file->make == geometry_call && strcmp(call.op, "transpose") == 0)
        call.op = "image_transpose";
    /* tf.random.split divides a seed, tf.split a tensor. */
    if (file->make == random_call && strcmp(call.op, "split") == 0)
        call.op = "seed_split";
    if (file->make == random_call && strcmp(call.op, "fold_in") == 0)
        call.op = "seed_fold_in";
    op = leati_graph_op_find(call.op);
    if (op == NULL) {
        golden_missing(c, "operation %s", call.op);
        return;
    }
    check_format(c, golden_text(json, "file"));
    if (file->make == NULL) {
        golden_fail(c, "the runner cannot call %s yet", call.op);
        return;
    }
    leat_status status = file->make(json, inputs, &call, &err);
    check_attributes(c, op, call.attributes);
    if (status != LEAT_OK)
        golden_fail(c, "the input: %s", err.text);
    else if (c->missing[0] == '\0')
        check_call(c, json, &call);
    for (int i = 0; i < call.num_inputs; i++)
        leat_tensor_unref(&call.inputs[i]);
    json_decref(call.attributes);
}

/* The first line of some files holds what the others refer to; it is no case. */
static bool is_header(const json_t *json) {
    return json_object_get(json, "inputs") != NULL ||
           json_object_get(json, "source_arrays") != NULL;
}

static void run_file(golden_run *run, const void *line) {
    const struct file *file = line;
    char path[512], name[200];
    snprintf(path, sizeof path, "image/%s", file->name);
    json_t *cases = golden_read_cases(run, path);
    size_t count = json_array_size(cases);
    const json_t *inputs = json_object_get(json_array_get(cases, 0), "inputs");
    if (inputs == NULL && count > 0)
        inputs = json_object_get(json_array_get(cases, count - 1), "source_arrays");
    for (size_t i = 0; i < count; i++) {
        const json_t *json = json_array_get(cases, i);
        golden_case c;
        snprintf(name, sizeof name, "case_%zu_%s%s%s", i, golden_text(json, "op"),
                 golden_text(json, "file")[0] != '\0' ? "_" : "", golden_text(json, "file"));
        if (is_header(json) || !golden_begin(&c, run, path, name))
            continue;
        run_case(&c, file, json, inputs);
        golden_end(&c);
    }
    json_decref(cases);
}

void golden_image(golden_run *run) {
    golden_run_files(run, "image", files, sizeof files / sizeof files[0], sizeof files[0],
                     run_file);
}
