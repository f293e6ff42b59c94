/* max_pool2d by oneDNN. Where the function also asks for the gradient, the primitive writes a
 * workspace that says which value of each window won, and max_pool2d_grad reads it. Declines other
 * dtypes and empty batches. */
#include "exec/cpu/dnnl_pool.h"

#include "base/error.h"
#include "base/minmax.h"
#include "graph/support/picture/window.h"
#include <string.h>

bool leati_dnnl_pool_init(const leati_cpu_build *build, const leati_simple_node *node,
                          int32_t input, int32_t output, leati_dnnl_pool *pool) {
    leati_conv_plan plan;
    leat_shape shape;
    memset(pool, 0, sizeof *pool);
    if (!leati_dnnl_picture(build, input, &pool->input) ||
        !leati_dnnl_picture(build, output, &pool->output) ||
        leati_window_pool_plan_init(&plan, node->source->args,
                                    &leati_cpu_value_of(build, input)->type->shape, &shape,
                                    &(leat_error){0}) != LEAT_OK)
        return false;
    const leati_window_axis *axes[2] = {&plan.y, &plan.x};
    for (int i = 0; i < 2; i++) {
        int64_t span = (axes[i]->out - 1) * axes[i]->stride + axes[i]->kernel;
        /* Below 0 the windows leave the end of the picture out. */
        int64_t after = span - axes[i]->in - axes[i]->before;
        pool->strides[i] = axes[i]->stride;
        pool->kernel[i] = axes[i]->kernel;
        pool->before[i] = axes[i]->before;
        pool->after[i] = LEATI_MAX(after, 0);
    }
    return true;
}

/* The gradient node of this pooling; -1: none. */
static int32_t find_gradient(const leati_cpu_build *build, const leati_simple_node *node) {
    int32_t grad =
        leati_cpu_next_reader(build, node->first_output, &leati_tensor_op_max_pool2d_grad, 0);
    if (grad < 0 || leati_cpu_node(build, grad)->inputs[0] != node->inputs[0] ||
        leati_cpu_node(build, grad)->inputs[1] != node->first_output)
        return -1;
    return grad;
}

static leat_status bind_workspace(leati_cpu_build *build, leati_cpu_task *task,
                                  leati_dnnl_state *state, leat_error *err) {
    const dnnl_memory_desc_t *layout = leati_dnnl_layout(&state->main, DNNL_ARG_WORKSPACE);
    size_t bytes = layout != NULL ? dnnl_memory_desc_get_size(layout) : 0;
    if (bytes == 0)
        return LEAT_OK;
    /* An output of this task and an input of the gradient's, so it lives from the one to the
     * other. */
    state->workspace = leati_cpu_extra(build, bytes, err);
    if (state->workspace < 0)
        return LEAT_RESOURCE_EXHAUSTED;
    (void)leati_cpu_output(task, state->workspace);
    return leati_dnnl_bind(&state->main, DNNL_ARG_WORKSPACE, layout, state->workspace, err);
}

static leat_status max_pool2d_plan(leati_cpu_build *build, leati_cpu_task *task, leat_error *err) {
    const leati_simple_node *node = task->node;
    leati_dnnl_pool pool;
    dnnl_pooling_v2_desc_t operation;
    leati_dnnl_op op;
    leati_dnnl_state *state;
    bool refused = false;
    if (!leati_dnnl_pool_init(build, node, node->inputs[0], node->first_output, &pool))
        return LEAT_OK;
    /* Without a gradient nobody needs to know which value won. */
    bool training = find_gradient(build, node) >= 0;
    leat_status status =
        leati_dnnl_check(dnnl_pooling_v2_forward_desc_init(
                             &operation, training ? dnnl_forward_training : dnnl_forward_inference,
                             dnnl_pooling_max, &pool.input, &pool.output, pool.strides, pool.kernel,
                             pool.dilation, pool.before, pool.after),
                         "describe a pooling", err);
    if (status == LEAT_OK)
        status = leati_dnnl_create(&op, &operation, LEATI_DNNL_NOTHING, NULL, &refused, err);
    if (status != LEAT_OK || refused)
        return status;
    status = leati_dnnl_start(task, &leati_cpu_kernel_max_pool2d, &op, &state, err);
    if (status != LEAT_OK)
        return status;
    (void)leati_cpu_input(task, node->inputs[0]);
    (void)leati_cpu_output(task, node->first_output);
    status = leati_dnnl_bind(&state->main, DNNL_ARG_SRC, &pool.input, node->inputs[0], err);
    if (status == LEAT_OK)
        status = leati_dnnl_bind(&state->main, DNNL_ARG_DST, &pool.output, node->first_output, err);
    if (status == LEAT_OK && training)
        status = bind_workspace(build, task, state, err);
    return status != LEAT_OK ? status : leati_dnnl_scratch(build, task, &state->main, err);
}

const leati_cpu_kernel leati_cpu_kernel_max_pool2d = {.op = &leati_tensor_op_max_pool2d,
                                                      .plan = max_pool2d_plan,
                                                      .here = leati_dnnl_here,
                                                      .run = leati_dnnl_task_run,
                                                      .release = leati_dnnl_task_release};
