/* StableHLO as text, in the generic form that every version of the parser takes.
 *
 * Happy path: operations are printed one a line with the types of their operands and results;
 * value n is called %vn, and what lacks a dialect's name is StableHLO's. The text's own flag says
 * whether memory ran out. No locks. */
#include "exec/pjrt/hlo.h"

#include "base/alloc.h"
#include "base/minmax.h"
#include "core/half.h"
#include "core/spec.h"
#include "core/tensor.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void leati_hlo_fini(leati_hlo *hlo) {
    leati_text_fini(&hlo->text);
    leati_free(hlo->types);
    *hlo = (leati_hlo){0};
}

/* ---- types and values ---- */

static const char *type_name(leat_dtype dtype) {
    switch (dtype) {
    case LEAT_BOOL: return "i1";
    case LEAT_INT8: return "i8";
    case LEAT_INT16: return "i16";
    case LEAT_INT32: return "i32";
    case LEAT_INT64: return "i64";
    case LEAT_UINT8: return "ui8";
    case LEAT_UINT16: return "ui16";
    case LEAT_UINT32: return "ui32";
    case LEAT_UINT64: return "ui64";
    case LEAT_FLOAT16: return "f16";
    case LEAT_BFLOAT16: return "bf16";
    case LEAT_FLOAT32: return "f32";
    case LEAT_FLOAT64: return "f64";
    case LEAT_COMPLEX64: return "complex<f32>";
    case LEAT_COMPLEX128: return "complex<f64>";
    default: return "none";
    }
}

void leati_hlo_add_type(leati_text *text, leat_dtype dtype, const leat_shape *shape) {
    leati_text_addf(text, "tensor<");
    for (int32_t d = 0; d < shape->rank; d++)
        leati_text_addf(text, "%" PRId64 "x", shape->dims[d]);
    leati_text_addf(text, "%s>", type_name(dtype));
}

leati_hlo_type leati_hlo_type_of(const leati_hlo *hlo, leati_hlo_value value) {
    if (hlo->failed || value < 0 || (size_t)value >= hlo->num_values)
        return (leati_hlo_type){.dtype = LEAT_FLOAT32};
    return hlo->types[value];
}

leat_dtype leati_hlo_dtype(const leati_hlo *hlo, leati_hlo_value value) {
    return leati_hlo_type_of(hlo, value).dtype;
}

leat_shape leati_hlo_shape(const leati_hlo *hlo, leati_hlo_value value) {
    return leati_hlo_type_of(hlo, value).shape;
}

leati_hlo_value leati_hlo_argument(leati_hlo *hlo, leat_dtype dtype, const leat_shape *shape) {
    if (hlo->failed || !leati_grow((void **)&hlo->types, &hlo->capacity, hlo->num_values + 1,
                                   sizeof *hlo->types)) {
        hlo->failed = true;
        return 0;
    }
    hlo->types[hlo->num_values] = (leati_hlo_type){.dtype = dtype, .shape = *shape};
    return (leati_hlo_value)hlo->num_values++;
}

/* Their types, one after the other. */
static void add_types(leati_text *text, const leati_hlo *hlo, const leati_hlo_value *values,
                      size_t count) {
    for (size_t i = 0; i < count; i++) {
        leati_hlo_type type = leati_hlo_type_of(hlo, values[i]);
        leati_text_addf(text, i > 0 ? ", " : "");
        leati_hlo_add_type(text, type.dtype, &type.shape);
    }
}

leati_hlo_value leati_hlo_add_several(leati_hlo *hlo, const char *name,
                                      const leati_hlo_value *inputs, int count, const char *region,
                                      const char *attributes, const leati_hlo_type *results,
                                      int num_results) {
    leati_hlo_value first = (leati_hlo_value)hlo->num_values;
    for (int i = 0; i < num_results; i++)
        (void)leati_hlo_argument(hlo, results[i].dtype, &results[i].shape);
    if (hlo->failed)
        return 0;
    leati_text *text = &hlo->text;
    for (int i = 0; i < num_results; i++)
        leati_text_addf(text, "%s%%v%d", i > 0 ? ", " : "    ", first + i);
    leati_text_addf(text, "%s\"%s%s\"(", num_results > 0 ? " = " : "    ",
                    strchr(name, '.') == NULL ? "stablehlo." : "", name);
    for (int i = 0; i < count; i++)
        leati_text_addf(text, "%s%%v%d", i > 0 ? ", " : "", inputs[i]);
    leati_text_addf(text, ")");
    if (region != NULL)
        leati_text_addf(text, " (%s)", region);
    if (attributes != NULL)
        leati_text_addf(text, " {%s}", attributes);
    leati_text_addf(text, " : (");
    add_types(text, hlo, inputs, (size_t)count);
    leati_text_addf(text, ") -> (");
    for (int i = 0; i < num_results; i++) {
        leati_text_addf(text, i > 0 ? ", " : "");
        leati_hlo_add_type(text, results[i].dtype, &results[i].shape);
    }
    leati_text_addf(text, ")\n");
    return first;
}

