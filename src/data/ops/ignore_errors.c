/* ignore_errors: the input without its errors (tf.data.Dataset.ignore_errors).
 *
 * Blocks are handed on as they come, and what failed is asked for again. A reader below passes over
 * a file that it cannot open, which would otherwise fail forever; any other input that fails
 * forever is asked forever, as in TensorFlow, and cancelling ends that. What fails in place of the
 * end is delivered, and the end follows. Three codes are no fault of an element and are delivered:
 * CANCELLED, a deadline that has passed, and want of memory, which would otherwise lose elements
 * silently. */
#include "base/log.h"
#include "data/run/input.h"
#include <leat/data_ops.h>

struct ignore_errors_args {
    bool log_warning;
};

static const leati_row ignore_errors_rows[] = {
    {.name = "log_warning",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct ignore_errors_args, log_warning),
     .doc = "Write each error that is left out to the log."},
    {0},
};

struct ignore_errors_state {
    leati_input input;
};

static leat_status ignore_errors_open(leati_node_state *node, void *state, leat_error *err) {
    struct ignore_errors_state *s = state;
    leat_status status = leati_input_open(&s->input, node, 0, err);
    /* What fails in place of the end must come once and not at every call: the end is to follow. */
    s->input.ends_at_error = true;
    return status;
}

static bool is_of_an_element(leat_status code) {
    return code != LEAT_CANCELLED && code != LEAT_DEADLINE_EXCEEDED &&
           code != LEAT_RESOURCE_EXHAUSTED;
}

static leati_tail ignore_errors_pull(leati_node_state *node, void *state, int64_t want,
                                     leati_block *out, leat_error *err) {
    struct ignore_errors_state *s = state;
    const struct ignore_errors_args *args = node->dataset->args;
    for (;;) {
        /* A record of its own: the caller's stays untouched by what is left out. */
        leat_error error = {0};
        leati_tail tail = leati_input_take(&s->input, want, out, &error);
        if (tail != LEATI_ERROR)
            return tail;
        if (leati_input_failed_at_end(&s->input) || !is_of_an_element(error.code)) {
            *err = error;
            return LEATI_ERROR;
        }
        if (args->log_warning)
            leati_log(LEAT_LOG_WARNING, "%s leaves out an element: %s", node->name, error.text);
        /* Elements before the error go out; the next pull asks behind it. */
        if (out->n > 0)
            return LEATI_MORE;
    }
}

const leati_dataset_op leati_op_ignore_errors = {
    .name = "ignore_errors",
    .version = 1,
    .doc =
        "The input's elements without its errors. Saved as the input's position; restoring costs "
        "the input's.",
    .names = "Dataset.ignore_errors experimental.ignore_errors",
    .flags = LEATI_OP_ASKS_ON,
    .num_inputs = 1,
    .flow = LEATI_FEWER,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_OTHER,
    .args_size = sizeof(struct ignore_errors_args),
    .rows = ignore_errors_rows,
    .state_size = sizeof(struct ignore_errors_state),
    .open = ignore_errors_open,
    .pull = ignore_errors_pull,
};

leat_dataset *leat_dataset_ignore_errors(leat_dataset *input, bool log_warning, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    struct ignore_errors_args args = {.log_warning = log_warning};
    return leati_dataset_new(&leati_op_ignore_errors, &args, &input, 1, err);
}
