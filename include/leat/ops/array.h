/* Made by tools/builders.py from the tables of src/graph/ops: make builders. */
/* Builders of tensor operations: shapes, slices and places of values; see leat/ops.h. */
#ifndef LEAT_OPS_ARRAY_H
#define LEAT_OPS_ARRAY_H

#include <leat/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The places of the values, as int32, in their order along a dimension (tf.argsort).
 * `axis`: the dimension to sort along; negative counts from the end; by default -1.
 * `direction`: ASCENDING or DESCENDING; by default "ASCENDING".
 * `stable`: of no effect: equal values always stay in order; by default false. */
LEAT_API leat_value leat_op_argsort(leat_value values, int64_t axis, const char *direction,
                                    bool stable);

/* Matrices with zeros outside a band around the diagonal (tf.linalg.band_part).
 * `num_lower`: how many diagonals below the main one stay; negative: all.
 * `num_upper`: how many diagonals above the main one stay; negative: all. */
LEAT_API leat_value leat_op_band_part(leat_value input, int64_t num_lower, int64_t num_upper);

/* The bytes of a tensor read as values of another dtype (tf.bitcast).
 * `type`: the dtype of the result, a number. */
LEAT_API leat_value leat_op_bitcast(leat_value input, leat_dtype type);

/* The slices of a tensor where a mask holds (tf.boolean_mask).
 * `axis`: the first dimension that the mask covers; by default 0. */
LEAT_API leat_value leat_op_boolean_mask(leat_value tensor, leat_value mask, int64_t axis);

/* The first input repeated to the second's shape (tf.broadcast_to, for gradients). */
LEAT_API leat_value leat_op_broadcast_like(leat_value x, leat_value like);

/* A tensor repeated to a shape by numpy's broadcasting (tf.broadcast_to).
 * `shape`: the shape of the result. */
LEAT_API leat_value leat_op_broadcast_to(leat_value input, const int64_t *shape, int num_shape);

/* Tensors joined along an existing dimension (tf.concat).
 * `axis`: the dimension along which the inputs follow each other; negative counts from the end;
 * by default 0. */
LEAT_API leat_value leat_op_concat(const leat_value *values, int num_values, int64_t axis);

typedef struct leat_op_diag_options {
    size_t size; /* set by the macro below */
    /* One diagonal, 0 the main one and 1 the next above, or the lowest and the highest of several;
     * NULL: not given. */
    const int64_t *k;
    int num_k;
    /* How many rows a matrix has; -1: as few as can be; by default -1. */
    int64_t num_rows;
    /* How many columns a matrix has; -1: as few as can be; by default -1. */
    int64_t num_cols;
    /* What stands where there is no value; by default 0.0. */
    double padding_value;
    /* Where short diagonals stand, those from the main one up and those below it: RIGHT_LEFT,
     * LEFT_RIGHT, LEFT_LEFT or RIGHT_RIGHT; by default "RIGHT_LEFT". */
    const char *align;
} leat_op_diag_options;
#define LEAT_OP_DIAG_DEFAULTS .size = sizeof(leat_op_diag_options), .num_rows = -1, .num_cols = -1
/* Matrices made of their diagonals (tf.linalg.diag).
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_diag(leat_value diagonal, const leat_op_diag_options *options);

/* The diagonals of matrices (tf.linalg.diag_part).
 * `k`: one diagonal, 0 the main one and 1 the next above, or the lowest and the highest of
 * several; NULL: not given.
 * `padding_value`: what stands where there is no value; by default 0.0.
 * `align`: where short diagonals stand, those from the main one up and those below it:
 * RIGHT_LEFT, LEFT_RIGHT, LEFT_LEFT or RIGHT_RIGHT; by default "RIGHT_LEFT". */
LEAT_API leat_value leat_op_diag_part(leat_value input, const int64_t *k, int num_k,
                                      double padding_value, const char *align);

