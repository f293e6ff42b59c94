/* Running chains of picture operations; see chain.h.
 *
 * Happy path, for each row of the call: the operations that mirror run on a picture of 2 x 2
 * numbers, which shows where each corner goes; then the picture is decoded and resized into bands
 * of a few rows, mirrored on the way, and the elementwise operations' own kernels run over each
 * band. The last of them writes into the result, as resize does where there is none. Numbers for
 * each channel are repeated to a line's width first. Failures: those of the operations; whoever
 * runs the program finds out which it was. No locks but the stores' of decoders and plans. */
#include "exec/chain.h"

#include "graph/kernel_host.h"
#include "graph/ops/computed.h"
#include "graph/ops/decode_jpeg.h"
#include "graph/ops/stream.h"
#include <string.h>

enum { BAND_VALUES = 4096, CORNERS = 4 };

typedef struct run {
    const leati_chain *chain;
    const leati_kernel_call *call;
    leati_call_context context; /* of the row */
    int64_t row;
    leati_arena *inner;    /* of the kernels inside */
    leati_operand *inputs; /* of the row; those for each channel repeated to a line */
    leati_operand *bands;  /* 0: the resized rows; k + 1: of step k */
    char *out;             /* the row of the result */
    size_t line;           /* bytes of a line of the result */
    int32_t rows;          /* of a band */
    int32_t first;         /* output row of the band under way, as resize counts */
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
        memcpy(call->outputs[index].data, data, leati_operand_row_bytes(&call->outputs[index]));
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

/* Runs the kernel of a step on the operands of its inputs. */
static leat_status run_step(run *r, const leati_chain_step *step, const leati_operand *inputs,
                            leati_operand *output, leat_error *err) {
    struct leati_kernel_host host = {keep_output, copy_view, no_text, no_hold};
    leati_arena_reset(r->inner);
    leati_kernel_call call = {.n = 1,
                              .inputs = inputs,
                              .num_inputs = step->num_inputs,
                              .outputs = output,
                              .num_outputs = 1,
                              .args = step->source->args,
                              .number = step->source->number,
                              .context = &r->context,
                              .arena = r->inner,
                              .host = &host};
    return step->source->op->kernel(&call, err);
}

/* ---- mirroring ---- */

static void set_corners(leati_operand *operand, float *corners) {
    const int64_t dims[3] = {2, 2, 1};
    *operand = (leati_operand){
        .dtype = LEAT_FLOAT32, .data = (char *)corners, .row_stride = CORNERS * sizeof(float)};
    leati_operand_set_shape(operand, 3, dims);
}

/* Finds out where the corners of the resized picture go. */
static leat_status turn(run *r, leat_error *err) {
    const leati_chain *chain = r->chain;
    float(*corners)[CORNERS] =
        leati_arena_alloc(r->call->arena, (size_t)(chain->num_steps + 1) * sizeof *corners);
    if (corners == NULL)
        return leati_no_memory(err, (size_t)(chain->num_steps + 1) * sizeof *corners);
    for (int i = 0; i < CORNERS; i++)
        corners[0][i] = (float)i;
    for (int32_t k = 0; k < chain->num_steps; k++) {
        const leati_chain_step *step = &chain->steps[k];
        if (step->elementwise) {
            memcpy(corners[k + 1], corners[leati_chain_picture(step)], sizeof *corners);
            continue;
        }
        leati_operand inputs[LEATI_CHAIN_OPERANDS], output;
        for (int32_t i = 0; i < step->num_inputs; i++) {
            if (step->inputs[i] >= 0)
                set_corners(&inputs[i], corners[step->inputs[i]]);
            else
                inputs[i] = r->inputs[~step->inputs[i]];
        }
        set_corners(&output, corners[k + 1]);
        leat_status status = run_step(r, step, inputs, &output, err);
        if (status != LEAT_OK)
            return status;
    }
    int32_t corner = (int32_t)corners[chain->num_steps][0];
    r->mirrored = corner & 1;
    r->upside_down = corner & 2;
    return LEAT_OK;
}

/* ---- bands ---- */

/* The first row of the result that the band covers, and how many. */
static int32_t band_rows(const run *r, int32_t *start) {
    int32_t left = r->chain->height - r->first, rows = left < r->rows ? left : r->rows;
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
    leati_operand_set_shape(&r->bands[0], 2, dims);
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
        leati_operand_set_shape(band, 2, dims);
        if (k + 1 == chain->writer)
            band->data = r->out + (size_t)start * r->line;
        leat_status status = run_step(r, step, inputs, band, err);
        if (status != LEAT_OK)
            return status;
    }
    return LEAT_OK;
}

