/* Errors and memory of libjpeg; see the header.
 *
 * Memory: libjpeg asks for small and large objects, for arrays of rows, and for "virtual" arrays
 * that hold all coefficients of a picture with several scans. Rows are aligned and padded as
 * libjpeg's own manager does it, since the SIMD code reads and writes whole vectors. What libjpeg
 * allocated while it was being created stays with its own manager, which has no hook for that.
 * Failures jump; no locks. */
#include "image/jpeg_guard.h"

#include "base/error.h"
#include <inttypes.h>
#include <string.h>

#include <jerror.h>

#define ROW_ALIGNMENT ((size_t)64)
/* SIMD code may touch one vector behind the last row. */
#define SLACK ((size_t)64)
/* An arena that grew beyond this for one large picture is given back after it. */
#define KEEP_LIMIT ((size_t)32 << 20)

/* libjpeg declares this name and leaves its content to the memory manager. */
struct jvirt_barray_control {
    JBLOCKARRAY rows; /* NULL until realised */
    JDIMENSION width, height;
    bool zero;
    struct jvirt_barray_control *next;
};

static leati_jpeg_guard *guard_of(j_common_ptr jpeg) {
    return (leati_jpeg_guard *)(void *)jpeg->err;
}

static void error_exit(j_common_ptr jpeg) {
    longjmp(guard_of(jpeg)->jump, 1);
}

/* Warnings are counted, as TensorFlow does, and not printed. */
static void emit_message(j_common_ptr jpeg, int level) {
    if (level < 0)
        jpeg->err->num_warnings++;
}

static void output_message(j_common_ptr jpeg) {
    (void)jpeg;
}

struct jpeg_error_mgr *leati_jpeg_guard_init(leati_jpeg_guard *guard) {
    struct jpeg_error_mgr *errors = jpeg_std_error(&guard->errors);
    errors->error_exit = error_exit;
    errors->emit_message = emit_message;
    errors->output_message = output_message;
    return errors;
}

void leati_jpeg_guard_refuse(j_common_ptr jpeg, const char *refusal) {
    guard_of(jpeg)->refusal = refusal;
    longjmp(guard_of(jpeg)->jump, 1);
}

void *leati_jpeg_guard_take(j_common_ptr jpeg, size_t size) {
    leati_jpeg_guard *guard = guard_of(jpeg);
    size_t total;
    void *memory =
        leati_add_size(size, SLACK, &total) ? leati_arena_alloc(&guard->arena, total) : NULL;
    if (memory == NULL) {
        guard->missing = size;
        longjmp(guard->jump, 1);
    }
    guard->used += total;
    return memory;
}

/* ---- the functions that libjpeg calls ---- */

static void *alloc_object(j_common_ptr jpeg, int pool, size_t size) {
    (void)pool;
    return leati_jpeg_guard_take(jpeg, size);
}

/* Pointers to `count` rows of `size` bytes each, all in one piece. */
static void **alloc_rows(j_common_ptr jpeg, size_t size, size_t count) {
    size_t bytes;
    if (!leati_mul_size(size, count, &bytes))
        bytes = SIZE_MAX; /* Fails as too large. */
    void **rows = leati_jpeg_guard_take(jpeg, count * sizeof *rows);
    char *samples = leati_jpeg_guard_take(jpeg, bytes);
    for (size_t i = 0; i < count; i++)
        rows[i] = samples + i * size;
    return rows;
}

static JSAMPARRAY alloc_samples(j_common_ptr jpeg, int pool, JDIMENSION width, JDIMENSION height) {
    (void)pool;
    size_t size = ((size_t)width * sizeof(JSAMPLE) + ROW_ALIGNMENT - 1) & ~(ROW_ALIGNMENT - 1);
    return (JSAMPARRAY)(void *)alloc_rows(jpeg, size, height);
}

static JBLOCKARRAY alloc_blocks(j_common_ptr jpeg, int pool, JDIMENSION width, JDIMENSION height) {
    (void)pool;
    return (JBLOCKARRAY)(void *)alloc_rows(jpeg, (size_t)width * sizeof(JBLOCK), height);
}

static jvirt_barray_ptr request_blocks(j_common_ptr jpeg, int pool, boolean zero, JDIMENSION width,
                                       JDIMENSION height, JDIMENSION max_access) {
    (void)pool;
    (void)max_access;
    leati_jpeg_guard *guard = guard_of(jpeg);
    struct jvirt_barray_control *array = leati_jpeg_guard_take(jpeg, sizeof *array);
    *array = (struct jvirt_barray_control){
        .width = width, .height = height, .zero = zero, .next = guard->arrays};
    guard->arrays = array;
    return array;
}

static void realize_arrays(j_common_ptr jpeg) {
    leati_jpeg_guard *guard = guard_of(jpeg);
    for (struct jvirt_barray_control *array = guard->arrays; array != NULL; array = array->next) {
        if (array->rows != NULL)
            continue;
        array->rows = alloc_blocks(jpeg, JPOOL_IMAGE, array->width, array->height);
        if (array->zero && array->height > 0)
            memset(array->rows[0], 0, (size_t)array->width * array->height * sizeof(JBLOCK));
    }
    guard->libjpeg_realize(jpeg);
}

static JBLOCKARRAY access_blocks(j_common_ptr jpeg, jvirt_barray_ptr array, JDIMENSION start,
                                 JDIMENSION count, boolean writable) {
    (void)writable;
    if (array->rows == NULL || start > array->height || count > array->height - start)
        ERREXIT(jpeg, JERR_BAD_VIRTUAL_ACCESS);
    return array->rows + start;
}

/* ---- life ---- */

void leati_jpeg_guard_adopt(leati_jpeg_guard *guard, j_common_ptr jpeg) {
    struct jpeg_memory_mgr *memory = jpeg->mem;
    guard->libjpeg_realize = memory->realize_virt_arrays;
    memory->alloc_small = alloc_object;
    memory->alloc_large = alloc_object;
    memory->alloc_sarray = alloc_samples;
    memory->alloc_barray = alloc_blocks;
    memory->request_virt_barray = request_blocks;
    memory->realize_virt_arrays = realize_arrays;
    memory->access_virt_barray = access_blocks;
}

void leati_jpeg_guard_reset(leati_jpeg_guard *guard) {
    if (guard->used > KEEP_LIMIT)
        leati_arena_fini(&guard->arena);
    else
        leati_arena_reset(&guard->arena);
    guard->used = 0;
    guard->missing = 0;
    guard->refusal = NULL;
    guard->arrays = NULL;
}

void leati_jpeg_guard_fini(leati_jpeg_guard *guard) {
    leati_arena_fini(&guard->arena);
}

leat_status leati_jpeg_guard_failure(leati_jpeg_guard *guard, j_common_ptr jpeg, const char *what,
                                     const char *advice, leat_error *err) {
    if (guard->missing != 0)
        return leati_no_memory(err);
    char message[JMSG_LENGTH_MAX] = "";
    if (guard->refusal != NULL)
        return leati_refuse(err, VALUE, "%s: %s", what, guard->refusal);
    /* libjpeg's own allocations, while it is being created. */
    if (guard->errors.msg_code == JERR_OUT_OF_MEMORY)
        return leati_no_memory(err);
    guard->errors.format_message(jpeg, message);
    if (guard->errors.msg_code == JERR_BAD_PRECISION)
        return leati_refuse(err, VALUE, "JPEG of %d bits a sample: expected 8; convert the picture",
                            guard->errors.msg_parm.i[0]);
    return leati_refuse(err, VALUE, "%s: %s; %s", what, message, advice);
}
