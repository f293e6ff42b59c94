/* The plan of one worker's share; see sharding.h.
 *
 * Happy path: the walk goes from the sink to the readers and makes the nodes above them anew over
 * dealt-out names; nothing is changed in place, so that a walk that fails on one branch leaves no
 * half-sharded plan (TensorFlow's does: rows are lost). New nodes have shared state of their own,
 * because a cache of a share must not serve the whole dataset. Where a function dataset stands
 * above the reader, the files are dealt out all the same; TensorFlow then deals out rows of a
 * reader that every worker reads in full. Failures: NOT_FOUND names the operator that the walk
 * cannot pass. No locks. */
#include "data/shares/sharding.h"
#include "data/functions/template.h"
#include "data/plan/recipe.h"
#include "graph/graph.h"
#include <stdio.h>
#include <string.h>

enum { MOST_DEPTH = 1000, MOST_NAMES = 3 };

struct walk {
    int num_workers, worker;
    int marked; /* places with SHARD_HINT */
    char *text; /* what the first reader gets; NULL: not wanted */
    size_t size;
    leati_sharding_made remade;
    leat_error *err;
};

/* ---- readers inside functions ---- */

/* Does a function make a dataset of a reader, itself or in a function that it hands on? */
static bool makes_reader(const leat_object *object, int depth) {
    if (!leati_graph_object_is_function(object) || depth > MOST_DEPTH)
        return false;
    const leati_body *body = &((const leat_function *)(const void *)object)->body;
    for (size_t n = 0; n < body->num_nodes; n++) {
        /* Readers in branches and loops are not looked for. */
        if (body->nodes[n].op != &leati_tensor_op_dataset)
            continue;
        const struct leati_dataset_args *args = body->nodes[n].args;
        const leati_dataset_op *op = leati_op_find(args->op);
        if (op != NULL && op->shards == LEATI_SHARD_READER)
            return true;
        for (int i = 0; i < args->functions.count && i < LEATI_MOST_FUNCTIONS; i++)
            if (makes_reader(args->function[i], depth + 1))
                return true;
    }
    return false;
}

static bool calls_reader(const leat_dataset *dataset) {
    for (const leati_row *row = dataset->op->rows; row != NULL && row->type != LEATI_ROW_END;
         row++) {
        const void *at = (const char *)dataset->args + row->offset;
        if (row->type == LEATI_ROW_FUNCTION && makes_reader(*(leat_object *const *)at, 0))
            return true;
    }
    return false;
}

/* ---- nodes made anew ---- */

leat_dataset *leati_sharding_remake(const leat_dataset *node, const void *args,
                                    leat_dataset *const *inputs, leat_error *err) {
    leat_dataset *made = leati_dataset_new(node->op, args, inputs, node->num_inputs, err);
    /* The label is no argument, so the constructor does not copy it. */
    return made == NULL || node->label == NULL ? made : leat_dataset_label(made, node->label, err);
}

struct leati_sharding_pair {
    leat_dataset *node, *made;
};

leat_dataset *leati_sharding_made_find(const leati_sharding_made *remade,
                                       const leat_dataset *node) {
    for (size_t i = 0; i < remade->count; i++)
        if (remade->pairs[i].node == node)
            return leat_dataset_ref(remade->pairs[i].made);
    return NULL;
}

leat_dataset *leati_sharding_made_add(leati_sharding_made *remade, const leat_dataset *node,
                                      leat_dataset *made, leat_error *err) {
    if (made == NULL)
        return NULL;
    if (!leati_grow((void **)&remade->pairs, &remade->capacity, remade->count + 1,
                    sizeof(*remade->pairs))) {
        leat_dataset_unref(made);
        leati_no_memory(err);
        return NULL;
    }
    /* The node is held too: one that the walk made itself could go, and its address come again. */
    remade->pairs[remade->count++] = (struct leati_sharding_pair){
        leat_dataset_ref((leat_dataset *)node), leat_dataset_ref(made)};
    return made;
}

