/* Pictures read between their pixels, put together of gathers: projections, crops that are scaled,
 * and what flows back through these.
 *
 * A place outside of a picture reads some pixel, of which nothing is taken. A box of a picture that
 * is not there reads the nearest one, since a device cannot fail. No state. */
#include "exec/pjrt/emit_compose.h"

#include "base/error.h"
#include "core/spec.h"
#include "core/tensor.h"
#include <string.h>

static leat_value number(leat_value like, double x) {
    return leati_emit_number_like(like, x);
}

/* The places 0, 1, ... along a dimension of a shape of `rank` dimensions, the others of which are
 * 1. */
static leat_value places(leat_value like, int64_t count, int32_t axis, int32_t rank) {
    leat_shape shape = {.rank = rank};
    for (int32_t d = 0; d < rank; d++)
        shape.dims[d] = d == axis ? count : 1;
    leat_value ones = leat_op_ones(like.graph, shape, LEAT_FLOAT32);
    return leat_op_cumsum(ones, axis, true, false);
}

/* Halves away from zero, as roundf. */
static leat_value rounded(leat_value x) {
    leat_value size = leat_op_abs(x), whole = leat_op_floor(size);
    leat_value up = leat_op_greater_equal(leat_op_subtract(size, whole), number(x, 0.5));
    whole = leat_op_add(whole, leat_op_cast(up, LEAT_FLOAT32));
    return leat_op_multiply(leat_op_sign(x), whole);
}

static leat_value both(leat_value a, leat_value b) {
    return leat_op_logical_and(a, b);
}

/* Is low <= x <= high? */
static leat_value within(leat_value x, double low, double high) {
    return both(leat_op_greater_equal(x, number(x, low)), leat_op_less_equal(x, number(x, high)));
}

static leat_value clip(leat_value x, double low, double high) {
    return leat_op_clip_by_value(x, number(x, low), number(x, high));
}

/* Pictures as lines of channels, and how many pixels they are high and wide. */
typedef struct pictures {
    leat_value lines; /* [N * H * W, C] */
    int64_t count, height, width, channels;
} pictures;

static pictures pictures_of(leat_value x) {
    leat_shape shape = leat_value_shape(x);
    pictures out = {.count = shape.dims[0],
                    .height = shape.dims[1],
                    .width = shape.dims[2],
                    .channels = shape.dims[3]};
    const int64_t lines[2] = {out.count * out.height * out.width, out.channels};
    out.lines = leat_op_reshape(leat_op_cast(x, LEAT_FLOAT32), lines, 2);
    return out;
}

/* The number of the line with the pixel of whole numbers y and x of picture `image` (int32). */
static leat_value line_at(const pictures *p, leat_value image, leat_value y, leat_value x) {
    leat_value row = leat_op_cast(clip(y, 0, (double)(p->height - 1)), LEAT_INT32);
    leat_value column = leat_op_cast(clip(x, 0, (double)(p->width - 1)), LEAT_INT32);
    row = leat_op_add(leat_op_multiply(image, number(image, (double)p->height)), row);
    return leat_op_add(leat_op_multiply(row, number(row, (double)p->width)), column);
}

static leat_value pixel(const pictures *p, leat_value image, leat_value y, leat_value x) {
    return leat_op_gather(p->lines, line_at(p, image, y, x), 0, 0);
}

static bool is_nearest(const leati_emit *emit, const char *name) {
    return strcmp(leati_emit_string(emit, name), "nearest") == 0;
}

/* ---- projections ---- */

/* Mirrored with its border twice. */
static leat_value reflected(leat_value at, int64_t size) {
    double last = (double)(size - 1), period = 2 * (double)size;
    if (size <= 1)
        return leat_op_zeros_like(at);
    leat_value zero = number(at, 0), one = number(at, 1), end = number(at, (double)size);
    leat_value turns = leat_op_floor(leat_op_divide(leat_op_abs(at), number(at, period)));
    leat_value moved = leati_support_times(turns, period);
    /* Before the picture, and behind it. */
    leat_value low = leat_op_add(at, moved), high = leat_op_subtract(at, moved);
    low =
        leat_op_select(leat_op_less(low, leat_op_negate(end)), leat_op_add(low, number(at, period)),
                       leat_op_subtract(leat_op_negate(low), one));
    high = leat_op_select(leat_op_greater_equal(high, end),
                          leat_op_subtract(number(at, period - 1), high), high);
    at = leat_op_select(leat_op_less(at, zero), low,
                        leat_op_select(leat_op_greater(at, number(at, last)), high, at));
    return clip(at, 0, last);
}

