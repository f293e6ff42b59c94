/* Steps of one operation, kept by what they compute.
 *
 * Happy path: a call finds its step by operation, attributes (as JSON) and types, takes it out of
 * the list, runs it, and puts it back in front; the least recently used goes. A step that has no
 * fast kernel is remembered as declined. A second thread with the same call meanwhile makes one of
 * its own. Failures: none; the caller computes by the plain kernel. Locks: `lock` around the list.
 */
#include "exec/cpu/single.h"

#include "base/error.h"
#include "base/fork.h"
#include "exec/cpu/cpu.h"
#include "run/crew.h"
#include "run/pool.h"
#include <string.h>

enum { KEPT = 48 };
/* Products, or bytes of operands where nothing is multiplied, below which the plain kernel is as
 * fast: some 30 us. */
#define LEAST_WORK 1e6

typedef struct single {
    const leati_tensor_op *op;
    uint64_t print; /* of the attributes */
    leat_function *function;
    leati_executable *step; /* NULL: declined */
} single;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static single kept[KEPT]; /* lock; the last used first, without gaps */
static int num_kept;
static leati_device *device; /* lock; made once */

LEATI_FORK_LOCK(singles, &lock);

static bool has_fast_kernel(const leati_tensor_op *op) {
    static const leati_cpu_kernel *const kernels[] = {
#define X(name) &leati_cpu_kernel_##name,
#include "exec/cpu/cpu.def"
#undef X
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (kernels[i]->op == op)
            return true;
    return false;
}

static double bytes_of(const leat_shape *shape, leat_dtype dtype) {
    return (double)leati_shape_count(shape) * (double)leat_dtype_size(dtype);
}

/* Is the node one whose step pays? Those that write variables are not: they have no result. */
static bool pays(const leati_node *node, const leati_value *types, const leat_tensor *inputs) {
    const leati_tensor_op *op = node->op;
    if (op->flags & (LEATI_STATEFUL | LEATI_RANDOM) || node->num_inputs < 1 ||
        op->trait == LEATI_TRAIT_MATMUL || !has_fast_kernel(op) || leati_cpu_plain_only())
        return false;
    double bytes = 0;
    for (int i = 0; i < node->num_outputs; i++)
        if (types[i].type.dtype != LEAT_FLOAT32)
            return false;
    for (int i = 0; i < node->num_inputs; i++) {
        leat_shape shape = leat_tensor_shape(&inputs[i]);
        bytes += bytes_of(&shape, inputs[i].dtype);
    }
    /* A convolution multiplies each value by hundreds. */
    return op->trait == LEATI_TRAIT_CONVOLUTION ? bytes * 80 > LEAST_WORK : bytes * 2 > LEAST_WORK;
}

/* ---- steps ---- */

static int trace_node(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    const leati_node *node = context;
    int32_t inputs[LEATI_CPU_OPERANDS], count = 0;
    for (; count < node->num_inputs; count++)
        inputs[count] = count;
    int32_t first = leati_graph_add(graph, node->op, node->args, inputs, count);
    for (int32_t i = 0; first >= 0 && i < node->num_outputs && i < capacity; i++)
        outputs[i] = (leat_value){graph, first + i};
    return first < 0 ? -1 : node->num_outputs;
}

static leat_function *function_of(leati_node node, const leat_tensor *inputs, leat_error *err) {
    leat_spec *components[LEATI_CPU_OPERANDS];
    for (int i = 0; i < node.num_inputs; i++)
        components[i] = leat_spec_tensor(inputs[i].dtype, leat_tensor_shape(&inputs[i]), err);
    leat_spec *spec = leat_spec_tuple(components, node.num_inputs, err);
    leat_function *function = leat_function_trace(trace_node, &node, spec, err);
    leat_spec_unref(spec);
    return function;
}

static void single_fini(single *one) {
    if (one->step != NULL)
        one->step->device->ops->release(one->step);
    leat_function_unref(one->function);
}

static bool computes(const single *one, const leati_node *node, uint64_t print,
                     const leat_tensor *inputs) {
    const leati_body *body = &one->function->body;
    bool same =
        one->op == node->op && one->print == print && body->num_arguments == node->num_inputs;
    for (int32_t i = 0; same && i < node->num_inputs; i++) {
        leat_shape shape = leat_tensor_shape(&inputs[i]);
        same = body->values[i].type.dtype == inputs[i].dtype &&
               leati_shape_equal(&body->values[i].type.shape, &shape);
    }
    return same;
}

static bool take_kept(const leati_node *node, uint64_t print, const leat_tensor *inputs,
                      single *out) {
    bool found = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; !found && i < num_kept; i++)
        if (computes(&kept[i], node, print, inputs)) {
            found = true;
            *out = kept[i];
            memmove(&kept[i], &kept[i + 1], (size_t)(--num_kept - i) * sizeof *kept);
        }
    pthread_mutex_unlock(&lock);
    return found;
}

