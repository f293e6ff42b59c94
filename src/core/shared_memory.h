/* Memory of large buffers that other processes of the host may read: where somebody uses it, the
 * data of buffers of 64 KiB and more lie in segments without a name (memfd), which a process that
 * is handed the descriptor can map for reading. So what is to go to another process is there
 * already when it was made.
 *
 * A segment has a fixed size, which nobody can change (sealed), so that whoever maps it never
 * reaches behind its end, and nobody but this process can map it for writing. Segments go when
 * nothing lies in them and another one has room; one is kept. */
#ifndef LEATI_CORE_SHARED_MEMORY_H
#define LEATI_CORE_SHARED_MEMORY_H

#include <leat/base.h>

enum { LEATI_SHARED_MEMORY_LEAST = 64 << 10 /* bytes; smaller buffers lie elsewhere */ };

/* Begins to put new buffers there, `most` bytes in all, until the last user leaves. What lies there
 * stays until its buffer goes. UNIMPLEMENTED where the system has no such memory. Thread-safe, as
 * all that follows. */
LEAT_WARN_UNUSED leat_status leati_shared_memory_use(size_t most, leat_error *err);
void leati_shared_memory_leave(void);

/* For core/buffer.c. A part of a segment. */
typedef struct leati_shared_memory_part leati_shared_memory_part;
/* `size` bytes, aligned to 4 KiB, as they were left. Owned; NULL: nobody uses shared memory, or
 * there is none left. */
leati_shared_memory_part *leati_shared_memory_take(size_t size, void **data);
void leati_shared_memory_give(leati_shared_memory_part *part);
/* May this process write there? Not in a part that is its parent's, before a fork. */
bool leati_shared_memory_is_own(const leati_shared_memory_part *part);

typedef struct leati_shared_memory_place {
    uint64_t segment;    /* its number, which no other one of this process ever has */
    size_t segment_size; /* bytes */
    size_t offset;       /* in the segment */
    int file;            /* of the segment; borrowed, open as long as what lies at the place */
} leati_shared_memory_place;
/* Where `data` lies, of a buffer that the caller holds; false: not in shared memory. */
bool leati_shared_memory_find(const void *data, size_t size, leati_shared_memory_place *out);
/* Is there still a segment of this number? */
bool leati_shared_memory_has(uint64_t segment);
/* Somebody may go on reading the part in which `data` lies, and nobody will hear when he stops: it
 * is never written again. Its memory goes with the segment. */
void leati_shared_memory_retire(const void *data);
/* Bytes of all segments now: for tests. */
size_t leati_shared_memory_bytes(void);

#endif
