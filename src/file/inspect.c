/* Looking into a record file: what `leat inspect` prints.
 *
 * Happy path: every record is read once, its checksums checked, its size counted and the record
 * shown to the caller's function. Failures: those of the reader and of the function, unchanged; the
 * summary is then not written. No locks. */
#include "base/error.h"
#include "file/compress.h"
#include "file/crc.h"
#include "file/fs.h"
#include "file/tfrecord.h"
#include "file/wire.h"

static void count_record(leat_record_summary *summary, size_t size) {
    int64_t bytes = (int64_t)size;
    if (summary->records == 0 || bytes < summary->min_size)
        summary->min_size = bytes;
    if (bytes > summary->max_size)
        summary->max_size = bytes;
    summary->data_bytes += bytes;
    summary->records++;
}

static leat_status visit_all(leati_tfrecord *reader, leat_record_function function, void *context,
                             leat_record_summary *summary, leat_error *err) {
    for (;;) {
        int64_t offset = leati_tfrecord_position(reader), n = 0;
        leat_string record;
        leat_error own = {0};
        /* No owner: the record is looked at before the next read can move it. */
        leati_record_outcome outcome = leati_tfrecord_read(reader, 1, 0, &record, NULL, &n, &own);
        if (outcome == LEATI_RECORD_END)
            return LEAT_OK;
        if (outcome == LEATI_RECORD_ERROR) {
            leati_prefix(&own, "after %lld good records", (long long)summary->records);
            return leati_error_pass(err, &own);
        }
        leat_status status =
            function != NULL ? function(context, summary->records, offset, record, err) : LEAT_OK;
        if (status != LEAT_OK)
            return status;
        count_record(summary, record.size);
    }
}

leat_status leat_records_inspect(const char *path, leat_compression compression,
                                 leat_record_function function, void *context,
                                 leat_record_summary *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leati_tfrecord_options options = {.compression = compression};
    leati_tfrecord *reader = NULL;
    leat_status status = leati_tfrecord_open(path, &options, &reader, err);
    if (status != LEAT_OK)
        return status;
    leat_record_summary summary = {.file_size = leati_tfrecord_file_size(reader)};
    status = visit_all(reader, function, context, &summary, err);
    /* All records were good, yet the compressed stream is not whole. */
    if (status == LEAT_OK && leati_tfrecord_cut(reader)) {
        status = leati_fail_in_file(err, LEAT_DATA_LOSS, path, -1, false,
                                    "the file ends inside its compressed stream; get the whole "
                                    "file");
        (void)leati_prefix(err, "after %lld good records", (long long)summary.records);
    }
    summary.trailing_bytes = leati_tfrecord_trailing(reader);
    leati_tfrecord_close(reader);
    if (status != LEAT_OK)
        return status;
    if (summary.records > 0)
        summary.mean_size = (double)summary.data_bytes / (double)summary.records;
    *out = summary;
    return LEAT_OK;
}

leat_status leat_compression_guess(const char *path, leat_compression *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leati_file *file = NULL;
    leat_status status = leati_file_open(path, &file, err);
    if (status != LEAT_OK)
        return status;
    /* A record's header and enough for every codec's first bytes. */
    uint8_t first[LEATI_RECORD_HEADER] = {0};
    size_t got = 0;
    status = leati_file_read_at(file, 0, first, sizeof first, &got, err);
    leati_file_close(file);
    if (status != LEAT_OK)
        return status;
    /* A valid header is no accident: its checksum has 32 bits. */
    bool record = got == sizeof first &&
                  leati_wire_load32(first + 8) == leati_crc_mask(leati_crc_crc32c(first, 8));
    *out = record ? LEAT_COMPRESSION_NONE : leati_compress_codec_guess(first, got);
    return LEAT_OK;
}