static void keep(single one) {
    single gone = {0};
    pthread_mutex_lock(&lock);
    if (num_kept == KEPT)
        gone = kept[--num_kept];
    memmove(&kept[1], &kept[0], (size_t)num_kept * sizeof *kept);
    kept[0] = one;
    num_kept++;
    pthread_mutex_unlock(&lock);
    single_fini(&gone);
}

static leati_device *the_device(leat_error *err) {
    pthread_mutex_lock(&lock);
    if (device == NULL)
        device = leati_device_cpu_new(0, leati_pool_num_cores(), -1, err);
    leati_device *made = device;
    pthread_mutex_unlock(&lock);
    return made;
}

/* Compiles; a step on the plain kernel is released again. */
static leat_status compile(single *one, const leati_node *node, const leat_tensor *inputs,
                           const leati_call_context *context, leat_error *err) {
    leati_device *on = the_device(err);
    if (on == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    one->function = function_of(*node, inputs, err);
    if (one->function == NULL)
        return err->code;
    LEATI_TRY(on->ops->compile(on, one->function, context, &one->step, err));
    const leati_cpu_step *step = (const leati_cpu_step *)(const void *)one->step;
    if (step->num_tasks != 1 || step->tasks[0].kernel == NULL) {
        on->ops->release(one->step);
        one->step = NULL;
    }
    return LEAT_OK;
}

static leat_status run_step(const single *one, const leat_tensor *inputs, int num_inputs,
                            const leati_call_context *context, leat_tensor *outputs,
                            int num_outputs, leat_error *err) {
    leati_run_args args = {.inputs = inputs,
                           .num_inputs = num_inputs,
                           .outputs = outputs,
                           .num_outputs = num_outputs,
                           .context = context,
                           .brief = true};
    leati_device *on = one->step->device;
    leat_status status = on->ops->run(one->step, &args, err);
    on->ops->leave(on);
    return status;
}

leat_status leati_single_run(const leati_node *node, const leati_value *types,
                             const leat_tensor *inputs, const leati_call_context *context,
                             leat_tensor *outputs, bool *ran, leat_error *err) {
    *ran = false;
    if (node->num_inputs > LEATI_CPU_OPERANDS || !pays(node, types, inputs) ||
        !leati_crew_is_whole())
        return LEAT_OK;
    leat_error ignored = {0};
    single one = {.op = node->op, .print = leati_rows_hash(node->op->rows, node->args, 1)};
    leat_status status = LEAT_OK;
    if (!take_kept(node, one.print, inputs, &one))
        status = compile(&one, node, inputs, context, &ignored);
    if (status == LEAT_OK && one.step != NULL) {
        status =
            run_step(&one, inputs, node->num_inputs, context, outputs, node->num_outputs, &ignored);
        *ran = status == LEAT_OK;
    }
    if (status == LEAT_OK || status == LEAT_CANCELLED)
        keep(one);
    else
        single_fini(&one);
    if (status == LEAT_CANCELLED)
        *err = ignored;
    return status == LEAT_CANCELLED ? status : LEAT_OK;
}
