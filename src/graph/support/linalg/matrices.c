/* What the operations of linear algebra share; see matrices.h. No state, no locks. */
#include "graph/support/linalg/matrices.h"
#include "base/alloc.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "core/complex.h"
#include "run/apart.h"
#include "run/crew.h"

#include <string.h>

enum {
    PIECE_NS = 50000,   /* what matrices that a thread takes at once are worth */
    LONG_NS = 350000000 /* from here on Ctrl-C is not to wait for one; estimates are generous */
};

leat_status leati_matrices_check(const leat_shape *shape, bool square, leat_error *err) {
    char text[128];
    if (shape->rank == LEAT_UNKNOWN_RANK)
        return LEAT_OK;
    if (shape->rank < 2)
        return leati_refuse(err, SHAPE,
                            "the input has shape %s; Input matrix must be of rank 2 or more",
                            leati_shape_text(shape, text));
    int64_t rows = shape->dims[shape->rank - 2], columns = shape->dims[shape->rank - 1];
    if (square && rows != columns && rows != LEAT_UNKNOWN_DIM && columns != LEAT_UNKNOWN_DIM)
        return leati_refuse(err, SHAPE, "the input has shape %s; Input matrix must be square",
                            leati_shape_text(shape, text));
    return LEAT_OK;
}

leat_status leati_matrices_want(const leati_infer_call *call, int index, bool square,
                                leat_error *err) {
    LEATI_TRY(leati_support_want_trainable(call, index, "a matrix", err));
    return leati_matrices_check(&call->inputs[index].shape, square, err);
}

leat_shape leati_matrices_stack_of(const leat_shape *stack, const int64_t *last, int count) {
    leat_shape out = *stack;
    if (stack->rank < 2)
        return out;
    out.rank = stack->rank - 2 + count;
    for (int i = 0; i < count; i++)
        out.dims[stack->rank - 2 + i] = last[i];
    return out;
}

leat_shape leati_matrices_square_of(const leat_shape *in) {
    leat_shape out = *in;
    int64_t *sides = in->rank < 2 ? NULL : &out.dims[in->rank - 2];
    if (sides != NULL && sides[0] == LEAT_UNKNOWN_DIM)
        sides[0] = sides[1];
    else if (sides != NULL && sides[1] == LEAT_UNKNOWN_DIM)
        sides[1] = sides[0];
    return out;
}

leat_status leati_matrices_infer_square(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_matrices_want(call, 0, true, err));
    leat_shape square = leati_matrices_square_of(&call->inputs[0].shape);
    return leati_op_infer_output(call, call->inputs[0].dtype, &square, NULL, err);
}

int64_t leati_matrices_smaller_dim(int64_t a, int64_t b) {
    if (a == 0 || b == 0)
        return 0;
    if (a == LEAT_UNKNOWN_DIM || b == LEAT_UNKNOWN_DIM)
        return LEAT_UNKNOWN_DIM;
    return LEATI_MIN(a, b);
}

leat_status leati_matrices_broadcast_solution(const leat_shape *a, const leat_shape *b,
                                              leat_shape *out, leat_error *err) {
    LEATI_TRY(leati_matrices_check(a, true, err));
    LEATI_TRY(leati_matrices_check(b, false, err));
    *out = (leat_shape){.rank = LEAT_UNKNOWN_RANK};
    if (a->rank < 0 || b->rank < 0)
        return LEAT_OK;
    leat_shape first = leati_matrices_stack_of(a, NULL, 0),
               second = leati_matrices_stack_of(b, NULL, 0);
    int64_t rows = a->dims[a->rank - 1], given = b->dims[b->rank - 2];
    LEATI_TRY(leati_support_want_equal_dims(rows, given, "rows of matrices and right sides", err));
    LEATI_TRY(leati_op_infer_broadcast_shape(&first, &second, out, err));
    if (out->rank > LEAT_MAX_RANK - 2)
        return leati_refuse(err, SHAPE, "more than %d dimensions", LEAT_MAX_RANK);
    out->dims[out->rank++] = rows == LEAT_UNKNOWN_DIM ? given : rows;
    out->dims[out->rank++] = b->dims[b->rank - 1];
    return LEAT_OK;
}

