/* Every save and every read with each of the system's calls failing at each place: an error that
 * names a file, or success; never another content, never the old one lost, nothing left behind. */
#include "support/cmocka.h"

#include "calls.h"
#include "kinds.h"
#include "support/scratch.h"

/* Numbers below 0 and EINTR are to be got over; the others may be errors, or not matter. */
static const struct {
    call_kind call;
    int number;
} faults[] = {
    {CALL_OPEN, EINTR},        {CALL_OPEN, EMFILE},       {CALL_OPEN, EIO},
    {CALL_CLOSE, EIO},         {CALL_FSTAT, EIO},         {CALL_LSTAT, EIO},
    {CALL_STAT, EIO},          {CALL_READ, EIO},          {CALL_PREAD, EINTR},
    {CALL_PREAD, EIO},         {CALL_PREAD, CALLS_SHORT}, {CALL_WRITE, EINTR},
    {CALL_WRITE, ENOSPC},      {CALL_WRITE, EIO},         {CALL_WRITE, CALLS_SHORT},
    {CALL_FSYNC, EINTR},       {CALL_FSYNC, EIO},         {CALL_FSYNC, ENOSPC},
    {CALL_RENAME, EIO},        {CALL_RENAME, ENOSPC},     {CALL_UNLINK, EIO},
    {CALL_REMOVE, EIO},        {CALL_MKDIR, ENOSPC},      {CALL_OPENDIR, EMFILE},
    {CALL_READDIR, EIO},       {CALL_FLOCK, EINTR},       {CALL_FLOCK, ENOLCK},
    {CALL_FLOCK, EWOULDBLOCK}, {CALL_FCNTL, EMFILE},      {CALL_REALPATH, EIO},
};

/* Calls by which a writer tidies up: where one of these fails, the next save does it. */
static bool hinders_tidying(call_kind call) {
    return call == CALL_UNLINK || call == CALL_REMOVE || call == CALL_FSTAT || call == CALL_LSTAT ||
           call == CALL_FLOCK || call == CALL_OPEN;
}

static void check_error(const char *what, const kind *k, size_t f, int n, const leat_error *err) {
    if (faults[f].number < 0 || faults[f].number == EINTR)
        fail_msg("%s of %s is not got over: %s %d, number %d: %s", what, k->name,
                 call_name(faults[f].call), n, faults[f].number, err->text);
    if (strncmp(err->file, scratch_folder, strlen(scratch_folder)) != 0)
        fail_msg("%s of %s: no file is named: %s", what, k->name, err->text);
}

/* What is there is the version that is expected, or either for -1. */
static void check_content(const char *after, const kind *k, const char *folder, int expected,
                          size_t f, int n) {
    leat_error err = {0};
    int found = -1;
    leat_status status = k->load(folder, &found, &err);
    if (status != LEAT_OK || (expected >= 0 && found != expected))
        fail_msg("%s of %s, %s %d with number %d: version %d, expected %d; %s", after, k->name,
                 call_name(faults[f].call), n, faults[f].number, found, expected, err.text);
}

static void check_leftovers(const kind *k, const char *folder, bool exactly, size_t f, int n) {
    int temporary = 0, count = kinds_count(folder, &temporary);
    if (temporary > 0 || (exactly && k->files > 0 && count != k->files))
        fail_msg("%s, %s %d with number %d: %d files, %d of them temporary", k->name,
                 call_name(faults[f].call), n, faults[f].number, count, temporary);
}

/* One save with one failure; returns whether there were so many calls. */
static bool save_round(const kind *k, const char *folder, size_t f, int n) {
    leat_error err = {0};
    kinds_clear(folder);
    if (!k->is_new && k->save(folder, 0, &err) != LEAT_OK)
        fail_msg("%s: %s", k->name, err.text);
    calls_arm(faults[f].call, n, faults[f].number);
    leat_status status = k->save(folder, 1, &err);
    bool came = calls_disarm() >= n;
    int open = calls_open();
    if (open != 0)
        fail_msg("%s, %s %d: %d files stay open", k->name, call_name(faults[f].call), n, open);
    if (status != LEAT_OK)
        check_error("a save", k, f, n, &err);
    if (!hinders_tidying(faults[f].call))
        check_leftovers(k, folder, status == LEAT_OK, f, n);
    if (status == LEAT_OK || !k->is_new)
        check_content("a save", k, folder, status == LEAT_OK, f, n);
    if (k->save(folder, 1, &err) != LEAT_OK)
        fail_msg("%s, saved again: %s", k->name, err.text);
    check_content("a second save", k, folder, 1, f, n);
    check_leftovers(k, folder, true, f, n);
    return came;
}

static void each_call_of_a_save(void **state) {
    (void)state;
    char folder[600];
    snprintf(folder, sizeof folder, "%s", scratch_path("it"));
    for (int i = 0; i < num_kinds; i++)
        for (size_t f = 0; f < sizeof faults / sizeof *faults; f++)
            for (int n = 1; save_round(&kinds[i], folder, f, n); n++)
                continue;
}

static bool read_round(const kind *k, const char *folder, size_t f, int n) {
    leat_error err = {0};
    int found = -1;
    calls_arm(faults[f].call, n, faults[f].number);
    leat_status status = k->load(folder, &found, &err);
    bool came = calls_disarm() >= n;
    if (calls_open() != 0)
        fail_msg("%s, %s %d: files stay open", k->name, call_name(faults[f].call), n);
    if (status != LEAT_OK)
        check_error("reading", k, f, n, &err);
    else if (found != 1)
        fail_msg("%s, %s %d: version %d", k->name, call_name(faults[f].call), n, found);
    check_content("reading", k, folder, 1, f, n);
    return came;
}

static void each_call_of_reading(void **state) {
    (void)state;
    char folder[600];
    snprintf(folder, sizeof folder, "%s", scratch_path("it"));
    for (int i = 0; i < num_kinds; i++) {
        leat_error err = {0};
        kinds_clear(folder);
        assert_int_equal(kinds[i].save(folder, 1, &err), LEAT_OK);
        for (size_t f = 0; f < sizeof faults / sizeof *faults; f++)
            for (int n = 1; read_round(&kinds[i], folder, f, n); n++)
                continue;
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(each_call_of_a_save),
        TEST(each_call_of_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