void leati_sharding_made_fini(leati_sharding_made *remade) {
    for (size_t i = 0; i < remade->count; i++) {
        leat_dataset_unref(remade->pairs[i].node);
        leat_dataset_unref(remade->pairs[i].made);
    }
    leati_free(remade->pairs);
    *remade = (leati_sharding_made){0};
}

typedef leat_dataset *(*rebuild)(struct walk *walk, const leat_dataset *node, int depth);

/* `node` over what `below` makes of its inputs. */
static leat_dataset *over_inputs(struct walk *walk, const leat_dataset *node, rebuild below,
                                 int depth) {
    leat_dataset **inputs = leati_alloc_zero((size_t)node->num_inputs, sizeof(leat_dataset *));
    if (inputs == NULL) {
        leati_no_memory(walk->err);
        return NULL;
    }
    leat_dataset *made = NULL;
    int done = 0;
    bool changed = false;
    while (done < node->num_inputs) {
        const leat_dataset *input = node->inputs[done];
        inputs[done] = leati_sharding_made_find(&walk->remade, input);
        if (inputs[done] == NULL)
            inputs[done] = leati_sharding_made_add(&walk->remade, input,
                                                   below(walk, input, depth + 1), walk->err);
        if (inputs[done] == NULL)
            break;
        changed = changed || inputs[done] != input;
        done++;
    }
    /* Given to the constructor; else the references are dropped here. */
    if (done == node->num_inputs && changed) {
        made = leati_sharding_remake(node, node->args, inputs, walk->err);
    } else {
        made = done == node->num_inputs ? leat_dataset_ref((leat_dataset *)node) : NULL;
        for (int i = 0; i < done; i++)
            leat_dataset_unref(inputs[i]);
    }
    leati_free(inputs);
    return made;
}

static bool too_deep(struct walk *walk, int depth) {
    if (depth > MOST_DEPTH)
        leati_refuse(walk->err, VALUE, "a plan deeper than %d operators", MOST_DEPTH);
    return depth > MOST_DEPTH;
}

/* ---- names ---- */

struct unshuffled {
    struct walk walk;            /* first */
    const leat_dataset *shuffle; /* the one nearest to the source; NULL: there is none */
};

/* The names without their shuffles, which list_files makes below itself. */
static leat_dataset *without_shuffles(struct walk *walk, const leat_dataset *node, int depth) {
    struct unshuffled *u = (struct unshuffled *)walk;
    if (too_deep(walk, depth))
        return NULL;
    bool shuffles = node->op == &leati_op_shuffle;
    if (node->num_inputs == 1 && (shuffles || leati_dataset_changes_nothing(node))) {
        /* The walk goes towards the source, so the last one that it meets is the nearest. */
        u->shuffle = shuffles ? node : u->shuffle;
        return without_shuffles(walk, node->inputs[0], depth + 1);
    }
    return over_inputs(walk, node, without_shuffles, depth);
}

/* This worker's share of a dataset of names (borrowed): dealt out first, because all workers must
 * see one order, then shuffled. */
static leat_dataset *shard_names(struct walk *walk, const leat_dataset *names) {
    struct unshuffled u = {.walk = *walk};
    u.walk.remade = (leati_sharding_made){0};
    leat_dataset *share = without_shuffles(&u.walk, names, 0);
    leati_sharding_made_fini(&u.walk.remade);
    share = share == NULL
                ? NULL
                : leati_dataset_shard_for_all(share, walk->num_workers, walk->worker, walk->err);
    /* Each worker then shuffles its own files. */
    if (share != NULL && u.shuffle != NULL)
        share = leati_sharding_remake(u.shuffle, u.shuffle->args, &share, walk->err);
    if (walk->text != NULL && walk->text[0] == '\0') {
        snprintf(walk->text, walk->size, "one file in %d, from number %d on", walk->num_workers,
                 walk->worker);
    }
    return share;
}

