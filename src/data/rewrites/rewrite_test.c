/* The rewrites: what they leave out or join, and that outcomes stay. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "data/rewrites/rewrite.h"
#include "support/dataset.h"
#include "support/scratch.h"
#include <leat/ops.h>

static leat_dataset *range_of(int64_t n, leat_error *err) {
    return leat_dataset_range(0, n, 1, NULL, err);
}

static leat_value int_constant(leat_graph *graph, int64_t value) {
    leat_tensor tensor = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &value);
    return leat_graph_tensor(graph, &tensor);
}

static int trace_identity(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_graph_argument(graph, 0);
    return 1;
}

static int trace_add_one(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_add(leat_graph_argument(graph, 0), int_constant(graph, 1));
    return 1;
}

/* 12 / x: fails where x is 0. */
static int trace_divide(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_floordiv(int_constant(graph, 12), leat_graph_argument(graph, 0));
    return 1;
}

static int trace_pair(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_graph_argument(graph, 0);
    outputs[1] = leat_op_negate(outputs[0]);
    return 2;
}

static int trace_sum(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value sum = leat_op_add(leat_graph_argument(graph, 0), leat_graph_argument(graph, 1));
    outputs[0] = leat_op_subtract(sum, int_constant(graph, 2));
    return 1;
}

static leat_dataset *mapped(leat_dataset *input, leat_tracer tracer, int64_t parallel,
                            leat_error *err) {
    leat_function *function = LEAT_TRACE(tracer, NULL, leat_dataset_spec(input), err);
    return leat_dataset_map(
        input, function,
        &(leat_dataset_map_options){LEAT_DATASET_MAP_DEFAULTS,
                                    .num_parallel_calls = parallel == 0 ? LEAT_UNSET : parallel},
        err);
}

/* The operators of the rewritten plan, the last first. */
static char *rewritten(dataset_maker make, void *context) {
    leat_error err = {0};
    leat_dataset *dataset = dataset_made(make, context);
    leat_dataset *plan = leati_rewrite(dataset, false, &err);
    assert_non_null(plan);
    char *text = NULL;
    for (const leat_dataset *node = plan; node != NULL;
         node = node->num_inputs > 0 ? node->inputs[0] : NULL)
        dataset_append(&text, node->label != NULL ? node->label : node->op->name);
    leat_dataset_unref(plan);
    leat_dataset_unref(dataset);
    return text;
}

static void check(dataset_maker make, void *context, const char *plan, const char *outcomes) {
    char *text = rewritten(make, context);
    assert_string_equal(text, plan);
    free(text);
    dataset_check(make, context, outcomes);
}

static leat_dataset *make_noops(void *context, leat_error *err) {
    (void)context;
    leat_dataset *dataset = leat_dataset_take(range_of(5, err), -3, err);
    dataset = leat_dataset_skip(dataset, 0, err);
    dataset = mapped(dataset, trace_identity, 0, err);
    dataset = leat_dataset_repeat(dataset, 1, err);
    dataset = leat_dataset_shard(dataset, 1, 0, err);
    return leat_dataset_prefetch(dataset, 0, err);
}

static leat_dataset *make_ops(void *context, leat_error *err) {
    (void)context;
    leat_dataset *dataset = leat_dataset_take(range_of(9, err), 7, err);
    dataset = leat_dataset_skip(dataset, 1, err);
    dataset = leat_dataset_repeat(dataset, 2, err);
    dataset = leat_dataset_shard(dataset, 2, 1, err);
    return leat_dataset_prefetch(dataset, 1, err);
}

static void test_noop_elimination(void **state) {
    (void)state;
    check(make_noops, NULL, "range", "0 1 2 3 4");
    check(make_ops, NULL, "prefetch shard repeat skip take range", "2 4 6 2 4 6");
}

struct chain {
    int64_t first, second; /* parallelism */
    bool label_first, label_second;
};

