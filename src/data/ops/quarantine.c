/* quarantine: the input without its bad elements, up to a limit, and a list of them (beyond
 * tf.data).
 *
 * Happy path: blocks are handed on as they come. An error of the input is an element set aside: it
 * is counted, and with `path` a line of JSON is appended to that file by one write, with operator,
 * function, element number, file, byte, code and reason. What the file lists already is not written
 * again, so other epochs, restored iterators and shared files list an element once. More bad
 * elements than the limit are one DATA_LOSS, and then the end. The fraction is looked at from the
 * hundredth outcome on, and at the end.
 *
 * Failures: a line that cannot be written is an error in the place of its element, so that none
 * gets lost silently. CANCELLED, a deadline that has passed, and want of memory are no fault of an
 * element and are delivered. Counts are of one epoch. Saved as the counts and the input's position.
 * No locks. */
#include "base/hash.h"
#include "base/log.h"
#include "core/json.h"
#include "data/run/input.h"
#include "data/run/place.h"
#include "data/values/key_table.h"
#include "file/fs.h"
#include <leat/data_ops.h>
#include <string.h>

enum { ENOUGH = 100 };

struct quarantine_args {
    char *path;
    int64_t max_errors;
    double max_fraction;
};

#define ROW(field) .offset = offsetof(struct quarantine_args, field)

static const leati_row quarantine_rows[] = {
    {.name = "path",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_NONE,
     ROW(path),
     .doc = "The file to which a line of JSON is appended for each bad element; none: no list."},
    {.name = "max_errors",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     ROW(max_errors),
     .default_number = LEAT_UNLIMITED,
     .doc = "How many bad elements an epoch may have; none: any number."},
    {.name = "max_fraction",
     .type = LEATI_ROW_FLOAT,
     .flags = LEATI_NONE,
     ROW(max_fraction),
     .default_number = 1,
     .doc = "How large a part of an epoch's elements may be bad, 0 to 1; looked at from 100 "
            "elements on, and at the end."},
    {0},
};

struct quarantine_state {
    leati_input input;
    int64_t good, bad;    /* of this epoch */
    bool failed;          /* the limit was passed: the end follows */
    bool listed;          /* the file was read */
    bool told;            /* a bad element was logged: the first, and no other */
    leati_key_table keys; /* of its lines, and of those added */
};

static leat_status quarantine_check(leat_dataset *dataset, leat_error *err) {
    const struct quarantine_args *args = dataset->args;
    if (args->max_errors < LEAT_UNLIMITED) {
        return leati_refuse(err, VALUE,
                            "quarantine: max_errors is %lld; expected at least 0, or none",
                            (long long)args->max_errors);
    }
    if (!(args->max_fraction >= 0 && args->max_fraction <= 1)) {
        return leati_refuse(err, VALUE, "quarantine: max_fraction is %g; expected 0 to 1",
                            args->max_fraction);
    }
    return LEAT_OK;
}

static leat_status quarantine_open(leati_node_state *node, void *state, leat_error *err) {
    struct quarantine_state *s = state;
    leat_status status = leati_input_open(&s->input, node, 0, err);
    s->input.ends_at_error = true;
    return status;
}

/* ---- the list ---- */

/* An element whose file is known is the same one whatever its number in an epoch: the number, last
 * in its line, does not count. */
static int64_t key_of(const char *line, size_t size) {
    static const char number[] = ", \"element\":";
    size_t end = size;
    for (size_t i = 0; i + sizeof(number) - 1 <= size; i++)
        if (memcmp(line + i, number, sizeof(number) - 1) == 0)
            end = i;
    return (int64_t)leati_hash(line, end, 0);
}

static leat_status add_key(struct quarantine_state *s, int64_t key, leat_error *err) {
    return leati_key_table_find(&s->keys, key) >= 0 ? LEAT_OK
                                                    : leati_key_table_add(&s->keys, key, err);
}

/* Reads what the file lists already; a file that is not there lists nothing. */
static leat_status read_list(struct quarantine_state *s, const char *path, leat_error *err) {
    leat_buffer *whole = NULL;
    leat_error local = {0};
    if (s->listed)
        return LEAT_OK;
    leat_status status = leati_file_read_all(path, &whole, &local);
    if (status == LEAT_NOT_FOUND) {
        s->listed = true;
        return LEAT_OK;
    }
    if (status != LEAT_OK) {
        *err = local;
        return status;
    }
    const char *data = leat_buffer_data(whole), *end = data + leat_buffer_size(whole);
    while (data < end && status == LEAT_OK) {
        const char *line_end = memchr(data, '\n', (size_t)(end - data));
        line_end = line_end == NULL ? end : line_end;
        status = add_key(s, key_of(data, (size_t)(line_end - data)), err);
        data = line_end + (line_end < end);
    }
    leat_buffer_unref(whole);
    s->listed = status == LEAT_OK;
    return status;
}

