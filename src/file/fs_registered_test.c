/* File systems of a program's own: one that keeps a single file in memory. */
#include "support/cmocka.h"

#include "file/fs.h"
#include "support/refused.h"
#include "support/torture.h"
#include <leat/file.h>

static struct {
    char path[64]; /* "": there is none */
    char data[256];
    size_t size;
    char pending[256];
    size_t pending_size;
    int open; /* files and sinks that are not closed */
    leat_status fault;
} memory;

static leat_status gone(const char *path, leat_error *err) {
    if (memory.fault != LEAT_OK)
        return leat_error_set(err, memory.fault, "a fault");
    return strcmp(path, memory.path) == 0 ? LEAT_OK : leat_error_set(err, LEAT_NOT_FOUND, "gone");
}

static leat_status open_it(void *context, const char *path, void **file, int64_t *bytes,
                           leat_error *err) {
    leat_status status = gone(path, err);
    if (status != LEAT_OK)
        return status;
    memory.open++;
    *file = context;
    *bytes = (int64_t)memory.size;
    return LEAT_OK;
}

static leat_status read_it(void *context, void *file, int64_t offset, void *data, size_t size,
                           size_t *got, leat_error *err) {
    assert_ptr_equal(context, file);
    if (memory.fault != LEAT_OK)
        return leat_error_set(err, memory.fault, "a fault");
    size_t at = (size_t)offset;
    *got = at >= memory.size ? 0 : memory.size - at < size ? memory.size - at : size;
    memcpy(data, memory.data + at, *got);
    return LEAT_OK;
}

static void close_it(void *context, void *file) {
    assert_ptr_equal(context, file);
    memory.open--;
}

static leat_status stat_it(void *context, const char *path, leat_path_info *out, leat_error *err) {
    (void)context;
    *out = (leat_path_info){strcmp(path, "mem://") == 0, (int64_t)memory.size, 7};
    return out->is_folder ? LEAT_OK : gone(path, err);
}

static leat_status list_it(void *context, const char *path, leat_filesystem_entry entry, void *to,
                           leat_error *err) {
    static const char *const names[] = {"", ".", "..", "a/b", "a", "folder"};
    leat_status status = LEAT_OK;
    (void)context;
    (void)path;
    for (size_t i = 0; i < 6 && status == LEAT_OK; i++)
        status = entry(to, names[i], i == 5, err);
    return status == LEAT_OK && memory.fault != LEAT_OK
               ? leat_error_set(err, memory.fault, "a fault")
               : status;
}

static leat_status create_it(void *context, const char *path, void **sink, leat_error *err) {
    (void)err;
    assert_true(strlen(path) < sizeof memory.path);
    strcpy(memory.pending, path);
    memory.pending_size = 0;
    memory.open++;
    *sink = context;
    return LEAT_OK;
}

static char written[256];

static leat_status write_it(void *context, void *sink, const void *data, size_t size,
                            leat_error *err) {
    assert_ptr_equal(context, sink);
    if (memory.fault != LEAT_OK)
        return leat_error_set(err, memory.fault, "a fault");
    memcpy(written + memory.pending_size, data, size);
    memory.pending_size += size;
    return LEAT_OK;
}

static leat_status put_it(void *context, void *sink, leat_error *err) {
    (void)context;
    (void)sink;
    (void)err;
    strcpy(memory.path, memory.pending);
    memcpy(memory.data, written, memory.pending_size);
    memory.size = memory.pending_size;
    return LEAT_OK;
}

static void discard_it(void *context, void *sink) {
    close_it(context, sink);
}

static leat_status remove_it(void *context, const char *path, leat_error *err) {
    (void)context;
    leat_status status = gone(path, err);
    if (status == LEAT_OK)
        memory.path[0] = 0;
    return status;
}

static const leat_filesystem calls = {LEAT_FILESYSTEM_DEFAULTS, .open = open_it,    .read = read_it,
                                      .close = close_it,        .stat = stat_it,    .list = list_it,
                                      .create = create_it,      .write = write_it,  .put = put_it,
                                      .discard = discard_it,    .remove = remove_it};

