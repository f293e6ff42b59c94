/* Headers of tar archives, field by field: numbers, check sums, extension members, and what is
 * wrong with damaged ones. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "file/tar.h"
#include "support/refused.h"
#include "support/scratch.h"
#include <string.h>

enum { BLOCK = 512, MOST = 8 * BLOCK };

/* An archive that is put together in memory. */
struct archive {
    uint8_t bytes[MOST];
    size_t size;
};

/* What a header's check sum is made of, and what is wrong with it. */
enum sum { PLAIN, SIGNED, WRONG };

/* Appends a header and `data` in whole blocks; `size` are the twelve bytes of the size's field. */
static void add(struct archive *archive, const char *name, char type, const char *size,
                enum sum kind, const char *data, size_t n) {
    uint8_t *header = archive->bytes + archive->size;
    int sum = 0;
    memset(header, 0, BLOCK);
    memcpy(header, name, strlen(name));
    memcpy(header + 124, size, 12);
    header[156] = (uint8_t)type;
    memset(header + 148, ' ', 8);
    for (int i = 0; i < BLOCK; i++)
        sum += kind == SIGNED ? (int8_t)header[i] : header[i];
    char text[16];
    snprintf(text, sizeof text, "%06o", (unsigned)(sum + (kind == WRONG)));
    memcpy(header + 148, text, 7);
    memcpy(header + BLOCK, data, n);
    archive->size += BLOCK + (n + BLOCK - 1) / BLOCK * BLOCK;
}

static void add_octal(struct archive *archive, const char *name, char type, const char *data) {
    char size[32];
    snprintf(size, sizeof size, "%011zo", strlen(data));
    add(archive, name, type, size, PLAIN, data, strlen(data));
}

/* Reads the first member, and the end behind it, in windows of a few bytes. */
static leati_tar_outcome first_member(const struct archive *archive, leati_tar_member *member,
                                      leat_error *err) {
    scratch_write("t.tar", archive->bytes, archive->size + BLOCK);
    leati_pools pools = {0};
    leati_chunks chunks = {0};
    assert_int_equal(leati_chunks_open(&chunks, scratch_path("t.tar"), LEAT_COMPRESSION_NONE, 0,
                                       700, &pools, err),
                     LEAT_OK);
    leati_tar_outcome outcome = leati_tar_next(&chunks, member, err);
    if (outcome == LEATI_TAR_MEMBER) {
        leati_tar_member second = {0};
        assert_int_equal(leati_tar_pass(&chunks, member->size, err), LEATI_TAR_MEMBER);
        assert_int_equal(leati_tar_next(&chunks, &second, err), LEATI_TAR_END);
        leati_tar_fini(&second);
    }
    leati_chunks_close(&chunks);
    leati_pools_close(&pools);
    return outcome;
}

static void expect_member(const struct archive *archive, const char *name, int64_t size,
                          bool is_file) {
    leati_tar_member member = {0};
    leat_error err = {0};
    if (first_member(archive, &member, &err) != LEATI_TAR_MEMBER)
        fail_msg("%s: %s", name, err.text);
    assert_int_equal(member.name.size, strlen(name));
    assert_memory_equal(member.name.data, name, strlen(name));
    assert_int_equal(member.size, size);
    assert_int_equal(member.at, 0);
    assert_int_equal(member.is_file, is_file);
    leati_tar_fini(&member);
}

static void expect_damage(const struct archive *archive, const char *keyword, int at) {
    leati_tar_member member = {0};
    leat_error err = {0};
    assert_int_equal(first_member(archive, &member, &err), LEATI_TAR_DAMAGED);
    assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, keyword);
    assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, "t.tar");
    assert_int_equal(err.byte, at);
    leati_tar_fini(&member);
}

static void test_numbers(void **state) {
    (void)state;
    static const struct {
        const char *field; /* twelve bytes */
        int64_t size;      /* -1: none */
    } numbers[] = {
        {"00000000005\0", 5},
        {"  5         ", 5},
        {"         17 ", 15},
        {"00000000008\0", -1},
        {"000000x0005\0", -1},
        {"            ", 0},
        {"\0\0\0\0\0\0\0\0\0\0\0\0", 0},
        {"\x80\0\0\0\0\0\0\0\0\0\0\5", 5},
        {"\x80\0\0\0\0\0\0\0\0\0\1\2", 258},
        {"\x80\1\0\0\0\0\0\0\0\0\0\5", -1},                 /* 2^80 and 5 */
        {"\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", -1}, /* fits, but no archive has it */
        {"\x80\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", -1},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct archive archive = {0};
        char data[512];
        memset(data, 'd', sizeof data);
        int64_t size = numbers[i].size;
        add(&archive, "a", '0', numbers[i].field, PLAIN, data, size < 0 ? 0 : (size_t)size);
        if (size >= 0)
            expect_member(&archive, "a", size, true);
        else
            expect_damage(&archive, "size", 0);
    }
}

