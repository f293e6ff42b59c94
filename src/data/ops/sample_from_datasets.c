/* sample_from_datasets: elements of the inputs in a random order, by weights
 * (tf.data.Dataset.sample_from_datasets).
 *
 * Each draw takes two words of a random stream (the operator random's) as the seeds of TensorFlow's
 * stateless multinomial: a uniform number is looked up in the running sums of the exponentials of
 * the logits, which are the logarithms of the weights in the weights' dtype. The drawn numbers
 * direct the reading (data/run/directed.h). Weights may come as a dataset, one vector per draw,
 * which is then the last input. Weights in float32, which is what a list of numbers is, drop the
 * datasets whose weight is not positive; a single dataset that is left is handed on without a draw.
 *
 * Where only datasets of weight 0 have elements left TensorFlow draws for ever; here that is the
 * end. Failures: errors of the inputs and of the weights, one outcome each. No locks of its own. */
#include "base/random.h"
#include "data/plan/seed_generator.h"
#include "data/run/directed.h"
#include "data/run/own.h"
#include <leat/data_ops.h>
#include <math.h>

struct sample_args {
    leat_element weights;
    bool weights_are_input;
    leati_seed_argument seed;
    bool stop_on_empty_dataset;
    bool rerandomize_each_iteration;
    bool resolved;
    int64_t pair[2];
};

#define ROW(field) .offset = offsetof(struct sample_args, field)

static const leati_row sample_rows[] = {
    {.name = "weights",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_NONE | LEATI_NODE,
     ROW(weights),
     .doc = "A vector of one weight for each dataset, or a dataset of them; none: equal weights."},
    {.name = "weights_is_input",
     .type = LEATI_ROW_BOOL,
     .flags = LEATI_CONSTRUCT,
     ROW(weights_are_input),
     .doc = "The last input gives the weights."},
    {.name = "seed",
     .type = LEATI_ROW_SEED,
     .flags = LEATI_NONE,
     ROW(seed),
     .doc = "Seed of the draws."},
    {.name = "stop_on_empty_dataset",
     .type = LEATI_ROW_BOOL,
     .flags = LEATI_NONE,
     ROW(stop_on_empty_dataset),
     .doc = "End with the first dataset that ends; else draws of it are passed over."},
    {.name = "rerandomize_each_iteration",
     .type = LEATI_ROW_BOOL,
     .flags = LEATI_NONE,
     ROW(rerandomize_each_iteration),
     .doc = "Other draws in every epoch and iterator."},
    LEATI_RESOLVED_ROWS(struct sample_args),
    {0},
};

struct sample_state {
    leati_seed_generator *generator; /* borrowed from the dataset */
    uint64_t pair[2];                /* of this epoch */
    leati_words words;               /* of the pair */
    int64_t draws;
    leati_input weights; /* only with a dataset of weights */
    double *sums;        /* running, of one weight for each input */
    int64_t num_sums, capacity;
    leati_directed directed;
};

/* ---- the plan side ---- */

/* The number of datasets, without that of the weights. */
static int num_datasets(const leat_dataset *dataset) {
    return dataset->num_inputs - ((const struct sample_args *)dataset->args)->weights_are_input;
}

static double weight(const struct sample_args *args, int i) {
    const leat_tensor *tensor = &args->weights.tensors[0];
    return tensor->dtype == LEAT_FLOAT32 ? (double)((const float *)tensor->data)[i]
                                         : ((const double *)tensor->data)[i];
}

/* Is dataset i drawn from? */
static bool is_kept(const struct sample_args *args, int i) {
    return args->weights.spec == NULL || args->weights.tensors[0].dtype != LEAT_FLOAT32 ||
           weight(args, i) > 0;
}

/* The datasets that are drawn from, in order: at least one, which is the first one if all weights
 * are 0 (*nothing). An owned array, or NULL without memory. */
