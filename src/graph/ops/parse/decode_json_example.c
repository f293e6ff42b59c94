/* decode_json_example: tf.train.Examples written as JSON, as their serialised form
 * (tf.io.decode_json_example).
 *
 * The JSON is protobuf's: names in lowerCamelCase or as in the message, bytes as base64, integers
 * and floats also as texts. Fails in a run on what is no such JSON, with the place. No gradient, no
 * locks. */
#include "core/json.h"
#include "core/number.h"
#include "file/feature.h"
#include "file/tensor_proto.h"
#include "graph/support/text/texts.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static leat_status decode_json_example_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the input", err));
    return leati_op_infer_same(call, err);
}

static leat_status refuse(const char *where, const char *expected, leat_error *err) {
    return leati_refuse(err, VALUE,
                        "error while parsing JSON of a tf.train.Example: %.100s: expected %s",
                        where, expected);
}

/* ---- values of a list ---- */

/* The value of a digit of base64, of either of its two alphabets; -1: no digit. */
static int bits_of(char c) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    /* strchr would find the zero byte that ends the letters. */
    const char *found = c == '\0' ? NULL : strchr(letters, c);
    if (found != NULL)
        return (int)(found - letters);
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

static leat_status put_bytes(const json_t *value, const char *name, leati_writer *out,
                             leat_error *err) {
    leati_writer bytes = {0};
    const char *text = json_string_value(value);
    size_t size = text == NULL ? 0 : json_string_length(value), at = 0;
    uint32_t bits = 0;
    bool good = text != NULL || json_is_null(value);
    /* Padding says nothing that the number of digits does not. */
    while (size > 0 && text[size - 1] == '=')
        size--;
    for (; at < size && good; at++) {
        int found = bits_of(text[at]);
        char byte;
        good = found >= 0;
        bits = bits << 6 | (uint32_t)found;
        /* Of four digits the first gives no byte; behind digit k, 6 - 2 k bits are left. */
        byte = (char)(bits >> (6 - 2 * (at % 4)) & 255);
        if (at % 4 > 0)
            leati_put_raw(&bytes, &byte, 1);
    }
    /* One digit left over has 6 bits: no byte. */
    good = good && size % 4 != 1;
    if (good)
        leati_tensor_proto_put_field(out, 1, bytes.data, bytes.size);
    out->failed = out->failed || bytes.failed;
    leati_writer_fini(&bytes);
    return good ? LEAT_OK : refuse(name, "base64", err);
}

static leat_string text_of(const json_t *value) {
    return (leat_string){.data = json_string_value(value), .size = json_string_length(value)};
}

/* The float that a value or a text says; infinity has to be called so. */
static bool float_of(const json_t *value, float *out) {
    double number = json_number_value(value);
    leat_string text = text_of(value);
    if (json_is_string(value) && !leati_number_parse(text, LEAT_FLOAT64, &number))
        return false;
    /* What is too large for a float32 became infinite by the cast, and is refused. */
    bool named = json_is_string(value) && strpbrk(text.data, "nN") != NULL; /* inf, nan */
    *out = (float)number;
    return (json_is_number(value) || json_is_null(value) || json_is_string(value)) &&
           (named || isfinite(*out));
}

/* The integer that a value or a text says, also as 1e2 and 3.0. A text has no space around it. */
static bool integer_of(const json_t *value, int64_t *out) {
    leat_string text = text_of(value);
    double real = json_real_value(value);
    if (json_is_string(value)) {
        if (text.size == 0 || strpbrk(text.data, " \t\n\v\f\r") != NULL)
            return false;
        /* As an integer first: a double would round what is above 2^53. */
        if (leati_number_parse(text, LEAT_INT64, out))
            return true;
        if (!leati_number_parse(text, LEAT_FLOAT64, &real))
            return false;
    }
    *out = (int64_t)json_integer_value(value);
    if (!json_is_real(value) && !json_is_string(value))
        return json_is_integer(value) || json_is_null(value);
    /* 2^63 is the first double beyond int64; infinity equals its floor, and ends here. */
    if (real != floor(real) || !(fabs(real) < 9223372036854775808.0))
        return false;
    *out = (int64_t)real;
    return true;
}

static leat_status put_float(const json_t *value, const char *name, leati_writer *out,
                             leat_error *err) {
    float number = 0;
    uint32_t bits;
    /* Not packed: values come one by one, each with its tag. */
    uint8_t bytes[5] = {1 << 3 | LEATI_WIRE_FIXED32};
    if (!float_of(value, &number))
        return refuse(name, "a number", err);
    memcpy(&bits, &number, sizeof bits);
    leati_wire_store32(bytes + 1, bits);
    leati_put_raw(out, bytes, sizeof bytes);
    return LEAT_OK;
}

static leat_status put_int64(const json_t *value, const char *name, leati_writer *out,
                             leat_error *err) {
    int64_t number = 0;
    if (!integer_of(value, &number))
        return refuse(name, "an integer of 64 bits", err);
    leati_tensor_proto_put_number_field(out, 1, (uint64_t)number);
    return LEAT_OK;
}

/* ---- messages ---- */

typedef leat_status (*value_writer)(const json_t *value, const char *name, leati_writer *out,
                                    leat_error *err);
typedef struct list_kind {
    const char *names[2];
    uint32_t number;
    value_writer put;
} list_kind;

