/* Decompression by ISA-L, two to three times as fast as zlib (it streams, which libdeflate does
 * not).
 *
 * Happy path: run feeds input until it or the room for output is used up; ISA-L checks the checksum
 * at the end of a stream. Bytes that follow start the next gzip member, as gzip's tools allow; zlib
 * streams have no such custom, and ISA-L may have read into what follows one.
 * Failures: every negative code of ISA-L is DATA_LOSS with its meaning. No locks: one owner. */
#include "base/error.h"
#include "base/minmax.h"
#include "file/deflate.h"
#include <string.h>

static void start_stream(leati_inflate *inflate) {
    bool gzip = inflate->base.codec->compression == LEAT_COMPRESSION_GZIP;
    isal_inflate_reset(&inflate->state);
    inflate->state.crc_flag = gzip ? ISAL_GZIP : ISAL_ZLIB;
    inflate->base.between = true;
    inflate->done = false;
    inflate->failed = 0;
}

void leati_deflate_inflate_reset(leati_unpacker *unpacker) {
    leati_inflate *inflate = (leati_inflate *)unpacker;
    isal_inflate_init(&inflate->state);
    start_stream(inflate);
}

static leat_status bad_stream(const leati_unpacker *unpacker, int code, leat_error *err) {
    const char *name = unpacker->codec->name;
    switch (code) {
    case ISAL_INVALID_WRAPPER:
    case ISAL_UNSUPPORTED_METHOD: return leati_compress_no_header(unpacker, err);
    case ISAL_INCORRECT_CHECKSUM:
        return leati_fail(err, LEAT_DATA_LOSS,
                          "damaged %s data: the checksum at its end does not fit", name);
    case ISAL_NEED_DICT:
        return leati_fail(err, LEAT_DATA_LOSS,
                          "%s data that needs a preset dictionary, which TFRecord files never do",
                          name);
    default:
        return leati_fail(err, LEAT_DATA_LOSS, "damaged %s data (invalid code, ISA-L says %d)",
                          name, code);
    }
}

/* The end of a stream was reached with the right checksum. */
static void end_stream(leati_inflate *inflate) {
    if (inflate->base.codec->compression == LEAT_COMPRESSION_GZIP) {
        start_stream(inflate);
        return;
    }
    inflate->base.between = true;
    inflate->done = true;
}

/* Do the bytes here begin no stream of the kind? ISA-L would wait for the whole of a header. */
static bool is_foreign(const leati_inflate *inflate, const uint8_t *in, size_t size) {
    if (size < 2)
        /* One byte alone may still begin a header. */
        return false;
    if (inflate->base.codec->compression == LEAT_COMPRESSION_GZIP)
        return in[0] != 0x1f || in[1] != 0x8b;
    return (in[0] & 15) != 8 || (in[0] << 8 | in[1]) % 31 != 0;
}

/* Where there is little room for output ISA-L decodes into a buffer of its own, and what lies there
 * when it fails is good. True when all of it has gone out. */
static bool drain(struct inflate_state *state, uint8_t **out, size_t *out_size) {
    size_t left = (size_t)(state->tmp_out_valid - state->tmp_out_processed);
    size_t size = LEATI_MIN(left, *out_size);
    memcpy(*out, state->tmp_out_buffer + state->tmp_out_processed, size);
    state->tmp_out_processed += (int32_t)size;
    *out += size;
    *out_size -= size;
    return size == left;
}

static leat_status fail_behind_output(leati_inflate *inflate, uint8_t **out, size_t *out_size,
                                      leat_error *err) {
    bool all = drain(&inflate->state, out, out_size);
    return all ? bad_stream(&inflate->base, inflate->failed, err) : LEAT_OK;
}

/* Unpacks once; *moved: something was read or written. */
static int inflate_some(struct inflate_state *state, const uint8_t **in, size_t *in_size,
                        uint8_t **out, size_t *out_size, bool *moved) {
    /* ISA-L counts in 32 bits; the rest is taken by the next turn. */
    uint32_t in_part = *in_size < INT32_MAX ? (uint32_t)*in_size : INT32_MAX;
    uint32_t out_part = *out_size < INT32_MAX ? (uint32_t)*out_size : INT32_MAX;
    state->next_in = (uint8_t *)(uintptr_t)*in; /* ISA-L's field lacks const */
    state->avail_in = in_part;
    state->next_out = *out;
    state->avail_out = out_part;
    int code = isal_inflate(state);
    uint32_t read = in_part - state->avail_in, written = out_part - state->avail_out;
    *in += read;
    *in_size -= read;
    *out += written;
    *out_size -= written;
    *moved = read > 0 || written > 0;
    return code;
}

leat_status leati_deflate_inflate_run(leati_unpacker *unpacker, const uint8_t **in, size_t *in_size,
                                      uint8_t **out, size_t *out_size, leat_error *err) {
    leati_inflate *inflate = (leati_inflate *)unpacker;
    struct inflate_state *state = &inflate->state;
    for (;;) {
        if (inflate->failed != 0)
            return fail_behind_output(inflate, out, out_size, err);
        /* ISA-L keeps bytes that it read ahead in a word: whole ones follow the stream too. */
        if (inflate->done && (*in_size > 0 || state->read_in_length >= 8))
            return leati_fail(err, LEAT_DATA_LOSS, "bytes follow the end of ZLIB data");
        if (inflate->base.between && *in_size == 0)
            return LEAT_OK;
        if (inflate->base.between && is_foreign(inflate, *in, *in_size))
            return leati_compress_no_header(unpacker, err);
        inflate->base.between = false;
        bool moved = false;
        int code = inflate_some(state, in, in_size, out, out_size, &moved);
        if (code < 0 || code == ISAL_NEED_DICT) {
            /* Kept, for what was decoded before the damage goes out first. */
            inflate->failed = code;
            continue;
        }
        if (state->block_state == ISAL_BLOCK_FINISH)
            end_stream(inflate);
        else if (*in_size == 0)
            return LEAT_OK;
        else if (!moved && *out_size > 0)
            return bad_stream(unpacker, code, err);
        if (*out_size == 0 && !inflate->done)
            return LEAT_OK;
    }
}
