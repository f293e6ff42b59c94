/* Writing: entries go to an open block, which is closed once it has 256 KiB; the index has an entry
 * for each block, whose key is the shortest that parts it from the next one's first. Every 16th key
 * of a block stands whole, the others share a prefix with the one before. That is what TensorFlow's
 * writer does, so its files and leat's are the same byte for byte.
 *
 * Reading: the end says where the index lies, the index where the blocks lie. Failures: DATA_LOSS
 * with the byte for a place outside of the file, a wrong checksum, an unknown kind of compression,
 * entries that are cut, and keys out of order. A snappy block says how long it will be, which is
 * held against what it can be before memory is taken. No locks. */
#include "file/table.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "file/crc.h"
#include "file/wire.h"
#include <string.h>

enum {
    BLOCK = 256 << 10,
    RUN = 16, /* entries from one whole key to the next */
    FOOTER = 48,
    TRAILER = 5, /* behind each block: how it is compressed, and a checksum */
    PLAIN = 0,
    SNAPPY = 1,
    MOST_RATIO = 22,     /* of snappy: a copy of 64 bytes takes at least 3 */
    MOST_KEY_RATIO = 32, /* TensorFlow's writer comes to 16 */
};
#define MAGIC UINT64_C(0xdb4775248b80fb57)

/* ---- writing ---- */

static void put_fixed32(leati_writer *out, uint32_t value) {
    uint8_t bytes[4];
    leati_wire_store32(bytes, value);
    leati_put_raw(out, bytes, sizeof bytes);
}

/* Appends a block of these entries and restarts, and empties both. */
static void put_block(leati_table_writer *table, leati_writer *entries, leati_writer *restarts) {
    static const uint8_t kind = PLAIN;
    if (restarts->size == 0)
        put_fixed32(restarts, 0); /* a block without entries has a restart too */
    leati_put_raw(entries, restarts->data, restarts->size);
    put_fixed32(entries, (uint32_t)(restarts->size / 4));
    leati_put_raw(entries, &kind, 1);
    table->out.failed = table->out.failed || entries->failed || restarts->failed;
    if (table->out.failed)
        return;
    table->closed_at = table->out.size;
    table->closed_size = entries->size - 1;
    leati_put_raw(&table->out, entries->data, entries->size);
    put_fixed32(&table->out, leati_crc_mask(leati_crc_crc32c(entries->data, entries->size)));
    entries->size = restarts->size = 0;
}

/* The entry of the index for the block that was closed last. */
static void put_place(leati_table_writer *table, const uint8_t *key, size_t size) {
    uint8_t place[2 * LEATI_MAX_VARINT];
    uint8_t *end = leati_wire_put_varint(place, table->closed_at);
    end = leati_wire_put_varint(end, table->closed_size);
    put_fixed32(&table->index_restarts, (uint32_t)table->index.size);
    leati_put_uint(&table->index, 0);
    leati_put_uint(&table->index, size);
    leati_put_uint(&table->index, (uint64_t)(end - place));
    leati_put_raw(&table->index, key, size);
    leati_put_raw(&table->index, place, (size_t)(end - place));
    table->has_closed = false;
}

static size_t shared_size(const uint8_t *a, size_t a_size, const char *b, size_t b_size) {
    size_t n = 0;
    while (n < a_size && n < b_size && a[n] == (uint8_t)b[n])
        n++;
    return n;
}

/* Shortens the last key to the shortest that is not before it, and is before `next` (NULL: no other
 * key follows). */
static void shorten(leati_writer *last, const leat_string *next) {
    size_t at = 0;
    if (next != NULL) {
        at = shared_size(last->data, last->size, next->data, next->size);
        if (at >= last->size || at >= next->size || last->data[at] == 0xff ||
            last->data[at] + 1 >= (uint8_t)next->data[at])
            return;
    } else {
        while (at < last->size && last->data[at] == 0xff)
            at++;
        if (at == last->size)
            return;
    }
    last->data[at]++;
    last->size = at + 1;
}

void leati_table_put(leati_table_writer *table, leat_string key, leat_string value) {
    leati_writer *last = &table->last, *block = &table->block;
    if (last->failed)
        return;
    size_t shared = shared_size(last->data, last->size, key.data, key.size);
    bool is_after = shared == last->size
                        ? key.size > shared
                        : shared < key.size && (uint8_t)key.data[shared] > last->data[shared];
    table->is_unsorted = table->is_unsorted || (table->has_keys && !is_after);
    if (table->has_closed) {
        shorten(last, &key);
        put_place(table, last->data, last->size);
    }
    if (block->size == 0 || table->in_run == RUN) {
        put_fixed32(&table->block_restarts, (uint32_t)block->size);
        table->in_run = 0;
        shared = 0;
    }
    table->in_run++;
    table->has_keys = true;
    leati_put_uint(block, shared);
    leati_put_uint(block, key.size - shared);
    leati_put_uint(block, value.size);
    leati_put_raw(block, key.data + shared, key.size - shared);
    leati_put_raw(block, value.data, value.size);
    last->size = 0;
    leati_put_raw(last, key.data, key.size);
    if (block->size + table->block_restarts.size + 4 >= BLOCK) {
        put_block(table, block, &table->block_restarts);
        table->has_closed = true;
    }
}

