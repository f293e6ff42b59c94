/* Plans as messages carry them; see plans.h.
 *
 * Happy path: {"op": ...}, the JSON of data/plan, which every process can read. A plan over
 * functions of the program itself (Python's generators and py_function, captured variables, C
 * callbacks without a name) has none. TensorFlow runs these all the same where dispatcher and
 * workers live in the client's process, since its graphs refer to what the process has; so the
 * dataset is put into a table of the process under a random name, and its text is {"here": name,
 * "process": name}, which a worker of the same process finds again. All tasks then iterate one
 * dataset, as all iterators of it do here.
 *
 * Failures: INVALID_ARGUMENT where it is to be sent elsewhere, FAILED_PRECONDITION where it was.
 * Locks: one, a leaf, around the table; not held while a dataset is freed. */
#include "service/wire/plans.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/random.h"
#include "base/text.h"
#include "data/plan/dataset.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 33 };

typedef struct kept {
    struct kept *next;
    char name[NAME_SIZE];
    leat_dataset *dataset; /* a reference */
} kept;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
LEATI_FORK_LOCK(service_plans, &lock);
static kept *table; /* guarded by `lock` */

static char process_name[NAME_SIZE]; /* written under `named` alone */
static pthread_once_t named = PTHREAD_ONCE_INIT;

static bool draw_name(char name[NAME_SIZE]) {
    uint8_t random[(NAME_SIZE - 1) / 2];
    if (!leati_random_secret(random, sizeof random))
        return false;
    for (size_t i = 0; i < sizeof random; i++)
        (void)snprintf(name + 2 * i, 3, "%02x", random[i]);
    return true;
}

static void name_process(void) {
    if (!draw_name(process_name))
        process_name[0] = '\0';
}

const char *leati_plans_process(void) {
    pthread_once(&named, name_process);
    return process_name[0] == '\0' ? NULL : process_name;
}

/* ---- writing ---- */

/* Keeps the dataset; the text of its name. */
static char *keep(leat_dataset *dataset, leat_error *err) {
    leati_text text = {0};
    const char *process = leati_plans_process();
    kept *entry = leati_alloc_zero(1, sizeof *entry);
    if (entry == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    if (process == NULL || !draw_name(entry->name)) {
        (void)leati_fail(err, LEAT_INTERNAL, "the system gives no random numbers");
        leati_free(entry);
        return NULL;
    }
    leati_text_addf(&text, "{\"here\": \"%s\", \"process\": \"%s\"}", entry->name, process);
    char *plan = leati_text_take(&text);
    if (plan == NULL) {
        (void)leati_no_memory(err);
        leati_free(entry);
        return NULL;
    }
    entry->dataset = leat_dataset_ref(dataset);
    pthread_mutex_lock(&lock);
    entry->next = table;
    table = entry;
    pthread_mutex_unlock(&lock);
    return plan;
}

char *leati_plans_write(leat_dataset *dataset, bool here, leat_error *err) {
    char *plan = NULL;
    json_t *json = leati_plan_write(dataset, err);
    if (json != NULL) {
        plan = leati_json_print(json, 0, false, err);
        json_decref(json);
        return plan;
    }
    if (err->code == LEAT_RESOURCE_EXHAUSTED)
        return NULL;
    if (here)
        return keep(dataset, err);
    leati_error_wrap(err, LEAT_INVALID_ARGUMENT,
                     "the dataset cannot be sent to the service's processes (functions of this "
                     "program run where dispatcher and workers are in this process, too; else "
                     "register them by name, or write them with leat's operations)");
    return NULL;
}

/* ---- reading ---- */

/* The entry's place in the table; the lock is held. */
static kept **find(const char *name) {
    kept **at = &table;
    while (*at != NULL && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    return at;
}

/* The member "here" of a text; NULL: it is a plan as such. Owned (json_decref). */
static json_t *name_of(const char *plan, leat_error *err) {
    json_t *json = leati_json_parse(plan, strlen(plan), err);
    if (json_is_object(json) && json_is_string(json_object_get(json, "here")))
        return json;
    json_decref(json);
    return NULL;
}

leat_dataset *leati_plans_read(const char *plan, leat_error *err) {
    json_t *json = name_of(plan, err);
    if (json == NULL)
        return leat_dataset_from_trusted_json(plan, err);
    leat_dataset *dataset = NULL;
    pthread_mutex_lock(&lock);
    kept *entry = *find(json_string_value(json_object_get(json, "here")));
    if (entry != NULL)
        dataset = leat_dataset_ref(entry->dataset);
    pthread_mutex_unlock(&lock);
    json_decref(json);
    if (dataset == NULL)
        (void)leati_fail(err, LEAT_FAILED_PRECONDITION,
                         "the dataset calls functions of the program that registered it, so only "
                         "workers of that process can run it; register the functions by name, or "
                         "write them with leat's operations");
    return dataset;
}

void leati_plans_forget(const char *plan) {
    leat_error unwanted = {0};
    json_t *json = name_of(plan, &unwanted);
    if (json == NULL)
        return;
    pthread_mutex_lock(&lock);
    kept **at = find(json_string_value(json_object_get(json, "here")));
    kept *entry = *at;
    if (entry != NULL)
        *at = entry->next;
    pthread_mutex_unlock(&lock);
    json_decref(json);
    if (entry != NULL)
        leat_dataset_unref(entry->dataset);
    leati_free(entry);
}
