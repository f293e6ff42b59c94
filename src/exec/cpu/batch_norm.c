/* batch_norm with the add and the relu that follow it, on as many threads as the task has.
 *
 * Happy path: each thread reads chunks of rows that stay in its cache: first for the chunk's mean,
 * then for the squares around that, which are put together without cancellation; a second pass over
 * memory, from the end where the caches still hold it, writes the result. Declines other dtypes and
 * empty tensors. No failures in a run, no locks. */
#include "exec/cpu/batch_norm.h"

#include "base/error.h"
#include "base/minmax.h"
#include "run/crew.h"
#include <stdio.h>
#include <string.h>

/* ---- for both directions ---- */

leat_status leati_batch_norm_task_init(leati_cpu_build *build, leati_cpu_task *task,
                                       leati_norm_task *norm, leat_error *err) {
    const leati_simple_value *x = leati_cpu_value_of(build, norm->x);
    int64_t channels = x->type->shape.dims[x->type->shape.rank - 1];
    const double *epsilon = leati_cpu_attr_float(task->node, "epsilon");
    norm->epsilon = epsilon != NULL ? *epsilon : 0;
    norm->cut = leati_batch_norm_cut_of(x->count / channels, channels);
    norm->loops = leati_batch_norm_loops_at(0);
    /* Doubles first, so that the floats behind them need no padding. */
    size_t chunks = (size_t)norm->cut.chunks, wide = 2 * chunks * sizeof(double);
    size_t bytes = (size_t)channels * (wide + (4 + 2 * chunks) * sizeof(float));
    norm->scratch = leati_cpu_extra(build, bytes, err);
    if (norm->scratch < 0)
        return LEAT_RESOURCE_EXHAUSTED;
    snprintf(task->implementation, sizeof task->implementation, "%s", norm->loops->name);
    return leati_cpu_output(task, norm->scratch)
               ? LEAT_OK
               : leati_fail(err, LEAT_INTERNAL, "a task has more than %d operands",
                            LEATI_CPU_OPERANDS);
}

leati_norm_scratch leati_batch_norm_scratch_of(const leati_cpu_step *step,
                                               const leati_norm_task *norm) {
    size_t each = (size_t)(norm->cut.chunks * norm->cut.channels);
    double *first = (double *)(void *)step->data[norm->scratch];
    return (leati_norm_scratch){first, first + each, (float *)(void *)(first + 2 * each)};
}

void leati_batch_norm_flush(float *from, double *to, int64_t channels) {
    for (int64_t c = 0; c < channels; c++) {
        to[c] += (double)from[c];
        from[c] = 0;
    }
}

/* ---- running ---- */

struct norm_run {
    const leati_norm_task *norm;
    leati_norm_scratch scratch;
    leati_norm_rows all; /* of the whole tensor */
};

/* Calls `loop` for a few rows at a time and adds what it sums up to `total`. */
static void sum_in_groups(const leati_norm_rows *chunk,
                          void (*loop)(const leati_norm_rows *, float *), float *group,
                          double *total) {
    int64_t channels = chunk->channels;
    memset(group, 0, (size_t)channels * sizeof *group);
    memset(total, 0, (size_t)channels * sizeof *total);
    /* So few rows that a sum of float32 loses next to nothing, and then on in float64. */
    for (int64_t i = 0; i < chunk->rows; i += LEATI_NORM_GROUP) {
        leati_norm_rows some = *chunk;
        some.rows = LEATI_MIN(chunk->rows - i, LEATI_NORM_GROUP);
        some.x += i * channels;
        loop(&some, group);
        leati_batch_norm_flush(group, total, channels);
    }
}

static void find_moments(void *data, int64_t piece) {
    const struct norm_run *run = data;
    const leati_norm_task *norm = run->norm;
    int64_t channels = norm->cut.channels, first = 0;
    leati_norm_rows chunk = run->all;
    chunk.rows = leati_batch_norm_chunk(&norm->cut, piece, &first);
    chunk.x += first * channels;
    float *group = run->scratch.rest + (4 + 2 * piece) * channels, *mean = group + channels;
    double *sums = run->scratch.first + piece * channels;
    sum_in_groups(&chunk, norm->loops->sums, group, sums);
    for (int64_t c = 0; c < channels; c++)
        mean[c] = (float)(sums[c] / (double)chunk.rows);
    chunk.mean = mean;
    sum_in_groups(&chunk, norm->loops->squares, group, run->scratch.second + piece * channels);
}

/* The moments of all from those of the chunks. Squares around a chunk's rounded mean are too many
 * by rows * (rounding)^2; around the mean of all there are rows * (difference)^2 more. */
