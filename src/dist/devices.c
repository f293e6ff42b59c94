/* Devices by their names. Logical CPU devices are the process's cores split evenly
 * (tf.config.set_logical_device_configuration), the others those of PJRT plug-ins.
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
        /* XLA makes as many of the host. */
        status = leati_device_pjrt_set_cpus(count, err);
        logical_cpus = status == LEAT_OK ? count : logical_cpus;
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
    leati_device_pjrt_info info;
    if (kind == NULL || strcmp(kind, "CPU") == 0)
        return kind == NULL ? 0 : leati_strategy_logical_cpus();
    return leati_device_pjrt_find(kind, &info, &(leat_error){0}) == LEAT_OK ? info.num_devices : 0;
}

leat_status leat_device_search(const char *folder, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (folder == NULL)
        return leati_refuse(err, VALUE, "leat_device_search: folder is NULL");
    return leati_device_pjrt_search(folder, err);
}

leat_status leat_device_describe(const char *kind, leat_device_description *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leati_device_pjrt_info info;
    if (kind == NULL || out == NULL)
        return leati_refuse(err, VALUE, "leat_device_describe: %s is NULL",
                            kind == NULL ? "kind" : "out");
    *out = (leat_device_description){.num_devices = leati_strategy_logical_cpus(),
                                     .platform = "host",
                                     .version = "",
                                     .path = ""};
    if (strcmp(kind, "CPU") == 0)
        return LEAT_OK;
    LEATI_TRY(leati_device_pjrt_find(kind, &info, err));
    *out = (leat_device_description){.num_devices = info.num_devices,
                                     .platform = info.platform,
                                     .version = info.version,
                                     .path = info.path};
    return LEAT_OK;
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

static const char *const kinds[] = {"CPU", "GPU", "TPU", "XLA_CPU"};
enum { NUM_KINDS = sizeof kinds / sizeof *kinds };

/* The kind and index of a device name such as "CPU:1", or "/device:CPU:1"; NULL for anything else.
 */
static const char *device_kind(const char *name, int *index) {
    const char *slash = name == NULL ? NULL : strrchr(name, '/');
    const char *start = slash == NULL ? name : slash + 1;
    if (start != NULL && strncmp(start, "device:", 7) == 0)
        start += 7;
    for (int k = 0; start != NULL && k < NUM_KINDS; k++) {
        size_t size = strlen(kinds[k]);
        char *end = NULL;
        if (strncmp(start, kinds[k], size) != 0 || start[size] != ':')
            continue;
        long number = strtol(start + size + 1, &end, 10);
        if (end == start + size + 1 || *end != '\0' || number < 0 || number > 1 << 20)
            return NULL;
        *index = (int)number;
        return kinds[k];
    }
    return NULL;
}

/* Opens device `i` of the names beside those before it. */
static leat_status open_device(const char *const *names, int i, leati_device **devices,
                               leat_error *err) {
    int index = i;
    const char *kind = names == NULL ? kinds[0] : device_kind(names[i], &index);
    if (kind == NULL) {
        return leati_refuse(err, VALUE,
                            "device \"%s\"; expected a name such as \"CPU:0\" or \"GPU:0\"",
                            names[i] == NULL ? "(null)" : names[i]);
    }
    for (int j = 0; j < i; j++)
        if (devices[j]->index == index && strcmp(devices[j]->ops->kind, kind) == 0)
            return leati_refuse(err, VALUE, "device %s:%d is named twice", kind, index);
    /* The caller's `err` may be NULL, and its code is the status. */
    leat_error local = {0};
    devices[i] = kind == kinds[0] ? leati_strategy_logical_cpu_open(index, &local)
                                  : leati_device_pjrt_new(kind, index, &local);
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
