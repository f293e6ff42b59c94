/* Compiles a function into an element program: order, segments, places, groups, memory plan.
 *
 * Happy path: the simplified nodes are listed so that nodes that run by column and nodes that run
 * by row change as rarely as the dependencies allow; each value gets its place; chains of
 * elementwise nodes over large rows become chunked groups; the temporaries of each segment share
 * one slab by their lifetimes, and a tile has as many rows as fit LEATI_TILE_BYTES. Failures:
 * UNIMPLEMENTED for nodes that need a replica, no memory. No locks: the result is immutable. */
#include "exec/program_parts.h"

#include "base/log.h"
#include "base/minmax.h"
#include "core/spec.h"
#include "exec/slab.h"
#include "graph/body.h"
#include <string.h>

struct compile {
    leati_program *program;
    int32_t *position; /* of each node: in program->order; -1: not placed yet */
    int32_t *last;     /* of each value: last position where its memory is read */
    int32_t *group_of; /* of each position */
    leati_interval *intervals;
    size_t num_intervals;
    size_t **offsets; /* of each interval: where its offset goes */
    size_t num_args;  /* of program->segment_args */
};

/* Does the node run row by row for its own sake? */
static bool runs_by_row(const leati_simple *simple, const leati_simple_node *node) {
    for (int32_t i = 0; i < node->num_inputs; i++) {
        const leati_simple_value *value = &simple->values[node->inputs[i]];
        if (value->count < 0 || value->type->dtype == LEAT_OBJECT)
            return true;
    }
    for (int32_t i = 0; i < node->num_outputs; i++) {
        const leati_simple_value *value = &simple->values[node->first_output + i];
        if (value->count < 0 || value->type->dtype == LEAT_OBJECT)
            return true;
    }
    return false;
}

static bool is_ready(const struct compile *compile, const leati_simple_node *node) {
    for (int32_t i = 0; i < node->num_inputs; i++) {
        int32_t maker = compile->program->simple.values[node->inputs[i]].node;
        if (maker >= 0 && compile->position[maker] < 0)
            return false;
    }
    return true;
}

/* Places every node that is ready and of the segment's kind; one pass suffices, because a node
 * reads only nodes before it. */
static void fill_segment(struct compile *compile, leati_segment *segment, int32_t *placed) {
    leati_program *program = compile->program;
    for (int32_t i = 0; i < program->simple.num_nodes; i++) {
        const leati_simple_node *node = &program->simple.nodes[i];
        bool fits = program->whole_rows || runs_by_row(&program->simple, node) == segment->by_row;
        if (compile->position[i] >= 0 || !fits || !is_ready(compile, node))
            continue;
        compile->position[i] = *placed;
        program->order[(*placed)++] = i;
        segment->count++;
        for (int32_t k = 0; k < node->num_outputs; k++)
            program->values[node->first_output + k].segment = program->num_segments;
    }
}

static void make_segments(struct compile *compile) {
    leati_program *program = compile->program;
    const leati_simple *simple = &program->simple;
    for (int32_t placed = 0, next = 0; placed < simple->num_nodes;) {
        /* The kind of the first node that is not placed: it is ready, so each segment has a node at
         * least. */
        while (compile->position[next] >= 0)
            next++;
        leati_segment *segment = &program->segments[program->num_segments];
        segment->first = placed;
        segment->by_row = program->whole_rows || runs_by_row(simple, &simple->nodes[next]);
        fill_segment(compile, segment, &placed);
        program->num_segments++;
    }
}

static const leati_simple_node *node_at(const leati_program *program, int32_t position) {
    return &program->simple.nodes[program->order[position]];
}

