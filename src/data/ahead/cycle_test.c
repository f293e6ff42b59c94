/* Reading datasets ahead in interleave's parallel form: order, states, threads, deadlines. The
 * order of the parallel form is that of the sequential one where nothing fails; that and errors are
 * checked against TensorFlow by the recorded cases and the conformance suite. */
#include "support/cmocka.h"

#include <pthread.h>

#include "support/torture.h"

#include "base/clock.h"
#include "run/pool.h"
#include "support/dataset.h"
#include <leat/ops.h>

enum { MOST_THREADS = 32 };

/* What the callback does, and what it saw. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* open, threads */
    int64_t spin_ns;
    int64_t held_value; /* drivers wait at it until `open`; -1: none */
    bool open;
    int waiting;
    pthread_t consumer, threads[MOST_THREADS];
    int num_threads;
    int64_t calls, last;
    bool disorder; /* a value came after a greater one */
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void forget(int64_t spin_ns, int64_t held_value) {
    seen.spin_ns = spin_ns;
    seen.held_value = held_value;
    seen.open = seen.disorder = false;
    seen.consumer = pthread_self();
    seen.num_threads = seen.waiting = 0;
    seen.calls = 0;
    seen.last = -1;
}

static void open_latch(void) {
    pthread_mutex_lock(&seen.lock);
    seen.open = true;
    pthread_cond_broadcast(&seen.changed);
    pthread_mutex_unlock(&seen.lock);
}

/* Hands on its argument, after some work. */
static leat_status look(void *context, const leat_element *in, leat_element *out, leat_error *err) {
    (void)context;
    int64_t value = *(const int64_t *)in->tensors[0].data, start = leati_now_ns();
    bool own = pthread_equal(pthread_self(), seen.consumer) != 0;
    pthread_mutex_lock(&seen.lock);
    int i = 0;
    while (i < seen.num_threads && !pthread_equal(seen.threads[i], pthread_self()))
        i++;
    if (i == seen.num_threads && i < MOST_THREADS) {
        seen.threads[seen.num_threads++] = pthread_self();
        pthread_cond_broadcast(&seen.changed);
    }
    seen.calls++;
    seen.disorder = seen.disorder || value < seen.last;
    seen.last = value;
    seen.waiting += value == seen.held_value && !own;
    while (value == seen.held_value && !own && !seen.open)
        pthread_cond_wait(&seen.changed, &seen.lock);
    pthread_mutex_unlock(&seen.lock);
    while (leati_now_ns() - start < seen.spin_ns) {
    }
    return leat_element_set(out, in->spec, in->tensors, err);
}

/* ---- datasets ---- */

struct interleaved {
    int64_t inputs, length; /* x: range(10 * x, 10 * x + 1 + x % length).map(look) */
    int64_t cycle, block, calls;
    bool any_order, impure, legacy;
};

static leat_value number(leat_graph *graph, int64_t value) {
    leat_tensor tensor = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &value);
    return leat_graph_tensor(graph, &tensor);
}

static int trace_inner(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    const struct interleaved *s = context;
    leat_value x = leat_graph_argument(graph, 0);
    leat_value begin = leat_op_multiply(x, number(graph, 10));
    leat_value length =
        leat_op_add(leat_op_floormod(x, number(graph, s->length)), number(graph, 1));
    leat_value bounds[2] = {begin, leat_op_add(begin, length)};
    leat_value range = leat_graph_dataset_op(graph, "range", NULL, NULL, 0,
                                             (const char *[]){"start", "stop"}, bounds, 2);
    leat_error err = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    leat_function *function =
        LEAT_CALLBACK(look, NULL, NULL, s->impure ? "cycle_look_impure" : "cycle_look",
                      s->impure ? 0 : LEAT_PURE, leat_spec_ref(spec), spec, &err);
    char *json = function == NULL ? NULL : leat_function_to_json(function, &err);
    char args[1024];
    snprintf(args, sizeof(args), "{\"map_func\": %s}", json == NULL ? "null" : json);
    leat_function_unref(function);
    leat_text_free(json);
    outputs[0] = leat_graph_dataset_op(graph, "map", args, &range, 1, NULL, NULL, 0);
    return 1;
}

