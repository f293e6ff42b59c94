/* Running chains of picture operations; see chain.h.
 *
 * Happy path, for each row of the call: the operations that mirror run on a picture of 2 x 2
 * numbers, which shows where each corner goes; the ones that cut say which part of the picture they
 * want, once its size is known; then lines of it are decoded, computed with by the operations in
 * front of resize, and resized into bands of a few rows, mirrored on the way, and the elementwise
 * operations' own kernels run over each band. The last of them writes into the result, as resize
 * does where there is none. Numbers for each channel are repeated to a line's width first.
 * Failures: those of the operations; whoever runs the program finds out which it was. No locks but
 * the stores' of decoders and plans. */
#include "exec/chain.h"

#include "base/minmax.h"
#include "graph/computed.h"
#include "graph/halves.h"
#include "graph/kernel_host.h"
#include "graph/ops/picture/decode.h"
#include "graph/support/picture/stream.h"
#include <string.h>

enum { BAND_VALUES = 4096, CORNERS = 4 };

typedef struct run {
    const leati_chain *chain;
    const leati_kernel_call *call;
    leati_call_context context; /* of the row */
    int64_t row;
    leati_arena *inner;          /* of the kernels inside */
    leati_operand *inputs;       /* of the row; those for each channel repeated to a line */
    leati_operand *bands;        /* 0: the resized rows; k + 1: of step k */
    char *out;                   /* the row of the result */
    size_t line;                 /* bytes of a line of the result */
    int32_t rows;                /* of a band */
    int32_t first;               /* output row of the band under way, as resize counts */
    leati_operand *lines;        /* of each step in front of resize that is elementwise */
    leati_operand **line_inputs; /* of the same */
    int32_t last_line;           /* the last such step */
    leat_dtype source_dtype;     /* of the picture */
    bool mirrored, upside_down;
} run;

/* ---- the host of the kernels inside ---- */

static leat_status keep_output(leati_kernel_call *call, int index, int32_t rank,
                               const int64_t *dims, leat_error *err) {
    (void)rank, (void)dims;
    if (call->outputs[index].data != NULL)
        return LEAT_OK;
    return leati_fail(err, LEAT_INTERNAL, "an operation of a chain has no memory");
}

static leat_status copy_view(leati_kernel_call *call, int index, int32_t rank, const int64_t *dims,
                             void *data, int64_t row_stride, leat_buffer *owner, leat_error *err) {
    (void)row_stride, (void)owner;
    leat_status status = keep_output(call, index, rank, dims, err);
    if (status == LEAT_OK && call->outputs[index].data != data)
        memcpy(call->outputs[index].data, data,
               leati_kernel_operand_row_bytes(&call->outputs[index]));
    return status;
}

static char *no_text(leati_kernel_call *call, int index, size_t size, leat_error *err) {
    (void)call, (void)index, (void)size;
    (void)leati_fail(err, LEAT_INTERNAL, "an operation of a chain makes text");
    return NULL;
}

static leat_status no_hold(leati_kernel_call *call, int index, int input, leat_error *err) {
    (void)call, (void)index, (void)input, (void)err;
    return LEAT_OK;
}

/* Runs the kernel of an operation on the operands of its inputs. */
static leat_status run_kernel(run *r, const leati_node *source, const leati_operand *inputs,
                              int32_t num_inputs, leati_operand *output, leat_error *err) {
    struct leati_kernel_host host = {keep_output, copy_view, no_text, no_hold};
    leati_arena_reset(r->inner);
    leati_kernel_call call = {.n = 1,
                              .inputs = inputs,
                              .num_inputs = num_inputs,
                              .outputs = output,
                              .num_outputs = 1,
                              .args = source->args,
                              .number = source->number,
                              .context = &r->context,
                              .arena = r->inner,
                              .host = &host};
    return leati_halves_run(source->op, &call, err);
}

static leat_status run_step(run *r, const leati_chain_step *step, const leati_operand *inputs,
                            leati_operand *output, leat_error *err) {
    return run_kernel(r, step->source, inputs, step->num_inputs, output, err);
}

/* ---- mirroring ---- */

