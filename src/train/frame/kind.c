/* The tables of layers, losses, optimizers, metrics, initialisers and schedules, and the arguments
 * of their kinds.
 *
 * A kind has one line in its table, which says its file. Arguments are made whole or not at all.
 * Failures: NOT_FOUND for a name that is not in the table, INVALID_ARGUMENT for arguments that the
 * rows or the kind refuse, RESOURCE_EXHAUSTED. The tables are constant; no locks. */
#include "train/frame/kind.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "core/json.h"
#include "train/frame/initializer.h"
#include "train/frame/layer.h"
#include "train/frame/loss.h"
#include "train/frame/metric.h"
#include "train/frame/optimizer.h"
#include "train/frame/schedule.h"
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

const leati_kind *const *leati_kinds_layer(size_t *count) {
    static const leati_kind *const kinds[] = {
#define X(file, name) &leati_layer_##name.kind,
#include "train/layers.def"
#undef X
    };
    *count = COUNT(kinds);
    return kinds;
}

const leati_kind *const *leati_kinds_loss(size_t *count) {
    static const leati_kind *const kinds[] = {
#define X(file, name) &leati_loss_##name.kind,
#include "train/losses.def"
#undef X
    };
    *count = COUNT(kinds);
    return kinds;
}

const leati_kind *const *leati_kinds_optimizer(size_t *count) {
    static const leati_kind *const kinds[] = {
#define X(file, name) &leati_optimizer_##name.kind,
#include "train/optimizers.def"
#undef X
    };
    *count = COUNT(kinds);
    return kinds;
}

const leati_kind *const *leati_kinds_metric(size_t *count) {
    static const leati_kind *const kinds[] = {
#define X(file, name) &leati_metric_##name.kind,
#include "train/metrics.def"
#undef X
    };
    *count = COUNT(kinds);
    return kinds;
}

const leati_kind *const *leati_kinds_initializer(size_t *count) {
    static const leati_kind *const kinds[] = {
#define X(file, name) &leati_initializer_##name.kind,
#include "train/initializers.def"
#undef X
    };
    *count = COUNT(kinds);
    return kinds;
}

const leati_kind *const *leati_kinds_schedule(size_t *count) {
    static const leati_kind *const kinds[] = {
#define X(file, name) &leati_schedule_##name.kind,
#include "train/schedules.def"
#undef X
    };
    *count = COUNT(kinds);
    return kinds;
}

const leati_kind *leati_kind_find(const leati_kind *const *kinds, size_t count, const char *sort,
                                  const char *name, leat_error *err) {
    leati_text names = {0};
    for (size_t i = 0; i < count && name != NULL; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    for (size_t i = 0; i < count; i++)
        leati_text_addf(&names, "%s%s", i == 0 ? "" : ", ", kinds[i]->name);
    leati_fail(err, LEAT_NOT_FOUND, "there is no %s \"%.60s\"; there is %s", sort,
               name == NULL ? "" : name, names.failed || names.size == 0 ? "none" : names.data);
    leati_text_fini(&names);
    return NULL;
}

/* Checks arguments that are in place; frees them on failure. */
static leat_status finish(const leati_kind *kind, void *args, void **out, leat_error *err) {
    leat_status status = leati_rows_check(kind->rows, args, kind->name, err);
    if (status == LEAT_OK && kind->check != NULL) {
        /* After the rows: the kind's check may rely on their types and bounds. */
        status = kind->check(args, err);
        if (status != LEAT_OK)
            leati_prefix(err, "%s", kind->name);
    }
    if (status == LEAT_OK)
        *out = args;
    else
        leati_kind_args_free(kind, args);
    return status;
}

leat_status leati_kind_args_copy(const leati_kind *kind, const void *from, void **out,
                                 leat_error *err) {
    /* A kind without arguments has size 0, for which the allocation is still a pointer. */
    void *args = leati_alloc_zero(1, kind->args_size);
    if (args == NULL)
        return leati_no_memory(err);
    leat_status status = leati_rows_copy(kind->rows, from, args, err);
    /* What the rows copied before they failed they have freed. */
    if (status != LEAT_OK) {
        leati_free(args);
        return status;
    }
    return finish(kind, args, out, err);
}

/* Adds a list to a flat one: what a list in it holds, and -1 for a null. */
static bool add_flat(json_t *flat, const json_t *list) {
    size_t i;
    json_t *part;
    bool good = flat != NULL;
    json_array_foreach((json_t *)(uintptr_t)list, i, part) {
        /* None within a list stands for a dimension that is not known (Reshape's target_shape). */
        if (json_is_null(part))
            good = good && json_array_append_new(flat, json_integer(-1)) == 0;
        else if (json_is_array(part))
            /* One level deep only; the row, which expects numbers, refuses a list below that. */
            good = good && json_array_extend(flat, part) == 0;
        else
            good = good && json_array_append(flat, part) == 0;
    }
    return good;
}

/* Lists as Keras writes them as plain ones: pairs, [[1, 2], [0, 3]], one behind the other, and -1
 * for the None of a dimension. A new reference, or NULL without memory. */
static json_t *with_flat_lists(const json_t *config) {
    json_t *copy = json_object(), *value;
    const char *name;
    bool good = copy != NULL;
    json_object_foreach((json_t *)(uintptr_t)config, name, value) {
        json_t *flat = json_is_array(value) ? json_array() : json_incref(value);
        /* `flat` may be NULL here; the next line then fails without a leak, because it takes the
         * reference. */
        good = (!json_is_array(value) || add_flat(flat, value)) && good;
        good = json_object_set_new(copy, name, flat) == 0 && good;
    }
    if (good)
        return copy;
    json_decref(copy);
    return NULL;
}

leat_status leati_kind_args_read(const leati_kind *kind, const json_t *config, void **out,
                                 leat_error *err) {
    void *args = leati_alloc_zero(1, kind->args_size);
    json_t *flat = config == NULL ? NULL : with_flat_lists(config);
    if (args == NULL || (config != NULL && flat == NULL)) {
        leati_free(args);
        json_decref(flat);
        return leati_no_memory(err);
    }
    /* NULL stands for an object without members: every row gets its default. */
    leat_status status = leati_json_to_rows(flat, kind->rows, args, kind->name, NULL, err);
    json_decref(flat);
    if (status != LEAT_OK) {
        leati_free(args);
        return status;
    }
    return finish(kind, args, out, err);
}

void leati_kind_args_free(const leati_kind *kind, void *args) {
    if (args == NULL)
        return;
    leati_rows_fini(kind->rows, args);
    leati_free(args);
}