static leat_dataset *make_chain(void *context, leat_error *err) {
    const struct chain *c = context;
    leat_dataset *dataset = dataset_faults(range_of(7, err), 6, 4, err);
    dataset = mapped(dataset, trace_pair, c->first, err);
    dataset = c->label_first ? leat_dataset_label(dataset, "pair", err) : dataset;
    dataset = mapped(dataset, trace_sum, c->first, err);
    dataset = mapped(dataset, trace_add_one, c->second, err);
    dataset = c->label_second ? leat_dataset_label(dataset, "next", err) : dataset;
    return mapped(dataset, trace_divide, c->second, err);
}

static leat_dataset *make_faults(void *context, leat_error *err) {
    (void)context;
    return mapped(mapped(range_of(4, err), trace_divide, 0, err), trace_divide, 0, err);
}

static void test_map_fusion(void **state) {
    (void)state;
    const char *outcomes = "-12 -12 -12 -12 !INVALID_ARGUMENT -12 -12"; /* x - x - 2 + 1 = -1 */
    check(make_chain, &(struct chain){0, 0, false, false}, "map test_faults range", outcomes);
    check(make_chain, &(struct chain){0, 0, true, true}, "pair, next test_faults range", outcomes);
    check(make_chain, &(struct chain){2, 2, false, true}, "next test_faults range", outcomes);
    check(make_chain, &(struct chain){2, 0, false, false}, "map map test_faults range", outcomes);
    check(make_faults, NULL, "map range", "!INVALID_ARGUMENT 1 2 3");
}

static leat_status call_user(void *context, const leat_element *in, leat_element *out,
                             leat_error *err) {
    (void)context;
    return leat_element_set(out, in->spec, in->tensors, err);
}

/* Functions with effects keep their maps. */
static leat_dataset *make_user(void *context, leat_error *err) {
    (void)context;
    leat_dataset *dataset = mapped(range_of(3, err), trace_add_one, 0, err);
    leat_spec *spec = leat_spec_ref(leat_dataset_spec(dataset));
    leat_function *function =
        LEAT_CALLBACK(call_user, NULL, NULL, NULL, 0, leat_spec_ref(spec), spec, err);
    dataset = leat_dataset_map(dataset, function, NULL, err);
    return mapped(dataset, trace_add_one, 0, err);
}

static void test_effects(void **state) {
    (void)state;
    char *text = rewritten(make_user, NULL);
    assert_string_equal(text, "map map map range");
    free(text);
}

/* Reading a file is dear: such a map goes to the pool, and a plan that ends in something else gets
 * a prefetch. A map that asked for its own number, or must not be parallel, stays. */
struct reading {
    const char *path;
    bool synchronous, batched, tuned_off, named;
};

static int trace_read(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    const struct reading *r = context;
    leat_string path = {r->path, strlen(r->path)};
    leat_tensor tensor = leat_tensor_view(LEAT_STRING, LEAT_SCALAR, &path);
    outputs[0] = leat_op_read_file(leat_graph_tensor(graph, &tensor));
    return 1;
}

static leat_dataset *make_reading(void *context, leat_error *err) {
    const struct reading *r = context;
    leat_dataset *dataset = range_of(3, err);
    leat_function *function = LEAT_TRACE(trace_read, context, leat_dataset_spec(dataset), err);
    dataset = leat_dataset_map(
        dataset, function,
        &(leat_dataset_map_options){LEAT_DATASET_MAP_DEFAULTS,
                                    .num_parallel_calls = r->named ? 2 : LEAT_UNSET,
                                    .synchronous = r->synchronous},
        err);
    if (r->batched)
        dataset = leat_dataset_batch(dataset, 2, NULL, err);
    return !r->tuned_off
               ? dataset
               : leat_dataset_with_options(
                     dataset,
                     &(leat_dataset_options){LEAT_DATASET_DEFAULTS, .autotune = LEAT_CHOICE_FALSE},
                     err);
}

