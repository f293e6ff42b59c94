/* What the files of graph/ops/ share: calling each other as builders, checking arguments in
 * `infer`, and preparing outputs in `kernel`. Nothing here keeps state. */
#ifndef LEATI_GRAPH_SUPPORT_SUPPORT_H
#define LEATI_GRAPH_SUPPORT_SUPPORT_H

#include "base/error.h"
#include "graph/build.h"
#include "graph/graph.h"
#include "graph/op.h"
#include <leat/ops.h>

/* ---- builders ---- */
/* A value without a graph, or one that failed. */
bool leati_support_value_failed(leat_value value);
/* Two numbers of a caller's options (borrowed) as an argument: absent where they are the standard
 * ones. */
static inline leati_floats leati_support_pair(double *pair, const double *standard) {
    bool same = pair[0] == standard[0] && pair[1] == standard[1];
    return same ? (leati_floats){0} : (leati_floats){.values = pair, .count = 2};
}
/* The graph fails: INVALID_ARGUMENT for this reason, with this text; a failed value. */
leat_value leati_support_build_error(leat_graph *graph, leat_reason reason, const char *text);

/* ---- for gradients ---- */
/* A constant scalar of a number type. */
leat_value leati_support_number(leat_graph *graph, leat_dtype dtype, double number);
/* The conjugate of a complex value; any other as it is. A gradient is conjugated as TensorFlow's
 * is: g * conj(f'(x)). */
leat_value leati_support_conjugate(leat_value x);
/* a * number, of a's dtype. */
leat_value leati_support_times(leat_value a, double number);

/* Where a gradient is that of other operations which compute the same, of few inputs: `sources`
 * (room for num_inputs) become the inputs, as values that nothing else reads, and `results`, one
 * for each output, what is composed of them; the gradients of the floating-point inputs follow from
 * those. */
enum { LEATI_THROUGH_INPUTS = 8 };
void leati_support_gradient_sources(const leati_gradient_call *call, leat_value *sources);
LEAT_WARN_UNUSED leat_status leati_support_gradient_through(leati_gradient_call *call,
                                                            const leat_value *sources,
                                                            const leat_value *results,
                                                            leat_error *err);

/* ---- for infer: input `index` must be so; the text names the operand by `what` ---- */
LEAT_WARN_UNUSED leat_status leati_support_want_dtype(const leati_infer_call *call, int index,
                                                      leat_dtype dtype, const char *what,
                                                      leat_error *err);
LEAT_WARN_UNUSED leat_status leati_support_want_same_dtypes(const leati_infer_call *call,
                                                            leat_error *err);
/* Anything but object. */
LEAT_WARN_UNUSED leat_status leati_support_want_values(const leati_infer_call *call, int index,
                                                       leat_error *err);
/* float32 or float64. */
LEAT_WARN_UNUSED leat_status leati_support_want_float(const leati_infer_call *call, int index,
                                                      const char *what, leat_error *err);
/* Those, complex64 or complex128. */
LEAT_WARN_UNUSED leat_status leati_support_want_trainable(const leati_infer_call *call, int index,
                                                          const char *what, leat_error *err);
/* int32 or int64. */
LEAT_WARN_UNUSED leat_status leati_support_want_index(const leati_infer_call *call, int index,
                                                      const char *what, leat_error *err);
/* An unknown rank passes. */
LEAT_WARN_UNUSED leat_status leati_support_want_rank(const leati_infer_call *call, int index,
                                                     int32_t rank, const char *what,
                                                     leat_error *err);
/* The same for a kernel, whose input's rank inference may not have known. */
LEAT_WARN_UNUSED leat_status leati_support_check_rank(const leati_kernel_call *call, int index,
                                                      int32_t rank, const char *what,
                                                      leat_error *err);
/* Both dimensions known and different: INVALID_ARGUMENT. */
LEAT_WARN_UNUSED leat_status leati_support_want_equal_dims(int64_t a, int64_t b, const char *what,
                                                           leat_error *err);
/* Shapes that cannot be the same: INVALID_ARGUMENT, with both. */
LEAT_WARN_UNUSED leat_status leati_support_want_shape(const leat_shape *found,
                                                      const leat_shape *expected, const char *what,
                                                      leat_error *err);
