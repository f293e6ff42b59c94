/* Appending one block to another: what batches of unknown shapes, shuffle and window keep.
 *
 * Columns whose rows agree in shape are gathered into one strided buffer with room to grow; the
 * next append then writes behind the last row if the buffer has no other owner. Other columns
 * become arrays of tensors with room in the same way. Strings are made compact first, so what is
 * kept pins at most about twice its bytes. All columns are built before `to` changes, so a failure
 * leaves it as it was: rows written behind the last one are nobody's.
 *
 * Failures: RESOURCE_EXHAUSTED, INTERNAL (blocks of different specs). No locks. */
#include "core/block.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "core/object.h"
#include <string.h>

struct append {
    const leati_column *to;
    int64_t to_n;
    const leati_column *from;
    int64_t from_n;
};

static bool is_constant(const leati_column *column) {
    return column->form == LEATI_STRIDED && column->stride == 0;
}

static bool same_row_shape(const leati_column *a, const leati_column *b) {
    if (a->form == LEATI_TENSORS || b->form == LEATI_TENSORS)
        return false;
    leat_shape left = leati_column_row_shape(a, 0);
    leat_shape right = leati_column_row_shape(b, 0);
    return leati_shape_equal(&left, &right);
}

/* Is the memory behind to's last row free for `bytes` more? Only memory that an append made
 * (`filled` says how far) and that nobody else can see. */
static bool has_room(const leati_column *to, const char *end, size_t bytes) {
    const leat_buffer *owner = to->owner;
    return leati_buffer_sole_owner(owner) && owner->filled > 0 &&
           end == (const char *)owner->data + owner->filled && bytes <= owner->size - owner->filled;
}

/* How many rows a new buffer gets: twice what is kept now, at least what is needed. */
static int64_t grown(const struct append *job) {
    int64_t needed = job->to_n + job->from_n;
    /* Doubling, so that n appends copy each row a constant number of times. */
    return LEATI_MAX(2 * job->to_n, needed);
}

