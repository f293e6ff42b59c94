/* Devices of a PJRT plug-in: their memory, behind the vtable.
 *
 * Happy path: a buffer remembers what tensor it is for; an upload makes an array of the plug-in of
 * the host's bytes (arrays cannot be written), and takes the place of the one before; a download
 * asks for rows in order, because the device may have them otherwise. Failures are the plug-in's.
 * No locks: whoever uses a buffer has it. */
#include "exec/pjrt/pjrt.h"

#include "base/alloc.h"
#include "base/error.h"
#include "core/spec.h"
#include <stdio.h>
#include <string.h>

static leati_pjrt_device *own(leati_device *device) {
    return (leati_pjrt_device *)(void *)device;
}

/* ---- buffers ---- */

static void release_array(void *context, void *data, size_t size) {
    leati_pjrt_array *array = context;
    (void)data, (void)size;
    leati_pjrt_destroy(array->device->client, array->buffer);
    leati_free(array);
}

leat_status leati_pjrt_adopt(leati_pjrt_device *device, PJRT_Buffer *buffer, leat_dtype dtype,
                             const leat_shape *shape, leat_buffer **out, leat_error *err) {
    leati_pjrt_array *array = leati_alloc(1, sizeof *array);
    if (array == NULL) {
        leati_pjrt_destroy(device->client, buffer);
        return leati_no_memory(err);
    }
    *array =
        (leati_pjrt_array){.device = device, .dtype = dtype, .shape = *shape, .buffer = buffer};
    /* Its address stands for the data: it belongs to nobody else, and the host never reads it. On
     * failure the array is released. */
    leat_tensor tensor = leat_tensor_view(dtype, *shape, NULL);
    *out = leat_buffer_adopt(array, leat_tensor_bytes(&tensor), release_array, array, err);
    if (*out == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    (*out)->device = device;
    return LEAT_OK;
}

leat_status leati_pjrt_array_of(const leati_pjrt_device *device, const leat_buffer *buffer,
                                leati_pjrt_array **out, leat_error *err) {
    if (buffer == NULL || buffer->device != device)
        return leati_fail(err, LEAT_INTERNAL, "%s was given memory of %s", device->base.name,
                          buffer != NULL && buffer->device != NULL ? "another device" : "the host");
    *out = buffer->context;
    return LEAT_OK;
}

static leat_status alloc(leati_device *device, leat_dtype dtype, const leat_shape *shape,
                         leat_buffer **out, leat_error *err) {
    if (leati_pjrt_type(dtype) == PJRT_Buffer_Type_INVALID)
        return leati_fail(err, LEAT_UNIMPLEMENTED, "%s has no %s tensors; keep them on the host",
                          device->name, leat_dtype_name(dtype));
    return leati_pjrt_adopt(own(device), NULL, dtype, shape, out, err);
}

leat_status leati_pjrt_write(leati_pjrt_device *device, leati_pjrt_array *array, const void *host,
                             leat_error *err) {
    leati_pjrt_client *client = device->client;
    LEATI_PJRT_ARGS(Client_BufferFromHostBuffer, args);
    args.a.client = client->client;
    args.a.data = host;
    args.a.type = leati_pjrt_type(array->dtype);
    args.a.dims = array->shape.dims;
    args.a.num_dims = (size_t)array->shape.rank;
    args.a.host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
    args.a.device = device->device;
    LEATI_TRY(
        LEATI_PJRT_CALL(client, Client_BufferFromHostBuffer, args, "copy to the device", err));
    leat_status status =
        leati_pjrt_wait(client, args.a.done_with_host_buffer, "copy to the device", err);
    if (status != LEAT_OK) {
        leati_pjrt_destroy(client, args.a.buffer);
        return status;
    }
    array->buffer = args.a.buffer;
    return LEAT_OK;
}

leat_status leati_pjrt_read(const leati_pjrt_device *device, const leati_pjrt_array *array,
                            void *host, size_t size, leat_error *err) {
    int64_t order[LEAT_MAX_RANK];
    for (int32_t d = 0; d < array->shape.rank; d++)
        order[d] = array->shape.rank - 1 - d;
    PJRT_Buffer_MemoryLayout layout = {.struct_size = sizeof layout,
                                       .type = PJRT_Buffer_MemoryLayout_Type_Tiled};
    layout.tiled.struct_size = sizeof layout.tiled;
    layout.tiled.minor_to_major = order;
    layout.tiled.minor_to_major_size = (size_t)array->shape.rank;
    LEATI_PJRT_ARGS(Buffer_ToHostBuffer, args);
    args.a.src = array->buffer;
    args.a.host_layout = &layout;
    args.a.dst = host;
    args.a.dst_size = size;
    /* Nothing to copy, and a destination that may be NULL, which would ask for the size. */
    if (size == 0)
        return LEAT_OK;
    LEATI_TRY(LEATI_PJRT_CALL(device->client, Buffer_ToHostBuffer, args, "copy to the host", err));
    return leati_pjrt_wait(device->client, args.a.event, "copy to the host", err);
}

static leat_status upload(leati_device *device, const void *host, leat_buffer *to, size_t size,
                          leat_error *err) {
    leati_pjrt_array *array = NULL;
    LEATI_TRY(leati_pjrt_array_of(own(device), to, &array, err));
    if (size != to->size)
        return leati_fail(err, LEAT_INTERNAL, "%s: %zu bytes for a buffer of %zu", device->name,
                          size, to->size);
    PJRT_Buffer *before = array->buffer;
    LEATI_TRY(leati_pjrt_write(own(device), array, host, err));
    leati_pjrt_destroy(own(device)->client, before);
    return LEAT_OK;
}

static leat_status download(leati_device *device, const leat_buffer *from, void *host, size_t size,
                            leat_error *err) {
    leati_pjrt_array *array = NULL;
    LEATI_TRY(leati_pjrt_array_of(own(device), from, &array, err));
    if (size != from->size || array->buffer == NULL)
        return leati_fail(err, LEAT_INTERNAL, "%s: %zu bytes of a buffer of %zu that holds %s",
                          device->name, size, from->size,
                          array->buffer == NULL ? "nothing" : "an array");
    return leati_pjrt_read(own(device), array, host, size, err);
}

/* ---- devices ---- */

static void close_device(leati_device *device) {
    leati_free(device);
}

static void leave(leati_device *device) {
    (void)device;
}

#define OPS(KIND)                                                                                  \
    {                                                                                              \
        .kind = KIND, .close = close_device, .alloc = alloc, .upload = upload,                     \
        .download = download, .compile = leati_pjrt_compile, .run = leati_pjrt_run,                \
        .release = leati_pjrt_release, .leave = leave, .explain = leati_pjrt_explain,              \
    }
static const leati_device_ops all_ops[] = {OPS("GPU"), OPS("TPU"), OPS("XLA_CPU")};

static leat_status read_id(leati_pjrt_device *device, leat_error *err) {
    LEATI_PJRT_ARGS(Device_GetDescription, description);
    LEATI_PJRT_ARGS(DeviceDescription_Id, id);
    description.a.device = device->device;
    LEATI_TRY(LEATI_PJRT_CALL(device->client, Device_GetDescription, description,
                              "describe a device", err));
    id.a.device_description = description.a.device_description;
    LEATI_TRY(LEATI_PJRT_CALL(device->client, DeviceDescription_Id, id, "number a device", err));
    device->id = id.a.id;
    return LEAT_OK;
}

leati_device *leati_device_pjrt_new(const char *kind, int index, leat_error *err) {
    leati_pjrt_client *client = NULL;
    if (leati_pjrt_client_get(kind, &client, err) != LEAT_OK)
        return NULL;
    if (index < 0 || index >= client->num_devices) {
        leati_refuse(err, VALUE, "device %s:%d does not exist; there %s %d", kind, index,
                     client->num_devices == 1 ? "is" : "are", client->num_devices);
        return NULL;
    }
    leati_pjrt_device *device = leati_alloc_zero(1, sizeof *device);
    if (device == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    size_t k = 0;
    while (strcmp(all_ops[k].kind, client->kind) != 0)
        k++;
    device->base = (leati_device){.ops = &all_ops[k],
                                  .index = index,
                                  .host_memory = false,
                                  .num_threads = 1,
                                  .first_core = -1};
    device->client = client;
    device->device = client->devices[index];
    snprintf(device->base.name, sizeof device->base.name, "%s:%d", client->kind, index);
    if (read_id(device, err) != LEAT_OK) {
        leati_free(device);
        return NULL;
    }
    return &device->base;
}
