/* Plans of workers that run a dataset for others; see shares.h.
 *
 * Happy path: shares by file and by hint are those of sharding.c; the others are walks over the
 * plan that visit a node once however many operators read it. Failures: those that shares.h names,
 * and memory. No locks. */
#include "data/shares/shares.h"
#include "base/hash.h"
#include "base/random.h"
#include "data/plan/options.h"
#include "data/shares/sharding.h"
#include "file/fs.h"
#include "graph/json.h"
#include "graph/op.h"
#include <stdio.h>
#include <string.h>

enum { MOST_DEPTH = 1000 };

/* ---- shares ---- */

/* Every num_workers-th element, in front of what TensorFlow keeps behind its shard. */
static leat_dataset *by_data(const leat_dataset *node, int num_workers, int worker,
                             leat_error *err) {
    if (node->op != &leati_op_prefetch && node->op != &leati_op_with_options) {
        return leati_dataset_shard_for_all(leat_dataset_ref((leat_dataset *)node), num_workers,
                                           worker, err);
    }
    leat_dataset *input = by_data(node->inputs[0], num_workers, worker, err);
    return input == NULL ? NULL : leati_sharding_remake(node, node->args, &input, err);
}

leat_dataset *leati_shares_plan(const leat_dataset *dataset, leati_shares_policy policy,
                                int num_workers, int worker, leat_error *err) {
    leat_error local = {0};
    leat_dataset *share = NULL;
    int marked = 0;
    if (policy == LEATI_SHARES_HINT) /* also with one worker, because the mark itself fails */
        return leati_sharding_by_hints(dataset, num_workers, worker, &marked, err);
    if (policy == LEATI_SHARES_OFF || num_workers == 1)
        return leat_dataset_ref((leat_dataset *)dataset);
    if (policy != LEATI_SHARES_DATA) {
        share = leati_sharding_by_files(dataset, num_workers, worker, NULL, 0, &local);
        if (share != NULL)
            return share;
        if (policy == LEATI_SHARES_FILE || local.code != LEAT_NOT_FOUND) {
            *err = local;
            return NULL;
        }
    }
    return by_data(dataset, num_workers, worker, err);
}

/* ---- seeds ---- */

static const leati_row *next_row(const leati_row *row) {
    return row == NULL || row->type == LEATI_ROW_END ? NULL : row;
}

static bool has_seed(const leati_dataset_op *op) {
    for (const leati_row *row = op->rows; next_row(row) != NULL; row++)
        if (row->type == LEATI_ROW_SEED)
            return true;
    return false;
}

static bool is_pair(const leati_row *row) {
    return row[0].type == LEATI_ROW_INT && (row[0].flags & LEATI_CONSTRUCT) != 0 &&
           row[1].type == LEATI_ROW_INT && (row[1].flags & LEATI_CONSTRUCT) != 0;
}

static int64_t *number_at(void *args, const leati_row *row) {
    return (int64_t *)(void *)((char *)args + row->offset);
}

/* Replaces the resolved pairs of numbers that nobody chose by others, made of the salt and of the
 * number of the pair in the plan; false: there are none. */
static bool fill_pairs(const leati_dataset_op *op, void *args, uint64_t salt, uint64_t *number) {
    bool found = false;
    for (const leati_row *row = op->rows; has_seed(op) && next_row(row) != NULL; row++) {
        if (!is_pair(row))
            continue;
        int64_t *first = number_at(args, row++), *second = number_at(args, row);
        if (!leati_random_is_fresh(*first, *second))
            continue;
        uint64_t key = (*number)++;
        /* In the range of those that are chosen, so that they stay as they are from here on. */
        *first = (int64_t)(leati_hash(&key, sizeof(key), salt) & INT32_MAX);
        *second = (int64_t)(leati_hash(&key, sizeof(key), ~salt) % INT32_MAX + 1);
        found = true;
    }
    return found;
}

struct reseeding {
    uint64_t salt, number;
    leati_sharding_made made;
    leat_error *err;
};

