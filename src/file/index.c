/* Reader and builder of sidecar indexes.
 *
 * The file: "leat-index\r\n" and the version (4 bytes); blocks of up to 512 numbers, each the byte
 * where a record starts, then the byte where the block's last record ends, and their checksum; a
 * tail with the kind of file (16 bytes), the data file's size and number of records (8 bytes each),
 * checksums of its first and last 4 KiB, and a checksum of head and tail. All little-endian; a
 * block's place follows from its number. Checksums are CRC32C, a block's is mixed with its number.
 *
 * Happy path: the builder passes over the headers of all records, or members of a tar archive, and
 * writes blocks as they fill, so memory does not grow with the file; the index appears whole or not
 * at all. The reader checks head and tail once and each block when it is needed. Failures: a data
 * file of another size or with other ends is FAILED_PRECONDITION; whatever does not fit in the
 * index is DATA_LOSS; both say how to make it again. No locks: one owner. */
#include "file/index.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "file/atomic.h"
#include "file/crc.h"
#include "file/fs.h"
#include "file/tar.h"
#include "file/tfrecord.h"
#include "file/wire.h"
#include <stdio.h>
#include <string.h>

enum {
    VERSION = 1,
    MAGIC = 12,
    HEAD = MAGIC + 4,
    KIND = 16,
    TAIL = KIND + 8 + 8 + 4 + 4 + 4,
    SIZE_AT = KIND,
    COUNT_AT = SIZE_AT + 8,
    FIRST_AT = COUNT_AT + 8,
    LAST_AT = FIRST_AT + 4,
    SUM_AT = LAST_AT + 4,
    /* 4 KiB of numbers: one read finds a record. */
    BLOCK = 512,
    TAR_MAGIC_AT = 257,
    END_BYTES = 4096 /* of the data file, at either end */
};

static const char magic[MAGIC + 1] = "leat-index\r\n";

/* Bytes of a block of n records: their starts, the last one's end, the checksum. */
/* The next record starts where one ends, so only the end of the last one is stored. */
static size_t block_bytes(size_t n) {
    return (n + 1) * 8 + 4;
}

static uint32_t block_sum(const uint8_t *data, size_t n, uint64_t number) {
    /* Mixed in, so that a block at the place of another one is found out. */
    return leati_crc_mask(leati_crc_crc32c(data, (n + 1) * 8)) ^ (uint32_t)number;
}

static uint32_t frame_sum(const uint8_t *head, const uint8_t *tail) {
    uint8_t both[HEAD + SUM_AT];
    memcpy(both, head, HEAD);
    memcpy(both + HEAD, tail, SUM_AT);
    return leati_crc_mask(leati_crc_crc32c(both, sizeof both));
}

static leat_status index_path(const char *path, char **out, leat_error *err) {
    leati_text text = {0};
    leati_text_addf(&text, "%s%s", path, LEATI_INDEX_ENDING);
    *out = leati_text_take(&text);
    return *out != NULL ? LEAT_OK : leati_no_memory(err);
}

/* What is known of a data file without reading it. */
struct ends {
    int64_t size;
    uint32_t first, last; /* checksums of its first and last bytes */
};

static leat_status sum_part(leati_file *file, int64_t offset, size_t size, uint32_t *out,
                            leat_error *err) {
    uint8_t bytes[END_BYTES];
    size_t got = 0;
    leat_status status = leati_file_read_at(file, offset, bytes, size, &got, err);
    *out = leati_crc_crc32c(bytes, got);
    return status;
}

static leat_status read_ends(const char *path, struct ends *out, leat_error *err) {
    leati_file *file = NULL;
    leat_status status = leati_file_open(path, &file, err);
    if (status != LEAT_OK)
        return status;
    out->size = file->size;
    if (file->size < 0 || !file->seekable) {
        status = leati_refuse(
            err, VALUE, "%.250s is a pipe or a device; only plain files can have an index", path);
    } else {
        /* Of a small file both ends are the whole. */
        size_t part = file->size < END_BYTES ? (size_t)file->size : END_BYTES;
        status = sum_part(file, 0, part, &out->first, err);
        if (status == LEAT_OK)
            status = sum_part(file, file->size - (int64_t)part, part, &out->last, err);
    }
    leati_file_close(file);
    return status;
}

