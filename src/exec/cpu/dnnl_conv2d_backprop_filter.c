/* conv2d_backprop_filter by oneDNN: backward weights, and the gradient of the bias with it.
 *
 * Happy path: the primitive writes the filter's gradient in its own layout, a reorder brings it to
 * HWIO; a sum_like that sums the same gradient to a vector of the channels is computed on the way.
 * What takes long is done in parts of the batch, whose gradients are added one after the other.
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

static leat_status create(const leati_dnnl_conv *geometry, const void *context, leati_dnnl_op *op,
                          bool *refused, leat_error *err) {
    bool bias = *(const bool *)context;
    dnnl_convolution_desc_t forward, backward;
    leati_dnnl_op hint = {0};
    leat_status status = leati_dnnl_conv_forward(geometry, bias, &forward, err);
    if (status == LEAT_OK)
        /* A gradient is described with the forward primitive as a hint, which is not run. */
        status = leati_dnnl_create(&hint, &forward, LEATI_DNNL_NOTHING, NULL, refused, err);
    if (status != LEAT_OK || *refused)
        return status;
    status = leati_dnnl_check(dnnl_dilated_convolution_backward_weights_desc_init(
                                  &backward, dnnl_convolution_direct, &geometry->input,
                                  &geometry->any_filter, bias ? &geometry->bias : NULL,
                                  &geometry->output, geometry->strides, geometry->dilates,
                                  geometry->before, geometry->after),
                              "describe a convolution's gradient", err);
    if (status == LEAT_OK)
        status = leati_dnnl_create(op, &backward, LEATI_DNNL_NOTHING, hint.desc, refused, err);
    leati_dnnl_fini(&hint);
    return status;
}

/* The first pictures, all of them unless the task is cut, and a part of those behind. */
typedef struct pieces {
    leati_dnnl_conv geometry;
    leati_dnnl_op first, part;
    int64_t first_count, part_count; /* pictures; part_count 0: `part` is empty */
} pieces;

static leat_status create_piece(const pieces *p, bool bias, int64_t pictures, leati_dnnl_op *op,
                                bool *refused, leat_error *err) {
    leati_dnnl_conv cut = p->geometry;
    leati_dnnl_cut(&cut.input, pictures);
    leati_dnnl_cut(&cut.output, pictures);
    return create(&cut, &bias, op, refused, err);
}

static leat_status create_pieces(pieces *p, int64_t part, bool bias, bool *refused,
                                 leat_error *err) {
    int64_t pictures = p->geometry.pictures, more = (pictures - 1) / part * part;
    p->first_count = pictures - more;
    p->part_count = more > 0 ? part : 0;
    LEATI_TRY(create_piece(p, bias, p->first_count, &p->first, refused, err));
    if (*refused || more == 0)
        return LEAT_OK;
    leat_status status = create_piece(p, bias, part, &p->part, refused, err);
    if (status != LEAT_OK || *refused) {
        leati_dnnl_fini(&p->first);
        return status;
    }
    if (dnnl_memory_desc_equal(leati_dnnl_layout(&p->first, DNNL_ARG_DIFF_WEIGHTS),
                               leati_dnnl_layout(&p->part, DNNL_ARG_DIFF_WEIGHTS)))
        return LEAT_OK;
    /* What lies in two layouts is not added up. */
    leati_dnnl_fini(&p->first);
    leati_dnnl_fini(&p->part);
    p->first_count = pictures;
    p->part_count = 0;
    return create_piece(p, bias, pictures, &p->first, refused, err);
}

static size_t picture_bytes(const dnnl_memory_desc_t *layout) {
    return (size_t)layout->format_desc.blocking.strides[0] * sizeof(float);
}

/* The parts behind the first one: `filter` and `bias` are what they add to. */
static leat_status bind_parts(leati_cpu_build *build, leati_cpu_task *task, const pieces *p,
                              leati_dnnl_op *op, int32_t filter, int32_t bias, leat_error *err) {
    const leati_dnnl_conv *g = &p->geometry;
    const dnnl_memory_desc_t *made = leati_dnnl_layout(op, DNNL_ARG_DIFF_WEIGHTS);
    LEATI_TRY(leati_dnnl_bind_added(build, task, op, DNNL_ARG_DIFF_WEIGHTS, made, filter, err));
    if (bias >= 0)
        LEATI_TRY(leati_dnnl_bind_added(build, task, op, DNNL_ARG_DIFF_BIAS, &g->bias, bias, err));
    const struct { int argument, input; } operands[2] = {{DNNL_ARG_SRC, 0}, {DNNL_ARG_DIFF_DST, 2}};
    for (int i = 0; i < 2; i++) {
        dnnl_memory_desc_t cut = i == 0 ? g->input : g->output;
        leati_dnnl_cut(&cut, p->part_count);
        LEATI_TRY(leati_dnnl_bind_summed(op, operands[i].argument, &cut,
                                         task->node->inputs[operands[i].input], picture_bytes(&cut),
                                         p->first_count, p->part_count, g->pictures, err));
    }
    return leati_dnnl_scratch(build, task, op, err);
}