/* Arguments, constants and locals; what other segments or the caller read is kept. */
static void place_values(leati_program *program) {
    const leati_simple *simple = &program->simple;
    for (int32_t v = 0; v < simple->num_values; v++) {
        leati_pvalue *value = &program->values[v];
        if (simple->values[v].constant >= 0) {
            value->place = LEATI_AT_CONSTANT;
            value->index = simple->values[v].constant;
        } else if (v < simple->function->body.num_arguments) {
            value->place = LEATI_AT_ARGUMENT;
            value->index = v;
        } else if (simple->values[v].node >= 0) {
            /* Objects are counted references, which the slab's memory would not release. */
            bool object = simple->values[v].type->dtype == LEAT_OBJECT;
            value->place = object ? LEATI_AT_KEPT : LEATI_AT_LOCAL;
        }
    }
    for (int32_t s = 0; s < program->num_segments; s++)
        for (int32_t p = program->segments[s].first;
             p < program->segments[s].first + program->segments[s].count; p++)
            for (int32_t i = 0; i < node_at(program, p)->num_inputs; i++) {
                leati_pvalue *value = &program->values[node_at(program, p)->inputs[i]];
                if (value->place == LEATI_AT_LOCAL && value->segment != s)
                    value->place = LEATI_AT_KEPT;
            }
    for (int32_t i = 0; i < simple->num_outputs; i++)
        if (program->values[simple->outputs[i]].place == LEATI_AT_LOCAL)
            program->values[simple->outputs[i]].place = LEATI_AT_KEPT;
}

static void number_kept(leati_program *program) {
    const leati_simple *simple = &program->simple;
    for (int32_t v = 0; v < simple->num_values; v++) {
        if (program->values[v].place != LEATI_AT_KEPT)
            continue;
        program->values[v].index = program->num_kept;
        program->kept[program->num_kept++] =
            (leati_kept){.value = v, .output = -1, .dynamic = simple->values[v].count < 0};
    }
    /* Backwards: of several outputs that are one value the first has the say about its memory. */
    for (int32_t i = simple->num_outputs - 1; i >= 0; i--) {
        const leati_pvalue *value = &program->values[simple->outputs[i]];
        if (value->place == LEATI_AT_KEPT)
            program->kept[value->index].output = i;
    }
}

/* Which string bytes each string value may point into: all that its node's inputs may. */
static void trace_sources(leati_program *program) {
    const leati_simple *simple = &program->simple;
    for (int32_t v = 0; v < simple->num_values; v++) {
        if (simple->values[v].type->dtype != LEAT_STRING)
            continue;
        if (program->values[v].place == LEATI_AT_CONSTANT)
            program->values[v].sources = LEATI_FROM_CONSTANT;
        else if (program->values[v].place == LEATI_AT_ARGUMENT)
            program->values[v].sources = LEATI_FROM_ARGUMENT(v);
    }
    for (int32_t n = 0; n < simple->num_nodes; n++) {
        const leati_simple_node *node = &simple->nodes[n];
        uint64_t sources = LEATI_FROM_TEXT;
        for (int32_t i = 0; i < node->num_inputs; i++)
            sources |= program->values[node->inputs[i]].sources;
        for (int32_t i = 0; i < node->num_outputs; i++)
            if (simple->values[node->first_output + i].type->dtype == LEAT_STRING)
                program->values[node->first_output + i].sources = sources;
    }
}

/* Is each value of the result computed from the same place of every operand, or from a scalar, over
 * a row that exceeds the cache? Sets *values to the number in a row. */
static bool is_chunkable(const leati_simple *simple, const leati_simple_node *node,
                         int64_t *values) {
    if (node->flags != LEATI_ELEMENTWISE || node->num_outputs != 1)
        return false;
    const leati_simple_value *out = &simple->values[node->first_output];
    if (out->row_bytes <= LEATI_TILE_BYTES || out->type->dtype == LEAT_STRING)
        return false;
    for (int32_t i = 0; i < node->num_inputs; i++) {
        const leati_simple_value *in = &simple->values[node->inputs[i]];
        if (in->type->dtype == LEAT_STRING ||
            (in->count != 1 && !leati_shape_equal(&in->type->shape, &out->type->shape)))
            return false;
    }
    *values = out->count;
    return true;
}

/* Cuts a segment into chunked groups of two or more nodes and plain ones between them. */
static void make_groups(struct compile *compile, leati_segment *segment) {
    leati_program *program = compile->program;
    segment->first_group = program->num_groups;
    for (int32_t p = segment->first; p < segment->first + segment->count; p++) {
        int64_t values = 0;
        bool chunkable =
            !segment->by_row && is_chunkable(&program->simple, node_at(program, p), &values);
        leati_group *group =
            segment->num_groups > 0 ? &program->groups[program->num_groups - 1] : NULL;
        if (group == NULL || group->chunked != chunkable || group->values != values) {
            group = &program->groups[program->num_groups++];
            *group = (leati_group){.first = p, .chunked = chunkable, .values = values};
            segment->num_groups++;
        }
        group->count++;
        compile->group_of[p] = program->num_groups - 1;
    }
    /* A node alone has nothing to pass on within a chunk. */
    for (int32_t g = segment->first_group; g < program->num_groups; g++)
        program->groups[g].chunked &= program->groups[g].count > 1;
}

