/* Streams of a snapshot without a dispatcher: a commit notes what counts, as it does, and may be
 * the last thing that the worker does. */
#include "support/cmocka.h"

#include "data/kept/snapshot_files.h"
#include "support/scratch.h"
#include "support/worker_tasks.h"
#include <leat/leat.h>

enum { COUNT = 2000, CHUNK_BYTES = 2000 };

#define SHUFFLED                                                                                   \
    "{\"op\": \"shuffle\", \"args\": {\"buffer_size\": 100, \"seed\": 1}, \"input\": "             \
    "{\"op\": \"range\", \"args\": {\"stop\": 2000}}}"

/* What a dispatcher notes of the stream, and when its worker ends. */
struct noted {
    const char *plan;
    int64_t chunks, attempt, elements;
    int64_t ends_at; /* the chunk whose commit is the last; -1: none */
    bool counts;     /* that one does */
    leat_status refused;
};

static leat_dataset *open_noted(void *context, const struct leati_message_task *task,
                                leat_cancel *cancel, leat_error *err) {
    return open_plan((void *)(uintptr_t)((struct noted *)context)->plan, task, cancel, err);
}

static leat_status note_commit(void *context, const struct leati_message_commit *request,
                               leat_cancel *cancel, leat_error *err) {
    struct noted *noted = context;
    (void)cancel;
    assert_int_equal(request->chunk, noted->chunks);
    assert_in_range(request->elements, 1, COUNT);
    if (request->chunk != noted->ends_at || noted->counts) {
        noted->chunks++;
        noted->attempt = request->attempt;
        noted->elements = request->elements;
    }
    return request->chunk == noted->ends_at
               ? leati_fail(err, noted->refused, "the worker ends here")
               : LEAT_OK;
}

