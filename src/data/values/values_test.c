/* Tensors, blocks, errors and sets of values as bytes of a saved state: that they come back, and
 * what damaged bytes are told. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "base/error.h"
#include "core/json.h"
#include "core/spec.h"
#include "core/tensor.h"
#include "data/values/seen.h"
#include "data/values/values.h"
#include "support/refused.h"

static leat_element element_of(const char *text) {
    leat_error err = {0};
    leat_element element = {0};
    json_t *json = leati_json_parse(text, strlen(text), &err);
    if (json == NULL || leati_json_to_element(json, &element, &err) != LEAT_OK)
        fail_msg("%s: %s", text, err.text);
    json_decref(json);
    return element;
}

/* ---- tensors ---- */

static const char *const literals[] = {
    "{\"dtype\": \"int8\", \"shape\": [], \"data\": [-5]}",
    "{\"dtype\": \"uint64\", \"shape\": [2, 1], \"data\": [1, \"18446744073709551615\"]}",
    "{\"dtype\": \"float32\", \"shape\": [3], \"data\": [1.5, \"inf\", -0.0]}",
    "{\"dtype\": \"bool\", \"shape\": [0, 4], \"data\": []}",
    "{\"dtype\": \"string\", \"shape\": [3], \"data\": [\"\", \"abc\", {\"hex\": \"00ff\"}]}",
    "{\"dtype\": \"string\", \"shape\": [0], \"data\": []}",
    "{\"dtype\": \"bfloat16\", \"shape\": [1, 1, 1, 1, 1, 1, 1, 2], \"data\": [1, 2]}",
};

static leat_status there_and_back(void *context, leat_error *err) {
    const leat_tensor *tensor = context;
    leati_writer out = {0};
    leat_tensor again = {0};
    leat_status status = leati_values_put_tensor(&out, tensor, err);
    leati_reader in = {.data = out.data, .size = out.size};
    if (status == LEAT_OK)
        status = leati_values_get_tensor(&in, &again, err);
    if (status == LEAT_OK) {
        assert_true(leati_tensor_equal(tensor, &again));
        assert_int_equal(in.at, in.size);
    }
    leat_tensor_unref(&again);
    leati_writer_fini(&out);
    return status;
}

static void test_tensors(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof literals / sizeof *literals; i++) {
        leat_element element = element_of(literals[i]);
        torture_run(there_and_back, &element.tensors[0]);
        /* Whatever is cut off is missed. */
        leati_writer out = {0};
        assert_int_equal(leati_values_put_tensor(&out, &element.tensors[0], &(leat_error){0}),
                         LEAT_OK);
        for (size_t size = 0; size < out.size; size++) {
            leat_error err = {0};
            leat_tensor tensor = {0};
            leati_reader in = {.data = out.data, .size = size};
            assert_int_equal(leati_values_get_tensor(&in, &tensor, &err), LEAT_DATA_LOSS);
            assert_int_equal(err.code, LEAT_DATA_LOSS);
            assert_int_equal(tensor.dtype, LEAT_INVALID);
        }
        leati_writer_fini(&out);
        leat_element_fini(&element);
    }
}

/* A tensor of a dtype's name, a rank, dimensions and so many bytes behind them. */
static void damaged(const char *dtype, uint64_t rank, const int64_t *dims, int num_dims,
                    size_t bytes, const char *keyword) {
    static const uint8_t zeros[64] = {0};
    leati_writer out = {0};
    leat_tensor tensor = {0};
    leat_error err = {0};
    leati_put_bytes(&out, dtype, strlen(dtype));
    leati_put_uint(&out, rank);
    for (int i = 0; i < num_dims; i++)
        leati_put_int(&out, dims[i]);
    leati_put_bytes(&out, zeros, bytes);
    leati_reader in = {.data = out.data, .size = out.size};
    assert_int_equal(leati_values_get_tensor(&in, &tensor, &err), LEAT_DATA_LOSS);
    assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, keyword);
    leati_writer_fini(&out);
}

