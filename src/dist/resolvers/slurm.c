/* The variables of srun: a job step's hosts, tasks per host and the number of this task
 * (SlurmClusterResolver, whose ports from 8888 these are: one per task of a host). */
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "dist/cluster.h"
#include <stdlib.h>
#include <string.h>

extern const leati_resolver leati_resolver_slurm;

enum { FIRST_PORT = 8888, MOST_DIGITS = 9 };

static bool applies(void) {
    return getenv("SLURM_PROCID") != NULL && getenv("SLURM_STEP_NODELIST") != NULL &&
           getenv("SLURM_STEP_TASKS_PER_NODE") != NULL;
}

// ---- lists of hosts: "a[1-2,07],b" ----

static leat_status bad_list(const char *text, leat_error *err) {
    return leati_refuse(
        err, VALUE, "SLURM_STEP_NODELIST has \"%s\"; expected hosts such as \"node[01-04,7],head\"",
        text);
}

static leat_status add_hosts(json_t *hosts, const char *prefix, const char *rest, size_t size,
                             leat_error *err);

/* prefix + number + what the rest expands to. */
static leat_status add_numbered(json_t *hosts, const char *prefix, long number, int digits,
                                const char *rest, size_t size, leat_error *err) {
    leati_text text = {0};
    leati_text_addf(&text, "%s%0*ld", prefix, digits, number);
    leat_status status =
        text.failed ? leati_no_memory(err) : add_hosts(hosts, text.data, rest, size, err);
    leati_text_fini(&text);
    return status;
}

/* The numbers between brackets, each followed by `rest`. */
static leat_status add_ranges(json_t *hosts, const char *prefix, const char *ranges,
                              const char *end, const char *rest, size_t size, leat_error *err) {
    leat_status status = LEAT_OK;
    const char *at = ranges;
    while (at < end && status == LEAT_OK) {
        char *after = NULL;
        /* How many digits there are decides how all numbers of the range are written: 01-10. */
        size_t digits = strspn(at, "0123456789");
        long first = strtol(at, &after, 10), last = first;
        if (digits == 0 || digits > MOST_DIGITS)
            return bad_list(ranges, err);
        if (*after == '-') {
            size_t more = strspn(after + 1, "0123456789");
            last = strtol(after + 1, &after, 10);
            if (more == 0 || more > MOST_DIGITS || last < first)
                return bad_list(ranges, err);
        }
        if (after < end && *after != ',')
            return bad_list(ranges, err);
        for (long n = first; n <= last && status == LEAT_OK; n++)
            status = add_numbered(hosts, prefix, n, (int)digits, rest, size, err);
        at = after + 1;
    }
    return status;
}

/* Adds every host of `prefix` + the pattern `rest` of `size` bytes. */
static leat_status add_hosts(json_t *hosts, const char *prefix, const char *rest, size_t size,
                             leat_error *err) {
    const char *open = memchr(rest, '[', size);
    /* A short pattern may stand for very many hosts. */
    if (json_array_size(hosts) >= LEATI_MOST_WORKERS)
        return bad_list(prefix, err);
    leati_text text = {0};
    leati_text_addf(&text, "%s%.*s", prefix, (int)(open == NULL ? size : (size_t)(open - rest)),
                    rest);
    leat_status status = text.failed ? leati_no_memory(err) : LEAT_OK;
    if (status == LEAT_OK && open == NULL) {
        if (json_array_append_new(hosts, json_string(text.data)) != 0)
            status = leati_no_memory(err);
    } else if (status == LEAT_OK) {
        const char *close = memchr(open, ']', size - (size_t)(open - rest));
        status = close == NULL ? bad_list(rest, err)
                               : add_ranges(hosts, text.data, open + 1, close, close + 1,
                                            size - (size_t)(close + 1 - rest), err);
    }
    leati_text_fini(&text);
    return status;
}

/* All hosts of a list; NULL with `err`. */
static json_t *expand_hosts(const char *list, leat_error *err) {
    json_t *hosts = json_array();
    leat_status status = hosts == NULL ? leati_no_memory(err) : LEAT_OK;
    const char *at = list;
    while (*at != '\0' && status == LEAT_OK) {
        size_t size = 0;
        /* Up to the next comma that stands outside of brackets. */
        for (int depth = 0; at[size] != '\0' && (depth > 0 || at[size] != ','); size++)
            depth += (at[size] == '[') - (at[size] == ']');
        status = size == 0 ? bad_list(list, err) : add_hosts(hosts, "", at, size, err);
        at += size + (at[size] == ',');
    }
    if (status != LEAT_OK) {
        json_decref(hosts);
        return NULL;
    }
    return hosts;
}

// ---- tasks: "2(x3),1" ----

/* One address per task, host by host; NULL with `err`. */
static json_t *place_tasks(const json_t *hosts, const char *counts, leat_error *err) {
    json_t *addresses = json_array();
    size_t host = 0;
    const char *at = counts;
    bool good = true, memory = addresses != NULL;
    while (good && *at != '\0') {
        char *after = NULL;
        long tasks = strtol(at, &after, 10), times = 1;
        good = after != at && tasks > 0 && tasks <= LEATI_MOST_WORKERS;
        if (good && strncmp(after, "(x", 2) == 0) {
            times = strtol(after + 2, &after, 10);
            good = *after++ == ')';
        }
        good = good && times > 0 && (*after == ',' || *after == '\0') &&
               (size_t)times <= json_array_size(hosts) - host;
        for (long k = 0; good && k < times; k++, host++) {
            const char *name = json_string_value(json_array_get(hosts, host));
            for (long t = 0; memory && t < tasks; t++) {
                /* Tasks of a host listen at neighbouring ports, as SlurmClusterResolver gives
                 * them. */
                memory = json_array_append_new(addresses,
                                               json_sprintf("%s:%ld", name, FIRST_PORT + t)) == 0;
            }
        }
        at = after + (good && *after == ',');
    }
    if (good && host == json_array_size(hosts) && memory)
        return addresses;
    json_decref(addresses);
    if (!memory) {
        leati_no_memory(err);
    } else {
        leati_refuse(err, VALUE,
                     "SLURM_STEP_TASKS_PER_NODE is \"%s\" for %zu hosts; expected counts such as "
                     "\"2(x3),1\"",
                     counts, json_array_size(hosts));
    }
    return NULL;
}

static json_t *read_variables(leat_error *err) {
    const char *list = getenv("SLURM_STEP_NODELIST"), *counts = getenv("SLURM_STEP_TASKS_PER_NODE");
    int64_t index = 0;
    if (list == NULL || counts == NULL) {
        leati_fail(err, LEAT_NOT_FOUND,
                   "the environment has no %s; start the program by srun inside a Slurm job",
                   list == NULL ? "SLURM_STEP_NODELIST" : "SLURM_STEP_TASKS_PER_NODE");
        return NULL;
    }
    if (leati_cluster_resolver_number("SLURM_PROCID", &index, err) != LEAT_OK)
        return NULL;
    json_t *hosts = expand_hosts(list, err);
    json_t *addresses = hosts == NULL ? NULL : place_tasks(hosts, counts, err);
    json_decref(hosts);
    return addresses == NULL ? NULL : leati_cluster_resolver_workers(addresses, index, err);
}

const leati_resolver leati_resolver_slurm = {
    .name = "slurm",
    .doc = "SLURM_STEP_NODELIST, SLURM_STEP_TASKS_PER_NODE and SLURM_PROCID, as srun sets them.",
    .applies = applies,
    .read = read_variables,
};
