/* A job of several processes that goes on from its last checkpoint: a worker is killed between two
 * checkpoints, or the disk is full at one; the others end and name who and why, all are started
 * again with the saved weights, optimizer and input, and end with the very bits of a job that
 * nothing happened to. */
#include "support/cmocka.h"

#include "base/error.h"
#include "base/hash.h"
#include "support/digits.h"
#include "support/scratch.h"
#include "support/workers.h"
#include <errno.h>
#include <leat/data_ops.h>
#include <leat/dist.h>
#include <sys/resource.h>

enum { EPOCHS = 2, LONG_MS = 60000, SAVE_EVERY = 7, KILL_AT = 31, FULL_AT = 35, STEPS = 58 };

// ---- in a worker ----

struct run {
    struct trainer trainer;
    leat_strategy *strategy;
    leat_distributed_dataset *dataset;
    leat_distributed_iterator *iterator;
    leat_step *step;
    int taken;
    char path[600];
};

/* Batches of 64 shuffled rows; the last one of an epoch has 5. */
static leat_dataset *batches(leat_error *err) {
    struct digits digits;
    leat_element rows = {0};
    leat_tensor tensors[2] = {{0}, {0}};
    digits_read(&digits);
    train_ok(leat_tensor_copy_of(LEAT_FLOAT32, LEAT_SHAPE(digits.count, 8, 8, 1), digits.pixels,
                                 &tensors[0], &train_error));
    train_ok(leat_tensor_copy_of(LEAT_INT32, LEAT_SHAPE(digits.count), digits.labels, &tensors[1],
                                 &train_error));
    leat_spec *children[2] = {leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(-1, 8, 8, 1), NULL),
                              leat_spec_tensor(LEAT_INT32, LEAT_SHAPE(-1), NULL)};
    leat_spec *spec = leat_spec_tuple(children, 2, NULL);
    train_ok(leat_element_set(&rows, spec, tensors, &train_error));
    leat_dataset *dataset = leat_dataset_from_tensor_slices(&rows, err);
    dataset = leat_dataset_shuffle(
        dataset, 500,
        &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(9)}, err);
    dataset =
        leat_dataset_repeat(leat_dataset_batch(dataset, DIGITS_BATCH, NULL, err), EPOCHS, err);
    leat_element_fini(&rows);
    leat_spec_unref(spec);
    leat_tensor_unref(&tensors[0]);
    leat_tensor_unref(&tensors[1]);
    digits_free(&digits);
    return dataset;
}

/* Makes model, optimizer and its slots, which tracing a step creates. Every worker has weights of
 * its own, so that worker 0's are seen to count. */
static void make_state(struct run *run, leat_error *err) {
    const leat_optimizer_sgd_options sgd = {LEAT_OPTIMIZER_SGD_DEFAULTS, .learning_rate = 0.02,
                                            .momentum = 0.9};
    leat_seed_set(1 + leat_strategy_worker(run->strategy));
    train_ok(leat_strategy_enter(run->strategy, &train_error));
    run->trainer.global_batch = DIGITS_BATCH;
    run->trainer.optimizer = leat_optimizer_sgd(&sgd, err);
    run->trainer.model = trainer_model(err);
    assert_non_null(run->trainer.model);
    train_ok(leat_model_build(run->trainer.model, LEAT_SHAPE(8, 8, 1), &train_error));
    leat_function *traced =
        LEAT_TRACE(trainer_step, &run->trainer, leat_distributed_dataset_spec(run->dataset), err);
    leat_strategy_exit(run->strategy);
    if (traced == NULL)
        fail_msg("%s", err->text);
    leat_function_unref(traced);
    run->step = leat_step_new(trainer_step, &run->trainer, err);
    assert_non_null(run->step);
}

/* Calls `use` on the model's variables and on the optimizer's. */
static void each_variable(struct run *run, void (*use)(leat_variable *variable, void *context),
                          void *context) {
    int count = 0;
    leat_variable *const *variables = leat_model_trainable_variables(run->trainer.model, &count);
    for (int i = 0; i < count; i++)
        use(variables[i], context);
    variables = leat_optimizer_variables(run->trainer.optimizer, &count);
    assert_true(count > 2);
    for (int i = 0; i < count; i++)
        use(variables[i], context);
}

/* `context` is the file, or NULL: reading is together. */
static void write_variable(leat_variable *variable, void *context) {
    leat_tensor value;
    train_ok(leat_variable_read(variable, &value, &train_error));
    if (context != NULL)
        (void)fwrite(value.data, 1, leat_tensor_bytes(&value), context);
    leat_tensor_unref(&value);
}

