/* rejection_resample: elements with their classes, rejected and repeated at random so that classes
 * come in proportion to a target distribution (tf.data.Dataset.rejection_resample).
 *
 * With r = target / initial, an element of class i is kept with probability (r_i - min r) /
 * (max r - min r) in one copy of the input, and of that copy and the untouched input one is drawn
 * from with probability 1 - min r and min r. So it expands to map, filter with a random number, and
 * sample_from_datasets with a dataset of weights; without initial_dist the distribution is
 * estimated from the classes seen so far, in batches of 32, on further copies of the input. The
 * order in which the copies stand in the plan is TensorFlow's, for inputs that draw seeds when they
 * are opened. There is nothing to run here.
 *
 * TensorFlow reads the filtered copy ahead on threads, which is left to the user's own prefetch.
 * The rejections' random numbers go on from epoch to epoch of one iterator, so in later epochs
 * TensorFlow's depend on how far its threads had come; here they depend on what was read.
 *
 * Failures at run time are the input's and class_func's, once for each copy that meets them, and a
 * class outside the distribution (INVALID_ARGUMENT). */
#include "base/minmax.h"
#include "base/random.h"
#include "core/tensor.h"
#include "data/plan/seed_generator.h"
#include "data/run/apply.h"
#include <float.h>
#include <leat/data_ops.h>
#include <leat/ops.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct resample_args {
    leat_object *class_func;
    leat_element target_dist, initial_dist;
    leati_seed_argument seed;
    bool resolved;
    int64_t pair[2]; /* of the draws between the copies */
    int64_t rejection[2];
};

#define ROW(field) .offset = offsetof(struct resample_args, field)

static const leati_row resample_rows[] = {
    {.name = "class_func",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_REQUIRED,
     ROW(class_func),
     .doc = "From an element to its class, an integer scalar from 0 on."},
    {.name = "target_dist",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_REQUIRED,
     ROW(target_dist),
     .doc = "A vector: the share that each class is to have."},
    {.name = "initial_dist",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_NONE,
     ROW(initial_dist),
     .doc = "A vector: the share that each class has; none: it is estimated."},
    {.name = "seed", .type = LEATI_ROW_SEED, .flags = LEATI_NONE, ROW(seed), .doc = "Seed."},
    LEATI_RESOLVED_ROWS(struct resample_args),
    {.name = "rejection_0",
     .type = LEATI_ROW_INT,
     .flags = LEATI_CONSTRUCT,
     ROW(rejection[0]),
     .doc = "First number of the seed pair of the rejections."},
    {.name = "rejection_1",
     .type = LEATI_ROW_INT,
     .flags = LEATI_CONSTRUCT,
     ROW(rejection[1]),
     .doc = "Second number of the seed pair of the rejections."},
    {0},
};

/* TensorFlow's numbers: the classes that change the estimate at once, and how many elements each
 * class begins with, as if they had been seen. */
enum { ESTIMATED_AT_ONCE = 32, SEEN_BEFORE = 10 };

/* What the functions are made of. */
struct resample {
    const leat_function *class_func;
    const leat_spec *element;
    const int64_t *seed;
    int64_t classes;
    float *target;     /* one number for each class, as the others */
    float *acceptance; /* with initial_dist */
    float original;    /* probability of the untouched copy; with initial_dist */
};

static const struct resample_args *args_of(const leat_dataset *dataset) {
    return dataset->args;
}

/* ---- distributions ---- */

static leat_status check_distribution(const char *argument, const leat_element *given,
                                      leat_error *err) {
    leat_dtype dtype = leat_spec_dtype(given->spec);
    if (leat_spec_get_kind(given->spec) == LEAT_SPEC_TENSOR && given->tensors[0].rank == 1 &&
        given->tensors[0].dims[0] > 0 &&
        (leati_dtype_is_integer(dtype) || leati_dtype_is_float(dtype)))
        return LEAT_OK;
    char text[128];
    leat_spec_print(given->spec, text, sizeof(text));
    return leati_refuse(err, SHAPE,
                        "rejection_resample: %s is %s; expected a vector of numbers, one for each "
                        "class",
                        argument, text);
}

