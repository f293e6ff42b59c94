/* The store behind shuffle: see reservoir.h. Not thread-safe: one operator's state owns it. */
#include "data/values/reservoir.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include <string.h>

leat_status leati_reservoir_init(leati_reservoir *reservoir, const leat_spec *spec,
                                 leat_error *err) {
    memset(reservoir, 0, sizeof(*reservoir));
    int count = leat_spec_num_components(spec);
    reservoir->columns = leati_alloc_zero((size_t)count, sizeof(*reservoir->columns));
    if (reservoir->columns == NULL)
        return leati_no_memory(err);
    reservoir->num_columns = count;
    for (int c = 0; c < count; c++) {
        leati_reservoir_column *column = &reservoir->columns[c];
        column->dtype = leat_spec_component_dtype(spec, c);
        column->shape = leat_spec_component_shape(spec, c);
        int64_t values = leati_shape_count(&column->shape);
        /* Strings and objects refer to memory that a copy of their bytes would not keep alive. */
        bool plain = column->dtype != LEAT_STRING && column->dtype != LEAT_OBJECT && values > 0;
        size_t bytes = plain && values <= LEATI_RESERVOIR_ROW
                           ? (size_t)values * leat_dtype_size(column->dtype)
                           : 0;
        column->row_bytes = bytes <= LEATI_RESERVOIR_ROW ? bytes : 0;
    }
    return LEAT_OK;
}

void leati_reservoir_clear(leati_reservoir *reservoir) {
    for (int c = 0; c < reservoir->num_columns; c++) {
        leati_reservoir_column *column = &reservoir->columns[c];
        for (size_t i = 0; column->row_bytes == 0 && i < reservoir->size; i++)
            leat_tensor_unref(&column->tensors[i]);
    }
    reservoir->size = 0;
    reservoir->bytes = 0;
}

void leati_reservoir_fini(leati_reservoir *reservoir) {
    leati_reservoir_clear(reservoir);
    for (int c = 0; c < reservoir->num_columns; c++) {
        leati_free(reservoir->columns[c].data);
        leati_free(reservoir->columns[c].tensors);
    }
    leati_free(reservoir->columns);
    leati_free(reservoir->origins);
    leat_buffer_unref(reservoir->paths);
    leati_pools_close(&reservoir->pools);
    memset(reservoir, 0, sizeof(*reservoir));
}

static leat_status grow_column(leati_reservoir_column *column, size_t capacity, leat_error *err) {
    size_t row = column->row_bytes > 0 ? column->row_bytes : sizeof(leat_tensor);
    void *old = column->row_bytes > 0 ? (void *)column->data : (void *)column->tensors;
    void *memory = leati_alloc_resize(old, capacity, row);
    if (memory == NULL)
        return leati_no_memory(err);
    if (column->row_bytes > 0)
        column->data = memory;
    else
        column->tensors = memory;
    return LEAT_OK;
}

/* Without memory the origins are forgotten. */
static void grow_origins(leati_reservoir *reservoir, size_t capacity) {
    if (reservoir->origins == NULL)
        return;
    int64_t *larger = leati_alloc_resize(reservoir->origins, capacity, sizeof(*larger));
    if (larger == NULL)
        leati_free(reservoir->origins);
    reservoir->origins = larger;
}

leat_status leati_reservoir_grow(leati_reservoir *reservoir, size_t n, leat_error *err) {
    size_t needed = reservoir->size + n;
    /* Slots are numbers of 32 bits wherever they are kept. */
    if (needed > UINT32_MAX) {
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED, "a buffer of %zu elements; at most %u fit",
                          needed, UINT32_MAX);
    }
    if (needed > reservoir->capacity) {
        size_t capacity = LEATI_MAX(16, reservoir->capacity);
        while (capacity < needed)
            capacity += capacity / 2;
        for (int c = 0; c < reservoir->num_columns; c++)
            /* Where a later column gets no memory the earlier ones are larger than they need be,
             * and no more. */
            LEATI_TRY(grow_column(&reservoir->columns[c], capacity, err));
        grow_origins(reservoir, capacity);
        reservoir->capacity = capacity;
    }
    for (int c = 0; c < reservoir->num_columns; c++) {
        leati_reservoir_column *column = &reservoir->columns[c];
        /* Empty tensors, which clear may release; fixed rows are written before they are read. */
        if (column->row_bytes == 0 && n > 0)
            memset(column->tensors + reservoir->size, 0, n * sizeof(leat_tensor));
    }
    reservoir->size = needed;
    return LEAT_OK;
}

