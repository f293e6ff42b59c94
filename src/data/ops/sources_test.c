/* from_tensor_slices, from_tensors and list_files. Orders of list_files are TensorFlow's, recorded
 * over files of the same number. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "support/dataset.h"
#include "support/refused.h"
#include "support/scratch.h"

/* ---- from_tensor_slices and from_tensors ---- */

static const int64_t numbers[] = {1, 2, 3, 4, 5, 6};
static const leat_string texts[] = {{"a", 1}, {"", 0}, {"long text", 9}};

/* ({'n': int64[3,2], 's': string[3]}, int64[3,0]) */
static leat_status structure(leat_element *out, leat_error *err) {
    leat_spec *of_dict[2] = {leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(3, 2), err),
                             leat_spec_tensor(LEAT_STRING, LEAT_SHAPE(3), err)};
    leat_spec *children[2] = {leat_spec_dict((const char *[]){"n", "s"}, of_dict, 2, err),
                              leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(3, 0), err)};
    leat_spec *spec = leat_spec_tuple(children, 2, err);
    if (spec == NULL)
        return torture_code(err);
    leat_tensor tensors[3] = {{0}};
    leat_status status =
        leat_tensor_copy_of(LEAT_INT64, LEAT_SHAPE(3, 2), numbers, &tensors[0], err);
    if (status == LEAT_OK)
        status = leat_tensor_copy_of(LEAT_STRING, LEAT_SHAPE(3), texts, &tensors[1], err);
    if (status == LEAT_OK)
        status = leat_tensor_new(LEAT_INT64, LEAT_SHAPE(3, 0), &tensors[2], err);
    if (status == LEAT_OK)
        status = leat_element_set(out, spec, tensors, err);
    for (int i = 0; i < 3; i++)
        leat_tensor_unref(&tensors[i]);
    leat_spec_unref(spec);
    return status;
}

static leat_dataset *slices_of_structure(void *context, leat_error *err) {
    (void)context;
    leat_element element = {0};
    leat_dataset *dataset =
        structure(&element, err) == LEAT_OK ? leat_dataset_from_tensor_slices(&element, err) : NULL;
    leat_element_fini(&element);
    return dataset;
}

static leat_dataset *tensors_of_structure(void *context, leat_error *err) {
    (void)context;
    leat_element element = {0};
    leat_dataset *dataset =
        structure(&element, err) == LEAT_OK ? leat_dataset_from_tensors(&element, err) : NULL;
    leat_element_fini(&element);
    return dataset;
}

static leat_dataset *shuffled_slices(void *context, leat_error *err) {
    leat_dataset *dataset = leat_dataset_repeat(slices_of_structure(context, err), 3, err);
    dataset = leat_dataset_shuffle(
        dataset, 4,
        &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(1)}, err);
    return leat_dataset_batch(dataset, 2, NULL, err);
}

static void test_tensors(void **state) {
    (void)state;
    dataset_check(slices_of_structure, NULL,
                  "({n:[1,2],s:\"a\"},[]) ({n:[3,4],s:\"\"},[]) ({n:[5,6],s:\"long text\"},[])");
    dataset_check(tensors_of_structure, NULL,
                  "({n:[1,2,3,4,5,6],s:[\"a\",\"\",\"long text\"]},[])");
    dataset_check(shuffled_slices, NULL, NULL);
    struct dataset_wanting plan = {shuffled_slices, NULL, 0};
    leat_dataset *other = dataset_made(shuffled_slices, NULL);
    char *expected = dataset_text(other, NULL, -1);
    dataset_same(dataset_through_json, &plan, NULL, expected, -1, "through JSON");
    free(expected);
    leat_dataset_unref(other);
    leat_dataset *dataset = dataset_made(slices_of_structure, NULL);
    char text[128];
    leat_spec_print(leat_dataset_spec(dataset), text, sizeof(text));
    assert_string_equal(text, "({'n': int64[2], 's': string[]}, int64[0])");
    assert_int_equal(leat_dataset_cardinality(dataset), 3);
    leat_dataset_unref(dataset);
}

/* A tuple of views over `numbers`, as long as the shapes go. */
static leat_dataset *slices_of_shapes(const leat_shape *shapes, int count, leat_error *err) {
    leat_spec *children[4];
    leat_tensor tensors[4];
    leat_element element = {0};
    for (int i = 0; i < count; i++) {
        children[i] = leat_spec_tensor(LEAT_INT64, shapes[i], NULL);
        tensors[i] = leat_tensor_view(LEAT_INT64, shapes[i], numbers);
    }
    leat_spec *spec = leat_spec_tuple(children, count, NULL);
    assert_non_null(spec);
    assert_int_equal(leat_element_set(&element, spec, tensors, NULL), LEAT_OK);
    leat_dataset *dataset = leat_dataset_from_tensor_slices(&element, err);
    leat_element_fini(&element);
    leat_spec_unref(spec);
    return dataset;
}

