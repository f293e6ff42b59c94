/* What the JPEG decoder and encoder share: errors that come back as leat_status, and libjpeg's
 * memory out of an arena.
 *
 * libjpeg reports an error by a function that must not return; ours jumps back to the caller of the
 * step. libjpeg takes memory through a public table of functions; after creation the guard replaces
 * those that allocate, so that all but the first few hundred bytes come from leati_alloc, and a
 * picture's memory is reset, not freed: the next picture allocates nothing. */
#ifndef LEATI_IMAGE_JPEG_GUARD_H
#define LEATI_IMAGE_JPEG_GUARD_H

#include "base/alloc.h"
#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

typedef struct leati_jpeg_guard {
    struct jpeg_error_mgr errors; /* first: libjpeg's pointer to it leads to the guard */
    jmp_buf jump;                 /* where an error goes; set before each call of libjpeg */
    leati_arena arena;            /* what libjpeg and the codec hold for the current picture */
    size_t used;                  /* bytes taken from the arena for it */
    size_t missing;               /* bytes of the allocation that failed; 0: another error */
    const char *refusal;          /* static text of an error of ours; NULL: libjpeg's message */
    struct jvirt_barray_control *arrays; /* whole-picture arrays of the current picture */
    void (*libjpeg_realize)(j_common_ptr jpeg);
} leati_jpeg_guard;

/* Gives the error manager for a struct that is about to be created. */
struct jpeg_error_mgr *leati_jpeg_guard_init(leati_jpeg_guard *guard);
/* Takes over the memory of a struct that was just created. */
void leati_jpeg_guard_adopt(leati_jpeg_guard *guard, j_common_ptr jpeg);
/* Ends with an error whose text is `refusal` (static): jumps, does not return. */
void leati_jpeg_guard_refuse(j_common_ptr jpeg, const char *refusal) __attribute__((noreturn));
/* Memory of the current picture; jumps if there is none. */
void *leati_jpeg_guard_take(j_common_ptr jpeg, size_t size);
/* Drops all memory of the current picture; libjpeg must have been aborted or destroyed. */
void leati_jpeg_guard_reset(leati_jpeg_guard *guard);
void leati_jpeg_guard_fini(leati_jpeg_guard *guard);
/* After a jump: writes the error, with `what` ("damaged JPEG") before libjpeg's message and
 * `advice` behind it. */
leat_status leati_jpeg_guard_failure(leati_jpeg_guard *guard, j_common_ptr jpeg, const char *what,
                                     const char *advice, leat_error *err);

#endif
