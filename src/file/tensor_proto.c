/* TensorProto and TensorShapeProto.
 *
 * Happy path: numbers are one copy between memory and the message's content, which both sides keep
 * in little-endian order; the content of strings is their lengths as varints and then their bytes.
 * TensorFlow's savers write no other form; messages with typed lists of values (string_val and its
 * like) are read too, where the last value stands for those that follow.
 * Failures: DATA_LOSS for bytes that are no such message or hold too few values. No locks. */
#include "file/tensor_proto.h"
#include "base/error.h"
#include "base/limits.h"
#include "core/spec.h"
#include <string.h>

/* Fields of TensorProto, TensorShapeProto and its Dim. */
enum {
    TENSOR_DTYPE = 1,
    TENSOR_SHAPE = 2,
    TENSOR_CONTENT = 4,
    TENSOR_FLOAT = 5,
    TENSOR_DOUBLE = 6,
    TENSOR_INT = 7,
    TENSOR_STRING = 8,
    TENSOR_COMPLEX64 = 9,
    TENSOR_INT64 = 10,
    TENSOR_BOOL = 11,
    TENSOR_COMPLEX128 = 12,
    TENSOR_HALF = 13,
    TENSOR_UINT32 = 16,
    TENSOR_UINT64 = 17,
    SHAPE_DIM = 2,
    SHAPE_UNKNOWN_RANK = 3,
    DIM_SIZE = 1
};

/* TensorFlow's numbers, and the field that lists values of the dtype one by one. */
static const struct {
    uint8_t number, list;
} protos[LEAT_NUM_DTYPES] = {
    [LEAT_BOOL] = {10, TENSOR_BOOL},          [LEAT_INT8] = {6, TENSOR_INT},
    [LEAT_INT16] = {5, TENSOR_INT},           [LEAT_INT32] = {3, TENSOR_INT},
    [LEAT_INT64] = {9, TENSOR_INT64},         [LEAT_UINT8] = {4, TENSOR_INT},
    [LEAT_UINT16] = {17, TENSOR_INT},         [LEAT_UINT32] = {22, TENSOR_UINT32},
    [LEAT_UINT64] = {23, TENSOR_UINT64},      [LEAT_FLOAT16] = {19, TENSOR_HALF},
    [LEAT_BFLOAT16] = {14, TENSOR_HALF},      [LEAT_FLOAT32] = {1, TENSOR_FLOAT},
    [LEAT_FLOAT64] = {2, TENSOR_DOUBLE},      [LEAT_STRING] = {7, TENSOR_STRING},
    [LEAT_COMPLEX64] = {8, TENSOR_COMPLEX64}, [LEAT_COMPLEX128] = {18, TENSOR_COMPLEX128},
};

/* 0, TensorFlow's DT_INVALID, for what has no number. */
uint64_t leati_tensor_proto_of_dtype(leat_dtype dtype) {
    return (unsigned)dtype < LEAT_NUM_DTYPES ? protos[dtype].number : 0;
}

leat_dtype leati_tensor_proto_dtype(uint64_t number) {
    for (int i = LEAT_INVALID + 1; number != 0 && i < LEAT_NUM_DTYPES; i++)
        if (protos[i].number == number)
            return (leat_dtype)i;
    return LEAT_INVALID;
}

void leati_tensor_proto_put_field(leati_writer *out, uint32_t number, const void *data,
                                  size_t size) {
    leati_put_uint(out, (uint64_t)number << 3 | LEATI_WIRE_BYTES);
    leati_put_bytes(out, data, size);
}

void leati_tensor_proto_put_number_field(leati_writer *out, uint32_t number, uint64_t value) {
    leati_put_uint(out, (uint64_t)number << 3 | LEATI_WIRE_VARINT);
    leati_put_uint(out, value);
}

/* ---- shapes ---- */

void leati_tensor_proto_put_shape(leati_writer *out, const leat_shape *shape) {
    if (shape->rank < 0)
        leati_tensor_proto_put_number_field(out, SHAPE_UNKNOWN_RANK, 1);
    for (int i = 0; i < shape->rank; i++) {
        uint8_t dim[1 + LEATI_MAX_VARINT], *end = dim;
        if (shape->dims[i] != 0) { /* a size of 0 is protobuf's default and left out */
            *end++ = DIM_SIZE << 3 | LEATI_WIRE_VARINT;
            end = leati_wire_put_varint(end, (uint64_t)shape->dims[i]);
        }
        leati_tensor_proto_put_field(out, SHAPE_DIM, dim, (size_t)(end - dim));
    }
}

