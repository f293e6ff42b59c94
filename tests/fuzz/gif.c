/* GIF pictures; see picture.c. */
#include "fuzz.h"
#include "picture.h"

const fuzz_target fuzz_gif = {
    .name = "gif",
    .doc = "GIF pictures",
    .run = fuzz_picture,
    .most = 8192,
    .folders = "image/files",
    .ending = ".gif",
    .options = FUZZ_PICTURE_OPTIONS,
};