static int *kept_inputs(const leat_dataset *dataset, int *count, bool *nothing, leat_error *err) {
    const struct sample_args *args = dataset->args;
    int total = num_datasets(dataset);
    int *which = leati_alloc_zero((size_t)total, sizeof(*which));
    if (which == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    *count = 0;
    for (int i = 0; i < total; i++)
        if (is_kept(args, i))
            which[(*count)++] = i;
    *nothing = *count == 0;
    *count += *nothing;
    return which;
}

static leat_status check_vector(const leat_spec *spec, int64_t count, leat_error *err) {
    leat_shape shape = leat_spec_shape(spec);
    leat_dtype dtype = leat_spec_dtype(spec);
    char text[256];
    leat_spec_print(spec, text, sizeof(text));
    if (leat_spec_get_kind(spec) != LEAT_SPEC_TENSOR ||
        (dtype != LEAT_FLOAT32 && dtype != LEAT_FLOAT64)) {
        return leati_refuse(err, DTYPE,
                            "sample_from_datasets: Invalid `weights`. `weights` must be "
                            "floating point vectors of `tf.float32` or `tf.float64` but are %s",
                            text);
    }
    if (shape.rank == 1 && shape.dims[0] >= 0 && shape.dims[0] != count) {
        return leati_refuse(err, SHAPE,
                            "sample_from_datasets: Invalid `weights`. `weights` should have the "
                            "same length as `datasets` but got `len(weights)=%lld` vs. "
                            "`len(datasets)=%lld`",
                            (long long)shape.dims[0], (long long)count);
    }
    if (shape.rank != 1) {
        return leati_refuse(err, SHAPE,
                            "sample_from_datasets: weights is %s; expected a vector of %lld "
                            "numbers, one for each dataset",
                            text, (long long)count);
    }
    return LEAT_OK;
}

/* Is there nothing to draw, because one dataset is left? */
static leat_status is_alone(const leat_dataset *dataset, bool *alone, leat_error *err) {
    const struct sample_args *args = dataset->args;
    int count = 0;
    bool nothing = false;
    int *which = kept_inputs(dataset, &count, &nothing, err);
    *alone = count == 1 && !args->weights_are_input;
    leati_free(which);
    return which == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
}

static leat_status sample_check(leat_dataset *dataset, leat_error *err) {
    struct sample_args *args = dataset->args;
    int count = num_datasets(dataset);
    leat_status status = LEAT_OK;
    bool alone = false;
    if (count < 1) {
        return leati_refuse(
            err, VALUE,
            "sample_from_datasets: Invalid `datasets`. `datasets` should not be empty.");
    }
    if (args->weights_are_input)
        status = check_vector(dataset->inputs[count]->spec, count, err);
    else if (args->weights.spec != NULL)
        status = check_vector(args->weights.spec, count, err);
    if (status == LEAT_OK)
        status = is_alone(dataset, &alone, err);
    if (status == LEAT_OK && !alone)
        leati_seed_resolve_once(args->seed, &args->resolved, args->pair);
    return status;
}

static leat_spec *sample_spec(const leat_dataset *dataset, leat_error *err) {
    int count = 0;
    bool nothing = false;
    int *which = kept_inputs(dataset, &count, &nothing, err);
    leat_spec *spec = which == NULL ? NULL : leati_directed_spec(dataset, which, count, err);
    leati_free(which);
    return spec;
}

static int64_t sample_cardinality(const leat_dataset *dataset) {
    const struct sample_args *args = dataset->args;
    int count = 0, total = num_datasets(dataset), last = 0;
    bool infinite = false;
    for (int i = 0; i < total; i++) {
        if (is_kept(args, i)) {
            count++;
            last = i;
            infinite = infinite || dataset->inputs[i]->cardinality == LEAT_INFINITE_CARDINALITY;
        }
    }
    if (count == 0)
        return 0;
    if (count == 1 && !args->weights_are_input)
        return dataset->inputs[last]->cardinality;
    return infinite ? LEAT_INFINITE_CARDINALITY : LEAT_UNKNOWN_CARDINALITY;
}

static void *sample_share(const leat_dataset *dataset, leat_error *err) {
    const struct sample_args *args = dataset->args;
    return leati_seed_generator_new(args->pair[0], args->pair[1], !args->rerandomize_each_iteration,
                                    err);
}

static void sample_unshare(void *shared) {
    leati_seed_generator_free(shared);
}

/* ---- draws ---- */

/* Running sums over n weights of dtype float32 or float64 (NULL: all the same), as TensorFlow's
 * multinomial adds them up; what is no finite logit adds nothing. */
static leat_status set_sums(struct sample_state *s, leat_dtype dtype, const void *weights,
                            int64_t n, leat_error *err) {
    if (n > s->capacity) {
        double *sums = leati_alloc((size_t)n, sizeof(*sums));
        if (sums == NULL)
            return leati_no_memory(err);
        leati_free(s->sums);
        s->sums = sums;
        s->capacity = n;
    }
    double greatest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        s->sums[i] = weights == NULL         ? 1
                     : dtype == LEAT_FLOAT32 ? (double)logf(((const float *)weights)[i])
                                             : log(((const double *)weights)[i]);
        greatest = isfinite(s->sums[i]) && s->sums[i] > greatest ? s->sums[i] : greatest;
    }
    /* By the difference to the greatest logit, so that exp cannot overflow. */
    for (int64_t i = 0; i < n; i++) {
        sum += isfinite(s->sums[i]) ? exp(s->sums[i] - greatest) : 0;
        s->sums[i] = sum;
    }
    s->num_sums = n;
    return LEAT_OK;
}

