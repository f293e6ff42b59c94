/* The part image: recorded pictures through the tensor operations, called eagerly by name.
 *
 * A case's operation and its arguments are looked up in the table of operations; a value that the
 * operation calls UNIMPLEMENTED (a method, a file format) counts as a missing name too. Pixels of
 * integers are equal; floats agree to 3e-5, the accuracy that the recording promises. */
#include "../support/golden.h"
#include "graph/graph.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The call that a case makes. */
struct call {
    const char *op;
    leat_tensor input;
    json_t *attributes;
    const char *value; /* which attribute or file an UNIMPLEMENTED blames */
    int channels;      /* of the result that were recorded; 0: all */
};

/* ---- inputs ---- */

static leat_status read_contents(const char *file, leat_tensor *out, leat_error *err) {
    char path[1024];
    snprintf(path, sizeof path, "image/%s", file);
    leat_tensor name = leat_scalar_string(path);
    leat_graph *graph = leat_eager_new(err);
    leat_status status = err->code;
    if (graph != NULL)
        status = leat_value_tensor(leat_read_file(leat_graph_tensor(graph, &name)), out, err);
    leat_graph_free(graph);
    leat_tensor_unref(&name);
    return status;
}

/* "uint8 // 2 as int16": an input, halved, as another dtype. */
static leat_status halved(const leat_tensor *input, const char *dtype, leat_tensor *out,
                          leat_error *err) {
    leat_graph *graph = leat_eager_new(err);
    if (graph == NULL)
        return err->code;
    leat_tensor two = leat_scalar_int64(2);
    leat_value x = leat_graph_tensor(graph, input);
    leat_value divisor = leat_cast(leat_graph_tensor(graph, &two), leat_value_dtype(x));
    leat_value half = leat_cast(leat_floordiv(x, divisor), leat_dtype_from_name(dtype));
    leat_status status = leat_value_tensor(half, out, err);
    leat_tensor_unref(&two);
    leat_graph_free(graph);
    return status;
}

static leat_status named_input(const json_t *inputs, const char *name, leat_tensor *out,
                               leat_error *err) {
    const char *middle = strstr(name, " // 2 as ");
    if (middle == NULL) {
        const json_t *array = json_object_get(inputs, name);
        return array != NULL ? golden_array("image", array, out, err)
                             : leati_fail(err, LEAT_NOT_FOUND, "no input %s", name);
    }
    char first[64];
    leat_tensor whole = {0};
    snprintf(first, sizeof first, "%.*s", (int)(middle - name), name);
    leat_status status = named_input(inputs, first, &whole, err);
    if (status == LEAT_OK)
        status = halved(&whole, middle + strlen(" // 2 as "), out, err);
    leat_tensor_unref(&whole);
    return status;
}

/* x, or x and x upside down, stacked. */
static leat_status geometry_input(const json_t *inputs, bool batch, leat_tensor *out,
                                  leat_error *err) {
    leat_tensor x = {0};
    leat_status status = named_input(inputs, "x", &x, err);
    if (status != LEAT_OK || !batch) {
        *out = x;
        return status;
    }
    leat_shape shape = leat_tensor_shape(&x);
    size_t rows = (size_t)x.dims[0], bytes = leat_tensor_bytes(&x), row = bytes / rows;
    memmove(shape.dims + 1, shape.dims, (size_t)shape.rank++ * sizeof shape.dims[0]);
    shape.dims[0] = 2;
    status = leat_tensor_new(x.dtype, shape, out, err);
    if (status == LEAT_OK) {
        memcpy(out->data, x.data, bytes);
        for (size_t i = 0; i < rows; i++)
            memcpy((char *)out->data + bytes + i * row, (char *)x.data + (rows - 1 - i) * row, row);
    }
    leat_tensor_unref(&x);
    return status;
}

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
    return leat_slice(value, begin, size, shape.rank);
}

static leat_status run_call(const struct call *call, leat_tensor *out, leat_error *err) {
    char *text = leati_json_print(call->attributes, 0, false, err);
    leat_graph *graph = text == NULL ? NULL : leat_eager_new(err);
    leat_value outputs[LEAT_MAX_OUTPUTS];
    leat_status status = err->code;
    if (graph != NULL) {
        leat_value input = leat_graph_tensor(graph, &call->input);
        int count = leat_graph_call(graph, call->op, text, &input, 1, outputs);
        if (count < 1)
            outputs[0] = (leat_value){.graph = graph, .id = -1};
        else if (call->channels > 0)
            outputs[0] = first_channels(outputs[0], call->channels);
        status = leat_value_tensor(outputs[0], out, err);
    }
    leat_graph_free(graph);
    leati_free(text);
    return status;
}

/* A float at or beyond an integer's range has no defined value unless it is clipped: what was found
 * there counts as expected. The scaled value is rounded to the input's own precision. */