static void set_corners(leati_operand *operand, float *corners) {
    const int64_t dims[3] = {2, 2, 1};
    *operand = (leati_operand){
        .dtype = LEAT_FLOAT32, .data = (char *)corners, .row_stride = CORNERS * sizeof(float)};
    leati_kernel_operand_set_shape(operand, 3, dims);
}

/* Finds out where the corners of the resized picture go. */
static leat_status turn(run *r, leat_error *err) {
    const leati_chain *chain = r->chain;
    float(*corners)[CORNERS] =
        leati_arena_alloc(r->call->arena, (size_t)(chain->num_steps + 1) * sizeof *corners);
    if (corners == NULL)
        return leati_no_memory(err);
    for (int i = 0; i < CORNERS; i++)
        corners[0][i] = (float)i;
    for (int32_t k = 0; k < chain->num_steps; k++) {
        const leati_chain_step *step = &chain->steps[k];
        if (step->elementwise) {
            memcpy(corners[k + 1], corners[leati_chain_picture(step)], sizeof *corners);
            continue;
        }
        leati_operand inputs[LEATI_CHAIN_OPERANDS], output;
        for (int32_t i = 0; i < step->num_inputs; i++)
            if (step->inputs[i] >= 0)
                set_corners(&inputs[i], corners[step->inputs[i]]);
            else
                inputs[i] = r->inputs[~step->inputs[i]];
        set_corners(&output, corners[k + 1]);
        LEATI_TRY(run_step(r, step, inputs, &output, err));
    }
    int32_t corner = (int32_t)corners[chain->num_steps][0];
    r->mirrored = corner & 1;
    r->upside_down = corner & 2;
    return LEAT_OK;
}

/* ---- bands ---- */

/* The first row of the result that the band covers, and how many. */
static int32_t band_rows(const run *r, int32_t *start) {
    int32_t left = r->chain->height - r->first, rows = LEATI_MIN(left, r->rows);
    *start = r->upside_down ? left - rows : r->first;
    return rows;
}

static float *band_row(void *context, int32_t y) {
    run *r = context;
    int32_t start = 0;
    r->first = y - y % r->rows;
    int32_t rows = band_rows(r, &start), at = y - r->first;
    at = r->upside_down ? rows - 1 - at : at;
    size_t line = (size_t)r->chain->width * (size_t)r->chain->channels * sizeof(float);
    char *band = r->chain->writer == 0 ? r->out + (size_t)start * r->line : r->bands[0].data;
    return (float *)(void *)(band + (size_t)at * line);
}

/* When a band is full, runs the steps over it. */
static leat_status band_done(void *context, int32_t y, leat_error *err) {
    run *r = context;
    const leati_chain *chain = r->chain;
    int32_t start = 0, rows = band_rows(r, &start);
    if (y + 1 < r->first + rows || chain->writer == 0)
        return LEAT_OK;
    const int64_t dims[2] = {rows, (int64_t)chain->width * chain->channels};
    leati_kernel_operand_set_shape(&r->bands[0], 2, dims);
    for (int32_t k = 0; k < chain->num_steps; k++) {
        const leati_chain_step *step = &chain->steps[k];
        leati_operand *band = &r->bands[k + 1], inputs[LEATI_CHAIN_OPERANDS];
        if (!step->elementwise) {
            *band = r->bands[leati_chain_picture(step)];
            continue;
        }
        for (int32_t i = 0; i < step->num_inputs; i++)
            inputs[i] =
                step->inputs[i] >= 0 ? r->bands[step->inputs[i]] : r->inputs[~step->inputs[i]];
        leati_kernel_operand_set_shape(band, 2, dims);
        if (k + 1 == chain->writer)
            band->data = r->out + (size_t)start * r->line;
        LEATI_TRY(run_step(r, step, inputs, band, err));
    }
    return LEAT_OK;
}

/* ---- operands ---- */

/* Input `i` of the chain for the row. */
static leati_operand input_of_row(const run *r, int32_t i) {
    leati_operand operand = r->call->inputs[i];
    operand.data = leati_support_row_of(&operand, r->row);
    return operand;
}

