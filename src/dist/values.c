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

/* One component on all replicas, in TensorFlow's form. */
static void add_component(leati_text *text, const leat_per_replica *value, int component) {
    leati_text_addf(text, "PerReplica:{\n");
    for (int r = 0; r < value->num_replicas; r++) {
        const leat_element *element = &value->elements[r];
        if (component >= element->num_tensors) {
            continue;
        }
        const leat_tensor *tensor = &element->tensors[component];
        leat_error ignored = {0};
        leat_spec *spec = leat_spec_tensor(tensor->dtype, leat_tensor_shape(tensor), &ignored);
        leat_element one = {0};
        char numbers[2048] = "?";
        if (spec != NULL && leat_element_set(&one, spec, tensor, &ignored) == LEAT_OK) {
            leat_element_print(&one, numbers, sizeof(numbers));
        }
        leat_element_fini(&one);
        leat_spec_unref(spec);
        leati_text_addf(text, "  %d: <tf.Tensor: shape=", r);
        add_shape(text, tensor);
        leati_text_addf(text, ", dtype=%s, numpy=%s%s>%s\n", leat_dtype_name(tensor->dtype),
                        tensor->rank > 0 ? "array" : "", numbers,
                        r + 1 < value->num_replicas ? "," : "");
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
