/* Made by tools/builders.py from the tables of src/graph/ops: make builders. */
#include "graph/build.h"
#include <leat/ops.h>

#define INPUTS_1(NAME)                                                                             \
    leat_value leat_op_##NAME(leat_value a) {                                                      \
        return leati_graph_build1(&leati_tensor_op_##NAME, NULL, a);                               \
    }
#define INPUTS_2(NAME)                                                                             \
    leat_value leat_op_##NAME(leat_value a, leat_value b) {                                        \
        return leati_graph_build2(&leati_tensor_op_##NAME, NULL, a, b);                            \
    }
#define INPUTS_3(NAME)                                                                             \
    leat_value leat_op_##NAME(leat_value a, leat_value b, leat_value c) {                          \
        return leati_graph_build3(&leati_tensor_op_##NAME, NULL, a, b, c);                         \
    }

leat_value leat_op_argsort(leat_value values, int64_t axis, const char *direction, bool stable) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_argsort, NULL);
    leati_build_input(&build, values);
    leati_build_int(&build, "axis", axis);
    leati_build_text(&build, "direction", direction);
    leati_build_bool(&build, "stable", stable);
    return leati_build_end(&build);
}

leat_value leat_op_band_part(leat_value input, int64_t num_lower, int64_t num_upper) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_band_part, NULL);
    leati_build_input(&build, input);
    leati_build_int(&build, "num_lower", num_lower);
    leati_build_int(&build, "num_upper", num_upper);
    return leati_build_end(&build);
}

leat_value leat_op_bitcast(leat_value input, leat_dtype type) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_bitcast, NULL);
    leati_build_input(&build, input);
    leati_build_dtype(&build, "type", type);
    return leati_build_end(&build);
}

leat_value leat_op_boolean_mask(leat_value tensor, leat_value mask, int64_t axis) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_boolean_mask, NULL);
    leati_build_input(&build, tensor);
    leati_build_input(&build, mask);
    leati_build_int(&build, "axis", axis);
    return leati_build_end(&build);
}

leat_value leat_op_broadcast_to(leat_value input, const int64_t *shape, int num_shape) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_broadcast_to, NULL);
    leati_build_input(&build, input);
    leati_build_ints(&build, "shape", shape, num_shape);
    return leati_build_end(&build);
}

leat_value leat_op_concat(const leat_value *values, int num_values, int64_t axis) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_concat, NULL);
    leati_build_inputs(&build, values, num_values);
    leati_build_int(&build, "axis", axis);
    return leati_build_end(&build);
}

leat_value leat_op_diag(leat_value diagonal, const leat_op_diag_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_diag, NULL);
    leati_build_input(&build, diagonal);
    leat_op_diag_options own = {LEAT_OP_DIAG_DEFAULTS};
    leati_build_note(&build, LEATI_OPTIONS(leat_op_diag_options, &own, options, &build.error));
    leati_build_ints(&build, "k", own.k, own.num_k);
    leati_build_int(&build, "num_rows", own.num_rows);
    leati_build_int(&build, "num_cols", own.num_cols);
    leati_build_float(&build, "padding_value", own.padding_value);
    leati_build_text(&build, "align", own.align);
    return leati_build_end(&build);
}

leat_value leat_op_diag_part(leat_value input, const int64_t *k, int num_k, double padding_value,
                             const char *align) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_diag_part, NULL);
    leati_build_input(&build, input);
    leati_build_ints(&build, "k", k, num_k);
    leati_build_float(&build, "padding_value", padding_value);
    leati_build_text(&build, "align", align);
    return leati_build_end(&build);
}

int leat_op_dynamic_partition(leat_value data, leat_value partitions, int64_t num_partitions,
                              leat_value *outputs, int capacity) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_dynamic_partition, NULL);
    leati_build_input(&build, data);
    leati_build_input(&build, partitions);
    leati_build_int(&build, "num_partitions", num_partitions);
    return leati_build_list(&build, outputs, capacity);
}

leat_value leat_op_dynamic_stitch(const leat_value *indices_and_data, int num_indices_and_data) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_dynamic_stitch, NULL);
    leati_build_inputs(&build, indices_and_data, num_indices_and_data);
    return leati_build_end(&build);
}

leat_value leat_op_ensure_shape(leat_value x, leat_shape shape) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_ensure_shape, NULL);
    leati_build_input(&build, x);
    leati_build_shape(&build, "shape", shape);
    return leati_build_end(&build);
}

leat_value leat_op_expand_dims(leat_value input, int64_t axis) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_expand_dims, NULL);
    leati_build_input(&build, input);
    leati_build_int(&build, "axis", axis);
    return leati_build_end(&build);
}

leat_value leat_op_eye(leat_graph *graph, int64_t num_rows, const leat_op_eye_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_eye, graph);
    leati_build_int(&build, "num_rows", num_rows);
    leat_op_eye_options own = {LEAT_OP_EYE_DEFAULTS};
    leati_build_note(&build, LEATI_OPTIONS(leat_op_eye_options, &own, options, &build.error));
    leati_build_int(&build, "num_columns", own.num_columns);
    leati_build_ints(&build, "batch_shape", own.batch_shape, own.num_batch_shape);
    leati_build_dtype(&build, "dtype", own.dtype);
    return leati_build_end(&build);
}

leat_value leat_op_gather(leat_value params, leat_value indices, int64_t axis, int64_t batch_dims) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_gather, NULL);
    leati_build_input(&build, params);
    leati_build_input(&build, indices);
    leati_build_int(&build, "axis", axis);
    leati_build_int(&build, "batch_dims", batch_dims);
    return leati_build_end(&build);
}

leat_value leat_op_linspace(leat_value start, leat_value stop, int64_t num) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_linspace, NULL);
    leati_build_input(&build, start);
    leati_build_input(&build, stop);
    leati_build_int(&build, "num", num);
    return leati_build_end(&build);
}

leat_value leat_op_one_hot(leat_value indices, int64_t depth,
                           const leat_op_one_hot_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_one_hot, NULL);
    leati_build_input(&build, indices);
    leati_build_int(&build, "depth", depth);
    leat_op_one_hot_options own = {LEAT_OP_ONE_HOT_DEFAULTS};
    leati_build_note(&build, LEATI_OPTIONS(leat_op_one_hot_options, &own, options, &build.error));
    leati_build_element(&build, "on_value", own.on_value);
    leati_build_element(&build, "off_value", own.off_value);
    leati_build_int(&build, "axis", own.axis);
    leati_build_dtype(&build, "dtype", own.dtype);
    return leati_build_end(&build);
}

leat_value leat_op_ones(leat_graph *graph, leat_shape shape, leat_dtype dtype) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_ones, graph);
    leati_build_shape(&build, "shape", shape);
    leati_build_dtype(&build, "dtype", dtype);
    return leati_build_end(&build);
}

leat_value leat_op_range(leat_value start, leat_value limit, leat_value delta, leat_dtype dtype) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_range, NULL);
    leati_build_input(&build, start);
    leati_build_input_if(&build, limit);
    leati_build_input_if(&build, delta);
    leati_build_dtype(&build, "dtype", dtype);
    return leati_build_end(&build);
}

leat_value leat_op_repeat(leat_value input, leat_value repeats, int64_t axis) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_repeat, NULL);
    leati_build_input(&build, input);
    leati_build_input(&build, repeats);
    leati_build_int(&build, "axis", axis);
    return leati_build_end(&build);
}

leat_value leat_op_reshape(leat_value tensor, const int64_t *shape, int num_shape) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_reshape, NULL);
    leati_build_input(&build, tensor);
    leati_build_ints(&build, "shape", shape, num_shape);
    return leati_build_end(&build);
}

leat_value leat_op_reverse(leat_value tensor, const int64_t *axis, int num_axis) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_reverse, NULL);
    leati_build_input(&build, tensor);
    leati_build_ints(&build, "axis", axis, num_axis);
    return leati_build_end(&build);
}

leat_value leat_op_reverse_sequence(leat_value input, leat_value seq_lengths, int64_t seq_axis,
                                    int64_t batch_axis) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_reverse_sequence, NULL);
    leati_build_input(&build, input);
    leati_build_input(&build, seq_lengths);
    leati_build_int(&build, "seq_axis", seq_axis);
    leati_build_int(&build, "batch_axis", batch_axis);
    return leati_build_end(&build);
}

leat_value leat_op_roll(leat_value input, const int64_t *shift, int num_shift, const int64_t *axis,
                        int num_axis) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_roll, NULL);
    leati_build_input(&build, input);
    leati_build_ints(&build, "shift", shift, num_shift);
    leati_build_ints(&build, "axis", axis, num_axis);
    return leati_build_end(&build);
}

leat_value leat_op_scatter_nd(leat_value indices, leat_value updates, const int64_t *shape,
                              int num_shape) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_scatter_nd, NULL);
    leati_build_input(&build, indices);
    leati_build_input(&build, updates);
    leati_build_ints(&build, "shape", shape, num_shape);
    return leati_build_end(&build);
}

leat_value leat_op_searchsorted(leat_value sorted_sequence, leat_value values, const char *side,
                                leat_dtype out_type) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_searchsorted, NULL);
    leati_build_input(&build, sorted_sequence);
    leati_build_input(&build, values);
    leati_build_text(&build, "side", side);
    leati_build_dtype(&build, "out_type", out_type);
    return leati_build_end(&build);
}

