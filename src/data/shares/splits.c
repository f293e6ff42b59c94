/* The plan that workers run over splits; see splits.h.
 *
 * Happy path: the walk makes every node anew, as a tree, because two readers of one node are two
 * sources; sources come to stand below split_source, and a reader of a list of files reads a split
 * dataset of its names. What an operator does with the splits of its inputs its descriptor says
 * (leati_dataset_op.splits). Failures: UNIMPLEMENTED names an operator that does not take part. No
 * locks. */
#include "data/shares/splits.h"
#include "data/shares/sharding.h"
#include "data/source/split_source.h"

enum {
    MOST_DEPTH = 1000,
    MOST_NODES = 1 << 16 /* a node that is read twice counts twice, and so do those below it */
};

struct walk {
    int64_t next;  /* number of the next source */
    int64_t nodes; /* that were made */
    leat_error *err;
};

/* Where a node stands. */
struct place {
    int depth;
    bool local;   /* below an argument: every worker runs it in full */
    bool in_step; /* below an operator whose inputs go in step */
};

static leat_dataset *remade(struct walk *walk, const leat_dataset *node, struct place place);

/* `source` (given; NULL passes through) as the next one whose splits are handed out. */
static leat_dataset *split(struct walk *walk, leat_dataset *source, struct place place,
                           bool whole) {
    if (source == NULL)
        return NULL;
    int64_t count = source->cardinality;
    struct leati_split_source_args args = {.provider = walk->next++,
                                           .splits = whole       ? 1
                                                     : count < 0 ? -1
                                                                 : count,
                                           .whole = whole,
                                           .in_step = place.in_step};
    return leati_dataset_new(&leati_op_split_source, &args, &source, 1, walk->err);
}

static leat_dataset *over_inputs(struct walk *walk, const leat_dataset *node, struct place place) {
    leat_dataset **inputs = leati_alloc_zero((size_t)node->num_inputs, sizeof(*inputs));
    leat_dataset *made = NULL;
    int done = 0;
    bool is_argument = node->op->splits != LEATI_SPLITS_FILES && leati_plan_input_row(node) != NULL;
    if (inputs == NULL) {
        leati_no_memory(walk->err);
        return NULL;
    }
    for (; done < node->num_inputs; done++) {
        struct place below = place;
        below.depth++;
        below.local = place.local || (is_argument && done + 1 == node->num_inputs);
        below.in_step =
            place.in_step || (node->op->splits == LEATI_SPLITS_IN_STEP && node->num_inputs > 1);
        inputs[done] = remade(walk, node->inputs[done], below);
        if (inputs[done] == NULL)
            break;
    }
    if (done == node->num_inputs)
        made = leati_sharding_remake(node, node->args, inputs, walk->err);
    else
        for (int i = 0; i < done; i++)
            leat_dataset_unref(inputs[i]);
    leati_free(inputs);
    return made;
}

static leat_dataset *reader(struct walk *walk, const leat_dataset *node, struct place place) {
    static const leati_strings none;
    if (node->num_inputs > 0)
        return over_inputs(walk, node, place);
    leat_dataset *names = leati_sharding_names(leati_sharding_names_of(node), walk->err);
    names = split(walk, names, place, false);
    return names == NULL ? NULL : leati_sharding_reader_of(node, &none, names, walk->err);
}

/* "data_service" as "DataService", which is what TensorFlow's class is called. */
static void camel(const char *name, char *out, size_t size) {
    size_t n = 0;
    for (bool upper = true; *name != '\0' && n + 1 < size; name++) {
        if (*name != '_')
            out[n++] = upper && *name >= 'a' && *name <= 'z' ? (char)(*name - 'a' + 'A') : *name;
        upper = *name == '_';
    }
    out[n] = '\0';
}

