/* What operations read out of strings: fields of CSV, sound, JSON Examples, records of sequences,
 * packed bytes, serialised tensors, numbers, encodings, and regular expressions both as pattern and
 * as text. The first byte chooses. A string alone and the same string twice must fare alike. */
#include "fuzz.h"
#include <stdio.h>
#include <string.h>

typedef struct reader {
    const char *op, *attributes;
    int rank;     /* of the strings: 0 or 1 */
    int defaults; /* further inputs of empty strings */
} reader;

static const reader readers[] = {
    {"decode_csv", NULL, 1, 3},
    {"decode_csv", "{\"use_quote_delim\": false, \"field_delim\": \"|\"}", 1, 2},
    {"decode_wav", NULL, 0, 0},
    {"decode_wav", "{\"desired_channels\": 3, \"desired_samples\": 100}", 0, 0},
    {"decode_json_example", NULL, 1, 0},
    {"parse_example",
     "{\"features\": {\"dict\": {\"a\": {\"sparse\": {\"dtype\": \"int64\", \"shape\": [-1]}}, "
     "\"b\": {\"dtype\": \"string\", \"shape\": [-1]}}}}",
     1, 0},
    {"parse_sequence_example",
     "{\"context\": {\"dict\": {\"v\": {\"sparse\": {\"dtype\": \"float32\", \"shape\": [-1]}}}}, "
     "\"sequence\": {\"dict\": {\"tok\": {\"dtype\": \"int64\", \"shape\": [-1]}, \"w\": "
     "{\"sparse\": "
     "{\"dtype\": \"string\", \"shape\": [-1, -1]}}}}, \"allow_missing\": [\"tok\"]}",
     1, 0},
    {"decode_compressed", "{\"compression_type\": \"ZLIB\"}", 1, 0},
    {"decode_compressed", "{\"compression_type\": \"GZIP\"}", 1, 0},
    {"unicode_decode", "{\"input_encoding\": \"UTF-8\"}", 1, 0},
    {"unicode_transcode", "{\"input_encoding\": \"UTF-8\", \"output_encoding\": \"UTF-16-BE\"}", 1,
     0},
    {"unicode_transcode",
     "{\"input_encoding\": \"UTF-16\", \"output_encoding\": \"UTF-8\", \"errors\": \"ignore\"}", 1,
     0},
    {"unicode_transcode", "{\"input_encoding\": \"SHIFT_JIS\", \"output_encoding\": \"UTF-8\"}", 1,
     0},
    {"string_upper", "{\"encoding\": \"utf-8\"}", 1, 0},
    {"regex_replace", "{\"pattern\": \"(a|\\\\w+)*?[^b]\", \"rewrite\": \"<\\\\0\\\\1>\"}", 1, 0},
    {"string_bytes_split", NULL, 1, 0},
};
/* Chosen by bytes from 128 on. */
static const reader more_readers[] = {
    {"decode_base64", NULL, 1, 0},
    {"decode_raw", "{\"out_type\": \"int32\"}", 1, 0},
    {"decode_raw", "{\"out_type\": \"float64\", \"fixed_length\": 16, \"little_endian\": false}", 1,
     0},
    {"parse_tensor", "{\"out_type\": \"int64\"}", 0, 0},
    {"parse_tensor", "{\"out_type\": \"string\"}", 0, 0},
    {"parse_tensor", "{\"out_type\": \"float16\"}", 0, 0},
    {"decode_compressed", "{\"compression_type\": \"ZSTD\"}", 1, 0},
    {"string_to_number", "{\"out_type\": \"float32\"}", 1, 0},
    {"string_to_number", "{\"out_type\": \"int64\"}", 1, 0},
    {"regex_full_match", "{\"pattern\": \"((a|[^b])*\\\\b|.{2,3}$)+\"}", 1, 0},
    {"unicode_decode", "{\"input_encoding\": \"UTF-32-BE\", \"errors\": \"strict\"}", 1, 0},
    {"unicode_transcode", "{\"input_encoding\": \"UTF-7\", \"output_encoding\": \"UTF-8\"}", 1, 0},
    {"string_length", "{\"unit\": \"UTF8_CHAR\"}", 1, 0},
    {"decode_image", NULL, 0, 0},
    {"extract_jpeg_shape", NULL, 0, 0},
};
enum {
    READERS = sizeof readers / sizeof *readers,
    MORE = sizeof more_readers / sizeof *more_readers,
    MOST_UNFOLDED = 1 << 20
};

