/* A trace of what each thread did when, for chrome://tracing and Perfetto. Off by default; then a
 * span costs one relaxed load. While it is on, each thread writes the spans that it ends into a
 * ring of its own, which keeps the last few thousand. leat_trace_start, stop and write are public
 * (leat/base.h). */
#ifndef LEATI_RUN_TRACE_H
#define LEATI_RUN_TRACE_H

#include "base/clock.h"
#include <leat/base.h>
#include <stdatomic.h>

extern atomic_bool leati_trace_on;

/* Forgets all spans and frees the rings. No thread may record meanwhile: tracing is stopped and no
 * span is open. */
void leati_trace_fini(void);

/* A span that has begun; 0: tracing was off. */
typedef struct leati_span {
    int64_t start_ns;
} leati_span;

/* Internal: what end does while tracing is on. */
void leati_trace_record(leati_span span, const char *category, const char *name);

/* begin ... end on one thread. Both texts are copied, cut to 15 and 47 bytes. */
static inline leati_span leati_trace_begin(void) {
    bool on = atomic_load_explicit(&leati_trace_on, memory_order_relaxed);
    return (leati_span){on ? leati_now_ns() : 0};
}
static inline void leati_trace_end(leati_span span, const char *category, const char *name) {
    if (span.start_ns != 0)
        leati_trace_record(span, category, name);
}

#endif
