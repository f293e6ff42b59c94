/* The engine of reductions; see reduce.h.
 *
 * The dimensions of a row, reduced and kept ones alternating after neighbours of a kind are merged,
 * are walked recursively; the innermost loop either folds a line into one accumulator or adds a
 * line to a line of them. Accumulators come from the call's arena: one set for all rows. Fails
 * without memory and on dtypes that inference refuses. No locks. */
#include "graph/support/math/reduce.h"

#include "base/minmax.h"
#include "base/stop.h"
#include "core/half.h"

#include <math.h>

leat_status leati_reduce_mask(const leati_ints *axes, int32_t rank, bool *mask, leat_error *err) {
    for (int32_t d = 0; d < rank; d++)
        /* No list means all dimensions, an empty list none. */
        mask[d] = axes->values == NULL;
    return leati_support_mark_axes(axes, rank, mask, err);
}

leat_shape leati_reduce_shape(const leat_shape *in, const bool *mask, bool keepdims) {
    leat_shape out = {.rank = 0};
    for (int32_t d = 0; d < in->rank; d++)
        if (!mask[d] || keepdims)
            out.dims[out.rank++] = mask[d] ? 1 : in->dims[d];
    return out;
}

leat_status leati_reduce_infer_as(leati_infer_call *call, leat_dtype dtype, leat_error *err) {
    const struct leati_reduce_args *args = call->args;
    const leat_shape *in = &call->inputs[0].shape;
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    if (call->unknown != 0) { /* the axes */
        shape.rank = args->keepdims ? in->rank : LEAT_UNKNOWN_RANK;
        for (int32_t d = 0; d < shape.rank; d++)
            shape.dims[d] = LEAT_UNKNOWN_DIM;
    } else if (in->rank >= 0) {
        bool mask[LEAT_MAX_RANK];
        LEATI_TRY(leati_reduce_mask(&args->axis, in->rank, mask, err));
        shape = leati_reduce_shape(in, mask, args->keepdims);
    } else if (args->axis.values == NULL && !args->keepdims) {
        /* Even of an unknown rank, all dimensions become a scalar. */
        shape = LEAT_SCALAR;
    }
    return leati_op_infer_output(call, dtype, &shape, NULL, err);
}

/* ---- the walk ---- */
typedef union accumulator {
    double f;
    int64_t i;
    uint64_t u;
} accumulator;

typedef void (*fold_function)(accumulator *to, const char *from, int64_t n);

typedef struct reduce_plan {
    int num_dims;
    int64_t sizes[LEAT_MAX_RANK];
    int64_t steps[LEAT_MAX_RANK];     /* bytes of the input */
    int64_t acc_steps[LEAT_MAX_RANK]; /* accumulators; 0: reduced */
    fold_function fold;               /* a dense line into one accumulator */
    fold_function add;                /* a dense line to a line of accumulators */
    int64_t done;                     /* values since the last look at whether to stop */
} reduce_plan;

/* The two inner loops for values of TYPE: LOAD makes the accumulator's number v, UPDATE puts it
 * into the member M of accumulator a. */
#define REDUCE_LINES(NAME, TYPE, M, NUMBER, LOAD, UPDATE)                                          \
    static void NAME##_fold(accumulator *to, const char *from, int64_t n) {                        \
        NUMBER a = to->M;                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            NUMBER v = (NUMBER)LOAD(((const TYPE *)from)[i]);                                      \
            UPDATE;                                                                                \
        }                                                                                          \
        to->M = a;                                                                                 \
    }                                                                                              \
    static void NAME##_add(accumulator *to, const char *from, int64_t n) {                         \
        for (int64_t i = 0; i < n; i++) {                                                          \
            NUMBER v = (NUMBER)LOAD(((const TYPE *)from)[i]), a = to[i].M;                         \
            UPDATE;                                                                                \
            to[i].M = a;                                                                           \
        }                                                                                          \
    }

