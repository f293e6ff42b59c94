/* Made by tools/builders.py from the tables of src/graph/ops: make builders. */
#include "graph/build.h"
#include <leat/ops/text.h>

leat_value leat_op_as_string(leat_value input, const leat_op_as_string_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_as_string, NULL);
    leati_build_input(&build, input);
    leat_op_as_string_options own = {LEAT_OP_AS_STRING_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options, "leat_op_as_string_options");
    leati_build_int(&build, "precision", own.precision);
    leati_build_bool(&build, "scientific", own.scientific);
    leati_build_bool(&build, "shortest", own.shortest);
    leati_build_int(&build, "width", own.width);
    leati_build_text(&build, "fill", own.fill);
    return leati_build_end(&build);
}

leat_value leat_op_encode_base64(leat_value input, bool pad) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_encode_base64, NULL);
    leati_build_input(&build, input);
    leati_build_bool(&build, "pad", pad);
    return leati_build_end(&build);
}

leat_value leat_op_fingerprint(leat_value data, const char *method) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_fingerprint, NULL);
    leati_build_input(&build, data);
    leati_build_text(&build, "method", method);
    return leati_build_end(&build);
}

leat_value leat_op_regex_full_match(leat_value input, const char *pattern) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_regex_full_match, NULL);
    leati_build_input(&build, input);
    leati_build_text(&build, "pattern", pattern);
    return leati_build_end(&build);
}

leat_value leat_op_regex_replace(leat_value input, const char *pattern, const char *rewrite,
                                 bool replace_global) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_regex_replace, NULL);
    leati_build_input(&build, input);
    leati_build_text(&build, "pattern", pattern);
    leati_build_text(&build, "rewrite", rewrite);
    leati_build_bool(&build, "replace_global", replace_global);
    return leati_build_end(&build);
}

leat_value leat_op_string_join(const leat_value *inputs, int num_inputs, const char *separator) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_string_join, NULL);
    leati_build_inputs(&build, inputs, num_inputs);
    leati_build_text(&build, "separator", separator);
    return leati_build_end(&build);
}

leat_value leat_op_string_length(leat_value input, const char *unit) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_string_length, NULL);
    leati_build_input(&build, input);
    leati_build_text(&build, "unit", unit);
    return leati_build_end(&build);
}

leat_value leat_op_string_lower(leat_value input, const char *encoding) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_string_lower, NULL);
    leati_build_input(&build, input);
    leati_build_text(&build, "encoding", encoding);
    return leati_build_end(&build);
}

leat_value leat_op_string_reduce_join(leat_value inputs, const int64_t *axis, int num_axis,
                                      bool keepdims, const char *separator) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_string_reduce_join, NULL);
    leati_build_input(&build, inputs);
    leati_build_ints(&build, "axis", axis, num_axis);
    leati_build_bool(&build, "keepdims", keepdims);
    leati_build_text(&build, "separator", separator);
    return leati_build_end(&build);
}

leat_value leat_op_string_to_hash_bucket(leat_value input, int64_t num_buckets) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_string_to_hash_bucket, NULL);
    leati_build_input(&build, input);
    leati_build_int(&build, "num_buckets", num_buckets);
    return leati_build_end(&build);
}

leat_value leat_op_string_to_hash_bucket_fast(leat_value input, int64_t num_buckets) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_string_to_hash_bucket_fast, NULL);
    leati_build_input(&build, input);
    leati_build_int(&build, "num_buckets", num_buckets);
    return leati_build_end(&build);
}

leat_value leat_op_string_to_hash_bucket_strong(leat_value input, int64_t num_buckets,
                                                const int64_t *key, int num_key) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_string_to_hash_bucket_strong, NULL);
    leati_build_input(&build, input);
    leati_build_int(&build, "num_buckets", num_buckets);
    leati_build_ints(&build, "key", key, num_key);
    return leati_build_end(&build);
}

leat_value leat_op_string_to_number(leat_value input, leat_dtype out_type) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_string_to_number, NULL);
    leati_build_input(&build, input);
    leati_build_dtype(&build, "out_type", out_type);
    return leati_build_end(&build);
}

leat_value leat_op_string_upper(leat_value input, const char *encoding) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_string_upper, NULL);
    leati_build_input(&build, input);
    leati_build_text(&build, "encoding", encoding);
    return leati_build_end(&build);
}

leat_value leat_op_substr(leat_value input, leat_value pos, leat_value len, const char *unit) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_substr, NULL);
    leati_build_input(&build, input);
    leati_build_input(&build, pos);
    leati_build_input(&build, len);
    leati_build_text(&build, "unit", unit);
    return leati_build_end(&build);
}

leat_value leat_op_unicode_transcode(leat_value input, const char *input_encoding,
                                     const char *output_encoding,
                                     const leat_op_unicode_transcode_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_unicode_transcode, NULL);
    leati_build_input(&build, input);
    leati_build_text(&build, "input_encoding", input_encoding);
    leati_build_text(&build, "output_encoding", output_encoding);
    leat_op_unicode_transcode_options own = {LEAT_OP_UNICODE_TRANSCODE_DEFAULTS};
    leati_build_options(&build, &own, sizeof own, options, "leat_op_unicode_transcode_options");
    leati_build_text(&build, "errors", own.errors);
    leati_build_int(&build, "replacement_char", own.replacement_char);
    leati_build_bool(&build, "replace_control_characters", own.replace_control_characters);
    return leati_build_end(&build);
}

/* clang-format off */
LEATI_BUILDER_1(decode_base64)
LEATI_BUILDER_1(string_strip)
LEATI_BUILDER_1(unicode_script)
/* clang-format on */
