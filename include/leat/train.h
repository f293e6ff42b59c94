/* Training: layers, models, losses, optimizers and metrics with Keras 3's names, defaults and
 * numerics.
 *
 * Layers and models create variables when they are built (under a strategy's scope: one copy per
 * replica) and add operations to a graph when they are called. Failed values pass through, as in
 * leat/graph.h. Objects belong to one thread at a time.
 *
 * A layer with a kernel fixes the seed of its initialiser when it is made: the seed it is given, or
 * one drawn as Keras draws it after keras.utils.set_random_seed(n), where leat_seed_set(n) is in
 * force, or else a fresh one. A seed s stands for the pair (s, 0) of TensorFlow's stateless
 * generator, so equal seeds give Keras' weights. */
#ifndef LEAT_TRAIN_H
#define LEAT_TRAIN_H

#include <leat/dist.h>
#include <leat/graph.h>
#include <leat/ops.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct leat_layer leat_layer;
typedef struct leat_model leat_model;
typedef struct leat_optimizer leat_optimizer;
typedef struct leat_metric leat_metric;

/* What keras.activations has by name; softmax and log_softmax along the last dimension. */
typedef enum leat_activation {
    LEAT_LINEAR = 0,
    LEAT_RELU,
    LEAT_SOFTMAX,
    LEAT_ELU,
    LEAT_EXPONENTIAL,
    LEAT_GELU,
    LEAT_HARD_SIGMOID,
    LEAT_HARD_SILU,
    LEAT_LEAKY_RELU,
    LEAT_LOG_SIGMOID,
    LEAT_LOG_SOFTMAX,
    LEAT_MISH,
    LEAT_RELU6,
    LEAT_SELU,
    LEAT_SIGMOID,
    LEAT_SILU,
    LEAT_SOFTPLUS,
    LEAT_SOFTSIGN,
    LEAT_TANH,
    LEAT_TANH_SHRINK,
    LEAT_HARD_SHRINK,
    LEAT_SOFT_SHRINK,
    LEAT_SQUAREPLUS,
    LEAT_HARD_TANH
} leat_activation;

/* How windows are placed at the borders: only where they fit, or so that the output is ceil(n /
 * stride) wide, with the padding split evenly and an odd pixel at the end. */
typedef enum leat_padding { LEAT_VALID = 0, LEAT_SAME } leat_padding;

/* keras.layers.Conv2D: NHWC pictures, kernel HWIO, glorot uniform kernel, zero bias. Owned. */
typedef struct leat_layer_conv2d_options {
    size_t size;
    int64_t strides[2];
    int64_t dilation_rate[2];
    int64_t groups; /* of channels that are convolved apart */
    leat_padding padding;
    leat_activation activation;
    bool use_bias;
    leat_seed seed; /* of the kernel's initialiser */
    const char *name;
} leat_layer_conv2d_options;
#define LEAT_LAYER_CONV2D_DEFAULTS                                                                 \
    .size = sizeof(leat_layer_conv2d_options), .strides = {1, 1}, .dilation_rate = {1, 1},         \
    .groups = 1, .use_bias = true
LEAT_API leat_layer *leat_layer_conv2d(int64_t filters, int64_t kernel_height, int64_t kernel_width,
                                       const leat_layer_conv2d_options *options, leat_error *err);

/* keras.layers.MaxPooling2D; pool size and strides in pixels. Owned. */
typedef struct leat_layer_max_pooling2d_options {
    size_t size;
    int64_t pool_size[2];
    int64_t strides[2]; /* LEAT_UNSET: as pool_size */
    leat_padding padding;
    const char *name;
} leat_layer_max_pooling2d_options;
#define LEAT_LAYER_MAX_POOLING2D_DEFAULTS                                                          \
    .size = sizeof(leat_layer_max_pooling2d_options), .pool_size = {2, 2},                         \
    .strides = {LEAT_UNSET, LEAT_UNSET}
LEAT_API leat_layer *leat_layer_max_pooling2d(const leat_layer_max_pooling2d_options *options,
                                              leat_error *err);

/* keras.layers.Flatten; `name` may be NULL. Owned. */
LEAT_API leat_layer *leat_layer_flatten(const char *name, leat_error *err);

/* keras.layers.Dense: y = activation(x w + b). Owned. */
typedef struct leat_layer_dense_options {
    size_t size;
    leat_activation activation;
    bool use_bias;
    leat_seed seed;
    const char *name;
} leat_layer_dense_options;
#define LEAT_LAYER_DENSE_DEFAULTS .size = sizeof(leat_layer_dense_options), .use_bias = true
LEAT_API leat_layer *leat_layer_dense(int64_t units, const leat_layer_dense_options *options,
                                      leat_error *err);

