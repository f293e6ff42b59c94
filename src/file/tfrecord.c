/* Reader of TFRecord files.
 *
 * Happy path: the file is read in chunks of 256 KiB; a record is a view into its chunk, so nothing
 * is copied but the part of a record that a chunk's end cut off. Bytes of a chunk that were given
 * out are never written again, so other threads may still read them while the rest is filled.
 * Failures: a length is first held against its checksum, then against what the file has left, and
 * only then is memory taken; where the size is unknown (compressed files, pipes) the length is held
 * against the process's limit, and a chunk of more than 8 MiB grows, in place, no faster than data
 * arrive. The position moves only past good records. No locks: one owner. */
#include "file/tfrecord.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/minmax.h"
#include "file/crc.h"
#include "file/stream.h"
#include "file/wire.h"
#include <string.h>

/* Bytes taken at once for a record that a file of unknown size announces; beyond them memory comes
 * as the data do. */
#define AT_ONCE ((size_t)8 << 20)

enum {
    KNOWN_LENGTHS = 64, /* a power of two */
    OWN_CHUNK = 8       /* a record of more than this part of a chunk gets one of its own */
};

struct leati_tfrecord {
    leati_stream stream;
    leati_tfrecord_options options;
    leat_buffer *chunk; /* NULL before the first read */
    uint8_t *data;      /* of chunk */
    size_t begin, end;  /* bytes read and not yet used: data[begin .. end) */
    size_t capacity;
    bool at_end; /* the stream has nothing after `end` */
    /* Bytes of a record: the limit when the file was opened, or none where its size bounds them. */
    uint64_t most;
    /* Checksums of lengths seen, at the length's last bits: files have few different ones. */
    struct known_length {
        uint64_t length;
        uint32_t crc; /* masked */
    } known[KNOWN_LENGTHS];
};

leat_status leati_tfrecord_open(const char *path, const leati_tfrecord_options *options,
                                leati_tfrecord **out, leat_error *err) {
    leati_tfrecord *reader = leati_alloc_zero(1, sizeof *reader);
    if (reader == NULL)
        return leati_no_memory(err);
    if (options != NULL)
        reader->options = *options;
    if (reader->options.chunk_size == 0)
        reader->options.chunk_size = LEATI_CHUNK_SIZE;
    leat_status status = leati_stream_open(&reader->stream, path, reader->options.compression, err);
    if (status != LEAT_OK) {
        leati_free(reader);
        return status;
    }
    reader->most = UINT64_MAX;
    if (leati_stream_left(&reader->stream) < 0)
        /* Half of what 64 bits hold, so that the sum with header and checksum fits. */
        reader->most = LEATI_MIN(leati_limits_max_record(), (uint64_t)INT64_MAX / 2);
    *out = reader;
    return LEAT_OK;
}

void leati_tfrecord_close(leati_tfrecord *reader) {
    if (reader == NULL)
        return;
    leat_buffer_unref(reader->chunk);
    leati_stream_close(&reader->stream);
    leati_free(reader);
}

int64_t leati_tfrecord_position(const leati_tfrecord *reader) {
    return reader->stream.position - (int64_t)(reader->end - reader->begin);
}

int64_t leati_tfrecord_trailing(const leati_tfrecord *reader) {
    return (int64_t)(reader->end - reader->begin);
}

bool leati_tfrecord_cut(const leati_tfrecord *reader) {
    return reader->stream.cut;
}

int64_t leati_tfrecord_file_size(const leati_tfrecord *reader) {
    return reader->stream.file->size;
}

static void drop_window(leati_tfrecord *reader) {
    leat_buffer_unref(reader->chunk);
    reader->chunk = NULL;
    reader->data = NULL;
    reader->begin = reader->end = reader->capacity = 0;
    reader->at_end = false;
}

leat_status leati_tfrecord_seek(leati_tfrecord *reader, int64_t position, leat_error *err) {
    drop_window(reader);
    return leati_stream_seek(&reader->stream, position, err);
}

/* Bytes of a new chunk that shall hold `need`: no more than the file has, where that is known. A
 * large record gets a chunk of its own, with the header behind it, so that who keeps the record
 * keeps no other one alive. */