/* Takes the next vector out of the dataset of weights. */
static leati_tail next_weights(struct sample_state *s, int64_t want, leat_error *err) {
    int64_t available = 0;
    leati_tail tail = leati_input_peek(&s->weights, leati_input_pure(&s->weights) ? want : 1, NULL,
                                       &available, err);
    if (available == 0) {
        leati_input_consume(&s->weights, tail == LEATI_ERROR);
        return tail;
    }
    const leati_column *column = &s->weights.block.columns[0];
    int64_t row = leati_input_begin(&s->weights);
    leat_shape shape = leati_column_row_shape(column, row);
    if (set_sums(s, column->dtype, leati_column_row(column, row), shape.dims[0], err) != LEAT_OK)
        return LEATI_ERROR;
    leati_input_consume(&s->weights, 1);
    return LEATI_MORE;
}

/* Can a draw still name an input that is alive? */
static bool can_draw(const struct sample_state *s) {
    double before = 0;
    for (int64_t i = 0; i < s->num_sums; i++) {
        if (s->sums[i] > before && (i >= s->directed.num_inputs || !s->directed.dead[i]))
            return true;
        before = s->sums[i];
    }
    /* Weights of which none counts name no dataset, and the draw fails. */
    return s->num_sums == 0 || before == 0;
}

static leati_tail draw(leati_node_state *node, void *selector, int64_t want, int64_t *number,
                       leat_error *err) {
    struct sample_state *s = selector;
    if (s->generator == NULL) { /* one dataset, nothing to draw */
        *number = 0;
        return LEATI_MORE;
    }
    leati_tail tail = LEATI_MORE;
    bool varying = s->weights.child != NULL;
    if (varying)
        tail = next_weights(s, want, err);
    else if (s->directed.live < s->directed.num_inputs && !can_draw(s))
        return LEATI_END;
    /* Without memory the vector stays in front, and its seeds are left for the next try. */
    if (tail == LEATI_END || (tail == LEATI_ERROR && err->code == LEAT_RESOURCE_EXHAUSTED))
        return tail;
    (void)node;
    int64_t seeds[2];
    seeds[0] = leati_words_next(&s->words);
    seeds[1] = leati_words_next(&s->words);
    s->draws++;
    if (tail == LEATI_ERROR)
        return tail; /* TensorFlow's zip of weights and seeds takes both */
    /* The words are the seeds of TensorFlow's stateless multinomial. */
    uint32_t words[4];
    leati_philox philox = leati_philox_stateless(seeds[0], seeds[1]);
    leati_philox_next(&philox, words);
    double target =
        leati_uniform_double(words[0], words[1]) * (s->num_sums > 0 ? s->sums[s->num_sums - 1] : 0);
    /* The first sum beyond the target: one that equals its neighbour, of a weight of 0, is never
     * it. */
    int64_t low = 0, high = s->num_sums;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (s->sums[middle] > target)
            high = middle;
        else
            low = middle + 1;
    }
    *number = low;
    return LEATI_MORE;
}