static void describe_names(struct walk *walk, const leati_strings *names) {
    size_t used = 0;
    int count =
        names->count > walk->worker ? (names->count - walk->worker - 1) / walk->num_workers + 1 : 0;
    if (walk->text == NULL || walk->text[0] != '\0')
        return;
    used = (size_t)snprintf(walk->text, walk->size, "%d of %d files", count, names->count);
    for (int i = 0; i < count && i <= MOST_NAMES && used < walk->size; i++) {
        /* Of a long path the end is shown, which tells more than its beginning. */
        const leat_string *name = &names->values[walk->worker + i * walk->num_workers];
        used +=
            (size_t)(i == MOST_NAMES
                         ? snprintf(walk->text + used, walk->size - used, ", ...")
                         : snprintf(walk->text + used, walk->size - used, "%s%.*s",
                                    i == 0 ? ": " : ", ", (int)(name->size < 60 ? name->size : 60),
                                    name->data + (name->size < 60 ? 0 : name->size - 60)));
    }
}

leat_dataset *leati_sharding_reader_of(const leat_dataset *reader, const leati_strings *list,
                                       leat_dataset *names, leat_error *err) {
    const leati_row *row = leati_rows_find(reader->op->rows, reader->op->files);
    char *args = leati_alloc(1, reader->op->args_size);
    if (args == NULL) {
        leat_dataset_unref(names);
        leati_no_memory(err);
        return NULL;
    }
    memcpy(args, reader->args, reader->op->args_size); /* the constructor copies deeply */
    memcpy(args + row->offset, list, sizeof(*list));
    leat_dataset *made = leati_dataset_new(reader->op, args, &names, names != NULL ? 1 : 0, err);
    leati_free(args);
    return made == NULL || reader->label == NULL ? made
                                                 : leat_dataset_label(made, reader->label, err);
}

const leati_strings *leati_sharding_names_of(const leat_dataset *reader) {
    const leati_row *row = leati_rows_find(reader->op->rows, reader->op->files);
    return (const leati_strings *)(const void *)((const char *)reader->args + row->offset);
}

leat_dataset *leati_sharding_names(const leati_strings *all, leat_error *err) {
    leat_tensor tensor = {0};
    leat_dataset *names = NULL;
    if (leat_tensor_copy_of(LEAT_STRING, LEAT_SHAPE(all->count), all->values, &tensor, err) ==
        LEAT_OK)
        names = leati_recipe_names(&tensor, NULL, err);
    leat_tensor_unref(&tensor);
    return names;
}

/* With fewer names than workers, who has one fails where TensorFlow's shard finds that out: at the
 * first element. */
static leat_dataset *too_few(struct walk *walk, const leat_dataset *reader,
                             const leati_strings *all) {
    static const leati_strings none;
    leat_dataset *names = leati_sharding_names(all, walk->err);
    if (names != NULL)
        names = leati_dataset_shard_for_all(names, walk->num_workers, walk->worker, walk->err);
    return names == NULL ? NULL : leati_sharding_reader_of(reader, &none, names, walk->err);
}

/* A reader of this worker's names out of a list. */
static leat_dataset *shard_list(struct walk *walk, const leat_dataset *reader) {
    const leati_strings *all = leati_sharding_names_of(reader);
    describe_names(walk, all);
    if (all->count < walk->num_workers && walk->worker < all->count)
        return too_few(walk, reader, all);
    leati_strings mine = {.values = leati_alloc((size_t)all->count + 1, sizeof(*mine.values))};
    if (mine.values == NULL) {
        leati_no_memory(walk->err);
        return NULL;
    }
    /* As tf.data's shard: worker w has files w, w + n and so on. */
    for (int i = walk->worker; i < all->count; i += walk->num_workers)
        mine.values[mine.count++] = all->values[i];
    leat_dataset *made = leati_sharding_reader_of(reader, &mine, NULL, walk->err);
    leati_free(mine.values);
    return made;
}

/* ---- the walk ---- */

static leat_dataset *files_below(struct walk *walk, const leat_dataset *node, int depth);

/* With one worker the walk only looks: what it has found stays as it is. */
static leat_dataset *as_it_is(const leat_dataset *node, leat_dataset *found) {
    leat_dataset_unref(found);
    return found == NULL ? NULL : leat_dataset_ref((leat_dataset *)node);
}

