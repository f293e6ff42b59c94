/* Logical CPU devices: the process's cores split evenly
 * (tf.config.set_logical_device_configuration).
 *
 * Their number is a process-wide setting that the first strategy fixes. With fewer cores than
 * devices, devices share cores and are not pinned. Lock: `lock` guards both variables; a leaf. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/fork.h"
#include "dist/strategy.h"
#include "run/pool.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
LEATI_FORK_LOCK(devices, &lock);
static int logical_cpus = 1;
static bool in_use;

leat_status leat_device_set_logical_cpus(int count, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (count < 1 || count > MOST_DEVICES) {
        return leati_refuse(err, VALUE, "%d logical CPU devices; expected 1 to %d", count,
                            MOST_DEVICES);
    }
    leat_status status = LEAT_OK;
    pthread_mutex_lock(&lock);
    /* Setting the number that is in force is no change: programs may say it more than once. */
    if (in_use && count != logical_cpus) {
        status = leati_fail(err, LEAT_FAILED_PRECONDITION,
                            "the devices are in use (%d logical CPU devices); set their number "
                            "before the first strategy",
                            logical_cpus);
    } else {
        logical_cpus = count;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

int leati_strategy_logical_cpus(void) {
    pthread_mutex_lock(&lock);
    int count = logical_cpus;
    pthread_mutex_unlock(&lock);
    return count;
}

int leat_device_num_logical(const char *kind) {
    return kind != NULL && strcmp(kind, "CPU") == 0 ? leati_strategy_logical_cpus() : 0;
}

leati_device *leati_strategy_logical_cpu_open(int index, leat_error *err) {
    pthread_mutex_lock(&lock);
    in_use = true;
    int count = logical_cpus;
    pthread_mutex_unlock(&lock);
    if (index < 0 || index >= count) {
        leati_refuse(err, VALUE, "device CPU:%d does not exist; there are %d logical CPU devices",
                     index, count);
        return NULL;
    }
    int cores = leati_pool_num_cores();
    /* -1: not pinned. */
    if (cores < count)
        return leati_device_cpu_new(index, 1, -1, err);
    /* Parts of [0, cores) that differ by at most one core and leave none over. */
    int first = (int)((int64_t)cores * index / count),
        end = (int)((int64_t)cores * (index + 1) / count);
    return leati_device_cpu_new(index, end - first, count > 1 ? first : -1, err);
}

// ---- by name ----

/* The index of a device name such as "CPU:1", or "/device:CPU:1"; -1 for anything else. */
static int device_index(const char *name) {
    const char *colon = name == NULL ? NULL : strstr(name, "CPU:");
    if (colon == NULL)
        return -1;
    char *end = NULL;
    long index = strtol(colon + 4, &end, 10);
    return end == colon + 4 || *end != '\0' || index < 0 || index > 1 << 20 ? -1 : (int)index;
}

/* Opens device `i` of the names beside those before it. */
static leat_status open_device(const char *const *names, int i, leati_device **devices,
                               leat_error *err) {
    int index = names == NULL ? i : device_index(names[i]);
    if (index < 0) {
        return leati_refuse(err, VALUE, "device \"%s\"; expected a name such as \"CPU:0\"",
                            names[i] == NULL ? "(null)" : names[i]);
    }
    for (int j = 0; j < i; j++)
        if (devices[j]->index == index)
            return leati_refuse(err, VALUE, "device CPU:%d is named twice", index);
    /* The caller's `err` may be NULL, and its code is the status. */
    leat_error local = {0};
    devices[i] = leati_strategy_logical_cpu_open(index, &local);
    if (devices[i] == NULL)
        *err = local;
    return local.code;
}

leati_device **leati_strategy_open_devices(const char *const *names, int count, leat_error *err) {
    leati_device **devices = leati_alloc_zero((size_t)count, sizeof(*devices));
    if (devices == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        if (open_device(names, i, devices, err) != LEAT_OK) {
            for (int j = 0; j < i; j++)
                devices[j]->ops->close(devices[j]);
            leati_free(devices);
            return NULL;
        }
    }
    return devices;
}
