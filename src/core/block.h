/* A block: n elements of one spec by columns. See DESIGN 3: a column is strided, selected or an
 * array of tensors; all three are read through one view. Blocks handed on are immutable. */
#ifndef LEATI_CORE_BLOCK_H
#define LEATI_CORE_BLOCK_H

#include "core/buffer.h"
#include "core/spec.h"
#include <leat/core.h>

typedef enum leati_form {
    LEATI_STRIDED = 0, /* row i at data + i * stride; stride 0 is a constant */
    LEATI_SELECTED,    /* row i at data + rows[i] * stride */
    LEATI_TENSORS      /* row i is tensors[i]; shapes may differ */
} leati_form;

typedef struct leati_column {
    leati_form form;
    leat_dtype dtype;
    int32_t rank;                /* of a row; STRIDED and SELECTED only */
    int64_t dims[LEAT_MAX_RANK]; /* of a row */
    char *data;
    int64_t stride; /* bytes from row to row; may be 0 or several rows, never negative */
    /* Of data, or of the tensor array (leati_buffer_of_tensors); NULL: static memory. */
    leat_buffer *owner;
    const uint32_t *rows;
    leat_buffer *rows_owner;
    const leat_tensor *tensors; /* points into owner's memory */
} leati_column;

/* Where a consumer would like rows to be written: row i of column c at data + i * stride, of
 * exactly this dtype and row shape. A callee may use it (then out's column points there) or ignore
 * it. */
typedef struct leati_destination {
    char *data;
    int64_t stride;
    leat_dtype dtype;
    leat_shape shape;
    leat_buffer *owner;
} leati_destination;

/* {0} is an empty block. The columns array is kept over clear and reused, so a block that lives in
 * a state allocates once. */
typedef struct leati_block {
    int64_t n;
    int32_t num_columns;
    int32_t capacity; /* of columns */
    leati_column *columns;
    /* Hidden: an int64 per row that says where it came from (data/run/origins.h); its data is NULL
     * where nobody knows. Never an array of tensors. Its owner holds one table of paths, which
     * slices, strides, selections, moves and appends carry on; preparing a block drops it. */
    leati_column origins;
    /* The request's side; not touched by clear. */
    const leati_destination *destinations; /* one per column, or NULL. Borrowed for the pull. */
    size_t byte_target;                    /* preferred upper bound of bytes; 0: none */
} leati_block;

#define LEATI_BYTE_TARGET (256u << 10)

/* Makes room for `num_columns` columns and empties the block (references dropped, n = 0). */
LEAT_WARN_UNUSED leat_status leati_block_prepare(leati_block *block, int num_columns,
                                                 leat_error *err);
/* Drops all references; n = 0, the array stays. */
void leati_block_clear(leati_block *block);
void leati_block_fini(leati_block *block);

/* `out` (prepared by this call; may be `block` itself) becomes rows [begin, begin + n) of `block`:
 * references are added, nothing is copied. A range outside the block is INTERNAL. */
LEAT_WARN_UNUSED leat_status leati_block_slice(const leati_block *block, int64_t begin, int64_t n,
                                               leati_block *out, leat_error *err);
/* Rows begin, begin + step, ... (n of them, step at least 0); a view. `out` is another block. */
LEAT_WARN_UNUSED leat_status leati_block_stride(const leati_block *block, int64_t begin,
                                                int64_t step, int64_t n, leati_block *out,
                                                leat_error *err);
/* `out` gets the rows numbered in `rows` (owned by rows_owner, both borrowed): SELECTED columns
 * over STRIDED ones, composed with an earlier selection once per shared array; arrays of tensors
 * are gathered. `out` is another block. The numbers are not checked. */
LEAT_WARN_UNUSED leat_status leati_block_select(const leati_block *block, const uint32_t *rows,
                                                leat_buffer *rows_owner, int64_t n,
                                                leati_block *out, leat_error *err);
/* Moves everything from `from` to `to` (cleared first), except the request's side. */
void leati_block_move(leati_block *from, leati_block *to);

/* The three constructors overwrite `column`, which must hold nothing: fresh from
 * leati_block_prepare, or after leati_column_fini. */

