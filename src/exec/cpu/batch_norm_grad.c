/* batch_norm_grad with the relu_grad and the add in front of it, on as many threads as the task
 * has.
 *
 * Happy path: one pass over the gradient and x sums up what gamma and beta get, and writes the
 * gradient that a ReLU lets through where others read it too; a second one, from the end, writes
 * the gradient of x. Where the ReLU follows batch_norm alone, the sign of its argument is computed
 * again instead of reading its result. Declines other dtypes and empty tensors. No failures in a
 * run, no locks. */
#include "exec/cpu/batch_norm.h"

#include "base/error.h"
#include "base/minmax.h"
#include "run/crew.h"
#include <math.h>
#include <string.h>

/* ---- running ---- */

struct norm_run {
    const leati_norm_task *norm;
    leati_norm_scratch scratch;
    leati_norm_rows all; /* of the whole tensor */
};

/* The chunk that lies at `first` rows. */
static leati_norm_rows part_of(const leati_norm_rows *all, int64_t first, int64_t rows) {
    leati_norm_rows part = *all;
    int64_t at = first * all->channels;
    part.rows = rows;
    part.x += at;
    part.gradient += at;
    part.y += at;
    if (part.more != NULL)
        part.more += at;
    if (part.features != NULL)
        part.features += at;
    if (part.kept != NULL)
        part.kept += at;
    return part;
}

static void find_sums(void *data, int64_t piece) {
    const struct norm_run *run = data;
    const leati_norm_task *norm = run->norm;
    int64_t channels = norm->cut.channels, first = 0;
    int64_t rows = leati_batch_norm_chunk(&norm->cut, piece, &first);
    float *group = run->scratch.rest + (4 + 2 * piece) * channels;
    double *sums = run->scratch.first + piece * channels;
    double *products = run->scratch.second + piece * channels;
    memset(group, 0, 2 * (size_t)channels * sizeof *group);
    memset(sums, 0, (size_t)channels * sizeof *sums);
    memset(products, 0, (size_t)channels * sizeof *products);
    for (int64_t i = 0; i < rows; i += LEATI_NORM_GROUP) {
        int64_t some = LEATI_MIN(rows - i, LEATI_NORM_GROUP);
        leati_norm_rows part = part_of(&run->all, first + i, some);
        norm->loops->gradient_sums(&part, group, group + channels);
        leati_batch_norm_flush(group, sums, channels);
        leati_batch_norm_flush(group + channels, products, channels);
    }
}

/* Sums the chunks up: the gradients of gamma and beta, and what x's takes off. */
static void join_sums(const struct norm_run *run, const leati_cpu_step *step, float *least,
                      float *slope) {
    const leati_norm_task *norm = run->norm;
    const leati_norm_cut *cut = &norm->cut;
    const float *variance = (const float *)(const void *)step->data[norm->variance];
    float *to_gamma = (float *)(void *)step->data[norm->to_gamma];
    float *to_beta = (float *)(void *)step->data[norm->to_beta];
    for (int64_t c = 0; c < cut->channels; c++) {
        double sum = 0, product = 0, root = 1 / sqrt((double)variance[c] + norm->epsilon);
        for (int64_t i = 0; i < cut->chunks; i++) {
            sum += run->scratch.first[i * cut->channels + c];
            product += run->scratch.second[i * cut->channels + c];
        }
        to_beta[c] = (float)sum;
        /* product is the sum of g * (x - mean), so times the root it is that of g * normalised
         * x. */
        to_gamma[c] = (float)(product * root);
        /* dx = factor * (g - mean(g) - (x - mean) * mean(g * (x - mean)) / (variance +
         * epsilon)). */
        least[c] = (float)(sum / (double)cut->rows);
        slope[c] = (float)(product * root * root / (double)cut->rows);
    }
}

static void write_result(void *data, int64_t piece) {
    const struct norm_run *run = data;
    int64_t first = 0;
    int64_t rows =
        leati_batch_norm_chunk(&run->norm->cut, run->norm->cut.chunks - 1 - piece, &first);
    leati_norm_rows part = part_of(&run->all, first, rows);
    if (part.kept != NULL) { /* it is the gradient that counts */
        part.gradient = part.kept;
        part.more = part.features = NULL;
        part.again = false;
    }
    run->norm->loops->backward(&part);
}

static float *floats(const leati_cpu_step *step, int32_t v) {
    return v < 0 ? NULL : (float *)(void *)step->data[v];
}

static leat_status batch_norm_grad_run(leati_cpu_step *step, leati_cpu_task *task,
                                       leat_error *err) {
    const leati_norm_task *norm = task->state;
    int64_t channels = norm->cut.channels;
    struct norm_run run = {.norm = norm, .scratch = leati_batch_norm_scratch_of(step, norm)};
    float *factor = run.scratch.rest, *offset = factor + channels;
    float *least = offset + channels, *slope = least + channels;
    (void)err;
    run.all = (leati_norm_rows){.channels = channels,
                                .x = floats(step, norm->x),
                                .mean = floats(step, norm->mean),
                                .factor = factor,
                                .offset = offset,
                                .more = floats(step, norm->more),
                                .y = floats(step, norm->result),
                                .gradient = floats(step, norm->gradient),
                                .features = floats(step, norm->features),
                                .again = norm->again,
                                .kept = floats(step, norm->kept),
                                .least = least,
                                .slope = slope};
    leati_batch_norm_factor(floats(step, norm->gamma), floats(step, norm->beta),
                            floats(step, norm->mean), floats(step, norm->variance), norm->epsilon,
                            channels, factor, offset);
    leati_crew_share_among(task->threads, norm->cut.chunks, find_sums, &run);
    join_sums(&run, step, least, slope);
    leati_crew_share_among(task->threads, norm->cut.chunks, write_result, &run);
    return LEAT_OK;
}

