/* random_gamma, random_poisson, stateless_gamma, stateless_poisson, stateless_binomial: numbers of
 * distributions that have parameters (tf.random.gamma and so on), in float64.
 *
 * Parameters are vectors of one length, as floats; each gives num_samples numbers, a column of the
 * output, and number i of parameter k is value k * num_samples + i of the stream, as in TensorFlow.
 * They fail in inference where a parameter is no vector of floats, and in the run where lengths
 * differ. Nothing flows through them. No state, no locks. */
#include "base/minmax.h"
#include "graph/support/random/stateless.h"
#include "run/crew.h"

static const leati_row random_rows[] = {{.name = "num_samples",
                                         .type = LEATI_ROW_INT,
                                         .flags = LEATI_REQUIRED | LEATI_TENSOR,
                                         .offset = offsetof(struct leati_random_args, num_samples),
                                         .maximum = INT32_MAX,
                                         .doc = "How many numbers to draw for each parameter."},
                                        LEATI_SEED_ROWS};
static const leati_row stateless_rows[] = {
    {.name = "num_samples",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct leati_random_args, num_samples),
     .maximum = INT32_MAX,
     .doc = "How many numbers to draw for each parameter."},
    {0}};

/* Value `index` of a stream; `kept` is for the next one. */
typedef double draw_function(leati_philox stream, uint64_t index, const double *parameters,
                             leati_draw_rate *kept);

static double draw_gamma(leati_philox stream, uint64_t index, const double *parameters,
                         leati_draw_rate *kept) {
    (void)kept;
    leati_philox_skip(&stream, index * LEATI_BLOCKS_PER_VALUE);
    return leati_draw_one_gamma(stream, parameters[0]);
}
static double draw_poisson(leati_philox stream, uint64_t index, const double *parameters,
                           leati_draw_rate *kept) {
    leati_philox_skip(&stream, index * LEATI_BLOCKS_PER_VALUE);
    return leati_draw_one_poisson(stream, parameters[0], kept);
}
static double draw_binomial(leati_philox stream, uint64_t index, const double *parameters,
                            leati_draw_rate *kept) {
    (void)kept;
    return leati_draw_one_binomial(stream, index, parameters[0], parameters[1]);
}

/* Inputs from `first` on are parameters. */
static leat_status infer(leati_infer_call *call, int first, leat_error *err) {
    const struct leati_random_args *args = call->args;
    leat_shape shape = {.rank = 2, .dims = {LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM}};
    for (int i = first; i < call->num_inputs; i++) {
        const leati_type *type = &call->inputs[i];
        if (type->dtype != LEAT_FLOAT64)
            return leati_refuse(err, DTYPE, "parameters are %s; expected float64",
                                leat_dtype_name(type->dtype));
        LEATI_TRY(leati_support_want_rank(call, i, 1, "a parameter", err));
        if (type->shape.rank == 1 && type->shape.dims[0] >= 0)
            shape.dims[1] = type->shape.dims[0];
    }
    if (call->unknown == 0)
        shape.dims[0] = args->num_samples;
    return leati_op_infer_output(call, LEAT_FLOAT64, &shape, NULL, err);
}

static leat_status random_infer(leati_infer_call *call, leat_error *err) {
    return infer(call, 0, err);
}
static leat_status stateless_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_stateless_want_seed(call, 0, true, err));
    return infer(call, 1, err);
}

/* Output 0 of `num` parameters, operands from `first` on. */
static leat_status begin(leati_kernel_call *call, size_t first, size_t num, leat_error *err) {
    const struct leati_random_args *args = call->args;
    int64_t length = call->inputs[first].count;
    for (size_t i = first + 1; i < first + num; i++)
        if (call->inputs[i].count != length)
            return leati_refuse(err, SHAPE, "parameters of %lld and %lld values; expected as many",
                                (long long)length, (long long)call->inputs[i].count);
    leat_shape shape = {.rank = 2, .dims = {args->num_samples, length}};
    return leati_support_output_like(call, 0, &shape, err);
}

/* A row of the output, each value of which is drawn apart. */
typedef struct drawing {
    draw_function *function;
    leati_philox stream;
    const double *parameters[2];
    size_t num;
    double *to;
    int64_t samples, length;
} drawing;

enum { AT_ONCE = 512 };
#define NS_PER_VALUE 80

