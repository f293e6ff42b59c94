/* non_max_suppression, non_max_suppression_overlaps, non_max_suppression_with_scores: the numbers
 * of the boxes with the best scores, without those that overlap a better one too much
 * (tf.image.non_max_suppression and its like). Boxes are y1 x1 y2 x2, corners in any order, and
 * overlap is intersection over union; or a matrix says how far each two overlap; or the scores come
 * too, and with a sigma a box that overlaps a better one is not left out, but its score is
 * multiplied by exp(-overlap^2 / (2 sigma)), and iou_threshold has no effect.
 *
 * Happy path: candidates above the score's threshold stand in a heap, the best one first, of equal
 * scores the first. The best one is compared with the boxes chosen since it was last looked at, the
 * latest first and many at once: one that overlaps too much drops it, or with a sigma lowers its
 * score, and then it goes back to the heap. Fails with INVALID_ARGUMENT where shapes do not fit or
 * the threshold is not in [0, 1]. Scratch lies in the call's arena. No gradient, no state, no
 * locks. */
#include "base/isa.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "graph/support/support.h"
#include <math.h>

struct suppress_args {
    int64_t max_output_size;
    double iou_threshold; /* of overlaps: overlap_threshold */
    double score_threshold, soft_nms_sigma;
};

/* The rows from max_output_size on, THRESHOLD being the second's name. */
#define SUPPRESS_ROWS(THRESHOLD, DOC)                                                              \
    {.name = "max_output_size",                                                                    \
     .type = LEATI_ROW_INT,                                                                        \
     .flags = LEATI_REQUIRED | LEATI_TENSOR,                                                       \
     .offset = offsetof(struct suppress_args, max_output_size),                                    \
     .minimum = 0,                                                                                 \
     .maximum = INT32_MAX,                                                                         \
     .doc = "How many boxes are chosen at most."},                                                 \
        {.name = THRESHOLD,                                                                        \
         .type = LEATI_ROW_FLOAT,                                                                  \
         .flags = LEATI_TENSOR,                                                                    \
         .offset = offsetof(struct suppress_args, iou_threshold),                                  \
         .default_number = 0.5,                                                                    \
         .doc = DOC},                                                                              \
    {                                                                                              \
        .name = "score_threshold", .type = LEATI_ROW_FLOAT, .flags = LEATI_TENSOR,                 \
        .offset = offsetof(struct suppress_args, score_threshold),                                 \
        .default_number = -(double)INFINITY,                                                       \
        .doc = "Boxes whose scores are not above are left out."                                    \
    }

static leat_status check_shapes(const leat_shape *boxes, const leat_shape *scores, int64_t columns,
                                leat_error *err) {
    char texts[2][128];
    bool fits = (boxes->rank < 0 || boxes->rank == 2) && (scores->rank < 0 || scores->rank == 1);
    if (fits && boxes->rank == 2) {
        /* A matrix of overlaps has a column for each row. */
        int64_t want = columns < 0 ? boxes->dims[0] : columns;
        fits = boxes->dims[1] == want || boxes->dims[1] < 0 || want < 0;
    }
    if (fits && boxes->rank == 2 && scores->rank == 1)
        fits = boxes->dims[0] == scores->dims[0] || boxes->dims[0] < 0 || scores->dims[0] < 0;
    if (fits)
        return LEAT_OK;
    return leati_refuse(err, SHAPE,
                        "the boxes have shape %s and the scores %s; expected [n, %s] and [n]",
                        leati_shape_text(boxes, texts[0]), leati_shape_text(scores, texts[1]),
                        columns < 0 ? "n" : "4");
}

/* Floats [n, columns] and scores [n] in; numbers of boxes [m] out, and with `scores` their scores.
 * columns -1: as many as rows. */
static leat_status suppress_infer(leati_infer_call *call, int64_t columns, bool scores,
                                  leat_error *err) {
    const leat_shape shape = LEAT_SHAPE(LEAT_UNKNOWN_DIM);
    LEATI_TRY(
        leati_support_want_dtype(call, 0, LEAT_FLOAT32, columns < 0 ? "overlaps" : "boxes", err));
    LEATI_TRY(leati_support_want_dtype(call, 1, LEAT_FLOAT32, "scores", err));
    LEATI_TRY(check_shapes(&call->inputs[0].shape, &call->inputs[1].shape, columns, err));
    LEATI_TRY(leati_op_infer_output(call, LEAT_INT32, &shape, NULL, err));
    return scores ? leati_op_infer_output(call, LEAT_FLOAT32, &shape, NULL, err) : LEAT_OK;
}

