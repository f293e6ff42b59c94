/* The mirrored strategy: one replica per device of this process, variables mirrored on all
 * (tf.distribute.MirroredStrategy). */
#include "base/alloc.h"
#include "base/error.h"
#include "dist/strategy.h"
#include <stdlib.h>
#include <string.h>

extern const leati_strategy_kind leati_strategy_mirrored;

enum { DEFAULT_TIMEOUT_MS = 60000 };

/* The index of a device name such as "CPU:1", or "/device:CPU:1"; -1 for anything else. */
static int device_index(const char *name) {
    const char *colon = name == NULL ? NULL : strstr(name, "CPU:");
    if (colon == NULL) {
        return -1;
    }
    char *end = NULL;
    long index = strtol(colon + 4, &end, 10);
    return end == colon + 4 || *end != '\0' || index < 0 || index > 1 << 20 ? -1 : (int)index;
}

static leat_status open_devices(const leat_mirrored_options *options, leati_device **devices,
                                int count, leat_error *err) {
    for (int i = 0; i < count; i++) {
        int index = i;
        if (options->devices != NULL) {
            index = device_index(options->devices[i]);
            if (index < 0) {
                return leati_fail(err, LEAT_INVALID_ARGUMENT,
                                  "device \"%s\"; expected a name such as \"CPU:0\"",
                                  options->devices[i] == NULL ? "(null)" : options->devices[i]);
            }
        }
        for (int j = 0; j < i; j++) {
            if (devices[j]->index == index) {
                return leati_fail(err, LEAT_INVALID_ARGUMENT, "device CPU:%d is named twice",
                                  index);
            }
        }
        devices[i] = leati_logical_cpu_open(index, err);
        if (devices[i] == NULL) {
            return err->code;
        }
    }
    return LEAT_OK;
}

leat_strategy *leat_mirrored_strategy(const leat_mirrored_options *options, leat_error *err) {
    leat_mirrored_options defaults = {0};
    leat_error local = {0};
    options = options != NULL ? options : &defaults;
    int count = options->devices != NULL ? options->num_devices : leati_logical_cpus();
    if (count < 1 || options->timeout_ms < 0) {
        leati_fail(err, LEAT_INVALID_ARGUMENT,
                   "leat_mirrored_strategy: %d devices, timeout_ms %lld; expected at least one "
                   "device and no negative "
                   "timeout",
                   count, (long long)options->timeout_ms);
        return NULL;
    }
    leati_device **devices = leati_alloc_zero((size_t)count, sizeof(*devices));
    if (devices == NULL) {
        leati_no_memory(err, (size_t)count * sizeof(*devices));
        return NULL;
    }
    leat_strategy *strategy = NULL;
    int64_t timeout_ms = options->timeout_ms > 0 ? options->timeout_ms : DEFAULT_TIMEOUT_MS;
    if (open_devices(options, devices, count, &local) == LEAT_OK) {
        strategy = leati_strategy_new(&leati_strategy_mirrored, devices, count, timeout_ms, &local);
    } else {
        for (int i = 0; i < count && devices[i] != NULL; i++) {
            devices[i]->ops->close(devices[i]);
        }
    }
    leati_free(devices);
    if (strategy == NULL && err != NULL) {
        *err = local;
    }
    return strategy;
}

const leati_strategy_kind leati_strategy_mirrored = {
    .name = "mirrored",
    .doc = "One replica per device of this process; variables are mirrored "
           "(tf.distribute.MirroredStrategy).",
};