leat_value leat_op_sequence_mask(leat_value lengths, int64_t maxlen, leat_dtype dtype) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_sequence_mask, NULL);
    leati_build_input(&build, lengths);
    leati_build_int(&build, "maxlen", maxlen);
    leati_build_dtype(&build, "dtype", dtype);
    return leati_build_end(&build);
}

leat_value leat_op_set_diag(leat_value input, leat_value diagonal, const int64_t *k, int num_k,
                            const char *align) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_set_diag, NULL);
    leati_build_input(&build, input);
    leati_build_input(&build, diagonal);
    leati_build_ints(&build, "k", k, num_k);
    leati_build_text(&build, "align", align);
    return leati_build_end(&build);
}

leat_value leat_op_shape(leat_value input, leat_dtype out_type) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_shape, NULL);
    leati_build_input(&build, input);
    leati_build_dtype(&build, "out_type", out_type);
    return leati_build_end(&build);
}

leat_value leat_op_size(leat_value input, leat_dtype out_type) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_size, NULL);
    leati_build_input(&build, input);
    leati_build_dtype(&build, "out_type", out_type);
    return leati_build_end(&build);
}

leat_value leat_op_slice(leat_value input_, const int64_t *begin, int num_begin,
                         const int64_t *size, int num_size) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_slice, NULL);
    leati_build_input(&build, input_);
    leati_build_ints(&build, "begin", begin, num_begin);
    leati_build_ints(&build, "size", size, num_size);
    return leati_build_end(&build);
}

leat_value leat_op_sort(leat_value values, int64_t axis, const char *direction) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_sort, NULL);
    leati_build_input(&build, values);
    leati_build_int(&build, "axis", axis);
    leati_build_text(&build, "direction", direction);
    return leati_build_end(&build);
}

int leat_op_split(leat_value value, const leat_element *num_or_size_splits, int64_t axis,
                  int64_t num, leat_value *outputs, int capacity) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_split, NULL);
    leati_build_input(&build, value);
    leati_build_element(&build, "num_or_size_splits", num_or_size_splits);
    leati_build_int(&build, "axis", axis);
    leati_build_int(&build, "num", num);
    return leati_build_list(&build, outputs, capacity);
}

leat_value leat_op_squeeze(leat_value input, const int64_t *axis, int num_axis) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_squeeze, NULL);
    leati_build_input(&build, input);
    leati_build_ints(&build, "axis", axis, num_axis);
    return leati_build_end(&build);
}

leat_value leat_op_stack(const leat_value *values, int num_values, int64_t axis) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stack, NULL);
    leati_build_inputs(&build, values, num_values);
    leati_build_int(&build, "axis", axis);
    return leati_build_end(&build);
}

leat_value leat_op_strided_slice(leat_value input_, const int64_t *begin, int num_begin,
                                 const int64_t *end, int num_end,
                                 const leat_op_strided_slice_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_strided_slice, NULL);
    leati_build_input(&build, input_);
    leati_build_ints(&build, "begin", begin, num_begin);
    leati_build_ints(&build, "end", end, num_end);
    leat_op_strided_slice_options own = {LEAT_OP_STRIDED_SLICE_DEFAULTS};
    leati_build_note(&build,
                     LEATI_OPTIONS(leat_op_strided_slice_options, &own, options, &build.error));
    leati_build_ints(&build, "strides", own.strides, own.num_strides);
    leati_build_int(&build, "begin_mask", own.begin_mask);
    leati_build_int(&build, "end_mask", own.end_mask);
    leati_build_int(&build, "ellipsis_mask", own.ellipsis_mask);
    leati_build_int(&build, "new_axis_mask", own.new_axis_mask);
    leati_build_int(&build, "shrink_axis_mask", own.shrink_axis_mask);
    return leati_build_end(&build);
}

leat_value leat_op_tile(leat_value input, const int64_t *multiples, int num_multiples) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_tile, NULL);
    leati_build_input(&build, input);
    leati_build_ints(&build, "multiples", multiples, num_multiples);
    return leati_build_end(&build);
}

leat_value leat_op_top_k(leat_value input, int64_t k, bool sorted, leat_dtype index_type,
                         leat_value *indices) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_top_k, NULL);
    leati_build_input(&build, input);
    leati_build_int(&build, "k", k);
    leati_build_bool(&build, "sorted", sorted);
    leati_build_dtype(&build, "index_type", index_type);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, indices);
    return first;
}

leat_value leat_op_transpose(leat_value a, const int64_t *perm, int num_perm) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_transpose, NULL);
    leati_build_input(&build, a);
    leati_build_ints(&build, "perm", perm, num_perm);
    return leati_build_end(&build);
}

leat_value leat_op_unique(leat_value x, leat_dtype out_idx, leat_value *idx) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_unique, NULL);
    leati_build_input(&build, x);
    leati_build_dtype(&build, "out_idx", out_idx);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, idx);
    return first;
}

leat_value leat_op_unique_with_counts(leat_value x, leat_dtype out_idx, leat_value *idx,
                                      leat_value *count) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_unique_with_counts, NULL);
    leati_build_input(&build, x);
    leati_build_dtype(&build, "out_idx", out_idx);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, idx);
    leati_build_output(&build, 2, count);
    return first;
}

int leat_op_unstack(leat_value value, int64_t num, int64_t axis, leat_value *outputs,
                    int capacity) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_unstack, NULL);
    leati_build_input(&build, value);
    leati_build_int(&build, "num", num);
    leati_build_int(&build, "axis", axis);
    return leati_build_list(&build, outputs, capacity);
}

leat_value leat_op_zeros(leat_graph *graph, leat_shape shape, leat_dtype dtype) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_zeros, graph);
    leati_build_shape(&build, "shape", shape);
    leati_build_dtype(&build, "dtype", dtype);
    return leati_build_end(&build);
}

leat_value leat_op_einsum(const leat_value *inputs, int num_inputs, const char *equation) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_einsum, NULL);
    leati_build_inputs(&build, inputs, num_inputs);
    leati_build_text(&build, "equation", equation);
    return leati_build_end(&build);
}

leat_value leat_op_log_matrix_determinant(leat_value input, leat_value *log_abs_determinant) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_log_matrix_determinant, NULL);
    leati_build_input(&build, input);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, log_abs_determinant);
    return first;
}

leat_value leat_op_lu(leat_value input, leat_dtype output_idx_type, leat_value *p) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_lu, NULL);
    leati_build_input(&build, input);
    leati_build_dtype(&build, "output_idx_type", output_idx_type);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, p);
    return first;
}

leat_value leat_op_matmul(leat_value a, leat_value b, bool transpose_a, bool transpose_b) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_matmul, NULL);
    leati_build_input(&build, a);
    leati_build_input(&build, b);
    leati_build_bool(&build, "transpose_a", transpose_a);
    leati_build_bool(&build, "transpose_b", transpose_b);
    return leati_build_end(&build);
}

leat_value leat_op_matrix_inverse(leat_value input, bool adjoint) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_matrix_inverse, NULL);
    leati_build_input(&build, input);
    leati_build_bool(&build, "adjoint", adjoint);
    return leati_build_end(&build);
}

leat_value leat_op_matrix_solve(leat_value matrix, leat_value rhs, bool adjoint) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_matrix_solve, NULL);
    leati_build_input(&build, matrix);
    leati_build_input(&build, rhs);
    leati_build_bool(&build, "adjoint", adjoint);
    return leati_build_end(&build);
}

leat_value leat_op_matrix_triangular_solve(leat_value matrix, leat_value rhs, bool lower,
                                           bool adjoint) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_matrix_triangular_solve, NULL);
    leati_build_input(&build, matrix);
    leati_build_input(&build, rhs);
    leati_build_bool(&build, "lower", lower);
    leati_build_bool(&build, "adjoint", adjoint);
    return leati_build_end(&build);
}

leat_value leat_op_qr(leat_value input, bool full_matrices, leat_value *r) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_qr, NULL);
    leati_build_input(&build, input);
    leati_build_bool(&build, "full_matrices", full_matrices);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, r);
    return first;
}

leat_value leat_op_self_adjoint_eig(leat_value tensor, leat_value *v) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_self_adjoint_eig, NULL);
    leati_build_input(&build, tensor);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, v);
    return first;
}

leat_value leat_op_svd(leat_value tensor, bool full_matrices, bool compute_uv, leat_value *u,
                       leat_value *v) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_svd, NULL);
    leati_build_input(&build, tensor);
    leati_build_bool(&build, "full_matrices", full_matrices);
    leati_build_bool(&build, "compute_uv", compute_uv);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, u);
    leati_build_output(&build, 2, v);
    return first;
}

leat_value leat_op_add_n(const leat_value *inputs, int num_inputs) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_add_n, NULL);
    leati_build_inputs(&build, inputs, num_inputs);
    return leati_build_end(&build);
}

leat_value leat_op_argmax(leat_value input, int64_t axis, leat_dtype output_type) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_argmax, NULL);
    leati_build_input(&build, input);
    leati_build_int(&build, "axis", axis);
    leati_build_dtype(&build, "output_type", output_type);
    return leati_build_end(&build);
}

leat_value leat_op_argmin(leat_value input, int64_t axis, leat_dtype output_type) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_argmin, NULL);
    leati_build_input(&build, input);
    leati_build_int(&build, "axis", axis);
    leati_build_dtype(&build, "output_type", output_type);
    return leati_build_end(&build);
}