leati_hlo_value leati_hlo_add(leati_hlo *hlo, const char *name, const leati_hlo_value *inputs,
                              int count, const char *region, const char *attributes,
                              leat_dtype dtype, const leat_shape *shape) {
    leati_hlo_type type = {.dtype = dtype, .shape = *shape};
    return leati_hlo_add_several(hlo, name, inputs, count, region, attributes, &type, 1);
}

char *leati_hlo_take(leati_hlo *hlo, const leati_hlo_value *arguments, size_t num_arguments,
                     const leati_hlo_value *results, size_t num_results, int num_replicas) {
    leati_text text = {0};
    leati_text_addf(&text,
                    "module @step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = "
                    "%d : i32} {\n  func.func public @main(",
                    num_replicas);
    for (size_t i = 0; i < num_arguments; i++) {
        leati_hlo_type type = leati_hlo_type_of(hlo, arguments[i]);
        leati_text_addf(&text, "%s%%v%d: ", i > 0 ? ", " : "", arguments[i]);
        leati_hlo_add_type(&text, type.dtype, &type.shape);
    }
    leati_text_addf(&text, ") -> (");
    add_types(&text, hlo, results, num_results);
    leati_text_addf(&text, ") {\n");
    if (hlo->text.size > 0)
        leati_text_add(&text, hlo->text.data, hlo->text.size);
    leati_text_addf(&text, "    \"func.return\"(");
    for (size_t i = 0; i < num_results; i++)
        leati_text_addf(&text, "%s%%v%d", i > 0 ? ", " : "", results[i]);
    leati_text_addf(&text, ") : (");
    add_types(&text, hlo, results, num_results);
    leati_text_addf(&text, ") -> ()\n  }\n}\n");
    bool failed = hlo->failed || hlo->text.failed;
    leati_hlo_fini(hlo);
    char *out = leati_text_take(&text);
    if (failed) {
        leati_free(out);
        return NULL;
    }
    return out;
}

/* ---- attributes and regions ---- */

const char *leati_hlo_array(char *out, size_t room, const int64_t *numbers, int count) {
    size_t size = (size_t)snprintf(out, room, count > 0 ? "array<i64: " : "array<i64");
    for (int i = 0; i < count; i++)
        size +=
            (size_t)snprintf(out + size, room - size, "%s%" PRId64, i > 0 ? ", " : "", numbers[i]);
    snprintf(out + size, room - size, ">");
    return out;
}

const char *leati_hlo_fold_region(char *out, const char *fold, leat_dtype dtype) {
    const char *t = type_name(dtype);
    if (fold[0] == '\0')
        snprintf(
            out, LEATI_HLO_REGION,
            "{ ^bb0(%%a: tensor<%s>, %%b: tensor<%s>): \"stablehlo.return\"(%%b) : (tensor<%s>) "
            "-> () }",
            t, t, t);
    else
        snprintf(
            out, LEATI_HLO_REGION,
            "{ ^bb0(%%a: tensor<%s>, %%b: tensor<%s>): %%c = \"stablehlo.%s\"(%%a, %%b) : "
            "(tensor<%s>, tensor<%s>) -> tensor<%s> \"stablehlo.return\"(%%c) : (tensor<%s>) -> "
            "() }",
            t, t, fold, t, t, t, t);
    return out;
}

/* How a comparison orders: floats in IEEE's way. */
static const char *compare_type(leat_dtype dtype) {
    switch (dtype) {
    case LEAT_FLOAT16:
    case LEAT_BFLOAT16:
    case LEAT_FLOAT32:
    case LEAT_FLOAT64:
    case LEAT_COMPLEX64:
    case LEAT_COMPLEX128: return "FLOAT";
    case LEAT_BOOL:
    case LEAT_UINT8:
    case LEAT_UINT16:
    case LEAT_UINT32:
    case LEAT_UINT64: return "UNSIGNED";
    default: return "SIGNED";
    }
}