/* Origins of another table than the first mean nothing here. */
static void put_origin(leati_reservoir *reservoir, size_t slot, const leati_block *block,
                       int64_t row) {
    const leat_buffer *owner = block->origins.owner;
    leat_buffer *paths = owner != NULL && owner->num_holds == 1 ? owner->holds[0] : NULL;
    if (reservoir->origins == NULL) {
        reservoir->origins =
            paths == NULL ? NULL : leati_alloc_zero(reservoir->capacity, sizeof(int64_t));
        if (reservoir->origins == NULL)
            return;
        leat_buffer_unref(reservoir->paths);
        reservoir->paths = leat_buffer_ref(paths);
    }
    reservoir->origins[slot] = paths != NULL && paths == reservoir->paths
                                   ? *(const int64_t *)leati_column_row(&block->origins, row)
                                   : 0;
}

/* ---- moving rows ---- */

/* One column's share of an exchange; of fixed rows `bytes` is the size, a constant where that pays.
 */
__attribute__((always_inline)) static inline void
exchange_fixed(const leati_reservoir_column *column, const uint32_t *slots, int64_t n,
               const leati_column *to, int64_t row, const leati_column *from, int64_t next,
               int64_t puts, size_t bytes) {
    char *target = to == NULL ? NULL : to->data + row * to->stride;
    for (int64_t i = 0; i < n; i++) {
        /* Out before in, slot by slot: an element that was just put may be drawn again in the same
         * run. */
        char *kept = column->data + slots[i] * bytes;
        if (target != NULL) {
            memcpy(target, kept, bytes);
            target += to->stride;
        }
        if (i < puts)
            memcpy(kept, leati_column_row(from, next + i), bytes);
    }
}

static void exchange_tensors(leati_reservoir *reservoir, const leati_reservoir_column *column,
                             const uint32_t *slots, int64_t n, const leati_column *to, int64_t row,
                             const leati_column *from, int64_t next, int64_t puts) {
    for (int64_t i = 0; i < n; i++) {
        leat_tensor *kept = &column->tensors[slots[i]];
        if (to != NULL) {
            reservoir->bytes -= (int64_t)leat_tensor_bytes(kept);
            /* The reference moves: nothing is counted up or down. */
            ((leat_tensor *)to->tensors)[row + i] = *kept;
            memset(kept, 0, sizeof(*kept));
        }
        if (i < puts) {
            *kept = leati_column_tensor(from, next + i);
            reservoir->bytes += (int64_t)leat_tensor_bytes(kept);
        }
    }
}

static void exchange_origins(leati_reservoir *reservoir, const uint32_t *slots, int64_t n,
                             leati_block *out, int64_t row, const leati_block *in, int64_t next,
                             int64_t puts) {
    int64_t *target = out == NULL ? NULL : (int64_t *)(void *)out->origins.data;
    for (int64_t i = 0; i < n; i++) {
        if (target != NULL && reservoir->origins != NULL)
            target[row + i] = reservoir->origins[slots[i]];
        if (i < puts)
            put_origin(reservoir, slots[i], in, next + i);
    }
}

