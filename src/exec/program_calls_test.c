/* Element programs: strings, random numbers, callbacks, how much they allocate, and threads. */
#include "support/cmocka.h"
#include "support/refused.h"

#include "support/machine.h"
#include "support/torture.h"
#include <pthread.h>

/* ---- strings ---- */

static int trace_greeting(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_tensor hello = leat_scalar_string("hello");
    leat_value words[2] = {leat_graph_tensor(graph, &hello), leat_graph_argument(graph, 0)};
    leat_tensor_unref(&hello);
    outputs[0] = leat_op_string_upper(leat_op_string_join(words, 2, ", "), NULL);
    outputs[1] = words[0];
    outputs[2] = leat_op_slice(leat_op_stack(words, 2, 0), (int64_t[]){1}, 1, (int64_t[]){1}, 1);
    return 3;
}

static void assert_text(const leati_column *column, int64_t row, const char *expected) {
    const leat_string *text = leati_column_row(column, row);
    assert_int_equal(text->size, strlen(expected));
    assert_memory_equal(text->data, expected, text->size);
}

static void give_texts(struct machine *m, const leat_string *texts, int64_t n) {
    leat_shape scalar = LEAT_SCALAR;
    leat_tensor tensor;
    assert_int_equal(leat_tensor_copy_of(LEAT_STRING, LEAT_SHAPE(n), texts, &tensor, NULL),
                     LEAT_OK);
    assert_int_equal(leati_block_prepare(&m->in, 1, &(leat_error){0}), LEAT_OK);
    leati_column_strided(&m->in.columns[0], LEAT_STRING, &scalar, tensor.data, 16, tensor.owner);
    m->in.n = n;
}

static void test_strings_outlive_everything(void **state) {
    (void)state;
    struct machine m;
    leati_block kept = {0};
    machine_init(&m, finish(trace_greeting, LEAT_STRING, LEAT_SCALAR, 1));
    const leat_string texts[3] = {{"world", 5}, {"", 0}, {"you", 3}};
    give_texts(&m, texts, 3);
    must_run(&m, 3);
    leati_block_move(&m.out, &kept);
    must_run(&m, 3);
    machine_fini(&m);
    assert_text(&kept.columns[0], 0, "HELLO, WORLD");
    assert_text(&kept.columns[0], 1, "HELLO, ");
    assert_text(&kept.columns[0], 2, "HELLO, YOU");
    assert_text(&kept.columns[1], 1, "hello");
    assert_text(&kept.columns[2], 2, "you");
    leati_block_fini(&kept);
}

/* Bytes to a vector of open length (a result), to a picture, to floats. */
static int trace_bytes(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_decode_raw(leat_graph_argument(graph, 0), LEAT_UINT8, true, LEAT_UNSET);
    leat_value picture = leat_op_reshape(outputs[0], (int64_t[]){2, 2}, 2);
    outputs[1] = leat_op_cast(picture, LEAT_FLOAT32);
    outputs[2] = leat_op_transpose(picture, NULL, 0);
    return 3;
}

static void test_bytes_outlive_their_strings(void **state) {
    (void)state;
    struct machine m;
    leati_block kept = {0};
    machine_init(&m, finish(trace_bytes, LEAT_STRING, LEAT_SCALAR, 1));
    assert_int_equal(m.program->num_segments, 2);
    const leat_string texts[3] = {{"abcd", 4}, {"efgh", 4}, {"ijk", 3}};
    give_texts(&m, texts, 3);
    assert_int_equal(run(&m, 0, 3, 0), LEAT_INVALID_ARGUMENT);
    assert_int_equal(m.failed, 2);
    assert_int_equal(run(&m, 0, 2, 0), LEAT_OK);
    leati_block_move(&m.out, &kept);
    machine_fini(&m);
    assert_int_equal(kept.columns[0].tensors[1].dims[0], 4);
    assert_memory_equal(leati_column_row(&kept.columns[0], 1), "efgh", 4);
    const float *floats = leati_column_row(&kept.columns[1], 1);
    assert_true(floats[0] == 'e' && floats[3] == 'h');
    assert_memory_equal(leati_column_row(&kept.columns[2], 0), "acbd", 4);
    leati_block_fini(&kept);
}

/* ---- random numbers ---- */

static int trace_dice(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_op_random_uniform_options options = {LEAT_OP_RANDOM_UNIFORM_DEFAULTS,
                                              .seed = &(int64_t){5}};
    leat_value dice = leat_op_random_uniform(graph, LEAT_SHAPE(2), &options);
    outputs[0] = leat_op_add(dice, leat_op_cast(leat_graph_argument(graph, 0), LEAT_FLOAT32));
    return 1;
}

