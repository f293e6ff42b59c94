/* The plan: building nodes, their shared state, labels and fingerprints.
 *
 * leati_dataset_new is the only way into existence: arguments are copied and range-checked by their
 * rows, the operator checks the rest, then spec, cardinality and purity are computed once. A
 * failure releases everything, the given inputs included. Locks: `share_lock` is held while an
 * operator makes its shared state; share functions call no other dataset. */
#include "data/plan/dataset.h"
#include "base/fork.h"
#include "base/hash.h"
#include "base/random.h"
#include <pthread.h>
#include <string.h>

static pthread_mutex_t share_lock = PTHREAD_MUTEX_INITIALIZER;
LEATI_FORK_LOCK(shares, &share_lock);

static void dataset_free(leat_object *object) {
    leat_dataset *dataset = (leat_dataset *)object;
    /* Copies only borrow it. */
    if (dataset->shared != NULL && dataset->origin == dataset)
        dataset->op->unshare(dataset->shared);
    if (dataset->origin != dataset)
        leat_dataset_unref(dataset->origin);
    for (int i = 0; i < dataset->num_inputs; i++)
        leat_dataset_unref(dataset->inputs[i]);
    leati_free(dataset->inputs);
    if (dataset->args != NULL) {
        leati_rows_fini(dataset->op->rows, dataset->args);
        leati_free(dataset->args);
    }
    leat_spec_unref(dataset->spec);
    leati_free(dataset->label);
    leati_free(dataset);
}

static uint64_t dataset_hash(const leat_object *object, uint64_t seed) {
    uint64_t fingerprint = leat_dataset_fingerprint((const leat_dataset *)object);
    return leati_hash(&fingerprint, sizeof fingerprint, seed);
}

static const leati_object_type dataset_type = {
    .name = "dataset", .free = dataset_free, .hash = dataset_hash};

bool leati_dataset_of_object_check(const leat_object *object) {
    return object != NULL && object->type == &dataset_type;
}

leat_dataset *leat_dataset_ref(leat_dataset *dataset) {
    return leati_object_ref(dataset);
}

void leat_dataset_unref(leat_dataset *dataset) {
    leati_object_unref(dataset);
}

const leat_spec *leat_dataset_spec(const leat_dataset *dataset) {
    return dataset == NULL ? NULL : dataset->spec;
}

int64_t leat_dataset_cardinality(const leat_dataset *dataset) {
    return dataset == NULL ? LEAT_UNKNOWN_CARDINALITY : dataset->cardinality;
}

/* ---- defaults of the descriptor's plan side ---- */

static int64_t default_cardinality(const leat_dataset *dataset) {
    leati_flow flow = dataset->op->flow;
    if ((flow == LEATI_ONE_TO_ONE || flow == LEATI_REORDERS) && dataset->num_inputs > 0)
        return dataset->inputs[0]->cardinality;
    return LEAT_UNKNOWN_CARDINALITY;
}

uint32_t leati_dataset_functions_flags(const leati_row *rows, const void *args) {
    uint32_t flags = 0;
    for (const leati_row *row = rows; row != NULL && row->type != LEATI_ROW_END; row++) {
        const leat_function *function =
            row->type == LEATI_ROW_FUNCTION
                ? *(leat_function *const *)((const char *)args + row->offset)
                : NULL;
        flags |= function == NULL ? 0 : function->flags;
    }
    return flags;
}

static leat_status visit_attributes(const leati_row *rows, const void *args,
                                    leati_captured_visit visit, void *context, leat_error *err);

/* A function without effects and state holds pure datasets alone. */
static leat_status visit_function(const leat_function *function, leati_captured_visit visit,
                                  void *context, leat_error *err) {
    bool may_hold = function != NULL && (function->flags & (LEATI_IMPURE | LEATI_STATEFUL)) != 0;
    leat_status status = LEAT_OK;
    for (size_t i = 0; may_hold && i < function->body.num_nodes && status == LEAT_OK; i++) {
        const leati_node *node = &function->body.nodes[i];
        status = visit_attributes(node->op->rows, node->args, visit, context, err);
    }
    return status;
}

