/* What mixup and cutmix share; see mix.h.
 *
 * The order is that of sorted uniform numbers, a weight that of a beta distribution from two gamma
 * ones, in float32, as Keras has them on TensorFlow. Labels become w * own + (1 - w) * other, of
 * their dtype where that is a float, else as float32. Fails where pictures and labels are not
 * equally many, and on arguments out of range. No state, no locks. */
#include "graph/support/picture/mix.h"

#include "core/tensor.h"
#include "graph/kernel_host.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { IMAGES, LABELS, SEED };

static bool is_float(leat_dtype dtype) {
    return dtype >= LEAT_FLOAT16 && dtype <= LEAT_FLOAT64;
}

/* ---- numbers ---- */

/* Keras makes a seed an int32 by a remainder. */
static int64_t wrapped(int64_t number) {
    /* Keras takes the remainder by 2^31 - 2, of Python's kind: never negative. */
    const int64_t size = INT32_MAX - 1;
    int64_t rest = number % size;
    return rest < 0 ? rest + size : rest;
}

/* Both numbers of a draw's seed are `shift` larger than usual, in int32. */
static leati_philox shifted_stream(const int64_t seed[2], int64_t k, uint32_t shift) {
    /* Added as unsigned, as a user's seed may be the largest int64. */
    int64_t second = wrapped((int64_t)((uint64_t)seed[1] + (uint64_t)k));
    return leati_philox_stateless((int32_t)((uint32_t)wrapped(seed[0]) + shift),
                                  (int32_t)((uint32_t)second + shift));
}

leati_philox leati_mix_stream(const int64_t seed[2], int64_t k) {
    return shifted_stream(seed, k, 0);
}

static void draw_uniforms(leati_philox stream, double low, double high, int64_t count, float *to) {
    leati_draw(LEATI_UNIFORM, LEAT_FLOAT32, stream,
               leati_random_scale(LEATI_UNIFORM, LEAT_FLOAT32, low, high), low, count, to);
}

struct place {
    float number;
    int64_t index;
};

static int compare_places(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    /* By the index where numbers are equal: qsort does not keep an order by itself. */
    return x->index < y->index ? -1 : x->index > y->index;
}

static leat_status draw_order(leati_kernel_call *call, leati_philox stream, int64_t count,
                              int64_t *order, leat_error *err) {
    size_t bytes = (size_t)count * (sizeof(struct place) + sizeof(float));
    struct place *places = leati_arena_alloc(call->arena, bytes);
    if (places == NULL)
        return leati_no_memory(err);
    /* Behind the places, in the same piece of memory. */
    float *numbers = (float *)(void *)(places + count);
    draw_uniforms(stream, 0, 1, count, numbers);
    for (int64_t i = 0; i < count; i++)
        places[i] = (struct place){numbers[i], i};
    if (count > 1)
        qsort(places, (size_t)count, sizeof *places, compare_places);
    for (int64_t i = 0; i < count; i++)
        order[i] = places[i].index;
    return LEAT_OK;
}

void leati_mix_weights(const int64_t seed[2], int64_t k, float alpha, int64_t count, float *to,
                       float *scratch) {
    leati_draw_gamma(leati_mix_stream(seed, k), (double)alpha, count, to);
    leati_draw_gamma(shifted_stream(seed, k, 12), (double)alpha, count, scratch);
    for (int64_t i = 0; i < count; i++)
        /* Two gamma numbers of one parameter, one over their sum: a symmetric beta distribution. */
        to[i] = to[i] / (to[i] + scratch[i]);
}

/* ---- rows of a batch ---- */

/* to[i] = w[i] * from[i] + (1 - w[i]) * from[order[i]], row by row, in the dtype of all. */
static void blend(leat_dtype dtype, const char *from, const int64_t *order, const float *weights,
                  int64_t count, int64_t size, char *to) {
    for (int64_t i = 0; i < count; i++) {
        float w = weights[i];
        if (dtype == LEAT_FLOAT64) {
            const double *own = (const double *)(const void *)from + i * size;
            const double *other = (const double *)(const void *)from + order[i] * size;
            for (int64_t k = 0; k < size; k++)
                ((double *)(void *)to)[i * size + k] =
                    (double)w * own[k] + (double)(1.0F - w) * other[k];
            continue;
        }
        /* 1 - w in float32, as Keras computes it, also for the pictures of float64 above. */
        const float *own = (const float *)(const void *)from + i * size;
        const float *other = (const float *)(const void *)from + order[i] * size;
        float *out = (float *)(void *)to + i * size;
        for (int64_t k = 0; k < size; k++)
            out[k] = w * own[k] + (1.0F - w) * other[k];
    }
}