/* ---- reading ---- */

struct leati_index {
    leati_file *file;
    char *path; /* of the data file */
    int64_t count, data_size;
    int64_t block; /* the one that `data` holds; -1: none */
    uint8_t data[(BLOCK + 1) * 8 + 4];
};

leat_status leati_index_stale(const char *path, leat_error *err) {
    return leati_fail(err, LEAT_FAILED_PRECONDITION,
                      "%.200s was changed after %.200s%s was made; run `leat index` on it again",
                      path, path, LEATI_INDEX_ENDING);
}

static leat_status damaged(const char *path, const char *what, leat_error *err) {
    char own[1024];
    snprintf(own, sizeof own, "%s%s", path, LEATI_INDEX_ENDING);
    return leati_fail_in_file(err, LEAT_DATA_LOSS, own, -1, false,
                              "%s; run `leat index %.200s` to make it again", what, path);
}

/* Reads exactly `size` bytes. */
static leat_status read_part(leati_index *index, int64_t offset, void *data, size_t size,
                             leat_error *err) {
    size_t got = 0;
    leat_status status = leati_file_read_at(index->file, offset, data, size, &got, err);
    if (status == LEAT_OK && got < size)
        status = damaged(index->path, "the index is shorter than it says", err);
    return status;
}

/* Do blocks of `count` records fill the index? */
static bool size_fits(int64_t size, uint64_t count) {
    /* Each record takes 8 bytes at least, so the sums below cannot overflow. */
    if (count > (uint64_t)size / 8)
        return false;
    uint64_t whole = count / BLOCK, rest = count % BLOCK;
    return (uint64_t)size ==
           HEAD + TAIL + whole * block_bytes(BLOCK) + (rest > 0 ? block_bytes((size_t)rest) : 0);
}

static leat_status check_frame(leati_index *index, const char *kind, const struct ends *ends,
                               leat_error *err) {
    uint8_t head[HEAD], tail[TAIL];
    int64_t size = index->file->size;
    if (size < HEAD + TAIL)
        return damaged(index->path, "too short for an index", err);
    LEATI_TRY(read_part(index, 0, head, sizeof head, err));
    LEATI_TRY(read_part(index, size - TAIL, tail, sizeof tail, err));
    if (memcmp(head, magic, MAGIC) != 0)
        return damaged(index->path, "no index: it does not begin with \"leat-index\"", err);
    if (leati_wire_load32(head + MAGIC) != VERSION)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "%.200s%s has version %u; expected %d; run `leat index %.200s` to make "
                          "it again",
                          index->path, LEATI_INDEX_ENDING, leati_wire_load32(head + MAGIC), VERSION,
                          index->path);
    /* Before any number of the tail is believed. */
    if (leati_wire_load32(tail + SUM_AT) != frame_sum(head, tail))
        return damaged(index->path, "the checksum of its head and tail does not fit", err);
    /* The checksum may fit a tail that somebody made up. */
    uint64_t count = leati_wire_load64(tail + COUNT_AT);
    if (!size_fits(size, count))
        return damaged(index->path, "its size does not fit its number of records", err);
    if (strncmp((const char *)tail, kind, KIND) != 0)
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "%.200s%s is the index of a %.*s file; expected one of a %s file",
                          index->path, LEATI_INDEX_ENDING, KIND, (const char *)tail, kind);
    if (leati_wire_load64(tail + SIZE_AT) != (uint64_t)ends->size ||
        leati_wire_load32(tail + FIRST_AT) != ends->first ||
        leati_wire_load32(tail + LAST_AT) != ends->last)
        return leati_index_stale(index->path, err);
    index->count = (int64_t)count;
    index->data_size = ends->size;
    return LEAT_OK;
}