static size_t chunk_bytes(const leati_tfrecord *reader, size_t need) {
    size_t size = reader->options.chunk_size;
    if (need > size / OWN_CHUNK)
        size = need + LEATI_RECORD_HEADER;
    int64_t left = leati_stream_left(&reader->stream);
    size_t have = reader->end - reader->begin;
    if (left >= 0 && (uint64_t)left < size - LEATI_MIN(have, size))
        size = (size_t)left + have;
    /* A small compressed file needs no whole chunk; sixteenfold is as dense as records get. */
    int64_t packed = reader->stream.unpacker != NULL ? reader->stream.file->size : -1;
    if (packed >= 0 && packed < (int64_t)(size / 16))
        size = LEATI_MIN(4096 + 16 * (size_t)packed, size);
    return LEATI_MAX(size, need);
}

/* Replaces the chunk by a new one, which is given and starts with the unused bytes of the old. */
static void take_chunk(leati_tfrecord *reader, leat_buffer *chunk, size_t size) {
    size_t have = reader->end - reader->begin;
    uint8_t *data = leat_buffer_data(chunk);
    if (have > 0)
        memcpy(data, reader->data + reader->begin, have);
    leat_buffer_unref(reader->chunk);
    leati_buffer_set_path(chunk, reader->stream.path, leati_tfrecord_position(reader));
    reader->chunk = chunk;
    reader->data = data;
    reader->capacity = size; /* the buffer may be larger: then the rest is never touched */
    reader->begin = 0;
    reader->end = have;
}

