/* What S3 is asked and what it says, without a server: names, URLs, lists, accounts; and what no
 * file system but a disk's is asked for. */
#include "support/cmocka.h"

#include "base/alloc.h"
#include "base/stop.h"
#include "file/atomic.h"
#include "file/s3.h"
#include "support/refused.h"
#include "support/scratch.h"

static const char *const variables[] = {
    "AWS_ACCESS_KEY_ID",  "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
    "AWS_SECURITY_TOKEN", "AWS_PROFILE",           "AWS_DEFAULT_PROFILE",
    "AWS_REGION",         "AWS_DEFAULT_REGION",    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL",   "AWS_CONFIG_FILE",       "AWS_SHARED_CREDENTIALS_FILE",
};

static int setup(void **state) {
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        (void)unsetenv(variables[i]);
    return scratch_setup(state) == 0 ? setenv("HOME", scratch_folder, 1) : -1;
}

/* The names of a list, each with ' ' or '/' behind it. */
static leat_status add_name(void *context, const char *name, leati_path_kind kind,
                            leat_error *err) {
    char *text = context;
    (void)err;
    strcat(text, name);
    strcat(text, kind == LEATI_PATH_FOLDER ? "/" : " ");
    return LEAT_OK;
}

static void lists(void **state) {
    (void)state;
    static const char page[] =
        "<?xml?><ListBucketResult xmlns=\"x\"><Contents><Key>d/a%20b</Key><Size>1</Size></Contents>"
        "<Contents><Key>d/</Key></Contents><Contents><Key>other</Key></Contents>"
        "<Contents><Key>d/x%2Fy</Key></Contents><Contents><Key>d/%2e%2e</Key></Contents>"
        "<Contents><Key>d/&amp;&#x41;+%2B%zz</Key></Contents>"
        "<CommonPrefixes><Prefix>d/deep/</Prefix></CommonPrefixes>"
        "<IsTruncated>true</IsTruncated><NextContinuationToken>t&lt;1</NextContinuationToken>";
    char names[200] = "";
    char *next = NULL;
    int64_t count = 0;
    leat_error err = {0};
    assert_int_equal(
        leati_s3_read_list(page, strlen(page), "d/", add_name, names, &next, &count, &err),
        LEAT_OK);
    assert_string_equal(names, "a b &A +%zz deep/");
    assert_string_equal(next, "t<1");
    assert_int_equal(count, 6);
    leati_free(next);
    for (size_t size = 0; size < strlen(page); size++) {
        names[0] = '\0';
        leat_status status =
            leati_s3_read_list(page, size, "d/", add_name, names, &next, &count, &(leat_error){0});
        assert_true(status == LEAT_OK || status == LEAT_DATA_LOSS);
        leati_free(next);
    }
    assert_int_equal(leati_s3_read_list("<html>", 6, "", add_name, names, &next, &count, &err),
                     LEAT_DATA_LOSS);
}

/* The URL of a path. */
static void expect_url(const char *path, bool of_bucket, const char *url) {
    const leati_fs *fs = NULL;
    const char *rest = NULL;
    leati_bucket_place place = {0};
    leat_error err = {0};
    assert_int_equal(leati_fs_of(path, &fs, &rest, &err), LEAT_OK);
    assert_int_equal(leati_bucket_place_of(fs, rest, &place, &err), LEAT_OK);
    char *found = leati_s3_url(&place, of_bucket, of_bucket ? "a=" : NULL);
    assert_string_equal(found, url);
    leati_free(found);
    leati_bucket_place_fini(&place);
}

static void urls(void **state) {
    (void)state;
    expect_url("s3://bucket/a/b c", false, "https://bucket.s3.us-east-1.amazonaws.com/a/b%20c");
    expect_url("s3://bucket", true, "https://bucket.s3.us-east-1.amazonaws.com/?a=");
    expect_url("s3://my.bucket/k", false, "https://s3.us-east-1.amazonaws.com/my.bucket/k");
    assert_int_equal(setenv("AWS_REGION", "cn-north-1", 1), 0);
    expect_url("s3://bucket/k", false, "https://bucket.s3.cn-north-1.amazonaws.com.cn/k");
    assert_int_equal(setenv("AWS_ENDPOINT_URL", "http://host:9000//", 1), 0);
    expect_url("s3://bucket/../k", false, "http://host:9000/bucket/../k");
    expect_url("s3://bucket/k", true, "http://host:9000/bucket?a=");
}

