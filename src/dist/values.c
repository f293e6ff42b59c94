/* Per-replica values: life and printing. */
#include "dist/values.h"
#include "base/alloc.h"
#include "base/text.h"
#include <string.h>

leat_status leati_per_replica_reset(leat_per_replica *value, int num_replicas, leat_error *err) {
    if (value->num_replicas != num_replicas) {
        leat_per_replica_fini(value);
        value->elements = leati_alloc_zero((size_t)num_replicas, sizeof(*value->elements));
        if (value->elements == NULL) {
            return leati_no_memory(err, (size_t)num_replicas * sizeof(*value->elements));
        }
        value->num_replicas = num_replicas;
    }
    for (int r = 0; r < num_replicas; r++) {
        leat_element_clear(&value->elements[r]);
    }
    return LEAT_OK;
}

void leat_per_replica_fini(leat_per_replica *value) {
    if (value == NULL) {
        return;
    }
    for (int r = 0; r < value->num_replicas; r++) {
        leat_element_fini(&value->elements[r]);
    }
    leati_free(value->elements);
    memset(value, 0, sizeof(*value));
}

/* Shape as TensorFlow prints a tuple: (), (2,), (2, 3). */
static void add_shape(leati_text *text, const leat_tensor *tensor) {
    leati_text_addf(text, "(");
    for (int i = 0; i < tensor->rank; i++) {
        leati_text_addf(text, i == 0 ? "%lld" : ", %lld", (long long)tensor->dims[i]);
    }
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
            if (*at == '\\' && at[1]) {
                leati_text_add(text, ++at, 1);
            } else if (*at == quote) {
                quote = 0;
            }
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
    case LEAT_BOOL: return "";
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

/* The value of a tensor: a scalar bare, an array as numpy's repr() has it, an empty one with its
 * dtype always. */
static void add_value(leati_text *text, const leat_tensor *tensor, const char *numbers) {
    if (tensor->rank == 0) {
        leati_text_addf(text, "%s", numbers);
        return;
    }
    leati_text_addf(text, "array(");
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
        if (component >= element->num_tensors) {
            continue;
        }
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
    if (components != 1) {
        leati_text_addf(&all, "(");
    }
    for (int c = 0; c < components; c++) {
        leati_text_addf(&all, c > 0 ? ", " : "%s", "");
        add_component(&all, value, c);
    }
    if (components != 1) {
        leati_text_addf(&all, ")");
    }
    size_t length = all.size;
    if (size > 0) {
        size_t n = length < size - 1 ? length : size - 1;
        if (n > 0) {
            memcpy(text, all.data, n);
        }
        text[n] = '\0';
    }
    leati_text_fini(&all);
    return length;
}
