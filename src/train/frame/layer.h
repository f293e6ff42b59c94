/* The inside of layers: the descriptors that the files of train/layers/ end in, and a layer's
 * weights. */
#ifndef LEATI_TRAIN_FRAME_LAYER_H
#define LEATI_TRAIN_FRAME_LAYER_H

#include "base/random.h"
#include "train/frame/activation.h"
#include "train/frame/initializer.h"
#include <leat/train.h>

/* The first member of every layer's arguments. */
struct leati_layer_args {
    char *name; /* NULL: made from the kind's prefix */
};

typedef struct leati_layer_kind {
    leati_kind kind;
    const char *prefix;  /* of default names: "conv2d" */
    bool merges;         /* takes two inputs or more, all others take one */
    int32_t rank;        /* of inputs, the batch's dimension included; 0: any from min_rank on */
    int32_t min_rank;    /* of inputs; used where rank is 0 */
    const char *expects; /* the input's shape in words: "[batch, height, width, channels]" */
    bool fixed_last;     /* the last dimension decides the weights' shapes */
    bool freezes;        /* computes as in inference while it is not trainable */
    bool takes_integers; /* has weights, but inputs are not cast to floats */
    /* Prepares data: a call is one of training unless it is told otherwise, and inside of functions
     * inputs become floats. */
    bool prepares;
    bool masks; /* the mask of the input is that of the output too */
    /* A second input are labels; the call then gives what becomes of them, by the same draws. */
    bool labels;
    /* The seed argument of the weights' initialisers, if the kind has weights; NULL: no seed. */
    leati_seed_argument (*seed)(const void *args);
    /* Lists the weights for an input shape that fits `rank` and `fixed_last`; NULL: none. */
    leat_status (*weights)(const void *args, const leat_shape *input, leati_weights *out,
                           leat_error *err);
    leat_value (*call)(const leati_pass *pass);
    void (*release)(void *args); /* what the rows do not free; NULL: nothing */
} leati_layer_kind;

/* The descriptors of the table. */
#define X(file, name) extern const leati_layer_kind leati_layer_##name;
#include "train/layers.def"
#undef X

struct leat_layer {
    const leati_layer_kind *kind;
    void *args; /* owned */
    char *name; /* owned */
    int64_t seed;
    bool built;
    bool adopted;     /* a network owns it */
    leat_shape input; /* that it was built for, the batch's dimension unknown */
    leat_variable *weights[LEATI_MAX_WEIGHTS]; /* owned, in Keras' order */
    int num_weights;
};

/* A layer with a copy of `args` (borrowed). Owned. */
leat_layer *leati_layer_new(const leati_layer_kind *kind, const void *args, leat_error *err);
/* A layer by Keras' class name and a JSON object of Keras' arguments (NULL: none). Owned. */
leat_layer *leati_layer_from_json(const char *name, const json_t *config, leat_error *err);

/* Replaces the layer's name; before it is built. */
LEAT_WARN_UNUSED leat_status leati_layer_rename(leat_layer *layer, const char *name,
                                                leat_error *err);

/* Creates the weights for inputs of this shape (batch's dimension included), if there are none yet,
 * and otherwise checks that the shape fits them. `before` (may be NULL) is the layer whose output
 * it is. */
LEAT_WARN_UNUSED leat_status leati_layer_build(leat_layer *layer, const leat_shape *input,
                                               const leat_layer *before, leat_error *err);
/* Drops the weights. */
void leati_layer_unbuild(leat_layer *layer);

/* Builds the layer if needed and adds its operations. A failure is the graph's, with the layer's
 * name. */
leat_value leati_layer_call(leat_layer *layer, const leat_value *inputs, int num_inputs,
                            bool training, const leat_layer *before);

/* The weights of a layer without variables for inputs of these shapes (batch's dimension included).
 * INVALID_ARGUMENT where the layer does not take them; `before` names what gave the inputs. */
LEAT_WARN_UNUSED leat_status leati_layer_weights(const leati_layer_kind *kind, const void *args,
                                                 const leat_shape *inputs, int num_inputs,
                                                 leati_weights *out, leat_error *err);
/* Adds the operations of a layer without variables: weights are values, and so are what becomes of
 * them (`updates`, one per weight; failed: it stays). */
leat_value leati_layer_pass(const leati_layer_kind *kind, const leati_pass *pass);
/* The weight of that name, or NULL. Borrowed. */
leat_variable *leati_layer_weight(const leat_layer *layer, const char *name);

/* The last words of the signatures of layers with a kernel, and with a bias too. */
#define LEATI_KERNEL_SIGNATURE                                                                     \
    "activation use_bias kernel_initializer bias_initializer kernel_regularizer "                  \
    "bias_regularizer activity_regularizer kernel_constraint bias_constraint"

/* What the kinds of a family say of their inputs, for one, two and three directions of space:
 * fields of the descriptor, and a word. */
#define LEATI_SPACE_1 .rank = 3, .expects = "[batch, steps, channels]"
#define LEATI_SPACE_2 .rank = 4, .expects = "[batch, height, width, channels]"
#define LEATI_SPACE_3 .rank = 5, .expects = "[batch, depth, height, width, channels]"
#define LEATI_INPUTS_1 "sequences"
#define LEATI_INPUTS_2 "pictures"
#define LEATI_INPUTS_3 "volumes"

/* A row of an argument that is called as the member of its struct. */
#define LEATI_LAYER_ROW(STRUCT, MEMBER, TYPE, ...)                                                 \
    {                                                                                              \
        .name = #MEMBER, .type = LEATI_ROW_##TYPE, .offset = offsetof(struct STRUCT, MEMBER),      \
        __VA_ARGS__                                                                                \
    }
/* The row for the name of every layer. */
#define LEATI_LAYER_NAME                                                                           \
    LEATI_LAYER_ROW(leati_layer_args, name, STRING, .doc = "Name of the layer.")

/* One number for `count` directions, or one for each: `ints` as Keras takes them, with a default.
 */
void leati_layer_numbers_of(const leati_ints *ints, int64_t standard, int count, int64_t *out);
/* The same as a check of an argument: none, one or `count` numbers. */
LEAT_WARN_UNUSED leat_status leati_layer_check_numbers(const leati_ints *ints, const char *name,
                                                       int count, leat_error *err);
/* A list of numbers as a vector of the dtype of `like`. */
leat_value leati_layer_numbers_value(leat_value like, const leati_floats *numbers);
/* "valid" or "same", in any case of letters; and the padding of a checked name. */
LEAT_WARN_UNUSED leat_status leati_layer_check_padding(const char *name, leat_error *err);
leat_padding leati_layer_padding_of(const char *name);
/* The name of a padding; for a number that is none a text that leati_layer_check_padding refuses.
 */
const char *leati_layer_padding_name(leat_padding padding);
/* "channels_last", as also where none is given, or "channels_first". */
LEAT_WARN_UNUSED leat_status leati_layer_check_data_format(const char *data_format,
                                                           leat_error *err);
bool leati_layer_channels_first(const char *data_format);
/* The same where pictures have their channels last: "channels_first" is UNIMPLEMENTED. */
LEAT_WARN_UNUSED leat_status leati_layer_check_channels_last(const char *data_format,
                                                             leat_error *err);

#endif
