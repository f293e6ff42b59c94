/* What the recurrent operations share; see recurrence.h. */
#include "graph/support/nn/recurrence.h"

#include "base/isa.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "graph/support/linalg/gemm.h"
#include "graph/support/math/functions.h"
#include <math.h>
#include <string.h>

/* ---- activations ---- */

/* Values, and gradients that flow to them. */
typedef struct activated {
    void *values;
    void *gradients;
    int64_t n;
} activated;

/* VALUE is of x, SLOPE of the value y: all of these are monotonous, so the value is enough. */
#define ACTIVATION_TYPE(NAME, TYPE, VALUE, SLOPE)                                                  \
    LEATI_ALWAYS_INLINE void NAME##_values_##TYPE(const activated *a) {                            \
        TYPE *values = a->values;                                                                  \
        LEATI_INDEPENDENT                                                                          \
        for (int64_t i = 0; i < a->n; i++) {                                                       \
            TYPE x = values[i];                                                                    \
            values[i] = (TYPE)(VALUE);                                                             \
        }                                                                                          \
    }                                                                                              \
    LEATI_ALWAYS_INLINE void NAME##_slopes_##TYPE(const activated *a) {                            \
        const TYPE *values = a->values;                                                            \
        TYPE *g = a->gradients;                                                                    \
        LEATI_INDEPENDENT                                                                          \
        for (int64_t i = 0; i < a->n; i++) {                                                       \
            TYPE y = values[i];                                                                    \
            (void)y;                                                                               \
            g[i] *= (TYPE)(SLOPE);                                                                 \
        }                                                                                          \
    }                                                                                              \
    LEATI_ISA(NAME##_make_##TYPE, NAME##_values_##TYPE, const activated *)                         \
    LEATI_ISA(NAME##_flow_##TYPE, NAME##_slopes_##TYPE, const activated *)                         \
    static void NAME##_apply_##TYPE(TYPE *values, int64_t n) {                                     \
        const activated a = {.values = values, .n = n};                                            \
        NAME##_make_##TYPE(&a);                                                                    \
    }                                                                                              \
    static void NAME##_slope_##TYPE(const TYPE *values, TYPE *g, int64_t n) {                      \
        const activated a = {(void *)(uintptr_t)values, g, n};                                     \
        NAME##_flow_##TYPE(&a);                                                                    \
    }
#define ACTIVATION(NAME, FLOAT, DOUBLE, SLOPE)                                                     \
    ACTIVATION_TYPE(NAME, float, FLOAT, SLOPE)                                                     \
    ACTIVATION_TYPE(NAME, double, DOUBLE, SLOPE)

ACTIVATION(tanh, leati_math_tanh(x), tanh(x), 1 - y * y)
ACTIVATION(sigmoid, leati_math_sigmoid(x), 1.0 / (1.0 + exp(-x)), y *(1 - y))
ACTIVATION(hard_sigmoid, LEATI_MIN(LEATI_MAX(x + 3, 0), 6) / 6,
           LEATI_MIN(LEATI_MAX(x + 3, 0), 6) / 6, y > 0 && y < 1 ? 1.0 / 6 : 0)
ACTIVATION(hard_tanh, LEATI_MIN(LEATI_MAX(x, -1), 1), LEATI_MIN(LEATI_MAX(x, -1), 1),
           y > -1 && y < 1 ? 1 : 0)
ACTIVATION(relu, LEATI_MAX(x, 0), LEATI_MAX(x, 0), y > 0 ? 1 : 0)
ACTIVATION(relu6, LEATI_MIN(LEATI_MAX(x, 0), 6), LEATI_MIN(LEATI_MAX(x, 0), 6),
           y > 0 && y < 6 ? 1 : 0)
ACTIVATION(elu, x < 0 ? leati_math_expm1(x) : x, x < 0 ? expm1(x) : x, y < 0 ? y + 1 : 1)
/* log(1 + exp(x)) = y, so the slope 1 / (1 + exp(-x)) is 1 - exp(-y). */
ACTIVATION(softplus, leati_math_softplus(x), LEATI_MAX(x, 0) + log1p(exp(-fabs(x))),
           -expm1((double)-y))