/* A buffer with the rows of `to` and room for more. */
static leat_status new_rows(const struct append *job, size_t row_bytes, leat_buffer **out,
                            leat_error *err) {
    size_t bytes;
    if (!leati_mul_size((size_t)grown(job), row_bytes, &bytes))
        return leati_no_memory(err);
    leat_buffer *owner = job->to->dtype == LEAT_OBJECT
                             ? leati_buffer_of_objects((int64_t)(bytes / sizeof(void *)), err)
                             : leat_buffer_new(bytes, err);
    if (owner == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    /* Only headers of strings are copied: the buffer keeps alive what they point into. */
    leat_status status = leati_column_hold(job->to, 0, job->to_n, owner, err);
    if (status != LEAT_OK) {
        leat_buffer_unref(owner);
        return status;
    }
    leati_column_gather(job->to, 0, job->to_n, owner->data, (int64_t)row_bytes);
    owner->filled = (size_t)job->to_n * row_bytes;
    *out = owner;
    return LEAT_OK;
}

static leat_status append_rows(const struct append *job, leati_column *out, leat_error *err) {
    const leati_column *to = job->to;
    /* Both repeat one value, so the joined column does; how often is the block's number of rows. */
    if (is_constant(to) && is_constant(job->from) && to->data == job->from->data) {
        leati_column_copy(to, out);
        return LEAT_OK;
    }
    size_t row_bytes = leati_column_row_bytes(to);
    size_t bytes;
    if (!leati_mul_size((size_t)job->from_n, row_bytes, &bytes))
        return leati_no_memory(err);
    leat_buffer *owner = NULL;
    char *data;
    const char *end = to->data + job->to_n * to->stride;
    /* A selected or spread column has no place behind its last row. */
    bool in_place =
        to->form == LEATI_STRIDED && to->stride == (int64_t)row_bytes && has_room(to, end, bytes);
    if (in_place) {
        owner = leat_buffer_ref(to->owner);
        data = to->data;
    } else {
        leat_status status = new_rows(job, row_bytes, &owner, err);
        if (status != LEAT_OK)
            return status;
        data = owner->data;
    }
    leat_status status = leati_column_hold(job->from, 0, job->from_n, owner, err);
    if (status != LEAT_OK) {
        leat_buffer_unref(owner);
        return status;
    }
    leati_column_gather(job->from, 0, job->from_n, data + job->to_n * (int64_t)row_bytes,
                        (int64_t)row_bytes);
    leat_shape shape = leati_column_row_shape(to, 0);
    leati_column_strided(out, to->dtype, &shape, data, (int64_t)row_bytes, owner);
    return LEAT_OK;
}

static void put_tensors(const leati_column *column, int64_t n, leat_tensor *target) {
    for (int64_t i = 0; i < n; i++) {
        /* An append that failed later may have left a tensor behind the last row. */
        leat_tensor_unref(&target[i]);
        target[i] = leati_column_tensor(column, i);
    }
}

static leat_status append_tensors(const struct append *job, leati_column *out, leat_error *err) {
    const leati_column *to = job->to;
    const char *end = (const char *)(to->form == LEATI_TENSORS ? to->tensors + job->to_n : NULL);
    leat_buffer *owner;
    leat_tensor *tensors;
    if (end != NULL && has_room(to, end, (size_t)job->from_n * sizeof(leat_tensor))) {
        owner = leat_buffer_ref(to->owner);
        tensors = (leat_tensor *)(uintptr_t)to->tensors;
    } else {
        owner = leati_buffer_of_tensors(grown(job), err);
        if (owner == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
        tensors = owner->data;
        put_tensors(to, job->to_n, tensors);
        owner->filled = (size_t)job->to_n * sizeof(leat_tensor);
    }
    put_tensors(job->from, job->from_n, tensors + job->to_n);
    leati_column_tensors(out, to->dtype, owner);
    /* In place the rows may begin behind the buffer's first tensor. */
    out->tensors = tensors;
    return LEAT_OK;
}

/* The column that holds both; owned by `out` beside the old one. */
static leat_status append_column(const struct append *job, leati_column *out, leat_error *err) {
    if (job->to->dtype != job->from->dtype)
        return leati_fail(err, LEAT_INTERNAL, "cannot append a column of %s to one of %s",
                          leat_dtype_name(job->from->dtype), leat_dtype_name(job->to->dtype));
    bool uniform = same_row_shape(job->to, job->from);
    if (job->from->dtype != LEAT_STRING)
        return uniform ? append_rows(job, out, err) : append_tensors(job, out, err);
    /* A copy of the column, since `from` is the caller's and stays as it is. */
    leati_column compact;
    leati_column_copy(job->from, &compact);
    leat_status status = leati_column_compact(&compact, job->from_n, err);
    if (status == LEAT_OK) {
        struct append strings = *job;
        strings.from = &compact;
        status = uniform ? append_rows(&strings, out, err) : append_tensors(&strings, out, err);
    }
    leati_column_fini(&compact);
    return status;
}

/* Marks how far the appended buffers are filled, now that nothing can fail. A constant's buffer is
 * not one of them and may be shared. */
static void commit(leati_column *column, int64_t n) {
    leat_buffer *owner = column->owner;
    /* Rows without bytes (stride 0) count as constants here, too. */
    if (is_constant(column) || owner->filled == 0)
        return;
    const char *end = column->form == LEATI_TENSORS ? (const char *)(column->tensors + n)
                                                    : column->data + n * column->stride;
    owner->filled = (size_t)(end - (const char *)owner->data);
}

/* The origins of both, if they are of one table; else they are forgotten. Nothing fails for their
 * sake. */
static void append_origins(const leati_block *to, const leati_block *from, leati_block *joined) {
    const leati_column *a = &to->origins, *b = &from->origins;
    struct append job = {.to = a, .to_n = to->n, .from = b, .from_n = from->n};
    if (a->data == NULL || b->data == NULL || a->owner->num_holds != 1 ||
        b->owner->num_holds != 1 || a->owner->holds[0] != b->owner->holds[0])
        return;
    /* Origins only make errors better: without memory for them the rows are appended all the
     * same. */
    leat_error unwanted, *e = leati_error_unwanted(&unwanted);
    if (append_rows(&job, &joined->origins, e) != LEAT_OK)
        joined->origins = (leati_column){0};
    else if (joined->origins.owner != a->owner &&
             leati_buffer_hold(joined->origins.owner, a->owner->holds[0], e) != LEAT_OK)
        leati_column_fini(&joined->origins);
}

leat_status leati_block_append(leati_block *to, const leati_block *from, leat_error *err) {
    if (from->n == 0)
        return LEAT_OK;
    /* No copy: what is kept at first is a view, and the second append makes memory of its own. */
    if (to->n == 0)
        return leati_block_slice(from, 0, from->n, to, err);
    if (to->num_columns != from->num_columns)
        return leati_fail(err, LEAT_INTERNAL, "cannot append %d columns to %d",
                          (int)from->num_columns, (int)to->num_columns);
    leati_block joined = {0};
    leat_status status = leati_block_prepare(&joined, to->num_columns, err);
    for (int32_t c = 0; status == LEAT_OK && c < to->num_columns; c++) {
        struct append job = {
            .to = &to->columns[c], .to_n = to->n, .from = &from->columns[c], .from_n = from->n};
        status = append_column(&job, &joined.columns[c], err);
    }
    if (status == LEAT_OK) {
        append_origins(to, from, &joined);
        joined.n = to->n + from->n;
        if (joined.origins.data != NULL)
            commit(&joined.origins, joined.n);
        for (int32_t c = 0; c < joined.num_columns; c++)
            commit(&joined.columns[c], joined.n);
        leati_block_move(&joined, to);
    }
    leati_block_fini(&joined);
    return status;
}