static void read_variable(leat_variable *variable, void *context) {
    leat_tensor value;
    train_ok(leat_tensor_new(leat_variable_dtype(variable), leat_variable_shape(variable), &value,
                             &train_error));
    assert_int_equal(fread(value.data, 1, leat_tensor_bytes(&value), context),
                     leat_tensor_bytes(&value));
    train_ok(leat_variable_assign(variable, &value, &train_error));
    leat_tensor_unref(&value);
}

static void hash_variable(leat_variable *variable, void *context) {
    leat_tensor value;
    train_ok(leat_variable_read(variable, &value, &train_error));
    *(uint64_t *)context = leati_hash(value.data, leat_tensor_bytes(&value), *(uint64_t *)context);
    leat_tensor_unref(&value);
}

/* From now on files take this many bytes, as on a disk that is full. */
static void fill_disk(rlim_t bytes) {
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, bytes}), 0);
}

/* All workers ask for the state of the input; the chief writes, and ends the job if it cannot. */
static leat_status save(struct run *run, leat_error *err) {
    char *state = NULL, part[640];
    size_t size = 0;
    FILE *file = NULL;
    train_ok(
        leat_distributed_iterator_save(run->iterator, NULL, &state, &size, NULL, &train_error));
    snprintf(part, sizeof part, "%s.part", run->path);
    if (leat_strategy_is_chief(run->strategy)) {
        file = fopen(part, "wb");
        assert_non_null(file);
        (void)fwrite(&run->taken, sizeof run->taken, 1, file);
        (void)fwrite(&size, sizeof size, 1, file);
        (void)fwrite(state, 1, size, file);
    }
    each_variable(run, write_variable, file);
    leat_text_free(state);
    if (file == NULL)
        return LEAT_OK;
    bool whole = ferror(file) == 0;
    whole = fclose(file) == 0 && whole;
    if (whole) {
        assert_int_equal(rename(part, run->path), 0);
        return LEAT_OK;
    }
    char text[128];
    snprintf(text, sizeof text, "the checkpoint after %d steps: %s", run->taken, strerror(errno));
    leat_strategy_abort(run->strategy, text);
    return leati_fail(err, LEAT_RESOURCE_EXHAUSTED, "%s", text);
}

static void load(struct run *run) {
    FILE *file = fopen(run->path, "rb");
    size_t size = 0;
    if (file == NULL)
        return;
    assert_int_equal(fread(&run->taken, sizeof run->taken, 1, file), 1);
    assert_int_equal(fread(&size, sizeof size, 1, file), 1);
    char *state = malloc(size);
    assert_non_null(state);
    assert_int_equal(fread(state, 1, size, file), size);
    train_ok(leat_distributed_iterator_restore(run->iterator, state, size, &train_error));
    free(state);
    each_variable(run, read_variable, file);
    fclose(file);
    workers_say("restored after %d steps", run->taken);
}

/* Trains to the end; false with `err` where the job failed. */
static bool train(struct run *run, int kill_at, int full_at, leat_error *err) {
    leat_per_replica batch = {0};
    leat_status status;
    while ((status = leat_distributed_iterator_next(run->iterator, &batch, err)) == LEAT_OK) {
        if (run->taken == kill_at && leat_strategy_worker(run->strategy) == 1)
            raise(SIGKILL);
        status = leat_strategy_run(run->strategy, run->step, &batch, NULL, err);
        if (status == LEAT_OK && ++run->taken == full_at && leat_strategy_is_chief(run->strategy))
            fill_disk(1000);
        if (status == LEAT_OK && run->taken % SAVE_EVERY == 0)
            status = save(run, err);
        if (status != LEAT_OK)
            break;
    }
    leat_per_replica_fini(&batch);
    return status == LEAT_OUT_OF_RANGE;
}

/* The argument: when worker 1 is killed, when the disk is full, and the path of the checkpoint. */
static void worker_train(void **state) {
    (void)state;
    struct run run = {0};
    leat_error err = {0};
    int kill_at = -1, full_at = -1;
    const leat_strategy_multi_worker_mirrored_options options = {
        LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS, LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS,
        .timeout_ms = LONG_MS, .start_timeout_ms = LONG_MS, .heartbeat_timeout_ms = LONG_MS};
    assert_int_equal(sscanf(workers_argument(), "%d %d %511s", &kill_at, &full_at, run.path), 3);
    run.strategy = leat_strategy_multi_worker_mirrored(&options, &err);
    if (run.strategy == NULL)
        fail_msg("%s", err.text);
    run.dataset = leat_strategy_distribute_dataset(run.strategy, batches(&err), NULL, &err);
    run.iterator = leat_distributed_iterator_new(run.dataset, &err);
    if (run.iterator == NULL)
        fail_msg("%s", err.text);
    make_state(&run, &err);
    load(&run);
    if (train(&run, kill_at, full_at, &err)) {
        uint64_t hash = 0;
        each_variable(&run, hash_variable, &hash);
        workers_say("ended after %d steps: %016llx", run.taken, (unsigned long long)hash);
    } else {
        workers_say("failed after %d steps: %s", run.taken, err.text);
    }
    leat_step_free(run.step);
    trainer_fini(&run.trainer);
    leat_distributed_iterator_free(run.iterator);
    leat_distributed_dataset_free(run.dataset);
    leat_strategy_unref(run.strategy);
}

