/* decode_wav: the samples of a WAV file of 16 bits as float32 [samples, channels] from -1 to below
 * 1, and its sample rate (tf.audio.decode_wav).
 *
 * Samples and channels that are wanted and not there are silent, and copies of the last channel.
 * Chunks that are not known are passed over. How many samples there are is data, so rows run one at
 * a time. Fails on what is no such file, on one that ends within its samples, and on two chunks of
 * samples. No gradient, no locks. */
#include "file/wire.h"
#include "graph/support/text/texts.h"

#include <string.h>

struct decode_wav_args {
    int64_t desired_channels;
    int64_t desired_samples;
};

static const leati_row decode_wav_rows[] = {
    {.name = "desired_channels",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct decode_wav_args, desired_channels),
     .default_number = -1,
     .minimum = -1,
     .maximum = UINT16_MAX,
     .doc = "How many channels there shall be; -1: those of the file."},
    {.name = "desired_samples",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct decode_wav_args, desired_samples),
     .default_number = -1,
     .minimum = -1,
     .maximum = INT64_MAX / 65536 / 8,
     .doc = "How many samples of each channel there shall be; -1: those of the file."},
    {0},
};

static leat_status decode_wav_infer(leati_infer_call *call, leat_error *err) {
    const struct decode_wav_args *args = call->args;
    /* -1 in both arguments means "as in the file", which is an unknown dimension's number, too. */
    leat_shape audio = LEAT_SHAPE(args->desired_samples, args->desired_channels);
    leat_shape scalar = LEAT_SCALAR;
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the contents", err));
    LEATI_TRY(leati_support_want_rank(call, 0, 0, "the contents", err));
    LEATI_TRY(leati_op_infer_output(call, LEAT_FLOAT32, &audio, NULL, err));
    return leati_op_infer_output(call, LEAT_INT32, &scalar, NULL, err);
}

typedef struct wave {
    uint32_t rate;
    int64_t channels, samples;
    const uint8_t *data; /* NULL: none was found */
} wave;

static uint32_t load16(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

static leat_status cut_off(const char *what, leat_error *err) {
    return leati_refuse(err, VALUE, "the data are too short for %s of a WAV file", what);
}

/* Reads the chunk "fmt "; *at goes behind it. */
static leat_status read_format(const uint8_t **at, const uint8_t *end, wave *out, leat_error *err) {
    const uint8_t *p = *at;
    /* RIFF and its size, WAVE, and a format chunk: 12 + 8 + 16 bytes. */
    if (end - p < 36)
        return cut_off("the header", err);
    if (memcmp(p, "RIFF", 4) != 0 || memcmp(p + 8, "WAVE", 4) != 0 ||
        memcmp(p + 12, "fmt ", 4) != 0)
        return leati_refuse(err, VALUE,
                            "the header is that of no WAV file; expected RIFF, WAVE and fmt");
    uint32_t size = leati_wire_load32(p + 16), format = load16(p + 20), bits = load16(p + 34);
    uint32_t channels = load16(p + 22), each = load16(p + 32),
             per_second = leati_wire_load32(p + 28);
    out->rate = leati_wire_load32(p + 24);
    /* PCM's 16 bytes, or 18 where a count of further bytes follows. */
    if (size != 16 && size != 18)
        return leati_refuse(err, VALUE, "a format chunk of %u bytes; expected 16 or 18", size);
    if (format != 1)
        return leati_refuse(err, VALUE, "bad audio format for WAV: expected 1 (PCM), but got %u",
                            format);
    if (channels < 1)
        return leati_refuse(err, SHAPE,
                            "bad number of channels for WAV: expected at least 1, but got 0");
    if (bits != 16)
        return leati_refuse(err, VALUE, "can only read 16-bit WAV files, but received %u", bits);
    /* In 64 bits: the product of a crafted header's numbers does not wrap to the expected one. */
    if (each != channels * 2 || (uint64_t)per_second != (uint64_t)each * out->rate)
        return leati_refuse(err, VALUE,
                            "%u bytes for each sample and %u a second; expected %u and %llu", each,
                            per_second, channels * 2, (unsigned long long)each * out->rate);
    if (size == 18 && end - p < 38)
        return cut_off("the header", err);
    out->channels = channels;
    *at = p + 20 + size;
    return LEAT_OK;
}

static leat_status read_wave(const uint8_t *at, const uint8_t *end, wave *out, leat_error *err) {
    LEATI_TRY(read_format(&at, end, out, err));
    while (at < end) {
        if (end - at < 8)
            return cut_off("a chunk's header", err);
        uint32_t size = leati_wire_load32(at + 4);
        bool data = memcmp(at, "data", 4) == 0;
        at += 8;
        if (data && out->data != NULL)
            return leati_refuse(err, VALUE,
                                "more than one data chunk found in a WAV file; expected one");
        if (data) { /* of what is no whole sample nothing has to be there */
            out->data = at;
            /* A count of bytes that ends within a sample is rounded down. */
            out->samples = size / (2 * out->channels);
            size = (uint32_t)(out->samples * 2 * out->channels);
        }
        if (data && size > (size_t)(end - at))
            return cut_off("the samples", err);
        if (size > (size_t)(end - at)) /* of what is not read nothing has to be there */
            break;
        at += size;
    }
    if (out->data == NULL)
        return leati_refuse(err, VALUE, "no data chunk found in a WAV file");
    return LEAT_OK;
}

static void put_samples(const wave *w, int64_t samples, int64_t channels, float *to) {
    for (int64_t s = 0; s < samples; s++) {
        for (int64_t c = 0; c < channels; c++) {
            int64_t from = s * w->channels + (c < w->channels ? c : w->channels - 1);
            /* Little-endian on any machine; -2^15 stands for -1. */
            *to++ = s < w->samples ? (float)(int16_t)load16(w->data + 2 * from) / 32768.0F : 0;
        }
    }
}

static leat_status decode_wav_kernel(leati_kernel_call *call, leat_error *err) {
    const struct decode_wav_args *args = call->args;
    leat_shape scalar = LEAT_SCALAR;
    LEATI_TRY(leati_support_check_rank(call, 0, 0, "the contents", err));
    /* The rate's shape is known without the file. The audio's may not be: then there is one row. */
    LEATI_TRY(leati_support_output_like(call, 1, &scalar, err));
    for (int64_t row = 0; row < call->n; row++) {
        const leat_string *contents = leati_text_strings_of(&call->inputs[0], row);
        const uint8_t *at = (const uint8_t *)(contents->size > 0 ? contents->data : "");
        wave w = {.data = NULL};
        call->failed_row = row;
        LEATI_TRY(read_wave(at, at + contents->size, &w, err));
        int64_t samples = args->desired_samples < 0 ? w.samples : args->desired_samples;
        int64_t channels = args->desired_channels < 0 ? w.channels : args->desired_channels;
        leat_shape shape = LEAT_SHAPE(samples, channels);
        LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
        put_samples(&w, samples, channels,
                    (float *)(void *)leati_support_row_of(&call->outputs[0], row));
        *(int32_t *)(void *)leati_support_row_of(&call->outputs[1], row) = (int32_t)w.rate;
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_decode_wav = {
    .name = "decode_wav",
    .version = 1,
    .doc = "The samples of a WAV file of 16 bits and its sample rate (tf.audio.decode_wav).",
    .names = "audio.decode_wav",
    .inputs = "contents",
    .types = "string",
    .outputs = "DecodeWav(audio sample_rate)",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = decode_wav_rows,
    .args_size = sizeof(struct decode_wav_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = decode_wav_infer,
    .kernel = decode_wav_kernel,
};
