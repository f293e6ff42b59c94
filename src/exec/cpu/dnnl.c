/* oneDNN's engine, streams, primitives and reorders.
 *
 * One engine per process; a stream per step; primitives are made while a step is compiled, under
 * the task's number of threads, because some results depend in their last bits on the number at
 * that time. Memory objects are handles whose addresses are set before each run. A primitive that
 * only the reference implementation serves is refused: our plain kernels are faster. Failures are
 * INTERNAL with oneDNN's status. Locks: oneDNN's own around its cache of primitives. */
#include "exec/cpu/dnnl.h"

#include "base/error.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "graph/support/picture/window.h"
#include "run/crew.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROOM ((size_t)32 << 20) /* bytes */

/* Of libgomp, whose header comes with a compiler's OpenMP support only. */
extern void omp_set_num_threads(int count);
extern int omp_get_max_threads(void);

leati_module leati_dnnl_module = {
    .file = "libleat_dnnl.so", .library = "oneDNN", .size = sizeof(leati_dnnl)};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static dnnl_engine_t engine; /* written once; lives as long as the process */
enum { UNKNOWN, THERE, ABSENT };
static atomic_int found = UNKNOWN;

leat_status leati_dnnl_here(bool *out, leat_error *err) {
    leat_error why = {0};
    if (atomic_load_explicit(&found, memory_order_acquire) == UNKNOWN) {
        leat_status status = leati_module_load(&leati_dnnl_module, &why);
        if (status == LEAT_RESOURCE_EXHAUSTED)
            return leati_error_pass(err, &why);
        int before = atomic_exchange(&found, status == LEAT_OK ? THERE : ABSENT);
        if (status != LEAT_OK && before == UNKNOWN)
            leati_log(
                LEAT_LOG_WARNING,
                "convolutions, pooling and matrix products run on plain kernels, which are slower: "
                "%s; from the Python index it comes by pip install 'libleat[train]'",
                why.text);
    }
    *out = atomic_load_explicit(&found, memory_order_acquire) == THERE;
    return LEAT_OK;
}

static void make_engine(void) {
    if (dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success)
        engine = NULL;
}

int leati_cpu_set_threads(int count) {
    if (!leati_crew_is_whole())
        count = 1;
    int before = omp_get_max_threads();
    if (before != count)
        omp_set_num_threads(count);
    return before;
}

void leati_cpu_stream_free(void *stream) {
    if (stream != NULL)
        (void)dnnl_stream_destroy(stream);
}

leat_status leati_dnnl_check(dnnl_status_t status, const char *what, leat_error *err) {
    static const char *const names[] = {"success",          "out of memory", "invalid arguments",
                                        "unimplemented",    "end of list",   "runtime error",
                                        "invalid operation"};
    if (status == dnnl_success)
        return LEAT_OK;
    size_t known = sizeof names / sizeof *names;
    return leati_fail(err, status == dnnl_out_of_memory ? LEAT_RESOURCE_EXHAUSTED : LEAT_INTERNAL,
                      "oneDNN could not %s: %s; LEAT_CPU_KERNELS=plain does without it", what,
                      (size_t)status < known ? names[status] : "unknown status");
}

static leat_status open_stream(leati_cpu_step *step, leat_error *err) {
    if (step->stream != NULL)
        return LEAT_OK;
    dnnl_stream_t stream = NULL;
    leat_status status = leati_dnnl_check(
        dnnl_stream_create(&stream, engine, dnnl_stream_default_flags), "make a stream", err);
    step->stream = stream;
    return status;
}

/* ---- primitives ---- */