/* ---- operands ---- */

/* Repeats the numbers for each channel to the width of a line. */
static leat_status widen(run *r, leati_operand *operand, leat_error *err) {
    size_t size = leat_dtype_size(operand->dtype);
    size_t pixel = (size_t)r->chain->channels * size, width = (size_t)r->chain->width;
    char *line = leati_arena_alloc(r->call->arena, width * pixel);
    if (line == NULL)
        return leati_no_memory(err, width * pixel);
    for (size_t x = 0; x < width; x++)
        memcpy(line + x * pixel, operand->data, pixel);
    const int64_t dims[1] = {(int64_t)r->chain->width * r->chain->channels};
    operand->data = line;
    operand->row_stride = 0;
    leati_operand_set_shape(operand, 1, dims);
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
        *operand = r->call->inputs[i];
        operand->data = leati_row_of(operand, r->row);
        if (i == 0 || !is_for_channels(r->chain, i, operand))
            continue;
        leat_status status = widen(r, operand, err);
        if (status != LEAT_OK)
            return status;
    }
    return LEAT_OK;
}

/* ---- the front ---- */

static leat_status front_options(const leati_chain *chain, const run *r, leati_stream *stream,
                                 leat_error *err) {
    const void *args = chain->decode->args;
    if (chain->decode->op == &leati_tensor_op_decode_jpeg) {
        stream->op = LEATI_PICTURE_ANY;
        return leati_decode_jpeg_options(args, &stream->options, err);
    }
    if (chain->decode->op == &leati_tensor_op_decode_and_crop_jpeg) {
        stream->op = LEATI_PICTURE_CROP;
        return leati_decode_crop_options(args, &r->inputs[1], 0, &stream->options, err);
    }
    stream->options = leati_decode_defaults;
    bool png = chain->decode->op == &leati_tensor_op_decode_png;
    stream->op = png ? LEATI_PICTURE_ANY : LEATI_PICTURE_FRAME;
    stream->options.channels =
        (int32_t)(png ? ((const struct leati_decode_png_args *)args)->channels
                      : ((const struct leati_decode_image_args *)args)->channels);
    return LEAT_OK;
}

static bool is_named(const leati_row *row, const leat_string *name) {
    return strlen(row->name) == name->size && memcmp(row->name, name->data, name->size) == 0;
}

/* The window of crop_to_bounding_box, whose numbers may be computed. */
static leat_status front_window(const run *r, leati_stream_window *window, leat_error *err) {
    const leati_node *crop = r->chain->crop;
    bool computed = crop->op == &leati_tensor_op_computed;
    struct leati_box_args box =
        *(const struct leati_box_args *)(computed ? leati_computed_args(crop->args) : crop->args);
    const leati_strings *bound = computed ? leati_computed_bound(crop->args) : NULL;
    int32_t first = r->chain->decode != NULL ? r->chain->decode->num_inputs : 1;
    for (int32_t i = 0; bound != NULL && i < bound->count; i++) {
        leat_tensor value = leati_operand_tensor(&r->inputs[first + i], 0);
        const leati_row *row = leati_box_rows;
        while (row->type != LEATI_ROW_END && !is_named(row, &bound->values[i]))
            row++;
        leat_status status =
            row->type == LEATI_ROW_END
                ? leati_fail(err, LEAT_INTERNAL, "a box has no number of that name")
                : leati_rows_bind(leati_box_rows, &box, row->name, &value, err);
        if (status != LEAT_OK)
            return status;
    }
    *window = (leati_stream_window){.y = box.offset_height,
                                    .x = box.offset_width,
                                    .height = box.target_height,
                                    .width = box.target_width};
    return LEAT_OK;
}