static leat_dataset *interleave_some(void *context, leat_error *err) {
    struct interleaved *s = context;
    leat_dataset *dataset = leat_dataset_range(0, s->inputs, 1, NULL, err);
    leat_function *function = LEAT_TRACE(trace_inner, s, leat_dataset_spec(dataset), err);
    if (s->legacy) {
        leat_dataset_parallel_interleave_options options = {
            LEAT_DATASET_PARALLEL_INTERLEAVE_DEFAULTS, .block_length = s->block == 0 ? 1 : s->block,
            .sloppy = s->any_order, .num_parallel_calls = s->calls == 0 ? LEAT_UNSET : s->calls};
        return leat_dataset_parallel_interleave(dataset, function, s->cycle, &options, err);
    }
    leat_dataset_interleave_options options = {
        LEAT_DATASET_INTERLEAVE_DEFAULTS, .cycle_length = s->cycle,
        .block_length = s->block == 0 ? 1 : s->block,
        .num_parallel_calls = s->calls == 0 ? LEAT_UNSET : s->calls,
        .deterministic = s->any_order ? LEAT_CHOICE_FALSE : LEAT_CHOICE_DEFAULT};
    return leat_dataset_interleave(dataset, function, &options, err);
}

static const int threads[] = {1, 2, 8};

/* The outcomes on each number of threads are those of the sequential form. */
static void check_order(struct interleaved s) {
    struct interleaved sequential = s;
    sequential.calls = 0;
    sequential.legacy = false;
    leat_dataset *dataset = dataset_made(interleave_some, &sequential);
    char *expected = dataset_text(dataset, NULL, -1);
    leat_dataset_unref(dataset);
    for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
        leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = threads[i]};
        dataset_same(interleave_some, &s, &options, expected, -1, "threads");
        options.verify = true;
        dataset_same(interleave_some, &s, &options, expected, -1, "threads, verification mode");
        for (int64_t n = 0; n < 100; n += 7)
            dataset_resume(interleave_some, &s, &options, n, -1, expected, n % 2 == 0);
    }
    free(expected);
}

static void test_order(void **state) {
    (void)state;
    forget(30000, -1);
    check_order((struct interleaved){17, 5, 3, 1, 3, false, false, false});
    check_order((struct interleaved){9, 9, 4, 3, LEAT_AUTOTUNE, false, false, false});
    check_order((struct interleaved){12, 7, 1, 2, 1, false, false, false});
    check_order((struct interleaved){11, 4, 5, 1, 0, false, false, true});
    check_order((struct interleaved){8, 6, 20, 1, 2, false, true, false});
}

/* x: range(4).interleave(...), in the parallel form */
static int trace_nested(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_error err = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    leat_function *function = LEAT_TRACE(trace_inner, context, spec, &err);
    char *json = function == NULL ? NULL : leat_function_to_json(function, &err);
    leat_value range =
        leat_graph_dataset_op(graph, "range", "{\"stop\": 4}", NULL, 0, NULL, NULL, 0);
    size_t size = json == NULL ? 256 : strlen(json) + 256;
    char *args = malloc(size);
    snprintf(args, size, "{\"map_func\": %s, \"cycle_length\": 2, \"num_parallel_calls\": 2}",
             json == NULL ? "null" : json);
    outputs[0] = leat_graph_dataset_op(graph, "interleave", args, &range, 1, NULL, NULL, 0);
    free(args);
    leat_text_free(json);
    leat_function_unref(function);
    leat_spec_unref(spec);
    return 1;
}

/* Inside a function everything runs on the consumer's thread. */
static void test_nested(void **state) {
    (void)state;
    struct interleaved s = {4, 3, 2, 1, 2, false, false, false};
    leat_error err = {0};
    forget(50000, -1);
    leat_dataset *dataset = leat_dataset_range(0, 3, 1, NULL, &err);
    leat_function *function = LEAT_TRACE(trace_nested, &s, leat_dataset_spec(dataset), &err);
    dataset = leat_dataset_flat_map(dataset, function, &err);
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = 2, .rewrites = false};
    char *text = dataset_text(dataset, &options, -1);
    assert_string_equal(text, "0 10 11 20 21 30 22 0 10 11 20 21 30 22 0 10 11 20 21 30 22");
    assert_int_equal(seen.num_threads, 1);
    free(text);
    leat_dataset_unref(dataset);
}

