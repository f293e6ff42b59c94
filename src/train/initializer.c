/* What initialisers share: finding them, fans, and TensorFlow's stateless uniform numbers.
 *
 * An integer seed s means the pair (s, 0), as in Keras. Failures: NOT_FOUND, RESOURCE_EXHAUSTED. No
 * state, no locks. */
#include "train/initializer.h"
#include "base/random.h"
#include "core/spec.h"
#include <string.h>

const leati_initializer_kind *leati_initializer_find(const char *name, leat_error *err) {
    size_t count;
    const leati_kind *const *kinds = leati_initializer_kinds(&count);
    for (size_t i = 0; name != NULL && i < count; i++) {
        const leati_initializer_kind *kind = (const leati_initializer_kind *)(const void *)kinds[i];
        if (strcmp(kind->identifier, name) == 0)
            return kind;
    }
    const leati_kind *kind = leati_kind_find(kinds, count, "initializer", name, err);
    return (const leati_initializer_kind *)(const void *)kind;
}

leat_status leati_initialize(const leati_initializer_kind *kind, const void *args, int64_t seed,
                             const leat_shape *shape, leat_tensor *out, leat_error *err) {
    leat_tensor tensor;
    leat_status status = leat_tensor_new(LEAT_FLOAT32, *shape, &tensor, err);
    if (status != LEAT_OK)
        return status;
    kind->fill(args, seed, shape, tensor.data, leat_tensor_count(&tensor));
    *out = tensor;
    return LEAT_OK;
}

void leati_fans(const leat_shape *shape, double *fan_in, double *fan_out) {
    double window = 1;
    *fan_in = *fan_out = shape->rank == 0 ? 1 : (double)shape->dims[0];
    if (shape->rank < 2)
        return;
    for (int32_t d = 0; d < shape->rank - 2; d++)
        window *= (double)shape->dims[d];
    *fan_in = window * (double)shape->dims[shape->rank - 2];
    *fan_out = window * (double)shape->dims[shape->rank - 1];
}

void leati_fill_uniform(int64_t seed, double limit, float *values, int64_t count) {
    leati_philox philox = leati_philox_stateless(seed, 0);
    float low = (float)-limit, range = (float)limit - low;
    for (int64_t i = 0; i < count; i += 4) {
        uint32_t words[4];
        leati_philox_next(&philox, words);
        for (int64_t k = i; k < count && k < i + 4; k++)
            values[k] = leati_uniform_float(words[k - i]) * range + low;
    }
}