static leat_status visit_attributes(const leati_row *rows, const void *args,
                                    leati_captured_visit visit, void *context, leat_error *err) {
    leat_status status = LEAT_OK;
    for (const leati_row *row = rows;
         row != NULL && row->type != LEATI_ROW_END && status == LEAT_OK; row++) {
        const void *at = (const char *)args + row->offset;
        if (row->type == LEATI_ROW_FUNCTION) {
            status = visit_function(*(leat_function *const *)at, visit, context, err);
        } else if (row->type == LEATI_ROW_OBJECT &&
                   leati_dataset_of_object_check(*(leat_object *const *)at)) {
            const leat_dataset *dataset = *(leat_dataset *const *)at;
            status = dataset->pure ? LEAT_OK : visit(dataset, context, err);
        }
    }
    return status;
}

leat_status leati_dataset_visit_captured(const leat_dataset *dataset, leati_captured_visit visit,
                                         void *context, leat_error *err) {
    leat_status status = LEAT_OK;
    for (const leati_row *row = dataset->op->rows;
         row != NULL && row->type != LEATI_ROW_END && status == LEAT_OK; row++) {
        if (row->type == LEATI_ROW_FUNCTION) {
            const void *at = (const char *)dataset->args + row->offset;
            status = visit_function(*(leat_function *const *)at, visit, context, err);
        }
    }
    return status;
}

bool leati_dataset_has_effects(const leat_dataset *dataset) {
    return (leati_dataset_functions_flags(dataset->op->rows, dataset->args) &
            (LEATI_IMPURE | LEATI_STATEFUL)) != 0;
}

const leat_dataset *leati_dataset_with_functions(const leat_dataset *dataset, uint32_t flags) {
    uint32_t own = leati_dataset_functions_flags(dataset->op->rows, dataset->args);
    const leat_dataset *found = (own & flags) != 0 ? dataset : NULL;
    for (int i = 0; i < dataset->num_inputs && found == NULL; i++)
        found = leati_dataset_with_functions(dataset->inputs[i], flags);
    return found;
}

static leat_status note_remote(const leat_dataset *dataset, void *context, leat_error *err) {
    bool *remote = context;
    (void)err;
    *remote = *remote || leati_dataset_is_remote(dataset);
    return LEAT_OK;
}

bool leati_dataset_is_remote(const leat_dataset *dataset) {
    bool remote = (dataset->op->flags & LEATI_OP_REMOTE) != 0;
    for (int i = 0; i < dataset->num_inputs && !remote; i++)
        remote = leati_dataset_is_remote(dataset->inputs[i]);
    if (!remote &&
        leati_dataset_visit_captured(dataset, note_remote, &remote, &(leat_error){0}) != LEAT_OK)
        return remote;
    return remote;
}

static bool own_purity(const leat_dataset *dataset) {
    if (dataset->op->pure != NULL)
        return dataset->op->pure(dataset);
    return (dataset->op->flags & LEATI_OP_IMPURE) == 0 && !leati_dataset_has_effects(dataset);
}

static leat_status no_spec(const leat_dataset *dataset, leat_error *err) {
    /* Without a code the slot gave NULL and said nothing, which is a mistake of the operator. */
    return err->code != LEAT_OK
               ? err->code
               : leati_fail(err, LEAT_INTERNAL, "%s has no element spec", dataset->op->name);
}

/* A node that stands for a plan of other operators is what that plan is. */
static leat_status describe_expanded(leat_dataset *dataset, leat_error *err) {
    const leati_dataset_op *op = dataset->op;
    leat_dataset *plan = op->expand(dataset, err);
    if (plan == NULL)
        return no_spec(dataset, err);
    dataset->spec = leat_spec_ref(plan->spec);
    dataset->cardinality = op->cardinality != NULL ? op->cardinality(dataset) : plan->cardinality;
    dataset->pure = plan->pure;
    dataset->replayable = plan->replayable;
    leat_dataset_unref(plan);
    return LEAT_OK;
}

