/* Bytes as text of 64 letters that are safe in web addresses and in JSON (RFC 4648, section 5),
 * without filling at the end. */
#ifndef LEATI_BASE_BASE64_H
#define LEATI_BASE_BASE64_H

#include <stddef.h>

/* The letters of so many bytes, and the bytes of so many letters (of 4n + 1 letters the last one
 * stands for nothing). */
static inline size_t leati_base64_letters(size_t bytes) {
    return bytes / 3 * 4 + (bytes % 3 == 0 ? 0 : bytes % 3 + 1);
}
static inline size_t leati_base64_bytes(size_t letters) {
    return letters / 4 * 3 + letters % 4 * 3 / 4;
}

/* Writes leati_base64_letters(size) letters, without an end. */
void leati_base64_encode(const void *bytes, size_t size, char *letters);
/* Writes leati_base64_bytes(size) bytes (`to` NULL: none). Returns the place of the first character
 * that is no letter, where it has stopped; `size`: there is none. */
size_t leati_base64_decode(const char *letters, size_t size, void *to);

#endif