static leat_dataset *refused(struct walk *walk, const leat_dataset *node) {
    const char *label = node->label != NULL ? node->label : "";
    char type[64];
    camel(node->op->name, type, sizeof type);
    leati_fail(walk->err, LEAT_UNIMPLEMENTED,
               "Cannot create split providers for dataset of type %sDataset. Splitting is not "
               "implemented for %s datasets%s%s%s, whose elements workers cannot share under the "
               "sharding policy DYNAMIC; use OFF or DATA, or put it behind the service",
               type, node->op->name, *label != '\0' ? " \"" : "", label,
               *label != '\0' ? "\"" : "");
    return NULL;
}

/* The parts of a plan (given) that stands for a node. */
static leat_dataset *through_plan(struct walk *walk, leat_dataset *plan, struct place place) {
    place.depth++;
    leat_dataset *made = remade(walk, plan, place);
    leat_dataset_unref(plan);
    return made;
}

/* One that stands for a plan may read its input in several places, each of which is a source. */
static leat_dataset *expanded(struct walk *walk, const leat_dataset *node, struct place place) {
    leat_dataset *plan = node->op->expand(node, walk->err);
    return plan == NULL ? NULL : through_plan(walk, plan, place);
}

/* A source that is one split, unless it is made of parts. */
static leat_dataset *whole(struct walk *walk, const leat_dataset *node, struct place place) {
    leat_dataset *parts = node->op->parts == NULL ? NULL : node->op->parts(node, walk->err);
    if (parts != NULL)
        return through_plan(walk, parts, place);
    return walk->err->code != LEAT_OK
               ? NULL
               : split(walk, leati_sharding_remake(node, node->args, NULL, walk->err), place, true);
}

static leat_dataset *remade(struct walk *walk, const leat_dataset *node, struct place place) {
    if (place.depth > MOST_DEPTH || ++walk->nodes > MOST_NODES) {
        leati_refuse(walk->err, VALUE,
                     "a plan deeper than %d operators, or of more than %d where each reader of a "
                     "dataset counts for itself",
                     MOST_DEPTH, MOST_NODES);
        return NULL;
    }
    if (place.local)
        return over_inputs(walk, node, place);
    switch (node->op->splits) {
    case LEATI_SPLITS_ROWS:
        return split(walk, leati_sharding_remake(node, node->args, NULL, walk->err), place, false);
    case LEATI_SPLITS_WHOLE: return whole(walk, node, place);
    case LEATI_SPLITS_FILES: return reader(walk, node, place);
    case LEATI_SPLITS_THROUGH:
        if (node->op->expand != NULL)
            return expanded(walk, node, place);
        return over_inputs(walk, node, place);
    case LEATI_SPLITS_LOCAL:
    case LEATI_SPLITS_IN_STEP: return over_inputs(walk, node, place);
    case LEATI_SPLITS_UNSAID:
    case LEATI_SPLITS_REFUSED: break;
    }
    return refused(walk, node);
}

leat_dataset *leati_splits_plan(const leat_dataset *dataset, leat_error *err) {
    leat_error local = {0};
    struct walk walk = {.err = &local};
    leat_dataset *plan = remade(&walk, dataset, (struct place){0});
    if (plan == NULL)
        *err = local;
    return plan;
}

/* ---- the sources ---- */

/* Writes them to `out` (NULL: they are only counted). */
static int visit_sources(const leat_dataset *node, leati_splits_source *out) {
    int count = 0;
    if (node->op == &leati_op_split_source) {
        const struct leati_split_source_args *args = node->args;
        if (out != NULL) {
            out[args->provider] = (leati_splits_source){
                .splits = args->splits, .in_step = args->in_step, .op = node->inputs[0]->op->name};
        }
        return 1;
    }
    for (int i = 0; i < node->num_inputs; i++)
        count += visit_sources(node->inputs[i], out);
    return count;
}

leat_status leati_splits_sources(const leat_dataset *plan, leati_splits_source **out, int *count,
                                 leat_error *err) {
    int found = visit_sources(plan, NULL);
    leati_splits_source *sources = NULL;
    if (found > 0) {
        sources = leati_alloc_zero((size_t)found, sizeof(*sources));
        if (sources == NULL)
            return leati_no_memory(err);
        visit_sources(plan, sources);
    }
    *out = sources;
    *count = found;
    return LEAT_OK;
}