/* ---- planning ---- */

/* Everything else that the task reads is there before the node. */
static bool others_ready(const leati_cpu_build *build, const leati_simple_node *own,
                         const leati_simple_node *node) {
    for (int i = 1; i < own->num_inputs; i++)
        if (!leati_cpu_made_before(build, own->inputs[i], node))
            return false;
    return true;
}

/* The add in front of the gradient: two parts that nobody else sums. */
static void find_add(leati_cpu_build *build, leati_cpu_task *task, leati_norm_task *norm) {
    int32_t add = leati_cpu_maker(build, norm->gradient, &leati_tensor_op_add);
    /* Others that read the sum need it in memory. */
    if (add < 0 || leati_cpu_only_reader(build, norm->gradient) < 0)
        return;
    const leati_simple_node *node = leati_cpu_node(build, add);
    if (!leati_cpu_same_shape(build, node->inputs[0], norm->gradient) ||
        !leati_cpu_same_shape(build, node->inputs[1], norm->gradient) ||
        !others_ready(build, task->node, node) ||
        (norm->features >= 0 && !leati_cpu_made_before(build, norm->features, node)))
        return;
    norm->gradient = node->inputs[0];
    norm->more = node->inputs[1];
    leati_cpu_take(build, task, add);
}

/* The relu_grad in front of the gradient, and an add in front of that. */
static void find_before(leati_cpu_build *build, leati_cpu_task *task, leati_norm_task *norm) {
    int32_t gradient = norm->gradient;
    int32_t mask = leati_cpu_maker(build, gradient, &leati_tensor_op_relu_grad);
    const leati_simple_node *node = mask >= 0 ? leati_cpu_node(build, mask) : NULL;
    if (node != NULL && leati_cpu_same_shape(build, node->inputs[0], gradient) &&
        leati_cpu_same_shape(build, node->inputs[1], gradient) &&
        others_ready(build, task->node, node)) {
        norm->features = node->inputs[1];
        norm->gradient = node->inputs[0];
        /* Where others read it too it is written on the way. */
        norm->kept = leati_cpu_only_reader(build, gradient) < 0 ? gradient : -1;
        leati_cpu_take(build, task, mask);
    }
    find_add(build, task, norm);
}

/* Need the features not be read, because batch_norm's own ReLU made them? */
static void find_forward(leati_cpu_build *build, leati_norm_task *norm) {
    const leati_cpu_task *task = leati_cpu_task_of(build, norm->mean);
    if (norm->features < 0 || task == NULL || task->kernel != &leati_cpu_kernel_batch_norm)
        return;
    const leati_norm_task *forward = task->state;
    /* All has to be as in the forward pass, so that the sign comes out the same to the last bit. */
    if (!forward->relu || forward->more >= 0 || forward->result != norm->features ||
        forward->mean != norm->mean || forward->variance != norm->variance ||
        forward->x != norm->x || forward->gamma != norm->gamma || forward->epsilon != norm->epsilon)
        return;
    norm->again = true;
    norm->features = -1;
    norm->beta = forward->beta;
}

static leat_status plan_operands(leati_cpu_build *build, leati_cpu_task *task,
                                 leati_norm_task *norm, leat_error *err) {
    LEATI_TRY(leati_batch_norm_task_init(build, task, norm, err));
    find_before(build, task, norm);
    find_forward(build, norm);
    const int32_t inputs[8] = {norm->gradient, norm->more, norm->features, norm->x,
                               norm->gamma,    norm->beta, norm->mean,     norm->variance};
    const int32_t outputs[4] = {norm->result, norm->to_gamma, norm->to_beta, norm->kept};
    for (int i = 0; i < 8; i++)
        (void)leati_cpu_input(task, inputs[i]);
    for (int i = 0; i < 4; i++)
        (void)leati_cpu_output(task, outputs[i]);
    return LEAT_OK;
}

static leat_status batch_norm_grad_plan(leati_cpu_build *build, leati_cpu_task *task,
                                        leat_error *err) {
    const leati_simple_node *node = task->node;
    const leati_simple_value *x = leati_cpu_value_of(build, node->inputs[1]);
    if (x->type->dtype != LEAT_FLOAT32 || x->count < 1)
        return LEAT_OK;
    leati_norm_task *norm = leati_alloc_zero(1, sizeof *norm);
    if (norm == NULL)
        return leati_no_memory(err);
    *norm = (leati_norm_task){.x = node->inputs[1],
                              .gamma = node->inputs[2],
                              .beta = -1,
                              .mean = node->inputs[3],
                              .variance = node->inputs[4],
                              .more = -1,
                              .result = node->first_output,
                              .gradient = node->inputs[0],
                              .features = -1,
                              .kept = -1,
                              .to_gamma = node->first_output + 1,
                              .to_beta = node->first_output + 2};
    task->kernel = &leati_cpu_kernel_batch_norm_grad;
    task->state = norm;
    return plan_operands(build, task, norm, err);
}

const leati_cpu_kernel leati_cpu_kernel_batch_norm_grad = {.op = &leati_tensor_op_batch_norm_grad,
                                                           .plan = batch_norm_grad_plan,
                                                           .run = batch_norm_grad_run,
                                                           .release = leati_free};
