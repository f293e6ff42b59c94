/* Per-replica values: life, printing, and checks that reductions share. */
#include "dist/values.h"
#include "base/alloc.h"
#include "base/minmax.h"
#include "base/text.h"
#include "core/spec.h"
#include "dist/strategy.h"
#include <string.h>

leat_status leati_values_reset(leat_per_replica *value, int num_replicas, leat_error *err) {
    if (value->num_replicas != num_replicas) {
        leat_per_replica_fini(value);
        value->elements = leati_alloc_zero((size_t)num_replicas, sizeof(*value->elements));
        if (value->elements == NULL)
            return leati_no_memory(err);
        value->num_replicas = num_replicas;
    }
    for (int r = 0; r < num_replicas; r++)
        leat_element_clear(&value->elements[r]);
    return LEAT_OK;
}

void leat_per_replica_fini(leat_per_replica *value) {
    if (value == NULL)
        return;
    for (int r = 0; r < value->num_replicas; r++)
        leat_element_fini(&value->elements[r]);
    leati_free(value->elements);
    memset(value, 0, sizeof(*value));
}

// ---- what reduce and gather share ----

leat_status leati_values_fold(const leat_tensor *tensor, int axis, leati_folded *out,
                              leat_error *err) {
    *out = (leati_folded){
        .outer = 1, .along = 1, .inner = 1, .rest = leat_tensor_shape(tensor), .axis = -1};
    if (axis == LEAT_NO_AXIS) {
        /* Without an axis the value is one block, of which `rest` is the whole shape. */
        out->inner = leat_tensor_count(tensor);
        return LEAT_OK;
    }
    int at = axis < 0 ? axis + tensor->rank : axis;
    if (at < 0 || at >= tensor->rank) {
        return leati_refuse(err, SHAPE, "Invalid reduction dimension %d for a value of rank %d",
                            axis, tensor->rank);
    }
    out->axis = at;
    out->rest.rank = 0;
    for (int i = 0; i < tensor->rank; i++) {
        int64_t dim = tensor->dims[i];
        if (i < at)
            out->outer *= dim;
        else if (i > at)
            out->inner *= dim;
        else
            out->along = dim;
        if (i != at)
            out->rest.dims[out->rest.rank++] = dim;
    }
    return LEAT_OK;
}

leat_status leati_values_check_per_replica(const char *function, const leat_strategy *strategy,
                                           const leat_per_replica *value, const leat_element *out,
                                           leat_error *err) {
    if (strategy == NULL || value == NULL || out == NULL)
        return leati_refuse(err, VALUE, "%s: an argument is NULL", function);
    if (value->num_replicas != strategy->num_local) {
        return leati_refuse(err, STRUCTURE, "a value of %d replicas; the strategy has %d",
                            value->num_replicas, strategy->num_local);
    }
    int count = value->elements[0].num_tensors;
    for (int r = 1; r < value->num_replicas; r++) {
        if (value->elements[r].num_tensors != count) {
            return leati_refuse(err, STRUCTURE, "replica %d has %d components, replica 0 has %d", r,
                                value->elements[r].num_tensors, count);
        }
    }
    return strategy->workers == NULL ? LEAT_OK : leati_workers_check(strategy->workers, err);
}

leat_status leati_values_give_like(const leat_spec *spec, const leat_tensor *tensors, int count,
                                   leat_element *out, leat_error *err) {
    size_t n = (size_t)count;
    leat_dtype *dtypes = leati_alloc(n, sizeof(*dtypes));
    leat_shape *shapes = leati_alloc(n, sizeof(*shapes));
    leat_error local = {0};
    leat_spec *like = NULL;
    if (dtypes == NULL || shapes == NULL) {
        leati_no_memory(&local);
    } else {
        for (size_t c = 0; c < n; c++) {
            dtypes[c] = tensors[c].dtype;
            shapes[c] = leat_tensor_shape(&tensors[c]);
        }
        like = leati_spec_like(spec, dtypes, shapes, &local);
    }
    leat_status status = like == NULL ? local.code : leat_element_set(out, like, tensors, err);
    if (like == NULL)
        *err = local;
    leat_spec_unref(like);
    leati_free(dtypes);
    leati_free(shapes);
    return status;
}

// ---- printing ----

/* Shape as TensorFlow prints a tuple: (), (2,), (2, 3). */
static void add_shape(leati_text *text, const leat_tensor *tensor) {
    leati_text_addf(text, "(");
    for (int i = 0; i < tensor->rank; i++)
        leati_text_addf(text, i == 0 ? "%lld" : ", %lld", (long long)tensor->dims[i]);
    leati_text_addf(text, tensor->rank == 1 ? ",)" : ")");
}

/* numpy's repr() of an array from its str(), which differ in the separators: ", " for one blank
 * between values, ",\n" and the width of "array(" at the end of a row. Blanks in quotes and those
 * that only pad stay. */
