/* TensorFlow's messages for tensors, shapes and structures of specs: TensorProto, TensorShapeProto
 * and StructuredValue, as Dataset.save writes them. */
#ifndef LEATI_FILE_TENSOR_PROTO_H
#define LEATI_FILE_TENSOR_PROTO_H

#include "base/bytes.h"
#include "file/wire.h"
#include <leat/core.h>

/* A field of bytes: its tag, its length and the bytes. */
void leati_tensor_proto_put_field(leati_writer *out, uint32_t number, const void *data,
                                  size_t size);
/* A field that is a number. */
void leati_tensor_proto_put_number_field(leati_writer *out, uint32_t number, uint64_t value);

/* TensorFlow's number of a dtype (tf.DType.as_datatype_enum), 0 for objects; and back,
 * LEAT_INVALID for the ones that leat lacks. */
uint64_t leati_tensor_proto_of_dtype(leat_dtype dtype);
leat_dtype leati_tensor_proto_dtype(uint64_t number);

/* The message of a shape (dimensions and rank may be unknown), and back: false where the bytes are
 * none or the rank is above LEAT_MAX_RANK. */
void leati_tensor_proto_put_shape(leati_writer *out, const leat_shape *shape);
bool leati_tensor_proto_shape(leati_wire wire, leat_shape *out);

/* Appends the message of a tensor: dtype, static shape, and the values' bytes as its content.
 * `values` is an array in row-major order (borrowed). UNIMPLEMENTED for objects. */
LEAT_WARN_UNUSED leat_status leati_tensor_proto_put(leati_writer *out, leat_dtype dtype,
                                                    const leat_shape *shape, const void *values,
                                                    leat_error *err);

/* The same for strings, as a list of them: what is no file of datasets (an event, a SavedModel) has
 * them so. */
LEAT_WARN_UNUSED leat_status leati_tensor_proto_put_strings(leati_writer *out,
                                                            const leat_shape *shape,
                                                            const leat_string *values,
                                                            leat_error *err);

/* A tensor's message, taken apart; a view of its bytes. */
typedef struct leati_tensor_proto {
    leat_dtype dtype; /* LEAT_INVALID: TensorFlow's type `number` is not one of leat's */
    uint64_t number;
    leat_shape shape; /* static */
    int64_t count;    /* values */
    leati_wire content;
    leati_wire message; /* the whole, for values that do not stand in `content` */
} leati_tensor_proto;

/* DATA_LOSS where the bytes are no TensorProto; memory is not taken here. */
LEAT_WARN_UNUSED leat_status leati_tensor_proto_read(leati_wire message, leati_tensor_proto *out,
                                                     leat_error *err);
/* Writes the `count` values to `to`, an array of the dtype. Strings become views of the message.
 * DATA_LOSS where the bytes do not give that many. */
LEAT_WARN_UNUSED leat_status leati_tensor_proto_values(const leati_tensor_proto *proto, void *to,
                                                       leat_error *err);

/* A spec as a StructuredValue (tf.data's element_spec in dataset_spec.pb), and back. Datasets,
 * optionals and sparse leaves are UNIMPLEMENTED; bytes that are no such message DATA_LOSS. A named
 * tuple reads as a tuple. The spec is owned. */
LEAT_WARN_UNUSED leat_status leati_tensor_proto_put_spec(leati_writer *out, const leat_spec *spec,
                                                         leat_error *err);
leat_spec *leati_tensor_proto_spec(leati_wire message, leat_error *err);

#endif
