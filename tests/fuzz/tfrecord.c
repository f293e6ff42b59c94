/* Record files: the same records, the same end and the same positions whatever the size of a read;
 * skipping finds at least the records that reading finds; reading goes on from any position. */
#include "file/tfrecord.h"
#include "base/hash.h"
#include "fuzz.h"

enum { MOST_RECORDS = 500 };

typedef struct reading {
    uint64_t hashes[MOST_RECORDS];
    int64_t positions[MOST_RECORDS + 1];
    int64_t count;
    leati_record_outcome last;
    leat_status code;
} reading;

static void read_all(leati_tfrecord *reader, reading *out) {
    out->count = 0;
    out->last = LEATI_RECORD;
    out->code = LEAT_OK;
    while (out->count < MOST_RECORDS && out->last == LEATI_RECORD) {
        leat_string record;
        int64_t n = 0;
        leat_error err = {0};
        out->positions[out->count] = leati_tfrecord_position(reader);
        out->last = leati_tfrecord_read(reader, 1, 0, &record, NULL, &n, &err);
        out->code = err.code;
        if (out->last == LEATI_RECORD_ERROR)
            fuzz_check_error("reading", err.code == LEAT_OK ? LEAT_INTERNAL : err.code, &err);
        if (out->last == LEATI_RECORD)
            out->hashes[out->count++] = leati_hash(record.data, record.size, 0);
    }
}

static void compare(const char *what, const reading *a, int64_t from, const reading *b) {
    if (b->count != a->count - from || b->last != a->last || b->code != a->code)
        fuzz_broken("%s: %lld records and %s, then %lld and %s", what, (long long)(a->count - from),
                    leat_status_name(a->code), (long long)b->count, leat_status_name(b->code));
    for (int64_t i = 0; i < b->count; i++)
        if (b->hashes[i] != a->hashes[from + i] || b->positions[i] != a->positions[from + i])
            fuzz_broken("%s: record %lld differs", what, (long long)i);
}

static leati_tfrecord *open_with(const char *path, size_t chunk_size, bool strict) {
    leati_tfrecord_options options = {.chunk_size = chunk_size, .strict_tail = strict};
    leati_tfrecord *reader = NULL;
    leat_error err = {0};
    leat_status status = leati_tfrecord_open(path, &options, &reader, &err);
    if (status != LEAT_OK)
        fuzz_broken("opening: %s", err.text);
    return reader;
}

static void check_seek(const char *path, const reading *whole, reading *other) {
    int64_t from = whole->count / 2;
    leat_error err = {0};
    leati_tfrecord *reader = open_with(path, 16, false);
    leat_status status = leati_tfrecord_seek(reader, whole->positions[from], &err);
    if (status != LEAT_OK)
        fuzz_broken("seeking record %lld: %s", (long long)from, err.text);
    read_all(reader, other);
    leati_tfrecord_close(reader);
    compare("after a seek", whole, from, other);
}

static void run(const uint8_t *data, size_t size) {
    static reading whole, other;
    const char *path = fuzz_file(data, size);
    leati_tfrecord *reader = open_with(path, 0, false);
    read_all(reader, &whole);
    leati_tfrecord_close(reader);
    if (whole.count == MOST_RECORDS)
        return;
    reader = open_with(path, 1, false);
    read_all(reader, &other);
    leati_tfrecord_close(reader);
    compare("in reads of one byte", &whole, 0, &other);
    check_seek(path, &whole, &other);
    reader = open_with(path, 0, true);
    read_all(reader, &other);
    leati_tfrecord_close(reader);
    if (other.count != whole.count)
        fuzz_broken("a strict tail changed the number of records");
    reader = open_with(path, 64, false);
    int64_t skipped = 0;
    leat_error err = {0};
    (void)leati_tfrecord_skip(reader, INT64_MAX, &skipped, &err);
    leati_tfrecord_close(reader);
    if (skipped < whole.count)
        fuzz_broken("skipped %lld records of %lld", (long long)skipped, (long long)whole.count);
}

const fuzz_target fuzz_tfrecord = {
    .name = "tfrecord",
    .doc = "record files",
    .run = run,
    .most = 4096,
    .folders = "files/tfrecord",
    .ending = ".tfrecord",
};
