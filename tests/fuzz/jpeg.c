/* JPEG pictures; see picture.c. */
#include "fuzz.h"
#include "picture.h"

const fuzz_target fuzz_jpeg = {
    .name = "jpeg",
    .doc = "JPEG pictures",
    .run = fuzz_picture,
    .most = 8192,
    .folders = "image/files",
    .ending = ".jpg",
    .options = FUZZ_PICTURE_OPTIONS,
};
