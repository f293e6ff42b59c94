/* Made by tools/builders.py from the tables of src/graph/ops: make builders. */
/* Builders of tensor operations: neural networks; see leat/ops.h. */
#ifndef LEAT_OPS_NN_H
#define LEAT_OPS_NN_H

#include <leat/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The mean of each window of pictures NHWC (tf.nn.avg_pool2d).
 * `ksize`: height and width of the window.
 * `strides`: steps of the window along height and width; empty: its size; NULL: not given.
 * `padding`: VALID or SAME; by default "VALID". */
LEAT_API leat_value leat_op_avg_pool2d(leat_value input, const int64_t *ksize, int num_ksize,
                                       const int64_t *strides, int num_strides,
                                       const char *padding);

/* A vector added along the last dimension (tf.nn.bias_add). */
LEAT_API leat_value leat_op_bias_add(leat_value value, leat_value bias);

/* Convolution of pictures NHWC with a filter HWIO (tf.nn.conv2d).
 * `strides`: steps of the window along height and width; empty: 1; NULL: not given.
 * `padding`: VALID or SAME; by default "VALID".
 * `dilations`: steps inside the window along height and width; empty: 1; NULL: not given. */
LEAT_API leat_value leat_op_conv2d(leat_value input, leat_value filters, const int64_t *strides,
                                   int num_strides, const char *padding, const int64_t *dilations,
                                   int num_dilations);

/* The gradient of conv2d by its filter (tf.raw_ops.Conv2DBackpropFilter).
 * `strides`: steps of the window along height and width; empty: 1; NULL: not given.
 * `padding`: VALID or SAME; by default "VALID".
 * `dilations`: steps inside the window along height and width; empty: 1; NULL: not given. */
LEAT_API leat_value leat_op_conv2d_backprop_filter(leat_value input, leat_value filter,
                                                   leat_value gradient, const int64_t *strides,
                                                   int num_strides, const char *padding,
                                                   const int64_t *dilations, int num_dilations);

/* The gradient of conv2d by its input (tf.raw_ops.Conv2DBackpropInput).
 * `strides`: steps of the window along height and width; empty: 1; NULL: not given.
 * `padding`: VALID or SAME; by default "VALID".
 * `dilations`: steps inside the window along height and width; empty: 1; NULL: not given. */
LEAT_API leat_value leat_op_conv2d_backprop_input(leat_value input, leat_value filter,
                                                  leat_value gradient, const int64_t *strides,
                                                  int num_strides, const char *padding,
                                                  const int64_t *dilations, int num_dilations);

/* x where it is positive, else exp(x) - 1 (tf.nn.elu). */
LEAT_API leat_value leat_op_elu(leat_value features);

/* Is each line's target among its k largest predictions (tf.math.in_top_k)?
 * `k`: how many of the largest predictions. */
LEAT_API leat_value leat_op_in_top_k(leat_value targets, leat_value predictions, int64_t k);

/* The logarithm of softmax along the last dimension (tf.nn.log_softmax). */
LEAT_API leat_value leat_op_log_softmax(leat_value logits);

/* The maximum of each window of pictures NHWC (tf.nn.max_pool2d).
 * `ksize`: height and width of the window.
 * `strides`: steps of the window along height and width; empty: its size; NULL: not given.
 * `padding`: VALID or SAME; by default "VALID". */
LEAT_API leat_value leat_op_max_pool2d(leat_value input, const int64_t *ksize, int num_ksize,
                                       const int64_t *strides, int num_strides,
                                       const char *padding);

/* The gradient of max_pool2d, to a window's first largest value (tf.raw_ops.MaxPoolGrad).
 * `ksize`: height and width of the window.
 * `strides`: steps of the window along height and width; empty: its size; NULL: not given.
 * `padding`: VALID or SAME; by default "VALID". */
LEAT_API leat_value leat_op_max_pool2d_grad(leat_value input, leat_value output,
                                            leat_value gradient, const int64_t *ksize,
                                            int num_ksize, const int64_t *strides, int num_strides,
                                            const char *padding);

/* x where it is positive, else 0; a NaN stays (tf.nn.relu). */
LEAT_API leat_value leat_op_relu(leat_value features);

/* x clipped to [0, 6] (tf.nn.relu6). */
LEAT_API leat_value leat_op_relu6(leat_value features);

/* Gradient x where feature y is positive, else 0 (tf.raw_ops.ReluGrad). */
LEAT_API leat_value leat_op_relu_grad(leat_value gradients, leat_value features);

/* 1 / (1 + exp(-x)) (tf.math.sigmoid). */
LEAT_API leat_value leat_op_sigmoid(leat_value x);

/* exp(x) / sum(exp(x)) along the last dimension (tf.nn.softmax). */
LEAT_API leat_value leat_op_softmax(leat_value logits);

/* log(1 + exp(x)) (tf.math.softplus). */
LEAT_API leat_value leat_op_softplus(leat_value features);

/* The loss of each line of logits against its label, and the loss's gradient
 * (tf.nn.sparse_softmax_cross_entropy_with_logits). */
LEAT_API leat_value leat_op_sparse_softmax_cross_entropy_with_logits(leat_value labels,
                                                                     leat_value logits);

#ifdef __cplusplus
}
#endif
#endif
