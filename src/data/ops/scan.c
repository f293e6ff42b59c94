/* scan: a function of (state, element) to (state, output), called along the input
 * (tf.data.Dataset.scan).
 *
 * Rows are computed one after the other, since each needs the state that the one before left. An
 * error of the input or of the function costs its element alone: the state stays as it was. A
 * function that ends an iteration is an error, as in map. */
#include "base/minmax.h"
#include "data/run/apply.h"
#include "data/run/fold.h"
#include "data/run/input.h"
#include "data/values/values.h"
#include <leat/data_ops.h>

struct scan_args {
    leat_element initial_state;
    leat_object *scan_func;
};

static const leati_row scan_rows[] = {
    {.name = "initial_state",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct scan_args, initial_state),
     .doc = "The state before the first element: a structure of tensors."},
    {.name = "scan_func",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct scan_args, scan_func),
     .doc = "From (state, element) to (state, output)."},
    {0},
};

struct scan_state {
    leati_input input;
    leati_scratch *scratch;
    leat_spec *spec;   /* of the state */
    leati_block state; /* one row */
    leati_block in, result, output;
    int64_t calls; /* failed ones included */
};

static const struct scan_args *args_of(const leat_dataset *dataset) {
    return dataset->args;
}

static const leat_function *function_of(const leat_dataset *dataset) {
    return (const leat_function *)args_of(dataset)->scan_func;
}

static leat_spec *scan_function_input(const void *args, leat_dataset *const *inputs, int num_inputs,
                                      const leati_row *row, leat_error *err) {
    const leat_spec *state = ((const struct scan_args *)args)->initial_state.spec;
    (void)row;
    if (num_inputs == 1 && state != NULL)
        return leati_fold_input(state, inputs[0]->spec, err);
    leati_refuse(err, VALUE, "scan: expected one input and initial_state");
    return NULL;
}

static bool is_pair(const leat_spec *spec) {
    return leat_spec_get_kind(spec) == LEAT_SPEC_TUPLE && leat_spec_num_children(spec) == 2;
}

/* A state whose shape changes from call to call needs a function of wider shapes. */
static leat_spec *scan_function_again(const leat_function *function, const leat_spec *input,
                                      const leati_row *row, leat_error *err) {
    const leat_spec *output = leat_function_output(function);
    (void)row;
    return is_pair(output) ? leati_fold_relax(input, leat_spec_child(output, 0), err) : NULL;
}

static leat_status scan_check(leat_dataset *dataset, leat_error *err) {
    const leat_function *function = function_of(dataset);
    /* A missing function is refused by leati_fold_check below. */
    const leat_spec *output = function == NULL ? NULL : leat_function_output(function);
    if (function != NULL && !is_pair(output)) {
        char text[128];
        leat_spec_print(output, text, sizeof(text));
        return leati_refuse(
            err, STRUCTURE,
            "scan: Invalid `scan_func`. `scan_func` should return a pair consisting of new "
            "state and the output value but its return type is %s",
            text);
    }
    return leati_fold_check("scan", "scan_func", function, args_of(dataset)->initial_state.spec,
                            dataset->inputs[0]->spec,
                            function == NULL ? NULL : leat_spec_child(output, 0), err);
}

static leat_spec *scan_spec(const leat_dataset *dataset, leat_error *err) {
    return leati_spec_made(leat_spec_child(leat_function_output(function_of(dataset)), 1), err);
}

static void *scan_share(const leat_dataset *dataset, leat_error *err) {
    return leati_program_new(function_of(dataset), err);
}

static void scan_unshare(void *shared) {
    leati_program_free(shared);
}