/* Any layer of the table by Keras' class name, with Keras' arguments as a JSON object (NULL: none):
 * leat_layer_named("BatchNormalization", "{\"momentum\": 0.9}", &err). NOT_FOUND lists the names
 * there are. Owned. */
LEAT_API leat_layer *leat_layer_named(const char *name, const char *config, leat_error *err);

/* A layer of one's own (a subclass of keras.layers.Layer). `weights` (NULL: none) lists at most 8
 * for inputs of the first one's shape, batch's dimension included, through leat_weight_list_add;
 * `call` adds operations to the graph of its inputs and may put a new value of weight i into
 * updates[i]; `release` (NULL: none) frees `data` with the layer. Functions may be called from any
 * thread that uses the layer; `name` is copied. Owned; on failure `data` stays the caller's. */
typedef struct leat_weight_list leat_weight_list;
typedef struct leat_layer_description {
    const char *name;
    void *data;
    leat_status (*weights)(void *data, leat_shape input, leat_weight_list *out, leat_error *err);
    leat_value (*call)(void *data, const leat_value *inputs, int num_inputs,
                       const leat_value *weights, bool training, leat_value *updates);
    void (*release)(void *data);
} leat_layer_description;
LEAT_API leat_layer *leat_layer_custom(const leat_layer_description *description, leat_error *err);

/* Adds a float32 weight to the list of `weights`; name and initializer ("zeros", "glorot_uniform")
 * are static texts. RESOURCE_EXHAUSTED where the list is full. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_weight_list_add(leat_weight_list *list, const char *name,
                                                           leat_shape shape,
                                                           const char *initializer, bool trainable,
                                                           leat_error *err);

/* For a layer that is not given to a model. */
LEAT_API void leat_layer_free(leat_layer *layer);

/* keras.Sequential: the layers are given (all released on failure; a NULL among them passes
 * through). Owned. */
LEAT_API leat_model *leat_model_sequential(leat_layer *const *layers, int num_layers,
                                           leat_error *err);
/* keras.Model(inputs, outputs): a network of symbols, values without numbers, that a model is made
 * of. A symbol whose making failed passes through; leat_network_model reports the first failure. */
typedef struct leat_network leat_network;
typedef struct leat_symbol {
    leat_network *network;
    int32_t id; /* -1: failed */
} leat_symbol;

/* An empty network. Owned, until leat_network_model takes it. */
LEAT_API leat_network *leat_network_new(leat_error *err);
LEAT_API void leat_network_free(leat_network *network);
/* keras.Input: what the model takes, float32 of this shape without the batch dimension. */
LEAT_API leat_symbol leat_network_input(leat_network *network, leat_shape shape);
/* layer(inputs): the layer is given to the network of its inputs; called again, it shares its
 * weights. A layer that is NULL fails the network. */
LEAT_API leat_symbol leat_network_call(leat_layer *layer, const leat_symbol *inputs,
                                       int num_inputs);
/* The built model from all inputs, in the order in which they were made, to these outputs. The
 * network is given, on failure too. INVALID_ARGUMENT names layers and shapes. Owned. */
LEAT_API leat_model *leat_network_model(leat_network *network, const leat_symbol *outputs,
                                        int num_outputs, leat_error *err);
/* The outputs of a model of a network for a batch; leat_model_call is for one input and one output.
 */
LEAT_API void leat_model_call_all(leat_model *model, const leat_value *inputs, int num_inputs,
                                  bool training, leat_value *outputs, int num_outputs);

/* Frees a model with its layers and their variables; NULL is allowed. */
LEAT_API void leat_model_free(leat_model *model);

/* Creates the variables for inputs of this shape without the batch dimension. INVALID_ARGUMENT
 * names the layer, the expected and the given shape and the layer before. Calling the model builds
 * it too. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_model_build(leat_model *model, leat_shape input,
                                                       leat_error *err);

/* The model's output for a batch. */
LEAT_API leat_value leat_model_call(leat_model *model, leat_value input, bool training);

/* The trainable variables in Keras' order (kernel, bias, layer by layer). Borrowed array. */
LEAT_API leat_variable *const *leat_model_trainable_variables(const leat_model *model, int *count);

/* keras.losses.sparse_categorical_crossentropy: one loss per row. Labels are integers, predictions
 * (rows, classes) logits or probabilities (clipped as Keras does; logits behind a softmax are
 * found). A label out of range is INVALID_ARGUMENT. */
