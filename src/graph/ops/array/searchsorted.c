/* searchsorted: the places where values would stand in sorted lines (tf.searchsorted).
 *
 * Each line of the last dimension is searched for the values of the same line, by halving. Fails
 * where the dimensions before the last differ or dtypes do. No gradient, no state, no locks. */
#include "base/minmax.h"
#include "graph/support/array/moving.h"
#include "graph/support/math/elementwise.h"

#include <string.h>

struct searchsorted_args {
    char *side;
    leat_dtype out_type;
};

static const leati_row searchsorted_rows[] = {
    {.name = "side",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct searchsorted_args, side),
     .default_text = "left",
     .doc = "left: before values that are equal; right: behind them."},
    {.name = "out_type",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct searchsorted_args, out_type),
     .default_number = LEAT_INT32,
     .doc = "The dtype of the places: int32 or int64."},
    {0},
};

/* How many of n sorted numbers are less than the value at `v`, or not greater. */
#define SEARCH_TYPE(NAME, TYPE, LOAD)                                                              \
    static int64_t NAME(const char *line, int64_t n, const char *v, bool right) {                  \
        const TYPE *numbers = (const TYPE *)(const void *)line;                                    \
        __typeof__(LOAD(numbers[0])) wanted = LOAD(*(const TYPE *)(const void *)v);                \
        int64_t low = 0, high = n;                                                                 \
        while (low < high) {                                                                       \
            int64_t middle = low + (high - low) / 2;                                               \
            __typeof__(wanted) found = LOAD(numbers[middle]);                                      \
            bool behind = right ? found <= wanted : found < wanted;                                \
            low = behind ? middle + 1 : low;                                                       \
            high = behind ? high : middle;                                                         \
        }                                                                                          \
        return low;                                                                                \
    }
#define PLAIN(x) (x)
SEARCH_TYPE(search_int8, int8_t, PLAIN)
SEARCH_TYPE(search_int16, int16_t, PLAIN)
SEARCH_TYPE(search_int32, int32_t, PLAIN)
SEARCH_TYPE(search_int64, int64_t, PLAIN)
SEARCH_TYPE(search_uint8, uint8_t, PLAIN)
SEARCH_TYPE(search_uint16, uint16_t, PLAIN)
SEARCH_TYPE(search_uint32, uint32_t, PLAIN)
SEARCH_TYPE(search_uint64, uint64_t, PLAIN)
SEARCH_TYPE(search_float16, uint16_t, leati_float_of_half)
SEARCH_TYPE(search_bfloat16, uint16_t, leati_float_of_bfloat16)
SEARCH_TYPE(search_float32, float, PLAIN)
SEARCH_TYPE(search_float64, double, PLAIN)

typedef int64_t (*search_function)(const char *line, int64_t n, const char *v, bool right);
static const search_function searches[LEAT_NUM_DTYPES] = {LEATI_TABLE_NUMBER(search)};

/* ---- several values side by side ---- */
/* Each step of halving waits for memory; those of several values wait together. */
enum { BESIDE = 16 };
typedef struct search_beside {
    const void *line, *values;
    int64_t n; /* 1 and more */
    int32_t places[BESIDE];
} search_beside;