static leat_status scan_open(leati_node_state *node, void *state, leat_error *err) {
    struct scan_state *s = state;
    const struct scan_args *args = args_of(node->dataset);
    const leati_program *program = leati_dataset_shared(node->dataset, err);
    s->scratch = program == NULL ? NULL : leati_program_scratch_new(program, err);
    /* The shapes that the function takes may be wider than the initial state's. */
    s->spec = s->scratch == NULL
                  ? NULL
                  : leati_fold_state(args->initial_state.spec, function_of(node->dataset), err);
    if (s->spec == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = leati_block_of_element(&args->initial_state, &s->state, err);
    return status == LEAT_OK ? leati_input_open(&s->input, node, 0, err) : status;
}

/* One call; the output is appended to `out`. */
static leat_status step(leati_node_state *node, struct scan_state *s, const leati_program *program,
                        int64_t row, leati_block *out, leat_error *err) {
    leat_status status = leati_fold_join(&s->state, &s->input.block, row, &s->in, err);
    if (status == LEAT_OK)
        status = leati_apply(node, program, s->scratch, &s->in, 0, 1, s->calls, &s->result, err);
    /* The state moves on only here, with the result of a call that succeeded. */
    if (status == LEAT_OK)
        status = leati_fold_split(&s->result, s->spec, &s->state, &s->output, err);
    if (status == LEAT_OK)
        status = leati_block_append(out, &s->output, err);
    leati_block_clear(&s->in);
    leati_block_clear(&s->result);
    leati_block_clear(&s->output);
    return status;
}

static leati_tail scan_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                            leat_error *err) {
    struct scan_state *s = state;
    const leati_program *program = leati_dataset_shared(node->dataset, err);
    int64_t available = 0;
    leati_block_clear(out);
    if (program == NULL)
        return LEATI_ERROR;
    leati_tail tail = leati_input_peek(&s->input, want, NULL, &available, err);
    if (available == 0) {
        leati_input_consume(&s->input, tail == LEATI_ERROR);
        return tail;
    }
    int64_t n = LEATI_MIN(available, want), begin = leati_input_begin(&s->input), i = 0;
    leat_status status = LEAT_OK;
    for (; i < n && status == LEAT_OK; i++) {
        status = step(node, s, program, begin + i, out, err);
        s->calls++;
    }
    /* The row that failed is among them. */
    leati_input_consume(&s->input, i);
    /* Once for a pull: of the states in between none is kept. */
    if (status == LEAT_OK)
        status = leati_fold_compact(&s->state, err);
    return status == LEAT_OK ? LEATI_MORE : LEATI_ERROR;
}

static leat_status scan_save(leati_node_state *node, void *state, leati_writer *out,
                             leati_save_cost *cost, leat_error *err) {
    (void)node;
    struct scan_state *s = state;
    leati_put_int(out, s->calls);
    leat_status status = leati_values_put_block(out, &s->state, 0, 1, err);
    return status == LEAT_OK ? leati_input_save(&s->input, out, cost, err) : status;
}

static leat_status scan_restore(leati_node_state *node, void *state, leati_reader *in,
                                leat_error *err) {
    struct scan_state *s = state;
    LEATI_TRY(leati_get_int(in, &s->calls, err));
    LEATI_TRY(leati_values_get_block(in, s->spec, &s->state, err));
    if (s->state.n != 1) {
        return leati_fail(err, LEAT_DATA_LOSS, "%s: a saved state of %lld rows; expected 1",
                          node->name, (long long)s->state.n);
    }
    return leati_input_restore(&s->input, in, err);
}

static leat_status scan_reset(leati_node_state *node, void *state, leat_error *err) {
    struct scan_state *s = state;
    /* TensorFlow begins each epoch with the initial state. */
    leat_status status =
        leati_block_of_element(&args_of(node->dataset)->initial_state, &s->state, err);
    return status == LEAT_OK ? leati_input_reset(&s->input, err) : status;
}

static void scan_close(leati_node_state *node, void *state) {
    (void)node;
    struct scan_state *s = state;
    leati_input_close(&s->input);
    leati_block_fini(&s->state);
    leati_block_fini(&s->in);
    leati_block_fini(&s->result);
    leati_block_fini(&s->output);
    leat_spec_unref(s->spec);
    leati_program_scratch_free(s->scratch);
}

const leati_dataset_op leati_op_scan = {
    .name = "scan",
    .version = 1,
    .doc =
        "The outputs of `scan_func`, called along the input with a state that it hands on. Saved "
        "as the state's values and the input's position; restoring costs the input's.",
    .names = "Dataset.scan experimental.scan",
    .num_inputs = 1,
    .flow = LEATI_ONE_TO_ONE,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_OTHER,
    .args_size = sizeof(struct scan_args),
    .rows = scan_rows,
    .check = scan_check,
    .spec = scan_spec,
    .function_input = scan_function_input,
    .function_again = scan_function_again,
    .share = scan_share,
    .unshare = scan_unshare,
    .state_size = sizeof(struct scan_state),
    .open = scan_open,
    .pull = scan_pull,
    .save = scan_save,
    .restore = scan_restore,
    .reset = scan_reset,
    .close = scan_close,
};

leat_dataset *leat_dataset_scan(leat_dataset *input, const leat_element *initial_state,
                                leat_function *function, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset *dataset = NULL;
    if (!leati_apply_function_is_missing(function, "scan", "scan_func", &input, 1, err)) {
        struct scan_args args = {.scan_func = (leat_object *)function};
        if (initial_state != NULL)
            args.initial_state = *initial_state;
        dataset = leati_dataset_new(&leati_op_scan, &args, &input, 1, err);
    }
    leat_function_unref(function);
    return dataset;
}
