/* matmul of two matrices by oneDNN, with the bias_add and the relu that follow it fused in.
 *
 * Transposed operands are strides; a stack on the left of one matrix for all is one matrix.
 * Declines other stacks, other dtypes and empty matrices. */
#include "base/minmax.h"
#include "exec/cpu/dnnl.h"

/* Below so many rows the right operand, which each part brings into its own layout, costs more. */
enum { LEAST_ROWS = 1024 };
/* Of products with fewer columns, and of those with a transposed left operand, the order of the
 * sums depends on the number of rows. */
enum { LEAST_COLUMNS = 128 };
/* A multiple of how many rows a processor's kernel does together. The rows behind the last whole
 * block are summed in another order, so each part has as many of those as the product. */
enum { BLOCK = 48 };

/* A matrix of `rows` by `columns` that lies transposed if `turned`; false on what oneDNN refuses.
 */
static bool describe(int64_t rows, int64_t columns, bool turned, dnnl_memory_desc_t *out) {
    dnnl_dims_t dims = {rows, columns};
    dnnl_dims_t strides = {turned ? 1 : columns, turned ? rows : 1};
    return dnnl_memory_desc_init_by_strides(out, 2, dims, dnnl_f32, strides) == dnnl_success;
}

/* a, b, bias and result; false where the kernel declines. */
static bool describe_all(const leati_cpu_build *build, const leati_cpu_task *task,
                         dnnl_memory_desc_t mds[4]) {
    const leati_simple_node *node = task->node;
    const leati_simple_value *a = leati_cpu_value_of(build, node->inputs[0]);
    const leati_simple_value *b = leati_cpu_value_of(build, node->inputs[1]);
    const leati_simple_value *out = leati_cpu_value_of(build, node->first_output);
    bool ta = leati_cpu_attr_int(node, "transpose_a", 0);
    bool tb = leati_cpu_attr_int(node, "transpose_b", 0);
    if (a->type->dtype != LEAT_FLOAT32 || b->type->shape.rank != 2 || a->count < 1 ||
        b->count < 1 || (ta && a->type->shape.rank != 2))
        return false;
    int64_t n = out->type->shape.dims[out->type->shape.rank - 1], m = out->count / n,
            k = a->count / m;
    /* The bias is one row, which oneDNN repeats for all. */
    if (!describe(m, k, ta, &mds[0]) || !describe(k, n, tb, &mds[1]) ||
        !describe(1, n, false, &mds[2]) || !describe(m, n, false, &mds[3]))
        return false;
    if (!ta && n >= LEAST_COLUMNS) {
        int64_t part = leati_cpu_part_of(leati_cpu_step_of(build), task, m, LEAST_ROWS);
        int64_t blocks = (part - m % BLOCK + BLOCK - 1) / BLOCK;
        part = LEATI_MIN(m, blocks * BLOCK + m % BLOCK);
        leati_dnnl_cut(&mds[0], part);
        leati_dnnl_cut(&mds[3], part);
    }
    return true;
}

static leat_status matmul_plan(leati_cpu_build *build, leati_cpu_task *task, leat_error *err) {
    const leati_simple_node *node = task->node;
    dnnl_memory_desc_t mds[4];
    dnnl_matmul_desc_t operation;
    leati_dnnl_op op;
    leati_dnnl_state *state;
    bool refused = false;
    if (!describe_all(build, task, mds))
        return LEAT_OK;
    leati_cpu_followers behind = leati_cpu_find_followers(build, node->first_output);
    leat_status status =
        leati_dnnl_check(dnnl_matmul_desc_init(&operation, &mds[0], &mds[1],
                                               behind.bias >= 0 ? &mds[2] : NULL, &mds[3]),
                         "describe a matrix product", err);
    if (status == LEAT_OK)
        status = leati_dnnl_create(&op, &operation, behind.relu_node >= 0, NULL, &refused, err);
    if (status != LEAT_OK || refused)
        return status;
    status = leati_dnnl_start(task, &leati_cpu_kernel_matmul, &op, &state, err);
    if (status != LEAT_OK)
        return status;
    leati_cpu_take(build, task, behind.bias_node);
    leati_cpu_take(build, task, behind.relu_node);
    (void)leati_cpu_input(task, node->inputs[0]);
    (void)leati_cpu_input(task, node->inputs[1]);
    (void)leati_cpu_input(task, behind.bias);
    (void)leati_cpu_output(task, behind.result);
    const int arguments[4] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST};
    const int32_t values[4] = {node->inputs[0], node->inputs[1], behind.bias, behind.result};
    const leati_simple_value *out = leati_cpu_value_of(build, node->first_output);
    int64_t rows = out->count / out->type->shape.dims[out->type->shape.rank - 1];
    state->main.block = BLOCK;
    for (int i = 0; status == LEAT_OK && i < 4; i++)
        if (values[i] >= 0)
            status = i % 3 == 0
                         ? leati_dnnl_bind_rows(&state->main, arguments[i], &mds[i], values[i],
                                                rows, err)
                         : leati_dnnl_bind(&state->main, arguments[i], &mds[i], values[i], err);
    return status != LEAT_OK ? status : leati_dnnl_scratch(build, task, &state->main, err);
}

const leati_cpu_kernel leati_cpu_kernel_matmul = {.op = &leati_tensor_op_matmul,
                                                  .plan = matmul_plan,
                                                  .here = leati_dnnl_here,
                                                  .run = leati_dnnl_task_run,
                                                  .release = leati_dnnl_task_release};