/* Again and again; TensorFlow counts turns by size - 1 and moves by size. */
static leat_value wrapped(leat_value at, int64_t size) {
    double last = (double)(size - 1);
    if (size <= 1)
        return leat_op_zeros_like(at);
    leat_value turns = leat_op_floor(leat_op_divide(leat_op_abs(at), number(at, last)));
    leat_value moved = leati_support_times(turns, (double)size);
    leat_value low = leat_op_add(leat_op_add(at, moved), number(at, (double)size));
    at = leat_op_select(
        leat_op_less(at, number(at, 0)), low,
        leat_op_select(leat_op_greater(at, number(at, last)), leat_op_subtract(at, moved), at));
    return clip(at, 0, last);
}

/* The place inside that stands for the place `at`. */
static leat_value look(const leati_emit *emit, leat_value at, int64_t size) {
    const char *mode = leati_emit_string(emit, "fill_mode");
    if (strcmp(mode, "nearest") == 0)
        return clip(at, 0, (double)(size - 1));
    if (strcmp(mode, "reflect") == 0)
        return reflected(at, size);
    return strcmp(mode, "wrap") == 0 ? wrapped(at, size) : at;
}

/* The pixel, or `outside` where there is none. */
static leat_value pixel_or(const pictures *p, leat_value image, leat_value y, leat_value x,
                           leat_value outside) {
    leat_value inside =
        both(within(y, 0, (double)(p->height - 1)), within(x, 0, (double)(p->width - 1)));
    return leat_op_select(leat_op_expand_dims(inside, -1), pixel(p, image, y, x), outside);
}

static leat_value blend(leat_value a, leat_value weight_a, leat_value b, leat_value weight_b) {
    return leat_op_add(leat_op_multiply(leat_op_expand_dims(weight_a, -1), a),
                       leat_op_multiply(leat_op_expand_dims(weight_b, -1), b));
}

/* Each corner outside has the outside's value, so edges fade into it. */
static leat_value between(const pictures *p, leat_value image, leat_value y, leat_value x,
                          leat_value outside) {
    leat_value top = leat_op_floor(y), left = leat_op_floor(x), one = number(y, 1);
    leat_value bottom = leat_op_add(top, one), right = leat_op_add(left, one), rows[2];
    for (int i = 0; i < 2; i++) {
        leat_value row = i == 0 ? top : bottom;
        rows[i] = blend(pixel_or(p, image, row, left, outside), leat_op_subtract(right, x),
                        pixel_or(p, image, row, right, outside), leat_op_subtract(x, left));
    }
    return blend(rows[0], leat_op_subtract(bottom, y), rows[1], leat_op_subtract(y, top));
}

/* (a x + b y + c) of the numbers from `first` on, [n, H, W]. */
static leat_value projected(leat_value transforms, int64_t first, leat_value x, leat_value y,
                            leat_value constant) {
    const int64_t wide[3] = {-1, 1, 1};
    leat_value t[2];
    for (int i = 0; i < 2; i++)
        t[i] = leat_op_reshape(leati_emit_part_along(transforms, 1, first + i, 1), wide, 3);
    return leat_op_add(leat_op_add(leat_op_multiply(t[0], x), leat_op_multiply(t[1], y)), constant);
}

static void build_projective(const leati_emit *emit, const leat_value *in, leat_value *out) {
    const int64_t wide[3] = {-1, 1, 1};
    pictures p = pictures_of(in[0]);
    leat_value x = places(in[0], p.width, 2, 3), y = places(in[0], p.height, 1, 3);
    leat_value outside = number(x, leati_emit_float(emit, "fill_value")), at[2];
    leat_value k = projected(in[1], 6, x, y, number(x, 1));
    leat_value there = leat_op_not_equal(k, number(k, 0));
    for (int i = 0; i < 2; i++) {
        leat_value constant =
            leat_op_reshape(leati_emit_part_along(in[1], 1, 3 * i + 2, 1), wide, 3);
        at[i] = leat_op_divide(projected(in[1], 3 * i, x, y, constant), k);
        /* Beyond this no float tells neighbouring pixels apart. */
        there = both(there, both(leat_op_greater(at[i], number(x, -1e9)),
                                 leat_op_less(at[i], number(x, 1e9))));
    }
    const int64_t shape[3] = {p.count, p.height, p.width};
    for (int i = 0; i < 2; i++) {
        at[i] = leat_op_select(there, at[i], number(x, -2));
        at[i] = look(emit, at[i], i == 0 ? p.width : p.height);
        at[i] = leat_op_broadcast_to(at[i], shape, 3);
    }
    leat_value image = leat_op_cast(places(in[0], p.count, 0, 3), LEAT_INT32);
    leat_value seen = is_nearest(emit, "interpolation")
                          ? pixel_or(&p, image, rounded(at[1]), rounded(at[0]), outside)
                          : between(&p, image, at[1], at[0], outside);
    out[0] = leat_op_select(leat_op_expand_dims(there, -1), seen, outside);
}
LEATI_EMIT_COMPOSED(projective)