/* Calls an operation on `count` copies of the bytes. */
static leat_status call(const reader *r, const uint8_t *data, size_t size, int64_t count) {
    leat_string texts[2] = {{(const char *)data, size}, {(const char *)data, size}};
    leat_tensor tensor, outputs[LEAT_MAX_OUTPUTS];
    leat_value inputs[4], values[LEAT_MAX_OUTPUTS];
    leat_error err = {0};
    leat_shape shape = r->rank == 0 ? LEAT_SCALAR : LEAT_SHAPE(count);
    leat_graph *graph = leat_graph_new(NULL, &err);
    if (graph == NULL || leat_tensor_copy_of(LEAT_STRING, shape, texts, &tensor, &err) != LEAT_OK) {
        leat_function_unref(graph == NULL ? NULL : leat_graph_finish(graph, NULL, 0, NULL, NULL));
        return LEAT_RESOURCE_EXHAUSTED;
    }
    inputs[0] = leat_graph_tensor(graph, &tensor);
    leat_tensor_unref(&tensor);
    for (int i = 0; i < r->defaults; i++) {
        leat_string empty = {.data = "", .size = 0};
        if (leat_tensor_copy_of(LEAT_STRING, LEAT_SCALAR, &empty, &tensor, &err) != LEAT_OK)
            break;
        inputs[i + 1] = leat_graph_tensor(graph, &tensor);
        leat_tensor_unref(&tensor);
    }
    int made = leat_graph_call(graph, r->op, r->attributes, inputs, 1 + r->defaults, values,
                               LEAT_MAX_OUTPUTS);
    leat_function *function = leat_graph_finish(graph, values, made < 0 ? 0 : made, NULL, &err);
    if (function == NULL) {
        fuzz_check_error(r->op, err.code, &err);
        return err.code;
    }
    leat_status status = leat_function_call(function, NULL, 0, outputs, made, &err);
    fuzz_check_error(r->op, status, &err);
    for (int i = 0; i < made && status == LEAT_OK; i++)
        leat_tensor_unref(&outputs[i]);
    leat_function_unref(function);
    return status;
}

/* The bytes as a pattern, which may be none. */
static void as_pattern(const uint8_t *data, size_t size) {
    static const uint8_t text[] = "banana \xc3\xa9\xff 12";
    char attributes[400];
    size_t at =
        (size_t)snprintf(attributes, sizeof attributes, "{\"rewrite\": \"\", \"pattern\": \"");
    for (size_t i = 0; i < size && at < sizeof attributes - 10; i++) {
        bool plain = data[i] >= 0x20 && data[i] < 0x7f && data[i] != '"' && data[i] != '\\';
        at += (size_t)snprintf(attributes + at, sizeof attributes - at, plain ? "%c" : "\\u%04x",
                               data[i] == 0 ? 1U : (unsigned)data[i]);
    }
    (void)snprintf(attributes + at, sizeof attributes - at, "\"}");
    reader pattern = {"regex_replace", attributes, 1, 0};
    (void)call(&pattern, text, sizeof text - 1, 1);
}

static void run(const uint8_t *data, size_t size) {
    leat_error err = {0};
    if (size == 0 || leat_limits_set_decoding(MOST_UNFOLDED, MOST_UNFOLDED, &err) != LEAT_OK)
        return;
    if (data[0] < 128 && data[0] % (READERS + 1) == READERS) {
        as_pattern(data + 1, size - 1);
        return;
    }
    const reader *chosen =
        data[0] < 128 ? &readers[data[0] % (READERS + 1)] : &more_readers[(data[0] - 128) % MORE];
    leat_status one = call(chosen, data + 1, size - 1, 1);
    leat_status two = call(chosen, data + 1, size - 1, 2);
    if (one != two && one != LEAT_RESOURCE_EXHAUSTED && two != LEAT_RESOURCE_EXHAUSTED)
        fuzz_broken("%s: one string gives %s, two give %s", chosen->op, leat_status_name(one),
                    leat_status_name(two));
}

const fuzz_target fuzz_strings = {
    .name = "strings",
    .doc = "what operations read out of strings",
    .run = run,
    .most = 1000,
};