leat_value leat_op_cast(leat_value x, leat_dtype dtype) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_cast, NULL);
    leati_build_input(&build, x);
    leati_build_dtype(&build, "dtype", dtype);
    return leati_build_end(&build);
}

leat_value leat_op_check_numerics(leat_value tensor, const char *message) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_check_numerics, NULL);
    leati_build_input(&build, tensor);
    leati_build_text(&build, "message", message);
    return leati_build_end(&build);
}

leat_value leat_op_count_nonzero(leat_value input, const int64_t *axis, int num_axis, bool keepdims,
                                 leat_dtype dtype) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_count_nonzero, NULL);
    leati_build_input(&build, input);
    leati_build_ints(&build, "axis", axis, num_axis);
    leati_build_bool(&build, "keepdims", keepdims);
    leati_build_dtype(&build, "dtype", dtype);
    return leati_build_end(&build);
}

leat_value leat_op_cumprod(leat_value x, int64_t axis, bool exclusive, bool reverse) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_cumprod, NULL);
    leati_build_input(&build, x);
    leati_build_int(&build, "axis", axis);
    leati_build_bool(&build, "exclusive", exclusive);
    leati_build_bool(&build, "reverse", reverse);
    return leati_build_end(&build);
}

leat_value leat_op_cumsum(leat_value x, int64_t axis, bool exclusive, bool reverse) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_cumsum, NULL);
    leati_build_input(&build, x);
    leati_build_int(&build, "axis", axis);
    leati_build_bool(&build, "exclusive", exclusive);
    leati_build_bool(&build, "reverse", reverse);
    return leati_build_end(&build);
}

leat_value leat_op_cumulative_logsumexp(leat_value x, int64_t axis, bool exclusive, bool reverse) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_cumulative_logsumexp, NULL);
    leati_build_input(&build, x);
    leati_build_int(&build, "axis", axis);
    leati_build_bool(&build, "exclusive", exclusive);
    leati_build_bool(&build, "reverse", reverse);
    return leati_build_end(&build);
}

leat_value leat_op_histogram_fixed_width(leat_value values, leat_value value_range, int64_t nbins,
                                         leat_dtype dtype) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_histogram_fixed_width, NULL);
    leati_build_input(&build, values);
    leati_build_input(&build, value_range);
    leati_build_int(&build, "nbins", nbins);
    leati_build_dtype(&build, "dtype", dtype);
    return leati_build_end(&build);
}

leat_value leat_op_reduce_all(leat_value input_tensor, const int64_t *axis, int num_axis,
                              bool keepdims) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_reduce_all, NULL);
    leati_build_input(&build, input_tensor);
    leati_build_ints(&build, "axis", axis, num_axis);
    leati_build_bool(&build, "keepdims", keepdims);
    return leati_build_end(&build);
}

leat_value leat_op_reduce_any(leat_value input_tensor, const int64_t *axis, int num_axis,
                              bool keepdims) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_reduce_any, NULL);
    leati_build_input(&build, input_tensor);
    leati_build_ints(&build, "axis", axis, num_axis);
    leati_build_bool(&build, "keepdims", keepdims);
    return leati_build_end(&build);
}

leat_value leat_op_reduce_max(leat_value input_tensor, const int64_t *axis, int num_axis,
                              bool keepdims) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_reduce_max, NULL);
    leati_build_input(&build, input_tensor);
    leati_build_ints(&build, "axis", axis, num_axis);
    leati_build_bool(&build, "keepdims", keepdims);
    return leati_build_end(&build);
}

leat_value leat_op_reduce_mean(leat_value input_tensor, const int64_t *axis, int num_axis,
                               bool keepdims) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_reduce_mean, NULL);
    leati_build_input(&build, input_tensor);
    leati_build_ints(&build, "axis", axis, num_axis);
    leati_build_bool(&build, "keepdims", keepdims);
    return leati_build_end(&build);
}

leat_value leat_op_reduce_min(leat_value input_tensor, const int64_t *axis, int num_axis,
                              bool keepdims) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_reduce_min, NULL);
    leati_build_input(&build, input_tensor);
    leati_build_ints(&build, "axis", axis, num_axis);
    leati_build_bool(&build, "keepdims", keepdims);
    return leati_build_end(&build);
}

leat_value leat_op_reduce_prod(leat_value input_tensor, const int64_t *axis, int num_axis,
                               bool keepdims) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_reduce_prod, NULL);
    leati_build_input(&build, input_tensor);
    leati_build_ints(&build, "axis", axis, num_axis);
    leati_build_bool(&build, "keepdims", keepdims);
    return leati_build_end(&build);
}

leat_value leat_op_reduce_sum(leat_value input_tensor, const int64_t *axis, int num_axis,
                              bool keepdims) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_reduce_sum, NULL);
    leati_build_input(&build, input_tensor);
    leati_build_ints(&build, "axis", axis, num_axis);
    leati_build_bool(&build, "keepdims", keepdims);
    return leati_build_end(&build);
}

leat_value leat_op_saturate_cast(leat_value value, leat_dtype dtype) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_saturate_cast, NULL);
    leati_build_input(&build, value);
    leati_build_dtype(&build, "dtype", dtype);
    return leati_build_end(&build);
}

leat_value leat_op_unsorted_segment_join(leat_value inputs, leat_value segment_ids,
                                         int64_t num_segments, const char *separator) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_unsorted_segment_join, NULL);
    leati_build_input(&build, inputs);
    leati_build_input(&build, segment_ids);
    leati_build_int(&build, "num_segments", num_segments);
    leati_build_text(&build, "separator", separator);
    return leati_build_end(&build);
}

leat_value leat_op_unsorted_segment_max(leat_value data, leat_value segment_ids,
                                        int64_t num_segments) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_unsorted_segment_max, NULL);
    leati_build_input(&build, data);
    leati_build_input(&build, segment_ids);
    leati_build_int(&build, "num_segments", num_segments);
    return leati_build_end(&build);
}

leat_value leat_op_unsorted_segment_min(leat_value data, leat_value segment_ids,
                                        int64_t num_segments) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_unsorted_segment_min, NULL);
    leati_build_input(&build, data);
    leati_build_input(&build, segment_ids);
    leati_build_int(&build, "num_segments", num_segments);
    return leati_build_end(&build);
}

leat_value leat_op_unsorted_segment_prod(leat_value data, leat_value segment_ids,
                                         int64_t num_segments) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_unsorted_segment_prod, NULL);
    leati_build_input(&build, data);
    leati_build_input(&build, segment_ids);
    leati_build_int(&build, "num_segments", num_segments);
    return leati_build_end(&build);
}

leat_value leat_op_unsorted_segment_sum(leat_value data, leat_value segment_ids,
                                        int64_t num_segments) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_unsorted_segment_sum, NULL);
    leati_build_input(&build, data);
    leati_build_input(&build, segment_ids);
    leati_build_int(&build, "num_segments", num_segments);
    return leati_build_end(&build);
}

leat_value leat_op_avg_pool2d(leat_value input, const int64_t *ksize, int num_ksize,
                              const int64_t *strides, int num_strides, const char *padding) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_avg_pool2d, NULL);
    leati_build_input(&build, input);
    leati_build_ints(&build, "ksize", ksize, num_ksize);
    leati_build_ints(&build, "strides", strides, num_strides);
    leati_build_text(&build, "padding", padding);
    return leati_build_end(&build);
}

leat_value leat_op_conv2d(leat_value input, leat_value filters, const int64_t *strides,
                          int num_strides, const char *padding, const int64_t *dilations,
                          int num_dilations) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_conv2d, NULL);
    leati_build_input(&build, input);
    leati_build_input(&build, filters);
    leati_build_ints(&build, "strides", strides, num_strides);
    leati_build_text(&build, "padding", padding);
    leati_build_ints(&build, "dilations", dilations, num_dilations);
    return leati_build_end(&build);
}

leat_value leat_op_conv2d_backprop_filter(leat_value input, leat_value filter, leat_value gradient,
                                          const int64_t *strides, int num_strides,
                                          const char *padding, const int64_t *dilations,
                                          int num_dilations) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_conv2d_backprop_filter, NULL);
    leati_build_input(&build, input);
    leati_build_input(&build, filter);
    leati_build_input(&build, gradient);
    leati_build_ints(&build, "strides", strides, num_strides);
    leati_build_text(&build, "padding", padding);
    leati_build_ints(&build, "dilations", dilations, num_dilations);
    return leati_build_end(&build);
}

leat_value leat_op_conv2d_backprop_input(leat_value input, leat_value filter, leat_value gradient,
                                         const int64_t *strides, int num_strides,
                                         const char *padding, const int64_t *dilations,
                                         int num_dilations) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_conv2d_backprop_input, NULL);
    leati_build_input(&build, input);
    leati_build_input(&build, filter);
    leati_build_input(&build, gradient);
    leati_build_ints(&build, "strides", strides, num_strides);
    leati_build_text(&build, "padding", padding);
    leati_build_ints(&build, "dilations", dilations, num_dilations);
    return leati_build_end(&build);
}

leat_value leat_op_in_top_k(leat_value targets, leat_value predictions, int64_t k) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_in_top_k, NULL);
    leati_build_input(&build, targets);
    leati_build_input(&build, predictions);
    leati_build_int(&build, "k", k);
    return leati_build_end(&build);
}

