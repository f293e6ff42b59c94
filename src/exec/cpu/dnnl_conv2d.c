/* conv2d by oneDNN, with the bias_add and the relu that follow it fused in.
 *
 * Happy path: the filter, which the variable keeps as HWIO, is reordered into the layout that the
 * primitive chose, then the convolution runs, of a long one some pictures at a time. Declines other
 * dtypes, empty batches and what only the reference implementation can do. */
#include "exec/cpu/dnnl.h"

/* Arguments of the primitive, now that its layouts are known. */
static leat_status bind(leati_cpu_build *build, leati_cpu_task *task,
                        const leati_dnnl_conv *geometry, const leati_cpu_followers *behind,
                        leat_error *err) {
    leati_dnnl_state *state = task->state;
    leati_dnnl_op *op = &state->main;
    int32_t filter, input = task->node->inputs[0];
    const dnnl_memory_desc_t *wanted = leati_dnnl_layout(op, DNNL_ARG_WEIGHTS);
    leat_status status = leati_dnnl_reorder_in(build, task, &state->before, &geometry->filter,
                                               wanted, task->node->inputs[1], &filter, err);
    if (status == LEAT_OK)
        status = leati_dnnl_bind(op, DNNL_ARG_WEIGHTS, wanted, filter, err);
    if (status == LEAT_OK)
        status = leati_dnnl_bind_rows(op, DNNL_ARG_SRC, &geometry->input, input, geometry->pictures,
                                      err);
    if (status == LEAT_OK && behind->bias >= 0)
        status = leati_dnnl_bind(op, DNNL_ARG_BIAS, &geometry->bias, behind->bias, err);
    if (status == LEAT_OK)
        status = leati_dnnl_bind_rows(op, DNNL_ARG_DST, &geometry->output, behind->result,
                                      geometry->pictures, err);
    return status != LEAT_OK ? status : leati_dnnl_scratch(build, task, op, err);
}

static leat_status conv2d_plan(leati_cpu_build *build, leati_cpu_task *task, leat_error *err) {
    const leati_simple_node *node = task->node;
    leati_dnnl_conv geometry;
    dnnl_convolution_desc_t operation;
    leati_dnnl_op op;
    leati_dnnl_state *state;
    bool refused = false;
    if (!leati_dnnl_conv_init(build, node, node->inputs[0], node->inputs[1], &geometry))
        return LEAT_OK;
    leati_dnnl_conv_cut(build, task, &geometry);
    leati_cpu_followers behind = leati_cpu_find_followers(build, node->first_output);
    leat_status status = leati_dnnl_conv_forward(&geometry, behind.bias >= 0, &operation, err);
    if (status == LEAT_OK)
        status = leati_dnnl_create(&op, &operation, behind.relu_node >= 0, NULL, &refused, err);
    if (status != LEAT_OK || refused)
        return status;
    status = leati_dnnl_start(task, &leati_cpu_kernel_conv2d, &op, &state, err);
    if (status != LEAT_OK)
        return status;
    /* Only now that the kernel is sure of the node: a refusal must leave the others free. */
    leati_cpu_take(build, task, behind.bias_node);
    leati_cpu_take(build, task, behind.relu_node);
    (void)leati_cpu_input(task, node->inputs[0]);
    (void)leati_cpu_input(task, node->inputs[1]);
    (void)leati_cpu_input(task, behind.bias);
    (void)leati_cpu_output(task, behind.result);
    return bind(build, task, &geometry, &behind, err);
}

const leati_cpu_kernel leati_cpu_kernel_conv2d = {.op = &leati_tensor_op_conv2d,
                                                  .plan = conv2d_plan,
                                                  .here = leati_dnnl_here,
                                                  .run = leati_dnnl_task_run,
                                                  .release = leati_dnnl_task_release};
