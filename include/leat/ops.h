/* Tensor operations: one builder per operation, leat_op_ and TensorFlow's name.
 *
 * Every builder adds a node to the graph of its first value and returns the node's output; in an
 * eager graph the output is computed at once. A failed value passes through; the graph keeps the
 * first error with the operation's name in its text, and leat_graph_finish reports it. Builders
 * belong to the thread of their graph. Arrays, texts and options are borrowed for the call.
 * leat_graph_call reaches the same operations by name, with their attributes as JSON.
 *
 * A builder takes inputs and attributes in TensorFlow's order. An operation of more than three
 * attributes takes those that must be given, and a struct of options for the others: NULL, or one
 * that starts with the macro behind it,
 *
 *     leat_op_resize(x, (int64_t[]){32, 32}, 2,
 *                    &(leat_op_resize_options){LEAT_OP_RESIZE_DEFAULTS, .antialias = true});
 *
 * A pointer that is NULL, a dtype LEAT_INVALID and, where the comment says so, the number
 * LEAT_UNSET are attributes that are not given. The first output is returned; others go where a
 * pointer says.
 *
 * Shapes are numpy's: row-major, negative axes count from the end, operands broadcast where
 * TensorFlow's do. Dtypes never convert by themselves.
 *
 *     leat/ops/math.h     arithmetic, comparisons, reductions, segments
 *     leat/ops/array.h    shapes, slices and places of values
 *     leat/ops/linalg.h   matrices
 *     leat/ops/nn.h       neural networks; pictures are NHWC, filters HWIO
 *     leat/ops/picture.h  pictures: files, size, colour, boxes
 *     leat/ops/augment.h  pictures changed at random
 *     leat/ops/random.h   random numbers
 *     leat/ops/text.h     strings
 *     leat/ops/parse.h    records and files
 *
 * This file has the few that follow rules of their own; leat_op_cond and leat_op_while are in
 * leat/graph.h. */
#ifndef LEAT_OPS_H
#define LEAT_OPS_H

#include <leat/graph.h>
#include <leat/ops/array.h>
#include <leat/ops/augment.h>
#include <leat/ops/linalg.h>
#include <leat/ops/math.h>
#include <leat/ops/nn.h>
#include <leat/ops/parse.h>
#include <leat/ops/picture.h>
#include <leat/ops/random.h>
#include <leat/ops/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- by their own rules ---- */

/* Zeros before and behind each dimension; `paddings` has 2 * rank numbers of values (tf.pad). */
LEAT_API leat_value leat_op_pad(leat_value tensor, const int64_t *paddings, int rank);

/* A template whose placeholders ("{}") stand for tensors as text, of which an axis shows
 * `summarize` values at both ends (-1: all); at least one value (tf.strings.format). */
LEAT_API leat_value leat_op_string_format(const char *template_text, const leat_value *values,
                                          int num_values, const char *placeholder,
                                          int64_t summarize);

/* The fields of records of comma-separated text as one output per column: of each default's dtype
 * (float32, float64, int32, int64 or string), which stands for an empty field; a vector of no
 * values is a field that must be there. Fills `outputs` (one for each default) and returns their
 * number, or -1; a record that has other fields fails the run with INVALID_ARGUMENT
 * (tf.io.decode_csv). */
LEAT_API int leat_op_decode_csv(leat_value records, const leat_value *defaults, int num_defaults,
                                leat_value *outputs);

/* Parses serialised tf.train.Examples, a scalar or a vector of strings. `features` (borrowed) is a
 * dict of specs: a tensor of a static shape is a FixedLenFeature, one whose first dimension is -1
 * takes any number of values and fills up a batch (FixedLenSequenceFeature with allow_missing), a
 * sparse vector is a VarLenFeature and a ragged one a RaggedFeature. `defaults` (may be NULL) is a
 * dict of values for keys that an Example may lack, or that fill up. Fills `outputs` with up
 * to `capacity` components in the order of sorted keys and returns how many there are, or -1
 * (tf.io.parse_example, tf.io.parse_single_example). */
LEAT_API int leat_op_parse_example(leat_value serialized, const leat_spec *features,
                                   const leat_element *defaults, leat_value *outputs, int capacity);

/* Parses serialised tf.train.SequenceExamples, a scalar or a vector of strings. `context`
 * (borrowed) and `defaults` are as leat_op_parse_example has them; `sequence` (borrowed) says what
 * the feature lists are: a tensor [-1, ...] gives steps and the number of steps, filled up with 0
 * in a batch; a sparse [-1, -1] indices, values and dense shape; a ragged one values, row splits of
 * steps and of records. Fills `outputs` with up to `capacity` of them and returns how many there
 * are, or -1 (tf.io.parse_sequence_example, tf.io.parse_single_sequence_example). */
LEAT_API int leat_op_parse_sequence_example(leat_value serialized, const leat_spec *context,
                                            const leat_spec *sequence, const leat_element *defaults,
                                            leat_value *outputs, int capacity);

/* `value` where all of `condition` (bool) holds; elsewhere the run fails with `code` and `message`
 * (tf.debugging.Assert). A value that nothing uses is not checked. */
LEAT_API leat_value leat_op_assert(leat_value condition, leat_value value, leat_status code,
                                   const char *message);

/* ---- training steps: they update variables in trace order ---- */

/* variable -= learning_rate * gradient (tf.raw_ops.ResourceApplyGradientDescent). The variable is
 * borrowed for the call; learning rates are scalars of the variable's dtype. */
LEAT_API void leat_op_apply_gradient_descent(leat_variable *variable, leat_value gradient,
                                             leat_value learning_rate);

/* slot = momentum * slot - learning_rate * gradient; variable += slot, or with `nesterov`
 * momentum * slot - learning_rate * gradient (tf.raw_ops.ResourceApplyKerasMomentum). */
LEAT_API void leat_op_apply_keras_momentum(leat_variable *variable, leat_variable *slot,
                                           leat_value gradient, leat_value learning_rate,
                                           double momentum, bool nesterov);

/* Adam as Keras computes it, epsilon outside the bias correction; `step` is a scalar of int64, 1 at
 * the first update (tf.keras.optimizers.Adam). */
LEAT_API void leat_op_apply_adam(leat_variable *variable, leat_variable *momentum,
                                 leat_variable *velocity, leat_value gradient,
                                 leat_value learning_rate, leat_value step, double beta_1,
                                 double beta_2, double epsilon);

/* The number of the replica that computes, an int32 scalar; 0 outside a training step
 * (ReplicaContext.replica_id_in_sync_group). */
LEAT_API leat_value leat_op_replica_id(leat_graph *graph);

/* The sum or mean over all replicas of `count` values of one dtype, in one exchange; fills `out`.
 * Only inside a training step: eager graphs and pipelines refuse it
 * (ReplicaContext.all_reduce). */
LEAT_API void leat_op_all_reduce(const leat_value *values, int count, leat_aggregation aggregation,
                                 leat_value *out);

/* The values of all replicas, numbers or bools, one behind the other along `axis` (negative: from
 * the back) in the order of the replicas. Replica r has sizes[r] there (borrowed, `num_replicas` of
 * them, known before the step runs), and all have the same other dimensions. Only inside a training
 * step; differentiable (ReplicaContext.all_gather). */
LEAT_API leat_value leat_op_all_gather(leat_value value, int64_t axis, const int64_t *sizes,
                                       int num_replicas);

#ifdef __cplusplus
}
#endif
#endif