static void test_random_by_ordinal(void **state) {
    (void)state;
    struct machine m;
    machine_init(&m, finish(trace_dice, LEAT_INT64, LEAT_SCALAR, 1));
    const int64_t zeros[6] = {0};
    float all[12];
    give_ints(&m, 0, 1, zeros, 6);
    must_run(&m, 6);
    leati_column_gather(&m.out.columns[0], 0, 6, (char *)all, 8);
    assert_true(all[0] != all[2]);
    for (int64_t i = 0; i < 6; i++) {
        assert_int_equal(run(&m, i, 1, i), LEAT_OK);
        assert_memory_equal(leati_column_row(&m.out.columns[0], 0), &all[2 * i], 8);
    }
    machine_fini(&m);
}

/* ---- callbacks ---- */

static char calls[64];

static leat_status note(void *context, const leat_element *in, leat_element *out, leat_error *err) {
    int64_t value = *(int64_t *)in->tensors[0].data;
    snprintf(calls + strlen(calls), sizeof calls - strlen(calls), "%s%d ", (char *)context,
             (int)value);
    if (value == 3) {
        err->code = LEAT_DATA_LOSS;
        strcpy(err->text, "three");
        return LEAT_DATA_LOSS;
    }
    leat_tensor result = leat_scalar_int64(value + 1);
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err);
    leat_status status = leat_element_set(out, spec, &result, err);
    leat_spec_unref(spec);
    leat_tensor_unref(&result);
    return status;
}

/* A function that calls `note` twice in a row. */
static leat_function *calling_twice(uint32_t flags) {
    leat_error err = {0};
    leat_spec *scalar = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    leat_function *parts[2];
    for (int i = 0; i < 2; i++)
        parts[i] = LEAT_CALLBACK(note, i ? "b" : "a", NULL, NULL, flags, leat_spec_ref(scalar),
                                 leat_spec_ref(scalar), &err);
    leat_graph *graph = leat_graph_new(scalar, &err);
    leat_value x = leat_graph_argument(graph, 0);
    for (int i = 0; i < 2; i++)
        assert_true(leati_graph_inline(graph, parts[i], &x, &x));
    leat_function *function = leat_graph_finish(graph, &x, 1, NULL, &err);
    leat_function_unref(parts[0]);
    leat_function_unref(parts[1]);
    leat_spec_unref(scalar);
    return function;
}

static void test_effects_row_by_row(void **state) {
    (void)state;
    struct machine m;
    machine_init(&m, calling_twice(0));
    const int64_t values[4] = {0, 1, 2, 3};
    give_ints(&m, 0, 1, values, 4);
    calls[0] = '\0';
    must_run(&m, 2);
    assert_string_equal(calls, "a0 b1 a1 b2 ");
    assert_int_equal(int_at(&m.out, 0, 1), 3);
    assert_int_equal(leati_program_scratch_callbacks(m.scratch), 4);
    /* Row 2 fails in the second call; row 3 is never begun. */
    calls[0] = '\0';
    assert_int_equal(run(&m, 1, 3, 1), LEAT_DATA_LOSS);
    assert_int_equal(m.failed, 1);
    assert_string_equal(calls, "a1 b2 a2 b3 ");
    assert_refused(&m.err, LEAT_DATA_LOSS, LEAT_REASON_CALLBACK, "three");
    machine_fini(&m);
}

static void test_pure_calls_fail_by_row(void **state) {
    (void)state;
    struct machine m;
    machine_init(&m, calling_twice(LEAT_PURE));
    const int64_t values[4] = {0, 1, 2, 3};
    give_ints(&m, 0, 1, values, 4);
    calls[0] = '\0';
    /* The first call fails on row 3, the second on row 2. */
    assert_int_equal(run(&m, 0, 4, 0), LEAT_DATA_LOSS);
    assert_int_equal(m.failed, 2);
    machine_fini(&m);
}

/* "text n", and a vector of n numbers. */
static leat_spec *text_and_vector(leat_error *err) {
    leat_spec *parts[2] = {leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, err),
                           leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(LEAT_UNKNOWN_DIM), err)};
    return leat_spec_tuple(parts, 2, err);
}

