/* Gathering the rows of a batch: see gather.h.
 *
 * Happy path: rows of a static shape go to buffers from pools, or stay where they are while they
 * lie one after the other in somebody's memory; others are copied to buffers that grow. Failures:
 * rows of unequal shapes, datasets (INVALID_ARGUMENT), and no memory. No locks. */
#include "data/run/gather.h"
#include "base/minmax.h"
#include "data/run/place.h"
#include <string.h>

/* The components whose rows are stacked leaf by leaf. */
static void find_composites(leati_gather *s) {
    const leati_leaves *leaves = &s->stacks.leaves;
    for (int l = 0; l < leaves->count; l++) {
        for (int p = 0; p < leaves->items[l].count; p++) {
            s->columns[leaves->items[l].first + p].composite =
                leati_spec_is_composite(leaves->items[l].spec);
        }
    }
}

/* *bytes: of all rows; 0: they are not known before there are any. */
static bool is_static(leati_gather_slot *slot, int64_t rows, size_t *bytes) {
    int64_t count = leati_shape_count(&slot->shape);
    return !slot->composite && slot->dtype != LEAT_STRING && slot->dtype != LEAT_OBJECT &&
           count > 0 &&
           leati_mul_size((size_t)count, leat_dtype_size(slot->dtype), &slot->row_bytes) &&
           leati_mul_size(slot->row_bytes, (size_t)rows, bytes) && *bytes < SIZE_MAX / 4;
}

leat_status leati_gather_open(const leat_spec *spec, int64_t rows, leati_gather *s,
                              leat_error *err) {
    s->num_columns = leat_spec_num_components(spec);
    s->columns = leati_alloc_zero((size_t)s->num_columns, sizeof(*s->columns));
    s->destinations = leati_alloc_zero((size_t)s->num_columns, sizeof(*s->destinations));
    if (s->columns == NULL || s->destinations == NULL)
        return leati_no_memory(err);
    LEATI_TRY(leati_stacks_init(&s->stacks, spec, err));
    find_composites(s);
    /* Destinations are offered for all components or for none. */
    bool offered = true;
    for (int c = 0; c < s->num_columns; c++) {
        leati_gather_slot *slot = &s->columns[c];
        slot->dtype = leat_spec_component_dtype(spec, c);
        slot->shape = leat_spec_component_shape(spec, c);
        size_t bytes = 0;
        bool fits = is_static(slot, rows, &bytes);
        offered = offered && fits;
        s->element_bytes = offered ? s->element_bytes + slot->row_bytes : 0;
        /* A batch far larger than its input must not take its memory before the rows exist. */
        if (!fits || bytes > ((size_t)1 << 30)) {
            offered = false;
            continue;
        }
        slot->pool = leati_buffer_pool_new(bytes, err);
        if (slot->pool == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
    }
    if (!offered) {
        leati_free(s->destinations);
        s->destinations = NULL;
    }
    return LEAT_OK;
}

void leati_gather_drop(leati_gather *s) {
    for (int c = 0; c < s->num_columns; c++) {
        leat_buffer_unref(s->columns[c].buffer);
        leat_buffer_unref(s->columns[c].view);
        s->columns[c].buffer = s->columns[c].view = NULL;
    }
    leati_stacks_clear(&s->stacks);
}

static leat_status new_slot_buffer(leati_gather_slot *slot, int64_t rows, leat_error *err) {
    if (slot->pool != NULL) {
        slot->buffer = leati_buffer_pool_take(slot->pool, err);
    } else {
        size_t size = 0;
        if (!leati_mul_size((size_t)rows, slot->row_bytes, &size)) {
            return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                              "batch: %lld rows of %zu bytes do not fit the memory",
                              (long long)rows, slot->row_bytes);
        }
        slot->buffer = leat_buffer_new(size, err);
    }
    return slot->buffer == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
}

const leati_destination *leati_gather_offer(leati_gather *s, int64_t filled, leat_error *err) {
    for (int c = 0; s->destinations != NULL && c < s->num_columns; c++) {
        leati_gather_slot *slot = &s->columns[c];
        /* The number of rows does not matter: a pool's buffers have one size. */
        if (slot->buffer == NULL && new_slot_buffer(slot, 0, err) != LEAT_OK)
            return NULL;
        s->destinations[c] = (leati_destination){.data = (char *)leat_buffer_data(slot->buffer) +
                                                         (size_t)filled * slot->row_bytes,
                                                 .stride = (int64_t)slot->row_bytes,
                                                 .dtype = slot->dtype,
                                                 .shape = slot->shape,
                                                 .owner = slot->buffer};
    }
    return s->destinations;
}