/* ---- crops ---- */

/* Where the samples of one dimension lie, [n, samples] with a 1 in the other's place, and which of
 * them are in the picture. */
typedef struct crop_side {
    leat_value at, inside, whole, next, part; /* next: the pixel behind, or the same */
} crop_side;

static crop_side side_of(leat_value boxes, int side, int64_t size, int64_t samples) {
    const int64_t wide[3] = {-1, 1, 1};
    double last = (double)(size - 1);
    leat_value low = leat_op_reshape(leati_emit_part_along(boxes, 1, side, 1), wide, 3);
    leat_value high = leat_op_reshape(leati_emit_part_along(boxes, 1, side + 2, 1), wide, 3);
    leat_value at = leati_support_times(leat_op_add(low, high), 0.5 * last);
    if (samples > 1) {
        leat_value step = leati_support_times(leat_op_subtract(high, low), last);
        step = leat_op_divide(step, number(step, (double)(samples - 1)));
        at = leat_op_add(leati_support_times(low, last),
                         leat_op_multiply(places(boxes, samples, side + 1, 3), step));
    }
    leat_value whole = leat_op_floor(at);
    return (crop_side){.at = at,
                       .inside = within(at, 0, last),
                       .whole = whole,
                       .next = leat_op_ceil(at),
                       .part = leat_op_subtract(at, whole)};
}

/* The samples of all boxes, [n, h, w]. */
typedef struct crop_samples {
    pictures p;
    crop_side y, x;
    leat_value image, inside; /* [n, 1, 1], [n, h, w] */
    int64_t height, width;    /* of a crop */
} crop_samples;

static crop_samples samples_of(const leati_emit *emit, const leat_value *in) {
    const int64_t *size = leati_emit_ints(emit, "crop_size")->values, wide[3] = {-1, 1, 1};
    crop_samples s = {.p = pictures_of(in[0]), .height = size[0], .width = size[1]};
    s.y = side_of(in[1], 0, s.p.height, size[0]);
    s.x = side_of(in[1], 1, s.p.width, size[1]);
    s.image = leat_op_reshape(leat_op_cast(in[2], LEAT_INT32), wide, 3);
    s.image = leat_op_clip_by_value(s.image, number(s.image, 0),
                                    number(s.image, (double)(s.p.count - 1)));
    s.inside = both(s.y.inside, s.x.inside);
    return s;
}

static leat_value crop_pixel(const crop_samples *s, leat_value y, leat_value x) {
    return pixel(&s->p, s->image, y, x);
}

/* a + (b - a) * part */
static leat_value mix(leat_value a, leat_value b, leat_value part) {
    return leat_op_add(a, leat_op_multiply(leat_op_subtract(b, a), leat_op_expand_dims(part, -1)));
}

static void build_crop_and_resize(const leati_emit *emit, const leat_value *in, leat_value *out) {
    crop_samples s = samples_of(emit, in);
    leat_value outside = number(in[1], leati_emit_float(emit, "extrapolation_value")), seen;
    if (is_nearest(emit, "method")) {
        seen = crop_pixel(&s, rounded(s.y.at), rounded(s.x.at));
    } else {
        leat_value above = mix(crop_pixel(&s, s.y.whole, s.x.whole),
                               crop_pixel(&s, s.y.whole, s.x.next), s.x.part);
        leat_value below =
            mix(crop_pixel(&s, s.y.next, s.x.whole), crop_pixel(&s, s.y.next, s.x.next), s.x.part);
        seen = mix(above, below, s.y.part);
    }
    out[0] = leat_op_select(leat_op_expand_dims(s.inside, -1), seen, outside);
}
LEATI_EMIT_COMPOSED(crop_and_resize)