/* The slices of a tensor, dealt out by numbers (tf.dynamic_partition).
 * `num_partitions`: how many outputs there are.
 * Fills `outputs`, and returns how many there are, or -1. */
LEAT_API int leat_op_dynamic_partition(leat_value data, leat_value partitions,
                                       int64_t num_partitions, leat_value *outputs, int capacity);

/* Slices put at numbered places of one tensor (tf.dynamic_stitch). */
LEAT_API leat_value leat_op_dynamic_stitch(const leat_value *indices_and_data,
                                           int num_indices_and_data);

/* The value unchanged, checked against a shape (tf.ensure_shape).
 * `shape`: the shape; -1 stands for any size. */
LEAT_API leat_value leat_op_ensure_shape(leat_value x, leat_shape shape);

/* A dimension of 1 put in front of place axis (tf.expand_dims).
 * `axis`: the place of the new dimension; negative counts from the end. */
LEAT_API leat_value leat_op_expand_dims(leat_value input, int64_t axis);

typedef struct leat_op_eye_options {
    size_t size; /* set by the macro below */
    /* How many columns; LEAT_UNSET: as many as rows. */
    int64_t num_columns;
    /* The shape of a tensor of such matrices; NULL: one matrix. */
    const int64_t *batch_shape;
    int num_batch_shape;
    /* The dtype of the result, a number or bool; by default "float32". */
    leat_dtype dtype;
} leat_op_eye_options;
#define LEAT_OP_EYE_DEFAULTS                                                                       \
    .size = sizeof(leat_op_eye_options), .num_columns = LEAT_UNSET, .dtype = LEAT_FLOAT32
/* Ones on the diagonal of a matrix, zeros elsewhere (tf.eye).
 * `num_rows`: how many rows.
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_eye(leat_graph *graph, int64_t num_rows,
                                const leat_op_eye_options *options);

/* A tensor of shape dims filled with a scalar (tf.fill). */
LEAT_API leat_value leat_op_fill(leat_value dims, leat_value value);

/* The slices of a tensor along an axis that the indices number (tf.gather).
 * `axis`: the dimension of the first input that the indices number; LEAT_UNSET: batch_dims.
 * `batch_dims`: how many leading dimensions both have in common; negative counts from the end
 * of the indices; by default 0. */
LEAT_API leat_value leat_op_gather(leat_value params, leat_value indices, int64_t axis,
                                   int64_t batch_dims);

/* The slices of a tensor that rows of indices name (tf.gather_nd). */
LEAT_API leat_value leat_op_gather_nd(leat_value params, leat_value indices);

/* The input unchanged (tf.identity). */
LEAT_API leat_value leat_op_identity(leat_value input);

/* Numbers in equal steps from start to stop, both among them (tf.linspace).
 * `num`: how many numbers. */
LEAT_API leat_value leat_op_linspace(leat_value start, leat_value stop, int64_t num);

typedef struct leat_op_one_hot_options {
    size_t size; /* set by the macro below */
    /* The value at the index, a scalar; NULL: 1. */
    const leat_element *on_value;
    /* The value elsewhere, a scalar; NULL: 0. */
    const leat_element *off_value;
    /* The place of the new dimension; negative counts from the end; by default -1. */
    int64_t axis;
    /* The dtype of the result, a number or bool; LEAT_INVALID: that of the values, or float32. */
    leat_dtype dtype;
} leat_op_one_hot_options;
#define LEAT_OP_ONE_HOT_DEFAULTS .size = sizeof(leat_op_one_hot_options), .axis = -1
/* 1 at the index along a new dimension, 0 elsewhere, or other values (tf.one_hot).
 * `depth`: the size of the new dimension.
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_one_hot(leat_value indices, int64_t depth,
                                    const leat_op_one_hot_options *options);

/* A tensor of ones (tf.ones).
 * `shape`: the shape of the result, without unknown dimensions.
 * `dtype`: the dtype of the result; by default "float32". */