static leat_status tell(void *context, const leat_element *in, leat_element *out, leat_error *err) {
    (void)context;
    int64_t value = *(int64_t *)in->tensors[0].data, numbers[8] = {0};
    char text[32];
    snprintf(text, sizeof text, "text %d", (int)value);
    leat_tensor parts[2] = {leat_scalar_string(text)};
    leat_status status =
        leat_tensor_copy_of(LEAT_INT64, LEAT_SHAPE(value), numbers, &parts[1], err);
    leat_spec *spec = text_and_vector(err);
    if (status == LEAT_OK)
        status = leat_element_set(out, spec, parts, err);
    leat_spec_unref(spec);
    leat_tensor_unref(&parts[0]);
    leat_tensor_unref(&parts[1]);
    return status;
}

/* The vector has the program run row by row; the texts are one column all the same. */
static void test_texts_of_calls_outlive_their_rows(void **state) {
    (void)state;
    leat_error err = {0};
    struct machine m;
    leati_block kept = {0};
    leat_spec *scalar = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    leat_function *part = LEAT_CALLBACK(tell, "tell", NULL, NULL, LEAT_PURE, leat_spec_ref(scalar),
                                        text_and_vector(&err), &err);
    leat_graph *graph = leat_graph_new(scalar, &err);
    leat_value x = leat_graph_argument(graph, 0), results[3];
    assert_true(leati_graph_inline(graph, part, &x, results));
    leat_tensor five = leat_scalar_int32(5);
    leat_value place = leat_graph_tensor(graph, &five);
    results[2] = leat_op_substr(results[0], place, place, NULL);
    leat_tensor_unref(&five);
    machine_init(&m, leat_graph_finish(graph, results, 3, NULL, &err));
    const int64_t values[4] = {0, 1, 2, 3};
    give_ints(&m, 0, 1, values, 4);
    must_run(&m, 4);
    leati_block_move(&m.out, &kept);
    machine_fini(&m);
    assert_text(&kept.columns[0], 0, "text 0");
    assert_text(&kept.columns[0], 3, "text 3");
    assert_text(&kept.columns[2], 1, "1");
    leati_block_fini(&kept);
    leat_spec_unref(scalar);
    leat_function_unref(part);
}

static int below_three(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_tensor three = leat_scalar_int64(3);
    outputs[0] = leat_op_less(leat_graph_argument(graph, 0), leat_graph_tensor(graph, &three));
    leat_tensor_unref(&three);
    return 1;
}

/* Calls inside a loop are counted, too. */
static void test_calls_inside(void **state) {
    (void)state;
    leat_error err = {0};
    struct machine m;
    leat_spec *scalar = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    leat_function *cond = LEAT_TRACE(below_three, NULL, scalar, &err);
    leat_function *body =
        LEAT_CALLBACK(note, "a", NULL, NULL, 0, leat_spec_ref(scalar), leat_spec_ref(scalar), &err);
    leat_graph *graph = leat_graph_new(scalar, &err);
    leat_value x = leat_graph_argument(graph, 0);
    assert_int_equal(leat_op_while(cond, body, &x, 1, NULL, 0, NULL, &x), 1);
    machine_init(&m, leat_graph_finish(graph, &x, 1, NULL, &err));
    const int64_t values[3] = {1, 5, 2};
    give_ints(&m, 0, 1, values, 3);
    calls[0] = '\0';
    must_run(&m, 3);
    assert_string_equal(calls, "a1 a2 a2 ");
    assert_int_equal(int_at(&m.out, 0, 0), 3);
    assert_int_equal(int_at(&m.out, 0, 1), 5);
    assert_int_equal(leati_program_scratch_callbacks(m.scratch), 3);
    machine_fini(&m);
    leat_spec_unref(scalar);
    leat_function_unref(cond);
    leat_function_unref(body);
}

/* ---- memory ---- */

static leat_status build_and_run(void *context, leat_error *err) {
    leat_function *function = context;
    leati_program *program = leati_program_new(function, err);
    if (program == NULL)
        return torture_code(err);
    leati_scratch *scratch = leati_program_scratch_new(program, err);
    leat_status status = scratch != NULL ? LEAT_OK : torture_code(err);
    const leat_string texts[2] = {{"world", 5}, {"", 0}};
    leat_tensor tensor = leat_tensor_view(LEAT_STRING, LEAT_SHAPE(2), texts);
    leati_block in = {0}, out = {0};
    leat_shape scalar = LEAT_SCALAR;
    int64_t failed;
    if (status == LEAT_OK)
        status = leati_block_prepare(&in, 1, err);
    if (status == LEAT_OK) {
        leati_column_strided(&in.columns[0], LEAT_STRING, &scalar, tensor.data, 16, NULL);
        in.n = 2;
        status = leati_program_run(program, scratch, &in, 0, 2, &start, &out, &failed, err);
    }
    leati_block_fini(&in);
    leati_block_fini(&out);
    leati_program_scratch_free(scratch);
    leati_program_free(program);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    leat_function *function = finish(trace_greeting, LEAT_STRING, LEAT_SCALAR, 1);
    torture_run_tolerant(build_and_run, function);
    leat_function_unref(function);
}