static void test_damaged_tensors(void **state) {
    (void)state;
    const int64_t two[] = {2}, less[] = {-1}, huge[] = {INT64_MAX, 4}, many[] = {INT64_MAX / 2};
    damaged("int9", 0, NULL, 0, 8, "\"int9\"");
    damaged("object", 0, NULL, 0, 8, "\"object\"");
    damaged("int8", 9, NULL, 0, 8, "9");
    damaged("a name that is longer than any other", 0, NULL, 0, 8, "0");
    damaged("int32", 1, less, 1, 8, "-1");
    damaged("int32", 2, huge, 2, 8, "4");
    damaged("int32", 1, two, 1, 7, "7");
    damaged("int32", 1, two, 1, 9, "9");
    damaged("int32", 1, many, 1, 8, "4611686018427387903");
    damaged("string", 1, (int64_t[]){4}, 1, 2, "3");
}

/* ---- blocks ---- */

/* Rows of (int64[], string[?]) as tensors, four of them. */
static leat_status make_block(const leat_element *rows, leati_block *out, leat_error *err) {
    leati_block row = {0};
    leat_status status = LEAT_OK;
    for (int i = 0; i < 4 && status == LEAT_OK; i++) {
        status = leati_block_of_element(&rows[i], &row, err);
        if (status == LEAT_OK)
            status = leati_block_append(out, &row, err);
    }
    leati_block_fini(&row);
    return status;
}

struct blocks {
    leat_element rows[4];
    leat_spec *spec;
};

static leat_status blocks_again(void *context, leat_error *err) {
    const struct blocks *b = context;
    leati_block block = {0}, again = {0};
    leati_writer out = {0};
    leat_element element = {0};
    leat_status status = make_block(b->rows, &block, err);
    if (status == LEAT_OK)
        status = leati_values_put_block(&out, &block, 1, 2, err);
    leati_reader in = {.data = out.data, .size = out.size};
    if (status == LEAT_OK)
        status = leati_values_get_block(&in, b->spec, &again, err);
    for (int i = 0; i < 2 && status == LEAT_OK; i++) {
        assert_int_equal(again.n, 2);
        status = leati_block_element(&again, b->spec, i, &element, err);
        for (int c = 0; c < 2 && status == LEAT_OK; c++)
            assert_true(leati_tensor_equal(&element.tensors[c], &b->rows[i + 1].tensors[c]));
    }
    leat_element_fini(&element);
    leati_writer_fini(&out);
    leati_block_fini(&again);
    leati_block_fini(&block);
    return status;
}

/* Blocks of another spec, cut off, or with a number of rows that cannot be. */
static void refuse_numbers(leat_spec *spec) {
    leati_writer out = {0};
    leati_block block = {0};
    leat_error err = {0};
    static const int64_t numbers[][3] = {{1, 3, 0}, {-1, 2, 0}, {6, 2, 0}};

    for (int i = 0; i < 3; i++) {
        out.size = 0;
        leati_put_int(&out, numbers[i][0]);
        leati_put_uint(&out, (uint64_t)numbers[i][1]);
        leati_put_raw(&out, "12345", 5);
        leati_reader in = (leati_reader){.data = out.data, .size = out.size};
        assert_int_equal(leati_values_get_block(&in, spec, &block, &err), LEAT_DATA_LOSS);
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)numbers[i][i == 0]);
        assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, number);
    }
    leati_writer_fini(&out);
    leati_block_fini(&block);
}

static void test_blocks(void **state) {
    (void)state;
    static const char *const texts[] = {"[]", "[\"a\"]", "[\"b\", \"\"]", "[\"c\"]"};
    struct blocks b = {0};
    leat_error err = {0};
    b.spec = leat_spec_from_json("{\"tuple\": [{\"dtype\": \"int64\", \"shape\": []}, {\"dtype\": "
                                 "\"string\", \"shape\": [-1]}]}",
                                 &err);
    for (int i = 0; i < 4; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "{\"tuple\": [{\"dtype\": \"int64\", \"shape\": [], \"data\": [%d]}, {\"dtype\": "
                 "\"string\", \"shape\": [%d], \"data\": %s}]}",
                 i, i == 2 ? 2 : i > 0, texts[i]);
        b.rows[i] = element_of(text);
    }
    torture_run(blocks_again, &b);
    /* Nothing is a block as well, of any number of columns. */
    leati_block block = {0}, none = {0};
    leati_writer out = {0};
    assert_int_equal(leati_values_put_block(&out, &none, 0, 0, &err), LEAT_OK);
    leati_reader in = {.data = out.data, .size = out.size};
    assert_int_equal(leati_values_get_block(&in, b.spec, &block, &err), LEAT_OK);
    assert_int_equal(block.n, 0);
    assert_int_equal(block.num_columns, 2);
    refuse_numbers(b.spec);
    assert_int_equal(make_block(b.rows, &block, &err), LEAT_OK);
    out.size = 0;
    assert_int_equal(leati_values_put_block(&out, &block, 0, 4, &err), LEAT_OK);
    for (size_t size = 0; size < out.size; size++) {
        leati_block cut = {0};
        in = (leati_reader){.data = out.data, .size = size};
        assert_int_equal(leati_values_get_block(&in, b.spec, &cut, &err), LEAT_DATA_LOSS);
        assert_int_equal(cut.n, 0);
        leati_block_fini(&cut);
    }
    leat_spec *other = leat_spec_from_json("{\"tuple\": [{\"dtype\": \"int64\", \"shape\": []}, "
                                           "{\"dtype\": \"string\", \"shape\": [1]}]}",
                                           &err);
    in = (leati_reader){.data = out.data, .size = out.size};
    assert_int_equal(leati_values_get_block(&in, other, &none, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "string[0]");
    leat_spec_unref(other);
    leati_writer_fini(&out);
    leati_block_fini(&block);
    leati_block_fini(&none);
    for (int i = 0; i < 4; i++)
        leat_element_fini(&b.rows[i]);
    leat_spec_unref(b.spec);
}

