/* The inside of optimizers: the descriptors that the files of train/optimizers/ end in, and what
 * all of them share. */
#ifndef LEATI_TRAIN_FRAME_OPTIMIZER_H
#define LEATI_TRAIN_FRAME_OPTIMIZER_H

#include "train/frame/kind.h"
#include <leat/train.h>

#define LEATI_MAX_SLOTS 4

/* The first member of every optimizer's arguments; 0 switches a feature off. */
struct leati_optimizer_args {
    char *name;
    double learning_rate;
    double weight_decay, clipnorm, global_clipnorm, clipvalue;
    bool use_ema;
    double ema_momentum;
    int64_t ema_overwrite_frequency, gradient_accumulation_steps;
    bool exact_slices;
};

/* What one update sees. */
typedef struct leati_update {
    leat_graph *graph;
    const void *args;
    leat_variable *variable;
    leat_variable *const *slots; /* as many as the kind says */
    int num_slots;
    leat_variable *common; /* what all variables share; NULL: nothing */
    leat_value gradient;
    leat_value
        slices;  /* the gradient before it was summed over replicas; failed: no slices count */
    bool shares; /* do replicas add their slices up? */
    leat_value learning_rate; /* scalar of the variable's dtype */
    leat_value step;          /* int64 scalar, 1 at the first update */
} leati_update;

/* What belongs to one of the model's variables. */
typedef struct leati_slots {
    leat_variable *variable;
    leat_variable *average, *accumulator; /* NULL: not in use */
    leat_variable *own[LEATI_MAX_SLOTS];  /* those of the kind */
    int count;
} leati_slots;

typedef struct leati_optimizer_kind {
    leati_kind kind;
    /* Names of the slots of one variable ("momentum"), NULL-terminated; they start at zero. */
    const char *const *(*slots)(const void *args);
    /* What slot number `slot` starts with; NULL: all with 0. */
    double (*slot_start)(const void *args, int slot);
    /* In place of these two for slots that are not like the variable, or depend on it: adds them to
     * the list. */
    leat_status (*slots_of)(const void *args, const leat_variable *variable, leati_weights *out,
                            leat_error *err);
    /* Moves on a scalar that all variables share and that starts at 1, before those of a step are
     * updated; `variable` and slots are those of the first. NULL: there is no such scalar. */
    void (*begin)(const leati_update *update);
    /* The part of a variable with so many slots that a step takes away; NULL: weight_decay. */
    double (*decay)(const void *args, int num_slots);
    /* Adds the operations that update one variable and its slots; NULL: the application does. */
    void (*update)(const leati_update *update);
} leati_optimizer_kind;

/* An optimizer of a program's own, which has what all of them share. */
extern const leati_optimizer_kind leati_optimizer_own;

/* The descriptors of the table. */
#define X(file, name) extern const leati_optimizer_kind leati_optimizer_##name;
#include "train/optimizers.def"
#undef X

/* An optimizer with a copy of `args` (borrowed). Owned. */
leat_optimizer *leati_optimizer_new(const leati_optimizer_kind *kind, const void *args,
                                    leat_error *err);
/* An optimizer by Keras' class name and a JSON object of Keras' arguments (NULL: none). Owned. */
leat_optimizer *leati_optimizer_from_json(const char *name, const json_t *config, leat_error *err);

/* What is kept for one variable (NULL: any, where that makes no difference): its average and the
 * sum of its gradients, if they are in use, then the slots of the kind. */
LEAT_WARN_UNUSED leat_status leati_optimizer_slots(const leati_optimizer_kind *kind,
                                                   const void *args, const leat_variable *variable,
                                                   leati_weights *out, leat_error *err);

/* Puts variables in the order of leati_optimizer_slots into their places; `out` has the variable.
 */
void leati_optimizer_slots_sort(const struct leati_optimizer_args *args, leat_variable *const *made,
                                int count, leati_slots *out);

/* For check: at most one way of clipping, nothing negative. */
LEAT_WARN_UNUSED leat_status leati_optimizer_check(const void *args, leat_error *err);
/* The shared arguments of a caller's options (NULL: the defaults). */
LEAT_WARN_UNUSED leat_status leati_optimizer_read_shared(double learning_rate,
                                                         const leat_optimizer_options *options,
                                                         struct leati_optimizer_args *out,
                                                         leat_error *err);

/* One application while it is traced. All of it is borrowed. */
typedef struct leati_application {
    const leati_optimizer_kind *kind;
    const struct leati_optimizer_args *args;
    leat_graph *graph;
    const leati_slots *slots;    /* one for each gradient, then for each idle variable */
    leat_value *gradients;       /* overwritten */
    const bool *keeps;           /* which variables do not decay; NULL: none of them */
    int count;                   /* of gradients, at least one */
    bool alone;                  /* as in leat_application */
    const leat_own_updates *own; /* NULL: the kind updates */
    leat_variable *common;       /* NULL where the kind has no `begin` */
    leat_variable *iterations;
    leat_value learning_rate; /* float32 scalar */
} leati_application;

/* Adds the operations of one application (train/frame/optimizer_apply.c). Failures are the graph's,
 * but for RESOURCE_EXHAUSTED. */
LEAT_WARN_UNUSED leat_status leati_optimizer_apply(const leati_application *application,
                                                   leat_error *err);

/* ---- for updates (train/frame/optimizer_apply.c) ---- */

