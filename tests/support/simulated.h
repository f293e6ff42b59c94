/* A cluster on one thread: the workers of a distributed dataset, stepped in lock-step, and a clock
 * that only the test moves. Rows are numbers; every row that a step hands out is counted.
 *
 * Header only; include it after "support/cmocka.h" and scratch.h. Whatever goes wrong
 * fails the test. */
#ifndef TEST_SIMULATED_H
#define TEST_SIMULATED_H

#include "base/alloc.h"
#include "base/error.h"
#include "dist/distributed.h"
#include <leat/data_ops.h>
#include <leat/ops.h>
#include <string.h>

#define SIMULATED_UNUSED __attribute__((unused))

/* What is distributed: rows 0 .. rows - 1, `epochs` times. */
typedef struct simulated_data {
    int64_t rows, batch;
    int epochs;
    int files;     /* 0: in memory; text files of uneven length, some of them empty */
    bool unknown;  /* TensorFlow does not find out the batch size */
    bool shuffled; /* by a given seed */
    bool many;     /* no threads: for clusters of very many workers */
    leat_auto_shard_policy policy;
} simulated_data;

typedef struct simulated_cluster {
    const simulated_data *data;
    int num_workers, replicas;
    leat_distributed_dataset **datasets;
    leat_distributed_iterator **iterators;
    leat_per_replica *values;
    int64_t steps, most_rows; /* of one worker in one step */
} simulated_cluster;

/* The test's own numbers (splitmix64). */
SIMULATED_UNUSED static uint64_t simulated_draw(uint64_t *seed) {
    uint64_t z = *seed += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* From low to high. */
SIMULATED_UNUSED static int64_t simulated_between(uint64_t *seed, int64_t low, int64_t high) {
    return low + (int64_t)(simulated_draw(seed) % (uint64_t)(high - low + 1));
}

/* Writes the files of `data` into the scratch folder: file f gets f + 1 shares of all rows, every
 * fifth none. */
SIMULATED_UNUSED static void simulated_write(const simulated_data *data) {
    int64_t next = 0, weights = 0, given = 0;
    for (int f = 0; f < data->files; f++)
        weights += f % 5 == 4 ? 0 : f % 7 + 1;
    for (int f = 0; f < data->files; f++) {
        char name[32];
        snprintf(name, sizeof name, "part-%05d", f);
        FILE *file = fopen(scratch_path(name), "w");
        assert_non_null(file);
        given += f % 5 == 4 ? 0 : f % 7 + 1;
        for (; next < data->rows * given / weights; next++)
            fprintf(file, "%lld\n", (long long)next);
        fclose(file);
    }
}

static int simulated_trace_number(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)context;
    out[0] = leat_op_string_to_number(leat_graph_argument(graph, 0), LEAT_INT64);
    return 1;
}

static int simulated_trace_zero(void *context, leat_graph *graph, leat_value *out, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    out[0] = leat_op_add(x, leat_op_subtract(x, x));
    return 1;
}

static leat_dataset *simulated_mapped(leat_dataset *dataset, leat_tracer tracer, leat_error *err) {
    leat_function *function = LEAT_TRACE(tracer, NULL, leat_dataset_spec(dataset), err);
    return leat_dataset_map(dataset, function, NULL, err);
}

/* Owned; NULL where an allocation failed. */
SIMULATED_UNUSED static leat_dataset *simulated_dataset(const simulated_data *data,
                                                        leat_error *err) {
    leat_dataset *dataset = NULL;
    if (data->files == 0) {
        dataset = leat_dataset_range(0, data->rows, 1, NULL, err);
    } else {
        char(*names)[1024] = calloc((size_t)data->files, sizeof *names);
        const char **list = calloc((size_t)data->files, sizeof *list);
        for (int f = 0; f < data->files; f++) {
            char name[32];
            snprintf(name, sizeof name, "part-%05d", f);
            snprintf(names[f], sizeof names[f], "%s", scratch_path(name));
            list[f] = names[f];
        }
        dataset = leat_dataset_text_line(list, data->files, NULL, err);
        dataset = simulated_mapped(dataset, simulated_trace_number, err);
        free(list);
        free(names);
    }
    if (data->shuffled)
        dataset = leat_dataset_shuffle(
            dataset, data->rows / 2 + 1,
            &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(7)},
            err);
    dataset = leat_dataset_batch(dataset, data->batch, NULL, err);
    if (data->unknown)
        dataset = simulated_mapped(dataset, simulated_trace_zero, err);
    return data->epochs == 1 ? dataset : leat_dataset_repeat(dataset, data->epochs, err);
}