static void join_moments(const struct norm_run *run, float *mean, float *variance) {
    const leati_norm_cut *cut = &run->norm->cut;
    for (int64_t c = 0; c < cut->channels; c++) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < cut->chunks; i++)
            sum += run->scratch.first[i * cut->channels + c];
        double middle = sum / (double)cut->rows;
        for (int64_t i = 0; i < cut->chunks; i++) {
            int64_t first = 0, rows = leati_batch_norm_chunk(cut, i, &first);
            double own = run->scratch.first[i * cut->channels + c] / (double)rows;
            double rounding = own - (double)(float)own, apart = own - middle;
            squares += run->scratch.second[i * cut->channels + c] +
                       (double)rows * (apart * apart - rounding * rounding);
        }
        mean[c] = (float)middle;
        /* Rounding can leave a little less than 0. */
        variance[c] = squares > 0 ? (float)(squares / (double)cut->rows) : 0;
        if (!(squares <= 0) && !(squares > 0))
            variance[c] = (float)squares; /* not a number */
    }
}

static void write_result(void *data, int64_t piece) {
    const struct norm_run *run = data;
    leati_norm_rows chunk = run->all;
    int64_t first = 0, channels = chunk.channels;
    /* From the end: what the first pass read last is still in the cache. */
    chunk.rows = leati_batch_norm_chunk(&run->norm->cut, run->norm->cut.chunks - 1 - piece, &first);
    chunk.x += first * channels;
    chunk.y += first * channels;
    if (chunk.more != NULL)
        chunk.more += first * channels;
    run->norm->loops->forward(&chunk);
}

static float *floats(const leati_cpu_step *step, int32_t v) {
    return v < 0 ? NULL : (float *)(void *)step->data[v];
}

static leat_status batch_norm_run(leati_cpu_step *step, leati_cpu_task *task, leat_error *err) {
    const leati_norm_task *norm = task->state;
    int64_t channels = norm->cut.channels;
    float *mean = floats(step, norm->mean), *variance = floats(step, norm->variance);
    struct norm_run run = {.norm = norm, .scratch = leati_batch_norm_scratch_of(step, norm)};
    float *factor = run.scratch.rest, *offset = factor + channels;
    (void)err;
    run.all = (leati_norm_rows){.rows = norm->cut.rows,
                                .channels = channels,
                                .x = floats(step, norm->x),
                                .factor = factor,
                                .offset = offset,
                                .more = floats(step, norm->more),
                                .y = floats(step, norm->result),
                                .relu = norm->relu};
    leati_crew_share_among(task->threads, norm->cut.chunks, find_moments, &run);
    join_moments(&run, mean, variance);
    leati_batch_norm_factor(floats(step, norm->gamma), floats(step, norm->beta), mean, variance,
                            norm->epsilon, channels, factor, offset);
    leati_crew_share_among(task->threads, norm->cut.chunks, write_result, &run);
    return LEAT_OK;
}

/* ---- planning ---- */

/* Takes the add and the relu behind the result, if nobody else reads what lies between and the
 * other operand is there before. */
static void find_followers(leati_cpu_build *build, leati_cpu_task *task, leati_norm_task *norm) {
    int32_t add = leati_cpu_follower(build, norm->result, &leati_tensor_op_add);
    if (add >= 0) {
        const leati_simple_node *node = leati_cpu_node(build, add);
        /* The operand that is not the result; both may be, which is declined below. */
        int32_t other = node->inputs[node->inputs[0] == norm->result];
        if (other != norm->result && leati_cpu_same_shape(build, other, norm->result) &&
            leati_cpu_made_before(build, other, task->node)) {
            norm->more = other;
            norm->result = node->first_output;
            leati_cpu_take(build, task, add);
        }
    }
    int32_t relu = leati_cpu_follower(build, norm->result, &leati_tensor_op_relu);
    if (relu >= 0) {
        norm->relu = true;
        norm->result = leati_cpu_node(build, relu)->first_output;
        leati_cpu_take(build, task, relu);
    }
}

static leat_status batch_norm_plan(leati_cpu_build *build, leati_cpu_task *task, leat_error *err) {
    const leati_simple_node *node = task->node;
    const leati_simple_value *x = leati_cpu_value_of(build, node->inputs[0]);
    if (x->type->dtype != LEAT_FLOAT32 || x->count < 1)
        return LEAT_OK;
    leati_norm_task *norm = leati_alloc_zero(1, sizeof *norm);
    if (norm == NULL)
        return leati_no_memory(err);
    *norm = (leati_norm_task){.x = node->inputs[0],
                              .gamma = node->inputs[1],
                              .beta = node->inputs[2],
                              .mean = node->first_output + 1,
                              .variance = node->first_output + 2,
                              .more = -1,
                              .result = node->first_output};
    task->kernel = &leati_cpu_kernel_batch_norm;
    task->state = norm;
    find_followers(build, task, norm);
    const int32_t inputs[4] = {norm->x, norm->gamma, norm->beta, norm->more};
    const int32_t outputs[3] = {norm->result, norm->mean, norm->variance};
    for (int i = 0; i < 4; i++)
        (void)leati_cpu_input(task, inputs[i]);
    for (int i = 0; i < 3; i++)
        (void)leati_cpu_output(task, outputs[i]);
    return leati_batch_norm_task_init(build, task, norm, err);
}

const leati_cpu_kernel leati_cpu_kernel_batch_norm = {.op = &leati_tensor_op_batch_norm,
                                                      .plan = batch_norm_plan,
                                                      .run = batch_norm_run,
                                                      .release = leati_free};
