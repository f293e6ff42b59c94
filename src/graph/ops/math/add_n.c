/* add_n: the sum of tensors of one shape (tf.math.add_n).
 *
 * Adds one after the other, in the order given, a piece of all inputs at a time. Fails where dtypes
 * or shapes differ. No state, no locks. */
#include "base/minmax.h"
#include "base/stop.h"
#include "core/tensor.h"
#include "graph/support/support.h"
#include "run/crew.h"

#include <string.h>

static leat_status add_n_infer(leati_infer_call *call, leat_error *err) {
    leat_shape shape = call->inputs[0].shape;
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    if (!leati_dtype_is_number(call->inputs[0].dtype))
        return leati_refuse(err, DTYPE, "the inputs are %s; expected numbers",
                            leat_dtype_name(call->inputs[0].dtype));
    for (int i = 1; i < call->num_inputs; i++) {
        const leat_shape *other = &call->inputs[i].shape;
        char texts[2][128];
        if (!leati_shape_compatible(&shape, other))
            return leati_refuse(
                err, SHAPE, "input %d has shape %s, input 0 %s; expected equal shapes", i,
                leati_shape_text(other, texts[0]), leati_shape_text(&shape, texts[1]));
        if (shape.rank < 0)
            shape = *other;
        for (int32_t d = 0; d < shape.rank && other->rank >= 0; d++)
            if (shape.dims[d] == LEAT_UNKNOWN_DIM)
                shape.dims[d] = other->dims[d];
    }
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

enum { PIECE = 1 << 14 }; /* values: those of a piece stay in a near cache for the next input */
#define NS_PER_BYTE 0.1

typedef struct adding {
    const leati_kernel_call *call;
    int64_t row, count;
} adding;

/* out = first + in, by the kernel of add: it reads a value before it writes the sum there. */
static void add_to(const leati_kernel_call *call, leati_operand *out, const leati_operand *first,
                   const leati_operand *in) {
    leati_operand both[] = {*first, *in};
    leati_kernel_call inner = *call;
    inner.n = 1;
    inner.inputs = both;
    inner.num_inputs = 2;
    inner.outputs = out;
    /* It has no way to fail for vectors of one length whose result has memory. */
    leat_error err = {0};
    (void)!leati_tensor_op_add.kernel(&inner, &err);
}

static void add_piece(void *data, int64_t piece) {
    const adding *all = data;
    int64_t from = piece * PIECE, count = LEATI_MIN(all->count - from, PIECE);
    leati_operand out = all->call->outputs[0], first = all->call->inputs[0];
    size_t offset = (size_t)from * leat_dtype_size(out.dtype);
    leati_operand *const parts[] = {&out, &first};
    for (int k = 0; k < 2; k++) {
        parts[k]->data = leati_support_row_of(parts[k], all->row) + offset;
        parts[k]->rank = 1;
        parts[k]->dims[0] = parts[k]->count = count;
    }
    for (int i = 1; i < all->call->num_inputs; i++) {
        leati_operand in = first;
        in.data = leati_support_row_of(&all->call->inputs[i], all->row) + offset;
        add_to(all->call, &out, i == 1 ? &first : &out, &in);
    }
}

static leat_status add_n_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *first = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(first);
    for (int i = 1; i < call->num_inputs; i++) {
        leat_shape other = leati_support_operand_shape(&call->inputs[i]);
        char texts[2][128];
        if (!leati_shape_equal(&shape, &other))
            return leati_refuse(
                err, SHAPE, "input %d has shape %s, input 0 %s; expected equal shapes", i,
                leati_shape_text(&other, texts[0]), leati_shape_text(&shape, texts[1]));
    }
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t bytes = (size_t)first->count * leat_dtype_size(first->dtype);
    adding all = {call, 0, first->count};
    double ns = (double)(bytes * (size_t)call->num_inputs) * NS_PER_BYTE;
    for (all.row = 0; all.row < call->n && bytes > 0 && !leati_stop_stopped(); all.row++)
        if (call->num_inputs == 1)
            memcpy(leati_support_row_of(&call->outputs[0], all.row),
                   leati_support_row_of(first, all.row), bytes);
        else
            leati_crew_share(ns, (first->count + PIECE - 1) / PIECE, add_piece, &all);
    return LEAT_OK;
}

static leat_status add_n_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    for (int i = 0; i < call->num_inputs; i++)
        call->input_gradients[i] = call->output_gradients[0];
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_add_n = {
    .name = "add_n",
    .version = 1,
    .doc = "The sum of tensors of one shape (tf.math.add_n).",
    .names = "math.add_n add_n",
    .inputs = "*inputs",
    .types = "**T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = -1,
    .infer = add_n_infer,
    .kernel = add_n_kernel,
    .gradient = add_n_gradient,
};
