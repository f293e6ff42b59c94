/* conv2d_backprop_filter by oneDNN: backward weights, and the gradient of the bias with it.
 *
 * Happy path: the primitive writes the filter's gradient in its own layout, a reorder brings it to
 * HWIO; a sum_like that sums the same gradient to a vector of the channels is computed on the way.
 * Declines what conv2d declines. */
#include "base/minmax.h"
#include "exec/cpu/dnnl.h"

/* The node that sums the gradient down to the bias, if it can be computed together with `task`:
 * nothing between the two may need what the task makes. -1: none. */
static int32_t find_bias(const leati_cpu_build *build, const leati_cpu_task *task) {
    int32_t gradient = task->node->inputs[2];
    int32_t sum = leati_cpu_next_reader(build, gradient, &leati_tensor_op_sum_like, 0);
    if (sum < 0 || leati_cpu_node(build, sum)->inputs[0] != gradient)
        return -1;
    const leat_shape *from = &leati_cpu_value_of(build, gradient)->type->shape;
    int32_t out = leati_cpu_node(build, sum)->first_output;
    const leat_shape *shape = &leati_cpu_value_of(build, out)->type->shape;
    if (shape->rank != 1 || shape->dims[0] != from->dims[3])
        return -1;
    /* The task runs where the later of both stands. */
    int32_t last = LEATI_MAX(sum, task->last);
    bool early = leati_cpu_read_before(build, out, last) ||
                 leati_cpu_read_before(build, task->node->first_output, last);
    return early ? -1 : sum;
}

static leat_status create(const leati_dnnl_conv *geometry, bool bias, leati_dnnl_op *op,
                          bool *refused, leat_error *err) {
    dnnl_convolution_desc_t forward, backward;
    leati_dnnl_op hint = {0};
    leat_status status = leati_dnnl_conv_forward(geometry, bias, &forward, err);
    if (status == LEAT_OK)
        /* A gradient is described with the forward primitive as a hint, which is not run. */
        status = leati_dnnl_create(&hint, &forward, false, NULL, refused, err);
    if (status != LEAT_OK || *refused)
        return status;
    status = leati_dnnl_check(dnnl_dilated_convolution_backward_weights_desc_init(
                                  &backward, dnnl_convolution_direct, &geometry->input,
                                  &geometry->any_filter, bias ? &geometry->bias : NULL,
                                  &geometry->output, geometry->strides, geometry->dilates,
                                  geometry->before, geometry->after),
                              "describe a convolution's gradient", err);
    if (status == LEAT_OK)
        status = leati_dnnl_create(op, &backward, false, hint.desc, refused, err);
    leati_dnnl_fini(&hint);
    return status;
}

static leat_status bind(leati_cpu_build *build, leati_cpu_task *task,
                        const leati_dnnl_conv *geometry, int32_t bias, leat_error *err) {
    leati_dnnl_state *state = task->state;
    leati_dnnl_op *op = &state->main;
    const leati_simple_node *node = task->node;
    const dnnl_memory_desc_t *made = leati_dnnl_layout(op, DNNL_ARG_DIFF_WEIGHTS);
    int32_t filter;
    leat_status status = leati_dnnl_reorder_out(build, task, &state->after, made, &geometry->filter,
                                                node->first_output, &filter, err);
    if (status == LEAT_OK)
        status = leati_dnnl_bind(op, DNNL_ARG_DIFF_WEIGHTS, made, filter, err);
    if (status == LEAT_OK)
        status = leati_dnnl_bind(op, DNNL_ARG_SRC, &geometry->input, node->inputs[0], err);
    if (status == LEAT_OK)
        status = leati_dnnl_bind(op, DNNL_ARG_DIFF_DST, &geometry->output, node->inputs[2], err);
    if (status == LEAT_OK && bias >= 0)
        status = leati_dnnl_bind(op, DNNL_ARG_DIFF_BIAS, &geometry->bias, bias, err);
    return status != LEAT_OK ? status : leati_dnnl_scratch(build, task, op, err);
}

static leat_status conv2d_backprop_filter_plan(leati_cpu_build *build, leati_cpu_task *task,
                                               leat_error *err) {
    const leati_simple_node *node = task->node;
    leati_dnnl_conv geometry;
    leati_dnnl_op op;
    leati_dnnl_state *state;
    bool refused = false;
    if (!leati_dnnl_conv_init(build, node, node->inputs[0], node->inputs[1], &geometry))
        return LEAT_OK;
    int32_t sum = find_bias(build, task);
    int32_t bias = sum >= 0 ? leati_cpu_node(build, sum)->first_output : -1;
    leat_status status = create(&geometry, bias >= 0, &op, &refused, err);
    if (status != LEAT_OK || refused)
        return status;
    status = leati_dnnl_start(task, &leati_cpu_kernel_conv2d_backprop_filter, &op, &state, err);
    if (status != LEAT_OK)
        return status;
    leati_cpu_take(build, task, sum);
    (void)leati_cpu_input(task, node->inputs[0]);
    (void)leati_cpu_input(task, node->inputs[2]);
    (void)leati_cpu_output(task, node->first_output);
    (void)leati_cpu_output(task, bias);
    return bind(build, task, &geometry, bias, err);
}

const leati_cpu_kernel leati_cpu_kernel_conv2d_backprop_filter = {
    .op = &leati_tensor_op_conv2d_backprop_filter,
    .plan = conv2d_backprop_filter_plan,
    .here = leati_dnnl_here,
    .run = leati_dnnl_task_run,
    .release = leati_dnnl_task_release};
