/* max_pool2d_grad behind a pooling of max_pool2d_apart.c: each window's gradient goes to the place
 * that won. A relu_grad behind it whose features are the pooling's input is computed on the way:
 * the winner is positive exactly if the pooling's result is, and the others get nothing.
 *
 * Neither the pooling's input nor, without that relu_grad, its output is kept alive. Declines where
 * the pooling is another's. */
#include "exec/cpu/max_pool2d_apart.h"

#include "base/error.h"
#include "run/crew.h"
#include <string.h>

struct apart_grad {
    leati_conv_plan plan;
    int32_t gradient, winners, result; /* values */
    int32_t output;                    /* the pooling's, for relu_grad; -1: no relu_grad */
    bool covered;                      /* windows cover every pixel */
};

/* What place `number` of a window gets: g where it won, and the result is positive if `output` is
 * given. */
static void send(const float *g, const float *output, const int32_t *winners, int32_t number,
                 int64_t n, float *to) {
    int64_t c = 0;
    for (; c + LEATI_LANES <= n; c += LEATI_LANES) {
        leati_ints_lane value, won;
        memcpy(&value, g + c, sizeof value);
        memcpy(&won, winners + c, sizeof won);
        /* A comparison of lanes gives all ones or zeros. */
        value &= won == number;
        if (output != NULL) {
            leati_floats_lane result;
            memcpy(&result, output + c, sizeof result);
            value &= result > 0;
        }
        memcpy(to + c, &value, sizeof value);
    }
    for (; c < n; c++)
        to[c] = winners[c] == number && (output == NULL || output[c] > 0) ? g[c] : 0;
}

struct grad_run {
    const leati_conv_plan *plan;
    const float *g, *output;
    const int32_t *winners;
    float *result;
};

/* What one line of windows sends. */
static void send_line(void *data, int64_t line) {
    const struct grad_run *run = data;
    const leati_conv_plan *plan = run->plan;
    const float *g = run->g, *output = run->output;
    const int32_t *winners = run->winners;
    float *result = run->result;
    int64_t c = plan->channels, first = line * plan->x.out;
    for (int64_t p = first; p < first + plan->x.out; p++) {
        leati_pool_window w = leati_max_pool2d_window_at(plan, p);
        for (int64_t y = 0; y < w.height; y++)
            for (int64_t x = 0; x < w.width; x++) {
                int32_t number = w.number + (int32_t)(y * plan->x.kernel + x);
                float *to = result + (w.first + y * plan->x.in + x) * c;
                send(g + p * c, output != NULL ? output + p * c : NULL, winners + p * c, number, c,
                     to);
            }
    }
}

static leat_status run(leati_cpu_step *step, leati_cpu_task *task, leat_error *err) {
    (void)err;
    const struct apart_grad *grad = task->state;
    const leati_conv_plan *plan = &grad->plan;
    struct grad_run run = {
        .plan = plan,
        .g = (const float *)(const void *)step->data[grad->gradient],
        .output = grad->output >= 0 ? (const float *)(const void *)step->data[grad->output] : NULL,
        .winners = (const int32_t *)(const void *)step->data[grad->winners],
        .result = (float *)(void *)step->data[grad->result]};
    size_t pixels = (size_t)(plan->batch * plan->y.in * plan->x.in * plan->channels);
    if (!grad->covered)
        memset(run.result, 0, pixels * sizeof *run.result);
    leati_crew_share_among(task->threads, plan->batch * plan->y.out, send_line, &run);
    return LEAT_OK;
}

/* Do the windows cover all of this direction? */
static bool covers(const leati_window_axis *axis) {
    return axis->kernel == axis->stride && axis->out * axis->stride - axis->before >= axis->in;
}

static leat_status plan(leati_cpu_build *build, leati_cpu_task *task, leat_error *err) {
    const leati_simple_node *node = task->node;
    const leati_cpu_task *pooling = leati_cpu_task_of(build, node->inputs[1]);
    if (pooling == NULL || pooling->kernel != &leati_cpu_kernel_max_pool2d_apart ||
        pooling->node->inputs[0] != node->inputs[0])
        return LEAT_OK;
    const leati_pool_apart *pool = pooling->state;
    struct apart_grad *grad = leati_alloc(1, sizeof *grad);
    if (grad == NULL)
        return leati_no_memory(err);
    *grad = (struct apart_grad){.plan = pool->plan,
                                .gradient = node->inputs[2],
                                .winners = pool->winners,
                                .result = node->first_output,
                                .output = -1,
                                .covered = covers(&pool->plan.y) && covers(&pool->plan.x)};
    int32_t relu = leati_cpu_only_reader(build, node->first_output);
    const leati_simple_node *next = relu >= 0 ? leati_cpu_node(build, relu) : NULL;
    if (next != NULL && next->source->op == &leati_tensor_op_relu_grad &&
        next->inputs[0] == node->first_output && next->inputs[1] == node->inputs[0]) {
        leati_cpu_take(build, task, relu);
        grad->result = next->first_output;
        grad->output = node->inputs[1];
    }
    task->kernel = &leati_cpu_kernel_max_pool2d_apart_grad;
    task->state = grad;
    strcpy(task->implementation, grad->output >= 0 ? "apart, relu_grad" : "apart");
    (void)leati_cpu_input(task, grad->gradient);
    (void)leati_cpu_input(task, grad->winners);
    (void)leati_cpu_input(task, grad->output);
    (void)leati_cpu_output(task, grad->result);
    return LEAT_OK;
}

const leati_cpu_kernel leati_cpu_kernel_max_pool2d_apart_grad = {
    .op = &leati_tensor_op_max_pool2d_grad, .plan = plan, .run = run, .release = leati_free};