static leat_dataset *reseeded(struct reseeding *r, const leat_dataset *node, int depth) {
    leat_dataset *made = NULL;
    int done = 0;
    if (depth > MOST_DEPTH) {
        leati_refuse(r->err, VALUE, "a plan deeper than %d operators", MOST_DEPTH);
        return NULL;
    }
    char *args = leati_alloc_zero(1, node->op->args_size + 1);
    leat_dataset **inputs = leati_alloc_zero((size_t)node->num_inputs + 1, sizeof(*inputs));
    if (args == NULL || inputs == NULL) {
        leati_no_memory(r->err);
    } else {
        if (node->op->args_size > 0)
            memcpy(args, node->args, node->op->args_size); /* the constructor copies deeply */
        bool changed = fill_pairs(node->op, args, r->salt, &r->number);
        for (; done < node->num_inputs; done++) {
            const leat_dataset *input = node->inputs[done];
            inputs[done] = leati_sharding_made_find(&r->made, input);
            if (inputs[done] == NULL)
                inputs[done] =
                    leati_sharding_made_add(&r->made, input, reseeded(r, input, depth + 1), r->err);
            if (inputs[done] == NULL)
                break;
            changed = changed || inputs[done] != input;
        }
        if (done == node->num_inputs && changed) {
            made = leati_sharding_remake(node, args, inputs, r->err);
            done = 0; /* given */
        } else if (done == node->num_inputs) {
            made = leat_dataset_ref((leat_dataset *)node);
        }
        for (int i = 0; i < done; i++)
            leat_dataset_unref(inputs[i]);
    }
    leati_free(inputs);
    leati_free(args);
    return made;
}

leat_dataset *leati_shares_reseed(const leat_dataset *plan, uint64_t salt, leat_error *err) {
    leat_error local = {0};
    struct reseeding r = {.salt = salt, .err = &local};
    leat_dataset *made = reseeded(&r, plan, 0);
    leati_sharding_made_fini(&r.made);
    if (made == NULL)
        *err = local;
    return made;
}

/* ---- walks that look ---- */

typedef leat_status (*visitor)(void *context, const leat_dataset *node, leat_error *err);

struct walk {
    visitor visit;
    void *context;
    leati_sharding_made seen;
};

/* Visits each node of a plan once, the sink first. */
static leat_status walk_below(struct walk *walk, const leat_dataset *node, int depth,
                              leat_error *err) {
    if (depth > MOST_DEPTH)
        return leati_refuse(err, VALUE, "a plan deeper than %d operators", MOST_DEPTH);
    LEATI_TRY(walk->visit(walk->context, node, err));
    for (int i = 0; i < node->num_inputs; i++) {
        leat_dataset *input = node->inputs[i];
        leat_dataset *seen = leati_sharding_made_find(&walk->seen, input);
        if (seen == NULL) {
            seen = leati_sharding_made_add(&walk->seen, input, leat_dataset_ref(input), err);
            if (seen == NULL)
                return LEAT_RESOURCE_EXHAUSTED;
            leat_status status = walk_below(walk, input, depth + 1, err);
            if (status != LEAT_OK) {
                leat_dataset_unref(seen);
                return status;
            }
        }
        leat_dataset_unref(seen);
    }
    return LEAT_OK;
}

static leat_status walk_plan(const leat_dataset *plan, visitor visit, void *context,
                             leat_error *err) {
    leat_error local = {0};
    struct walk walk = {.visit = visit, .context = context};
    leat_status status = walk_below(&walk, plan, 0, &local);
    leati_sharding_made_fini(&walk.seen);
    if (status != LEAT_OK)
        *err = local;
    return status;
}

static void name_of(const leat_dataset *node, char *text, size_t size) {
    if (node->label != NULL)
        snprintf(text, size, "%s \"%s\"", node->op->name, node->label);
    else
        snprintf(text, size, "%s", node->op->name);
}

/* ---- sending ---- */

static json_t *write_function(void *context, const leat_object *function, leat_error *err) {
    (void)context;
    return leati_json_write_function((const leat_function *)function, err);
}

static leat_status check_sendable(void *context, const leat_dataset *node, leat_error *err) {
    leati_json_functions functions = {.write = write_function};
    char name[100];
    (void)context;
    leat_status status = node->op->writable != NULL ? node->op->writable(node, err) : LEAT_OK;
    if (status == LEAT_OK) {
        json_t *args = leati_json_of_rows(node->op->rows, node->args, false, &functions, err);
        status = args == NULL ? err->code : LEAT_OK;
        json_decref(args);
    }
    if (status == LEAT_OK || status == LEAT_RESOURCE_EXHAUSTED)
        return status;
    name_of(node, name, sizeof(name));
    return leati_prefix(err, "%s cannot be sent to another process", name);
}

leat_status leati_shares_sendable(const leat_dataset *plan, leat_error *err) {
    return walk_plan(plan, check_sendable, NULL, err);
}

