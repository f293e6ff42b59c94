/* random_categorical, stateless_categorical: classes drawn by their unnormalised logarithms, from a
 * stream of its own or that of a seed (tf.random.categorical, tf.random.stateless_categorical), as
 * TensorFlow's kernels do on a CPU.
 *
 * A class is found in the sums of the exponentials, which are doubles; infinite logits and NaN
 * count nothing. All rows of a batch draw from one stream; see random.h and stateless.h. They fail
 * where the logits are no matrix with classes, and without memory. No gradient, no state, no locks.
 */
#include "base/minmax.h"
#include "graph/support/random/stateless.h"
#include "run/crew.h"

#include <math.h>
#include <stdatomic.h>

/* The rows that say what categorical draws. */
#define CATEGORICAL_ROWS                                                                           \
    {.name = "num_samples",                                                                        \
     .type = LEATI_ROW_INT,                                                                        \
     .flags = LEATI_REQUIRED | LEATI_TENSOR,                                                       \
     .offset = offsetof(struct leati_random_args, num_samples),                                    \
     .maximum = INT32_MAX,                                                                         \
     .doc = "How many classes to draw for each row."},                                             \
    {                                                                                              \
        .name = "dtype", .type = LEATI_ROW_DTYPE,                                                  \
        .offset = offsetof(struct leati_random_args, dtype), .default_number = LEAT_INT64,         \
        .doc = "The dtype of the classes: int32 or int64."                                         \
    }

static leat_status categorical_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_random_args *args = call->args;
    const leat_shape *logits = &call->inputs[0].shape;
    leat_shape shape = {.rank = 2, .dims = {LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM}};
    if (!leati_graph_dtype_is_floating(call->inputs[0].dtype))
        return leati_refuse(err, DTYPE, "the logits are %s; expected floats",
                            leat_dtype_name(call->inputs[0].dtype));
    if (args->dtype != LEAT_INT32 && args->dtype != LEAT_INT64)
        return leati_refuse(err, DTYPE, "dtype is %s; expected int32 or int64",
                            leat_dtype_name(args->dtype));
    LEATI_TRY(leati_support_want_rank(call, 0, 2, "the logits", err));
    if (logits->rank == 2)
        shape.dims[0] = logits->dims[0];
    if (call->unknown == 0)
        shape.dims[1] = args->num_samples;
    /* Refused here where it is known, else by the kernel. */
    if (logits->rank == 2 && logits->dims[1] == 0)
        return leati_refuse(err, SHAPE, "the logits have no classes; expected at least one");
    return leati_op_infer_output(call, args->dtype, &shape, NULL, err);
}

/* Gives output 0 its shape; how many blocks of a stream a row takes, 0: nothing is drawn. */
static leat_status categorical_begin(leati_kernel_call *call, uint64_t *out_blocks,
                                     leat_error *err) {
    const struct leati_random_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    if (in->rank != 2 || in->dims[1] == 0)
        return leati_refuse(err, SHAPE, "the logits have %s; expected [batch, classes]",
                            in->rank == 2 ? "no classes" : "another rank than 2");
    leat_shape shape = {.rank = 2, .dims = {in->dims[0], args->num_samples}};
    /* Two words for each, by fours. */
    *out_blocks = (uint64_t)in->dims[0] * (((uint64_t)args->num_samples + 3) / 4 * 8) *
                  LEATI_BLOCKS_PER_VALUE;
    return leati_support_output_like(call, 0, &shape, err);
}

/* The sums of the classes' weights up to each. */
static void sum_weights(const double *logits, int64_t count, double *sums) {
    /* The largest finite logit is subtracted, so that no exponential overflows. */
    double most = -HUGE_VAL, total = 0;
    for (int64_t i = 0; i < count; i++)
        most = isfinite(logits[i]) && logits[i] > most ? logits[i] : most;
    for (int64_t i = 0; i < count; i++) {
        total += isfinite(logits[i]) ? exp(logits[i] - most) : 0;
        sums[i] = total;
    }
}

