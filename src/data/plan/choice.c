/* Copies of choice datasets, one per further use of a node, made on demand under the lock of the
 * record, which is a leaf: nothing but constructors runs under it. */
#include "data/plan/choice.h"
#include <pthread.h>

struct choices {
    pthread_mutex_t lock; /* guards both fields below */
    leat_dataset **copies;
    int64_t count;
};

void *leati_choices_share(const leat_dataset *dataset, leat_error *err) {
    (void)dataset;
    struct choices *choices = leati_alloc_zero(1, sizeof(*choices));
    if (choices == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    pthread_mutex_init(&choices->lock, NULL);
    return choices;
}

void leati_choices_unshare(void *shared) {
    struct choices *choices = shared;
    for (int64_t i = 0; i < choices->count; i++)
        leat_dataset_unref(choices->copies[i]);
    leati_free((void *)choices->copies);
    pthread_mutex_destroy(&choices->lock);
    leati_free(choices);
}

/* A copy of the tree with shared states of its own; what others hold too stays theirs. Owned. */
static leat_dataset *own_copy(leat_dataset *dataset, leat_error *err) {
    if (atomic_load(&dataset->object.refs) > 1)
        return leat_dataset_ref(dataset);
    leat_dataset **inputs = leati_alloc_zero((size_t)dataset->num_inputs, sizeof(*inputs));
    if (inputs == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    /* A failed copy leaves NULL, which the constructor passes through with the error. */
    for (int i = 0; i < dataset->num_inputs; i++)
        inputs[i] = own_copy(dataset->inputs[i], err);
    leat_dataset *copy =
        leati_dataset_new(dataset->op, dataset->args, inputs, dataset->num_inputs, err);
    leati_free((void *)inputs);
    return copy;
}

static leat_status grow(struct choices *choices, leat_dataset *choice, leat_error *err) {
    /* Room first, so that a copy that was made can be kept. */
    size_t count = (size_t)choices->count + 1;
    leat_dataset **copies = leati_alloc_resize((void *)choices->copies, count, sizeof(*copies));
    if (copies == NULL)
        return leati_no_memory(err);
    choices->copies = copies;
    leat_error local = {0};
    leat_dataset *copy = own_copy(choice, &local);
    if (copy == NULL) {
        *err = local;
        return local.code;
    }
    copies[choices->count++] = copy;
    return LEAT_OK;
}

leat_dataset *leati_choice_of_use(const leat_dataset *choose, int64_t use, leat_error *err) {
    leat_dataset *choice = choose->inputs[choose->num_inputs - 1];
    /* The first use is the choice as the user made it. */
    if (use == 0)
        return leat_dataset_ref(choice);
    struct choices *choices = leati_dataset_shared(choose, err);
    if (choices == NULL)
        return NULL;
    pthread_mutex_lock(&choices->lock);
    leat_status status = LEAT_OK;
    /* The copies are kept: the same use has the same seed generators in every iterator. */
    while (status == LEAT_OK && choices->count < use)
        status = grow(choices, choice, err);
    leat_dataset *copy = status == LEAT_OK ? leat_dataset_ref(choices->copies[use - 1]) : NULL;
    pthread_mutex_unlock(&choices->lock);
    return copy;
}