static leat_status make_attributes(leati_dnnl_behind behind, dnnl_primitive_attr_t *out,
                                   leat_error *err) {
    dnnl_primitive_attr_t attributes = NULL;
    dnnl_post_ops_t after = NULL;
    dnnl_status_t status = dnnl_primitive_attr_create(&attributes);
    if (!status)
        /* The step plans the scratch with its other memory; the library would allocate it in each
         * run. */
        status = dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user);
    if (!status && behind != LEATI_DNNL_NOTHING) {
        status = dnnl_post_ops_create(&after);
        if (!status && behind == LEATI_DNNL_SUM)
            status = dnnl_post_ops_append_sum(after, 1.0f);
        else if (!status)
            status = dnnl_post_ops_append_eltwise(after, 1.0f, dnnl_eltwise_relu, 0.0f, 0.0f);
        if (!status)
            status = dnnl_primitive_attr_set_post_ops(attributes, after);
        if (after != NULL)
            (void)dnnl_post_ops_destroy(after);
    }
    if (status && attributes != NULL)
        (void)dnnl_primitive_attr_destroy(attributes);
    else
        *out = attributes;
    return leati_dnnl_check(status, "set attributes", err);
}

static const char *name_of(const leati_dnnl_op *op) {
    const char *name = NULL;
    if (dnnl_primitive_desc_query(op->desc, dnnl_query_impl_info_str, 0, &name) != dnnl_success)
        name = NULL;
    return name != NULL ? name : "?";
}

/* oneDNN's generators of code end the process where there is no memory for it, so room for what
 * they may ask for is tried before. */
static leat_status check_room(leat_error *err) {
    void *room = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return leati_no_memory(err);
    (void)munmap(room, ROOM);
    return LEAT_OK;
}

leat_status leati_dnnl_create(leati_dnnl_op *op, const_dnnl_op_desc_t operation,
                              leati_dnnl_behind behind, const_dnnl_primitive_desc_t hint,
                              bool *refused, leat_error *err) {
    static int logged;
    *op = (leati_dnnl_op){0};
    *refused = false;
    dnnl_primitive_attr_t attributes = NULL;
    leat_status status = check_room(err);
    if (status != LEAT_OK)
        return status;
    pthread_once(&once, make_engine);
    status = make_attributes(behind, &attributes, err);
    if (status != LEAT_OK)
        return status;
    dnnl_status_t made = dnnl_primitive_desc_create(&op->desc, operation, attributes, engine, hint);
    (void)dnnl_primitive_attr_destroy(attributes);
    if (made == dnnl_unimplemented) {
        *refused = true;
        return LEAT_OK;
    }
    status = leati_dnnl_check(made, "describe a primitive", err);
    /* oneDNN names its reference implementations "ref:any" and the like. */
    if (status == LEAT_OK && strncmp(name_of(op), "ref", 3) == 0) {
        leati_log_once(&logged, LEAT_LOG_INFO,
                       "oneDNN has only its reference implementation (%s) for some operation on "
                       "this machine; leat uses its plain kernels there",
                       name_of(op));
        *refused = true;
        leati_dnnl_fini(op);
        return LEAT_OK;
    }
    if (status == LEAT_OK)
        status = leati_dnnl_check(dnnl_primitive_create(&op->primitive, op->desc),
                                  "make a primitive", err);
    if (status != LEAT_OK)
        leati_dnnl_fini(op);
    return status;
}

void leati_dnnl_fini(leati_dnnl_op *op) {
    for (int i = 0; i < op->count; i++)
        (void)dnnl_memory_destroy(op->args[i].memory);
    if (op->primitive != NULL)
        (void)dnnl_primitive_destroy(op->primitive);
    if (op->desc != NULL)
        (void)dnnl_primitive_desc_destroy(op->desc);
    *op = (leati_dnnl_op){0};
}

leat_status leati_dnnl_start(leati_cpu_task *task, const leati_cpu_kernel *kernel,
                             leati_dnnl_op *main, leati_dnnl_state **out, leat_error *err) {
    leati_dnnl_state *state = leati_alloc_zero(1, sizeof *state);
    if (state == NULL) {
        /* It is given, also on failure. */
        leati_dnnl_fini(main);
        return leati_no_memory(err);
    }
    state->main = *main;
    state->workspace = -1;
    task->kernel = kernel;
    task->state = state;
    snprintf(task->implementation, sizeof task->implementation, "%s", name_of(main));
    *out = state;
    return LEAT_OK;
}

