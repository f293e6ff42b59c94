/* Runs an element program over rows of a block.
 *
 * Happy path: memory for what is kept is taken, then segment after segment runs, tile by tile or
 * row by row, and the kept outputs become the columns of the result. Each value in use has a cell
 * that says where its rows are.
 *
 * Failing rows: a node that fails on a tile is run again row by row, which finds the first row that
 * fails; the rest of the program goes on with the rows before it, because a later node may fail on
 * an earlier row. The smallest row wins, as if rows had run one at a time. Programs with effects
 * run by row and stop at once. No locks: a scratch belongs to one thread, the program is immutable.
 */
#include "exec/program_parts.h"

#include "base/error.h"
#include "base/minmax.h"
#include "core/spec.h"
#include "graph/halves.h"
#include "graph/interpret.h"
#include "run/cancel.h"
#include <string.h>

/* ---- scratch ---- */

static void set_templates(leati_scratch *scratch) {
    const leati_program *program = scratch->program;
    const leati_simple *simple = &program->simple;
    for (int32_t v = 0; v < simple->num_values; v++) {
        leati_cell *cell = &scratch->cells[v];
        const leati_simple_value *value = &simple->values[v];
        cell->operand.dtype = value->type->dtype;
        if (value->count >= 0)
            leati_kernel_operand_set_shape(&cell->operand, value->type->shape.rank,
                                           value->type->shape.dims);
        cell->full = program->values[v].place != LEATI_AT_LOCAL;
        if (program->values[v].place != LEATI_AT_CONSTANT)
            continue;
        const leat_tensor *constant = &simple->constants[program->values[v].index];
        cell->operand.data = constant->data;
        cell->operand.owner = constant->owner;
    }
}

