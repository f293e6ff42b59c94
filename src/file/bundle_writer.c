/* The index of a checkpoint in TensorFlow's format (bundle.c reads it).
 *
 * Each tensor that is added takes the next bytes of the one data file; its checksum is made at
 * once, and its message is kept until the end, where the names are sorted, as a table wants them. A
 * string tensor has its bytes made here: lengths as varints, a checksum of these, and the strings.
 * Failures: INVALID_ARGUMENT for what cannot be saved, ALREADY_EXISTS for a name that comes twice,
 * no memory. No locks: one owner. */
#include "base/alloc.h"
#include "base/error.h"
#include "file/crc.h"
#include "file/table.h"
#include "file/tensor_proto.h"
#include <leat/file.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADER_SHARDS = 1, /* fields of BundleHeaderProto and of the version in it */
    HEADER_FORMAT = 3,
    FORMAT_PRODUCER = 1,
    PRODUCER = 1,
    FIELD_DTYPE = 1, /* fields of BundleEntryProto */
    FIELD_SHAPE = 2,
    FIELD_SHARD = 3,
    FIELD_OFFSET = 4,
    FIELD_SIZE = 5,
    FIELD_CRC = 6,
    MOST_FILES = 99999,
};

struct row {
    char *name; /* owned */
    leati_writer message;
};

struct leat_bundle_writer {
    struct row *rows;
    size_t count, capacity;
    int shard, num_shards;
    uint64_t offset; /* where the next tensor begins */
};

leat_bundle_writer *leat_bundle_writer_new(int shard, int num_shards, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_bundle_writer *writer = NULL;
    if (shard < 0 || shard >= num_shards || num_shards > MOST_FILES) {
        leati_refuse(err, VALUE, "file %d of %d; expected a number from 0 below at most %d", shard,
                     num_shards, MOST_FILES);
        return NULL;
    }
    writer = leati_alloc_zero(1, sizeof *writer);
    if (writer == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    writer->shard = shard;
    writer->num_shards = num_shards;
    return writer;
}

void leat_bundle_writer_free(leat_bundle_writer *writer) {
    if (writer == NULL)
        return;
    for (size_t i = 0; i < writer->count; i++) {
        leati_free(writer->rows[i].name);
        leati_writer_fini(&writer->rows[i].message);
    }
    leati_free(writer->rows);
    leati_free(writer);
}

/* Numbers of 0 are left out, as protobuf does. */
static void put_number(leati_writer *out, uint32_t field, uint64_t value) {
    if (value != 0)
        leati_tensor_proto_put_number_field(out, field, value);
}

/* The bytes of strings; *crc is that of the entry. */
static leat_status pack_strings(const leat_tensor *tensor, leat_buffer **out, uint32_t *crc,
                                leat_error *err) {
    const leat_string *values = tensor->data;
    int64_t count = leat_tensor_count(tensor);
    size_t size = 4;
    bool fits = true;
    for (int64_t i = 0; i < count && fits; i++)
        fits = leati_add_size(size, leati_wire_varint_size(values[i].size), &size) &&
               leati_add_size(size, values[i].size, &size);
    *out = fits ? leat_buffer_new(size, err) : NULL;
    if (*out == NULL)
        return fits ? LEAT_RESOURCE_EXHAUSTED : leati_no_memory(err);
    uint8_t *at = leat_buffer_data(*out), length[8];
    *crc = 0;
    for (int64_t i = 0; i < count; i++) {
        at = leati_wire_put_varint(at, values[i].size);
        leati_wire_store64(length, values[i].size);
        *crc = leati_crc_crc32c_extend(*crc, length, values[i].size > UINT32_MAX ? 8 : 4);
    }
    leati_wire_store32(at, leati_crc_mask(*crc));
    *crc = leati_crc_crc32c_extend(*crc, at, 4);
    at += 4;
    for (int64_t i = 0; i < count; i++) {
        if (values[i].size > 0)
            memcpy(at, values[i].data, values[i].size);
        *crc = leati_crc_crc32c_extend(*crc, at, values[i].size);
        at += values[i].size;
    }
    return LEAT_OK;
}

static void put_entry(leati_writer *out, const leat_bundle_writer *writer,
                      const leat_tensor *tensor, uint64_t size, uint32_t crc) {
    leat_shape shape = leat_tensor_shape(tensor);
    leati_writer dims = {0};
    uint8_t bytes[5] = {FIELD_CRC << 3 | LEATI_WIRE_FIXED32};
    leati_tensor_proto_put_shape(&dims, &shape);
    put_number(out, FIELD_DTYPE, leati_tensor_proto_of_dtype(tensor->dtype));
    leati_tensor_proto_put_field(out, FIELD_SHAPE, dims.data, dims.size);
    put_number(out, FIELD_SHARD, (uint64_t)writer->shard);
    put_number(out, FIELD_OFFSET, writer->offset);
    put_number(out, FIELD_SIZE, size);
    leati_wire_store32(bytes + 1, leati_crc_mask(crc));
    leati_put_raw(out, bytes, sizeof bytes);
    out->failed = out->failed || dims.failed;
    leati_writer_fini(&dims);
}

leat_status leat_bundle_writer_add(leat_bundle_writer *writer, const char *name,
                                   const leat_tensor *tensor, leat_buffer **bytes,
                                   leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_buffer *packed = NULL;
    uint32_t crc = 0;
    if (*name == 0)
        return leati_refuse(err, VALUE, "a tensor in a checkpoint needs a name");
    if (leati_tensor_proto_of_dtype(tensor->dtype) == 0)
        return leati_refuse(err, DTYPE, "\"%.80s\" is %s; a checkpoint holds numbers and strings",
                            name, leat_dtype_name(tensor->dtype));
    void *rows = writer->rows;
    if (!leati_grow(&rows, &writer->capacity, writer->count + 1, sizeof *writer->rows))
        return leati_no_memory(err);
    writer->rows = rows;
    if (tensor->dtype == LEAT_STRING)
        LEATI_TRY(pack_strings(tensor, &packed, &crc, err));
    else
        LEATI_TRY(leati_crc_of_many(tensor->data, leat_tensor_bytes(tensor), &crc, err));
    uint64_t size = packed != NULL ? leat_buffer_size(packed) : leat_tensor_bytes(tensor);
    struct row row = {.name = leati_strdup(name)};
    put_entry(&row.message, writer, tensor, size, crc);
    if (row.name == NULL || row.message.failed) {
        leati_free(row.name);
        leati_writer_fini(&row.message);
        leat_buffer_unref(packed);
        return leati_no_memory(err);
    }
    writer->rows[writer->count++] = row;
    writer->offset += size;
    *bytes = packed;
    return LEAT_OK;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct row *)a)->name, ((const struct row *)b)->name);
}

