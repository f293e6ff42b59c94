/* candidate_sample, compute_accidental_hits: classes drawn for losses that look at few of many
 * (tf.random.uniform_candidate_sampler and its kin), and which of them are true ones
 * (tf.nn.compute_accidental_hits).
 *
 * candidate_sample is given where its stream stands, so it computes the same of the same inputs;
 * who calls it keeps the stream. With `unique` it draws until there are enough different classes;
 * then a class is expected as often as it would be met in so many tries. They fail where shapes do
 * not fit, where a true class lies outside of the range, where there are fewer classes than are
 * wanted, and without memory. No gradient, no locks. */
#include "base/minmax.h"
#include "base/random.h"
#include "base/stop.h"
#include "graph/support/support.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Which classes are drawn how often. */
typedef enum candidate_kind {
    CANDIDATE_UNIFORM,     /* all alike */
    CANDIDATE_LOG_UNIFORM, /* rarer the larger they are */
    CANDIDATE_LEARNED,     /* by integer counts: input 2 holds them */
    CANDIDATE_WEIGHTED,    /* by weights: input 2 holds weight, share and other class of each */
    CANDIDATE_ALL          /* one behind the other */
} candidate_kind;

struct candidate_args {
    int64_t kind, count, range;
    bool unique;
};

static const leati_row sample_rows[] = {
    {.name = "kind",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct candidate_args, kind),
     .minimum = CANDIDATE_UNIFORM,
     .maximum = CANDIDATE_ALL,
     .doc = "0: all classes alike; 1: rarer the larger they are; 2: by counts; 3: by weights; 4: "
            "one behind the other."},
    {.name = "count",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct candidate_args, count),
     .minimum = 1,
     .maximum = INT32_MAX,
     .doc = "How many classes to draw."},
    {.name = "range",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct candidate_args, range),
     .minimum = 1,
     .maximum = INT64_MAX,
     .doc = "How many classes there are."},
    {.name = "unique",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct candidate_args, unique),
     .doc = "Draw each class at most once."},
    {0},
};

static leat_status candidate_sample_infer(leati_infer_call *call, leat_error *err) {
    const struct candidate_args *args = call->args;
    leat_shape classes = LEAT_SHAPE(args->count);
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_INT64, "true classes", err));
    LEATI_TRY(leati_support_want_dtype(call, 1, LEAT_INT64, "the stream", err));
    LEATI_TRY(leati_support_want_rank(call, 1, 1, "the stream", err));
    LEATI_TRY(leati_support_want_dtype(call, 2, LEAT_FLOAT64, "the table", err));
    LEATI_TRY(leati_support_want_rank(call, 2, 2, "the table", err));
    if (args->unique && args->count > args->range)
        return leati_refuse(err, VALUE,
                            "Sampler's range is too small: %lld different classes of "
                            "%lld",
                            (long long)args->count, (long long)args->range);
    LEATI_TRY(leati_op_infer_output(call, LEAT_INT64, &classes, NULL, err));
    LEATI_TRY(leati_op_infer_output(call, LEAT_FLOAT32, &call->inputs[0].shape, NULL, err));
    return leati_op_infer_output(call, LEAT_FLOAT32, &classes, NULL, err);
}

/* ---- drawing ---- */
typedef struct sampler {
    const struct candidate_args *args;
    leati_words words;
    const double *table; /* of a row of the call: the columns one behind the other */
    double *sums;        /* of the counts up to each, of learned classes */
    double total, log_range;
} sampler;

static uint64_t wide_bits(leati_words *words) {
    uint64_t low = leati_words_next(words);
    return low | (uint64_t)leati_words_next(words) << 32;
}

/* An integer below `count`, each as likely: what lies below the remainder is drawn again. */
static uint64_t below(leati_words *words, uint64_t count, bool wide) {
    uint64_t most = wide ? UINT64_MAX : UINT32_MAX;
    if ((count & (count - 1)) == 0)
        return (wide ? wide_bits(words) : leati_words_next(words)) & (count - 1);
    uint64_t least = most % count + 1, drawn;
    do
        drawn = wide ? wide_bits(words) : leati_words_next(words);
    while (drawn < least);
    return drawn % count;
}