static leat_status bind(leati_cpu_build *build, leati_cpu_task *task, const pieces *p, int32_t bias,
                        leat_error *err) {
    leati_dnnl_state *state = task->state;
    leati_dnnl_op *op = p->part_count > 0 ? &state->top : &state->main;
    const leati_simple_node *node = task->node;
    const dnnl_memory_desc_t *made = leati_dnnl_layout(op, DNNL_ARG_DIFF_WEIGHTS);
    leati_dnnl_conv first = p->geometry;
    leati_dnnl_cut(&first.input, p->first_count);
    leati_dnnl_cut(&first.output, p->first_count);
    int32_t filter;
    LEATI_TRY(leati_dnnl_reorder_out(build, task, &state->after, made, &first.filter,
                                     node->first_output, &filter, err));
    LEATI_TRY(leati_dnnl_bind(op, DNNL_ARG_DIFF_WEIGHTS, made, filter, err));
    LEATI_TRY(leati_dnnl_bind(op, DNNL_ARG_SRC, &first.input, node->inputs[0], err));
    LEATI_TRY(leati_dnnl_bind(op, DNNL_ARG_DIFF_DST, &first.output, node->inputs[2], err));
    if (bias >= 0)
        LEATI_TRY(leati_dnnl_bind(op, DNNL_ARG_DIFF_BIAS, &first.bias, bias, err));
    LEATI_TRY(leati_dnnl_scratch(build, task, op, err));
    return p->part_count > 0 ? bind_parts(build, task, p, &state->main, filter, bias, err)
                             : LEAT_OK;
}

/* Of pictures that are cut, whose strips are all added up. */
static leat_status bind_strips(leati_cpu_build *build, leati_cpu_task *task, const pieces *p,
                               const leati_dnnl_strips *strips, int32_t bias, leat_error *err) {
    leati_dnnl_state *state = task->state;
    const leati_simple_node *node = task->node;
    const dnnl_memory_desc_t *made = leati_dnnl_layout(&state->main, DNNL_ARG_DIFF_WEIGHTS);
    int32_t filter;
    LEATI_TRY(leati_dnnl_reorder_out(build, task, &state->after, made, &p->geometry.filter,
                                     node->first_output, &filter, err));
    for (int which = 0; which < 3; which++) {
        leati_dnnl_op *op = leati_dnnl_strip_op(state, which);
        op->clears = which == 0;
        LEATI_TRY(leati_dnnl_bind_added(build, task, op, DNNL_ARG_DIFF_WEIGHTS, made, filter, err));
        if (bias >= 0)
            LEATI_TRY(leati_dnnl_bind_added(build, task, op, DNNL_ARG_DIFF_BIAS, &p->geometry.bias,
                                            bias, err));
        LEATI_TRY(leati_dnnl_bind_pictures(op, DNNL_ARG_SRC, &p->geometry, strips, which, true,
                                           node->inputs[0], err));
        LEATI_TRY(leati_dnnl_bind_pictures(op, DNNL_ARG_DIFF_DST, &p->geometry, strips, which,
                                           false, node->inputs[2], err));
        LEATI_TRY(leati_dnnl_scratch(build, task, op, err));
    }
    return LEAT_OK;
}

/* Makes the primitives, and the task theirs; *state stays NULL where the kernel declines. */
static leat_status start(leati_cpu_build *build, leati_cpu_task *task, pieces *p, bool bias,
                         leati_dnnl_strips *strips, bool *in_strips, leati_dnnl_state **state,
                         leat_error *err) {
    const leati_cpu_kernel *kernel = &leati_cpu_kernel_conv2d_backprop_filter;
    leati_dnnl_op ops[3];
    bool refused = false;
    if (leati_dnnl_strips_find(build, task, &p->geometry, false, strips))
        LEATI_TRY(leati_dnnl_strips_create(strips, create, &bias, DNNL_ARG_DIFF_WEIGHTS, ops,
                                           in_strips, err));
    if (*in_strips)
        return leati_dnnl_strips_start(task, kernel, ops, state, err);
    int64_t part = leati_cpu_part_of(leati_cpu_step_of(build), task, p->geometry.pictures, 1);
    LEATI_TRY(create_pieces(p, part, bias, &refused, err));
    if (refused)
        return LEAT_OK;
    bool cut = p->part_count > 0;
    leat_status status = leati_dnnl_start(task, kernel, cut ? &p->part : &p->first, state, err);
    if (status != LEAT_OK && cut)
        leati_dnnl_fini(&p->first);
    else if (cut)
        (*state)->top = p->first;
    return status;
}

static leat_status conv2d_backprop_filter_plan(leati_cpu_build *build, leati_cpu_task *task,
                                               leat_error *err) {
    const leati_simple_node *node = task->node;
    pieces p = {0};
    leati_dnnl_strips strips;
    leati_dnnl_state *state = NULL;
    bool in_strips = false;
    if (!leati_dnnl_conv_init(build, node, node->inputs[0], node->inputs[1], &p.geometry))
        return LEAT_OK;
    int32_t sum = find_bias(build, task);
    int32_t bias = sum >= 0 ? leati_cpu_node(build, sum)->first_output : -1;
    leat_status status = start(build, task, &p, bias >= 0, &strips, &in_strips, &state, err);
    if (status != LEAT_OK || state == NULL)
        return status;
    leati_cpu_take(build, task, sum);
    (void)leati_cpu_input(task, node->inputs[0]);
    (void)leati_cpu_input(task, node->inputs[2]);
    (void)leati_cpu_output(task, node->first_output);
    (void)leati_cpu_output(task, bias);
    return in_strips ? bind_strips(build, task, &p, &strips, bias, err)
                     : bind(build, task, &p, bias, err);
}

const leati_cpu_kernel leati_cpu_kernel_conv2d_backprop_filter = {
    .op = &leati_tensor_op_conv2d_backprop_filter,
    .plan = conv2d_backprop_filter_plan,
    .here = leati_dnnl_here,
    .run = leati_dnnl_task_run,
    .release = leati_dnnl_task_release};
