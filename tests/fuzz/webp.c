/* WebP pictures; see picture.c. */
#include "fuzz.h"
#include "picture.h"

const fuzz_target fuzz_webp = {
    .name = "webp",
    .doc = "WebP pictures",
    .run = fuzz_picture,
    .most = 8192,
    .folders = "image/files",
    .ending = ".webp",
    .options = FUZZ_PICTURE_OPTIONS,
};
