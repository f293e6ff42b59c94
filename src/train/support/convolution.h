/* What the convolutional layers share: their arguments, and convolutions along one to three
 * directions of space, all of them by conv2d. */
#ifndef LEATI_TRAIN_SUPPORT_CONVOLUTION_H
#define LEATI_TRAIN_SUPPORT_CONVOLUTION_H

#include "train/frame/layer.h"

enum { LEATI_MOST_DIRECTIONS = 3 };

/* Windows that slide along `directions` of space. */
typedef struct leati_windows {
    int directions;
    int64_t size[LEATI_MOST_DIRECTIONS], strides[LEATI_MOST_DIRECTIONS];
    int64_t dilations[LEATI_MOST_DIRECTIONS];
    leat_padding padding;
} leati_windows;

/* x [batch, sizes of space, channels] convolved with kernel [window, channels / groups, filters];
 * as many groups as the channels say. Along three directions the sizes of space must be known. */
leat_value leati_convolution_run(leat_value x, leat_value kernel, const leati_windows *windows);
/* The same with a kernel [window, channels, multiplier]: each channel has filters of its own. */
leat_value leati_convolution_run_depthwise(leat_value x, leat_value kernel,
                                           const leati_windows *windows);
/* Back along one to three directions: x [batch, sizes, filters] with a kernel [window, channels,
 * filters] becomes [batch, out, channels]; `out` are the sizes that a convolution would start from.
 * Where one is -1 (not along three directions) it is the stride times x's size plus `base`'s. */
leat_value leati_convolution_run_transposed(leat_value x, leat_value kernel,
                                            const leati_windows *windows, const int64_t *out,
                                            const int64_t *base);

/* The arguments that all convolutional layers have. */
struct leati_convolution_args {
    char *name; /* first: struct leati_layer_args */
    int64_t filters;
    leati_ints kernel_size, strides, dilation_rate;
    char *padding, *data_format, *activation;
    bool use_bias;
    char *kernel_initializer, *bias_initializer;
    leati_seed_argument seed;
    int64_t groups;           /* of Conv1D, Conv2D and Conv3D */
    int64_t depth_multiplier; /* of depthwise and separable layers */
    char *depthwise_initializer, *pointwise_initializer;
    leati_ints output_padding; /* of transposed layers */
};

#define LEATI_CONVOLUTION_ROW(MEMBER, TYPE, ...)                                                   \
    LEATI_LAYER_ROW(leati_convolution_args, MEMBER, TYPE, __VA_ARGS__)

/* Rows that all of them have. */
#define LEATI_CONVOLUTION_ROWS                                                                     \
    LEATI_CONVOLUTION_ROW(kernel_size, INTS, .flags = LEATI_REQUIRED, .minimum = 1,                \
                          .maximum = INT32_MAX,                                                    \
                          .doc = "Size of the window along each direction, or one number."),       \
        LEATI_CONVOLUTION_ROW(strides, INTS, .minimum = 1, .maximum = INT32_MAX,                   \
                              .doc = "Steps of the window along each direction; 1 by default."),   \
        LEATI_CONVOLUTION_ROW(padding, STRING, .default_text = "valid",                            \
                              .doc = "\"valid\" or \"same\"; for Conv1D \"causal\" too."),         \
        LEATI_CONVOLUTION_ROW(data_format, STRING, .doc = "\"channels_last\"."),                   \
        LEATI_CONVOLUTION_ROW(dilation_rate, INTS, .minimum = 1, .maximum = INT32_MAX,             \
                              .doc = "Steps inside the window along each direction; 1 by "         \
                                     "default."),                                                  \
        LEATI_CONVOLUTION_ROW(activation, STRING,                                                  \
                              .doc = "Name of an activation (keras."                               \
                                     "activations)."),                                             \
        LEATI_CONVOLUTION_ROW(use_bias, BOOL, .default_number = 1,                                 \
                              .doc = "Whether a bias is added."),                                  \
        LEATI_CONVOLUTION_ROW(bias_initializer, STRING, .default_text = "zeros",                   \
                              .doc = "Name of the bias's initialiser."),                           \
        LEATI_CONVOLUTION_ROW(seed, SEED,                                                          \
                              .doc = "Seed of the kernels' initialisers; none: drawn when the "    \
                                     "layer is made."),                                            \
        LEATI_LAYER_NAME

#define LEATI_FILTERS_ROW                                                                          \
    LEATI_CONVOLUTION_ROW(filters, INT, .flags = LEATI_REQUIRED, .minimum = 1,                     \
                          .maximum = INT32_MAX, .doc = "Channels of the output.")
#define LEATI_GROUPS_ROW                                                                           \
    LEATI_CONVOLUTION_ROW(groups, INT, .default_number = 1, .minimum = 1, .maximum = INT32_MAX,    \
                          .doc = "Groups of channels that are convolved apart.")
#define LEATI_KERNEL_INITIALIZER_ROW                                                               \
    LEATI_CONVOLUTION_ROW(kernel_initializer, STRING, .default_text = "glorot_uniform",            \
                          .doc = "Name of the kernel's initialiser.")
#define LEATI_MULTIPLIER_ROW                                                                       \
    LEATI_CONVOLUTION_ROW(depth_multiplier, INT, .default_number = 1, .minimum = 1,                \
                          .maximum = INT32_MAX, .doc = "Filters of each channel.")
#define LEATI_DEPTHWISE_INITIALIZER_ROW                                                            \
    LEATI_CONVOLUTION_ROW(depthwise_initializer, STRING, .default_text = "glorot_uniform",         \
                          .doc = "Name of the depthwise kernel's initialiser.")

/* The rows of Conv1D, Conv2D and Conv3D. */
extern const leati_row leati_convolution_rows[];

/* The slot `seed`. */
leati_seed_argument leati_convolution_seed(const void *args);
/* For check; `causal`: that padding is one too. */
LEAT_WARN_UNUSED leat_status leati_convolution_check(const void *args, int directions, bool causal,
                                                     leat_error *err);
/* The windows of checked arguments. */
leati_windows leati_convolution_windows(const struct leati_convolution_args *args, int directions);
/* The weights kernel and bias, and the call, of Conv1D, Conv2D and Conv3D. */
LEAT_WARN_UNUSED leat_status leati_convolution_weights(const struct leati_convolution_args *args,
                                                       int directions, const leat_shape *input,
                                                       leati_weights *out, leat_error *err);
leat_value leati_convolution_call(const leati_pass *pass, int directions);
/* The sizes that a transposed layer gives for an input of this shape, into `out`, -1 for one that
 * is unknown; it is the stride times the input's plus `base`'s. NULL, or a text that says what is
 * wrong. */
const char *leati_convolution_sizes_back(const struct leati_convolution_args *args, int directions,
                                         leat_shape input, int64_t *out, int64_t *base);
/* The bias, weight number `bias`, if there is one, and the activation. */
leat_value leati_convolution_finish(const leati_pass *pass, leat_value value, int bias);
/* Adds the bias of `size` channels to a list of weights, if there is one. */
void leati_convolution_add_bias(const struct leati_convolution_args *args, int64_t size,
                                leati_weights *out);
/* The shape of a kernel: the window, then two more dimensions. */
leat_shape leati_convolution_kernel_shape(const leati_windows *windows, int64_t channels,
                                          int64_t filters);

#endif