static leat_status open_sidecar(leati_index *index, const char *path, leat_error *err) {
    char *name = NULL;
    index->path = leati_strdup(path);
    if (index->path == NULL)
        return leati_no_memory(err);
    leat_status status = index_path(path, &name, err);
    if (status == LEAT_OK)
        status = leati_file_open(name, &index->file, err);
    leati_free(name);
    if (status == LEAT_NOT_FOUND)
        status = leati_fail(err, LEAT_NOT_FOUND,
                            "%.200s has no index; run `leat index %.200s` to make it", path, path);
    return status;
}

leat_status leati_index_open(const char *path, const char *kind, leati_index **out,
                             leat_error *err) {
    struct ends ends = {0};
    leat_status status = read_ends(path, &ends, err);
    if (status != LEAT_OK)
        return status;
    leati_index *index = leati_alloc_zero(1, sizeof *index);
    if (index == NULL)
        return leati_no_memory(err);
    /* 0 would be a block that is loaded already. */
    index->block = -1;
    status = open_sidecar(index, path, err);
    if (status == LEAT_OK)
        status = check_frame(index, kind, &ends, err);
    if (status != LEAT_OK)
        leati_index_close(index);
    else
        *out = index;
    return status;
}

void leati_index_close(leati_index *index) {
    if (index == NULL)
        return;
    leati_file_close(index->file);
    leati_free(index->path);
    leati_free(index);
}

int64_t leati_index_count(const leati_index *index) {
    return index->count;
}

static leat_status load_block(leati_index *index, int64_t block, leat_error *err) {
    int64_t left = index->count - block * BLOCK;
    size_t n = left < BLOCK ? (size_t)left : BLOCK;
    /* `data` holds no block while it is being replaced. */
    index->block = -1;
    LEATI_TRY(read_part(index, HEAD + block * (int64_t)block_bytes(BLOCK), index->data,
                        block_bytes(n), err));
    if (leati_wire_load32(index->data + (n + 1) * 8) != block_sum(index->data, n, (uint64_t)block))
        return damaged(index->path, "the checksum of a block does not fit", err);
    index->block = block;
    return LEAT_OK;
}

leat_status leati_index_find(leati_index *index, int64_t number, int64_t *begin, int64_t *end,
                             leat_error *err) {
    if (number < 0 || number >= index->count)
        return leati_fail(err, LEAT_OUT_OF_RANGE, "%.250s has no record %lld: it has %lld",
                          index->path, (long long)number, (long long)index->count);
    leat_status status =
        number / BLOCK == index->block ? LEAT_OK : load_block(index, number / BLOCK, err);
    if (status != LEAT_OK)
        return status;
    const uint8_t *at = index->data + number % BLOCK * 8;
    uint64_t from = leati_wire_load64(at), to = leati_wire_load64(at + 8);
    /* Also where the checksum fits: a reader must not be led outside of the file. */
    if (from >= to || to > (uint64_t)index->data_size)
        return damaged(index->path, "a record ends before it starts or beyond the file", err);
    *begin = (int64_t)from;
    *end = (int64_t)to;
    return LEAT_OK;
}

/* ---- building ---- */

struct builder {
    leati_output *output;
    int64_t count;
    leati_index_watch *watch; /* NULL: nobody watches */
    void *context;
    uint8_t data[(BLOCK + 1) * 8 + 4];
};

static leat_status write_block(struct builder *b, size_t n, int64_t end, leat_error *err) {
    /* The block of the last record that was added. */
    uint64_t number = (uint64_t)(b->count - 1) / BLOCK;
    leati_wire_store64(b->data + n * 8, (uint64_t)end);
    leati_wire_store32(b->data + (n + 1) * 8, block_sum(b->data, n, number));
    return leati_atomic_write(b->output, b->data, block_bytes(n), err);
}