/* Threads do not grow with cycle_length. */
static void test_few_threads(void **state) {
    (void)state;
    struct interleaved s = {1500, 3, 1000, 1, LEAT_AUTOTUNE, false, false, false};
    forget(20000, -1);
    leat_dataset *dataset = dataset_made(interleave_some, &s);
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = 2, .verify = true};
    char *text = dataset_text(dataset, &options, -1);
    assert_in_range(seen.num_threads, 1, 3); /* the consumer, and as many as the pool has */
    free(text);
    leat_dataset_unref(dataset);
}

/* While the consumer does something else, a driver works. */
static void test_ahead(void **state) {
    (void)state;
    struct interleaved s = {40, 5, 4, 2, 2, false, false, false};
    struct timespec late;
    forget(0, -1);
    leat_dataset *dataset = dataset_made(interleave_some, &s);
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = 2, .verify = true};
    leat_iterator *iterator = dataset_iterate(dataset, &options);
    leat_element element = {0};
    for (int i = 0; i < 10; i++)
        assert_int_equal(leat_iterator_next(iterator, &element, NULL), LEAT_OK);
    clock_gettime(CLOCK_REALTIME, &late);
    late.tv_sec += 60; /* ends a test that fails */
    pthread_mutex_lock(&seen.lock);
    int status = 0;
    while (seen.num_threads < 2 && status == 0)
        status = pthread_cond_timedwait(&seen.changed, &seen.lock, &late);
    pthread_mutex_unlock(&seen.lock);
    assert_int_equal(status, 0);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

/* Functions with effects are called by the consumer, in order, when their elements are wanted. */
static void test_effects(void **state) {
    (void)state;
    struct interleaved s = {6, 9, 2, 2, 2, false, true, false};
    forget(50000, -1);
    leat_dataset *dataset = dataset_made(interleave_some, &s);
    leat_iterator *iterator = dataset_iterate(
        dataset, &(leat_iterator_options){LEAT_ITERATOR_DEFAULTS, .num_threads = 2});
    leat_element element = {0};
    int64_t n = 0;
    while (leat_iterator_next(iterator, &element, NULL) == LEAT_OK) {
        assert_int_equal(seen.calls, ++n);
        assert_int_equal(*(const int64_t *)element.tensors[0].data, seen.last);
    }
    assert_int_equal(n, 21);
    assert_int_equal(seen.num_threads, 1);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

/* In any order each dataset keeps its own order, and nothing is lost or comes twice. */
static void check_any(leat_iterator *iterator, int64_t inputs, int64_t length, int64_t *next) {
    leat_element element = {0};
    leat_error err = {0};
    leat_status status = LEAT_OK;
    while ((status = leat_iterator_next(iterator, &element, &err)) == LEAT_OK) {
        int64_t value = *(const int64_t *)element.tensors[0].data;
        assert_in_range(value / 10, 0, inputs - 1);
        assert_int_equal(value % 10, next[value / 10]++);
    }
    leat_element_fini(&element);
    assert_int_equal(status, LEAT_OUT_OF_RANGE);
    for (int64_t i = 0; i < inputs; i++)
        assert_int_equal(next[i], 1 + i % length);
}

static void test_any_order(void **state) {
    (void)state;
    for (int i = 0; i < 6; i++) {
        struct interleaved s = {13, 6, 4, 2, 3, true, false, i % 2 == 0};
        int64_t next[13] = {0};
        forget(30000, -1);
        leat_dataset *dataset = dataset_made(interleave_some, &s);
        leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = threads[i / 2],
                                         .verify = true};
        leat_iterator *iterator = dataset_iterate(dataset, &options);
        leat_element element = {0};
        for (int k = 0; k < 5 * i; k++) {
            assert_int_equal(leat_iterator_next(iterator, &element, NULL), LEAT_OK);
            next[*(const int64_t *)element.tensors[0].data / 10]++;
        }
        leat_element_fini(&element);
        char *data = NULL;
        size_t size = 0;
        assert_int_equal(leat_iterator_save(iterator, &data, &size, NULL, NULL), LEAT_OK);
        leat_iterator_free(iterator);
        iterator = dataset_iterate(dataset, &options);
        assert_int_equal(leat_iterator_restore(iterator, data, size, NULL), LEAT_OK);
        leat_text_free(data);
        check_any(iterator, s.inputs, s.length, next);
        leat_iterator_free(iterator);
        leat_dataset_unref(dataset);
    }
}

