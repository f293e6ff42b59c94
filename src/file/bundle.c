/* TensorFlow's checkpoints: an index, which is a sorted table of messages, and files of bytes.
 *
 * Reading: the index comes in one buffer, its entries are checked one after another against each
 * other and kept; a tensor is read from its file in one go once its place lies inside of the file,
 * and then its checksum is compared. Strings are their lengths as varints, a checksum of these, and
 * their bytes; they become views of what was read. Writing: entries are sorted at the end.
 * Failures: DATA_LOSS with file and byte for damage, NOT_FOUND for files that are gone,
 * UNIMPLEMENTED for tensors in parts (of partitioned variables) and dtypes that leat lacks. No
 * locks: one owner. */
#include "base/alloc.h"
#include "base/error.h"
#include "core/spec.h"
#include "file/crc.h"
#include "file/fs.h"
#include "file/table.h"
#include "file/tensor_proto.h"
#include <leat/file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* Fields of BundleHeaderProto, VersionDef and BundleEntryProto. */
    HEADER_NUM_SHARDS = 1,
    HEADER_ENDIANNESS = 2,
    HEADER_VERSION = 3,
    VERSION_PRODUCER = 1,
    VERSION_MIN_CONSUMER = 2,
    ENTRY_DTYPE = 1,
    ENTRY_SHAPE = 2,
    ENTRY_SHARD = 3,
    ENTRY_OFFSET = 4,
    ENTRY_SIZE = 5,
    ENTRY_CRC = 6,
    ENTRY_SLICES = 7,
    VERSION = 1, /* of the format that is written and read */
    MOST_SHARDS = 99999,
};

struct entry {
    leat_bundle_entry public; /* the name is owned */
    uint32_t crc;
};

struct leat_bundle {
    char *prefix, *index_path;
    struct entry *entries; /* by name */
    size_t count, capacity;
    bool has_header;
    int num_shards;
    leati_file *file; /* the data file that was read last, or NULL */
    int file_shard;
};

/* "PREFIX.data-00000-of-00001"; leati_free. */
static char *data_path(const char *prefix, int shard, int num_shards) {
    size_t room = strlen(prefix) + 40;
    char *path = leati_alloc(room, 1);
    if (path != NULL)
        snprintf(path, room, "%s.data-%05d-of-%05d", prefix, shard, num_shards);
    return path;
}

/* ---- reading the index ---- */

static leat_status damaged(const leat_bundle *bundle, uint64_t byte, const char *name,
                           const char *what, leat_error *err) {
    return leati_fail_in_file(err, LEAT_DATA_LOSS, bundle->index_path, (int64_t)byte, false,
                              "not an index of a checkpoint, or damaged: \"%.80s\": %s", name,
                              what);
}

static bool read_version(leati_wire wire, uint64_t *min_consumer) {
    leati_wire_field field;
    while (wire.at < wire.end) {
        if (!leati_wire_next(&wire, &field))
            return false;
        if (field.number == VERSION_MIN_CONSUMER && field.type == LEATI_WIRE_VARINT)
            *min_consumer = field.value;
    }
    return true;
}

static leat_status read_header(leat_bundle *bundle, leati_wire wire, uint64_t byte,
                               leat_error *err) {
    leati_wire_field field;
    uint64_t shards = 0, endianness = 0, min_consumer = 0;
    while (wire.at < wire.end) {
        if (!leati_wire_next(&wire, &field))
            return damaged(bundle, byte, "", "its header", err);
        if (field.number == HEADER_NUM_SHARDS && field.type == LEATI_WIRE_VARINT)
            shards = field.value;
        else if (field.number == HEADER_ENDIANNESS && field.type == LEATI_WIRE_VARINT)
            endianness = field.value;
        else if (field.number == HEADER_VERSION && field.type == LEATI_WIRE_BYTES &&
                 !read_version(field.bytes, &min_consumer))
            return damaged(bundle, byte, "", "its header's version", err);
    }
    if (endianness != 0)
        return leati_fail_in_file(err, LEAT_UNIMPLEMENTED, bundle->index_path, (int64_t)byte, false,
                                  "a checkpoint of a big-endian machine; load and save it there "
                                  "in another format");
    if (min_consumer > VERSION)
        return leati_fail_in_file(err, LEAT_UNIMPLEMENTED, bundle->index_path, (int64_t)byte, false,
                                  "a checkpoint for readers of version %llu and up; this is "
                                  "version %d",
                                  (unsigned long long)min_consumer, VERSION);
    if (shards < 1 || shards > MOST_SHARDS)
        return damaged(bundle, byte, "", "its number of files", err);
    bundle->num_shards = (int)shards;
    bundle->has_header = true;
    return LEAT_OK;
}