/* One attempt, to its end or where it is made to end. */
static struct leati_message_task_report attempt(struct noted *noted, int64_t number) {
    leat_error err = {0};
    leati_worker_bell *bell = leati_worker_bell_new(&err);
    leati_worker_budget *budget = leati_worker_budget_new(1, &err);
    leati_worker_ways ways = {.context = noted,
                              .dataset = open_noted,
                              .commit = note_commit,
                              .chunk_bytes = CHUNK_BYTES,
                              .bell = bell,
                              .budget = budget,
                              .num_threads = 1,
                              .address = "here:1"};
    struct leati_message_task about = {.task = 7,
                                       .attempt = number,
                                       .snapshot = leati_strdup(scratch_path("saved")),
                                       .chunks = noted->chunks,
                                       .chunk_attempt = noted->attempt,
                                       .chunk_elements = noted->elements};
    leati_worker_task *task = leati_worker_task_new(&about, &ways, &err);
    leati_worker_bell_unref(bell);
    leati_worker_budget_unref(budget);
    if (task == NULL || leati_worker_task_begin(task, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    leati_driver_join(task->producer);
    task->producer = NULL;
    struct leati_message_task_report report = report_of(task);
    end(task);
    return report;
}

static void prepare(void) {
    leat_error err = {0};
    const leat_shape scalar = LEAT_SCALAR;
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, scalar, &err);
    assert_int_equal(leati_snapshot_prepare(scratch_path("saved"), spec, &err), LEAT_OK);
    assert_int_equal(leati_snapshot_info_write(scratch_path("saved"), spec, "", &err), LEAT_OK);
    leat_spec_unref(spec);
}

/* Each number is in the snapshot once. */
static void expect_all(void) {
    leat_error err = {0};
    bool seen[COUNT] = {0};
    int64_t count = 0;
    leat_element element = {0};
    assert_int_equal(leati_snapshot_done_write(scratch_path("saved"), &err), LEAT_OK);
    leat_dataset *dataset = leat_dataset_load(scratch_path("saved"), NULL, &err);
    if (dataset == NULL)
        fail_msg("%s", err.text);
    assert_int_equal(leat_dataset_cardinality(dataset), COUNT);
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
    for (; leat_iterator_next(iterator, &element, &err) == LEAT_OK; count++) {
        int64_t value = *(const int64_t *)element.tensors[0].data;
        assert_in_range(value, 0, COUNT - 1);
        assert_false(seen[value]);
        seen[value] = true;
    }
    assert_int_equal(err.code, LEAT_OUT_OF_RANGE);
    assert_int_equal(count, COUNT);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

static int64_t count_in(const char *below) {
    char pattern[64];
    (void)snprintf(pattern, sizeof pattern, "saved/%s", below);
    DIR *folder = opendir(scratch_path(pattern));
    assert_non_null(folder);
    int64_t count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static void to_its_end(void **state) {
    (void)state;
    struct noted noted = {.plan = RANGE(2000), .ends_at = -1};
    prepare();
    struct leati_message_task_report report = attempt(&noted, 1);
    assert_true(report.done);
    assert_int_equal(report.failed, LEAT_OK);
    assert_int_equal(report.elements, COUNT);
    /* A record of a number takes 30 bytes, of which 14 are its own, and those are what is counted.
     */
    assert_int_equal(noted.chunks, (COUNT * 14 + CHUNK_BYTES - 1) / (CHUNK_BYTES / 14 * 14 + 14));
    assert_int_equal(count_in("chunks"), noted.chunks);
    assert_int_equal(count_in("streams/stream_0/uncommitted_chunks"), 0);
    assert_int_equal(count_in("streams/stream_0/checkpoints"), 0);
    expect_all();
    /* It was done, and nobody heard of it: another attempt finds that out. */
    assert_true(attempt(&noted, 2).done);
    expect_all();
}

/* The worker ends at each commit, which counts or does not; the next attempt goes on. */
static void ended_everywhere(void **state) {
    (void)state;
    static const char *const plans[] = {RANGE(2000), SHUFFLED};
    for (int kind = 0; kind < 4; kind++) {
        struct noted noted = {
            .plan = plans[kind % 2], .refused = LEAT_CANCELLED, .counts = kind / 2 == 1};
        scratch_remove(scratch_path("saved"));
        prepare();
        bool ended = false;
        for (int64_t number = 1; !ended; number++) {
            /* Behind one that counts where its own does not, so that there is an end. */
            noted.ends_at = noted.chunks + (noted.counts ? 0 : 1);
            struct leati_message_task_report report = attempt(&noted, number);
            ended = report.done;
            if (report.failed != LEAT_OK)
                fail_msg("attempt %d: %s", (int)number, report.text);
            assert_true(number < 100);
        }
        assert_in_range(noted.chunks, 10, 20);
        expect_all();
    }
}

/* Another worker has the stream: that is no failure of the snapshot. */
static void overtaken(void **state) {
    (void)state;
    struct noted noted = {.plan = RANGE(2000), .ends_at = 3, .refused = LEAT_NOT_FOUND};
    prepare();
    struct leati_message_task_report report = attempt(&noted, 1);
    assert_false(report.done);
    assert_int_equal(report.failed, LEAT_OK);
    assert_int_equal(count_in("chunks"), 3);
    /* What a later attempt has written is not removed by one that goes on from before. */
    scratch_write("saved/streams/stream_0/checkpoints/checkpoint_4_9", "x", 1);
    noted.ends_at = 4;
    noted.refused = LEAT_CANCELLED;
    (void)attempt(&noted, 2);
    size_t size = 0;
    free(scratch_read(scratch_path("saved/streams/stream_0/checkpoints/checkpoint_4_9"), &size));
    assert_int_equal(size, 1);
}

static void failures(void **state) {
    (void)state;
    static const char missing[] =
        "{\"op\": \"text_line_dataset\", \"args\": {\"filenames\": [\"/no/such/file.txt\"]}}";
    struct noted noted = {.plan = missing, .ends_at = -1};
    prepare();
    struct leati_message_task_report report = attempt(&noted, 1);
    assert_int_equal(report.failed, LEAT_NOT_FOUND);
    assert_non_null(strstr(report.text, "/no/such/file.txt"));
    leati_free(report.text);
    /* The last chunk that counts is nowhere. */
    noted = (struct noted){
        .plan = RANGE(2000), .ends_at = -1, .chunks = 1, .attempt = 1, .elements = 5};
    report = attempt(&noted, 2);
    assert_int_equal(report.failed, LEAT_DATA_LOSS);
    leati_free(report.text);
}

static void nobody_reads_it(void **state) {
    (void)state;
    leat_error err = {0};
    struct noted noted = {.plan = TEN};
    leati_worker_bell *bell = leati_worker_bell_new(&err);
    leati_worker_budget *budget = leati_worker_budget_new(1, &err);
    leati_worker_ways ways = {
        .context = &noted, .dataset = open_noted, .bell = bell, .budget = budget};
    struct leati_message_task about = {.task = 7, .snapshot = leati_strdup("/somewhere")};
    leati_worker_task *task = leati_worker_task_new(&about, &ways, &err);
    struct leati_message_read asked = {.consumer = -1};
    assert_null(leati_worker_reader_new(task, &asked, NULL, &err));
    assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "/somewhere");
    leati_worker_bell_unref(bell);
    leati_worker_budget_unref(budget);
    end(task);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(to_its_end), TEST(ended_everywhere), TEST(overtaken),
        TEST(failures),   TEST(nobody_reads_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
