/* matmul of two matrices by oneDNN, with the bias_add and the relu that follow it fused in.
 *
 * Transposed operands are strides; a stack on the left of one matrix for all is one matrix. What
 * takes long is done in parts: rows of the result, which have the same bits, or where there are few
 * rows and long sums parts of those, one added to the other.
 * Declines other stacks, other dtypes and empty matrices. */
#include "base/minmax.h"
#include "exec/cpu/dnnl.h"

/* Below so many rows the right operand, which each part brings into its own layout, costs more;
 * below so many products for each sum it costs more to write the sums once again. */
enum { LEAST_ROWS = 1024 };
/* A multiple of how many rows a processor's kernel does together. The rows behind the last whole
 * block are summed in another order, so each part has as many of those as the product. */
enum { BLOCK = 48 };

/* a[m, k] b[k, n], as they are read, and what the task is cut into: parts of the rows of a and of
 * the result, or of the products for each sum, which begin with `first`. */
typedef struct product {
    int64_t m, k, n;
    bool turned_a, turned_b;
    int64_t rows, first, depth; /* rows of a part; products of the first part, and of each other */
} product;

/* A matrix of `rows` by `columns` that lies as part of one of so many rows and columns, transposed
 * if `turned`; false on what oneDNN refuses. */
static bool describe(int64_t rows, int64_t columns, int64_t all_rows, int64_t all_columns,
                     bool turned, dnnl_memory_desc_t *out) {
    dnnl_dims_t dims = {rows, columns};
    dnnl_dims_t strides = {turned ? 1 : all_columns, turned ? all_rows : 1};
    return dnnl_memory_desc_init_by_strides(out, 2, dims, dnnl_f32, strides) == dnnl_success;
}

/* False where the kernel declines. */
static bool find_product(const leati_cpu_build *build, const leati_simple_node *node,
                         product *out) {
    const leati_simple_value *a = leati_cpu_value_of(build, node->inputs[0]);
    const leati_simple_value *b = leati_cpu_value_of(build, node->inputs[1]);
    const leati_simple_value *c = leati_cpu_value_of(build, node->first_output);
    bool ta = leati_cpu_attr_int(node, "transpose_a", 0);
    if (a->type->dtype != LEAT_FLOAT32 || b->type->shape.rank != 2 || a->count < 1 ||
        b->count < 1 || (ta && a->type->shape.rank != 2))
        return false;
    int64_t n = c->type->shape.dims[c->type->shape.rank - 1], m = c->count / n;
    *out = (product){.m = m,
                     .k = a->count / m,
                     .n = n,
                     .turned_a = ta,
                     .turned_b = leati_cpu_attr_int(node, "transpose_b", 0)};
    return true;
}

/* `alone`: nothing is fused in behind it. */
static void cut(const leati_cpu_build *build, const leati_cpu_task *task, bool alone, product *p) {
    const leati_cpu_step *step = leati_cpu_step_of(build);
    p->rows = p->m;
    p->first = p->depth = p->k;
    /* A gradient by a kernel has a sum over the batch for each of its values. */
    if (alone && p->k >= 2 * LEAST_ROWS && (p->turned_a || p->m < 2 * LEAST_ROWS)) {
        p->depth = leati_cpu_part_of(step, task, p->k, LEAST_ROWS);
        p->first = p->k - (p->k - 1) / p->depth * p->depth;
        return;
    }
    int64_t part = leati_cpu_part_of(step, task, p->m, LEAST_ROWS);
    int64_t blocks = (part - p->m % BLOCK + BLOCK - 1) / BLOCK;
    p->rows = LEATI_MIN(p->m, blocks * BLOCK + p->m % BLOCK);
}

/* The primitive for so many products of each sum. */
static leat_status create(const product *p, int64_t depth, const leati_cpu_followers *behind,
                          bool added, dnnl_memory_desc_t mds[4], leati_dnnl_op *op, bool *refused,
                          leat_error *err) {
    dnnl_matmul_desc_t operation;
    /* The bias is one row, which oneDNN repeats for all. */
    if (!describe(p->rows, depth, p->m, p->k, p->turned_a, &mds[0]) ||
        !describe(depth, p->n, p->k, p->n, p->turned_b, &mds[1]) ||
        !describe(1, p->n, 1, p->n, false, &mds[2]) ||
        !describe(p->rows, p->n, p->m, p->n, false, &mds[3])) {
        *refused = true;
        return LEAT_OK;
    }
    LEATI_TRY(leati_dnnl_check(dnnl_matmul_desc_init(&operation, &mds[0], &mds[1],
                                                     behind->bias >= 0 ? &mds[2] : NULL, &mds[3]),
                               "describe a matrix product", err));
    return leati_dnnl_create(op, &operation,
                             added                    ? LEATI_DNNL_SUM
                             : behind->relu_node >= 0 ? LEATI_DNNL_RELU
                                                      : LEATI_DNNL_NOTHING,
                             NULL, refused, err);
}