/* Takes the fields; false for damage. */
static bool read_fields(leati_wire wire, struct entry *entry) {
    leat_bundle_entry *e = &entry->public;
    leati_wire_field field;
    uint64_t dtype = 0, shard = 0, offset = 0, size = 0;
    while (wire.at < wire.end) {
        if (!leati_wire_next(&wire, &field))
            return false;
        bool is_number = field.type == LEATI_WIRE_VARINT;
        if (field.number == ENTRY_SHAPE && field.type == LEATI_WIRE_BYTES) {
            if (!leati_tensor_proto_shape(field.bytes, &e->shape))
                return false;
        } else if (field.number == ENTRY_SLICES) {
            e->is_sliced = true;
        } else if (field.number == ENTRY_CRC && field.type == LEATI_WIRE_FIXED32) {
            entry->crc = (uint32_t)field.value;
        } else if (is_number) {
            *(field.number == ENTRY_DTYPE    ? &dtype
              : field.number == ENTRY_SHARD  ? &shard
              : field.number == ENTRY_OFFSET ? &offset
              : field.number == ENTRY_SIZE   ? &size
                                             : &field.value) = field.value;
        }
    }
    if (dtype == 0 || dtype > INT32_MAX || shard >= MOST_SHARDS || offset > INT64_MAX ||
        size > INT64_MAX - offset)
        return false;
    e->dtype = leati_tensor_proto_dtype(dtype);
    e->dtype_number = (int)dtype;
    e->shard = (int)shard;
    e->offset = (int64_t)offset;
    e->bytes = (int64_t)size;
    return true;
}

/* Bytes of a value; 0: they differ, or are not known. */
static size_t value_size(const leat_bundle_entry *entry) {
    return entry->dtype == LEAT_STRING || entry->dtype == LEAT_INVALID
               ? 0
               : leat_dtype_size(entry->dtype);
}

/* Do dtype, shape, file and size go together? NULL: they do. */
static const char *check_fields(const leat_bundle *bundle, const leat_bundle_entry *e) {
    size_t bytes = value_size(e) > 0 ? value_size(e) : 1;
    for (int32_t d = 0; d < e->shape.rank; d++)
        if (e->shape.dims[d] < 0 || !leati_mul_size(bytes, (size_t)e->shape.dims[d], &bytes))
            return "its shape";
    if (e->shape.rank < 0)
        return "its shape";
    if (e->shard >= bundle->num_shards)
        return "its file's number";
    if (e->is_sliced || e->dtype == LEAT_INVALID)
        return value_size(e) > 0 && !e->is_sliced && (uint64_t)e->bytes != bytes ? "its size"
                                                                                 : NULL;
    /* Each string takes at least the byte that says how long it is. */
    if (e->dtype == LEAT_STRING ? bytes + 4 < bytes || (uint64_t)e->bytes < bytes + 4
                                : (uint64_t)e->bytes != bytes)
        return "its size";
    return NULL;
}

static leat_status add_entry(void *context, leat_string key, leat_string value, uint64_t byte,
                             leat_error *err) {
    leat_bundle *bundle = context;
    const uint8_t *bytes = (const uint8_t *)value.data;
    leati_wire wire = {bytes, bytes + value.size};
    if (!bundle->has_header)
        return key.size == 0 ? read_header(bundle, wire, byte, err)
                             : damaged(bundle, byte, "", "it has no header", err);
    if (key.data[0] == 0) /* a part of a tensor that is sliced */
        return LEAT_OK;
    struct entry entry = {0};
    entry.public.shape = LEAT_SCALAR;
    char *name = leati_strndup(key.data, key.size);
    if (name == NULL)
        return leati_no_memory(err);
    const char *wrong = memchr(key.data, 0, key.size) != NULL ? "its name has a byte of 0"
                        : !read_fields(wire, &entry)          ? "its fields"
                                                              : check_fields(bundle, &entry.public);
    void *entries = bundle->entries;
    leat_status status = wrong != NULL ? damaged(bundle, byte, name, wrong, err) : LEAT_OK;
    if (status == LEAT_OK &&
        !leati_grow(&entries, &bundle->capacity, bundle->count + 1, sizeof entry))
        status = leati_no_memory(err);
    if (status != LEAT_OK) {
        leati_free(name);
        return status;
    }
    bundle->entries = entries;
    entry.public.name = name;
    bundle->entries[bundle->count++] = entry;
    return LEAT_OK;
}

static leat_status read_index(leat_bundle *bundle, leat_error *err) {
    leat_buffer *buffer = NULL;
    leat_status status = leati_file_read_all(bundle->index_path, &buffer, err);
    if (status == LEAT_OK)
        status = leati_table_read(bundle->index_path, leat_buffer_data(buffer),
                                  leat_buffer_size(buffer), add_entry, bundle, err);
    if (status == LEAT_OK && !bundle->has_header)
        status = damaged(bundle, 0, "", "it has no header", err);
    leat_buffer_unref(buffer);
    return status;
}

