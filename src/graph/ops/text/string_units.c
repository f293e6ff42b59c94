/* string_length, substr: the number of bytes or of characters of UTF-8 of each string, as int32,
 * and the part of it from a place on, of at most so many of them (tf.strings.length,
 * tf.strings.substr).
 *
 * A character is a byte that begins one, whatever follows. A negative place counts from the end; a
 * negative length is all bytes, and no characters. The parts are views of the input's bytes. They
 * fail in inference on other dtypes and units, and in a run on the length of a string of 2 GiB or
 * more, and where a place is outside its string. No gradient, no locks. */
#include "base/minmax.h"
#include "graph/support/array/moving.h"
#include "graph/support/math/elementwise.h"
#include "graph/support/text/texts.h"

#include <stdatomic.h>
#include <string.h>

struct unit_args {
    char *unit;
};

static const leati_row unit_rows[] = {
    {.name = "unit",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct unit_args, unit),
     .default_text = "BYTE",
     .doc = "BYTE, or UTF8_CHAR for the characters of UTF-8."},
    {0},
};

static char bytes_unit[] = "BYTE";
static char character_unit[] = "UTF8_CHAR";

static bool unit_is_character(const char *unit) {
    return unit != NULL && strcmp(unit, character_unit) == 0;
}

static leat_status units_want(const char *unit, leat_error *err) {
    if (unit == NULL || unit_is_character(unit) || strcmp(unit, bytes_unit) == 0)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "unit is \"%.40s\"; expected BYTE or UTF8_CHAR", unit);
}

static int64_t units_count_characters(const leat_string *s) {
    int64_t count = 0;
    for (size_t i = 0; i < s->size; i++)
        count += !leati_text_is_trail(s->data[i]);
    return count;
}

/* ---- string_length ---- */
static leat_status string_length_infer(leati_infer_call *call, leat_error *err) {
    const struct unit_args *args = call->args;
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the input", err));
    LEATI_TRY(units_want(args->unit, err));
    return leati_op_infer_output(call, LEAT_INT32, &call->inputs[0].shape, NULL, err);
}

/* Lengths of a row of the call. */
typedef struct measuring {
    const leat_string *strings;
    int32_t *to;
    bool characters;
    atomic_int_fast64_t longest; /* at least, of those that are too long */
} measuring;

static void measure_steps(void *data, int64_t begin, int64_t end) {
    measuring *m = data;
    size_t longest = 0;
    int64_t done = 0;
    for (int64_t i = begin; i < end && !leati_stop_look_after(LEATI_TEXT_WORK, &done); i++) {
        size_t size =
            m->characters ? (size_t)units_count_characters(&m->strings[i]) : m->strings[i].size;
        longest = LEATI_MAX(longest, size);
        m->to[i] = (int32_t)size;
    }
    if (longest > INT32_MAX)
        atomic_store(&m->longest, (int_fast64_t)longest);
}

static leat_status string_length_kernel(leati_kernel_call *call, leat_error *err) {
    const struct unit_args *args = call->args;
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    bool characters = unit_is_character(args->unit);
    leat_shape shape = leati_support_operand_shape(in);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n; row++) {
        measuring m = {.strings = leati_text_strings_of(in, row),
                       .to = (int32_t *)(void *)leati_support_row_of(out, row),
                       .characters = characters};
        atomic_init(&m.longest, 0);
        leati_moving_share(in->count, characters ? 256 : 32, measure_steps, &m);
        int64_t longest = (int64_t)atomic_load(&m.longest);
        if (longest == 0)
            continue;
        call->failed_row = row;
        return leati_refuse(err, VALUE, "a string of %lld units: its length does not fit int32",
                            (long long)longest);
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_string_length = {
    .name = "string_length",
    .version = 1,
    .doc = "The number of bytes or of characters of each string, as int32 (tf.strings.length).",
    .names = "strings.length",
    .inputs = "input",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .by_value = true,
    .rows = unit_rows,
    .args_size = sizeof(struct unit_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = string_length_infer,
    .kernel = string_length_kernel,
};

/* ---- substr ---- */
static leat_status want_equal_shapes(const leat_shape *pos, const leat_shape *len,
                                     leat_error *err) {
    char texts[2][128];
    if (leati_shape_compatible(pos, len))
        return LEAT_OK;
    return leati_refuse(err, SHAPE, "pos has shape %s and len %s; expected equal shapes",
                        leati_shape_text(pos, texts[0]), leati_shape_text(len, texts[1]));
}

static leat_status substr_infer(leati_infer_call *call, leat_error *err) {
    const struct unit_args *args = call->args;
    leat_shape places, all;
    LEATI_TRY(units_want(args->unit, err));
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
        /* At least one byte, also where the string begins in the middle of a character. */
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
    /* The string ended, or began, before as many characters were passed. */
    if (passed != at)
        return false;
    size_t end = pass_characters(s, begin, most, &passed); /* none for a negative number */
    s->size = end - begin;
    /* An empty string may have no address. */
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
    const struct unit_args *args = call->args;
    bool wide = call->inputs[1].dtype == LEAT_INT64;
    leati_lane_function lane = wide ? bytes_int64 : bytes_int32;
    /* Broadcasting would take other shapes, which TensorFlow's operation refuses. */
    leat_shape pos = leati_support_operand_shape(&call->inputs[1]);
    leat_shape len = leati_support_operand_shape(&call->inputs[2]);
    LEATI_TRY(want_equal_shapes(&pos, &len, err));
    if (unit_is_character(args->unit))
        lane = wide ? characters_int64 : characters_int32;
    LEATI_TRY(leati_elementwise(call, lane,
                                "pos is out of range for a string; expected a place in it", err));
    return leati_support_hold_strings(call, 0, err);
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
    .rows = unit_rows,
    .args_size = sizeof(struct unit_args),
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = substr_infer,
    .kernel = substr_kernel,
};