/* Blends row `row` of input `index` into the output of that index. */
static leat_status blend_input(leati_kernel_call *call, int index, int64_t row,
                               const int64_t *order, const float *weights, leat_error *err) {
    leati_kernel_call one = *call;
    leati_operand in = call->inputs[index], out = call->outputs[index], mixed;
    int64_t count = in.dims[0], size = count > 0 ? in.count / count : 0;
    leat_dtype work = out.dtype == LEAT_FLOAT64 ? LEAT_FLOAT64 : LEAT_FLOAT32;
    in.data = leati_support_row_of(&in, row);
    out.data = leati_support_row_of(&out, row);
    /* One row at a time: the order and the weights are this row's. */
    one.n = 1;
    if (in.dtype != work)
        LEATI_TRY(leati_support_inner_cast(&one, &in, work, &in, err));
    mixed = out;
    /* Narrow floats are blended in float32 and rounded once. */
    if (out.dtype != work) {
        size_t bytes = (size_t)out.count * leat_dtype_size(work);
        mixed.dtype = work;
        mixed.data = leati_arena_alloc(call->arena, bytes);
        if (mixed.data == NULL)
            return leati_no_memory(err);
    }
    blend(work, in.data, order, weights, count, size, mixed.data);
    return out.dtype == work ? LEAT_OK : leati_support_inner_cast_into(&one, &mixed, &out, err);
}

/* ---- mixup ---- */

static leat_status check_alpha(const struct leati_mix_args *args, leat_error *err) {
    if (args->alpha > 0 && args->alpha <= 1)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "alpha is %.9g; expected a number in (0, 1]", args->alpha);
}

static leat_status apply_up(leati_kernel_call *call, int64_t row, const int64_t seed[2],
                            int64_t *order, float *weights, leat_error *err) {
    const struct leati_mix_args *args = call->args;
    int64_t count = call->inputs[IMAGES].dims[0];
    LEATI_TRY(draw_order(call, leati_mix_stream(seed, 0), count, order, err));
    leati_mix_weights(seed, 1, (float)args->alpha, count, weights, weights + count);
    return blend_input(call, IMAGES, row, order, weights, err);
}

const leati_mix leati_mix_up = {check_alpha, apply_up, true};

/* ---- cutmix ---- */

/* The range that the distribution's parameter is drawn from; one number is its end. */
static void factors_of(const struct leati_mix_args *args, double out[2]) {
    const leati_floats *given = &args->factor;
    out[0] = given->values != NULL && given->count == 2 ? given->values[0] : 0;
    out[1] = given->values != NULL ? given->values[given->count - 1] : 1;
}

static leat_status check_factor(const struct leati_mix_args *args, leat_error *err) {
    double range[2] = {0, 1};
    bool counted =
        args->factor.values == NULL || args->factor.count == 1 || args->factor.count == 2;
    if (counted)
        factors_of(args, range);
    if (counted && range[0] >= 0 && range[0] <= range[1] && range[1] <= 1)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "factor has %d numbers; expected one or two in ascending order, in [0, 1]",
                        (int)args->factor.count);
}

/* The pixels of a line of `length` whose places are within a part of it that begins at a random
 * place: [*first, *end). The part's ends go to bounds. */
static void cut(float ratio, float number, int64_t length, float bounds[2], int64_t *first,
                int64_t *end) {
    float part = ratio * (float)length;
    /* The part has fractions of pixels: a pixel is in it if its number is. */
    bounds[0] = number * ((float)length - part);
    bounds[1] = bounds[0] + part;
    *first = 0;
    while (*first < length && (float)*first < bounds[0])
        ++*first;
    *end = *first;
    while (*end < length && (float)*end < bounds[1])
        ++*end;
}

