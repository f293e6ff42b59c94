/* index_shuffle: where an index goes in a pseudorandom permutation of 0 .. max_index
 * (tf.random.experimental.index_shuffle).
 *
 * Stateless: the seed alone decides. Fails in inference on shapes that do not fit together, in a
 * run on negative numbers and on an index beyond max_index. Where TensorFlow's permutation loses
 * an index this one does not (base/permutation.h). No gradient, no state, no locks. */
#include "graph/support/support.h"

#include "base/permutation.h"

enum { ROUNDS = 4, INDEX = 0, SEED = 1, MAX_INDEX = 2 };

/* TensorFlow puts this before the two numbers of a seed. */
static const uint32_t first_of_key = 498247692;

static const char *const operands[] = {"index", "seed", "max_index"};

static leat_status want_integer(const leati_infer_call *call, int input, leat_error *err) {
    leat_dtype dtype = call->inputs[input].dtype;
    if (dtype == LEAT_INT32 || dtype == LEAT_INT64 || dtype == LEAT_UINT32 || dtype == LEAT_UINT64)
        return LEAT_OK;
    return leati_refuse(err, DTYPE, "%s is %s; expected int32, int64, uint32 or uint64",
                        operands[input], leat_dtype_name(dtype));
}

/* Of input `input`: one row of its own for each result, or one for all? */
static bool is_batched(int input, const leat_shape *shape) {
    return shape->rank == (input == SEED ? 2 : 1);
}

/* Adds what one input says about the shape of the result. */
static leat_status add_shape(int input, const leat_shape *shape, leat_shape *out, leat_error *err) {
    char text[128];
    bool seed = input == SEED, batched = is_batched(input, shape);
    int64_t numbers = seed && shape->rank > 0 ? shape->dims[shape->rank - 1] : 2;
    if ((!batched && shape->rank != (seed ? 1 : 0)) || (numbers >= 0 && numbers != 2) ||
        (batched && shape->dims[0] == 0))
        return leati_refuse(err, SHAPE, "%s has shape %s; expected %s", operands[input],
                            leati_shape_text(shape, text),
                            seed ? "[2] or [n, 2]" : "a scalar or a vector of at least one");
    if (!batched)
        return LEAT_OK;
    if (out->rank == 1 && out->dims[0] >= 0 && shape->dims[0] >= 0 &&
        out->dims[0] != shape->dims[0])
        return leati_refuse(err, SHAPE, "%s has %lld rows, another operand %lld", operands[input],
                            (long long)shape->dims[0], (long long)out->dims[0]);
    /* What one operand leaves unknown another may say. */
    if (out->rank == 0 || out->dims[0] < 0)
        *out = (leat_shape){.rank = 1, .dims = {shape->dims[0]}};
    return LEAT_OK;
}

static leat_status index_shuffle_infer(leati_infer_call *call, leat_error *err) {
    leat_shape shape = LEAT_SCALAR;
    bool unknown = false;
    for (int i = 0; i < 3; i++) {
        LEATI_TRY(want_integer(call, i, err));
        unknown = unknown || call->inputs[i].shape.rank < 0;
        if (call->inputs[i].shape.rank >= 0)
            LEATI_TRY(add_shape(i, &call->inputs[i].shape, &shape, err));
    }
    if (call->inputs[INDEX].dtype != call->inputs[MAX_INDEX].dtype)
        return leati_refuse(err, DTYPE,
                            "index is %s and max_index %s; expected one "
                            "dtype",
                            leat_dtype_name(call->inputs[INDEX].dtype),
                            leat_dtype_name(call->inputs[MAX_INDEX].dtype));
    /* An operand of unknown rank may turn out to be a vector. */
    if (unknown && shape.rank == 0)
        shape.rank = LEAT_UNKNOWN_RANK;
    return leati_op_infer_output(call, call->inputs[INDEX].dtype, &shape, NULL, err);
}

static uint64_t value_of(const leati_operand *operand, int64_t row, int64_t i) {
    const char *at = leati_support_row_of(operand, row);
    switch (operand->dtype) {
    case LEAT_INT32: return (uint64_t)(int64_t)((const int32_t *)at)[i];
    case LEAT_UINT32: return ((const uint32_t *)at)[i];
    default: return ((const uint64_t *)at)[i];
    }
}

static leat_status shuffle_one(const leati_kernel_call *call, int64_t row, int64_t i,
                               leat_error *err) {
    uint64_t values[3];
    const leati_operand *seed = &call->inputs[SEED], *out = &call->outputs[0];
    bool is_signed = out->dtype == LEAT_INT32 || out->dtype == LEAT_INT64;
    /* The index and max_index; the seed between them may be negative. */
    for (int k = 0; k < 3; k += 2) {
        values[k] = value_of(&call->inputs[k], row, call->inputs[k].rank == 0 ? 0 : i);
        if (is_signed && (int64_t)values[k] < 0)
            return leati_refuse(err, VALUE, "%s is %lld; expected 0 or more", operands[k],
                                (long long)values[k]);
    }
    if (values[INDEX] > values[MAX_INDEX])
        return leati_refuse(err, VALUE, "index is %llu, beyond max_index, which is %llu",
                            (unsigned long long)values[INDEX],
                            (unsigned long long)values[MAX_INDEX]);
    /* A seed of its own for each index, or one for all. */
    int64_t at = seed->rank == 2 ? 2 * i : 0;
    const uint32_t key[3] = {first_of_key, (uint32_t)value_of(seed, row, at),
                             (uint32_t)value_of(seed, row, at + 1)};
    leati_permutation permutation = leati_permutation_new(key, values[MAX_INDEX], ROUNDS);
    uint64_t place = leati_permutation_at(&permutation, values[INDEX]);
    char *to = leati_support_row_of(out, row);
    if (leat_dtype_size(out->dtype) == sizeof(uint32_t))
        ((uint32_t *)to)[i] = (uint32_t)place;
    else
        ((uint64_t *)to)[i] = place;
    return LEAT_OK;
}

static leat_status index_shuffle_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = LEAT_SCALAR;
    for (int i = 0; i < 3; i++) {
        leat_shape own = leati_support_operand_shape(&call->inputs[i]);
        LEATI_TRY(add_shape(i, &own, &shape, err));
    }
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n; row++) {
        for (int64_t i = 0; i < call->outputs[0].count; i++) {
            call->failed_row = row;
            LEATI_TRY(shuffle_one(call, row, i, err));
        }
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_index_shuffle = {
    .name = "index_shuffle",
    .version = 1,
    .doc = "Where an index goes in a pseudorandom permutation of 0 .. max_index "
           "(tf.random.experimental.index_shuffle).",
    .names = "random.experimental.index_shuffle",
    .inputs = "index seed max_index",
    .types = "T Tseed T",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = index_shuffle_infer,
    .kernel = index_shuffle_kernel,
};
