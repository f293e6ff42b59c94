/* Sidecar indexes. The first byte of an input says what the rest is: the bytes of an index beside a
 * file of five records, or the numbers of one whose checksums fit, or a record file, whose index
 * must have the records that reading finds. */
#include "file/index.h"
#include "file/crc.h"
#include "file/tfrecord.h"
#include "file/wire.h"
#include "fuzz.h"
#include <stdio.h>

enum { WHOLE, NUMBERS, RECORDS, KINDS };
enum { GOOD = 5, BODY = (GOOD + 1) * 8, HEAD = 16, TAIL = 44, BYTES = 17 };

#define NAME "fuzzed.tfrecord"

static void write_file(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        fuzz_broken("%s cannot be written", path);
}

static void write_good_file(void) {
    leat_error err = {0};
    leat_tfrecord_writer *writer = leat_tfrecord_writer_open(NAME, NULL, &err);
    bool good = writer != NULL;
    for (int i = 0; i < GOOD && good; i++)
        good = leat_tfrecord_writer_write(writer, "x", 1, &err) == LEAT_OK;
    if (!good || leat_tfrecord_writer_close(writer, &err) != LEAT_OK)
        fuzz_broken("%s", err.text);
}

/* The good file's own index; `bytes` has room for it. */
static void good_index(uint8_t bytes[HEAD + BODY + 4 + TAIL]) {
    leat_error err = {0};
    int64_t records = 0;
    write_good_file();
    if (leat_index_write(NAME, &records, &err) != LEAT_OK || records != GOOD)
        fuzz_broken("a good file has no index: %s", err.text);
    FILE *file = fopen(NAME LEATI_INDEX_ENDING, "rb");
    size_t size = HEAD + BODY + 4 + TAIL;
    if (file == NULL || fread(bytes, 1, size, file) != size || fgetc(file) != EOF)
        fuzz_broken("an index of another size");
    (void)fclose(file);
}

static void write_numbers(const uint8_t *data, size_t size) {
    uint8_t bytes[HEAD + BODY + 4 + TAIL];
    good_index(bytes);
    memcpy(bytes + HEAD, data, size < BODY ? size : BODY);
    leati_wire_store32(bytes + HEAD + BODY, leati_crc_mask(leati_crc_crc32c(bytes + HEAD, BODY)));
    write_file(NAME LEATI_INDEX_ENDING, bytes, sizeof bytes);
}

static void read_index(int64_t size) {
    leat_error err = {0};
    leati_index *index = NULL;
    leat_status status = leati_index_open(NAME, LEATI_INDEX_TFRECORD, &index, &err);
    fuzz_check_error("opening the index", status, &err);
    if (status != LEAT_OK)
        return;
    int64_t count = leati_index_count(index), begin = 0, end = 0;
    if (leati_index_find(index, -1, &begin, &end, &(leat_error){0}) != LEAT_OUT_OF_RANGE ||
        leati_index_find(index, count, &begin, &end, &(leat_error){0}) != LEAT_OUT_OF_RANGE)
        fuzz_broken("a record that does not exist");
    for (int64_t i = 0; i < count && i < 1000; i++) {
        status = leati_index_find(index, i, &begin, &end, &err);
        fuzz_check_error("finding a record", status, &err);
        if (status == LEAT_OK && (begin < 0 || begin >= end || end > size))
            fuzz_broken("record %lld takes bytes %lld to %lld of %lld", (long long)i,
                        (long long)begin, (long long)end, (long long)size);
    }
    leati_index_close(index);
}

/* The index of any file: as many records as passing over them finds, at the same bytes. */
static void index_records(const uint8_t *data, size_t size) {
    leat_error err = {0}, reading = {0};
    int64_t records = 0, passed = 0, begin = 0, end = 0;
    write_file(NAME, data, size);
    leat_status status = leat_index_write(NAME, &records, &err);
    fuzz_check_error("indexing", status, &err);
    if (status != LEAT_OK)
        return;
    leati_tfrecord *reader = NULL;
    leati_index *index = NULL;
    if (size > 262 && memcmp(data + 257, "ustar", 5) == 0)
        return; /* samples of a tar archive */
    if (leati_tfrecord_open(NAME, NULL, &reader, &reading) != LEAT_OK ||
        leati_index_open(NAME, LEATI_INDEX_TFRECORD, &index, &reading) != LEAT_OK)
        fuzz_broken("%s", reading.text);
    for (int64_t i = 0; i < records; i++)
        if (leati_index_find(index, i, &begin, &end, &reading) != LEAT_OK ||
            begin != leati_tfrecord_position(reader) ||
            leati_tfrecord_skip(reader, 1, &passed, &reading) != LEATI_RECORD ||
            end != leati_tfrecord_position(reader))
            fuzz_broken("record %lld of %lld lies elsewhere", (long long)i, (long long)records);
    if (leati_tfrecord_skip(reader, 1, &passed, &reading) != LEATI_RECORD_END)
        fuzz_broken("the index lacks records");
    leati_index_close(index);
    leati_tfrecord_close(reader);
}

static void run(const uint8_t *data, size_t size) {
    if (size < 1)
        return;
    switch (data[0] % KINDS) {
    case WHOLE:
        write_good_file();
        write_file(NAME LEATI_INDEX_ENDING, data + 1, size - 1);
        read_index(GOOD * BYTES);
        break;
    case NUMBERS:
        write_numbers(data + 1, size - 1);
        read_index(GOOD * BYTES);
        break;
    default: index_records(data + 1, size - 1); break;
    }
}

static void seeds(void) {
    uint8_t bytes[1 + HEAD + BODY + 4 + TAIL] = {WHOLE};
    good_index(bytes + 1);
    fuzz_seed(bytes, sizeof bytes);
    bytes[HEAD] = NUMBERS;
    fuzz_seed(bytes + HEAD, 1 + BODY);
}

const fuzz_target fuzz_index = {
    .name = "index",
    .doc = "sidecar indexes of record files",
    .run = run,
    .most = 512,
    .seeds = seeds,
};
