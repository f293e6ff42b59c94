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

/* The six bits of a letter and one more; 0: it is none. */
static const uint8_t places[256] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,
    ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
    ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
    ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
    ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
    ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['-'] = 63, ['_'] = 64};

size_t leati_base64_decode(const char *letters, size_t size, void *to) {
    uint8_t *out = to;
    uint32_t bits = 0;
    for (size_t i = 0; i < size; i++) {
        const uint32_t six = places[(uint8_t)letters[i]] - 1u;
        if (six > 63)
            return i;
        bits = bits << 6 | six;
        /* The first letter of four gives no byte yet. */
        if (i % 4 != 0 && out != NULL)
            *out++ = (uint8_t)(bits >> (6 - 2 * (i % 4)));
    }
    return size;
}