const char *leati_hlo_compare_region(char *out, const char *direction, leat_dtype dtype) {
    const char *t = type_name(dtype);
    snprintf(out, LEATI_HLO_REGION,
             "{ ^bb0(%%a: tensor<%s>, %%b: tensor<%s>): %%c = \"stablehlo.compare\"(%%a, %%b) "
             "{comparison_direction = #stablehlo<comparison_direction %s>, compare_type = "
             "#stablehlo<comparison_type %s>} : (tensor<%s>, tensor<%s>) -> tensor<i1> "
             "\"stablehlo.return\"(%%c) : (tensor<i1>) -> () }",
             t, t, direction, compare_type(dtype), t, t);
    return out;
}

/* ---- elementwise ---- */

leati_hlo_value leati_hlo_unary(leati_hlo *hlo, const char *name, leati_hlo_value x) {
    leati_hlo_type type = leati_hlo_type_of(hlo, x);
    return leati_hlo_add(hlo, name, &x, 1, NULL, NULL, type.dtype, &type.shape);
}

leati_hlo_value leati_hlo_binary(leati_hlo *hlo, const char *name, leati_hlo_value a,
                                 leati_hlo_value b) {
    leati_hlo_type type = leati_hlo_type_of(hlo, a);
    return leati_hlo_add(hlo, name, (leati_hlo_value[]){a, b}, 2, NULL, NULL, type.dtype,
                         &type.shape);
}

leati_hlo_value leati_hlo_compare(leati_hlo *hlo, const char *direction, leati_hlo_value a,
                                  leati_hlo_value b) {
    char attributes[LEATI_HLO_ATTRIBUTES];
    leati_hlo_type type = leati_hlo_type_of(hlo, a);
    snprintf(attributes, sizeof attributes,
             "comparison_direction = #stablehlo<comparison_direction %s>, compare_type = "
             "#stablehlo<comparison_type %s>",
             direction, compare_type(type.dtype));
    return leati_hlo_add(hlo, "compare", (leati_hlo_value[]){a, b}, 2, NULL, attributes, LEAT_BOOL,
                         &type.shape);
}

leati_hlo_value leati_hlo_select(leati_hlo *hlo, leati_hlo_value condition, leati_hlo_value yes,
                                 leati_hlo_value no) {
    leati_hlo_type type = leati_hlo_type_of(hlo, yes);
    return leati_hlo_add(hlo, "select", (leati_hlo_value[]){condition, yes, no}, 3, NULL, NULL,
                         type.dtype, &type.shape);
}

leati_hlo_value leati_hlo_convert(leati_hlo *hlo, leati_hlo_value x, leat_dtype dtype) {
    leati_hlo_type type = leati_hlo_type_of(hlo, x);
    if (type.dtype == dtype)
        return x;
    if (dtype == LEAT_BOOL)
        return leati_hlo_compare(hlo, "NE", x, leati_hlo_fill_like(hlo, 0, x));
    return leati_hlo_add(hlo, "convert", &x, 1, NULL, NULL, dtype, &type.shape);
}

leati_hlo_value leati_hlo_bitcast(leati_hlo *hlo, leati_hlo_value x, leat_dtype dtype) {
    leat_shape shape = leati_hlo_shape(hlo, x);
    return leati_hlo_add(hlo, "bitcast_convert", &x, 1, NULL, NULL, dtype, &shape);
}

/* ---- constants ---- */

/* The number in the dtype's range, to which infinities are its ends. */
static int64_t integer_of(double number, leat_dtype dtype) {
    int bits = 8 * (int)leat_dtype_size(dtype);
    bool sign = dtype < LEAT_UINT8;
    int64_t most = bits == 64 ? INT64_MAX : (INT64_C(1) << (bits - sign)) - 1;
    int64_t least = !sign ? 0 : -most - 1;
    return number <= (double)least ? least : number >= (double)most ? most : (int64_t)number;
}