/* ---- overlaps ---- */
enum { AT_ONCE = 64, SIDES = 5 };

/* A box: its lower and its upper corner, and its area. Many lie in a line for each. */
typedef struct box {
    float sides[SIDES];
} box;

/* Of corners that come in any order. Boxes that have no area overlap nothing, NaN included. */
static box box_of(const float *b) {
    float area = fabsf(b[2] - b[0]) * fabsf(b[3] - b[1]);
    return (box){{fminf(b[0], b[2]), fminf(b[1], b[3]), fmaxf(b[0], b[2]), fmaxf(b[1], b[3]),
                  area > 0 ? area : 0}};
}

/* Some boxes that one is compared with. */
typedef struct comparison {
    box one;
    const float *lines[SIDES];
    int64_t n;
    float *overlaps; /* intersection over union */
} comparison;

LEATI_ALWAYS_INLINE void compare_loop(const comparison *c) {
    const float top = c->one.sides[0], left = c->one.sides[1], bottom = c->one.sides[2];
    const float right = c->one.sides[3], own = c->one.sides[4];
    const float *tops = c->lines[0], *lefts = c->lines[1], *bottoms = c->lines[2];
    const float *rights = c->lines[3], *areas = c->lines[4];
    float *overlaps = c->overlaps;
    LEATI_INDEPENDENT
    for (int64_t i = 0; i < c->n; i++) {
        float height = LEATI_MIN(bottoms[i], bottom) - LEATI_MAX(tops[i], top);
        float width = LEATI_MIN(rights[i], right) - LEATI_MAX(lefts[i], left);
        /* Negative where they are apart. */
        float both = LEATI_MAX(height, 0) * LEATI_MAX(width, 0);
        float share = both / (own + areas[i] - both);
        overlaps[i] = areas[i] > 0 ? share : 0;
    }
}
LEATI_ISA(compare, compare_loop, const comparison *)

/* ---- the heap ---- */

typedef struct candidate {
    float score;
    int32_t box;
    int64_t compared; /* with so many of the chosen ones */
} candidate;

static bool is_before(const candidate *a, const candidate *b) {
    /* Of equal scores the lower number comes first, as in TensorFlow. */
    return a->score > b->score || (a->score == b->score && a->box < b->box);
}

