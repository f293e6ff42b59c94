/* RandAugment's policy; see policy.h.
 *
 * Strengths of all distortions are drawn, whichever are chosen, so that a call draws as often as
 * any other. Several pictures in one tensor share the choice, and the equalization's histogram.
 * The result is float32. Fails on pictures that are neither grey nor RGB. No state, no locks. */
#include "graph/support/picture/policy.h"

#include <math.h>
#include <string.h>

enum { IMAGES };

static void pair_of(const leati_floats *given, double low, double high, double out[2]) {
    /* One number is the upper end, the lower one being the standard. */
    out[0] = given->values != NULL && given->count == 2 ? given->values[0] : low;
    out[1] = given->values != NULL && given->count > 0 ? given->values[given->count - 1] : high;
}

static bool reads_nearest(const struct leati_policy_args *args) {
    return args->interpolation != NULL && strcmp(args->interpolation, "nearest") == 0;
}

leat_status leati_policy_check(const struct leati_policy_args *args, double standard,
                               double factor[2], double range[2], leat_error *err) {
    pair_of(&args->factor, 0, standard, factor);
    pair_of(&args->value_range, 0, 255, range);
    if (!reads_nearest(args) && args->interpolation != NULL &&
        strcmp(args->interpolation, "bilinear") != 0)
        return leati_refuse(err, VALUE, "interpolation is \"%.40s\"; expected bilinear or nearest",
                            args->interpolation);
    if (args->factor.count > 2 || !(factor[0] >= 0 && factor[0] <= factor[1] && factor[1] <= 1))
        return leati_refuse(
            err, VALUE,
            "factor is %g to %g; expected one or two numbers in ascending order, in "
            "[0, 1]",
            factor[0], factor[1]);
    if ((args->value_range.values != NULL && args->value_range.count != 2) ||
        !(range[0] < range[1]))
        return leati_refuse(err, VALUE,
                            "value_range is %g to %g; expected the lowest and the highest value",
                            range[0], range[1]);
    return LEAT_OK;
}

leat_status leati_policy_infer(leati_infer_call *call, leat_error *err) {
    const leati_type *in = &call->inputs[IMAGES];
    int64_t channels = in->shape.rank > 0 ? in->shape.dims[in->shape.rank - 1] : LEAT_UNKNOWN_DIM;
    double factor[2], range[2];
    if (call->num_inputs > 1)
        LEATI_TRY(leati_stateless_want_seed(call, 1, false, err));
    LEATI_TRY(leati_policy_check(call->args, 0.5, factor, range, err));
    if (in->dtype <= LEAT_BOOL || in->dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "the pictures are %s; expected numbers",
                            leat_dtype_name(in->dtype));
    if ((in->shape.rank == 3 || in->shape.rank == 4) && channels != LEAT_UNKNOWN_DIM &&
        channels != 1 && channels != 3)
        return leati_refuse(err, SHAPE, "the pictures have %lld channels; expected 1 or 3",
                            (long long)channels);
    return leati_frames_infer(call, LEATI_KEEP, LEATI_KEEP, LEAT_FLOAT32, err);
}

/* ---- drawing ---- */

leati_philox leati_policy_drawing_next(leati_drawing *d) {
    return leati_mix_stream(d->seed, d->next++);
}

static void draw(leati_drawing *d, double low, double high) {
    leati_draw(LEATI_UNIFORM, LEAT_FLOAT32, leati_policy_drawing_next(d),
               leati_random_scale(LEATI_UNIFORM, LEAT_FLOAT32, low, high), low, d->count,
               d->numbers);
}

static void draw_pair(leati_drawing *d, const double range[2], bool second_first,
                      leati_strength *out) {
    for (int k = 0; k < 2; k++) {
        /* For shear and translation Keras draws the pair's second number first. */
        draw(d, range[0], range[1]);
        for (int64_t i = 0; i < d->count; i++)
            *((k == 0) == second_first ? &out[i].b : &out[i].a) = d->numbers[i];
    }
}

static void draw_one(leati_drawing *d, double low, double high, leati_strength *out) {
    draw(d, low, high);
    for (int64_t i = 0; i < d->count; i++)
        out[i].a = d->numbers[i];
}

