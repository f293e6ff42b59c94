/* Elements of several inputs in a selector's order: see directed.h.
 *
 * All inputs are opened at once, as in TensorFlow. A number that names an input which has ended is
 * used up; when the last input has ended, or the first one where stop_on_empty is set, the
 * iteration ends. A number outside of the inputs is one INVALID_ARGUMENT, an input's error one
 * outcome; both use up their number. Pure inputs are asked for their share of what the consumer
 * wants, others for one element at a time. No locks. */
#include "data/run/directed.h"
#include <string.h>

static int input_number(const int *which, int i) {
    return which == NULL ? i : which[i];
}

leat_spec *leati_directed_spec(const leat_dataset *dataset, const int *which, int count,
                               leat_error *err) {
    leat_spec *spec = leat_spec_ref(dataset->inputs[input_number(which, 0)]->spec);
    for (int i = 1; i < count && spec != NULL; i++) {
        leat_error local = {0};
        int number = input_number(which, i);
        leat_spec *joined = leati_spec_join(spec, dataset->inputs[number]->spec, &local);
        leat_spec_unref(spec);
        spec = joined;
        if (spec == NULL) {
            leati_prefix(&local, "%s: Incompatible dataset elements: dataset %d", dataset->op->name,
                         number);
            *err = local;
        }
    }
    return spec;
}

int64_t leati_directed_cardinality(const leat_dataset *dataset, const int *which, int count) {
    for (int i = 0; i < count; i++)
        /* As TensorFlow has it: one that never ends is enough, whatever is selected. */
        if (dataset->inputs[input_number(which, i)]->cardinality == LEAT_INFINITE_CARDINALITY)
            return LEAT_INFINITE_CARDINALITY;
    return LEAT_UNKNOWN_CARDINALITY;
}

leat_status leati_directed_open(leati_directed *directed, leati_node_state *node, const int *which,
                                int count, bool stop_on_empty, leat_error *err) {
    directed->stop_on_empty = stop_on_empty;
    directed->selected = -1;
    directed->live = count;
    directed->inputs = leati_alloc_zero((size_t)count, sizeof(*directed->inputs));
    directed->dead = leati_alloc_zero((size_t)count, sizeof(*directed->dead));
    directed->failing = leati_alloc_zero((size_t)count, sizeof(*directed->failing));
    if (directed->inputs == NULL || directed->dead == NULL || directed->failing == NULL)
        return leati_no_memory(err);
    leat_status status = leati_join_init(&directed->join, node->dataset->spec, err);
    for (; status == LEAT_OK && directed->num_inputs < count; directed->num_inputs++) {
        status = leati_input_open(&directed->inputs[directed->num_inputs], node,
                                  input_number(which, directed->num_inputs), err);
        if (status != LEAT_OK)
            break;
    }
    return status;
}

void leati_directed_close(leati_directed *directed) {
    for (int i = 0; i < directed->num_inputs; i++)
        leati_input_close(&directed->inputs[i]);
    leati_free(directed->inputs);
    leati_free(directed->dead);
    leati_free(directed->failing);
    leati_join_fini(&directed->join);
}

leat_status leati_directed_reset(leati_directed *directed, leat_error *err) {
    leat_status status = LEAT_OK;
    memset(directed->dead, 0, (size_t)directed->num_inputs * sizeof(*directed->dead));
    memset(directed->failing, 0, (size_t)directed->num_inputs * sizeof(*directed->failing));
    directed->live = directed->num_inputs;
    directed->selected = -1;
    directed->ended = false;
    for (int i = 0; i < directed->num_inputs && status == LEAT_OK; i++)
        status = leati_input_reset(&directed->inputs[i], err);
    return status;
}

/* The selected input has ended. */
static void bury(leati_directed *directed) {
    directed->dead[directed->selected] = true;
    directed->live--;
    directed->ended = directed->stop_on_empty || directed->live == 0;
}

/* The selected input's error stands at the end only where no other input has elements left. */
static void note_failure(leati_directed *directed, leat_error *err) {
    directed->failing[directed->selected] = err->at_end;
    for (int i = 0; i < directed->num_inputs && err->at_end; i++)
        err->at_end = directed->dead[i] || directed->failing[i];
}

