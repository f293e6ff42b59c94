/* Initialisers: the values that weights start with. */
#ifndef LEATI_TRAIN_FRAME_INITIALIZER_H
#define LEATI_TRAIN_FRAME_INITIALIZER_H

#include "base/random.h"
#include "train/frame/kind.h"

typedef struct leati_initializer_kind {
    leati_kind kind;
    const char *identifier; /* Keras' other name: "glorot_uniform" */
    bool random;            /* draws a seed where it is given none */
    int32_t min_rank;       /* of weights that it fills; 0: any */
    int32_t rank;           /* the only one; 0: any */
    /* Fills `count` float32 values of a weight of `shape`. */
    void (*fill)(const void *args, int64_t seed, const leat_shape *shape, float *values,
                 int64_t count);
} leati_initializer_kind;

/* The descriptors of the table. */
#define X(file, name) extern const leati_initializer_kind leati_initializer_##name;
#include "train/initializers.def"
#undef X

/* The kind that a class name or an identifier names; NULL with NOT_FOUND. */
const leati_initializer_kind *leati_initializer_find(const char *name, leat_error *err);

/* A new tensor of a static shape; `seed` is used by random kinds, `args` NULL means the
 * defaults. Owned. */
LEAT_WARN_UNUSED leat_status leati_initializer_run(const leati_initializer_kind *kind,
                                                   const void *args, int64_t seed,
                                                   const leat_shape *shape, leat_tensor *out,
                                                   leat_error *err);

/* Inputs and outputs of one value of a weight, as Keras counts them: a kernel's last two dimensions
 * times its window. */
void leati_initializer_fans(const leat_shape *shape, double *fan_in, double *fan_out);

/* TensorFlow's stateless numbers of the pair (seed, 0): uniform of [low, high), normal, and normal
 * within two deviations of the mean. */
void leati_initializer_fill_range(int64_t seed, double low, double high, float *values,
                                  int64_t count);
void leati_initializer_fill_normal(int64_t seed, double mean, double deviation, float *values,
                                   int64_t count);
void leati_initializer_fill_truncated(int64_t seed, double mean, double deviation, float *values,
                                      int64_t count);

/* The same normal numbers row by row of a matrix that lies column by column. */
void leati_initializer_fill_normal_columns(int64_t seed, int64_t rows, int64_t columns,
                                           float *values);

/* Uniform float32 of [-limit, limit) from the pair (seed, 0) of TensorFlow's stateless generator
 * (tf.random.stateless_uniform). */
void leati_initializer_fill_uniform(int64_t seed, double limit, float *values, int64_t count);

/* The row for `seed`, which is called so in STRUCT. */
#define LEATI_INITIALIZER_SEED(STRUCT)                                                             \
    {                                                                                              \
        .name = "seed", .type = LEATI_ROW_SEED, .offset = offsetof(struct STRUCT, seed),           \
        .doc = "A number that fixes the values; none: drawn when the layer is made."               \
    }

#endif