leat_bundle *leat_bundle_open(const char *prefix, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_bundle *bundle = leati_alloc_zero(1, sizeof *bundle);
    if (bundle == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    size_t size = strlen(prefix);
    bundle->prefix = leati_strdup(prefix);
    bundle->index_path = leati_alloc(size + sizeof ".index", 1);
    leat_status status = LEAT_OK;
    if (bundle->prefix == NULL || bundle->index_path == NULL) {
        status = leati_no_memory(err);
    } else {
        memcpy(bundle->index_path, prefix, size);
        memcpy(bundle->index_path + size, ".index", sizeof ".index");
        status = read_index(bundle, err);
    }
    if (status == LEAT_OK)
        return bundle;
    leat_bundle_free(bundle);
    return NULL;
}

void leat_bundle_free(leat_bundle *bundle) {
    if (bundle == NULL)
        return;
    for (size_t i = 0; i < bundle->count; i++)
        leati_free((char *)(uintptr_t)bundle->entries[i].public.name);
    leati_file_close(bundle->file);
    leati_free(bundle->entries);
    leati_free(bundle->prefix);
    leati_free(bundle->index_path);
    leati_free(bundle);
}

int64_t leat_bundle_count(const leat_bundle *bundle) {
    return (int64_t)bundle->count;
}

int leat_bundle_num_shards(const leat_bundle *bundle) {
    return bundle->num_shards;
}

static leat_status check_number(const leat_bundle *bundle, int64_t index, leat_error *err) {
    return index >= 0 && (size_t)index < bundle->count
               ? LEAT_OK
               : leati_fail(err, LEAT_OUT_OF_RANGE,
                            "tensor %lld of a checkpoint of %zu; numbers begin at 0",
                            (long long)index, bundle->count);
}

leat_status leat_bundle_get(const leat_bundle *bundle, int64_t index, leat_bundle_entry *out,
                            leat_error *err) {
    LEATI_ERROR_DOOR(err);
    LEATI_TRY(check_number(bundle, index, err));
    *out = bundle->entries[index].public;
    return LEAT_OK;
}

int64_t leat_bundle_find(const leat_bundle *bundle, const char *name) {
    size_t low = 0, high = bundle->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(bundle->entries[middle].public.name, name);
        if (order == 0)
            return (int64_t)middle;
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return -1;
}

/* ---- reading values ---- */

static leat_status open_shard(leat_bundle *bundle, int shard, leat_error *err) {
    if (bundle->file != NULL && bundle->file_shard == shard)
        return LEAT_OK;
    leati_file_close(bundle->file);
    bundle->file = NULL;
    char *path = data_path(bundle->prefix, shard, bundle->num_shards);
    if (path == NULL)
        return leati_no_memory(err);
    leat_status status = leati_file_open(path, &bundle->file, err);
    bundle->file_shard = shard;
    leati_free(path);
    return status;
}

/* Reads the bytes of an entry to `to` and checks them against `crc`, except where NULL. */
static leat_status read_bytes(leat_bundle *bundle, const struct entry *entry, void *to,
                              leat_error *err) {
    const leat_bundle_entry *e = &entry->public;
    size_t got = 0;
    LEATI_TRY(leati_file_read_at(bundle->file, e->offset, to, (size_t)e->bytes, &got, err));
    if (got != (size_t)e->bytes)
        return leati_fail_in_file(err, LEAT_DATA_LOSS, bundle->file->path, e->offset, false,
                                  "it ended while \"%.80s\" was read: %zu of %lld bytes", e->name,
                                  got, (long long)e->bytes);
    return LEAT_OK;
}

static leat_status check_crc(leat_bundle *bundle, const struct entry *entry, uint32_t crc,
                             leat_error *err) {
    const leat_bundle_entry *e = &entry->public;
    return leati_crc_mask(crc) == entry->crc
               ? LEAT_OK
               : leati_fail_in_file(err, LEAT_DATA_LOSS, bundle->file->path, e->offset, false,
                                    "the checksum of \"%.80s\", %lld bytes, is 0x%08x; expected "
                                    "0x%08x",
                                    e->name, (long long)e->bytes, leati_crc_mask(crc), entry->crc);
}

/* How the checksum goes on over one length: as 4 bytes, or as 8 where it does not fit. */
static uint32_t add_length(uint32_t crc, uint64_t length) {
    uint8_t bytes[8];
    leati_wire_store64(bytes, length);
    return leati_crc_crc32c_extend(crc, bytes, length > UINT32_MAX ? 8 : 4);
}

static leat_status bad_strings(leat_bundle *bundle, const struct entry *entry, leat_error *err) {
    return leati_fail_in_file(err, LEAT_DATA_LOSS, bundle->file->path, entry->public.offset, false,
                              "the lengths of the strings of \"%.80s\" are damaged",
                              entry->public.name);
}

/* Points the strings at their bytes. */
static leat_status find_strings(leat_bundle *bundle, const struct entry *entry,
                                const leat_buffer *buffer, leat_string *values, int64_t count,
                                leat_error *err) {
    const uint8_t *data = leat_buffer_data(buffer);
    leati_wire in = {data, data + entry->public.bytes};
    uint32_t crc = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t length = 0;
        if (!leati_wire_varint(&in, &length) || length > (uint64_t)(in.end - in.at))
            return bad_strings(bundle, entry, err);
        values[i].size = (size_t)length;
        crc = add_length(crc, length);
    }
    if (in.end - in.at < 4 || leati_wire_load32(in.at) != leati_crc_mask(crc))
        return bad_strings(bundle, entry, err);
    crc = leati_crc_crc32c_extend(crc, in.at, 4);
    in.at += 4;
    crc = leati_crc_crc32c_extend(crc, in.at, (size_t)(in.end - in.at));
    for (int64_t i = 0; i < count; i++) {
        if (values[i].size > (size_t)(in.end - in.at))
            return bad_strings(bundle, entry, err);
        values[i].data = (const char *)in.at;
        in.at += values[i].size;
    }
    return in.at == in.end ? check_crc(bundle, entry, crc, err) : bad_strings(bundle, entry, err);
}

