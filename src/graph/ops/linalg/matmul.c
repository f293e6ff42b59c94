/* matmul: matrix products over the last two dimensions, each operand transposed first if asked
 * (tf.linalg.matmul).
 *
 * Dimensions before the last two are equal, or b is one matrix for all. A transposed b is copied
 * into the arena once per matrix. Fails where inner dimensions differ. No state, no locks. */
#include "base/stop.h"
#include "graph/support/linalg/gemm.h"
#include "graph/support/support.h"

struct matmul_args {
    bool transpose_a, transpose_b;
};

static const leati_row matmul_rows[] = {
    {.name = "transpose_a",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct matmul_args, transpose_a),
     .doc = "Transpose the matrices of a first."},
    {.name = "transpose_b",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct matmul_args, transpose_b),
     .doc = "Transpose the matrices of b first."},
    {0},
};

/* The shape of the product of shapes of known ranks. */
static leat_status product(const struct matmul_args *args, const leat_shape *a, const leat_shape *b,
                           leat_shape *out, leat_error *err) {
    char texts[2][128];
    if (a->rank < 2 || b->rank < 2 || (b->rank != a->rank && b->rank != 2))
        return leati_refuse(err, SHAPE,
                            "a is %s and b is %s; expected matrices, b with a's rank or rank 2",
                            leati_shape_text(a, texts[0]), leati_shape_text(b, texts[1]));
    *out = *a;
    for (int32_t d = 0; d < a->rank - 2 && b->rank == a->rank; d++) {
        LEATI_TRY(leati_support_want_equal_dims(a->dims[d], b->dims[d],
                                                "dimensions before the matrices", err));
        if (out->dims[d] == LEAT_UNKNOWN_DIM)
            out->dims[d] = b->dims[d];
    }
    const int64_t *ma = &a->dims[a->rank - 2], *mb = &b->dims[b->rank - 2];
    LEATI_TRY(leati_support_want_equal_dims(ma[args->transpose_a ? 0 : 1],
                                            mb[args->transpose_b ? 1 : 0],
                                            "the inner dimensions of a and b", err));
    out->dims[a->rank - 2] = ma[args->transpose_a ? 1 : 0];
    out->dims[a->rank - 1] = mb[args->transpose_b ? 0 : 1];
    return LEAT_OK;
}

static leat_status matmul_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *a = &call->inputs[0].shape, *b = &call->inputs[1].shape;
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    LEATI_TRY(leati_support_want_trainable(call, 0, "a", err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    if (a->rank >= 0 && b->rank >= 0)
        LEATI_TRY(product(call->args, a, b, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status matmul_kernel(leati_kernel_call *call, leat_error *err) {
    const struct matmul_args *args = call->args;
    const leati_operand *a = &call->inputs[0], *b = &call->inputs[1], *out = &call->outputs[0];
    leat_shape from = leati_support_operand_shape(a), to = leati_support_operand_shape(b), shape;
    LEATI_TRY(product(args, &from, &to, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    const int64_t *ma = &from.dims[from.rank - 2];
    int64_t m = shape.dims[shape.rank - 2], n = shape.dims[shape.rank - 1];
    int64_t k = args->transpose_a ? ma[0] : ma[1], matrices = 1;
    for (int32_t d = 0; d < shape.rank - 2; d++)
        matrices *= shape.dims[d];
    leati_gemm_matrix left = {NULL, args->transpose_a ? 1 : k, args->transpose_a ? m : 1};
    leati_gemm_matrix right = {NULL, args->transpose_b ? 1 : n, args->transpose_b ? k : 1};
    for (int64_t row = 0; row < call->n; row++) {
        left.data = leati_support_row_of(a, row);
        right.data = leati_support_row_of(b, row);
        leati_gemm_stack(a->dtype, matrices, m, n, k, left, m * k, right, to.rank > 2 ? k * n : 0,
                         leati_support_row_of(out, row), m * n);
        if (leati_stop_look())
            break;
    }
    return LEAT_OK;
}

static leat_status matmul_gradient(leati_gradient_call *call, leat_error *err) {
    const struct matmul_args *args = call->args;
    leat_value a = leati_support_conjugate(call->inputs[0]), g = call->output_gradients[0];
    leat_value b = leati_support_conjugate(call->inputs[1]);
    leat_shape stack = leat_value_shape(a), matrix = leat_value_shape(b);
    bool ta = args->transpose_a, tb = args->transpose_b;
    /* g = dL/d(a b): what flows to a is g b^T, to b a^T g (of conjugates, where they are complex),
     * and for a transposed operand the transpose of that. */
    call->input_gradients[0] =
        ta ? leat_op_matmul(b, g, tb, true) : leat_op_matmul(g, b, false, !tb);
    /* The product above would need one matrix for all on the left, which matmul has on the right
     * alone. */
    if (ta && stack.rank >= 0 && stack.rank != matrix.rank && matrix.rank == 2)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "no gradient by one matrix b behind a transposed stack a; transpose a "
                          "with transpose");
    if (!ta && stack.rank != matrix.rank && leati_shape_count(&matrix) >= 0 && matrix.rank == 2) {
        /* One product of all the matrices' rows. */
        a = leat_op_reshape(a, (int64_t[]){-1, matrix.dims[tb ? 1 : 0]}, 2);
        g = leat_op_reshape(g, (int64_t[]){-1, matrix.dims[tb ? 0 : 1]}, 2);
    }
    leat_value by_b = tb ? leat_op_matmul(g, a, true, ta) : leat_op_matmul(a, g, !ta, false);
    /* A product for each matrix of the stack is summed where b was one for all. */
    bool stacked = leat_value_shape(by_b).rank != matrix.rank || matrix.rank < 0;
    call->input_gradients[1] = stacked ? leat_op_sum_like(by_b, b) : by_b;
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_matmul = {
    .name = "matmul",
    .version = 1,
    .doc = "Matrix products over the last two dimensions (tf.linalg.matmul).",
    .names = "linalg.matmul matmul",
    .inputs = "a b",
    .signature = "a b transpose_a transpose_b adjoint_a=false adjoint_b=false a_is_sparse=false "
                 "b_is_sparse=false output_type=null grad_a=false grad_b=false",
    .types = "T T",
    .outputs = "output",
    .halves = LEATI_HALVES_FLOAT,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .large = true,
    .rows = matmul_rows,
    .args_size = sizeof(struct matmul_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = matmul_infer,
    .kernel = matmul_kernel,
    .gradient = matmul_gradient,
    .trait = LEATI_TRAIT_MATMUL,
};