leat_value leat_op_max_pool2d(leat_value input, const int64_t *ksize, int num_ksize,
                              const int64_t *strides, int num_strides, const char *padding) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_max_pool2d, NULL);
    leati_build_input(&build, input);
    leati_build_ints(&build, "ksize", ksize, num_ksize);
    leati_build_ints(&build, "strides", strides, num_strides);
    leati_build_text(&build, "padding", padding);
    return leati_build_end(&build);
}

leat_value leat_op_max_pool2d_grad(leat_value input, leat_value output, leat_value gradient,
                                   const int64_t *ksize, int num_ksize, const int64_t *strides,
                                   int num_strides, const char *padding) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_max_pool2d_grad, NULL);
    leati_build_input(&build, input);
    leati_build_input(&build, output);
    leati_build_input(&build, gradient);
    leati_build_ints(&build, "ksize", ksize, num_ksize);
    leati_build_ints(&build, "strides", strides, num_strides);
    leati_build_text(&build, "padding", padding);
    return leati_build_end(&build);
}

leat_value leat_op_decode_compressed(leat_value bytes, const char *compression_type) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_decode_compressed, NULL);
    leati_build_input(&build, bytes);
    leati_build_text(&build, "compression_type", compression_type);
    return leati_build_end(&build);
}

leat_value leat_op_decode_raw(leat_value input_bytes, leat_dtype out_type, bool little_endian,
                              int64_t fixed_length) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_decode_raw, NULL);
    leati_build_input(&build, input_bytes);
    leati_build_dtype(&build, "out_type", out_type);
    leati_build_bool(&build, "little_endian", little_endian);
    leati_build_int(&build, "fixed_length", fixed_length);
    return leati_build_end(&build);
}

leat_value leat_op_decode_wav(leat_value contents, int64_t desired_channels,
                              int64_t desired_samples, leat_value *sample_rate) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_decode_wav, NULL);
    leati_build_input(&build, contents);
    leati_build_int(&build, "desired_channels", desired_channels);
    leati_build_int(&build, "desired_samples", desired_samples);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, sample_rate);
    return first;
}

leat_value leat_op_parse_tensor(leat_value serialized, leat_dtype out_type) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_parse_tensor, NULL);
    leati_build_input(&build, serialized);
    leati_build_dtype(&build, "out_type", out_type);
    return leati_build_end(&build);
}

leat_value leat_op_adjust_brightness(leat_value image, double delta) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_adjust_brightness, NULL);
    leati_build_input(&build, image);
    leati_build_float(&build, "delta", delta);
    return leati_build_end(&build);
}

leat_value leat_op_adjust_contrast(leat_value images, double contrast_factor) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_adjust_contrast, NULL);
    leati_build_input(&build, images);
    leati_build_float(&build, "contrast_factor", contrast_factor);
    return leati_build_end(&build);
}

leat_value leat_op_adjust_gamma(leat_value image, double gamma, double gain) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_adjust_gamma, NULL);
    leati_build_input(&build, image);
    leati_build_float(&build, "gamma", gamma);
    leati_build_float(&build, "gain", gain);
    return leati_build_end(&build);
}

leat_value leat_op_adjust_hue(leat_value image, double delta) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_adjust_hue, NULL);
    leati_build_input(&build, image);
    leati_build_float(&build, "delta", delta);
    return leati_build_end(&build);
}

leat_value leat_op_adjust_jpeg_quality(leat_value image, int64_t jpeg_quality,
                                       const char *dct_method) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_adjust_jpeg_quality, NULL);
    leati_build_input(&build, image);
    leati_build_int(&build, "jpeg_quality", jpeg_quality);
    leati_build_text(&build, "dct_method", dct_method);
    return leati_build_end(&build);
}

leat_value leat_op_adjust_saturation(leat_value image, double saturation_factor) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_adjust_saturation, NULL);
    leati_build_input(&build, image);
    leati_build_float(&build, "saturation_factor", saturation_factor);
    return leati_build_end(&build);
}

leat_value leat_op_central_crop(leat_value image, double central_fraction) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_central_crop, NULL);
    leati_build_input(&build, image);
    leati_build_float(&build, "central_fraction", central_fraction);
    return leati_build_end(&build);
}

leat_value leat_op_convert_image_dtype(leat_value image, leat_dtype dtype, bool saturate) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_convert_image_dtype, NULL);
    leati_build_input(&build, image);
    leati_build_dtype(&build, "dtype", dtype);
    leati_build_bool(&build, "saturate", saturate);
    return leati_build_end(&build);
}

leat_value leat_op_crop_and_resize(leat_value image, leat_value boxes, leat_value box_indices,
                                   const int64_t *crop_size, int num_crop_size, const char *method,
                                   double extrapolation_value) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_crop_and_resize, NULL);
    leati_build_input(&build, image);
    leati_build_input(&build, boxes);
    leati_build_input(&build, box_indices);
    leati_build_ints(&build, "crop_size", crop_size, num_crop_size);
    leati_build_text(&build, "method", method);
    leati_build_float(&build, "extrapolation_value", extrapolation_value);
    return leati_build_end(&build);
}

leat_value leat_op_crop_to_bounding_box(leat_value image, int64_t offset_height,
                                        int64_t offset_width, int64_t target_height,
                                        int64_t target_width) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_crop_to_bounding_box, NULL);
    leati_build_input(&build, image);
    leati_build_int(&build, "offset_height", offset_height);
    leati_build_int(&build, "offset_width", offset_width);
    leati_build_int(&build, "target_height", target_height);
    leati_build_int(&build, "target_width", target_width);
    return leati_build_end(&build);
}

leat_value leat_op_cutmix(leat_value images, leat_value labels, const double *factor,
                          int num_factor, const int64_t *seed, leat_value *labels_out) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_cutmix, NULL);
    leati_build_input(&build, images);
    leati_build_input(&build, labels);
    leati_build_floats(&build, "factor", factor, num_factor);
    leati_build_seed(&build, "seed", seed);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, labels_out);
    return first;
}

leat_value leat_op_decode_and_crop_jpeg(leat_value contents, leat_value crop_window,
                                        const leat_op_decode_and_crop_jpeg_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_decode_and_crop_jpeg, NULL);
    leati_build_input(&build, contents);
    leati_build_input(&build, crop_window);
    leat_op_decode_and_crop_jpeg_options own = {LEAT_OP_DECODE_AND_CROP_JPEG_DEFAULTS};
    leati_build_note(
        &build, LEATI_OPTIONS(leat_op_decode_and_crop_jpeg_options, &own, options, &build.error));
    leati_build_int(&build, "channels", own.channels);
    leati_build_int(&build, "ratio", own.ratio);
    leati_build_bool(&build, "fancy_upscaling", own.fancy_upscaling);
    leati_build_bool(&build, "try_recover_truncated", own.try_recover_truncated);
    leati_build_float(&build, "acceptable_fraction", own.acceptable_fraction);
    leati_build_text(&build, "dct_method", own.dct_method);
    return leati_build_end(&build);
}

leat_value leat_op_decode_bmp(leat_value contents, int64_t channels) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_decode_bmp, NULL);
    leati_build_input(&build, contents);
    leati_build_int(&build, "channels", channels);
    return leati_build_end(&build);
}

leat_value leat_op_decode_image(leat_value contents, int64_t channels, leat_dtype dtype,
                                bool expand_animations) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_decode_image, NULL);
    leati_build_input(&build, contents);
    leati_build_int(&build, "channels", channels);
    leati_build_dtype(&build, "dtype", dtype);
    leati_build_bool(&build, "expand_animations", expand_animations);
    return leati_build_end(&build);
}

leat_value leat_op_decode_jpeg(leat_value contents, const leat_op_decode_jpeg_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_decode_jpeg, NULL);
    leati_build_input(&build, contents);
    leat_op_decode_jpeg_options own = {LEAT_OP_DECODE_JPEG_DEFAULTS};
    leati_build_note(&build,
                     LEATI_OPTIONS(leat_op_decode_jpeg_options, &own, options, &build.error));
    leati_build_int(&build, "channels", own.channels);
    leati_build_int(&build, "ratio", own.ratio);
    leati_build_bool(&build, "fancy_upscaling", own.fancy_upscaling);
    leati_build_bool(&build, "try_recover_truncated", own.try_recover_truncated);
    leati_build_float(&build, "acceptable_fraction", own.acceptable_fraction);
    leati_build_text(&build, "dct_method", own.dct_method);
    return leati_build_end(&build);
}

leat_value leat_op_decode_png(leat_value contents, int64_t channels, leat_dtype dtype) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_decode_png, NULL);
    leati_build_input(&build, contents);
    leati_build_int(&build, "channels", channels);
    leati_build_dtype(&build, "dtype", dtype);
    return leati_build_end(&build);
}

leat_value leat_op_decode_webp(leat_value contents, int64_t channels, leat_dtype dtype) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_decode_webp, NULL);
    leati_build_input(&build, contents);
    leati_build_int(&build, "channels", channels);
    leati_build_dtype(&build, "dtype", dtype);
    return leati_build_end(&build);
}

leat_value leat_op_draw_bounding_boxes(leat_value images, leat_value boxes, leat_value colors) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_draw_bounding_boxes, NULL);
    leati_build_input(&build, images);
    leati_build_input(&build, boxes);
    leati_build_input_if(&build, colors);
    return leati_build_end(&build);
}