leat_status leati_dnnl_task_run(leati_cpu_step *step, leati_cpu_task *task, leat_error *err) {
    leati_dnnl_state *state = task->state;
    int threads = leati_cpu_set_threads(task->threads);
    leati_dnnl_op *const ops[] = {&state->before[0], &state->before[1], &state->before[2],
                                  &state->top,       &state->main,      &state->bottom,
                                  &state->after};
    leat_status status = LEAT_OK;
    for (size_t i = 0; i < sizeof ops / sizeof *ops && status == LEAT_OK; i++)
        status = leati_dnnl_run(step, ops[i], err);
    (void)leati_cpu_set_threads(threads);
    return status;
}

void leati_dnnl_task_release(void *memory) {
    leati_dnnl_state *state = memory;
    for (int i = 0; i < 3; i++)
        leati_dnnl_fini(&state->before[i]);
    leati_dnnl_fini(&state->top);
    leati_dnnl_fini(&state->main);
    leati_dnnl_fini(&state->bottom);
    leati_dnnl_fini(&state->after);
    leati_free(state);
}

const dnnl_memory_desc_t *leati_dnnl_layout(const leati_dnnl_op *op, int argument) {
    return dnnl_primitive_desc_query_md(op->desc, dnnl_query_exec_arg_md, argument);
}

leat_status leati_dnnl_bind(leati_dnnl_op *op, int argument, const dnnl_memory_desc_t *layout,
                            int32_t v, leat_error *err) {
    if (op->count >= LEATI_DNNL_ARGS)
        return leati_fail(err, LEAT_INTERNAL, "a primitive has more than %d arguments",
                          LEATI_DNNL_ARGS);
    dnnl_memory_t memory = NULL;
    LEATI_TRY(leati_dnnl_check(dnnl_memory_create(&memory, layout, engine, DNNL_MEMORY_NONE),
                               "describe memory", err));
    op->args[op->count] = (dnnl_exec_arg_t){.arg = argument, .memory = memory};
    op->values[op->count++] = v;
    return LEAT_OK;
}

void leati_dnnl_cut(dnnl_memory_desc_t *whole, int64_t part) {
    whole->dims[0] = whole->padded_dims[0] = part;
}

leat_status leati_dnnl_bind_rows(leati_dnnl_op *op, int argument, const dnnl_memory_desc_t *layout,
                                 int32_t v, int64_t rows, leat_error *err) {
    op->rows = rows;
    op->part = layout->dims[0];
    if (op->part < rows && op->count < LEATI_DNNL_ARGS)
        op->row_bytes[op->count] = (size_t)layout->format_desc.blocking.strides[0] * sizeof(float);
    return leati_dnnl_bind(op, argument, layout, v, err);
}

leat_status leati_dnnl_bind_summed(leati_dnnl_op *op, int argument,
                                   const dnnl_memory_desc_t *layout, int32_t v, size_t bytes,
                                   int64_t first, int64_t part, int64_t rows, leat_error *err) {
    op->first = first;
    op->behind = first > 0;
    op->part = part;
    op->rows = rows;
    if (op->count < LEATI_DNNL_ARGS)
        op->row_bytes[op->count] = bytes;
    return leati_dnnl_bind(op, argument, layout, v, err);
}

/* An extra value of the task. */
static leat_status add_extra(leati_cpu_build *build, leati_cpu_task *task, size_t bytes,
                             int32_t *out, leat_error *err) {
    *out = leati_cpu_extra(build, bytes, err);
    if (*out < 0)
        return LEAT_RESOURCE_EXHAUSTED;
    if (!leati_cpu_output(task, *out))
        return leati_fail(err, LEAT_INTERNAL, "a task has more than %d operands",
                          LEATI_CPU_OPERANDS);
    return LEAT_OK;
}

