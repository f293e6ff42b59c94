/* What options do to the iterators over a plan, and how two values of one field meet. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "data/plan/options.h"
#include "data/run/autotune.h"
#include "graph/support/picture/resize.h"
#include "image/codec.h"
#include "support/dataset.h"
#include "support/refused.h"
#include <leat/ops.h>

/* An operator that remembers the iteration it runs in. */
static struct seen {
    leati_tuning tuning;
    bool autotune;
    int threads, cpus;
    int64_t knob; /* of the operator above, when it pulls; 0: it has none */
} seen;

static leat_status look_open(leati_node_state *node, void *state, leat_error *err) {
    const leati_iteration *iteration = node->iteration;
    seen = (struct seen){iteration->tuning, iteration->autotune, leati_pool_size(iteration->pool),
                         leati_budget_cpus(iteration->budget), 0};
    return dataset_test_open(node, state, err);
}

static leati_tail look_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                            leat_error *err) {
    leati_state_tree_lock();
    const leati_knob *knob = node->parent->knobs;
    seen.knob = knob == NULL ? 0 : leati_autotune_knob_get(knob);
    leati_state_tree_unlock();
    return leati_input_take(&((struct dataset_test_state *)state)->input, want, out, err);
}

static const leati_dataset_op look_op = {
    .name = "test_look",
    .version = 1,
    .doc = "For tests.",
    .num_inputs = 1,
    .flow = LEATI_ONE_TO_ONE,
    .args_size = sizeof(struct dataset_test_args),
    .rows = dataset_test_rows,
    .state_size = sizeof(struct dataset_test_state),
    .open = look_open,
    .pull = look_pull,
};

/* Options below and above an operator; either may be NULL. */
static struct seen look(const leat_dataset_options *below, const leat_dataset_options *above,
                        const leat_iterator_options *own) {
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_range(0, 3, 1, NULL, &err);
    dataset = below == NULL ? dataset : leat_dataset_with_options(dataset, below, &err);
    dataset = leati_dataset_new(&look_op, NULL, &dataset, 1, &err);
    dataset = above == NULL ? dataset : leat_dataset_with_options(dataset, above, &err);
    leat_iterator *iterator = leat_iterator_new(dataset, own, &err);
    if (iterator == NULL)
        fail_msg("%s", err.text);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    return seen;
}

static void test_threads(void **state) {
    (void)state;
    leat_dataset_options three = {LEAT_DATASET_DEFAULTS, .private_threadpool_size = 3},
                         five = {LEAT_DATASET_DEFAULTS, .private_threadpool_size = 5};
    assert_int_equal(look(&three, NULL, NULL).threads, 3);
    assert_int_equal(look(&three, NULL, NULL).cpus, 3);
    assert_int_equal(look(&three, &five, NULL).threads, 5); /* the one closer to the end */
    assert_int_equal(look(&five, &three, NULL).threads, 3);
    assert_int_equal(
        look(&five, &three, &(leat_iterator_options){LEAT_ITERATOR_DEFAULTS, .num_threads = 2})
            .threads,
        2);
    leat_dataset_options budget = {LEAT_DATASET_DEFAULTS, .private_threadpool_size = 4,
                                   .cpu_budget = 2};
    assert_int_equal(look(&budget, NULL, NULL).threads, 4);
    assert_int_equal(look(&budget, NULL, NULL).cpus, 2);
    budget.cpu_budget = 9; /* more than there are */
    assert_int_equal(look(&budget, NULL, NULL).cpus, 4);
}

static void test_tuning(void **state) {
    (void)state;
    struct seen plain = look(NULL, NULL, NULL);
    assert_true(plain.autotune);
    assert_int_equal(plain.tuning.memory, LEATI_OPTION_NOT_SET);
    assert_int_equal(plain.tuning.start, LEATI_OPTION_NOT_SET);
    leat_dataset_options options = {LEAT_DATASET_DEFAULTS, .autotune = LEAT_CHOICE_FALSE,
                                    .ram_budget = 1 << 20, .initial_parallelism = 6,
                                    .min_parallelism = 2};
    struct seen set = look(&options, NULL, NULL);
    assert_false(set.autotune);
    assert_int_equal(set.tuning.memory, 1 << 20);
    assert_int_equal(set.tuning.start, 6);
    assert_int_equal(set.tuning.least, 2);
    /* A field that the upper node leaves open keeps the lower one's value. */
    set = look(&options,
               &(leat_dataset_options){LEAT_DATASET_DEFAULTS, .autotune = LEAT_CHOICE_TRUE}, NULL);
    assert_true(set.autotune);
    assert_int_equal(set.tuning.start, 6);
    assert_false(
        look(NULL, NULL, &(leat_iterator_options){LEAT_ITERATOR_DEFAULTS, .autotune = false})
            .autotune);
}