static leat_status check_distributions(const struct resample_args *args, leat_error *err) {
    leat_status status = check_distribution("target_dist", &args->target_dist, err);
    if (status != LEAT_OK || args->initial_dist.spec == NULL)
        return status;
    status = check_distribution("initial_dist", &args->initial_dist, err);
    if (status == LEAT_OK) {
        int64_t target = args->target_dist.tensors[0].dims[0];
        int64_t initial = args->initial_dist.tensors[0].dims[0];
        if (target != initial && target != 1 && initial != 1) {
            status = leati_refuse(err, VALUE,
                                  "rejection_resample: target_dist has %lld classes, initial_dist "
                                  "%lld; expected equally many",
                                  (long long)target, (long long)initial);
        }
    }
    return status;
}

/* Number i; a vector of one number has it everywhere. */
static float share(const leat_element *distribution, int64_t i) {
    const leat_tensor *tensor = &distribution->tensors[0];
    return (float)leati_tensor_float_at(tensor, tensor->dims[0] == 1 ? 0 : i);
}

static int64_t num_classes(const struct resample_args *args) {
    int64_t target = args->target_dist.tensors[0].dims[0];
    int64_t initial = args->initial_dist.spec == NULL ? 1 : args->initial_dist.tensors[0].dims[0];
    return LEATI_MAX(target, initial);
}

/* The smaller and the larger, where a NaN wins, as in TensorFlow. */
static float smaller(float a, float b) {
    return isnan(a) || a < b ? a : b;
}
static float larger(float a, float b) {
    return isnan(a) || a > b ? a : b;
}

/* The least ratio before anything is rounded up: 1 means that nothing needs to be rejected, 0 that
 * the untouched copy is not needed. */
static float least_ratio(const struct resample_args *args) {
    float least = INFINITY;
    for (int64_t i = 0; i < num_classes(args); i++)
        least = smaller(share(&args->target_dist, i) / share(&args->initial_dist, i), least);
    return least;
}

static void find_acceptance(const struct resample_args *args, struct resample *r) {
    float least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < r->classes; i++) {
        /* As in TensorFlow, so that a class without a share does not divide by 0. */
        float ratio = r->target[i] / (share(&args->initial_dist, i) + FLT_MIN);
        r->acceptance[i] = ratio;
        least = smaller(ratio, least);
        most = larger(ratio, most);
    }
    for (int64_t i = 0; i < r->classes; i++)
        r->acceptance[i] = (r->acceptance[i] - least) / (most - least);
    r->original = least;
}

/* ---- checks ---- */

static leat_status check_class(const struct resample_args *args, const leat_spec *element,
                               leat_error *err) {
    const leat_function *function = (const leat_function *)args->class_func;
    leat_status status =
        leati_apply_check_function("rejection_resample", "class_func", function, element, err);
    if (status != LEAT_OK)
        return status;
    const leat_spec *output = leat_function_output(function);
    leat_dtype dtype = leat_spec_dtype(output);
    /* TensorFlow's one_hot, by which classes are counted where their shares are estimated, takes no
     * int16. */
    bool index = dtype == LEAT_INT32 || dtype == LEAT_INT64 ||
                 (dtype == LEAT_INT16 && args->initial_dist.spec != NULL);
    if (leat_spec_get_kind(output) != LEAT_SPEC_TENSOR || leat_spec_shape(output).rank != 0 ||
        !index) {
        char text[128];
        leat_spec_print(output, text, sizeof(text));
        return leati_refuse(err, STRUCTURE,
                            "rejection_resample: class_func returns %s; expected an int32 or int64 "
                            "scalar",
                            text);
    }
    return LEAT_OK;
}

/* Is there anything to draw between the two copies? */
static bool is_mixed(const struct resample_args *args) {
    float least = args->initial_dist.spec == NULL ? NAN : least_ratio(args);
    return least != 1 && least != 0;
}