/* Adds the record that starts at `begin`; records follow one another. */
static leat_status add_record(struct builder *b, int64_t begin, leat_error *err) {
    size_t at = (size_t)(b->count % BLOCK);
    /* Written once the next record begins, because that is where its last one ends. */
    if (at == 0 && b->count > 0)
        LEATI_TRY(write_block(b, BLOCK, begin, err));
    leati_wire_store64(b->data + at * 8, (uint64_t)begin);
    b->count++;
    if (b->watch != NULL)
        b->watch(b->context, begin);
    return LEAT_OK;
}

static leat_status write_head(struct builder *b, uint8_t *head, leat_error *err) {
    memcpy(head, magic, MAGIC);
    leati_wire_store32(head + MAGIC, VERSION);
    return leati_atomic_write(b->output, head, HEAD, err);
}

static leat_status write_end(struct builder *b, const uint8_t *head, const char *kind,
                             const struct ends *ends, int64_t end, leat_error *err) {
    uint8_t tail[TAIL] = {0};
    leat_status status = LEAT_OK;
    if (b->count > 0)
        /* The last block may be short, but is never empty. */
        status = write_block(b, (size_t)((b->count - 1) % BLOCK) + 1, end, err);
    if (status != LEAT_OK)
        return status;
    memcpy(tail, kind, strlen(kind));
    leati_wire_store64(tail + SIZE_AT, (uint64_t)ends->size);
    leati_wire_store64(tail + COUNT_AT, (uint64_t)b->count);
    leati_wire_store32(tail + FIRST_AT, ends->first);
    leati_wire_store32(tail + LAST_AT, ends->last);
    leati_wire_store32(tail + SUM_AT, frame_sum(head, tail));
    return leati_atomic_write(b->output, tail, sizeof tail, err);
}

/* Passes over all records of a TFRecord file; *end is where the last one ends. */
static leat_status find_tfrecords(struct builder *b, const char *path, int64_t *end,
                                  leat_error *err) {
    /* A record that is cut off must not be left out silently. */
    leati_tfrecord_options options = {.strict_tail = true};
    leati_tfrecord *reader = NULL;
    leat_status status = leati_tfrecord_open(path, &options, &reader, err);
    while (status == LEAT_OK) {
        leat_error own = {0};
        int64_t passed = 0;
        *end = leati_tfrecord_position(reader);
        /* Headers alone are read and checked; data are passed over. */
        leati_record_outcome outcome = leati_tfrecord_skip(reader, 1, &passed, &own);
        if (outcome == LEATI_RECORD_END)
            break;
        status = outcome == LEATI_RECORD ? add_record(b, *end, err) : leati_error_pass(err, &own);
    }
    leati_tfrecord_close(reader);
    return status;
}

/* Adds a tar member where it begins a sample; `key` is that of the sample before. */
static leat_status add_member(struct builder *b, const leati_tar_member *member, leati_text *key,
                              leat_error *err) {
    size_t size = 0;
    const char *extension = NULL;
    /* Members of one sample follow each other: only the first of them is a start. */
    if (!member->is_file || !leati_tar_sample(&member->name, &size, &extension) ||
        (b->count > 0 && key->size == size && memcmp(key->data, member->name.data, size) == 0))
        return LEAT_OK;
    key->size = 0;
    leati_text_add(key, member->name.data, size);
    return key->failed ? leati_no_memory(err) : add_record(b, member->at, err);
}