static void put_header(leati_table_writer *table, int num_shards) {
    leati_writer header = {0}, version = {0};
    put_number(&version, FORMAT_PRODUCER, PRODUCER);
    put_number(&header, HEADER_SHARDS, (uint64_t)num_shards);
    leati_tensor_proto_put_field(&header, HEADER_FORMAT, version.data, version.size);
    leati_table_put(table, (leat_string){"", 0},
                    (leat_string){(const char *)header.data, header.size});
    table->out.failed = table->out.failed || header.failed || version.failed;
    leati_writer_fini(&version);
    leati_writer_fini(&header);
}

leat_buffer *leat_bundle_writer_index(leat_bundle_writer *writer, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leati_table_writer table = {0};
    leat_buffer *out = NULL;
    if (writer->count > 0)
        qsort(writer->rows, writer->count, sizeof *writer->rows, by_name);
    for (size_t i = 1; i < writer->count; i++)
        if (strcmp(writer->rows[i - 1].name, writer->rows[i].name) == 0) {
            leati_fail(err, LEAT_ALREADY_EXISTS,
                       "two tensors are called \"%.80s\"; names in a checkpoint are unique",
                       writer->rows[i].name);
            return NULL;
        }
    put_header(&table, writer->num_shards);
    for (size_t i = 0; i < writer->count; i++) {
        const struct row *row = &writer->rows[i];
        leati_table_put(&table, (leat_string){row->name, strlen(row->name)},
                        (leat_string){(const char *)row->message.data, row->message.size});
    }
    if (leati_table_end(&table, err) == LEAT_OK)
        out = leat_buffer_new(table.out.size, err);
    if (out != NULL)
        memcpy(leat_buffer_data(out), table.out.data, table.out.size);
    leati_table_writer_fini(&table);
    return out;
}
