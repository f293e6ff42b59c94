/* substr: the part of each string from a place on, of at most so many bytes (tf.strings.substr).
 *
 * A negative place counts from the end, a negative length from what is left. The results are views
 * of the input's bytes. Fails in a run where a place is outside its string. No gradient, no locks.
 */
#include "graph/ops/elementwise.h"
#include "graph/ops/texts.h"

static leat_status substr_infer(leati_infer_call *call, leat_error *err) {
    leat_shape places, all;
    LEATI_TRY(leati_want_dtype(call, 0, LEAT_STRING, "the input", err));
    LEATI_TRY(leati_want_index(call, 1, "pos", err));
    LEATI_TRY(leati_want_dtype(call, 2, call->inputs[1].dtype, "len", err));
    LEATI_TRY(
        leati_infer_broadcast_shape(&call->inputs[1].shape, &call->inputs[2].shape, &places, err));
    LEATI_TRY(leati_infer_broadcast_shape(&call->inputs[0].shape, &places, &all, err));
    return leati_infer_output(call, LEAT_STRING, &all, NULL, err);
}

/* The numbers are TYPE. */
#define SUBSTR_LANE(NAME, TYPE)                                                                    \
    static void NAME(leati_lane *lane) {                                                           \
        for (int64_t i = 0; i < lane->n; i++) {                                                    \
            leat_string s =                                                                        \
                *(const leat_string *)(const void *)(lane->in[0] + i * lane->in_step[0]);          \
            int64_t at = *(const TYPE *)(const void *)(lane->in[1] + i * lane->in_step[1]);        \
            int64_t most = *(const TYPE *)(const void *)(lane->in[2] + i * lane->in_step[2]);      \
            int64_t size = (int64_t)s.size;                                                        \
            if (at < -size || at > size) {                                                         \
                lane->failed = i;                                                                  \
                return;                                                                            \
            }                                                                                      \
            at += at < 0 ? size : 0;                                                               \
            s.data += at;                                                                          \
            s.size = (size_t)(most < 0 || most > size - at ? size - at : most);                    \
            *(leat_string *)(void *)(lane->out + i * lane->out_step) = s;                          \
        }                                                                                          \
    }

SUBSTR_LANE(substr_int32, int32_t)
SUBSTR_LANE(substr_int64, int64_t)

static leat_status substr_kernel(leati_kernel_call *call, leat_error *err) {
    bool wide = call->inputs[1].dtype == LEAT_INT64;
    LEATI_TRY(leati_elementwise(call, wide ? substr_int64 : substr_int32,
                                "pos is out of range for a string; expected a place in it", err));
    return leati_hold_strings(call, 0, err);
}

leat_value leat_substr(leat_value input, leat_value pos, leat_value len) {
    return leati_op3(&leati_tensor_op_substr, NULL, input, pos, len);
}

const leati_tensor_op leati_tensor_op_substr = {
    .name = "substr",
    .version = 1,
    .doc = "The part of each string from a place on, of at most so many bytes, broadcast "
           "(tf.strings.substr).",
    .names = "strings.substr",
    .inputs = "input pos len",
    .signature = "input pos len unit=\"BYTE\"",
    .rows = leati_no_rows,
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = substr_infer,
    .kernel = substr_kernel,
};
