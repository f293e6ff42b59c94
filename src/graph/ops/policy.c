/* RandAugment's policy; see policy.h.
 *
 * Strengths of all distortions are drawn, whichever are chosen, so that a call draws as often as
 * any other. Several pictures in one tensor share the choice, and the equalization's histogram.
 * The result is float32. Fails on pictures that are neither grey nor RGB. No state, no locks. */
#include "graph/ops/policy.h"

#include <math.h>
#include <string.h>

enum { IMAGES };

static void pair_of(const leati_floats *given, double low, double high, double out[2]) {
    out[0] = given->values != NULL && given->count == 2 ? given->values[0] : low;
    out[1] = given->values != NULL && given->count > 0 ? given->values[given->count - 1] : high;
}

static leat_status check(const struct leati_policy_args *args, bool *nearest, leat_error *err) {
    double factor[2], range[2];
    const char *name = args->interpolation != NULL ? args->interpolation : "bilinear";
    pair_of(&args->factor, 0, 0.5, factor);
    pair_of(&args->value_range, 0, 255, range);
    *nearest = strcmp(name, "nearest") == 0;
    if (!*nearest && strcmp(name, "bilinear") != 0)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "interpolation is \"%.40s\"; expected bilinear or nearest", name);
    if (args->factor.count > 2 || !(factor[0] >= 0 && factor[0] <= factor[1] && factor[1] <= 1))
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "factor is %g to %g; expected one or two numbers in ascending order, in "
                          "[0, 1]",
                          factor[0], factor[1]);
    if ((args->value_range.values != NULL && args->value_range.count != 2) ||
        !(range[0] < range[1]))
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "value_range is %g to %g; expected the lowest and the highest value",
                          range[0], range[1]);
    return LEAT_OK;
}

leat_status leati_policy_infer(leati_infer_call *call, leat_error *err) {
    const leati_type *in = &call->inputs[IMAGES];
    int64_t channels = in->shape.rank > 0 ? in->shape.dims[in->shape.rank - 1] : LEAT_UNKNOWN_DIM;
    bool nearest;
    if (call->num_inputs > 1)
        LEATI_TRY(leati_want_seed(call, 1, false, err));
    LEATI_TRY(check(call->args, &nearest, err));
    if (in->dtype <= LEAT_BOOL || in->dtype > LEAT_FLOAT64)
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "the pictures are %s; expected numbers",
                          leat_dtype_name(in->dtype));
    if ((in->shape.rank == 3 || in->shape.rank == 4) && channels != LEAT_UNKNOWN_DIM &&
        channels != 1 && channels != 3)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "the pictures have %lld channels; expected 1 or 3", (long long)channels);
    return leati_frames_infer(call, LEATI_KEEP, LEATI_KEEP, LEAT_FLOAT32, err);
}

/* ---- drawing ---- */

/* The draws of one call. */
typedef struct drawing {
    int64_t seed[2];
    int64_t next;   /* how many there were */
    int64_t count;  /* of pictures: numbers of a draw */
    float *numbers; /* room for a draw */
} drawing;

static leati_philox next_stream(drawing *d) {
    return leati_mix_stream(d->seed, d->next++);
}

static void draw(drawing *d, double low, double high) {
    leati_draw(LEATI_UNIFORM, LEAT_FLOAT32, next_stream(d),
               leati_random_scale(LEATI_UNIFORM, LEAT_FLOAT32, low, high), low, d->count,
               d->numbers);
}

static void draw_pair(drawing *d, const double range[2], bool second_first, leati_strength *out) {
    for (int k = 0; k < 2; k++) {
        draw(d, range[0], range[1]);
        for (int64_t i = 0; i < d->count; i++)
            *((k == 0) == second_first ? &out[i].b : &out[i].a) = d->numbers[i];
    }
}

static void draw_one(drawing *d, double low, double high, leati_strength *out) {
    draw(d, low, high);
    for (int64_t i = 0; i < d->count; i++)
        out[i].a = d->numbers[i];
}

/* Pictures are sheared one way or the other. */
static void draw_shear(drawing *d, const double range[2], leati_strength *out) {
    draw(d, 0, 1);
    for (int64_t i = 0; i < d->count; i++) /* kept where the pair does not go yet */
        d->numbers[d->count + i] = d->numbers[i] > 0.5F ? -1.0F : 1.0F;
    draw_pair(d, range, true, out);
    for (int64_t i = 0; i < d->count; i++) {
        out[i].a *= d->numbers[d->count + i];
        out[i].b *= d->numbers[d->count + i];
    }
}

/* From one bit to a number of them, the end not reached, are kept of eight. */
static void draw_bits(drawing *d, double factor, leati_strength *out) {
    int64_t most = (int64_t)(8 * factor), kept = 1;
    leati_philox stream = {0};
    uint32_t words[4] = {0};
    if (most > 1)
        stream = next_stream(d);
    for (int64_t i = 0; i < d->count; i++) {
        if (most > 1) {
            if (i % 2 == 0)
                leati_philox_next(&stream, words);
            uint64_t bits = (uint64_t)words[i % 2 * 2 + 1] << 32 | words[i % 2 * 2];
            kept = 1 + (int64_t)(bits % (uint64_t)(most - 1));
        }
        out[i].a = (float)(8 - kept);
    }
}

