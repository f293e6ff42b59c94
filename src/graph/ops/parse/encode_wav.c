/* encode_wav: samples of float32 [samples, channels] from -1 to 1 as a WAV file of 16 bits
 * (tf.audio.encode_wav).
 *
 * Samples beyond are cut, and what is no number is silent. Fails where there is no channel or more
 * than the format can count, or the rate is not positive. No gradient, no locks. */
#include "base/minmax.h"
#include "file/wire.h"
#include "graph/support/text/texts.h"

#include <math.h>
#include <string.h>

#define HEADER 44 /* RIFF 12, format chunk 8 + 16, head of the data chunk 8 */

static leat_status encode_wav_infer(leati_infer_call *call, leat_error *err) {
    leat_shape scalar = LEAT_SCALAR;
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_FLOAT32, "the audio", err));
    LEATI_TRY(leati_support_want_rank(call, 0, 2, "the audio", err));
    LEATI_TRY(leati_support_want_dtype(call, 1, LEAT_INT32, "the sample rate", err));
    LEATI_TRY(leati_support_want_rank(call, 1, 0, "the sample rate", err));
    return leati_op_infer_output(call, LEAT_STRING, &scalar, NULL, err);
}

static void store16(uint8_t *to, uint32_t value) {
    to[0] = (uint8_t)value;
    to[1] = (uint8_t)(value >> 8);
}

static void put_header(uint8_t *to, uint32_t bytes, uint32_t channels, uint32_t rate) {
    memcpy(to, "RIFF....WAVEfmt ", 16);
    /* RIFF counts what follows its own 8 bytes. */
    leati_wire_store32(to + 4, HEADER - 8 + bytes);
    leati_wire_store32(to + 16, 16); /* bytes of the format chunk */
    store16(to + 20, 1);             /* PCM */
    store16(to + 22, channels);
    leati_wire_store32(to + 24, rate);
    leati_wire_store32(to + 28, rate * channels * 2);
    store16(to + 32, channels * 2);
    store16(to + 34, 16);
    memcpy(to + 36, "data", 4);
    leati_wire_store32(to + 40, bytes);
}

static uint32_t sample_of(float value) {
    if (isnan(value))
        return 0;
    /* 32768 = 2^15 makes -1 the lowest sample; 1 would be one above the highest, and is cut. */
    float scaled = roundf(value * 32768.0F);
    float cut = scaled > 32767.0F ? 32767.0F : LEATI_MAX(-32768.0F, scaled);
    return (uint32_t)(int32_t)cut;
}

static leat_status put_row(leati_kernel_call *call, int64_t row, leat_error *err) {
    const leati_operand *audio = &call->inputs[0];
    int32_t rate = *(const int32_t *)(const void *)leati_support_row_of(&call->inputs[1], row);
    /* In 64 bits, so that nothing wraps before it is compared. */
    int64_t channels = audio->dims[1], bytes = audio->count * 2;
    if (rate <= 0)
        return leati_refuse(err, VALUE, "sample_rate must be in (0, 2^32), got: %lld",
                            (long long)rate);
    /* The format counts the bytes of a frame in 16 bits, two for each channel. */
    if (channels <= 0 || channels > UINT16_MAX / 2)
        return leati_refuse(err, VALUE, "num_channels must be in (0, 2^15), got: %lld",
                            (long long)channels);
    if (bytes > (int64_t)UINT32_MAX - HEADER || (int64_t)rate * channels * 2 > UINT32_MAX)
        return leati_refuse(err, VALUE,
                            "%lld samples at %d a second do not fit the counts of a WAV file",
                            (long long)audio->count, (int)rate);
    char *to = leati_op_kernel_text(call, 0, HEADER + (size_t)bytes, err);
    if (to == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    put_header((uint8_t *)to, (uint32_t)bytes, (uint32_t)channels, (uint32_t)rate);
    const float *from = (const float *)(const void *)leati_support_row_of(audio, row);
    for (int64_t i = 0; i < audio->count; i++)
        store16((uint8_t *)to + HEADER + 2 * i, sample_of(from[i]));
    *leati_text_strings_of(&call->outputs[0], row) =
        (leat_string){.data = to, .size = HEADER + (size_t)bytes};
    return LEAT_OK;
}

static leat_status encode_wav_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape scalar = LEAT_SCALAR;
    if (call->inputs[0].rank != 2 || call->inputs[1].rank != 0)
        return leati_refuse(err, SHAPE,
                            "audio and sample_rate have ranks %d and %d; expected 2 and 0",
                            (int)call->inputs[0].rank, (int)call->inputs[1].rank);
    LEATI_TRY(leati_support_output_like(call, 0, &scalar, err));
    for (int64_t row = 0; row < call->n; row++) {
        call->failed_row = row;
        LEATI_TRY(put_row(call, row, err));
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_encode_wav = {
    .name = "encode_wav",
    .version = 1,
    .doc = "Samples from -1 to 1 as a WAV file of 16 bits (tf.audio.encode_wav).",
    .names = "audio.encode_wav",
    .inputs = "audio sample_rate",
    .types = "float32 int32",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = encode_wav_infer,
    .kernel = encode_wav_kernel,
};
