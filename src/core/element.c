/* One element: a spec and its tensors. The array of tensors is kept over clear, so that a loop over
 * elements allocates once.
 *
 * Failures: INVALID_ARGUMENT (a tensor that does not fit its component), RESOURCE_EXHAUSTED; the
 * element then holds what it held before. No locks: an element has one owner. */
#include "core/element.h"

#include "base/alloc.h"
#include "base/error.h"
#include "core/spec.h"
#include "core/tensor.h"
#include <string.h>

leat_status leati_element_reserve(leat_element *element, int count, leat_error *err) {
    if (count <= element->capacity)
        return LEAT_OK;
    void *tensors = element->tensors;
    size_t capacity = (size_t)element->capacity;
    if (!leati_grow(&tensors, &capacity, (size_t)count, sizeof(leat_tensor)))
        return leati_no_memory(err);
    element->tensors = tensors;
    element->capacity = (int)capacity;
    return LEAT_OK;
}

static leat_status set_from_itself(leat_element *element, const leat_spec *spec,
                                   const leat_tensor *tensors, int count, leat_error *err) {
    leat_element fresh = {0};
    LEATI_TRY(leati_element_reserve(&fresh, count, err));
    for (int i = 0; i < count; i++)
        fresh.tensors[i] = leat_tensor_ref(&tensors[i]);
    fresh.num_tensors = count;
    fresh.spec = leat_spec_ref(spec);
    leat_element_fini(element);
    *element = fresh;
    return LEAT_OK;
}

leat_status leat_element_set(leat_element *element, const leat_spec *spec,
                             const leat_tensor *tensors, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    int count = leat_spec_num_components(spec);
    for (int i = 0; i < count; i++) {
        leat_status status = leati_spec_check_tensor(spec, i, &tensors[i], err);
        if (status != LEAT_OK)
            return status;
    }
    /* An array that lies in the element's own would move or vanish under the copy below. */
    if (element->tensors != NULL && tensors >= element->tensors &&
        tensors < element->tensors + element->capacity)
        return set_from_itself(element, spec, tensors, count, err);
    /* All that can fail comes before the element changes. */
    LEATI_TRY(leati_element_reserve(element, count, err));
    leat_spec *kept = leat_spec_ref(spec);
    /* References are taken before the old ones go: both elements may share buffers. */
    for (int i = 0; i < count; i++)
        leat_buffer_ref(tensors[i].owner);
    leat_element_clear(element);
    for (int i = 0; i < count; i++)
        element->tensors[i] = tensors[i];
    element->num_tensors = count;
    element->spec = kept;
    return LEAT_OK;
}

leat_status leati_element_give(leat_element *element, const leat_spec *spec, leat_tensor *tensors,
                               leat_error *err) {
    int count = leat_spec_num_components(spec);
    leat_status status = leati_element_reserve(element, count, err);
    if (status != LEAT_OK) {
        for (int i = 0; i < count; i++)
            leat_tensor_unref(&tensors[i]);
        return status;
    }
    leat_spec *kept = leat_spec_ref(spec);
    leat_element_clear(element);
    for (int i = 0; i < count; i++) {
        element->tensors[i] = tensors[i];
        /* They have moved; the caller's array is left without references. */
        tensors[i] = (leat_tensor){0};
    }
    element->num_tensors = count;
    element->spec = kept;
    return LEAT_OK;
}

leat_status leati_element_copy(const leat_element *from, leat_element *to, leat_error *err) {
    if (from == to)
        return LEAT_OK;
    LEATI_TRY(leati_element_reserve(to, from->num_tensors, err));
    leat_element_clear(to);
    for (int i = 0; i < from->num_tensors; i++)
        to->tensors[i] = leat_tensor_ref(&from->tensors[i]);
    to->num_tensors = from->num_tensors;
    to->spec = leat_spec_ref(from->spec);
    return LEAT_OK;
}

void leat_element_clear(leat_element *element) {
    for (int i = 0; i < element->num_tensors; i++)
        leat_tensor_unref(&element->tensors[i]);
    leat_spec_unref((leat_spec *)(uintptr_t)element->spec);
    element->num_tensors = 0;
    element->spec = NULL;
}

void leat_element_fini(leat_element *element) {
    if (element == NULL)
        return;
    leat_element_clear(element);
    leati_free(element->tensors);
    *element = (leat_element){0};
}

void leati_element_move(leat_element *from, leat_element *to) {
    if (from == to)
        return;
    leat_element_clear(to);
    /* `from` gets the empty array of `to`, so that neither allocates again. */
    leat_element spare = *to;
    *to = *from;
    *from = spare;
}

bool leati_element_equal(const leat_element *a, const leat_element *b) {
    if (a->spec == NULL || b->spec == NULL)
        return a->spec == b->spec;
    if (!leat_spec_equal(a->spec, b->spec) || a->num_tensors != b->num_tensors)
        return false;
    for (int i = 0; i < a->num_tensors; i++)
        if (!leati_tensor_equal(&a->tensors[i], &b->tensors[i]))
            return false;
    return true;
}
