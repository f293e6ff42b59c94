/* What every benchmark program shares: clocks, the rate of memcpy, and the one line of JSON that
 * run.py reads. Header only; a program uses what it needs. */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* Seconds of a monotonic clock. */
static inline double bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of processor time that this process has used, on all its threads. */
static inline double bench_cpu(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Makes the compiler believe that the memory is read and written here. */
static inline void bench_touch(void *memory) {
    __asm__ volatile("" : : "r"(memory) : "memory");
}

/* malloc that ends the program: a benchmark without memory has no result. */
static inline void *bench_alloc(size_t size) {
    void *memory = malloc(size);
    if (memory == NULL) {
        fprintf(stderr, "bench: no memory for %zu bytes\n", size);
        exit(2);
    }
    return memory;
}

/* Bytes per second that one thread copies between two blocks of 64 MiB, which no cache holds. */
static inline double bench_memcpy_rate(void) {
    const size_t size = (size_t)64 << 20;
    char *from = (char *)bench_alloc(size), *to = (char *)bench_alloc(size);
    memset(from, 1, size);
    memset(to, 2, size);
    double best = 0;
    for (int i = 0; i < 5; i++) {
        double start = bench_now();
        memcpy(to, from, size);
        bench_touch(to);
        double rate = (double)size / (bench_now() - start);
        best = rate > best ? rate : best;
    }
    free(from);
    free(to);
    return best;
}

/* A measurement. `units` and `bytes` are totals; `mean` shows that two programs did the same work
 * (0: not told); `limit` is a rate that the program measured beside its own (0: none). */
typedef struct bench_result {
    const char *unit;
    double units, bytes, seconds, cpu_seconds, mean, limit;
} bench_result;

/* Prints the result as the line of JSON that run.py expects last on stdout. */
static inline void bench_print(const bench_result *r) {
    printf("{\"rate\": %.6g, \"unit\": \"%s\", \"cpu_s\": %.3f, \"elapsed_s\": %.3f",
           r->units / r->seconds, r->unit, r->cpu_seconds, r->seconds);
    if (r->bytes > 0)
        printf(", \"bytes_per_s\": %.4g, \"memcpy_bytes_per_s\": %.4g", r->bytes / r->seconds,
               bench_memcpy_rate());
    if (r->mean != 0)
        printf(", \"mean\": %.4f", r->mean);
    if (r->limit != 0)
        printf(", \"limit\": %.6g", r->limit);
    printf("}\n");
}

#endif