/* Passes over all members of a tar archive; *end is where its end mark stands. */
static leat_status find_samples(struct builder *b, const char *path, int64_t *end,
                                leat_error *err) {
    leati_pools pools = {0};
    leati_chunks chunks = {0};
    leati_tar_member member = {0};
    leati_text key = {0};
    leati_tar_outcome outcome = LEATI_TAR_MEMBER;
    leat_status status =
        leati_chunks_open(&chunks, path, LEAT_COMPRESSION_NONE, 0, LEATI_CHUNK_SIZE, &pools, err);
    while (status == LEAT_OK && outcome == LEATI_TAR_MEMBER) {
        leat_error own = {0};
        outcome = leati_tar_next(&chunks, &member, &own);
        /* At the end mark this is where the last member ended; values before it are replaced. */
        *end = chunks.position;
        if (outcome == LEATI_TAR_MEMBER) {
            status = add_member(b, &member, &key, err);
            outcome = leati_tar_pass(&chunks, member.size, &own);
        }
        if (status == LEAT_OK && own.code != LEAT_OK)
            status = leati_error_pass(err, &own);
    }
    leati_chunks_close(&chunks);
    leati_tar_fini(&member);
    leati_text_fini(&key);
    leati_pools_close(&pools);
    return status;
}

static leat_status build(struct builder *b, const char *path, const char *kind, leat_error *err) {
    bool tar = strcmp(kind, LEATI_INDEX_TAR) == 0;
    uint8_t head[HEAD];
    struct ends before = {0}, after = {0};
    int64_t end = 0;
    LEATI_TRY(read_ends(path, &before, err));
    LEATI_TRY(write_head(b, head, err));
    LEATI_TRY(tar ? find_samples(b, path, &end, err) : find_tfrecords(b, path, &end, err));
    /* A file that is still being written would have an index of a part of it. */
    LEATI_TRY(read_ends(path, &after, err));
    if (before.size != after.size || before.first != after.first || before.last != after.last)
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "%.250s was changed while it was being indexed; run `leat index` again "
                          "once it is whole",
                          path);
    return write_end(b, head, kind, &after, end, err);
}

/* What a file holds, by its first bytes, and where they say nothing by its name. */
static leat_status find_kind(const char *path, const char **kind, leat_error *err) {
    char first[TAR_MAGIC_AT + 5] = {0};
    leati_file *file = NULL;
    size_t got = 0, size = strlen(path);
    leat_compression compression = LEAT_COMPRESSION_NONE;
    leat_status status = leati_file_open(path, &file, err);
    if (status == LEAT_OK)
        status = leati_file_read_at(file, 0, first, sizeof first, &got, err);
    leati_file_close(file);
    /* Zeros where nothing was read, which is no "ustar". */
    bool magic_found = memcmp(first + TAR_MAGIC_AT, "ustar", 5) == 0;
    if (status == LEAT_OK && !magic_found)
        status = leat_compression_guess(path, &compression, err);
    if (status == LEAT_OK && compression != LEAT_COMPRESSION_NONE)
        status = leati_fail(err, LEAT_UNIMPLEMENTED,
                            "%.250s looks compressed (%s): records of a compressed file cannot be "
                            "found by number; write it without compression",
                            path, leat_compression_name(compression));
    bool named = size > 4 && strcmp(path + size - 4, ".tar") == 0;
    *kind = magic_found || named ? LEATI_INDEX_TAR : LEATI_INDEX_TFRECORD;
    return status;
}

leat_status leat_index_write(const char *path, int64_t *records, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (path == NULL)
        return leati_refuse(err, VALUE, "leat_index_write: the path is NULL");
    return leati_index_write_watched(path, records, NULL, NULL, err);
}

leat_status leati_index_write_watched(const char *path, int64_t *records, leati_index_watch *watch,
                                      void *context, leat_error *err) {
    char *name = NULL;
    struct builder b = {.watch = watch, .context = context};
    const char *kind = NULL;
    leat_status status = find_kind(path, &kind, err);
    if (status == LEAT_OK)
        status = index_path(path, &name, err);
    if (status == LEAT_OK)
        status = leati_atomic_open(name, LEATI_ATOMIC_PART, &b.output, err);
    leati_free(name);
    if (status != LEAT_OK)
        return status;
    status = build(&b, path, kind, err);
    if (status != LEAT_OK) {
        leati_atomic_discard(b.output);
        return status;
    }
    status = leati_atomic_commit(b.output, err);
    if (status == LEAT_OK && records != NULL)
        *records = b.count;
    return status;
}