/* Allocations of one run after a few have warmed the pools up. */
static long allocations(struct machine *m, int64_t n) {
    for (int i = 0; i < 3; i++)
        must_run(m, n);
    torture_fail_at(0);
    must_run(m, n);
    return torture_count();
}

static void test_steady_state_allocates_nothing(void **state) {
    (void)state;
    static int64_t values[3000];
    struct machine m;
    machine_init(&m, finish(trace_line, LEAT_INT64, LEAT_SCALAR, 1));
    give_ints(&m, 0, 1, values, 3000);
    assert_int_equal(allocations(&m, 3000), 0);
    machine_fini(&m);
    machine_init(&m, finish(trace_greeting, LEAT_STRING, LEAT_SCALAR, 1));
    static leat_string texts[500];
    for (int i = 0; i < 500; i++)
        texts[i] = (leat_string){"some text", 9};
    give_texts(&m, texts, 500);
    assert_int_equal(allocations(&m, 500), 0);
    machine_fini(&m);
    /* Open shapes: the array of tensors, however many rows. */
    machine_init(&m, finish(trace_twice, LEAT_INT64, LEAT_SHAPE(LEAT_UNKNOWN_DIM), 1));
    int lengths[200];
    for (int i = 0; i < 200; i++)
        lengths[i] = i % 50;
    give_vectors(&m, lengths, 200);
    long few = allocations(&m, 10), many = allocations(&m, 200);
    assert_int_equal(few, many);
    assert_true(many <= 2);
    machine_fini(&m);
}

/* ---- threads ---- */

static void *run_often(void *context) {
    const leati_program *program = context;
    leati_scratch *scratch = leati_program_scratch_new(program, &(leat_error){0});
    struct machine m = {.program = (leati_program *)program, .scratch = scratch};
    int64_t values[100];
    bool right = scratch != NULL;
    for (int64_t i = 0; i < 100; i++)
        values[i] = i;
    leat_shape scalar = LEAT_SCALAR;
    right = right && leati_block_prepare(&m.in, 1, &(leat_error){0}) == LEAT_OK;
    leati_column_strided(&m.in.columns[0], LEAT_INT64, &scalar, values, 8, NULL);
    m.in.n = 100;
    for (int k = 0; right && k < 200; k++) {
        right = run(&m, 0, 100, 0) == LEAT_OK;
        for (int64_t i = 0; right && i < 100; i++)
            right = int_at(&m.out, 0, i) == 2 * i + 1;
    }
    leati_block_fini(&m.in);
    leati_block_fini(&m.out);
    leati_program_scratch_free(scratch);
    return right ? NULL : context;
}

static void test_two_threads(void **state) {
    (void)state;
    struct machine m;
    machine_init(&m, finish(trace_line, LEAT_INT64, LEAT_SCALAR, 1));
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_often, m.program), 0);
    for (int i = 0; i < 2; i++) {
        void *failure;
        pthread_join(threads[i], &failure);
        assert_null(failure);
    }
    machine_fini(&m);
}

static int trace_all_reduce(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    leat_op_all_reduce(&x, 1, LEAT_AGGREGATION_SUM, outputs);
    return 1;
}

static void test_refuses_steps(void **state) {
    (void)state;
    leat_function *function = finish(trace_all_reduce, LEAT_FLOAT32, LEAT_SCALAR, 1);
    leat_error err = {0};
    assert_null(leati_program_new(function, &err));
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "all_reduce");
    leat_function_unref(function);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_strings_outlive_everything),
                                       TEST(test_bytes_outlive_their_strings),
                                       TEST(test_random_by_ordinal),
                                       TEST(test_effects_row_by_row),
                                       TEST(test_pure_calls_fail_by_row),
                                       TEST(test_texts_of_calls_outlive_their_rows),
                                       TEST(test_calls_inside),
                                       TEST(test_no_memory),
                                       TEST(test_steady_state_allocates_nothing),
                                       TEST(test_two_threads),
                                       TEST(test_refuses_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
