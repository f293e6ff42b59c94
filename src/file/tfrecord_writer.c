/* Writer of TFRecord files.
 *
 * Happy path: header, data and checksum go through the compressor, if there is one, into an atomic
 * output. Failures: those of the output, kept there and given again; an atomic file that is not
 * closed never appears. No locks: one owner. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/stop.h"
#include "file/atomic.h"
#include "file/compress.h"
#include "file/crc.h"
#include "file/fs.h"
#include "file/tfrecord.h"
#include "file/wire.h"

struct leat_tfrecord_writer {
    leati_output *output;
    leati_packer *packer; /* NULL: not compressed */
    bool heeds_stops;
};

static leat_status write_through(void *context, const void *data, size_t size, leat_error *err) {
    return leati_atomic_write(((leat_tfrecord_writer *)context)->output, data, size, err);
}

leat_tfrecord_writer *leat_tfrecord_writer_open(const char *path,
                                                const leat_tfrecord_writer_options *options,
                                                leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_tfrecord_writer_options chosen = {LEAT_TFRECORD_WRITER_DEFAULTS};
    if (LEATI_OPTIONS(leat_tfrecord_writer_options, &chosen, options, err) != LEAT_OK)
        return NULL;
    leat_tfrecord_writer *writer = leati_alloc_zero(1, sizeof *writer);
    if (writer == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    bool good = true;
    if (chosen.compression != LEAT_COMPRESSION_NONE) {
        /* The output is opened below: opening a packer writes nothing. */
        writer->packer =
            leati_compress_packer_new(chosen.compression, chosen.level, write_through, writer, err);
        good = writer->packer != NULL;
    }
    /* The network is waited for, which nobody can do for ever. */
    writer->heeds_stops = leati_fs_is_remote(path);
    leati_atomic_mode mode = chosen.in_place ? LEATI_ATOMIC_IN_PLACE : LEATI_ATOMIC_FILE;
    if (!good || leati_atomic_open(path, mode, &writer->output, err) != LEAT_OK) {
        /* It takes a writer of which parts are missing. */
        leat_tfrecord_writer_discard(writer);
        return NULL;
    }
    return writer;
}

static leat_status put(leat_tfrecord_writer *writer, const void *data, size_t size,
                       leat_error *err) {
    return writer->packer != NULL ? leati_compress_packer_write(writer->packer, data, size, err)
                                  : leati_atomic_write(writer->output, data, size, err);
}

static leati_stop_scope enter(const leat_tfrecord_writer *writer) {
    return writer->heeds_stops ? leati_stop_enter(NULL, NULL, NULL) : leati_stop_enter_deaf();
}

leat_status leat_tfrecord_writer_write(leat_tfrecord_writer *writer, const void *data, size_t size,
                                       leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (writer == NULL || (data == NULL && size > 0))
        return leati_refuse(err, VALUE, "leat_tfrecord_writer_write: %s is NULL; expected %s",
                            writer != NULL ? "data" : "writer",
                            writer != NULL ? "bytes" : "what leat_tfrecord_writer_open returned");
    uint8_t header[LEATI_RECORD_HEADER], footer[LEATI_RECORD_FOOTER];
    /* Length, its masked checksum, data, their masked checksum: TensorFlow's record. */
    leati_wire_store64(header, size);
    leati_wire_store32(header + 8, leati_crc_mask(leati_crc_crc32c(header, 8)));
    leati_wire_store32(footer, leati_crc_mask(leati_crc_crc32c(data, size)));
    /* A record is whole or is not there: who stops the call finds the records before it unharmed,
     * and this one. */
    leati_stop_scope scope = enter(writer);
    leat_status status = put(writer, header, sizeof header, err);
    if (status == LEAT_OK)
        status = put(writer, data, size, err);
    if (status == LEAT_OK)
        status = put(writer, footer, sizeof footer, err);
    leati_stop_leave(scope);
    return status;
}

void leati_tfrecord_writer_heed_stops(leat_tfrecord_writer *writer) {
    writer->heeds_stops = true;
}

leat_status leati_tfrecord_writer_flush(leat_tfrecord_writer *writer, leat_error *err) {
    return leati_atomic_flush(writer->output, err);
}

leat_status leat_tfrecord_writer_close(leat_tfrecord_writer *writer, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (writer == NULL)
        return LEAT_OK;
    /* Before the output is committed: the end of a compressed stream is part of the file. */
    leat_status status =
        writer->packer != NULL ? leati_compress_packer_finish(writer->packer, err) : LEAT_OK;
    if (status != LEAT_OK) {
        leat_tfrecord_writer_discard(writer);
        return status;
    }
    leati_stop_scope scope = enter(writer);
    status = leati_atomic_commit(writer->output, err);
    leati_stop_leave(scope);
    leati_compress_packer_free(writer->packer);
    leati_free(writer);
    return status;
}

void leat_tfrecord_writer_discard(leat_tfrecord_writer *writer) {
    if (writer == NULL)
        return;
    leati_atomic_discard(writer->output);
    leati_compress_packer_free(writer->packer);
    leati_free(writer);
}