LEAT_API leat_value leat_op_ones(leat_graph *graph, leat_shape shape, leat_dtype dtype);

/* Ones of another tensor's shape and dtype (tf.ones_like). */
LEAT_API leat_value leat_op_ones_like(leat_value input);

/* The numbers start, start + delta, ... before the limit (tf.range).
 * `dtype`: the dtype of the numbers; LEAT_INVALID: that of the bounds. */
LEAT_API leat_value leat_op_range(leat_value start, leat_value limit, leat_value delta,
                                  leat_dtype dtype);

/* The number of dimensions of a tensor, an int32 scalar (tf.rank). */
LEAT_API leat_value leat_op_rank(leat_value input);

/* The slices of a tensor along a dimension, each as often as it says (tf.repeat).
 * `axis`: the dimension to repeat along; LEAT_UNSET: all values as one vector. */
LEAT_API leat_value leat_op_repeat(leat_value input, leat_value repeats, int64_t axis);

/* The same values under another shape (tf.reshape).
 * `shape`: the dimensions; one may be -1, which takes what the others leave. */
LEAT_API leat_value leat_op_reshape(leat_value tensor, const int64_t *shape, int num_shape);

/* The first input's values under the second's shape (for gradients). */
LEAT_API leat_value leat_op_reshape_like(leat_value x, leat_value like);

/* The values along the named dimensions from the last to the first (tf.reverse).
 * `axis`: the dimensions to turn round; negative counts from the end. */
LEAT_API leat_value leat_op_reverse(leat_value tensor, const int64_t *axis, int num_axis);

/* The first values of each sequence of a batch in reverse order (tf.reverse_sequence).
 * `seq_axis`: the dimension to reverse; none: the first; by default 0.
 * `batch_axis`: the dimension of the sequences; none: the first; by default 0. */
LEAT_API leat_value leat_op_reverse_sequence(leat_value input, leat_value seq_lengths,
                                             int64_t seq_axis, int64_t batch_axis);

/* Values moved along dimensions; what leaves at one end enters at the other (tf.roll).
 * `shift`: by how many places; negative towards the front.
 * `axis`: the dimension of each shift; negative counts from the end. */
LEAT_API leat_value leat_op_roll(leat_value input, const int64_t *shift, int num_shift,
                                 const int64_t *axis, int num_axis);

/* Zeros to which slices are added at places that rows of indices name (tf.scatter_nd).
 * `shape`: the shape of the result. */
LEAT_API leat_value leat_op_scatter_nd(leat_value indices, leat_value updates, const int64_t *shape,
                                       int num_shape);

/* The places where values would stand in sorted lines (tf.searchsorted).
 * `side`: left: before values that are equal; right: behind them; by default "left".
 * `out_type`: the dtype of the places: int32 or int64; by default "int32". */
LEAT_API leat_value leat_op_searchsorted(leat_value sorted_sequence, leat_value values,
                                         const char *side, leat_dtype out_type);

/* x where the condition holds, else y, broadcast (tf.where). */
LEAT_API leat_value leat_op_select(leat_value condition, leat_value x, leat_value y);

/* For each length a vector that is true at as many places from the front (tf.sequence_mask).
 * `maxlen`: how long each vector is; LEAT_UNSET: as long as the largest length.
 * `dtype`: the dtype of the result, a number or bool; by default "bool". */
LEAT_API leat_value leat_op_sequence_mask(leat_value lengths, int64_t maxlen, leat_dtype dtype);

/* Matrices with other values on their diagonals (tf.linalg.set_diag).
 * `k`: one diagonal, 0 the main one and 1 the next above, or the lowest and the highest of
 * several; NULL: not given.
 * `align`: where short diagonals stand, those from the main one up and those below it:
 * RIGHT_LEFT, LEFT_RIGHT, LEFT_LEFT or RIGHT_RIGHT; by default "RIGHT_LEFT". */
