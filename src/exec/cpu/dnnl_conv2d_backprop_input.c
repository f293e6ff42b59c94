/* conv2d_backprop_input by oneDNN: backward data.
 *
 * Happy path: the filter is reordered into the primitive's layout, then the gradient of the input
 * is computed; the input itself, of which only the shape counts, is not kept alive. For filters of
 * one pixel that is a convolution forward by the filter transposed, for which oneDNN has faster
 * kernels. Declines what conv2d declines. */
#include "exec/cpu/dnnl.h"

/* One pixel of the gradient makes one of the result. */
static bool is_pointwise(const leati_dnnl_conv *conv) {
    bool one = conv->filter.ndims == 4; /* no groups */
    for (int i = 0; i < 2; i++)
        one = one && conv->filter.dims[2 + i] == 1 && conv->strides[i] == 1 &&
              conv->before[i] == 0 && conv->after[i] == 0;
    return one;
}

/* The convolution that goes from the gradient to the result; false on what oneDNN refuses. */
static bool transpose(const leati_dnnl_conv *from, leati_dnnl_conv *to) {
    dnnl_dim_t filters = from->filter.dims[0], channels = from->filter.dims[1];
    const dnnl_dims_t sizes = {channels, filters, 1, 1};
    /* Dimensions change places, the memory stays: [1, 1, channels, filters] read as its
     * transpose. */
    const dnnl_dims_t steps = {filters, 1, channels * filters, channels * filters};
    *to = *from;
    to->input = from->output;
    to->output = from->input;
    return !dnnl_memory_desc_init_by_strides(&to->filter, 4, sizes, dnnl_f32, steps) &&
           !dnnl_memory_desc_init_by_tag(&to->any_filter, 4, sizes, dnnl_f32, dnnl_format_tag_any);
}

static leat_status create(const leati_dnnl_conv *geometry, leati_dnnl_op *op, bool *refused,
                          leat_error *err) {
    dnnl_convolution_desc_t forward, backward;
    leati_dnnl_op hint = {0};
    leat_status status = leati_dnnl_conv_forward(geometry, false, &forward, err);
    if (status == LEAT_OK)
        status = leati_dnnl_create(&hint, &forward, false, NULL, refused, err);
    if (status != LEAT_OK || *refused)
        return status;
    status = leati_dnnl_check(dnnl_dilated_convolution_backward_data_desc_init(
                                  &backward, dnnl_convolution_direct, &geometry->input,
                                  &geometry->any_filter, &geometry->output, geometry->strides,
                                  geometry->dilates, geometry->before, geometry->after),
                              "describe a convolution's gradient", err);
    if (status == LEAT_OK)
        status = leati_dnnl_create(op, &backward, false, hint.desc, refused, err);
    leati_dnnl_fini(&hint);
    return status;
}

/* `forward`: by the transposed convolution. */
static leat_status bind(leati_cpu_build *build, leati_cpu_task *task,
                        const leati_dnnl_conv *geometry, bool forward, leat_error *err) {
    leati_dnnl_state *state = task->state;
    leati_dnnl_op *op = &state->main;
    const leati_simple_node *node = task->node;
    const dnnl_memory_desc_t *wanted = leati_dnnl_layout(op, DNNL_ARG_WEIGHTS);
    int32_t filter;
    leat_status status = leati_dnnl_reorder_in(build, task, &state->before, &geometry->filter,
                                               wanted, node->inputs[1], &filter, err);
    if (status == LEAT_OK)
        status = leati_dnnl_bind(op, DNNL_ARG_WEIGHTS, wanted, filter, err);
    if (status == LEAT_OK)
        status = leati_dnnl_bind_rows(op, forward ? DNNL_ARG_SRC : DNNL_ARG_DIFF_DST,
                                      forward ? &geometry->input : &geometry->output,
                                      node->inputs[2], geometry->pictures, err);
    if (status == LEAT_OK)
        status = leati_dnnl_bind_rows(op, forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_SRC,
                                      forward ? &geometry->output : &geometry->input,
                                      node->first_output, geometry->pictures, err);
    return status != LEAT_OK ? status : leati_dnnl_scratch(build, task, op, err);
}

static leat_status create_forward(const leati_dnnl_conv *geometry, leati_dnnl_op *op, bool *refused,
                                  leat_error *err) {
    dnnl_convolution_desc_t operation;
    leat_status status = leati_dnnl_conv_forward(geometry, false, &operation, err);
    return status != LEAT_OK ? status
                             : leati_dnnl_create(op, &operation, false, NULL, refused, err);
}

static leat_status conv2d_backprop_input_plan(leati_cpu_build *build, leati_cpu_task *task,
                                              leat_error *err) {
    const leati_simple_node *node = task->node;
    leati_dnnl_conv geometry, turned;
    leati_dnnl_op op;
    leati_dnnl_state *state;
    bool refused = false;
    if (!leati_dnnl_conv_init(build, node, node->inputs[0], node->inputs[1], &geometry))
        return LEAT_OK;
    leati_dnnl_conv_cut(build, task, &geometry);
    bool forward = is_pointwise(&geometry) && transpose(&geometry, &turned);
    leat_status status = forward ? create_forward(&turned, &op, &refused, err)
                                 : create(&geometry, &op, &refused, err);
    if (status != LEAT_OK || refused)
        return status;
    status = leati_dnnl_start(task, &leati_cpu_kernel_conv2d_backprop_input, &op, &state, err);
    if (status != LEAT_OK)
        return status;
    (void)leati_cpu_input(task, node->inputs[1]);
    (void)leati_cpu_input(task, node->inputs[2]);
    (void)leati_cpu_output(task, node->first_output);
    return bind(build, task, forward ? &turned : &geometry, forward, err);
}

const leati_cpu_kernel leati_cpu_kernel_conv2d_backprop_input = {
    .op = &leati_tensor_op_conv2d_backprop_input,
    .plan = conv2d_backprop_input_plan,
    .here = leati_dnnl_here,
    .run = leati_dnnl_task_run,
    .release = leati_dnnl_task_release};
