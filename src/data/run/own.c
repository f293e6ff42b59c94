/* The table of a restored iterator's own states, by the node that owns the shared one.
 *
 * Happy path: new lists the nodes when an iterator opens its plan; begin makes states for them,
 * restoring fills these, settle lets the shared ones follow. The list never changes and the states
 * only between two runs, so lookups take no lock. Datasets that a function makes anew for each call
 * are not listed: their shared states are the call's alone. Failures: want of memory. */
#include "data/run/own.h"
#include "data/plan/seed_generator.h"

struct own_state {
    const leat_dataset *node; /* the origin; a reference */
    const leat_dataset *copy; /* as it runs in the plan; a reference */
    void *state;  /* NULL: the shared one; a view of a generator, or the iterator's own */
    int64_t uses; /* places of the plan */
};

struct leati_own {
    struct own_state *states;
    size_t count, capacity;
};

static struct own_state *find(const leati_own *own, const leat_dataset *dataset) {
    for (size_t i = 0; own != NULL && i < own->count; i++)
        if (own->states[i].node == dataset->origin)
            return &own->states[i];
    return NULL;
}

static leat_status list_nodes(const leat_dataset *dataset, void *context, leat_error *err) {
    leati_own *own = context;
    const leat_dataset *origin = dataset->origin;
    if (origin->op->shared_settle != NULL && find(own, dataset) == NULL) {
        if (!leati_grow((void **)&own->states, &own->capacity, own->count + 1,
                        sizeof(*own->states)))
            return leati_no_memory(err);
        own->states[own->count++] =
            (struct own_state){.node = leat_dataset_ref((leat_dataset *)origin),
                               .copy = leat_dataset_ref((leat_dataset *)dataset)};
    }
    if (origin->op->shared_settle != NULL)
        find(own, dataset)->uses++;
    for (int i = 0; i < dataset->num_inputs; i++)
        LEATI_TRY(list_nodes(dataset->inputs[i], own, err));
    return leati_dataset_visit_captured(dataset, list_nodes, own, err);
}

static bool is_generator(const struct own_state *s) {
    return (s->node->op->flags & LEATI_OP_SEED_GENERATOR) != 0;
}

/* Iterators draw from shared generators through views of their own. */
static leat_status make_views(leati_own *own, leat_error *err) {
    for (size_t i = 0; i < own->count; i++) {
        struct own_state *s = &own->states[i];
        void *shared = is_generator(s) ? leati_dataset_shared(s->node, err) : NULL;
        if (shared != NULL)
            s->state = leati_seed_generator_view(shared, err);
        if (is_generator(s) && s->state == NULL)
            return err->code;
    }
    return LEAT_OK;
}