leat_status leati_dnnl_bind_added(leati_cpu_build *build, leati_cpu_task *task, leati_dnnl_op *op,
                                  int argument, const dnnl_memory_desc_t *layout, int32_t v,
                                  leat_error *err) {
    int32_t made;
    size_t bytes = dnnl_memory_desc_get_size(layout);
    LEATI_TRY(add_extra(build, task, bytes, &made, err));
    op->sums[op->num_sums++] = (struct leati_dnnl_sum){made, v, bytes / sizeof(float)};
    return leati_dnnl_bind(op, argument, layout, made, err);
}

leat_status leati_dnnl_scratch(leati_cpu_build *build, leati_cpu_task *task, leati_dnnl_op *op,
                               leat_error *err) {
    const dnnl_memory_desc_t *layout = leati_dnnl_layout(op, DNNL_ARG_SCRATCHPAD);
    size_t bytes = layout != NULL ? dnnl_memory_desc_get_size(layout) : 0;
    int32_t v;
    if (bytes == 0)
        return LEAT_OK;
    leat_status status = add_extra(build, task, bytes, &v, err);
    return status != LEAT_OK ? status : leati_dnnl_bind(op, DNNL_ARG_SCRATCHPAD, layout, v, err);
}

/* ---- reorders ---- */

static leat_status make_reorder(leati_cpu_build *build, leati_cpu_task *task, leati_dnnl_op *op,
                                const dnnl_memory_desc_t *from_layout, int32_t from,
                                const dnnl_memory_desc_t *to_layout, int32_t to, leat_error *err) {
    dnnl_primitive_attr_t attributes = NULL;
    *op = (leati_dnnl_op){0};
    leat_status status = check_room(err);
    if (status == LEAT_OK)
        status = make_attributes(LEATI_DNNL_NOTHING, &attributes, err);
    if (status != LEAT_OK)
        return status;
    status = leati_dnnl_check(dnnl_reorder_primitive_desc_create(&op->desc, from_layout, engine,
                                                                 to_layout, engine, attributes),
                              "describe a reorder", err);
    (void)dnnl_primitive_attr_destroy(attributes);
    if (status == LEAT_OK)
        status = leati_dnnl_check(dnnl_primitive_create(&op->primitive, op->desc), "make a reorder",
                                  err);
    if (status == LEAT_OK)
        status = leati_dnnl_bind(op, DNNL_ARG_FROM, from_layout, from, err);
    if (status == LEAT_OK)
        status = leati_dnnl_bind(op, DNNL_ARG_TO, to_layout, to, err);
    return status != LEAT_OK ? status : leati_dnnl_scratch(build, task, op, err);
}

leat_status leati_dnnl_reorder_in(leati_cpu_build *build, leati_cpu_task *task, leati_dnnl_op *op,
                                  const dnnl_memory_desc_t *plain, const dnnl_memory_desc_t *wanted,
                                  int32_t from, int32_t *v, leat_error *err) {
    *v = from;
    *op = (leati_dnnl_op){0};
    /* Then the value is used where it lies: the primitive of the reorder stays NULL and does not
     * run. */
    if (dnnl_memory_desc_equal(plain, wanted))
        return LEAT_OK;
    leat_status status = add_extra(build, task, dnnl_memory_desc_get_size(wanted), v, err);
    return status != LEAT_OK ? status : make_reorder(build, task, op, plain, from, wanted, *v, err);
}

leat_status leati_dnnl_reorder_out(leati_cpu_build *build, leati_cpu_task *task, leati_dnnl_op *op,
                                   const dnnl_memory_desc_t *made, const dnnl_memory_desc_t *plain,
                                   int32_t to, int32_t *v, leat_error *err) {
    *v = to;
    *op = (leati_dnnl_op){0};
    if (dnnl_memory_desc_equal(plain, made))
        return LEAT_OK;
    leat_status status = add_extra(build, task, dnnl_memory_desc_get_size(made), v, err);
    return status != LEAT_OK ? status : make_reorder(build, task, op, made, *v, plain, to, err);
}