LEAT_API leat_value leat_loss_sparse_categorical_crossentropy(leat_value labels,
                                                              leat_value predictions,
                                                              bool from_logits);

/* tf.nn.compute_average_loss: the sum of `losses` divided by the global batch size. */
LEAT_API leat_value leat_loss_average(leat_value losses, int64_t global_batch_size);

/* What Keras' optimizers have in common. By default, and where a member is 0, none of it is done.
 * Gradients are clipped after they are summed over replicas, in at most one of the three ways. */
typedef struct leat_optimizer_options {
    size_t size;
    const char *name;
    double weight_decay;    /* fraction of each variable that a step takes away, times the rate */
    double clipnorm;        /* largest norm of one gradient */
    double global_clipnorm; /* largest norm of all gradients together */
    double clipvalue;       /* largest magnitude of a gradient's values */
    bool use_ema;           /* keep a moving average of the variables */
    double ema_momentum;    /* fraction of the average that a step keeps */
    int64_t ema_overwrite_frequency;     /* variables become their averages every so many steps */
    int64_t gradient_accumulation_steps; /* so many steps' mean gradient makes one update */
    /* Slices that leat_op_gather took from one row of a table are added up before they are squared,
     * clipped by value or measured; without it each counts by itself, as in Keras on TensorFlow. */
    bool exact_slices;
} leat_optimizer_options;
#define LEAT_OPTIMIZER_DEFAULTS .size = sizeof(leat_optimizer_options), .ema_momentum = 0.99

/* keras.optimizers.Adam and SGD. Owned. */
typedef struct leat_optimizer_adam_options {
    size_t size;
    double learning_rate, beta_1, beta_2, epsilon;
    bool amsgrad;
    const leat_optimizer_options *common; /* borrowed for the call; NULL: the defaults */
} leat_optimizer_adam_options;
#define LEAT_OPTIMIZER_ADAM_DEFAULTS                                                               \
    .size = sizeof(leat_optimizer_adam_options), .learning_rate = 0.001, .beta_1 = 0.9,            \
    .beta_2 = 0.999, .epsilon = 1e-7
LEAT_API leat_optimizer *leat_optimizer_adam(const leat_optimizer_adam_options *options,
                                             leat_error *err);
typedef struct leat_optimizer_sgd_options {
    size_t size;
    double learning_rate, momentum;
    bool nesterov;
    const leat_optimizer_options *common; /* borrowed for the call; NULL: the defaults */
} leat_optimizer_sgd_options;
#define LEAT_OPTIMIZER_SGD_DEFAULTS                                                                \
    .size = sizeof(leat_optimizer_sgd_options), .learning_rate = 0.01
LEAT_API leat_optimizer *leat_optimizer_sgd(const leat_optimizer_sgd_options *options,
                                            leat_error *err);
/* Any optimizer by Keras' class name and its arguments as JSON text (NULL: Keras' defaults), as
 * leat_part_new takes them: leat_optimizer_named("Lion", "{\"learning_rate\": 1e-4}", err). Owned.
 */
LEAT_API leat_optimizer *leat_optimizer_named(const char *name, const char *config,
                                              leat_error *err);
LEAT_API void leat_optimizer_free(leat_optimizer *optimizer);

/* optimizer.apply_gradients inside a step: gradients are summed over replicas, then every copy is
 * updated. */
LEAT_API void leat_optimizer_apply(leat_optimizer *optimizer, const leat_value *gradients,
                                   leat_variable *const *variables, int count);

/* Gradients of `loss` and apply in one call. */
LEAT_API void leat_optimizer_minimize(leat_optimizer *optimizer, leat_value loss,
                                      leat_variable *const *variables, int count);

/* The rate of the steps to come, outside steps (optimizer.learning_rate = value). */
LEAT_API LEAT_WARN_UNUSED leat_status leat_optimizer_set_learning_rate(leat_optimizer *optimizer,
                                                                       double learning_rate,
                                                                       leat_error *err);

/* Makes the optimizer's own variables for these, as the first apply does otherwise: so that they
 * can be restored before it (Optimizer.build). In the scope of the variables' strategy. Idempotent.
 * INVALID_ARGUMENT for variables that are not of a float dtype or were made under another
 * strategy. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_optimizer_build(leat_optimizer *optimizer,
                                                           leat_variable *const *variables,
                                                           int num_variables, leat_error *err);

/* The rate of all steps as a function of their number: a part of the sort "schedule" (given), set
 * before the first apply; leat_optimizer_set_learning_rate then fails with FAILED_PRECONDITION
 * (learning_rate=keras.optimizers.schedules.CosineDecay(...)). */