static void draw_piece(void *data, int64_t piece) {
    const drawing *d = data;
    int64_t begin = piece * AT_ONCE, end = LEATI_MIN(begin + AT_ONCE, d->samples * d->length);
    double parameters[2] = {0};
    leati_draw_rate kept = {0};
    int64_t k = d->samples > 0 ? begin / d->samples : 0, i = begin - k * d->samples;
    for (int64_t at = begin; at < end; at++) {
        for (size_t p = 0; p < d->num; p++)
            parameters[p] = d->parameters[p][k];
        d->to[i * d->length + k] = d->function(d->stream, (uint64_t)at, parameters, &kept);
        if (++i == d->samples) {
            i = 0;
            k++;
        }
    }
}

static void draw(leati_kernel_call *call, size_t first, size_t num, int64_t row,
                 leati_philox stream, draw_function *function) {
    const leati_operand *out = &call->outputs[0];
    drawing d = {.function = function,
                 .stream = stream,
                 .num = num,
                 .to = (double *)(void *)leati_support_row_of(out, row),
                 .samples = out->dims[0],
                 .length = out->dims[1]};
    for (size_t p = 0; p < num; p++)
        d.parameters[p] =
            (const double *)(const void *)leati_support_row_of(&call->inputs[first + p], row);
    leati_crew_share((double)out->count * NS_PER_VALUE, (out->count + AT_ONCE - 1) / AT_ONCE,
                     draw_piece, &d);
}

static leat_status run_random(leati_kernel_call *call, const leati_tensor_op *op,
                              draw_function *function, leat_error *err) {
    LEATI_TRY(begin(call, 0, 1, err));
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox stream;
        LEATI_TRY(leati_random_stream(call, op, row,
                                      (uint64_t)call->outputs[0].count * LEATI_BLOCKS_PER_VALUE,
                                      &stream, err));
        draw(call, 0, 1, row, stream, function);
    }
    return LEAT_OK;
}

static leat_status run_stateless(leati_kernel_call *call, size_t num, draw_function *function,
                                 leat_error *err) {
    LEATI_TRY(begin(call, 1, num, err));
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox stream;
        call->failed_row = row;
        LEATI_TRY(leati_stateless_stream(call, 0, true, row, &stream, err));
        draw(call, 1, num, row, stream, function);
    }
    return LEAT_OK;
}

/* The descriptor of one operation. */
#define DRAW_OP(OP, KERNEL, INPUTS, ...)                                                           \
    static leat_status OP##_kernel(leati_kernel_call *call, leat_error *err) {                     \
        return KERNEL;                                                                             \
    }                                                                                              \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_NONE,                                                               \
        .args_size = sizeof(struct leati_random_args),                                             \
        .min_inputs = INPUTS,                                                                      \
        .max_inputs = INPUTS,                                                                      \
        .kernel = OP##_kernel,                                                                     \
        .gradient = leati_op_gradient_none,                                                        \
        __VA_ARGS__,                                                                               \
    };
#define RANDOM(OP, DRAW, INPUT, DOC)                                                               \
    DRAW_OP(OP, run_random(call, &leati_tensor_op_##OP, DRAW, err), 1, .doc = DOC,                 \
            .inputs = INPUT, .types = "S", .rows = random_rows, .flags = LEATI_RANDOM,             \
            .infer = random_infer, .complete = leati_random_complete)
#define STATELESS(OP, NUM, DRAW, INPUTS, TYPES, DOC)                                               \
    DRAW_OP(OP, run_stateless(call, NUM, DRAW, err), NUM + 1, .doc = DOC, .inputs = INPUTS,        \
            .types = TYPES, .rows = stateless_rows, .infer = stateless_infer)
RANDOM(random_gamma, draw_gamma, "alpha",
       "Numbers of the gamma distribution with these shapes (tf.random.gamma).")
RANDOM(random_poisson, draw_poisson, "lam",
       "Numbers of the Poisson distribution with these rates (tf.random.poisson).")
STATELESS(stateless_gamma, 1, draw_gamma, "seed alpha", "Tseed S",
          "Numbers of the gamma distribution of a seed (tf.random.stateless_gamma).")
STATELESS(stateless_poisson, 1, draw_poisson, "seed lam", "Tseed S",
          "Numbers of the Poisson distribution of a seed (tf.random.stateless_poisson).")
STATELESS(stateless_binomial, 2, draw_binomial, "seed counts probs", "Tseed S S",
          "Numbers of the binomial distribution of a seed (tf.random.stateless_binomial).")