/* ---- running ---- */

/* The part of a picture that begins with this row. */
static leat_status run_part(leati_cpu_step *step, leati_dnnl_op *op, int64_t picture, int64_t row,
                            leat_error *err) {
    leat_status status = LEAT_OK;
    for (int i = 0; status == LEAT_OK && i < op->count; i++) {
        void *now = NULL, *data = step->data[op->values[i]] + op->base_bytes[i] +
                                  (size_t)picture * op->picture_bytes[i] +
                                  (size_t)row * op->row_bytes[i];
        (void)dnnl_memory_get_data_handle(op->args[i].memory, &now);
        /* Most stay from run to run, and setting one may cost a pass over the layout's padding. */
        if (now != data)
            status = leati_dnnl_check(dnnl_memory_set_data_handle(op->args[i].memory, data),
                                      "set an address", err);
    }
    if (status != LEAT_OK)
        return status;
    LEATI_TRY(
        leati_dnnl_check(dnnl_primitive_execute(op->primitive, step->stream, op->count, op->args),
                         "run a primitive", err));
    for (int i = 0; i < op->num_sums; i++) {
        const float *from = (const float *)step->data[op->sums[i].from];
        float *into = (float *)step->data[op->sums[i].into];
        for (size_t k = 0; k < op->sums[i].count; k++)
            into[k] += from[k];
    }
    return LEAT_OK;
}

static leat_status run_parts(leati_cpu_step *step, leati_dnnl_op *op, int64_t picture,
                             leat_error *err) {
    LEATI_TRY(run_part(step, op, picture, op->first, err));
    /* The next part does the rows again that are behind the last whole block. */
    int64_t way = op->block > 0 ? op->part - op->part % op->block : op->part;
    for (int64_t row = op->first; row + op->part < op->rows && !leati_stop_look();) {
        /* The last part ends where the rows do. */
        row = LEATI_MIN(row + way, op->rows - op->part);
        LEATI_TRY(run_part(step, op, picture, row, err));
    }
    return LEAT_OK;
}

leat_status leati_dnnl_run(leati_cpu_step *step, leati_dnnl_op *op, leat_error *err) {
    if (op->primitive == NULL || (op->behind && leati_stop_look()))
        return LEAT_OK;
    LEATI_TRY(open_stream(step, err));
    for (int i = 0; i < op->num_sums && op->clears; i++)
        memset(step->data[op->sums[i].into], 0, op->sums[i].count * sizeof(float));
    LEATI_TRY(run_parts(step, op, 0, err));
    for (int64_t picture = 1; picture < op->pictures && !leati_stop_look(); picture++)
        LEATI_TRY(run_parts(step, op, picture, err));
    return LEAT_OK;
}

/* ---- shapes ---- */

/* Is v a float32 tensor with at least one value? */
static bool is_plain_float(const leati_cpu_build *build, int32_t v) {
    const leati_simple_value *value = leati_cpu_value_of(build, v);
    return value->type->dtype == LEAT_FLOAT32 && value->count > 0;
}

bool leati_dnnl_picture(const leati_cpu_build *build, int32_t v, dnnl_memory_desc_t *out) {
    const int64_t *dims = leati_cpu_value_of(build, v)->type->shape.dims;
    if (!is_plain_float(build, v) || leati_cpu_value_of(build, v)->type->shape.rank != 4)
        return false;
    /* oneDNN names dimensions in this order whatever the layout; the tag says that channels lie
     * last. */
    dnnl_dims_t nchw = {dims[0], dims[3], dims[1], dims[2]};
    return dnnl_memory_desc_init_by_tag(out, 4, nchw, dnnl_f32, dnnl_nhwc) == dnnl_success;
}