/* Finds the arguments that the segment reads by column. */
static void list_args(struct compile *compile, leati_segment *segment) {
    leati_program *program = compile->program;
    segment->first_arg = (int32_t)compile->num_args;
    for (int32_t p = segment->first; !segment->by_row && p < segment->first + segment->count; p++) {
        const leati_simple_node *node = node_at(program, p);
        for (int32_t i = 0; i < node->num_inputs; i++) {
            int32_t at = 0;
            if (program->values[node->inputs[i]].place != LEATI_AT_ARGUMENT)
                continue;
            while (at < segment->num_args &&
                   program->segment_args[segment->first_arg + at].argument != node->inputs[i])
                at++;
            if (at < segment->num_args)
                continue;
            program->segment_args[compile->num_args++].argument = node->inputs[i];
            segment->num_args++;
        }
    }
}

/* Marks the values that never leave their chunked group: one chunk of them is enough. */
static void mark_chunked(struct compile *compile) {
    leati_program *program = compile->program;
    const leati_simple *simple = &program->simple;
    for (int32_t p = 0; p < simple->num_nodes; p++) {
        int32_t v = node_at(program, p)->first_output;
        if (program->groups[compile->group_of[p]].chunked &&
            program->values[v].place == LEATI_AT_LOCAL)
            program->values[v].chunked = true;
    }
    for (int32_t p = 0; p < simple->num_nodes; p++)
        for (int32_t i = 0; i < node_at(program, p)->num_inputs; i++) {
            int32_t v = node_at(program, p)->inputs[i], maker = simple->values[v].node;
            if (maker >= 0 && compile->group_of[compile->position[maker]] != compile->group_of[p])
                program->values[v].chunked = false;
        }
}

/* Lifetimes: the last position that reads each value. What may be a view of an input keeps that
 * input's memory busy as long as itself; operations that are not elementwise may make views. A
 * chunked group reads what comes from outside until its end, once per chunk. */
static void find_lifetimes(struct compile *compile) {
    leati_program *program = compile->program;
    for (int32_t p = program->simple.num_nodes - 1; p >= 0; p--) {
        const leati_simple_node *node = node_at(program, p);
        const leati_group *group = &program->groups[compile->group_of[p]];
        int32_t until = p;
        for (int32_t i = 0; i < node->num_outputs; i++) {
            int32_t v = node->first_output + i;
            leati_pvalue *value = &program->values[v];
            compile->last[v] = LEATI_MAX(compile->last[v], p);
            value->may_be_view =
                value->place == LEATI_AT_LOCAL && !(node->flags & LEATI_ELEMENTWISE);
            if (value->may_be_view && compile->last[v] > until)
                until = compile->last[v];
        }
        for (int32_t i = 0; i < node->num_inputs; i++) {
            int32_t v = node->inputs[i], end = until;
            if (group->chunked && !program->values[v].chunked)
                end = group->first + group->count - 1;
            if (end > compile->last[v])
                compile->last[v] = end;
        }
    }
}

/* Bytes per row of a local value's slot. */
static size_t slot_bytes(const leati_program *program, int32_t v) {
    const leati_simple_value *value = &program->simple.values[v];
    if (program->values[v].chunked)
        return LEATI_CHUNK_VALUES * leat_dtype_size(value->type->dtype);
    return value->row_bytes;
}

static void add_interval(struct compile *compile, int32_t begin, int32_t end, size_t size,
                         size_t *offset) {
    compile->intervals[compile->num_intervals] =
        (leati_interval){.begin = begin, .end = end, .size = size};
    compile->offsets[compile->num_intervals++] = offset;
}