/* A column that repeats `tensor` (a reference is taken) n times. */
void leati_column_constant(leati_column *column, const leat_tensor *tensor);
/* A column over consecutive rows: data of `owner` (given). */
void leati_column_strided(leati_column *column, leat_dtype dtype, const leat_shape *row_shape,
                          void *data, int64_t stride, leat_buffer *owner);
/* A column of an array of n tensors in `owner` (given; leati_buffer_of_tensors), starting at its
 * first. */
void leati_column_tensors(leati_column *column, leat_dtype dtype, leat_buffer *owner);

/* Adds references: `to` (overwritten) is the same column as `from`. */
void leati_column_copy(const leati_column *from, leati_column *to);
/* Moves the column's first row to `begin`: a view of what follows. */
void leati_column_skip(leati_column *column, int64_t begin);
/* Drops the column's references and zeroes it. */
void leati_column_fini(leati_column *column);

/* Address of row i (of its values). */
static inline void *leati_column_row(const leati_column *column, int64_t i) {
    switch (column->form) {
    case LEATI_STRIDED: return column->data + i * column->stride;
    case LEATI_SELECTED: return column->data + (int64_t)column->rows[i] * column->stride;
    default: return column->tensors[i].data;
    }
}

/* Shape of row i. */
leat_shape leati_column_row_shape(const leati_column *column, int64_t i);
/* Bytes of a row of a STRIDED or SELECTED column. */
size_t leati_column_row_bytes(const leati_column *column);
/* Row i as a tensor with a reference to its owner. Owned. */
leat_tensor leati_column_tensor(const leati_column *column, int64_t i);
/* Element i of the block. Owned. */
LEAT_WARN_UNUSED leat_status leati_block_element(const leati_block *block, const leat_spec *spec,
                                                 int64_t i, leat_element *out, leat_error *err);
/* A block of one element: columns are constants over its tensors (references are taken). */
LEAT_WARN_UNUSED leat_status leati_block_of_element(const leat_element *element, leati_block *out,
                                                    leat_error *err);

/* Copies n rows from `begin` to `target` (dtype and row shape equal, rows `target_stride` bytes
 * apart). For strings copies headers only: the caller calls leati_column_hold for the target's
 * owner. Objects are referenced: the target is memory of leati_buffer_of_objects, whose earlier
 * values are dropped. */
void leati_column_gather(const leati_column *column, int64_t begin, int64_t n, char *target,
                         int64_t target_stride);
/* Makes `owner` keep alive whatever the string rows [begin, begin + n) point into; nothing to do
 * for other dtypes. Where the column's buffer has only headers, `owner` holds what that buffer
 * holds, so that gathering again and again makes no chain. */
LEAT_WARN_UNUSED leat_status leati_column_hold(const leati_column *column, int64_t begin, int64_t n,
                                               leat_buffer *owner, leat_error *err);
/* Replaces the column by one that owns a compact copy of its n rows if it pins more than twice
 * their bytes (string bytes are copied too). For whoever keeps elements beyond the next pull. */
LEAT_WARN_UNUSED leat_status leati_column_compact(leati_column *column, int64_t n, leat_error *err);
/* `out` (overwritten) is a STRIDED column, or an array of tensors where `column` is one, that owns
 * a copy of n rows from `begin`, string bytes included. */
LEAT_WARN_UNUSED leat_status leati_column_clone(const leati_column *column, int64_t begin,
                                                int64_t n, leati_column *out, leat_error *err);
/* Bytes of rows [begin, begin + n), string bytes included; a constant counts once. */
size_t leati_column_bytes(const leati_column *column, int64_t begin, int64_t n);
/* Appends `from` to `to` (same spec): both are first gathered into strided columns if shapes agree,
 * else arrays of tensors. An empty `to` shares from's columns. Room grows by doubling, so that n
 * appends copy each row a constant number of times. On failure `to` is as before. */
LEAT_WARN_UNUSED leat_status leati_block_append(leati_block *to, const leati_block *from,
                                                leat_error *err);
/* Bytes of all rows (string bytes included): what a budget counts. */
size_t leati_block_bytes(const leati_block *block);

#endif