leat_value leat_op_encode_jpeg(leat_value image, const leat_op_encode_jpeg_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_encode_jpeg, NULL);
    leati_build_input(&build, image);
    leat_op_encode_jpeg_options own = {LEAT_OP_ENCODE_JPEG_DEFAULTS};
    leati_build_note(&build,
                     LEATI_OPTIONS(leat_op_encode_jpeg_options, &own, options, &build.error));
    leati_build_text(&build, "format", own.format);
    leati_build_int(&build, "quality", own.quality);
    leati_build_bool(&build, "progressive", own.progressive);
    leati_build_bool(&build, "optimize_size", own.optimize_size);
    leati_build_bool(&build, "chroma_downsampling", own.chroma_downsampling);
    leati_build_text(&build, "density_unit", own.density_unit);
    leati_build_int(&build, "x_density", own.x_density);
    leati_build_int(&build, "y_density", own.y_density);
    leati_build_text(&build, "xmp_metadata", own.xmp_metadata);
    return leati_build_end(&build);
}

leat_value leat_op_encode_png(leat_value image, int64_t compression) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_encode_png, NULL);
    leati_build_input(&build, image);
    leati_build_int(&build, "compression", compression);
    return leati_build_end(&build);
}

leat_value leat_op_extract_jpeg_shape(leat_value contents, leat_dtype output_type) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_extract_jpeg_shape, NULL);
    leati_build_input(&build, contents);
    leati_build_dtype(&build, "output_type", output_type);
    return leati_build_end(&build);
}

leat_value leat_op_extract_patches(leat_value images, const int64_t *sizes, int num_sizes,
                                   const int64_t *strides, int num_strides, const int64_t *rates,
                                   int num_rates, const char *padding) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_extract_patches, NULL);
    leati_build_input(&build, images);
    leati_build_ints(&build, "sizes", sizes, num_sizes);
    leati_build_ints(&build, "strides", strides, num_strides);
    leati_build_ints(&build, "rates", rates, num_rates);
    leati_build_text(&build, "padding", padding);
    return leati_build_end(&build);
}

leat_value leat_op_image_gradients(leat_value image, leat_value *dx) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_image_gradients, NULL);
    leati_build_input(&build, image);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, dx);
    return first;
}

leat_value leat_op_image_normalize(leat_value images, const double *mean, int num_mean,
                                   const double *std, int num_std) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_image_normalize, NULL);
    leati_build_input(&build, images);
    leati_build_floats(&build, "mean", mean, num_mean);
    leati_build_floats(&build, "std", std, num_std);
    return leati_build_end(&build);
}

leat_value leat_op_mixup(leat_value images, leat_value labels, double alpha, const int64_t *seed,
                         leat_value *labels_out) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_mixup, NULL);
    leati_build_input(&build, images);
    leati_build_input(&build, labels);
    leati_build_float(&build, "alpha", alpha);
    leati_build_seed(&build, "seed", seed);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, labels_out);
    return first;
}

leat_value leat_op_non_max_suppression(leat_value boxes, leat_value scores, int64_t max_output_size,
                                       double iou_threshold, double score_threshold) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_non_max_suppression, NULL);
    leati_build_input(&build, boxes);
    leati_build_input(&build, scores);
    leati_build_int(&build, "max_output_size", max_output_size);
    leati_build_float(&build, "iou_threshold", iou_threshold);
    leati_build_float(&build, "score_threshold", score_threshold);
    return leati_build_end(&build);
}

leat_value leat_op_non_max_suppression_overlaps(leat_value overlaps, leat_value scores,
                                                int64_t max_output_size, double overlap_threshold,
                                                double score_threshold) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_non_max_suppression_overlaps, NULL);
    leati_build_input(&build, overlaps);
    leati_build_input(&build, scores);
    leati_build_int(&build, "max_output_size", max_output_size);
    leati_build_float(&build, "overlap_threshold", overlap_threshold);
    leati_build_float(&build, "score_threshold", score_threshold);
    return leati_build_end(&build);
}

leat_value leat_op_non_max_suppression_with_scores(
    leat_value boxes, leat_value scores, int64_t max_output_size,
    const leat_op_non_max_suppression_with_scores_options *options, leat_value *selected_scores) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_non_max_suppression_with_scores, NULL);
    leati_build_input(&build, boxes);
    leati_build_input(&build, scores);
    leati_build_int(&build, "max_output_size", max_output_size);
    leat_op_non_max_suppression_with_scores_options own = {
        LEAT_OP_NON_MAX_SUPPRESSION_WITH_SCORES_DEFAULTS};
    leati_build_note(&build, LEATI_OPTIONS(leat_op_non_max_suppression_with_scores_options, &own,
                                           options, &build.error));
    leati_build_float(&build, "iou_threshold", own.iou_threshold);
    leati_build_float(&build, "score_threshold", own.score_threshold);
    leati_build_float(&build, "soft_nms_sigma", own.soft_nms_sigma);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, selected_scores);
    return first;
}

leat_value leat_op_pad_to_bounding_box(leat_value image, int64_t offset_height,
                                       int64_t offset_width, int64_t target_height,
                                       int64_t target_width) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_pad_to_bounding_box, NULL);
    leati_build_input(&build, image);
    leati_build_int(&build, "offset_height", offset_height);
    leati_build_int(&build, "offset_width", offset_width);
    leati_build_int(&build, "target_height", target_height);
    leati_build_int(&build, "target_width", target_width);
    return leati_build_end(&build);
}

leat_value leat_op_projective_transform(leat_value images, leat_value transforms,
                                        const char *interpolation, const char *fill_mode,
                                        double fill_value) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_projective_transform, NULL);
    leati_build_input(&build, images);
    leati_build_input(&build, transforms);
    leati_build_text(&build, "interpolation", interpolation);
    leati_build_text(&build, "fill_mode", fill_mode);
    leati_build_float(&build, "fill_value", fill_value);
    return leati_build_end(&build);
}

leat_value leat_op_psnr(leat_value a, leat_value b, double max_val) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_psnr, NULL);
    leati_build_input(&build, a);
    leati_build_input(&build, b);
    leati_build_float(&build, "max_val", max_val);
    return leati_build_end(&build);
}

