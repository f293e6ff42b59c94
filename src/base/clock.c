/* The machine's clocks. */
#define _GNU_SOURCE
#include "base/clock.h"

#include <time.h>

static int64_t read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t leati_now_ns(void) {
    return read_clock(CLOCK_MONOTONIC);
}

int64_t leati_clock_thread_ns(void) {
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

int64_t leati_clock_deadline_ns(int64_t ms) {
    int64_t now = leati_now_ns();
    return ms < 0 || ms > (INT64_MAX - now) / 1000000 ? LEATI_NO_DEADLINE : now + ms * 1000000;
}