static leat_status run_front(run *r, leat_error *err) {
    const leati_chain *chain = r->chain;
    const struct leati_resize_args *resize = chain->resize->args;
    const leati_operand *source = &r->inputs[0];
    leati_stream_window window;
    leati_stream stream = {.height = chain->height,
                           .width = chain->width,
                           .channels = chain->channels,
                           .antialias = resize->antialias,
                           .mirrored = r->mirrored,
                           .arena = r->call->arena};
    leat_status status = leati_scaling_method(resize->method, &stream.method, err);
    if (status == LEAT_OK && chain->decode != NULL) {
        stream.recovered = r->call->context == NULL ? NULL : r->call->context->recovered;
        stream.contents = (const leat_string *)(const void *)source->data;
        status = front_options(chain, r, &stream, err);
    } else if (status == LEAT_OK) {
        stream.pixels = source->data;
        stream.dtype = source->dtype;
        stream.pixel_height = source->dims[0];
        stream.pixel_width = source->dims[1];
        if (source->dims[2] != chain->channels || source->count == 0 ||
            source->dims[0] > INT32_MAX || source->dims[1] > INT32_MAX)
            status = leati_fail(err, LEAT_INVALID_ARGUMENT,
                                "a picture of %lld x %lld with %lld channels cannot be resized",
                                (long long)source->dims[0], (long long)source->dims[1],
                                (long long)source->dims[2]);
    }
    if (status == LEAT_OK && chain->crop != NULL) {
        status = front_window(r, &window, err);
        stream.window = &window;
    }
    if (status != LEAT_OK)
        return status;
    return leati_stream_run(
        &stream, &(leati_resize_sink){.row = band_row, .done = band_done, .context = r}, err);
}

/* ---- the whole ---- */

/* Memory for the bands: the resized rows, and each elementwise step's but the last. */
static leat_status make_bands(run *r, leat_error *err) {
    const leati_chain *chain = r->chain;
    int64_t values = (int64_t)chain->width * chain->channels;
    r->rows = values >= BAND_VALUES ? 1 : (int32_t)(BAND_VALUES / values);
    r->rows = r->rows < chain->height ? r->rows : chain->height;
    for (int32_t place = 0; place <= chain->num_steps; place++) {
        const leati_chain_step *step = place == 0 ? NULL : &chain->steps[place - 1];
        leati_operand *band = &r->bands[place];
        *band = (leati_operand){.dtype = step == NULL ? LEAT_FLOAT32 : step->dtype};
        if (place == chain->writer || (step != NULL && !step->elementwise))
            continue;
        size_t bytes = (size_t)r->rows * (size_t)values * leat_dtype_size(band->dtype);
        band->data = leati_arena_alloc(r->call->arena, bytes);
        if (band->data == NULL)
            return leati_no_memory(err, bytes);
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
        return leati_no_memory(err, (size_t)chain->num_inputs * sizeof *r->inputs);
    leat_status status = load_inputs(r, err);
    if (status == LEAT_OK)
        status = make_bands(r, err);
    if (status == LEAT_OK && chain->mirrors)
        status = turn(r, err);
    return status == LEAT_OK ? run_front(r, err) : status;
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
        r.out = leati_row_of(&call->outputs[0], r.row);
        leat_status status = run_row(&r, err);
        if (status != LEAT_OK)
            return status;
    }
    call->failed_row = 0;
    return LEAT_OK;
}
