/* What the recurrent operations share (graph/ops/nn/lstm.c, gru.c, simple_rnn.c): activations that
 * know their slope by their value, shapes and masks of sequences, and the products with a matrix
 * that its steps have in common.
 *
 * A sequence is [batch, steps, values]. A step that a mask leaves out hands its state on. Nothing
 * here keeps state. */
#ifndef LEATI_GRAPH_SUPPORT_NN_RECURRENCE_H
#define LEATI_GRAPH_SUPPORT_NN_RECURRENCE_H

#include "graph/support/support.h"

/* Attributes of all of them; each has the rows that it needs. */
struct leati_recurrence_args {
    char *activation, *recurrent_activation;
    bool reset_after;
};

/* ---- activations ---- */
typedef struct leati_recurrence_activation {
    const char *name; /* Keras' */
    /* x[i] becomes f(x[i]). */
    void (*apply_float)(float *x, int64_t n);
    void (*apply_double)(double *x, int64_t n);
    /* g[i] *= f'(x), where f(x) is y[i]. */
    void (*slope_float)(const float *y, float *g, int64_t n);
    void (*slope_double)(const double *y, double *g, int64_t n);
} leati_recurrence_activation;

/* The activation of that name; NULL with INVALID_ARGUMENT for one that is not among them. */
const leati_recurrence_activation *leati_recurrence_activation_find(const char *name,
                                                                    leat_error *err);

/* The rows of the two activations. */
#define LEATI_RECURRENCE_ACTIVATION                                                                \
    {                                                                                              \
        .name = "activation", .type = LEATI_ROW_STRING,                                            \
        .offset = offsetof(struct leati_recurrence_args, activation), .default_text = "tanh",      \
        .doc = "What the candidate goes through: tanh, sigmoid, hard_sigmoid, hard_tanh, relu, "   \
               "relu6, elu, softplus, softsign, exponential or linear."                            \
    }
#define LEATI_RECURRENCE_RECURRENT_ACTIVATION                                                      \
    {                                                                                              \
        .name = "recurrent_activation", .type = LEATI_ROW_STRING,                                  \
        .offset = offsetof(struct leati_recurrence_args, recurrent_activation),                    \
        .default_text = "sigmoid", .doc = "What the gates go through; the same names."             \
    }

/* ---- for infer: inputs are x [batch, steps, parts * units], recurrent [units, parts * units],
 * then states [batch, units], and a mask [batch, steps] of bool at `mask`, if it is given ---- */
typedef struct leati_recurrence_known {
    leat_dtype dtype;
    int64_t batch, steps, units; /* LEAT_UNKNOWN_DIM where not known */
} leati_recurrence_known;

/* Input `index` is [batch, steps, parts * units]. */
LEAT_WARN_UNUSED leat_status leati_recurrence_want_sequence(const leati_infer_call *call, int index,
                                                            int64_t parts, const char *what,
                                                            leati_recurrence_known *known,
                                                            leat_error *err);
/* It is [units, parts * units]; this one is asked for first. */
LEAT_WARN_UNUSED leat_status leati_recurrence_want_kernel(const leati_infer_call *call, int index,
                                                          int64_t parts,
                                                          leati_recurrence_known *known,
                                                          leat_error *err);
/* It is [batch, units]. */
LEAT_WARN_UNUSED leat_status leati_recurrence_want_state(const leati_infer_call *call, int index,
                                                         const char *what,
                                                         leati_recurrence_known *known,
                                                         leat_error *err);
/* It is a bool [batch, steps], where the call has so many inputs. */
LEAT_WARN_UNUSED leat_status leati_recurrence_want_mask(const leati_infer_call *call, int index,
                                                        leati_recurrence_known *known,
                                                        leat_error *err);
/* An output [batch, steps, parts * units]; of parts 0 [batch, units]. */
LEAT_WARN_UNUSED leat_status leati_recurrence_output(leati_infer_call *call,
                                                     const leati_recurrence_known *known,
                                                     int64_t parts, leat_error *err);

