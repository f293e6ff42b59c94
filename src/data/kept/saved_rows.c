/* The records of saved elements: see saved_rows.h.
 *
 * Happy path: writing, the tensors of a row go through one scratch buffer; reading, components of a
 * static shape are written into one strided column, others into a tensor each. A ragged leaf is a
 * scalar variant whose content is a message with the row splits and then the flat values, a sparse
 * one a vector of three variants with a tensor each: the indices, the values, the dense shape.
 * Failures: what does not fit the spec, or is no such message, costs its element. No locks. */
#include "data/kept/saved_rows.h"
#include "base/error.h"
#include "core/spec.h"
#include "data/run/row_values.h"
#include "file/tensor_proto.h"
#include <string.h>

/* TensorFlow's number of dtype variant, and the fields of VariantTensorDataProto. */
enum {
    PROTO_VARIANT = 21,
    VARIANT_TYPE = 1, /* of the message in a variant */
    VARIANT_TENSOR = 3,
    PROTO_DTYPE = 1,
    PROTO_SHAPE = 2,
    PROTO_CONTENT = 4
};

static const char ragged_name[] = "RaggedTensorVariant", tensor_name[] = "tensorflow::Tensor";
enum { SPARSE_PARTS = 3 }; /* indices, values, dense shape */

int leati_saved_records(const leat_spec *spec) {
    int count = 0, begin = 0;
    const leat_spec *leaf = NULL;
    for (int l = 0; (leaf = leati_row_values_leaf(spec, l, &begin)) != NULL; l++)
        count += leat_spec_get_kind(leaf) != LEAT_SPEC_NONE;
    return count;
}

leat_status leati_saved_check(const char *op, const leat_spec *spec, leat_error *err) {
    leati_writer ignored = {0};
    leat_status status = leati_tensor_proto_put_spec(&ignored, spec, err);
    leati_writer_fini(&ignored);
    if (status != LEAT_OK) {
        leati_prefix(err, "%s", op);
        return status;
    }
    return leati_saved_records(spec) > 0
               ? LEAT_OK
               : leati_fail(err, LEAT_UNIMPLEMENTED,
                            "%s: the elements have no tensor; expected one or more", op);
}

/* ---- writing ---- */

static leat_status put_tensor(leati_writer *out, const leati_column *column, int64_t row,
                              leat_error *err) {
    leat_shape shape = leati_column_row_shape(column, row);
    return leati_tensor_proto_put(out, column->dtype, &shape, leati_column_row(column, row), err);
}

/* Appends the tensor as a field of the variant's message. */
static leat_status put_inside(leati_writer *variant, const leati_column *column, int64_t row,
                              leat_error *err) {
    leati_writer message = {0};
    leat_status status = put_tensor(&message, column, row, err);
    leati_tensor_proto_put_field(variant, VARIANT_TENSOR, message.data, message.size);
    leati_writer_fini(&message);
    return status;
}

static leat_status put_ragged(leati_writer *out, const leati_column *columns, int count,
                              int64_t row, leat_error *err) {
    leati_writer variant = {0}, content = {0};
    leat_status status = LEAT_OK;
    leati_tensor_proto_put_field(&variant, VARIANT_TYPE, ragged_name, sizeof(ragged_name) - 1);
    for (int c = 1; c < count && status == LEAT_OK; c++)
        status = put_inside(&variant, &columns[c], row, err);
    if (status == LEAT_OK)
        status = put_inside(&variant, &columns[0], row, err);
    leati_put_bytes(&content, variant.data, variant.size); /* a list of one, its length first */
    leati_tensor_proto_put_number_field(out, PROTO_DTYPE, PROTO_VARIANT);
    /* An empty message: the shape of a scalar. */
    leati_tensor_proto_put_field(out, PROTO_SHAPE, "", 0);
    leati_tensor_proto_put_field(out, PROTO_CONTENT, content.data, content.size);
    out->failed = out->failed || variant.failed || content.failed;
    leati_writer_fini(&variant);
    leati_writer_fini(&content);
    return status == LEAT_OK && out->failed ? leati_no_memory(err) : status;
}