static leat_status unequal(const leati_gather_slot *slot, int component, const leat_shape *found,
                           int64_t row, leat_error *err) {
    char expected_text[128], found_text[128];
    return leati_refuse(err, SHAPE,
                        "Cannot batch tensors with different shapes in component %d. First element "
                        "had shape %s and element %lld had shape %s. Use padded_batch, or make the "
                        "shapes equal",
                        component, leati_shape_text(&slot->shape, expected_text), (long long)row,
                        leati_shape_text(found, found_text));
}

/* Room for the rows of a slot whose shape was not known before its first row. */
static leat_status begin_slot(leati_gather_slot *slot, const leati_column *column, int64_t row,
                              int64_t capacity, leat_error *err) {
    slot->shape = leati_column_row_shape(column, row);
    int64_t count = leati_shape_count(&slot->shape);
    if (count < 0 || slot->shape.rank == LEAT_MAX_RANK) {
        return leati_refuse(err, SHAPE, "batch: a row of rank %d; expected at most %d",
                            slot->shape.rank, LEAT_MAX_RANK - 1);
    }
    slot->row_bytes = (size_t)count * leat_dtype_size(slot->dtype);
    return new_slot_buffer(slot, capacity, err);
}

/* Rows that the batch may still get are not known to exist: slots without a pool grow by doubling.
 */
static leat_status reserve_rows(leati_gather_slot *slot, int64_t filled, int64_t needed,
                                int64_t batch_size, leat_error *err) {
    size_t have = leat_buffer_size(slot->buffer), need = (size_t)needed * slot->row_bytes;
    if (slot->pool != NULL || need <= have)
        return LEAT_OK;
    int64_t rows = needed > batch_size / 2 ? batch_size : needed * 2;
    leat_buffer *old = slot->buffer;
    leat_status status = new_slot_buffer(slot, rows, err);
    if (status != LEAT_OK) {
        slot->buffer = old;
        return status;
    }
    memcpy(leat_buffer_data(slot->buffer), leat_buffer_data(old), (size_t)filled * slot->row_bytes);
    if (slot->dtype == LEAT_STRING)
        /* The headers were copied; the bytes behind them are what the old buffer holds. */
        status = leati_buffer_hold(slot->buffer, old, err);
    leat_buffer_unref(old);
    return status;
}

/* Are the next n rows, of the slot's shape, behind the others in one piece of somebody else's
 * memory? Then nothing is copied; if later rows lie elsewhere, leave_view copies. */
static bool extend_view(leati_gather_slot *slot, const leati_column *column, int64_t begin,
                        int64_t n, int64_t filled) {
    bool dense = column->form == LEATI_STRIDED && column->owner != NULL &&
                 (n == 1 || column->stride == (int64_t)slot->row_bytes);
    /* In the slot's own buffer the rows are where they belong, and it is no view of another. */
    if (slot->pool == NULL || slot->row_bytes == 0 || !dense || column->owner == slot->buffer)
        return false;
    const char *at = column->data + begin * column->stride;
    if (filled == 0) {
        slot->view = leat_buffer_ref(column->owner);
        slot->first = at;
        return true;
    }
    return slot->view == column->owner && at == slot->first + (size_t)filled * slot->row_bytes;
}

/* Copies what was a view so far. */
static void leave_view(leati_gather_slot *slot, int64_t filled) {
    if (slot->view == NULL)
        return;
    memcpy(leat_buffer_data(slot->buffer), slot->first, (size_t)filled * slot->row_bytes);
    leat_buffer_unref(slot->view);
    slot->view = NULL;
}

/* Rows of another shape than the slot's are refused. */
static leat_status check_shapes(const leati_gather_slot *slot, int component,
                                const leati_block *block, int64_t begin, int64_t n, int64_t filled,
                                leat_error *err) {
    const leati_column *column = &block->columns[component];
    /* Rows of the other forms have one shape. */
    int64_t to_check = column->form == LEATI_TENSORS ? n : 1;
    for (int64_t i = 0; i < to_check; i++) {
        leat_shape shape = leati_column_row_shape(column, begin + i);
        if (!leati_shape_equal(&shape, &slot->shape)) {
            leat_status failed = unequal(slot, component, &shape, filled + i, err);
            leati_place_row(NULL, block, begin + i, err);
            return failed;
        }
    }
    return LEAT_OK;
}

