/* What initialisers share: finding them, fans, and TensorFlow's stateless uniform numbers.
 *
 * An integer seed s means the pair (s, 0), as in Keras. Failures: NOT_FOUND, RESOURCE_EXHAUSTED. No
 * state, no locks. */
#include "train/frame/initializer.h"
#include "base/error.h"
#include "base/random.h"
#include "core/spec.h"
#include <math.h>
#include <string.h>

const leati_initializer_kind *leati_initializer_find(const char *name, leat_error *err) {
    /* Keras' short names beside the identifiers. */
    static const char *const others[][2] = {{"uniform", "random_uniform"},
                                            {"normal", "random_normal"},
                                            {"zero", "zeros"},
                                            {"one", "ones"}};
    size_t count;
    const leati_kind *const *kinds = leati_kinds_initializer(&count);
    for (size_t i = 0; name != NULL && i < sizeof others / sizeof others[0]; i++)
        if (strcmp(others[i][0], name) == 0)
            name = others[i][1];
    for (size_t i = 0; name != NULL && i < count; i++) {
        const leati_initializer_kind *kind = (const leati_initializer_kind *)(const void *)kinds[i];
        if (strcmp(kind->identifier, name) == 0)
            return kind;
    }
    const leati_kind *kind = leati_kind_find(kinds, count, "initializer", name, err);
    return (const leati_initializer_kind *)(const void *)kind;
}

leat_status leati_initializer_run(const leati_initializer_kind *kind, const void *args,
                                  int64_t seed, const leat_shape *shape, leat_tensor *out,
                                  leat_error *err) {
    leat_tensor tensor;
    void *defaults = NULL;
    /* An unknown rank is negative and is refused here too. */
    if (kind->rank > 0 && shape->rank != kind->rank)
        return leati_refuse(err, SHAPE, "%s fills tensors of %d dimensions; found %d",
                            kind->kind.name, (int)kind->rank, (int)shape->rank);
    if (shape->rank < kind->min_rank)
        return leati_refuse(err, SHAPE,
                            "%s fills tensors of %d dimensions or more; found %d; use another "
                            "initializer",
                            kind->kind.name, (int)kind->min_rank, (int)shape->rank);
    /* Layers know an initialiser by its name alone: its arguments are then the defaults. */
    if (args == NULL && kind->kind.args_size > 0) {
        leat_status status = leati_kind_args_read(&kind->kind, NULL, &defaults, err);
        if (status != LEAT_OK)
            return status;
        args = defaults;
    }
    leat_status status = leat_tensor_new(LEAT_FLOAT32, *shape, &tensor, err);
    if (status == LEAT_OK) {
        kind->fill(args, seed, shape, tensor.data, leat_tensor_count(&tensor));
        *out = tensor;
    }
    leati_kind_args_free(&kind->kind, defaults);
    return status;
}

void leati_initializer_fans(const leat_shape *shape, double *fan_in, double *fan_out) {
    double window = 1;
    /* A vector has as many inputs as outputs, a scalar 1 of each. */
    *fan_in = *fan_out = shape->rank == 0 ? 1 : (double)shape->dims[0];
    if (shape->rank < 2)
        return;
    for (int32_t d = 0; d < shape->rank - 2; d++)
        window *= (double)shape->dims[d];
    *fan_in = window * (double)shape->dims[shape->rank - 2];
    *fan_out = window * (double)shape->dims[shape->rank - 1];
}

void leati_initializer_fill_range(int64_t seed, double low, double high, float *values,
                                  int64_t count) {
    leati_philox philox = leati_philox_stateless(seed, 0);
    /* In float32, as TensorFlow computes it: float64 would give other last bits. */
    float first = (float)low, range = (float)high - first;
    for (int64_t i = 0; i < count; i += 4) {
        uint32_t words[4];
        /* One block of the generator gives four numbers; the last block may give too many. */
        leati_philox_next(&philox, words);
        for (int64_t k = i; k < count && k < i + 4; k++)
            values[k] = leati_uniform_float(words[k - i]) * range + first;
    }
}

void leati_initializer_fill_uniform(int64_t seed, double limit, float *values, int64_t count) {
    leati_initializer_fill_range(seed, -limit, limit, values, count);
}

/* Four normal numbers of the next block. */
static void next_normals(leati_philox *philox, float out[4]) {
    uint32_t words[4];
    leati_philox_next(philox, words);
    leati_normal_pair(words[0], words[1], out);
    leati_normal_pair(words[2], words[3], out + 2);
}

void leati_initializer_fill_normal(int64_t seed, double mean, double deviation, float *values,
                                   int64_t count) {
    leati_philox philox = leati_philox_stateless(seed, 0);
    for (int64_t i = 0; i < count; i += 4) {
        float normals[4];
        next_normals(&philox, normals);
        for (int64_t k = i; k < count && k < i + 4; k++)
            values[k] = normals[k - i] * (float)deviation + (float)mean;
    }
}

void leati_initializer_fill_normal_columns(int64_t seed, int64_t rows, int64_t columns,
                                           float *values) {
    leati_philox philox = leati_philox_stateless(seed, 0);
    int64_t count = rows * columns;
    for (int64_t i = 0; i < count; i += 4) {
        float normals[4];
        next_normals(&philox, normals);
        for (int64_t k = i; k < count && k < i + 4; k++)
            /* Number k stands in row k / columns and column k % columns; column by column that is
             * this place. */
            values[k % columns * rows + k / columns] = normals[k - i];
    }
}

/* Each group of four has 256 blocks to draw from, as in TensorFlow. */
void leati_initializer_fill_truncated(int64_t seed, double mean, double deviation, float *values,
                                      int64_t count) {
    const leati_philox start = leati_philox_stateless(seed, 0);
    for (int64_t i = 0; i < count; i += 4) {
        leati_philox philox = start;
        /* Group i / 4 starts at a fixed block however many numbers the groups before rejected. */
        leati_philox_skip(&philox, 256 * (uint64_t)(i / 4));
        for (int64_t k = i; k < count && k < i + 4;) {
            float normals[4];
            next_normals(&philox, normals);
            for (int n = 0; n < 4 && k < count && k < i + 4; n++)
                /* A rejected number leaves its place to the next one of the same group. */
                if (fabsf(normals[n]) < 2)
                    values[k++] = normals[n] * (float)deviation + (float)mean;
        }
    }
}
