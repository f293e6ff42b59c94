/* decode_compressed: strings that were packed, as they were before (tf.io.decode_compressed).
 *
 * Bytes that end before their stream does give what they hold, as in TensorFlow. Fails in a run
 * with DATA_LOSS on bytes that are no such stream, with INVALID_ARGUMENT on those that unfold
 * beyond the process's limit (leat_limits_set_decoding). No gradient, no locks. */
#include "base/limits.h"
#include "base/stop.h"
#include "file/compress.h"
#include "graph/support/text/texts.h"

#include <string.h>

struct decode_compressed_args {
    char *compression_type;
};

static const leati_row decode_compressed_rows[] = {
    {.name = "compression_type",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct decode_compressed_args, compression_type),
     .default_text = "",
     .doc = "ZLIB, GZIP, ZSTD, or nothing for strings as they are."},
    {0},
};

/* False for a name that is none. */
static bool compression_of(const struct decode_compressed_args *args, leat_compression *out) {
    const char *name = args->compression_type == NULL ? "" : args->compression_type;
    *out = LEAT_COMPRESSION_NONE;
    if (strcmp(name, "ZLIB") == 0)
        *out = LEAT_COMPRESSION_ZLIB;
    else if (strcmp(name, "GZIP") == 0)
        *out = LEAT_COMPRESSION_GZIP;
    else if (strcmp(name, "ZSTD") == 0)
        *out = LEAT_COMPRESSION_ZSTD;
    else
        return name[0] == '\0';
    return true;
}

static leat_status decode_compressed_infer(leati_infer_call *call, leat_error *err) {
    const struct decode_compressed_args *args = call->args;
    leat_compression compression;
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the input", err));
    if (!compression_of(args, &compression))
        return leati_refuse(err, VALUE,
                            "compression_type is \"%.40s\"; expected ZLIB, GZIP, ZSTD or \"\"",
                            args->compression_type);
    return leati_op_infer_same(call, err);
}

static leat_status unpack(const leati_kernel_call *call, int64_t row, int64_t index, void *context,
                          leati_writer *out, leat_error *err) {
    leat_string s = leati_text_strings_of(&call->inputs[0], row)[index];
    const uint8_t *in = (const uint8_t *)s.data;
    size_t left = s.size, before = out->size;
    uint8_t piece[16384];
    /* One unpacker serves all strings, so that its tables are allocated once. */
    leati_compress_unpacker_reset(context);
    for (bool more = left > 0; more;) {
        uint8_t *to = piece;
        size_t room = sizeof piece;
        LEATI_TRY(leati_stop_check(err));
        LEATI_TRY(leati_compress_unpacker_run(context, &in, &left, &to, &room, err));
        /* The limit is per string, and asked before the bytes of a piece are kept. */
        if (out->size - before + (sizeof piece - room) > leati_limits_max_unpacked())
            return leati_refuse(
                err, VALUE,
                "%zu packed bytes become more than %llu, the most that are allowed; "
                "leave the string out, or " LEATI_RAISE_LIMITS,
                s.size, (unsigned long long)leati_limits_max_unpacked());
        leati_put_raw(out, piece, sizeof piece - room);
        /* A full piece may hide more output although the input is used up. Room and no input left
         * is an end, whether the stream says so or was cut short. */
        more = room == 0 || left > 0;
    }
    return LEAT_OK;
}

static leat_status decode_compressed_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leat_compression compression;
    (void)compression_of(call->args, &compression);
    /* Nothing to unpack: the output shares the input's bytes. */
    if (compression == LEAT_COMPRESSION_NONE)
        return leati_support_view_as(call, &shape, err);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_unpacker *unpacker = leati_compress_unpacker_new(compression, err);
    if (unpacker == NULL)
        return err->code;
    leat_status status = leati_text_collect(call, unpack, unpacker, err);
    leati_compress_unpacker_free(unpacker);
    return status;
}

const leati_tensor_op leati_tensor_op_decode_compressed = {
    .name = "decode_compressed",
    .version = 1,
    .doc = "Strings that were packed, as they were before (tf.io.decode_compressed).",
    .names = "io.decode_compressed",
    .inputs = "bytes",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = decode_compressed_rows,
    .args_size = sizeof(struct decode_compressed_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = decode_compressed_infer,
    .kernel = decode_compressed_kernel,
};
