/* combined_non_max_suppression, non_max_suppression, non_max_suppression_overlaps,
 * non_max_suppression_with_scores: the numbers of the boxes with the best scores, without those
 * that overlap a better one too much (tf.image.non_max_suppression and its like). Boxes are y1 x1
 * y2 x2, corners in any order, and overlap is intersection over union; or a matrix says how far
 * each two overlap; or the scores come too, and with a sigma a box that overlaps a better one is
 * not left out, but its score is multiplied by exp(-overlap^2 / (2 sigma)), and iou_threshold has
 * no effect. The combined one chooses for each class of each picture, and of all classes' boxes the
 * best; of equal scores those of the lower class.
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
#include <stdlib.h>
#include <string.h>

struct suppress_args {
    int64_t max_output_size;
    double iou_threshold; /* of overlaps: overlap_threshold */
    double score_threshold, soft_nms_sigma;
    int64_t max_total_size; /* this and what follows: of the combined one */
    bool pad_per_class, clip_boxes;
};

/* A row of how many boxes there are at most, from LEAST on. */
#define COUNT_ROW(NAME, FIELD, LEAST, DOC)                                                         \
    {                                                                                              \
        .name = NAME, .type = LEATI_ROW_INT, .flags = LEATI_REQUIRED | LEATI_TENSOR,               \
        .offset = offsetof(struct suppress_args, FIELD), .minimum = (LEAST), .maximum = INT32_MAX, \
        .doc = DOC                                                                                 \
    }

/* The two thresholds, the first by its name. */
#define THRESHOLD_ROWS(THRESHOLD)                                                                  \
    {.name = THRESHOLD,                                                                            \
     .type = LEATI_ROW_FLOAT,                                                                      \
     .flags = LEATI_TENSOR,                                                                        \
     .offset = offsetof(struct suppress_args, iou_threshold),                                      \
     .default_number = 0.5,                                                                        \
     .doc = "Boxes that overlap a better one by more are left out."},                              \
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

/* Scratch for n boxes. */
static leat_status prepare(leati_kernel_call *call, choice *c, leat_error *err) {
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
    return LEAT_OK;
}

/* The candidates, of which none is chosen yet. */
static void begin(choice *c, const float *scores) {
    c->waiting = c->chosen = 0;
    for (int64_t i = 0; i < c->n; i++)
        if (scores[i] > (float)c->args->score_threshold)
            c->heap[c->waiting++] = (candidate){.score = scores[i], .box = (int32_t)i};
}

static leat_status check_threshold(const struct suppress_args *args, leat_error *err) {
    if (args->iou_threshold >= 0 && args->iou_threshold <= 1)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "iou_threshold is %g; it must be in [0, 1]",
                        args->iou_threshold);
}

/* Numbers of boxes are int32. */
static leat_status check_count(int64_t n, leat_error *err) {
    if (n <= INT32_MAX)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "%lld boxes; expected at most %d", (long long)n, INT32_MAX);
}

static leat_status suppress_kernel(leati_kernel_call *call, int64_t columns, leat_error *err) {
    const struct suppress_args *args = call->args;
    leat_shape boxes = leati_support_operand_shape(&call->inputs[0]);
    leat_shape scores = leati_support_operand_shape(&call->inputs[1]);
    LEATI_TRY(check_shapes(&boxes, &scores, columns, err));
    if (args->max_output_size < 0)
        return leati_refuse(err, VALUE, "max_output_size is %lld; expected 0 or more",
                            (long long)args->max_output_size);
    if (columns > 0)
        LEATI_TRY(check_threshold(args, err));
    if (!(args->soft_nms_sigma >= 0))
        return leati_refuse(err, VALUE, "soft_nms_sigma is %g; expected 0 or more",
                            args->soft_nms_sigma);
    LEATI_TRY(check_count(boxes.dims[0], err));
    choice c = {.args = args,
                .matrix = columns < 0,
                .boxes = (const float *)(const void *)leati_support_row_of(&call->inputs[0], 0),
                .n = boxes.dims[0]};
    LEATI_TRY(prepare(call, &c, err));
    begin(&c, (const float *)(const void *)leati_support_row_of(&call->inputs[1], 0));
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
    COUNT_ROW("max_output_size", max_output_size, 0, "How many boxes are chosen at most."),
    THRESHOLD_ROWS("iou_threshold"),
    {0},
};