#define PLAIN(x) (x)
#define REDUCE_TYPES(KIND, FLOAT, INTEGER)                                                         \
    REDUCE_LINES(KIND##_int8, int8_t, i, int64_t, PLAIN, INTEGER)                                  \
    REDUCE_LINES(KIND##_int16, int16_t, i, int64_t, PLAIN, INTEGER)                                \
    REDUCE_LINES(KIND##_int32, int32_t, i, int64_t, PLAIN, INTEGER)                                \
    REDUCE_LINES(KIND##_int64, int64_t, i, int64_t, PLAIN, INTEGER)                                \
    REDUCE_LINES(KIND##_uint8, uint8_t, u, uint64_t, PLAIN, INTEGER)                               \
    REDUCE_LINES(KIND##_uint16, uint16_t, u, uint64_t, PLAIN, INTEGER)                             \
    REDUCE_LINES(KIND##_uint32, uint32_t, u, uint64_t, PLAIN, INTEGER)                             \
    REDUCE_LINES(KIND##_uint64, uint64_t, u, uint64_t, PLAIN, INTEGER)                             \
    REDUCE_LINES(KIND##_float16, uint16_t, f, double, leati_float_of_half, FLOAT)                  \
    REDUCE_LINES(KIND##_bfloat16, uint16_t, f, double, leati_float_of_bfloat16, FLOAT)             \
    REDUCE_LINES(KIND##_float32, float, f, double, PLAIN, FLOAT)                                   \
    REDUCE_LINES(KIND##_float64, double, f, double, PLAIN, FLOAT)

/* Integers go by way of unsigned numbers, because signed ones must not wrap in C. */
REDUCE_TYPES(sum, a += v, a = (__typeof__(a))((uint64_t)a + (uint64_t)v))
REDUCE_TYPES(max, a = (v > a || v != v) ? v : a, a = LEATI_MAX(v, a))
REDUCE_TYPES(min, a = (v < a || v != v) ? v : a, a = LEATI_MIN(v, a))
REDUCE_TYPES(prod, a *= v, a = (__typeof__(a))((uint64_t)a * (uint64_t)v))

#define REDUCE_TABLE(KIND, SUFFIX)                                                                 \
    {                                                                                              \
        [LEAT_INT8] = KIND##_int8_##SUFFIX, [LEAT_INT16] = KIND##_int16_##SUFFIX,                  \
        [LEAT_INT32] = KIND##_int32_##SUFFIX, [LEAT_INT64] = KIND##_int64_##SUFFIX,                \
        [LEAT_UINT8] = KIND##_uint8_##SUFFIX, [LEAT_UINT16] = KIND##_uint16_##SUFFIX,              \
        [LEAT_UINT32] = KIND##_uint32_##SUFFIX, [LEAT_UINT64] = KIND##_uint64_##SUFFIX,            \
        [LEAT_FLOAT16] = KIND##_float16_##SUFFIX, [LEAT_BFLOAT16] = KIND##_bfloat16_##SUFFIX,      \
        [LEAT_FLOAT32] = KIND##_float32_##SUFFIX, [LEAT_FLOAT64] = KIND##_float64_##SUFFIX,        \
        [LEAT_BOOL] = KIND##_uint8_##SUFFIX                                                        \
    }

/* By kind; a mean is a sum. Booleans are bytes of 0 and 1: "any" is their maximum, "all" their
 * minimum. */
#define REDUCE_KINDS(SUFFIX)                                                                       \
    {                                                                                              \
        [LEATI_REDUCE_SUM] = REDUCE_TABLE(sum, SUFFIX),                                            \
        [LEATI_REDUCE_MEAN] = REDUCE_TABLE(sum, SUFFIX),                                           \
        [LEATI_REDUCE_MAX] = REDUCE_TABLE(max, SUFFIX),                                            \
        [LEATI_REDUCE_MIN] = REDUCE_TABLE(min, SUFFIX),                                            \
        [LEATI_REDUCE_PROD] = REDUCE_TABLE(prod, SUFFIX)                                           \
    }

static const fold_function fold_lines[][LEAT_NUM_DTYPES] = REDUCE_KINDS(fold);
static const fold_function add_lines[][LEAT_NUM_DTYPES] = REDUCE_KINDS(add);

/* Dimensions of 1 are left out; neighbours that are both reduced or both kept become one. */
static void plan_dims(reduce_plan *plan, const leati_operand *in, const bool *mask) {
    int64_t steps[LEAT_MAX_RANK], acc_steps[LEAT_MAX_RANK], acc_step = 1;
    leat_shape shape = leati_support_operand_shape(in);
    leati_support_dense_steps(&shape, leat_dtype_size(in->dtype), steps);
    for (int32_t d = in->rank - 1; d >= 0; d--) {
        /* Kept dimensions lie in the accumulators as in the result. */
        acc_steps[d] = mask[d] ? 0 : acc_step;
        acc_step *= mask[d] ? 1 : in->dims[d];
    }
    plan->num_dims = 0;
    int last = -1;
    for (int32_t d = 0; d < in->rank; d++) {
        int at = plan->num_dims;
        if (in->dims[d] == 1)
            continue;
        /* The steps are those of the inner dimension: the input is dense, so both are one run. */
        if (last >= 0 && mask[last] == mask[d])
            plan->sizes[--at] *= in->dims[d];
        else
            plan->sizes[at] = in->dims[d];
        plan->steps[at] = steps[d];
        plan->acc_steps[at] = acc_steps[d];
        plan->num_dims = at + 1;
        last = d;
    }
}

/* A long line of the innermost dimension, in parts. */
static void walk_line(reduce_plan *plan, int d, accumulator *to, const char *from) {
    bool folds = plan->acc_steps[d] == 0;
    for (int64_t i = 0; i < plan->sizes[d]; i += LEATI_STOP_WORK) {
        int64_t n = LEATI_MIN(plan->sizes[d] - i, LEATI_STOP_WORK);
        (folds ? plan->fold : plan->add)(folds ? to : to + i, from + i * plan->steps[d], n);
        if (leati_stop_look_after(n, &plan->done))
            break;
    }
}

/* At most LEAT_MAX_RANK deep. */
static void walk(reduce_plan *plan, int d, accumulator *to, const char *from) {
    int last = plan->num_dims - 1;
    if (d > last) {
        plan->fold(to, from, 1);
    } else if (d == last && plan->sizes[d] > LEATI_STOP_WORK) {
        walk_line(plan, d, to, from);
    } else if (d == last) {
        /* The innermost dimension is dense, in the input and, if it is kept, in the
         * accumulators. */
        (plan->acc_steps[d] == 0 ? plan->fold : plan->add)(to, from, plan->sizes[d]);
    } else {
        int64_t work = d == last - 1 ? plan->sizes[last] : 0;
        for (int64_t i = 0; i < plan->sizes[d] && !leati_stop_look_after(work, &plan->done); i++)
            walk(plan, d + 1, to + i * plan->acc_steps[d], from + i * plan->steps[d]);
    }
}

/* ---- before and after ---- */
static bool is_float(leat_dtype dtype) {
    return dtype >= LEAT_FLOAT16 && dtype <= LEAT_FLOAT64;
}

static bool is_unsigned(leat_dtype dtype) {
    return dtype >= LEAT_UINT8 && dtype <= LEAT_UINT64;
}

/* The lowest value of a dtype. */
static accumulator lowest(leat_dtype dtype) {
    switch (dtype) {
    case LEAT_INT8: return (accumulator){.i = INT8_MIN};
    case LEAT_INT16: return (accumulator){.i = INT16_MIN};
    case LEAT_INT32: return (accumulator){.i = INT32_MIN};
    case LEAT_INT64: return (accumulator){.i = INT64_MIN};
    case LEAT_FLOAT16:
    case LEAT_BFLOAT16:
    case LEAT_FLOAT32:
    case LEAT_FLOAT64: return (accumulator){.f = -HUGE_VAL};
    default: return (accumulator){.u = 0};
    }
}

/* The highest value of a dtype. */
static accumulator highest(leat_dtype dtype) {
    switch (dtype) {
    case LEAT_INT8: return (accumulator){.i = INT8_MAX};
    case LEAT_INT16: return (accumulator){.i = INT16_MAX};
    case LEAT_INT32: return (accumulator){.i = INT32_MAX};
    case LEAT_INT64: return (accumulator){.i = INT64_MAX};
    case LEAT_UINT8: return (accumulator){.u = UINT8_MAX};
    case LEAT_UINT16: return (accumulator){.u = UINT16_MAX};
    case LEAT_UINT32: return (accumulator){.u = UINT32_MAX};
    case LEAT_UINT64: return (accumulator){.u = UINT64_MAX};
    case LEAT_BOOL: return (accumulator){.u = 1};
    default: return (accumulator){.f = HUGE_VAL};
    }
}

/* What a reduction of no values gives. */
static accumulator first_of(leati_reduce_kind kind, leat_dtype dtype) {
    switch (kind) {
    case LEATI_REDUCE_MAX: return lowest(dtype);
    case LEATI_REDUCE_MIN: return highest(dtype);
    case LEATI_REDUCE_PROD: return is_float(dtype) ? (accumulator){.f = 1} : (accumulator){.u = 1};
    default: return is_float(dtype) ? (accumulator){.f = 0} : (accumulator){.u = 0};
    }
}

static void divide(accumulator *acc, int64_t n, leat_dtype dtype, int64_t count) {
    for (int64_t i = 0; i < n; i++)
        if (is_float(dtype))
            acc[i].f /= (double)count;
        else if (count == 0)
            acc[i].u = 0;
        else if (is_unsigned(dtype))
            acc[i].u /= (uint64_t)count;
        else
            acc[i].i /= count;
}

static void store(char *to, leat_dtype dtype, const accumulator *acc, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        switch (dtype) {
        case LEAT_FLOAT32: ((float *)to)[i] = (float)acc[i].f; break;
        case LEAT_FLOAT64: ((double *)to)[i] = acc[i].f; break;
        case LEAT_FLOAT16: ((uint16_t *)to)[i] = leati_half_of_float((float)acc[i].f); break;
        case LEAT_BFLOAT16: ((uint16_t *)to)[i] = leati_bfloat16_of_float((float)acc[i].f); break;
        case LEAT_BOOL:
        case LEAT_INT8:
        case LEAT_UINT8: ((uint8_t *)to)[i] = (uint8_t)acc[i].u; break;
        case LEAT_INT16:
        case LEAT_UINT16: ((uint16_t *)to)[i] = (uint16_t)acc[i].u; break;
        case LEAT_INT32:
        case LEAT_UINT32: ((uint32_t *)to)[i] = (uint32_t)acc[i].u; break;
        default: ((uint64_t *)to)[i] = acc[i].u;
        }
    }
}

leat_status leati_reduce(leati_kernel_call *call, const bool *mask, leati_reduce_kind kind,
                         leat_error *err) {
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    reduce_plan plan = {.fold = fold_lines[kind][in->dtype], .add = add_lines[kind][in->dtype]};
    plan_dims(&plan, in, mask);
    size_t bytes = 0;
    if (!leati_mul_size((size_t)out->count, sizeof(accumulator), &bytes))
        return leati_no_memory(err);
    accumulator *acc = leati_arena_alloc(call->arena, bytes);
    if (acc == NULL)
        return leati_no_memory(err);
    int64_t reduced = 1;
    for (int32_t d = 0; d < in->rank; d++)
        reduced *= mask[d] ? in->dims[d] : 1;
    accumulator first = first_of(kind, in->dtype);
    for (int64_t row = 0; row < call->n; row++) {
        for (int64_t i = 0; i < out->count; i++)
            acc[i] = first;
        if (in->count > 0)
            walk(&plan, 0, acc, leati_support_row_of(in, row));
        if (kind == LEATI_REDUCE_MEAN)
            divide(acc, out->count, in->dtype, reduced);
        store(leati_support_row_of(out, row), in->dtype, acc, out->count);
    }
    return LEAT_OK;
}
