/* A set of tensors by value: see seen.h.
 *
 * A key is a tensor's shape and values as bytes. Keys lie one after the other, and an open table of
 * their places, at most half full, finds them. Growing is the only thing that fails, and it comes
 * first. */
#include "data/values/seen.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include <string.h>

static void put_key(leati_writer *out, const leati_column *column, int64_t row) {
    leat_shape shape = leati_column_row_shape(column, row);
    const void *values = leati_column_row(column, row);
    int64_t count = 1;
    /* The shape is part of the key: four values in a row are no matrix of two by two. */
    leati_put_uint(out, (uint64_t)shape.rank);
    for (int i = 0; i < shape.rank; i++) {
        leati_put_int(out, shape.dims[i]);
        count *= shape.dims[i];
    }
    if (column->dtype != LEAT_STRING) {
        leati_put_raw(out, values, (size_t)count * leat_dtype_size(column->dtype));
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        const leat_string *text = (const leat_string *)values + i;
        leati_put_bytes(out, text->data, text->size);
    }
}

static void key_at(const leati_seen *seen, uint64_t place, const void **key, size_t *size) {
    leati_reader reader = {.data = seen->keys.data, .size = seen->keys.size, .at = place};
    leat_error unwanted;
    *size = 0;
    if (leati_get_bytes(&reader, key, size, leati_error_unwanted(&unwanted)) != LEAT_OK)
        *key = "";
}

/* The slot of a key: where it is, or the free one where it belongs. */
static size_t slot_of(const leati_seen *seen, const void *key, size_t size) {
    size_t slot = (size_t)leati_hash(key, size, 0) & (seen->room - 1);
    for (; seen->table[slot] != 0; slot = (slot + 1) & (seen->room - 1)) {
        const void *other = NULL;
        size_t other_size = 0;
        key_at(seen, seen->table[slot] - 1, &other, &other_size);
        if (other_size == size && memcmp(other, key, size) == 0)
            break;
    }
    return slot;
}

static leat_status grow(leati_seen *seen, leat_error *err) {
    if (2 * (seen->count + 1) <= seen->room)
        return LEAT_OK;
    /* The keys are lent to it: the table alone is new. */
    leati_seen larger = {.keys = seen->keys, .room = seen->room == 0 ? 64 : 2 * seen->room};
    larger.table = leati_alloc_zero(larger.room, sizeof(*larger.table));
    if (larger.table == NULL)
        return leati_no_memory(err);
    for (size_t i = 0; i < seen->room; i++) {
        if (seen->table[i] != 0) {
            const void *key = NULL;
            size_t size = 0;
            key_at(seen, seen->table[i] - 1, &key, &size);
            larger.table[slot_of(&larger, key, size)] = seen->table[i];
        }
    }
    leati_free(seen->table);
    seen->table = larger.table;
    seen->room = larger.room;
    return LEAT_OK;
}

/* Adds the key that stands at the end of `keys`, at `place`, or takes it away again. */
static bool add_last(leati_seen *seen, size_t place) {
    const void *key = NULL;
    size_t size = 0;
    key_at(seen, place, &key, &size);
    size_t slot = slot_of(seen, key, size);
    if (seen->table[slot] != 0) {
        seen->keys.size = place;
        return false;
    }
    /* The place and one more: 0 is a free slot. */
    seen->table[slot] = place + 1;
    seen->count++;
    return true;
}

leat_status leati_seen_add(leati_seen *seen, const leati_column *column, int64_t row, bool *fresh,
                           leat_error *err) {
    leati_writer key = {0};
    LEATI_TRY(grow(seen, err));
    size_t place = seen->keys.size;
    /* Aside first, because its length stands in front of it. */
    put_key(&key, column, row);
    leati_put_bytes(&seen->keys, key.data, key.size);
    bool failed = key.failed || seen->keys.failed;
    leati_writer_fini(&key);
    if (failed) {
        seen->keys.size = place;
        /* The set goes on as it was; the failure is this key's alone. */
        seen->keys.failed = false;
        return leati_no_memory(err);
    }
    *fresh = add_last(seen, place);
    return LEAT_OK;
}

int64_t leati_seen_bytes(const leati_seen *seen) {
    return (int64_t)(seen->keys.capacity + seen->room * sizeof(*seen->table));
}

void leati_seen_clear(leati_seen *seen) {
    seen->keys.size = 0;
    seen->count = 0;
    if (seen->room > 0)
        memset(seen->table, 0, seen->room * sizeof(*seen->table));
}

void leati_seen_fini(leati_seen *seen) {
    leati_writer_fini(&seen->keys);
    leati_free(seen->table);
    *seen = (leati_seen){0};
}

void leati_seen_save(const leati_seen *seen, leati_writer *out) {
    leati_put_uint(out, seen->count);
    leati_put_raw(out, seen->keys.data, seen->keys.size);
}

leat_status leati_seen_restore(leati_seen *seen, leati_reader *in, leat_error *err) {
    uint64_t count = 0;
    leat_status status = leati_get_uint(in, &count, err);
    for (uint64_t i = 0; i < count && status == LEAT_OK; i++) {
        const void *key = NULL;
        size_t size = 0, place = seen->keys.size;
        status = leati_get_bytes(in, &key, &size, err);
        if (status == LEAT_OK)
            status = grow(seen, err);
        if (status == LEAT_OK) {
            leati_put_bytes(&seen->keys, key, size);
            status = seen->keys.failed ? leati_no_memory(err) : LEAT_OK;
        }
        if (status == LEAT_OK && !add_last(seen, place))
            status = leati_fail(err, LEAT_DATA_LOSS, "a saved set has a member twice");
    }
    return status;
}
