/* A store of elements by slot, by column: what shuffle keeps. Rows of fixed size lie in one array
 * per column, others are tensors of their own. Slots are numbered 0 .. size - 1; the store grows by
 * one slot at a time. */
#ifndef LEATI_DATA_VALUES_RESERVOIR_H
#define LEATI_DATA_VALUES_RESERVOIR_H

#include "core/block.h"
#include "core/pools.h"

typedef struct leati_reservoir_column {
    size_t row_bytes; /* 0: rows are tensors */
    leat_dtype dtype;
    leat_shape shape; /* of a fixed row */
    char *data;
    leat_tensor *tensors;
} leati_reservoir_column;

typedef struct leati_reservoir {
    leati_reservoir_column *columns;
    int num_columns;
    size_t size, capacity; /* slots */
    int64_t *origins;      /* of each slot's row (core/block.h); NULL: nobody knew any */
    leat_buffer *paths;    /* the table that they mean; a reference */
    int64_t bytes;         /* of tensors kept; fixed rows are counted by capacity */
    leati_pools pools;     /* of the blocks that are given out */
} leati_reservoir;

/* Rows larger than this are kept as references instead of being copied. */
#define LEATI_RESERVOIR_ROW 4096

LEAT_WARN_UNUSED leat_status leati_reservoir_init(leati_reservoir *reservoir, const leat_spec *spec,
                                                  leat_error *err);
void leati_reservoir_fini(leati_reservoir *reservoir);
/* Drops all elements; memory is kept. */
void leati_reservoir_clear(leati_reservoir *reservoir);
/* Makes slot size - 1 + n valid (empty). */
LEAT_WARN_UNUSED leat_status leati_reservoir_grow(leati_reservoir *reservoir, size_t n,
                                                  leat_error *err);
/* Bytes held. */
int64_t leati_reservoir_bytes(const leati_reservoir *reservoir);

/* Prepares `out` for up to `n` rows, which exchanges then write in order. Destinations of `out` are
 * used where they fit. */
LEAT_WARN_UNUSED leat_status leati_reservoir_begin(leati_reservoir *reservoir, int64_t n,
                                                   leati_block *out, leat_error *err);
/* Slot by slot, n of them: takes the element out into the next row of `out`, from `row` on, and
 * puts the next row of `in`, from `next` on, into its place; the last n - puts slots stay empty. A
 * slot may come more than once. `out` may be NULL: the slots are empty; without puts `in` may be.
 */
void leati_reservoir_exchange(leati_reservoir *reservoir, const uint32_t *slots, int64_t n,
                              leati_block *out, int64_t row, const leati_block *in, int64_t next,
                              int64_t puts);
/* Copies n rows of `block`, from `row` on, into empty slots. */
static inline void leati_reservoir_put(leati_reservoir *reservoir, const uint32_t *slots, int64_t n,
                                       const leati_block *block, int64_t row) {
    leati_reservoir_exchange(reservoir, slots, n, NULL, 0, block, row, n);
}
/* Asks for the memory of a slot's row, which will be taken soon; changes nothing. Inlined early,
 * because gcc leaves out calls of functions that it finds to have no effect. */
__attribute__((always_inline)) static inline void
leati_reservoir_look(const leati_reservoir *reservoir, size_t slot) {
    for (int c = 0; c < reservoir->num_columns && slot < reservoir->size; c++) {
        const leati_reservoir_column *column = &reservoir->columns[c];
        if (column->row_bytes > 0) {
            const char *row = column->data + slot * column->row_bytes;
            for (size_t at = 0; at < column->row_bytes && at < 256; at += 64)
                __builtin_prefetch(row + at);
            __builtin_prefetch(row + column->row_bytes - 1);
        }
    }
}
/* For a block that was begun: unknown origins for n rows, numbers of `paths`. Without memory none.
 */
void leati_reservoir_begin_origins(leati_reservoir *reservoir, leat_buffer *paths, int64_t n,
                                   leati_block *out);

#endif