static void test_sums_and_kinds(void **state) {
    (void)state;
    struct archive archive = {0};
    add(&archive,
        "sm\xc3\xb8rrebr\xc3\xb8"
        "d",
        '0', "00000000001\0", SIGNED, "x", 1);
    expect_member(&archive,
                  "sm\xc3\xb8rrebr\xc3\xb8"
                  "d",
                  1, true);
    archive = (struct archive){0};
    add(&archive, "a", '0', "00000000001\0", WRONG, "x", 1);
    expect_damage(&archive, "sum", 0);
    static const char kinds[] = {'0', '\0', '7', '5', '2', '1'};
    for (size_t i = 0; i < sizeof kinds; i++) {
        archive = (struct archive){0};
        add_octal(&archive, "a", kinds[i], "");
        expect_member(&archive, "a", 0, i < 3);
    }
}

static void test_extensions(void **state) {
    (void)state;
    struct archive archive = {0};
    add_octal(&archive, "@", 'L', "a/long/name");
    add_octal(&archive, "short", '0', "data");
    expect_member(&archive, "a/long/name", 4, true);
    archive = (struct archive){0};
    add_octal(&archive, "@", 'x', "12 path=b/c\n10 size=6\n13 mtime=123\n");
    add(&archive, "short", '0', "00000000000\0", PLAIN, "123456", 6);
    expect_member(&archive, "b/c", 6, true);
    archive = (struct archive){0}; /* what is said of the whole archive, and of a link's target */
    add_octal(&archive, "@", 'g', "12 path=b/c\n");
    add_octal(&archive, "@", 'K', "target");
    add_octal(&archive, "short", '0', "data");
    expect_member(&archive, "short", 4, true);
}

static void test_damaged_extensions(void **state) {
    (void)state;
    static const char *const records[] = {
        "x2 path=b/c\n",
        " path=b/c\n",
        "12path=b/c\n",
        "11 path=b/c\n",
        "13 path=b/c\n",
        "12 path+b/c\n",
        "12 path=b/c ",
        "3 \n",
        "10 size=x\n",
        "11 size=-1\n",
        "99999999999999999999999 path=b\n",
        "28 size=9223372036854775808\n",
        "12",
        "12 ",
    };
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        struct archive archive = {0};
        add_octal(&archive, "@", 'x', records[i]);
        add_octal(&archive, "short", '0', "data");
        expect_damage(&archive, "pax", BLOCK);
    }
    struct archive archive = {0};
    add(&archive, "@", 'x', "00004000001\0", PLAIN, "", 0);
    expect_damage(&archive, "MiB", BLOCK);
    archive = (struct archive){0};
    add(&archive, "@", 'L', "00004000000\0", PLAIN, "", 0);
    expect_damage(&archive, "extended", BLOCK);
    archive = (struct archive){0};
    add_octal(&archive, "@", 'L', "name");
    archive.size -= BLOCK; /* and a block of zeros: then nothing */
    expect_damage(&archive, "mark", 2 * BLOCK);
}

static void test_samples(void **state) {
    (void)state;
    static const struct {
        const char *path, *extension; /* NULL: of no sample */
        size_t key_size;
    } paths[] = {{"a/b.x/1.jpg", "jpg", 7},  {"1.seg.png", "seg.png", 1},
                 {"a/.hidden", NULL, 0},     {"a/plain", NULL, 0},
                 {"__meta__.json", NULL, 0}, {"a/__b.c", NULL, 0},
                 {"a/_b.c", "c", 4},         {"", NULL, 0},
                 {"folder.d/", NULL, 0},     {"1.", "", 1}};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        leati_text text = {0};
        size_t key_size = 0;
        const char *extension = NULL;
        leati_text_add(&text, paths[i].path, strlen(paths[i].path));
        assert_int_equal(leati_tar_sample(&text, &key_size, &extension),
                         paths[i].extension != NULL);
        if (paths[i].extension != NULL) {
            assert_int_equal(key_size, paths[i].key_size);
            assert_memory_equal(extension, paths[i].extension, strlen(paths[i].extension));
            assert_ptr_equal(extension + strlen(paths[i].extension), text.data + text.size);
        }
        leati_text_fini(&text);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_numbers), TEST(test_sums_and_kinds),
                                       TEST(test_extensions), TEST(test_damaged_extensions),
                                       TEST(test_samples)};
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