/* Lists the slots of a segment with their bytes per row. */
static void list_slots(struct compile *compile, leati_segment *segment) {
    leati_program *program = compile->program;
    for (int32_t i = 0; i < segment->num_args; i++) {
        leati_segment_arg *arg = &program->segment_args[segment->first_arg + i];
        int32_t end = segment->first + segment->count - 1;
        end = LEATI_MIN(compile->last[arg->argument], end);
        add_interval(compile, segment->first, end, slot_bytes(program, arg->argument),
                     &arg->offset);
    }
    for (int32_t p = segment->first; p < segment->first + segment->count; p++) {
        const leati_simple_node *node = node_at(program, p);
        const leati_group *group = &program->groups[compile->group_of[p]];
        for (int32_t i = 0; i < node->num_outputs; i++) {
            int32_t v = node->first_output + i;
            if (program->values[v].place != LEATI_AT_LOCAL || program->simple.values[v].count < 0)
                continue;
            /* The earlier nodes of a chunked group run again after this one. */
            int32_t begin = group->chunked && !program->values[v].chunked ? group->first : p;
            add_interval(compile, begin, compile->last[v], slot_bytes(program, v),
                         &program->values[v].offset);
        }
    }
}

/* The largest sum of bytes per row that is alive at once in the segment; chunks count as well. */
static size_t peak_bytes(const struct compile *compile, const leati_segment *segment,
                         size_t first) {
    size_t peak = 0;
    for (int32_t p = segment->first; p < segment->first + segment->count; p++) {
        size_t sum = 0;
        for (size_t i = first; i < compile->num_intervals; i++) {
            const leati_interval *one = &compile->intervals[i];
            if (one->begin <= p && p <= one->end && !leati_add_size(sum, one->size, &sum))
                return SIZE_MAX;
        }
        peak = LEATI_MAX(sum, peak);
    }
    return peak;
}

/* Chooses the rows of a tile and scales the slots of the segment to them. */
static leat_status size_tile(struct compile *compile, leati_segment *segment, size_t first,
                             leat_error *err) {
    size_t peak = peak_bytes(compile, segment, first);
    segment->tile_rows = 1;
    if (!segment->by_row && peak == 0)
        /* Nothing lies in the slab: all rows at once. */
        segment->tile_rows = INT64_MAX;
    else if (!segment->by_row && peak < LEATI_TILE_BYTES)
        segment->tile_rows = (int64_t)(LEATI_TILE_BYTES / peak);
    for (size_t i = first; i < compile->num_intervals; i++) {
        leati_interval *one = &compile->intervals[i];
        if (one->size > 0 && !leati_mul_size(one->size, (size_t)segment->tile_rows, &one->size))
            return leati_no_memory(err);
    }
    return LEAT_OK;
}

static leat_status plan_memory(struct compile *compile, leat_error *err) {
    leati_program *program = compile->program;
    for (int32_t s = 0; s < program->num_segments; s++) {
        size_t first = compile->num_intervals;
        list_slots(compile, &program->segments[s]);
        leat_status status = size_tile(compile, &program->segments[s], first, err);
        if (status != LEAT_OK)
            return status;
    }
    leat_status status =
        leati_slab_plan(compile->intervals, compile->num_intervals, &program->slab_bytes, err);
    for (size_t i = 0; status == LEAT_OK && i < compile->num_intervals; i++)
        *compile->offsets[i] = compile->intervals[i].offset;
    return status;
}

static leat_status allocate(struct compile *compile, leat_error *err) {
    leati_program *program = compile->program;
    const leati_simple *simple = &program->simple;
    size_t nodes = (size_t)simple->num_nodes, values = (size_t)simple->num_values, args = 0;
    for (int32_t n = 0; n < simple->num_nodes; n++) {
        args += (size_t)simple->nodes[n].num_inputs;
        program->max_inputs = LEATI_MAX(program->max_inputs, simple->nodes[n].num_inputs);
        program->max_outputs = LEATI_MAX(program->max_outputs, simple->nodes[n].num_outputs);
    }
    program->order = leati_alloc(nodes, sizeof *program->order);
    program->values = leati_alloc_zero(values, sizeof *program->values);
    program->kept = leati_alloc_zero(values, sizeof *program->kept);
    program->segments = leati_alloc_zero(nodes, sizeof *program->segments);
    program->groups = leati_alloc_zero(nodes, sizeof *program->groups);
    program->segment_args = leati_alloc_zero(args, sizeof *program->segment_args);
    compile->position = leati_alloc(nodes, sizeof *compile->position);
    compile->last = leati_alloc(values, sizeof *compile->last);
    compile->group_of = leati_alloc_zero(nodes, sizeof *compile->group_of);
    compile->intervals = leati_alloc(values + args, sizeof *compile->intervals);
    compile->offsets = leati_alloc(values + args, sizeof *compile->offsets);
    if (program->order == NULL || program->values == NULL || program->kept == NULL ||
        program->segments == NULL || program->groups == NULL || program->segment_args == NULL ||
        compile->position == NULL || compile->last == NULL || compile->group_of == NULL ||
        compile->intervals == NULL || compile->offsets == NULL)
        return leati_no_memory(err);
    for (size_t i = 0; i < nodes; i++)
        compile->position[i] = -1;
    for (size_t i = 0; i < values; i++) {
        compile->last[i] = -1;
        program->values[i].segment = -1;
    }
    return LEAT_OK;
}

