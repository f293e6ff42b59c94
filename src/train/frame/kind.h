/* What layers, losses, optimizers, metrics and initialisers have in common: a descriptor with
 * Keras' class name and Keras' arguments as rows, kept in one table per sort. */
#ifndef LEATI_TRAIN_FRAME_KIND_H
#define LEATI_TRAIN_FRAME_KIND_H

#include "core/row.h"
#include <jansson.h>
#include <leat/graph.h>
#include <leat/train.h>

/* The first member of every descriptor. */
typedef struct leati_kind {
    const char *name;      /* Keras' class name: "Conv2D" */
    const char *doc;       /* one sentence, and the Keras symbol */
    const leati_row *rows; /* Keras' argument names */
    /* Keras' parameters in its order, where the rows alone do not say them: words NAME, or
     * NAME=JSON with the default. A word that is no row is an argument that a binding sees to (a
     * regularizer), a row that is no word one that Keras does not have. NULL: the rows. */
    const char *signature;
    /* What Keras' get_config() says in another order than the signature, or not at all: words NAME
     * stand first, behind "..." last; those before it come behind name, trainable, dtype and
     * reduction, unless one of these is a word too. NAME? is said only where it is not the default,
     * which Keras leaves out and loses; NAME=JSON always, which is no argument here. NULL: nothing.
     */
    const char *config;
    size_t args_size;
    /* What the rows cannot say about valid arguments; NULL: nothing. */
    leat_status (*check)(const void *args, leat_error *err);
} leati_kind;

#define LEATI_MAX_WEIGHTS 8

/* One weight of a layer, or one state of a metric, as a kind describes it. */
typedef struct leati_weight {
    const char *name; /* "kernel"; static */
    leat_shape shape;
    const char *initializer; /* name; borrowed from the arguments */
    bool fixed;              /* not trainable */
    double start;            /* of an optimizer's slot: what it is filled with */
    bool copies;             /* in its place: the values of the variable that it belongs to */
    leat_dtype dtype;        /* LEAT_INVALID: float32 */
    /* The state of a generator, int64 [2]: the layer's seed, and how often it was drawn from. */
    bool is_seed;
} leati_weight;

typedef struct leati_weights {
    leati_weight list[LEATI_MAX_WEIGHTS]; /* in Keras' order */
    int count;
} leati_weights;

/* One call of a layer or update of a metric. All values are of one graph, and none has failed. */
typedef struct leati_pass {
    const void *args;
    const leat_value *inputs;
    int num_inputs;
    const leat_value *sample_weight; /* of a metric; NULL: none */
    const leat_value *weights;       /* as the kind lists them */
    leat_value *updates;             /* new values of weights that change; failed at first */
    bool training;
} leati_pass;

/* The tables, for `leat ops`, the recorded cases and constructors by name. */
const leati_kind *const *leati_kinds_layer(size_t *count);
const leati_kind *const *leati_kinds_loss(size_t *count);
const leati_kind *const *leati_kinds_optimizer(size_t *count);
const leati_kind *const *leati_kinds_metric(size_t *count);
const leati_kind *const *leati_kinds_initializer(size_t *count);
const leati_kind *const *leati_kinds_schedule(size_t *count);

/* The descriptor of that name in a table, or NULL with NOT_FOUND that lists the names there are.
 * `sort` says what the table holds ("layer"). */
const leati_kind *leati_kind_find(const leati_kind *const *kinds, size_t count, const char *sort,
                                  const char *name, leat_error *err);

/* New arguments: a checked deep copy of `from` (borrowed), or from a JSON object of arguments
 * (NULL: the defaults). Owned (leati_kind_args_free). */
LEAT_WARN_UNUSED leat_status leati_kind_args_copy(const leati_kind *kind, const void *from,
                                                  void **out, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_kind_args_read(const leati_kind *kind, const json_t *config,
                                                  void **out, leat_error *err);
void leati_kind_args_free(const leati_kind *kind, void *args);

/* Is the part a line of the table `sort`? */
bool leati_kind_part_is(const leat_part *part, const char *sort);

/* For C constructors, whose arguments are borrowed texts: the rows copy them and write nothing. */
static inline char *leati_kind_borrow_text(const char *text) {
    return (char *)(uintptr_t)text;
}

#endif
