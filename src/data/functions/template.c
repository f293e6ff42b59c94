/* The parsed arguments of dataset nodes; see template.h.
 *
 * Happy path: the text was parsed before and its template is found. Failures: unknown operators
 * and arguments, texts that are no JSON. Lock: `lock` guards the templates; a leaf but for the
 * parser. */
#include "data/functions/template.h"
#include "base/fork.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "graph/json.h"
#include <pthread.h>
#include <string.h>

enum { MOST_TEMPLATES = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
LEATI_FORK_LOCK(templates, &lock);
static leati_dataset_template *templates[MOST_TEMPLATES];

static void template_free(leati_dataset_template *t) {
    if (t != NULL) {
        if (t->args != NULL)
            leati_rows_fini(t->op->rows, t->args);
        leati_free(t->args);
        leati_free(t->key);
        leati_free(t);
    }
}

void leati_template_release(leati_dataset_template *t) {
    pthread_mutex_lock(&lock);
    bool last = --t->users == 0 && t->dropped;
    pthread_mutex_unlock(&lock);
    if (last)
        template_free(t);
}

void leati_dataset_templates_trim(void) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST_TEMPLATES; i++) {
        if (templates[i] != NULL && templates[i]->users == 0) {
            template_free(templates[i]);
            templates[i] = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
}

/* The row of a name that need not be terminated, or NULL. */
static const leati_row *find_row(const leati_dataset_op *op, const leat_string *text) {
    /* No row has so long a name, so one that is cut is not found. */
    char name[64] = "";
    memcpy(name, text->data, LEATI_MIN(text->size, sizeof(name) - 1));
    return leati_rows_find(op->rows, name);
}

const leati_row *leati_template_bound_row(const struct leati_dataset_args *args,
                                          const leati_dataset_op *op, int index) {
    return find_row(op, &args->bound.values[index]);
}

const leati_row *leati_template_called_row(const struct leati_dataset_args *args,
                                           const leati_dataset_op *op, int index) {
    return find_row(op, &args->functions.values[index]);
}

/* The node's own functions stand in for a moment, so that required arguments are there. */
static leat_object *read_function(void *context, const leati_row *row, const json_t *json,
                                  leat_error *err) {
    const struct leati_dataset_args *args = context;
    for (int i = 0; i < args->functions.count; i++) {
        const leat_string *name = &args->functions.values[i];
        if (strlen(row->name) == name->size && memcmp(row->name, name->data, name->size) == 0)
            return leati_object_ref(args->function[i]);
    }
    return (leat_object *)leati_json_read_function(json, err);
}

static leat_status fail_name(const leati_dataset_op *op, const leat_string *name, const char *what,
                             leat_error *err) {
    return leati_refuse(err, VALUE, "%s has no %s \"%.*s\"; `leat ops %s` lists them", op->name,
                        what, (int)LEATI_MIN(name->size, 64), name->data, op->name);
}

/* Puts something into the JSON for each argument that comes from elsewhere. */
static leat_status add_placeholders(const struct leati_dataset_args *args,
                                    const leati_dataset_op *op, json_t *json, leat_error *err) {
    for (int i = 0; i < args->bound.count; i++) {
        const leati_row *row = leati_template_bound_row(args, op, i);
        if (row == NULL)
            return fail_name(op, &args->bound.values[i], "argument", err);
        if (json_object_set_new(json, row->name, leati_json_row_placeholder(row)) != 0)
            return leati_no_memory(err);
    }
    for (int i = 0; i < args->functions.count; i++) {
        const leati_row *row = leati_template_called_row(args, op, i);
        if (row == NULL || row->type != LEATI_ROW_FUNCTION)
            return fail_name(op, &args->functions.values[i], "function argument", err);
        if (json_object_set_new(json, row->name, json_true()) != 0)
            return leati_no_memory(err);
    }
    return LEAT_OK;
}

static leat_status parse(const struct leati_dataset_args *args, leati_dataset_template *t,
                         leat_error *err) {
    const char *text = args->args != NULL ? args->args : "{}";
    json_t *json = leati_json_parse(text, strlen(text), err);
    if (json == NULL)
        return LEAT_INVALID_ARGUMENT;
    leat_status status = add_placeholders(args, t->op, json, err);
    leati_json_functions functions = {.context = (void *)(uintptr_t)args, .read = read_function};
    t->args = leati_alloc_zero(1, t->op->args_size);
    if (t->args == NULL)
        status = leati_no_memory(err);
    if (status == LEAT_OK)
        status = leati_json_to_rows(json, t->op->rows, t->args, t->op->name, &functions, err);
    if (status != LEAT_OK) {
        leati_free(t->args);
        t->args = NULL;
    }
    /* The template serves other nodes, too, whose functions are others. */
    for (int i = 0; i < args->functions.count && status == LEAT_OK; i++) {
        const leati_row *row = leati_template_called_row(args, t->op, i);
        leat_object **function = (leat_object **)(void *)((char *)t->args + row->offset);
        leati_object_unref(*function);
        *function = NULL;
    }
    json_decref(json);
    return status;
}

static size_t names_size(const leati_strings *names) {
    size_t size = 1;
    for (int i = 0; i < names->count; i++)
        size += names->values[i].size + 1;
    return size;
}

static char *add_names(const leati_strings *names, char *at) {
    for (int i = 0; i < names->count; i++) {
        memcpy(at, names->values[i].data, names->values[i].size);
        at += names->values[i].size;
        *at++ = '\0';
    }
    /* Ends the list: the same names dealt out otherwise to the two lists make another key. */
    *at++ = '\1';
    return at;
}

/* All of the attributes that parsing depends on in one text. Owned. */
static char *key_of(const struct leati_dataset_args *args, size_t *size) {
    size_t op = strlen(args->op), text = args->args != NULL ? strlen(args->args) : 0;
    *size = op + text + 2 + names_size(&args->bound) + names_size(&args->functions);
    char *key = leati_alloc(*size, 1), *at = key;
    if (key == NULL)
        return NULL;
    memcpy(at, args->op, op + 1);
    at += op + 1;
    memcpy(at, text > 0 ? args->args : "", text + 1);
    add_names(&args->functions, add_names(&args->bound, at + text + 1));
    return key;
}

leati_dataset_template *leati_template_of(const struct leati_dataset_args *args, leat_error *err) {
    size_t size = 0;
    char *key = args->op == NULL ? NULL : key_of(args, &size);
    if (key == NULL) {
        leati_fail(err, args->op == NULL ? LEAT_INVALID_ARGUMENT : LEAT_RESOURCE_EXHAUSTED,
                   "dataset: %s",
                   args->op == NULL ? "attribute op is missing" : "no memory for its arguments");
        return NULL;
    }
    /* One place for each hash: a text that comes later takes it, so the table needs no order of
     * use. */
    size_t place = leati_hash(key, size, 0) % MOST_TEMPLATES;
    pthread_mutex_lock(&lock);
    leati_dataset_template *found = templates[place];
    if (found != NULL && found->key_size == size && memcmp(found->key, key, size) == 0) {
        found->users++;
        pthread_mutex_unlock(&lock);
        leati_free(key);
        return found;
    }
    pthread_mutex_unlock(&lock);
    /* Parsed without the lock; where two threads parse the same text, the later template replaces
     * the other. */
    leati_dataset_template *t = leati_alloc_zero(1, sizeof(*t));
    if (t == NULL) {
        leati_free(key);
        leati_no_memory(err);
        return NULL;
    }
    t->key = key;
    t->key_size = size;
    t->users = 1;
    t->op = leati_op_find(args->op);
    if (t->op == NULL) {
        leati_fail(err, LEAT_UNIMPLEMENTED,
                   "operator \"%s\" is not in the table; `leat ops` lists what is", args->op);
    }
    if (t->op == NULL || parse(args, t, err) != LEAT_OK) {
        template_free(t);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    leati_dataset_template *old = templates[place];
    templates[place] = t;
    bool last = false;
    if (old != NULL) {
        /* Whoever uses it still frees it with the last release. */
        old->dropped = true;
        last = old->users == 0;
    }
    pthread_mutex_unlock(&lock);
    if (last)
        template_free(old);
    return t;
}