int64_t leati_matrices_place(const leat_shape *of, const leat_shape *whole, int64_t at) {
    int64_t place = 0, step = 1;
    /* From the innermost dimension of the stack outwards. */
    for (int32_t d = 1; d <= whole->rank - 2; d++) {
        int64_t dim = whole->dims[whole->rank - 2 - d], index = at % dim;
        at /= dim;
        /* This stack lacks the outer dimensions: it is repeated along them. */
        if (d > of->rank - 2)
            continue;
        int64_t own = of->dims[of->rank - 2 - d];
        place += own == 1 ? 0 : index * step;
        step *= own;
    }
    return place;
}

leati_matrices leati_matrices_of(const leati_operand *operand) {
    leati_matrices m = {1, operand->dims[operand->rank - 2], operand->dims[operand->rank - 1]};
    for (int32_t d = 0; d < operand->rank - 2; d++)
        m.count *= operand->dims[d];
    return m;
}

void *leati_matrices_at(const leati_operand *operand, int64_t row, int64_t first) {
    return leati_support_row_of(operand, row) + (size_t)first * leat_dtype_size(operand->dtype);
}

double *leati_matrices_doubles(int64_t count) {
    size_t bytes = 0;
    return leati_mul_size((size_t)(count > 0 ? count : 1), sizeof(double), &bytes)
               ? leati_crew_scratch(bytes)
               : NULL;
}

void leati_matrices_read_doubles(const leati_operand *from, int64_t row, int64_t first,
                                 int64_t count, double *to) {
    const char *data = leati_support_row_of(from, row);
    if (count > 0 && from->dtype == LEAT_FLOAT64)
        memcpy(to, (const double *)data + first, (size_t)count * sizeof *to);
    for (int64_t i = 0; i < count && from->dtype == LEAT_FLOAT32; i++)
        to[i] = (double)((const float *)data)[first + i];
}

void leati_matrices_write_doubles(const double *from, const leati_operand *to, int64_t row,
                                  int64_t first, int64_t count) {
    char *data = leati_support_row_of(to, row);
    if (count > 0 && to->dtype == LEAT_FLOAT64)
        memcpy((double *)data + first, from, (size_t)count * sizeof *from);
    for (int64_t i = 0; i < count && to->dtype == LEAT_FLOAT32; i++)
        ((float *)data)[first + i] = (float)from[i];
}

void leati_matrices_write_nan(const leati_operand *to, int64_t row, int64_t first, int64_t count) {
    void *data = leati_matrices_at(to, row, first);
    int64_t parts = count * (leati_dtype_is_complex(to->dtype) ? 2 : 1);
    for (int64_t i = 0; i < parts; i++)
        if (leati_dtype_part(to->dtype) == LEAT_FLOAT64)
            ((double *)data)[i] = NAN;
        else
            ((float *)data)[i] = NAN;
}

/* ---- the loop ---- */
leati_matrices_loop leati_matrices_loop_of(leati_kernel_call *call, size_t args_size,
                                           leat_status (*one)(const leati_matrices_loop *loop,
                                                              int64_t row, int64_t at)) {
    leati_matrices m = leati_matrices_of(&call->inputs[0]);
    leati_matrices_loop loop = {.call = call,
                                .count = m.count,
                                .rows = m.rows,
                                .columns = m.columns,
                                .one = one,
                                .args_size = args_size};
    return loop;
}

double leati_matrices_ns(const leati_matrices_loop *loop, double each) {
    double least = (double)LEATI_MIN(loop->rows, loop->columns);
    return 100 + each * (double)loop->rows * (double)loop->columns * least;
}

leat_status leati_matrices_choose(leati_matrices_loop *loop, leat_dtype dtype, int64_t small,
                                  leat_error *err) {
    int64_t most = LEATI_MAX(loop->rows, loop->columns);
    loop->by_lapack = false;
    if (loop->rows == 0 || loop->columns == 0)
        return LEAT_OK;
    if (leati_dtype_is_complex(dtype)) {
        LEATI_TRY(leati_lapack_load(most, err));
        loop->by_lapack = true;
    }
    return loop->by_lapack || most <= small ? LEAT_OK
                                            : leati_lapack_find(most, &loop->by_lapack, err);
}

