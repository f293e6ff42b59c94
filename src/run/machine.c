/* Cores and memory of the machine, as far as this process may use them.
 *
 * A control group's limit binds its descendants too, so each lookup walks from the process's group
 * up to the root of what is mounted and takes the smallest limit. In a container the path named in
 * /proc may not be visible; the walk then still finds the limits at the mounted root. A file that
 * is missing or unreadable means no limit. The number of cores is read once; no locks. */
#define _GNU_SOURCE
#include "run/machine.h"

#include "base/minmax.h"
#include "run/pool.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE 4096

/* Reads up to two numbers of a small file; "max" reads as -1. Returns how many there were. */
static int read_numbers(const char *root, const char *folder, const char *path, const char *file,
                        long long out[2]) {
    char name[3 * PATH_SIZE];
    char line[128];
    snprintf(name, sizeof name, "%s/sys/fs/cgroup%s%s/%s", root, folder, path, file);
    FILE *stream = fopen(name, "re");
    if (stream == NULL)
        return 0;
    size_t size = fread(line, 1, sizeof line - 1, stream);
    fclose(stream);
    line[size] = '\0';
    int count = 0;
    char *saved = NULL;
    for (char *word = strtok_r(line, " \n", &saved); word != NULL && count < 2;
         word = strtok_r(NULL, " \n", &saved)) {
        char *end;
        errno = 0;
        long long value = strtoll(word, &end, 10);
        if (strcmp(word, "max") == 0)
            value = -1;
        else if (errno != 0 || end == word || *end != '\0')
            break;
        out[count++] = value;
    }
    return count;
}

/* Reads one limit of one group; INT64_MAX when it has none. */
typedef int64_t (*limit_reader)(const char *root, const char *folder, const char *path);

static int64_t cores_of(long long quota, long long period) {
    if (quota <= 0 || period <= 0)
        return INT64_MAX;
    /* Rounded up: a share of 1.5 cores is worth two threads, and of 0.5 one. */
    return quota / period + (quota % period != 0);
}

static int64_t cores_v2(const char *root, const char *folder, const char *path) {
    long long numbers[2];
    if (read_numbers(root, folder, path, "cpu.max", numbers) != 2)
        return INT64_MAX;
    return cores_of(numbers[0], numbers[1]);
}

static int64_t cores_v1(const char *root, const char *folder, const char *path) {
    long long quota[2];
    long long period[2];
    if (read_numbers(root, folder, path, "cpu.cfs_quota_us", quota) != 1 ||
        read_numbers(root, folder, path, "cpu.cfs_period_us", period) != 1)
        return INT64_MAX;
    return cores_of(quota[0], period[0]);
}

static int64_t memory_of(const char *root, const char *folder, const char *path, const char *file) {
    long long bytes[2];
    if (read_numbers(root, folder, path, file, bytes) != 1 || bytes[0] < 0)
        return INT64_MAX;
    return bytes[0];
}

static int64_t memory_v2(const char *root, const char *folder, const char *path) {
    return memory_of(root, folder, path, "memory.max");
}

static int64_t memory_v1(const char *root, const char *folder, const char *path) {
    return memory_of(root, folder, path, "memory.limit_in_bytes");
}

/* The smallest limit from `path` up to the root of the hierarchy mounted at `folder`. */
static int64_t walk_up(const char *root, const char *folder, const char *path,
                       limit_reader reader) {
    char current[PATH_SIZE];
    snprintf(current, sizeof current, "%s", path);
    int64_t smallest = INT64_MAX;
    for (;;) {
        char *slash = strrchr(current, '/');
        if (slash != NULL && slash[1] == '\0')
            *slash = '\0'; /* "/" is the mounted root itself */
        int64_t limit = reader(root, folder, current);
        if (limit < smallest)
            smallest = limit;
        slash = strrchr(current, '/');
        if (slash == NULL)
            return smallest;
        *slash = '\0';
    }
}

static bool lists(const char *controllers, const char *wanted) {
    size_t length = strlen(wanted);
    for (const char *at = controllers; at != NULL; at = strchr(at, ',')) {
        if (*at == ',')
            at++;
        if (strncmp(at, wanted, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* One line of /proc/self/cgroup, "4:cpu,cpuacct:/path" or "0::/path". */
static int64_t limit_of_line(const char *root, char *line, const char *controller,
                             limit_reader version_1, limit_reader version_2) {
    char *controllers = strchr(line, ':');
    char *path = controllers == NULL ? NULL : strchr(controllers + 1, ':');
    if (path == NULL)
        return INT64_MAX;
    *controllers++ = '\0';
    *path++ = '\0';
    if (*controllers == '\0')
        return walk_up(root, "", path, version_2);
    if (!lists(controllers, controller))
        return INT64_MAX;
    char folder[PATH_SIZE];
    snprintf(folder, sizeof folder, "/%s", controllers);
    /* Version 1 may mount controllers together or have a link for each; whichever is there
     * counts. */
    int64_t joint = walk_up(root, folder, path, version_1);
    snprintf(folder, sizeof folder, "/%s", controller);
    int64_t own = walk_up(root, folder, path, version_1);
    return LEATI_MIN(joint, own);
}

static int64_t cgroup_limit(const char *root, const char *controller, limit_reader version_1,
                            limit_reader version_2) {
    char line[PATH_SIZE];
    snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
    FILE *stream = fopen(line, "re");
    if (stream == NULL)
        return INT64_MAX;
    int64_t smallest = INT64_MAX;
    while (fgets(line, sizeof line, stream) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        int64_t limit = limit_of_line(root, line, controller, version_1, version_2);
        if (limit < smallest)
            smallest = limit;
    }
    fclose(stream);
    return smallest;
}

int leati_machine_cgroup_cores(const char *root) {
    int64_t cores = cgroup_limit(root, "cpu", cores_v1, cores_v2);
    return cores > INT_MAX ? INT_MAX : (int)cores;
}

int64_t leati_machine_cgroup_memory(const char *root) {
    return cgroup_limit(root, "memory", memory_v1, memory_v2);
}

int64_t leati_machine_memory(void) {
    int64_t pages = sysconf(_SC_PHYS_PAGES);
    int64_t page = sysconf(_SC_PAGESIZE);
    int64_t bytes = INT64_MAX;
    if (pages <= 0 || page <= 0 || __builtin_mul_overflow(pages, page, &bytes))
        bytes = INT64_MAX;
    int64_t group = leati_machine_cgroup_memory("");
    if (group < bytes)
        bytes = group;
    return LEATI_MAX(1, bytes);
}

/* The mask of a large machine does not fit the fixed-size set, so the set grows until it does. */
static int cores_of_affinity(void) {
    for (int cpus = 1024; cpus <= 1 << 20; cpus *= 4) {
        cpu_set_t *set = CPU_ALLOC((size_t)cpus);
        if (set == NULL)
            break;
        size_t size = CPU_ALLOC_SIZE((size_t)cpus);
        int error = sched_getaffinity(0, size, set) == 0 ? 0 : errno;
        int count = error == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        /* EINVAL is how the system says that the set is too small. */
        if (error != EINVAL)
            return count;
    }
    return 0;
}

static int num_cores = 1; /* written once, by count_cores */

static void count_cores(void) {
    int cores = cores_of_affinity();
    if (cores == 0)
        cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    int granted = leati_machine_cgroup_cores("");
    if (granted < cores)
        cores = granted;
    if (cores > 1)
        num_cores = cores;
}

int leati_pool_num_cores(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, count_cores);
    return num_cores;
}
