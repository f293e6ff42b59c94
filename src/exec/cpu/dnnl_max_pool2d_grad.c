/* max_pool2d_grad by oneDNN, from the workspace that max_pool2d left; neither input nor output of
 * the pooling is kept alive. Declines where the pooling was not computed by oneDNN. */
#include "exec/cpu/dnnl_pool.h"

static leat_status bind(leati_cpu_build *build, leati_cpu_task *task, const leati_dnnl_pool *pool,
                        leati_dnnl_state *forward, leat_error *err) {
    leati_dnnl_state *state = task->state;
    const leati_simple_node *node = task->node;
    const dnnl_memory_desc_t *layout = leati_dnnl_layout(&forward->main, DNNL_ARG_WORKSPACE);
    leat_status status =
        leati_dnnl_bind(&state->main, DNNL_ARG_DIFF_DST, &pool->output, node->inputs[2], err);
    if (status == LEAT_OK)
        status =
            leati_dnnl_bind(&state->main, DNNL_ARG_DIFF_SRC, &pool->input, node->first_output, err);
    if (status == LEAT_OK)
        status = leati_dnnl_bind(&state->main, DNNL_ARG_WORKSPACE, layout, forward->workspace, err);
    return status != LEAT_OK ? status : leati_dnnl_scratch(build, task, &state->main, err);
}

static leat_status max_pool2d_grad_plan(leati_cpu_build *build, leati_cpu_task *task,
                                        leat_error *err) {
    const leati_simple_node *node = task->node;
    const leati_cpu_task *pooling = leati_cpu_task_of(build, node->inputs[1]);
    leati_dnnl_pool pool;
    dnnl_pooling_v2_desc_t operation;
    leati_dnnl_op op;
    leati_dnnl_state *state;
    bool refused = false;
    if (pooling == NULL || pooling->kernel != &leati_cpu_kernel_max_pool2d ||
        pooling->node->inputs[0] != node->inputs[0] ||
        !leati_dnnl_pool_init(build, node, node->inputs[0], node->inputs[1], &pool))
        return LEAT_OK;
    leati_dnnl_state *forward = pooling->state;
    /* oneDNN needed none, or the gradient was not found when the pooling was planned. */
    if (forward->workspace < 0)
        return LEAT_OK;
    leat_status status =
        leati_dnnl_check(dnnl_pooling_v2_backward_desc_init(
                             &operation, dnnl_pooling_max, &pool.input, &pool.output, pool.strides,
                             pool.kernel, pool.dilation, pool.before, pool.after),
                         "describe a pooling's gradient", err);
    if (status == LEAT_OK)
        status = leati_dnnl_create(&op, &operation, LEATI_DNNL_NOTHING, forward->main.desc,
                                   &refused, err);
    if (status != LEAT_OK || refused)
        return status;
    status = leati_dnnl_start(task, &leati_cpu_kernel_max_pool2d_grad, &op, &state, err);
    if (status != LEAT_OK)
        return status;
    (void)leati_cpu_input(task, node->inputs[2]);
    (void)leati_cpu_input(task, forward->workspace);
    (void)leati_cpu_output(task, node->first_output);
    return bind(build, task, &pool, forward, err);
}

const leati_cpu_kernel leati_cpu_kernel_max_pool2d_grad = {.op = &leati_tensor_op_max_pool2d_grad,
                                                           .plan = max_pool2d_grad_plan,
                                                           .here = leati_dnnl_here,
                                                           .run = leati_dnnl_task_run,
                                                           .release = leati_dnnl_task_release};