static void forget_undefined(const struct call *call, leat_tensor *expected,
                             const leat_tensor *found) {
    const leat_dtype from = call->input.dtype, to = expected->dtype;
    bool floating = from >= LEAT_FLOAT16 && from <= LEAT_FLOAT64;
    bool whole = to >= LEAT_INT8 && to <= LEAT_UINT64;
    if (!floating || !whole || found->dtype != to ||
        golden_bool(call->attributes, "saturate", false) ||
        leat_tensor_count(found) != leat_tensor_count(expected))
        return;
    size_t size = leat_dtype_size(to);
    double most = ldexp(1, (int)size * 8 - (to <= LEAT_INT64));
    double step = from == LEAT_BFLOAT16 ? 0x1p-8 : from == LEAT_FLOAT16 ? 0x1p-11 : 0x1p-24;
    for (int64_t i = 0; i < leat_tensor_count(expected); i++) {
        double scaled = fabs(golden_number(&call->input, i)) * (most - 0.5);
        if ((from == LEAT_FLOAT16 && most > 65504) || scaled * (1 + step) >= most)
            memcpy((char *)expected->data + (size_t)i * size,
                   (const char *)found->data + (size_t)i * size, size);
    }
}

static void check_call(golden_case *c, const json_t *json, const struct call *call) {
    const json_t *error = json_object_get(json, "error");
    leat_tensor found = {0}, expected = {0};
    leat_error err = {0};
    leat_status status = run_call(call, &found, &err);
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
        leat_error local = {0};
        if (golden_array("image", json_object_get(json, "output"), &expected, &local) != LEAT_OK) {
            golden_fail(c, "the recorded output: %s", local.text);
        } else {
            forget_undefined(call, &expected, &found);
            golden_close(c, "pixels", &expected, &found, 0,
                         expected.dtype == LEAT_FLOAT32 && strcmp(call->op, "resize") == 0 ? 3e-5
                                                                                           : 0);
        }
    }
    leat_tensor_unref(&found);
    leat_tensor_unref(&expected);
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
    return read_contents(file, &call->input, err);
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
    call->channels = strcmp(golden_text(json, "input"), "large") == 0 ? 1 : 0;
    return named_input(inputs, golden_text(json, "input"), &call->input, err);
}

static leat_status geometry_call(const json_t *json, const json_t *inputs, struct call *call,
                                 leat_error *err) {
    call->attributes = json_copy(json_object_get(json, "kwargs"));
    call->value = "an argument";
    /* Positional arguments take the names of the operation's rows, in their order. */
    const json_t *args = json_object_get(json, "args");
    const leati_row *row = leati_tensor_op_find(call->op)->rows;
    for (size_t i = 0; i < json_array_size(args) && row != NULL; i++, row++) {
        json_object_set(call->attributes, row->name != NULL ? row->name : "argument",
                        json_array_get(args, i));
        if (row->type == LEATI_ROW_END)
            break;
    }
    return geometry_input(inputs, golden_bool(json, "batch", false), &call->input, err);
}

static leat_status convert_call(const json_t *json, const json_t *inputs, struct call *call,
                                leat_error *err) {
    (void)inputs;
    call->attributes = json_pack("{s:s,s:b}", "dtype", golden_text(json, "to"), "saturate",
                                 golden_bool(json, "saturate", false));
    call->value = golden_text(json, "to");
    return golden_array("image", json_object_get(json, "input"), &call->input, err);
}

static const struct file {
    const char *name;
    /* NULL: no operation of its cases is in the table yet. */
    leat_status (*make)(const json_t *json, const json_t *inputs, struct call *call,
                        leat_error *err);
} files[] = {
    {"augment.json", NULL},
    {"colour.json", NULL},
    {"convert_dtype.json", convert_call},
    {"decode.json", decode_call},
    {"distorted_box.json", NULL},
    {"encode_jpeg.json", NULL},
    {"geometry.json", geometry_call},
    {"random.json", NULL},
    {"resize.json", resize_call},
};

/* A format whose own decoder is missing is missing in decode_image too. */
static void check_format(golden_case *c, const char *file) {
    const char *dot = strrchr(file, '.');
    if (dot != NULL && strcmp(dot, ".bmp") == 0 && leati_tensor_op_find("decode_bmp") == NULL)
        golden_missing(c, "operation decode_bmp, for decode_image");
    if (dot != NULL && strcmp(dot, ".gif") == 0 && leati_tensor_op_find("decode_gif") == NULL)
        golden_missing(c, "operation decode_gif, for decode_image");
}

static void run_case(golden_case *c, const struct file *file, const json_t *json,
                     const json_t *inputs) {
    const char *name = golden_text(json, "op");
    const leati_tensor_op *op = NULL;
    struct call call = {.op = name[0] != '\0' ? name : "encode_jpeg"};
    leat_error err = {0};
    /* tf.image.transpose and tf.transpose are two things; the table has the second. */
    if (file->make == geometry_call && strcmp(call.op, "transpose") == 0)
        call.op = "image.transpose";
    /* tf.random.split divides a seed, tf.split a tensor; the table has the second. */
    if (strcmp(file->name, "random.json") == 0 && strcmp(call.op, "split") == 0)
        call.op = "random.split";
    op = leati_tensor_op_find(call.op);
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
    leat_tensor_unref(&call.input);
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
    const json_t *inputs = json_object_get(json_array_get(cases, 0), "inputs");
    for (size_t i = 0; i < json_array_size(cases); i++) {
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
