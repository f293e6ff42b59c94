/* equal, greater, greater_equal, less, less_equal, not_equal: two numbers compared, as bool,
 * broadcast (tf.math.equal and so on); equal and not_equal take
 * complex numbers, booleans and strings too. Where one
 * is NaN, not_equal alone holds. They fail in inference where dtypes differ or shapes do not
 * broadcast. No state, no locks. */
#include "graph/support/math/elementwise.h"

/* Strings are equal if their bytes are. */
static bool same_bytes(const leat_string *x, const leat_string *y) {
    /* An empty string may have no data, which memcmp must not be given. */
    return x->size == y->size && (x->size == 0 || memcmp(x->data, y->data, x->size) == 0);
}

#define COMPARED(OP, EXPRESSION)                                                                   \
    LEATI_LANES2_COMPARE(OP, EXPRESSION)                                                           \
    LEATI_ELEMENTWISE_TABLE(OP, leati_op_infer_compare, NULL, LEATI_TABLE_NUMBER(OP))
COMPARED(greater, x > y)
COMPARED(greater_equal, x >= y)
COMPARED(less, x < y)
COMPARED(less_equal, x <= y)

/* Of booleans and strings too; STRINGS sees pointers to them. */
#define COMPARED_TOO(OP, EXPRESSION, STRINGS)                                                      \
    static void OP##_string(leati_lane *lane) {                                                    \
        for (int64_t i = 0; i < lane->n; i++) {                                                    \
            const leat_string *x = (const leat_string *)(lane->in[0] + i * lane->in_step[0]);      \
            const leat_string *y = (const leat_string *)(lane->in[1] + i * lane->in_step[1]);      \
            *(bool *)(lane->out + i * lane->out_step) = STRINGS;                                   \
        }                                                                                          \
    }                                                                                              \
    LEATI_LANES2_COMPARE(OP, EXPRESSION)                                                           \
    LEATI_LANE2(OP##_bool, bool, bool, bool, EXPRESSION)                                           \
    LEATI_LANE2(OP##_complex64, leati_complex64, float, bool, EXPRESSION)                          \
    LEATI_LANE2(OP##_complex128, leati_complex128, double, bool, EXPRESSION)                       \
    LEATI_ELEMENTWISE_TABLE(                                                                       \
        OP, leati_op_infer_compare, NULL, LEATI_TABLE_NUMBER(OP),                                  \
        LEATI_TABLE_COMPLEX(OP), [LEAT_BOOL] = OP##_bool, [LEAT_STRING] = OP##_string)
COMPARED_TOO(equal, x == y, same_bytes(x, y))
COMPARED_TOO(not_equal, x != y, !same_bytes(x, y))

#define COMPARISON(OP, ...)                                                                        \
    LEATI_ELEMENTWISE_OP2(OP, .inputs = "x y", .types = "T T", .outputs = "z",                     \
                          .halves = LEATI_HALVES_OWN, __VA_ARGS__)
COMPARISON(equal,
           .doc = "x == y of numbers, booleans or strings, broadcast, as bool (tf.math.equal).",
           .names = "math.equal equal")
COMPARISON(greater, .doc = "x > y of numbers, broadcast, as bool (tf.math.greater).",
           .names = "math.greater greater")
COMPARISON(greater_equal, .doc = "x >= y of numbers, broadcast, as bool (tf.math.greater_equal).",
           .names = "math.greater_equal greater_equal")
COMPARISON(less, .doc = "x < y of numbers, broadcast, as bool (tf.math.less).",
           .names = "math.less less")
COMPARISON(less_equal, .doc = "x <= y of numbers, broadcast, as bool (tf.math.less_equal).",
           .names = "math.less_equal less_equal")
COMPARISON(not_equal,
           .doc = "x != y of numbers, booleans or strings, broadcast, as bool (tf.math.not_equal).",
           .names = "math.not_equal not_equal")