leat_value leat_op_rand_augment(leat_value images, const leat_op_rand_augment_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_rand_augment, NULL);
    leati_build_input(&build, images);
    leat_op_rand_augment_options own = {LEAT_OP_RAND_AUGMENT_DEFAULTS};
    leati_build_note(&build,
                     LEATI_OPTIONS(leat_op_rand_augment_options, &own, options, &build.error));
    leati_build_floats(&build, "value_range", own.value_range, own.num_value_range);
    leati_build_int(&build, "num_ops", own.num_ops);
    leati_build_floats(&build, "factor", own.factor, own.num_factor);
    leati_build_text(&build, "interpolation", own.interpolation);
    leati_build_bool(&build, "masks", own.masks);
    leati_build_seed(&build, "seed", own.seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_brightness(leat_value image, double max_delta, const int64_t *seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_brightness, NULL);
    leati_build_input(&build, image);
    leati_build_float(&build, "max_delta", max_delta);
    leati_build_seed(&build, "seed", seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_contrast(leat_value image, double lower, double upper,
                                   const int64_t *seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_contrast, NULL);
    leati_build_input(&build, image);
    leati_build_float(&build, "lower", lower);
    leati_build_float(&build, "upper", upper);
    leati_build_seed(&build, "seed", seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_crop(leat_value value, const int64_t *size, int num_size,
                               const int64_t *seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_crop, NULL);
    leati_build_input(&build, value);
    leati_build_ints(&build, "size", size, num_size);
    leati_build_seed(&build, "seed", seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_flip_left_right(leat_value image, const int64_t *seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_flip_left_right, NULL);
    leati_build_input(&build, image);
    leati_build_seed(&build, "seed", seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_flip_up_down(leat_value image, const int64_t *seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_flip_up_down, NULL);
    leati_build_input(&build, image);
    leati_build_seed(&build, "seed", seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_hue(leat_value image, double max_delta, const int64_t *seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_hue, NULL);
    leati_build_input(&build, image);
    leati_build_float(&build, "max_delta", max_delta);
    leati_build_seed(&build, "seed", seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_jpeg_quality(leat_value image, double min_jpeg_quality,
                                       double max_jpeg_quality, const int64_t *seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_jpeg_quality, NULL);
    leati_build_input(&build, image);
    leati_build_float(&build, "min_jpeg_quality", min_jpeg_quality);
    leati_build_float(&build, "max_jpeg_quality", max_jpeg_quality);
    leati_build_seed(&build, "seed", seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_resized_crop(leat_value images, const int64_t *size, int num_size,
                                       const leat_op_random_resized_crop_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_resized_crop, NULL);
    leati_build_input(&build, images);
    leati_build_ints(&build, "size", size, num_size);
    leat_op_random_resized_crop_options own = {LEAT_OP_RANDOM_RESIZED_CROP_DEFAULTS};
    leati_build_note(
        &build, LEATI_OPTIONS(leat_op_random_resized_crop_options, &own, options, &build.error));
    leati_build_floats(&build, "scale", own.scale, own.num_scale);
    leati_build_floats(&build, "ratio", own.ratio, own.num_ratio);
    leati_build_text(&build, "method", own.method);
    leati_build_bool(&build, "antialias", own.antialias);
    leati_build_seed(&build, "seed", own.seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_saturation(leat_value image, double lower, double upper,
                                     const int64_t *seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_saturation, NULL);
    leati_build_input(&build, image);
    leati_build_float(&build, "lower", lower);
    leati_build_float(&build, "upper", upper);
    leati_build_seed(&build, "seed", seed);
    return leati_build_end(&build);
}

leat_value leat_op_resize(leat_value images, const int64_t *size, int num_size,
                          const leat_op_resize_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_resize, NULL);
    leati_build_input(&build, images);
    leati_build_ints(&build, "size", size, num_size);
    leat_op_resize_options own = {LEAT_OP_RESIZE_DEFAULTS};
    leati_build_note(&build, LEATI_OPTIONS(leat_op_resize_options, &own, options, &build.error));
    leati_build_text(&build, "method", own.method);
    leati_build_bool(&build, "preserve_aspect_ratio", own.preserve_aspect_ratio);
    leati_build_bool(&build, "antialias", own.antialias);
    return leati_build_end(&build);
}

leat_value leat_op_resize_with_crop_or_pad(leat_value image, int64_t target_height,
                                           int64_t target_width) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_resize_with_crop_or_pad, NULL);
    leati_build_input(&build, image);
    leati_build_int(&build, "target_height", target_height);
    leati_build_int(&build, "target_width", target_width);
    return leati_build_end(&build);
}

leat_value leat_op_resize_with_pad(leat_value image, int64_t target_height, int64_t target_width,
                                   const leat_op_resize_with_pad_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_resize_with_pad, NULL);
    leati_build_input(&build, image);
    leati_build_int(&build, "target_height", target_height);
    leati_build_int(&build, "target_width", target_width);
    leat_op_resize_with_pad_options own = {LEAT_OP_RESIZE_WITH_PAD_DEFAULTS};
    leati_build_note(&build,
                     LEATI_OPTIONS(leat_op_resize_with_pad_options, &own, options, &build.error));
    leati_build_text(&build, "method", own.method);
    leati_build_bool(&build, "antialias", own.antialias);
    return leati_build_end(&build);
}

leat_value leat_op_rot90(leat_value image, int64_t k) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_rot90, NULL);
    leati_build_input(&build, image);
    leati_build_int(&build, "k", k);
    return leati_build_end(&build);
}

leat_value
leat_op_sample_distorted_bounding_box(leat_value image_size, leat_value bounding_boxes,
                                      const leat_op_sample_distorted_bounding_box_options *options,
                                      leat_value *size, leat_value *bboxes) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_sample_distorted_bounding_box, NULL);
    leati_build_input(&build, image_size);
    leati_build_input(&build, bounding_boxes);
    leat_op_sample_distorted_bounding_box_options own = {
        LEAT_OP_SAMPLE_DISTORTED_BOUNDING_BOX_DEFAULTS};
    leati_build_note(&build, LEATI_OPTIONS(leat_op_sample_distorted_bounding_box_options, &own,
                                           options, &build.error));
    leati_build_float(&build, "min_object_covered", own.min_object_covered);
    leati_build_floats(&build, "aspect_ratio_range", own.aspect_ratio_range,
                       own.num_aspect_ratio_range);
    leati_build_floats(&build, "area_range", own.area_range, own.num_area_range);
    leati_build_int(&build, "max_attempts", own.max_attempts);
    leati_build_bool(&build, "use_image_if_no_bounding_boxes", own.use_image_if_no_bounding_boxes);
    leati_build_seed(&build, "seed", own.seed);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, size);
    leati_build_output(&build, 2, bboxes);
    return first;
}

leat_value leat_op_ssim(leat_value img1, leat_value img2, double max_val,
                        const leat_op_ssim_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_ssim, NULL);
    leati_build_input(&build, img1);
    leati_build_input(&build, img2);
    leati_build_float(&build, "max_val", max_val);
    leat_op_ssim_options own = {LEAT_OP_SSIM_DEFAULTS};
    leati_build_note(&build, LEATI_OPTIONS(leat_op_ssim_options, &own, options, &build.error));
    leati_build_int(&build, "filter_size", own.filter_size);
    leati_build_float(&build, "filter_sigma", own.filter_sigma);
    leati_build_float(&build, "k1", own.k1);
    leati_build_float(&build, "k2", own.k2);
    leati_build_bool(&build, "return_index_map", own.return_index_map);
    return leati_build_end(&build);
}

leat_value leat_op_ssim_multiscale(leat_value img1, leat_value img2, double max_val,
                                   const leat_op_ssim_multiscale_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_ssim_multiscale, NULL);
    leati_build_input(&build, img1);
    leati_build_input(&build, img2);
    leati_build_float(&build, "max_val", max_val);
    leat_op_ssim_multiscale_options own = {LEAT_OP_SSIM_MULTISCALE_DEFAULTS};
    leati_build_note(&build,
                     LEATI_OPTIONS(leat_op_ssim_multiscale_options, &own, options, &build.error));
    leati_build_floats(&build, "power_factors", own.power_factors, own.num_power_factors);
    leati_build_int(&build, "filter_size", own.filter_size);
    leati_build_float(&build, "filter_sigma", own.filter_sigma);
    leati_build_float(&build, "k1", own.k1);
    leati_build_float(&build, "k2", own.k2);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_aug_mix(leat_value images, leat_value seed,
                                     const leat_op_stateless_aug_mix_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_aug_mix, NULL);
    leati_build_input(&build, images);
    leati_build_input(&build, seed);
    leat_op_stateless_aug_mix_options own = {LEAT_OP_STATELESS_AUG_MIX_DEFAULTS};
    leati_build_note(&build,
                     LEATI_OPTIONS(leat_op_stateless_aug_mix_options, &own, options, &build.error));
    leati_build_floats(&build, "value_range", own.value_range, own.num_value_range);
    leati_build_int(&build, "num_chains", own.num_chains);
    leati_build_int(&build, "chain_depth", own.chain_depth);
    leati_build_floats(&build, "factor", own.factor, own.num_factor);
    leati_build_float(&build, "alpha", own.alpha);
    leati_build_bool(&build, "all_ops", own.all_ops);
    leati_build_text(&build, "interpolation", own.interpolation);
    leati_build_bool(&build, "masks", own.masks);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_cutmix(leat_value images, leat_value labels, leat_value seed,
                                    const double *factor, int num_factor, leat_value *labels_out) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_cutmix, NULL);
    leati_build_input(&build, images);
    leati_build_input(&build, labels);
    leati_build_input(&build, seed);
    leati_build_floats(&build, "factor", factor, num_factor);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, labels_out);
    return first;
}

leat_value leat_op_stateless_mixup(leat_value images, leat_value labels, leat_value seed,
                                   double alpha, leat_value *labels_out) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_mixup, NULL);
    leati_build_input(&build, images);
    leati_build_input(&build, labels);
    leati_build_input(&build, seed);
    leati_build_float(&build, "alpha", alpha);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, labels_out);
    return first;
}

leat_value leat_op_stateless_rand_augment(leat_value images, leat_value seed,
                                          const leat_op_stateless_rand_augment_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_rand_augment, NULL);
    leati_build_input(&build, images);
    leati_build_input(&build, seed);
    leat_op_stateless_rand_augment_options own = {LEAT_OP_STATELESS_RAND_AUGMENT_DEFAULTS};
    leati_build_note(
        &build, LEATI_OPTIONS(leat_op_stateless_rand_augment_options, &own, options, &build.error));
    leati_build_floats(&build, "value_range", own.value_range, own.num_value_range);
    leati_build_int(&build, "num_ops", own.num_ops);
    leati_build_floats(&build, "factor", own.factor, own.num_factor);
    leati_build_text(&build, "interpolation", own.interpolation);
    leati_build_bool(&build, "masks", own.masks);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_random_brightness(leat_value image, double max_delta,
                                               leat_value seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_random_brightness, NULL);
    leati_build_input(&build, image);
    leati_build_input(&build, seed);
    leati_build_float(&build, "max_delta", max_delta);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_random_contrast(leat_value image, double lower, double upper,
                                             leat_value seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_random_contrast, NULL);
    leati_build_input(&build, image);
    leati_build_input(&build, seed);
    leati_build_float(&build, "lower", lower);
    leati_build_float(&build, "upper", upper);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_random_crop(leat_value value, const int64_t *size, int num_size,
                                         leat_value seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_random_crop, NULL);
    leati_build_input(&build, value);
    leati_build_input(&build, seed);
    leati_build_ints(&build, "size", size, num_size);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_random_hue(leat_value image, double max_delta, leat_value seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_random_hue, NULL);
    leati_build_input(&build, image);
    leati_build_input(&build, seed);
    leati_build_float(&build, "max_delta", max_delta);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_random_jpeg_quality(leat_value image, double min_jpeg_quality,
                                                 double max_jpeg_quality, leat_value seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_random_jpeg_quality, NULL);
    leati_build_input(&build, image);
    leati_build_input(&build, seed);
    leati_build_float(&build, "min_jpeg_quality", min_jpeg_quality);
    leati_build_float(&build, "max_jpeg_quality", max_jpeg_quality);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_random_resized_crop(
    leat_value images, const int64_t *size, int num_size, leat_value seed,
    const leat_op_stateless_random_resized_crop_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_random_resized_crop, NULL);
    leati_build_input(&build, images);
    leati_build_input(&build, seed);
    leati_build_ints(&build, "size", size, num_size);
    leat_op_stateless_random_resized_crop_options own = {
        LEAT_OP_STATELESS_RANDOM_RESIZED_CROP_DEFAULTS};
    leati_build_note(&build, LEATI_OPTIONS(leat_op_stateless_random_resized_crop_options, &own,
                                           options, &build.error));
    leati_build_floats(&build, "scale", own.scale, own.num_scale);
    leati_build_floats(&build, "ratio", own.ratio, own.num_ratio);
    leati_build_text(&build, "method", own.method);
    leati_build_bool(&build, "antialias", own.antialias);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_random_saturation(leat_value image, double lower, double upper,
                                               leat_value seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_random_saturation, NULL);
    leati_build_input(&build, image);
    leati_build_input(&build, seed);
    leati_build_float(&build, "lower", lower);
    leati_build_float(&build, "upper", upper);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_sample_distorted_bounding_box(
    leat_value image_size, leat_value bounding_boxes, leat_value seed,
    const leat_op_stateless_sample_distorted_bounding_box_options *options, leat_value *size,
    leat_value *bboxes) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_sample_distorted_bounding_box, NULL);
    leati_build_input(&build, image_size);
    leati_build_input(&build, bounding_boxes);
    leati_build_input(&build, seed);
    leat_op_stateless_sample_distorted_bounding_box_options own = {
        LEAT_OP_STATELESS_SAMPLE_DISTORTED_BOUNDING_BOX_DEFAULTS};
    leati_build_note(&build, LEATI_OPTIONS(leat_op_stateless_sample_distorted_bounding_box_options,
                                           &own, options, &build.error));
    leati_build_float(&build, "min_object_covered", own.min_object_covered);
    leati_build_floats(&build, "aspect_ratio_range", own.aspect_ratio_range,
                       own.num_aspect_ratio_range);
    leati_build_floats(&build, "area_range", own.area_range, own.num_area_range);
    leati_build_int(&build, "max_attempts", own.max_attempts);
    leati_build_bool(&build, "use_image_if_no_bounding_boxes", own.use_image_if_no_bounding_boxes);
    leat_value first = leati_build_end(&build);
    leati_build_output(&build, 1, size);
    leati_build_output(&build, 2, bboxes);
    return first;
}