/* protobuf's JSON takes both spellings of a name. */
static const list_kind list_kinds[] = {
    {{"bytesList", "bytes_list"}, LEATI_BYTES_LIST, put_bytes},
    {{"floatList", "float_list"}, LEATI_FLOAT_LIST, put_float},
    {{"int64List", "int64_list"}, LEATI_INT64_LIST, put_int64},
};

static const list_kind *kind_of(const char *key) {
    for (size_t i = 0; i < sizeof list_kinds / sizeof *list_kinds; i++)
        if (strcmp(key, list_kinds[i].names[0]) == 0 || strcmp(key, list_kinds[i].names[1]) == 0)
            return &list_kinds[i];
    return NULL;
}

static leat_status put_list(const json_t *list, const list_kind *kind, const char *name,
                            leati_writer *out, leat_error *err) {
    const char *key;
    json_t *values;
    if (!json_is_object(list))
        return refuse(name, "an object with \"value\"", err);
    /* jansson's macro takes no const object; nothing is changed by it. */
    json_object_foreach((json_t *)(uintptr_t)list, key, values) {
        if (strcmp(key, "value") != 0)
            return refuse(name, "an object with \"value\"", err);
        /* A single value stands for a list of one, null for an empty list. */
        size_t count = json_is_array(values) ? json_array_size(values) : !json_is_null(values);
        for (size_t i = 0; i < count; i++)
            LEATI_TRY(kind->put(json_is_array(values) ? json_array_get(values, i) : values, name,
                                out, err));
    }
    return LEAT_OK;
}

/* Appends a message as field `number`; `inner` is given. */
static leat_status put_message(leati_writer *out, uint32_t number, leati_writer *inner,
                               leat_status status) {
    if (status == LEAT_OK)
        leati_tensor_proto_put_field(out, number, inner->data, inner->size);
    out->failed = out->failed || inner->failed;
    leati_writer_fini(inner);
    return status;
}

static leat_status put_feature(const json_t *feature, const char *name, leati_writer *out,
                               leat_error *err) {
    const char *key;
    json_t *list;
    bool set = false;
    if (!json_is_object(feature))
        return refuse(name, "an object", err);
    json_object_foreach((json_t *)(uintptr_t)feature, key, list) {
        const list_kind *kind = kind_of(key);
        leati_writer inner = {0};
        /* The lists are a oneof: a second one that is not null is an error, as for protobuf. */
        if (kind == NULL || (set && !json_is_null(list)))
            return refuse(name, "one of bytesList, floatList and int64List", err);
        if (json_is_null(list))
            continue;
        set = true;
        LEATI_TRY(put_message(out, kind->number, &inner, put_list(list, kind, name, &inner, err)));
    }
    return LEAT_OK;
}

static leat_status put_entry(const char *name, const json_t *feature, leati_writer *out,
                             leat_error *err) {
    leati_writer inner = {0};
    leati_tensor_proto_put_field(out, 1, name, strlen(name));
    if (json_is_null(feature))
        return LEAT_OK;
    return put_message(out, 2, &inner, put_feature(feature, name, &inner, err));
}

static leat_status put_features(const json_t *features, leati_writer *out, leat_error *err) {
    const char *key, *name;
    json_t *map, *feature;
    if (!json_is_object(features))
        return refuse("features", "an object", err);
    json_object_foreach((json_t *)(uintptr_t)features, key, map) {
        if (strcmp(key, "feature") != 0 || !(json_is_object(map) || json_is_null(map)))
            return refuse("features", "an object with \"feature\"", err);
        json_object_foreach(map, name, feature) {
            leati_writer inner = {0};
            LEATI_TRY(put_message(out, 1, &inner, put_entry(name, feature, &inner, err)));
        }
    }
    return LEAT_OK;
}

static leat_status put_example(const json_t *root, leati_writer *out, leat_error *err) {
    const char *key;
    json_t *features;
    if (!json_is_object(root))
        return refuse("the text", "an object", err);
    json_object_foreach((json_t *)(uintptr_t)root, key, features) {
        leati_writer inner = {0};
        if (strcmp(key, "features") != 0)
            return refuse(key, "\"features\" alone", err);
        if (!json_is_null(features))
            LEATI_TRY(put_message(out, 1, &inner, put_features(features, &inner, err)));
    }
    return LEAT_OK;
}

static leat_status convert(const leati_kernel_call *call, int64_t row, int64_t index, void *context,
                           leati_writer *out, leat_error *err) {
    leat_string s = leati_text_strings_of(&call->inputs[0], row)[index];
    leat_error reason = {0};
    (void)context;
    json_t *root = leati_json_parse(s.size > 0 ? s.data : "", s.size, &reason);
    if (root == NULL && reason.code == LEAT_RESOURCE_EXHAUSTED)
        return leati_no_memory(err);
    if (root == NULL)
        return leati_refuse(err, VALUE, "error while parsing JSON of a tf.train.Example: %.300s",
                            reason.text);
    leat_status status = put_example(root, out, err);
    json_decref(root);
    return status;
}

static leat_status decode_json_example_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    return leati_text_collect(call, convert, NULL, err);
}

const leati_tensor_op leati_tensor_op_decode_json_example = {
    .name = "decode_json_example",
    .version = 1,
    .doc = "tf.train.Examples written as JSON, as their serialised form "
           "(tf.io.decode_json_example).",
    .names = "io.decode_json_example",
    .inputs = "json_examples",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = decode_json_example_infer,
    .kernel = decode_json_example_kernel,
};
