/* from_generator: the values of a user's C functions (tf.data.Dataset.from_generator).
 *
 * Each iterator, and each epoch of one, opens a run of the generator at its first element and
 * closes it at the end, or when it is itself closed or begins an epoch. Values are converted to the
 * signature's dtypes as numpy does it, and must have its structure and shapes.
 *
 * Failures: a value that does not fit is INVALID_ARGUMENT and costs only itself; a failure of the
 * generator is reported once and ends the run, as an exception ends a generator in Python. A
 * generator that was not declared pure cannot be saved (UNIMPLEMENTED); of a pure one the number of
 * outcomes is saved, and restoring runs through them. Threads: see leat_generator. */
#include "core/spec.h"
#include "core/tensor.h"
#include "data/plan/generator.h"
#include "data/run/state.h"
#include "data/values/join.h"
#include <leat/data_ops.h>
#include <leat/ops.h>
#include <string.h>

struct generator_args {
    char *generator;
    leat_object *functions;
    leat_spec *output_signature;
    leat_element args;
};

#define ROW(field) .offset = offsetof(struct generator_args, field)

static const leati_row generator_rows[] = {
    {.name = "generator",
     .type = LEATI_ROW_STRING,
     ROW(generator),
     .doc = "The name that leat_generator_register gave it."},
    {.name = "functions",
     .type = LEATI_ROW_OBJECT,
     .flags = LEATI_CONSTRUCT,
     ROW(functions),
     .doc = "What the name stands for."},
    {.name = "output_signature",
     .type = LEATI_ROW_SPEC,
     .flags = LEATI_REQUIRED,
     ROW(output_signature),
     .doc = "The spec of the values."},
    {.name = "args",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_NONE,
     ROW(args),
     .doc = "What the generator is given when a run begins: a tuple of tensors."},
    {0},
};

struct generator_state {
    void *run;
    bool running, done;
    int64_t outcomes; /* delivered in this epoch */
    int64_t passed;   /* how many of them the run has still to pass: set by restoring */
    leati_join join;
    leat_element value;
    leati_block row;
    leat_function **casts; /* by component; NULL: none was needed yet */
    leat_dtype *cast_from;
    int num_components;
};

static const struct generator_args *args_of(const leat_dataset *dataset) {
    return dataset->args;
}

static leati_generator *generator_of(const leat_dataset *dataset) {
    return (leati_generator *)(void *)args_of(dataset)->functions;
}

/* ---- plan side ---- */

static leat_status generator_check(leat_dataset *dataset, leat_error *err) {
    struct generator_args *args = dataset->args;
    /* A copied node brings the object along, and so does one that C functions were given for. */
    if (args->functions != NULL)
        return LEAT_OK;
    if (args->generator == NULL) {
        return leati_refuse(err, VALUE,
                            "from_generator: generator is missing; give the name of a registered "
                            "one");
    }
    leati_generator *found = leati_generator_named(args->generator, err);
    /* What generator_named gives is owned by the arguments from here on. */
    args->functions = found == NULL ? NULL : &found->object;
    return found == NULL ? LEAT_NOT_FOUND : LEAT_OK;
}

static leat_spec *generator_spec(const leat_dataset *dataset, leat_error *err) {
    return leati_spec_made(args_of(dataset)->output_signature, err);
}

static bool generator_pure(const leat_dataset *dataset) {
    return (generator_of(dataset)->flags & LEAT_PURE) != 0;
}

static leat_status generator_writable(const leat_dataset *dataset, leat_error *err) {
    const leati_generator *generator = generator_of(dataset);
    return leati_generator_is_registered(generator)
               ? LEAT_OK
               : leati_fail(err, LEAT_UNIMPLEMENTED,
                            "generator \"%s\" is not registered, so it cannot be written; name it "
                            "with leat_generator_register",
                            generator->name != NULL ? generator->name : "(unnamed)");
}

/* ---- values ---- */

/* The same kinds, keys and numbers of components? Dtypes and shapes are looked at value by
 * value. */