typedef struct leat_part leat_part;
LEAT_API LEAT_WARN_UNUSED leat_status leat_optimizer_set_schedule(leat_optimizer *optimizer,
                                                                  leat_part *schedule,
                                                                  leat_error *err);

/* The optimizer's own variables (optimizer.variables): the number of steps, the learning rate, and
 * the slots in the order of the model's variables. None before the first apply or build. Borrowed
 * array. */
LEAT_API leat_variable *const *leat_optimizer_variables(const leat_optimizer *optimizer,
                                                        int *count);

/* keras.metrics.SparseCategoricalAccuracy and Mean: sync-on-read totals. Owned. */
LEAT_API leat_metric *leat_metric_sparse_categorical_accuracy(const char *name, leat_error *err);
LEAT_API leat_metric *leat_metric_mean(const char *name, leat_error *err);
/* Any metric by Keras' class name and its arguments as JSON text (NULL: Keras' defaults). Owned. */
LEAT_API leat_metric *leat_metric_named(const char *name, const char *config, leat_error *err);
LEAT_API void leat_metric_free(leat_metric *metric);

/* metric.update_state inside a step: (values) for the mean, (labels, predictions) for others, and
 * sample weights behind them if there are any. */
LEAT_API void leat_metric_update(leat_metric *metric, const leat_value *values, int count);

/* metric.result and reset_state, outside steps. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_metric_result(leat_metric *metric, double *out,
                                                         leat_error *err);
LEAT_API LEAT_WARN_UNUSED leat_status leat_metric_reset(leat_metric *metric, leat_error *err);
/* The same for results that are several numbers, as a score for each class. `out` is owned.
 * FAILED_PRECONDITION before the first update of a metric whose states it makes. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_metric_result_tensor(leat_metric *metric,
                                                                leat_tensor *out, leat_error *err);

/* ---- by Keras' names, without variables: for bindings and models of other frameworks ---- */

/* The six tables as JSON text: {"layers": [...], "losses", "metrics", "optimizers",
 * "initializers", "schedules"}, each a list of {"name": Keras' class name, "doc", "arguments":
 * [{"name", "type", "required", "default", ..., "doc"}], "signature": Keras' parameters in order,
 * [{"name", "default"}], where the binding itself takes care of those that are not arguments (null:
 * the arguments)}. Layers add "prefix" (of default names), "merges" (takes several inputs),
 * "weights" (may have some), "rank", "min_rank" (of inputs, 0: any) and "fixed_last" (the last
 * dimension is fixed by the first call), "freezes" (computes as in inference while it is not
 * trainable), "takes_integers" (inputs are not cast to floats), "prepares" (prepares data: training
 * is the default, and functions cast inputs to floats) and "masks" (the input's mask is the
 * output's); losses "labels" ("predictions": of their shape; "classes": a number per row;
 * "sequences"); metrics "prefix", "values" (how many an update takes), "takes", "is_mean"
 * (leat_part_call gives what the mean is taken of) and "keeps_dtypes" (values are not cast);
 * optimizers "by_variable" (slots are made variable by variable); initializers "identifier" and
 * "random". Thread-safe. Owned text (leat_text_free); NULL without memory. */
LEAT_API char *leat_parts_json(leat_error *err);

/* leat_part: a layer, loss, metric, optimizer, initializer or schedule without variables of its
 * own: whoever calls it keeps its weights, states and slots (Keras' stateless_call,
 * stateless_update_state, ...). Immutable; may be used by several threads.
 *
 * One line of the table `sort` ("layer", "loss", "metric", "optimizer", "initializer", "schedule")
 * with arguments in JSON text (NULL: none). NOT_FOUND lists the names there are. An optimizer
 * without a name (NULL) is one of the program's own, with the arguments that all of them have; its
 * updates are leat_part_apply_own's. Owned (leat_part_free). */
LEAT_API leat_part *leat_part_new(const char *sort, const char *name, const char *config,
                                  leat_error *err);
LEAT_API void leat_part_free(leat_part *part);

/* What its caller has to keep, as JSON text: [{"name", "shape", "initializer", "trainable",
 * "start", "dtype", "is_seed" (the state of a generator: int64, a seed and a count from 0)}]. The
 * weights of a layer for inputs of these shapes (batch's dimension included), the states of a
 * metric for values of these shapes (without shapes those states that do not depend on them), or
 * the slots of one variable under an optimizer (with the shape null, that of the variable; it is
 * filled with "start"). INVALID_ARGUMENT where a layer does not take the inputs. Owned
 * (leat_text_free). */
