/* Rows that outlive a node: memory of kept values, what string rows point into, and the block that
 * a run returns.
 *
 * Happy path: kept values of static shape get one pooled buffer (or the consumer's destination) for
 * all rows; those of dynamic shape an array of tensors, each row in its destination or a pooled
 * buffer. At the end the outputs become columns and take the references over. Failures: no memory;
 * whatever was taken is released by leati_program_run_close. No locks. */
#include "exec/program_parts.h"

#include "base/error.h"
#include "core/object.h"
#include "core/spec.h"
#include <string.h>

/* ---- memory ---- */

static const leati_simple_value *simple_value(const leati_run *run, int32_t v) {
    return &run->program->simple.values[v];
}

/* Where the consumer would like an output; strings and datasets own what they point to, so several
 * threads must not write them into one buffer. */
static const leati_destination *find_destination(const leati_run *run, const leati_block *out,
                                                 const leati_kept *kept) {
    if (out->destinations == NULL || kept->output < 0)
        return NULL;
    const leati_destination *destination = &out->destinations[kept->output];
    leat_dtype dtype = simple_value(run, kept->value)->type->dtype;
    if (destination->data == NULL || destination->dtype != dtype || dtype == LEAT_STRING ||
        dtype == LEAT_OBJECT)
        return NULL;
    if (!kept->dynamic &&
        !leati_shape_equal(&destination->shape, &simple_value(run, kept->value)->type->shape))
        return NULL;
    return destination;
}

/* All rows of a value of static shape. */
static leat_status open_static(leati_run *run, const leati_kept *kept, leati_kept_run *memory,
                               int64_t n, leat_error *err) {
    const leati_simple_value *value = simple_value(run, kept->value);
    size_t bytes;
    int64_t objects;
    memory->stride = (int64_t)value->row_bytes;
    if (memory->destination != NULL) {
        memory->data = memory->destination->data;
        memory->stride = memory->destination->stride;
        memory->owner = leat_buffer_ref(memory->destination->owner);
        return LEAT_OK;
    }
    if (!leati_mul_size(value->row_bytes, (size_t)n, &bytes) ||
        __builtin_mul_overflow(value->count, n, &objects))
        return leati_no_memory(err);
    if (value->type->dtype == LEAT_OBJECT)
        memory->owner = leati_buffer_of_objects(objects, err);
    else if (kept->output >= 0)
        memory->owner = leati_pools_take(&run->scratch->pools, bytes, err);
    else
        memory->data = leati_arena_alloc(&run->scratch->run_arena, bytes);
    if (memory->owner != NULL)
        memory->data = memory->owner->data;
    return memory->data != NULL ? LEAT_OK : leati_no_memory(err);
}

static leat_status open_dynamic(leati_run *run, const leati_kept *kept, leati_kept_run *memory,
                                int64_t n, leat_error *err) {
    if (kept->output >= 0) {
        memory->owner = leati_buffer_of_tensors(n, err);
        memory->tensors = memory->owner != NULL ? memory->owner->data : NULL;
        return memory->owner != NULL ? LEAT_OK : LEAT_RESOURCE_EXHAUSTED;
    }
    size_t bytes;
    /* The overflow leaves NULL, which is refused below. */
    if (leati_mul_size((size_t)n, sizeof *memory->tensors, &bytes))
        memory->tensors = leati_arena_alloc(&run->scratch->run_arena, bytes);
    if (memory->tensors == NULL)
        return leati_no_memory(err);
    memset(memory->tensors, 0, bytes);
    return LEAT_OK;
}

