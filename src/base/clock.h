/* Time. Code in run/, dist/, coll/ and service/ takes a leati_clock, so that a test can run it on a
 * virtual one. */
#ifndef LEATI_BASE_CLOCK_H
#define LEATI_BASE_CLOCK_H

#include <leat/base.h>

/* Nanoseconds of the monotonic clock, and CPU nanoseconds of the calling thread. */
int64_t leati_now_ns(void);
int64_t leati_clock_thread_ns(void);

#define LEATI_NO_DEADLINE INT64_MAX

/* The clock in so many milliseconds; LEATI_NO_DEADLINE for a negative number, and for one beyond
 * the clock. */
int64_t leati_clock_deadline_ns(int64_t ms);

#endif