static int64_t learned_class(sampler *s) {
    double place = (double)below(&s->words, (uint64_t)s->total, false);
    int64_t low = 0, high = s->args->range;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (s->sums[middle] > place)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static int64_t draw(sampler *s) {
    int64_t range = s->args->range;
    switch ((candidate_kind)s->args->kind) {
    case CANDIDATE_UNIFORM: return (int64_t)below(&s->words, (uint64_t)range, true);
    case CANDIDATE_LOG_UNIFORM: {
        uint32_t first = leati_words_next(&s->words);
        double u = leati_uniform_double(first, leati_words_next(&s->words));
        return ((int64_t)exp(u * s->log_range) - 1) % range;
    }
    case CANDIDATE_LEARNED: return learned_class(s);
    case CANDIDATE_WEIGHTED: {
        float share = leati_uniform_float(leati_words_next(&s->words));
        int64_t place = (int64_t)below(&s->words, (uint64_t)range, false);
        return share < (float)s->table[range + place] ? place
                                                      : (int64_t)s->table[2 * range + place];
    }
    default: return 0; /* all of them are not drawn */
    }
}

static float share_of(const sampler *s, int64_t class) {
    switch ((candidate_kind)s->args->kind) {
    case CANDIDATE_LOG_UNIFORM: {
        double x = (double)class;
        return (float)(log((x + 2.0) / (x + 1.0)) / s->log_range);
    }
    case CANDIDATE_LEARNED: return (float)s->table[class] / (float)s->total;
    case CANDIDATE_WEIGHTED: return (float)s->table[class] / (float)s->total;
    default: return (float)(1.0 / (double)s->args->range);
    }
}

/* How often a class of that share is expected. */
static float expected(const sampler *s, float share, int64_t tries) {
    if (tries == s->args->count)
        return share * (float)s->args->count;
    return -expm1f((float)tries * log1pf(-share));
}

/* Sums of counts, or the total of weights as TensorFlow adds them: in float32. */
static leat_status begin_table(leati_kernel_call *call, sampler *s, leat_error *err) {
    int64_t range = s->args->range;
    if (s->args->kind == CANDIDATE_LEARNED) {
        s->sums = leati_arena_alloc(call->arena, (size_t)range * sizeof *s->sums);
        if (s->sums == NULL)
            return leati_no_memory(err);
        for (int64_t i = 0; i < range; i++)
            s->sums[i] = s->total += s->table[i];
    }
    if (s->args->kind == CANDIDATE_WEIGHTED) {
        float total = 0;
        for (int64_t i = 0; i < range; i++)
            total += (float)s->table[i];
        s->total = (double)total;
    }
    return LEAT_OK;
}

/* Classes that were drawn, in a table of twice as many slots or more: each is the class plus one.
 */
static bool is_new(int64_t *slots, uint64_t mask, int64_t class) {
    uint64_t at = ((uint64_t) class * UINT64_C(0x9E3779B97F4A7C15)) >> 32 & mask;
    for (; slots[at] != 0; at = (at + 1) & mask)
        if (slots[at] == class + 1)
            return false;
    slots[at] = class + 1;
    return true;
}

/* All classes, one behind the other; they repeat when all were there. */
static leat_status list_all(const sampler *s, int64_t *to, int64_t *tries, leat_error *err) {
    int64_t class = 0, range = s->args->range;
    for (*tries = 0; *tries < s->args->count && !leati_stop_look_at(*tries); ++*tries) {
        to[*tries] = class;
        class = class + 1 < range ? class + 1 : 0;
    }
    return leati_stop_check(err);
}

/* Draws all; how many tries it took. */
static leat_status draw_all(leati_kernel_call *call, sampler *s, int64_t *to, int64_t *tries,
                            leat_error *err) {
    uint64_t size = 2;
    while (size < 2 * (uint64_t)s->args->count)
        size *= 2;
    int64_t *slots = NULL, done = 0;
    if (s->args->unique) {
        slots = leati_arena_alloc(call->arena, size * sizeof *slots);
        if (slots == NULL)
            return leati_no_memory(err);
        memset(slots, 0, size * sizeof *slots);
    }
    *tries = 0;
    for (int64_t i = 0; i < s->args->count;) {
        /* Of very unlike weights the last classes may take long. */
        if (leati_stop_look_after(8, &done))
            return leati_stop_check(err);
        int64_t class = draw(s);
        ++*tries;
        if (slots == NULL || is_new(slots, size - 1, class))
            to[i++] = class;
    }
    return LEAT_OK;
}

static leat_status check_inputs(const leati_kernel_call *call, leat_error *err) {
    const struct candidate_args *args = call->args;
    const leati_operand *table = &call->inputs[2];
    int64_t columns = args->kind == CANDIDATE_LEARNED    ? 1
                      : args->kind == CANDIDATE_WEIGHTED ? 3
                                                         : 0;
    if (call->inputs[1].count != 3 || table->rank != 2 || table->count != columns * args->range)
        return leati_refuse(err, SHAPE,
                            "a stream of %lld numbers and a table of %lld; expected 3 "
                            "and %lld for each class",
                            (long long)call->inputs[1].count, (long long)table->count,
                            (long long)columns);
    return LEAT_OK;
}

static leat_status sample_row(leati_kernel_call *call, int64_t row, leat_error *err) {
    const struct candidate_args *args = call->args;
    const int64_t *classes =
        (const int64_t *)(const void *)leati_support_row_of(&call->inputs[0], row);
    const int64_t *stream =
        (const int64_t *)(const void *)leati_support_row_of(&call->inputs[1], row);
    int64_t *sampled = (int64_t *)(void *)leati_support_row_of(&call->outputs[0], row), tries = 0;
    float *of_true = (float *)(void *)leati_support_row_of(&call->outputs[1], row);
    float *of_sampled = (float *)(void *)leati_support_row_of(&call->outputs[2], row);
    sampler s = {.args = args,
                 .words = leati_words_new((uint64_t)stream[0], (uint64_t)stream[1]),
                 .table = (const double *)(const void *)leati_support_row_of(&call->inputs[2], row),
                 .log_range = log1p((double)args->range)};
    leati_words_skip(&s.words, 4 * (uint64_t)stream[2]);
    for (int64_t i = 0; i < call->inputs[0].count; i++)
        if (classes[i] < 0 || classes[i] >= args->range) {
            call->failed_row = row;
            return leati_refuse(err, VALUE, "expected true classes from 0 to %lld, found %lld",
                                (long long)args->range - 1, (long long)classes[i]);
        }
    LEATI_TRY(begin_table(call, &s, err));
    if (args->kind == CANDIDATE_ALL)
        LEATI_TRY(list_all(&s, sampled, &tries, err));
    else
        LEATI_TRY(draw_all(call, &s, sampled, &tries, err));
    for (int64_t i = 0; i < call->inputs[0].count; i++)
        of_true[i] = expected(&s, share_of(&s, classes[i]), tries);
    bool alike = args->kind == CANDIDATE_UNIFORM || args->kind == CANDIDATE_ALL;
    for (int64_t i = 0; i < args->count; i++)
        of_sampled[i] =
            alike && i > 0 ? of_sampled[0] : expected(&s, share_of(&s, sampled[i]), tries);
    return LEAT_OK;
}

static leat_status candidate_sample_kernel(leati_kernel_call *call, leat_error *err) {
    const struct candidate_args *args = call->args;
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leat_shape classes = LEAT_SHAPE(args->count);
    LEATI_TRY(check_inputs(call, err));
    LEATI_TRY(leati_support_output_like(call, 0, &classes, err));
    LEATI_TRY(leati_support_output_like(call, 1, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 2, &classes, err));
    for (int64_t row = 0; row < call->n; row++)
        LEATI_TRY(sample_row(call, row, err));
    return LEAT_OK;
}

/* ---- accidental hits ---- */
static leat_status compute_accidental_hits_infer(leati_infer_call *call, leat_error *err) {
    leat_shape hits = LEAT_SHAPE(LEAT_UNKNOWN_DIM);
    static const char *const names[2] = {"true classes", "sampled candidates"};
    for (int i = 0; i < 2; i++) {
        LEATI_TRY(leati_support_want_dtype(call, i, LEAT_INT64, names[i], err));
        LEATI_TRY(leati_support_want_rank(call, i, 2 - i, names[i], err));
    }
    LEATI_TRY(leati_op_infer_output(call, LEAT_INT32, &hits, NULL, err));
    LEATI_TRY(leati_op_infer_output(call, LEAT_INT64, &hits, NULL, err));
    return leati_op_infer_output(call, LEAT_FLOAT32, &hits, NULL, err);
}

/* Where each sampled class was met last: slots of places plus one. */
typedef struct places {
    const int64_t *sampled;
    int64_t *slots;
    uint64_t mask;
} places;

static int64_t *slot_of(const places *p, int64_t class) {
    uint64_t at = ((uint64_t) class * UINT64_C(0x9E3779B97F4A7C15)) >> 32 & p->mask;
    while (p->slots[at] != 0 && p->sampled[p->slots[at] - 1] != class)
        at = (at + 1) & p->mask;
    return &p->slots[at];
}

static leat_status compute_accidental_hits_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *true_classes = &call->inputs[0], *sampled = &call->inputs[1];
    uint64_t size = 2;
    if (true_classes->rank != 2 || sampled->rank != 1)
        return leati_refuse(err, SHAPE,
                            "true classes of rank %d and candidates of rank %d; "
                            "expected 2 and 1",
                            (int)true_classes->rank, (int)sampled->rank);
    while (size < 2 * (uint64_t)sampled->count)
        size *= 2;
    int64_t *hits = leati_arena_alloc(call->arena, (size_t)true_classes->count * 8 + 8), count = 0;
    places p = {.sampled = (const int64_t *)(const void *)sampled->data,
                .slots = leati_arena_alloc(call->arena, size * sizeof *p.slots),
                .mask = size - 1};
    if (hits == NULL || p.slots == NULL)
        return leati_no_memory(err);
    memset(p.slots, 0, size * sizeof *p.slots);
    for (int64_t i = 0; i < sampled->count; i++)
        *slot_of(&p, p.sampled[i]) = i + 1;
    for (int64_t i = 0; i < true_classes->count; i++) {
        int64_t place = *slot_of(&p, ((const int64_t *)(const void *)true_classes->data)[i]);
        hits[i] = place - 1;
        count += place != 0;
    }
    leat_shape shape = LEAT_SHAPE(count);
    for (int i = 0; i < 3; i++)
        LEATI_TRY(leati_support_output_like(call, i, &shape, err));
    int32_t *lines = (int32_t *)(void *)call->outputs[0].data;
    int64_t *ids = (int64_t *)(void *)call->outputs[1].data;
    float *weights = (float *)(void *)call->outputs[2].data;
    for (int64_t i = 0, at = 0; i < true_classes->count; i++) {
        if (hits[i] < 0)
            continue;
        lines[at] = (int32_t)(i / true_classes->dims[1]);
        ids[at] = hits[i];
        weights[at++] = -FLT_MAX;
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_candidate_sample = {
    .name = "candidate_sample",
    .version = 1,
    .doc = "Classes drawn from a stream, and how often true ones and these are expected "
           "(tf.raw_ops.UniformCandidateSampler and its kin).",
    .types = "int64 int64 float64",
    .outputs = "sampled_candidates true_expected_count sampled_expected_count",
    .halves = LEATI_HALVES_NONE,
    .rows = sample_rows,
    .args_size = sizeof(struct candidate_args),
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = candidate_sample_infer,
    .kernel = candidate_sample_kernel,
};

const leati_tensor_op leati_tensor_op_compute_accidental_hits = {
    .name = "compute_accidental_hits",
    .version = 1,
    .doc = "Which sampled classes are true ones of a line (tf.raw_ops.ComputeAccidentalHits).",
    .types = "int64 int64",
    .outputs = "indices ids weights",
    .halves = LEATI_HALVES_NONE,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = compute_accidental_hits_infer,
    .kernel = compute_accidental_hits_kernel,
};