static void add_number(leati_text *text, double number, leat_dtype dtype) {
    float narrow = (float)number;
    uint32_t bits32;
    uint64_t bits64;
    memcpy(&bits32, &narrow, sizeof bits32);
    memcpy(&bits64, &number, sizeof bits64);
    switch (dtype) {
    case LEAT_BOOL: leati_text_addf(text, number != 0 ? "true" : "false"); break;
    case LEAT_FLOAT16: leati_text_addf(text, "0x%04X", leati_half_of_float(narrow)); break;
    case LEAT_BFLOAT16: leati_text_addf(text, "0x%04X", leati_bfloat16_of_float(narrow)); break;
    case LEAT_FLOAT32: leati_text_addf(text, "0x%08" PRIX32, bits32); break;
    case LEAT_FLOAT64: leati_text_addf(text, "0x%016" PRIX64, bits64); break;
    case LEAT_COMPLEX64: leati_text_addf(text, "(0x%08" PRIX32 ", 0x00000000)", bits32); break;
    case LEAT_COMPLEX128:
        leati_text_addf(text, "(0x%016" PRIX64 ", 0x0000000000000000)", bits64);
        break;
    case LEAT_UINT64:
        leati_text_addf(text, "%" PRIu64,
                        number <= 0        ? 0
                        : number >= 0x1p64 ? UINT64_MAX
                                           : (uint64_t)number);
        break;
    default: leati_text_addf(text, "%" PRId64, integer_of(number, dtype)); break;
    }
}

/* The operation constant with `value`, which is released. */
static leati_hlo_value add_constant(leati_hlo *hlo, leati_text *value, leat_dtype dtype,
                                    const leat_shape *shape) {
    leati_text_addf(value, "> : ");
    leati_hlo_add_type(value, dtype, shape);
    leati_hlo_value out = 0;
    hlo->failed = hlo->failed || value->failed;
    if (!hlo->failed)
        out = leati_hlo_add(hlo, "constant", NULL, 0, NULL, value->data, dtype, shape);
    leati_text_fini(value);
    return out;
}

leati_hlo_value leati_hlo_fill(leati_hlo *hlo, double number, leat_dtype dtype,
                               const leat_shape *shape) {
    leati_text value = {0};
    leati_text_addf(&value, "value = dense<");
    add_number(&value, number, dtype);
    return add_constant(hlo, &value, dtype, shape);
}

leati_hlo_value leati_hlo_fill_like(leati_hlo *hlo, double number, leati_hlo_value like) {
    leati_hlo_type type = leati_hlo_type_of(hlo, like);
    return leati_hlo_fill(hlo, number, type.dtype, &type.shape);
}

leati_hlo_value leati_hlo_constant(leati_hlo *hlo, const leat_tensor *tensor) {
    leat_shape shape = leat_tensor_shape(tensor);
    /* As a text of bytes, bools would be packed to bits. */
    leat_dtype dtype = tensor->dtype == LEAT_BOOL ? LEAT_UINT8 : tensor->dtype;
    size_t bytes = leat_tensor_bytes(tensor);
    leati_text value = {0};
    leati_text_addf(&value, bytes > 0 ? "value = dense<\"0x" : "value = dense<");
    for (size_t i = 0; i < bytes; i++)
        leati_text_addf(&value, "%02X", ((const unsigned char *)tensor->data)[i]);
    leati_text_addf(&value, bytes > 0 ? "\"" : "");
    leati_hlo_value out = add_constant(hlo, &value, dtype, &shape);
    return leati_hlo_convert(hlo, out, tensor->dtype);
}

leati_hlo_value leati_hlo_iota(leati_hlo *hlo, leat_dtype dtype, const leat_shape *shape,
                               int32_t axis) {
    char attributes[LEATI_HLO_ATTRIBUTES];
    if (shape->rank == 0)
        return leati_hlo_fill(hlo, 0, dtype, shape);
    snprintf(attributes, sizeof attributes, "iota_dimension = %d : i64", axis);
    return leati_hlo_add(hlo, "iota", NULL, 0, NULL, attributes, dtype, shape);
}

/* ---- shapes ---- */

leati_hlo_value leati_hlo_reshape(leati_hlo *hlo, leati_hlo_value x, const leat_shape *shape) {
    leati_hlo_type type = leati_hlo_type_of(hlo, x);
    if (leati_shape_equal(&type.shape, shape))
        return x;
    return leati_hlo_add(hlo, "reshape", &x, 1, NULL, NULL, type.dtype, shape);
}

leati_hlo_value leati_hlo_broadcast_in(leati_hlo *hlo, leati_hlo_value x, const leat_shape *shape,
                                       const int64_t *axes) {
    char attributes[LEATI_HLO_ATTRIBUTES], array[LEATI_HLO_ATTRIBUTES / 2];
    leati_hlo_type type = leati_hlo_type_of(hlo, x);
    snprintf(attributes, sizeof attributes, "broadcast_dimensions = %s",
             leati_hlo_array(array, sizeof array, axes, type.shape.rank));
    return leati_hlo_add(hlo, "broadcast_in_dim", &x, 1, NULL, attributes, type.dtype, shape);
}

