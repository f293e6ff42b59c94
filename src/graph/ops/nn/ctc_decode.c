/* ctc_beam_search: the most likely sequences of classes that logits [steps, batch, classes] say,
 * and the logarithms of their probabilities (what tf.nn.ctc_beam_search_decoder is made of). The
 * last class is the blank. Inputs: logits, and how many steps each row has, int32.
 *
 * A beam is a sequence of classes, known by the beam without its last one; `width` of them are kept
 * at each step. Paths come out as [top_paths, batch, longest], filled up with -1, and scores as
 * [batch, top_paths]. Rows are shared by the crew. They fail where shapes do not fit, on a row of
 * more steps than there are, where fewer beams were found than paths are wanted, and without
 * memory. No gradient, no state, no locks. */
#include "base/alloc.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "graph/support/array/moving.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct beam_args {
    int64_t beam_width, top_paths;
};

static const leati_row beam_rows[] = {
    {.name = "beam_width",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct beam_args, beam_width),
     .minimum = 1,
     .maximum = INT32_MAX,
     .doc = "How many sequences are kept at each step."},
    {.name = "top_paths",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct beam_args, top_paths),
     .default_number = 1,
     .minimum = 1,
     .maximum = INT32_MAX,
     .doc = "How many come out, at most beam_width."},
    {0},
};

struct greedy_args {
    bool merge_repeated;
    int64_t blank_index;
};

static const leati_row greedy_rows[] = {
    {.name = "merge_repeated",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct greedy_args, merge_repeated),
     .default_number = 1,
     .doc = "A class that follows itself counts once."},
    {.name = "blank_index",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct greedy_args, blank_index),
     .default_number = -1,
     .minimum = INT32_MIN,
     .maximum = INT32_MAX,
     .doc = "The class that stands for none; a negative one counts from the end."},
    {0},
};

/* Logits and lengths; how many rows there are. */
static leat_status want_logits(leati_infer_call *call, int64_t *batch, leat_error *err) {
    LEATI_TRY(leati_support_want_float(call, 0, "logits", err));
    LEATI_TRY(leati_support_want_rank(call, 0, 3, "logits", err));
    LEATI_TRY(leati_support_want_dtype(call, 1, LEAT_INT32, "lengths", err));
    LEATI_TRY(leati_support_want_rank(call, 1, 1, "lengths", err));
    *batch = call->inputs[0].shape.rank == 3 ? call->inputs[0].shape.dims[1] : LEAT_UNKNOWN_DIM;
    return LEAT_OK;
}