static bool dim_of_proto(leati_wire wire, int64_t *out) {
    leati_wire_field field;
    *out = 0;
    while (wire.at < wire.end) {
        /* Without a size field the size is 0. */
        if (!leati_wire_next(&wire, &field))
            return false;
        if (field.number == DIM_SIZE && field.type == LEATI_WIRE_VARINT)
            *out = (int64_t)field.value;
    }
    return *out >= LEAT_UNKNOWN_DIM;
}

bool leati_tensor_proto_shape(leati_wire wire, leat_shape *out) {
    leati_wire_field field;
    *out = LEAT_SCALAR;
    while (wire.at < wire.end) {
        if (!leati_wire_next(&wire, &field))
            return false;
        if (field.number == SHAPE_UNKNOWN_RANK && field.value != 0) {
            out->rank = LEAT_UNKNOWN_RANK;
            return true;
        }
        if (field.number != SHAPE_DIM || field.type != LEATI_WIRE_BYTES)
            continue;
        if (out->rank == LEAT_MAX_RANK || !dim_of_proto(field.bytes, &out->dims[out->rank]))
            return false;
        out->rank++;
    }
    return true;
}

/* ---- writing ---- */

static void put_strings(leati_writer *out, const leat_string *values, int64_t count) {
    uint64_t size = 0;
    for (int64_t i = 0; i < count; i++)
        size += leati_wire_varint_size(values[i].size) + values[i].size;
    /* No strings: no content, as with any other default. */
    if (size == 0)
        return;
    leati_put_uint(out, TENSOR_CONTENT << 3 | LEATI_WIRE_BYTES);
    leati_put_uint(out, size);
    for (int64_t i = 0; i < count; i++)
        leati_put_uint(out, values[i].size);
    for (int64_t i = 0; i < count; i++)
        leati_put_raw(out, values[i].data, values[i].size);
}

static void put_head(leati_writer *out, leat_dtype dtype, const leat_shape *shape) {
    leati_writer dims = {0};
    leati_tensor_proto_put_shape(&dims, shape);
    leati_tensor_proto_put_number_field(out, TENSOR_DTYPE, leati_tensor_proto_of_dtype(dtype));
    leati_tensor_proto_put_field(out, TENSOR_SHAPE, dims.data, dims.size);
    /* A writer that failed has less than it should, so the whole is void. */
    out->failed = out->failed || dims.failed;
    leati_writer_fini(&dims);
}

leat_status leati_tensor_proto_put(leati_writer *out, leat_dtype dtype, const leat_shape *shape,
                                   const void *values, leat_error *err) {
    int64_t count = leati_shape_count(shape);
    if (leati_tensor_proto_of_dtype(dtype) == 0 || count < 0)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "values of dtype %s cannot be written to a file; save the elements that "
                          "they are made of",
                          leat_dtype_name(dtype));
    put_head(out, dtype, shape);
    if (dtype == LEAT_STRING)
        put_strings(out, values, count);
    else if (count > 0)
        leati_tensor_proto_put_field(out, TENSOR_CONTENT, values,
                                     (size_t)count * leat_dtype_size(dtype));
    return out->failed ? leati_no_memory(err) : LEAT_OK;
}

leat_status leati_tensor_proto_put_strings(leati_writer *out, const leat_shape *shape,
                                           const leat_string *values, leat_error *err) {
    int64_t count = leati_shape_count(shape);
    put_head(out, LEAT_STRING, shape);
    for (int64_t i = 0; i < count; i++)
        leati_tensor_proto_put_field(out, TENSOR_STRING, values[i].data, values[i].size);
    return out->failed ? leati_no_memory(err) : LEAT_OK;
}

/* ---- reading ---- */

static leat_status damaged(const char *what, leat_error *err) {
    return leati_fail(err, LEAT_DATA_LOSS, "not a serialised tensor: %s", what);
}