/* ---- the run side ---- */

/* The sums of weights that stay the same. */
static leat_status fixed_sums(const leat_dataset *dataset, struct sample_state *s, const int *which,
                              int count, leat_error *err) {
    const struct sample_args *args = dataset->args;
    if (args->weights.spec == NULL)
        return set_sums(s, LEAT_FLOAT32, NULL, count, err);
    const leat_tensor *tensor = &args->weights.tensors[0];
    /* float64 weights drop no dataset, so that they stand in the order of all. */
    if (tensor->dtype != LEAT_FLOAT32)
        return set_sums(s, LEAT_FLOAT64, tensor->data, count, err);
    float *weights = leati_alloc((size_t)count, sizeof(*weights));
    if (weights == NULL)
        return leati_no_memory(err);
    for (int i = 0; i < count; i++)
        weights[i] = ((const float *)tensor->data)[which[i]];
    leat_status status = set_sums(s, LEAT_FLOAT32, weights, count, err);
    leati_free(weights);
    return status;
}

static void begin(struct sample_state *s) {
    s->draws = 0;
    if (s->generator != NULL) {
        leati_seed_generator_next(s->generator, s->pair);
        s->words = leati_words_new(s->pair[0], s->pair[1]);
    }
}

static leat_status open_inputs(leati_node_state *node, struct sample_state *s, const int *which,
                               int count, bool nothing, leat_error *err) {
    const struct sample_args *args = node->dataset->args;
    leat_status status = LEAT_OK;
    if (args->weights_are_input)
        status = leati_input_open(&s->weights, node, num_datasets(node->dataset), err);
    else if (count > 1)
        status = fixed_sums(node->dataset, s, which, count, err);
    /* One dataset is handed on without a draw, and takes no pair of seeds. */
    if (status == LEAT_OK && (count > 1 || args->weights_are_input)) {
        s->generator = leati_own_shared(node->iteration->own, node->dataset, err);
        status = s->generator == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
    }
    if (status == LEAT_OK) {
        /* As in TensorFlow, whose selector is opened before the datasets that it chooses from. */
        begin(s);
        status =
            leati_directed_open(&s->directed, node, which, count, args->stop_on_empty_dataset, err);
    }
    s->directed.ended = nothing;
    return status;
}

static leat_status sample_open(leati_node_state *node, void *state, leat_error *err) {
    int count = 0;
    bool nothing = false;
    int *which = kept_inputs(node->dataset, &count, &nothing, err);
    if (which == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = open_inputs(node, state, which, count, nothing, err);
    leati_free(which);
    return status;
}

static leati_tail sample_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                              leat_error *err) {
    struct sample_state *s = state;
    return leati_directed_pull(node, &s->directed, draw, s, want, out, err);
}

static leat_status sample_save(leati_node_state *node, void *state, leati_writer *out,
                               leati_save_cost *cost, leat_error *err) {
    (void)node;
    struct sample_state *s = state;
    leat_status status = LEAT_OK;
    if (s->generator != NULL) {
        leati_seed_generator_save(s->generator, out);
        leati_put_fixed64(out, s->pair[0]);
        leati_put_fixed64(out, s->pair[1]);
        leati_put_int(out, s->draws);
    }
    if (s->weights.child != NULL)
        status = leati_input_save(&s->weights, out, cost, err);
    return status == LEAT_OK ? leati_directed_save(&s->directed, out, cost, err) : status;
}

static leat_status restore_draws(struct sample_state *s, leati_reader *in, leat_error *err) {
    leat_status status = leati_seed_generator_restore(s->generator, in, err);
    if (status == LEAT_OK)
        status = leati_get_fixed64(in, &s->pair[0], err);
    if (status == LEAT_OK)
        status = leati_get_fixed64(in, &s->pair[1], err);
    if (status == LEAT_OK)
        status = leati_get_int(in, &s->draws, err);
    if (status == LEAT_OK && s->draws < 0) {
        status = leati_fail(err, LEAT_DATA_LOSS, "sample_from_datasets: %lld saved draws",
                            (long long)s->draws);
    }
    if (status == LEAT_OK) {
        s->words = leati_words_new(s->pair[0], s->pair[1]);
        leati_words_skip(&s->words, 2 * (uint64_t)s->draws); /* two for each draw */
    }
    return status;
}

