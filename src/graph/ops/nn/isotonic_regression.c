/* isotonic_regression: the rows nearest to those of a matrix that do not rise, and of which block
 * each value is the mean (tf.nn.isotonic_regression).
 *
 * Neighbours are pooled while they rise; of float32 and float64, whose sums are doubles. A row
 * takes two stacks in the thread's scratch memory. Fails where the input has no dimension, and
 * without memory. No gradient: the blocks say how it flows. No state, no locks. */
#include "base/minmax.h"
#include "graph/support/support.h"
#include "run/crew.h"

#include <stdatomic.h>

struct isotonic_args {
    bool decreasing;
};

static const leati_row isotonic_rows[] = {
    {.name = "decreasing",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct isotonic_args, decreasing),
     .default_number = 1,
     .doc = "Rows do not rise; else they do not fall."},
    {0},
};

static leat_status isotonic_regression_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *shape = &call->inputs[0].shape;
    LEATI_TRY(leati_support_want_float(call, 0, "the input", err));
    if (shape->rank == 0)
        return leati_refuse(err, SHAPE, "the input is a scalar; expected rows");
    LEATI_TRY(leati_op_infer_output(call, call->inputs[0].dtype, shape, NULL, err));
    return leati_op_infer_output(call, LEAT_INT32, shape, NULL, err);
}

typedef struct work {
    const char *x;
    char *out;
    int32_t *blocks;
    int64_t lines, length, at_once;
    bool decreasing;
    atomic_bool out_of_memory;
} work;

/* A block: its sum and how many values it has. */
typedef struct block {
    double sum, count;
} block;

/* The blocks of a row, on a stack; how many. */
#define POOL(TYPE)                                                                                 \
    static void pool_##TYPE(const work *w, int64_t line, block *stack) {                           \
        const TYPE *x = (const TYPE *)(const void *)w->x + line * w->length;                       \
        TYPE *out = (TYPE *)(void *)w->out + line * w->length;                                     \
        int32_t *blocks = w->blocks + line * w->length;                                            \
        int64_t count = 0;                                                                         \
        for (int64_t i = 0; i < w->length; i++) {                                                  \
            block last = {(double)x[i], 1};                                                        \
            for (; count > 0; count--) {                                                           \
                const block *before = &stack[count - 1];                                           \
                double left = before->sum * last.count, right = last.sum * before->count;          \
                if (!(w->decreasing ? left < right : left > right))                                \
                    break;                                                                         \
                last = (block){before->sum + last.sum, before->count + last.count};                \
            }                                                                                      \
            stack[count++] = last;                                                                 \
        }                                                                                          \
        for (int64_t k = 0, i = 0; k < count; k++) {                                               \
            TYPE mean = (TYPE)(stack[k].sum / stack[k].count);                                     \
            for (int64_t end = i + (int64_t)stack[k].count; i < end; i++) {                        \
                out[i] = mean;                                                                     \
                blocks[i] = (int32_t)k;                                                            \
            }                                                                                      \
        }                                                                                          \
    }
POOL(float)
POOL(double)

static block *stack_of(work *w) {
    block *stack = leati_crew_scratch((size_t)w->length * sizeof *stack);
    if (stack == NULL)
        atomic_store(&w->out_of_memory, true);
    return stack;
}

#define POOL_PIECE(TYPE)                                                                           \
    static void pool_piece_##TYPE(void *data, int64_t piece) {                                     \
        work *w = data;                                                                            \
        block *stack = stack_of(w);                                                                \
        int64_t begin = piece * w->at_once, end = LEATI_MIN(begin + w->at_once, w->lines);         \
        for (int64_t line = begin; stack != NULL && line < end; line++)                            \
            pool_##TYPE(w, line, stack);                                                           \
    }
POOL_PIECE(float)
POOL_PIECE(double)

enum { VALUES = 8192 }; /* of a piece */
#define NS_PER_VALUE 8

static leat_status isotonic_regression_kernel(leati_kernel_call *call, leat_error *err) {
    const struct isotonic_args *args = call->args;
    const leati_operand *x = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(x);
    if (x->rank < 1)
        return leati_refuse(err, SHAPE, "the input is a scalar; expected rows");
    for (int i = 0; i < 2; i++)
        LEATI_TRY(leati_support_output_like(call, i, &shape, err));
    for (int64_t row = 0; row < call->n && x->count > 0; row++) {
        work w = {.x = leati_support_row_of(x, row),
                  .out = leati_support_row_of(&call->outputs[0], row),
                  .blocks = (int32_t *)(void *)leati_support_row_of(&call->outputs[1], row),
                  .length = x->dims[x->rank - 1],
                  .decreasing = args->decreasing};
        atomic_init(&w.out_of_memory, false);
        w.lines = x->count / w.length;
        w.at_once = LEATI_MAX(VALUES / w.length, 1);
        leati_crew_share((double)x->count * NS_PER_VALUE, (w.lines + w.at_once - 1) / w.at_once,
                         x->dtype == LEAT_FLOAT32 ? pool_piece_float : pool_piece_double, &w);
        if (atomic_load(&w.out_of_memory))
            return leati_no_memory(err);
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_isotonic_regression = {
    .name = "isotonic_regression",
    .version = 1,
    .doc = "The nearest rows that do not rise, and the block of each value "
           "(tf.raw_ops.IsotonicRegression).",
    .types = "T",
    .outputs = "IsotonicRegression(output segments)",
    .halves = LEATI_HALVES_FLOAT,
    .rows = isotonic_rows,
    .args_size = sizeof(struct isotonic_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = isotonic_regression_infer,
    .kernel = isotonic_regression_kernel,
};
