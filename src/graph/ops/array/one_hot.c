/* one_hot: 1 at the index along a new dimension, 0 elsewhere, or other values (tf.one_hot).
 *
 * Without a dtype it is that of the values, or float32. An index outside [0, depth) gives zeros. No
 * gradient, no state, no locks. */
#include "core/tensor.h"
#include "graph/support/array/moving.h"

#include <string.h>

struct one_hot_args {
    int64_t depth, axis;
    leat_element on_value, off_value;
    leat_dtype dtype;
};

static const leati_row one_hot_rows[] = {
    {.name = "depth",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct one_hot_args, depth),
     .maximum = INT64_MAX,
     .doc = "The size of the new dimension."},
    {.name = "on_value",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_NONE,
     .offset = offsetof(struct one_hot_args, on_value),
     .doc = "The value at the index, a scalar; none: 1."},
    {.name = "off_value",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_NONE,
     .offset = offsetof(struct one_hot_args, off_value),
     .doc = "The value elsewhere, a scalar; none: 0."},
    {.name = "axis",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     .offset = offsetof(struct one_hot_args, axis),
     .default_number = -1,
     .doc = "The place of the new dimension; negative counts from the end."},
    {.name = "dtype",
     .type = LEATI_ROW_DTYPE,
     .flags = LEATI_NONE,
     .offset = offsetof(struct one_hot_args, dtype),
     .doc = "The dtype of the result, a number or bool; none: that of the values, or float32."},
    {0},
};

/* The dtype of the result: as told, or of the value that was given. */
static leat_status dtype_of(const struct one_hot_args *args, leat_dtype *out, leat_error *err) {
    const leat_element *values[] = {&args->on_value, &args->off_value};
    *out = args->dtype;
    for (int i = 0; i < 2; i++) {
        if (values[i]->num_tensors == 0)
            continue;
        if (values[i]->num_tensors != 1 || values[i]->tensors[0].rank != 0)
            return leati_refuse(err, SHAPE, "%s: expected a scalar",
                                i == 0 ? "on_value" : "off_value");
        if (*out == LEAT_INVALID)
            *out = values[i]->tensors[0].dtype;
    }
    if (*out == LEAT_INVALID)
        *out = LEAT_FLOAT32;
    if (*out != LEAT_BOOL && !leati_dtype_is_number(*out))
        return leati_refuse(err, DTYPE, "dtype is %s; expected a number or bool",
                            leat_dtype_name(*out));
    return LEAT_OK;
}

/* The shape with the new dimension of `depth` at `place`. */
static leat_status shape_of(const struct one_hot_args *args, const leat_shape *in, int64_t depth,
                            int32_t *place, leat_shape *out, leat_error *err) {
    if (in->rank >= LEAT_MAX_RANK)
        return leati_refuse(err, SHAPE, "the rank would exceed %d", LEAT_MAX_RANK);
    LEATI_TRY(leati_support_normal_axis(args->axis, in->rank + 1, place, err));
    /* `depth` is an argument of its own because inference does not know it where the run computes
     * it. */
    out->rank = in->rank + 1;
    for (int32_t d = 0; d < out->rank; d++)
        out->dims[d] = d == *place ? depth : in->dims[d < *place ? d : d - 1];
    return LEAT_OK;
}

static leat_status one_hot_infer(leati_infer_call *call, leat_error *err) {
    const struct one_hot_args *args = call->args;
    const leat_shape *in = &call->inputs[0].shape;
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    leat_dtype dtype = LEAT_INVALID;
    int32_t place = 0;
    /* uint8 is the one index beside int32 and int64; int8 is cast before (`types`). */
    if (call->inputs[0].dtype != LEAT_UINT8)
        LEATI_TRY(leati_support_want_index(call, 0, "the index", err));
    LEATI_TRY(dtype_of(args, &dtype, err));
    if (in->rank >= 0)
        LEATI_TRY(shape_of(args, in, call->unknown ? LEAT_UNKNOWN_DIM : args->depth, &place, &shape,
                           err));
    return leati_op_infer_output(call, dtype, &shape, NULL, err);
}

/* A complex number as one of the other width. */
static void convert_complex(const leat_tensor *tensor, leat_dtype dtype, char *bytes) {
    leat_dtype part = leati_dtype_part(dtype);
    const leat_tensor parts = {.dtype = leati_dtype_part(tensor->dtype), .data = tensor->data};
    for (int i = 0; i < 2; i++)
        (void)leati_support_store_number(part, leati_tensor_float_at(&parts, i),
                                         bytes + (size_t)i * leat_dtype_size(part));
}