leat_status leati_tensor_proto_read(leati_wire message, leati_tensor_proto *out, leat_error *err) {
    leati_wire wire = message;
    leati_wire_field field;
    *out = (leati_tensor_proto){.message = message};
    while (wire.at < wire.end) {
        if (!leati_wire_next(&wire, &field))
            return damaged("its bytes are no message", err);
        if (field.number == TENSOR_DTYPE && field.type == LEATI_WIRE_VARINT)
            out->number = field.value;
        else if (field.number == TENSOR_CONTENT && field.type == LEATI_WIRE_BYTES)
            out->content = field.bytes;
        else if (field.number == TENSOR_SHAPE && field.type == LEATI_WIRE_BYTES &&
                 !leati_tensor_proto_shape(field.bytes, &out->shape))
            return damaged("its shape is none, or has more than 8 dimensions", err);
    }
    out->dtype = leati_tensor_proto_dtype(out->number);
    out->count = leati_shape_count(&out->shape);
    if (out->count < 0)
        return damaged("its shape is not known", err);
    /* Listed values may be few, so the shape alone would decide how much memory is taken. */
    uint64_t size = leat_dtype_size(out->dtype), most = leati_limits_max_unpacked();
    if (out->content.at == out->content.end && size > 0 && (uint64_t)out->count > most / size)
        return leati_fail(
            err, LEAT_DATA_LOSS,
            "a serialised tensor of %zu bytes stands for %lld values of %s, more than "
            "%llu bytes, the most that are allowed; leave it out, or " LEATI_RAISE_LIMITS,
            (size_t)(message.end - message.at), (long long)out->count, leat_dtype_name(out->dtype),
            (unsigned long long)most);
    /* Every value takes a byte at least, a string its length. */
    if (out->content.at != out->content.end && out->count > out->content.end - out->content.at)
        return damaged("its content does not fit its shape", err);
    return LEAT_OK;
}

static leat_status read_strings(leati_wire content, leat_string *to, int64_t count,
                                leat_error *err) {
    /* Each length takes a byte at least, so a wrong count is found before the values are. */
    if (count > content.end - content.at)
        return damaged("it has fewer strings than its shape says", err);
    for (int64_t i = 0; i < count; i++) {
        uint64_t size = 0;
        if (!leati_wire_varint(&content, &size))
            return damaged("the length of a string is none", err);
        to[i].size = (size_t)size;
    }
    for (int64_t i = 0; i < count; i++) {
        if (to[i].size > (size_t)(content.end - content.at))
            return damaged("a string ends beyond it", err);
        to[i].data = (const char *)content.at;
        content.at += to[i].size;
    }
    return LEAT_OK;
}

/* Writes one value of a typed list. */
static void put_value(leat_dtype dtype, const leati_wire_field *field, void *to, int64_t at) {
    if (dtype == LEAT_STRING)
        ((leat_string *)to)[at] = (leat_string){(const char *)field->bytes.at,
                                                (size_t)(field->bytes.end - field->bytes.at)};
    else
        memcpy((char *)to + at * (int64_t)leat_dtype_size(dtype), &field->value,
               leat_dtype_size(dtype));
}

/* The next value of a packed list: varints, or words of the dtype's size. */
static bool next_packed(leat_dtype dtype, leati_wire *list, leati_wire_field *out) {
    if (dtype != LEAT_FLOAT32 && dtype != LEAT_FLOAT64)
        return leati_wire_varint(list, &out->value);
    size_t size = leat_dtype_size(dtype);
    if ((size_t)(list->end - list->at) < size)
        return false;
    out->value = size == 8 ? leati_wire_load64(list->at) : leati_wire_load32(list->at);
    list->at += size;
    return true;
}

/* Reads the typed list of the dtype, whose last value is repeated; without one all are zero. */
static leat_status read_list(const leati_tensor_proto *proto, void *to, leat_error *err) {
    leati_wire wire = proto->message;
    leati_wire_field field, value = {0};
    int64_t n = 0;
    /* More values than the shape has are left unread. */
    while (wire.at < wire.end && n < proto->count && leati_wire_next(&wire, &field)) {
        if (field.number != protos[proto->dtype].list)
            continue;
        /* A value on its own, or one string, whatever its wire type. */
        if (field.type != LEATI_WIRE_BYTES || proto->dtype == LEAT_STRING) {
            value = field;
            put_value(proto->dtype, &value, to, n++);
            continue;
        }
        while (n < proto->count && field.bytes.at < field.bytes.end) {
            if (!next_packed(proto->dtype, &field.bytes, &value))
                return damaged("a list of values is cut short", err);
            put_value(proto->dtype, &value, to, n++);
        }
    }
    for (; n < proto->count; n++)
        put_value(proto->dtype, &value, to, n);
    return LEAT_OK;
}

leat_status leati_tensor_proto_values(const leati_tensor_proto *proto, void *to, leat_error *err) {
    size_t size = (size_t)(proto->content.end - proto->content.at);
    if (proto->count == 0)
        return LEAT_OK;
    if (size == 0)
        return read_list(proto, to, err);
    if (proto->dtype == LEAT_STRING)
        return read_strings(proto->content, to, proto->count, err);
    /* Cannot overflow: the count is at most the content's size. */
    if (size != (size_t)proto->count * leat_dtype_size(proto->dtype))
        return damaged("its content does not fit its shape", err);
    memcpy(to, proto->content.at, size);
    return LEAT_OK;
}
