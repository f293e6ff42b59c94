/* The files of a snapshot: names, texts that TensorFlow wrote, and what is no such file. */
#include "support/cmocka.h"

#include "base/alloc.h"
#include "base/error.h"
#include "data/kept/snapshot_chunks.h"
#include "data/kept/snapshot_files.h"
#include "file/fs.h"
#include "support/refused.h"
#include "support/scratch.h"
#include <leat/core.h>
#include <string.h>

static void expect(leat_status status, const leat_error *err, leat_status code,
                   const char *keyword) {
    assert_int_equal(status, code);
    assert_refused(err, code, err->reason, keyword);
}

static void names_of_chunks(void **state) {
    (void)state;
    leati_snapshot_chunk chunk;
    char name[LEATI_SNAPSHOT_NAME_SIZE];
    assert_true(leati_snapshot_chunk_read("chunk_3_12_4096", &chunk));
    assert_int_equal(chunk.stream, 3);
    assert_int_equal(chunk.chunk, 12);
    assert_int_equal(chunk.elements, 4096);
    leati_snapshot_chunk_name(&chunk, name);
    assert_string_equal(name, "chunk_3_12_4096");
    assert_true(leati_snapshot_chunk_read("chunk_0_0_-1", &chunk));
    assert_int_equal(chunk.elements, -1);
    static const char *const others[] = {"chunk_0_0",
                                         "chunk_0_0_",
                                         "chunk__0_0",
                                         "chunk_0_0_1.tmp",
                                         ".chunk_0_0_1.leat-1.tmp",
                                         "chunk_00_0_1",
                                         "chunk_-1_0_1",
                                         "chunk_0_-1_1",
                                         "chunk_0_0_-2",
                                         "chunk_0_0_1_2",
                                         "chunk",
                                         "chunk_99999999999999999999_0_1",
                                         ""};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(leati_snapshot_chunk_read(others[i], &chunk));
}

/* As TensorFlow 2.21 wrote them for range(10), without and with a compression. */
static void metadata_of_tensorflow(void **state) {
    (void)state;
    static const char *const texts[] = {
        "element_spec: \"\\212\\002\\004\\022\\000\\030\\t\"\n",
        "element_spec: \"\\212\\002\\004\\022\\000\\030\\t\"\ncompression: \"SNAPPY\"\n"};
    static const char *const compressions[] = {"", "SNAPPY"};
    for (int i = 0; i < 2; i++) {
        leati_snapshot_info info;
        leat_error err = {0};
        bool found = false;
        char printed[64];
        scratch_write("snapshot.metadata", texts[i], strlen(texts[i]));
        assert_int_equal(leati_snapshot_info_read(scratch_folder, &info, &found, &err), LEAT_OK);
        assert_true(found);
        leat_spec_print(info.spec, printed, sizeof printed);
        assert_string_equal(printed, "int64[]");
        assert_string_equal(info.compression, compressions[i]);
        leati_snapshot_info_fini(&info);
    }
}

static void other_metadata(void **state) {
    (void)state;
    leati_snapshot_info info;
    leat_error err = {0};
    bool found = true;
    assert_int_equal(leati_snapshot_info_read(scratch_folder, &info, &found, &err), LEAT_OK);
    assert_false(found);
    /* Those of Dataset.save begin with the name of a run. */
    scratch_write("snapshot.metadata",
                  "\x12\x03"
                  "123",
                  5);
    assert_int_equal(leati_snapshot_info_read(scratch_folder, &info, &found, &err), LEAT_OK);
    assert_false(found);
    static const char *const damaged[] = {
        "element_spec: \"\\377\"\n",
        "element_spec: \"\\212",
        "element_spec: \"\\",
        "element_spec: 5\n",
        "element_spec:",
        "element_spec: \"\\212\\002\\004\\022\\000\\030\\t\"\ncompression: SNAPPY\n"};
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        scratch_write("snapshot.metadata", damaged[i], strlen(damaged[i]));
        expect(leati_snapshot_info_read(scratch_folder, &info, &found, &err), &err, LEAT_DATA_LOSS,
               "element_spec");
    }
}

static void written_and_read(void **state) {
    (void)state;
    leati_snapshot_info info;
    leat_error err = {0};
    bool found = false;
    const leat_shape scalar = LEAT_SCALAR;
    leat_spec *parts[] = {leat_spec_tensor(LEAT_STRING, scalar, &err),
                          leat_spec_tensor(LEAT_INT32, scalar, &err)};
    leat_spec *spec = leat_spec_tuple(parts, 2, &err);
    assert_int_equal(leati_snapshot_prepare(scratch_folder, spec, &err), LEAT_OK);
    assert_int_equal(leati_snapshot_info_write(scratch_folder, spec, "GZIP", &err), LEAT_OK);
    assert_int_equal(leati_snapshot_info_read(scratch_folder, &info, &found, &err), LEAT_OK);
    assert_true(found && leat_spec_equal(info.spec, spec));
    assert_string_equal(info.compression, "GZIP");
    leati_snapshot_info_fini(&info);
    leat_spec_unref(spec);
}

