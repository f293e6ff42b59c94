/* Builder of tf.train.Example.
 *
 * Happy path: each add writes a whole entry of the features' map behind the entries so far; room
 * for the outer message's head is left in front, so serialising writes those few bytes and copies
 * nothing. Numbers are packed, as protobuf's own libraries write them.
 * Failures: the memory is taken before the first byte of an entry is written, so a failed add
 * leaves no trace. No locks: one owner. */
#include "base/alloc.h"
#include "base/error.h"
#include "file/feature.h"

/* Protobuf's limit for a message. */
#define MAX_MESSAGE ((size_t)INT32_MAX)
/* The outer head: a tag and the length of the features. */
/* A varint of at most 2^31 - 1 takes up to five bytes. */
#define HEAD (1 + 5)
/* Above this the sizes inside one entry could overflow what the head may say. */
#define MAX_NAME 65535

#define TAG(number) ((uint8_t)((number) << 3 | LEATI_WIRE_BYTES))

struct leat_example {
    uint8_t *data; /* HEAD bytes of room, then entries up to `size` */
    size_t size;
    size_t capacity;
};

leat_example *leat_example_new(leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_example *example = leati_alloc_zero(1, sizeof *example);
    void *data = NULL;
    if (example == NULL || !leati_grow(&data, &example->capacity, 256, 1)) {
        leati_free(example);
        leati_no_memory(err);
        return NULL;
    }
    example->data = data;
    example->size = HEAD;
    return example;
}

void leat_example_free(leat_example *example) {
    if (example == NULL)
        return;
    leati_free(example->data);
    leati_free(example);
}

void leat_example_clear(leat_example *example) {
    if (example != NULL)
        example->size = HEAD;
}

static bool has_name(const leat_example *example, const char *name, size_t size) {
    leati_wire entries = {example->data + HEAD, example->data + example->size};
    leati_wire_field field;
    while (entries.at < entries.end && leati_wire_next(&entries, &field)) {
        leati_feature_entry entry;
        const uint8_t *bad;
        if (leati_feature_split(field.bytes, &entry, &bad) &&
            (size_t)(entry.name.end - entry.name.at) == size &&
            memcmp(entry.name.at, name, size) == 0)
            return true;
    }
    return false;
}

static leat_status check_add(const leat_example *example, const char *name, const void *values,
                             int64_t count, leat_error *err) {
    if (example == NULL || name == NULL)
        return leati_refuse(err, VALUE, "leat_example_add: %s is NULL",
                            example != NULL ? "the name" : "the example");
    if (count < 0 || (values == NULL && count > 0))
        return leati_refuse(err, VALUE, "feature \"%.100s\": %lld values at %s; expected 0 or more",
                            name, (long long)count, values != NULL ? "an address" : "NULL");
    size_t size = strnlen(name, MAX_NAME + 1);
    if (size > MAX_NAME)
        return leati_refuse(err, VALUE, "feature \"%.100s...\": the name has more than %d bytes",
                            name, MAX_NAME);
    if (has_name(example, name, size))
        return leati_fail(err, LEAT_ALREADY_EXISTS,
                          "feature \"%.100s\" is there already; clear the example or take another "
                          "name",
                          name);
    return LEAT_OK;
}

static leat_status too_large(const char *name, leat_error *err) {
    return leati_refuse(err, VALUE,
                        "feature \"%.100s\" makes the example larger than 2 GiB, protobuf's limit; "
                        "cut it into several records",
                        name);
}

/* Writes the head of an entry whose list has field number `number` and takes `list_size` bytes, and
 * returns where the list goes; NULL on failure. The entry counts only once `size` is moved, which
 * this does: the caller cannot fail any more. */
static uint8_t *start_entry(leat_example *example, const char *name, int number, size_t list_size,
                            leat_error *err) {
    size_t name_size = strlen(name);
    /* Room for the name and all heads of the entry, so the sums below cannot overflow. */
    if (list_size > MAX_MESSAGE - 2 * MAX_NAME) {
        too_large(name, err);
        return NULL;
    }
    size_t feature = 1 + leati_wire_varint_size(list_size) + list_size;
    size_t entry = 1 + leati_wire_varint_size(name_size) + name_size + 1 +
                   leati_wire_varint_size(feature) + feature;
    size_t whole = 1 + leati_wire_varint_size(entry) + entry;
    if (whole > MAX_MESSAGE - example->size) {
        too_large(name, err);
        return NULL;
    }
    void *data = example->data;
    if (!leati_grow(&data, &example->capacity, example->size + whole, 1)) {
        leati_no_memory(err);
        return NULL;
    }
    example->data = data;
    uint8_t *to = example->data + example->size;
    example->size += whole;
    *to++ = TAG(1);
    to = leati_wire_put_varint(to, entry);
    *to++ = TAG(1);
    to = leati_wire_put_varint(to, name_size);
    memcpy(to, name, name_size);
    to += name_size;
    *to++ = TAG(2);
    to = leati_wire_put_varint(to, feature);
    *to++ = TAG(number);
    return leati_wire_put_varint(to, list_size);
}

