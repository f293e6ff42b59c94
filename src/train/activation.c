/* Activations: linear, relu and softmax along the last axis. Failures: a name that is none. No
 * state, no locks. */
#include "train/activation.h"
#include "base/error.h"
#include <string.h>

static leat_value linear(leat_value value) {
    return value;
}

static const struct {
    const char *name;
    leat_value (*apply)(leat_value value);
} activations[] = {
    [LEAT_LINEAR] = {"linear", linear},
    [LEAT_RELU] = {"relu", leat_relu},
    [LEAT_SOFTMAX] = {"softmax", leat_softmax},
};

#define COUNT (sizeof activations / sizeof activations[0])

const char *leati_activation_name(leat_activation activation) {
    return (size_t)activation < COUNT ? activations[activation].name : "of an unknown number";
}

/* The place of a name in the table; COUNT: it is none. */
static size_t find(const char *name) {
    size_t i = 0;
    while (i < COUNT && strcmp(activations[i].name, name) != 0)
        i++;
    return i;
}

leat_status leati_check_activation(const char *name, leat_error *err) {
    if (name == NULL || find(name) < COUNT)
        return LEAT_OK;
    return leati_fail(err, LEAT_INVALID_ARGUMENT,
                      "activation \"%.60s\"; expected linear, relu or softmax", name);
}

leat_value leati_activate(const char *name, leat_value value) {
    size_t i = find(name == NULL ? activations[LEAT_LINEAR].name : name);
    return i < COUNT ? activations[i].apply(value) : value;
}
