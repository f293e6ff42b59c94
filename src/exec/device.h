/* Devices behind one vtable: allocate, copy, compile a function of static shapes into a step, run
 * it on replicas.
 *
 * exec/cpu is the host (oneDNN or plain kernels); the tests own a fake device with separate memory,
 * so that code which confuses host and device memory fails without an accelerator. */
#ifndef LEATI_EXEC_DEVICE_H
#define LEATI_EXEC_DEVICE_H

#include "core/buffer.h"
#include "graph/graph.h"
#include "graph/variable.h"

typedef struct leati_device leati_device;
typedef struct leati_executable leati_executable;
struct leati_collective;

/* One execution on one replica. Inputs and outputs are in component order; buffers lie on the
 * device. */
typedef struct leati_run_args {
    const leat_tensor *inputs; /* owner's device is this device; borrowed */
    int num_inputs;
    leat_tensor *outputs; /* filled: owned, on the device */
    int num_outputs;
    const leati_call_context *context; /* step, replica, collective */
    bool brief; /* the run is too short for giving the calling thread the device's cores */
} leati_run_args;

typedef struct leati_device_ops {
    const char *kind; /* "CPU", "GPU" */
    void (*close)(leati_device *device);
    /* Owned buffer for a tensor of this dtype and shape, whose `device` field is this device (NULL
     * for the CPU: its memory is host memory). */
    leat_status (*alloc)(leati_device *device, leat_dtype dtype, const leat_shape *shape,
                         leat_buffer **out, leat_error *err);
    leat_status (*upload)(leati_device *device, const void *host, leat_buffer *to, size_t size,
                          leat_error *err);
    leat_status (*download)(leati_device *device, const leat_buffer *from, void *host, size_t size,
                            leat_error *err);
    /* `function` is specialised to static shapes (borrowed). `context` (borrowed for the call) says
     * for which replica, whose copies of variables are bound, and how many bytes are exchanged at
     * once; runs have the same. Owned. UNIMPLEMENTED naming the operation that the device lacks. */
    leat_status (*compile)(leati_device *device, const leat_function *function,
                           const leati_call_context *context, leati_executable **out,
                           leat_error *err);
    /* Synchronous; one run at a time per executable. No allocation in the steady state on the CPU
     * but for the outputs' pool. A run that failed may leave sums over replicas in progress in the
     * executable's memory: abort the collective, and wait for LEATI_EVERY_SUM, before it is run
     * again or released. */
    leat_status (*run)(leati_executable *executable, leati_run_args *args, leat_error *err);
    void (*release)(leati_executable *executable);
    /* The calling thread has finished with the device for now: what `run` changed about the thread
     * (its cores, its OpenMP threads) is as before. Threads of a device's own need not call it. */
    void (*leave)(leati_device *device);
    /* "memory:", bytes that the step's values are given and bytes that any plan would need;
     * "stage:", forward, backward, reduce or update, and nanoseconds so far; then one line per
     * node: operation, implementation ("brgconv:avx512_core", "plain"), nanoseconds so
     * far. May be NULL. */
    size_t (*explain)(const leati_executable *executable, char *text, size_t size);
} leati_device_ops;

struct leati_device {
    const leati_device_ops *ops;
    char name[32]; /* "CPU:0" */
    int index;
    bool host_memory; /* its buffers are host memory (device field NULL): host tensors need no
                         upload */
    int num_threads;  /* cores of this logical device */
    int first_core;   /* they are [first_core, first_core + num_threads) of the process's mask; -1:
                         not pinned */
};

/* The first member of every device's executable. */
struct leati_executable {
    leati_device *device; /* borrowed */
};

/* A logical CPU device: `num_threads` cores from `first_core`. Owned (ops->close). */
leati_device *leati_device_cpu_new(int index, int num_threads, int first_core, leat_error *err);

/* ---- PJRT plug-ins (exec/pjrt) ---- */

typedef struct leati_device_pjrt_info {
    int num_devices;
    const char *platform, *version, *path; /* static */
} leati_device_pjrt_info;

/* What the plug-in for "GPU", "TPU" or "XLA_CPU" has, which is loaded. NOT_FOUND without one. Any
 * thread. */
LEAT_WARN_UNUSED leat_status leati_device_pjrt_find(const char *kind, leati_device_pjrt_info *out,
                                                    leat_error *err);
/* A device of it. Owned (ops->close). */
leati_device *leati_device_pjrt_new(const char *kind, int index, leat_error *err);
/* A folder such as site-packages in which plug-ins are looked for; the first one wins. */
LEAT_WARN_UNUSED leat_status leati_device_pjrt_search(const char *folder, leat_error *err);
/* How many devices XLA_CPU makes of the host; 1 at first. FAILED_PRECONDITION once it is loaded. */
LEAT_WARN_UNUSED leat_status leati_device_pjrt_set_cpus(int count, leat_error *err);

/* Options of exec/cpu, process-wide, for tests: only plain kernels (also chosen by the environment
 * LEAT_CPU_KERNELS=plain). */
void leati_device_cpu_use_plain_kernels(bool plain);

#endif