static leat_status non_max_suppression_infer(leati_infer_call *call, leat_error *err) {
    return suppress_infer(call, 4, false, err);
}

static leat_status non_max_suppression_kernel(leati_kernel_call *call, leat_error *err) {
    return suppress_kernel(call, 4, err);
}

static const leati_row non_max_suppression_overlaps_rows[] = {
    COUNT_ROW("max_output_size", max_output_size, 0, "How many boxes are chosen at most."),
    THRESHOLD_ROWS("overlap_threshold"),
    {0},
};

static leat_status non_max_suppression_overlaps_infer(leati_infer_call *call, leat_error *err) {
    return suppress_infer(call, -1, false, err);
}

static leat_status non_max_suppression_overlaps_kernel(leati_kernel_call *call, leat_error *err) {
    return suppress_kernel(call, -1, err);
}

static const leati_row non_max_suppression_with_scores_rows[] = {
    COUNT_ROW("max_output_size", max_output_size, 0, "How many boxes are chosen at most."),
    THRESHOLD_ROWS("iou_threshold"),
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

/* ---- the best boxes of all classes of each picture ---- */
static const leati_row combined_non_max_suppression_rows[] = {
    COUNT_ROW("max_output_size_per_class", max_output_size, 1,
              "How many boxes of a class are chosen at most."),
    COUNT_ROW("max_total_size", max_total_size, 1, "How many boxes of a picture there are."),
    THRESHOLD_ROWS("iou_threshold"),
    {.name = "pad_per_class",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct suppress_args, pad_per_class),
     .doc = "No more boxes of a picture than its classes can have."},
    {.name = "clip_boxes",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct suppress_args, clip_boxes),
     .default_number = 1,
     .doc = "Cut boxes to [0, 1]."},
    {0},
};

/* Boxes [B, N, q, 4] and scores [B, N, C], q being 1 or C; unknown dimensions pass. */
static leat_status check_combined(const leat_shape *boxes, const leat_shape *scores,
                                  leat_error *err) {
    char texts[2][128];
    bool fits = (boxes->rank < 0 || boxes->rank == 4) && (scores->rank < 0 || scores->rank == 3);
    if (fits && boxes->rank == 4)
        fits = boxes->dims[3] == 4 || boxes->dims[3] < 0;
    for (int d = 0; fits && boxes->rank == 4 && scores->rank == 3 && d < 3; d++)
        fits = boxes->dims[d] == scores->dims[d] || boxes->dims[d] < 0 || scores->dims[d] < 0 ||
               (d == 2 && boxes->dims[d] == 1);
    if (fits)
        return LEAT_OK;
    return leati_refuse(err, SHAPE,
                        "the boxes have shape %s and the scores %s; expected [batch, n, q, 4] and "
                        "[batch, n, classes], q being 1 or the number of classes",
                        leati_shape_text(boxes, texts[0]), leati_shape_text(scores, texts[1]));
}

/* How many boxes each picture has. */
static int64_t total_of(const struct suppress_args *args, int64_t classes) {
    if (!args->pad_per_class || classes >= args->max_total_size)
        return args->max_total_size;
    return LEATI_MIN(args->max_total_size, classes * args->max_output_size);
}

static leat_status combined_non_max_suppression_infer(leati_infer_call *call, leat_error *err) {
    const struct suppress_args *args = call->args;
    const leat_shape *boxes = &call->inputs[0].shape, *scores = &call->inputs[1].shape;
    int64_t batch = boxes->rank == 4 ? boxes->dims[0] : LEAT_UNKNOWN_DIM, total = LEAT_UNKNOWN_DIM;
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_FLOAT32, "boxes", err));
    LEATI_TRY(leati_support_want_dtype(call, 1, LEAT_FLOAT32, "scores", err));
    LEATI_TRY(check_combined(boxes, scores, err));
    if (batch < 0 && scores->rank == 3)
        batch = scores->dims[0];
    if (call->unknown == 0 && !(args->pad_per_class && (scores->rank < 0 || scores->dims[2] < 0)))
        total = total_of(args, args->pad_per_class ? scores->dims[2] : 0);
    LEATI_TRY(leati_op_infer_output(call, LEAT_FLOAT32, &LEAT_SHAPE(batch, total, 4), NULL, err));
    for (int i = 0; i < 2; i++)
        LEATI_TRY(leati_op_infer_output(call, LEAT_FLOAT32, &LEAT_SHAPE(batch, total), NULL, err));
    return leati_op_infer_output(call, LEAT_INT32, &LEAT_SHAPE(batch), NULL, err);
}

