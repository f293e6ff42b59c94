/* conv2d by oneDNN, with the bias_add and the relu that follow it fused in.
 *
 * Happy path: the filter, which the variable keeps as HWIO, is reordered into the layout that the
 * primitive chose, then the convolution runs, of a long one some pictures or strips at a time.
 * Declines other dtypes, empty batches and what only the reference implementation can do. */
#include "exec/cpu/dnnl.h"

/* What a plan knows: `strips` where the pictures are cut. */
typedef struct conv2d {
    leati_dnnl_conv geometry;
    leati_dnnl_strips strips;
    leati_cpu_followers behind;
    bool in_strips;
} conv2d;

static leat_status create(const leati_dnnl_conv *geometry, const void *context, leati_dnnl_op *op,
                          bool *refused, leat_error *err) {
    const leati_cpu_followers *behind = context;
    dnnl_convolution_desc_t operation;
    LEATI_TRY(leati_dnnl_conv_forward(geometry, behind->bias >= 0, &operation, err));
    return leati_dnnl_create(op, &operation,
                             behind->relu_node >= 0 ? LEATI_DNNL_RELU : LEATI_DNNL_NOTHING, NULL,
                             refused, err);
}

/* Makes the primitives, and the task theirs; *state stays NULL where the kernel declines. */
static leat_status start(leati_cpu_build *build, leati_cpu_task *task, conv2d *c,
                         leati_dnnl_state **state, leat_error *err) {
    leati_dnnl_op op, ops[3];
    bool refused = false;
    if (leati_dnnl_strips_find(build, task, &c->geometry, false, &c->strips))
        LEATI_TRY(
            leati_dnnl_strips_create(&c->strips, create, &c->behind, 0, ops, &c->in_strips, err));
    if (c->in_strips)
        return leati_dnnl_strips_start(task, &leati_cpu_kernel_conv2d, ops, state, err);
    leati_dnnl_conv_cut(build, task, &c->geometry);
    LEATI_TRY(create(&c->geometry, &c->behind, &op, &refused, err));
    return refused ? LEAT_OK : leati_dnnl_start(task, &leati_cpu_kernel_conv2d, &op, state, err);
}

/* Input and output of strip `which`, or of some pictures. */
static leat_status bind_pictures(const conv2d *c, const leati_cpu_task *task, leati_dnnl_op *op,
                                 int which, leat_error *err) {
    const int arguments[2] = {DNNL_ARG_SRC, DNNL_ARG_DST};
    const int32_t values[2] = {task->node->inputs[0], c->behind.result};
    for (int i = 0; i < 2; i++)
        LEATI_TRY(leati_dnnl_bind_pictures(op, arguments[i], &c->geometry,
                                           c->in_strips ? &c->strips : NULL, which, i == 0,
                                           values[i], err));
    return LEAT_OK;
}

/* Arguments of the primitives, now that their layouts are known. */
static leat_status bind(leati_cpu_build *build, leati_cpu_task *task, const conv2d *c,
                        leat_error *err) {
    leati_dnnl_state *state = task->state;
    int32_t made[3] = {-1, -1, -1};
    for (int which = c->in_strips ? 0 : 1; which < (c->in_strips ? 3 : 2); which++) {
        leati_dnnl_op *op = leati_dnnl_strip_op(state, which);
        LEATI_TRY(leati_dnnl_bind_filter(build, task, &c->geometry, task->node->inputs[1], made,
                                         which, err));
        if (c->behind.bias >= 0)
            LEATI_TRY(leati_dnnl_bind(op, DNNL_ARG_BIAS, &c->geometry.bias, c->behind.bias, err));
        LEATI_TRY(bind_pictures(c, task, op, which, err));
        LEATI_TRY(leati_dnnl_scratch(build, task, op, err));
    }
    return LEAT_OK;
}

static leat_status conv2d_plan(leati_cpu_build *build, leati_cpu_task *task, leat_error *err) {
    const leati_simple_node *node = task->node;
    leati_dnnl_state *state = NULL;
    conv2d c = {0};
    if (!leati_dnnl_conv_init(build, node, node->inputs[0], node->inputs[1], &c.geometry))
        return LEAT_OK;
    c.behind = leati_cpu_find_followers(build, node->first_output);
    leat_status status = start(build, task, &c, &state, err);
    if (status != LEAT_OK || state == NULL)
        return status;
    /* Only now that the kernel is sure of the node: a refusal must leave the others free. */
    leati_cpu_take(build, task, c.behind.bias_node);
    leati_cpu_take(build, task, c.behind.relu_node);
    (void)leati_cpu_input(task, node->inputs[0]);
    (void)leati_cpu_input(task, node->inputs[1]);
    (void)leati_cpu_input(task, c.behind.bias);
    (void)leati_cpu_output(task, c.behind.result);
    return bind(build, task, &c, err);
}

const leati_cpu_kernel leati_cpu_kernel_conv2d = {.op = &leati_tensor_op_conv2d,
                                                  .plan = conv2d_plan,
                                                  .here = leati_dnnl_here,
                                                  .run = leati_dnnl_task_run,
                                                  .release = leati_dnnl_task_release};
