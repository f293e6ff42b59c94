/* Places values with known lifetimes in one piece of memory. */
#ifndef LEATI_EXEC_SLAB_H
#define LEATI_EXEC_SLAB_H

#include <leat/base.h>

/* A value that lives from step `begin` to step `end`, both included. */
typedef struct leati_interval {
    int32_t begin, end;
    size_t size;   /* bytes */
    size_t offset; /* filled: a multiple of 64 */
} leati_interval;

/* Chooses offsets so that values which live at the same time do not overlap; *total is the size of
 * the slab. RESOURCE_EXHAUSTED where the sum exceeds the address space. */
LEAT_WARN_UNUSED leat_status leati_slab_plan(leati_interval *intervals, size_t count, size_t *total,
                                             leat_error *err);
/* What any plan needs: the most bytes that live at one time. After leati_slab_plan, which rounds
 * sizes. */
LEAT_WARN_UNUSED leat_status leati_slab_least(const leati_interval *intervals, size_t count,
                                              size_t *least, leat_error *err);

#endif
