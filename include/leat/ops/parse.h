/* Made by tools/builders.py from the tables of src/graph/ops: make builders. */
/* Builders of tensor operations: records and files; see leat/ops.h. */
#ifndef LEAT_OPS_PARSE_H
#define LEAT_OPS_PARSE_H

#include <leat/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Strings that were packed, as they were before (tf.io.decode_compressed).
 * `compression_type`: ZLIB, GZIP, ZSTD, or nothing for strings as they are; by default "". */
LEAT_API leat_value leat_op_decode_compressed(leat_value bytes, const char *compression_type);

/* tf.train.Examples written as JSON, as their serialised form (tf.io.decode_json_example). */
LEAT_API leat_value leat_op_decode_json_example(leat_value json_examples);

/* The bytes of strings as numbers (tf.io.decode_raw).
 * `out_type`: the dtype of the numbers.
 * `little_endian`: the lowest byte of a number comes first, else the highest; by default true.
 * `fixed_length`: bytes that each string is cut or filled up to; LEAT_UNSET: strings have one
 * length. */
LEAT_API leat_value leat_op_decode_raw(leat_value input_bytes, leat_dtype out_type,
                                       bool little_endian, int64_t fixed_length);

/* The samples of a WAV file of 16 bits and its sample rate (tf.audio.decode_wav).
 * `desired_channels`: how many channels there shall be; -1: those of the file; by default -1.
 * `desired_samples`: how many samples of each channel there shall be; -1: those of the file; by
 * default -1.
 * Returns `audio`; `sample_rate` may be NULL. */
LEAT_API leat_value leat_op_decode_wav(leat_value contents, int64_t desired_channels,
                                       int64_t desired_samples, leat_value *sample_rate);

/* Samples from -1 to 1 as a WAV file of 16 bits (tf.audio.encode_wav). */
LEAT_API leat_value leat_op_encode_wav(leat_value audio, leat_value sample_rate);

/* The names of the files that match a pattern or one of several, sorted (tf.io.matching_files). */
LEAT_API leat_value leat_op_matching_files(leat_value pattern);

/* The tensor that the bytes of TensorFlow's message say (tf.io.parse_tensor).
 * `out_type`: the dtype of the tensor; a message of another fails. */
LEAT_API leat_value leat_op_parse_tensor(leat_value serialized, leat_dtype out_type);

/* The contents of a file (tf.io.read_file). */
LEAT_API leat_value leat_op_read_file(leat_value filename);

/* A tensor as the bytes of TensorFlow's message (tf.io.serialize_tensor). */
LEAT_API leat_value leat_op_serialize_tensor(leat_value tensor);

/* Writes a string into a file and makes its folders (tf.io.write_file). */
LEAT_API leat_value leat_op_write_file(leat_value filename, leat_value contents);

#ifdef __cplusplus
}
#endif
#endif