LEAT_API leat_value leat_op_set_diag(leat_value input, leat_value diagonal, const int64_t *k,
                                     int num_k, const char *align);

/* The dimensions as a vector (tf.shape).
 * `out_type`: int32 or int64; by default "int32". */
LEAT_API leat_value leat_op_shape(leat_value input, leat_dtype out_type);

/* The number of values (tf.size).
 * `out_type`: int32 or int64; by default "int32". */
LEAT_API leat_value leat_op_size(leat_value input, leat_dtype out_type);

/* The part of a tensor from begin on, size values along each dimension (tf.slice).
 * `begin`: the first index along each dimension.
 * `size`: the number of values along each dimension; -1: all that follow. */
LEAT_API leat_value leat_op_slice(leat_value input_, const int64_t *begin, int num_begin,
                                  const int64_t *size, int num_size);

/* The values in order along a dimension (tf.sort).
 * `axis`: the dimension to sort along; negative counts from the end; by default -1.
 * `direction`: ASCENDING or DESCENDING; by default "ASCENDING". */
LEAT_API leat_value leat_op_sort(leat_value values, int64_t axis, const char *direction);

/* A tensor cut along a dimension into equal or given sizes, each an output (tf.split).
 * `num_or_size_splits`: a number of equal parts, or a list of their sizes, of which one may be
 * -1.
 * `axis`: the dimension to cut; negative counts from the end; by default 0.
 * `num`: how many sizes there are; LEAT_UNSET: as many as the list says.
 * Fills `outputs`, and returns how many there are, or -1. */
LEAT_API int leat_op_split(leat_value value, const leat_element *num_or_size_splits, int64_t axis,
                           int64_t num, leat_value *outputs, int capacity);

/* Dimensions of 1 taken away (tf.squeeze).
 * `axis`: the dimensions to take away; none named: every dimension of 1; NULL: not given. */
LEAT_API leat_value leat_op_squeeze(leat_value input, const int64_t *axis, int num_axis);

/* Tensors of one shape along a new dimension (tf.stack).
 * `axis`: the dimension along which the inputs follow each other; negative counts from the end;
 * by default 0. */
LEAT_API leat_value leat_op_stack(const leat_value *values, int num_values, int64_t axis);

/* The input unchanged; no gradient flows through it (tf.stop_gradient). */
LEAT_API leat_value leat_op_stop_gradient(leat_value input);

typedef struct leat_op_strided_slice_options {
    size_t size; /* set by the macro below */
    /* The step of each entry; NULL: 1. */
    const int64_t *strides;
    int num_strides;
    /* Entries without a begin, by bits; by default 0. */
    int64_t begin_mask;
    /* Entries without an end, by bits; by default 0. */
    int64_t end_mask;
    /* The entry that stands for all dimensions that no other names, by its bit; by default 0. */
    int64_t ellipsis_mask;
    /* Entries that are a new dimension of 1, by bits; by default 0. */
    int64_t new_axis_mask;
    /* Entries that are one index, whose dimension goes, by bits; by default 0. */
    int64_t shrink_axis_mask;
} leat_op_strided_slice_options;
#define LEAT_OP_STRIDED_SLICE_DEFAULTS .size = sizeof(leat_op_strided_slice_options)
/* The part of a tensor that numpy's x[begin:end:stride, index, None, ...] names
 * (tf.strided_slice).
 * `begin`: the first index of each entry; negative counts from the end.
 * `end`: the index of each entry that is not reached any more.
 * `options`: NULL for the defaults. */
LEAT_API leat_value leat_op_strided_slice(leat_value input_, const int64_t *begin, int num_begin,
                                          const int64_t *end, int num_end,
                                          const leat_op_strided_slice_options *options);

/* A tensor with updates added to the slices that rows of indices name
 * (tf.tensor_scatter_nd_add). */
