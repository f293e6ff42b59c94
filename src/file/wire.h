/* The little of protobuf's wire format that tf.train.Example needs, and little-endian words. Header
 * only: these lie in the hottest loops of the room. */
#ifndef LEATI_FILE_WIRE_H
#define LEATI_FILE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t leati_wire_load32(const void *from) {
    const uint8_t *b = from;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static inline uint64_t leati_wire_load64(const void *from) {
    return leati_wire_load32(from) | (uint64_t)leati_wire_load32((const uint8_t *)from + 4) << 32;
}

static inline void leati_wire_store32(void *to, uint32_t value) {
    uint8_t *b = to;
    for (int i = 0; i < 4; i++)
        b[i] = (uint8_t)(value >> (8 * i));
}

static inline void leati_wire_store64(void *to, uint64_t value) {
    leati_wire_store32(to, (uint32_t)value);
    leati_wire_store32((uint8_t *)to + 4, (uint32_t)(value >> 32));
}

typedef enum leati_wire_type {
    LEATI_WIRE_VARINT = 0,
    LEATI_WIRE_FIXED64 = 1,
    LEATI_WIRE_BYTES = 2,
    LEATI_WIRE_FIXED32 = 5
} leati_wire_type;

/* A message being read. */
typedef struct leati_wire {
    const uint8_t *at;
    const uint8_t *end;
} leati_wire;

/* One field: of VARINT, FIXED64 and FIXED32 the number, of BYTES the bytes. */
typedef struct leati_wire_field {
    uint32_t number;
    leati_wire_type type;
    uint64_t value;
    leati_wire bytes;
} leati_wire_field;

#define LEATI_MAX_VARINT 10

/* Reads one varint; false beyond the end or after ten bytes. Bits above 64 are dropped, as protobuf
 * does. */
static inline bool leati_wire_varint(leati_wire *wire, uint64_t *out) {
    if (wire->at < wire->end && *wire->at < 0x80) {
        *out = *wire->at++;
        return true;
    }
    uint64_t value = 0;
    const uint8_t *at = wire->at;
    for (int i = 0; i < LEATI_MAX_VARINT && at != wire->end; i++) {
        uint8_t byte = *at++;
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            wire->at = at;
            *out = value;
            return true;
        }
    }
    return false;
}

/* Reads one field; false where the bytes are no field (groups count as such, as in TensorFlow's
 * parser); wire->at then stands at its first byte. */
static inline bool leati_wire_next(leati_wire *wire, leati_wire_field *out) {
    leati_wire at = *wire;
    uint64_t tag;
    if (!leati_wire_varint(&at, &tag) || tag >> 32 || tag >> 3 == 0)
        return false;
    out->number = (uint32_t)(tag >> 3);
    out->type = (leati_wire_type)(tag & 7);
    out->value = 0;
    out->bytes = (leati_wire){at.at, at.at};
    size_t left = (size_t)(at.end - at.at);
    switch (tag & 7) {
    case LEATI_WIRE_VARINT:
        if (!leati_wire_varint(&at, &out->value))
            return false;
        break;
    case LEATI_WIRE_FIXED64:
        if (left < 8)
            return false;
        out->value = leati_wire_load64(at.at);
        at.at += 8;
        break;
    case LEATI_WIRE_FIXED32:
        if (left < 4)
            return false;
        out->value = leati_wire_load32(at.at);
        at.at += 4;
        break;
    case LEATI_WIRE_BYTES:
        if (!leati_wire_varint(&at, &out->value) || out->value > (uint64_t)(at.end - at.at))
            return false;
        out->bytes = (leati_wire){at.at, at.at + out->value};
        at.at += out->value;
        break;
    default: return false;
    }
    wire->at = at.at;
    return true;
}

/* Bytes that a varint takes, and writing one (returns the byte after it). */
static inline size_t leati_wire_varint_size(uint64_t value) {
    size_t n = 1;
    while (value >= 0x80) {
        value >>= 7;
        n++;
    }
    return n;
}

static inline uint8_t *leati_wire_put_varint(uint8_t *to, uint64_t value) {
    while (value >= 0x80) {
        *to++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *to++ = (uint8_t)value;
    return to;
}

#endif