/* ---- files ---- */

struct files {
    leati_shares_file_visit visit;
    void *context;
};

static leat_status visit_reader(void *context, const leat_dataset *node, leat_error *err) {
    const struct files *files = context;
    if (node->op->shards != LEATI_SHARD_READER)
        return LEAT_OK;
    const leati_strings *names = leati_sharding_names_of(node);
    for (int i = 0; i < names->count; i++)
        LEATI_TRY(files->visit(files->context, node, names->values[i], err));
    return LEAT_OK;
}

leat_status leati_shares_visit_files(const leat_dataset *plan, leati_shares_file_visit visit,
                                     void *context, leat_error *err) {
    return walk_plan(plan, visit_reader, &(struct files){visit, context}, err);
}

/* ---- determinism ---- */

struct reason {
    char *text;
    size_t size;
};

/* Why the node's elements may be others in another run; NULL: they are not. */
static const char *unsteady(const leat_dataset *node) {
    bool below = true;
    for (int i = 0; i < node->num_inputs; i++)
        below = below && node->inputs[i]->replayable;
    const leati_row *order = leati_rows_find(node->op->rows, "deterministic");
    if (!node->replayable && below)
        return "it calls code with effects, or reads what others change";
    if ((leati_dataset_functions_flags(node->op->rows, node->args) & LEATI_RANDOM) != 0)
        return "its function draws random numbers; use stateless operations";
    if (order != NULL && order->type == LEATI_ROW_BOOL_OR_NONE &&
        *((const signed char *)node->args + order->offset) == 0)
        return "deterministic is false";
    return NULL;
}

static leat_status check_steady(void *context, const leat_dataset *node, leat_error *err) {
    const struct reason *reason = context;
    const char *why = unsteady(node);
    char name[100];
    if (why == NULL)
        return LEAT_OK;
    name_of(node, name, sizeof(name));
    snprintf(reason->text, reason->size, "%s: %s", name, why);
    return leati_fail(err, LEAT_FAILED_PRECONDITION, "%s", why);
}

bool leati_shares_deterministic(const leat_dataset *plan, char *why, size_t size) {
    leat_error err = {0};
    snprintf(why, size, "%s", "");
    if (leati_plan_option(plan, "deterministic") == 0) {
        snprintf(why, size, "with_options: deterministic is false");
        return false;
    }
    if (walk_plan(plan, check_steady, &(struct reason){why, size}, &err) == LEAT_OK)
        return true;
    if (why[0] == '\0')
        snprintf(why, size, "%s", err.text);
    return false;
}

/* ---- identity ---- */

struct identity {
    uint64_t hash;
    bool with_files;
};

static leat_status add_file(void *context, const leat_dataset *reader, leat_string name,
                            leat_error *err) {
    struct identity *identity = context;
    (void)reader;
    int64_t size = -1;
    char *path = leati_alloc(1, name.size + 1);
    if (path == NULL)
        return leati_no_memory(err);
    memcpy(path, name.data, name.size);
    path[name.size] = '\0';
    leati_stat found = {0};
    if (leati_fs_stat(path, &found, &(leat_error){0}) == LEAT_OK)
        size = found.size;
    leati_free(path);
    identity->hash = leati_hash(&size, sizeof(size), identity->hash);
    return LEAT_OK;
}

/* The seeds that the user gave, which the fingerprint leaves out. */
static leat_status add_seeds(void *context, const leat_dataset *node, leat_error *err) {
    struct identity *identity = context;
    for (const leati_row *row = node->op->rows; next_row(row) != NULL; row++) {
        if (row->type != LEATI_ROW_SEED)
            continue;
        const leati_seed_argument *seed =
            (const leati_seed_argument *)(const void *)((const char *)node->args + row->offset);
        int64_t numbers[2] = {seed->given, seed->given ? seed->value : 0};
        identity->hash = leati_hash(numbers, sizeof(numbers), identity->hash);
    }
    return identity->with_files ? visit_reader(&(struct files){add_file, identity}, node, err)
                                : LEAT_OK;
}

leat_status leati_shares_identity(const leat_dataset *plan, bool with_files, uint64_t *out,
                                  leat_error *err) {
    struct identity identity = {.hash = leat_dataset_fingerprint(plan), .with_files = with_files};
    LEATI_TRY(walk_plan(plan, add_seeds, &identity, err));
    *out = identity.hash;
    return LEAT_OK;
}