/* Adds the gradient times the weight to what flows into the pixels (y, x). */
static leat_value flow(const crop_samples *s, leat_value sum, leat_value gradient, leat_value y,
                       leat_value x, leat_value weight) {
    const int64_t lines[2] = {-1, s->p.channels}, all[1] = {-1};
    leat_value line = line_at(&s->p, s->image, y, x);
    /* What lies outside belongs to no pixel. */
    line = leat_op_select(s->inside, line, number(line, -1));
    if (weight.graph != NULL)
        gradient = leat_op_multiply(gradient, leat_op_expand_dims(weight, -1));
    leat_value part = leat_op_unsorted_segment_sum(leat_op_reshape(gradient, lines, 2),
                                                   leat_op_reshape(line, all, 1),
                                                   s->p.count * s->p.height * s->p.width);
    return sum.graph == NULL ? part : leat_op_add(sum, part);
}

/* Inputs: the result's gradient, pictures, boxes, indices. */
static void build_crop_grad_image(const leati_emit *emit, const leat_value *in, leat_value *out) {
    crop_samples s = samples_of(emit, in + 1);
    leat_value none = {.graph = NULL}, sum = none, one = number(in[0], 1);
    if (is_nearest(emit, "method"))
        sum = flow(&s, sum, in[0], rounded(s.y.at), rounded(s.x.at), none);
    for (int corner = 0; corner < 4 && !is_nearest(emit, "method"); corner++) {
        leat_value y = corner < 2 ? leat_op_subtract(one, s.y.part) : s.y.part;
        leat_value x = corner % 2 == 0 ? leat_op_subtract(one, s.x.part) : s.x.part;
        sum = flow(&s, sum, in[0], corner < 2 ? s.y.whole : s.y.next,
                   corner % 2 == 0 ? s.x.whole : s.x.next, leat_op_multiply(y, x));
    }
    out[0] = leat_op_reshape_like(sum, in[1]);
}
LEATI_EMIT_COMPOSED(crop_grad_image)

/* How far the bounds of a side move its samples, times what that does to the sum: [n] each. */
static void flow_to_bounds(const crop_samples *s, leat_value by, int side, leat_value bounds[2]) {
    static const int64_t axes[3] = {1, 2};
    int64_t size = side == 0 ? s->p.height : s->p.width;
    int64_t samples = side == 0 ? s->height : s->width;
    double last = (double)(size - 1);
    leat_value high = number(by, 0.5 * last), low = high;
    if (samples > 1) {
        high = leati_support_times(places(by, samples, side + 1, 3), last / (double)(samples - 1));
        low = leat_op_subtract(number(by, last), high);
    }
    bounds[0] = leat_op_reduce_sum(leat_op_multiply(by, low), axes, 2, false);
    bounds[1] = leat_op_reduce_sum(leat_op_multiply(by, high), axes, 2, false);
}

static void build_crop_grad_boxes(const leati_emit *emit, const leat_value *in, leat_value *out) {
    const int64_t last = -1;
    crop_samples s = samples_of(emit, in + 1);
    leat_value bounds[2][2], numbers[4];
    leat_value at = crop_pixel(&s, s.y.whole, s.x.whole);
    leat_value right = crop_pixel(&s, s.y.whole, s.x.next);
    leat_value down = crop_pixel(&s, s.y.next, s.x.whole);
    leat_value far = crop_pixel(&s, s.y.next, s.x.next);
    /* The slope of a bilinear blend along y blends the differences of both columns. */
    const leat_value slopes[2] = {
        mix(leat_op_subtract(down, at), leat_op_subtract(far, right), s.x.part),
        mix(leat_op_subtract(right, at), leat_op_subtract(far, down), s.y.part)};
    for (int side = 0; side < 2; side++) {
        leat_value by = leat_op_reduce_sum(leat_op_multiply(slopes[side], in[0]), &last, 1, false);
        by = leat_op_select(s.inside, by, number(by, 0));
        flow_to_bounds(&s, by, side, bounds[side]);
    }
    for (int i = 0; i < 4; i++)
        numbers[i] = bounds[i % 2][i / 2];
    out[0] = leat_op_stack(numbers, 4, -1);
}
LEATI_EMIT_COMPOSED(crop_grad_boxes)