/* Pictures are sheared one way or the other. */
static void draw_shear(leati_drawing *d, const double range[2], leati_strength *out) {
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
static void draw_bits(leati_drawing *d, double factor, leati_strength *out) {
    /* Where no more than one bit may be kept, nothing is drawn. */
    int64_t most = (int64_t)(8 * factor), kept = 1;
    leati_philox stream = {0};
    uint32_t words[4] = {0};
    if (most > 1)
        stream = leati_policy_drawing_next(d);
    for (int64_t i = 0; i < d->count; i++) {
        if (most > 1) {
            /* TensorFlow draws int64 here: two words each, the low one first. */
            if (i % 2 == 0)
                leati_philox_next(&stream, words);
            uint64_t bits = (uint64_t)words[i % 2 * 2 + 1] << 32 | words[i % 2 * 2];
            kept = 1 + (int64_t)(bits % (uint64_t)(most - 1));
        }
        out[i].a = (float)(8 - kept);
    }
}

void leati_policy_draw_strengths(leati_drawing *d, leati_distortion which, const double factor[2],
                                 leati_strength *out) {
    /* Keras scales the upper factor alone to bytes. */
    const double bytes[2] = {factor[0], factor[1] * 255};
    switch (which) {
    case LEATI_SHEAR: draw_shear(d, factor, out); break;
    case LEATI_TRANSLATION: draw_pair(d, factor, true, out); break;
    case LEATI_ROTATION: draw_one(d, factor[0] * 360, factor[1] * 360, out); break;
    case LEATI_CONTRAST: draw_one(d, 1 - factor[0], 1 + factor[1], out); break;
    case LEATI_POSTERIZATION: draw_bits(d, factor[1], out); break;
    case LEATI_SOLARIZATION: draw_pair(d, bytes, false, out); break;
    case LEATI_BRIGHTNESS:
    case LEATI_DEGENERATION:
    case LEATI_SHARPNESS: draw_one(d, factor[0], factor[1], out); break;
    default: break; /* always as strong */
    }
}

static leat_status run_row(leati_kernel_call *call, leati_policy_work *work, const double factor[2],
                           leat_error *err) {
    const struct leati_policy_args *args = call->args;
    size_t bytes = (size_t)args->num_ops * sizeof(int32_t);
    int32_t *chosen = leati_arena_alloc(call->arena, bytes + 1);
    int64_t count = work->canvas.count;
    if (chosen == NULL)
        return leati_no_memory(err);
    /* The choice is draw 0, before all strengths. */
    leati_draw_integers(LEAT_INT32, leati_policy_drawing_next(&work->drawing), 0, LEATI_DISTORTIONS,
                        args->num_ops, chosen);
    for (int i = 0; i < LEATI_DISTORTIONS; i++)
        leati_policy_draw_strengths(&work->drawing, (leati_distortion)i, factor,
                                    work->strengths + i * count);
    for (int64_t i = 0; i < args->num_ops; i++)
        leati_policy_distort(&work->canvas, (leati_distortion)chosen[i],
                             work->strengths + chosen[i] * count);
    return LEAT_OK;
}

leat_status leati_policy_begin(leati_kernel_call *call, const struct leati_policy_args *args,
                               const double range[2], leati_policy_work *out, leat_error *err) {
    leati_frames frames;
    LEATI_TRY(leati_frames_begin(call, LEATI_KEEP, LEATI_KEEP, &frames, err));
    if (frames.channels != 1 && frames.channels != 3)
        return leati_refuse(err, SHAPE, "the pictures have %lld channels; expected 1 or 3",
                            (long long)frames.channels);
    LEATI_TRY(leati_support_inner_cast_into(call, &call->inputs[IMAGES], &call->outputs[0], err));
    size_t pixels = (size_t)(frames.height * frames.width * frames.channels) * sizeof(float);
    size_t numbers = (size_t)frames.count * (2 * sizeof(float)),
           strengths = (size_t)frames.count * LEATI_DISTORTIONS * sizeof(leati_strength);
    /* One piece: strengths, which need the widest alignment, numbers, and a scratch picture. */
    char *memory = leati_arena_alloc(call->arena, strengths + numbers + pixels + 1);
    if (memory == NULL)
        return leati_no_memory(err);
    *out = (leati_policy_work){
        .canvas = {.count = frames.count,
                   .height = frames.height,
                   .width = frames.width,
                   .channels = frames.channels,
                   .scratch = (float *)(void *)(memory + strengths + numbers),
                   .low = (float)range[0],
                   .high = (float)range[1],
                   .nearest = args->masks || reads_nearest(args),
                   .masks = args->masks},
        .drawing = {.count = frames.count, .numbers = (float *)(void *)(memory + strengths)},
        .strengths = (leati_strength *)(void *)memory};
    return LEAT_OK;
}

leat_status leati_policy_kernel(leati_kernel_call *call, const leati_tensor_op *op,
                                leat_error *err) {
    leati_policy_work work;
    double factor[2], range[2];
    LEATI_TRY(leati_policy_check(call->args, 0.5, factor, range, err));
    LEATI_TRY(leati_policy_begin(call, call->args, range, &work, err));
    for (int64_t row = 0; row < call->n && call->outputs[0].count > 0; row++) {
        call->failed_row = row;
        /* Draws are counted anew for each call, that is for each row. */
        work.drawing.next = 0;
        LEATI_TRY(leati_mix_seed(call, 1, op, row, work.drawing.seed, err));
        work.canvas.pixels = (float *)(void *)leati_support_row_of(&call->outputs[0], row);
        LEATI_TRY(run_row(call, &work, factor, err));
    }
    call->failed_row = 0;
    return LEAT_OK;
}