static leat_status describe(leat_dataset *dataset, leat_error *err) {
    const leati_dataset_op *op = dataset->op;
    if (op->check != NULL)
        LEATI_TRY(op->check(dataset, err));
    if (op->expand != NULL)
        return describe_expanded(dataset, err);
    dataset->spec = op->spec != NULL          ? op->spec(dataset, err)
                    : dataset->num_inputs > 0 ? leat_spec_ref(dataset->inputs[0]->spec)
                                              : NULL;
    if (dataset->spec == NULL)
        return no_spec(dataset, err);
    dataset->cardinality =
        op->cardinality != NULL ? op->cardinality(dataset) : default_cardinality(dataset);
    dataset->replayable = own_purity(dataset);
    /* Seeds drawn from a shared generator come again from a saved state, but asking ahead takes
     * them from others. */
    dataset->pure = dataset->replayable && (dataset->op->flags & LEATI_OP_SHARED_DRAW) == 0;
    for (int i = 0; i < dataset->num_inputs; i++) {
        dataset->pure = dataset->pure && dataset->inputs[i]->pure;
        dataset->replayable = dataset->replayable && dataset->inputs[i]->replayable;
    }
    return LEAT_OK;
}

leati_stop_scope leati_dataset_enter(const leat_dataset *dataset) {
    return dataset->is_local ? leati_stop_enter_local() : leati_stop_enter(NULL, NULL, NULL);
}

/* Releases given inputs and reports the first failure that led here. */
leat_dataset *leati_dataset_give_up(leat_dataset *const *inputs, int num_inputs) {
    for (int i = 0; i < num_inputs; i++)
        leat_dataset_unref(inputs[i]);
    return NULL;
}

leat_error *leati_dataset_error(leat_dataset *const *inputs, int num_inputs, leat_error *err,
                                leat_error *unwanted) {
    for (int i = 0; i < num_inputs; i++)
        if (inputs[i] == NULL && err->code != LEAT_OK)
            return unwanted;
    return err;
}

static leat_dataset *dataset_alloc(const leati_dataset_op *op, leat_dataset *const *inputs,
                                   int num_inputs, leat_error *err) {
    leat_dataset *dataset = leati_alloc_zero(1, sizeof(*dataset));
    if (dataset == NULL) {
        leati_no_memory(err);
        return leati_dataset_give_up(inputs, num_inputs);
    }
    leati_object_init(&dataset->object, &dataset_type);
    dataset->op = op;
    dataset->origin = dataset;
    dataset->inputs = leati_alloc((size_t)num_inputs, sizeof(*dataset->inputs));
    dataset->args = leati_alloc_zero(1, op->args_size);
    /* The inputs are not in the node yet: freeing it does not release them. */
    if (dataset->inputs == NULL || dataset->args == NULL) {
        leati_no_memory(err);
        leat_dataset_unref(dataset);
        return leati_dataset_give_up(inputs, num_inputs);
    }
    dataset->is_local = leati_stop_is_local();
    for (int i = 0; i < num_inputs; i++) {
        dataset->inputs[i] = inputs[i];
        dataset->is_local = dataset->is_local || inputs[i]->is_local;
    }
    dataset->num_inputs = num_inputs;
    return dataset;
}

static leat_status fill(leat_dataset *dataset, const void *args, leat_error *err) {
    const leati_dataset_op *op = dataset->op;
    leat_status status = args != NULL ? leati_rows_copy(op->rows, args, dataset->args, err)
                                      : leati_rows_defaults(op->rows, dataset->args, err);
    if (status == LEAT_OK)
        /* The rows' own bounds first: the operator's check builds on them. */
        status = leati_rows_check(op->rows, dataset->args, op->name, err);
    return status == LEAT_OK ? describe(dataset, err) : status;
}