static int setup(void **state) {
    (void)state;
    memset(&memory, 0, sizeof memory);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    return memory.open;
}

static void write_text(const char *path, const char *text) {
    leat_error err = {0};
    leat_file_writer *writer = leat_file_writer_open(path, &err);
    assert_non_null(writer);
    assert_int_equal(leat_file_writer_write(writer, text, strlen(text), &err), LEAT_OK);
    assert_int_equal(memory.path[0], 0);
    assert_int_equal(leat_file_writer_close(writer, &err), LEAT_OK);
}

static void writes_and_reads(void **state) {
    (void)state;
    leat_error err = {0};
    leat_buffer *buffer = NULL;
    write_text("mem://a", "text");
    assert_string_equal(memory.path, "mem://a");
    assert_int_equal(leati_file_read_all("mem://a", &buffer, &err), LEAT_OK);
    assert_int_equal(leat_buffer_size(buffer), 4);
    assert_memory_equal(leat_buffer_data(buffer), "text", 4);
    leat_buffer_unref(buffer);
    leat_path_info info;
    assert_int_equal(leat_path_stat("mem://a", &info, &err), LEAT_OK);
    assert_true(info.size == 4 && info.changed == 7 && !info.is_folder);
    assert_int_equal(leat_path_make_folders("mem://x/y", &err), LEAT_OK);
    assert_int_equal(leat_path_remove("mem://a", &err), LEAT_OK);
    assert_int_equal(leat_path_stat("mem://a", &info, &err), LEAT_NOT_FOUND);
    assert_refused(&err, LEAT_NOT_FOUND, LEAT_REASON_CALLBACK, "gone");
    memory.path[0] = 0;
    leat_file_writer *writer = leat_file_writer_open("mem://a", &err);
    assert_int_equal(leat_file_writer_write(writer, "x", 1, &err), LEAT_OK);
    leat_file_writer_discard(writer);
    assert_int_equal(memory.path[0], 0);
}

static leat_status note(void *context, const char *name, leat_error *err) {
    (void)err;
    strcat(context, name);
    return strcmp(name, "stop") == 0 ? LEAT_ABORTED : LEAT_OK;
}

static void lists(void **state) {
    (void)state;
    leat_error err = {0};
    char found[256] = "";
    assert_int_equal(leat_path_list("mem://", note, found, &err), LEAT_OK);
    assert_string_equal(found, "afolder");
    found[0] = 0;
    assert_int_equal(leat_path_glob("mem://f*", note, found, &err), LEAT_OK);
    assert_string_equal(found, "mem://folder");
}

static void chains(void **state) {
    (void)state;
    leat_error err = {0};
    bool is_remote = false;
    write_text("mem::s3://bucket/x", "1");
    assert_string_equal(memory.path, "mem::s3://bucket/x");
    assert_int_equal(leat_path_is_remote("mem::x", &is_remote, &err), LEAT_OK);
    assert_true(is_remote && leati_fs_is_remote("mem::x") && leati_fs_is_remote("mem://x"));
    assert_int_equal(leat_path_is_remote("other::x", &is_remote, &err), LEAT_OK);
    assert_false(is_remote || leati_fs_is_remote("other::x"));
    assert_int_equal(leat_path_is_remote("other://x", &is_remote, &err), LEAT_UNIMPLEMENTED);
    assert_int_equal(leat_path_is_remote("file:///x", &is_remote, &err), LEAT_OK);
    assert_false(is_remote);
}

static void faults(void **state) {
    (void)state;
    leat_error err = {0};
    leat_buffer *buffer = NULL;
    write_text("mem://a", "text");
    memory.fault = LEAT_UNAVAILABLE;
    assert_int_equal(leati_file_read_all("mem://a", &buffer, &err), LEAT_UNAVAILABLE);
    assert_refused(&err, LEAT_UNAVAILABLE, LEAT_REASON_CALLBACK, "mem");
    char found[256] = "";
    assert_int_equal(leat_path_list("mem://", note, found, &err), LEAT_UNAVAILABLE);
    leat_file_writer *writer = leat_file_writer_open("mem://a", &err);
    assert_non_null(writer);
    leat_status status = leat_file_writer_write(writer, "x", 1, &err);
    assert_int_equal(status, LEAT_OK); /* it is in the buffer */
    assert_int_equal(leat_file_writer_close(writer, &err), LEAT_UNAVAILABLE);
    memory.fault = LEAT_OK;
    assert_int_equal(leati_file_read_all("mem://a", &buffer, &err), LEAT_OK);
    assert_memory_equal(leat_buffer_data(buffer), "text", 4);
    leat_buffer_unref(buffer);
}

