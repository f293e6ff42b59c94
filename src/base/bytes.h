/* A growing byte string for states that are saved, and a bounds-checked reader for states that come
 * back. Numbers are written as LEB128 varints or fixed little-endian 64-bit words; every read fails
 * with DATA_LOSS beyond the end. */
#ifndef LEATI_BASE_BYTES_H
#define LEATI_BASE_BYTES_H

#include <leat/base.h>

/* {0} is empty. `failed` is sticky, as in leati_text. */
typedef struct leati_writer {
    uint8_t *data;
    size_t size;
    size_t capacity;
    bool failed;
} leati_writer;

void leati_put_uint(leati_writer *writer, uint64_t value);
void leati_put_int(leati_writer *writer, int64_t value); /* zigzag */
void leati_put_fixed64(leati_writer *writer, uint64_t value);
void leati_put_bytes(leati_writer *writer, const void *data, size_t size); /* length first */
/* The bytes alone, without their length. */
void leati_put_raw(leati_writer *writer, const void *data, size_t size);
void leati_writer_fini(leati_writer *writer);

typedef struct leati_reader {
    const uint8_t *data; /* borrowed */
    size_t size;
    size_t at;
} leati_reader;

LEAT_WARN_UNUSED leat_status leati_get_uint(leati_reader *reader, uint64_t *out, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_get_int(leati_reader *reader, int64_t *out, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_get_fixed64(leati_reader *reader, uint64_t *out,
                                               leat_error *err);
/* Borrowed view into the reader's memory. */
LEAT_WARN_UNUSED leat_status leati_get_bytes(leati_reader *reader, const void **out, size_t *size,
                                             leat_error *err);

#endif