/* All strengths: `count` of each distortion. */
static void draw_strengths(drawing *d, const double factor[2], leati_strength *out) {
    const double bytes[2] = {factor[0], factor[1] * 255};
    int64_t n = d->count;
    draw_shear(d, factor, out + LEATI_SHEAR * n);
    draw_pair(d, factor, true, out + LEATI_TRANSLATION * n);
    draw_one(d, factor[0] * 360, factor[1] * 360, out + LEATI_ROTATION * n);
    draw_one(d, factor[0], factor[1], out + LEATI_BRIGHTNESS * n);
    draw_one(d, factor[0], factor[1], out + LEATI_DEGENERATION * n);
    draw_one(d, 1 - factor[0], 1 + factor[1], out + LEATI_CONTRAST * n);
    draw_one(d, factor[0], factor[1], out + LEATI_SHARPNESS * n);
    draw_bits(d, factor[1], out + LEATI_POSTERIZATION * n);
    draw_pair(d, bytes, false, out + LEATI_SOLARIZATION * n);
}

static leat_status run_row(leati_kernel_call *call, drawing *d, leati_canvas *canvas,
                           leati_strength *strengths, leat_error *err) {
    const struct leati_policy_args *args = call->args;
    size_t bytes = (size_t)args->num_ops * sizeof(int32_t);
    int32_t *chosen = leati_arena_alloc(call->arena, bytes);
    double factor[2];
    if (chosen == NULL)
        return leati_no_memory(err, bytes);
    pair_of(&args->factor, 0, 0.5, factor);
    leati_draw_integers(LEAT_INT32, next_stream(d), 0, LEATI_DISTORTIONS, args->num_ops, chosen);
    draw_strengths(d, factor, strengths);
    for (int64_t i = 0; i < args->num_ops; i++)
        leati_distort(canvas, (leati_distortion)chosen[i], strengths + chosen[i] * canvas->count);
    return LEAT_OK;
}

leat_status leati_policy_kernel(leati_kernel_call *call, const leati_tensor_op *op,
                                leat_error *err) {
    const struct leati_policy_args *args = call->args;
    leati_frames frames;
    leati_canvas canvas;
    double range[2];
    LEATI_TRY(check(args, &canvas.nearest, err));
    LEATI_TRY(leati_frames_begin(call, LEATI_KEEP, LEATI_KEEP, &frames, err));
    if (frames.channels != 1 && frames.channels != 3)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "the pictures have %lld channels; expected 1 or 3",
                          (long long)frames.channels);
    LEATI_TRY(leati_inner_cast_into(call, &call->inputs[IMAGES], &call->outputs[0], err));
    pair_of(&args->value_range, 0, 255, range);
    canvas = (leati_canvas){.count = frames.count,
                            .height = frames.height,
                            .width = frames.width,
                            .channels = frames.channels,
                            .low = (float)range[0],
                            .high = (float)range[1],
                            .nearest = canvas.nearest};
    size_t pixels = (size_t)(frames.height * frames.width * frames.channels) * sizeof(float);
    size_t numbers = (size_t)frames.count * (2 * sizeof(float)),
           strengths = (size_t)frames.count * LEATI_DISTORTIONS * sizeof(leati_strength);
    char *memory = leati_arena_alloc(call->arena, strengths + numbers + pixels + 1);
    if (memory == NULL)
        return leati_no_memory(err, strengths + numbers + pixels);
    canvas.scratch = (float *)(void *)(memory + strengths + numbers);
    for (int64_t row = 0; row < call->n && call->outputs[0].count > 0; row++) {
        drawing d = {.count = frames.count, .numbers = (float *)(void *)(memory + strengths)};
        call->failed_row = row;
        LEATI_TRY(leati_mix_seed(call, 1, op, row, d.seed, err));
        canvas.pixels = (float *)(void *)leati_row_of(&call->outputs[0], row);
        LEATI_TRY(run_row(call, &d, &canvas, (leati_strength *)(void *)memory, err));
    }
    call->failed_row = 0;
    return LEAT_OK;
}

leat_value leati_policy_build(const leati_tensor_op *op, leat_value images,
                              const leat_rand_augment_options *options, const leat_value *seed,
                              const int64_t *number) {
    static const leat_rand_augment_options none = {0};
    const leat_rand_augment_options *o = options != NULL ? options : &none;
    double range[2] = {o->value_range[0], o->value_range[1]}, factor[2] = {0, o->factor};
    struct leati_policy_args args = {.num_ops = o->num_ops != 0 ? o->num_ops : 2,
                                     .interpolation =
                                         (char *)(uintptr_t)(o->nearest ? "nearest" : "bilinear")};
    leat_error err = {0};
    if (leati_value_failed(images))
        return images;
    if (range[0] != 0 || range[1] != 0)
        args.value_range = (leati_floats){.values = range, .count = 2};
    if (o->factor != 0)
        args.factor = (leati_floats){.values = factor, .count = 2};
    if (number != NULL)
        args.random.seed = (leati_seed_argument){.given = true, .value = *number};
    if (seed != NULL)
        return leati_op2(op, &args, images, *seed);
    if (leati_random_complete(images.graph, &args, &err) != LEAT_OK)
        return leati_graph_error(images.graph, &err);
    return leati_op1(op, &args, images);
}
