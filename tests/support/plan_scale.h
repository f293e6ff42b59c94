/* What must hold of plans for clusters of up to 1,000 workers: shapes drawn by seed. Header only;
 * include it after "support/cmocka.h". Whatever goes wrong fails the test and names the
 * seed. */
#ifndef TEST_PLAN_SCALE_H
#define TEST_PLAN_SCALE_H

#include "data/shares/sharding.h"
#include "scratch.h"
#include "simulated.h"

enum { SCALE_WORKERS = 1000 };

/* Every list of sizes adds up to the global batch; what all workers take in one step does, too;
 * sizes differ by one row at most. */
SIMULATED_UNUSED static void scale_sizes(uint64_t first, int count) {
    for (uint64_t seed = first; seed < first + (uint64_t)count; seed++) {
        uint64_t draws = seed;
        int workers = (int)simulated_between(&draws, 1, SCALE_WORKERS);
        int replicas = (int)simulated_between(&draws, 1, 16);
        int64_t batch = simulated_between(&draws, 1, 100000), n = (int64_t)workers * replicas;
        int64_t *sizes = calloc((size_t)n, sizeof *sizes);
        int64_t *step = calloc((size_t)workers, sizeof *step);
        for (int w = 0; w < workers; w++) {
            int64_t sum = 0;
            leati_planner_batch_sizes(batch, workers, replicas, w, sizes);
            for (int64_t i = 0; i < n; i++) {
                if (sizes[i] != batch / n && sizes[i] != batch / n + 1)
                    fail_msg("seed %llu: a size of %lld", (unsigned long long)seed,
                             (long long)sizes[i]);
                sum += sizes[i];
                step[i / replicas] += sizes[i];
            }
            assert_int_equal(sum, batch);
        }
        for (int s = 0; s < workers; s++)
            assert_int_equal(step[s], batch);
        free(sizes);
        free(step);
    }
}

/* The names that a reader of a share has. */
static const leati_strings *scale_names(const leat_dataset *share) {
    while (share->num_inputs > 0)
        share = share->inputs[0];
    const leati_row *row = leati_rows_find(share->op->rows, "filenames");
    assert_non_null(row);
    return (const leati_strings *)(const void *)((const char *)share->args + row->offset);
}

/* Each name goes to one worker, and their numbers of names differ by one at most. The files do not
 * exist: planning reads none. */
SIMULATED_UNUSED static void scale_files(uint64_t first, int count) {
    for (uint64_t seed = first; seed < first + (uint64_t)count; seed++) {
        uint64_t draws = seed;
        int workers = (int)simulated_between(&draws, 2, SCALE_WORKERS);
        int files = (int)simulated_between(&draws, workers, 3 * workers);
        char(*texts)[16] = calloc((size_t)files, sizeof *texts);
        const char **names = calloc((size_t)files, sizeof *names);
        int *owners = calloc((size_t)files, sizeof *owners);
        leat_error err = {0};
        for (int f = 0; f < files; f++) {
            snprintf(texts[f], sizeof texts[f], "none/%d", f);
            names[f] = texts[f];
        }
        leat_dataset *dataset = leat_dataset_tf_record(names, files, NULL, &err);
        dataset = leat_dataset_batch(leat_dataset_shuffle(dataset, 100, NULL, &err),
                                     simulated_between(&draws, 1, 5000), NULL, &err);
        for (int w = 0; w < workers; w++) {
            char text[200];
            leat_dataset *share =
                leati_sharding_by_files(dataset, workers, w, text, sizeof text, &err);
            assert_int_equal(err.code, LEAT_OK);
            const leati_strings *mine = scale_names(share);
            assert_in_range(mine->count, files / workers, files / workers + 1);
            for (int i = 0; i < mine->count; i++)
                owners[atoi(mine->values[i].data + 5)]++;
            leat_dataset_unref(share);
        }
        for (int f = 0; f < files; f++)
            assert_int_equal(owners[f], 1);
        leat_dataset_unref(dataset);
        free(texts);
        free(names);
        free(owners);
    }
}

/* Pieces of batches on very many workers: each row once, equal steps, and no worker takes more of a
 * step than its pieces may hold. */
SIMULATED_UNUSED static void scale_data(uint64_t first, int count) {
    for (uint64_t seed = first; seed < first + (uint64_t)count; seed++) {
        uint64_t draws = seed;
        simulated_cluster c;
        simulated_data data = {.rows = simulated_between(&draws, 0, 6000),
                               .batch = simulated_between(&draws, 1, 3000),
                               .epochs = 1,
                               .shuffled = simulated_draw(&draws) % 2 == 0,
                               .many = true,
                               .policy = LEAT_SHARD_AUTO};
        int workers = (int)simulated_between(&draws, 1, SCALE_WORKERS);
        int replicas = (int)simulated_between(&draws, 1, 4);
        int32_t *seen = calloc((size_t)data.rows + 1, sizeof *seen);
        simulated_start(&c, &data, workers, replicas, NULL, 0);
        while (simulated_step(&c, seen))
            ;
        simulated_check(&data, seen);
        assert_int_equal(c.steps, (data.rows + data.batch - 1) / data.batch);
        int64_t n = (int64_t)workers * replicas;
        assert_in_range(c.most_rows, 0, (data.batch + n - 1) / n * replicas);
        simulated_stop(&c);
        free(seen);
    }
}

/* Jobs whose workers are killed or slow, and that come back with another number of them. */
SIMULATED_UNUSED static void scale_jobs(uint64_t first, int count, int most_workers) {
    simulated_job all = {0};
    for (uint64_t seed = first; seed < first + (uint64_t)count; seed++) {
        uint64_t draws = seed;
        simulated_job job = {.seed = seed,
                             .most_workers = most_workers,
                             .most_replicas = 3,
                             .checkpoint_steps = (int)simulated_between(&draws, 1, 7),
                             .mean_between = simulated_between(&draws, 50, 400),
                             .heartbeat_ms = 10000};
        simulated_data data = {.rows = simulated_between(&draws, 0, 40 * most_workers),
                               .batch = simulated_between(&draws, 1, 2 * most_workers),
                               .epochs = (int)simulated_between(&draws, 1, 2),
                               .unknown = simulated_draw(&draws) % 4 == 0,
                               .shuffled = simulated_draw(&draws) % 2 == 0,
                               .many = true,
                               .policy = LEAT_SHARD_DATA};
        if (simulated_draw(&draws) % 2 == 0) {
            data.policy = LEAT_SHARD_FILE;
            data.files = (int)simulated_between(&draws, most_workers, 2 * most_workers);
            simulated_write(&data);
        }
        simulated_run(&job, &data);
        all.faults += job.faults;
        all.restarts += job.restarts;
    }
    assert_true(all.restarts > 0 && all.faults > all.restarts);
}

#endif