/* The random number of a rejection is one of a function: without a seed it is the function's first
 * operation, and only the draws between the copies take a seed from the program's. */
static void resolve(struct resample_args *args) {
    leati_seed_argument seed = args->seed;
    if (args->resolved)
        return;
    if (!seed.given && leati_random_global_seed_is_set())
        seed = (leati_seed_argument){.given = true, .value = 0};
    int64_t none[2] = {0, 0}, *pair = args->rejection;
    if (seed.given)
        leati_random_resolve_seed(seed, &pair[0], &pair[1]);
    else
        memcpy(pair, none, sizeof(none));
    /* A pair of zeros would mean no seed, and other numbers in each iterator. */
    leati_random_fresh_seed_if_zero(&pair[0], &pair[1]);
    if (is_mixed(args))
        leati_seed_resolve_once(args->seed, &args->resolved, args->pair);
    args->resolved = true;
}

static leat_status resample_check(leat_dataset *dataset, leat_error *err) {
    struct resample_args *args = dataset->args;
    leat_status status = check_distributions(args, err);
    if (status == LEAT_OK)
        status = check_class(args, dataset->inputs[0]->spec, err);
    if (status == LEAT_OK)
        resolve(args);
    return status;
}

/* ---- functions ---- */

static leat_value floats(leat_graph *graph, const float *values, int64_t n) {
    leat_tensor tensor =
        leat_tensor_view(LEAT_FLOAT32, (leat_shape){.rank = 1, .dims = {n}}, (void *)values);
    return leat_graph_tensor(graph, &tensor);
}

static leat_value float_scalar(leat_graph *graph, float value) {
    leat_tensor tensor = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &value);
    return leat_graph_tensor(graph, &tensor);
}

/* The class of the element whose components are the arguments from `first` on. Fills `out` with
 * those from out[from] on. Returns how many, or -1. */
static int class_and_element(const struct resample *r, leat_graph *graph, int first,
                             leat_value *class_value, leat_value *out) {
    int n = leat_graph_num_arguments(graph) - first;
    if (n > LEAT_MAX_OUTPUTS - 2) {
        leat_graph_fail(graph, LEAT_UNIMPLEMENTED, "elements of more than 62 components");
        return -1;
    }
    for (int i = 0; i < n; i++)
        out[i] = leat_graph_argument(graph, first + i);
    return leati_graph_inline(graph, r->class_func, out, class_value) ? n : -1;
}

/* element -> (class, element) */
static int trace_original(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)capacity;
    int n = class_and_element(context, graph, 0, &out[0], &out[1]);
    return n < 0 ? -1 : n + 1;
}

static int gathered(const struct resample *r, leat_graph *graph, int first, leat_value acceptance,
                    leat_value *out) {
    int n = class_and_element(r, graph, first, &out[0], &out[2]);
    if (n < 0)
        return -1;
    out[1] = leat_op_gather(acceptance, leat_op_cast(out[0], LEAT_INT64), 0, 0);
    return n + 2;
}

/* element -> (class, probability, element) */
static int trace_gather_fixed(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)capacity;
    const struct resample *r = context;
    return gathered(r, graph, 0, floats(graph, r->acceptance, r->classes), out);
}

/* (probabilities, element) -> (class, probability, element) */
static int trace_gather(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)capacity;
    return gathered(context, graph, 1, leat_graph_argument(graph, 0), out);
}

/* (class, probability, element) -> bool */
static int trace_keep(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)capacity;
    const struct resample *r = context;
    char attributes[128];
    leat_value drawn;
    snprintf(attributes, sizeof(attributes),
             "{\"shape\": [], \"graph_seed\": %lld, \"op_seed\": %lld}", (long long)r->seed[0],
             (long long)r->seed[1]);
    if (leat_graph_call(graph, "random_uniform", attributes, NULL, 0, &drawn, 1) != 1)
        return -1;
    out[0] = leat_op_less(drawn, leat_graph_argument(graph, 1));
    return 1;
}