/* The shape that a list of dimensions stands for whose values the run computes: none known, and no
 * rank either where the list has no values. */
LEAT_WARN_UNUSED leat_status leati_support_unknown_dims(const leati_ints *list, leat_shape *out,
                                                        leat_error *err);
/* The same with those that the list has: placeholders of which some are known. */
LEAT_WARN_UNUSED leat_status leati_support_known_dims(const leati_ints *list, leat_shape *out,
                                                      leat_error *err);
/* Turns a negative axis into its place from the front; `rank` must be known. */
LEAT_WARN_UNUSED leat_status leati_support_normal_axis(int64_t axis, int32_t rank, int32_t *out,
                                                       leat_error *err);
/* Sets mask[axis] for each axis of a list; INVALID_ARGUMENT where one is named twice. */
LEAT_WARN_UNUSED leat_status leati_support_mark_axes(const leati_ints *axes, int32_t rank,
                                                     bool *mask, leat_error *err);
/* An output of a shape that an argument says: INVALID_ARGUMENT unless its dimensions are known, or
 * the run computes them. */
LEAT_WARN_UNUSED leat_status leati_support_infer_said(leati_infer_call *call, leat_dtype dtype,
                                                      const leat_shape *shape, leat_error *err);

/* ---- for kernels ---- */
/* Gives output `index` its shape unless it has memory already. */
LEAT_WARN_UNUSED leat_status leati_support_output_like(leati_kernel_call *call, int index,
                                                       const leat_shape *shape, leat_error *err);
leat_shape leati_support_operand_shape(const leati_operand *operand);
/* NULL for an operand without values and memory. */
static inline char *leati_support_row_of(const leati_operand *operand, int64_t row) {
    return operand->data == NULL ? NULL : operand->data + row * operand->row_stride;
}
/* Value `index` of a row of int32 or int64. */
int64_t leati_support_index_at(const leati_operand *operand, int64_t row, int64_t index);
/* After copying values: output 0, of strings, keeps alive what the inputs from `first` on point
 * into. */
LEAT_WARN_UNUSED leat_status leati_support_hold_strings(leati_kernel_call *call, int first,
                                                        leat_error *err);
/* Output 0 becomes a view of input 0 under another shape of as many values. */
LEAT_WARN_UNUSED leat_status leati_support_view_as(leati_kernel_call *call, const leat_shape *shape,
                                                   leat_error *err);

/* Stores `number` as one value of `dtype`; false for dtypes that are no numbers. */
bool leati_support_store_number(leat_dtype dtype, double number, void *to);
/* An operand of the shape of `like` and of another dtype, in the call's arena, not yet filled. */
LEAT_WARN_UNUSED leat_status leati_support_inner_memory(leati_kernel_call *call,
                                                        const leati_operand *like, leat_dtype dtype,
                                                        leati_operand *out, leat_error *err);
/* Runs another operation's kernel over the same rows; the result, of input 0's shape, lies in the
 * call's arena. `out` may be one of the inputs. */
LEAT_WARN_UNUSED leat_status leati_support_inner_run(leati_kernel_call *call,
                                                     const leati_tensor_op *op, const void *args,
                                                     const leati_operand *inputs, int num_inputs,
                                                     leat_dtype dtype, leati_operand *out,
                                                     leat_error *err);
/* Casts to a result in the arena, and to an operand that has its memory. */
LEAT_WARN_UNUSED leat_status leati_support_inner_cast(leati_kernel_call *call,
                                                      const leati_operand *in, leat_dtype dtype,
                                                      leati_operand *out, leat_error *err);
/* Which numbers are not 0, as bools in the arena: NaN is none, and a complex number by either part.
 */
LEAT_WARN_UNUSED leat_status leati_support_inner_truth(leati_kernel_call *call,
                                                       const leati_operand *in, leati_operand *out,
                                                       leat_error *err);
LEAT_WARN_UNUSED leat_status leati_support_inner_cast_into(leati_kernel_call *call,
                                                           const leati_operand *in,
                                                           leati_operand *out, leat_error *err);
/* Byte steps of a dense array of that shape. */
void leati_support_dense_steps(const leat_shape *shape, size_t size, int64_t *steps);

#endif
