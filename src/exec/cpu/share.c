/* Shares pieces of work between threads: OpenMP's, which oneDNN's primitives use too, so that no
 * second team of threads contends for the cores.
 *
 * Happy path: each thread takes the next piece until none is left. Threads treat denormal numbers
 * as the caller does. No failures, no locks: one atomic counter. */
#include "exec/cpu/share.h"

#include <stdatomic.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

struct sharing {
    leati_cpu_piece *run;
    void *data;
    int64_t count;
    atomic_int_fast64_t next;
    unsigned int mode; /* the caller's, for denormal numbers */
};

static void take_pieces(void *context) {
    struct sharing *sharing = context;
#ifdef __SSE2__
    unsigned int before = _mm_getcsr();
    _mm_setcsr(sharing->mode);
#endif
    for (;;) {
        /* Relaxed: the team's start and end order all else. */
        int64_t piece = atomic_fetch_add_explicit(&sharing->next, 1, memory_order_relaxed);
        if (piece >= sharing->count)
            break;
        sharing->run(sharing->data, piece);
    }
#ifdef __SSE2__
    _mm_setcsr(before);
#endif
}

/* The thread sanitizer does not see how libgomp's threads wait for each other. */
#if defined(__SANITIZE_THREAD__)
#define ALONE
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ALONE
#endif
#endif

#if defined(LEATI_HAVE_DNNL) && !defined(ALONE)
/* Of libgomp, whose header comes with a compiler's OpenMP support only. */
extern void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);

static void in_team(struct sharing *sharing, int threads) {
    GOMP_parallel(take_pieces, sharing, (unsigned)threads, 0);
}
#else
static void in_team(struct sharing *sharing, int threads) {
    (void)threads;
    take_pieces(sharing);
}
#endif

void leati_cpu_share(int threads, int64_t count, leati_cpu_piece *run, void *data) {
    struct sharing sharing = {.run = run, .data = data, .count = count};
#ifdef __SSE2__
    sharing.mode = _mm_getcsr();
#endif
    if (count < threads)
        threads = (int)count;
    if (threads > 1)
        in_team(&sharing, threads);
    else
        take_pieces(&sharing);
}
