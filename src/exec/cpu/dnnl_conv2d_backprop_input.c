/* conv2d_backprop_input by oneDNN: backward data.
 *
 * Happy path: the filter is reordered into the primitive's layout, then the gradient of the input
 * is computed; the input itself, of which only the shape counts, is not kept alive. Declines what
 * conv2d declines. */
#include "exec/cpu/dnnl.h"

static leat_status create(const leati_dnnl_conv *geometry, leati_dnnl_op *op, bool *refused,
                          leat_error *err) {
    dnnl_convolution_desc_t forward, backward;
    leati_dnnl_op hint = {0};
    leat_status status = leati_dnnl_conv_forward(geometry, false, &forward, err);
    if (!status)
        status = leati_dnnl_create(&hint, &forward, false, NULL, refused, err);
    if (status || *refused)
        return status;
    status = leati_dnnl_check(dnnl_dilated_convolution_backward_data_desc_init(
                                  &backward, dnnl_convolution_direct, &geometry->input,
                                  &geometry->any_filter, &geometry->output, geometry->strides,
                                  geometry->dilates, geometry->before, geometry->after),
                              "describe a convolution's gradient", err);
    if (!status)
        status = leati_dnnl_create(op, &backward, false, hint.desc, refused, err);
    leati_dnnl_fini(&hint);
    return status;
}

static leat_status bind(leati_cpu_build *build, leati_cpu_task *task,
                        const leati_dnnl_conv *geometry, leat_error *err) {
    leati_dnnl_state *state = task->state;
    leati_dnnl_op *op = &state->main;
    const leati_simple_node *node = task->node;
    const dnnl_memory_desc_t *wanted = leati_dnnl_layout(op, DNNL_ARG_WEIGHTS);
    int32_t filter;
    leat_status status = leati_dnnl_reorder_in(build, task, &state->before, &geometry->filter,
                                               wanted, node->inputs[1], &filter, err);
    if (!status)
        status = leati_dnnl_bind(op, DNNL_ARG_WEIGHTS, wanted, filter, err);
    if (!status)
        status = leati_dnnl_bind(op, DNNL_ARG_DIFF_DST, &geometry->output, node->inputs[2], err);
    if (!status)
        status = leati_dnnl_bind(op, DNNL_ARG_DIFF_SRC, &geometry->input, node->first_output, err);
    return status ? status : leati_dnnl_scratch(build, task, op, err);
}

static leat_status conv2d_backprop_input_plan(leati_cpu_build *build, leati_cpu_task *task,
                                              leat_error *err) {
    const leati_simple_node *node = task->node;
    leati_dnnl_conv geometry;
    leati_dnnl_op op;
    leati_dnnl_state *state;
    bool refused = false;
    if (!leati_dnnl_conv_init(build, node, node->inputs[0], node->inputs[1], &geometry))
        return LEAT_OK;
    leat_status status = create(&geometry, &op, &refused, err);
    if (status || refused)
        return status;
    status = leati_dnnl_start(task, &leati_cpu_kernel_conv2d_backprop_input, &op, &state, err);
    if (status)
        return status;
    (void)leati_cpu_input(task, node->inputs[1]);
    (void)leati_cpu_input(task, node->inputs[2]);
    (void)leati_cpu_output(task, node->first_output);
    return bind(build, task, &geometry, err);
}

const leati_cpu_kernel leati_cpu_kernel_conv2d_backprop_input = {.op = "conv2d_backprop_input",
                                                                 .plan = conv2d_backprop_input_plan,
                                                                 .run = leati_dnnl_task_run,
                                                                 .release =
                                                                     leati_dnnl_task_release};
