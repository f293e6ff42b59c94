/* The collective of NCCL, with a thread and a store for each GPU. Without NCCL or without a GPU the
 * tests say skipped. */
#include "support/cmocka.h"

#include "coll/processes.h"
#include "support/address.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#ifdef LEATI_HAVE_NCCL
#include <cuda_runtime_api.h>

enum { MOST = 4, VALUES = 100003, LONG_MS = 60000 };

typedef struct rank_job {
    char address[32];
    int rank, count;
    int wrong; /* values that are not as expected */
    leat_status status;
    leat_error err;
    pthread_t thread;
} rank_job;

static int num_gpus(void) {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

/* Small integers, so that sums are exact. */
static float value_of(int rank, int64_t i) {
    return (float)(rank * 3 + i % 17);
}

static float sum_of(int ranks, int64_t i) {
    float sum = 0;
    for (int r = 0; r < ranks; r++)
        sum += value_of(r, i);
    return sum;
}

/* The rank's values, `ranks` blocks of them, on the device. */
static void upload(const rank_job *job, float *device, float *host) {
    for (int64_t i = 0; i < (int64_t)VALUES * job->count; i++)
        host[i] = value_of(job->rank, i);
    (void)cudaMemcpy(device, host, sizeof *host * (size_t)(VALUES * job->count),
                     cudaMemcpyHostToDevice);
}

static void download(float *host, const float *device, int64_t count) {
    (void)cudaMemcpy(host, device, sizeof *host * (size_t)count, cudaMemcpyDeviceToHost);
}

static void use(rank_job *job, leati_collective *c, float *in, float *out, float *host) {
    int64_t all = (int64_t)VALUES * job->count;
    upload(job, in, host);
    job->status = c->ops->reduce_scatter(c, job->rank, in, VALUES, LEAT_FLOAT32,
                                         LEATI_REDUCTION_SUM, out, &job->err);
    download(host, out, VALUES);
    for (int64_t i = 0; i < VALUES; i++)
        job->wrong += host[i] != sum_of(job->count, job->rank * (int64_t)VALUES + i);
    upload(job, in, host);
    if (job->status == LEAT_OK)
        job->status = c->ops->all_reduce(c, job->rank, in, VALUES, LEAT_FLOAT32,
                                         LEATI_REDUCTION_SUM, &job->err);
    download(host, in, VALUES);
    for (int64_t i = 0; i < VALUES; i++)
        job->wrong += host[i] != sum_of(job->count, i);
    upload(job, in, host);
    if (job->status == LEAT_OK)
        job->status = c->ops->all_gather(c, job->rank, in, VALUES, LEAT_FLOAT32, out, &job->err);
    download(host, out, all);
    for (int64_t i = 0; i < all; i++)
        job->wrong += host[i] != value_of((int)(i / VALUES), i % VALUES);
    if (job->status == LEAT_OK)
        job->status =
            c->ops->broadcast(c, job->rank, job->count - 1, in, VALUES, LEAT_FLOAT32, &job->err);
    download(host, in, VALUES);
    for (int64_t i = 0; i < VALUES; i++)
        job->wrong += host[i] != value_of(job->count - 1, i);
    if (job->status == LEAT_OK)
        job->status = c->ops->barrier(c, job->rank, &job->err);
}

static void *rank_main(void *context) {
    rank_job *job = context;
    leati_store_options options = {.address = job->address,
                                   .name = "a rank",
                                   .rank = job->rank,
                                   .num_ranks = job->count,
                                   .timeout_ms = LONG_MS};
    size_t bytes = sizeof(float) * (size_t)VALUES * (size_t)job->count;
    float *in = NULL, *out = NULL, *host = malloc(bytes);
    leati_store *store = leati_store_open(&options, &job->err);
    leati_collective *c = store == NULL ? NULL
                                        : leati_coll_nccl_new(store, job->rank, job->count,
                                                              job->rank, LONG_MS, &job->err);
    if (c == NULL)
        job->status = job->err.code;
    else if (cudaMalloc((void **)&in, bytes) == cudaSuccess &&
             cudaMalloc((void **)&out, bytes) == cudaSuccess)
        use(job, c, in, out, host);
    else
        job->status = LEAT_RESOURCE_EXHAUSTED;
    leati_store_close(store);
    if (c != NULL)
        c->ops->close(c);
    (void)cudaFree(in);
    (void)cudaFree(out);
    free(host);
    return NULL;
}

static void test_values(void **state) {
    (void)state;
    int count = num_gpus() < MOST ? num_gpus() : MOST;
    rank_job jobs[MOST];
    if (count == 0) {
        print_message("nccl_test: skipped, there is no GPU\n");
        skip();
    }
    char address[32];
    free_address(address, sizeof address);
    for (int r = 0; r < count; r++) {
        jobs[r] = (rank_job){.rank = r, .count = count};
        memcpy(jobs[r].address, address, sizeof address);
        assert_int_equal(pthread_create(&jobs[r].thread, NULL, rank_main, &jobs[r]), 0);
    }
    for (int r = 0; r < count; r++)
        pthread_join(jobs[r].thread, NULL);
    for (int r = 0; r < count; r++) {
        if (jobs[r].status != LEAT_OK)
            fail_msg("rank %d: %s", r, jobs[r].err.text);
        assert_int_equal(jobs[r].wrong, 0);
    }
}

/* Nobody waits for a rank that has no such device. */
static void test_no_device(void **state) {
    (void)state;
    char address[32];
    leat_error err = {0};
    free_address(address, sizeof address);
    leati_store_options options = {
        .address = address, .name = "a rank", .num_ranks = 1, .timeout_ms = LONG_MS};
    leati_store *store = leati_store_open(&options, &err);
    assert_non_null(store);
    assert_null(leati_coll_nccl_new(store, 0, 1, num_gpus(), LONG_MS, &err));
    assert_int_equal(err.code, LEAT_FAILED_PRECONDITION);
    leati_store_close(store);
}

#else

static void test_values(void **state) {
    (void)state;
    print_message("nccl_test: skipped, this build has no NCCL\n");
    skip();
}

static void test_no_device(void **state) {
    (void)state;
    leat_error err = {0};
    assert_null(leati_coll_nccl_new(NULL, 0, 2, 0, 1000, &err));
    assert_int_equal(err.code, LEAT_UNIMPLEMENTED);
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values),
                                       cmocka_unit_test(test_no_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