static void refused(void **state) {
    (void)state;
    leat_error err = {0};
    leat_filesystem some = calls;
    static const char *const schemes[] = {"", "file", "1a", "a b", "a/b", NULL};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(leat_filesystem_register(schemes[i], &calls, NULL, &err),
                         LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_filesystem_register("x", NULL, NULL, &err), LEAT_INVALID_ARGUMENT);
    some.stat = NULL;
    assert_int_equal(leat_filesystem_register("x", &some, NULL, &err), LEAT_INVALID_ARGUMENT);
    some = calls;
    some.put = NULL;
    assert_int_equal(leat_filesystem_register("x", &some, NULL, &err), LEAT_INVALID_ARGUMENT);
    some.create = NULL;
    assert_int_equal(leat_filesystem_register("readonly", &some, NULL, &err), LEAT_OK);
    assert_null(leat_file_writer_open("readonly://a", &err));
    assert_int_equal(err.code, LEAT_UNIMPLEMENTED);
}

static leat_status find(void *context, const char *path, leat_error *err) {
    int *asked = context;
    ++*asked;
    if (strncmp(path, "late", 4) == 0)
        return leat_filesystem_register("late", &calls, NULL, err);
    return strncmp(path, "bad", 3) == 0 ? leat_error_set(err, LEAT_UNIMPLEMENTED, "install it")
                                        : LEAT_NOT_FOUND;
}

static void found_late(void **state) {
    (void)state;
    leat_error err = {0};
    int asked = 0;
    leat_path_info info;
    leat_filesystem_find(find, &asked);
    assert_int_equal(leat_path_stat("late://a", &info, &err), LEAT_NOT_FOUND);
    assert_int_equal(leat_path_stat("late::a", &info, &err), LEAT_NOT_FOUND);
    assert_int_equal(asked, 1);
    assert_int_equal(leat_path_stat("bad://a", &info, &err), LEAT_UNIMPLEMENTED);
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "install");
    assert_int_equal(leat_path_stat("other://a", &info, &err), LEAT_UNIMPLEMENTED);
    assert_int_equal(leat_path_stat("other::a", &info, &err), LEAT_NOT_FOUND);
    assert_int_equal(asked, 4);
    leat_filesystem_find(NULL, NULL);
}

static leat_status all_of_it(void *context, leat_error *err) {
    leat_buffer *buffer = NULL;
    (void)context;
    leat_file_writer *writer = leat_file_writer_open("mem://a", err);
    if (writer == NULL)
        return torture_code(err);
    leat_status status = leat_file_writer_write(writer, "text", 4, err);
    if (status != LEAT_OK) {
        leat_file_writer_discard(writer);
        return status;
    }
    status = leat_file_writer_close(writer, err);
    if (status == LEAT_OK)
        status = leati_file_read_all("mem://a", &buffer, err);
    leat_buffer_unref(buffer);
    leat_path_info info;
    if (status == LEAT_OK)
        status = leat_path_stat("mem://a", &info, err);
    char found[256] = "";
    if (status == LEAT_OK)
        status = leat_path_list("mem://", note, found, err);
    return status == LEAT_OK ? leat_path_remove("mem://a", err) : status;
}

static void every_allocation_fails_once(void **state) {
    (void)state;
    torture_begin();
    torture_run(all_of_it, NULL);
    torture_end();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    leat_error err = {0};
    if (leat_filesystem_register("mem", &calls, &memory, &err) != LEAT_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        TEST(writes_and_reads),
        TEST(lists),
        TEST(chains),
        TEST(faults),
        TEST(refused),
        TEST(found_late),
        TEST(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
