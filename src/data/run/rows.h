/* Elements that are batches: cutting rows out of them and joining rows of several. For rebatch, its
 * legacy form, unbatch and pack. */
#ifndef LEATI_DATA_RUN_ROWS_H
#define LEATI_DATA_RUN_ROWS_H

#include "data/run/input.h"
#include "data/values/leaves.h"

/* The slot open of operators that give an element of their one input out in parts: its leaves, and
 * the input, whose state before the present element is always known. */
LEAT_WARN_UNUSED leat_status leati_rows_open(leati_leaves *leaves, leati_input *input,
                                             leati_node_state *node, leat_error *err);

/* `out` becomes rows [begin, begin + n) of element `row`, which leati_leaves_rows accepted: n
 * elements, views as far as leaves are dense. */
LEAT_WARN_UNUSED leat_status leati_rows_cut(const leati_leaves *leaves, const leati_block *block,
                                            int64_t row, int64_t begin, int64_t n, leati_block *out,
                                            leat_error *err);

/* Which rows, from *begin to before *end, of a leaf that has `rows` of them. */
typedef void (*leati_row_range)(const void *context, int64_t rows, int64_t *begin, int64_t *end);
/* One of so many pieces of ceil(rows / pieces) rows; the last ones may be short or empty. */
typedef struct leati_rows_piece {
    int64_t number, pieces;
} leati_rows_piece;
void leati_rows_piece_range(const void *piece, int64_t rows, int64_t *begin, int64_t *end);
/* `out` becomes one element: of each leaf of element `row` the rows that `range` says; leaves may
 * have unequal numbers. *refused where all that is wrong is a leaf that cannot be without rows. */
LEAT_WARN_UNUSED leat_status leati_rows_cut_part(const leati_leaves *leaves,
                                                 const leati_block *block, int64_t row,
                                                 leati_row_range range, const void *context,
                                                 bool *refused, leati_block *out, leat_error *err);

/* Rows gathered for one new element: a list of views per component. */
typedef struct leati_pieces {
    leat_tensor *tensors; /* piece p of component c at tensors[p * num_components + c] */
    size_t count, capacity;
    int num_components;
    leati_column origins; /* of the first piece's element */
} leati_pieces;

/* Adds rows [begin, begin + n) of element `row` of `block`. */
LEAT_WARN_UNUSED leat_status leati_rows_pieces_add(leati_pieces *pieces, const leati_leaves *leaves,
                                                   const leati_block *block, int64_t row,
                                                   int64_t begin, int64_t n, leat_error *err);
/* `out` becomes one element: the rows of all pieces one after the other; a single piece is a view.
 * Rows of unequal shapes are INVALID_ARGUMENT. The pieces are dropped. */
LEAT_WARN_UNUSED leat_status leati_rows_pieces_join(leati_pieces *pieces,
                                                    const leati_leaves *leaves, leati_block *out,
                                                    leat_error *err);
void leati_rows_pieces_clear(leati_pieces *pieces);
void leati_rows_pieces_fini(leati_pieces *pieces);

/* `out` becomes one element without rows: unknown dimensions are 0, an unknown rank is the vector
 * of no values, and a scalar is one zero, as in TensorFlow. */
LEAT_WARN_UNUSED leat_status leati_rows_empty_element(const leat_spec *spec, leati_block *out,
                                                      leat_error *err);

/* Sets `count` values of `size` bytes to the scalar `value`; NULL: to zeros. */
void leati_rows_fill_values(void *to, int64_t count, size_t size, const leat_tensor *value);

#endif
