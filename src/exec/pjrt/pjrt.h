/* The inside of exec/pjrt: devices of any PJRT plug-in (openxla.org/xla/pjrt).
 *
 * A plug-in is a shared library with one symbol; a client of it, one for the process, has devices.
 * A device's buffers hold arrays of the plug-in, whose `data` no host code reads. */
#ifndef LEATI_EXEC_PJRT_PJRT_H
#define LEATI_EXEC_PJRT_PJRT_H

#include "core/buffer.h"
#include "exec/device.h"

#include <pjrt/pjrt_c_api.h>

/* A plug-in and its client; never closed, because libraries of this size keep threads. Any thread.
 */
typedef struct leati_pjrt_client {
    const char *kind; /* "GPU", "TPU", "XLA_CPU"; static */
    char *path;       /* of the plug-in */
    const PJRT_Api *api;
    PJRT_Client *client;
    PJRT_Device *const *devices; /* of this process */
    int num_devices;
    char platform[32]; /* "cpu", "cuda" */
    char version[64];  /* "PJRT 0.81, StableHLO 1.13.3" */
} leati_pjrt_client;

/* The client of a kind of devices, which is loaded when it is first asked for. NOT_FOUND without a
 * plug-in, UNIMPLEMENTED where it is too old, and what the plug-in says where it has no device:
 * then the next call tries again. */
LEAT_WARN_UNUSED leat_status leati_pjrt_client_get(const char *kind, leati_pjrt_client **out,
                                                   leat_error *err);

/* Arguments of an entry point: the structs of the interface grow, and plug-ins refuse a caller
 * whose struct is smaller than theirs, so ours have zeros behind them. */
enum { LEATI_PJRT_ROOM = 256 };
#define LEATI_PJRT_ARGS(name, var)                                                                 \
    union {                                                                                        \
        char room[sizeof(PJRT_##name##_Args) + LEATI_PJRT_ROOM];                                   \
        PJRT_##name##_Args a;                                                                      \
    }(var) = {{0}};                                                                                \
    (var).a.struct_size = sizeof(var)

/* The status of a call, whose error, if any, is read into err and released. `what` says what was
 * tried. */
LEAT_WARN_UNUSED leat_status leati_pjrt_check(const leati_pjrt_client *client, PJRT_Error *error,
                                              const char *what, leat_error *err);
#define LEATI_PJRT_CALL(client, name, var, what, err)                                              \
    leati_pjrt_check((client), (client)->api->PJRT_##name(&(var).a), (what), (err))
/* A call that releases something: if it fails nothing is to be done. */
void leati_pjrt_drop(const leati_pjrt_client *client, PJRT_Error *error);
#define LEATI_PJRT_DROP(client, name, var)                                                         \
    leati_pjrt_drop((client), (client)->api->PJRT_##name(&(var).a))

/* Waits for the event and destroys it; NULL has come to pass. */
LEAT_WARN_UNUSED leat_status leati_pjrt_wait(const leati_pjrt_client *client, PJRT_Event *event,
                                             const char *what, leat_error *err);
void leati_pjrt_destroy(const leati_pjrt_client *client, PJRT_Buffer *buffer);

/* The dtypes of the interface; PJRT_Buffer_Type_INVALID for what devices do not have. */
PJRT_Buffer_Type leati_pjrt_type(leat_dtype dtype);

/* A program as text, and a serialised xla.CompileOptionsProto. Borrowed. */
typedef struct leati_pjrt_program {
    const char *text;
    size_t text_size;
    const unsigned char *options;
    size_t options_size;
} leati_pjrt_program;

/* The program ready to run: out of the cache that the environment names, or compiled (cache.c).
 * Owned. Any thread. */
LEAT_WARN_UNUSED leat_status leati_pjrt_program_load(const leati_pjrt_client *client,
                                                     const leati_pjrt_program *program,
                                                     PJRT_LoadedExecutable **out, leat_error *err);

typedef struct leati_pjrt_device {
    leati_device base; /* first */
    leati_pjrt_client *client;
    PJRT_Device *device;
    int id; /* of the device among all processes' */
} leati_pjrt_device;

/* What a buffer of such a device is: `context` of the leat_buffer. */
typedef struct leati_pjrt_array {
    leati_pjrt_device *device; /* borrowed: whoever has buffers keeps the device */
    leat_dtype dtype;
    leat_shape shape;
    PJRT_Buffer *buffer; /* NULL before the first upload */
} leati_pjrt_array;

/* The array of a buffer; INTERNAL where it lies elsewhere. */
LEAT_WARN_UNUSED leat_status leati_pjrt_array_of(const leati_pjrt_device *device,
                                                 const leat_buffer *buffer, leati_pjrt_array **out,
                                                 leat_error *err);
/* A device buffer that owns `array` (taken over, even on failure). */
LEAT_WARN_UNUSED leat_status leati_pjrt_adopt(leati_pjrt_device *device, PJRT_Buffer *array,
                                              leat_dtype dtype, const leat_shape *shape,
                                              leat_buffer **out, leat_error *err);

/* The host's bytes, of the array's dtype and shape, become its buffer, which is NULL or another
 * one's; and the other way round, `size` bytes in order of rows. */
LEAT_WARN_UNUSED leat_status leati_pjrt_write(leati_pjrt_device *device, leati_pjrt_array *array,
                                              const void *host, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_pjrt_read(const leati_pjrt_device *device,
                                             const leati_pjrt_array *array, void *host, size_t size,
                                             leat_error *err);

/* The slots of the vtable that step.c has. */
leat_status leati_pjrt_compile(leati_device *device, const leat_function *function,
                               const leati_call_context *context, leati_executable **out,
                               leat_error *err);
leat_status leati_pjrt_run(leati_executable *executable, leati_run_args *args, leat_error *err);
void leati_pjrt_release(leati_executable *executable);
size_t leati_pjrt_explain(const leati_executable *executable, char *text, size_t size);

#endif
