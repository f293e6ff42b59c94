/* What the operations on colours share; see colour.h.
 *
 * Happy path: float32 is read and written where it is; other types are converted by
 * convert_image_dtype's kernel, by way of arrays in the arena. No state, no locks. */
#include "graph/support/picture/colour.h"

#include "graph/support/array/moving.h"
#include "graph/support/picture/pictures.h"

/* ---- inference ---- */

static leat_status check_shape(const leati_colour *colour, const leat_shape *shape,
                               leat_error *err) {
    char text[128];
    if (shape->rank < 0)
        return LEAT_OK;
    int64_t channels = shape->rank > 0 ? shape->dims[shape->rank - 1] : 1;
    if (shape->rank < colour->rank)
        return leati_refuse(err, SHAPE,
                            "the pictures have shape %s; expected at least %d dimensions",
                            leati_shape_text(shape, text), (int)colour->rank);
    if (colour->in_channels > 0 && channels >= 0 && channels != colour->in_channels)
        return leati_refuse(
            err, SHAPE, "the pictures have shape %s; expected %lld channels in the last dimension",
            leati_shape_text(shape, text), (long long)colour->in_channels);
    return LEAT_OK;
}

leat_status leati_colour_infer(leati_infer_call *call, const leati_colour *colour,
                               leat_error *err) {
    leat_shape shape = call->inputs[0].shape;
    leat_dtype dtype = call->inputs[0].dtype;
    bool floats = dtype >= LEAT_FLOAT16 && dtype <= LEAT_FLOAT64;
    if (dtype <= LEAT_BOOL || dtype > LEAT_FLOAT64 || (colour->floats && !floats))
        return leati_refuse(err, DTYPE, "the pictures are %s; expected %s", leat_dtype_name(dtype),
                            colour->floats ? "floats" : "numbers");
    LEATI_TRY(check_shape(colour, &shape, err));
    if (colour->out_channels > 0 && shape.rank > 0)
        shape.dims[shape.rank - 1] = colour->out_channels;
    return leati_op_infer_output(call, colour->dtype == LEAT_BOOL ? dtype : colour->dtype, &shape,
                                 NULL, err);
}

/* ---- kernels ---- */

static leati_frames frames_of(const leat_shape *shape, bool by_pixel) {
    leati_frames frames = {.count = 1, .height = 1, .width = 1, .channels = 1};
    for (int32_t d = 0; d < shape->rank; d++) {
        int32_t from_end = shape->rank - d;
        if (from_end == 1)
            frames.channels = shape->dims[d];
        else if (from_end == 2)
            frames.width = shape->dims[d];
        else if (from_end == 3)
            frames.height = shape->dims[d];
        else
            frames.count *= shape->dims[d];
    }
    /* Where only pixels count, all dimensions in front are one line of them. */
    if (by_pixel) {
        frames.width *= frames.count * frames.height;
        frames.count = frames.height = 1;
    }
    return frames;
}

/* Converts `from` to the memory of `to`, scaled as convert_image_dtype does. */
static leat_status convert_into(leati_kernel_call *call, const leati_operand *from,
                                leati_operand *to, bool saturate, leat_error *err) {
    struct leati_convert_args args = {.dtype = to->dtype, .saturate = saturate};
    leati_kernel_call inner = *call;
    inner.inputs = from;
    inner.num_inputs = 1;
    inner.outputs = to;
    inner.num_outputs = 1;
    inner.args = &args;
    return leati_tensor_op_convert_image_dtype.kernel(&inner, err);
}

leat_status leati_colour_floats(leati_kernel_call *call, const leati_operand *in,
                                leati_operand *out, leat_error *err) {
    *out = *in;
    if (in->dtype == LEAT_FLOAT32)
        return LEAT_OK;
    LEATI_TRY(leati_support_inner_memory(call, in, LEAT_FLOAT32, out, err));
    return convert_into(call, in, out, false, err);
}

/* Pictures one by one, or pixels where they do not depend on others. */
typedef struct parts {
    const leati_colour *colour;
    const void *context;
    leati_frames frames; /* of all */
    const char *from;
    char *to;
    int64_t in_step, out_step; /* numbers of one */
    bool is_wide;              /* float64 */
} parts;

enum { PER_NUMBER = 32 }; /* bytes that could be moved while a number is computed */

static void run_part(void *data, int64_t begin, int64_t end) {
    const parts *p = data;
    leati_frames frames = p->frames;
    *(p->colour->by_pixel || p->colour->rank < 3 ? &frames.width : &frames.count) = end - begin;
    int64_t size = p->is_wide ? (int64_t)sizeof(double) : (int64_t)sizeof(float);
    const void *from = p->from + begin * p->in_step * size;
    void *to = p->to + begin * p->out_step * size;
    if (p->is_wide)
        p->colour->wide(from, to, &frames, p->context);
    else
        p->colour->function(from, to, &frames, p->context);
}

leat_status leati_colour_kernel(leati_kernel_call *call, const leati_colour *colour,
                                const void *context, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leati_operand in = call->inputs[0], out;
    LEATI_TRY(check_shape(colour, &shape, err));
    bool pixels = colour->by_pixel || colour->rank < 3;
    leati_frames frames = frames_of(&shape, pixels);
    if (colour->out_channels > 0 && shape.rank > 0)
        shape.dims[shape.rank - 1] = colour->out_channels;
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    /* Functions divide by sizes, and there may be no memory. */
    if (in.count == 0)
        return LEAT_OK;
    bool is_wide = in.dtype == LEAT_FLOAT64 && colour->wide != NULL;
    leat_dtype computed = is_wide ? LEAT_FLOAT64 : LEAT_FLOAT32;
    if (in.dtype != computed && colour->unscaled)
        LEATI_TRY(leati_support_inner_cast(call, &call->inputs[0], LEAT_FLOAT32, &in, err));
    else if (!is_wide)
        LEATI_TRY(leati_colour_floats(call, &call->inputs[0], &in, err));
    /* float32 is written where it stays, all else into the arena and converted. */
    out = call->outputs[0];
    if (out.dtype != computed)
        LEATI_TRY(leati_support_inner_memory(call, &call->outputs[0], LEAT_FLOAT32, &out, err));
    parts all = {.colour = colour, .context = context, .frames = frames, .is_wide = is_wide};
    int64_t count = pixels ? frames.width : frames.count;
    for (int64_t row = 0; row < call->n; row++) {
        all.from = leati_support_row_of(&in, row);
        all.to = leati_support_row_of(&out, row);
        all.in_step = in.count / count;
        all.out_step = out.count / count;
        leati_moving_share(count, all.in_step * PER_NUMBER, run_part, &all);
    }
    if (out.dtype == call->outputs[0].dtype)
        return LEAT_OK;
    return convert_into(call, &out, &call->outputs[0], colour->saturate, err);
}

/* ---- matrices ---- */
