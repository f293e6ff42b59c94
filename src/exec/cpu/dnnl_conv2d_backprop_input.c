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

/* What a plan knows: `strips` where the pictures are cut. */
typedef struct by_input {
    leati_dnnl_conv geometry;
    leati_dnnl_strips strips;
    bool forward; /* by the transposed convolution, whose geometry it is */
    bool in_strips;
} by_input;

static leat_status create(const leati_dnnl_conv *geometry, const void *context, leati_dnnl_op *op,
                          bool *refused, leat_error *err) {
    dnnl_convolution_desc_t forward, backward;
    leati_dnnl_op hint = {0};
    LEATI_TRY(leati_dnnl_conv_forward(geometry, false, &forward, err));
    if (*(const bool *)context)
        return leati_dnnl_create(op, &forward, LEATI_DNNL_NOTHING, NULL, refused, err);
    leat_status status = leati_dnnl_create(&hint, &forward, LEATI_DNNL_NOTHING, NULL, refused, err);
    if (status != LEAT_OK || *refused)
        return status;
    status = leati_dnnl_check(dnnl_dilated_convolution_backward_data_desc_init(
                                  &backward, dnnl_convolution_direct, &geometry->input,
                                  &geometry->any_filter, &geometry->output, geometry->strides,
                                  geometry->dilates, geometry->before, geometry->after),
                              "describe a convolution's gradient", err);
    if (status == LEAT_OK)
        status = leati_dnnl_create(op, &backward, LEATI_DNNL_NOTHING, hint.desc, refused, err);
    leati_dnnl_fini(&hint);
    return status;
}

/* Makes the primitives, and the task theirs; *state stays NULL where the kernel declines. */
static leat_status start(leati_cpu_build *build, leati_cpu_task *task, by_input *c,
                         leati_dnnl_state **state, leat_error *err) {
    const leati_cpu_kernel *kernel = &leati_cpu_kernel_conv2d_backprop_input;
    leati_dnnl_op op, ops[3];
    bool refused = false;
    /* Of a transposed one the output is what is made. */
    if (leati_dnnl_strips_find(build, task, &c->geometry, !c->forward, &c->strips))
        LEATI_TRY(
            leati_dnnl_strips_create(&c->strips, create, &c->forward, 0, ops, &c->in_strips, err));
    if (c->in_strips)
        return leati_dnnl_strips_start(task, kernel, ops, state, err);
    leati_dnnl_conv_cut(build, task, &c->geometry);
    LEATI_TRY(create(&c->geometry, &c->forward, &op, &refused, err));
    return refused ? LEAT_OK : leati_dnnl_start(task, kernel, &op, state, err);
}

/* The gradient and the result of strip `which`, or of some pictures. */
static leat_status bind_pictures(const by_input *c, const leati_cpu_task *task, leati_dnnl_op *op,
                                 int which, leat_error *err) {
    const int arguments[2] = {c->forward ? DNNL_ARG_SRC : DNNL_ARG_DIFF_DST,
                              c->forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_SRC};
    const int32_t values[2] = {task->node->inputs[2], task->node->first_output};
    for (int i = 0; i < 2; i++)
        LEATI_TRY(leati_dnnl_bind_pictures(op, arguments[i], &c->geometry,
                                           c->in_strips ? &c->strips : NULL, which,
                                           c->forward == (i == 0), values[i], err));
    return LEAT_OK;
}

static leat_status bind(leati_cpu_build *build, leati_cpu_task *task, const by_input *c,
                        leat_error *err) {
    leati_dnnl_state *state = task->state;
    int32_t made[3] = {-1, -1, -1};
    for (int which = c->in_strips ? 0 : 1; which < (c->in_strips ? 3 : 2); which++) {
        leati_dnnl_op *op = leati_dnnl_strip_op(state, which);
        LEATI_TRY(leati_dnnl_bind_filter(build, task, &c->geometry, task->node->inputs[1], made,
                                         which, err));
        LEATI_TRY(bind_pictures(c, task, op, which, err));
        LEATI_TRY(leati_dnnl_scratch(build, task, op, err));
    }
    return LEAT_OK;
}

static leat_status conv2d_backprop_input_plan(leati_cpu_build *build, leati_cpu_task *task,
                                              leat_error *err) {
    const leati_simple_node *node = task->node;
    leati_dnnl_conv turned;
    leati_dnnl_state *state = NULL;
    by_input c = {0};
    if (!leati_dnnl_conv_init(build, node, node->inputs[0], node->inputs[1], &c.geometry))
        return LEAT_OK;
    c.forward = is_pointwise(&c.geometry) && transpose(&c.geometry, &turned);
    if (c.forward)
        c.geometry = turned;
    leat_status status = start(build, task, &c, &state, err);
    if (status != LEAT_OK || state == NULL)
        return status;
    (void)leati_cpu_input(task, node->inputs[1]);
    (void)leati_cpu_input(task, node->inputs[2]);
    (void)leati_cpu_output(task, node->first_output);
    return bind(build, task, &c, err);
}

const leati_cpu_kernel leati_cpu_kernel_conv2d_backprop_input = {
    .op = &leati_tensor_op_conv2d_backprop_input,
    .plan = conv2d_backprop_input_plan,
    .here = leati_dnnl_here,
    .run = leati_dnnl_task_run,
    .release = leati_dnnl_task_release};
