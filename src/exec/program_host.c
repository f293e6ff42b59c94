/* What kernels ask of an element program while they run: shapes and memory of dynamic outputs,
 * views, and memory for string bytes.
 *
 * Dynamic outputs are made one row at a time: values that stay inside the row come from the row
 * arena, kept ones from their destination or a pooled buffer. String bytes are carved from text
 * buffers that every string result of the run holds. Failures: no memory, or a shape that
 * contradicts inference. No locks: a scratch belongs to one thread. */
#include "exec/program_parts.h"

#include "base/error.h"
#include "base/minmax.h"
#include <string.h>

/* Does the row's shape agree with inference? Chunks of a row do not have the row's shape. */
static leat_status check_shape(const leati_run *run, int index, int32_t rank, const int64_t *dims,
                               leat_error *err) {
    if (run->chunk)
        return LEAT_OK;
    int32_t v = run->node->first_output + index;
    return leati_kernel_host_check(run->program->simple.values[v].type, index, rank, dims, err);
}

static leat_status host_output(leati_kernel_call *call, int index, int32_t rank,
                               const int64_t *dims, leat_error *err) {
    leati_run *run = (leati_run *)(void *)call->host;
    leati_operand *operand = &call->outputs[index];
    int32_t v = run->node->first_output + index;
    leat_status status = check_shape(run, index, rank, dims, err);
    /* Of a static shape the memory was planned, and stands in the operand. */
    if (status != LEAT_OK || run->program->simple.values[v].count >= 0)
        return status;
    leati_kernel_operand_set_shape(operand, rank, dims);
    operand->row_stride = (int64_t)leati_kernel_operand_row_bytes(operand);
    const leati_pvalue *value = &run->program->values[v];
    if (value->place == LEATI_AT_KEPT)
        return leati_program_run_row_memory(run, value->index, run->row, operand, err);
    operand->data = leati_arena_alloc(&run->scratch->row_arena, (size_t)operand->row_stride);
    if (operand->data == NULL)
        return leati_no_memory(err);
    if (operand->dtype == LEAT_STRING)
        memset(operand->data, 0, (size_t)operand->row_stride);
    return LEAT_OK;
}

/* Keeps the owner of a view until the row or tile ends; what is kept longer takes a reference of
 * its own. */
static leat_status hold_owner(leati_scratch *scratch, leat_buffer *owner, leat_error *err) {
    /* Views of one owner often follow each other; one reference is enough. */
    if (scratch->num_held > 0 && scratch->held[scratch->num_held - 1] == owner)
        return LEAT_OK;
    if (!leati_grow((void **)&scratch->held, &scratch->held_capacity, scratch->num_held + 1,
                    sizeof *scratch->held))
        return leati_no_memory(err);
    scratch->held[scratch->num_held++] = leat_buffer_ref(owner);
    return LEAT_OK;
}

/* Strings that a kernel had from elsewhere (a callback, a variable) are not among what the plan
 * says that results point into: whatever is kept of the run holds their owner. */
static leat_status hold_strings(leati_scratch *scratch, const leati_kernel_call *call,
                                leat_buffer *owner, leat_error *err) {
    for (int i = 0; i < call->num_inputs; i++)
        if (call->inputs[i].owner == owner)
            return LEAT_OK;
    if (scratch->num_strings > 0 && scratch->strings[scratch->num_strings - 1] == owner)
        return LEAT_OK;
    if (!leati_grow((void **)&scratch->strings, &scratch->strings_capacity,
                    scratch->num_strings + 1, sizeof *scratch->strings))
        return leati_no_memory(err);
    scratch->strings[scratch->num_strings++] = leat_buffer_ref(owner);
    return LEAT_OK;
}

void leati_program_run_drop_held(leati_run *run) {
    leati_scratch *scratch = run->scratch;
    while (scratch->num_held > 0)
        leat_buffer_unref(scratch->held[--scratch->num_held]);
}

static leat_status host_view(leati_kernel_call *call, int index, int32_t rank, const int64_t *dims,
                             void *data, int64_t row_stride, leat_buffer *owner, leat_error *err) {
    leati_run *run = (leati_run *)(void *)call->host;
    leati_operand *operand = &call->outputs[index];
    LEATI_TRY(check_shape(run, index, rank, dims, err));
    leati_kernel_operand_set_shape(operand, rank, dims);
    operand->data = data;
    operand->row_stride = row_stride;
    operand->owner = owner;
    leat_status status = owner != NULL ? hold_owner(run->scratch, owner, err) : LEAT_OK;
    return status == LEAT_OK && owner != NULL && operand->dtype == LEAT_STRING
               ? hold_strings(run->scratch, call, owner, err)
               : status;
}

/* Opens a text buffer of at least `size` bytes. */
static leat_status open_text(leati_scratch *scratch, size_t size, leat_error *err) {
    if (!leati_grow((void **)&scratch->texts, &scratch->text_capacity, scratch->num_texts + 1,
                    sizeof *scratch->texts))
        return leati_no_memory(err);
    leat_buffer *text = leati_pools_take(&scratch->pools, size, err);
    if (text == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    scratch->texts[scratch->num_texts++] = text;
    scratch->text_used = 0;
    return LEAT_OK;
}

static char *host_text(leati_kernel_call *call, int index, size_t size, leat_error *err) {
    leati_run *run = (leati_run *)(void *)call->host;
    leati_scratch *scratch = run->scratch;
    (void)index;
    size_t room = 0;
    if (scratch->num_texts > 0)
        room = scratch->texts[scratch->num_texts - 1]->size - scratch->text_used;
    if (room < size || scratch->num_texts == 0) {
        size_t wanted = LEATI_MAX(size, LEATI_TEXT_BYTES);
        if (open_text(scratch, wanted, err) != LEAT_OK)
            return NULL;
    }
    char *text = scratch->texts[scratch->num_texts - 1]->data;
    text += scratch->text_used;
    scratch->text_used += size;
    return text;
}

/* String results hold all that their node's inputs may point into; see trace_sources. */
static leat_status host_hold(leati_kernel_call *call, int index, int input, leat_error *err) {
    (void)call, (void)index, (void)input, (void)err;
    return LEAT_OK;
}

const struct leati_kernel_host leati_program_host = {
    .output = host_output, .view = host_view, .text = host_text, .hold = host_hold};