static void states(void **state) {
    (void)state;
    leati_snapshot_state found = LEATI_SNAPSHOT_DONE;
    leat_error err = {0}, why = {0}, said = {0};
    static const char words[] = "a \"quoted\" text\nof \xc3\xa9 two \\ lines";
    assert_int_equal(leati_snapshot_state_read(scratch_folder, &found, &why, &err), LEAT_OK);
    assert_int_equal(found, LEATI_SNAPSHOT_WRITING);
    assert_int_equal(leati_snapshot_done_write(scratch_folder, &err), LEAT_OK);
    assert_int_equal(leati_snapshot_state_read(scratch_folder, &found, &why, &err), LEAT_OK);
    assert_int_equal(found, LEATI_SNAPSHOT_DONE);
    (void)leati_fail(&said, LEAT_OUT_OF_RANGE, "%s", words);
    assert_int_equal(leati_snapshot_error_write(scratch_folder, &said, &err), LEAT_OK);
    assert_int_equal(leati_snapshot_state_read(scratch_folder, &found, &why, &err), LEAT_OK);
    assert_int_equal(found, LEATI_SNAPSHOT_FAILED);
    assert_refused(&why, LEAT_OUT_OF_RANGE, LEAT_REASON_NONE, "\xc3\xa9");
    size_t size = 0;
    char *text = (char *)scratch_read(scratch_path("ERROR"), &size);
    assert_string_equal(text, "code: OUT_OF_RANGE\nmessage: \"a \\\"quoted\\\" text\\nof "
                              "\\303\\251 two \\\\ lines\"\n");
    free(text);
    /* A text of another form is told as it is. */
    scratch_write("ERROR", "it was not to be", 16);
    assert_int_equal(leati_snapshot_state_read(scratch_folder, &found, &why, &err), LEAT_OK);
    assert_refused(&why, LEAT_UNKNOWN, LEAT_REASON_NONE, "not");
}

static void put(const char *name) {
    char path[128];
    (void)snprintf(path, sizeof path, "chunks/%s", name);
    scratch_write(path, "", 0);
}

static void lists_of_chunks(void **state) {
    (void)state;
    leat_error err = {0};
    leati_snapshot_chunk *chunks = NULL;
    size_t count = 7;
    int64_t number = 0, elements = 0;
    /* TensorFlow makes the folder with the first one. */
    assert_int_equal(leati_snapshot_chunks_list(scratch_folder, &chunks, &count, &err), LEAT_OK);
    assert_int_equal(count, 0);
    leati_free(chunks);
    assert_int_equal(leati_fs_mkdir(scratch_path("chunks"), &err), LEAT_OK);
    static const char *const names[] = {"chunk_1_0_5", "chunk_0_10_1", "chunk_0_0_2", "something",
                                        ".chunk_0_1_2.leat-1.tmp"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        put(names[i]);
    assert_int_equal(leati_snapshot_chunks_list(scratch_folder, &chunks, &count, &err), LEAT_OK);
    assert_int_equal(count, 3);
    assert_int_equal(chunks[0].stream, 0);
    assert_int_equal(chunks[1].stream, 1);
    assert_int_equal(chunks[2].chunk, 10);
    leati_free(chunks);
    assert_int_equal(leati_snapshot_count(scratch_folder, &number, &elements, &err), LEAT_OK);
    assert_int_equal(number, LEATI_SNAPSHOT_UNFINISHED);
    assert_int_equal(elements, LEAT_UNKNOWN_CARDINALITY);
    assert_int_equal(leati_snapshot_done_write(scratch_folder, &err), LEAT_OK);
    expect(leati_snapshot_count(scratch_folder, &number, &elements, &err), &err, LEAT_DATA_LOSS,
           "gone");
    assert_int_equal(leati_fs_remove(scratch_path("chunks/chunk_0_10_1"), &err), LEAT_OK);
    assert_int_equal(leati_snapshot_count(scratch_folder, &number, &elements, &err), LEAT_OK);
    assert_int_equal(number, 2);
    assert_int_equal(elements, 7);
    put("chunk_2_0_-1");
    assert_int_equal(leati_snapshot_count(scratch_folder, &number, &elements, &err), LEAT_OK);
    assert_int_equal(elements, LEAT_UNKNOWN_CARDINALITY);
    put("chunk_1_0_6");
    expect(leati_snapshot_count(scratch_folder, &number, &elements, &err), &err, LEAT_DATA_LOSS,
           "twice");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(names_of_chunks), TEST(metadata_of_tensorflow),
        TEST(other_metadata),  TEST(written_and_read),
        TEST(states),          TEST(lists_of_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
