/* reverse_sequence: the first values of each sequence of a batch in reverse order
 * (tf.reverse_sequence). Inputs: input, seq_lengths.
 *
 * The slice b along `batch_axis` has its first seq_lengths[b] values along `seq_axis` reversed; the
 * others stay. Fails where a length is negative or longer than the sequences. No state, no locks.
 */
#include "base/minmax.h"
#include "graph/support/support.h"

#include <string.h>

struct reverse_sequence_args {
    int64_t seq_axis, batch_axis;
};

static const leati_row reverse_sequence_rows[] = {
    {.name = "seq_axis",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     .offset = offsetof(struct reverse_sequence_args, seq_axis),
     .doc = "The dimension to reverse; none: the first."},
    {.name = "batch_axis",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     .offset = offsetof(struct reverse_sequence_args, batch_axis),
     .doc = "The dimension of the sequences; none: the first."},
    {0},
};

/* The two axes from the front; lengths of unknown rank pass. */
static leat_status axes_of(const struct reverse_sequence_args *args, const leat_shape *in,
                           const leat_shape *lengths, int32_t *seq, int32_t *batch,
                           leat_error *err) {
    LEATI_TRY(leati_support_normal_axis(args->seq_axis, in->rank, seq, err));
    LEATI_TRY(leati_support_normal_axis(args->batch_axis, in->rank, batch, err));
    if (*seq == *batch)
        return leati_refuse(err, SHAPE, "batch_dim == seq_dim == %d; expected two dimensions",
                            (int)*seq);
    if (lengths->rank < 0)
        return LEAT_OK;
    if (lengths->rank != 1)
        return leati_refuse(err, SHAPE, "seq_lengths has rank %d; expected rank 1",
                            (int)lengths->rank);
    return leati_support_want_equal_dims(in->dims[*batch], lengths->dims[0],
                                         "seq_lengths and the sequences", err);
}

static leat_status reverse_sequence_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *in = &call->inputs[0].shape;
    int32_t seq = 0, batch = 0;
    LEATI_TRY(leati_support_want_values(call, 0, err));
    LEATI_TRY(leati_support_want_index(call, 1, "seq_lengths", err));
    LEATI_TRY(leati_support_want_rank(call, 1, 1, "seq_lengths", err));
    if (in->rank >= 0)
        LEATI_TRY(axes_of(call->args, in, &call->inputs[1].shape, &seq, &batch, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, in, NULL, err);
}

static leat_status check_lengths(leati_kernel_call *call, int64_t row, int64_t longest,
                                 leat_error *err) {
    const leati_operand *lengths = &call->inputs[1];
    for (int64_t b = 0; b < lengths->count; b++) {
        int64_t length = leati_support_index_at(lengths, row, b);
        if (length >= 0 && length <= longest)
            continue;
        call->failed_row = row;
        return leati_refuse(err, VALUE,
                            "seq_lens(%lld) is %lld; expected 0 to %lld, the sequences' length",
                            (long long)b, (long long)length, (long long)longest);
    }
    return LEAT_OK;
}

static leat_status reverse_sequence_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0], *lengths = &call->inputs[1];
    leat_shape shape = leati_support_operand_shape(in), list = leati_support_operand_shape(lengths);
    int32_t seq = 0, batch = 0;
    LEATI_TRY(axes_of(call->args, &shape, &list, &seq, &batch, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    /* Down to the deeper axis values move one by one; what lies behind it moves in pieces. */
    int32_t deeper = LEATI_MAX(seq, batch);
    int64_t steps[2] = {1, 1}, pieces = 1, inner = 1;
    for (int32_t d = 0; d <= deeper; d++)
        pieces *= shape.dims[d];
    for (int32_t d = deeper + 1; d < shape.rank; d++)
        inner *= shape.dims[d];
    /* Pieces from one place along each axis to the next. */
    for (int32_t d = seq + 1; d <= deeper; d++)
        steps[0] *= shape.dims[d];
    for (int32_t d = batch + 1; d <= deeper; d++)
        steps[1] *= shape.dims[d];
    size_t bytes = (size_t)inner * leat_dtype_size(in->dtype);
    for (int64_t row = 0; row < call->n; row++) {
        /* Lengths are checked before they become places to read from. */
        LEATI_TRY(check_lengths(call, row, shape.dims[seq], err));
        const char *from = leati_support_row_of(in, row);
        char *to = leati_support_row_of(&call->outputs[0], row);
        for (int64_t i = 0; i < pieces && bytes > 0; i++) {
            int64_t place = i / steps[0] % shape.dims[seq];
            int64_t length = leati_support_index_at(lengths, row, i / steps[1] % shape.dims[batch]);
            /* Place p of the first `length` comes from length - 1 - p, so many places away. */
            int64_t source = place < length ? i + (length - 1 - 2 * place) * steps[0] : i;
            memcpy(to + (size_t)i * bytes, from + (size_t)source * bytes, bytes);
        }
    }
    return leati_support_hold_strings(call, 0, err);
}

static leat_status reverse_sequence_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    /* Reversing is its own inverse. */
    call->input_gradients[0] = leati_graph_build2(&leati_tensor_op_reverse_sequence, call->args,
                                                  call->output_gradients[0], call->inputs[1]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_reverse_sequence = {
    .name = "reverse_sequence",
    .version = 1,
    .doc = "The first values of each sequence of a batch in reverse order "
           "(tf.reverse_sequence).",
    .names = "reverse_sequence",
    .inputs = "input seq_lengths",
    .signature = "input seq_lengths seq_axis=null batch_axis=null",
    .types = "T Tindices",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = reverse_sequence_rows,
    .args_size = sizeof(struct reverse_sequence_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = reverse_sequence_infer,
    .kernel = reverse_sequence_kernel,
    .gradient = reverse_sequence_gradient,
};