leati_hlo_value leati_hlo_broadcast(leati_hlo *hlo, leati_hlo_value x, const leat_shape *shape) {
    leat_shape have = leati_hlo_shape(hlo, x);
    int64_t axes[LEAT_MAX_RANK];
    if (leati_shape_equal(&have, shape))
        return x;
    for (int32_t d = 0; d < have.rank; d++)
        axes[d] = shape->rank - have.rank + d;
    return leati_hlo_broadcast_in(hlo, x, shape, axes);
}

leati_hlo_value leati_hlo_transpose(leati_hlo *hlo, leati_hlo_value x, const int64_t *axes) {
    char attributes[LEATI_HLO_ATTRIBUTES], array[LEATI_HLO_ATTRIBUTES / 2];
    leati_hlo_type type = leati_hlo_type_of(hlo, x);
    leat_shape shape = {.rank = type.shape.rank};
    for (int32_t d = 0; d < shape.rank; d++)
        shape.dims[d] = type.shape.dims[axes[d]];
    snprintf(attributes, sizeof attributes, "permutation = %s",
             leati_hlo_array(array, sizeof array, axes, shape.rank));
    return leati_hlo_add(hlo, "transpose", &x, 1, NULL, attributes, type.dtype, &shape);
}

leati_hlo_value leati_hlo_reverse(leati_hlo *hlo, leati_hlo_value x, const int64_t *axes,
                                  int count) {
    char attributes[LEATI_HLO_ATTRIBUTES], array[LEATI_HLO_ATTRIBUTES / 2];
    leati_hlo_type type = leati_hlo_type_of(hlo, x);
    if (count == 0)
        return x;
    snprintf(attributes, sizeof attributes, "dimensions = %s",
             leati_hlo_array(array, sizeof array, axes, count));
    return leati_hlo_add(hlo, "reverse", &x, 1, NULL, attributes, type.dtype, &type.shape);
}

leati_hlo_value leati_hlo_slice(leati_hlo *hlo, leati_hlo_value x, const int64_t *begin,
                                const int64_t *end, const int64_t *step) {
    char attributes[LEATI_HLO_ATTRIBUTES], arrays[3][LEATI_HLO_ATTRIBUTES / 4];
    leati_hlo_type type = leati_hlo_type_of(hlo, x);
    leat_shape shape = {.rank = type.shape.rank};
    for (int32_t d = 0; d < shape.rank; d++)
        shape.dims[d] = end[d] > begin[d] ? (end[d] - begin[d] + step[d] - 1) / step[d] : 0;
    snprintf(attributes, sizeof attributes, "start_indices = %s, limit_indices = %s, strides = %s",
             leati_hlo_array(arrays[0], sizeof arrays[0], begin, shape.rank),
             leati_hlo_array(arrays[1], sizeof arrays[1], end, shape.rank),
             leati_hlo_array(arrays[2], sizeof arrays[2], step, shape.rank));
    return leati_hlo_add(hlo, "slice", &x, 1, NULL, attributes, type.dtype, &shape);
}

leati_hlo_value leati_hlo_pad(leati_hlo *hlo, leati_hlo_value x, leati_hlo_value value,
                              const int64_t *before, const int64_t *after, const int64_t *between) {
    static const int64_t none[LEAT_MAX_RANK] = {0};
    char attributes[LEATI_HLO_ATTRIBUTES], arrays[3][LEATI_HLO_ATTRIBUTES / 4];
    leati_hlo_type type = leati_hlo_type_of(hlo, x);
    leat_shape shape = {.rank = type.shape.rank};
    before = before != NULL ? before : none;
    after = after != NULL ? after : none;
    between = between != NULL ? between : none;
    for (int32_t d = 0; d < shape.rank; d++) {
        int64_t dim = type.shape.dims[d];
        shape.dims[d] = before[d] + dim + LEATI_MAX(dim - 1, 0) * between[d] + after[d];
    }
    snprintf(attributes, sizeof attributes,
             "edge_padding_low = %s, edge_padding_high = %s, interior_padding = %s",
             leati_hlo_array(arrays[0], sizeof arrays[0], before, shape.rank),
             leati_hlo_array(arrays[1], sizeof arrays[1], after, shape.rank),
             leati_hlo_array(arrays[2], sizeof arrays[2], between, shape.rank));
    return leati_hlo_add(hlo, "pad", (leati_hlo_value[]){x, value}, 2, NULL, attributes, type.dtype,
                         &shape);
}