/* ---- for kernels ---- */
typedef struct leati_recurrence {
    leat_dtype dtype;
    size_t size;                        /* bytes of a value */
    int64_t batch, steps, units, parts; /* of the recurrent kernel's columns */
    const leati_recurrence_activation *activation, *gate;
    int mask;     /* the number of the input; -1: none */
    int64_t done; /* of the work, for looks whether to stop */
} leati_recurrence;

/* The sizes of a call whose input `x` is a sequence of `parts` and whose input `kernel` is the
 * recurrent kernel; a mask is input number `mask`, where there are so many. INVALID_ARGUMENT for
 * ranks and for a mask that do not fit. */
LEAT_WARN_UNUSED leat_status leati_recurrence_init(leati_recurrence *r,
                                                   const leati_kernel_call *call, int x, int kernel,
                                                   int64_t parts, int mask, leat_error *err);
/* Input `index` must be [batch, steps, parts * units]; of parts 0 [batch, units]. */
LEAT_WARN_UNUSED leat_status leati_recurrence_check(const leati_recurrence *r,
                                                    const leati_kernel_call *call, int index,
                                                    int64_t parts, const char *what,
                                                    leat_error *err);
/* Output `index` has that shape. */
LEAT_WARN_UNUSED leat_status leati_recurrence_give(const leati_recurrence *r,
                                                   leati_kernel_call *call, int index,
                                                   int64_t parts, leat_error *err);
/* Values for each row of the batch, `parts` * units, in the call's arena; NULL with an error. */
void *leati_recurrence_scratch(const leati_recurrence *r, leati_kernel_call *call, int64_t parts,
                               leat_error *err);
/* The columns [first, first + parts) * units of a recurrent kernel, dense, turned round if
 * `turned`; the kernel itself where it is that. NULL with an error. */
const void *leati_recurrence_kernel_of(const leati_recurrence *r, leati_kernel_call *call,
                                       const void *kernel, int64_t first, int64_t parts,
                                       bool turned, leat_error *err);
/* Does the mask of the operation's row `row` leave out step `t` of row `b` of the batch? */
bool leati_recurrence_is_out(const leati_recurrence *r, const leati_kernel_call *call, int64_t row,
                             int64_t b, int64_t t);
/* The values of step `t` and row `b` of the batch in a sequence of `parts`. */
static inline char *leati_recurrence_at(const leati_recurrence *r, const void *sequence,
                                        int64_t parts, int64_t b, int64_t t) {
    return (char *)sequence + (size_t)((b * r->steps + t) * parts * r->units) * r->size;
}
/* to[i] += from[i], of so many values. */
void leati_recurrence_add(const leati_recurrence *r, void *to, const void *from, int64_t n);
/* out [batch, columns] = the state before step t times `kernel` [units, columns]: of row b the
 * values at step t - 1 of `sequence` [batch, steps, units], or of `first` [batch, units]. */
void leati_recurrence_project(const leati_recurrence *r, const void *sequence, const void *first,
                              int64_t t, const void *kernel, int64_t columns, void *out);
/* The values before step t in row b. */
static inline const char *leati_recurrence_before(const leati_recurrence *r, const void *sequence,
                                                  const void *first, int64_t b, int64_t t) {
    return t > 0 ? leati_recurrence_at(r, sequence, 1, b, t - 1)
                 : (const char *)first + (size_t)(b * r->units) * r->size;
}

/* ---- for gradients, as values of the graph ---- */
/* The states before each step [batch, steps, units]: `first`, then all but the last of `states`. */
leat_value leati_recurrence_shifted(leat_value first, leat_value states);
/* The gradient of a matrix that each step multiplies `from` with, where `to` flows back. */
leat_value leati_recurrence_kernel_gradient(leat_value from, leat_value to);
/* The columns [first, first + parts) * (the last dimension / of) of a value. */
leat_value leati_recurrence_columns(leat_value value, int64_t first, int64_t parts, int64_t of);

#endif