leat_value leat_op_random_categorical(leat_value logits, int64_t num_samples, leat_dtype dtype,
                                      const int64_t *seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_categorical, NULL);
    leati_build_input(&build, logits);
    leati_build_int(&build, "num_samples", num_samples);
    leati_build_dtype(&build, "dtype", dtype);
    leati_build_seed(&build, "seed", seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_normal(leat_graph *graph, leat_shape shape,
                                 const leat_op_random_normal_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_normal, graph);
    leati_build_shape(&build, "shape", shape);
    leat_op_random_normal_options own = {LEAT_OP_RANDOM_NORMAL_DEFAULTS};
    leati_build_note(&build,
                     LEATI_OPTIONS(leat_op_random_normal_options, &own, options, &build.error));
    leati_build_float(&build, "mean", own.mean);
    leati_build_float(&build, "stddev", own.stddev);
    leati_build_dtype(&build, "dtype", own.dtype);
    leati_build_seed(&build, "seed", own.seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_shuffle(leat_value value, const int64_t *seed) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_shuffle, NULL);
    leati_build_input(&build, value);
    leati_build_seed(&build, "seed", seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_truncated_normal(leat_graph *graph, leat_shape shape,
                                           const leat_op_random_truncated_normal_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_truncated_normal, graph);
    leati_build_shape(&build, "shape", shape);
    leat_op_random_truncated_normal_options own = {LEAT_OP_RANDOM_TRUNCATED_NORMAL_DEFAULTS};
    leati_build_note(&build, LEATI_OPTIONS(leat_op_random_truncated_normal_options, &own, options,
                                           &build.error));
    leati_build_float(&build, "mean", own.mean);
    leati_build_float(&build, "stddev", own.stddev);
    leati_build_dtype(&build, "dtype", own.dtype);
    leati_build_seed(&build, "seed", own.seed);
    return leati_build_end(&build);
}

leat_value leat_op_random_uniform(leat_graph *graph, leat_shape shape,
                                  const leat_op_random_uniform_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_random_uniform, graph);
    leati_build_shape(&build, "shape", shape);
    leat_op_random_uniform_options own = {LEAT_OP_RANDOM_UNIFORM_DEFAULTS};
    leati_build_note(&build,
                     LEATI_OPTIONS(leat_op_random_uniform_options, &own, options, &build.error));
    leati_build_float(&build, "minval", own.minval);
    leati_build_float(&build, "maxval", own.maxval);
    leati_build_dtype(&build, "dtype", own.dtype);
    leati_build_seed(&build, "seed", own.seed);
    return leati_build_end(&build);
}

leat_value leat_op_seed_fold_in(leat_value seed, leat_value data, const char *alg) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_seed_fold_in, NULL);
    leati_build_input(&build, seed);
    leati_build_input(&build, data);
    leati_build_text(&build, "alg", alg);
    return leati_build_end(&build);
}

leat_value leat_op_seed_split(leat_value seed, int64_t num, const char *alg) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_seed_split, NULL);
    leati_build_input(&build, seed);
    leati_build_int(&build, "num", num);
    leati_build_text(&build, "alg", alg);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_categorical(leat_value logits, int64_t num_samples, leat_value seed,
                                         leat_dtype dtype) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_categorical, NULL);
    leati_build_input(&build, logits);
    leati_build_input(&build, seed);
    leati_build_int(&build, "num_samples", num_samples);
    leati_build_dtype(&build, "dtype", dtype);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_integers(leat_value seed, leat_shape shape, leat_dtype dtype,
                                      const char *alg) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_integers, NULL);
    leati_build_input(&build, seed);
    leati_build_shape(&build, "shape", shape);
    leati_build_dtype(&build, "dtype", dtype);
    leati_build_text(&build, "alg", alg);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_normal(leat_shape shape, leat_value seed,
                                    const leat_op_stateless_normal_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_normal, NULL);
    leati_build_input(&build, seed);
    leati_build_shape(&build, "shape", shape);
    leat_op_stateless_normal_options own = {LEAT_OP_STATELESS_NORMAL_DEFAULTS};
    leati_build_note(&build,
                     LEATI_OPTIONS(leat_op_stateless_normal_options, &own, options, &build.error));
    leati_build_float(&build, "mean", own.mean);
    leati_build_float(&build, "stddev", own.stddev);
    leati_build_dtype(&build, "dtype", own.dtype);
    leati_build_text(&build, "alg", own.alg);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_shuffle(leat_value value, leat_value seed, const char *alg) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_shuffle, NULL);
    leati_build_input(&build, value);
    leati_build_input(&build, seed);
    leati_build_text(&build, "alg", alg);
    return leati_build_end(&build);
}

leat_value
leat_op_stateless_truncated_normal(leat_shape shape, leat_value seed,
                                   const leat_op_stateless_truncated_normal_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_truncated_normal, NULL);
    leati_build_input(&build, seed);
    leati_build_shape(&build, "shape", shape);
    leat_op_stateless_truncated_normal_options own = {LEAT_OP_STATELESS_TRUNCATED_NORMAL_DEFAULTS};
    leati_build_note(&build, LEATI_OPTIONS(leat_op_stateless_truncated_normal_options, &own,
                                           options, &build.error));
    leati_build_float(&build, "mean", own.mean);
    leati_build_float(&build, "stddev", own.stddev);
    leati_build_dtype(&build, "dtype", own.dtype);
    leati_build_text(&build, "alg", own.alg);
    return leati_build_end(&build);
}

leat_value leat_op_stateless_uniform(leat_shape shape, leat_value seed,
                                     const leat_op_stateless_uniform_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_stateless_uniform, NULL);
    leati_build_input(&build, seed);
    leati_build_shape(&build, "shape", shape);
    leat_op_stateless_uniform_options own = {LEAT_OP_STATELESS_UNIFORM_DEFAULTS};
    leati_build_note(&build,
                     LEATI_OPTIONS(leat_op_stateless_uniform_options, &own, options, &build.error));
    leati_build_float(&build, "minval", own.minval);
    leati_build_float(&build, "maxval", own.maxval);
    leati_build_dtype(&build, "dtype", own.dtype);
    leati_build_text(&build, "alg", own.alg);
    return leati_build_end(&build);
}

leat_value leat_op_as_string(leat_value input, const leat_op_as_string_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_as_string, NULL);
    leati_build_input(&build, input);
    leat_op_as_string_options own = {LEAT_OP_AS_STRING_DEFAULTS};
    leati_build_note(&build, LEATI_OPTIONS(leat_op_as_string_options, &own, options, &build.error));
    leati_build_int(&build, "precision", own.precision);
    leati_build_bool(&build, "scientific", own.scientific);
    leati_build_bool(&build, "shortest", own.shortest);
    leati_build_int(&build, "width", own.width);
    leati_build_text(&build, "fill", own.fill);
    return leati_build_end(&build);
}

leat_value leat_op_encode_base64(leat_value input, bool pad) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_encode_base64, NULL);
    leati_build_input(&build, input);
    leati_build_bool(&build, "pad", pad);
    return leati_build_end(&build);
}

