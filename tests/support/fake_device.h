/* A device with memory of its own, for tests: its buffers point at pages that nobody may touch, and
 * their contents lie elsewhere, scrambled. Code that takes device memory for host memory crashes;
 * code that takes host memory for device memory is refused with a text.
 *
 * It downloads the inputs and the variables, runs the reference interpreter, and uploads. */
#ifndef FAKE_DEVICE_H
#define FAKE_DEVICE_H

#include "exec/device.h"

/* A device "GPU:index". Owned (ops->close; all its buffers must be gone). */
leati_device *fake_device_new(int index, leat_error *err);

/* Bytes of device memory that are alive, and transfers in either direction so far. */
size_t fake_device_bytes(const leati_device *device);
int64_t fake_device_transfers(const leati_device *device);

#endif