leat_dataset *leati_dataset_new(const leati_dataset_op *op, const void *args,
                                leat_dataset *const *inputs, int num_inputs, leat_error *err) {
    for (int i = 0; i < num_inputs; i++) {
        if (inputs[i] == NULL) {
            if (err->code == LEAT_OK)
                leati_refuse(err, VALUE, "%s: input dataset %d is NULL; pass a dataset", op->name,
                             i);
            return leati_dataset_give_up(inputs, num_inputs);
        }
    }
    if (op->num_inputs >= 0 && num_inputs != op->num_inputs) {
        leati_refuse(err, VALUE, "%s: expected %d input datasets, found %d", op->name,
                     op->num_inputs, num_inputs);
        return leati_dataset_give_up(inputs, num_inputs);
    }
    /* Operators' functions look at the code of their record, and the caller's may hold an old
     * failure. */
    leat_error fresh = {0};
    leat_dataset *dataset = dataset_alloc(op, inputs, num_inputs, err);
    if (dataset == NULL)
        return NULL;
    if (fill(dataset, args, &fresh) != LEAT_OK) {
        *err = fresh;
        leat_dataset_unref(dataset);
        return NULL;
    }
    return dataset;
}

leat_dataset *leati_dataset_with(const leat_dataset *dataset, const void *args,
                                 leat_dataset *const *inputs, leat_error *err) {
    leat_dataset *copy = leati_dataset_new(dataset->op, args != NULL ? args : dataset->args, inputs,
                                           dataset->num_inputs, err);
    if (copy == NULL)
        return NULL;
    copy->is_local = copy->is_local || dataset->is_local;
    if (dataset->label != NULL) {
        copy->label = leati_strdup(dataset->label);
        if (copy->label == NULL) {
            leati_no_memory(err);
            leat_dataset_unref(copy);
            return NULL;
        }
    }
    /* Of a copy of a copy the origin is the same, so no chain of copies is kept alive. */
    copy->origin = leat_dataset_ref(dataset->origin);
    return copy;
}

void *leati_dataset_shared(const leat_dataset *dataset, leat_error *err) {
    leat_dataset *origin = dataset->origin;
    if (origin->op->share == NULL) {
        leati_fail(err, LEAT_INTERNAL, "%s has no shared state", origin->op->name);
        return NULL;
    }
    pthread_mutex_lock(&share_lock);
    /* Under the lock of the process: two iterators that begin at once make one state. */
    if (origin->shared == NULL)
        origin->shared = origin->op->share(origin, err);
    void *shared = origin->shared;
    pthread_mutex_unlock(&share_lock);
    return shared;
}

leat_dataset *leat_dataset_label(leat_dataset *dataset, const char *label, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (dataset == NULL)
        return NULL;
    char *copy = leati_strdup(label != NULL ? label : "");
    if (copy == NULL) {
        leati_no_memory(err);
        leat_dataset_unref(dataset);
        return NULL;
    }
    leati_free(dataset->label);
    dataset->label = copy;
    return dataset;
}

/* ---- fingerprint ---- */

static uint64_t mix(uint64_t hash, const void *data, size_t size) {
    return leati_hash(data, size, hash);
}

static uint64_t hash_element(const leat_element *element, uint64_t hash) {
    for (int c = 0; c < element->num_tensors; c++) {
        const leat_tensor *tensor = &element->tensors[c];
        leat_shape shape = leat_tensor_shape(tensor);
        const char *dtype = leat_dtype_name(tensor->dtype);
        hash = mix(hash, dtype, strlen(dtype));
        hash = mix(hash, shape.dims, (size_t)shape.rank * sizeof(shape.dims[0]));
        if (tensor->dtype == LEAT_STRING) {
            const leat_string *strings = tensor->data;
            for (int64_t i = 0; i < leat_tensor_count(tensor); i++) {
                hash = mix(hash, &strings[i].size, sizeof(strings[i].size));
                hash = mix(hash, strings[i].data, strings[i].size);
            }
        } else if (tensor->dtype != LEAT_OBJECT) {
            hash = mix(hash, tensor->data, leat_tensor_bytes(tensor));
        }
    }
    return hash;
}