static int64_t parallel_calls(struct reading *r) {
    leat_error err = {0};
    leat_dataset *dataset = dataset_made(make_reading, r);
    leat_dataset *plan = leati_rewrite(dataset, false, &err);
    assert_non_null(plan);
    const leat_dataset *node = plan;
    while (strcmp(node->op->name, "map") != 0)
        node = node->inputs[0];
    int64_t calls = leati_rewrite_argument_int(node, "num_parallel_calls");
    leat_dataset_unref(plan);
    leat_dataset_unref(dataset);
    return calls;
}

static void test_costly_maps(void **state) {
    scratch_setup(state);
    struct reading r = {.path = scratch_write("two", "ab", 2)};
    check(make_reading, &r, "map range", "\"ab\" \"ab\" \"ab\"");
    assert_int_equal(parallel_calls(&r), LEAT_AUTOTUNE);
    r.named = true;
    assert_int_equal(parallel_calls(&r), 2);
    r.named = false;
    r.batched = true;
    check(make_reading, &r, "prefetch batch map range", "[\"ab\",\"ab\"] [\"ab\"]");
    r.tuned_off = true;
    check(make_reading, &r, "batch map range", "[\"ab\",\"ab\"] [\"ab\"]");
    assert_int_equal(parallel_calls(&r), INT64_MIN);
    r = (struct reading){.path = r.path, .synchronous = true};
    check(make_reading, &r, "prefetch map range", "\"ab\" \"ab\" \"ab\"");
    assert_int_equal(parallel_calls(&r), INT64_MIN);
    r = (struct reading){.path = scratch_path("missing")};
    check(make_reading, &r, "map range", "!NOT_FOUND !NOT_FOUND !NOT_FOUND");
    scratch_teardown(state);
}

/* Two uses of a choose_from_datasets node, four epochs; `kept` says whether the choice dataset is
 * still held by others. */
struct choosing {
    bool kept;
    leat_dataset *choice;
};

static leat_dataset *make_choosing(void *context, leat_error *err) {
    struct choosing *c = context;
    leat_dataset *choice = leat_dataset_shuffle(
        range_of(2, err), 2,
        &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(7)}, err);
    leat_dataset *inputs[] = {range_of(1, err), leat_dataset_range(50, 51, 1, NULL, err)};
    c->choice = c->kept && choice != NULL ? leat_dataset_ref(choice) : NULL;
    leat_dataset_choose_from_datasets_options options = {LEAT_DATASET_CHOOSE_FROM_DATASETS_DEFAULTS,
                                                         .stop_on_empty_dataset = false};
    leat_dataset *chosen = leat_dataset_choose_from_datasets(inputs, 2, choice, &options, err);
    leat_dataset *again = chosen == NULL ? NULL : leat_dataset_ref(chosen);
    return leat_dataset_repeat(leat_dataset_concatenate(chosen, again, err), 4, err);
}

/* As TensorFlow 2.21 gave them, with and without a reference to the choice in the program. */
static void test_choice_separation(void **state) {
    (void)state;
    struct choosing alone = {.kept = false}, kept = {.kept = true};
    leat_iterator_options plain = {LEAT_ITERATOR_DEFAULTS, .rewrites = false};
    const char *shared = "0 50 50 0 50 0 0 50 0 50 0 50 0 50 50 0";
    const char *separate = "0 50 0 50 50 0 50 0 50 0 50 0 0 50 0 50";
    leat_seed_clear();
    dataset_same(make_choosing, &alone, NULL, separate, -1, "alone");
    dataset_same(make_choosing, &kept, NULL, shared, -1, "kept");
    leat_dataset_unref(kept.choice);
    dataset_same(make_choosing, &alone, &plain, shared, -1, "without rewrites");
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_noop_elimination), TEST(test_map_fusion),
                                       TEST(test_effects), TEST(test_choice_separation),
                                       TEST(test_costly_maps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