/* slot = keep * slot + (1 - keep) * value; the new slot. */
leat_value leati_optimizer_slot_mean(const leati_update *update, int slot, leat_value value,
                                     double keep);
/* The same as slot += (value - slot) * (1 - keep). */
leat_value leati_optimizer_slot_toward(const leati_update *update, int slot, leat_value value,
                                       double keep);
/* A number as the variable's dtype has it. */
double leati_optimizer_rounded(const leati_update *update, double number);
/* base^step in the variable's dtype, to which base is rounded first. */
leat_value leati_optimizer_power_of_step(const leati_update *update, double base);
/* variable -= change. */
void leati_optimizer_step_back(const leati_update *update, leat_value change);

/* The squares of the gradient's values, and their magnitudes: of slices (train/frame/slices.h) the
 * sum of each one's. */
leat_value leati_optimizer_square(const leati_update *update);
leat_value leati_optimizer_magnitude(const leati_update *update);

/* How Adam keeps its moments. */
typedef struct leati_optimizer_moments {
    double beta_1, beta_2, epsilon;
    bool amsgrad; /* does the largest second moment so far divide? It is the third slot then */
} leati_optimizer_moments;

/* Adam's step, of which the first two slots are the momentum and the velocity. */
void leati_optimizer_step_adam(const leati_update *update, leat_value learning_rate,
                               const leati_optimizer_moments *moments);

/* Gradients clipped as the arguments say, in place (train/frame/clip.c). `squares`: of each the sum
 * of its slices' squares, failed where it has none; they are read for norms alone. */
void leati_optimizer_clip_gradients(const struct leati_optimizer_args *args, leat_value *gradients,
                                    const leat_value *squares, int count);
/* Slices of which the gradient is clipped by the norm that `squares` have. */
leat_value leati_optimizer_clip_slices(leat_value slices, leat_value squares, double limit);

/* The row for a member of STRUCT, and for one that all optimizers have. */
#define LEATI_OPTIMIZER_OWN_ROW(STRUCT, MEMBER, TYPE, ...)                                         \
    {                                                                                              \
        .name = #MEMBER, .type = LEATI_ROW_##TYPE, .offset = offsetof(struct STRUCT, MEMBER),      \
        __VA_ARGS__                                                                                \
    }
#define LEATI_OPTIMIZER_ROW(MEMBER, TYPE, ...)                                                     \
    LEATI_OPTIMIZER_OWN_ROW(leati_optimizer_args, MEMBER, TYPE, __VA_ARGS__)

/* The last words of every optimizer's signature. */
#define LEATI_OPTIMIZER_SIGNATURE "weight_decay=null " LEATI_OPTIMIZER_SIGNATURE_REST
#define LEATI_OPTIMIZER_SIGNATURE_REST                                                             \
    "clipnorm=null clipvalue=null global_clipnorm=null use_ema ema_momentum "                      \
    "ema_overwrite_frequency=null loss_scale_factor gradient_accumulation_steps=null name"

/* Rows of a struct whose first member is struct leati_optimizer_args, but for the learning rate;
 * `DECAY` is the default of weight_decay. */
#define LEATI_OPTIMIZER_ROWS LEATI_OPTIMIZER_ROWS_WITH(0)
#define LEATI_OPTIMIZER_ROWS_WITH(DECAY)                                                           \
    LEATI_OPTIMIZER_ROW(weight_decay, FLOAT, .flags = LEATI_ABSENT, .default_number = DECAY,       \
                        .doc = "Part of each variable that a step takes away, times the "          \
                               "learning rate; 0: none."),                                         \
        LEATI_OPTIMIZER_ROW(clipnorm, FLOAT, .flags = LEATI_NONE,                                  \
                            .doc = "Largest norm of one gradient; 0: no limit."),                  \
        LEATI_OPTIMIZER_ROW(global_clipnorm, FLOAT, .flags = LEATI_NONE,                           \
                            .doc = "Largest norm of all gradients together; 0: no limit."),        \
        LEATI_OPTIMIZER_ROW(clipvalue, FLOAT, .flags = LEATI_NONE,                                 \
                            .doc = "Largest magnitude of a gradient's values; 0: no limit."),      \
        LEATI_OPTIMIZER_ROW(use_ema, BOOL,                                                         \
                            .doc = "Whether a moving average of the variables is kept."),          \
        LEATI_OPTIMIZER_ROW(ema_momentum, FLOAT, .default_number = 0.99,                           \
                            .doc = "Part of the average that a step keeps."),                      \
        LEATI_OPTIMIZER_ROW(ema_overwrite_frequency, INT, .flags = LEATI_NONE, .minimum = 0,       \
                            .maximum = INT64_MAX,                                                  \
                            .doc = "Steps after which the variables become their averages; "       \
                                   "0: never."),                                                   \
        LEATI_OPTIMIZER_ROW(gradient_accumulation_steps, INT, .flags = LEATI_NONE, .minimum = 0,   \
                            .maximum = INT64_MAX,                                                  \
                            .doc = "Steps whose mean gradient makes one update; 0: one."),         \
        LEATI_OPTIMIZER_ROW(exact_slices, BOOL,                                                    \
                            .doc = "Whether slices of a table's row are added up before they are " \
                                   "squared, clipped and measured; Keras does so with each."),     \
        LEATI_OPTIMIZER_ROW(name, STRING, .doc = "Name of the optimizer.")

#endif