/* Adds one element of the selected input to `out`. */
static leati_tail take_selected(leati_directed *directed, int64_t want, leati_block *out,
                                leat_error *err) {
    leati_input *input = &directed->inputs[directed->selected];
    /* As if all that are alive came equally often; rounded up, so at least one. */
    int64_t share = leati_input_pure(input) ? (want + directed->live - 1) / directed->live : 1;
    int64_t available = 0;
    leati_tail tail = leati_input_peek(input, share, NULL, &available, err);
    if (available == 0) {
        leati_input_consume(input, tail == LEATI_ERROR);
        if (tail == LEATI_END)
            bury(directed);
        else
            note_failure(directed, err);
        directed->selected = -1;
        return tail;
    }
    int64_t rows = 1;
    /* On failure the selection stays: the next call takes the same element. */
    if (leati_join_rows(&directed->join, &input->block, leati_input_begin(input), &rows, out,
                        err) != LEAT_OK)
        return LEATI_ERROR;
    leati_input_consume(input, 1);
    directed->selected = -1;
    return LEATI_MORE;
}

/* Draws numbers until one names an input that is alive. */
static leati_tail draw(leati_node_state *node, leati_directed *directed,
                       leati_directed_select *select, void *selector, int64_t want,
                       leat_error *err) {
    while (directed->selected < 0) {
        int64_t number = 0;
        leati_tail tail = select(node, selector, want, &number, err);
        if (tail != LEATI_MORE) {
            directed->ended = tail == LEATI_END;
            return tail;
        }
        if (number < 0 || number >= directed->num_inputs) {
            leati_refuse(err, VALUE, "Selector index out of range: %lld, expected 0 to %d",
                         (long long)number, directed->num_inputs - 1);
            return LEATI_ERROR;
        }
        directed->selected = directed->dead[number] ? -1 : number;
        /* Where the weight of inputs that have ended is large, hardly any draw hits another one. */
        if (directed->selected < 0 && leati_cancel_fired(node->iteration->cancel)) {
            leati_fail(err, LEAT_CANCELLED, "%s: the iterator was cancelled", node->name);
            return LEATI_ERROR;
        }
    }
    return LEATI_MORE;
}

leati_tail leati_directed_pull(leati_node_state *node, leati_directed *directed,
                               leati_directed_select *select, void *selector, int64_t want,
                               leati_block *out, leat_error *err) {
    leati_tail tail = LEATI_MORE;
    if (leati_join_begin(&directed->join, want, out, err) != LEAT_OK)
        return LEATI_ERROR;
    while (!leati_join_full(&directed->join, out)) {
        int64_t left = directed->join.most - out->n;
        tail = directed->ended ? LEATI_END : draw(node, directed, select, selector, left, err);
        if (tail == LEATI_MORE)
            tail = take_selected(directed, left, out, err);
        /* The end of one input is nothing that the consumer sees. */
        if (tail == LEATI_ERROR || (tail == LEATI_END && directed->ended))
            break;
        tail = LEATI_MORE;
    }
    if (out->n == 0)
        leati_block_clear(out);
    return tail;
}

/* What is saved of an input that is not simply alive. */
enum { SAVED_DEAD = 1, SAVED_FAILING = 2 };

leat_status leati_directed_save(leati_directed *directed, leati_writer *out, leati_save_cost *cost,
                                leat_error *err) {
    leat_status status = LEAT_OK;
    leati_put_uint(out, directed->ended);
    leati_put_int(out, directed->selected);
    for (int i = 0; i < directed->num_inputs && status == LEAT_OK; i++) {
        leati_put_uint(out, directed->dead[i]      ? SAVED_DEAD
                            : directed->failing[i] ? SAVED_FAILING
                                                   : 0);
        status = leati_input_save(&directed->inputs[i], out, cost, err);
    }
    return status;
}

leat_status leati_directed_restore(leati_directed *directed, leati_reader *in, leat_error *err) {
    uint64_t ended = 0, dead = 0;
    leat_status status = leati_get_uint(in, &ended, err);
    if (status == LEAT_OK)
        status = leati_get_int(in, &directed->selected, err);
    if (status == LEAT_OK &&
        (directed->selected < -1 || directed->selected >= directed->num_inputs)) {
        status = leati_fail(err, LEAT_DATA_LOSS, "a saved selection of input %lld of %d",
                            (long long)directed->selected, directed->num_inputs);
        directed->selected = -1;
    }
    directed->ended = ended != 0;
    directed->live = directed->num_inputs;
    for (int i = 0; i < directed->num_inputs && status == LEAT_OK; i++) {
        status = leati_get_uint(in, &dead, err);
        directed->dead[i] = dead == SAVED_DEAD;
        directed->failing[i] = dead == SAVED_FAILING;
        directed->live -= directed->dead[i];
        status = status == LEAT_OK ? leati_input_restore(&directed->inputs[i], in, err) : status;
    }
    /* A damaged state: without this, draws would search for a live input for ever. */
    if (status == LEAT_OK && directed->live == 0)
        directed->ended = true;
    return status;
}