leat_status leati_program_run_open(leati_run *run, leati_block *out, int64_t n, leat_error *err) {
    const leati_program *program = run->program;
    leati_scratch *scratch = run->scratch;
    leati_arena_reset(&scratch->run_arena);
    memset(scratch->kept, 0, (size_t)program->num_kept * sizeof *scratch->kept);
    for (int32_t k = 0; k < program->num_kept; k++) {
        const leati_kept *kept = &program->kept[k];
        leati_kept_run *memory = &scratch->kept[k];
        memory->destination = find_destination(run, out, kept);
        LEATI_TRY(kept->dynamic ? open_dynamic(run, kept, memory, n, err)
                                : open_static(run, kept, memory, n, err));
        leati_operand *operand = &scratch->cells[kept->value].operand;
        operand->data = memory->data;
        operand->row_stride = memory->stride;
        operand->owner = memory->owner;
    }
    return LEAT_OK;
}

leat_status leati_program_run_row_memory(leati_run *run, int32_t kept, int64_t row,
                                         leati_operand *operand, leat_error *err) {
    leati_kept_run *memory = &run->scratch->kept[kept];
    const leati_destination *destination = memory->destination;
    leat_buffer *owner = NULL;
    size_t bytes = leati_kernel_operand_row_bytes(operand);
    leat_tensor shaped = {.rank = operand->rank};
    memcpy(shaped.dims, operand->dims, sizeof shaped.dims);
    leat_shape shape = leat_tensor_shape(&shaped);
    if (destination != NULL && leati_shape_equal(&shape, &destination->shape)) {
        operand->data = destination->data + row * destination->stride;
        owner = leat_buffer_ref(destination->owner);
        /* Counted: if all rows do, the result is one column rather than tensors. */
        memory->fitted++;
    } else {
        owner = operand->dtype == LEAT_OBJECT ? leati_buffer_of_objects(operand->count, err)
                                              : leati_pools_take(&run->scratch->pools, bytes, err);
        if (owner == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
        operand->data = owner->data;
        if (operand->dtype == LEAT_STRING)
            memset(operand->data, 0, bytes);
    }
    operand->owner = owner;
    /* The kernel may have asked for this row's memory before. */
    leat_tensor *tensor = &memory->tensors[row];
    leat_tensor_unref(tensor);
    *tensor = (leat_tensor){
        .dtype = operand->dtype, .rank = operand->rank, .data = operand->data, .owner = owner};
    memcpy(tensor->dims, operand->dims, sizeof tensor->dims);
    return LEAT_OK;
}

void leati_program_copy_rows(const leati_operand *from, int64_t n, char *to, int64_t stride) {
    leati_column column = {
        .dtype = from->dtype, .rank = from->rank, .data = from->data, .stride = from->row_stride};
    memcpy(column.dims, from->dims, sizeof column.dims);
    leati_column_gather(&column, 0, n, to, stride);
}

/* ---- what strings point into ---- */

static leat_status hold_arguments(leati_run *run, uint64_t sources, int64_t row, int64_t n,
                                  leat_buffer *owner, leat_error *err) {
    leat_status status = LEAT_OK;
    for (int32_t i = 0; status == LEAT_OK && i < run->in->num_columns; i++)
        if (sources & LEATI_FROM_ARGUMENT(i))
            status = leati_column_hold(&run->in->columns[i], run->begin + row, n, owner, err);
    return status;
}

/* What was made or came during the run: for all rows, or since the row under way began. */
static leat_status hold_made(leati_run *run, bool all, leat_buffer *owner, leat_error *err) {
    const leati_scratch *scratch = run->scratch;
    for (size_t i = all ? 0 : run->first_text; i < scratch->num_texts; i++)
        LEATI_TRY(leati_buffer_hold(owner, scratch->texts[i], err));
    for (size_t i = all ? 0 : run->first_string; i < scratch->num_strings; i++)
        LEATI_TRY(leati_buffer_hold(owner, scratch->strings[i], err));
    return LEAT_OK;
}

leat_status leati_program_run_hold(leati_run *run, uint64_t sources, int64_t row, int64_t n,
                                   bool all, leat_buffer *owner, leat_error *err) {
    const leati_simple *simple = &run->program->simple;
    leat_status status = hold_arguments(run, sources, row, n, owner, err);
    if (status == LEAT_OK && (sources & LEATI_FROM_TEXT))
        status = hold_made(run, all, owner, err);
    for (int32_t i = 0;
         status == LEAT_OK && (sources & LEATI_FROM_CONSTANT) && i < simple->num_constants; i++)
        if (simple->constants[i].dtype == LEAT_STRING)
            status = leati_buffer_hold(owner, simple->constants[i].owner, err);
    return status;
}

/* ---- the block of results ---- */

/* The column of an output that is an argument: that argument's rows. */
static void pass_argument(const leati_run *run, int32_t argument, leati_column *column) {
    leati_column_copy(&run->in->columns[argument], column);
    leati_column_skip(column, run->begin);
}

static leat_status pass_kept(leati_run *run, int32_t index, int64_t n, leati_column *column,
                             leat_error *err) {
    const leati_kept *kept = &run->program->kept[index];
    const leati_kept_run *memory = &run->scratch->kept[index];
    const leati_type *type = simple_value(run, kept->value)->type;
    if (kept->dynamic && memory->destination != NULL && memory->fitted == n) {
        leati_column_strided(column, type->dtype, &memory->destination->shape,
                             memory->destination->data, memory->destination->stride,
                             leat_buffer_ref(memory->destination->owner));
        return LEAT_OK;
    }
    if (kept->dynamic) {
        leati_column_tensors(column, type->dtype, leat_buffer_ref(memory->owner));
        return LEAT_OK;
    }
    uint64_t sources = run->program->values[kept->value].sources;
    leat_status status = LEAT_OK;
    /* A view's buffer is its owner's, who made it hold what it needs. */
    if (type->dtype == LEAT_STRING && !memory->viewed && leati_buffer_sole_owner(memory->owner))
        status = leati_program_run_hold(run, sources, 0, n, true, memory->owner, err);
    if (status == LEAT_OK)
        leati_column_strided(column, type->dtype, &type->shape, memory->data, memory->stride,
                             leat_buffer_ref(memory->owner));
    return status;
}

leat_status leati_program_run_finish(leati_run *run, leati_block *out, int64_t n, leat_error *err) {
    const leati_simple *simple = &run->program->simple;
    for (int32_t i = 0; i < simple->num_outputs; i++) {
        const leati_pvalue *value = &run->program->values[simple->outputs[i]];
        leati_column *column = &out->columns[i];
        if (value->place == LEATI_AT_ARGUMENT)
            pass_argument(run, value->index, column);
        else if (value->place == LEATI_AT_CONSTANT)
            leati_column_constant(column, &simple->constants[value->index]);
        else
            LEATI_TRY(pass_kept(run, value->index, n, column, err));
    }
    out->n = n;
    return LEAT_OK;
}

void leati_program_run_close(leati_run *run) {
    leati_scratch *scratch = run->scratch;
    leati_program_run_drop_held(run);
    for (int32_t k = 0; k < run->program->num_kept; k++) {
        leati_kept_run *memory = &scratch->kept[k];
        for (int64_t i = 0; memory->tensors != NULL && memory->owner == NULL && i < run->n; i++)
            leat_tensor_unref(&memory->tensors[i]);
        leat_buffer_unref(memory->owner);
    }
    memset(scratch->kept, 0, (size_t)run->program->num_kept * sizeof *scratch->kept);
    while (scratch->num_strings > 0)
        leat_buffer_unref(scratch->strings[--scratch->num_strings]);
    /* The open text buffer goes on being filled: the rest of it belongs to nobody yet. */
    for (size_t i = 0; i + 1 < scratch->num_texts; i++)
        leat_buffer_unref(scratch->texts[i]);
    if (scratch->num_texts > 1) {
        scratch->texts[0] = scratch->texts[scratch->num_texts - 1];
        scratch->num_texts = 1;
    }
}