static leat_status sample_restore(leati_node_state *node, void *state, leati_reader *in,
                                  leat_error *err) {
    (void)node;
    struct sample_state *s = state;
    leat_status status = s->generator != NULL ? restore_draws(s, in, err) : LEAT_OK;
    if (status == LEAT_OK && s->weights.child != NULL)
        status = leati_input_restore(&s->weights, in, err);
    return status == LEAT_OK ? leati_directed_restore(&s->directed, in, err) : status;
}

static void sample_close(leati_node_state *node, void *state) {
    (void)node;
    struct sample_state *s = state;
    leati_directed_close(&s->directed);
    leati_free(s->sums);
    leati_input_close(&s->weights);
}

static leat_status sample_reset(leati_node_state *node, void *state, leat_error *err) {
    struct sample_state *s = state;
    /* As on opening: no weight counts, or the one dataset that is left is known to be empty. */
    bool nothing = sample_cardinality(node->dataset) == 0 && s->generator == NULL;
    leat_status status = LEAT_OK;
    if (s->weights.child != NULL)
        status = leati_input_reset(&s->weights, err);
    begin(s);
    status = status == LEAT_OK ? leati_directed_reset(&s->directed, err) : status;
    s->directed.ended = nothing;
    return status;
}

const leati_dataset_op leati_op_sample_from_datasets = {
    .name = "sample_from_datasets",
    .version = 1,
    .doc = "Elements of the inputs in a random order, by weights. Saved as seeds, the number of "
           "draws and all inputs' positions; restoring costs the inputs'.",
    .names = "Dataset.sample_from_datasets experimental.sample_from_datasets",
    .signature = "datasets weights=null seed=null stop_on_empty_dataset=false "
                 "rerandomize_each_iteration=null",
    .shown = "DirectedInterleave",
    .num_inputs = -1,
    .flow = LEATI_MIXES,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_IN_STEP,
    .batches = LEATI_BATCHES_OTHER,
    .flags = LEATI_OP_SHARED_DRAW | LEATI_OP_SEED_GENERATOR,
    .args_size = sizeof(struct sample_args),
    .rows = sample_rows,
    .check = sample_check,
    .spec = sample_spec,
    .cardinality = sample_cardinality,
    .share = sample_share,
    .unshare = sample_unshare,
    .shared_settle = leati_seed_generator_settle,
    .shared_copy = leati_seed_generator_copy,
    .state_size = sizeof(struct sample_state),
    .open = sample_open,
    .pull = sample_pull,
    .save = sample_save,
    .restore = sample_restore,
    .reset = sample_reset,
    .close = sample_close,
};

leat_dataset *leati_dataset_sample_resolved(leat_dataset *const *inputs, int num_datasets,
                                            const int64_t pair[2], leat_error *err) {
    struct sample_args args = {.weights_are_input = true,
                               .stop_on_empty_dataset = true,
                               .resolved = true,
                               .pair = {pair[0], pair[1]}};
    return leati_dataset_new(&leati_op_sample_from_datasets, &args, inputs, num_datasets + 1, err);
}

leat_dataset *
leat_dataset_sample_from_datasets(leat_dataset *const *inputs, int num_inputs,
                                  const leat_dataset_sample_from_datasets_options *options,
                                  leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_sample_from_datasets_options o = {LEAT_DATASET_SAMPLE_FROM_DATASETS_DEFAULTS};
    if (!LEATI_DATASET_OPTIONS(leat_dataset_sample_from_datasets_options, &o, options, inputs,
                               num_inputs, err))
        return NULL;
    struct sample_args args = {.seed = {.given = o.seed.given, .value = o.seed.value},
                               .stop_on_empty_dataset = o.stop_on_empty_dataset,
                               .rerandomize_each_iteration = o.rerandomize_each_iteration};
    if (o.weights != NULL)
        args.weights = *o.weights; /* copied by the rows */
    return leati_dataset_new(&leati_op_sample_from_datasets, &args, inputs, num_inputs, err);
}
