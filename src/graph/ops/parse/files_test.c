/* write_file and matching_files over a folder of this test's own. */
#include "support/cmocka.h"

#include "support/scratch.h"

#include "core/tensor.h"
#include "graph/graph.h"
#include "graph/interpret.h"
#include "support/refused.h"
#include <leat/ops.h>
#include <stdio.h>
#include <string.h>

static leat_tensor text_of(const char *text) {
    leat_string string = {.data = text, .size = strlen(text)};
    leat_tensor tensor;
    leat_error err = {0};
    assert_int_equal(leat_tensor_copy_of(LEAT_STRING, LEAT_SCALAR, &string, &tensor, &err),
                     LEAT_OK);
    return tensor;
}

/* Calls operation `name` on texts. */
static leat_status call(const char *name, const char *const *texts, int count, leat_tensor *out,
                        leat_error *err) {
    leat_graph *graph = leat_graph_new(NULL, err);
    leat_value inputs[2], output = {.id = -1};
    assert_non_null(graph);
    for (int i = 0; i < count; i++) {
        leat_tensor tensor = text_of(texts[i]);
        inputs[i] = leat_graph_tensor(graph, &tensor);
        leat_tensor_unref(&tensor);
    }
    int made = leat_graph_call(graph, name, NULL, inputs, count, &output, 1);
    leat_function *function = leat_graph_finish(graph, &output, made < 0 ? 0 : 1, NULL, err);
    if (function == NULL)
        return err->code;
    leat_status status = leati_interpret(function, NULL, NULL, out, err);
    leat_function_unref(function);
    return status;
}

static void expect_content(const char *path, const char *expected) {
    char text[100] = "";
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof text - 1, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(size, strlen(expected));
    assert_string_equal(text, expected);
}

static void test_write_file(void **state) {
    (void)state;
    leat_error err = {0};
    leat_tensor out;
    char path[4096];
    (void)snprintf(path, sizeof path, "%s", scratch_path("new/folder/x.txt"));
    const char *texts[] = {path, "hello"};
    assert_int_equal(call("write_file", texts, 2, &out, &err), LEAT_OK);
    leat_tensor_unref(&out);
    expect_content(path, "hello");
    texts[1] = "";
    assert_int_equal(call("write_file", texts, 2, &out, &err), LEAT_OK);
    leat_tensor_unref(&out);
    expect_content(path, "");
}

static void test_write_file_fails(void **state) {
    (void)state;
    leat_error err = {0};
    leat_tensor out;
    const char *nowhere[] = {"", "x"}, *folder[] = {scratch_folder, "x"};
    assert_int_equal(call("write_file", nowhere, 2, &out, &err), LEAT_NOT_FOUND);
    assert_int_equal(call("write_file", folder, 2, &out, &err), LEAT_FAILED_PRECONDITION);
    assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, scratch_folder);
}

static void test_matching_files(void **state) {
    (void)state;
    leat_error err = {0};
    leat_tensor out;
    char pattern[4096];
    scratch_write("f2.csv", "", 0);
    scratch_write("f1.csv", "", 0);
    (void)snprintf(pattern, sizeof pattern, "%s", scratch_path("f*.csv"));
    const char *texts[] = {pattern};
    assert_int_equal(call("matching_files", texts, 1, &out, &err), LEAT_OK);
    assert_int_equal(leat_tensor_count(&out), 2);
    const leat_string *names = out.data;
    assert_memory_equal(names[0].data + names[0].size - 6, "f1.csv", 6);
    assert_memory_equal(names[1].data + names[1].size - 6, "f2.csv", 6);
    leat_tensor_unref(&out);
    for (int i = 0; i < 2; i++) {
        texts[0] = i == 0 ? "" : scratch_path("g*");
        assert_int_equal(call("matching_files", texts, 1, &out, &err), LEAT_OK);
        assert_int_equal(leat_tensor_count(&out), 0);
        leat_tensor_unref(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write_file),
        cmocka_unit_test(test_write_file_fails),
        cmocka_unit_test(test_matching_files),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
