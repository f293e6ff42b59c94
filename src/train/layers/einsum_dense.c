/* EinsumDense: sums of products of the input and a kernel, by a text that names dimensions, plus a
 * bias, through an activation (keras.layers.EinsumDense).
 *
 * Of "ab,bc->ac" the letters before the comma are the input's dimensions, those behind it the
 * kernel's; "..." in front or behind stands for the dimensions that have no letters. Failures: a
 * text that is none of these, letters without a known size, sizes that contradict each other. No
 * state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/layer.h"
#include <string.h>

struct einsum_dense_args {
    char *name; /* first: struct leati_layer_args */
    char *equation;
    leati_ints output_shape;
    char *activation, *bias_axes, *kernel_initializer, *bias_initializer;
    leati_seed_argument seed;
};

static const leati_row einsum_dense_rows[] = {
    LEATI_LAYER_ROW(einsum_dense_args, equation, STRING, .flags = LEATI_REQUIRED,
                    .doc = "The dimensions of input, kernel and result: \"ab,bc->ac\"."),
    LEATI_LAYER_ROW(einsum_dense_args, output_shape, INTS, .flags = LEATI_REQUIRED, .minimum = -1,
                    .maximum = INT64_MAX,
                    .doc = "The result's sizes behind the batch, as far as they have letters; -1: "
                           "the input's."),
    LEATI_LAYER_ROW(einsum_dense_args, activation, STRING,
                    .doc = "Name of an activation (keras.activations)."),
    LEATI_LAYER_ROW(einsum_dense_args, bias_axes, STRING,
                    .doc = "The result's dimensions that have a bias; none: there is none."),
    LEATI_LAYER_ROW(einsum_dense_args, kernel_initializer, STRING, .default_text = "glorot_uniform",
                    .doc = "Name of the kernel's initialiser."),
    LEATI_LAYER_ROW(einsum_dense_args, bias_initializer, STRING, .default_text = "zeros",
                    .doc = "Name of the bias's initialiser."),
    LEATI_LAYER_ROW(einsum_dense_args, seed, SEED,
                    .doc = "Seed of the kernel's initialiser; none: drawn when the layer is made."),
    LEATI_LAYER_NAME,
    {0},
};

/* The letters of one operand, and where dimensions without letters stand. */
typedef struct operand {
    const char *letters;
    int count;
    bool before, behind; /* "..." in front, or behind */
} operand;

typedef struct equation {
    operand input, kernel, output;
} equation;

static bool read_operand(const char *from, const char *end, operand *out) {
    *out = (operand){.letters = from};
    /* In front or behind, not both: what follows is letters. */
    if (end - from >= 3 && memcmp(from, "...", 3) == 0) {
        out->before = true;
        out->letters += 3;
    } else if (end - from >= 3 && memcmp(end - 3, "...", 3) == 0) {
        out->behind = true;
        end -= 3;
    }
    out->count = (int)(end - out->letters);
    for (int i = 0; i < out->count; i++)
        /* Bit 5 is what upper and lower case differ in. */
        if (!((out->letters[i] | 32) >= 'a' && (out->letters[i] | 32) <= 'z'))
            return false;
    return out->count > 0 && out->count <= LEAT_MAX_RANK;
}

static leat_status read_equation(const char *text, equation *out, leat_error *err) {
    /* The operands lie before the comma, between comma and arrow, and behind the arrow. */
    const char *comma = strchr(text, ','), *arrow = strstr(text, "->");
    if (comma != NULL && arrow != NULL && comma < arrow && read_operand(text, comma, &out->input) &&
        read_operand(comma + 1, arrow, &out->kernel) &&
        read_operand(arrow + 2, arrow + strlen(arrow), &out->output) && !out->kernel.before &&
        !out->kernel.behind && out->input.before == out->output.before &&
        out->input.behind == out->output.behind)
        return LEAT_OK;
    return leati_refuse(
        err, VALUE,
        "equation is \"%.80s\"; expected one as \"ab,bc->ac\", \"...ab,bc->...ac\" or "
        "\"ab...,bc->ac...\"",
        text);
}

static int place_of(const operand *of, char letter) {
    for (int i = 0; i < of->count; i++)
        if (of->letters[i] == letter)
            return i;
    return -1;
}

/* The size of a letter of the input, or -1. */
static int64_t input_size(const equation *eq, const leat_shape *input, char letter) {
    int place = place_of(&eq->input, letter);
    if (place < 0)
        return -1;
    /* Letters stand for the last dimensions where "..." is in front, else for the first. */
    return input->dims[eq->input.before ? input->rank - eq->input.count + place : place];
}

/* The size of a letter of the result, or -1. Without "..." in front its first is the batch's. */
static int64_t output_size(const struct einsum_dense_args *args, const equation *eq, char letter) {
    /* -1 - 1 for a letter that is not there, which is below 0 as well. */
    int place = place_of(&eq->output, letter) - (eq->output.before ? 0 : 1);
    return place >= 0 && place < args->output_shape.count ? args->output_shape.values[place] : -1;
}

