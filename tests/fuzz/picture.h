/* What the targets of pictures share. */
#ifndef FUZZ_PICTURE_H
#define FUZZ_PICTURE_H

#include <stddef.h>
#include <stdint.h>

enum { FUZZ_PICTURE_OPTIONS = 1 };

/* Decodes a picture of any format; its first byte chooses the options. */
void fuzz_picture(const uint8_t *data, size_t size);

#endif
