/* Made by tools/builders.py from the tables of src/graph/ops: make builders. */
#include "graph/build.h"
#include <leat/ops/parse.h>

leat_value leat_op_decode_compressed(leat_value bytes, const char *compression_type) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_decode_compressed, NULL);
    leati_build_input(&build, bytes);
    leati_build_text(&build, "compression_type", compression_type);
    return leati_build_end(&build);
}

leat_value leat_op_decode_raw(leat_value input_bytes, leat_dtype out_type, bool little_endian,
                              int64_t fixed_length) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_decode_raw, NULL);
    leati_build_input(&build, input_bytes);
    leati_build_dtype(&build, "out_type", out_type);
    leati_build_bool(&build, "little_endian", little_endian);
    leati_build_int(&build, "fixed_length", fixed_length);
    return leati_build_end(&build);
}

leat_value leat_op_decode_wav(leat_value contents, int64_t desired_channels,
                              int64_t desired_samples, leat_value *sample_rate) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_decode_wav, NULL);
    leati_build_input(&build, contents);
    leati_build_int(&build, "desired_channels", desired_channels);
    leati_build_int(&build, "desired_samples", desired_samples);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, sample_rate);
    return first;
}

leat_value leat_op_parse_tensor(leat_value serialized, leat_dtype out_type) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_parse_tensor, NULL);
    leati_build_input(&build, serialized);
    leati_build_dtype(&build, "out_type", out_type);
    return leati_build_end(&build);
}

/* clang-format off */
LEATI_BUILDER_1(decode_json_example)
LEATI_BUILDER_2(encode_wav)
LEATI_BUILDER_1(matching_files)
LEATI_BUILDER_1(read_file)
LEATI_BUILDER_1(serialize_tensor)
LEATI_BUILDER_2(write_file)
/* clang-format on */
