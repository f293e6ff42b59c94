/* Logical CPU devices: some cores of the process, host memory, and the steps of this room.
 *
 * Happy path: a device remembers which cores of the process's mask are its own; the first step that
 * a thread runs on it pins the thread there, and gives oneDNN that many threads, so that the
 * workers of OpenMP, which start with the first parallel primitive, inherit the cores. Failures: no
 * memory; a core that does not exist. Locks: none; the process's mask is read once. */
#include "exec/cpu/cpu.h"

#include "base/error.h"
#include "run/crew.h"
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct cpu_device {
    leati_device base; /* first */
    uint64_t serial;   /* tells devices apart that had the same address */
} cpu_device;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static cpu_set_t process_mask;    /* written once */
static atomic_bool plain_only;    /* leati_device_cpu_use_plain_kernels */
static bool plain_by_environment; /* written once */
static atomic_uint_least64_t next_serial = 1;
static _Thread_local uint64_t entered; /* the device that this thread is set up for */
static _Thread_local bool pinned;      /* own_mask holds what the thread had before */
static _Thread_local cpu_set_t own_mask;
static _Thread_local int own_threads; /* of OpenMP, before; 0: nothing to restore */

static void read_process(void) {
    if (sched_getaffinity(0, sizeof process_mask, &process_mask) != 0)
        CPU_ZERO(&process_mask);
    const char *kernels = getenv("LEAT_CPU_KERNELS");
    plain_by_environment = kernels != NULL && strcmp(kernels, "plain") == 0;
}

void leati_device_cpu_use_plain_kernels(bool plain) {
    atomic_store(&plain_only, plain);
}

bool leati_cpu_plain_only(void) {
    pthread_once(&once, read_process);
    return plain_by_environment || atomic_load(&plain_only);
}

/* Cores [first, first + count) of the process's mask; false if there are not so many. */
static bool pick_cores(int first, int count, cpu_set_t *out) {
    CPU_ZERO(out);
    for (int core = 0, seen = 0; core < CPU_SETSIZE && count > 0; core++) {
        if (!CPU_ISSET(core, &process_mask) || seen++ < first)
            continue;
        CPU_SET(core, out);
        count--;
    }
    return count == 0;
}

static void give_threads(const leati_device *device) {
    if (device->num_threads > 1)
        leati_crew_share_cores();
    int before = leati_cpu_set_threads(device->num_threads);
    own_threads = own_threads > 0 ? own_threads : before;
}

void leati_cpu_enter(const leati_device *device, bool brief) {
    uint64_t serial = ((const cpu_device *)(const void *)device)->serial;
    if (entered == serial)
        return;
    if (brief) {
        give_threads(device);
        return;
    }
    cpu_set_t cores;
    /* A refused mask (a cgroup has changed) costs speed, not results. */
    if (device->first_core >= 0 && pick_cores(device->first_core, device->num_threads, &cores)) {
        pinned = pinned || pthread_getaffinity_np(pthread_self(), sizeof own_mask, &own_mask) == 0;
        (void)pthread_setaffinity_np(pthread_self(), sizeof cores, &cores);
    }
    give_threads(device);
    entered = serial;
}

static void cpu_leave(leati_device *device) {
    (void)device;
    if (pinned)
        (void)pthread_setaffinity_np(pthread_self(), sizeof own_mask, &own_mask);
    if (own_threads > 0)
        (void)leati_cpu_set_threads(own_threads);
    own_threads = 0;
    pinned = false;
    entered = 0;
}

static void cpu_close(leati_device *device) {
    leati_free(device);
}

static leat_status cpu_alloc(leati_device *device, leat_dtype dtype, const leat_shape *shape,
                             leat_buffer **out, leat_error *err) {
    (void)device;
    leat_tensor tensor = leat_tensor_view(dtype, *shape, NULL);
    *out = leat_buffer_new(leat_tensor_bytes(&tensor), err);
    return *out != NULL ? LEAT_OK : LEAT_RESOURCE_EXHAUSTED;
}

static leat_status cpu_upload(leati_device *device, const void *host, leat_buffer *to, size_t size,
                              leat_error *err) {
    (void)device, (void)err;
    if (size > 0)
        memcpy(to->data, host, size);
    return LEAT_OK;
}

static leat_status cpu_download(leati_device *device, const leat_buffer *from, void *host,
                                size_t size, leat_error *err) {
    (void)device, (void)err;
    if (size > 0)
        memcpy(host, from->data, size);
    return LEAT_OK;
}

static const leati_device_ops cpu_ops = {
    .kind = "CPU",
    .close = cpu_close,
    .alloc = cpu_alloc,
    .upload = cpu_upload,
    .download = cpu_download,
    .compile = leati_cpu_compile,
    .run = leati_cpu_run,
    .release = leati_cpu_release,
    .leave = cpu_leave,
    .explain = leati_cpu_explain,
};

leati_device *leati_device_cpu_new(int index, int num_threads, int first_core, leat_error *err) {
    pthread_once(&once, read_process);
    cpu_set_t cores;
    if (num_threads < 1 || (first_core >= 0 && !pick_cores(first_core, num_threads, &cores))) {
        leati_refuse(err, VALUE,
                     "CPU:%d would have %d cores from core %d on; the process may use %d cores",
                     index, num_threads, first_core, CPU_COUNT(&process_mask));
        return NULL;
    }
    cpu_device *device = leati_alloc_zero(1, sizeof *device);
    if (device == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    device->base = (leati_device){.ops = &cpu_ops,
                                  .host_memory = true,
                                  .index = index,
                                  .num_threads = num_threads,
                                  .first_core = first_core};
    snprintf(device->base.name, sizeof device->base.name, "CPU:%d", index);
    device->serial = atomic_fetch_add(&next_serial, 1);
    return &device->base;
}
