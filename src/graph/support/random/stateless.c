/* Random operations whose seed is a value; see stateless.h. No state, no locks. */
#include "graph/support/random/stateless.h"

#include <string.h>

static const char *const seed_text = "expected two integers, int32 or int64";

static bool is_integer(leat_dtype dtype) {
    return dtype == LEAT_INT32 || dtype == LEAT_INT64 || dtype == LEAT_UINT32 ||
           dtype == LEAT_UINT64;
}

leat_status leati_stateless_want_seed(const leati_infer_call *call, int index, bool with_state,
                                      leat_error *err) {
    const leati_type *type = &call->inputs[index];
    int64_t count = type->shape.rank == 1 ? type->shape.dims[0] : LEAT_UNKNOWN_DIM;
    char text[128];
    bool fits = type->shape.rank < 0 ||
                (type->shape.rank == 1 && (count < 0 || count == 2 || (with_state && count == 3)));
    if (is_integer(type->dtype) && fits)
        return LEAT_OK;
    return leati_refuse(err, SHAPE, "seed is %s of shape %s; %s", leat_dtype_name(type->dtype),
                        leati_shape_text(&type->shape, text), seed_text);
}

static int64_t number_at(const leati_operand *seed, int64_t row, int64_t i) {
    const void *at = leati_support_row_of(seed, row);
    switch (seed->dtype) {
    case LEAT_INT32: return ((const int32_t *)at)[i];
    case LEAT_UINT32: return ((const uint32_t *)at)[i];
    default: return ((const int64_t *)at)[i];
    }
}

leat_status leati_stateless_stream(const leati_kernel_call *call, int index, bool with_state,
                                   int64_t row, leati_philox *out, leat_error *err) {
    const leati_operand *seed = &call->inputs[index];
    if (seed->rank != 1 || (seed->count != 2 && (seed->count != 3 || !with_state)))
        return leati_refuse(err, SHAPE, "seed has rank %d and %lld values; %s", (int)seed->rank,
                            (long long)seed->count, seed_text);
    uint64_t first = (uint64_t)number_at(seed, row, 0), second = (uint64_t)number_at(seed, row, 1);
    if (seed->count == 2) {
        *out = leati_philox_stateless((int64_t)first, (int64_t)second);
        return LEAT_OK;
    }
    uint64_t key = (uint64_t)number_at(seed, row, 2);
    /* A generator's state is counter and key as they are: 128 bits, low half first, and 64. */
    *out = (leati_philox){.counter = {(uint32_t)first, (uint32_t)(first >> 32), (uint32_t)second,
                                      (uint32_t)(second >> 32)},
                          .key = {(uint32_t)key, (uint32_t)(key >> 32)}};
    return LEAT_OK;
}

leat_status leati_stateless_check_alg(const struct leati_random_args *args, leat_error *err) {
    const char *alg = args->alg;
    if (alg == NULL || strcmp(alg, "auto_select") == 0 || strcmp(alg, "philox") == 0)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "alg is \"%.40s\"; expected \"philox\" or \"auto_select\"",
                        alg);
}

leat_status leati_stateless_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_stateless_check_alg(call->args, err));
    LEATI_TRY(leati_stateless_want_seed(call, 0, true, err));
    return leati_random_infer(call, err);
}

leat_status leati_stateless_floats(leati_kernel_call *call, leati_distribution distribution,
                                   leat_error *err) {
    const struct leati_random_args *args = call->args;
    LEATI_TRY(leati_support_output_like(call, 0, &args->shape, err));
    const leati_operand *out = &call->outputs[0];
    double scale = leati_random_scale(distribution, args->dtype, args->low, args->high);
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox stream;
        call->failed_row = row;
        /* The seed alone says where the stream begins: calls and replicas change nothing. */
        LEATI_TRY(leati_stateless_stream(call, 0, true, row, &stream, err));
        leati_random_draw(distribution, args->dtype, stream, scale, args->low, out->count,
                          leati_support_row_of(out, row));
    }
    return LEAT_OK;
}

leat_value leati_stateless_build(leat_value seed, const leati_tensor_op *op, leat_shape shape,
                                 leat_dtype dtype, double low, double high) {
    struct leati_random_args args = {.shape = shape, .dtype = dtype, .low = low, .high = high};
    return leati_graph_build1(op, &args, seed);
}
