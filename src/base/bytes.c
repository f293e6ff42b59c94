/* Byte strings of saved states: LEB128 varints, zigzag for signed numbers, little-endian words, and
 * byte runs with their length in front.
 *
 * The reader trusts nothing: every read checks the end, an overlong or overflowing varint is
 * refused, and a failed read leaves the position where it was. No locks: one owner. */
#include "base/bytes.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

void leati_put_raw(leati_writer *writer, const void *data, size_t size) {
    size_t needed;
    if (writer->failed)
        return;
    void *memory = writer->data;
    if (!leati_add_size(writer->size, size, &needed) ||
        !leati_grow(&memory, &writer->capacity, needed, 1)) {
        writer->failed = true;
        return;
    }
    writer->data = memory;
    if (size > 0)
        memcpy(writer->data + writer->size, data, size);
    writer->size = needed;
}

void leati_put_uint(leati_writer *writer, uint64_t value) {
    uint8_t bytes[10];
    size_t size = 0;
    /* Seven bits to a byte, lowest first; the top bit says that more follow. */
    while (value >= 0x80) {
        bytes[size++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    bytes[size++] = (uint8_t)value;
    leati_put_raw(writer, bytes, size);
}

void leati_put_int(leati_writer *writer, int64_t value) {
    /* Zigzag sends 0, -1, 1, -2 to 0, 1, 2, 3: small negative numbers stay as short as positive
     * ones. */
    uint64_t sign = value < 0 ? UINT64_MAX : 0;
    leati_put_uint(writer, ((uint64_t)value << 1) ^ sign);
}

void leati_put_fixed64(leati_writer *writer, uint64_t value) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    leati_put_raw(writer, bytes, sizeof bytes);
}

void leati_put_bytes(leati_writer *writer, const void *data, size_t size) {
    leati_put_uint(writer, size);
    leati_put_raw(writer, data, size);
}

void leati_writer_fini(leati_writer *writer) {
    leati_free(writer->data);
    *writer = (leati_writer){0};
}

static leat_status too_short(const leati_reader *reader, uint64_t needed, leat_error *err) {
    return leati_fail(err, LEAT_DATA_LOSS,
                      "saved state ends early: %llu bytes expected at offset %zu, %zu are left; "
                      "save the state again",
                      (unsigned long long)needed, reader->at, reader->size - reader->at);
}

leat_status leati_get_uint(leati_reader *reader, uint64_t *out, leat_error *err) {
    uint64_t value = 0;
    size_t at = reader->at;
    /* Ten bytes at most: the tenth has room for the 64th bit alone. */
    for (int shift = 0; shift < 64; shift += 7) {
        if (at >= reader->size)
            return too_short(reader, at - reader->at + 1, err);
        uint8_t byte = reader->data[at++];
        bool too_large = shift == 63 && byte > 1;
        /* A last byte of 0 adds nothing: refusing it leaves one form to each number. */
        bool overlong = shift > 0 && byte == 0;
        if (too_large || overlong)
            break;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            reader->at = at;
            *out = value;
            return LEAT_OK;
        }
    }
    return leati_fail(err, LEAT_DATA_LOSS,
                      "saved state is damaged: expected a varint of at most 64 bits at offset %zu; "
                      "save the state again",
                      reader->at);
}

leat_status leati_get_int(leati_reader *reader, int64_t *out, leat_error *err) {
    uint64_t value;
    LEATI_TRY(leati_get_uint(reader, &value, err));
    uint64_t sign = (value & 1) != 0 ? UINT64_MAX : 0;
    *out = (int64_t)((value >> 1) ^ sign);
    return LEAT_OK;
}

leat_status leati_get_fixed64(leati_reader *reader, uint64_t *out, leat_error *err) {
    if (reader->size - reader->at < 8)
        return too_short(reader, 8, err);
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)reader->data[reader->at + (size_t)i] << (8 * i);
    reader->at += 8;
    *out = value;
    return LEAT_OK;
}

leat_status leati_get_bytes(leati_reader *reader, const void **out, size_t *size, leat_error *err) {
    size_t start = reader->at;
    uint64_t length;
    leat_status status = leati_get_uint(reader, &length, err);
    if (status != LEAT_OK)
        return status;
    /* Compared with what is left: the sum of position and length could overflow. */
    if (length > reader->size - reader->at) {
        status = too_short(reader, length, err);
        reader->at = start;
        return status;
    }
    *out = reader->data + reader->at;
    *size = (size_t)length;
    reader->at += (size_t)length;
    return LEAT_OK;
}