/* A parallel map left to AUTOTUNE starts where the options say. */
static int trace_square(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    outputs[0] = leat_op_multiply(x, x);
    return 1;
}

static int64_t limit_of_map(const leat_dataset_options *options) {
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_range(0, 3, 1, NULL, &err);
    dataset = leati_dataset_new(&look_op, NULL, &dataset, 1, &err);
    dataset = leat_dataset_map(
        dataset, LEAT_TRACE(trace_square, NULL, leat_dataset_spec(dataset), &err),
        &(leat_dataset_map_options){LEAT_DATASET_MAP_DEFAULTS, .num_parallel_calls = LEAT_AUTOTUNE},
        &err);
    dataset = leat_dataset_with_options(dataset, options, &err);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    leat_element element = {0};
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    return seen.knob;
}

static void test_parallelism(void **state) {
    (void)state;
    leat_dataset_options options = {LEAT_DATASET_DEFAULTS, .autotune = LEAT_CHOICE_FALSE,
                                    .private_threadpool_size = 8};
    assert_int_equal(limit_of_map(&options), 8);
    options.initial_parallelism = 3;
    assert_int_equal(limit_of_map(&options), 3);
    options.min_parallelism = 5;
    assert_int_equal(limit_of_map(&options), 5);
    options.cpu_budget = 2;
    assert_int_equal(limit_of_map(&options), 2);
}

/* ---- saving with state outside ---- */

static leat_status call_user(void *context, const leat_element *in, leat_element *out,
                             leat_error *err) {
    ++*(int *)context;
    return leat_element_set(out, in->spec, in->tensors, err);
}

static struct lines {
    int count, all; /* warnings, and lines of every kind */
    char last[256];
} lines;

static void take_line(void *context, leat_log_level level, const char *line) {
    struct lines *l = context;
    l->count += level == LEAT_LOG_WARNING;
    l->all++;
    snprintf(l->last, sizeof(l->last), "%s", line);
}

static leat_status save_with(leat_external_state policy, bool effects, leat_error *err) {
    static int calls;
    leat_dataset *dataset = leat_dataset_range(0, 3, 1, NULL, err);
    leat_spec *spec = leat_spec_ref(leat_dataset_spec(dataset));
    leat_function *function =
        effects ? LEAT_CALLBACK(call_user, &calls, NULL, NULL, 0, leat_spec_ref(spec), spec, err)
                : LEAT_TRACE(trace_square, NULL, spec, err);
    if (!effects)
        leat_spec_unref(spec);
    dataset = leat_dataset_map(dataset, function, NULL, err);
    dataset = leat_dataset_with_options(
        dataset, &(leat_dataset_options){LEAT_DATASET_DEFAULTS, .external_state = policy}, err);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    char *data = NULL;
    size_t size = 0;
    leat_status status = leat_iterator_save(iterator, &data, &size, NULL, err);
    leat_text_free(data);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    return status;
}

static void test_external_state(void **state) {
    (void)state;
    leat_error err = {0};
    leat_log_set(take_line, &lines);
    assert_int_equal(save_with(LEAT_EXTERNAL_STATE_DEFAULT, true, &err), LEAT_OK);
    assert_int_equal(save_with(LEAT_EXTERNAL_STATE_IGNORE, true, &err), LEAT_OK);
    assert_int_equal(lines.count, 0);
    assert_int_equal(save_with(LEAT_EXTERNAL_STATE_WARN, false, &err), LEAT_OK);
    assert_int_equal(lines.count, 0);
    assert_int_equal(save_with(LEAT_EXTERNAL_STATE_WARN, true, &err), LEAT_OK);
    assert_int_equal(save_with(LEAT_EXTERNAL_STATE_WARN, true, &err), LEAT_OK);
    assert_int_equal(lines.count, 1);
    assert_non_null(strstr(lines.last, "map"));
    assert_int_equal(save_with(LEAT_EXTERNAL_STATE_FAIL, false, &err), LEAT_OK);
    assert_int_equal(save_with(LEAT_EXTERNAL_STATE_FAIL, true, &err), LEAT_FAILED_PRECONDITION);
    assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "map");
    leat_log_set(NULL, NULL);
}

/* ---- bad values, and fields without effect ---- */

static void check_refused(const char *field, const char *value, const char *keyword) {
    char json[256];
    leat_error err = {0};
    snprintf(json, sizeof(json),
             "{\"op\": \"with_options\", \"args\": {\"%s\": %s}, \"input\": {\"op\": \"range\", "
             "\"args\": {\"stop\": 3}}}",
             field, value);
    leat_dataset *dataset = leat_dataset_from_json(json, &err);
    assert_null(dataset);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, field);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, keyword);
}