leat_status leati_table_end(leati_table_writer *table, leat_error *err) {
    uint8_t footer[FOOTER] = {0};
    leati_writer nothing = {0}, restarts = {0};
    if (table->is_unsorted)
        return leati_fail(err, LEAT_INTERNAL, "the keys of a table do not ascend");
    if (table->block.size > 0 || table->block.failed) {
        put_block(table, &table->block, &table->block_restarts);
        table->has_closed = true;
    }
    if (table->has_closed) {
        shorten(&table->last, NULL);
        put_place(table, table->last.data, table->last.size);
    }
    put_block(table, &nothing, &restarts); /* of metadata, of which there are none */
    uint64_t meta_at = table->closed_at, meta_size = table->closed_size;
    leati_writer_fini(&nothing);
    leati_writer_fini(&restarts);
    put_block(table, &table->index, &table->index_restarts);
    uint8_t *end = leati_wire_put_varint(footer, meta_at);
    end = leati_wire_put_varint(end, meta_size);
    end = leati_wire_put_varint(end, table->closed_at);
    leati_wire_put_varint(end, table->closed_size);
    leati_wire_store64(footer + FOOTER - 8, MAGIC);
    leati_put_raw(&table->out, footer, FOOTER);
    return table->out.failed || table->last.failed ? leati_no_memory(err) : LEAT_OK;
}

void leati_table_writer_fini(leati_table_writer *table) {
    leati_writer *parts[] = {
        &table->out, &table->block, &table->index, &table->block_restarts, &table->index_restarts,
        &table->last};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        leati_writer_fini(parts[i]);
}

/* ---- snappy's blocks ---- */

/* One copy or literal from `in` to `out`, at `at` of `size`; false for damage. */
static bool unpack_element(leati_wire *in, uint8_t *out, size_t *at, size_t size) {
    uint8_t tag = *in->at++;
    size_t length = (size_t)(tag >> 2) + 1, offset = 0, left = (size_t)(in->end - in->at);
    size_t extra = (tag & 3) == 0 ? (length > 60 ? length - 60 : 0) : (tag & 3) == 3 ? 4 : tag & 3;
    if (left < extra)
        return false;
    for (size_t i = 0; i < extra; i++)
        offset |= (size_t)in->at[i] << (8 * i);
    in->at += extra;
    if ((tag & 3) == 0) {
        length = extra > 0 ? offset + 1 : length;
        if (length > (size_t)(in->end - in->at) || length > size - *at)
            return false;
        memcpy(out + *at, in->at, length);
        in->at += length;
        *at += length;
        return true;
    }
    if ((tag & 3) == 1) {
        length = (size_t)((tag >> 2) & 7) + 4;
        offset |= (size_t)(tag >> 5) << 8;
    }
    if (offset == 0 || offset > *at || length > size - *at)
        return false;
    for (size_t i = 0; i < length; i++, ++*at) /* may read what it writes: a run */
        out[*at] = out[*at - offset];
    return true;
}

/* The block as it was before snappy; *out is owned, *size 0 for damage. */
static leat_status unpack(leati_wire in, uint8_t **out, size_t *size, leat_error *err) {
    uint64_t whole = 0;
    size_t at = 0;
    *out = NULL;
    *size = 0;
    if (!leati_wire_varint(&in, &whole) || whole / MOST_RATIO > (uint64_t)(in.end - in.at))
        return LEAT_OK;
    *out = leati_alloc((size_t)whole, 1);
    if (*out == NULL)
        return leati_no_memory(err);
    while (in.at < in.end)
        if (!unpack_element(&in, *out, &at, (size_t)whole))
            return LEAT_OK;
    *size = at == whole ? at : 0;
    return LEAT_OK;
}

/* ---- reading ---- */

struct reading {
    const char *path;
    const uint8_t *data;
    size_t size;
    leati_writer key;
    bool has_key;
    size_t keys, stored; /* bytes of all keys, and of the blocks that they stand in */
    uint64_t behind;     /* the end of the block before: each is read once */
    leati_table_function function;
    void *context;
};

static leat_status damaged(const struct reading *r, uint64_t byte, const char *what,
                           leat_error *err) {
    return leati_fail_in_file(err, LEAT_DATA_LOSS, r->path, (int64_t)byte, false,
                              "not an index of a checkpoint, or damaged: %s", what);
}

/* The entries of the block at a place. `copy` is what they were unpacked to, or NULL (leati_free).
 */
