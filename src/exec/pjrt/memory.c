/* What a step that found no memory on its device would have needed it for: the largest values that
 * its programs make, and the variables, by name. What lives at once the plug-in alone knows. */
#include "exec/pjrt/stage.h"

#include "base/error.h"
#include "base/text.h"
#include "core/spec.h"
#include <stdio.h>

enum { NAMED = 4 };

typedef struct large {
    char what[224];
    size_t bytes;
} large;

/* Puts one into the list, which is in descending order. */
static void note(large *list, const large *one) {
    int at = NAMED;
    while (at > 0 && list[at - 1].bytes < one->bytes)
        at--;
    for (int i = NAMED - 1; i > at; i--)
        list[i] = list[i - 1];
    if (at < NAMED)
        list[at] = *one;
}

static void note_values(const leati_pjrt_step *step, large *list, size_t *total) {
    const leati_simple *simple = &step->simple;
    for (int32_t v = 0; v < simple->num_values; v++) {
        const leati_simple_value *value = &simple->values[v];
        char shape[128];
        large one = {.bytes = value->row_bytes};
        if (value->constant >= 0 || value->row_bytes == 0)
            continue;
        *total += value->row_bytes;
        leati_shape_text(&value->type->shape, shape);
        if (value->node < 0)
            snprintf(one.what, sizeof one.what, "argument %d %s", (int)v, shape);
        else
            snprintf(one.what, sizeof one.what, "%s (node %d) %s",
                     simple->nodes[value->node].source->op->name,
                     (int)simple->nodes[value->node].index, shape);
        note(list, &one);
    }
}

static void note_variables(const leati_pjrt_step *step, large *list, size_t *total) {
    for (size_t i = 0; i < step->num_variables; i++) {
        const leat_variable *variable = step->variables[i];
        char shape[128];
        leat_tensor tensor = leat_tensor_view(variable->dtype, variable->shape, NULL);
        large one = {.bytes = leat_tensor_bytes(&tensor)};
        *total += one.bytes;
        leati_shape_text(&variable->shape, shape);
        snprintf(one.what, sizeof one.what, "variable %.40s %s",
                 variable->name != NULL ? variable->name : "without a name", shape);
        note(list, &one);
    }
}

leat_status leati_pjrt_blame_memory(const leati_pjrt_step *step, leat_error *err) {
    large list[NAMED] = {{{0}, 0}};
    char text[NAMED * 280] = "";
    size_t total = 0, used = 0;
    if (err->code != LEAT_RESOURCE_EXHAUSTED)
        return err->code;
    note_values(step, list, &total);
    note_variables(step, list, &total);
    for (int i = 0; i < NAMED && list[i].bytes > 0; i++) {
        int wrote = snprintf(text + used, sizeof text - used, "%s%s of %zu bytes",
                             i > 0 ? ", " : "", list[i].what, list[i].bytes);
        used = wrote < 0 || (size_t)wrote >= sizeof text - used ? used : used + (size_t)wrote;
    }
    /* Behind what the plug-in said, which is copied before it is written over. */
    leat_error said = *err;
    return leati_fail(err, said.code,
                      "%s; the step's values have %zu bytes in all, the largest are %s; take "
                      "smaller batches",
                      leat_error_message(&said), total, text);
}
