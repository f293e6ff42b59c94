/* Made by tools/builders.py from the tables of src/graph/ops: make builders. */
/* Builders of tensor operations: strings; see leat/ops.h. */
#ifndef LEAT_OPS_TEXT_H
#define LEAT_OPS_TEXT_H

#include <leat/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct leat_op_as_string_options {
    size_t size; /* set by the macro below */
    /* Digits after the point of floats, or of shortest in all; negative: six; by default -1. */
    int64_t precision;
    /* Floats with an exponent; by default false. */
    bool scientific;
    /* Floats with an exponent where that is shorter, without zeros at the end; by default false. */
    bool shortest;
    /* The least number of bytes; negative: none; by default -1. */
    int64_t width;
    /* What fills up to the width: nothing for blanks, or one of 0, -, +, # and a blank, which mean
     * what they mean to printf; by default "". */
    const char *fill;
} leat_op_as_string_options;
#define LEAT_OP_AS_STRING_DEFAULTS                                                                 \
    .size = sizeof(leat_op_as_string_options), .precision = -1, .width = -1
/* Numbers as text, true or false of booleans (tf.strings.as_string).
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_as_string(leat_value input, const leat_op_as_string_options *options);

/* The bytes that text of encode_base64 stands for (tf.io.decode_base64). */
LEAT_API leat_value leat_op_decode_base64(leat_value input);

/* Bytes as text of 64 letters that are safe in web addresses (tf.io.encode_base64).
 * `pad`: fill the last four letters up with "="; by default false. */
LEAT_API leat_value leat_op_encode_base64(leat_value input, bool pad);

/* A hash of each row of the first dimension, as 8 bytes (tf.fingerprint).
 * `method`: farmhash64; by default "farmhash64". */
LEAT_API leat_value leat_op_fingerprint(leat_value data, const char *method);

/* Is each string as a whole what a regular expression describes (tf.strings.regex_full_match)?
 * `pattern`: the regular expression. */
LEAT_API leat_value leat_op_regex_full_match(leat_value input, const char *pattern);

/* Strings with what a regular expression finds in them replaced (tf.strings.regex_replace).
 * `pattern`: the regular expression.
 * `rewrite`: what stands in a match's place.
 * `replace_global`: replace every match, else the first; by default true. */
LEAT_API leat_value leat_op_regex_replace(leat_value input, const char *pattern,
                                          const char *rewrite, bool replace_global);

/* Strings one after the other with a separator between them (tf.strings.join).
 * `separator`: what stands between two strings; by default "". */
LEAT_API leat_value leat_op_string_join(const leat_value *inputs, int num_inputs,
                                        const char *separator);

/* The number of bytes or of characters of each string, as int32 (tf.strings.length).
 * `unit`: BYTE, or UTF8_CHAR for the characters of UTF-8; by default "BYTE". */
LEAT_API leat_value leat_op_string_length(leat_value input, const char *unit);

/* Letters in lower case (tf.strings.lower).
 * `encoding`: utf-8, or nothing for ASCII; by default "". */
LEAT_API leat_value leat_op_string_lower(leat_value input, const char *encoding);

/* Strings joined along the named dimensions, or all (tf.strings.reduce_join).
 * `axis`: the dimensions to join along; none named: all; NULL: not given.
 * `keepdims`: leave joined dimensions as 1; by default false.
 * `separator`: what stands between two strings; by default "". */
LEAT_API leat_value leat_op_string_reduce_join(leat_value inputs, const int64_t *axis, int num_axis,
                                               bool keepdims, const char *separator);

/* Strings without the white space at both ends (tf.strings.strip). */
LEAT_API leat_value leat_op_string_strip(leat_value input);

/* A number below num_buckets for each string (tf.strings.to_hash_bucket).
 * `num_buckets`: how many numbers there are, at least 1. */
LEAT_API leat_value leat_op_string_to_hash_bucket(leat_value input, int64_t num_buckets);

/* A number below num_buckets for each string, the same everywhere
 * (tf.strings.to_hash_bucket_fast).
 * `num_buckets`: how many numbers there are, at least 1. */
LEAT_API leat_value leat_op_string_to_hash_bucket_fast(leat_value input, int64_t num_buckets);

/* A number below num_buckets for each string, by a hash under a key
 * (tf.strings.to_hash_bucket_strong).
 * `num_buckets`: how many numbers there are, at least 1.
 * `key`: two numbers that choose the hash. */
LEAT_API leat_value leat_op_string_to_hash_bucket_strong(leat_value input, int64_t num_buckets,
                                                         const int64_t *key, int num_key);

/* The number that a string says (tf.strings.to_number).
 * `out_type`: int32, int64, uint32, uint64, float32 or float64; by default "float32". */
LEAT_API leat_value leat_op_string_to_number(leat_value input, leat_dtype out_type);

/* Letters in upper case (tf.strings.upper).
 * `encoding`: utf-8, or nothing for ASCII; by default "". */
LEAT_API leat_value leat_op_string_upper(leat_value input, const char *encoding);

/* The part of each string from a place on, of at most so many bytes or characters, broadcast
 * (tf.strings.substr).
 * `unit`: BYTE, or UTF8_CHAR for the characters of UTF-8; by default "BYTE". */
LEAT_API leat_value leat_op_substr(leat_value input, leat_value pos, leat_value len,
                                   const char *unit);

/* ICU's number of each code point's script (tf.strings.unicode_script). */
LEAT_API leat_value leat_op_unicode_script(leat_value input);

typedef struct leat_op_unicode_transcode_options {
    size_t size; /* set by the macro below */
    /* Malformed bytes: replace, ignore, or strict to fail; by default "replace". */
    const char *errors;
    /* The code point in their place; by default 65533. */
    int64_t replacement_char;
    /* Replace U+0000 to U+001F, too; by default false. */
    bool replace_control_characters;
} leat_op_unicode_transcode_options;
#define LEAT_OP_UNICODE_TRANSCODE_DEFAULTS                                                         \
    .size = sizeof(leat_op_unicode_transcode_options), .replacement_char = 65533
/* Strings of one encoding in another one (tf.strings.unicode_transcode).
 * `input_encoding`: UTF-8, or another name that ICU knows.
 * `output_encoding`: UTF-8, UTF-16-BE or UTF-32-BE.
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_unicode_transcode(leat_value input, const char *input_encoding,
                                              const char *output_encoding,
                                              const leat_op_unicode_transcode_options *options);

#ifdef __cplusplus
}
#endif
#endif
