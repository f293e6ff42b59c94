/* Users' generators: see generator.h. No lock is held while their code runs. */
#include "data/plan/generator.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/fork.h"
#include "core/names.h"
#include <string.h>

static leati_names registry = {.lock = PTHREAD_MUTEX_INITIALIZER};
LEATI_FORK_LOCK(generators, &registry.lock);

static void generator_free(leat_object *object) {
    leati_generator *generator = (leati_generator *)(void *)object;
    if (generator->release != NULL)
        generator->release(generator->context);
    leati_turn_fini(&generator->turn);
    leati_free(generator->name);
    leati_free(generator);
}

static const leati_object_type generator_type = {.name = "generator", .free = generator_free};

leati_generator *leati_generator_new(const leat_generator *functions, void *context,
                                     const char *name, uint32_t flags, leat_error *err) {
    leati_generator *generator = leati_alloc_zero(1, sizeof(*generator));
    char *copy = leati_strdup(name);
    /* Only a registered generator has a name. */
    if (generator == NULL || (name != NULL && copy == NULL)) {
        leati_free(generator);
        leati_free(copy);
        leati_no_memory(err);
        return NULL;
    }
    leati_object_init(&generator->object, &generator_type);
    leati_turn_init(&generator->turn);
    generator->name = copy;
    generator->functions = *functions;
    generator->context = context;
    generator->flags = flags;
    return generator;
}

leati_generator *leati_generator_named(const char *name, leat_error *err) {
    leati_generator *found = leati_names_find(&registry, name);
    if (found == NULL) {
        leati_fail(err, LEAT_NOT_FOUND,
                   "generator \"%s\" is not registered; call leat_generator_register before "
                   "reading the plan",
                   name != NULL ? name : "(unnamed)");
    }
    return found;
}

bool leati_generator_is_registered(const leati_generator *generator) {
    leati_generator *found = leati_names_find(&registry, generator->name);
    leati_object_unref(found);
    return found != NULL;
}

leat_status leat_generator_register(const char *name, const leat_generator *generator,
                                    void *context, uint32_t flags, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (name == NULL || name[0] == '\0')
        return leati_refuse(err, VALUE, "a registered generator needs a name");
    if (generator == NULL)
        return leati_names_set(&registry, name, NULL, err);
    if (generator->next == NULL)
        return leati_refuse(err, VALUE, "generator \"%s\": next is NULL; pass a function", name);
    leati_generator *object = leati_generator_new(generator, context, name, flags, err);
    return object == NULL ? LEAT_RESOURCE_EXHAUSTED
                          : leati_names_set(&registry, name, &object->object, err);
}

/* ---- calling ---- */

/* One that was declared pure may run on several threads at once. */
static void enter(leati_generator *generator) {
    if ((generator->flags & LEAT_PURE) == 0)
        leati_turn_enter(&generator->turn);
}

static void leave(leati_generator *generator) {
    if ((generator->flags & LEAT_PURE) == 0)
        leati_turn_leave(&generator->turn);
}

static leat_status report(const leati_generator *generator, leat_status status,
                          const leat_error *failure, leat_error *err) {
    return leati_fail_callback(err, status, failure, "generator", generator->name);
}

leat_status leati_generator_open(leati_generator *generator, const leat_element *args, void **run,
                                 leat_error *err) {
    static const leat_element none;
    leat_error failure = {0};
    *run = NULL;
    if (generator->functions.open == NULL)
        return LEAT_OK;
    enter(generator);
    leat_status status = generator->functions.open(
        generator->context, args->spec != NULL ? args : &none, run, &failure);
    leave(generator);
    return status == LEAT_OK ? LEAT_OK : report(generator, status, &failure, err);
}

leat_status leati_generator_next(leati_generator *generator, void *run, leat_element *out,
                                 leat_error *err) {
    leat_error failure = {0};
    enter(generator);
    leat_status status = generator->functions.next(generator->context, run, out, &failure);
    leave(generator);
    /* OUT_OF_RANGE is how a generator ends, and needs no text. */
    return status == LEAT_OK || status == LEAT_OUT_OF_RANGE
               ? status
               : report(generator, status, &failure, err);
}

void leati_generator_close(leati_generator *generator, void *run) {
    if (generator->functions.close != NULL) {
        enter(generator);
        generator->functions.close(generator->context, run);
        leave(generator);
    }
}
