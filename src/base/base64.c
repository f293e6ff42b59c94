/* Bytes as text; see base64.h. Cannot fail, no locks. */
#include "base/base64.h"

#include <stdint.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void leati_base64_encode(const void *bytes, size_t size, char *letters) {
    const uint8_t *at = bytes;
    for (; size >= 3; size -= 3, at += 3, letters += 4) {
        const uint32_t bits = (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
        for (int k = 0; k < 4; k++)
            letters[k] = alphabet[bits >> (18 - 6 * k) & 63];
    }
    /* A rest of one or two bytes needs a letter more than it has bytes. */
    const uint32_t bits =
        size == 0 ? 0 : (uint32_t)at[0] << 16 | (size == 2 ? (uint32_t)at[1] << 8 : 0);
    for (size_t k = 0; size > 0 && k <= size; k++)
        letters[k] = alphabet[bits >> (18 - 6 * k) & 63];
}

/* The six bits of a letter; 64: it is none. */
static uint32_t bits_of(char c) {
    if (c >= 'A' && c <= 'Z')
        return (uint32_t)(c - 'A');
    if (c >= 'a' && c <= 'z')
        return (uint32_t)(c - 'a' + 26);
    if (c >= '0' && c <= '9')
        return (uint32_t)(c - '0' + 52);
    return c == '-' ? 62 : c == '_' ? 63 : 64;
}

size_t leati_base64_decode(const char *letters, size_t size, void *to) {
    uint8_t table[256], *out = to;
    uint32_t bits = 0;
    for (int c = 0; c < 256; c++)
        table[c] = (uint8_t)bits_of((char)c);
    for (size_t i = 0; i < size; i++) {
        const uint32_t six = table[(uint8_t)letters[i]];
        if (six > 63)
            return i;
        bits = bits << 6 | six;
        /* The first letter of four gives no byte yet. */
        if (i % 4 != 0 && out != NULL)
            *out++ = (uint8_t)(bits >> (6 - 2 * (i % 4)));
    }
    return size;
}
