/* Caches in files. The first byte of an input says what the rest is: the payload of one record of
 * PREFIX.data whose headers fit it, or the bytes of PREFIX.data, or those of PREFIX.index. */
#include "data/kept/cache_file.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "core/verify.h"
#include "data/values/values.h"
#include "fuzz.h"
#include <stdio.h>
#include <string.h>

enum { PAYLOAD, DATA, INDEX, KINDS };

static void write_file(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        fuzz_broken("%s cannot be written", path);
}

static void write_index(int64_t rows, size_t bytes) {
    leati_writer index = {0};
    leati_put_raw(&index, "leat cache 1\n", 13);
    leati_put_fixed64(&index, (uint64_t)rows);
    leati_put_fixed64(&index, bytes);
    leati_put_fixed64(&index, leati_hash(index.data, index.size, 0));
    write_file("cache.index", index.data, index.size);
    leati_writer_fini(&index);
}

static void write_record(int64_t rows, const uint8_t *payload, size_t size) {
    leati_writer data = {0};
    leati_put_fixed64(&data, (uint64_t)rows);
    leati_put_fixed64(&data, size);
    leati_put_fixed64(&data, leati_hash(payload, size, 0));
    leati_put_raw(&data, payload, size);
    write_file("cache.data", data.data, data.size);
    write_index(rows, data.size);
    leati_writer_fini(&data);
}

static void read_cache(int64_t from) {
    leat_error err = {0};
    leati_block block = {0};
    leati_cache_reader *reader = NULL;
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, (leat_shape){.rank = 0}, &err);
    leat_status status = leati_cache_reader_open("cache", &reader, &err);
    if (status == LEAT_OK && from > 0)
        status = leati_cache_reader_seek(reader, from, &err);
    for (int i = 0; i < 100 && status == LEAT_OK; i++) {
        status = leati_cache_reader_read(reader, spec, 3, &block, &err);
        if (block.n == 0)
            break;
        if (status == LEAT_OK && leati_block_check(&block, spec, &err) != LEAT_OK)
            fuzz_broken("%s", err.text);
    }
    fuzz_check_error("reading the cache", status, &err);
    leati_cache_reader_close(reader);
    leati_block_fini(&block);
    leat_spec_unref(spec);
}

static void run(const uint8_t *data, size_t size) {
    if (size < 2)
        return;
    int64_t rows = 1 + data[1] % 8;
    switch (data[0] % KINDS) {
    case PAYLOAD: write_record(rows, data + 2, size - 2); break;
    case DATA:
        write_file("cache.data", data + 2, size - 2);
        write_index(rows, size - 2);
        break;
    default:
        write_record(rows, data + 2, size - 2);
        write_file("cache.index", data + 2, size - 2);
        break;
    }
    read_cache(0);
    read_cache(rows - 1);
}

/* A record of two rows, as payload and as file. */
static void seeds(void) {
    int64_t values[] = {5, 6};
    leati_block block = {0};
    leati_writer payload = {0}, file = {0};
    leat_error err = {0};
    leat_shape scalar = {.rank = 0};
    if (leati_block_prepare(&block, 1, &err) != LEAT_OK)
        fuzz_broken("%s", err.text);
    leati_column_strided(&block.columns[0], LEAT_INT64, &scalar, values, 8, NULL);
    block.n = 2;
    leati_put_raw(&payload, "\0\1", 2);
    if (leati_values_put_block(&payload, &block, 0, 2, &err) != LEAT_OK)
        fuzz_broken("%s", err.text);
    fuzz_seed(payload.data, payload.size);
    leati_put_raw(&file, "\1\1", 2);
    leati_put_fixed64(&file, 2);
    leati_put_fixed64(&file, payload.size - 2);
    leati_put_fixed64(&file, leati_hash(payload.data + 2, payload.size - 2, 0));
    leati_put_raw(&file, payload.data + 2, payload.size - 2);
    fuzz_seed(file.data, file.size);
    leati_writer_fini(&payload);
    leati_writer_fini(&file);
    leati_block_fini(&block);
}

const fuzz_target fuzz_cache_file = {
    .name = "cache_file",
    .doc = "caches in files",
    .run = run,
    .most = 512,
    .seeds = seeds,
};
