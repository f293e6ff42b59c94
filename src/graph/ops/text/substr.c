/* substr: the part of each string from a place on, of at most so many bytes or characters of UTF-8
 * (tf.strings.substr).
 *
 * A negative place counts from the end; a negative length is all bytes, and no characters. The
 * results are views of the input's bytes. Fails in a run where a place is outside its string. No
 * gradient, no locks.
 */
#include "graph/support/math/elementwise.h"
#include "graph/support/text/units.h"

struct substr_args {
    char *unit;
};

static const leati_row substr_rows[] = {
    LEATI_UNIT_ROW(struct substr_args),
    {0},
};

static leat_status want_equal_shapes(const leat_shape *pos, const leat_shape *len,
                                     leat_error *err) {
    char texts[2][128];
    if (leati_shape_compatible(pos, len))
        return LEAT_OK;
    return leati_refuse(err, SHAPE, "pos has shape %s and len %s; expected equal shapes",
                        leati_shape_text(pos, texts[0]), leati_shape_text(len, texts[1]));
}

static leat_status substr_infer(leati_infer_call *call, leat_error *err) {
    const struct substr_args *args = call->args;
    leat_shape places, all;
    LEATI_TRY(leati_units_want(args->unit, err));
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the input", err));
    LEATI_TRY(leati_support_want_index(call, 1, "pos", err));
    LEATI_TRY(leati_support_want_dtype(call, 2, call->inputs[1].dtype, "len", err));
    LEATI_TRY(want_equal_shapes(&call->inputs[1].shape, &call->inputs[2].shape, err));
    LEATI_TRY(leati_op_infer_broadcast_shape(&call->inputs[1].shape, &call->inputs[2].shape,
                                             &places, err));
    LEATI_TRY(leati_op_infer_broadcast_shape(&call->inputs[0].shape, &places, &all, err));
    return leati_op_infer_output(call, LEAT_STRING, &all, NULL, err);
}

/* The part of `s` by bytes; false where the place is outside. */
static bool cut_bytes(leat_string *s, int64_t at, int64_t most) {
    int64_t size = (int64_t)s->size;
    if (at < -size || at > size)
        return false;
    at += at < 0 ? size : 0;
    if (at > 0) /* an empty string may have no address */
        s->data += at;
    s->size = (size_t)(most < 0 || most > size - at ? size - at : most);
    return true;
}

/* Where `count` characters from byte `at` on end, or the string; *passed gets how many there are.
 */
static size_t pass_characters(const leat_string *s, size_t at, int64_t count, int64_t *passed) {
    for (*passed = 0; *passed < count && at < s->size; ++*passed) {
        at++;
        while (at < s->size && leati_text_is_trail(s->data[at]))
            at++;
    }
    return at;
}

/* The same by characters. */
static bool cut_characters(leat_string *s, int64_t at, int64_t most) {
    int64_t passed = 0;
    size_t begin = at < 0 ? s->size : pass_characters(s, 0, at, &passed);
    for (; at < 0 && passed > at && begin > 0; passed--) {
        begin--;
        while (begin > 0 && leati_text_is_trail(s->data[begin]))
            begin--;
    }
    if (passed != at)
        return false;
    size_t end = pass_characters(s, begin, most, &passed); /* none for a negative number */
    s->size = end - begin;
    s->data = begin > 0 ? s->data + begin : s->data;
    return true;
}

/* The numbers are TYPE. */
#define SUBSTR_LANE(NAME, TYPE, CUT)                                                               \
    static void NAME(leati_lane *lane) {                                                           \
        for (int64_t i = 0; i < lane->n; i++) {                                                    \
            leat_string s =                                                                        \
                *(const leat_string *)(const void *)(lane->in[0] + i * lane->in_step[0]);          \
            int64_t at = *(const TYPE *)(const void *)(lane->in[1] + i * lane->in_step[1]);        \
            int64_t most = *(const TYPE *)(const void *)(lane->in[2] + i * lane->in_step[2]);      \
            if (!CUT(&s, at, most)) {                                                              \
                lane->failed = i;                                                                  \
                return;                                                                            \
            }                                                                                      \
            *(leat_string *)(void *)(lane->out + i * lane->out_step) = s;                          \
        }                                                                                          \
    }

SUBSTR_LANE(bytes_int32, int32_t, cut_bytes)
SUBSTR_LANE(bytes_int64, int64_t, cut_bytes)
SUBSTR_LANE(characters_int32, int32_t, cut_characters)
SUBSTR_LANE(characters_int64, int64_t, cut_characters)

static leat_status substr_kernel(leati_kernel_call *call, leat_error *err) {
    const struct substr_args *args = call->args;
    bool wide = call->inputs[1].dtype == LEAT_INT64;
    leati_lane_function lane = wide ? bytes_int64 : bytes_int32;
    leat_shape pos = leati_support_operand_shape(&call->inputs[1]);
    leat_shape len = leati_support_operand_shape(&call->inputs[2]);
    LEATI_TRY(want_equal_shapes(&pos, &len, err));
    if (leati_unit_is_character(args->unit))
        lane = wide ? characters_int64 : characters_int32;
    LEATI_TRY(leati_elementwise(call, lane,
                                "pos is out of range for a string; expected a place in it", err));
    return leati_support_hold_strings(call, 0, err);
}

leat_value leat_op_substr(leat_value input, leat_value pos, leat_value len) {
    struct substr_args args = {.unit = leati_bytes_unit};
    return leati_graph_build3(&leati_tensor_op_substr, &args, input, pos, len);
}

leat_value leat_op_substr_utf8(leat_value input, leat_value pos, leat_value len) {
    struct substr_args args = {.unit = leati_character_unit};
    return leati_graph_build3(&leati_tensor_op_substr, &args, input, pos, len);
}

const leati_tensor_op leati_tensor_op_substr = {
    .name = "substr",
    .version = 1,
    .doc = "The part of each string from a place on, of at most so many bytes or characters, "
           "broadcast "
           "(tf.strings.substr).",
    .names = "strings.substr",
    .inputs = "input pos len",
    .types = "string T T",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .by_value = true,
    .rows = substr_rows,
    .args_size = sizeof(struct substr_args),
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = substr_infer,
    .kernel = substr_kernel,
};
