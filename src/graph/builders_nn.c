/* Made by tools/builders.py from the tables of src/graph/ops: make builders. */
#include "graph/build.h"
#include <leat/ops/nn.h>

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

/* clang-format off */
LEATI_BUILDER_2(bias_add)
LEATI_BUILDER_1(elu)
LEATI_BUILDER_1(log_softmax)
LEATI_BUILDER_1(relu)
LEATI_BUILDER_1(relu6)
LEATI_BUILDER_2(relu_grad)
LEATI_BUILDER_1(sigmoid)
LEATI_BUILDER_1(softmax)
LEATI_BUILDER_1(softplus)
LEATI_BUILDER_2(sparse_softmax_cross_entropy_with_logits)
/* clang-format on */
