/* Lists of tf.train.Feature on the wire.
 *
 * protobuf-c, which the project uses for its other messages, would allocate and copy every name and
 * every value of every record; a record's image then is copied twice before it is decoded. So these
 * five small messages are read by hand, in place: wire.h has all of the format that they need.
 *
 * Happy path: a list is one packed field (floats, integers) or a run of byte strings; both
 * encodings are read, as proto3 demands, even mixed. Unknown fields are passed over.
 * Failures: nothing but malformed bytes; the caller writes the text. No state, no locks. */
#include "file/feature.h"

const char *leati_feature_word(leat_dtype dtype) {
    switch (dtype) {
    case LEAT_STRING: return "bytes";
    case LEAT_FLOAT32: return "float";
    case LEAT_INT64: return "int64";
    default: return "no";
    }
}

bool leati_feature_split(leati_wire entry, leati_feature_entry *out, const uint8_t **bad) {
    /* Both empty at first: proto3 leaves out an empty name and an empty Feature. */
    *out = (leati_feature_entry){{entry.end, entry.end}, {entry.end, entry.end}};
    while (entry.at < entry.end) {
        leati_wire_field field;
        *bad = entry.at;
        if (!leati_wire_next(&entry, &field))
            return false;
        if (field.type == LEATI_WIRE_BYTES && field.number == 1)
            out->name = field.bytes;
        else if (field.type == LEATI_WIRE_BYTES && field.number == 2)
            out->feature = field.bytes;
    }
    return true;
}

bool leati_feature_list(leati_wire feature, leat_dtype *dtype, leati_wire *list,
                        const uint8_t **bad) {
    static const leat_dtype dtypes[] = {LEAT_INVALID, LEAT_STRING, LEAT_FLOAT32, LEAT_INT64};
    *dtype = LEAT_INVALID;
    *list = (leati_wire){feature.end, feature.end};
    while (feature.at < feature.end) {
        leati_wire_field field;
        *bad = feature.at;
        if (!leati_wire_next(&feature, &field))
            return false;
        /* A oneof: the last of several lists counts. */
        if (field.type == LEATI_WIRE_BYTES && field.number <= LEATI_INT64_LIST) {
            *dtype = dtypes[field.number];
            *list = field.bytes;
        }
    }
    return true;
}

int64_t leati_feature_count_varints(leati_wire packed) {
    int64_t count = 0;
    int run = 0; /* bytes of the varint being passed */
    while (packed.at < packed.end) {
        uint64_t word;
        /* Eight one-byte values at once: what labels and tokens mostly are. */
        if (run == 0 && packed.end - packed.at >= 8) {
            memcpy(&word, packed.at, 8);
            if ((word & UINT64_C(0x8080808080808080)) == 0) {
                count += 8;
                packed.at += 8;
                continue;
            }
        }
        if (*packed.at++ < 0x80) {
            count++;
            run = 0;
        } else if (++run == LEATI_MAX_VARINT) {
            return -1;
        }
    }
    /* A varint that the end cuts off is none. */
    return run == 0 ? count : -1;
}

/* The values in one field of a list: 0 for a field that is not its values, -1 if malformed. */
static int64_t count_field(leat_dtype dtype, const leati_wire_field *field) {
    if (field->number != 1)
        return 0;
    size_t size =
        field->type == LEATI_WIRE_BYTES ? (size_t)(field->bytes.end - field->bytes.at) : 0;
    switch (dtype) {
    case LEAT_STRING: return field->type == LEATI_WIRE_BYTES;
    case LEAT_FLOAT32:
        if (field->type == LEATI_WIRE_BYTES)
            return size % 4 == 0 ? (int64_t)(size / 4) : -1;
        return field->type == LEATI_WIRE_FIXED32;
    default:
        if (field->type == LEATI_WIRE_BYTES)
            return leati_feature_count_varints(field->bytes);
        return field->type == LEATI_WIRE_VARINT;
    }
}

int64_t leati_feature_count(leat_dtype dtype, leati_wire list, const uint8_t **bad) {
    int64_t count = 0;
    while (list.at < list.end) {
        leati_wire_field field;
        *bad = list.at;
        if (!leati_wire_next(&list, &field))
            return -1;
        int64_t more = count_field(dtype, &field);
        if (more < 0)
            return -1;
        count += more;
    }
    return count;
}

static int64_t copy_floats(leati_wire packed, float *to, int64_t room) {
    int64_t count = (packed.end - packed.at) / 4;
    if (count > room)
        /* A buffer smaller than the list gets its first values. */
        count = room;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (count > 0)
        memcpy(to, packed.at, (size_t)count * sizeof *to);
#else
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits = leati_wire_load32(packed.at + 4 * i);
        memcpy(&to[i], &bits, sizeof bits);
    }
#endif
    return count;
}

/* A varint of up to eight bytes out of one word: seven bits of each byte. */
static inline uint64_t gather_bits(uint64_t word, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (word >> (8 * i) & 0x7f) << (7 * i);
    return value;
}

static int64_t copy_varints(leati_wire packed, int64_t *to, int64_t room) {
    int64_t count = 0;
    uint64_t value;
    while (count < room && packed.at < packed.end) {
        /* Only where four bytes can be read, and the first says that it is not alone. */
        if (packed.end - packed.at >= 4 && (packed.at[0] & 0x80) != 0) {
            /* Two and three bytes are the most frequent after one. */
            uint32_t word = leati_wire_load32(packed.at);
            int bytes = (word & 0x8000) == 0 ? 2 : (word & 0x800000) == 0 ? 3 : 0;
            if (bytes > 0) {
                to[count++] = (int64_t)gather_bits(word, bytes);
                packed.at += bytes;
                continue;
            }
        }
        if (!leati_wire_varint(&packed, &value))
            break;
        to[count++] = (int64_t)value;
    }
    return count;
}

void leati_feature_unpack(leat_dtype dtype, leati_wire packed, void *to, int64_t capacity) {
    if (dtype == LEAT_FLOAT32)
        (void)copy_floats(packed, to, capacity);
    else
        (void)copy_varints(packed, to, capacity);
}

/* Writes the values of one field of a checked list; returns how many. */
static int64_t read_field(leat_dtype dtype, const leati_wire_field *field, void *to, int64_t done,
                          int64_t room) {
    if (dtype == LEAT_STRING) {
        ((leat_string *)to)[done] = (leat_string){(const char *)field->bytes.at,
                                                  (size_t)(field->bytes.end - field->bytes.at)};
        return 1;
    }
    if (dtype == LEAT_FLOAT32) {
        float *values = (float *)to + done;
        if (field->type == LEATI_WIRE_BYTES)
            return copy_floats(field->bytes, values, room);
        uint32_t bits = (uint32_t)field->value;
        memcpy(values, &bits, sizeof bits);
        return 1;
    }
    int64_t *values = (int64_t *)to + done;
    if (field->type == LEATI_WIRE_BYTES)
        return copy_varints(field->bytes, values, room);
    *values = (int64_t)field->value;
    return 1;
}

int64_t leati_feature_values(leat_dtype dtype, leati_wire list, void *to, int64_t capacity) {
    int64_t done = 0;
    while (list.at < list.end && done < capacity) {
        leati_wire_field field;
        if (!leati_wire_next(&list, &field))
            break;
        /* Fields that hold no value, or none that fits the type, are passed over. */
        if (count_field(dtype, &field) > 0)
            done += read_field(dtype, &field, to, done, capacity - done);
    }
    return done;
}