/* x / (1 + |x|) = y, so 1 / (1 + |x|) is 1 - |y|. */
ACTIVATION(softsign, x / (1 + fabsf(x)), x / (1 + fabs(x)),
           (1 - fabs((double)y)) * (1 - fabs((double)y)))
ACTIVATION(exponential, leati_math_exp(x), exp(x), y)
ACTIVATION(linear, x, x, 1)

#define LINE(NAME)                                                                                 \
    { #NAME, NAME##_apply_float, NAME##_apply_double, NAME##_slope_float, NAME##_slope_double }
static const leati_recurrence_activation activations[] = {
    LINE(tanh), LINE(sigmoid),  LINE(hard_sigmoid), LINE(hard_tanh),   LINE(relu),  LINE(relu6),
    LINE(elu),  LINE(softplus), LINE(softsign),     LINE(exponential), LINE(linear)};

const leati_recurrence_activation *leati_recurrence_activation_find(const char *name,
                                                                    leat_error *err) {
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++)
        if (name != NULL && strcmp(activations[i].name, name) == 0)
            return &activations[i];
    (void)leati_refuse(
        err, VALUE,
        "the activation '%s' is not one whose slope follows from its value; expected "
        "tanh, sigmoid, hard_sigmoid, hard_tanh, relu, relu6, elu, softplus, "
        "softsign, exponential or linear",
        name != NULL ? name : "");
    return NULL;
}

/* ---- inference ---- */

/* Joins what is known of one dimension. */
static leat_status meet(int64_t *known, int64_t found, const char *what, leat_error *err) {
    LEATI_TRY(leati_support_want_equal_dims(*known, found, what, err));
    if (*known == LEAT_UNKNOWN_DIM)
        *known = found;
    return LEAT_OK;
}

leat_status leati_recurrence_want_kernel(const leati_infer_call *call, int index, int64_t parts,
                                         leati_recurrence_known *known, leat_error *err) {
    const leat_shape *shape = &call->inputs[index].shape;
    *known = (leati_recurrence_known){.dtype = call->inputs[index].dtype,
                                      .batch = LEAT_UNKNOWN_DIM,
                                      .steps = LEAT_UNKNOWN_DIM,
                                      .units = LEAT_UNKNOWN_DIM};
    LEATI_TRY(leati_support_want_float(call, index, "the recurrent kernel", err));
    LEATI_TRY(leati_support_want_rank(call, index, 2, "the recurrent kernel", err));
    if (shape->rank != 2)
        return LEAT_OK;
    known->units = shape->dims[0];
    return known->units == LEAT_UNKNOWN_DIM
               ? LEAT_OK
               : leati_support_want_equal_dims(known->units * parts, shape->dims[1],
                                               "the columns of the recurrent kernel", err);
}

leat_status leati_recurrence_want_sequence(const leati_infer_call *call, int index, int64_t parts,
                                           const char *what, leati_recurrence_known *known,
                                           leat_error *err) {
    const leat_shape *shape = &call->inputs[index].shape;
    LEATI_TRY(leati_support_want_dtype(call, index, known->dtype, what, err));
    LEATI_TRY(leati_support_want_rank(call, index, 3, what, err));
    if (shape->rank != 3)
        return LEAT_OK;
    LEATI_TRY(meet(&known->batch, shape->dims[0], what, err));
    LEATI_TRY(meet(&known->steps, shape->dims[1], what, err));
    return known->units == LEAT_UNKNOWN_DIM
               ? LEAT_OK
               : leati_support_want_equal_dims(known->units * parts, shape->dims[2], what, err);
}

leat_status leati_recurrence_want_state(const leati_infer_call *call, int index, const char *what,
                                        leati_recurrence_known *known, leat_error *err) {
    const leat_shape *shape = &call->inputs[index].shape;
    LEATI_TRY(leati_support_want_dtype(call, index, known->dtype, what, err));
    LEATI_TRY(leati_support_want_rank(call, index, 2, what, err));
    if (shape->rank != 2)
        return LEAT_OK;
    LEATI_TRY(meet(&known->batch, shape->dims[0], what, err));
    return meet(&known->units, shape->dims[1], what, err);
}