leati_own *leati_own_new(const leat_dataset *plan, leat_error *err) {
    leati_own *own = leati_alloc_zero(1, sizeof(*own));
    if (own == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    leat_error local = {0};
    if (list_nodes(plan, own, &local) != LEAT_OK || make_views(own, &local) != LEAT_OK) {
        *err = local;
        leati_own_free(own);
        return NULL;
    }
    return own;
}

/* Back to the shared states. */
static void drop_states(leati_own *own) {
    for (size_t i = 0; i < own->count; i++) {
        struct own_state *s = &own->states[i];
        if (s->state != NULL)
            s->node->op->unshare(s->state);
        s->state = NULL;
    }
}

void leati_own_free(leati_own *own) {
    if (own == NULL)
        return;
    drop_states(own);
    for (size_t i = 0; i < own->count; i++) {
        leat_dataset_unref((leat_dataset *)own->states[i].node);
        leat_dataset_unref((leat_dataset *)own->states[i].copy);
    }
    leati_free(own->states);
    leati_free(own);
}

leat_status leati_own_begin(leati_own *own, leat_error *err) {
    leat_error local = {0};
    drop_states(own);
    for (size_t i = 0; i < own->count && local.code == LEAT_OK; i++) {
        struct own_state *s = &own->states[i];
        void *shared = leati_dataset_shared(s->node, &local);
        if (shared != NULL)
            s->state = s->node->op->share(s->node, &local);
        if (s->state != NULL && s->node->op->shared_copy != NULL)
            s->node->op->shared_copy(s->state, shared);
    }
    if (local.code == LEAT_OK)
        return LEAT_OK;
    drop_states(own);
    return leati_error_pass(err, &local);
}

void leati_own_settle(leati_own *own) {
    for (size_t i = 0; i < own->count; i++) {
        struct own_state *s = &own->states[i];
        if (s->state != NULL)
            s->node->op->shared_settle(s->state, s->node->shared);
    }
}

void *leati_own_shared(const leati_own *own, const leat_dataset *dataset, leat_error *err) {
    const struct own_state *s = find(own, dataset);
    return s != NULL && s->state != NULL ? s->state : leati_dataset_shared(dataset, err);
}

void *leati_own_beside(const leati_own *own, const leat_dataset *dataset) {
    const struct own_state *s = find(own, dataset);
    return s != NULL && s->state != NULL ? s->node->shared : NULL;
}

bool leati_own_lists(const leati_own *own, const leat_dataset *dataset) {
    return find(own, dataset) != NULL;
}

struct count {
    const leat_dataset *node;
    int64_t uses;
};

static leat_status count_uses(const leat_dataset *dataset, void *context, leat_error *err) {
    struct count *count = context;
    count->uses += dataset->origin == count->node;
    for (int i = 0; i < dataset->num_inputs; i++)
        LEATI_TRY(count_uses(dataset->inputs[i], count, err));
    return leati_dataset_visit_captured(dataset, count_uses, count, err);
}

/* A state without places that were not open yet has not told them that the node was empty: they
 * would read what is kept by then, and not draw. That matters where its places differ. */
static bool fills(const leati_own *own, const struct own_state *s) {
    void *state =
        s->node->op->shared_empty == NULL ? NULL : leati_own_shared(own, s->node, &(leat_error){0});
    return state != NULL && s->node->op->shared_empty(s->node, state) &&
           !leati_own_replays(own, s->copy->inputs[0]);
}

bool leati_own_replays(const leati_own *own, const leat_dataset *dataset) {
    bool replays = dataset->replayable;
    for (size_t i = 0; own != NULL && i < own->count && replays; i++) {
        const struct own_state *s = &own->states[i];
        struct count count = {.node = s->node};
        /* Most nodes are used once, and so need no count. */
        bool counted = s->uses > 1 && count_uses(dataset, &count, &(leat_error){0}) == LEAT_OK;
        replays = !counted || count.uses == 0 || (count.uses == s->uses && !fills(own, s));
    }
    return replays;
}

bool leati_own_alternates(const leati_own *own) {
    bool alternates = false;
    for (size_t i = 0; own != NULL && i < own->count && !alternates; i++) {
        const struct own_state *s = &own->states[i];
        alternates =
            is_generator(s) && s->state != NULL && leati_seed_generator_alternates(s->state);
    }
    return alternates;
}

leat_status leati_own_save(const leati_own *own, leati_writer *out, leati_save_cost *cost,
                           leat_error *err) {
    cost->alternates = leati_own_alternates(own);
    for (size_t i = 0; i < own->count; i++) {
        const struct own_state *s = &own->states[i];
        if (s->node->op->shared_save == NULL && !is_generator(s))
            continue;
        void *state = leati_own_shared(own, s->node, err);
        if (state == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
        if (is_generator(s))
            LEATI_TRY(leati_seed_generator_save_pieces(state, out, err));
        else
            LEATI_TRY(s->node->op->shared_save(s->node, state, out, cost, err));
    }
    return LEAT_OK;
}

/* Opens a node whose state is computed again by that, and closes it. */
static leat_status finish(const leat_dataset *dataset, leati_node_state *top, leat_error *err) {
    leati_node_state *node = leati_state_node_open(dataset, top->iteration, top, err);
    leati_state_node_close(node);
    return node == NULL ? err->code : LEAT_OK;
}

leat_status leati_own_restore(leati_own *own, leati_node_state *top, bool pieces, leati_reader *in,
                              leat_error *err) {
    bool *unfinished = leati_alloc_zero(own->count, sizeof(*unfinished));
    leat_status status = unfinished == NULL ? leati_no_memory(err) : LEAT_OK;
    for (size_t i = 0; i < own->count && status == LEAT_OK; i++) {
        const struct own_state *s = &own->states[i];
        if (is_generator(s) && pieces)
            status = leati_seed_generator_restore_pieces(s->state, in, err);
        else if (s->node->op->shared_restore != NULL)
            status = s->node->op->shared_restore(s->node, s->state, s->node->shared, in,
                                                 &unfinished[i], err);
    }
    /* When all are read, because one may lie below another. */
    leat_error local = {0};
    for (size_t i = 0; i < own->count && status == LEAT_OK; i++)
        if (unfinished[i] && (status = finish(own->states[i].copy, top, &local)) != LEAT_OK)
            *err = local;
    leati_free(unfinished);
    return status;
}