/* A driver that is stuck in the block that is wanted makes the consumer wait until its deadline,
 * and nothing is lost; in any order everything else comes first. Where the consumer is faster than
 * the drivers, it never waits. */
static void check_held(bool any_order) {
    struct interleaved s = {12, 4, 3, 1, 3, any_order, false, false};
    int64_t next[12] = {0};
    int64_t late = 0, total = 0, patience = any_order ? 1000 : 3;
    forget(200000, 51);
    leat_dataset *dataset = dataset_made(interleave_some, &s);
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = 3, .verify = true,
                                     .deadline_ms = 20};
    leat_iterator *iterator = dataset_iterate(dataset, &options);
    leat_element element = {0};
    leat_error err = {0};
    leat_status status = LEAT_OK;
    while (late < patience && (!any_order || total < 29 - (next[5] == 0)) &&
           (status = leat_iterator_next(iterator, &element, &err)) != LEAT_OUT_OF_RANGE) {
        if (status == LEAT_OK) {
            next[*(const int64_t *)element.tensors[0].data / 10]++;
            total++;
        } else {
            assert_int_equal(status, LEAT_DEADLINE_EXCEEDED);
            pthread_mutex_lock(&seen.lock);
            late += seen.waiting > 0; /* else the machine is slow */
            pthread_mutex_unlock(&seen.lock);
        }
    }
    if (any_order)
        assert_in_range(total, 28, 30);
    open_latch();
    while ((status = leat_iterator_next(iterator, &element, &err)) != LEAT_OUT_OF_RANGE)
        if (status == LEAT_OK)
            next[*(const int64_t *)element.tensors[0].data / 10]++;
    for (int64_t i = 0; i < s.inputs; i++)
        assert_int_equal(next[i], 1 + i % s.length);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

static void test_deadline(void **state) {
    (void)state;
    check_held(false);
    check_held(true);
}

/* Cancelled while drivers work. */
static void test_cancel(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct interleaved s = {40, 5, 4, 2, LEAT_AUTOTUNE, false, false, false};
        forget(i % 2 == 0 ? 20000 : 0, -1);
        leat_dataset *dataset = dataset_made(interleave_some, &s);
        leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = 2, .verify = true};
        leat_iterator *iterator = dataset_iterate(dataset, &options);
        leat_element element = {0};
        for (int k = 0; k < i; k++)
            assert_int_equal(leat_iterator_next(iterator, &element, NULL), LEAT_OK);
        leat_iterator_cancel(iterator);
        assert_int_equal(leat_iterator_next(iterator, &element, NULL), LEAT_CANCELLED);
        leat_element_fini(&element);
        leat_iterator_free(iterator);
        leat_dataset_unref(dataset);
    }
}

static int register_callbacks(void **state) {
    (void)state;
    leat_error err = {0};
    return leat_callback_register("cycle_look", look, NULL, LEAT_PURE, &err) != LEAT_OK ||
           leat_callback_register("cycle_look_impure", look, NULL, 0, &err) != LEAT_OK;
}

static int forget_callbacks(void **state) {
    (void)state;
    leat_error err = {0};
    return leat_callback_register("cycle_look", NULL, NULL, 0, &err) != LEAT_OK ||
           leat_callback_register("cycle_look_impure", NULL, NULL, 0, &err) != LEAT_OK;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),     cmocka_unit_test(test_few_threads),
        cmocka_unit_test(test_nested),    cmocka_unit_test(test_effects),
        cmocka_unit_test(test_any_order), cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_cancel),    cmocka_unit_test(test_ahead),
    };
    return cmocka_run_group_tests(tests, register_callbacks, forget_callbacks);
}