leati_scratch *leati_program_scratch_new(const leati_program *program, leat_error *err) {
    leati_scratch *scratch = leati_alloc_zero(1, sizeof *scratch);
    if (scratch == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    scratch->program = program;
    scratch->slab = leati_alloc_aligned(program->slab_bytes ? program->slab_bytes : 64, 64);
    scratch->cells = leati_alloc_zero((size_t)program->simple.num_values, sizeof *scratch->cells);
    scratch->kept = leati_alloc_zero((size_t)program->num_kept, sizeof *scratch->kept);
    scratch->inputs = leati_alloc((size_t)program->max_inputs, sizeof *scratch->inputs);
    scratch->outputs = leati_alloc_zero((size_t)program->max_outputs, sizeof *scratch->outputs);
    if (scratch->slab == NULL || scratch->cells == NULL || scratch->kept == NULL ||
        scratch->inputs == NULL || scratch->outputs == NULL) {
        leati_no_memory(err);
        leati_program_scratch_free(scratch);
        return NULL;
    }
    set_templates(scratch);
    return scratch;
}

void leati_program_scratch_free(leati_scratch *scratch) {
    if (scratch == NULL)
        return;
    for (size_t i = 0; i < scratch->num_texts; i++)
        leat_buffer_unref(scratch->texts[i]);
    leati_free(scratch->texts);
    leati_free(scratch->strings);
    leati_free(scratch->held);
    leati_pools_close(&scratch->pools);
    leati_arena_fini(&scratch->call_arena);
    leati_arena_fini(&scratch->row_arena);
    leati_arena_fini(&scratch->run_arena);
    leati_arena_fini(&scratch->inner_arena);
    leati_free(scratch->slab);
    leati_free(scratch->cells);
    leati_free(scratch->kept);
    leati_free(scratch->inputs);
    leati_free(scratch->outputs);
    leati_free(scratch);
}

int64_t leati_program_scratch_callbacks(const leati_scratch *scratch) {
    return scratch->callbacks;
}

int64_t leati_program_scratch_recovered(const leati_scratch *scratch) {
    return scratch->recovered;
}

/* ---- operands ---- */

/* Row `row` of the block's part as an operand of its own. */
static void load_argument_row(const leati_run *run, int32_t argument, int64_t row,
                              leati_operand *to) {
    const leati_column *column = &run->in->columns[argument];
    int64_t i = run->begin + row;
    to->data = leati_column_row(column, i);
    to->owner = column->owner;
    if (column->form == LEATI_TENSORS) {
        to->owner = column->tensors[i].owner;
        leati_kernel_operand_set_shape(to, column->tensors[i].rank, column->tensors[i].dims);
    } else {
        leati_kernel_operand_set_shape(to, column->rank, column->dims);
    }
}

/* Value `v` from row `row` of the tile on. */
static void load(const leati_run *run, int32_t v, int64_t row, leati_operand *to) {
    const leati_pvalue *value = &run->program->values[v];
    const leati_cell *cell = &run->scratch->cells[v];
    /* A full cell has all rows of the run, others those of the tile. */
    int64_t at = cell->full ? run->tile + row : row;
    *to = cell->operand;
    if (value->place == LEATI_AT_ARGUMENT && run->by_row) {
        /* Whether an earlier segment gathered the column says nothing about it. */
        load_argument_row(run, value->index, run->tile + row, to);
    } else if (value->place == LEATI_AT_KEPT && run->program->kept[value->index].dynamic) {
        const leat_tensor *tensor = &run->scratch->kept[value->index].tensors[at];
        leati_kernel_operand_set_shape(to, tensor->rank, tensor->dims);
        to->data = tensor->data;
        to->owner = tensor->owner;
    } else {
        to->data += at * to->row_stride;
    }
}

static char *slab_of(const leati_run *run, int32_t v) {
    return run->scratch->slab + run->program->values[v].offset;
}

/* The memory planned for output `v` from row `row` of the tile on; none for a dynamic shape. */
static void place_output(const leati_run *run, int32_t v, int64_t row, leati_operand *to) {
    const leati_pvalue *value = &run->program->values[v];
    const leati_simple_value *simple = &run->program->simple.values[v];
    *to = run->scratch->cells[v].operand;
    to->data = NULL;
    to->owner = NULL;
    to->row_stride = (int64_t)simple->row_bytes;
    if (simple->count < 0)
        return;
    if (value->place == LEATI_AT_KEPT) {
        const leati_kept_run *memory = &run->scratch->kept[value->index];
        to->data = memory->data + (run->tile + row) * memory->stride;
        to->row_stride = memory->stride;
        to->owner = memory->owner;
    } else {
        to->data = slab_of(run, v) + row * to->row_stride;
    }
}

/* ---- after a kernel ---- */

static bool in_slab(const leati_run *run, const char *data) {
    uintptr_t at = (uintptr_t)data, slab = (uintptr_t)run->scratch->slab;
    return at >= slab && at < slab + run->program->slab_bytes;
}

/* A local value is where its kernel put it. A view of a temporary that the plan did not foresee is
 * copied, because the temporary's memory is given to others before this value dies. */
static void settle_local(leati_run *run, int32_t v, int64_t row, int64_t n, bool whole,
                         const leati_operand *found) {
    leati_operand *cell = &run->scratch->cells[v].operand;
    if (run->program->simple.values[v].count < 0) {
        *cell = *found;
        return;
    }
    leati_operand home;
    place_output(run, v, row, &home);
    if (found->data != home.data) {
        if (whole && (run->program->values[v].may_be_view || !in_slab(run, found->data))) {
            *cell = *found;
            return;
        }
        leati_program_copy_rows(found, n, home.data, home.row_stride);
    }
    cell->data = slab_of(run, v);
    cell->row_stride = home.row_stride;
    cell->owner = NULL;
}

/* A kept value whose kernel made a view: the view itself where it covers every row and owns its
 * memory, else a copy. */
static void settle_static(leati_run *run, int32_t v, int64_t row, int64_t n,
                          const leati_operand *found) {
    int32_t index = run->program->values[v].index;
    leati_kept_run *memory = &run->scratch->kept[index];
    leati_operand home;
    place_output(run, v, row, &home);
    if (found->data == home.data)
        return;
    bool all = run->tile == 0 && row == 0 && n == run->n;
    if (all && found->owner != NULL && memory->destination == NULL &&
        run->program->kept[index].output >= 0) {
        leat_buffer_unref(memory->owner);
        memory->owner = leat_buffer_ref(found->owner);
        memory->data = found->data;
        memory->stride = found->row_stride;
        memory->viewed = true;
        leati_operand *cell = &run->scratch->cells[v].operand;
        cell->data = found->data;
        cell->row_stride = found->row_stride;
        cell->owner = found->owner;
        return;
    }
    leati_program_copy_rows(found, n, home.data, home.row_stride);
}

/* A row of a kept value of dynamic shape: it has memory of its own, or is a view. */
static leat_status settle_dynamic(leati_run *run, int32_t v, leati_operand *found,
                                  leat_error *err) {
    const leati_pvalue *value = &run->program->values[v];
    leati_kept_run *memory = &run->scratch->kept[value->index];
    leat_tensor *tensor = &memory->tensors[run->row];
    bool owned = tensor->data != NULL && tensor->data == found->data;
    if (!owned && found->owner != NULL && memory->destination == NULL) {
        *tensor = (leat_tensor){.dtype = found->dtype, .rank = found->rank, .data = found->data};
        tensor->owner = leat_buffer_ref(found->owner);
        memcpy(tensor->dims, found->dims, sizeof tensor->dims);
        return LEAT_OK;
    }
    if (!owned) {
        leati_operand copy = *found;
        copy.row_stride = (int64_t)leati_kernel_operand_row_bytes(found);
        LEATI_TRY(leati_program_run_row_memory(run, value->index, run->row, &copy, err));
        leati_program_copy_rows(found, 1, copy.data, copy.row_stride);
    }
    if (found->dtype != LEAT_STRING)
        return LEAT_OK;
    return leati_program_run_hold(run, value->sources, run->row, 1, false, tensor->owner, err);
}

static leat_status settle(leati_run *run, int64_t row, int64_t n, bool whole, leat_error *err) {
    const leati_simple_node *node = run->node;
    leat_status status = LEAT_OK;
    for (int32_t i = 0; status == LEAT_OK && i < node->num_outputs; i++) {
        int32_t v = node->first_output + i;
        leati_operand *found = &run->scratch->outputs[i];
        bool dynamic = run->program->simple.values[v].count < 0;
        if (dynamic && found->data == NULL)
            status =
                leati_fail(err, LEAT_INTERNAL, "the kernel left output %d without a value", (int)i);
        else if (run->program->values[v].place == LEATI_AT_LOCAL)
            settle_local(run, v, row, n, whole, found);
        else if (dynamic)
            status = settle_dynamic(run, v, found, err);
        else
            settle_static(run, v, row, n, found);
    }
    return status;
}

/* ---- nodes ---- */

static leat_status call_kernel(leati_run *run, const leati_simple_node *node, int64_t row,
                               int64_t n, leat_error *err) {
    leati_scratch *scratch = run->scratch;
    leati_arena_reset(&scratch->call_arena);
    run->node = node;
    run->row = run->tile + row;
    run->context.ordinal = run->given->ordinal + run->row;
    leati_kernel_call call = {.n = n,
                              .inputs = scratch->inputs,
                              .num_inputs = node->num_inputs,
                              .outputs = scratch->outputs,
                              .num_outputs = node->num_outputs,
                              .args = node->source->args,
                              .number = node->source->number,
                              .context = &run->context,
                              .arena = &scratch->call_arena,
                              .host = &run->host};
    leat_status status = node->chain != NULL
                             ? leati_chain_run(node->chain, &call, &scratch->inner_arena, err)
                             : leati_halves_run(node->source->op, &call, err);
    return leati_stop_stopped() ? leati_stop_check(err) : status;
}

/* Rows [row, row + n) of the tile; `whole` says that these are all rows it still has. */
static leat_status run_node(leati_run *run, const leati_simple_node *node, int64_t row, int64_t n,
                            bool whole, leat_error *err) {
    for (int32_t i = 0; i < node->num_inputs; i++)
        load(run, node->inputs[i], row, &run->scratch->inputs[i]);
    for (int32_t i = 0; i < node->num_outputs; i++)
        place_output(run, node->first_output + i, row, &run->scratch->outputs[i]);
    leat_status status = call_kernel(run, node, row, n, err);
    return status != LEAT_OK ? status : settle(run, row, n, whole, err);
}

/* Row `row` of the block failed in `node` (NULL: before any): only the rows before it go on. */
static void fail_row(leati_run *run, const leati_simple_node *node, int64_t row, leat_status status,
                     leat_error *err) {
    if (node != NULL)
        leati_simplify_blame(&run->program->simple, node, err);
    run->rows = row;
    run->blamed = node;
    run->status = status;
    run->error = *err;
}

/* Runs a node on the first m rows of the tile; how many of them are good. */
static int64_t run_guarded(leati_run *run, const leati_simple_node *node, int64_t m) {
    leat_error err;
    err.code = LEAT_OK;
    err.text[0] = '\0';
    leat_status status = run_node(run, node, 0, m, true, &err);
    if (status == LEAT_OK)
        return m;
    for (int64_t row = 0; row < m; row++) {
        if (m > 1)
            status = run_node(run, node, row, 1, false, &err);
        if (status != LEAT_OK) {
            fail_row(run, node, run->tile + row, status, &err);
            return row;
        }
    }
    return m;
}

/* Values [first, first + count) of row `row`. */
static leat_status run_chunk(leati_run *run, const leati_simple_node *node, int64_t row,
                             int64_t first, int64_t count, leat_error *err) {
    const leati_program *program = run->program;
    for (int32_t i = 0; i < node->num_inputs; i++) {
        int32_t v = node->inputs[i];
        leati_operand *operand = &run->scratch->inputs[i];
        load(run, v, program->values[v].chunked ? 0 : row, operand);
        /* One value stands for all places, so it does not move with the chunk. */
        bool scalar = program->simple.values[v].count == 1;
        if (!scalar && !program->values[v].chunked)
            operand->data += first * (int64_t)leat_dtype_size(operand->dtype);
        leati_kernel_operand_set_shape(operand, scalar ? 0 : 1, &count);
    }
    int32_t v = node->first_output;
    leati_operand *out = run->scratch->outputs;
    place_output(run, v, program->values[v].chunked ? 0 : row, out);
    int64_t size = (int64_t)leat_dtype_size(out->dtype);
    if (!program->values[v].chunked)
        out->data += first * size;
    leati_kernel_operand_set_shape(out, 1, &count);
    char *home = out->data;
    run->chunk = true;
    leat_status status = call_kernel(run, node, row, 1, err);
    run->chunk = false;
    if (status == LEAT_OK && out->data != home)
        memcpy(home, out->data, (size_t)(count * size));
    return status;
}

/* Runs a chunked group on the first m rows of the tile; how many of them are good. */
static int64_t run_chunks(leati_run *run, const leati_group *group, int64_t m) {
    const leati_program *program = run->program;
    leat_error err;
    err.code = LEAT_OK;
    err.text[0] = '\0';
    for (int32_t p = group->first; p < group->first + group->count; p++) {
        int32_t v = program->simple.nodes[program->order[p]].first_output;
        if (program->values[v].place == LEATI_AT_LOCAL)
            place_output(run, v, 0, &run->scratch->cells[v].operand);
    }
    for (int64_t row = 0; row < m; row++)
        for (int64_t first = 0; first < group->values; first += LEATI_CHUNK_VALUES)
            for (int32_t p = group->first; p < group->first + group->count; p++) {
                const leati_simple_node *node = &program->simple.nodes[program->order[p]];
                int64_t left = group->values - first;
                int64_t count = LEATI_MIN(left, LEATI_CHUNK_VALUES);
                leat_status status = run_chunk(run, node, row, first, count, &err);
                if (status != LEAT_OK) {
                    fail_row(run, node, run->tile + row, status, &err);
                    return row;
                }
            }
    return m;
}

/* ---- segments ---- */

/* Points the cells of a segment's arguments at their columns, or gathers the tile. */
static void load_args(leati_run *run, const leati_segment *segment, int64_t m) {
    for (int32_t i = 0; i < segment->num_args; i++) {
        const leati_segment_arg *arg = &run->program->segment_args[segment->first_arg + i];
        const leati_column *column = &run->in->columns[arg->argument];
        leati_cell *cell = &run->scratch->cells[arg->argument];
        cell->full = column->form == LEATI_STRIDED;
        if (cell->full) {
            cell->operand.data = column->data + run->begin * column->stride;
            cell->operand.row_stride = column->stride;
            cell->operand.owner = column->owner;
            continue;
        }
        cell->operand.data = run->scratch->slab + arg->offset;
        cell->operand.row_stride = (int64_t)run->program->simple.values[arg->argument].row_bytes;
        cell->operand.owner = NULL;
        leati_column_gather(column, run->begin + run->tile, m, cell->operand.data,
                            cell->operand.row_stride);
    }
}

static void run_by_column(leati_run *run, const leati_segment *segment) {
    const leati_program *program = run->program;
    run->by_row = false;
    for (run->tile = 0; run->tile < run->rows;) {
        int64_t left = run->rows - run->tile;
        int64_t m = LEATI_MIN(left, segment->tile_rows);
        load_args(run, segment, m);
        for (int32_t g = 0; g < segment->num_groups && m > 0; g++) {
            const leati_group *group = &program->groups[segment->first_group + g];
            if (group->chunked) {
                m = run_chunks(run, group, m);
                continue;
            }
            for (int32_t p = group->first; p < group->first + group->count && m > 0; p++)
                m = run_guarded(run, &program->simple.nodes[program->order[p]], m);
        }
        leati_program_run_drop_held(run);
        /* Where no row is good, rows ends before the tile, and so does the loop. */
        run->tile += m > 0 ? m : 1;
    }
}

static void run_by_row(leati_run *run, const leati_segment *segment) {
    const leati_program *program = run->program;
    leati_scratch *scratch = run->scratch;
    leat_error err;
    err.code = LEAT_OK;
    err.text[0] = '\0';
    run->by_row = true;
    for (run->tile = 0; run->tile < run->rows; run->tile++) {
        leati_program_run_drop_held(run);
        /* What is kept beyond the row has memory of its own. */
        leati_arena_reset(&scratch->row_arena);
        /* Values of earlier segments may point into any text of the run. */
        bool first = segment == program->segments;
        run->first_text = first && scratch->num_texts > 0 ? scratch->num_texts - 1 : 0;
        run->first_string = first && scratch->num_strings > 0 ? scratch->num_strings - 1 : 0;
        for (int32_t p = segment->first; p < segment->first + segment->count; p++) {
            const leati_simple_node *node = &program->simple.nodes[program->order[p]];
            leat_status status = run_node(run, node, 0, 1, true, &err);
            if (status == LEAT_OK)
                continue;
            fail_row(run, node, run->tile, status, &err);
            break;
        }
    }
}

/* ---- the whole ---- */

/* Do the block's rows have the types that the function was compiled for? */
static void check_rows(leati_run *run) {
    const leati_body *body = &run->program->simple.function->body;
    for (int32_t a = 0; a < body->num_arguments; a++) {
        const leati_column *column = &run->in->columns[a];
        const leati_type *type = &body->values[a].type;
        /* Rows of the other forms have one type, so the first speaks for all. */
        int64_t rows = column->form == LEATI_TENSORS ? run->rows : run->rows > 0;
        for (int64_t i = 0; i < rows; i++) {
            leat_dtype dtype = column->form == LEATI_TENSORS ? column->tensors[run->begin + i].dtype
                                                             : column->dtype;
            leat_shape shape = leati_column_row_shape(column, run->begin + i);
            if (dtype == type->dtype && leati_shape_compatible(&type->shape, &shape))
                continue;
            char expected[128], found[128];
            leat_error err = {0};
            leati_refuse(&err, SHAPE,
                         "argument %d is %s of shape %s, but the function takes %s of shape %s",
                         (int)a, leat_dtype_name(dtype), leati_shape_text(&shape, found),
                         leat_dtype_name(type->dtype), leati_shape_text(&type->shape, expected));
            fail_row(run, NULL, i, LEAT_INVALID_ARGUMENT, &err);
            break;
        }
    }
}

static void run_segments(leati_run *run) {
    const leati_program *program = run->program;
    check_rows(run);
    for (int32_t s = 0; s < program->num_segments && run->rows > 0; s++)
        if (program->segments[s].by_row)
            run_by_row(run, &program->segments[s]);
        else
            run_by_column(run, &program->segments[s]);
}

/* Runs the failing row alone in trace order: where several nodes fail on it, the first of them in
 * the program is the one to report, whatever order the segments had. */
static void find_first_error(leati_run *run) {
    const leat_function *function = run->program->simple.function;
    /* By row the order was the trace's already; effects must not come twice, and want of memory
     * is no row's. */
    if (!run->blamed || run->program->whole_rows || run->status == LEAT_RESOURCE_EXHAUSTED ||
        run->status == LEAT_CANCELLED)
        return;
    size_t count = (size_t)function->body.num_arguments;
    leat_tensor *inputs = leati_alloc(count, sizeof *inputs);
    leat_tensor *outputs = leati_alloc((size_t)function->num_outputs, sizeof *outputs);
    leat_error err = {0};
    if (inputs != NULL && outputs != NULL) {
        leati_call_context context = *run->given;
        context.ordinal += run->rows;
        for (size_t i = 0; i < count; i++)
            inputs[i] = leati_column_tensor(&run->in->columns[i], run->begin + run->rows);
        leat_status status = leati_interpret(function, inputs, &context, outputs, &err);
        for (int32_t i = 0; status == LEAT_OK && i < function->num_outputs; i++)
            leat_tensor_unref(&outputs[i]);
        for (size_t i = 0; i < count; i++)
            leat_tensor_unref(&inputs[i]);
    }
    leati_free(inputs);
    leati_free(outputs);
    if (err.code != LEAT_OK && err.code != LEAT_RESOURCE_EXHAUSTED) {
        run->status = err.code;
        run->error = err;
    }
}

leat_status leati_program_run(const leati_program *program, leati_scratch *scratch,
                              const leati_block *in, int64_t begin, int64_t n,
                              const leati_call_context *context, leati_block *out,
                              int64_t *failed_row, leat_error *err) {
    *failed_row = 0;
    int32_t num_arguments = program->simple.function->body.num_arguments;
    if (begin < 0 || n < 0 || begin > in->n - n || in->num_columns != num_arguments)
        return leati_fail(
            err, LEAT_INTERNAL,
            "%lld rows from row %lld of a block of %lld rows and %d columns were given to a "
            "function of %d arguments",
            (long long)n, (long long)begin, (long long)in->n, (int)in->num_columns,
            (int)num_arguments);
    leati_run run;
    run.host = leati_program_host;
    run.program = program;
    run.scratch = scratch;
    run.in = in;
    run.begin = begin;
    run.n = run.rows = n;
    run.tile = 0;
    run.chunk = false;
    run.first_text = run.first_string = 0;
    run.given = context;
    run.context = *context;
    run.context.callbacks = &scratch->callbacks;
    run.context.recovered = &scratch->recovered;
    run.status = LEAT_OK;
    run.blamed = false;
    leat_status status = leati_block_prepare(out, program->simple.num_outputs, err);
    if (status != LEAT_OK)
        return status;
    status = leati_program_run_open(&run, out, n, err);
    if (status == LEAT_OK) {
        leati_stop_scope before = leati_cancel_enter(context->cancel);
        run_segments(&run);
        if (run.status != LEAT_OK)
            find_first_error(&run);
        leati_stop_leave(before);
        status = run.status;
        if (status == LEAT_OK)
            status = leati_program_run_finish(&run, out, n, err);
        else
            *err = run.error;
        if (run.status != LEAT_OK)
            *failed_row = run.rows;
    }
    leati_program_run_close(&run);
    if (status != LEAT_OK)
        leati_block_clear(out);
    return status;
}
