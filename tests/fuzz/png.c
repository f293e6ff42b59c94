/* PNG pictures; see picture.c. */
#include "fuzz.h"
#include "picture.h"

const fuzz_target fuzz_png = {
    .name = "png",
    .doc = "PNG pictures",
    .run = fuzz_picture,
    .most = 8192,
    .folders = "image/files",
    .ending = ".png",
    .options = FUZZ_PICTURE_OPTIONS,
};
