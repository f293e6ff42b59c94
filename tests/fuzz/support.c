/* What the targets share: the table, limits, a file in memory, running a dataset under a watchdog.
 *
 * Happy path: fuzz_begin once, then any number of targets one after another on one thread. The
 * watchdog is one thread; `watch_lock` guards which iterator it may cancel and is held while it
 * does, so that the iterator cannot be freed meanwhile. */
#include "base/hash.h"
#include "fuzz.h"
#include "support/golden.h"
#include "support/limited.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define X(name) extern const fuzz_target fuzz_##name;
#include "targets.def"
#undef X

static const fuzz_target *const table[] = {
#define X(name) &fuzz_##name,
#include "targets.def"
#undef X
};

const fuzz_target *const *fuzz_targets(size_t *count) {
    *count = sizeof table / sizeof *table;
    return table;
}

const fuzz_target *fuzz_find(const char *name) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i]->name, name) == 0)
            return table[i];
    return NULL;
}

void fuzz_broken(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("fuzz: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    abort();
}

/* TensorFlow calls these INTERNAL, and so does leat: a short file of fixed-length records, and a
 * function that fails with the code that means the end. */
static bool may_be_internal(const char *text) {
    return strstr(text, "expected at least the header") != NULL ||
           strstr(text, "shorter than the header") != NULL ||
           strstr(text, "_func failed with ") != NULL ||
           strstr(text, "failed with OUT_OF_RANGE") != NULL;
}

void fuzz_check_error(const char *what, leat_status status, const leat_error *err) {
    if (status == LEAT_OK)
        return;
    if ((status == LEAT_INTERNAL && !may_be_internal(err->text)) || err->code != status ||
        err->text[0] == '\0')
        fuzz_broken("%s: %s, with the error %s: \"%s\"", what, leat_status_name(status),
                    leat_status_name(err->code), err->text);
}

/* ---- the scratch folder ---- */

static char scratch[512];
static char came_from[4096];
static pid_t owner; /* libFuzzer forks for some of its jobs; only the first process cleans up */

static void quiet(void *context, leat_log_level level, const char *line) {
    (void)context;
    (void)level;
    (void)line;
}

/* Beside a program that runs elsewhere than it was built, or in the tree. */
static const char *recorded(char *path, size_t room) {
    static const char in_tree[] = LEATI_SOURCE_DIR "/tests/golden/data/files";
    ssize_t size = readlink("/proc/self/exe", path, room - sizeof "/files");
    while (size > 0 && path[size - 1] != '/')
        size--;
    if (size <= 0)
        return in_tree;
    memcpy(path + size, "files", sizeof "files");
    return access(path, R_OK) == 0 ? path : in_tree;
}

static void copy_recorded(void) {
    char path[4096];
    const char *from = recorded(path, sizeof path);
    pid_t child = fork();
    if (child == 0) {
        execlp("cp", "cp", "-r", from, scratch, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
        fuzz_broken("the recorded files could not be copied to %s", scratch);
}

void fuzz_begin(void) {
    limited_memory((size_t)256 << 20);
    leat_log_set(quiet, NULL);
    if (getcwd(came_from, sizeof came_from) == NULL || !golden_folder_make(scratch, sizeof scratch))
        fuzz_broken("no scratch folder");
    copy_recorded();
    if (chdir(scratch) != 0)
        fuzz_broken("%s cannot be entered", scratch);
    owner = getpid();
}

void fuzz_end(void) {
    if (owner == getpid() && chdir(came_from) == 0)
        golden_folder_remove(scratch);
}

const char *fuzz_file(const void *data, size_t size) {
    static int file = -1;
    static char path[64];
    if (file < 0) {
        file = memfd_create("fuzz", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    if (file < 0 || ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size)
        fuzz_broken("the file in memory: %s", strerror(errno));
    return path;
}

/* ---- seeds ---- */

static char seed_folder[4096];
static unsigned seed_number;

void fuzz_seed_folder(const char *folder) {
    snprintf(seed_folder, sizeof seed_folder, "%s", folder);
}

void fuzz_seed(const void *data, size_t size) {
    char path[4200];
    snprintf(path, sizeof path, "%s/seed-%04u", seed_folder, seed_number++);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        fuzz_broken("%s cannot be written", path);
}

/* ---- running ---- */

static pthread_mutex_t watch_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t watch_change = PTHREAD_COND_INITIALIZER;
static leat_iterator *watched; /* under watch_lock, as all below */
static struct timespec watch_until;

static void *watch(void *unused) {
    (void)unused;
    pthread_mutex_lock(&watch_lock);
    for (;;) {
        if (watched == NULL)
            pthread_cond_wait(&watch_change, &watch_lock);
        else if (pthread_cond_timedwait(&watch_change, &watch_lock, &watch_until) == ETIMEDOUT &&
                 watched != NULL) {
            leat_iterator_cancel(watched);
            watched = NULL;
        }
    }
    return NULL;
}

void fuzz_watch(leat_iterator *iterator, int ms) {
    static bool running;
    pthread_t thread;
    if (!running && (pthread_create(&thread, NULL, watch, NULL) != 0 || pthread_detach(thread)))
        fuzz_broken("no thread for the watchdog");
    running = true;
    pthread_mutex_lock(&watch_lock);
    clock_gettime(CLOCK_REALTIME, &watch_until);
    watch_until.tv_sec += ms / 1000;
    watch_until.tv_nsec += ms % 1000 * 1000000L;
    if (watch_until.tv_nsec >= 1000000000L) {
        watch_until.tv_nsec -= 1000000000L;
        watch_until.tv_sec++;
    }
    watched = iterator;
    pthread_cond_signal(&watch_change);
    pthread_mutex_unlock(&watch_lock);
}

void fuzz_unwatch(void) {
    pthread_mutex_lock(&watch_lock);
    watched = NULL;
    pthread_mutex_unlock(&watch_lock);
}

uint64_t fuzz_hash_element(const leat_element *element, uint64_t hash) {
    for (int i = 0; i < element->num_tensors; i++) {
        const leat_tensor *tensor = &element->tensors[i];
        const leat_string *strings = tensor->data;
        int64_t dtype = tensor->dtype, count = leat_tensor_count(tensor);
        hash = leati_hash(&dtype, sizeof dtype, hash);
        hash = leati_hash(tensor->dims, (size_t)tensor->rank * sizeof(int64_t), hash);
        if (tensor->dtype == LEAT_OBJECT)
            continue; /* an address */
        if (tensor->dtype != LEAT_STRING)
            hash = leati_hash(tensor->data, leat_tensor_bytes(tensor), hash);
        for (int64_t k = 0; tensor->dtype == LEAT_STRING && k < count; k++)
            hash = leati_hash(strings[k].data, strings[k].size, hash + 1);
    }
    return hash;
}

void fuzz_pull(leat_iterator *iterator, size_t most, int ms, fuzz_outcomes *outcomes) {
    leat_element element = {0};
    fuzz_watch(iterator, ms);
    for (size_t i = 0; i < most && outcomes->count < FUZZ_OUTCOMES && !outcomes->ended; i++) {
        leat_error err = {0};
        leat_status status = leat_iterator_next(iterator, &element, &err);
        uint64_t hash = (uint64_t)status;
        fuzz_check_error("next", status, &err);
        if (status == LEAT_OUT_OF_RANGE && err.reason == LEAT_REASON_END) {
            outcomes->ended = true;
            break;
        }
        if (status == LEAT_OK)
            hash = fuzz_hash_element(&element, 0);
        outcomes->limited = outcomes->limited || status == LEAT_CANCELLED ||
                            status == LEAT_DEADLINE_EXCEEDED || status == LEAT_RESOURCE_EXHAUSTED;
        if (outcomes->limited)
            break;
        outcomes->hashes[outcomes->count++] = hash;
    }
    fuzz_unwatch();
    leat_element_fini(&element);
}

void fuzz_run(leat_dataset *dataset, bool verify, fuzz_outcomes *outcomes) {
    leat_error err = {0};
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .verify = verify};
    leat_iterator *iterator = dataset == NULL ? NULL : leat_iterator_new(dataset, &options, &err);
    outcomes->count = 0;
    outcomes->ended = outcomes->limited = false;
    if (iterator == NULL && dataset != NULL)
        fuzz_check_error("opening", err.code, &err);
    if (iterator != NULL)
        fuzz_pull(iterator, FUZZ_OUTCOMES, 1000, outcomes);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

void fuzz_compare(const char *what, const fuzz_outcomes *a, const fuzz_outcomes *b) {
    size_t shorter = a->count < b->count ? a->count : b->count;
    for (size_t i = 0; i < shorter; i++)
        if (a->hashes[i] != b->hashes[i])
            fuzz_broken("%s: outcome %zu differs", what, i);
    if (!a->limited && !b->limited && (a->count != b->count || a->ended != b->ended))
        fuzz_broken("%s: %zu outcomes%s, then %zu%s", what, a->count,
                    a->ended ? " and the end" : "", b->count, b->ended ? " and the end" : "");
}