void leati_reservoir_exchange(leati_reservoir *reservoir, const uint32_t *slots, int64_t n,
                              leati_block *out, int64_t row, const leati_block *in, int64_t next,
                              int64_t puts) {
    if (reservoir->origins != NULL || (puts > 0 && in->origins.data != NULL))
        exchange_origins(reservoir, slots, n, out, row, in, next, puts);
    for (int c = 0; c < reservoir->num_columns; c++) {
        const leati_reservoir_column *column = &reservoir->columns[c];
        const leati_column *to = out == NULL ? NULL : &out->columns[c];
        const leati_column *from = puts == 0 ? NULL : &in->columns[c];
        switch (column->row_bytes) {
        case 0: exchange_tensors(reservoir, column, slots, n, to, row, from, next, puts); break;
        /* Of a constant size memcpy is a load and a store. */
        case 4: exchange_fixed(column, slots, n, to, row, from, next, puts, 4); break;
        case 8: exchange_fixed(column, slots, n, to, row, from, next, puts, 8); break;
        default:
            exchange_fixed(column, slots, n, to, row, from, next, puts, column->row_bytes);
            break;
        }
    }
}

int64_t leati_reservoir_bytes(const leati_reservoir *reservoir) {
    int64_t bytes = reservoir->bytes;
    for (int c = 0; c < reservoir->num_columns; c++) {
        const leati_reservoir_column *column = &reservoir->columns[c];
        size_t row = column->row_bytes > 0 ? column->row_bytes : sizeof(leat_tensor);
        bytes += (int64_t)(reservoir->capacity * row);
    }
    return bytes;
}

static leat_status begin_fixed(leati_reservoir *reservoir, int c, int64_t n, leati_block *out,
                               leat_error *err) {
    const leati_reservoir_column *column = &reservoir->columns[c];
    const leati_destination *offered = out->destinations == NULL ? NULL : &out->destinations[c];
    leati_column *to = &out->columns[c];
    /* The consumer's memory, in which the rows can stay. */
    if (offered != NULL && offered->dtype == column->dtype &&
        leati_shape_equal(&offered->shape, &column->shape)) {
        leati_column_strided(to, column->dtype, &column->shape, offered->data, offered->stride,
                             leat_buffer_ref(offered->owner));
        return LEAT_OK;
    }
    leat_buffer *buffer = leati_pools_take(&reservoir->pools, (size_t)n * column->row_bytes, err);
    if (buffer == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_column_strided(to, column->dtype, &column->shape, leat_buffer_data(buffer),
                         (int64_t)column->row_bytes, buffer);
    return LEAT_OK;
}

void leati_reservoir_begin_origins(leati_reservoir *reservoir, leat_buffer *paths, int64_t n,
                                   leati_block *out) {
    leat_shape scalar = LEAT_SCALAR;
    leat_buffer *buffer =
        leati_pools_take(&reservoir->pools, (size_t)n * sizeof(int64_t), &(leat_error){0});
    if (buffer == NULL || leati_buffer_hold(buffer, paths, &(leat_error){0}) != LEAT_OK) {
        leat_buffer_unref(buffer);
        return;
    }
    memset(leat_buffer_data(buffer), 0, (size_t)n * sizeof(int64_t));
    leati_column_strided(&out->origins, LEAT_INT64, &scalar, leat_buffer_data(buffer),
                         sizeof(int64_t), buffer);
}

leat_status leati_reservoir_begin(leati_reservoir *reservoir, int64_t n, leati_block *out,
                                  leat_error *err) {
    leat_status status = leati_block_prepare(out, reservoir->num_columns, err);
    for (int c = 0; c < reservoir->num_columns && status == LEAT_OK; c++) {
        const leati_reservoir_column *column = &reservoir->columns[c];
        if (column->row_bytes > 0) {
            status = begin_fixed(reservoir, c, n, out, err);
            continue;
        }
        leat_buffer *buffer = leati_buffer_of_tensors(n, err);
        if (buffer == NULL)
            status = LEAT_RESOURCE_EXHAUSTED;
        else
            leati_column_tensors(&out->columns[c], column->dtype, buffer);
    }
    if (status != LEAT_OK)
        leati_block_clear(out);
    else if (reservoir->origins != NULL)
        leati_reservoir_begin_origins(reservoir, reservoir->paths, n, out);
    return status;
}