/* (class, probability, element) -> (class, element) */
static int trace_drop(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)context;
    (void)capacity;
    int n = leat_graph_num_arguments(graph), count = 0;
    for (int i = 0; i < n && count < LEAT_MAX_OUTPUTS; i++)
        if (i != 1)
            out[count++] = leat_graph_argument(graph, i);
    return count;
}

static leat_value least(leat_value x) {
    return leat_op_negate(leat_op_reduce_max(leat_op_negate(x), NULL, 0, false));
}

/* distribution -> (probabilities of acceptance, probability of the untouched copy) */
static int trace_probabilities(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)capacity;
    const struct resample *r = context;
    leat_value initial = leat_graph_argument(graph, 0);
    leat_value ratio = leat_op_divide(floats(graph, r->target, r->classes),
                                      leat_op_add(initial, float_scalar(graph, FLT_MIN)));
    leat_value most = leat_op_reduce_max(ratio, NULL, 0, false);
    out[1] = least(ratio);
    out[0] = leat_op_divide(leat_op_subtract(ratio, out[1]), leat_op_subtract(most, out[1]));
    return 2;
}

static int trace_first(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)context;
    (void)capacity;
    out[0] = leat_graph_argument(graph, 0);
    return 1;
}

/* (probabilities, probability) -> the weights of the two copies */
static int trace_weights(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)context;
    (void)capacity;
    leat_value original = leat_graph_argument(graph, 1);
    leat_value both[2] = {original, leat_op_subtract(float_scalar(graph, 1), original)};
    out[0] = leat_op_stack(both, 2, 0);
    return 1;
}

/* (numbers of elements seen by class, classes of a batch) -> (numbers, the distribution 32 times)
 */
static int trace_estimate(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)capacity;
    const struct resample *r = context;
    leat_value hot =
        leat_op_one_hot(leat_graph_argument(graph, 1), r->classes,
                        &(leat_op_one_hot_options){LEAT_OP_ONE_HOT_DEFAULTS, .dtype = LEAT_INT64});
    out[0] = leat_op_add(leat_graph_argument(graph, 0),
                         leat_op_reduce_sum(hot, (const int64_t[]){0}, 1, false));
    leat_value sum = leat_op_reduce_sum(out[0], NULL, 0, false);
    leat_value estimate = leat_op_cast(
        leat_op_divide(leat_op_cast(out[0], LEAT_FLOAT64), leat_op_cast(sum, LEAT_FLOAT64)),
        LEAT_FLOAT32);
    leat_value copies[ESTIMATED_AT_ONCE];
    for (int i = 0; i < ESTIMATED_AT_ONCE; i++)
        copies[i] = estimate;
    out[1] = leat_op_stack(copies, ESTIMATED_AT_ONCE, 0);
    return 2;
}

/* ---- the plan that stands for the node ---- */

/* map of a function over `input` (given), whose outputs are (class, element) or, with a
 * probability, (class, float32, element). */
static leat_dataset *map_to_class(const struct resample *r, leat_dataset *input, leat_tracer tracer,
                                  bool probability, leat_error *err) {
    leat_spec *parts[3] = {leat_spec_ref(leat_function_output(r->class_func))};
    int count = 1;
    if (probability)
        parts[count++] = leat_spec_tensor(LEAT_FLOAT32, LEAT_SCALAR, err);
    parts[count++] = leat_spec_ref(r->element);
    leat_spec *structure = leat_spec_tuple(parts, count, err);
    leat_function *function =
        structure == NULL
            ? NULL
            : LEAT_TRACE_STRUCTURED(tracer, (void *)r, leat_dataset_spec(input), structure, err);
    return leat_dataset_map(input, function, NULL, err);
}

static leat_dataset *map_plain(const struct resample *r, leat_dataset *input, leat_tracer tracer,
                               leat_error *err) {
    leat_function *function = LEAT_TRACE(tracer, (void *)r, leat_dataset_spec(input), err);
    return leat_dataset_map(input, function, NULL, err);
}