/* ---- errors ---- */

static void test_errors(void **state) {
    (void)state;
    leati_writer out = {0};
    for (int code = 0; code <= LEAT_UNAUTHENTICATED; code++) {
        for (int at_end = 0; at_end < 2; at_end++) {
            leat_error error = {.code = (leat_status)code, .at_end = at_end != 0, .text = "why"};
            leat_error again = {.text = "something else that is longer"}, err = {0};
            out.size = 0;
            leati_values_put_error(&out, &error);
            leati_reader in = {.data = out.data, .size = out.size};
            leat_status status = leati_values_get_error(&in, &again, &err);
            if (code == LEAT_OK) {
                assert_int_equal(status, LEAT_DATA_LOSS);
                continue;
            }
            assert_int_equal(status, LEAT_OK);
            assert_int_equal(again.at_end, at_end);
            assert_refused(&again, (leat_status)code, LEAT_REASON_NONE, "why");
        }
    }
    /* All that it knows, and every cut of it is refused. */
    leat_error error = {0}, again = {0}, err = {0};
    leati_fail_for(&error, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "no");
    leati_error_at_file(&error, "f", 1, 9, true);
    leati_error_at_function(&error, "u.c:4");
    leati_error_at_operator(&error, "map", 3);
    leati_prefix(&error, "worker 1");
    out.size = 0;
    leati_values_put_error(&out, &error);
    leati_reader in = {.data = out.data, .size = out.size};
    assert_int_equal(leati_values_get_error(&in, &again, &err), LEAT_OK);
    assert_memory_equal(&again, &error, sizeof again);
    for (size_t size = 0; size < out.size; size++) {
        in = (leati_reader){.data = out.data, .size = size};
        assert_int_equal(leati_values_get_error(&in, &again, &err), LEAT_DATA_LOSS);
    }
    leati_writer_fini(&out);
}

static void test_long_errors(void **state) {
    (void)state;
    leati_writer out = {0};
    leat_error again = {0}, err = {0};
    /* The longest text, and one that is longer; a message behind its end. */
    char text[LEAT_ERROR_TEXT];
    memset(text, 'x', sizeof text);
    for (size_t size = sizeof text - 1; size <= sizeof text; size++) {
        for (size_t at = size - 1; at <= size + 1; at++) {
            out.size = 0;
            leati_put_bytes(&out, "NOT_FOUND", 9);
            leati_put_bytes(&out, "NONE", 4);
            leati_put_uint(&out, 0);
            leati_put_uint(&out, 0);
            for (int i = 0; i < 3; i++)
                leati_put_bytes(&out, "", 0);
            leati_put_int(&out, -1);
            leati_put_int(&out, -1);
            leati_put_bytes(&out, text, size);
            leati_put_uint(&out, 0);
            leati_put_uint(&out, at);
            leati_reader in = (leati_reader){.data = out.data, .size = out.size};
            assert_int_equal(leati_values_get_error(&in, &again, &err),
                             size < sizeof text && at <= size ? LEAT_OK : LEAT_DATA_LOSS);
        }
    }
    leati_writer_fini(&out);
}

/* ---- sets ---- */

