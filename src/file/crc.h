/* CRC32C as record files use it, by ISA-L. */
#ifndef LEATI_FILE_CRC_H
#define LEATI_FILE_CRC_H

#include <leat/base.h>
#include <stddef.h>
#include <stdint.h>

/* CRC32C (Castagnoli) of the bytes; of "123456789" it is 0xe3069283. */
uint32_t leati_crc_crc32c(const void *data, size_t size);

/* The CRC32C of bytes and then these, where `crc` is that of the first; 0 is that of none. */
uint32_t leati_crc_crc32c_extend(uint32_t crc, const void *data, size_t size);

/* The CRC32C of many bytes, with looks whether to stop: CANCELLED then, and *crc is left alone.
 * Works for whom the thread works, or for the thread itself. */
LEAT_WARN_UNUSED leat_status leati_crc_of_many(const void *data, size_t size, uint32_t *crc,
                                               leat_error *err);

/* The form that is stored: rotated right by 15 and moved by a constant, so that the checksum of
 * data that holds checksums is no special case. */
static inline uint32_t leati_crc_mask(uint32_t crc) {
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

#endif