/* What is kept of (class, probability, element), without the probabilities. */
static leat_dataset *filtered(const struct resample *r, leat_dataset *gathered_input,
                              leat_error *err) {
    leat_function *keep = LEAT_TRACE(trace_keep, (void *)r, leat_dataset_spec(gathered_input), err);
    return map_to_class(r, leat_dataset_filter(gathered_input, keep, err), trace_drop, false, err);
}

/* The estimated distribution, at least once for each element. */
static leat_dataset *estimates(const struct resample *r, leat_dataset *input, leat_error *err) {
    leat_dataset *classes = leat_dataset_batch(
        leat_dataset_map(leat_dataset_ref(input), leat_function_ref((leat_function *)r->class_func),
                         NULL, err),
        ESTIMATED_AT_ONCE, NULL, err);
    leat_shape shape = {.rank = 1, .dims = {r->classes}};
    leat_tensor seen = {0};
    leat_spec *both[2] = {leat_spec_tensor(LEAT_INT64, shape, err),
                          leat_spec_ref(leat_dataset_spec(classes))};
    leat_spec *state = leat_spec_ref(both[0]);
    leat_element initial = {.spec = state, .tensors = &seen, .num_tensors = 1};
    leat_spec *spec = leat_spec_tuple(both, 2, err);
    leat_function *function = LEAT_TRACE(trace_estimate, (void *)r, spec, err);
    leat_status status = leat_tensor_new(LEAT_INT64, shape, &seen, err);
    for (int64_t i = 0; i < r->classes && status == LEAT_OK; i++)
        ((int64_t *)seen.data)[i] = SEEN_BEFORE;
    leat_dataset *out = NULL;
    if (status == LEAT_OK && state != NULL) {
        out = leat_dataset_unbatch(leat_dataset_scan(classes, &initial, function, err), err);
    } else {
        leat_function_unref(function);
        leat_dataset_unref(classes);
    }
    leat_tensor_unref(&seen);
    leat_spec_unref(spec);
    leat_spec_unref(state);
    return out;
}

/* The untouched copy and `kept` (given), drawn from by `weights` (given). */
static leat_dataset *mixed(const struct resample *r, const leat_dataset *dataset,
                           leat_dataset *weights, leat_dataset *kept, leat_error *err) {
    leat_dataset *original =
        map_to_class(r, leat_dataset_ref(dataset->inputs[0]), trace_original, false, err);
    return leati_dataset_sample_resolved((leat_dataset *[]){original, kept, weights}, 2,
                                         args_of(dataset)->pair, err);
}

static leat_dataset *with_estimates(const struct resample *r, const leat_dataset *dataset,
                                    leat_error *err) {
    leat_dataset *input = dataset->inputs[0];
    leat_dataset *estimated = estimates(r, input, err);
    leat_dataset *probabilities =
        map_plain(r, leat_dataset_ref(estimated), trace_probabilities, err);
    leat_dataset *weights = map_plain(r, leat_dataset_ref(probabilities), trace_weights, err);
    /* TensorFlow reads the estimate beside the probabilities to warn of high rejection. */
    leat_dataset *both = leat_dataset_zip(
        (leat_dataset *[]){map_plain(r, probabilities, trace_first, err), estimated}, 2, err);
    leat_dataset *beside = leat_dataset_zip(
        (leat_dataset *[]){map_plain(r, both, trace_first, err), leat_dataset_ref(input)}, 2, err);
    leat_dataset *kept = filtered(r, map_to_class(r, beside, trace_gather, true, err), err);
    return mixed(r, dataset, weights, kept, err);
}