static bool same_structure(const leat_spec *a, const leat_spec *b) {
    leat_spec_kind kind = leat_spec_get_kind(a);
    if (leat_spec_get_kind(b) != kind)
        return false;
    if (kind != LEAT_SPEC_TUPLE && kind != LEAT_SPEC_DICT)
        return leat_spec_num_components(a) == leat_spec_num_components(b);
    int count = leat_spec_num_children(a);
    bool same = leat_spec_num_children(b) == count;
    for (int i = 0; i < count && same; i++) {
        same = (kind == LEAT_SPEC_TUPLE || strcmp(leat_spec_key(a, i), leat_spec_key(b, i)) == 0) &&
               same_structure(leat_spec_child(a, i), leat_spec_child(b, i));
    }
    return same;
}

static bool is_number(leat_dtype dtype) {
    return dtype == LEAT_BOOL || leati_dtype_is_number(dtype);
}

static int trace_cast(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)capacity;
    out[0] = leat_op_cast(leat_graph_argument(graph, 0), *(const leat_dtype *)context);
    return 1;
}

/* Component c of the value as the signature's dtype. */
static leat_status cast(struct generator_state *s, const leat_spec *signature, int c,
                        leat_error *err) {
    leat_tensor *tensor = &s->value.tensors[c], result = {0};
    leat_dtype to = leat_spec_component_dtype(signature, c);
    /* Mostly all values of a component have one dtype: its function is kept, for any shape. */
    if (s->casts[c] != NULL && s->cast_from[c] != tensor->dtype) {
        leat_function_unref(s->casts[c]);
        s->casts[c] = NULL;
    }
    if (s->casts[c] == NULL) {
        leat_spec *from =
            leat_spec_tensor(tensor->dtype, (leat_shape){.rank = LEAT_UNKNOWN_RANK}, err);
        s->casts[c] = from == NULL ? NULL : LEAT_TRACE(trace_cast, &to, from, err);
        leat_spec_unref(from);
        s->cast_from[c] = tensor->dtype;
    }
    leat_status status = s->casts[c] == NULL
                             ? LEAT_RESOURCE_EXHAUSTED
                             : leat_function_call(s->casts[c], tensor, 1, &result, 1, err);
    if (status == LEAT_OK) {
        leat_tensor_unref(tensor);
        *tensor = result;
    }
    return status;
}

/* Makes the value one of the signature that owns its memory. */
static leat_status fit(struct generator_state *s, const leat_spec *signature, leat_error *err) {
    if (s->value.spec == NULL || !same_structure(signature, s->value.spec)) {
        char texts[2][128] = {"", "nothing"};
        leat_spec_print(signature, texts[0], sizeof(texts[0]));
        if (s->value.spec != NULL)
            leat_spec_print(s->value.spec, texts[1], sizeof(texts[1]));
        return leati_refuse(err, STRUCTURE,
                            "`generator` yielded an element that did not match the expected "
                            "structure. The expected structure was %s, but the yielded element "
                            "was %s; yield what output_signature says",
                            texts[0], texts[1]);
    }
    leat_status status = LEAT_OK;
    for (int c = 0; c < s->num_components && status == LEAT_OK; c++) {
        leat_tensor *tensor = &s->value.tensors[c];
        leat_dtype dtype = leat_spec_component_dtype(signature, c);
        if (tensor->dtype != dtype && is_number(tensor->dtype) && is_number(dtype))
            status = cast(s, signature, c, err);
        if (status == LEAT_OK) {
            status = leati_spec_check_tensor(signature, c, tensor, err);
            if (status != LEAT_OK)
                return leati_prefix(
                    err, "`generator` yielded an element of another %s than output_signature says",
                    tensor->dtype == dtype ? "shape" : "type");
        }
        /* Memory of the generator's own is good until its next call only; a block lives longer. */
        if (status == LEAT_OK && tensor->owner == NULL) {
            leat_tensor copy = {0};
            status = leati_tensor_clone(tensor, &copy, err);
            *tensor = status == LEAT_OK ? copy : *tensor;
        }
    }
    return status;
}

/* ---- run side ---- */