static leat_status einsum_dense_check(const void *arguments, leat_error *err) {
    const struct einsum_dense_args *args = arguments;
    equation eq;
    LEATI_TRY(read_equation(args->equation, &eq, err));
    /* The batch has a letter unless "..." covers it. */
    if (args->output_shape.count != eq.output.count - (eq.output.before ? 0 : 1))
        return leati_refuse(
            err, VALUE,
            "output_shape has %d numbers; expected one for each letter of the result "
            "behind the batch",
            (int)args->output_shape.count);
    for (const char *axis = args->bias_axes; axis != NULL && *axis != '\0'; axis++)
        if (place_of(&eq.output, *axis) < 0)
            return leati_refuse(err, VALUE, "bias_axes has the letter %c, which the result has not",
                                *axis);
    return leati_activation_check(args->activation, err);
}

static leati_seed_argument einsum_dense_seed(const void *args) {
    return ((const struct einsum_dense_args *)args)->seed;
}

/* The size of a letter of kernel or bias, which input or result must know. */
static leat_status size_of(const struct einsum_dense_args *args, const equation *eq,
                           const leat_shape *input, char letter, int64_t *out, leat_error *err) {
    int64_t in = input_size(eq, input, letter), made = output_size(args, eq, letter);
    if (in >= 0 && made >= 0 && in != made)
        return leati_refuse(err, SHAPE,
                            "dimension %c has size %lld in the input and %lld in output_shape",
                            letter, (long long)in, (long long)made);
    /* Both know it, or either does; the input's size goes first. */
    *out = in >= 0 ? in : made;
    if (*out >= 0)
        return LEAT_OK;
    return leati_refuse(
        err, SHAPE, "dimension %c of the kernel or bias has no known size in input or output_shape",
        letter);
}

static leat_status bias_shape(const struct einsum_dense_args *args, const equation *eq,
                              const leat_shape *input, leat_shape *out, leat_error *err) {
    int open = eq->output.behind ? input->rank - eq->input.count : 0;
    *out = (leat_shape){.rank = 0};
    if (eq->output.count + open > LEAT_MAX_RANK)
        return leati_refuse(err, SHAPE, "\"%.60s\" gives %d dimensions; expected at most %d",
                            args->equation, eq->output.count + open, LEAT_MAX_RANK);
    for (int i = 0; i < eq->output.count; i++) {
        char letter = eq->output.letters[i];
        bool has = strchr(args->bias_axes, letter) != NULL;
        /* Dimensions in front of the first one with a bias broadcast by themselves. */
        if (out->rank == 0 && !has)
            continue;
        out->dims[out->rank] = 1;
        if (has)
            LEATI_TRY(size_of(args, eq, input, letter, &out->dims[out->rank], err));
        out->rank++;
    }
    /* Those that "..." stands for broadcast as well, and they are the last. */
    for (int32_t i = eq->input.count; eq->output.behind && i < input->rank; i++)
        out->dims[out->rank++] = 1;
    return LEAT_OK;
}

static leat_status einsum_dense_weights(const void *arguments, const leat_shape *input,
                                        leati_weights *out, leat_error *err) {
    const struct einsum_dense_args *args = arguments;
    equation eq;
    LEATI_TRY(read_equation(args->equation, &eq, err));
    /* With "..." the input may have more dimensions than letters. */
    bool open = eq.input.before || eq.input.behind;
    if (open ? input->rank < eq.input.count : input->rank != eq.input.count)
        return leati_refuse(err, SHAPE, "the input has %d dimensions and \"%.60s\" names %d",
                            (int)input->rank, args->equation, eq.input.count);
    leat_shape kernel = {.rank = eq.kernel.count}, bias;
    for (int i = 0; i < eq.kernel.count; i++)
        LEATI_TRY(size_of(args, &eq, input, eq.kernel.letters[i], &kernel.dims[i], err));
    out->list[out->count++] =
        (leati_weight){.name = "kernel", .shape = kernel, .initializer = args->kernel_initializer};
    if (args->bias_axes == NULL || args->bias_axes[0] == '\0')
        return LEAT_OK;
    LEATI_TRY(bias_shape(args, &eq, input, &bias, err));
    out->list[out->count++] =
        (leati_weight){.name = "bias", .shape = bias, .initializer = args->bias_initializer};
    return LEAT_OK;
}

static leat_value einsum_dense_call(const leati_pass *pass) {
    const struct einsum_dense_args *args = pass->args;
    const leat_value inputs[2] = {pass->inputs[0], pass->weights[0]};
    leat_value y = leat_op_einsum(inputs, 2, args->equation);
    if (args->bias_axes != NULL && args->bias_axes[0] != '\0')
        y = leat_op_add(y, pass->weights[1]);
    return leati_activation_apply(args->activation, y);
}

const leati_layer_kind leati_layer_einsum_dense = {
    .kind =
        {
            .name = "EinsumDense",
            .doc = "Sums of products of input and kernel, by a text that names dimensions "
                   "(keras.layers.EinsumDense).",
            .rows = einsum_dense_rows,
            .signature = "equation output_shape activation bias_axes=null kernel_initializer "
                         "bias_initializer kernel_regularizer bias_regularizer kernel_constraint "
                         "bias_constraint lora_rank=null lora_alpha=null quantization_config=null",
            .config = "output_shape ... activity_regularizer kernel_constraint bias_constraint "
                      "quantization_config=null",
            .args_size = sizeof(struct einsum_dense_args),
            .check = einsum_dense_check,
        },
    .prefix = "einsum_dense",
    .min_rank = 1,
    .expects = "[batch, ...]",
    .seed = einsum_dense_seed,
    .weights = einsum_dense_weights,
    .call = einsum_dense_call,
};