/* One worker's iterator; NULL where an allocation failed. `*made` is owned, too. */
SIMULATED_UNUSED static leat_distributed_iterator *
simulated_iterator(const simulated_data *data, const leati_membership *member,
                   leat_distributed_dataset **made, leat_error *err) {
    leat_strategy_distribute_options options = {
        LEAT_STRATEGY_DISTRIBUTE_DEFAULTS, .auto_shard_policy = data->policy, .count_rows = true,
        .iterator = &(leat_iterator_options){LEAT_ITERATOR_DEFAULTS, .rewrites = !data->many,
                                             .autotune = !data->many},
        .per_replica_buffer_size = data->many ? 0 : 1};
    leat_dataset *dataset = simulated_dataset(data, err);
    *made = dataset == NULL ? NULL : leati_distributed_from_dataset(member, dataset, &options, err);
    return *made == NULL ? NULL : leat_distributed_iterator_new(*made, err);
}

/* A cluster at the beginning, or at a state (`size` 0: none). */
SIMULATED_UNUSED static void simulated_start(simulated_cluster *c, const simulated_data *data,
                                             int num_workers, int replicas, const char *state,
                                             size_t size) {
    *c = (simulated_cluster){.data = data, .num_workers = num_workers, .replicas = replicas};
    c->datasets = calloc((size_t)num_workers, sizeof *c->datasets);
    c->iterators = calloc((size_t)num_workers, sizeof *c->iterators);
    c->values = calloc((size_t)num_workers, sizeof *c->values);
    for (int w = 0; w < num_workers; w++) {
        leat_error err = {0};
        leati_membership member = {.num_workers = num_workers, .worker = w, .replicas = replicas};
        c->iterators[w] = simulated_iterator(data, &member, &c->datasets[w], &err);
        assert_int_equal(err.code, LEAT_OK);
        assert_non_null(c->iterators[w]);
        if (size > 0) {
            leat_status status =
                leat_distributed_iterator_restore(c->iterators[w], state, size, &err);
            assert_int_equal(err.code, LEAT_OK);
            assert_int_equal(status, LEAT_OK);
        }
    }
}

SIMULATED_UNUSED static void simulated_stop(simulated_cluster *c) {
    for (int w = 0; w < c->num_workers; w++) {
        leat_per_replica_fini(&c->values[w]);
        leat_distributed_iterator_free(c->iterators[w]);
        leat_distributed_dataset_free(c->datasets[w]);
    }
    free(c->values);
    free(c->iterators);
    free(c->datasets);
}

/* Counts the rows of worker `w`'s step in `seen` (NULL: not wanted) and returns how many. */
static int64_t simulated_count(const simulated_cluster *c, int w, int32_t *seen) {
    int64_t all = 0;
    for (int r = 0; r < c->replicas; r++) {
        const leat_tensor *rows = &c->values[w].elements[r].tensors[0];
        const int64_t *numbers = rows->data;
        assert_int_equal(rows->rank, 1);
        for (int64_t i = 0; i < rows->dims[0]; i++) {
            assert_in_range(numbers[i], 0, c->data->rows - 1);
            if (seen != NULL)
                seen[numbers[i]]++;
        }
        all += rows->dims[0];
    }
    return all;
}

/* A step of all workers; false at the end, which is the same step for all. Checks that each replica
 * has an element, and that the workers' counts add up. */
SIMULATED_UNUSED static bool simulated_step(simulated_cluster *c, int32_t *seen) {
    int64_t sums[LEATI_STEP_NUMBERS] = {0}, found = 0;
    for (int w = 0; w < c->num_workers; w++) {
        int64_t mine[LEATI_STEP_NUMBERS] = {0};
        leat_error err = {0};
        leat_status status = leati_distributed_pull(c->iterators[w], &c->values[w], mine, &err);
        assert_int_equal(err.code, LEAT_OK);
        assert_int_equal(status, LEAT_OK);
        for (int i = 0; i < LEATI_STEP_NUMBERS; i++)
            sums[i] += mine[i];
    }
    for (int w = 0; w < c->num_workers; w++) {
        leat_error err = {0};
        leat_status status = leati_distributed_finish(c->iterators[w], sums, &c->values[w], &err);
        assert_int_equal(status, sums[0] > 0 ? LEAT_OK : LEAT_OUT_OF_RANGE);
        if (status == LEAT_OK) {
            int64_t total = 0, rows = simulated_count(c, w, seen);
            assert_int_equal(leat_distributed_iterator_rows(c->iterators[w], NULL, &total, &err),
                             LEAT_OK);
            assert_int_equal(total, sums[1]);
            c->most_rows = rows > c->most_rows ? rows : c->most_rows;
            found += rows;
        }
    }
    assert_int_equal(found, sums[1]);
    c->steps += sums[0] > 0;
    return sums[0] > 0;
}