static leat_status put_sparse(leati_writer *out, const leati_column *columns, int64_t row,
                              leat_error *err) {
    leati_writer parts[SPARSE_PARTS] = {{0}}, content = {0}, shape = {0};
    const leat_shape vector = LEAT_SHAPE(SPARSE_PARTS);
    leat_status status = LEAT_OK;
    for (int c = 0; c < SPARSE_PARTS && status == LEAT_OK; c++) {
        leati_tensor_proto_put_field(&parts[c], VARIANT_TYPE, tensor_name, sizeof(tensor_name) - 1);
        status = put_inside(&parts[c], &columns[c], row, err);
    }
    /* All lengths come before the messages. */
    for (int c = 0; c < SPARSE_PARTS; c++)
        leati_put_uint(&content, parts[c].size);
    for (int c = 0; c < SPARSE_PARTS; c++)
        leati_put_raw(&content, parts[c].data, parts[c].size);
    leati_tensor_proto_put_shape(&shape, &vector);
    leati_tensor_proto_put_number_field(out, PROTO_DTYPE, PROTO_VARIANT);
    leati_tensor_proto_put_field(out, PROTO_SHAPE, shape.data, shape.size);
    leati_tensor_proto_put_field(out, PROTO_CONTENT, content.data, content.size);
    out->failed = out->failed || content.failed || shape.failed;
    for (int c = 0; c < SPARSE_PARTS; c++) {
        out->failed = out->failed || parts[c].failed;
        leati_writer_fini(&parts[c]);
    }
    leati_writer_fini(&content);
    leati_writer_fini(&shape);
    return status == LEAT_OK && out->failed ? leati_no_memory(err) : status;
}

leat_status leati_saved_put(const leat_spec *spec, const leati_block *block, int64_t row,
                            leati_writer *scratch, leati_record_sink sink, void *context,
                            leat_error *err) {
    leat_status status = LEAT_OK;
    const leat_spec *leaf = NULL;
    int begin = 0;
    for (int l = 0; status == LEAT_OK && (leaf = leati_row_values_leaf(spec, l, &begin)) != NULL;
         l++) {
        const leati_column *columns = &block->columns[begin];
        leat_spec_kind kind = leat_spec_get_kind(leaf);
        if (kind == LEAT_SPEC_NONE)
            continue;
        scratch->size = 0;
        scratch->failed = false;
        if (kind == LEAT_SPEC_SPARSE)
            status = put_sparse(scratch, columns, row, err);
        else
            status = kind == LEAT_SPEC_RAGGED
                         ? put_ragged(scratch, columns, leat_spec_num_components(leaf), row, err)
                         : put_tensor(scratch, columns, row, err);
        if (status == LEAT_OK)
            status = sink(context, scratch->data, scratch->size, err);
    }
    return status;
}

/* ---- reading ---- */

/* Makes columns for n rows in `out`, whose n stays 0. */
static leat_status make_columns(const leat_spec *spec, int64_t n, leat_buffer *holder,
                                leati_block *out, leat_error *err) {
    int count = leat_spec_num_components(spec);
    leat_status status = leati_block_prepare(out, count, err);
    for (int c = 0; c < count && status == LEAT_OK; c++) {
        leat_dtype dtype = leat_spec_component_dtype(spec, c);
        leat_shape shape = leat_spec_component_shape(spec, c);
        int64_t values = leati_shape_count(&shape);
        size_t size = 0;
        /* Where the column would be too large, rows are tensors of their own, and fail alone if at
         * all. */
        bool strided = values >= 0 && leati_mul_size((size_t)values, leat_dtype_size(dtype), &size);
        size_t stride = size;
        strided = strided && leati_mul_size(size, (size_t)n, &size);
        leat_buffer *buffer =
            strided ? leat_buffer_new(size, err) : leati_buffer_of_tensors(n, err);
        status = buffer == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
        /* Strings are views of the records. */
        if (status == LEAT_OK && strided && dtype == LEAT_STRING)
            status = leati_buffer_hold(buffer, holder, err);
        if (status != LEAT_OK) {
            leat_buffer_unref(buffer);
        } else if (strided) {
            leati_column_strided(&out->columns[c], dtype, &shape, leat_buffer_data(buffer),
                                 (int64_t)stride, buffer);
        } else {
            leati_column_tensors(&out->columns[c], dtype, buffer);
        }
    }
    return status;
}

