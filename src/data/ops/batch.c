/* batch: stacks consecutive elements (tf.data.Dataset.batch).
 *
 * Small batches whose rows lie one after the other in the input's block are views of it, and so are
 * columns whose rows lie one after the other in the memory of several blocks, as a parallel map
 * lays them. Otherwise one batch is gathered into a slot from a pool; where the shapes are known
 * the slot's rows are offered to the input as destinations, so that the last operation of a map
 * writes straight into the batch. Ragged and sparse leaves are kept as references until the batch
 * is complete, and then stacked. An input's error is delivered at once and the rows gathered so far
 * are lost, as in TensorFlow; rows of unequal shapes cost the whole batch. Nothing is kept between
 * pulls but the pools. */
#include "base/minmax.h"
#include "data/access/access.h"
#include "data/plan/argument_rows.h"
#include "data/run/input.h"
#include "data/run/origins.h"
#include "data/run/place.h"
#include "data/values/stacks.h"
#include <leat/data_ops.h>
#include <string.h>

struct batch_args {
    int64_t batch_size;
    bool drop_remainder;
    int64_t num_parallel_calls;
    int8_t deterministic;
    bool fused; /* with the map below: see gather_batch */
};

#define ROW(field) .offset = offsetof(struct batch_args, field)

static const leati_row batch_rows[] = {
    LEATI_ROW_BATCH_SIZE(struct batch_args, "Elements of a batch."),
    LEATI_ROW_DROP_REMAINDER(struct batch_args),
    {.name = "num_parallel_calls",
     .type = LEATI_ROW_INT,
     .flags = LEATI_AUTOTUNE | LEATI_NONE,
     ROW(num_parallel_calls),
     .doc = "Accepted; batches are gathered where their rows are made, in order."},
    {.name = "deterministic",
     .type = LEATI_ROW_BOOL_OR_NONE,
     .flags = LEATI_NONE,
     ROW(deterministic),
     .default_number = -1,
     .doc = "Accepted; the order is always that of the input."},
    {.name = "fused",
     .type = LEATI_ROW_BOOL,
     .flags = LEATI_CONSTRUCT,
     ROW(fused),
     .doc = "A failed element costs exactly its batch (set by map_and_batch_fusion)."},
    {0},
};

/* One component of the batch that is being gathered. */
struct slot {
    leat_buffer *buffer; /* rows, or NULL: not begun */
    leat_buffer *view;   /* all rows so far lie here, from `first` on, and not in `buffer` */
    const char *first;
    leat_dtype dtype;
    leat_shape shape; /* of a row */
    size_t row_bytes;
    bool composite; /* part of a ragged or sparse leaf: its rows are in the stacks */
    /* Buffers of batch_size rows of the static shape; NULL: shapes are not static. */
    leati_buffer_pool *pool;
};

/* The batch that is being gathered. */
struct slots {
    struct slot *columns;
    leati_stacks stacks;
    leati_destination *destinations; /* NULL: not offered */
    int num_columns;
    size_t element_bytes; /* of a row of all columns; 0: not static */
};

struct batch_state {
    leati_input input;
    struct slots slots;
};

struct batch_access {
    struct slots slots;
    leati_block block; /* of the input */
};

/* Datasets have no batches. As in TensorFlow that is found out with the first of them. */
static leat_spec *batch_spec(const leat_dataset *dataset, leat_error *err) {
    const struct batch_args *args = dataset->args;
    const leat_spec *input = dataset->inputs[0]->spec;
    for (int c = 0; c < leat_spec_num_components(input); c++)
        if (leat_spec_component_dtype(input, c) == LEAT_OBJECT)
            return leat_spec_ref(input);
    return leati_spec_batch(input, args->drop_remainder ? args->batch_size : LEAT_UNKNOWN_DIM, err);
}