/* Padding behind, such that every window of the result fits. */
static int64_t padding_after(const leati_window_axis *axis) {
    int64_t span = (axis->out - 1) * axis->stride + (axis->kernel - 1) * axis->dilation + 1;
    int64_t after = span - axis->in - axis->before;
    return LEATI_MAX(after, 0);
}

/* The filter as it lies and in any layout: [h, w, channels of a group, filters], where oneDNN
 * counts groups apart. */
static bool describe_filter(const leat_shape *by, int64_t groups, leati_dnnl_conv *conv) {
    int64_t row = by->dims[3], tap = row * by->dims[2], made = row / groups;
    int skip = groups == 1 ? 1 : 0; /* without groups there is no dimension for them */
    const dnnl_dims_t sizes = {groups, made, by->dims[2], by->dims[0], by->dims[1]};
    const dnnl_dims_t steps = {made, 1, row, tap * by->dims[1], tap};
    return !dnnl_memory_desc_init_by_strides(&conv->filter, 5 - skip, sizes + skip, dnnl_f32,
                                             steps + skip) &&
           !dnnl_memory_desc_init_by_tag(&conv->any_filter, 5 - skip, sizes + skip, dnnl_f32,
                                         dnnl_format_tag_any);
}

bool leati_dnnl_conv_init(const leati_cpu_build *build, const leati_simple_node *node,
                          int32_t input, int32_t filter, leati_dnnl_conv *conv) {
    const leat_shape *from = &leati_cpu_value_of(build, input)->type->shape;
    const leat_shape *by = &leati_cpu_value_of(build, filter)->type->shape;
    leati_conv_plan plan;
    leat_shape shape;
    memset(conv, 0, sizeof *conv);
    if (!is_plain_float(build, filter) || !leati_dnnl_picture(build, input, &conv->input) ||
        leati_window_conv_plan_init(&plan, node->source->args, from, by, &shape,
                                    &(leat_error){0}) != LEAT_OK ||
        plan.y.out < 1 || plan.x.out < 1)
        return false;
    dnnl_dims_t nchw = {shape.dims[0], shape.dims[3], shape.dims[1], shape.dims[2]};
    const leati_window_axis *axes[2] = {&plan.y, &plan.x};
    for (int i = 0; i < 2; i++) {
        conv->strides[i] = axes[i]->stride;
        /* oneDNN counts the gaps between taps: 0 is dense. */
        conv->dilates[i] = axes[i]->dilation - 1;
        conv->before[i] = axes[i]->before;
        conv->after[i] = padding_after(axes[i]);
    }
    dnnl_dims_t bias = {plan.filters};
    conv->pictures = shape.dims[0];
    return describe_filter(by, plan.groups, conv) &&
           !dnnl_memory_desc_init_by_tag(&conv->bias, 1, bias, dnnl_f32, dnnl_x) &&
           !dnnl_memory_desc_init_by_tag(&conv->output, 4, nchw, dnnl_f32, dnnl_nhwc);
}

void leati_dnnl_conv_cut(const leati_cpu_build *build, const leati_cpu_task *task,
                         leati_dnnl_conv *conv) {
    int64_t part = leati_cpu_part_of(leati_cpu_step_of(build), task, conv->pictures, 1);
    leati_dnnl_cut(&conv->input, part);
    leati_dnnl_cut(&conv->output, part);
}

leat_status leati_dnnl_conv_forward(const leati_dnnl_conv *conv, bool bias,
                                    dnnl_convolution_desc_t *out, leat_error *err) {
    return leati_dnnl_check(dnnl_dilated_convolution_forward_desc_init(
                                out, dnnl_forward_training, dnnl_convolution_direct, &conv->input,
                                &conv->any_filter, bias ? &conv->bias : NULL, &conv->output,
                                conv->strides, conv->dilates, conv->before, conv->after),
                            "describe a convolution", err);
}
