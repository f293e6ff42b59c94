/* Pictures: decoding writes each sample that the header promised and nothing else, twice the same;
 * a decoder that failed before decodes the next picture as a new one does. */
#include "picture.h"
#include "base/hash.h"
#include "fuzz.h"
#include "image/codec.h"
#include <stdlib.h>
#include <string.h>

enum { GAP = 5 };

static leati_decode_options choose(uint8_t choice) {
    static const int32_t channels[] = {0, 1, 3, 4}, ratios[] = {1, 2, 4, 8};
    leati_decode_options options = leati_decode_defaults;
    options.channels = channels[choice & 3];
    options.ratio = ratios[(choice >> 2) & 3];
    options.bits = choice & 16 ? 16 : 8;
    options.dct = choice & 32 ? LEATI_DCT_ACCURATE : LEATI_DCT_FAST;
    options.try_recover_truncated = choice & 64;
    options.acceptable_fraction = choice & 64 ? 0.5f : 1;
    options.fancy_upscaling = !(choice & 128);
    options.max_pixels = 1 << 16;
    options.first_frame = choice & 64;
    if ((choice & 192) == 192) {
        options.crop = true;
        options.crop_y = choice & 3;
        options.crop_x = options.crop_height = options.crop_width = 1 + ((choice >> 2) & 7);
    }
    return options;
}

/* Decodes into memory of exactly the promised size; 0 for a picture that is refused. */
static uint64_t decode(leati_image_decoder *decoder, const uint8_t *data, size_t size,
                       const leati_decode_options *options, size_t gap) {
    leati_image_info info = {0};
    leat_error err = {0};
    uint64_t hash = 0;
    leat_status status = leati_image_begin(decoder, data, size, options, &info, &err);
    fuzz_check_error("leati_image_begin", status, &err);
    if (status != LEAT_OK)
        return 0;
    size_t row = (size_t)info.width * (size_t)info.channels * (size_t)info.bits / 8,
           rows = (size_t)info.height * (size_t)info.frames, all = (row + gap) * rows - gap;
    uint8_t *pixels = malloc(all);
    if (pixels == NULL)
        fuzz_broken("no memory for %zu bytes", all);
    memset(pixels, 0xA5, all);
    status = leati_image_read(decoder, pixels, row + gap, &err);
    fuzz_check_error("leati_image_read", status, &err);
    for (size_t y = 0; y < rows && status == LEAT_OK; y++) {
        hash = leati_hash(pixels + y * (row + gap), row, hash + 1);
        for (size_t i = 0; i < gap && y + 1 < rows; i++)
            if (pixels[y * (row + gap) + row + i] != 0xA5)
                fuzz_broken("row %zu was written beyond its end", y);
    }
    free(pixels);
    return hash;
}

void fuzz_picture(const uint8_t *data, size_t size) {
    static leati_image_decoder *kept;
    leat_error err = {0};
    if (size < FUZZ_PICTURE_OPTIONS)
        return;
    leati_decode_options options = choose(data[0]);
    leati_image_decoder *fresh = leati_image_decoder_new(&err);
    if (kept == NULL)
        kept = leati_image_decoder_new(&err);
    if (kept == NULL || fresh == NULL)
        fuzz_broken("no decoder: %s", err.text);
    uint64_t first = decode(fresh, data + 1, size - 1, &options, 0);
    uint64_t second = decode(kept, data + 1, size - 1, &options, GAP);
    leati_image_decoder_free(fresh);
    if (first != second)
        fuzz_broken("a decoder that was used before gives other samples");
}