/* Adds numbers 0, 7, 14, ... below 7 * count, twice; and saves and restores the set. */
static leat_status use_set(void *context, leat_error *err) {
    int64_t count = *(const int64_t *)context;
    leati_seen seen = {0}, again = {0};
    leati_writer out = {0};
    leat_status status = LEAT_OK;
    int64_t fresh_ones = 0;
    for (int64_t i = 0; i < 2 * count && status == LEAT_OK; i++) {
        int64_t number = i % count * 7;
        leat_tensor tensor = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &number);
        leati_column column = {0};
        leati_column_constant(&column, &tensor);
        bool fresh = false;
        status = leati_seen_add(&seen, &column, 0, &fresh, err);
        if (status == LEAT_OK)
            assert_int_equal(fresh, i < count);
        fresh_ones += fresh;
        leati_column_fini(&column);
    }
    if (status == LEAT_OK) {
        assert_int_equal(fresh_ones, count);
        assert_int_equal(seen.count, count);
        /* At most half full. */
        assert_true(seen.room >= 2 * seen.count);
        assert_true(leati_seen_bytes(&seen) >= (int64_t)(seen.keys.size + seen.room * 8));
        leati_seen_save(&seen, &out);
        status = out.failed ? leati_no_memory(err) : LEAT_OK;
    }
    leati_reader in = {.data = out.data, .size = out.size};
    if (status == LEAT_OK)
        status = leati_seen_restore(&again, &in, err);
    if (status == LEAT_OK) {
        assert_int_equal(in.at, in.size);
        assert_int_equal(again.count, count);
        assert_int_equal(again.keys.size, seen.keys.size);
        assert_memory_equal(again.keys.data, seen.keys.data, seen.keys.size);
        leati_seen_clear(&seen);
        assert_int_equal(seen.count, 0);
    }
    leati_seen_fini(&seen);
    leati_seen_fini(&again);
    leati_writer_fini(&out);
    return status;
}

static bool is_fresh(leati_seen *seen, const char *literal) {
    leat_element element = element_of(literal);
    leati_column column = {0};
    leati_column_constant(&column, &element.tensors[0]);
    bool fresh = false;
    assert_int_equal(leati_seen_add(seen, &column, 0, &fresh, &(leat_error){0}), LEAT_OK);
    leati_column_fini(&column);
    leat_element_fini(&element);
    return fresh;
}

static void test_sets(void **state) {
    (void)state;
    torture_run(use_set, &(int64_t){40}); /* grows once */
    leat_error err = {0};
    assert_int_equal(use_set(&(int64_t){3000}, &err), LEAT_OK);
    leati_seen seen = {0};
    /* Equal bytes in another shape, or divided in another way, are another value. */
    static const char *const different[] = {
        "{\"dtype\": \"int64\", \"shape\": [2], \"data\": [1, 2]}",
        "{\"dtype\": \"int64\", \"shape\": [2, 1], \"data\": [1, 2]}",
        "{\"dtype\": \"int64\", \"shape\": [2], \"data\": [1, 3]}",
        "{\"dtype\": \"string\", \"shape\": [2], \"data\": [\"ab\", \"c\"]}",
        "{\"dtype\": \"string\", \"shape\": [2], \"data\": [\"a\", \"bc\"]}",
        "{\"dtype\": \"string\", \"shape\": [], \"data\": [\"abc\"]}",
        "{\"dtype\": \"string\", \"shape\": [], \"data\": [\"\"]}",
    };
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof different / sizeof *different; i++)
            assert_int_equal(is_fresh(&seen, different[i]), round == 0);
    leati_seen_clear(&seen);
    assert_true(is_fresh(&seen, different[0]));
    leati_writer out = {0};
    leati_put_uint(&out, 2);
    leati_put_bytes(&out, "key", 3);
    leati_put_bytes(&out, "key", 3);
    leati_seen_clear(&seen);
    leati_reader in = {.data = out.data, .size = out.size};
    assert_int_equal(leati_seen_restore(&seen, &in, &err), LEAT_DATA_LOSS);
    assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, "member");
    leati_seen_clear(&seen);
    in = (leati_reader){.data = out.data, .size = 5};
    assert_int_equal(leati_seen_restore(&seen, &in, &err), LEAT_DATA_LOSS);
    leati_writer_fini(&out);
    leati_seen_fini(&seen);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_tensors),     TEST(test_damaged_tensors),
                                       TEST(test_blocks),      TEST(test_errors),
                                       TEST(test_long_errors), TEST(test_sets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