static leat_status generator_op_open(leati_node_state *node, void *state, leat_error *err) {
    struct generator_state *s = state;
    const leat_spec *signature = args_of(node->dataset)->output_signature;
    s->num_components = leat_spec_num_components(signature);
    s->casts = leati_alloc_zero((size_t)s->num_components, sizeof(leat_function *));
    s->cast_from = leati_alloc_zero((size_t)s->num_components, sizeof(*s->cast_from));
    if (s->casts == NULL || s->cast_from == NULL)
        return leati_no_memory(err);
    return leati_join_init(&s->join, signature, err);
}

static void stop(leati_node_state *node, struct generator_state *s) {
    if (s->running)
        leati_generator_close(generator_of(node->dataset), s->run);
    s->running = false;
    s->run = NULL;
}

static leat_status next_value(leati_node_state *node, struct generator_state *s, leat_error *err) {
    leat_element_clear(&s->value);
    leati_counter_add(&node->counters.callbacks, 1);
    return leati_generator_next(generator_of(node->dataset), s->run, &s->value, err);
}

/* Begins a run and passes what was delivered before the state was saved. */
static leat_status start(leati_node_state *node, struct generator_state *s, leat_error *err) {
    leat_status status = leati_generator_open(generator_of(node->dataset),
                                              &args_of(node->dataset)->args, &s->run, err);
    s->running = status == LEAT_OK;
    /* What is passed need not fit the signature: misfits were told as errors when they were
     * delivered. */
    for (; s->passed > 0 && status == LEAT_OK; s->passed--) {
        status = next_value(node, s, err);
        if (status == LEAT_OUT_OF_RANGE) {
            status = leati_fail(err, LEAT_DATA_LOSS,
                                "a pure generator ended %lld values before the place that was "
                                "saved; it must give the same values in each run",
                                (long long)s->passed);
        }
    }
    return status;
}

/* One outcome. MORE: a row was appended to `out`. */
static leati_tail take_one(leati_node_state *node, struct generator_state *s, leati_block *out,
                           leat_error *err) {
    leat_status status = next_value(node, s, err);
    if (status != LEAT_OK) {
        stop(node, s);
        s->done = true;
        /* A failure is an outcome, the end is none. */
        s->outcomes += status != LEAT_OUT_OF_RANGE;
        return status == LEAT_OUT_OF_RANGE ? LEATI_END : LEATI_ERROR;
    }
    s->outcomes++;
    status = fit(s, args_of(node->dataset)->output_signature, err);
    if (status == LEAT_OK)
        status = leati_block_of_element(&s->value, &s->row, err);
    int64_t rows = 1;
    if (status == LEAT_OK)
        status = leati_join_rows(&s->join, &s->row, 0, &rows, out, err);
    leati_block_clear(&s->row);
    return status == LEAT_OK ? LEATI_MORE : LEATI_ERROR;
}

static leati_tail generator_pull(leati_node_state *node, void *state, int64_t want,
                                 leati_block *out, leat_error *err) {
    struct generator_state *s = state;
    leati_block_clear(out);
    if (s->done)
        return LEATI_END;
    if (!s->running && start(node, s, err) != LEAT_OK) {
        /* Where a run cannot begin, that failure is its one outcome. */
        stop(node, s);
        s->done = true;
        s->outcomes++;
        return LEATI_ERROR;
    }
    if (leati_join_begin(&s->join, want, out, err) != LEAT_OK)
        return LEATI_ERROR;
    leati_tail tail = LEATI_MORE;
    while (!leati_join_full(&s->join, out) && tail == LEATI_MORE)
        tail = take_one(node, s, out, err);
    return tail;
}

static leat_status generator_save(leati_node_state *node, void *state, leati_writer *out,
                                  leati_save_cost *cost, leat_error *err) {
    struct generator_state *s = state;
    if (!node->dataset->replayable) {
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "%s: a generator that was not declared LEAT_PURE cannot be saved",
                          node->name);
    }
    leati_put_int(out, s->outcomes);
    leati_put_uint(out, s->done);
    /* A run that is over is not begun again: nothing is replayed. */
    cost->replay_elements += s->done ? 0 : s->outcomes;
    return LEAT_OK;
}