static leat_status open_block(struct reading *r, uint64_t at, uint64_t size, leati_wire *out,
                              uint8_t **copy, leat_error *err) {
    *copy = NULL;
    if (at > r->size || size > r->size - at || r->size - at - size < TRAILER)
        return damaged(r, at, "a block lies outside of the file", err);
    const uint8_t *block = r->data + at;
    uint32_t found = leati_crc_mask(leati_crc_crc32c(block, (size_t)size + 1));
    uint32_t stored = leati_wire_load32(block + size + 1);
    if (found != stored)
        return leati_fail_in_file(err, LEAT_DATA_LOSS, r->path, (int64_t)at, false,
                                  "the checksum of a block of the index is 0x%08x; expected 0x%08x",
                                  found, stored);
    *out = (leati_wire){block, block + size};
    if (block[size] == SNAPPY) {
        size_t whole = 0;
        LEATI_TRY(unpack(*out, copy, &whole, err));
        *out = (leati_wire){*copy, *copy == NULL ? NULL : *copy + whole};
    } else if (block[size] != PLAIN) {
        return damaged(r, at + size, "a block is compressed in an unknown way", err);
    }
    size_t length = out->at == NULL ? 0 : (size_t)(out->end - out->at);
    uint32_t restarts = length < 4 ? 0 : leati_wire_load32(out->end - 4);
    if (length < 4 || restarts > (length - 4) / 4)
        return damaged(r, at, "a block's list of keys", err);
    out->end -= 4 + (size_t)restarts * 4;
    r->stored += length;
    return LEAT_OK;
}

/* Moves over one entry: the key goes to `key`, *value is a view. False for damage. */
static bool next_entry(leati_wire *in, leati_writer *key, leat_string *value) {
    uint64_t shared = 0, own = 0, size = 0;
    if (!leati_wire_varint(in, &shared) || !leati_wire_varint(in, &own) ||
        !leati_wire_varint(in, &size) || shared > key->size || own > (uint64_t)(in->end - in->at) ||
        size > (uint64_t)(in->end - in->at) - own)
        return false;
    key->size = (size_t)shared;
    leati_put_raw(key, in->at, (size_t)own);
    *value = (leat_string){(const char *)in->at + own, (size_t)size};
    in->at += own + size;
    return true;
}

/* Is a key behind the one before? */
static bool ascends(const leati_writer *before, leat_string key) {
    size_t n = LEATI_MIN(before->size, key.size);
    int order = n == 0 ? 0 : memcmp(key.data, before->data, n);
    return order > 0 || (order == 0 && key.size > before->size);
}

static leat_status read_block(struct reading *r, leati_wire place, leat_error *err) {
    uint64_t at = 0, size = 0;
    leati_wire in;
    uint8_t *copy = NULL;
    leati_writer key = {0};
    leat_string value;
    if (!leati_wire_varint(&place, &at) || !leati_wire_varint(&place, &size))
        return damaged(r, r->size - FOOTER, "the place of a block", err);
    if (at < r->behind)
        return damaged(r, at, "its blocks overlap", err);
    r->behind = at + LEATI_MIN(size, r->size);
    leat_status status = open_block(r, at, size, &in, &copy, err);
    while (status == LEAT_OK && in.at < in.end) {
        if (!next_entry(&in, &key, &value)) {
            status = damaged(r, at, "an entry is cut", err);
            break;
        }
        leat_string text = {(const char *)key.data, key.size};
        r->keys += key.size;
        if (key.failed)
            status = leati_no_memory(err);
        else if ((r->has_key && !ascends(&r->key, text)) || r->keys / MOST_KEY_RATIO > r->stored)
            status = damaged(r, at, "its keys do not ascend, or are too long", err);
        else
            status = r->function(r->context, text, value, at, err);
        r->key.size = 0;
        leati_put_raw(&r->key, text.data, text.size);
        r->has_key = true;
        if (status == LEAT_OK && r->key.failed)
            status = leati_no_memory(err);
    }
    leati_free(copy);
    leati_writer_fini(&key);
    return status;
}

leat_status leati_table_read(const char *path, const void *data, size_t size,
                             leati_table_function function, void *context, leat_error *err) {
    struct reading r = {.path = path, .data = data, .size = size};
    uint64_t at = 0, length = 0;
    leati_wire index;
    uint8_t *copy = NULL;
    leati_writer key = {0};
    leat_string value;
    r.function = function;
    r.context = context;
    if (size < FOOTER || leati_wire_load64(r.data + size - 8) != MAGIC)
        return damaged(&r, size < 8 ? 0 : size - 8, "its last bytes are not a table's", err);
    leati_wire footer = {r.data + size - FOOTER, r.data + size - 8};
    if (!leati_wire_varint(&footer, &at) || !leati_wire_varint(&footer, &length) ||
        !leati_wire_varint(&footer, &at) || !leati_wire_varint(&footer, &length))
        return damaged(&r, size - FOOTER, "the place of its blocks", err);
    leat_status status = open_block(&r, at, length, &index, &copy, err);
    r.stored = 0;
    while (status == LEAT_OK && index.at < index.end) {
        if (!next_entry(&index, &key, &value))
            status = damaged(&r, at, "an entry is cut", err);
        else if (key.failed)
            status = leati_no_memory(err);
        else
            status = read_block(
                &r,
                (leati_wire){(const uint8_t *)value.data, (const uint8_t *)value.data + value.size},
                err);
    }
    leati_free(copy);
    leati_writer_fini(&key);
    leati_writer_fini(&r.key);
    return status;
}