LEAT_API leat_value leat_op_tensor_scatter_nd_add(leat_value tensor, leat_value indices,
                                                  leat_value updates);

/* A tensor whose slices that rows of indices name are their maxima with updates
 * (tf.tensor_scatter_nd_max). */
LEAT_API leat_value leat_op_tensor_scatter_nd_max(leat_value tensor, leat_value indices,
                                                  leat_value updates);

/* A tensor whose slices that rows of indices name are their minima with updates
 * (tf.tensor_scatter_nd_min). */
LEAT_API leat_value leat_op_tensor_scatter_nd_min(leat_value tensor, leat_value indices,
                                                  leat_value updates);

/* A tensor with updates subtracted from the slices that rows of indices name
 * (tf.tensor_scatter_nd_sub). */
LEAT_API leat_value leat_op_tensor_scatter_nd_sub(leat_value tensor, leat_value indices,
                                                  leat_value updates);

/* A tensor with updates in place of the slices that rows of indices name
 * (tf.tensor_scatter_nd_update). */
LEAT_API leat_value leat_op_tensor_scatter_nd_update(leat_value tensor, leat_value indices,
                                                     leat_value updates);

/* A tensor repeated along each dimension (tf.tile).
 * `multiples`: how often each dimension stands behind itself. */
LEAT_API leat_value leat_op_tile(leat_value input, const int64_t *multiples, int num_multiples);

/* The k largest values along the last dimension and their places (tf.math.top_k).
 * `k`: how many values; by default 1.
 * `sorted`: of no effect: the values are always in order; by default true.
 * `index_type`: the dtype of the places: int16, int32 or int64; by default "int32".
 * Returns `values`; `indices` may be NULL. */
LEAT_API leat_value leat_op_top_k(leat_value input, int64_t k, bool sorted, leat_dtype index_type,
                                  leat_value *indices);

/* Dimension i of the result is dimension perm[i] of the input (tf.transpose).
 * `perm`: the dimension of the input that each dimension of the result is; empty: reversed;
 * NULL: not given. */
LEAT_API leat_value leat_op_transpose(leat_value a, const int64_t *perm, int num_perm);

/* The values of a vector without repetitions, and for each value its number among them
 * (tf.unique).
 * `out_idx`: the dtype of the numbers: int32 or int64; by default "int32".
 * Returns `y`; `idx` may be NULL. */
LEAT_API leat_value leat_op_unique(leat_value x, leat_dtype out_idx, leat_value *idx);

/* The values of a vector without repetitions, for each value its number among them, and how
 * often each occurs (tf.unique_with_counts).
 * `out_idx`: the dtype of the numbers: int32 or int64; by default "int32".
 * Returns `y`; `idx` and `count` may be NULL. */
LEAT_API leat_value leat_op_unique_with_counts(leat_value x, leat_dtype out_idx, leat_value *idx,
                                               leat_value *count);

/* The slices of a tensor along a dimension, each an output (tf.unstack).
 * `num`: the size of the dimension; LEAT_UNSET: as inferred.
 * `axis`: the dimension that goes; negative counts from the end; by default 0.
 * Fills `outputs`, and returns how many there are, or -1. */
LEAT_API int leat_op_unstack(leat_value value, int64_t num, int64_t axis, leat_value *outputs,
                             int capacity);

/* The places of values that are not 0 or false, as rows of indices (tf.where with a condition
 * alone). */
LEAT_API leat_value leat_op_where(leat_value condition);

/* A tensor of zeros (tf.zeros).
 * `shape`: the shape of the result, without unknown dimensions.
 * `dtype`: the dtype of the result; by default "float32". */
LEAT_API leat_value leat_op_zeros(leat_graph *graph, leat_shape shape, leat_dtype dtype);

/* Zeros of another tensor's shape and dtype (tf.zeros_like). */
LEAT_API leat_value leat_op_zeros_like(leat_value input);

#ifdef __cplusplus
}
#endif
#endif
