/* A StableHLO program under construction (openxla.org/stablehlo/spec): operations are appended as
 * text, and each value's type is known.
 *
 * Every function takes values of the same program. Once one of them failed, for want of memory
 * alone, the others do nothing and give whatever number; leati_hlo_take says so at the end. A
 * program belongs to one thread. */
#ifndef LEATI_EXEC_PJRT_HLO_H
#define LEATI_EXEC_PJRT_HLO_H

#include "base/text.h"
#include "graph/op.h"

/* The number of a value of the program. */
typedef int32_t leati_hlo_value;

typedef struct leati_hlo_type {
    leat_dtype dtype;
    leat_shape shape; /* static */
} leati_hlo_type;

typedef struct leati_hlo {
    leati_text text;
    leati_hlo_type *types; /* of the values */
    size_t num_values, capacity;
    bool failed;
} leati_hlo;

void leati_hlo_fini(leati_hlo *hlo);

leati_hlo_type leati_hlo_type_of(const leati_hlo *hlo, leati_hlo_value value);
leat_dtype leati_hlo_dtype(const leati_hlo *hlo, leati_hlo_value value);
leat_shape leati_hlo_shape(const leati_hlo *hlo, leati_hlo_value value);

/* A new value that the program's caller gives. */
leati_hlo_value leati_hlo_argument(leati_hlo *hlo, leat_dtype dtype, const leat_shape *shape);

/* One operation of one result. `name` without "stablehlo.", or with another dialect's; `region` and
 * `attributes` are its text in braces, or NULL: `region` is made by leati_hlo_region. */
leati_hlo_value leati_hlo_add(leati_hlo *hlo, const char *name, const leati_hlo_value *inputs,
                              int count, const char *region, const char *attributes,
                              leat_dtype dtype, const leat_shape *shape);
/* The same with several results, of consecutive numbers; the first one's. */
leati_hlo_value leati_hlo_add_several(leati_hlo *hlo, const char *name,
                                      const leati_hlo_value *inputs, int count, const char *region,
                                      const char *attributes, const leati_hlo_type *results,
                                      int num_results);

/* The whole program as text: a module whose function main has those arguments and results.
 * Owned (leati_free); NULL: there was no memory. */
char *leati_hlo_take(leati_hlo *hlo, const leati_hlo_value *arguments, size_t num_arguments,
                     const leati_hlo_value *results, size_t num_results, int num_replicas);

/* ---- operations in short ---- */

/* One operand, the result of its type ("exponential"); two of one type ("add"). */
leati_hlo_value leati_hlo_unary(leati_hlo *hlo, const char *name, leati_hlo_value x);
leati_hlo_value leati_hlo_binary(leati_hlo *hlo, const char *name, leati_hlo_value a,
                                 leati_hlo_value b);
/* `direction`: EQ, NE, LT, LE, GT or GE. A bool. */
leati_hlo_value leati_hlo_compare(leati_hlo *hlo, const char *direction, leati_hlo_value a,
                                  leati_hlo_value b);
leati_hlo_value leati_hlo_select(leati_hlo *hlo, leati_hlo_value condition, leati_hlo_value yes,
                                 leati_hlo_value no);
/* As tf.cast: floats to integers towards zero, anything to bool by != 0. */
leati_hlo_value leati_hlo_convert(leati_hlo *hlo, leati_hlo_value x, leat_dtype dtype);
leati_hlo_value leati_hlo_bitcast(leati_hlo *hlo, leati_hlo_value x, leat_dtype dtype);

/* A number everywhere in a shape; infinities and nan included. Of integers `number` is exact below
 * 2^53. */
leati_hlo_value leati_hlo_fill(leati_hlo *hlo, double number, leat_dtype dtype,
                               const leat_shape *shape);
/* `number` in the type of `like`. */
leati_hlo_value leati_hlo_fill_like(leati_hlo *hlo, double number, leati_hlo_value like);
/* The host tensor as a constant of the program. */
leati_hlo_value leati_hlo_constant(leati_hlo *hlo, const leat_tensor *tensor);
/* The place along `axis`. */
leati_hlo_value leati_hlo_iota(leati_hlo *hlo, leat_dtype dtype, const leat_shape *shape,
                               int32_t axis);

leati_hlo_value leati_hlo_reshape(leati_hlo *hlo, leati_hlo_value x, const leat_shape *shape);
/* numpy's broadcasting: x's dimensions are the last ones. */
leati_hlo_value leati_hlo_broadcast(leati_hlo *hlo, leati_hlo_value x, const leat_shape *shape);
/* Dimension i of x is dimension axes[i] of the result. */
leati_hlo_value leati_hlo_broadcast_in(leati_hlo *hlo, leati_hlo_value x, const leat_shape *shape,
                                       const int64_t *axes);