static leat_dataset *with_distribution(struct resample *r, const leat_dataset *dataset,
                                       leat_error *err) {
    const struct resample_args *args = args_of(dataset);
    leat_dataset *input = dataset->inputs[0];
    float ratio = least_ratio(args);
    if (ratio == 1)
        return map_to_class(r, leat_dataset_ref(input), trace_original, false, err);
    find_acceptance(args, r);
    leat_dataset *kept =
        filtered(r, map_to_class(r, leat_dataset_ref(input), trace_gather_fixed, true, err), err);
    if (ratio == 0)
        return kept;
    float both[2] = {r->original, 1 - r->original};
    leat_tensor tensor = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(2), err);
    leat_element element = {.spec = spec, .tensors = &tensor, .num_tensors = 1};
    leat_dataset *weights = NULL;
    if (spec != NULL &&
        leat_tensor_copy_of(LEAT_FLOAT32, LEAT_SHAPE(2), both, &tensor, err) == LEAT_OK)
        weights = leat_dataset_repeat(leat_dataset_from_tensors(&element, err), -1, err);
    leat_tensor_unref(&tensor);
    leat_spec_unref(spec);
    return mixed(r, dataset, weights, kept, err);
}

static leat_dataset *resample_expand(const leat_dataset *dataset, leat_error *err) {
    const struct resample_args *args = args_of(dataset);
    struct resample r = {.class_func = (const leat_function *)args->class_func,
                         .element = dataset->inputs[0]->spec,
                         .seed = args->rejection,
                         .classes = num_classes(args)};
    r.target = leati_alloc((size_t)r.classes, sizeof(*r.target));
    r.acceptance = leati_alloc((size_t)r.classes, sizeof(*r.acceptance));
    leat_dataset *plan = NULL;
    if (r.target == NULL || r.acceptance == NULL) {
        leati_no_memory(err);
    } else {
        for (int64_t i = 0; i < r.classes; i++)
            r.target[i] = share(&args->target_dist, i);
        plan = args->initial_dist.spec == NULL ? with_estimates(&r, dataset, err)
                                               : with_distribution(&r, dataset, err);
    }
    leati_free(r.target);
    leati_free(r.acceptance);
    /* Errors and reports name what the user wrote. */
    return leat_dataset_label(plan, dataset->label != NULL ? dataset->label : dataset->op->name,
                              err);
}

const leati_dataset_op leati_op_rejection_resample = {
    .name = "rejection_resample",
    .version = 1,
    .doc = "Tuples of class and element, of which so many are rejected and repeated that classes "
           "come by `target_dist`. Runs, is saved and restored as map, filter and "
           "sample_from_datasets.",
    .names = "Dataset.rejection_resample experimental.rejection_resample",
    .shown = "DirectedInterleave",
    .num_inputs = 1,
    .flow = LEATI_FEWER,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_OTHER,
    .args_size = sizeof(struct resample_args),
    .rows = resample_rows,
    .check = resample_check,
    .expand = resample_expand,
};

leat_dataset *leat_dataset_rejection_resample(leat_dataset *input, leat_function *class_func,
                                              const float *target_dist, const float *initial_dist,
                                              int num_classes_given, leat_seed seed,
                                              leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset *dataset = NULL;
    if (!leati_apply_function_is_missing(class_func, "rejection_resample", "class_func", &input, 1,
                                         err)) {
        leat_shape shape = {.rank = 1, .dims = {num_classes_given}};
        leat_spec *spec = leat_spec_tensor(LEAT_FLOAT32, shape, err);
        leat_tensor target = leat_tensor_view(LEAT_FLOAT32, shape, (void *)target_dist);
        leat_tensor initial = leat_tensor_view(LEAT_FLOAT32, shape, (void *)initial_dist);
        struct resample_args args = {
            .class_func = (leat_object *)class_func,
            .target_dist = {.spec = spec, .tensors = &target, .num_tensors = 1},
            .seed = {.given = seed.given, .value = seed.value}};
        if (initial_dist != NULL)
            args.initial_dist = (leat_element){.spec = spec, .tensors = &initial, .num_tensors = 1};
        if (spec == NULL)
            leat_dataset_unref(input);
        else
            dataset = leati_dataset_new(&leati_op_rejection_resample, &args, &input, 1, err);
        leat_spec_unref(spec);
    }
    leat_function_unref(class_func);
    return dataset;
}
