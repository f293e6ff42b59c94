/* Joined blocks: rows of several sources side by side, what their strings keep alive, and when a
 * block is full. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "data/values/join.h"
#include <leat/core.h>

enum { SOURCES = 3, ROWS = 100 };

/* A text of `size` letters that depend on the number. */
static void write_text(char *text, int64_t number, size_t size) {
    memset(text, 'a' + (int)(number % 26), size);
    text[size] = '\0';
}

/* Component 0: texts of `size` bytes, 1: numbers from `first` on. The headers of the texts lie in
 * one buffer, which holds the one with their bytes, as a reader's do. */
static leat_status make_source(int64_t first, int64_t n, size_t size, leati_block *block,
                               leat_error *err) {
    leat_shape scalar = LEAT_SCALAR;
    leat_buffer *bytes = leat_buffer_new((size_t)n * (size + 1), err);
    leat_buffer *headers = leat_buffer_new((size_t)n * sizeof(leat_string), err);
    leat_buffer *numbers = leat_buffer_new((size_t)n * sizeof(int64_t), err);
    leat_status status = bytes == NULL || headers == NULL || numbers == NULL
                             ? LEAT_RESOURCE_EXHAUSTED
                             : leati_buffer_hold(headers, bytes, err);
    if (status == LEAT_OK)
        status = leati_block_prepare(block, 2, err);
    if (status != LEAT_OK) {
        leat_buffer_unref(bytes);
        leat_buffer_unref(headers);
        leat_buffer_unref(numbers);
        return status;
    }
    for (int64_t i = 0; i < n; i++) {
        char *text = (char *)leat_buffer_data(bytes) + (size_t)i * (size + 1);
        write_text(text, first + i, size);
        ((leat_string *)leat_buffer_data(headers))[i] = (leat_string){text, size};
        ((int64_t *)leat_buffer_data(numbers))[i] = first + i;
    }
    leat_buffer_unref(bytes);
    leati_column_strided(&block->columns[0], LEAT_STRING, &scalar, leat_buffer_data(headers),
                         sizeof(leat_string), headers);
    leati_column_strided(&block->columns[1], LEAT_INT64, &scalar, leat_buffer_data(numbers),
                         sizeof(int64_t), numbers);
    block->n = n;
    return LEAT_OK;
}

static leat_status open_join(leati_join *join, leat_error *err) {
    const char *keys[] = {"name", "number"};
    leat_spec *children[] = {leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, err),
                             leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err)};
    leat_spec *spec = leat_spec_dict(keys, children, 2, err);
    leat_status status = spec == NULL ? LEAT_RESOURCE_EXHAUSTED : leati_join_init(join, spec, err);
    leat_spec_unref(spec);
    return status;
}

static void check_row(const leati_block *out, int64_t row, int64_t number, size_t size) {
    const leat_string *text = leati_column_row(&out->columns[0], row);
    char *expected = malloc(size + 1);
    assert_non_null(expected);
    write_text(expected, number, size);
    assert_int_equal(*(int64_t *)leati_column_row(&out->columns[1], row), number);
    assert_int_equal(text->size, size);
    assert_memory_equal(text->data, expected, size);
    free(expected);
}

/* Row i of each source after row i of the one before; every row is tried again until there is
 * memory for it. The sources are gone before the rows are looked at. */