leat_status leati_recurrence_want_mask(const leati_infer_call *call, int index,
                                       leati_recurrence_known *known, leat_error *err) {
    if (call->num_inputs <= index)
        return LEAT_OK;
    const leat_shape *shape = &call->inputs[index].shape;
    LEATI_TRY(leati_support_want_dtype(call, index, LEAT_BOOL, "the mask", err));
    LEATI_TRY(leati_support_want_rank(call, index, 2, "the mask", err));
    if (shape->rank != 2)
        return LEAT_OK;
    LEATI_TRY(meet(&known->batch, shape->dims[0], "the batch of the mask", err));
    return meet(&known->steps, shape->dims[1], "the steps of the mask", err);
}

leat_status leati_recurrence_output(leati_infer_call *call, const leati_recurrence_known *known,
                                    int64_t parts, leat_error *err) {
    leat_shape shape = {.rank = parts > 0 ? 3 : 2, .dims = {known->batch, known->steps}};
    int64_t wide = LEATI_MAX(parts, 1);
    shape.dims[shape.rank - 1] =
        known->units == LEAT_UNKNOWN_DIM ? LEAT_UNKNOWN_DIM : known->units * wide;
    return leati_op_infer_output(call, known->dtype, &shape, NULL, err);
}

/* ---- kernels ---- */

leat_status leati_recurrence_init(leati_recurrence *r, const leati_kernel_call *call, int x,
                                  int kernel, int64_t parts, int mask, leat_error *err) {
    const struct leati_recurrence_args *args = call->args;
    const leati_operand *in = &call->inputs[x], *by = &call->inputs[kernel];
    LEATI_TRY(leati_support_check_rank(call, x, 3, "the sequence", err));
    LEATI_TRY(leati_support_check_rank(call, kernel, 2, "the recurrent kernel", err));
    *r = (leati_recurrence){.dtype = by->dtype,
                            .size = leat_dtype_size(by->dtype),
                            .batch = in->dims[0],
                            .steps = in->dims[1],
                            .units = by->dims[0],
                            .parts = parts,
                            .mask = call->num_inputs > mask ? mask : -1};
    LEATI_TRY(leati_support_want_equal_dims(r->units * parts, by->dims[1],
                                            "the columns of the recurrent kernel", err));
    r->activation = leati_recurrence_activation_find(args->activation, err);
    if (r->activation == NULL)
        return err->code;
    r->gate = r->activation;
    if (args->recurrent_activation != NULL)
        r->gate = leati_recurrence_activation_find(args->recurrent_activation, err);
    if (r->gate == NULL)
        return err->code;
    if (r->mask < 0)
        return LEAT_OK;
    const leati_operand *kept = &call->inputs[mask];
    LEATI_TRY(leati_support_check_rank(call, mask, 2, "the mask", err));
    LEATI_TRY(leati_support_want_equal_dims(r->batch, kept->dims[0], "the batch of the mask", err));
    return leati_support_want_equal_dims(r->steps, kept->dims[1], "the steps of the mask", err);
}

static leat_shape shape_of(const leati_recurrence *r, int64_t parts) {
    leat_shape shape = {.rank = parts > 0 ? 3 : 2, .dims = {r->batch, r->steps}};
    shape.dims[shape.rank - 1] = r->units * LEATI_MAX(parts, 1);
    return shape;
}

leat_status leati_recurrence_check(const leati_recurrence *r, const leati_kernel_call *call,
                                   int index, int64_t parts, const char *what, leat_error *err) {
    leat_shape found = leati_support_operand_shape(&call->inputs[index]);
    leat_shape wanted = shape_of(r, parts);
    return leati_support_want_shape(&found, &wanted, what, err);
}

leat_status leati_recurrence_give(const leati_recurrence *r, leati_kernel_call *call, int index,
                                  int64_t parts, leat_error *err) {
    leat_shape shape = shape_of(r, parts);
    return leati_support_output_like(call, index, &shape, err);
}

void *leati_recurrence_scratch(const leati_recurrence *r, leati_kernel_call *call, int64_t parts,
                               leat_error *err) {
    size_t bytes = (size_t)(r->batch * r->units * parts) * r->size;
    void *memory = leati_arena_alloc(call->arena, LEATI_MAX(bytes, 1));
    if (memory == NULL)
        (void)leati_no_memory(err);
    else
        memset(memory, 0, bytes);
    return memory;
}