/* Of a task that is cut by its rows, or not at all. */
static leat_status bind_rows(leati_cpu_build *build, leati_cpu_task *task, const product *p,
                             const leati_cpu_followers *behind, const dnnl_memory_desc_t mds[4],
                             leat_error *err) {
    leati_dnnl_op *op = &((leati_dnnl_state *)task->state)->main;
    const leati_simple_node *node = task->node;
    const int arguments[4] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST};
    const int32_t values[4] = {node->inputs[0], node->inputs[1], behind->bias, behind->result};
    op->block = BLOCK;
    for (int i = 0; i < 4; i++)
        if (values[i] >= 0)
            LEATI_TRY(i % 3 == 0
                          ? leati_dnnl_bind_rows(op, arguments[i], &mds[i], values[i], p->m, err)
                          : leati_dnnl_bind(op, arguments[i], &mds[i], values[i], err));
    return leati_dnnl_scratch(build, task, op, err);
}

/* Of one part of a task that is cut by its sums: the first, or those behind. */
static leat_status bind_sums(leati_cpu_build *build, leati_cpu_task *task, const product *p,
                             bool added, leati_dnnl_op *op, const dnnl_memory_desc_t mds[4],
                             leat_error *err) {
    const leati_simple_node *node = task->node;
    size_t step_a = (size_t)(p->turned_a ? p->m : 1) * sizeof(float);
    size_t step_b = (size_t)(p->turned_b ? 1 : p->n) * sizeof(float);
    int64_t first = added ? p->first : 0, part = added ? p->depth : p->first;
    int64_t end = added ? p->k : p->first;
    LEATI_TRY(leati_dnnl_bind_summed(op, DNNL_ARG_SRC, &mds[0], node->inputs[0], step_a, first,
                                     part, end, err));
    LEATI_TRY(leati_dnnl_bind_summed(op, DNNL_ARG_WEIGHTS, &mds[1], node->inputs[1], step_b, first,
                                     part, end, err));
    LEATI_TRY(leati_dnnl_bind(op, DNNL_ARG_DST, &mds[3], node->first_output, err));
    return leati_dnnl_scratch(build, task, op, err);
}

static leat_status matmul_plan(leati_cpu_build *build, leati_cpu_task *task, leat_error *err) {
    const leati_simple_node *node = task->node;
    dnnl_memory_desc_t mds[4], first_mds[4];
    product p;
    leati_dnnl_op op, first = {0};
    leati_dnnl_state *state;
    bool refused = false;
    if (!find_product(build, node, &p))
        return LEAT_OK;
    leati_cpu_followers behind = leati_cpu_find_followers(build, node->first_output);
    cut(build, task, behind.bias < 0 && behind.relu_node < 0, &p);
    bool sums = p.first < p.k;
    leat_status status = create(&p, p.depth, &behind, sums, mds, &op, &refused, err);
    if (status == LEAT_OK && !refused && sums) {
        status = create(&p, p.first, &behind, false, first_mds, &first, &refused, err);
        if (status != LEAT_OK || refused)
            leati_dnnl_fini(&op);
    }
    if (status != LEAT_OK || refused)
        return status;
    status = leati_dnnl_start(task, &leati_cpu_kernel_matmul, &op, &state, err);
    if (status != LEAT_OK) {
        leati_dnnl_fini(&first);
        return status;
    }
    state->top = first;
    leati_cpu_take(build, task, behind.bias_node);
    leati_cpu_take(build, task, behind.relu_node);
    (void)leati_cpu_input(task, node->inputs[0]);
    (void)leati_cpu_input(task, node->inputs[1]);
    (void)leati_cpu_input(task, behind.bias);
    (void)leati_cpu_output(task, behind.result);
    if (!sums)
        return bind_rows(build, task, &p, &behind, mds, err);
    LEATI_TRY(bind_sums(build, task, &p, false, &state->top, first_mds, err));
    return bind_sums(build, task, &p, true, &state->main, mds, err);
}

const leati_cpu_kernel leati_cpu_kernel_matmul = {.op = &leati_tensor_op_matmul,
                                                  .plan = matmul_plan,
                                                  .here = leati_dnnl_here,
                                                  .run = leati_dnnl_task_run,
                                                  .release = leati_dnnl_task_release};