/* Copies the pictures of a row, with a window of each from the one in the other order. */
static void paste(const leati_kernel_call *call, int64_t row, const int64_t *order, float *weights,
                  const float *numbers) {
    const leati_operand *in = &call->inputs[IMAGES];
    int64_t count = in->dims[0], height = in->dims[1], width = in->dims[2];
    size_t pixel = (size_t)in->dims[3] * leat_dtype_size(in->dtype);
    size_t stride = (size_t)width * pixel, picture = (size_t)height * stride;
    const char *from = leati_support_row_of(in, row);
    char *to = leati_support_row_of(&call->outputs[IMAGES], row);
    if (in->count > 0)
        memcpy(to, from, (size_t)count * picture);
    for (int64_t i = 0; i < count; i++) {
        /* The window has 1 - weight of the area, and the picture's proportions. */
        float ratio = sqrtf(1.0F - weights[i]), x[2], y[2];
        int64_t left, right, top, bottom;
        cut(ratio, numbers[i], width, x, &left, &right);
        cut(ratio, numbers[count + i], height, y, &top, &bottom);
        size_t offset = (size_t)left * pixel, bytes = (size_t)(right - left) * pixel;
        for (int64_t line = top; line < bottom && bytes > 0; line++)
            memcpy(to + (size_t)i * picture + (size_t)line * stride + offset,
                   from + (size_t)order[i] * picture + (size_t)line * stride + offset, bytes);
        /* By the window's real size, not by whole pixels, as Keras counts it. */
        weights[i] = 1.0F - (x[1] - x[0]) * (y[1] - y[0]) / (float)(width * height);
    }
}

static leat_status apply_cut(leati_kernel_call *call, int64_t row, const int64_t seed[2],
                             int64_t *order, float *weights, leat_error *err) {
    int64_t count = call->inputs[IMAGES].dims[0];
    size_t bytes = 2 * (size_t)count * sizeof(float);
    float *numbers = leati_arena_alloc(call->arena, bytes), alpha;
    double range[2];
    if (numbers == NULL)
        return leati_no_memory(err);
    factors_of(call->args, range);
    draw_uniforms(leati_mix_stream(seed, 0), range[0], range[1], 1, &alpha);
    /* Keras adds this, as a gamma distribution needs a parameter above 0. */
    leati_mix_weights(seed, 1, alpha + 1e-6F, count, weights, weights + count);
    draw_uniforms(leati_mix_stream(seed, 2), 0, 1, count, numbers);
    draw_uniforms(leati_mix_stream(seed, 3), 0, 1, count, numbers + count);
    LEATI_TRY(draw_order(call, leati_mix_stream(seed, 4), count, order, err));
    paste(call, row, order, weights, numbers);
    return LEAT_OK;
}

const leati_mix leati_mix_cut = {check_factor, apply_cut, false};

/* ---- slots ---- */

leat_status leati_mix_infer(leati_infer_call *call, const leati_mix *mix, leat_error *err) {
    const leati_type *images = &call->inputs[IMAGES], *labels = &call->inputs[LABELS];
    if (call->num_inputs > SEED)
        LEATI_TRY(leati_stateless_want_seed(call, SEED, false, err));
    LEATI_TRY(mix->check(call->args, err));
    if (images->dtype <= LEAT_BOOL || images->dtype > LEAT_FLOAT64 || labels->dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "the pictures are %s, the labels %s; expected numbers",
                            leat_dtype_name(images->dtype), leat_dtype_name(labels->dtype));
    LEATI_TRY(leati_support_want_rank(call, IMAGES, 4, "the batch of pictures", err));
    if (labels->shape.rank == 0)
        return leati_refuse(err, SHAPE,
                            "the labels are a scalar; expected one row for each picture");
    if (images->shape.rank == 4 && labels->shape.rank > 0)
        LEATI_TRY(leati_support_want_equal_dims(images->shape.dims[0], labels->shape.dims[0],
                                                "the numbers of pictures and of labels", err));
    bool keeps = is_float(images->dtype) || !mix->blends;
    LEATI_TRY(leati_op_infer_output(call, keeps ? images->dtype : LEAT_FLOAT32, &images->shape,
                                    NULL, err));
    return leati_op_infer_output(call, is_float(labels->dtype) ? labels->dtype : LEAT_FLOAT32,
                                 &labels->shape, NULL, err);
}