static leat_status in_turns(void *context, leat_error *err) {
    leati_join join = {0};
    leati_block sources[SOURCES] = {{0}}, out = {0};
    leat_status status = open_join(&join, err), first = LEAT_OK;
    (void)context;
    for (int s = 0; s < SOURCES && status == LEAT_OK; s++)
        status = make_source(1000 * s, ROWS, 10, &sources[s], err);
    if (status == LEAT_OK)
        status = leati_join_begin(&join, SOURCES * ROWS, &out, err);
    for (int64_t i = 0; i < SOURCES * ROWS && status == LEAT_OK; i++) {
        leat_status added = LEAT_RESOURCE_EXHAUSTED;
        for (int tries = 0; added != LEAT_OK; tries++) {
            int64_t n = 1;
            assert_in_range(tries, 0, 1);
            added = leati_join_rows(&join, &sources[i % SOURCES], i / SOURCES, &n, &out, err);
            assert_int_equal(n, added == LEAT_OK);
            assert_int_equal(out.n, i + n);
            first = first != LEAT_OK ? first : added;
        }
    }
    for (int s = 0; s < SOURCES; s++)
        leati_block_fini(&sources[s]);
    if (status == LEAT_OK) {
        assert_int_equal(out.columns[0].form, LEATI_STRIDED);
        assert_int_equal(out.columns[0].owner->num_holds, SOURCES);
        assert_true(leati_join_full(&join, &out));
    }
    for (int64_t i = 0; i < out.n; i++)
        check_row(&out, i, 1000 * (i % SOURCES) + i / SOURCES, 10);
    leati_block_fini(&out);
    leati_join_fini(&join);
    return status != LEAT_OK ? status : first;
}

static void strings_outlive_their_sources(void **state) {
    leat_error err = {0};
    (void)state;
    assert_int_equal(in_turns(NULL, &err), LEAT_OK);
}

static void without_memory_a_row_can_be_added_again(void **state) {
    (void)state;
    torture_run(in_turns, NULL);
}

/* More sources than are remembered: some are held more than once, all are held. */
static void many_sources(void **state) {
    enum { MANY = 5 * LEATI_JOIN_SOURCES };
    leat_error err = {0};
    leati_join join = {0};
    leati_block sources[MANY] = {{0}}, out = {0};
    (void)state;
    assert_int_equal(open_join(&join, &err), LEAT_OK);
    for (int s = 0; s < MANY; s++)
        assert_int_equal(make_source(1000 * s, 2, 10, &sources[s], &err), LEAT_OK);
    for (int round = 0; round < 2; round++) { /* what one block holds, the next one does not */
        assert_int_equal(leati_join_begin(&join, MANY, &out, &err), LEAT_OK);
        for (int s = 0; s < MANY; s++) {
            int64_t n = 1;
            assert_int_equal(leati_join_rows(&join, &sources[s], round, &n, &out, &err), LEAT_OK);
        }
        for (int s = 0; s < MANY && round == 1; s++)
            leati_block_fini(&sources[s]);
        for (int s = 0; s < MANY; s++)
            check_row(&out, s, 1000 * s + round, 10);
        leati_block_clear(&out);
    }
    leati_block_fini(&out);
    leati_join_fini(&join);
}

/* Adds rows of one source until the block is full or has all; how many it has. */
static int64_t rows_until_full(size_t size, int64_t n) {
    leat_error err = {0};
    leati_join join = {0};
    leati_block source = {0}, out = {0};
    int64_t rows = n;
    assert_int_equal(open_join(&join, &err), LEAT_OK);
    assert_int_equal(make_source(0, n, size, &source, &err), LEAT_OK);
    assert_int_equal(leati_join_begin(&join, n, &out, &err), LEAT_OK);
    assert_int_equal(leati_join_rows(&join, &source, 0, &rows, &out, &err), LEAT_OK);
    assert_int_equal(out.n, rows);
    assert_true(leati_join_full(&join, &out));
    for (int64_t i = 0; i < rows; i++)
        check_row(&out, i, i, size);
    leati_block_fini(&source);
    leati_block_fini(&out);
    leati_join_fini(&join);
    return rows;
}

static void blocks_keep_little_text_alive(void **state) {
    (void)state;
    assert_int_equal(rows_until_full(10, 1000), 1000);
    assert_int_equal(rows_until_full(0, 10), 10);
    assert_int_equal(rows_until_full(1 << 10, 1000), LEATI_BYTE_TARGET >> 10);
    assert_int_equal(rows_until_full((LEATI_BYTE_TARGET / 8) - 1, 100), 9);
    assert_int_equal(rows_until_full(LEATI_BYTE_TARGET / 8, 100), 1);
    assert_int_equal(rows_until_full(2 * LEATI_BYTE_TARGET, 3), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(strings_outlive_their_sources),
        TEST(without_memory_a_row_can_be_added_again),
        TEST(many_sources),
        TEST(blocks_keep_little_text_alive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
