/* Pictures changed by random numbers of a seed: those are drawn on the device, with the CPU's bits.
 *
 * Brightness, contrast, hue, saturation, mirrors, crops of a size. No failures of their own. */
#include "exec/pjrt/emit_compose.h"

#include "base/error.h"
#include "core/spec.h"
#include "graph/support/picture/augment.h"
#include <stdio.h>

/* Uniform numbers of the node's seed, the second input. */
static leat_value drawn(const leat_value *in, leat_shape shape, double low, double high) {
    leat_op_stateless_uniform_options options = {LEAT_OP_STATELESS_UNIFORM_DEFAULTS};
    options.minval = low;
    options.maxval = high;
    return leat_op_stateless_uniform(shape, in[1], &options);
}

static void adjust(const leati_emit *emit, const leat_value *in, leat_value *out,
                   leati_emit_adjuster *adjuster, bool symmetric, bool saturate) {
    const struct leati_augment_args *args = emit->node->source->args;
    /* The symmetric forms have max_delta alone. */
    double high = args->random.high, low = symmetric ? -high : args->random.low;
    leat_value x = leati_emit_image_as(in[0], LEAT_FLOAT32, false);
    x = adjuster(x, drawn(in, LEAT_SCALAR, low, high));
    out[0] = leati_emit_image_as(x, leat_value_dtype(in[0]), saturate);
}

#define ADJUSTED(NAME, ADJUSTER, SYMMETRIC, SATURATE)                                              \
    static void build_##NAME(const leati_emit *emit, const leat_value *in, leat_value *out) {      \
        adjust(emit, in, out, ADJUSTER, SYMMETRIC, SATURATE);                                      \
    }                                                                                              \
    LEATI_EMIT_COMPOSED(NAME)
ADJUSTED(random_brightness, leati_emit_brighter, true, true)
ADJUSTED(random_contrast, leati_emit_contrasted, false, true)
ADJUSTED(random_hue, leati_emit_turned, true, false)
ADJUSTED(random_saturation, leati_emit_saturated, false, false)

/* One picture is mirrored where its number is below 0.5; of several, those whose number is above.
 */
static void mirror(const leat_value *in, leat_value *out, int64_t axis) {
    leat_shape shape = leat_value_shape(in[0]);
    leat_value turned = leat_op_reverse(in[0], &axis, 1), x;
    if (shape.rank == 3) {
        x = drawn(in, LEAT_SCALAR, 0, 1);
        x = leat_op_less(x, leati_emit_number_like(x, 0.5));
    } else {
        x = drawn(in, LEAT_SHAPE(shape.dims[0], 1, 1, 1), 0, 1);
        x = leat_op_greater(x, leati_emit_number_like(x, 0.5));
    }
    out[0] = leat_op_select(x, turned, in[0]);
}

static void build_random_flip_left_right(const leati_emit *emit, const leat_value *in,
                                         leat_value *out) {
    (void)emit;
    mirror(in, out, -2);
}
LEATI_EMIT_COMPOSED(random_flip_left_right)

static void build_random_flip_up_down(const leati_emit *emit, const leat_value *in,
                                      leat_value *out) {
    (void)emit;
    mirror(in, out, -3);
}
LEATI_EMIT_COMPOSED(random_flip_up_down)

/* TensorFlow draws where to begin from [0, 2^31 - 1) and takes the remainder. */
leat_status leati_emit_random_crop(leati_emit *emit, leat_error *err) {
    (void)err;
    char sizes[LEATI_HLO_ATTRIBUTES / 4], attributes[LEATI_HLO_ATTRIBUTES];
    leati_hlo *hlo = &emit->hlo;
    leat_shape in = leati_emit_input_shape(emit, 0);
    const leat_shape *out = leati_emit_shape(emit, 0);
    leati_hlo_value operands[1 + LEAT_MAX_RANK] = {emit->inputs[0]};
    leati_hlo_value words = leati_emit_words(emit, emit->inputs[1], in.rank);
    for (int32_t d = 0; d < in.rank; d++) {
        leati_hlo_value word =
            leati_hlo_slice(hlo, words, (int64_t[]){d}, (int64_t[]){d + 1}, (int64_t[]){1});
        word = leati_hlo_reshape(hlo, word, &LEAT_SCALAR);
        for (int i = 0; i < 2; i++) {
            int64_t by = i == 0 ? INT32_MAX : in.dims[d] - out->dims[d] + 1;
            word = leati_hlo_binary(hlo, "remainder", word,
                                    leati_hlo_fill_like(hlo, (double)by, word));
        }
        operands[1 + d] = leati_hlo_convert(hlo, word, LEAT_INT32);
    }
    snprintf(attributes, sizeof attributes, "slice_sizes = %s",
             leati_hlo_array(sizes, sizeof sizes, out->dims, out->rank));
    emit->outputs[0] = leati_hlo_add(hlo, "dynamic_slice", operands, 1 + in.rank, NULL, attributes,
                                     leati_emit_dtype(emit, 0), out);
    return LEAT_OK;
}