static void test_slices_arguments(void **state) {
    (void)state;
    leat_error err = {0};
    assert_null(slices_of_shapes((leat_shape[]){LEAT_SHAPE(2), LEAT_SCALAR}, 2, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    assert_int_equal(err.reason, LEAT_REASON_SHAPE);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "1");
    assert_null(slices_of_shapes((leat_shape[]){LEAT_SHAPE(2, 2), LEAT_SHAPE(3)}, 2, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    assert_int_equal(err.reason, LEAT_REASON_SHAPE);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "3");
    assert_null(slices_of_shapes(NULL, 0, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    assert_null(leat_dataset_from_tensor_slices(NULL, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    assert_null(leat_dataset_from_tensors(NULL, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
}

/* ---- list_files ---- */

static const char *const listed[] = {"x9", "a", "x10", "B", "b", "c.dat"};

static int list_setup(void **state) {
    if (scratch_setup(state) != 0)
        return -1;
    for (size_t i = 0; i < sizeof(listed) / sizeof(listed[0]); i++) {
        char name[16];
        snprintf(name, sizeof(name), "%s%s", listed[i],
                 strchr(listed[i], '.') == NULL ? ".txt" : "");
        scratch_write(name, "", 0);
    }
    return 0;
}

struct listing {
    leat_dataset_list_files_options options;
    int64_t repeat;
};

static leat_dataset *list(void *context, leat_error *err) {
    struct listing *l = context;
    char pattern[600];
    snprintf(pattern, sizeof(pattern), "%s/*.txt", scratch_folder);
    leat_dataset *dataset = leat_dataset_list_files(pattern, &l->options, err);
    return l->repeat == 0 ? dataset : leat_dataset_repeat(dataset, l->repeat, err);
}

/* Names with the folder in front, as outcomes. */
static char *in_folder(const char *names) {
    static char text[8192];
    size_t at = 0;
    text[0] = 0;
    for (const char *name = names; *name != 0;) {
        size_t n = strcspn(name, " ");
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s\"%s/%.*s.txt\"",
                               at == 0 ? "" : " ", scratch_folder, (int)n, name);
        name += n + (name[n] == ' ');
    }
    return text;
}

static void test_list_files(void **state) {
    (void)state;
    struct listing l = {.options = {LEAT_DATASET_LIST_FILES_DEFAULTS, .shuffle = false}};
    torture_begin();
    dataset_check(list, &l, in_folder("B a b x10 x9"));
    l = (struct listing){.options = {LEAT_DATASET_LIST_FILES_DEFAULTS, .seed = LEAT_SEED(42)}};
    dataset_check(list, &l, in_folder("B x9 a x10 b"));
    struct dataset_wanting plan = {list, &l, 0};
    dataset_check(dataset_through_json, &plan, in_folder("B x9 a x10 b"));
    l.repeat = 2;
    dataset_check(list, &l, in_folder("B x9 a x10 b x10 x9 a B b"));
    leat_dataset *dataset = dataset_made(list, &l);
    assert_int_equal(leat_dataset_cardinality(dataset), 10);
    /* An iterator draws one order for each of its epochs: the third is the second iterator's. */
    char *first = dataset_text(dataset, NULL, -1), *second = dataset_text(dataset, NULL, 5);
    assert_string_equal(first, in_folder("B x9 a x10 b x10 x9 a B b"));
    assert_string_equal(second, in_folder("b x9 x10 B a"));
    free(first);
    free(second);
    leat_dataset_unref(dataset);
    torture_end();
}

static void test_list_files_without_a_match(void **state) {
    (void)state;
    leat_error err = {0};
    assert_null(leat_dataset_list_files("/no/such/folder/*", NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "/no/such/folder/*");
    assert_null(leat_dataset_list_files(NULL, NULL, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
}

/* A state is refused when other files are there. */
static void test_list_files_changed(void **state) {
    (void)state;
    struct listing l = {.options = {LEAT_DATASET_LIST_FILES_DEFAULTS, .seed = LEAT_SEED(1)}};
    leat_dataset *dataset = dataset_made(list, &l);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    char *data = NULL;
    size_t size = 0;
    leat_error err = {0};
    assert_int_equal(leat_iterator_save(iterator, &data, &size, NULL, &err), LEAT_OK);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    const char *path = scratch_write("new.txt", "", 0);
    dataset = dataset_made(list, &l);
    iterator = dataset_iterate(dataset, NULL);
    assert_int_equal(leat_iterator_restore(iterator, data, size, &err), LEAT_FAILED_PRECONDITION);
    assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "fingerprint");
    assert_int_equal(remove(path), 0);
    leati_free(data);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

int main(void) {
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, torture_setup, torture_teardown)
#define LIST_TEST(NAME) cmocka_unit_test_setup_teardown(NAME, list_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_tensors),
        TEST(test_slices_arguments),
        LIST_TEST(test_list_files),
        TEST(test_list_files_without_a_match),
        LIST_TEST(test_list_files_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