leat_status leat_example_add_bytes(leat_example *example, const char *name,
                                   const leat_string *values, int64_t count, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    LEATI_TRY(check_add(example, name, values, count, err));
    size_t size = 0;
    for (int64_t i = 0; i < count; i++) {
        if (values[i].data == NULL && values[i].size > 0)
            return leati_refuse(err, VALUE,
                                "feature \"%.100s\": value %lld is NULL with a size of %zu", name,
                                (long long)i, values[i].size);
        /* Checked before each addition: two such sizes fit into a size_t. */
        if (values[i].size > MAX_MESSAGE || size > MAX_MESSAGE)
            return too_large(name, err);
        size += 1 + leati_wire_varint_size(values[i].size) + values[i].size;
    }
    /* A record of its own, because `err` may be NULL. */
    leat_error failure = {0};
    uint8_t *to = start_entry(example, name, LEATI_BYTES_LIST, size, &failure);
    if (to == NULL)
        return leati_error_pass(err, &failure);
    for (int64_t i = 0; i < count; i++) {
        *to++ = TAG(1);
        to = leati_wire_put_varint(to, values[i].size);
        if (values[i].size > 0)
            memcpy(to, values[i].data, values[i].size);
        to += values[i].size;
    }
    return LEAT_OK;
}

/* Starts an entry whose list is one packed field of `packed` bytes (no field at all if there are no
 * values) and gives where those go in *out. */
static leat_status start_packed(leat_example *example, const char *name, int number, size_t packed,
                                uint8_t **out, leat_error *err) {
    /* Without values the list is empty: an empty packed field would be a byte for nothing. */
    size_t list = packed ? 1 + leati_wire_varint_size(packed) + packed : 0;
    leat_error failure = {0};
    uint8_t *to = start_entry(example, name, number, list, &failure);
    if (to == NULL)
        return leati_error_pass(err, &failure);
    if (packed) {
        *to++ = TAG(1);
        to = leati_wire_put_varint(to, packed);
    }
    *out = to;
    return LEAT_OK;
}

leat_status leat_example_add_int64(leat_example *example, const char *name, const int64_t *values,
                                   int64_t count, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_status status = check_add(example, name, values, count, err);
    if (status != LEAT_OK)
        return status;
    if (count > (int64_t)MAX_MESSAGE)
        return too_large(name, err);
    size_t packed = 0;
    for (int64_t i = 0; i < count; i++)
        /* Negative numbers take ten bytes, as two's complement of 64 bits. */
        packed += leati_wire_varint_size((uint64_t)values[i]);
    uint8_t *to = NULL;
    status = start_packed(example, name, LEATI_INT64_LIST, packed, &to, err);
    for (int64_t i = 0; i < count && status == LEAT_OK; i++)
        to = leati_wire_put_varint(to, (uint64_t)values[i]);
    return status;
}

leat_status leat_example_add_float(leat_example *example, const char *name, const float *values,
                                   int64_t count, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_status status = check_add(example, name, values, count, err);
    if (status != LEAT_OK)
        return status;
    if (count > (int64_t)MAX_MESSAGE / 4)
        return too_large(name, err);
    uint8_t *to = NULL;
    status = start_packed(example, name, LEATI_FLOAT_LIST, 4 * (size_t)count, &to, err);
    for (int64_t i = 0; i < count && status == LEAT_OK; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        leati_wire_store32(to + 4 * i, bits);
    }
    return status;
}

leat_status leat_example_serialize(leat_example *example, leat_string *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (example == NULL)
        return leati_refuse(err, VALUE, "leat_example_serialize: example is NULL");
    size_t features = example->size - HEAD;
    /* The head is written backwards from the entries, into the room that was left for it. */
    uint8_t *start = example->data + HEAD - 1 - leati_wire_varint_size(features);
    start[0] = TAG(1);
    leati_wire_put_varint(start + 1, features);
    *out = (leat_string){(const char *)start, (size_t)(example->data + example->size - start)};
    return LEAT_OK;
}
