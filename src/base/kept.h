/* Large blocks that were freed and are kept for whoever asks for as much again: the system makes
 * the pages of such memory anew each time, which takes longer than most kernels take to fill them.
 * For alloc.c, which asks here before the C library, and for limits. */
#ifndef LEATI_BASE_KEPT_H
#define LEATI_BASE_KEPT_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes from which a block is kept. */
#define LEATI_KEPT_LEAST ((size_t)128 << 10)

/* A block of at least so many bytes, hardly more, at a multiple of `alignment`; what lies in it is
 * left over. NULL: there is none. Owned, for free or leati_kept_give. Thread-safe. */
void *leati_kept_take(size_t bytes, size_t alignment);
/* Keeps memory of the C library (given) that nobody uses any more; false: it is too small or too
 * large, and still the caller's. Those kept longest are freed where there would be too much.
 * Thread-safe. */
bool leati_kept_give(void *memory);
/* Frees all; false: there was nothing. Thread-safe. */
bool leati_kept_drop(void);
/* The bytes that are kept now. Thread-safe. */
size_t leati_kept_bytes(void);
/* At most so many bytes are kept from now on; SIZE_MAX: as many as at first, 128 MiB or a 32nd of
 * the machine's memory, whichever is less. Thread-safe. */
void leati_kept_set_limit(size_t bytes);

#endif