static leat_dataset *over_names(struct walk *walk, const leat_dataset *node) {
    if (walk->num_workers == 1)
        return leat_dataset_ref((leat_dataset *)node);
    leat_dataset *names = shard_names(walk, node->inputs[0]);
    return names == NULL ? NULL : leati_sharding_remake(node, node->args, &names, walk->err);
}

static leat_dataset *not_found(struct walk *walk, const leat_dataset *node) {
    char why[200];
    snprintf(why, sizeof(why), "%s is %s", node->op->name,
             node->num_inputs == 0 ? "no reader of record files"
                                   : "not seen through to a reader of record files");
    if (walk->text != NULL)
        snprintf(walk->text, walk->size, "%s", why);
    leati_fail(walk->err, LEAT_NOT_FOUND,
               "Found an unshardable source dataset: %s, so it cannot be sharded by file; use the "
               "autoshard policy DATA or OFF",
               why);
    return NULL;
}

static leat_dataset *expanded(struct walk *walk, const leat_dataset *node, int depth) {
    leat_dataset *plan = node->op->expand(node, walk->err);
    leat_dataset *made = plan == NULL ? NULL : files_below(walk, plan, depth + 1);
    leat_dataset_unref(plan);
    /* The expanded plan serves the walk alone; a worker without others keeps its operator. */
    return walk->num_workers == 1 ? as_it_is(node, made) : made;
}

static leat_dataset *left_out(struct walk *walk, const leat_dataset *node, int depth) {
    leat_dataset *below = files_below(walk, node->inputs[0], depth + 1);
    return walk->num_workers == 1 ? as_it_is(node, below) : below;
}

static leat_dataset *reader(struct walk *walk, const leat_dataset *node) {
    return node->num_inputs > 0     ? over_names(walk, node)
           : walk->num_workers == 1 ? leat_dataset_ref((leat_dataset *)node)
                                    : shard_list(walk, node);
}

static leat_dataset *files_below(struct walk *walk, const leat_dataset *node, int depth) {
    if (too_deep(walk, depth))
        return NULL;
    switch (node->op->shards) {
    case LEATI_SHARD_READER: return reader(walk, node);
    case LEATI_SHARD_AS_PLAN: return expanded(walk, node, depth);
    case LEATI_SHARD_LEFT_OUT: return left_out(walk, node, depth);
    case LEATI_SHARD_CALLS:
        return calls_reader(node) ? over_names(walk, node)
                                  : over_inputs(walk, node, files_below, depth);
    case LEATI_SHARD_SEES_THROUGH: return over_inputs(walk, node, files_below, depth);
    case LEATI_SHARD_UNSAID:
    case LEATI_SHARD_NOT: break;
    }
    return not_found(walk, node);
}

leat_dataset *leati_sharding_by_files(const leat_dataset *dataset, int num_workers, int worker,
                                      char *text, size_t size, leat_error *err) {
    leat_error local = {0};
    struct walk walk = {
        .num_workers = num_workers, .worker = worker, .text = text, .size = size, .err = &local};
    if (text != NULL && size > 0)
        text[0] = '\0';
    leat_dataset *share = files_below(&walk, dataset, 0);
    leati_sharding_made_fini(&walk.remade);
    if (share == NULL)
        *err = local;
    return share;
}

static leat_dataset *hints_below(struct walk *walk, const leat_dataset *node, int depth) {
    if (too_deep(walk, depth))
        return NULL;
    if (leati_dataset_shard_is_hint(node)) {
        leat_dataset *input = hints_below(walk, node->inputs[0], depth + 1);
        walk->marked++;
        return input == NULL
                   ? NULL
                   : leati_dataset_shard_for_all(input, walk->num_workers, walk->worker, walk->err);
    }
    return over_inputs(walk, node, hints_below, depth);
}

leat_dataset *leati_sharding_by_hints(const leat_dataset *dataset, int num_workers, int worker,
                                      int *marked, leat_error *err) {
    struct walk walk = {.num_workers = num_workers, .worker = worker, .err = err};
    leat_dataset *share = hints_below(&walk, dataset, 0);
    leati_sharding_made_fini(&walk.remade);
    *marked = walk.marked;
    return share;
}