const void *leati_recurrence_kernel_of(const leati_recurrence *r, leati_kernel_call *call,
                                       const void *kernel, int64_t first, int64_t parts,
                                       bool turned, leat_error *err) {
    int64_t columns = parts * r->units, all = r->parts * r->units;
    size_t bytes = LEATI_MAX((size_t)(columns * r->units) * r->size, 1);
    const void *dense = kernel;
    if (parts != r->parts) {
        char *copy = leati_arena_alloc(call->arena, bytes);
        const char *from = (const char *)kernel + (size_t)(first * r->units) * r->size;
        for (int64_t i = 0; copy != NULL && i < r->units; i++)
            memcpy(copy + (size_t)(i * columns) * r->size, from + (size_t)(i * all) * r->size,
                   (size_t)columns * r->size);
        dense = copy;
    }
    void *out = turned && dense != NULL ? leati_arena_alloc(call->arena, bytes) : NULL;
    if (dense == NULL || (turned && out == NULL)) {
        (void)leati_no_memory(err);
        return NULL;
    }
    if (!turned)
        return dense;
    leati_gemm_transpose(r->dtype, r->units, columns, dense, out);
    return out;
}

bool leati_recurrence_is_out(const leati_recurrence *r, const leati_kernel_call *call, int64_t row,
                             int64_t b, int64_t t) {
    if (r->mask < 0)
        return false;
    const char *mask = leati_support_row_of(&call->inputs[r->mask], row);
    return mask[b * r->steps + t] == 0;
}

void leati_recurrence_add(const leati_recurrence *r, void *to, const void *from, int64_t n) {
    leati_gemm_add(r->dtype, n, from, to);
}

void leati_recurrence_project(const leati_recurrence *r, const void *sequence, const void *first,
                              int64_t t, const void *kernel, int64_t columns, void *out) {
    const void *from = leati_recurrence_before(r, sequence, first, 0, t);
    leati_gemm(r->dtype, r->batch, columns, r->units,
               (leati_gemm_matrix){from, t > 0 ? r->steps * r->units : r->units, 1},
               (leati_gemm_matrix){kernel, columns, 1}, out, columns);
}

/* ---- gradients ---- */

leat_value leati_recurrence_shifted(leat_value first, leat_value states) {
    static const int64_t begin[3] = {0, 0, 0}, end[3] = {0, -1, 0};
    const leat_op_strided_slice_options options = {LEAT_OP_STRIDED_SLICE_DEFAULTS, .begin_mask = 7,
                                                   .end_mask = 5};
    const leat_value parts[2] = {leat_op_expand_dims(first, 1),
                                 leat_op_strided_slice(states, begin, 3, end, 3, &options)};
    return leat_op_concat(parts, 2, 1);
}

leat_value leati_recurrence_kernel_gradient(leat_value from, leat_value to) {
    leat_shape own = leat_value_shape(from), other = leat_value_shape(to);
    const int64_t batch = 0;
    /* One product for each row of the batch, where the matrices' columns are not known yet. */
    if (own.rank != 3 || other.rank != 3 || own.dims[2] < 0 || other.dims[2] < 0)
        return leat_op_reduce_sum(leat_op_matmul(from, to, true, false), &batch, 1, false);
    from = leat_op_reshape(from, (int64_t[]){-1, own.dims[2]}, 2);
    return leat_op_matmul(from, leat_op_reshape(to, (int64_t[]){-1, other.dims[2]}, 2), true,
                          false);
}

leat_value leati_recurrence_columns(leat_value value, int64_t first, int64_t parts, int64_t of) {
    leat_shape shape = leat_value_shape(value);
    int32_t last = shape.rank - 1;
    if (last < 0 || shape.dims[last] < 0)
        return leati_support_build_error(value.graph, LEAT_REASON_SHAPE,
                                         "the number of units is not known where the gradient is "
                                         "built; expected a recurrent kernel of a known shape");
    int64_t begin[3] = {0}, end[3] = {0}, units = shape.dims[last] / of;
    begin[last] = first * units;
    end[last] = (first + parts) * units;
    const int64_t others = (1 << last) - 1;
    const leat_op_strided_slice_options options = {LEAT_OP_STRIDED_SLICE_DEFAULTS,
                                                   .begin_mask = others, .end_mask = others};
    return leat_op_strided_slice(value, begin, last + 1, end, last + 1, &options);
}