leat_value leat_op_regex_full_match(leat_value input, const char *pattern) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_regex_full_match, NULL);
    leati_build_input(&build, input);
    leati_build_text(&build, "pattern", pattern);
    return leati_build_end(&build);
}

leat_value leat_op_regex_replace(leat_value input, const char *pattern, const char *rewrite,
                                 bool replace_global) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_regex_replace, NULL);
    leati_build_input(&build, input);
    leati_build_text(&build, "pattern", pattern);
    leati_build_text(&build, "rewrite", rewrite);
    leati_build_bool(&build, "replace_global", replace_global);
    return leati_build_end(&build);
}

leat_value leat_op_string_join(const leat_value *inputs, int num_inputs, const char *separator) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_string_join, NULL);
    leati_build_inputs(&build, inputs, num_inputs);
    leati_build_text(&build, "separator", separator);
    return leati_build_end(&build);
}

leat_value leat_op_string_length(leat_value input, const char *unit) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_string_length, NULL);
    leati_build_input(&build, input);
    leati_build_text(&build, "unit", unit);
    return leati_build_end(&build);
}

leat_value leat_op_string_lower(leat_value input, const char *encoding) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_string_lower, NULL);
    leati_build_input(&build, input);
    leati_build_text(&build, "encoding", encoding);
    return leati_build_end(&build);
}

leat_value leat_op_string_reduce_join(leat_value inputs, const int64_t *axis, int num_axis,
                                      bool keepdims, const char *separator) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_string_reduce_join, NULL);
    leati_build_input(&build, inputs);
    leati_build_ints(&build, "axis", axis, num_axis);
    leati_build_bool(&build, "keepdims", keepdims);
    leati_build_text(&build, "separator", separator);
    return leati_build_end(&build);
}

leat_value leat_op_string_to_hash_bucket(leat_value input, int64_t num_buckets) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_string_to_hash_bucket, NULL);
    leati_build_input(&build, input);
    leati_build_int(&build, "num_buckets", num_buckets);
    return leati_build_end(&build);
}

leat_value leat_op_string_to_hash_bucket_fast(leat_value input, int64_t num_buckets) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_string_to_hash_bucket_fast, NULL);
    leati_build_input(&build, input);
    leati_build_int(&build, "num_buckets", num_buckets);
    return leati_build_end(&build);
}

leat_value leat_op_string_to_hash_bucket_strong(leat_value input, int64_t num_buckets,
                                                const int64_t *key, int num_key) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_string_to_hash_bucket_strong, NULL);
    leati_build_input(&build, input);
    leati_build_int(&build, "num_buckets", num_buckets);
    leati_build_ints(&build, "key", key, num_key);
    return leati_build_end(&build);
}

leat_value leat_op_string_to_number(leat_value input, leat_dtype out_type) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_string_to_number, NULL);
    leati_build_input(&build, input);
    leati_build_dtype(&build, "out_type", out_type);
    return leati_build_end(&build);
}

leat_value leat_op_string_upper(leat_value input, const char *encoding) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_string_upper, NULL);
    leati_build_input(&build, input);
    leati_build_text(&build, "encoding", encoding);
    return leati_build_end(&build);
}

leat_value leat_op_substr(leat_value input, leat_value pos, leat_value len, const char *unit) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_substr, NULL);
    leati_build_input(&build, input);
    leati_build_input(&build, pos);
    leati_build_input(&build, len);
    leati_build_text(&build, "unit", unit);
    return leati_build_end(&build);
}

leat_value leat_op_unicode_transcode(leat_value input, const char *input_encoding,
                                     const char *output_encoding,
                                     const leat_op_unicode_transcode_options *options) {
    leati_build build;
    leati_build_begin(&build, &leati_tensor_op_unicode_transcode, NULL);
    leati_build_input(&build, input);
    leati_build_text(&build, "input_encoding", input_encoding);
    leati_build_text(&build, "output_encoding", output_encoding);
    leat_op_unicode_transcode_options own = {LEAT_OP_UNICODE_TRANSCODE_DEFAULTS};
    leati_build_note(&build,
                     LEATI_OPTIONS(leat_op_unicode_transcode_options, &own, options, &build.error));
    leati_build_text(&build, "errors", own.errors);
    leati_build_int(&build, "replacement_char", own.replacement_char);
    leati_build_bool(&build, "replace_control_characters", own.replace_control_characters);
    return leati_build_end(&build);
}

/* clang-format off */
INPUTS_2(broadcast_like)
INPUTS_2(fill)
INPUTS_2(gather_nd)
INPUTS_1(identity)
INPUTS_1(ones_like)
INPUTS_1(rank)
INPUTS_2(reshape_like)
INPUTS_3(select)
INPUTS_1(stop_gradient)
INPUTS_3(tensor_scatter_nd_add)
INPUTS_3(tensor_scatter_nd_max)
INPUTS_3(tensor_scatter_nd_min)
INPUTS_3(tensor_scatter_nd_sub)
INPUTS_3(tensor_scatter_nd_update)
INPUTS_1(where)
INPUTS_1(zeros_like)
INPUTS_1(cholesky)
INPUTS_1(matrix_determinant)
INPUTS_1(abs)
INPUTS_1(acos)
INPUTS_1(acosh)
INPUTS_2(add)
INPUTS_1(asin)
INPUTS_1(asinh)
INPUTS_1(atan)
INPUTS_2(atan2)
INPUTS_1(atanh)
INPUTS_2(bitwise_and)
INPUTS_2(bitwise_or)
INPUTS_2(bitwise_xor)
INPUTS_1(ceil)
INPUTS_3(clip_by_value)
INPUTS_1(cos)
INPUTS_1(cosh)
INPUTS_1(digamma)
INPUTS_2(divide)
INPUTS_2(divide_no_nan)
INPUTS_2(equal)
INPUTS_1(erf)
INPUTS_1(erfc)
INPUTS_1(erfinv)
INPUTS_1(exp)
INPUTS_1(expm1)
INPUTS_1(floor)
INPUTS_2(floordiv)
INPUTS_2(floormod)
INPUTS_2(greater)
INPUTS_2(greater_equal)
INPUTS_3(index_shuffle)
INPUTS_1(invert)
INPUTS_1(is_finite)
INPUTS_1(is_inf)
INPUTS_1(is_nan)
INPUTS_2(left_shift)
INPUTS_2(less)
INPUTS_2(less_equal)
INPUTS_1(lgamma)
INPUTS_1(log)
INPUTS_1(log1p)
INPUTS_2(logical_and)
INPUTS_1(logical_not)
INPUTS_2(logical_or)
INPUTS_2(logical_xor)
INPUTS_2(maximum)
INPUTS_2(minimum)
INPUTS_2(multiply)
INPUTS_2(multiply_no_nan)
INPUTS_1(ndtri)
INPUTS_1(negate)
INPUTS_2(nextafter)
INPUTS_2(not_equal)
INPUTS_2(polygamma)
INPUTS_2(pow)
INPUTS_1(reciprocal)
INPUTS_2(right_shift)
INPUTS_1(rint)
INPUTS_1(round)
INPUTS_1(rsqrt)
INPUTS_2(segment_max)
INPUTS_2(segment_mean)
INPUTS_2(segment_min)
INPUTS_2(segment_prod)
INPUTS_2(segment_sum)
INPUTS_1(sign)
INPUTS_1(sin)
INPUTS_1(sinh)
INPUTS_1(sqrt)
INPUTS_1(square)
INPUTS_2(squared_difference)
INPUTS_2(subtract)
INPUTS_2(sum_like)
INPUTS_1(tan)
INPUTS_1(tanh)
INPUTS_2(truncatediv)
INPUTS_2(truncatemod)
INPUTS_2(xdivy)
INPUTS_2(xlog1py)
INPUTS_2(xlogy)
INPUTS_2(zeta)
INPUTS_2(bias_add)
INPUTS_1(elu)
INPUTS_1(log_softmax)
INPUTS_1(relu)
INPUTS_1(relu6)
INPUTS_2(relu_grad)
INPUTS_1(sigmoid)
INPUTS_1(softmax)
INPUTS_1(softplus)
INPUTS_2(sparse_softmax_cross_entropy_with_logits)
INPUTS_1(decode_json_example)
INPUTS_2(encode_wav)
INPUTS_1(matching_files)
INPUTS_1(read_file)
INPUTS_1(serialize_tensor)
INPUTS_2(write_file)
INPUTS_1(decode_gif)
INPUTS_1(flip_left_right)
INPUTS_1(flip_up_down)
INPUTS_1(grayscale_to_rgb)
INPUTS_1(hsv_to_rgb)
INPUTS_1(image_transpose)
INPUTS_1(is_jpeg)
INPUTS_1(per_image_standardization)
INPUTS_1(rgb_to_grayscale)
INPUTS_1(rgb_to_hsv)
INPUTS_1(rgb_to_yiq)
INPUTS_1(rgb_to_yuv)
INPUTS_1(sobel_edges)
INPUTS_2(stateless_random_flip_left_right)
INPUTS_2(stateless_random_flip_up_down)
INPUTS_1(total_variation)
INPUTS_1(yiq_to_rgb)
INPUTS_1(yuv_to_rgb)
INPUTS_2(rng_skip)
INPUTS_1(decode_base64)
INPUTS_1(string_strip)
INPUTS_1(unicode_script)
/* clang-format on */