static leat_status begin(leati_kernel_call *call, leat_error *err) {
    const leati_operand *images = &call->inputs[IMAGES], *labels = &call->inputs[LABELS];
    leat_shape shape = leati_support_operand_shape(images),
               other = leati_support_operand_shape(labels);
    if (images->rank != 4 || labels->rank < 1 || images->dims[0] != labels->dims[0])
        return leati_refuse(err, SHAPE,
                            "pictures of rank %d and labels of rank %d, %lld and %lld of them; "
                            "expected a batch [N, H, W, C] and N rows",
                            (int)images->rank, (int)labels->rank,
                            (long long)(images->rank > 0 ? images->dims[0] : 0),
                            (long long)(labels->rank > 0 ? labels->dims[0] : 0));
    LEATI_TRY(leati_support_output_like(call, IMAGES, &shape, err));
    return leati_support_output_like(call, LABELS, &other, err);
}

leat_status leati_mix_seed(const leati_kernel_call *call, int index, const leati_tensor_op *op,
                           int64_t row, int64_t out[2], leat_error *err) {
    leati_philox philox;
    uint32_t words[4];
    if (op == NULL) {
        /* Only asked whether it is a seed; the draws make streams of their own from it. */
        LEATI_TRY(leati_stateless_stream(call, index, false, row, &philox, err));
        leat_tensor seed = leati_kernel_operand_tensor(&call->inputs[index], row);
        out[0] = leati_tensor_int_at(&seed, 0);
        out[1] = leati_tensor_int_at(&seed, 1);
        return LEAT_OK;
    }
    LEATI_TRY(leati_random_stream(call, op, row, LEATI_BLOCKS_PER_VALUE, &philox, err));
    leati_philox_next(&philox, words);
    out[0] = words[0];
    out[1] = words[1];
    return LEAT_OK;
}

leat_status leati_mix_kernel(leati_kernel_call *call, const leati_mix *mix,
                             const leati_tensor_op *op, leat_error *err) {
    LEATI_TRY(begin(call, err));
    int64_t count = call->inputs[IMAGES].dims[0];
    /* The order, and twice as many weights as there are pictures: the second half is scratch. */
    size_t bytes = (size_t)count * (sizeof(int64_t) + 2 * sizeof(float));
    int64_t *order = leati_arena_alloc(call->arena, bytes > 0 ? bytes : 1);
    if (order == NULL)
        return leati_no_memory(err);
    float *weights = (float *)(void *)(order + count);
    for (int64_t row = 0; row < call->n; row++) {
        int64_t seed[2];
        call->failed_row = row;
        LEATI_TRY(leati_mix_seed(call, SEED, op, row, seed, err));
        LEATI_TRY(mix->apply(call, row, seed, order, weights, err));
        /* Labels of both operations are blended, by the weights that apply has left. */
        LEATI_TRY(blend_input(call, LABELS, row, order, weights, err));
    }
    call->failed_row = 0;
    return LEAT_OK;
}

int leati_mix_build(const leati_tensor_op *op, struct leati_mix_args *args, leat_value images,
                    leat_value labels, const leat_value *seed, const int64_t *number,
                    leat_value *outputs) {
    const leat_value inputs[3] = {images, labels, seed != NULL ? *seed : labels};
    leat_error err = {0};
    if (leati_support_value_failed(images))
        return -1;
    if (number != NULL)
        args->random.seed = (leati_seed_argument){.given = true, .value = *number};
    if (seed == NULL && leati_random_complete(images.graph, args, &err) != LEAT_OK) {
        (void)leati_graph_error(images.graph, &err);
        return -1;
    }
    leat_value first = leati_graph_node(images.graph, op, args, inputs, op->max_inputs);
    if (leati_support_value_failed(first))
        return -1;
    outputs[0] = first;
    outputs[1] = (leat_value){.graph = first.graph, .id = first.id + 1};
    return 2;
}
