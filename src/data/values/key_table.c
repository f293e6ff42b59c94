/* A table of keys: see key_table.h. Open addressing, at most half full; growing is the only thing
 * that fails, and it comes first. */
#include "data/values/key_table.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include <stdlib.h>
#include <string.h>

/* Where a key is, or the free slot where it belongs. */
static size_t slot_of(const leati_key_table *table, int64_t key) {
    size_t slot = (size_t)leati_hash(&key, sizeof(key), 0) & (table->room - 1);
    /* A slot holds the key's number and one more: 0 is free. */
    while (table->slots[slot] != 0 && table->keys[table->slots[slot] - 1] != key)
        slot = (slot + 1) & (table->room - 1);
    return slot;
}

int64_t leati_key_table_find(const leati_key_table *table, int64_t key) {
    return table->room == 0 ? -1 : (int64_t)table->slots[slot_of(table, key)] - 1;
}

leat_status leati_key_table_reserve(leati_key_table *table, leat_error *err) {
    /* A slot's 32 bits hold a number and one more. */
    if (table->count >= UINT32_MAX - 1) {
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED, "%zu keys; at most %u fit", table->count,
                          UINT32_MAX - 1);
    }
    if (!leati_grow((void **)&table->keys, &table->capacity, table->count + 1,
                    sizeof(*table->keys)))
        return leati_no_memory(err);
    /* At most half full, so a search meets a free slot soon, and always meets one. */
    if (2 * (table->count + 1) <= table->room)
        return LEAT_OK;
    size_t room = table->room == 0 ? 64 : 2 * table->room;
    uint32_t *slots = leati_alloc_zero(room, sizeof(*slots));
    if (slots == NULL)
        return leati_no_memory(err);
    leati_free(table->slots);
    table->slots = slots;
    table->room = room;
    for (size_t i = 0; i < table->count; i++)
        /* Numbers stay: whoever numbered something by them need not know of it. */
        table->slots[slot_of(table, table->keys[i])] = (uint32_t)i + 1;
    return LEAT_OK;
}

leat_status leati_key_table_add(leati_key_table *table, int64_t key, leat_error *err) {
    leat_status status = leati_key_table_reserve(table, err);
    if (status == LEAT_OK) {
        table->keys[table->count++] = key;
        table->slots[slot_of(table, key)] = (uint32_t)table->count;
    }
    return status;
}

struct pair {
    int64_t key;
    uint32_t number;
};

static int compare(const void *a, const void *b) {
    int64_t first = ((const struct pair *)a)->key, second = ((const struct pair *)b)->key;
    return (first > second) - (first < second);
}

uint32_t *leati_key_table_sorted(const leati_key_table *table, leat_error *err) {
    uint32_t *numbers = leati_alloc(table->count + 1, sizeof(*numbers));
    struct pair *pairs = leati_alloc(table->count + 1, sizeof(*pairs));
    if (numbers == NULL || pairs == NULL) {
        leati_no_memory(err);
        leati_free(numbers);
        leati_free(pairs);
        return NULL;
    }
    for (size_t i = 0; i < table->count; i++)
        pairs[i] = (struct pair){.key = table->keys[i], .number = (uint32_t)i};
    qsort(pairs, table->count, sizeof(*pairs), compare);
    for (size_t i = 0; i < table->count; i++)
        numbers[i] = pairs[i].number;
    leati_free(pairs);
    return numbers;
}

int64_t leati_key_table_bytes(const leati_key_table *table) {
    return (int64_t)(table->capacity * sizeof(*table->keys) + table->room * sizeof(*table->slots));
}

void leati_key_table_clear(leati_key_table *table) {
    table->count = 0;
    if (table->room > 0)
        memset(table->slots, 0, table->room * sizeof(*table->slots));
}

void leati_key_table_fini(leati_key_table *table) {
    leati_free(table->keys);
    leati_free(table->slots);
    *table = (leati_key_table){0};
}

void leati_key_table_save(const leati_key_table *table, leati_writer *out) {
    leati_put_uint(out, table->count);
    for (size_t i = 0; i < table->count; i++)
        leati_put_int(out, table->keys[i]);
}

leat_status leati_key_table_restore(leati_key_table *table, leati_reader *in, leat_error *err) {
    uint64_t count = 0;
    leat_status status = leati_get_uint(in, &count, err);
    for (uint64_t i = 0; i < count && status == LEAT_OK; i++) {
        int64_t key = 0;
        status = leati_get_int(in, &key, err);
        /* Of a key that came twice one number would stand for nothing. */
        if (status == LEAT_OK && leati_key_table_find(table, key) >= 0) {
            status = leati_fail(err, LEAT_DATA_LOSS, "a saved table has the key %lld twice",
                                (long long)key);
        }
        if (status == LEAT_OK)
            status = leati_key_table_add(table, key, err);
    }
    return status;
}