/* The text of a short spec; of one that is longer than what is kept of the text, all of it. */
static uint64_t hash_spec(const leati_row *row, const void *field, uint64_t hash) {
    char text[1024];
    const leat_spec *spec = *(leat_spec *const *)field;
    size_t size = spec == NULL ? 0 : leat_spec_print(spec, text, sizeof(text));
    return size < sizeof(text) ? mix(hash, text, size) : leati_row_hash(row, field, hash);
}

/* States that were saved carry this number, so types keep the form that it was first made of; what
 * is not named here counts as it does in functions. */
static uint64_t hash_row(const leati_row *row, const void *args, uint64_t hash) {
    const char *field = (const char *)args + row->offset;
    hash = mix(hash, row->name, strlen(row->name));
    switch (row->type) {
    case LEATI_ROW_BOOL:
    case LEATI_ROW_BOOL_OR_NONE: return mix(hash, field, 1);
    case LEATI_ROW_SHAPE: {
        const leat_shape *shape = (const leat_shape *)field;
        hash = mix(hash, &shape->rank, sizeof(shape->rank));
        return shape->rank > 0
                   ? mix(hash, shape->dims, (size_t)shape->rank * sizeof(shape->dims[0]))
                   : hash;
    }
    case LEATI_ROW_SPEC: return hash_spec(row, field, hash);
    case LEATI_ROW_INTS: {
        const leati_ints *ints = (const leati_ints *)field;
        return mix(hash, ints->values, (size_t)ints->count * sizeof(int64_t));
    }
    case LEATI_ROW_FLOATS: {
        const leati_floats *floats = (const leati_floats *)field;
        return mix(hash, floats->values, (size_t)floats->count * sizeof(double));
    }
    case LEATI_ROW_STRINGS: {
        const leati_strings *strings = (const leati_strings *)field;
        for (int i = 0; i < strings->count; i++)
            hash = mix(hash, strings->values[i].data, strings->values[i].size);
        return mix(hash, &strings->count, sizeof(strings->count));
    }
    case LEATI_ROW_ELEMENT: return hash_element((const leat_element *)field, hash);
    case LEATI_ROW_FUNCTION:
        return *(leat_object *const *)field == NULL ? hash : leati_row_hash(row, field, hash);
    /* Seeds that were not given resolve differently in each process; a given one is part of the
     * resolved pair's rows. */
    case LEATI_ROW_SEED:
    case LEATI_ROW_OBJECT: return hash;
    default: return leati_row_hash(row, field, hash);
    }
}

uint64_t leat_dataset_fingerprint(const leat_dataset *dataset) {
    if (dataset == NULL)
        return 0;
    /* Immutable, so any thread may compute it; they all find the same. */
    _Atomic uint64_t *kept = &((leat_dataset *)dataset)->fingerprint;
    uint64_t hash = atomic_load_explicit(kept, memory_order_relaxed);
    /* A hash that is 0 by chance is computed at each call. */
    if (hash != 0)
        return hash;
    /* The version is the seed, so states of another version of the operator do not fit. */
    hash = mix((uint64_t)dataset->op->version, dataset->op->name, strlen(dataset->op->name));
    for (const leati_row *row = dataset->op->rows; row != NULL && row->type != LEATI_ROW_END;
         row++) {
        /* What construction filled in (a fresh seed) differs from process to process; states carry
         * it themselves. */
        hash = row->flags & (LEATI_CONSTRUCT | LEATI_PLACE) ? hash
                                                            : hash_row(row, dataset->args, hash);
    }
    for (int i = 0; i < dataset->num_inputs; i++) {
        uint64_t input = leat_dataset_fingerprint(dataset->inputs[i]);
        hash = mix(hash, &input, sizeof(input));
    }
    atomic_store_explicit(kept, hash, memory_order_relaxed);
    return hash;
}