// ---- the test ----

static workers_result results[WORKERS_MOST];

/* Where all workers ended; `expected` is what they say before. */
static void train_to_end(int count, const char *path, const char *expected, char *end,
                         size_t size) {
    char argument[600], line[64];
    snprintf(argument, sizeof argument, "-1 -1 %s", path);
    workers_run_well("worker_train", argument, count, results);
    snprintf(line, sizeof line, "%sended after %d steps: ", expected, STEPS);
    for (int i = 0; i < count; i++) {
        if (strncmp(results[i].said, line, strlen(line)) != 0)
            fail_msg("worker %d said %s", i, results[i].said);
        assert_string_equal(results[i].said, results[0].said);
    }
    snprintf(end, size, "%s", results[0].said + strlen(line));
}

/* A job that is to fail: worker 1 is killed, or the chief's disk is full. */
static void train_to_failure(int count, int kill_at, int full_at, const char *path) {
    char argument[700];
    snprintf(argument, sizeof argument, "%d %d %s", kill_at, full_at, path);
    const workers_job job = {.wanted = "worker_train",
                             .argument = argument,
                             .count = count,
                             .absent = -1,
                             .stopped = -1,
                             .other = -1};
    workers_run(&job, results);
}

/* The others are told who could not write what, and why; the checkpoint before it stays. */
static void job_with_full_disk_goes_on(void **state) {
    (void)state;
    char undisturbed[64], after[64], path[600], restored[64];
    snprintf(path, sizeof path, "%s/before", scratch_folder);
    train_to_end(2, path, "", undisturbed, sizeof undisturbed);
    snprintf(path, sizeof path, "%s/full", scratch_folder);
    train_to_failure(2, -1, FULL_AT, path);
    static const char *const expected[2] = {
        "failed after 35 steps: the checkpoint after 35 steps: File too large",
        "worker 0 (127.0.0.1:"};
    for (int i = 0; i < 2; i++)
        if (results[i].status != 0 || strstr(results[i].said, expected[i]) == NULL ||
            strstr(results[i].said, "the checkpoint after 35 steps: File too large") == NULL)
            fail_msg("worker %d, status %d, said %s", i, results[i].status, results[i].said);
    snprintf(restored, sizeof restored, "restored after %d steps\n", FULL_AT - SAVE_EVERY);
    train_to_end(2, path, restored, after, sizeof after);
    assert_string_equal(after, undisturbed);
}

static void killed_job_goes_on(void **state) {
    (void)state;
    for (int count = 2; count <= 3; count++) {
        char undisturbed[64], after[64], path[600], restored[64];
        snprintf(path, sizeof path, "%s/undisturbed%d", scratch_folder, count);
        train_to_end(count, path, "", undisturbed, sizeof undisturbed);
        snprintf(path, sizeof path, "%s/killed%d", scratch_folder, count);
        train_to_failure(count, KILL_AT, -1, path);
        assert_int_equal(results[1].status, -1);
        for (int i = 0; i < count; i += 2)
            if (results[i].status != 0 ||
                strstr(results[i].said, "failed after 31 steps: ") == NULL ||
                strstr(results[i].said, "lost worker 1 (10.0.0.1:2222)") == NULL)
                fail_msg("worker %d, status %d, said %s", i, results[i].status, results[i].said);
        snprintf(restored, sizeof restored, "restored after %d steps\n",
                 KILL_AT / SAVE_EVERY * SAVE_EVERY);
        train_to_end(count, path, restored, after, sizeof after);
        assert_string_equal(after, undisturbed);
    }
}

int main(void) {
    if (workers_case() != NULL) {
        const struct CMUnitTest worker[] = {cmocka_unit_test(worker_train)};
        return cmocka_run_group_tests_name(workers_case(), worker, NULL, NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(killed_job_goes_on, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(job_with_full_disk_goes_on, scratch_setup,
                                        scratch_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
