/* Variables that lie where another one lies: an optimizer's slots are made when it is first
 * applied, which may be far from the scope that placed the weights.
 *
 * Happy path: a creator, set for this thread and this one variable, copies the places of the other.
 * Failures: RESOURCE_EXHAUSTED, or what the device reports. No locks. */
#include "train/frame/weights.h"
#include "base/alloc.h"
#include "base/error.h"
#include "core/buffer.h"
#include <string.h>

static leat_status place_copy(const leati_variable_place *place, const leat_tensor *initial,
                              leat_buffer **out, leat_error *err) {
    size_t size = leat_tensor_bytes(initial);
    if (place->device != NULL) {
        leat_shape shape = leat_tensor_shape(initial);
        leat_status status = place->alloc(place->device, initial->dtype, &shape, out, err);
        if (status == LEAT_OK)
            /* A buffer stays in `out` where this fails: the variable frees its copies. */
            status = place->upload(place->device, initial->data, *out, size, err);
        return status;
    }
    *out = leat_buffer_new(size, err);
    if (*out == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    if (size > 0)
        memcpy((*out)->data, initial->data, size);
    return LEAT_OK;
}

static leat_status place_like(void *context, leat_variable *variable, const leat_tensor *initial,
                              leat_error *err) {
    const leat_variable *like = context;
    size_t count = (size_t)like->num_copies;
    variable->copies = leati_alloc_zero(count, sizeof(leat_buffer *));
    variable->places = leati_alloc_zero(count, sizeof *variable->places);
    if (variable->copies == NULL || variable->places == NULL)
        /* Both lists are the variable's already, which is freed by whoever makes it. */
        return leati_no_memory(err);
    variable->num_copies = like->num_copies;
    variable->num_elsewhere = like->num_elsewhere;
    variable->combine_elsewhere = like->combine_elsewhere;
    /* What the places belong to must live as long as the copies do. */
    variable->owner = leati_object_ref(like->owner);
    memcpy(variable->places, like->places, count * sizeof *variable->places);
    leat_status status = LEAT_OK;
    for (size_t i = 0; i < count && status == LEAT_OK; i++)
        status = place_copy(&variable->places[i], initial, &variable->copies[i], err);
    return status;
}

leat_status leati_weights_variable_like(const leat_variable *like, const char *name,
                                        const leat_tensor *initial, leat_variable **out,
                                        leat_error *err) {
    leat_variable_options options = {LEAT_VARIABLE_DEFAULTS, .name = name};
    options.trainable = false;
    /* Without it the variable would lie in the scope that happens to be open. */
    const leati_variable_creator creator = {.place = place_like,
                                            .context = (void *)(uintptr_t)like};
    leat_error own = {0};
    const leati_variable_creator *outer = leati_variable_set_creator(&creator);
    leat_variable *variable = leat_variable_new(initial, &options, &own);
    /* Restored also where the variable failed: the scope belongs to the caller. */
    leati_variable_set_creator(outer);
    if (variable == NULL)
        return leati_error_pass(err, &own);
    *out = variable;
    return LEAT_OK;
}