/* Puts rows of the slot's shape behind the others, where they are not already. */
static leat_status append(leati_gather_slot *slot, const leati_column *column, int64_t begin,
                          int64_t n, int64_t filled, leat_error *err) {
    if (extend_view(slot, column, begin, n, filled))
        return LEAT_OK;
    leave_view(slot, filled);
    char *target = (char *)leat_buffer_data(slot->buffer) + (size_t)filled * slot->row_bytes;
    if (column->form == LEATI_STRIDED && column->data + begin * column->stride == target)
        return LEAT_OK; /* written in place */
    leati_column_gather(column, begin, n, target, (int64_t)slot->row_bytes);
    return slot->dtype == LEAT_STRING ? leati_column_hold(column, begin, n, slot->buffer, err)
                                      : LEAT_OK;
}

static leat_status add_rows(leati_gather_slot *slot, int component, const leati_block *block,
                            int64_t begin, int64_t n, int64_t filled, int64_t rows,
                            leat_error *err) {
    const leati_column *column = &block->columns[component];
    if (slot->dtype == LEAT_OBJECT) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "component %d is a dataset, which cannot be batched; flatten it first "
                          "(flat_map)",
                          component);
    }
    /* Without a pool a buffer of the batch before has that batch's shape. */
    if (slot->buffer == NULL || (filled == 0 && slot->pool == NULL)) {
        leat_buffer_unref(slot->buffer);
        slot->buffer = NULL;
        /* Of few rows the batch gets its whole size at once, of more what is there. */
        LEATI_TRY(slot->pool != NULL ? new_slot_buffer(slot, 0, err)
                                     : begin_slot(slot, column, begin, rows < 64 ? rows : n, err));
    }
    LEATI_TRY(reserve_rows(slot, filled, filled + n, rows, err));
    LEATI_TRY(check_shapes(slot, component, block, begin, n, filled, err));
    return append(slot, column, begin, n, filled, err);
}

leat_status leati_gather_add(leati_gather *s, const leati_block *block, int64_t begin, int64_t n,
                             int64_t filled, int64_t rows, leat_error *err) {
    LEATI_TRY(leati_stacks_add(&s->stacks, block, begin, n, err));
    for (int c = 0; c < s->num_columns; c++)
        if (!s->columns[c].composite)
            LEATI_TRY(add_rows(&s->columns[c], c, block, begin, n, filled, rows, err));
    return LEAT_OK;
}

/* The rows of a slot as the one value of a column. */
static leat_status finish_slot(leati_gather_slot *slot, int64_t filled, leati_column *column,
                               leat_error *err) {
    leat_shape shape;
    LEATI_TRY(leati_shape_prepend(&slot->shape, filled, &shape, err));
    /* The reference moves to the column; a buffer that was not needed stays for the next batch. */
    leat_buffer **owner = slot->view != NULL ? &slot->view : &slot->buffer;
    void *data = slot->view != NULL ? (char *)(uintptr_t)slot->first : leat_buffer_data(*owner);
    leati_column_strided(column, slot->dtype, &shape, data,
                         (int64_t)(slot->row_bytes * (size_t)filled), *owner);
    *owner = NULL;
    return LEAT_OK;
}

leat_status leati_gather_finish(leati_gather *s, int64_t filled, leati_block *out,
                                leat_error *err) {
    const leati_leaves *leaves = &s->stacks.leaves;
    leat_status status =
        leati_block_prepare(out, leati_stacks_columns(&s->stacks, leaves->count), err);
    for (int l = 0; l < leaves->count && status == LEAT_OK; l++) {
        const leati_leaf *leaf = &leaves->items[l];
        if (leati_spec_is_composite(leaf->spec)) {
            status = leati_stacks_put(&s->stacks, l, out, err);
        } else {
            int column = leati_stacks_columns(&s->stacks, l);
            status = finish_slot(&s->columns[leaf->first], filled, &out->columns[column], err);
        }
    }
    if (status != LEAT_OK) {
        leati_block_clear(out);
        return status;
    }
    out->n = 1;
    return LEAT_OK;
}

void leati_gather_close(leati_gather *s) {
    for (int c = 0; c < s->num_columns && s->columns != NULL; c++) {
        leat_buffer_unref(s->columns[c].buffer);
        leat_buffer_unref(s->columns[c].view);
        if (s->columns[c].pool != NULL)
            leati_buffer_pool_close(s->columns[c].pool);
    }
    leati_stacks_fini(&s->stacks);
    leati_free(s->columns);
    leati_free(s->destinations);
}