/* A box that its class has chosen, the `number`th of the picture. */
typedef struct chosen_box {
    float score;
    int32_t number, category;
    float corners[4];
} chosen_box;

static int compare_chosen(const void *a, const void *b) {
    const chosen_box *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* Scratch for one picture after the other. */
typedef struct picture_choice {
    choice one;            /* of a class */
    float *boxes, *scores; /* of a class, side by side */
    chosen_box *all;       /* of all classes */
    int64_t count, classes, q;
} picture_choice;

static leat_status prepare_picture(leati_kernel_call *call, picture_choice *p, leat_error *err) {
    int64_t each = LEATI_MIN(p->one.n, p->one.args->max_output_size);
    size_t row = 5 * sizeof(float), bytes = 0, most = 0;
    if (!leati_mul_size((size_t)p->one.n, row, &bytes) ||
        !leati_mul_size((size_t)p->classes, (size_t)each, &most) || most > INT32_MAX ||
        !leati_mul_size(most, sizeof(chosen_box), &most))
        return leati_no_memory(err);
    p->boxes = leati_arena_alloc(call->arena, bytes > 0 ? bytes : 1);
    p->all = leati_arena_alloc(call->arena, most > 0 ? most : 1);
    if (p->boxes == NULL || p->all == NULL)
        return leati_no_memory(err);
    p->scores = p->boxes + 4 * p->one.n;
    p->one.boxes = p->boxes;
    return prepare(call, &p->one, err);
}

/* Chooses among the boxes of one class; `boxes` and `scores` are the picture's. */
static void choose_of_class(picture_choice *p, const float *boxes, const float *scores,
                            int64_t category) {
    int64_t of = p->q == 1 ? 0 : category;
    for (int64_t i = 0; i < p->one.n; i++) {
        memcpy(p->boxes + 4 * i, boxes + 4 * (i * p->q + of), 4 * sizeof(float));
        p->scores[i] = scores[i * p->classes + category];
    }
    begin(&p->one, p->scores);
    choose(&p->one);
    for (int64_t k = 0; k < p->one.chosen; k++) {
        chosen_box *one = &p->all[p->count];
        one->score = p->one.scores_chosen[k];
        one->number = (int32_t)p->count++;
        one->category = (int32_t)category;
        memcpy(one->corners, p->boxes + 4 * (int64_t)p->one.boxes_chosen[k], sizeof one->corners);
    }
}

/* The best of the picture's boxes; what is missing is 0. */
static int32_t give(const picture_choice *p, int64_t total, float *boxes, float *scores,
                    float *categories) {
    int64_t count = LEATI_MIN(p->count, total);
    memset(boxes, 0, (size_t)total * 4 * sizeof *boxes);
    memset(scores, 0, (size_t)total * sizeof *scores);
    memset(categories, 0, (size_t)total * sizeof *categories);
    for (int64_t i = 0; i < count; i++) {
        scores[i] = p->all[i].score;
        categories[i] = (float)p->all[i].category;
        for (int d = 0; d < 4; d++) {
            float at = p->all[i].corners[d];
            boxes[4 * i + d] = p->one.args->clip_boxes ? fmaxf(fminf(at, 1), 0) : at;
        }
    }
    return (int32_t)count;
}

static leat_status combined_outputs(leati_kernel_call *call, int64_t batch, int64_t total,
                                    leat_error *err) {
    const leat_shape boxes = LEAT_SHAPE(batch, total, 4), numbers = LEAT_SHAPE(batch, total);
    LEATI_TRY(leati_support_output_like(call, 0, &boxes, err));
    LEATI_TRY(leati_support_output_like(call, 1, &numbers, err));
    LEATI_TRY(leati_support_output_like(call, 2, &numbers, err));
    return leati_support_output_like(call, 3, &LEAT_SHAPE(batch), err);
}

static leat_status combined_non_max_suppression_kernel(leati_kernel_call *call, leat_error *err) {
    const struct suppress_args *args = call->args;
    leat_shape boxes = leati_support_operand_shape(&call->inputs[0]);
    leat_shape scores = leati_support_operand_shape(&call->inputs[1]);
    LEATI_TRY(check_combined(&boxes, &scores, err));
    if (args->max_output_size < 1 || args->max_total_size < 1)
        return leati_refuse(err, VALUE, "%lld boxes of a class and %lld in all; expected 1 or more",
                            (long long)args->max_output_size, (long long)args->max_total_size);
    LEATI_TRY(check_threshold(args, err));
    picture_choice p = {
        .one = {.args = args, .n = boxes.dims[1]}, .classes = scores.dims[2], .q = boxes.dims[2]};
    int64_t total = total_of(args, p.classes);
    LEATI_TRY(check_count(p.one.n, err));
    LEATI_TRY(combined_outputs(call, boxes.dims[0], total, err));
    LEATI_TRY(prepare_picture(call, &p, err));
    for (int64_t row = 0; row < call->n; row++)
        for (int64_t i = 0; i < boxes.dims[0]; i++) {
            const char *from = leati_support_row_of(&call->inputs[0], row);
            const char *with = leati_support_row_of(&call->inputs[1], row);
            float *to[3];
            for (int k = 0; k < 3; k++)
                to[k] = (float *)(void *)leati_support_row_of(&call->outputs[k], row);
            p.count = 0;
            for (int64_t c = 0; c < p.classes && !leati_stop_stopped(); c++)
                choose_of_class(&p, (const float *)(const void *)from + i * p.one.n * p.q * 4,
                                (const float *)(const void *)with + i * p.one.n * p.classes, c);
            if (p.count > 0)
                qsort(p.all, (size_t)p.count, sizeof *p.all, compare_chosen);
            ((int32_t *)(void *)leati_support_row_of(&call->outputs[3], row))[i] =
                give(&p, total, to[0] + i * total * 4, to[1] + i * total, to[2] + i * total);
        }
    return LEAT_OK;
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
        .rows = NAME##_rows,                                                                       \
        .args_size = sizeof(struct suppress_args),                                                 \
        .min_inputs = 2,                                                                           \
        .max_inputs = 2,                                                                           \
        .infer = NAME##_infer,                                                                     \
        .kernel = NAME##_kernel,                                                                   \
        __VA_ARGS__,                                                                               \
    };
SUPPRESS_OP(combined_non_max_suppression,
            "The best boxes of all classes of each picture, with their scores, classes and number, "
            "without those that overlap a better one of their class too much",
            .inputs = "boxes scores", .checks = LEATI_CHECKS_IN_KERNEL,
            .outputs = "CombinedNonMaxSuppression(nmsed_boxes nmsed_scores nmsed_classes "
                       "valid_detections)")
SUPPRESS_OP(non_max_suppression,
            "The numbers of the boxes with the best scores, without those that overlap a better "
            "one too much",
            .inputs = "boxes scores", .checks = LEATI_CHECKS_IN_PYTHON, .outputs = "output")
SUPPRESS_OP(non_max_suppression_overlaps,
            "The numbers of the boxes with the best scores, without those that overlap a better "
            "one too much, by a matrix of overlaps",
            .inputs = "overlaps scores", .checks = LEATI_CHECKS_IN_PYTHON, .outputs = "output")
SUPPRESS_OP(non_max_suppression_with_scores,
            "The numbers and scores of the best boxes, where overlapping ones are left out or "
            "their scores made smaller",
            .inputs = "boxes scores", .checks = LEATI_CHECKS_IN_PYTHON,
            .outputs = "selected_indices selected_scores")
