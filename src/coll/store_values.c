/* What all ranks brought to a barrier: pure functions over the answer's bytes (coll/store.h).
 *
 * The answer is a table of sizes and then the values, which stay where they came. It comes from
 * another process, so that nothing in it is believed before it was compared with what is there. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "coll/store.h"
#include <string.h>

void leati_store_values_fini(leati_store_values *values) {
    leati_free(values->bytes);
    leati_free(values->offset);
    *values = (leati_store_values){0};
}

leat_status leati_store_values_read(char *bytes, size_t size, int num_ranks,
                                    leati_store_values *out, leat_error *err) {
    size_t ranks = (size_t)num_ranks, at = ranks * sizeof(uint64_t);
    *out = (leati_store_values){.bytes = bytes};
    out->offset = leati_alloc(ranks + 1, sizeof *out->offset);
    if (out->offset == NULL) {
        leati_store_values_fini(out);
        return leati_no_memory(err);
    }
    bool good = at <= size;
    for (size_t i = 0; i < ranks && good; i++) {
        uint64_t length = 0;
        memcpy(&length, bytes + i * sizeof length, sizeof length);
        out->offset[i] = at;
        good = length <= size - at;
        at += good ? (size_t)length : 0;
    }
    out->offset[ranks] = at;
    if (!good || at != size) {
        leati_store_values_fini(out);
        return leati_fail(err, LEAT_INTERNAL,
                          "an answer of rank 0 has %zu bytes, which are not those of its values",
                          size);
    }
    return LEAT_OK;
}

/* Where the value begins behind the name, and how long it is. */
static const char *value_of(const leati_store_values *all, int rank, size_t *size) {
    const char *text = all->bytes + all->offset[rank];
    size_t whole = (size_t)(all->offset[rank + 1] - all->offset[rank]);
    const char *end = memchr(text, '\n', whole);
    size_t name = end != NULL ? (size_t)(end + 1 - text) : whole;
    *size = whole - name;
    return text + name;
}

leat_status leati_store_values_same(const leati_store_values *values, int num_ranks,
                                    const char *what, leat_error *err) {
    size_t first_size;
    const char *first = value_of(values, 0, &first_size);
    for (int r = 1; r < num_ranks; r++) {
        size_t size;
        const char *other = value_of(values, r, &size), *name = values->bytes + values->offset[r];
        if (size != first_size || memcmp(first, other, size) != 0) {
            return leati_fail(err, LEAT_FAILED_PRECONDITION,
                              "%.*s has %s %.*s and rank 0 has %.*s; start the same program with "
                              "the same data on every process",
                              (int)LEATI_MAX(0, other - name - 1), name, what,
                              (int)LEATI_MIN(size, 200), other, (int)LEATI_MIN(first_size, 200),
                              first);
        }
    }
    return LEAT_OK;
}
