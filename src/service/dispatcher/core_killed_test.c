/* A dispatcher that is killed at any moment: what it answered is true after the next start, and no
 * split is given twice. */
#include "support/cmocka.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "service/dispatcher/core.h"
#include "service/wire/messages.h"
#include "support/scratch.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILLS = 25, WORKERS = 3, SPLITS = 1000000 };

/* What a child tells before it is killed: a lease that was answered. */
struct told {
    int64_t worker, task, sequence, begin, end;
};

struct answer {
    char *text;
    leat_error failed;
};

static void note_answer(void *context, const char *bytes, size_t size) {
    ((struct answer *)context)->text = leati_strndup(bytes, size);
}

static void note_failure(void *context, const leat_error *why) {
    ((struct answer *)context)->failed = *why;
}

static bool is_here(const void *context) {
    (void)context;
    return false;
}

static bool ask(leati_core *core, const char *method, const char *text, const leati_message *form,
                void *out) {
    struct answer answer = {0};
    leat_error err = {0};
    leati_core_reply reply = {&answer, note_answer, note_failure, is_here};
    leati_core_ask(core, method, "", text, strlen(text), &reply);
    (void)leati_core_turn(core, leati_now_ns());
    bool whole = answer.text != NULL &&
                 leati_messages_read(form, answer.text, strlen(answer.text), out, &err) == LEAT_OK;
    leati_free(answer.text);
    return whole;
}

static leati_core *open_core(const char *folder) {
    leat_error err = {0};
    leat_dispatcher_options options = {LEAT_DISPATCHER_DEFAULTS};
    options.work_dir = folder;
    options.fault_tolerant_mode = true;
    leati_core *core = leati_core_open(&options, leati_now_ns(), &err);
    if (core == NULL)
        (void)fprintf(stderr, "%s\n", err.text);
    return core;
}

static bool lease(leati_core *core, int64_t task, int64_t sequence, int64_t want,
                  struct leati_message_lease *out) {
    char text[128];
    (void)snprintf(text, sizeof text,
                   "{\"task\":%lld,\"attempt\":1,\"sequence\":%lld,\"want\":%lld}", (long long)task,
                   (long long)sequence, (long long)want);
    return ask(core, "splits", text, &leati_message_lease, out);
}

/* The number of a worker's task; 0 on failure. */
static int64_t task_of(leati_core *core, int worker) {
    char text[96];
    int64_t task = 0;
    struct leati_message_worker_answer said;
    (void)snprintf(text, sizeof text, "{\"uid\":\"w%d\",\"address\":\"host:%d\"}", worker, worker);
    if (!ask(core, "worker", text, &leati_message_worker_answer, &said))
        return 0;
    if (said.start.count == 1)
        task = ((struct leati_message_task *)said.start.items)->task;
    leati_messages_fini(&leati_message_worker_answer, &said);
    return task;
}

static bool begin(leati_core *core) {
    struct leati_message_dataset_id id;
    struct leati_message_opened opened;
    char text[160];
    (void)snprintf(text, sizeof text,
                   "{\"dataset_id\":\"d\",\"plan\":\"p\",\"spec\":\"s\",\"providers\":[%d]}",
                   SPLITS);
    if (!ask(core, "register_dataset", text, &leati_message_dataset_id, &id))
        return false;
    leati_messages_fini(&leati_message_dataset_id, &id);
    return ask(core, "open_iteration",
               "{\"client\":\"c\",\"dataset_id\":\"d\",\"job_name\":\"j\",\"policy\":1,"
               "\"visitation\":1}",
               &leati_message_opened, &opened);
}

/* Gives leases until it is killed, and tells of each one that was answered. */
static int serve(const char *folder, const int64_t sequence[WORKERS], int pipe_end) {
    leati_core *core = open_core(folder);
    if (core == NULL || !begin(core))
        return 1;
    int64_t next[WORKERS], task[WORKERS];
    for (int w = 0; w < WORKERS; w++) {
        next[w] = sequence[w];
        task[w] = task_of(core, w);
    }
    for (int turn = 0;; turn++) {
        int w = turn % WORKERS;
        struct leati_message_lease given;
        if (task[w] == 0 || !lease(core, task[w], next[w], 1 + turn % 5, &given))
            return 2;
        struct told told = {w, task[w], next[w]++, given.begin, given.end};
        if (write(pipe_end, &told, sizeof told) != sizeof told)
            return 3;
    }
}

struct story {
    int64_t next[WORKERS];
    bool given[SPLITS];
    struct told last[WORKERS];
    int64_t leases;
};

/* Each lease is a new one; the first of a new process may be one that the killed one had given and
 * could not tell of. */
static void hear(struct story *story, const struct told *told) {
    assert_int_equal(told->sequence, story->next[told->worker]);
    for (int64_t i = told->begin; i < told->end; i++) {
        assert_false(story->given[i]);
        story->given[i] = true;
    }
    story->next[told->worker]++;
    story->last[told->worker] = *told;
    story->leases++;
}

static void run_and_kill(struct story *story, const char *folder, int64_t after) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        _exit(serve(folder, story->next, ends[1]));
    }
    (void)close(ends[1]);
    struct told told;
    for (int64_t i = 0; read(ends[0], &told, sizeof told) == sizeof told; i++) {
        hear(story, &told);
        if (i == after)
            assert_int_equal(kill(child, SIGKILL), 0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    (void)close(ends[0]);
}

static void test_killed(void **state) {
    (void)state;
    const char *folder = scratch_path("killed");
    struct story *story = leati_alloc_zero(1, sizeof *story);
    assert_non_null(story);
    for (int i = 0; i < KILLS; i++)
        run_and_kill(story, folder, (i * 7919) % 61);
    assert_true(story->leases >= KILLS);
    leati_core *core = open_core(folder);
    assert_non_null(core);
    for (int w = 0; w < WORKERS; w++) {
        struct leati_message_lease again;
        const struct told *last = &story->last[w];
        assert_int_equal(task_of(core, w), last->task);
        assert_true(lease(core, last->task, last->sequence, 1, &again));
        assert_int_equal(again.begin, last->begin);
        assert_int_equal(again.end, last->end);
    }
    leati_core_close(core);
    leati_free(story);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