/* Does the tensor fit component `index`? */
static leat_status check_tensor(const leat_spec *spec, int index, const leati_tensor_proto *proto,
                                leat_error *err) {
    leat_dtype dtype = leat_spec_component_dtype(spec, index);
    leat_shape shape = leat_spec_component_shape(spec, index);
    char expected[128], found[128];
    if (proto->dtype == dtype && leati_shape_compatible(&shape, &proto->shape))
        return LEAT_OK;
    return leati_refuse(err, SHAPE,
                        "component %d: expected %s%s, found %s%s; give the element_spec that was "
                        "saved, or none",
                        index, leat_dtype_name(dtype), leati_shape_text(&shape, expected),
                        proto->dtype == LEAT_INVALID ? "another type"
                                                     : leat_dtype_name(proto->dtype),
                        leati_shape_text(&proto->shape, found));
}

/* Writes a tensor as row `row` of component `index`. */
static leat_status get_tensor(const leat_spec *spec, int index, leati_wire message, int64_t row,
                              leat_buffer *holder, leati_block *out, leat_error *err) {
    leati_tensor_proto proto;
    leati_column *column = &out->columns[index];
    leat_status status = leati_tensor_proto_read(message, &proto, err);
    if (status == LEAT_OK)
        status = check_tensor(spec, index, &proto, err);
    if (status == LEAT_OK && column->form == LEATI_STRIDED)
        return leati_tensor_proto_values(&proto, leati_column_row(column, row), err);
    /* A value takes a byte of the message at least, unless one stands for many. */
    if (status == LEAT_OK && proto.count / 64 > message.end - message.at) {
        status = leati_fail(err, LEAT_DATA_LOSS,
                            "component %d: %lld values in %lld bytes; is the file damaged?", index,
                            (long long)proto.count, (long long)(message.end - message.at));
    }
    leat_tensor *tensor = status == LEAT_OK ? (leat_tensor *)&column->tensors[row] : NULL;
    if (status == LEAT_OK)
        status = leat_tensor_new(proto.dtype, proto.shape, tensor, err);
    if (status == LEAT_OK && proto.dtype == LEAT_STRING)
        status = leati_buffer_hold(tensor->owner, holder, err);
    return status == LEAT_OK ? leati_tensor_proto_values(&proto, tensor->data, err) : status;
}

static leat_status not_ragged(int index, leat_error *err) {
    return leati_refuse(
        err, SHAPE,
        "component %d: expected a ragged tensor of the spec's ragged rank; give the "
        "element_spec that was saved, or none",
        index);
}

/* The row splits come first, outermost first, then the values, which are component `begin`. */
static leat_status get_ragged(const leat_spec *spec, int begin, int count, leati_wire message,
                              int64_t row, leat_buffer *holder, leati_block *out, leat_error *err) {
    leati_tensor_proto proto;
    leati_wire_field field;
    uint64_t size = 0;
    leat_status status = leati_tensor_proto_read(message, &proto, err);
    if (status != LEAT_OK)
        return status;
    leati_wire variant = proto.content;
    if (proto.number != PROTO_VARIANT || !leati_wire_varint(&variant, &size) ||
        size != (uint64_t)(variant.end - variant.at))
        return not_ragged(begin, err);
    int found = 0;
    while (status == LEAT_OK && variant.at < variant.end) {
        if (!leati_wire_next(&variant, &field) || found > count)
            return not_ragged(begin, err);
        if (field.number == VARIANT_TENSOR && field.type == LEATI_WIRE_BYTES) {
            found++;
            /* The last tensor is the values, which are the leaf's first component. */
            int index = found == count ? begin : begin + found;
            status = found > count ? not_ragged(begin, err)
                                   : get_tensor(spec, index, field.bytes, row, holder, out, err);
        }
    }
    return status == LEAT_OK && found != count ? not_ragged(begin, err) : status;
}