/* The first class whose sum is above `wanted`: classes of weight 0 are never found. */
static int64_t find_class(const double *sums, int64_t count, double wanted) {
    int64_t low = 0, high = count;
    /* Of few classes all are asked, which needs no branches. */
    if (count <= 16) {
        for (int64_t i = 0; i < count; i++)
            low += !(sums[i] > wanted);
        return low;
    }
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        /* `>`, not `>=`: u may be 0, and a first class of weight 0 must not be found then. */
        if (sums[middle] > wanted)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* A row of the call: lines of logits, each of which is drawn for in parts. */
typedef struct lines {
    const double *values;
    char *to;
    leati_philox stream;
    leat_dtype dtype;
    int64_t classes, samples, parts; /* of a line */
    atomic_bool out_of_memory;
} lines;

enum { AT_ONCE = 4096, TAKEN = 256 }; /* numbers of a part, and at once */
#define NS_PER_NUMBER 20
#define NS_PER_CLASS 10

static void lines_piece(void *data, int64_t piece) {
    lines *l = data;
    int64_t line = piece / l->parts, begin = piece % l->parts * AT_ONCE;
    int64_t end = LEATI_MIN(begin + AT_ONCE, l->samples), at = line * l->samples + begin;
    double *sums = leati_crew_scratch((size_t)l->classes * sizeof *sums);
    if (sums == NULL) {
        atomic_store(&l->out_of_memory, true);
        return;
    }
    sum_weights(l->values + line * l->classes, l->classes, sums);
    leati_words words = {.philox = l->stream, .used = 4}; /* used 4: the first word takes a block */
    leati_words_skip(&words, 2 * (uint64_t)at);
    uint32_t room[2 * TAKEN];
    for (int64_t i = begin, k = 0; i < end; i++, at++, k = (k + 1) % TAKEN) {
        if (k == 0)
            leati_words_take(&words, room, 2 * LEATI_MIN(end - i, TAKEN));
        double u = leati_uniform_double(room[2 * k], room[2 * k + 1]);
        int64_t found = find_class(sums, l->classes, u * sums[l->classes - 1]);
        if (l->dtype == LEAT_INT32)
            ((int32_t *)(void *)l->to)[at] = (int32_t)found;
        else
            ((int64_t *)(void *)l->to)[at] = found;
    }
}

/* `logits` are float64, of all rows. */
static leat_status categorical_row(leati_kernel_call *call, const leati_operand *logits,
                                   int64_t row, leati_philox stream, leat_error *err) {
    const struct leati_random_args *args = call->args;
    /* Without lines there is no memory. */
    if (logits->count == 0 || args->num_samples == 0)
        return LEAT_OK;
    lines l = {.values = (const double *)(const void *)leati_support_row_of(logits, row),
               .to = leati_support_row_of(&call->outputs[0], row),
               .stream = stream,
               .dtype = args->dtype,
               .classes = logits->dims[1],
               .samples = args->num_samples,
               .parts = (args->num_samples + AT_ONCE - 1) / AT_ONCE};
    atomic_init(&l.out_of_memory, false);
    int64_t numbers = call->outputs[0].count;
    double ns =
        (double)numbers * NS_PER_NUMBER + (double)logits->count * (double)l.parts * NS_PER_CLASS;
    leati_crew_share(ns, logits->dims[0] * l.parts, lines_piece, &l);
    return atomic_load(&l.out_of_memory) ? leati_no_memory(err) : LEAT_OK;
}

static const leati_row random_categorical_rows[] = {CATEGORICAL_ROWS, LEATI_SEED_ROWS};

static leat_status random_categorical_kernel(leati_kernel_call *call, leat_error *err) {
    leati_operand logits = call->inputs[0];
    uint64_t blocks = 0;
    LEATI_TRY(categorical_begin(call, &blocks, err));
    /* Once for all rows. */
    if (logits.count > 0)
        LEATI_TRY(leati_support_inner_cast(call, &call->inputs[0], LEAT_FLOAT64, &logits, err));
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox stream;
        /* Reserved as TensorFlow does, even where less is drawn. */
        LEATI_TRY(leati_random_stream(call, &leati_tensor_op_random_categorical, row, blocks,
                                      &stream, err));
        LEATI_TRY(categorical_row(call, &logits, row, stream, err));
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_random_categorical = {
    .name = "random_categorical",
    .version = 1,
    .doc = "Classes drawn by their unnormalised logarithms (tf.random.categorical).",
    .names = "random.categorical",
    .inputs = "logits",
    .signature = "logits num_samples dtype=null seed",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = random_categorical_rows,
    .args_size = sizeof(struct leati_random_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_RANDOM,
    .infer = categorical_infer,
    .complete = leati_random_complete,
    .kernel = random_categorical_kernel,
};

static const leati_row stateless_categorical_rows[] = {CATEGORICAL_ROWS, {0}};

static leat_status stateless_categorical_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_stateless_want_seed(call, 1, false, err));
    return categorical_infer(call, err);
}

static leat_status stateless_categorical_kernel(leati_kernel_call *call, leat_error *err) {
    leati_operand logits = call->inputs[0];
    uint64_t blocks = 0;
    LEATI_TRY(categorical_begin(call, &blocks, err));
    /* Once for all rows. */
    if (logits.count > 0)
        LEATI_TRY(leati_support_inner_cast(call, &call->inputs[0], LEAT_FLOAT64, &logits, err));
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox stream;
        call->failed_row = row;
        LEATI_TRY(leati_stateless_stream(call, 1, false, row, &stream, err));
        LEATI_TRY(categorical_row(call, &logits, row, stream, err));
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_stateless_categorical = {
    .name = "stateless_categorical",
    .version = 1,
    .doc = "Classes drawn by their unnormalised logarithms (tf.random.stateless_categorical).",
    .names = "random.stateless_categorical",
    .inputs = "logits seed",
    .signature = "logits num_samples seed dtype",
    .types = "T Tseed",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = stateless_categorical_rows,
    .args_size = sizeof(struct leati_random_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = stateless_categorical_infer,
    .kernel = stateless_categorical_kernel,
};