static void add_separated(leati_text *text, const char *numbers) {
    char quote = 0;
    for (const char *at = numbers; *at; at++) {
        char before = at > numbers ? at[-1] : '[';
        if (quote != 0) {
            leati_text_add(text, at, 1);
            if (*at == '\\' && at[1])
                leati_text_add(text, ++at, 1);
            else if (*at == quote)
                quote = 0;
        } else if (*at == ' ' && before != ' ' && before != '[' && before != '\n') {
            leati_text_addf(text, ", ");
        } else if (*at == '\n') {
            leati_text_addf(text, before == '\n' ? "\n" : ",\n");
            leati_text_addf(text, at[1] == '\n' ? "%s" : "%s      ", "");
        } else {
            quote = *at == '\'' || *at == '"' ? *at : 0;
            leati_text_add(text, at, 1);
        }
    }
}

/* What repr() says of the dtype: nothing where it follows from the values. */
static const char *dtype_suffix(leat_dtype dtype) {
    switch (dtype) {
    case LEAT_INT64:
    case LEAT_FLOAT64:
    case LEAT_COMPLEX128:
    case LEAT_BOOL: return "";
    case LEAT_COMPLEX64: return ", dtype=complex64";
    case LEAT_STRING: return ", dtype=object";
    case LEAT_INT8: return ", dtype=int8";
    case LEAT_INT16: return ", dtype=int16";
    case LEAT_INT32: return ", dtype=int32";
    case LEAT_UINT8: return ", dtype=uint8";
    case LEAT_UINT16: return ", dtype=uint16";
    case LEAT_UINT32: return ", dtype=uint32";
    case LEAT_UINT64: return ", dtype=uint64";
    case LEAT_FLOAT16: return ", dtype=float16";
    case LEAT_BFLOAT16: return ", dtype=bfloat16";
    default: return ", dtype=float32";
    }
}

/* The value of a tensor: a scalar bare, an array as numpy's repr() has it, from the next line on
 * where it has several, an empty one with its dtype always. */
static void add_value(leati_text *text, const leat_tensor *tensor, const char *numbers) {
    if (tensor->rank == 0) {
        leati_text_addf(text, "%s", numbers);
        return;
    }
    leati_text_addf(text, "%sarray(", strchr(numbers, '\n') != NULL ? "\n" : "");
    add_separated(text, numbers);
    if (leat_tensor_count(tensor) == 0) {
        if (tensor->rank > 1) {
            leati_text_addf(text, ", shape=");
            add_shape(text, tensor);
        }
        leati_text_addf(text, ", dtype=%s)",
                        tensor->dtype == LEAT_STRING ? "object" : leat_dtype_name(tensor->dtype));
        return;
    }
    leati_text_addf(text, "%s)", dtype_suffix(tensor->dtype));
}

/* The text of one tensor, on its own. Without memory `text` has failed. */
static void add_tensor(leati_text *text, const leat_tensor *tensor) {
    leat_spec *spec = leat_spec_tensor(tensor->dtype, leat_tensor_shape(tensor), NULL);
    leat_element one = {0};
    if (spec == NULL || leat_element_set(&one, spec, tensor, NULL) != LEAT_OK) {
        text->failed = true;
        leat_spec_unref(spec);
        return;
    }
    /* Printed twice, by snprintf's rule: once to learn the length. */
    size_t size = leat_element_print(&one, NULL, 0) + 1;
    char *numbers = leati_alloc(size, 1);
    if (numbers != NULL) {
        leat_element_print(&one, numbers, size);
        add_value(text, tensor, numbers);
    } else {
        text->failed = true;
    }
    leati_free(numbers);
    leat_element_fini(&one);
    leat_spec_unref(spec);
}

/* One component on all replicas, in TensorFlow's form. */
static void add_component(leati_text *text, const leat_per_replica *value, int component) {
    leati_text_addf(text, "PerReplica:{\n");
    for (int r = 0; r < value->num_replicas; r++) {
        const leat_element *element = &value->elements[r];
        if (component >= element->num_tensors)
            continue;
        const leat_tensor *tensor = &element->tensors[component];
        leati_text_addf(text, "  %d: <tf.Tensor: shape=", r);
        add_shape(text, tensor);
        leati_text_addf(text, ", dtype=%s, numpy=", leat_dtype_name(tensor->dtype));
        add_tensor(text, tensor);
        leati_text_addf(text, ">%s\n", r + 1 < value->num_replicas ? "," : "");
    }
    leati_text_addf(text, "}");
}

size_t leat_per_replica_print(const leat_per_replica *value, char *text, size_t size) {
    leati_text all = {0};
    int components = value->num_replicas > 0 ? value->elements[0].num_tensors : 0;
    if (components != 1)
        leati_text_addf(&all, "(");
    for (int c = 0; c < components; c++) {
        leati_text_addf(&all, c > 0 ? ", " : "%s", "");
        add_component(&all, value, c);
    }
    if (components != 1)
        leati_text_addf(&all, ")");
    size_t length = all.size;
    if (size > 0) {
        size_t n = LEATI_MIN(length, size - 1);
        if (n > 0)
            memcpy(text, all.data, n);
        text[n] = '\0';
    }
    leati_text_fini(&all);
    return length;
}
