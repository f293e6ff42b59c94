/* See fake_device.h. A buffer's `data` is a reserved range of addresses without access rights; its
 * context is the shadow that holds the bytes, each combined with 0x5A. During a run the variables'
 * copies of this replica are exchanged for host buffers. No locks but atomics for the counts. */
#include "fake_device.h"

#include "base/error.h"
#include "core/spec.h"
#include "graph/body.h"
#include "graph/interpret.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define SCRAMBLE 0x5A
#define MAX_VARIABLES 64

typedef struct fake_device {
    leati_device base; /* first */
    atomic_size_t bytes;
    atomic_llong transfers;
} fake_device;

struct shadow {
    fake_device *device;
    size_t mapped;
    unsigned char bytes[];
};

static fake_device *fake(leati_device *device) {
    return (fake_device *)(void *)device;
}

size_t fake_device_bytes(const leati_device *device) {
    return atomic_load(&fake((leati_device *)(uintptr_t)device)->bytes);
}

int64_t fake_device_transfers(const leati_device *device) {
    return atomic_load(&fake((leati_device *)(uintptr_t)device)->transfers);
}

/* ---- memory ---- */

static void release_buffer(void *context, void *data, size_t size) {
    struct shadow *shadow = context;
    atomic_fetch_sub(&shadow->device->bytes, size);
    (void)munmap(data, shadow->mapped);
    leati_free(shadow);
}