static void run_piece(void *data, int64_t piece) {
    leati_matrices_loop *loop = data;
    int64_t first = piece * loop->grain, last = LEATI_MIN(loop->total, first + loop->grain);
    for (int64_t i = first; i < last && !leati_stop_look(); i++) {
        if (loop->by_lapack && !leati_lapack_enter())
            break;
        leat_status status = loop->one(loop, i / loop->count, i % loop->count);
        if (loop->by_lapack)
            leati_lapack_leave();
        if (status == LEAT_RESOURCE_EXHAUSTED)
            atomic_store_explicit(&loop->no_memory, true, memory_order_relaxed);
        int_fast64_t before = atomic_load_explicit(&loop->failed, memory_order_relaxed);
        /* The first one is told, whichever thread came to it first. */
        while (status == LEAT_INVALID_ARGUMENT && i < before &&
               !atomic_compare_exchange_weak_explicit(&loop->failed, &before, i,
                                                      memory_order_relaxed, memory_order_relaxed))
            ;
        if (status != LEAT_OK)
            break;
    }
}

static void run_all(leati_matrices_loop *loop, double ns) {
    leati_crew_share(ns * (double)loop->total, (loop->total + loop->grain - 1) / loop->grain,
                     run_piece, loop);
}

/* ---- a loop that may be left, with memory of its own ---- */
typedef struct apart_loop {
    leati_matrices_loop loop;
    leati_kernel_call call;
    leati_operand *operands; /* the call's inputs, then its outputs; their data is owned */
    void *args;
    double ns;
    int threads;
} apart_loop;

static void apart_loop_free(void *job) {
    apart_loop *apart = job;
    int count = apart->call.num_inputs + apart->call.num_outputs;
    for (int i = 0; apart->operands != NULL && i < count; i++)
        leati_free(apart->operands[i].data);
    leati_free(apart->operands);
    leati_free(apart->args);
    leati_free(apart);
}

static void apart_loop_run(void *job) {
    apart_loop *apart = job;
    int before = leati_crew_enter(apart->threads);
    run_all(&apart->loop, apart->ns);
    leati_crew_leave(before);
}

/* The operand, its rows one after the other in memory of its own. */
static bool copy_operand(const leati_operand *from, int64_t rows, bool filled, leati_operand *to) {
    size_t row = (size_t)from->count * leat_dtype_size(from->dtype), bytes = 0;
    *to = *from;
    to->owner = NULL;
    to->row_stride = (int64_t)row;
    to->data = leati_mul_size((size_t)rows, row, &bytes) ? leati_alloc(bytes + 1, 1) : NULL;
    for (int64_t r = 0; r < rows && filled && to->data != NULL && row > 0; r++)
        memcpy(to->data + (size_t)r * row, leati_support_row_of(from, r), row);
    return to->data != NULL;
}

/* NULL without memory. */
static apart_loop *apart_loop_of(const leati_matrices_loop *loop, double ns) {
    const leati_kernel_call *call = loop->call;
    size_t count = (size_t)(call->num_inputs + call->num_outputs);
    apart_loop *apart = leati_alloc_zero(1, sizeof *apart);
    if (apart == NULL)
        return NULL;
    apart->loop = *loop;
    apart->call = *call;
    apart->operands = leati_alloc_zero(count, sizeof *apart->operands);
    apart->args = leati_alloc(loop->args_size + 1, 1);
    apart->ns = ns;
    apart->threads = leati_crew_size();
    bool whole = apart->operands != NULL && apart->args != NULL;
    for (int i = 0; whole && i < call->num_inputs; i++)
        whole = copy_operand(&call->inputs[i], call->n, true, &apart->operands[i]);
    for (int i = 0; whole && i < call->num_outputs; i++)
        whole =
            copy_operand(&call->outputs[i], call->n, false, &apart->operands[call->num_inputs + i]);
    if (!whole) {
        apart_loop_free(apart);
        return NULL;
    }
    if (loop->args_size > 0)
        memcpy(apart->args, call->args, loop->args_size);
    apart->call.args = apart->args;
    apart->call.inputs = apart->operands;
    apart->call.outputs = apart->operands + call->num_inputs;
    apart->loop.call = &apart->call;
    return apart;
}