static int64_t batch_cardinality(const leat_dataset *dataset) {
    const struct batch_args *args = dataset->args;
    int64_t input = dataset->inputs[0]->cardinality;
    if (input < 0)
        return input;
    return input / args->batch_size + (!args->drop_remainder && input % args->batch_size != 0);
}

static leat_status batch_check(leat_dataset *dataset, leat_error *err) {
    const struct batch_args *args = dataset->args;
    if (args->num_parallel_calls < LEAT_AUTOTUNE) {
        return leati_refuse(
            err, VALUE, "batch: num_parallel_calls is %lld; expected at least 1, or AUTOTUNE (-1)",
            (long long)args->num_parallel_calls);
    }
    return LEAT_OK;
}

/* Marks the components whose rows are stacked leaf by leaf. */
static void mark_composites(struct slots *s) {
    const leati_leaves *leaves = &s->stacks.leaves;
    for (int l = 0; l < leaves->count; l++) {
        for (int p = 0; p < leaves->items[l].count; p++) {
            s->columns[leaves->items[l].first + p].composite =
                leati_spec_is_composite(leaves->items[l].spec);
        }
    }
}

static leat_status open_slots(const leat_dataset *dataset, struct slots *s, leat_error *err) {
    const struct batch_args *args = dataset->args;
    const leat_spec *spec = dataset->inputs[0]->spec;
    s->num_columns = leat_spec_num_components(spec);
    s->columns = leati_alloc_zero((size_t)s->num_columns, sizeof(*s->columns));
    s->destinations = leati_alloc_zero((size_t)s->num_columns, sizeof(*s->destinations));
    if (s->columns == NULL || s->destinations == NULL)
        return leati_no_memory(err);
    LEATI_TRY(leati_stacks_init(&s->stacks, spec, err));
    mark_composites(s);
    bool offered = true;
    for (int c = 0; c < s->num_columns; c++) {
        struct slot *slot = &s->columns[c];
        slot->dtype = leat_spec_component_dtype(spec, c);
        slot->shape = leat_spec_component_shape(spec, c);
        int64_t count = leati_shape_count(&slot->shape);
        size_t bytes = 0;
        bool fits = !slot->composite && slot->dtype != LEAT_STRING && slot->dtype != LEAT_OBJECT &&
                    count > 0 &&
                    leati_mul_size((size_t)count, leat_dtype_size(slot->dtype), &slot->row_bytes) &&
                    leati_mul_size(slot->row_bytes, (size_t)args->batch_size, &bytes) &&
                    bytes < SIZE_MAX / 4;
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

static leat_status batch_open(leati_node_state *node, void *state, leat_error *err) {
    struct batch_state *s = state;
    leat_status status = open_slots(node->dataset, &s->slots, err);
    return status == LEAT_OK ? leati_input_open(&s->input, node, 0, err) : status;
}

/* ---- the fast way: views of consecutive rows ---- */

static bool consecutive(const leati_column *column) {
    return column->form == LEATI_STRIDED && column->rank < LEAT_MAX_RANK &&
           column->stride == (int64_t)leati_column_row_bytes(column) && column->stride > 0;
}

static leat_status view_batches(struct batch_state *s, int64_t batch_size, int64_t batches,
                                leati_block *out, leat_error *err) {
    LEATI_TRY(leati_block_slice(&s->input.block, leati_input_begin(&s->input), batches * batch_size,
                                out, err));
    for (int c = 0; c < out->num_columns; c++) {
        leati_column *column = &out->columns[c];
        memmove(column->dims + 1, column->dims, (size_t)column->rank * sizeof(column->dims[0]));
        column->dims[0] = batch_size;
        column->rank++;
        column->stride *= batch_size;
    }
    if (out->origins.data != NULL && out->origins.form == LEATI_STRIDED)
        out->origins.stride *= batch_size; /* a batch is named after its first row */
    else if (out->origins.data != NULL)
        leati_column_fini(&out->origins);
    out->n = batches;
    leati_input_consume(&s->input, batches * batch_size);
    return LEAT_OK;
}

/* ---- the general way: gather one batch ---- */

static void drop_slots(struct slots *s) {
    for (int c = 0; c < s->num_columns; c++) {
        leat_buffer_unref(s->columns[c].buffer);
        leat_buffer_unref(s->columns[c].view);
        s->columns[c].buffer = s->columns[c].view = NULL;
    }
    leati_stacks_clear(&s->stacks);
}

static leat_status new_slot_buffer(struct slot *slot, int64_t rows, leat_error *err) {
    if (slot->dtype == LEAT_OBJECT) {
        slot->buffer = leati_buffer_of_objects(rows, err);
    } else if (slot->pool != NULL) {
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

/* Takes slot buffers ahead of the rows and describes their free part, from row `filled`. */
static const leati_destination *offer(struct slots *s, int64_t filled, leat_error *err) {
    for (int c = 0; s->destinations != NULL && c < s->num_columns; c++) {
        struct slot *slot = &s->columns[c];
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

static leat_status unequal(const struct slot *slot, int component, const leat_shape *found,
                           int64_t row, leat_error *err) {
    char expected_text[128], found_text[128];
    return leati_refuse(err, SHAPE,
                        "Cannot batch tensors with different shapes in component %d: the first row "
                        "has shape %s, row %lld has "
                        "%s; use padded_batch, or make the shapes equal",
                        component, leati_shape_text(&slot->shape, expected_text), (long long)row,
                        leati_shape_text(found, found_text));
}

/* Room for the rows of a slot whose shape was not known before its first row. */
static leat_status begin_slot(struct slot *slot, const leati_column *column, int64_t row,
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
static leat_status reserve_rows(struct slot *slot, int64_t filled, int64_t needed,
                                int64_t batch_size, leat_error *err) {
    size_t have = leat_buffer_size(slot->buffer), need = (size_t)needed * slot->row_bytes;
    if (slot->pool != NULL || slot->dtype == LEAT_OBJECT || need <= have)
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
        status = leati_buffer_hold(slot->buffer, old, err);
    leat_buffer_unref(old);
    return status;
}

/* Are the next n rows, of the slot's shape, behind the others in one piece of somebody else's
 * memory? Then nothing is copied; if later rows lie elsewhere, leave_view copies. */
static bool extend_view(struct slot *slot, const leati_column *column, int64_t begin, int64_t n,
                        int64_t filled) {
    bool dense = column->form == LEATI_STRIDED && column->owner != NULL &&
                 (n == 1 || column->stride == (int64_t)slot->row_bytes);
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
static void leave_view(struct slot *slot, int64_t filled) {
    if (slot->view == NULL)
        return;
    memcpy(leat_buffer_data(slot->buffer), slot->first, (size_t)filled * slot->row_bytes);
    leat_buffer_unref(slot->view);
    slot->view = NULL;
}

/* Appends rows [begin, begin + n) of a block of the input to the slots. Unequal shapes give
 * INVALID_ARGUMENT; the rows count as gathered all the same. */
static leat_status gather(struct slots *s, const leati_block *block, int64_t begin, int64_t n,
                          int64_t filled, int64_t batch_size, leat_error *err) {
    leat_status status = leati_stacks_add(&s->stacks, block, begin, n, err);
    for (int c = 0; c < s->num_columns && status == LEAT_OK; c++) {
        struct slot *slot = &s->columns[c];
        const leati_column *column = &block->columns[c];
        if (slot->composite)
            continue;
        if (slot->dtype == LEAT_OBJECT) {
            return leati_refuse(
                err, STRUCTURE,
                "component %d is a dataset, which cannot be batched; flatten it first "
                "(flat_map)",
                c);
        }
        if (slot->buffer == NULL || (filled == 0 && slot->pool == NULL)) {
            leat_buffer_unref(slot->buffer);
            slot->buffer = NULL;
            int64_t capacity = slot->dtype == LEAT_OBJECT || batch_size < 64 ? batch_size : n;
            status = slot->pool != NULL ? new_slot_buffer(slot, 0, err)
                                        : begin_slot(slot, column, begin, capacity, err);
        }
        if (status == LEAT_OK)
            status = reserve_rows(slot, filled, filled + n, batch_size, err);
        if (status != LEAT_OK)
            return status;
        int64_t to_check = column->form == LEATI_TENSORS ? n : 1;
        for (int64_t i = 0; i < to_check; i++) {
            leat_shape shape = leati_column_row_shape(column, begin + i);
            if (!leati_shape_equal(&shape, &slot->shape)) {
                leat_status failed = unequal(slot, c, &shape, filled + i, err);
                leati_place_row(NULL, block, begin + i, err);
                return failed;
            }
        }
        if (extend_view(slot, column, begin, n, filled))
            continue;
        leave_view(slot, filled);
        char *target = (char *)leat_buffer_data(slot->buffer) + (size_t)filled * slot->row_bytes;
        if (column->form == LEATI_STRIDED && column->data + begin * column->stride == target)
            continue; /* written in place */
        leati_column_gather(column, begin, n, target, (int64_t)slot->row_bytes);
        status = slot->dtype == LEAT_STRING || slot->dtype == LEAT_OBJECT
                     ? leati_column_hold(column, begin, n, slot->buffer, err)
                     : LEAT_OK;
    }
    return status;
}

/* The rows of a slot as the one value of a column. */
static leat_status finish_slot(struct slot *slot, int64_t filled, leati_column *column,
                               leat_error *err) {
    leat_shape shape;
    LEATI_TRY(leati_shape_prepend(&slot->shape, filled, &shape, err));
    leat_buffer **owner = slot->view != NULL ? &slot->view : &slot->buffer;
    void *data = slot->view != NULL ? (char *)(uintptr_t)slot->first : leat_buffer_data(*owner);
    leati_column_strided(column, slot->dtype, &shape, data,
                         (int64_t)(slot->row_bytes * (size_t)filled), *owner);
    *owner = NULL;
    return LEAT_OK;
}

/* The gathered rows become one element. */
static leat_status finish(struct slots *s, int64_t filled, leati_block *out, leat_error *err) {
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

/* What becomes of an error of the input. Fused with the map below, it takes its element's place,
 * and the batch fails when all its places are taken; else it ends the batch at once. Both are
 * TensorFlow's. Cancellation and want of memory stand for no element: they end the batch at once.
 */
static bool takes_a_place(struct batch_state *s, const struct batch_args *args, int64_t *filled,
                          const leat_error *error, leat_error *failure) {
    bool placeless = error->code == LEAT_CANCELLED || error->code == LEAT_RESOURCE_EXHAUSTED;
    leati_input_consume(&s->input, 1);
    if (failure->code == LEAT_OK || placeless)
        *failure = *error;
    ++*filled;
    return args->fused && !placeless;
}

static leati_tail gather_batch(leati_node_state *node, struct batch_state *s, leati_block *out,
                               leat_error *err) {
    const struct batch_args *args = node->dataset->args;
    int64_t filled = 0, available = 0;
    leat_error failure = {0};  /* the first: of the input, or unequal shapes */
    bool failed = false;       /* an element of the input failed */
    leati_column origin = {0}; /* of the first row */
    leati_tail tail = LEATI_MORE;
    while (filled < args->batch_size) {
        leat_error error = {0};
        tail = leati_input_peek(&s->input, args->batch_size - filled,
                                offer(&s->slots, filled, &error), &available, &error);
        if (available == 0 && tail == LEATI_ERROR) {
            failed = true;
            if (takes_a_place(s, args, &filled, &error, &failure))
                continue;
        }
        if (available == 0)
            break;
        int64_t n = LEATI_MIN(available, args->batch_size - filled);
        if (filled == 0)
            leati_origins_share(&s->input.block, leati_input_begin(&s->input), &origin);
        if (failure.code == LEAT_OK) {
            leat_status status = gather(&s->slots, &s->input.block, leati_input_begin(&s->input), n,
                                        filled, args->batch_size, &failure);
            (void)status; /* stands in the failure */
        }
        leati_input_consume(&s->input, n);
        filled += n;
        tail = LEATI_MORE;
    }
    bool enough = filled == args->batch_size || (filled > 0 && !args->drop_remainder);
    /* Fused with the map, rows of unequal shapes fail even where the batch is left out. */
    if (!failed && !enough && !(args->fused && failure.code != LEAT_OK)) {
        leati_column_fini(&origin);
        return LEATI_END;
    }
    if (failure.code == LEAT_OK && finish(&s->slots, filled, out, &failure) == LEAT_OK) {
        out->origins = origin;
        return tail;
    }
    leati_column_fini(&origin);
    if (err != NULL)
        *err = failure;
    return LEATI_ERROR;
}

static leati_tail batch_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                             leat_error *err) {
    struct batch_state *s = state;
    const struct batch_args *args = node->dataset->args;
    size_t batch_bytes = s->slots.element_bytes * (size_t)args->batch_size;
    int64_t most = 1;
    if (batch_bytes > 0 && out->byte_target > batch_bytes)
        most = (int64_t)(out->byte_target / batch_bytes);
    int64_t batches = LEATI_MIN(want, most);
    leati_block_clear(out);
    int64_t available = 0;
    const leati_destination *destinations = batches == 1 ? offer(&s->slots, 0, err) : NULL;
    leati_tail tail =
        leati_input_peek(&s->input, batches * args->batch_size, destinations, &available, err);
    bool viewable = available >= args->batch_size;
    for (int c = 0; viewable && c < s->slots.num_columns; c++) {
        viewable = s->slots.columns[c].dtype != LEAT_OBJECT && !s->slots.columns[c].composite &&
                   consecutive(&s->input.block.columns[c]);
    }
    if (!viewable) {
        tail = gather_batch(node, s, out, err);
        drop_slots(&s->slots);
        return tail;
    }
    batches = LEATI_MIN(available / args->batch_size, batches);
    leat_status status = view_batches(s, args->batch_size, batches, out, err);
    drop_slots(&s->slots);
    return status == LEAT_OK ? LEATI_MORE : LEATI_ERROR;
}

static void close_slots(struct slots *s) {
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

static void batch_close(leati_node_state *node, void *state) {
    (void)node;
    struct batch_state *s = state;
    leati_input_close(&s->input);
    close_slots(&s->slots);
}

/* ---- random access ---- */

enum { MOST_ASKED = 4096 };

static leat_status batch_access_open(leati_access *access, leat_error *err) {
    return open_slots(access->node.dataset, &((struct batch_access *)access->state)->slots, err);
}

/* Rows first .. first + rows - 1 of the input into the slots. */
static leat_status gather_at(leati_access *access, int64_t first, int64_t rows, leat_error *err) {
    struct batch_access *a = access->state;
    int64_t most = LEATI_MIN(rows, MOST_ASKED), filled = 0;
    int64_t *below = leati_access_indices(access, most, err);
    leat_status status = below == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
    while (status == LEAT_OK && filled < rows) {
        int64_t n = LEATI_MIN(rows - filled, most);
        for (int64_t i = 0; i < n; i++)
            below[i] = first + filled + i;
        a->block.destinations = offer(&a->slots, filled, err);
        status = leati_access_input(access, 0, below, n, &a->block, err);
        if (status == LEAT_OK)
            status = gather(&a->slots, &a->block, 0, a->block.n, filled, rows, err);
        filled += a->block.n;
    }
    leati_block_clear(&a->block);
    return status;
}

/* One batch at a time. What TensorFlow runs as another operator, a batch with parallel calls and
 * one that is fused with the map below, has no random access there. */
static leat_status batch_at(leati_access *access, const int64_t *indices, int64_t n,
                            leati_block *out, leat_error *err) {
    (void)n;
    const leat_dataset *dataset = access->node.dataset;
    const struct batch_args *args = dataset->args;
    struct batch_access *a = access->state;
    if (args->num_parallel_calls != 0 || (args->fused && !access->for_iteration)) {
        return leati_fail(err, LEAT_UNIMPLEMENTED, "random access is not implemented for %s; %s",
                          args->fused ? "a batch that is fused with the map below"
                                      : "a batch with num_parallel_calls",
                          args->fused ? "switch map_and_batch_fusion off (with_options)"
                                      : "leave that argument out");
    }
    if (indices[0] < 0 || indices[0] >= dataset->cardinality)
        return leati_access_outside(indices[0], dataset->cardinality, err);
    int64_t first = indices[0] * args->batch_size, left = dataset->inputs[0]->cardinality - first;
    int64_t rows = LEATI_MIN(left, args->batch_size);
    leat_status status = gather_at(access, first, rows, err);
    if (status == LEAT_OK)
        status = finish(&a->slots, rows, out, err);
    drop_slots(&a->slots);
    return status;
}

static void batch_access_close(leati_access *access) {
    struct batch_access *a = access->state;
    leati_block_fini(&a->block);
    close_slots(&a->slots);
}

static leat_status batch_indexable(const leat_dataset *dataset, leat_error *err) {
    const struct batch_args *args = dataset->args;
    return args->drop_remainder && args->num_parallel_calls == 0 && !args->fused
               ? LEAT_OK
               : leati_fail(err, LEAT_FAILED_PRECONDITION,
                            "global_shuffle stands only over batches with drop_remainder, without "
                            "num_parallel_calls, and not over map_and_batch");
}

/* With num_parallel_calls it is another operator in TensorFlow, which its strategies do not know.
 */
static bool batch_hides_size(const leat_dataset *dataset) {
    return ((const struct batch_args *)dataset->args)->num_parallel_calls != 0;
}

const leati_dataset_op leati_op_batch = {
    .name = "batch",
    .version = 1,
    .doc = "Stacks `batch_size` consecutive elements along a new first axis. Saved as the input's "
           "position (never inside a batch); "
           "restoring costs the input's.",
    .names = "Dataset.batch",
    .shown = "Batch num_parallel_calls:ParallelBatch",
    .num_inputs = 1,
    .flow = LEATI_FEWER,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .batches = LEATI_BATCHES_ROWS,
    .batch_size = "batch_size",
    .hides_batch_size = batch_hides_size,
    .args_size = sizeof(struct batch_args),
    .rows = batch_rows,
    .check = batch_check,
    .spec = batch_spec,
    .cardinality = batch_cardinality,
    .state_size = sizeof(struct batch_state),
    .open = batch_open,
    .pull = batch_pull,
    .close = batch_close,
    .access_size = sizeof(struct batch_access),
    .access_open = batch_access_open,
    .at = batch_at,
    .access_close = batch_access_close,
    .indexable = batch_indexable,
};

leat_dataset *leat_dataset_batch(leat_dataset *input, int64_t batch_size,
                                 const leat_dataset_batch_options *options, leat_error *err) {
    struct batch_args args = {.batch_size = batch_size, .deterministic = -1};
    if (options != NULL) {
        args.drop_remainder = options->drop_remainder;
        args.num_parallel_calls = options->num_parallel_calls;
        args.deterministic = options->not_deterministic ? 0 : -1;
    }
    return leati_dataset_new(&leati_op_batch, &args, &input, 1, err);
}

leat_dataset *leati_dataset_batch_fused(leat_dataset *input, int64_t batch_size,
                                        bool drop_remainder, leat_error *err) {
    struct batch_args args = {.batch_size = batch_size,
                              .drop_remainder = drop_remainder,
                              .deterministic = -1,
                              .fused = true};
    return leati_dataset_new(&leati_op_batch, &args, &input, 1, err);
}