/* Repeats the numbers for each channel to the width of a line, in pixels. */
static leat_status widen(const run *r, leati_operand *operand, size_t width, leat_error *err) {
    size_t size = leat_dtype_size(operand->dtype);
    size_t pixel = (size_t)r->chain->channels * size;
    char *line = leati_arena_alloc(r->call->arena, width * pixel);
    if (line == NULL)
        return leati_no_memory(err);
    for (size_t x = 0; x < width; x++)
        memcpy(line + x * pixel, operand->data, pixel);
    const int64_t dims[1] = {(int64_t)width * r->chain->channels};
    operand->data = line;
    operand->row_stride = 0;
    leati_kernel_operand_set_shape(operand, 1, dims);
    return LEAT_OK;
}

/* Is the input one that elementwise steps read, with a number for each channel? */
static bool is_for_channels(const leati_chain *chain, int32_t input, const leati_operand *operand) {
    if (operand->count <= 1)
        return false;
    for (int32_t k = 0; k < chain->num_steps; k++)
        for (int32_t i = 0; i < chain->steps[k].num_inputs; i++)
            if (chain->steps[k].elementwise && chain->steps[k].inputs[i] == ~input)
                return true;
    return false;
}

static leat_status load_inputs(run *r, leat_error *err) {
    for (int32_t i = 0; i < r->chain->num_inputs; i++) {
        leati_operand *operand = &r->inputs[i];
        *operand = input_of_row(r, i);
        if (i == 0 || !is_for_channels(r->chain, i, operand))
            continue;
        LEATI_TRY(widen(r, operand, (size_t)r->chain->width, err));
    }
    return LEAT_OK;
}

/* ---- the front ---- */

static leat_status front_options(const leati_chain *chain, const run *r,
                                 leati_picture_stream *stream, leat_error *err) {
    const void *args = chain->decode->args;
    if (chain->decode->op == &leati_tensor_op_decode_jpeg) {
        stream->op = LEATI_PICTURE_ANY;
        return leati_decode_jpeg_options(args, &stream->options, err);
    }
    if (chain->decode->op == &leati_tensor_op_decode_and_crop_jpeg) {
        const leati_operand window = input_of_row(r, 1);
        stream->op = LEATI_PICTURE_CROP;
        return leati_decode_crop_options(args, &window, 0, &stream->options, err);
    }
    stream->options = leati_decode_defaults;
    bool png = chain->decode->op == &leati_tensor_op_decode_png;
    stream->op = png ? LEATI_PICTURE_ANY : LEATI_PICTURE_FRAME;
    stream->options.channels =
        (int32_t)(png ? ((const struct leati_decode_png_args *)args)->channels
                      : ((const struct leati_decode_image_args *)args)->channels);
    return LEAT_OK;
}

/* The operation of a step with its arguments, of which some are computed. */
static leat_status bind_step(const run *r, const leati_chain_front *step, leati_kernel_call *call,
                             leat_error *err) {
    call->args = step->source->args;
    if (step->source->op != &leati_tensor_op_computed)
        return LEAT_OK;
    const struct leati_computed_args *computed = call->args;
    void *args = NULL;
    call->num_inputs -= computed->bound.count;
    leat_status status = leati_computed_borrow(computed, call->inputs + call->num_inputs, 0,
                                               r->call->arena, &args, err);
    call->args = args;
    return status;
}

/* Cuts what the step cuts out of the window. */
static leat_status cut(run *r, const leati_chain_front *step, leati_window *window,
                       leat_error *err) {
    leati_operand *inputs =
        leati_arena_alloc(r->call->arena, (size_t)step->source->num_inputs * sizeof *inputs);
    if (inputs == NULL)
        return leati_no_memory(err);
    const int64_t dims[3] = {window->height, window->width, r->chain->channels};
    inputs[0] = (leati_operand){.dtype = step->dtype};
    leati_kernel_operand_set_shape(&inputs[0], 3, dims);
    for (int32_t i = 1; i < step->source->num_inputs; i++)
        inputs[i] = input_of_row(r, step->first + i - 1);
    leati_kernel_call call = {.n = 1,
                              .inputs = inputs,
                              .num_inputs = step->source->num_inputs,
                              .number = step->source->number,
                              .context = &r->context,
                              .arena = r->call->arena};
    leati_window part = {0};
    LEATI_TRY(bind_step(r, step, &call, err));
    LEATI_TRY(step->cuts->window(&call, &part, err));
    if (part.height > window->height - part.top || part.width > window->width - part.left)
        return leati_fail(err, LEAT_INTERNAL, "a part leaves its picture");
    *window = (leati_window){.top = window->top + part.top,
                             .left = window->left + part.left,
                             .height = part.height,
                             .width = part.width};
    return LEAT_OK;
}