/* False: there is no memory for it. */
static bool run_apart(leati_matrices_loop *loop, double ns) {
    leati_kernel_call *call = loop->call;
    apart_loop *apart = apart_loop_of(loop, ns);
    if (apart == NULL)
        return false;
    if (!leati_apart_run(apart_loop_run, apart_loop_free, apart))
        return true; /* stopped, so nobody looks at the results */
    for (int i = 0; i < call->num_outputs; i++) {
        const leati_operand *from = &apart->call.outputs[i], *to = &call->outputs[i];
        for (int64_t r = 0; r < call->n && from->row_stride > 0; r++)
            memcpy(leati_support_row_of(to, r), leati_support_row_of(from, r),
                   (size_t)from->row_stride);
    }
    atomic_store(&loop->failed, atomic_load(&apart->loop.failed));
    atomic_store(&loop->no_memory, atomic_load(&apart->loop.no_memory));
    apart_loop_free(apart);
    return true;
}

leat_status leati_matrices_run(leati_matrices_loop *loop, double ns, leat_error *err) {
    loop->total = loop->call->n * loop->count;
    if (loop->total == 0)
        return LEAT_OK;
    loop->grain = LEATI_MAX((int64_t)(PIECE_NS / (ns + 1)), 1);
    atomic_init(&loop->failed, INT64_MAX);
    atomic_init(&loop->no_memory, false);
    if (ns < LONG_NS || !leati_stop_may_come() || !run_apart(loop, ns))
        run_all(loop, ns);
    int64_t failed = atomic_load_explicit(&loop->failed, memory_order_relaxed);
    if (atomic_load_explicit(&loop->no_memory, memory_order_relaxed))
        return leati_no_memory(err);
    if (failed == INT64_MAX)
        return LEAT_OK;
    loop->call->failed_row = failed / loop->count;
    return leati_refuse(err, VALUE, "matrix %lld: %s", (long long)(failed % loop->count),
                        loop->why);
}

/* ---- for gradients ---- */

leat_value leati_matrices_transposed(leat_value x) {
    return leat_op_einsum(&x, 1, "...ij->...ji");
}

leat_value leati_matrices_adjoint(leat_value x) {
    return leati_matrices_transposed(leati_support_conjugate(x));
}

leat_value leati_matrices_product(leat_value a, leat_value b, bool adjoint_a, bool adjoint_b) {
    return leat_op_matmul(adjoint_a ? leati_support_conjugate(a) : a,
                          adjoint_b ? leati_support_conjugate(b) : b, adjoint_a, adjoint_b);
}

leat_value leati_matrices_diagonal(leat_value vectors) {
    return leat_op_diag(
        vectors, &(leat_op_diag_options){LEAT_OP_DIAG_DEFAULTS, .k = &(int64_t){0}, .num_k = 1});
}

leat_value leati_matrices_diagonal_of(leat_value x) {
    return leat_op_diag_part(x, &(int64_t){0}, 1, 0, NULL);
}

leat_value leati_matrices_safe_reciprocal(leat_value x) {
    leat_value square = leat_op_square(x);
    return leat_op_divide(
        x, leat_op_add(square, leati_support_number(x.graph, leat_value_dtype(x), 1e-20)));
}

leat_value leati_matrices_gaps(leat_value v) {
    leat_value gaps = leat_op_subtract(leat_op_expand_dims(v, -2), leat_op_expand_dims(v, -1));
    return leat_op_set_diag(leati_matrices_safe_reciprocal(gaps), leat_op_zeros_like(v),
                            &(int64_t){0}, 1, NULL);
}

leat_value leati_matrices_lower_half(leat_value x) {
    leat_value both = leat_op_band_part(leat_op_add(x, leati_matrices_adjoint(x)), -1, 0);
    return leat_op_set_diag(both, leati_support_times(leati_matrices_diagonal_of(both), 0.5),
                            &(int64_t){0}, 1, NULL);
}
