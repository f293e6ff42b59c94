/* The equation of einsum: letters for the dimensions of each operand and of the result. */
#ifndef LEATI_GRAPH_SUPPORT_LINALG_EQUATION_H
#define LEATI_GRAPH_SUPPORT_LINALG_EQUATION_H

#include "graph/support/support.h"

/* Labels 0 to 51 are letters; the d-th last dimension of an ellipsis is LEATI_EQUATION_LAST - d. */
enum {
    LEATI_EQUATION_OPERANDS = 8,
    LEATI_EQUATION_LABELS = 60,
    LEATI_EQUATION_LAST = 59,
    LEATI_EQUATION_ELLIPSIS = 60
};

typedef struct leati_equation_subscript {
    int8_t labels[2 * LEAT_MAX_RANK]; /* as written; LEATI_EQUATION_ELLIPSIS for "..." */
    int count;
} leati_equation_subscript;

typedef struct leati_equation {
    leati_equation_subscript operands[LEATI_EQUATION_OPERANDS], result;
    int num_operands;
} leati_equation;

/* The labels of a tensor's dimensions, and how many bytes its values lie apart along each. */
typedef struct leati_equation_view {
    const char *data;
    int8_t labels[LEAT_MAX_RANK];
    int64_t dims[LEAT_MAX_RANK], steps[LEAT_MAX_RANK];
    int rank;
} leati_equation_view;

/* Reads "ij,jk->ik" of so many operands. INVALID_ARGUMENT where it does not read so. */
LEAT_WARN_UNUSED leat_status leati_equation_read(const char *text, int num_inputs,
                                                 leati_equation *e, leat_error *err);
/* Views of all operands (of known ranks), the sizes of all labels (-2: it does not occur), and the
 * result's labels. */
LEAT_WARN_UNUSED leat_status leati_equation_lay_out(const leati_equation *e,
                                                    const leat_shape *shapes,
                                                    leati_equation_view *views, int64_t *dims,
                                                    leati_equation_view *result, leat_error *err);

#endif