/* Memory for the line that an elementwise step makes, and its other operands as wide as that. */
static leat_status prepare_line(run *r, int32_t k, int64_t width, leat_error *err) {
    const leati_chain_front *step = &r->chain->front[k];
    leati_operand *inputs =
        leati_arena_alloc(r->call->arena, (size_t)step->source->num_inputs * sizeof *inputs);
    size_t bytes = (size_t)(width * r->chain->channels) * leat_dtype_size(step->dtype);
    const int64_t dims[1] = {width * r->chain->channels};
    leati_operand *line = &r->lines[k];
    *line = (leati_operand){.dtype = step->dtype};
    line->data = leati_arena_alloc(r->call->arena, bytes);
    if (line->data == NULL || inputs == NULL)
        return leati_no_memory(err);
    leati_kernel_operand_set_shape(line, 1, dims);
    r->line_inputs[k] = inputs;
    for (int32_t i = 0, next = step->first; i < step->source->num_inputs; i++) {
        if (i == step->picture)
            continue;
        inputs[i] = input_of_row(r, next++);
        leat_status status =
            inputs[i].count > 1 ? widen(r, &inputs[i], (size_t)width, err) : LEAT_OK;
        if (status != LEAT_OK)
            return status;
    }
    return LEAT_OK;
}

static leat_status front_window(void *context, leati_window *window, leat_error *err) {
    run *r = context;
    const leati_chain *chain = r->chain;
    leat_status status = LEAT_OK;
    for (int32_t k = 0; k < chain->num_front && status == LEAT_OK; k++)
        if (chain->front[k].cuts != NULL)
            status = cut(r, &chain->front[k], window, err);
    for (int32_t k = 0; k < chain->num_front && status == LEAT_OK; k++)
        if (chain->front[k].cuts == NULL)
            status = prepare_line(r, k, window->width, err);
    return status;
}

/* Runs the elementwise steps on a line of the window. */
static leat_status front_line(void *context, const void *line, void *out, leat_error *err) {
    run *r = context;
    const leati_chain *chain = r->chain;
    leati_operand picture = {.dtype = r->source_dtype, .data = (char *)(uintptr_t)line};
    for (int32_t k = 0; k < chain->num_front; k++) {
        const leati_chain_front *step = &chain->front[k];
        if (step->cuts != NULL)
            continue;
        leati_operand *made = &r->lines[k], to = *made;
        leati_kernel_operand_set_shape(&picture, 1, made->dims);
        r->line_inputs[k][step->picture] = picture;
        to.data = k == r->last_line ? out : made->data;
        leat_status status =
            run_kernel(r, step->source, r->line_inputs[k], step->source->num_inputs, &to, err);
        if (status != LEAT_OK)
            return status;
        picture = to;
    }
    return LEAT_OK;
}

/* Memory for what the steps in front of resize need for the row, and which of them is the last. */
static leat_status reserve_front(run *r, leat_error *err) {
    size_t count = (size_t)r->chain->num_front;
    r->lines = leati_arena_alloc(r->call->arena, (count + 1) * sizeof *r->lines);
    r->line_inputs = leati_arena_alloc(r->call->arena, (count + 1) * sizeof *r->line_inputs);
    if (r->lines == NULL || r->line_inputs == NULL)
        return leati_no_memory(err);
    for (int32_t k = 0; k < r->chain->num_front; k++)
        if (r->chain->front[k].cuts == NULL)
            r->last_line = k;
    return LEAT_OK;
}

/* The picture itself, which was decoded before. */
static leat_status front_pixels(run *r, leati_picture_stream *stream, leat_error *err) {
    leati_operand source = input_of_row(r, 0);
    stream->pixels = source.data;
    stream->dtype = r->source_dtype = source.dtype;
    stream->pixel_height = source.dims[0];
    stream->pixel_width = source.dims[1];
    if (source.dims[2] == r->chain->channels && source.count > 0 && source.dims[0] <= INT32_MAX &&
        source.dims[1] <= INT32_MAX)
        return LEAT_OK;
    return leati_refuse(err, SHAPE, "a picture of %lld x %lld with %lld channels cannot be resized",
                        (long long)source.dims[0], (long long)source.dims[1],
                        (long long)source.dims[2]);
}