/* The state of all workers. Owned (leat_text_free). */
SIMULATED_UNUSED static char *simulated_save(simulated_cluster *c, size_t *size) {
    leati_writer *writers = calloc((size_t)c->num_workers, sizeof *writers);
    leati_feed_part *parts = calloc((size_t)c->num_workers, sizeof *parts);
    char *data = NULL;
    leat_error err = {0};
    for (int w = 0; w < c->num_workers; w++) {
        leat_iterator_save_report report = {0};
        assert_int_equal(
            leati_distributed_save_part(c->iterators[w], NULL, &writers[w], &report, &err),
            LEAT_OK);
        parts[w] = (leati_feed_part){.data = writers[w].data, .size = writers[w].size};
    }
    assert_int_equal(leati_distributed_join(parts, c->num_workers, &data, size, &err), LEAT_OK);
    for (int w = 0; w < c->num_workers; w++)
        leati_writer_fini(&writers[w]);
    free(writers);
    free(parts);
    return data;
}

/* Was each row counted once in each epoch? */
SIMULATED_UNUSED static void simulated_check(const simulated_data *data, const int32_t *seen) {
    for (int64_t i = 0; i < data->rows; i++) {
        if (seen[i] != data->epochs)
            fail_msg("row %lld was read %d times; expected %d", (long long)i, seen[i],
                     data->epochs);
    }
}

/* ---- a job with faults, on a virtual clock ---- */

typedef struct simulated_job {
    uint64_t seed;
    int most_workers, most_replicas;
    int checkpoint_steps; /* from one checkpoint to the next */
    int64_t mean_between; /* virtual milliseconds from one fault to the next */
    int64_t heartbeat_ms; /* after which a worker that was killed is missed */
    int64_t now_ms, faults, restarts, lost_steps; /* found out */
} simulated_job;

/* Runs the data through clusters of any size: each step takes as long as its slowest worker; a
 * worker that is killed ends the job when its heartbeat is missed, one that is slow holds it up. A
 * job that ended is started again with another number of workers from the last checkpoint; what it
 * had done since counts for nothing. */
SIMULATED_UNUSED static void simulated_run(simulated_job *job, const simulated_data *data) {
    int32_t *kept = calloc((size_t)data->rows + 1, sizeof *kept);
    int32_t *since = calloc((size_t)data->rows + 1, sizeof *since);
    char *state = NULL;
    size_t size = 0;
    int64_t fault_at = simulated_between(&job->seed, 0, 2 * job->mean_between);
    for (bool ended = false; !ended;) {
        simulated_cluster c;
        int workers = (int)simulated_between(&job->seed, 1, job->most_workers);
        bool killed = false;
        if (data->policy == LEAT_SHARD_FILE && workers > data->files)
            workers = data->files;
        simulated_start(&c, data, workers,
                        (int)simulated_between(&job->seed, 1, job->most_replicas), state, size);
        while (!killed && !ended) {
            int64_t slowest = 0;
            for (int w = 0; w < workers; w++) {
                int64_t took = simulated_between(&job->seed, 5, 20);
                slowest = took > slowest ? took : slowest;
            }
            if (job->now_ms + slowest >= fault_at) {
                job->faults++;
                killed = simulated_draw(&job->seed) % 3 > 0;
                job->now_ms = fault_at + job->heartbeat_ms; /* missed, or held up */
                fault_at = job->now_ms + simulated_between(&job->seed, 1, 2 * job->mean_between);
            }
            if (killed)
                break;
            ended = !simulated_step(&c, since);
            job->now_ms += slowest;
            if (ended || c.steps % job->checkpoint_steps == 0) {
                for (int64_t i = 0; i < data->rows; i++)
                    kept[i] += since[i];
                memset(since, 0, (size_t)data->rows * sizeof *since);
                leat_text_free(state);
                state = simulated_save(&c, &size);
            }
        }
        if (killed) {
            job->restarts++;
            job->lost_steps += c.steps % job->checkpoint_steps;
            memset(since, 0, (size_t)data->rows * sizeof *since);
        }
        simulated_stop(&c);
    }
    simulated_check(data, kept);
    leat_text_free(state);
    free(since);
    free(kept);
}

#endif