static leat_status generator_restore(leati_node_state *node, void *state, leati_reader *in,
                                     leat_error *err) {
    struct generator_state *s = state;
    uint64_t done = 0;
    stop(node, s);
    leat_status status = leati_get_int(in, &s->outcomes, err);
    if (status == LEAT_OK)
        status = leati_get_uint(in, &done, err);
    if (status == LEAT_OK && s->outcomes < 0) {
        status = leati_fail(err, LEAT_DATA_LOSS, "%s: %lld saved outcomes", node->name,
                            (long long)s->outcomes);
    }
    s->done = done != 0;
    s->passed = s->outcomes;
    return status;
}

static leat_status generator_reset(leati_node_state *node, void *state, leat_error *err) {
    struct generator_state *s = state;
    (void)err;
    stop(node, s);
    s->done = false;
    s->outcomes = 0;
    s->passed = 0;
    return LEAT_OK;
}

static void generator_op_close(leati_node_state *node, void *state) {
    struct generator_state *s = state;
    stop(node, s);
    leati_join_fini(&s->join);
    leat_element_fini(&s->value);
    leati_block_fini(&s->row);
    for (int c = 0; s->casts != NULL && c < s->num_components; c++)
        leat_function_unref(s->casts[c]);
    leati_free(s->casts);
    leati_free(s->cast_from);
}

const leati_dataset_op leati_op_from_generator = {
    .name = "from_generator",
    .version = 1,
    .doc = "The values of a registered generator, which each iterator runs anew. Only a pure one "
           "is saved, as the number of values; restoring runs through them.",
    .names = "Dataset.from_generator",
    .num_inputs = 0,
    .flow = LEATI_SOURCE,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_WHOLE,
    .batches = LEATI_BATCHES_OTHER,
    .args_size = sizeof(struct generator_args),
    .rows = generator_rows,
    .check = generator_check,
    .spec = generator_spec,
    .pure = generator_pure,
    .writable = generator_writable,
    .state_size = sizeof(struct generator_state),
    .open = generator_op_open,
    .pull = generator_pull,
    .save = generator_save,
    .restore = generator_restore,
    .reset = generator_reset,
    .close = generator_op_close,
};

static leat_dataset *make(leati_generator *generator, leat_spec *output_signature,
                          const leat_element *args, leat_error *err) {
    struct generator_args all = {.generator = generator->name,
                                 .functions = &generator->object,
                                 .output_signature = output_signature};
    if (args != NULL)
        all.args = *args;
    return leati_dataset_new(&leati_op_from_generator, &all, NULL, 0, err);
}

leat_dataset *leat_dataset_from_generator(const leat_generator *generator, void *context,
                                          const leat_dataset_from_generator_options *options,
                                          leat_spec *output_signature, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_from_generator_options o = {LEAT_DATASET_FROM_GENERATOR_DEFAULTS};
    leat_dataset *dataset = NULL;
    leati_generator *object = NULL;
    if (LEATI_OPTIONS(leat_dataset_from_generator_options, &o, options, err) != LEAT_OK) {
        leat_spec_unref(output_signature);
        return NULL;
    }
    if (generator != NULL && generator->next != NULL && output_signature != NULL) {
        object = leati_generator_new(generator, context, o.name, o.flags, err);
    } else if (err->code == LEAT_OK) {
        leati_refuse(err, VALUE, "from_generator: %s is NULL; pass %s",
                     output_signature == NULL ? "output_signature"
                     : generator == NULL      ? "generator"
                                              : "next of the generator",
                     output_signature == NULL ? "a spec" : "one");
    }
    if (object != NULL) {
        /* Only now: where leati_generator_new fails the context is released below. */
        object->release = o.release;
        dataset = make(object, output_signature, o.args, err);
        leati_object_unref(object);
    } else if (o.release != NULL) {
        o.release(context);
    }
    leat_spec_unref(output_signature);
    return dataset;
}