static leat_status not_sparse(int index, leat_error *err) {
    return leati_refuse(err, SHAPE,
                        "component %d: expected a sparse tensor as a vector of three variants; "
                        "give the element_spec that was saved, or none (what TensorFlow saved of a "
                        "batch cannot be read: save the elements before they are batched)",
                        index);
}

/* Three messages behind their lengths, with a tensor each. */
static leat_status get_sparse(const leat_spec *spec, int begin, leati_wire message, int64_t row,
                              leat_buffer *holder, leati_block *out, leat_error *err) {
    leati_tensor_proto proto;
    leati_wire_field field;
    uint64_t sizes[SPARSE_PARTS];
    leat_status status = leati_tensor_proto_read(message, &proto, err);
    if (status != LEAT_OK)
        return status;
    leati_wire content = proto.content;
    bool fits =
        proto.number == PROTO_VARIANT && proto.shape.rank == 1 && proto.count == SPARSE_PARTS;
    for (int c = 0; c < SPARSE_PARTS && fits; c++)
        fits = leati_wire_varint(&content, &sizes[c]);
    for (int c = 0; c < SPARSE_PARTS && fits && status == LEAT_OK; c++) {
        leati_wire variant = {content.at, content.at};
        fits = sizes[c] <= (uint64_t)(content.end - content.at);
        if (!fits)
            break;
        variant.end = content.at += sizes[c];
        bool found = false;
        while (fits && !found && variant.at < variant.end) {
            fits = leati_wire_next(&variant, &field);
            found = fits && field.number == VARIANT_TENSOR && field.type == LEATI_WIRE_BYTES;
        }
        fits = fits && found;
        if (fits)
            status = get_tensor(spec, begin + c, field.bytes, row, holder, out, err);
    }
    return status == LEAT_OK && !fits ? not_sparse(begin, err) : status;
}

/* Reads one element from `records` as row out->n. */
static leat_status get_row(const leat_spec *spec, const leat_string *records, leat_buffer *holder,
                           leati_block *out, leat_error *err) {
    leat_status status = LEAT_OK;
    const leat_spec *leaf = NULL;
    int begin = 0;
    for (int l = 0; status == LEAT_OK && (leaf = leati_row_values_leaf(spec, l, &begin)) != NULL;
         l++) {
        leat_spec_kind kind = leat_spec_get_kind(leaf);
        if (kind == LEAT_SPEC_NONE)
            continue;
        const uint8_t *data = (const uint8_t *)records->data;
        leati_wire message = {data, data + records->size};
        if (kind == LEAT_SPEC_SPARSE)
            status = get_sparse(spec, begin, message, out->n, holder, out, err);
        else
            status = kind == LEAT_SPEC_RAGGED
                         ? get_ragged(spec, begin, leat_spec_num_components(leaf), message, out->n,
                                      holder, out, err)
                         : get_tensor(spec, begin, message, out->n, holder, out, err);
        records++;
    }
    return status;
}

leat_status leati_saved_get(const leat_spec *spec, const leat_string *records, int64_t n,
                            leat_buffer *holder, leati_block *out, leat_error *err) {
    int step = leati_saved_records(spec);
    leat_status status = make_columns(spec, n, holder, out, err);
    if (status != LEAT_OK) {
        leati_block_clear(out);
        return status;
    }
    for (int64_t i = 0; i < n && status == LEAT_OK; i++) {
        status = get_row(spec, &records[i * step], holder, out, err);
        out->n += status == LEAT_OK;
    }
    return status;
}