static void test_refused(void **state) {
    (void)state;
    check_refused("autotune.cpu_budget", "-2", "-2");
    check_refused("autotune.ram_budget", "-1", "-1");
    check_refused("experimental_external_state_policy", "3", "3");
    check_refused("picture_quality", "\"good\"", "\"good\"");
    check_refused("threading.private_threadpool_size", "5000", "5000");
}

static void test_without_effect(void **state) {
    (void)state;
    leat_error err = {0};
    /* What strategies split a dataset by has an effect. */
    const char *json = "{\"op\": \"with_options\", \"args\": {\"experimental_slack\": true, "
                       "\"experimental_distribute.auto_shard_policy\": 2}, "
                       "\"input\": {\"op\": \"range\", \"args\": {\"stop\": 3}}}";
    lines = (struct lines){0};
    leat_log_set(take_line, &lines);
    leat_dataset *dataset = leat_dataset_from_json(json, &err);
    leat_log_set(NULL, NULL);
    assert_non_null(dataset);
    assert_non_null(strstr(lines.last, "experimental_slack has no effect"));
    assert_int_equal(lines.all, 1);
    leat_dataset_unref(dataset);
}

/* ---- pictures ---- */

static int trace_picture(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value contents = leat_op_read_file(leat_graph_argument(graph, 0));
    outputs[0] = leat_op_resize(
        leat_op_decode_jpeg(
            contents, &(leat_op_decode_jpeg_options){LEAT_OP_DECODE_JPEG_DEFAULTS, .channels = 3}),
        (int64_t[]){6, 8}, 2, NULL);
    return 1;
}

/* The first picture with that quality, by an iterator or by random access. */
static void resized(const char *quality, bool by_index, float *out) {
    leat_error err = {0};
    leat_element element = {0};
    const char *name = "tests/golden/data/image/files/a_420.jpg";
    leat_tensor tensor = {0};
    leat_element names = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_STRING, LEAT_SHAPE(1), &err);
    assert_int_equal(leat_tensor_copy_of(LEAT_STRING, LEAT_SHAPE(1),
                                         &(leat_string){.data = name, .size = strlen(name)},
                                         &tensor, &err),
                     LEAT_OK);
    assert_int_equal(leat_element_set(&names, spec, &tensor, &err), LEAT_OK);
    leat_dataset *dataset = leat_dataset_from_tensor_slices(&names, &err);
    leat_element_fini(&names);
    leat_tensor_unref(&tensor);
    leat_spec_unref(spec);
    leat_function *function = LEAT_TRACE(trace_picture, NULL, leat_dataset_spec(dataset), &err);
    dataset = leat_dataset_map(dataset, function, NULL, &err);
    dataset = leat_dataset_with_options(
        dataset, &(leat_dataset_options){LEAT_DATASET_DEFAULTS, .picture_quality = quality}, &err);
    assert_non_null(dataset);
    leat_iterator *iterator = by_index ? NULL : leat_iterator_new(dataset, NULL, &err);
    leat_accessor *accessor = by_index ? leat_accessor_open(dataset, &err) : NULL;
    leat_status status = by_index ? leat_accessor_get(accessor, 0, &element, &err)
                                  : leat_iterator_next(iterator, &element, &err);
    if (status != LEAT_OK)
        fail_msg("%s", err.text);
    assert_int_equal(leat_tensor_count(&element.tensors[0]), 6 * 8 * 3);
    memcpy(out, element.tensors[0].data, sizeof(float) * 6 * 8 * 3);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_accessor_close(accessor);
    leat_dataset_unref(dataset);
    leati_image_decoders_trim();
    leati_resize_plans_trim();
}

static void test_picture_quality(void **state) {
    (void)state;
    enum { SIZE = 6 * 8 * 3 * sizeof(float) };
    float none[SIZE / sizeof(float)], other[SIZE / sizeof(float)], fast[SIZE / sizeof(float)];
    resized(NULL, false, none);
    resized("exact", false, other);
    assert_memory_equal(none, other, SIZE);
    resized("balanced", false, other);
    assert_memory_equal(none, other, SIZE);
    resized("fast", false, fast);
    assert_memory_not_equal(none, fast, SIZE);
    resized("fast", true, other);
    assert_memory_equal(fast, other, SIZE);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_threads),         TEST(test_tuning),
                                       TEST(test_parallelism),     TEST(test_external_state),
                                       TEST(test_picture_quality), TEST(test_refused),
                                       TEST(test_without_effect)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