static void release_strings(void *context, void *data, size_t size) {
    (void)size;
    leati_free(data);
    leat_buffer_unref(context);
}

static leat_status read_strings(leat_bundle *bundle, const struct entry *entry, leat_tensor *out,
                                leat_error *err) {
    const leat_bundle_entry *e = &entry->public;
    int64_t count = leati_shape_count(&e->shape);
    leat_buffer *bytes = leat_buffer_new((size_t)e->bytes, err);
    leat_string *values = leati_alloc((size_t)count, sizeof *values);
    leat_status status = bytes == NULL || values == NULL ? leati_no_memory(err) : LEAT_OK;
    if (status == LEAT_OK)
        status = read_bytes(bundle, entry, leat_buffer_data(bytes), err);
    if (status == LEAT_OK)
        status = find_strings(bundle, entry, bytes, values, count, err);
    if (status != LEAT_OK) {
        leati_free(values);
        leat_buffer_unref(bytes);
        return status;
    }
    *out = leat_tensor_view(LEAT_STRING, e->shape, values);
    /* Called on failure too. */
    out->owner =
        leat_buffer_adopt(values, (size_t)count * sizeof *values, release_strings, bytes, err);
    return out->owner != NULL ? LEAT_OK : LEAT_RESOURCE_EXHAUSTED;
}

leat_status leat_bundle_read(leat_bundle *bundle, int64_t index, leat_tensor *out,
                             leat_error *err) {
    LEATI_ERROR_DOOR(err);
    LEATI_TRY(check_number(bundle, index, err));
    const struct entry *entry = &bundle->entries[index];
    const leat_bundle_entry *e = &entry->public;
    if (e->is_sliced)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "\"%.80s\" lies in parts, of a partitioned variable; save it whole",
                          e->name);
    if (e->dtype != LEAT_STRING && value_size(e) == 0)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "\"%.80s\" is of TensorFlow's dtype number %d, which leat lacks; read it "
                          "there",
                          e->name, e->dtype_number);
    LEATI_TRY(open_shard(bundle, e->shard, err));
    if (bundle->file->size >= 0 && e->offset + e->bytes > bundle->file->size)
        return leati_fail_in_file(err, LEAT_DATA_LOSS, bundle->file->path, e->offset, false,
                                  "it has %lld bytes; \"%.80s\" would end at byte %lld",
                                  (long long)bundle->file->size, e->name,
                                  (long long)(e->offset + e->bytes));
    if (e->dtype == LEAT_STRING)
        return read_strings(bundle, entry, out, err);
    leat_tensor values = {0};
    leat_shape bytes = LEAT_SHAPE(e->bytes);
    LEATI_TRY(leat_tensor_new(e->dtype == LEAT_INVALID ? LEAT_UINT8 : e->dtype,
                              e->dtype == LEAT_INVALID ? bytes : e->shape, &values, err));
    leat_status status = read_bytes(bundle, entry, values.data, err);
    uint32_t crc = 0;
    if (status == LEAT_OK)
        status = leati_crc_of_many(values.data, (size_t)e->bytes, &crc, err);
    if (status == LEAT_OK)
        status = check_crc(bundle, entry, crc, err);
    if (status == LEAT_OK)
        *out = values;
    else
        leat_tensor_unref(&values);
    return status;
}
