/* apply_adam on all threads of the device: the values of a variable are cut into pieces.
 *
 * The same bits as the plain kernel. Declines other dtypes. Fails where the step is below 1, or a
 * copy lies on another device. No locks: a step owns its copies. */
#include "exec/cpu/cpu.h"

#include "base/error.h"
#include "base/minmax.h"
#include "graph/support/nn/adam.h"
#include "run/crew.h"
#include <string.h>

#define PIECE ((int64_t)16 << 10) /* values: four vectors of them fit a core's cache */

struct adam_run {
    leati_adam_float adam;
    float *variable, *m, *v;
    const float *gradient, *squares; /* NULL: the gradient's own */
    int64_t count;
};

static void update_piece(void *data, int64_t piece) {
    const struct adam_run *run = data;
    int64_t at = piece * PIECE, left = run->count - at;
    leati_adam_run_float(&run->adam, run->variable + at, run->m + at, run->v + at,
                         run->gradient + at, run->squares == NULL ? NULL : run->squares + at,
                         LEATI_MIN(left, PIECE));
}

static float *copy_of(const leati_cpu_step *step, const leat_object *object, leat_error *err) {
    const leat_variable *variable = (const leat_variable *)object;
    const leat_buffer *buffer = leati_cpu_copy_of(step, variable, err);
    return buffer != NULL ? buffer->data : NULL;
}

static leat_status apply_adam_run(leati_cpu_step *step, leati_cpu_task *task, leat_error *err) {
    const struct leati_adam_args *args = task->node->source->args;
    const leat_variable *variable = (const leat_variable *)args->variable;
    float rate = *(const float *)(const void *)step->data[task->inputs[1]];
    int64_t number = *(const int64_t *)(const void *)step->data[task->inputs[2]];
    struct adam_run run = {.gradient = (const float *)(const void *)step->data[task->inputs[0]],
                           .variable = copy_of(step, args->variable, err),
                           .m = copy_of(step, args->slots[0], err),
                           .v = copy_of(step, args->slots[1], err),
                           .count = leati_shape_count(&variable->shape)};
    if (task->node->num_inputs > 3)
        run.squares = (const float *)(const void *)step->data[task->inputs[3]];
    if (run.variable == NULL || run.m == NULL || run.v == NULL)
        return LEAT_FAILED_PRECONDITION;
    LEATI_TRY(leati_adam_check_step(number, err));
    run.adam = leati_adam_float_of(args, rate, number);
    leati_crew_share_among(task->threads, (run.count + PIECE - 1) / PIECE, update_piece, &run);
    return LEAT_OK;
}

static leat_status apply_adam_plan(leati_cpu_build *build, leati_cpu_task *task, leat_error *err) {
    const leati_simple_node *node = task->node;
    const leati_simple_value *gradient = leati_cpu_value_of(build, node->inputs[0]);
    (void)err;
    if (gradient->type->dtype != LEAT_FLOAT32 || gradient->count < 1 ||
        (node->num_inputs > 3 &&
         leati_cpu_value_of(build, node->inputs[3])->count != gradient->count))
        return LEAT_OK;
    task->kernel = &leati_cpu_kernel_apply_adam;
    strcpy(task->implementation, "shared");
    /* No outputs: variable and slots are written where they lie, in the replica's copies. */
    for (int i = 0; i < node->num_inputs; i++)
        (void)leati_cpu_input(task, node->inputs[i]);
    return LEAT_OK;
}

const leati_cpu_kernel leati_cpu_kernel_apply_adam = {.op = &leati_tensor_op_apply_adam,
                                                      .plan = apply_adam_plan,
                                                      .run = apply_adam_run,
                                                      .release = leati_free};
