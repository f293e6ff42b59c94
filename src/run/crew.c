/* Shares pieces of work between threads: OpenMP's, which oneDNN's primitives use too, so that no
 * second team of threads contends for the cores.
 *
 * Happy path: each thread takes the next piece until none is left. Threads treat denormal numbers
 * as the caller does. libgomp's threads would spin at their barriers for milliseconds, at the cost
 * of a pipeline that shares their cores, unless there are more of them than cores; so a second team
 * is kept, which sleeps. No failures, no locks: one atomic counter, and a flag that the caller sets
 * where it is asked to stop. */
#include "run/crew.h"

#include "base/arithmetic.h"
#include "base/fork.h"
#include "base/stop.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/* What a thread must have to do: a sleeping one takes some 50 us to come. */
#define LEAST_NS 100e3

static _Thread_local int crew = 1;
static atomic_bool teamed; /* a team was started */
static atomic_bool broken; /* in a parent of this process */

static void before_fork(void) {
}

static void after_fork(bool child) {
    if (child && atomic_load(&teamed))
        atomic_store(&broken, true);
}
LEATI_FORK_PART(crew, before_fork, after_fork);

bool leati_crew_is_whole(void) {
    return !atomic_load(&broken);
}

struct sharing {
    leati_crew_piece *run;
    void *data;
    int64_t count;
    atomic_int_fast64_t next;
    atomic_bool stopped;
    bool listens; /* the caller may be told to stop */
    pthread_t caller;
    unsigned int mode; /* the caller's, for denormal numbers */
};

int leati_crew_enter(int threads) {
    int before = crew;
    crew = threads > 1 ? threads : 1;
    return before;
}

void leati_crew_leave(int before) {
    crew = before;
}

int leati_crew_size(void) {
    return crew;
}

static void take_pieces(void *context) {
    struct sharing *sharing = context;
    bool asked = pthread_equal(sharing->caller, pthread_self());
    unsigned int before = leati_arithmetic_enter(sharing->mode);
    /* Pieces share nothing themselves. */
    int members = leati_crew_enter(1);
    /* The others hear of it in the middle of their pieces, once the caller has. */
    leati_stop_scope scope = {0};
    bool hears = !asked && sharing->listens;
    if (hears)
        scope = leati_stop_enter(&sharing->stopped, NULL, NULL);
    for (;;) {
        /* Relaxed: the team's start and end order all else. */
        int64_t piece = atomic_fetch_add_explicit(&sharing->next, 1, memory_order_relaxed);
        if (piece >= sharing->count ||
            atomic_load_explicit(&sharing->stopped, memory_order_relaxed))
            break;
        sharing->run(sharing->data, piece);
        if (asked && leati_stop_look())
            atomic_store_explicit(&sharing->stopped, true, memory_order_relaxed);
    }
    if (hears)
        leati_stop_leave(scope);
    leati_crew_leave(members);
    (void)leati_arithmetic_enter(before);
}

/* ---- scratch ---- */

/* Of one thread. Not of the program's allocator, which may be another when the thread ends. */
typedef struct scratch {
    void *data;
    size_t size;
} scratch;

static _Thread_local scratch own;
static pthread_key_t at_end;
static bool ends; /* the key was made */

static void give_back(void *data) {
    scratch *of = data;
    (void)munmap(of->data, of->size);
    *of = (scratch){NULL, 0};
}

static void make_key(void) {
    ends = pthread_key_create(&at_end, give_back) == 0;
}

void *leati_crew_scratch(size_t size) {
    static pthread_once_t keys = PTHREAD_ONCE_INIT;
    pthread_once(&keys, make_key);
    if (size <= own.size)
        return own.data;
    if (own.data != NULL)
        give_back(&own);
    void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        return NULL;
    if (!ends) {
        (void)munmap(data, size);
        return NULL;
    }
    own = (scratch){data, size};
    (void)pthread_setspecific(at_end, &own);
    return data;
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

static void nothing(void *data) {
    (void)data;
}

static void *keep_team(void *context) {
    (void)context;
    GOMP_parallel(nothing, NULL, 3, 0);
    for (;;)
        pause();
    return NULL;
}

/* Without the thread the spinning stays: slower beside a pipeline, the same results. */
static void shorten_spinning(void) {
    pthread_t thread;
    sigset_t all, before;
    /* The program's signals are for its own threads. */
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return;
    if (pthread_create(&thread, NULL, keep_team, NULL) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void leati_crew_share_cores(void) {
    atomic_store(&teamed, true);
    static pthread_once_t teams = PTHREAD_ONCE_INIT;
    pthread_once(&teams, shorten_spinning);
}

static void in_team(struct sharing *sharing, int threads) {
    leati_crew_share_cores();
    GOMP_parallel(take_pieces, sharing, (unsigned)threads, 0);
}
#else
void leati_crew_share_cores(void) {
}

static void in_team(struct sharing *sharing, int threads) {
    (void)threads;
    take_pieces(sharing);
}
#endif

void leati_crew_share_among(int threads, int64_t count, leati_crew_piece *run, void *data) {
    if (count == 1) {
        run(data, 0);
        return;
    }
    struct sharing sharing = {.run = run,
                              .data = data,
                              .count = count,
                              .listens = leati_stop_may_come(),
                              .caller = pthread_self(),
                              .mode = leati_arithmetic_mode()};
    if (count < threads)
        threads = (int)count;
    if (threads > 1 && leati_crew_is_whole())
        in_team(&sharing, threads);
    else
        take_pieces(&sharing);
}

void leati_crew_share(double ns, int64_t count, leati_crew_piece *run, void *data) {
    double worth = ns / LEAST_NS;
    leati_crew_share_among(worth >= crew ? crew : (int)worth, count, run, data);
}
