/* Decompression by ISA-L, two to three times as fast as zlib (it streams, which libdeflate does
 * not).
 *
 * Happy path: run feeds input until it or the room for output is used up; ISA-L checks the checksum
 * at the end of a stream. Bytes that follow start the next gzip member, as gzip's tools allow; zlib
 * streams have no such custom, and ISA-L may have read into what follows one.
 * Failures: every negative code of ISA-L is DATA_LOSS with its meaning. No locks: one owner. */
#include "base/alloc.h"
#include "base/error.h"
#include "file/compress.h"
#include <isa-l/igzip_lib.h>

struct leati_inflate {
    leat_compression compression;
    bool between;
    bool done; /* a zlib stream has ended */
    struct inflate_state state;
};

static void start_stream(leati_inflate *inflate) {
    isal_inflate_reset(&inflate->state);
    inflate->state.crc_flag = inflate->compression == LEAT_COMPRESSION_GZIP ? ISAL_GZIP : ISAL_ZLIB;
    inflate->between = true;
    inflate->done = false;
}

leati_inflate *leati_inflate_new(leat_compression compression, leat_error *err) {
    leati_inflate *inflate = leati_alloc_zero(1, sizeof *inflate);
    if (!inflate) {
        leati_no_memory(err, sizeof *inflate);
        return NULL;
    }
    inflate->compression = compression;
    isal_inflate_init(&inflate->state);
    start_stream(inflate);
    return inflate;
}

void leati_inflate_free(leati_inflate *inflate) {
    leati_free(inflate);
}

void leati_inflate_reset(leati_inflate *inflate) {
    start_stream(inflate);
}

leati_inflate_state leati_inflate_where(const leati_inflate *inflate) {
    return inflate->between ? LEATI_INFLATE_BETWEEN : LEATI_INFLATE_MORE;
}

static leat_status bad_stream(const leati_inflate *inflate, int code, leat_error *err) {
    const char *name = leat_compression_name(inflate->compression);
    switch (code) {
    case ISAL_INVALID_WRAPPER:
    case ISAL_UNSUPPORTED_METHOD:
        return leati_fail(err, LEAT_DATA_LOSS,
                          "not %s data: no such header here; check compression_type", name);
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
    if (inflate->compression == LEAT_COMPRESSION_GZIP) {
        start_stream(inflate);
        return;
    }
    inflate->between = true;
    inflate->done = true;
}

leat_status leati_inflate_run(leati_inflate *inflate, const uint8_t **in, size_t *in_size,
                              uint8_t **out, size_t *out_size, leat_error *err) {
    struct inflate_state *state = &inflate->state;
    for (;;) {
        if (inflate->done && (*in_size > 0 || state->read_in_length >= 8))
            return leati_fail(err, LEAT_DATA_LOSS, "bytes follow the end of ZLIB data");
        if (inflate->between && *in_size == 0)
            return LEAT_OK;
        inflate->between = false;
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
        if (code < 0 || code == ISAL_NEED_DICT)
            return bad_stream(inflate, code, err);
        if (state->block_state == ISAL_BLOCK_FINISH)
            end_stream(inflate);
        else if (*in_size == 0)
            return LEAT_OK;
        else if (read == 0 && written == 0 && *out_size > 0)
            return bad_stream(inflate, code, err);
        if (*out_size == 0 && !inflate->done)
            return LEAT_OK;
    }
}