LEAT_API char *leat_part_states_json(const leat_part *part, const leat_shape *inputs,
                                     int num_inputs, leat_error *err);

/* The same for the slots of this variable, the only way for optimizers whose slots are not
 * like the variable: with "copies", a slot starts with the variable's values. Owned
 * (leat_text_free). */
LEAT_API char *leat_part_slots_json(const leat_part *part, const leat_variable *variable,
                                    leat_error *err);

/* Adds a layer's, a loss's or a metric's operations. A layer takes inputs and the values of its
 * weights; into `updates` (as many as weights; NULL where there are none) go the new values of
 * those that the call changes, failed values for the others. A loss takes labels, predictions,
 * maybe sample weights and maybe a mask (bool; rows where it is false do not count); its value is
 * reduced as Keras' objects do outside of strategies. A metric that is a mean takes what an update
 * takes, without weights, and gives what the mean is taken of (float32). A schedule takes a step, a
 * scalar of any number type, and gives the rate (float32). */
LEAT_API leat_value leat_part_call(const leat_part *part, const leat_value *inputs, int num_inputs,
                                   const leat_value *weights, int num_weights, bool training,
                                   leat_value *updates);

/* A metric's update of (labels, predictions and maybe sample weights, or values and maybe weights):
 * fills `updates` with the new states, failed values for states that stay. */
LEAT_API void leat_part_update(const leat_part *part, const leat_value *values, int num_values,
                               const leat_value *states, int num_states, leat_value *updates);

/* A metric's result of these states, a scalar for most. */
LEAT_API leat_value leat_part_result(const leat_part *part, const leat_value *states,
                                     int num_states);

/* An optimizer's application with variables that the caller keeps: gradients are summed over
 * replicas where variables have copies, clipped, accumulated; variables, slots and averages are
 * updated and `iterations` (int64 scalar) counts one step. `slots` are those of
 * leat_part_slots_json, variable by variable, and at the end the scalar that the variables of a
 * kind with "shares" in its description share, which starts at 1; `learning_rate` is a scalar. */
typedef struct leat_application {
    const leat_value *gradients;
    leat_variable *const *variables;
    int count;
    leat_variable *const *slots;
    int num_slots; /* of all variables together */
    leat_variable *iterations;
    leat_value learning_rate;
    const bool *keeps; /* which variables weight decay leaves alone; NULL: none */
    /* Only the update of variables and slots: nothing is summed, clipped, accumulated, decayed,
     * averaged or counted, and what variables share stays. */
    bool alone;
} leat_application;
LEAT_API void leat_part_apply(const leat_part *part, const leat_application *application);

/* The slices in the gradient of a table from whose rows leat_op_gather has taken, those of gather
 * number `index`, and the numbers of their rows: what optimizers square one by one
 * (tf.IndexedSlices). False: there are not so many gathers, or rows were added up before something
 * else was done. Both are values of the gradient's graph. Does not block. */
LEAT_API bool leat_value_slices(leat_value gradient, int index, leat_value *slices,
                                leat_value *rows);

/* The same for an optimizer of a program's own (keras.optimizers.Optimizer): `update` adds the
 * update of variable `index` to the graph; it is called for each variable, in order, on the
 * caller's thread, and a failure ends the application. All is borrowed. */
typedef struct leat_own_updates {
    leat_status (*update)(void *data, int index, leat_value gradient, leat_value learning_rate,
                          leat_error *err);
    void *data;
    /* What it may change beside variables and slots: stays as it was where a step only adds
     * gradients up. */
    leat_variable *const *others;
    int num_others;
    /* Variables behind those with gradients, with slots like them: their averages move as well. */
    int num_idle;
} leat_own_updates;
LEAT_API void leat_part_apply_own(const leat_part *part, const leat_application *application,
                                  const leat_own_updates *own);

/* An initializer's float32 values of a static shape; `seed` is used by random kinds. Owned. */
LEAT_API LEAT_WARN_UNUSED leat_status leat_part_initialize(const leat_part *part, int64_t seed,
                                                           leat_shape shape, leat_tensor *out,
                                                           leat_error *err);

/* A variable placed where `like` is, with one copy wherever that has one, whatever scope is open;
 * not trainable. For an optimizer's slots. Owned. */
LEAT_API leat_variable *leat_variable_like(const leat_variable *like, const char *name,
                                           const leat_tensor *initial, leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