static leat_status run_front(run *r, leat_error *err) {
    const leati_chain *chain = r->chain;
    leati_operand source = input_of_row(r, 0);
    leati_picture_stream stream = {.height = chain->height,
                                   .width = chain->width,
                                   .channels = chain->channels,
                                   .method = chain->method,
                                   .antialias = chain->antialias,
                                   .mirrored = r->mirrored,
                                   .recovered = r->call->context->recovered,
                                   .quality = r->call->context->quality,
                                   .context = r,
                                   .arena = r->call->arena};
    leat_status status = LEAT_OK;
    if (chain->num_front > 0) {
        stream.window = front_window;
        status = reserve_front(r, err);
    }
    if (chain->converts) {
        stream.convert = front_line;
        stream.converted = chain->front[r->last_line].dtype;
    }
    r->source_dtype = LEAT_UINT8;
    if (status == LEAT_OK && chain->decode == NULL)
        status = front_pixels(r, &stream, err);
    else if (status == LEAT_OK)
        status = front_options(chain, r, &stream, err);
    if (chain->decode != NULL)
        stream.contents = (const leat_string *)(const void *)source.data;
    if (status != LEAT_OK)
        return status;
    const leati_resize_sink sink = {.row = band_row,
                                    .done = band_done,
                                    .context = r,
                                    .far = chain->writer == 0 &&
                                           leati_resize_is_far((size_t)chain->height * r->line)};
    return leati_stream_run(&stream, &sink, err);
}

/* ---- the whole ---- */

/* Memory for the bands: the resized rows, and each elementwise step's but the last. */
static leat_status make_bands(run *r, leat_error *err) {
    const leati_chain *chain = r->chain;
    int64_t values = (int64_t)chain->width * chain->channels;
    r->rows = values >= BAND_VALUES ? 1 : (int32_t)(BAND_VALUES / values);
    r->rows = LEATI_MIN(r->rows, chain->height);
    for (int32_t place = 0; place <= chain->num_steps; place++) {
        const leati_chain_step *step = place == 0 ? NULL : &chain->steps[place - 1];
        leati_operand *band = &r->bands[place];
        *band = (leati_operand){.dtype = step == NULL ? LEAT_FLOAT32 : step->dtype};
        if (place == chain->writer || (step != NULL && !step->elementwise))
            continue;
        size_t bytes = (size_t)r->rows * (size_t)values * leat_dtype_size(band->dtype);
        band->data = leati_arena_alloc(r->call->arena, bytes);
        if (band->data == NULL)
            return leati_no_memory(err);
    }
    return LEAT_OK;
}

static leat_status run_row(run *r, leat_error *err) {
    const leati_chain *chain = r->chain;
    leati_arena *arena = r->call->arena;
    leati_arena_reset(arena);
    r->inputs = leati_arena_alloc(arena, (size_t)chain->num_inputs * sizeof *r->inputs);
    r->bands = leati_arena_alloc(arena, (size_t)(chain->num_steps + 1) * sizeof *r->bands);
    if (r->inputs == NULL || r->bands == NULL)
        return leati_no_memory(err);
    LEATI_TRY(load_inputs(r, err));
    LEATI_TRY(make_bands(r, err));
    if (chain->mirrors)
        LEATI_TRY(turn(r, err));
    return run_front(r, err);
}

leat_status leati_chain_run(const leati_chain *chain, leati_kernel_call *call, leati_arena *arena,
                            leat_error *err) {
    leat_dtype dtype = call->outputs[0].dtype;
    run r = {.chain = chain,
             .call = call,
             .inner = arena,
             .line = (size_t)chain->width * (size_t)chain->channels * leat_dtype_size(dtype)};
    for (r.row = 0; r.row < call->n; r.row++) {
        call->failed_row = r.row;
        r.context = *call->context;
        r.context.ordinal += r.row;
        r.out = leati_support_row_of(&call->outputs[0], r.row);
        LEATI_TRY(run_row(&r, err));
    }
    call->failed_row = 0;
    return LEAT_OK;
}