static void write_profiles(void) {
    static const char credentials[] = "[default]\naws_access_key_id = a\n[half]\n"
                                      "aws_access_key_id = b\n";
    static const char config[] = "[profile  \"two words\" ]\naws_access_key_id=c\r\n"
                                 "aws_secret_access_key = s e\r\nregion=r\r\n nested = x\n";
    assert_int_equal(mkdir(scratch_path(".aws"), 0700), 0);
    (void)scratch_write(".aws/credentials", credentials, strlen(credentials));
    (void)scratch_write(".aws/config", config, strlen(config));
}

static void accounts(void **state) {
    (void)state;
    leati_s3_account account = {0};
    leat_error err = {0};
    assert_int_equal(leati_s3_account_read(&account, &err), LEAT_OK);
    assert_null(account.key);
    assert_string_equal(account.region, "us-east-1");
    leati_s3_account_fini(&account);
    write_profiles();
    assert_int_equal(leati_s3_account_read(&account, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "aws_secret_access_key");
    assert_int_equal(setenv("AWS_PROFILE", "two words", 1), 0);
    assert_int_equal(leati_s3_account_read(&account, &err), LEAT_OK);
    assert_string_equal(account.key, "c");
    assert_string_equal(account.secret, "s e");
    assert_string_equal(account.region, "r");
    leati_s3_account_fini(&account);
    assert_int_equal(setenv("AWS_PROFILE", "none", 1), 0);
    assert_int_equal(leati_s3_account_read(&account, &err), LEAT_NOT_FOUND);
}

/* What only a disk has is refused before anybody is asked. */
static void what_is_refused(void **state) {
    (void)state;
    leat_error err = {0};
    leati_output *output = NULL;
    const leati_fs *fs = NULL;
    const char *rest = NULL;
    leati_file_sink *sink = NULL;
    assert_int_equal(leati_atomic_open("http://h/a", LEATI_ATOMIC_FILE, &output, &err),
                     LEAT_UNIMPLEMENTED);
    assert_int_equal(leati_fs_mkdirs("http://h/a", &err), LEAT_UNIMPLEMENTED);
    assert_int_equal(leati_fs_remove("https://h/a", &err), LEAT_UNIMPLEMENTED);
    assert_int_equal(leati_fs_list("https://h/a", NULL, NULL, &err), LEAT_UNIMPLEMENTED);
    assert_int_equal(leati_fs_move("s3://abc/a", "s3://abc/b", &err), LEAT_UNIMPLEMENTED);
    assert_int_equal(leati_fs_exchange("s3://abc/a", "s3://abc/b", &err), LEAT_UNIMPLEMENTED);
    assert_int_equal(leati_fs_append("s3://abc/a", "x", 1, &err), LEAT_UNIMPLEMENTED);
    assert_int_equal(leati_fs_move("gs://abc/a", "gs://abc/b", &err), LEAT_UNIMPLEMENTED);
    assert_int_equal(leati_fs_append("az://abc/a", "x", 1, &err), LEAT_UNIMPLEMENTED);
    assert_int_equal(leati_fs_move("s3://abc/a", "b", &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leati_fs_of("s3://abc/a", &fs, &rest, &err), LEAT_OK);
    assert_int_equal(fs->create(fs, rest, true, &sink, &err), LEAT_UNIMPLEMENTED);
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "s3://abc/a");
    leati_fs_sweep("s3://abc/a");
}

static void strangers_stay_here(void **state) {
    (void)state;
    static const char *const paths[] = {"http://h/a", "https://h/a", "s3://abc/a", "gs://abc/a",
                                        "az://abc/a"};
    leat_error err = {0};
    leati_stat found;
    leati_stop_scope before = leati_stop_enter_local();
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_int_equal(leati_fs_stat(paths[i], &found, &err), LEAT_PERMISSION_DENIED);
        assert_refused(&err, LEAT_PERMISSION_DENIED, LEAT_REASON_NONE, paths[i]);
    }
    assert_int_equal(leati_fs_stat(scratch_folder, &found, &err), LEAT_OK);
    leati_stop_leave(before);
    assert_false(leati_stop_is_local());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lists, setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(urls, setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(accounts, setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(what_is_refused, setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(strangers_stay_here, setup, scratch_teardown),
    };
    return cmocka_run_group_tests_name("s3", tests, NULL, NULL);
}
