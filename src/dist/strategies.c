/* The table of strategies, and strategies by name.
 *
 * Failures: NOT_FOUND lists the names; TensorFlow's other strategies are UNIMPLEMENTED with what to
 * use instead. No locks: the table is constant. */
#include "base/error.h"
#include "dist/strategy.h"
#include <string.h>

#define X(name) extern const leati_strategy_kind leati_strategy_##name;
#include "dist/strategies.def"
#undef X

static const leati_strategy_kind *const kinds[] = {
#define X(name) &leati_strategy_##name,
#include "dist/strategies.def"
#undef X
};

enum { NUM_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

const leati_strategy_kind *const *leati_strategy_kinds(size_t *count) {
    *count = NUM_KINDS;
    return kinds;
}

/* TensorFlow's strategies that leat has not. */
static const struct {
    const char *name, *instead;
} others[] = {
    {"parameter_server", "asynchronous training with parameter servers; use multi_worker_mirrored, "
                         "which trains in step "
                         "on the same cluster's workers, without the job \"ps\""},
    {"tpu", "TPUs; use mirrored on this host's devices, or multi_worker_mirrored on several hosts"},
};

leat_strategy *leat_strategy_named(const char *name, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    for (size_t i = 0; name != NULL && i < NUM_KINDS; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i]->make(err);
    for (size_t i = 0; name != NULL && i < sizeof(others) / sizeof(others[0]); i++) {
        if (strcmp(others[i].name, name) == 0) {
            leati_fail(err, LEAT_UNIMPLEMENTED, "strategy \"%s\": leat has no %s", name,
                       others[i].instead);
            return NULL;
        }
    }
    leati_fail(err, LEAT_NOT_FOUND,
               "there is no strategy \"%s\"; expected default, one_device, mirrored, "
               "central_storage or multi_worker_mirrored",
               name == NULL ? "(null)" : name);
    return NULL;
}