static void sink_down(candidate *heap, int64_t count, int64_t at) {
    /* Children move up into the gap until the moved one's place is found: one copy a level. */
    candidate moved = heap[at];
    for (int64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!is_before(&heap[child], &moved))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* ---- the choice ---- */

typedef struct choice {
    const struct suppress_args *args;
    const float *boxes; /* or, of `matrix`, how far each two overlap */
    bool matrix;
    int64_t n;
    candidate *heap;
    int64_t waiting; /* in the heap */
    int32_t *boxes_chosen;
    float *scores_chosen;
    float *sides_chosen; /* lines of n */
    int64_t chosen;
} choice;

/* How far a box overlaps `n` of the chosen ones, from the k-th on. */
static void overlaps_with(const choice *c, int32_t one, int64_t k, int64_t n, float *out) {
    comparison of = {.n = n, .overlaps = out};
    if (c->matrix) {
        for (int64_t i = 0; i < n; i++)
            out[i] = c->boxes[one * c->n + c->boxes_chosen[k + i]];
        return;
    }
    of.one = box_of(c->boxes + 4 * (int64_t)one);
    for (int side = 0; side < SIDES; side++)
        of.lines[side] = c->sides_chosen + side * c->n + k;
    compare(&of);
    for (int64_t i = 0; i < n && !(of.one.sides[4] > 0); i++)
        out[i] = 0;
}

/* Compares the candidate with what was chosen since; false: it goes. */
static bool survives(const choice *c, candidate *next) {
    float threshold = (float)c->args->iou_threshold, least = (float)c->args->score_threshold;
    float sigma = (float)c->args->soft_nms_sigma, overlaps[AT_ONCE];
    /* The latest first, as TensorFlow compares: the rounding of products depends on it. */
    for (int64_t end = c->chosen, n = 0; end > next->compared; end -= n) {
        n = LEATI_MIN(end - next->compared, AT_ONCE);
        overlaps_with(c, next->box, end - n, n, overlaps);
        for (int64_t i = n; i-- > 0;) {
            if (!(sigma > 0) && overlaps[i] > threshold)
                return false;
            if (!(sigma > 0) || overlaps[i] == 0)
                continue;
            next->score *= expf(-0.5F / sigma * overlaps[i] * overlaps[i]);
            if (!(next->score > least))
                return false;
        }
    }
    next->compared = c->chosen;
    return true;
}

static void take(choice *c, const candidate *next) {
    box one = c->matrix ? (box){{0}} : box_of(c->boxes + 4 * (int64_t)next->box);
    for (int side = 0; side < SIDES; side++)
        c->sides_chosen[side * c->n + c->chosen] = one.sides[side];
    c->boxes_chosen[c->chosen] = next->box;
    c->scores_chosen[c->chosen++] = next->score;
}

static void choose(choice *c) {
    int64_t most = c->args->max_output_size;
    /* Floyd's heap: parents from the last one up. */
    for (int64_t i = c->waiting / 2; i-- > 0;)
        sink_down(c->heap, c->waiting, i);
    int64_t done = 0;
    while (c->chosen < most && c->waiting > 0) {
        candidate next = c->heap[0];
        if (leati_stop_look_after(8 * (c->chosen - next.compared) + 32, &done))
            return;
        float before = next.score;
        bool stays = survives(c, &next);
        /* A lower score may no longer be the best: the candidate sinks and waits again. */
        if (stays && next.score != before) {
            c->heap[0] = next;
        } else {
            c->heap[0] = c->heap[--c->waiting];
            if (stays)
                take(c, &next);
        }
        if (c->waiting > 0)
            sink_down(c->heap, c->waiting, 0);
    }
}

/* Scratch for n boxes, and the candidates. */
static leat_status prepare(leati_kernel_call *call, choice *c, const float *scores,
                           leat_error *err) {
    size_t each = sizeof(candidate) + (SIDES + 1) * sizeof(float) + sizeof(int32_t), bytes = 0;
    if (!leati_mul_size((size_t)c->n, each, &bytes))
        return leati_no_memory(err);
    c->heap = leati_arena_alloc(call->arena, bytes > 0 ? bytes : 1);
    if (c->heap == NULL)
        return leati_no_memory(err);
    /* One piece of memory, the widest type first, so that each part is aligned. */
    c->scores_chosen = (float *)(void *)(c->heap + c->n);
    c->sides_chosen = c->scores_chosen + c->n;
    c->boxes_chosen = (int32_t *)(void *)(c->sides_chosen + SIDES * c->n);
    for (int64_t i = 0; i < c->n; i++)
        if (scores[i] > (float)c->args->score_threshold)
            c->heap[c->waiting++] = (candidate){.score = scores[i], .box = (int32_t)i};
    return LEAT_OK;
}

static leat_status suppress_kernel(leati_kernel_call *call, int64_t columns, leat_error *err) {
    const struct suppress_args *args = call->args;
    leat_shape boxes = leati_support_operand_shape(&call->inputs[0]);
    leat_shape scores = leati_support_operand_shape(&call->inputs[1]);
    LEATI_TRY(check_shapes(&boxes, &scores, columns, err));
    if (args->max_output_size < 0)
        return leati_refuse(err, VALUE, "max_output_size is %lld; expected 0 or more",
                            (long long)args->max_output_size);
    if (columns > 0 && !(args->iou_threshold >= 0 && args->iou_threshold <= 1))
        return leati_refuse(err, VALUE, "iou_threshold is %g; it must be in [0, 1]",
                            args->iou_threshold);
    if (!(args->soft_nms_sigma >= 0))
        return leati_refuse(err, VALUE, "soft_nms_sigma is %g; expected 0 or more",
                            args->soft_nms_sigma);
    /* Results are int32. */
    if (boxes.dims[0] > INT32_MAX)
        return leati_refuse(err, VALUE, "%lld boxes; expected at most %d", (long long)boxes.dims[0],
                            INT32_MAX);
    choice c = {.args = args,
                .matrix = columns < 0,
                .boxes = (const float *)(const void *)leati_support_row_of(&call->inputs[0], 0),
                .n = boxes.dims[0]};
    LEATI_TRY(prepare(call, &c,
                      (const float *)(const void *)leati_support_row_of(&call->inputs[1], 0), err));
    choose(&c);
    /* How many are chosen is data: outputs get their memory now, and the call has one row. */
    for (int k = 0; k < call->num_outputs; k++)
        LEATI_TRY(leati_op_kernel_output(call, k, 1, &c.chosen, err));
    for (int64_t i = 0; i < c.chosen; i++) {
        ((int32_t *)(void *)call->outputs[0].data)[i] = c.boxes_chosen[i];
        if (call->num_outputs > 1)
            ((float *)(void *)call->outputs[1].data)[i] = c.scores_chosen[i];
    }
    return LEAT_OK;
}

static const leati_row non_max_suppression_rows[] = {
    SUPPRESS_ROWS("iou_threshold", "Boxes that overlap a better one by more are left out."),
    {0},
};

static leat_status non_max_suppression_infer(leati_infer_call *call, leat_error *err) {
    return suppress_infer(call, 4, false, err);
}

static leat_status non_max_suppression_kernel(leati_kernel_call *call, leat_error *err) {
    return suppress_kernel(call, 4, err);
}

static const leati_row non_max_suppression_overlaps_rows[] = {
    SUPPRESS_ROWS("overlap_threshold", "Boxes that overlap a better one by more are left out."),
    {0},
};

static leat_status non_max_suppression_overlaps_infer(leati_infer_call *call, leat_error *err) {
    return suppress_infer(call, -1, false, err);
}

static leat_status non_max_suppression_overlaps_kernel(leati_kernel_call *call, leat_error *err) {
    return suppress_kernel(call, -1, err);
}

static const leati_row non_max_suppression_with_scores_rows[] = {
    SUPPRESS_ROWS("iou_threshold", "Boxes that overlap a better one by more are left out."),
    {.name = "soft_nms_sigma",
     .type = LEATI_ROW_FLOAT,
     .flags = LEATI_TENSOR,
     .offset = offsetof(struct suppress_args, soft_nms_sigma),
     .doc = "Above 0: how slowly scores become smaller with overlap."},
    {0},
};

static leat_status non_max_suppression_with_scores_infer(leati_infer_call *call, leat_error *err) {
    return suppress_infer(call, 4, true, err);
}

static leat_status non_max_suppression_with_scores_kernel(leati_kernel_call *call,
                                                          leat_error *err) {
    return suppress_kernel(call, 4, err);
}

/* The descriptor of one operation. */
#define SUPPRESS_OP(NAME, DOC, ...)                                                                \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC " (tf.image." #NAME ").",                                                       \
        .names = "image." #NAME,                                                                   \
        .types = "float32 float32",                                                                \
        .halves = LEATI_HALVES_NONE,                                                               \
        .checks = LEATI_CHECKS_IN_PYTHON,                                                          \
        .rows = NAME##_rows,                                                                       \
        .args_size = sizeof(struct suppress_args),                                                 \
        .min_inputs = 2,                                                                           \
        .max_inputs = 2,                                                                           \
        .infer = NAME##_infer,                                                                     \
        .kernel = NAME##_kernel,                                                                   \
        __VA_ARGS__,                                                                               \
    };
SUPPRESS_OP(non_max_suppression,
            "The numbers of the boxes with the best scores, without those that overlap a better "
            "one too much",
            .inputs = "boxes scores", .outputs = "output")
SUPPRESS_OP(non_max_suppression_overlaps,
            "The numbers of the boxes with the best scores, without those that overlap a better "
            "one too much, by a matrix of overlaps",
            .inputs = "overlaps scores", .outputs = "output")
SUPPRESS_OP(non_max_suppression_with_scores,
            "The numbers and scores of the best boxes, where overlapping ones are left out or "
            "their scores made smaller",
            .inputs = "boxes scores", .outputs = "selected_indices selected_scores")
