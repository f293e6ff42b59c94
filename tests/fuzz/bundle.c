/* Checkpoints in TensorFlow's format. An input is an index, or, where its first byte is odd, the
 * entries of one whose checksums fit: a byte for the size of each key and value in turn. What is
 * listed is in order and can be found; what is read has the shape that was listed. */
#include "file/table.h"
#include "fuzz.h"
#include <stdio.h>
#include <string.h>

#define PREFIX "fuzzed"
enum { DATA = 600 };

static void write_file(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        fuzz_broken("%s cannot be written", path);
}

static void write_entries(const uint8_t *data, size_t size) {
    leati_table_writer table = {0};
    leat_error err = {0};
    leat_string texts[2] = {{"", 0}, {"\x08\x01", 2}};
    leati_table_put(&table, texts[0], texts[1]);
    for (size_t at = 0; at < size;) {
        for (int i = 0; i < 2; i++) {
            size_t own = at < size ? data[at++] : 0;
            own = own < size - at ? own : size - at;
            texts[i] = (leat_string){(const char *)data + at, own};
            at += own;
        }
        leati_table_put(&table, texts[0], texts[1]);
    }
    if (leati_table_end(&table, &err) == LEAT_OK)
        write_file(PREFIX ".index", table.out.data, table.out.size);
    else
        write_file(PREFIX ".index", "", 0);
    leati_table_writer_fini(&table);
}

static void read_entry(leat_bundle *bundle, int64_t i, const leat_bundle_entry *entry) {
    leat_error err = {0};
    leat_tensor out = {0};
    leat_status status = leat_bundle_read(bundle, i, &out, &err);
    if (status != LEAT_OK) {
        fuzz_check_error("a tensor", status, &err);
        return;
    }
    if (entry->dtype != LEAT_INVALID &&
        (out.rank != entry->shape.rank ||
         memcmp(out.dims, entry->shape.dims, (size_t)out.rank * sizeof *out.dims) != 0))
        fuzz_broken("another shape than the one that was listed");
    leat_tensor_unref(&out);
}

static void run(const uint8_t *data, size_t size) {
    static const uint8_t zeros[DATA];
    leat_error err = {0};
    leat_bundle_entry entry, before = {0};
    write_file(PREFIX ".data-00000-of-00001", zeros, sizeof zeros);
    if (size > 0 && (data[0] & 1) != 0)
        write_entries(data + 1, size - 1);
    else
        write_file(PREFIX ".index", data, size);
    leat_bundle *bundle = leat_bundle_open(PREFIX, &err);
    if (bundle == NULL) {
        fuzz_check_error("an index", err.code, &err);
        return;
    }
    for (int64_t i = 0; i < leat_bundle_count(bundle); i++) {
        if (leat_bundle_get(bundle, i, &entry, &err) != LEAT_OK ||
            leat_bundle_find(bundle, entry.name) != i)
            fuzz_broken("tensor %lld is not found", (long long)i);
        if (i > 0 && strcmp(before.name, entry.name) >= 0)
            fuzz_broken("names are out of order");
        before = entry;
        read_entry(bundle, i, &entry);
    }
    leat_bundle_free(bundle);
}

const fuzz_target fuzz_bundle = {
    .name = "bundle",
    .doc = "checkpoints in TensorFlow's format",
    .run = run,
    .most = 2048,
};