static leat_status ctc_beam_search_infer(leati_infer_call *call, leat_error *err) {
    const struct beam_args *args = call->args;
    int64_t batch = 0;
    LEATI_TRY(want_logits(call, &batch, err));
    if (args->top_paths > args->beam_width)
        return leati_refuse(err, VALUE, "top_paths is %lld; expected at most beam_width, %lld",
                            (long long)args->top_paths, (long long)args->beam_width);
    leat_shape paths = LEAT_SHAPE(args->top_paths, batch, LEAT_UNKNOWN_DIM);
    leat_shape scores = LEAT_SHAPE(batch, args->top_paths);
    LEATI_TRY(leati_op_infer_output(call, LEAT_INT32, &paths, NULL, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &scores, NULL, err);
}

static leat_status ctc_greedy_infer(leati_infer_call *call, leat_error *err) {
    int64_t batch = 0;
    LEATI_TRY(want_logits(call, &batch, err));
    leat_shape indices = LEAT_SHAPE(LEAT_UNKNOWN_DIM, 2), values = LEAT_SHAPE(LEAT_UNKNOWN_DIM);
    leat_shape shape = LEAT_SHAPE(2), sums = LEAT_SHAPE(batch, 1);
    LEATI_TRY(leati_op_infer_output(call, LEAT_INT64, &indices, NULL, err));
    LEATI_TRY(leati_op_infer_output(call, LEAT_INT64, &values, NULL, err));
    LEATI_TRY(leati_op_infer_output(call, LEAT_INT64, &shape, NULL, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &sums, NULL, err);
}

/* ---- logits ---- */
static leat_status check_rows(const leati_kernel_call *call, leat_error *err) {
    const leati_operand *logits = &call->inputs[0], *lengths = &call->inputs[1];
    if (logits->rank != 3 || lengths->rank != 1 || logits->dims[2] < 1)
        return leati_refuse(err, SHAPE,
                            "logits of rank %d and lengths of rank %d; expected [steps, batch, "
                            "classes], with classes, and [batch]",
                            (int)logits->rank, (int)lengths->rank);
    if (lengths->count != logits->dims[1])
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "%lld lengths and a batch of %lld; expected len(sequence_length) == "
                          "batch_size",
                          (long long)lengths->count, (long long)logits->dims[1]);
    for (int64_t row = 0; row < lengths->count; row++) {
        int64_t steps = leati_support_index_at(lengths, 0, row);
        if (steps < 0 || steps > logits->dims[0])
            return leati_fail(err, LEAT_FAILED_PRECONDITION,
                              "row %lld has %lld steps; expected 0 <= sequence_length(b) <= %lld",
                              (long long)row, (long long)steps, (long long)logits->dims[0]);
    }
    return LEAT_OK;
}

static double logit_at(const leati_operand *logits, int64_t i) {
    return logits->dtype == LEAT_FLOAT32 ? (double)((const float *)(const void *)logits->data)[i]
                                         : ((const double *)(const void *)logits->data)[i];
}

/* ---- the most likely classes ---- */
typedef struct greedy {
    const leati_kernel_call *call;
    int64_t steps, batch, classes, blank;
    bool merges;
    int32_t *kept;    /* the classes of each row */
    int64_t *lengths; /* how many */
    double *sums;
} greedy;

static void greedy_row(const greedy *g, int64_t row, int64_t *done) {
    const leati_operand *logits = &g->call->inputs[0];
    int64_t count = leati_support_index_at(&g->call->inputs[1], 0, row), last = -1;
    for (int64_t i = 0; i < count; i++) {
        int64_t first = (i * g->batch + row) * g->classes, best = 0;
        if (leati_stop_look_after(g->classes, done))
            return;
        for (int64_t c = 1; c < g->classes; c++)
            best = logit_at(logits, first + c) > logit_at(logits, first + best) ? c : best;
        g->sums[row] -= logit_at(logits, first + best);
        if (best != g->blank && !(g->merges && best == last))
            g->kept[row * g->steps + g->lengths[row]++] = (int32_t)best;
        last = best;
    }
}

static void greedy_steps(void *data, int64_t begin, int64_t end) {
    int64_t done = 0;
    for (int64_t row = begin; row < end; row++)
        greedy_row(data, row, &done);
}

static leat_status write_classes(leati_kernel_call *call, const greedy *g, leat_error *err) {
    int64_t count = 0, longest = 0;
    for (int64_t row = 0; row < g->batch; row++) {
        count += g->lengths[row];
        longest = LEATI_MAX(longest, g->lengths[row]);
    }
    leat_shape shapes[4] = {LEAT_SHAPE(count, 2), LEAT_SHAPE(count), LEAT_SHAPE(2),
                            LEAT_SHAPE(g->batch, 1)};
    for (int i = 0; i < 4; i++)
        LEATI_TRY(leati_support_output_like(call, i, &shapes[i], err));
    int64_t *index = (int64_t *)(void *)call->outputs[0].data;
    int64_t *value = (int64_t *)(void *)call->outputs[1].data;
    int64_t *shape = (int64_t *)(void *)call->outputs[2].data;
    leat_dtype dtype = call->outputs[3].dtype;
    for (int64_t row = 0; row < g->batch; row++) {
        for (int64_t i = 0; i < g->lengths[row]; i++) {
            *index++ = row;
            *index++ = i;
            *value++ = g->kept[row * g->steps + i];
        }
        (void)leati_support_store_number(
            dtype, g->sums[row], call->outputs[3].data + (size_t)row * leat_dtype_size(dtype));
    }
    shape[0] = g->batch;
    shape[1] = longest;
    return LEAT_OK;
}

static leat_status ctc_greedy_kernel(leati_kernel_call *call, leat_error *err) {
    const struct greedy_args *args = call->args;
    LEATI_TRY(check_rows(call, err));
    const int64_t *dims = call->inputs[0].dims;
    greedy g = {.call = call,
                .steps = dims[0],
                .batch = dims[1],
                .classes = dims[2],
                .blank = args->blank_index + (args->blank_index < 0 ? dims[2] : 0),
                .merges = args->merge_repeated};
    if (g.blank < 0 || g.blank >= g.classes)
        return leati_refuse(
            err, VALUE, "blank_index is %lld; expected it to be between %lld and %lld",
            (long long)args->blank_index, (long long)-g.classes, (long long)g.classes - 1);
    size_t rows = (size_t)LEATI_MAX(g.batch, 1);
    g.sums = leati_arena_alloc(call->arena, rows * (sizeof *g.sums + sizeof *g.lengths));
    g.kept = leati_arena_alloc(call->arena, rows * (size_t)LEATI_MAX(g.steps, 1) * sizeof *g.kept);
    if (g.sums == NULL || g.kept == NULL)
        return leati_no_memory(err);
    g.lengths = (int64_t *)(void *)(g.sums + rows);
    memset(g.sums, 0, rows * (sizeof *g.sums + sizeof *g.lengths));
    leati_moving_share(g.batch, g.steps * g.classes * 16, greedy_steps, &g);
    return write_classes(call, &g, err);
}

/* ---- beams ---- */
/* Logarithms of the probability that a sequence ends anyhow, in a blank, in its last class. */
typedef struct chances {
    double all, blank, label;
} chances;
static const chances never = {-INFINITY, -INFINITY, -INFINITY};

typedef struct beam {
    int64_t parent; /* -1: the empty sequence */
    int64_t label;
    chances before, now; /* at the last step and at this one */
    int64_t left;        /* the step at which one with a class more was left out */
} beam;

typedef struct ranked {
    double chance;
    int64_t place, leaf;
} ranked;

/* One row's search; all memory is its own. Beams are found by parent and label in `slots`, which
 * have places of beams plus one. */
typedef struct search {
    beam *beams;
    int64_t *slots, *leaves, *branches;
    ranked *ranks;
    double *scores; /* of a step's classes */
    int64_t count, capacity, num_slots, num_leaves, width, classes;
    int64_t least; /* the leaf that is least likely: its place among the leaves */
    int64_t step;
} search;

static double log_sum(double a, double b) {
    if (a == -INFINITY || b == -INFINITY)
        return a == -INFINITY ? b : a;
    return LEATI_MAX(a, b) + log1p(exp(-fabs(a - b)));
}

static int64_t *slot_of(const search *s, int64_t parent, int64_t label) {
    uint64_t key = ((uint64_t)parent * (uint64_t)s->classes + (uint64_t)label) + 1;
    uint64_t mask = (uint64_t)s->num_slots - 1,
             at = key * UINT64_C(0x9E3779B97F4A7C15) >> 20 & mask;
    while (s->slots[at] != 0) {
        const beam *b = &s->beams[s->slots[at] - 1];
        if (b->parent == parent && b->label == label)
            break;
        at = (at + 1) & mask;
    }
    return &s->slots[at];
}

/* Room for one more beam: of twice as many slots as beams. */
static bool grow_room(search *s) {
    if (s->count < s->capacity)
        return true;
    int64_t capacity = LEATI_MAX(2 * s->capacity, 256);
    beam *beams = leati_alloc_resize(s->beams, (size_t)capacity, sizeof *beams);
    int64_t *slots = beams == NULL ? NULL : leati_alloc_zero((size_t)capacity, 2 * sizeof *slots);
    s->beams = beams != NULL ? beams : s->beams;
    if (slots == NULL)
        return false;
    leati_free(s->slots);
    s->slots = slots;
    s->num_slots = 2 * capacity;
    s->capacity = capacity;
    for (int64_t i = 0; i < s->count; i++)
        *slot_of(s, s->beams[i].parent, s->beams[i].label) = i + 1;
    return true;
}

/* The beam of a sequence, which is new where there was none; -1: no memory. */
static int64_t beam_of(search *s, int64_t parent, int64_t label) {
    if (!grow_room(s))
        return -1;
    int64_t *slot = slot_of(s, parent, label);
    if (*slot == 0) {
        s->beams[s->count] = (beam){parent, label, never, never, -1};
        *slot = ++s->count;
    }
    return *slot - 1;
}

static void find_least(search *s) {
    s->least = 0;
    for (int64_t i = 1; i < s->num_leaves; i++)
        if (s->beams[s->leaves[i]].now.all < s->beams[s->leaves[s->least]].now.all)
            s->least = i;
}

static bool fits(const search *s, double chance) {
    return chance > -INFINITY &&
           (s->num_leaves < s->width || chance > s->beams[s->leaves[s->least]].now.all);
}

static int by_chance(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->chance != y->chance)
        return x->chance > y->chance ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

/* The likeliest leaves first, equal ones as they stood. */
static void sort_leaves(search *s) {
    for (int64_t i = 0; i < s->num_leaves; i++)
        s->ranks[i] = (ranked){s->beams[s->leaves[i]].now.all, i, s->leaves[i]};
    qsort(s->ranks, (size_t)s->num_leaves, sizeof *s->ranks, by_chance);
    for (int64_t i = 0; i < s->num_leaves; i++)
        s->leaves[i] = s->ranks[i].leaf;
}

/* What the sequences that there are come to with one more step. */
static void stay(search *s) {
    int64_t blank = s->classes - 1;
    for (int64_t i = 0; i < s->num_leaves; i++)
        s->beams[s->leaves[i]].before = s->beams[s->leaves[i]].now;
    for (int64_t i = 0; i < s->num_leaves; i++) {
        beam *b = &s->beams[s->leaves[i]];
        double label = b->now.label, ends = b->before.all + s->scores[blank];
        if (b->parent >= 0) {
            const beam *parent = &s->beams[b->parent];
            if (parent->now.all != -INFINITY)
                label = log_sum(label, b->label == parent->label ? parent->before.blank
                                                                 : parent->before.all);
            label += s->scores[b->label];
        }
        b->now = (chances){log_sum(ends, label), ends, label};
    }
}

/* A leaf takes the place of the least likely one, or a free one. */
static void add_leaf(search *s, int64_t child) {
    if (s->num_leaves == s->width) {
        beam *last = &s->beams[s->leaves[s->least]];
        last->now = never;
        if (last->parent >= 0)
            s->beams[last->parent].left = s->step;
        memmove(s->leaves + s->least, s->leaves + s->least + 1,
                (size_t)(--s->num_leaves - s->least) * sizeof *s->leaves);
    }
    s->leaves[s->num_leaves++] = child;
    find_least(s);
}

/* A sequence that was left out at this step and does not come back is not extended either. */
static void forget(search *s, int64_t from, int64_t label) {
    int64_t child = *slot_of(s, from, label) - 1;
    if (child >= 0 && s->beams[child].now.all == -INFINITY)
        s->beams[child].before = never;
}

/* Sequences with one class more than `from`; false: no memory. */
static bool extend(search *s, int64_t from) {
    for (int64_t label = 0; label < s->classes - 1; label++) {
        const beam *b = &s->beams[from];
        double chance = s->scores[label] + (label == b->label ? b->before.blank : b->before.all);
        if (!fits(s, chance)) {
            if (b->left == s->step)
                forget(s, from, label);
            continue;
        }
        int64_t child = beam_of(s, from, label);
        if (child < 0)
            return false;
        if (s->beams[child].now.all != -INFINITY)
            continue; /* it is a leaf already */
        s->beams[child].now = (chances){chance, -INFINITY, chance};
        add_leaf(s, child);
    }
    return true;
}

static bool step(search *s) {
    s->step++;
    sort_leaves(s);
    stay(s);
    int64_t count = s->num_leaves;
    memcpy(s->branches, s->leaves, (size_t)count * sizeof *s->branches);
    find_least(s);
    for (int64_t i = 0; i < count; i++)
        if (fits(s, s->beams[s->branches[i]].before.all) && !extend(s, s->branches[i]))
            return false;
    return true;
}

/* ---- rows ---- */
/* What was found of all rows, in their order: a path is one piece of memory. */
typedef struct found_path {
    int64_t length;
    int32_t *labels;
    double score;
} found_path;

typedef struct decoding {
    const leati_kernel_call *call;
    int64_t width, count, batch, classes;
    found_path *paths; /* of each row */
    leat_status *statuses;
} decoding;

/* The logarithms of the probabilities of a step's classes. */
static void read_step(const decoding *d, search *s, int64_t step_number, int64_t row) {
    int64_t first = (step_number * d->batch + row) * d->classes;
    double most = -INFINITY, sum = 0;
    for (int64_t c = 0; c < d->classes; c++) {
        s->scores[c] = logit_at(&d->call->inputs[0], first + c);
        most = LEATI_MAX(s->scores[c], most);
    }
    for (int64_t c = 0; c < d->classes; c++)
        sum += exp(s->scores[c] - most);
    for (int64_t c = 0; c < d->classes; c++)
        s->scores[c] -= most + log(sum);
}

static leat_status keep_paths(const decoding *d, search *s, int64_t row) {
    sort_leaves(s);
    if (s->num_leaves < d->count)
        return LEAT_INVALID_ARGUMENT;
    for (int64_t i = 0; i < d->count; i++) {
        found_path *to = &d->paths[row * d->count + i];
        for (int64_t at = s->leaves[i]; s->beams[at].parent >= 0; at = s->beams[at].parent)
            to->length++;
        to->score = s->beams[s->leaves[i]].now.all;
        to->labels = leati_alloc((size_t)to->length, sizeof *to->labels);
        if (to->labels == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
        int64_t place = to->length;
        for (int64_t at = s->leaves[i]; s->beams[at].parent >= 0; at = s->beams[at].parent)
            to->labels[--place] = (int32_t)s->beams[at].label;
    }
    return LEAT_OK;
}

static leat_status search_row(const decoding *d, search *s, int64_t row) {
    int64_t steps = leati_support_index_at(&d->call->inputs[1], 0, row), done = 0;
    s->leaves = leati_alloc((size_t)d->width, 2 * sizeof *s->leaves);
    s->ranks = leati_alloc((size_t)d->width, sizeof *s->ranks);
    s->scores = leati_alloc((size_t)d->classes, sizeof *s->scores);
    if (s->leaves == NULL || s->ranks == NULL || s->scores == NULL || beam_of(s, -1, -1) < 0)
        return LEAT_RESOURCE_EXHAUSTED;
    s->branches = s->leaves + d->width;
    s->beams[0].now = (chances){0, 0, -INFINITY};
    s->leaves[0] = 0;
    s->num_leaves = 1;
    for (int64_t i = 0; i < steps; i++) {
        /* A leaf is compared with all classes. */
        if (leati_stop_look_after(s->num_leaves * d->classes * 4 + 64, &done))
            return LEAT_OK;
        read_step(d, s, i, row);
        if (!step(s))
            return LEAT_RESOURCE_EXHAUSTED;
    }
    return keep_paths(d, s, row);
}

static void decode_steps(void *data, int64_t begin, int64_t end) {
    const decoding *d = data;
    for (int64_t row = begin; row < end; row++) {
        search s = {.width = d->width, .classes = d->classes};
        d->statuses[row] = search_row(d, &s, row);
        leati_free(s.beams);
        leati_free(s.slots);
        leati_free(s.leaves);
        leati_free(s.ranks);
        leati_free(s.scores);
    }
}

static leat_status write_paths(leati_kernel_call *call, const decoding *d, leat_error *err) {
    int64_t longest = 0;
    for (int64_t row = 0; row < d->batch; row++) {
        if (d->statuses[row] == LEAT_INVALID_ARGUMENT)
            return leati_refuse(err, VALUE,
                                "row %lld: Less leaves in the beam search than requested: fewer "
                                "than %lld",
                                (long long)row, (long long)d->count);
        if (d->statuses[row] != LEAT_OK)
            return leati_no_memory(err);
        for (int64_t i = 0; i < d->count; i++)
            longest = LEATI_MAX(longest, d->paths[row * d->count + i].length);
    }
    leat_shape paths = LEAT_SHAPE(d->count, d->batch, longest);
    leat_shape scores = LEAT_SHAPE(d->batch, d->count);
    LEATI_TRY(leati_support_output_like(call, 0, &paths, err));
    LEATI_TRY(leati_support_output_like(call, 1, &scores, err));
    int32_t *to = (int32_t *)(void *)call->outputs[0].data;
    for (int64_t at = 0; at < d->count * d->batch; at++) {
        int64_t row = at % d->batch, i = at / d->batch;
        const found_path *from = &d->paths[row * d->count + i];
        for (int64_t k = 0; k < longest; k++)
            to[at * longest + k] = k < from->length ? from->labels[k] : -1;
        (void)leati_support_store_number(call->outputs[1].dtype, from->score,
                                         call->outputs[1].data +
                                             (size_t)(row * d->count + i) *
                                                 leat_dtype_size(call->outputs[1].dtype));
    }
    return LEAT_OK;
}

static leat_status ctc_beam_search_kernel(leati_kernel_call *call, leat_error *err) {
    const struct beam_args *args = call->args;
    LEATI_TRY(check_rows(call, err));
    const int64_t *dims = call->inputs[0].dims;
    decoding d = {.call = call,
                  .width = args->beam_width,
                  .count = args->top_paths,
                  .batch = dims[1],
                  .classes = dims[2]};
    d.paths = leati_alloc_zero((size_t)LEATI_MAX(d.batch, 1), (size_t)d.count * sizeof *d.paths);
    d.statuses = leati_alloc_zero((size_t)LEATI_MAX(d.batch, 1), sizeof *d.statuses);
    leat_status status = LEAT_OK;
    if (d.paths == NULL || d.statuses == NULL) {
        status = leati_no_memory(err);
    } else {
        double bytes = (double)dims[0] * (double)d.width * (double)d.classes * 40;
        leati_moving_share(d.batch, (int64_t)LEATI_MIN(bytes, 1e12), decode_steps, &d);
        status = leati_stop_stopped() ? leati_stop_check(err) : write_paths(call, &d, err);
    }
    for (int64_t i = 0; d.paths != NULL && i < d.batch * d.count; i++)
        leati_free(d.paths[i].labels);
    leati_free(d.paths);
    leati_free(d.statuses);
    return status;
}

const leati_tensor_op leati_tensor_op_ctc_beam_search = {
    .name = "ctc_beam_search",
    .version = 1,
    .doc = "The most likely sequences of classes of logits, and the logarithms of their "
           "probabilities (tf.raw_ops.CTCBeamSearchDecoder).",
    .types = "T int32",
    .outputs = "paths log_probability",
    .halves = LEATI_HALVES_FLOAT,
    .rows = beam_rows,
    .args_size = sizeof(struct beam_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_COSTLY,
    .infer = ctc_beam_search_infer,
    .kernel = ctc_beam_search_kernel,
};

const leati_tensor_op leati_tensor_op_ctc_greedy = {
    .name = "ctc_greedy",
    .version = 1,
    .doc = "The most likely class of each step, without blanks and repeats, and minus the sum of "
           "their logits (tf.raw_ops.CTCGreedyDecoder).",
    .types = "T int32",
    .outputs = "decoded_indices decoded_values decoded_shape log_probability",
    .halves = LEATI_HALVES_FLOAT,
    .rows = greedy_rows,
    .args_size = sizeof(struct greedy_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = ctc_greedy_infer,
    .kernel = ctc_greedy_kernel,
};