/* `value`, or `number` where none was given, as bytes of the dtype. */
static leat_status bytes_of(const leat_element *value, double number, leat_dtype dtype, char *bytes,
                            leat_error *err) {
    if (value->num_tensors == 1) {
        const leat_tensor *tensor = value->tensors;
        if (tensor->dtype == dtype) {
            memcpy(bytes, tensor->data, leat_dtype_size(dtype));
            return LEAT_OK;
        }
        if (leati_dtype_is_complex(dtype) && leati_dtype_is_complex(tensor->dtype)) {
            convert_complex(tensor, dtype, bytes);
            return LEAT_OK;
        }
        if (tensor->dtype < LEAT_BOOL || tensor->dtype > LEAT_FLOAT64)
            return leati_refuse(err, DTYPE, "a value is %s, the dtype %s",
                                leat_dtype_name(tensor->dtype), leat_dtype_name(dtype));
        /* A cast would silently cut off the fraction. */
        if (leati_dtype_is_float(tensor->dtype) && !leati_dtype_is_float(dtype) &&
            !leati_dtype_is_complex(dtype))
            return leati_refuse(err, DTYPE, "a value is %s; expected %s",
                                leat_dtype_name(tensor->dtype), leat_dtype_name(dtype));
        number = leati_dtype_is_integer(tensor->dtype) || tensor->dtype == LEAT_BOOL
                     ? (double)leati_tensor_int_at(tensor, 0)
                     : leati_tensor_float_at(tensor, 0);
    }
    /* Of a complex number the imaginary part is 0. */
    memset(bytes, 0, leat_dtype_size(dtype));
    (void)leati_support_store_number(leati_dtype_part(dtype), number, bytes);
    return LEAT_OK;
}

/* One row: each step is a place before the new dimension. */
typedef struct one_hot_work {
    const leati_operand *in, *out;
    const char *on, *off;
    int64_t row, depth, inner;
    size_t size;
} one_hot_work;

static void one_hot_steps(void *data, int64_t begin, int64_t end) {
    const one_hot_work *w = data;
    int64_t block = w->depth * w->inner;
    char *to = leati_support_row_of(w->out, w->row);
    leati_moving_fill(to + (size_t)(begin * block) * w->size, (end - begin) * block, w->off,
                      w->size);
    const uint8_t *bytes = (const uint8_t *)leati_support_row_of(w->in, w->row);
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = 0; k < w->inner; k++) {
            int64_t from = i * w->inner + k;
            int64_t index = w->in->dtype == LEAT_UINT8
                                ? bytes[from]
                                : leati_support_index_at(w->in, w->row, from);
            if (index >= 0 && index < w->depth)
                memcpy(to + (size_t)(i * block + index * w->inner + k) * w->size, w->on, w->size);
        }
}

static leat_status one_hot_kernel(leati_kernel_call *call, leat_error *err) {
    const struct one_hot_args *args = call->args;
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape from = leati_support_operand_shape(in), shape = {0};
    _Alignas(8) char on[16] = {0}, off[16] = {0};
    int32_t place = 0;
    int64_t inner = 1;
    LEATI_TRY(bytes_of(&args->on_value, 1, out->dtype, on, err));
    LEATI_TRY(bytes_of(&args->off_value, 0, out->dtype, off, err));
    LEATI_TRY(shape_of(args, &from, args->depth, &place, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t size = leat_dtype_size(out->dtype);
    /* The values of the input behind the new dimension. */
    for (int32_t d = place; d < from.rank; d++)
        inner *= from.dims[d];
    one_hot_work work = {.in = in,
                         .out = out,
                         .on = on,
                         .off = off,
                         .depth = args->depth,
                         .inner = inner,
                         .size = size};
    for (work.row = 0; work.row < call->n && out->count > 0; work.row++)
        leati_moving_share(in->count / inner, args->depth * inner * (int64_t)size, one_hot_steps,
                           &work);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_one_hot = {
    .name = "one_hot",
    .version = 1,
    .doc = "1 at the index along a new dimension, 0 elsewhere, or other values (tf.one_hot).",
    .names = "one_hot",
    .inputs = "indices",
    .signature = "indices depth on_value off_value axis=null dtype",
    .types = "TI<int8",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = one_hot_rows,
    .args_size = sizeof(struct one_hot_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = one_hot_infer,
    .kernel = one_hot_kernel,
};
