/* What diag, diag_part and set_diag share: which diagonals of a matrix lie where in a compact
 * array.
 *
 * Diagonal k is k places above the main one (below, where k is negative). A range of them is an
 * array whose lines run from the highest k down, as long as the longest; shorter ones stand at the
 * left or right of their line. */
#ifndef LEATI_GRAPH_SUPPORT_LINALG_DIAGONAL_H
#define LEATI_GRAPH_SUPPORT_LINALG_DIAGONAL_H

#include "graph/support/support.h"

struct leati_diagonal_args {
    leati_ints k;
    int64_t num_rows, num_cols;
    double padding_value;
    char *align;
};

/* Of diag_part, and of set_diag, which needs no padding. */
extern const leati_row leati_diag_part_rows[], leati_set_diag_rows[];

#define LEATI_ROW_DIAGONALS                                                                        \
    {                                                                                              \
        .name = "k", .type = LEATI_ROW_INTS, .flags = LEATI_TENSOR,                                \
        .offset = offsetof(struct leati_diagonal_args, k),                                         \
        .doc =                                                                                     \
            "One diagonal, 0 the main one and 1 the next above, or the lowest and the highest of " \
            "several."                                                                             \
    }
#define LEATI_ROW_DIAGONAL_PADDING                                                                 \
    {                                                                                              \
        .name = "padding_value", .type = LEATI_ROW_FLOAT,                                          \
        .offset = offsetof(struct leati_diagonal_args, padding_value),                             \
        .doc = "What stands where there is no value."                                              \
    }
#define LEATI_ROW_DIAGONAL_ALIGN                                                                   \
    {                                                                                              \
        .name = "align", .type = LEATI_ROW_STRING,                                                 \
        .offset = offsetof(struct leati_diagonal_args, align), .default_text = "RIGHT_LEFT",       \
        .doc = "Where short diagonals stand, those from the main one up and those below it: "      \
               "RIGHT_LEFT, LEFT_RIGHT, LEFT_LEFT or RIGHT_RIGHT."                                 \
    }

/* Diagonals low..high of matrices of rows x columns; `longest` values in a line. */
typedef struct leati_diagonals {
    int64_t low, high, rows, columns, longest;
    bool above_right, below_right;
} leati_diagonals;

/* The range and the alignment that the arguments say; the sizes are left alone. */
LEAT_WARN_UNUSED leat_status leati_diagonals_read(leati_diagonals *out,
                                                  const struct leati_diagonal_args *args,
                                                  leat_error *err);
/* The diagonals of matrices of shape `in`; dimensions may be unknown, then so are `longest` and
 * the sizes. */
LEAT_WARN_UNUSED leat_status leati_diagonals_of(leati_diagonals *out,
                                                const struct leati_diagonal_args *args,
                                                const leat_shape *in, leat_error *err);
/* The shape of the array of the diagonals of matrices of shape `in`. */
leat_shape leati_diagonals_shape(const leati_diagonals *d, const leat_shape *in);
/* Copies the values of one matrix to the array, or back. */
void leati_diagonals_copy(const leati_diagonals *d, size_t size, char *matrix, char *array,
                          bool to_array);
/* INVALID_ARGUMENT unless input `index` has numbers or booleans. */
LEAT_WARN_UNUSED leat_status leati_diagonal_want_fixed(const leati_infer_call *call, int index,
                                                       leat_error *err);

#endif
