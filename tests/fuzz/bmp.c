/* BMP pictures; see picture.c. */
#include "fuzz.h"
#include "picture.h"

const fuzz_target fuzz_bmp = {
    .name = "bmp",
    .doc = "BMP pictures",
    .run = fuzz_picture,
    .most = 8192,
    .folders = "image/files",
    .ending = ".bmp",
    .options = FUZZ_PICTURE_OPTIONS,
};
