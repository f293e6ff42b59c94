/* Re-encoding and checksums of blocks for verification mode; see verify.h for what it is for.
 *
 * A re-encoded column lies in fresh memory of 2n + 1 row slots whose odd ones are used. Row i is
 * slot 2i + 1 where the stride is doubled, or slot 2(n - 1 - i) + 1 where the order is reversed by
 * row numbers; columns of one block share the array of numbers, as after a filter. String bytes are
 * not copied, only kept alive. Failures: RESOURCE_EXHAUSTED, with `out` empty. No locks. */
#include "core/verify.h"

#include "base/error.h"
#include "base/hash.h"
#include <inttypes.h>
#include <string.h>

#define POISON_BYTE 0xA5
#define POISON_TEXT "poison"

enum way { WAY_SAME, WAY_STRIDE, WAY_REVERSED, WAY_TENSORS, NUM_WAYS };

static uint64_t next_random(uint64_t *state) {
    *state += 0x9E3779B97F4A7C15u; /* splitmix64 */
    uint64_t x = *state;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

static bool uniform(const leati_column *column, int64_t n) {
    /* The other forms have one shape for all rows. */
    if (column->form != LEATI_TENSORS)
        return true;
    leat_shape first = leati_column_row_shape(column, 0);
    for (int64_t i = 1; i < n; i++) {
        leat_shape shape = leati_column_row_shape(column, i);
        if (!leati_shape_equal(&first, &shape))
            return false;
    }
    return true;
}

static size_t row_bytes_of(const leati_column *column) {
    return column->form == LEATI_TENSORS ? leat_tensor_bytes(&column->tensors[0])
                                         : leati_column_row_bytes(column);
}

/* `slots` rows of poison. Objects have NULL for poison. */
static leat_buffer *poisoned(leat_dtype dtype, size_t slots, size_t row_bytes, leat_error *err) {
    size_t bytes = slots * row_bytes;
    if (dtype == LEAT_OBJECT)
        return leati_buffer_of_objects((int64_t)(bytes / sizeof(leat_object *)), err);
    leat_buffer *buffer = leat_buffer_new(bytes, err);
    if (buffer == NULL)
        return NULL;
    if (dtype != LEAT_STRING) {
        memset(buffer->data, POISON_BYTE, bytes);
        return buffer;
    }
    leat_string *strings = buffer->data;
    for (size_t i = 0; i < bytes / sizeof *strings; i++)
        strings[i] = (leat_string){.data = POISON_TEXT, .size = sizeof POISON_TEXT - 1};
    return buffer;
}

/* Puts the rows into odd slots of fresh memory: doubled stride, or reversed where `rows` are given.
 */
static leat_status spread(const leati_column *column, int64_t n, leat_buffer *rows,
                          leati_column *out, leat_error *err) {
    size_t row_bytes = row_bytes_of(column);
    leat_shape shape = leati_column_row_shape(column, 0);
    leat_buffer *owner = poisoned(column->dtype, 2 * (size_t)n + 1, row_bytes, err);
    if (owner == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = leati_column_hold(column, 0, n, owner, err);
    if (status != LEAT_OK) {
        leat_buffer_unref(owner);
        return status;
    }
    char *base = owner->data;
    int64_t size = (int64_t)row_bytes;
    if (rows != NULL) {
        /* From the last odd slot downwards. */
        leati_column_gather(column, 0, n, base + (2 * n - 1) * size, -2 * size);
        leati_column_strided(out, column->dtype, &shape, base, size, owner);
        out->form = LEATI_SELECTED;
        out->rows = leat_buffer_data(rows);
        out->rows_owner = leat_buffer_ref(rows);
    } else {
        leati_column_gather(column, 0, n, base + size, 2 * size);
        leati_column_strided(out, column->dtype, &shape, base + size, 2 * size, owner);
    }
    return LEAT_OK;
}

/* Each row a tensor of its own in memory of its own. */
static leat_status scatter(const leati_column *column, int64_t n, leati_column *out,
                           leat_error *err) {
    leat_buffer *owner = leati_buffer_of_tensors(n, err);
    if (owner == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_tensor *tensors = leat_buffer_data(owner);
    leat_status status = LEAT_OK;
    for (int64_t i = 0; status == LEAT_OK && i < n; i++)
        status = leat_tensor_copy_of(column->dtype, leati_column_row_shape(column, i),
                                     leati_column_row(column, i), &tensors[i], err);
    if (status != LEAT_OK) {
        leat_buffer_unref(owner);
        return status;
    }
    leati_column_tensors(out, column->dtype, owner);
    return LEAT_OK;
}

static leat_status make_constant(const leati_column *column, leati_column *out, leat_error *err) {
    leat_tensor row;
    LEATI_TRY(leat_tensor_copy_of(column->dtype, leati_column_row_shape(column, 0),
                                  leati_column_row(column, 0), &row, err));
    leati_column_constant(out, &row);
    leat_tensor_unref(&row);
    return LEAT_OK;
}

static leat_buffer *reversed_rows(int64_t n, leat_error *err) {
    leat_buffer *buffer = leat_buffer_new((size_t)n * sizeof(uint32_t), err);
    if (buffer == NULL)
        return NULL;
    uint32_t *rows = buffer->data;
    /* Row i lies at the odd slot i from the end. */
    for (int64_t i = 0; i < n; i++)
        rows[i] = (uint32_t)(2 * (n - 1 - i) + 1);
    return buffer;
}

static leat_status reencode_column(const leati_column *column, int64_t n, enum way way,
                                   leat_buffer *rows, leati_column *out, leat_error *err) {
    if (way == WAY_SAME) {
        leati_column_copy(column, out);
        return LEAT_OK;
    }
    if (!uniform(column, n) || way == WAY_TENSORS)
        return scatter(column, n, out, err);
    if (n == 1)
        return make_constant(column, out, err);
    return spread(column, n, way == WAY_REVERSED ? rows : NULL, out, err);
}

leat_status leati_verify_reencode(const leati_block *block, uint64_t seed, leati_block *out,
                                  leat_error *err) {
    /* Slot numbers are 32 bits. */
    if (block->n == 0 || block->n > UINT32_MAX / 2 - 1)
        return leati_block_slice(block, 0, block->n, out, err);
    leat_status status = leati_block_prepare(out, block->num_columns, err);
    if (status != LEAT_OK)
        return status;
    leat_buffer *rows = reversed_rows(block->n, err);
    if (rows == NULL)
        status = LEAT_RESOURCE_EXHAUSTED;
    for (int32_t c = 0; status == LEAT_OK && c < block->num_columns; c++) {
        /* Each column by itself: operators must not take one column's form for that of all. */
        enum way way = (enum way)(next_random(&seed) % NUM_WAYS);
        status = reencode_column(&block->columns[c], block->n, way, rows, &out->columns[c], err);
    }
    leat_buffer_unref(rows);
    if (status != LEAT_OK) {
        leati_block_clear(out);
        return status;
    }
    out->n = block->n;
    return LEAT_OK;
}

static uint64_t hash_row(const leati_column *column, int64_t i, uint64_t hash) {
    leat_shape shape = leati_column_row_shape(column, i);
    const void *values = leati_column_row(column, i);
    int64_t count = leati_shape_count(&shape);
    /* The rank is part of it: [0, 3] and [0] have the same values. */
    hash = leati_hash(shape.dims, (size_t)shape.rank * sizeof shape.dims[0],
                      hash + (uint64_t)shape.rank);
    if (column->dtype != LEAT_STRING)
        return count > 0 ? leati_hash(values, (size_t)count * leat_dtype_size(column->dtype), hash)
                         : hash;
    const leat_string *strings = values;
    for (int64_t k = 0; k < count; k++) {
        hash = leati_hash(&strings[k].size, sizeof strings[k].size, hash);
        if (strings[k].size > 0)
            hash = leati_hash(strings[k].data, strings[k].size, hash);
    }
    return hash;
}

uint64_t leati_block_checksum(const leati_block *block) {
    uint64_t hash = (uint64_t)block->n;
    for (int32_t c = 0; c < block->num_columns; c++) {
        const leati_column *column = &block->columns[c];
        const char *name = leat_dtype_name(column->dtype);
        hash = leati_hash(name, strlen(name), hash);
        for (int64_t i = 0; i < block->n; i++)
            hash = hash_row(column, i, hash);
    }
    return hash;
}

leat_status leati_block_check(const leati_block *block, const leat_spec *spec, leat_error *err) {
    int count = leat_spec_num_components(spec);
    if (block->num_columns != count)
        return leati_fail(err, LEAT_INTERNAL, "expected a block of %d columns, found %d", count,
                          (int)block->num_columns);
    for (int c = 0; c < count; c++) {
        const leati_column *column = &block->columns[c];
        leat_dtype dtype = leat_spec_component_dtype(spec, c);
        leat_shape expected = leat_spec_component_shape(spec, c);
        if (block->n > 0 && column->dtype != dtype)
            return leati_fail(err, LEAT_INTERNAL, "column %d: expected %s, found %s", c,
                              leat_dtype_name(dtype), leat_dtype_name(column->dtype));
        for (int64_t i = 0; i < block->n; i++) {
            leat_shape found = leati_column_row_shape(column, i);
            char want[128];
            char have[128];
            if (!leati_shape_compatible(&expected, &found))
                return leati_fail(
                    err, LEAT_INTERNAL, "column %d, row %" PRId64 ": expected shape %s, found %s",
                    c, i, leati_shape_text(&expected, want), leati_shape_text(&found, have));
            /* One row stands for all; only arrays of tensors have a shape for each. */
            if (column->form != LEATI_TENSORS)
                break;
        }
    }
    return LEAT_OK;
}