static void compile_fini(struct compile *compile) {
    leati_free(compile->position);
    leati_free(compile->last);
    leati_free(compile->group_of);
    leati_free(compile->intervals);
    leati_free(compile->offsets);
}

/* The node that only a training step can run, in the error. */
static leat_status refuse_steps(const leat_function *function, leat_error *err) {
    for (size_t i = 0; i < function->body.num_nodes; i++) {
        char text[128];
        if (!(leati_body_node_flags(&function->body.nodes[i]) & LEATI_NO_EAGER))
            continue;
        leati_graph_function_describe_node(function, (int32_t)i, text, sizeof text);
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "%s works between replicas; call it in a function that a strategy runs",
                          text);
    }
    return LEAT_OK;
}

static leat_status compile_program(leati_program *program, leat_error *err) {
    leat_status status = refuse_steps(program->function, err);
    if (status == LEAT_OK)
        status = leati_simplify(program->function, &program->simple, err);
    if (status == LEAT_OK)
        status = leati_chains_find(&program->simple, &program->chains, err);
    if (status != LEAT_OK)
        return status;
    struct compile compile = {.program = program};
    /* With effects a row must end before the next one begins. */
    program->whole_rows = program->simple.flags & (LEATI_STATEFUL | LEATI_IMPURE);
    status = allocate(&compile, err);
    if (status == LEAT_OK) {
        make_segments(&compile);
        place_values(program);
        number_kept(program);
        trace_sources(program);
        for (int32_t s = 0; s < program->num_segments; s++) {
            make_groups(&compile, &program->segments[s]);
            list_args(&compile, &program->segments[s]);
        }
        mark_chunked(&compile);
        find_lifetimes(&compile);
        status = plan_memory(&compile, err);
    }
    compile_fini(&compile);
    return status;
}

static void tell_chain(const leati_chain *chain) {
    if (leati_log_wants(LEATI_LOG_EXEC, LEAT_LOG_INFO)) {
        leati_text text = {0};
        leati_chain_describe(chain, &text);
        leati_log_decision(LEATI_LOG_EXEC, LEAT_LOG_INFO, "in one pass over a picture: %s",
                           text.failed ? "out of memory" : text.data);
        leati_text_fini(&text);
    }
}

leati_program *leati_program_new(const leat_function *function, leat_error *err) {
    leati_program *program = leati_alloc_zero(1, sizeof *program);
    if (program == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    program->function = leat_function_ref((leat_function *)function);
    if (compile_program(program, err) != LEAT_OK) {
        leati_program_free(program);
        return NULL;
    }
    for (int32_t i = 0; i < program->chains.count; i++)
        tell_chain(&program->chains.items[i]);
    return program;
}

void leati_program_free(leati_program *program) {
    if (program == NULL)
        return;
    leati_simplify_fini(&program->simple);
    leati_chains_fini(&program->chains);
    leat_function_unref(program->function);
    leati_free(program->order);
    leati_free(program->values);
    leati_free(program->kept);
    leati_free(program->segments);
    leati_free(program->groups);
    leati_free(program->segment_args);
    leati_free(program);
}

const leat_function *leati_program_function(const leati_program *program) {
    return program->function;
}

void leati_program_describe(const leati_program *program, const char *before, leati_text *text) {
    for (int32_t i = 0; i < program->chains.count; i++) {
        leati_text_addf(text, "%s", before);
        leati_chain_describe(&program->chains.items[i], text);
        leati_text_addf(text, "\n");
    }
}
