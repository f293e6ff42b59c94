/* What layers share that draw numbers.
 *
 * The state is a seed and a count. A draw's seed is both of them, modulo 2^31 - 2 as Keras takes
 * them for TensorFlow's stateless operations; then the count goes up by one. Where the shape of
 * the input is unknown while the function is traced, the run computes the shape of the draws.
 * Failures are the graph's. No locks. */
#include "train/support/noise.h"
#include "base/error.h"
#include "graph/computed.h"
#include "graph/support/random/stateless.h"
#include "graph/support/support.h"

leat_status leati_noise_check_rate(const char *name, double rate, leat_error *err) {
    if (rate >= 0 && rate <= 1)
        return LEAT_OK;
    return leati_refuse(
        err, VALUE,
        "Invalid value received for argument `%s`. Expected a float value between 0 and "
        "1. Received: %s=%g",
        name, name, rate);
}

void leati_noise_state(bool draws, leati_weights *out) {
    out->count = draws ? 1 : 0;
    /* Filled in any case; `count` decides whether it is there. */
    out->list[0] = (leati_weight){.name = "seed_generator_state",
                                  .shape = LEAT_SHAPE(2),
                                  .initializer = "zeros",
                                  .fixed = true,
                                  .dtype = LEAT_INT64,
                                  .is_seed = true};
}

/* Two int64 as a vector. */
static leat_value pair(leat_value first, leat_value second) {
    return leat_op_stack((leat_value[]){first, second}, 2, 0);
}

leat_value leati_noise_seeds(const leati_pass *pass, int weight, int draw, int count) {
    leat_value state = pass->weights[weight];
    leat_graph *graph = state.graph;
    leat_value none = leati_support_number(graph, LEAT_INT64, 0);
    /* The state after draw number `draw`: every draw of a call assigns anew, the last one stays. */
    pass->updates[weight] =
        leat_op_add(state, pair(none, leati_support_number(graph, LEAT_INT64, draw + count)));
    leat_value other = leat_op_cast(leat_op_replica_id(graph), LEAT_INT64);
    /* Far from the seeds that layers draw, so that replicas and layers do not meet. */
    other = leat_op_multiply(other, leati_support_number(graph, LEAT_INT64, 1000000007));
    leat_value seed =
        leat_op_add(state, pair(other, leati_support_number(graph, LEAT_INT64, draw)));
    /* Modulo 2^31 - 2, within what the operations' int32 seeds hold. */
    return leat_op_cast(
        leat_op_floormod(seed, leati_support_number(graph, LEAT_INT64, INT32_MAX - 1)), LEAT_INT32);
}

static leat_value nth_seed(const leati_pass *pass, int weight, int draw) {
    return leati_noise_seeds(pass, weight, draw, 1);
}

leat_value leati_noise_seed(const leati_pass *pass, int weight) {
    return nth_seed(pass, weight, 0);
}

/* The shape of the draws as values: that of x, where `shape` does not say another. */
static leat_value shape_of_draws(leat_value x, const leati_ints *shape) {
    leat_value all = leat_op_shape(x, LEAT_INT64), dims[LEAT_MAX_RANK];
    if (shape->count == 0)
        return all;
    for (int32_t d = 0; d < shape->count; d++)
        /* -1: the size of the input, which is known in the run. */
        dims[d] = shape->values[d] >= 0
                      ? leati_support_number(x.graph, LEAT_INT64, (double)shape->values[d])
                      : leat_op_squeeze(leat_op_slice(all, (int64_t[]){d}, 1, (int64_t[]){1}, 1),
                                        NULL, 0);
    return leat_op_stack(dims, shape->count, 0);
}

static leat_value draw_of(leat_dtype dtype, const leati_tensor_op *op, leat_value seed,
                          leat_value x, const leati_ints *shape, double low, double high) {
    leat_shape static_shape = leat_value_shape(x);
    if (leati_support_value_failed(seed) || leati_support_value_failed(x))
        return (leat_value){.graph = x.graph, .id = -1};
    if (shape->count > 0 && shape->count != static_shape.rank)
        return leati_support_build_error(x.graph, LEAT_REASON_SHAPE,
                                         "noise_shape has not as many dimensions as the input");
    for (int32_t d = 0; d < shape->count; d++)
        static_shape.dims[d] = shape->values[d] < 0 ? static_shape.dims[d] : shape->values[d];
    /* A shape that is known keeps the draw a plain operation, without a computed argument. */
    if (leati_shape_count(&static_shape) >= 0)
        return leati_stateless_build(seed, op, static_shape, dtype, low, high);
    const struct leati_random_args args = {
        .shape = {.rank = 0}, .dtype = dtype, .low = low, .high = high};
    const leat_string name = {.data = "shape", .size = 5};
    leat_value dims = shape_of_draws(x, shape);
    int32_t id = leati_graph_add_computed(x.graph, op, &args, &seed, 1, &name, &dims, 1);
    leat_value drawn = {.graph = x.graph, .id = id};
    /* Dimensions that are known are not lost because another one is not. */
    return id < 0 ? drawn : leat_op_ensure_shape(drawn, static_shape);
}

/* The same of floats, as noise is; another x fails. */
static leat_value draw_floats(leat_dtype dtype, const leati_tensor_op *op, leat_value seed,
                              leat_value x, const leati_ints *shape, double low, double high) {
    if (!leati_support_value_failed(x) && !leati_graph_dtype_is_floating(leat_value_dtype(x)))
        return leati_support_build_error(
            x.graph, LEAT_REASON_DTYPE,
            "the input of a layer that draws noise is of whole numbers "
            "or truth values in training; cast it to floats");
    return draw_of(dtype, op, seed, x, shape, low, high);
}

leat_value leati_noise_uniform(leat_value seed, leat_value x, const leati_ints *shape) {
    return draw_floats(leat_value_dtype(x), &leati_tensor_op_stateless_uniform, seed, x, shape, 0,
                       1);
}

leat_value leati_noise_between(leat_value seed, leat_value x, const leati_ints *shape, double low,
                               double high) {
    return draw_of(leat_value_dtype(x), &leati_tensor_op_stateless_uniform, seed, x, shape, low,
                   high);
}

leat_value leati_noise_between_floats(leat_value seed, leat_value x, const leati_ints *shape,
                                      double low, double high) {
    return draw_floats(LEAT_FLOAT32, &leati_tensor_op_stateless_uniform, seed, x, shape, low, high);
}

leat_value leati_noise_normal(leat_value seed, leat_value x, const leati_ints *shape) {
    return draw_floats(leat_value_dtype(x), &leati_tensor_op_stateless_normal, seed, x, shape, 0,
                       1);
}

leat_value leati_noise_drop(const leati_pass *pass, double rate, const leati_ints *shape) {
    leat_value x = pass->inputs[0];
    if (!pass->training || rate <= 0)
        return x;
    leat_value seed = leati_noise_seed(pass, 0);
    /* After the seed, so that the state moves on as with any other rate; 1 / (1 - rate) is
     * infinite. */
    if (rate >= 1)
        return leat_op_zeros_like(x);
    leat_value drawn = leati_noise_uniform(seed, x, shape);
    leat_value kept =
        leat_op_greater_equal(drawn, leati_support_number(x.graph, leat_value_dtype(x), rate));
    leat_value scaled = leati_support_times(x, 1 / (1 - rate));
    return leat_op_select(kept, scaled, leat_op_zeros_like(x));
}