static leat_status fake_alloc(leati_device *device, leat_dtype dtype, const leat_shape *shape,
                              leat_buffer **out, leat_error *err) {
    leat_tensor tensor = leat_tensor_view(dtype, *shape, NULL);
    size_t size = leat_tensor_bytes(&tensor);
    struct shadow *shadow = leati_alloc(1, sizeof *shadow + size);
    if (shadow == NULL)
        return leati_no_memory(err);
    shadow->device = fake(device);
    shadow->mapped = size ? size : 1;
    memset(shadow->bytes, 0xEE, size);
    void *data = mmap(NULL, shadow->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) {
        leati_free(shadow);
        return leati_no_memory(err);
    }
    atomic_fetch_add(&shadow->device->bytes, size);
    leat_buffer *buffer = leat_buffer_adopt(data, size, release_buffer, shadow, err);
    if (buffer == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    buffer->device = device;
    *out = buffer;
    return LEAT_OK;
}

/* The shadow of `size` bytes at `data` in a buffer of this device. */
static leat_status find_shadow(leati_device *device, const leat_buffer *buffer, const void *data,
                               size_t size, unsigned char **out, leat_error *err) {
    if (buffer == NULL || buffer->device != device)
        return leati_fail(err, LEAT_INTERNAL, "%s was given memory of %s", device->name,
                          buffer != NULL && buffer->device != NULL ? "another device" : "the host");
    size_t offset = (size_t)((const char *)data - (const char *)buffer->data);
    if (offset > buffer->size || size > buffer->size - offset)
        return leati_fail(err, LEAT_INTERNAL, "%zu bytes at %zu of a buffer of %zu", size, offset,
                          buffer->size);
    *out = ((struct shadow *)buffer->context)->bytes + offset;
    atomic_fetch_add(&fake(device)->transfers, 1);
    return LEAT_OK;
}

static leat_status download_at(leati_device *device, const leat_buffer *from, const void *data,
                               void *host, size_t size, leat_error *err) {
    unsigned char *bytes = NULL;
    leat_status status = find_shadow(device, from, data, size, &bytes, err);
    for (size_t i = 0; status == LEAT_OK && i < size; i++)
        ((unsigned char *)host)[i] = bytes[i] ^ SCRAMBLE;
    return status;
}

static leat_status fake_upload(leati_device *device, const void *host, leat_buffer *to, size_t size,
                               leat_error *err) {
    unsigned char *bytes = NULL;
    leat_status status = find_shadow(device, to, to->data, size, &bytes, err);
    for (size_t i = 0; status == LEAT_OK && i < size; i++)
        bytes[i] = ((const unsigned char *)host)[i] ^ SCRAMBLE;
    return status;
}

static leat_status fake_download(leati_device *device, const leat_buffer *from, void *host,
                                 size_t size, leat_error *err) {
    return download_at(device, from, from->data, host, size, err);
}

/* ---- steps ---- */

typedef struct fake_step {
    leati_executable base; /* first */
    leat_function *function;
    int replica;
    leat_variable *variables[MAX_VARIABLES]; /* that the function touches; borrowed from it */
    leat_buffer *copies[MAX_VARIABLES];      /* on the device, while host buffers stand in */
    int num_variables;
} fake_step;

static leat_status find_variables(fake_step *step, const leat_function *function, leat_error *err) {
    for (size_t n = 0; n < function->body.num_nodes; n++) {
        const leati_node *node = &function->body.nodes[n];
        const leati_row *rows = node->op->rows;
        for (const leati_row *row = rows; row != NULL && row->type != LEATI_ROW_END; row++) {
            void *value = *(void **)(void *)((char *)node->args + row->offset);
            if (row->type == LEATI_ROW_FUNCTION && value != NULL &&
                find_variables(step, value, err) != LEAT_OK)
                return LEAT_UNIMPLEMENTED;
            if (row->type != LEATI_ROW_OBJECT || !leati_variable_is_object(value))
                continue;
            int at = 0;
            while (at < step->num_variables && step->variables[at] != value)
                at++;
            if (at == MAX_VARIABLES)
                return leati_fail(err, LEAT_UNIMPLEMENTED, "more than %d variables", MAX_VARIABLES);
            step->variables[at] = value;
            step->num_variables += at == step->num_variables;
        }
    }
    return LEAT_OK;
}

static void fake_release(leati_executable *executable) {
    fake_step *step = (fake_step *)(void *)executable;
    if (step == NULL)
        return;
    leat_function_unref(step->function);
    leati_free(step);
}

static leat_status fake_compile(leati_device *device, const leat_function *function,
                                const leati_call_context *context, leati_executable **out,
                                leat_error *err) {
    for (size_t v = 0; v < function->body.num_values; v++)
        if (!leati_shape_is_static(&function->body.values[v].type.shape))
            return leati_fail(err, LEAT_UNIMPLEMENTED, "value %zu has no static shape", v);
    fake_step *step = leati_alloc_zero(1, sizeof *step);
    if (step == NULL)
        return leati_no_memory(err);
    step->base.device = device;
    step->replica = context->replica - context->first_replica;
    step->function = leat_function_ref((leat_function *)(uintptr_t)function);
    leat_status status = find_variables(step, function, err);
    if (status != LEAT_OK)
        fake_release(&step->base);
    else
        *out = &step->base;
    return status;
}

/* Puts a host copy in the place of variable i's copy of this replica. */
static leat_status borrow_variable(fake_step *step, int i, leat_error *err) {
    leat_variable *variable = step->variables[i];
    int copy = step->replica < variable->num_copies ? step->replica : 0;
    leat_buffer *there = variable->copies[copy];
    leat_buffer *here = leat_buffer_new(there->size, err);
    if (here == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status =
        download_at(step->base.device, there, there->data, here->data, there->size, err);
    if (status != LEAT_OK) {
        leati_prefix(err, "variable %s", variable->name);
        leat_buffer_unref(here);
        return status;
    }
    step->copies[i] = there;
    variable->copies[copy] = here;
    return LEAT_OK;
}

static leat_status return_variable(fake_step *step, int i, leat_error *err) {
    leat_variable *variable = step->variables[i];
    int copy = step->replica < variable->num_copies ? step->replica : 0;
    leat_buffer *here = variable->copies[copy];
    variable->copies[copy] = step->copies[i];
    leat_status status =
        fake_upload(step->base.device, here->data, step->copies[i], here->size, err);
    leat_buffer_unref(here);
    return status;
}

static leat_status load_input(leati_device *device, const leat_tensor *from, leat_tensor *to,
                              leat_error *err) {
    leat_status status = leat_tensor_new(from->dtype, leat_tensor_shape(from), to, err);
    if (status != LEAT_OK)
        return status;
    status = download_at(device, from->owner, from->data, to->data, leat_tensor_bytes(to), err);
    if (status != LEAT_OK)
        leat_tensor_unref(to);
    return status;
}

static leat_status store_output(leati_device *device, const leat_tensor *from, leat_tensor *to,
                                leat_error *err) {
    leat_buffer *buffer = NULL;
    size_t size = leat_tensor_bytes(from);
    leat_status status = fake_alloc(device, LEAT_UINT8, &LEAT_SHAPE((int64_t)size), &buffer, err);
    if (status == LEAT_OK)
        status = fake_upload(device, from->data, buffer, size, err);
    if (status != LEAT_OK) {
        leat_buffer_unref(buffer);
        return status;
    }
    *to = *from;
    to->data = buffer->data;
    to->owner = buffer;
    return LEAT_OK;
}

/* Interprets on host tensors, between download and upload. */
static leat_status run_on_host(fake_step *step, leati_run_args *args, const leat_tensor *inputs,
                               leat_error *err) {
    leat_tensor outputs[LEAT_MAX_OUTPUTS];
    leat_status status = LEAT_OK, upload = LEAT_OK;
    int borrowed = 0, stored = 0;
    while (status == LEAT_OK && borrowed < step->num_variables) {
        status = borrow_variable(step, borrowed, err);
        borrowed += status == LEAT_OK;
    }
    if (status == LEAT_OK)
        status = leati_interpret(step->function, inputs, args->context, outputs, err);
    bool ran = status == LEAT_OK;
    for (int i = 0; i < borrowed; i++)
        upload = return_variable(step, i, err) != LEAT_OK ? LEAT_INTERNAL : upload;
    status = status != LEAT_OK ? status : upload;
    while (status == LEAT_OK && stored < args->num_outputs) {
        status = store_output(step->base.device, &outputs[stored], &args->outputs[stored], err);
        stored += status == LEAT_OK;
    }
    for (int i = 0; ran && i < args->num_outputs; i++)
        leat_tensor_unref(&outputs[i]);
    while (status != LEAT_OK && stored > 0)
        leat_tensor_unref(&args->outputs[--stored]);
    return status;
}

static leat_status fake_run(leati_executable *executable, leati_run_args *args, leat_error *err) {
    fake_step *step = (fake_step *)(void *)executable;
    int32_t arguments = step->function->body.num_arguments;
    if (args->num_inputs != arguments || args->num_outputs != step->function->num_outputs)
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "%d inputs and %d outputs for %d and %d",
                          args->num_inputs, args->num_outputs, (int)arguments,
                          (int)step->function->num_outputs);
    leat_tensor *inputs = leati_alloc((size_t)arguments, sizeof *inputs);
    if (inputs == NULL)
        return leati_no_memory(err);
    leat_status status = LEAT_OK;
    int loaded = 0;
    while (status == LEAT_OK && loaded < arguments) {
        status = load_input(step->base.device, &args->inputs[loaded], &inputs[loaded], err);
        loaded += status == LEAT_OK;
    }
    if (status == LEAT_OK)
        status = run_on_host(step, args, inputs, err);
    while (loaded > 0)
        leat_tensor_unref(&inputs[--loaded]);
    leati_free(inputs);
    return status;
}

static void fake_close(leati_device *device) {
    leati_free(device);
}

static const leati_device_ops fake_ops = {.kind = "GPU",
                                          .close = fake_close,
                                          .alloc = fake_alloc,
                                          .upload = fake_upload,
                                          .download = fake_download,
                                          .compile = fake_compile,
                                          .run = fake_run,
                                          .release = fake_release};

leati_device *fake_device_new(int index, leat_error *err) {
    fake_device *device = leati_alloc_zero(1, sizeof *device);
    if (device == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    device->base =
        (leati_device){.ops = &fake_ops, .index = index, .num_threads = 1, .first_core = -1};
    snprintf(device->base.name, sizeof device->base.name, "GPU:%d", index);
    return &device->base;
}
