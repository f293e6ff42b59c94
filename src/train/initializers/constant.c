/* Constant, Ones, Zeros, Identity: numbers that are not drawn (keras.initializers.Constant and its
 * like). Zeros is the default of biases. No failures. No state, no locks. */
#include "train/frame/initializer.h"

struct number_args {
    double number;
};

#define NUMBER_ROW(NAME, STANDARD, DOC)                                                            \
    {                                                                                              \
        .name = NAME, .type = LEATI_ROW_FLOAT, .offset = offsetof(struct number_args, number),     \
        .default_number = STANDARD, .doc = DOC                                                     \
    }

static const leati_row constant_rows[] = {NUMBER_ROW("value", 0, "The number."), {0}};
static const leati_row identity_rows[] = {NUMBER_ROW("gain", 1, "The number on the diagonal."),
                                          {0}};
static const leati_row no_rows[] = {{0}};

static void fill(float number, float *values, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        values[i] = number;
}

static void constant_fill(const void *arguments, int64_t seed, const leat_shape *shape,
                          float *values, int64_t count) {
    const struct number_args *args = arguments;
    (void)seed;
    (void)shape;
    fill((float)args->number, values, count);
}

static void ones_fill(const void *args, int64_t seed, const leat_shape *shape, float *values,
                      int64_t count) {
    (void)args;
    (void)seed;
    (void)shape;
    fill(1, values, count);
}

static void zeros_fill(const void *args, int64_t seed, const leat_shape *shape, float *values,
                       int64_t count) {
    (void)args;
    (void)seed;
    (void)shape;
    fill(0, values, count);
}

static void identity_fill(const void *arguments, int64_t seed, const leat_shape *shape,
                          float *values, int64_t count) {
    const struct number_args *args = arguments;
    (void)seed;
    int64_t columns = shape->dims[1];
    for (int64_t i = 0; i < count; i++)
        /* Row i / columns and column i % columns: the numbers lie row by row. */
        values[i] = i / columns == i % columns ? (float)args->number : 0;
}

/* The descriptor of one initialiser. */
#define NUMBER(ID, CLASS, DOC, ROWS, SIGNATURE, ARGS_SIZE, ...)                                    \
    const leati_initializer_kind leati_initializer_##ID = {                                        \
        .kind =                                                                                    \
            {                                                                                      \
                .name = CLASS,                                                                     \
                .doc = DOC " (keras.initializers." CLASS ").",                                     \
                .rows = ROWS,                                                                      \
                .signature = SIGNATURE,                                                            \
                .config = "gain?",                                                                 \
                .args_size = ARGS_SIZE,                                                            \
            },                                                                                     \
        .identifier = #ID,                                                                         \
        .fill = ID##_fill,                                                                         \
        __VA_ARGS__};
NUMBER(constant, "Constant", "All one number", constant_rows, "value", sizeof(struct number_args))
NUMBER(ones, "Ones", "All 1", no_rows, "", 0)
NUMBER(zeros, "Zeros", "All 0", no_rows, "", 0)
NUMBER(identity, "Identity", "A matrix with one number on its diagonal", identity_rows, "gain",
       sizeof(struct number_args), .rank = 2)
