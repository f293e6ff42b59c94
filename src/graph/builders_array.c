/* Made by tools/builders.py from the tables of src/graph/ops: make builders. */
#include "graph/build.h"
#include <leat/ops/array.h>

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
    leati_build_options(&build, &own, sizeof own, options, "leat_op_diag_options");
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
    leati_build_options(&build, &own, sizeof own, options, "leat_op_eye_options");
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
    leati_build_options(&build, &own, sizeof own, options, "leat_op_one_hot_options");
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
    leati_build_input(&build, limit);
    leati_build_input(&build, delta);
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
    leati_build_options(&build, &own, sizeof own, options, "leat_op_strided_slice_options");
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

/* clang-format off */
LEATI_BUILDER_2(broadcast_like)
LEATI_BUILDER_2(fill)
LEATI_BUILDER_2(gather_nd)
LEATI_BUILDER_1(identity)
LEATI_BUILDER_1(ones_like)
LEATI_BUILDER_1(rank)
LEATI_BUILDER_2(reshape_like)
LEATI_BUILDER_3(select)
LEATI_BUILDER_1(stop_gradient)
LEATI_BUILDER_3(tensor_scatter_nd_add)
LEATI_BUILDER_3(tensor_scatter_nd_max)
LEATI_BUILDER_3(tensor_scatter_nd_min)
LEATI_BUILDER_3(tensor_scatter_nd_sub)
LEATI_BUILDER_3(tensor_scatter_nd_update)
LEATI_BUILDER_1(where)
LEATI_BUILDER_1(zeros_like)
/* clang-format on */