/* Replaces the chunk by one for `need` bytes that starts with the unused bytes of the old one. */
static leat_status next_chunk(leati_tfrecord *reader, size_t need, leat_error *err) {
    size_t size = chunk_bytes(reader, need);
    leati_pools *pools = reader->options.pools;
    leat_buffer *chunk =
        pools != NULL ? leati_pools_take(pools, size, err) : leat_buffer_new(size, err);
    if (chunk == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    take_chunk(reader, chunk, size);
    return LEAT_OK;
}

/* Does the chunk take more of the `need` bytes from `begin`? One that grows with its record is
 * filled first. */
static bool has_room(const leati_tfrecord *reader, size_t need) {
    if (reader->chunk == NULL)
        return false;
    bool grows = reader->chunk->growable && reader->begin == 0;
    return reader->capacity - reader->begin >= need || (grows && reader->end < reader->capacity);
}

/* A longer chunk of its own for a record of `need` bytes, as far as the bytes that are there vouch
 * for it. */
static leat_status grow_chunk(leati_tfrecord *reader, size_t need, leat_error *err) {
    size_t have = reader->end - reader->begin;
    /* The next record's header is read with it, as in chunk_bytes. */
    size_t size = LEATI_MIN(need + LEATI_RECORD_HEADER, LEATI_MAX(AT_ONCE, 2 * have));
    bool own = reader->chunk != NULL && reader->chunk->growable && reader->begin == 0 &&
               leati_buffer_sole_owner(reader->chunk);
    if (own) {
        LEATI_TRY(leati_buffer_grow(&reader->chunk, size, err));
        reader->data = leat_buffer_data(reader->chunk);
        reader->capacity = size;
        return LEAT_OK;
    }
    leat_buffer *chunk = leati_buffer_growable(size, err);
    if (chunk == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    take_chunk(reader, chunk, size);
    return LEAT_OK;
}

/* Makes `need` bytes from `begin` available, or all there are: the caller compares. */
static leat_status ensure(leati_tfrecord *reader, size_t need, leat_error *err) {
    while (reader->end - reader->begin < need && !reader->at_end) {
        int64_t left = leati_stream_left(&reader->stream);
        if (left == 0) {
            reader->at_end = true;
            break;
        }
        /* Where the size is unknown, a large `need` may be a lie: go there by doubling. */
        if (!has_room(reader, need))
            LEATI_TRY(left < 0 && need > AT_ONCE ? grow_chunk(reader, need, err)
                                                 : next_chunk(reader, need, err));
        size_t got = 0;
        LEATI_TRY(leati_stream_read(&reader->stream, reader->data + reader->end,
                                    reader->capacity - reader->end, &got, err));
        reader->end += got;
        reader->at_end = got == 0 && reader->capacity > reader->end;
    }
    return LEAT_OK;
}

/* What a user may do about a file that is bad at `offset`. */
static const char *hint_at(const leati_tfrecord *reader, int64_t offset) {
    if (offset > 0)
        return "; the file is damaged: write it again or leave it out";
    const uint8_t *first = reader->data + reader->begin;
    if (reader->stream.unpacker == NULL && reader->end - reader->begin >= 2 && first[0] == 0x1f &&
        first[1] == 0x8b)
        return "; it looks like gzip: give compression_type \"GZIP\"";
    return "; is it a TFRecord file, and is compression_type right?";
}

static leat_status truncated(const leati_tfrecord *reader, uint64_t size, leat_error *err) {
    int64_t offset = leati_tfrecord_position(reader), left = leati_stream_left(&reader->stream);
    int64_t have = (int64_t)(reader->end - reader->begin) - LEATI_RECORD_HEADER;
    /* What the file's size promised and reading did not find is not there. */
    bool shrank = reader->stream.shrank || (reader->at_end && left > 0);
    have += shrank ? 0 : LEATI_MAX(left, 0);
    return leati_fail_in_file(err, LEAT_DATA_LOSS, reader->stream.file->path, offset,
                              reader->stream.unpacker != NULL,
                              "truncated record: expected %llu bytes of data and 4 "
                              "of checksum, found %lld%s",
                              (unsigned long long)size, (long long)(LEATI_MAX(have, 0)),
                              shrank ? "; " LEATI_SHRANK : hint_at(reader, offset));
}

static leat_status bad_checksum(const leati_tfrecord *reader, const char *what, uint64_t size,
                                uint32_t found, uint32_t expected, leat_error *err) {
    int64_t offset = leati_tfrecord_position(reader);
    return leati_fail_in_file(
        err, LEAT_DATA_LOSS, reader->stream.file->path, offset, reader->stream.unpacker != NULL,
        "damaged record: the checksum of its %s (%llu bytes) "
        "is 0x%08x, expected 0x%08x%s",
        what, (unsigned long long)size, found, expected, hint_at(reader, offset));
}

/* The end of the file, which has fewer bytes left than a header. */
static leati_record_outcome end_of_file(const leati_tfrecord *reader, leat_error *err) {
    size_t have = reader->end - reader->begin;
    if (!reader->options.strict_tail ||
        (have == 0 && !reader->stream.cut && !reader->stream.shrank))
        return LEATI_RECORD_END;
    int64_t offset = leati_tfrecord_position(reader);
    if (have == 0 && reader->stream.shrank)
        leati_fail_in_file(err, LEAT_DATA_LOSS, reader->stream.file->path, offset,
                           reader->stream.unpacker != NULL, LEATI_SHRANK);
    else if (have == 0)
        leati_fail_in_file(err, LEAT_DATA_LOSS, reader->stream.file->path, offset, true,
                           "the file ends inside its compressed "
                           "stream%s",
                           hint_at(reader, offset));
    else
        leati_fail_in_file(err, LEAT_DATA_LOSS, reader->stream.file->path, offset,
                           reader->stream.unpacker != NULL,
                           "truncated record: expected a header of 12 bytes, found "
                           "%zu%s",
                           have, hint_at(reader, offset));
    return LEATI_RECORD_ERROR;
}

/* The masked checksum of a length, whose bytes are at `header`. An entry of {0, 0} is none: the
 * checksum of length 0 is not 0. */
static uint32_t length_crc(leati_tfrecord *reader, const uint8_t *header, uint64_t length) {
    struct known_length *known = &reader->known[length & (KNOWN_LENGTHS - 1)];
    if (known->length != length || known->crc == 0)
        *known = (struct known_length){length, leati_crc_mask(leati_crc_crc32c(header, 8))};
    return known->crc;
}

/* A record of a file whose size is unknown is longer than the process allows. */
static void too_long(const leati_tfrecord *reader, uint64_t length, leat_error *err) {
    const char *path = reader->stream.file->path;
    (void)leati_refuse(err, VALUE,
                       "a record of %llu bytes, and a record of a compressed file or a pipe may "
                       "have %llu; " LEATI_RAISE_RECORDS,
                       (unsigned long long)length, (unsigned long long)reader->most);
    leati_error_at_file(err, path, strlen(path), leati_tfrecord_position(reader),
                        reader->stream.unpacker != NULL);
}

/* Can the file have `length` bytes of data and a checksum, of which `have` bytes are read? */
static inline leati_record_outcome fits_file(const leati_tfrecord *reader, uint64_t length,
                                             size_t have, leat_error *err) {
    if (length > reader->most) {
        too_long(reader, length, err);
        return LEATI_RECORD_ERROR;
    }
    if (length <= have && have - length >= LEATI_RECORD_FOOTER)
        return LEATI_RECORD;
    int64_t left = leati_stream_left(&reader->stream);
    uint64_t room = left < 0 ? UINT64_MAX : (uint64_t)left + have;
    if (length > room || room - length < LEATI_RECORD_FOOTER) {
        truncated(reader, length, err);
        return LEATI_RECORD_ERROR;
    }
    return LEATI_RECORD;
}

/* Reads and checks the header at `begin`; *size is the length that it gives. The record is then
 * known to fit into the file, where the file's size is known. */
static leati_record_outcome read_header(leati_tfrecord *reader, size_t *size, leat_error *err) {
    size_t have = reader->end - reader->begin;
    if (have < LEATI_RECORD_HEADER) {
        if (ensure(reader, LEATI_RECORD_HEADER, err) != LEAT_OK)
            return LEATI_RECORD_ERROR;
        have = reader->end - reader->begin;
        if (have < LEATI_RECORD_HEADER)
            return end_of_file(reader, err);
    }
    const uint8_t *header = reader->data + reader->begin;
    uint64_t length = leati_wire_load64(header);
    uint32_t found = leati_wire_load32(header + 8);
    uint32_t expected = length_crc(reader, header, length);
    if (found != expected) {
        bad_checksum(reader, "length", 8, found, expected, err);
        return LEATI_RECORD_ERROR;
    }
    *size = (size_t)length;
    return fits_file(reader, length, have - LEATI_RECORD_HEADER, err);
}

/* Reads and checks the record at `begin` without moving past it. */
static leati_record_outcome read_record(leati_tfrecord *reader, leat_string *out, leat_error *err) {
    size_t size = 0;
    leati_record_outcome outcome = read_header(reader, &size, err);
    if (outcome != LEATI_RECORD)
        return outcome;
    size_t whole = LEATI_RECORD_HEADER + size + LEATI_RECORD_FOOTER;
    if (reader->end - reader->begin < whole) {
        if (ensure(reader, whole, err) != LEAT_OK)
            return LEATI_RECORD_ERROR;
        if (reader->end - reader->begin < whole) {
            truncated(reader, size, err);
            return LEATI_RECORD_ERROR;
        }
    }
    const uint8_t *data = reader->data + reader->begin + LEATI_RECORD_HEADER;
    uint32_t found = leati_wire_load32(data + size);
    uint32_t expected = leati_crc_mask(leati_crc_crc32c(data, size));
    if (found != expected) {
        bad_checksum(reader, "data", size, found, expected, err);
        return LEATI_RECORD_ERROR;
    }
    *out = (leat_string){(const char *)data, size};
    return LEATI_RECORD;
}

leati_record_outcome leati_tfrecord_read(leati_tfrecord *reader, int64_t want, size_t byte_target,
                                         leat_string *records, leat_buffer *owner, int64_t *n,
                                         leat_error *err) {
    const leat_buffer *held = NULL;
    int64_t count = 0;
    size_t bytes = 0;
    leati_record_outcome outcome = LEATI_RECORD;
    leat_error unwanted, *later = leati_error_unwanted(&unwanted);
    *n = 0;
    while (count < want && (count == 0 || byte_target == 0 || bytes < byte_target)) {
        leat_error *report = count == 0 ? err : later;
        outcome = read_record(reader, &records[count], report);
        if (outcome != LEATI_RECORD)
            break;
        if (owner != NULL && held != reader->chunk) {
            if (leati_buffer_hold(owner, reader->chunk, report) != LEAT_OK) {
                outcome = LEATI_RECORD_ERROR;
                break;
            }
            held = reader->chunk;
        }
        size_t size = records[count++].size;
        reader->begin += LEATI_RECORD_HEADER + size + LEATI_RECORD_FOOTER;
        bytes += size;
    }
    *n = count;
    return count > 0 ? LEATI_RECORD : outcome;
}

/* Moves past a record of `size` bytes whose header was read. */
static leat_status pass_over(leati_tfrecord *reader, size_t size, leat_error *err) {
    size_t whole = LEATI_RECORD_HEADER + size + LEATI_RECORD_FOOTER;
    bool known = leati_stream_left(&reader->stream) >= 0;
    if (reader->end - reader->begin < whole && known && reader->stream.file->seekable)
        return leati_tfrecord_seek(reader, leati_tfrecord_position(reader) + (int64_t)whole, err);
    LEATI_TRY(ensure(reader, whole, err));
    if (reader->end - reader->begin < whole)
        return truncated(reader, size, err);
    reader->begin += whole;
    return LEAT_OK;
}

leati_record_outcome leati_tfrecord_skip(leati_tfrecord *reader, int64_t want, int64_t *n,
                                         leat_error *err) {
    *n = 0;
    while (*n < want) {
        size_t size = 0;
        leati_record_outcome outcome = read_header(reader, &size, err);
        if (outcome != LEATI_RECORD)
            return outcome;
        if (pass_over(reader, size, err) != LEAT_OK)
            return LEATI_RECORD_ERROR;
        ++*n;
    }
    return LEATI_RECORD;
}
