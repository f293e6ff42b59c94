/* Running totals along a dimension; see cumulate.h. Fails where the axis is outside the input. No
 * state, no locks. */
#include "graph/support/math/cumulate.h"

#include "graph/support/math/elementwise.h"

const leati_row leati_cumulate_rows[] = {
    {.name = "axis",
     .type = LEATI_ROW_INT,
     .flags = LEATI_TENSOR,
     .offset = offsetof(struct leati_cumulate_args, axis),
     .doc = "The dimension along which totals run; negative counts from the end."},
    {.name = "exclusive",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct leati_cumulate_args, exclusive),
     .doc = "Leave a value's own place out of its total."},
    {.name = "reverse",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct leati_cumulate_args, reverse),
     .doc = "Run from the end."},
    {0},
};

/* Totals over n values, `step` values apart, which may be negative. */
#define CUMULATE_LINE(NAME, TYPE, NUMBER, LOAD, STORE, START, UPDATE)                              \
    static void NAME(char *to, const char *from, int64_t n, int64_t step, bool exclusive) {        \
        NUMBER a = START;                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            NUMBER v = (NUMBER)LOAD(((const TYPE *)(const void *)from)[i * step]);                 \
            if (exclusive)                                                                         \
                ((TYPE *)(void *)to)[i * step] = (TYPE)STORE(a);                                   \
            UPDATE;                                                                                \
            if (!exclusive)                                                                        \
                ((TYPE *)(void *)to)[i * step] = (TYPE)STORE(a);                                   \
        }                                                                                          \
    }
#define PLAIN(x) (x)
#define CUMULATE_TYPES(KIND, START, UPDATE)                                                        \
    CUMULATE_LINE(KIND##_int8, int8_t, uint32_t, PLAIN, PLAIN, START, UPDATE)                      \
    CUMULATE_LINE(KIND##_int16, int16_t, uint32_t, PLAIN, PLAIN, START, UPDATE)                    \
    CUMULATE_LINE(KIND##_int32, int32_t, uint32_t, PLAIN, PLAIN, START, UPDATE)                    \
    CUMULATE_LINE(KIND##_int64, int64_t, uint64_t, PLAIN, PLAIN, START, UPDATE)                    \
    CUMULATE_LINE(KIND##_uint8, uint8_t, uint32_t, PLAIN, PLAIN, START, UPDATE)                    \
    CUMULATE_LINE(KIND##_uint16, uint16_t, uint32_t, PLAIN, PLAIN, START, UPDATE)                  \
    CUMULATE_LINE(KIND##_uint32, uint32_t, uint32_t, PLAIN, PLAIN, START, UPDATE)                  \
    CUMULATE_LINE(KIND##_uint64, uint64_t, uint64_t, PLAIN, PLAIN, START, UPDATE)                  \
    CUMULATE_LINE(KIND##_float16, uint16_t, float, leati_float_of_half, leati_half_of_float,       \
                  START, UPDATE)                                                                   \
    CUMULATE_LINE(KIND##_bfloat16, uint16_t, float, leati_float_of_bfloat16,                       \
                  leati_bfloat16_of_float, START, UPDATE)                                          \
    CUMULATE_LINE(KIND##_float32, float, float, PLAIN, PLAIN, START, UPDATE)                       \
    CUMULATE_LINE(KIND##_float64, double, double, PLAIN, PLAIN, START, UPDATE)

CUMULATE_TYPES(sum, 0, a += v)
CUMULATE_TYPES(prod, 1, a *= v)

typedef void (*line_function)(char *to, const char *from, int64_t n, int64_t step, bool exclusive);
static const line_function lines[2][LEAT_NUM_DTYPES] = {{LEATI_TABLE_NUMBER(sum)},
                                                        {LEATI_TABLE_NUMBER(prod)}};

leat_status leati_cumulate_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_cumulate_args *args = call->args;
    const leati_type *in = &call->inputs[0];
    int32_t axis = 0;
    if (lines[0][in->dtype] == NULL)
        return leati_refuse(err, DTYPE, "the input is %s; expected numbers",
                            leat_dtype_name(in->dtype));
    if (in->shape.rank >= 0 && call->unknown == 0)
        LEATI_TRY(leati_support_normal_axis(args->axis, in->shape.rank, &axis, err));
    return leati_op_infer_same(call, err);
}

leat_status leati_cumulate_kernel(leati_kernel_call *call, bool product, leat_error *err) {
    const struct leati_cumulate_args *args = call->args;
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    line_function line = lines[product][in->dtype];
    int32_t axis = 0;
    LEATI_TRY(leati_support_normal_axis(args->axis, in->rank, &axis, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    int64_t inner = 1, dim = shape.dims[axis], size = (int64_t)leat_dtype_size(in->dtype);
    for (int32_t d = axis + 1; d < shape.rank; d++)
        inner *= shape.dims[d];
    for (int64_t row = 0; row < call->n && in->count > 0; row++) {
        for (int64_t i = 0; i < in->count / dim; i++) {
            int64_t first = (i / inner * dim * inner + i % inner) * size;
            int64_t start = args->reverse ? first + (dim - 1) * inner * size : first;
            line(leati_support_row_of(out, row) + start, leati_support_row_of(in, row) + start, dim,
                 args->reverse ? -inner : inner, args->exclusive);
        }
    }
    return LEAT_OK;
}

leat_value leati_cumulate_build(const leati_tensor_op *op, leat_value x, int64_t axis,
                                bool exclusive, bool reverse) {
    struct leati_cumulate_args args = {.axis = axis, .exclusive = exclusive, .reverse = reverse};
    return leati_graph_build1(op, &args, x);
}