/* Dimension i of the result is dimension axes[i] of x. */
leati_hlo_value leati_hlo_transpose(leati_hlo *hlo, leati_hlo_value x, const int64_t *axes);
leati_hlo_value leati_hlo_reverse(leati_hlo *hlo, leati_hlo_value x, const int64_t *axes,
                                  int count);
/* [begin, end) in steps, of every dimension. */
leati_hlo_value leati_hlo_slice(leati_hlo *hlo, leati_hlo_value x, const int64_t *begin,
                                const int64_t *end, const int64_t *step);
/* With `value`, a scalar, around and between (each may be NULL: 0); negative: cut off. */
leati_hlo_value leati_hlo_pad(leati_hlo *hlo, leati_hlo_value x, leati_hlo_value value,
                              const int64_t *before, const int64_t *after, const int64_t *between);
leati_hlo_value leati_hlo_concatenate(leati_hlo *hlo, const leati_hlo_value *parts, int count,
                                      int32_t axis);
/* Folds the dimensions in `axes`, a set of bits, by "add", "maximum", "and" ... from `start`; they
 * go, or stay as 1. */
leati_hlo_value leati_hlo_reduce(leati_hlo *hlo, const char *fold, leati_hlo_value x, double start,
                                 uint32_t axes, bool keep);
/* Down to a shape that broadcasts to x's. */
leati_hlo_value leati_hlo_sum_to(leati_hlo *hlo, leati_hlo_value x, const leat_shape *to);
/* x (batch, m, k) times y (batch, k, n), which have `batch` leading dimensions in common. */
leati_hlo_value leati_hlo_matmul(leati_hlo *hlo, leati_hlo_value x, leati_hlo_value y,
                                 bool transpose_x, bool transpose_y);

/* ---- regions: what is appended between begin and end becomes a region of the next operation ----
 */

/* What whoever begins a region keeps until its end. */
typedef struct leati_hlo_region {
    leati_text outside;
} leati_hlo_region;

void leati_hlo_region_begin(leati_hlo *hlo, leati_hlo_region *region);
/* The region, of `count` arguments from value `first` on, that gives the results, behind those that
 * `regions` has; of other values it may use any that are there outside. To be called after any
 * begin. */
void leati_hlo_region_end(leati_hlo *hlo, leati_hlo_region *region, leati_hlo_value first,
                          int count, const leati_hlo_value *results, int num_results,
                          leati_text *regions);

/* One of two regions, which give as many values of the same types; what the condition chose, the
 * first of `count` results. `regions`, both of them, is released. */
leati_hlo_value leati_hlo_if(leati_hlo *hlo, leati_hlo_value condition, leati_text *regions,
                             const leati_hlo_type *types, int count);

/* A loop: begin opens the condition, body ends it and opens the body, end closes the loop. The
 * values that it carries are [first, first + count) in either. */
typedef struct leati_hlo_loop {
    leati_hlo_region region;
    leati_text regions;
    const leati_hlo_value *starts; /* borrowed until the end */
    leati_hlo_value first;
    int count;
} leati_hlo_loop;

void leati_hlo_loop_begin(leati_hlo *hlo, leati_hlo_loop *loop, const leati_hlo_value *starts,
                          int count);
void leati_hlo_loop_body(leati_hlo *hlo, leati_hlo_loop *loop, leati_hlo_value condition);
/* The number of the first of `count` results. */
leati_hlo_value leati_hlo_loop_end(leati_hlo *hlo, leati_hlo_loop *loop,
                                   const leati_hlo_value *next);

/* Row `at`, a scalar int32, of x's first dimension, which goes; and x with another row there. */
leati_hlo_value leati_hlo_row(leati_hlo *hlo, leati_hlo_value x, leati_hlo_value at);
leati_hlo_value leati_hlo_set_row(leati_hlo *hlo, leati_hlo_value x, leati_hlo_value at,
                                  leati_hlo_value row);
/* A scalar int32. */
leati_hlo_value leati_hlo_number(leati_hlo *hlo, int64_t number);

/* The text of a region that folds two scalars of the dtype by an operation, or "" takes the second,
 * for reduce, reduce_window, scatter, all_reduce. `out` has room for LEATI_HLO_REGION bytes. */
enum { LEATI_HLO_REGION = 512, LEATI_HLO_ATTRIBUTES = 2048 };
const char *leati_hlo_fold_region(char *out, const char *fold, leat_dtype dtype);
/* The same that compares: select_and_scatter, sort. */
const char *leati_hlo_compare_region(char *out, const char *direction, leat_dtype dtype);
/* "array<i64: 1, 2>" */
const char *leati_hlo_array(char *out, size_t room, const int64_t *numbers, int count);
/* "tensor<2x3xf32>", appended. */
void leati_hlo_add_type(leati_text *text, leat_dtype dtype, const leat_shape *shape);

#endif