leati_hlo_value leati_hlo_concatenate(leati_hlo *hlo, const leati_hlo_value *parts, int count,
                                      int32_t axis) {
    char attributes[LEATI_HLO_ATTRIBUTES];
    leati_hlo_type type = leati_hlo_type_of(hlo, parts[0]);
    if (count == 1)
        return parts[0];
    for (int i = 1; i < count; i++)
        type.shape.dims[axis] += leati_hlo_shape(hlo, parts[i]).dims[axis];
    snprintf(attributes, sizeof attributes, "dimension = %d : i64", axis);
    return leati_hlo_add(hlo, "concatenate", parts, count, NULL, attributes, type.dtype,
                         &type.shape);
}

/* ---- sums ---- */

leati_hlo_value leati_hlo_reduce(leati_hlo *hlo, const char *fold, leati_hlo_value x, double start,
                                 uint32_t axes, bool keep) {
    char attributes[LEATI_HLO_ATTRIBUTES], array[LEATI_HLO_ATTRIBUTES / 2];
    char region[LEATI_HLO_REGION];
    leati_hlo_type type = leati_hlo_type_of(hlo, x);
    leat_shape folded = {.rank = 0}, kept = type.shape;
    int64_t numbers[LEAT_MAX_RANK];
    int count = 0;
    for (int32_t d = 0; d < type.shape.rank; d++) {
        if (axes >> d & 1) {
            numbers[count++] = d;
            kept.dims[d] = 1;
        } else {
            folded.dims[folded.rank++] = type.shape.dims[d];
        }
    }
    leati_hlo_value out = x;
    if (count > 0) {
        leati_hlo_value zero = leati_hlo_fill(hlo, start, type.dtype, &LEAT_SCALAR);
        snprintf(attributes, sizeof attributes, "dimensions = %s",
                 leati_hlo_array(array, sizeof array, numbers, count));
        out = leati_hlo_add(hlo, "reduce", (leati_hlo_value[]){x, zero}, 2,
                            leati_hlo_fold_region(region, fold, type.dtype), attributes, type.dtype,
                            &folded);
    }
    return keep ? leati_hlo_reshape(hlo, out, &kept) : out;
}

leati_hlo_value leati_hlo_sum_to(leati_hlo *hlo, leati_hlo_value x, const leat_shape *to) {
    leat_shape from = leati_hlo_shape(hlo, x);
    int32_t more = from.rank - to->rank;
    uint32_t axes = 0;
    for (int32_t d = 0; d < from.rank; d++)
        if (d < more || (to->dims[d - more] == 1 && from.dims[d] != 1))
            axes |= UINT32_C(1) << d;
    return leati_hlo_reshape(hlo, leati_hlo_reduce(hlo, "add", x, 0, axes, true), to);
}

leati_hlo_value leati_hlo_matmul(leati_hlo *hlo, leati_hlo_value x, leati_hlo_value y,
                                 bool transpose_x, bool transpose_y) {
    char attributes[LEATI_HLO_ATTRIBUTES], batch[LEATI_HLO_ATTRIBUTES / 4];
    leati_hlo_type a = leati_hlo_type_of(hlo, x), b = leati_hlo_type_of(hlo, y);
    int32_t rank = a.shape.rank - 2, of_x = rank + !transpose_x, of_y = rank + transpose_y;
    leat_shape shape = a.shape;
    size_t size = 0;
    batch[0] = '\0';
    for (int32_t d = 0; d < rank; d++)
        size += (size_t)snprintf(batch + size, sizeof batch - size, "%s%d", d > 0 ? ", " : "", d);
    shape.dims[rank] = a.shape.dims[rank + transpose_x];
    shape.dims[rank + 1] = b.shape.dims[rank + !transpose_y];
    snprintf(attributes, sizeof attributes,
             "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [%s], "
             "rhs_batching_dimensions = [%s], lhs_contracting_dimensions = [%d], "
             "rhs_contracting_dimensions = [%d]>, precision_config = [#stablehlo<precision "
             "HIGHEST>, #stablehlo<precision HIGHEST>]",
             batch, batch, of_x, of_y);
    return leati_hlo_add(hlo, "dot_general", (leati_hlo_value[]){x, y}, 2, NULL, attributes,
                         a.dtype, &shape);
}