/* A text as JSON, whatever its bytes are. */
static json_t *text_of(const char *text) {
    json_t *json = json_string(text);
    size_t size = strlen(text) + 1;
    char clean[LEAT_ERROR_TEXT];
    /* JSON takes UTF-8 only: what is not ASCII becomes question marks. */
    if (json == NULL && size < sizeof(clean)) {
        for (size_t i = 0; i < size; i++)
            clean[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
        json = json_string(clean);
    }
    return json;
}

/* The line for an error, without its end; owned (leati_free), NULL without memory. */
static char *line_of(const leat_error *error, leat_error *err) {
    char op[LEAT_ERROR_OP + LEAT_ERROR_FUNCTION + 4];
    bool in_file = error->file[0] != '\0';
    snprintf(op, sizeof(op), error->function[0] != '\0' ? "%s (%s)" : "%s", error->op,
             error->function);
    json_t *line = json_object();
    json_t *number = json_integer(error->element);
    int failed = line == NULL || number == NULL;
    if (!in_file)
        failed |= json_object_set(line, "element", number);
    failed |= json_object_set_new(line, "operator", text_of(op));
    if (in_file)
        failed |= json_object_set_new(line, "file", text_of(error->file));
    if (in_file && error->byte >= 0)
        failed |= json_object_set_new(line, "byte", json_integer(error->byte));
    failed |= json_object_set_new(line, "code", json_string(leat_status_name(error->code)));
    failed |= json_object_set_new(line, "reason", text_of(leat_error_message(error)));
    if (in_file)
        failed |= json_object_set(line, "element", number);
    char *text = failed ? NULL : leati_json_print(line, 0, false, err);
    if (failed)
        leati_no_memory(err);
    json_decref(number);
    json_decref(line);
    return text;
}

/* Appends the element's line, if it is not there. */
static leat_status list_element(struct quarantine_state *s, const char *path,
                                const leat_error *error, leat_error *err) {
    leat_status status = read_list(s, path, err);
    char *line = status == LEAT_OK ? line_of(error, err) : NULL;
    if (line == NULL)
        return status == LEAT_OK ? LEAT_RESOURCE_EXHAUSTED : status;
    size_t size = strlen(line);
    int64_t key = key_of(line, size);
    /* Room first: what is in the file is in the table. */
    status = leati_key_table_reserve(&s->keys, err);
    if (status == LEAT_OK && leati_key_table_find(&s->keys, key) < 0) {
        line[size] = '\n'; /* in the terminator's place: one write for the whole line */
        status = leati_fs_append(path, line, size + 1, err);
        if (status == LEAT_OK)
            status = leati_key_table_add(&s->keys, key, err);
    }
    leati_free(line);
    return status;
}

/* ---- the protocol ---- */

static bool is_of_an_element(leat_status code) {
    return code != LEAT_CANCELLED && code != LEAT_DEADLINE_EXCEEDED &&
           code != LEAT_RESOURCE_EXHAUSTED;
}

static bool beyond_limit(const struct quarantine_args *args, const struct quarantine_state *s,
                         bool at_end) {
    if (args->max_errors >= 0 && s->bad > args->max_errors)
        return true;
    int64_t seen = s->good + s->bad;
    return (at_end || seen >= ENOUGH) && (double)s->bad > args->max_fraction * (double)seen;
}

/* One error, and then the end. */
static leati_tail give_up(const struct quarantine_args *args, struct quarantine_state *s,
                          const leat_error *last, leat_error *err) {
    char limit[64];
    bool by_count = args->max_errors >= 0 && s->bad > args->max_errors;
    /* As doubles, so that one call prints either limit. */
    snprintf(limit, sizeof(limit), by_count ? "max_errors is %.0f" : "max_fraction is %g",
             by_count ? (double)args->max_errors : args->max_fraction);
    s->failed = true;
    leati_fail(err, LEAT_DATA_LOSS, "%lld of %lld elements were bad, and %s; %s%.200s%s%s",
               (long long)s->bad, (long long)(s->good + s->bad), limit,
               args->path != NULL ? "they are listed in " : "raise it, or give path for a list",
               args->path != NULL ? args->path : "", last != NULL ? "; the last one: " : "",
               last != NULL ? last->text : "");
    return LEATI_ERROR;
}

/* Sets the input's failed element aside: MORE, or ERROR where that cannot be, or is too much. */
static leati_tail set_aside(leati_node_state *node, struct quarantine_state *s,
                            const leat_error *bad, leat_error *err) {
    const struct quarantine_args *args = node->dataset->args;
    leat_error failure = {0};
    if (leati_input_failed_at_end(&s->input) || !is_of_an_element(bad->code)) {
        *err = *bad;
        return LEATI_ERROR;
    }
    if (args->path != NULL && list_element(s, args->path, bad, &failure) != LEAT_OK) {
        leati_fail(err, failure.code, "cannot list a bad element: %.200s; the element: %s",
                   failure.text, bad->text);
        return LEATI_ERROR;
    }
    if (args->path != NULL && !s->told) {
        s->told = true;
        leati_log(LEAT_LOG_WARNING, "%s lists bad elements in %s; the first: %s", node->name,
                  args->path, bad->text);
    }
    s->bad++;
    leati_counter_add(&node->counters.errors, 1);
    return beyond_limit(args, s, false) ? give_up(args, s, bad, err) : LEATI_MORE;
}

static leati_tail quarantine_pull(leati_node_state *node, void *state, int64_t want,
                                  leati_block *out, leat_error *err) {
    struct quarantine_state *s = state;
    const struct quarantine_args *args = node->dataset->args;
    leati_block_clear(out);
    if (s->failed)
        return LEATI_END;
    for (;;) {
        leat_error error = {0};
        leati_tail tail = leati_input_take(&s->input, want, out, &error);
        s->good += out->n;
        if (tail == LEATI_ERROR) {
            tail = set_aside(node, s, &error, err);
            if (tail == LEATI_MORE && out->n == 0)
                continue;
        } else if (tail == LEATI_END && beyond_limit(args, s, true)) {
            tail = give_up(args, s, NULL, err);
        }
        return tail;
    }
}

static leat_status quarantine_restored(leati_node_state *node, void *state, leat_error *err) {
    (void)node;
    struct quarantine_state *s = state;
    return s->good >= 0 && s->bad >= 0
               ? LEAT_OK
               : leati_fail(err, LEAT_DATA_LOSS, "quarantine: saved counts of %lld and %lld",
                            (long long)s->good, (long long)s->bad);
}

static void quarantine_close(leati_node_state *node, void *state) {
    (void)node;
    struct quarantine_state *s = state;
    leati_input_close(&s->input);
    leati_key_table_fini(&s->keys);
}

const leati_dataset_op leati_op_quarantine = {
    .name = "quarantine",
    .version = 1,
    .doc = "The input's elements without the bad ones, which are listed in a file; more of them "
           "than the limit are DATA_LOSS. Saved as two counts and the input's position; restoring "
           "costs the input's.",
    .names = "Dataset.quarantine experimental.quarantine",
    .num_inputs = 1,
    .flow = LEATI_FEWER,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_SAME,
    .args_size = sizeof(struct quarantine_args),
    .rows = quarantine_rows,
    .check = quarantine_check,
    .state_size = sizeof(struct quarantine_state),
    .open = quarantine_open,
    .saved = {LEATI_SAVED(struct quarantine_state, good), LEATI_SAVED(struct quarantine_state, bad),
              LEATI_SAVED(struct quarantine_state, failed)},
    .restored = quarantine_restored,
    .pull = quarantine_pull,
    .close = quarantine_close,
};

leat_dataset *leat_dataset_quarantine(leat_dataset *input, const char *path,
                                      const leat_dataset_quarantine_options *options,
                                      leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_quarantine_options o = {LEAT_DATASET_QUARANTINE_DEFAULTS};
    if (!LEATI_DATASET_OPTIONS(leat_dataset_quarantine_options, &o, options, &input, 1, err))
        return NULL;
    struct quarantine_args args = {.path = (char *)(uintptr_t)path, /* copied */
                                   .max_errors = o.max_errors,
                                   .max_fraction = o.max_fraction};
    return leati_dataset_new(&leati_op_quarantine, &args, &input, 1, err);
}