#define SEARCH_BESIDE(NAME, TYPE, BEHIND)                                                          \
    LEATI_ALWAYS_INLINE void NAME##_loop(search_beside *s) {                                       \
        const TYPE *numbers = s->line, *wanted = s->values;                                        \
        int32_t low[BESIDE] = {0}, left = (int32_t)s->n;                                           \
        for (int32_t half = left / 2; left > 1; left -= half, half = left / 2)                     \
            for (int k = 0; k < BESIDE; k++)                                                       \
                low[k] += numbers[low[k] + half - 1] BEHIND wanted[k] ? half : 0;                  \
        for (int k = 0; k < BESIDE; k++)                                                           \
            s->places[k] = low[k] + (numbers[low[k]] BEHIND wanted[k] ? 1 : 0);                    \
    }                                                                                              \
    LEATI_ISA(NAME, NAME##_loop, search_beside *)
#define SEARCHES_BESIDE(NAME, TYPE)                                                                \
    SEARCH_BESIDE(left_##NAME, TYPE, <)                                                            \
    SEARCH_BESIDE(right_##NAME, TYPE, <=)
SEARCHES_BESIDE(int32, int32_t)
SEARCHES_BESIDE(int64, int64_t)
SEARCHES_BESIDE(float32, float)
SEARCHES_BESIDE(float64, double)

typedef void beside_function(search_beside *s);
static beside_function *const besides[LEAT_NUM_DTYPES][2] = {
    [LEAT_INT32] = {left_int32, right_int32},
    [LEAT_INT64] = {left_int64, right_int64},
    [LEAT_FLOAT32] = {left_float32, right_float32},
    [LEAT_FLOAT64] = {left_float64, right_float64},
};

static leat_status check_shapes(const leat_shape *lines, const leat_shape *values,
                                leat_error *err) {
    char texts[2][128];
    if (lines->rank < 0 || values->rank < 0)
        return LEAT_OK;
    bool fits = lines->rank >= 1 && lines->rank == values->rank;
    for (int32_t d = 0; fits && d < lines->rank - 1; d++)
        fits = lines->dims[d] == values->dims[d] || lines->dims[d] == LEAT_UNKNOWN_DIM ||
               values->dims[d] == LEAT_UNKNOWN_DIM;
    if (fits)
        return LEAT_OK;
    return leati_refuse(
        err, SHAPE,
        "sorted_sequence has shape %s and values %s; expected equal dimensions before "
        "the last",
        leati_shape_text(lines, texts[0]), leati_shape_text(values, texts[1]));
}

static leat_status searchsorted_infer(leati_infer_call *call, leat_error *err) {
    const struct searchsorted_args *args = call->args;
    if (searches[call->inputs[0].dtype] == NULL)
        return leati_refuse(err, DTYPE, "sorted_sequence is %s; expected numbers",
                            leat_dtype_name(call->inputs[0].dtype));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    if (strcmp(args->side, "left") != 0 && strcmp(args->side, "right") != 0)
        return leati_refuse(err, VALUE, "side must be either 'right' or 'left'.  Saw: %.64s.",
                            args->side);
    if (args->out_type != LEAT_INT32 && args->out_type != LEAT_INT64)
        return leati_refuse(err, DTYPE, "out_type is %s; expected int32 or int64",
                            leat_dtype_name(args->out_type));
    LEATI_TRY(check_shapes(&call->inputs[0].shape, &call->inputs[1].shape, err));
    return leati_op_infer_output(call, args->out_type, &call->inputs[1].shape, NULL, err);
}

/* One row: `each` values of a line are looked up in the n numbers of the line of the same number.
 */
typedef struct search_work {
    const leati_kernel_call *call;
    int64_t row, n, each;
    bool right;
} search_work;

enum { SEARCH_BYTES = 512 }; /* that could be moved while a value is looked up */

static void store_place(const leati_operand *out, char *to, int64_t i, int64_t place) {
    if (out->dtype == LEAT_INT32)
        ((int32_t *)(void *)to)[i] = (int32_t)place;
    else
        ((int64_t *)(void *)to)[i] = place;
}

static void search_steps(void *data, int64_t begin, int64_t end) {
    const search_work *w = data;
    const leati_operand *lines = &w->call->inputs[0], *out = &w->call->outputs[0];
    search_function search = searches[lines->dtype];
    beside_function *beside = besides[lines->dtype][w->right];
    size_t size = leat_dtype_size(lines->dtype);
    char *to = leati_support_row_of(out, w->row);
    const char *line = leati_support_row_of(lines, w->row);
    const char *v = leati_support_row_of(&w->call->inputs[1], w->row);
    bool some = w->n > 0 && w->n <= INT32_MAX && beside != NULL;
    for (int64_t i = begin; i < end;) {
        /* An empty line may have no memory to point into. */
        search_beside s = {.n = w->n, .values = v + (size_t)i * size};
        int64_t here = LEATI_MIN(end, (i / w->each + 1) * w->each) - i;
        s.line = w->n > 0 ? line + (size_t)(i / w->each * w->n) * size : NULL;
        if (some && here >= BESIDE) {
            beside(&s);
            for (int k = 0; k < BESIDE; k++)
                store_place(out, to, i + k, s.places[k]);
            i += BESIDE;
            continue;
        }
        store_place(out, to, i, w->n > 0 ? search(s.line, w->n, s.values, w->right) : 0);
        i++;
    }
}

static leat_status searchsorted_kernel(leati_kernel_call *call, leat_error *err) {
    const struct searchsorted_args *args = call->args;
    const leati_operand *lines = &call->inputs[0], *values = &call->inputs[1];
    leat_shape from = leati_support_operand_shape(lines),
               shape = leati_support_operand_shape(values);
    LEATI_TRY(check_shapes(&from, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    search_work work = {.call = call,
                        .n = from.dims[from.rank - 1],
                        .each = shape.dims[shape.rank - 1],
                        /* Inference has made sure that it is one of two. */
                        .right = args->side[0] == 'r'};
    for (work.row = 0; work.row < call->n; work.row++)
        leati_moving_share(values->count, SEARCH_BYTES, search_steps, &work);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_searchsorted = {
    .name = "searchsorted",
    .version = 1,
    .doc = "The places where values would stand in sorted lines (tf.searchsorted).",
    .names = "searchsorted",
    .inputs = "sorted_sequence values",
    .types = "T T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = searchsorted_rows,
    .args_size = sizeof(struct searchsorted_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = searchsorted_infer,
    .kernel = searchsorted_kernel,
};
